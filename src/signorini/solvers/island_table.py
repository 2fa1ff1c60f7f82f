r"""The robust solver of one island: its arrays, taken from one pool of memory, and products with W.

The friction problem of an island in the unknowns of the sweeps, ``u = W p + b``, :math:`W = G G^T + A`, where y = G^T p
has six numbers for each node (a body, or six freedoms of a mechanism) and A is the diagonal compliance. A contact has
three components, or up to six with couples (:mod:`~signorini.solvers.island_couples`). All is equilibrated: with
:math:`d = \rho^{1/2}`, :math:`\rho = 1/W_{nn}`, and :math:`s = \max |d b|`,

.. math:: r = p/(d s), \qquad q = d b/s, \qquad G_c := d_c G_c,

so that W_nn = 1, impulses are of the order of one, and :math:`\sum_c W_{nn} |p_c|^2` is the plain square of r. Nodes
are numbered in the order in which they are eliminated (:mod:`~signorini.solvers.island_lu`). That order and what
follows from it stay in the table: an island that is met again with the same pairs of bodies finds it there.

Kernels reach the arrays by a table of addresses, see the end of :mod:`signorini._jit`; nothing is allocated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, measured, perform, real_blocks, real_rows, reals, wholes
from signorini.math.cones import natural_square


def _numbered(count: int) -> Any:
    return np.arange(count, dtype=np.int64)


# Rows of the table.
(
    POOL,  # address, size, numbers taken
    KNOWN,  # operations of a factorisation, numbers taken with all that belongs to the pattern; 0 if there is none
    FIRST,  # (n_c + 1,) first block of a contact
    NODE,  # (n_k,) node of a block
    GIVEN,  # (n_k,) the same, as it was given
    G,  # (n_k, 3, 6)
    PAIR_START,  # (n_c + 1,)
    PAIR,  # (any,) where the products of two blocks of a contact are stored in B
    START,  # (n + 1,) nodes after k that share a front with it: COLUMN[START[k]:START[k + 1]]
    COLUMN,
    TARGET,  # what each elimination updates
    B,  # (n + 2 n_f, 6, 6): diagonal blocks, then U and L alternating in the order of COLUMN
    Q,  # (n_c, 3)
    MU,  # (n_c,)
    D,  # (n_c,)
    SOFT,  # (n_c, 3) compliance
    R,  # (n_c, 3) where a method is
    BEST,  # (n_c, 3) the best point met
    ENTRY,  # (n_c, 3) where the methods began
    S,  # (n_c, 3, 3)
    T,  # (n_c, 3, 3)
    H,  # (n_c, 3, 3)
    SCALING,  # (n_c, 4)
    WORK,  # (WORK_COUNT,)
    BITS,  # (n, n / 64) who meets whom, for the order of elimination
    DEGREE,  # (n,)
    PLACE,  # (n,)
    FRONT,  # (n,)
    MODE,  # (n_c,) see island_forces
    LIMIT,  # with couples: (n_c, 6) limits of the groups of components, then those without units; see island_couples
    UNIT,  # (n_c, rows)
    KIND,  # (n_c,)
    GROUPS,  # (kinds, 4)
    TRIAL,  # (4, 1, rows) work space
    PATH,  # (3 n_c, 16) see island_couple_interior
    V,  # (n_c, 3) the first of so many work vectors ...
) = _numbered(36)
VECTORS = 20
Y = V + VECTORS
"""... and (n, 6) of these in the space of nodes."""
NODE_VECTORS = 6
# Addresses of kernels: written into those that call them, each would be compiled once more for each of these.
# The first ones serve islands that rest or move on steadily, the others those that resist. Those that know what a
# contact is are others with couples; the methods are the same.
OPEN, VELOCITY, RESIDUAL, FACTOR, SUBSTITUTE, STEP, LEAST_NORM, STEADY_FORCES, CLEAR_ROUNDING, KEEP_MODES = (
    Y + NODE_VECTORS + _numbered(10)
)
NEWTON, FUNCTION, BLOCKS, INTERIOR, INSIDE, SHARE_FORCES, SOLVE_ROBUSTLY, NEWTON_NEARBY = KEEP_MODES + 1 + _numbered(8)
ISLAND_ROWS = int(NEWTON_NEARBY + 1)

LINE = 8  # numbers of a line of the cache, at whose beginnings arrays begin

# WORK
NEWTON_STEPS, INTERIOR_STEPS, SHARING_STEPS, WORK_COUNT = _numbered(4)


@inner_kernel
def claim(w: IntArray, row: int, n: int, m: int, l: int) -> None:
    """Give a row of the table an array (n,), (n, m) or (n, m, l) of the pool; what is missing is counted too."""
    w[POOL, 2] += -w[POOL, 2] % LINE
    w[row, 0] = w[POOL, 0] + 8 * w[POOL, 2]
    w[row, 1], w[row, 2], w[row, 3] = n, m, l
    w[POOL, 2] += n * max(m, 1) * max(l, 1)


@inner_kernel
def fits(w: IntArray) -> bool:
    """Tell whether the pool has what was claimed."""
    return bool(w[POOL, 2] <= w[POOL, 1])


@inner_kernel
def gather(w: IntArray, y: Array, q: Array, u: Array) -> None:
    """Set ``u = G y + q``."""
    first, node, g = wholes(w, FIRST), wholes(w, NODE), real_blocks(w, G)
    for c in range(q.shape[0]):
        u0, u1, u2 = q[c, 0], q[c, 1], q[c, 2]
        for k in range(first[c], first[c + 1]):
            x = node[k]
            for j in range(6):
                v = y[x, j]
                u0 += g[k, 0, j] * v
                u1 += g[k, 1, j] * v
                u2 += g[k, 2, j] * v
        u[c, 0], u[c, 1], u[c, 2] = u0, u1, u2


@inner_kernel
def apply(w: IntArray, y: Array, u: Array) -> None:
    """Set ``u = G y``."""
    for c in range(u.shape[0]):
        u[c, 0], u[c, 1], u[c, 2] = 0.0, 0.0, 0.0
    gather(w, y, u, u)


@inner_kernel
def scatter(w: IntArray, r: Array, y: Array) -> None:
    """Set ``y = G^T r``."""
    first, node, g = wholes(w, FIRST), wholes(w, NODE), real_blocks(w, G)
    for i in range(y.shape[0]):
        for j in range(6):
            y[i, j] = 0.0
    for c in range(r.shape[0]):
        r0, r1, r2 = r[c, 0], r[c, 1], r[c, 2]
        if r0 == 0.0 and r1 == 0.0 and r2 == 0.0:
            continue
        for k in range(first[c], first[c + 1]):
            x = node[k]
            for j in range(6):
                y[x, j] += g[k, 0, j] * r0 + g[k, 1, j] * r1 + g[k, 2, j] * r2


@inner_kernel
def set_velocity(w: IntArray, r: Array, y: Array, u: Array) -> None:
    """Set ``y = G^T r`` and ``u = G y + A r + q``."""
    soft = real_rows(w, SOFT)
    scatter(w, r, y)
    gather(w, y, real_rows(w, Q), u)
    for c in range(r.shape[0]):
        for i in range(3):
            u[c, i] += soft[c, i] * r[c, i]


@inner_kernel
def velocity(w: IntArray, r: Array, y: Array, u: Array) -> None:
    """Do as :func:`set_velocity`, by its address."""
    perform(w[VELOCITY, 0], (w, r, y, u))


@inner_kernel
def find_residual(w: IntArray, r: Array, u: Array) -> float:
    """Return the problem's own residual, from equilibrated r and u."""
    q, mu, d = real_rows(w, Q), reals(w, MU), reals(w, D)
    error, size, load = 0.0, 0.0, 0.0
    for c in range(mu.shape[0]):
        e = d[c] * d[c]
        error += e * natural_square(r[c, 0], r[c, 1], r[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], 1.0)
        size += e * (r[c, 0] ** 2 + r[c, 1] ** 2 + r[c, 2] ** 2)
        load += e * (q[c, 0] ** 2 + q[c, 1] ** 2 + q[c, 2] ** 2)
    return relative(error, max(size, load))


@inner_kernel
def relative(error: float, scale: float) -> float:
    """Return the residual by the squares of the error and of what it is relative to; infinite if it is no number."""
    value = math.sqrt(error / scale) if scale > 0.0 else math.sqrt(error)
    return value if value >= 0.0 else math.inf


@inner_kernel
def residual(w: IntArray, r: Array, u: Array) -> float:
    """Do as :func:`find_residual`, by its address."""
    return measured(w[RESIDUAL, 0], (w, r, u))


@inner_kernel
def copy(a: Array, b: Array) -> None:
    """Set ``b = a``."""
    x, y = a.reshape(a.size), b.reshape(b.size)
    for k in range(x.size):
        y[k] = x[k]


@inner_kernel
def open_island(
    w: IntArray,
    start: IntArray,
    block: IntArray,
    blocks: Array,
    load: Array,
    mu: Array,
    rho: Array,
    compliance: Array,
    nodes: int,
) -> float:
    """Write the equilibrated problem of an island into the table; return the scale s of its velocities.

    Arrays as the sweeps take them: contact c has the 3x3 blocks from start[c] on, which join it to rows of y, two of
    these rows for a node. Without friction there are no tangential rows, and mu is 1 where the cone is asked for.
    """
    if not claim_island(w, start, block, nodes, load.shape[1]):
        return 0.0
    g, first, s = real_blocks(w, G), wholes(w, FIRST), 0.0
    q, soft, friction, d = real_rows(w, Q), real_rows(w, SOFT), reals(w, MU), reals(w, D)
    for c in range(mu.shape[0]):
        d[c] = math.sqrt(rho[c])
        friction[c] = mu[c] if mu[c] > 0.0 else 1.0
        rows, at, last = 3 if mu[c] > 0.0 else 1, first[c] - 1, -1
        for k in range(start[c], start[c + 1]):
            if block[k] // 2 != last:
                last = block[k] // 2
                at += 1
            for i in range(rows):
                for j in range(3):
                    g[at, i, 3 * (block[k] % 2) + j] += d[c] * blocks[k, i, j]
        for i in range(3):
            q[c, i] = d[c] * load[c, i] if i < rows else 0.0
            soft[c, i] = rho[c] * compliance[c, i] if i < rows else 0.0
            s = max(s, abs(q[c, i]))
    s = s if s > 0.0 else 1.0
    for c in range(mu.shape[0]):
        for i in range(3):
            q[c, i] /= s
    return s


@inner_kernel
def claim_island(w: IntArray, start: IntArray, block: IntArray, nodes: int, rows: int) -> bool:
    """Claim the arrays of an island whose contacts have so many rows, and list their nodes; False if memory is short.

    G is zero then. What is known of the pattern is forgotten if it is another one.
    """
    n_c, count = start.shape[0] - 1, 0
    for c in range(n_c):
        last = -1
        for k in range(start[c], start[c + 1]):
            if block[k] // 2 != last:
                last = block[k] // 2
                count += 1
    if w[FIRST, 1] != n_c + 1 or w[NODE, 1] != count or w[START, 1] != nodes + 1:
        w[KNOWN, 0] = 0
    w[POOL, 2] = 0
    claim(w, FIRST, n_c + 1, 0, 0)
    claim(w, NODE, count, 0, 0)
    claim(w, GIVEN, count, 0, 0)
    claim(w, G, count, rows, 6)
    claim(w, PAIR_START, n_c + 1, 0, 0)
    for row in (Q, SOFT, R, BEST, ENTRY):
        claim(w, row, n_c, rows, 0)
    claim(w, MU, n_c, 0, 0)
    claim(w, D, n_c, 0, 0)
    claim(w, MODE, n_c, 0, 0)
    claim(w, WORK, WORK_COUNT, 0, 0)
    claim(w, START, nodes + 1, 0, 0)
    if not fits(w):
        w[KNOWN, 0] = 0
        return False
    first, node, g, pair_start = wholes(w, FIRST), wholes(w, NODE), real_blocks(w, G), wholes(w, PAIR_START)
    given, at, pairs, same = wholes(w, GIVEN), 0, 0, True
    for c in range(n_c):
        same = same and first[c] == at
        first[c], last = at, -1
        pair_start[c] = pairs
        for k in range(start[c], start[c + 1]):
            if block[k] // 2 != last:
                last = block[k] // 2
                node[at] = last
                same = same and given[at] == last
                given[at] = last
                for i in range(rows):
                    for j in range(6):
                        g[at, i, j] = 0.0
                at += 1
        pairs += (at - first[c]) ** 2
    first[n_c], pair_start[n_c] = at, pairs
    if not same:
        w[KNOWN, 0] = 0
    return True
