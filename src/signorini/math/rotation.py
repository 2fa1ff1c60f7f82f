"""Three-vectors, unit quaternions (w, x, y, z) and 3x3 matrices, written out for registers.

Quaternions turn body axes into world axes. ``R @ x`` and ``np.cross`` would allocate, call BLAS and compile slowly, so
kernels take anything indexable and return tuples.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import inner_kernel, kernel

Vector = Array | tuple[float, ...]


@kernel
def dot(a: Vector, b: Vector) -> float:
    """Return ``a . b`` of two 3-vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> tuple[float, float, float]:
    """Return ``a x b``."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def rotate(e: Vector, x: Vector) -> tuple[float, float, float]:
    """Return ``R(e) x``: the body vector `x` seen from the world."""
    t = cross((e[1], e[2], e[3]), x)
    s = cross((e[1], e[2], e[3]), t)
    return (
        x[0] + 2.0 * (e[0] * t[0] + s[0]),
        x[1] + 2.0 * (e[0] * t[1] + s[1]),
        x[2] + 2.0 * (e[0] * t[2] + s[2]),
    )


def rotated(e: Array, x: Array) -> Array:
    """Return many vectors x (n, 3) turned by quaternions e (n, 4)."""
    t = 2.0 * np.cross(e[:, 1:], x)
    out: Array = x + e[:, :1] * t + np.cross(e[:, 1:], t)
    return out


@kernel
def unrotate(e: Vector, x: Vector) -> tuple[float, float, float]:
    """Return ``R(e)^T x``: the world vector `x` seen from the body."""
    return rotate((e[0], -e[1], -e[2], -e[3]), x)


@kernel
def multiply(a: Vector, b: Vector) -> tuple[float, float, float, float]:
    """Return the quaternion product ``a b`` (first turn by b, then by a)."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inner_kernel
def normalized(e: Vector) -> tuple[float, float, float, float]:
    """Return ``e / |e|``."""
    n = np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    return (e[0] / n, e[1] / n, e[2] / n, e[3] / n)


@inner_kernel
def unit(e: Vector) -> tuple[float, float, float, float]:
    """Return ``e / |e|`` for e that has length 1 but for rounding.

    Numbers are denser below 1 than above it, so that a quotient by the root is too long by 1e-16 on the average, and
    1e5 steps would add this up. Here the defect is summed from small differences, which have no such bias.
    """
    a, b = (0.25 - e[0] * e[0]) + (0.25 - e[1] * e[1]), (0.25 - e[2] * e[2]) + (0.25 - e[3] * e[3])
    s = 0.5 * (a + b)
    return (e[0] + s * e[0], e[1] + s * e[1], e[2] + s * e[2], e[3] + s * e[3])


@kernel
def turn_exact(e: Vector, omega: Vector, h: float) -> tuple[float, float, float, float]:
    """Return ``exp(h omega) e``: the orientation after turning at the constant world spin `omega` for `h` seconds."""
    half = 0.5 * h * np.sqrt(dot(omega, omega))
    # sin(half)/half by its series where the quotient would lose digits; the next term is below rounding there.
    s = 0.5 * h * (np.sin(half) / half if half > 1e-4 else 1.0 - half * half / 6.0)
    return normalized(multiply((np.cos(half), s * omega[0], s * omega[1], s * omega[2]), e))


@kernel
def turn_euler(e: Vector, omega: Vector, h: float) -> tuple[float, float, float, float]:
    """Return ``e + h G(e) omega`` renormalised: S1 eq. (26)."""
    return normalized(multiply((1.0, 0.5 * h * omega[0], 0.5 * h * omega[1], 0.5 * h * omega[2]), e))


@kernel
def matrix(e: Vector) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Return the rotation matrix of `e`, row by row."""
    w, x, y, z = e[0], e[1], e[2], e[3]
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@kernel
def tangent_frame(n: Vector) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return tangents `t`, `o` of the unit normal `n`.

    t is world x projected on the tangent plane (world y where ``|n_x| > 0.9``), ``o = n x t``.
    """
    # projection of a unit axis a: a - (a.n) n
    t = (
        (-n[1] * n[0], 1.0 - n[1] * n[1], -n[1] * n[2])
        if abs(n[0]) > 0.9
        else (1.0 - n[0] * n[0], -n[0] * n[1], -n[0] * n[2])
    )
    length = np.sqrt(dot(t, t))
    t = (t[0] / length, t[1] / length, t[2] / length)
    return t, cross(n, t)
