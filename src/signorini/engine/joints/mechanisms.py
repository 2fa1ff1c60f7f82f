"""Mechanisms of the compiled step: trees of joined bodies, those that loops hold together taken as one."""

from __future__ import annotations

import numpy as np

from signorini._arrays import IntArray
from signorini.engine.joints import arrays as ja
from signorini.model import Joints, Model, Tree
from signorini.posing.friction_law import has_couples


class Mechanisms:
    """Where bodies, rows and degrees of freedom of each mechanism are: trees, and the loops that hold some together."""

    def __init__(self, model: Model) -> None:
        joints, tree, free = model.joints, _with_lone(model), model.arrays.free
        mechanism, self.loop_row, self.loops = _mechanisms(model, tree)
        trees = np.argsort(mechanism, kind="stable")
        place = np.concatenate([np.arange(tree.start[k], tree.start[k + 1]) for k in trees] or [np.zeros(0)])
        place = place.astype(np.int64)
        self.body, self.parent = tree.body[place], tree.parent[place]
        self.row_start, self.row_stop = tree.row_start[place], tree.row_stop[place]
        self.tree_start = np.concatenate([[0], np.cumsum(np.diff(tree.start)[trees])])
        last = np.searchsorted(mechanism[trees], np.arange(self.loops.shape[0]), side="right")
        self.start = np.concatenate([[0], self.tree_start[last]])
        self.of_body = np.full((model.body_count, 3), -1, dtype=np.int64)
        self.of_body[self.body, ja.TREE_PLACE] = np.arange(self.body.size)
        self.of_body[:, ja.TREE_BLOCKS] = 2 * (np.arange(model.body_count) >= model.fixed_count)
        self.above = np.where(self.parent >= 0, self.of_body[self.parent, ja.TREE_PLACE], -1)
        self.freedom = np.zeros((self.body.size, 2), dtype=np.int64)
        self.table = np.zeros((self.loops.shape[0], 4), dtype=np.int64)
        rows = zip(self.row_start, self.row_stop, strict=True)
        rigid = np.array([np.count_nonzero(joints.spring[first:stop] == 0) for first, stop in rows], dtype=np.int64)
        for k in range(self.loops.shape[0]):
            at = np.arange(self.start[k], self.start[k + 1])
            self.of_body[self.body[at], ja.MECHANISM] = k
            own = free[self.body[at]].sum(axis=1).astype(np.int64) - rigid[at]
            self.freedom[at, ja.FREEDOMS] = own
            self.freedom[at, ja.FIRST_FREEDOM] = np.cumsum(own) - own
            self.table[k, ja.LEAST_BODY] = self.body[at].min()
            self.table[k, ja.ALL_FREEDOMS] = own.sum()
        self._count_blocks(has_couples(model))

    def _count_blocks(self, couples: bool) -> None:
        """Count the blocks of three degrees of freedom that a force on a body may touch.

        They are those on the way to the root of its tree, or with loops all of the mechanism, as with `couples`.
        """
        blocks: list[set[int]] = [set()] * self.body.size
        for i in range(self.body.size - 1, -1, -1):  # from the roots
            first, count = self.freedom[i]
            own = set(range(first // 3, (first + count + 2) // 3)) if count else set()
            blocks[i] = own | blocks[self.above[i]] if self.above[i] >= 0 else own
            row = self.of_body[self.body[i]]
            k = row[ja.MECHANISM]
            closed = self.loops[k, ja.LOOP_STOP] > self.loops[k, ja.LOOP_FIRST]
            row[ja.TREE_BLOCKS] = (self.table[k, ja.ALL_FREEDOMS] + 2) // 3 if closed or couples else len(blocks[i])


def _with_lone(model: Model) -> Tree:
    """Return the trees, with one for every body that has no joint, but an inequality."""
    tree, fixed = model.joints.tree, model.fixed_count
    bound = {b for one in model.joints.inequalities for b in one.bodies if b >= fixed}
    lone = np.array(sorted(b for b in bound if tree.of_body[b] < 0), dtype=np.int64)
    none, of_body, count = np.zeros(lone.size, dtype=np.int64), tree.of_body.copy(), tree.start.size - 1
    of_body[lone] = count + np.arange(lone.size)
    return tree._replace(
        body=np.concatenate([tree.body, lone]),
        parent=np.concatenate([tree.parent, none - 1]),
        row_start=np.concatenate([tree.row_start, none]),
        row_stop=np.concatenate([tree.row_stop, none]),
        of_body=of_body,
        start=np.concatenate([tree.start, tree.start[-1] + 1 + np.arange(lone.size)]),
    )


def row_bodies(joints: Joints) -> list[tuple[int, ...]]:
    """Return the bodies of each bilateral row."""
    of_joints = [(int(joints.arrays.body_a[g]), int(joints.arrays.body_b[g])) for g in joints.rows.joint]
    return of_joints + [one.bodies for one in joints.equalities for _ in range(one.size)]


def _mechanisms(model: Model, tree: Tree) -> tuple[IntArray, IntArray, IntArray]:
    """Return the mechanism of each tree, the loop rows by mechanisms, and where those of each begin and end, (n, 4).

    Bodies of an inequality are in one mechanism, too.
    """
    joints, tree_count = model.joints, tree.start.size - 1
    of_tree, of_body, rows, every = np.arange(tree_count), tree.of_body, tree.loop_row, row_bodies(model.joints)
    ends = []
    for bodies in [*(every[r] for r in rows), *(one.bodies for one in joints.inequalities)]:
        trees = [int(of_body[b]) for b in bodies if b >= model.fixed_count]
        ends.append(trees[0])
        for other in trees[1:]:
            of_tree[of_tree == of_tree[other]] = of_tree[trees[0]]
    ends = ends[: rows.size]
    mechanism = np.unique(of_tree, return_inverse=True)[1].reshape(-1) if tree_count else of_tree
    own = mechanism[np.array(ends, dtype=np.int64)] if ends else np.zeros(0, dtype=np.int64)
    order = np.argsort(own, kind="stable")
    loops = np.zeros((int(mechanism.max(initial=-1)) + 1, 4), dtype=np.int64)
    loops[:, ja.LOOP_FIRST] = np.searchsorted(own[order], np.arange(loops.shape[0]), side="left")
    loops[:, ja.LOOP_STOP] = np.searchsorted(own[order], np.arange(loops.shape[0]), side="right")
    return mechanism, rows[order], loops
