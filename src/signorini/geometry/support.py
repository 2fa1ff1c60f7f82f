"""Support points of the curved shapes in their own frames, and the boxes that contain them in the world."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.geometry.vectors import Vector
from signorini.math.rotation import matrix
from signorini.model.shapes import ShapeKind

CYLINDER = int(ShapeKind.CYLINDER)
CONE = int(ShapeKind.CONE)
ELLIPSOID = int(ShapeKind.ELLIPSOID)
SUPERELLIPSOID = int(ShapeKind.SUPERELLIPSOID)
TINY = 1e-150
"""Squares of lengths below this underflow: they have no direction."""

Size = tuple[float, float, float, float]


@inner_kernel
def curved_support(kind: int, size: Size, n: Vector) -> Vector:
    """Return the point of a curved shape farthest along the unit vector `n`; the middle of a face across it."""
    if kind >= ELLIPSOID:
        x, y, z = size[0] * n[0], size[1] * n[1], size[2] * n[2]
        if kind == ELLIPSOID:
            f = 1.0 / np.sqrt(x * x + y * y + z * z)
            return (f * size[0] * x, f * size[1] * y, f * size[2] * z)
        # The dual exponent is q = p/(p - 1): x_i = a_i s_i (|m_i| / |m|_q)^(q - 1) with m_i = a_i n_i of sign s_i.
        largest = max(abs(x), abs(y), abs(z))
        power = 1.0 / (size[3] - 1.0)
        u, v, w = (abs(x) / largest) ** power, (abs(y) / largest) ** power, (abs(z) / largest) ** power
        f = ((abs(x) * u + abs(y) * v + abs(z) * w) / largest) ** (-1.0 / size[3])
        return (np.copysign(f * u * size[0], x), np.copysign(f * v * size[1], y), np.copysign(f * w * size[2], z))
    across = np.sqrt(n[0] * n[0] + n[1] * n[1])
    f = size[0] / across if across > TINY else 0.0
    if kind == CYLINDER:
        return (f * n[0], f * n[1], size[1] if n[2] >= 0.0 else -size[1])
    if size[1] * n[2] > size[0] * across:
        return (0.0, 0.0, 0.75 * size[1])
    return (f * n[0], f * n[1], -0.25 * size[1])


@kernel
def curved_boxes(
    kind: IntArray, body: IntArray, size: Array, bound: Array, reach: Array, frame: Array, box: Array
) -> None:
    """Write the world boxes, grown by reach, of the curved shapes to their rows of `box`, (n, 6)."""
    for i in range(kind.size):
        if kind[i] < CYLINDER or kind[i] > SUPERELLIPSOID:
            continue
        R = matrix((frame[i, 3], frame[i, 4], frame[i, 5], frame[i, 6]))
        s = (size[i, 0], size[i, 1], size[i, 2], size[i, 3])
        for k in range(3):
            n = (R[3 * k], R[3 * k + 1], R[3 * k + 2])
            low = curved_support(kind[i], s, (-n[0], -n[1], -n[2]))
            high = curved_support(kind[i], s, n)
            # The last term covers rounding, so that bodies in exact touch are found with no reach at all.
            grow = reach[body[i]] + 1e-14 * (abs(frame[i, k]) + bound[i])
            box[i, k] = frame[i, k] + n[0] * low[0] + n[1] * low[1] + n[2] * low[2] - grow
            box[i, 3 + k] = frame[i, k] + n[0] * high[0] + n[1] * high[1] + n[2] * high[2] + grow
