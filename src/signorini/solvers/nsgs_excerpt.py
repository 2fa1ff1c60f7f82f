r"""Kernels of the nonsmooth Gauss-Seidel method: the excerpt of a large problem where sweeps are still needed.

In a large pile at rest two sweeps are enough for nearly all contacts. What is left of the residual sits in a few
places, where a body rolls or a contact opens, and there a hundred sweeps may be needed. So these places are taken out
and solved as a problem of their own, with the impulses of all other contacts held. With ``y = S p`` of all impulses and
y' of those of the excerpt alone, the velocities of the excerpt are

.. math:: u = G y' + b', \qquad b' = b + G (y - y').

The excerpt is written to memory of its own in the form of the whole, so that the same kernels sweep over it.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel
from signorini.solvers.nsgs_kernels import Swept, residual_sums, spread


@inner_kernel
def mark_rows(problem: Swept, p: Array, y: Array, tolerance: float, layers: int, row_of: IntArray) -> float:
    """Mark the rows of y of contacts that err, and of their neighbours; return the square of all impulses.

    A contact errs if all contacts together would not meet the tolerance if they erred like it. Rows that are not marked
    get -1.
    """
    start, index, n_c, whole = problem.gather_start, problem.gather_index, p.shape[0], 0.0
    for i in range(y.shape[0]):
        row_of[i] = -1
    for c in range(n_c):
        whole += p[c, 0] ** 2 + p[c, 1] ** 2 + p[c, 2] ** 2
    most = tolerance**2 * whole / n_c
    for c in range(n_c):
        error, _, _ = residual_sums(problem, p, y, c, c + 1)
        if error > most:
            for g in range(start[c], start[c + 1]):
                row_of[index[g]] = 0
    for layer in range(1, layers):
        for c in range(n_c):
            near = False
            for g in range(start[c], start[c + 1]):
                near = near or 0 <= row_of[index[g]] < layer
            for g in range(start[c], start[c + 1]):
                if near and row_of[index[g]] < 0:
                    row_of[index[g]] = layer
    return whole


@inner_kernel
def pick_contacts(start: IntArray, index: IntArray, row_of: IntArray, picked: IntArray) -> tuple[int, int, int]:
    """Pick the contacts with a marked row and number the rows that they have; return contacts, blocks and rows.

    -1 contacts if there is no room for them in `picked`.
    """
    contacts, blocks, rows = 0, 0, 0
    for c in range(start.shape[0] - 1):
        near = False
        for g in range(start[c], start[c + 1]):
            near = near or row_of[index[g]] >= 0
        if not near:
            continue
        if contacts == picked.shape[0]:
            return (-1, 0, 0)
        picked[contacts] = c
        contacts += 1
        blocks += start[c + 1] - start[c]
    for i in range(row_of.shape[0]):
        row_of[i] = -1
    for k in range(contacts):
        for g in range(start[picked[k]], start[picked[k] + 1]):
            if row_of[index[g]] < 0:
                row_of[index[g]] = rows
                rows += 1
    return (contacts, blocks, rows)


@inner_kernel
def copy_contacts(
    picked: IntArray, row_of: IntArray, whole: Swept, p: Array, y: Array, excerpt: Swept, own_p: Array, own_y: Array
) -> float:
    """Write the problem of the picked contacts, with the impulses of all others held.

    Returns the square of its impulses, or of what its load would make of them, as residuals take it.
    """
    start, index, gather, own_index, own_load = (
        whole.gather_start,
        whole.gather_index,
        whole.gather,
        excerpt.gather_index,
        excerpt.load,
    )
    at = 0
    for k in range(picked.shape[0]):
        c = picked[k]
        excerpt.gather_start[k] = at
        for g in range(start[c], start[c + 1]):
            own_index[at] = row_of[index[g]]
            for i in range(3):
                for j in range(3):
                    excerpt.gather[at, i, j] = gather[g, i, j]
            at += 1
        excerpt.mu[k], excerpt.rho[k] = whole.mu[c], whole.rho[c]
        for i in range(whole.local.shape[1]):
            excerpt.local[k, i] = whole.local[c, i]
        for i in range(3):
            own_load[k, i], excerpt.compliance[k, i], own_p[k, i] = whole.load[c, i], whole.compliance[c, i], p[c, i]
    excerpt.gather_start[picked.shape[0]] = at
    spread(excerpt.scatter_start, excerpt.scatter_index, excerpt.scatter, own_p, own_y)
    for k in range(picked.shape[0]):
        at = excerpt.gather_start[k]
        for g in range(start[picked[k]], start[picked[k] + 1]):
            for j in range(3):
                held = y[index[g], j] - own_y[own_index[at], j]
                for i in range(3):
                    own_load[k, i] += gather[g, i, j] * held
            at += 1
    size, scale = 0.0, 0.0
    for k in range(picked.shape[0]):
        for i in range(3):
            size += own_p[k, i] ** 2
            scale += (excerpt.rho[k] * own_load[k, i]) ** 2
    return max(size, scale)
