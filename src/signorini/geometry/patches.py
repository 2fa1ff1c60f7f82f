"""Contact points of two solids, one of them curved, around their closest points.

A solid that is flat towards the other, in one or two directions, shows it a patch: a face of a hull, the cap of a
cylinder or cone as a polygon of fixed places on its rim, the straight line of a side, or the facet of a nearly flat cap
(:mod:`signorini.geometry.caps`). Where two patches face each other, the corners of their common part are contacts, as
for polytopes; lines side by side give two. The closest points are added unless a corner is as close.

Row ``side n + v`` of `patch` (2 n, 3) is vertex v of the patch of a or b; `name` has the features of that vertex and of
the side that follows it.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.caps import facet, facet_corner
from signorini.geometry.curved_memory import Patches
from signorini.geometry.curved_planes import FACING, LOWER, RIM, rim_place
from signorini.geometry.manifold import clip_faces, facing
from signorini.geometry.separation import FACE, FACES, HALF_EDGES, LOOP, SIDE, VERTEX, VERTICES, Touch
from signorini.geometry.solids import FACETED, KIND, brought_out, seen_from, size_of, turned_in, turned_out
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import cross, dot
from signorini.model.shape_kinds import CONE, CYLINDER

PATCH_CORNERS = RIM
"""Most corners of the patch of a curved solid."""
_PARALLEL = 1e-2  # squared sine of the angle between two lines up to which they lie side by side
_BEYOND = 1e-9  # an end this fraction of the length beyond the other's end still faces it
_BESIDE = 1e-5  # of the radius: how far beside the line of a cone or facet its surface is known well enough


@inner_kernel
def _put(patch: Array, name: IntArray, part: IntArray, side: int, x: Vector, vertex: int, edge: int) -> None:
    """Add a vertex to the patch of one side, with the features of the vertex and of the side after it."""
    r = part[side, VERTEX] + part[side, VERTICES]
    for k in range(3):
        patch[r, k] = x[k]
    name[r, 0], name[r, 1] = vertex, edge
    part[side, VERTICES] += 1


@inner_kernel
def _close(part: IntArray, side: int, plane: Array, link: IntArray, m: Vector) -> None:
    """Make the vertices of a patch, which run counter-clockwise, a face with outward normal `m`."""
    n = part[side, VERTICES]
    first = 2 + part[side, VERTEX]  # after the rows of both faces
    for i in range(n):
        link[first + i, 0] = i
    link[side, 0], link[side, 1] = first, n
    part[side, FACES] = 1
    part[side, HALF_EDGES] = n
    for k in range(3):
        plane[side, k] = m[k]


@inner_kernel
def _rim_patch(
    solid: Array,
    side: int,
    radius: float,
    z: float,
    top: bool,
    patch: Array,
    name: IntArray,
    part: IntArray,
    plane: Array,
    link: IntArray,
) -> None:
    """Show the cap at height `z`: the polygon of the fixed places on its rim."""
    for i in range(RIM):
        k = i if top else RIM - 1 - i
        x, y = rim_place(radius, k)
        number = 3 + k + (RIM if top else 0)
        _put(patch, name, part, side, brought_out(solid, side, (x, y, z)), number, 2 * RIM + number)
    up = turned_out(solid, side, (0.0, 0.0, 1.0 if top else -1.0))
    _close(part, side, plane, link, up)
    plane[side, 3] = dot(up, row(patch, part[side, VERTEX]))


@inner_kernel
def _facet_patch(
    solid: Array,
    side: int,
    n: Vector,
    x: Vector,
    least: float,
    patch: Array,
    name: IntArray,
    part: IntArray,
    plane: Array,
    link: IntArray,
) -> None:
    """Show the facet of a superellipsoid around its closest point `x`: four corners, two, or none for one."""
    m, edges = turned_in(solid, side, n), 10  # after the names of all corners
    k, first, out, most = facet(size_of(solid, side), m, seen_from(solid, side, x), least)
    for i in range(4):
        shown, corner, octant = facet_corner(m, k, first, out, most, i)
        if shown:
            _put(patch, name, part, side, brought_out(solid, side, corner), 2 + octant, edges + 8 * k + octant)
    if part[side, VERTICES] < 3:
        return
    s = 1.0 if first[k] >= 0.0 else -1.0
    up = turned_out(solid, side, (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0))
    _close(part, side, plane, link, up)
    plane[side, 3] = dot(up, row(patch, part[side, VERTEX]))


@inner_kernel
def _show(
    vertex: Array,
    plane: Array,
    link: IntArray,
    part: IntArray,
    solid: Array,
    side: int,
    n: Vector,
    x: Vector,
    least: float,
    patches: Patches,
) -> float:
    """Write the patch that a solid shows along its outward normal `n` at `x`; no vertices where it is not flat.

    Return by how much the polygon may fall short of the true patch along `n` before the closest points are added.
    """
    patch, patch_plane, patch_part, patch_link, name = patches
    patch_part[side, SIDE] = side
    patch_part[side, VERTEX] = side * (patch.shape[0] // 2)
    patch_part[side, VERTICES] = 0
    patch_part[side, FACE] = side
    patch_part[side, FACES] = 0
    patch_part[side, LOOP] = side
    patch_part[side, HALF_EDGES] = 0
    kind = part[side, KIND]
    none = side - side  # no literal, for which Numba would compile anew
    if kind < CYLINDER:
        if part[side, FACES] == 0:
            if part[side, VERTICES] == 2:
                a, b = (row(vertex, part[side, VERTEX]), row(vertex, part[side, VERTEX] + 1))
                d = along(b, -1.0, a)
                if abs(dot(n, d)) <= FACING * np.sqrt(dot(d, d)):
                    _put(patch, name, patch_part, side, a, none + 1, none + 3)
                    _put(patch, name, patch_part, side, b, none + 2, none + 3)
            return 0.0
        face, _ = facing(vertex, plane, part, link, side, n)
        if face >= 0:
            first, start = link[part[side, LOOP], 0], link[part[side, LOOP] + face, 0]
            for k in range(start, start + link[part[side, LOOP] + face, 1]):
                v, edge = link[k, 0], 1 + part[side, VERTICES] + k - first
                _put(patch, name, patch_part, side, row(vertex, part[side, VERTEX] + v), 1 + v, edge)
            f = part[side, FACE] + face
            _close(patch_part, side, patch_plane, patch_link, row(plane, f))
            patch_plane[side, 3] = plane[f, 3]
        return 0.0
    if kind > CONE:
        if part[side, FACETED] == 1:
            _facet_patch(solid, side, n, x, least, patch, name, patch_part, patch_plane, patch_link)
        return 0.0
    m, size = turned_in(solid, side, n), size_of(solid, side)
    wide = np.sqrt(m[0] * m[0] + m[1] * m[1])
    top, bottom, r = size[1], -size[1], size[0]
    if kind == CONE:
        top, bottom, r = 0.75 * size[1], -0.25 * size[1], 0.0
    slope = m[2] * (top - bottom) + wide * (r - size[0])
    if wide < FACING and (m[2] < 0.0 or kind == CYLINDER):
        z = top if m[2] > 0.0 else bottom
        top_faces = m[2] > 0.0
        _rim_patch(solid, side, size[0], z, top_faces, patch, name, patch_part, patch_plane, patch_link)
        return LOWER * size[0]
    if wide > FACING and abs(slope) <= FACING * np.sqrt((top - bottom) ** 2 + (size[0] - r) ** 2):
        c, s = m[0] / wide, m[1] / wide
        _put(patch, name, patch_part, side, brought_out(solid, side, (r * c, r * s, top)), none + 1, none + 3)
        _put(
            patch,
            name,
            patch_part,
            side,
            brought_out(solid, side, (size[0] * c, size[0] * s, bottom)),
            none + 2,
            none + 3,
        )
    return 0.0


@inner_kernel
def _radius(part: IntArray, solid: Array, side: int, s: float) -> float:
    """Return the radius of curvature of a side across its line at the place `s`: 0 at the top, 1 at the bottom."""
    size = size_of(solid, side)
    if part[side, KIND] == CONE:
        return s * size[0] * float(np.sqrt(size[0] * size[0] + size[1] * size[1])) / size[1]
    return size[0]


@inner_kernel
def _side_by_side(
    part: IntArray,
    solid: Array,
    patch: Array,
    patch_part: IntArray,
    n: Vector,
    limit: float,
    point: Array,
    feature: IntArray,
) -> tuple[int, float]:
    """Write the ends of two lines that face each other, at most two; return how many and the least gap."""
    count, least = 0, np.inf
    for k in range(4):  # the ends of b, then of a
        side, end = (1, k) if k < 2 else (0, k - 2)
        q = row(patch, patch_part[side, VERTEX] + end)
        p = row(patch, patch_part[1 - side, VERTEX])
        d = along(row(patch, patch_part[1 - side, VERTEX] + 1), -1.0, p)
        f = 1.0 / np.sqrt(dot(d, d))
        axis = (f * d[0], f * d[1], f * d[2])
        slope = dot(n, axis)
        cosine = np.sqrt(1.0 - slope * slope)
        out = along(n, -slope, axis)
        out = (out[0] / cosine, out[1] / cosine, out[2] / cosine)
        x = along(q, -1.0, p)
        gap = dot(x, out) / cosine
        s = f * dot(along(x, -gap, n), axis)
        beside = abs(dot(x, cross(axis, out)))
        r = _radius(part, solid, 1 - side, s)
        known = beside < (_BESIDE if part[1 - side, KIND] >= CONE else 1.0) * r
        if count == 2 or not known or not -_BEYOND <= s <= 1.0 + _BEYOND:
            continue
        # The surface falls off beside its line.
        gap = (gap if side == 1 else -gap) + (r - np.sqrt(r * r - beside * beside)) / cosine
        if gap > limit:
            continue
        a, b = (along(q, -gap, n), q) if side == 1 else (q, along(q, gap, n))
        for i in range(3):
            point[count, i] = a[i]
            point[count, 3 + i] = b[i]
            point[count, 6 + i] = n[i]
        point[count, 9] = gap
        feature[count, side] = 1 + end
        feature[count, 1 - side] = 0
        least = min(least, gap)
        count += 1
    return count, least


@inner_kernel
def patch_contacts(
    vertex: Array,
    plane: Array,
    link: IntArray,
    part: IntArray,
    solid: Array,
    touch: Touch,
    limit: float,
    equal: float,
    size: float,
    patches: Patches,
    polygon: Array,
    tag: IntArray,
    point: Array,
    feature: IntArray,
) -> int:
    """Write the contacts around the touch of two solids with gaps up to `limit`; return how many.

    Gaps that differ by less than `equal` count as equal; `size` is that of the smaller solid.
    """
    n = touch[1]
    patch, patch_plane, patch_part, patch_link, name = patches
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        out = (sign * n[0], sign * n[1], sign * n[2])
        equal += _show(vertex, plane, link, part, solid, side, out, touch[2] if side == 0 else touch[3], size, patches)
    count, least = 0, np.inf
    if min(patch_part[0, VERTICES], patch_part[1, VERTICES]) > 1:
        if patch_part[0, FACES] + patch_part[1, FACES] > 0:
            count, least = clip_faces(
                patch, patch_plane, patch_part, patch_link, n, limit, polygon, tag, point, feature
            )
            for c in range(count):
                for side in range(2):
                    number = feature[c, side] - 1
                    v = patch_part[side, VERTICES]
                    if number >= v:
                        feature[c, side] = name[patch_part[side, VERTEX] + number - v, 1]
                    elif number >= 0:
                        feature[c, side] = name[patch_part[side, VERTEX] + number, 0]
        else:
            a, b = row(patch, patch_part[0, VERTEX]), row(patch, patch_part[1, VERTEX])
            d, e = (
                along(row(patch, patch_part[0, VERTEX] + 1), -1.0, a),
                along(row(patch, patch_part[1, VERTEX] + 1), -1.0, b),
            )
            m = cross(d, e)
            if dot(m, m) < _PARALLEL * dot(d, d) * dot(e, e):
                count, least = _side_by_side(part, solid, patch, patch_part, n, limit, point, feature)
    if least <= touch[0] + equal:
        return count
    r = 0
    while r < count and (feature[r, 0] != touch[4] or feature[r, 1] != touch[5]):
        r += 1
    for k in range(3):
        point[r, k] = touch[2][k]
        point[r, 3 + k] = touch[3][k]
        point[r, 6 + k] = n[k]
    point[r, 9] = touch[0]
    feature[r, 0] = touch[4]
    feature[r, 1] = touch[5]
    return max(count, r + 1)
