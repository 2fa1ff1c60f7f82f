"""Narrow phase of the pairs with closed forms: half-space and any shape, spheres and capsules."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.planes import above_plane
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit_on_plane, material_of, name_row
from signorini.geometry.segments import MIDDLE, round_contacts
from signorini.geometry.tables import BODY, BOUND, KIND, SIZE, VERTEX_COUNT, VERTEX_ROW
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot, rotate
from signorini.model.shapes import ShapeKind

HALF_SPACE = int(ShapeKind.HALF_SPACE)
SPHERE = int(ShapeKind.SPHERE)
CAPSULE = int(ShapeKind.CAPSULE)
"""The largest of the kinds (half-space, sphere, capsule) that have no faces."""
HULL = int(ShapeKind.HULL)
POLYGON = int(ShapeKind.POLYGON)
"""The largest of the kinds that are rounded polytopes."""
_OUTSIDE = 1.0 + 1e-9  # rounding must not part what touches


@inner_kernel
def is_simple(low: int, high: int) -> bool:
    """Tell whether :func:`simple_pair` knows the pair of kinds ``low <= high``."""
    return high <= CAPSULE or (low == HALF_SPACE and high <= POLYGON)


@inner_kernel
def _half_space_contacts(
    n: Vector, height: float, solid: Array, first: int, last: int, margin: float, point: Array, feature: IntArray
) -> int:
    """Write the contacts of a half-space a and a polytope b in the axes of b; return how many.

    Parameters
    ----------
    n : normal of the plane, in the axes of b
    height : of b's origin above the plane [m]
    solid, first, last : table of vertices and the rows of b
    """
    count = 0
    for v in range(first, last):
        gap = height + (n[0] * solid[v, 0] + n[1] * solid[v, 1] + n[2] * solid[v, 2])
        if gap <= margin:
            for k in range(3):
                point[count, 3 + k] = solid[v, k]
                point[count, 6 + k] = n[k]
            point[count, 9] = gap
            feature[count, 0] = 0
            feature[count, 1] = 1 + v - first
            count += 1
    return count


@inner_kernel
def _axis(shape: Array, world: Array, i: int) -> Vector:
    """Return the straight part of a capsule; nothing of a sphere."""
    return rotate((world[i, 3], world[i, 4], world[i, 5], world[i, 6]), (0.0, 0.0, 2.0 * shape[i, SIZE + 1]))


@inner_kernel
def out_of_reach(shape: Array, label: IntArray, q: Array, reach: Array, i: int, j: int) -> bool:
    """Tell whether the balls about both bodies that contain shapes i and j are too far apart."""
    a, b = label[i, BODY], label[j, BODY]
    x, y, z = q[b, 0] - q[a, 0], q[b, 1] - q[a, 1], q[b, 2] - q[a, 2]
    both = shape[i, BOUND] + shape[j, BOUND] + reach[a] + reach[b]
    return bool(x * x + y * y + z * z > _OUTSIDE * both * both)


@inner_kernel
def sphere_pair(
    made: int,
    i: int,
    j: int,
    shape: Array,
    label: IntArray,
    pair: IntArray,
    reach: Array,
    world: Array,
    value: Array,
    index: IntArray,
) -> int:
    """Do the work of :func:`simple_pair` for two spheres."""
    r_a, r_b = shape[i, SIZE], shape[j, SIZE]
    x = along(row(world, j), -1.0, row(world, i))
    distance = np.sqrt(dot(x, x))
    if not distance <= reach[label[i, BODY]] + reach[label[j, BODY]] + r_a + r_b:
        return made
    material = material_of(label[i, BODY], label[j, BODY], reach.size, pair)
    if material < 0:
        return made
    if made < value.shape[0]:
        n = (x[0] / distance, x[1] / distance, x[2] / distance) if distance > 1e-150 else (1.0, 0.0, 0.0)
        middle = made - made + MIDDLE  # no literal, for which Numba would compile anew
        r = name_row(made, made, i, j, middle, middle, material, label, value, index)
        for k in range(3):
            value[r, k] = world[i, k] + r_a * n[k]
            value[r, 3 + k] = world[i, k] + (x[k] - r_b * n[k])
            value[r, 6 + k] = n[k]
        value[r, 9] = distance - r_a - r_b
    return made + 1


@inner_kernel
def simple_pair(
    made: int,
    i: int,
    j: int,
    shape: Array,
    label: IntArray,
    solid: Array,
    pair: IntArray,
    reach: Array,
    world: Array,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Write the contacts of shapes ``i < j`` to the rows from `made` on; return the number of rows then."""
    material = material_of(label[i, BODY], label[j, BODY], reach.size, pair)
    if material < 0:
        return made
    margin = reach[label[i, BODY]] + reach[label[j, BODY]]
    if min(label[i, KIND], label[j, KIND]) == HALF_SPACE:
        plane_last = label[j, KIND] == HALF_SPACE  # when it belongs to the later body
        p, o = (j, i) if plane_last else (i, j)
        m, n, height = above_plane(shape, world, p, o)
        radius, first = shape[o, SIZE], label[o, VERTEX_ROW]
        count = _half_space_contacts(
            n, height, solid, first, first + label[o, VERTEX_COUNT], margin + radius, point, feature
        )
        count = reduce_points(point, feature, count, shape[o, BOUND])
        return emit_on_plane(
            made, count, i, j, plane_last, m, material, radius, label, world, point, feature, value, index
        )
    # points are seen from the origin of shape i, for more digits
    x = along(row(world, j), -1.0, row(world, i))
    r_a, r_b = shape[i, SIZE], shape[j, SIZE]
    d, e = _axis(shape, world, i), _axis(shape, world, j)
    a, b = along((0.0, 0.0, 0.0), -0.5, d), along(x, -0.5, e)
    count = round_contacts(a, d, b, e, margin + r_a + r_b, r_a + r_b, point, feature)
    for c in range(count):
        if made + c >= value.shape[0]:
            break
        r = name_row(made, made + c, i, j, feature[c, 0], feature[c, 1], material, label, value, index)
        for k in range(3):
            value[r, k] = world[i, k] + (point[c, k] + r_a * point[c, 6 + k])
            value[r, 3 + k] = world[i, k] + (point[c, 3 + k] - r_b * point[c, 6 + k])
            value[r, 6 + k] = point[c, 6 + k]
        value[r, 9] = point[c, 9] - r_a - r_b
    return made + count
