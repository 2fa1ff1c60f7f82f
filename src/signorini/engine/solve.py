r"""The compiled step, solution: accelerated sweeps over one island after another, and compliance where they must.

Large islands, as those of a pile at rest, are swept over twice; then only where that was not enough (``parts.py``).

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
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, perform, real_blocks, real_rows, reals, succeeds, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    ALPHA,
    ASKED,
    AT_LAST,
    AT_ONCE,
    B_BODY,
    BACK,
    BEFORE,
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
    ENTRY_ALPHA,
    FILL,
    FIRST_BODY,
    FIRST_CONTACT,
    GAP,
    GATHER,
    GOAL,
    GUESSES,
    HABIT,
    HAS_ROBUST,
    IN_LANE,
    ISLAND,
    ISLANDS,
    JOB,
    KEEP_BACK,
    KEEP_WAIT,
    LIMIT,
    LOAD,
    LOCAL,
    LOW,
    MADE,
    MET,
    MU,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    OPEN_ISLAND,
    OPEN_WORK,
    ORDER,
    PACE,
    REFERENCE,
    RESCUE,
    RESCUED,
    RESTS,
    RHO,
    ROWS,
    SEEN,
    SEEN_INDEX,
    SHARE_ISLAND,
    SHIFT,
    SHORT,
    SMALL,
    SOFT,
    SOFTEN,
    SOFTNESS,
    SOLVING,
    SPENT,
    SPRING,
    START,
    SWEEP,
    SWEEPS,
    TAKE_EXCERPT,
    TOLERANCE,
    WAIT,
    B,
    P,
    U,
)
from signorini.engine.excerpt import excerpt_views, give_back, island_views
from signorini.engine.rescue import CLEAR, KEEP, NEAR, SHARE, SOLVE, SOLVE_AT_REST, SOLVE_EXCERPT, SOLVE_FINELY
from signorini.engine.softness import largest_yield
from signorini.math.cones import LEVERAGE, ROUNDING, allowed_error, natural_square
from signorini.posing.constants import (
    AGAIN_SWEEPS,
    ALPHA_EASED,
    ALPHA_LESS,
    ALPHA_MORE,
    ALPHA_MUCH_MORE,
    ALPHA_RAISED,
    AS_MANY,
    AS_SWEEPS,
    BETTERED,
    BRIDGED,
    BRIDGED_BY_ALPHA,
    CHEAP,
    COLD_SWEEPS,
    COMPLIANT_SWEEPS,
    CREDIT,
    DEAR,
    DENSE,
    DIVIDED,
    EARNED,
    EASY_SWEEPS,
    ELSEWHERE,
    ENTRY_AT_LEAST,
    FACE,
    FALLS,
    FINER,
    FINEST,
    FIRST_ALPHA,
    FORESIGHT,
    GOOD_SWEEPS,
    GREAT,
    HARD_SWEEPS,
    HARDEST_SWEEPS,
    HARDLY,
    HASTE,
    HASTE_WORK,
    HELD_ERROR,
    LARGE_AT_REST,
    LAST_SWEEPS,
    LEAST_ALPHA,
    LIGHT,
    LIKE,
    LONGEST_WAIT,
    MOST_ALPHA,
    MOST_IN_EXCERPT,
    NEARLY,
    NEWTON_AT_LEAST,
    NEWTON_BY_NODES,
    OFTEN,
    PATIENCE,
    PATIENCE_IN_EXCERPT,
    PROGRESS,
    RIGID_ENOUGH,
    RIGID_SWEEPS,
    SHARE_AT_ONCE,
    SLOWER,
    SMALL_ISLAND,
    STIFFENED,
    STIRRED_SPEED,
    SWEEPS_AT_LEAST,
    TINY,
    TRIED,
    WINDOW,
    WITHIN,
    WORTH,
)
from signorini.problems.connections import apply_connections, fill_inverse_normal_diagonal
from signorini.solvers.island_constants import EDGE, FEW_ROUNDINGS, MARGIN, RESTING, SUM_ROUNDING
from signorini.solvers.nsgs_kernels import local_data

# What is remembered of an island, see SOFTNESS: compliance, the wait until it is tried as rigid, the next such wait,
# compliance at the beginning, debt, pace, fill, the wait until contacts are tried to go on as before, the next of them.
Memories = tuple[float, float, float, float, float, float, float, float, float]

# How an island is swept. Large ones: a few sweeps over all, many where they are needed, a few over all, and so on while
# the residual falls; else many over all.
_FEW_SWEEPS, _IN_EXCERPT, _ALL_SWEEPS, _LOOK, _MANY_SWEEPS = 0, 1, 2, 3, 4


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
def _remembered(softness: Array, first: int, last: int) -> Memories:
    """Return what is remembered of an island: the largest number of each column over its contacts."""
    alpha, wait, back, entry, debt, pace, fill, keep_wait, keep_back = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(first, last):
        alpha, entry = max(alpha, softness[k, ALPHA]), max(entry, softness[k, ENTRY_ALPHA])
        wait, back = max(wait, softness[k, WAIT]), max(back, softness[k, BACK])
        debt, pace, fill = max(debt, softness[k, DEBT]), max(pace, softness[k, PACE]), max(fill, softness[k, FILL])
        keep_wait, keep_back = max(keep_wait, softness[k, KEEP_WAIT]), max(keep_back, softness[k, KEEP_BACK])
    return (alpha, wait, back, entry, debt, pace, fill, keep_wait, keep_back)


@inner_kernel
def _speeds(t: IntArray, first: int, last: int) -> tuple[float, float]:
    """Return how fast contacts moved before the step, at most and by their mean square, where their load gives 1."""
    before, b, order, seen = real_rows(t, BEFORE), real_rows(t, B), wholes(t, ORDER), wholes(t, COUNTS)[SEEN]
    fastest, free, square = 0.0, 0.0, 0.0
    for k in range(first, last):
        if order[k] >= seen:  # a law of a joint: motors at their limits slide where all rests
            continue
        for i in range(3):
            fastest, free = max(fastest, abs(before[k, i])), max(free, abs(b[k, i]))
            square += before[k, i] ** 2
    pace = math.sqrt(square / (last - first))
    return (fastest / free, pace / free) if free > 0.0 else (1.0, 1.0)


@inner_kernel
def _stirs(t: IntArray, i: int, p: Array, y: Array, load: Array) -> bool:
    """Tell whether contacts that were at rest and touch would move with the impulses p, though these solve the problem.

    Only those can that bear nothing or are at the edge of their cones; y is that of the impulses.
    """
    island, start, block, gather = whole_rows(t, ISLAND), wholes(t, START), wholes(t, BLOCK), real_blocks(t, GATHER)
    first, free, fastest = island[i, FIRST_CONTACT], 0.0, 0.0
    mu, shift, b, before = reals(t, MU), reals(t, SHIFT), real_rows(t, B), real_rows(t, BEFORE)
    for c in range(p.shape[0]):
        k = first + c
        free = max(free, abs(b[k, 0]), abs(b[k, 1]), abs(b[k, 2]))
    for c in range(p.shape[0]):
        k = first + c
        inside = p[c, 1] ** 2 + p[c, 2] ** 2 < (EDGE * mu[k] * p[c, 0]) ** 2
        moved = max(abs(before[k, 0]), abs(before[k, 1]), abs(before[k, 2])) > RESTING * free
        if inside or moved or shift[k] > STIRRED_SPEED * free or mu[k] == 0.0:
            continue
        for l in range(3):
            u = load[c, l]
            for g in range(start[k], start[k + 1]):
                m = block[g]
                u += gather[g, l, 0] * y[m, 0] + gather[g, l, 1] * y[m, 1] + gather[g, l, 2] * y[m, 2]
            fastest = max(fastest, abs(u))
    return fastest > STIRRED_SPEED * free


@inner_kernel
def _moves_on(t: IntArray, i: int) -> bool:
    """Tell whether a small island slides on, no contact that bears load having closed, with impulses that may be open.

    They are where one pair of bodies has more such contacts than three, or the island more than twice its bodies.
    """
    island, order, seen, index = (
        whole_rows(t, ISLAND),
        wholes(t, ORDER),
        wholes(t, COUNTS)[SEEN],
        whole_rows(t, SEEN_INDEX),
    )
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    if island[i, N_BODIES] > SMALL_ISLAND or last - first < FACE:
        return False
    p, b, before, free, closes = real_rows(t, P), real_rows(t, B), real_rows(t, BEFORE), 0.0, 0.0
    bearing, together, most, pair = 0, 0, 0, (-1, -1)
    for k in range(first, last):
        free = max(free, abs(b[k, 0]), abs(b[k, 1]), abs(b[k, 2]))
        if p[k, 0] > 0.0 and order[k] < seen:
            bearing += 1
            closes = max(closes, abs(before[k, 0]))
            now = (index[order[k], A_BODY], index[order[k], B_BODY])
            together = together + 1 if now[0] == pair[0] and now[1] == pair[1] else 1
            most, pair = max(most, together), now
    return closes <= STIRRED_SPEED * free and (most >= FACE or bearing > 2 * island[i, N_BODIES])


@inner_kernel
def _is_known(softness: Array, first: int, last: int) -> bool:
    """Tell whether the robust solver knew all contacts of an island in the last step.

    What solves it as it is then has the least impulses already: those of the last step had.
    """
    known = True
    for k in range(first, last):
        known = known and softness[k, FILL] > 0.0
    return known


@inner_kernel
def _newton_in_sweeps(nodes: int, contacts: int) -> float:
    """Return about how many sweeps cost as much as a step of the robust solver, at most.

    A factorisation takes some 0.6 n^2 updates of a block in dense piles of n bodies, each a third of the work at a
    contact.
    """
    return NEWTON_AT_LEAST + NEWTON_BY_NODES * nodes * nodes / contacts


@inner_kernel
def _allowance(how: int, large: bool, soft: bool, cold: bool, alpha: float, most: int, haste: int) -> Any:
    """Return the sweeps that an island may have, by how many their progress is judged, and which progress is enough."""
    if how == _LOOK:
        return (np.int64(0), np.int64(0), PROGRESS)
    if how == _FEW_SWEEPS:
        return (np.int64(SWEEPS_AT_LEAST), np.int64(PATIENCE), PROGRESS)
    if how == _MANY_SWEEPS:
        return (np.int64(ELSEWHERE), np.int64(ELSEWHERE), PROGRESS)
    if how == _IN_EXCERPT and haste == 0:
        return (np.int64(MOST_IN_EXCERPT), np.int64(PATIENCE_IN_EXCERPT), PROGRESS)
    if how == _IN_EXCERPT:
        return (haste, np.int64(HASTE), 0.0)
    if cold and not soft:
        return (np.int64(COLD_SWEEPS), np.int64(COLD_SWEEPS), PROGRESS)
    if soft and alpha >= MOST_ALPHA:
        return (np.int64(LAST_SWEEPS), np.int64(PATIENCE), PROGRESS)
    if not large and not soft:
        if haste > 0:
            return (haste, np.int64(HASTE), 0.0)
        return (most, np.int64(PATIENCE), PROGRESS)
    limit = COMPLIANT_SWEEPS if soft else RIGID_SWEEPS if alpha == 0.0 else AGAIN_SWEEPS
    return (np.int64(limit), np.int64(FORESIGHT), 0.0)


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
def _wanted(t: IntArray, i: int, how: int, soft: bool, rests: bool, goal: float) -> tuple[float, Any, Any]:
    """Return the residual that sweeps over an island are to reach, when it is first looked at, and sweeps after that.

    Its tolerance is written to ASKED.
    """
    tolerance, asked, none = reals(t, NUMBERS)[TOLERANCE], reals(t, ASKED), np.int64(0)
    wanted = LARGE_AT_REST * tolerance if not soft and rests else tolerance
    if whole_rows(t, ISLAND)[i, CUT_ROW] > 0 or how == _IN_EXCERPT:
        return (wanted, none + SWEEPS_AT_LEAST, none)
    _, _, _, load, _, rho, _, _, _, p, _, _, _, _ = island_views(t, i)
    asked[i] = _asked(rho, load, p, tolerance)
    wanted = asked[i] if soft else min(goal, max(asked[i] * goal / tolerance, FEW_ROUNDINGS))
    # Below the tolerance sweeps carry what is left of the error from heavy bodies to light ones.
    return (wanted, none, none if asked[i] < tolerance else none + BETTERED)


@inner_kernel
def _swept(t: IntArray, i: int, how: int, wanted: float, first_look: int, after: int, allowance: Any) -> float:
    """Sweep over an island or its part, with all threads if it is cut; return the residual, sweeps are in MADE."""
    counts, job, small, none = wholes(t, COUNTS), whole_rows(t, JOB), real_blocks(t, SMALL), np.int64(0)
    start, block, gather, load, mu, rho, local, state, y, p, best_p, compliance, slip, scratch = (
        excerpt_views(t, i) if how == _IN_EXCERPT else island_views(t, i)
    )
    limit, patience, progress = allowance
    shared = job.shape[0] > 0 and whole_rows(t, ISLAND)[i, CUT_ROW] > 0 and how != _IN_EXCERPT
    if shared:
        perform(t[SHARE_ISLAND, 0], (t, i))
    return measured(
        t[SWEEP, 0],
        (
            start,
            block,
            gather,
            load,
            mu,
            rho,
            local,
            state,
            y,
            p,
            best_p,
            compliance,
            slip,
            scratch,
            small,
            none + 1 if how == _FEW_SWEEPS else none + WINDOW,
            reals(t, NUMBERS)[GOAL] if how == _IN_EXCERPT else MARGIN * wanted,
            first_look,
            after,
            limit,
            patience,
            progress,
            job[: job.shape[0] if shared else 0],
            counts,
            MADE,
        ),
    )


@inner_kernel
def _rounds(rho: Array, load: Array, p: Array, great: float) -> bool:
    """Tell whether impulses are `great` times what the load asks of the lightest contact: there rounding matters."""
    greatest, fastest, lightest = 0.0, 0.0, math.inf
    for k in range(p.shape[0]):
        lightest = min(lightest, rho[k])
        for i in range(3):
            greatest, fastest = max(greatest, abs(p[k, i])), max(fastest, abs(load[k, i]))
    return greatest > great * lightest * fastest


@inner_kernel
def _is_credible(t: IntArray, i: int, residual: float) -> bool:
    """Tell whether the step will believe the impulses of island `i`, in P, by the velocity of every contact.

    A residual is relative to all impulses: beside those of heavy bodies it may leave light ones any velocity.
    """
    start, block, gather, load, mu, rho, _, _, y, u, p, compliance, _, _ = island_views(t, i)
    tolerance, whole, own, fastest, lightest, greatest = reals(t, NUMBERS)[TOLERANCE], 0.0, 0.0, 0.0, math.inf, 0.0
    for c in range(mu.shape[0]):
        size = p[c, 0] ** 2 + p[c, 1] ** 2 + p[c, 2] ** 2
        whole, lightest, greatest = whole + size, min(lightest, rho[c]), max(greatest, math.sqrt(size) / rho[c])
        for k in range(3):
            own, fastest = own + (rho[c] * load[c, k]) ** 2, max(fastest, abs(load[c, k]))
    lost = ROUNDING * greatest / fastest if fastest > 0.0 else 0.0
    allowed = allowed_error(tolerance, lost) * fastest
    if residual * math.sqrt(max(whole, own)) <= allowed * lightest:
        return True
    apply_connections(start, block, gather, start, block, gather, p, load, y, u)
    credible = True
    for c in range(mu.shape[0]):
        for k in range(3):
            u[c, k] += compliance[c, k] * p[c, k]
        square = natural_square(p[c, 0], p[c, 1], p[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], rho[c])
        credible = credible and square <= (allowed * rho[c]) ** 2 and -u[c, 0] <= allowed
    return credible


@inner_kernel
def _is_cold(reference: Array, first: int, last: int) -> bool:
    """Tell whether nothing is known of the impulses of an island."""
    most = 0.0
    for k in range(first, last):
        most = max(most, reference[k, 0])
    return most == 0.0


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
def _note_changes(
    p: Array, reference: Array, softness: Array, first: int, last: int, soft: bool, tolerance: float
) -> None:
    """Note by how much impulses changed, and whether by about as much as before."""
    whole = 0.0
    for k in range(first, last):
        for i in range(3):
            whole += p[k, i] ** 2
    least = (WORTH * tolerance) ** 2 * whole / (last - first)
    for k in range(first, last):
        odd, size = 0.0, 0.0
        for i in range(3):
            change = p[k, i] - reference[k, i]
            odd += (change - softness[k, CHANGE + i]) ** 2
            size += change**2
        alike = not soft and odd <= LIKE**2 * size and size > least
        softness[k, HABIT] = OFTEN if alike else 0.0
        for i in range(3):
            change = 0.0 if soft else p[k, i] - reference[k, i]
            softness[k, CHANGE + i] = 0.5 * (change + softness[k, CHANGE + i]) if alike else change


@inner_kernel
def _remember(softness: Array, first: int, last: int, memories: Memories) -> None:
    """Note what is remembered of an island with its contacts."""
    for k in range(first, last):
        softness[k, ALPHA], softness[k, WAIT], softness[k, BACK], softness[k, ENTRY_ALPHA] = memories[:4]
        softness[k, DEBT], softness[k, PACE], softness[k, FILL] = memories[4:7]
        softness[k, KEEP_WAIT], softness[k, KEEP_BACK] = memories[7:]


@inner_kernel
def _rescued(
    t: IntArray, i: int, what: int, goal: float, credit: float, debt: float, share: float
) -> tuple[float, float]:
    """Ask the robust solver for island `i`, or a part that is a share of it; return the residual and what is owed.

    Where it is not ready SHORT is set.
    """
    if t[RESCUE, 0] == 0:
        wholes(t, COUNTS)[SHORT] = 1
        return (math.inf, debt)
    found = measured(t[RESCUE, 0], (t, i, what, goal, min(credit, CREDIT - debt) / share))
    return (found, debt + share * reals(t, NUMBERS)[SPENT])


@inner_kernel
def _refined(t: IntArray, i: int, residual: float, debt: float) -> tuple[float, float]:
    """Have an island solved until the step will believe it; return the residual and what is owed."""
    for what in (NEAR, SOLVE_FINELY):
        found, debt = _rescued(t, i, what, FINER * reals(t, ASKED)[i], CREDIT, debt, 1.0)
        residual = min(residual, found)
        if wholes(t, COUNTS)[SHORT] == 1 or _is_credible(t, i, residual):
            break
    return (residual, debt)


@inner_kernel
def _eased(
    alpha: float, wait: float, entry: float, effort: float, entering: bool, rests: bool
) -> tuple[float, float, float]:
    """Return compliance and wait of an island for the next step, and the compliance at which it is to begin."""
    alpha = max(alpha, LEAST_ALPHA)
    if entering:
        entry = max(0.5 * alpha if effort <= GOOD_SWEEPS else alpha, ENTRY_AT_LEAST * LEAST_ALPHA)
    alpha = _next_alpha(alpha, effort, rests)
    if alpha == LEAST_ALPHA or rests:  # soon to be tried as rigid again
        wait -= 1.0
    return (alpha, wait, entry)


@inner_kernel
def solve_step(t: IntArray) -> bool:
    """Solve all islands to the tolerance, from the guess in P; False if some island resists, or memory is short.

    For an island the loop goes through pose, a look at the guess if it rests, for large ones few sweeps, part, few
    sweeps ..., then all sweeps, and from there to the next island, or to pose if it is made softer. The robust solver
    is asked where a guess or sweeps did not do.
    """
    counts, numbers, tolerance = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, NUMBERS)[TOLERANCE]
    island, best, asked = whole_rows(t, ISLAND), real_rows(t, P), reals(t, ASKED)
    softness, reference = real_rows(t, SOFTNESS), real_rows(t, REFERENCE)
    for c in range(counts[ROWS]):
        for k in range(3):
            real_rows(t, COMPLIANCE)[c, k] = 0.0
    counts[SWEEPS] = 0
    solved, i, fresh, pose, robust = True, counts[BEGIN_ISLAND], True, True, counts[HAS_ROBUST] == AT_ONCE
    alpha, wait, back, entry, debt, effort, before, goal = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    keep_wait, keep_back, pace, failed, fill = 0.0, 0.0, 0.0, 0.0, 0.0
    large, soft, entering, cold, slow, divided, whole, cheap = False, False, False, False, False, False, False, False
    rests, light, stays = False, False, False
    # Numbers that are not constants to the compiler: it would compile all for each.
    none = counts[SWEEPS]
    how, total, stiffened = none, none, none
    while i < counts[ISLANDS]:
        first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
        if fresh:
            alpha, wait, back, entry, debt, failed, fill, keep_wait, keep_back = _remembered(softness, first, last)
            back, debt = max(1.0, back), max(0.0, debt - EARNED)
            keep_wait, keep_back = keep_wait - 1.0, max(1.0, keep_back)
            light = fill <= LIGHT
            cheap = fill <= CHEAP and island[i, CUT_ROW] == 0 and debt <= DEAR * CREDIT
            large = counts[SOFT] == 1 and not cheap
            divided = island[i, N_CONTACTS] >= DIVIDED and t[TAKE_EXCERPT, 0] != 0
            total, fresh, pose, entering, cold = 0, False, True, False, not cheap and _is_cold(reference, first, last)
            speed, pace = _speeds(t, first, last)
            slow, goal = speed <= RESTING, max(max(FINEST, min(speed, 1.0)) * tolerance, min(SUM_ROUNDING, tolerance))
            rests, stays, stiffened = pace <= RESTING, False, none
            island[i, RESTS], island[i, CLEARED] = 1 if rests else 0, 0
            soft = alpha > 0.0 and (wait > 0.0 or (large and alpha > LEAST_ALPHA and not rests)) and not cheap
            whole = cheap or (not large and failed == 0.0 and island[i, CUT_ROW] == 0)
            whole = whole or (light and rests) or pace <= (SLOWER * failed if failed > 0.0 else RESTING)
            if large and alpha == 0.0 and counts[GUESSES] == 0:
                _expect(best, softness, first, last)
        if pose:
            pose_island(t, first, last, alpha if soft else 0.0)
            counts[OPEN_ISLAND] = 0
            pose, effort, before, asked[i] = False, 0.0, math.inf, tolerance
            how = none + (_FEW_SWEEPS if not cold and divided and large else _ALL_SWEEPS)
            if robust and (light if soft else not large):
                how = none + _LOOK
        _, _, _, load, _, rho, _, state, y, p, best_p, _, _, _ = (
            excerpt_views(t, i) if how == _IN_EXCERPT else island_views(t, i)
        )
        for c in range(p.shape[0]):
            for k in range(3):
                p[c, k] = best_p[c, k]
        newton = _newton_in_sweeps(state.shape[0] // 6 - p.shape[0] // 2, p.shape[0])
        haste = none + int(AS_MANY * newton) + HASTE_WORK // p.shape[0] if robust else none
        allowance = _allowance(how, large, soft, cold, alpha, counts[LIMIT], haste)
        wanted, first_look, after = _wanted(t, i, how, soft, rests, goal)
        residual = _swept(t, i, how, wanted, first_look, after, allowance)
        effort += counts[MADE] * p.shape[0] / island[i, N_CONTACTS]
        if how == _LOOK:
            stays = (
                counts[MADE] <= SWEEPS_AT_LEAST
                and residual <= HELD_ERROR * tolerance
                and _is_known(softness, first, last)
            )
        if how == _IN_EXCERPT:
            if robust and residual > numbers[GOAL]:
                share = p.shape[0] / island[i, N_CONTACTS]
                _, debt = _rescued(t, i, SOLVE_EXCERPT, numbers[GOAL], CREDIT, debt, share)
                if counts[SHORT] == 1:
                    return False
            give_back(t, i, best_p)
            how = none + (_FEW_SWEEPS if large else _LOOK)
            continue
        met = residual <= asked[i]
        if how == _FEW_SWEEPS and residual > wanted:
            falls = residual < FALLS * before
            if falls and succeeds(t[TAKE_EXCERPT, 0], (t, i, residual)):
                before, how = residual, none + _IN_EXCERPT
                continue
            how = none + _ALL_SWEEPS
            continue
        may_keep = robust and (large or how == _LOOK) and keep_wait <= 0.0 and numbers[SPRING] == 0.0
        may_keep = may_keep and (slow or (light and large and rests)) and island[i, N_CONTACTS] > TINY
        fine = min(wanted, max(HELD_ERROR * asked[i], FEW_ROUNDINGS)) if may_keep and how == _LOOK else wanted
        if may_keep and how == _LOOK and residual <= fine and _stirs(t, i, p, y, load):
            fine = -1.0  # a solution that holds is taken before one that slips
        if not soft and residual > fine and (island[i, CUT_ROW] == 0 or not met):
            if counts[IN_LANE] == 1:
                solved, island[i, MET], i, fresh = False, -1, i + 1, True
                continue
            near = robust and how == _LOOK and residual < NEARLY and cheap
            if near and residual < HARDLY and not may_keep:
                found, debt = _rescued(t, i, NEAR, MARGIN * wanted, CREDIT, debt, 1.0)
                residual, near = min(residual, found), False
            if may_keep and (how == _LOOK or residual > wanted):
                found, debt = _rescued(t, i, KEEP, wanted, CREDIT, debt, 1.0)
                residual = min(residual, found)
                kept = found <= wanted
                residual = found if kept else residual
                keep_wait = 0.0 if kept else keep_back
                keep_back = 1.0 if kept else min(2.0 * keep_back, LONGEST_WAIT)
                if residual > wanted and how == _LOOK and island[i, N_BODIES] <= SMALL_ISLAND:
                    # What begins to slip slips evenly: sweeps, one contact after another, would tell like from like.
                    found, debt = _rescued(t, i, SOLVE_AT_REST, MARGIN * wanted, CREDIT, debt, 1.0)
                    residual = min(residual, found)
            errs = robust and residual > wanted and how == _LOOK and divided and residual < FALLS * before
            if errs and counts[SHORT] == 0 and succeeds(t[TAKE_EXCERPT, 0], (t, i, residual)):
                before, how = residual, none + _IN_EXCERPT
                continue
            if residual > wanted and near:
                found, debt = _rescued(t, i, NEAR, MARGIN * wanted, CREDIT, debt, 1.0)
                residual = min(residual, found)
            if residual > wanted and robust and how != _LOOK and whole:
                what, credit = SOLVE_AT_REST if slow else SOLVE, TRIED if large and not (light and rests) else CREDIT
                found, debt = _rescued(t, i, what, MARGIN * wanted, credit, debt, 1.0)
                residual, failed = min(residual, found), pace
            if counts[SHORT] == 1:
                return False
            met = residual <= asked[i]
            if how == _LOOK and residual > wanted:
                how = none + _ALL_SWEEPS
                continue
            if not met and robust and cheap and how == _ALL_SWEEPS:
                how = none + _MANY_SWEEPS
                continue
        if soft and how == _LOOK and residual > wanted:
            if counts[IN_LANE] == 1:
                solved, island[i, MET], i, fresh = False, -1, i + 1, True
                continue
            found, _ = _rescued(t, i, SOLVE, MARGIN * wanted, EARNED / SHARE_AT_ONCE, 0.0, 1.0)
            if counts[SHORT] == 1:
                return False
            if counts[OPEN_ISLAND] != i + 1:  # too dear after all
                fill, light, how = 2.0 * LIGHT, False, none + _ALL_SWEEPS
                continue
            residual = min(residual, found)
            met = residual <= asked[i]
            effort += AS_SWEEPS * numbers[SPENT] * island[i, N_CONTACTS] / counts[OPEN_WORK]
        if not met and counts[HAS_ROBUST] == AT_LAST:
            found, debt = _rescued(t, i, SOLVE, MARGIN * wanted, CREDIT, debt, 1.0)
            if counts[SHORT] == 1:
                return False
            residual = min(residual, found)
            met = residual <= asked[i]
        may_share = met and not soft and not slow and cheap and robust and numbers[SPRING] == 0.0
        if may_share and not stays and _moves_on(t, i):
            if counts[IN_LANE] == 1:
                solved, island[i, MET], i, fresh = False, -1, i + 1, True
                continue
            _, debt = _rescued(t, i, SHARE, asked[i], CREDIT, debt, 1.0)
            if counts[SHORT] == 1:
                return False
        if met and not soft and robust and not _is_credible(t, i, residual):
            if counts[IN_LANE] == 1:
                solved, island[i, MET], i, fresh = False, -1, i + 1, True
                continue
            residual, debt = _refined(t, i, residual, debt)
            if counts[SHORT] == 1:
                return False
        may_clear = residual <= tolerance and not soft and cheap and robust
        if may_clear and _rounds(rho, load, best_p, GREAT if rests else LEVERAGE):
            if counts[IN_LANE] == 1:
                solved, island[i, MET], i, fresh = False, -1, i + 1, True
                continue
            _, debt = _rescued(t, i, CLEAR, asked[i], CREDIT, debt, 1.0)
            if counts[SHORT] == 1:
                return False
            met = met or island[i, CLEARED] == 1
        total += int(effort)
        if soft and not met and alpha < MOST_ALPHA:
            alpha, pose, stiffened = min(ALPHA_RAISED * alpha, MOST_ALPHA), True, none + STIFFENED
            continue
        excess, _, _ = largest_yield(t, i) if soft and met else (0.0, 0.0, 0.0)
        if excess > 1.0 and stiffened < STIFFENED:
            alpha, pose, stiffened = WITHIN * alpha / excess, True, stiffened + 1
            continue
        dense = cheap and robust and island[i, N_CONTACTS] <= DENSE
        hopeless = (residual > RIGID_ENOUGH and not dense) or counts[SOFTEN] == 1
        if counts[SOFT] == 1 and not soft and not met and hopeless:  # else Python's methods are asked, which are slow
            for c in range(first, last):  # nearer to the impulses of this step than those of the last
                for k in range(3):
                    reference[c, k] = best[c, k]
            entering = alpha == 0.0
            if entering:
                alpha = entry if entry > 0.0 else FIRST_ALPHA
            wait, back, soft, pose = back, min(2.0 * back, LONGEST_WAIT), True, True
            continue
        if soft:
            alpha, wait, entry = _eased(alpha, wait, entry, effort, entering, rests)
        elif met:
            back = max(1.0, 0.5 * back) if alpha == 0.0 else back
            alpha, failed = 0.0, 0.0
        island[i, MET] = 1 if met else 0
        solved = solved and met
        _note_changes(best, reference, softness, first, last, soft, tolerance)
        if counts[OPEN_ISLAND] == i + 1:
            fill = counts[OPEN_WORK] / island[i, N_CONTACTS]
        memories = (alpha, wait, back, entry, debt, failed, fill, max(0.0, keep_wait), keep_back)
        _remember(softness, first, last, memories)
        counts[SWEEPS] = max(counts[SWEEPS], total)
        i, fresh = i + 1, True
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
