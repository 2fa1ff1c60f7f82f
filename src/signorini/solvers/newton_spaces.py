r"""Spaces in which the Newton systems of friction problems are solved.

A space writes the equilibrated W without compliance as :math:`W = G B^{-1} V` by blocks of three: contact c adds
``V_c p_c`` to a few blocks of y and reads its velocity as ``G_c y``. Three makers:

- bodies: y is the velocity of the bodies of a Delassus operator, B = I;
- contacts: y = p, the scatter is the identity and the gather W itself, B = I;
- a basis: many contacts on few bodies make a matrix W of low rank, ``W = L N L^T``; G = V^T = L and B = N^-1 (the
  identity if W is symmetric). L comes from a Cholesky factorisation in an order that keeps it sparse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import linalg, sparse, sparse_linalg
from signorini.problems.connections import Connections
from signorini.problems.delassus import Delassus
from signorini.solvers.friction_equilibrated import EquilibratedProblem

# Pivots of the rank-revealing factorisation below this part of the largest are rounding.
_RANK_TOLERANCE = 1e-13
# Entries of the basis below this are fill that cancelled: W_nn = 1, and what is left out is refined away.
_NOTHING = 1e-14
# A basis with more columns than this part of the unknowns saves nothing.
_LOW_RANK = 0.75


class Space(NamedTuple):
    """W = G B^-1 V by blocks of three, see the module."""

    gather_start: IntArray
    gather_index: IntArray
    gather: Array
    scatter_start: IntArray
    scatter_index: IntArray
    scatter: Array
    n: int
    """Blocks of y."""
    base: Array | None = None
    """B as a matrix (3 n, 3 n), None for the identity."""
    impulses: bool = False
    """Whether y are the impulses themselves."""


def body_space(scaled: EquilibratedProblem, W: Delassus) -> Space:
    """Return the space of the bodies that take part in contacts and can move."""
    connections = W.connections()
    start, index, gather, _, _, scatter, y_count = connections
    used = np.zeros(y_count, dtype=bool)
    used[index[: start[-1]]] = True
    place = np.cumsum(used) - 1
    picked, new_start = _picked(start, scaled.kept)
    scale = np.repeat(scaled.d, np.diff(new_start))[:, None, None]
    blocks = place[index[picked]]
    return Space(new_start, blocks, gather[picked] * scale, new_start, blocks, scatter[picked] * scale, int(used.sum()))


def _picked(start: IntArray, kept: Any) -> tuple[IntArray, IntArray]:
    """Return the blocks of the contacts that are kept, and where each contact begins among them."""
    chosen = np.arange(start.shape[0] - 1)[kept]
    count = np.diff(start)[chosen]
    new_start = np.concatenate([[0], np.cumsum(count)])
    picked = np.repeat(start[chosen] - new_start[:-1], count) + np.arange(new_start[-1])
    return picked, new_start


def contact_space(scaled: EquilibratedProblem, W: Any) -> Space:
    """Return the space of the contacts from the equilibrated W (SciPy sparse, 3 n_c rows)."""
    n_c = scaled.n_c
    rows: Any = sparse.bsr_array(W, blocksize=(3, 3)) if n_c else sparse.bsr_array((1, 1))
    identity = np.zeros((n_c, 3, 3))
    identity[:, [0, 1, 2], [0, 1, 2]] = 1.0
    count = np.arange(n_c + 1)
    gather = np.ascontiguousarray(rows.data[: rows.indptr[n_c]])
    start, index = rows.indptr[: n_c + 1].astype(np.int64), rows.indices.astype(np.int64)
    return Space(start, index, gather, count, count[:n_c].copy(), identity, n_c, impulses=True)


def equilibrated_matrix(scaled: EquilibratedProblem, connections: Connections) -> Any:
    """Return W in equilibrated units as a SciPy sparse matrix, three rows per contact that is kept."""
    gather_start, gather_index, gather, scatter_start, scatter_index, scatter, y_count = connections
    n_c = gather_start.shape[0] - 1
    read, written = gather_start[-1], scatter_start[-1]
    shape = (3 * n_c, 3 * y_count)
    V: Any = sparse.bsr_array((scatter[:written], scatter_index[:written], scatter_start), shape=shape)
    if y_count == n_c and np.array_equal(gather_index[:read], np.arange(n_c)):  # a matrix: the gather is the identity
        W = V.T.tocsr()
    else:
        G: Any = sparse.bsr_array((gather[:read], gather_index[:read], gather_start), shape=shape)
        W = (G @ V.T).tocsr()
    rows = (3 * np.arange(n_c)[scaled.kept][:, None] + np.arange(3)).reshape(-1)
    if rows.size < 3 * n_c:
        W = W[rows][:, rows]
    scale = sparse.diags_array(np.repeat(scaled.d, 3))
    return sparse.csr_array(scale @ W @ scale)


def basis_space(W: Array) -> Space | None:
    """Return the space of a sparse basis of the equilibrated W (dense), None if its rank is not low.

    Pivoted Cholesky of the symmetric part chooses rows ``P`` that span W. With ``W_PP = L_1 L_1^T`` in an order of
    minimum degree, ``L = W_:P L_1^-T`` and ``N = L_1^-1 W_PP L_1^-T`` with the unsymmetric W_PP.
    """
    n = W.shape[0]
    symmetric = 0.5 * (W + W.T)
    _, pivots, rank, trouble = linalg.lapack.dpstrf(symmetric, tol=_RANK_TOLERANCE * np.abs(W).max(), lower=1)
    if trouble < 0 or rank == 0 or rank > _LOW_RANK * n:
        return None
    chosen = np.sort(pivots[:rank] - 1)
    chosen = chosen[_sparse_order(symmetric[np.ix_(chosen, chosen)])]
    L_1, trouble = linalg.lapack.dpotrf(symmetric[np.ix_(chosen, chosen)], lower=1)
    if trouble != 0:
        return None
    L = np.ascontiguousarray(linalg.solve_triangular(L_1, symmetric[chosen], lower=True, check_finite=False).T)
    half = linalg.solve_triangular(L_1, W[np.ix_(chosen, chosen)], lower=True, check_finite=False)
    N = linalg.solve_triangular(L_1, half.T, lower=True, check_finite=False).T
    probe = np.cos(np.arange(n))  # any vector without structure
    if np.abs(L @ (N @ (L.T @ probe)) - W @ probe).max() > 1e-9 * np.abs(W @ probe).max():
        return None
    columns = -(-rank // 3)
    wide = np.zeros((n, 3 * columns))
    wide[:, :rank] = L
    blocks = wide.reshape(n // 3, 3, columns, 3)
    c, k = np.nonzero(np.abs(blocks).max(axis=(1, 3)) > _NOTHING)
    gather = np.ascontiguousarray(blocks[c, :, k, :])
    start = np.searchsorted(c, np.arange(n // 3 + 1))
    base: Array | None = None
    if np.abs(N - np.eye(rank)).max() > 1e-9:
        base = np.eye(3 * columns)
        base[:rank, :rank] = np.linalg.inv(N)
    return Space(start, k, gather, start, k, gather, columns, base)


def _sparse_order(A: Array) -> IntArray:
    """Return an order of minimum degree for the pattern of a symmetric matrix."""
    graph: Any = sparse.csc_array((np.abs(A) > _NOTHING).astype(np.float64))
    graph.setdiag(2.0 * A.shape[0])
    dominant = sparse_linalg.splu(
        graph, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return np.argsort(dominant.perm_c)
