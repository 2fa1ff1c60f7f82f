"""How much a call may cost where the caller sets no limit: operations are counted, so results depend on no clock."""

from __future__ import annotations

OPERATIONS = 2e11
"""Multiplications that one solver spends on one problem at most, minutes of a core."""


def affordable(limit: int, each: float) -> int:
    """Return how many iterations of `each` so many multiplications may be done: at most `limit`, at least one."""
    return max(1, min(limit, int(OPERATIONS / max(each, 1.0))))
