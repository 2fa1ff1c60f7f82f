"""Motion that explodes: which body, when, and under which load."""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import load_impulse
from signorini.model import Model, State
from signorini.simulation.door import FAR, Suspicion


def is_finite(state: State) -> bool:
    """Tell whether a state holds numbers only."""
    return all(np.isfinite(x).all() for x in (state.q, state.v, state.modal, state.modal_rate))


def lost(model: Model, before: State, after: State, h: float) -> str:
    """Say of which body a step made something that is not a number, how fast it was before, and what loads it."""
    whole = np.isfinite(after.q).all(axis=1) & np.isfinite(after.v).all(axis=1)
    if whole.all():
        return f"further coordinates leave the range of numbers at t = {after.t:.6g} s: look at h and at initial values"
    return _farewell(model, before, h, int(np.argmax(np.where(whole, -1.0, np.abs(before.v).max(axis=1)))))


def diverging(model: Model, state: State, h: float) -> str:
    """Say which body a step cannot be computed for since its velocity or its load is absurd; nothing if none is."""
    speed, load = np.abs(state.v).max(axis=1), _wrenches(model, state, h)
    if not isinstance(load, Exception):
        free = slice(model.fixed_count, None)
        with np.errstate(all="ignore"):
            speed[free] += h * np.abs(load[free, :3]).max(axis=1) / model.arrays.mass[free]
    b = int(np.argmax(speed))  # that which is not a number comes first
    return "" if speed[b] <= FAR else _farewell(model, state, h, b)


def _farewell(model: Model, before: State, h: float, b: int) -> str:
    return (
        f"body {model.names[b]!r} leaves the range of numbers at t = {before.t + h:.6g} s; before, it moved at "
        f"{_speed(before, b)} under {_load(model, before, h, b)}: look at that load, at h and at initial velocities"
    )


def runaway(model: Model, state: State, h: float) -> Suspicion:
    """Tell of the fastest body, so fast that no scene explains it."""
    b = int(np.argmax(np.abs(state.v).max(axis=1)))
    return Suspicion(
        "runaway",
        f"body {model.names[b]!r} moves at {_speed(state, b)} at t = {state.t:.6g} s, beyond {FAR:g}, under "
        f"{_load(model, state, h, b)}: look at that load and at the step",
    )


def _speed(state: State, b: int) -> str:
    return f"{_size(state.v[b, :3]):.3g} m/s and {_size(state.v[b, 3:]):.3g} rad/s"


def _size(x: Array) -> float:
    """Return the length of a vector whose square may be beyond all numbers."""
    return math.hypot(*x)


def _load(model: Model, state: State, h: float, b: int) -> str:
    """Return gravity and the user's forces on a body in words."""
    load = _wrenches(model, state, h)
    if isinstance(load, Exception):
        return f"a load that cannot be computed ({load})"
    return f"a load of {_size(load[b, :3]):.3g} N and {_size(load[b, 3:]):.3g} N m"


def _wrenches(model: Model, state: State, h: float) -> Array | Exception:
    """Return all loads, (n_b, 6) [N, N m], or why not: functions may refuse so strange a state."""
    try:
        with np.errstate(all="ignore"):
            return load_impulse(model, state, h) / h
    except (ArithmeticError, ValueError) as error:
        return error
