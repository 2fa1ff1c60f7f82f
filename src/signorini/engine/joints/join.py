"""The compiled step, joints: bilateral rows are eliminated before the contacts, and answer to them afterwards.

Before the contacts of a step are known, :func:`join` sets the free velocities of joined bodies to those with joints;
when contacts and laws are solved, :func:`answer` adds what their impulses do to the trees, in linear time both.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.flight import veer_bodies
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    B_BODY,
    BOUND,
    COUNTS,
    COUPLE_AXES,
    COUPLE_P,
    COUPLE_SCALE,
    COUPLE_UNIT,
    DRIFT,
    DRIVE,
    FIXED,
    INERTIA,
    JOINTS,
    NORMAL,
    NUMBERS,
    ORDER,
    REACH,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    V_0,
    V_FREE,
    VEER,
    VEERS,
    WAY,
    H,
    P,
    Q,
    V,
)
from signorini.engine.contacts import Frame, Vector, contact_arms
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.checks import measure, sum_up
from signorini.engine.joints.close import close_joints, release_idle
from signorini.engine.joints.loops import close_loops, factor_loops
from signorini.engine.joints.springs import pose_springs
from signorini.engine.joints.trees import evaluate_rows, factor_trees, solve_mechanism
from signorini.math.rotation import cross, tangent_frame
from signorini.posing.constants import REACH_FACTOR, REACH_FRACTION


@inner_kernel
def _driven_rate(t: IntArray, body: IntArray, J: Array, r: int) -> float:
    """Return the rate that prescribed bodies give to row `r` of a joint."""
    drive, fixed, s = real_rows(t, DRIVE), wholes(t, COUNTS)[FIXED], 0.0
    for term in range(2 * r, 2 * r + 2):
        if 0 <= body[term] < fixed:
            for l in range(6):
                s += J[term, l] * drive[body[term], l]
    return s


@inner_kernel
def given_rate(t: IntArray, j: IntArray, r: int) -> float:
    """Return the rate that prescribed bodies give to bilateral row `r`, or time to that of a function."""
    if wholes(j, ja.ROLE)[r] == ja.BY_FUNCTION:
        return float(reals(j, ja.RATE)[r])
    return _driven_rate(t, wholes(j, ja.ROW_BODY), real_rows(j, ja.JACOBIAN), r)


@inner_kernel
def _evaluate(t: IntArray, j: IntArray) -> None:
    """Evaluate all bilateral rows where the step begins."""
    body, J, psi, rate = wholes(j, ja.ROW_BODY), real_rows(j, ja.JACOBIAN), reals(j, ja.PSI), reals(j, ja.RATE)
    joint, role, pull = wholes(j, ja.ROW_JOINT), wholes(j, ja.ROLE), 1.0 / reals(t, NUMBERS)[DRIFT]
    motion, setting, x_2 = real_rows(j, ja.MOTION), real_rows(j, ja.SETTING), reals(j, ja.X_2)
    evaluate_rows(t, j, ja.ROW_JOINT, body, J, psi, ja.ROWS_HERE)
    for r in range(psi.shape[0]):
        if role[r] != ja.BY_FUNCTION:  # that of a function has been told
            rate[r] = _driven_rate(t, body, J, r)
        if role[r] == ja.SPRING:
            psi[r] -= setting[joint[r], ja.REST]
        elif role[r] == ja.DRIVEN:
            psi[r] -= motion[joint[r], ja.AIM]
            rate[r] -= motion[joint[r], ja.AIM_RATE]
        x_2[r] = pull * psi[r] + rate[r]
    gauge_body, gauge_J, gauge_rate = wholes(j, ja.GAUGE_BODY), real_rows(j, ja.GAUGE_JACOBIAN), reals(j, ja.GAUGE_RATE)
    for c in range(wholes(j, ja.GAUGE_JOINT).shape[0]):
        gauge_rate[c] = _driven_rate(t, gauge_body, gauge_J, c)
    pose_springs(t, j)


@inner_kernel
def answer_mechanism(t: IntArray, j: IntArray, k: int, v_free: Array, v: Array, x_2: Array, impulse: Array) -> None:
    """Set `v` (n_b, 6) of the bodies of mechanism `k` to `v_free` with joints, `impulse` to those of its rows."""
    M, start, tree_body = real_blocks(j, ja.INERTIAS), wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_BODY)
    first, stop = wholes(j, ja.TREE_FIRST), wholes(j, ja.TREE_STOP)
    for at in range(start[k], start[k + 1]):
        b = tree_body[at]
        w = (v_free[b, 3], v_free[b, 4], v_free[b, 5])
        for i in range(3):
            v[b, i] = M[b, i, i] * v_free[b, i]
            v[b, 3 + i] = M[b, 3 + i, 3] * w[0] + M[b, 3 + i, 4] * w[1] + M[b, 3 + i, 5] * w[2]
        for r in range(first[at], stop[at]):
            impulse[r] = x_2[r]
    solve_mechanism(j, k, v, impulse)
    close_loops(t, j, k, v, x_2, 1.0, impulse)


@inner_kernel
def answer_freely(t: IntArray, j: IntArray, v: Array, x_2: Array, impulse: Array) -> None:
    """Set `v` (n_b, 6) of joined bodies to their free velocities with joints, `impulse` to those of the rows."""
    for k in range(whole_rows(j, ja.LOOPS).shape[0]):
        answer_mechanism(t, j, k, real_rows(t, V_FREE), v, x_2, impulse)


@inner_kernel
def _reach_further(t: IntArray, j: IntArray) -> None:
    """Let bodies that a joint drives from rest see as far as it takes them; drift left aside."""
    bound, reach, h, push = reals(t, BOUND), reals(t, REACH), reals(t, NUMBERS)[H], real_rows(j, ja.PUSH)
    tree_body = wholes(j, ja.TREE_BODY)
    answer_freely(t, j, push, reals(j, ja.RATE), reals(j, ja.REACTION))
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        speed = math.sqrt(push[b, 0] ** 2 + push[b, 1] ** 2 + push[b, 2] ** 2)
        speed += bound[b] * math.sqrt(push[b, 3] ** 2 + push[b, 4] ** 2 + push[b, 5] ** 2)
        reach[b] = max(reach[b], REACH_FACTOR * h * speed + REACH_FRACTION * bound[b])


@inner_kernel
def join(t: IntArray) -> None:
    """Eliminate the joints of the step ahead; those of the step behind are settled."""
    j = whole_rows(t, JOINTS)
    measure(t, j)
    _evaluate(t, j)
    tally = wholes(j, ja.TALLY)
    if tally[ja.FACTORED] == 0:
        factor_trees(t, j)
        factor_loops(t, j)
    tally[ja.FACTORED] = 0
    if tally[ja.MOVES] == 1:
        _reach_further(t, j)
    answer_freely(t, j, real_rows(t, V_FREE), reals(j, ja.X_2), reals(j, ja.REACTION_FREE))
    if wholes(t, COUNTS)[VEERS] == 1:
        h = reals(t, NUMBERS)[DRIFT]
        veer_bodies(
            wholes(t, WAY), real_blocks(t, INERTIA), real_rows(t, Q), real_rows(t, V_FREE), h, real_rows(t, VEER)
        )


@inner_kernel
def _couple_of(t: IntArray, k: int, frame: Frame) -> Vector:
    """Return the couple that acts at contact `k`, whose frame this is."""
    axes, c0, c1, c2 = wholes(t, COUPLE_AXES), 0.0, 0.0, 0.0
    for i in range(axes.shape[0]):
        if axes[i] < 3:
            continue
        couple = real_rows(t, COUPLE_P)[k, i] * real_rows(t, COUPLE_SCALE)[k, i] * real_rows(t, COUPLE_UNIT)[k, i]
        d = frame[axes[i] - 3]
        c0, c1, c2 = c0 + couple * d[0], c1 + couple * d[1], c2 + couple * d[2]
    return (c0, c1, c2)


@inner_kernel
def _push_bodies(t: IntArray, j: IntArray) -> None:
    """Add up what contacts and laws do to joined bodies in ``PUSH``."""
    counts, order, index, value = (
        wholes(t, COUNTS),
        wholes(t, ORDER),
        whole_rows(t, SEEN_INDEX),
        real_rows(t, SEEN_VALUE),
    )
    p, push, tree_of, fixed = real_rows(t, P), real_rows(j, ja.PUSH), whole_rows(j, ja.TREE_OF), counts[FIXED]
    law, law_value = whole_rows(j, ja.LAW), real_rows(j, ja.LAW_VALUE)
    terms, body, J = wholes(j, ja.GAUGE_TERMS), wholes(j, ja.GAUGE_BODY), real_rows(j, ja.GAUGE_JACOBIAN)
    for k in range(counts[ACTIVE]):
        c = order[k]
        if c >= counts[SEEN]:
            l = c - counts[SEEN]
            along = p[k, 0] if law[l, ja.LAW_KIND] <= ja.HIGH_LIMIT else p[k, 1]
            law_value[l, ja.LAW_IMPULSE] = along
            for term in range(terms[law[l, ja.LAW_GAUGE]], terms[law[l, ja.LAW_GAUGE] + 1]):
                if body[term] >= fixed:
                    for m in range(6):
                        push[body[term], m] += law_value[l, ja.SIDE] * along * J[term, m]
            continue
        if p[k, 0] == 0.0 and p[k, 1] == 0.0 and p[k, 2] == 0.0:  # nor does a couple act
            continue
        n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
        tangent, other = tangent_frame(n)
        force = (
            p[k, 0] * n[0] + p[k, 1] * tangent[0] + p[k, 2] * other[0],
            p[k, 0] * n[1] + p[k, 1] * tangent[1] + p[k, 2] * other[1],
            p[k, 0] * n[2] + p[k, 1] * tangent[2] + p[k, 2] * other[2],
        )
        arms = contact_arms(value, real_rows(t, Q), c, index[c, A_BODY], index[c, B_BODY], fixed)
        couple = _couple_of(t, k, (n, tangent, other))
        for side in range(2):
            b = index[c, side]
            if b < fixed or tree_of[b, ja.MECHANISM] < 0:
                continue
            sign, moment = 1.0 if side == 1 else -1.0, cross(arms[side], force)
            for m in range(3):
                push[b, m] += sign * force[m]
                push[b, 3 + m] += sign * (moment[m] + couple[m])


@inner_kernel
def _count_slip(t: IntArray, j: IntArray) -> None:
    """Add friction of contacts times the changes of slip to ``SWING``."""
    counts, order, index = wholes(t, COUNTS), wholes(t, ORDER), whole_rows(t, SEEN_INDEX)
    p, value, v, v_0 = real_rows(t, P), real_rows(t, SEEN_VALUE), real_rows(t, V), real_rows(t, V_0)
    swing = 0.0
    for k in range(counts[ACTIVE]):
        c = order[k]
        if c >= counts[SEEN] or p[k, 0] == 0.0:
            continue
        n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
        tangent, other = tangent_frame(n)
        couple = _couple_of(t, k, (n, tangent, other))
        arms = contact_arms(value, real_rows(t, Q), c, index[c, A_BODY], index[c, B_BODY], counts[FIXED])
        force = (
            p[k, 1] * tangent[0] + p[k, 2] * other[0],
            p[k, 1] * tangent[1] + p[k, 2] * other[1],
            p[k, 1] * tangent[2] + p[k, 2] * other[2],
        )
        for side in range(2):
            b = index[c, side]
            if b < counts[FIXED]:
                continue
            sign, moment = 1.0 if side == 1 else -1.0, cross(arms[side], force)
            for m in range(3):
                swing += sign * force[m] * (v[b, m] - v_0[b, m])
                swing += sign * (moment[m] + couple[m]) * (v[b, 3 + m] - v_0[b, 3 + m])
    reals(j, ja.SUMS)[ja.SWING] += swing


@inner_kernel
def answer(t: IntArray) -> None:
    """Set the velocities of joined bodies and the impulses of the rows that go with the impulses found."""
    j = whole_rows(t, JOINTS)
    v, v_free, push, tree = real_rows(t, V), real_rows(t, V_FREE), real_rows(j, ja.PUSH), whole_rows(j, ja.TREE)
    tree_body, reaction, reaction_free = wholes(j, ja.TREE_BODY), reals(j, ja.REACTION), reals(j, ja.REACTION_FREE)
    for at in range(tree_body.shape[0]):
        for m in range(6):
            push[tree_body[at], m] = 0.0
    for r in range(reaction.shape[0]):
        reaction[r] = 0.0
    _push_bodies(t, j)
    for k in range(tree.shape[0]):
        if tree[k, ja.ACTS] == 1:
            solve_mechanism(j, k, push, reaction)
            close_loops(t, j, k, push, reals(j, ja.X_2), 0.0, reaction)
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        for m in range(6):
            v[b, m] = v_free[b, m] + push[b, m]
    for r in range(reaction.shape[0]):
        reaction[r] += reaction_free[r]
    if reals(t, NUMBERS)[DRIFT] == reals(t, NUMBERS)[H]:  # else steps are symmetric in time without it
        release_idle(t, j)
        close_joints(t, j)
    sum_up(t, j)
    _count_slip(t, j)
