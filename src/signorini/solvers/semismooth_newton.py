"""Semismooth Newton for the mixed complementarity problem, small or large and sparse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.problems.matrices import Matrix, compressed_rows, is_sparse
from signorini.problems.mcp import MCP
from signorini.solvers.linear_systems import factorised
from signorini.solvers.mcp_merit import fischer_jacobian, fischer_slopes
from signorini.solvers.newton_search import Point, active_set_target, solve_along
from signorini.solvers.pgs import has_sweepable_diagonal, sweeps
from signorini.solvers.solution import Control, Solution


@dataclass(frozen=True, slots=True)
class SemismoothNewton:
    """Newton's method on the natural map, that is on active sets, safeguarded by Fischer-Burmeister steps.

    An active-set step puts some unknowns on their bounds and solves the linear equations of the others: exact as soon
    as the sets are right, so it also finishes the job. Where the linear model is sparse and has a positive diagonal a
    few projected Gauss-Seidel sweeps follow: they move the edge of the active sets by many places where Newton moves it
    by one, which makes obstacle problems of 1e5 unknowns a matter of seconds. Steps that do not pay are replaced by
    Newton steps on the Fischer-Burmeister equations with a line search.

    References
    ----------
    .. [HIK] Hintermueller, Ito & Kunisch (2003), the primal-dual active set strategy as a semismooth Newton method.
    .. [LFK] De Luca, Facchinei & Kanzow (1996), a semismooth equation approach to nonlinear complementarity problems.
    """

    max_iterations: int = 200
    watchdog: int = 8
    """Steps taken on trust before a decrease of the merit function is asked for."""
    sweep_count: int = 30
    """Gauss-Seidel sweeps after each active-set step; 0 for none."""

    def solve(self, problem: MCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        directions = (self._active_set_target, fischer_target)
        return solve_along(
            problem, control, "SemismoothNewton", directions, max_iterations=self.max_iterations, watchdog=self.watchdog
        )

    def _active_set_target(self, problem: MCP, point: Point) -> Array | None:
        """Return the point of the active sets, improved by sweeps over the linear model; None if it is singular."""
        x = active_set_target(problem, point)
        if x is None or self.sweep_count == 0 or not is_sparse(point.J):
            return x
        rows = compressed_rows(point.J)
        if has_sweepable_diagonal(rows):
            swept = np.clip(x, *problem.bounds)
            constant: Array = point.F - point.J @ point.x
            sweeps(*rows, constant, *problem.bounds, swept, 1.0, self.sweep_count)
            if np.isfinite(swept).all() and not np.allclose(swept, x, rtol=1e-9, atol=0.0):
                return swept
        return x


def fischer_target(problem: MCP, point: Point) -> Array | None:
    """Return the Newton point of the Fischer-Burmeister equations, slightly regularised if they are singular."""
    D_a, D_b = fischer_slopes(point.x, point.F, *problem.bounds)
    for regularisation in (0.0, 1e-8, 1e-4, 1e-1):
        H = fischer_jacobian(D_a + regularisation, D_b, point.J)
        d = _solved(H, -point.Phi)
        if d is not None and 1e-8 * np.abs(d).max(initial=0.0) <= 1.0 + np.abs(point.x).max(initial=0.0):
            return np.asarray(point.x + d)
    return None


def _solved(H: Matrix, r: Array) -> Array | None:
    """Return ``H^-1 r``; None if H is singular."""
    with np.errstate(all="ignore"):
        solve = factorised(H)
        d = solve(r) if solve is not None else None
    return d if d is not None and np.isfinite(d).all() else None
