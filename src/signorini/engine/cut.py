"""The compiled step, cuts: a large island in slabs, so that threads may sweep over it side by side.

The bodies of an island of many contacts are cut into slabs along its widest axis. Contacts are then sorted into groups:
those within each slab, those across every other border, those across the borders between, and the rest, of bodies that
reach farther. Groups of the first kind have no body in common, nor have those of the second, nor those of the third:
sweeps go through each kind in any order, or all at once, with the same result to the last bit. So this order, in which
the contacts of the island are kept, is the order of one thread too. The cut depends on the island alone.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    AXIS,
    B_BODY,
    BODY_SIZES,
    BOUND,
    COUNTS,
    CUT,
    CUT_OF,
    CUT_ROW,
    EXTENT,
    FIRST_BIN,
    FIRST_CONTACT,
    FIXED,
    GROUP_START,
    INDEX,
    ISLAND,
    ISLANDS,
    LOWER,
    N_BODIES,
    N_CONTACTS,
    ORDER,
    OWN_ISLAND,
    PLACE,
    POSITION,
    SLAB,
    SLABS,
    UPPER,
    Y_ROW,
    Q,
)
from signorini.posing.constants import BINS, MANY_BODIES, MANY_CONTACTS, MOST_SLABS, SLAB_CONTACTS, SLAB_WIDTH

CUT_COLUMNS = GROUP_START + 2 * MOST_SLABS
"""Of the array of cuts: island, number n of slabs, then the first contact, counted in the island, of each of the
2 n groups but the first: n slabs, n / 2 even borders, n / 2 - 1 odd borders, the rest."""
EXTENT_COLUMNS = FIRST_BIN + BINS
"""Of the array of extents: lower and upper bound, sum of the sizes of bodies, axis, bodies by bins."""


@inner_kernel
def _large_islands(t: IntArray) -> int:
    """Give each island that may be cut a row; return their number."""
    counts, island, cut, extent = wholes(t, COUNTS), whole_rows(t, ISLAND), whole_rows(t, CUT), real_rows(t, EXTENT)
    rows = 0
    for i in range(counts[ISLANDS]):
        island[i, CUT_ROW] = 0
        if island[i, N_CONTACTS] >= MANY_CONTACTS and island[i, N_BODIES] >= MANY_BODIES:
            cut[rows, CUT_OF] = i
            for k in range(3):
                extent[rows, LOWER + k] = 1e300
                extent[rows, UPPER + k] = -1e300
            for k in range(BODY_SIZES, EXTENT_COLUMNS):
                extent[rows, k] = 0.0
            rows += 1
            island[i, CUT_ROW] = rows
    return rows


@inner_kernel
def _measure(t: IntArray, rows: int) -> None:
    """Find the extents of large islands, their widest axes and the number of slabs; those too narrow are not cut."""
    counts, island, cut, extent = wholes(t, COUNTS), whole_rows(t, ISLAND), whole_rows(t, CUT), real_rows(t, EXTENT)
    q, place, bound = real_rows(t, Q), whole_rows(t, PLACE), reals(t, BOUND)
    for b in range(counts[FIXED], q.shape[0]):
        row = island[place[b, OWN_ISLAND], CUT_ROW] - 1 if 0 <= place[b, OWN_ISLAND] < counts[ISLANDS] else -1
        if row >= 0:
            for k in range(3):
                extent[row, LOWER + k] = min(extent[row, LOWER + k], q[b, k])
                extent[row, UPPER + k] = max(extent[row, UPPER + k], q[b, k])
            extent[row, BODY_SIZES] += bound[b]
    for row in range(rows):
        i, axis = cut[row, CUT_OF], 0
        for k in range(1, 3):
            if extent[row, UPPER + k] - extent[row, LOWER + k] > extent[row, UPPER + axis] - extent[row, LOWER + axis]:
                axis = k
        width, size = (
            extent[row, UPPER + axis] - extent[row, LOWER + axis],
            2.0 * extent[row, BODY_SIZES] / island[i, N_BODIES],
        )
        slabs = 1
        while (
            2 * slabs <= MOST_SLABS
            and island[i, N_CONTACTS] >= 2 * slabs * SLAB_CONTACTS
            and width >= 2 * slabs * SLAB_WIDTH * size
        ):
            slabs *= 2
        extent[row, AXIS] = axis
        cut[row, SLABS] = slabs
        if slabs == 1:
            island[i, CUT_ROW] = 0


@inner_kernel
def _bin(extent: Array, row: int, q: Array, b: int) -> int:
    """Return the bin of a body along the axis of its island."""
    axis = int(extent[row, 7])
    part = (q[b, axis] - extent[row, LOWER + axis]) / (extent[row, UPPER + axis] - extent[row, LOWER + axis])
    return max(0, min(int(BINS * part), BINS - 1))


@inner_kernel
def _slabs(t: IntArray, rows: int) -> None:
    """Write the slab of each body of a large island into PLACE; slabs get like numbers of bodies.

    So slabs do not change in a pile at rest, where contacts come and go. Rows of y are taken from these bodies.
    """
    counts, island, cut, extent = wholes(t, COUNTS), whole_rows(t, ISLAND), whole_rows(t, CUT), real_rows(t, EXTENT)
    q, place = real_rows(t, Q), whole_rows(t, PLACE)
    for b in range(counts[FIXED], q.shape[0]):
        row = island[place[b, OWN_ISLAND], CUT_ROW] - 1 if 0 <= place[b, OWN_ISLAND] < counts[ISLANDS] else -1
        if row >= 0:
            place[b, SLAB] = _bin(extent, row, q, b)
            place[b, Y_ROW] = -1
            extent[row, FIRST_BIN + place[b, SLAB]] += 1.0
    for row in range(rows):
        passed, total = 0.0, island[cut[row, CUT_OF], N_BODIES]
        for k in range(BINS):
            here = extent[row, FIRST_BIN + k]
            extent[row, FIRST_BIN + k] = min(int(cut[row, SLABS] * (passed + 0.5 * here) / total), cut[row, SLABS] - 1)
            passed += here
    for b in range(counts[FIXED], q.shape[0]):
        row = island[place[b, OWN_ISLAND], CUT_ROW] - 1 if 0 <= place[b, OWN_ISLAND] < counts[ISLANDS] else -1
        if row >= 0:
            place[b, SLAB] = int(extent[row, FIRST_BIN + place[b, SLAB]])


@inner_kernel
def _group(place: IntArray, fixed: int, a: int, b: int, slabs: int) -> int:
    """Return the group of a contact."""
    lower, upper = place[b, SLAB], place[b, SLAB]
    if a >= fixed:
        lower, upper = min(lower, place[a, SLAB]), max(upper, place[a, SLAB])
    if lower == upper:
        return int(lower)
    if upper - lower > 1:
        return int(2 * slabs - 1)
    return int(slabs + lower // 2 + (slabs // 2 if lower % 2 == 1 else 0))


@inner_kernel
def cut_islands(t: IntArray) -> None:
    """Cut large islands, sort their contacts by groups and number their bodies as contacts then meet them."""
    counts, island, cut = wholes(t, COUNTS), whole_rows(t, ISLAND), whole_rows(t, CUT)
    place, index, order, position = whole_rows(t, PLACE), whole_rows(t, INDEX), wholes(t, ORDER), wholes(t, POSITION)
    rows, fixed = _large_islands(t), counts[FIXED]
    if rows == 0:
        return
    _measure(t, rows)
    _slabs(t, rows)
    for row in range(rows):
        i, slabs = cut[row, CUT_OF], cut[row, SLABS]
        if slabs == 1:
            continue
        first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
        for g in range(2 * slabs):
            cut[row, GROUP_START + g] = 0
        for k in range(first, last):
            c = order[k]
            g = _group(place, fixed, index[c, A_BODY], index[c, B_BODY], slabs)
            position[c] = g
            cut[row, GROUP_START + g] += 1
        passed = 0
        for g in range(2 * slabs):
            here = cut[row, GROUP_START + g]
            cut[row, GROUP_START + g] = passed
            passed += here
        # Contacts come in the order of features, and keep it within a group.
        for k in range(first, last):
            g = position[order[k]]
            position[order[k]] = first + cut[row, GROUP_START + g]
            cut[row, GROUP_START + g] += 1
        _sort(order, position, first, last)
        bodies = 0
        for k in range(first, last):
            for side in range(2):
                b = index[order[k], side]
                if b >= fixed and place[b, Y_ROW] < 0:
                    place[b, Y_ROW] = bodies
                    bodies += 1


@inner_kernel
def _sort(order: IntArray, position: IntArray, first: int, last: int) -> None:
    """Bring contacts to their positions in place, cycle by cycle."""
    for k in range(first, last):
        while position[order[k]] != k:
            c = order[k]
            order[k], order[position[c]] = order[position[c]], c
