r"""Is a matrix a P-matrix: are all its principal minors positive?

Exactly then the LCP ``0 <= x ⊥ D x + y >= 0`` has one solution for every y (S4, theorem 3.1). With the Schur complement
:math:`D/d_{11} = D_{22} - d_{21} d_{12} / d_{11}`,

.. math:: D \in P \iff d_{11} > 0, \quad D_{22} \in P, \quad D/d_{11} \in P,

so the :math:`2^m - 1` minors cost about :math:`6 \cdot 2^m` multiplications. Every pivot met on the way is the quotient
of two principal minors, and all minors are positive exactly if all pivots are.

A matrix whose graph falls into strongly connected parts has the minors of its parts as factors; each part is tested
alone, so many contacts on separate bodies cost little.

References
----------
.. [S4] Dupont & Yamajako (1997), definition 3.1 and theorem 3.1.
.. [TL] Tsatsomeros & Li (2000), the recursive test.
.. [K] Kellogg (1972): eigenvalues of a P-matrix satisfy ``|arg| < pi - pi/m``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from signorini._arrays import Array, IntArray, checked, checked_number
from signorini._jit import kernel
from signorini.analysis.answer import Answer
from signorini.errors import InputError

SIZE_LIMIT = 20
"""Largest part that is tested exactly unless the caller says otherwise: a few hundredths of a second."""

MOST_ROWS = 30
"""Largest limit that may be asked for: half a minute."""

ROUNDING = 1e-12
"""A pivot this small against the largest number met on its way may be rounding of zero."""

_QUICK = 10  # up to this size the exact test is cheaper than one call for eigenvalues


@dataclass(frozen=True, slots=True)
class PMatrix:
    """What the test found."""

    answer: Answer
    subset: tuple[int, ...]
    """Rows of a principal minor that is not positive (no), or of the smallest pivot (borderline, yes if known)."""
    smallest_pivot: float
    """Of the matrix scaled to a unit diagonal; nan where a quick test decided."""
    reason: str

    def __bool__(self) -> bool:
        """True only for a sure yes."""
        return self.answer is Answer.YES


def p_matrix(D: ArrayLike, *, limit: int = SIZE_LIMIT) -> PMatrix:
    """Tell whether all principal minors of `D` are positive.

    Parameters
    ----------
    D : (m, m) array_like
    limit : int
        Parts with more rows are left undecided if the quick tests do not decide; the cost doubles with every row. At
        most 30.

    Examples
    --------
    >>> p_matrix([[-1.0, 4.0], [-2.0, 5.0]]).subset
    (0,)
    """
    checked_number(limit, "p_matrix: limit", most=MOST_ROWS)
    A = square_matrix(D)
    d = A.diagonal()
    if A.size == 0:
        return PMatrix(Answer.YES, (), np.inf, "there is nothing to test")
    i = int(np.argmin(d))
    if d[i] < 0.0:
        return PMatrix(Answer.NO, (i,), float("nan"), f"diagonal entry {d[i]:.6g} is negative")
    if d[i] == 0.0:
        return PMatrix(Answer.NO, (i,), float("nan"), "a diagonal entry is zero")
    scale = 1.0 / np.sqrt(d)
    A = np.ascontiguousarray(scale[:, None] * A * scale)
    worst: PMatrix | None = None
    for rows in _components(A):
        found = _test_component(np.ascontiguousarray(A[np.ix_(rows, rows)]), rows, limit)
        if found.answer is Answer.NO:
            return found
        if worst is None or _doubt(found) > _doubt(worst):
            worst = found
    assert worst is not None
    return worst


def square_matrix(D: ArrayLike) -> Array:
    """Return `D` as a square array or raise `InputError`."""
    A = checked(D, (None, None), "matrix D")
    if A.shape[0] != A.shape[1]:
        raise InputError(f"matrix D has shape {A.shape}, must be square")
    return A


def _doubt(found: PMatrix) -> tuple[int, float]:
    """Order findings from a safe yes to undecided."""
    rank = {Answer.YES: 0, Answer.BORDERLINE: 1, Answer.UNDECIDED: 2}[found.answer]
    return rank, -found.smallest_pivot if np.isfinite(found.smallest_pivot) else -np.inf


def _components(A: Array) -> list[IntArray]:
    """Return the rows of each strongly connected component, in order of their first row."""
    m = A.shape[0]
    if m <= _QUICK:
        return [np.arange(m)]
    count, label = connected_components(A != 0.0, directed=True, connection="strong")
    components = [np.flatnonzero(label == k) for k in range(count)]
    return sorted(components, key=lambda rows: int(rows[0]))


def _test_component(A: Array, rows: IntArray, limit: int) -> PMatrix:
    """Test a matrix with unit diagonal, the cheapest way first."""
    m = rows.size
    if m > _QUICK:
        quick = _quick(A, rows)
        if quick is not None:
            return quick
    if m > limit:
        return PMatrix(
            Answer.UNDECIDED,
            tuple(rows.tolist()),
            float("nan"),
            f"{m} coupled rows, more than the limit of {limit}; no quick test decides",
        )
    subset = np.zeros(m, dtype=np.int64)
    answer, pivot = _all_pivots(A, ROUNDING, subset)
    found = tuple(rows[subset == 1].tolist())
    reason = {
        Answer.YES: "all principal minors are positive",
        Answer.NO: "a principal minor is negative",
        Answer.BORDERLINE: "a principal minor is zero to rounding",
    }[Answer(answer)]
    return PMatrix(Answer(answer), found, pivot, reason)


def _quick(A: Array, rows: IntArray) -> PMatrix | None:
    """Decide by a symmetric part, by dominance or by the spectrum; None if these do not."""
    m, all_rows, unknown = rows.size, tuple(rows.tolist()), float("nan")
    if np.linalg.eigvalsh(0.5 * (A + A.T))[0] > ROUNDING * np.abs(A).max() * m:
        return PMatrix(Answer.YES, all_rows, unknown, "the symmetric part is positive definite")
    if _dominant(A):
        return PMatrix(Answer.YES, all_rows, unknown, "the diagonal dominates after scaling")
    eigenvalues = np.linalg.eigvals(A)
    # An eigenvalue this far beyond the border is no rounding unless it is defective to high order; those few cases
    # fall through to the exact test.
    clear = 1e-6
    angle = np.abs(np.angle(eigenvalues))
    size = np.abs(eigenvalues)
    if np.any((angle >= np.pi - np.pi / m + clear) & (size > clear * size.max())):
        return PMatrix(Answer.NO, all_rows, unknown, "an eigenvalue lies too near the negative axis")
    return None


def _dominant(A: Array) -> bool:
    """Tell whether positive column scaling makes the rows of a unit-diagonal matrix strictly dominant.

    That is so exactly if the comparison matrix has a positive solution of ``C x = 1``.
    """
    comparison = 2.0 * np.eye(A.shape[0]) - np.abs(A)
    try:
        x = np.linalg.solve(comparison, np.ones(A.shape[0]))
    except np.linalg.LinAlgError:
        return False
    return bool(np.isfinite(x).all() and x.min() > 0.0 and (comparison @ x).min() > 0.5)


# --- kernels -----------------------------------------------------------------

_NO, _YES, _BORDERLINE = int(Answer.NO), int(Answer.YES), int(Answer.BORDERLINE)


@kernel
def _all_pivots(A: Array, tolerance: float, subset: IntArray) -> tuple[int, float]:
    """Look at every pivot; return the answer and the smallest pivot, and mark its minor's rows in `subset`.

    At depth k row k is either dropped (first) or eliminated; ``work[k]`` is the matrix that remains, its leading
    ``m - k`` rows and columns.
    """
    m = A.shape[0]
    work = np.zeros((m + 1, m, m))
    largest = np.zeros(m + 1)  # on the way to this depth: the scale of rounding errors
    done = np.zeros(m + 1, dtype=np.int64)
    taken = np.zeros(m + 1, dtype=np.int64)
    for i in range(m):
        for j in range(m):
            work[0, i, j] = A[i, j]
            largest[0] = max(largest[0], abs(A[i, j]))
    answer = _YES
    smallest = np.inf
    k = 0
    while k >= 0:
        if k == m or done[k] == 2:
            done[k] = 0
            taken[k] = 0
            k -= 1
            continue
        n = m - k
        pivot = work[k, 0, 0]
        if done[k] == 0:
            negative = pivot < -tolerance * largest[k]
            if pivot < smallest or negative:
                smallest = pivot
                for i in range(m):
                    subset[i] = taken[i] if i < k else 0
                subset[k] = 1
            if negative:
                return _NO, pivot
            for i in range(1, n):
                for j in range(1, n):
                    work[k + 1, i - 1, j - 1] = work[k, i, j]
            largest[k + 1] = largest[k]
            done[k] = 1
            k += 1
        elif pivot <= tolerance * largest[k]:
            answer = _BORDERLINE  # what lies beyond a pivot without digits cannot be known
            done[k] = 2
        else:
            taken[k] = 1
            top = largest[k]
            for i in range(1, n):
                f = work[k, i, 0] / pivot
                for j in range(1, n):
                    x = work[k, i, j] - f * work[k, 0, j]
                    work[k + 1, i - 1, j - 1] = x
                    top = max(top, abs(x))
            largest[k + 1] = top
            done[k] = 2
            k += 1
    return answer, smallest
