"""The scale-free natural residual of the linear complementarity problems, and a guard against its blind spots."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini._jit import kernel
from signorini._scipy import sparse
from signorini.problems.matrices import Matrix

ROW_TOLERANCE = 1e2
"""Multiple of the tolerance up to which a row of a linear problem may err, relative to its own terms."""
LARGE = 1e3  # unknowns beyond so many constant terms are suspected to run away
LOST = 1e-10  # part of its row below which nothing of a constant term is left to check
_ROUNDING = 1e-13
_EPSILON = float(np.finfo(float).eps)


@kernel
def natural_residual(z: Array, w: Array, constant: Array, d: Array, free: int) -> float:
    r"""Return how far `z` with slack `w` is from complementarity, relative to the size of the problem.

    .. math:: \max\bigl(\max_{i < free} |w_i/d_i|,\; \max_{i \ge free} |\min(z_i, w_i/d_i)|\bigr)
              \,/\, \max(\|z\|_\infty, \|constant/d\|_\infty)

    0 if both norms vanish, infinity if anything is not finite.
    """
    error = 0.0
    size = 0.0
    finite = True
    for i in range(z.size):
        part = w[i] / d[i]
        if i >= free:
            part = min(z[i], part)
        error = max(error, abs(part))
        size = max(size, abs(z[i]), abs(constant[i] / d[i]))
        finite = finite and abs(z[i]) < 1e300 and abs(w[i]) < 1e300  # false for NaN as well
    if not finite:
        return float("inf")
    if not size < 1e300:
        return float("inf")
    return error / size if size > 0.0 else 0.0


def credible(z: Array, w: Array, M: Matrix, constant: Array, d: Array, free: int, tolerance: float) -> bool:
    r"""Tell whether a point of small residual, with ``w = M z + constant``, deserves to be called a solution.

    The residual is one number for all rows, measured against the largest unknown. Two things escape it:

    - errors of rows and unknowns that are small beside others. So every row is looked at by itself. Unknowns whose
      slack counts for more than they do are taken for zero; then all rows must be right to a multiple of the tolerance
      of their own terms, that is, the point must solve a problem whose every entry differs by that much [OP]_, but for
      the rounding of the largest unknown.
    - points that ran away to infinity, with errors as large as the data. Where unknowns are large every row must be
      right in units of the constant term, or, where rounding forbids this, to rounding of its own terms; where unknowns
      are so large that nothing of the constant term is left in any row, they are refused.

    References
    ----------
    .. [OP] Oettli & Prager (1964), compatibility of approximate solution of linear equations with given error bounds.
    """
    sizes: Any = abs(M)
    terms = sizes @ np.abs(z) + np.abs(constant)
    if not _every_row(z, w, M, sizes, terms, constant, free, ROW_TOLERANCE * tolerance):
        return False
    size = float(np.abs(constant / d).max(initial=0.0))
    if np.abs(z).max(initial=0.0) <= LARGE * size:
        return True
    seen = constant != 0.0
    if seen.any() and not (np.abs(constant[seen]) >= LOST * terms[seen]).any():
        return False
    part = w / d
    error = np.abs(np.concatenate([part[:free], np.minimum(z[free:], part[free:])]))
    rounding = max(_ROUNDING, 1e-3 * tolerance) * terms / d
    return bool((error <= np.maximum(tolerance * size, rounding)).all())


def without_dust(z: Array, w: Array, M: Matrix, constant: Array, free: int) -> Array:
    """Return `z` without the unknowns that count for less than their slacks `w`: they stand for zero."""
    sizes: Any = abs(M)
    return np.where(_positive(z, w, sizes, sizes @ np.abs(z) + np.abs(constant), free), z, 0.0)


def _positive(z: Array, w: Array, sizes: Matrix, terms: Array, free: int) -> BoolArray:
    """Tell which unknowns count for more than their slacks, in the row that each moves most; all that are free do."""
    positive = np.ones(z.size, dtype=bool)
    if free < z.size:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(terms > 0.0, 1.0 / terms, 0.0)
            counts = np.asarray(_largest_by_column(sizes, share)) * np.abs(z)
            positive[free:] = (counts > w * share)[free:]
    return positive


def _every_row(
    z: Array, w: Array, M: Matrix, sizes: Matrix, terms: Array, constant: Array, free: int, tolerance: float
) -> bool:
    """Tell whether every row of `z`, without the unknowns that count for less than their slack, is right by itself."""
    positive = _positive(z, w, sizes, terms, free)
    cut = np.where(positive, z, 0.0)
    if not np.array_equal(cut, z):  # and with them the terms beside which rows are right
        w, terms = M @ cut + constant, sizes @ np.abs(cut) + np.abs(constant)
    # Unknowns that vanish but for rounding may be wrong by that of the largest; where they are zero they are not.
    noise = 4.0 * _EPSILON * z.size * float(np.abs(cut).max(initial=0.0))
    allowed = tolerance * terms + noise * (sizes @ (cut != 0.0).astype(float))
    return bool((np.abs(w) <= allowed)[positive].all() and (w >= -allowed).all() and (cut[free:] >= 0.0).all())


def _largest_by_column(sizes: Matrix, share: Array) -> Array:
    if isinstance(sizes, np.ndarray):
        return np.asarray((sizes * share[:, None]).max(axis=0, initial=0.0))
    scaled: Any = sparse.csc_array(sparse.diags_array(share) @ sizes)
    return np.asarray(scaled.max(axis=0).toarray(), dtype=np.float64).reshape(-1)
