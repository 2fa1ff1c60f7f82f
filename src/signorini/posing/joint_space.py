r"""What joints add to a step: bilateral rows that are eliminated, and laws of one scalar row.

Limits, one-sided constraints, dry friction and motors of limited effort act along one row each, of speed
:math:`w = J v + \psi_t`, and join the contacts in one friction problem:

- limit: :math:`0 \le p \perp w + \psi/h \ge 0`, a contact without friction;
- friction (S1 eq. 38): :math:`|p| \le h\,c_{max}`, opposite to :math:`w` where it slips: a contact with coefficient 1
  whose normal impulse is known, :math:`0 \le p_n \perp a p_n - a h c_{max} \ge 0`, tangential row J;
- motor: the same, with :math:`w + \psi/h` in place of :math:`w`, psi being what the joint lags behind its motion, or
  as much of it as can be made good without overshooting: the motor must still be able to stop.

So every solver of friction problems solves joints too, exactly, without creep. Friction that follows the reaction of
its own joint is found by repetition, its limit taken from the reaction until both agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.dynamics import (
    JointSystem,
    Rows,
    constraint_rows,
    drive_velocity,
    inverse_inertia,
    joint_rows,
    joint_system,
    motion_rate,
    stacked,
)
from signorini.dynamics.limits import impetus, limit_margin, pursued
from signorini.model import Model, RowKind, RowTable, State
from signorini.posing.constants import BRAKING_SHARE


class LawKind(IntEnum):
    """Laws of one scalar row."""

    LIMIT = 0
    FRICTION = 1
    MOTOR = 2


@dataclass(frozen=True, slots=True)
class RowLaws:
    """Limits, friction and motors of a step, one scalar row each."""

    kind: IntArray
    """:class:`LawKind`, (n_l,)."""
    joint: IntArray
    """-1 for a constraint, (n_l,)."""
    feature: IntArray
    """Names by which impulses are remembered, negative, (n_l,)."""
    rows: Rows
    """psi is the gap of a limit, what a motor is to make good in this step, 0 for friction."""
    bound: Array
    """Largest impulse of friction or motor, (n_l,) [N s, N m s]."""
    by_load: BoolArray
    """Whether the bound follows the joint's reaction."""

    @property
    def count(self) -> int:
        """Number of laws."""
        return int(self.kind.size)


@dataclass(frozen=True, slots=True)
class JointSpace:
    """Joints of a step: eliminated rows, and laws that are solved together with the contacts."""

    system: JointSystem
    laws: RowLaws
    velocity: Array
    """Velocities with joints, without contacts and laws, (n_b, 6)."""
    coordinate: Array
    """Joint coordinates at the start of the step, (n_j,)."""

    def load_bound(self, impulse: Array) -> Array:
        """Return the bounds of all laws, those by load from the impulses of the bilateral rows."""
        joints = self.system.model.joints
        bound = self.laws.bound.copy()
        table, n = joints.rows, joints.joint_row_count
        own = (joints.drive == 0) & (joints.spring == 0)
        squares = impulse[:n] ** 2 * own
        force, moment = (
            np.sqrt(np.bincount(table.joint, squares * (table.kind == kind), minlength=joints.count))
            for kind in (RowKind.SLIDE, RowKind.ALIGN)
        )
        for k in np.flatnonzero(self.laws.by_load):
            g = self.laws.joint[k]
            coefficient, radius = joints.load_friction[g]
            turns = joints.kinds[g] == "revolute"
            bound[k] = coefficient * (radius * force[g] if turns else force[g] + moment[g] / radius)
        return bound


def joint_space(
    model: Model,
    state: State,
    v_free: Array,
    M_inv: Array,
    coordinate: Array,
    h: float,
    *,
    secant: bool,
    span: float | None = None,
) -> JointSpace:
    """Prepare the joints of a step: bodies move for `h` seconds after impulses of `span`, by default as many."""
    span = h if span is None else span
    system = joint_system(model, state, coordinate, M_inv, h, secant=secant, span=span)
    velocity, impulse = system.solve(v_free)
    laws = _row_laws(model, state, velocity, M_inv, coordinate, h, secant=secant)
    laws.bound[:] *= span / h
    space = JointSpace(system, laws, velocity, coordinate)
    motor = np.flatnonzero(laws.kind == LawKind.MOTOR)
    if motor.size:
        rows = laws.rows
        terms = (rows.start[motor][:, None] + np.arange(2)).reshape(-1)
        own = Rows(2 * np.arange(motor.size + 1), rows.body[terms], rows.J[terms], rows.psi[motor], rows.rate[motor])
        restrain_motors(laws, motor, system.mobility(own).diagonal(), h, span)
    if space.laws.by_load.any():
        space.laws.bound[:] = space.load_bound(impulse)
    return space


def restrain_motors(laws: RowLaws, motor: IntArray, mobility: Array, h: float, span: float) -> None:
    """Let motors make good no more of their lag in a step than at the speed from which they can stop.

    Pursued at full effort up to the last moment, a lag is overshot by as much again, for ever. `mobility` is that of
    the rows of these motors, (n,).
    """
    deceleration = BRAKING_SHARE * mobility * laws.bound[motor] / span
    lag = laws.rows.psi[motor]
    laws.rows.psi[motor] = np.sign(lag) * np.minimum(np.abs(lag), h * np.sqrt(2.0 * deceleration * np.abs(lag)))


def driven_velocity(model: Model, state: State, v_free: Array, h: float) -> Array:
    """Return the velocities that driven joints give to bodies, drift left aside, (n_b, 6)."""
    # Only how fast bodies may move is wanted, so the turn on which an angle stands does not matter.
    M_inv = inverse_inertia(model.arrays, state.q)
    system = joint_system(model, state, np.zeros(model.joints.count), M_inv, h, secant=True)
    system.x2[:] = system.rows.rate
    v, _ = system.solve(v_free)
    return v


def _row_laws(
    model: Model, state: State, velocity: Array, M_inv: Array, coordinate: Array, h: float, *, secant: bool
) -> RowLaws:
    """Collect limits, friction, motors and inequality constraints."""
    joints = model.joints
    measured = joint_rows(joints.arrays, joints.coordinates, state.q, coordinate)
    measured.rate[:] = measured.velocity(drive_velocity(model, state, h, secant=secant))
    speed = measured.velocity(velocity) + measured.rate
    agility = np.sqrt(measured.mobility(M_inv))
    margin = limit_margin(speed, agility, impetus(model, state, velocity, agility, h), h)
    return laws_at(model, state, measured, margin, coordinate, h, secant=secant)


def laws_at(
    model: Model, state: State, measured: Rows, margin: Array, coordinate: Array, h: float, *, secant: bool
) -> RowLaws:
    """Collect the laws of coordinates that stand and move as `measured`; limits count that are within the `margin`."""
    joints, table = model.joints, model.joints.coordinates
    kind, row, sides, psi, rate, bound = _chosen(model, state, measured, margin, h, secant=secant)
    own = RowTable(*(column[row] for column in table))
    rows = joint_rows(joints.arrays, own, state.q, coordinate)
    rows.J[:] *= np.repeat(sides, 2)[:, None]
    rows.psi[:], rows.rate[:] = psi, rate
    n_more = sum(one.size for one in joints.inequalities)
    more = [constraint_rows(model, one, state.q, state.t) for one in joints.inequalities]
    joint = np.concatenate([own.joint, np.full(n_more, -1)]).astype(np.int64)
    name = np.concatenate([4 * own.joint + np.where(kind == 0, (1 - sides) // 2, 1 + kind), 4 * joints.count +
                           np.arange(n_more)])  # fmt: skip
    by_load = np.concatenate([(kind == LawKind.FRICTION) & (joints.load_friction[own.joint, 0] > 0.0),
                              np.zeros(n_more, dtype=bool)])  # fmt: skip
    return RowLaws(
        kind=np.concatenate([kind, np.zeros(n_more, dtype=np.int64)]),
        joint=joint,
        feature=-1 - name.astype(np.int64),
        rows=stacked([rows, *more]),
        bound=np.concatenate([bound, np.zeros(n_more)]),
        by_load=by_load,
    )


def _chosen(
    model: Model, state: State, measured: Rows, margin: Array, h: float, *, secant: bool
) -> tuple[IntArray, IntArray, Array, Array, Array, Array]:
    """Return kind, coordinate row, direction (+1 or -1), psi, rate and bound of the laws that act in a step."""
    joints = model.joints
    g = joints.coordinates.joint
    low, high = measured.psi - joints.limits[g, 0], joints.limits[g, 1] - measured.psi
    rubs = (joints.friction[g] > 0.0) | (joints.load_friction[g, 0] > 0.0)
    parts = []
    for kind, side, at in (
        (LawKind.LIMIT, 1.0, np.flatnonzero(low <= margin)),
        (LawKind.LIMIT, -1.0, np.flatnonzero(high <= margin)),
        (LawKind.FRICTION, 1.0, np.flatnonzero(rubs)),
        (LawKind.MOTOR, 1.0, np.flatnonzero(pursued(joints))),
    ):
        psi, rate, bound = np.zeros(at.size), side * measured.rate[at], np.zeros(at.size)
        if kind == LawKind.LIMIT:
            psi = (low if side > 0.0 else high)[at]
        elif kind == LawKind.FRICTION:
            bound = h * joints.friction[g[at]]
        else:
            bound = h * joints.effort_limit[g[at]]
            for k, r in enumerate(at):
                motion = joints.motions[g[r]]
                assert motion is not None
                psi[k] = measured.psi[r] - motion(state.t)
                rate[k] -= motion_rate(motion, state.t, h, secant=secant)
        parts.append((np.full(at.size, kind, dtype=np.int64), at, np.full(at.size, side), psi, rate, bound))
    kinds, rows, sides, psis, rates, bounds = (np.concatenate(column) for column in zip(*parts, strict=True))
    return kinds, rows, sides, psis, rates, bounds
