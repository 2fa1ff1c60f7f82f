"""A half-space and the shape above it: what all kinds of shapes have in common."""

from __future__ import annotations

from signorini._arrays import Array
from signorini._jit import inner_kernel
from signorini.geometry.tables import LOWER, SIZE
from signorini.geometry.vectors import Vector, along, row
from signorini.math.rotation import dot, rotate


@inner_kernel
def above_plane(shape: Array, world: Array, p: int, o: int) -> tuple[Vector, Vector, float]:
    """Return the normal of half-space `p` in the world and in the axes of shape `o`, and the height of o's origin."""
    m = (world[p, LOWER], world[p, LOWER + 1], world[p, LOWER + 2])
    height = dot(m, along(row(world, o), -1.0, row(world, p))) - shape[p, SIZE]
    return m, rotate((world[o, 3], -world[o, 4], -world[o, 5], -world[o, 6]), m), height
