r"""Joints as arrays: what the kernels of the dynamics know of them.

A joint of bodies a and b has a frame on either body, equal at the start: origin at the anchor, columns
:math:`u_0, u_1, u_2` on a and :math:`c_0, c_1, c_2` on b, the joint's axis last. With :math:`d` from the origin on a to
that on b, every joint is made of the scalar rows of :class:`RowKind`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray

WORLD = -1
"""Body a of a joint to the world."""


class RowKind(IntEnum):
    """A scalar function psi of two poses; 0 where the row holds."""

    SLIDE = 0
    """``u_i . d`` [m]"""
    ALIGN = 1
    """``u_i . c_j`` [rad, for small angles]"""
    DISTANCE = 2
    """``|d| - length`` [m]"""
    ANGLE = 3
    """Angle from u_0 to c_0 about u_2, counting full turns [rad]."""
    GEAR = 4
    """Speed ``c_2 . omega_b - ratio u_2 . omega_a``; held as a speed, its psi is 0."""


class RowTable(NamedTuple):
    """Which scalar rows there are."""

    joint: IntArray
    """(n_r,)"""
    kind: IntArray
    """:class:`RowKind`, (n_r,)."""
    i: IntArray
    """Column of the frame on a, (n_r,)."""
    j: IntArray
    """Column of the frame on b, (n_r,)."""


class JointArrays(NamedTuple):
    """Bodies and frames of every joint, in the frames of the mass centres."""

    body_a: IntArray
    """(n_j,), -1 for the world."""
    body_b: IntArray
    """(n_j,)"""
    anchor_a: Array
    """Origin on a, (n_j, 3) [m]."""
    anchor_b: Array
    """Origin on b, (n_j, 3) [m]."""
    frame_a: Array
    """Quaternion, joint to body a, (n_j, 4)."""
    frame_b: Array
    """Quaternion, joint to body b, (n_j, 4)."""
    parameter: Array
    """Length of a distance joint or of a spring [m], ratio of a gear, (n_j,)."""
    planar: IntArray
    """1 where bodies move in the plane: rows act across it not even by rounding, which loads would blow up, (n_j,)."""


class Tree(NamedTuple):
    """A spanning forest of the joined bodies, each tree from its leaves to its root.

    Its rows can be eliminated one body after another in linear time and never depend on each other. Rows of the other
    joints close loops.
    """

    body: IntArray
    """Joined bodies that move, leaves first, tree by tree, (n_t,)."""
    parent: IntArray
    """Body on the other side of the joint towards the root; -1 if it is fixed or if there is none, (n_t,)."""
    row_start: IntArray
    """First row of the joint towards the root, (n_t,)."""
    row_stop: IntArray
    """After its last row; equal to the start for the root of bodies that float freely, (n_t,)."""
    of_body: IntArray
    """Number of the tree of each body, -1 for bodies that are not joined, (n_b,)."""
    start: IntArray
    """Where each tree begins in `body`, (n_trees + 1,)."""
    loop_row: IntArray
    """Rows outside the forest, those of one mechanism together, (n_l,)."""
    loop_start: IntArray
    """Where the rows of each mechanism begin in `loop_row`, (n_mechanisms + 1,)."""


@dataclass(frozen=True, slots=True)
class KnownMotion:
    """A prescribed coordinate with its derivatives; called as a function of time it is the coordinate."""

    value: Callable[[float], float]
    """[m, rad]"""
    rate: Callable[[float], float]
    """[m/s, rad/s]"""
    acceleration: Callable[[float], float]
    """[m/s^2, rad/s^2]"""

    def __call__(self, t: float) -> float:
        """Return the coordinate at time `t`."""
        return self.value(t)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A function of poses that the user wants to be zero, or not negative."""

    name: str
    psi: Callable[[Array, float], Any]
    """Of stacked poses of the bodies' frames (7 numbers each, in the plane 3) and time."""
    bodies: tuple[int, ...]
    jacobian: Callable[[Array, float], Any] | None
    size: int
    """Number of components."""


@dataclass(frozen=True, slots=True)
class Joints:
    """All joints and constraints of a model."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    arrays: JointArrays
    rows: RowTable
    """Bilateral rows: those of the joint kinds, then of drives and of springs, joint by joint."""
    coordinates: RowTable
    """For every joint with a coordinate of its own (angle, displacement, distance) the row that measures it."""
    coordinate_of: IntArray
    """Row of `coordinates` for each joint, -1 if it has none, (n_j,)."""
    drive: IntArray
    """For each bilateral row: 1 if it follows the joint's prescribed motion, else 0, (n_r,)."""
    spring: IntArray
    """For each bilateral row: 1 if it is the joint's spring and damper, else 0, (n_r,)."""
    motions: tuple[Callable[[float], float] | None, ...]
    """Prescribed coordinate of each joint."""
    effort_limit: Array
    """Largest force or torque of a drive, inf if it is ideal, (n_j,) [N, N m]."""
    friction: Array
    """Constant limit of dry friction, (n_j,) [N, N m]."""
    load_friction: Array
    """Coefficient and radius [m] of friction that follows the reaction, (n_j, 2)."""
    limits: Array
    """Least and largest coordinate, (n_j, 2) [m, rad]."""
    stiffness: Array
    """(n_j,) [N/m, N m/rad]"""
    rest: Array
    """Coordinate at which the spring is relaxed, (n_j,)."""
    damping: Array
    """(n_j,) [N s/m, N m s/rad]"""
    equalities: tuple[Constraint, ...]
    inequalities: tuple[Constraint, ...]
    tree: Tree

    @property
    def count(self) -> int:
        """Number of joints."""
        return len(self.names)

    @property
    def joint_row_count(self) -> int:
        """Number of bilateral rows of joints; those of the equality constraints follow."""
        return int(self.rows.joint.size)

    @property
    def row_count(self) -> int:
        """Number of bilateral rows."""
        return self.joint_row_count + sum(constraint.size for constraint in self.equalities)

    @property
    def any(self) -> bool:
        """Whether the model has a joint or a constraint at all."""
        return bool(self.names or self.equalities or self.inequalities)


def no_joints(body_count: int) -> Joints:
    """Return the joints of a model that has none."""
    index, zero, vectors, turns = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 4))
    table = RowTable(index, index, index, index)
    one = np.zeros(1, dtype=np.int64)
    return Joints(
        names=(),
        kinds=(),
        arrays=JointArrays(index, index, vectors, vectors, turns, turns, zero, index),
        rows=table,
        coordinates=table,
        coordinate_of=index,
        drive=index,
        spring=index,
        motions=(),
        effort_limit=zero,
        friction=zero,
        load_friction=np.zeros((0, 2)),
        limits=np.zeros((0, 2)),
        stiffness=zero,
        rest=zero,
        damping=zero,
        equalities=(),
        inequalities=(),
        tree=Tree(index, index, index, index, np.full(body_count, -1, dtype=np.int64), one, index, one),
    )
