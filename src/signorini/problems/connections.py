r"""One form of W for all who sweep over contacts: :math:`W = G S`, by blocks of three.

Contact c adds ``S_c p_c`` to a few 3-blocks of an intermediate vector y (scatter) and reads its velocity
``u_c = G_c y`` from a few of them (gather). Two makers:

- Delassus operator: y is the velocity of the bodies, each two blocks (linear, angular), scaled by the roots of the
  diagonal of M^-1 so that |y|^2 is about twice the kinetic energy; immovable bodies take no part.
- a matrix: y = W p itself, the gather is the identity, the scatter the block column of W.

So a sweep, a product and a Newton matrix are each written once. A planar contact has a zero third row.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini._scipy import sparse

# W_nn below this part of the largest one is the rounding of a zero row; mass ratios up to 1e12 stay far from it.
ZERO_ROW = 1e-15


class Connections(NamedTuple):
    """The arrays of W = G S; handed to kernels as ``*connections[:6]``."""

    gather_start: IntArray
    """(n_c + 1,) where the gather blocks of a contact begin."""
    gather_index: IntArray
    """The block of y that is read; entries beyond the last start are not in use."""
    gather: Array
    """(any, 3, 3) ``u_c[i] += gather[k, i, j] y[index, j]``."""
    scatter_start: IntArray
    """(n_c + 1,) where the scatter blocks of a contact begin."""
    scatter_index: IntArray
    """The block of y that is written; entries beyond the last start are not in use."""
    scatter: Array
    """(any, 3, 3) ``y[index, j] += scatter[k, i, j] p_c[i]``."""
    y_count: int
    """Number of 3-blocks of y."""


def connect_matrix(W: Array, n_c: int, dim: int) -> Connections:
    """Return the connections of a dense W (dim n_c, dim n_c); zero blocks are left out."""
    return Connections(*_connect_dense(W, n_c, dim), n_c)


@kernel
def _connect_dense(W: Array, n_c: int, dim: int) -> tuple[IntArray, IntArray, Array, IntArray, IntArray, Array]:
    """Return gather (the identity) and scatter (block columns) of a dense W."""
    start = np.zeros(n_c + 1, dtype=np.int64)
    there = np.zeros((n_c, n_c), dtype=np.bool_)  # [c, r]: block of row r, column c
    for i in range(dim * n_c):
        for j in range(dim * n_c):
            if W[i, j] != 0.0:
                there[j // dim, i // dim] = True
    for c in range(n_c):
        start[c + 1] = start[c]
        for r in range(n_c):
            if there[c, r]:
                start[c + 1] += 1
    index = np.empty(start[n_c], dtype=np.int64)
    scatter = np.zeros((start[n_c], 3, 3))
    gather = np.zeros((n_c, 3, 3))
    k = 0
    for c in range(n_c):
        for i in range(3):
            gather[c, i, i] = 1.0
        for r in range(n_c):
            if there[c, r]:
                index[k] = r
                for i in range(dim):
                    for j in range(dim):
                        scatter[k, i, j] = W[dim * r + j, dim * c + i]
                k += 1
    return (np.arange(n_c + 1), np.arange(n_c), gather, start, index, scatter)


def connect_sparse(W: Any, n_c: int, dim: int) -> Connections:
    """Return the connections of a SciPy sparse W."""
    columns = sparse.bsr_array(W.T, blocksize=(dim, dim)) if n_c else sparse.bsr_array((1, 1))
    columns.sort_indices()
    scatter = np.zeros((columns.data.shape[0], 3, 3))
    scatter[:, :dim, :dim] = columns.data
    return _identity_gather(columns.indptr[: n_c + 1], columns.indices, scatter)


def _identity_gather(start: Any, index: Any, scatter: Array) -> Connections:
    """Complete the scatter of a matrix by ``u = y``."""
    n_c = start.shape[0] - 1
    gather = np.zeros((n_c, 3, 3))
    gather[:, [0, 1, 2], [0, 1, 2]] = 1.0
    count = np.arange(n_c + 1, dtype=np.int64)
    return Connections(count, count[:n_c].copy(), gather, start.astype(np.int64), index.astype(np.int64), scatter, n_c)


@inner_kernel
def _connect_body(
    c: int, body: int, J: Array, M_inv: Array, scale: Array, k: int, index: IntArray, gather: Array, scatter: Array
) -> None:
    """Set the two blocks k, k + 1 (linear, angular) that join contact `c` to a movable body."""
    for l in range(6):
        s = scale[body, l]
        block = k + l // 3
        j = l % 3
        index[block] = 2 * body + l // 3
        if s > 0.0:
            for i in range(J.shape[1]):
                gather[block, i, j] = J[c, i, l] * s
                B = 0.0
                for m in range(6):
                    B += M_inv[body, l, m] * J[c, i, m]
                scatter[block, i, j] = B / s


@kernel
def _connect_all(
    body_a: IntArray,
    body_b: IntArray,
    J_a: Array,
    J_b: Array,
    M_inv: Array,
    scale: Array,
    start: IntArray,
    index: IntArray,
    gather: Array,
    scatter: Array,
) -> None:
    """Fill the arrays of the connections; `scale` (n_b, 7) holds the roots of the diagonal of M^-1 and their sum."""
    for body in range(M_inv.shape[0]):
        scale[body, 6] = 0.0
        for l in range(6):
            scale[body, l] = math.sqrt(max(M_inv[body, l, l], 0.0))
            scale[body, 6] += scale[body, l]
    k = 0
    for c in range(body_a.shape[0]):
        start[c] = k
        if scale[body_a[c], 6] > 0.0:
            _connect_body(c, body_a[c], J_a, M_inv, scale, k, index, gather, scatter)
            k += 2
        if scale[body_b[c], 6] > 0.0:
            _connect_body(c, body_b[c], J_b, M_inv, scale, k, index, gather, scatter)
            k += 2
    start[body_a.shape[0]] = k


def connect_bodies(body_a: IntArray, body_b: IntArray, J_a: Array, J_b: Array, M_inv: Array) -> Connections:
    """Return the connections of W = J M^-1 J^T; M^-1 need not be symmetric."""
    n_c = body_a.shape[0]
    n_b = M_inv.shape[0]
    start = np.zeros(n_c + 1, dtype=np.int64)
    index = np.zeros(4 * n_c, dtype=np.int64)
    gather = np.zeros((4 * n_c, 3, 3))
    scatter = np.zeros((4 * n_c, 3, 3))
    _connect_all(body_a, body_b, J_a, J_b, M_inv, np.zeros((n_b, 7)), start, index, gather, scatter)
    return Connections(start, index, gather, start, index, scatter, 2 * n_b)


def with_compliance(connections: Connections, compliance: Array) -> Connections:
    """Add `compliance` (n_c, up to 3) to the diagonal of W, normal first: one more block of y per contact."""
    n_c = compliance.shape[0]
    read, written = connections.gather_start[-1], connections.scatter_start[-1]  # blocks beyond are not in use
    own = np.arange(n_c) + connections.y_count
    gather = np.zeros((n_c, 3, 3))
    scatter = np.zeros((n_c, 3, 3))
    for i in range(compliance.shape[1]):
        gather[:, i, i] = 1.0
        scatter[:, i, i] = compliance[:, i]
    after_gather = connections.gather_start[1:]
    after_scatter = connections.scatter_start[1:]
    steps = np.arange(n_c + 1)
    return Connections(
        connections.gather_start + steps,
        np.insert(connections.gather_index[:read], after_gather, own),
        np.insert(connections.gather[:read], after_gather, gather, axis=0),
        connections.scatter_start + steps,
        np.insert(connections.scatter_index[:written], after_scatter, own),
        np.insert(connections.scatter[:written], after_scatter, scatter, axis=0),
        connections.y_count + n_c,
    )


@kernel
def apply_connections(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
    p: Array,
    b: Array,
    y: Array,
    u: Array,
) -> None:
    """Set ``y = S p`` and ``u = G y + b`` in place; p, b, u (n_c, 3), y (y_count, 3)."""
    for i in range(y.shape[0]):
        for j in range(3):
            y[i, j] = 0.0
    for c in range(p.shape[0]):
        for k in range(scatter_start[c], scatter_start[c + 1]):
            i = scatter_index[k]
            for j in range(3):
                y[i, j] += scatter[k, 0, j] * p[c, 0] + scatter[k, 1, j] * p[c, 1] + scatter[k, 2, j] * p[c, 2]
    for c in range(p.shape[0]):
        for i in range(3):
            s = b[c, i]
            for k in range(gather_start[c], gather_start[c + 1]):
                j = gather_index[k]
                s += gather[k, i, 0] * y[j, 0] + gather[k, i, 1] * y[j, 1] + gather[k, i, 2] * y[j, 2]
            u[c, i] = s


def contact_velocity(connections: Connections, p: Array, b: Array) -> Array:
    """Return ``u = W p + b`` (n_c, 3)."""
    u = np.empty(p.shape)
    apply_connections(*connections[:6], p, b, np.empty((connections.y_count, 3)), u)
    return u


@kernel
def diagonal_blocks(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
) -> Array:
    """Return the blocks ``W_cc`` (n_c, 3, 3)."""
    n_c = gather_start.shape[0] - 1
    blocks = np.zeros((n_c, 3, 3))
    for c in range(n_c):
        for g in range(gather_start[c], gather_start[c + 1]):
            for s in range(scatter_start[c], scatter_start[c + 1]):
                if gather_index[g] == scatter_index[s]:
                    for i in range(3):
                        for j in range(3):
                            for l in range(3):
                                blocks[c, i, j] += gather[g, i, l] * scatter[s, j, l]
    return blocks


@kernel
def fill_inverse_normal_diagonal(blocks: Array, rho: Array) -> None:
    """Set `rho` (n_c,) to 1/W_nn from the diagonal blocks, 1 where W_nn vanishes up to rounding."""
    n_c = blocks.shape[0]
    largest = 0.0
    for c in range(n_c):
        largest = max(largest, blocks[c, 0, 0])
    for c in range(n_c):
        W_nn = blocks[c, 0, 0]
        rho[c] = 1.0 / W_nn if W_nn > ZERO_ROW * largest else 1.0


def inverse_normal_diagonal(blocks: Array) -> Array:
    """Return 1/W_nn (n_c,) from the diagonal blocks, 1 where W_nn vanishes up to rounding."""
    rho = np.empty(blocks.shape[0])
    fill_inverse_normal_diagonal(blocks, rho)
    return rho
