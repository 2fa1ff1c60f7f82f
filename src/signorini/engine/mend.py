r"""The compiled step, gaps at its end: where bodies that turn and slide have come too close, the step is posed again.

Gaps are posed as linear in the velocities, at the normals of the start. Bodies that turn by a tenth of a radian, or
slide over each other, end in overlaps of the second order: some per cent of their width, which the next steps take
back. So bodies that have moved are looked at where they are. A pair that overlaps there by more than a part of its
thinner body, and by more than any did at the start, is given the contacts that it has there, linear about the end of
the step,

.. math:: \Psi_{k+1} + h\, n_{k+1} \cdot (u - u_{k+1}) \ge 0 ,

in place of those of the same name that it has, and the step is posed once more: Newton's method for gaps that are
implicit in the new positions. Mostly one round is enough. What is left after the last is in the certificate, as every
overlap is.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    AIM,
    B_BODY,
    BOUND,
    CHECK,
    CLOSE,
    COMPLIANT,
    CONTACTS,
    COUNTS,
    DEEPEST,
    DEEPEST_EXTENT,
    DISTANCE,
    DRIFT,
    DRIVE,
    FEATURE,
    FIXED,
    GUESS,
    GUESS_FEATURE,
    GUESSES,
    INDEX,
    LIFT,
    MENDED,
    MET_INDEX,
    MET_VALUE,
    NEEDED,
    NORMAL,
    NUMBERS,
    PATH,
    POINT_B,
    POSITION,
    Q_0,
    Q_START,
    REACH,
    RESCUED,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    STAGE,
    STIRRED,
    THIN,
    THINNEST,
    TIME,
    V_0,
    VALUE,
    H,
    P,
    Q,
    V,
)
from signorini.engine.contacts import contact_arms, find, point_velocity
from signorini.engine.meet import (
    copy_contact,
    end_of_pair,
    gap_after,
    goes_through,
    lay_out_pair,
    least_of,
    merge,
    pair_desk,
    pair_of,
    place_by_name,
    posed_at,
    set_path,
    stage_again,
    take_over,
    to_ask,
    write_meeting,
)
from signorini.geometry.meetings import STOP, Desk, common_arms, displaced_by, pair_speed
from signorini.geometry.vectors import Vector
from signorini.math.rotation import dot, turn_exact
from signorini.posing.constants import MEND_ROUNDS, REACH_FRACTION, SWIFT, TOO_CLOSE

CLEAR, POSE_AGAIN, TOO_SMALL = 0, 1, 2


@inner_kernel
def _came_closer(t: IntArray, b: int, arm: Vector, n: Vector) -> float:
    """Return how far the end of `arm` on body `b` has gone along `n` in the step, in the eyes of the law."""
    return float(reals(t, NUMBERS)[DRIFT] * dot(n, point_velocity(real_rows(t, AIM), b, arm)))


@inner_kernel
def _displaced(t: IntArray, a: int, b: int, arm_a: Vector, arm_b: Vector, n: Vector) -> float:
    """Return how far the bodies of a contact were displaced along `n` before the step, to end an overlap."""
    start, q, displaced = real_rows(t, Q_START), real_rows(t, Q_0), 0.0
    if b >= wholes(t, COUNTS)[FIXED]:
        displaced += displaced_by(start, q, b, arm_b, n)
    if a >= wholes(t, COUNTS)[FIXED]:
        displaced -= displaced_by(start, q, a, arm_a, n)
    return displaced


@inner_kernel
def _write_end(t: IntArray, c: int, r: int, displaced: bool) -> int:
    """Write contact `c`, found at the end of the step, as a contact of its start, in row `r` of those met.

    Of points that move apart only those that overlap, to be displaced by as much as they do, beyond what they were
    displaced by before. Return the next free row.
    """
    given, index, value = real_rows(t, VALUE), whole_rows(t, INDEX), real_rows(t, MET_VALUE)
    fixed, q, q_start = wholes(t, COUNTS)[FIXED], real_rows(t, Q), real_rows(t, Q_START if displaced else Q_0)
    a, b, n = index[c, A_BODY], index[c, B_BODY], (given[c, NORMAL], given[c, NORMAL + 1], given[c, NORMAL + 2])
    arm_a, arm_b = contact_arms(given, q, c, a, b, fixed)
    if a >= fixed:
        near = SWIFT * min(reals(t, THIN)[a], reals(t, THIN)[b])
        arm_a, arm_b = common_arms(q_start, a, b, arm_a, arm_b, near)
    to_go = given[c, DISTANCE] - _came_closer(t, b, arm_b, n) + _came_closer(t, a, arm_a, n)
    if to_go < 0.0:
        if given[c, DISTANCE] >= 0.0 or reals(t, NUMBERS)[LIFT] > 0.0:  # which velocities part, not displacements
            return r
        to_go = max(to_go, given[c, DISTANCE])
    if r >= value.shape[0]:
        return r + 1
    if displaced:
        to_go = to_ask(to_go - _displaced(t, a, b, arm_a, arm_b, n))
    share = 1.0 if a < fixed else 0.5
    for k in range(3):
        value[r, k] = q_start[a, k] + (arm_a[k] - share * to_go * n[k])
        value[r, POINT_B + k] = q_start[b, k] + (arm_b[k] + (1.0 - share) * to_go * n[k])
        value[r, NORMAL + k] = n[k]
    value[r, DISTANCE] = to_go
    for k in range(4):
        whole_rows(t, MET_INDEX)[r, k] = index[c, k]
    return r + 1


@inner_kernel
def _add_others(t: IntArray, old: int, end: int, first: int, made: int) -> int:
    """Add the contacts posed from `old` to `end` of a pair to those from `first` to `made`.

    None of their names at first; those of earlier ends stay. The lowest point of a rim is another at every end, and
    what is given up for one is what the next needs. Return the next free row.
    """
    again = wholes(t, COUNTS)[MENDED] > 0
    value, index = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX)
    seen_value, seen_index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    last = made
    for c in range(old, end):
        known = False
        for r in range(first, first if again else min(last, value.shape[0])):
            known = known or index[r, FEATURE] == seen_index[c, FEATURE]
        if not known:
            if made < value.shape[0]:
                r = place_by_name(value, index, first, made, seen_index[c, FEATURE])
                copy_contact(seen_value, seen_index, c, value, index, r)
                last += 1
            made += 1
    return made


@inner_kernel
def _are_displaced(value: Array, first: int, last: int) -> bool:
    """Tell whether some of the contacts from `first` to `last` are to be displaced."""
    least = 0.0
    for r in range(first, min(last, value.shape[0])):
        least = min(least, value[r, DISTANCE])
    return least < 0.0


@inner_kernel
def _sort_by_name(t: IntArray, first: int, last: int) -> None:
    """Sort the contacts from `first` to `last` of those met by name, as all lists of contacts are."""
    value, index = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX)
    for c in range(first + 1, min(last, value.shape[0])):
        r = c
        while r > first and index[r - 1, FEATURE] > index[r, FEATURE]:
            for k in range(10):
                value[r - 1, k], value[r, k] = value[r, k], value[r - 1, k]
            for k in range(4):
                index[r - 1, k], index[r, k] = index[r, k], index[r - 1, k]
            r -= 1


@inner_kernel
def _swap_ends(t: IntArray, a: int, b: int) -> None:
    """Put two bodies back to where the step acts, or forth to where they ended."""
    q, q_0 = real_rows(t, Q), real_rows(t, Q_0)
    for k in range(7):
        q[a, k], q_0[a, k] = q_0[a, k], q[a, k]
        q[b, k], q_0[b, k] = q_0[b, k], q[b, k]


@inner_kernel
def _write_beginning(t: IntArray, desk: Desk, first: int, r: int, allowed: float) -> int:
    """Write the contacts that the pair of contact `first` has where it begins to overlap, from row `r` on.

    Pairs need them that overlap and move apart along the normals of the end: they have come there around an edge.
    Return the next free row.
    """
    q, index, h = real_rows(t, Q), whole_rows(t, INDEX), reals(t, NUMBERS)[DRIFT]
    a, b = index[first, A_BODY], index[first, B_BODY]
    _swap_ends(t, a, b)
    lay_out_pair(t, desk, index[first, FEATURE])
    way = h * pair_speed(desk, q, real_rows(t, PATH), a, b, h)
    begins, _ = goes_through(t, desk, a, b, gap_after(t, desk, a, b, 0.0, way), allowed)
    if begins <= h:
        r, _ = write_meeting(t, desk, real_rows(t, posed_at(t)), first, r, begins, (h - begins) * way / h, STOP)
    _swap_ends(t, a, b)
    return r


@inner_kernel
def _allowed(t: IntArray) -> float:
    """Return the overlap that pairs may end with, of the thinner body: what began deeper is not for one step."""
    numbers = reals(t, NUMBERS)
    return float(max(TOO_CLOSE, numbers[DEEPEST] / numbers[DEEPEST_EXTENT]))


@inner_kernel
def _is_too_close(t: IntArray, value: Array, index: IntArray, first: int, last: int, allowed: float) -> bool:
    """Tell whether a pair, which has the contacts from `first` to `last`, overlaps by more."""
    thin = reals(t, THIN)
    return bool(least_of(value, first, last) < -allowed * min(thin[index[first, A_BODY]], thin[index[first, B_BODY]]))


@inner_kernel
def _add_ends(t: IntArray, displaced: bool) -> int:
    """Add the contacts of pairs that have come too close to those of the step; return how many there are."""
    counts, value, index = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX)
    seen_value, seen_index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    met_value, met_index = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX)
    desk, first, made, old, allowed = pair_desk(t), 0, 0, 0, _allowed(t)
    while first < counts[CONTACTS]:
        last, pair = end_of_pair(index, first, counts[CONTACTS]), pair_of(index[first, FEATURE])
        while old < counts[SEEN] and pair_of(seen_index[old, FEATURE]) < pair:
            made = copy_contact(seen_value, seen_index, old, met_value, met_index, made)
            old += 1
        end = old
        while end < counts[SEEN] and pair_of(seen_index[end, FEATURE]) == pair:
            end += 1
        begin = made
        if _is_too_close(t, value, index, first, last, allowed):
            for c in range(first, last):
                made = _write_end(t, c, made, displaced)
            if made == begin or _are_displaced(met_value, begin, made):
                made = _write_beginning(t, desk, first, made, allowed)
                _sort_by_name(t, begin, made)
                made = merge(t, old, end, begin, made)
                first, old = last, end
                continue
        made = _add_others(t, old, end, begin, made)
        first, old = last, end
    while old < counts[SEEN]:
        made = copy_contact(seen_value, seen_index, old, met_value, met_index, made)
        old += 1
    return made


@inner_kernel
def _drive(t: IntArray, time: float) -> None:
    """Put fixed bodies where their motions have taken them so many seconds after where the step acts."""
    q, q_0, drive = real_rows(t, Q), real_rows(t, Q_0), real_rows(t, DRIVE)
    for b in range(wholes(t, COUNTS)[FIXED]):
        e, w = (q_0[b, 3], q_0[b, 4], q_0[b, 5], q_0[b, 6]), (drive[b, 3], drive[b, 4], drive[b, 5])
        turned = turn_exact(e, w, time) if time > 0.0 and dot(w, w) > 0.0 else e
        for k in range(3):
            q[b, k] = q_0[b, k] + time * drive[b, k]
        for k in range(4):
            q[b, 3 + k] = turned[k]


@inner_kernel
def _find_ends(t: IntArray) -> int:
    """Look at bodies where they are after the step: ``CLEAR``, ``POSE_AGAIN`` if some are too close, ``TOO_SMALL``.

    If some have, contacts are those of the end, and fixed bodies stay where these are.
    """
    counts, reach, bound = wholes(t, COUNTS), reals(t, REACH), reals(t, BOUND)
    if counts[MENDED] >= MEND_ROUNDS:
        return CLEAR
    # Mostly none are: pairs that overlap by less than any may are passed over, which costs a part of finding all.
    for b in range(reach.shape[0]):
        reach[b] = -0.5 * TOO_CLOSE * reals(t, NUMBERS)[THINNEST]
    _drive(t, reals(t, NUMBERS)[DRIFT])
    found = find(t)
    if found == 0:
        _drive(t, 0.0)
        return CLEAR
    for b in range(reach.shape[0]):
        reach[b] = REACH_FRACTION * bound[b] if b >= counts[FIXED] else 0.0
    found = find(t)
    if found < 0:
        counts[NEEDED] = found
        return TOO_SMALL
    counts[CONTACTS] = found
    value, index, first, allowed = real_rows(t, VALUE), whole_rows(t, INDEX), found - found, _allowed(t)
    while first < found:
        last = end_of_pair(index, first, found)
        if _is_too_close(t, value, index, first, last, allowed):
            return POSE_AGAIN
        first = last
    _drive(t, 0.0)
    return CLEAR


@inner_kernel
def _keep_apart(t: IntArray, displaced: bool) -> int:
    """Give pairs that ended too close the contacts that keep them apart: ``POSE_AGAIN``, or ``TOO_SMALL`` for these."""
    set_path(t, real_rows(t, V))
    made = _add_ends(t, displaced)
    _drive(t, 0.0)
    wholes(t, COUNTS)[MENDED] += 1
    return POSE_AGAIN if take_over(t, made) else TOO_SMALL


@inner_kernel
def look_at_end(t: IntArray, displaced: bool) -> int:
    """Look at bodies where they are after the step; return what comes of it.

    ``CLEAR`` if none have come too close, ``POSE_AGAIN`` with contacts that keep them apart, ``TOO_SMALL`` for these.
    """
    outcome = _find_ends(t)
    return _keep_apart(t, displaced) if outcome == POSE_AGAIN else outcome


@inner_kernel
def _keep_guess(t: IntArray) -> None:
    """Keep the impulses found, from which those of the step posed again are sought."""
    counts, index, position, p = (
        wholes(t, COUNTS),
        whole_rows(t, SEEN_INDEX),
        wholes(t, POSITION),
        real_rows(t, P),
    )
    feature, guess = wholes(t, GUESS_FEATURE), real_rows(t, GUESS)
    counts[GUESSES] = counts[SEEN]
    for c in range(counts[SEEN]):
        feature[c] = index[c, FEATURE]
        for k in range(3):
            guess[c, k] = p[position[c], k]


@inner_kernel
def _go_back(t: IntArray, outcome: int) -> None:
    """Put all back to where the step acts, to pose it again, or to its start, where there was no room for contacts."""
    counts, numbers = wholes(t, COUNTS), reals(t, NUMBERS)
    q, q_0, q_start = real_rows(t, Q), real_rows(t, Q_0), real_rows(t, Q_START)
    v, v_0 = real_rows(t, V), real_rows(t, V_0)
    numbers[TIME] -= numbers[H]
    for b in range(q.shape[0]):
        for k in range(7):
            q[b, k] = q_start[b, k] if numbers[DRIFT] == numbers[H] else q_0[b, k]
        for k in range(6):
            v[b, k] = v_0[b, k]
    counts[STAGE] = stage_again(t, outcome == POSE_AGAIN)
    counts[RESCUED] = 0


@inner_kernel
def look(t: IntArray) -> bool:
    """Look at bodies that have moved, and note whether some have come too close; False if there is no room to tell."""
    counts, outcome = wholes(t, COUNTS), CLEAR
    if reals(t, CHECK)[COMPLIANT] == 0.0:  # what gives way is to overlap
        outcome = _find_ends(t)
    counts[STIRRED] = CLOSE if outcome == POSE_AGAIN else 0
    if outcome == TOO_SMALL:
        _go_back(t, outcome)
    return outcome != TOO_SMALL


@inner_kernel
def mend(t: IntArray) -> bool:
    """Put all back as before the step, but with contacts that keep bodies apart which came too close.

    False if there is no room for these: the step begins again then.
    """
    wholes(t, COUNTS)[STIRRED] = 0
    outcome = _keep_apart(t, reals(t, NUMBERS)[DRIFT] == reals(t, NUMBERS)[H])
    _keep_guess(t)
    _go_back(t, outcome)
    return outcome == POSE_AGAIN
