"""A primal-dual interior point method for monotone linear complementarity problems, mixed or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini._scipy import sparse
from signorini.problems.lcp import LCP
from signorini.problems.matrices import Matrix, plus_diagonal
from signorini.problems.mlcp import MixedLCP
from signorini.solvers.active_set import polished, whole
from signorini.solvers.budget import affordable
from signorini.solvers.linear_systems import factorised
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class InteriorPointLCP:
    """Follows ``v_i w_i = sigma mu`` towards ``mu = 0`` by Mehrotra's predictor and corrector; any start will do.

    For a positive semidefinite matrix it takes 10 to 30 factorisations whatever the size, dense or sparse; other
    matrices may work and are judged by the residual all the same. Once mu is small the active set is known and one
    direct solve finishes.

    References
    ----------
    .. [W] Wright, *Primal-Dual Interior-Point Methods*, chapter 8.
    """

    max_iterations: int = 100
    """Factorisations."""
    step_to_boundary: float = 0.995
    """Share of the way to the nearest bound that a step may take."""

    def solve(self, problem: LCP | MixedLCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "InteriorPointLCP")
        K, k, unit, size = _scaled(problem)
        free = problem.size - (problem.q if isinstance(problem, LCP) else problem.b).size
        # Far inside, in units of the constant term: nearer is quicker where all goes well, but seldom by much.
        x, w = np.zeros(problem.size), np.full(problem.size - free, 10.0)
        x[free:] = 10.0
        # a sparse factorisation costs less than a dense one, by an unknown factor
        each = problem.size**3 / 3.0 if isinstance(K, np.ndarray) else 0.0
        limit = control.max_iterations or affordable(self.max_iterations, each)
        status = Status.ITERATION_LIMIT
        iteration = 0
        polish_below = 1e-3
        while iteration < limit:
            z = x * unit * size
            z[free:] = np.maximum(z[free:], 0.0)
            residual = progress.offer(z, iteration)
            if control.tolerance < residual < polish_below:
                polish_below = 0.01 * residual  # a direct solve is dear: only when two digits were gained
                z, residual = polished(problem, z, residual)
                progress.offer(z, iteration, residual)
            if progress.accepts(z, residual):
                break
            if progress.out_of_time():
                status = Status.TIME_LIMIT
                break
            step = _mehrotra_step(K, k, x, w, free, self.step_to_boundary)
            if step is None:
                status = Status.STALLED
                break
            iteration += 1
            alpha, dx, dw = step
            x += alpha * dx
            w += alpha * dw
        return progress.finish(None, iteration, status)


def _scaled(problem: LCP | MixedLCP) -> tuple[Matrix, Array, Array, float]:
    """Return the problem in units in which diagonal and constant term are near 1, with units and size of z."""
    K, k = whole(problem)
    d = problem.d if isinstance(problem, LCP) else problem.row_scale
    row, unit = 1.0 / np.sqrt(d), 1.0 / np.sqrt(d)
    if isinstance(problem, MixedLCP):  # equations may be scaled by themselves, free unknowns keep their unit
        row[: problem.free], unit[: problem.free] = 1.0 / d[: problem.free], 1.0
    scaled: Matrix
    if isinstance(K, np.ndarray):
        scaled = row[:, None] * K * unit
    else:
        scaled = sparse.csr_array(sparse.diags_array(row) @ K @ sparse.diags_array(unit))
    size = float(np.abs(row * k).max(initial=0.0)) or 1.0
    return scaled, row * k / size, unit, size


def _mehrotra_step(
    K: Matrix, k: Array, x: Array, w: Array, free: int, to_boundary: float
) -> tuple[float, Array, Array] | None:
    """Return step length, dx and dw; None if the system is singular."""
    v = x[free:]
    r: Array = K @ x + k
    r[free:] -= w
    mu = float(v @ w) / max(v.size, 1)
    barrier = np.concatenate([np.zeros(free), w / v])
    with np.errstate(all="ignore"):
        solve = factorised(plus_diagonal(K, barrier))
        if solve is None:  # repeated rows, all of them active: any small multiple of the identity will do
            solve = factorised(plus_diagonal(K, barrier + 1e-12))
        if solve is None:
            return None

        def direction(target: Array) -> tuple[Array, Array]:
            """Solve for ``w dv + v dw = target``."""
            right = -r
            right[free:] += target / v
            dx = solve(right)
            return dx, (target - w * dx[free:]) / v

        dx, dw = direction(-v * w)
        alpha = _longest(v, dx[free:], w, dw)
        after = float((v + alpha * dx[free:]) @ (w + alpha * dw)) / max(v.size, 1)
        sigma = (max(after, 0.0) / mu) ** 3 if mu > 0.0 else 0.0
        dx, dw = direction(sigma * mu - v * w - dx[free:] * dw)
    if not (np.isfinite(dx).all() and np.isfinite(dw).all()):
        return None
    return to_boundary * _longest(v, dx[free:], w, dw) if v.size else 1.0, dx, dw


def _longest(v: Array, dv: Array, w: Array, dw: Array) -> float:
    """Return the step, at most 1/0.995, at which the first unknown or slack would vanish."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.concatenate([np.where(dv < 0.0, -v / dv, np.inf), np.where(dw < 0.0, -w / dw, np.inf)])
    return float(min(1.0 / 0.995, ratios.min(initial=np.inf)))
