"""A grid of several levels, in which shapes of like size meet.

A level holds the shapes whose boxes are at most twice as large as the smallest ones there, each in the one cell of its
centre; its cells are as long as the largest box is large. A shape then meets one of its own level only in the few cells
around it, and of two levels one looks for shapes in the cells of the other. Work grows like the number of shapes,
whatever the mixture of sizes.

Rows of cells along x are hashed, cells within a row are neighbours in memory: those that a shape looks at are few
ranges of one list, in which boxes lie in the same order.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.frames import HALF_SPACE
from signorini.geometry.tables import BODY, BUCKETS, CAPACITY, FIXED, FOUND, KIND, LEVELS, LISTS, LOWER, UPPER

_FEW = 8  # shapes on a level up to which trying each against all costs less than looking up cells for all
_FAR = 1e15  # cells are counted in int64; bodies beyond are gone anyway
_CUT = 0x1FFFFF  # bits of a cell's coordinates that tell it from others nearby
_LARGER = 1.0 + 1e-6  # cells are larger than what they hold, so that rounding decides nothing
_WIDE = 0.5  # cells are twice as wide along y and z: fewer rows to look up, at the price of more boxes to compare
_SHAPE = 0xFFFFFFFF  # bits of an entry of the list that name the shape; above are 1 for a fixed body, and the body
_APART = -1  # level of shapes that are not in the grid


@inner_kernel
def add_pair(cells: IntArray, count: int, i: int, j: int) -> int:
    """Add a pair if there is room; return how many there are."""
    if count < cells[CAPACITY]:
        cells[cells[FOUND] + count] = (i << 32) + j if i < j else (j << 32) + i
    return int(count + 1)


@inner_kernel
def _largest(world: Array, i: int) -> float:
    """Return the largest extent of the box of shape `i`."""
    return float(
        max(
            world[i, UPPER] - world[i, LOWER],
            world[i, UPPER + 1] - world[i, LOWER + 1],
            world[i, UPPER + 2] - world[i, LOWER + 2],
        )
    )


@inner_kernel
def set_levels(label: IntArray, world: Array, cells: IntArray, work: Array, members: int) -> int:
    """Write the level of each shape, -1 for half-spaces and levels with few members; return the highest level in use.

    ``cells[members:]`` gets the number of shapes on each level and what it looks at, ``work[n:, 0]`` the edge of its
    cells.
    """
    n = label.shape[0]
    smallest = np.inf
    for i in range(n):
        size = _largest(world, i)
        # A state that has left the numbers is in no cell.
        inside = label[i, KIND] != HALF_SPACE and np.isfinite(
            size + world[i, LOWER] + world[i, LOWER + 1] + world[i, LOWER + 2]
        )
        cells[LISTS + i] = 0 if inside else _APART
        if inside:
            smallest = min(smallest, size)
    for l in range(LEVELS):
        cells[members + l] = 0
        cells[members + LEVELS + l] = l  # to which level these shapes go
        work[n + l, 0] = 0.0
    for i in range(n):
        if cells[LISTS + i] == 0:
            size = _largest(world, i)
            cell, level = smallest, 0
            while cell < size and level < LEVELS - 1:
                cell *= 2.0
                level += 1
            cells[LISTS + i] = level
            cells[members + level] += 1
            work[n + level, 0] = max(work[n + level, 0], _LARGER * size)
    top = 0
    for l in range(LEVELS - 1):
        # A level with few shapes below a well-filled one costs more to look at than its shapes do there.
        if cells[members + l] > 0 and 4 * cells[members + l] <= cells[members + l + 1]:
            cells[members + l + 1] += cells[members + l]
            cells[members + l] = 0
            for k in range(l + 1):
                if cells[members + LEVELS + k] == l:
                    cells[members + LEVELS + k] = l + 1
        elif cells[members + l] > _FEW:
            top = l
    cells[members + LEVELS - 1] = 0  # whatever is larger than all cells
    for i in range(n):
        level = cells[LISTS + i]
        if level >= 0:
            level = cells[members + LEVELS + level]
            cells[LISTS + i] = level if cells[members + level] > _FEW else _APART
    _set_views(n, cells, work, members, top)
    return top


@inner_kernel
def _set_views(n: int, cells: IntArray, work: Array, members: int, top: int) -> None:
    """Decide which of two levels looks at the other: write to ``cells[members + LEVELS:]`` bits for the levels seen.

    A shape looks at few cells that are no smaller than itself, and at many smaller ones; but there are fewer large
    shapes than small ones.
    """
    views = members + LEVELS
    for l in range(top + 1):
        cells[views + l] = 1 << l
    for l in range(top + 1):
        for m in range(l + 1, top + 1):
            if min(cells[members + l], cells[members + m]) > _FEW:
                wide = work[n + m, 0] / work[n + l, 0]
                down = cells[members + m] * (wide + 2.0) * (wide + 2.0) * (1.0 + 0.1 * wide)
                if down < 6.0 * cells[members + l]:
                    cells[views + m] |= 1 << l
                else:
                    cells[views + l] |= 1 << m


@inner_kernel
def _cell(x: float, per_size: float) -> int:
    return int(np.floor(min(max(x * per_size, -_FAR), _FAR)))


@inner_kernel
def _row(y: int, z: int, level: int) -> int:
    """Return the number that names a row of cells along x."""
    return ((((y & _CUT) << 21) + (z & _CUT)) << 6) + level


@inner_kernel
def _hash(row: int) -> int:
    """Return where in the table a row of cells begins; regular arrangements must not meet in few places."""
    h = (row ^ (row >> 23)) & 0x7FFFFFFF
    h = ((h * 73856093) >> 11) & 0x7FFFFFFF
    return ((h * 668265263) >> 13) & 0x7FFFFFFF


@inner_kernel
def fill(label: IntArray, world: Array, cells: IntArray, work: Array, start: int) -> int:
    """Sort the shapes of the grid by buckets; return how many they are.

    ``cells[start:]`` gets where the list of each bucket starts, `work` the boxes in the order of the list.
    """
    n = label.shape[0]
    mask = cells[BUCKETS] - 1
    bucket, order, name = LISTS + n, LISTS + 2 * n, LISTS + 3 * n
    for k in range(start, start + mask + 2):
        cells[k] = 0
    for i in range(n):
        level = cells[LISTS + i]
        if level >= 0:
            per_size = 1.0 / work[n + level, 0]
            x = _cell(0.5 * (world[i, LOWER] + world[i, UPPER]), per_size)
            y = _cell(0.5 * (world[i, LOWER + 1] + world[i, UPPER + 1]), _WIDE * per_size)
            z = _cell(0.5 * (world[i, LOWER + 2] + world[i, UPPER + 2]), _WIDE * per_size)
            row = _row(y, z, level)
            b = (_hash(row) + (x & _CUT)) & mask
            cells[LISTS + i] = row
            cells[bucket + i] = b
            cells[start + b] += 1
    total = 0
    for k in range(start, start + mask + 2):  # now the end of each bucket
        total += cells[k]
        cells[k] = total
    for i in range(n - 1, -1, -1):
        if cells[LISTS + i] >= 0:
            b = start + cells[bucket + i]
            cells[b] -= 1
            c = cells[b]
            cells[order + c] = (((label[i, BODY] << 1) + label[i, FIXED]) << 32) + i
            cells[name + c] = cells[LISTS + i]
            for k in range(6):
                work[c, k] = world[i, LOWER + k]
    return total


@inner_kernel
def pairs_in_grid(
    n: int, cells: IntArray, work: Array, start: int, members: int, top: int, total: int, count: int
) -> int:
    """Add the pairs of shapes that are both in the grid; return the number of pairs then."""
    order, name, mask = LISTS + 2 * n, LISTS + 3 * n, cells[BUCKETS] - 1
    for c in range(total):
        own = cells[name + c] & 63
        i, body = cells[order + c] & _SHAPE, cells[order + c] >> 33
        fixed = (cells[order + c] >> 32) & 1
        lx, ly, lz, ux, uy, uz = work[c, 0], work[c, 1], work[c, 2], work[c, 3], work[c, 4], work[c, 5]
        view = cells[members + LEVELS + own]
        for l in range(top + 1):
            if (view >> l) & 1 == 0:
                continue
            s = work[n + l, 0]
            f, g = 1.0 / s, 0.5 * s
            x0, x1 = _cell(lx - g, f), _cell(ux + g, f)
            h = _WIDE * f
            y0, y1 = _cell(ly - g, h), _cell(uy + g, h)
            z0, z1 = _cell(lz - g, h), _cell(uz + g, h)
            x_own, y_own = x0, y0 - 1
            if l == own:
                # Within a level each pair is seen once: from the row before, or from the entry before in the same row.
                x_own, y_own = _cell(0.5 * (lx + ux), f), _cell(0.5 * (ly + uy), h)
                z0 = _cell(0.5 * (lz + uz), h)
            for z in range(z0, z1 + 1):
                for y in range(max(y0, y_own) if z == z0 else y0, y1 + 1):
                    row = _row(y, z, l)
                    in_row = z == z0 and y == y_own
                    x = x_own if in_row else x0
                    base, length = _hash(row) + (x & _CUT), min(x1 - x, mask) + 1
                    while length > 0:
                        b = base & mask
                        take = min(length, mask + 1 - b)  # the table ends, and goes on at its beginning
                        first = cells[start + b]
                        if in_row:
                            first, in_row = max(first, c + 1), False
                        for d in range(first, cells[start + b + take]):
                            # Other rows may share the bucket.
                            if (
                                (lx <= work[d, 3])
                                & (work[d, 0] <= ux)
                                & (ly <= work[d, 4])
                                & (work[d, 1] <= uy)
                                & (lz <= work[d, 5])
                                & (work[d, 2] <= uz)
                                & (cells[name + d] == row)
                            ):
                                other = cells[order + d]
                                if other >> 33 != body and fixed + ((other >> 32) & 1) < 2:
                                    count = add_pair(cells, count, i, other & _SHAPE)
                        base += take
                        length -= take
    return count
