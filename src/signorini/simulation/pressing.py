r"""Motions that are prescribed whatever it takes, and what they press together.

The velocities v at the end of a step must not close a gap further than it is open, and obey joints and drives,

.. math:: J_c v + \dot g_c \ge -\max(\Psi_c, 0)/h, \qquad J_j v + \dot\psi_j = 0 .

Where motions are prescribed there may be none, whatever the forces. The least s with which
:math:`J_c v + \dot g_c + \max(\Psi_c, 0)/h \ge -s` can hold is then the speed at which bodies must overlap, and the
multipliers of this linear program name the contacts and joints that are pressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._scipy import sparse
from signorini.dynamics import Rows, bilateral_rows, contact_wrenches, drive_velocity, joint_rows, stacked
from signorini.geometry.detect import detect_arrays
from signorini.model import Contacts, Model, RowKind, RowTable, State
from signorini.simulation.door import TOUCH, Suspicion

_PRESSED = 1e-3  # of the drives' speed: slower is their rounding
_ACTIVE = 1e-6  # multipliers add up to 1
_HOLDS = 1e-6  # of the drives' speed: joints that have drifted need not agree to the last digit
_MOST_NAMED = 3


def is_driven(model: Model) -> bool:
    """Tell whether anything moves whatever it takes."""
    return any(motion is not None for motion in model.motions) or bool(model.joints.drive.any())


def pressed(
    model: Model,
    state: State,
    coordinate: Array,
    h: float,
    contacts: Contacts,
    overlap: tuple[float, float] | None = None,
) -> Iterator[Suspicion]:
    """Tell of prescribed motions that leave no room in a step of `h` seconds from `state`, with joints at `coordinate`.

    `contacts` are all that may close within it; `overlap` is when bodies were first seen to overlap, and how far, where
    that is why the question is asked [s, m].
    """
    fixed, drive = model.fixed_count, drive_velocity(model, state, h, secant=True)
    joints = bilateral_rows(model, state, coordinate, h, secant=True)
    rigid = np.ones(joints.row_count, dtype=bool)
    rigid[np.flatnonzero(model.joints.spring)] = False
    ahead = _rows_with_gaps(model, state, coordinate, contacts, drive)
    bound = np.where(model.arrays.bound > 0.0, model.arrays.bound, 1.0)
    arm, own = np.ones(joints.row_count), model.joints.rows  # turns are measured at the surface
    turns = ~np.isin(own.kind, (RowKind.SLIDE, RowKind.DISTANCE))
    arm[: own.joint.size] = np.where(turns, bound[model.joints.arrays.body_b[own.joint]], 1.0)
    speed = max(float(np.abs(arm * joints.rate)[rigid].max(initial=0.0)), float(np.abs(ahead.rate).max(initial=0.0)))
    if speed == 0.0 or ahead.row_count == 0:
        return
    scale = speed * model.arrays.free * np.concatenate([np.ones((bound.size, 3)), np.tile(1.0 / bound[:, None], 3)], 1)
    if np.all(ahead.psi / h + ahead.rate >= 0.0) and not joints.rate[rigid].any():
        return  # there is room for bodies that rest
    joints = joints._replace(J=joints.J * np.repeat(arm, np.diff(joints.start))[:, None], rate=arm * joints.rate)
    A_c, A_j = _matrix(ahead, fixed, scale) / speed, _matrix(joints, fixed, scale)[rigid] / speed
    b_c, b_j = np.maximum(ahead.psi, 0.0) / (h * speed) + ahead.rate / speed, joints.rate[rigid] / speed
    s, force, pull = _least_overlap(A_c, b_c, A_j, b_j)
    if s <= _PRESSED:
        return
    active = np.flatnonzero(force > _ACTIVE)
    active = active[np.argsort(-force[active], kind="stable")]
    pulled = np.zeros(joints.row_count, dtype=bool)
    pulled[np.flatnonzero(rigid)] = pull > _ACTIVE
    t, depth = overlap or (state.t, h * s * speed)
    yield Suspicion(
        "pressed",
        f"the motion of {_drives(model, drive, contacts, active, pulled, joints)} presses "
        f"{_things(model, contacts, active)} together at t = {t:.6g} s, whatever force it takes, and they overlap by "
        f"{depth:.3g} m then: end the motion before, or drive a joint with effort_limit=... [N, N m]",
    )


def driven_into(model: Model, before: State, after: State) -> Iterator[Suspicion]:
    """Tell of a prescribed body that goes into another fixed one; nothing resists, they pass through each other."""
    if model.fixed_count < 2 or all(motion is None for motion in model.motions):
        return
    depth_0, depth_1 = _fixed_depths(model, before), _fixed_depths(model, after)
    for (a, b), depth in sorted(depth_1.items()):
        bound = model.arrays.bound[[a, b]]
        touch = TOUCH * float(bound[bound > 0.0].min(initial=np.inf))
        if depth > max(depth_0.get((a, b), 0.0), 0.0) + touch:
            mover, other = (a, b) if model.motions[a] is not None else (b, a)
            a_name, b_name = model.names[mover], model.names[other]
            yield Suspicion(
                "driven into",
                f"motion of body {a_name!r} drives it into fixed body {b_name!r}, by {depth:.3g} m at t = "
                f"{after.t:.6g} s: nothing stops it; end the motion before, drive a body by a joint with "
                f"effort_limit=... instead, or say scene.exclude({a_name!r}, {b_name!r}) if that is meant",
            )
            return


def _fixed_depths(model: Model, state: State) -> dict[tuple[int, int], float]:
    """Return how deep fixed bodies overlap, for those pairs of which one moves [m]."""
    found = detect_arrays(
        model.shapes, model.hulls, model.materials, 0, state.q.copy(), np.zeros(model.body_count), model.implicit
    )
    depths: dict[tuple[int, int], float] = {}
    for a, b, gap in zip(found.body_a.tolist(), found.body_b.tolist(), found.gap.tolist(), strict=True):
        if b < model.fixed_count and (model.motions[a] is not None or model.motions[b] is not None):
            depths[a, b] = max(depths.get((a, b), 0.0), -gap)
    return depths


# --- rows ----------------------------------------------------------------------------


def _rows_with_gaps(model: Model, state: State, coordinate: Array, contacts: Contacts, drive: Array) -> Rows:
    """Return the rows of contacts, then of joint limits: psi is the room that is left, rate how fast drives take it."""
    middle = 0.5 * (contacts.point_a + contacts.point_b)
    J_a, J_b = contact_wrenches(contacts, state.q, dim=1, point_a=middle, point_b=middle)
    n_c = contacts.contact_count
    touching = Rows(
        2 * np.arange(n_c + 1, dtype=np.int64),
        np.stack([contacts.body_a, contacts.body_b], axis=1).reshape(-1),
        np.concatenate([J_a, J_b], axis=1).reshape(-1, 6),
        contacts.gap,
        np.zeros(n_c),
    )
    rows = stacked([touching, *_limits(model, state, coordinate)])
    rows.rate[:] = rows.velocity(drive)
    return rows


def _limits(model: Model, state: State, coordinate: Array) -> Iterator[Rows]:
    """Return lower, then upper limits of joints as rows; turns are measured at the surface of the body that turns."""
    for limited, joint, side in _limited(model):
        table = RowTable(*(column[limited] for column in model.joints.coordinates))
        rows = joint_rows(model.joints.arrays, table, state.q, coordinate)
        arm = np.where(table.kind == RowKind.ANGLE, model.arrays.bound[model.joints.arrays.body_b[joint]], 1.0)
        left = side * (rows.psi - model.joints.limits[joint, 0 if side > 0.0 else 1])
        yield rows._replace(J=side * rows.J * np.repeat(arm, 2)[:, None], psi=arm * left)


def _limited(model: Model) -> Iterator[tuple[IntArray, IntArray, float]]:
    """Return rows of coordinates, their joints and the side, for lower and for upper limits that there are."""
    joint = model.joints.coordinates.joint
    for column, side in ((0, 1.0), (1, -1.0)):
        limited = np.flatnonzero(np.isfinite(model.joints.limits[joint, column]))
        yield limited, joint[limited], side


def _matrix(rows: Rows, fixed_count: int, scale: Array) -> Any:
    """Return J of the bodies that can move, its columns scaled, sparse (n_r, 6 n_b)."""
    row = np.repeat(np.arange(rows.row_count), np.diff(rows.start))
    free = rows.body >= fixed_count
    value = rows.J[free] * scale[rows.body[free]]
    column = 6 * rows.body[free][:, None] + np.arange(6)
    place = (np.repeat(row[free], 6), column.reshape(-1))
    return sparse.csr_matrix((value.reshape(-1), place), shape=(rows.row_count, scale.size))


def _least_overlap(A_c: Any, b_c: Array, A_j: Any, b_j: Array) -> tuple[float, Array, Array]:
    """Return the least s >= 0 with ``A_c v + b_c >= -s`` and ``A_j v + b_j = 0``, and the multipliers of both.

    Zeros where joints and drives contradict each other even without contacts.
    """
    from scipy.optimize import linprog

    n_c, n_j, n = b_c.size, b_j.size, A_c.shape[1]
    one, zero = sparse.csr_matrix(np.ones((n_c, 1))), sparse.csr_matrix((n_j, 1))
    A = sparse.vstack([sparse.hstack([-A_c, -one]), sparse.hstack([A_j, zero]), sparse.hstack([-A_j, zero])])
    b = np.concatenate([b_c, _HOLDS - b_j, _HOLDS + b_j])
    cost = np.append(np.zeros(n), 1.0)
    found: Any = linprog(cost, A_ub=A.tocsr(), b_ub=b, bounds=[(None, None)] * n + [(0.0, None)], method="highs")
    if found.status != 0:
        return 0.0, np.zeros(n_c), np.zeros(n_j)
    multiplier = -np.asarray(found.ineqlin.marginals)
    return float(found.x[-1]), multiplier[:n_c], multiplier[n_c : n_c + n_j] + multiplier[n_c + n_j :]


# --- names ---------------------------------------------------------------------------


def _drives(model: Model, drive: Array, contacts: Contacts, active: IntArray, pulled: BoolArray, joints: Rows) -> str:
    """Name the prescribed motions behind the contacts and joints that are pressed."""
    own = model.joints.rows.joint
    driven = np.flatnonzero(pulled[: own.size] & (model.joints.drive == 1))
    names = [f"joint {model.joints.names[g]!r}" for g in dict.fromkeys(own[driven].tolist())]
    touched = active[active < contacts.contact_count]
    terms = np.repeat(pulled, np.diff(joints.start))
    bodies = {*contacts.body_a[touched].tolist(), *contacts.body_b[touched].tolist(), *joints.body[terms].tolist()}
    names += [f"body {model.names[b]!r}" for b in sorted(bodies) if 0 <= b < model.fixed_count and drive[b].any()]
    return " and ".join(names[:_MOST_NAMED] or ["a constraint"])


def _things(model: Model, contacts: Contacts, active: IntArray) -> str:
    """Name the pairs of bodies and the limits that are pressed, the hardest first."""
    limits = [int(g) for _, joint, _ in _limited(model) for g in joint]
    names = []
    for k in active.tolist():
        if k < contacts.contact_count:
            names.append(f"{model.names[contacts.body_a[k]]!r} and {model.names[contacts.body_b[k]]!r}")
        else:
            names.append(f"joint {model.joints.names[limits[k - contacts.contact_count]]!r} and its limit")
    return ", ".join(list(dict.fromkeys(names))[:_MOST_NAMED])
