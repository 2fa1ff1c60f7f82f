"""The compiled step where the user named a solver: the hand-over, in the place of the step's own solution.

All before and after is as ever: contacts that mislead, parts of rebounds, ends that are mended, checks and accounts.
:mod:`.named_solver` has the islands solved.
"""

from __future__ import annotations

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    CHECK,
    CLEARED,
    COMPLIANCE,
    COUNTS,
    COUPLE_AXES,
    ENDED,
    FIRST_CONTACT,
    ISLAND,
    ISLANDS,
    MET,
    N_CONTACTS,
    RESTS,
    ROWS,
    SOFTNESS,
    SOFTNESS_COLUMNS,
    SWEEPS,
)
from signorini.engine.solve import pose_island


@inner_kernel
def await_solver(t: IntArray) -> bool:
    """Pose all islands, rigid or on the user's springs, and leave them unsolved; True if there are none."""
    counts, island = wholes(t, COUNTS), whole_rows(t, ISLAND)
    counts[SWEEPS] = 0
    reals(t, CHECK)[ENDED] = 0.0
    for i in range(counts[ISLANDS]):
        island[i, MET], island[i, RESTS], island[i, CLEARED] = 0, 0, 0
    if wholes(t, COUPLE_AXES).shape[0] == 0:  # else they are posed already, see engine/couples.py
        for c in range(counts[ROWS]):
            for k in range(3):
                real_rows(t, COMPLIANCE)[c, k] = 0.0
            for k in range(SOFTNESS_COLUMNS):  # what the step's own solver remembers
                real_rows(t, SOFTNESS)[c, k] = 0.0
        for i in range(counts[ISLANDS]):
            first = island[i, FIRST_CONTACT]
            pose_island(t, first, first + island[i, N_CONTACTS], 0.0)
    return bool(counts[ISLANDS] == 0)
