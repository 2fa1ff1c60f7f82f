r"""Springs of joints in time: the midpoint rule, and the implicit one where they are too stiff for the step.

Velocities by which bodies go from one place to the next belong to the middles of steps. A spring of stiffness k and
damping c with stretch s pushes, between its speeds u before and :math:`u^+` after,

.. math:: p = -h \Bigl(k \bigl(s + q\, \tfrac h4 (u^+ - u) + (1 - q)\, h u^+\bigr) + c\,u^+\Bigr),
    \qquad s^+ = s + h u^+ .

With q = 1 its stretch is the mean of those in the middles of both steps, :math:`(s^- + 2 s + s^+)/4`, which is
Newmark's method of constant average acceleration. The work of the spring is then what it loses of its energy in the
middles of steps,

.. math:: -h k \bigl(s + \tfrac h4 (u^+ - u)\bigr)\, \tfrac12 (u^+ + u) = \tfrac k2 (s - \tfrac h2 u)^2
    - \tfrac k2 (s^+ - \tfrac h2 u^+)^2 ,

whatever else acts: nothing is lost or gained, at any step size, but for the turning of the row. A spring that a step
is too long for would ring, though, as fast as steps follow each other, and turn a stretch into the speed 4 s/h. How
stiff it is beside the step is told by :math:`z = h^2 k w`, w being the mobility of its row as the rigid joints leave
it: an oscillator has :math:`2\pi/\sqrt z` steps a period. Beyond z = 1

.. math:: q = 1/z ,

the rest being that of the implicit Euler method, q = 0. A step multiplies areas in the plane of s and u by
:math:`5/(4z + 1)` then. The energy with that of the spring :math:`q h/2` seconds before the end of the step falls, by

.. math:: \frac{1 - q}{2 w} \bigl((z + \tfrac12) (u^+)^2 - \tfrac32 u^+ u + u^2\bigr) \ge 0 .

So it does not seem to lose anything while z is at most 1, loses what there is if z is large, and gains nothing between.
Springs coupled as they may be are stable with any q between 0 and 1, so with other estimates of w as well:

.. math:: \tfrac12 \bigl|u\bigr|^2_{M + h^2 (1 - q) K/4} + \tfrac12 \bigl|s - \tfrac h2 u\bigr|^2_K

falls by :math:`h^2 |u^+ + u|^2_{(1 - q) K}/4` a step, q being a diagonal matrix here.

References
----------
.. [N] Newmark (1959), A method of computation for structural dynamics.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import inner_kernel, kernel
from signorini.dynamics.constants import STIFF


@inner_kernel
def midpoint_share(z: float) -> float:
    """Return q, the part of the midpoint rule in a spring of stiffness `z` beside the step."""
    return STIFF / max(z, STIFF)


@kernel
def _fill_shares(z: Array, q: Array) -> None:
    for k in range(z.size):
        q[k] = midpoint_share(z[k])


def midpoint_shares(z: Array) -> Array:
    """Return q of springs of stiffnesses `z` beside the step, any shape."""
    q = np.zeros(z.size)
    _fill_shares(np.ascontiguousarray(z, dtype=np.float64).reshape(-1), q)
    return q.reshape(z.shape)
