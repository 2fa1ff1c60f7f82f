r"""The compiled step, hits: what one step leaves of a hit is taken by the next, also where the surface is gone by then.

A gap is closed by the end of the step, and not sooner: a body that comes on is left the approach that takes it to the
surface, and the next step, which finds it there, takes the rest. Where it has left the surface in the step, over an
edge, or the surface has moved away, nothing would, and where half of it has, what is left of the surface would turn it.
So contacts that stopped something and left something are posed once more, with the normal and the arms of the hit,
unless one that is posed near the same point takes them up and leaves next to nothing of it. They stop the approach, and
let loads do what they do in the step,

.. math:: n \cdot u \ge \min(0, n \cdot (u_{free} - u_k)) .

What loads do in a step is no hit: of what follows a convex surface, whose approach is :math:`v^2 h / 2 R` as long as
:math:`v^2 / R` is below the acceleration by which loads press it, nothing is asked; nor again of a hit that is done.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    B_BODY,
    CONTACTS,
    COUNTS,
    DIAGONAL,
    DISTANCE,
    DRIFT,
    DRIVE,
    FEATURE,
    FIXED,
    HIT_ARMS,
    HIT_INDEX,
    HITS,
    IMPULSE,
    INDEX,
    LAW_CAPACITY,
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
    SPRING,
    THIN,
    V_FREE,
    VALUE,
    H,
    P,
    Q,
    U,
    V,
)
from signorini.engine.contacts import approach, contact_arms, point_velocity
from signorini.engine.meet import pair_of, place_by_name
from signorini.geometry.meetings import common_arms
from signorini.math.rotation import dot
from signorini.posing.constants import HIT_LEFT, MEETING, SWIFT


@inner_kernel
def note_hits(t: IntArray) -> None:
    """Note the hits that the step behind left unfinished, before another begins."""
    counts, numbers, thin, position = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, THIN), wholes(t, POSITION)
    value, index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    impulse, u, diagonal, hits = real_rows(t, IMPULSE), real_rows(t, U), real_blocks(t, DIAGONAL), 0
    arms, hit_index = real_rows(t, HIT_ARMS), whole_rows(t, HIT_INDEX)
    q = real_rows(t, Q_START if numbers[DRIFT] == numbers[H] else Q_0)  # where contacts were found
    for c in range(counts[SEEN] if numbers[SPRING] == 0.0 else 0):  # springs give way as the user wants
        a, b, h, r = index[c, A_BODY], index[c, B_BODY], numbers[DRIFT], position[c]
        least = min(-u[r, 0], impulse[c, 0] * diagonal[r, 0, 0])
        if impulse[c, 0] <= 0.0 or h * least <= MEETING * min(thin[a], thin[b]):
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
def _width(t: IntArray, i: int) -> float:
    """Return the width of the thinner body of hit `i`."""
    index, thin = whole_rows(t, HIT_INDEX), reals(t, THIN)
    return float(min(thin[index[i, A_BODY]], thin[index[i, B_BODY]]))


@inner_kernel
def _along(t: IntArray, i: int, v: Array, driven: float) -> float:
    """Return the velocity of the points of hit `i` along its normal at velocities `v`, fixed bodies `driven` or not."""
    hit, hit_index = real_rows(t, HIT_ARMS), whole_rows(t, HIT_INDEX)
    a, b, n = hit_index[i, A_BODY], hit_index[i, B_BODY], (hit[i, 6], hit[i, 7], hit[i, 8])
    u = dot(n, point_velocity(v, b, (hit[i, 3], hit[i, 4], hit[i, 5])))
    arm_a = (hit[i, 0], hit[i, 1], hit[i, 2])
    if a < wholes(t, COUNTS)[FIXED]:
        return float(u - driven * dot(n, point_velocity(real_rows(t, DRIVE), a, arm_a)))
    return float(u - dot(n, point_velocity(v, a, arm_a)))


@inner_kernel
def _load(t: IntArray, i: int) -> float:
    """Return by how much loads change the velocity of the points of hit `i` along its normal in the step, or zero."""
    return float(min(0.0, _along(t, i, real_rows(t, V_FREE), 0.0) - _along(t, i, real_rows(t, V), 0.0)))


@inner_kernel
def _takes_up(t: IntArray, c: int, i: int) -> bool:
    """Tell whether contact `c` takes up hit `i` of its pair: near its point, and leaving next to nothing of it."""
    value, hit, width = real_rows(t, VALUE), real_rows(t, HIT_ARMS), _width(t, i)
    a, b = whole_rows(t, INDEX)[c, A_BODY], whole_rows(t, INDEX)[c, B_BODY]
    arm = contact_arms(value, real_rows(t, Q), c, a, b, wholes(t, COUNTS)[FIXED])[1]
    off, n_i = (arm[0] - hit[i, 3], arm[1] - hit[i, 4], arm[2] - hit[i, 5]), (hit[i, 6], hit[i, 7], hit[i, 8])
    n, u = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2]), approach(t, c, real_rows(t, V))
    stopped = max(0.0, -dot(n, u) - value[c, DISTANCE] / reals(t, NUMBERS)[DRIFT])
    left = -dot(n_i, u) - stopped * dot(n_i, n)
    return bool(left <= HIT_LEFT * -dot(n_i, u) and dot(off, off) <= (HIT_LEFT * width) ** 2)


@inner_kernel
def _is_open(t: IntArray, i: int, first: int) -> bool:
    """Tell whether hit `i` is to be finished; contacts of its pair begin at `first`."""
    counts, index = wholes(t, COUNTS), whole_rows(t, INDEX)
    pair, h = pair_of(whole_rows(t, HIT_INDEX)[i, FEATURE]), reals(t, NUMBERS)[DRIFT]
    if h * (_load(t, i) - _along(t, i, real_rows(t, V), 1.0)) <= MEETING * _width(t, i):
        return False
    c = first
    while c < counts[CONTACTS] and pair_of(index[c, FEATURE]) == pair:
        if _takes_up(t, c, i):
            return False
        c += 1
    return True


@inner_kernel
def _leave_out_others(t: IntArray) -> None:
    """Leave hits that are not to be finished out; they and contacts are sorted by name."""
    counts, index, arms = wholes(t, COUNTS), whole_rows(t, INDEX), real_rows(t, HIT_ARMS)
    hit_index, first, kept = whole_rows(t, HIT_INDEX), 0, 0
    for i in range(counts[HITS]):
        while first < counts[CONTACTS] and pair_of(index[first, FEATURE]) < pair_of(hit_index[i, FEATURE]):
            first += 1
        if _is_open(t, i, first):
            for k in range(9):
                arms[kept, k] = arms[i, k]
            for k in range(4):
                hit_index[kept, k] = hit_index[i, k]
            kept += 1
    counts[HITS] = kept


@inner_kernel
def finish_hits(t: IntArray) -> bool:
    """Add hits that nothing takes up to the contacts of the step, once; False if there is no room for them."""
    counts, value, index, q = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX), real_rows(t, Q)
    arms, hit_index, fixed = real_rows(t, HIT_ARMS), whole_rows(t, HIT_INDEX), counts[FIXED]
    _leave_out_others(t)
    if counts[CONTACTS] + counts[HITS] > min(value.shape[0], real_rows(t, P).shape[0] - counts[LAW_CAPACITY]):
        counts[NEEDED] = counts[CONTACTS] + counts[HITS]
        return False
    for i in range(counts[HITS]):
        a, b, n = hit_index[i, A_BODY], hit_index[i, B_BODY], arms[i, 6:9]
        arm_a, arm_b = (arms[i, 0], arms[i, 1], arms[i, 2]), (arms[i, 3], arms[i, 4], arms[i, 5])
        if a >= fixed:
            arm_a, arm_b = common_arms(q, a, b, arm_a, arm_b, SWIFT * _width(t, i))
        share, to_go = 1.0 if a < fixed else 0.5, -reals(t, NUMBERS)[DRIFT] * _load(t, i)
        r = place_by_name(value, index, 0, counts[CONTACTS], hit_index[i, FEATURE])
        for k in range(3):
            value[r, k] = q[a, k] + (arm_a[k] - share * to_go * n[k])
            value[r, POINT_B + k] = q[b, k] + (arm_b[k] + (1.0 - share) * to_go * n[k])
            value[r, NORMAL + k] = n[k]
        value[r, DISTANCE] = to_go
        for k in range(4):
            index[r, k] = hit_index[i, k]
        counts[CONTACTS] += 1
    counts[HITS] = -counts[HITS]  # until the next, lest the step begins again
    return True
