r"""Kernels of the nonsmooth Gauss-Seidel method: the exact solution of one contact, and sweeps over all.

One contact with the others held fixed: ``u = u_old + W_cc (p - p_old)``. With the Schur complement
``S = W_TT - W_Tn W_nT / W_nn`` and ``t = q_T - W_Tn q_n / W_nn``, ``q = u_old - W_cc p_old``:

- ``q_n >= 0``: open, p = 0;
- ``p_T = -S^-1 t`` inside the disc ``|p_T| <= mu p_n``, ``p_n = -(q_n + W_nT p_T)/W_nn``: stick;
- else slip, ``(S + lambda I) p_T = -t`` with the lambda > 0 for which ``|p_T| = mu p_n`` (``u_T = -lambda p_T``).

S vanishes where a contact can move in one direction only, as on a linkage. Then it slips at t whatever friction does,
``p_n = free / (1 - mu a . t/|t|)``, and there is no solution where friction presses harder than it is pressed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.math.cones import natural_square
from signorini.problems.connections import apply_connections

# Columns of the array `local` (n_c, 15):
# 0 1/W_nn, 1-2 W_nT/W_nn, 3-4 W_Tn/W_nn, 5-8 S by rows, 9-12 its (pseudo) inverse, 13 kind, 14 size of S
_REGULAR = 0.0
_RANK_ONE = 1.0  # S is singular: a planar mask, or a contact that cannot move along one tangent
_IMMOVABLE = 2.0  # W_nn vanishes: nothing answers an impulse
_ROUND = 3.0  # S is a multiple of the identity, W_nT = 0, as for spheres: slip is a projection on the disc
_ISOTROPIC = 1e-14  # relative: what differs by less is rounding
_SINGULAR = 1e-13  # det S below this times |S|^2 is rounding, and so is |S| below this times |W_TT|

# Long sums are added up piece by piece, so that they are the same to the last bit where threads share the pieces.
CONTACTS_AT_ONCE, NUMBERS_AT_ONCE, MOST_PIECES = 512, 1024, 256


class Swept(NamedTuple):
    """A problem as it is swept over: ``u = G y + load + compliance p`` with ``y = S p``, block by block."""

    gather_start: IntArray
    """Where the blocks of G of each contact begin, (n_c + 1,)."""
    gather_index: IntArray
    """Rows of y that they read."""
    gather: Array
    """(any, 3, 3)"""
    scatter_start: IntArray
    scatter_index: IntArray
    scatter: Array
    """The same of S, each block transposed; for a symmetric W they are those of G."""
    load: Array
    """(n_c, 3)"""
    mu: Array
    rho: Array
    local: Array
    """(n_c, 15), the compliance included, as in `rho`."""
    compliance: Array
    """Added to the diagonal of W, (n_c, 3)."""


class Course(NamedTuple):
    """Where the sweeps over a problem are, and the memory that they need."""

    state: Array
    """y and p in one piece, so that they are saved and combined together."""
    y: Array
    p: Array
    """Views of it, (any, 3) and (n_c, 3)."""
    best_p: Array
    """The best impulses met, (n_c, 3)."""
    slip: Array
    """(n_c,)"""
    scratch: Array
    """At least as long as (window + 1) states and (window) y."""


@kernel
def local_data(blocks: Array, rho: Array, local: Array) -> None:
    """Fill the array `local` (n_c, 15) of all contacts from the diagonal blocks of W."""
    for c in range(blocks.shape[0]):
        for k in range(15):
            local[c, k] = 0.0
        W_nn = blocks[c, 0, 0]
        if not W_nn * rho[c] > 0.5:  # rho is 1/W_nn except where W_nn counts as zero
            local[c, 13] = _IMMOVABLE
            continue
        i_n = 1.0 / W_nn
        local[c, 0] = i_n
        local[c, 1] = blocks[c, 0, 1] * i_n
        local[c, 2] = blocks[c, 0, 2] * i_n
        local[c, 3] = blocks[c, 1, 0] * i_n
        local[c, 4] = blocks[c, 2, 0] * i_n
        S11 = blocks[c, 1, 1] - blocks[c, 1, 0] * local[c, 1]
        S12 = blocks[c, 1, 2] - blocks[c, 1, 0] * local[c, 2]
        S21 = blocks[c, 2, 1] - blocks[c, 2, 0] * local[c, 1]
        S22 = blocks[c, 2, 2] - blocks[c, 2, 0] * local[c, 2]
        local[c, 5] = S11
        local[c, 6] = S12
        local[c, 7] = S21
        local[c, 8] = S22
        square = S11 * S11 + S12 * S12 + S21 * S21 + S22 * S22
        whole = blocks[c, 1, 1] ** 2 + blocks[c, 1, 2] ** 2 + blocks[c, 2, 1] ** 2 + blocks[c, 2, 2] ** 2
        if square <= _SINGULAR**2 * whole:  # else the inverse of rounding would be an impulse beyond all measure
            for k in range(5, 9):
                local[c, k] = 0.0
            local[c, 13] = _RANK_ONE
            continue
        local[c, 14] = math.sqrt(square)
        det = S11 * S22 - S12 * S21
        if det > _SINGULAR * square:
            local[c, 9] = S22 / det
            local[c, 10] = -S12 / det
            local[c, 11] = -S21 / det
            local[c, 12] = S11 / det
            skew = abs(blocks[c, 0, 1]) + abs(blocks[c, 0, 2]) + abs(blocks[c, 1, 0]) + abs(blocks[c, 2, 0])
            skew += abs(S12) + abs(S21) + abs(S11 - S22)
            if skew <= _ISOTROPIC * (W_nn + S11):
                local[c, 13] = _ROUND
        else:
            local[c, 13] = _RANK_ONE
            if square > 0.0:  # the pseudo-inverse of a matrix of rank one is its transpose over |S|^2
                local[c, 9] = S11 / square
                local[c, 10] = S21 / square
                local[c, 11] = S12 / square
                local[c, 12] = S22 / square


@inner_kernel
def solve_contact(
    s0: float, s1: float, s2: float, o0: float, o1: float, o2: float, mu: float, local: Array, c: int, slip: float
) -> tuple[float, float, float, float]:
    """Return the impulse of contact `c` and its slip multiplier; velocity `s` was met with impulse `o`."""
    if local[c, 13] == _IMMOVABLE:
        return (0.0, 0.0, 0.0, slip)
    i_n = local[c, 0]
    a1 = local[c, 1]
    a2 = local[c, 2]
    free = o0 + a1 * o1 + a2 * o2 - i_n * s0  # normal impulse without friction, -q_n/W_nn
    if free <= 0.0:
        return (0.0, 0.0, 0.0, slip)
    if mu == 0.0:
        return (free, 0.0, 0.0, slip)
    t1 = s1 - local[c, 3] * s0
    t2 = s2 - local[c, 4] * s0
    d1 = -(local[c, 9] * t1 + local[c, 10] * t2)
    d2 = -(local[c, 11] * t1 + local[c, 12] * t2)
    p1 = o1 + d1
    p2 = o2 + d2
    p0 = free - a1 * p1 - a2 * p2
    if local[c, 13] == _ROUND:
        size = math.sqrt(p1 * p1 + p2 * p2)
        if size > mu * p0:
            p1 *= mu * p0 / size
            p2 *= mu * p0 / size
        return (p0, p1, p2, slip)
    if p0 >= 0.0 and p1 * p1 + p2 * p2 <= mu * mu * p0 * p0:
        if local[c, 13] == _REGULAR:
            return (p0, p1, p2, slip)
        left = abs(t1 + local[c, 5] * d1 + local[c, 6] * d2) + abs(t2 + local[c, 7] * d1 + local[c, 8] * d2)
        if left <= 1e-13 * (local[c, 14] * (abs(p1) + abs(p2) + p0) + abs(s1) + abs(s2)):
            return (p0, p1, p2, slip)
    if local[c, 14] == 0.0:
        speed = math.sqrt(t1 * t1 + t2 * t2)
        rest = 1.0 - mu * (a1 * t1 + a2 * t2) / speed
        p0 = free / rest if rest > 0.0 else free
        size = mu * p0 / speed if rest > 0.0 else 0.0
        return (p0, -size * t1, -size * t2, slip)
    t1 -= local[c, 5] * o1 + local[c, 6] * o2
    t2 -= local[c, 7] * o1 + local[c, 8] * o2
    return _slip(free, a1, a2, t1, t2, local[c, 5], local[c, 6], local[c, 7], local[c, 8], mu, slip)


@inner_kernel
def _slip(
    free: float,
    a1: float,
    a2: float,
    t1: float,
    t2: float,
    S11: float,
    S12: float,
    S21: float,
    S22: float,
    mu: float,
    slip: float,
) -> tuple[float, float, float, float]:
    """Find the root lambda of ``|p_T(lambda)| = mu p_n(lambda)`` by Newton steps kept in a bracket."""
    low = 0.0
    high = math.inf
    if not slip > 0.0:
        slip = math.sqrt(t1 * t1 + t2 * t2) / (mu * free)
    p0 = free
    p1 = 0.0
    p2 = 0.0
    for _ in range(60):
        A11 = S11 + slip
        A22 = S22 + slip
        d = 1.0 / (A11 * A22 - S12 * S21)
        p1 = -(A22 * t1 - S12 * t2) * d
        p2 = -(A11 * t2 - S21 * t1) * d
        p0 = free - a1 * p1 - a2 * p2
        size = math.sqrt(p1 * p1 + p2 * p2)
        excess = size - mu * p0
        if not abs(excess) > 1e-15 * size:
            break
        if excess > 0.0:
            low = slip
        else:
            high = slip
        g1 = -(A22 * p1 - S12 * p2) * d  # d p_T/d lambda = -(S + lambda)^-1 p_T
        g2 = -(A11 * p2 - S21 * p1) * d
        rate = (p1 * g1 + p2 * g2) / size
        rate_n = -a1 * g1 - a2 * g2
        if p0 > 0.0:  # 1/|p_T| - 1/(mu p_n) is nearly linear in lambda
            new = slip - (1.0 / size - 1.0 / (mu * p0)) / (rate_n / (mu * p0 * p0) - rate / (size * size))
        else:
            new = slip - excess / (rate - mu * rate_n)
        if not (new > low and new < high):
            new = 0.5 * (low + high) if high < math.inf else 2.0 * slip
        if abs(new - slip) <= 1e-16 * slip:
            break
        slip = new
    return (p0, p1, p2, slip)


@inner_kernel
def sweep(problem: Swept, p: Array, slip: Array, y: Array, first: int, last: int, backward: bool) -> None:
    """Solve contact after contact from `first` to `last`, each with the newest impulses of the others, or backward.

    p, slip and y = S p are changed in place.
    """
    gather_start, gather_index, gather, scatter_start, scatter_index, scatter, load, mu, _, local, compliance = problem
    for k in range(last - first):
        c = last - 1 - k if backward else first + k
        s0 = load[c, 0]
        s1 = load[c, 1]
        s2 = load[c, 2]
        for g in range(gather_start[c], gather_start[c + 1]):
            i = gather_index[g]
            y0 = y[i, 0]
            y1 = y[i, 1]
            y2 = y[i, 2]
            s0 += gather[g, 0, 0] * y0 + gather[g, 0, 1] * y1 + gather[g, 0, 2] * y2
            s1 += gather[g, 1, 0] * y0 + gather[g, 1, 1] * y1 + gather[g, 1, 2] * y2
            s2 += gather[g, 2, 0] * y0 + gather[g, 2, 1] * y1 + gather[g, 2, 2] * y2
        o0 = p[c, 0]
        s0 += compliance[c, 0] * o0
        if o0 == 0.0 and s0 >= 0.0:
            continue  # open, and stays so
        o1 = p[c, 1]
        o2 = p[c, 2]
        s1 += compliance[c, 1] * o1
        s2 += compliance[c, 2] * o2
        p0, p1, p2, slip[c] = solve_contact(s0, s1, s2, o0, o1, o2, mu[c], local, c, slip[c])
        d0 = p0 - o0
        d1 = p1 - o1
        d2 = p2 - o2
        if d0 == 0.0 and d1 == 0.0 and d2 == 0.0:
            continue
        p[c, 0] = p0
        p[c, 1] = p1
        p[c, 2] = p2
        for g in range(scatter_start[c], scatter_start[c + 1]):
            i = scatter_index[g]
            y[i, 0] += scatter[g, 0, 0] * d0 + scatter[g, 1, 0] * d1 + scatter[g, 2, 0] * d2
            y[i, 1] += scatter[g, 0, 1] * d0 + scatter[g, 1, 1] * d1 + scatter[g, 2, 1] * d2
            y[i, 2] += scatter[g, 0, 2] * d0 + scatter[g, 1, 2] * d1 + scatter[g, 2, 2] * d2


@inner_kernel
def spread(scatter_start: IntArray, scatter_index: IntArray, scatter: Array, p: Array, y: Array) -> None:
    """Set ``y = S p`` in place."""
    for i in range(y.shape[0]):
        for j in range(3):
            y[i, j] = 0.0
    for c in range(p.shape[0]):
        p0, p1, p2 = p[c, 0], p[c, 1], p[c, 2]
        for g in range(scatter_start[c], scatter_start[c + 1]):
            i = scatter_index[g]
            for j in range(3):
                y[i, j] += scatter[g, 0, j] * p0 + scatter[g, 1, j] * p1 + scatter[g, 2, j] * p2


@inner_kernel
def set_velocities(problem: Swept, p: Array, y: Array, u: Array) -> None:
    """Set ``y = S p`` and ``u = G y + load`` in place."""
    gather_start, gather_index, gather, scatter_start, scatter_index, scatter, load, _, _, _, _ = problem
    apply_connections(gather_start, gather_index, gather, scatter_start, scatter_index, scatter, p, load, y, u)


@inner_kernel
def residual_sums(problem: Swept, p: Array, y: Array, first: int, last: int) -> tuple[float, float, float]:
    """Return the squares of the natural map, of p and of what the load would make of it, over some contacts."""
    gather_start, gather_index, gather, _, _, _, load, mu, rho, _, compliance = problem
    error, size, scale = 0.0, 0.0, 0.0
    for c in range(first, last):
        b0, b1, b2 = load[c, 0], load[c, 1], load[c, 2]
        p0, p1, p2 = p[c, 0], p[c, 1], p[c, 2]
        u0, u1, u2 = b0 + compliance[c, 0] * p0, b1 + compliance[c, 1] * p1, b2 + compliance[c, 2] * p2
        for g in range(gather_start[c], gather_start[c + 1]):
            i = gather_index[g]
            y0, y1, y2 = y[i, 0], y[i, 1], y[i, 2]
            u0 += gather[g, 0, 0] * y0 + gather[g, 0, 1] * y1 + gather[g, 0, 2] * y2
            u1 += gather[g, 1, 0] * y0 + gather[g, 1, 1] * y1 + gather[g, 1, 2] * y2
            u2 += gather[g, 2, 0] * y0 + gather[g, 2, 1] * y1 + gather[g, 2, 2] * y2
        r = rho[c]
        error += natural_square(p0, p1, p2, u0, u1, u2, mu[c], r)
        size += p0 * p0 + p1 * p1 + p2 * p2
        scale += r * r * (b0 * b0 + b1 * b1 + b2 * b2)
    return (error, size, scale)


@inner_kernel
def natural_residual(problem: Swept, p: Array, y: Array) -> float:
    """Return the natural map over p, or over what the load would make of it, from y as it stands."""
    error, size, scale, n_c = 0.0, 0.0, 0.0, problem.mu.shape[0]
    length = max(CONTACTS_AT_ONCE, (n_c + MOST_PIECES - 1) // MOST_PIECES)
    for first in range(0, n_c, length):
        last = min(first + length, n_c)
        e, s, b = residual_sums(problem, p, y, first, last)
        error, size, scale = error + e, size + s, scale + b
    scale = max(size, scale)
    return math.sqrt(error / scale) if scale > 0.0 else math.sqrt(error)
