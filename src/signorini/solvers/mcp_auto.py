"""The default for nonlinear and mixed complementarity problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.problems.convert import box_to_mixed
from signorini.problems.matrices import plus_diagonal
from signorini.problems.mcp import MCP
from signorini.solvers.attempts import Attempts
from signorini.solvers.josephy_newton import JosephyNewton
from signorini.solvers.linear_auto import LinearAuto
from signorini.solvers.newton_search import inside
from signorini.solvers.semismooth_newton import SemismoothNewton
from signorini.solvers.solution import Control, Solution, Status
from signorini.solvers.solve import Solver

_FAR = 1e6
"""A solution this many times larger than the start is suspected to lie at infinity: a nearer one is looked for."""


@dataclass(frozen=True, slots=True)
class MCPAuto:
    """Josephy-Newton, then semismooth Newton, then both again from other starts and on regularised problems.

    Large problems begin with semismooth Newton. If F turns out to be linear the linear methods are tried as well. A
    start where F is not defined is moved inside the bounds. After a failure ``info["jacobian_error"]`` tells whether a
    given J fits F: 0.1 or more is a mistake in J; ``info["finding"]`` that small residuals were met, but no
    certified solution.
    """

    small: int = 400
    """Number of unknowns up to which the linear problems of Josephy-Newton are solved by pivoting."""
    restarts: int = 16
    """Other starts tried after a failure, ever further away."""
    seed: int = 0

    def solve(self, problem: MCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        attempts = Attempts(problem, control, "MCPAuto")
        x = _defined_start(problem, problem.start if control.start is None else control.start)
        methods: tuple[Solver, ...] = (SemismoothNewton(),)
        if problem.size <= self.small:
            methods = (JosephyNewton(), SemismoothNewton())
        for solver in methods:
            if attempts.solved(solver, x) and not _far(attempts.best, x):
                return attempts.finish()
        if self._linear(problem, attempts, x):
            return attempts.finish()
        random = np.random.default_rng(self.seed)
        for k in range(self.restarts if attempts.best is None or not attempts.best.success else 1):
            if attempts.out_of_time():
                break
            if k % 4 == 3:
                start = self._regularised(problem, control, attempts, x)
            else:
                reach = 2.0 ** (k - 2) * (1.0 + np.abs(x))
                start = np.clip(x + reach * random.uniform(-1.0, 1.0, x.size), *problem.bounds)
            if attempts.solved(methods[0], _defined_start(problem, start)) and not _far(attempts.best, x):
                break
        info: dict[str, Any] = {"jacobian_error": problem.jacobian_error(inside(problem, x, 1e-6))}
        best = attempts.best
        if best is not None and not best.success and best.residual <= control.tolerance:
            info["finding"] = (
                "the residual is small, but Newton steps do not certify a solution: F may come near to zero "
                "at infinity only, or its solutions lie along a curve"
            )
        return attempts.finish(Status.STALLED, **info)

    def _linear(self, problem: MCP, attempts: Attempts, x: Array) -> bool:
        """Try the linear methods if F turns out to be linear; tell whether that solved the problem."""
        J: Any = problem.jacobian(x)
        if J is None or problem.size > self.small or (attempts.best is not None and attempts.best.success):
            return False
        F, other = problem.value(x), x + (1.0 + np.abs(x))
        G, J_other = problem.value(other), problem.jacobian(other)
        if F is None or G is None or J_other is None:
            return False
        size = np.abs(F).max() + np.abs(G).max()
        if np.abs(G - F - J @ (other - x)).max() > 1e-12 * size or abs(J - J_other).max() > 1e-12 * abs(J).max():
            return False
        try:
            linear = box_to_mixed(J, F - J @ x, *problem.bounds)
        except InputError:  # beyond the range of numbers
            return False
        solution = LinearAuto().solve(linear.problem, Control(time_limit=attempts.time_left()))
        return attempts.solved(JosephyNewton(), linear.back(solution.z)) if solution.success else False

    def _regularised(self, problem: MCP, control: Control, attempts: Attempts, x: Array) -> Array:
        """Return where a chain of problems ``F + t (x - x_0)``, t falling, leads."""
        centre = x
        J: Any = problem.jacobian(inside(problem, x, 1e-6))
        size = 1.0 if J is None else max(float(abs(J).max()), 1e-3)
        solver = JosephyNewton() if problem.size <= self.small else SemismoothNewton()
        for t in size * 10.0 ** np.arange(1.0, -4.0, -1.0):
            if attempts.out_of_time():
                break
            control = Control(tolerance=1e-6, max_iterations=30, time_limit=control.time_limit)
            x = solver.solve(_proximal(problem, float(t), centre, x), control).z
        return x


def _proximal(problem: MCP, t: float, centre: Array, x: Array) -> MCP:
    """Return the problem with ``F + t (x - centre)`` in place of F, to be started at `x`."""

    def value(x: Array) -> object:
        return problem.F(x) + t * (x - centre)

    def jacobian(x: Array) -> object:
        slopes = problem.jacobian(x)
        return None if slopes is None else plus_diagonal(slopes, np.full(x.size, t))

    return MCP(value, jacobian, lower=problem.lower, upper=problem.upper, x0=x)


def _far(solution: Solution | None, x: Array) -> bool:
    """Tell whether a solution has run away from the start."""
    return solution is not None and float(np.abs(solution.z).max(initial=0.0)) > _FAR * (
        1.0 + float(np.abs(x).max(initial=0.0))
    )


def _defined_start(problem: MCP, x: Array) -> Array:
    """Return `x` within its bounds, moved inside until F is defined there."""
    x = np.clip(x, *problem.bounds)
    for shift in (0.0, 1e-8, 1e-4, 1e-2, 0.1, 1.0, 10.0):
        moved = x if shift == 0.0 else inside(problem, x, shift)
        if problem.value(moved) is not None:
            return moved
    return x
