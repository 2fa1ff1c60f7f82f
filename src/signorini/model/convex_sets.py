r"""Convex sets by smooth convex inequalities: every bounded shape, the half-space, and what users define by functions.

.. math::
    S = \{x : f_i(x) \le 0,\ i = 1 \dots m\}, \qquad f_i \text{ convex},\ \nabla f_i \ne 0 \text{ where } f_i = 0.

Each :math:`f_i` grows by about one metre per metre at the surface, so that values read as lengths. Whoever needs the
surface of a shape at a point, rather than its contacts, finds values, gradients and Hessians here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from signorini._arrays import Array
from signorini.math.rotation import matrix


class ConvexSet(Protocol):
    """All points at which every one of `count` smooth convex functions is at most zero."""

    @property
    def count(self) -> int:
        """Number of functions."""
        ...

    @property
    def inner(self) -> Array:
        """A point well inside, (3,) [m]."""
        ...

    def values(self, x: Array) -> Array:
        """Return all functions at `x` (..., 3), (..., count) [m]."""
        ...

    def gradients(self, x: Array) -> Array:
        """Return their gradients at `x` (3,), (count, 3)."""
        ...

    def hessian(self, x: Array, weight: Array) -> Array:
        """Return the sum of their Hessians with the given weights, (3, 3) [1/m]."""
        ...


@dataclass(frozen=True, slots=True)
class Planes:
    """A polyhedron or a half-space: ``normal . x <= offset``."""

    normal: Array
    """(m, 3)"""
    offset: Array
    """(m,) [m]"""
    inner: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def count(self) -> int:
        return int(self.offset.size)

    def values(self, x: Array) -> Array:
        return np.asarray(x @ self.normal.T - self.offset)

    def gradients(self, x: Array) -> Array:
        return self.normal

    def hessian(self, x: Array, weight: Array) -> Array:
        return np.zeros((3, 3))


@dataclass(frozen=True, slots=True)
class Rounded:
    """A point or a segment rounded by a radius: ``(distance^2 - r^2)/2r``."""

    start: Array
    """(3,) [m]"""
    extent: Array
    """From start to end, zero for a point, (3,) [m]."""
    radius: float
    """[m]"""

    @property
    def count(self) -> int:
        return 1

    @property
    def inner(self) -> Array:
        return np.asarray(self.start + 0.5 * self.extent)

    def _arm(self, x: Array) -> tuple[Array, Array]:
        """Return the vector from the nearest point of the segment, and its place, 0 to 1 between the ends."""
        arm = x - self.start
        dd = float(self.extent @ self.extent)
        s = arm @ self.extent / (dd if dd > 0.0 else 1.0)
        return arm - np.clip(s, 0.0, 1.0)[..., None] * self.extent, s

    def values(self, x: Array) -> Array:
        arm, _ = self._arm(x)
        return np.asarray(0.5 * ((arm * arm).sum(axis=-1, keepdims=True) - self.radius**2) / self.radius)

    def gradients(self, x: Array) -> Array:
        return self._arm(x)[0][None] / self.radius

    def hessian(self, x: Array, weight: Array) -> Array:
        H, s = np.eye(3), float(self._arm(x)[1])
        if 0.0 < s < 1.0:
            H -= np.outer(self.extent, self.extent) / float(self.extent @ self.extent)
        return float(weight[0]) / self.radius * H


@dataclass(frozen=True, slots=True)
class Smooth:
    """One function of the user with its derivatives, times a factor."""

    f: Callable[[Array], float]
    gradient: Callable[[Array], Array]
    hessian_of: Callable[[Array], Array]
    inner: Array
    factor: float = 1.0

    @property
    def count(self) -> int:
        return 1

    def values(self, x: Array) -> Array:
        if x.ndim == 1:
            return np.array([self.factor * float(self.f(x))])
        rows = x.reshape(-1, 3)
        return np.array([self.factor * float(self.f(row)) for row in rows]).reshape(*x.shape[:-1], 1)

    def gradients(self, x: Array) -> Array:
        return self.factor * np.asarray(self.gradient(x), dtype=np.float64).reshape(1, 3)

    def hessian(self, x: Array, weight: Array) -> Array:
        return self.factor * float(weight[0]) * np.asarray(self.hessian_of(x), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Placed:
    """A set turned by `rotation` and then shifted, seen from outside in units of `scale` metres."""

    base: ConvexSet
    position: Array
    """(3,) [m]"""
    rotation: Array
    """(3, 3)"""
    scale: float = 1.0
    """[m]"""

    @property
    def count(self) -> int:
        return self.base.count

    @property
    def inner(self) -> Array:
        return np.asarray((self.rotation @ self.base.inner + self.position) / self.scale)

    def _local(self, x: Array) -> Array:
        return np.asarray((self.scale * x - self.position) @ self.rotation)

    def values(self, x: Array) -> Array:
        return self.base.values(self._local(x)) / self.scale

    def gradients(self, x: Array) -> Array:
        return np.asarray(self.base.gradients(self._local(x)) @ self.rotation.T)

    def hessian(self, x: Array, weight: Array) -> Array:
        return np.asarray(self.scale * self.rotation @ self.base.hessian(self._local(x), weight) @ self.rotation.T)


@dataclass(frozen=True, slots=True)
class Common:
    """The intersection of several sets."""

    sets: tuple[ConvexSet, ...]
    inner: Array

    @property
    def count(self) -> int:
        return sum(one.count for one in self.sets)

    def values(self, x: Array) -> Array:
        return np.concatenate([one.values(x) for one in self.sets], axis=-1)

    def gradients(self, x: Array) -> Array:
        return np.concatenate([one.gradients(x) for one in self.sets])

    def hessian(self, x: Array, weight: Array) -> Array:
        H, first = np.zeros((3, 3)), 0
        for one in self.sets:
            H += one.hessian(x, weight[first : first + one.count])
            first += one.count
        return H


def placed(base: ConvexSet, position: Sequence[float] | Array, quaternion: Sequence[float] | Array) -> Placed:
    """Return the set at the given place."""
    e = np.ascontiguousarray(quaternion, dtype=np.float64)
    return Placed(base, np.array(position, dtype=np.float64), np.array(matrix(e)).reshape(3, 3))


@dataclass(frozen=True, slots=True)
class Drum:
    """A cylinder along z: its side ``(x^2 + y^2 - r^2)/2r`` and its two ends."""

    radius: float
    half: float

    @property
    def count(self) -> int:
        return 3

    @property
    def inner(self) -> Array:
        return np.zeros(3)

    def values(self, x: Array) -> Array:
        side = 0.5 * (x[..., 0] ** 2 + x[..., 1] ** 2 - self.radius**2) / self.radius
        return np.stack([side, x[..., 2] - self.half, -x[..., 2] - self.half], axis=-1)

    def gradients(self, x: Array) -> Array:
        return np.array([[x[0] / self.radius, x[1] / self.radius, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])

    def hessian(self, x: Array, weight: Array) -> Array:
        return float(weight[0]) / self.radius * np.diag([1.0, 1.0, 0.0])


@dataclass(frozen=True, slots=True)
class Spire:
    """A cone along z, base at -height/4: its side and its base.

    The side is a hyperboloid within 1e-10 of the radius: smooth at the apex, and outside of it off by rounding.
    """

    radius: float
    height: float

    @property
    def count(self) -> int:
        return 2

    @property
    def inner(self) -> Array:
        return np.zeros(3)

    def _across(self, x: Array) -> Array:
        return np.asarray(np.sqrt(x[..., 0] ** 2 + x[..., 1] ** 2 + (1e-10 * self.radius) ** 2))

    def _slope(self) -> tuple[float, float, float]:
        """Return the direction (across, up) of the side's normal, and its offset."""
        length = float(np.hypot(self.radius, self.height))
        return self.height / length, self.radius / length, 0.75 * self.height * self.radius / length

    def values(self, x: Array) -> Array:
        c, s, offset = self._slope()
        return np.stack([c * self._across(x) + s * x[..., 2] - offset, -x[..., 2] - 0.25 * self.height], axis=-1)

    def gradients(self, x: Array) -> Array:
        c, s, _ = self._slope()
        q = float(self._across(x))
        return np.array([[c * x[0] / q, c * x[1] / q, s], [0.0, 0.0, -1.0]])

    def hessian(self, x: Array, weight: Array) -> Array:
        q = float(self._across(x))
        u = np.array([x[0], x[1], 0.0]) / q
        return float(weight[0]) * self._slope()[0] / q * (np.diag([1.0, 1.0, 0.0]) - np.outer(u, u))


@dataclass(frozen=True, slots=True)
class Superquadric:
    """An ellipsoid or superellipsoid: ``(|x/a|^p + |y/b|^p + |z/c|^p - 1) min(a, b, c)/p``."""

    axes: Array
    """Semi-axes, (3,) [m]."""
    exponent: float

    @property
    def count(self) -> int:
        return 1

    @property
    def inner(self) -> Array:
        return np.zeros(3)

    def values(self, x: Array) -> Array:
        p = self.exponent
        power = (np.abs(x / self.axes) ** p).sum(axis=-1, keepdims=True)
        return np.asarray((power - 1.0) * (float(self.axes.min()) / p))

    def gradients(self, x: Array) -> Array:
        u = np.abs(x / self.axes)
        return (float(self.axes.min()) * np.sign(x) * u ** (self.exponent - 1.0) / self.axes)[None]

    def hessian(self, x: Array, weight: Array) -> Array:
        p, u = self.exponent, np.abs(x / self.axes)
        return float(weight[0]) * float(self.axes.min()) * (p - 1.0) * np.diag(u ** (p - 2.0) / self.axes**2)
