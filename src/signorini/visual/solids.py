"""What a picture knows of a body: polytopes rounded by a radius, half-spaces, curved solids, in the bodies' frames.

Files hold them as flat arrays (:func:`solids_to_dict`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

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
    owner: int | None = None
    """Body whose colour it has, if it is not the one that moves it."""

    @property
    def is_half_space(self) -> bool:
        """Whether the solid is unbounded."""
        return len(self.vertices) == 0

    @property
    def tinted(self) -> int:
        """The body whose colour it has."""
        return self.body if self.owner is None else self.owner

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


_FORMS: Final = ("", "cylinder", "cone", "superellipsoid")
SOLID_COLUMNS: Final[dict[str, tuple[str | int, ...]]] = {
    "body": ("solids",),
    "radius": ("solids",),
    "form": ("solids",),
    "size": ("solids", 4),
    "centre": ("solids", 3),
    "axes": ("solids", 3, 3),
    "vertex_count": ("solids",),
    "plane_count": ("solids",),
    "vertex": ("vertices", 3),
    "plane": ("planes", 4),
}
"""Columns of solids in a file, with their shapes."""


def solids_to_dict(solids: Sequence[Solid]) -> dict[str, Array]:
    """Return solids as flat arrays; those of solid i follow those of the solids before it."""
    none = Surface("", np.zeros(4), np.zeros(3), np.eye(3))
    surfaces = [none if solid.surface is None else solid.surface for solid in solids]
    return {
        "body": np.array([solid.body for solid in solids], dtype=np.int64),
        "radius": np.array([solid.radius for solid in solids], dtype=float),
        "form": np.array([_FORMS.index(surface.form) for surface in surfaces], dtype=np.int64),
        "size": np.array([surface.size for surface in surfaces]).reshape(-1, 4),
        "centre": np.array([surface.centre for surface in surfaces]).reshape(-1, 3),
        "axes": np.array([surface.axes for surface in surfaces]).reshape(-1, 3, 3),
        "vertex_count": np.array([len(solid.vertices) for solid in solids], dtype=np.int64),
        "plane_count": np.array([len(solid.planes) for solid in solids], dtype=np.int64),
        "vertex": np.concatenate([np.zeros((0, 3)), *(solid.vertices for solid in solids)]),
        "plane": np.concatenate([np.zeros((0, 4)), *(solid.planes for solid in solids)]),
    }


def solids_from_dict(columns: Mapping[str, Any]) -> list[Solid]:
    """Return the solids in flat arrays, the inverse of :func:`solids_to_dict`."""
    vertices = np.split(columns["vertex"], np.cumsum(columns["vertex_count"])[:-1])
    planes = np.split(columns["plane"], np.cumsum(columns["plane_count"])[:-1])
    found = []
    for i, body in enumerate(columns["body"]):
        form = _FORMS[int(columns["form"][i])]
        surface = Surface(form, columns["size"][i], columns["centre"][i], columns["axes"][i]) if form else None
        found.append(Solid(int(body), vertices[i], planes[i], float(columns["radius"][i]), surface))
    return found


def rotation_matrix(quaternion: Array) -> Array:
    """Return the rotation matrix, (3, 3)."""
    return np.array(matrix(np.ascontiguousarray(quaternion))).reshape(3, 3)
