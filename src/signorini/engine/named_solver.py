"""A solver that the user named: it is asked for every island of a step, and judged by the problems themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from signorini._arrays import LEAST_TOLERANCE, Array
from signorini.problems import FrictionProblem
from signorini.problems.problem import accepted
from signorini.solvers import Solution, Status, solve
from signorini.solvers.island_constants import MARGIN
from signorini.solvers.solution import SUCCESS


class NamedSolver:
    """What the solver made of the problems of a step."""

    def __init__(self, solver: Any, tolerance: float) -> None:
        self._solver, self._tolerance = solver, tolerance
        self._waited = 0.0
        self.begin()

    def begin(self) -> None:
        """Forget the last step."""
        self.status = Status.SOLVED
        """The first that is no success."""
        self.seconds = 0.0
        self.name = type(self._solver).__name__
        self.info: dict[str, Any] = {}

    def waited(self) -> float:
        """Return the seconds that all answers took since this was last asked."""
        waited, self._waited = self._waited, 0.0
        return waited

    def answer(self, problem: FrictionProblem, start: Array) -> Solution:
        """Return its answer to a problem, with the residual and the status that the problem finds."""
        goal = max(MARGIN * self._tolerance, LEAST_TOLERANCE)
        solution = solve(problem, self._solver, tolerance=goal, start=start)
        residual = problem.residual(solution.z)
        status = solution.status
        if accepted(problem, solution.z, residual, self._tolerance):
            status = status if status in SUCCESS else Status.SOLVED
        elif status in SUCCESS:
            status = Status.STALLED
        return replace(solution, residual=residual, status=status)

    def note(self, solution: Solution) -> None:
        """Keep what the step is to say of an answer."""
        if self.status in SUCCESS:
            self.status = max(self.status, solution.status) if solution.success else solution.status
        self.seconds += solution.seconds
        self._waited += solution.seconds
        self.name = solution.solver or self.name
        self.info |= solution.info
