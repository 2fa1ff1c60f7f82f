"""Narrow phase of a sphere and a cylinder or cone, in closed form.

The nearest point of a solid of revolution lies in the half-plane through its axis and the centre, where the solid is a
polygon: there a point has the distance ``r`` from the axis and the height ``z``.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.rows import emit, material_of
from signorini.geometry.simple_pairs import SPHERE
from signorini.geometry.tables import BODY, KIND, SIZE
from signorini.geometry.vectors import along, row
from signorini.math.rotation import rotate
from signorini.model.shape_kinds import CYLINDER, TINY

_CAP, _TOP, _BOTTOM, _WALL = 0, 1, 2, 3  # features, as numbered by :func:`signorini.geometry.features.feature_name`

Foot = tuple[float, float, float, int]
"""Signed distance, normal (r, z) and feature."""


@inner_kernel
def _on_cylinder(radius: float, half: float, r: float, z: float) -> Foot:
    """Return how a point sees a cylinder."""
    up = 1.0 if z > 0.0 else -1.0
    beside, above = r - radius, abs(z) - half
    if beside > 0.0 and above > 0.0:
        distance = np.sqrt(beside * beside + above * above)
        return distance, beside / distance, up * above / distance, _TOP if z > 0.0 else _BOTTOM
    if above >= beside:
        return above, 0.0, up, _CAP
    return beside, 1.0, 0.0, _WALL


@inner_kernel
def _on_cone(radius: float, height: float, r: float, z: float) -> Foot:
    """Return how a point sees a cone."""
    slant = np.sqrt(radius * radius + height * height)
    sine, cosine = radius / slant, height / slant  # of half the opening
    beside, below = r - radius, -0.25 * height - z
    beyond = r * cosine + (z - 0.75 * height) * sine
    up = -beside * sine - below * cosine  # along the generator from the rim
    if below >= 0.0 >= beside or max(beyond, below) <= 0.0:
        if below >= beyond:
            return below, 0.0, -1.0, _CAP
        return beyond, cosine, sine, _WALL
    feature, x, y = _BOTTOM, beside, -below
    if up >= slant:
        feature, x, y = _TOP, r, z - 0.75 * height
    elif up > 0.0:
        return beyond, cosine, sine, _WALL
    distance = np.sqrt(x * x + y * y)
    if not distance > TINY:
        return beyond, cosine, sine, _WALL
    return distance, x / distance, y / distance, feature


@inner_kernel
def sphere_round_pair(
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
    """Write the contact of shapes ``i < j``, a sphere and a cylinder or cone, as row `made`; return the number of rows.

    `point` and `feature` are scratch memory.
    """
    sphere_last = label[j, KIND] == SPHERE
    s, o = (j, i) if sphere_last else (i, j)
    e = (world[o, 3], world[o, 4], world[o, 5], world[o, 6])
    p = rotate((e[0], -e[1], -e[2], -e[3]), along(row(world, s), -1.0, row(world, o)))
    r = np.sqrt(p[0] * p[0] + p[1] * p[1])
    c, t = (p[0] / r, p[1] / r) if r > TINY else (1.0, 0.0)
    if label[o, KIND] == CYLINDER:
        distance, n_r, n_z, place = _on_cylinder(shape[o, SIZE], shape[o, SIZE + 1], r, p[2])
    else:
        distance, n_r, n_z, place = _on_cone(shape[o, SIZE], shape[o, SIZE + 1], r, p[2])
    if not distance <= reach[label[i, BODY]] + reach[label[j, BODY]] + shape[s, SIZE]:
        return made
    material = material_of(label[i, BODY], label[j, BODY], reach.size, pair)
    if material < 0:
        return made
    n = (n_r * c, n_r * t, n_z)
    r_a, r_b = 0.0, shape[s, SIZE]
    if not sphere_last:  # contacts are given in the frame of i
        n = rotate((world[i, 3], -world[i, 4], -world[i, 5], -world[i, 6]), rotate(e, (-n[0], -n[1], -n[2])))
        p = (0.0, 0.0, 0.0)
        r_a, r_b = r_b, r_a
    on_solid, on_sphere, back = (0, 3, -distance) if sphere_last else (3, 0, distance)
    for k in range(3):
        point[0, on_sphere + k] = p[k]
        point[0, on_solid + k] = p[k] + back * n[k]
        point[0, 6 + k] = n[k]
    point[0, 9] = distance
    feature[0, 0], feature[0, 1] = (place, 1) if sphere_last else (1, place)
    one = material - material + 1  # no literal, for which Numba would compile anew
    return emit(made, one, i, j, material, r_a, r_b, label, world, point, feature, value, index)
