r"""What all integrators share.

.. math::
    \dot u = a(t, q, u), \qquad \dot q = u \text{ as seen at } q

The speeds u form a vector. The configuration q need not: quaternions among its numbers are turned, not added to. All
that an integrator may do with q is to move it, ``move(q, d)``: go on for one second at the constant speeds d. Sums of
configurations are never formed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from signorini._arrays import Array

Accelerated = Callable[[float, Array, Array], Array]
"""``a(t, q, u)``: the rates of the speeds, (n_u,)."""

Moved = Callable[[Array, Array], Array]
"""``move(q, d)``: where q (n_q,) is after a second at the constant speeds d (n_u,); neither is written into."""


class Integrator(Protocol):
    """A scheme that advances configuration and speeds by one step of fixed length."""

    def advance(
        self, accelerated: Accelerated, moved: Moved, t: float, q: Array, u: Array, h: float
    ) -> tuple[Array, Array]:
        """Return configuration (n_q,) and speeds (n_u,) `h` seconds after time `t` [s]."""
        ...
