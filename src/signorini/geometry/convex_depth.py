"""Depth of two overlapping convex solids from their support points, by an expanding polytope.

The least translation that parts two solids is the least distance from the origin to a supporting plane of the
difference ``D = B - A``. A polytope inside D, with corners on its surface, gives a bound from below by its nearest face
and one from above by the supporting plane along that face's normal, which also gives the next corner.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.convex_distance import Nearest, on_triangle
from signorini.geometry.solids import separation
from signorini.geometry.vectors import Vector, across, along, row
from signorini.math.rotation import cross, dot

MAX_CORNERS = 120
MAX_FACES = 2 * MAX_CORNERS
# Faces of which the new corner sees less than this, as part of the size of D, stay: rounding must not tear the surface.
_VISIBLE = 1e-13


@inner_kernel
def _set_corner(corner: Array, c: int, a: Vector, b: Vector) -> None:
    """Write corner `c`: the difference of the points, and both."""
    for k in range(3):
        corner[c, k] = b[k] - a[k]
        corner[c, 3 + k] = a[k]
        corner[c, 6 + k] = b[k]


@inner_kernel
def foot(corner: Array, face: IntArray, f: int) -> tuple[Vector, Vector]:
    """Return the points of both solids whose difference is the point of face `f` nearest to the origin."""
    w = on_triangle(row(corner, face[f, 0]), row(corner, face[f, 1]), row(corner, face[f, 2]))
    a, b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for m in range(3):
        c = face[f, m]
        a = along(a, w[m], (corner[c, 3], corner[c, 4], corner[c, 5]))
        b = along(b, w[m], (corner[c, 6], corner[c, 7], corner[c, 8]))
    return a, b


@inner_kernel
def _set_face(corner: Array, face: IntArray, wall: Array, f: int, i: int, j: int, k: int) -> None:
    """Write face `f` with the corners i, j, k, counter-clockwise from outside, and its plane."""
    face[f, 0], face[f, 1], face[f, 2] = i, j, k
    p = row(corner, i)
    d, e = along(row(corner, j), -1.0, p), along(row(corner, k), -1.0, p)
    m = cross(d, e)
    length = np.sqrt(dot(m, m))
    if length > 1e-14 * np.sqrt(dot(d, d) * dot(e, e)):
        m = (m[0] / length, m[1] / length, m[2] / length)
        wall[f, 3] = dot(m, p)
    else:  # no area: never the nearest, never seen
        m = (0.0, 0.0, 0.0)
        wall[f, 3] = np.inf
    wall[f, 0], wall[f, 1], wall[f, 2] = m


@inner_kernel
def _expand(corner: Array, face: IntArray, wall: Array, edge: IntArray, faces: int, c: int, visible: float) -> int:
    """Replace the faces that corner `c` sees by a fan around it; return the new number of faces."""
    x = row(corner, c)
    edges, f = 0, 0
    while f < faces:
        if dot(row(wall, f), x) - wall[f, 3] > visible:
            for k in range(3):
                i, j = face[f, k], face[f, (k + 1) % 3]
                other = 0
                while other < edges and (edge[other, 0] != j or edge[other, 1] != i):
                    other += 1
                if other < edges:  # seen from both sides: inside the hole
                    edges -= 1
                    edge[other, 0], edge[other, 1] = edge[edges, 0], edge[edges, 1]
                else:
                    edge[edges, 0], edge[edges, 1] = i, j
                    edges += 1
            faces -= 1
            for k in range(3):
                face[f, k] = face[faces, k]
            for k in range(4):
                wall[f, k] = wall[faces, k]
        else:
            f += 1
    for k in range(edges):
        if faces < face.shape[0]:
            _set_face(corner, face, wall, faces, edge[k, 0], edge[k, 1], c)
            faces += 1
    return faces


@inner_kernel
def _tetrahedron(vertex: Array, part: IntArray, solid: Array, start: Vector, corner: Array) -> tuple[Nearest, int]:
    """Write four corners on the surface of D that span a volume; return the best touch met on the way, and four."""
    best: Nearest = (-np.inf, start, start, start)
    n, found, t, o = start, 0, start, start
    for k in range(8):
        if k == 2:  # across the first two corners
            d = along(row(corner, 1), -1.0, row(corner, 0))
            f = 1.0 / np.sqrt(dot(d, d))
            t, o = across((f * d[0], f * d[1], f * d[2]))
        if k == 6:  # across the first three
            m = cross(along(row(corner, 1), -1.0, row(corner, 0)), along(row(corner, 2), -1.0, row(corner, 0)))
            f = 1.0 / np.sqrt(dot(m, m))
            t = (f * m[0], f * m[1], f * m[2])
        n = start if k < 2 else (o if 4 <= k <= 5 else t)
        if k % 2 == 1:
            n = (-n[0], -n[1], -n[2])
        s, a, b = separation(vertex, part, solid, n)
        if s > best[0]:
            best = (s, n, a, b)
        x = along(b, -1.0, a)
        if k < 2:
            found = k
        else:
            found = 2 if k < 6 else 3
            first = k % 4 == 2
            if not first and _off(corner, found, x) <= _off(corner, found, row(corner, found)):
                continue
        _set_corner(corner, found, a, b)
    return best, found + 1


@inner_kernel
def _off(corner: Array, count: int, x: Vector) -> float:
    """Return how far `x` is off the line of the first two corners, or the plane of the first three, in some unit."""
    d, e = along(row(corner, 1), -1.0, row(corner, 0)), along(x, -1.0, row(corner, 0))
    m = cross(d, e)
    if count == 2:
        return dot(m, m)
    return abs(dot(m, along(row(corner, 2), -1.0, row(corner, 0))))


@inner_kernel
def deepest_points(
    vertex: Array,
    part: IntArray,
    solid: Array,
    start: Vector,
    tolerance: float,
    scale: float,
    corner: Array,
    face: IntArray,
    wall: Array,
    edge: IntArray,
) -> tuple[Nearest, int]:
    """Return separation (negative), normal and closest points of two solids that touch or overlap, and a number.

    The separation is wrong by at most `tolerance` if the polytope has corners enough: the number is that of its faces
    if not, else none. The separation is positive if a direction shows that the solids are apart. `start` is a guess of
    the normal.
    """
    best, corners = _tetrahedron(vertex, part, solid, start, corner)
    d = along(row(corner, 1), -1.0, row(corner, 0))
    m = cross(d, along(row(corner, 2), -1.0, row(corner, 0)))
    flip = 1 if dot(m, along(row(corner, 3), -1.0, row(corner, 0))) > 0.0 else 0
    faces = corners - 4  # none, but no literal, for which Numba would compile anew
    for k in range(4):  # the face without corner k
        i, j, l = (k + 1) % 4, (k + 2) % 4, (k + 3) % 4
        if (k + flip) % 2 == 1:
            _set_face(corner, face, wall, faces, i, j, l)
        else:
            _set_face(corner, face, wall, faces, i, l, j)
        faces += 1
    while corners < corner.shape[0]:
        nearest = faces - 1
        for f in range(faces):
            if wall[f, 3] < wall[nearest, 3]:
                nearest = f
        u, bound = row(wall, nearest), wall[nearest, 3]
        if not bound < np.inf:
            return best, corners - corners
        n = (-u[0], -u[1], -u[2])
        s, a, b = separation(vertex, part, solid, n)
        # Of directions that are equally good the latest, whose face tells best where the points lie.
        if s > best[0] - tolerance:
            foot_a, foot_b = foot(corner, face, nearest)
            best = (max(s, best[0]), n, foot_a, foot_b)
        if -best[0] - bound <= tolerance or -s - bound <= _VISIBLE * scale:
            return best, corners - corners
        _set_corner(corner, corners, a, b)
        faces = _expand(corner, face, wall, edge, faces, corners, _VISIBLE * scale)
        corners += 1
    return best, faces
