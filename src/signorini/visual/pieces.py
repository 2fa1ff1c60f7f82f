"""Solids as triangles for viewers: pieces of one shape are drawn together, each with its own place, size and colour."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.visual.picture import body_colour
from signorini.visual.solids import Solid

_FACETS = (24, 12)  # of round shapes, around and up
_FACETS_OF_MANY = (12, 6)  # where there are many
_MANY = 300  # solids
_DARK = 0.78  # tone of every other octant of a round body, so that one sees it turn
_MOST_VERTICES = 4000  # of one solid; more are decimated, by clusters
_GROUND_SIZE = 3.0  # of the scene's size
_DEPTH = 0.12  # of the scene's size: half the thickness of planar bodies
_GROUND_COLOUR = np.array([0.74, 0.75, 0.765])
_JOINT_COLOUR = np.array([0.17, 0.19, 0.22])


class Shape(NamedTuple):
    """Triangles in a unit frame."""

    vertices: Array
    """(k, 3)"""
    faces: IntArray
    """(m, 3), counter-clockwise from outside."""
    is_flat: bool
    """Whether its faces are flat, otherwise they are facets of something round."""


class Pieces(NamedTuple):
    """Pieces of one shape."""

    label: str
    shape: Shape
    body: IntArray
    """Which row of the poses moves each, (n,)."""
    place: Array
    """Position and quaternion in the frame of the body, (n, 7)."""
    scale: Array
    """(n, 3)"""
    colour: Array
    """(n, 3), from 0 to 1."""

    def poses(self, bodies: Array) -> tuple[Array, Array]:
        """Return positions (..., n, 3) and quaternions (..., n, 4) in the world, from poses of bodies (..., n_b, 7)."""
        q = bodies[..., self.body, :]
        return q[..., :3] + turned(q[..., 3:], self.place[:, :3]), times(q[..., 3:], self.place[:, 3:])


def times(a: Array, b: Array) -> Array:
    """Return products of quaternions (w, x, y, z)."""
    w, x, y, z = (a[..., k] for k in range(4))
    u, p, q, r = (b[..., k] for k in range(4))
    return np.stack(
        [
            w * u - x * p - y * q - z * r,
            w * p + x * u + y * r - z * q,
            w * q - x * r + y * u + z * p,
            w * r + x * q - y * p + z * u,
        ],
        axis=-1,
    )


def turned(q: Array, x: Array) -> Array:
    """Return vectors turned by unit quaternions."""
    v = q[..., 1:]
    t = 2.0 * np.cross(v, x)
    moved: Array = x + q[..., :1] * t + np.cross(v, t)
    return moved


def scene_size(solids: Sequence[Solid], poses: Array, fixed_count: int) -> tuple[Array, float]:
    """Return middle and size of what moves, over all poses (k, n_b, 7); of everything where nothing does."""
    bounded = [solid for solid in solids if not solid.is_half_space]
    moving = [solid for solid in bounded if solid.body >= fixed_count] or bounded
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for body in {solid.body for solid in moving}:
        reach = max(np.linalg.norm(s.vertices, axis=1).max() + s.radius for s in moving if s.body == body)
        low = np.minimum(low, poses[:, body, :3].min(axis=0) - reach)
        high = np.maximum(high, poses[:, body, :3].max(axis=0) + reach)
    if not moving:
        return np.zeros(3), 1.0
    return 0.5 * (low + high), float(np.linalg.norm(high - low))


def pieces_of(
    solids: Sequence[Solid], fixed_count: int, middle: Array, size: float, *, planar: bool
) -> tuple[list[Pieces], list[str]]:
    """Return the pieces of all solids by shape, and what was simplified, one line each.

    `middle` and `size` are of the scene, see :func:`scene_size`; half-spaces are drawn as far as they matter.
    """
    found: dict[tuple[object, ...], list[tuple[int, Array, Array, Array]]] = {}
    shapes: dict[tuple[object, ...], Shape] = {}
    said = []
    for solid in solids:
        fixed = solid.body < fixed_count
        colour = body_colour(solid.tinted, fixed_count)
        if solid.is_half_space:
            drawn = [_ground(solid, middle, size, planar=planar)]
            colour = _GROUND_COLOUR
        elif planar:
            drawn = _plates(solid, _DEPTH * size)
        else:
            drawn = _pieces(solid, _FACETS_OF_MANY if len(solids) > _MANY else _FACETS)
        if len(solid.vertices) > _MOST_VERTICES:
            said.append(f"a solid of {len(solid.vertices)} corners is drawn with fewer than {_MOST_VERTICES}")
        for key, shape, place, scale, tone in drawn:
            whole = (fixed, *key)
            shapes[whole] = shape
            found.setdefault(whole, []).append((solid.body, place, scale, tone * colour))
    pieces: list[Pieces] = []
    for key, rows in found.items():
        body, place, scale, tinted = map(np.array, zip(*rows, strict=True))
        label = f"{'fixed' if key[0] else 'bodies'}/{key[1]} {len(pieces)}"
        pieces.append(Pieces(label, shapes[key], body, place, scale, tinted))
    return pieces, said


def joint_pieces(body: IntArray, anchor: Array, frame: Array, has_axis: BoolArray, size: float) -> list[Pieces]:
    """Return a pin along the axis of each joint that has one, and a ball at the anchor of others."""
    pieces = []
    for axial, shape, scale in (
        (True, _drum(), np.array([0.006, 0.006, 0.05]) * size),
        (False, _ball(None), np.full(3, 0.012 * size)),
    ):
        rows = np.flatnonzero(has_axis == axial)
        if rows.size:
            place = np.concatenate([anchor[rows], frame[rows]], axis=1)
            many = np.ones((rows.size, 1))
            pieces.append(
                Pieces(
                    f"joints/{'axes' if axial else 'anchors'}",
                    shape,
                    body[rows],
                    place,
                    many * scale,
                    many * _JOINT_COLOUR,
                )
            )
    return pieces


_Piece = tuple[tuple[object, ...], Shape, Array, Array, float]


def _pieces(solid: Solid, facets: tuple[int, int]) -> list[_Piece]:
    """Return key, shape, place on the body, scale and tone of what a solid is drawn as."""
    surface = solid.surface
    if surface is not None:
        place = np.concatenate([surface.centre, quaternion(surface.axes)])
        if surface.form == "superellipsoid":
            p = float(surface.size[3])
            return [
                (("superellipsoid", p, octant), _ball(octant, p, 0.0, facets), place, surface.size[:3], tone)
                for octant, tone in ((0, 1.0), (1, _DARK))
            ]
        a, b = surface.size[:2]
        shape = _drum() if surface.form == "cylinder" else _spire()
        return [((surface.form,), shape, place, np.array([a, a, b]), 1.0)]
    if len(solid.vertices) == 1 and not len(solid.planes):
        place = np.array([*solid.vertices[0], 1.0, 0.0, 0.0, 0.0])
        scale = np.full(3, solid.radius)
        return [
            (("ball", octant), _ball(octant, 2.0, 0.0, facets), place, scale, tone)
            for octant, tone in ((0, 1.0), (1, _DARK))
        ]
    if len(solid.vertices) == 2 and not len(solid.planes):
        return _capsule(solid, facets)
    return [_hull(solid)]


def _capsule(solid: Solid, facets: tuple[int, int]) -> list[_Piece]:
    a, b = solid.vertices
    length = float(np.linalg.norm(b - a))
    axis = (b - a) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    across = np.cross(axis, [1.0, 0.0, 0.0] if abs(axis[0]) < 0.7 else [0.0, 1.0, 0.0])
    across /= np.linalg.norm(across)
    turn = quaternion(np.column_stack([across, np.cross(axis, across), axis]))
    ratio = round(length / solid.radius, 6)
    place, scale = np.concatenate([0.5 * (a + b), turn]), np.full(3, solid.radius)
    return [
        (("capsule", ratio, octant), _ball(octant, 2.0, 0.5 * ratio, facets), place, scale, tone)
        for octant, tone in ((0, 1.0), (1, _DARK))
    ]


def _hull(solid: Solid) -> _Piece:
    """Return a polyhedron by its box: bodies that differ by a stretch along the axes share one shape."""
    low, high = solid.vertices.min(axis=0), solid.vertices.max(axis=0)
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-12)
    unit = ((solid.vertices - middle) / half).round(9)
    place = np.array([*middle, 1.0, 0.0, 0.0, 0.0])
    key = ("hull", unit[np.lexsort(unit.T)].tobytes())
    return key, _polyhedron(key[1]), place, half, 1.0


@cache
def _polyhedron(corners: bytes) -> Shape:
    return convex(_fewer(np.frombuffer(corners).reshape(-1, 3)))


def _plates(solid: Solid, depth: float) -> list[_Piece]:
    """Return a planar solid as a plate about its plane; a disc has a spoke, so that one sees it turn."""
    from signorini.visual.picture import outline

    if len(solid.vertices) == 1:
        place = np.array([*solid.vertices[0], 1.0, 0.0, 0.0, 0.0])
        r = solid.radius
        half = np.array([0.5 * r, 0.04 * r, 1.02 * depth])
        spoke = place + np.array([0.5 * r, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        return [
            (("disc",), _drum(), place, np.array([r, r, depth]), 1.0),
            (("spoke",), convex(np.array(list(product((-1.0, 1.0), repeat=3)))), spoke, half, _DARK**3),
        ]
    edge = outline(solid)
    middle = edge.mean(axis=0)
    unit = edge - middle
    shape = convex(np.concatenate([np.column_stack([unit, np.full(len(unit), z)]) for z in (-1.0, 1.0)]))
    place = np.array([*middle, 0.0, 1.0, 0.0, 0.0, 0.0])
    return [(("plate", unit.round(9).tobytes()), shape, place, np.array([1.0, 1.0, depth]), 1.0)]


def _ground(solid: Solid, middle: Array, size: float, *, planar: bool) -> _Piece:
    """Return a square of the surface of a half-space beneath the scene."""
    n, offset = solid.planes[0, :3], solid.planes[0, 3]
    across = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.7 else [0.0, 1.0, 0.0])
    across /= np.linalg.norm(across)
    if planar:
        across = np.array([0.0, 0.0, 1.0])
    along = np.cross(n, across)
    foot = middle + (offset - n @ middle) * n
    half = 0.5 * _GROUND_SIZE * size * np.array([0.25 if planar else 1.0, 1.0, 1.0])
    turn = quaternion(np.column_stack([across, along, n]))
    square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    both = np.array([[0, 1, 2], [0, 2, 3], [0, 2, 1], [0, 3, 2]])  # seen from beneath too
    return ("ground",), Shape(square, both, is_flat=True), np.concatenate([foot, turn]), half, 1.0


def quaternion(R: Array) -> Array:
    """Return the unit quaternion of a rotation matrix."""
    # The eigenvector of the largest eigenvalue is as accurate for every angle.
    (a, b, c), (d, e, f), (g, h, i) = R
    K = np.array(
        [
            [a + e + i, h - f, c - g, d - b],
            [h - f, a - e - i, b + d, c + g],
            [c - g, b + d, e - a - i, f + h],
            [d - b, c + g, f + h, i - a - e],
        ]
    )
    q: Array = np.linalg.eigh(K)[1][:, -1]
    return q if q[0] >= 0.0 else -q


@cache
def _ball(
    octant: int | None, exponent: float = 2.0, half_length: float = 0.0, facets: tuple[int, int] = _FACETS
) -> Shape:
    """Return a unit superball, its half that is every other octant, or both; stretched by a cylinder along z.

    Facets follow the planes between octants, so that the tones meet along lines.
    """
    middle = facets[1] // 2
    up = np.linspace(0.5 * np.pi, -0.5 * np.pi, facets[1] + 1)
    around = np.linspace(0.0, 2.0 * np.pi, facets[0] + 1)
    levels = [(angle, half_length) for angle in up[: middle + 1]]
    levels += [(angle, -half_length) for angle in up[middle:]][0 if half_length else 1 :]
    grid = np.array([[(np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)) for b in around] for a, _ in levels])
    grid /= (np.abs(grid) ** exponent).sum(axis=2, keepdims=True) ** (1.0 / exponent)
    grid[..., 2] += np.array([shift for _, shift in levels])[:, None]
    rows, columns = grid.shape[:2]
    vertices = grid.reshape(-1, 3)
    faces = []
    for r in range(rows - 1):
        for c in range(columns - 1):
            a, b = r * columns + c, r * columns + c + 1
            corners = (a, a + columns, b + columns, b)
            centre = vertices[list(corners)].mean(axis=0)
            if octant is not None and (np.prod(np.sign(centre + 1e-12)) > 0.0) == bool(octant):
                continue
            faces += [(corners[0], corners[1], corners[2]), (corners[0], corners[2], corners[3])]
    return _tidy(vertices, np.array(faces), is_flat=False)


def _tidy(vertices: Array, faces: IntArray, *, is_flat: bool) -> Shape:
    """Join equal corners, and drop triangles without area and corners without triangles."""
    _, first, same = np.unique(vertices.round(9), axis=0, return_index=True, return_inverse=True)
    faces = same.reshape(-1)[faces]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    used, faces = np.unique(faces, return_inverse=True)
    return Shape(vertices[first][used], faces.reshape(-1, 3), is_flat)


@cache
def _drum() -> Shape:
    """Return the cylinder of radius 1 from z = -1 to 1."""
    return convex(np.array([(x, y, z) for x, y in _circle() for z in (-1.0, 1.0)]))


@cache
def _spire() -> Shape:
    """Return the cone of radius 1 and height 1, its base at z = -1/4."""
    return convex(np.array([*((x, y, -0.25) for x, y in _circle()), (0.0, 0.0, 0.75)]))


def _circle() -> Array:
    angles = 2.0 * np.pi * np.arange(_FACETS[0]) / _FACETS[0]
    return np.column_stack([np.cos(angles), np.sin(angles)])


def convex(points: Array) -> Shape:
    """Return the triangles of the convex hull of points."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    faces = hull.simplices.astype(np.int64)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return _tidy(points, faces, is_flat=True)


def _fewer(points: Array) -> Array:
    """Return at most as many points as are drawn, by merging those that lie close together in the unit box."""
    cells = 256
    while len(points) > _MOST_VERTICES:
        _, first = np.unique(np.floor(points * cells), axis=0, return_index=True)
        points, cells = points[np.sort(first)], cells // 2
    return points


def split(shape: Shape) -> tuple[Array, IntArray]:
    """Return vertices and faces as shown: corners of flat faces are not shared, so that edges stay sharp."""
    if not shape.is_flat:
        return shape.vertices, shape.faces
    return shape.vertices[shape.faces].reshape(-1, 3), np.arange(3 * len(shape.faces)).reshape(-1, 3)


def linear(colour: Array) -> Array:
    """Return colours of the screen as amounts of light, both from 0 to 1."""
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
