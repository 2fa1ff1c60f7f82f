"""Spatial vectors in world axes, stacked (angular, linear) as in S5, and rotations between frames."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.dynamics.response.articulated import nearest_quaternion
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
    """Return the unit quaternion of a rotation on the side of `near`."""
    e = near.copy()
    nearest_quaternion(np.ascontiguousarray(R), e)
    return e


def turn_of(R: Array) -> Array:
    """Return the rotation vector of a rotation by less than half a turn, (3,)."""
    e = quaternion(R, np.array([1.0, 0.0, 0.0, 0.0]))
    sine = float(np.linalg.norm(e[1:]))
    turn: Array = e[1:] * (2.0 * np.arctan2(sine, e[0]) / sine if sine > 0.0 else 2.0)
    return turn
