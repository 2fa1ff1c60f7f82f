r"""The compiled step, contacts that happen: pairs are posed where they meet, not where they are when the step begins.

Gaps are linear in the velocities only while bodies move little against each other. A bullet that passes a box comes
closer to it along the normal of the start and never meets it; a blade that turns by a radian meets a post of which its
gap at the start knows nothing. So pairs with an open contact that would close, and those that
move far and may leave their tangents by more than a thousandth of the thinner body, are followed along the free motion
(:mod:`signorini.geometry.meetings`):

- it moves by less than half the thinner body: contacts of the start are kept if the pair overlaps along their normal;
  if it does not meet, or touches at most, they are given the room that they need to pass, so that nothing rebounds; if
  it meets along another normal its contacts are those of that place;
- it moves farther and meets after :math:`\tau` seconds: its contacts are those of that place, with the gap
  :math:`\Psi(\tau) - \tau\, n \cdot u`, which is the law of every contact with :math:`\tau = 0`;
- it moves farther and does not meet: only what is close at the end of the way is posed, as it is there.

What meets something is turned away. Of several swift meetings of a body those are posed that begin before it has gone
on by half the thinner body since the first; the others are found on the new way, if they happen there.

Impulses change the ways of bodies. Where bodies that felt some move by more than half the thinnest width of the scene,
all ways are followed once more at the new velocities (:func:`check_ways`). What goes through something adds contacts
where it does, and the step is posed again, with all contacts that it had before; after 60 times it is left as it is,
and the certificate says how many pairs go through each other (``unfollowed``). Ways begin where overlaps were parted,
and what overlaps at its end only, by no more than a run is trusted with, does not go through: it overlaps, and the
certificate says that of it.

On their ways bodies turn evenly from where the step acts to where their flight ends
(:mod:`signorini.dynamics.flight`), or in as many even turns as the flight has parts, whatever impulses they feel. The
law knows the mean spins of flights of one part, as far as these are known before it is solved, and of others the spins
that they begin with.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._grades import OVERLAP_WRONG
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.bodies import CONSERVING, EVEN
from signorini.dynamics.flight import fly_bodies, in_legs, turn_evenly, veer_bodies, write_legs
from signorini.engine.arrays import (
    A_BODY,
    ACTING,
    AIM,
    AIMED,
    B_BODY,
    BEGIN_AGAIN,
    BOUND,
    CELLS,
    CHECK,
    CONTACTS,
    COUNTS,
    DISTANCE,
    DOUBTS,
    DRIFT,
    DRIVE,
    FEATURE,
    FIND,
    FIRST_MEETING,
    FIXED,
    FLOWN,
    GONE,
    HITS,
    INDEX,
    INERTIA,
    LABEL,
    LATER,
    LAW_CAPACITY,
    LINK,
    MARK,
    MATERIAL,
    MEETINGS,
    MEETS,
    MET_INDEX,
    MET_VALUE,
    MOVE,
    NEEDED,
    NO_REBOUND,
    NORMAL,
    NUMBERS,
    PAIR,
    PAIR_INDEX,
    PAIR_LABEL,
    PAIR_LEGS,
    PAIR_Q,
    PAIR_REACH,
    PAIR_SHAPE,
    PAIR_SPIN,
    PAIR_TURN,
    PAIR_VALUE,
    PATH,
    POINT_B,
    Q_0,
    Q_START,
    REACH,
    RESCUED,
    RESTITUTION,
    ROUNDS,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    SHAPE,
    SOLID,
    STAGE,
    THIN,
    TIME,
    UNFOLLOWED,
    V_0,
    V_FREE,
    VALUE,
    VEER,
    VEERS,
    WAY,
    WORK,
    WORLD,
    H,
    P,
    Q,
    V,
)
from signorini.engine.contacts import approach, find, may_mislead
from signorini.geometry.meetings import (
    DISPLACE,
    MEET,
    RECEDE,
    STOP,
    Desk,
    first_meeting,
    lay_out,
    least_gap,
    look_at,
    pair_speed,
    write_met,
)
from signorini.geometry.rows import FEATURE_BITS
from signorini.geometry.tables import BODY
from signorini.math.rotation import dot
from signorini.posing.constants import (
    ALIKE,
    BAND,
    DEEP,
    FOLLOW_ROUNDS,
    HALVINGS,
    LOOKS,
    MEETING,
    PATIENT_ROUNDS,
    REACH_FRACTION,
    SAMPLE,
    SHALLOW,
    SWIFT,
    TAKEN_BACK,
)

FREE_WAYS, POSE_AGAIN, TOO_SMALL = 0, 1, 2


@inner_kernel
def set_path(t: IntArray, v: Array) -> None:
    """Let all bodies go at the velocities `v`, to which FLOWN belongs; fixed ones as they are driven."""
    path, aim, drive, fixed = real_rows(t, PATH), real_rows(t, AIM), real_rows(t, DRIVE), wholes(t, COUNTS)[FIXED]
    way, flown, veer, h = wholes(t, WAY), real_rows(t, FLOWN), real_rows(t, VEER), reals(t, NUMBERS)[DRIFT]
    if wholes(t, COUNTS)[VEERS] == 1:
        veer_bodies(way, real_blocks(t, INERTIA), real_rows(t, Q), v, h, veer)
    for b in range(path.shape[0]):
        for k in range(6):
            path[b, k] = drive[b, k] if b < fixed else v[b, k]
            aim[b, k] = path[b, k] + (veer[b, k - 3] if k >= 3 else 0.0)
    turn_evenly(way, real_blocks(t, INERTIA), real_rows(t, Q), flown, h, path)


@inner_kernel
def pair_desk(t: IntArray) -> Desk:
    """Return the scene of two shapes; it works in the memory of detection."""
    return Desk(
        t[FIND, 0],
        real_rows(t, PAIR_SHAPE),
        whole_rows(t, PAIR_LABEL),
        real_rows(t, SOLID),
        whole_rows(t, LINK),
        whole_rows(t, PAIR)[:0],
        real_rows(t, PAIR_Q),
        reals(t, PAIR_REACH),
        real_rows(t, WORLD),
        wholes(t, CELLS),
        real_rows(t, WORK),
        whole_rows(t, MARK),
        real_rows(t, PAIR_VALUE),
        whole_rows(t, PAIR_INDEX),
        real_rows(t, PAIR_SPIN),
        wholes(t, PAIR_LEGS),
        real_blocks(t, PAIR_TURN),
        reals(t, NUMBERS)[DRIFT],
    )


@inner_kernel
def pair_of(name: int) -> int:
    """Return the number of the pair of shapes that a contact of this name belongs to."""
    return name >> (2 * FEATURE_BITS)


@inner_kernel
def copy_contact(value: Array, index: IntArray, c: int, to_value: Array, to_index: IntArray, r: int) -> int:
    """Copy contact `c` to row `r`, if that is there; return the next row."""
    if r < to_value.shape[0]:
        for k in range(10):
            to_value[r, k] = value[c, k]
        for k in range(4):
            to_index[r, k] = index[c, k]
    return r + 1


@inner_kernel
def place_by_name(value: Array, index: IntArray, first: int, free: int, name: int) -> int:
    """Make room for a contact among those from `first` on, which are sorted by name; `free` is the first free row."""
    while free > first and index[free - 1, FEATURE] > name:
        copy_contact(value, index, free - 1, value, index, free)
        free -= 1
    return free


@inner_kernel
def to_ask(gap: float) -> float:
    """Return the gap with which a contact is posed where bodies are to be parted to the end, and not for the most."""
    return gap / TAKEN_BACK if gap < 0.0 else gap


@inner_kernel
def write_meeting(
    t: IntArray, desk: Desk, start: Array, first: int, r: int, time: float, margin: float, asks: int
) -> tuple[int, bool]:
    """Write the contacts that the pair of contact `first` has after `time` seconds from row `r` of the met ones on.

    `start` is where the step begins, before overlaps are parted.

    Return the next free row, and whether they forbid the way on which they were met: whether that of the least gap
    does. What others ask for may be done already, but for what impulses are found to.
    """
    value, index, given = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX), whole_rows(t, INDEX)
    q, path, fixed, h = real_rows(t, Q), real_rows(t, PATH), wholes(t, COUNTS)[FIXED], reals(t, NUMBERS)[DRIFT]
    aim = real_rows(t, AIM)
    a, b, names, forbid = given[first, A_BODY], given[first, B_BODY], 1 << (2 * FEATURE_BITS), False
    beyond = float(wholes(t, COUNTS)[ROUNDS] // PATIENT_ROUNDS)
    width = min(reals(t, THIN)[a], reals(t, THIN)[b])
    count, near = look_at(desk, q, path, a, b, time, margin), SWIFT * width
    deepest = least_gap(desk, count)
    for c in range(count):
        if r >= value.shape[0]:
            return (r + count - c, True)
        left = write_met(desk, start, q, path, aim, a, b, fixed, time, h, beyond, near, asks, c, value, r)
        if left < math.inf:
            index[r, A_BODY] = a
            index[r, B_BODY] = b
            _widen(t, r, to_ask(value[r, DISTANCE]) - value[r, DISTANCE])
            index[r, FEATURE] = pair_of(given[first, FEATURE]) * names + desk.number[c, 2] % names
            index[r, MATERIAL] = given[first, MATERIAL]
            forbid = forbid or (c == deepest and left < -MEETING * width)
            r += 1
    return (r, forbid)


@inner_kernel
def least_of(value: Array, first: int, last: int) -> float:
    """Return the least gap of the contacts from `first` to `last`."""
    least = value[first, DISTANCE]
    for c in range(first + 1, last):
        least = min(least, value[c, DISTANCE])
    return float(least)


@inner_kernel
def end_of_pair(index: IntArray, first: int, count: int) -> int:
    """Return the row after the last contact of the pair of contact `first`."""
    last = first + 1
    while last < count and pair_of(index[last, FEATURE]) == pair_of(index[first, FEATURE]):
        last += 1
    return last


@inner_kernel
def lay_out_pair(t: IntArray, desk: Desk, name: int) -> None:
    """Put the shapes of the pair that a contact of this name belongs to on the desk, and how their bodies turn."""
    shape, label, q, aim = real_rows(t, SHAPE), whole_rows(t, LABEL), real_rows(t, Q), real_rows(t, AIM)
    way, inertia, i, j = wholes(t, WAY), real_blocks(t, INERTIA), pair_of(name) // label.shape[0], pair_of(name)
    veer = real_rows(t, VEER)
    lay_out(desk, shape, label, i, j % label.shape[0])
    for side in range(2):
        b = label[i if side == 0 else j % label.shape[0], BODY]
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        omega = (aim[b, 3] - veer[b, 0], aim[b, 4] - veer[b, 1], aim[b, 5] - veer[b, 2])
        desk.legs[side] = 0
        if in_legs(way[b], omega, desk.duration):
            desk.legs[side] = write_legs(inertia[b], e, omega, desk.duration, desk.turn[side])


@inner_kernel
def take_over(t: IntArray, made: int) -> bool:
    """Let the contacts met be those of the step; False if there is no room for them."""
    counts, value, index = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX)
    met_value, met_index = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX)
    if made > min(met_value.shape[0], value.shape[0]) or made + counts[LAW_CAPACITY] > real_rows(t, P).shape[0]:
        counts[NEEDED] = made
        return False
    for r in range(made):
        copy_contact(met_value, met_index, r, value, index, r)
    counts[CONTACTS] = made
    counts[DOUBTS] = 0
    return True


@inner_kernel
def _closes(t: IntArray, c: int) -> float:
    """Return by how much contact `c` would overlap at the end of the way, as its normal says."""
    value = real_rows(t, VALUE)
    n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    return float(-(value[c, DISTANCE] + reals(t, NUMBERS)[DRIFT] * dot(n, approach(t, c, real_rows(t, AIM)))))


@inner_kernel
def _take_back_loads(t: IntArray) -> None:
    """Let no body follow its load into what it rests on: the free motion sinks where a contact will hold it.

    Where a contact that does not mislead closes, bodies keep to that extent the velocities that they had before.
    """
    counts, value, index, h = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX), reals(t, NUMBERS)[DRIFT]
    path, aim, v, fixed = real_rows(t, PATH), real_rows(t, AIM), real_rows(t, V), counts[FIXED]
    for c in range(counts[CONTACTS]):
        closing = _closes(t, c) / h
        if closing <= 0.0 or may_mislead(t, c):
            continue
        for side in range(2):
            body, sign = index[c, 1 - side], 1.0 if side == 0 else -1.0
            if body < fixed:
                continue
            load = 0.0  # that presses the body against the other
            for k in range(3):
                load -= sign * value[c, NORMAL + k] * (aim[body, k] - v[body, k])
            back = max(0.0, min(load, closing))
            closing -= back
            for k in range(3):
                path[body, k] += sign * back * value[c, NORMAL + k]
                aim[body, k] += sign * back * value[c, NORMAL + k]


@inner_kernel
def _widen(t: IntArray, r: int, more: float) -> None:
    """Let the bodies of contact `r` of those met come closer by `more`; the point where impulses act stays."""
    value, index = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX)
    share = 1.0 if index[r, A_BODY] < wholes(t, COUNTS)[FIXED] else 0.5
    for k in range(3):
        value[r, k] -= share * more * value[r, NORMAL + k]
        value[r, POINT_B + k] += (1.0 - share) * more * value[r, NORMAL + k]
    value[r, DISTANCE] += more


@inner_kernel
def _let_pass(t: IntArray, first: int, last: int, made: int, apart: float) -> int:
    """Write the contacts of a pair with the room that it needs to end `apart`, or to overlap; return the next row.

    What needs room would rebound with a velocity that it does not have when it touches: it may in the next step.
    """
    value, index, restitution = real_rows(t, VALUE), whole_rows(t, INDEX), reals(t, RESTITUTION)
    met_value, met_index, thin = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX), reals(t, THIN)
    for c in range(first, last):
        made, closes = copy_contact(value, index, c, met_value, met_index, made), _closes(t, c)
        room, width = max(0.0, closes + apart), min(thin[index[c, A_BODY]], thin[index[c, B_BODY]])
        if restitution[index[c, MATERIAL]] > 0.0 and room > MEETING * width:
            room = max(room, closes + BAND * width)
        if closes > 0.0 and made <= met_value.shape[0]:
            _widen(t, made - 1, room)
    return made


@inner_kernel
def _overlap_as_said(t: IntArray, desk: Desk, first: int, last: int, time: float) -> float:
    """Return by how much the pair on the desk overlaps after `time` seconds, if along a normal of contacts that close.

    Else -1.
    """
    value, index = real_rows(t, VALUE), whole_rows(t, INDEX)
    count = look_at(desk, real_rows(t, Q), real_rows(t, PATH), index[first, A_BODY], index[first, B_BODY], time, 0.0)
    if count == 0:
        return -1.0
    k, agree = least_gap(desk, count), -1.0
    for c in range(first, last):
        if _closes(t, c) > 0.0:
            n = (
                value[c, NORMAL] * desk.value[k, NORMAL]
                + value[c, NORMAL + 1] * desk.value[k, NORMAL + 1]
                + value[c, NORMAL + 2] * desk.value[k, NORMAL + 2]
            )
            agree = max(agree, n)
    return float(-desk.value[k, DISTANCE]) if agree > ALIKE else -1.0


@inner_kernel
def _note_meeting(t: IntArray, a: int, b: int, time: float) -> None:
    """Note when two bodies meet swiftly; fixed ones are not turned away by it."""
    meets = real_rows(t, MEETS)
    for side in range(2):
        body = a if side == 0 else b
        if body >= wholes(t, COUNTS)[FIXED]:
            meets[body, FIRST_MEETING] = min(meets[body, FIRST_MEETING], time)
            meets[body, MEETINGS] += 1.0


@inner_kernel
def _pose_pair(t: IntArray, desk: Desk, first: int, last: int, made: int, in_order: bool) -> int:
    """Write the contacts of a pair, those from `first` to `last`, as they are to be posed; return the next free row.

    With `in_order` a pair that meets when one of its bodies has gone on by half the thinner one since it met another is
    left to :func:`follow`.
    """
    value, index, h = real_rows(t, VALUE), whole_rows(t, INDEX), reals(t, NUMBERS)[DRIFT]
    q, path, bound, thin = real_rows(t, Q), real_rows(t, PATH), reals(t, BOUND), reals(t, THIN)
    meets, a, b, doubtful, holds = real_rows(t, MEETS), index[first, A_BODY], index[first, B_BODY], False, False
    width, gap = min(thin[a], thin[b]), least_of(value, first, last)
    for c in range(first, last):
        misleads = may_mislead(t, c)
        doubtful = doubtful or misleads
        holds = holds or (value[c, DISTANCE] <= MEETING * width and not misleads)
    if doubtful and not holds:
        lay_out_pair(t, desk, index[first, FEATURE])
        way = h * pair_speed(desk, q, path, a, b, h)
        swift = way > SWIFT * width  # it is followed again if impulses change it
        overlap = -1.0 if swift else _overlap_as_said(t, desk, first, last, h)
        if 0.0 <= overlap <= MEETING * width:  # it slides or rolls past
            return _let_pass(t, first, last, made, -overlap)
        if overlap < 0.0:
            time, _ = goes_through(t, desk, a, b, gap, DEEP)
            if not swift and time == math.inf:
                return _let_pass(t, first, last, made, max(0.0, gap_after(t, desk, a, b, h, gap)))
            if swift and time < math.inf:
                before = min(meets[a, FIRST_MEETING], meets[b, FIRST_MEETING])
                if in_order and (time - before) * way > SWIFT * width * h:
                    wholes(t, COUNTS)[LATER] += 1
                    return made
                _note_meeting(t, a, b, time)
            if swift or _overlap_as_said(t, desk, first, last, time) < 0.0:
                margin = REACH_FRACTION * (bound[a] + bound[b]) + max(0.0, h - time) * way / h
                end, forbidden = write_meeting(t, desk, q, first, made, min(time, h), margin, STOP)
                if time < h and not forbidden:
                    end, _ = write_meeting(t, desk, q, first, made, time, margin, RECEDE)
                return end
    for c in range(first, last):
        made = copy_contact(value, index, c, real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX), made)
    return made


@inner_kernel
def _pose_pairs(t: IntArray, desk: Desk, in_order: bool) -> int:
    """Write the contacts of all pairs as they are to be posed; return how many."""
    count, index, first, made = wholes(t, COUNTS)[CONTACTS], whole_rows(t, INDEX), 0, 0
    while first < count:
        last = end_of_pair(index, first, count)
        made = _pose_pair(t, desk, first, last, made, in_order)
        first = last
    return made


@inner_kernel
def meet_step(t: IntArray) -> bool:
    """Pose pairs whose contacts may mislead where they meet along the free motion; False if there is no room."""
    desk, meets, v_free, often = pair_desk(t), real_rows(t, MEETS), real_rows(t, V_FREE), False
    wholes(t, COUNTS)[LATER] = 0
    fly_bodies(
        wholes(t, WAY), real_blocks(t, INERTIA), real_rows(t, Q), v_free, reals(t, NUMBERS)[DRIFT], real_rows(t, FLOWN)
    )
    set_path(t, v_free)
    _take_back_loads(t)
    for b in range(meets.shape[0]):
        meets[b, FIRST_MEETING] = math.inf
        meets[b, MEETINGS] = 0.0
    made = _pose_pairs(t, desk, False)
    for b in range(meets.shape[0]):
        often = often or meets[b, MEETINGS] > 1.0
    return take_over(t, _pose_pairs(t, desk, True) if often else made)


# --- ways at the new velocities --------------------------------------------------


@inner_kernel
def gap_after(t: IntArray, desk: Desk, a: int, b: int, time: float, most: float) -> float:
    """Return the gap of the pair on the desk after `time` seconds, `most` if it is more."""
    count = look_at(desk, real_rows(t, Q), real_rows(t, PATH), a, b, time, most)
    return float(desk.value[least_gap(desk, count), DISTANCE]) if count > 0 else most


@inner_kernel
def _when_deeper(t: IntArray, desk: Desk, a: int, b: int, early: float, late: float, depth: float) -> float:
    """Return the time between `early` and `late` at which the overlap of the pair on the desk begins to exceed."""
    for _ in range(HALVINGS):
        middle = 0.5 * (early + late)
        if gap_after(t, desk, a, b, middle, 0.0) < -depth:
            late = middle
        else:
            early = middle
    return late


@inner_kernel
def goes_through(t: IntArray, desk: Desk, a: int, b: int, gap: float, most: float) -> tuple[float, float]:
    """Return when the pair on the desk, which is apart by `gap` at first, begins to overlap by more than is allowed.

    And when it becomes deep, or the end of the step if it is overlapping then. Infinite times if it does nothing of
    that. Looks are close to each other while it is close: what passes through something thin is not seen later.
    """
    q, path, h = real_rows(t, Q), real_rows(t, PATH), reals(t, NUMBERS)[DRIFT]
    width = min(reals(t, THIN)[a], reals(t, THIN)[b])
    early = 0.0
    if gap > MEETING * width:
        early = first_meeting(desk, q, path, a, b, h, MEETING * width)
    allowed, deep = most * width + max(0.0, -gap), SHALLOW * width + max(0.0, -gap)
    speed, begins, looks, now = pair_speed(desk, q, path, a, b, h), math.inf, 0, 0.0
    while early < h:
        looks += 1
        way = max(now, SAMPLE * width if looks <= LOOKS else h * speed / LOOKS)
        late = min(h, early + way / speed)
        now = gap_after(t, desk, a, b, late, (h - late) * speed)
        if now < -allowed and begins == math.inf:
            begins = _when_deeper(t, desk, a, b, early, late, allowed)
        if now < -deep:
            return (begins, _when_deeper(t, desk, a, b, max(early, begins), late, deep))
        if now >= -allowed and begins < math.inf:
            return (begins, begins)
        early = late
    return (begins, h if begins < math.inf else begins)


@inner_kernel
def _ends_in_overlap(t: IntArray, desk: Desk, a: int, b: int, gap: float) -> bool:
    """Tell whether the pair on the desk, which overlaps by too much, does so at the end and was never too deep.

    That is an overlap as others, which the certificate tells: such a pair does not go through.
    """
    width = min(reals(t, THIN)[a], reals(t, THIN)[b])
    allowed = DEEP * width + max(0.0, -gap)
    if gap_after(t, desk, a, b, reals(t, NUMBERS)[DRIFT], 0.0) >= -allowed:
        return False
    begins, _ = goes_through(t, desk, a, b, gap, OVERLAP_WRONG)
    return bool(begins == math.inf)


@inner_kernel
def merge(t: IntArray, old: int, end: int, first: int, made: int) -> int:
    """Add the contacts posed from `old` to `end` of a pair to those met from `first` to `made`, by name.

    None is given up, not even for one of the same name elsewhere on the way: what was stopped there would go through
    again. Return the next free row.
    """
    value, index = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX)
    seen_value, seen_index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    for c in range(old, end):
        if made < value.shape[0]:
            r = place_by_name(value, index, first, made, seen_index[c, FEATURE])
            copy_contact(seen_value, seen_index, c, value, index, r)
        made += 1
    return made


@inner_kernel
def _leave_out_known(t: IntArray, old: int, end: int, first: int, made: int, near: float) -> int:
    """Leave out of the contacts met from `first` to `made` those posed, from `old` to `end`; return the next free row.

    What was asked for without effect is asked for in vain. Points and gaps are within `near`, and normals as close.
    """
    value, index = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX)
    seen_value, seen_index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    if made > value.shape[0]:
        return made
    free = first
    for r in range(first, made):
        known = False
        for c in range(old, end):
            same = seen_index[c, FEATURE] == index[r, FEATURE]
            for k in range(10):
                same = same and abs(seen_value[c, k] - value[r, k]) < (MEETING if 6 <= k < 9 else near)
            known = known or same
        if not known:
            free = copy_contact(value, index, r, value, index, free)
    return free


@inner_kernel
def _turn_evenly_from_now(t: IntArray, b: int) -> bool:
    """Let body `b` turn about the spin that the law knows, in this step, and not as it flies; tell whether it flew."""
    way, veer, aim = wholes(t, WAY), real_rows(t, VEER), real_rows(t, AIM)
    flew = way[b] == CONSERVING
    if flew:
        way[b] = EVEN
        for k in range(3):
            aim[b, 3 + k] -= veer[b, k]
            veer[b, k] = 0.0
    return bool(flew)


@inner_kernel
def posed_at(t: IntArray) -> int:
    """Return the row of poses to which contacts belong, those before overlaps are parted; Q is where bodies set out."""
    numbers = reals(t, NUMBERS)
    return int(Q_START if numbers[DRIFT] == numbers[H] else Q)


@inner_kernel
def _add_meetings(t: IntArray) -> tuple[int, int, bool]:
    """Follow the ways of all pairs; return how many contacts there are then, and how many pairs go through.

    At last, whether something is asked of them that was not before.
    """
    counts, value, index = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX)
    seen_value, seen_index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    met_value, met_index, thin = real_rows(t, MET_VALUE), whole_rows(t, MET_INDEX), reals(t, THIN)
    q, path, h, desk = real_rows(t, Q), real_rows(t, PATH), reals(t, NUMBERS)[DRIFT], pair_desk(t)
    meets, start = real_rows(t, MEETS), real_rows(t, posed_at(t))
    first, made, old, through, new = 0, 0, 0, 0, False
    while first < counts[CONTACTS]:
        last, pair = end_of_pair(index, first, counts[CONTACTS]), pair_of(index[first, FEATURE])
        while old < counts[SEEN] and pair_of(seen_index[old, FEATURE]) < pair:
            made = copy_contact(seen_value, seen_index, old, met_value, met_index, made)
            old += 1
        end = old
        while end < counts[SEEN] and pair_of(seen_index[end, FEATURE]) == pair:
            end += 1
        a, b, gap = index[first, A_BODY], index[first, B_BODY], least_of(value, first, last)
        width = min(thin[a], thin[b])
        lay_out_pair(t, desk, index[first, FEATURE])
        way, begins, late = h * pair_speed(desk, q, path, a, b, h), math.inf, math.inf
        if way > gap and (way > SWIFT * width or end == old):
            begins, late = goes_through(t, desk, a, b, gap, DEEP)
        begin = made
        if late <= h and not (counts[ROUNDS] >= FOLLOW_ROUNDS and _ends_in_overlap(t, desk, a, b, gap)):
            through += 1
            if counts[ROUNDS] >= PATIENT_ROUNDS:  # where others rebound, the law lets what parted before come closer
                new = new or meets[b, NO_REBOUND] == 0.0
                meets[b, NO_REBOUND] = 1.0  # which is never a fixed body
            if counts[ROUNDS] >= 2 * PATIENT_ROUNDS:
                new = _turn_evenly_from_now(t, a) or new
                new = _turn_evenly_from_now(t, b) or new
            margin = (h - late) * way / h + MEETING * width
            made, forbidden = write_meeting(t, desk, start, first, begin, late, margin, MEET)
            if not forbidden:  # what overlaps moves apart again already
                made, forbidden = write_meeting(t, desk, start, first, begin, begins, margin, STOP)
            if not forbidden:
                made, forbidden = write_meeting(t, desk, start, first, begin, late, margin, RECEDE)
            # Gaps are not linear where bodies turn. What is shallow is displaced; deeper, it came along another way.
            if not forbidden and _ends_in_overlap(t, desk, a, b, gap):
                made, _ = write_meeting(t, desk, start, first, begin, late, margin, DISPLACE)
            made = _leave_out_known(t, old, end, begin, made, MEETING * width)
            new = new or made > begin
        made = merge(t, old, end, begin, made)
        first, old = last, end
    while old < counts[SEEN]:
        made = copy_contact(seen_value, seen_index, old, met_value, met_index, made)
        old += 1
    return made, through, new


@inner_kernel
def follow(t: IntArray) -> int:
    """Follow all ways from where bodies are, overlaps parted, at the new velocities V; return what comes of it.

    ``FREE_WAYS``, ``POSE_AGAIN`` with contacts that were missing, or ``TOO_SMALL`` for these.
    """
    counts, h, fixed = wholes(t, COUNTS), reals(t, NUMBERS)[DRIFT], wholes(t, COUNTS)[FIXED]
    reach, bound, path = reals(t, REACH), reals(t, BOUND), real_rows(t, PATH)
    set_path(t, real_rows(t, V))
    for b in range(fixed, reach.shape[0]):
        speed = math.sqrt(path[b, 0] ** 2 + path[b, 1] ** 2 + path[b, 2] ** 2)
        speed += bound[b] * math.sqrt(path[b, 3] ** 2 + path[b, 4] ** 2 + path[b, 5] ** 2)
        reach[b] = max(reach[b], h * speed)
    found = find(t)
    if found < 0:
        counts[NEEDED] = found
        return TOO_SMALL
    counts[CONTACTS] = found
    made, through, new = _add_meetings(t)
    while through > 0 and not new and counts[ROUNDS] < FOLLOW_ROUNDS:  # what is asked for already was asked for in vain
        counts[ROUNDS] += PATIENT_ROUNDS - counts[ROUNDS] % PATIENT_ROUNDS
        made, through, new = _add_meetings(t)
    if through == 0 or counts[ROUNDS] >= FOLLOW_ROUNDS:
        reals(t, CHECK)[UNFOLLOWED] = through
        return FREE_WAYS
    counts[ROUNDS] += 1
    return POSE_AGAIN if take_over(t, made) else TOO_SMALL


@inner_kernel
def forget_rounds(t: IntArray) -> None:
    """Let bodies that went through others too often in a step rebound and fly again."""
    counts, meets, way = wholes(t, COUNTS), real_rows(t, MEETS), wholes(t, WAY)
    for b in range(meets.shape[0] if counts[ROUNDS] > 0 else 0):
        meets[b, NO_REBOUND] = 0.0
        if way[b] == EVEN:
            way[b] = CONSERVING
    counts[ROUNDS] = 0


@inner_kernel
def stage_again(t: IntArray, posed: bool) -> int:
    """Return the stage at which a step is done again that is `posed` already, or else begins as if for the first time.

    What it comes to must not depend on how much room there was for contacts.
    """
    counts, numbers = wholes(t, COUNTS), reals(t, NUMBERS)
    if posed:
        return int(ACTING)
    forget_rounds(t)
    counts[HITS] = abs(counts[HITS])
    return int(BEGIN_AGAIN if numbers[DRIFT] == numbers[H] else AIMED)


@inner_kernel
def check_ways(t: IntArray) -> bool:
    """Follow the ways of a step whose bodies have moved; if some go through others all is as before, but with contacts.

    False if there is no room for these: the step begins again then.
    """
    counts, numbers = wholes(t, COUNTS), reals(t, NUMBERS)
    q, q_0, start = real_rows(t, Q), real_rows(t, Q_0), real_rows(t, posed_at(t))
    v, v_0 = real_rows(t, V), real_rows(t, V_0)
    numbers[TIME] -= numbers[H]
    for b in range(q.shape[0]):
        for k in range(7):
            q[b, k] = q_0[b, k]
    outcome = follow(t)
    for b in range(q.shape[0]):
        for k in range(6):
            v[b, k] = v_0[b, k]
    if outcome == FREE_WAYS:
        perform(t[MOVE, 0], (t,))
        counts[STAGE] = GONE
        return True
    for b in range(q.shape[0]):
        for k in range(7):
            q[b, k] = start[b, k]
    counts[STAGE] = stage_again(t, outcome == POSE_AGAIN)
    counts[RESCUED] = 0
    return bool(outcome == POSE_AGAIN)
