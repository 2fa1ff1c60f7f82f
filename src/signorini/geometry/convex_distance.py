"""Distance of two convex solids from their support points (Gilbert, Johnson and Keerthi).

The difference ``D = B - A`` holds the origin if and only if the solids overlap. Its point nearest to the origin is
found on a growing simplex of support points; the part of the simplex that does not carry the nearest point is dropped.
Every direction gives a bound from below, so the search for far solids ends early.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.separation import SIDE
from signorini.geometry.solids import separation
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import cross, dot
from signorini.model.shape_kinds import TINY

_MAX_ITERATIONS = 60
WEIGHT, DIFFERENCE, ON_A, ON_B = 0, 1, 4, 7
"""Columns of a simplex (5, 10): weight of the point, ``b - a``, a and b."""

Nearest = tuple[float, Vector, Vector, Vector]
"""Separation, normal from a to b, point on a, point on b."""


@inner_kernel
def _difference(simplex: Array, i: int) -> Vector:
    return (simplex[i, 1], simplex[i, 2], simplex[i, 3])


@inner_kernel
def on_triangle(p: Vector, q: Vector, r: Vector) -> tuple[float, float, float]:
    """Return the weights of the corners in the point of a triangle nearest to the origin."""
    d, e = along(q, -1.0, p), along(r, -1.0, p)
    d1, d2 = -dot(d, p), -dot(e, p)
    if d1 <= 0.0 and d2 <= 0.0:
        return (1.0, 0.0, 0.0)
    d3, d4 = -dot(d, q), -dot(e, q)
    if d3 >= 0.0 and d4 <= d3:
        return (0.0, 1.0, 0.0)
    d5, d6 = -dot(d, r), -dot(e, r)
    if d6 >= 0.0 and d5 <= d6:
        return (0.0, 0.0, 1.0)
    c = d1 * d4 - d3 * d2
    if c <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:  # not so where p and q coincide
        t = d1 / (d1 - d3)
        return (1.0 - t, t, 0.0)
    b = d5 * d2 - d1 * d6
    if b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return (1.0 - t, 0.0, t)
    a = d3 * d6 - d5 * d4
    if a <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return (0.0, 1.0 - t, t)
    total = a + b + c
    return (a / total, b / total, c / total)


@inner_kernel
def _on_segment(p: Vector, q: Vector) -> float:
    """Return the weight of `q` in the point of a segment nearest to the origin."""
    d = along(q, -1.0, p)
    dd = dot(d, d)
    return min(max(-dot(p, d) / dd, 0.0), 1.0) if dd > 0.0 else 0.0


@inner_kernel
def _encloses(simplex: Array) -> bool:
    """Tell whether the tetrahedron of the first four points holds the origin."""
    for i in range(4):
        p, q = _difference(simplex, (i + 1) % 4), _difference(simplex, (i + 2) % 4)
        r, top = _difference(simplex, (i + 3) % 4), _difference(simplex, i)
        m = cross(along(q, -1.0, p), along(r, -1.0, p))
        here, there = -dot(m, p), dot(m, along(top, -1.0, p))
        if not here * there > 0.0:
            return False
    return True


@inner_kernel
def _reduce(simplex: Array, count: int) -> int:
    """Write the weights of the nearest point and drop the points without weight; return how many stay, 5 if inside."""
    if count == 1:
        simplex[0, WEIGHT] = 1.0
        return 1
    if count == 2:
        t = _on_segment(_difference(simplex, count - 2), _difference(simplex, count - 1))
        simplex[0, WEIGHT], simplex[1, WEIGHT] = 1.0 - t, t
    elif count == 3:
        w = on_triangle(
            _difference(simplex, count - 3), _difference(simplex, count - 2), _difference(simplex, count - 1)
        )
        for i in range(3):
            simplex[i, WEIGHT] = w[i]
    else:
        if _encloses(simplex):
            return 5
        best, left_out, weights = np.inf, 0, (0.0, 0.0, 0.0)
        for i in range(4):  # the triangle without point i
            p, q, r = (
                _difference(simplex, (i + 1) % 4),
                _difference(simplex, (i + 2) % 4),
                _difference(simplex, (i + 3) % 4),
            )
            w = on_triangle(p, q, r)
            x = along(along((w[0] * p[0], w[0] * p[1], w[0] * p[2]), w[1], q), w[2], r)
            squared = dot(x, x)
            if squared < best:
                best, left_out, weights = squared, i, w
        simplex[left_out, WEIGHT] = 0.0
        for k in range(3):
            simplex[(left_out + 1 + k) % 4, WEIGHT] = weights[k]
    kept = 0
    for i in range(count):
        if simplex[i, WEIGHT] > 0.0:
            for k in range(10):
                simplex[kept, k] = simplex[i, k]
            kept += 1
    return kept


@inner_kernel
def _combined(simplex: Array, count: int) -> tuple[Vector, Vector]:
    """Return the weighted sums of the points on a and on b."""
    a, b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(count):
        a = along(a, simplex[i, WEIGHT], (simplex[i, ON_A], simplex[i, ON_A + 1], simplex[i, ON_A + 2]))
        b = along(b, simplex[i, WEIGHT], (simplex[i, ON_B], simplex[i, ON_B + 1], simplex[i, ON_B + 2]))
    return a, b


@inner_kernel
def nearest_points(
    vertex: Array, part: IntArray, solid: Array, limit: float, touch: float, tolerance: float, simplex: Array
) -> Nearest:
    """Return separation, normal and points of two solids, good to about `tolerance`.

    The search stops early with a separation above `limit` and with one of -inf if the solids are closer than `touch`,
    where a direction between points says nothing; normal and points are then the best that were met.
    """
    x = along(row(solid, part[1, SIDE]), -1.0, row(solid, part[0, SIDE]))
    length = np.sqrt(dot(x, x))
    n = (x[0] / length, x[1] / length, x[2] / length) if length > TINY else (1.0, 0.0, 0.0)
    count, distance = 0, np.inf
    best: Nearest = (-np.inf, n, x, x)
    for _ in range(_MAX_ITERATIONS):
        s, a, b = separation(vertex, part, solid, n)
        if s > limit:
            return s, n, a, b
        if s > best[0]:
            best = (s, n, a, b)
        if distance - best[0] <= tolerance:
            break
        for k in range(3):
            simplex[count, DIFFERENCE + k] = b[k] - a[k]
            simplex[count, ON_A + k] = a[k]
            simplex[count, ON_B + k] = b[k]
        count = _reduce(simplex, count + 1)
        if count == 5:
            return -np.inf, best[1], a, b
        v = (0.0, 0.0, 0.0)
        for i in range(count):
            v = along(v, simplex[i, WEIGHT], _difference(simplex, i))
        length = np.sqrt(dot(v, v))
        if length <= touch:
            a, b = _combined(simplex, count)
            return -np.inf, best[1], a, b
        if not length < distance:
            break
        distance = length
        n = (v[0] / length, v[1] / length, v[2] / length)
    if best[0] == -np.inf or count == 0:
        return best
    a, b = _combined(simplex, count)
    return best[0], best[1], a, b
