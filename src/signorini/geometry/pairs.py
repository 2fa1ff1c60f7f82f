"""Broad phase: pairs of shapes whose boxes, grown by the reach of their bodies, overlap.

Shapes are sorted into a hashed grid of several levels: level l has cells of edge ``s_0 2^l`` and holds the shapes whose
box is no larger than a cell (and larger than one of level l - 1), each in the one cell of its centre. A shape then
meets a shape of its own or of a coarser level only in the few cells around it. Work grows like the number of
shapes, whatever the mixture of sizes. Half-spaces, and levels with few shapes such as a large floor, are tried
against all.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.math.rotation import dot, multiply, rotate
from signorini.model.shapes import Hulls, ShapeArrays

_HALF_SPACE = 0
_FEW = 8  # shapes on a level below which trying each against all costs less than looking up cells for all
_LEVELS = 64
_FAR = 1e15  # cells are counted in int64; bodies beyond are gone anyway


@kernel
def world_poses(shapes: ShapeArrays, q: Array, position: Array, quaternion: Array) -> None:
    """Write the frames of all shapes in the world."""
    for i in range(shapes.body.size):
        b = shapes.body[i]
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        x = rotate(e, shapes.position[i])
        f = multiply(e, shapes.quaternion[i])
        for k in range(3):
            position[i, k] = q[b, k] + x[k]
        for k in range(4):
            quaternion[i, k] = f[k]


@kernel
def boxes(
    shapes: ShapeArrays, hulls: Hulls, position: Array, quaternion: Array, reach: Array, lower: Array, upper: Array
) -> None:
    """Write the axis-parallel box of every bounded shape, grown by the reach of its body."""
    for i in range(shapes.body.size):
        h = shapes.hull[i]
        if h < 0:
            continue
        for k in range(3):
            lower[i, k] = np.inf
            upper[i, k] = -np.inf
        for v in range(hulls.vertex_start[h], hulls.vertex_start[h + 1]):
            x = rotate(quaternion[i], hulls.vertex[v])
            for k in range(3):
                lower[i, k] = min(lower[i, k], x[k])
                upper[i, k] = max(upper[i, k], x[k])
        for k in range(3):
            # The last term covers rounding, so that bodies in exact touch are found with no reach at all.
            grow = shapes.size[i, 0] + reach[shapes.body[i]] + 1e-14 * (abs(position[i, k]) + shapes.bound[i])
            lower[i, k] += position[i, k] - grow
            upper[i, k] += position[i, k] + grow


@kernel
def material_of(a: int, b: int, fixed_count: int, body_count: int, pair: IntArray, pair_material: IntArray) -> int:
    """Return the row of materials for the bodies ``a <= b``, -1 if they never touch."""
    if a == b or b < fixed_count:
        return -1
    key = a * body_count + b
    low, high = 0, pair.size
    while low < high:
        middle = (low + high) // 2
        if pair[middle] < key:
            low = middle + 1
        else:
            high = middle
    return pair_material[low] if low < pair.size and pair[low] == key else 0


@kernel
def _overlap(lower: Array, upper: Array, i: int, j: int) -> bool:
    return (
        lower[i, 0] <= upper[j, 0]
        and lower[j, 0] <= upper[i, 0]
        and lower[i, 1] <= upper[j, 1]
        and lower[j, 1] <= upper[i, 1]
        and lower[i, 2] <= upper[j, 2]
        and lower[j, 2] <= upper[i, 2]
    )


@kernel
def _bucket(x: int, y: int, z: int, level: int, mask: int) -> int:
    """Hash a cell; coordinates are cut to 21 bits first so that nothing overflows."""
    cut = 0x1FFFFF
    return (((x & cut) * 73856093) ^ ((y & cut) * 19349663) ^ ((z & cut) * 83492791) ^ (level * 49979687)) & mask


@kernel
def _cell(x: float, size: float) -> int:
    return int(np.floor(min(max(x / size, -_FAR), _FAR)))


@kernel
def add_pair(found: IntArray, count: int, i: int, j: int) -> IntArray:
    """Write the pair (smaller, larger) as row `count`; return the table, enlarged if it was full."""
    if count == found.shape[0]:
        larger = np.empty((2 * count, 2), dtype=np.int64)
        for c in range(count):
            larger[c, 0] = found[c, 0]
            larger[c, 1] = found[c, 1]
        found = larger
    found[count, 0] = min(i, j)
    found[count, 1] = max(i, j)
    return found


@kernel
def half_space_pairs(
    shapes: ShapeArrays, position: Array, quaternion: Array, q: Array, reach: Array, found: IntArray
) -> tuple[IntArray, int]:
    """Find the shapes within reach of each half-space."""
    count = 0
    for i in range(shapes.body.size):
        if shapes.kind[i] != _HALF_SPACE:
            continue
        a = shapes.body[i]
        n = rotate(quaternion[i], shapes.size[i, 1:])
        plane = dot(n, position[i]) + shapes.size[i, 0]
        for j in range(shapes.body.size):
            b = shapes.body[j]
            near = dot(n, q[b]) - plane - shapes.bound[j] <= (reach[a] + reach[b]) * (1.0 + 1e-14)
            if near and a != b and shapes.kind[j] != _HALF_SPACE:
                found = add_pair(found, count, i, j)
                count += 1
    return found, count


@kernel
def bounded_pairs(
    shapes: ShapeArrays, lower: Array, upper: Array, fixed_count: int, found: IntArray, count: int
) -> tuple[IntArray, int]:
    """Find all pairs of bounded shapes of different bodies, not both fixed, whose boxes overlap."""
    body = shapes.body
    n = body.size
    level, few, size = _levels(shapes, lower, upper)
    for i in range(n):  # shapes on levels with few: against all
        if level[i] < 0 or not few[level[i]]:
            continue
        for j in range(n):
            apart = level[j] < 0 or body[i] == body[j] or (body[i] < fixed_count and body[j] < fixed_count)
            if not apart and (i < j or not few[level[j]]) and _overlap(lower, upper, i, j):
                found = add_pair(found, count, i, j)
                count += 1
    cell, start, order, mask = _grid(level, few, size, lower, upper)
    if order.size == 0:
        return found, count
    for i in range(n):
        if level[i] < 0 or few[level[i]]:
            continue
        for l in range(level[i], _LEVELS):
            if few[l]:
                continue
            s = size * 2.0**l
            for x in range(_cell(lower[i, 0] - 0.5 * s, s), _cell(upper[i, 0] + 0.5 * s, s) + 1):
                for y in range(_cell(lower[i, 1] - 0.5 * s, s), _cell(upper[i, 1] + 0.5 * s, s) + 1):
                    for z in range(_cell(lower[i, 2] - 0.5 * s, s), _cell(upper[i, 2] + 0.5 * s, s) + 1):
                        bucket = _bucket(x, y, z, l, mask)
                        for c in range(start[bucket], start[bucket + 1]):
                            j = order[c]
                            # Other cells may share the bucket; within a level each pair is seen from both sides.
                            if level[j] != l or cell[j, 0] != x or cell[j, 1] != y or cell[j, 2] != z:
                                continue
                            if body[i] == body[j] or (body[i] < fixed_count and body[j] < fixed_count):
                                continue
                            if (l > level[i] or i < j) and _overlap(lower, upper, i, j):
                                found = add_pair(found, count, i, j)
                                count += 1
    return found, count


@kernel
def _levels(shapes: ShapeArrays, lower: Array, upper: Array) -> tuple[IntArray, Array, float]:
    """Return the level of each shape (-1: none), whether a level has few shapes, and the cell size of level 0."""
    n = shapes.body.size
    level = np.full(n, -1, dtype=np.int64)
    extent = np.zeros(n)
    smallest = np.inf
    for i in range(n):
        if shapes.hull[i] >= 0:
            extent[i] = max(upper[i, 0] - lower[i, 0], upper[i, 1] - lower[i, 1], upper[i, 2] - lower[i, 2])
            # A state that has left the numbers makes no contacts.
            if np.isfinite(extent[i] + lower[i, 0] + lower[i, 1] + lower[i, 2]):
                level[i] = 0
                smallest = min(smallest, extent[i])
    members = np.zeros(_LEVELS, dtype=np.int64)
    for i in range(n):
        if level[i] == 0:
            size = smallest
            while size < extent[i] and level[i] < _LEVELS - 1:
                size *= 2.0
                level[i] += 1
            members[level[i]] += 1
    few = np.empty(_LEVELS, dtype=np.bool_)
    for l in range(_LEVELS):
        few[l] = members[l] <= _FEW
    # Nothing may be larger than a cell of its level; the last one is too small for bodies 2^63 times the smallest.
    few[_LEVELS - 1] = True
    return level, few, smallest


@kernel
def _grid(
    level: IntArray, few: Array, size: float, lower: Array, upper: Array
) -> tuple[IntArray, IntArray, IntArray, int]:
    """Sort the shapes of crowded levels into buckets; return cells, bucket starts, shapes by bucket and the mask."""
    n = level.size
    crowd = 0
    for i in range(n):
        if level[i] >= 0 and not few[level[i]]:
            crowd += 1
    buckets = 16
    while buckets < 2 * crowd:
        buckets *= 2
    cell = np.empty((n if crowd > 0 else 0, 3), dtype=np.int64)
    bucket = np.empty(n, dtype=np.int64)
    start = np.zeros(buckets + 1, dtype=np.int64)
    order = np.empty(crowd, dtype=np.int64)
    if crowd == 0:
        return cell, start, order, buckets - 1
    for i in range(n):
        if level[i] >= 0 and not few[level[i]]:
            s = size * 2.0 ** level[i]
            for k in range(3):
                cell[i, k] = _cell(0.5 * (lower[i, k] + upper[i, k]), s)
            bucket[i] = _bucket(cell[i, 0], cell[i, 1], cell[i, 2], level[i], buckets - 1)
            start[bucket[i] + 1] += 1
    for k in range(buckets):
        start[k + 1] += start[k]
    for i in range(n - 1, -1, -1):  # backwards, while the starts of the next bucket move down to their own
        if level[i] >= 0 and not few[level[i]]:
            start[bucket[i] + 1] -= 1
            order[start[bucket[i] + 1]] = i
    for k in range(buckets):  # start[k + 1] now holds the start of bucket k
        start[k] = start[k + 1]
    start[buckets] = crowd
    return cell, start, order, buckets - 1


@kernel
def sorted_pairs(found: IntArray, count: int, shape_count: int) -> IntArray:
    """Return the pairs in order of (first, second): two passes of counting sort."""
    source = found
    for column in (1, 0):
        start = np.zeros(shape_count + 1, dtype=np.int64)
        target = np.empty((count, 2), dtype=np.int64)
        for c in range(count):
            start[source[c, column] + 1] += 1
        for k in range(shape_count):
            start[k + 1] += start[k]
        for c in range(count):
            row = start[source[c, column]]
            start[source[c, column]] += 1
            target[row, 0] = source[c, 0]
            target[row, 1] = source[c, 1]
        source = target
    return source
