"""Surfaces of detected contacts, as they move with their bodies within a step."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.geometry.implicit_pairs import shape_set
from signorini.geometry.moving_features import FeaturePair
from signorini.geometry.moving_touch import Pair, PlanePair, SurfacePair, rotation_of
from signorini.geometry.rows import FEATURE_BITS
from signorini.math.rotation import matrix
from signorini.model import Contacts, Model, ShapeKind, State
from signorini.model.convex_sets import Placed, placed
from signorini.model.shape_kinds import SMOOTH

_ROUND = (ShapeKind.SPHERE, *SMOOTH)
_CURVED = (*_ROUND, ShapeKind.CAPSULE, ShapeKind.IMPLICIT)
_ALONG = 1e-9  # cosine short of 1 up to which a normal is that of a face
_ON = 1e-6  # in units of the shape: how far a point may be from its edge


def moving_pair(model: Model, state: State, contacts: Contacts, c: int, *, level_set: bool) -> Pair:
    """Return the surfaces of contact `c`.

    A curved shape that touches at one place does so by its surface, all else by the features that detection found. Of
    level sets of round shapes on planes there is no formula.
    """
    keys = contacts.feature >> (2 * FEATURE_BITS)
    i, j = divmod(int(keys[c]), model.shapes.kind.size)
    kinds = ShapeKind(model.shapes.kind[i]), ShapeKind(model.shapes.kind[j])
    alone = np.count_nonzero(keys == keys[c]) == 1
    if not alone or ShapeKind.POLYGON in kinds or not any(kind in _CURVED for kind in kinds):
        return _features(model, state, contacts, c, (i, j))
    if ShapeKind.HALF_SPACE in kinds:
        plane, other = (i, j) if kinds[0] is ShapeKind.HALF_SPACE else (j, i)
        soft = bool(model.layers) and model.layers[model.shapes.body[other]] is not None
        if model.shapes.kind[other] in _ROUND and not (level_set and soft):
            return _on_plane(model, plane, other, plane_first=plane == i)
    size = float(min(model.shapes.bound[i], model.shapes.bound[j]))
    return SurfacePair(_placed(model, i), _placed(model, j), size)


def _features(model: Model, state: State, contacts: Contacts, c: int, shapes: tuple[int, int]) -> FeaturePair:
    """Return the features of shapes at a contact: whose face the normal is, or which edges cross."""
    n, points = contacts.normal[c], (contacts.point_a[c], contacts.point_b[c])
    q = state.q[contacts.body_a[c]], state.q[contacts.body_b[c]]
    R = rotation_of(q[0]), rotation_of(q[1])
    radius = tuple(_rounding(model, s) for s in shapes)
    centre = tuple(
        R[k].T @ (x - q[k][:3] - sign * radius[k] * n)
        for k, (x, sign) in enumerate(zip(points, (1.0, -1.0), strict=True))
    )
    local = R[0].T @ n, -(R[1].T @ n)
    for k in (0, 1):
        if _has_face(model, shapes[k], local[k]):
            return FeaturePair((centre[0], centre[1]), (radius[0], radius[1]), (R[k].T @ n, k))
    edges = [_edge(model, shapes[k], centre[k], local[k]) for k in (0, 1)]
    if edges[0] is not None and edges[1] is not None:
        across = np.cross(R[0] @ edges[0], R[1] @ edges[1])
        if abs(float(across @ n)) > 0.999 * float(np.linalg.norm(across)) > 1e-3:
            second = edges[1] if across @ n > 0.0 else -edges[1]
            return FeaturePair((centre[0], centre[1]), (radius[0], radius[1]), None, (edges[0], second))
    return FeaturePair((centre[0], centre[1]), (radius[0], radius[1]), (R[0].T @ n, 0))


def _rounding(model: Model, s: int) -> float:
    rounded = model.shapes.kind[s] in (ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.POLYGON)
    return float(model.shapes.size[s, 0]) if rounded else 0.0


def _has_face(model: Model, s: int, normal: Array) -> bool:
    """Tell whether a shape has a flat face with this outward normal in its body's frame."""
    R, hull = np.array(matrix(model.shapes.quaternion[s])).reshape(3, 3), model.shapes.hull[s]
    if model.shapes.kind[s] == ShapeKind.HALF_SPACE:
        return True
    faces = model.hulls.face_normal[model.hulls.face_start[hull] : model.hulls.face_start[hull + 1]]
    if model.shapes.kind[s] in (ShapeKind.CYLINDER, ShapeKind.CONE):
        faces = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    return bool(faces.size and (faces @ (R.T @ normal)).max() > 1.0 - _ALONG)


def _edge(model: Model, s: int, x: Array, normal: Array) -> Array | None:
    """Return the direction of the edge at `x`, across the normal, in the body's frame; None if there is none."""
    shapes, hulls = model.shapes, model.hulls
    R, hull = np.array(matrix(shapes.quaternion[s])).reshape(3, 3), shapes.hull[s]
    edges = hulls.edge[hulls.edge_start[hull] : hulls.edge_start[hull + 1], :2]
    if not edges.size:
        return None
    corners = hulls.vertex[hulls.vertex_start[hull] :]
    ends, at, n = corners[edges], R.T @ (x - shapes.position[s]), R.T @ normal
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    along = along / np.where(length > 0.0, length, 1.0)[:, None]
    away = at - ends[:, 0]
    away = np.linalg.norm(away - (away * along).sum(axis=1)[:, None] * along, axis=1)
    off = away / shapes.bound[s] + np.abs(along @ n) + (length == 0.0)
    k = int(np.argmin(off))
    return R @ along[k] if off[k] < _ON else None


def _placed(model: Model, s: int) -> Placed:
    shapes = model.shapes
    return placed(shape_set(shapes, model.hulls, model.implicit, s), shapes.position[s], shapes.quaternion[s])


def _on_plane(model: Model, plane: int, other: int, *, plane_first: bool) -> PlanePair:
    shapes = model.shapes
    R_p, R = (np.array(matrix(shapes.quaternion[s])).reshape(3, 3) for s in (plane, other))
    normal = R_p @ shapes.size[plane, 1:4]
    offset = float(shapes.size[plane, 0] + normal @ shapes.position[plane])
    centre, axes, exponent = shapes.position[other], shapes.size[other, :3], float(shapes.size[other, 3])
    if shapes.kind[other] == ShapeKind.SPHERE:
        axes, exponent = np.full(3, shapes.size[other, 0]), 2.0
        hull = shapes.hull[other]
        centre = centre + R @ model.hulls.vertex[model.hulls.vertex_start[hull]]
    return PlanePair(plane_first, normal, offset, centre, R, axes, exponent)
