r"""Newton systems of friction problems behind one interface.

Interior point and proximal Newton both ask, with small blocks S_c of their own,

.. math:: dr = g - S (W\,dr + e)

in equilibrated units. Where W has low rank (many contacts on few bodies), ``W = G V`` with few columns in G, the
system ``(I + V S G) dy = V (g - S e)``, ``dr = g - S e - S G dy`` is the small one; else ``(I + S W) dr = g - S e``.
Compliance ``W + diag(alpha, 0, 0)`` turns S into ``S - alpha S_0 S_0^T / (1 + alpha S_00)`` (its column and row 0).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.problems.couplings import apply_couplings
from signorini.problems.delassus import Delassus
from signorini.problems.friction import FrictionProblem
from signorini.solvers.friction_equilibrated import EquilibratedProblem

# Above so many unknowns a W with few entries per row is factorised as a sparse matrix: measured 50 times faster than
# dense at 800 unknowns and 15 entries per row, no faster at 50 entries per row.
_SPARSE_FROM = 240
_SPARSE_ROW = 25
# Beyond this many unknowns a dense factorisation is out of the question.
_DENSE_LIMIT = 3000
# Pivots of the rank-revealing factorisation below this part of the largest are rounding.
_RANK_TOLERANCE = 1e-13


def newton_system(scaled: EquilibratedProblem) -> NewtonSystem:
    """Return the linear algebra that suits size and structure."""
    problem = scaled.problem
    alpha = np.broadcast_to(np.asarray(problem.compliance, dtype=np.float64), (problem.contact_count,))
    alpha = np.ascontiguousarray(alpha[scaled.kept] * scaled.d**2)
    n = 3 * scaled.n_c
    if n > _SPARSE_FROM:
        sparse_space = SparseSpace(problem, scaled.d, scaled.kept)
        if sparse_space.W.nnz < _SPARSE_ROW * n or n > _DENSE_LIMIT:
            return sparse_space
    if isinstance(problem.W, Delassus):
        bodies = _active_bodies(problem.W)
        if 6 * bodies.size < n:
            return BodySpace(problem.W, scaled.d, scaled.kept, bodies, alpha)
    return contact_space(scaled, alpha)


def _active_bodies(W: Delassus) -> IntArray:
    """Return the bodies that take part in contacts and can move."""
    touched = np.zeros(W.M_inv.shape[0], dtype=bool)
    touched[W.body_a] = True
    touched[W.body_b] = True
    return np.flatnonzero(touched & (np.abs(W.M_inv).max(axis=(1, 2)) > 0.0))


class NewtonSystem:
    """Base of the linear algebra: keeps the blocks with compliance worked in."""

    def __init__(self, alpha: Array) -> None:
        self.alpha: Array | None = alpha[:, None] if alpha.any() else None
        self.S: Array = np.zeros((0, 3, 3))
        self.row: Array = np.zeros((0, 3))

    def factor(self, S: Array) -> bool:
        """Factorise for the blocks `S` (n_c, 3, 3); False if that failed."""
        self.S0 = S
        if self.alpha is not None:
            self.row = self.alpha * S[:, :, 0] / (1.0 + self.alpha * S[:, 0, 0][:, None])
            S = S - self.row[:, :, None] * S[:, 0, None, :]
        self.S = S
        try:
            return self._factor()
        except (np.linalg.LinAlgError, ValueError, RuntimeError):
            return False

    def solve(self, g: Array, e: Array | None) -> Array:
        """Return dr (n_c, 3) of ``dr = g - S (W dr + e)``."""
        right = g if e is None else g - np.einsum("cij,cj->ci", self.S0, e)
        if self.alpha is not None:
            right = right - self.row * right[:, :1]
        return self._solve(right)

    def defect(self, g: Array, du: Array, dr: Array) -> Array:
        """Return what `dr` with ``du = W dr + e`` leaves of the equation."""
        left: Array = g - np.einsum("cij,cj->ci", self.S0, du) - dr
        return left

    def _factor(self) -> bool:
        raise NotImplementedError

    def _solve(self, right: Array) -> Array:
        raise NotImplementedError


class _Lu:
    """LU factors of a dense matrix, by LAPACK."""

    def __init__(self, K: Array) -> None:
        # The transposed of a C array is what LAPACK wants; getrs then solves with the transposed factors.
        self.lu, self.pivots, trouble = linalg.lapack.dgetrf(K.T, overwrite_a=1)
        self.ok = bool(trouble == 0)

    def solve(self, right: Array) -> Array:
        x, _ = linalg.lapack.dgetrs(self.lu, self.pivots, right, trans=1)
        result: Array = x
        return result


class ContactSpace(NewtonSystem):
    """``(I + S W) dr``: dense, as many unknowns as impulses."""

    lu: _Lu

    def __init__(self, W: Array, alpha: Array) -> None:
        super().__init__(alpha)
        self.n_c = W.shape[0] // 3
        self.W = W.reshape(self.n_c, 3, W.shape[0])

    def _factor(self) -> bool:
        n = 3 * self.n_c
        K = np.matmul(self.S, self.W).reshape(n, n)
        K.reshape(-1)[:: n + 1] += 1.0
        self.lu = _Lu(K)
        return self.lu.ok

    def _solve(self, right: Array) -> Array:
        return self.lu.solve(right.reshape(-1)).reshape(-1, 3)


class LowRankSpace(NewtonSystem):
    """``W = L N L^T`` with few columns: ``(I + N L^T S L) dy``."""

    lu: _Lu

    def __init__(self, L: Array, N: Array | None, alpha: Array) -> None:
        super().__init__(alpha)
        self.L = L
        self.N = N
        self.L3 = L.reshape(-1, 3, L.shape[1])

    def _factor(self) -> bool:
        k = self.L.shape[1]
        K = self.L.T @ np.matmul(self.S, self.L3).reshape(-1, k)
        if self.N is not None:
            K = self.N @ K
        K.reshape(-1)[:: k + 1] += 1.0
        self.lu = _Lu(K)
        return self.lu.ok

    def _solve(self, right: Array) -> Array:
        reduced = self.L.T @ right.reshape(-1)
        dy = self.lu.solve(reduced if self.N is None else self.N @ reduced)
        dr: Array = right - np.einsum("cij,cj->ci", self.S, (self.L @ dy).reshape(-1, 3))
        return dr


def contact_space(scaled: EquilibratedProblem, alpha: Array) -> NewtonSystem:
    """Return the dense system of a matrix W, in low-rank form where that is much smaller."""
    problem = scaled.problem
    n_c = problem.contact_count
    W = problem.W.dense() if isinstance(problem.W, Delassus) else problem.dense()
    if not isinstance(problem.W, Delassus):
        alpha = np.zeros_like(alpha)  # dense() has it already
    if problem.dim == 2:
        wide = np.zeros((n_c, 3, n_c, 3))
        wide[:, :2, :, :2] = W.reshape(n_c, 2, n_c, 2)
        W = wide.reshape(3 * n_c, 3 * n_c)
    if scaled.n_c < n_c:
        rows = (3 * np.asarray(scaled.kept)[:, None] + np.arange(3)).reshape(-1)
        W = W[np.ix_(rows, rows)]
    d = np.repeat(scaled.d, 3)
    W = W * d[:, None] * d
    factors = _low_rank(W) if W.shape[0] > 60 else None
    return ContactSpace(W, alpha) if factors is None else LowRankSpace(*factors, alpha)


def _low_rank(W: Array) -> tuple[Array, Array | None] | None:
    """Return L and N with ``W = L N L^T`` (N None for the identity), None if the rank is not low.

    Pivoted Cholesky of the symmetric part; with the pivot rows ``L_1`` of L, ``N = L_1^-1 W_11 L_1^-T``.
    """
    n = W.shape[0]
    symmetric = 0.5 * (W + W.T)
    factor, pivots, rank, trouble = linalg.lapack.dpstrf(symmetric, tol=_RANK_TOLERANCE * np.abs(W).max(), lower=1)
    if trouble < 0 or rank == 0 or rank > 0.75 * n:
        return None
    order = pivots - 1
    L = np.zeros((n, rank))
    L[order] = np.tril(factor)[:, :rank]
    chosen = order[:rank]
    L_1 = np.tril(factor[:rank, :rank])
    half = linalg.solve_triangular(L_1, W[np.ix_(chosen, chosen)], lower=True, check_finite=False)
    N = linalg.solve_triangular(L_1, half.T, lower=True, check_finite=False).T
    probe = np.cos(np.arange(n))  # any vector without structure
    if np.abs(L @ (N @ (L.T @ probe)) - W @ probe).max() > 1e-9 * np.abs(W @ probe).max():
        return None
    return np.ascontiguousarray(L), None if np.abs(N - np.eye(rank)).max() < 1e-9 else N


class BodySpace(NewtonSystem):
    """``(I + V S G) dy`` in the velocities of the bodies."""

    lu: _Lu

    def __init__(self, W: Delassus, d: Array, kept: Any, bodies: IntArray, alpha: Array) -> None:
        super().__init__(alpha)
        couplings = W.couplings()
        place = np.zeros(couplings.y_count, dtype=np.int64)
        place[2 * bodies] = 2 * np.arange(bodies.size)
        place[2 * bodies + 1] = 2 * np.arange(bodies.size) + 1
        chosen = np.arange(W.contact_count)[kept]
        start, index, gather, _, _, scatter, _ = couplings
        count = np.diff(start)[chosen]
        picked = np.repeat(start[chosen] - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())
        self.start = np.concatenate([[0], np.cumsum(count)])
        self.index = place[index[picked]]
        scale = np.repeat(d, count)[:, None, None]
        self.gather = gather[picked] * scale
        self.scatter = scatter[picked] * scale
        self.n = 6 * bodies.size

    def _factor(self) -> bool:
        K = np.zeros((self.n, self.n))
        _add_blocks(self.start, self.index, self.gather, self.scatter, self.S, K)
        K.reshape(-1)[:: self.n + 1] += 1.0
        self.lu = _Lu(K)
        return self.lu.ok

    def _solve(self, right: Array) -> Array:
        y = np.zeros((self.n // 3, 3))
        unused = np.zeros(right.shape)
        blocks = (self.start, self.index, self.gather, self.start, self.index, self.scatter)
        apply_couplings(*blocks, right, unused, y, unused)
        dy = self.lu.solve(y.reshape(-1)).reshape(-1, 3)
        return right - _spread(self.start, self.index, self.gather, self.S, dy)


class SparseSpace(NewtonSystem):
    """``(I + S W) dr`` by sparse factorisation, for contacts with few neighbours."""

    def __init__(self, problem: FrictionProblem, d: Array, kept: Any) -> None:
        super().__init__(np.zeros(0))
        gather_start, gather_index, gather, scatter_start, scatter_index, scatter, y_count = problem.couplings
        n_c = problem.contact_count
        read, written = gather_start[-1], scatter_start[-1]
        shape = (3 * n_c, 3 * y_count)
        G = sparse.bsr_array((gather[:read], gather_index[:read], gather_start), shape=shape)
        V = sparse.bsr_array((scatter[:written], scatter_index[:written], scatter_start), shape=shape)
        rows = (3 * np.arange(n_c)[kept][:, None] + np.arange(3)).reshape(-1)
        scale = sparse.diags_array(np.repeat(d, 3))
        self.W: Any = scale @ (G @ V.T).tocsr()[rows][:, rows] @ scale
        self.n_c = rows.size // 3

    def _factor(self) -> bool:
        count = np.arange(self.n_c + 1)
        S = sparse.bsr_array((self.S, count[:-1], count), shape=self.W.shape)
        K: Any = sparse.eye_array(3 * self.n_c) + S.tocsr() @ self.W
        self.lu: Any = splu(K.tocsc())
        return True

    def _solve(self, right: Array) -> Array:
        dr: Array = self.lu.solve(right.reshape(-1)).reshape(-1, 3)
        return dr


@kernel
def _add_blocks(start: IntArray, index: IntArray, gather: Array, scatter: Array, S: Array, K: Array) -> None:
    """Add ``V S G`` to K, contact by contact."""
    for c in range(S.shape[0]):
        for g in range(start[c], start[c + 1]):
            for l in range(3):
                # column l of S_c G
                s0 = 0.0
                s1 = 0.0
                s2 = 0.0
                for i in range(3):
                    s0 += S[c, 0, i] * gather[g, i, l]
                    s1 += S[c, 1, i] * gather[g, i, l]
                    s2 += S[c, 2, i] * gather[g, i, l]
                column = 3 * index[g] + l
                for v in range(start[c], start[c + 1]):
                    for j in range(3):
                        K[3 * index[v] + j, column] += (
                            scatter[v, 0, j] * s0 + scatter[v, 1, j] * s1 + scatter[v, 2, j] * s2
                        )


@kernel
def _spread(start: IntArray, index: IntArray, gather: Array, S: Array, y: Array) -> Array:
    """Return ``S G y`` (n_c, 3)."""
    out = np.zeros((S.shape[0], 3))
    for c in range(S.shape[0]):
        for g in range(start[c], start[c + 1]):
            k = index[g]
            for i in range(3):
                v = gather[g, i, 0] * y[k, 0] + gather[g, i, 1] * y[k, 1] + gather[g, i, 2] * y[k, 2]
                for j in range(3):
                    out[c, j] += S[c, j, i] * v
    return out
