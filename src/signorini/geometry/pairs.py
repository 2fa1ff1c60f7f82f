"""Broad phase: pairs of shapes whose boxes, grown by the reach of their bodies, overlap.

Shapes are sorted into a hashed grid of several levels: level l has cells of edge ``s_0 2^l`` and holds the shapes whose
box is no larger than a cell (and larger than one of level l - 1), each in the one cell of its centre. A shape then
meets a shape of its own or of a coarser level only in the few cells around it. Work grows like the number of
shapes, whatever the mixture of sizes. Half-spaces, and levels with few shapes such as a large floor, are tried
against all; in a small scene that is everything, and the grid is not even compiled.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.geometry.vectors import row
from signorini.math.rotation import dot, multiply, rotate
from signorini.model.shapes import ShapeArrays

_FEW = 8  # shapes on a level up to which trying each against all costs less than looking up cells for all
_MANY = 64  # shapes in a scene above which the grid pays
LEVELS = 62
_FAR = 1e15  # cells are counted in int64; bodies beyond are gone anyway
_LEVEL, _CELL, _BUCKET, _ORDER = 0, 1, 4, 5  # columns of `grid`; level -1: apart from the grid, tried against all


@kernel
def world_frames(
    body: IntArray,
    position: Array,
    quaternion: Array,
    radius: Array,
    hull: IntArray,
    bound: Array,
    vertex: Array,
    vertex_start: IntArray,
    q: Array,
    reach: Array,
    frame: Array,
    box: Array,
) -> int:
    """Write position and quaternion of all shapes in the world, (n, 7), and their boxes grown by reach, (n, 6).

    Half-spaces get no box. Return the number of shapes that are not rounded polytopes; their boxes are made elsewhere.
    """
    others = 0
    for i in range(body.size):
        b = body[i]
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        x = rotate(e, row(position, i))
        f = multiply(e, (quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3]))
        for k in range(3):
            frame[i, k] = q[b, k] + x[k]
        for k in range(4):
            frame[i, 3 + k] = f[k]
        if hull[i] < 0:
            continue
        if vertex_start[hull[i]] == vertex_start[hull[i] + 1]:
            others += 1
            continue
        for k in range(3):
            box[i, k] = np.inf
            box[i, 3 + k] = -np.inf
        for v in range(vertex_start[hull[i]], vertex_start[hull[i] + 1]):
            x = rotate(f, row(vertex, v))
            for k in range(3):
                box[i, k] = min(box[i, k], x[k])
                box[i, 3 + k] = max(box[i, 3 + k], x[k])
        for k in range(3):
            # The last term covers rounding, so that bodies in exact touch are found with no reach at all.
            grow = radius[i, 0] + reach[b] + 1e-14 * (abs(frame[i, k]) + bound[i])
            box[i, k] += frame[i, k] - grow
            box[i, 3 + k] += frame[i, k] + grow
    return others


@inner_kernel
def _may_touch(body: IntArray, fixed_count: int, box: Array, i: int, j: int) -> bool:
    """Tell whether two boxes overlap that belong to different bodies, not both fixed."""
    for k in range(3):
        # So that a pose that is not a number touches nothing.
        if not (box[i, k] <= box[j, 3 + k] and box[j, k] <= box[i, 3 + k]):
            return False
    return bool(body[i] != body[j] and (body[i] >= fixed_count or body[j] >= fixed_count))


@inner_kernel
def _bucket(x: int, y: int, z: int, level: int, mask: int) -> int:
    """Hash a cell; coordinates are cut to 21 bits first so that nothing overflows."""
    cut = 0x1FFFFF
    return (((x & cut) * 73856093) ^ ((y & cut) * 19349663) ^ ((z & cut) * 83492791) ^ (level * 49979687)) & mask


@inner_kernel
def _cell(x: float, size: float) -> int:
    return int(np.floor(min(max(x / size, -_FAR), _FAR)))


@kernel
def sort_into_levels(hull: IntArray, box: Array, grid: IntArray, members: IntArray) -> float:
    """Write the level of each shape, -1 for half-spaces and levels with few members; return the cell size of level 0.

    `members` (levels,), zero on entry, gets the number of shapes on each level.
    """
    n = hull.size
    smallest = np.inf
    for i in range(n):
        size = max(box[i, 3] - box[i, 0], box[i, 4] - box[i, 1], box[i, 5] - box[i, 2])
        # A state that has left the numbers is in no cell.
        inside = hull[i] >= 0 and np.isfinite(size + box[i, 0] + box[i, 1] + box[i, 2])
        grid[i, _LEVEL] = 0 if inside else -1
        if inside:
            smallest = min(smallest, size)
    for i in range(n):
        if grid[i, _LEVEL] == 0:
            size = max(box[i, 3] - box[i, 0], box[i, 4] - box[i, 1], box[i, 5] - box[i, 2])
            cell = smallest
            while cell < size and grid[i, _LEVEL] < LEVELS - 1:
                cell *= 2.0
                grid[i, _LEVEL] += 1
            members[grid[i, _LEVEL]] += 1
    members[LEVELS - 1] = 0  # whatever is larger than all cells
    for i in range(n):
        level = grid[i, _LEVEL]
        if level >= 0 and members[level] <= _FEW:
            grid[i, _LEVEL] = -1
    return smallest


@kernel
def fill_buckets(box: Array, smallest: float, grid: IntArray, start: IntArray) -> None:
    """Write cell and bucket of each shape in the grid, and the shapes bucket by bucket.

    `start` (a power of two + 1), zero on entry, gets where the list of each bucket starts.
    """
    n = box.shape[0]
    for i in range(n):
        if grid[i, _LEVEL] >= 0:
            size = smallest * 2.0 ** grid[i, _LEVEL]
            for k in range(3):
                grid[i, _CELL + k] = _cell(0.5 * (box[i, k] + box[i, 3 + k]), size)
            grid[i, _BUCKET] = _bucket(grid[i, 1], grid[i, 2], grid[i, 3], grid[i, _LEVEL], start.size - 2)
            start[grid[i, _BUCKET]] += 1
    total = 0
    for k in range(start.size):  # now the end of each bucket
        total += start[k]
        start[k] = total
    for i in range(n):
        if grid[i, _LEVEL] >= 0:
            start[grid[i, _BUCKET]] -= 1
            grid[start[grid[i, _BUCKET]], _ORDER] = i


@kernel
def pairs_in_grid(
    body: IntArray,
    fixed_count: int,
    box: Array,
    smallest: float,
    grid: IntArray,
    members: IntArray,
    start: IntArray,
    found: IntArray,
    count: int,
) -> int:
    """Add the pairs of shapes that are both in the grid to the `count` found; return their number then."""
    n = body.size
    for i in range(n):
        for l in range(grid[i, _LEVEL], LEVELS if grid[i, _LEVEL] >= 0 else -1):
            if members[l] <= _FEW:
                continue
            s = smallest * 2.0**l
            for x in range(_cell(box[i, 0] - 0.5 * s, s), _cell(box[i, 3] + 0.5 * s, s) + 1):
                for y in range(_cell(box[i, 1] - 0.5 * s, s), _cell(box[i, 4] + 0.5 * s, s) + 1):
                    for z in range(_cell(box[i, 2] - 0.5 * s, s), _cell(box[i, 5] + 0.5 * s, s) + 1):
                        bucket = _bucket(x, y, z, l, start.size - 2)
                        for c in range(start[bucket], start[bucket + 1]):
                            j = grid[c, _ORDER]
                            # Other cells may share the bucket; within a level each pair is seen from both sides.
                            if grid[j, _LEVEL] != l or grid[j, 1] != x or grid[j, 2] != y or grid[j, 3] != z:
                                continue
                            if (l > grid[i, _LEVEL] or i < j) and _may_touch(body, fixed_count, box, i, j):
                                if count < found.size:
                                    found[count] = min(i, j) * n + max(i, j)
                                count += 1
    return count


@kernel
def pairs_with_all(
    body: IntArray,
    hull: IntArray,
    parameter: Array,
    bound: Array,
    fixed_count: int,
    q: Array,
    reach: Array,
    frame: Array,
    box: Array,
    grid: IntArray,
    found: IntArray,
) -> int:
    """Find the pairs of which at least one shape is not in the grid; return their number.

    Keys ``i n + j``, i < j, are written to `found` as long as there is room.
    """
    n = body.size
    count = 0
    for i in range(n):
        if grid[i, _LEVEL] >= 0:
            continue
        a = body[i]
        e = (frame[i, 3], frame[i, 4], frame[i, 5], frame[i, 6])
        m = rotate(e, (parameter[i, 1], parameter[i, 2], parameter[i, 3]))
        plane = dot(m, row(frame, i)) + parameter[i, 0]
        for j in range(n):
            b = body[j]
            if hull[j] < 0:
                near = False
            elif hull[i] < 0:
                height = dot(m, row(q, b)) - plane - bound[j]
                near = height <= reach[a] + reach[b] + 1e-14 * (bound[j] + abs(plane)) and a != b
                near = near and (a >= fixed_count or b >= fixed_count)
            else:
                near = (i < j or grid[j, _LEVEL] >= 0) and _may_touch(body, fixed_count, box, i, j)
            if near:
                if count < found.size:
                    found[count] = min(i, j) * n + max(i, j)
                count += 1
    return count


def candidate_pairs(
    shapes: ShapeArrays, fixed_count: int, q: Array, reach: Array, frame: Array, box: Array
) -> IntArray:
    """Return the keys ``i n + j``, i < j, of all pairs of shapes that may touch, each once, in no order.

    Both are of different bodies, not both fixed.
    """
    n = shapes.body.size
    members = np.zeros(LEVELS, dtype=np.int64)
    smallest = 0.0
    if n <= _MANY:
        grid = np.full((n, 1), -1, dtype=np.int64)
    else:
        grid = np.empty((n, 6), dtype=np.int64)
        smallest = sort_into_levels(shapes.hull, box, grid, members)
    found = np.empty(16 * n, dtype=np.int64)
    while True:
        count = pairs_with_all(
            shapes.body, shapes.hull, shapes.size, shapes.bound, fixed_count, q, reach, frame, box, grid, found
        )
        if n > _MANY:
            start = np.zeros((1 << (2 * n).bit_length()) + 1, dtype=np.int64)
            fill_buckets(box, smallest, grid, start)
            count = pairs_in_grid(shapes.body, fixed_count, box, smallest, grid, members, start, found, count)
        if count <= found.size:
            return found[:count]
        found = np.empty(count, dtype=np.int64)
