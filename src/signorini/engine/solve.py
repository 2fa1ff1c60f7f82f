r"""The compiled step, solution: accelerated sweeps over one island after another, and compliance where they must.

Large islands, as those of a pile at rest, are swept over twice; then only where that was not enough (``excerpt.py``).

A large pile that collapses makes rigid problems that no method solves both reliably and quickly. An island that resists
is posed with an elastic layer for the step: with p_ref the impulses of the last step, or where the rigid sweeps ended,

.. math::
    \hat u = u + A (p - p_{ref}) + \sigma n, \qquad A = \mathrm{diag}(a_n, a_T, a_T), \quad a \sim \alpha W,

in the law instead of :math:`u + \sigma n`. Cone and De Saxce's term stay exact. Impulses that do not change find no
compliance at all, so that nothing at rest sinks or creeps, whatever alpha is, and alpha may change from step to step
without a jump of force. An open gap :math:`G = \Psi/h` that a loaded layer bridges asks for
:math:`\max(c G - e, G - 2 e)`, :math:`e = a_n p_{ref,n}`, :math:`c = \max(1/5, 1 - 20 \alpha)`, in place of
:math:`G - e`: a contact that opens by a millionth must not lose its force at once while the layer is soft, and must
lose it before it is rigid.

Sweeps need layers so soft that boxes slide over each other for ever. Where it costs no more, the robust solver takes
their place, from the impulses of the last step: layers ten to a thousand times stiffer take it some ten factorisations.

How soft an island is, is remembered with its contacts: alpha, the steps to wait before it is tried as rigid again, the
next such wait, and the alpha at which it begins; then by how much the impulse changed, and whether it is expected to go
on like that. Bodies that roll through a pile at rest change a few impulses steadily: with these expected, the guess is
ten times as good. Changes near the tolerance are errors, that would grow if they were expected. All is counted in
sweeps and steps, so that runs repeat bit for bit.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, real_blocks, real_rows, reals, succeeds, whole_rows, wholes
from signorini.engine.arrays import (
    ALPHA,
    ASKED,
    AT_LAST,
    AT_ONCE,
    BACK,
    BEGIN_ISLAND,
    BLOCK,
    CHANGE,
    CLEARED,
    COMPLIANCE,
    COUNTS,
    CUT_ROW,
    DEBT,
    DIAGONAL,
    DRIFT,
    ENTERS,
    ENTRY_ALPHA,
    FILL,
    FINE_TOLERANCE,
    FIRST_BODY,
    FIRST_CONTACT,
    GAP,
    GATHER,
    GOAL,
    GUESSES,
    HABIT,
    HAS_ROBUST,
    IN_LANE,
    IN_SWEEPS,
    IS_CHEAP,
    IS_COLD,
    IS_DIVIDED,
    IS_LARGE,
    IS_LIGHT,
    IS_SLOW,
    IS_SOFT,
    IS_WHOLE,
    ISLAND,
    ISLANDS,
    KEEP_BACK,
    KEEP_WAIT,
    LOAD,
    LOCAL,
    LOW,
    MEAN_SPEED,
    MEMORY,
    MET,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    OPEN_ISLAND,
    OPEN_WORK,
    ORDER,
    PACE,
    REACHED,
    REACHED_BEFORE,
    REFERENCE,
    RESCUE,
    RESCUED,
    RESTS,
    RHO,
    ROWS,
    SEEN,
    SHIFT,
    SHORT,
    SOFT,
    SOFTEN,
    SOFTNESS,
    SOLVING,
    SPENT,
    SPRING,
    START,
    STAYS,
    STIFFER,
    SWEEPS,
    SWEPT,
    TAKE_EXCERPT,
    TOLERANCE,
    TRIAL,
    WAIT,
    WANTED,
    B,
    P,
    U,
)
from signorini.engine.excerpt import excerpt_views, give_back
from signorini.engine.rescue import CLEAR, KEEP, NEAR, SHARE, SOLVE, SOLVE_AT_REST, SOLVE_EXCERPT, SOLVE_FINELY
from signorini.engine.signs import is_cold, is_credible, moves_on, rounds, speeds, stirs
from signorini.engine.softness import largest_yield
from signorini.engine.sweeps import (
    ALL_SWEEPS,
    FEW_SWEEPS,
    HOWS,
    IN_EXCERPT,
    LOOK_ONLY,
    MANY_SWEEPS,
    State,
    sweep_island,
)
from signorini.math.cones import LEVERAGE
from signorini.posing.constants import (
    ALPHA_EASED,
    ALPHA_LESS,
    ALPHA_MORE,
    ALPHA_MUCH_MORE,
    ALPHA_RAISED,
    AS_SWEEPS,
    BRIDGED,
    BRIDGED_BY_ALPHA,
    CHEAP,
    CREDIT,
    DEAR,
    DENSE,
    DIVIDED,
    EARNED,
    EASY_SWEEPS,
    ENTRY_AT_LEAST,
    FALLS,
    FINER,
    FINEST,
    FIRST_ALPHA,
    GOOD_SWEEPS,
    GREAT,
    HARD_SWEEPS,
    HARDEST_SWEEPS,
    HARDLY,
    HELD_ERROR,
    LEAST_ALPHA,
    LIGHT,
    LIKE,
    LONGEST_WAIT,
    MOST_ALPHA,
    NEARLY,
    OFTEN,
    RIGID_ENOUGH,
    SHARE_AT_ONCE,
    SLOWER,
    SMALL_ISLAND,
    STIFFENED,
    TINY,
    TRIED,
    WITHIN,
    WORTH,
)
from signorini.problems.connections import apply_connections, fill_inverse_normal_diagonal
from signorini.solvers.island_constants import FEW_ROUNDINGS, MARGIN, RESTING, SUM_ROUNDING
from signorini.solvers.nsgs_kernels import local_data

# States of an island besides those of sweeps over it: it is to be posed; what comes next sees to it; it is solved, as
# well as can be; it is left to others; memory is short.
_POSE, _GO_ON, _DONE, _LEFT, _STOP = HOWS + np.arange(5, dtype=np.int64)


@inner_kernel
def pose_island(t: IntArray, first: int, last: int, alpha: float) -> None:
    """Set load, compliance and all that follows from the diagonal for the contacts of an island."""
    drift, spring = reals(t, NUMBERS)[DRIFT], reals(t, NUMBERS)[SPRING]
    b, load, gap, shift = real_rows(t, B), real_rows(t, LOAD), reals(t, GAP), reals(t, SHIFT)
    order, seen = wholes(t, ORDER), wholes(t, COUNTS)[SEEN]
    diagonal, compliance, reference = real_blocks(t, DIAGONAL), real_rows(t, COMPLIANCE), real_rows(t, REFERENCE)
    for k in range(first, last):
        for i in range(3):
            diagonal[k, i, i] -= compliance[k, i]
        tangential = alpha * 0.5 * (diagonal[k, 1, 1] + diagonal[k, 2, 2])
        compliance[k, 0] = alpha * diagonal[k, 0, 0]
        if spring > 0.0 and order[k] < seen:  # laws of joints are rigid
            compliance[k, 0] += spring
        compliance[k, 1] = tangential
        compliance[k, 2] = tangential
        for i in range(3):
            diagonal[k, i, i] += compliance[k, i]
            load[k, i] = b[k, i] - compliance[k, i] * reference[k, i]
        e = compliance[k, 0] * reference[k, 0]
        if reference[k, 0] > 0.0 and gap[k] > 0.0 and shift[k] == gap[k] / drift:
            load[k, 0] += shift[k] + max(-min(BRIDGED, BRIDGED_BY_ALPHA * alpha) * shift[k], -e)
        else:
            load[k, 0] += shift[k]
    fill_inverse_normal_diagonal(diagonal[first:last], reals(t, RHO)[first:last])
    local_data(diagonal[first:last], reals(t, RHO)[first:last], real_rows(t, LOCAL)[first:last])


@inner_kernel
def _recall(t: IntArray, i: int) -> None:
    """Write what is remembered of an island to MEMORY: the largest number of each column over its contacts."""
    island, softness, memory = whole_rows(t, ISLAND), real_rows(t, SOFTNESS), real_rows(t, MEMORY)[i]
    alpha, wait, back, entry, debt, pace, fill, keep_wait, keep_back = 0.0, 0.0, 1.0, 0.0, EARNED, 0.0, 0.0, 0.0, 1.0
    for k in range(island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]):
        alpha, entry = max(alpha, softness[k, ALPHA]), max(entry, softness[k, ENTRY_ALPHA])
        wait, back = max(wait, softness[k, WAIT]), max(back, softness[k, BACK])
        debt, pace, fill = max(debt, softness[k, DEBT]), max(pace, softness[k, PACE]), max(fill, softness[k, FILL])
        keep_wait, keep_back = max(keep_wait, softness[k, KEEP_WAIT]), max(keep_back, softness[k, KEEP_BACK])
    memory[ALPHA], memory[WAIT], memory[BACK], memory[ENTRY_ALPHA] = alpha, wait, back, entry
    memory[DEBT], memory[PACE], memory[FILL] = debt - EARNED, pace, fill
    memory[KEEP_WAIT], memory[KEEP_BACK] = keep_wait - 1.0, keep_back


@inner_kernel
def _remember(t: IntArray, i: int) -> None:
    """Note what is remembered of an island with its contacts."""
    island, softness, memory = whole_rows(t, ISLAND), real_rows(t, SOFTNESS), real_rows(t, MEMORY)[i]
    alpha, wait, back, entry = memory[ALPHA], memory[WAIT], memory[BACK], memory[ENTRY_ALPHA]
    debt, pace, fill, keep_wait, keep_back = (
        memory[DEBT],
        memory[PACE],
        memory[FILL],
        memory[KEEP_WAIT],
        memory[KEEP_BACK],
    )
    for k in range(island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]):
        softness[k, ALPHA], softness[k, WAIT], softness[k, BACK], softness[k, ENTRY_ALPHA] = alpha, wait, back, entry
        softness[k, DEBT], softness[k, PACE], softness[k, FILL] = debt, pace, fill
        softness[k, KEEP_WAIT], softness[k, KEEP_BACK] = max(0.0, keep_wait), keep_back


@inner_kernel
def _next_alpha(alpha: float, sweeps: float, rests: bool) -> float:
    """Return the compliance of the next step, by the sweeps that this one took; in motion it aims at few."""
    if sweeps <= GOOD_SWEEPS:
        return max(LEAST_ALPHA, (ALPHA_EASED if sweeps <= EASY_SWEEPS else ALPHA_LESS) * alpha)
    if sweeps <= (HARDEST_SWEEPS if rests else HARD_SWEEPS):
        return alpha
    return min((ALPHA_MUCH_MORE if sweeps > HARDEST_SWEEPS else ALPHA_MORE) * alpha, MOST_ALPHA)


@inner_kernel
def _expect(p: Array, softness: Array, first: int, last: int) -> None:
    """Add to the impulses of the last step what they are expected to change by."""
    for k in range(first, last):
        for i in range(3):
            p[k, i] += softness[k, HABIT] * softness[k, CHANGE + i]


@inner_kernel
def _note_changes(t: IntArray, i: int) -> None:
    """Note by how much impulses changed, and whether by about as much as before."""
    island, p, reference = whole_rows(t, ISLAND), real_rows(t, P), real_rows(t, REFERENCE)
    softness = real_rows(t, SOFTNESS)
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    soft, tolerance, whole = island[i, IS_SOFT] == 1, reals(t, NUMBERS)[TOLERANCE], 0.0
    for k in range(first, last):
        for l in range(3):
            whole += p[k, l] ** 2
    least = (WORTH * tolerance) ** 2 * whole / (last - first)
    for k in range(first, last):
        odd, size = 0.0, 0.0
        for l in range(3):
            change = p[k, l] - reference[k, l]
            odd += (change - softness[k, CHANGE + l]) ** 2
            size += change**2
        alike = not soft and odd <= LIKE**2 * size and size > least
        softness[k, HABIT] = OFTEN if alike else 0.0
        for l in range(3):
            change = 0.0 if soft else p[k, l] - reference[k, l]
            softness[k, CHANGE + l] = 0.5 * (change + softness[k, CHANGE + l]) if alike else change


@inner_kernel
def _rescued(t: IntArray, i: int, what: int, goal: float, credit: float, share: float) -> float:
    """Ask the robust solver for island `i`, or an excerpt that is a share of it; return the residual.

    What it spends is owed. Where it is not ready SHORT is set.
    """
    if t[RESCUE, 0] == 0:
        wholes(t, COUNTS)[SHORT] = 1
        return math.inf
    memory = real_rows(t, MEMORY)
    found = measured(t[RESCUE, 0], (t, i, what, goal, min(credit, CREDIT - memory[i, DEBT]) / share))
    memory[i, DEBT] += share * reals(t, NUMBERS)[SPENT]
    return found


@inner_kernel
def _reach(t: IntArray, i: int, residual: float) -> None:
    """Note a residual that was reached, if it is less than what was."""
    trial = real_rows(t, TRIAL)
    trial[i, REACHED] = min(trial[i, REACHED], residual)
    whole_rows(t, ISLAND)[i, MET] = 1 if trial[i, REACHED] <= reals(t, ASKED)[i] else 0


@inner_kernel
def _is_robust(t: IntArray) -> bool:
    """Tell whether the robust solver is asked where sweeps do not promise to be enough."""
    return bool(wholes(t, COUNTS)[HAS_ROBUST] == AT_ONCE)


@inner_kernel
def _begin(t: IntArray, i: int) -> None:
    """Look what an island is like, and decide how hard it may be tried."""
    counts, island, memory, trial = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, MEMORY), real_rows(t, TRIAL)
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    tolerance, cut = reals(t, NUMBERS)[TOLERANCE], island[i, CUT_ROW] > 0
    _recall(t, i)
    alpha, failed, fill = memory[i, ALPHA], memory[i, PACE], memory[i, FILL]
    light = fill <= LIGHT
    cheap = fill <= CHEAP and not cut and memory[i, DEBT] <= DEAR * CREDIT
    large = counts[SOFT] == 1 and not cheap
    cold = not cheap and is_cold(real_rows(t, REFERENCE), first, last)
    speed, pace = speeds(t, first, last)
    rests = pace <= RESTING
    whole = cheap or (not large and failed == 0.0 and not cut)
    whole = whole or (light and rests) or pace <= (SLOWER * failed if failed > 0.0 else RESTING)
    soft = alpha > 0.0 and (memory[i, WAIT] > 0.0 or (large and alpha > LEAST_ALPHA and not rests)) and not cheap
    island[i, IS_LIGHT], island[i, IS_CHEAP] = 1 if light else 0, 1 if cheap else 0
    island[i, IS_LARGE], island[i, IS_COLD] = 1 if large else 0, 1 if cold else 0
    island[i, IS_SLOW], island[i, RESTS] = 1 if speed <= RESTING else 0, 1 if rests else 0
    island[i, IS_WHOLE], island[i, IS_SOFT] = 1 if whole else 0, 1 if soft else 0
    island[i, IS_DIVIDED] = 1 if island[i, N_CONTACTS] >= DIVIDED and t[TAKE_EXCERPT, 0] != 0 else 0
    for column in (CLEARED, STAYS, ENTERS, STIFFER, IN_SWEEPS):
        island[i, column] = 0
    trial[i, MEAN_SPEED] = pace
    trial[i, FINE_TOLERANCE] = min(max(max(FINEST, min(speed, 1.0)) * tolerance, SUM_ROUNDING), tolerance)
    if large and alpha == 0.0 and counts[GUESSES] == 0:
        _expect(real_rows(t, P), real_rows(t, SOFTNESS), first, last)


@inner_kernel
def _pose(t: IntArray, i: int) -> State:
    """Pose an island, rigid or compliant; return how it is to be swept over."""
    island, trial, first = whole_rows(t, ISLAND), real_rows(t, TRIAL), whole_rows(t, ISLAND)[i, FIRST_CONTACT]
    soft, large = island[i, IS_SOFT] == 1, island[i, IS_LARGE] == 1
    pose_island(t, first, first + island[i, N_CONTACTS], real_rows(t, MEMORY)[i, ALPHA] if soft else 0.0)
    wholes(t, COUNTS)[OPEN_ISLAND] = 0
    trial[i, SWEPT], trial[i, REACHED_BEFORE], reals(t, ASKED)[i] = 0.0, math.inf, reals(t, NUMBERS)[TOLERANCE]
    if _is_robust(t) and (island[i, IS_LIGHT] == 1 if soft else not large):
        return LOOK_ONLY
    return FEW_SWEEPS if large and island[i, IS_COLD] == 0 and island[i, IS_DIVIDED] == 1 else ALL_SWEEPS


@inner_kernel
def _takes_excerpt(t: IntArray, i: int) -> bool:
    """Take an excerpt of an island whose residual falls from one to the next; tell whether there is one."""
    trial = real_rows(t, TRIAL)
    if not trial[i, REACHED] < FALLS * trial[i, REACHED_BEFORE]:
        return False
    if not succeeds(t[TAKE_EXCERPT, 0], (t, i, trial[i, REACHED])):
        return False
    trial[i, REACHED_BEFORE] = trial[i, REACHED]
    return True


@inner_kernel
def _end_excerpt(t: IntArray, i: int) -> State:
    """Put the impulses of an excerpt, which was swept over, back; return how to go on."""
    counts, island, goal = wholes(t, COUNTS), whole_rows(t, ISLAND), reals(t, NUMBERS)[GOAL]
    _, course = excerpt_views(t, i)
    if _is_robust(t) and real_rows(t, TRIAL)[i, REACHED] > goal:
        if counts[IN_LANE] == 1:
            return _LEFT
        _rescued(t, i, SOLVE_EXCERPT, goal, CREDIT, course.p.shape[0] / island[i, N_CONTACTS])
        if counts[SHORT] == 1:
            return _STOP
    give_back(t, i, course.best_p)
    return FEW_SWEEPS if island[i, IS_LARGE] == 1 else LOOK_ONLY


@inner_kernel
def _keep(t: IntArray, i: int, how: State) -> None:
    """Let contacts of an island that hardly moves go on as before, if that solves it; else wait longer to try again."""
    island, memory, trial = whole_rows(t, ISLAND), real_rows(t, MEMORY), real_rows(t, TRIAL)
    found = _rescued(t, i, KEEP, trial[i, WANTED], CREDIT, 1.0)
    _reach(t, i, found)
    if found <= trial[i, WANTED]:
        trial[i, REACHED], memory[i, KEEP_WAIT], memory[i, KEEP_BACK] = found, 0.0, 1.0
        _reach(t, i, found)
    else:
        memory[i, KEEP_WAIT] = memory[i, KEEP_BACK]
        memory[i, KEEP_BACK] = min(2.0 * memory[i, KEEP_BACK], LONGEST_WAIT)
    if trial[i, REACHED] > trial[i, WANTED] and how == LOOK_ONLY and island[i, N_BODIES] <= SMALL_ISLAND:
        # What begins to slip slips evenly: sweeps, one contact after another, would tell like from like.
        _reach(t, i, _rescued(t, i, SOLVE_AT_REST, MARGIN * trial[i, WANTED], CREDIT, 1.0))


@inner_kernel
def _better_rigid(t: IntArray, i: int, how: State) -> State:
    """Ask the robust solver for a rigid island where a guess or sweeps did not do; return how to go on."""
    counts, island, memory, trial = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, MEMORY), real_rows(t, TRIAL)
    wanted, robust, asked, looks = trial[i, WANTED], _is_robust(t), reals(t, ASKED)[i], how == LOOK_ONLY
    slow, large, cheap = island[i, IS_SLOW] == 1, island[i, IS_LARGE] == 1, island[i, IS_CHEAP] == 1
    light_at_rest = island[i, IS_LIGHT] == 1 and island[i, RESTS] == 1
    may_keep = robust and (large or looks) and memory[i, KEEP_WAIT] <= 0.0 and reals(t, NUMBERS)[SPRING] == 0.0
    may_keep = may_keep and (slow or (large and light_at_rest)) and island[i, N_CONTACTS] > TINY
    fine = min(wanted, max(HELD_ERROR * asked, FEW_ROUNDINGS)) if may_keep and looks else wanted
    if may_keep and looks and trial[i, REACHED] <= fine and stirs(t, i):
        fine = -1.0  # a solution that holds is taken before one that slips
    if not trial[i, REACHED] > fine or (island[i, CUT_ROW] > 0 and island[i, MET] == 1):
        return _GO_ON
    if counts[IN_LANE] == 1:
        return _LEFT
    near = robust and looks and trial[i, REACHED] < NEARLY and cheap
    if near and trial[i, REACHED] < HARDLY and not may_keep:
        _reach(t, i, _rescued(t, i, NEAR, MARGIN * wanted, CREDIT, 1.0))
        near = False
    if may_keep and (looks or trial[i, REACHED] > wanted):
        _keep(t, i, how)
    errs = robust and trial[i, REACHED] > wanted and looks and island[i, IS_DIVIDED] == 1
    if errs and counts[SHORT] == 0 and _takes_excerpt(t, i):
        return IN_EXCERPT
    if trial[i, REACHED] > wanted and near:
        _reach(t, i, _rescued(t, i, NEAR, MARGIN * wanted, CREDIT, 1.0))
    if trial[i, REACHED] > wanted and robust and not looks and island[i, IS_WHOLE] == 1:
        what, credit = SOLVE_AT_REST if slow else SOLVE, TRIED if large and not light_at_rest else CREDIT
        _reach(t, i, _rescued(t, i, what, MARGIN * wanted, credit, 1.0))
        memory[i, PACE] = trial[i, MEAN_SPEED]
    if counts[SHORT] == 1:
        return _STOP
    if looks and trial[i, REACHED] > wanted:
        return ALL_SWEEPS
    return MANY_SWEEPS if island[i, MET] == 0 and robust and cheap and how == ALL_SWEEPS else _GO_ON


@inner_kernel
def _better_soft(t: IntArray, i: int, how: State) -> State:
    """Ask the robust solver for a compliant island where the guess did not do; return how to go on."""
    counts, island, memory, trial = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, MEMORY), real_rows(t, TRIAL)
    if how != LOOK_ONLY or not trial[i, REACHED] > trial[i, WANTED]:
        return _GO_ON
    if counts[IN_LANE] == 1:
        return _LEFT
    debt = memory[i, DEBT]
    memory[i, DEBT] = 0.0  # nothing is owed for it
    found = _rescued(t, i, SOLVE, MARGIN * trial[i, WANTED], EARNED / SHARE_AT_ONCE, 1.0)
    memory[i, DEBT] = debt
    if counts[SHORT] == 1:
        return _STOP
    if counts[OPEN_ISLAND] != i + 1:  # too dear after all
        memory[i, FILL], island[i, IS_LIGHT] = 2.0 * LIGHT, 0
        return ALL_SWEEPS
    _reach(t, i, found)
    trial[i, SWEPT] += AS_SWEEPS * reals(t, NUMBERS)[SPENT] * island[i, N_CONTACTS] / counts[OPEN_WORK]
    return _GO_ON


@inner_kernel
def _ask_at_last(t: IntArray, i: int) -> State:
    """Ask the robust solver where all else has failed and it was not asked before; return how to go on."""
    counts = wholes(t, COUNTS)
    if counts[HAS_ROBUST] != AT_LAST:
        return _GO_ON
    found = _rescued(t, i, SOLVE, MARGIN * real_rows(t, TRIAL)[i, WANTED], CREDIT, 1.0)
    if counts[SHORT] == 1:
        return _STOP
    _reach(t, i, found)
    return _GO_ON


@inner_kernel
def _refine(t: IntArray, i: int) -> State:
    """Choose among the solutions of a rigid island, and better one that the step will not believe; return how to go on.

    What slides on shares its load as evenly as before; what rounding hides beside great impulses is found.
    """
    counts, island, trial, asked = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, TRIAL), reals(t, ASKED)[i]
    cheap, met = island[i, IS_CHEAP] == 1, island[i, MET] == 1
    may_share = met and island[i, IS_SLOW] == 0 and cheap and reals(t, NUMBERS)[SPRING] == 0.0
    if may_share and island[i, STAYS] == 0 and moves_on(t, i):
        if counts[IN_LANE] == 1:
            return _LEFT
        _rescued(t, i, SHARE, asked, CREDIT, 1.0)
        if counts[SHORT] == 1:
            return _STOP
    if met and not is_credible(t, i, trial[i, REACHED]):
        if counts[IN_LANE] == 1:
            return _LEFT
        for what in (NEAR, SOLVE_FINELY):
            _reach(t, i, _rescued(t, i, what, FINER * asked, CREDIT, 1.0))
            if counts[SHORT] == 1 or is_credible(t, i, trial[i, REACHED]):
                break
        if counts[SHORT] == 1:
            return _STOP
    may_clear = trial[i, REACHED] <= reals(t, NUMBERS)[TOLERANCE] and cheap
    if may_clear and rounds(t, i, GREAT if island[i, RESTS] == 1 else LEVERAGE):
        if counts[IN_LANE] == 1:
            return _LEFT
        _rescued(t, i, CLEAR, asked, CREDIT, 1.0)
        if counts[SHORT] == 1:
            return _STOP
        if island[i, CLEARED] == 1:
            island[i, MET] = 1
    return _GO_ON


@inner_kernel
def _soften(t: IntArray, i: int) -> State:
    """Make an island compliant that resists, or one softer or stiffer that is; return how to go on."""
    counts, island, memory, trial = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, MEMORY), real_rows(t, TRIAL)
    soft, met, alpha = island[i, IS_SOFT] == 1, island[i, MET] == 1, memory[i, ALPHA]
    island[i, IN_SWEEPS] += int(trial[i, SWEPT])
    if soft and not met and alpha < MOST_ALPHA:
        memory[i, ALPHA], island[i, STIFFER] = min(ALPHA_RAISED * alpha, MOST_ALPHA), STIFFENED
        return _POSE
    excess, _, _ = largest_yield(t, i) if soft and met else (0.0, 0.0, 0.0)
    if excess > 1.0 and island[i, STIFFER] < STIFFENED:
        memory[i, ALPHA] = WITHIN * alpha / excess
        island[i, STIFFER] += 1
        return _POSE
    dense = island[i, IS_CHEAP] == 1 and _is_robust(t) and island[i, N_CONTACTS] <= DENSE
    hopeless = (trial[i, REACHED] > RIGID_ENOUGH and not dense) or counts[SOFTEN] == 1
    if counts[SOFT] == 0 or soft or met or not hopeless:  # else Python's methods are asked, which are slow
        return _GO_ON
    best, reference = real_rows(t, P), real_rows(t, REFERENCE)
    for c in range(island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]):
        for k in range(3):  # nearer to the impulses of this step than those of the last
            reference[c, k] = best[c, k]
    island[i, IS_SOFT], island[i, ENTERS] = 1, 1 if alpha == 0.0 else 0
    if alpha == 0.0:
        memory[i, ALPHA] = memory[i, ENTRY_ALPHA] if memory[i, ENTRY_ALPHA] > 0.0 else FIRST_ALPHA
    memory[i, WAIT], memory[i, BACK] = memory[i, BACK], min(2.0 * memory[i, BACK], LONGEST_WAIT)
    return _POSE


@inner_kernel
def _ease(t: IntArray, i: int) -> None:
    """Choose the compliance of a compliant island for the next step."""
    island, memory, effort = whole_rows(t, ISLAND), real_rows(t, MEMORY), real_rows(t, TRIAL)[i, SWEPT]
    alpha, rests = max(memory[i, ALPHA], LEAST_ALPHA), island[i, RESTS] == 1
    if island[i, ENTERS] == 1:
        entry = 0.5 * alpha if effort <= GOOD_SWEEPS else alpha
        memory[i, ENTRY_ALPHA] = max(entry, ENTRY_AT_LEAST * LEAST_ALPHA)
    memory[i, ALPHA] = _next_alpha(alpha, effort, rests)
    if memory[i, ALPHA] == LEAST_ALPHA or rests:  # soon to be tried as rigid again
        memory[i, WAIT] -= 1.0


@inner_kernel
def _end(t: IntArray, i: int) -> None:
    """Remember how an island was solved."""
    counts, island, memory = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, MEMORY)
    if island[i, IS_SOFT] == 1:
        _ease(t, i)
    elif island[i, MET] == 1:
        if memory[i, ALPHA] == 0.0:
            memory[i, BACK] = max(1.0, 0.5 * memory[i, BACK])
        memory[i, ALPHA], memory[i, PACE] = 0.0, 0.0
    _note_changes(t, i)
    if counts[OPEN_ISLAND] == i + 1:
        memory[i, FILL] = counts[OPEN_WORK] / island[i, N_CONTACTS]
    _remember(t, i)
    counts[SWEEPS] = max(counts[SWEEPS], island[i, IN_SWEEPS])


@inner_kernel
def _after_sweeps(t: IntArray, i: int, how: State) -> State:
    """Return what comes after an island was swept over like this."""
    if how == IN_EXCERPT:
        return _end_excerpt(t, i)
    island, trial = whole_rows(t, ISLAND), real_rows(t, TRIAL)
    _reach(t, i, trial[i, REACHED])
    if how == FEW_SWEEPS and trial[i, REACHED] > trial[i, WANTED]:
        return IN_EXCERPT if _takes_excerpt(t, i) else ALL_SWEEPS
    rigid = island[i, IS_SOFT] == 0
    then = _better_rigid(t, i, how) if rigid else _better_soft(t, i, how)
    if then == _GO_ON and island[i, MET] == 0:
        then = _ask_at_last(t, i)
    if then == _GO_ON and rigid and _is_robust(t):
        then = _refine(t, i)
    if then == _GO_ON:
        then = _soften(t, i)
    if then == _GO_ON:
        _end(t, i)
        then = _DONE
    return then


@inner_kernel
def _solve_island(t: IntArray, i: int) -> State:
    """Solve an island, from the guess in P; return its last state: ``_DONE``, ``_LEFT`` to others, or ``_STOP``.

    From pose it goes on with a look at the guess if it rests, for large ones with few sweeps, an excerpt, few sweeps
    ..., then with all sweeps, and from there to the end, or to pose if it is made softer. The robust solver is asked
    where a guess or sweeps did not do.
    """
    _begin(t, i)
    state = _POSE
    while state < _DONE:
        if state == _POSE:
            state = _pose(t, i)
        sweep_island(t, i, state)
        state = _after_sweeps(t, i, state)
    return state


@inner_kernel
def solve_step(t: IntArray) -> bool:
    """Solve all islands to the tolerance, from the guess in P; False if some island resists, or memory is short."""
    counts, island, compliance, solved = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, COMPLIANCE), True
    for c in range(counts[ROWS]):
        for k in range(3):
            compliance[c, k] = 0.0
    counts[SWEEPS] = 0
    for i in range(counts[BEGIN_ISLAND], counts[ISLANDS]):
        state = _solve_island(t, i)
        if state == _STOP:
            return False
        if state == _LEFT:
            island[i, MET] = -1
        solved = solved and island[i, MET] == 1
    return solved


@inner_kernel
def _take_low(t: IntArray, i: int, y: Array) -> None:
    """Add to y what rounding hides, and set the velocities of island `i` from it."""
    island, start, block, gather = whole_rows(t, ISLAND), wholes(t, START), wholes(t, BLOCK), real_blocks(t, GATHER)
    load, u, low, at = real_rows(t, LOAD), real_rows(t, U), real_rows(t, LOW), 2 * island[i, FIRST_BODY]
    for m in range(y.shape[0]):
        for j in range(3):
            y[m, j] += low[at + m, j]
    for c in range(island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]):
        for j in range(3):
            u[c, j] = load[c, j]
            for g in range(start[c], start[c + 1]):
                m = block[g]
                u[c, j] += gather[g, j, 0] * y[m, 0] + gather[g, j, 1] * y[m, 1] + gather[g, j, 2] * y[m, 2]


@inner_kernel
def contact_velocities(t: IntArray) -> None:
    """Find y and ``u = W p + b`` (b with the shift, W with the compliance) afresh from the impulses in P."""
    counts, island, start = wholes(t, COUNTS), whole_rows(t, ISLAND), wholes(t, START)
    block, gather, solving = wholes(t, BLOCK), real_blocks(t, GATHER), reals(t, SOLVING)
    p, load, u, compliance = real_rows(t, P), real_rows(t, LOAD), real_rows(t, U), real_rows(t, COMPLIANCE)
    for i in range(counts[ISLANDS]):
        first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
        at = 6 * island[i, FIRST_BODY] + 3 * first
        y = solving[at : at + 6 * island[i, N_BODIES]].reshape((2 * island[i, N_BODIES], 3))
        span = start[first : last + 1]
        apply_connections(span, block, gather, span, block, gather, p[first:last], load[first:last], y, u[first:last])
        if island[i, CLEARED] == 1 and counts[RESCUED] == 0:
            _take_low(t, i, y)
    for c in range(counts[ROWS]):
        for k in range(3):
            u[c, k] += compliance[c, k] * p[c, k]
