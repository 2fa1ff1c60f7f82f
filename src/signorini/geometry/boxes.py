"""Separation of two boxes along the fifteen directions that can part them, in closed form.

Box a lies about the origin with its edges along the axes, half as long as `h_a`; box b lies about `t`, with its edges
along the columns of the rotation matrix `R` (row by row). Vertex v has the positive half length along axis k if bit k
of v is set, faces come in the order -x, +x, -y, +y, -z, +z.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import IntArray
from signorini._jit import inner_kernel
from signorini.geometry.vectors import Vector
from signorini.math.rotation import dot

Matrix = tuple[float, float, float, float, float, float, float, float, float]


@inner_kernel
def _lowest(x: float, y: float, z: float) -> int:
    """Return the vertex that is lowest along (x, y, z), the first of equal ones."""
    return (1 if x < 0.0 else 0) + (2 if y < 0.0 else 0) + (4 if z < 0.0 else 0)


@inner_kernel
def _best_of(h: Vector, t: Vector, half: Vector) -> tuple[float, int]:
    """Return the largest separation along the axes of a box of a body at `t`, `half` as large, and the face."""
    best, face = abs(t[0]) - h[0] - half[0], 1 if t[0] > 0.0 else 0
    s = abs(t[1]) - h[1] - half[1]
    if s > best:
        best, face = s, 3 if t[1] > 0.0 else 2
    s = abs(t[2]) - h[2] - half[2]
    if s > best:
        best, face = s, 5 if t[2] > 0.0 else 4
    return best, face


@inner_kernel
def box_faces(h_a: Vector, h_b: Vector, t: Vector, R: Matrix) -> tuple[float, int, int, float, int, int]:
    """Return the best face of a with b's lowest vertex above it, then the best face of b with a's lowest vertex."""
    half = (
        abs(R[0]) * h_b[0] + abs(R[1]) * h_b[1] + abs(R[2]) * h_b[2],
        abs(R[3]) * h_b[0] + abs(R[4]) * h_b[1] + abs(R[5]) * h_b[2],
        abs(R[6]) * h_b[0] + abs(R[7]) * h_b[1] + abs(R[8]) * h_b[2],
    )
    s_a, f_a = _best_of(h_a, t, half)
    k, sign = f_a // 2, 1.0 if f_a % 2 == 1 else -1.0
    n = (R[0], R[1], R[2]) if k == 0 else ((R[3], R[4], R[5]) if k == 1 else (R[6], R[7], R[8]))
    v_b = _lowest(sign * n[0], sign * n[1], sign * n[2])
    half = (
        abs(R[0]) * h_a[0] + abs(R[3]) * h_a[1] + abs(R[6]) * h_a[2],
        abs(R[1]) * h_a[0] + abs(R[4]) * h_a[1] + abs(R[7]) * h_a[2],
        abs(R[2]) * h_a[0] + abs(R[5]) * h_a[1] + abs(R[8]) * h_a[2],
    )
    back = (
        -(R[0] * t[0] + R[3] * t[1] + R[6] * t[2]),
        -(R[1] * t[0] + R[4] * t[1] + R[7] * t[2]),
        -(R[2] * t[0] + R[5] * t[1] + R[8] * t[2]),
    )
    s_b, f_b = _best_of(h_b, back, half)
    k, sign = f_b // 2, 1.0 if f_b % 2 == 1 else -1.0
    n = (R[0], R[3], R[6]) if k == 0 else ((R[1], R[4], R[7]) if k == 1 else (R[2], R[5], R[8]))
    return s_a, f_a, v_b, s_b, f_b, _lowest(sign * n[0], sign * n[1], sign * n[2])


@inner_kernel
def _across(k: int, x: float, y: float, z: float) -> Vector:
    """Return the cross product of axis `k` and a vector."""
    if k == 0:
        return (0.0, -z, y)
    if k == 1:
        return (z, 0.0, -x)
    return (-y, x, 0.0)


@inner_kernel
def _edge_row(link: IntArray, first: int, v: int, k: int) -> tuple[int, bool]:
    """Return the edge of a box along axis `k` through vertex `v`, and whether it runs along the axis."""
    low = v & ~(1 << k)
    high = low + (1 << k)
    for e in range(first, first + 12):
        if link[e, 0] == low and link[e, 1] == high:
            return e, True
        if link[e, 0] == high and link[e, 1] == low:
            return e, False
    return first, True


@inner_kernel
def box_edges(
    h_a: Vector, h_b: Vector, t: Vector, R: Matrix, link: IntArray, first_a: int, first_b: int
) -> tuple[float, int, int, float]:
    """Return the largest separation across an edge of each, these, and the normal's sign; -inf if all are parallel.

    `link` has the edges of both from rows `first_a` and `first_b` on. The normal is that sign times their cross
    product.
    """
    best, i_best, j_best, n_best, turned = -np.inf, 0, 0, (0.0, 0.0, 0.0), 1.0
    for j in range(3):
        x, y, z = (R[0], R[3], R[6]) if j == 0 else ((R[1], R[4], R[7]) if j == 1 else (R[2], R[5], R[8]))
        for i in range(3):
            m = _across(i, x, y, z)
            mm = dot(m, m)
            if mm <= 1e-20:
                continue
            u = R[0] * m[0] + R[3] * m[1] + R[6] * m[2]
            v = R[1] * m[0] + R[4] * m[1] + R[7] * m[2]
            w = R[2] * m[0] + R[5] * m[1] + R[8] * m[2]
            far = dot(m, t)
            a = abs(m[0]) * h_a[0] + abs(m[1]) * h_a[1] + abs(m[2]) * h_a[2]
            b = abs(u) * h_b[0] + abs(v) * h_b[1] + abs(w) * h_b[2]
            s = (abs(far) - a - b) / np.sqrt(mm)
            if s > best:
                best, i_best, j_best, turned = s, i, j, -1.0 if far < 0.0 else 1.0
                n_best = m
    if best == -np.inf:
        return best, first_a, first_b, 1.0
    n = (turned * n_best[0], turned * n_best[1], turned * n_best[2])
    u = R[0] * n[0] + R[3] * n[1] + R[6] * n[2]
    v = R[1] * n[0] + R[4] * n[1] + R[7] * n[2]
    w = R[2] * n[0] + R[5] * n[1] + R[8] * n[2]
    ka, along_a = _edge_row(link, first_a, _lowest(-n[0], -n[1], -n[2]), i_best)
    kb, along_b = _edge_row(link, first_b, _lowest(u, v, w), j_best)
    return best, ka, kb, turned if along_a == along_b else -turned
