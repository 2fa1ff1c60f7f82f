"""What every shape can do, and its place on a body."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError
from signorini.math.rotation import matrix
from signorini.model.convex_sets import ConvexSet
from signorini.model.shape_kinds import convex_set
from signorini.model.shapes import ShapeKind
from signorini.scene.convex import Polytope
from signorini.scene.mass import MassProperties
from signorini.scene.space import about_z, unit_quaternion

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Shape(ABC):
    """A solid in its own frame; subclasses hold the numbers that define it."""

    kind: ClassVar[ShapeKind]
    text_words: ClassVar[tuple[str, ...]] = ()
    """Words whose values in scene files may be text rather than numbers."""

    @classmethod
    def word(cls) -> str:
        """Return the name of this kind of shape in scene files."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def words(cls) -> dict[str, bool]:
        """Return the words of this kind of shape in scene files, and whether each is needed."""
        return {field.name: field.default is MISSING for field in fields(cls)}

    @classmethod
    def from_words(cls, values: Mapping[str, Any], folder: Path) -> Self:
        """Make the shape from the words of a scene file that lies in `folder`."""
        return cls(**values)

    @property
    def planar(self) -> bool:
        """Whether the shape may live in a planar scene."""
        return False

    @property
    def spatial(self) -> bool:
        """Whether the shape may live in a spatial scene."""
        return not self.planar

    @property
    def rounding(self) -> float:
        """Radius of the ball whose sweep over the polytope makes the shape [m]."""
        return 0.0

    @abstractmethod
    def polytope(self) -> Polytope | None:
        """Return the polytope whose rounding makes the shape; None for an unbounded shape."""

    def parameters(self) -> Numbers:
        """Return the four numbers of :class:`~signorini.model.ShapeKind`."""
        return (self.rounding, 0.0, 0.0, 0.0)

    def farthest(self, point: Array) -> float:
        """Return the distance of the farthest point of the shape from `point` in its frame, inf if unbounded [m]."""
        polytope = self.polytope()
        if polytope is None:
            return float("inf")
        return float(np.linalg.norm(polytope.vertices - point, axis=1).max()) + self.rounding

    def inequalities(self) -> ConvexSet:
        """Return the shape as smooth convex inequalities in its own frame."""
        polytope = self.polytope()
        none = np.zeros((0, 3))
        tables = (
            (none, none, none[:, 0]) if polytope is None else (polytope.vertices, polytope.normals, polytope.offsets)
        )
        return convex_set(self.kind, np.array(self.parameters()), *tables)

    def pieces(self) -> tuple[Shape, ...]:
        """Return the convex shapes, in the same frame, that make contact for this one: itself, if it is convex."""
        return (self,)

    @abstractmethod
    def mass_properties(self, density: float) -> MassProperties:
        """Return mass, mass centre and inertia at the given density [kg/m^3], for planar shapes [kg/m^2]."""

    def at(self, position: ArrayLike = (0.0, 0.0, 0.0), orientation: ArrayLike | None = None) -> PlacedShape:
        """Place the shape on a body.

        Parameters
        ----------
        position : (3,) or, in the plane, (2,) [m]
        orientation : quaternion (w, x, y, z), or the angle about z [rad]
            None leaves the axes parallel to the body's.
        """
        x = checked_vector(position, f"{self.word()}: position")
        e = checked_quaternion(orientation, f"{self.word()}: orientation")
        if not self.spatial and (x[2] != 0.0 or e[1] != 0.0 or e[2] != 0.0):
            raise InputError(f"{self.word()}: placed at {position!r}, {orientation!r}, must stay in the plane z = 0")
        return PlacedShape(self, x, e)

    def to_dict(self) -> dict[str, Any]:
        """Return ``{word: {field: value}}`` as scene files write it."""
        return {self.word(): {field.name: np.array(getattr(self, field.name)).tolist() for field in fields(self)}}

    def _check(self, name: str, value: object) -> None:
        """Replace a field by its checked value."""
        object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class PlacedShape:
    """A shape with its place in the frame of a body."""

    shape: Shape
    position: Numbers
    """(3,) [m]"""
    quaternion: Numbers
    """(4,)"""

    def pieces(self) -> tuple[PlacedShape, ...]:
        """Return the convex shapes that make contact for this one, in its place."""
        return tuple(PlacedShape(piece, self.position, self.quaternion) for piece in self.shape.pieces())

    def extent(self) -> tuple[Array, Array]:
        """Return the least and the largest coordinates of a box around the shape, not the smallest, (3,) each [m]."""
        polytope = self.shape.polytope()
        if polytope is None or len(polytope.vertices) == 0:
            radius = self.shape.farthest(np.zeros(3))
            return np.subtract(self.position, radius), np.add(self.position, radius)
        corners = polytope.vertices @ np.array(matrix(self.quaternion)).reshape(3, 3).T + self.position
        return corners.min(axis=0) - self.shape.rounding, corners.max(axis=0) + self.shape.rounding

    def mass_properties(self, density: float) -> MassProperties:
        """Return mass properties in the frame of the body."""
        own = self.shape.mass_properties(density)
        if self.quaternion == (1.0, 0.0, 0.0, 0.0):
            return MassProperties(own.mass, own.centre + self.position, own.inertia)
        return own.moved(np.array(self.position), np.array(matrix(self.quaternion)).reshape(3, 3))

    def to_dict(self) -> dict[str, Any]:
        """Return ``{word: {...}, position: [...], orientation: [...]}``, without what is default."""
        place: dict[str, Any] = self.shape.to_dict()
        if any(self.position):
            place["position"] = list(self.position)
        if self.quaternion != (1.0, 0.0, 0.0, 0.0):
            place["orientation"] = list(self.quaternion)
        return place


def combine(placed: Sequence[PlacedShape], density: float, what: str = "body") -> MassProperties:
    """Return the mass properties of several shapes on one body, in the frame of the body.

    Overlapping parts count twice. An error names the body by `what`.
    """
    try:
        return MassProperties.sum(one.mass_properties(density) for one in placed)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def checked_vector(value: ArrayLike, what: str) -> Numbers:
    """Return 3 numbers, the third 0 if two are given."""
    flat = np.ndim(value) == 1 and np.size(value) == 2
    return (*checked(value, (2 if flat else 3,), what).tolist(), 0.0)[:3]


def checked_quaternion(value: ArrayLike | None, what: str) -> Numbers:
    """Return a unit quaternion from a quaternion, an angle about z or None."""
    if value is None:
        return (1.0, 0.0, 0.0, 0.0)
    e = about_z(checked_number(value, what)) if np.ndim(value) == 0 else unit_quaternion(value, what)
    return tuple(e.tolist())
