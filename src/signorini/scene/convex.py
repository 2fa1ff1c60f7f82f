"""Convex polytopes from points: faces, their loops and edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.errors import InputError

# Facets whose corners lie within this fraction of the extent of one plane are one face. Coordinates typed with nine
# digits still give flat faces, and a contact gap is wrong by no more than this fraction.
_FLAT = 1e-9


@dataclass(frozen=True, slots=True)
class Polytope:
    """A point, a segment, a convex polyhedron or a convex polygon in the plane z = 0."""

    vertices: Array
    """(n_v, 3) [m]"""
    faces: tuple[tuple[int, ...], ...]
    """Vertices around each face, counter-clockwise seen from outside; the two ends of each side, for a polygon."""
    normals: Array
    """Outward unit normals, (n_f, 3)."""
    offsets: Array
    """``normal . x`` on the faces, (n_f,) [m]."""
    edges: tuple[tuple[int, int, int, int], ...]
    """Two vertices and the two faces that meet there, as in :class:`signorini.model.Hulls`."""


def nothing() -> Polytope:
    """Return the polytope without points, in place of shapes that are not rounded polytopes."""
    return Polytope(np.zeros((0, 3)), (), np.zeros((0, 3)), np.zeros(0), ())


def point() -> Polytope:
    """Return the polytope that is the origin alone."""
    return Polytope(np.zeros((1, 3)), (), np.zeros((0, 3)), np.zeros(0), ((0, 0, -1, -1),))


def segment(a: Array, b: Array) -> Polytope:
    """Return the segment from `a` to `b`, without faces."""
    return Polytope(np.array([a, b]), (), np.zeros((0, 3)), np.zeros(0), ((0, 1, -1, -1),))


def box(size: Array) -> Polytope:
    """Return the box with edges of the given full lengths, centred at the origin."""
    signs = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=np.float64)
    faces = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
    normals = np.zeros((6, 3))
    normals[[0, 2, 4], [0, 1, 2]] = -1.0
    normals[[1, 3, 5], [0, 1, 2]] = 1.0
    return Polytope(0.5 * signs * size, faces, normals, 0.5 * np.repeat(size, 2), _edges_of(faces))


def polygon(points: Array) -> Polytope:
    """Return the convex polygon through the given (n, 2) points, which run counter-clockwise."""
    n = len(points)
    vertices = np.column_stack([points, np.zeros(n)])
    sides = tuple((i, (i + 1) % n) for i in range(n))
    along = np.roll(points, -1, axis=0) - points
    normals = np.column_stack([along[:, 1], -along[:, 0], np.zeros(n)]) / np.hypot(*along.T)[:, None]
    offsets = np.einsum("ij,ij->i", normals, vertices)
    # A segment with two sides has one edge.
    edges = tuple((*side, i, i) for i, side in enumerate(sides if n > 2 else sides[:1]))
    return Polytope(vertices, sides, normals, offsets, edges)


def polyhedron(points: Array, what: str) -> Polytope:
    """Return the convex hull of (n, 3) points with its flat facets joined to faces.

    Raises
    ------
    InputError
        If the points span no volume.
    """
    from scipy.spatial import ConvexHull, QhullError

    extent = float(np.ptp(points, axis=0).max())
    flat = f"{what}: the points span no volume, need at least four that do not lie in one plane"
    if len(points) < 4 or extent == 0.0:
        raise InputError(flat)
    centre = points.mean(axis=0)
    local = (points - centre) / extent  # Qhull's tolerances then fit bodies of any size and place
    try:
        hull = ConvexHull(local)
    except QhullError:
        raise InputError(flat) from None
    if hull.volume < 1e-9:
        raise InputError(flat)
    for corners in (_joined_facets(hull.simplices, hull.neighbors, local), [set(s) for s in hull.simplices.tolist()]):
        kept, faces = _loops(corners, local)
        edges = _edges_of(faces)
        if len(kept) - len(edges) + len(faces) == 2 and all(edge[3] >= 0 for edge in edges):
            vertices = points[kept]
            normals = np.array([_face_normal(vertices[list(face)]) for face in faces])
            offsets = np.array([float(np.mean(vertices[list(f)] @ n)) for f, n in zip(faces, normals, strict=True)])
            return Polytope(vertices, faces, normals, offsets, edges)
    raise InputError(f"{what}: no closed surface found, some points may coincide nearly; remove near duplicates")


def _joined_facets(simplices: np.ndarray, neighbors: np.ndarray, points: Array) -> list[set[int]]:
    """Join neighbouring triangles that lie in one plane; return the vertices of each face."""
    face_of = np.full(len(simplices), -1)
    faces: list[set[int]] = []
    middle = points.mean(axis=0)
    areas = np.linalg.norm(
        np.cross(points[simplices[:, 1]] - points[simplices[:, 0]], points[simplices[:, 2]] - points[simplices[:, 0]]),
        axis=1,
    )
    # Large triangles first: they tell the plane best.
    for seed in np.argsort(-areas, kind="stable").tolist():
        if face_of[seed] >= 0:
            continue
        a, b, c = points[simplices[seed]]
        normal = np.cross(b - a, c - a)
        normal *= np.sign(normal @ (a - middle)) / np.linalg.norm(normal)
        face_of[seed] = len(faces)
        corners, pending = set(simplices[seed].tolist()), [seed]
        while pending:
            for other in neighbors[pending.pop()].tolist():
                if face_of[other] < 0 and np.abs((points[simplices[other]] - a) @ normal).max() < _FLAT:
                    face_of[other] = len(faces)
                    corners.update(simplices[other].tolist())
                    pending.append(other)
        faces.append(corners)
    return faces


def _loops(corners: list[set[int]], points: Array) -> tuple[list[int], tuple[tuple[int, ...], ...]]:
    """Return the vertices where at least three faces meet, and the faces as loops of their rows."""
    count = np.bincount([v for face in corners for v in face], minlength=len(points))
    kept = np.flatnonzero(count >= 3).tolist()
    row = {v: i for i, v in enumerate(kept)}
    middle = points[kept].mean(axis=0) if kept else np.zeros(3)
    loops = []
    for face in corners:
        rows = sorted(row[v] for v in face if v in row)
        if len(rows) < 3:
            continue
        around = points[[kept[i] for i in rows]]
        centre = around.mean(axis=0)
        # The two axes of largest spread span the plane of the face.
        x, y = np.linalg.svd(around - centre, full_matrices=False)[2][:2]
        if np.cross(x, y) @ (centre - middle) < 0.0:
            y = -y
        angle = np.arctan2((around - centre) @ y, (around - centre) @ x)
        order = np.argsort(angle, kind="stable").tolist()
        first = order.index(0)
        loops.append(tuple(rows[i] for i in order[first:] + order[:first]))
    return kept, tuple(sorted(loops))


def _face_normal(loop: Array) -> Array:
    """Return the unit normal of a loop: the mean over its triangles, weighted by area."""
    arms = loop - loop.mean(axis=0)
    normal: Array = np.cross(arms, np.roll(arms, -1, axis=0)).sum(axis=0)
    return normal / float(np.linalg.norm(normal))


def _edges_of(faces: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, int, int, int], ...]:
    """Return (v, w, f, g): v to w runs along the loop of f, w to v along that of g (-1 if there is none)."""
    owner = {(v, w): f for f, loop in enumerate(faces) for v, w in zip(loop, loop[1:] + loop[:1], strict=True)}
    return tuple((v, w, f, owner.get((w, v), -1)) for (v, w), f in owner.items() if v < w or (w, v) not in owner)


def corners(points: Array, what: str) -> tuple[tuple[float, float], ...]:
    """Return the corners of a convex polygon counter-clockwise, without those on straight sides.

    Raises
    ------
    InputError
        If the points, in their order, are not the corners of a convex polygon with an area.
    """
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if len(points) < 3 or extent == 0.0:
        raise InputError(f"{what}: {len(points)} points, need at least three that do not lie on one line")
    ahead, behind = np.roll(points, -1, axis=0) - points, points - np.roll(points, 1, axis=0)
    turn = (behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]) / extent**2
    x = points - points.mean(axis=0)
    y = np.roll(x, -1, axis=0)
    area = 0.5 * float((x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]).sum()) / extent**2
    if abs(area) < _FLAT:
        raise InputError(f"{what}: the points lie on one line, must span an area")
    if area < 0.0:
        points, turn = points[::-1], -turn[::-1]
    total = np.arctan2(ahead[:, 1], ahead[:, 0])
    winding = np.abs(((np.diff(np.append(total, total[0])) + np.pi) % (2.0 * np.pi) - np.pi).sum())
    if (turn < -_FLAT).any() or winding > 3.0 * np.pi:
        raise InputError(f"{what}: not convex, must turn one way round; build a body of several convex polygons")
    return tuple((float(px), float(py)) for (px, py), t in zip(points, turn, strict=True) if t > _FLAT)
