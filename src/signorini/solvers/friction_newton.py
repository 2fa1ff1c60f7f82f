r"""Newton systems of friction problems.

Interior point and proximal Newton both ask, with small blocks S_c of their own,

.. math:: dr = g - S (W\,dr + e)

in equilibrated units. In a space with ``W = G B^-1 V`` (:mod:`~signorini.solvers.newton_spaces`) this is
``(B + V S G) dy = V (g - S e)``, ``dr = g - S e - S G dy``. Compliance ``W + diag(alpha, 0, 0)`` turns S into
``S - alpha S_0 S_0^T / (1 + alpha S_00)`` (its column and row 0). The matrix is factorised by LAPACK if it is small or
full, else on its sparse pattern by blocks. Every solution is refined once with the problem's own W.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini._scipy import linalg, sparse, sparse_linalg
from signorini.problems.connections import Connections, connect_matrix, connect_sparse
from signorini.problems.delassus import Delassus
from signorini.problems.friction import FrictionProblem
from signorini.problems.matrices import is_sparse
from signorini.solvers.block_lu import BlockLU, BlockPattern
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.newton_spaces import Space, basis_space, body_space, contact_space, equilibrated_matrix

# Multiplications per second of LAPACK's dense factorisation and of the blocks, measured: only their ratio matters.
_DENSE_SPEED, _BLOCK_SPEED = 5e9, 2.3e9
# Up to so many unknowns the dense matrix is the quickest whatever its pattern.
_DENSE_BELOW = 60
# Beyond this many unknowns a dense factorisation is out of the question.
_DENSE_LIMIT = 3000
# A system in the space of contacts that needs more multiplications than this makes it worth to look for a basis, which
# costs about as much as a few factorisations.
_LOOK_FOR_BASIS = 3e5
# A solution that leaves more than this part of the right-hand side was found with unstable factors.
_UNSTABLE = 0.1
# Refinement goes on, at most so often, until what was left before the last one is less than this part.
_REFINED = 1e-5
_REFINEMENTS = 6


def newton_system(scaled: EquilibratedProblem) -> NewtonSystem:
    """Return the linear algebra that suits size and structure."""
    problem = scaled.problem
    everywhere = problem.softness.shape[1] > 1  # compliance in the tangents too is worked into W
    alpha = np.ascontiguousarray(problem.softness[scaled.kept, 0] * scaled.d**2) * (not everywhere)
    if isinstance(problem.W, Delassus) and not everywhere:
        space = body_space(scaled, problem.W)
        if space.n < 1.5 * scaled.n_c:
            return NewtonSystem(scaled, space, alpha)
    W = equilibrated_matrix(scaled, problem.connections if everywhere else _rigid_connections(problem))
    space = contact_space(scaled, W)
    system = NewtonSystem(scaled, space, alpha)
    if 3 * scaled.n_c <= _DENSE_BELOW or system.work < _LOOK_FOR_BASIS or 3 * scaled.n_c > _DENSE_LIMIT:
        return system
    basis = basis_space(W.toarray())
    if basis is None:
        return system
    smaller = NewtonSystem(scaled, basis, alpha)
    return smaller if smaller.work < system.work else system


def _rigid_connections(problem: FrictionProblem) -> Connections:
    """Return the connections of W without compliance."""
    if isinstance(problem.W, Delassus):
        return problem.W.connections()
    if not np.any(problem.compliance):
        return problem.connections
    connect = connect_sparse if is_sparse(problem.W) else connect_matrix
    return connect(problem.W, problem.contact_count, problem.dim)  # type: ignore[arg-type]


class NewtonSystem:
    """Factorise ``B + V S G`` for blocks S, then solve ``dr = g - S (W dr + e)`` as often as needed."""

    def __init__(self, scaled: EquilibratedProblem, space: Space, alpha: Array) -> None:
        self.scaled = scaled
        self.space = space
        self.alpha = alpha
        self.S = np.zeros((scaled.n_c, 3, 3))
        rows, columns = _pairs(*space[:2], *space[3:5])
        self.work = (3.0 * space.n) ** 3 / 3.0 * _BLOCK_SPEED / _DENSE_SPEED
        factors: DenseFactors | SparseFactors | None = None
        if 3 * space.n > _DENSE_BELOW and space.base is None:
            pattern = BlockPattern(rows, columns, space.n)
            if pattern.work < self.work or 3 * space.n > _DENSE_LIMIT:
                self.work = pattern.work
                factors = SparseFactors(pattern)
        self.factors = DenseFactors(space.n, space.base) if factors is None else factors
        self._positions = self.factors.positions(rows, columns)
        self._soft = np.zeros((scaled.n_c, 3, 3))
        self._column = np.zeros((scaled.n_c, 3))
        self._right = np.zeros((scaled.n_c, 3))
        self._nothing = np.zeros((scaled.n_c, 3))
        self._y = np.zeros((space.n, 3))

    def factor(self, S: Array) -> bool:
        """Factorise for the blocks `S` (n_c, 3, 3), which must stay as they are until the last solution.

        Returns
        -------
        bool
            False if the matrix is singular.
        """
        self.S = S
        _soften(S, self.alpha, self._soft, self._column)
        blocks = self.factors.cleared()
        _assemble(*self.space[:6], self._soft, self._positions, blocks)
        return self.factors.factor()

    def solve(self, g: Array, e: Array | None = None) -> tuple[Array, Array]:
        """Return dr (n_c, 3) and ``du = W dr + e``, refined with the problem's own W."""
        e = self._nothing if e is None else e
        dr, du = np.zeros(g.shape), e
        first = left = _what_is_left(self.S, g, du, dr, self._right)
        for turn in range(_REFINEMENTS):
            _reduce(*self.space[3:6], self._column, self._right, self._y)
            dy = self.factors.solve(self._y)
            if self.space.impulses:
                dr += dy  # what _expand would return, without its cancellation of large numbers
            else:
                _expand(*self.space[:3], self._soft, self._right, dy, dr)
            du = self.scaled.product(dr) + e
            if turn > 0 and left <= _REFINED * first:
                break
            left = _what_is_left(self.S, g, du, dr, self._right)
            if not left <= _UNSTABLE * first and self.factors.exchange_rows():
                dr, du = np.zeros(g.shape), e
                _what_is_left(self.S, g, du, dr, self._right)
        return dr, du


class DenseFactors:
    """LU factors by LAPACK."""

    def __init__(self, n: int, base: Array | None) -> None:
        self.n = n
        self.base = base
        self.blocks = np.zeros((n * n, 3, 3))

    def positions(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return the places of the blocks (rows, columns)."""
        return rows * self.n + columns

    def cleared(self) -> Array:
        """Return the blocks to which the matrix shall be added."""
        self.blocks.fill(0.0)
        return self.blocks

    def factor(self) -> bool:
        """Factorise; False if the matrix is singular."""
        n = 3 * self.n
        # transposed, because LAPACK takes columns
        K = self.blocks.reshape(self.n, self.n, 3, 3).transpose(1, 3, 0, 2).copy().reshape(n, n)
        if self.base is None:
            K.reshape(-1)[:: n + 1] += 1.0
        else:
            K += self.base.T
        if n == 0 or not np.isfinite(K).all():
            return False
        self.lu, self.pivots, trouble = linalg.lapack.dgetrf(K.T, overwrite_a=1)
        return bool(trouble == 0)

    def exchange_rows(self) -> bool:
        """Return False: rows were exchanged already, there is nothing better to offer."""
        return False

    def solve(self, right: Array) -> Array:
        """Return the solution for a right-hand side (n, 3)."""
        x: Array = linalg.lapack.dgetrs(self.lu, self.pivots, right.reshape(-1))[0]
        return x.reshape(-1, 3)


class SparseFactors:
    """LU factors by blocks on the sparse pattern; SuperLU with exchange of rows where these are unstable."""

    def __init__(self, pattern: BlockPattern) -> None:
        self.pattern = pattern
        self.lu = BlockLU(pattern)
        self.pivoted: Any = None
        self._matrix = np.zeros_like(self.lu.blocks)

    def positions(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return the places of the blocks (rows, columns)."""
        return self.pattern.positions(rows, columns)

    def cleared(self) -> Array:
        """Return the blocks to which the matrix shall be added."""
        self._matrix.fill(0.0)
        self._matrix[self.pattern.diagonal] = np.eye(3)
        return self._matrix

    def factor(self) -> bool:
        """Factorise; False if the matrix is singular."""
        self.pivoted = None
        self.lu.blocks[:] = self._matrix
        return self.lu.factor() or self.exchange_rows()

    def exchange_rows(self) -> bool:
        """Factorise the same matrix again, with exchange of rows; False if it is singular."""
        p = self.pattern
        if self.pivoted is not None or not np.isfinite(self._matrix).all():
            return False
        matrix: Any = sparse.bsr_array((self._matrix, p.column, p.start), shape=(3 * p.n, 3 * p.n))
        try:
            self.pivoted = sparse_linalg.splu(matrix.tocsc())
        except RuntimeError:
            return False
        return True

    def solve(self, right: Array) -> Array:
        """Return the solution for a right-hand side (n, 3)."""
        if self.pivoted is None:
            return self.lu.solve(right)
        ordered = np.empty_like(right)
        ordered[self.pattern.place] = right
        x: Array = self.pivoted.solve(ordered.reshape(-1)).reshape(-1, 3)
        return x[self.pattern.place]


@kernel
def _pairs(
    gather_start: IntArray, gather_index: IntArray, scatter_start: IntArray, scatter_index: IntArray
) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the blocks of ``V S G``, contact by contact as :func:`_assemble` goes."""
    count = 0
    for c in range(gather_start.shape[0] - 1):
        count += (gather_start[c + 1] - gather_start[c]) * (scatter_start[c + 1] - scatter_start[c])
    rows = np.empty(count, dtype=np.int64)
    columns = np.empty(count, dtype=np.int64)
    k = 0
    for c in range(gather_start.shape[0] - 1):
        for g in range(gather_start[c], gather_start[c + 1]):
            for v in range(scatter_start[c], scatter_start[c + 1]):
                rows[k] = scatter_index[v]
                columns[k] = gather_index[g]
                k += 1
    return rows, columns


@kernel
def _assemble(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
    S: Array,
    positions: IntArray,
    blocks: Array,
) -> None:
    """Add ``V S G`` to the blocks at `positions`."""
    k = 0
    for c in range(S.shape[0]):
        for g in range(gather_start[c], gather_start[c + 1]):
            before = k
            for l in range(3):
                # column l of S_c G
                g0, g1, g2 = gather[g, 0, l], gather[g, 1, l], gather[g, 2, l]
                s0 = S[c, 0, 0] * g0 + S[c, 0, 1] * g1 + S[c, 0, 2] * g2
                s1 = S[c, 1, 0] * g0 + S[c, 1, 1] * g1 + S[c, 1, 2] * g2
                s2 = S[c, 2, 0] * g0 + S[c, 2, 1] * g1 + S[c, 2, 2] * g2
                k = before
                for v in range(scatter_start[c], scatter_start[c + 1]):
                    at = positions[k]
                    blocks[at, 0, l] += scatter[v, 0, 0] * s0 + scatter[v, 1, 0] * s1 + scatter[v, 2, 0] * s2
                    blocks[at, 1, l] += scatter[v, 0, 1] * s0 + scatter[v, 1, 1] * s1 + scatter[v, 2, 1] * s2
                    blocks[at, 2, l] += scatter[v, 0, 2] * s0 + scatter[v, 1, 2] * s1 + scatter[v, 2, 2] * s2
                    k += 1


@kernel
def _soften(S: Array, alpha: Array, soft: Array, column: Array) -> None:
    """Set ``soft = S - column S_0`` (row 0 of S), ``column = alpha S_.0 / (1 + alpha S_00)``, by contacts."""
    for c in range(S.shape[0]):
        factor = alpha[c] / (1.0 + alpha[c] * S[c, 0, 0])
        for i in range(3):
            column[c, i] = factor * S[c, i, 0]
            for j in range(3):
                soft[c, i, j] = S[c, i, j] - column[c, i] * S[c, 0, j]


@kernel
def _what_is_left(S: Array, g: Array, du: Array, dr: Array, out: Array) -> float:
    """Set ``g - S du - dr`` and return its norm."""
    total = 0.0
    for c in range(S.shape[0]):
        for i in range(3):
            left = g[c, i] - dr[c, i] - (S[c, i, 0] * du[c, 0] + S[c, i, 1] * du[c, 1] + S[c, i, 2] * du[c, 2])
            out[c, i] = left
            total += left * left
    return math.sqrt(total)


@kernel
def _reduce(start: IntArray, index: IntArray, scatter: Array, column: Array, right: Array, y: Array) -> None:
    """Work compliance into the right-hand side in place and set ``y = V right``."""
    for i in range(y.shape[0]):
        for j in range(3):
            y[i, j] = 0.0
    for c in range(right.shape[0]):
        r = right[c, 0]
        for i in range(3):
            right[c, i] -= column[c, i] * r
        for v in range(start[c], start[c + 1]):
            i = index[v]
            for j in range(3):
                y[i, j] += (
                    scatter[v, 0, j] * right[c, 0] + scatter[v, 1, j] * right[c, 1] + scatter[v, 2, j] * right[c, 2]
                )


@kernel
def _expand(start: IntArray, index: IntArray, gather: Array, S: Array, right: Array, y: Array, dr: Array) -> None:
    """Add ``right - S G y`` to dr."""
    for c in range(S.shape[0]):
        v0 = 0.0
        v1 = 0.0
        v2 = 0.0
        for g in range(start[c], start[c + 1]):
            k = index[g]
            v0 += gather[g, 0, 0] * y[k, 0] + gather[g, 0, 1] * y[k, 1] + gather[g, 0, 2] * y[k, 2]
            v1 += gather[g, 1, 0] * y[k, 0] + gather[g, 1, 1] * y[k, 1] + gather[g, 1, 2] * y[k, 2]
            v2 += gather[g, 2, 0] * y[k, 0] + gather[g, 2, 1] * y[k, 1] + gather[g, 2, 2] * y[k, 2]
        for j in range(3):
            dr[c, j] += right[c, j] - (S[c, j, 0] * v0 + S[c, j, 1] * v1 + S[c, j, 2] * v2)
