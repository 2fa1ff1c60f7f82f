"""How thin bodies are: the scale by which a contact that gives way is judged."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.model.shape_kinds import CURVED
from signorini.model.shapes import Hulls, ShapeArrays, ShapeKind

_MOST_AT_ONCE = 4_000_000  # distances of vertices from faces: 32 MB, whatever the hull
_ROUNDING = 1e-12  # of the radius: all that is left of the width of a segment that lies askew


def thinnest_extents(shapes: ShapeArrays, hulls: Hulls, body_count: int) -> Array:
    """Return the least width of the shapes of each body, inf for bodies without bounded ones, (n_b,) [m].

    A polyhedron is as thin as the least distance between a face and the vertex farthest from it: between a face and the
    opposite edge it may be thinner by a few per cent. What has no width, a segment or a point, counts as wide as
    it is long, or far from the mass centre.
    """
    thin = np.full(body_count, np.inf)
    for s in range(shapes.kind.size):
        width = _extent(shapes, hulls, s)
        flat = width <= _ROUNDING * shapes.bound[s]
        if shapes.bound[s] > 0.0:  # a point in the origin of a fixed body says nothing
            thin[shapes.body[s]] = min(thin[shapes.body[s]], 2.0 * shapes.bound[s] if flat else width)
    return thin


def _extent(shapes: ShapeArrays, hulls: Hulls, s: int) -> float:
    kind, size = ShapeKind(shapes.kind[s]), shapes.size[s]
    if kind == ShapeKind.HALF_SPACE:
        return float("inf")
    if kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE):
        return 2.0 * float(size[0])
    if kind in CURVED:
        return CURVED[kind].width(size)
    k = shapes.hull[s]
    vertex = hulls.vertex[hulls.vertex_start[k] : hulls.vertex_start[k + 1]]
    first, last = int(hulls.face_start[k]), int(hulls.face_start[k + 1])
    at_once = max(1, _MOST_AT_ONCE // max(len(vertex), 1))
    depths = []
    for face in range(first, last, at_once):
        faces = slice(face, min(last, face + at_once))
        depth = hulls.face_offset[faces, None] - hulls.face_normal[faces] @ vertex.T
        depths.append(depth.max(axis=1).min())
    rounding = float(size[0]) if kind == ShapeKind.POLYGON else 0.0
    return float(min(depths)) + 2.0 * rounding
