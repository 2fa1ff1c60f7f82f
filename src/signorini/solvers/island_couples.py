r"""The robust solver of one island: contacts with couples, of up to six components.

What the methods ask of contacts, for those that also resist twisting and rolling, or slide as an ellipsoid tells
(:mod:`~signorini.math.product_cones`): a normal component and up to three groups :math:`r_k` of others, each bound by
the same normal one, :math:`|r_k| \le m_k r_n`. All components are in units in which W has a diagonal of about one,
:math:`x = d\,r`, one number d for each group of a contact. Groups whose limit is zero bear nothing.

The Alart-Curnier function has the same three modes for each group as for Coulomb's disc, and groups meet in the normal
component alone: with ``n = r_n - u_n``, ``t_k = r_k - u_k``, and ``e = t_k/|t_k|`` in a group that slips,

.. math:: S_{kn} = (m_k - f)\, e, \qquad S_{kk} = \frac{\kappa}{h} (I - e\,e^T), \qquad
    \kappa = \frac{m_k n}{|t_k|}, \quad h = 1 + (\alpha - 1)\,\kappa, \quad f = m_k (\alpha_n - 1)/\alpha_n .

So Newton's matrix in the space of nodes has the same pattern as without couples.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.math.product_cones import group_size, product_square
from signorini.solvers.island_lu import order_nodes, substitute
from signorini.solvers.island_robust import claim_vectors
from signorini.solvers.island_table import (
    FIRST,
    GROUPS,
    KIND,
    LIMIT,
    MU,
    NODE,
    PATH,
    SOFT,
    TRIAL,
    UNIT,
    D,
    G,
    Q,
    claim,
    claim_island,
    copy,
    fits,
    relative,
)

PATH_COLUMNS = 16


@inner_kernel
def open_couples(
    w: IntArray,
    start: IntArray,
    block: IntArray,
    blocks: Array,
    load: Array,
    limit: Array,
    unit: Array,
    kind: IntArray,
    groups: IntArray,
    rho: Array,
    compliance: float,
    nodes: int,
) -> float:
    """Write the problem of an island into the table; return the scale s of its velocities, 0 where memory is short.

    `blocks` (any, rows, 3) and `load` (n_c, rows), of three rows or more, are in units d, `unit`; `limit` (n_c, 6)
    has the limits of the groups in these units, then without them. `kind` tells which row of `groups` holds. A contact
    whose normal moves nothing is left out. The compliance is that of all normals, without units.
    """
    rows, n_c = load.shape[1], load.shape[0]
    if not claim_island(w, start, block, nodes, rows):
        return 0.0
    claim(w, LIMIT, n_c, 6, 0)
    claim(w, UNIT, n_c, rows, 0)
    claim(w, KIND, n_c, 0, 0)
    claim(w, GROUPS, groups.shape[0], groups.shape[1], 0)
    claim(w, TRIAL, 4, 1, rows)
    claim(w, PATH, 3 * n_c, PATH_COLUMNS, 0)
    if not fits(w):
        return 0.0
    g, first, s = real_blocks(w, G), wholes(w, FIRST), 0.0
    q, soft, friction, d = real_rows(w, Q), real_rows(w, SOFT), reals(w, MU), reals(w, D)
    for c in range(n_c):
        d[c], friction[c], wholes(w, KIND)[c] = math.sqrt(rho[c]), 0.0, kind[c]
        at, last, moves = first[c] - 1, -1, 0.0
        for k in range(start[c], start[c + 1]):
            for j in range(3):
                moves = max(moves, abs(blocks[k, 0, j]))
        for k in range(start[c], start[c + 1]):
            if block[k] // 2 != last:
                last = block[k] // 2
                at += 1
            for i in range(rows if moves > 0.0 else 0):
                for j in range(3):
                    g[at, i, 3 * (block[k] % 2) + j] += blocks[k, i, j]
        for m in range(6):
            real_rows(w, LIMIT)[c, m] = limit[c, m]
        for i in range(rows):
            real_rows(w, UNIT)[c, i] = unit[c, i]
            soft[c, i] = compliance * unit[c, 0] ** 2 if i == 0 else 0.0
            q[c, i] = load[c, i] if moves > 0.0 else 0.0
            s = max(s, abs(q[c, i]))
    for k in range(groups.shape[0]):
        for m in range(groups.shape[1]):
            whole_rows(w, GROUPS)[k, m] = groups[k, m]
    s = s if s > 0.0 else 1.0
    for c in range(n_c):
        for i in range(rows):
            q[c, i] /= s
    return s


@inner_kernel
def prepare_couples(
    w: IntArray,
    start: IntArray,
    block: IntArray,
    blocks: Array,
    load: Array,
    limit: Array,
    unit: Array,
    kind: IntArray,
    groups: IntArray,
    rho: Array,
    compliance: float,
    nodes: int,
    most: int,
    scale: Array,
) -> int:
    """Do as :func:`~.island_robust.prepare`; arguments as of :func:`open_couples`."""
    scale[0] = open_couples(w, start, block, blocks, load, limit, unit, kind, groups, rho, compliance, nodes)
    operations = order_nodes(w, most) if scale[0] > 0.0 else -1
    return -1 if operations > 0 and not claim_vectors(w) else operations


# --- products ------------------------------------------------------------------


@inner_kernel
def _gather(w: IntArray, y: Array, u: Array) -> None:
    """Add ``G y`` to u."""
    first, node, g = wholes(w, FIRST), wholes(w, NODE), real_blocks(w, G)
    for c in range(u.shape[0]):
        for k in range(first[c], first[c + 1]):
            x = node[k]
            for i in range(u.shape[1]):
                s = 0.0
                for j in range(6):
                    s += g[k, i, j] * y[x, j]
                u[c, i] += s


@inner_kernel
def _scatter(w: IntArray, r: Array, y: Array) -> None:
    """Set ``y = G^T r``."""
    first, node, g = wholes(w, FIRST), wholes(w, NODE), real_blocks(w, G)
    for i in range(y.shape[0]):
        for j in range(6):
            y[i, j] = 0.0
    for c in range(r.shape[0]):
        for k in range(first[c], first[c + 1]):
            x = node[k]
            for i in range(r.shape[1]):
                f = r[c, i]
                if f != 0.0:
                    for j in range(6):
                        y[x, j] += f * g[k, i, j]


@inner_kernel
def set_couple_velocity(w: IntArray, r: Array, y: Array, u: Array) -> None:
    """Set ``y = G^T r`` and ``u = G y + A r + q``."""
    q, soft = real_rows(w, Q), real_rows(w, SOFT)
    _scatter(w, r, y)
    for c in range(r.shape[0]):
        for i in range(r.shape[1]):
            u[c, i] = q[c, i] + soft[c, i] * r[c, i]
    _gather(w, y, u)


@inner_kernel
def _left(S: Array, g: Array, u: Array, out: Array) -> None:
    """Set ``out = g - S u``."""
    rows = g.shape[1]
    for c in range(g.shape[0]):
        for i in range(rows):
            s = g[c, i]
            for j in range(rows):
                s -= S[c, i, j] * u[c, j]
            out[c, i] = s


@inner_kernel
def take_couple_step(
    w: IntArray, S: Array, g: Array, y: Array, u: Array, dr: Array, left: Array, refinements: int
) -> None:
    """Do as :func:`~.island_newton.take_step`."""
    copy(g, left)
    for turn in range(refinements + 1):
        if turn > 0:
            _scatter(w, dr, y)
            _clear(u)
            _gather(w, y, u)
            _left(S, g, u, left)
            for c in range(g.shape[0]):
                for i in range(g.shape[1]):
                    left[c, i] -= dr[c, i]
        _scatter(w, left, y)
        substitute(w, y)
        _clear(u)
        _gather(w, y, u)
        _left(S, left, u, left if turn > 0 else dr)
        if turn > 0:
            for c in range(g.shape[0]):
                for i in range(g.shape[1]):
                    dr[c, i] += left[c, i]
    if refinements > 0:
        _scatter(w, dr, y)
        _clear(u)
        _gather(w, y, u)


@inner_kernel
def _clear(u: Array) -> None:
    """Set ``u = 0``."""
    for c in range(u.shape[0]):
        for i in range(u.shape[1]):
            u[c, i] = 0.0


# --- the law -------------------------------------------------------------------


@inner_kernel
def find_couple_residual(w: IntArray, r: Array, u: Array) -> float:
    """Return the problem's own residual, from r and u in their units."""
    q, d, unit, limit = real_rows(w, Q), reals(w, D), real_rows(w, UNIT), real_rows(w, LIMIT)
    groups, kind, trial = whole_rows(w, GROUPS), wholes(w, KIND), real_blocks(w, TRIAL)
    rows, error, size, load = r.shape[1], 0.0, 0.0, 0.0
    x, v, z, bounds = trial[0], trial[1], trial[2], trial[3]
    for c in range(r.shape[0]):
        rho = d[c] * d[c]
        for i in range(rows):
            x[0, i], v[0, i] = unit[c, i] * r[c, i], u[c, i] / unit[c, i]
            size += x[0, i] ** 2
            load += (rho * q[c, i] / unit[c, i]) ** 2
        for m in range(3):
            bounds[0, m] = limit[c, 3 + m]
        error += product_square(x, v, 0, bounds, groups[kind[c]], rho, z)
    return relative(error, max(size, load))


@inner_kernel
def set_couple_function(w: IntArray, u: Array, r: Array, F: Array) -> float:
    """Set the Alart-Curnier function F and return its norm."""
    groups, kind, limit = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT)
    total = 0.0
    for c in range(r.shape[0]):
        n = r[c, 0] - u[c, 0]
        F[c, 0] = u[c, 0] if n > 0.0 else r[c, 0]
        for m in range(3):
            radius, first, end = limit[c, m] * max(n, 0.0), groups[kind[c], m], groups[kind[c], m + 1]
            size = 0.0
            for i in range(first, end):
                size += (r[c, i] - u[c, i]) ** 2
            size = math.sqrt(size)
            k = 1.0 if 0.0 < radius >= size else radius / size if size > 0.0 else 0.0
            for i in range(first, end):
                F[c, i] = r[c, i] - k * (r[c, i] - u[c, i])
        for i in range(r.shape[1]):
            total += F[c, i] ** 2
    return math.sqrt(total)


@inner_kernel
def set_couple_blocks(w: IntArray, u: Array, r: Array, F: Array, alpha: float, S: Array, g: Array) -> None:
    """Set S and g of the steps, group by group as :func:`~.island_newton.set_blocks` does for the disc of Coulomb."""
    groups, kind, limit, soft = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT), real_rows(w, SOFT)
    rows = r.shape[1]
    for c in range(r.shape[0]):
        n, a_n = r[c, 0] - u[c, 0], alpha + soft[c, 0]
        for i in range(rows):
            g[c, i] = -F[c, i]
            for j in range(rows):
                S[c, i, j] = 0.0
        if not n > 0.0:
            continue
        S[c, 0, 0] = 1.0 / a_n
        g[c, 0] = -F[c, 0] / a_n
        for m in range(3):
            radius, first, end = limit[c, m] * n, groups[kind[c], m], groups[kind[c], m + 1]
            if not radius > 0.0:
                continue
            size, along = 0.0, 0.0
            for i in range(first, end):
                size += (r[c, i] - u[c, i]) ** 2
                along += (r[c, i] - u[c, i]) * F[c, i]
            size = math.sqrt(size)
            if size <= radius:
                for i in range(first, end):
                    S[c, i, i] = 1.0 / alpha
                    g[c, i] = -F[c, i] / alpha
                continue
            along /= size
            k = radius / size
            h = 1.0 + (alpha - 1.0) * k
            f = limit[c, m] * (a_n - 1.0) / a_n
            for i in range(first, end):
                e = (r[c, i] - u[c, i]) / size
                g[c, i] = -((along - f * F[c, 0]) * e + (F[c, i] - along * e) / h)
                S[c, i, 0] = (limit[c, m] - f) * e
                for j in range(first, end):
                    S[c, i, j] = k / h * ((1.0 if i == j else 0.0) - e * (r[c, j] - u[c, j]) / size)


@inner_kernel
def set_couples_inside(w: IntArray, best_r: Array, r: Array) -> None:
    """Set r to points of the cones near those of BEST."""
    groups, kind, limit = whole_rows(w, GROUPS), wholes(w, KIND), real_rows(w, LIMIT)
    for c in range(r.shape[0]):
        r[c, 0] = max(best_r[c, 0], 0.0)
        for m in range(3):
            first, end, radius = groups[kind[c], m], groups[kind[c], m + 1], limit[c, m] * r[c, 0]
            size = group_size(best_r, c, first, end)
            part = radius / size if size > radius else 1.0
            for i in range(first, end):
                r[c, i] = part * best_r[c, i]
