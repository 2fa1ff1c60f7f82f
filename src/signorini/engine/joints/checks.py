"""The compiled step, joints: what they did, for certificate, record and energy balance.

See :mod:`~signorini.posing.joint_report` for the report and :mod:`~signorini.posing.balance` for the
energies. What needs the rows of the step is summed up while they stand (:func:`sum_up`); the rest follows where the
step has ended, prescribed bodies included (:func:`carry_on`).
"""

from __future__ import annotations

import math
from typing import TypeAlias

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.constants import ASKED, CONFLICT_NOTED
from signorini.dynamics.joint_faults import CONTRADICTED, HELD
from signorini.engine.arrays import (
    BALANCE,
    CHECK,
    CONFLICT_JOINT,
    CONFLICT_ROW,
    CORRECTION,
    CORRECTION_WORK,
    COUNTS,
    DAMPING_LOSS,
    DRIFT,
    DRIVE_WORK,
    ELASTIC_GAIN,
    ENERGY_AT_PLAY,
    FIXED,
    FRICTION_LOSS,
    IMPACT_LOSS,
    INTEGRATION_LOSS,
    JOINT_CONFLICT,
    JOINT_FAULT,
    JOINT_WORK,
    JOINTS,
    LOG_START,
    LOGGED,
    NUMBERS,
    P_EXT,
    PLACE,
    PRESSED,
    REDUNDANT_ROWS,
    V_0,
    V_START,
    WEIGHT,
    H,
    Q,
    V,
)
from signorini.engine.checks import close_balance
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.loops import close_loops
from signorini.engine.joints.trees import evaluate_rows, gauge_rows, held_rows, row_speed, solve_mechanism
from signorini.math.rotation import cross, rotate

Sizes: TypeAlias = tuple[Array, IntArray, IntArray, IntArray]


@inner_kernel
def steepness(terms: IntArray, J: Array, r: int, extent: float) -> float:
    """Return by how much row `r` changes when a body moves through the scene, `extent` [m], or turns by a radian."""
    moved, turned = 0.0, 0.0
    for term in range(terms[r], terms[r + 1]):
        for k in range(3):
            moved += J[term, k] ** 2
            turned += J[term, 3 + k] ** 2
    steep = extent * math.sqrt(moved) + math.sqrt(turned)
    return steep if steep > 0.0 else 1.0


@inner_kernel
def row_sizes(j: IntArray) -> Sizes:
    """Return what :func:`row_size` reads, found once for all rows."""
    return reals(j, ja.ROW_SIZE), wholes(j, ja.ROLE), wholes(j, ja.LEVER), wholes(j, ja.ROW_TERMS)


@inner_kernel
def row_size(sizes: Sizes, J: Array, r: int) -> float:
    """Return beside what the residual of bilateral row `r` counts [m, rad]."""
    least, role, lever, terms = sizes
    size: float = least[r]
    if role[r] == ja.BY_FUNCTION:
        return steepness(terms, J, r, size)
    if lever[r] == 1:
        size = max(size, math.sqrt(J[2 * r, 3] ** 2 + J[2 * r, 4] ** 2 + J[2 * r, 5] ** 2))
    return size


@inner_kernel
def _contradict(t: IntArray, j: IntArray, unmet: Array) -> None:
    """Write what rows leave open; where some depend on others, of their rates alone: see ``joint_faults``."""
    rows, rate, fixed = held_rows(j), reals(j, ja.RATE), wholes(t, COUNTS)[FIXED]
    x_2, closed, soft = reals(j, ja.X_2), reals(j, ja.CLOSED), reals(j, ja.SOFT_ROW)
    v, reaction, impulse, asked = real_rows(t, V), reals(j, ja.REACTION), reals(j, ja.END_IMPULSE), reals(j, ja.END_PSI)
    push, tree_body = real_rows(j, ja.PUSH), wholes(j, ja.TREE_BODY)
    if wholes(j, ja.TALLY)[ja.REDUNDANT] == 0:
        for r in range(unmet.shape[0]):
            unmet[r] = row_speed(rows, r, v, fixed) + soft[r] * reaction[r] + x_2[r] + closed[r]
        return
    for at in range(tree_body.shape[0]):
        for k in range(6):
            push[tree_body[at], k] = 0.0
    for r in range(unmet.shape[0]):
        asked[r] = rate[r] if soft[r] == 0.0 else 0.0
        impulse[r] = asked[r]
    for k in range(whole_rows(j, ja.LOOPS).shape[0]):
        solve_mechanism(j, k, push, impulse)
        close_loops(t, j, k, push, asked, 1.0, impulse)
    for r in range(unmet.shape[0]):
        unmet[r] = row_speed(rows, r, push, fixed) + soft[r] * impulse[r] + asked[r]


@inner_kernel
def _stored_before(t: IntArray, k: float, share: float, stretch: float, speed: float) -> float:
    """Return what a spring stored before the step ends beyond what it does where it does, over theta - 1/2 [J]."""
    h, late = reals(t, NUMBERS)[H], reals(t, NUMBERS)[DRIFT] / reals(t, NUMBERS)[H] - 0.5
    if late == 0.0:
        return 0.0
    return float(0.5 / late * k * ((stretch - late * h * share * speed) ** 2 - stretch**2))


@inner_kernel
def sum_up(t: IntArray, j: IntArray) -> None:
    """Write efforts and reactions of the joints, the work of their rows and laws, and how far rows are from holding."""
    fixed, h, v, v_0, sums, report = (
        wholes(t, COUNTS)[FIXED],
        reals(t, NUMBERS)[H],
        real_rows(t, V),
        real_rows(t, V_0),
        reals(j, ja.SUMS),
        real_rows(j, ja.REPORT),
    )
    rows, sizes, J, rate = held_rows(j), row_sizes(j), real_rows(j, ja.JACOBIAN), reals(j, ja.RATE)
    joint, role, reaction = wholes(j, ja.ROW_JOINT), wholes(j, ja.ROLE), reals(j, ja.REACTION)
    setting, check, psi, share = real_rows(j, ja.SETTING), reals(t, CHECK), reals(j, ja.PSI), reals(j, ja.SHARE)
    drift, v_start = reals(t, NUMBERS)[DRIFT], real_rows(t, V_START)
    late, at_start, start_speed = 1.0 - drift / h, reals(j, ja.COORDINATE_0), reals(j, ja.START_SPEED)
    for k in range(ja.LIFT):
        sums[k] = 0.0
    for g in range(report.shape[0]):
        for k in range(ja.EFFORT_OF, ja.REPORT_COLUMNS):
            report[g, k] = 0.0
    open_ = reals(j, ja.END_SUM)
    _contradict(t, j, open_)
    unmet, left, worst = 0.0, 0.0, -1
    for r in range(reaction.shape[0]):
        p, speed = reaction[r], row_speed(rows, r, v, fixed)
        size, missing = row_size(sizes, J, r), abs(open_[r])
        unmet = max(unmet, missing)
        if not drift * missing <= left * size:
            left, worst = drift * missing / size, r
        sums[ja.DRIVEN_WORK] -= p * rate[r]
        if role[r] != ja.SPRING:
            sums[ja.RIGID_WORK] += p * (speed + rate[r])
            if late > 0.0:  # rigid rows work over the way of the step
                sums[ja.TURNED_WORK] += late * p * (speed - row_speed(rows, r, v_start, fixed))
        if role[r] == ja.BY_FUNCTION:  # which may be made to work
            continue
        g = joint[r]
        for k in range(6):
            report[g, ja.REACTION_OF + k] += J[2 * r + 1, k] * p
        if role[r] != ja.RIGID:
            report[g, ja.EFFORT_OF] += p
        before, at_first = row_speed(rows, r, v_0, fixed), row_speed(rows, r, v_0, ja.EVERY_BODY)
        pushed = p if role[r] == ja.DRIVEN else 0.0
        if role[r] == ja.SPRING:  # of which what it stores is known where steps end
            pushed = -h * setting[g, ja.DAMPING] * (speed + rate[r])
            stretch, rate_0 = psi[r], at_first
            if late > 0.0:
                stretch, rate_0 = at_start[g] - setting[g, ja.REST], start_speed[g]
            sums[ja.SWING] -= _stored_before(t, setting[g, ja.STIFFNESS], share[r], stretch, rate_0)
        sums[ja.SWING] += pushed * (speed - before)
        # Prescribed bodies: twice what their mean speed is more than that at the start.
        more = 2.0 * (p - pushed) * (rate[r] - at_first + before)
        sums[ja.SWING] -= more * share[r] if role[r] == ja.SPRING else more
        if role[r] == ja.SPRING:
            sums[ja.SPRING_WORK] += p * (speed + rate[r])
            sums[ja.DAMPED_WORK] += h * setting[g, ja.DAMPING] * (speed + rate[r]) ** 2
    check[REDUNDANT_ROWS] = wholes(j, ja.TALLY)[ja.REDUNDANT]
    check[JOINT_CONFLICT] = unmet
    check[CONFLICT_JOINT] = wholes(j, ja.OWNER)[worst] if left > CONFLICT_NOTED else -1
    check[CONFLICT_ROW] = worst if left > CONFLICT_NOTED else -1
    check[JOINT_FAULT] = CONTRADICTED if left > ASKED else HELD
    _sum_up_laws(t, j)
    p_ext, weight = real_rows(t, P_EXT), real_rows(t, WEIGHT)
    for b in range(fixed, v.shape[0]):
        for k in range(6):
            sums[ja.SWING] += (p_ext[b, k] - h * weight[b, k]) * (v[b, k] - v_0[b, k])
    q, anchor, body_b = real_rows(t, Q), real_rows(j, ja.ANCHOR_B), wholes(j, ja.BODY_B)
    for g in range(report.shape[0]):
        b = body_b[g]
        arm = rotate((q[b, 3], q[b, 4], q[b, 5], q[b, 6]), (anchor[g, 0], anchor[g, 1], anchor[g, 2]))
        moment = cross(arm, (report[g, ja.REACTION_OF], report[g, ja.REACTION_OF + 1], report[g, ja.REACTION_OF + 2]))
        for k in range(3):
            report[g, ja.REACTION_OF + 3 + k] -= moment[k]
    wholes(j, ja.TALLY)[ja.PENDING] = 1


@inner_kernel
def _sum_up_laws(t: IntArray, j: IntArray) -> None:
    """Add the part of the laws to efforts, reactions and sums."""
    fixed, h, v, v_0, sums, report = (
        wholes(t, COUNTS)[FIXED],
        reals(t, NUMBERS)[H],
        real_rows(t, V),
        real_rows(t, V_0),
        reals(j, ja.SUMS),
        real_rows(j, ja.REPORT),
    )
    law, value, joint = whole_rows(j, ja.LAW), real_rows(j, ja.LAW_VALUE), wholes(j, ja.GAUGE_JOINT)
    gauges, J = gauge_rows(j), real_rows(j, ja.GAUGE_JACOBIAN)
    for l in range(wholes(j, ja.TALLY)[ja.LAWS]):
        kind, c, side, p = law[l, ja.LAW_KIND], law[l, ja.LAW_GAUGE], value[l, ja.SIDE], value[l, ja.LAW_IMPULSE]
        rate, w = value[l, ja.LAW_RATE], side * row_speed(gauges, c, v, fixed)
        if kind > ja.HIGH_LIMIT:  # friction and motors
            sums[ja.SWING] += p * (w - side * row_speed(gauges, c, v_0, fixed))
        if c < joint.shape[0]:  # else it is no joint's
            report[joint[c], ja.EFFORT_OF] += side * p
            for k in range(6):
                report[joint[c], ja.REACTION_OF + k] += side * p * J[2 * c + 1, k]
        if kind == ja.MOTOR:
            sums[ja.DRIVEN_WORK] += p * w
            continue
        sums[ja.DRIVEN_WORK] -= p * rate
        if kind == ja.DRY_FRICTION:
            sums[ja.SLID_WORK] -= p * (w + rate)
        else:
            corrected = p * max(0.0, -value[l, ja.LAW_PSI]) / h  # 0 where theta < 1
            sums[ja.CORRECTED_WORK] += corrected
            sums[ja.STOPPED_WORK] += corrected - p * (w + rate)


@inner_kernel
def press_joined(t: IntArray) -> None:
    """Mark the bodies that stand at a limit, and all that hang together with one that feels a contact or a limit."""
    j, place, fixed = whole_rows(t, JOINTS), whole_rows(t, PLACE), wholes(t, COUNTS)[FIXED]
    law, value, body = whole_rows(j, ja.LAW), real_rows(j, ja.LAW_VALUE), wholes(j, ja.GAUGE_BODY)
    terms = wholes(j, ja.GAUGE_TERMS)
    for l in range(wholes(j, ja.TALLY)[ja.LAWS]):
        if law[l, ja.LAW_KIND] <= ja.HIGH_LIMIT and value[l, ja.LAW_IMPULSE] != 0.0:
            for term in range(terms[law[l, ja.LAW_GAUGE]], terms[law[l, ja.LAW_GAUGE] + 1]):
                if body[term] >= fixed:
                    place[body[term], PRESSED] = 1
    start, tree_body = wholes(j, ja.TREE_START), wholes(j, ja.TREE_BODY)
    for k in range(start.shape[0] - 1):
        pressed = False
        for at in range(start[k], start[k + 1]):
            pressed = pressed or place[tree_body[at], PRESSED] == 1
        for at in range(start[k], start[k + 1]):
            place[tree_body[at], PRESSED] = 1 if pressed else 0


@inner_kernel
def measure(t: IntArray, j: IntArray) -> None:
    """Evaluate the coordinates of the joints, on the turn next to those in ``COORDINATE``."""
    body, J, gauge = wholes(j, ja.GAUGE_BODY), real_rows(j, ja.GAUGE_JACOBIAN), reals(j, ja.GAUGE)
    evaluate_rows(t, j, ja.GAUGE_JOINT, body, J, gauge, ja.INEQUALITIES)


@inner_kernel
def foresee(t: IntArray, j: IntArray) -> None:
    """Take the coordinates on to where the speeds at the end of the step behind lead from where it acted."""
    h, v, joint, gauges = reals(t, NUMBERS)[DRIFT], real_rows(t, V), wholes(j, ja.GAUGE_JOINT), gauge_rows(j)
    coordinate, before = reals(j, ja.COORDINATE), reals(j, ja.COORDINATE_0)
    measure(t, j)
    for g in range(coordinate.shape[0] if h == reals(t, NUMBERS)[H] else 0):  # else the step began elsewhere
        before[g] = coordinate[g]
    for c in range(joint.shape[0]):
        coordinate[joint[c]] += h * row_speed(gauges, c, v, ja.EVERY_BODY)


@inner_kernel
def carry_on(t: IntArray, j: IntArray) -> None:
    """Measure the coordinates where the step behind has ended, next to those foreseen, and account for it."""
    tally, v = wholes(j, ja.TALLY), real_rows(t, V)
    joint, gauge, report = wholes(j, ja.GAUGE_JOINT), reals(j, ja.GAUGE), real_rows(j, ja.REPORT)
    coordinate, gauges = reals(j, ja.COORDINATE), gauge_rows(j)
    measure(t, j)
    for c in range(joint.shape[0]):
        report[joint[c], ja.SPEED] = row_speed(gauges, c, v, ja.EVERY_BODY)
        coordinate[joint[c]] = gauge[c]
        report[joint[c], ja.COORDINATE_OF] = gauge[c]
    _account(t, j)
    _write_log(t, j)
    tally[ja.PENDING] = 0


@inner_kernel
def _account(t: IntArray, j: IntArray) -> None:
    """Add the energies of the joints to the balance of the step."""
    check, balance, sums = reals(t, CHECK), reals(t, BALANCE), reals(j, ja.SUMS)
    setting, now, before = real_rows(j, ja.SETTING), reals(j, ja.COORDINATE), reals(j, ja.COORDINATE_0)
    elastic, stored, report = 0.0, 0.0, real_rows(j, ja.REPORT)
    joint, role, share = wholes(j, ja.ROW_JOINT), wholes(j, ja.ROLE), reals(j, ja.SHARE)
    for r in range(role.shape[0]):
        if role[r] == ja.SPRING:
            g = joint[r]
            k, rest = setting[g, ja.STIFFNESS], setting[g, ja.REST]
            elastic += 0.5 * k * ((now[g] - rest) ** 2 - (before[g] - rest) ** 2)
            stored += 0.5 * k * (now[g] - rest) ** 2
            sums[ja.SWING] += _stored_before(t, k, share[r], now[g] - rest, report[g, ja.SPEED])
    balance[DRIVE_WORK] += sums[ja.DRIVEN_WORK]
    balance[CORRECTION_WORK] += sums[ja.CORRECTED_WORK]
    balance[JOINT_WORK] = sums[ja.RIGID_WORK] - sums[ja.TURNED_WORK]
    balance[FRICTION_LOSS] += sums[ja.SLID_WORK]
    balance[IMPACT_LOSS] += sums[ja.STOPPED_WORK]
    balance[DAMPING_LOSS] = sums[ja.DAMPED_WORK]
    balance[INTEGRATION_LOSS] -= sums[ja.SPRING_WORK] + elastic + sums[ja.DAMPED_WORK] + sums[ja.TURNED_WORK]
    balance[ELASTIC_GAIN] += elastic  # to that of contacts
    check[ENERGY_AT_PLAY] = max(check[ENERGY_AT_PLAY], stored, stored - elastic)
    check[CORRECTION] = balance[CORRECTION_WORK]
    close_balance(t)


@inner_kernel
def _write_log(t: IntArray, j: IntArray) -> None:
    """Write the report of the step into the row of the log that the step will have."""
    if wholes(t, LOG_START).shape[0] <= 1:
        return
    report, row = real_rows(j, ja.REPORT), real_blocks(j, ja.LOG)[wholes(t, COUNTS)[LOGGED]]
    for g in range(report.shape[0]):
        for k in range(ja.REPORT_COLUMNS):
            row[g, k] = report[g, k]
