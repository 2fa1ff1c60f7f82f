"""Contacts of curved shapes with half-spaces, in closed form.

A cylinder meets a plane with the lowest points of its rims and, if a cap faces the plane, with points at fixed places
of that rim; a cone likewise, with its apex as second rim. The lowest points are exact at any tilt, and those at fixed
places do not move on the body while it stands: all keep their names. A superellipsoid meets it with its lowest point
or, where its caps are nearly flat, with the corners of a facet (:mod:`signorini.geometry.caps`).
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.caps import facet, facet_corner
from signorini.geometry.frames import HALF_SPACE
from signorini.geometry.planes import above_plane
from signorini.geometry.rows import emit_on_plane, material_of
from signorini.geometry.tables import BODY, FACETED, KIND, SIZE
from signorini.geometry.vectors import Vector
from signorini.math.rotation import dot
from signorini.model.shape_kinds import CONE, Size, curved_support

RIM = 6
"""Points at fixed places of a rim."""
FACING = 0.3
"""Sine of the angle to a plane below which a cap, or the side of a cylinder or cone, counts as flat on it."""
LOWER = 1e-10
"""Part of the radius by which the lowest point of a rim must be lower than those at fixed places to be worth a contact:
a standing body must not have one that jumps round its rim with every rounding error."""


@inner_kernel
def rim_place(radius: float, k: int) -> tuple[float, float]:
    """Return x and y of the fixed place `k` on a rim."""
    angle = 2.0 * np.pi * k / RIM
    return radius * np.cos(angle), radius * np.sin(angle)


@inner_kernel
def _add(
    x: Vector, name: int, n: Vector, height: float, margin: float, count: int, point: Array, feature: IntArray
) -> int:
    """Add the contact of a point, in the axes of the shape, with the plane if within `margin`; return the new count."""
    gap = height + dot(n, x)
    if not gap <= margin:
        return count
    for k in range(3):
        point[count, k] = x[k] - gap * n[k]
        point[count, 3 + k] = x[k]
        point[count, 6 + k] = n[k]
    point[count, 9] = gap
    feature[count, 0] = 0
    feature[count, 1] = name
    return count + 1


@inner_kernel
def _add_facet(
    size: Size, n: Vector, x: Vector, height: float, margin: float, count: int, point: Array, feature: IntArray
) -> int:
    """Add the contacts of the facet around the lowest point of a superellipsoid; return the new count."""
    down = (-n[0], -n[1], -n[2])
    k, first, out, most = facet(size, down, x, np.inf)
    for i in range(4):
        shown, corner, octant = facet_corner(down, k, first, out, most, i)
        if shown:
            count = _add(corner, 2 + octant, n, height, margin, count, point, feature)
    return count


@inner_kernel
def curved_on_plane(
    kind: int, size: Size, faceted: bool, n: Vector, height: float, margin: float, point: Array, feature: IntArray
) -> int:
    """Write the contacts of a half-space a and a curved shape b in the axes of b; return how many.

    `n` is the normal of the plane, in the axes of b, and `height` that of b's origin above the plane.
    """
    none = kind - kind  # no literal, for which Numba would compile anew
    if kind > CONE:
        x = curved_support(kind, size, (-n[0], -n[1], -n[2]))
        if faceted:
            return _add_facet(size, n, x, height, margin, none, point, feature)
        return _add(x, none + 1, n, height, margin, none, point, feature)
    across = np.sqrt(n[0] * n[0] + n[1] * n[1])
    f = -1.0 / across if across > 0.0 else 0.0
    top, bottom, r = size[1], -size[1], size[0]
    if kind == CONE:
        top, bottom, r = 0.75 * size[1], -0.25 * size[1], 0.0
    count, least = none, np.inf
    rises = n[2] < 0.0  # the upper cap faces the plane
    if across < FACING and not (rises and kind == CONE):
        z = top if rises else bottom
        for k in range(RIM):
            u, v = rim_place(size[0], k)
            least = min(least, n[0] * u + n[1] * v + n[2] * z)
            count = _add((u, v, z), 3 + k + (RIM if rises else 0), n, height, margin, count, point, feature)
    least -= LOWER * size[0]
    up, low = n[2] * top - across * r, n[2] * bottom - across * size[0]
    flat = abs(up - low) <= FACING * np.sqrt((top - bottom) ** 2 + (size[0] - r) ** 2)
    if (up < low or flat) and up < least:
        count = _add((f * r * n[0], f * r * n[1], top), none + 1, n, height, margin, count, point, feature)
    if (low <= up or flat) and low < least:
        count = _add(
            (f * size[0] * n[0], f * size[0] * n[1], bottom), none + 2, n, height, margin, count, point, feature
        )
    return count


@inner_kernel
def curved_plane_pair(
    made: int,
    i: int,
    j: int,
    shape: Array,
    label: IntArray,
    pair: IntArray,
    reach: Array,
    world: Array,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Write the contacts of shapes ``i < j``, a curved one and a half-space, to the rows from `made` on.

    Return the number of rows then.
    """
    material = material_of(label[i, BODY], label[j, BODY], reach.size, pair)
    if material < 0:
        return made
    plane_last = label[j, KIND] == HALF_SPACE
    p, o = (j, i) if plane_last else (i, j)
    m, n, height = above_plane(shape, world, p, o)
    size = (shape[o, SIZE], shape[o, SIZE + 1], shape[o, SIZE + 2], shape[o, SIZE + 3])
    margin = reach[label[i, BODY]] + reach[label[j, BODY]]
    count = curved_on_plane(label[o, KIND], size, label[o, FACETED] == 1, n, height, margin, point, feature)
    return emit_on_plane(made, count, i, j, plane_last, m, material, 0.0, label, world, point, feature, value, index)
