"""The compiled step, sweeps: how an island is swept over, and what these sweeps are to reach."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    ALPHA,
    ASKED,
    AT_ONCE,
    COUNTS,
    CUT_ROW,
    FINE_TOLERANCE,
    FIRST_CONTACT,
    GOAL,
    HAS_ROBUST,
    IS_COLD,
    IS_LARGE,
    IS_SOFT,
    ISLAND,
    JOB,
    LIMIT,
    MADE,
    MEMORY,
    N_CONTACTS,
    NUMBERS,
    REACHED,
    RESTS,
    SHARE_ISLAND,
    SMALL,
    SOFTNESS,
    STAYS,
    SWEEP,
    SWEPT,
    TOLERANCE,
    TRIAL,
    WANTED,
)
from signorini.engine.excerpt import excerpt_views, island_views
from signorini.engine.signs import is_known
from signorini.math.cones import LEVERAGE
from signorini.posing.constants import (
    AGAIN_SWEEPS,
    AS_MANY,
    BETTERED,
    COLD_SWEEPS,
    COMPLIANT_SWEEPS,
    ELSEWHERE,
    FORESIGHT,
    HASTE,
    HASTE_WORK,
    HELD_ERROR,
    LARGE_AT_REST,
    LAST_SWEEPS,
    MOST_ALPHA,
    MOST_IN_EXCERPT,
    NEWTON_AT_LEAST,
    NEWTON_BY_NODES,
    PATIENCE,
    PATIENCE_IN_EXCERPT,
    PROGRESS,
    RIGID_SWEEPS,
    SWEEPS_AT_LEAST,
    WINDOW,
)
from signorini.solvers.island_constants import FEW_ROUNDINGS, MARGIN, SUM_ROUNDING
from signorini.solvers.nsgs_acceleration import Effort

# How an island is swept over: not at all, a guess is looked at; a few times; only an excerpt; till progress ends; for
# as long as methods elsewhere would take.
LOOK_ONLY, FEW_SWEEPS, IN_EXCERPT, ALL_SWEEPS, MANY_SWEEPS, HOWS = np.arange(6, dtype=np.int64)
State = Any
"""One of these, or what else an island may be in: a number."""


@inner_kernel
def _newton_in_sweeps(nodes: int, contacts: int) -> float:
    """Return about how many sweeps cost as much as a step of the robust solver, at most.

    A factorisation takes some 0.6 n^2 updates of a block in dense piles of n bodies, each a third of the work at a
    contact.
    """
    return NEWTON_AT_LEAST + NEWTON_BY_NODES * nodes * nodes / contacts


@inner_kernel
def _asked(rho: Array, load: Array, p: Array, tolerance: float) -> float:
    """Return the tolerance of an island: less where impulses are many times those that the load alone would ask for.

    The residual is relative to all impulses: with a million kilograms on one, a millionth of it is what this weighs.
    """
    whole, own = 0.0, 0.0
    for k in range(p.shape[0]):
        for i in range(3):
            whole += p[k, i] ** 2
            own += (rho[k] * load[k, i]) ** 2
    if whole <= LEVERAGE**2 * own:
        return tolerance
    return min(tolerance, max(LEVERAGE * math.sqrt(own / whole) * tolerance, SUM_ROUNDING))


@inner_kernel
def _allowance(t: IntArray, i: int, how: State, haste: Any) -> Any:
    """Return the sweeps that an island may have, by how many their progress is judged, and which progress is enough."""
    island, alpha = whole_rows(t, ISLAND), real_rows(t, MEMORY)[i, ALPHA]
    soft, large = island[i, IS_SOFT] == 1, island[i, IS_LARGE] == 1
    if how == LOOK_ONLY:
        return (np.int64(0), np.int64(0), PROGRESS)
    if how == FEW_SWEEPS:
        return (np.int64(SWEEPS_AT_LEAST), np.int64(PATIENCE), PROGRESS)
    if how == MANY_SWEEPS:
        return (np.int64(ELSEWHERE), np.int64(ELSEWHERE), PROGRESS)
    if how == IN_EXCERPT and haste == 0:
        return (np.int64(MOST_IN_EXCERPT), np.int64(PATIENCE_IN_EXCERPT), PROGRESS)
    if how == IN_EXCERPT:
        return (haste, np.int64(HASTE), 0.0)
    if island[i, IS_COLD] == 1 and not soft:
        return (np.int64(COLD_SWEEPS), np.int64(COLD_SWEEPS), PROGRESS)
    if soft and alpha >= MOST_ALPHA:
        return (np.int64(LAST_SWEEPS), np.int64(PATIENCE), PROGRESS)
    if not large and not soft:
        if haste > 0:
            return (haste, np.int64(HASTE), 0.0)
        return (wholes(t, COUNTS)[LIMIT], np.int64(PATIENCE), PROGRESS)
    limit = COMPLIANT_SWEEPS if soft else RIGID_SWEEPS if alpha == 0.0 else AGAIN_SWEEPS
    return (np.int64(limit), np.int64(FORESIGHT), 0.0)


@inner_kernel
def _wanted(t: IntArray, i: int, how: State) -> tuple[float, Any, Any]:
    """Return the residual that sweeps over an island are to reach, when it is first looked at, and sweeps after that.

    Its tolerance is written to ASKED.
    """
    tolerance, asked, none, island = reals(t, NUMBERS)[TOLERANCE], reals(t, ASKED), np.int64(0), whole_rows(t, ISLAND)
    soft, goal = island[i, IS_SOFT] == 1, real_rows(t, TRIAL)[i, FINE_TOLERANCE]
    wanted = LARGE_AT_REST * tolerance if not soft and island[i, RESTS] == 1 else tolerance
    if island[i, CUT_ROW] > 0 or how == IN_EXCERPT:
        return (wanted, none + SWEEPS_AT_LEAST, none)
    problem, course = island_views(t, i)
    asked[i] = _asked(problem.rho, problem.load, course.p, tolerance)
    wanted = asked[i] if soft else min(goal, max(asked[i] * goal / tolerance, FEW_ROUNDINGS))
    # Below the tolerance sweeps carry what is left of the error from heavy bodies to light ones.
    return (wanted, none, none if asked[i] < tolerance else none + BETTERED)


@inner_kernel
def sweep_island(t: IntArray, i: int, how: State) -> None:
    """Sweep over an island or its excerpt, with all threads if it is cut, and note what that has reached."""
    counts, island, trial, job = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, TRIAL), whole_rows(t, JOB)
    tolerance = reals(t, NUMBERS)[TOLERANCE]
    none: Any = np.int64(0)
    problem, course = excerpt_views(t, i) if how == IN_EXCERPT else island_views(t, i)
    n_c = problem.mu.shape[0]
    for c in range(n_c):
        for k in range(3):
            course.p[c, k] = course.best_p[c, k]
    newton = _newton_in_sweeps(course.state.shape[0] // 6 - n_c // 2, n_c)
    haste = none + int(AS_MANY * newton) + HASTE_WORK // n_c if counts[HAS_ROBUST] == AT_ONCE else none
    limit, patience, progress = _allowance(t, i, how, haste)
    wanted, first_look, after = _wanted(t, i, how)
    shared = job.shape[0] > 0 and island[i, CUT_ROW] > 0 and how != IN_EXCERPT
    if shared:
        perform(t[SHARE_ISLAND, 0], (t, i))
    window = none + 1 if how == FEW_SWEEPS else none + WINDOW
    goal = reals(t, NUMBERS)[GOAL] if how == IN_EXCERPT else MARGIN * wanted
    effort = Effort(window, goal, first_look, after, limit, patience, progress)
    own_job = job[: job.shape[0] if shared else 0]
    residual = measured(t[SWEEP, 0], (problem, course, real_blocks(t, SMALL), effort, own_job, counts, MADE))
    trial[i, REACHED], trial[i, WANTED] = residual, wanted
    trial[i, SWEPT] += counts[MADE] * n_c / island[i, N_CONTACTS]
    if how == LOOK_ONLY:
        held = counts[MADE] <= SWEEPS_AT_LEAST and residual <= HELD_ERROR * tolerance
        first = island[i, FIRST_CONTACT]
        known = held and is_known(real_rows(t, SOFTNESS), first, first + n_c)
        island[i, STAYS] = 1 if known else 0
