"""What a picture knows of a body: polytopes rounded by a radius, half-spaces, curved solids, in the bodies' frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.math.rotation import matrix


class Surface(NamedTuple):
    """The surface of a curved solid in a frame of its own."""

    form: str
    """About the local z: ``"cylinder"`` (radius, half length), ``"cone"`` (radius, height; base at -height/4) or
    ``"superellipsoid"`` (three semi-axes and exponent, 2 for an ellipsoid)."""
    size: Array
    """(4,) [m]"""
    centre: Array
    """(3,) [m]"""
    axes: Array
    """Local axes as columns, (3, 3)."""

    def corners(self) -> Array:
        """Return the corners of the local box around the solid, (8, 3)."""
        a, b = self.size[:2]
        low, high = -self.size[:3], self.size[:3]
        if self.form == "cylinder":
            low, high = np.array([-a, -a, -b]), np.array([a, a, b])
        elif self.form == "cone":
            low, high = np.array([-a, -a, -0.25 * b]), np.array([a, a, 0.75 * b])
        local = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        return np.asarray(local @ self.axes.T + self.centre)


class Solid(NamedTuple):
    """One convex piece of a body.

    A ball is one vertex with a radius, a capsule two; a polyhedron has vertices and planes; a half-space one plane and
    no vertex; a planar polygon has its vertices in order; a curved solid has the corners of the box around it.
    """

    body: int
    """Row of the body's pose."""
    vertices: Array
    """(k, 3) [m]"""
    planes: Array
    """Outward unit normal and offset of each face, (m, 4): inside where ``normal . x <= offset``."""
    radius: float
    """[m]"""
    surface: Surface | None = None

    @property
    def is_half_space(self) -> bool:
        """Whether the solid is unbounded."""
        return len(self.vertices) == 0

    def placed(self, pose: Array) -> Solid:
        """Return the solid in world axes when its body has the pose (position, quaternion), (7,)."""
        R = rotation_matrix(pose[3:])
        normals = self.planes[:, :3] @ R.T
        offsets = self.planes[:, 3] + normals @ pose[:3]
        surface = self.surface
        if surface is not None:
            surface = surface._replace(centre=R @ surface.centre + pose[:3], axes=R @ surface.axes)
        return self._replace(
            vertices=self.vertices @ R.T + pose[:3], planes=np.column_stack([normals, offsets]), surface=surface
        )

    def moved(self, by: Array) -> Solid:
        """Return the solid shifted without turning."""
        planes = self.planes.copy()
        planes[:, 3] += planes[:, :3] @ by
        surface = self.surface if self.surface is None else self.surface._replace(centre=self.surface.centre + by)
        return self._replace(vertices=self.vertices + by, planes=planes, surface=surface)

    def ball(self) -> tuple[Array, float]:
        """Return centre and radius of a ball that contains the solid."""
        centre = 0.5 * (self.vertices.min(axis=0) + self.vertices.max(axis=0))
        return centre, float(np.linalg.norm(self.vertices - centre, axis=1).max()) + self.radius


def rotation_matrix(quaternion: Array) -> Array:
    """Return the rotation matrix, (3, 3)."""
    return np.array(matrix(np.ascontiguousarray(quaternion))).reshape(3, 3)
