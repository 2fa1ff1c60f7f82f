"""From placed shapes to the arrays of the geometry kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from signorini._arrays import Array
from signorini.math.rotation import rotate
from signorini.model.shapes import Hulls, ShapeArrays
from signorini.scene.convex import Polytope
from signorini.scene.shape import PlacedShape, Shape


def encode(placed: Sequence[tuple[int, PlacedShape]], mass_centre: Array) -> tuple[ShapeArrays, Hulls]:
    """Make the arrays of all shapes, sorted by body, in the frames of the bodies' mass centres.

    Parameters
    ----------
    placed : (body, shape) pairs
    mass_centre : (n_b, 3) [m]
        Mass centre of each body in the frame in which its shapes are placed.
    """
    rows = sorted(placed, key=lambda row: row[0])  # stable: shapes of one body keep their order
    n = len(rows)
    hull_of: dict[Shape, int] = {}
    polytopes: list[Polytope] = []
    radii: list[float] = []
    shapes = ShapeArrays(
        kind=np.array([one.shape.kind for _, one in rows], dtype=np.int64),
        body=np.array([body for body, _ in rows], dtype=np.int64),
        position=np.array([one.position for _, one in rows]).reshape(n, 3),
        quaternion=np.array([one.quaternion for _, one in rows]).reshape(n, 4),
        size=np.array([one.shape.parameters() for _, one in rows]).reshape(n, 4),
        hull=np.full(n, -1, dtype=np.int64),
        bound=np.full(n, np.inf),
    )
    shapes.position[:] -= mass_centre[shapes.body]
    for i, (_, one) in enumerate(rows):
        hull = hull_of.get(one.shape)
        if hull is None:
            polytope = one.shape.polytope()
            if polytope is None:
                continue
            hull = hull_of[one.shape] = len(polytopes)
            polytopes.append(polytope)
            radii.append(one.shape.farthest(np.zeros(3)))
        shapes.hull[i] = hull
        if not shapes.position[i].any():
            shapes.bound[i] = radii[hull]
        else:
            w, x, y, z = one.quaternion
            shapes.bound[i] = one.shape.farthest(-np.array(rotate((w, -x, -y, -z), shapes.position[i])))
    return shapes, _stacked(polytopes)


def _stacked(polytopes: list[Polytope]) -> Hulls:
    """Write polytopes one after another."""
    loops = [face for polytope in polytopes for face in polytope.faces]
    return Hulls(
        vertex=_rows([p.vertices for p in polytopes], 3),
        vertex_start=_starts([len(p.vertices) for p in polytopes]),
        face_normal=_rows([p.normals for p in polytopes], 3),
        face_offset=np.ascontiguousarray(_rows([p.offsets.reshape(-1, 1) for p in polytopes], 1)[:, 0]),
        face_start=_starts([len(p.faces) for p in polytopes]),
        loop=np.array([vertex for loop in loops for vertex in loop], dtype=np.int64),
        loop_start=_starts([len(loop) for loop in loops]),
        edge=np.array([edge for p in polytopes for edge in p.edges], dtype=np.int64).reshape(-1, 4),
        edge_start=_starts([len(p.edges) for p in polytopes]),
    )


def _rows(tables: list[Array], width: int) -> Array:
    return np.concatenate(tables) if tables else np.zeros((0, width))


def _starts(counts: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
