"""Spatial vectors in world axes, stacked (angular, linear) as in S5, and rotations between frames."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.math import rotation


def cross(a: Array, b: Array) -> Array:
    """Return the product of two vectors; NumPy's own takes ten times as long."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def shift(r: Array) -> Array:
    """Return ``S(r)^T``: velocity of a point from that of the frame, (6, 6)."""
    S = np.eye(6)
    S[3, 1], S[3, 2], S[4, 0], S[4, 2], S[5, 0], S[5, 1] = r[2], -r[1], -r[2], r[0], r[1], -r[0]
    return S


def velocity_at(x: Array, v: Array, w: Array, row: int, point: Array) -> Array:
    """Return spin and velocity of a point that moves with a row, zero for the world (-1), (6,)."""
    if row < 0:
        return np.zeros(6)
    return np.concatenate([w[row], v[row] + cross(w[row], point - x[row])])


def matrix(e: Array) -> Array:
    """Return the rotation matrix of a quaternion, (3, 3)."""
    return np.array(rotation.matrix(tuple(e))).reshape(3, 3)


def about_z(angle: float) -> Array:
    """Return the rotation by an angle about z, (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def quaternion(R: Array, near: Array) -> Array:
    """Return the unit quaternion of a rotation on the side of `near`, by its largest component for accuracy."""
    t = np.array(
        [
            1.0 + R[0, 0] + R[1, 1] + R[2, 2],
            1.0 + R[0, 0] - R[1, 1] - R[2, 2],
            1.0 - R[0, 0] + R[1, 1] - R[2, 2],
            1.0 - R[0, 0] - R[1, 1] + R[2, 2],
        ]
    )
    k = int(np.argmax(t))
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    f, g, h = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    e = np.array([[t[0], a, b, c], [a, t[1], f, g], [b, f, t[2], h], [c, g, h, t[3]]])[k]
    unit: Array = e / np.linalg.norm(e)
    return -unit if unit @ near < 0.0 else unit


def turn_of(R: Array) -> Array:
    """Return the rotation vector of a rotation by less than half a turn, (3,)."""
    e = quaternion(R, np.array([1.0, 0.0, 0.0, 0.0]))
    sine = float(np.linalg.norm(e[1:]))
    turn: Array = e[1:] * (2.0 * np.arctan2(sine, e[0]) / sine if sine > 0.0 else 2.0)
    return turn
