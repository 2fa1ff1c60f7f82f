"""The compiled step, softness: how much a compliance that was posed may give way, and whether it did.

Compliance is the last resort, where neither sweeps nor the robust solver met a rigid problem. It is bounded by the
least width of the two bodies: below a thousandth of it where an island rests, nearly so, below a fiftieth always. A
layer of cards or thin plates gives way by less than a heap of boulders.
"""

from __future__ import annotations

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    BESIDE,
    CHECK,
    COMPLIANCE,
    COUNTS,
    DEFLECTION,
    DIM,
    FIRST_CONTACT,
    ISLAND,
    ISLANDS,
    MODE,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    ORDER,
    REFERENCE,
    RESTS,
    SEEN,
    SPARE_ROWS,
    SPRING,
    WIDTH,
    YIELDED,
    H,
    P,
)
from signorini.posing.constants import YIELD_AT_MOST, YIELD_AT_REST
from signorini.posing.contact_checks import SLIP, STICK


@inner_kernel
def largest_yield(t: IntArray, i: int) -> tuple[float, float, float]:
    """Return by how much an island gave way, of what it may, [m] where it did so most, and the width there."""
    island, h = whole_rows(t, ISLAND), reals(t, NUMBERS)[H]
    p, compliance, reference = real_rows(t, P), real_rows(t, COMPLIANCE), real_rows(t, REFERENCE)
    allowed, width = YIELD_AT_REST if island[i, RESTS] == 1 else YIELD_AT_MOST, reals(t, WIDTH)
    most, deflection, extent = 0.0, 0.0, 0.0
    for k in range(island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]):
        d = h * compliance[k, 0] * (p[k, 0] - reference[k, 0])
        share = d / (allowed * width[k])
        if share > most:
            most, deflection, extent = share, d, width[k]
    return (most, deflection, extent)


@inner_kernel
def judge_softness(t: IntArray) -> None:
    """Write how far contacts gave way in the step, and whether that is more than they may."""
    check, counts, worst = reals(t, CHECK), wholes(t, COUNTS), 0.0
    check[DEFLECTION], check[BESIDE], check[YIELDED] = 0.0, 0.0, 0.0
    for i in range(counts[ISLANDS]):
        most, deflection, extent = largest_yield(t, i)
        if most > worst:
            worst, check[DEFLECTION], check[BESIDE] = most, deflection, extent
    if worst > 1.0 and reals(t, NUMBERS)[SPRING] == 0.0:  # springs are what the user asked for
        check[YIELDED] = 1.0


@inner_kernel
def count_spare_rows(t: IntArray) -> None:
    """Write how many components of impulses the motion leaves open: active rows beyond the freedoms of bodies."""
    counts, island, mode, order = wholes(t, COUNTS), whole_rows(t, ISLAND), wholes(t, MODE), wholes(t, ORDER)
    spare, freedoms = 0, 6 if counts[DIM] == 3 else 3
    for i in range(counts[ISLANDS]):
        rows = 0
        for k in range(island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]):
            c = order[k]
            if c < counts[SEEN]:
                rows += counts[DIM] if mode[c] == STICK else 1 if mode[c] == SLIP else 0
        spare += max(0, rows - freedoms * island[i, N_BODIES])
    reals(t, CHECK)[SPARE_ROWS] = spare
