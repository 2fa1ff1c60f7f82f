"""Broad phase of large scenes.

Half-spaces, and sizes of which there are few shapes such as a large floor, are tried against all. Other shapes meet in
a grid. Small scenes do without, and need not compile it: it is called by its address.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import address_of, announce_compilation, inner_kernel, is_compiled
from signorini.geometry.frames import HALF_SPACE
from signorini.geometry.grid import add_pair, fill, pairs_in_grid, set_levels
from signorini.geometry.ordering import sort_pairs
from signorini.geometry.pairs import may_touch, near_plane
from signorini.geometry.tables import BUCKETS, CAPACITY, KIND, LISTS, PAIRS


@inner_kernel
def _with_all(shape: Array, label: IntArray, q: Array, reach: Array, world: Array, cells: IntArray) -> int:
    """Find the pairs of which at least one shape is not in the grid; return their number."""
    n = label.shape[0]
    count = int(n - n)
    for i in range(n):
        if cells[LISTS + i] >= 0:
            continue
        for j in range(n):
            if label[i, KIND] == HALF_SPACE:
                near = near_plane(shape, label, q, reach, world, i, j)
            elif label[j, KIND] == HALF_SPACE:
                near = False
            else:
                near = (i < j or cells[LISTS + j] >= 0) and may_touch(label, world, i, j)
            if near:
                count = add_pair(cells, count, i, j)
    return count


@inner_kernel
def find_pairs_of_many(
    shape: Array, label: IntArray, q: Array, reach: Array, world: Array, cells: IntArray, work: Array
) -> int:
    """Do what :func:`~signorini.geometry.pairs.find_pairs` promises."""
    n = label.shape[0]
    start = LISTS + 4 * n
    members = start + cells[BUCKETS] + 1
    top = set_levels(label, world, cells, work, members)
    count = _with_all(shape, label, q, reach, world, cells)
    total = fill(label, world, cells, work, start)
    count = pairs_in_grid(n, cells, work, start, members, top, total, count)
    if count > cells[CAPACITY]:
        return int(-count)
    cells[PAIRS] = count
    sort_pairs(cells, LISTS + 4 * n, n)
    return int(count)


def grid_address() -> int:
    """Return the address of :func:`find_pairs_of_many`."""
    if not is_compiled(find_pairs_of_many):
        announce_compilation()
    reals, whole_rows = np.zeros((1, 1)), np.zeros((1, 1), dtype=np.int64)
    return address_of(find_pairs_of_many, reals, whole_rows, reals, reals[0], reals, whole_rows[0], reals)
