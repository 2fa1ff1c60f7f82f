r"""Joints of a step that is implicit in its geometry: rows :math:`\psi(q^{l+1}, t^{l+1}) = 0` beside the contacts.

All kinds of joints, in trees and in loops, with prescribed motions: a driven row holds where its motion is at the end
of the step. A gear holds a speed, ``h`` times which stands in its row. Rows that depend on others leave the Newton
matrix singular: the impulses of least change are taken.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import joint_rows
from signorini.dynamics.joint_faults import all_sizes, worst
from signorini.dynamics.joint_rows import Rows
from signorini.dynamics.motion import motion_rate
from signorini.errors import InputError
from signorini.math.rotation import rotated
from signorini.model import Model, RowKind
from signorini.posing.base import JointReport


def refuse_joints(model: Model) -> None:
    """Raise `InputError` if a joint is more than its rows and a motion."""
    joints = model.joints
    for g, name in enumerate(joints.names):
        words = {
            "friction": joints.friction[g] > 0.0 or joints.load_friction[g].any(),
            "limits": np.isfinite(joints.limits[g]).any(),
            "a spring": joints.stiffness[g] > 0.0,
            "damping": joints.damping[g] > 0.0,
            "a motor of limited effort": np.isfinite(joints.effort_limit[g]),
        }
        found = [word for word, given in words.items() if given]
        if found:
            raise InputError(
                f"joint {name!r}: has {' and '.join(found)}, must have none for QuasiRigid, whose joints hold or are "
                "driven; MoreauJean knows all laws of joints"
            )
    if joints.equalities or joints.inequalities:
        name = (*joints.equalities, *joints.inequalities)[0].name
        raise InputError(f"{name}: must be a joint for QuasiRigid, which knows no other constraints")


def implicit_rows(model: Model, q: Array, v: Array, near: Array, t: float, h: float) -> Rows:
    """Return the rows at the poses `q` (n_b, 7) and velocities `v` (n_b, 6) of the end `t` of a step."""
    joints = model.joints
    rows = joint_rows(joints.arrays, joints.rows, q, near)
    for r in np.flatnonzero(joints.drive):
        motion = joints.motions[joints.rows.joint[r]]
        assert motion is not None
        rows.psi[r] -= motion(t)
    gears = joints.rows.kind == RowKind.GEAR
    if gears.any():
        rows.psi[gears] = h * rows.velocity(v)[gears]
    return rows


def joint_works(model: Model, rows: Rows, r: Array, v: Array, t: float, h: float) -> tuple[float, float]:
    """Return the work of joint impulses `r` by drives and prescribed bodies, and of rows that turn in a step [J].

    `v` (n_b, 6) are the velocities of the step that ends at `t`.
    """
    if not r.size:
        return 0.0, 0.0
    joints, fixed, rate = model.joints, v.copy(), np.zeros(r.size)
    fixed[model.fixed_count :] = 0.0
    for i in np.flatnonzero(joints.drive):
        motion = joints.motions[joints.rows.joint[i]]
        assert motion is not None
        rate[i] = motion_rate(motion, t - h, h, secant=True)
    driven = float(r @ rate)
    return driven - float(r @ rows.velocity(fixed)), float(r @ rows.velocity(v)) - driven


def implicit_report(model: Model, rows: Rows, r: Array, q: Array, v: Array, coordinate: Array) -> JointReport:
    """Tell what the joints did in a step that ends at `q`, `v`, where all their `rows` hold together."""
    joints = model.joints
    speed, effort, reaction = np.zeros(joints.count), np.zeros(joints.count), np.zeros((joints.count, 6))
    speed[joints.coordinates.joint] = joint_rows(joints.arrays, joints.coordinates, q, coordinate).velocity(v)
    driven = joints.drive == 1
    np.add.at(effort, joints.rows.joint[driven], r[driven])
    # Of the two terms of a joint's row the second is that of body b.
    np.add.at(reaction, joints.rows.joint, rows.J[1::2] * r[:, None])
    arm = rotated(q[joints.arrays.body_b, 3:], joints.arrays.anchor_b)
    reaction[:, 3:] -= np.cross(arm, reaction[:, :3])
    apart, row = worst(all_sizes(model, rows), rows.psi)
    return JointReport(
        coordinate=coordinate,
        speed=speed,
        effort=effort,
        reaction=reaction,
        drift=float(np.abs(rows.psi).max(initial=0.0)),
        redundant=_redundant(model, rows),
        unmet=0.0,
        apart=apart,
        drift_row=row,
    )


def _redundant(model: Model, rows: Rows) -> int:
    """Return how many rows depend on others; where joints close no loop none does."""
    if not model.joints.tree.loop_row.size:
        return 0
    G = rows.dense(model.body_count)[:, 6 * model.fixed_count :]
    return int(rows.row_count - np.linalg.matrix_rank(G))
