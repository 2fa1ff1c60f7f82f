"""Two convex solids of any kind in one frame, as the search for their closest points sees them.

Rounded polytopes take part as bare polytopes (a sphere is its centre, a capsule its axis), loaded by
:func:`signorini.geometry.separation.load`; curved shapes by their parameters. Row `side` of `solid` (2, 16) has the
position, the rotation matrix row by row and the parameters of a (0) or b (1), and ``part[side, KIND]`` its kind.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.geometry.separation import FACE, FACES, NEAR, SIDE, VERTEX, VERTICES
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot, matrix
from signorini.model.shape_kinds import CONE, CYLINDER, Size, curved_support

KIND = NEAR + 1
"""Column of `part` after those of :mod:`signorini.geometry.separation`: the kind of shape."""
FACETED = KIND + 1
"""Whether it shows facets, see :mod:`signorini.geometry.caps`."""
PART_COLUMNS = FACETED + 1
SOLID_COLUMNS = 16
_SIZE = 12


@inner_kernel
def place(
    side: int, kind: int, p: Vector, e: tuple[float, float, float, float], size: Size, part: IntArray, solid: Array
) -> None:
    """Write kind, pose and parameters of a shape as solid a (side 0) or b (side 1)."""
    part[side, KIND] = kind
    R = matrix(e)
    for k in range(3):
        solid[side, k] = p[k]
    for k in range(9):
        solid[side, 3 + k] = R[k]
    for k in range(4):
        solid[side, _SIZE + k] = size[k]


@inner_kernel
def size_of(solid: Array, side: int) -> Size:
    """Return the parameters of a solid."""
    return (solid[side, _SIZE], solid[side, _SIZE + 1], solid[side, _SIZE + 2], solid[side, _SIZE + 3])


@inner_kernel
def turned_in(solid: Array, side: int, n: Vector) -> Vector:
    """Return a vector in the axes of a solid."""
    return (
        solid[side, 3] * n[0] + solid[side, 6] * n[1] + solid[side, 9] * n[2],
        solid[side, 4] * n[0] + solid[side, 7] * n[1] + solid[side, 10] * n[2],
        solid[side, 5] * n[0] + solid[side, 8] * n[1] + solid[side, 11] * n[2],
    )


@inner_kernel
def turned_out(solid: Array, side: int, n: Vector) -> Vector:
    """Return a vector given in the axes of a solid."""
    return (
        solid[side, 3] * n[0] + solid[side, 4] * n[1] + solid[side, 5] * n[2],
        solid[side, 6] * n[0] + solid[side, 7] * n[1] + solid[side, 8] * n[2],
        solid[side, 9] * n[0] + solid[side, 10] * n[1] + solid[side, 11] * n[2],
    )


@inner_kernel
def seen_from(solid: Array, side: int, x: Vector) -> Vector:
    """Return a point in the frame of a solid."""
    return turned_in(solid, side, along(x, -1.0, row(solid, side)))


@inner_kernel
def brought_out(solid: Array, side: int, x: Vector) -> Vector:
    """Return a point given in the frame of a solid."""
    return along(turned_out(solid, side, x), 1.0, row(solid, side))


@inner_kernel
def farthest(vertex: Array, part: IntArray, side: int, n: Vector) -> int:
    """Return the vertex of a polytope farthest along `n`; the first of equal ones."""
    best, far = 0, -np.inf
    for v in range(part[side, VERTICES]):
        s = dot(n, row(vertex, part[side, VERTEX] + v))
        if s > far:
            best, far = v, s
    return best


@inner_kernel
def support(vertex: Array, part: IntArray, solid: Array, side: int, n: Vector) -> Vector:
    """Return the point of a solid farthest along the unit vector `n`."""
    if part[side, KIND] < CYLINDER:
        return row(vertex, part[side, VERTEX] + farthest(vertex, part, side, n))
    x = curved_support(part[side, KIND], size_of(solid, side), turned_in(solid, side, n))
    return brought_out(solid, side, x)


@inner_kernel
def separation(vertex: Array, part: IntArray, solid: Array, n: Vector) -> tuple[float, Vector, Vector]:
    """Return the gap between the supporting planes of both solids across `n` (from a to b), and the points there."""
    a = support(vertex, part, solid, part[0, SIDE], n)
    b = support(vertex, part, solid, part[1, SIDE], (-n[0], -n[1], -n[2]))
    return dot(n, along(b, -1.0, a)), a, b


@inner_kernel
def outside(vertex: Array, plane: Array, part: IntArray, solid: Array, side: int, x: Vector) -> float:
    """Return how far a point on the extended surface of a solid lies beyond its edges, at most 0 if it belongs to it.

    A smooth surface has no edges.
    """
    kind = part[side, KIND]
    beyond = 0.0
    if kind < CYLINDER:
        if part[side, FACES] == 0:  # a segment, or a point
            a, b = row(vertex, part[side, VERTEX]), row(vertex, part[side, VERTEX] + part[side, VERTICES] - 1)
            d = along(b, -1.0, a)
            length = np.sqrt(dot(d, d))
            if length > 0.0:
                beyond = max(dot(along(a, -1.0, x), d), dot(along(x, -1.0, b), d)) / length
        for f in range(part[side, FACE], part[side, FACE] + part[side, FACES]):
            beyond = max(beyond, dot(row(plane, f), x) - plane[f, 3])
    elif kind <= CONE:
        y = seen_from(solid, side, x)
        size = size_of(solid, side)
        across = np.sqrt(y[0] * y[0] + y[1] * y[1])
        if kind == CYLINDER:
            beyond = max(across - size[0], abs(y[2]) - size[1])
        else:
            beyond = max(across - size[0], -0.25 * size[1] - y[2], y[2] - 0.75 * size[1])
    return beyond
