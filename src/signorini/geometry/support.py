"""Support points of the curved shapes in their own frames, and the boxes that contain them in the world."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.tables import BODY, BOUND, KIND, LOWER, SIZE, UPPER
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
        u, v, w = ((abs(x) / largest) ** power, (abs(y) / largest) ** power, (abs(z) / largest) ** power)
        f = ((abs(x) * u + abs(y) * v + abs(z) * w) / largest) ** (-1.0 / size[3])
        return (np.copysign(f * u * size[0], x), np.copysign(f * v * size[1], y), np.copysign(f * w * size[2], z))
    across = np.sqrt(n[0] * n[0] + n[1] * n[1])
    f = size[0] / across if across > TINY else 0.0
    if kind == CYLINDER:
        return (f * n[0], f * n[1], size[1] if n[2] >= 0.0 else -size[1])
    if size[1] * n[2] > size[0] * across:
        return (0.0, 0.0, 0.75 * size[1])
    return (f * n[0], f * n[1], -0.25 * size[1])


@inner_kernel
def curved_boxes(shape: Array, label: IntArray, reach: Array, world: Array) -> None:
    """Write the world boxes, grown by reach, of the curved shapes to their rows of `world`."""
    for i in range(label.shape[0]):
        kind = label[i, KIND]
        if kind < CYLINDER or kind > SUPERELLIPSOID:
            continue
        R = matrix((world[i, 3], world[i, 4], world[i, 5], world[i, 6]))
        s = (shape[i, SIZE], shape[i, SIZE + 1], shape[i, SIZE + 2], shape[i, SIZE + 3])
        for k in range(3):
            n = (R[3 * k], R[3 * k + 1], R[3 * k + 2])
            low = curved_support(kind, s, (-n[0], -n[1], -n[2]))
            high = curved_support(kind, s, n)
            # The last term covers rounding, so that bodies in exact touch are found with no reach at all.
            grow = reach[label[i, BODY]] + 1e-14 * (abs(world[i, k]) + shape[i, BOUND])
            world[i, LOWER + k] = world[i, k] + n[0] * low[0] + n[1] * low[1] + n[2] * low[2] - grow
            world[i, UPPER + k] = world[i, k] + n[0] * high[0] + n[1] * high[1] + n[2] * high[2] + grow
