"""Functions of stacked poses and their derivatives along motions.

A pose is position and unit quaternion, 7 numbers, or in the plane position and angle, 3 numbers. A motion of it is the
velocity of its origin and its angular velocity, both in world axes, 6 numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from signorini._arrays import Array
from signorini.math.rotation import turn_exact

PoseFunction = Callable[[Array], Array]

# Fourth-order central difference: its error is the fourth power of the spacing, rounding 1e-16 over it.
SPACING = 1e-3
STENCIL = ((1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0))
_MOTIONS = {3: (0, 1, 5), 7: (0, 1, 2, 3, 4, 5)}


def by_differences(psi: PoseFunction, x: Array, width: int) -> Array:
    """Return the derivatives of psi (k,) along the motions of poses of `width` numbers each, (k, n, 6)."""
    n = x.size // width
    J = np.zeros((psi(x).size, n, 6))
    for i in range(n):
        for l in _MOTIONS[width]:
            for step, weight in STENCIL:
                ahead, behind = (psi(_moved(x, width, i, l, side * step * SPACING)) for side in (1.0, -1.0))
                J[:, i, l] += weight * (ahead - behind) / SPACING
    return J


def by_chain(derivative: Array, x: Array, width: int) -> Array:
    """Return derivatives with respect to poses (k, n width) as derivatives along their motions, (k, n, 6)."""
    n = x.size // width
    given = derivative.reshape(-1, n, width)
    J = np.zeros((given.shape[0], n, 6))
    if width == 3:
        J[:, :, [0, 1, 5]] = given
        return J
    J[:, :, :3] = given[:, :, :3]
    for i in range(n):
        w, a, b, c = x[7 * i + 3 : 7 * i + 7]
        J[:, i, 3:] = given[:, i, 3:] @ (0.5 * np.array([[-a, -b, -c], [w, c, -b], [-c, w, a], [b, -a, w]]))
    return J


def _moved(x: Array, width: int, i: int, l: int, amount: float) -> Array:
    """Return the poses with pose `i` moved along or turned about one world axis."""
    moved = x.copy()
    if l < 3:
        moved[width * i + l] += amount
    elif width == 3:
        moved[3 * i + 2] += amount
    else:
        axis = np.zeros(3)
        axis[l - 3] = 1.0
        e = x[7 * i + 3 : 7 * i + 7]
        moved[7 * i + 3 : 7 * i + 7] = turn_exact(tuple(e), tuple(axis), amount)
    return moved
