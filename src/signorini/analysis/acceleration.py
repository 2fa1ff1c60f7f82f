r"""What the contacts of a state do without contact forces: the vector y of the LCP (S4, eq. 9).

.. math:: y = \Phi_q M^{-1} (u - h) + \dot\Phi_q\, \dot q

The rate of the normals contains the curvature of both surfaces. It is found by a central difference of the contact
velocities along the motion at constant velocity, so that every shape the geometry knows is covered.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.dynamics import (
    advance,
    contact_wrenches,
    free_velocity,
    inverse_inertia,
    load_impulse,
    relative_velocity,
)
from signorini.geometry import detect
from signorini.model import Contacts, Model, State

# Part of the bodies' size that they move in the difference: its error is the square of this, rounding 1e-16 over it.
_TRAVEL = 3e-5


def free_acceleration(model: Model, state: State) -> Array:
    """Return accelerations under loads and gyroscopic moments, without contacts, (n_b, 6)."""
    M_inv = inverse_inertia(model.arrays, state.q)
    # Both are linear in the length of the step, so a step of one second gives the rates themselves.
    force = load_impulse(model, state, 1.0)
    spin = free_velocity(model.arrays, state.q, state.v, 1.0, implicit=False) - state.v
    acceleration: Array = np.einsum("bij,bj->bi", M_inv, force) + spin
    acceleration[: model.fixed_count] = 0.0
    return acceleration


def velocity_rate(
    model: Model, state: State, contacts: Contacts, *, dim: int, size: float, reach: Array
) -> tuple[Array, BoolArray]:
    """Return the rates of the contact velocities at constant body velocities, (n_c, dim), and where they are known.

    Prescribed bodies move as they do, so their accelerations are included. A contact that geometry does not find again
    on both sides of the state has no rate.
    """
    speed = float(np.linalg.norm(state.v[:, :3], axis=1).max() + size * np.linalg.norm(state.v[:, 3:], axis=1).max())
    moving = any(motion is not None for motion in model.motions)
    if speed == 0.0 and not moving:
        return np.zeros((contacts.contact_count, dim)), np.ones(contacts.contact_count, dtype=bool)
    delta = _TRAVEL * size / speed if speed > 0.0 else _TRAVEL
    sides = [
        _velocities(model, state, contacts, side * delta, dim, reach + 2.0 * speed * delta) for side in (-1.0, 1.0)
    ]
    known = sides[0][1] & sides[1][1]
    rate = np.where(known[:, None], (sides[1][0] - sides[0][0]) / (2.0 * delta), 0.0)
    return rate, known


def _velocities(
    model: Model, state: State, contacts: Contacts, delta: float, dim: int, reach: Array
) -> tuple[Array, BoolArray]:
    """Return the velocities of the same contacts `delta` seconds later, and which of them were found."""
    there = advance(model, state, state.v, delta, exact_rotation=True)
    found = detect(model, there, reach)
    J_a, J_b = contact_wrenches(found, there.q, dim=dim, point_a=found.point_a, point_b=found.point_b)
    u = relative_velocity(J_a, J_b, found, there.v)
    row = {int(feature): k for k, feature in enumerate(found.feature)}
    index = [row.get(int(feature), -1) for feature in contacts.feature]
    known = np.array([k >= 0 for k in index], dtype=bool)
    out = np.zeros((contacts.contact_count, dim))
    out[known] = u[[k for k in index if k >= 0]]
    return out, known
