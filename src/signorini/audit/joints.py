"""What joints do to their bodies, and how far they have come apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from signorini._arrays import Array
from signorini.audit.findings import Worst
from signorini.audit.record import Record
from signorini.dynamics import joint_coordinates, joint_rows
from signorini.dynamics.joint_faults import coordinate_sizes, row_sizes
from signorini.dynamics.joints import rigid_rows
from signorini.math.rotation import rotated
from signorini.model import WORLD, Model, RowKind, State


def joint_wrenches(model: Model, q: Array, reaction: Array) -> Iterator[tuple[int, Array, Array]]:
    """Go through bodies with a joint: body, impulse and moment about its mass centre (S, 6), and arm (S,).

    `reaction` (S, n_j, 6) are impulse and moment on body b at its anchor, `q` (S, n_b, 7) where the steps act. Body a
    feels the opposite at the same point, and of a gear the moment about its own axis times the ratio.
    """
    arrays = model.joints.arrays
    gears = set(model.joints.rows.joint[model.joints.rows.kind == RowKind.GEAR].tolist())
    for g in range(model.joints.count):
        a, b = int(arrays.body_a[g]), int(arrays.body_b[g])
        force, moment = reaction[:, g, :3], reaction[:, g, 3:]
        r_b = rotated(np.ascontiguousarray(q[:, b, 3:]), arrays.anchor_b[g])
        yield b, np.hstack([force, moment + np.cross(r_b, force)]), np.linalg.norm(r_b, axis=1)
        if a == WORLD:
            continue
        if g in gears:
            axis_a, axis_b = (_axis(q[:, k, 3:], frame[g]) for k, frame in ((a, arrays.frame_a), (b, arrays.frame_b)))
            moment = arrays.parameter[g] * np.sum(moment * axis_b, axis=1)[:, None] * axis_a
        r_a = q[:, b, :3] + r_b - q[:, a, :3]
        yield a, -np.hstack([force, moment + np.cross(r_a, force)]), np.linalg.norm(r_a, axis=1)


def _axis(e: Array, frame: Array) -> Array:
    """Return the axis of a joint in the world, (S, 3)."""
    own = rotated(frame[None], np.array([0.0, 0.0, 1.0]))[0]
    return rotated(np.ascontiguousarray(e), own)


def joint_drifts(record: Record, model: Model) -> Worst:
    """Return how far joints are apart at every state: beside their size, or in radians; by joints.

    A joint beyond a limit counts as apart by as much.
    """
    joints = model.joints
    near = np.zeros((record.time.size, joints.count)) if record.joints is None else record.joints.coordinate
    measured, along, own = joints.coordinates, coordinate_sizes(model), joints.joint_row_count
    value, who = np.zeros(record.time.size), np.full(record.time.size, -1)
    sizes, held = row_sizes(model), joints.rows.kind != RowKind.GEAR
    slides = bool(sizes.lever.any())
    for k in range(record.time.size):
        state = State(t=float(record.time[k]), q=np.ascontiguousarray(record.q[k]), v=record.v[k])
        rows = rigid_rows(model, state, near[k])
        lever = np.linalg.norm(rows.J[: 2 * own : 2, 3:], axis=1) if slides else 0.0
        size = np.maximum(sizes.size, np.where(sizes.lever, lever, 0.0))
        apart = np.abs(rows.psi[:own]) / size * held
        if not record.scheme.follows_drives:
            apart[joints.drive == 1] = 0.0
        coordinate = joint_coordinates(joints, state.q, near[k])
        beyond = np.maximum(joints.limits[:, 0] - coordinate, coordinate - joints.limits[:, 1])[measured.joint]
        apart = np.append(apart, beyond / along if record.scheme.theta == 1.0 else 0.0 * along)
        if apart.size and not apart.max() <= 0.0:
            value[k], who[k] = apart.max(), np.append(joints.rows.joint, measured.joint)[int(np.argmax(apart))]
    return Worst(np.where(np.isnan(value), np.inf, value), who)


def misstated(record: Record, model: Model) -> Worst:
    """Return by how much coordinates and speeds that the record tells differ from those of bodies; by joints.

    Angles are compared by themselves, lengths by the size of the joint, speeds by what bodies do in a step.
    """
    joints, table = record.joints, model.joints.coordinates
    value, who = np.zeros(record.time.size), np.full(record.time.size, -1)
    if joints is None or not table.joint.size:
        return Worst(value, who)
    unit, h = coordinate_sizes(model), np.zeros(record.time.size)
    h[1:] = record.h
    for k in range(record.time.size):
        q, near = np.ascontiguousarray(record.q[k]), joints.coordinate[k]
        rows = joint_rows(model.joints.arrays, table, q, near)
        off = np.abs(rows.psi - near[table.joint])
        off += h[k] * np.abs(rows.velocity(np.ascontiguousarray(record.v[k])) - joints.speed[k][table.joint])
        value[k], who[k] = (off / unit).max(), table.joint[int(np.argmax(off / unit))]
    return Worst(np.where(np.isnan(value), np.inf, value), who)
