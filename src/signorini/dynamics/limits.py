r"""Which limits of joints count in a step: those that anything in the scene could take a coordinate to.

A limit that is farther off asks for nothing, yet the speed at which it would be met in the step, :math:`\psi/h`, is one
of those by which the errors of all laws are measured; a millimetre away from small bodies, it is by far the largest.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.dynamics.bodies import kinetic_energy
from signorini.dynamics.constants import LIMIT_MARGIN, NEAR_LIMIT
from signorini.dynamics.motion import drive_velocity
from signorini.model import Joints, Model, State


def impetus(model: Model, state: State, velocity: Array, agility: Array, h: float) -> float:
    r"""Return what can drive a coordinate in a step, :math:`\sqrt{2T} + \sum h\,c_{max} \sqrt{W_m}`.

    Contacts, limits and friction take of the energy T of the bodies, at the `velocity` (n_b, 6) that joints leave them
    or that of the state. Motors of limited effort add to it, along rows whose mobility on free bodies is
    :math:`W_m`, its root the `agility` (n_g,) of their coordinates. None gets faster than :math:`\sqrt W` times this.
    Infinite if prescribed bodies move, for what they can give has no bound.
    """
    if np.any(drive_velocity(model, state, h, secant=True)):
        return np.inf
    bodies, effort = slice(model.fixed_count, None), model.joints.effort_limit[model.joints.coordinates.joint]
    energy = max(kinetic_energy(model.arrays, state.q, v)[bodies].sum() for v in (state.v, velocity))
    return float(np.sqrt(2.0 * energy) + h * np.sum((effort * agility)[pursued(model.joints)]))


def pursued(joints: Joints) -> BoolArray:
    """Tell which coordinates have a motor of limited effort, (n_g,)."""
    g = joints.coordinates.joint
    moves = np.array([joints.motions[k] is not None for k in g], dtype=bool)
    limited: BoolArray = moves & np.isfinite(joints.effort_limit[g])
    return limited


def limit_margin(speed: Array, agility: Array, impetus: Array | float, h: float) -> Array:
    """Return how far off limits of coordinates count that have this `speed` without them [m, rad]."""
    reach = np.full_like(agility, np.inf)
    np.multiply(agility, h * np.asarray(impetus), out=reach, where=np.isfinite(impetus))
    margin: Array = np.minimum(LIMIT_MARGIN, reach) + NEAR_LIMIT * h * np.abs(speed)
    return margin
