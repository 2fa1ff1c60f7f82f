r"""Newton-Euler equations of unconstrained bodies over one step.

Velocities are ``(v, omega)`` in world axes. A body's freedom is a mask of world axes: planar bodies move in x, y and
turn about z, fixed bodies not at all. The mask enters only through the inverse inertia, so no planar code path exists.

The gyroscopic term of bodies that do not fly freely (:mod:`signorini.dynamics.flight`) is implicit,

.. math:: I (\omega^* - \omega) + h\, \omega^* \times I \omega^* = 0,

hence :math:`T(\omega^*) - T(\omega) = -\tfrac12 |\omega^* - \omega|_I^2 \le 0`, or explicit, as in the papers. Turning
the body about :math:`\omega^+` afterwards keeps :math:`R^T \omega^+` and with it the kinetic energy: the energy balance
closes to rounding. A body that turns by more than half a radian takes the term in several parts, where Newton's method
is sure to find the root that continues the motion.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.dynamics.constants import MOST_LEGS, NEWTON_STEPS, SPIN_ROUNDING, TURN_AT_ONCE
from signorini.math.rotation import cross, dot, matrix, rotate, unrotate
from signorini.model import Model, ModelArrays

# Ways to take the gyroscopic term, body by body.
NONE, EXPLICIT, IMPLICIT, CONSERVING, EVEN = np.arange(5, dtype=np.int64)
WAYS = {"explicit": EXPLICIT, "implicit": IMPLICIT, "conserving": CONSERVING}
"""By the words of users."""


def gyroscopic_ways(model: Model, word: str, *, joined_fly: bool = True) -> IntArray:
    """Return how each body takes the gyroscopic term if the user says `word`, (n_b,).

    Where free flight is to conserve, bodies with three equal moments, whose term is zero, take the implicit one, and so
    do joined bodies unless `joined_fly`: the joints of the papers are posed with it.
    """
    inertia, ways = model.arrays.inertia, _ways(model.arrays, WAYS[word])
    if word == "conserving":
        left = np.all(inertia == inertia[:, :1, :1] * np.eye(3), axis=(1, 2))
        if not joined_fly and model.joints.any:
            left |= model.joints.tree.of_body >= 0
        ways[(ways == CONSERVING) & left] = IMPLICIT
    return ways


def _ways(arrays: ModelArrays, way: np.int64) -> IntArray:
    """Return `way` for bodies that may turn about all axes; about a fixed axis there is no gyroscopic moment."""
    return np.where((arrays.free[:, 3:] != 0.0).all(axis=1), way, NONE)


def inverse_inertia(arrays: ModelArrays, q: Array) -> Array:
    """Return the inverse inertia of every body in world axes, restricted to its free directions, (n_b, 6, 6)."""
    M_inv = np.zeros((arrays.mass.size, 6, 6))
    _inverse_inertia(arrays.mass, arrays.inertia, arrays.free, q, M_inv)
    return M_inv


def inertia_blocks(arrays: ModelArrays, q: Array) -> Array:
    """Return the inertia of every body in world axes, (n_b, 6, 6); directions that are not free have a unit row."""
    M = np.zeros((arrays.mass.size, 6, 6))
    _inertia_blocks(arrays.mass, arrays.inertia, arrays.free, q, M)
    return M


def free_velocity(arrays: ModelArrays, q: Array, v: Array, h: float, *, implicit: bool) -> Array:
    """Return the velocities after the gyroscopic part of a step of `h` seconds, no loads, no contacts, (n_b, 6)."""
    return spun_velocity(arrays, _ways(arrays, IMPLICIT if implicit else EXPLICIT), q, v, h)


def spun_velocity(arrays: ModelArrays, ways: IntArray, q: Array, v: Array, h: float) -> Array:
    """Return the velocities after the gyroscopic part of a step by the explicit or implicit `ways`, (n_b, 6)."""
    out = v.copy()
    gyroscopic(ways, arrays.inertia, q, v, h, out)
    return out


def kinetic_energy(arrays: ModelArrays, q: Array, v: Array) -> Array:
    """Return the kinetic energy of every body in one state or many, (..., n_b) [J]; fixed bodies count as 0."""
    out = np.zeros(q.shape[:-1])
    n_b = arrays.mass.size
    states = q.reshape(-1, n_b, 7), v.reshape(-1, n_b, 6)
    _kinetic_energy(arrays.mass, arrays.inertia, *states, out.reshape(-1, n_b))
    return out


# --- kernels -----------------------------------------------------------------


@kernel
def _inverse_inertia(mass: Array, inertia: Array, free: Array, q: Array, M_inv: Array) -> None:
    """Fill `M_inv` with ``diag(1/m, (R I R^T)^-1)`` on the free directions."""
    A = np.zeros((3, 3))
    for b in range(mass.size):
        if mass[b] == 0.0:
            continue
        for k in range(3):
            M_inv[b, k, k] = free[b, k] / mass[b]
        world_inertia(inertia[b], free[b], q[b], A)
        c00 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
        c01 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
        c02 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
        c11 = A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]
        c12 = A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1]
        c22 = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
        d = 1.0 / (A[0, 0] * c00 + A[0, 1] * c01 + A[0, 2] * c02)
        B = ((c00, c01, c02), (c01, c11, c12), (c02, c12, c22))
        for i in range(3):
            for j in range(3):
                M_inv[b, 3 + i, 3 + j] = d * B[i][j] * free[b, 3 + i] * free[b, 3 + j]


@kernel
def _inertia_blocks(mass: Array, inertia: Array, free: Array, q: Array, M: Array) -> None:
    """Fill `M` with ``diag(m, R I R^T)`` on the free directions."""
    A = np.zeros((3, 3))
    for b in range(mass.size):
        if mass[b] == 0.0:
            continue
        world_inertia(inertia[b], free[b], q[b], A)
        for i in range(3):
            M[b, i, i] = mass[b]
            for j in range(3):
                M[b, 3 + i, 3 + j] = A[i, j]


@inner_kernel
def world_inertia(inertia: Array, free: Array, q: Array, out: Array) -> None:
    """Fill `out` with ``R I R^T``.

    A direction that is not free becomes a unit row and column: the rest is a block of its own.
    """
    R = matrix((q[3], q[4], q[5], q[6]))
    for i in range(3):
        for j in range(i + 1):
            s = 0.0
            for k in range(3):
                for l in range(3):
                    s += R[3 * i + k] * inertia[k, l] * R[3 * j + l]
            if free[3 + i] * free[3 + j] == 0.0:
                s = 1.0 if i == j else 0.0
            out[i, j] = s
            out[j, i] = s


@inner_kernel
def apply3(A: Array, x: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return ``A x``."""
    return (
        A[0, 0] * x[0] + A[0, 1] * x[1] + A[0, 2] * x[2],
        A[1, 0] * x[0] + A[1, 1] * x[1] + A[1, 2] * x[2],
        A[2, 0] * x[0] + A[2, 1] * x[1] + A[2, 2] * x[2],
    )


@kernel
def gyroscopic(ways: IntArray, inertia: Array, q: Array, v: Array, h: float, out: Array) -> None:
    """Advance the spin of every body that takes the gyroscopic term by the explicit or the implicit way."""
    for b in range(ways.shape[0]):
        if ways[b] != IMPLICIT and ways[b] != EXPLICIT:
            continue
        I = inertia[b]
        e = (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
        x = unrotate(e, (v[b, 3], v[b, 4], v[b, 5]))
        if ways[b] == IMPLICIT:
            legs = min(MOST_LEGS, np.ceil(h * np.sqrt(dot(x, x)) / TURN_AT_ONCE))
            y = x
            for _ in range(int(legs)):
                y, _ = spin(I, y, h / legs, 0.0)
        else:
            g = cross(x, apply3(I, x))
            y = solve_inertia(I, (-h * g[0], -h * g[1], -h * g[2]))
            y = (x[0] + y[0], x[1] + y[1], x[2] + y[2])
        w = rotate(e, y)
        out[b, 3] = w[0]
        out[b, 4] = w[1]
        out[b, 5] = w[2]


@inner_kernel
def spin(I: Array, x: tuple[float, float, float], k: float, near: float) -> tuple[tuple[float, float, float], bool]:
    """Solve ``I (y - x) + k y x I y = 0`` for y by Newton's method, to rounding or an error of `near` |y|.

    Return y and whether it is found.
    """
    y = x
    Ix = apply3(I, x)
    last = np.inf
    for _ in range(NEWTON_STEPS):
        Iy = apply3(I, y)
        g = cross(y, Iy)
        r = (Ix[0] - Iy[0] - k * g[0], Ix[1] - Iy[1] - k * g[1], Ix[2] - Iy[2] - k * g[2])
        size = abs(r[0]) + abs(r[1]) + abs(r[2])
        if size >= 0.5 * last and size <= SPIN_ROUNDING * (abs(Ix[0]) + abs(Ix[1]) + abs(Ix[2])):
            return y, True
        last = size
        # -dr/dy = I + k ([y]x I - [I y]x)
        A = (
            I[0, 0] + k * (y[1] * I[2, 0] - y[2] * I[1, 0]),
            I[0, 1] + k * (y[1] * I[2, 1] - y[2] * I[1, 1] + Iy[2]),
            I[0, 2] + k * (y[1] * I[2, 2] - y[2] * I[1, 2] - Iy[1]),
            I[1, 0] + k * (y[2] * I[0, 0] - y[0] * I[2, 0] - Iy[2]),
            I[1, 1] + k * (y[2] * I[0, 1] - y[0] * I[2, 1]),
            I[1, 2] + k * (y[2] * I[0, 2] - y[0] * I[2, 2] + Iy[0]),
            I[2, 0] + k * (y[0] * I[1, 0] - y[1] * I[0, 0] + Iy[1]),
            I[2, 1] + k * (y[0] * I[1, 1] - y[1] * I[0, 1] - Iy[0]),
            I[2, 2] + k * (y[0] * I[1, 2] - y[1] * I[0, 2]),
        )
        step = _solve3(A, r)
        y = (y[0] + step[0], y[1] + step[1], y[2] + step[2])
        # What is left is k I^-1 (step x I step): no more than k |step|^2, by the triangle inequality of moments.
        left = k * dot(step, step)
        if left * left < near * near * dot(y, y):
            return y, True
    return y, False


@inner_kernel
def solve_inertia(I: Array, b: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return ``I^-1 b``."""
    return _solve3((I[0, 0], I[0, 1], I[0, 2], I[1, 0], I[1, 1], I[1, 2], I[2, 0], I[2, 1], I[2, 2]), b)


@inner_kernel
def _solve3(A: tuple[float, ...], b: tuple[float, float, float]) -> tuple[float, float, float]:
    """Solve a 3x3 system, rows of `A` one after another, by Cramer's rule."""
    c0 = cross((A[3], A[4], A[5]), (A[6], A[7], A[8]))
    c1 = cross((A[6], A[7], A[8]), (A[0], A[1], A[2]))
    c2 = cross((A[0], A[1], A[2]), (A[3], A[4], A[5]))
    d = 1.0 / (A[0] * c0[0] + A[1] * c0[1] + A[2] * c0[2])
    return (
        d * (c0[0] * b[0] + c1[0] * b[1] + c2[0] * b[2]),
        d * (c0[1] * b[0] + c1[1] * b[1] + c2[1] * b[2]),
        d * (c0[2] * b[0] + c1[2] * b[1] + c2[2] * b[2]),
    )


@inner_kernel
def body_energy(mass: float, I: Array, e: tuple[float, float, float, float], v: tuple[float, ...]) -> float:
    """Return the kinetic energy of one body at velocity v (6)."""
    x = unrotate(e, (v[3], v[4], v[5]))
    Ix = apply3(I, x)
    return 0.5 * (mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + x[0] * Ix[0] + x[1] * Ix[1] + x[2] * Ix[2])


@kernel
def _kinetic_energy(mass: Array, inertia: Array, q: Array, v: Array, out: Array) -> None:
    """Fill `out` with ``(m |v|^2 + omega . I omega) / 2``."""
    for l in range(out.shape[0]):
        for b in range(mass.size):
            e, w = q[l, b, 3:], v[l, b]
            out[l, b] = body_energy(mass[b], inertia[b], (e[0], e[1], e[2], e[3]), (w[0], w[1], w[2], w[3], w[4], w[5]))
