"""Vectors, turns and poses as users write them, in space or in the plane, checked and put into their 3D form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked
from signorini.errors import InputError

_NEARLY_ONE = 1e-3  # typed digits of a quaternion may be few; anything worse is a mistake


def unit_quaternion(value: ArrayLike, what: str) -> Array:
    """Return a quaternion (w, x, y, z) that is nearly one of unit length, made so exactly, (4,)."""
    e = checked(value, (4,), what)
    norm = float(np.linalg.norm(e))
    if abs(norm - 1.0) > _NEARLY_ONE:
        raise InputError(f"{what} is {e.tolist()} with norm {norm:.6g}, must be a unit quaternion (w, x, y, z)")
    return e / norm


def about_z(angle: float) -> Array:
    """Return the quaternion of a turn about z [rad], (4,)."""
    half = 0.5 * angle
    return np.array([np.cos(half), 0.0, 0.0, np.sin(half)])


@dataclass(frozen=True, slots=True)
class Space:
    """What a vector is in a scene; `what` is how an error names the thing."""

    planar: bool
    """The scene lives in the x-y plane: vectors have two components, turns and moments one."""

    def vector(self, value: ArrayLike | None, what: str) -> Array:
        """Return a vector, (3,); None is the zero vector."""
        if value is None:
            return np.zeros(3)
        if self.planar:
            return np.append(checked(value, (2,), f"{what} (planar scene)"), 0.0)
        return checked(value, (3,), what)

    def moment(self, value: ArrayLike | None, what: str) -> Array:
        """Return an axial vector, (3,); in the plane a number about z is given. None is the zero vector."""
        if value is None:
            return np.zeros(3)
        if self.planar:
            return np.array([0.0, 0.0, float(checked(value, (), f"{what} (planar scene)"))])
        return checked(value, (3,), what)

    def orientation(self, value: ArrayLike | None, what: str) -> Array:
        """Return a unit quaternion, (4,); in the plane an angle is given. None is no turn."""
        if value is None:
            return np.array([1.0, 0.0, 0.0, 0.0])
        if self.planar:
            return about_z(float(checked(value, (), f"{what} (planar scene)")))
        return unit_quaternion(value, what)

    def pose(self, value: Any, what: str) -> Array:
        """Return a pose as position and quaternion, (7,); a position is given, or a pair with an orientation."""
        pair = isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1
        position, orientation = value if pair else (value, None)
        return np.concatenate([self.vector(position, what), self.orientation(orientation, what)])
