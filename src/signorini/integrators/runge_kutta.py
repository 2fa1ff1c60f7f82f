r"""The classical method of Runge and Kutta where configurations cannot be added.

With displacements :math:`k_i = h u_i` of the stages, every configuration is reached by moves in turn,

.. math::
    q_2 = q \oplus \tfrac12 k_1, \quad q_3 = q \oplus \tfrac12 k_2, \quad
    q_4 = q_2 \oplus (k_3 - \tfrac12 k_1), \quad
    q^{+} = q \oplus \tfrac1{12}(3 k_1 + 2 k_2 + 2 k_3 - k_4) \oplus \tfrac1{12}(-k_1 + 2 k_2 + 2 k_3 + 3 k_4).

Where moves commute this is the classical method, digit for digit up to rounding; where they do not, as turns in space,
the order remains four.

References
----------
.. [CMO] Celledoni, Marthinsen & Owren (2003), *Commutator-free Lie group methods*, Future Generation
   Computer Systems 19.
"""

from __future__ import annotations

from dataclasses import dataclass

from signorini._arrays import Array
from signorini.integrators.base import Accelerated, Moved


@dataclass(frozen=True, slots=True)
class RK4:
    """Four stages, order 4, explicit; vibrations of angular frequency w need ``h w < 2.8``."""

    def advance(
        self, accelerated: Accelerated, moved: Moved, t: float, q: Array, u: Array, h: float
    ) -> tuple[Array, Array]:
        """Return configuration (n_q,) and speeds (n_u,) `h` seconds after time `t` [s]."""
        k_1, a_1 = h * u, h * accelerated(t, q, u)
        q_2, u_2 = moved(q, 0.5 * k_1), u + 0.5 * a_1
        k_2, a_2 = h * u_2, h * accelerated(t + 0.5 * h, q_2, u_2)
        q_3, u_3 = moved(q, 0.5 * k_2), u + 0.5 * a_2
        k_3, a_3 = h * u_3, h * accelerated(t + 0.5 * h, q_3, u_3)
        q_4, u_4 = moved(q_2, k_3 - 0.5 * k_1), u + a_3
        k_4, a_4 = h * u_4, h * accelerated(t + h, q_4, u_4)
        middle = moved(q, (3.0 * k_1 + 2.0 * k_2 + 2.0 * k_3 - k_4) / 12.0)
        end = moved(middle, (-k_1 + 2.0 * k_2 + 2.0 * k_3 + 3.0 * k_4) / 12.0)
        return end, u + (a_1 + 2.0 * a_2 + 2.0 * a_3 + a_4) / 6.0
