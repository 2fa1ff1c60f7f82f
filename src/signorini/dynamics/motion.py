"""How configurations follow velocities, and how fixed bodies follow their prescribed motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from signorini._arrays import Array
from signorini._jit import kernel
from signorini.dynamics.flight import FLIGHT_COLUMNS, flies, spin_bodies
from signorini.math.rotation import multiply, turn_euler, turn_exact, unit
from signorini.model import KnownMotion, Model, State

# Sixth-order central difference; at this spacing its error is below 1e-9 of the speed up to 100 Hz.
_SPACING = 1e-4
_STENCIL = ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0))
# The same for second derivatives, ten times wider: rounding is divided by the square of the spacing.
_WIDE_SPACING = 1e-3
_SECOND_STENCIL = ((1, 1.5), (2, -0.15), (3, 1.0 / 90.0))


def advance(
    model: Model, state: State, v: Array, h: float, *, exact_rotation: bool, flown: Array | None = None
) -> State:
    """Return the state after `h` seconds at the velocities `v`; fixed bodies stand where their motion says.

    Positions follow ``x + h v``, orientations ``exp(h omega) e`` or, as in S1 eq. (26), ``e + h G omega`` renormalised;
    in the plane the angle grows by ``h omega`` either way. `flown` as in :func:`move_bodies`.
    """
    t = state.t + h
    q, v = state.q.copy(), v.copy()
    flown = np.zeros((q.shape[0], FLIGHT_COLUMNS)) if flown is None else flown
    move_bodies(q, v, h, exact_rotation or model.planar, flown, model.fixed_count)
    spin_bodies(flown, v)
    walls = slice(model.fixed_count)
    q[walls], v[walls] = prescribed_pose(model, t)
    return replace(state, t=t, q=q, v=v)


def prescribed_pose(model: Model, t: float) -> tuple[Array, Array]:
    """Return pose and velocity of the fixed bodies at time `t`, (fixed_count, 7) and (fixed_count, 6)."""
    q = model.initial_state.q[: model.fixed_count].copy()
    v = np.zeros((model.fixed_count, 6))
    for b, motion in enumerate(model.motions):
        if motion is not None:
            q[b] = motion(t)
            v[b] = _derivative(model, b, t)
    return q, v


def drive_velocity(model: Model, state: State, h: float, *, secant: bool) -> Array:
    """Return the velocities of the fixed bodies that a step sees, (n_b, 6); zero for moving bodies.

    With ``secant`` the velocity that carries each body exactly to its next prescribed pose; otherwise the derivative at
    the start of the step, as in S1 eq. (32).
    """
    v = np.zeros_like(state.v)
    for b, motion in enumerate(model.motions):
        if motion is not None:
            v[b] = _velocity_between(motion(state.t), motion(state.t + h), h) if secant else state.v[b]
    return v


def motion_rate(motion: Callable[[float], float], t: float, h: float, *, secant: bool) -> float:
    """Return the rate of a prescribed joint coordinate: its mean over a step, or the derivative at its start."""
    if secant:
        return (motion(t + h) - motion(t)) / h
    if isinstance(motion, KnownMotion):
        return motion.rate(t)
    return sum(weight * (motion(t + k * _SPACING) - motion(t - k * _SPACING)) / _SPACING for k, weight in _STENCIL)


def motion_acceleration(motion: Callable[[float], float], t: float) -> float:
    """Return the second derivative of a prescribed joint coordinate."""
    if isinstance(motion, KnownMotion):
        return motion.acceleration(t)
    d, middle = _WIDE_SPACING, motion(t)
    return sum(weight * (motion(t + k * d) - 2.0 * middle + motion(t - k * d)) for k, weight in _SECOND_STENCIL) / d**2


def _derivative(model: Model, b: int, t: float) -> Array:
    """Differentiate the prescribed motion of body `b` at `t`, (6,)."""
    motion = model.motions[b]
    assert motion is not None
    v = np.zeros(6)
    for k, weight in _STENCIL:
        v += (
            2.0 * k * weight * _velocity_between(motion(t - k * _SPACING), motion(t + k * _SPACING), 2.0 * k * _SPACING)
        )
    return v


def _velocity_between(q_0: Array, q_1: Array, h: float) -> Array:
    """Return the constant velocity that carries pose `q_0` to `q_1` in `h` seconds, (6,)."""
    turn = np.array(multiply(tuple(q_1[3:]), (q_0[3], -q_0[4], -q_0[5], -q_0[6])))
    if turn[0] < 0.0:
        turn = -turn  # the shorter way round
    sine = float(np.linalg.norm(turn[1:]))
    angle_over_sine = 2.0 if sine < 1e-9 else 2.0 * np.arctan2(sine, turn[0]) / sine
    return np.concatenate([q_1[:3] - q_0[:3], angle_over_sine * turn[1:]]) / h


@kernel
def move_bodies(q: Array, v: Array, h: float, exact_rotation: bool, flown: Array, fixed_count: int) -> None:
    """Move all bodies but the fixed ones for `h` seconds at the velocities `v`.

    Bodies for which `flown` (n_b, 7), see :mod:`signorini.dynamics.flight`, is not zero are turned by it.
    """
    for b in range(fixed_count, q.shape[0]):
        for k in range(3):
            q[b, k] += h * v[b, k]
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        omega = (v[b, 3], v[b, 4], v[b, 5])
        if flies(flown, b):
            e = unit(multiply((flown[b, 0], flown[b, 1], flown[b, 2], flown[b, 3]), e))
        else:
            e = turn_exact(e, omega, h) if exact_rotation else turn_euler(e, omega, h)
        for k in range(4):
            q[b, 3 + k] = e[k]
