"""Contacts of two rounded polytopes, at least one of which has faces."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import kernel
from signorini.geometry.manifold import clip_faces
from signorini.geometry.reduction import reduce_points
from signorini.geometry.separation import Touch, best_face, closest_edges, crossing_edges, load, near_edges
from signorini.geometry.segments import Point, along
from signorini.geometry.workspace import Workspace
from signorini.math.rotation import Vector, dot, multiply, rotate, unrotate
from signorini.model.shapes import Hulls, ShapeArrays

# Distances that differ by less than this fraction of the size are equal: the first candidate wins.
_EQUAL = 1e-10


@kernel
def polytope_contacts(
    shapes: ShapeArrays, hulls: Hulls, i: int, j: int, x: Vector, e_i: Array, e_j: Array, margin: float, work: Workspace
) -> int:
    """Write the contacts of shapes i and j; return how many.

    `x` is the origin of shape j seen from that of i, world axes.
    """
    ha, hb = shapes.hull[i], shapes.hull[j]
    r_a, r_b = shapes.size[i, 0], shapes.size[j, 0]
    relative = multiply((e_i[0], -e_i[1], -e_i[2], -e_i[3]), e_j)
    load(hulls, hb, unrotate(e_i, x), relative, work)
    scale = shapes.bound[i] + shapes.bound[j]
    count, n = _contacts_in_frame(hulls, ha, hb, margin + r_a + r_b, _EQUAL * scale, work)
    point = work.point
    for c in range(count):
        for k in range(3):
            point[c, 6 + k] = n[k]
    count = reduce_points(point, work.feature, count, n, scale)
    n = rotate(e_i, n)
    for c in range(count):
        a = rotate(e_i, (point[c, 0], point[c, 1], point[c, 2]))
        b = rotate(e_i, (point[c, 3], point[c, 4], point[c, 5]))
        for k in range(3):
            point[c, k] = a[k] + r_a * n[k]
            point[c, 3 + k] = b[k] - r_b * n[k]
            point[c, 6 + k] = n[k]
        point[c, 9] -= r_a + r_b
    return count


@kernel
def _contacts_in_frame(
    hulls: Hulls, ha: int, hb: int, limit: float, equal: float, work: Workspace
) -> tuple[int, Point]:
    """Find normal and contacts of the bare polytopes in the frame of a."""
    from_a, from_b = _faces_of_a(hulls, ha, hb, work), _faces_of_b(hulls, ha, hb, work)
    best, other = (from_a, from_b) if from_a[0] >= from_b[0] - equal else (from_b, from_a)
    if max(from_a[0], from_b[0]) > limit or not best[0] > -np.inf:
        return 0, best[1]
    if best[0] > 0.0:
        # Apart: a face is the answer if it has points as close as its plane.
        for candidate in (best, other):
            if candidate[0] > 0.0:
                count, least = clip_faces(hulls, ha, hb, candidate[1], limit, work)
                if least <= candidate[0] + equal:
                    return count, candidate[1]
    touch = _touching_edges(hulls, ha, hb, best, limit, equal, work)
    if touch[0] > limit:
        return 0, touch[1]
    count, least = clip_faces(hulls, ha, hb, touch[1], limit, work)
    if not least <= touch[0] + equal:  # the faces do not hold the closest points
        for k in range(3):
            work.point[count, k] = touch[2][k]
            work.point[count, 3 + k] = touch[3][k]
        work.point[count, 9] = touch[0]
        work.feature[count, 0] = touch[4]
        work.feature[count, 1] = touch[5]
        count += 1
    return count, touch[1]


@kernel
def _faces_of_a(hulls: Hulls, ha: int, hb: int, work: Workspace) -> Touch:
    """Return the touch of b's vertices with the best face of a."""
    s, f, v = best_face(
        hulls.face_normal, hulls.face_offset, hulls.face_start[ha], hulls.face_start[ha + 1],
        work.vertex, 0, hulls.vertex_start[hb + 1] - hulls.vertex_start[hb],
    )
    if f < 0:
        return s, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0, 0
    n = (hulls.face_normal[f, 0], hulls.face_normal[f, 1], hulls.face_normal[f, 2])
    return s, n, along(work.vertex[v], -s, n), along(work.vertex[v], 0.0, n), 0, 1 + v


@kernel
def _faces_of_b(hulls: Hulls, ha: int, hb: int, work: Workspace) -> Touch:
    """Return the touch of a's vertices with the best face of b."""
    v0 = hulls.vertex_start[ha]
    s, f, v = best_face(
        work.normal, work.offset, 0, hulls.face_start[hb + 1] - hulls.face_start[hb],
        hulls.vertex, v0, hulls.vertex_start[ha + 1],
    )
    if f < 0:
        return s, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0, 0
    n = (-work.normal[f, 0], -work.normal[f, 1], -work.normal[f, 2])
    return s, n, along(hulls.vertex[v], 0.0, n), along(hulls.vertex[v], s, n), 1 + v - v0, 0


@kernel
def _touching_edges(
    hulls: Hulls, ha: int, hb: int, face: Touch, limit: float, equal: float, work: Workspace
) -> Touch:
    """Return the touch of two edges if that is closer to the truth than the best face."""
    s, n = face[0], face[1]
    # Edges further than this from the other body's supporting plane cannot be what touches.
    within = max(-s, limit) + equal
    bottom, top = dot(n, face[3]), dot(n, face[2])
    back = (-n[0], -n[1], -n[2])
    count_a = near_edges(hulls, ha, hulls.vertex, hulls.vertex_start[ha], n, bottom - within, 0, work)
    count_b = near_edges(hulls, hb, work.vertex, 0, back, -top - within, 1, work)
    if s <= 0.0:
        crossing = crossing_edges(hulls, ha, hb, count_a, count_b, work)
        if crossing[0] <= s + equal:
            return face
        if crossing[0] <= 0.0:
            return crossing
        face = crossing
    closest = closest_edges(hulls, ha, hb, count_a, count_b, work, face[1])
    # Bodies in touch: a face or two edges tell the normal, the direction between their closest points does not.
    return closest if closest[0] > face[0] + equal else face
