r"""Joints in a time step: the blocks of S1 eqs. (40)-(47), with loops and redundant rows.

.. math::
    v^+ = A_{11} x_1 + A_{12} x_2, \qquad \lambda = A_{12}^T x_1 + A_{22} x_2, \qquad
    x_1 = M v + p_{ext} + J^T p, \quad x_2 = \psi/h + \psi_t

Rows of the spanning forest are eliminated in linear time (:mod:`signorini.dynamics.joint_tree`), giving the answer
:math:`A_t` of the trees; the other rows C close loops and may depend on the rest. With
:math:`S = C A_t C^T` and its pseudo-inverse

.. math::
    A_{11} = A_t - A_t C^T S^+ C A_t .

Velocities are unique also where rows depend on each other; of the impulses the smallest in the Euclidean norm are
returned.

References
----------
.. [S1] Trinkle (2003), eqs. (40)-(47) and footnote 6; corrected blocks and rank deficiency in sections 5 and 5.1 of the
   specification.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics.bodies import inertia_blocks, inverse_inertia
from signorini.dynamics.constants import (
    DEPENDENT,
    FORCELESS,
    HELD_MOBILITY,
    MOST_PROJECTIONS,
    NO_FORCE,
    PROJECTED,
    PROJECTED_SLOWLY,
    STIFF,
)
from signorini.dynamics.constraints import constraint_rows
from signorini.dynamics.joint_rows import Rows, joint_rows, stacked
from signorini.dynamics.joint_springs import midpoint_shares
from signorini.dynamics.joint_tree import MOST_ROWS, factor, respond, solve_trees
from signorini.dynamics.motion import advance, drive_velocity, motion_rate
from signorini.model import Joints, Model, State


@dataclass(frozen=True, slots=True)
class Loops:
    """Rows of one mechanism that close loops, seen through its trees."""

    row: IntArray
    """(n_l,)"""
    velocity: Array
    """``A_t C^T``: answer of all bodies to a unit impulse of each row, (n_l, n_b, 6)."""
    impulse: Array
    """Answer of the rows of the trees, (n_l, n_r)."""
    inverse: Array
    """``S^+``, (n_l, n_l)."""
    independent: Array
    """Combinations of the rows that depend on nothing else, (n_l, rank)."""
    idle: Array
    """Orthonormal impulses of all rows that move nothing, (n_idle, n_r)."""
    spare: Array
    """Combinations of them that can be left out without a trace; where joints have drifted, there may be fewer."""


@dataclass(frozen=True, slots=True)
class JointSystem:
    """All bilateral rows of a model at one configuration, factored."""

    model: Model
    rows: Rows
    x2: Array
    """Right-hand side, (n_r,) [m/s, rad/s]."""
    compliance: Array
    """(n_r,); 0 for rigid rows."""
    M: Array
    """(n_b, 6, 6)"""
    M_inv: Array
    factors: tuple[Array, Array, Array, Array]
    loops: tuple[Loops, ...]
    share: Array
    """Of the midpoint rule in springs, see :mod:`signorini.dynamics.joint_springs`, or of theta's, which is all."""

    @property
    def redundant(self) -> int:
        """Number of rows that depend on others."""
        return sum(loops.idle.shape[0] for loops in self.loops)

    def solve(self, v: Array) -> tuple[Array, Array]:
        """Return the velocities that obey the joints, and the impulses of all rows.

        `v` (n_b, 6) are the velocities that the bodies would have without joints.
        """
        tree = self.model.joints.tree
        out = v.copy()
        out[: self.model.fixed_count] = 0.0
        out[tree.body] = np.einsum("bij,bj->bi", self.M[tree.body], out[tree.body])  # x_1
        impulse = self.x2.copy()
        impulse[tree.loop_row] = 0.0
        solve_trees(*self._tree(), out, impulse)
        if tree.loop_row.size:
            excess = self.rows.velocity(out) + self.x2
            for loops in self.loops:
                mu = -loops.inverse @ excess[loops.row]
                out += np.einsum("l,lbi->bi", mu, loops.velocity)
                impulse += mu @ loops.impulse
                impulse[loops.row] = mu
            for loops in self.loops:
                impulse -= loops.spare.T @ (loops.spare @ impulse)
        out[: self.model.fixed_count] = v[: self.model.fixed_count]
        return out, impulse

    def unmet(self, v: Array, impulse: Array) -> Array:
        """Return ``B v + E lambda + x_2`` row by row: not zero where rows contradict each other."""
        moving = v.copy()
        moving[: self.model.fixed_count] = 0.0
        return self.rows.velocity(moving) + self.compliance * impulse + self.x2

    def mobility(self, rows: Rows) -> Array:
        """Return ``H A11 H^T`` for scalar rows H, (m, m).

        Rows that the joints do not let move are exactly zero: the rounding that is left of them would otherwise be
        taken for a very small mobility.
        """
        W = np.zeros((rows.row_count, rows.row_count))
        respond(*self._tree(), self.model.joints.tree.of_body, self.M_inv, rows.start, rows.body, rows.J, W)
        for loops in self.loops:
            X = np.array([rows.velocity(answer) for answer in loops.velocity]).reshape(loops.row.size, rows.row_count)
            W -= X.T @ loops.inverse @ X
        held = W.diagonal() <= HELD_MOBILITY * rows.mobility(self.M_inv)
        W[held] = 0.0
        W[:, held] = 0.0
        return W

    def independent(self) -> tuple[Array, Array, Array]:
        """Return rows that say the same and depend on nothing: B (r, 6 n_b), E (r, r) and x_2 (r,)."""
        n = self.rows.row_count
        loop = np.zeros(n, dtype=bool)
        loop[self.model.joints.tree.loop_row] = True
        parts = [np.eye(n)[:, ~loop]]
        for loops in self.loops:
            part = np.zeros((n, loops.independent.shape[1]))
            part[loops.row] = loops.independent
            parts.append(part)
        mix = np.concatenate(parts, axis=1).T
        return mix @ self.rows.dense(self.model.body_count), mix * self.compliance @ mix.T, mix @ self.x2

    def _tree(
        self,
    ) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, Array, Array, Array, Array]:
        """Return the leading arguments of the kernels."""
        tree = self.model.joints.tree
        return (
            tree.start,
            tree.body,
            tree.parent,
            tree.row_start,
            tree.row_stop,
            *self.factors,
        )


def joint_system(
    model: Model,
    state: State,
    coordinate: Array,
    M_inv: Array,
    h: float,
    *,
    secant: bool,
    span: float | None = None,
) -> JointSystem:
    """Evaluate and factor the joints at the start of a step.

    Parameters
    ----------
    coordinate : (n_j,)
        Joint coordinates near those of the state, for angles that have turned more than once.
    secant : bool
        Prescribed motions count with their mean rate over the step, otherwise with that at its start.
    span : float, optional
        Seconds for which springs push before bodies move for `h` seconds; by default as many. Springs push as in
        :mod:`signorini.dynamics.joint_springs` then, else as the theta-method has it.
    """
    span = h if span is None else span
    joints = model.joints
    rows = bilateral_rows(model, state, coordinate, h, secant=secant)
    own = joints.rows.joint
    stiffness, damping = joints.stiffness[own], joints.damping[own]
    compliance, x2 = np.zeros(rows.row_count), rows.psi / h + rows.rate
    soft = np.flatnonzero(joints.spring)
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    theta, speed = h / span, (rows.velocity(moving) + rows.rate)[soft]
    share = np.ones(soft.size)
    ahead, behind = theta * share, (1.0 - theta) * (span - h) * share
    if theta == 1.0:
        share = midpoint_shares(spring_steepness(model, state, coordinate, rows, M_inv, h))
        ahead, behind = 1.0 - 0.75 * share, 0.25 * h * share
    # Else the mean of the stretches at start and end, weighted as the velocities are; bodies have moved ahead.
    compliance[soft] = 1.0 / (span * (ahead * h * stiffness[soft] + damping[soft]))
    x2[soft] = rows.rate[soft] + compliance[soft] * span * stiffness[soft] * (rows.psi[soft] - behind * speed)
    system = _factored(model, rows, x2, compliance, inertia_blocks(model.arrays, state.q), M_inv)
    return replace(system, share=share)


def spring_steepness(model: Model, state: State, coordinate: Array, rows: Rows, M_inv: Array, h: float) -> Array:
    """Return ``z = h^2 k w`` of the springs, in the order of their `rows`: how stiff they are beside a step of `h` s.

    The rigid joints are asked for w only where free bodies, which move more easily, would make a spring too stiff.
    """
    soft = np.flatnonzero(model.joints.spring)
    stiffness = h * h * model.joints.stiffness[model.joints.rows.joint[soft]]
    z: Array = stiffness * rows.mobility(M_inv)[soft]
    steep = np.flatnonzero(z > STIFF)
    if steep.size:
        terms = (rows.start[soft[steep]][:, None] + np.arange(2)).reshape(-1)
        none = np.zeros(steep.size)
        own = Rows(2 * np.arange(steep.size + 1), rows.body[terms], rows.J[terms], none, none)
        z[steep] = stiffness[steep] * pushing(model, state, coordinate).mobility(own).diagonal()
    return z


def bilateral_rows(model: Model, state: State, coordinate: Array, h: float, *, secant: bool) -> Rows:
    """Return all bilateral rows; psi of a driven row is what it lags behind, of a spring its stretch."""
    joints = model.joints
    rows = joint_rows(joints.arrays, joints.rows, state.q, coordinate)
    rows.rate[:] += rows.velocity(drive_velocity(model, state, h, secant=secant))
    for r in np.flatnonzero(joints.drive):
        motion = joints.motions[joints.rows.joint[r]]
        assert motion is not None
        rows.psi[r] -= motion(state.t)
        rows.rate[r] -= motion_rate(motion, state.t, h, secant=secant)
    soft = np.flatnonzero(joints.spring)
    rows.psi[soft] -= joints.rest[joints.rows.joint[soft]]
    if not joints.equalities:
        return rows
    return stacked([rows, *(constraint_rows(model, one, state.q, state.t) for one in joints.equalities)])


def joint_coordinates(joints: Joints, q: Array, near: Array) -> Array:
    """Return angle, displacement or distance of every joint, 0 for those without one; angles next to `near`, (n_j,)."""
    value = np.zeros(joints.count)
    value[joints.coordinates.joint] = joint_rows(joints.arrays, joints.coordinates, q, near).psi
    return value


def projected(model: Model, before: State, state: State, coordinate: Array, h: float) -> State:
    """Return the state at the end of a step of `h` seconds moved onto the joints, where psi vanishes.

    Bodies move as the joints push them at the start of the step, `before`, and their velocities are those at which they
    have moved: the method SHAKE. Moved to the nearest positions instead they would lose energy in every step.
    """
    size = PROJECTED * max(float(np.abs(state.q[:, :3]).max()), 1.0)
    v, pushed, last = state.v.copy(), before, np.inf
    system: JointSystem | None = None
    for _ in range(MOST_PROJECTIONS):
        psi = rigid_rows(model, state, coordinate).psi
        error = float(np.abs(psi).max(initial=0.0))
        if error <= size:
            break
        if system is None or error > PROJECTED_SLOWLY * last:
            if system is not None:  # the step turns bodies too far for the directions at its start
                pushed = state
            system = pushing(model, pushed, coordinate)
        last = error
        system.x2[:] = psi
        shift, _ = system.solve(np.zeros_like(v))
        v += shift / h
        q = advance(model, replace(state, t=state.t - h, v=v), shift / h, h, exact_rotation=True).q
        state = replace(state, q=q, v=v)
    return replace(state, v=v)


def rigid_rows(model: Model, state: State, coordinate: Array) -> Rows:
    """Return all bilateral rows, those of springs without a residual."""
    rows = bilateral_rows(model, state, coordinate, 1.0, secant=False)
    rows.psi[np.flatnonzero(model.joints.spring)] = 0.0
    return rows


def pushing(model: Model, state: State, coordinate: Array) -> JointSystem:
    """Return the joints at a state, springs left out."""
    rows = rigid_rows(model, state, coordinate)
    compliance = np.zeros(rows.row_count)
    compliance[np.flatnonzero(model.joints.spring)] = NO_FORCE
    M, M_inv = inertia_blocks(model.arrays, state.q), inverse_inertia(model.arrays, state.q)
    return _factored(model, rows, rows.psi, compliance, M, M_inv)


def elastic_energy(joints: Joints, coordinate: Array) -> float:
    """Return the energy of all joint springs [J]."""
    return float(0.5 * np.sum(joints.stiffness * (coordinate - joints.rest) ** 2))


def _factored(model: Model, rows: Rows, x2: Array, compliance: Array, M: Array, M_inv: Array) -> JointSystem:
    """Eliminate the trees, then look through them at the loops."""
    tree, n_t = model.joints.tree, model.joints.tree.body.size
    A, S = np.zeros_like(M), np.zeros((n_t, MOST_ROWS, MOST_ROWS))
    C, X = np.zeros((n_t, MOST_ROWS, 6)), np.zeros((n_t, MOST_ROWS, 6))
    factors = (A, C, S, X)
    factor(tree.body, tree.parent, tree.row_start, tree.row_stop, rows.body, rows.J, compliance, M, *factors)
    system = JointSystem(model, rows, x2, compliance, M, M_inv, factors, (), np.zeros(0))
    if not tree.loop_row.size:
        return system
    spans = zip(tree.loop_start[:-1], tree.loop_start[1:], strict=True)
    loops = tuple(_loops(system, tree.loop_row[first:last]) for first, last in spans)
    return replace(system, loops=loops)


def _loops(system: JointSystem, row: IntArray) -> Loops:
    """Return the rows of one mechanism that close its loops, with the pseudo-inverse of their Schur complement."""
    rows, n_b, n_r = system.rows, system.model.body_count, system.rows.row_count
    velocity, impulse = np.zeros((row.size, n_b, 6)), np.zeros((row.size, n_r))
    free = rows.mobility(system.M_inv)[row]
    unit = np.zeros(n_r)
    for k, r in enumerate(row):
        unit[r] = 1.0
        force = rows.force(unit, n_b)
        unit[r] = 0.0
        force[: system.model.fixed_count] = 0.0
        velocity[k] = force
        solve_trees(*system._tree(), velocity[k], impulse[k])
    S = np.array([rows.velocity(answer)[row] for answer in velocity]).reshape(row.size, row.size)
    size = free + system.compliance[row]  # soft springs would hide the dependence of rigid rows
    scale = 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))
    S = scale[:, None] * (0.5 * (S + S.T) + np.diag(system.compliance[row])) * scale
    value, vector = np.linalg.eigh(S)
    kept = value > DEPENDENT
    inverse = scale[:, None] * ((vector[:, kept] / value[kept]) @ vector[:, kept].T) * scale
    # An impulse of dependent rows and the answer of the trees together move nothing.
    idle = scale[:, None] * vector[:, ~kept]
    all_rows = impulse.T @ idle
    all_rows[row] += idle
    independent = np.ascontiguousarray(scale[:, None] * vector[:, kept])
    idle_rows = np.ascontiguousarray(np.linalg.qr(all_rows)[0].T)
    return Loops(row, velocity, impulse, inverse, independent, idle_rows, _spare(system, idle_rows))


def _spare(system: JointSystem, idle: Array) -> Array:
    """Return the combinations of idle impulses (n_idle, n_r) that exert no force at all."""
    if not idle.size:
        return idle
    n_b, fixed = system.model.body_count, system.model.fixed_count
    force = np.array([system.rows.force(one, n_b)[fixed:].reshape(-1) for one in idle])
    vector, size, _ = np.linalg.svd(force)
    size = np.concatenate([size, np.zeros(idle.shape[0] - size.size)])  # of more impulses than forces
    none: Array = vector[:, size <= FORCELESS].T @ idle
    return none
