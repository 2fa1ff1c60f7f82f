r"""The impulses that explain a step best: :math:`\min_{p \in K} \tfrac12 p^T W p + c^T p`, exactly or by iterations."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.problems import FrictionProblem
from signorini.problems.relaxations import first_relaxation, root
from signorini.solvers import solve


def exact_impulses(problem: FrictionProblem, shift: Array) -> Array:
    """Return the impulses (n_c, 3) by an interior-point method; `shift` (n_c,) is added to the normal velocities."""
    relaxation = first_relaxation(problem, shift)
    return relaxation.impulse(solve(relaxation.qp, tolerance=1e-10, time_limit=60.0).z).reshape(-1, 3)


def near_impulses(problem: FrictionProblem, shift: Array, start: Array, iterations: int) -> Array:
    """Return impulses (n_c, 3) after so many accelerated projected gradient steps from `start`."""
    A = root(problem)
    A_T = A.T.tocsr()
    scale, c = np.repeat(problem.rho, 3), problem.load.copy()
    c[:, 0] += shift
    step = scale / (1.05 * _largest(A, A_T, np.sqrt(scale)))
    p = y = start.reshape(-1)
    t = 1.0
    for _ in range(iterations):
        gradient = A @ (A_T @ y) + c.reshape(-1)
        new = project((y - step * gradient).reshape(-1, 3), problem.mu).reshape(-1)
        if ((y - new) / scale) @ (new - p) > 0.0:  # it went past the bottom: begin to accelerate anew
            t, y = 1.0, new
        else:
            t, last = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t)), t
            y = new + (last - 1.0) / t * (new - p)
        p = new
    out: Array = p.reshape(-1, 3)
    return out


def _largest(A: Array, A_T: Array, half: Array) -> float:
    """Return about the largest eigenvalue of ``S W S``, S the diagonal `half`."""
    x = np.random.default_rng(0).normal(size=half.size)
    for _ in range(30):
        x = half * (A @ (A_T @ (half * x / np.linalg.norm(x))))
    return float(np.linalg.norm(x))


def project(z: Array, mu: Array) -> Array:
    """Return the nearest points of the cones, (n_c, 3)."""
    n, t = z[:, 0], np.linalg.norm(z[:, 1:], axis=1)
    height = np.maximum((n + mu * t) / (1.0 + mu * mu), 0.0)
    shrink = mu * height / np.maximum(t, 1e-300)
    edge = np.column_stack([height, z[:, 1] * shrink, z[:, 2] * shrink])
    out: Array = np.where((t <= mu * n)[:, None], z, edge)
    return out
