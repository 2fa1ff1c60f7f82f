r"""Kernels of the nonsmooth Gauss-Seidel method: the exact solution of one contact, sweeps, Anderson acceleration.

One contact with the others held fixed: ``u = u_old + W_cc (p - p_old)``. With the Schur complement
``S = W_TT - W_Tn W_nT / W_nn`` and ``t = q_T - W_Tn q_n / W_nn``, ``q = u_old - W_cc p_old``:

- ``q_n >= 0``: open, p = 0;
- ``p_T = -S^-1 t`` inside the disc ``|p_T| <= mu p_n``, ``p_n = -(q_n + W_nT p_T)/W_nn``: stick;
- else slip, ``(S + lambda I) p_T = -t`` with the lambda > 0 for which ``|p_T| = mu p_n`` (``u_T = -lambda p_T``).
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.math.cones import natural_norms
from signorini.problems.couplings import apply_couplings

# Columns of the array `local` (n_c, 15):
# 0 1/W_nn, 1-2 W_nT/W_nn, 3-4 W_Tn/W_nn, 5-8 S by rows, 9-12 its (pseudo) inverse, 13 kind, 14 size of S
_REGULAR = 0.0
_RANK_ONE = 1.0  # S is singular: a planar mask, or a contact that cannot move along one tangent
_IMMOVABLE = 2.0  # W_nn vanishes: nothing answers an impulse
_SINGULAR = 1e-13  # det S below this times |S|^2 is rounding


@kernel
def local_data(blocks: Array, rho: Array) -> Array:
    """Return the array `local` of all contacts from the diagonal blocks of W."""
    local = np.zeros((blocks.shape[0], 15))
    for c in range(blocks.shape[0]):
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
        local[c, 14] = math.sqrt(square)
        det = S11 * S22 - S12 * S21
        if det > _SINGULAR * square:
            local[c, 9] = S22 / det
            local[c, 10] = -S12 / det
            local[c, 11] = -S21 / det
            local[c, 12] = S11 / det
        else:
            local[c, 13] = _RANK_ONE
            if square > 0.0:  # the pseudo-inverse of a matrix of rank one is its transpose over |S|^2
                local[c, 9] = S11 / square
                local[c, 10] = S21 / square
                local[c, 11] = S12 / square
                local[c, 12] = S22 / square
    return local


@kernel
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
    if p0 >= 0.0 and p1 * p1 + p2 * p2 <= mu * mu * p0 * p0:
        if local[c, 13] == _REGULAR:
            return (p0, p1, p2, slip)
        left = abs(t1 + local[c, 5] * d1 + local[c, 6] * d2) + abs(t2 + local[c, 7] * d1 + local[c, 8] * d2)
        if left <= 1e-13 * (local[c, 14] * (abs(p1) + abs(p2) + p0) + abs(s1) + abs(s2)):
            return (p0, p1, p2, slip)
    t1 -= local[c, 5] * o1 + local[c, 6] * o2
    t2 -= local[c, 7] * o1 + local[c, 8] * o2
    return _slip(free, a1, a2, t1, t2, local[c, 5], local[c, 6], local[c, 7], local[c, 8], mu, slip)


@kernel
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


@kernel
def sweep(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
    load: Array,
    mu: Array,
    local: Array,
    p: Array,
    slip: Array,
    y: Array,
    backward: bool,
) -> None:
    """Solve contact after contact, each with the newest impulses of the others; p, slip and y = S p in place."""
    n_c = mu.shape[0]
    for k in range(n_c):
        c = n_c - 1 - k if backward else k
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
        o1 = p[c, 1]
        o2 = p[c, 2]
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


@kernel
def combination_weights(gram: Array, m: int, weights: Array) -> bool:
    """Find the weights, of sum 1, of the smallest combination of `m` vectors with this Gram matrix; False if none."""
    factor = np.empty((m, m))
    trace = 0.0
    for i in range(m):
        trace += gram[i, i]
    for i in range(m):
        for j in range(i + 1):
            s = gram[i, j] + (1e-12 * trace if i == j else 0.0)
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i == j:
                if not s > 0.0:
                    return False
                factor[i, i] = math.sqrt(s)
            else:
                factor[i, j] = s / factor[j, j]
    for i in range(m):
        s = 1.0
        for k in range(i):
            s -= factor[i, k] * weights[k]
        weights[i] = s / factor[i, i]
    total = 0.0
    for i in range(m - 1, -1, -1):
        s = weights[i]
        for k in range(i + 1, m):
            s -= factor[k, i] * weights[k]
        weights[i] = s / factor[i, i]
        total += weights[i]
    if not abs(total) > 0.0:
        return False
    for i in range(m):
        weights[i] /= total
    return True


@kernel
def gauss_seidel(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
    load: Array,
    mu: Array,
    rho: Array,
    local: Array,
    state: Array,
    y: Array,
    p: Array,
    best_p: Array,
    window: int,
    tolerance: float,
    max_sweeps: int,
    patience: int,
    progress: float,
) -> tuple[int, float]:
    """Sweep to and fro with Anderson acceleration from p until the residual is met; return sweeps and residual.

    `state` holds (y, p) in one piece, so that they are saved and combined together; `y` and `p` are views of it.
    `best_p` receives the best impulses met.

    The extrapolation combines the last `window` double sweeps so that the combined change is least in the metric
    ``dp . W dp`` (twice the kinetic energy). Three safeguards keep it from sitting where plain sweeps converge:
    an extrapolated point whose next change is more than twice as large is undone; no smaller change in 3 `window`
    rounds, or no 10 % fall of the residual in 64 sweeps, clears the window and lets plain sweeps work for a while.
    Gives up when the residual did not fall to `progress` times itself within `patience` sweeps.
    """
    n_c = mu.shape[0]
    n = state.shape[0]
    n_y = n - 3 * n_c
    window = max(window, 1)
    before = np.empty(n)
    states = np.empty((window, n))
    changes = np.empty((window, n_y))
    u = np.empty((n_c, 3))
    slip = np.zeros(n_c)
    gram = np.empty((window, window))
    weights = np.empty(window)

    best = math.inf
    sweeps = 0
    filled = 0
    last = 0
    extrapolated = False
    least_change = math.inf
    last_change = math.inf
    rounds_without = 0
    plain = 0
    rest = 20
    mark = math.inf
    mark_at = 0
    goal = math.inf
    goal_at = 0
    while True:
        if sweeps < 5 or sweeps % 8 == 0:
            # y has drifted by rounding: the residual is that of p alone
            apply_couplings(gather_start, gather_index, gather, scatter_start, scatter_index, scatter, p, load, y, u)
            error, size, scale = natural_norms(p, u, load, mu, rho)
            scale = max(size, scale)
            residual = error / scale if scale > 0.0 else error
            if residual < best:
                best = residual
                for c in range(n_c):
                    for i in range(3):
                        best_p[c, i] = p[c, i]
            if best <= tolerance or sweeps >= max_sweeps or not residual < math.inf:
                break
            if best < progress * goal:
                goal = best
                goal_at = sweeps
            elif sweeps - goal_at >= patience:
                break
            if residual < 0.9 * mark:
                mark = residual
                mark_at = sweeps
            elif sweeps - mark_at > 64:
                plain = rest
                rest = min(2 * rest, 160)
                filled = 0
                extrapolated = False
                mark = residual
                mark_at = sweeps + 2 * plain
        for i in range(n):
            before[i] = state[i]
        for backward in range(2):
            sweep(
                gather_start,
                gather_index,
                gather,
                scatter_start,
                scatter_index,
                scatter,
                load,
                mu,
                local,
                p,
                slip,
                y,
                backward == 1,
            )
        sweeps += 2
        if window < 2:
            continue
        change = 0.0
        for i in range(n_y):
            change += (state[i] - before[i]) ** 2
        if extrapolated and change > 4.0 * last_change:
            for i in range(n):
                state[i] = states[last, i]
            filled = 0
            extrapolated = False
            plain = 1
            continue
        last_change = change
        extrapolated = False
        rounds_without += 1
        if change < 0.99 * least_change:
            least_change = change
            rounds_without = 0
        if rounds_without > 3 * window:
            plain = window
            rounds_without = 0
            filled = 0
        if plain > 0:
            plain -= 1
            least_change = change
            continue
        last = last + 1 if filled > 0 and last + 1 < window else 0
        filled = min(filled + 1, window)
        for i in range(n):
            states[last, i] = state[i]
        for i in range(n_y):
            changes[last, i] = state[i] - before[i]
        for k in range(filled):
            s = 0.0
            for i in range(n_y):
                s += changes[last, i] * changes[k, i]
            gram[last, k] = s
            gram[k, last] = s
        if filled >= 2 and combination_weights(gram, filled, weights):
            for i in range(n):
                s = 0.0
                for k in range(filled):
                    s += weights[k] * states[k, i]
                state[i] = s
            extrapolated = True
    return (sweeps, best)
