"""The compiled step for theta < 1: bodies drift to where the step acts, and contacts are found there.

See :mod:`signorini.posing.midpoint`. A step goes from ``READY``, the end of the last one, over ``DRIFTED`` (Python
evaluates loads and drives that are functions) and ``AIMED`` to ``ACTING``, and on as with theta = 1. Contacts are found
twice in a step: where it acts, and at its end for the certificate.
"""

from __future__ import annotations

import math

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.bodies import EXPLICIT, gyroscopic
from signorini.dynamics.constants import TURN_AT_ONCE
from signorini.dynamics.flight import fly_bodies, spin_bodies
from signorini.dynamics.motion import move_bodies
from signorini.engine.arrays import (
    A_BODY,
    ACTING,
    AIM_JOINTS,
    AIMED,
    B_BODY,
    CONTACTS,
    COUNTS,
    DEEPEST,
    DEEPEST_A,
    DEEPEST_B,
    DEEPEST_EXTENT,
    DISTANCE,
    DONE,
    DOUBTS,
    DRIFT,
    DRIFT_JOINTS,
    DRIFTED,
    FIXED,
    FLOWN,
    GYROSCOPIC,
    INDEX,
    INERTIA,
    JOINED,
    LAW_CAPACITY,
    NEEDED,
    NUMBERS,
    PAUSE,
    Q_START,
    READY,
    SPRING,
    STAGE,
    THIN,
    V_FREE,
    V_SPUN,
    V_START,
    VALUE,
    WAY,
    H,
    P,
    Q,
    V,
)
from signorini.engine.bodies import load_bodies
from signorini.engine.contacts import find
from signorini.engine.run import UNKNOWN, after_look, log_is_full, may_begin, until_look


@inner_kernel
def _drift(t: IntArray) -> None:
    """Move bodies at their old velocities, or as they fly, to where the step acts."""
    numbers, q, q_start, flown = reals(t, NUMBERS), real_rows(t, Q), real_rows(t, Q_START), real_rows(t, FLOWN)
    v, v_start = real_rows(t, V), real_rows(t, V_START)
    for b in range(q.shape[0]):
        for k in range(7):
            q_start[b, k] = q[b, k]
        for k in range(6):
            v_start[b, k] = v[b, k]
    if wholes(t, COUNTS)[JOINED] == 1:
        perform(t[DRIFT_JOINTS, 0], (t,))
    early = numbers[H] - numbers[DRIFT]
    fly_bodies(wholes(t, WAY), real_blocks(t, INERTIA), q, v, early, flown)
    move_bodies(q, v, early, True, flown, wholes(t, COUNTS)[FIXED])
    spin_bodies(flown, v)


@inner_kernel
def _spin(t: IntArray) -> None:
    """Advance velocities by the gyroscopic term: an implicit step to y_theta, then as far again beyond it."""
    way, inertia, q, numbers = wholes(t, WAY), real_blocks(t, INERTIA), real_rows(t, Q), reals(t, NUMBERS)
    v, v_spun, weighted = real_rows(t, V), real_rows(t, V_SPUN), real_rows(t, V_FREE)
    fastest = 0.0
    for b in range(v.shape[0]):
        fastest = max(fastest, math.sqrt(v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2))
        for k in range(6):
            v_spun[b, k] = v[b, k]
            weighted[b, k] = v[b, k]
    if wholes(t, COUNTS)[GYROSCOPIC] == EXPLICIT:
        gyroscopic(way, inertia, q, v, numbers[H], v_spun)
        return
    theta, legs = numbers[DRIFT] / numbers[H], max(1.0, math.ceil(numbers[DRIFT] * fastest / TURN_AT_ONCE))
    for _ in range(int(legs)):
        gyroscopic(way, inertia, q, v_spun, numbers[DRIFT] / legs, weighted)
        for b in range(v.shape[0]):
            for k in range(3, 6):
                v_spun[b, k] += (weighted[b, k] - v_spun[b, k]) / theta


@inner_kernel
def _note_overlaps(t: IntArray) -> None:
    """Note the deepest overlap where the step acts, if it is deeper than that of the start: it is not for one step."""
    numbers, value, index, thin = reals(t, NUMBERS), real_rows(t, VALUE), whole_rows(t, INDEX), reals(t, THIN)
    if numbers[SPRING] > 0.0:  # springs give way as the user wants
        return
    for c in range(wholes(t, COUNTS)[CONTACTS]):
        a, b = index[c, A_BODY], index[c, B_BODY]
        beside = min(thin[a], thin[b])
        if -value[c, DISTANCE] * numbers[DEEPEST_EXTENT] > numbers[DEEPEST] * beside:
            numbers[DEEPEST], numbers[DEEPEST_EXTENT] = -value[c, DISTANCE], beside
            numbers[DEEPEST_A], numbers[DEEPEST_B] = a, b


@inner_kernel
def _go_ahead(t: IntArray, steps: int) -> bool:
    """Begin a step and come to where it acts; False if Python is needed or the run is over."""
    counts = wholes(t, COUNTS)
    if counts[STAGE] == READY:
        if not may_begin(t, steps):
            return False
        _drift(t)
        counts[STAGE] = DRIFTED if counts[PAUSE] == 1 else AIMED
    if counts[STAGE] == AIMED:
        _spin(t)
        load_bodies(t)
        if counts[JOINED] == 1:
            perform(t[AIM_JOINTS, 0], (t,))
    return bool(counts[STAGE] != DRIFTED)


@inner_kernel
def _act(t: IntArray, found: int) -> bool:
    """Act with the contacts found where bodies have come to; False if there was no room for all of them."""
    counts = wholes(t, COUNTS)
    if found < 0 or found + counts[LAW_CAPACITY] > real_rows(t, P).shape[0]:
        counts[NEEDED] = found
        return False
    counts[CONTACTS] = found
    counts[DOUBTS] = UNKNOWN
    _note_overlaps(t)
    if log_is_full(t):  # of contacts, of which there are more here than at the end of the last step
        counts[NEEDED] = 0
        return False
    counts[STAGE] = ACTING
    return True


@kernel
def run_ahead(t: IntArray, steps: int) -> int:
    """Advance by `steps`; return how many were done."""
    counts = wholes(t, COUNTS)
    counts[DONE] = 0
    while _go_ahead(t, steps):
        if counts[STAGE] == AIMED and not _act(t, find(t)):
            break
        if not until_look(t, steps) or not after_look(t, find(t)):
            break
    return int(counts[DONE])


@kernel
def run_to_act(t: IntArray, steps: int) -> bool:
    """Begin a step, where Python finds contacts; False if something else is needed, or the run is over."""
    return _go_ahead(t, steps)


@kernel
def run_from_act(t: IntArray, found: int) -> bool:
    """Go on with the contacts that Python found where the step acts; False if there was no room for them."""
    return _act(t, found)
