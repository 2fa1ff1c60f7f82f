"""Clock, history and best point of a running method; makes the honest :class:`Solution` at the end."""

from __future__ import annotations

import time
from typing import Any, Generic, TypeVar

import numpy as np

from signorini._arrays import Array
from signorini.problems.problem import Problem, accepted
from signorini.solvers.solution import SUCCESS, Control, Solution, Status

P = TypeVar("P", bound=Problem)


class Progress(Generic[P]):
    """What happens while a method runs on `problem`.

    Methods offer points; the best one by the problem's own residual is kept and returned, whatever the method believes.
    """

    def __init__(self, problem: P, control: Control, solver: str) -> None:
        self.problem = problem
        self.control = control
        self.solver = solver
        self.began = time.perf_counter()
        self.best: Array | None = None
        self.best_residual = np.inf
        self.history: list[tuple[float, float]] = []

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

    def offer(self, z: Array, iterations: int, residual: float | None = None) -> float:
        """Record a point (a copy is kept if it is the best so far) and return its residual."""
        if residual is None:
            residual = self.problem.residual(z)
        if residual < self.best_residual or self.best is None:
            self.best, self.best_residual = z.copy(), residual
        self.history.append((self.seconds, residual))
        if self.control.callback is not None:
            self.control.callback(iterations, residual)
        return residual

    def accepts(self, z: Array, residual: float) -> bool:
        """Tell whether a point would be called a solution."""
        return accepted(self.problem, z, residual, self.control.tolerance)

    def prefer(self, z: Array, residual: float) -> None:
        """Make `z` the point to be returned."""
        self.best, self.best_residual = z.copy(), residual
        self.history.append((self.seconds, residual))

    def _without_dust(self, z: Array, residual: float) -> tuple[Array, float]:
        """Return a solution in which what stands for zero is zero, where the problem can tell."""
        clear = getattr(self.problem, "without_dust", None)
        if clear is None:
            return z, residual
        cut = clear(z)
        if np.array_equal(cut, z):
            return z, residual
        left = self.problem.residual(cut)
        return (cut, left) if self.accepts(cut, left) else (z, residual)

    def tell(self, iterations: int) -> None:
        """Report to the caller between points."""
        if self.control.callback is not None:
            self.control.callback(iterations, self.best_residual)

    def finish(self, z: Array | None, iterations: int, status: Status = Status.STALLED, **info: Any) -> Solution:
        """Return `z` if it is a solution, else the better of `z` and the best point, judged by the problem.

        The status is SOLVED (or SEVERAL_SOLUTIONS, if so claimed) exactly if that residual meets the tolerance and the
        problem finds the point credible; otherwise `status` says why not.
        """
        residual = np.inf if z is None else self.problem.residual(z)
        solved = z is not None and self.accepts(z, residual)
        if z is None or (not solved and self.best is not None and self.best_residual < residual):
            z = self.best if self.best is not None else np.zeros(self.problem.size)
            residual = self.best_residual if self.best is not None else self.problem.residual(z)
            solved = self.accepts(z, residual)
        if solved:
            z, residual = self._without_dust(z, residual)
            status = status if status is Status.SEVERAL_SOLUTIONS else Status.SOLVED
        elif status in SUCCESS:
            status = Status.STALLED
        history = tuple(self.history) or ((self.seconds, residual),)
        return Solution(z, status, residual, iterations, self.seconds, self.solver, history, info)
