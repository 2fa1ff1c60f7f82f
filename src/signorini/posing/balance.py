"""Where the energy of a step went: the identity of S1 spec 5.3, term by term."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.dynamics import elastic_energy, kinetic_energy, motion_energies
from signorini.model import Contacts, Model, State
from signorini.posing.base import Balance, FreeMotion
from signorini.posing.joint_report import Settled
from signorini.posing.joint_space import JointSpace, LawKind
from signorini.posing.midpoint import Midpoint


def energy_balance(
    model: Model,
    at: Midpoint,
    free: FreeMotion,
    hit: BoolArray,
    drive: Array,
    u: Array,
    p: Array,
    v: Array,
    lift: Array,
    friction: float | None,
    turned: float,
) -> Balance:
    """Account for the energy of a step, joints apart.

    From ``M (v+ - v_spun) = p_ext + J^T p``:
    ``T+ - T_spun = v+ . p_ext + sum p . (u - drive) - 1/2 |v+ - v_spun|_M^2``. Loads work over the displacement
    ``h (theta v+ + (1 - theta) v)``; what this leaves, ``(1 - theta) p_ext . (v+ - v)``, is the scheme's.

    Parameters
    ----------
    hit : (n_b,)
        Bodies in contact, of :func:`pressed`.
    drive, u, p : (n_c, dim)
        Velocities of contacts from prescribed motions, at the end of the step, and impulses.
    v : (n_b, 6)
        Velocities right after the impulses.
    lift : (n_c,)
        Speed at which the law asks overlapping bodies to part.
    friction : dissipated by sliding if a step has several phases, else None
    turned : gained by bodies that turned evenly, of which that is not so
    """
    arrays, theta = model.arrays, at.theta
    correction = float(np.sum(p[:, 0] * lift))
    jump = kinetic_energy(arrays, at.state.q, v - free.v_spun)
    spin_loss = kinetic_energy(arrays, at.start.q, at.start.v) - kinetic_energy(arrays, at.state.q, free.v_spun)
    bodies = slice(model.fixed_count, None)
    user_impulse = free.p_ext - at.h * arrays.weight
    change = v[bodies] - at.state.v[bodies]
    slid = -float(np.sum(p[:, 1:] * u[:, 1:]))
    friction = slid if friction is None else friction
    return Balance(
        load_work=float(np.sum(user_impulse[bodies] * (v[bodies] - (1.0 - theta) * change))),
        drive_work=-float(np.sum(p * drive)),
        correction_work=correction,
        joint_work=0.0,
        friction=friction,
        impact=float(np.sum(jump[hit])) + correction - float(np.sum(p[:, 0] * u[:, 0])) + slid - friction,
        damping=0.0,
        integration=float(np.sum(jump[~hit]) + np.sum(spin_loss) - (1.0 - theta) * np.sum(free.p_ext[bodies] * change))
        - turned,
        elastic=0.0,
    )


def pressed(model: Model, contacts: Contacts, p: Array, joints: JointSpace | None, p_laws: Array) -> BoolArray:
    """Tell which bodies feel a contact or a limit, or hang together with one that does, (n_b,)."""
    hit = np.zeros(model.body_count, dtype=bool)
    active = np.any(p != 0.0, axis=1)
    hit[contacts.body_a[active]] = hit[contacts.body_b[active]] = True
    if joints is not None:
        laws, of_body = joints.laws, model.joints.tree.of_body
        at_stop = np.repeat((laws.kind == LawKind.LIMIT) & (p_laws != 0.0), np.diff(laws.rows.start))
        stopped = laws.rows.body[at_stop]
        hit[stopped[stopped >= 0]] = True
        hit |= (of_body >= 0) & np.isin(of_body, of_body[hit])
    return hit


def with_joints(
    balance: Balance,
    model: Model,
    at: Midpoint,
    moved: State,
    end: Settled,
    space: JointSpace,
    p_laws: Array,
    reaction: Array,
    v: Array,
) -> Balance:
    """Add the terms of bilateral rows, limits, friction and motors; rigid rows work over the displacement too.

    Parameters
    ----------
    moved, end : state after the step, before and after it obeys the joints
    p_laws, reaction : impulses of joint laws and of bilateral rows
    v : (n_b, 6)
        New velocities.
    """
    joints, rows, laws = model.joints, space.system.rows, space.laws
    still, moving = v.copy(), at.start.v.copy()
    still[: model.fixed_count] = moving[: model.fixed_count] = 0.0
    speed = rows.velocity(still)
    soft = np.zeros(rows.row_count, dtype=bool)
    soft[: joints.joint_row_count] = joints.spring == 1
    work, pushed = reaction * speed, reaction * rows.rate
    rate = (speed + rows.rate)[: joints.joint_row_count]
    damping = at.h * float(np.sum((joints.damping[joints.rows.joint] * rate**2)[joints.spring == 1]))
    elastic = elastic_energy(joints, end.coordinate) - elastic_energy(joints, at.start_coordinate)
    of_springs = float(np.sum((work + pushed)[soft]))
    turned = (1.0 - at.theta) * float(np.sum((work - reaction * rows.velocity(moving))[~soft]))

    w = laws.rows.velocity(still)
    limit, slides, motor = (laws.kind == kind for kind in (LawKind.LIMIT, LawKind.FRICTION, LawKind.MOTOR))
    law_rate = p_laws * laws.rows.rate
    corrected = float(np.sum((p_laws * np.maximum(0.0, -laws.rows.psi))[limit]) / at.drift)
    # A projection moves bodies and turns inertias at given velocities.
    shifted = _energy(model, end.state) - _energy(model, moved)
    return balance._replace(
        drive_work=balance.drive_work
        - float(np.sum(pushed))
        - float(np.sum(law_rate[limit | slides]))
        + float(np.sum((p_laws * w)[motor])),
        correction_work=balance.correction_work + corrected,
        joint_work=float(np.sum((work + pushed)[~soft])) - turned + shifted,
        friction=balance.friction - float(np.sum((p_laws * w + law_rate)[slides])),
        impact=balance.impact + corrected - float(np.sum((p_laws * w + law_rate)[limit])),
        damping=damping,
        integration=balance.integration - turned - of_springs - elastic - damping,
        elastic=elastic,
    )


def _energy(model: Model, state: State) -> float:
    """Return kinetic and potential energy [J]."""
    kinetic, potential = motion_energies(model, state.q, state.v, state.modal_rate, state.modal)
    return float(kinetic + potential)
