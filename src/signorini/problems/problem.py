"""What every problem offers, whatever its kind."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from signorini._arrays import Array


@runtime_checkable
class Problem(Protocol):
    """Frozen data with a measure of how well a point solves it.

    A problem knows neither the mechanics that produced it nor the solver that will take it.
    """

    @property
    def size(self) -> int:
        """Number of unknowns."""

    def residual(self, z: Array) -> float:
        """Return how far `z` is from a solution; 0 exactly at solutions."""


def accepted(problem: Problem, z: Array, residual: float, tolerance: float) -> bool:
    """Tell whether `z` may be called a solution: the residual meets the tolerance and the problem raises no doubt.

    A problem whose residual has a blind spot offers a second look as ``credible(z, tolerance)``.
    """
    if not residual <= tolerance:
        return False
    credible = getattr(problem, "credible", None)
    return credible is None or bool(credible(z, tolerance))
