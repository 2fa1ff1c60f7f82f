r"""Closest points of two solids to rounding, by Newton's method on the features that carry them.

Points :math:`a(u)` and :math:`b(v)` on a feature of each solid and the common unit normal n solve

.. math::
    (b - a) - n\,(n \cdot (b - a)) = 0, \qquad n \cdot a_{,u} = 0, \qquad n \cdot b_{,v} = 0.

The separation :math:`s = n \cdot (b - a)` may have any sign: apart, in touch and overlapping are one case, and the
system is regular unless both features are flat in the same direction (then the step along it is left out). This is the
signed form of S3, section 4, for features of any dimension.

A solution holds if both points belong to their solids and the supporting planes across n go through them. Apart, that
proves that no points are closer; overlapping, that no nearby direction needs a shorter translation to part the solids,
or that they are balanced between such directions. Where features meet, to rounding, none may hold exactly: the solution
with the least error is taken.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.convex_distance import Nearest
from signorini.geometry.curved_memory import Search
from signorini.geometry.features import candidates, feature_name, local_feature
from signorini.geometry.separation import SIDE, Touch
from signorini.geometry.solids import outside, separation
from signorini.geometry.vectors import Vector, across, along
from signorini.math.rotation import dot

_MAX_STEPS, _MAX_RISES = 30, 2
_ROUNDING = 1e-13  # residual, as part of the size, that rises by rounding
# A pivot below this part of the largest means that a direction is left open by the features.
_OPEN = 1e-11
_FAR = 0.5  # largest turn of the normal in one step (radians), and largest move as part of the size or of a radius
_STATIONARY = 1e-3  # how much the residual of the equations counts beside errors of points and separation
_ROUNDS = 3  # of points brought next to each other by turns


@inner_kernel
def _solve(M: Array, n: int) -> None:
    """Solve the n equations with the right-hand side in column n by complete pivoting; the solution goes to row 6.

    Row 7 holds the order of the unknowns. Unknowns without a pivot become zero.
    """
    for k in range(n):
        M[7, k] = k
        M[6, k] = 0.0
    largest, rank = 0.0, 0
    for k in range(n):
        p, q, size = k, k, 0.0
        for i in range(k, n):
            for j in range(k, n):
                if abs(M[i, j]) > size:
                    p, q, size = i, j, abs(M[i, j])
        largest = max(largest, size)
        if not size > _OPEN * largest:
            break
        rank += 1
        for j in range(n + 1):
            M[k, j], M[p, j] = M[p, j], M[k, j]
        for i in range(8):
            if i < n or i == 7:
                M[i, k], M[i, q] = M[i, q], M[i, k]
        for i in range(k + 1, n):
            f = M[i, k] / M[k, k]
            for j in range(k, n + 1):
                M[i, j] -= f * M[k, j]
    for k in range(rank - 1, -1, -1):
        s = M[k, n]
        for j in range(k + 1, rank):
            s -= M[k, j] * M[6, int(M[7, j])]
        M[6, int(M[7, k])] = s / M[k, k]


@inner_kernel
def _newton(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    fa: tuple[int, int],
    fb: tuple[int, int],
    start: Nearest,
    size: float,
    M: Array,
) -> tuple[float, Nearest]:
    """Return separation, normal and points on the features `fa` and `fb`, from the given start, and the residual.

    `size` is a length that makes the unknowns comparable.
    """
    n, a, b = start[1], start[2], start[3]
    s, before, least, rises = 0.0, np.inf, np.inf, 0
    best: Nearest = start
    for _ in range(_MAX_STEPS):
        dim_a, a, ta, oa, a11, a12, a22 = local_feature(
            vertex, plane, edge, part, solid, part[0, SIDE], fa[0], fa[1], a, n
        )
        dim_b, b, tb, ob, b11, b12, b22 = local_feature(
            vertex, plane, edge, part, solid, part[1, SIDE], fb[0], fb[1], b, n
        )
        t, o = across(n)
        x = along(b, -1.0, a)
        s = dot(n, x)
        m = dim_a + dim_b + 2
        error = max(abs(dot(t, x)), abs(dot(o, x)))
        # Unknowns: the steps on a, those on b, and the turn of the normal along t and o times `size`. Steps along a
        # sharp curve are measured in its radius: a cone is as sharp as one likes next to its apex.
        unit_a = (1.0 / max(1.0, size * abs(a11)), 1.0 / max(1.0, size * abs(a22)))
        unit_b = (1.0 / max(1.0, size * abs(b11)), 1.0 / max(1.0, size * abs(b22)))
        for i in range(m):
            for j in range(m + 1):
                M[i, j] = 0.0
        for i in range(2):
            across_n = t if i == 0 else o
            for j in range(dim_a):
                M[i, j] = unit_a[j] * dot(across_n, ta if j == 0 else oa)
            for j in range(dim_b):
                M[i, dim_a + j] = -unit_b[j] * dot(across_n, tb if j == 0 else ob)
            M[i, m - 2 + i] = s / size
            M[i, m] = dot(across_n, x)
        for side in range(2):
            first, dim = (0, dim_a) if side == 0 else (dim_a, dim_b)
            k11, k12, k22 = (a11, a12, a22) if side == 0 else (b11, b12, b22)
            unit = unit_a if side == 0 else unit_b
            for i in range(dim):
                r = 2 + first + i
                tangent = (ta if i == 0 else oa) if side == 0 else (tb if i == 0 else ob)
                M[r, first] = unit[0] * size * (k11 if i == 0 else k12)
                if dim == 2:
                    M[r, first + 1] = unit[1] * size * (k12 if i == 0 else k22)
                M[r, m - 2] = dot(tangent, t)
                M[r, m - 1] = dot(tangent, o)
                M[r, m] = -size * dot(tangent, n)
                error = max(error, abs(M[r, m]))
        if error < least:
            least, best = error, (s, n, a, b)
        if not error < before:  # rounding is reached, the features are the wrong ones, or their curvature tells now
            rises += 1
            if rises > _MAX_RISES or not error > _ROUNDING * size:
                break
        # At a flat spot the error falls by a third only; far from the solution it may rise.
        before = 4.0 * error if error > 1e-3 * size else 0.9 * error
        if error <= 1e-15 * size:
            break
        _solve(M, m)
        longest = 0.0
        for k in range(m):
            longest = max(longest, abs(M[6, k]))
        f = 1.0 if longest <= _FAR * size else _FAR * size / longest
        for k in range(dim_a):
            a = along(a, f * unit_a[k] * M[6, k], ta if k == 0 else oa)
        for k in range(dim_b):
            b = along(b, f * unit_b[k] * M[6, dim_a + k], tb if k == 0 else ob)
        n = along(along(n, f * M[6, m - 2] / size, t), f * M[6, m - 1] / size, o)
        f = 1.0 / np.sqrt(dot(n, n))
        n = (f * n[0], f * n[1], f * n[2])
    return least, best


@inner_kernel
def _brought_together(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    fa: tuple[int, int],
    fb: tuple[int, int],
    start: Nearest,
) -> Nearest:
    """Return a start from points of both features next to each other, the normal along the way between them.

    It helps where the normal of a search says nothing about features, such as one across the cap for its rim.
    """
    s, n, a, b = start
    for _ in range(_ROUNDS):
        a = local_feature(vertex, plane, edge, part, solid, part[0, SIDE], fa[0], fa[1], b, n)[1]
        b = local_feature(vertex, plane, edge, part, solid, part[1, SIDE], fb[0], fb[1], a, n)[1]
    x = along(b, -1.0, a)
    length = np.sqrt(dot(x, x))
    if length > 0.0:
        f = (1.0 if dot(x, n) > 0.0 else -1.0) / length
        n = (f * x[0], f * x[1], f * x[2])
        s = f * length * length
    return s, n, a, b


@inner_kernel
def finished(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    start: Nearest,
    bound: float,
    tolerance: float,
    size: float,
    search: Search,
    likeliest: bool,
) -> tuple[float, Touch]:
    """Return the touch on the features that carry the closest points, and its error; the first with one of `tolerance`.

    Of the `likeliest` features alone if that is asked for.

    If all have a larger error, it is the start with its points moved opposite each other, by as much. Separations below
    `bound`, which some direction is known to reach, are as much in error.
    """
    s, n, choice = start[0], start[1], search.choice
    count_a = candidates(vertex, plane, edge, part, solid, part[0, SIDE], n, start[2], choice)
    back = (-n[0], -n[1], -n[2])
    count_b = candidates(vertex, plane, edge, part, solid, part[1, SIDE], back, start[3], choice)
    middle = along(start[2], 1.0, start[3])
    a = along((0.5 * middle[0], 0.5 * middle[1], 0.5 * middle[2]), -0.5 * s, n)
    x = along(start[2], -1.0, a)
    plain: Touch = (s, n, a, along(a, s, n), 0, 0)
    least, best, moved = np.inf, plain, max(float(np.sqrt(dot(x, x))), bound - s)
    for attempt in range(2):
        for total in range(count_a + count_b - 1):  # the likeliest combinations first
            for i in range(max(0, total - count_b + 1), min(count_a, total + 1)):
                fa = (choice[0, i, 0], choice[0, i, 1])
                fb = (choice[1, total - i, 0], choice[1, total - i, 1])
                begin = start
                if attempt == 1:
                    begin = _brought_together(vertex, plane, edge, part, solid, fa, fb, start)
                residual, (s, n, a, b) = _newton(vertex, plane, edge, part, solid, fa, fb, begin, size, search.M)
                error = _error(vertex, plane, part, solid, s, n, a, b, bound)
                # A feature that is almost parallel to another one may hold points almost as close as the right one.
                error = max(error, _STATIONARY * residual)
                if error < least:
                    name_a = feature_name(part, part[0, SIDE], fa[0], fa[1])
                    name_b = feature_name(part, part[1, SIDE], fb[0], fb[1])
                    least, best = error, (s, n, a, b, name_a, name_b)
                if least <= tolerance or likeliest:
                    return least, best
    return (least, best) if least <= moved else (moved, plain)


@inner_kernel
def _error(
    vertex: Array,
    plane: Array,
    part: IntArray,
    solid: Array,
    s: float,
    n: Vector,
    a: Vector,
    b: Vector,
    bound: float,
) -> float:
    """Return how far two points are from being the closest ones along their normal; see the head of this file."""
    x = along(along(b, -1.0, a), -s, n)
    error = max(float(np.sqrt(dot(x, x))), bound - s)
    for side in range(2):
        error = max(error, outside(vertex, plane, part, solid, side, a if side == 0 else b))
    return max(error, abs(separation(vertex, part, solid, n)[0] - s))
