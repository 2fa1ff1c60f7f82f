r"""The compiled step, hits: what one step leaves of a hit is taken by the next, also where the surface is gone by then.

A gap is closed by the end of the step, and not sooner: a body that comes on is left the approach that takes it to the
surface, and the next step, which finds it there, takes the rest. Where it has left the surface in the step, over an
edge, or the surface has moved away, nothing would, and where half of it has, what is left of the surface would turn it.
So contacts that pressed and still approach are posed once more, with the normal and the arms of the hit, unless one
posed takes them up: near the same point, with a normal like theirs, and closing. They stop the approach, and let loads
do what they do in the step,

.. math:: n \cdot u \ge \min(0, n \cdot (u_{free} - u_k)) .
"""

from __future__ import annotations

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    B_BODY,
    CONTACTS,
    COUNTS,
    DISTANCE,
    DRIFT,
    FEATURE,
    FIXED,
    HIT_ARMS,
    HIT_INDEX,
    HITS,
    IMPULSE,
    INDEX,
    LAW_ROOM,
    NEEDED,
    NORMAL,
    NUMBERS,
    POINT_B,
    POSITION,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    SPRING,
    THIN,
    V_FREE,
    VALUE,
    P,
    Q,
    U,
    V,
)
from signorini.engine.contacts import approach, contact_arms, point_velocity
from signorini.engine.meet import pair_of, place_by_name, posed_at
from signorini.geometry.meetings import common_arms
from signorini.math.rotation import dot
from signorini.posing.constants import ALIKE, MEETING, SWIFT


@inner_kernel
def note_hits(t: IntArray) -> None:
    """Note the hits that the step behind left unfinished, before another begins."""
    counts, numbers, thin, position = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, THIN), wholes(t, POSITION)
    value, index, q = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX), real_rows(t, posed_at(t))
    impulse, u, hits = real_rows(t, IMPULSE), real_rows(t, U), 0
    arms, hit_index = real_rows(t, HIT_ARMS), whole_rows(t, HIT_INDEX)
    for c in range(counts[SEEN] if numbers[SPRING] == 0.0 else 0):  # springs give way as the user wants
        a, b = index[c, A_BODY], index[c, B_BODY]
        if impulse[c, 0] <= 0.0 or -numbers[DRIFT] * u[position[c], 0] <= MEETING * min(thin[a], thin[b]):
            continue
        arm_a, arm_b = contact_arms(value, q, c, a, b, counts[FIXED])
        for k in range(3):
            arms[hits, k] = arm_a[k]
            arms[hits, 3 + k] = arm_b[k]
            arms[hits, 6 + k] = value[c, NORMAL + k]
        for k in range(4):
            hit_index[hits, k] = index[c, k]
        hits += 1
    counts[HITS] = hits


@inner_kernel
def _takes_up(t: IntArray, c: int, i: int) -> bool:
    """Tell whether contact `c` takes up hit `i` of its pair: near its point, with a normal like its, and closing."""
    value, hit, h = real_rows(t, VALUE), real_rows(t, HIT_ARMS), reals(t, NUMBERS)[DRIFT]
    a, b = whole_rows(t, INDEX)[c, A_BODY], whole_rows(t, INDEX)[c, B_BODY]
    width, n = min(reals(t, THIN)[a], reals(t, THIN)[b]), (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    arm = contact_arms(value, real_rows(t, Q), c, a, b, wholes(t, COUNTS)[FIXED])[1]
    off = (arm[0] - hit[i, 3], arm[1] - hit[i, 4], arm[2] - hit[i, 5])
    if dot(off, off) > (SWIFT * width) ** 2 or dot(n, (hit[i, 6], hit[i, 7], hit[i, 8])) <= ALIKE:
        return False
    return bool(value[c, DISTANCE] + h * dot(n, approach(t, c, real_rows(t, V))) <= MEETING * width)


@inner_kernel
def _leave_out_taken_up(t: IntArray) -> None:
    """Leave hits that contacts posed take up out of those to be finished; both lists are sorted by name."""
    counts, index, arms = wholes(t, COUNTS), whole_rows(t, INDEX), real_rows(t, HIT_ARMS)
    hit_index, first, kept = whole_rows(t, HIT_INDEX), 0, 0
    for i in range(counts[HITS]):
        pair = pair_of(hit_index[i, FEATURE])
        while first < counts[CONTACTS] and pair_of(index[first, FEATURE]) < pair:
            first += 1
        c = first
        while c < counts[CONTACTS] and pair_of(index[c, FEATURE]) == pair and not _takes_up(t, c, i):
            c += 1
        if c < counts[CONTACTS] and pair_of(index[c, FEATURE]) == pair:
            continue
        for k in range(9):
            arms[kept, k] = arms[i, k]
        for k in range(4):
            hit_index[kept, k] = hit_index[i, k]
        kept += 1
    counts[HITS] = kept


@inner_kernel
def finish_hits(t: IntArray) -> bool:
    """Add hits that nothing takes up to the contacts of the step, once; False if there is no room for them."""
    counts, value, index = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX)
    arms, hit_index, fixed = real_rows(t, HIT_ARMS), whole_rows(t, HIT_INDEX), counts[FIXED]
    q, v, v_free, thin = real_rows(t, Q), real_rows(t, V), real_rows(t, V_FREE), reals(t, THIN)
    _leave_out_taken_up(t)
    if counts[CONTACTS] + counts[HITS] > min(value.shape[0], real_rows(t, P).shape[0] - counts[LAW_ROOM]):
        counts[NEEDED] = counts[CONTACTS] + counts[HITS]
        return False
    for i in range(counts[HITS]):
        a, b, n = hit_index[i, A_BODY], hit_index[i, B_BODY], (arms[i, 6], arms[i, 7], arms[i, 8])
        arm_a, arm_b = (arms[i, 0], arms[i, 1], arms[i, 2]), (arms[i, 3], arms[i, 4], arms[i, 5])
        load, share = dot(n, point_velocity(v_free, b, arm_b)) - dot(n, point_velocity(v, b, arm_b)), 1.0
        if a >= fixed:
            arm_a, arm_b = common_arms(q, a, b, arm_a, arm_b, SWIFT * min(thin[a], thin[b]))
            load -= dot(n, point_velocity(v_free, a, arm_a)) - dot(n, point_velocity(v, a, arm_a))
            share = 0.5
        to_go = max(0.0, -reals(t, NUMBERS)[DRIFT] * load)
        r = place_by_name(value, index, 0, counts[CONTACTS], hit_index[i, FEATURE])
        for k in range(3):
            value[r, k] = q[a, k] + (arm_a[k] - share * to_go * n[k])
            value[r, POINT_B + k] = q[b, k] + (arm_b[k] + (1.0 - share) * to_go * n[k])
            value[r, NORMAL + k] = n[k]
        value[r, DISTANCE] = to_go
        for k in range(4):
            index[r, k] = hit_index[i, k]
        counts[CONTACTS] += 1
    counts[HITS] = 0
    return True
