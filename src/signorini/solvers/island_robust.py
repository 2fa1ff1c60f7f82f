"""The robust solver of one island: which method comes when.

From where sweeps ended: impulses with which contacts go on as before (:mod:`~signorini.solvers.island_forces`),
proximal Newton where the island is small or near, the interior point, proximal Newton from where that ended, or from
the best point if it found that, and both again from elsewhere. All is counted in factorisations, so that runs repeat
bit for bit. The best point is returned, never the last.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, perform, real_rows, reals, wholes
from signorini.solvers.island_constants import (
    ALPHA_SHARE,
    BOLDER,
    DELTA,
    FAR_STEPS,
    FIRST_STEPS,
    LATE_ALPHA,
    LATER_STEPS,
    MARGIN,
    NEAR_FIRST,
    NEARBY_STEPS,
    NEWTON_FIRST,
    OF_RESIDUAL,
    POLISHED,
    START_ALPHA,
)
from signorini.solvers.island_interior import interior_point
from signorini.solvers.island_lu import order_nodes
from signorini.solvers.island_newton import proximal_newton
from signorini.solvers.island_table import (
    BEST,
    ENTRY,
    INSIDE,
    INTERIOR_STEPS,
    MU,
    NEWTON_STEPS,
    NODE_VECTORS,
    SCALING,
    START,
    VECTORS,
    WORK,
    H,
    Q,
    R,
    S,
    T,
    V,
    Y,
    claim,
    copy,
    fits,
    open_island,
    residual,
    velocity,
)


@inner_kernel
def prepare(
    w: IntArray,
    start: IntArray,
    block: IntArray,
    blocks: Array,
    load: Array,
    mu: Array,
    rho: Array,
    compliance: Array,
    nodes: int,
    most: int,
    scale: Array,
) -> int:
    """Make an island ready; return the operations of a factorisation, and the scale of velocities in ``scale[0]``.

    -1 where the pool is too small, 0 if there are more than `most`. Arguments as of :func:`~.island_table.open_island`.
    """
    scale[0] = open_island(w, start, block, blocks, load, mu, rho, compliance, nodes)
    operations = order_nodes(w, most) if scale[0] > 0.0 else -1
    return -1 if operations > 0 and not claim_vectors(w) else operations


@inner_kernel
def claim_vectors(w: IntArray) -> bool:
    """Claim the work vectors of all methods; False if there is no room for them."""
    n_c, rows, n = w[Q, 1], w[Q, 2], wholes(w, START).shape[0] - 1
    for k in range(VECTORS):
        claim(w, V + k, n_c, rows, 0)
    for k in range(NODE_VECTORS):
        claim(w, Y + k, n, 6, 0)
    claim(w, S, n_c, rows, rows)
    claim(w, T, n_c, rows, rows)
    claim(w, H, n_c, rows, rows)
    claim(w, SCALING, n_c, 4, 0)
    return fits(w)


@inner_kernel
def solve_robustly(w: IntArray, tolerance: float, budget: int) -> float:
    """Solve from ENTRY with up to about `budget` factorisations; return the residual of BEST."""
    entry, best_r, r, work = real_rows(w, ENTRY), real_rows(w, BEST), real_rows(w, R), wholes(w, WORK)
    u, y, n_c = real_rows(w, V + 2), real_rows(w, Y + 0), entry.shape[0]
    velocity(w, entry, y, u)
    best = residual(w, entry, u)
    copy(entry, best_r)
    before = math.inf  # residual of BEST before the interior point
    for turn in range(1, 8):
        left = budget - work[NEWTON_STEPS] - work[INTERIOR_STEPS]
        if best <= tolerance or left <= 0 or not best < math.inf:
            break
        if turn % 2 == 0 and best < POLISHED:
            before = math.inf
            continue
        if turn % 2 == 1:
            if best < before:  # else Newton would fail from there once more; where the path ended modes are others
                copy(best_r, r)
            far = turn == 1 and n_c > NEWTON_FIRST and best >= NEAR_FIRST
            steps, alpha = (
                FAR_STEPS if far else FIRST_STEPS if turn == 1 else LATER_STEPS,
                LATE_ALPHA if turn == 5 else min(START_ALPHA, OF_RESIDUAL * best) if turn == 1 else START_ALPHA,
            )
            best = proximal_newton(w, best, tolerance, min(left, steps), alpha, not far)
        else:
            before = best
            delta = DELTA if turn == 2 else 0.0 if turn == 4 else BOLDER * DELTA
            best = interior_point(w, delta, best, tolerance, left, BOLDER * ALPHA_SHARE if turn == 6 else ALPHA_SHARE)
    return best


@inner_kernel
def newton_nearby(w: IntArray, tolerance: float) -> float:
    """Take a few Newton steps from ENTRY, for guesses that are near; return the residual of BEST."""
    entry, u, y = real_rows(w, ENTRY), real_rows(w, V + 2), real_rows(w, Y)
    velocity(w, entry, y, u)
    best = residual(w, entry, u)
    copy(entry, real_rows(w, BEST))
    copy(entry, real_rows(w, R))
    n = entry.shape[0]
    return proximal_newton(w, best, tolerance, n - n + NEARBY_STEPS, min(START_ALPHA, OF_RESIDUAL * best), n < 0)


@inner_kernel
def set_inside(w: IntArray, best_r: Array, r: Array) -> None:
    """Set r to points of the cones near those of BEST."""
    mu = reals(w, MU)
    for c in range(mu.shape[0]):
        n, size = max(best_r[c, 0], 0.0), math.sqrt(best_r[c, 1] ** 2 + best_r[c, 2] ** 2)
        part = mu[c] * n / size if size > mu[c] * n else 1.0
        r[c, 0], r[c, 1], r[c, 2] = n, part * best_r[c, 1], part * best_r[c, 2]


@inner_kernel
def move_inside(w: IntArray, best: float, tolerance: float) -> float:
    """Move BEST into the cones, near which Newton ends, unless that misses the tolerance; return its residual."""
    best_r, r, u, y = real_rows(w, BEST), real_rows(w, R), real_rows(w, V + 2), real_rows(w, Y)
    perform(w[INSIDE, 0], (w, best_r, r))
    velocity(w, r, y, u)
    now = residual(w, r, u)
    if not now <= max(best, MARGIN * tolerance):
        return best
    copy(r, best_r)
    return now
