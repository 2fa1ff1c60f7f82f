"""Keep few contacts of many: the corners of the support polygon and the deepest point."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.math.rotation import dot, tangent_frame
from signorini.math.rotation import Vector
from signorini.geometry.workspace import MAX_POINTS


@kernel
def reduce_points(point: Array, feature: IntArray, count: int, n: Vector, scale: float) -> int:
    """Keep at most eight of the contacts with common normal `n`, in place; return how many.

    Kept are the extremes of point b along eight directions of the tangent plane, in order of their rows, and the
    deepest point. The directions do not depend on the gaps, and a later point replaces an earlier one only if it is
    further out by more than rounding, so that the choice does not change from step to step.
    """
    if count <= MAX_POINTS:
        return count
    t, o = tangent_frame(n)
    kept = np.zeros(count, dtype=np.bool_)
    deepest = 0
    for c in range(1, count):
        if point[c, 9] < point[deepest, 9] - 1e-12 * scale:
            deepest = c
    shallowest_kept = np.inf
    for k in range(MAX_POINTS):
        angle = 2.0 * np.pi * k / MAX_POINTS
        x, y = np.cos(angle), np.sin(angle)
        best, far = 0, -np.inf
        for c in range(count):
            b = (point[c, 3], point[c, 4], point[c, 5])
            along = x * dot(t, b) + y * dot(o, b)
            if along > far + 1e-9 * scale:
                best, far = c, along
        kept[best] = True
    nearest, distance = -1, np.inf
    for c in range(count):
        if kept[c]:
            shallowest_kept = min(shallowest_kept, point[c, 9])
            d = 0.0
            for k in range(3, 6):
                d += (point[c, k] - point[deepest, k]) ** 2
            if d < distance:
                nearest, distance = c, d
    if point[deepest, 9] < shallowest_kept - 1e-12 * scale:
        kept[nearest] = False
        kept[deepest] = True
    row = 0
    for c in range(count):
        if kept[c]:
            for k in range(10):
                point[row, k] = point[c, k]
            feature[row, 0] = feature[c, 0]
            feature[row, 1] = feature[c, 1]
            row += 1
    return row
