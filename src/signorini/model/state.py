"""All that changes: time, configuration and velocity of every body, and coordinates beyond those of bodies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from signorini._arrays import Array

_NONE = np.zeros(0)


def _none() -> Array:
    return _NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Maximal coordinates of every body, fixed bodies included, and further coordinates, at one time.

    Named points of flexible bodies have a row like a body, and their modal coordinates are the first of the further
    ones, as their shapes measure them. Any others are of unit mass: their kinetic energy is half the square of their
    rates. Scenes of rigid bodies have none.
    """

    t: float
    """Time [s]."""
    q: Array
    """Position of the mass centre and unit quaternion (w, x, y, z) body to world, (n_b, 7) [m, -]."""
    v: Array
    """Velocity of the mass centre and angular velocity, both in world axes, (n_b, 6) [m/s, rad/s]."""
    modal: Array = field(default_factory=_none)
    """Further coordinates, such as the modes of flexible bodies, one after another, (n_m,)."""
    modal_rate: Array = field(default_factory=_none)
    """Their rates, (n_m,) [1/s]."""

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of all arrays; states of one scene under one formulation have the same."""
        return self.q.shape, self.v.shape, self.modal.shape, self.modal_rate.shape

    def copy(self) -> State:
        """Return a state that shares no memory with this one."""
        return State(
            t=self.t,
            q=self.q.copy(),
            v=self.v.copy(),
            modal=self.modal.copy(),
            modal_rate=self.modal_rate.copy(),
        )

    def read_only(self) -> State:
        """Return the same state, sharing its memory, as arrays that cannot be written into."""
        q, v, modal, modal_rate = self.q.view(), self.v.view(), self.modal.view(), self.modal_rate.view()
        q.flags.writeable = v.flags.writeable = modal.flags.writeable = modal_rate.flags.writeable = False
        return State(t=self.t, q=q, v=v, modal=modal, modal_rate=modal_rate)
