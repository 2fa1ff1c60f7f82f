"""Signed distance of two convex polytopes by an exact search over their features.

The faces of the Minkowski difference ``B - A`` are the faces of A, those of B (reversed) and the pairs of edges
whose arcs cross on the Gauss sphere. If the polytopes overlap, the least depth over these faces is the smallest
translation that parts them. If they are apart, the distance is that of a face if its foot lies inside (which the
clipping in :mod:`signorini.geometry.manifold` finds out), else the least over pairs of edges. Only edges that can lie
within the asked distance of the other body take part, which is few of them for shallow contacts.

All in the frame of a; normals point from a to b.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import kernel
from signorini.geometry.segments import Point, along, closest_parameters, subtract
from signorini.geometry.workspace import Workspace
from signorini.math.rotation import Vector, cross, dot, rotate
from signorini.model.shapes import Hulls

Touch = tuple[float, Point, Point, Point, int, int]
"""Signed distance, normal, point on a, point on b, feature of a, feature of b."""


@kernel
def load(hulls: Hulls, h: int, p: Vector, e: Vector, work: Workspace) -> None:
    """Write vertices and face planes of hull `h`, placed at `p`, `e` in the frame of a."""
    v0, f0 = hulls.vertex_start[h], hulls.face_start[h]
    for v in range(hulls.vertex_start[h + 1] - v0):
        x = rotate(e, hulls.vertex[v0 + v])
        for k in range(3):
            work.vertex[v, k] = p[k] + x[k]
    for f in range(hulls.face_start[h + 1] - f0):
        n = rotate(e, hulls.face_normal[f0 + f])
        for k in range(3):
            work.normal[f, k] = n[k]
        work.offset[f] = hulls.face_offset[f0 + f] + dot(n, p)


@kernel
def best_face(
    normal: Array, offset: Array, f0: int, f1: int, vertex: Array, v0: int, v1: int
) -> tuple[float, int, int]:
    """Return the largest separation of the vertices from one of the faces, that face and the vertex (rows)."""
    best, face, support = -np.inf, -1, -1
    for f in range(f0, f1):
        least, v_least = np.inf, -1
        for v in range(v0, v1):
            s = normal[f, 0] * vertex[v, 0] + normal[f, 1] * vertex[v, 1] + normal[f, 2] * vertex[v, 2]
            if s < least:
                least, v_least = s, v
        if least - offset[f] > best:
            best, face, support = least - offset[f], f, v_least
    return best, face, support


@kernel
def near_edges(
    hulls: Hulls, h: int, vertex: Array, v0: int, n: Vector, level: float, side: int, work: Workspace
) -> int:
    """List the edges that reach the height `level` along `n`, as row `side` of the table; return how many."""
    count = 0
    for k in range(hulls.edge_start[h], hulls.edge_start[h + 1]):
        v, w = v0 + hulls.edge[k, 0], v0 + hulls.edge[k, 1]
        if max(dot(n, vertex[v]), dot(n, vertex[w])) >= level:
            work.edges[side, count] = k
            count += 1
    return count


@kernel
def _edge_feature(hulls: Hulls, h: int, edge: int, place: float) -> int:
    """Number the vertex (place 0 or 1) or the edge itself: after vertices and half-edges."""
    v0, f0, f1 = hulls.vertex_start[h], hulls.face_start[h], hulls.face_start[h + 1]
    if place == 0.0:
        return 1 + hulls.edge[edge, 0]
    if place == 1.0:
        return 1 + hulls.edge[edge, 1]
    half_edges = hulls.loop_start[f1] - hulls.loop_start[f0]
    return 1 + hulls.vertex_start[h + 1] - v0 + half_edges + edge - hulls.edge_start[h]


@kernel
def crossing_edges(hulls: Hulls, ha: int, hb: int, count_a: int, count_b: int, work: Workspace) -> Touch:
    """Return the largest separation over the listed pairs of edges whose arcs cross; minus infinity if there are none."""
    none = (0.0, 0.0, 0.0)
    best, n_best, p_best, q_best, ka_best, kb_best = -np.inf, none, none, none, 0, 0
    va, fa = hulls.vertex_start[ha], hulls.face_start[ha]
    for i in range(count_a):
        ka = work.edges[0, i]
        a = hulls.vertex[va + hulls.edge[ka, 0]]
        d = subtract(hulls.vertex[va + hulls.edge[ka, 1]], a)
        f, g = hulls.edge[ka, 2], hulls.edge[ka, 3]
        for j in range(count_b):
            kb = work.edges[1, j]
            b = work.vertex[hulls.edge[kb, 0]]
            e = subtract(work.vertex[hulls.edge[kb, 1]], b)
            f_b, g_b = hulls.edge[kb, 2], hulls.edge[kb, 3]
            # Signs tell on which side of the great circle across the other edge each end of an arc lies. The arc of a
            # bare segment is the whole circle.
            out = 0.0
            if f >= 0:
                from_a, to_a = dot(hulls.face_normal[fa + f], e), dot(hulls.face_normal[fa + g], e)
                if from_a * to_a >= 0.0:
                    continue
                out = to_a
            if f_b >= 0:
                from_b, to_b = dot(work.normal[f_b], d), dot(work.normal[g_b], d)
                if from_b * to_b >= 0.0 or from_b * out > 0.0:
                    continue
                if f < 0:
                    out = -from_b
            m = cross(d, e)
            length = np.sqrt(dot(m, m))
            if length <= 1e-10 * np.sqrt(dot(d, d) * dot(e, e)):
                continue
            # Outward for a is e x (n_f x n_g) = n_f (n_g . e) - n_g (n_f . e) if n_g . e > 0; n_f x n_g is along d.
            side = -1.0 if out > 0.0 else 1.0
            n = (side * m[0] / length, side * m[1] / length, side * m[2] / length)
            x = subtract(b, a)
            s = dot(n, x)
            if s > best:
                mm = length * length
                p = along(a, dot(cross(x, e), m) / mm, d)
                best, n_best, p_best, q_best, ka_best, kb_best = s, n, p, along(p, s, n), ka, kb
    return (
        best, n_best, p_best, q_best, _edge_feature(hulls, ha, ka_best, 0.5), _edge_feature(hulls, hb, kb_best, 0.5)
    )


@kernel
def closest_edges(hulls: Hulls, ha: int, hb: int, count_a: int, count_b: int, work: Workspace, n: Point) -> Touch:
    """Return the least distance over the listed pairs of edges; `n` is the normal if that distance is nothing."""
    none = (0.0, 0.0, 0.0)
    least, p, q, ka_best, kb_best, s_best, t_best = np.inf, none, none, 0, 0, 0.0, 0.0
    m = none
    va = hulls.vertex_start[ha]
    for i in range(count_a):
        ka = work.edges[0, i]
        a = hulls.vertex[va + hulls.edge[ka, 0]]
        d = subtract(hulls.vertex[va + hulls.edge[ka, 1]], a)
        for j in range(count_b):
            kb = work.edges[1, j]
            b = work.vertex[hulls.edge[kb, 0]]
            e = subtract(work.vertex[hulls.edge[kb, 1]], b)
            s, t, squared = closest_parameters(a, d, b, e)
            if squared < least:
                least, ka_best, kb_best, s_best, t_best = squared, ka, kb, s, t
                p, q = along(a, s, d), along(b, t, e)
                m = cross(d, e) if 0.0 < s < 1.0 and 0.0 < t < 1.0 else none
    distance = np.sqrt(least)
    x = subtract(q, p)
    length = np.sqrt(dot(m, m))
    if length > 0.0:  # two lines: their common normal keeps all digits however close they are
        side = 1.0 if dot(m, x) > 0.0 or (dot(m, x) == 0.0 and dot(m, n) > 0.0) else -1.0
        n = (side * m[0] / length, side * m[1] / length, side * m[2] / length)
    elif distance > 0.0 and distance < np.inf:
        n = (x[0] / distance, x[1] / distance, x[2] / distance)
    return (
        distance, n, p, q, _edge_feature(hulls, ha, ka_best, s_best), _edge_feature(hulls, hb, kb_best, t_best)
    )
