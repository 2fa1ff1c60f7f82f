r"""Does a function really vanish near a point, or is the point on the tail of one that only decays?

Neither the residual nor the length of the Newton step tells, because neither unknowns nor functions have a unit of
their own: from :math:`-e^{-ax}` Newton steps are :math:`1/a`, as short as one likes. What differs is what lies beyond.
Past a root, of whatever order, the Newton step points back; on a tail it points on (:func:`turns_back`).

Where the Jacobian is singular, or rounding alone makes a long step, the singular equations are followed along the
singular directions. A continuum of solutions does not change there, a
root changes like a power of the distance; a tail changes nothing for a long way and then fast, on one side
(:func:`decays`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import Array, IntArray

if TYPE_CHECKING:
    from signorini.problems.mcp import MCP

Step = Callable[[Array, Array], "Array | None"]
"""Takes a point and F of the rows there, returns the Newton step of the rows in units ``1 + |x_i|``."""

_BEYOND = 30.0  # steps that one looks ahead: a root of order m is m steps away
_BACK = 0.05  # part of the way back that a Newton step must take: of a root of order m it takes 1/m
_ORDER = 4.0  # a function that grows faster than this power of the distance, on one side only, is a tail
_HIGHEST = 8.0  # order of the flattest root that is told from a tail
_STEPS = (*(0.5**k for k in range(20, 1, -1)), *(1.0 - 0.5**k for k in range(1, 40)))  # of 1 + |x_i|, almost to zero
_CLOSER = 1e-13  # of 1 + |x_i|
_AWAY = 1e8  # times the start: unknowns beyond it that no slope holds ran away
_EPSILON = float(np.finfo(float).eps)


def turns_back(problem: MCP, x: Array, rows: IntArray, d: Array, noise: Array, steps: tuple[Step, Step]) -> bool:
    """Tell whether Newton steps from both sides of `x`, some `d` away, point back to it.

    `steps` are tried in turn: the Jacobian at `x` will do, but for roots of even order. A function that vanishes on one
    side, and grows like a power on the other, has solutions up to `x`.
    """
    unit = 1.0 + np.abs(x[rows])
    passed, sizes = [], []
    for sign in (1.0, -1.0):
        there = x.copy()
        there[rows] += sign * _BEYOND * d * unit
        there = np.clip(there, *problem.bounds)
        moved = (there - x)[rows] / unit
        value = problem.value(there) if np.abs(moved).max() > 0.5 * _BEYOND * np.abs(d).max() else None
        if value is None:  # a bound, or where F ends, is nearer
            continue
        F = value[rows]
        back = (step(there, F) for step in steps)
        least = _BACK * float(moved @ moved)
        passed.append(any(step is not None and float(step @ moved) < -least for step in back))
        sizes.append(float((np.abs(F) / noise).max()))
    grows = len(sizes) == 2 and min(sizes) <= 2.0 and 0.5 * _BEYOND <= max(sizes) <= _BEYOND**_ORDER
    return all(passed) or (any(passed) and grows)


@dataclass(frozen=True, slots=True)
class Singular:
    """The singular part of the Jacobian of some rows, rows divided by `scale`, columns in units ``1 + |x_i|``."""

    rows: IntArray
    scale: Array
    U: Array
    """Left singular vectors that are lost, and right ones."""
    V: Array

    def equations(self, F: Array) -> Array:
        """Return the equations that the Jacobian does not see."""
        return np.asarray(self.U.T @ (F[self.rows] / self.scale))

    def errors(self, error: Array) -> Array:
        """Return how large errors of the rows may be in these equations."""
        return np.asarray(np.abs(self.U.T) @ (error / self.scale))


def decays(problem: MCP, x: Array, F: Array, noise: Array, part: Singular, v: Array) -> bool:
    """Tell whether F is a tail along the singular direction `v`."""
    size = np.abs(v).max()
    if not 0.0 < size < np.inf:
        return True
    moved = part.rows[np.abs(v) >= 0.1 * size]
    if np.abs(x[moved]).max() > _AWAY * (1.0 + np.abs(problem.start).max()):
        return True  # so far out that nothing shows what F does on the way there
    unit = 1.0 + np.abs(x)
    direction = np.zeros(x.size)
    direction[part.rows] = v / size * unit[part.rows]
    rounding = np.maximum(2.0 * part.errors(noise), np.finfo(float).tiny)
    at_x = part.equations(F)

    def change(t: float) -> float:
        """Return by how many roundings F changes."""
        there = problem.value(np.clip(x + t * direction, *problem.bounds))
        if there is None:
            return math.inf
        return float((np.abs(part.equations(there) - at_x) / rounding).max()) / (1.0 + abs(t))

    far = 2.0 * unit.max() / np.abs(direction).max()
    return _fades(change, far) or _fades(lambda t: change(-t), far)


def _fades(change: Callable[[float], float], far: float) -> bool:
    """Tell whether a function, seen from where it does not change, begins to change like a tail.

    From its edge on, or from a root, a power of the distance takes ``(1000^(1/m) - 1)/(10^(1/m) - 1)`` times as far to
    1000 roundings as to 10, an exponential 3 times, a power that goes to infinity less; what stays small never does.
    """
    near, t, steps = 0.0, 0.0, iter(_STEPS)
    while True:
        t = next(steps, 2.0 * t)
        if change(t) > 1.0:
            break
        near = t
        if t > far:
            return False
    while near == 0.0:  # it begins nearer
        if t < _CLOSER:
            return False
        near, t = (0.0, 0.1 * t) if change(0.1 * t) > 1.0 else (0.1 * t, t)
    edge = _bisected(lambda t: change(t) > 1.0, near, t)
    least = change(edge)  # it may come in jumps where great numbers cancel each other
    to_10 = _reach(lambda w: change(edge + w) > 10.0 * least, edge, far)
    to_1000 = _reach(lambda w: change(edge + w) > 1000.0 * least, edge, far)
    if to_10 == 0.0 or to_1000 == 0.0:
        return to_10 > 0.0
    seen = [(r, change(edge + r * to_10) / least) for r in np.geomspace(1.0, _ratio(3), 30)]
    return any(by > (100.0 if r < _ratio(2) else 1000.0) for r, by in seen)


def _ratio(decades: int) -> float:
    """Return how much farther than to 10 it is to so many decades for the highest power that is no tail."""
    root = 10.0 ** (1.0 / _HIGHEST)
    return float((root**decades - 1.0) / (root - 1.0))


def _reach(beyond: Callable[[float], bool], edge: float, far: float) -> float:
    """Return the width, to a few per cent, after which it is `beyond`, 0 if it never is."""
    w = _EPSILON * edge
    while not beyond(w):
        w *= 2.0
        if edge + w > 2.0 * far + 1.0:
            return 0.0
    return _bisected(beyond, 0.5 * w, w, 5)


def _bisected(beyond: Callable[[float], bool], near: float, far: float, count: int = 60) -> float:
    """Return the distance from which on it is `beyond`."""
    for _ in range(count):
        t = math.sqrt(near * far) if far > 4.0 * near else 0.5 * (near + far)
        near, far = (near, t) if beyond(t) else (t, far)
    return far
