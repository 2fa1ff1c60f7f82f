"""Trying one method after the other on a problem, with one clock, one history and one best point."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from signorini._arrays import Array
from signorini.problems.problem import Problem
from signorini.solvers.solution import Control, Solution, Status
from signorini.solvers.solve import Solver, run


class Attempts:
    """What an automatic choice has tried so far on `problem`."""

    def __init__(self, problem: Problem, control: Control, name: str) -> None:
        self.problem = problem
        self.control = control
        self.name = name
        self.began = time.perf_counter()
        self.best: Solution | None = None
        self.tried: list[tuple[str, str]] = []
        self.history: list[tuple[float, float]] = []
        self.iterations = 0
        self.info: dict[str, Any] = {}

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self.began

    def out_of_time(self) -> bool:
        """Tell whether the time limit has passed."""
        return self.control.time_limit is not None and self.seconds >= self.control.time_limit

    def time_left(self) -> float | None:
        """Return the seconds until the time limit, None if there is none."""
        return None if self.control.time_limit is None else max(self.control.time_limit - self.seconds, 0.0)

    def solved(self, solver: Solver, start: Array | None = None) -> bool:
        """Run `solver` for the time that is left; tell whether the problem is solved."""
        if self.out_of_time() and self.best is not None:
            return False
        earlier = self.seconds
        control = replace(
            self.control, time_limit=self.time_left(), start=self.control.start if start is None else start
        )
        solution = run(solver, self.problem, control)
        self.tried.append((type(solver).__name__, str(solution.status)))
        self.iterations += solution.iterations
        self.history.extend((earlier + t, residual) for t, residual in solution.history)
        self.info.update(solution.info)
        if self.best is None or solution.success or (not self.best.success and _better(solution, self.best)):
            self.best = solution
        return solution.success

    def statuses(self) -> set[str]:
        """Return how the methods ended."""
        return {status for _, status in self.tried}

    def finish(self, otherwise: Status = Status.UNDECIDED, **info: Any) -> Solution:
        """Return the best point; its own status if it solves the problem, else `otherwise`."""
        best = self.best
        assert best is not None  # at least one method has run
        status = best.status if best.success else Status.TIME_LIMIT if self.out_of_time() else otherwise
        used = self.tried[-1][0] if best.success else ", ".join(dict.fromkeys(name for name, _ in self.tried))
        return replace(
            best,
            status=status,
            iterations=self.iterations,
            seconds=self.seconds,
            solver=f"{self.name} ({used})",
            history=tuple(self.history),
            info={**self.info, **info, "tried": self.tried},
        )


def _better(a: Solution, b: Solution) -> bool:
    """Compare two failures by residual, but never prefer a point that ran away to infinity."""
    return a.residual < b.residual and float(abs(a.z).max(initial=0.0)) <= 1e3 * (
        1.0 + float(abs(b.z).max(initial=0.0))
    )
