"""Broad phase: pairs of shapes whose boxes, grown by the reach of their bodies, overlap.

In a small scene all shapes are tried against all; for large ones see :mod:`~signorini.geometry.crowds`.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import counted, inner_kernel
from signorini.geometry.frames import HALF_SPACE
from signorini.geometry.grid import add_pair
from signorini.geometry.tables import BODY, BOUND, CAPACITY, FIXED, GRID, KIND, LOWER, MANY, PAIRS, UPPER


@inner_kernel
def may_touch(label: IntArray, world: Array, i: int, j: int) -> bool:
    """Tell whether two boxes overlap that belong to different bodies, not both fixed."""
    for k in range(3):
        # So that a pose that is not a number touches nothing.
        if not (world[i, LOWER + k] <= world[j, UPPER + k] and world[j, LOWER + k] <= world[i, UPPER + k]):
            return False
    return bool(label[i, BODY] != label[j, BODY] and label[i, FIXED] + label[j, FIXED] < 2)


@inner_kernel
def near_plane(shape: Array, label: IntArray, q: Array, reach: Array, world: Array, p: int, o: int) -> bool:
    """Tell whether the ball about the body of shape `o`, if that is bounded, reaches half-space `p`."""
    a, b = label[p, BODY], label[o, BODY]
    if label[o, KIND] == HALF_SPACE or a == b or label[p, FIXED] + label[o, FIXED] == 2:
        return False
    plane, bound = world[p, UPPER], shape[o, BOUND]
    height = (world[p, LOWER] * q[b, 0] + world[p, LOWER + 1] * q[b, 1] + world[p, LOWER + 2] * q[b, 2]) - plane - bound
    return bool(height <= reach[a] + reach[b] + 1e-14 * (bound + abs(plane)))


@inner_kernel
def _try_all(shape: Array, label: IntArray, q: Array, reach: Array, world: Array, cells: IntArray) -> int:
    """Find all pairs of a small scene, in order; return their number."""
    n = label.shape[0]
    count = int(n - n)
    for i in range(n):
        for j in range(i + 1, n):
            if label[i, KIND] == HALF_SPACE:
                near = near_plane(shape, label, q, reach, world, i, j)
            elif label[j, KIND] == HALF_SPACE:
                near = near_plane(shape, label, q, reach, world, j, i)
            else:
                near = may_touch(label, world, i, j)
            if near:
                count = add_pair(cells, count, i, j)
    return count


@inner_kernel
def find_pairs(
    shape: Array, label: IntArray, q: Array, reach: Array, world: Array, cells: IntArray, work: Array
) -> int:
    """Write all pairs ``(i << 32) + j``, i < j, of shapes that may touch, in ascending order; return their number.

    Both are of different bodies, not both fixed. The result is negative if there is no room for so many.
    """
    if label.shape[0] > MANY:
        return int(counted(cells[GRID], (shape, label, q, reach, world, cells, work)))
    count = _try_all(shape, label, q, reach, world, cells)
    if count > cells[CAPACITY]:
        return int(-count)
    cells[PAIRS] = count
    return int(count)
