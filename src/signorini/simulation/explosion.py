"""Motion that explodes: which body, when, and under which load."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import load_impulse
from signorini.errors import InputError
from signorini.model import Model, State
from signorini.simulation.door import FAR, Suspicion


def is_finite(state: State) -> bool:
    """Tell whether a state holds numbers only."""
    return bool(np.isfinite(state.q).all() and np.isfinite(state.v).all())


def lost(model: Model, before: State, after: State, h: float) -> str:
    """Say of which body a step made something that is not a number, how fast it was before, and what loads it."""
    whole = np.isfinite(after.q).all(axis=1) & np.isfinite(after.v).all(axis=1)
    speed = np.abs(before.v).max(axis=1)
    b = int(np.argmax(np.where(whole, -1.0, speed)))
    return (
        f"body {model.names[b]!r} has left the range of numbers at t = {before.t + h:.6g} s; before, it moved at "
        f"{_speed(before, b)} under {_load(model, before, h, b)}: look at that load, at h and at initial velocities"
    )


def runaway(model: Model, state: State, h: float) -> Iterator[Suspicion]:
    """Tell of a body that has become so fast that no scene explains it."""
    speed = np.abs(state.v).max(axis=1, initial=0.0)
    b = int(np.argmax(speed))
    if speed[b] > FAR:
        yield Suspicion(
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
    """Return gravity and the user's forces on a body in words; functions may refuse so strange a state."""
    try:
        with np.errstate(all="ignore"):
            wrench = load_impulse(model, state, h)[b] / h
    except (InputError, ArithmeticError, ValueError) as error:
        return f"a load that cannot be told ({error})"
    return f"a load of {_size(wrench[:3]):.3g} N and {_size(wrench[3:]):.3g} N m"
