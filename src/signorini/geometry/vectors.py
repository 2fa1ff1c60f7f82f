"""Three-vectors of the geometry kernels: always tuples, so that each function compiles once."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import inner_kernel
from signorini.math.rotation import cross, dot

Vector = tuple[float, float, float]


@inner_kernel
def row(table: Array, i: int) -> Vector:
    """Return the first three numbers of row `i`."""
    return (table[i, 0], table[i, 1], table[i, 2])


@inner_kernel
def along(a: Vector, s: float, d: Vector) -> Vector:
    """Return ``a + s d``."""
    return (a[0] + s * d[0], a[1] + s * d[1], a[2] + s * d[2])


@inner_kernel
def across(n: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that make a right-handed frame with the unit vector `n`."""
    t = (-n[1], n[0], 0.0) if abs(n[2]) < 0.7 else (0.0, -n[2], n[1])
    f = 1.0 / np.sqrt(dot(t, t))
    t = (f * t[0], f * t[1], f * t[2])
    return t, cross(n, t)


@inner_kernel
def turned(R: tuple[float, float, float, float, float, float, float, float, float], x: Vector) -> Vector:
    """Return ``R x`` of a matrix given row by row."""
    return (
        R[0] * x[0] + R[1] * x[1] + R[2] * x[2],
        R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
        R[6] * x[0] + R[7] * x[1] + R[8] * x[2],
    )
