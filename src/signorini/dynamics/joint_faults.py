r"""Whether joints hold: how far they are apart beside the bodies that they join, and which of them is the worst.

A row of a joint that holds points together counts beside the smaller of the two bodies: its radius, or the distance of
the anchor from its mass centre if that is more, or the length of a distance joint. Rows of angles count in radians.

- **Drift** up to :data:`TORN` is what the linear rows of a step leave when bodies turn by a third of a radian in it,
  :math:`\theta^2/2`, and the next step takes it back. Beyond that bodies are moved onto their joints;
  where they cannot be, the joints cannot hold. Nor can those of a mechanism on which nothing else acts that leave more
  than :data:`ASKED` open, do not close, and cannot be closed: a loop pulled beyond its reach is told in the step that
  goes beyond it. Rows that depend on others, and were apart before, may stay so. Where bodies came turning by more than
  :data:`MOST_TURN` a step, or go so far near others that they would be moved through something, it is the step that is
  too long: they go on, apart as they are, and the verdict says so.
- **Conflict**: rows that depend on each other may ask for rates that cannot all be met. What is left open of these, by
  more than :data:`ASKED` in a step, contradicts itself, whatever the step size. Where rows are too many, as in a
  linkage of Bennett, no motion meets all that they ask for because joints are apart, or turn with their bodies: that is
  of the second order where the loop can move, and the drift tells of it where it cannot.
  Gears hold speeds, and what they leave open is never seen again: theirs counts a thousand times.
- **Blocked**: joints let a contact or a limit move by no impulse at all, and close it: a motion into a wall.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.dynamics.constants import ASKED, CONFLICT_NOTED
from signorini.dynamics.joint_rows import Rows
from signorini.dynamics.joints import JointSystem
from signorini.model import Model, RowKind

HELD, DRIFTED, CONTRADICTED, BLOCKED = 0, 1, 2, 3
"""Joints hold, have drifted too far, contradict each other, or drive a body against what nothing can move."""


_BEARS = 0.1  # of the largest impulse

_LONG = (int(RowKind.SLIDE), int(RowKind.DISTANCE))
_SLIDING = ("prismatic", "cylindrical", "planar")


class RowSizes(NamedTuple):
    """Beside what the residuals of bilateral rows count."""

    size: Array
    """(n_r,) [m], or 1 [rad]."""
    lever: BoolArray
    """Whether the distance between the anchors counts as well: rows of joints that slide, (n_r,)."""


def joint_sizes(model: Model) -> Array:
    """Return the size of every joint, (n_j,) [m]."""
    joints, n = model.joints, model.joints.count
    arrays = joints.arrays
    size = np.full(n, np.inf)
    for body, anchor in ((arrays.body_a, arrays.anchor_a), (arrays.body_b, arrays.anchor_b)):
        own = np.maximum(model.arrays.bound[body], np.linalg.norm(anchor, axis=1))
        size = np.where(body >= model.fixed_count, np.minimum(size, own), size)
    length = np.where(np.isin(joints.kinds, ("distance", "spring")), arrays.parameter, 0.0)
    sizes: Array = np.where(np.isfinite(size), np.maximum(size, length), 1.0)
    return sizes


def row_sizes(model: Model) -> RowSizes:
    """Return the sizes of the rows of joints; those of constraints by functions are told by :func:`all_sizes`."""
    joints = model.joints
    own, long = joints.rows.joint, np.isin(joints.rows.kind, _LONG)
    size = np.where(long, joint_sizes(model)[own], 1.0)
    size[joints.rows.kind == RowKind.GEAR] = CONFLICT_NOTED / ASKED
    sliding = np.isin(joints.kinds, _SLIDING)[own] if joints.count else np.zeros(0, dtype=bool)
    return RowSizes(size, sliding & (joints.rows.kind == RowKind.SLIDE))


def coordinate_sizes(model: Model) -> Array:
    """Return the sizes of the rows that measure coordinates, (n_g,)."""
    table = model.joints.coordinates
    return np.where(np.isin(table.kind, _LONG), joint_sizes(model)[table.joint], 1.0)


def all_sizes(model: Model, rows: Rows) -> Array:
    """Return the sizes of all bilateral rows; those of functions beside the whole scene and their own steepness."""
    joint, n = row_sizes(model), model.joints.joint_row_count
    lever = np.where(joint.lever, np.linalg.norm(rows.J[: 2 * n : 2, 3:], axis=1), 0.0)
    return np.concatenate([np.maximum(joint.size, lever), steepness(model, rows, n)])


def scene_extent(model: Model) -> float:
    """Return how far bodies reach from the origin at first [m]."""
    return float(np.abs(model.initial_state.q[:, :3]).max(initial=0.0) + model.arrays.bound.max(initial=0.0))


def steepness(model: Model, rows: Rows, first: int) -> Array:
    """Return by how much rows from `first` on change when a body moves through the scene, or turns by a radian."""
    extent = scene_extent(model)
    out = np.ones(rows.row_count - first)
    for k in range(out.size):
        J = rows.J[rows.start[first + k] : rows.start[first + k + 1]]
        steep = extent * np.linalg.norm(J[:, :3]) + np.linalg.norm(J[:, 3:])
        out[k] = steep if steep > 0.0 else 1.0
    return out


def worst(size: Array, residual: Array) -> tuple[float, int]:
    """Return the largest residual beside its size, and its row, -1 if all are zero."""
    if not residual.size or not residual.any():
        return 0.0, -1
    share = np.abs(residual) / size
    row = int(np.argmax(np.where(np.isfinite(share), share, np.inf)))
    return float(share[row]), row


def row_words(model: Model, row: int) -> tuple[str, str]:
    """Return the name of the joint or constraint of a row, and what the row holds.

    After the bilateral rows follow the lower and the upper limit of every coordinate, then the inequalities.
    """
    joints = model.joints
    if row < joints.joint_row_count:
        g = int(joints.rows.joint[row])
        return joints.names[g], _row_word(model, row)
    row -= joints.joint_row_count
    for one in joints.equalities:
        if row < one.size:
            return one.name, f"component {row}"
        row -= one.size
    if row < 2 * joints.coordinates.joint.size:
        return joints.names[joints.coordinates.joint[row // 2]], ("lower limit", "upper limit")[row % 2]
    row -= 2 * joints.coordinates.joint.size
    for one in joints.inequalities:
        if row < one.size:
            return one.name, f"component {row}"
        row -= one.size
    return "", ""


def _row_word(model: Model, row: int) -> str:
    """Return what a row of a joint holds."""
    joints = model.joints
    kind, i, j = (int(column[row]) for column in joints.rows[1:])
    if joints.drive[row]:
        return "motion"
    words = {
        RowKind.SLIDE: f"shift along its axis {i}",
        RowKind.ALIGN: f"tilt of its axes {i} and {j}",
        RowKind.DISTANCE: "distance",
        RowKind.ANGLE: "angle",
        RowKind.GEAR: "ratio of speeds",
    }
    return words[RowKind(kind)]


def row_at(model: Model, bodies: tuple[int, ...]) -> int:
    """Return a bilateral row of a joint of one of these bodies, that of a motion if there is one, -1 for none."""
    joints = model.joints
    own = joints.rows.joint
    moving = [b for b in bodies if b >= model.fixed_count]
    near = np.isin(joints.arrays.body_a[own], moving) | np.isin(joints.arrays.body_b[own], moving)
    for rows in (np.flatnonzero(near & (joints.drive == 1)), np.flatnonzero(near)):
        if rows.size:
            return int(rows[0])
    return -1


def row_joint(model: Model, row: int) -> int:
    """Return the number of the joint of a row, those of constraints counted on, -1 for none."""
    if row < 0:
        return -1
    joints, n = model.joints, model.joints.joint_row_count
    if row < n:
        return int(joints.rows.joint[row])
    names = [*joints.names, *(one.name for one in (*joints.equalities, *joints.inequalities))]
    sizes = [one.size for one in joints.equalities]
    if row < n + sum(sizes) or row >= joints.row_count + 2 * joints.coordinates.joint.size:
        return names.index(row_words(model, row)[0])
    return int(joints.coordinates.joint[(row - joints.row_count) // 2])


class Fight(NamedTuple):
    """Rows that cannot all hold."""

    rows: IntArray
    """The row asked about first, then those of other joints that resist it."""
    swing: float
    """How much faster than the row gives way bodies must move for it: large near limit positions."""


def fighting(system: JointSystem, row: int, most: int = 4) -> Fight:
    """Return which rows resist what is asked of bilateral row `row`.

    Where rows depend on each other, these are the impulses that move nothing and that the rows are asked against;
    elsewhere those that answer when the row alone is asked to give way.
    """
    v, impulse = _asked(system, row)
    against = [one for loops in system.loops for one in loops.idle if abs(one @ system.x2) > CONFLICT_NOTED]
    if against:
        impulse = max(against, key=lambda one: abs(float(one @ system.x2)))
    weight = np.abs(impulse) * np.sqrt(np.maximum(system.rows.mobility(system.M_inv), 0.0))
    own, chosen = [row_joint(system.model, r) for r in range(weight.size)], [row]
    for r in np.argsort(-weight, kind="stable"):
        if len(chosen) < most and weight[r] > _BEARS * weight.max() and own[r] not in [own[k] for k in chosen]:
            chosen.append(int(r))
    return Fight(np.array(chosen, dtype=np.int64), float(np.abs(v[:, :3]).max(initial=0.0)))


def _asked(system: JointSystem, row: int) -> tuple[Array, Array]:
    """Return velocities and impulses when a unit is asked of one row."""
    unit = np.zeros(system.rows.row_count)
    unit[row] = 1.0
    return replace(system, x2=unit).solve(np.zeros((system.model.body_count, 6)))
