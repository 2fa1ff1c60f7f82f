"""Solids with curved surfaces that are not rounded polytopes: cylinder, cone, ellipsoid and superellipsoid."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import gamma
from typing import Any, ClassVar

import numpy as np

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError
from signorini.model.shapes import ShapeKind
from signorini.scene.convex import Polytope, nothing
from signorini.scene.mass import MassProperties, checked_density, from_second_moment
from signorini.scene.shape import Numbers, Shape

__all__ = ["CURVED_SHAPES", "Cone", "Cylinder", "Ellipsoid", "Superellipsoid"]

Given = Any  # anything array-like as the user gives it; kept as tuples, so that shapes compare and hash


@dataclass(frozen=True)
class Curved(Shape):
    """A solid that the narrow phase knows by its parameters alone."""

    def polytope(self) -> Polytope:
        return nothing()

    @abstractmethod
    def parameters(self) -> Numbers: ...


@dataclass(frozen=True)
class Cylinder(Curved):
    """A round bar along z, its centre at the origin."""

    radius: float
    length: float
    kind: ClassVar[ShapeKind] = ShapeKind.CYLINDER

    def __post_init__(self) -> None:
        self._check("radius", checked_number(self.radius, "cylinder: radius", above=0.0))
        self._check("length", checked_number(self.length, "cylinder: length", above=0.0))

    def parameters(self) -> Numbers:
        return (self.radius, 0.5 * self.length, 0.0, 0.0)

    def farthest(self, point: Array) -> float:
        return float(np.hypot(np.hypot(point[0], point[1]) + self.radius, abs(point[2]) + 0.5 * self.length))

    def mass_properties(self, density: float) -> MassProperties:
        mass = checked_density(density) * np.pi * self.radius**2 * self.length
        moment = [self.radius**2 / 4.0, self.radius**2 / 4.0, self.length**2 / 12.0]
        return from_second_moment(mass, np.zeros(3), mass * np.diag(moment))


@dataclass(frozen=True)
class Cone(Curved):
    """A right circular cone along z with its apex up; the origin is its mass centre, a quarter of the height above the
    base.
    """

    radius: float
    height: float
    kind: ClassVar[ShapeKind] = ShapeKind.CONE

    def __post_init__(self) -> None:
        self._check("radius", checked_number(self.radius, "cone: radius", above=0.0))
        self._check("height", checked_number(self.height, "cone: height", above=0.0))

    def parameters(self) -> Numbers:
        return (self.radius, self.height, 0.0, 0.0)

    def farthest(self, point: Array) -> float:
        across = np.hypot(point[0], point[1])
        rim = np.hypot(across + self.radius, point[2] + 0.25 * self.height)
        return float(max(rim, np.hypot(across, point[2] - 0.75 * self.height)))

    def mass_properties(self, density: float) -> MassProperties:
        mass = checked_density(density) * np.pi * self.radius**2 * self.height / 3.0
        across, along = 3.0 / 20.0 * self.radius**2, 3.0 / 80.0 * self.height**2
        return from_second_moment(mass, np.zeros(3), mass * np.diag([across, across, along]))


@dataclass(frozen=True)
class Ellipsoid(Curved):
    """All points with ``(x/a)^2 + (y/b)^2 + (z/c)^2 <= 1`` for the semi-axes (a, b, c)."""

    semi_axes: Given
    kind: ClassVar[ShapeKind] = ShapeKind.ELLIPSOID

    def __post_init__(self) -> None:
        self._check("semi_axes", _semi_axes(self.semi_axes, "ellipsoid"))

    def parameters(self) -> Numbers:
        return (*self.semi_axes, 2.0)

    def farthest(self, point: Array) -> float:
        return float(np.linalg.norm(point) + max(self.semi_axes))

    def mass_properties(self, density: float) -> MassProperties:
        mass = checked_density(density) * 4.0 / 3.0 * np.pi * float(np.prod(self.semi_axes))
        return from_second_moment(mass, np.zeros(3), mass / 5.0 * np.diag(np.square(self.semi_axes)))


@dataclass(frozen=True)
class Superellipsoid(Curved):
    """All points with ``|x/a|^p + |y/b|^p + |z/c|^p <= 1`` for the semi-axes (a, b, c) and the exponent p >= 2."""

    semi_axes: Given
    exponent: float
    kind: ClassVar[ShapeKind] = ShapeKind.SUPERELLIPSOID

    def __post_init__(self) -> None:
        self._check("semi_axes", _semi_axes(self.semi_axes, "superellipsoid"))
        self._check("exponent", checked_number(self.exponent, "superellipsoid: exponent", least=2.0))

    def parameters(self) -> Numbers:
        return (*self.semi_axes, self.exponent)

    def farthest(self, point: Array) -> float:
        # Hoelder's inequality with exponents p/2 and p/(p - 2) for the sum of a^2 (x/a)^2
        p, longest = self.exponent, max(self.semi_axes)
        ratio = np.divide(self.semi_axes, longest)
        power = (p - 2.0) / (2.0 * p)
        radius = longest * (np.sum(ratio ** (1.0 / power)) ** power if power > 1e-3 else 3.0**power)
        return float(np.linalg.norm(point) + radius)

    def mass_properties(self, density: float) -> MassProperties:
        r"""Integrate by Dirichlet's formula.

        .. math::
            \int x^{\alpha-1} y^{\beta-1} z^{\gamma-1} = \frac{\Gamma(\alpha/p) \Gamma(\beta/p) \Gamma(\gamma/p)}
            {p^3\, \Gamma(1 + (\alpha+\beta+\gamma)/p)}

        over the part of the unit body in the first octant.
        """
        p = self.exponent
        volume = 8.0 * gamma(1.0 + 1.0 / p) ** 3 / gamma(1.0 + 3.0 / p)
        mass = checked_density(density) * volume * float(np.prod(self.semi_axes))
        square = gamma(1.0 + 3.0 / p) ** 2 / (3.0 * gamma(1.0 + 1.0 / p) * gamma(1.0 + 5.0 / p))
        return from_second_moment(mass, np.zeros(3), mass * square * np.diag(np.square(self.semi_axes)))


CURVED_SHAPES: tuple[type[Shape], ...] = (Cylinder, Cone, Ellipsoid, Superellipsoid)


def _semi_axes(value: Given, what: str) -> Numbers:
    axes = checked(value, (3,), f"{what}: semi_axes")
    if not (axes > 0.0).all():
        raise InputError(f"{what}: semi_axes is {value!r}, must be three lengths > 0")
    return tuple(axes.tolist())
