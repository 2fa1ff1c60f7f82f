"""What detection knows of a scene, in few tables, and the memory that it works in.

Each array that a kernel takes costs time at every call, so that columns stand for what would be arrays elsewhere. The
columns have names here; rows of `shape`, `label` and `world` are shapes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.geometry.caps import has_facets
from signorini.model.model import Materials
from signorini.model.shape_kinds import CURVED, LAST_CURVED, SMOOTH
from signorini.model.shapes import Hulls, ShapeArrays, ShapeKind

POSITION, TURN, SIZE, BOUND = 0, 3, 7, 11
"""Columns of `shape`: origin and quaternion in the body, parameters by kind, radius about the mass centre."""
(
    KIND,
    BODY,
    FIXED,
    VERTEX_ROW,
    VERTEX_COUNT,
    FACE_ROW,
    FACE_COUNT,
    LOOP_ROW,
    EDGE_ROW,
    EDGE_COUNT,
    HALF_EDGES,
    BOX,
    FACETED,
) = range(13)
"""Columns of `label`: kind, body, 1 if that is fixed, first row and number of vertices and of faces in `solid`, first
row of the faces and first row and number of edges in `link`, number of half-edges, 1 for a box about its origin (its
half lengths are then the last three parameters in `shape`), 1 for a nearly flat one that shows facets."""
LOWER, UPPER = 7, 10
"""Columns of `world` after origin and quaternion: corners of the box, grown by reach; a half-space, which has none, has
its normal there and how far along it the plane lies from the world's origin."""
(BUCKETS, FOUND, CAPACITY, PAIRS, MOST_VERTICES, MOST_FACES, MOST_EDGES, MOST_CORNERS, GRID, LISTS) = range(10)
"""First entries of `cells`: number of buckets (a power of two), where the list of pairs begins, how many it can hold,
how many there are; most vertices, faces and edges of a hull and most corners of what two faces have in common, and
along the way to it; the address of the kernel that finds pairs in large scenes; then come the lists."""
MANY = 64
"""Shapes in a scene above which a grid finds the pairs."""
LEVELS = 62
"""Most levels of the grid of the broad phase."""

_PATCH = 12  # corners of the patches of two curved solids
_REALS, _INTEGERS = (2500, 2500)  # scratch memory of a pair that does not depend on the number of its vertices


class Family(IntEnum):
    """Which pairs of shapes a scene can have; each family includes those before it."""

    SIMPLE = 0
    """Half-spaces with rounded polytopes; spheres and capsules with each other."""
    POLYTOPES = 1
    """Rounded polytopes of every kind."""
    CURVED = 2
    """All kinds but those which only functions describe."""


class Tables(NamedTuple):
    """A scene as detection sees it; constant."""

    shape: Array
    """(n_s, 12) [m]"""
    label: IntArray
    """(n_s, 13)"""
    solid: Array
    """Vertices (x, y, z, 0) of all hulls, then faces (outward normal, offset), (n_vertices + n_faces, 4)."""
    link: IntArray
    """Edges (v, w, f, g) as in :class:`~signorini.model.shapes.Hulls`, then faces (first row of its half-edges, their
    number, 0, 0), then half-edges (vertex, 0, 0, 0), (n, 4)."""
    pair: IntArray
    """Sorted keys ``a n_b + b`` of pairs of bodies with contact data of their own, and rows of materials, (n_p, 2)."""


class Scratch(NamedTuple):
    """Memory of detection; `value` and `number` hold its result."""

    world: Array
    """Frames and boxes of all shapes, (n_s, 13)."""
    cells: IntArray
    """Lists of the broad phase and pairs found, (n,)."""
    work: Array
    """(n, 10)"""
    mark: IntArray
    """(n, 3)"""
    value: Array
    """Contacts: point a, point b, normal, gap, (capacity, 10) [m]."""
    number: IntArray
    """Contacts: body a, body b, name, row of materials, (capacity, 4)."""

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return the pairs of shapes ``i < j`` whose boxes overlapped in the last detection."""
        first = int(self.cells[FOUND])
        found = self.cells[first : first + int(self.cells[PAIRS])]
        return found >> 32, found & 0xFFFFFFFF


def tables_of(
    shapes: ShapeArrays, hulls: Hulls, materials: Materials, fixed_count: int, *, facets: bool = True
) -> Tables:
    """Return the tables of a scene whose first `fixed_count` bodies are fixed.

    Nearly flat caps are posed as facets (:mod:`signorini.geometry.caps`) if that is asked for.
    """
    n, n_v, n_f, n_e = (shapes.kind.size, len(hulls.vertex), len(hulls.face_offset), len(hulls.edge))
    solid = np.zeros((n_v + n_f, 4))
    solid[:n_v, :3], solid[n_v:, :3], solid[n_v:, 3] = (hulls.vertex, hulls.face_normal, hulls.face_offset)
    link = np.zeros((n_e + n_f + hulls.loop.size, 4), dtype=np.int64)
    link[:n_e] = hulls.edge
    link[n_e : n_e + n_f, 0] = n_e + n_f + hulls.loop_start[:-1]
    link[n_e : n_e + n_f, 1] = np.diff(hulls.loop_start)
    link[n_e + n_f :, 0] = hulls.loop
    shape = np.hstack([shapes.position, shapes.quaternion, shapes.size, shapes.bound.reshape(n, 1)])
    label = np.zeros((n, FACETED + 1), dtype=np.int64)
    label[:, KIND], label[:, BODY], label[:, FIXED] = (shapes.kind, shapes.body, shapes.body < fixed_count)
    bounded = shapes.hull >= 0
    h = shapes.hull[bounded]
    for column, start, shift in (
        (VERTEX_ROW, hulls.vertex_start, 0),
        (FACE_ROW, hulls.face_start, n_v),
        (EDGE_ROW, hulls.edge_start, 0),
    ):
        label[bounded, column] = start[h] + shift
        label[bounded, column + 1] = start[h + 1] - start[h]
    label[bounded, LOOP_ROW] = n_e + hulls.face_start[h]
    label[bounded, HALF_EDGES] = hulls.loop_start[hulls.face_start[h + 1]] - hulls.loop_start[hulls.face_start[h]]
    boxes, half = _boxes(hulls)
    mine = bounded.copy()
    mine[bounded] = boxes[h]
    mine &= shapes.kind == ShapeKind.HULL
    label[mine, BOX] = 1
    shape[mine, SIZE + 1 : SIZE + 4] = half[shapes.hull[mine]]
    if facets:
        for i in np.flatnonzero(np.isin(shapes.kind, SMOOTH)):
            label[i, FACETED] = has_facets(CURVED[shapes.kind[i]].exponent(shapes.size[i]))
    pair = np.ascontiguousarray(np.column_stack([materials.pair, materials.pair_material]))
    return Tables(np.ascontiguousarray(shape), label, solid, link, pair)


def _boxes(hulls: Hulls) -> tuple[BoolArray, Array]:
    """Tell which hulls are boxes about their origin, and their half lengths, (n_hulls, 3).

    Corners are in order of z, y, x, faces in order of -x, +x, -y, +y, -z, +z.
    """
    boxes = (np.diff(hulls.vertex_start) == 8) & (np.diff(hulls.face_start) == 6)
    half = np.zeros((boxes.size, 3))
    corners = hulls.vertex[hulls.vertex_start[:-1][boxes][:, None] + np.arange(8)]
    normals = hulls.face_normal[hulls.face_start[:-1][boxes][:, None] + np.arange(6)]
    in_order = ((corners > 0.0) @ np.array([1, 2, 4]) == np.arange(8)).all(axis=1)
    symmetric = (np.abs(corners) == np.abs(corners[:, :1])).all(axis=(1, 2))
    facing = (normals == np.kron(np.eye(3), [[-1.0], [1.0]])).all(axis=(1, 2))
    boxes[boxes] = in_order & symmetric & facing
    half[boxes] = np.abs(hulls.vertex[hulls.vertex_start[:-1][boxes]])
    return boxes, half


def family_of(tables: Tables) -> Family:
    """Return the smallest family that a scene belongs to."""
    kind, body, fixed = (tables.label[:, KIND], tables.label[:, BODY], tables.label[:, FIXED])
    if ((kind >= ShapeKind.CYLINDER) & (kind <= LAST_CURVED)).any():
        return Family.CURVED
    faces, bounded = tables.label[:, FACE_COUNT] > 0, kind != ShapeKind.HALF_SPACE
    # A body with faces meets others without them only on half-spaces if all else that is bounded is part of it, or
    # fixed as it is itself.
    for b in np.unique(body[faces]):
        others = bounded & (body != b)
        if (others & (fixed == 0)).any() or (others.any() and not fixed[body == b].any()):
            return Family.POLYTOPES
    return Family.SIMPLE


def _grid(n: int) -> int:
    """Return the address of the kernel that finds the pairs of so many shapes, 0 if none is needed."""
    if n <= MANY:
        return 0
    from signorini.geometry.crowds import grid_address  # which knows these tables

    return grid_address()


def scratch_for(tables: Tables, pairs: int, contacts: int | None = None) -> Scratch:
    """Return memory for so many pairs of shapes, and contacts; None: as many."""
    n = tables.label.shape[0]
    v, f, e = (int(tables.label[:, column].max(initial=1)) for column in (VERTEX_COUNT, FACE_COUNT, EDGE_COUNT))
    contacts = max(pairs if contacts is None else contacts, 64)
    pairs = max(pairs, 64)
    buckets = 1 << (2 * n).bit_length()
    cells = np.zeros(LISTS + 4 * n + buckets + 1 + 2 * LEVELS + 2 * pairs, dtype=np.int64)
    corners = 3 * (v + _PATCH) + 6
    cells[:LISTS] = buckets, cells.size - 2 * pairs, pairs, 0, v, f, e, corners, _grid(n)
    rows = corners + (6 * v + 8 * f + 18 * corners + _REALS) // 10
    integers = corners + (2 * e + 24 * corners + _INTEGERS) // 3
    return Scratch(
        world=np.empty((n, 13)),
        cells=cells,
        work=np.empty((max(n + LEVELS, rows), 10)),
        mark=np.empty((integers, 3), dtype=np.int64),
        value=np.empty((contacts, 10)),
        number=np.empty((contacts, 4), dtype=np.int64),
    )
