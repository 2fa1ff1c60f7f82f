"""Contact points of two polytopes along a given normal.

The face of each body that looks most along the normal is projected on the plane across it; the corners of the
intersection of both polygons are the contacts, with gaps measured along the normal. A corner is a vertex of a, a vertex
of b or a crossing of two sides, and is named so; the names do not depend on which face served as reference.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import kernel
from signorini.geometry.workspace import Workspace
from signorini.math.rotation import Vector, dot
from signorini.model.shapes import Hulls

# A face steeper than this to the normal has no height to measure along it (cosine).
_STEEP = 1e-2
# Outside by this fraction of the reference face still counts as inside: aligned edges must not depend on rounding.
_INSIDE = 1e-10
# A corner within this fraction of a vertex is that vertex: names stay the same while aligned bodies creep.
_NAME = 1e-5
_REFERENCE, _INCIDENT, _FIRST, _SECOND = 0, 1, 2, 3


@kernel
def facing(
    hulls: Hulls, h: int, vertex: Array, v0: int, normal: Array, f0: int, n: Vector
) -> tuple[int, int, float]:
    """Return the extreme vertex along `n` (local), the face at it that looks most along `n`, and their cosine.

    `vertex` and `normal` hold those of the hull from the rows `v0` and `f0` on. Without faces the face is -1, cosine 0.
    """
    support, far = 0, -np.inf
    for v in range(hulls.vertex_start[h + 1] - hulls.vertex_start[h]):
        s = dot(n, vertex[v0 + v])
        if s > far:
            support, far = v, s
    face, cosine = -1, -np.inf
    first = hulls.face_start[h]
    for f in range(hulls.face_start[h + 1] - first):
        s = dot(n, normal[f0 + f])
        if s > cosine + 1e-9:  # the first of equal faces
            for k in range(hulls.loop_start[first + f], hulls.loop_start[first + f + 1]):
                if hulls.loop[k] == support:
                    face, cosine = f, s
    return support, face, cosine if face >= 0 else 0.0


@kernel
def _gather(
    hulls: Hulls, h: int, vertex: Array, v0: int, support: int, face: int, role: int, work: Workspace
) -> int:
    """Copy a face, or the whole point or segment if there is none, as a polygon; return its vertex count.

    Tags: number of the vertex (from 1), of the half-edge that follows (after the vertices).
    """
    vertices = hulls.vertex_start[h + 1] - hulls.vertex_start[h]
    start = 0
    count = vertices
    if face >= 0:
        first = hulls.face_start[h]
        start = hulls.loop_start[first + face]
        count = hulls.loop_start[first + face + 1] - start
    column = 0 if role == _REFERENCE else 1
    for i in range(count):
        v = hulls.loop[start + i] if face >= 0 else i
        for k in range(3):
            work.polygon[role, i, k] = vertex[v0 + v, k]
        work.tag[role, i, column] = 1 + v
        work.tag[role, i, 1 - column] = 0
        # The two sides of a segment are one edge.
        side = start - hulls.loop_start[hulls.face_start[h]] + i if face >= 0 and count > 2 else 0
        work.tag[role, i, 2] = 1 + vertices + side
    return count


@kernel
def _extent(work: Workspace, role: int, count: int) -> float:
    """Return the largest distance of a polygon's vertices from its first."""
    far = 0.0
    for i in range(1, count):
        d = 0.0
        for k in range(3):
            d += (work.polygon[role, i, k] - work.polygon[role, 0, k]) ** 2
        far = max(far, d)
    return np.sqrt(far)


@kernel
def _clip_side(work: Workspace, m: Vector, at: Vector, tolerance: float, side: int, corners: int,
               source: int, target: int, count: int) -> int:
    """Cut the polygon by the half-space ``m . (x - at) <= 0`` of the reference's side; return the new vertex count.

    An edge that lies on a side k of the reference carries the tag -1 - k; where it meets the next side, the corner is
    a vertex of the reference.
    """
    x, tag = work.polygon, work.tag
    made = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        d = m[0] * (x[source, i, 0] - at[0]) + m[1] * (x[source, i, 1] - at[1]) + m[2] * (x[source, i, 2] - at[2])
        e = m[0] * (x[source, j, 0] - at[0]) + m[1] * (x[source, j, 1] - at[1]) + m[2] * (x[source, j, 2] - at[2])
        inside, next_inside = d <= tolerance, e <= tolerance
        if inside:
            for k in range(3):
                x[target, made, k] = x[source, i, k]
                tag[target, made, k] = tag[source, i, k]
            made += 1
        if inside != next_inside:
            s = min(max(d / (d - e), 0.0), 1.0)
            for k in range(3):
                x[target, made, k] = x[source, i, k] + s * (x[source, j, k] - x[source, i, k])
            edge = tag[source, i, 2]
            if edge < 0:
                before = -1 - edge
                shared = before if before == side + 1 or (before == 0 and side == corners - 1) else side
                tag[target, made, 0] = tag[_REFERENCE, shared, 0]
                tag[target, made, 1] = 0
            elif corners == 2:  # a planar side ends at its vertices
                tag[target, made, 0] = tag[_REFERENCE, side, 0]
                tag[target, made, 1] = 0
            else:
                tag[target, made, 0] = tag[_REFERENCE, side, 2]
                tag[target, made, 1] = edge
            tag[target, made, 2] = -1 - side if inside else edge
            made += 1
    return made


@kernel
def _clip(work: Workspace, n: Vector, corners: int, count: int, tolerance: float) -> tuple[int, int]:
    """Cut the incident polygon by all sides of the reference, seen along `n`; return where it is and its vertex count."""
    x = work.polygon
    source, target = _INCIDENT, _FIRST
    for side in range(corners):
        following = side + 1 if side + 1 < corners else 0
        ex = x[_REFERENCE, following, 0] - x[_REFERENCE, side, 0]
        ey = x[_REFERENCE, following, 1] - x[_REFERENCE, side, 1]
        ez = x[_REFERENCE, following, 2] - x[_REFERENCE, side, 2]
        if corners == 2:
            along = ex * n[0] + ey * n[1] + ez * n[2]
            mx, my, mz = along * n[0] - ex, along * n[1] - ey, along * n[2] - ez
        else:
            mx, my, mz = ey * n[2] - ez * n[1], ez * n[0] - ex * n[2], ex * n[1] - ey * n[0]
        length = np.sqrt(mx * mx + my * my + mz * mz)
        if length == 0.0:
            continue
        m = (mx / length, my / length, mz / length)
        count = _clip_side(work, m, x[_REFERENCE, side], tolerance, side, corners, source, target, count)
        source, target = target, (_SECOND if target == _FIRST else _FIRST)
    return source, count


@kernel
def _name(work: Workspace, n: Vector, source: int, count: int, corners: int, incidents: int, near: float) -> None:
    """Give corners next to a vertex of the incident or reference face its name."""
    x, tag = work.polygon, work.tag
    for c in range(count):
        if tag[source, c, 0] == 0:
            continue
        for role in (_INCIDENT, _REFERENCE):
            for v in range(incidents if role == _INCIDENT else corners):
                dx = x[source, c, 0] - x[role, v, 0]
                dy = x[source, c, 1] - x[role, v, 1]
                dz = x[source, c, 2] - x[role, v, 2]
                along = dx * n[0] + dy * n[1] + dz * n[2]
                if dx * dx + dy * dy + dz * dz - along * along < near * near and tag[source, c, 0] != 0:
                    if role == _INCIDENT or tag[source, c, 1] != 0:
                        tag[source, c, 0] = tag[role, v, 0]
                        tag[source, c, 1] = tag[role, v, 1]


@kernel
def clip_faces(
    hulls: Hulls, ha: int, hb: int, n: Vector, limit: float, work: Workspace
) -> tuple[int, float]:
    """Write the corners within `limit` along `n` (frame of a, from a to b); return how many and the least gap of all.

    Rows of `work.point` get point a, point b and the gap of the polytopes without rounding.
    """
    back = (-n[0], -n[1], -n[2])
    va, fa = hulls.vertex_start[ha], hulls.face_start[ha]
    sa, face_a, cos_a = facing(hulls, ha, hulls.vertex, va, hulls.face_normal, fa, n)
    sb, face_b, cos_b = facing(hulls, hb, work.vertex, 0, work.normal, 0, back)
    if max(cos_a, cos_b) < _STEEP:
        return 0, np.inf
    a_refers = cos_a >= cos_b - 1e-9
    if a_refers:
        corners = _gather(hulls, ha, hulls.vertex, va, sa, face_a, _REFERENCE, work)
        incidents = _gather(hulls, hb, work.vertex, 0, sb, face_b, _INCIDENT, work)
        m, plane, offset, cosine = n, hulls.face_normal[fa + face_a], hulls.face_offset[fa + face_a], cos_a
    else:
        corners = _gather(hulls, hb, work.vertex, 0, sb, face_b, _REFERENCE, work)
        incidents = _gather(hulls, ha, hulls.vertex, va, sa, face_a, _INCIDENT, work)
        m, plane, offset, cosine = back, work.normal[face_b], work.offset[face_b], cos_b
    large, small = _extent(work, _REFERENCE, corners), _extent(work, _INCIDENT, incidents)
    source, count = _clip(work, m, corners, incidents, _INSIDE * large)
    _name(work, m, source, count, corners, incidents, _NAME * (min(large, small) if small > 0.0 else large))
    x, tag, point, feature = work.polygon, work.tag, work.point, work.feature
    kept, least = 0, np.inf
    for c in range(count):
        gap = (dot(plane, x[source, c]) - offset) / cosine
        least = min(least, gap)
        if gap > limit:
            continue
        first, second = (tag[source, c, 0], tag[source, c, 1]) if a_refers else (tag[source, c, 1], tag[source, c, 0])
        row = kept
        for r in range(kept):  # corners of one name: the deeper one stays
            if feature[r, 0] == first and feature[r, 1] == second:
                row = r
        if row < kept and point[row, 9] <= gap:
            continue
        for k in range(3):
            on, off = x[source, c, k], x[source, c, k] - gap * m[k]
            point[row, k] = off if a_refers else on
            point[row, 3 + k] = on if a_refers else off
        point[row, 9] = gap
        feature[row, 0] = first
        feature[row, 1] = second
        kept = max(kept, row + 1)
    return kept, least
