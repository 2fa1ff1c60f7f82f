"""The compiled step, joints: limits, dry friction and motors, posed among the contacts of their islands.

Each law is one block of the friction problem, numbered after the contacts and named after the largest feature, see
:mod:`~signorini.posing.joint_space` for what it says. The directions of its block along which nothing happens
get the mobility of the law itself, in a row of y of their own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.bodies import body_energy
from signorini.dynamics.constants import LIMIT_MARGIN, NEAR_LIMIT
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    B_BODY,
    BEFORE,
    BLOCK,
    CONTACTS,
    CORRECTED,
    COUNTS,
    DIAGONAL,
    DIM,
    DRIFT,
    DRIVE,
    FEATURE,
    FIRST_BODY,
    FIXED,
    FREE,
    GAP,
    GATHER,
    GRAVITY,
    HAS_JOINTS,
    INERTIA,
    ISLAND,
    ISLANDS,
    JOINTS,
    LIFT,
    MASS,
    MATERIAL,
    MAY_CLOSE,
    MU,
    N_BODIES,
    NUMBERS,
    ORDER,
    OWN_ISLAND,
    PASSIVE,
    PLACE,
    POSITION,
    Q_START,
    REBOUND,
    REFERENCE,
    RHO,
    ROOT,
    ROWS,
    SEEN,
    SEEN_INDEX,
    SHIFT,
    SIZE,
    SLIP,
    SPRING,
    START,
    V_FREE,
    VEERED,
    WIDTH,
    Y_ROW,
    B,
    H,
    Q,
    V,
)
from signorini.engine.contacts import (
    ask_springs,
    find_islands,
    keep_contacts,
    pose_contact,
    recall,
    write_diagonal,
)
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.blocks import connect_joined, emit, hold
from signorini.engine.joints.rows import climb
from signorini.engine.joints.trees import gauge_rows, row_speed
from signorini.engine.project import project_step
from signorini.engine.rebounds import ask_of_gaps, ask_of_islands
from signorini.engine.sleep import mark_awake
from signorini.math.rotation import unrotate
from signorini.posing.constants import BRAKING_SHARE, HELD_SPEED
from signorini.posing.gap_law import normal_shifts

LAST_NAME = np.iinfo(np.int64).max
"""Laws are named up to here, those of one kind together: after the features of all contacts."""


@inner_kernel
def _agility(t: IntArray, j: IntArray, c: int) -> float:
    """Return the root of the mobility of coordinate `c` on bodies without joints."""
    body, J, fixed, s = wholes(j, ja.GAUGE_BODY), real_rows(j, ja.GAUGE_JACOBIAN), wholes(t, COUNTS)[FIXED], 0.0
    mass, free, root, q = reals(t, MASS), real_rows(t, FREE), real_blocks(t, ROOT), real_rows(t, Q)
    for term in range(2 * c, 2 * c + 2):
        b = body[term]
        if b < fixed:
            continue
        x = unrotate((q[b, 3], q[b, 4], q[b, 5], q[b, 6]), (J[term, 3], J[term, 4], J[term, 5]))
        for k in range(3):
            s += free[b, k] * J[term, k] ** 2 / mass[b]
            s += (root[b, 0, k] * x[0] + root[b, 1, k] * x[1] + root[b, 2, k] * x[2]) ** 2
    return math.sqrt(s)


@inner_kernel
def _impetus(t: IntArray, j: IntArray) -> float:
    """Return what can drive a coordinate in this step, see :func:`signorini.dynamics.limits.impetus`."""
    fixed, h, drive = wholes(t, COUNTS)[FIXED], reals(t, NUMBERS)[DRIFT], real_rows(t, DRIVE)
    mass, inertia, q, v, v_free = (
        reals(t, MASS),
        real_blocks(t, INERTIA),
        real_rows(t, Q),
        real_rows(t, V),
        real_rows(t, V_FREE),
    )
    joint, setting, before, after, pushed = wholes(j, ja.GAUGE_JOINT), real_rows(j, ja.SETTING), 0.0, 0.0, 0.0
    for b in range(fixed):
        for k in range(6):
            if drive[b, k] != 0.0:
                return math.inf
    for b in range(fixed, q.shape[0]):
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        before += body_energy(mass[b], inertia[b], e, (v[b, 0], v[b, 1], v[b, 2], v[b, 3], v[b, 4], v[b, 5]))
        x = v_free[b]
        after += body_energy(mass[b], inertia[b], e, (x[0], x[1], x[2], x[3], x[4], x[5]))
    for c in range(joint.shape[0]):
        if setting[joint[c], ja.EFFORT] < math.inf:
            pushed += h * setting[joint[c], ja.EFFORT] * _agility(t, j, c)
    return math.sqrt(2.0 * max(before, after)) + pushed


@inner_kernel
def _acts(t: IntArray, j: IntArray, kind: int, c: int, impetus: float) -> bool:
    """Tell whether a law of this kind acts along coordinate `c` in the step."""
    gauge, g, h = reals(j, ja.GAUGE), wholes(j, ja.GAUGE_JOINT)[c], reals(t, NUMBERS)[DRIFT]
    setting = real_rows(j, ja.SETTING)
    if kind == ja.DRY_FRICTION:
        return bool(setting[g, ja.FRICTION] > 0.0)
    if kind == ja.MOTOR:
        return bool(setting[g, ja.EFFORT] < math.inf)
    gap = gauge[c] - setting[g, ja.LOW] if kind == ja.LOW_LIMIT else setting[g, ja.HIGH] - gauge[c]
    if not gap < math.inf:
        return False
    speed = row_speed(gauge_rows(j), c, real_rows(t, V_FREE), ja.EVERY_BODY) + reals(j, ja.GAUGE_RATE)[c]
    near = NEAR_LIMIT * h * abs(speed)
    if not gap <= LIMIT_MARGIN + near:
        return False
    return bool(gap <= near or impetus == math.inf or gap <= near + h * _agility(t, j, c) * impetus)


@inner_kernel
def _add_inequality(t: IntArray, j: IntArray, row: int, l: int, c: int) -> None:
    """List inequality `c` as law `l` and `row` of the step: as a lower limit, however far off it is."""
    fixed, index, gauge = wholes(t, COUNTS)[FIXED], whole_rows(t, SEEN_INDEX), reals(j, ja.GAUGE)
    law, value, terms, body = (
        whole_rows(j, ja.LAW),
        real_rows(j, ja.LAW_VALUE),
        wholes(j, ja.GAUGE_TERMS),
        wholes(j, ja.GAUGE_BODY),
    )
    psi = gauge[c]
    if reals(t, NUMBERS)[DRIFT] < reals(t, NUMBERS)[H]:  # as limits do
        psi = max(psi, 0.0)
    law[l, ja.LAW_KIND] = ja.LOW_LIMIT
    law[l, ja.LAW_GAUGE] = c
    value[l, ja.SIDE] = 1.0
    value[l, ja.LAW_PSI] = psi
    value[l, ja.LAW_RATE] = reals(j, ja.GAUGE_RATE)[c]
    value[l, ja.LAW_BOUND] = 0.0
    value[l, ja.LAW_IMPULSE] = 0.0
    for term in range(terms[c], terms[c + 1]):
        if body[term] >= fixed:  # all of them are in one mechanism
            index[row, A_BODY] = body[term]
            index[row, B_BODY] = body[term]
    index[row, FEATURE] = LAST_NAME - gauge.shape[0] + c
    index[row, MATERIAL] = -1


@inner_kernel
def _choose_laws(t: IntArray, j: IntArray, n_c: int) -> int:
    """List the laws of the step after its `n_c` contacts; return how many."""
    h, fixed, index = reals(t, NUMBERS)[H], wholes(t, COUNTS)[FIXED], whole_rows(t, SEEN_INDEX)
    joint, gauge, rate = wholes(j, ja.GAUGE_JOINT), reals(j, ja.GAUGE), reals(j, ja.GAUGE_RATE)
    setting, motion, law, value = (
        real_rows(j, ja.SETTING),
        real_rows(j, ja.MOTION),
        whole_rows(j, ja.LAW),
        real_rows(j, ja.LAW_VALUE),
    )
    body, n_j, count, impetus = wholes(j, ja.GAUGE_BODY), setting.shape[0], 0, _impetus(t, j)
    n_g, n_i = joint.shape[0], gauge.shape[0] - joint.shape[0]
    drifts = reals(t, NUMBERS)[DRIFT] < h
    for kind in range(4):
        for c in range(n_g):
            if not _acts(t, j, kind, c, impetus):
                continue
            g, side = joint[c], -1.0 if kind == ja.HIGH_LIMIT else 1.0
            a, b = body[2 * c], body[2 * c + 1]
            psi, bound, own = 0.0, 0.0, side * rate[c]
            if kind == ja.LOW_LIMIT:
                psi = gauge[c] - setting[g, ja.LOW]
            elif kind == ja.HIGH_LIMIT:
                psi = setting[g, ja.HIGH] - gauge[c]
            elif kind == ja.DRY_FRICTION:
                bound = h * setting[g, ja.FRICTION]
            else:
                bound = h * setting[g, ja.EFFORT]
                psi = gauge[c] - motion[g, ja.AIM]
                own -= motion[g, ja.AIM_RATE]
            if drifts and kind <= ja.HIGH_LIMIT:  # made good, what a body has drifted beyond would throw it back
                psi = max(psi, 0.0)
            law[count, ja.LAW_KIND] = kind
            law[count, ja.LAW_GAUGE] = c
            value[count, ja.SIDE] = side
            value[count, ja.LAW_PSI] = psi
            value[count, ja.LAW_RATE] = own
            value[count, ja.LAW_BOUND] = bound
            value[count, ja.LAW_IMPULSE] = 0.0
            row = n_c + count
            index[row, A_BODY] = a if b >= fixed else b
            index[row, B_BODY] = b if b >= fixed else a
            index[row, FEATURE] = LAST_NAME - n_i - 4 * n_j + kind * n_j + g
            index[row, MATERIAL] = -1
            count += 1
    for c in range(n_g, n_g + n_i):
        _add_inequality(t, j, n_c + count, count, c)
        count += 1
    wholes(j, ja.TALLY)[ja.LAWS] = count
    return count


@inner_kernel
def _find_joined_islands(t: IntArray, j: IntArray, n_c: int, rows: int) -> None:
    """Sort contacts and laws by islands; each tree is one body that has several rows of y."""
    counts, index, place, island = (
        wholes(t, COUNTS),
        whole_rows(t, SEEN_INDEX),
        whole_rows(t, PLACE),
        whole_rows(t, ISLAND),
    )
    group, tree_of, tree = whole_rows(j, ja.GROUP), whole_rows(j, ja.TREE_OF), whole_rows(j, ja.TREE)
    fixed, law, tree_body, start = (
        counts[FIXED],
        whole_rows(j, ja.LAW),
        wholes(j, ja.TREE_BODY),
        wholes(j, ja.MECHANISM_START),
    )
    for c in range(rows):
        for side in range(2):
            b = index[c, side]
            group[c, side] = b
            if b >= fixed and tree_of[b, ja.MECHANISM] >= 0:
                group[c, side] = tree[tree_of[b, ja.MECHANISM], ja.LEAST_BODY]
    order, position = wholes(t, ORDER), wholes(t, POSITION)
    counts[ISLANDS], counts[ACTIVE] = find_islands(rows, group, fixed, place, island, order, position)
    for i in range(counts[ISLANDS]):
        island[i, HAS_JOINTS] = 0
    for k in range(tree.shape[0]):
        b = tree[k, ja.LEAST_BODY]
        i = place[b, OWN_ISLAND]
        tree[k, ja.ACTS] = 1 if place[b, Y_ROW] >= 0 else 0
        if place[b, Y_ROW] < 0:
            continue
        island[i, HAS_JOINTS] = 1
        tree[k, ja.MORE_ROWS] = island[i, N_BODIES]
        island[i, N_BODIES] += max((tree[k, ja.ALL_FREEDOMS] + 5) // 6 - 1, 0)
        for at in range(start[k], start[k + 1]):
            place[tree_body[at], Y_ROW] = place[b, Y_ROW]
            place[tree_body[at], OWN_ISLAND] = i
    for l in range(rows - n_c):
        i = place[index[n_c + l, B_BODY], OWN_ISLAND]
        law[l, ja.LAW_ROW] = island[i, N_BODIES]
        island[i, N_BODIES] += 1
    bodies = 0
    for i in range(counts[ISLANDS]):
        island[i, FIRST_BODY] = bodies
        bodies += island[i, N_BODIES]


@inner_kernel
def _connect_law(t: IntArray, j: IntArray, k: int, l: int, g: int) -> int:
    """Write the blocks that join law `l`, row `k`, to its trees, from block `g` on; return where the next begin."""
    law, value, force = whole_rows(j, ja.LAW), real_rows(j, ja.LAW_VALUE), real_rows(j, ja.FORCE)
    body, J, tree_of = wholes(j, ja.GAUGE_BODY), real_rows(j, ja.GAUGE_JACOBIAN), whole_rows(j, ja.TREE_OF)
    terms = wholes(j, ja.GAUGE_TERMS)
    fixed, begin, c, side = wholes(t, COUNTS)[FIXED], g, law[l, ja.LAW_GAUGE], value[l, ja.SIDE]
    row: Any = np.int64(0) if law[l, ja.LAW_KIND] <= ja.HIGH_LIMIT else np.int64(1)
    wholes(t, START)[k] = g
    for term in range(terms[c], terms[c + 1]):
        b = body[term]
        if b < fixed:
            continue
        for m in range(6):
            force[row, m] = side * J[term, m]
        climb(t, j, b, row, row + 1)
        last = True
        for other in range(term + 1, terms[c + 1]):
            if body[other] >= fixed and tree_of[body[other], ja.MECHANISM] == tree_of[b, ja.MECHANISM]:
                last = False
        if last:
            g = emit(t, j, tree_of[b, ja.MECHANISM], g)
    hold(t, j, begin, g)
    return g


@inner_kernel
def _pose_law(t: IntArray, j: IntArray, k: int, l: int, g: int) -> int:
    """Write map, velocity and coefficient of law `l`, row `k` to be solved; return its last block + 1."""
    counts, h, block, gather = wholes(t, COUNTS), reals(t, NUMBERS)[H], wholes(t, BLOCK), real_blocks(t, GATHER)
    drift = reals(t, NUMBERS)[DRIFT]
    law, value = whole_rows(j, ja.LAW), real_rows(j, ja.LAW_VALUE)
    b_free, before = real_rows(t, B), real_rows(t, BEFORE)
    last = _connect_law(t, j, k, l, g)
    limit = law[l, ja.LAW_KIND] <= ja.HIGH_LIMIT
    row = 0 if limit else 1
    a = 0.0
    for m in range(g, last):
        a += gather[m, row, 0] ** 2 + gather[m, row, 1] ** 2 + gather[m, row, 2] ** 2
    bound, psi = value[l, ja.LAW_BOUND], value[l, ja.LAW_PSI]
    if law[l, ja.LAW_KIND] == ja.MOTOR:  # no more of its lag than at the speed from which it can stop
        most = drift * math.sqrt(2.0 * BRAKING_SHARE * a * bound / h * abs(psi))
        psi = math.copysign(min(abs(psi), most), psi)
        value[l, ja.LAW_PSI] = psi
    a = a if a > 0.0 else 1.0
    block[last] = 2 * law[l, ja.LAW_ROW]
    for i in range(3):
        b_free[k, i] = 0.0
        before[k, i] = 0.0
        for m in range(3):
            gather[last, i, m] = 0.0
    gather[last, 1 if limit else 0, 0] = math.sqrt(a)
    if counts[DIM] == 3:
        gather[last, 2, 1] = math.sqrt(a)
    c = law[l, ja.LAW_GAUGE]
    speed = value[l, ja.SIDE] * row_speed(gauge_rows(j), c, real_rows(t, V_FREE), counts[FIXED]) + value[l, ja.LAW_RATE]
    b_free[k, row] = speed + psi / drift
    if not limit:
        speed = value[l, ja.SIDE] * row_speed(gauge_rows(j), c, real_rows(t, V), counts[FIXED]) + value[l, ja.LAW_RATE]
        before[k, row] = speed + psi / drift
        b_free[k, 0] = -a * bound
    write_diagonal(gather, g, last + 1, real_blocks(t, DIAGONAL)[k])
    reals(t, MU)[k] = 0.0 if limit else 1.0
    reals(t, REBOUND)[k] = 0.0
    reals(t, VEERED)[k] = 0.0
    reals(t, GAP)[k] = 0.0
    reals(t, SIZE)[k] = 1.0
    reals(t, WIDTH)[k] = math.inf
    return last + 1


@inner_kernel
def _round_off(t: IntArray, n_c: int) -> None:
    """Set to zero the speeds along which joints let nothing move and only rounding is left."""
    counts, order, b, diagonal = wholes(t, COUNTS), wholes(t, ORDER), real_rows(t, B), real_blocks(t, DIAGONAL)
    largest = 0.0
    for k in range(counts[ACTIVE]):
        for i in range(counts[DIM]):
            if order[k] < n_c:
                largest = max(largest, abs(b[k, i]))
    for k in range(counts[ACTIVE]):
        for i in range(counts[DIM]):
            if diagonal[k, i, i] == 0.0 and abs(b[k, i]) <= HELD_SPEED * largest:
                b[k, i] = 0.0


@inner_kernel
def _ask_of_gaps(t: IntArray) -> None:
    """Write what gaps ask of the normal velocities: of joined bodies overlaps recede, others were displaced."""
    n, numbers, place, index = (
        wholes(t, COUNTS)[ACTIVE],
        reals(t, NUMBERS),
        whole_rows(t, PLACE),
        whole_rows(t, SEEN_INDEX),
    )
    order, island, shift, correction = wholes(t, ORDER), whole_rows(t, ISLAND), reals(t, SHIFT), reals(t, CORRECTED)
    lift = reals(whole_rows(t, JOINTS), ja.SUMS)[ja.LIFT]
    if wholes(t, COUNTS)[PASSIVE] == 1:
        ask_of_islands(t, lift)
        return
    if numbers[LIFT] > 0.0:  # all recede
        ask_of_gaps(t, n - n, n, lift, 1.0)
        return
    gap, size, rebound, space = reals(t, GAP)[:n], reals(t, SIZE)[:n], reals(t, REBOUND)[:n], reals(t, MAY_CLOSE)[:n]
    b, before, g, h = real_rows(t, B)[:n], real_rows(t, BEFORE)[:n], numbers[GRAVITY], numbers[H]
    last = real_rows(t, REFERENCE)[:n]
    veered = reals(t, VEERED)[:n]
    normal_shifts(gap, veered, size, b, before, rebound, last, g, 0.0, h, 1.0, shift[:n], correction[:n], space)
    receding, receding_correction = reals(t, SLIP), reals(t, RHO)  # not in use yet
    normal_shifts(
        gap, veered, size, b, before, rebound, last, g, lift, h, 1.0, receding[:n], receding_correction[:n], space
    )
    for k in range(n):
        if island[place[index[order[k], B_BODY], OWN_ISLAND], HAS_JOINTS] == 1:
            shift[k] = receding[k]
            correction[k] = receding_correction[k]


@inner_kernel
def pose_joined_step(t: IntArray) -> None:
    """Pose the friction problems of all islands, laws of joints included, and set the guess."""
    j, counts, order = whole_rows(t, JOINTS), wholes(t, COUNTS), wholes(t, ORDER)
    n_c = counts[CONTACTS]
    counts[SEEN] = n_c
    mark_awake(t)
    keep_contacts(t, n_c)
    counts[ROWS] = n_c + _choose_laws(t, j, n_c)
    _find_joined_islands(t, j, n_c, counts[ROWS])
    recall(t, counts[ROWS])
    numbers = reals(t, NUMBERS)
    if numbers[DRIFT] == numbers[H]:  # else the step began elsewhere
        q, q_start = real_rows(t, Q), real_rows(t, Q_START)
        for b in range(q.shape[0]):
            for k in range(7):
                q_start[b, k] = q[b, k]
    diagonal, gather = real_blocks(t, DIAGONAL), real_blocks(t, GATHER)
    g = n_c - n_c
    for k in range(counts[ACTIVE]):
        if order[k] >= n_c:
            g = _pose_law(t, j, k, order[k] - n_c, g)
            continue
        bodies, arms, frame = pose_contact(t, k, order[k])
        last = connect_joined(t, j, k, bodies, arms, frame, g)
        write_diagonal(gather, g, last, diagonal[k])
        g = last
    wholes(t, START)[counts[ACTIVE]] = g
    _round_off(t, n_c)
    if numbers[SPRING] > 0.0:
        ask_springs(t, counts[ACTIVE])
        return
    if numbers[LIFT] == 0.0:
        project_step(t)
    _ask_of_gaps(t)
