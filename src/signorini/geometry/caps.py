r"""Nearly flat caps of superellipsoids: facets with the corners that a closest point would wander between.

Where a coordinate vanishes, a surface of exponent :math:`p > 2` has no curvature in its direction. A turn by
:math:`\theta` takes the point that touches a plane to :math:`a\,\theta^{1/(p-1)}`: by a tenth of the semi-axis at
:math:`p = 8` and a ten millionth of a radian, which is less than gaps are resolved to. A contact posed there alone
jumps over the cap from step to step, and the moment of its force with it.

In its place the solid shows a facet, as a box does. Its corners are those of the mirror images of the closest point
across the planes of the body, which lie on the surface and in one plane; coordinates that are less than
:math:`w = a\,(p\,\delta/c)^{1/p}` are taken as w, at which the surface is :math:`\delta` below a tangent plane at the
distance c from the centre. So corners do not move on the body while it stands on its cap. The facet of a cap is moved
out to the tangent plane, by less than the law resolves of gaps. A body that has tilted a little has the closest point
for a corner, and the others at their true gaps, where it would touch after a turn through its cap within the step. Of
one that has tilted by more, as when it rocks or rolls, none is shown across: where one coordinate alone is small the
facet is a line.

Exponents for which w is small have no facets, and their contacts remain as they are.
"""

from __future__ import annotations

import numpy as np

from signorini._jit import inner_kernel
from signorini.geometry.constants import FACET_DEPTH, FACET_GAP, FACET_WIDTH
from signorini.geometry.vectors import Vector, along
from signorini.math.rotation import dot
from signorini.model.shape_kinds import Size


def has_facets(exponent: float) -> bool:
    """Tell whether the caps of a superellipsoid are nearly flat."""
    return float((exponent * FACET_DEPTH) ** (1.0 / exponent)) >= FACET_WIDTH


@inner_kernel
def facet(size: Size, n: Vector, x: Vector, most: float) -> tuple[int, Vector, float, float]:
    """Return the facet of a superellipsoid around its point `x` with outward normal `n`, in its axes.

    That is the axis that it is normal to, the corner in the octant of `n`, of which the others are mirror images, how
    far to move it along `n`, and the largest gap at which a corner is shown. Its depth is ``FACET_DEPTH`` of the least
    semi-axis, or of `most` if that is less.
    """
    a, p, k = size, size[3], 0
    for i in range(1, 3):
        if abs(n[i]) > abs(n[k]):
            k = i
    c, unit, f = dot(n, x), min(most, a[0], a[1], a[2]), 1.0 / p
    # (w/a)^p, at which the others shrink by delta/c.
    least = 1.0 - (1.0 - FACET_DEPTH * unit / c) ** p
    u, v, w = (abs(x[0]) / a[0]) ** p, (abs(x[1]) / a[1]) ** p, (abs(x[2]) / a[2]) ** p
    u, v, w = max(u, least) if k != 0 else 0.0, max(v, least) if k != 1 else 0.0, max(w, least) if k != 2 else 0.0
    rest = max(0.0, 1.0 - (u + v + w))
    u, v, w = rest if k == 0 else u, rest if k == 1 else v, rest if k == 2 else w
    corner = (
        np.copysign(a[0] * u**f, n[0]),
        np.copysign(a[1] * v**f, n[1]),
        np.copysign(a[2] * w**f, n[2]),
    )
    return k, corner, max(0.0, c - dot(n, corner)), FACET_GAP * unit


@inner_kernel
def facet_corner(n: Vector, k: int, corner: Vector, out: float, gap: float, i: int) -> tuple[bool, Vector, int]:
    """Tell whether corner `i` of a facet is shown, and return it and its number from 0 to 7, that of its octant.

    They run counter-clockwise about the normal. Whatever axis the facet is normal to, a corner has the name of its
    octant: it remains the same as the body rolls on.
    """
    first, second = (k + 1) % 3, (k + 2) % 3
    if corner[0] * corner[1] * corner[2] < 0.0:  # mirror images run the other way
        first, second = second, first
    shown, x = True, (corner[0], corner[1], corner[2])
    for side in range(2):
        axis, mirrored = (first, 0 < i < 3) if side == 0 else (second, i >= 2)
        if mirrored:
            shown = shown and 2.0 * abs(n[axis] * corner[axis]) <= gap
            x = (-x[0] if axis == 0 else x[0], -x[1] if axis == 1 else x[1], -x[2] if axis == 2 else x[2])
    octant = (1 if x[0] < 0.0 else 0) + (2 if x[1] < 0.0 else 0) + (4 if x[2] < 0.0 else 0)
    return shown, along(x, out, n), octant
