"""Sparse LU factors by blocks of three on a pattern that stays, compiled.

Newton systems of one friction problem differ in their numbers only: the elimination order (minimum degree) and the
fill are found once, then every factorisation is a loop over blocks without search. Rows are exchanged inside diagonal
blocks only. That suits matrices near ``I + V S V^T`` with monotone S; whoever uses the factors elsewhere refines the
solution and looks at what is left.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini._scipy import sparse, sparse_linalg


class BlockPattern:
    """Elimination order and fill of a matrix of 3x3 blocks, its pattern taken as symmetric.

    Parameters
    ----------
    rows, columns : (any,) int array
        Places of the blocks, in any order, repeated or not; the diagonal is always there.
    n : int
        Number of block rows.
    """

    def __init__(self, rows: IntArray, columns: IntArray, n: int) -> None:
        at = np.concatenate([rows, columns, np.arange(n)])
        beside = np.concatenate([columns, rows, np.arange(n)])
        graph: Any = sparse.csc_array((np.ones(at.size), (at, beside)), shape=(n, n))  # adds up what is repeated
        graph.data[:] = 1.0
        graph.setdiag(2.0 * n)
        dominant = sparse_linalg.splu(
            graph, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        self.n = n
        self.place: IntArray = dominant.perm_c.astype(np.int64)
        """(n,) where a block row goes in the order of elimination."""
        ordered: Any = sparse.csr_array(graph[np.argsort(self.place)][:, np.argsort(self.place)])
        ordered.sort_indices()
        above_start, above = _fill(ordered.indptr.astype(np.int64), ordered.indices.astype(np.int64))
        self.start, self.diagonal, self.column = _rows_of(above_start, above)

    @property
    def work(self) -> float:
        """Multiplications of one factorisation."""
        after = (self.start[1:] - self.diagonal - 1).astype(np.float64)
        return float(27.0 * np.sum(after * (after + 1.0)))

    def positions(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return where the blocks (rows, columns) of the given matrix are stored."""
        return _positions(self.start, self.column, self.place[rows], self.place[columns])


class BlockLU:
    """Numbers on a :class:`BlockPattern`: fill ``blocks`` (any, 3, 3), factorise in place, solve."""

    def __init__(self, pattern: BlockPattern) -> None:
        self.pattern = pattern
        self.blocks = np.zeros((pattern.column.shape[0], 3, 3))
        self._where = np.full(pattern.n, -1, dtype=np.int64)
        self._x = np.zeros((pattern.n, 3))

    def factor(self) -> bool:
        """Overwrite the blocks with their factors; False where a diagonal block is singular."""
        p = self.pattern
        return bool(_factor(p.start, p.diagonal, p.column, self.blocks, self._where))

    def solve(self, right: Array) -> Array:
        """Return the solution for a right-hand side (n, 3)."""
        p = self.pattern
        out = np.empty((p.n, 3))
        _solve(p.start, p.diagonal, p.column, p.place, self.blocks, right, self._x, out)
        return out


@kernel
def _fill(start: IntArray, column: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pattern of U without its diagonal by rows, from the ordered symmetric pattern.

    Row k has the entries of the matrix and those of all rows whose first entry is k.
    """
    n = start.shape[0] - 1
    out_start = np.zeros(n + 1, dtype=np.int64)
    out = np.empty(4 * column.shape[0] + n, dtype=np.int64)
    mark = np.full(n, -1, dtype=np.int64)
    first_child = np.full(n, -1, dtype=np.int64)
    sibling = np.full(n, -1, dtype=np.int64)
    used = 0
    for k in range(n):
        mark[k] = k
        begin = used
        if out.shape[0] < used + n:
            longer = np.empty(2 * out.shape[0] + n, dtype=np.int64)
            for i in range(used):
                longer[i] = out[i]
            out = longer
        for i in range(start[k], start[k + 1]):
            j = column[i]
            if j > k and mark[j] != k:
                mark[j] = k
                out[used] = j
                used += 1
        child = first_child[k]
        while child >= 0:
            for i in range(out_start[child], out_start[child + 1]):
                j = out[i]
                if mark[j] != k:
                    mark[j] = k
                    out[used] = j
                    used += 1
            child = sibling[child]
        out_start[k + 1] = used
        parent = n
        for i in range(begin, used):
            parent = min(parent, out[i])
        if parent < n:
            sibling[k] = first_child[parent]
            first_child[parent] = k
    return out_start, out[:used].copy()


@kernel
def _rows_of(above_start: IntArray, above: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return (start, diagonal, column) of the rows of L, diagonal and U together, columns ascending."""
    n = above_start.shape[0] - 1
    start = np.zeros(n + 1, dtype=np.int64)
    for k in range(n):
        start[k + 1] += above_start[k + 1] - above_start[k] + 1
        for i in range(above_start[k], above_start[k + 1]):
            start[above[i] + 1] += 1
    for k in range(n):
        start[k + 1] += start[k]
    column = np.empty(start[n], dtype=np.int64)
    diagonal = np.empty(n, dtype=np.int64)
    filled = start[:n].copy()
    # Column k of L is row k of U: going through k in order fills every row of L in order. The rows of U are sorted by
    # going through the columns of U, that is the rows of L, once they are there.
    for k in range(n):
        diagonal[k] = filled[k]
        column[filled[k]] = k
        for i in range(above_start[k], above_start[k + 1]):
            row = above[i]
            column[filled[row]] = k
            filled[row] += 1
    for k in range(n):
        filled[k] = diagonal[k] + 1
    for row in range(n):
        for i in range(start[row], diagonal[row]):
            k = column[i]
            column[filled[k]] = row
            filled[k] += 1
    return start, diagonal, column


@kernel
def _positions(start: IntArray, column: IntArray, rows: IntArray, columns: IntArray) -> IntArray:
    """Return where the blocks (rows, columns) are stored, by bisection of the sorted rows."""
    found = np.empty(rows.shape[0], dtype=np.int64)
    for i in range(rows.shape[0]):
        low = start[rows[i]]
        high = start[rows[i] + 1]
        while low < high:
            middle = (low + high) // 2
            if column[middle] < columns[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low
    return found


@inner_kernel
def _invert(blocks: Array, k: int) -> bool:
    """Overwrite the 3x3 block `k` with its inverse, by cofactors; False if it is singular."""
    a, b, c = blocks[k, 0, 0], blocks[k, 0, 1], blocks[k, 0, 2]
    d, e, f = blocks[k, 1, 0], blocks[k, 1, 1], blocks[k, 1, 2]
    g, h, i = blocks[k, 2, 0], blocks[k, 2, 1], blocks[k, 2, 2]
    A = e * i - f * h
    B = f * g - d * i
    C = d * h - e * g
    det = a * A + b * B + c * C
    if not (abs(det) > 0.0 and abs(det) < math.inf):
        return False
    s = 1.0 / det
    blocks[k, 0, 0] = s * A
    blocks[k, 1, 0] = s * B
    blocks[k, 2, 0] = s * C
    blocks[k, 0, 1] = s * (c * h - b * i)
    blocks[k, 1, 1] = s * (a * i - c * g)
    blocks[k, 2, 1] = s * (b * g - a * h)
    blocks[k, 0, 2] = s * (b * f - c * e)
    blocks[k, 1, 2] = s * (c * d - a * f)
    blocks[k, 2, 2] = s * (a * e - b * d)
    return True


@kernel
def _factor(start: IntArray, diagonal: IntArray, column: IntArray, blocks: Array, where: IntArray) -> bool:
    """Factorise row by row in place: L with unit diagonal, the inverses of the diagonal blocks, U.

    `where` (n,) is scratch memory full of -1, left so.
    """
    for row in range(diagonal.shape[0]):
        for q in range(start[row], start[row + 1]):
            where[column[q]] = q
        for q in range(start[row], diagonal[row]):
            k = column[q]
            d = diagonal[k]
            # L_rk = A_rk U_kk^-1
            l00, l01, l02 = _row_times(blocks, q, 0, d)
            l10, l11, l12 = _row_times(blocks, q, 1, d)
            l20, l21, l22 = _row_times(blocks, q, 2, d)
            blocks[q, 0, 0], blocks[q, 0, 1], blocks[q, 0, 2] = l00, l01, l02
            blocks[q, 1, 0], blocks[q, 1, 1], blocks[q, 1, 2] = l10, l11, l12
            blocks[q, 2, 0], blocks[q, 2, 1], blocks[q, 2, 2] = l20, l21, l22
            for s in range(d + 1, start[k + 1]):
                t = where[column[s]]
                for j in range(3):
                    u0, u1, u2 = blocks[s, 0, j], blocks[s, 1, j], blocks[s, 2, j]
                    blocks[t, 0, j] -= l00 * u0 + l01 * u1 + l02 * u2
                    blocks[t, 1, j] -= l10 * u0 + l11 * u1 + l12 * u2
                    blocks[t, 2, j] -= l20 * u0 + l21 * u1 + l22 * u2
        regular = _invert(blocks, diagonal[row])
        for q in range(start[row], start[row + 1]):
            where[column[q]] = -1
        if not regular:
            return False
    return True


@inner_kernel
def _row_times(blocks: Array, q: int, i: int, d: int) -> tuple[float, float, float]:
    """Return row `i` of block `q` times block `d`."""
    a, b, c = blocks[q, i, 0], blocks[q, i, 1], blocks[q, i, 2]
    return (
        a * blocks[d, 0, 0] + b * blocks[d, 1, 0] + c * blocks[d, 2, 0],
        a * blocks[d, 0, 1] + b * blocks[d, 1, 1] + c * blocks[d, 2, 1],
        a * blocks[d, 0, 2] + b * blocks[d, 1, 2] + c * blocks[d, 2, 2],
    )


@kernel
def _solve(
    start: IntArray,
    diagonal: IntArray,
    column: IntArray,
    place: IntArray,
    blocks: Array,
    right: Array,
    x: Array,
    out: Array,
) -> None:
    """Solve with the factors; `x` (n, 3) is scratch memory in the order of elimination."""
    n = diagonal.shape[0]
    for i in range(n):
        for j in range(3):
            x[place[i], j] = right[i, j]
    for row in range(n):
        s0, s1, s2 = x[row, 0], x[row, 1], x[row, 2]
        for q in range(start[row], diagonal[row]):
            k = column[q]
            x0, x1, x2 = x[k, 0], x[k, 1], x[k, 2]
            s0 -= blocks[q, 0, 0] * x0 + blocks[q, 0, 1] * x1 + blocks[q, 0, 2] * x2
            s1 -= blocks[q, 1, 0] * x0 + blocks[q, 1, 1] * x1 + blocks[q, 1, 2] * x2
            s2 -= blocks[q, 2, 0] * x0 + blocks[q, 2, 1] * x1 + blocks[q, 2, 2] * x2
        x[row, 0], x[row, 1], x[row, 2] = s0, s1, s2
    for row in range(n - 1, -1, -1):
        s0, s1, s2 = x[row, 0], x[row, 1], x[row, 2]
        d = diagonal[row]
        for q in range(d + 1, start[row + 1]):
            k = column[q]
            x0, x1, x2 = x[k, 0], x[k, 1], x[k, 2]
            s0 -= blocks[q, 0, 0] * x0 + blocks[q, 0, 1] * x1 + blocks[q, 0, 2] * x2
            s1 -= blocks[q, 1, 0] * x0 + blocks[q, 1, 1] * x1 + blocks[q, 1, 2] * x2
            s2 -= blocks[q, 2, 0] * x0 + blocks[q, 2, 1] * x1 + blocks[q, 2, 2] * x2
        for j in range(3):
            x[row, j] = blocks[d, j, 0] * s0 + blocks[d, j, 1] * s1 + blocks[d, j, 2] * s2
    for i in range(n):
        for j in range(3):
            out[i, j] = x[place[i], j]
