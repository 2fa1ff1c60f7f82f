"""All that changes: time, configuration and velocity of every body."""

from __future__ import annotations

from typing import NamedTuple

from signorini._arrays import Array


class State(NamedTuple):
    """Maximal coordinates of every body, fixed bodies included, at one time."""

    t: float
    """Time [s]."""
    q: Array
    """Position of the mass centre and unit quaternion (w, x, y, z) body to world, (n_b, 7) [m, -]."""
    v: Array
    """Velocity of the mass centre and angular velocity, both in world axes, (n_b, 6) [m/s, rad/s]."""

    def copy(self) -> State:
        """Return a state that shares no memory with this one."""
        return State(self.t, self.q.copy(), self.v.copy())

    def read_only(self) -> State:
        """Return the same state, sharing its memory, as arrays that cannot be written into."""
        q, v = self.q.view(), self.v.view()
        q.flags.writeable = v.flags.writeable = False
        return State(self.t, q, v)
