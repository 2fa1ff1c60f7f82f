r"""Free flight: a body that nothing touches keeps its angular momentum and its rotational energy.

In body axes, with inertia I and angular velocities x before and w after h seconds, the mean y = (x + w)/2 is the axis
about which the body turns,

.. math:: I (y - x) + k\, y \times I y = 0, \qquad w = 2 y - x, \qquad R^{+} = R\, Q, \qquad Q \sim (1, k\, y),

with a quaternion Q. The first equation says :math:`I w = Q^T I x`, that is :math:`R^{+} I w = R I x`: the angular
momentum L is kept in size and direction. A turn about y leaves components along y alone, so
:math:`0 = 2 y \cdot I (w - x) = w \cdot I w - x \cdot I x`: the energy T is kept as well. Both hold for every k. With
k = h/2 this is the midpoint rule of Simo and Wong, by the Cayley map. Here

.. math:: k = \tan(h r/2)/r, \qquad r = 2 T/|L|,

so that steady spins, for which :math:`r = |\omega|`, turn by exactly :math:`h \omega`. As r is kept, the map is
symmetric in time, and of the second order.

The three unknowns y are found by Newton's method. A body that turns by more than half a radian flies in several parts.
Where a spin is too fast even for that (500 radians in a step), or Newton's method fails, the body turns about L at the
rate r, with w = x, which keeps both as well.

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
from signorini.math.rotation import dot, multiply, rotate, turn_exact, unit, unrotate

# A turn that changes neither orientation nor spin by a rounding: moments of inertia obey the triangle inequality, so a
# spin changes by no more than the angle times itself.
_NO_TURN = 1e-17
_ROUNDING = 1e-16
_CIRCLE = 2.0 * np.pi
_TOUCHED = 1e-3  # of the deviation of a flight from an even turn: a change of spin by impulses that ends it


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
        if not loaded and (early + late) ** 2 * dot(omega, omega) <= _NO_TURN * _NO_TURN:
            continue
        I, acts = inertia[b], (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        e = (q_start[b, 3], q_start[b, 4], q_start[b, 5], q_start[b, 6])
        x = unrotate(e, omega)
        if early > 0.0:
            acts = unit(acts)
            e, x = _fly(I, e, x, early)
        if loaded:
            change = solve_inertia(I, unrotate(e, push))
            x = (x[0] + change[0], x[1] + change[1], x[2] + change[2])
        e, x = _fly(I, e, x, late)
        turn, w = unit(multiply(e, (acts[0], -acts[1], -acts[2], -acts[3]))), rotate(acts, x)
        for k in range(4):
            flight[b, k] = turn[k]
        for k in range(3):
            v_spun[b, 3 + k] += w[k] - v_free[b, 3 + k]
            v_free[b, 3 + k] = w[k]


@inner_kernel
def _turned_by(flight: Array, b: int, h: float, about: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return the spin that turns body `b` as far in `h` seconds as its flight; of all these the nearest to `about`."""
    x = (flight[b, 1], flight[b, 2], flight[b, 3])
    sine = np.sqrt(dot(x, x))
    if sine == 0.0:
        return x
    angle = 2.0 * np.arctan2(sine, flight[b, 0])
    angle += _CIRCLE * np.rint((h * dot(x, about) / sine - angle) / _CIRCLE)
    rate = angle / (sine * h)
    return (rate * x[0], rate * x[1], rate * x[2])


@kernel
def stop_flights(v_free: Array, v: Array, flight: Array, h: float, flown: Array) -> None:
    r"""Write the turns `flown` (n_b, 4) of bodies at their new velocities `v`; zero: they turn about these.

    Where no impulse changed a spin it is that of the flight of `h` seconds. Where one did, by :math:`\delta`, the body
    turns by :math:`h \omega^{+} + s\, d`, d being by how much the flight differs from a turn about :math:`\omega` at
    its end, and s falls from 1 to 0 while :math:`h |\delta|` grows to a thousandth of :math:`|d|`: what just touches
    must not move otherwise than what just does not.
    """
    for b in range(flight.shape[0]):
        for k in range(4):
            flown[b, k] = 0.0
        omega, ending = (v[b, 3], v[b, 4], v[b, 5]), (v_free[b, 3], v_free[b, 4], v_free[b, 5])
        delta = (omega[0] - ending[0], omega[1] - ending[1], omega[2] - ending[2])
        change = h * np.sqrt(dot(delta, delta))
        if flight[b, 0] == 0.0 and flight[b, 1] == 0.0 and flight[b, 2] == 0.0 and flight[b, 3] == 0.0:
            continue
        if change == 0.0:
            for k in range(4):
                flown[b, k] = flight[b, k]
            continue
        mean = _turned_by(flight, b, h, ending)
        d = (mean[0] - ending[0], mean[1] - ending[1], mean[2] - ending[2])
        far = _TOUCHED * h * np.sqrt(dot(d, d))
        if change < far:
            s = 1.0 - change / far
            spin_on = (omega[0] + s * d[0], omega[1] + s * d[1], omega[2] + s * d[2])
            turn = turn_exact((1.0, 0.0, 0.0, 0.0), spin_on, h)
            for k in range(4):
                flown[b, k] = turn[k]


@kernel
def turn_evenly(flown: Array, h: float, path: Array) -> None:
    """Replace the spins of `path` (n_b, 6), of bodies that fly, by those that turn them as far in `h` seconds."""
    for b in range(flown.shape[0]):
        omega = (path[b, 3], path[b, 4], path[b, 5])
        if flown[b, 1] == 0.0 and flown[b, 2] == 0.0 and flown[b, 3] == 0.0:
            continue
        mean = _turned_by(flown, b, h, omega)
        for k in range(3):
            path[b, 3 + k] = mean[k]


@inner_kernel
def _fly(
    I: Array, e: tuple[float, float, float, float], x: tuple[float, float, float], h: float
) -> tuple[tuple[float, float, float, float], tuple[float, float, float]]:
    """Return orientation, of length 1 but for rounding, and spin, in body axes, after a free flight of `h` seconds."""
    turn = h * np.sqrt(dot(x, x))
    if turn <= _NO_TURN:
        return e, x
    parts = np.ceil(turn / TURN_AT_ONCE)
    w, at, found = x, e, parts <= MOST_PARTS
    Ix = apply3(I, x)
    rate = dot(x, Ix) / np.sqrt(dot(Ix, Ix))  # 2 T/|L|
    k = 0.5 * h / parts
    k *= _tan_over(k * rate)
    for _ in range(int(parts) if found else 0):
        y, root = spin(I, w, k, _ROUNDING)
        found = found and root
        c = 1.0 / np.sqrt(1.0 + k * k * dot(y, y))
        at = multiply(at, (c, c * k * y[0], c * k * y[1], c * k * y[2]))
        w = (2.0 * y[0] - w[0], 2.0 * y[1] - w[1], 2.0 * y[2] - w[2])
    if found:
        return at, w
    L = rotate(e, Ix)
    rate /= np.sqrt(dot(L, L))
    return turn_exact(e, (rate * L[0], rate * L[1], rate * L[2]), h), x


@inner_kernel
def _tan_over(a: float) -> float:
    """Return ``tan(a)/a`` for ``|a| <= 1/4`` to rounding: the sixth convergent of the continued fraction of tan."""
    s = a * a
    return (10395.0 - s * (1260.0 - 21.0 * s)) / (10395.0 - s * (4725.0 - s * (210.0 - s)))
