r"""The convex quadratic programme, over the orthant and second-order cones: data and residual.

.. math:: \min_x \tfrac12 x^T P x + q^T x \quad\text{subject to}\quad A x = a, \quad C x - c \in K.

K is a product of half lines and, for the last rows of C, of second-order cones :math:`\{s_0 \ge |s_{1..}|\}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, IntArray, checked
from signorini._scipy import linalg, sparse
from signorini.errors import InputError
from signorini.problems.convert import Converted
from signorini.problems.matrices import (
    Matrix,
    checked_matrix,
    compressed_rows,
    dense,
    matrix_fields,
    matrix_from_fields,
    refuse_huge,
    stacked,
)
from signorini.problems.mlcp import MixedLCP
from signorini.problems.natural import LARGE, LOST, ROW_TOLERANCE
from signorini.problems.npz import write_npz

_BEYOND = 1e40  # own units: squares of such unknowns are out of the range of entries
_SCALINGS = 50  # steps towards units, most of which are needed by chains of unknowns
_ROUNDING = 1e-12
"""Relative departure from symmetry, or below zero of a Cholesky pivot, that is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class ConvexQP:
    r"""Find ``z = (x, y, w)``: the minimiser and its multipliers.

    The conditions are ``P x + q = A^T y + C^T w``, ``A x = a``, and ``w`` in the (self-dual) cone, complementary to
    ``C x - c``.

    Parameters
    ----------
    P : (n, n) array or SciPy sparse matrix
        Symmetric, positive semidefinite.
    q : (n,) array
    A : (m_e, n) matrix, optional
    a : (m_e,) array, optional
    C : (m, n) matrix, optional
    c : (m,) array, optional
        ``-inf`` for a row that is not there.
    cones : sequence of int
        Sizes of the second-order cones that the last rows of C form; the rows before are plain inequalities.

    Raises
    ------
    InputError
        If shapes disagree, an entry is not finite, or P is not symmetric positive semidefinite.

    Examples
    --------
    The point of the half plane x_0 + x_1 >= 2 nearest to the origin, with its multiplier:

    >>> ConvexQP(np.eye(2), [0.0, 0.0], C=[[1.0, 1.0]], c=[2.0]).residual(np.array([1.0, 1.0, 1.0]))
    0.0
    """

    P: Matrix
    q: Array
    A: Any = None
    a: Any = None
    C: Any = None
    c: Any = None
    cones: tuple[int, ...] = ()
    rows: Matrix = field(init=False, repr=False)
    """A above C, (m_e + m, n)."""
    block: IntArray = field(init=False, repr=False)
    """Where the blocks of rows begin: single rows first, then second-order cones; (blocks + 1,)."""
    d: Array = field(init=False, repr=False)
    """Turns the slack of a row into the unit of its multiplier: ``|row|^2`` over the mean diagonal of P, (m_e + m,)."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        q = checked(self.q, (None,), "convex QP: q")
        n = q.size
        put(self, "q", q)
        put(self, "P", checked_matrix(self.P, (n, n), "convex QP: P"))
        _check_semidefinite(self.P)
        for rows, right in (("A", "a"), ("C", "c")):
            given, side = getattr(self, rows), getattr(self, right)
            if (given is None) != (side is None):
                raise InputError(f"convex QP: {rows} and {right} must be given together")
            matrix = np.zeros((0, n)) if given is None else checked_matrix(given, (None, n), f"convex QP: {rows}")
            m = matrix.shape[0]
            put(self, rows, matrix)
            put(self, right, _bound(() if side is None else side, m) if right == "c" else _side(side, m))
        m_e, m = self.A.shape[0], self.C.shape[0]
        cones = tuple(int(size) for size in self.cones)
        if any(size < 2 for size in cones) or sum(cones) > m:
            raise InputError(f"convex QP: cones is {cones}, must be sizes >= 2 of at most {m} rows in all")
        put(self, "cones", cones)
        if not np.isfinite(self.c[m - sum(cones) :]).all():
            raise InputError("convex QP: c must be finite in the rows of second-order cones")
        singles = m_e + m - sum(cones)
        put(self, "block", np.concatenate([np.arange(singles), singles + np.cumsum([0, *cones])]).astype(np.int64))
        put(self, "rows", self.C if m_e == 0 else stacked([[self.A], [self.C]]))
        refuse_huge({"P": self.P, "q": q, "A": self.A, "a": self.a, "C": self.C}, "convex QP")
        put(self, "d", _row_units(self.P, self.rows, self.block))

    @property
    def variables(self) -> int:
        """Number of unknowns x."""
        return int(self.q.size)

    @property
    def equalities(self) -> int:
        """Number of rows of A."""
        return int(self.a.size)

    @property
    def size(self) -> int:
        """Length of ``z = (x, y, w)``."""
        return int(self.q.size + self.a.size + self.c.size)

    @property
    def right(self) -> Array:
        """``(a, c)``, one entry for each of `rows`."""
        return np.concatenate([self.a, self.c])

    def residual(self, z: ArrayLike) -> float:
        r"""Return how far `z` is from meeting the optimality conditions, free of units.

        The largest of ``|P x + q - A^T y - C^T w|`` and, as forces (times the norm of their row), of the natural map
        :math:`w - P_K(w - (Cx - c)/d)` and of :math:`(Ax - a)/d`, over the largest force in these conditions. 0 if
        there is no force at all, infinity if `z` is not finite.
        """
        return self.residual_with(z, self.c)

    def residual_with(self, z: ArrayLike, c: Array) -> float:
        """Return the residual of the problem that has the right-hand side `c` instead of its own."""
        z = np.asarray(z, dtype=np.float64)
        if z.shape != (self.size,):
            raise InputError(f"convex QP: z has shape {z.shape}, must be ({self.size},)")
        n, m_e = self.q.size, self.a.size
        x, w = z[:n], z[n:]
        if not np.isfinite(z).all():
            return float("inf")
        right = np.concatenate([self.a, c])
        force = np.sqrt(_mean_diagonal(self.P) / self.d)  # of a slack: norm of the row over d
        value = self.rows @ x
        slack = value - right
        natural = w - project(w - slack / self.d, self.block, m_e)
        natural[:m_e] = slack[:m_e] / self.d[:m_e]
        Px, pull = self.P @ x, self.rows.T @ w
        error = max(_largest(Px + self.q - pull), _largest(natural * self.d * force))
        there = np.isfinite(right)
        parts = (Px, self.q, pull, w * self.d * force, right[there] * force[there], value[there] * force[there])
        scale = max(_largest(part) for part in parts)
        return error / scale if scale > 0.0 else error

    def credible(self, z: ArrayLike, tolerance: float) -> bool:
        """Tell whether a point whose residual meets `tolerance` is a solution condition by condition.

        The residual is measured against the largest force of all, and so blind to small rows beside great ones, and to
        points and multipliers that ran away. Plain inequalities are judged as the mixed LCP of their conditions
        (:func:`~signorini.problems.natural.credible`), in units in which all numbers are near one: rounding of the
        largest unknown excuses nothing that is measured in another unit. Second-order cones are judged block by block
        against the terms of their rows, or against the forces of the data.
        """
        z = np.asarray(z, dtype=np.float64)
        if not self.cones:
            n = self.q.size
            plain, units = in_own_units(self)
            point = z / units
            if not _credible(plain, point, tolerance) or _ran_away(plain, point):
                return False
            # Points and multipliers are rounded to the largest of their own kind, those that the data ask for included.
            sides = np.where(np.isfinite(plain.right), plain.right, 0.0)
            sizes = (max(_largest(point[:n]), _largest(sides)), max(_largest(point[n:]), _largest(plain.q)))
            if not max(sizes) < _BEYOND:
                return False
            kinds = np.repeat([size if size > 0.0 else 1.0 for size in sizes], [n, z.size - n])
            return _credible(in_units(plain, kinds), point / kinds, tolerance)
        n, m_e = self.q.size, self.a.size
        x, w = z[:n], z[n:]
        there = np.isfinite(self.right)
        right = np.where(there, self.right, 0.0)
        rows: Any = abs(self.rows)
        terms = np.where(there, rows @ np.abs(x) + np.abs(right), 0.0)
        slack = self.rows @ x - self.right
        natural = w - project(w - slack / self.d, self.block, m_e)
        natural[:m_e] = slack[:m_e] / self.d[:m_e]
        pulls = abs(self.P) @ np.abs(x) + np.abs(self.q) + rows.T @ np.abs(w)
        off = np.abs(self.P @ x + self.q - self.rows.T @ w)
        force = np.sqrt(_mean_diagonal(self.P) * self.d)
        data = max(_largest(self.q), _largest(right / self.d * force))
        allowed, rounding = ROW_TOLERANCE * tolerance, 1e-13
        by_block = np.maximum.reduceat(np.maximum(terms / self.d, 0.0), self.block[:-1])
        own = np.repeat(by_block, np.diff(self.block))
        return bool(
            (off <= np.maximum(np.minimum(allowed * pulls, allowed * data), rounding * pulls)).all()
            and (np.abs(natural) <= np.maximum(allowed * own, tolerance * data / force)).all()
        )

    def without_dust(self, z: Array) -> Array:
        """Return `z` without the multipliers of plain inequalities that count for less than their slacks."""
        if self.cones:
            return z
        plain, units = in_own_units(self)
        mixed = qp_to_mixed(plain)
        cleared: Array = units * mixed.back(mixed.problem.without_dust(mixed.forth(z / units)))
        return cleared

    def save(self, path: str | PathLike[str]) -> None:
        """Write the problem as ``.npz``; :func:`~signorini.problems.load_problem` reads it."""
        fields: dict[str, Any] = {"q": self.q, "a": self.a, "c": self.c, "cones": np.array(self.cones, dtype=np.int64)}
        for name in "PAC":
            fields.update(matrix_fields(name, getattr(self, name)))
        write_npz(path, "qp", fields)

    @staticmethod
    def from_fields(fields: dict[str, Any]) -> ConvexQP:
        """Make the problem from the fields of an ``.npz`` file."""
        missing = [name for name in ("q", "a", "c") if name not in fields]
        if missing:
            raise InputError(f"convex QP file: field {missing[0]!r} is missing")
        P, A, C = (matrix_from_fields(name, fields) for name in "PAC")
        sizes = np.atleast_1d(fields.get("cones", np.zeros(0, dtype=np.int64)))
        if sizes.dtype.kind not in "iu" and sizes.size:
            raise InputError(f"convex QP file: cones have the type {sizes.dtype}, must be whole numbers")
        cones = tuple(int(size) for size in sizes.reshape(-1))
        return ConvexQP(P, fields["q"], A, fields["a"], C, fields["c"], cones)


def project(s: Array, block: IntArray, m_e: int) -> Array:
    """Return the nearest point of free numbers (`m_e` of them), half lines and second-order cones."""
    w = np.maximum(s, 0.0)
    w[:m_e] = s[:m_e]
    sizes = np.diff(block)
    for size in np.unique(sizes[sizes > 1]):
        index = block[:-1][sizes == size][:, None] + np.arange(size)
        head, tail = s[index[:, 0]], s[index[:, 1:]]
        length = np.linalg.norm(tail, axis=1)
        new = np.where(length <= head, head, np.where(length <= -head, 0.0, 0.5 * (head + length)))
        with np.errstate(divide="ignore", invalid="ignore"):
            shrink = np.where(length <= head, 1.0, np.where(new > 0.0, new / length, 0.0))
        w[index[:, 0]] = new
        w[index[:, 1:]] = shrink[:, None] * tail
    return w


def _credible(problem: ConvexQP, z: Array, tolerance: float) -> bool:
    mixed = qp_to_mixed(problem)
    return bool(mixed.problem.credible(mixed.forth(z), tolerance))


def _ran_away(problem: ConvexQP, z: Array) -> bool:
    """Tell whether `z` is much larger than all data, and nothing is left of the cost, or of the sides, in its rows."""
    n = problem.variables
    right = np.where(np.isfinite(problem.right), problem.right, 0.0)
    if _largest(z) <= LARGE * max(_largest(problem.q), _largest(right)):
        return False
    x, w = np.abs(z[:n]), np.abs(z[n:])
    rows: Any = abs(problem.rows)
    for constant, terms in ((problem.q, abs(problem.P) @ x + rows.T @ w), (right, rows @ x)):
        seen = constant != 0.0
        if seen.any() and not (np.abs(constant) >= LOST * terms)[seen].any():
            return True
    return False


def own_units(problem: ConvexQP) -> Array:
    r"""Return units of ``z = (x, y, w)`` in which all numbers of the problem are near one, see :func:`in_units`.

    Units are powers of two, so that nothing is rounded. Their logarithms s minimise
    :math:`\sum (\log |K_{ij}| + s_i + s_j)^2` over the entries of the matrix of the conditions, those of cost and sides
    included, with :math:`s = 0` for their column [CR]_. The rows of a second-order cone have one unit.

    References
    ----------
    .. [CR] Curtis & Reid (1972), On the automatic scaling of matrices for Gaussian elimination.
    """
    n, block = problem.variables, problem.block
    unit = np.concatenate([np.arange(n), n + np.repeat(np.arange(block.size - 1), np.diff(block))])
    right = np.where(np.isfinite(problem.right), problem.right, 0.0)
    parts = [(sparse.coo_array(problem.P), 0, 0), (sparse.coo_array(problem.rows), n, 0)]
    i, j, size = (
        np.concatenate(column)
        for column in zip(
            *(
                (unit[part.coords[0] + down], unit[part.coords[1] + across], np.abs(part.data))
                for part, down, across in parts
            ),
            (unit, np.full(unit.size, -1), np.abs(np.concatenate([problem.q, right]))),
            strict=True,
        )
    )
    there = size > 0.0
    i, j, logs = i[there], j[there], np.log2(size[there])
    count = n + block.size - 1

    def gather(values: Array) -> Array:
        first, second = np.bincount(i, values, minlength=count), np.bincount(j[j >= 0], values[j >= 0], minlength=count)
        return np.asarray(first + second, dtype=np.float64)

    def sums(s: Array) -> Array:
        return np.asarray(s[i] + np.where(j >= 0, s[j], 0.0))

    s, left = np.zeros(count), -gather(logs)
    way, square = left.copy(), float(left @ left)
    for _ in range(_SCALINGS):  # conjugate gradients
        along = gather(sums(way))
        bent = float(way @ along)
        if not bent > 0.0:
            break
        s, left = s + square / bent * way, left - square / bent * along
        before, square = square, float(left @ left)
        if square <= count:  # powers of two are fine enough
            break
        way = left + square / before * way
    return np.asarray(2.0 ** np.round(s[unit]))


def in_own_units(problem: ConvexQP) -> tuple[ConvexQP, Array]:
    """Return the problem in its own units and these; as it is where numbers would be too large in them."""
    units = own_units(problem)
    try:
        return in_units(problem, units), units
    except InputError:
        return problem, np.ones_like(units)


def in_units(problem: ConvexQP, units: Array) -> ConvexQP:
    """Return the problem of which ``z / units`` is the solution; the rows of a second-order cone have one unit."""
    n, m_e = problem.variables, problem.equalities
    x, y, w = units[:n], units[n : n + m_e], units[n + m_e :]
    A, C = _scaled(problem.A, y, x), _scaled(problem.C, w, x)
    return ConvexQP(_scaled(problem.P, x, x), x * problem.q, A, y * problem.a, C, w * problem.c, problem.cones)


def _scaled(M: Any, left: Array, right: Array) -> Any:
    """Return a matrix with its rows and columns multiplied."""
    if isinstance(M, np.ndarray):
        return left[:, None] * M * right
    return sparse.csr_array(sparse.diags_array(left) @ M @ sparse.diags_array(right))


def qp_to_mixed(problem: ConvexQP) -> Converted:
    """Return the optimality conditions as a mixed LCP, for the solvers of those; plain inequalities only."""
    if problem.cones:
        raise InputError("convex QP: has second-order cones, must have plain inequalities to become a mixed LCP")
    n, m_e = problem.variables, problem.equalities
    there = np.flatnonzero(np.isfinite(problem.c))
    C = dense(problem.C)[there]
    A = dense(problem.A)
    free = np.block([[dense(problem.P), -A.T], [A, np.zeros((m_e, m_e))]])
    coupling = np.concatenate([-C.T, np.zeros((m_e, there.size))])
    gather = np.concatenate([C, np.zeros((there.size, m_e))], axis=1)
    mixed = MixedLCP(
        free,
        coupling,
        gather,
        np.zeros((there.size, there.size)),
        np.concatenate([problem.q, -problem.a]),
        -problem.c[there],
    )

    def back(z: Array) -> Array:
        full = np.zeros(problem.size)
        full[: n + m_e] = z[: n + m_e]
        full[n + m_e + there] = z[n + m_e :]
        return full

    return Converted(mixed, back, lambda z: np.concatenate([z[: n + m_e], z[n + m_e + there]]))


def _bound(value: ArrayLike, m: int) -> Array:
    """Return the right-hand side of inequalities; minus infinity is allowed."""
    bound = np.array(value, dtype=np.float64)
    if bound.shape != (m,) or np.isnan(bound).any() or (bound == np.inf).any():
        raise InputError(f"convex QP: c has shape {bound.shape}, must be ({m},), numbers or -inf")
    return bound


def _side(value: ArrayLike | None, m: int) -> Array:
    return checked(() if value is None else value, (m,), "convex QP: a")


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


def _mean_diagonal(P: Matrix) -> float:
    """Return the stiffness that stands for P: the mean of its diagonal, 1 if it vanishes."""
    mean = float(P.diagonal().mean()) if P.shape[0] else 0.0
    return mean if mean > 0.0 else 1.0


def _row_units(P: Matrix, rows: Matrix, block: IntArray) -> Array:
    """Return |row|^2 over the mean diagonal of P, the largest of its rows for a cone, 1 for an empty row."""
    start, _, value = compressed_rows(rows)
    total = np.concatenate([[0.0], np.cumsum(value**2)])
    d: Array = np.diff(total[start])
    if d.size:
        d = np.repeat(np.maximum.reduceat(d, block[:-1]), np.diff(block))
    d[d <= 0.0] = 1.0
    return d / _mean_diagonal(P)


def _check_semidefinite(P: Matrix) -> None:
    """Raise `InputError` unless P is symmetric and positive semidefinite up to rounding."""
    n = P.shape[0]
    start, column, value = compressed_rows(P)
    row = np.repeat(np.arange(n), np.diff(start))
    if (row == column).all():
        if n and P.diagonal().min() < 0.0:
            raise InputError(f"convex QP: P has the diagonal entry {P.diagonal().min():g}, must be >= 0")
        return
    full = dense(P)
    largest, asymmetry = _largest(value), _largest(full - full.T)
    if asymmetry > _ROUNDING * largest:
        raise InputError(f"convex QP: P is unsymmetric by {asymmetry:g}, must be symmetric")
    shifted = full + _ROUNDING * n * largest * np.eye(n)
    if linalg.lapack.dpotrf(shifted, lower=1)[1] != 0:
        least = float(np.linalg.eigvalsh(full)[0])
        raise InputError(f"convex QP: P has the eigenvalue {least:g}, must be positive semidefinite")
