"""Euler angles over time, for figures."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.math.rotation import matrix

_ORDERS = ("xyz", "yzx", "zxy", "xzy", "yxz", "zyx")


def euler_angles(e: Array, order: str = "xyz", near: Array | None = None) -> Array:
    """Return the Euler angles of quaternions (n, 4) about the body's own axes in this order, unwrapped, (n, 3) [rad].

    ``"xyz"`` means ``R = R_x(a_0) R_y(a_1) R_z(a_2)``. Where the second angle is a right one the others are not unique.
    Of the two triples that mean the same turn the first is the nearer to `near`, else that with a small second angle.
    """
    if order not in _ORDERS:
        raise InputError(f"angles: order is {order!r}, must be one of {', '.join(_ORDERS)}")
    i, j, k = ("xyz".index(axis) for axis in order)
    sign = 1.0 if (i, j, k) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
    R = np.array([matrix(tuple(one)) for one in e]).reshape(-1, 3, 3)
    first = np.arctan2(-sign * R[:, j, k], R[:, k, k])
    second = np.arctan2(sign * R[:, i, k], np.hypot(R[:, i, i], R[:, i, j]))
    last = np.arctan2(-sign * R[:, i, j], R[:, i, i])
    out = np.stack([first, second, last], axis=1)
    for step, (a, b, c) in enumerate(out):
        before = near if step == 0 else out[step - 1]
        if before is not None:
            triples = np.array([[a, b, c], [a + np.pi, np.pi - b, c + np.pi]])
            triples += 2.0 * np.pi * np.round((before - triples) / (2.0 * np.pi))
            out[step] = triples[np.argmin(np.abs(triples - before).max(axis=1))]
    return out
