"""What joints did in a step, for certificate, record and reading."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import joint_coordinates, joint_drift, joint_rows, projected
from signorini.formulations.base import JointReport
from signorini.formulations.joint_space import JointSpace
from signorini.math.rotation import rotate
from signorini.model import Model, State


def settled(model: Model, state: State, space: JointSpace | None, h: float, *, projection: bool) -> tuple[State, Array]:
    """Return the state at the end of a step, projected onto its joints if asked for, and the joint coordinates."""
    if space is None:
        return state, np.zeros(0)
    joints = model.joints
    near = space.coordinate.copy()
    rows = joint_rows(joints.arrays, joints.coordinates, state.q, near)
    near[joints.coordinates.joint] += h * rows.velocity(state.v)
    if projection:
        state = projected(model, state, near)
    return state, joint_coordinates(joints, state.q, near)


def joint_report(
    space: JointSpace, after: State, v: Array, impulse: Array, p_laws: Array, coordinate: Array, h: float
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
    for part, p in ((rows, impulse), (laws.rows, p_laws)):
        owner = joints.rows.joint if part is rows else laws.joint
        for r, g in enumerate(owner):
            if g >= 0:
                reaction[g] += part.J[part.start[r] + 1] * p[r]
    body = joints.arrays.body_b
    arm = np.array([rotate(space_q[3:], x) for space_q, x in zip(after.q[body], joints.arrays.anchor_b, strict=True)])
    reaction[:, 3:] -= np.cross(arm.reshape(-1, 3), reaction[:, :3])
    return JointReport(
        coordinate=coordinate,
        speed=speed,
        effort=effort,
        reaction=reaction,
        drift=joint_drift(model, after, coordinate),
        redundant=system.redundant,
        unmet=float(np.abs(system.unmet(v, impulse)).max(initial=0.0)),
    )
