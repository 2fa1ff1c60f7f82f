"""Surfaces of detected contacts, as they move with their bodies within a step."""

from __future__ import annotations

import numpy as np

from signorini.geometry.implicit_pairs import shape_set
from signorini.geometry.moving_touch import Pair, PlanePair, SurfacePair
from signorini.geometry.rows import FEATURE_BITS
from signorini.math.rotation import matrix
from signorini.model import Contacts, Model, ShapeKind, State
from signorini.model.convex_sets import Placed, placed

_ROUND = (ShapeKind.SPHERE, ShapeKind.ELLIPSOID)


def moving_pair(model: Model, state: State, contacts: Contacts, c: int, *, level_set: bool) -> Pair:
    """Return the surfaces of contact `c`; of level sets of round shapes on planes there is no formula."""
    i, j = divmod(int(contacts.feature[c]) >> (2 * FEATURE_BITS), model.shapes.kind.size)
    kinds = ShapeKind(model.shapes.kind[i]), ShapeKind(model.shapes.kind[j])
    if ShapeKind.HALF_SPACE in kinds:
        plane, other = (i, j) if kinds[0] is ShapeKind.HALF_SPACE else (j, i)
        soft = bool(model.layers) and model.layers[model.shapes.body[other]] is not None
        if model.shapes.kind[other] in _ROUND and not (level_set and soft):
            return _on_plane(model, plane, other, plane_first=plane == i)
    size = float(min(model.shapes.bound[i], model.shapes.bound[j]))
    return SurfacePair(_placed(model, i), _placed(model, j), size)


def _placed(model: Model, s: int) -> Placed:
    shapes = model.shapes
    return placed(shape_set(shapes, model.hulls, model.implicit, s), shapes.position[s], shapes.quaternion[s])


def _on_plane(model: Model, plane: int, other: int, *, plane_first: bool) -> PlanePair:
    shapes = model.shapes
    R_p, R = (np.array(matrix(shapes.quaternion[s])).reshape(3, 3) for s in (plane, other))
    normal = R_p @ shapes.size[plane, 1:4]
    offset = float(shapes.size[plane, 0] + normal @ shapes.position[plane])
    centre, axes = shapes.position[other], shapes.size[other, :3]
    if shapes.kind[other] == ShapeKind.SPHERE:
        axes = np.full(3, shapes.size[other, 0])
        hull = shapes.hull[other]
        centre = centre + R @ model.hulls.vertex[model.hulls.vertex_start[hull]]
    return PlanePair(plane_first, normal, offset, centre, R @ np.diag(axes**2) @ R.T)
