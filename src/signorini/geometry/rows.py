"""Rows of contacts: what every pair of shapes ends with.

`point` (n, 10) holds point a, point b, normal and gap of the contacts of one pair, `feature` (n, 3) the features of a
and b and a column for other use.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.tables import BODY
from signorini.geometry.vectors import Vector, turned
from signorini.math.rotation import matrix, rotate

FEATURE_BITS = 13  # for each of two shapes; with 37 bits for the pair up to 370 000 shapes have names of their own
_CUT = (1 << FEATURE_BITS) - 1


@inner_kernel
def material_of(a: int, b: int, body_count: int, pair: IntArray) -> int:
    """Return the row of materials for the bodies ``a < b``, -1 if they never touch."""
    key = a * body_count + b
    low, high = 0, pair.shape[0]
    while low < high:
        middle = (low + high) // 2
        if pair[middle, 0] < key:
            low = middle + 1
        else:
            high = middle
    return pair[low, 1] if low < pair.shape[0] and pair[low, 0] == key else 0


@inner_kernel
def name_row(
    first: int,
    r: int,
    i: int,
    j: int,
    f_i: int,
    f_j: int,
    material: int,
    label: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Make room for the contact of features `f_i`, `f_j` of shapes i and j after the rows from `first` on of the pair.

    Return its row, with all numbers of `index` written: rows of a pair ascend by name, and `r` is the first free one.
    Hulls with thousands of edges may give two contacts of a pair the same name.
    """
    name = ((i * label.shape[0] + j) << FEATURE_BITS) + (f_i & _CUT)
    name = (name << FEATURE_BITS) + (f_j & _CUT)
    while r > first and index[r - 1, 2] > name:
        for k in range(10):
            value[r, k] = value[r - 1, k]
        for k in range(4):
            index[r, k] = index[r - 1, k]
        r -= 1
    index[r, 0] = label[i, BODY]
    index[r, 1] = label[j, BODY]
    index[r, 2] = name
    index[r, 3] = material
    return r


@inner_kernel
def emit(
    made: int,
    count: int,
    i: int,
    j: int,
    material: int,
    r_a: float,
    r_b: float,
    label: IntArray,
    world: Array,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Round `count` contacts of bare polytopes given in the frame of shape i, and add them as rows from `made` on.

    Return the number of rows then. There may be more than fit; such a table has to be made again.
    """
    R = matrix((world[i, 3], world[i, 4], world[i, 5], world[i, 6]))
    for c in range(count):
        if made + c >= value.shape[0]:
            break
        n = turned(R, (point[c, 6], point[c, 7], point[c, 8]))
        p = turned(R, (point[c, 0], point[c, 1], point[c, 2]))
        q = turned(R, (point[c, 3], point[c, 4], point[c, 5]))
        r = name_row(made, made + c, i, j, feature[c, 0], feature[c, 1], material, label, value, index)
        for k in range(3):
            value[r, k] = world[i, k] + (p[k] + r_a * n[k])
            value[r, 3 + k] = world[i, k] + (q[k] - r_b * n[k])
            value[r, 6 + k] = n[k]
        value[r, 9] = point[c, 9] - r_a - r_b
    return made + count


@inner_kernel
def emit_on_plane(
    made: int,
    count: int,
    i: int,
    j: int,
    plane_last: bool,
    m: Vector,
    material: int,
    radius: float,
    label: IntArray,
    world: Array,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Add contacts given in the axes of the shape above a half-space with world normal `m`; see :func:`emit`.

    Of each only point b, on the shape, and the gap are read.
    """
    o = i if plane_last else j
    e = (world[o, 3], world[o, 4], world[o, 5], world[o, 6])
    on_shape, on_plane, sign = (0, 3, -1.0) if plane_last else (3, 0, 1.0)
    for c in range(count):
        if made + c >= value.shape[0]:
            break
        x = rotate(e, (point[c, 3], point[c, 4], point[c, 5]))
        f_i, f_j = (feature[c, 1], feature[c, 0]) if plane_last else (feature[c, 0], feature[c, 1])
        r = name_row(made, made + c, i, j, f_i, f_j, material, label, value, index)
        for k in range(3):
            value[r, on_shape + k] = world[o, k] + (x[k] - radius * m[k])
            value[r, on_plane + k] = world[o, k] + (x[k] - point[c, 9] * m[k])
            value[r, 6 + k] = sign * m[k]
        value[r, 9] = point[c, 9] - radius
    return made + count
