"""Joints of the compiled step: their arrays, and what Python does for them."""

from __future__ import annotations

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini.dynamics import (
    joint_rows,
    kinetic_energy,
    potential_energy,
    projected,
)
from signorini.dynamics.joint_faults import coordinate_sizes, row_joint, row_sizes, scene_extent
from signorini.dynamics.joint_tree import MOST_ROWS
from signorini.dynamics.motion import motion_rate
from signorini.engine import arrays as ea
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.functions import terms_of
from signorini.engine.joints.laws import LAST_NAME
from signorini.engine.joints.mechanisms import Mechanisms
from signorini.model import Joints, Model, State
from signorini.posing.base import JointReport, Memory
from signorini.posing.constants import BLOCK_CAPACITY
from signorini.posing.gap_law import pull_and_lift


class JointTables:
    """The joints of an :class:`~signorini.engine.engine.Engine`."""

    def __init__(self, model: Model, h: float, theta: float = 1.0, *, projects: bool = False) -> None:
        self._drift, self._joints, self._model = theta * h, model.joints, model
        self.projects = projects
        """Whether bodies are moved onto their joints where steps end."""
        self.arena = Arena(int(ja.ARRAY_COUNT))
        self.law_capacity = _most_laws(model.joints)
        """Most laws that can act in a step."""
        self.driven = any(motion is not None for motion in model.joints.motions)
        """Whether functions prescribe coordinates."""
        self.loops = model.joints.tree.loop_row.size > 0
        """Whether rows close loops: they may come to depend on each other, of whose impulses the smallest are taken."""
        self.functions = bool(model.joints.equalities or model.joints.inequalities)
        """Whether users' functions say some of the rows."""
        mechanisms = Mechanisms(model)
        self._put_joints()
        self._put_sizes(model)
        self._put_mechanisms(mechanisms)
        self._make_arrays(mechanisms, model.body_count)
        self.arena[ja.TALLY][[ja.MOVES, ja.LAW_BLOCKS]] = self.driven, self._most_law_blocks(mechanisms)
        self.arena[ja.TALLY][ja.PROJECTS] = projects
        self.arena[ja.SUMS][ja.LIFT] = pull_and_lift(float(np.linalg.norm(model.arrays.gravity)), h, theta)[1]
        self.arena[ja.SUMS][ja.EXTENT] = scene_extent(model)
        self.reserve(0)
        self.log(0)
        self.arena.check()

    def _put_joints(self) -> None:
        """Put in what stays the same of joints and rows."""
        joints, put = self._joints, self.arena.put
        tables = ((ja.BODY_A, joints.arrays), (ja.ROW_JOINT, joints.rows), (ja.GAUGE_JOINT, joints.coordinates))
        for first, table in tables:
            for k, column in enumerate(table):
                put(first + k, np.array(column))
        put(ja.SETTING, _settings(joints))
        more = joints.row_count - joints.joint_row_count
        put(ja.ROLE, np.concatenate([joints.drive + 2 * joints.spring, np.full(more, ja.BY_FUNCTION)]))
        count = joints.row_count + 2 * joints.coordinates.joint.size + sum(one.size for one in joints.inequalities)
        put(ja.OWNER, np.array([row_joint(self._model, r) for r in range(count)], dtype=np.int64))

    def _put_sizes(self, model: Model) -> None:
        """Put in beside what residuals count."""
        sizes, more = row_sizes(model), model.joints.row_count - model.joints.joint_row_count
        self.arena.put(ja.ROW_SIZE, np.concatenate([sizes.size, np.full(more, scene_extent(model))]))
        self.arena.put(ja.LEVER, np.concatenate([sizes.lever, np.zeros(more)]).astype(np.int64))
        self.arena.put(ja.GAUGE_SIZE, coordinate_sizes(model))

    def _put_mechanisms(self, mechanisms: Mechanisms) -> None:
        """Put in what stays the same of trees and loops."""
        for k, whole in (
            (ja.TREE_BODY, mechanisms.body),
            (ja.TREE_PARENT, mechanisms.parent),
            (ja.TREE_FIRST, mechanisms.row_start),
            (ja.TREE_STOP, mechanisms.row_stop),
            (ja.MECHANISM_START, mechanisms.start),
            (ja.TREE_START, mechanisms.tree_start),
            (ja.LOOPS, mechanisms.loops),
            (ja.LOOP_ROW, mechanisms.loop_row),
            (ja.ABOVE, mechanisms.above),
            (ja.FREEDOM, mechanisms.freedom),
            (ja.TREE_OF, mechanisms.of_body),
            (ja.TREE, mechanisms.table),
        ):
            self.arena.put(k, np.array(whole, dtype=np.int64))

    def _make_arrays(self, mechanisms: Mechanisms, n_b: int) -> None:
        """Make the arrays of a step."""
        joints, loops, put = self._joints, mechanisms.loops, self.arena.put
        n_j, n_r = joints.count, joints.row_count
        row_terms, row_body = terms_of(joints.joint_row_count, joints.equalities)
        gauge_terms, gauge_body = terms_of(joints.coordinates.joint.size, joints.inequalities)
        m_r, m_g, n_g = int(row_terms[-1]), int(gauge_terms[-1]), gauge_terms.size - 1
        n_t, n_l = mechanisms.body.size, mechanisms.loop_row.size
        most = int((loops[:, ja.LOOP_STOP] - loops[:, ja.LOOP_FIRST]).max(initial=0))
        width = 3 * (int(mechanisms.table[:, ja.ALL_FREEDOMS].max(initial=0)) // 3 + 1)
        for k, shape in (
            (ja.SUMS, (11,)),
            (ja.MOTION, (n_j, 2)),
            (ja.JACOBIAN, (m_r, 6)),
            (ja.PSI, (n_r,)),
            (ja.RATE, (n_r,)),
            (ja.X_2, (n_r,)),
            (ja.SOFT_ROW, (n_r,)),
            (ja.SHARE, (n_r,)),
            (ja.CLOSED, (n_r,)),
            (ja.APART, (mechanisms.table.shape[0],)),
            (ja.REACTION_FREE, (n_r,)),
            (ja.REACTION, (n_r,)),
            (ja.GAUGE_JACOBIAN, (m_g, 6)),
            (ja.GAUGE, (n_g,)),
            (ja.GAUGE_RATE, (n_g,)),
            (ja.COORDINATE, (n_j,)),
            (ja.COORDINATE_0, (n_j,)),
            (ja.START_SPEED, (n_j,)),
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
            (ja.SPARE, (n_l, n_r)),
            (ja.SPARE_FORCE, (most, 6 * n_t)),
            (ja.SPARE_GRAM, (2, most, most)),
            (ja.SPARE_MIXED, (most, n_r)),
            (ja.MOBILITY, (3,)),
            (ja.SMALL, (MOST_ROWS, 6)),
            (ja.LAW_VALUE, (self.law_capacity, 5)),
            (ja.END_JACOBIAN, (m_r, 6)),
            (ja.END_PSI, (n_r,)),
            (ja.END_IMPULSE, (n_r,)),
            (ja.END_SUM, (n_r,)),
            (ja.END_Q, (n_b, 7)),
            (ja.END_V, (n_b, 6)),
        ):
            put(k, np.zeros(shape))
        for k, shape in (
            (ja.TALLY, (8,)),
            (ja.ROW_BODY, (m_r,)),
            (ja.GAUGE_BODY, (m_g,)),
            (ja.READY, (n_t,)),
            (ja.LAW, (self.law_capacity, 3)),
            (ja.END_BODY, (m_r,)),
        ):
            put(k, np.zeros(shape, dtype=np.int64))
        put(ja.ROW_TERMS, row_terms)
        put(ja.GAUGE_TERMS, gauge_terms)
        for k, of_functions in ((ja.ROW_BODY, row_body), (ja.END_BODY, row_body), (ja.GAUGE_BODY, gauge_body)):
            self.arena[k][self.arena[k].size - of_functions.size :] = of_functions

    def _most_law_blocks(self, mechanisms: Mechanisms) -> int:
        """Return how many blocks the laws may need in all."""
        joints = self._joints
        depth = np.append(mechanisms.of_body[:, ja.TREE_BLOCKS], 0)  # of the world, which is number -1, too
        own = 1 + depth[joints.arrays.body_a] + depth[joints.arrays.body_b]
        of_joints = 4 * int(own[joints.coordinates.joint].sum())
        all_of_it = 1 + (int(mechanisms.table[:, ja.ALL_FREEDOMS].max(initial=0)) + 2) // 3
        return of_joints + all_of_it * sum(one.size for one in joints.inequalities)

    def reserve(self, rows: int) -> None:
        """Make room for so many contacts and laws."""
        self.arena.put(ja.GROUP, np.zeros((rows, 2), dtype=np.int64))

    def block_capacity(self, rows: int) -> int:
        """Return for how many blocks there should be room, with so many contacts and laws."""
        tally = self.arena[ja.TALLY]
        return max(4 * rows + int(tally[ja.LAW_BLOCKS]), int(BLOCK_CAPACITY * tally[ja.BLOCKS]))

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
                table[g] = motion(t), motion_rate(motion, t, self._drift, secant=True)

    def project(self, before: State, moved: State) -> tuple[State, float]:
        """Return the end of a step, to which bodies have `moved`, on the joints, and the energy that it has more [J].

        `before` is where it acted.
        """
        model, joints, near = self._model, self._joints, self.coordinate
        rows = joint_rows(joints.arrays, joints.coordinates, moved.q, near)
        near[joints.coordinates.joint] += self._drift * rows.velocity(moved.v)
        end = projected(model, before, moved, near, self._drift)
        gained = _energy(model, end) - _energy(model, moved)
        self.arena[ja.SUMS][ja.RIGID_WORK] += gained
        return end, gained

    def restore(self, coordinate: Array) -> None:
        """Continue where the joints stand like this."""
        self.arena[ja.COORDINATE][:] = coordinate
        self.arena[ja.TALLY][[ja.PENDING, ja.FACTORED]] = 0

    def go_back(self) -> None:
        """Go back to the start of a step whose bodies have drifted."""
        self.arena[ja.COORDINATE][:] = self.arena[ja.COORDINATE_0]

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
        if not memory.feature.size or 0 <= memory.feature[0] <= memory.feature[-1] < self._first_name:
            return memory  # contacts alone
        feature = self._names(memory.feature)
        order = np.argsort(feature, kind="stable")
        softness = memory.softness[order] if memory.softness.size else memory.softness
        return memory._replace(feature=feature[order], impulse=memory.impulse[order], softness=softness)

    def _names(self, feature: IntArray) -> IntArray:
        """Exchange negative names, joint by joint, and those after all contacts, kind by kind, inequalities last."""
        n_j, out, first = self._joints.count, feature.copy(), self._first_name
        law = feature >= first if first < LAST_NAME else np.zeros(feature.size, dtype=bool)
        number = feature[law] - first
        kind, joint = np.divmod(number, max(n_j, 1))
        out[law] = -1 - np.where(number < 4 * n_j, 4 * joint + kind, number)
        named = feature < 0
        number = -1 - feature[named]
        joint, kind = np.divmod(number, 4)
        out[named] = first + np.where(number < 4 * n_j, kind * n_j + joint, number)
        return out

    @property
    def _first_name(self) -> int:
        """The least name that kernels give to a law."""
        return int(LAST_NAME) - 4 * self._joints.count - sum(one.size for one in self._joints.inequalities)

    def report(self, check: Array) -> JointReport:
        """Return what the joints did in the last step, which said this of itself."""
        table = self.arena[ja.REPORT].copy()
        return JointReport(
            coordinate=table[:, ja.COORDINATE_OF],
            speed=table[:, ja.SPEED],
            effort=table[:, ja.EFFORT_OF],
            reaction=table[:, ja.REACTION_OF : ja.ENDING_OF],
            ending=table[:, ja.ENDING_OF :],
            drift=float(check[ea.JOINT_DRIFT]),
            redundant=int(check[ea.REDUNDANT_ROWS]),
            unmet=float(check[ea.JOINT_CONFLICT]),
            apart=float(check[ea.JOINT_APART]),
            drift_row=int(check[ea.DRIFT_ROW]),
            conflict_row=int(check[ea.CONFLICT_ROW]),
            moved_onto=bool(check[ea.MOVED_ONTO]),
            fault=int(check[ea.JOINT_FAULT]),
        )


def _energy(model: Model, state: State) -> float:
    """Return kinetic and potential energy [J]."""
    return float(kinetic_energy(model.arrays, state.q, state.v).sum() + potential_energy(model, state.q).sum())


def _settings(joints: Joints) -> Array:
    """Return the numbers of each joint, (n_j, 7)."""
    moved = np.array([motion is not None for motion in joints.motions], dtype=bool)
    effort = np.where(moved, joints.effort_limit, np.inf)  # only what is to move has a motor
    friction = np.maximum(
        joints.friction, joints.load_friction[:, 0]
    )  # by load: that there is some, Python says how much
    columns = [joints.rest, joints.stiffness, joints.damping, *joints.limits.T, friction, effort]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _most_laws(joints: Joints) -> int:
    """Return how many laws may act in a step."""
    settings = _settings(joints)[joints.coordinates.joint]
    finite = np.isfinite(settings[:, [ja.LOW, ja.HIGH, ja.EFFORT]])
    more = sum(one.size for one in joints.inequalities)
    return int(finite.sum() + np.count_nonzero(settings[:, ja.FRICTION] > 0.0)) + more
