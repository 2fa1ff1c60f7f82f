"""Contacts of curved shapes with all bounded shapes."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.geometry.convex_depth import deepest_points
from signorini.geometry.convex_distance import nearest_points
from signorini.geometry.patches import patch_contacts
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit, material_of
from signorini.geometry.separation import Touch, load
from signorini.geometry.solids import place, separation
from signorini.geometry.support import CYLINDER, SUPERELLIPSOID
from signorini.geometry.touch import finished
from signorini.geometry.vectors import along, row
from signorini.math.rotation import multiply, rotate

# As part of the size: closer than this, directions between points say little and the expanding polytope takes over.
_TOUCH = 1e-4
# As part of the size: how well the search for a start is done, at first and if no features were found from there.
_COARSE, _FINE = 1e-8, 1e-13
_EXACT = 1e-12  # as part of the size: error of separation and points up to which a touch is accepted


@inner_kernel
def closest_touch(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    limit: float,
    scale: float,
    size: float,
    simplex: Array,
    corner: Array,
    face: IntArray,
    wall: Array,
    rim: IntArray,
    choice: IntArray,
    M: Array,
) -> Touch:
    """Return the touch of two solids; its separation is only known to be above `limit` if it is."""
    touch: Touch = (-np.inf, row(solid, 0), row(solid, 0), row(solid, 0), 0, 0)
    for attempt in range(3):
        if attempt < 2:
            tolerance = (_COARSE if attempt == 0 else _FINE) * scale
            start = nearest_points(vertex, part, solid, limit, _TOUCH * size, tolerance, simplex)
            if start[0] == -np.inf:
                start = deepest_points(vertex, part, solid, start[1], tolerance, scale, corner, face, wall, rim)
            if start[0] > limit:
                return start[0], start[1], start[2], start[3], 0, 0
        else:
            s, a, b = separation(vertex, part, solid, touch[1])
            start = (s, touch[1], a, b)
        found, better = finished(vertex, plane, edge, part, solid, start, _EXACT * scale, size, choice, M)
        # Supporting points across a normal need not lie opposite each other, those of the search do.
        if found or attempt < 2:
            touch = better
        if found:
            break
    return touch


@kernel
def curved_pairs(
    kind: IntArray,
    body: IntArray,
    parameter: Array,
    hull: IntArray,
    bound: Array,
    hull_vertex: Array,
    vertex_start: IntArray,
    face_normal: Array,
    face_offset: Array,
    face_start: IntArray,
    loop: IntArray,
    loop_start: IntArray,
    edge: IntArray,
    edge_start: IntArray,
    pair: IntArray,
    pair_material: IntArray,
    reach: Array,
    frame: Array,
    found: IntArray,
    vertex: Array,
    plane: Array,
    part: IntArray,
    solid: Array,
    simplex: Array,
    corner: Array,
    face: IntArray,
    wall: Array,
    rim: IntArray,
    choice: IntArray,
    M: Array,
    patch: Array,
    patch_plane: Array,
    patch_part: IntArray,
    patch_loop: IntArray,
    patch_start: IntArray,
    name: IntArray,
    polygon: Array,
    tag: IntArray,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
    made: IntArray,
) -> None:
    """Write the contacts of curved with all bounded shapes among the pairs `found`, up to the first negative key.

    They become the rows from ``made[0]`` on. Keys of other pairs, and of those alone, are moved to the front of
    `found`, followed by -1. The tables from `vertex` to `feature` are scratch memory.
    """
    n_s = body.size
    others = 0
    for c in range(found.size):
        if found[c] < 0:
            break
        i, j = found[c] // n_s, found[c] % n_s
        if max(kind[i], kind[j]) > SUPERELLIPSOID or max(kind[i], kind[j]) < CYLINDER or min(hull[i], hull[j]) < 0:
            found[others] = found[c]
            others += 1
            continue
        material = material_of(body[i], body[j], reach.size, pair, pair_material)
        if material < 0:
            continue
        e_i = (frame[i, 3], frame[i, 4], frame[i, 5], frame[i, 6])
        inverse = (e_i[0], -e_i[1], -e_i[2], -e_i[3])
        origin = (0.0, 0.0, 0.0)
        r_a = parameter[i, 0] if kind[i] < CYLINDER else 0.0
        r_b = parameter[j, 0] if kind[j] < CYLINDER else 0.0
        for side in range(2):
            s, x, e = i, origin, (1.0, 0.0, 0.0, 0.0)
            if side == 1:
                s, x = j, rotate(inverse, along(row(frame, j), -1.0, row(frame, i)))
                e = multiply(inverse, (frame[j, 3], frame[j, 4], frame[j, 5], frame[j, 6]))
            load(
                side,
                hull[s],
                x,
                e,
                hull_vertex,
                vertex_start,
                face_normal,
                face_offset,
                face_start,
                loop_start,
                edge_start,
                vertex,
                plane,
                part,
            )
            size = (parameter[s, 0], parameter[s, 1], parameter[s, 2], parameter[s, 3])
            place(side, kind[s], x, e, size, part, solid)
        limit = reach[body[i]] + reach[body[j]] + r_a + r_b
        scale = bound[i] + bound[j]
        touch = closest_touch(
            vertex,
            plane,
            edge,
            part,
            solid,
            limit,
            scale,
            min(bound[i], bound[j]),
            simplex,
            corner,
            face,
            wall,
            rim,
            choice,
            M,
        )
        if not touch[0] <= limit:
            continue
        count = patch_contacts(
            vertex,
            plane,
            loop,
            loop_start,
            part,
            solid,
            touch,
            limit,
            _EXACT * scale,
            patch,
            patch_plane,
            patch_part,
            patch_loop,
            patch_start,
            name,
            polygon,
            tag,
            point,
            feature,
        )
        count = reduce_points(point, feature, count, scale)
        back = count < 0  # never; a literal False would make Numba compile once more
        emit(count, found[c], back, e_i, origin, r_a, r_b, body, material, frame, point, feature, value, index, made)
    if others < found.size:
        found[others] = -1
