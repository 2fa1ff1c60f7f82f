"""What joints did in a step, for certificate, record and reading."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import constraint_rows, elastic_energy, joint_coordinates, joint_rows, projected
from signorini.dynamics.constants import ASKED, CONFLICT_NOTED, MOST_TURN, TORN
from signorini.dynamics.joint_faults import (
    CONTRADICTED,
    DRIFTED,
    HELD,
    all_sizes,
    coordinate_sizes,
    steepness,
    worst,
)
from signorini.dynamics.joints import JointSystem, rigid_rows
from signorini.math.rotation import rotated
from signorini.model import Model, State
from signorini.posing.base import JointReport
from signorini.posing.joint_space import JointSpace, LawKind
from signorini.posing.midpoint import Midpoint


class Settled(NamedTuple):
    """Where a step ends."""

    state: State
    coordinate: Array
    """Of the joints, (n_j,)."""


def settled(
    model: Model, before: State, state: State, space: JointSpace | None, h: float, *, projection: bool
) -> Settled:
    """Return the end of a step, moved onto its joints if asked for."""
    if space is None:
        return Settled(state, np.zeros(0))
    near = coordinates_near(model, state, space, h)
    if projection:
        state = projected(model, before, state, near, h)
    return Settled(state, joint_coordinates(model.joints, state.q, near))


def coordinates_near(model: Model, state: State, space: JointSpace, h: float) -> Array:
    """Return about where coordinates of joints are, by their speeds, to tell on which turn angles stand, (n_j,)."""
    joints, near = model.joints, space.coordinate.copy()
    rows = joint_rows(joints.arrays, joints.coordinates, state.q, near)
    near[joints.coordinates.joint] += h * rows.velocity(state.v)
    return near


def drift_of(model: Model, after: State, coordinate: Array, *, limits: bool, drives: bool) -> tuple[float, float, int]:
    """Return the largest residual, the largest beside the size of its joint, and the row of that."""
    joints = model.joints
    rows = rigid_rows(model, after, coordinate)
    table = joints.coordinates
    at = coordinate[table.joint]
    beyond = np.maximum(0.0, np.stack([joints.limits[table.joint, 0] - at, at - joints.limits[table.joint, 1]], axis=1))
    parts, sizes = [rows.psi, beyond.reshape(-1)], [all_sizes(model, rows), np.repeat(coordinate_sizes(model), 2)]
    for one in joints.inequalities:
        own = constraint_rows(model, one, after.q, after.t)
        parts.append(np.maximum(0.0, -own.psi))
        sizes.append(steepness(model, own, 0))
    residual, size = np.concatenate(parts), np.concatenate(sizes)
    if not limits:
        residual[rows.row_count :] = 0.0
    largest = float(np.abs(residual).max(initial=0.0))
    if not drives:
        residual[: joints.joint_row_count][joints.drive == 1] = 0.0
    return largest, *worst(size, residual)


def _unmet(system: JointSystem, v: Array, impulse: Array) -> Array:
    """Return what rows leave open; where some depend on others, of their rates alone: see ``joint_faults``."""
    if not system.redundant:
        return system.unmet(v, impulse)
    rates = replace(system, x2=np.where(system.compliance == 0.0, system.rows.rate, 0.0))
    return rates.unmet(*rates.solve(np.zeros_like(v)))


def _swing(space: JointSpace, at: Midpoint, v: Array, impulse: Array, p_laws: Array, loads: Array) -> float:
    """Return impulses of loads, dampers, drives, motors and friction times the changes of their speeds [J]."""
    before = at.state
    model, rows, laws = space.system.model, space.system.rows, space.laws
    joints, fixed = model.joints, model.fixed_count
    change, driven = v - before.v, before.v.copy()
    change[:fixed], driven[fixed:] = 0.0, 0.0
    along = np.zeros(rows.row_count, dtype=bool)
    along[: joints.joint_row_count] = (joints.spring == 1) | (joints.drive == 1)
    pushed, speeds = impulse.copy(), rows.velocity(change)
    soft = np.flatnonzero(joints.spring)
    moving = v.copy()
    moving[:fixed] = 0.0
    # What springs store is known where steps end: of their impulses those of the dampers are left.
    pushed[soft] = -at.h * joints.damping[joints.rows.joint[soft]] * (rows.velocity(moving) + rows.rate)[soft]
    # Of prescribed bodies: twice what their mean speed in the step is more than that at its start.
    more = -2.0 * (rows.rate - rows.velocity(driven)) * np.where(along, impulse - pushed, impulse)
    more[soft] *= space.system.share
    work = np.where(along, pushed * speeds, 0.0) + more
    work[joints.joint_row_count :] = 0.0  # equations of the user may be made to work
    pushes = p_laws * (laws.kind != LawKind.LIMIT)
    return float(np.sum(work) + np.sum(pushes * laws.rows.velocity(change)) + np.sum(loads * change))


def _sprung(space: JointSpace, at: Midpoint, end: Settled, speed: Array) -> float:
    """Return how much more springs have come to store before steps end, see ``joint_springs``, than where they do [J].

    `speed` (n_j,) are those of the coordinates where the step ends.
    """
    joints, start = space.system.model.joints, at.start_coordinate
    before, ago = np.zeros(joints.count), np.zeros(joints.count)
    ago[joints.rows.joint[joints.spring == 1]] = (at.theta - 0.5) * at.h * space.system.share
    rows = joint_rows(joints.arrays, joints.coordinates, at.start.q, start)
    before[joints.coordinates.joint] = rows.velocity(at.start.v)
    now = elastic_energy(joints, end.coordinate - ago * speed) - elastic_energy(joints, end.coordinate)
    return now - elastic_energy(joints, start - ago * before) + elastic_energy(joints, start)


def joint_report(
    space: JointSpace,
    at: Midpoint,
    end: Settled,
    v: Array,
    impulse: Array,
    p_laws: Array,
    loads: Array,
    slip: float,
    *,
    drives: bool,
) -> JointReport:
    """Collect coordinates, speeds, efforts and reactions of one step, and judge whether the joints hold.

    `drives` tells whether the step is to keep prescribed motions to the end, as it does limits if theta = 1; the
    motions of the papers lag by the first order.
    `loads` (n_b, 6) are impulses beside weight, `slip` those of friction at contacts times the changes of slip [J].
    """
    after, coordinate = end.state, end.coordinate
    before, h, theta = at.state, at.drift, at.theta
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
    bodies = slice(model.fixed_count, None)
    falls = h / theta * float(np.sum((model.arrays.weight * (after.v - before.v))[bodies]))
    unmet = _unmet(system, v, impulse)
    drift, apart, drift_row = drift_of(model, after, coordinate, limits=theta == 1.0, drives=drives)
    left, conflict_row = worst(all_sizes(model, rows), h * unmet)
    turned = h * np.linalg.norm(before.v[model.fixed_count :, 3:], axis=1).max(initial=0.0)
    fault = DRIFTED if apart > TORN and turned <= MOST_TURN else HELD
    return JointReport(
        coordinate=coordinate,
        speed=speed,
        effort=effort,
        reaction=reaction,
        drift=drift,
        redundant=system.redundant,
        unmet=float(np.abs(unmet).max(initial=0.0)),
        apart=apart,
        drift_row=drift_row,
        conflict_row=conflict_row if left > CONFLICT_NOTED else -1,
        moved_onto=False,
        swing=(theta - 0.5) * (_swing(space, at, v, impulse, p_laws, loads) + slip + falls)
        + _sprung(space, at, end, speed),
        ending=np.zeros_like(reaction),
        fault=CONTRADICTED if left > ASKED else fault,
    )
