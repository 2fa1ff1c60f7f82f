"""A shape by its inequalities: what two balls have in common.

Balls of radius R with centres at (0, 0, c) and (0, 0, -c), so that the lens is R - c high to either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from signorini._arrays import Array, checked_number
from signorini.errors import InputError
from signorini.model import ShapeKind
from signorini.scene import Shape, convex
from signorini.scene.mass import MassProperties, checked_density
from signorini.scene.quadrature import convex_mass


@dataclass(frozen=True)
class Balls:
    """Two balls as convex functions ``(|x - c|^2 - R^2)/2R``, which grow by a metre per metre at the surface."""

    radius: float
    centre: Array
    """(2, 3) [m]"""
    count: ClassVar[int] = 2

    @property
    def inner(self) -> Array:
        return np.zeros(3)

    def values(self, x: Array) -> Array:
        arm = x[..., None, :] - self.centre
        return np.asarray((np.sum(arm**2, axis=-1) - self.radius**2) / (2.0 * self.radius))

    def gradients(self, x: Array) -> Array:
        return (x - self.centre) / self.radius

    def hessian(self, x: Array, weight: Array) -> Array:
        return float(weight.sum()) / self.radius * np.eye(3)


@dataclass(frozen=True)
class Lens(Shape):
    """A lens about the origin, along z."""

    radius: float
    centre: float
    kind: ClassVar[ShapeKind] = ShapeKind.IMPLICIT

    def __post_init__(self) -> None:
        radius = checked_number(self.radius, "lens: radius", above=0.0)
        if not checked_number(self.centre, "lens: centre", above=0.0) < radius:
            raise InputError(f"lens: centre is {self.centre!r}, must be less than the radius {radius!r}")

    def inequalities(self) -> Balls:
        return Balls(self.radius, np.array([[0.0, 0.0, self.centre], [0.0, 0.0, -self.centre]]))

    def polytope(self) -> convex.Polytope:
        """Return a box around the lens, for the broad phase."""
        rim = np.sqrt(self.radius**2 - self.centre**2)
        return convex.box(2.0 * np.array([rim, rim, self.radius - self.centre]))

    def mass_properties(self, density: float) -> MassProperties:
        return convex_mass(self.inequalities(), self.radius, checked_density(density))
