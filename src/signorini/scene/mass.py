"""Mass, mass centre and inertia of solids, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, checked_number


@dataclass(frozen=True, slots=True)
class MassProperties:
    """What Newton's and Euler's equations know of a body."""

    mass: float
    """[kg]"""
    centre: Array
    """Mass centre in the frame of the shape or body, (3,) [m]."""
    inertia: Array
    """Inertia about the mass centre, axes of the same frame, (3, 3) [kg m^2]."""

    def moved(self, position: Array, rotation: Array) -> MassProperties:
        """Return the same solid seen from a frame in which its own frame is turned by `rotation` and then shifted."""
        return MassProperties(self.mass, rotation @ self.centre + position, rotation @ self.inertia @ rotation.T)

    @staticmethod
    def sum(parts: Iterable[MassProperties]) -> MassProperties:
        """Return the properties of all parts together (theorem of parallel axes)."""
        parts = list(parts)
        mass = sum(part.mass for part in parts)
        centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
        inertia = np.zeros((3, 3))
        for part in parts:
            arm = part.centre - centre
            inertia += part.inertia + part.mass * (np.dot(arm, arm) * np.eye(3) - np.outer(arm, arm))
        return MassProperties(mass, centre, inertia)


def checked_density(value: float) -> float:
    """Return a density > 0 or raise `InputError`."""
    return checked_number(value, "density", above=0.0)


def from_second_moment(mass: float, centre: Array, moment: Array) -> MassProperties:
    """Turn the second moment of mass about the mass centre, the integral of ``x x^T``, into inertia."""
    return MassProperties(mass, centre, np.trace(moment) * np.eye(3) - moment)


def solid_polyhedron(vertices: Array, faces: Iterable[tuple[int, ...]], density: float) -> MassProperties:
    """Integrate over a polyhedron by tetrahedra between an inner point and the triangles of its faces.

    Parameters
    ----------
    vertices : (n, 3) [m]
    faces : loops of vertices, counter-clockwise seen from outside
    density : [kg/m^3]
    """
    inner = vertices.mean(axis=0)
    x = vertices - inner
    triangles = np.array([(loop[0], loop[i], loop[i + 1]) for loop in faces for i in range(1, len(loop) - 1)])
    return _by_simplices(x[triangles], density, inner)


def thin_polygon(points: Array, density: float) -> MassProperties:
    """Integrate over a plate by triangles between an inner point and its sides; points (n, 2), density [kg/m^2]."""
    inner = points.mean(axis=0)
    x = np.column_stack([points - inner, np.zeros(len(points))])
    return _by_simplices(np.stack([x, np.roll(x, -1, axis=0)], axis=1), density, np.append(inner, 0.0))


def _by_simplices(corners: Array, density: float, origin: Array) -> MassProperties:
    r"""Sum over simplices with one corner at the origin and the d others in `corners`, (n, d, 3).

    .. math::
        \int x\,x^T = \frac{V}{(d+1)(d+2)} \Bigl(s s^T + \sum_i x_i x_i^T\Bigr), \quad s = \sum_i x_i
    """
    d = corners.shape[1]
    volume = density * (np.linalg.det(corners) / 6.0 if d == 3 else np.linalg.det(corners[:, :, :2]) / 2.0)
    s = corners.sum(axis=1)
    mass = float(volume.sum())
    centre = volume @ s / ((d + 1) * mass)
    moment = np.einsum("n,ni,nj->ij", volume, s, s) + np.einsum("n,nki,nkj->ij", volume, corners, corners)
    moment = moment / ((d + 1) * (d + 2)) - mass * np.outer(centre, centre)
    return from_second_moment(mass, centre + origin, moment)
