"""Contact points of two polytopes along a given normal.

The face of each body that looks most along the normal is projected on the plane across it; the corners of the
intersection of both polygons are the contacts, with gaps measured along the normal. A corner is a vertex of a, a vertex
of b or a crossing of two sides, and is named so; the names do not depend on which face serves as reference.

Polygons are blocks of rows in `polygon` (4 n, 3): reference face, incident face, and two sides of the clipping. `tag`
has for each of their vertices the feature of the reference, that of the incident polytope, and the side that follows.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.separation import FACE, FACES, HALF_EDGES, LOOP, SIDE, VERTEX, VERTICES
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import cross, dot

# A face steeper than this to the normal has no height to measure along it (cosine).
_STEEP = 1e-2
# Outside by this fraction of the reference face still counts as inside: aligned edges must not depend on rounding.
_INSIDE = 1e-12
# A corner within this fraction of a vertex has its name: names stay the same while aligned bodies creep.
_NAME = 1e-5


@inner_kernel
def _has_corner(link: IntArray, face: int, v: int) -> bool:
    """Tell whether vertex `v` is a corner of a face, row `face` of `link`."""
    found = False
    for k in range(link[face, 0], link[face, 0] + link[face, 1]):
        found |= link[k, 0] == v
    return found


@inner_kernel
def facing(vertex: Array, plane: Array, part: IntArray, link: IntArray, side: int, n: Vector) -> tuple[int, float]:
    """Return the face at the extreme vertex along `n` that looks most along `n` (-1 without faces) and its cosine."""
    support, far = 0, -np.inf
    for v in range(part[side, VERTICES]):
        s = dot(n, row(vertex, part[side, VERTEX] + v))
        if s > far:
            support, far = v, s
    face, cosine = -1, 0.0
    for f in range(part[side, FACES]):
        s = dot(n, row(plane, part[side, FACE] + f))
        if s > cosine + 1e-9:  # the first of equal faces
            face, cosine = f, s
    if face < 0 or _has_corner(link, part[side, LOOP] + face, support):
        return face, cosine
    face, cosine = -1, 0.0
    for f in range(part[side, FACES]):
        s = dot(n, row(plane, part[side, FACE] + f))
        if s > cosine + 1e-9 and _has_corner(link, part[side, LOOP] + f, support):
            face, cosine = f, s
    return face, cosine


@inner_kernel
def _gather(
    vertex: Array, part: IntArray, link: IntArray, side: int, face: int, role: int, polygon: Array, tag: IntArray
) -> tuple[int, float]:
    """Copy a face, or the point or segment that has none, as reference (role 0) or incident polygon (role 1).

    Return the number of its vertices and the largest distance from the first. Vertices are numbered from 1, then come
    the half-edges.
    """
    count, start = part[side, VERTICES], 0
    if face >= 0:
        start = link[part[side, LOOP] + face, 0]
        count = link[part[side, LOOP] + face, 1]
    base = role * (polygon.shape[0] // 4)
    extent = 0.0
    for i in range(count):
        v = link[start + i, 0] if face >= 0 else i
        for k in range(3):
            polygon[base + i, k] = vertex[part[side, VERTEX] + v, k]
        tag[base + i, role] = 1 + v
        tag[base + i, 1 - role] = 0
        # Sides of a segment, and of a polygon's side, are one edge.
        half_edge = start - link[part[side, LOOP], 0] + i if count > 2 else part[side, HALF_EDGES]
        tag[base + i, 2] = 1 + part[side, VERTICES] + half_edge
        x = along(row(polygon, base + i), -1.0, row(polygon, base))
        extent = max(extent, dot(x, x))
    return count, np.sqrt(extent)


@inner_kernel
def _clip(n: Vector, corners: int, count: int, tolerance: float, polygon: Array, tag: IntArray) -> tuple[int, int]:
    """Cut the incident polygon by all sides of the reference, seen along `n`; return its first row and vertex count.

    Edges that lie on the reference have the tag 0; where they meet its next side, the corner is a vertex of the
    reference, whose name it gets later.
    """
    block = polygon.shape[0] // 4
    source, target = block, 2 * block
    for side in range(corners):
        at = row(polygon, side)
        d = along(row(polygon, side + 1 if side + 1 < corners else 0), -1.0, at)
        if corners == 2:  # a planar side ends at its vertices
            s = dot(d, n)
            m = (s * n[0] - d[0], s * n[1] - d[1], s * n[2] - d[2])
        else:
            m = cross(d, n)
        f = 1.0 / np.sqrt(dot(m, m))
        m = (f * m[0], f * m[1], f * m[2])
        made, here = 0, dot(m, along(row(polygon, source), -1.0, at))
        for i in range(count):
            j = source + (i + 1 if i + 1 < count else 0)
            there = dot(m, along(row(polygon, j), -1.0, at))
            if here <= tolerance:
                for k in range(3):
                    polygon[target + made, k] = polygon[source + i, k]
                    tag[target + made, k] = tag[source + i, k]
                made += 1
            if (here <= tolerance) != (there <= tolerance):
                s = min(max(here / (here - there), 0.0), 1.0)
                for k in range(3):
                    polygon[target + made, k] = polygon[source + i, k] + s * (polygon[j, k] - polygon[source + i, k])
                before = tag[source + i, 2]
                crossing = before > 0 and corners > 2
                tag[target + made, 0] = tag[side, 2 if crossing else 0]
                tag[target + made, 1] = before if crossing else 0
                tag[target + made, 2] = 0 if here <= tolerance else before
                made += 1
            here = there
        count = made
        source, target = target, (3 * block if target == 2 * block else 2 * block)
    return source, count


@inner_kernel
def _tidy(
    n: Vector,
    up: Vector,
    source: int,
    count: int,
    corners: int,
    incidents: int,
    near: float,
    polygon: Array,
    tag: IntArray,
) -> None:
    """Give corners next to a vertex of the incident face, else of the reference face, its name.

    The third tag becomes 1 for corners to leave out: crossings of aligned sides, where the polygon has no angle and is
    not deeper (lower along `up`) than beside.
    """
    block = polygon.shape[0] // 4
    for c in range(source, source + count):
        x = row(polygon, c)
        tag[c, 2] = 0
        if tag[c, 0] == 0:
            continue
        for i in range(incidents + corners):
            v = block + i if i < incidents else i - incidents
            d = along(x, -1.0, row(polygon, v))
            if tag[c, 2] == 0 and dot(d, d) - dot(d, n) ** 2 < near * near:
                tag[c, 0] = tag[v, 0]
                tag[c, 1] = tag[v, 1]
                tag[c, 2] = -1
        before = row(polygon, source + (c - source + count - 1) % count)
        d, e = (along(x, -1.0, before), along(row(polygon, source + (c - source + 1) % count), -1.0, x))
        length = np.sqrt(dot(d, d))
        if tag[c, 2] == 0 and abs(dot(cross(d, e), n)) < near * length and dot(d, e) > 0.0:
            tag[c, 2] = 1 if dot(up, d) >= 0.0 or dot(up, e) <= 0.0 else 0


@inner_kernel
def clip_faces(
    vertex: Array,
    plane: Array,
    part: IntArray,
    link: IntArray,
    n: Vector,
    limit: float,
    polygon: Array,
    tag: IntArray,
    point: Array,
    feature: IntArray,
) -> tuple[int, float]:
    """Write the corners within `limit` along `n` (from a to b); return how many and the least gap of all.

    Rows of `point` get point a, point b, normal and gap of the polytopes without rounding.
    """
    back = (-n[0], -n[1], -n[2])
    face_a, cos_a = facing(vertex, plane, part, link, part[0, SIDE], n)
    face_b, cos_b = facing(vertex, plane, part, link, part[1, SIDE], back)
    if max(cos_a, cos_b) < _STEEP:
        return 0, np.inf
    a_refers = cos_a >= cos_b - 1e-9
    if a_refers:
        side, face, incident, m, cosine = 0, face_a, face_b, n, cos_a
    else:
        side, face, incident, m, cosine = 1, face_b, face_a, back, cos_b
    corners, large = _gather(vertex, part, link, side, face, part[0, SIDE], polygon, tag)
    incidents, small = _gather(vertex, part, link, 1 - side, incident, part[1, SIDE], polygon, tag)
    source, count = _clip(m, corners, incidents, _INSIDE * large, polygon, tag)
    up, offset = row(plane, part[side, FACE] + face), plane[part[side, FACE] + face, 3]
    near = _NAME * (min(large, small) if small > 0.0 else large)
    _tidy(m, up, source, count, corners, incidents, near, polygon, tag)
    kept, least = 0, np.inf
    for c in range(source, source + count):
        gap = (dot(up, row(polygon, c)) - offset) / cosine
        least = min(least, gap)
        if gap > limit or tag[c, 2] == 1:
            continue
        r = 0
        while r < kept and (feature[r, 0] != tag[c, side] or feature[r, 1] != tag[c, 1 - side]):
            r += 1
        if r < kept and point[r, 9] <= gap:  # corners of one name: the deeper one stays
            continue
        for k in range(3):
            point[r, 3 * (1 - side) + k] = polygon[c, k]
            point[r, 3 * side + k] = polygon[c, k] - gap * m[k]
            point[r, 6 + k] = n[k]
        point[r, 9] = gap
        feature[r, 0] = tag[c, side]
        feature[r, 1] = tag[c, 1 - side]
        kept = max(kept, r + 1)
    return kept, least
