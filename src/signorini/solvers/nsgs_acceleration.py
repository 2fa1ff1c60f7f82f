"""Kernels of the nonsmooth Gauss-Seidel method: sweeps to and fro under Anderson acceleration, with safeguards."""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, kernel
from signorini.math.cones import natural_norms
from signorini.problems.couplings import apply_couplings
from signorini.solvers.nsgs_kernels import sweep


@bare_kernel
def combination_weights(gram: Array, m: int, factor: Array, weights: Array) -> bool:
    """Find the weights, of sum 1, of the smallest combination of `m` vectors with this Gram matrix; False if none.

    `factor` is scratch memory of the size of `gram`.
    """
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
    compliance: Array,
    u: Array,
    slip: Array,
    scratch: Array,
    small: Array,
    window: int,
    tolerance: float,
    max_sweeps: int,
    patience: int,
    progress: float,
) -> tuple[int, float]:
    """Sweep to and fro with Anderson acceleration from p until the residual is met; return sweeps and residual.

    `state` holds (y, p) in one piece, so that they are saved and combined together; `y` and `p` are views of it.
    `best_p` receives the best impulses met. `compliance` (n_c, 3) is added to the diagonal of W, and is part of
    `local` and `rho` already. `u`, `slip` (n_c, ...), `scratch` (at least (2 window + 1) n,) and `small` (2, at
    least window + 1, ...) are work space.

    The extrapolation combines the last `window` double sweeps so that the combined change is least in the metric
    ``dp . W dp`` (twice the kinetic energy). Three safeguards keep it from sitting where plain sweeps converge:
    an extrapolated point whose next change is more than twice as large is undone; no smaller change in 3 `window`
    rounds, or no 10 % fall of the residual in 64 sweeps, clears the window and lets plain sweeps work for a while.
    Gives up when the residual did not fall to `progress` times itself within `patience` sweeps; with a `progress` of 0
    as soon as its fall over the last `patience` sweeps, carried on, would not do within `max_sweeps`.
    """
    n_c = mu.shape[0]
    n = state.shape[0]
    n_y = n - 3 * n_c
    window = max(window, 1)
    states = scratch[n:]
    changes = scratch[(window + 1) * n :]
    gram = small[0]
    weights = small[1, window]
    for c in range(n_c):
        slip[c] = 0.0

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
        if sweeps < 5 or sweeps % 8 == 0 or sweeps == 12:
            # y has drifted by rounding: the residual is that of p alone
            apply_couplings(gather_start, gather_index, gather, scatter_start, scatter_index, scatter, p, load, y, u)
            for c in range(n_c):
                for i in range(3):
                    u[c, i] += compliance[c, i] * p[c, i]
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
            if progress > 0.0 and best < progress * goal:
                goal = best
                goal_at = sweeps
            elif sweeps - goal_at >= patience:
                if progress > 0.0 or not best < goal:
                    break
                rate = math.log(best / goal) / (sweeps - goal_at)
                if sweeps + math.log(tolerance / best) / rate > max_sweeps:
                    break
                goal = best
                goal_at = sweeps
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
            scratch[i] = state[i]
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
                compliance,
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
            change += (state[i] - scratch[i]) ** 2
        if extrapolated and change > 4.0 * last_change:
            for i in range(n):
                state[i] = states[last * n + i]
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
            states[last * n + i] = state[i]
        for i in range(n_y):
            changes[last * n_y + i] = state[i] - scratch[i]
        for k in range(filled):
            s = 0.0
            for i in range(n_y):
                s += changes[last * n_y + i] * changes[k * n_y + i]
            gram[last, k] = s
            gram[k, last] = s
        if filled >= 2 and combination_weights(gram, filled, small[1], weights):
            for i in range(n):
                s = 0.0
                for k in range(filled):
                    s += weights[k] * states[k * n + i]
                state[i] = s
            extrapolated = True
    return (sweeps, best)
