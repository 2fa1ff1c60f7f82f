"""Constraints that users write as functions of poses, as rows like those of joints."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, checked
from signorini.dynamics.joint_rows import Rows
from signorini.math.poses import SPACING, STENCIL, by_chain, by_differences
from signorini.math.rotation import rotate
from signorini.model import Constraint, Model


def constraint_rows(model: Model, constraint: Constraint, q: Array, t: float) -> Rows:
    """Evaluate psi, its Jacobian with respect to the velocities and its rate at frozen poses."""
    n, k = len(constraint.bodies), constraint.size
    width = 3 if model.planar else 7
    x = _poses(model, constraint.bodies, q)

    def psi(poses: Array, time: float = t) -> Array:
        return checked(np.atleast_1d(constraint.psi(poses, time)), (k,), f"{constraint.name}: psi")

    if constraint.jacobian is None:
        J = by_differences(psi, x, width)
    else:
        J = by_chain(checked(constraint.jacobian(x, t), (k, n * width), f"{constraint.name}: jacobian"), x, width)
    for i, b in enumerate(constraint.bodies):
        if b < model.fixed_count:
            J[:, i] = 0.0  # its motion is part of the rate
        else:  # from the origin of the frame to the mass centre
            J[:, i, 3:] -= np.cross(rotate(q[b, 3:], model.mass_centre[b]), J[:, i, :3])
    rate = np.zeros(k)
    for step, weight in STENCIL:
        ahead, behind = (
            psi(_poses(model, constraint.bodies, _with_walls(model, q, t + side)), t + side)
            for side in (step * SPACING, -step * SPACING)
        )
        rate += weight * (ahead - behind) / SPACING
    return Rows(
        start=n * np.arange(k + 1, dtype=np.int64),
        body=np.tile(np.array(constraint.bodies, dtype=np.int64), k),
        J=np.ascontiguousarray(J.reshape(k * n, 6)),
        psi=psi(x),
        rate=rate,
    )


def _with_walls(model: Model, q: Array, t: float) -> Array:
    """Return the poses with prescribed bodies where they are at time `t`."""
    moved = q.copy()
    for b, motion in enumerate(model.motions):
        if motion is not None:
            moved[b] = motion(t)
    return moved


def _poses(model: Model, bodies: tuple[int, ...], q: Array) -> Array:
    """Return the stacked poses of the bodies' frames as the user sees them: 7 numbers each, in the plane 3."""
    out = []
    for b in bodies:
        e = q[b, 3:]
        origin = q[b, :3] - np.array(rotate(e, model.mass_centre[b]))
        out.append([*origin[:2], 2.0 * np.arctan2(e[3], e[0])] if model.planar else [*origin, *e])
    return np.array(out, dtype=np.float64).reshape(-1)
