"""The compiled step, joints: where the step ends, bodies that have left their joints are moved onto them.

What the linear rows of a step leave open is taken back by the next one. Where that is much, bodies are moved onto their
joints at once, and where that fails the joints cannot hold: see :mod:`signorini.dynamics.joint_faults`, which this
follows row by row.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.bodies import body_energy
from signorini.dynamics.constants import (
    APART,
    ASKED,
    FEW_MOVES,
    MOST_MOVES,
    MOST_PUSH,
    MOST_TURN,
    NO_FORCE,
    ON_JOINTS,
    SOME_PUSH,
    TORN,
)
from signorini.dynamics.joint_faults import BLOCKED, DRIFTED, HELD
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    B_BODY,
    BALANCE,
    CHECK,
    CONFLICT_JOINT,
    CONFLICT_ROW,
    COUNTS,
    DIAGONAL,
    DRIFT,
    DRIFT_JOINT,
    DRIFT_ROW,
    ENERGY_CHANGE,
    FAR,
    FIXED,
    FRICTION_LOSS,
    GAIN_SCALE,
    GAINED,
    GRAVITY_X,
    IMPACT_LOSS,
    INERTIA,
    INTEGRATION_LOSS,
    JOINT_APART,
    JOINT_DRIFT,
    JOINT_FAULT,
    JOINT_PULL,
    JOINT_WORK,
    JOINTS,
    LOAD,
    MASS,
    MOVED_ONTO,
    NUMBERS,
    ORDER,
    Q_0,
    REBOUND,
    SEEN,
    SEEN_INDEX,
    SUCCESS,
    TOLERANCE,
    V_0,
    V_FREE,
    WEIGHT,
    H,
    P,
    Q,
    U,
    V,
)
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.checks import carry_on, foresee, row_size, row_sizes, steepness
from signorini.engine.joints.join import answer_freely, answer_mechanism, given_rate
from signorini.engine.joints.loops import close_loops, factor_loops
from signorini.engine.joints.trees import evaluate_rows, factor_trees, held_rows, row_speed, solve_mechanism
from signorini.math.rotation import cross, rotate, turn_exact


@inner_kernel
def _open_rows(t: IntArray, j: IntArray) -> tuple[float, float, int]:
    """Evaluate the rigid rows where bodies are: the largest residual, the largest beside its size, its row."""
    body, J, psi = wholes(j, ja.END_BODY), real_rows(j, ja.END_JACOBIAN), reals(j, ja.END_PSI)
    joint, role, motion = wholes(j, ja.ROW_JOINT), wholes(j, ja.ROLE), real_rows(j, ja.MOTION)
    evaluate_rows(t, j, ja.ROW_JOINT, body, J, psi, ja.ROWS_ENDING)
    drift, worst, row, sizes = 0.0, 0.0, -1, row_sizes(j)
    for r in range(psi.shape[0]):
        if role[r] == ja.SPRING:
            psi[r] = 0.0
        elif role[r] == ja.DRIVEN:
            psi[r] -= motion[joint[r], ja.AIM]
        size = row_size(sizes, J, r)
        drift = max(drift, abs(psi[r]))
        if not abs(psi[r]) <= worst * size:
            worst, row = abs(psi[r]) / size, r
    return (drift, worst, row)


@inner_kernel
def _energy(t: IntArray, j: IntArray) -> float:
    """Return kinetic and potential energy of the joined bodies [J]."""
    mass, inertia, numbers = reals(t, MASS), real_blocks(t, INERTIA), reals(t, NUMBERS)
    q, v, tree_body, s = real_rows(t, Q), real_rows(t, V), wholes(j, ja.TREE_BODY), 0.0
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        s += body_energy(mass[b], inertia[b], e, (v[b, 0], v[b, 1], v[b, 2], v[b, 3], v[b, 4], v[b, 5]))
        for k in range(3):
            s -= mass[b] * numbers[GRAVITY_X + k] * q[b, k]
    return s


@inner_kernel
def _push(t: IntArray, j: IntArray) -> None:
    """Move bodies along the rows of the step by what takes ``END_PSI`` to zero, if it were linear."""
    q, v, h, push = real_rows(t, Q), real_rows(t, V), reals(t, NUMBERS)[DRIFT], real_rows(j, ja.PUSH)
    psi, impulse, total = reals(j, ja.END_PSI), reals(j, ja.END_IMPULSE), reals(j, ja.END_SUM)
    tree_body = wholes(j, ja.TREE_BODY)
    for at in range(tree_body.shape[0]):
        for k in range(6):
            push[tree_body[at], k] = 0.0
    for r in range(psi.shape[0]):
        impulse[r] = psi[r]
    for k in range(whole_rows(j, ja.LOOPS).shape[0]):
        solve_mechanism(j, k, push, impulse)
        close_loops(t, j, k, push, psi, 1.0, impulse)
    for r in range(psi.shape[0]):
        total[r] += impulse[r] / h
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        turned = turn_exact((q[b, 3], q[b, 4], q[b, 5], q[b, 6]), (push[b, 3], push[b, 4], push[b, 5]), 1.0)
        for k in range(4):
            q[b, 3 + k] = turned[k]
        for k in range(3):
            q[b, k] += push[b, k]
        for k in range(6):
            v[b, k] += push[b, k] / h


@inner_kernel
def _factor_here(t: IntArray, j: IntArray) -> None:
    """Evaluate and factor the rows where bodies are, springs left out; what these were is kept in ``REACTION``."""
    role, soft, kept = wholes(j, ja.ROLE), reals(j, ja.SOFT_ROW), reals(j, ja.REACTION)
    body, J, psi = wholes(j, ja.ROW_BODY), real_rows(j, ja.JACOBIAN), reals(j, ja.PSI)
    evaluate_rows(t, j, ja.ROW_JOINT, body, J, psi, ja.ROWS_HERE)
    for r in range(soft.shape[0]):
        kept[r] = soft[r]
        if role[r] == ja.SPRING:
            soft[r] = NO_FORCE
    factor_trees(t, j)
    factor_loops(t, j)


@inner_kernel
def _soften(j: IntArray) -> None:
    """Put springs back."""
    soft, kept = reals(j, ja.SOFT_ROW), reals(j, ja.REACTION)
    for r in range(soft.shape[0]):
        soft[r] = kept[r]


@inner_kernel
def _obey(t: IntArray, j: IntArray) -> None:
    """Make velocities obey the joints where bodies are; impulses are left in ``END_IMPULSE``."""
    v, v_free, tree_body = real_rows(t, V), real_rows(t, V_FREE), wholes(j, ja.TREE_BODY)
    x_2, joint, role, motion = (
        reals(j, ja.END_PSI),
        wholes(j, ja.ROW_JOINT),
        wholes(j, ja.ROLE),
        real_rows(j, ja.MOTION),
    )
    _factor_here(t, j)
    for r in range(x_2.shape[0]):
        x_2[r] = 0.0 if role[r] == ja.SPRING else given_rate(t, j, r)
        if role[r] == ja.DRIVEN:
            x_2[r] -= motion[joint[r], ja.AIM_RATE]
    for at in range(tree_body.shape[0]):
        for k in range(6):
            v_free[tree_body[at], k] = v[tree_body[at], k]
    answer_freely(t, j, v, x_2, reals(j, ja.END_IMPULSE))
    _soften(j)


@inner_kernel
def _report(j: IntArray, q: Array, impulse: Array, ending: bool) -> None:
    """Add impulses of the rows in ``JACOBIAN``, for bodies at `q`, to what joints report; `ending` if that is there."""
    report, J, joint, role = (
        real_rows(j, ja.REPORT),
        real_rows(j, ja.JACOBIAN),
        wholes(j, ja.ROW_JOINT),
        wholes(j, ja.ROLE),
    )
    anchor, body_b = real_rows(j, ja.ANCHOR_B), wholes(j, ja.BODY_B)
    for r in range(joint.shape[0]):
        g, p, b, J_b = joint[r], impulse[r], body_b[joint[r]], J[2 * r + 1]
        arm = rotate((q[b, 3], q[b, 4], q[b, 5], q[b, 6]), (anchor[g, 0], anchor[g, 1], anchor[g, 2]))
        moment = cross(arm, (J_b[0], J_b[1], J_b[2]))
        for k in range(3):
            report[g, ja.REACTION_OF + k] += p * J_b[k]
            report[g, ja.REACTION_OF + 3 + k] += p * (J_b[3 + k] - moment[k])
            if ending:
                report[g, ja.ENDING_OF + k] += p * J_b[k]
                report[g, ja.ENDING_OF + 3 + k] += p * (J_b[3 + k] - moment[k])
        if role[r] != ja.RIGID:
            report[g, ja.EFFORT_OF] += p


@inner_kernel
def _copy(j: IntArray, q: Array, v: Array, q_to: Array, v_to: Array) -> None:
    """Copy poses and velocities of joined bodies."""
    tree_body = wholes(j, ja.TREE_BODY)
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        for k in range(7):
            q_to[b, k] = q[b, k]
        for k in range(6):
            v_to[b, k] = v[b, k]


@inner_kernel
def _move(t: IntArray, j: IntArray, here: bool) -> bool:
    """Push bodies onto their joints along the rows of the step, or those where bodies are; tell whether they get there.

    Impulses of the rows of the step are left in ``END_SUM``, the others are reported.
    """
    total, tree_body, v, v_0 = (
        reals(j, ja.END_SUM),
        wholes(j, ja.TREE_BODY),
        real_rows(t, V),
        real_rows(j, ja.END_V),
    )
    _, drift, _ = _open_rows(t, j)
    first = drift
    for _ in range(FEW_MOVES if here else MOST_MOVES):
        if drift <= ON_JOINTS or not drift <= APART * first:
            break
        if here:
            _factor_here(t, j)
            _open_rows(t, j)
        for r in range(total.shape[0]):
            total[r] = 0.0 if here else total[r]
        _push(t, j)
        if here:
            _report(j, real_rows(t, Q), total, False)
            _soften(j)
        _, drift, _ = _open_rows(t, j)
        first = min(first, drift)
    near, h = True, reals(t, NUMBERS)[DRIFT]
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        pushed = h * math.sqrt((v[b, 3] - v_0[b, 3]) ** 2 + (v[b, 4] - v_0[b, 4]) ** 2 + (v[b, 5] - v_0[b, 5]) ** 2)
        before = h * math.sqrt(v_0[b, 3] ** 2 + v_0[b, 4] ** 2 + v_0[b, 5] ** 2)
        turned = max(before, h * math.sqrt(v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2))
        near = near and pushed <= MOST_PUSH and (pushed <= SOME_PUSH or turned <= MOST_TURN)
    return bool(drift <= TORN and near)


@inner_kernel
def _keep(t: IntArray, j: IntArray) -> bool:
    """Move bodies onto their joints, by RATTLE; False, and nothing has moved, where it cannot be done."""
    q, v, q_0, v_0 = real_rows(t, Q), real_rows(t, V), real_rows(j, ja.END_Q), real_rows(j, ja.END_V)
    total, before = reals(j, ja.END_SUM), _energy(t, j)
    _copy(j, q, v, q_0, v_0)
    for r in range(total.shape[0]):
        total[r] = 0.0
    if _move(t, j, False):
        _report(j, real_rows(t, Q_0), total, False)
    else:
        _copy(j, q_0, v_0, q, v)
        if not _move(t, j, True):
            _copy(j, q_0, v_0, q, v)
            return False
    _obey(t, j)
    _report(j, q, reals(j, ja.END_IMPULSE), True)
    gained = _energy(t, j) - before
    reals(t, NUMBERS)[ENERGY_CHANGE] += gained
    reals(j, ja.SUMS)[ja.RIGID_WORK] += gained
    return True


@inner_kernel
def _apart_at_start(j: IntArray) -> float:
    """Return how far apart rigid rows were where the step began, beside their sizes."""
    J, psi, role, sizes, worst = real_rows(j, ja.JACOBIAN), reals(j, ja.PSI), wholes(j, ja.ROLE), row_sizes(j), 0.0
    for r in range(psi.shape[0]):
        if role[r] != ja.SPRING and role[r] != ja.DRIVEN:
            worst = max(worst, abs(psi[r]) / row_size(sizes, J, r))
    return float(worst)


@inner_kernel
def _cannot_close(t: IntArray, j: IntArray) -> bool:
    """Tell whether joints that did not close cannot: no way along the rows where bodies are leads onto them.

    Rows that depend on each other, and were apart before, may stay so, but not come apart further.
    """
    tree, tally, open_ = whole_rows(j, ja.TREE), wholes(j, ja.TALLY), 0
    redundant = tally[ja.REDUNDANT]
    for k in range(tree.shape[0]):
        open_ += 1 if tree[k, ja.ACTS] == ja.IS_OPEN else 0
    if open_ == 0:
        return False
    asked = max(ASKED, _apart_at_start(j)) if redundant > 0 else ASKED
    q, v, q_0, v_0 = real_rows(t, Q), real_rows(t, V), real_rows(j, ja.END_Q), real_rows(j, ja.END_V)
    _copy(j, q, v, q_0, v_0)
    least = math.inf
    for _ in range(FEW_MOVES):
        _factor_here(t, j)
        least = min(least, _open_rows(t, j)[1])
        if least <= asked:
            _soften(j)
            break
        _push(t, j)
        _soften(j)
    _copy(j, q_0, v_0, q, v)
    tally[ja.REDUNDANT] = redundant
    return bool(least > asked)


@inner_kernel
def _obey_closed(t: IntArray, j: IntArray) -> None:
    """Make the velocities of mechanisms that have closed obey their joints: the second half of RATTLE.

    The next step would come to the same without it, for its impulses act along the same rows. Rows along which
    something is driven keep the speeds that took them there.
    """
    tree, alone = whole_rows(j, ja.TREE), 0
    for k in range(tree.shape[0]):
        alone += 1 if tree[k, ja.ACTS] == ja.IS_CLOSED else 0
    if alone == 0:
        return
    role, v, fixed = wholes(j, ja.ROLE), real_rows(t, V), wholes(t, COUNTS)[FIXED]
    rows, x_2, impulse = held_rows(j), reals(j, ja.END_PSI), reals(j, ja.END_IMPULSE)
    before = _energy(t, j)
    _factor_here(t, j)
    for r in range(x_2.shape[0]):
        driven = role[r] == ja.DRIVEN or (role[r] != ja.SPRING and given_rate(t, j, r) != 0.0)
        x_2[r] = -row_speed(rows, r, v, fixed) if driven else 0.0
        impulse[r] = 0.0
    for k in range(tree.shape[0]):
        if tree[k, ja.ACTS] == ja.IS_CLOSED:
            answer_mechanism(t, j, k, v, v, x_2, impulse)
    _soften(j)
    wholes(j, ja.TALLY)[ja.FACTORED] = 1
    for r in range(role.shape[0]):
        if role[r] == ja.SPRING:
            wholes(j, ja.TALLY)[ja.FACTORED] = 0
    _report(j, real_rows(t, Q), impulse, True)
    gained, driven_work = _energy(t, j) - before, 0.0
    for r in range(x_2.shape[0]):
        driven_work -= impulse[r] * x_2[r]
    reals(t, NUMBERS)[ENERGY_CHANGE] += gained
    reals(j, ja.SUMS)[ja.RIGID_WORK] += gained - driven_work
    reals(j, ja.SUMS)[ja.DRIVEN_WORK] += driven_work


@inner_kernel
def _beyond_limits(j: IntArray, drift: float, worst: float, row: int) -> tuple[float, float, int]:
    """Return the same three numbers with the limits of all coordinates, whose rows are counted on, and inequalities."""
    at, size, joint, setting = (
        reals(j, ja.COORDINATE),
        reals(j, ja.GAUGE_SIZE),
        wholes(j, ja.GAUGE_JOINT),
        real_rows(j, ja.SETTING),
    )
    n_r = reals(j, ja.END_PSI).shape[0]
    for c in range(joint.shape[0]):
        g = joint[c]
        for side in range(2):
            beyond = setting[g, ja.LOW] - at[g] if side == 0 else at[g] - setting[g, ja.HIGH]
            drift = max(drift, beyond)
            if beyond > worst * size[c]:
                worst, row = beyond / size[c], n_r + 2 * c + side
    gauge, terms, J, n_c = reals(j, ja.GAUGE), wholes(j, ja.GAUGE_TERMS), real_rows(j, ja.GAUGE_JACOBIAN), size.shape[0]
    for c in range(n_c, gauge.shape[0]):
        beyond, steep = -gauge[c], steepness(terms, J, c, reals(j, ja.SUMS)[ja.EXTENT])
        drift = max(drift, beyond)
        if beyond > worst * steep:
            worst, row = beyond / steep, n_r + n_c + c
    return (drift, worst, row)


@inner_kernel
def _joint_of(j: IntArray, row: int) -> int:
    """Return the joint of a row or a limit, -1 for none."""
    return int(wholes(j, ja.OWNER)[row]) if row >= 0 else -1


@inner_kernel
def _blocked_row(t: IntArray, j: IntArray) -> int:
    """Return the row that a contact or a limit stands against which closes and which nothing can move, -1 for none."""
    counts, load, diagonal, order = (
        wholes(t, COUNTS),
        real_rows(t, LOAD),
        real_blocks(t, DIAGONAL),
        wholes(t, ORDER),
    )
    law, index, role = whole_rows(j, ja.LAW), whole_rows(t, SEEN_INDEX), wholes(j, ja.ROLE)
    terms, body, n_r, n_c = (
        wholes(j, ja.ROW_TERMS),
        wholes(j, ja.ROW_BODY),
        role.shape[0],
        wholes(j, ja.GAUGE_JOINT).shape[0],
    )
    fastest, block = 0.0, -1
    for k in range(counts[ACTIVE]):
        for i in range(3):
            fastest = max(fastest, abs(load[k, i]))
    for k in range(counts[ACTIVE]):
        if block < 0 and diagonal[k, 0, 0] == 0.0 and load[k, 0] < -reals(t, NUMBERS)[TOLERANCE] * fastest:
            block = order[k]
    if block < 0:
        return -1
    if block >= counts[SEEN]:
        l = block - counts[SEEN]
        c = law[l, ja.LAW_GAUGE]
        return int(n_r + 2 * c + law[l, ja.LAW_KIND] if c < n_c else n_r + n_c + c)
    row = -1
    for r in range(n_r):
        for side in range(2 * (terms[r + 1] - terms[r])):
            b = index[block, side % 2]
            near = b >= counts[FIXED] and body[terms[r] + side // 2] == b
            if near and (row < 0 or (role[r] == ja.DRIVEN and role[row] != ja.DRIVEN)):
                row = r
    return row


@inner_kernel
def _turns_too_far(t: IntArray, j: IntArray) -> bool:
    """Tell whether some joined body came so fast that rows, which are those of the start, mean little at the end."""
    v, tree_body, h, most = real_rows(t, V_0), wholes(j, ja.TREE_BODY), reals(t, NUMBERS)[DRIFT], 0.0
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        most = max(most, v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2)
    return bool(h * math.sqrt(most) > MOST_TURN)


@inner_kernel
def _is_swift_near_others(t: IntArray, j: IntArray) -> bool:
    """Tell whether joined bodies with contacts go so far in the step that, moved, they might go through something."""
    counts, index, tree_body = wholes(t, COUNTS), whole_rows(t, SEEN_INDEX), wholes(j, ja.TREE_BODY)
    if counts[FAR] == 0:
        return False
    for c in range(counts[SEEN]):
        for at in range(tree_body.shape[0]):
            if index[c, A_BODY] == tree_body[at] or index[c, B_BODY] == tree_body[at]:
                return True
    return False


@inner_kernel
def _rebound_work(t: IntArray) -> float:
    """Return the work of contacts that rebound [J]."""
    counts, order, rebound = wholes(t, COUNTS), wholes(t, ORDER), reals(t, REBOUND)
    p, u, s = real_rows(t, P), real_rows(t, U), 0.0
    for k in range(counts[ACTIVE]):
        if order[k] < counts[SEEN] and rebound[k] > 0.0:
            s += max(0.0, p[k, 0] * u[k, 0])
    return s


@inner_kernel
def _count_gain(t: IntArray) -> None:
    """Note what joints and scheme gave for good, and whether a collision did with them.

    Velocities by which bodies go from one place to the next are those of the middle of the step. The energy there has
    ``(theta - 1/2) h F . v`` more, F being weight, loads and what acts along joints, which free fall keeps, a pendulum
    to the second order, and a rebound as well; see :func:`signorini._grades.given_for_good`.
    """
    j = whole_rows(t, JOINTS)
    if wholes(j, ja.ROLE).shape[0] > wholes(j, ja.ROW_JOINT).shape[0]:  # equations of the user may be made to work
        reals(t, CHECK)[JOINT_PULL] = 0.0
        return
    swung = reals(j, ja.SUMS)[ja.SWING]
    counts, numbers, check, balance = wholes(t, COUNTS), reals(t, NUMBERS), reals(t, CHECK), reals(t, BALANCE)
    weight, v, v_0, more = real_rows(t, WEIGHT), real_rows(t, V), real_rows(t, V_0), 0.0
    for b in range(counts[FIXED], v.shape[0]):
        for k in range(3):
            more += weight[b, k] * (v[b, k] - v_0[b, k])
    swing = (numbers[DRIFT] / numbers[H] - 0.5) * (numbers[H] * more + swung)
    made, impact = balance[JOINT_WORK] - balance[INTEGRATION_LOSS] + swing, balance[IMPACT_LOSS]
    taken, rebound = max(0.0, impact), _rebound_work(t)
    back = min(max(0.0, -swing), rebound)
    check[JOINT_PULL] = max(0.0, made - taken) if made > 0.0 else min(0.0, made + taken + back)
    # Joints that have drifted give to contacts, or take, what these seem to take or give.
    left = min(made - balance[FRICTION_LOSS] - impact, rebound)
    check[GAINED] = left / numbers[GAIN_SCALE] if left > 0.0 else 0.0


@inner_kernel
def settle(t: IntArray) -> None:
    """End the step behind, unless that is done: keep bodies on their joints, account for these, judge them."""
    j = whole_rows(t, JOINTS)
    if wholes(j, ja.TALLY)[ja.PENDING] == 0:
        return
    check = reals(t, CHECK)
    foresee(t, j)
    drift, worst, row = _open_rows(t, j)
    swift = worst > TORN and (_turns_too_far(t, j) or _is_swift_near_others(t, j))
    cannot = worst <= TORN and _cannot_close(t, j)
    check[MOVED_ONTO] = 0.0
    if worst > TORN and not swift and _keep(t, j):
        drift, worst, row = _open_rows(t, j)
        check[MOVED_ONTO] = 1.0
    else:
        _obey_closed(t, j)
    carry_on(t, j)
    if reals(t, NUMBERS)[DRIFT] == reals(t, NUMBERS)[H]:  # else bodies may drift beyond limits
        drift, worst, row = _beyond_limits(j, drift, worst, row)
    check[JOINT_DRIFT] = drift
    check[JOINT_APART] = worst
    _count_gain(t)
    check[DRIFT_ROW] = row
    check[DRIFT_JOINT] = _joint_of(j, row)
    against = -1 if check[SUCCESS] == 1.0 else _blocked_row(t, j)
    if against >= 0:
        check[CONFLICT_ROW] = against
        check[CONFLICT_JOINT] = _joint_of(j, against)
        check[JOINT_FAULT] = BLOCKED
    if check[JOINT_FAULT] == HELD and (cannot or (not worst <= TORN and not swift)):
        check[JOINT_FAULT] = DRIFTED
    if check[JOINT_FAULT] != HELD:
        check[SUCCESS] = 0.0
