"""The linear complementarity problem: data and residual."""

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
)
from signorini.problems.natural import credible, natural_residual, without_dust
from signorini.problems.npz import write_npz


@dataclass(frozen=True, slots=True, eq=False, init=False)
class LCP:
    r"""Find `z` with ``0 <= z ⊥ M z + q >= 0``.

    Parameters
    ----------
    M : (n, n) array or SciPy sparse matrix
        Need be neither symmetric nor semidefinite.
    q : (n,) array

    Raises
    ------
    InputError
        If the shapes disagree or an entry is not finite.

    References
    ----------
    .. [CPS] Cottle, Pang & Stone, *The Linear Complementarity Problem*, section 1.1.

    Examples
    --------
    >>> LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]).size
    2
    """

    M: Matrix
    q: Array
    d: Array = field(repr=False)
    """Diagonal of M where positive, else 1: turns a slack into the unit of its unknown, (n,)."""

    def __init__(self, M: MatrixLike, q: ArrayLike) -> None:
        set_field = object.__setattr__
        set_field(self, "q", checked(q, (None,), "LCP: q"))
        set_field(self, "M", checked_matrix(M, (self.q.size, self.q.size), "LCP: M"))
        set_field(self, "d", positive_diagonal(self.M))

    @property
    def size(self) -> int:
        """Number of complementary pairs."""
        return int(self.q.size)

    def slack(self, z: Array) -> Array:
        """Return ``w = M z + q``."""
        w: Array = self.M @ z + self.q
        return w

    def residual(self, z: Array) -> float:
        r"""Return the scale-free natural residual.

        .. math:: \max_i |\min(z_i, w_i/d_i)| \,/\, \max(\|z\|_\infty, \|q/d\|_\infty), \qquad w = Mz + q,

        with d the diagonal of M where positive, else 1; 0 if both norms vanish, infinity if `z` is not finite.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            w = self.slack(z)
        return natural_residual(z, w, self.q, self.d, 0)

    def credible(self, z: Array, tolerance: float) -> bool:
        """Tell whether a point whose residual meets `tolerance` is a solution row by row and did not run away.

        See :func:`~signorini.problems.natural.credible`.
        """
        return credible(z, self.slack(z), self.M, self.q, self.d, 0, tolerance)

    def without_dust(self, z: Array) -> Array:
        """Return `z` without the unknowns that count for less than their slacks, see :meth:`credible`."""
        return without_dust(z, self.slack(z), self.M, self.q, 0)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the problem as ``.npz``; :func:`~signorini.problems.load_problem` reads it."""
        write_npz(path, "lcp", {**matrix_fields("M", self.M), "q": self.q})

    @staticmethod
    def from_fields(fields: dict[str, Any]) -> LCP:
        """Make the problem from the fields of an ``.npz`` file."""
        if "q" not in fields:
            raise InputError("LCP file: field 'q' is missing")
        return LCP(matrix_from_fields("M", fields), fields["q"])
