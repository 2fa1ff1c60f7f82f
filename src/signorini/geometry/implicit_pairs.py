"""Contacts of shapes that only their functions describe, with each other and with all other shapes.

Users' functions are Python, so this part of the narrow phase is Python too: some milliseconds for a pair. All shapes
take part as sets of convex inequalities.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.geometry.implicit_programs import support
from signorini.geometry.implicit_touch import Touch, plane_touch, touch
from signorini.geometry.rows import FEATURE_BITS
from signorini.math.rotation import matrix, tangent_frame
from signorini.model.convex_sets import Common, ConvexSet, Placed, Planes
from signorini.model.model import Materials
from signorini.model.shape_kinds import convex_set
from signorini.model.shapes import Hulls, ShapeArrays

Implicits = tuple[ConvexSet | None, ...]
"""For each shape its inequalities if it has no other description, else None; empty if there are no such shapes."""

_STEEP = 0.99  # cosine above which a flat face rests on a plane with all its corners
_NEAR = 1e-2  # in units of the body's size: how far such a face may be from the lowest point
_LEVEL = 1e-8  # in units of the body's size: thickness of the slab whose ends are those of a flat face
_AROUND = 8  # directions in which the ends of a flat face are looked for


def shape_set(shapes: ShapeArrays, hulls: Hulls, implicit: Implicits, s: int) -> ConvexSet:
    """Return shape `s` as convex inequalities in its own frame: values, gradients and Hessians at any point."""
    own = implicit[s] if implicit else None
    if own is not None:
        return own
    h = int(shapes.hull[s])
    v = slice(hulls.vertex_start[h], hulls.vertex_start[h + 1]) if h >= 0 else slice(0, 0)
    f = slice(hulls.face_start[h], hulls.face_start[h + 1]) if h >= 0 else slice(0, 0)
    return convex_set(int(shapes.kind[s]), shapes.size[s], hulls.vertex[v], hulls.face_normal[f], hulls.face_offset[f])


def implicit_pairs(
    shapes: ShapeArrays,
    hulls: Hulls,
    implicit: Implicits,
    materials: Materials,
    reach: Array,
    frame: Array,
    found: IntArray,
) -> tuple[Array, IntArray]:
    """Return the contacts of the pairs `found` as rows of points, normal and gap (n, 10) and of numbers (n, 4).

    The rows are those of :func:`signorini.geometry.rows.emit`.
    """
    value: list[Array] = []
    index: list[tuple[int, int, int, int]] = []
    n_s = shapes.body.size
    for key in found.tolist():
        i, j = divmod(key, n_s)
        a, b = int(shapes.body[i]), int(shapes.body[j])
        material = _material(materials, a * reach.size + b)
        if material < 0:
            continue
        limit = float(reach[a] + reach[b])
        for feature, one in enumerate(_contacts(shapes, hulls, implicit, frame, i, j, limit)):
            value.append(np.concatenate([one.point_a, one.point_b, one.normal, [one.gap]]))
            index.append((a, b, (((key << FEATURE_BITS) + feature) << FEATURE_BITS) + feature, material))
    return np.array(value).reshape(-1, 10), np.array(index, dtype=np.int64).reshape(-1, 4)


def _material(materials: Materials, key: int) -> int:
    row = int(np.searchsorted(materials.pair, key))
    known = row < materials.pair.size and materials.pair[row] == key
    return int(materials.pair_material[row]) if known else 0


def _contacts(
    shapes: ShapeArrays, hulls: Hulls, implicit: Implicits, frame: Array, i: int, j: int, limit: float
) -> list[Touch]:
    """Return the contacts of shapes `i` and `j` with gaps up to `limit`, in world coordinates."""
    scale = float(min(shapes.bound[i], shapes.bound[j]))
    # Seen from the bounded shape, for more digits.
    origin = frame[j if shapes.hull[i] < 0 else i, :3].copy()
    A, B = (
        Placed(shape_set(shapes, hulls, implicit, s), frame[s, :3] - origin, _rotation(frame[s]), scale) for s in (i, j)
    )
    if shapes.hull[i] < 0:
        touches = _on_plane(A, B, limit / scale)
    elif shapes.hull[j] < 0:
        touches = [_exchanged(one) for one in _on_plane(B, A, limit / scale)]
    else:
        one = touch(A, B, limit / scale)
        touches = [] if one is None or not one.gap * scale <= limit else [one]
    return [
        one._replace(gap=scale * one.gap, point_a=origin + scale * one.point_a, point_b=origin + scale * one.point_b)
        for one in touches
    ]


def _rotation(frame: Array) -> Array:
    return np.array(matrix(np.ascontiguousarray(frame[3:]))).reshape(3, 3)


def _exchanged(one: Touch) -> Touch:
    return Touch(one.gap, -one.normal, one.point_b, one.point_a, one.weight_b, one.weight_a)


def _on_plane(plane: ConvexSet, B: ConvexSet, limit: float) -> list[Touch]:
    """Return the lowest point of B above a half-space, and the ends of the face or edge if it rests on one."""
    n = plane.gradients(np.zeros(3))[0]
    offset = -float(plane.values(np.zeros(3))[0])
    lowest = plane_touch(n, offset, B)
    if not lowest.gap <= limit:
        return []
    ends = _face_ends(n, B, lowest.point_b)
    touches = []
    for x in ends:
        gap = float(n @ x) - offset
        if gap <= limit:
            touches.append(Touch(gap, n, x - gap * n, x, lowest.weight_a, lowest.weight_b))
    if all(one.gap > lowest.gap + _LEVEL for one in touches):
        touches.append(lowest)
    return touches


def _face_ends(n: Array, B: ConvexSet, x: Array) -> list[Array]:
    """Return the extremes, in fixed directions, of a flat face at the lowest point `x` that looks down along `n`."""
    value, G = B.values(x), B.gradients(x)
    for i in np.flatnonzero((value > -_NEAR) & (G @ n < 0.0)):
        m = G[i] / float(np.linalg.norm(G[i]))
        if -float(m @ n) < _STEEP or np.abs(B.hessian(x, np.eye(B.count)[i])).max() > 0.0:
            continue
        # A thin slab of the body at that face, and a point inside of it.
        foot, _ = support(B, m)
        depth = float(m @ (foot - B.inner))
        slab = Common(
            (B, Planes(-m[None], np.array([_LEVEL - float(m @ foot)]))), foot + 0.5 * _LEVEL / depth * (B.inner - foot)
        )
        t, o = (np.array(axis) for axis in tangent_frame(n))
        ends: list[Array] = []
        for k in range(_AROUND):
            angle = 2.0 * np.pi * k / _AROUND
            end, _ = support(slab, np.cos(angle) * t + np.sin(angle) * o)
            end = end + float(m @ (foot - end)) * m
            if all(float(np.linalg.norm(end - other)) > 1e-3 for other in ends):
                ends.append(end)
        return ends
    return []
