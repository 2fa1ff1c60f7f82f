"""The compiled step for theta < 1, joints: their coordinates drift with the bodies, and rows act where these come to.

See :mod:`~signorini.engine.theta`.
"""

from __future__ import annotations

import math

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.bodies import IMPLICIT, apply3, solve_inertia
from signorini.dynamics.constants import TURN_AT_ONCE
from signorini.engine.arrays import (
    COUNTS,
    DRIFT,
    GYROSCOPIC,
    INERTIA,
    JOIN,
    JOINTS,
    NUMBERS,
    V_FREE,
    V_SPUN,
    WAY,
    H,
    Q,
    V,
)
from signorini.engine.bodies import load_bodies
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.checks import measure
from signorini.engine.joints.trees import gauge_rows, row_speed
from signorini.math.rotation import cross, rotate, unrotate


@inner_kernel
def drift_joints(t: IntArray) -> None:
    """Note the coordinates at the start of the step, and take them on to where old velocities lead."""
    j, v, early = whole_rows(t, JOINTS), real_rows(t, V), reals(t, NUMBERS)[H] - reals(t, NUMBERS)[DRIFT]
    joint, gauges = wholes(j, ja.GAUGE_JOINT), gauge_rows(j)
    coordinate, start, speed = reals(j, ja.COORDINATE), reals(j, ja.COORDINATE_0), reals(j, ja.START_SPEED)
    measure(t, j)
    for g in range(coordinate.shape[0]):
        start[g] = coordinate[g]
    for c in range(joint.shape[0]):
        speed[joint[c]] = row_speed(gauges, c, v, ja.EVERY_BODY)
        coordinate[joint[c]] += early * speed[joint[c]]


@inner_kernel
def _spin_about(t: IntArray) -> bool:
    """Advance velocities by the gyroscopic term at the mean of the step with joints; False where bodies turn too far.

    Without them it would be of the first order for a body whose spin a joint turns.
    """
    numbers, way, inertia, q = reals(t, NUMBERS), wholes(t, WAY), real_blocks(t, INERTIA), real_rows(t, Q)
    v, v_spun, ahead = real_rows(t, V), real_rows(t, V_SPUN), real_rows(t, V_FREE)
    h, theta, fastest = numbers[H], numbers[DRIFT] / numbers[H], 0.0
    for b in range(v.shape[0]):
        fastest = max(fastest, math.sqrt(v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2))
    if numbers[DRIFT] * fastest > TURN_AT_ONCE:
        return False
    for b in range(v.shape[0]):
        if way[b] != IMPLICIT:
            continue
        e, w = (q[b, 3], q[b, 4], q[b, 5], q[b, 6]), v[b]
        mean = (
            theta * ahead[b, 3] + (1.0 - theta) * w[3],
            theta * ahead[b, 4] + (1.0 - theta) * w[4],
            theta * ahead[b, 5] + (1.0 - theta) * w[5],
        )
        x = unrotate(e, mean)
        g = cross(x, apply3(inertia[b], x))
        more = rotate(e, solve_inertia(inertia[b], (-h * g[0], -h * g[1], -h * g[2])))
        for k in range(3):
            v_spun[b, 3 + k] = w[3 + k] + more[k]
    return True


@inner_kernel
def aim_joints(t: IntArray) -> None:
    """Eliminate the joints where the step acts; velocities have felt the gyroscopic term and the loads."""
    j = whole_rows(t, JOINTS)
    perform(t[JOIN, 0], (t,))
    if wholes(t, COUNTS)[GYROSCOPIC] == IMPLICIT and _spin_about(t):
        load_bodies(t)
        perform(t[JOIN, 0], (t,))
    coordinate, gauge, joint = reals(j, ja.COORDINATE), reals(j, ja.GAUGE), wholes(j, ja.GAUGE_JOINT)
    for c in range(joint.shape[0]):
        coordinate[joint[c]] = gauge[c]
