"""The compiled step, bodies: free motion before the contacts, new velocities and places after them."""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.bodies import gyroscopic
from signorini.dynamics.flight import fly_bodies, turn_rate, veer_bodies
from signorini.dynamics.motion import move_bodies
from signorini.engine.arrays import (
    ANSWER_JOINTS,
    BOUND,
    COUNTS,
    DRIFT,
    DRIVE,
    FACTOR,
    FAR,
    FIRST_BODY,
    FIRST_CONTACT,
    FIXED,
    FLOWN,
    FOLLOWS,
    FREE,
    INERTIA,
    ISLAND,
    JOINED,
    LATER,
    MASS,
    NUMBERS,
    OWN_ISLAND,
    P_EXT,
    PLACE,
    Q_0,
    REACH,
    ROOT,
    SOLVING,
    SPRING,
    STIRRED,
    THINNEST,
    TIME,
    V_0,
    V_FREE,
    V_SPUN,
    VEER,
    VEERS,
    WAY,
    Y_ROW,
    H,
    Q,
    V,
)
from signorini.engine.sleep import is_asleep
from signorini.math.rotation import matrix
from signorini.posing.constants import REACH_FACTOR, REACH_FRACTION, SWIFT, TOO_CLOSE


@inner_kernel
def mass_factors(mass: Array, free: Array, root: Array, q: Array, factor: Array) -> None:
    """Fill `factor` (n_b, 12) with L, ``L L^T = M^-1`` in world axes: the linear diagonal, then ``R A`` by rows."""
    for b in range(mass.shape[0]):
        if mass[b] == 0.0:
            continue
        s = 1.0 / math.sqrt(mass[b])
        R = matrix((q[b, 3], q[b, 4], q[b, 5], q[b, 6]))
        for i in range(3):
            factor[b, i] = s * free[b, i]
            for j in range(3):
                factor[b, 3 + 3 * i + j] = (
                    R[3 * i] * root[b, 0, j] + R[3 * i + 1] * root[b, 1, j] + R[3 * i + 2] * root[b, 2, j]
                )


@inner_kernel
def free_step(t: IntArray) -> None:
    """Advance velocities by the gyroscopic term and the loads, and tell how far bodies may come."""
    q, v, v_spun, h = real_rows(t, Q), real_rows(t, V), real_rows(t, V_SPUN), reals(t, NUMBERS)[H]
    for b in range(v.shape[0]):
        for k in range(6):
            v_spun[b, k] = v[b, k]
    gyroscopic(wholes(t, WAY), real_blocks(t, INERTIA), q, v, h, v_spun)
    load_bodies(t)


@inner_kernel
def load_bodies(t: IntArray) -> None:
    """Add what loads do to the velocities, and tell how far bodies may come."""
    numbers, bound, reach, q = reals(t, NUMBERS), reals(t, BOUND), reals(t, REACH), real_rows(t, Q)
    v_spun, v_free, p_ext, L = real_rows(t, V_SPUN), real_rows(t, V_FREE), real_rows(t, P_EXT), real_rows(t, FACTOR)
    fixed, h, way, inertia = wholes(t, COUNTS)[FIXED], numbers[H], wholes(t, WAY), real_blocks(t, INERTIA)
    drive = real_rows(t, DRIVE)
    mass_factors(reals(t, MASS), real_rows(t, FREE), real_blocks(t, ROOT), q, L)
    for b in range(v_free.shape[0]):
        x0 = L[b, 3] * p_ext[b, 3] + L[b, 6] * p_ext[b, 4] + L[b, 9] * p_ext[b, 5]
        x1 = L[b, 4] * p_ext[b, 3] + L[b, 7] * p_ext[b, 4] + L[b, 10] * p_ext[b, 5]
        x2 = L[b, 5] * p_ext[b, 3] + L[b, 8] * p_ext[b, 4] + L[b, 11] * p_ext[b, 5]
        for k in range(3):
            v_free[b, k] = v_spun[b, k] + L[b, k] * L[b, k] * p_ext[b, k]
            v_free[b, 3 + k] = v_spun[b, 3 + k] + L[b, 3 + 3 * k] * x0 + L[b, 4 + 3 * k] * x1 + L[b, 5 + 3 * k] * x2
        e, omega = (q[b, 3], q[b, 4], q[b, 5], q[b, 6]), (v_free[b, 3], v_free[b, 4], v_free[b, 5])
        speed = math.sqrt(v_free[b, 0] ** 2 + v_free[b, 1] ** 2 + v_free[b, 2] ** 2)
        speed += bound[b] * turn_rate(way[b], inertia[b], e, omega, numbers[DRIFT])
        if b >= fixed:
            reach[b] = REACH_FACTOR * h * speed + REACH_FRACTION * bound[b]
        else:  # their way is known exactly, however they begin it, and they are often huge
            w = drive[b]
            mean = math.sqrt(w[0] ** 2 + w[1] ** 2 + w[2] ** 2) + bound[b] * math.sqrt(
                w[3] ** 2 + w[4] ** 2 + w[5] ** 2
            )
            reach[b] = h * max(speed, mean)
    if wholes(t, COUNTS)[VEERS] == 1:
        veer_bodies(way, inertia, q, v_free, numbers[DRIFT], real_rows(t, VEER))


@inner_kernel
def _add_impulses(t: IntArray) -> None:
    """Add to the free velocities what the contacts of every island, whose y is found, do to their bodies."""
    counts, place, island = wholes(t, COUNTS), whole_rows(t, PLACE), whole_rows(t, ISLAND)
    v, v_free, L, solving = real_rows(t, V), real_rows(t, V_FREE), real_rows(t, FACTOR), reals(t, SOLVING)
    for b in range(counts[FIXED], v.shape[0]):
        for k in range(6):
            v[b, k] = v_free[b, k]
        if place[b, Y_ROW] < 0:
            continue
        if is_asleep(counts, place, b):
            for k in range(6):
                v[b, k] = 0.0
            continue
        i = place[b, OWN_ISLAND]
        y = 6 * (island[i, FIRST_BODY] + place[b, Y_ROW]) + 3 * island[i, FIRST_CONTACT]
        for k in range(3):
            v[b, k] += L[b, k] * solving[y + k]
            v[b, 3 + k] += (
                L[b, 3 + 3 * k] * solving[y + 3] + L[b, 4 + 3 * k] * solving[y + 4] + L[b, 5 + 3 * k] * solving[y + 5]
            )


@inner_kernel
def moves(t: IntArray, far: float) -> bool:
    """Tell whether a body with contacts, or one that felt them, moves by more than this part of the least width."""
    v, v_free, bound, numbers = real_rows(t, V), real_rows(t, V_FREE), reals(t, BOUND), reals(t, NUMBERS)
    place = whole_rows(t, PLACE)
    for b in range(wholes(t, COUNTS)[FIXED], v.shape[0]):
        speed = math.sqrt(v[b, 0] ** 2 + v[b, 1] ** 2 + v[b, 2] ** 2)
        speed += bound[b] * math.sqrt(v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2)
        if numbers[DRIFT] * speed > far * numbers[THINNEST]:
            touched = place[b, Y_ROW] >= 0
            for k in range(6):
                touched = touched or v[b, k] != v_free[b, k]
            if touched:
                return True
    return False


@inner_kernel
def move_step(t: IntArray) -> None:
    """Set the velocities that impulses give and move all bodies; y of the islands belongs to the impulses found."""
    counts, numbers = wholes(t, COUNTS), reals(t, NUMBERS)
    q, v, q_0, v_0 = real_rows(t, Q), real_rows(t, V), real_rows(t, Q_0), real_rows(t, V_0)
    flown = real_rows(t, FLOWN)
    for b in range(q.shape[0]):
        for k in range(7):
            q_0[b, k] = q[b, k]
        for k in range(6):
            v_0[b, k] = v[b, k]
    _add_impulses(t)
    if counts[JOINED] == 1:
        perform(t[ANSWER_JOINTS, 0], (t,))
    counts[FAR], counts[STIRRED] = 0, 0
    if counts[FOLLOWS] == 1 and (counts[LATER] > 0 or moves(t, TOO_CLOSE)):
        counts[STIRRED] = 1 if numbers[SPRING] == 0.0 else 0  # springs give way
        counts[FAR] = 1 if counts[LATER] > 0 or moves(t, SWIFT) else 0
    fly_bodies(wholes(t, WAY), real_blocks(t, INERTIA), q, v, numbers[DRIFT], flown)
    move_bodies(q, v, numbers[DRIFT], True, flown, counts[FIXED])
    for b in range(counts[FIXED], q.shape[0]):
        if is_asleep(counts, whole_rows(t, PLACE), b):  # nothing moves a quaternion by a rounding
            for k in range(7):
                q[b, k] = q_0[b, k]
    numbers[TIME] += numbers[H]
