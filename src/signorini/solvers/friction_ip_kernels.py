r"""Kernels of the interior point for Coulomb friction, contact by contact.

Unknowns in equilibrated units (``W_nn = 1``): ``x = (mu r_n, r_T)`` in the Lorentz cone L and the velocity u with
``u_n > 0``; the dual point is ``z(u) = (u_n/mu + |u_T|, u_T)`` in L, De Saxcé's term included. The central path is
``x o z = sigma e``. Nesterov-Todd scaling: ``lambda = Q^(1/2) z = Q^(-1/2) x`` with

    Q^(1/2) = eta [[w_0, w_T^T], [w_T, I + w_T w_T^T/(1 + w_0)]],  w_0^2 - |w_T|^2 = 1.

A contact without friction is the scalar pair ``r_n u_n = sigma``: x = (r_n, 0, 0), z = (u_n, 0, 0).
"""

from __future__ import annotations

import math

from signorini._arrays import Array
from signorini._jit import kernel

Triple = tuple[float, float, float]


@kernel
def scale_contacts(x: Array, u: Array, mu: Array, z: Array, scaling: Array, S: Array) -> float:
    """Set z(u), the scaling (eta, w) and ``S = D Q dz/du`` of all contacts; return the sum of ``x . z``."""
    total = 0.0
    for c in range(mu.shape[0]):
        m = mu[c]
        for i in range(3):
            for j in range(3):
                S[c, i, j] = 0.0
        if m == 0.0:
            z[c, 0] = u[c, 0]
            z[c, 1] = 0.0
            z[c, 2] = 0.0
            scaling[c, 0] = math.sqrt(x[c, 0] / u[c, 0])
            S[c, 0, 0] = x[c, 0] / u[c, 0]
            total += x[c, 0] * u[c, 0]
            continue
        slip = math.sqrt(u[c, 1] * u[c, 1] + u[c, 2] * u[c, 2])
        z[c, 0] = u[c, 0] / m + slip
        z[c, 1] = u[c, 1]
        z[c, 2] = u[c, 2]
        t = math.sqrt(x[c, 1] * x[c, 1] + x[c, 2] * x[c, 2])
        s_x = math.sqrt((x[c, 0] - t) * (x[c, 0] + t))
        s_z = math.sqrt(u[c, 0] / m * (z[c, 0] + slip))  # z_0 - |z_T| is u_n/mu without cancellation
        xz = x[c, 0] * z[c, 0] + x[c, 1] * z[c, 1] + x[c, 2] * z[c, 2]
        total += xz
        g = 0.5 / math.sqrt(0.5 * (1.0 + xz / (s_x * s_z)))
        w0 = g * (x[c, 0] / s_x + z[c, 0] / s_z)
        w1 = g * (x[c, 1] / s_x - z[c, 1] / s_z)
        w2 = g * (x[c, 2] / s_x - z[c, 2] / s_z)
        scaling[c, 0] = math.sqrt(s_x / s_z)
        scaling[c, 1] = w0
        scaling[c, 2] = w1
        scaling[c, 3] = w2
        e = s_x / s_z
        a1 = u[c, 1] / slip if slip > 0.0 else 0.0
        a2 = u[c, 2] / slip if slip > 0.0 else 0.0
        q00 = e * (2.0 * w0 * w0 - 1.0)
        q01 = 2.0 * e * w0 * w1
        q02 = 2.0 * e * w0 * w2
        q12 = 2.0 * e * w1 * w2
        S[c, 0, 0] = q00 / (m * m)
        S[c, 0, 1] = (q00 * a1 + q01) / m
        S[c, 0, 2] = (q00 * a2 + q02) / m
        S[c, 1, 0] = q01 / m
        S[c, 1, 1] = q01 * a1 + e * (2.0 * w1 * w1 + 1.0)
        S[c, 1, 2] = q01 * a2 + q12
        S[c, 2, 0] = q02 / m
        S[c, 2, 1] = q02 * a1 + q12
        S[c, 2, 2] = q02 * a2 + e * (2.0 * w2 * w2 + 1.0)
    return total


@kernel
def _scaled(eta: float, w0: float, w1: float, w2: float, v0: float, v1: float, v2: float) -> Triple:
    """Return ``Q^(1/2) v``; with ``1/eta, w_0, -w_T`` the inverse."""
    t = w1 * v1 + w2 * v2
    f = v0 + t / (1.0 + w0)
    return (eta * (w0 * v0 + t), eta * (v1 + w1 * f), eta * (v2 + w2 * f))


@kernel
def centring(
    x: Array,
    u: Array,
    z: Array,
    mu: Array,
    scaling: Array,
    target: float,
    dx: Array,
    du: Array,
    second: bool,
    out: Array,
) -> None:
    r"""Set ``D Q^(1/2) (lambda \ (target e - lambda o lambda - correction))``, the pull to the central path.

    The correction, of second order, is that of Mehrotra for the predicted step (dx, du); used if `second`.
    """
    for c in range(mu.shape[0]):
        m = mu[c]
        if m == 0.0:
            wanted = target - x[c, 0] * u[c, 0] - (dx[c, 0] * du[c, 0] if second else 0.0)
            out[c, 0] = wanted / u[c, 0]
            out[c, 1] = 0.0
            out[c, 2] = 0.0
            continue
        eta = scaling[c, 0]
        w0 = scaling[c, 1]
        w1 = scaling[c, 2]
        w2 = scaling[c, 3]
        l0, l1, l2 = _scaled(eta, w0, w1, w2, z[c, 0], z[c, 1], z[c, 2])
        r0 = target - (l0 * l0 + l1 * l1 + l2 * l2)
        r1 = -2.0 * l0 * l1
        r2 = -2.0 * l0 * l2
        if second:
            slip = math.sqrt(u[c, 1] * u[c, 1] + u[c, 2] * u[c, 2])
            along = (u[c, 1] * du[c, 1] + u[c, 2] * du[c, 2]) / slip if slip > 0.0 else 0.0
            a0, a1, a2 = _scaled(1.0 / eta, w0, -w1, -w2, dx[c, 0], dx[c, 1], dx[c, 2])
            b0, b1, b2 = _scaled(eta, w0, w1, w2, du[c, 0] / m + along, du[c, 1], du[c, 2])
            r0 -= a0 * b0 + a1 * b1 + a2 * b2
            r1 -= a0 * b1 + b0 * a1
            r2 -= a0 * b2 + b0 * a2
        t = math.sqrt(l1 * l1 + l2 * l2)
        det = (l0 - t) * (l0 + t)
        lr = l1 * r1 + l2 * r2
        y0 = (l0 * r0 - lr) / det
        y1 = (-l1 * r0 + (det * r1 + l1 * lr) / l0) / det
        y2 = (-l2 * r0 + (det * r2 + l2 * lr) / l0) / det
        y0, y1, y2 = _scaled(eta, w0, w1, w2, y0, y1, y2)
        out[c, 0] = y0 / m
        out[c, 1] = y1
        out[c, 2] = y2


@kernel
def longest_step(x: Array, dx: Array, u: Array, du: Array, mu: Array) -> float:
    """Return the largest a <= 1000 for which ``x + a dx`` stays in the cone and ``u_n + a du_n`` positive."""
    longest = 1000.0
    for c in range(mu.shape[0]):
        if du[c, 0] < 0.0:
            longest = min(longest, -u[c, 0] / du[c, 0])
        if dx[c, 0] < 0.0:
            longest = min(longest, -x[c, 0] / dx[c, 0])
        if mu[c] == 0.0:
            continue
        # smallest positive root of A a^2 + 2 B a + C = 0, C > 0
        t = math.sqrt(x[c, 1] * x[c, 1] + x[c, 2] * x[c, 2])
        C = (x[c, 0] - t) * (x[c, 0] + t)
        B = x[c, 0] * dx[c, 0] - x[c, 1] * dx[c, 1] - x[c, 2] * dx[c, 2]
        A = dx[c, 0] * dx[c, 0] - dx[c, 1] * dx[c, 1] - dx[c, 2] * dx[c, 2]
        disc = B * B - A * C
        if disc < 0.0:
            continue
        root = math.sqrt(disc)
        if B >= 0.0:
            if A < 0.0:
                longest = min(longest, -(B + root) / A)
        else:
            longest = min(longest, C / (root - B))
    return longest


@kernel
def gap_after(x: Array, dx: Array, u: Array, du: Array, mu: Array, a: float) -> float:
    """Return the sum of ``x . z`` after a step of length `a`, with the exact z."""
    total = 0.0
    for c in range(mu.shape[0]):
        u0 = u[c, 0] + a * du[c, 0]
        if mu[c] == 0.0:
            total += (x[c, 0] + a * dx[c, 0]) * u0
            continue
        u1 = u[c, 1] + a * du[c, 1]
        u2 = u[c, 2] + a * du[c, 2]
        total += (x[c, 0] + a * dx[c, 0]) * (u0 / mu[c] + math.sqrt(u1 * u1 + u2 * u2))
        total += (x[c, 1] + a * dx[c, 1]) * u1 + (x[c, 2] + a * dx[c, 2]) * u2
    return total
