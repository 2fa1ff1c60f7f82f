"""Kinds of shapes: what tells them apart, mass and words left out, by the numbers in their rows of the model.

Curved kinds without faces and rims, as ellipsoids, need nothing else: what detection finds follows from support points,
what laws of geometry ask from inequalities. Faces and rims of cylinders and cones are known to ``geometry`` besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini._jit import inner_kernel
from signorini.errors import InputError
from signorini.model.convex_sets import ConvexSet, Drum, Planes, Rounded, Spire, Superquadric
from signorini.model.shapes import ShapeKind

CYLINDER: Final = int(ShapeKind.CYLINDER)
CONE: Final = int(ShapeKind.CONE)
ELLIPSOID: Final = int(ShapeKind.ELLIPSOID)
TINY: Final = 1e-150
"""Squares of lengths below this underflow: they have no direction."""

Size = tuple[float, float, float, float]
Vector = tuple[float, float, float]


class CurvedKind(NamedTuple):
    """What Python knows of a kind; every function takes the row of ``ShapeArrays.size``, (4,)."""

    inequalities: Callable[[Array], ConvexSet]
    """In the frame of the shape."""
    width: Callable[[Array], float]
    """Least width [m]."""
    is_smooth: bool
    """Whether it has neither faces nor rims."""
    exponent: Callable[[Array], float] = lambda _: 2.0
    """Of a superquadric, whose caps are the flatter the greater it is; 2 for what has curvature everywhere."""
    form: str = ""
    """Of the surface that pictures know, see :class:`~signorini.visual.Surface`; "": tangent planes."""


CURVED: Final = {
    ShapeKind.CYLINDER: CurvedKind(
        lambda size: Drum(float(size[0]), float(size[1])),
        lambda size: 2.0 * float(min(size[0], size[1])),
        is_smooth=False,
        form="cylinder",
    ),
    ShapeKind.CONE: CurvedKind(
        lambda size: Spire(float(size[0]), float(size[1])),
        lambda size: float(min(2.0 * size[0], size[1])),
        is_smooth=False,
        form="cone",
    ),
    ShapeKind.ELLIPSOID: CurvedKind(
        lambda size: Superquadric(np.array(size[:3]), 2.0),
        lambda size: 2.0 * float(size[:3].min()),
        is_smooth=True,
        form="superellipsoid",
    ),
    ShapeKind.SUPERELLIPSOID: CurvedKind(
        lambda size: Superquadric(np.array(size[:3]), float(size[3])),
        lambda size: 2.0 * float(size[:3].min()),
        is_smooth=True,
        exponent=lambda size: float(size[3]),
        form="superellipsoid",
    ),
}
"""All of them. Their numbers follow one another: those with faces or rims first, then smooth ones."""
LAST_CURVED: Final = int(max(CURVED))
SMOOTH: Final[tuple[Any, ...]] = tuple(kind for kind, what in CURVED.items() if what.is_smooth)


def convex_set(kind: int, size: Array, vertices: Array, normals: Array, offsets: Array) -> ConvexSet:
    """Return the inequalities of a shape in its own frame from its row in the model, but for users' functions.

    Parameters
    ----------
    kind, size : as in :class:`~signorini.model.ShapeArrays`
    vertices, normals, offsets : the rows of its hull
    """
    match ShapeKind(kind):
        case ShapeKind.HALF_SPACE:
            n = np.array(size[1:4])
            return Planes(n[None], np.array([size[0]]), n * (size[0] - 1.0))
        case ShapeKind.SPHERE | ShapeKind.CAPSULE:
            return Rounded(vertices[0], vertices[-1] - vertices[0], float(size[0]))
        case ShapeKind.HULL:
            return Planes(normals, offsets, vertices.mean(axis=0))
        case curved if curved in CURVED:
            return CURVED[curved].inequalities(size)
        case other:
            raise InputError(f"shape kind is {other.name}, must be one whose inequalities follow from its sizes")


@inner_kernel
def curved_support(kind: int, size: Size, n: Vector) -> Vector:
    """Return the point of a curved shape farthest along the unit vector `n`; the middle of a face across it."""
    if kind >= ELLIPSOID:
        x, y, z = size[0] * n[0], size[1] * n[1], size[2] * n[2]
        if kind == ELLIPSOID:
            f = 1.0 / np.sqrt(x * x + y * y + z * z)
            return (f * size[0] * x, f * size[1] * y, f * size[2] * z)
        # The dual exponent is q = p/(p - 1): x_i = a_i s_i (|m_i| / |m|_q)^(q - 1) with m_i = a_i n_i of sign s_i.
        largest = max(abs(x), abs(y), abs(z))
        power = 1.0 / (size[3] - 1.0)
        u, v, w = ((abs(x) / largest) ** power, (abs(y) / largest) ** power, (abs(z) / largest) ** power)
        f = ((abs(x) * u + abs(y) * v + abs(z) * w) / largest) ** (-1.0 / size[3])
        return (np.copysign(f * u * size[0], x), np.copysign(f * v * size[1], y), np.copysign(f * w * size[2], z))
    across = np.sqrt(n[0] * n[0] + n[1] * n[1])
    f = size[0] / across if across > TINY else 0.0
    if kind == CYLINDER:
        return (f * n[0], f * n[1], size[1] if n[2] >= 0.0 else -size[1])
    if size[1] * n[2] > size[0] * across:
        return (0.0, 0.0, 0.75 * size[1])
    return (f * n[0], f * n[1], -0.25 * size[1])
