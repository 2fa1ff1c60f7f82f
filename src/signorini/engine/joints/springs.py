"""The compiled step, joints: how springs push, by how stiff they are beside the step.

See :mod:`signorini.dynamics.joint_springs` for the law, and :func:`signorini.dynamics.joints.spring_steepness`, which
this follows row by row.
"""

from __future__ import annotations

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.dynamics.constants import HELD_MOBILITY, NO_FORCE, STIFF
from signorini.dynamics.joint_springs import midpoint_share
from signorini.engine.arrays import COUNTS, DRIFT, FACTOR, FIXED, NUMBERS, H, V
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.loops import factor_loops, take_out_rows
from signorini.engine.joints.rows import climb, mobility_alone
from signorini.engine.joints.trees import factor_trees, held_rows, row_speed


@inner_kernel
def _joined_mobility(t: IntArray, j: IntArray, r: int) -> float:
    """Return the mobility of row `r` as the joints leave it; trees and loops are factored."""
    body, J, fixed = wholes(j, ja.ROW_BODY), real_rows(j, ja.JACOBIAN), wholes(t, COUNTS)[FIXED]
    force, spread, mobility = real_rows(j, ja.FORCE), real_rows(j, ja.SPREAD), reals(j, ja.MOBILITY)
    mechanism, s = -1, 0.0
    for term in range(2 * r, 2 * r + 2):
        if body[term] >= fixed:
            for l in range(6):
                force[0, l] = J[term, l]
            climb(t, j, body[term], ja.EVERY_BODY, ja.EVERY_BODY + 1)
            mechanism = whole_rows(j, ja.TREE_OF)[body[term], ja.MECHANISM]
    if mechanism >= 0:
        take_out_rows(j, mechanism)
    for l in range(spread.shape[1]):
        s += spread[0, l] ** 2
        spread[0, l] = 0.0
    s = 0.0 if s <= HELD_MOBILITY * mobility[0] else s
    mobility[0] = 0.0
    return s


@inner_kernel
def _pose_by_theta(t: IntArray, j: IntArray) -> None:
    """Let springs push by the mean of their stretches at start and end of the step, weighted as velocities are."""
    role, soft, x_2, psi = wholes(j, ja.ROLE), reals(j, ja.SOFT_ROW), reals(j, ja.X_2), reals(j, ja.PSI)
    joint, setting, rate = wholes(j, ja.ROW_JOINT), real_rows(j, ja.SETTING), reals(j, ja.RATE)
    rows, v, share = held_rows(j), real_rows(t, V), reals(j, ja.SHARE)
    fixed, h, drift = wholes(t, COUNTS)[FIXED], reals(t, NUMBERS)[H], reals(t, NUMBERS)[DRIFT]
    theta = drift / h
    for r in range(role.shape[0]):
        if role[r] == ja.SPRING:
            k, c = setting[joint[r], ja.STIFFNESS], setting[joint[r], ja.DAMPING]
            share[r] = 1.0
            speed = row_speed(rows, r, v, fixed) + rate[r]
            soft[r] = 1.0 / (h * (theta * drift * k + c))
            x_2[r] = rate[r] + soft[r] * h * k * (psi[r] - (1.0 - theta) * (h - drift) * speed)


@inner_kernel
def pose_springs(t: IntArray, j: IntArray) -> None:
    """Set compliance and right-hand side of all springs; rows are evaluated where the step begins."""
    role, soft, x_2, psi = wholes(j, ja.ROLE), reals(j, ja.SOFT_ROW), reals(j, ja.X_2), reals(j, ja.PSI)
    joint, setting, rate = wholes(j, ja.ROW_JOINT), real_rows(j, ja.SETTING), reals(j, ja.RATE)
    body, J, L = wholes(j, ja.ROW_BODY), real_rows(j, ja.JACOBIAN), real_rows(t, FACTOR)
    fixed, h, v, steep = wholes(t, COUNTS)[FIXED], reals(t, NUMBERS)[H], real_rows(t, V), False
    rows, share, drift = held_rows(j), reals(j, ja.SHARE), reals(t, NUMBERS)[DRIFT]
    if drift < h:
        _pose_by_theta(t, j)
        return
    for r in range(role.shape[0]):
        if role[r] == ja.SPRING:
            w = 0.0
            for term in range(2 * r, 2 * r + 2):
                if body[term] >= fixed:
                    w += mobility_alone(L[body[term]], J[term])
            x_2[r] = h * h * setting[joint[r], ja.STIFFNESS] * w
            soft[r] = NO_FORCE
            steep = steep or x_2[r] > STIFF
    if steep:  # joints make bodies heavier
        factor_trees(t, j)
        factor_loops(t, j)
    for r in range(role.shape[0]):
        if role[r] == ja.SPRING and x_2[r] > STIFF:
            x_2[r] = h * h * setting[joint[r], ja.STIFFNESS] * _joined_mobility(t, j, r)
    for r in range(role.shape[0]):
        if role[r] == ja.SPRING:
            k, c = setting[joint[r], ja.STIFFNESS], setting[joint[r], ja.DAMPING]
            share[r] = midpoint_share(x_2[r])
            speed = row_speed(rows, r, v, fixed) + rate[r]
            soft[r] = 1.0 / (h * ((1.0 - 0.75 * share[r]) * h * k + c))
            x_2[r] = rate[r] + soft[r] * h * k * (psi[r] - 0.25 * h * share[r] * speed)
