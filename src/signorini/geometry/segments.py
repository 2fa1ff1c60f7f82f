"""Closest points of two segments, and contacts of spheres and capsules."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import kernel
from signorini.geometry.workspace import Workspace
from signorini.math.rotation import Vector, cross, dot, rotate
from signorini.model.shapes import Hulls, ShapeArrays

Point = tuple[float, float, float]

# Capsules within about six degrees of parallel touch along a line: both ends of it are contacts.
_PARALLEL = 1e-2


@kernel
def subtract(a: Vector, b: Vector) -> Point:
    """Return ``a - b``."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def along(a: Vector, s: float, d: Vector) -> Point:
    """Return ``a + s d``."""
    return (a[0] + s * d[0], a[1] + s * d[1], a[2] + s * d[2])


@kernel
def foot(p: Vector, a: Vector, d: Vector) -> float:
    """Return the parameter in [0, 1] of the point of the segment ``a + s d`` that is closest to `p`."""
    dd = dot(d, d)
    if dd == 0.0:
        return 0.0
    return min(max(dot(subtract(p, a), d) / dd, 0.0), 1.0)


@kernel
def closest_parameters(a: Vector, d: Vector, b: Vector, e: Vector) -> tuple[float, float, float]:
    """Return (s, t, squared distance) of the closest points ``a + s d`` and ``b + t e``, s and t in [0, 1].

    The four ends are tried against the other segment, then the two lines: no case loses digits when the segments are
    nearly parallel. Ends win a tie, in fixed order.
    """
    best_s, best_t, best = 0.0, 0.0, np.inf
    for end in range(2):
        s = foot(along(b, float(end), e), a, d)
        x = subtract(along(b, float(end), e), along(a, s, d))
        if dot(x, x) < best:
            best_s, best_t, best = s, float(end), dot(x, x)
    for end in range(2):
        t = foot(along(a, float(end), d), b, e)
        x = subtract(along(b, t, e), along(a, float(end), d))
        if dot(x, x) < best:
            best_s, best_t, best = float(end), t, dot(x, x)
    m = cross(d, e)
    mm = dot(m, m)
    if mm > 1e-20 * dot(d, d) * dot(e, e):
        x = subtract(b, a)
        s, t = dot(cross(x, e), m) / mm, dot(cross(x, d), m) / mm
        if 0.0 < s < 1.0 and 0.0 < t < 1.0:
            distance = dot(x, m) ** 2 / mm
            if distance < best:
                best_s, best_t, best = s, t, distance
    return best_s, best_t, best


@kernel
def direction(x: Vector, d: Vector, e: Vector) -> Point:
    """Return the unit vector along `x`; if that is zero, one across `d` and `e`, in the plane z = 0 if they are."""
    length = np.sqrt(dot(x, x))
    if length > 1e-150:
        return (x[0] / length, x[1] / length, x[2] / length)
    m = cross(d, e)
    length = np.sqrt(dot(m, m))
    if length * length <= 1e-20 * dot(d, d) * dot(e, e):
        longer = d if dot(d, d) >= dot(e, e) else e
        # Across a single direction: the axis y or, where that is along it, x.
        m = cross(longer, (0.0, 0.0, 1.0)) if abs(longer[2]) * 2.0 < abs(longer[0]) + abs(longer[1]) else (
            longer[2], 0.0, -longer[0])
        length = np.sqrt(dot(m, m))
        if length == 0.0:
            return (1.0, 0.0, 0.0)
    return (m[0] / length, m[1] / length, m[2] / length)


@kernel
def _write(work: Workspace, row: int, a: Vector, b: Vector, n: Vector, r_a: float, r_b: float, gap: float) -> None:
    """Write the contact of two balls about `a` and `b`."""
    for k in range(3):
        work.point[row, k] = a[k] + r_a * n[k]
        work.point[row, 3 + k] = b[k] - r_b * n[k]
        work.point[row, 6 + k] = n[k]
    work.point[row, 9] = gap


@kernel
def round_contacts(
    shapes: ShapeArrays, hulls: Hulls, i: int, j: int, x: Vector, e_i: Array, e_j: Array, margin: float, work: Workspace
) -> int:
    """Write the contacts of two shapes that are spheres or capsules; return how many.

    `x` is the origin of shape j seen from that of i, world axes.
    """
    r_a, r_b = shapes.size[i, 0], shapes.size[j, 0]
    half_a = rotate(e_i, (0.0, 0.0, shapes.size[i, 1]))
    half_b = rotate(e_j, (0.0, 0.0, shapes.size[j, 1]))
    a, d = (-half_a[0], -half_a[1], -half_a[2]), (2.0 * half_a[0], 2.0 * half_a[1], 2.0 * half_a[2])
    b, e = subtract(x, half_b), (2.0 * half_b[0], 2.0 * half_b[1], 2.0 * half_b[2])
    s, t, squared = closest_parameters(a, d, b, e)
    closest = np.sqrt(squared) - r_a - r_b
    if not closest <= margin:
        return 0
    count = 0
    least = np.inf
    m = cross(d, e)
    if dot(m, m) < _PARALLEL * dot(d, d) * dot(e, e):
        for k in range(4):  # each end of b, then of a, unless it lies beyond the other's end; no more than two
            end = float(k % 2)
            p = along(b, end, e) if k < 2 else along(a, end, d)
            origin, axis = (a, d) if k < 2 else (b, e)
            place = dot(subtract(p, origin), axis) / dot(axis, axis)
            facing = -1e-9 <= place <= 1.0 + 1e-9
            place = min(max(place, 0.0), 1.0)
            u, w = (place, end) if k < 2 else (end, place)
            pa, pb = along(a, u, d), along(b, w, e)
            y = subtract(pb, pa)
            gap = np.sqrt(dot(y, y)) - r_a - r_b
            if facing and gap <= margin and count < 2:
                _write(work, count, pa, pb, direction(y, d, e), r_a, r_b, gap)
                work.feature[count, 0] = 0 if k < 2 else k - 1
                work.feature[count, 1] = k + 1 if k < 2 else 0
                least = min(least, gap)
                count += 1
    if closest < least - 1e-10 * (r_a + r_b):
        pa, pb = along(a, s, d), along(b, t, e)
        # Where two lines cross, their common normal keeps all digits however close they are.
        y = cross(d, e) if 0.0 < s < 1.0 and 0.0 < t < 1.0 else subtract(pb, pa)
        side = 1.0 if dot(y, subtract(pb, pa)) >= 0.0 else -1.0
        _write(work, count, pa, pb, direction((side * y[0], side * y[1], side * y[2]), d, e), r_a, r_b, closest)
        work.feature[count, 0] = 3
        work.feature[count, 1] = 3
        count += 1
    return count
