r"""The compiled step, hits: what one step leaves of a hit is taken by the next, also where the surface is gone by then.

A gap is closed by the end of the step, and not sooner: a body that comes on is left the approach that takes it to the
surface, and the next step, which finds it there, takes the rest. Where it has left the surface in the step, over an
edge, or the surface has moved away, nothing would. So pairs that pressed, that still approach each other, and that have
nothing before them any more where they pressed, are given their contact once more, with the normal and the arms of the
hit. It asks that they stop to approach each other, and leaves them what loads do to them in the coming step,

.. math:: n \cdot u \ge \min(0, n \cdot (u_{free} - u_k)) .

Contacts of a pair that touch or close ahead, with normals alike, are what it still has before it.
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
    Q_0,
    Q_START,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    THIN,
    TO_FINISH,
    V_FREE,
    VALUE,
    H,
    P,
    Q,
    U,
    V,
)
from signorini.engine.contacts import contact_arms, point_velocity
from signorini.engine.meet import pair_of, place_by_name
from signorini.geometry.meetings import common_arms
from signorini.geometry.vectors import Vector
from signorini.math.rotation import dot
from signorini.posing.constants import ALIKE, MEETING, SWIFT


@inner_kernel
def _has_it_before(t: IntArray, first: int, pair: int, n: Vector) -> bool:
    """Tell whether the contacts ahead, of which those of the pair begin at `first`, hold one with a normal like `n`."""
    value, index = real_rows(t, VALUE), whole_rows(t, INDEX)
    c = first
    while c < wholes(t, COUNTS)[CONTACTS] and pair_of(index[c, FEATURE]) == pair:
        if dot(n, (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])) > ALIKE:
            return True
        c += 1
    return False


@inner_kernel
def note_hits(t: IntArray) -> None:
    """Note the hits that the step behind left unfinished, when the contacts ahead are known."""
    counts, numbers, thin, position = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, THIN), wholes(t, POSITION)
    value, index, ahead_index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX), whole_rows(t, INDEX)
    impulse, u, arms, hit_index = (
        real_rows(t, IMPULSE),
        real_rows(t, U),
        real_rows(t, HIT_ARMS),
        whole_rows(t, HIT_INDEX),
    )
    q, hits, ahead = real_rows(t, Q_START if numbers[DRIFT] == numbers[H] else Q_0), 0, 0
    for c in range(counts[SEEN]):
        a, b = index[c, A_BODY], index[c, B_BODY]
        if impulse[c, 0] <= 0.0 or -numbers[DRIFT] * u[position[c], 0] <= MEETING * min(thin[a], thin[b]):
            continue
        pair, n = pair_of(index[c, FEATURE]), (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
        while ahead < counts[CONTACTS] and pair_of(ahead_index[ahead, FEATURE]) < pair:
            ahead += 1
        if _has_it_before(t, ahead, pair, n):
            continue
        arm_a, arm_b = contact_arms(value, q, c, a, b, counts[FIXED])
        for k in range(3):
            arms[hits, k] = arm_a[k]
            arms[hits, 3 + k] = arm_b[k]
            arms[hits, 6 + k] = n[k]
        for k in range(4):
            hit_index[hits, k] = index[c, k]
        hits += 1
    counts[HITS] = hits


@inner_kernel
def finish_hits(t: IntArray) -> bool:
    """Add the hits that wait to the contacts of the coming step, once; False if there is no room for them."""
    counts, value, index = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX)
    arms, hit_index, fixed, drift = (
        real_rows(t, HIT_ARMS),
        whole_rows(t, HIT_INDEX),
        counts[FIXED],
        reals(t, NUMBERS)[DRIFT],
    )
    q, v, v_free = real_rows(t, Q), real_rows(t, V), real_rows(t, V_FREE)
    room = min(value.shape[0], real_rows(t, P).shape[0] - counts[LAW_ROOM])
    if counts[CONTACTS] + counts[TO_FINISH] > room:
        counts[NEEDED] = counts[CONTACTS] + counts[TO_FINISH]
        return False
    for i in range(counts[TO_FINISH]):
        a, b, n = hit_index[i, A_BODY], hit_index[i, B_BODY], (arms[i, 6], arms[i, 7], arms[i, 8])
        arm_a, arm_b = (arms[i, 0], arms[i, 1], arms[i, 2]), (arms[i, 3], arms[i, 4], arms[i, 5])
        if a >= fixed:
            near = SWIFT * min(reals(t, THIN)[a], reals(t, THIN)[b])
            arm_a, arm_b = common_arms(q, a, b, arm_a, arm_b, near)
        load = dot(n, point_velocity(v_free, b, arm_b)) - dot(n, point_velocity(v, b, arm_b))
        if a >= fixed:
            load -= dot(n, point_velocity(v_free, a, arm_a)) - dot(n, point_velocity(v, a, arm_a))
        to_go, share = max(0.0, -drift * load), 1.0 if a < fixed else 0.5
        r = place_by_name(value, index, counts[CONTACTS] - counts[CONTACTS], counts[CONTACTS], hit_index[i, FEATURE])
        for k in range(3):
            value[r, k] = q[a, k] + (arm_a[k] - share * to_go * n[k])
            value[r, POINT_B + k] = q[b, k] + (arm_b[k] + (1.0 - share) * to_go * n[k])
            value[r, NORMAL + k] = n[k]
        value[r, DISTANCE] = to_go
        for k in range(4):
            index[r, k] = hit_index[i, k]
        counts[CONTACTS] += 1
    counts[TO_FINISH] = 0
    return True
