r"""Kernels for contacts with couples: the Alart-Curnier function over groups, one contact solved, sweeps.

In equilibrated units, with ``n = r_n - u_n`` and ``t_k = r_k - u_k`` for every group k of components,

.. math:: F_n = r_n - \max(0, n), \qquad F_k = r_k - P_k(t_k), \quad P_k \text{ onto the ball of radius }
          m_k \max(0, n).

F = 0 is the law. The same Newton step solves one contact within a sweep and, elsewhere, all of them together.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.solvers.nsgs_acceleration import combination_weights

_LOCAL_STEPS = 12
_LOCAL_CYCLES = 20
_LOCAL_PROXIMAL = 1e-10  # keeps the Newton matrix of a contact regular where it cannot move in some direction


@kernel
def friction_function(u: Array, r: Array, limits: Array, starts: IntArray, F: Array) -> float:
    """Set F (n_c, rows) and return its norm."""
    total = 0.0
    for c in range(r.shape[0]):
        n = r[c, 0] - u[c, 0]
        F[c, 0] = u[c, 0] if n > 0.0 else r[c, 0]
        for k in range(starts.shape[0] - 1):
            radius = limits[c, k] * max(n, 0.0)
            size = 0.0
            for i in range(starts[k], starts[k + 1]):
                size += (r[c, i] - u[c, i]) ** 2
            size = math.sqrt(size)
            sticks = radius > 0.0 and size <= radius
            for i in range(starts[k], starts[k + 1]):
                if sticks:
                    F[c, i] = u[c, i]
                else:
                    F[c, i] = r[c, i] - (radius / size * (r[c, i] - u[c, i]) if size > 0.0 else 0.0)
        for i in range(r.shape[1]):
            total += F[c, i] * F[c, i]
    return math.sqrt(total)


@kernel
def friction_derivatives(u: Array, r: Array, limits: Array, starts: IntArray, A: Array, B: Array) -> None:
    """Set ``A = dF/du`` and ``B = dF/dr`` (n_c, rows, rows)."""
    rows = r.shape[1]
    for c in range(r.shape[0]):
        for i in range(rows):
            for j in range(rows):
                A[c, i, j] = 0.0
                B[c, i, j] = 1.0 if i == j else 0.0
        n = r[c, 0] - u[c, 0]
        if not n > 0.0:
            continue
        A[c, 0, 0] = 1.0
        B[c, 0, 0] = 0.0
        for k in range(starts.shape[0] - 1):
            radius = limits[c, k] * n
            if not radius > 0.0:
                continue
            size = 0.0
            for i in range(starts[k], starts[k + 1]):
                size += (r[c, i] - u[c, i]) ** 2
            size = math.sqrt(size)
            for i in range(starts[k], starts[k + 1]):
                if size <= radius:
                    A[c, i, i] = 1.0
                    B[c, i, i] = 0.0
                    continue
                # slip: dF = dr - kappa (I - e e^T)(dr - du) - m e (dr_n - du_n)
                e_i = (r[c, i] - u[c, i]) / size
                A[c, i, 0] = limits[c, k] * e_i
                B[c, i, 0] = -A[c, i, 0]
                for j in range(starts[k], starts[k + 1]):
                    across = ((1.0 if i == j else 0.0) - e_i * (r[c, j] - u[c, j]) / size) * radius / size
                    A[c, i, j] = across
                    B[c, i, j] -= across


@inner_kernel
def _solve_in_place(K: Array, f: Array, m: int) -> bool:
    """Put the solution of ``K x = f`` into f by elimination with partial pivoting; False if K is singular."""
    for k in range(m):
        pivot = k
        for i in range(k + 1, m):
            if abs(K[i, k]) > abs(K[pivot, k]):
                pivot = i
        if not abs(K[pivot, k]) > 0.0:
            return False
        if pivot != k:
            for j in range(m):
                K[k, j], K[pivot, j] = K[pivot, j], K[k, j]
            f[k], f[pivot] = f[pivot], f[k]
        for i in range(k + 1, m):
            factor = K[i, k] / K[k, k]
            for j in range(k + 1, m):
                K[i, j] -= factor * K[k, j]
            f[i] -= factor * f[k]
    for k in range(m - 1, -1, -1):
        for j in range(k + 1, m):
            f[k] -= K[k, j] * f[j]
        f[k] /= K[k, k]
    return True


@kernel
def add_newton_blocks(
    A: Array,
    B: Array,
    F: Array,
    start: IntArray,
    W: Array,
    positions: IntArray,
    S: Array,
    g: Array,
    blocks: Array,
) -> None:
    """Set ``S = B^-1 A`` and ``g = -B^-1 F`` of contacts with three components, and add ``S W`` to the blocks.

    `W` holds the 3x3 blocks of contact c from ``start[c]``, which go to `positions`.
    """
    K, x = np.empty((3, 3)), np.empty(3)
    for c in range(A.shape[0]):
        for column in range(4):
            for i in range(3):
                x[i] = -F[c, i] if column == 3 else A[c, i, column]
                for j in range(3):
                    K[i, j] = B[c, i, j]
            _solve_in_place(K, x, 3)  # never singular: 1, or the proximal weight, on its diagonal
            for i in range(3):
                if column == 3:
                    g[c, i] = x[i]
                else:
                    S[c, i, column] = x[i]
        for k in range(start[c], start[c + 1]):
            at = positions[k]
            for i in range(3):
                for j in range(3):
                    blocks[at, i, j] += S[c, i, 0] * W[k, 0, j] + S[c, i, 1] * W[k, 1, j] + S[c, i, 2] * W[k, 2, j]


@kernel
def left_by_step(S: Array, g: Array, dr: Array, du: Array) -> Array:
    """Return ``g - S du - dr``."""
    left = g - dr
    for c in range(S.shape[0]):
        for i in range(3):
            left[c, i] -= S[c, i, 0] * du[c, 0] + S[c, i, 1] * du[c, 1] + S[c, i, 2] * du[c, 2]
    return left


@inner_kernel
def _contact_velocity(block: Array, q: Array, x: Array, u: Array) -> None:
    """Set ``u = block x + q``; x, u (1, rows)."""
    for i in range(q.shape[0]):
        s = q[i]
        for j in range(q.shape[0]):
            s += block[i, j] * x[0, j]
        u[0, i] = s


@inner_kernel
def solve_extended_contact(
    block: Array,
    q: Array,
    limits: Array,
    starts: IntArray,
    old: Array,
    x: Array,
    u: Array,
    F: Array,
    A: Array,
    B: Array,
    K: Array,
) -> None:
    """Solve one contact with velocity ``block x + q`` from `old`: Newton, else sweeps over its groups."""
    m = q.shape[0]
    scale = 0.0
    for i in range(m):
        x[0, i] = old[i]
        scale = max(scale, abs(q[i]), abs(old[i]))
    if q[0] >= 0.0:
        for i in range(m):
            x[0, i] = 0.0
        return
    for _ in range(_LOCAL_STEPS):
        _contact_velocity(block, q, x, u)
        if friction_function(u, x, limits, starts, F) <= 1e-14 * scale:
            return
        friction_derivatives(u, x, limits, starts, A, B)
        for i in range(m):
            for j in range(m):
                s = B[0, i, j] + _LOCAL_PROXIMAL * A[0, i, j]
                for l in range(m):
                    s += A[0, i, l] * block[l, j]
                K[i, j] = s
        if not _solve_in_place(K, F[0], m):
            break
        for i in range(m):
            x[0, i] -= F[0, i]
    _contact_velocity(block, q, x, u)
    if friction_function(u, x, limits, starts, F) <= 1e-9 * scale:
        return
    for i in range(m):
        x[0, i] = old[i]
    for _ in range(_LOCAL_CYCLES):
        _contact_velocity(block, q, x, u)
        x[0, 0] = max(0.0, x[0, 0] - u[0, 0] / block[0, 0])
        for k in range(starts.shape[0] - 1):
            _contact_velocity(block, q, x, u)
            trace = 0.0
            for i in range(starts[k], starts[k + 1]):
                trace += block[i, i]
            size = 0.0
            for i in range(starts[k], starts[k + 1]):
                x[0, i] -= u[0, i] / trace if trace > 0.0 else u[0, i]
                size += x[0, i] * x[0, i]
            size = math.sqrt(size)
            radius = limits[0, k] * x[0, 0]
            if size > radius:
                for i in range(starts[k], starts[k + 1]):
                    x[0, i] *= radius / size


@kernel
def extended_sweeps(
    indptr: IntArray,
    indices: IntArray,
    data: Array,
    b: Array,
    blocks: Array,
    limits: Array,
    starts: IntArray,
    r: Array,
    count: int,
    window: int,
) -> None:
    """Do `count` double sweeps (to and fro) from r, in place, combined by Anderson acceleration.

    An extrapolated point whose next change is more than twice as large is undone and the memory is cleared.
    """
    n_c, m = r.shape
    x, u, F, bounds = np.empty((1, m)), np.empty((1, m)), np.empty((1, m)), np.empty((1, limits.shape[1]))
    A, B, K = np.empty((1, m, m)), np.empty((1, m, m)), np.empty((m, m))
    q, flat = np.empty(m), r.reshape(n_c * m)
    before = np.empty((n_c, m))
    points, changes = np.empty((window, n_c, m)), np.empty((window, n_c, m))
    gram, weights = np.empty((window, window)), np.empty(window)
    factor = np.zeros_like(gram)
    filled = 0
    last = 0
    extrapolated = False
    last_change = math.inf
    for _ in range(count):
        for c in range(n_c):
            for i in range(m):
                before[c, i] = r[c, i]
        for visit in range(2 * n_c):
            c = visit if visit < n_c else 2 * n_c - 1 - visit
            for i in range(m):
                s = b[c, i]
                for g in range(indptr[m * c + i], indptr[m * c + i + 1]):
                    s += data[g] * flat[indices[g]]
                for j in range(m):
                    s -= blocks[c, i, j] * r[c, j]
                q[i] = s
            for k in range(limits.shape[1]):
                bounds[0, k] = limits[c, k]
            solve_extended_contact(blocks[c], q, bounds, starts, r[c], x, u, F, A, B, K)
            for i in range(m):
                r[c, i] = x[0, i]
        change = 0.0
        for c in range(n_c):
            for i in range(m):
                change += (r[c, i] - before[c, i]) ** 2
        if extrapolated and change > 4.0 * last_change:
            for c in range(n_c):
                for i in range(m):
                    r[c, i] = points[last, c, i]
            filled = 0
            extrapolated = False
            continue
        last_change = change
        last = last + 1 if filled > 0 and last + 1 < window else 0
        filled = min(filled + 1, window)
        for c in range(n_c):
            for i in range(m):
                points[last, c, i] = r[c, i]
                changes[last, c, i] = r[c, i] - before[c, i]
        for k in range(filled):
            s = 0.0
            for c in range(n_c):
                for i in range(m):
                    s += changes[last, c, i] * changes[k, c, i]
            gram[last, k] = s
            gram[k, last] = s
        extrapolated = filled >= 2 and combination_weights(gram, filled, factor, weights)
        if extrapolated:
            for c in range(n_c):
                for i in range(m):
                    s = 0.0
                    for k in range(filled):
                        s += weights[k] * points[k, c, i]
                    r[c, i] = s
    if extrapolated:  # end with what a sweep made, not with an extrapolation that nothing has checked
        for c in range(n_c):
            for i in range(m):
                r[c, i] = points[last, c, i]
