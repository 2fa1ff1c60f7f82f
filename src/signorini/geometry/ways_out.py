"""Other ways out of a deep overlap.

Where two solids are nearly concentric and nearly round, hardly any direction is worse than another, and an expanding
polytope has no corners enough to tell them apart. Its faces still bound the depth from below, so each that lies nearer
than the depth found may hide a shorter way out: Newton's method starts from them, spread over all directions.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.convex_depth import foot
from signorini.geometry.curved_memory import Search
from signorini.geometry.separation import Touch
from signorini.geometry.solids import separation
from signorini.geometry.touch import finished
from signorini.geometry.vectors import row
from signorini.math.rotation import dot

_STARTS = 60
_ALIKE = 0.95  # cosine of the angle about a start within which there is no other


@inner_kernel
def shortest_way_out(
    vertex: Array,
    plane: Array,
    edge: IntArray,
    part: IntArray,
    solid: Array,
    touch: Touch,
    tolerance: float,
    exact: float,
    size: float,
    faces: int,
    search: Search,
) -> Touch:
    """Return the touch with the least depth, at most that of `touch`, that is found from the faces of a polytope.

    Faces whose bound is less than `tolerance` below the depth are passed over; those looked at lose their bounds.
    """
    best, wall = touch, search.wall
    for _ in range(_STARTS):
        nearest, depth = -1, -best[0] - tolerance
        for f in range(faces):
            if wall[f, 3] < depth:
                nearest, depth = f, wall[f, 3]
        if nearest < 0:
            break
        u = row(wall, nearest)
        n = (-u[0], -u[1], -u[2])
        a, b = foot(search.corner, search.face, nearest)
        start = (separation(vertex, part, solid, n)[0], n, a, b)
        error, other = finished(vertex, plane, edge, part, solid, start, best[0], exact, size, search, faces < 0)
        if error <= exact and other[0] > best[0]:
            best = other
        for f in range(faces):
            if dot(row(wall, f), u) > _ALIKE:
                wall[f, 3] = np.inf
    return best
