"""The compiled step with couples and ellipsoids of friction: one island after another.

A guess that is near goes to Newton's method, and so does what a few accelerated sweeps do not solve. What the robust
solver gives up is swept over for long, and then tried by it once more.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    BLOCK,
    COUNTS,
    COUPLE_BLOCK,
    COUPLE_GATHER,
    COUPLE_GROUPS,
    COUPLE_KIND,
    COUPLE_LIMIT,
    COUPLE_P,
    COUPLE_U,
    COUPLE_WORK,
    FIRST_BODY,
    FIRST_CONTACT,
    ISLAND,
    ISLANDS,
    JOB,
    LIMIT,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    RESCUE_COUPLES,
    SCRATCH,
    SHORT,
    SMALL,
    SOLVING,
    START,
    SWEEPS,
    TOLERANCE,
)
from signorini.engine.couples import contact_error, spread_couples, velocity_of
from signorini.posing.constants import (
    COUPLE_FEW,
    COUPLE_LOOK,
    COUPLE_PATIENCE,
    FINEST,
    FRESH,
    NEARLY,
    PROGRESS,
    WINDOW,
)
from signorini.solvers.extended_kernels import solve_extended_contact
from signorini.solvers.island_constants import MARGIN
from signorini.solvers.nsgs_acceleration import accelerated


@inner_kernel
def _solve_one(t: IntArray, k: int, r: Array, row: int, y: Array) -> None:
    """Solve contact `k` with the newest impulses of the others; its row of `r` and y in place."""
    start, block, wide = wholes(t, START), wholes(t, BLOCK), real_blocks(t, COUPLE_GATHER)
    W, limit, groups = real_blocks(t, COUPLE_BLOCK)[k], real_rows(t, COUPLE_LIMIT), whole_rows(t, COUPLE_GROUPS)
    work, kind = real_blocks(t, COUPLE_WORK), wholes(t, COUPLE_KIND)[k]
    o = k - k  # a zero that is no constant: the compiler would keep a version for each
    rows, A, B, K = work[2], work[o : o + 1], work[o + 1 : o + 2], work[3]
    x, u, F, bounds, q = rows[o : o + 1], rows[o + 1 : o + 2], rows[o + 2 : o + 3], rows[o + 3 : o + 4], rows[4]
    if not W[0, 0] > 0.5:  # 1 in its units, unless the normal moves nothing
        return
    R = r.shape[1]
    for i in range(R):
        s = velocity_of(t, k, i, r[row, 0], y)
        for j in range(R):
            s -= W[i, j] * r[row, j]
        q[i] = s
    if q[0] >= 0.0 and r[row, 0] == 0.0:
        return  # open, and stays so
    for m in range(3):
        bounds[0, m] = limit[k, m]
    solve_extended_contact(W, q, bounds, groups[kind], r[row], x, u, F, A, B, K)
    for g in range(start[k], start[k + 1]):
        m = block[g]
        for j in range(3):
            change = 0.0
            for i in range(R):
                change += wide[g, i, j] * (x[0, i] - r[row, i])
            y[m, j] += change
    for i in range(R):
        r[row, i] = x[0, i]


@inner_kernel
def _residual(t: IntArray, first: int, last: int, r: Array, y: Array) -> float:
    """Return the residual of an island."""
    u = real_rows(t, COUPLE_U)
    error, size, scale = 0.0, 0.0, 0.0
    for k in range(first, last):
        for i in range(r.shape[1]):
            u[k, i] = velocity_of(t, k, i, r[k - first, 0], y)
        a, b, c = contact_error(t, k, r[k - first], u[k])
        error, size, scale = error + a, size + b, scale + c
    scale = math.sqrt(max(size, scale))
    return math.sqrt(error) / scale if scale > 0.0 else math.sqrt(error)


@inner_kernel
def _sweep_island(t: IntArray, i: int, limit: int, patience: int, progress: float) -> float:
    """Sweep to and fro over island `i` up to its tolerance; return its residual. The best impulses are kept.

    Not after so many sweeps, or where the residual does not fall to a part of itself within others.
    """
    counts, island = wholes(t, COUNTS), whole_rows(t, ISLAND)
    solving, scratch, small = reals(t, SOLVING), reals(t, SCRATCH), real_blocks(t, SMALL)
    best_r, tolerance = real_rows(t, COUPLE_P), MARGIN * reals(t, NUMBERS)[TOLERANCE]
    R = best_r.shape[1]
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    n, m, at = island[i, N_CONTACTS], 6 * island[i, N_BODIES], 6 * island[i, FIRST_BODY] + 3 * first
    state = solving[at : at + m + R * n]
    y, r = state[:m].reshape((m // 3, 3)), state[m:].reshape((n, R))
    for k in range(n):
        for j in range(R):
            r[k, j] = best_r[first + k, j]
    spread_couples(t, first, last, r, y)
    best, sweeps = _residual(t, first, last, r, y), 0
    goal, goal_at = math.inf, 0
    pace = (0, 0, False, math.inf, math.inf, 0, 0)
    while sweeps < limit:
        for j in range(state.shape[0]):
            scratch[j] = state[j]
        for k in range(n):
            _solve_one(t, first + k, r, k, y)
        for k in range(n - 1, -1, -1):
            _solve_one(t, first + k, r, k, y)
        sweeps += 2
        if sweeps % FRESH == 0:
            spread_couples(t, first, last, r, y)
        if sweeps % COUPLE_LOOK != 0 and sweeps < limit:
            pace = accelerated(state, m, WINDOW, scratch, small, pace, whole_rows(t, JOB))
            continue
        residual = _residual(t, first, last, r, y)
        if residual < best:
            best = residual
            for k in range(n):
                for j in range(R):
                    best_r[first + k, j] = r[k, j]
        if best <= tolerance or not residual < math.inf:
            break
        if best < progress * goal:
            goal, goal_at = best, sweeps
        elif sweeps - goal_at >= patience:
            break
        pace = accelerated(state, m, WINDOW, scratch, small, pace, whole_rows(t, JOB))
    counts[SWEEPS] = max(counts[SWEEPS], sweeps)
    return best


@inner_kernel
def _rescued(t: IntArray, i: int, near: bool, goal: float) -> float:
    """Ask the robust solver for island `i`; where it is not ready SHORT is set."""
    if t[RESCUE_COUPLES, 0] == 0:
        wholes(t, COUNTS)[SHORT] = 1
        return math.inf
    return measured(t[RESCUE_COUPLES, 0], (t, i, near, goal))


@inner_kernel
def _solve_island(t: IntArray, i: int) -> bool:
    """Solve island `i`; False if it resists, or memory is short."""
    counts, tolerance = wholes(t, COUNTS), MARGIN * reals(t, NUMBERS)[TOLERANCE]
    none, few = counts[SWEEPS] - counts[SWEEPS], whole_rows(t, ISLAND)[i, N_CONTACTS] <= COUPLE_FEW
    # A guess taken as it is because it is good enough would add its error up to creep.
    residual = _sweep_island(t, i, none, none, 0.0) if not few else math.inf
    if FINEST * tolerance < residual < NEARLY:
        residual = min(residual, _rescued(t, i, residual > 0.0, FINEST * tolerance))
    if residual > tolerance and counts[SHORT] == 0:
        residual = _sweep_island(t, i, counts[LIMIT], none + (COUPLE_PATIENCE if few else COUPLE_LOOK), PROGRESS)
    if residual > tolerance and counts[SHORT] == 0:
        residual = min(residual, _rescued(t, i, residual < 0.0, tolerance))
    if residual > tolerance and counts[SHORT] == 0 and not few:
        residual = _sweep_island(t, i, counts[LIMIT], none + COUPLE_PATIENCE, PROGRESS)
        if residual > tolerance:
            residual = min(residual, _rescued(t, i, residual < 0.0, tolerance))
    return bool(residual <= tolerance) and counts[SHORT] == 0


@inner_kernel
def solve_couples(t: IntArray) -> bool:
    """Solve all islands to the tolerance, from the guess; False if some island resists, or memory is short."""
    counts, solved = wholes(t, COUNTS), True
    counts[SWEEPS] = 0
    for i in range(counts[ISLANDS]):
        solved = _solve_island(t, i) and solved
        if counts[SHORT] == 1:
            return False
    return solved
