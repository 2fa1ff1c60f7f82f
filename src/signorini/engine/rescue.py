"""The compiled step, rescue: what the robust solver does for an island, or a part of one, that sweeps do not solve.

See :mod:`signorini.solvers.island_robust`. Its memory is one pool; where that is too small the step says so, gets more
from Python and begins again, so that nothing depends on how much there was before.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import counted, inner_kernel, measured, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    BEFORE,
    BEYOND,
    CLEARED,
    COUNTS,
    FIRST_BODY,
    FIRST_CONTACT,
    ISLAND,
    LOW,
    N_CONTACTS,
    NUMBERS,
    OPEN_ISLAND,
    OPEN_SCALE,
    OPEN_WORK,
    REFERENCE,
    ROBUST,
    SHORT,
    SOFTNESS,
    SPENT,
    SPRING,
    TOLERANCE,
    B,
)
from signorini.engine.excerpt import excerpt_views, island_views
from signorini.posing.constants import (
    INTERIOR_COST,
    LIKELY,
    LIKELY_FEW,
    POLISH_ALPHA,
    SHARE_AT_ONCE,
    TOO_DEAR,
)
from signorini.solvers.island_constants import FINISH_STEPS
from signorini.solvers.island_newton import proximal_newton
from signorini.solvers.island_robust import move_inside
from signorini.solvers.island_table import (
    BEST,
    CLEAR_ROUNDING,
    ENTRY,
    INTERIOR_STEPS,
    KEEP_MODES,
    NEWTON,
    NEWTON_NEARBY,
    NEWTON_STEPS,
    OPEN,
    SCALING,
    SHARE_FORCES,
    SHARING_STEPS,
    SOLVE_ROBUSTLY,
    STEADY_FORCES,
    WORK,
    WORK_COUNT,
    D,
    R,
    V,
    copy,
)
from signorini.solvers.nsgs_kernels import set_velocities

# What is asked for: velocities that rounding hides; that contacts go on as before; the least impulses for the solution
# there is; any solution; that of least impulses; one of the part taken out; one beyond the tolerance.
_KINDS: Any = np.arange(8, dtype=np.int64)
CLEAR, KEEP, SHARE, NEAR, SOLVE, SOLVE_AT_REST, SOLVE_EXCERPT, SOLVE_FINELY = _KINDS


@inner_kernel
def _scale(w: IntArray, p: Array, mu: Array, s: float, inward: bool) -> None:
    """Set ENTRY to the impulses p, or p to BEST; without friction there are none along the tangents."""
    d, entry, best = reals(w, D), real_rows(w, ENTRY), real_rows(w, BEST)
    for c in range(p.shape[0]):
        for i in range(3):
            if inward:
                entry[c, i] = p[c, i] / (d[c] * s) if i == 0 or mu[c] > 0.0 else 0.0
            else:
                p[c, i] = d[c] * s * best[c, i]


@inner_kernel
def _clear(t: IntArray, i: int, s: float) -> None:
    """Note in LOW what the rounding of its impulses hides of the velocities of island `i`."""
    island, w = whole_rows(t, ISLAND), whole_rows(t, ROBUST)
    problem, course = island_views(t, i)
    y, p, mu = course.y, course.best_p, problem.mu
    set_velocities(problem, p, y, course.p)
    _scale(w, p, mu, s, True)
    at, low = 2 * island[i, FIRST_BODY], real_rows(t, LOW)
    if measured(w[CLEAR_ROUNDING, 0], (w, real_rows(w, ENTRY), y, s)) == 0.0:
        return
    for m in range(y.shape[0]):
        for j in range(3):
            low[at + m, j] = y[m, j]
    copy(real_rows(w, ENTRY), real_rows(w, BEST))
    _scale(w, p, mu, s, False)
    set_velocities(problem, p, y, course.p)
    for m in range(y.shape[0]):
        for j in range(3):
            low[at + m, j] -= y[m, j]
    island[i, CLEARED] = 1


@inner_kernel
def rescue(t: IntArray, i: int, what: int, goal: float, credit: float) -> float:
    """Better the impulses of island `i`, in P, up to a residual of `goal`; return the residual that was reached.

    Infinite where nothing better was found or it would cost more than `credit` operations for each contact; what was
    spent is in SPENT. Where memory is short SHORT is set.
    """
    counts, numbers, w = wholes(t, COUNTS), reals(t, NUMBERS), whole_rows(t, ROBUST)
    problem, course = excerpt_views(t, i) if what == SOLVE_EXCERPT else island_views(t, i)
    start, block, gather, _, _, _, load, mu, rho, _, compliance = problem
    best_p, n_c, numbers[SPENT] = course.best_p, mu.shape[0], 0.0
    if what > SHARE and w[NEWTON, 0] == 0:
        counts[SHORT] = 1
        return math.inf
    likely = LIKELY_FEW if what <= NEAR else LIKELY
    if counts[OPEN_ISLAND] != i + 1 or what == SOLVE_EXCERPT:
        counts[OPEN_ISLAND] = 0
        most, scale = int(credit * n_c / likely), numbers[OPEN_SCALE : OPEN_SCALE + 1]
        operations = counted(
            w[OPEN, 0], (w, start, block, gather, load, mu, rho, compliance, course.y.shape[0] // 2, most, scale)
        )
        if operations == 0:
            numbers[SPENT] = TOO_DEAR * credit
            return math.inf
        if operations < 0:
            counts[SHORT] = 1
            return math.inf
        counts[OPEN_WORK] = operations
        counts[OPEN_ISLAND] = 0 if what == SOLVE_EXCERPT else i + 1
    s, operations = numbers[OPEN_SCALE], counts[OPEN_WORK]
    if operations * likely > credit * n_c:
        numbers[SPENT] = TOO_DEAR * credit
        return math.inf
    work, tolerance, best = wholes(w, WORK), numbers[TOLERANCE], math.inf
    for k in range(WORK_COUNT):
        work[k] = 0
    if what == CLEAR:
        _clear(t, i, s)
        numbers[SPENT] = operations * work[SHARING_STEPS] / n_c
        return math.inf
    if what == KEEP:
        island, b, shift, beyond = whole_rows(t, ISLAND), real_rows(t, B), real_rows(w, SCALING), real_rows(w, V + 16)
        softness = real_rows(t, SOFTNESS)
        first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
        for c in range(n_c):
            shift[c, 0] = load[c, 0] - b[first + c, 0]
            for k in range(3):
                beyond[c, k] = softness[first + c, BEYOND + k]
        bears = real_rows(t, REFERENCE)[first:last]
        best = measured(w[KEEP_MODES, 0], (w, real_rows(t, BEFORE)[first:last], shift, bears, beyond, s, goal))
        for c in range(n_c):
            for k in range(3):
                softness[first + c, BEYOND + k] = beyond[c, k]
    elif what == SHARE:
        _scale(w, best_p, mu, s, True)
        best = measured(w[STEADY_FORCES, 0], (w, goal))
    elif what == NEAR:
        _scale(w, best_p, mu, s, True)
        best = measured(w[NEWTON_NEARBY, 0], (w, goal))
    else:
        _scale(w, best_p, mu, s, True)
        limit = int(SHARE_AT_ONCE * credit * n_c / operations)
        best = measured(w[SOLVE_ROBUSTLY, 0], (w, goal if what >= SOLVE_EXCERPT else max(goal, tolerance), limit))
        if best > goal and best <= tolerance:
            copy(real_rows(w, BEST), real_rows(w, R))
            best = proximal_newton(w, best, goal, limit - limit + FINISH_STEPS, POLISH_ALPHA, limit < 0)
        if what == SOLVE_AT_REST and best <= tolerance and numbers[SPRING] == 0.0:
            best = measured(w[SHARE_FORCES, 0], (w, best, goal))
    if what > SHARE:
        best = move_inside(w, best, max(goal, tolerance))
    if best < math.inf:
        _scale(w, best_p, mu, s, False)
    steps = work[NEWTON_STEPS] + INTERIOR_COST * work[INTERIOR_STEPS] + work[SHARING_STEPS]
    numbers[SPENT] = operations * steps / n_c
    return best
