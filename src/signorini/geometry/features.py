"""Features of convex solids: the smooth pieces of their surfaces on which closest points lie.

A feature is a point, a line, a circle, a plane or a curved side. Which one carries the closest point follows from the
normal up to a few candidates; where on it, from Newton's method in :mod:`signorini.geometry.touch`.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.separation import EDGE, EDGES, FACE, FACES, HALF_EDGES, VERTEX, VERTICES
from signorini.geometry.solids import KIND, brought_out, seen_from, size_of, turned_in, turned_out
from signorini.geometry.vectors import Vector, across, along, row
from signorini.math.rotation import dot
from signorini.model.shape_kinds import CONE, CYLINDER, TINY

POINT, LINE, CIRCLE, FLAT, SIDE_WALL, SMOOTH = 0, 1, 2, 3, 4, 5
"""Types of features. The second number of a feature says which: a vertex, an edge, a face, or 1 for the upper and 2 for
the lower end of a cylinder or cone."""
MAX_CANDIDATES = 4
# Normals closer than this to that of a face, or to the plane across a line, make it the first guess (radians).
_NEAR = 1e-3
_CLIMB = 1e-2  # how much the height of an edge along the normal counts beside its distance
_AT_AXIS = 1e-12  # of the radius or the height of a cone: closer, a point is on the axis or the apex

Local = tuple[int, Vector, Vector, Vector, float, float, float]
"""Dimension k of a feature, the point on it, k unit tangents t_1, t_2, and ``n . x_,11``, ``n . x_,12``, ``n . x_,22``
in the directions of the tangents."""


@inner_kernel
def _polytope_candidates(
    vertex: Array, plane: Array, edge: IntArray, part: IntArray, side: int, n: Vector, x: Vector, out: IntArray
) -> int:
    """List the candidates of a polytope; see :func:`candidates`."""
    v0 = part[side, VERTEX]
    nearest, least = 0, np.inf
    for v in range(part[side, VERTICES]):
        d = along(row(vertex, v0 + v), -1.0, x)
        if dot(d, d) < least:
            nearest, least = v, dot(d, d)
    # At a vertex many edges are near: then that across the normal. A point may also be off along its edge.
    line, least, slope, near, other = -1, np.inf, 1.0, np.inf, -1
    for k in range(part[side, EDGE], part[side, EDGE] + part[side, EDGES]):
        a = row(vertex, v0 + edge[k, 0])
        d = along(row(vertex, v0 + edge[k, 1]), -1.0, a)
        dd = dot(d, d)
        if dd == 0.0:
            continue
        y = along(x, -1.0, a)
        y = along(y, -min(max(dot(y, d) / dd, 0.0), 1.0), d)
        away, climb = np.sqrt(dot(y, y)), abs(dot(n, d))
        if away < near:
            near, other = away, k
        if away + _CLIMB * climb < least:
            line, least, slope = k, away + _CLIMB * climb, climb / np.sqrt(dd)
    flat, steepest = -1, 0.0
    for f in range(part[side, FACES]):
        s = dot(n, row(plane, part[side, FACE] + f))
        if s > steepest:
            flat, steepest = f, s
    count = 0
    if flat >= 0 and steepest > 1.0 - 0.5 * _NEAR * _NEAR:
        out[side, count, 0], out[side, count, 1] = FLAT, flat
        count += 1
    if line >= 0 and slope < _NEAR:
        out[side, count, 0], out[side, count, 1] = LINE, line
        count += 1
    out[side, count, 0], out[side, count, 1] = POINT, nearest
    count += 1
    if line >= 0 and slope >= _NEAR:
        out[side, count, 0], out[side, count, 1] = LINE, line
        count += 1
    if flat >= 0 and out[side, 0, 0] != FLAT:
        out[side, count, 0], out[side, count, 1] = FLAT, flat
        count += 1
    if other != line:
        out[side, count, 0], out[side, count, 1] = LINE, other
        count += 1
    return count


@inner_kernel
def candidates(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    side: int,
    n: Vector,
    x: Vector,
    out: IntArray,
) -> int:
    """List the features of a solid that may touch along the outward normal `n` near `x`, the likeliest first.

    Rows of ``out[side]`` get type and number; return how many.
    """
    kind = part[side, KIND]
    if kind < CYLINDER:
        return _polytope_candidates(vertex, plane, edge, part, side, n, x, out)
    if kind > CONE:
        out[side, 0, 0], out[side, 0, 1] = SMOOTH, 0
        return 1
    m, y = turned_in(solid, side, n), seen_from(solid, side, x)
    size = size_of(solid, side)
    wide = np.sqrt(m[0] * m[0] + m[1] * m[1])
    slope = m[2]  # sine of the angle to the side
    cap = 1 if m[2] > 0.0 else 2
    end = cap if abs(m[2]) > _NEAR else (1 if y[2] > 0.0 else 2)
    if kind == CONE:
        slant = np.sqrt(size[0] * size[0] + size[1] * size[1])
        slope = (m[2] * size[1] - wide * size[0]) / slant
        cap = 0 if m[2] > 0.0 else 2
        end = (1 if slope > 0.0 else 2) if abs(slope) > _NEAR else (1 if y[2] > 0.25 * size[1] else 2)
    rim = CIRCLE if kind == CYLINDER or end == 2 else POINT
    count = 0
    if wide < _NEAR and cap > 0:
        out[side, count, 0], out[side, count, 1] = FLAT, cap
        count += 1
    if abs(slope) < _NEAR:
        out[side, count, 0], out[side, count, 1] = SIDE_WALL, 0
        count += 1
    out[side, count, 0], out[side, count, 1] = rim, end
    count += 1
    if abs(slope) < _NEAR:
        out[side, count, 0], out[side, count, 1] = (POINT if kind == CONE and end == 2 else CIRCLE), 3 - end
        count += 1
    elif wide >= _NEAR:
        out[side, count, 0], out[side, count, 1] = SIDE_WALL, 0
        count += 1
    if wide >= _NEAR and cap > 0 and count < MAX_CANDIDATES:
        out[side, count, 0], out[side, count, 1] = FLAT, cap
        count += 1
    return count


@inner_kernel
def _round_local(solid: Array, side: int, kind: int, shape: int, which: int, x: Vector, n: Vector) -> Local:
    """Return the rim, cap or side of a cylinder or cone next to `x`."""
    size = size_of(solid, side)
    y = seen_from(solid, side, x)
    top, bottom = size[1], -size[1]
    if kind == CONE:
        top, bottom = 0.75 * size[1], -0.25 * size[1]
    z = top if which == 1 else bottom
    axis = turned_out(solid, side, (0.0, 0.0, 1.0))
    wide = np.sqrt(y[0] * y[0] + y[1] * y[1])
    c, s = (y[0] / wide, y[1] / wide) if wide > TINY else (1.0, 0.0)
    if shape == SIDE_WALL and kind == CONE:
        m = turned_in(solid, side, n)
        f = np.sqrt(m[0] * m[0] + m[1] * m[1]) if side == 0 else -np.sqrt(m[0] * m[0] + m[1] * m[1])
        before = (y[0] * m[0] + y[1] * m[1]) / f if f != 0.0 else wide
        # On the axis and behind it the generator is the one that the normal shows: a step may pass the apex.
        if before <= _AT_AXIS * size[0]:
            wide, c, s = before, m[0] / f, m[1] / f
    outward, around = turned_out(solid, side, (c, s, 0.0)), turned_out(solid, side, (-s, c, 0.0))
    if shape == FLAT:
        return 2, brought_out(solid, side, (y[0], y[1], z)), outward, around, 0.0, 0.0, 0.0
    if shape == CIRCLE:
        r = size[0]
        return 1, brought_out(solid, side, (r * c, r * s, z)), around, axis, -dot(n, outward) / r, 0.0, 0.0
    if kind == CYLINDER:
        r, up, z = size[0], axis, y[2]
    else:  # the foot on the generator, kept off the apex, where curvature has no bound
        slant = np.sqrt(size[0] * size[0] + size[1] * size[1])
        g = (-size[0] / slant, size[1] / slant)
        t = min(max((wide - size[0]) * g[0] + (y[2] - bottom) * g[1], -slant), (1.0 - _AT_AXIS) * slant)
        r, z = size[0] + t * g[0], bottom + t * g[1]
        up = along((g[0] * outward[0], g[0] * outward[1], g[0] * outward[2]), g[1], axis)
    return 2, brought_out(solid, side, (r * c, r * s, z)), around, up, -dot(n, outward) / r, 0.0, 0.0


@inner_kernel
def _smooth_local(solid: Array, side: int, x: Vector, n: Vector) -> Local:
    """Return the surface ``f(x) = sum |x_i / a_i|^p = 1`` next to `x`: its curvature is ``t^T f'' t / |f'|``."""
    a = size_of(solid, side)
    p = a[3]
    y = seen_from(solid, side, x)
    if y == (0.0, 0.0, 0.0):  # the centre is next to no point: start outward
        m = turned_in(solid, side, n)
        y = m if side == 0 else (-m[0], -m[1], -m[2])
    u = (y[0] / a[0], y[1] / a[1], y[2] / a[2])
    largest = max(abs(u[0]), abs(u[1]), abs(u[2]))
    w = (abs(u[0]) / largest, abs(u[1]) / largest, abs(u[2]) / largest)
    h = (1.0, 1.0, 1.0)
    if p == 2.0:  # an ellipsoid: powers take longer than all the rest
        f = 1.0 / (largest * np.sqrt(dot(w, w)))
    else:
        f = 1.0 / (largest * (w[0] ** p + w[1] ** p + w[2] ** p) ** (1.0 / p))
    y = (f * y[0], f * y[1], f * y[2])
    u = (f * u[0], f * u[1], f * u[2])
    if p != 2.0:
        h = (abs(u[0]) ** (p - 2.0), abs(u[1]) ** (p - 2.0), abs(u[2]) ** (p - 2.0))
    g = (h[0] * u[0] / a[0], h[1] * u[1] / a[1], h[2] * u[2] / a[2])
    length = np.sqrt(dot(g, g))
    normal = (g[0] / length, g[1] / length, g[2] / length)
    t, o = across(normal)
    s = -(p - 1.0) * dot(turned_in(solid, side, n), normal) / length
    h = (s * h[0] / (a[0] * a[0]), s * h[1] / (a[1] * a[1]), s * h[2] / (a[2] * a[2]))
    tt = h[0] * t[0] * t[0] + h[1] * t[1] * t[1] + h[2] * t[2] * t[2]
    to = h[0] * t[0] * o[0] + h[1] * t[1] * o[1] + h[2] * t[2] * o[2]
    oo = h[0] * o[0] * o[0] + h[1] * o[1] * o[1] + h[2] * o[2] * o[2]
    return 2, brought_out(solid, side, y), turned_out(solid, side, t), turned_out(solid, side, o), tt, to, oo


@inner_kernel
def local_feature(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    side: int,
    shape: int,
    which: int,
    x: Vector,
    n: Vector,
) -> Local:
    """Return the point of a feature next to `x` with tangents and the curvature seen along `n`."""
    kind = part[side, KIND]
    if shape == SMOOTH:
        return _smooth_local(solid, side, x, n)
    if kind >= CYLINDER:
        if shape == POINT:
            apex = brought_out(solid, side, (0.0, 0.0, 0.75 * size_of(solid, side)[1]))
            return 0, apex, n, n, 0.0, 0.0, 0.0
        return _round_local(solid, side, kind, shape, which, x, n)
    v0 = part[side, VERTEX]
    if shape == POINT:
        return 0, row(vertex, v0 + which), n, n, 0.0, 0.0, 0.0
    if shape == LINE:
        a = row(vertex, v0 + edge[which, 0])
        d = along(row(vertex, v0 + edge[which, 1]), -1.0, a)
        f = 1.0 / np.sqrt(dot(d, d))
        d = (f * d[0], f * d[1], f * d[2])
        return 1, along(a, dot(along(x, -1.0, a), d), d), d, d, 0.0, 0.0, 0.0
    f = part[side, FACE] + which
    m = row(plane, f)
    t, o = across(m)
    return 2, along(x, plane[f, 3] - dot(m, x), m), t, o, 0.0, 0.0, 0.0


@inner_kernel
def feature_name(part: IntArray, side: int, shape: int, which: int) -> int:
    """Number a feature: 0 for faces, then vertices, half-edges and edges; ends 1 and 2, sides 3 for round shapes."""
    if shape == FLAT:
        return 0
    if shape == SIDE_WALL:
        return 3
    if shape == SMOOTH:
        return 1
    if part[side, KIND] >= CYLINDER:
        return which
    if shape == POINT:
        return 1 + which
    return int(1 + part[side, VERTICES] + part[side, HALF_EDGES] + which - part[side, EDGE])
