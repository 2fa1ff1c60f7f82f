r"""The step as a mixed LCP: joints and velocities stay in it as unknowns (S1 eq. 39).

.. math::
    \begin{aligned}
    0 &= M v^+ - B^T \lambda - H^T p - x_1, \\
    0 &= -B v^+ - E \lambda - x_2, \\
    0 &\le z \perp \text{the polygonal law of } (p, u) \ge 0, \qquad u = H v^+ + u_0,
    \end{aligned}

p being linear in z; of joint rows that depend on each other only independent combinations are kept. The same problem as
the reduced one, without a Schur complement in the contact rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import inertia_blocks
from signorini.model import Model, State
from signorini.posing.base import FreeMotion
from signorini.posing.joint_blocks import block_rows, contact_rows, idle_matrix
from signorini.posing.time_stepping import ContactSpace
from signorini.problems import FrictionProblem, MixedLCP
from signorini.problems.friction_lcp import friction_as_lcp, friction_from_lcp
from signorini.problems.problem import accepted
from signorini.solvers import Solution, Status, solve


def mixed_lcp(
    model: Model, state: State, free: FreeMotion, space: ContactSpace, problem: FrictionProblem
) -> tuple[MixedLCP, Array]:
    """Return the mixed LCP of a step, and the matrix that turns its complementary unknowns into impulses."""
    n_v = 6 * (model.body_count - model.fixed_count)
    moving = slice(model.fixed_count, None)
    rows = contact_rows(space.contacts, space.push.J_a, space.push.J_b)
    dim = space.b.shape[1]
    H = block_rows(space.joints, rows, dim, space.rotation, model.body_count)[:, -n_v:]
    M = np.zeros((n_v, n_v))
    for k, block in enumerate(inertia_blocks(model.arrays, state.q)[moving]):
        M[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = block
    A, a, v = M, -M @ free.v_free[moving].reshape(-1), free.v_free
    if space.joints is not None:
        B, E, x2 = space.joints.system.independent()
        B = B[:, -n_v:]
        A = np.block([[M, -B.T], [-B, -E]])
        a, v = np.concatenate([a, -x2]), space.joints.velocity
    # The law of the rest: what neither velocities nor joints contribute.
    idle = idle_matrix(space.joints, np.asarray(problem.dense().diagonal()), rows.row_count, dim, space.rotation)
    rest = FrictionProblem(
        idle,
        problem.b - H @ v[moving].reshape(-1),
        problem.mu,
        dim=dim,
        cone=problem.cone,
        directions=problem.directions,
        rotation=problem.rotation,
    )
    law = friction_as_lcp(rest)
    impulses = friction_from_lcp(rest, np.eye(law.q.size))
    push = np.zeros((A.shape[0], law.q.size))
    push[:n_v] = H.T @ impulses
    return MixedLCP(A, -push, push.T, law.M, a, law.q), impulses


def solve_mixed(
    model: Model,
    state: State,
    free: FreeMotion,
    space: ContactSpace,
    problem: FrictionProblem,
    solver: Any,
    tolerance: float,
) -> Solution:
    """Solve a friction problem through the mixed LCP; the residual is that of the friction problem."""
    mixed, impulses = mixed_lcp(model, state, free, space, problem)
    solution = solve(mixed, solver, tolerance=tolerance)
    p: Array = impulses @ solution.z[mixed.a.size :]
    residual = problem.residual(p)
    status = solution.status
    if solution.success and not accepted(problem, p, residual, tolerance):
        status = Status.STALLED
    return replace(solution, z=p, residual=residual, status=status, info={**solution.info, "solved_as": "MixedLCP"})
