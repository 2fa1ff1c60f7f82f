"""The shapes that a scene can hold, each checked when it is made.

The words of the Python call are the words of scene files: ``Sphere(radius=1.0)`` is ``sphere: {radius: 1.0}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError
from signorini.model.shapes import ShapeKind
from signorini.scene import convex
from signorini.scene.curved_shapes import CURVED_SHAPES, Cone, Cylinder, Ellipsoid, Superellipsoid
from signorini.scene.encode import encode
from signorini.scene.mass import MassProperties, checked_density, from_second_moment, solid_polyhedron, thin_polygon
from signorini.scene.shape import Numbers, PlacedShape, Shape, checked_vector, combine

__all__ = [
    "SHAPES",
    "Box",
    "Capsule",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Disc",
    "Ellipse",
    "Ellipsoid",
    "HalfSpace",
    "PlacedShape",
    "Point",
    "Polygon",
    "Segment",
    "Shape",
    "Sphere",
    "Superellipsoid",
    "combine",
    "encode",
]


Given = Any  # anything array-like as the user gives it; kept as tuples, so that shapes compare and hash


@dataclass(frozen=True)
class HalfSpace(Shape):
    """All points with ``normal . x <= offset``; the normal points out of the solid, (3,) or in the plane (2,)."""

    normal: Given = (0.0, 0.0, 1.0)
    offset: float = 0.0
    kind: ClassVar[ShapeKind] = ShapeKind.HALF_SPACE

    def __post_init__(self) -> None:
        n = np.array(checked_vector(self.normal, "half_space: normal"))
        length = float(np.linalg.norm(n))
        if length == 0.0:
            raise InputError(f"half_space: normal is {self.normal!r}, must point out of the solid")
        self._check("normal", tuple((n / length).tolist()))
        self._check("offset", checked_number(self.offset, "half_space: offset"))

    @property
    def planar(self) -> bool:
        return bool(self.normal[2] == 0.0)

    @property
    def spatial(self) -> bool:
        return True

    def polytope(self) -> None:
        return None

    def parameters(self) -> Numbers:
        return (self.offset, *self.normal)

    def mass_properties(self, density: float) -> MassProperties:
        raise InputError("half_space has no finite mass, must be on a fixed body or have mass and inertia given")


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball about the origin."""

    radius: float
    kind: ClassVar[ShapeKind] = ShapeKind.SPHERE

    def __post_init__(self) -> None:
        self._check("radius", checked_number(self.radius, f"{self.word()}: radius", above=0.0))

    @property
    def rounding(self) -> float:
        return self.radius

    def polytope(self) -> convex.Polytope:
        return convex.point()

    def mass_properties(self, density: float) -> MassProperties:
        mass = checked_density(density) * 4.0 / 3.0 * np.pi * self.radius**3
        return MassProperties(mass, np.zeros(3), 0.4 * mass * self.radius**2 * np.eye(3))


@dataclass(frozen=True)
class Point(Shape):
    """A point without extent, in space or in the plane, for contact points; on a moving body off its mass centre."""

    kind: ClassVar[ShapeKind] = ShapeKind.SPHERE

    @property
    def planar(self) -> bool:
        return True

    @property
    def spatial(self) -> bool:
        return True

    def polytope(self) -> convex.Polytope:
        return convex.point()

    def mass_properties(self, density: float) -> MassProperties:
        raise InputError("point has no extent, must have mass, inertia and mass_centre given")


@dataclass(frozen=True)
class Box(Shape):
    """A box about the origin; `size` holds the full lengths of its edges."""

    size: Given
    kind: ClassVar[ShapeKind] = ShapeKind.HULL

    def __post_init__(self) -> None:
        size = checked(self.size, (3,), "box: size")
        if not (size > 0.0).all():
            raise InputError(f"box: size is {self.size!r}, must be three lengths > 0")
        self._check("size", tuple(size.tolist()))

    def polytope(self) -> convex.Polytope:
        return convex.box(np.array(self.size))

    def mass_properties(self, density: float) -> MassProperties:
        mass = checked_density(density) * float(np.prod(self.size))
        return from_second_moment(mass, np.zeros(3), mass / 12.0 * np.diag(np.square(self.size)))


@dataclass(frozen=True)
class Capsule(Shape):
    """A ball swept along z; `length` is that of the straight part."""

    radius: float
    length: float
    kind: ClassVar[ShapeKind] = ShapeKind.CAPSULE

    def __post_init__(self) -> None:
        self._check("radius", checked_number(self.radius, "capsule: radius", above=0.0))
        self._check("length", checked_number(self.length, "capsule: length", above=0.0))

    @property
    def rounding(self) -> float:
        return self.radius

    def polytope(self) -> convex.Polytope:
        end = np.array([0.0, 0.0, 0.5 * self.length])
        return convex.segment(-end, end)

    def parameters(self) -> Numbers:
        return (self.radius, 0.5 * self.length, 0.0, 0.0)

    def mass_properties(self, density: float) -> MassProperties:
        r, l = self.radius, self.length
        tube = checked_density(density) * np.pi * r**2 * l
        caps = density * 4.0 / 3.0 * np.pi * r**3
        across = tube * r**2 / 4.0 + caps * r**2 / 5.0
        # A cap's mass centre sits 3r/8 beyond the end of the straight part.
        along = tube * l**2 / 12.0 + caps * (r**2 / 5.0 + 3.0 * r * l / 8.0 + l**2 / 4.0)
        return from_second_moment(tube + caps, np.zeros(3), np.diag([across, across, along]))


@dataclass(frozen=True)
class ConvexHull(Shape):
    """The convex hull of points, (n, 3)."""

    points: Given
    kind: ClassVar[ShapeKind] = ShapeKind.HULL

    def __post_init__(self) -> None:
        points = checked(self.points, (None, 3), "convex_hull: points")
        self._check("points", tuple(map(tuple, points.tolist())))
        self.__dict__["_polytope"] = convex.polyhedron(points, "convex_hull")

    def polytope(self) -> convex.Polytope:
        polytope: convex.Polytope = self.__dict__["_polytope"]
        return polytope

    def mass_properties(self, density: float) -> MassProperties:
        polytope = self.polytope()
        return solid_polyhedron(polytope.vertices, polytope.faces, checked_density(density))


@dataclass(frozen=True)
class _Planar(Shape):
    """A plate in the plane z = 0."""

    @property
    def planar(self) -> bool:
        return True


@dataclass(frozen=True)
class Disc(_Planar):
    """A round plate about the origin."""

    radius: float
    kind: ClassVar[ShapeKind] = ShapeKind.SPHERE

    def __post_init__(self) -> None:
        self._check("radius", checked_number(self.radius, "disc: radius", above=0.0))

    @property
    def rounding(self) -> float:
        return self.radius

    def polytope(self) -> convex.Polytope:
        return convex.point()

    def mass_properties(self, density: float) -> MassProperties:
        mass = checked_density(density) * np.pi * self.radius**2
        return from_second_moment(mass, np.zeros(3), 0.25 * mass * self.radius**2 * np.diag([1.0, 1.0, 0.0]))


@dataclass(frozen=True)
class Ellipse(_Planar):
    """A plate ``(x/a)^2 + (y/b)^2 <= 1`` with the semi-axes (a, b); it touches half-planes, discs and ellipses."""

    semi_axes: Given
    kind: ClassVar[ShapeKind] = ShapeKind.ELLIPSOID

    def __post_init__(self) -> None:
        axes = checked(self.semi_axes, (2,), "ellipse: semi_axes")
        if not (axes > 0.0).all():
            raise InputError(f"ellipse: semi_axes is {self.semi_axes!r}, must be two lengths > 0")
        self._check("semi_axes", tuple(axes.tolist()))

    def polytope(self) -> convex.Polytope:
        return convex.nothing()

    def parameters(self) -> Numbers:
        return (*self.semi_axes, min(self.semi_axes), 2.0)

    def farthest(self, point: Array) -> float:
        return float(np.linalg.norm(point) + max(self.semi_axes))

    def mass_properties(self, density: float) -> MassProperties:
        mass = checked_density(density) * np.pi * float(np.prod(self.semi_axes))
        return from_second_moment(mass, np.zeros(3), 0.25 * mass * np.diag([*np.square(self.semi_axes), 0.0]))


@dataclass(frozen=True)
class Polygon(_Planar):
    """A convex plate with the given corners (n, 2), in either sense of rotation."""

    points: Given
    kind: ClassVar[ShapeKind] = ShapeKind.POLYGON

    def __post_init__(self) -> None:
        self._check("points", convex.corners(checked(self.points, (None, 2), "polygon: points"), "polygon: points"))

    def polytope(self) -> convex.Polytope:
        return convex.polygon(np.array(self.points))

    def mass_properties(self, density: float) -> MassProperties:
        return thin_polygon(np.array(self.points), checked_density(density))


@dataclass(frozen=True)
class Segment(_Planar):
    """The straight line from `a` to `b`, (2,) each, rounded by `radius`."""

    a: Given
    b: Given
    radius: float = 0.0
    kind: ClassVar[ShapeKind] = ShapeKind.POLYGON

    def __post_init__(self) -> None:
        a, b = checked(self.a, (2,), "segment: a"), checked(self.b, (2,), "segment: b")
        if (a == b).all():
            raise InputError(f"segment: a and b are both {self.a!r}, must differ")
        self._check("a", tuple(a.tolist()))
        self._check("b", tuple(b.tolist()))
        self._check("radius", checked_number(self.radius, "segment: radius", least=0.0))

    @property
    def rounding(self) -> float:
        return self.radius

    def polytope(self) -> convex.Polytope:
        return convex.polygon(np.array([self.a, self.b]))

    def mass_properties(self, density: float) -> MassProperties:
        if self.radius == 0.0:
            raise InputError("segment of radius 0 has no area, must have radius > 0 or mass and inertia given")
        a, b, r = np.array(self.a), np.array(self.b), self.radius
        l = float(np.linalg.norm(b - a))
        strip, caps = checked_density(density) * 2.0 * r * l, density * np.pi * r**2
        # A half disc's mass centre sits 4r/(3 pi) beyond the end of the straight part.
        along = strip * l**2 / 12.0 + caps * (r**2 / 4.0 + 4.0 * r * l / (3.0 * np.pi) + l**2 / 4.0)
        across = strip * r**2 / 3.0 + caps * r**2 / 4.0
        u, w = np.append(b - a, 0.0) / l, np.array([a[1] - b[1], b[0] - a[0], 0.0]) / l
        moment = along * np.outer(u, u) + across * np.outer(w, w)
        return from_second_moment(strip + caps, np.append(0.5 * (a + b), 0.0), moment)


_FLAT_AND_ROUND: tuple[type[Shape], ...] = (
    HalfSpace,
    Sphere,
    Point,
    Box,
    Capsule,
    ConvexHull,
    Disc,
    Ellipse,
    Polygon,
    Segment,
)
SHAPES: dict[str, type[Shape]] = {shape.word(): shape for shape in (*_FLAT_AND_ROUND, *CURVED_SHAPES)}
"""Shapes by the word that scene files use."""
