"""What a picture knows of a body: polytopes rounded by a radius, and half-spaces, in the frames of the bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.math.rotation import matrix


class Solid(NamedTuple):
    """One convex piece of a body.

    A ball is one vertex with a radius, a capsule two; a polyhedron has vertices and planes; a half-space one plane and
    no vertex; a planar polygon has its vertices in order.
    """

    body: int
    """Row of the body's pose."""
    vertices: Array
    """(k, 3) [m]"""
    planes: Array
    """Outward unit normal and offset of each face, (m, 4): inside where ``normal . x <= offset``."""
    radius: float
    """[m]"""

    @property
    def is_half_space(self) -> bool:
        """Whether the solid is unbounded."""
        return len(self.vertices) == 0

    def placed(self, pose: Array) -> Solid:
        """Return the solid in world axes when its body has the pose (position, quaternion), (7,)."""
        R = rotation_matrix(pose[3:])
        normals = self.planes[:, :3] @ R.T
        offsets = self.planes[:, 3] + normals @ pose[:3]
        return self._replace(vertices=self.vertices @ R.T + pose[:3], planes=np.column_stack([normals, offsets]))

    def moved(self, by: Array) -> Solid:
        """Return the solid shifted without turning."""
        planes = self.planes.copy()
        planes[:, 3] += planes[:, :3] @ by
        return self._replace(vertices=self.vertices + by, planes=planes)

    def ball(self) -> tuple[Array, float]:
        """Return centre and radius of a ball that contains the solid."""
        centre = 0.5 * (self.vertices.min(axis=0) + self.vertices.max(axis=0))
        return centre, float(np.linalg.norm(self.vertices - centre, axis=1).max()) + self.radius


def rotation_matrix(quaternion: Array) -> Array:
    """Return the rotation matrix, (3, 3)."""
    return np.array(matrix(np.ascontiguousarray(quaternion))).reshape(3, 3)
