"""Friction problems with couples in equilibrated units, in which sweeps and Newton's method work."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import linalg, sparse, sparse_linalg
from signorini.errors import InputError
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_extension import SPARSE_FROM, diagonal_blocks_of, scaled_operator
from signorini.problems.matrices import Matrix, compressed_rows, dense
from signorini.solvers.block_lu import BlockPattern
from signorini.solvers.extended_kernels import (
    add_newton_blocks,
    extended_sweeps,
    friction_derivatives,
    friction_function,
    left_by_step,
)
from signorini.solvers.friction_newton import SparseFactors

_SPARSE_SHARE = 0.1  # part of all entries up to which W counts as sparse


class EquilibratedExtension:
    """A problem with unit mean diagonal in every group of components and ``max |b| = 1``.

    Contacts whose normal component cannot answer are left out. ``x = d s r``, ``u' = d u / s``; d is one number for
    each group of a contact, so that balls stay balls: their limits become ``m_k d_n / d_k``.
    """

    def __init__(self, problem: FrictionProblem) -> None:
        self.problem = problem
        extension, rows = problem.extension, problem.rows
        if extension is None or rows == problem.dim:
            raise InputError("friction problem: has no couples, must have some to be equilibrated by groups")
        movable = problem.blocks[:, 0, 0] * problem.rho > 0.5  # rho is 1/W_nn except where W_nn counts as zero
        self.kept: IntArray = np.flatnonzero(movable)
        self.starts = extension.starts
        blocks = problem.blocks[self.kept]
        limits = extension.limits[self.kept]
        d = np.repeat(np.sqrt(problem.rho[self.kept])[:, None], rows, axis=1)
        for k in range(self.starts.size - 1):
            group = slice(int(self.starts[k]), int(self.starts[k + 1]))
            diagonal = np.diagonal(blocks, axis1=1, axis2=2)[:, group].mean(axis=1)
            moves = diagonal > 1e-14 * problem.rho[self.kept] ** -1
            d[:, group] = np.where(moves, 1.0 / np.sqrt(np.where(moves, diagonal, 1.0)), d[:, 0])[:, None]
        self.d = d
        self.limits = np.ascontiguousarray(limits * d[:, :1] / d[:, self.starts[:-1]])
        picked = (rows * self.kept[:, None] + np.arange(rows)).reshape(-1)
        W: Any = problem.scaled_W
        W = np.ascontiguousarray(W[np.ix_(picked, picked)]) if isinstance(W, np.ndarray) else W[picked][:, picked]
        self.W = cast(Matrix, scaled_operator(cast(Matrix, W), d))
        self.blocks = diagonal_blocks_of(self.W, rows)
        load = problem.load[self.kept] * d
        self.s = float(np.abs(load).max(initial=0.0)) or 1.0
        self.b = np.ascontiguousarray(load / self.s)
        self.compressed = compressed_rows(self.W)
        n = self.b.size
        self.sparse = n > SPARSE_FROM and self.compressed[2].size < _SPARSE_SHARE * n * n
        self.dense = np.zeros((0, 0)) if self.sparse else dense(self.W)
        if self.sparse:
            self.W = cast(Matrix, sparse.csr_array(self.W))
        self._by_threes: _BlocksOfThree | None = None

    def scaled(self, x: Array) -> Array:
        """Return impulses of all contacts in equilibrated units."""
        return np.ascontiguousarray(x[self.kept] / (self.d * self.s))

    def impulses(self, r: Array) -> Array:
        """Return impulses of all contacts."""
        x = np.zeros((self.problem.contact_count, self.problem.rows))
        x[self.kept] = r * (self.d * self.s)
        return x

    def residual(self, r: Array) -> float:
        """Return the problem's own residual."""
        return self.problem.residual_by_contacts(self.impulses(r))

    def velocity(self, r: Array) -> Array:
        """Return ``u' = W' r + b'``."""
        W: Any = self.W
        u: Array = (W @ r.reshape(-1)).reshape(r.shape) + self.b
        return u

    def function(self, u: Array, r: Array) -> tuple[Array, float]:
        """Return the Alart-Curnier function and its norm."""
        F = np.empty(r.shape)
        return F, friction_function(u, r, self.limits, self.starts, F)

    def sweep(self, r: Array, count: int, window: int) -> Array:
        """Return where `count` accelerated double sweeps lead from `r`."""
        r = r.copy()
        extended_sweeps(*self.compressed, self.b, self.blocks, self.limits, self.starts, r, count, window)
        return r

    def newton_step(self, u: Array, r: Array, F: Array, alpha: float) -> Array | None:
        """Return dr of ``(B + A (W + alpha)) dr = -F``, None if the matrix is singular."""
        n_c, rows = r.shape
        A, B = np.empty((n_c, rows, rows)), np.empty((n_c, rows, rows))
        friction_derivatives(u, r, self.limits, self.starts, A, B)
        B += alpha * A
        n = n_c * rows
        if n == 0 or not (np.isfinite(A).all() and np.isfinite(B).all() and np.isfinite(F).all()):
            return None
        if self.sparse and rows == 3:
            if self._by_threes is None:
                self._by_threes = _BlocksOfThree(self.W)
            return self._by_threes.step(A, B, F)
        if self.sparse:
            count = np.arange(n_c + 1)
            A_, B_ = (sparse.bsr_array((part, count[:-1], count), shape=(n, n)) for part in (A, B))
            try:
                step: Any = sparse_linalg.splu(sparse.csc_array(B_.tocsr() + A_.tocsr() @ self.W)).solve(-F.reshape(-1))
            except RuntimeError:
                return None
        else:
            K = np.matmul(A, self.dense.reshape(n_c, rows, n)).reshape(n_c, rows, n_c, rows)
            K[np.arange(n_c), :, np.arange(n_c), :] += B
            _, _, step, trouble = linalg.lapack.dgesv(K.reshape(n, n), -F.reshape(-1), overwrite_a=1)
            if trouble != 0:
                return None
        return np.asarray(step.reshape(r.shape)) if np.isfinite(step).all() else None


class _BlocksOfThree:
    """Newton steps of contacts with three components (planar ones with a couple), factorised by blocks."""

    def __init__(self, W: Any) -> None:
        self._W = sparse.bsr_array(W, blocksize=(3, 3))
        n_c = W.shape[0] // 3
        rows, columns = np.repeat(np.arange(n_c), np.diff(self._W.indptr)), self._W.indices.astype(np.int64)
        self._factors = SparseFactors(BlockPattern(rows, columns, n_c))
        self._positions = self._factors.positions(rows, columns)
        self._start = self._W.indptr.astype(np.int64)

    def step(self, A: Array, B: Array, F: Array) -> Array | None:
        """Return dr of ``(B + A W) dr = -F`` as that of ``dr = g - S W dr``, None if a matrix is singular."""
        g, S = np.empty(F.shape), np.empty(A.shape)
        blocks = self._factors.cleared()
        add_newton_blocks(A, B, F, self._start, self._W.data, self._positions, S, g, blocks)
        if not self._factors.factor():
            return None
        dr = self._factors.solve(g)
        dr += self._factors.solve(left_by_step(S, g, dr, (self._W @ dr.reshape(-1)).reshape(dr.shape)))
        return dr if np.isfinite(dr).all() else None
