"""Signed distance of two convex polytopes by an exact search over their features.

The faces of the Minkowski difference ``B - A`` are the faces of A, those of B (reversed) and the pairs of edges
whose arcs cross on the Gauss sphere. If the polytopes overlap, the least depth over these faces is the smallest
translation that parts them. If they are apart, the distance is that of a face if its foot lies inside (which the
clipping in :mod:`signorini.geometry.manifold` finds out), else the least over pairs of edges. Only edges that can lie
within the asked distance of the other body take part, which is few of them for shallow contacts.

Both polytopes lie in the tables `vertex` (n, 3) and `plane` (n, 4: normal, offset) in the frame of a; `part` says
where, a row for each. Normals point from a to b.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel
from signorini.geometry.segments import closest_on_segments
from signorini.geometry.tables import (
    EDGE_COUNT,
    EDGE_ROW,
    FACE_COUNT,
    FACE_ROW,
    LOOP_ROW,
    VERTEX_COUNT,
    VERTEX_ROW,
)
from signorini.geometry.tables import HALF_EDGES as HALF_EDGES_OF
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import cross, dot, matrix

SIDE, VERTEX, VERTICES, FACE, FACES, LOOP, EDGE, EDGES, HALF_EDGES, NEAR = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
)
"""Columns of `part`: 0 for a and 1 for b (read from here, as Numba compiles anew for each literal 0 or 1), first row
and number of vertices and planes, first row of the faces' loops, first row and number of edges, number of
half-edges, number of edges in the list of near ones."""

Touch = tuple[float, Vector, Vector, Vector, int, int]
"""Signed distance, normal, point on a, point on b, feature of a, feature of b."""


@bare_kernel
def load(
    side: int,
    i: int,
    p: Vector,
    e: tuple[float, float, float, float],
    label: IntArray,
    solid: Array,
    vertex: Array,
    plane: Array,
    part: IntArray,
) -> None:
    """Write the polytope of shape `i`, placed at `p`, `e`, as polytope a (side 0) or b (side 1)."""
    v0, f0 = label[i, VERTEX_ROW], label[i, FACE_ROW]
    part[side, SIDE] = side
    part[side, VERTEX] = side * (vertex.shape[0] // 2)
    part[side, VERTICES] = label[i, VERTEX_COUNT]
    part[side, FACE] = side * (plane.shape[0] // 2)
    part[side, FACES] = label[i, FACE_COUNT]
    part[side, LOOP] = label[i, LOOP_ROW]
    part[side, EDGE] = label[i, EDGE_ROW]
    part[side, EDGES] = label[i, EDGE_COUNT]
    part[side, HALF_EDGES] = label[i, HALF_EDGES_OF]
    R = matrix(e)
    for v in range(part[side, VERTICES]):
        x, y, z = solid[v0 + v, 0], solid[v0 + v, 1], solid[v0 + v, 2]
        for k in range(3):
            vertex[part[side, VERTEX] + v, k] = p[k] + (R[3 * k] * x + R[3 * k + 1] * y + R[3 * k + 2] * z)
    for f in range(part[side, FACES]):
        x, y, z = solid[f0 + f, 0], solid[f0 + f, 1], solid[f0 + f, 2]
        n = (
            R[0] * x + R[1] * y + R[2] * z,
            R[3] * x + R[4] * y + R[5] * z,
            R[6] * x + R[7] * y + R[8] * z,
        )
        for k in range(3):
            plane[part[side, FACE] + f, k] = n[k]
        plane[part[side, FACE] + f, 3] = solid[f0 + f, 3] + dot(n, p)


@bare_kernel
def best_face(vertex: Array, plane: Array, part: IntArray, side: int) -> Touch:
    """Return the touch of the other's vertices with that face of one polytope that parts them most."""
    v0, v1 = part[1 - side, VERTEX], part[1 - side, VERTEX] + part[1 - side, VERTICES]
    best, face, support = -np.inf, part[side, FACE], v0
    for f in range(part[side, FACE], part[side, FACE] + part[side, FACES]):
        nx, ny, nz = plane[f, 0], plane[f, 1], plane[f, 2]
        least, lowest = np.inf, v0
        for v in range(v0, v1):
            s = nx * vertex[v, 0] + ny * vertex[v, 1] + nz * vertex[v, 2]
            if s < least:
                least, lowest = s, v
        if least - plane[f, 3] > best:
            best, face, support = least - plane[f, 3], f, lowest
    x = row(vertex, support)
    if part[side, FACES] == 0:
        return best, x, x, x, 0, 0
    n = row(plane, face)
    foot = along(x, -best, n)
    if side == 0:
        return best, n, foot, x, 0, 1 + support - v0
    return best, (-n[0], -n[1], -n[2]), x, foot, 1 + support - v0, 0


@bare_kernel
def _edge(vertex: Array, link: IntArray, part: IntArray, side: int, k: int) -> tuple[Vector, Vector]:
    """Return start and extent of edge `k`."""
    a = row(vertex, part[side, VERTEX] + link[k, 0])
    return a, along(row(vertex, part[side, VERTEX] + link[k, 1]), -1.0, a)


@bare_kernel
def _feature(link: IntArray, part: IntArray, side: int, k: int, place: float) -> int:
    """Number the vertex (place 0 or 1) or else the edge itself: after vertices and half-edges."""
    if place == 0.0:
        return int(1 + link[k, 0])
    if place == 1.0:
        return int(1 + link[k, 1])
    return int(1 + part[side, VERTICES] + part[side, HALF_EDGES] + k - part[side, EDGE])


@bare_kernel
def _crossing_edges(vertex: Array, plane: Array, link: IntArray, part: IntArray, near: IntArray) -> Touch:
    """Return the largest separation over the listed pairs of edges whose arcs cross; -inf if there are none."""
    best, i_best, j_best, side_best = -np.inf, part[0, EDGE], part[1, EDGE], 0.0
    for i in range(part[0, NEAR]):
        ka = near[0, i]
        a, d = _edge(vertex, link, part, part[0, SIDE], ka)
        for j in range(part[1, NEAR]):
            kb = near[1, j]
            b, e = _edge(vertex, link, part, part[1, SIDE], kb)
            # Signs tell on which side of the great circle across the other edge each end of an arc lies. The arc of a
            # bare segment is the whole circle.
            out = 0.0
            if link[ka, 2] >= 0:
                out = dot(row(plane, part[0, FACE] + link[ka, 3]), e)
                if out * dot(row(plane, part[0, FACE] + link[ka, 2]), e) >= 0.0:
                    continue
            if link[kb, 2] >= 0:
                out_b = dot(row(plane, part[1, FACE] + link[kb, 3]), d)
                if out_b * dot(row(plane, part[1, FACE] + link[kb, 2]), d) >= 0.0 or out * out_b < 0.0:
                    continue
                out = out_b
            m = cross(d, e)
            mm = dot(m, m)
            if mm <= 1e-20 * dot(d, d) * dot(e, e):
                continue
            # Outward for a is e x (n_f x n_g) = n_f (n_g . e) - n_g (n_f . e) if n_g . e > 0; n_f x n_g is along d.
            side = -1.0 if out > 0.0 else 1.0
            s = side * dot(m, along(b, -1.0, a)) / np.sqrt(mm)
            if s > best:
                best, i_best, j_best, side_best = s, ka, kb, side
    a, d = _edge(vertex, link, part, part[0, SIDE], i_best)
    b, e = _edge(vertex, link, part, part[1, SIDE], j_best)
    if best == -np.inf:
        return best, d, a, b, 0, 0
    m = cross(d, e)
    mm = dot(m, m)
    f = side_best / np.sqrt(mm)
    n = (f * m[0], f * m[1], f * m[2])
    p = along(a, dot(cross(along(b, -1.0, a), e), m) / mm, d)
    feature_a = _feature(link, part, part[0, SIDE], i_best, 0.5)
    return (
        best,
        n,
        p,
        along(p, best, n),
        feature_a,
        _feature(link, part, part[1, SIDE], j_best, 0.5),
    )


@bare_kernel
def _closest_edges(vertex: Array, link: IntArray, part: IntArray, near: IntArray, n: Vector) -> Touch:
    """Return the least distance over the listed pairs of edges; `n` is the normal if that distance is nothing."""
    least, i_best, j_best, s_best, t_best = (
        np.inf,
        part[0, EDGE],
        part[1, EDGE],
        0.0,
        0.0,
    )
    for i in range(part[0, NEAR]):
        a, d = _edge(vertex, link, part, part[0, SIDE], near[0, i])
        for j in range(part[1, NEAR]):
            b, e = _edge(vertex, link, part, part[1, SIDE], near[1, j])
            s, t, squared = closest_on_segments(a, d, b, e)
            if squared < least:
                least, i_best, j_best, s_best, t_best = (
                    squared,
                    near[0, i],
                    near[1, j],
                    s,
                    t,
                )
    a, d = _edge(vertex, link, part, part[0, SIDE], i_best)
    b, e = _edge(vertex, link, part, part[1, SIDE], j_best)
    p, q = along(a, s_best, d), along(b, t_best, e)
    # The normal is across the edges inside which the closest points lie: so it keeps its digits however close they are.
    inside_a, inside_b = 0.0 < s_best < 1.0, 0.0 < t_best < 1.0
    x = along(q, -1.0, p)
    if inside_a and inside_b:
        m = cross(d, e)
        x = m if dot(m, x) >= 0.0 else (-m[0], -m[1], -m[2])
    elif inside_a or inside_b:
        m = d if inside_a else e
        x = along(x, -dot(x, m) / dot(m, m), m)
    length = np.sqrt(dot(x, x))
    if length > 0.0 and np.isfinite(length):
        n = (x[0] / length, x[1] / length, x[2] / length)
    feature_a = _feature(link, part, part[0, SIDE], i_best, s_best)
    return (
        np.sqrt(least),
        n,
        p,
        q,
        feature_a,
        _feature(link, part, part[1, SIDE], j_best, t_best),
    )


@bare_kernel
def touching_edges(
    vertex: Array,
    plane: Array,
    link: IntArray,
    part: IntArray,
    near: IntArray,
    face: Touch,
    limit: float,
    equal: float,
) -> Touch:
    """Return the touch of two edges if it says more than that of the best face, else the latter."""
    # Edges further than this from the other body's supporting plane cannot be what touches.
    within = max(-face[0], limit) + equal
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        n = (sign * face[1][0], sign * face[1][1], sign * face[1][2])
        level = dot(n, face[3] if side == 0 else face[2]) - within
        part[side, NEAR] = 0
        for k in range(part[side, EDGE], part[side, EDGE] + part[side, EDGES]):
            a, d = _edge(vertex, link, part, side, k)
            if dot(n, a) + max(dot(n, d), 0.0) >= level:
                near[side, part[side, NEAR]] = k
                part[side, NEAR] += 1
    touch = face
    if touch[0] <= 0.0:
        crossing = _crossing_edges(vertex, plane, link, part, near)
        if crossing[0] > touch[0] + equal:
            touch = crossing
    if touch[0] > 0.0:
        closest = _closest_edges(vertex, link, part, near, touch[1])
        # In touch, a face or two edges tell the normal; the direction between two closest points would not.
        if closest[0] > touch[0] + equal:
            touch = closest
    return touch
