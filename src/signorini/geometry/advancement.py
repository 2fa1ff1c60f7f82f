"""Swept test by conservative advancement: when bodies that keep their velocities first touch.

Time stepping sees a collision in the step in which it happens as long as the candidates include the pair, and the reach
of :func:`signorini.geometry.detect` grows with the velocity for that reason. Where the gap of a candidate is linearised
at the start of the step a body that turns far, or passes another one sideways, may jump over it. This test takes the
true motion of all bodies: in the time in which no point of either body can cover the gap nothing can touch, so that
time is skipped, again and again. :mod:`signorini.geometry.meetings` does so for one pair in compiled steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.geometry.detect import detect
from signorini.math.rotation import turn_exact
from signorini.model.contacts import Contacts
from signorini.model.model import Model
from signorini.model.state import State


class Impact(NamedTuple):
    """The first touch of bodies in free flight."""

    time: float
    """After the start [s]; inf if nothing touches."""
    contacts: Contacts
    """The contacts that touch then, at that configuration; empty if nothing touches."""
    state: State
    """The configuration then, or at the end."""


def time_of_impact(
    model: Model, state: State, duration: float, *, tolerance: float = 1e-6, max_advances: int = 10_000
) -> Impact:
    """Return when bodies that keep their velocities from `state` on first come within `tolerance` of touch.

    Parameters
    ----------
    model, state
        Bodies, with their velocities ``state.v``.
    duration : float
        How long to look ahead [s].
    tolerance : float
        Gap that counts as touch, in units of the smallest moving body's size.
    max_advances : int
        Contacts that are grazed take many; after so many the time reached is returned as an impact, which is on the
        safe side.

    Notes
    -----
    Pairs that touch or overlap already are impacts at time 0 if they approach, and are ignored if they part.
    """
    bound, fixed = model.arrays.bound, model.fixed_count
    near = tolerance * float(bound[fixed:].min())
    speed = np.linalg.norm(state.v[:, :3], axis=1) + bound * np.linalg.norm(state.v[:, 3:], axis=1)
    t = 0.0
    for _ in range(max_advances):
        here = moved(state, t)
        contacts = detect(model, here, speed * (duration - t) + near)
        closing = _approach(here, contacts)
        touching = (contacts.gap <= near) & (closing > 0.0)
        if touching.any():
            return Impact(t, Contacts._make(column[touching] for column in contacts), here)
        apart = contacts.gap > near
        if not apart.any():
            break
        fastest = speed[contacts.body_a[apart]] + speed[contacts.body_b[apart]]
        with np.errstate(divide="ignore"):
            t += max(float(((contacts.gap[apart] - 0.5 * near) / fastest).min()), 1e-12 * duration)
        if t >= duration:
            break
    else:
        return Impact(t, contacts, here)
    return Impact(np.inf, Contacts.none(), moved(state, duration))


def moved(state: State, t: float) -> State:
    """Return the state after `t` seconds of flight at constant velocity and spin."""
    q = state.q.copy()
    q[:, :3] += t * state.v[:, :3]
    for b in np.flatnonzero(state.v[:, 3:].any(axis=1)):
        q[b, 3:] = turn_exact(q[b, 3:].copy(), state.v[b, 3:].copy(), t)
    return replace(state, t=state.t + t, q=q, v=state.v.copy())


def _approach(state: State, contacts: Contacts) -> Array:
    """Return the speeds at which the gaps close, (n_c,) [m/s]."""
    a, b = contacts.body_a, contacts.body_b
    u_a = state.v[a, :3] + np.cross(state.v[a, 3:], contacts.point_a - state.q[a, :3])
    u_b = state.v[b, :3] + np.cross(state.v[b, 3:], contacts.point_b - state.q[b, :3])
    return np.asarray(np.einsum("ci,ci->c", contacts.normal, u_a - u_b))
