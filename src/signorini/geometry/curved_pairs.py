"""Contacts of curved shapes with all bounded shapes."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.convex_depth import deepest_points
from signorini.geometry.convex_distance import nearest_points
from signorini.geometry.curved_memory import CurvedMemory, Search
from signorini.geometry.patches import patch_contacts
from signorini.geometry.reduction import reduce_points
from signorini.geometry.rows import emit, material_of
from signorini.geometry.separation import Touch, load
from signorini.geometry.solids import FACETED as FACETED_PART
from signorini.geometry.solids import place, separation
from signorini.geometry.tables import BODY, BOUND, FACETED, KIND, SIZE
from signorini.geometry.touch import finished
from signorini.geometry.vectors import along, row
from signorini.geometry.ways_out import shortest_way_out
from signorini.math.rotation import matrix, multiply, rotate
from signorini.model.shape_kinds import CYLINDER

# As part of the size: closer than this, directions between points say little and the expanding polytope takes over. It
# knows little of points where the solids are apart, so that the second search goes on as far as digits reach.
_TOUCH, _CLOSE = 1e-4, 1e-12
# As part of the size: how well the search for a start is done, at first, and where no features are found from there.
# Features that hold prove themselves where the solids are apart; where they overlap another way out may be shorter.
_ROUGH, _COARSE, _FINE = 1e-4, 1e-10, 1e-13
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
    search: Search,
) -> Touch:
    """Return the touch of two solids; its separation is only known to be above `limit` if it is."""
    least, bound, faces = np.inf, -np.inf, 0
    start = nearest_points(vertex, part, solid, limit, _TOUCH * size, _ROUGH * scale, search.simplex)
    close = start[0] == -np.inf
    if close:
        start = (separation(vertex, part, solid, start[1])[0], start[1], start[2], start[3])
    if start[0] > limit:
        return start[0], start[1], start[2], start[3], 0, 0
    touch = (start[0], start[1], start[2], start[3], 0, 0)
    if not close:
        error, touch = finished(
            vertex, plane, edge, part, solid, start, start[0], _EXACT * scale, size, search, limit >= start[0]
        )
        if error <= _EXACT * scale and touch[0] >= 0.0:
            return touch
    for attempt in range(3):
        if attempt < 2:
            tolerance, touching = (_COARSE * scale, _TOUCH * size) if attempt == 0 else (_FINE * scale, _CLOSE * size)
            if attempt > 0 or not close:
                start = nearest_points(vertex, part, solid, limit, touching, tolerance, search.simplex)
            if start[0] == -np.inf or (attempt == 0 and close):
                start, faces = deepest_points(
                    vertex,
                    part,
                    solid,
                    start[1],
                    tolerance,
                    scale,
                    search.corner,
                    search.face,
                    search.wall,
                    search.rim,
                )
            if start[0] > limit:
                return start[0], start[1], start[2], start[3], 0, 0
        else:
            s, a, b = separation(vertex, part, solid, touch[1])
            start = (s, touch[1], a, b)
        bound = max(bound, start[0])
        error, better = finished(
            vertex, plane, edge, part, solid, start, bound, _EXACT * scale, size, search, attempt < 0
        )
        if attempt == 0 or error < least:
            touch, least = better, error
        if least <= _EXACT * scale:
            break
    if faces > 0:
        touch = shortest_way_out(
            vertex, plane, edge, part, solid, touch, _COARSE * scale, _EXACT * scale, size, faces, search
        )
    return touch


@inner_kernel
def curved_pair(
    made: int,
    i: int,
    j: int,
    shape: Array,
    label: IntArray,
    solid: Array,
    link: IntArray,
    pair: IntArray,
    reach: Array,
    world: Array,
    memory: CurvedMemory,
    point: Array,
    feature: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Write the contacts of shapes ``i < j``, both bounded, one curved, to the rows from `made` on.

    Return the number of rows then. The tables from `memory` to `feature` are scratch memory.
    """
    material = material_of(label[i, BODY], label[j, BODY], reach.size, pair)
    if material < 0:
        return made
    vertex, plane, part, pose = memory.vertex, memory.plane, memory.part, memory.pose
    inverse = (world[i, 3], -world[i, 4], -world[i, 5], -world[i, 6])
    r_a = shape[i, SIZE] if label[i, KIND] < CYLINDER else 0.0
    r_b = shape[j, SIZE] if label[j, KIND] < CYLINDER else 0.0
    for side in range(2):
        s, x, e = i, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
        if side == 1:
            s, x = j, rotate(inverse, along(row(world, j), -1.0, row(world, i)))
            e = multiply(inverse, (world[j, 3], world[j, 4], world[j, 5], world[j, 6]))
        load(side, s, x, matrix(e), label, solid, vertex, plane, part)
        size = (shape[s, SIZE], shape[s, SIZE + 1], shape[s, SIZE + 2], shape[s, SIZE + 3])
        place(side, label[s, KIND], x, e, size, part, pose)
        part[side, FACETED_PART] = label[s, FACETED]
    limit = reach[label[i, BODY]] + reach[label[j, BODY]] + r_a + r_b
    scale, least = (shape[i, BOUND] + shape[j, BOUND], min(shape[i, BOUND], shape[j, BOUND]))
    touch = closest_touch(vertex, plane, link, part, pose, limit, scale, least, memory.search)
    if not touch[0] <= limit:
        return made
    count = patch_contacts(
        vertex,
        plane,
        link,
        part,
        pose,
        touch,
        limit,
        _EXACT * scale,
        least,
        memory.patches,
        memory.polygon,
        memory.tag,
        point,
        feature,
    )
    count = reduce_points(point, feature, count, scale)
    return emit(made, count, i, j, material, r_a, r_b, label, world, point, feature, value, index)
