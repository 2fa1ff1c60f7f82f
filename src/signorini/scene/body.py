"""Bodies as the user places them: their shapes and mass properties, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError
from signorini.model import Motion
from signorini.scene.shape import PlacedShape, Shape, combine
from signorini.scene.space import Space

ShapeOrShapes = Shape | PlacedShape | Sequence[Shape | PlacedShape]

_WATER = 1000.0  # density where none is given [kg/m^3], in the plane [kg/m^2]


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body as the user placed it; vectors are kept in their 3D form."""

    name: str
    shapes: tuple[PlacedShape, ...]
    mass: float
    """[kg]"""
    inertia: Array
    """About the mass centre in body axes, (3, 3) [kg m^2]."""
    mass_centre: Array
    """In the body frame, (3,) [m]."""
    position: Array
    """Of the body frame's origin, (3,) [m]."""
    orientation: Array
    """Quaternion (w, x, y, z) body to world, (4,)."""
    velocity: Array
    """Of the mass centre, (3,) [m/s]."""
    angular_velocity: Array
    """In world axes, (3,) [rad/s]."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A body that does not move, or moves as prescribed."""

    name: str
    shapes: tuple[PlacedShape, ...]
    position: Array
    orientation: Array
    motion: Motion | None


def placed_shapes(shape: ShapeOrShapes, what: str, *, planar: bool) -> tuple[PlacedShape, ...]:
    """Return the shapes of a body in their places, as they may live in the scene."""
    shapes = [shape] if isinstance(shape, Shape | PlacedShape) else list(shape)
    if not shapes:
        raise InputError(f"{what}: has no shape, must have at least one")
    for s in shapes:
        if not isinstance(s, Shape | PlacedShape):
            raise InputError(f"{what}: {s!r} is not a shape")
    placed = tuple(s if isinstance(s, PlacedShape) else s.at() for s in shapes)
    for p in placed:
        kind = type(p.shape).__name__
        if planar and not p.shape.planar:
            raise InputError(f"{what}: {kind} is a spatial shape, must be planar in a planar scene")
        if not planar and not p.shape.spatial:
            raise InputError(f"{what}: {kind} is a planar shape, must be spatial; or use Scene(planar=True)")
    return placed


def mass_properties(
    what: str,
    shapes: tuple[PlacedShape, ...],
    mass: float | None,
    density: float | None,
    inertia: ArrayLike | None,
    mass_centre: ArrayLike | None,
    space: Space,
) -> tuple[float, Array, Array]:
    """Return mass, inertia (3, 3) and mass centre (3,) from what was given and from the shapes."""
    if mass is not None and density is not None:
        raise InputError(f"{what}: give either mass or density, not both")
    if mass is not None:
        mass = checked_number(mass, f"{what}: mass", above=0.0)
    if density is not None:
        density = checked_number(density, f"{what}: density", above=0.0)
    if mass is not None and inertia is not None and mass_centre is not None:
        I, centre = inertia, space.vector(mass_centre, f"{what}: mass_centre")
    else:
        shaped = combine(shapes, _WATER if density is None else density, what)
        if mass is None:
            mass = shaped.mass
        centre = shaped.centre if mass_centre is None else space.vector(mass_centre, f"{what}: mass_centre")
        I = shaped.inertia * (mass / shaped.mass) if inertia is None else inertia
        if inertia is None and mass_centre is not None:
            raise InputError(f"{what}: mass_centre is given without inertia, must be given together")
    return mass, _inertia(I, f"{what}: inertia", planar=space.planar), centre


def _inertia(value: ArrayLike, what: str, *, planar: bool) -> Array:
    """Return a matrix of inertia that a body can have, (3, 3)."""
    if np.ndim(value) == 0:
        if not planar:
            raise InputError(f"{what} is {value!r}, must be a (3, 3) array or 3 principal values")
        return checked_number(value, what, above=0.0) * np.eye(3)
    I = np.diag(checked(value, (3,), what)) if np.ndim(value) == 1 else checked(value, (3, 3), what)
    if np.abs(I - I.T).max() > 1e-9 * np.abs(I).max():
        raise InputError(f"{what} is {I.tolist()}, must be symmetric")
    moments = np.linalg.eigvalsh(I)
    if moments[0] <= 0.0:
        raise InputError(f"{what} has principal moments {moments.tolist()}, must be positive definite")
    # A flat body reaches equality, so rounding of typed digits must pass.
    if not planar and moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-6):
        raise InputError(f"{what} has principal moments {moments.tolist()}, none may exceed the sum of the others")
    return 0.5 * (I + I.T)
