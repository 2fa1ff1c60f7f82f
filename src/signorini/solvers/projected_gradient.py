r"""Accelerated projected gradient for exact Coulomb friction.

.. math:: p \leftarrow P_K\bigl(y - \tau \rho\, \hat u(y)\bigr), \qquad \hat u = u + \mu |u_T| n, \quad u = W y + b,

contact by contact with ``rho = 1/W_nn``; y extrapolates the last two points as in Nesterov's method and falls back on
the last one whenever the step turns against the gradient. De Saxcé's term follows every step, so that a fixed point
solves the problem itself and not a convex relaxation. One product with W for each iteration, no factorisation: memory
as small as it can be, convergence as slow as the problem is ill conditioned.

References
----------
.. [1] Beck & Teboulle, *A fast iterative shrinkage-thresholding algorithm*, 2009; O'Donoghue & Candès, *Adaptive
   restart for accelerated gradient schemes*, 2015.
.. [2] Mazhar, Heyn, Negrut & Tasora, *Using Nesterov's method to accelerate multibody dynamics with friction and
   contact*, 2015: the same for the convex relaxation.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.math.cones import natural_norms, project_cone
from signorini.problems.connections import apply_connections, contact_velocity
from signorini.problems.friction import FrictionProblem
from signorini.solvers.budget import affordable
from signorini.solvers.nsgs import judged, not_applicable, product_cost, starting_point
from signorini.solvers.solution import Control, Solution, Status

_CHUNK = 50  # iterations between two looks at residual and clock
_ROUNDING = 1e-14
_LENGTHEN = 0.95  # the curvature estimate shrinks by this factor at every step, so that steps can grow again


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectedGradient:
    """Nesterov's method with adaptive restart and step length, for the exact cone; matrix-free."""

    max_iterations: int = 20_000
    """Products with W allowed, repeated steps not counted."""
    patience: int = 5_000
    """Iterations without a fall of the best residual by a tenth after which the method gives up."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        began = time.perf_counter()
        control = control or Control()
        if not problem.plain:
            return not_applicable(problem, "ProjectedGradient", began)
        limit = control.max_iterations or affordable(self.max_iterations, product_cost(problem))
        descent = Descent(problem, starting_point(problem, control))
        best_p, best = descent.p.copy(), problem.residual_by_contacts(descent.p)
        history = [(time.perf_counter() - began, best)]
        marked, marked_at = best, 0
        done = 0
        status = Status.ITERATION_LIMIT
        while best > control.tolerance and done < limit:
            count = min(_CHUNK, limit - done)
            residual = descent.run(count)
            done += count
            if residual < best:
                best, best_p = residual, descent.p.copy()
            history.append((time.perf_counter() - began, residual))
            if control.callback is not None:
                control.callback(done, residual)
            if best < 0.9 * marked:
                marked, marked_at = best, done
            if done - marked_at >= self.patience or not math.isfinite(residual):
                status = Status.STALLED
                break
            if control.time_limit is not None and history[-1][0] > control.time_limit:
                status = Status.TIME_LIMIT
                break
        return judged(problem, best_p, control, status, done, "ProjectedGradient", began, history)


class Descent:
    """The state of the method on one problem: it goes on where it ended."""

    def __init__(self, problem: FrictionProblem, p: Array) -> None:
        self.problem = problem
        self.points = np.zeros((3, problem.contact_count, 3))  # the last point, the one before, the extrapolated one
        self.points[:] = p
        self.velocities = np.zeros_like(self.points)
        self.velocities[:] = contact_velocity(problem.connections, self.points[0], problem.load)
        self.state = np.array([1.0, 1.0])
        self.p: Array = self.points[0]
        """The last point (n_c, 3)."""
        self._work = np.empty((problem.connections.y_count, 3))

    def run(self, count: int) -> float:
        """Do `count` steps; return the residual of the last point."""
        problem = self.problem
        return gradient_steps(
            *problem.connections[:6],
            problem.load,
            problem.mu,
            problem.rho,
            problem.blocks,
            self.points,
            self.velocities,
            self._work,
            self.state,
            count,
        )


@kernel
def gradient_steps(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
    load: Array,
    mu: Array,
    rho: Array,
    blocks: Array,
    points: Array,
    velocities: Array,
    work: Array,
    state: Array,
    count: int,
) -> float:
    """Do `count` steps; points and velocities (3, n_c, 3) and state (theta, curvature) in place; return the residual.

    The step is ``rho / curvature``; it is repeated with twice the curvature until ``d . W d <= curvature |d|^2 / rho``
    for the change d from the extrapolated point.
    """
    n_c = mu.shape[0]
    p, before, y = points[0], points[1], points[2]
    u, u_before, u_y = velocities[0], velocities[1], velocities[2]
    for _ in range(count):
        for c in range(n_c):
            for i in range(3):
                before[c, i] = p[c, i]
                u_before[c, i] = u[c, i]
        for _ in range(60):
            for c in range(n_c):
                if not blocks[c, 0, 0] * rho[c] > 0.5:  # nothing answers an impulse here
                    p[c, 0], p[c, 1], p[c, 2] = 0.0, 0.0, 0.0
                    continue
                tau = rho[c] / state[1]
                slip = math.sqrt(u_y[c, 1] * u_y[c, 1] + u_y[c, 2] * u_y[c, 2])
                p[c, 0], p[c, 1], p[c, 2] = project_cone(
                    y[c, 0] - tau * (u_y[c, 0] + mu[c] * slip),
                    y[c, 1] - tau * u_y[c, 1],
                    y[c, 2] - tau * u_y[c, 2],
                    mu[c],
                )
            apply_connections(
                gather_start, gather_index, gather, scatter_start, scatter_index, scatter, p, load, work, u
            )
            energy = 0.0
            length = 0.0
            for c in range(n_c):
                for i in range(3):
                    d = p[c, i] - y[c, i]
                    # near the end the velocities differ by rounding alone, which must not count as curvature
                    energy += d * (u[c, i] - u_y[c, i]) - _ROUNDING * abs(d) * (abs(u[c, i]) + abs(load[c, i]))
                    length += d * d / rho[c]
            if energy <= state[1] * length or not length < math.inf:
                break
            state[1] *= 2.0
        uphill = 0.0
        for c in range(n_c):
            slip = math.sqrt(u_y[c, 1] * u_y[c, 1] + u_y[c, 2] * u_y[c, 2])
            uphill += mu[c] * slip * (p[c, 0] - before[c, 0])
            for i in range(3):
                uphill += u_y[c, i] * (p[c, i] - before[c, i])
        momentum = 0.0
        if uphill > 0.0:
            state[0] = 1.0
        else:
            theta = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * state[0] * state[0]))
            momentum = (state[0] - 1.0) / theta
            state[0] = theta
        for c in range(n_c):
            for i in range(3):
                y[c, i] = p[c, i] + momentum * (p[c, i] - before[c, i])
                u_y[c, i] = u[c, i] + momentum * (u[c, i] - u_before[c, i])
        state[1] *= _LENGTHEN
    error, size, scale = natural_norms(p, u, load, mu, rho)
    scale = max(size, scale)
    return error / scale if scale > 0.0 else error
