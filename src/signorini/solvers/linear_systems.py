"""Linear systems inside the solvers: dense or sparse, refined, and without exceptions where a matrix is singular."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini._scipy import linalg, sparse, sparse_linalg
from signorini.math.dense_lu import LOST_IN_ROUNDING
from signorini.problems.matrices import Matrix

Factors = Callable[[Array], Array]
"""Takes a right-hand side, returns the solution; made once, used often."""


def factorised(K: Matrix) -> Factors | None:
    """Return the LU factors of `K` as a function, None if `K` is exactly singular or not finite.

    LAPACK and SuperLU are never shown an empty matrix, nor one that is not finite: they would print, or not return.
    """
    if K.shape[0] == 0:
        return np.copy
    if not np.isfinite(K if isinstance(K, np.ndarray) else K.data).all():
        return None
    if isinstance(K, np.ndarray):
        return _dense_factors(K)
    return _sparse_factors(K)


def _dense_factors(K: Array) -> Factors | None:
    factors, places, trouble = linalg.lapack.dgetrf(K)
    if trouble != 0:
        return None

    def solve(r: Array) -> Array:
        x: Array = linalg.lapack.dgetrs(factors, places, r)[0]
        return x

    return solve


def _sparse_factors(K: Any) -> Factors | None:
    """Factorise on the pattern of ``K + K^T`` where the diagonal is positive, which fills in far less."""
    columns = sparse.csc_array(K)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if (columns.diagonal() > 0.0).all():
                lu = sparse_linalg.splu(
                    columns, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01, options={"SymmetricMode": True}
                )
            else:
                lu = sparse_linalg.splu(columns)
        except RuntimeError:
            return None
    solve: Factors = lu.solve
    return solve


def regular_factors(K: Matrix) -> Factors | None:
    """Return the LU factors of `K` with rows scaled to one, None where a pivot is what rounding left of its column.

    An answer cannot tell: if the right-hand side is consistent, a singular system answers with moderate numbers, which
    depend on how the last bits were rounded.
    """
    rows = sparse.csr_array(K) if not isinstance(K, np.ndarray) else K
    most = _largest(rows, 1)
    if not (np.isfinite(most).all() and (most > 0.0).all()):
        return None
    if isinstance(rows, np.ndarray):
        A = rows / most[:, None]
        factors, places, trouble = linalg.lapack.dgetrf(A)
        pivot, of = np.abs(np.diagonal(factors)), _largest(A, 0)
        if trouble != 0 or (pivot <= LOST_IN_ROUNDING * of).any():
            return None
        return lambda r: linalg.lapack.dgetrs(factors, places, r / most)[0]
    columns = sparse.csc_array(sparse.diags_array(1.0 / most) @ rows)
    try:
        lu = sparse_linalg.splu(columns, options={"Equil": False})
    except RuntimeError:
        return None
    if (np.abs(lu.U.diagonal())[lu.perm_c] <= LOST_IN_ROUNDING * _largest(columns, 0)).any():
        return None
    return lambda r: lu.solve(r / most)


def _largest(K: Any, axis: int) -> Array:
    """Return the largest size of an entry by row (1) or column (0)."""
    if K.shape[0] == 0:
        return np.zeros(0)
    most = np.abs(K).max(axis=axis)
    return np.asarray(most if isinstance(K, np.ndarray) else most.toarray()).reshape(-1)


def solve_linear(K: Matrix, r: Array) -> Array | None:
    """Return the solution of ``K x = r`` with one step of refinement, None where the method breaks down.

    A singular dense system is answered by least squares, which is exact if the system is consistent.
    """
    if r.size == 0:
        return np.zeros(0)
    with np.errstate(all="ignore"):
        solve = factorised(K)
        if solve is not None:
            x = solve(r)
            x = x + solve(r - K @ x)
            if np.isfinite(x).all():
                return x
    return least_squares(K, r) if isinstance(K, np.ndarray) else None


def least_squares(K: Array, r: Array, lost: float | None = None) -> Array | None:
    """Return the shortest x that makes ``K x - r`` smallest, None where the method breaks down.

    A share `lost` of the largest pivot is taken for zero, that of rounding if not given.
    """
    if not (np.isfinite(K).all() and np.isfinite(r).all()):
        return None
    try:
        x = np.asarray(linalg.lstsq(K, r, cond=lost, lapack_driver="gelsy", check_finite=False)[0], dtype=np.float64)
    except (np.linalg.LinAlgError, ValueError):
        return None
    return x if np.isfinite(x).all() else None
