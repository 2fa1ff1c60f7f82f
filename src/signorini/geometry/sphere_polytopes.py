"""Narrow phase of a sphere and a convex polyhedron, in closed form.

The centre belongs to the face that it is farthest above if its foot lies on that face, or if it is inside; otherwise to
the nearest of the edges of all faces that see it. A box needs no search.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.rows import material_of, name_row
from signorini.geometry.simple_pairs import SPHERE
from signorini.geometry.tables import (
    BODY,
    BOUND,
    BOX,
    EDGE_COUNT,
    EDGE_ROW,
    FACE_COUNT,
    FACE_ROW,
    KIND,
    LOOP_ROW,
    SIZE,
    VERTEX_ROW,
)
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import cross, dot, rotate

# As part of the bodies' size: distances that differ by less count as equal, and a foot this far outside is inside.
_EQUAL = 1e-12

Foot = tuple[float, Vector, Vector]
"""Signed distance of a point from a polyhedron, outward normal there, and the point of the surface."""


@inner_kernel
def _on_box(h: Vector, p: Vector) -> Foot:
    """Return where the box with half lengths `h` about the origin is nearest to `p`."""
    c = (min(max(p[0], -h[0]), h[0]), min(max(p[1], -h[1]), h[1]), min(max(p[2], -h[2]), h[2]))
    d = along(p, -1.0, c)
    distance = np.sqrt(dot(d, d))
    if distance > 0.0:
        return distance, (d[0] / distance, d[1] / distance, d[2] / distance), c
    x, y, z = abs(p[0]) - h[0], abs(p[1]) - h[1], abs(p[2]) - h[2]
    s = max(x, y, z)
    n = (0.0, 0.0, 1.0 if p[2] > 0.0 else -1.0)
    if x == s:
        n = (1.0 if p[0] > 0.0 else -1.0, 0.0, 0.0)
    elif y == s:
        n = (0.0, 1.0 if p[1] > 0.0 else -1.0, 0.0)
    return s, n, along(p, -s, n)


@inner_kernel
def on_face(solid: Array, link: IntArray, first_vertex: int, face: int, n: Vector, x: Vector, beyond: float) -> bool:
    """Tell whether the foot of `x` on a face, row `face` of `link`, lies inside its loop, or outside by `beyond`."""
    first, count = link[face, 0], link[face, 1]
    a = row(solid, first_vertex + link[first + count - 1, 0])
    for k in range(first, first + count):
        b = row(solid, first_vertex + link[k, 0])
        m = cross(along(b, -1.0, a), n)
        s = dot(m, along(x, -1.0, a))
        if s > 0.0 and s * s > beyond * beyond * dot(m, m):
            return False
        a = b
    return True


@inner_kernel
def _on_hull(
    label: IntArray, solid: Array, link: IntArray, o: int, p: Vector, limit: float, equal: float, height: Array
) -> Foot:
    """Return where the polyhedron of shape `o` is nearest to `p`; beyond `limit` only that it is beyond.

    `height` (n, ...) gets the heights of `p` above all faces.
    """
    f0, faces = label[o, FACE_ROW], label[o, FACE_COUNT]
    best, face = -np.inf, 0
    for f in range(faces):
        s = p[0] * solid[f0 + f, 0] + p[1] * solid[f0 + f, 1] + p[2] * solid[f0 + f, 2] - solid[f0 + f, 3]
        height[f, 0] = s
        if s > best:
            best, face = s, f
    n = row(solid, f0 + face)
    foot = along(p, -best, n)
    v0 = label[o, VERTEX_ROW]
    if best <= 0.0 or best > limit or on_face(solid, link, v0, label[o, LOOP_ROW] + face, n, p, equal):
        return best, n, foot
    least, nearest, place = np.inf, label[o, EDGE_ROW], 0.0
    for k in range(label[o, EDGE_ROW], label[o, EDGE_ROW] + label[o, EDGE_COUNT]):
        if max(height[link[k, 2], 0], height[link[k, 3], 0]) > 0.0:
            a = row(solid, v0 + link[k, 0])
            d, x = along(row(solid, v0 + link[k, 1]), -1.0, a), along(p, -1.0, a)
            t = min(max(dot(x, d) / dot(d, d), 0.0), 1.0)
            x = along(x, -t, d)
            squared = dot(x, x)
            if squared < least:
                least, nearest, place = squared, k, t
    distance = np.sqrt(least)
    # In touch, the face tells the normal; the direction between two close points would not.
    if not distance > best + equal:
        return best, n, foot
    a = row(solid, v0 + link[nearest, 0])
    d = along(row(solid, v0 + link[nearest, 1]), -1.0, a)
    foot = along(a, place, d)
    x = along(p, -1.0, foot)
    if 0.0 < place < 1.0:  # across the edge, so that it keeps its digits however close the point is
        x = along(x, -dot(x, d) / dot(d, d), d)
    length = np.sqrt(dot(x, x))
    if length > 0.0:
        n = (x[0] / length, x[1] / length, x[2] / length)
    return distance, n, foot


@inner_kernel
def sphere_polytope_pair(
    made: int,
    i: int,
    j: int,
    shape: Array,
    label: IntArray,
    solid: Array,
    link: IntArray,
    pair: IntArray,
    reach: Array,
    world: Array,
    work: Array,
    value: Array,
    index: IntArray,
) -> int:
    """Write the contact of shapes ``i < j``, a sphere and a polyhedron, as row `made`; return the number of rows."""
    sphere_last = label[j, KIND] == SPHERE
    s, o = (j, i) if sphere_last else (i, j)
    r = shape[s, SIZE]
    limit = reach[label[i, BODY]] + reach[label[j, BODY]] + r
    e = (world[o, 3], world[o, 4], world[o, 5], world[o, 6])
    p = rotate((e[0], -e[1], -e[2], -e[3]), along(row(world, s), -1.0, row(world, o)))
    if label[o, BOX] == 1:
        distance, n, foot = _on_box((shape[o, SIZE + 1], shape[o, SIZE + 2], shape[o, SIZE + 3]), p)
    else:
        equal = _EQUAL * (shape[i, BOUND] + shape[j, BOUND])
        distance, n, foot = _on_hull(label, solid, link, o, p, limit, equal, work)
    if not distance <= limit:
        return made
    material = material_of(label[i, BODY], label[j, BODY], reach.size, pair)
    if material < 0:
        return made
    if made < value.shape[0]:
        n, foot = rotate(e, n), rotate(e, foot)
        face, centre = material - material, material - material + 1  # no literals, for which Numba would compile anew
        f_i, f_j = (face, centre) if sphere_last else (centre, face)
        t = name_row(made, made, i, j, f_i, f_j, material, label, value, index)
        on_sphere, on_solid, sign = (3, 0, 1.0) if sphere_last else (0, 3, -1.0)
        for k in range(3):
            value[t, on_solid + k] = world[o, k] + foot[k]
            value[t, on_sphere + k] = world[s, k] - r * n[k]
            value[t, 6 + k] = sign * n[k]
        value[t, 9] = distance - r
    return made + 1
