"""Symplectic Euler: new speeds first, then the configuration at them."""

from __future__ import annotations

from dataclasses import dataclass

from signorini._arrays import Array
from signorini.integrators.base import Accelerated, Moved


@dataclass(frozen=True, slots=True)
class SemiImplicitEuler:
    """``u+ = u + h a(t, q, u)``, then q moves at u+; order 1.

    Undamped vibrations of angular frequency w stay bounded for ``h w < 2``. Moved at the old speeds, as by the explicit
    method of Euler, they would grow at any step.
    """

    def advance(
        self, accelerated: Accelerated, moved: Moved, t: float, q: Array, u: Array, h: float
    ) -> tuple[Array, Array]:
        """Return configuration (n_q,) and speeds (n_u,) `h` seconds after time `t` [s]."""
        u = u + h * accelerated(t, q, u)
        return moved(q, h * u), u
