"""What joints did in a step, for certificate, record and reading."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import joint_coordinates, joint_drift, joint_rows, projected
from signorini.formulations.base import JointReport
from signorini.formulations.joint_space import JointSpace
from signorini.math.rotation import rotated
from signorini.model import Model, State


def settled(
    model: Model, before: State, state: State, space: JointSpace | None, h: float, *, projection: bool
) -> tuple[State, Array]:
    """Return the state at the end of a step, projected onto its joints if asked for, and the joint coordinates."""
    if space is None:
        return state, np.zeros(0)
    joints = model.joints
    near = space.coordinate.copy()
    rows = joint_rows(joints.arrays, joints.coordinates, state.q, near)
    near[joints.coordinates.joint] += h * rows.velocity(state.v)
    if projection:
        state = projected(model, before, state, near, h)
    return state, joint_coordinates(joints, state.q, near)


def joint_report(
    space: JointSpace, before: State, after: State, v: Array, impulse: Array, p_laws: Array, coordinate: Array
) -> JointReport:
    """Collect coordinates, speeds, efforts and reactions of one step."""
    system, model = space.system, space.system.model
    joints = model.joints
    table, rows = joints.coordinates, system.rows
    speed, effort = np.zeros(joints.count), np.zeros(joints.count)
    speed[table.joint] = joint_rows(joints.arrays, table, after.q, coordinate).velocity(after.v)
    n = joints.joint_row_count
    along = (joints.drive == 1) | (joints.spring == 1)
    np.add.at(effort, joints.rows.joint[along], impulse[:n][along])
    laws = space.laws
    own = laws.joint >= 0
    # A limit from above acts along minus the coordinate.
    sign = np.where((laws.kind == 0) & ((-1 - laws.feature) % 4 == 1), -1.0, 1.0)
    np.add.at(effort, laws.joint[own], (sign * p_laws)[own])
    reaction = np.zeros((joints.count, 6))
    # Of the two terms of a joint's row the second is that of body b.
    np.add.at(reaction, joints.rows.joint, rows.J[1 : 2 * n : 2] * impulse[:n, None])
    m = int(own.sum())  # laws of joints come before those of constraints
    np.add.at(reaction, laws.joint[:m], laws.rows.J[1 : 2 * m : 2] * p_laws[:m, None])
    arm = rotated(before.q[joints.arrays.body_b, 3:], joints.arrays.anchor_b)
    reaction[:, 3:] -= np.cross(arm, reaction[:, :3])
    return JointReport(
        coordinate=coordinate,
        speed=speed,
        effort=effort,
        reaction=reaction,
        drift=joint_drift(model, after, coordinate),
        redundant=system.redundant,
        unmet=float(np.abs(system.unmet(v, impulse)).max(initial=0.0)),
    )
