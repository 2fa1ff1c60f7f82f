"""The compiled step with couples, rescue: what the robust solver does for an island that sweeps do not solve.

As :mod:`.rescue`, with the kernels of :mod:`signorini.solvers.island_couples`. Nothing is made compliant here.
"""

from __future__ import annotations

import math

from signorini._arrays import IntArray
from signorini._jit import counted, inner_kernel, measured, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    BLOCK,
    COUNTS,
    COUPLE_GATHER,
    COUPLE_GROUPS,
    COUPLE_KIND,
    COUPLE_LIMIT,
    COUPLE_LOAD,
    COUPLE_P,
    COUPLE_UNIT,
    FIRST_CONTACT,
    ISLAND,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    OPEN_SCALE,
    RHO,
    ROBUST,
    ROWS,
    SEEN,
    SHORT,
    SPRING,
    START,
    TOLERANCE,
)
from signorini.posing.constants import COUPLE_CREDIT, DEAREST
from signorini.solvers.island_robust import move_inside
from signorini.solvers.island_table import BEST, ENTRY, NEWTON_NEARBY, OPEN, SOLVE_ROBUSTLY, WORK, WORK_COUNT


@inner_kernel
def rescue_couples(t: IntArray, i: int, near: bool, goal: float) -> float:
    """Better the impulses of island `i` up to a residual of `goal`; return that of what was found.

    Infinite where it would cost too much. `near`: a few steps of Newton, for guesses that are near. Where memory is
    short SHORT is set.
    """
    counts, numbers, w, island = wholes(t, COUNTS), reals(t, NUMBERS), whole_rows(t, ROBUST), whole_rows(t, ISLAND)
    n_c, first = island[i, N_CONTACTS], island[i, FIRST_CONTACT]
    if numbers[SPRING] > 0.0 and counts[ROWS] > counts[SEEN]:  # which knows one compliance for all
        return math.inf
    last, scale = first + n_c, numbers[OPEN_SCALE : OPEN_SCALE + 1]
    operations = counted(
        w[OPEN, 0],
        (
            w,
            wholes(t, START)[first : last + 1],
            wholes(t, BLOCK),
            real_blocks(t, COUPLE_GATHER),
            real_rows(t, COUPLE_LOAD)[first:last],
            real_rows(t, COUPLE_LIMIT)[first:last],
            real_rows(t, COUPLE_UNIT)[first:last],
            wholes(t, COUPLE_KIND)[first:last],
            whole_rows(t, COUPLE_GROUPS),
            reals(t, RHO)[first:last],
            numbers[SPRING],
            island[i, N_BODIES],
            DEAREST * n_c,
            scale,
        ),
    )
    if operations < 0:
        counts[SHORT] = 1
    if operations <= 0:
        return math.inf
    r, entry, best_r, s = real_rows(t, COUPLE_P), real_rows(w, ENTRY), real_rows(w, BEST), scale[0]
    for k in range(WORK_COUNT):
        wholes(w, WORK)[k] = 0
    for c in range(n_c):
        for j in range(r.shape[1]):
            entry[c, j] = r[first + c, j] / s
    if near:
        best = measured(w[NEWTON_NEARBY, 0], (w, goal))
    else:
        best = measured(w[SOLVE_ROBUSTLY, 0], (w, goal, COUPLE_CREDIT * n_c // operations))
    best = move_inside(w, best, max(goal, numbers[TOLERANCE]))
    for c in range(n_c):
        for j in range(r.shape[1]):
            r[first + c, j] = s * best_r[c, j]
    return best
