"""The compiled step, joints: the blocks that join contacts and laws to trees, see :mod:`.rows`."""

from __future__ import annotations

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.constants import HELD_MOBILITY
from signorini.engine.arrays import (
    A_BODY,
    B_BODY,
    BLOCK,
    CONTACTS,
    COUNTS,
    COUPLE_AXES,
    DIM,
    FIXED,
    GATHER,
    INDEX,
    JOINTS,
    PLACE,
    START,
    Y_ROW,
)
from signorini.engine.contacts import Frame, Vector, connect_body
from signorini.engine.joints.arrays import (
    ALL_FREEDOMS,
    BLOCKS,
    FORCE,
    LAW_BLOCKS,
    LEAST_BODY,
    LOOP_TAKEN,
    LOOPS,
    MECHANISM,
    MOBILITY,
    MORE_ROWS,
    SPREAD,
    TALLY,
    TREE,
    TREE_BLOCKS,
    TREE_OF,
)
from signorini.engine.joints.loops import take_out_rows
from signorini.engine.joints.rows import climb
from signorini.math.rotation import cross


@inner_kernel
def has_capacity(t: IntArray) -> bool:
    """Tell whether there is room for the blocks that the contacts ahead and all laws may need."""
    j, index = whole_rows(t, JOINTS), whole_rows(t, INDEX)
    tree_of, tally = whole_rows(j, TREE_OF), wholes(j, TALLY)
    needed = tally[LAW_BLOCKS]
    for c in range(wholes(t, COUNTS)[CONTACTS]):
        needed += tree_of[index[c, A_BODY], TREE_BLOCKS] + tree_of[index[c, B_BODY], TREE_BLOCKS]
    tally[BLOCKS] = needed
    return bool(needed <= wholes(t, BLOCK).shape[0])


@inner_kernel
def emit(t: IntArray, j: IntArray, tree: int, g: int) -> int:
    """Move ``SPREAD`` to the blocks from `g` on that join a contact or law to a tree; return where the next begin."""
    spread, trees, place = real_rows(j, SPREAD), whole_rows(j, TREE), whole_rows(t, PLACE)
    block, gather = wholes(t, BLOCK), real_blocks(t, GATHER)
    if whole_rows(j, LOOPS)[tree, LOOP_TAKEN] > 0:
        take_out_rows(j, tree)
    first, more = 2 * place[trees[tree, LEAST_BODY], Y_ROW], 2 * trees[tree, MORE_ROWS] - 2
    turns = wholes(t, COUPLE_AXES).shape[0] > 0  # couples may act where forces do not
    for m in range((trees[tree, ALL_FREEDOMS] + 2) // 3):
        acts = turns
        for i in range(3):
            for l in range(3):
                acts = acts or spread[i, 3 * m + l] != 0.0
        if not acts:
            continue
        # The first row of y where the island met the tree, the others behind those of its bodies.
        block[g] = first + m if m < 2 else more + m
        for i in range(3):
            for l in range(3):
                gather[g, i, l] = spread[i, 3 * m + l]
                spread[i, 3 * m + l] = 0.0
        g += 1
    return g


@inner_kernel
def hold(t: IntArray, j: IntArray, first: int, last: int) -> None:
    """Clear rows of the blocks from `first` to `last` along which joints let nothing move: they are rounding."""
    gather, mobility = real_blocks(t, GATHER), reals(j, MOBILITY)
    for i in range(3):
        s = 0.0
        for g in range(first, last):
            for l in range(3):
                s += gather[g, i, l] ** 2
        if s <= HELD_MOBILITY * mobility[i]:
            for g in range(first, last):
                for l in range(3):
                    gather[g, i, l] = 0.0
        mobility[i] = 0.0


@inner_kernel
def connect_joined(
    t: IntArray, j: IntArray, k: int, bodies: tuple[int, int], arms: tuple[Vector, Vector], frame: Frame, g: int
) -> int:
    """Write the blocks that join contact `k` to its moving bodies, from block `g` on; return where the next begin."""
    counts, tree_of, force = wholes(t, COUNTS), whole_rows(j, TREE_OF), real_rows(j, FORCE)
    gather, mobility, fixed, dim, begin = real_blocks(t, GATHER), reals(j, MOBILITY), counts[FIXED], counts[DIM], g
    wholes(t, START)[k] = g
    for side in range(2):
        b, r, sign = bodies[side], arms[side], 1.0 if side == 1 else -1.0
        if b < fixed:
            continue
        tree = tree_of[b, MECHANISM]
        if tree < 0:
            last = connect_body(t, b, r, frame, sign, g)
            for m in range(g, last):
                for i in range(3):
                    for l in range(3):
                        mobility[i] += gather[m, i, l] ** 2
            g = last
            continue
        for i in range(dim):
            moment = cross(r, frame[i])
            for l in range(3):
                force[i, l] = sign * frame[i][l]
                force[i, 3 + l] = sign * moment[l]
        climb(t, j, b, dim - dim, dim)
        if side == 1 or bodies[1] < fixed or tree_of[bodies[1], MECHANISM] != tree:
            g = emit(t, j, tree, g)
    hold(t, j, begin, g)
    return g
