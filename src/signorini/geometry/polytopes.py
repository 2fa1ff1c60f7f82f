"""Contacts of two polytopes, at least one of which has faces."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel
from signorini.geometry.manifold import clip_faces
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit, material_of
from signorini.geometry.separation import SIDE, best_face, load, touching_edges
from signorini.geometry.tables import BODY, BOUND, SIZE
from signorini.geometry.vectors import along, row
from signorini.math.rotation import multiply, rotate

# Distances that differ by less than this fraction of the bodies' size count as equal.
_EQUAL = 1e-12


@bare_kernel
def polytope_contacts(
    vertex: Array,
    plane: Array,
    link: IntArray,
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
    best, other = (
        best_face(vertex, plane, part, part[0, SIDE]),
        best_face(vertex, plane, part, part[1, SIDE]),
    )
    if max(best[0], other[0]) > limit:
        return 0
    if other[0] > best[0] + equal:
        best, other = other, best
    count, touch = 0, best
    for attempt in range(3):
        # Apart, a face is the answer if it has points as close as its plane: the best one, or that of the other body.
        # Else edges decide.
        if attempt == 2:
            touch = touching_edges(vertex, plane, link, part, near, best, limit, equal)
        else:
            touch = best if attempt == 0 else other
            if touch[0] <= 0.0:
                continue
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


@bare_kernel
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
    for side in range(2):
        s, x, e = i, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
        if side == 1:
            s, x = j, rotate(inverse, along(row(world, j), -1.0, row(world, i)))
            e = multiply(inverse, (world[j, 3], world[j, 4], world[j, 5], world[j, 6]))
        load(side, s, x, e, label, solid, vertex, plane, part)
    scale = shape[i, BOUND] + shape[j, BOUND]
    count = polytope_contacts(
        vertex,
        plane,
        link,
        part,
        near,
        limit,
        _EQUAL * scale,
        polygon,
        tag,
        point,
        feature,
    )
    count = reduce_points(point, feature, count, scale)
    return emit(
        made,
        count,
        i,
        j,
        material,
        r_a,
        r_b,
        label,
        world,
        point,
        feature,
        value,
        index,
    )
