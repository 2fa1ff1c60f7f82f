r"""The compiled step, joints: mechanisms on which nothing else acts close their joints where the step ends.

The rows of a step are linear, :math:`J(q) v^+ + \psi/h = 0`, and leave :math:`\psi^+ = h^2 \kappa/2` open, for joints
turn with their bodies. Taken back by the next step, one step late, this takes energy from what turns. Here the rows
also ask for what they would leave open,

.. math:: J(q) v^+ + (\psi + \hat\psi)/h = 0, \qquad \psi(q^+(v^+)) = 0 ,

found by repetition along the rows of the start, and velocities are made to obey the joints where the step ends: the
method RATTLE, symmetric in time, which keeps the energy of smooth motion but for a part that swings by the second order
in h and does not add up. Impulses act where the step begins, and every body flies on by itself
(:mod:`signorini.dynamics.flight`), so a mechanism that flies free keeps its angular momentum to rounding. Where
contacts or limits press on a mechanism, or friction or motors act, their laws are posed with the velocities of the
linear rows, and these are kept; and where a contact or a limit that does not press would close further than it may.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.constants import MOST_TURN
from signorini.dynamics.flight import turned
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    B_BODY,
    COLLIDES,
    COUNTS,
    COUPLE_AXES,
    COUPLE_SCALE,
    COUPLE_U,
    COUPLE_UNIT,
    DIM,
    DRIVE,
    FIXED,
    INERTIA,
    LOAD,
    NORMAL,
    NUMBERS,
    ORDER,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    V_0,
    WAY,
    B,
    H,
    P,
    Q,
    U,
    V,
)
from signorini.engine.contacts import Vector, contact_arms, point_velocity
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.checks import Sizes, row_size, row_sizes
from signorini.engine.joints.loops import close_loops
from signorini.engine.joints.trees import evaluate_rows, gauge_rows, row_speed, solve_mechanism
from signorini.math.rotation import dot, tangent_frame
from signorini.posing.constants import CLOSED_TO, MOST_CLOSINGS

CLOSES, CLOSES_NEXT, GOES_ON, FAILS = 0, 1, 2, 3
"""Joints are closed, or will be by one more correction, or by some; or it leads nowhere."""


@kernel
def closing(apart: float, before: float, repetition: int) -> int:
    """Tell from how far joints are apart, and were before the last correction, what is to be done."""
    if apart <= CLOSED_TO:
        return CLOSES
    if not apart < before or repetition == MOST_CLOSINGS:
        return FAILS
    # What is left falls by as much again.
    return CLOSES_NEXT if before < math.inf and apart * apart <= CLOSED_TO * before else GOES_ON


@inner_kernel
def _move(t: IntArray, q: Array, q_0: Array, v: Array, b: int) -> None:
    """Move body `b` from `q_0` to where velocity `v` takes it in a step."""
    h, e = reals(t, NUMBERS)[H], (q_0[b, 3], q_0[b, 4], q_0[b, 5], q_0[b, 6])
    e = turned(wholes(t, WAY)[b], real_blocks(t, INERTIA)[b], e, (v[b, 3], v[b, 4], v[b, 5]), h)
    for k in range(3):
        q[b, k] = q_0[b, k] + h * v[b, k]
    for k in range(4):
        q[b, 3 + k] = e[k]


@inner_kernel
def _open(j: IntArray, psi: Array, J: Array, sizes: Sizes, r: int, h: float) -> float:
    """Correct the residual of row `r` where the step ends by what is meant to be open, return it beside its size."""
    _, role, _, _ = sizes
    if role[r] == ja.SPRING:
        psi[r] = 0.0
    elif role[r] == ja.DRIVEN:
        g, motion = wholes(j, ja.ROW_JOINT)[r], real_rows(j, ja.MOTION)
        psi[r] -= motion[g, ja.AIM] + h * motion[g, ja.AIM_RATE]
    return float(abs(psi[r]) / row_size(sizes, J, r))


@inner_kernel
def _apart(j: IntArray, k: int, h: float) -> float:
    """Return by how much the joints of mechanism `k` are apart, beside their sizes."""
    start, first, stop = wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_FIRST), wholes(j, ja.TREE_STOP)
    loops, loop_row, worst = whole_rows(j, ja.LOOPS), wholes(j, ja.LOOP_ROW), 0.0
    psi, J, sizes = reals(j, ja.END_PSI), real_rows(j, ja.END_JACOBIAN), row_sizes(j)
    for at in range(start[k], start[k + 1]):
        for r in range(first[at], stop[at]):
            worst = max(worst, _open(j, psi, J, sizes, r, h))
    for i in range(loops[k, ja.LOOP_FIRST], loops[k, ja.LOOP_STOP]):
        worst = max(worst, _open(j, psi, J, sizes, loop_row[i], h))
    return worst


@inner_kernel
def _correct(t: IntArray, j: IntArray, k: int) -> None:
    """Ask the rows of mechanism `k` for what they leave open, too."""
    start, first, stop = wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_FIRST), wholes(j, ja.TREE_STOP)
    loops, loop_row, tree_body = whole_rows(j, ja.LOOPS), wholes(j, ja.LOOP_ROW), wholes(j, ja.TREE_BODY)
    push, impulse, total = real_rows(j, ja.PUSH), reals(j, ja.END_IMPULSE), reals(j, ja.END_SUM)
    asked, closed, v, h = reals(j, ja.END_PSI), reals(j, ja.CLOSED), real_rows(t, V), reals(t, NUMBERS)[H]
    for at in range(start[k], start[k + 1]):
        for l in range(6):
            push[tree_body[at], l] = 0.0
        for r in range(first[at], stop[at]):
            asked[r] /= h
            closed[r] += asked[r]
            impulse[r] = asked[r]
    for i in range(loops[k, ja.LOOP_FIRST], loops[k, ja.LOOP_STOP]):
        asked[loop_row[i]] /= h
        closed[loop_row[i]] += asked[loop_row[i]]
    solve_mechanism(j, k, push, impulse)
    close_loops(t, j, k, push, asked, 1.0, impulse)
    for at in range(start[k], start[k + 1]):
        for l in range(6):
            v[tree_body[at], l] += push[tree_body[at], l]
        for r in range(first[at], stop[at]):
            total[r] += impulse[r]
    for i in range(loops[k, ja.LOOP_FIRST], loops[k, ja.LOOP_STOP]):
        total[loop_row[i]] += impulse[loop_row[i]]


@inner_kernel
def _leave(t: IntArray, j: IntArray, k: int) -> None:
    """Leave mechanism `k` as its linear rows do."""
    start, first, stop = wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_FIRST), wholes(j, ja.TREE_STOP)
    loops, loop_row, tree_body = whole_rows(j, ja.LOOPS), wholes(j, ja.LOOP_ROW), wholes(j, ja.TREE_BODY)
    total, closed, v, v_0 = reals(j, ja.END_SUM), reals(j, ja.CLOSED), real_rows(t, V), real_rows(j, ja.END_V)
    for at in range(start[k], start[k + 1]):
        for l in range(6):
            v[tree_body[at], l] = v_0[tree_body[at], l]
        for r in range(first[at], stop[at]):
            total[r] = 0.0
            closed[r] = 0.0
    for i in range(loops[k, ja.LOOP_FIRST], loops[k, ja.LOOP_STOP]):
        total[loop_row[i]] = 0.0
        closed[loop_row[i]] = 0.0


@inner_kernel
def _move_all(t: IntArray, j: IntArray, q: Array, q_0: Array) -> None:
    """Move the bodies of mechanisms that are not closed yet to where the step takes them."""
    tree, start, tree_body = whole_rows(j, ja.TREE), wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_BODY)
    v = real_rows(t, V)
    for k in range(tree.shape[0]):
        if tree[k, ja.ACTS] == 0:
            for at in range(start[k], start[k + 1]):
                _move(t, q, q_0, v, tree_body[at])


@inner_kernel
def _turns_too_far(t: IntArray, j: IntArray, k: int) -> bool:
    """Tell whether a body of mechanism `k` came so fast that the rows of the start mean little where the step ends."""
    start, tree_body, v, most = wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_BODY), real_rows(t, V_0), 0.0
    for at in range(start[k], start[k + 1]):
        b = tree_body[at]
        most = max(most, v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2)
    return bool(reals(t, NUMBERS)[H] * math.sqrt(most) > MOST_TURN)


@inner_kernel
def release_idle(t: IntArray, j: IntArray) -> None:
    """Let mechanisms close on which contacts and limits are posed, but none presses; friction and motors always act."""
    counts, order, index, p = wholes(t, COUNTS), wholes(t, ORDER), whole_rows(t, SEEN_INDEX), real_rows(t, P)
    tree, tree_of, law = whole_rows(j, ja.TREE), whole_rows(j, ja.TREE_OF), whole_rows(j, ja.LAW)
    if counts[COLLIDES] == 1:
        return
    for k in range(tree.shape[0]):
        tree[k, ja.ACTS] = -tree[k, ja.ACTS] if tree[k, ja.ACTS] == 1 else tree[k, ja.ACTS]
    for k in range(counts[ACTIVE]):
        c = order[k]
        presses = p[k, 0] != 0.0 or p[k, 1] != 0.0 or p[k, 2] != 0.0
        if c >= counts[SEEN]:
            presses = presses or law[c - counts[SEEN], ja.LAW_KIND] > ja.HIGH_LIMIT
        for side in range(2 if presses else 0):
            b = index[c, side]
            if b >= counts[FIXED] and tree_of[b, ja.MECHANISM] >= 0:
                tree[tree_of[b, ja.MECHANISM], ja.ACTS] = 1
    for k in range(tree.shape[0]):
        tree[k, ja.ACTS] = 0 if tree[k, ja.ACTS] < 0 else tree[k, ja.ACTS]


@inner_kernel
def _approach(t: IntArray, c: int) -> Vector:
    """Return the relative velocity of contact `c` at the velocities found."""
    value, index, v, fixed = (
        real_rows(t, SEEN_VALUE),
        whole_rows(t, SEEN_INDEX),
        real_rows(t, V),
        wholes(t, COUNTS)[FIXED],
    )
    a, b = index[c, A_BODY], index[c, B_BODY]
    arm_a, arm_b = contact_arms(value, real_rows(t, Q), c, a, b, fixed)
    to, fro = point_velocity(v, b, arm_b), point_velocity(real_rows(t, DRIVE) if a < fixed else v, a, arm_a)
    return (to[0] - fro[0], to[1] - fro[1], to[2] - fro[2])


@inner_kernel
def _closes_further(t: IntArray, j: IntArray, k: int) -> bool:
    """Tell whether row `k`, of a contact or a limit, closes further than it may at the velocities found."""
    c, seen, v, b, load = (
        wholes(t, ORDER)[k],
        wholes(t, COUNTS)[SEEN],
        real_rows(t, V),
        real_rows(t, B),
        real_rows(t, LOAD),
    )
    value, fixed, law = real_rows(t, SEEN_VALUE), wholes(t, COUNTS)[FIXED], whole_rows(j, ja.LAW)
    if c >= seen:
        l, posed = c - seen, real_rows(j, ja.LAW_VALUE)
        speed = row_speed(gauge_rows(j), law[l, ja.LAW_GAUGE], v, fixed)
        left = posed[l, ja.SIDE] * speed + posed[l, ja.LAW_RATE] + posed[l, ja.LAW_PSI] / reals(t, NUMBERS)[H]
        return bool(law[l, ja.LAW_KIND] <= ja.HIGH_LIMIT and left < 0.0)
    u, n = _approach(t, c), (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    return bool(dot(n, u) + load[k, 0] - b[k, 0] < 0.0)


@inner_kernel
def _yield(t: IntArray, j: IntArray) -> None:
    """Leave mechanisms as their linear rows do that would close a contact or a limit further than it may."""
    counts, order, index, tree, tree_of = (
        wholes(t, COUNTS),
        wholes(t, ORDER),
        whole_rows(t, SEEN_INDEX),
        whole_rows(j, ja.TREE),
        whole_rows(j, ja.TREE_OF),
    )
    for k in range(counts[ACTIVE]):
        for side in range(2):
            b = index[order[k], side]
            m = tree_of[b, ja.MECHANISM] if b >= counts[FIXED] else -1
            if m >= 0 and tree[m, ja.ACTS] == ja.IS_CLOSED and _closes_further(t, j, k):
                _leave(t, j, m)
                tree[m, ja.ACTS] = ja.IS_LEFT


@inner_kernel
def _renew(t: IntArray, j: IntArray) -> None:
    """Tell contacts beside mechanisms that have closed, none of which presses, how fast they move."""
    counts, order, index, value = (
        wholes(t, COUNTS),
        wholes(t, ORDER),
        whole_rows(t, SEEN_INDEX),
        real_rows(t, SEEN_VALUE),
    )
    tree, tree_of, axes = whole_rows(j, ja.TREE), whole_rows(j, ja.TREE_OF), wholes(t, COUPLE_AXES)
    u, load, b_free = real_rows(t, U), real_rows(t, LOAD), real_rows(t, B)
    for k in range(counts[ACTIVE]):
        c, moved = order[k], False
        for side in range(2 if c < counts[SEEN] else 0):
            b = index[c, side]
            m = tree_of[b, ja.MECHANISM] if b >= counts[FIXED] else -1
            moved = moved or (m >= 0 and tree[m, ja.ACTS] == ja.IS_CLOSED)
        if not moved:
            continue
        n, w = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2]), _approach(t, c)
        tangent, other = tangent_frame(n)
        frame = (n, tangent, other)
        for i in range(counts[DIM]):
            u[k, i] = dot(frame[i], w) + load[k, i] - b_free[k, i]
        for i in range(axes.shape[0]):
            if axes[i] < 3:
                unit = real_rows(t, COUPLE_SCALE)[k, i] * real_rows(t, COUPLE_UNIT)[k, i]
                real_rows(t, COUPLE_U)[k, i] = unit * u[k, axes[i]]


@inner_kernel
def _prepare(t: IntArray, j: IntArray) -> int:
    """Remember where mechanisms begin, and how fast; return on how many nothing acts."""
    q, q_0, v, v_0 = real_rows(t, Q), real_rows(j, ja.END_Q), real_rows(t, V), real_rows(j, ja.END_V)
    tree, apart, total, closed = (
        whole_rows(j, ja.TREE),
        reals(j, ja.APART),
        reals(j, ja.END_SUM),
        reals(j, ja.CLOSED),
    )
    alone = 0
    for k in range(tree.shape[0]):
        if tree[k, ja.ACTS] >= ja.IS_CLOSED:  # when the step was moved before
            tree[k, ja.ACTS] = 0
        if tree[k, ja.ACTS] == 0 and (wholes(j, ja.TALLY)[ja.PROJECTS] == 1 or _turns_too_far(t, j, k)):
            tree[k, ja.ACTS] = ja.IS_LEFT
        alone += 1 if tree[k, ja.ACTS] == 0 else 0
        apart[k] = math.inf
    for r in range(closed.shape[0]):
        closed[r] = 0.0
        total[r] = 0.0
    for b in range(q.shape[0] if alone > 0 else 0):
        for l in range(7):
            q_0[b, l] = q[b, l]
        for l in range(6):
            v_0[b, l] = v[b, l]
    return alone


@inner_kernel
def close_joints(t: IntArray, j: IntArray) -> None:
    """Close the joints of mechanisms on which nothing acts; velocities and impulses of the rows follow."""
    alone = _prepare(t, j)
    if alone == 0:
        return
    q, q_0, drive, apart = real_rows(t, Q), real_rows(j, ja.END_Q), real_rows(t, DRIVE), reals(j, ja.APART)
    tree, fixed, h, psi = whole_rows(j, ja.TREE), wholes(t, COUNTS)[FIXED], reals(t, NUMBERS)[H], reals(j, ja.END_PSI)
    for b in range(fixed):
        _move(t, q, q_0, drive, b)
    for repetition in range(MOST_CLOSINGS + 1):
        _move_all(t, j, q, q_0)
        evaluate_rows(t, j, ja.ROW_JOINT, wholes(j, ja.END_BODY), real_rows(j, ja.END_JACOBIAN), psi, ja.ROWS_AHEAD)
        for k in range(tree.shape[0]):
            if tree[k, ja.ACTS] != 0:
                continue
            worst = _apart(j, k, h)
            state = closing(worst, apart[k], repetition)
            if state != CLOSES:
                _correct(t, j, k)
                apart[k] = worst
            if state == FAILS:
                _leave(t, j, k)
            if state != GOES_ON:
                tree[k, ja.ACTS] = ja.IS_OPEN if state == FAILS else ja.IS_CLOSED
                alone -= 1
        if alone == 0:
            break
    for b in range(q.shape[0]):
        for l in range(7):
            q[b, l] = q_0[b, l]
    _yield(t, j)
    _renew(t, j)
    reaction, total = reals(j, ja.REACTION), reals(j, ja.END_SUM)
    for r in range(reaction.shape[0]):
        reaction[r] += total[r]
