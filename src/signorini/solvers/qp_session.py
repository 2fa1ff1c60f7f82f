"""What every QP back end offers besides the plain `solve`: a sequence of problems that differ in one vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from signorini._arrays import Array
from signorini.problems.qp import ConvexQP
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class QPPoint:
    """The end of one solve."""

    z: Array
    """``(x, y, w)``"""
    status: Status
    """What the method believes; the caller asks the problem."""
    residual: float
    """As in `ConvexQP.residual`, for the right-hand side that was given."""
    iterations: int
    certificate: Array | None = None
    """Multipliers that prove the constraints contradictory, if found."""


class QPSession(Protocol):
    """A QP prepared once and solved for several right-hand sides."""

    def solve(self, c: Array, start: Array | None, tolerance: float, progress: Progress[Any] | None = None) -> QPPoint:
        """Solve with the inequalities ``C x - c in K``; `start` is a guess of ``z``, `progress` has the time limit."""
        ...


class QPSolver(Protocol):
    """A back end; its fields are its settings."""

    def solve(self, problem: ConvexQP, control: Control, /) -> Solution:
        """Solve one problem."""
        ...

    def open(self, problem: ConvexQP) -> QPSession:
        """Prepare for a sequence of problems that differ in `c` alone."""
        ...
