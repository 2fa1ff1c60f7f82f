"""Where the energy of a step went: the identity of S1 spec 5.3, term by term."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.dynamics import elastic_energy, kinetic_energy, potential_energy
from signorini.formulations.base import Balance, FreeMotion
from signorini.formulations.joint_space import JointSpace, LawKind
from signorini.model import Contacts, Model, State


def energy_balance(
    model: Model,
    state: State,
    moved: State,
    after: State,
    free: FreeMotion,
    joints: JointSpace | None,
    contacts: Contacts,
    drive: Array,
    u: Array,
    p: Array,
    p_laws: Array,
    reaction: Array,
    v: Array,
    h: float,
    coordinate: Array,
) -> Balance:
    """Account for the energy of a step.

    From ``M (v+ - v_spun) = p_ext + J^T p + B^T lambda``:
    ``T+ - T_spun = v+ . p_ext + sum p . (u - drive) + lambda . B v+ - 1/2 |v+ - v_spun|_M^2``.

    Parameters
    ----------
    moved, after : state after the step, before and after the projection onto the joints
    drive, u, p : (n_c, dim)
        Velocities of contacts from prescribed motions, at the end of the step, and impulses.
    p_laws, reaction : impulses of joint laws and of bilateral rows
    v : (n_b, 6)
        New velocities.
    coordinate : (n_j,)
        Joint coordinates at the end of the step.
    """
    correction = float(np.sum(p[:, 0] * np.maximum(0.0, -contacts.gap)) / h)
    jump = kinetic_energy(model.arrays, state.q, v - free.v_spun)
    spin_loss = kinetic_energy(model.arrays, state.q, state.v) - kinetic_energy(model.arrays, state.q, free.v_spun)
    pressed = np.zeros(model.body_count, dtype=bool)
    active = np.any(p != 0.0, axis=1)
    pressed[contacts.body_a[active]] = pressed[contacts.body_b[active]] = True
    if joints is not None:
        _spread(pressed, joints, p_laws)
    bodies = slice(model.fixed_count, None)
    user_impulse = free.p_ext - h * model.arrays.weight
    balance = Balance(
        load_work=float(np.sum(user_impulse[bodies] * v[bodies])),
        drive_work=-float(np.sum(p * drive)),
        correction_work=correction,
        joint_work=0.0,
        friction=-float(np.sum(p[:, 1:] * u[:, 1:])),
        impact=float(np.sum(jump[pressed])) + correction - float(np.sum(p[:, 0] * u[:, 0])),
        damping=0.0,
        integration=float(np.sum(jump[~pressed]) + np.sum(spin_loss)),
        elastic=0.0,
    )
    if joints is None:
        return balance
    return _with_joints(balance, model, moved, after, joints, p_laws, reaction, v, h, coordinate)


def _spread(pressed: BoolArray, joints: JointSpace, p_laws: Array) -> None:
    """Count also bodies at an active limit, and all that hang together with a body in contact or at a limit."""
    laws, of_body = joints.laws, joints.system.model.joints.tree.of_body
    at_stop = np.repeat((laws.kind == LawKind.LIMIT) & (p_laws != 0.0), np.diff(laws.rows.start))
    stopped = laws.rows.body[at_stop]
    pressed[stopped[stopped >= 0]] = True
    pressed |= (of_body >= 0) & np.isin(of_body, of_body[pressed])


def _with_joints(
    balance: Balance,
    model: Model,
    moved: State,
    after: State,
    space: JointSpace,
    p_laws: Array,
    reaction: Array,
    v: Array,
    h: float,
    coordinate: Array,
) -> Balance:
    """Add the terms of bilateral rows, limits, friction and motors."""
    joints, rows, laws = model.joints, space.system.rows, space.laws
    still = v.copy()
    still[: model.fixed_count] = 0.0
    speed = rows.velocity(still)
    soft = np.zeros(rows.row_count, dtype=bool)
    soft[: joints.joint_row_count] = joints.spring == 1
    work, pushed = reaction * speed, reaction * rows.rate
    rate = (speed + rows.rate)[: joints.joint_row_count]
    damping = h * float(np.sum((joints.damping[joints.rows.joint] * rate**2)[joints.spring == 1]))
    elastic = elastic_energy(joints, coordinate) - elastic_energy(joints, space.coordinate)
    of_springs = float(np.sum((work + pushed)[soft]))

    w = laws.rows.velocity(still)
    limit, slides, motor = (laws.kind == kind for kind in (LawKind.LIMIT, LawKind.FRICTION, LawKind.MOTOR))
    law_rate = p_laws * laws.rows.rate
    corrected = float(np.sum((p_laws * np.maximum(0.0, -laws.rows.psi))[limit]) / h)
    # A projection moves bodies and turns inertias at given velocities.
    shifted = _energy(model, after) - _energy(model, moved)
    return balance._replace(
        drive_work=balance.drive_work
        - float(np.sum(pushed))
        - float(np.sum(law_rate[limit | slides]))
        + float(np.sum((p_laws * w)[motor])),
        correction_work=balance.correction_work + corrected,
        joint_work=float(np.sum((work + pushed)[~soft])) + shifted,
        friction=balance.friction - float(np.sum((p_laws * w + law_rate)[slides])),
        impact=balance.impact + corrected - float(np.sum((p_laws * w + law_rate)[limit])),
        damping=damping,
        integration=balance.integration - of_springs - elastic - damping,
        elastic=elastic,
    )


def _energy(model: Model, state: State) -> float:
    """Return kinetic and potential energy [J]."""
    return float(kinetic_energy(model.arrays, state.q, state.v).sum() + potential_energy(model, state.q).sum())
