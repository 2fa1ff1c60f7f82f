"""The compiled step with couples, joints: the rows of couples at contacts of joined bodies, seen through their trees.

As :mod:`.blocks` does with forces, whose blocks are there already: every block of the
trees that a contact is on.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.constants import HELD_MOBILITY
from signorini.engine.arrays import (
    B_BODY,
    COUNTS,
    COUPLE_AXES,
    COUPLE_GATHER,
    COUPLE_SCALE,
    FACTOR,
    FIXED,
    JOINTS,
    NORMAL,
    ORDER,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    START,
)
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.loops import take_out_rows
from signorini.engine.joints.rows import climb, mobility_alone
from signorini.math.rotation import tangent_frame


@inner_kernel
def _turn_tree(t: IntArray, j: IntArray, k: int, tree: int, g: int) -> int:
    """Move ``SPREAD`` to the rows of couples of contact `k`, from block `g` on; return where the next begin."""
    spread, wide, axes, s = (
        real_rows(j, ja.SPREAD),
        real_blocks(t, COUPLE_GATHER),
        wholes(t, COUPLE_AXES),
        real_rows(t, COUPLE_SCALE),
    )
    if whole_rows(j, ja.LOOPS)[tree, ja.LOOP_TAKEN] > 0:
        take_out_rows(j, tree)
    for m in range((whole_rows(j, ja.TREE)[tree, ja.ALL_FREEDOMS] + 2) // 3):
        for i in range(axes.shape[0]):
            for l in range(3 if axes[i] >= 3 else 0):
                wide[g, i, l] = s[k, i] * spread[axes[i] - 3, 3 * m + l]
        for i in range(3):
            for l in range(3):
                spread[i, 3 * m + l] = 0.0
        g += 1
    return g


@inner_kernel
def _turn_alone(t: IntArray, k: int, b: int, force: Array, g: int) -> int:
    """Write the rows of couples of contact `k` on body `b`, which has no joint; return where the next blocks begin."""
    wide, axes, s, L = (
        real_blocks(t, COUPLE_GATHER),
        wholes(t, COUPLE_AXES),
        real_rows(t, COUPLE_SCALE),
        real_rows(t, FACTOR),
    )
    for i in range(axes.shape[0]):
        for l in range(3 if axes[i] >= 3 else 0):
            d = force[axes[i] - 3]
            wide[g, i, l] = 0.0
            wide[g + 1, i, l] = s[k, i] * (d[3] * L[b, 3 + l] + d[4] * L[b, 6 + l] + d[5] * L[b, 9 + l])
    return g + 2


@inner_kernel
def turn_joined(t: IntArray, k: int) -> None:
    """Write the rows of couples of contact `k`; they are zero for a law of a joint."""
    j, counts, c = whole_rows(t, JOINTS), wholes(t, COUNTS), wholes(t, ORDER)[k]
    start, wide, axes, s = (
        wholes(t, START),
        real_blocks(t, COUPLE_GATHER),
        wholes(t, COUPLE_AXES),
        real_rows(t, COUPLE_SCALE),
    )
    index, value, tree_of = whole_rows(t, SEEN_INDEX), real_rows(t, SEEN_VALUE), whole_rows(j, ja.TREE_OF)
    force, mobility, g, fixed = real_rows(j, ja.FORCE), reals(j, ja.MOBILITY), start[k], counts[FIXED]
    if c >= counts[SEEN]:
        for g in range(start[k], start[k + 1]):
            for i in range(axes.shape[0]):
                for l in range(3 if axes[i] >= 3 else 0):
                    wide[g, i, l] = 0.0
        return
    n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    tangent, other = tangent_frame(n)
    frame = (n, tangent, other)
    for side in range(2):
        b, sign = index[c, side], 1.0 if side == 1 else -1.0
        if b < fixed:
            continue
        for i in range(3):
            for l in range(3):
                force[i, l] = 0.0
                force[i, 3 + l] = sign * frame[i][l]
        tree = tree_of[b, ja.MECHANISM]
        if tree < 0:
            for i in range(3):
                mobility[i] += mobility_alone(real_rows(t, FACTOR)[b], force[i])
            g = _turn_alone(t, k, b, force, g)
            continue
        climb(t, j, b, fixed - fixed, fixed - fixed + 3)
        if side == 1 or index[c, B_BODY] < fixed or tree_of[index[c, B_BODY], ja.MECHANISM] != tree:
            g = _turn_tree(t, j, k, tree, g)
    for i in range(axes.shape[0]):
        size = 0.0
        for g in range(start[k], start[k + 1]):
            for l in range(3 if axes[i] >= 3 else 0):
                size += wide[g, i, l] ** 2
        if axes[i] >= 3 and size <= HELD_MOBILITY * s[k, i] ** 2 * mobility[axes[i] - 3]:
            for g in range(start[k], start[k + 1]):
                for l in range(3):
                    wide[g, i, l] = 0.0
    for i in range(3):
        mobility[i] = 0.0
