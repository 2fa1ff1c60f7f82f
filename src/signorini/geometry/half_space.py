"""Half-space against any rounded polytope: the vertices within reach of the plane."""

from __future__ import annotations

from signorini._arrays import Array
from signorini._jit import kernel
from signorini.geometry.reduction import reduce_points
from signorini.geometry.workspace import Workspace
from signorini.math.rotation import Vector, dot, rotate, unrotate
from signorini.model.shapes import Hulls, ShapeArrays


@kernel
def half_space_contacts(
    shapes: ShapeArrays, hulls: Hulls, i: int, j: int, x: Vector, e_i: Array, e_j: Array, margin: float, work: Workspace
) -> int:
    """Write the contacts of half-space i and bounded shape j, with a = i and b = j; return how many.

    `x` is the origin of shape j seen from that of i, world axes. Later steps see the points in the axes of shape j, so that the
    choice among many vertices turns with the body.
    """
    point, feature = work.point, work.feature
    m = rotate(e_i, shapes.size[i, 1:])
    height = dot(m, x) - shapes.size[i, 0]
    n = unrotate(e_j, m)
    r = shapes.size[j, 0]
    h = shapes.hull[j]
    count = 0
    for v in range(hulls.vertex_start[h], hulls.vertex_start[h + 1]):
        gap = height + dot(n, hulls.vertex[v]) - r
        if gap <= margin:
            for k in range(3):
                point[count, 3 + k] = hulls.vertex[v, k]
            point[count, 9] = gap
            feature[count, 0] = 0
            feature[count, 1] = 1 + v - hulls.vertex_start[h]
            count += 1
    count = reduce_points(point, feature, count, n, shapes.bound[j])
    for c in range(count):
        b = rotate(e_j, (point[c, 3], point[c, 4], point[c, 5]))
        for k in range(3):
            point[c, 3 + k] = x[k] + b[k] - r * m[k]
            point[c, k] = point[c, 3 + k] - point[c, 9] * m[k]
            point[c, 6 + k] = m[k]
    return count
