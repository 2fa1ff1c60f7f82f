"""The default for friction problems: cheap sweeps first, Newton-like methods where sweeps do not get on.

1. Accelerated Gauss-Seidel sweeps as long as the residual falls tenfold in 200 of them.
2. From there Newton's method in the modes that the sweeps found: exact to rounding if they are right.
3. Interior point from a cold start; near the solution it is cut short by step 2.
4. Proximal Newton from the best point of the interior point, and again from others, with other settings.

Whatever happens, the best point by the problem's own residual is returned, and called solved only if that residual
meets the tolerance.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import friction_as_lcp, friction_from_lcp
from signorini.solvers.nsgs import Sweeper, judged, starting_point
from signorini.solvers.solution import Control, Solution, Status

if TYPE_CHECKING:
    from signorini.solvers.friction_interior_point import Run

_SWEEPS = 2000
_PATIENCE = 200
_PROGRESS = 0.1
_POLISH_BELOW = 1e-2  # sweeps that ended above this residual have not found the modes
_EXTRA = 1e-4  # the polish goes on to this part of the tolerance, at the price of a step or two
_REL = 100.0  # a one-off answer whose `rel` exceeds so many tolerances is polished as well


@dataclass(frozen=True, slots=True, kw_only=True)
class FrictionAuto:
    """Portfolio for friction problems of any size and difficulty; polygonal cones go to the solvers of LCPs."""

    acceleration: int = 5
    """Window of the accelerated sweeps."""
    max_iterations: int = 2000
    """Factorisations allowed in all; sweeps are not counted."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        began = time.perf_counter()
        control = control or Control()
        if problem.polygon:
            return _solve_polygon(problem, control, began)
        p = starting_point(problem, control)
        sweeper = Sweeper(problem)
        sweeps, residual = sweeper.run(p, 0.9 * control.tolerance, _SWEEPS, _PATIENCE, _PROGRESS, self.acceleration)
        history = [(time.perf_counter() - began, residual)]
        if control.callback is not None:
            control.callback(sweeps, residual)
        solved = residual <= control.tolerance
        if solved and (control.start is not None or problem.rel(problem.flat(p)) <= _REL * control.tolerance):
            return judged(problem, p, control, Status.STALLED, sweeps, "FrictionAuto", began, history)
        search = _Search(problem, control, self, p, residual, began, history)
        search.path.append(f"sweeps {sweeps}")
        with np.errstate(all="ignore"):
            status = search.run()
        return judged(
            problem,
            search.p,
            control,
            status,
            sweeps + search.factorisations,
            "FrictionAuto",
            began,
            search.history,
            {"path": search.path},
        )


class _Search:
    """The best point so far and the stages that try to better it."""

    def __init__(
        self,
        problem: FrictionProblem,
        control: Control,
        settings: FrictionAuto,
        p: Array,
        residual: float,
        began: float,
        history: list[tuple[float, float]],
    ) -> None:
        self.problem = problem
        self.control = control
        self.limit = settings.max_iterations if control.max_iterations is None else control.max_iterations
        self.p = p
        self.residual = residual
        self.began = began
        self.deadline = math.inf if control.time_limit is None else began + control.time_limit
        self.history = history
        self.factorisations = 0
        self.path: list[str] = []

    def run(self) -> Status:
        """Try one stage after the other until the tolerance is met; return the status if it is not."""
        # Imported where needed: most calls end with sweeps and never compile these kernels.
        from signorini.solvers.friction_interior_point import interior_point
        from signorini.solvers.friction_newton import EquilibratedProblem
        from signorini.solvers.proximal_newton import polish, proximal_newton

        tolerance = self.control.tolerance
        scaled = EquilibratedProblem(self.problem)
        system = scaled.newton_system()
        swept = scaled.scaled(self.p)

        def finish(r: Array, steps: int = 3) -> Run:
            return polish(scaled, system, r, _EXTRA * tolerance, steps)

        def done(name: str, run: Run) -> bool:
            return self.offer(name, scaled.impulses(run.r), run.residual, run.factorisations)

        if self.residual < _POLISH_BELOW and done("polish", finish(swept, 8)):
            return Status.SOLVED
        size = max(1.0, float(np.abs(swept).max(initial=0.0)))
        attempts: tuple[dict[str, Any], ...] = (
            {"patience": 8, "size": 1.0, "alpha": 1e-2},
            {"patience": 3, "size": size, "alpha": 1e-2},
            {"patience": 8, "size": size, "alpha": 1e-4},
            {"patience": 12, "size": 10.0 * size, "alpha": 1e-1},
        )
        for attempt in attempts:
            left = self.limit - self.factorisations
            inner = interior_point(
                scaled,
                system,
                tolerance,
                min(60, left),
                attempt["patience"],
                self.deadline,
                size=attempt["size"],
                finish=finish,
            )
            if done("interior point", inner) or self.over():
                break
            left = min(400, self.limit - self.factorisations)
            newton = proximal_newton(scaled, system, inner.r, tolerance, left, attempt["alpha"], self.deadline)
            if done("proximal Newton", newton) or self.over():
                break
        if self.residual <= tolerance:
            done("polish", finish(scaled.scaled(self.p)))
            return Status.SOLVED
        if time.perf_counter() > self.deadline:
            return Status.TIME_LIMIT
        return Status.ITERATION_LIMIT if self.factorisations >= self.limit else Status.STALLED

    def offer(self, name: str, p: Array, residual: float, factorisations: int) -> bool:
        """Keep `p` if it is better; tell whether the tolerance is met."""
        self.factorisations += factorisations
        self.path.append(f"{name} {factorisations}: {residual:.0e}")
        if residual < self.residual:
            self.p, self.residual = p, residual
        self.history.append((time.perf_counter() - self.began, self.residual))
        if self.control.callback is not None:
            self.control.callback(self.factorisations, self.residual)
        return self.residual <= self.control.tolerance

    def over(self) -> bool:
        """Tell whether time or factorisations are used up."""
        return self.factorisations >= self.limit or time.perf_counter() > self.deadline


def _solve_polygon(problem: FrictionProblem, control: Control, began: float) -> Solution:
    """Solve the LCP of a polygonal cone."""
    from signorini.solvers.linear_auto import LinearAuto

    inner = Control(
        tolerance=1e-2 * control.tolerance, time_limit=control.time_limit, max_iterations=control.max_iterations
    )
    solution = LinearAuto().solve(friction_as_lcp(problem), inner)
    p = problem.spatial(friction_from_lcp(problem, solution.z))
    status = Status.STALLED if solution.success else solution.status
    history = [(time.perf_counter() - began, solution.residual)]
    info = {**solution.info, "solved_as": "LCP"}
    return judged(problem, p, control, status, solution.iterations, "FrictionAuto", began, history, info)
