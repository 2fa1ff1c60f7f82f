"""A shape by its corners: a wedge, of which the narrow phase knows no more than that it is a convex polyhedron."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from signorini._arrays import checked_number
from signorini.model import ShapeKind
from signorini.scene import Shape, convex
from signorini.scene.mass import MassProperties, checked_density, solid_polyhedron


@dataclass(frozen=True)
class Wedge(Shape):
    """A ramp of the given length along x, width along y and height at its end, its edge along y through the origin."""

    length: float
    width: float
    height: float
    kind: ClassVar[ShapeKind] = ShapeKind.HULL

    def __post_init__(self) -> None:
        for name in ("length", "width", "height"):
            checked_number(getattr(self, name), f"wedge: {name}", above=0.0)

    def polytope(self) -> convex.Polytope:
        l, w, h = self.length, 0.5 * self.width, self.height
        corners = [(x, y, z) for y in (-w, w) for x, z in ((0.0, 0.0), (l, 0.0), (l, h))]
        return convex.polyhedron(np.array(corners), "wedge")

    def mass_properties(self, density: float) -> MassProperties:
        polytope = self.polytope()
        return solid_polyhedron(polytope.vertices, polytope.faces, checked_density(density))
