"""Contacts of two polytopes, at least one of which has faces."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.geometry.manifold import clip_faces
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit, material_of
from signorini.geometry.separation import SIDE, best_face, load, touching_edges
from signorini.geometry.vectors import along, row
from signorini.math.rotation import multiply, rotate
from signorini.model.shapes import ShapeKind

POLYGON = int(ShapeKind.POLYGON)
# Distances that differ by less than this fraction of the bodies' size count as equal.
_EQUAL = 1e-12


@inner_kernel
def polytope_contacts(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    loop: IntArray,
    loop_start: IntArray,
    part: IntArray,
    near: IntArray,
    limit: float,
    equal: float,
    polygon: Array,
    tag: IntArray,
    point: Array,
    feature: IntArray,
) -> int:
    """Write the contacts of the loaded polytopes with gaps up to `limit`; return how many.

    Distances that differ by less than `equal` count as equal: the first candidate wins, and rounding decides nothing.
    """
    best, other = best_face(vertex, plane, part, part[0, SIDE]), best_face(vertex, plane, part, part[1, SIDE])
    if max(best[0], other[0]) > limit:
        return 0
    if other[0] > best[0] + equal:
        best, other = other, best
    count, touch = 0, best
    for attempt in range(3):
        # Apart, a face is the answer if it has points as close as its plane: the best one, or that of the other body.
        # Else edges decide.
        if attempt == 2:
            touch = touching_edges(vertex, plane, edge, part, near, best, limit, equal)
        else:
            touch = best if attempt == 0 else other
            if touch[0] <= 0.0:
                continue
        if touch[0] > limit:
            return 0
        count, least = clip_faces(vertex, plane, part, loop, loop_start, touch[1], limit, polygon, tag, point, feature)
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


@kernel
def polytope_pairs(
    kind: IntArray,
    body: IntArray,
    parameter: Array,
    hull: IntArray,
    bound: Array,
    hull_vertex: Array,
    vertex_start: IntArray,
    face_normal: Array,
    face_offset: Array,
    face_start: IntArray,
    loop: IntArray,
    loop_start: IntArray,
    edge: IntArray,
    edge_start: IntArray,
    pair: IntArray,
    pair_material: IntArray,
    reach: Array,
    frame: Array,
    found: IntArray,
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
    made: IntArray,
) -> None:
    """Write the contacts of rounded polytopes among the pairs `found`, up to the first negative key.

    They become the rows from ``made[0]`` on. Keys of other pairs, and of those alone, are moved to the front of
    `found`, followed by -1. The tables from `vertex` to `feature` are scratch memory.
    """
    n_s = body.size
    others = 0
    for c in range(found.size):
        if found[c] < 0:
            break
        i, j = found[c] // n_s, found[c] % n_s
        if max(kind[i], kind[j]) > POLYGON:
            found[others] = found[c]
            others += 1
            continue
        material = material_of(body[i], body[j], reach.size, pair, pair_material)
        if material < 0:
            continue
        r_a, r_b = parameter[i, 0], parameter[j, 0]
        limit = reach[body[i]] + reach[body[j]] + r_a + r_b
        e_i = (frame[i, 3], frame[i, 4], frame[i, 5], frame[i, 6])
        inverse = (e_i[0], -e_i[1], -e_i[2], -e_i[3])
        origin = (0.0, 0.0, 0.0)
        for side in range(2):
            h, x, e = hull[i], origin, (1.0, 0.0, 0.0, 0.0)
            if side == 1:
                h, x = hull[j], rotate(inverse, along(row(frame, j), -1.0, row(frame, i)))
                e = multiply(inverse, (frame[j, 3], frame[j, 4], frame[j, 5], frame[j, 6]))
            load(
                side,
                h,
                x,
                e,
                hull_vertex,
                vertex_start,
                face_normal,
                face_offset,
                face_start,
                loop_start,
                edge_start,
                vertex,
                plane,
                part,
            )
        scale = bound[i] + bound[j]
        count = polytope_contacts(
            vertex, plane, edge, loop, loop_start, part, near, limit, _EQUAL * scale, polygon, tag, point, feature
        )
        count = reduce_points(point, feature, count, scale)
        back = count < 0  # never; a literal False would make Numba compile once more
        emit(count, found[c], back, e_i, origin, r_a, r_b, body, material, frame, point, feature, value, index, made)
    if others < found.size:
        found[others] = -1
