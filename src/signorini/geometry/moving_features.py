"""Features of solids that move with their bodies: a point above a face, or two edges that cross.

Detection names which features face each other; within a step they stay the same. Derivatives are taken by complex
steps, which are exact to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_touch import TWISTS, Facing, rotation_of

_STEP = 1e-30
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

    def facing(self, q_a: Array, q_b: Array, depth: tuple[float, float], near: Touch) -> Facing | None:
        moved = self._moved(q_a, q_b)
        gap, n, a, b = (part[0].real for part in moved)
        d_gap, d_n, d_a, d_b = (part[1:].imag / _STEP for part in moved)
        by = [np.zeros((3, TWISTS)) for _ in range(3)]
        for out, part in zip(by, (d_n, d_a, d_b), strict=True):
            out[:, :12] = part.T
        slope = np.concatenate([d_gap, [1.0, 1.0]])
        if depth != (0.0, 0.0):
            by[1] -= depth[0] * by[0]
            by[2] += depth[1] * by[0]
        by[1][:, 12], by[2][:, 13] = -n, n
        a, b, gap = a - depth[0] * n, b + depth[1] * n, float(gap) + depth[0] + depth[1]
        touch = near._replace(gap=gap, normal=n, point_a=a, point_b=b)
        return Facing(gap, n, a, b, slope, *_three(by), touch, degenerate=False)

    def _moved(self, q_a: Array, q_b: Array) -> tuple[Any, Any, Any, Any]:
        """Return gap, normal and points (13, ...) where the bodies are, and after an imaginary step in each twist."""
        place, turn = np.zeros((2, 13, 3), dtype=complex), np.zeros((2, 13, 3))
        for k in (0, 1):
            place[k, 1 + 6 * k + np.arange(3), np.arange(3)] = 1j * _STEP
            turn[k, 4 + 6 * k + np.arange(3), np.arange(3)] = _STEP
        R = rotation_of(q_a), rotation_of(q_b)

        def carried(x: Array, k: int) -> Any:
            world = R[k] @ x
            return world + 1j * np.cross(turn[k], world)

        origin = 0.5 * (q_a[:3] + q_b[:3])
        x_a, x_b = (place[k] + (q[:3] - origin) + carried(self.centre[k], k) for k, q in ((0, q_a), (1, q_b)))
        if self.normal is not None:
            n = carried(*self.normal)
            b = x_b - self.radius[1] * n
            a = x_a + self.radius[0] * n
            gap = _dot(n, b - a)
            if self.normal[1] == 0:
                a = b - gap[:, None] * n  # anywhere on the face
            else:
                b = a + gap[:, None] * n
            return gap, n, a + origin, b + origin
        assert self.edge is not None
        u, w = carried(self.edge[0], 0), carried(self.edge[1], 1)
        m = np.cross(u, w)
        mm = _dot(m, m)
        n = m / np.sqrt(mm)[:, None]
        apart = x_b - x_a
        a = x_a + (_dot(np.cross(apart, w), m) / mm)[:, None] * u
        b = x_b + (_dot(np.cross(apart, u), m) / mm)[:, None] * w
        gap = _dot(n, apart) - sum(self.radius)
        return gap, n, a + self.radius[0] * n + origin, b - self.radius[1] * n + origin


def _dot(x: Any, y: Any) -> Any:
    return (x * y).sum(axis=-1)


def _three(parts: list[Array]) -> tuple[Array, Array, Array]:
    return parts[0], parts[1], parts[2]
