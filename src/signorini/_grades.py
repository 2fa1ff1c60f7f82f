"""How far a result can be trusted, and the bounds that certificate and audit have in common."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

OVERLAP_REMARK = 1e-3
"""Overlap, relative to the thinner body of the pair, above which a run is remarked upon: what nobody can see."""
OVERLAP_WRONG = 2e-2
"""... above which it is not trusted. Honest rigid steps of piles in motion reach 1e-2, since gaps are predicted along
normals that turn in the step."""
DRIFT_REMARK = 1e-2
"""How far joints may be apart, relative to the smaller of their bodies or in radians, before it is worth a remark."""
DRIFT_WRONG = 5e-2
"""... before it is wrong. There steps fail, unless bodies turn by about a radian in them."""


class Grade(StrEnum):
    """How far a result can be trusted."""

    TRUSTED = "trusted"
    REMARKS = "trusted with remarks"
    NOT_TRUSTED = "not trusted"


_ORDER = tuple(Grade)


def severity(grade: Grade) -> int:
    """Return 0 for what is trusted, 1 with remarks, 2 for what is not."""
    return _ORDER.index(grade)


def worst_of(grades: Iterable[Grade]) -> Grade:
    """Return the worst of these grades; nothing is trusted less than none."""
    return max(grades, key=severity, default=Grade.TRUSTED)
