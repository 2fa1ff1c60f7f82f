"""Shapes as arrays: what the geometry kernels know of them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from signorini._arrays import Array, IntArray


class ShapeKind(IntEnum):
    """Kinds that the narrow phase tells apart; a planar kind lies in the plane z = 0 of its body."""

    HALF_SPACE = 0
    """`size` = (offset, -, -, -), normal = local z."""
    SPHERE = 1
    """`size` = (radius, ...); also the planar disc."""
    CAPSULE = 2
    """`size` = (radius, half length of the straight part, ...), along local z."""
    HULL = 3
    """Convex polyhedron `hull` of :class:`Hulls`, boxes included."""
    POLYGON = 4
    """Planar convex polygon: vertices of `hull`, counter-clockwise, z = 0."""


class Hulls(NamedTuple):
    """Convex polyhedra and polygons in their shapes' frames, stored one after another.

    Hull i owns the rows ``start[i]:start[i + 1]`` of each table; indices inside the tables are local to the hull.
    """

    vertex: Array
    """Vertices, (n_vertices, 3) [m]."""
    vertex_start: IntArray
    """(n_hulls + 1,)"""
    face_normal: Array
    """Outward unit normals of the faces (of the sides, for a polygon), (n_faces, 3)."""
    face_offset: Array
    """``normal . x`` on the face, (n_faces,) [m]."""
    face_start: IntArray
    """(n_hulls + 1,)"""
    loop: IntArray
    """Vertices around each face, counter-clockwise seen from outside, flat; face f (global row) owns
    ``loop[loop_start[f]:loop_start[f + 1]]``."""
    loop_start: IntArray
    """(n_faces + 1,)"""
    edge: IntArray
    """Edges: two vertices, then the two faces that meet there, (n_edges, 4)."""
    edge_start: IntArray
    """(n_hulls + 1,)"""


class ShapeArrays(NamedTuple):
    """Every shape of every body; a shape's frame is given in the frame of its body's mass centre."""

    kind: IntArray
    """:class:`ShapeKind`, (n_s,)."""
    body: IntArray
    """Body that carries the shape, (n_s,); shapes are sorted by body."""
    position: Array
    """Origin of the shape's frame, (n_s, 3) [m]."""
    quaternion: Array
    """Orientation of the shape's frame, (n_s, 4)."""
    size: Array
    """Parameters by kind, (n_s, 4) [m]."""
    hull: IntArray
    """Row of :class:`Hulls`, -1 for shapes without one, (n_s,)."""
    bound: Array
    """Radius about the mass centre that contains the shape, inf for a half-space, (n_s,) [m]."""
