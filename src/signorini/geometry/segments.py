"""Closest points of two segments, and contacts of spheres and capsules."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.vectors import Vector, along
from signorini.math.rotation import cross, dot

# Capsules within about six degrees of parallel touch along a line: both ends of it are contacts.
_PARALLEL = 1e-2
MIDDLE = 3
"""Feature of the closest point of a sphere or capsule."""
_BEYOND = 1e-9  # an end this fraction of the length beyond the other's end still faces it


@inner_kernel
def place_on(p: Vector, a: Vector, d: Vector) -> float:
    """Return s such that ``a + s d`` is the foot of `p` on the line; 0 for a point."""
    dd = dot(d, d)
    return dot(along(p, -1.0, a), d) / dd if dd > 0.0 else 0.0


@inner_kernel
def closest_on_segments(a: Vector, d: Vector, b: Vector, e: Vector) -> tuple[float, float, float]:
    """Return (s, t, squared distance) of the closest points ``a + s d`` and ``b + t e``, s and t in [0, 1].

    The four ends are tried against the other segment, then the two lines: no case loses digits when the segments are
    nearly parallel. Ends win a tie, in fixed order.
    """
    best_s, best_t, best = 0.0, 0.0, np.inf
    for k in range(4):
        end = float(k % 2)
        if k < 2:
            s, t = min(max(place_on(along(b, end, e), a, d), 0.0), 1.0), end
        else:
            s, t = end, min(max(place_on(along(a, end, d), b, e), 0.0), 1.0)
        x = along(along(b, t, e), -1.0, along(a, s, d))
        squared = dot(x, x)
        if squared < best:
            best_s, best_t, best = s, t, squared
    m = cross(d, e)
    mm = dot(m, m)
    if mm > 1e-20 * dot(d, d) * dot(e, e):
        x = along(b, -1.0, a)
        s, t = dot(cross(x, e), m) / mm, dot(cross(x, d), m) / mm
        squared = dot(x, m) ** 2 / mm
        if 0.0 < s < 1.0 and 0.0 < t < 1.0 and squared < best:
            best_s, best_t, best = s, t, squared
    return best_s, best_t, best


@inner_kernel
def _direction(x: Vector, d: Vector, e: Vector) -> Vector:
    """Return the unit vector along `x`; if that is zero, one across `d` and `e`, in the plane z = 0 for points."""
    for attempt in range(3):
        length = np.sqrt(dot(x, x))
        if length > 1e-150:
            return (x[0] / length, x[1] / length, x[2] / length)
        longer = d if dot(d, d) >= dot(e, e) else e
        if attempt == 0:
            m = cross(d, e)
            if dot(m, m) > 1e-20 * dot(d, d) * dot(e, e):
                x = m
        else:  # across one direction, with its two largest components
            steep = abs(longer[2]) > abs(longer[0]) + abs(longer[1])
            x = (longer[2], 0.0, -longer[0]) if steep else (longer[1], -longer[0], 0.0)
    return (1.0, 0.0, 0.0)


@inner_kernel
def round_contacts(
    a: Vector, d: Vector, b: Vector, e: Vector, limit: float, scale: float, point: Array, feature: IntArray
) -> int:
    """Write the contacts of the segments ``a + s d`` and ``b + t e`` with distances up to `limit`; return how many.

    A sphere's segment has length zero. Parallel capsules touch at both ends of their common length; the closest
    points are added unless one of these is as close, to rounding at the given `scale`.
    """
    best_s, best_t, squared = closest_on_segments(a, d, b, e)
    closest = np.sqrt(squared)
    if not closest <= limit:
        return 0
    count = 0
    least = np.inf
    m = cross(d, e)
    parallel = dot(m, m) < _PARALLEL * dot(d, d) * dot(e, e)
    for k in range(0 if parallel else 4, 5):
        s, t, facing = best_s, best_t, closest < least - 1e-10 * scale
        if k < 4:  # the ends of b, then of a, unless beyond the other's end; no more than two
            end = float(k % 2)
            place = place_on(along(b, end, e), a, d) if k < 2 else place_on(along(a, end, d), b, e)
            facing = -_BEYOND <= place <= 1.0 + _BEYOND and count < 2
            s, t = (place, end) if k < 2 else (end, place)
        p, q = along(a, s, d), along(b, t, e)
        x = along(q, -1.0, p)
        distance = np.sqrt(dot(x, x))
        if not facing or distance > limit:
            continue
        # Where two lines cross, their common normal keeps all digits however close they are.
        if k == 4 and 0.0 < s < 1.0 and 0.0 < t < 1.0:
            x = m if dot(m, x) >= 0.0 else (-m[0], -m[1], -m[2])
        n = _direction(x, d, e)
        for i in range(3):
            point[count, i] = p[i]
            point[count, 3 + i] = q[i]
            point[count, 6 + i] = n[i]
        point[count, 9] = distance
        feature[count, 0] = MIDDLE if k == 4 else (0 if k < 2 else k - 1)
        feature[count, 1] = MIDDLE if k == 4 else (k + 1 if k < 2 else 0)
        least = min(least, distance)
        count += 1
    return count
