"""Narrow phase of the pairs with closed forms: half-space and any shape, spheres and capsules."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit, material_of
from signorini.geometry.segments import round_contacts
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot, rotate

CAPSULE = 2
"""The largest of the kinds (half-space, sphere, capsule) that have no faces."""


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
        if not (plane_first or plane_last or (kind[i] <= CAPSULE and kind[j] <= CAPSULE)):
            found[others] = found[c]
            others += 1
            continue
        material = material_of(body[i], body[j], reach.size, pair, pair_material)
        if material < 0:
            continue
        margin = reach[body[i]] + reach[body[j]]
        e_i = (frame[i, 3], frame[i, 4], frame[i, 5], frame[i, 6])
        e_j = (frame[j, 3], frame[j, 4], frame[j, 5], frame[j, 6])
        x = along(row(frame, j), -1.0, row(frame, i))  # points are seen from the origin of shape i, for more digits
        if plane_first or plane_last:  # last: when it belongs to the later body
            p, o, e_p, e_o = (i, j, e_i, e_j) if plane_first else (j, i, e_j, e_i)
            m = rotate(e_p, (parameter[p, 1], parameter[p, 2], parameter[p, 3]))
            height = (dot(m, x) if plane_first else -dot(m, x)) - parameter[p, 0]
            n = rotate((e_o[0], -e_o[1], -e_o[2], -e_o[3]), m)
            h = hull[o]
            count = half_space_contacts(
                n, height, vertex, vertex_start[h], vertex_start[h + 1], margin + parameter[o, 0], point, feature
            )
            count = reduce_points(point, feature, count, bound[o])
            e, x, r_a, r_b = e_o, (x if plane_first else (0.0, 0.0, 0.0)), 0.0, parameter[o, 0]
        else:
            d_i = rotate(e_i, (0.0, 0.0, 2.0 * parameter[i, 1]))
            d_j = rotate(e_j, (0.0, 0.0, 2.0 * parameter[j, 1]))
            e, r_a, r_b = (1.0, 0.0, 0.0, 0.0), parameter[i, 0], parameter[j, 0]
            a, b = along((0.0, 0.0, 0.0), -0.5, d_i), along(x, -0.5, d_j)
            count = round_contacts(a, d_i, b, d_j, margin + r_a + r_b, r_a + r_b, point, feature)
            x = (0.0, 0.0, 0.0)
            m = x
        emit(count, found[c], plane_last, e, x, r_a, r_b, body, material, frame, point, feature, value, index, made)
        if plane_first or plane_last:  # the plane's own normal, without the rounding of turning it there and back
            for r in range(made[0] - count, made[0]):
                for k in range(3):
                    value[r, 6 + k] = m[k] if plane_first else -m[k]
    if others < found.size:
        found[others] = -1
