"""The compiled step, sleep: islands at rest that cost nothing until something happens to them.

An island sleeps once all its bodies have been still for a while. It keeps its places and impulses, its velocities are
zero, and no problem is posed for it. It wakes as it fell asleep, bit for bit, when a body that is awake comes into
reach, when a prescribed body that it touches moves, or when a load of one of its bodies changes.
"""

from __future__ import annotations

import math

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    ASLEEP,
    AWAKE,
    B_BODY,
    BOUND,
    CHECK,
    CONTACTS,
    COUNTS,
    DRIVE,
    FIXED,
    GRAVITY,
    INDEX,
    ISLANDS,
    NUMBERS,
    OWN_ISLAND,
    P_EXT,
    PLACE,
    REST,
    SLEEPS,
    STILL,
    STILL_LOAD,
    Y_ROW,
    H,
    V,
)
from signorini.posing.constants import STILL_SPEED, STILL_STEPS


@inner_kernel
def mark_awake(t: IntArray) -> None:
    """Mark the bodies that are awake in ``PLACE``."""
    counts, index, place = wholes(t, COUNTS), whole_rows(t, INDEX), whole_rows(t, PLACE)
    rest, p_ext, drive, fixed = real_rows(t, REST), real_rows(t, P_EXT), real_rows(t, DRIVE), counts[FIXED]
    for b in range(fixed, place.shape[0]):
        place[b, AWAKE] = 1
    if counts[SLEEPS] == 0:
        return
    for b in range(fixed, place.shape[0]):
        awake = rest[b, STILL] < STILL_STEPS
        for k in range(6):
            awake = awake or p_ext[b, k] != rest[b, STILL_LOAD + k]
        place[b, AWAKE] = 1 if awake else 0
    for c in range(counts[CONTACTS]):
        a = index[c, A_BODY]
        if a < fixed:
            for k in range(6):
                if drive[a, k] != 0.0:
                    place[index[c, B_BODY], AWAKE] = 1


@inner_kernel
def is_asleep(counts: IntArray, place: IntArray, b: int) -> bool:
    """Tell whether a body sleeps in this step: islands that do are numbered after the others."""
    return bool(place[b, Y_ROW] >= 0 and place[b, OWN_ISLAND] >= counts[ISLANDS])


@inner_kernel
def note_rest(t: IntArray) -> None:
    """Count for how many steps each body has been still."""
    counts, numbers, place, v = wholes(t, COUNTS), reals(t, NUMBERS), whole_rows(t, PLACE), real_rows(t, V)
    rest, p_ext, bound, check = real_rows(t, REST), real_rows(t, P_EXT), reals(t, BOUND), reals(t, CHECK)
    allowed = STILL_SPEED * numbers[GRAVITY] * numbers[H]
    asleep = 0
    for b in range(counts[FIXED], v.shape[0]):
        if is_asleep(counts, place, b):
            asleep += 1
            continue
        speed = math.sqrt(v[b, 0] ** 2 + v[b, 1] ** 2 + v[b, 2] ** 2)
        speed += bound[b] * math.sqrt(v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2)
        rest[b, STILL] = rest[b, STILL] + 1.0 if place[b, Y_ROW] >= 0 and speed <= allowed else 0.0
        for k in range(6):
            rest[b, STILL_LOAD + k] = p_ext[b, k]
    check[ASLEEP] = asleep
