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

The three unknowns y are found by Newton's method. A body that turns by more than half a radian flies in several legs.
Where a spin is too fast even for that (500 radians in a step), or Newton's method fails, the body turns about L at the
rate r, with w = x, which keeps both as well.

Impulses act before the flight, those of loads and of contacts alike: flight for :math:`(1 - \theta) h`, then
:math:`L := L + h \tau + J^T p`, then flight for :math:`\theta h` with what that makes of the spin. So what is touched
turns by the same map as what is not, L changes by the moments of all impulses exactly, and the energy by their work.

References
----------
.. [SW] Simo & Wong (1991), *Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and
   momentum*, Int. J. Numer. Methods Eng. 31.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.dynamics.bodies import CONSERVING, EVEN, apply3, solve_inertia, spin
from signorini.dynamics.constants import EVENLY, FLIGHT_ROUNDING, MOST_LEGS, NO_TURN, SHORT_FLIGHT, TURN_AT_ONCE
from signorini.math.rotation import Vector, dot, multiply, rotate, turn_exact, unit, unrotate

TURNED, SPUN = 0, 4
"""Columns of a flight: the quaternion that turns the body, and its spin at the end."""
FLIGHT_COLUMNS = 7


@kernel
def fly_bodies(ways: IntArray, inertia: Array, q: Array, v: Array, h: float, flown: Array) -> None:
    """Let bodies fly for `h` seconds from the poses `q` at the velocities `v`.

    `flown` (n_b, 7) gets the quaternion that turns the body to its end and its spin there, both in world axes; zero for
    bodies that do not fly or do not turn.
    """
    for b in range(ways.shape[0]):
        for k in range(FLIGHT_COLUMNS):
            flown[b, k] = 0.0
        omega = (v[b, 3], v[b, 4], v[b, 5])
        if (ways[b] != CONSERVING and ways[b] != EVEN) or h * h * dot(omega, omega) <= NO_TURN * NO_TURN:
            continue
        turn, w = _flight(ways[b], inertia[b], (q[b, 3], q[b, 4], q[b, 5], q[b, 6]), omega, h)
        for k in range(4):
            flown[b, TURNED + k] = turn[k]
        for k in range(3):
            flown[b, SPUN + k] = w[k]


@kernel
def fly_back(ways: IntArray, inertia: Array, q: Array, v: Array, began: Array, h: float, flown: Array) -> None:
    """Find the flights of `h` seconds that end at the poses `q` and velocities `v`, as :func:`fly_bodies` gives them.

    The map is symmetric in time, so they are flights of the spins turned round. `began` (n_b, 6) are the velocities
    with which they begin; of those only the sizes count, which tell the number of legs, unless bodies turn evenly.
    """
    for b in range(ways.shape[0]):
        for k in range(FLIGHT_COLUMNS):
            flown[b, k] = 0.0
        omega = (began[b, 3], began[b, 4], began[b, 5])
        turn = h * np.sqrt(dot(omega, omega))
        rests = h * np.sqrt(v[b, 3] ** 2 + v[b, 4] ** 2 + v[b, 5] ** 2) <= NO_TURN  # so no flight has led there
        if (ways[b] != CONSERVING and ways[b] != EVEN) or turn <= NO_TURN or rests:
            continue
        end = unit((q[b, 3], q[b, 4], q[b, 5], q[b, 6]))
        if ways[b] == EVEN:
            start = turn_exact(end, (-omega[0], -omega[1], -omega[2]), h)
        else:
            x = unrotate(end, (-v[b, 3], -v[b, 4], -v[b, 5]))
            start, _ = _fly_in_legs(inertia[b], end, x, h, np.ceil(turn / TURN_AT_ONCE))
        back = unit(multiply(end, (start[0], -start[1], -start[2], -start[3])))
        for k in range(4):
            flown[b, TURNED + k] = back[k]
        for k in range(3):
            flown[b, SPUN + k] = v[b, 3 + k]


@inner_kernel
def flies(flown: Array, b: int) -> bool:
    """Tell whether body `b` turns by its flight."""
    return bool(flown[b, 0] != 0.0 or flown[b, 1] != 0.0 or flown[b, 2] != 0.0 or flown[b, 3] != 0.0)


@kernel
def spin_bodies(flown: Array, v: Array) -> None:
    """Give bodies that have flown the spins that they have at the end."""
    for b in range(flown.shape[0]):
        if flies(flown, b):
            for k in range(3):
                v[b, 3 + k] = flown[b, SPUN + k]


@inner_kernel
def _flight(
    way: int, I: Array, e: tuple[float, float, float, float], omega: tuple[float, float, float], h: float
) -> tuple[tuple[float, float, float, float], tuple[float, float, float]]:
    """Return by which quaternion a body turns in `h` seconds from the orientation `e`, and its spin then."""
    e = unit(e)
    x = unrotate(e, omega)
    if way == EVEN:
        end = turn_exact(e, omega, h)
        x = solve_inertia(I, unrotate(end, rotate(e, apply3(I, x))))
    else:
        end, x = _fly(I, e, x, h)
    return unit(multiply(end, (e[0], -e[1], -e[2], -e[3]))), rotate(end, x)


@inner_kernel
def turned(
    way: int, I: Array, e: tuple[float, float, float, float], omega: tuple[float, float, float], h: float
) -> tuple[float, float, float, float]:
    """Return the orientation to which a body turns in `h` seconds from the orientation `e`."""
    if way in (CONSERVING, EVEN) and h * h * dot(omega, omega) > NO_TURN * NO_TURN:
        turn, _ = _flight(way, I, e, omega, h)
        return unit(multiply(turn, e))
    return turn_exact(e, omega, h)


@inner_kernel
def in_legs(way: int, omega: tuple[float, float, float], h: float) -> bool:
    """Tell whether a body flies in several legs, on a way that no even turn comes close to."""
    return bool(way == CONSERVING and h * h * dot(omega, omega) > TURN_AT_ONCE * TURN_AT_ONCE)


@kernel
def write_legs(I: Array, e: Vector, omega: Vector, h: float, out: Array) -> int:
    """Write the legs of a flight of `h` seconds, each an even turn: where it begins and its spin, (any, 7).

    Return how many there are, all equally long.
    """
    at = unit(e)
    w, count = unrotate(at, omega), np.ceil(h * np.sqrt(dot(omega, omega)) / TURN_AT_ONCE)
    L = apply3(I, w)
    rate = dot(w, L) / np.sqrt(dot(L, L))
    leg = h / count
    k = 0.5 * leg
    k *= _tan_over(k * rate)
    evenly = count > out.shape[0]  # about L, as it flies
    if evenly:
        count, leg = 1.0, h
        L = rotate(at, L)
        rate /= np.sqrt(dot(L, L))
    for i in range(int(count)):
        about = (rate * L[0], rate * L[1], rate * L[2])
        if not evenly:
            y, _ = spin(I, w, k, FLIGHT_ROUNDING)
            size = np.sqrt(dot(y, y))
            even = 2.0 * np.arctan(k * size) / (leg * size)
            about = rotate(at, (even * y[0], even * y[1], even * y[2]))
            w = (2.0 * y[0] - w[0], 2.0 * y[1] - w[1], 2.0 * y[2] - w[2])
        for j in range(4):
            out[i, j] = at[j]
        for j in range(3):
            out[i, 4 + j] = about[j]
        at = turn_exact(at, about, leg)
    return int(count)


@inner_kernel
def turn_rate(
    way: int, I: Array, e: tuple[float, float, float, float], omega: tuple[float, float, float], h: float
) -> float:
    """Return the spin of a body, or that of the fastest leg of its flight of `h` seconds where this is more."""
    rate = np.sqrt(dot(omega, omega))
    legs = np.ceil(h * rate / TURN_AT_ONCE)
    if way != CONSERVING or h * rate <= SHORT_FLIGHT or legs > MOST_LEGS:
        return float(rate)
    Ix, w = apply3(I, unrotate(e, omega)), unrotate(e, omega)
    k = 0.5 * h / legs
    k *= _tan_over(k * dot(w, Ix) / np.sqrt(dot(Ix, Ix)))
    for _ in range(int(legs)):
        y, _ = spin(I, w, k, FLIGHT_ROUNDING)
        rate = max(rate, 2.0 * np.arctan(k * np.sqrt(dot(y, y))) * legs / h)
        w = (2.0 * y[0] - w[0], 2.0 * y[1] - w[1], 2.0 * y[2] - w[2])
    return float(rate)


@kernel
def turn_rates(ways: IntArray, inertia: Array, q: Array, v: Array, h: float, out: Array) -> None:
    """Write :func:`turn_rate` of all bodies, (n_b,) [rad/s]."""
    for b in range(ways.shape[0]):
        e, omega = (q[b, 3], q[b, 4], q[b, 5], q[b, 6]), (v[b, 3], v[b, 4], v[b, 5])
        out[b] = turn_rate(ways[b], inertia[b], e, omega, h)


@inner_kernel
def _mean_spin(turn: tuple[float, float, float, float], h: float) -> Vector:
    """Return the spin that turns a body as far in `h` seconds as this quaternion, by half a turn at most."""
    x = (turn[1], turn[2], turn[3])
    sine = np.sqrt(dot(x, x))
    scale = 2.0 * np.arctan2(sine, abs(turn[0])) / (sine * h) if sine > 0.0 else 0.0
    scale = -scale if turn[0] < 0.0 else scale
    return (scale * x[0], scale * x[1], scale * x[2])


@kernel
def veer_bodies(ways: IntArray, inertia: Array, q: Array, v: Array, h: float, veer: Array) -> None:
    """Write by how much mean spins of flights from `q`, `v` for `h` seconds differ from their first ones, (n_b, 3).

    Zero for bodies that turn evenly, but for rounding, and for flights in legs, which have no mean.
    """
    for b in range(ways.shape[0]):
        omega = (v[b, 3], v[b, 4], v[b, 5])
        for k in range(3):
            veer[b, k] = 0.0
        turn = h * np.sqrt(dot(omega, omega))  # by which, of itself, a spin changes at most
        if ways[b] != CONSERVING or turn <= EVENLY or turn > TURN_AT_ONCE:
            continue
        flown, _ = _flight(ways[b], inertia[b], (q[b, 3], q[b, 4], q[b, 5], q[b, 6]), omega, h)
        mean = _mean_spin(flown, h)
        d = (mean[0] - omega[0], mean[1] - omega[1], mean[2] - omega[2])
        if h * np.sqrt(dot(d, d)) > EVENLY * turn:
            for k in range(3):
                veer[b, k] = d[k]


@kernel
def turn_evenly(ways: IntArray, inertia: Array, q: Array, flown: Array, h: float, path: Array) -> None:
    """Replace the spins of `path` (n_b, 6), of bodies that fly, by those that turn them as far in `h` seconds.

    Of flights in legs by one that is as fast as the fastest leg.
    """
    for b in range(flown.shape[0]):
        if ways[b] == EVEN or not flies(flown, b):
            continue
        omega = (path[b, 3], path[b, 4], path[b, 5])
        mean = _mean_spin((flown[b, 0], flown[b, 1], flown[b, 2], flown[b, 3]), h)
        if in_legs(ways[b], omega, h):
            e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
            scale = turn_rate(ways[b], inertia[b], e, omega, h) / np.sqrt(dot(omega, omega))
            mean = (scale * omega[0], scale * omega[1], scale * omega[2])
        for k in range(3):
            path[b, 3 + k] = mean[k]


@inner_kernel
def _fly(
    I: Array, e: tuple[float, float, float, float], x: tuple[float, float, float], h: float
) -> tuple[tuple[float, float, float, float], tuple[float, float, float]]:
    """Return orientation, of length 1 but for rounding, and spin, in body axes, after a free flight of `h` seconds."""
    turn = h * np.sqrt(dot(x, x))
    if turn <= NO_TURN:
        return e, x
    return _fly_in_legs(I, e, x, h, np.ceil(turn / TURN_AT_ONCE))


@inner_kernel
def _fly_in_legs(
    I: Array, e: tuple[float, float, float, float], x: tuple[float, float, float], h: float, legs: float
) -> tuple[tuple[float, float, float, float], tuple[float, float, float]]:
    """Do what :func:`_fly` does in a number of `legs`."""
    w, at, found = x, e, legs <= MOST_LEGS
    Ix = apply3(I, x)
    rate = dot(x, Ix) / np.sqrt(dot(Ix, Ix))  # 2 T/|L|
    k = 0.5 * h / legs
    k *= _tan_over(k * rate)
    for _ in range(int(legs) if found else 0):
        y, root = spin(I, w, k, FLIGHT_ROUNDING)
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
