"""What a viewer shows: bodies in motion, the forces of each contact, joints, and curves of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.visual.pieces import Pieces, joint_pieces, pieces_of, scene_size
from signorini.visual.solids import Solid

_ARROW = 0.18  # of the scene's size: length of the arrow of a great force
_LONGEST = 3.0  # times that
_GREAT = 0.95  # share of the normal forces that are not greater


class Forces(NamedTuple):
    """Contacts at one moment, (m, ...), as they were certified."""

    point: Array
    normal: Array
    """Normal force on the second body, (m, 3) [N]."""
    friction: Array
    """(m, 3) [N]"""
    slips: BoolArray
    overlaps: BoolArray
    """Whether the bodies overlap by more than a trusted run may leave."""


class JointsSeen(NamedTuple):
    """Where joints are."""

    body: IntArray
    """Row of the poses that moves each, (n_j,)."""
    anchor: Array
    """In the frame of the body, (n_j, 3) [m]."""
    frame: Array
    """Quaternion of the joint's frame there, its axis last, (n_j, 4)."""
    has_axis: BoolArray


class CurveSeen(NamedTuple):
    """A number of each step, or each recorded state."""

    title: str
    unit: str
    time: Array
    values: Array
    logarithmic: bool


@dataclass(frozen=True)
class Film:
    """Moments of a run."""

    title: str
    verdict: str
    names: tuple[str, ...]
    solids: Sequence[Solid]
    time: Array
    """(k,) [s]"""
    poses: Array
    """(k, n_b, 7)"""
    fixed_count: int
    planar: bool
    forces: Sequence[Forces]
    """At each moment; none at all if contacts were not recorded."""
    joints: JointsSeen
    curves: Sequence[CurveSeen]

    @cached_property
    def extent(self) -> tuple[Array, float]:
        """Middle and size of what moves."""
        return scene_size(self.solids, self.poses, self.fixed_count)

    @cached_property
    def pieces(self) -> list[Pieces]:
        """All solids as triangles."""
        return self._drawn[0]

    @property
    def said(self) -> list[str]:
        """What was simplified."""
        return self._drawn[1]

    @cached_property
    def _drawn(self) -> tuple[list[Pieces], list[str]]:
        return pieces_of(self.solids, self.fixed_count, *self.extent, planar=self.planar)

    @cached_property
    def joint_pieces(self) -> list[Pieces]:
        """Joints as pins and balls."""
        joints = self.joints
        return joint_pieces(joints.body, joints.anchor, joints.frame, joints.has_axis, self.extent[1])

    @cached_property
    def newton(self) -> float:
        """Length of the arrow of a force of 1 N [m]."""
        sizes = np.concatenate([np.zeros(0), *(np.linalg.norm(forces.normal, axis=1) for forces in self.forces)])
        sizes = sizes[sizes > 0.0]
        return _ARROW * self.extent[1] / float(np.quantile(sizes, _GREAT)) if sizes.size else 1.0

    def arrow(self, forces: Array) -> Array:
        """Return forces (m, 3) as the arrows that are drawn, (m, 3) [m]."""
        arrows = self.newton * forces
        length = np.linalg.norm(arrows, axis=1, keepdims=True)
        most = _LONGEST * _ARROW * self.extent[1]
        out: Array = arrows * np.where(length > most, most / np.maximum(length, 1e-300), 1.0)
        return out
