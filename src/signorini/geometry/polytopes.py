"""Contacts of two polytopes, at least one of which has faces."""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.boxes import box_faces
from signorini.geometry.edges import Boxes, touching_edges, upper_bound
from signorini.geometry.manifold import clip_faces
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit, material_of
from signorini.geometry.separation import FACE, FACES, LOOP, SIDE, VERTEX, best_face, face_may_hold, face_touch, load
from signorini.geometry.tables import BODY, BOUND, BOX, SIZE
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot, matrix, multiply, rotate

# Distances that differ by less than this fraction of the bodies' size count as equal.
_EQUAL = 1e-12
# Edges that are nearer to each other than so many of these touch: the way between them is rounding.
_TOUCHING = 1e3
# Faces whose normals differ by less are parallel (half the square of the angle).
_PARALLEL = 1e-9

Faces = tuple[float, int, int, float, int, int]
"""Of a: how far its best face parts the polytopes, that face and the vertex of b above it; then the same of b."""


@inner_kernel
def _has_opposite(plane: Array, part: IntArray, side: int, n: Vector) -> bool:
    """Tell whether a face of one polytope looks against `n`."""
    found = False
    for f in range(part[side, FACE], part[side, FACE] + part[side, FACES]):
        found = found or dot(row(plane, f), n) < _PARALLEL - 1.0
    return found


@inner_kernel
def _edges_meet(plane: Array, part: IntArray, faces: Faces, equal: float) -> bool:
    """Tell whether the polytopes may touch edge to edge, where all normals between those of two faces would do.

    Not where faces of both lie in one plane, as of bricks in rows: that is the plane in which they touch.
    """
    s_a, face_a, _, s_b, face_b, _ = faces
    if max(abs(s_a), abs(s_b)) > _TOUCHING * equal:
        return False
    n_a, n_b = row(plane, face_a), row(plane, face_b)
    return not (_has_opposite(plane, part, part[1, SIDE], n_a) or _has_opposite(plane, part, part[0, SIDE], n_b))


@inner_kernel
def _normal_between(n_a: Vector, n_b: Vector) -> Vector:
    """Return the normal halfway between that of a face of a and that against a face of b."""
    x = (n_a[0] - n_b[0], n_a[1] - n_b[1], n_a[2] - n_b[2])
    size = math.sqrt(dot(x, x))
    return (x[0] / size, x[1] / size, x[2] / size)


@inner_kernel
def polytope_contacts(
    vertex: Array,
    plane: Array,
    link: IntArray,
    part: IntArray,
    near: IntArray,
    faces: Faces,
    boxes: Boxes,
    limit: float,
    equal: float,
    polygon: Array,
    tag: IntArray,
    point: Array,
    feature: IntArray,
) -> int:
    """Write the contacts of the loaded polytopes with gaps up to `limit`; return how many.

    Distances that differ by less than `equal` count as equal: the first candidate wins, and rounding decides nothing.
    Where edges touch the normal is halfway between those that would do, so that what is symmetric stays so.
    """
    a, b = part[0, SIDE], part[1, SIDE]
    s_a, face_a, support_b, s_b, face_b, support_a = faces
    b_first = s_b > s_a + equal
    count = 0
    if _edges_meet(plane, part, faces, equal):
        n = _normal_between(row(plane, face_a), row(plane, face_b))
        count, _ = clip_faces(vertex, plane, part, link, n, limit, polygon, tag, point, feature)
        ends = 2 if link[part[0, LOOP] + face_a - part[0, FACE], 1] > 2 else 1  # of an edge; in the plane it is a point
        for r in range(count):
            ends -= 1 if abs(point[r, 9]) <= 2.0 * _TOUCHING * equal else 0
        if ends <= 0:
            return count
    if b_first:
        best = face_touch(vertex, plane, part, b, s_b, face_b, support_a)
    else:
        best = face_touch(vertex, plane, part, a, s_a, face_a, support_b)
    touch = best
    for attempt in range(3):
        # Apart, a face is the answer if it has points as close as its plane: the best one, or that of the other body.
        # Else edges decide.
        if attempt == 2:
            side, face, support = (b, face_b, support_a) if b_first else (a, face_a, support_b)
            bound = min(limit, upper_bound(vertex, link, part, side, face, support))
            seen = (support_b, support_a)
            touch = touching_edges(vertex, plane, link, part, near, best, seen, bound, equal, boxes, polygon)
        else:
            side, s, face, support = a, s_a, face_a, support_b
            if b_first == (attempt == 0):
                side, s, face, support = b, s_b, face_b, support_a
            if s <= 0.0 or not face_may_hold(vertex, plane, part, link, side, s, face, support, equal):
                continue
            touch = face_touch(vertex, plane, part, side, s, face, support)
        if touch[0] > limit:
            return 0
        count, least = clip_faces(vertex, plane, part, link, touch[1], limit, polygon, tag, point, feature)
        if least <= touch[0] + equal:
            return count
    # The faces do not hold the closest points.
    r = 0
    while r < count and (feature[r, 0] != touch[4] or feature[r, 1] != touch[5]):
        r += 1
    for k in range(3):
        point[r, k] = touch[2][k]
        point[r, 3 + k] = touch[3][k]
        point[r, 6 + k] = touch[1][k]
    point[r, 9] = touch[0]
    feature[r, 0] = touch[4]
    feature[r, 1] = touch[5]
    return max(count, r + 1)


@inner_kernel
def polytope_pair(
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
    vertex: Array,
    plane: Array,
    part: IntArray,
    near: IntArray,
    polygon: Array,
    tag: IntArray,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Write the contacts of shapes ``i < j`` to the rows from `made` on; return the number of rows then.

    The tables from `vertex` to `feature` are scratch memory.
    """
    material = material_of(label[i, BODY], label[j, BODY], reach.size, pair)
    if material < 0:
        return made
    r_a, r_b = shape[i, SIZE], shape[j, SIZE]
    limit = reach[label[i, BODY]] + reach[label[j, BODY]] + r_a + r_b
    inverse = (world[i, 3], -world[i, 4], -world[i, 5], -world[i, 6])
    t = rotate(inverse, along(row(world, j), -1.0, row(world, i)))
    R = matrix(multiply(inverse, (world[j, 3], world[j, 4], world[j, 5], world[j, 6])))
    h_a = (shape[i, SIZE + 1], shape[i, SIZE + 2], shape[i, SIZE + 3])
    h_b = (shape[j, SIZE + 1], shape[j, SIZE + 2], shape[j, SIZE + 3])
    boxes = (label[i, BOX] + label[j, BOX] == 2, h_a, h_b, t, R)
    faces: Faces = (-np.inf, 0, 0, -np.inf, 0, 0)
    if boxes[0]:
        faces = box_faces(h_a, h_b, t, R)
        if max(faces[0], faces[3]) > limit:
            return made
    a = i - i  # no literal, for which Numba would compile anew
    load(a, i, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), label, solid, vertex, plane, part)
    load(a + 1, j, t, R, label, solid, vertex, plane, part)
    v_a, f_a, v_b, f_b = part[0, VERTEX], part[0, FACE], part[1, VERTEX], part[1, FACE]
    if boxes[0]:  # rows instead of numbers
        faces = (faces[0], f_a + faces[1], v_b + faces[2], faces[3], f_b + faces[4], v_a + faces[5])
    else:
        s_a, face_a, support_b = best_face(vertex, plane, part, part[0, SIDE], limit)
        if s_a > limit:
            return made
        s_b, face_b, support_a = best_face(vertex, plane, part, part[1, SIDE], limit)
        if s_b > limit:
            return made
        faces = (s_a, face_a, support_b, s_b, face_b, support_a)
    scale = shape[i, BOUND] + shape[j, BOUND]
    count = polytope_contacts(
        vertex, plane, link, part, near, faces, boxes, limit, _EQUAL * scale, polygon, tag, point, feature
    )
    count = reduce_points(point, feature, count, scale)
    return emit(made, count, i, j, material, r_a, r_b, label, world, point, feature, value, index)
