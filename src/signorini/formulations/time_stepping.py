r"""The parts of a velocity-impulse step that the formulations share.

.. math::
    M (v^{+} - v) = p_{ext} + J^T p, \qquad u = J v^{+} + \dot g, \qquad q^{+} = q + h\, G v^{+},

with all matrices frozen at the start of the step; :math:`\dot g` is the velocity of prescribed bodies seen from the
contact. Eliminating :math:`v^{+}` gives the contact-space map ``u = W p + b`` on which every contact law is posed.

==============  ===============================  ==============================================
here            S1                               meaning
==============  ===============================  ==============================================
``v_free``      :math:`r` (47)                   velocity without contact impulses, (n_b, 6)
``J_a, J_b``    :math:`{}^uW_n^T, {}^uW_f^T`     contact wrenches by body, (n_c, dim, 6)
``b``           first rows of :math:`f`          ``J v_free`` with drives, (n_c, dim) [m/s]
``p``           :math:`p_n, D\beta`              impulses in the contact frames, (n_c, dim) [N s]
==============  ===============================  ==============================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import (
    advance,
    contact_wrenches,
    drive_velocity,
    free_velocity,
    inverse_inertia,
    kinetic_energy,
    load_impulse,
    relative_velocity,
)
from signorini.errors import InputError
from signorini.formulations.base import Balance, Memory, StepResult
from signorini.geometry import detect
from signorini.model import Contacts, Model, State
from signorini.problems import Delassus, FrictionProblem
from signorini.solvers import Solution

# Beyond the distance that bodies may travel freely in a step: impacts elsewhere in the scene may speed them up.
_REACH_FACTOR = 1.25
_REACH_FRACTION = 0.01  # of the body's size, so that resting bodies never lose sight of their neighbours


@dataclass(frozen=True, slots=True)
class FreeMotion:
    """A step before its contacts."""

    M_inv: Array
    """(n_b, 6, 6)"""
    v_spun: Array
    """Velocity after the gyroscopic term, (n_b, 6)."""
    v_free: Array
    """Velocity after gyroscopic term and loads, (n_b, 6)."""
    p_ext: Array
    """Impulse of all loads, (n_b, 6)."""


def free_motion(model: Model, state: State, h: float, *, implicit: bool) -> FreeMotion:
    """Advance the velocities by the gyroscopic term and the loads."""
    M_inv = inverse_inertia(model.arrays, state.q)
    v_spun = free_velocity(model.arrays, state.q, state.v, h, implicit=implicit)
    p_ext = load_impulse(model, state, h)
    return FreeMotion(M_inv, v_spun, v_spun + np.einsum("bij,bj->bi", M_inv, p_ext), p_ext)


def reachable_contacts(model: Model, state: State, v_free: Array, h: float) -> Contacts:
    """Return all contacts that may close within a step of `h` seconds."""
    bound = model.arrays.bound
    speed = np.linalg.norm(v_free[:, :3], axis=1) + bound * np.linalg.norm(v_free[:, 3:], axis=1)
    reach = _REACH_FACTOR * h * speed + _REACH_FRACTION * bound
    reach[: model.fixed_count] = h * speed[: model.fixed_count]  # known exactly, and often huge
    return detect(model, state, reach)


@dataclass(frozen=True, slots=True)
class ContactSpace:
    """The contact-space map ``u = W p + b`` of one step and its way back."""

    contacts: Contacts
    W: Delassus
    b: Array
    """Relative velocity without contact impulses, (n_c, dim) [m/s]."""
    drive: Array
    """The part of `b` that prescribed motions contribute, (n_c, dim) [m/s]."""
    before: Array
    """Relative velocity at the start of the step, (n_c, dim) [m/s]."""
    mu: Array
    """(n_c,)"""

    def velocity(self, p: Array) -> Array:
        """Return ``u = W p + b``, (n_c, dim)."""
        u: Array = (self.W @ p.reshape(-1)).reshape(self.b.shape) + self.b
        return u


def contact_space(
    model: Model, state: State, free: FreeMotion, contacts: Contacts, h: float, *, secant: bool, common_point: bool
) -> ContactSpace:
    """Map contact impulses to relative velocities.

    With ``common_point`` both bodies feel the impulse at the same point (halfway across the gap, or on the moving body
    if the other is fixed), so that angular momentum is conserved exactly; otherwise each on its own surface, as in the
    papers.
    """
    point_a, point_b = contacts.point_a, contacts.point_b
    if common_point:
        halfway = np.where((contacts.body_a < model.fixed_count)[:, None], point_b, 0.5 * (point_a + point_b))
        point_a = point_b = halfway
    J_a, J_b = contact_wrenches(contacts, state.q, dim=2 if model.planar else 3, point_a=point_a, point_b=point_b)
    drive = relative_velocity(J_a, J_b, contacts, drive_velocity(model, state, h, secant=secant))
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    v_free = free.v_free.copy()
    v_free[: model.fixed_count] = 0.0
    return ContactSpace(
        contacts=contacts,
        W=Delassus(contacts.body_a, contacts.body_b, J_a, J_b, free.M_inv),
        b=relative_velocity(J_a, J_b, contacts, v_free) + drive,
        drive=drive,
        before=relative_velocity(J_a, J_b, contacts, moving) + drive,
        mu=model.materials.friction[contacts.material],
    )


def finish(
    model: Model,
    state: State,
    free: FreeMotion,
    space: ContactSpace,
    problem: FrictionProblem,
    solution: Solution,
    h: float,
    *,
    exact_rotation: bool,
) -> StepResult:
    """Carry the impulses that solve `problem` back to velocities and configuration."""
    p = solution.z.reshape(space.b.shape)
    v = free.v_free + space.W.velocity(solution.z)
    impulse = _in_space(p)
    return StepResult(
        state=advance(model, state, v, h, exact_rotation=exact_rotation),
        memory=Memory.of(space.contacts, impulse),
        contacts=space.contacts,
        impulse=impulse,
        velocity=_in_space(space.velocity(p)),
        problem=problem,
        solution=solution,
        balance=_energy_balance(model, state, free, space, p, v, h),
    )


def _energy_balance(
    model: Model, state: State, free: FreeMotion, space: ContactSpace, p: Array, v: Array, h: float
) -> Balance:
    """Account for the energy of a step from impulses `p` (n_c, dim) and new velocities `v` (n_b, 6).

    From ``M (v+ - v_spun) = p_ext + J^T p``:
    ``T+ - T_spun = v+ . p_ext + sum p . (u - drive) - 1/2 |v+ - v_spun|_M^2``.
    """
    u = space.velocity(p)
    gap = space.contacts.gap
    correction = float(np.sum(p[:, 0] * np.maximum(0.0, -gap)) / h)
    jump = kinetic_energy(model.arrays, state.q, v - free.v_spun)
    spin_loss = kinetic_energy(model.arrays, state.q, state.v) - kinetic_energy(model.arrays, state.q, free.v_spun)
    pressed = np.zeros(model.body_count, dtype=bool)
    active = np.any(p != 0.0, axis=1)
    pressed[space.contacts.body_a[active]] = pressed[space.contacts.body_b[active]] = True
    moved = slice(model.fixed_count, None)
    user_impulse = free.p_ext - h * model.arrays.weight
    return Balance(
        load_work=float(np.sum(user_impulse[moved] * v[moved])),
        drive_work=-float(np.sum(p * space.drive)),
        correction_work=correction,
        friction=-float(np.sum(p[:, 1:] * u[:, 1:])),
        impact=float(np.sum(jump[pressed])) + correction - float(np.sum(p[:, 0] * u[:, 0])),
        integration=float(np.sum(jump[~pressed]) + np.sum(spin_loss)),
    )


def _in_space(p: Array) -> Array:
    """Return contact vectors (n_c, dim) with three components, the missing one zero."""
    out = np.zeros((p.shape[0], 3))
    out[:, : p.shape[1]] = p
    return out


def warm_start(memory: Memory, space: ContactSpace) -> Array:
    """Return the impulses of the last step as a guess for this one, contact by contact."""
    return memory.recall(space.contacts)[:, : space.b.shape[1]].reshape(-1)


def check_gyroscopic(value: str, who: str) -> None:
    """Raise `InputError` unless `value` is one of the two ways to treat the gyroscopic term."""
    if value not in ("implicit", "explicit"):
        raise InputError(f"{who}: gyroscopic is {value!r}, must be 'implicit' or 'explicit'")


def refuse(model: Model, who: str, *, restitution: bool) -> None:
    """Raise `InputError` for contact data that formulation `who` does not model."""
    data = {"torsional": model.materials.torsional, "rolling": model.materials.rolling}
    if not restitution:
        data["restitution"] = model.materials.restitution
    for word, values in data.items():
        if np.any(values > 0.0):
            raise InputError(f"contact: {word} is {values.max():g}, must be 0 for {who}")
