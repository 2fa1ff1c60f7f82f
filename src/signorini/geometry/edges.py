"""Touch of two polytopes between edges and vertices, where no face decides.

Overlapping, a pair of edges whose arcs cross on the Gauss sphere may be a shorter way out than any face. Apart, such a
pair holds the closest points, or else a vertex of one polytope and an edge or vertex of the other do. The polytopes lie
in the tables of :mod:`signorini.geometry.separation`.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.boxes import Matrix, box_edges
from signorini.geometry.segments import place_on
from signorini.geometry.separation import (
    EDGE,
    EDGES,
    FACE,
    FACES,
    HALF_EDGES,
    LOOP,
    NEAR,
    SIDE,
    VERTEX,
    VERTICES,
    Touch,
    height_above,
)
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import cross, dot

Boxes = tuple[bool, Vector, Vector, Vector, Matrix]
"""Whether both are boxes, and if so their half lengths and where b is, as :mod:`signorini.geometry.boxes` sees them."""


@inner_kernel
def _edge(vertex: Array, link: IntArray, part: IntArray, side: int, k: int) -> tuple[Vector, Vector]:
    """Return start and extent of edge `k`."""
    a = row(vertex, part[side, VERTEX] + link[k, 0])
    return a, along(row(vertex, part[side, VERTEX] + link[k, 1]), -1.0, a)


@inner_kernel
def _feature(link: IntArray, part: IntArray, side: int, k: int, place: float) -> int:
    """Number the vertex (place 0 or 1) or else the edge itself: after vertices and half-edges."""
    if place == 0.0:
        return int(1 + link[k, 0])
    if place == 1.0:
        return int(1 + link[k, 1])
    return int(1 + part[side, VERTICES] + part[side, HALF_EDGES] + k - part[side, EDGE])


@inner_kernel
def _crossing_edges(
    vertex: Array, plane: Array, link: IntArray, part: IntArray, near: IntArray, packed: Array
) -> tuple[float, int, int, float]:
    """Return the largest separation over the listed pairs of edges whose arcs cross, these, and the normal's sign.

    The separation is -inf if there are none. `packed` (4 n, 3) is scratch memory for the edges of b.
    """
    best, i_best, j_best, side_best = -np.inf, part[0, EDGE], part[1, EDGE], 0.0
    face_a, face_b, count = part[0, FACE], part[1, FACE], part[1, NEAR]
    bare_a, bare_b = part[0, FACES] == 0, part[1, FACES] == 0
    for j in range(count):
        kb = near[1, j]
        b, e = _edge(vertex, link, part, part[1, SIDE], kb)
        n_f, n_g = e, e
        if not bare_b:
            n_f, n_g = row(plane, face_b + link[kb, 2]), row(plane, face_b + link[kb, 3])
        for k in range(3):
            packed[4 * j, k] = b[k]
            packed[4 * j + 1, k] = e[k]
            packed[4 * j + 2, k] = n_f[k]
            packed[4 * j + 3, k] = n_g[k]
    for i in range(part[0, NEAR]):
        ka = near[0, i]
        a, d = _edge(vertex, link, part, part[0, SIDE], ka)
        n_f, n_g = d, d
        if not bare_a:
            n_f, n_g = row(plane, face_a + link[ka, 2]), row(plane, face_a + link[ka, 3])
        for j in range(count):
            # Signs tell on which side of the great circle across the other edge each end of an arc lies. The arc of a
            # bare segment is the whole circle.
            e = row(packed, 4 * j + 1)
            out, back = dot(n_g, e), dot(n_f, e)
            out_b, back_b = dot(row(packed, 4 * j + 3), d), dot(row(packed, 4 * j + 2), d)
            if bare_a:
                out, back = out_b, back_b
            if bare_b:
                out_b, back_b = out, back
            if (out * back >= 0.0) | (out_b * back_b >= 0.0) | (out * out_b < 0.0):
                continue
            m = cross(d, e)
            mm = dot(m, m)
            if mm <= 1e-20 * dot(d, d) * dot(e, e):
                continue
            # Outward for a is e x (n_f x n_g) = n_f (n_g . e) - n_g (n_f . e) if n_g . e > 0; n_f x n_g is along d.
            side = -1.0 if out > 0.0 else 1.0
            s = side * dot(m, along(row(packed, 4 * j), -1.0, a)) / np.sqrt(mm)
            if s > best:
                best, i_best, j_best, side_best = s, ka, near[1, j], side
    return best, i_best, j_best, side_best


@inner_kernel
def _crossing_touch(
    vertex: Array, link: IntArray, part: IntArray, s: float, ka: int, kb: int, sign: float
) -> tuple[Touch, bool]:
    """Return the touch of two edges whose arcs cross, and whether its points lie inside of both."""
    a, d = _edge(vertex, link, part, part[0, SIDE], ka)
    b, e = _edge(vertex, link, part, part[1, SIDE], kb)
    m, x = cross(d, e), along(b, -1.0, a)
    mm = dot(m, m)
    f = sign / np.sqrt(mm)
    n = (f * m[0], f * m[1], f * m[2])
    on_a, on_b = dot(cross(x, e), m) / mm, dot(cross(x, d), m) / mm
    p = along(a, on_a, d)
    feature_a = _feature(link, part, part[0, SIDE], ka, 0.5)
    feature_b = _feature(link, part, part[1, SIDE], kb, 0.5)
    return (s, n, p, along(p, s, n), feature_a, feature_b), 0.0 < on_a < 1.0 and 0.0 < on_b < 1.0


@inner_kernel
def _closest_vertex(vertex: Array, link: IntArray, part: IntArray, near: IntArray, face: Touch, within: float) -> Touch:
    """Return the least distance of vertices of one polytope from listed edges of the other.

    Only vertices up to `within` from the other body's supporting plane across the normal of `face` take part; it serves
    if the distance is nothing.
    """
    least, v_best, k_best, place, side_best = np.inf, 0, part[0, EDGE], 0.0, part[0, SIDE]
    for side in range(2):
        other = 1 - side
        n, level = _slab(face, side, within)
        for v in range(part[side, VERTICES]):
            x = row(vertex, part[side, VERTEX] + v)
            if dot(n, x) < level:
                continue
            for i in range(part[other, NEAR]):
                a, d = _edge(vertex, link, part, other, near[other, i])
                t = min(max(place_on(x, a, d), 0.0), 1.0)
                y = along(along(x, -1.0, a), -t, d)
                squared = dot(y, y)
                if squared < least:
                    least, v_best, k_best, place, side_best = squared, v, near[other, i], t, side
    a, d = _edge(vertex, link, part, 1 - side_best, k_best)
    p, q = row(vertex, part[side_best, VERTEX] + v_best), along(a, place, d)
    x = along(q, -1.0, p)
    if 0.0 < place < 1.0:  # across the edge: so it keeps its digits however close the points are
        x = along(x, -dot(x, d) / dot(d, d), d)
    length = np.sqrt(dot(x, x))
    sign = 1.0 if side_best == 0 else -1.0
    n = face[1]
    if length > 0.0 and np.isfinite(length):
        n = (sign * x[0] / length, sign * x[1] / length, sign * x[2] / length)
    name, edge_name = 1 + v_best, _feature(link, part, 1 - side_best, k_best, place)
    if side_best == 0:
        return np.sqrt(least), n, p, q, name, edge_name
    return np.sqrt(least), n, q, p, edge_name, name


@inner_kernel
def _slab(face: Touch, side: int, within: float) -> tuple[Vector, float]:
    """Return the direction from one side to the other, and how far along it points lie that are at most `within` away.

    The distance is that from the plane across the normal of `face` that supports the other body.
    """
    n = face[1]
    if side == 0:
        return n, dot(n, face[3]) - within
    n = (-n[0], -n[1], -n[2])
    return n, dot(n, face[2]) - within


@inner_kernel
def upper_bound(vertex: Array, link: IntArray, part: IntArray, side: int, face: int, support: int) -> float:
    """Return the distance of the other's lowest vertex from the sides of a face of one polytope."""
    loop = part[side, LOOP] + face - part[side, FACE]
    first, count = link[loop, 0], link[loop, 1]
    x = row(vertex, support)
    a = row(vertex, part[side, VERTEX] + link[first + count - 1, 0])
    least = np.inf
    for k in range(first, first + count):
        b = row(vertex, part[side, VERTEX] + link[k, 0])
        d = along(b, -1.0, a)
        y = along(along(x, -1.0, a), -min(max(place_on(x, a, d), 0.0), 1.0), d)
        least = min(least, dot(y, y))
        a = b
    return float(np.sqrt(least))


@inner_kernel
def _list_near(
    vertex: Array,
    plane: Array,
    link: IntArray,
    part: IntArray,
    near: IntArray,
    face: Touch,
    within: float,
    seen: tuple[int, int],
    height: Array,
) -> None:
    """List the edges that may touch.

    They are up to `within` from the other body's supporting plane across the normal of `face`. And between the normals
    of their faces there are directions along which a vertex of the other body, ``seen`` from a and from b, is not
    deeper inside than `face` says. `height` (n, ...) is scratch memory.
    """
    deep = min(face[0], 0.0)
    for side in range(2):
        n, level = _slab(face, side, within)
        count, at, first, last = 0, part[side, VERTEX], part[side, FACE], near.shape[1] - 1
        for f in range(part[side, FACES]):
            height[f, 0] = height_above(vertex, plane, first + f, seen[0] if side == 0 else seen[1])
        for k in range(part[side, EDGE], part[side, EDGE] + part[side, EDGES]):
            high = max(dot(n, row(vertex, at + link[k, 0])), dot(n, row(vertex, at + link[k, 1])))
            # A segment has no faces and a planar side is its own, which say nothing about its ends.
            f, g = max(link[k, 2], 0), max(link[k, 3], 0)
            facing = (f == g) | (height[f, 0] > deep) | (height[g, 0] > deep)
            near[side, min(count, last)] = k  # without a branch, which the processor could not foresee
            count += 1 if (high >= level) & facing else 0
        part[side, NEAR] = count


@inner_kernel
def touching_edges(
    vertex: Array,
    plane: Array,
    link: IntArray,
    part: IntArray,
    near: IntArray,
    face: Touch,
    seen: tuple[int, int],
    bound: float,
    equal: float,
    boxes: Boxes,
    memory: Array,
) -> Touch:
    """Return the touch of edges or vertices if it says more than that of the best face, else the latter.

    The polytopes are known to be no farther apart than `bound`, or not looked at if they are. ``seen`` are the vertices
    of b and of a (rows) that their best faces see, `memory` (4 n, 3) is scratch memory.
    """
    # Edges further than this from the other body's supporting plane cannot be what touches.
    within = max(-face[0], bound) + equal
    if boxes[0]:
        crossing = box_edges(boxes[1], boxes[2], boxes[3], boxes[4], link, part[0, EDGE], part[1, EDGE])
    else:
        _list_near(vertex, plane, link, part, near, face, within, seen, memory)
        crossing = _crossing_edges(vertex, plane, link, part, near, memory)
    touch = face
    s, ka, kb, sign = crossing
    if s > touch[0] + equal:
        # Overlapping, that is the shorter way out. Apart, a plane parts them further than any face does, and points
        # that face each other across it are the closest.
        edges, inside = _crossing_touch(vertex, link, part, s, ka, kb, sign)
        if touch[0] <= 0.0 or inside:
            touch = edges
        if inside:
            return touch
    if touch[0] > 0.0:
        if boxes[0]:
            _list_near(vertex, plane, link, part, near, face, within, seen, memory)
        closest = _closest_vertex(vertex, link, part, near, face, within)
        # In touch, a face or two edges tell the normal; the direction between two closest points would not.
        if closest[0] > touch[0] + equal:
            touch = closest
    return touch
