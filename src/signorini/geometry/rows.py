"""Rows of contacts: what every pair of shapes ends with.

`point` (n, 10) holds point a, point b, normal and gap of the contacts of one pair, `feature` (n, 3) the features of a
and b and a column for other use.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.vectors import Vector
from signorini.math.rotation import rotate

FEATURE_BITS = 13  # for each of two shapes; with 37 bits for the pair up to 370 000 shapes have names of their own


@inner_kernel
def material_of(a: int, b: int, body_count: int, pair: IntArray, pair_material: IntArray) -> int:
    """Return the row of materials for the bodies ``a < b``, -1 if they never touch."""
    key = a * body_count + b
    low, high = 0, pair.size
    while low < high:
        middle = (low + high) // 2
        if pair[middle] < key:
            low = middle + 1
        else:
            high = middle
    return pair_material[low] if low < pair.size and pair[low] == key else 0


@inner_kernel
def emit(
    count: int,
    key: int,
    back: bool,
    e: tuple[float, float, float, float],
    x: Vector,
    r_a: float,
    r_b: float,
    body: IntArray,
    material: int,
    frame: Array,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
    made: IntArray,
) -> None:
    """Turn contacts of bare polytopes by `e`, shift them by `x`, round them and add them as rows from ``made[0]`` on.

    Points are seen from the origin of the first shape of the pair `key`; with `back` its second shape was a and its
    first b. `index` gets body a, body b, the name made of pair and features, and the material. Hulls with thousands of
    edges may give two contacts of a pair the same name.
    """
    cut = (1 << FEATURE_BITS) - 1
    i, j = key // body.size, key % body.size
    first, second, sign = (3, 0, -1.0) if back else (0, 3, 1.0)
    for c in range(count):
        r = made[0]
        made[0] += 1
        n = rotate(e, (point[c, 6], point[c, 7], point[c, 8]))
        p = rotate(e, (point[c, 0], point[c, 1], point[c, 2]))
        q = rotate(e, (point[c, 3], point[c, 4], point[c, 5]))
        for k in range(3):
            value[r, first + k] = frame[i, k] + (x[k] + p[k] + r_a * n[k])
            value[r, second + k] = frame[i, k] + (x[k] + q[k] - r_b * n[k])
            value[r, 6 + k] = sign * n[k]
        value[r, 9] = point[c, 9] - r_a - r_b
        index[r, 0] = body[i]
        index[r, 1] = body[j]
        name = (key << FEATURE_BITS) + (feature[c, first // 3] & cut)
        index[r, 2] = (name << FEATURE_BITS) + (feature[c, second // 3] & cut)
        index[r, 3] = material
