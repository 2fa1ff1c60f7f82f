"""Joints of the compiled step: their arrays, what Python does for them, and which of them it can take."""

from __future__ import annotations

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini.dynamics import inverse_inertia, joint_coordinates, joint_system
from signorini.dynamics.joint_tree import MOST_ROWS
from signorini.dynamics.motion import motion_rate
from signorini.formulations import joint_arrays as ja
from signorini.formulations.base import JointReport, Memory
from signorini.formulations.gap_law import lift_speed
from signorini.formulations.step_joint_laws import LAST_NAME
from signorini.model import Joints, Model

_ROOM = 1.2  # for blocks, of what is needed, so that arrays do not grow in every step


def takes_joints(model: Model) -> bool:
    """Tell whether the compiled step can take the joints of a model.

    It takes all kinds of joints with springs, dampers, limits, constant friction, drives and motors, in trees and in
    loops. Loops whose rows depend on each other at the start, friction that follows the reaction, constraints by
    functions and joints between fixed bodies go step by step in Python.
    """
    joints = model.joints
    moving = (joints.arrays.body_a >= model.fixed_count) | (joints.arrays.body_b >= model.fixed_count)
    return (
        not joints.equalities
        and not joints.inequalities
        and not np.any(joints.load_friction > 0.0)
        and bool(moving.all())
        and (not joints.tree.loop_row.size or not _depend(model))
    )


def _depend(model: Model) -> bool:
    """Tell whether rows depend on each other at the start: which impulses are the smallest is found in Python."""
    state, h = model.initial_state, 1.0
    near = joint_coordinates(model.joints, state.q, np.zeros(model.joints.count))
    M_inv = inverse_inertia(model.arrays, state.q)
    return joint_system(model, state, near, M_inv, h, secant=False).redundant > 0


class _Trees:
    """Where bodies, rows and degrees of freedom of each mechanism are: trees, and the loops that hold some together."""

    def __init__(self, model: Model) -> None:
        joints, tree, free = model.joints, model.joints.tree, model.arrays.free
        mechanism, self.loop_row, self.loops = _mechanisms(joints, tree.start.size - 1)
        trees = np.argsort(mechanism, kind="stable")
        place = np.concatenate([np.arange(tree.start[k], tree.start[k + 1]) for k in trees] or [np.zeros(0)])
        place = place.astype(np.int64)
        self.body, self.parent = tree.body[place], tree.parent[place]
        self.row_start, self.row_stop = tree.row_start[place], tree.row_stop[place]
        self.parts = np.concatenate([[0], np.cumsum(np.diff(tree.start)[trees])])
        last = np.searchsorted(mechanism[trees], np.arange(self.loops.shape[0]), side="right")
        self.start = np.concatenate([[0], self.parts[last]])
        self.of_body = np.full((model.body_count, 3), -1, dtype=np.int64)
        self.of_body[self.body, 1] = np.arange(self.body.size)
        self.of_body[:, 2] = 2 * (np.arange(model.body_count) >= model.fixed_count)
        self.above = np.where(self.parent >= 0, self.of_body[self.parent, 1], -1)
        self.freedom = np.zeros((self.body.size, 2), dtype=np.int64)
        self.table = np.zeros((self.loops.shape[0], 4), dtype=np.int64)
        rows = zip(self.row_start, self.row_stop, strict=True)
        rigid = np.array([np.count_nonzero(joints.spring[first:stop] == 0) for first, stop in rows], dtype=np.int64)
        for k in range(self.loops.shape[0]):
            at = np.arange(self.start[k], self.start[k + 1])
            self.of_body[self.body[at], 0] = k
            self.freedom[at, 1] = free[self.body[at]].sum(axis=1).astype(np.int64) - rigid[at]
            self.freedom[at, 0] = np.cumsum(self.freedom[at, 1]) - self.freedom[at, 1]
            self.table[k, 0], self.table[k, 1] = self.body[at].min(), self.freedom[at, 1].sum()
        self._count_blocks()

    def _count_blocks(self) -> None:
        """Count the blocks of three degrees of freedom that a force on a body may touch.

        They are those on the way to the root of its tree, or with loops all of the mechanism.
        """
        blocks: list[set[int]] = [set()] * self.body.size
        for i in range(self.body.size - 1, -1, -1):  # from the roots
            first, count = self.freedom[i]
            own = set(range(first // 3, (first + count + 2) // 3)) if count else set()
            blocks[i] = own | blocks[self.above[i]] if self.above[i] >= 0 else own
            k = self.of_body[self.body[i], 0]
            closed = self.loops[k, 1] > self.loops[k, 0]
            self.of_body[self.body[i], 2] = (self.table[k, 1] + 2) // 3 if closed else len(blocks[i])


def _mechanisms(joints: Joints, tree_count: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the mechanism of each tree, the loop rows by mechanisms, and where those of each begin and end, (n, 3)."""
    of_tree, of_body = np.arange(tree_count), joints.tree.of_body
    rows = joints.tree.loop_row
    ends = []
    for r in rows:
        g = joints.rows.joint[r]
        bodies = (joints.arrays.body_a[g], joints.arrays.body_b[g])
        pair = [int(of_body[b]) for b in bodies if b >= 0 and of_body[b] >= 0]
        ends.append(pair[0])
        of_tree[of_tree == of_tree[pair[-1]]] = of_tree[pair[0]]
    mechanism = np.unique(of_tree, return_inverse=True)[1].reshape(-1) if tree_count else of_tree
    own = mechanism[np.array(ends, dtype=np.int64)] if ends else np.zeros(0, dtype=np.int64)
    order = np.argsort(own, kind="stable")
    loops = np.zeros((int(mechanism.max(initial=-1)) + 1, 3), dtype=np.int64)
    loops[:, 0] = np.searchsorted(own[order], np.arange(loops.shape[0]), side="left")
    loops[:, 1] = np.searchsorted(own[order], np.arange(loops.shape[0]), side="right")
    return mechanism, rows[order], loops


class JointTables:
    """The joints of an :class:`~signorini.formulations.engine.Engine`."""

    def __init__(self, model: Model, h: float) -> None:
        self._h = h
        self.arena = Arena(int(ja.ARRAY_COUNT))
        joints = self._joints = model.joints
        trees = _Trees(model)
        self.law_room = _most_laws(joints)
        """Most laws that can act in a step."""
        put, n_b, n_t, n_j = self.arena.put, model.body_count, trees.body.size, joints.count
        n_r, n_g, n_l = joints.rows.joint.size, joints.coordinates.joint.size, trees.loop_row.size
        width = 3 * (int(trees.table[:, 1].max(initial=0)) // 3 + 1)
        most = int((trees.loops[:, 1] - trees.loops[:, 0]).max(initial=0))
        for k, column in zip(range(int(ja.BODY_A), int(ja.PARAMETER) + 1), joints.arrays, strict=True):
            put(k, np.array(column))
        for first, table in ((ja.ROW_JOINT, joints.rows), (ja.GAUGE_JOINT, joints.coordinates)):
            for k, column in enumerate(table):
                put(first + k, np.array(column))
        put(ja.SETTING, _settings(joints))
        soft, pull = _rates(joints, h)
        put(ja.ROLE, joints.drive + 2 * joints.spring)
        put(ja.SOFT_ROW, soft)
        put(ja.PULL, pull)
        for k, whole in (
            (ja.TREE_BODY, trees.body),
            (ja.TREE_PARENT, trees.parent),
            (ja.TREE_FIRST, trees.row_start),
            (ja.TREE_STOP, trees.row_stop),
            (ja.TREE_START, trees.start),
            (ja.TREE_PARTS, trees.parts),
            (ja.LOOPS, trees.loops),
            (ja.LOOP_ROW, trees.loop_row),
            (ja.ABOVE, trees.above),
            (ja.FREEDOM, trees.freedom),
            (ja.TREE_OF, trees.of_body),
            (ja.TREE, trees.table),
        ):
            put(k, np.array(whole, dtype=np.int64))
        for k, shape in (
            (ja.SUMS, (8,)),
            (ja.MOTION, (n_j, 2)),
            (ja.JACOBIAN, (2 * n_r, 6)),
            (ja.PSI, (n_r,)),
            (ja.RATE, (n_r,)),
            (ja.X_2, (n_r,)),
            (ja.REACTION_FREE, (n_r,)),
            (ja.REACTION, (n_r,)),
            (ja.GAUGE_JACOBIAN, (2 * n_g, 6)),
            (ja.GAUGE, (n_g,)),
            (ja.GAUGE_RATE, (n_g,)),
            (ja.COORDINATE, (n_j,)),
            (ja.COORDINATE_0, (n_j,)),
            (ja.REPORT, (n_j, int(ja.REPORT_COLUMNS))),
            (ja.INERTIAS, (n_b, 6, 6)),
            (ja.CHOLESKY, (n_b, 6, 6)),
            (ja.JOINT_ROWS, (n_t, MOST_ROWS, 6)),
            (ja.SCHUR, (n_t, MOST_ROWS, MOST_ROWS)),
            (ja.PASSED, (n_t, MOST_ROWS, 6)),
            (ja.ROOTS, (n_t, 6, 6)),
            (ja.SCALED, (n_t, MOST_ROWS, 6)),
            (ja.PUSH, (n_b, 6)),
            (ja.FORCE, (3, 6)),
            (ja.SPREAD, (3, width)),
            (ja.LOOP_SPREAD, (n_l, width)),
            (ja.LOOP_SCALE, (n_l,)),
            (ja.LOOP_INVERSE, (n_l, most)),
            (ja.LOOP_EXCESS, (n_l,)),
            (ja.LOOP_PUSH, (n_b, 6)),
            (ja.LOOP_REACTION, (n_r,)),
            (ja.EIGEN, (2, most, most)),
            (ja.TAKEN, (n_l, width)),
            (ja.TAKEN_SHARE, (n_l,)),
            (ja.MOBILITY, (3,)),
            (ja.SMALL, (MOST_ROWS, 6)),
            (ja.LAW_VALUE, (self.law_room, 5)),
        ):
            put(k, np.zeros(shape))
        for k, shape in (
            (ja.TALLY, (5,)),
            (ja.ROW_BODY, (2 * n_r,)),
            (ja.GAUGE_BODY, (2 * n_g,)),
            (ja.READY, (n_t,)),
            (ja.LAW, (self.law_room, 3)),
        ):
            put(k, np.zeros(shape, dtype=np.int64))
        self.driven = any(motion is not None for motion in joints.motions)
        """Whether functions prescribe coordinates."""
        depth = np.append(trees.of_body[:, 2], 0)  # of the world, which is number -1, too
        own = 1 + depth[joints.arrays.body_a] + depth[joints.arrays.body_b]
        self.arena[ja.TALLY][[ja.MOVES, ja.LAW_BLOCKS]] = self.driven, 4 * own[joints.coordinates.joint].sum()
        self.arena[ja.SUMS][ja.LIFT] = lift_speed(float(np.linalg.norm(model.arrays.gravity)), h)
        self.make_room(0)
        self.log(0)
        self.arena.check()

    def make_room(self, rows: int) -> None:
        """Make room for so many contacts and laws."""
        self.arena.put(ja.GROUP, np.zeros((rows, 2), dtype=np.int64))

    def block_room(self, rows: int) -> int:
        """Return for how many blocks there should be room, with so many contacts and laws."""
        tally = self.arena[ja.TALLY]
        return max(4 * rows + int(tally[ja.LAW_BLOCKS]), int(_ROOM * tally[ja.BLOCKS]))

    def log(self, rows: int) -> None:
        """Make a log with room for so many steps."""
        self.arena.put(ja.LOG, np.zeros((rows, self._joints.count, int(ja.REPORT_COLUMNS))))

    def read_log(self, rows: int) -> Array:
        """Return the first rows of the log, a copy."""
        return np.array(self.arena[ja.LOG][:rows])

    def load(self, t: float) -> None:
        """Evaluate the motions of the coming step."""
        table = self.arena[ja.MOTION]
        for g, motion in enumerate(self._joints.motions):
            if motion is not None:
                table[g] = motion(t), motion_rate(motion, t, self._h, secant=True)

    def restore(self, coordinate: Array) -> None:
        """Continue where the joints stand like this."""
        self.arena[ja.COORDINATE][:] = coordinate
        self.arena[ja.TALLY][ja.PENDING] = 0

    @property
    def coordinate(self) -> Array:
        """A copy of the coordinates."""
        return np.array(self.arena[ja.COORDINATE])

    @property
    def coordinate_before(self) -> Array:
        """A copy of the coordinates at the start of the last step."""
        return np.array(self.arena[ja.COORDINATE_0])

    def renamed(self, memory: Memory) -> Memory:
        """Return a memory with laws named as formulations do, or as kernels do if they are named like that already."""
        if not memory.feature.size or 0 <= memory.feature[0] <= memory.feature[-1] < LAST_NAME - 4 * self._joints.count:
            return memory  # contacts alone
        feature = self._names(memory.feature)
        order = np.argsort(feature, kind="stable")
        softness = memory.softness[order] if memory.softness.size else memory.softness
        return memory._replace(feature=feature[order], impulse=memory.impulse[order], softness=softness)

    def _names(self, feature: IntArray) -> IntArray:
        """Exchange negative names, joint by joint, and those after all contacts, kind by kind."""
        n_j, out = self._joints.count, feature.copy()
        law = feature >= LAST_NAME - 4 * n_j if n_j else np.zeros(feature.size, dtype=bool)
        kind, joint = np.divmod(feature[law] - (LAST_NAME - 4 * n_j), max(n_j, 1))
        out[law] = -1 - (4 * joint + kind)
        named = feature < 0
        joint, kind = np.divmod(-1 - feature[named], 4)
        out[named] = LAST_NAME - 4 * n_j + kind * n_j + joint
        return out

    def report(self, drift: float, unmet: float, redundant: float) -> JointReport:
        """Return what the joints did in the last step."""
        table = self.arena[ja.REPORT].copy()
        return JointReport(
            coordinate=table[:, ja.AT],
            speed=table[:, ja.SPEED],
            effort=table[:, ja.EFFORT_OF],
            reaction=table[:, ja.REACTION_OF :],
            drift=drift,
            redundant=int(redundant),
            unmet=unmet,
        )


def _settings(joints: Joints) -> Array:
    """Return the numbers of each joint, (n_j, 7)."""
    moved = np.array([motion is not None for motion in joints.motions], dtype=bool)
    effort = np.where(moved, joints.effort_limit, np.inf)  # only what is to move has a motor
    columns = [joints.rest, joints.stiffness, joints.damping, *joints.limits.T, joints.friction, effort]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _rates(joints: Joints, h: float) -> tuple[Array, Array]:
    """Return the compliance of every bilateral row, and what a unit of its psi asks of its speed [1/s]."""
    soft, own = joints.spring == 1, joints.rows.joint
    stiffness, damping = joints.stiffness[own], joints.damping[own]
    compliance = np.where(soft, 1.0 / (h * np.where(soft, h * stiffness + damping, 1.0)), 0.0)
    return compliance, np.where(soft, compliance * h * stiffness, 1.0 / h)


def _most_laws(joints: Joints) -> int:
    """Return how many laws may act in a step."""
    settings = _settings(joints)[joints.coordinates.joint]
    finite = np.isfinite(settings[:, [ja.LOW, ja.HIGH, ja.EFFORT]])
    return int(finite.sum() + np.count_nonzero(settings[:, ja.FRICTION] > 0.0))
