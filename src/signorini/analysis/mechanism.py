r"""What joints do at one instant: rows that are held, rows at a stop, dry friction, and forces that are known.

Every row has a speed :math:`w = J v + \psi_t`. Its acceleration is :math:`J \dot v + k`, and the bias k is the rate
of w while the bodies keep their velocities, found by differences of w along that motion:

.. math:: k = \dot J v + \dot\psi_t
            = \left[\frac{\partial}{\partial q}(\psi_q G)\,\dot q\right] v + 2\,\psi_{qt} G v + \psi_{tt},

with the factor 2 that is easily lost, because both the row and its rate change with time.

References
----------
.. [S1] Trinkle (2003), eqs. (18)-(20), (23), corrected as in section 3 of the specification.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics import (
    Rows,
    advance,
    bilateral_rows,
    constraint_rows,
    drive_velocity,
    joint_coordinates,
    joint_rows,
    motion_rate,
    stacked,
)
from signorini.math.poses import STENCIL
from signorini.model import Model, RowTable, State

_TRAVEL = 1e-3  # radians that bodies turn, or part of their size that they move, in the differences
_LONGEST = 1e-3  # seconds, where something moves as prescribed
_STILL = 1e-6  # of the speeds in the scene: slower joints do not move
_KEPT = 1e-3  # of the speeds in the scene: joints that come apart, and stops that are hit, faster than this are told
_AT_STOP = 1e-4  # of the bodies' size, or radians


@dataclass(frozen=True, slots=True)
class JointRows:
    """Rows of a group's joints in its stacked velocities; biases are their rates at constant body velocities."""

    held: Array
    """Bilateral rows, (r, n_v); they may depend on each other."""
    held_bias: Array
    """(r,)"""
    stops: Array
    """Rows that are at their stop and may only grow, (s, n_v)."""
    stop_bias: Array
    """(s,)"""
    dry: Array
    """Rows with a force of limited size against their motion, which has not begun, (j, n_v)."""
    dry_bias: Array
    """(j,)"""
    dry_limit: Array
    """(j,)"""
    load: Array
    """Generalized force of joints that is known: springs, dampers, friction of joints that move, (n_v,)."""
    held_names: tuple[str, ...]
    """Joint of every held row."""
    dry_names: tuple[str, ...]
    """Joint of every dry row."""

    def fast(self) -> tuple[Array, Array]:
        """Return rows and biases of all that does not move now: held, at a stop, or stuck by friction."""
        rows = np.concatenate([self.held, self.stops, self.dry])
        return rows, np.concatenate([self.held_bias, self.stop_bias, self.dry_bias])


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The joints of a model at a state."""

    held: Rows
    held_bias: Array
    held_names: tuple[str, ...]
    stops: Rows
    stop_bias: Array
    dry: Rows
    dry_bias: Array
    dry_limit: Array
    dry_names: tuple[str, ...]
    load: Array
    """(n_b, 6)"""
    known: dict[str, float]
    """Friction of joints that move, force of motors that cannot follow [N, N m]."""
    closing: int
    """Stops that are being hit."""
    load_dependent: tuple[str, ...]
    """Joints whose friction follows their reaction, here left out."""
    notes: tuple[str, ...]

    @staticmethod
    def none(body_count: int) -> Mechanism:
        """Return the mechanism of a model without joints."""
        rows, zero = _no_rows(), np.zeros(0)
        return Mechanism(rows, zero, (), rows, zero, rows, zero, zero, (), np.zeros((body_count, 6)), {}, 0, (), ())

    def links(self, fixed_count: int) -> list[tuple[int, ...]]:
        """Return the moving bodies that hang together through each row."""
        return [
            tuple(int(b) for b in rows.body[rows.start[r] : rows.start[r + 1]] if b >= fixed_count)
            for rows in (self.held, self.stops, self.dry)
            for r in range(rows.row_count)
        ]

    def of(self, bodies: IntArray) -> JointRows:
        """Return the rows that act on a group of bodies."""
        held, h = _in_group(self.held, bodies)
        stops, s = _in_group(self.stops, bodies)
        dry, d = _in_group(self.dry, bodies)
        return JointRows(
            held,
            self.held_bias[h],
            stops,
            self.stop_bias[s],
            dry,
            self.dry_bias[d],
            self.dry_limit[d],
            self.load[bodies].reshape(-1),
            tuple(self.held_names[r] for r in h),
            tuple(self.dry_names[r] for r in d),
        )


def mechanism(model: Model, state: State, size: float, acceleration: float, *, biased: bool = True) -> Mechanism:
    """Look at the joints of a state in which prescribed bodies are where they should be.

    `size` of the bodies [m] and the largest `acceleration` by loads [m/s^2] say which speeds are small. Biases cost
    several evaluations; they are zero if not asked for. Friction that follows the reaction of its joint is left out.
    """
    joints = model.joints
    if not joints.any:
        return Mechanism.none(model.body_count)
    size = size or 1.0
    near = joint_coordinates(joints, state.q, np.zeros(joints.count))
    law_rows = _LawRows.of(model)
    rows = law_rows.rows(model, state, near)
    speed = _speed(model, rows, state)
    bias = _bias(model, law_rows, state, near, size) if biased else np.zeros(rows.row_count)
    scale = _speed_scale(rows, state, size, acceleration)
    first = joints.row_count
    dry = np.arange(first, first + law_rows.friction.size + law_rows.motors.size)
    stops = np.arange(first + dry.size, rows.row_count)
    names = [joints.names[g] for g in joints.rows.joint] + [c.name for c in joints.equalities for _ in range(c.size)]

    force = np.zeros(rows.row_count)
    soft = np.flatnonzero(joints.spring)
    own = joints.rows.joint[soft]
    force[soft] = -joints.stiffness[own] * rows.psi[soft] - joints.damping[own] * speed[soft]
    held = np.setdiff1d(np.arange(first), soft)
    dry_joint = np.concatenate([law_rows.friction, law_rows.motors])
    limit = np.concatenate([joints.friction[law_rows.friction], joints.effort_limit[law_rows.motors]])
    moves = np.abs(speed[dry]) > _STILL * scale[dry]
    force[dry[moves]] = -limit[moves] * np.sign(speed[dry[moves]])
    closed = stops[rows.psi[stops] <= _AT_STOP * max(size, 1.0)]
    closing = closed[speed[closed] < -_KEPT * scale[closed]]
    resting = closed[np.abs(speed[closed]) <= _KEPT * scale[closed]]

    apart = held[np.abs(speed[held]) > _KEPT * scale[held]]
    notes = [f"joint {names[r]!r} is not kept: its rows change at {abs(speed[r]):.2g} m/s or rad/s" for r in apart[:3]]
    if closing.size:
        notes.append(f"{closing.size} stops of joints are hit: an impact comes first")
    return Mechanism(
        held=_chosen(rows, held),
        held_bias=bias[held],
        held_names=tuple(names[r] for r in held),
        stops=_chosen(rows, resting),
        stop_bias=bias[resting],
        dry=_chosen(rows, dry[~moves]),
        dry_bias=bias[dry[~moves]],
        dry_limit=limit[~moves],
        dry_names=tuple(joints.names[g] for g in dry_joint[~moves]),
        load=rows.force(force, model.body_count),
        known={joints.names[g]: float(f) for g, f in zip(dry_joint[moves], force[dry[moves]], strict=True)},
        closing=int(closing.size),
        load_dependent=tuple(joints.names[g] for g in np.flatnonzero(joints.load_friction[:, 0])),
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _LawRows:
    """Which joints have which rows: after the bilateral rows those of dry friction, motors, limits, inequalities."""

    friction: IntArray
    motors: IntArray
    lower: IntArray
    upper: IntArray

    @staticmethod
    def of(model: Model) -> _LawRows:
        joints = model.joints
        g = joints.coordinates.joint
        motor = np.array([joints.motions[j] is not None for j in g], dtype=bool) & np.isfinite(joints.effort_limit[g])
        low, high = joints.limits[g].T
        return _LawRows(g[joints.friction[g] > 0.0], g[motor], g[np.isfinite(low)], g[np.isfinite(high)])

    def rows(self, model: Model, state: State, near: Array) -> Rows:
        """Evaluate all of them; psi of a stop is its gap, rates contain what is prescribed."""
        joints = model.joints
        walls = drive_velocity(model, state, 1.0, secant=False)

        def measured(chosen: IntArray, side: float = 1.0) -> Rows:
            at = joints.coordinate_of[chosen]
            rows = joint_rows(joints.arrays, RowTable(*(column[at] for column in joints.coordinates)), state.q, near)
            rows.J[:] *= side
            rows.psi[:] *= side
            rows.rate[:] = rows.velocity(walls)
            return rows

        friction, motors = measured(self.friction), measured(self.motors)
        lower, upper = measured(self.lower), measured(self.upper, -1.0)
        for k, g in enumerate(self.motors):
            motion = joints.motions[g]
            assert motion is not None
            motors.rate[k] -= motion_rate(motion, state.t, 1.0, secant=False)
        lower.psi[:] -= joints.limits[self.lower, 0]
        upper.psi[:] += joints.limits[self.upper, 1]
        unequal = [constraint_rows(model, one, state.q, state.t) for one in joints.inequalities]
        return stacked(
            [bilateral_rows(model, state, near, 1.0, secant=False), friction, motors, lower, upper, *unequal]
        )


def _speed(model: Model, rows: Rows, state: State) -> Array:
    """Return ``w = J v + psi_t``; the motion of prescribed bodies is in psi_t."""
    v = state.v.copy()
    v[: model.fixed_count] = 0.0
    speed: Array = rows.velocity(v) + rows.rate
    return speed


def _bias(model: Model, law_rows: _LawRows, state: State, near: Array, size: float) -> Array:
    """Return the rate of every row's speed at constant body velocities."""
    pace = float(np.abs(state.v[:, :3]).max() / size + np.abs(state.v[:, 3:]).max())
    delta = _TRAVEL / pace if pace > 0.0 else _LONGEST
    if any(motion is not None for motion in (*model.motions, *model.joints.motions)) or model.joints.equalities:
        delta = min(delta, _LONGEST)
    bias = np.zeros(law_rows.rows(model, state, near).row_count)
    for step, weight in STENCIL:
        for side in (-1.0, 1.0):
            there = advance(model, state, state.v, side * step * delta, exact_rotation=True)
            bias += side * weight / delta * _speed(model, law_rows.rows(model, there, near), there)
    return bias


def _speed_scale(rows: Rows, state: State, size: float, acceleration: float) -> Array:
    """Return the speed of every row if nothing cancelled: that of the bodies, or what loads give over their size."""
    fastest = max(
        float(np.abs(state.v[:, :3]).max()), size * float(np.abs(state.v[:, 3:]).max()), (size * acceleration) ** 0.5
    )
    terms = np.abs(rows.J) @ np.array([fastest] * 3 + [fastest / size] * 3)
    return np.add.reduceat(np.append(terms, 0.0), rows.start[:-1]) if rows.row_count else np.zeros(0)


def _chosen(rows: Rows, index: IntArray) -> Rows:
    """Return some of the rows."""
    terms = [np.arange(rows.start[r], rows.start[r + 1]) for r in index]
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *terms])
    start = np.cumsum([0, *(part.size for part in terms)]).astype(np.int64)
    return Rows(start, rows.body[flat], rows.J[flat], rows.psi[index], rows.rate[index])


def _no_rows() -> Rows:
    zero = np.zeros(0)
    return Rows(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 6)), zero, zero)


def _in_group(rows: Rows, bodies: IntArray) -> tuple[Array, IntArray]:
    """Return the rows that act on the bodies in their stacked velocities, (r, n_v), and which they are."""
    place = {int(b): 6 * k for k, b in enumerate(bodies)}
    index = [
        r for r in range(rows.row_count) if any(int(b) in place for b in rows.body[rows.start[r] : rows.start[r + 1]])
    ]
    out = np.zeros((len(index), 6 * bodies.size))
    for line, r in zip(out, index, strict=True):
        for k in range(rows.start[r], rows.start[r + 1]):
            at = place.get(int(rows.body[k]))
            if at is not None:
                line[at : at + 6] += rows.J[k]
    return out, np.array(index, dtype=np.int64)
