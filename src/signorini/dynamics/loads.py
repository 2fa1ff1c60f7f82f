"""Loads that do not come from contacts or joints: gravity and the forces that a user adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from signorini._arrays import Array, checked
from signorini.math.rotation import rotate
from signorini.model import Force, Model, State


def load_impulse(model: Model, state: State, h: float) -> Array:
    """Return ``p_ext = h g_ext``, all loads evaluated at the start of the step, (n_b, 6) [N s, N m s]."""
    p_ext = h * model.arrays.weight
    for force in model.forces:
        p_ext[force.body] += h * _wrench(force, state, model)
    return p_ext


def potential_energy(model: Model, q: Array) -> Array:
    """Return ``-m g . x`` of every body in one state or many, (..., n_b) [J]."""
    energy: Array = -model.arrays.mass * (q[..., :3] @ model.arrays.gravity)
    return energy


def _wrench(force: Force, state: State, model: Model) -> Array:
    """Evaluate one load: force and moment about the mass centre, (6,)."""
    what = f"force on {model.names[force.body]!r}"
    F = _value(force.force, state, f"{what}: force", model.planar, moment=False)
    wrench = np.concatenate([F, _value(force.torque, state, f"{what}: torque", model.planar, moment=True)])
    if force.at is not None:
        wrench[3:] += np.cross(rotate(state.q[force.body, 3:], force.at), F)
    return wrench


def _value(
    given: Array | Callable[[float, State], Any] | None, state: State, what: str, planar: bool, *, moment: bool
) -> Array:
    """Return a constant, or a function's value checked and lifted from the plane to space, (3,)."""
    if given is None:
        return np.zeros(3)
    if not callable(given):
        return given
    what, value = f"{what} at t = {state.t:.6g} s", given(state.t, state.read_only())
    if not planar:
        return checked(value, (3,), what)
    if moment:
        return np.array([0.0, 0.0, float(checked(value, (), what))])
    return np.append(checked(value, (2,), what), 0.0)
