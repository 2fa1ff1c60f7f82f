r"""Where a step acts: bodies drift, are pushed at one configuration, and drift on.

.. math::
    q_m = q + (1 - \theta) h\, G v, \qquad
    M(q_m) (v^{+} - v) = p_{ext}(q_m) + J(q_m)^T p, \qquad
    q^{+} = q_m + \theta h\, G v^{+}, \qquad \tfrac12 \le \theta \le 1 .

All that a step evaluates, masses, loads, joints, gaps, it evaluates at :math:`q_m`; impulses are those of `h` seconds.
Mass centres move by :math:`h (\theta v^{+} + (1 - \theta) v)`; a body turns about its old and then about its new
angular velocity, each of which is constant in the body while it turns about it, so that no kinetic energy changes while
bodies drift. :math:`\theta = 1` is the implicit Euler scheme of S1; :math:`\theta = 1/2` is symmetric in time, follows
parabolas exactly and is of the second order as long as no contact opens, closes or slips.

Bodies fly freely before and after the impulses act, and keep their angular momentum and rotational energy meanwhile:
:mod:`signorini.dynamics.flight`. There :math:`v^+` is the velocity right after the impulses; at the end of the step the
spin is that at the end of the flight. With ``gyroscopic="implicit"``, and in the joints of S1, they take the implicit
gyroscopic term, in body axes

.. math:: I (y - x) + h\, y_\theta \times I y_\theta = 0, \qquad y_\theta = \theta y + (1 - \theta) x ,

which changes the kinetic energy by :math:`-(\theta - \tfrac12) |y - x|_I^2`: never up, and not at all for
:math:`\theta = 1/2`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics import advance, gyroscopic_ways, inverse_inertia, joint_coordinates, joint_rows, load_impulse
from signorini.dynamics.bodies import EXPLICIT, IMPLICIT, NONE, spun_velocity
from signorini.dynamics.constants import TURN_AT_ONCE
from signorini.dynamics.flight import FLIGHT_COLUMNS, fly_bodies
from signorini.model import Model, State
from signorini.posing.base import FreeMotion, Memory


@dataclass(frozen=True, slots=True)
class Midpoint:
    """Impulses of `h` seconds act at `state`; then bodies move on for `drift` seconds at their new velocities."""

    start: State
    """At the start of the step."""
    state: State
    """Where the impulses act, with the velocities of the start; what flies has the spin that it has come to."""
    start_coordinate: Array
    """Joint coordinates at the start, (n_j,)."""
    coordinate: Array
    """Joint coordinates where the impulses act, (n_j,)."""
    h: float
    drift: float
    """theta h."""
    ways: IntArray
    """How bodies take the gyroscopic term, (n_b,)."""

    @property
    def theta(self) -> float:
        """Weight of the new velocity in the motion of the step."""
        return self.drift / self.h


def midpoint(
    model: Model,
    state: State,
    memory: Memory,
    h: float,
    gyroscopic: str,
    theta: float = 1.0,
    *,
    joined_fly: bool = True,
) -> Midpoint:
    """Return where a step of `h` seconds from `state` acts."""
    before, ways = memory.coordinate, gyroscopic_ways(model, gyroscopic, joined_fly=joined_fly)
    if theta == 1.0:
        return Midpoint(state, state, before, before, h, h, ways)
    ahead, flown = (1.0 - theta) * h, np.zeros((model.body_count, FLIGHT_COLUMNS))
    fly_bodies(ways, model.arrays.inertia, state.q, state.v, ahead, flown)
    there = advance(model, state, state.v, ahead, exact_rotation=True, flown=flown)
    coordinate = before
    if model.joints.any:
        joints, near = model.joints, before.copy()
        near[joints.coordinates.joint] += ahead * joint_rows(
            joints.arrays, joints.coordinates, state.q, before
        ).velocity(state.v)
        coordinate = joint_coordinates(joints, there.q, near)
    return Midpoint(state, there, before, coordinate, h, theta * h, ways)


def free_motion(model: Model, at: Midpoint, *, ahead: Array | None = None) -> FreeMotion:
    """Advance the velocities by the gyroscopic term and the loads.

    `ahead` (n_b, 6) are velocities at the end of the step that take joints into account; the gyroscopic term without
    them would be of the first order for a body whose spin a joint turns.
    """
    M_inv, p_ext = inverse_inertia(model.arrays, at.state.q), load_impulse(model, at.state, at.h)
    v_spun = _spun(model, at, at.ways, ahead)
    return FreeMotion(M_inv, v_spun, v_spun + np.einsum("bij,bj->bi", M_inv, p_ext), p_ext)


def _spun(model: Model, at: Midpoint, ways: IntArray, ahead: Array | None) -> Array:
    """Return the velocities after the gyroscopic term; the implicit one as a step to y_theta, then as far beyond it."""
    arrays, q, v, h, theta = model.arrays, at.state.q, at.state.v, at.h, at.theta
    if theta == 1.0 or not np.any(ways == IMPLICIT):
        return spun_velocity(arrays, ways, q, v, h)
    turn = at.drift * float(np.linalg.norm(v[:, 3:], axis=1).max(initial=0.0))
    legs = max(1, int(np.ceil(turn / TURN_AT_ONCE)))
    if ahead is not None and legs == 1:
        about = theta * ahead + (1.0 - theta) * v
        explicit = np.where(ways == IMPLICIT, EXPLICIT, NONE)
        return np.asarray(v + (spun_velocity(arrays, explicit, q, about, h) - about))
    for _ in range(legs):
        v = v + (spun_velocity(arrays, ways, q, v, at.drift / legs) - v) / theta
    return v
