"""What a reproduced example hands back: checks of expected against obtained, data and figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Check:
    """One number of a paper or a specification against the number computed."""

    what: str
    expected: float
    obtained: float
    tolerance: float
    """Largest difference that passes."""

    @property
    def passed(self) -> bool:
        """Whether the two agree; a number that is none never does."""
        return abs(self.obtained - self.expected) <= self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Return the check as it is printed in JSON."""
        return {
            "what": self.what,
            "expected": self.expected,
            "obtained": self.obtained,
            "tolerance": self.tolerance,
            "passed": self.passed,
        }


def printed(what: str, digits: str, obtained: float) -> Check:
    """Check against a number as printed: to half a unit of its last digit.

    Examples
    --------
    >>> printed("x", "0.2117472", 0.21174718).passed
    True
    >>> printed("x", "0.2117472", 0.21174727).passed
    False
    """
    decimals = len(digits.partition(".")[2])
    # A tie is rounded to either side, so a hair more than half a unit passes.
    return Check(what, float(digits), float(obtained), 0.5001 * 10.0**-decimals)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The outcome of one example."""

    checks: list[Check]
    data: dict[str, Any] = field(default_factory=dict)
    """Numbers behind the checks, ready for JSON."""
    figures: dict[str, Figure] = field(default_factory=dict)
    """By file name without ending."""

    @property
    def passed(self) -> bool:
        """Whether every check passed; an example without checks shows nothing."""
        return bool(self.checks) and all(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example of a paper."""

    name: str
    seed: str
    """The paper: S1 to S5."""
    title: str
    run: Callable[[], Reproduction]
