"""The mixed linear complementarity problem: some unknowns free, the others complementary."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked
from signorini.errors import InputError
from signorini.problems.matrices import (
    Matrix,
    MatrixLike,
    checked_matrix,
    matrix_fields,
    matrix_from_fields,
    positive_diagonal,
    refuse_huge,
    stacked,
)
from signorini.problems.natural import credible, natural_residual, without_dust
from signorini.problems.npz import write_npz


@dataclass(frozen=True, slots=True, eq=False, init=False)
class MixedLCP:
    r"""Find ``z = (u, v)`` with ``0 = A u + C v + a``, ``0 <= v ⊥ D u + B v + b >= 0``.

    Parameters
    ----------
    A : (n, n) array or sparse matrix
        May be singular.
    C : (n, m) array or sparse matrix
    D : (m, n) array or sparse matrix
    B : (m, m) array or sparse matrix
    a : (n,) array
    b : (m,) array

    Raises
    ------
    InputError
        If the shapes disagree or an entry is not finite.
    """

    A: Matrix
    C: Matrix
    D: Matrix
    B: Matrix
    a: Array
    b: Array
    row_scale: Array = field(repr=False)
    """Per row: largest entry of ``[A C]`` (1 if none); diagonal of B where positive, else 1; (n + m,)."""

    def __init__(self, A: MatrixLike, C: MatrixLike, D: MatrixLike, B: MatrixLike, a: ArrayLike, b: ArrayLike) -> None:
        set_field = object.__setattr__
        set_field(self, "a", checked(a, (None,), "MixedLCP: a"))
        set_field(self, "b", checked(b, (None,), "MixedLCP: b"))
        n, m = self.a.size, self.b.size
        for name, value, shape in (("A", A, (n, n)), ("C", C, (n, m)), ("D", D, (m, n)), ("B", B, (m, m))):
            set_field(self, name, checked_matrix(value, shape, f"MixedLCP: {name}"))
        refuse_huge({name: getattr(self, name) for name in ("A", "C", "D", "B", "a", "b")}, "MixedLCP")
        largest = np.maximum(_row_maximum(self.A), _row_maximum(self.C))
        largest[largest == 0.0] = 1.0
        set_field(self, "row_scale", np.concatenate([largest, positive_diagonal(self.B)]))

    @property
    def free(self) -> int:
        """Number of free unknowns u."""
        return int(self.a.size)

    @property
    def size(self) -> int:
        """Number of unknowns, free and complementary."""
        return int(self.a.size + self.b.size)

    def slack(self, z: Array) -> Array:
        """Return ``(A u + C v + a, D u + B v + b)``."""
        u, v = z[: self.a.size], z[self.a.size :]
        return np.concatenate([self.A @ u + self.C @ v + self.a, self.D @ u + self.B @ v + self.b])

    def residual(self, z: Array) -> float:
        r"""Return the scale-free natural residual.

        .. math:: \max\bigl(\max_i |w_i/d_i|_{i \le n}, \max_i |\min(v_i, w_i/d_i)|_{i > n}\bigr)
                  \,/\, \max(\|z\|_\infty, \|(a, b)/d\|_\infty)

        with w the slack and d (``row_scale``) the largest entry of the row of ``[A C]`` for an equation, and the
        diagonal of B where positive, else 1, for a complementary row. Without free unknowns it is the measure of
        :class:`LCP`. 0 if both norms vanish, infinity if `z` is not finite.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            w = self.slack(z)
        return natural_residual(z, w, np.concatenate([self.a, self.b]), self.row_scale, self.a.size)

    def credible(self, z: Array, tolerance: float) -> bool:
        """Tell whether a point whose residual meets `tolerance` is a solution row by row and did not run away.

        See :func:`~signorini.problems.natural.credible`.
        """
        K, k = self._whole()
        return credible(z, self.slack(z), K, k, self.row_scale, self.free, tolerance)

    def without_dust(self, z: Array) -> Array:
        """Return `z` without the unknowns that count for less than their slacks, see :meth:`credible`."""
        K, k = self._whole()
        return without_dust(z, self.slack(z), K, k, self.free)

    def _whole(self) -> tuple[Matrix, Array]:
        """Return one matrix and one constant term, free unknowns first."""
        return stacked([[self.A, self.C], [self.D, self.B]]), np.concatenate([self.a, self.b])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the problem as ``.npz``; :func:`~signorini.problems.load_problem` reads it."""
        fields: dict[str, Any] = {"a": self.a, "b": self.b}
        for name in "ACDB":
            fields.update(matrix_fields(name, getattr(self, name)))
        write_npz(path, "mlcp", fields)

    @staticmethod
    def from_fields(fields: dict[str, Any]) -> MixedLCP:
        """Make the problem from the fields of an ``.npz`` file.

        Either the blocks ``A, C, D, B, a, b``, or one matrix ``M`` and ``q`` with the first ``n_free`` rows equations.
        """
        if "n_free" in fields and "q" in fields:
            given, q = np.asarray(fields["n_free"]), checked(fields["q"], (None,), "mixed LCP file: q")
            if given.ndim or given.dtype.kind not in "iu" or not 0 <= given <= q.size:
                raise InputError(f"mixed LCP file: n_free is {given.tolist()!r}, must be a number from 0 to {q.size}")
            n = int(given)
            M = checked_matrix(matrix_from_fields("M", fields), (q.size, q.size), "mixed LCP file: M")
            return MixedLCP(M[:n, :n], M[:n, n:], M[n:, :n], M[n:, n:], q[:n], q[n:])
        missing = [name for name in "ab" if name not in fields]
        if missing:
            raise InputError(f"mixed LCP file: field {missing[0]!r} is missing")
        A, C, D, B = (matrix_from_fields(name, fields) for name in "ACDB")
        return MixedLCP(A, C, D, B, fields["a"], fields["b"])


def _row_maximum(matrix: Matrix) -> Array:
    """Return the largest absolute value of each row, 0 for an empty row."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(np.abs(matrix).max(axis=1, initial=0.0))
    if matrix.shape[1] == 0:
        return np.zeros(matrix.shape[0])
    largest: Any = abs(matrix).max(axis=1)
    return np.asarray(largest.toarray(), dtype=np.float64).ravel()
