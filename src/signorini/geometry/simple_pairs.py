"""Narrow phase of the pairs with closed forms: half-space and any shape, spheres and capsules."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.geometry.planes import above_plane, emit_on_plane
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit, material_of
from signorini.geometry.segments import round_contacts
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot, rotate
from signorini.model.shapes import ShapeKind

CAPSULE = int(ShapeKind.CAPSULE)
"""The largest of the kinds (half-space, sphere, capsule) that have no faces."""
POLYGON = int(ShapeKind.POLYGON)
"""The largest of the kinds that are rounded polytopes."""


@inner_kernel
def half_space_contacts(
    n: Vector, height: float, vertex: Array, first: int, last: int, margin: float, point: Array, feature: IntArray
) -> int:
    """Write the contacts of a half-space a and a polytope b in the axes of b; return how many.

    Parameters
    ----------
    n : normal of the plane, in the axes of b
    height : of b's origin above the plane [m]
    vertex, first, last : table of vertices and the rows of b
    """
    count = 0
    for v in range(first, last):
        x = row(vertex, v)
        gap = height + dot(n, x)
        if gap <= margin:
            for k in range(3):
                point[count, k] = x[k] - gap * n[k]
                point[count, 3 + k] = x[k]
                point[count, 6 + k] = n[k]
            point[count, 9] = gap
            feature[count, 0] = 0
            feature[count, 1] = 1 + v - first
            count += 1
    return count


@kernel
def simple_pairs(
    kind: IntArray,
    body: IntArray,
    parameter: Array,
    hull: IntArray,
    bound: Array,
    vertex: Array,
    vertex_start: IntArray,
    pair: IntArray,
    pair_material: IntArray,
    reach: Array,
    frame: Array,
    found: IntArray,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
    made: IntArray,
) -> None:
    """Write the contacts of the pairs `found` to the rows from ``made[0]`` on.

    Keys of other pairs, and of those alone, are moved to the front of `found`, followed by -1.
    """
    n_s = body.size
    others = 0
    for c in range(found.size):
        i, j = found[c] // n_s, found[c] % n_s
        plane_first, plane_last = hull[i] < 0, hull[j] < 0
        round_both = kind[i] <= CAPSULE and kind[j] <= CAPSULE
        if max(kind[i], kind[j]) > POLYGON or not (plane_first or plane_last or round_both):
            found[others] = found[c]
            others += 1
            continue
        material = material_of(body[i], body[j], reach.size, pair, pair_material)
        if material < 0:
            continue
        margin = reach[body[i]] + reach[body[j]]
        if plane_first or plane_last:  # last: when it belongs to the later body
            p, o = (i, j) if plane_first else (j, i)
            m, n, height = above_plane(parameter, frame, p, o)
            h, r_b = hull[o], parameter[o, 0]
            count = half_space_contacts(
                n, height, vertex, vertex_start[h], vertex_start[h + 1], margin + r_b, point, feature
            )
            count = reduce_points(point, feature, count, bound[o])
            emit_on_plane(
                count, found[c], plane_last, m, r_b, body, material, frame, point, feature, value, index, made
            )
            continue
        # points are seen from the origin of shape i, for more digits
        origin, x = (0.0, 0.0, 0.0), along(row(frame, j), -1.0, row(frame, i))
        d_i = rotate((frame[i, 3], frame[i, 4], frame[i, 5], frame[i, 6]), (0.0, 0.0, 2.0 * parameter[i, 1]))
        d_j = rotate((frame[j, 3], frame[j, 4], frame[j, 5], frame[j, 6]), (0.0, 0.0, 2.0 * parameter[j, 1]))
        e, r_a, r_b = (1.0, 0.0, 0.0, 0.0), parameter[i, 0], parameter[j, 0]
        a, b = along(origin, -0.5, d_i), along(x, -0.5, d_j)
        count = round_contacts(a, d_i, b, d_j, margin + r_a + r_b, r_a + r_b, point, feature)
        emit(
            count, found[c], plane_last, e, origin, r_a, r_b, body, material, frame, point, feature, value, index, made
        )
    if others < found.size:
        found[others] = -1
