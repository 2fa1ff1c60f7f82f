"""Where the energy of a step in joint coordinates went, term by term."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.dynamics import motion_energies, relative_velocity
from signorini.dynamics.response.assembly import Solved
from signorini.dynamics.response.mechanism import Mechanism
from signorini.dynamics.response.posture import Posture
from signorini.formulations.jointed.space import Space, Start, pressed_joints
from signorini.model import Contacts, Model, State
from signorini.posing.base import Balance
from signorini.posing.joint_space import LawKind


class Outcome(NamedTuple):
    """What a step with contact came to."""

    space: Space
    contacts: Contacts
    p: Array
    """Impulses of contacts, (n_c, dim) [N s]."""
    p_laws: Array
    """Of joint laws, (n_l,) [N s, N m s]."""
    velocity: Array
    """Of contacts as the law was posed, (n_c, dim) [m/s]."""
    law_speed: Array
    """Of joint laws as they were posed, (n_l,)."""
    solved: Solved
    pushed: Posture
    """The posture at the start of the step, at the new speeds."""
    pushed_speed: Array
    """Speeds of joints that have a coordinate of their own there, (n_j,)."""
    effort: Array
    """What springs, dampers and ideal drives push along these coordinates, (n_j,) [N, N m]."""
    soft: tuple[Array, Array]
    """What springs and dampers push, (n_j,) each."""
    modal: tuple[float, float]
    """Power of stiffness and damping of modes on the new speeds [W]."""


def free_balance(model: Model, before: State, after: State, work: Array, wound: float) -> Balance:
    """Account for a step without contact: what loads, drives and dampers did (3,); the rest is the scheme's."""
    loads, drives, damped = (float(one) for one in work)
    lost = loads + drives - damped - wound - (motion_energy(model, after) - motion_energy(model, before))
    return Balance(loads, drives, 0.0, 0.0, 0.0, 0.0, damped, lost, wound)


def contact_balance(
    model: Model, mechanism: Mechanism, start: Start, after: State, out: Outcome, wound: float, h: float
) -> Balance:
    """Account for the energy of a step from the equations of every single body.

    With v' the velocities of the new speeds at the old coordinates and ``Gamma a + beta = F + forces of joints``,
    ``T(v') - T(v) = v' . Gamma (v' - v) - 1/2 |v' - v|_Gamma^2``; forces of trees do no work on v', which is what this
    identity tests, those of chords some of the second order. What coordinates that move on change is the scheme's, as
    is the difference between v' and the velocities that the laws were posed with. `wound` is what springs and modes
    have come to store: they push as they stand at the start, and what they store beyond their work is the scheme's.
    """
    arrays, fixed, at, space = model.arrays, model.fixed_count, start.at, out.space
    v_new = np.hstack([out.pushed.v, out.pushed.w])
    v_new[:fixed] = 0.0
    count = len(mechanism.limbs)
    lost, hit, turned, at_old = np.zeros(count), _hit(mechanism, out), 0.0, 0.0
    for k, (Gamma, beta) in enumerate(zip(*mechanism.inertias(at), strict=True)):
        V, V_new = mechanism.motion(at, k), mechanism.motion(out.pushed, k)
        jump = V_new - V
        lost[k] = 0.5 * float(jump @ Gamma @ jump)
        left = h * mechanism.of_limb(out.solved.acceleration, k) - jump
        turned += float(V_new @ (Gamma @ left + h * beta))
        at_old += 0.5 * float(V_new @ Gamma @ V_new) - h * float(V_new @ mechanism.weight(at, k))
    there = motion_energy(model, after)
    at_old += float(motion_energies(model, start.state.q, start.state.v, start.state.modal_rate, start.state.modal)[1])
    p, velocity = out.p, out.velocity
    own = relative_velocity(*space.J, out.contacts, v_new) + space.drive
    slack = float(np.sum(p * (own - velocity)))
    correction = float(np.sum(p[:, 0] * np.maximum(0.0, -out.contacts.gap / h)))
    spring, damper = (h * float(np.sum(one * out.pushed_speed)) for one in out.soft)
    balance = Balance(
        load_work=h * float(np.sum((start.force - arrays.weight)[fixed:] * v_new[fixed:])),
        drive_work=-float(np.sum(p * space.drive)) + h * float(out.effort @ out.pushed_speed) - spring - damper,
        correction_work=correction,
        joint_work=h * mechanism.chord_work(at, out.pushed, out.solved.wrench),
        friction=-float(np.sum(p[:, 1:] * velocity[:, 1:])),
        impact=float(np.sum(lost[hit])) + correction - float(np.sum(p[:, 0] * velocity[:, 0])),
        damping=-damper - h * out.modal[1],
        integration=float(np.sum(lost[~hit])) + turned - (there - at_old) - slack - spring - h * out.modal[0] - wound,
        elastic=wound,
    )
    return _with_laws(balance, space, out, h)


def _with_laws(balance: Balance, space: Space, out: Outcome, h: float) -> Balance:
    """Add limits, friction and motors of joints."""
    laws, p, w = space.laws, out.p_laws, out.law_speed
    if not laws.count:
        return balance
    limit, rubs, motor = (laws.kind == kind for kind in (LawKind.LIMIT, LawKind.FRICTION, LawKind.MOTOR))
    side = np.where(limit & ((-1 - laws.feature) % 4 == 1), -1.0, 1.0)
    corrected = float(np.sum((p * np.maximum(0.0, -laws.rows.psi / h))[limit]))
    return balance._replace(
        drive_work=balance.drive_work + float(np.sum((p * w)[motor])),
        correction_work=balance.correction_work + corrected,
        friction=balance.friction - float(np.sum((p * w)[rubs])),
        impact=balance.impact + corrected - float(np.sum((p * w)[limit])),
        integration=balance.integration - float(np.sum(p * (side * out.pushed_speed[laws.joint] - w))),
    )


def _hit(mechanism: Mechanism, out: Outcome) -> BoolArray:
    """Tell which limbs hang together with one that presses against something, (n,)."""
    pressed = np.any(out.p != 0.0, axis=1)
    rows = {int(b) for b in np.concatenate([out.contacts.body_a[pressed], out.contacts.body_b[pressed]])}
    rows |= {mechanism.hinges[mechanism.hinge_of[int(g)]].row for g in pressed_joints(out.space, out.p_laws)}
    struck = [mechanism.tree[mechanism.row[row]] for row in rows if row in mechanism.row]
    return np.isin(mechanism.tree, struck)


def motion_energy(model: Model, state: State) -> float:
    """Return kinetic and potential energy [J]."""
    kinetic, potential = motion_energies(model, state.q, state.v, state.modal_rate, state.modal)
    return float(kinetic + potential)
