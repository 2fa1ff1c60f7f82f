"""Semismooth Newton on the natural map of a mixed nonlinear complementarity problem with balls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.math.dense_lu import LOST_IN_ROUNDING
from signorini.problems.mixed_ncp import MixedNCP
from signorini.problems.natural_jacobian import natural_jacobian
from signorini.solvers.linear_systems import least_squares, regular_factors
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class NaturalNewton:
    """Newton's method on min-map and projection rows: quadratic as soon as the branches are right.

    A step that does not lower the norm of the natural map is halved; where `halvings` do not help the full step is
    taken, since branches may have to change before anything gets better. Where the linear model is singular the
    shortest of its least-squares steps is taken. Having met the tolerance it takes one step more, towards rounding.

    References
    ----------
    .. [S3] Chakraborty, Berard, Akella & Trinkle (2007); rows of the specification, section 7.
    .. [QS] Qi & Sun (1993), a nonsmooth version of Newton's method.
    """

    max_iterations: int = 60
    halvings: int = 10

    def solve(self, problem: MixedNCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "NaturalNewton")
        z = problem.x0.copy() if control.start is None else control.start.copy()
        limit = control.max_iterations or self.max_iterations
        singular, iterations = 0, 0
        point = _at(problem, z)
        if point is None:
            return progress.finish(None, 0, Status.STALLED, degenerate=0)
        status = Status.ITERATION_LIMIT
        while True:
            z, F, Phi = point
            residual = progress.offer(z, iterations, float(np.abs(Phi).max(initial=0.0)))
            solved = residual <= control.tolerance
            if residual == 0.0 or (not solved and (iterations >= limit or progress.out_of_time())):
                status = Status.TIME_LIMIT if progress.out_of_time() else Status.ITERATION_LIMIT
                break
            step, short = _newton_step(problem, z, F, Phi)
            singular += short
            if step is None:
                status = Status.STALLED
                break
            iterations += 1
            if solved:
                _polish(problem, z + step, residual, progress)
                break
            after = self._searched(problem, point, step)
            if after is None:
                status = Status.STALLED
                break
            point = after
        return progress.finish(None, iterations, status, degenerate=singular)

    def _searched(self, problem: MixedNCP, point: Point, step: Array) -> Point | None:
        """Return the first point along the step at which the map is smaller, else the farthest that is defined."""
        size = float(point[2] @ point[2])
        farthest, t = None, 1.0
        for _ in range(self.halvings + 1):
            tried = _at(problem, point[0] + t * step)
            if tried is not None:
                if float(tried[2] @ tried[2]) < (1.0 - 1e-4 * t) * size:
                    return tried
                farthest = tried if farthest is None else farthest
            t *= 0.5
        return farthest


Point = tuple[Array, Array, Array]
"""z, F and the natural map there."""


def _at(problem: MixedNCP, z: Array) -> Point | None:
    F = problem.value(z)
    return None if F is None else (z, F, problem.natural(z, F))


def _polish(problem: MixedNCP, z: Array, residual: float, progress: Progress[MixedNCP]) -> None:
    """Take the last step if it makes nothing worse."""
    after = problem.residual(z)
    if after <= residual:
        progress.prefer(z, after)


def _newton_step(problem: MixedNCP, z: Array, F: Array, Phi: Array) -> tuple[Array | None, bool]:
    """Return the step of the linear model, None if there is none, and whether it is the shortest of several."""
    J = problem.jacobian(z)
    if J is None:
        return None, False
    H = natural_jacobian(problem, z, F, J)
    with np.errstate(all="ignore"):
        solve = regular_factors(H)
        y = None if solve is None else solve(-Phi)
    if y is not None and np.isfinite(y).all():
        return problem.unit * y, False
    y = least_squares(H if isinstance(H, np.ndarray) else H.toarray(), -Phi, LOST_IN_ROUNDING)
    return (None if y is None else problem.unit * y), True
