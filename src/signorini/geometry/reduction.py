"""Keep few contacts of many: the corners of the support polygon and the deepest point."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.vectors import along
from signorini.math.rotation import dot, tangent_frame

_DIRECTIONS = 8
MAX_POINTS = _DIRECTIONS + 1
"""Most contacts that one pair of shapes makes."""


@inner_kernel
def reduce_points(point: Array, feature: IntArray, count: int, scale: float) -> int:
    """Keep at most nine of the contacts with common normal, in place; return how many.

    Kept are the extremes of point b along eight directions of the tangent plane and the deepest point. The directions
    do not depend on the gaps, and a later row replaces an earlier one only if it is further out by more than rounding,
    so that the choice does not change from step to step.
    """
    if count <= _DIRECTIONS:
        return count
    t, o = tangent_frame((point[0, 6], point[0, 7], point[0, 8]))
    for c in range(count):
        feature[c, 2] = 0
    for k in range(_DIRECTIONS + 1):
        angle = 2.0 * np.pi * k / _DIRECTIONS
        d = along((0.0, 0.0, 0.0), np.cos(angle), t)
        d = along(d, np.sin(angle), o)
        best, far = 0, -np.inf
        for c in range(count):
            s = -point[c, 9] if k == _DIRECTIONS else dot(d, (point[c, 3], point[c, 4], point[c, 5]))
            if s > far + 1e-10 * scale:
                best, far = c, s
        feature[best, 2] = 1
    kept = 0
    for c in range(count):
        if feature[c, 2] == 1:
            for k in range(10):
                point[kept, k] = point[c, k]
            for k in range(3):
                feature[kept, k] = feature[c, k]
            kept += 1
    return kept
