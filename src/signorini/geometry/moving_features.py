"""Features of solids that move with their bodies: a point above a face, or two edges that cross.

Detection names which features face each other; within a step they stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_kernels import EDGES, FACE, PAIR_COLUMNS
from signorini.geometry.moving_touch import Facing, facing_of

_ONE = np.ones(1)


@dataclass(frozen=True, slots=True)
class FeaturePair:
    """A point of either body; the normal is carried by one of them, or lies across an edge of each."""

    centre: tuple[Array, Array]
    """Points without rounding, in the frames of the bodies' mass centres, (3,) each [m]."""
    radius: tuple[float, float]
    """Of their rounding [m]."""
    normal: tuple[Array, int] | None
    """From a to b in the frame of the body that carries it, 0 for a and 1 for b; None for edges."""
    edge: tuple[Array, Array] | None = None
    """Directions in the frames of both bodies; their product points from a to b."""

    def start(self, q_a: Array, q_b: Array, normal: Array, point_a: Array, point_b: Array) -> Touch:
        """Return what detection found: nothing depends on it."""
        return Touch(float(normal @ (point_b - point_a)), normal, point_a, point_b, _ONE, _ONE)

    @property
    def row(self) -> Array:
        row = np.zeros(PAIR_COLUMNS)
        row[1:4], row[4:7], row[7:9] = *self.centre, self.radius
        if self.normal is not None:
            row[0], row[9:12], row[12] = FACE, *self.normal
        else:
            assert self.edge is not None
            row[0], row[9:12], row[12:15] = EDGES, *self.edge
        return row

    def facing(self, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
        return facing_of(self.row, q_a, q_b, depth, near)
