r"""Closest points of two solids to rounding, by Newton's method on the features that carry them.

Points :math:`a(u)` and :math:`b(v)` on a feature of each solid and the common unit normal n solve

.. math::
    (b - a) - n\,(n \cdot (b - a)) = 0, \qquad n \cdot a_{,u} = 0, \qquad n \cdot b_{,v} = 0.

The separation :math:`s = n \cdot (b - a)` may have any sign: apart, in touch and overlapping are one case, and the
system is regular unless both features are flat in the same direction (then the step along it is left out). This is the
signed form of S3, section 4, for features of any dimension.

A solution is accepted if both points belong to their solids and the supporting planes across n go through them. Apart,
that proves that no points are closer; overlapping, that no nearby direction needs a shorter translation to part the
solids, or that they are balanced between such directions.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel
from signorini.geometry.convex_distance import Nearest
from signorini.geometry.features import candidates, feature_name, local_feature
from signorini.geometry.separation import SIDE, Touch
from signorini.geometry.solids import outside, separation
from signorini.geometry.vectors import Vector, across, along
from signorini.math.rotation import dot

_MAX_STEPS = 30
# A pivot below this part of the largest means that a direction is left open by the features.
_OPEN = 1e-11
_FAR = 0.5  # largest turn of the normal in one step (radians), and largest move as part of the size


@bare_kernel
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


@bare_kernel
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
) -> Nearest:
    """Return separation, normal and points on the features `fa` and `fb`, from the given start.

    `size` is a length that makes the unknowns comparable.
    """
    n, a, b = start[1], start[2], start[3]
    s, before = 0.0, np.inf
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
        # Unknowns: the steps on a, those on b, and the turn of the normal along t and o times `size`.
        for i in range(m):
            for j in range(m + 1):
                M[i, j] = 0.0
        for i in range(2):
            across_n = t if i == 0 else o
            for j in range(dim_a):
                M[i, j] = dot(across_n, ta if j == 0 else oa)
            for j in range(dim_b):
                M[i, dim_a + j] = -dot(across_n, tb if j == 0 else ob)
            M[i, m - 2 + i] = s / size
            M[i, m] = dot(across_n, x)
        for side in range(2):
            first, dim = (0, dim_a) if side == 0 else (dim_a, dim_b)
            k11, k12, k22 = (a11, a12, a22) if side == 0 else (b11, b12, b22)
            for i in range(dim):
                r = 2 + first + i
                tangent = (ta if i == 0 else oa) if side == 0 else (tb if i == 0 else ob)
                M[r, first] = size * (k11 if i == 0 else k12)
                if dim == 2:
                    M[r, first + 1] = size * (k12 if i == 0 else k22)
                M[r, m - 2] = dot(tangent, t)
                M[r, m - 1] = dot(tangent, o)
                M[r, m] = -size * dot(tangent, n)
                error = max(error, abs(M[r, m]))
        if not error < before:  # rounding is reached, or the features are the wrong ones
            break
        best = (s, n, a, b)
        # At a flat spot the error falls by a third only; far from the solution it may rise once.
        before = 4.0 * error if error > 1e-3 * size else 0.9 * error
        if error <= 1e-16 * size:
            break
        _solve(M, m)
        longest = 0.0
        for k in range(m):
            longest = max(longest, abs(M[6, k]))
        f = 1.0 if longest <= _FAR * size else _FAR * size / longest
        for k in range(dim_a):
            a = along(a, f * M[6, k], ta if k == 0 else oa)
        for k in range(dim_b):
            b = along(b, f * M[6, dim_a + k], tb if k == 0 else ob)
        n = along(along(n, f * M[6, m - 2] / size, t), f * M[6, m - 1] / size, o)
        f = 1.0 / np.sqrt(dot(n, n))
        n = (f * n[0], f * n[1], f * n[2])
    return best


@bare_kernel
def finished(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    start: Nearest,
    tolerance: float,
    size: float,
    choice: IntArray,
    M: Array,
) -> tuple[bool, Touch]:
    """Return whether features were found that carry the closest points, and the touch; else the start as it was.

    `choice` (2, 4, 2) and `M` (8, 7) are scratch memory.
    """
    n = start[1]
    count_a = candidates(vertex, plane, edge, part, solid, part[0, SIDE], n, start[2], choice)
    back = (-n[0], -n[1], -n[2])
    count_b = candidates(vertex, plane, edge, part, solid, part[1, SIDE], back, start[3], choice)
    for total in range(count_a + count_b - 1):  # the likeliest combinations first
        for i in range(max(0, total - count_b + 1), min(count_a, total + 1)):
            fa = (choice[0, i, 0], choice[0, i, 1])
            fb = (choice[1, total - i, 0], choice[1, total - i, 1])
            s, n, a, b = _newton(vertex, plane, edge, part, solid, fa, fb, start, size, M)
            if _holds(vertex, plane, part, solid, s, n, a, b, start[0], tolerance):
                name_a = feature_name(part, part[0, SIDE], fa[0], fa[1])
                return True, (s, n, a, b, name_a, feature_name(part, part[1, SIDE], fb[0], fb[1]))
    s, n = start[0], start[1]
    middle = along(start[2], 1.0, start[3])
    a = along((0.5 * middle[0], 0.5 * middle[1], 0.5 * middle[2]), -0.5 * s, n)
    return False, (s, n, a, along(a, s, n), 0, 0)


@bare_kernel
def _holds(
    vertex: Array,
    plane: Array,
    part: IntArray,
    solid: Array,
    s: float,
    n: Vector,
    a: Vector,
    b: Vector,
    least: float,
    tolerance: float,
) -> bool:
    """Tell whether two points are the closest ones along their normal; see the head of this file."""
    x = along(along(b, -1.0, a), -s, n)
    if not dot(x, x) <= tolerance * tolerance or s < least - tolerance:
        return False
    for side in range(2):
        if outside(vertex, plane, part, solid, side, a if side == 0 else b) > tolerance:
            return False
    return abs(separation(vertex, part, solid, n)[0] - s) <= tolerance
