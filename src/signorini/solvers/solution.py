"""What every solver takes besides a problem, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from signorini._arrays import Array, checked_tolerance
from signorini._words import Word


class Status(Word):
    """How a solver ended. Kernels return the number, ``str()`` gives the word."""

    SOLVED = 0
    NO_SOLUTION = 1
    RAY = 2
    SEVERAL_SOLUTIONS = 3
    ITERATION_LIMIT = 4
    TIME_LIMIT = 5
    STALLED = 6
    NOT_APPLICABLE = 7
    UNDECIDED = 8


SUCCESS = (Status.SOLVED, Status.SEVERAL_SOLUTIONS)
"""How a solver ends that met its tolerance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """What the caller asks of a solver, whatever the method."""

    tolerance: float = 1e-10
    """The problem's own residual at which a point counts as solved, 1e-14 to 1e-2."""
    time_limit: float | None = None
    """Seconds after which the best point so far is returned."""
    max_iterations: int | None = None
    """Overrides the solver's own limit."""
    start: Array | None = None
    """A guess of the solution, in the problem's order."""
    callback: Callable[[int, float], object] | None = None
    """Called with (iterations, residual) as the method goes on."""

    def __post_init__(self) -> None:
        checked_tolerance(self.tolerance, "tolerance")


@dataclass(frozen=True, slots=True)
class Solution:
    """The answer; `residual` is always recomputed by the problem, never taken from the solver."""

    z: Array
    status: Status
    residual: float
    iterations: int
    seconds: float = 0.0
    solver: str = ""
    history: tuple[tuple[float, float], ...] = ()
    """Pairs (seconds, residual) while the method ran."""
    info: dict[str, Any] = field(default_factory=dict)
    """What a method knows besides: a ray, a certificate, all solutions."""

    @property
    def success(self) -> bool:
        """True when the residual meets the tolerance that was asked for."""
        return self.status in SUCCESS
