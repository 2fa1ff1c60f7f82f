"""Shapes as arrays: what the geometry kernels know of them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from signorini._arrays import Array, IntArray


class ShapeKind(IntEnum):
    """Kinds that the narrow phase tells apart; a planar kind lies in the plane z = 0 of its body.

    The bounded kinds up to :attr:`POLYGON` are polytopes of :class:`Hulls` rounded by the radius ``size[0]``: a point
    (sphere, planar disc), a segment (capsule), a polyhedron or a polygon. Curved kinds come after them; their hulls are
    empty.
    """

    HALF_SPACE = 0
    """`size` = (offset, outward normal), solid where ``normal . x <= offset``; no hull."""
    SPHERE = 1
    """`size` = (radius, ...), hull of one vertex; also the planar disc."""
    CAPSULE = 2
    """`size` = (radius, half length of the straight part, ...), along local z, hull of two vertices."""
    HULL = 3
    """Convex polyhedron, boxes included; `size` = (0, ...)."""
    POLYGON = 4
    """Planar convex polygon, counter-clockwise, z = 0, its sides stored as faces; `size` = (rounding radius, ...)."""
    CYLINDER = 5
    """`size` = (radius, half length, ...), along local z."""
    CONE = 6
    """`size` = (radius, height, ...), along local z, base at -height/4, apex at 3 height/4."""
    ELLIPSOID = 7
    """`size` = (semi-axes along local x, y, z, 2)."""
    SUPERELLIPSOID = 8
    """`size` = (semi-axes along local x, y, z, exponent)."""
    IMPLICIT = 9
    """Known by functions in ``Model.implicit`` alone; its hull is a box around it, for the broad phase."""


class Hulls(NamedTuple):
    """Points, segments, convex polyhedra and polygons in their shapes' frames, stored one after another.

    Hull i owns the rows ``start[i]:start[i + 1]`` of each table; indices inside the tables are local to the hull.
    Equal shapes share a hull.
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
    """Vertices around each face, counter-clockwise seen from outside (the two ends, for a polygon's side), flat; face f
    (global row) owns ``loop[loop_start[f]:loop_start[f + 1]]``."""
    loop_start: IntArray
    """(n_faces + 1,)"""
    edge: IntArray
    """Edges: vertices (v, w), then the two faces (f, g) that meet there, ordered so that ``n_f x n_g`` points from v to
    w, (n_edges, 4). A segment has one edge without faces (-1, -1), a point the edge (0, 0, -1, -1); a polygon's side
    names itself twice."""
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
    """Row of :class:`Hulls`, -1 for a half-space, (n_s,)."""
    bound: Array
    """Radius about the mass centre that contains the shape, inf for a half-space, (n_s,) [m]."""
