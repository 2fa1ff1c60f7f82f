"""The compiled step, contacts: islands, and the friction problem of each of them.

Islands are the bodies that hang together by contacts, fixed ones apart; nothing passes from one to another within a
step. Each is solved by itself, to the tolerance by its own measure, so that a hard one costs the others nothing.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import counted, inner_kernel, kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    AWAKE,
    B_BODY,
    BEFORE,
    BLOCK,
    BOUND,
    CELLS,
    CLEARED,
    CONTACTS,
    CORRECTED,
    COUNTS,
    CUT_ISLANDS,
    DIAGONAL,
    DIM,
    DISTANCE,
    DRIFT,
    DRIVE,
    FACTOR,
    FEATURE,
    FIND,
    FIRST_BODY,
    FIRST_CONTACT,
    FIXED,
    FOLLOWS,
    FRICTION,
    GAP,
    GATHER,
    GUESS,
    GUESS_FEATURE,
    GUESSES,
    IMPULSE,
    INDEX,
    ISLAND,
    ISLANDS,
    JOINED,
    LABEL,
    LIFT,
    LINK,
    MARK,
    MATERIAL,
    MEETS,
    MU,
    N_BODIES,
    N_CONTACTS,
    NO_REBOUND,
    NORMAL,
    NUMBERS,
    OLD,
    OLD_FEATURE,
    OLD_SOFTNESS,
    ORDER,
    OWN_ISLAND,
    PAIR,
    PARENT,
    PASSIVE,
    PLACE,
    POINT_A,
    POINT_B,
    POSE_TOGETHER,
    POSITION,
    Q_START,
    REACH,
    REBOUND,
    REFERENCE,
    RESTITUTION,
    ROWS,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    SHAPE,
    SHIFT,
    SIZE,
    SOFTNESS,
    SOFTNESS_COLUMNS,
    SOLID,
    SPRING,
    START,
    THIN,
    V_FREE,
    VALUE,
    VEER,
    VEERED,
    WIDTH,
    WORK,
    WORLD,
    Y_ROW,
    B,
    H,
    P,
    Q,
    V,
)
from signorini.engine.project import project_step
from signorini.engine.rebounds import ask_of_gaps, ask_of_islands
from signorini.engine.sleep import mark_awake
from signorini.math.rotation import cross, dot, tangent_frame
from signorini.posing.constants import DOUBT, GRAIN, MEETING, SPEED_ROUNDING, SWIFT

Vector = tuple[float, float, float]
Frame = tuple[Vector, Vector, Vector]


@inner_kernel
def find(t: IntArray) -> int:
    """Find the contacts within reach; return how many, or what there was no room for as a negative number."""
    return counted(
        t[FIND, 0],
        (
            real_rows(t, SHAPE),
            whole_rows(t, LABEL),
            real_rows(t, SOLID),
            whole_rows(t, LINK),
            whole_rows(t, PAIR),
            real_rows(t, Q),
            reals(t, REACH),
            real_rows(t, WORLD),
            wholes(t, CELLS),
            real_rows(t, WORK),
            whole_rows(t, MARK),
            real_rows(t, VALUE),
            whole_rows(t, INDEX),
        ),
    )


@inner_kernel
def _root(place: IntArray, b: int) -> int:
    """Return the root of the tree that body `b` is in, and flatten the way to it."""
    while place[b, PARENT] != b:
        place[b, PARENT] = place[place[b, PARENT], PARENT]
        b = place[b, PARENT]
    return b


@kernel
def find_islands(
    n_c: int, index: IntArray, fixed: int, place: IntArray, island: IntArray, order: IntArray, position: IntArray
) -> tuple[int, int]:
    """Sort contacts and bodies by islands, those first in which a body is awake; return how many, and their contacts.

    Within an island contacts keep their order, and bodies are numbered as contacts meet them.
    """
    for b in range(place.shape[0]):
        place[b, PARENT] = b
        place[b, Y_ROW] = -1
        place[b, OWN_ISLAND] = -1
    for c in range(n_c):
        if index[c, A_BODY] >= fixed:
            a, b = _root(place, index[c, A_BODY]), _root(place, index[c, B_BODY])
            place[max(a, b), PARENT] = min(a, b)
            place[min(a, b), AWAKE] |= place[max(a, b), AWAKE]
    count, awake, active = 0, 0, 0
    for asleep in range(2):
        for c in range(n_c):
            root = _root(place, index[c, B_BODY])
            if place[root, AWAKE] == asleep:
                continue
            if place[root, OWN_ISLAND] < 0:
                place[root, OWN_ISLAND] = count
                island[count, N_CONTACTS] = 0
                island[count, N_BODIES] = 0
                island[count, CLEARED] = 0
                count += 1
            i = place[root, OWN_ISLAND]
            island[i, N_CONTACTS] += 1
            for side in range(2):
                b = index[c, side]
                if b >= fixed and place[b, Y_ROW] < 0:
                    place[b, Y_ROW] = island[i, N_BODIES]
                    place[b, OWN_ISLAND] = i
                    island[i, N_BODIES] += 1
            active += 1 - asleep
        if asleep == 0:
            awake = count
        if active == n_c:
            break
    contacts, bodies = 0, 0
    for i in range(count):
        island[i, FIRST_CONTACT] = contacts
        island[i, FIRST_BODY] = bodies
        contacts += island[i, N_CONTACTS]
        bodies += island[i, N_BODIES]
        island[i, N_CONTACTS] = 0
    for c in range(n_c):
        i = place[index[c, B_BODY], OWN_ISLAND]
        k = island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
        island[i, N_CONTACTS] += 1
        order[k] = c
        position[c] = k
    return awake, active


@inner_kernel
def point_velocity(v: Array, b: int, r: Vector) -> Vector:
    """Return the velocity of the point of a body at `r` from its centre."""
    w = cross((v[b, 3], v[b, 4], v[b, 5]), r)
    return (v[b, 0] + w[0], v[b, 1] + w[1], v[b, 2] + w[2])


@inner_kernel
def _connect(L: Array, b: int, r: Vector, d: Vector, sign: float, gather: Array, k: int, i: int) -> None:
    """Write row i of the two blocks k, k + 1 that join a contact to body b: the mass-scaled wrench of direction d."""
    m = cross(r, d)
    for j in range(3):
        gather[k, i, j] = sign * d[j] * L[b, j]
        gather[k + 1, i, j] = sign * (m[0] * L[b, 3 + j] + m[1] * L[b, 6 + j] + m[2] * L[b, 9 + j])


@inner_kernel
def keep_contacts(t: IntArray, n_c: int) -> None:
    """Remember the contacts of the step for those who read them after the next look ahead."""
    value, index = real_rows(t, VALUE), whole_rows(t, INDEX)
    seen_value, seen_index = real_rows(t, SEEN_VALUE), whole_rows(t, SEEN_INDEX)
    for c in range(n_c):
        for k in range(10):
            seen_value[c, k] = value[c, k]
        for k in range(4):
            seen_index[c, k] = index[c, k]


@inner_kernel
def recall(t: IntArray, n_c: int) -> None:
    """Set the impulses of the last step as a guess; both lists are sorted by feature."""
    counts, index, position = wholes(t, COUNTS), whole_rows(t, SEEN_INDEX), wholes(t, POSITION)
    old_feature, old_impulse, p = wholes(t, OLD_FEATURE), real_rows(t, IMPULSE), real_rows(t, P)
    reference, old_softness, softness = real_rows(t, REFERENCE), real_rows(t, OLD_SOFTNESS), real_rows(t, SOFTNESS)
    at = 0
    for c in range(n_c):
        feature = index[c, FEATURE]
        while at < counts[OLD] and old_feature[at] < feature:
            at += 1
        known = at < counts[OLD] and old_feature[at] == feature
        for k in range(3):
            p[position[c], k] = old_impulse[at, k] if known else 0.0
            reference[position[c], k] = p[position[c], k]
        for k in range(SOFTNESS_COLUMNS):
            softness[position[c], k] = old_softness[at, k] if known else 0.0
    if counts[GUESSES] > 0:
        _recall_guess(t, n_c)


@inner_kernel
def _recall_guess(t: IntArray, n_c: int) -> None:
    """Set the impulses that were found when the step was last posed; of contacts of one name the first has them."""
    index, position, p = whole_rows(t, SEEN_INDEX), wholes(t, POSITION), real_rows(t, P)
    feature, guess, count = wholes(t, GUESS_FEATURE), real_rows(t, GUESS), wholes(t, COUNTS)[GUESSES]
    at = 0
    for c in range(n_c):
        while at < count and feature[at] < index[c, FEATURE]:
            at += 1
        known = at < count and feature[at] == index[c, FEATURE]
        for k in range(3):
            p[position[c], k] = guess[at, k] if known else 0.0
        at += 1 if known else 0


@inner_kernel
def connect_body(t: IntArray, b: int, arm: Vector, frame: Frame, sign: float, g: int) -> int:
    """Write the two blocks from `g` on that join a contact to body `b`; return where the next begin."""
    place, L, dim = whole_rows(t, PLACE), real_rows(t, FACTOR), wholes(t, COUNTS)[DIM]
    block, gather = wholes(t, BLOCK), real_blocks(t, GATHER)
    block[g] = 2 * place[b, Y_ROW]
    block[g + 1] = 2 * place[b, Y_ROW] + 1
    for i in range(3):
        if i < dim:
            _connect(L, b, arm, frame[i], sign, gather, g, i)
        else:
            for j in range(3):
                gather[g, i, j] = 0.0
                gather[g + 1, i, j] = 0.0
    return g + 2


@inner_kernel
def connect_bodies(
    t: IntArray, k: int, bodies: tuple[int, int], arms: tuple[Vector, Vector], frame: Frame, g: int
) -> int:
    """Write the blocks that join contact `k` to its moving bodies, from block `g` on; return where the next begin."""
    fixed = wholes(t, COUNTS)[FIXED]
    wholes(t, START)[k] = g
    for side in range(2):
        if bodies[side] >= fixed:
            g = connect_body(t, bodies[side], arms[side], frame, 1.0 if side == 1 else -1.0, g)
    return g


@inner_kernel
def write_diagonal(gather: Array, first: int, last: int, W: Array) -> None:
    """Write the diagonal block of a contact, `W` (3, 3), from the blocks that join it to its bodies."""
    for i in range(3):
        for j in range(i + 1):
            w = 0.0
            for m in range(first, last):
                w += gather[m, i, 0] * gather[m, j, 0] + gather[m, i, 1] * gather[m, j, 1]
                w += gather[m, i, 2] * gather[m, j, 2]
            W[i, j] = w
            W[j, i] = w


@inner_kernel
def contact_arms(value: Array, q: Array, c: int, a: int, b: int, fixed: int) -> tuple[Vector, Vector]:
    """Return the way from the centres of both bodies to the point where they feel the impulse.

    It is one common point: halfway across the gap, or on the moving body if the other is fixed. Of bodies that meet
    elsewhere (:mod:`.meet`) it is the common point there.
    """
    s = 1.0 if a < fixed else 0.5
    to_a, to_b = s * value[c, DISTANCE], (1.0 - s) * value[c, DISTANCE]
    r_a = (
        value[c, POINT_A] + to_a * value[c, NORMAL] - q[a, 0],
        value[c, POINT_A + 1] + to_a * value[c, NORMAL + 1] - q[a, 1],
        value[c, POINT_A + 2] + to_a * value[c, NORMAL + 2] - q[a, 2],
    )
    r_b = (
        value[c, POINT_B] - to_b * value[c, NORMAL] - q[b, 0],
        value[c, POINT_B + 1] - to_b * value[c, NORMAL + 1] - q[b, 1],
        value[c, POINT_B + 2] - to_b * value[c, NORMAL + 2] - q[b, 2],
    )
    return (r_a, r_b)


@inner_kernel
def approach(t: IntArray, c: int, v: Array) -> Vector:
    """Return the relative velocity of contact `c` ahead, of b as seen from a, at velocities `v` of moving bodies."""
    value, index, fixed = real_rows(t, VALUE), whole_rows(t, INDEX), wholes(t, COUNTS)[FIXED]
    a, b = index[c, A_BODY], index[c, B_BODY]
    arm_a, arm_b = contact_arms(value, real_rows(t, Q), c, a, b, fixed)
    to, fro = point_velocity(v, b, arm_b), point_velocity(real_rows(t, DRIVE) if a < fixed else v, a, arm_a)
    return (to[0] - fro[0], to[1] - fro[1], to[2] - fro[2])


@inner_kernel
def may_mislead(t: IntArray, c: int) -> bool:
    """Tell whether contact `c`, which is open, may close in the coming step otherwise than its gap and normal say.

    Until the end of the step points leave their tangents by at most half the square of the angle times their distance
    from the centre, other points come closest, and a normal between points that pass each other sideways turns. Where
    that is less than a pair needs to go through each other, only contacts that close can do harm by it; so may those
    that close head-on, of bodies that slide over an edge. What touches and does not come closer holds.
    """
    value, index, numbers, bound = real_rows(t, VALUE), whole_rows(t, INDEX), reals(t, NUMBERS), reals(t, BOUND)
    fixed, h, gap = wholes(t, COUNTS)[FIXED], numbers[DRIFT], value[c, DISTANCE]
    a, b = index[c, A_BODY], index[c, B_BODY]
    width = min(reals(t, THIN)[a], reals(t, THIN)[b])
    v_free, n = real_rows(t, V_FREE), (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    if gap <= MEETING * width and h * dot(n, approach(t, c, real_rows(t, V))) >= -MEETING * width:
        return False
    v_a, v_b = real_rows(t, DRIVE) if a < fixed else v_free, v_free
    u = approach(t, c, v_free)
    left = gap + h * dot(n, u)
    if left < 0.0:
        return True
    sideways = math.sqrt(max(0.0, h * h * dot(u, u) - (left - gap) ** 2))
    error = min(sideways, 0.5 * sideways * sideways / max(gap, MEETING * width))
    turned = 0.0
    for side in range(2):
        v, body = (v_a, a) if side == 0 else (v_b, b)
        square = h * h * (v[body, 3] ** 2 + v[body, 4] ** 2 + v[body, 5] ** 2)
        if square > 0.0:
            turned += math.sqrt(square) * (bound[body] + gap)
            error += min(2.0, 0.5 * square) * (bound[body] + gap)
    return bool(error > DOUBT * width and left < error and sideways + turned > SWIFT * width)


@inner_kernel
def count_doubts(t: IntArray) -> int:
    """Return the number of contacts ahead that may mislead."""
    counts, value, doubts = wholes(t, COUNTS), real_rows(t, VALUE), 0
    if counts[FOLLOWS] == 1:
        for c in range(counts[CONTACTS]):
            if value[c, DISTANCE] > 0.0 and may_mislead(t, c):
                doubts += 1
    return doubts


@inner_kernel
def _size(v: Array, b: int, u: Vector) -> float:
    """Return the size of the numbers that the velocity `u` of a point of body `b` is the sum of."""
    return math.sqrt(v[b, 0] ** 2 + v[b, 1] ** 2 + v[b, 2] ** 2) + math.sqrt(dot(u, u))


@inner_kernel
def _veered(t: IntArray, b: int, r: Vector, n: Vector) -> float:
    """Return the velocity along `n` that its flight adds to the point of a body at `r`, in the mean of the step."""
    veer = real_rows(t, VEER)
    return float(dot(n, cross((veer[b, 0], veer[b, 1], veer[b, 2]), r)))


@inner_kernel
def pose_contact(t: IntArray, k: int, c: int) -> tuple[tuple[int, int], tuple[Vector, Vector], Frame]:
    """Write velocities, gap and coefficients of contact `c`, the k-th to be solved; return bodies, arms and frame."""
    counts, value, index = wholes(t, COUNTS), real_rows(t, VALUE), whole_rows(t, INDEX)
    q, v, v_free, drive = real_rows(t, Q), real_rows(t, V), real_rows(t, V_FREE), real_rows(t, DRIVE)
    b_free, before, bound, fixed = real_rows(t, B), real_rows(t, BEFORE), reals(t, BOUND), counts[FIXED]
    a, b, material = index[c, A_BODY], index[c, B_BODY], index[c, MATERIAL]
    n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    tangent, other = tangent_frame(n)
    frame = (n, tangent, other)
    r_a, r_b = contact_arms(value, q, c, a, b, fixed)
    after_b, before_b = point_velocity(v_free, b, r_b), point_velocity(v, b, r_b)
    if a < fixed:
        after_a = point_velocity(drive, a, r_a)
        before_a = after_a
    else:
        after_a, before_a = point_velocity(v_free, a, r_a), point_velocity(v, a, r_a)
    speed = _size(v_free, b, after_b) + _size(drive if a < fixed else v_free, a, after_a)
    lost = 0.0
    if counts[JOINED] == 1:
        for i in range(3):
            lost = max(lost, GRAIN * (abs(value[c, POINT_B + i]) + bound[b]) / reals(t, NUMBERS)[DRIFT])
    for i in range(3):
        b_free[k, i] = 0.0
        before[k, i] = 0.0
        if i < counts[DIM]:
            b_free[k, i] = dot(frame[i], after_b) - dot(frame[i], after_a)
            if abs(b_free[k, i]) <= max(SPEED_ROUNDING * speed, lost):
                b_free[k, i] = 0.0
            before[k, i] = dot(frame[i], before_b) - dot(frame[i], before_a)
            if abs(before[k, i]) <= lost:
                before[k, i] = 0.0
    reals(t, MU)[k] = reals(t, FRICTION)[material]
    meets = real_rows(t, MEETS)
    rebounds = meets[a, NO_REBOUND] == 0.0 and meets[b, NO_REBOUND] == 0.0
    reals(t, REBOUND)[k] = reals(t, RESTITUTION)[material] if rebounds else 0.0
    reals(t, VEERED)[k] = _veered(t, b, r_b, n) - (_veered(t, a, r_a, n) if a >= fixed else 0.0)
    reals(t, GAP)[k] = value[c, DISTANCE]
    reals(t, SIZE)[k] = bound[b] if a < fixed else min(bound[a], bound[b])
    reals(t, WIDTH)[k] = min(reals(t, THIN)[a], reals(t, THIN)[b])
    return ((a, b), (r_a, r_b), frame)


@inner_kernel
def ask_springs(t: IntArray, n_c: int) -> None:
    """Ask for the gap at the end of the step, open or not, that springs answer; they are at rest without impulse."""
    gap, shift, lift, reference = reals(t, GAP), reals(t, SHIFT), reals(t, CORRECTED), real_rows(t, REFERENCE)
    drift = reals(t, NUMBERS)[DRIFT]
    for k in range(n_c):
        shift[k] = gap[k] / drift
        lift[k] = 0.0
        for i in range(3):
            reference[k, i] = 0.0


@inner_kernel
def pose_step(t: IntArray) -> None:
    """Pose the friction problems of all islands that are awake, and set the guess."""
    counts, numbers, order, n_c = wholes(t, COUNTS), reals(t, NUMBERS), wholes(t, ORDER), wholes(t, COUNTS)[CONTACTS]
    counts[SEEN] = n_c
    counts[ROWS] = n_c
    mark_awake(t)
    index, place, island = whole_rows(t, INDEX), whole_rows(t, PLACE), whole_rows(t, ISLAND)
    counts[ISLANDS], counts[ACTIVE] = find_islands(n_c, index, counts[FIXED], place, island, order, wholes(t, POSITION))
    if t[CUT_ISLANDS, 0] != 0:
        perform(t[CUT_ISLANDS, 0], (t,))
    keep_contacts(t, n_c)
    recall(t, n_c)
    if numbers[DRIFT] == numbers[H]:  # else the step began elsewhere
        q, q_start = real_rows(t, Q), real_rows(t, Q_START)
        for b in range(q.shape[0]):
            for k in range(7):
                q_start[b, k] = q[b, k]
    n_c = counts[ACTIVE]
    if t[POSE_TOGETHER, 0] != 0:
        perform(t[POSE_TOGETHER, 0], (t,))
    else:
        diagonal, gather = real_blocks(t, DIAGONAL), real_blocks(t, GATHER)
        g = n_c - n_c
        for k in range(n_c):
            bodies, arms, frame = pose_contact(t, k, order[k])
            last = connect_bodies(t, k, bodies, arms, frame, g)
            write_diagonal(gather, g, last, diagonal[k])
            g = last
        wholes(t, START)[n_c] = g
    if numbers[SPRING] > 0.0:
        ask_springs(t, n_c)
        return
    if numbers[LIFT] == 0.0:
        project_step(t)
    if counts[PASSIVE] == 1:
        ask_of_islands(t, numbers[LIFT])
    else:
        ask_of_gaps(t, n_c - n_c, n_c, numbers[LIFT], 1.0)
