r"""Free flight: a body that nothing touches keeps its angular momentum and its rotational energy.

In body axes, with inertia I and angular velocities x before and w after h seconds, the mean :math:`y = (x + w)/2` turns
the body,

.. math:: R^{+} = R \exp(h\, y), \qquad I w = \exp(-h\, y)\, I x .

The second equation says :math:`R^{+} I w = R I x`: the angular momentum L is kept in size and direction. A turn about
y leaves components along y alone, so :math:`0 = 2 y \cdot I (w - x) = w \cdot I w - x \cdot I x`: the energy is kept as
well. This is the midpoint rule of Simo and Wong, with the exponential in place of the Cayley map so that steady spins
turn by exactly :math:`h \omega`. It is symmetric in time and of the second order. By half angles it reads

.. math:: I (y - x) + k\, y \times I y = 0, \qquad k = \tan(h |y|/2)/|y|, \qquad \exp(h\, y) \sim (1, k\, y),

three unknowns for Newton's method. A body that turns by more than half a radian flies in several parts. Where a spin is
too fast even for that (500 radians in a step), or Newton's method fails, the body turns about L at the rate
:math:`2 T L/|L|^2`, with w = x, which keeps both as well.

Loads act on the way: flight for :math:`(1 - \theta) h`, then :math:`L := L + h \tau`, then flight for
:math:`\theta h`, so that :math:`L^{+} = L + h \tau` exactly.

References
----------
.. [SW] Simo & Wong (1991), *Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and
   momentum*, Int. J. Numer. Methods Eng. 31.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.dynamics.bodies import CONSERVING, MOST_PARTS, TURN_AT_ONCE, apply3, solve_inertia, spin
from signorini.math.rotation import dot, multiply, rotate, turn_exact, unrotate

# A turn that changes neither orientation nor spin by a rounding: moments of inertia obey the triangle inequality, so a
# spin changes by no more than the angle times itself.
_NO_TURN = 1e-17


@kernel
def fly_bodies(
    ways: IntArray,
    inertia: Array,
    q_start: Array,
    q: Array,
    v: Array,
    p_ext: Array,
    early: float,
    late: float,
    v_spun: Array,
    v_free: Array,
    flight: Array,
) -> None:
    """Let bodies fly for `early` seconds from `q_start`, take the impulses of the loads, and fly for `late` seconds.

    `v_free` gets the spin at the end in the axes of the pose `q` where the step acts, `v_spun` that without the loads,
    `flight` (n_b, 4) the quaternion that turns the body from there to its end; zero for bodies that do not turn.
    """
    for b in range(ways.shape[0]):
        for k in range(4):
            flight[b, k] = 0.0
        if ways[b] != CONSERVING:
            continue
        omega, push = (v[b, 3], v[b, 4], v[b, 5]), (p_ext[b, 3], p_ext[b, 4], p_ext[b, 5])
        loaded = dot(push, push) > 0.0
        if not loaded and (early + late) * np.sqrt(dot(omega, omega)) <= _NO_TURN:
            continue
        I, e = inertia[b], (q_start[b, 3], q_start[b, 4], q_start[b, 5], q_start[b, 6])
        x = unrotate(e, omega)
        e, x = _fly(I, e, x, early)
        if loaded:
            change = solve_inertia(I, unrotate(e, push))
            x = (x[0] + change[0], x[1] + change[1], x[2] + change[2])
        e, x = _fly(I, e, x, late)
        turn = _unit(multiply(e, (q[b, 3], -q[b, 4], -q[b, 5], -q[b, 6])))
        w = rotate((q[b, 3], q[b, 4], q[b, 5], q[b, 6]), x)
        for k in range(4):
            flight[b, k] = turn[k]
        for k in range(3):
            v_spun[b, 3 + k] += w[k] - v_free[b, 3 + k]
            v_free[b, 3 + k] = w[k]


@kernel
def end_flight(q_0: Array, v_free: Array, q: Array, v: Array, flight: Array) -> None:
    """Put bodies that flew where their flight ends; of those that something touched `flight` becomes zero.

    `q_0` are the poses before they were moved, `v_free` the velocities without impulses, both where the step acts.
    """
    for b in range(flight.shape[0]):
        if flight[b, 0] == 0.0 and flight[b, 1] == 0.0 and flight[b, 2] == 0.0 and flight[b, 3] == 0.0:
            continue
        touched = False
        for k in range(6):
            touched = touched or v[b, k] != v_free[b, k]
        if touched:
            for k in range(4):
                flight[b, k] = 0.0
            continue
        turn = (flight[b, 0], flight[b, 1], flight[b, 2], flight[b, 3])
        e = _unit(multiply(turn, (q_0[b, 3], q_0[b, 4], q_0[b, 5], q_0[b, 6])))
        omega = rotate(turn, (v[b, 3], v[b, 4], v[b, 5]))
        for k in range(4):
            q[b, 3 + k] = e[k]
        for k in range(3):
            v[b, 3 + k] = omega[k]


@inner_kernel
def _unit(e: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """Return ``e / |e|`` for e that has length 1 but for rounding.

    Numbers are denser below 1 than above it, so that a quotient by the root is too long by 1e-16 on the average, and
    1e5 steps would add this up. Here the defect is summed from small differences, which have no such bias.
    """
    a, b = (0.25 - e[0] * e[0]) + (0.25 - e[1] * e[1]), (0.25 - e[2] * e[2]) + (0.25 - e[3] * e[3])
    s = 0.5 * (a + b)
    return (e[0] + s * e[0], e[1] + s * e[1], e[2] + s * e[2], e[3] + s * e[3])


@inner_kernel
def _fly(
    I: Array, e: tuple[float, float, float, float], x: tuple[float, float, float], h: float
) -> tuple[tuple[float, float, float, float], tuple[float, float, float]]:
    """Return orientation and spin, in body axes, after a free flight of `h` seconds."""
    turn = h * np.sqrt(dot(x, x))
    if turn <= _NO_TURN:
        return e, x
    L = rotate(e, apply3(I, x))
    parts = np.ceil(turn / TURN_AT_ONCE)
    w, at = x, e
    if parts <= MOST_PARTS:
        found = True
        for _ in range(int(parts)):
            y, k, root = spin(I, w, h / parts, True)
            found = found and root
            c = 1.0 / np.sqrt(1.0 + k * k * dot(y, y))
            at = _unit(multiply(at, (c, c * k * y[0], c * k * y[1], c * k * y[2])))
            w = (2.0 * y[0] - w[0], 2.0 * y[1] - w[1], 2.0 * y[2] - w[2])
            # w = I^-1 R^T L: what rounding left of it
            aim, has = unrotate(at, L), apply3(I, w)
            more = solve_inertia(I, (aim[0] - has[0], aim[1] - has[1], aim[2] - has[2]))
            w = (w[0] + more[0], w[1] + more[1], w[2] + more[2])
        if found:
            return at, w
    rate = dot(x, apply3(I, x)) / dot(L, L)
    return turn_exact(e, (rate * L[0], rate * L[1], rate * L[2]), h), x
