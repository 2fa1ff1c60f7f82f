"""From a model to the solids that a picture needs."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.model import Model, ShapeKind
from signorini.model.shape_kinds import CURVED
from signorini.visual import Solid, Surface

_PLANES = 300  # by which a surface that only its functions describe is drawn


def solids(model: Model) -> list[Solid]:
    """Return the shapes of a model as a picture knows them, in the frames of the mass centres."""
    return [_solid(model, s) for s in range(model.shapes.kind.size)]


def _solid(model: Model, s: int) -> Solid:
    shapes, hulls = model.shapes, model.hulls
    kind, size, hull = ShapeKind(int(shapes.kind[s])), shapes.size[s], int(shapes.hull[s])
    vertices, planes, radius, surface = np.zeros((0, 3)), np.zeros((0, 4)), 0.0, None
    if kind is ShapeKind.HALF_SPACE:
        planes = np.array([[*size[1:4], size[0]]])
    elif kind in CURVED and CURVED[kind].form:
        surface = Surface(CURVED[kind].form, size.copy(), np.zeros(3), np.eye(3))
        vertices = surface.corners()
    elif kind in CURVED or kind is ShapeKind.IMPLICIT:
        vertices, planes = _tangent_planes(model, s)
    else:
        vertices = hulls.vertex[hulls.vertex_start[hull] : hulls.vertex_start[hull + 1]]
        radius = float(size[0])
        if kind is ShapeKind.HULL:
            faces = slice(hulls.face_start[hull], hulls.face_start[hull + 1])
            planes = np.column_stack([hulls.face_normal[faces], hulls.face_offset[faces]])
    place: Array = np.concatenate([shapes.position[s], shapes.quaternion[s]])
    return Solid(int(shapes.body[s]), vertices, planes, radius, surface).placed(place)


def _tangent_planes(model: Model, s: int) -> tuple[Array, Array]:
    """Return points and tangent planes of a surface that only its functions describe, seen from an inner point."""
    kind, users = ShapeKind(int(model.shapes.kind[s])), model.implicit[s]
    solid = CURVED[kind].inequalities(model.shapes.size[s]) if users is None else users
    k = np.arange(_PLANES) + 0.5
    height, angle = 1.0 - 2.0 * k / _PLANES, np.pi * (1.0 + np.sqrt(5.0)) * k  # points spread evenly over the sphere
    across = np.sqrt(1.0 - height**2)
    rays = np.column_stack([across * np.cos(angle), across * np.sin(angle), height])
    near, far = np.zeros(_PLANES), np.full(_PLANES, 4.0 * float(model.shapes.bound[s]))
    for _ in range(50):
        middle = 0.5 * (near + far)
        inside = solid.values(solid.inner + middle[:, None] * rays).max(axis=1) <= 0.0
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    points = solid.inner + near[:, None] * rays
    normals = np.array([solid.gradients(x)[int(solid.values(x).argmax())] for x in points])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    planes = np.column_stack([normals, np.einsum("ij,ij->i", normals, points)])
    _, first = np.unique(planes.round(9), axis=0, return_index=True)
    return points, planes[np.sort(first)]
