"""Three-vectors of the geometry kernels: always tuples, so that each function compiles once."""

from __future__ import annotations

from signorini._arrays import Array
from signorini._jit import inner_kernel

Vector = tuple[float, float, float]


@inner_kernel
def row(table: Array, i: int) -> Vector:
    """Return the first three numbers of row `i`."""
    return (table[i, 0], table[i, 1], table[i, 2])


@inner_kernel
def along(a: Vector, s: float, d: Vector) -> Vector:
    """Return ``a + s d``."""
    return (a[0] + s * d[0], a[1] + s * d[1], a[2] + s * d[2])
