"""Josephy-Newton for the mixed complementarity problem: linearise, solve a linear problem, search, repeat."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.problems.convert import box_to_mixed
from signorini.problems.matrices import Matrix, dense, plus_diagonal
from signorini.problems.mcp import MCP, natural_map
from signorini.solvers.lemke import Lemke
from signorini.solvers.newton_search import Point, active_set_target, solve_along
from signorini.solvers.semismooth_newton import fischer_target
from signorini.solvers.solution import Control, Solution
from signorini.solvers.solve import run


@dataclass(frozen=True, slots=True)
class JosephyNewton:
    """Newton's method with complementarity kept: each step solves the problem with F replaced by its linear model.

    The linear problem is first tried on the active set of the present point (near the solution that is enough and the
    method quadratic), then by Lemke's method, then with a growing multiple of the identity added (a proximal point
    step) where it has no solution. Steps are safeguarded by a watchdog and a nonmonotone line search on the
    Fischer-Burmeister merit function; points where F is not defined are survived by stepping back.

    References
    ----------
    .. [DF] Dirkse & Ferris (1995), the PATH solver: a nonmonotone stabilization scheme for mixed complementarity
       problems.
    """

    max_iterations: int = 100
    """Linear problems solved."""
    watchdog: int = 4
    """Steps taken on trust before a decrease of the merit function is asked for."""
    lemke: Lemke = field(default_factory=lambda: Lemke(attempts=2))
    """Solves the linear problems."""

    def solve(self, problem: MCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        ends = None if control.time_limit is None else time.perf_counter() + control.time_limit
        directions = (partial(self._linearised_target, ends=ends), fischer_target)
        return solve_along(
            problem, control, "JosephyNewton", directions, max_iterations=self.max_iterations, watchdog=self.watchdog
        )

    def _linearised_target(self, problem: MCP, point: Point, *, ends: float | None = None) -> Array | None:
        """Return what solves ``F(x_k) + J (x - x_k)`` between the bounds; None if nothing was found."""
        lower, upper = problem.bounds
        quick = active_set_target(problem, point)
        if quick is not None:
            linear: Array = point.F + point.J @ (quick - point.x)
            miss = np.abs(natural_map(quick, linear, lower, upper)).max(initial=0.0)
            if miss <= 1e-9 * (1.0 + np.abs(quick).max(initial=0.0)):
                return quick
        J = dense(point.J)
        size = max(float(np.abs(J).max(initial=0.0)), 1.0)
        for regularisation in (0.0, 1e-6 * size, 1e-2 * size, size):
            left = None if ends is None else max(ends - time.perf_counter(), 0.0)
            shifted = plus_diagonal(J, np.full(J.shape[0], regularisation))
            target = self._linear_solution(shifted, point, lower, upper, left)
            if target is not None or left == 0.0:
                return target
        return None

    def _linear_solution(
        self, J: Matrix, point: Point, lower: Array, upper: Array, seconds: float | None
    ) -> Array | None:
        """Return what Lemke's method finds with the Jacobian `J`; None if it fails."""
        constant: Array = point.F - J @ point.x
        try:
            linear = box_to_mixed(J, constant, lower, upper)
        except InputError:  # beyond the range of numbers
            return None
        solution = run(self.lemke, linear.problem, Control(tolerance=1e-9, time_limit=seconds))
        if not solution.success:
            return None
        return np.clip(linear.back(solution.z), lower, upper)
