"""Signed distance of two convex polytopes by an exact search over their features.

The faces of the Minkowski difference ``B - A`` are the faces of A, those of B (reversed) and the pairs of edges
whose arcs cross on the Gauss sphere. If the polytopes overlap, the least depth over these faces is the smallest
translation that parts them. If they are apart, the distance is that of a face if its foot lies inside (which the
clipping in :mod:`signorini.geometry.manifold` finds out), else :mod:`signorini.geometry.edges` finds it. Only edges
that can lie within the asked distance of the other body take part, which is few of them for shallow contacts.

Both polytopes lie in the tables `vertex` (n, 3) and `plane` (n, 4: normal, offset) in the frame of a; `part` says
where, a row for each. Normals point from a to b.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.boxes import Matrix
from signorini.geometry.sphere_polytopes import on_face
from signorini.geometry.tables import EDGE_COUNT, EDGE_ROW, FACE_COUNT, FACE_ROW, LOOP_ROW, VERTEX_COUNT, VERTEX_ROW
from signorini.geometry.tables import HALF_EDGES as HALF_EDGES_OF
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot

SIDE, VERTEX, VERTICES, FACE, FACES, LOOP, EDGE, EDGES, HALF_EDGES, NEAR = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
"""Columns of `part`: 0 for a and 1 for b (read from here, as Numba compiles anew for each literal 0 or 1), first row
and number of vertices and planes, first row of the faces' loops, first row and number of edges, number of
half-edges, number of edges in the list of near ones."""

Touch = tuple[float, Vector, Vector, Vector, int, int]
"""Signed distance, normal, point on a, point on b, feature of a, feature of b."""


@inner_kernel
def load(
    side: int, i: int, p: Vector, R: Matrix, label: IntArray, solid: Array, vertex: Array, plane: Array, part: IntArray
) -> None:
    """Write the polytope of shape `i`, placed at `p` and turned by `R`, as polytope a (side 0) or b (side 1)."""
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
    for v in range(part[side, VERTICES]):
        x, y, z = solid[v0 + v, 0], solid[v0 + v, 1], solid[v0 + v, 2]
        for k in range(3):
            vertex[part[side, VERTEX] + v, k] = p[k] + (R[3 * k] * x + R[3 * k + 1] * y + R[3 * k + 2] * z)
    for f in range(part[side, FACES]):
        x, y, z = solid[f0 + f, 0], solid[f0 + f, 1], solid[f0 + f, 2]
        n = (R[0] * x + R[1] * y + R[2] * z, R[3] * x + R[4] * y + R[5] * z, R[6] * x + R[7] * y + R[8] * z)
        for k in range(3):
            plane[part[side, FACE] + f, k] = n[k]
        plane[part[side, FACE] + f, 3] = solid[f0 + f, 3] + dot(n, p)


@inner_kernel
def height_above(vertex: Array, plane: Array, f: int, v: int) -> float:
    """Return the height of a vertex above a plane."""
    return float(plane[f, 0] * vertex[v, 0] + plane[f, 1] * vertex[v, 1] + plane[f, 2] * vertex[v, 2] - plane[f, 3])


@inner_kernel
def best_face(vertex: Array, plane: Array, part: IntArray, side: int, limit: float) -> tuple[float, int, int]:
    """Return how far that face of one polytope that parts them most does so, its row, and the other's lowest vertex.

    The first of equal ones counts. Faces that part them by more than `limit` end the search.
    """
    v0, v1 = part[1 - side, VERTEX], part[1 - side, VERTEX] + part[1 - side, VERTICES]
    f0, f1 = part[side, FACE], part[side, FACE] + part[side, FACES]
    best, face, support = -np.inf, f0, v0
    # One that looks at some vertex is a good guess: others are then given up at their first vertex below it.
    for f in range(f0, f1):
        s = height_above(vertex, plane, f, v0)
        if s > best:
            best, face = s, f
    guess = face
    if f1 > f0:
        for v in range(v0, v1):
            s = height_above(vertex, plane, guess, v)
            if s < best:
                best, support = s, v
    for f in range(f0, f1):
        if best > limit:
            break
        if f == guess:
            continue
        least, lowest = np.inf, v0
        for v in range(v0, v1):
            s = height_above(vertex, plane, f, v)
            if s < least:
                least, lowest = s, v
                if s < best:
                    break
        if least > best or (least == best and f < face):
            best, face, support = least, f, lowest
    return best, face, support


@inner_kernel
def face_touch(vertex: Array, plane: Array, part: IntArray, side: int, best: float, face: int, support: int) -> Touch:
    """Return the touch of the other's vertex with a face of one polytope."""
    x, n = row(vertex, support), row(plane, face)
    foot, name = along(x, -best, n), 1 + support - part[1 - side, VERTEX]
    if side == 0:
        return best, n, foot, x, 0, name
    return best, (-n[0], -n[1], -n[2]), x, foot, name, 0


@inner_kernel
def face_may_hold(
    vertex: Array,
    plane: Array,
    part: IntArray,
    link: IntArray,
    side: int,
    best: float,
    face: int,
    support: int,
    equal: float,
) -> bool:
    """Tell whether the closest points may lie on a face: not if the lowest vertex is alone and its foot outside.

    It is not alone if others are only a thousandth of the size higher: faces that are nearly parallel may hold points
    as close as the vertex, to rounding.
    """
    other = 1 - side
    for v in range(part[other, VERTEX], part[other, VERTEX] + part[other, VERTICES]):
        if v != support and height_above(vertex, plane, face, v) <= best + 1e9 * equal:
            return True
    loop = part[side, LOOP] + face - part[side, FACE]
    if link[loop, 1] == 2:
        return True
    return on_face(vertex, link, part[side, VERTEX], loop, row(plane, face), row(vertex, support), 1e4 * equal)
