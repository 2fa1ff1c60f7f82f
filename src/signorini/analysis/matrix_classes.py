r"""Classes of matrices that decide what an LCP can do, besides the P-matrices of :mod:`signorini.analysis.p_matrix`.

===================  ===============================================================================
class                what it says about ``0 <= x ⊥ D x + y >= 0`` (w = D x + y)
===================  ===============================================================================
P                    one solution for every y
positive definite    P, and every convex method works
adequate             P0; wherever a solution exists w is unique, x need not be
sufficient           the solutions form a polyhedron, and criss-cross and interior-point methods are safe
copositive           Lemke's method ends with a solution or with a ray that says something
===================  ===============================================================================

The exact tests look at all principal subsets and are limited in size.

References
----------
.. [CPS] Cottle, Pang & Stone, *The Linear Complementarity Problem*, chapter 3.
.. [I] Ingleton (1966), adequate matrices.
.. [CG] Cottle & Guu (1992): a matrix is sufficient iff every principal pivotal transform is sufficient of order 2.
.. [Ka] Kaplan (2000): copositive iff no principal submatrix has a positive eigenvector with negative eigenvalue.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array
from signorini._jit import kernel
from signorini.analysis.answer import Answer
from signorini.analysis.p_matrix import ROUNDING, SIZE_LIMIT, PMatrix, p_matrix, square_matrix

DEPENDENT = 1e-9
"""Relative size below which a pivot of a matrix made from geometry counts as zero: the rows are dependent."""

SUBSET_LIMIT = 8
"""Largest size at which all subsets are taken through linear algebra one by one."""

_ADEQUATE_LIMIT = 16


@dataclass(frozen=True, slots=True)
class MatrixClasses:
    """One answer per class."""

    p: PMatrix
    positive_definite: Answer
    adequate: Answer
    sufficient: Answer
    copositive: Answer


def matrix_classes(D: ArrayLike, *, limit: int = SIZE_LIMIT) -> MatrixClasses:
    """Tell to which of the classes above `D` belongs; `limit` as in :func:`p_matrix`."""
    A = square_matrix(D)
    return MatrixClasses(p_matrix(A, limit=limit), positive_definite(A), adequate(A), sufficient(A), copositive(A))


def positive_definite(D: ArrayLike) -> Answer:
    """Tell whether ``x . D x > 0`` for all x != 0; `D` need not be symmetric."""
    A = square_matrix(D)
    if A.size == 0:
        return Answer.YES
    eigenvalues = np.linalg.eigvalsh(0.5 * (A + A.T))
    rounding = ROUNDING * np.abs(A).max()
    if abs(eigenvalues[0]) <= rounding:
        return Answer.BORDERLINE
    return Answer.YES if eigenvalues[0] > 0.0 else Answer.NO


def copositive(D: ArrayLike) -> Answer:
    """Tell whether ``x . D x >= 0`` for all x >= 0."""
    A = square_matrix(D)
    S = 0.5 * (A + A.T)
    m = S.shape[0]
    rounding = ROUNDING * np.abs(S).max(initial=0.0)
    if m == 0 or S.min() >= 0.0 or np.linalg.eigvalsh(S)[0] >= -rounding:
        return Answer.YES
    if S.diagonal().min() < -rounding:
        return Answer.NO
    if m > SUBSET_LIMIT:
        return Answer.UNDECIDED
    for size in range(2, m + 1):
        for rows in combinations(range(m), size):
            values, vectors = np.linalg.eigh(S[np.ix_(rows, rows)])
            for value, v in zip(values, vectors.T, strict=True):
                if value < -rounding and (np.all(v > 0.0) or np.all(v < 0.0)):
                    return Answer.NO
    return Answer.YES


def adequate(D: ArrayLike) -> Answer:
    """Tell whether no principal minor is negative and dependent rows or columns explain every one that is zero.

    Diagonal entries must be positive, as they are where contacts can move; zero means smaller than
    :data:`DEPENDENT` after scaling.
    """
    A = square_matrix(D)
    if A.size == 0:
        return Answer.YES
    d = A.diagonal()
    if d.min() < 0.0:
        return Answer.NO
    if d.min() == 0.0 or A.shape[0] > _ADEQUATE_LIMIT:
        return Answer.UNDECIDED
    scale = 1.0 / np.sqrt(d)
    return Answer.YES if _adequate(np.ascontiguousarray(scale[:, None] * A * scale), DEPENDENT) else Answer.NO


def sufficient(D: ArrayLike) -> Answer:
    """Tell whether `D` is row and column sufficient."""
    A = square_matrix(D)
    if positive_definite(A) is Answer.YES or p_matrix(A, limit=SUBSET_LIMIT):
        return Answer.YES
    m = A.shape[0]
    if m > SUBSET_LIMIT:
        return Answer.UNDECIDED
    rounding = ROUNDING * np.abs(A).max(initial=1.0)
    for size in range(m + 1):
        for rows in combinations(range(m), size):
            T = _principal_pivot(A, rows, rounding)
            if T is not None and not _sufficient_of_order_two(T, rounding):
                return Answer.NO
    return Answer.YES


def _principal_pivot(A: Array, rows: tuple[int, ...], rounding: float) -> Array | None:
    """Return the matrix after exchanging w and x in `rows`; None if that block is singular."""
    if not rows:
        return A
    rest = [i for i in range(A.shape[0]) if i not in rows]
    block = A[np.ix_(rows, rows)]
    if np.linalg.svd(block, compute_uv=False)[-1] <= rounding:
        return None
    inverse = np.linalg.inv(block)
    T = np.empty_like(A)
    B, C = A[np.ix_(rows, rest)], A[np.ix_(rest, rows)]
    T[np.ix_(rows, rows)] = inverse
    T[np.ix_(rows, rest)] = -inverse @ B
    T[np.ix_(rest, rows)] = C @ inverse
    T[np.ix_(rest, rest)] = A[np.ix_(rest, rest)] - C @ inverse @ B
    return T


def _sufficient_of_order_two(T: Array, rounding: float) -> bool:
    """Tell whether every 2x2 principal submatrix is row and column sufficient."""
    size = max(rounding, ROUNDING * float(np.abs(T).max()))
    T = np.where(np.abs(T) <= size, 0.0, T)
    if T.diagonal().min() < 0.0:
        return False
    for i, j in combinations(range(T.shape[0]), 2):
        a, b, c, d = T[i, i], T[i, j], T[j, i], T[j, j]
        if a * d - b * c < -ROUNDING * (abs(a * d) + abs(b * c)):
            return False
        # A zero on the diagonal: the two entries beside it vanish together, or have opposite signs.
        if (a == 0.0 or d == 0.0) and not (b == c == 0.0 or b * c < 0.0):
            return False
    return True


@kernel
def _adequate(A: Array, tolerance: float) -> bool:
    """Walk as the P-test does, but keep all rows: a zero pivot must have a zero row and a zero column."""
    m = A.shape[0]
    work = np.zeros((m + 1, m, m))
    largest = np.zeros(m + 1)
    done = np.zeros(m + 1, dtype=np.int64)
    taken = np.zeros(m + 1, dtype=np.int64)
    for i in range(m):
        for j in range(m):
            work[0, i, j] = A[i, j]
            largest[0] = max(largest[0], abs(A[i, j]))
    k = 0
    while k >= 0:
        if k == m or done[k] == 2:
            done[k] = 0
            taken[k] = 0
            k -= 1
            continue
        pivot = work[k, k, k]
        zero = tolerance * largest[k]
        if done[k] == 0:
            if pivot < -zero:
                return False
            for i in range(m):
                for j in range(m):
                    work[k + 1, i, j] = work[k, i, j]
            largest[k + 1] = largest[k]
            done[k] = 1
            k += 1
        elif pivot <= zero:
            for i in range(m):
                if taken[i] == 0 and (abs(work[k, i, k]) > zero or abs(work[k, k, i]) > zero):
                    return False
            done[k] = 2
        else:
            taken[k] = 1
            top = largest[k]
            for i in range(m):
                if taken[i] == 1:
                    continue
                f = work[k, i, k] / pivot
                for j in range(m):
                    if taken[j] == 0:
                        x = work[k, i, j] - f * work[k, k, j]
                        work[k + 1, i, j] = x
                        top = max(top, abs(x))
            largest[k + 1] = top
            done[k] = 2
            k += 1
    return True
