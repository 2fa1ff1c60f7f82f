"""Sparse LU factors by blocks against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array, IntArray
from signorini.solvers.block_lu import BlockLU, BlockPattern


def random_matrix(n: int, pairs: int, seed: int) -> tuple[IntArray, IntArray, Array, Array]:
    """Return rows, columns and values of blocks, some of them repeated, and the matrix that they make."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, size=(2, pairs))
    rows, columns = np.concatenate([i, j, i[:3], np.arange(n)]), np.concatenate([j, i, j[:3], np.arange(n)])
    values = rng.normal(size=(rows.size, 3, 3))
    values[-n:] += 10.0 * np.eye(3)
    A = np.zeros((n, n, 3, 3))
    np.add.at(A, (rows, columns), values)
    return rows, columns, values, A.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)


@pytest.mark.parametrize(("n", "pairs"), [(1, 0), (2, 1), (7, 6), (40, 60), (40, 400)])
def test_solution(n: int, pairs: int) -> None:
    """A x = b for an empty, a sparse and a full graph; the same pattern serves other numbers."""
    rows, columns, values, A = random_matrix(n, pairs, 0)
    pattern = BlockPattern(rows, columns, n)
    lu = BlockLU(pattern)
    b = np.random.default_rng(1).normal(size=(n, 3))
    for factor in (1.0, -3.0):
        lu.blocks[:] = 0.0
        np.add.at(lu.blocks, pattern.positions(rows, columns), factor * values)
        assert lu.factor()
        np.testing.assert_allclose(factor * A @ lu.solve(b).reshape(-1), b.reshape(-1), atol=1e-12 * n)


def test_chain_has_no_fill() -> None:
    """A chain, numbered at random, is eliminated from its ends: no block but those of the matrix."""
    order = np.random.default_rng(2).permutation(50)
    pattern = BlockPattern(order[:-1], order[1:], 50)
    assert pattern.column.size == 50 + 2 * 49


def test_full_matrix_counts_its_multiplications() -> None:
    """A full matrix of n blocks takes 27 (n - k)(n - k + 1) multiplications in step k."""
    i, j = np.meshgrid(np.arange(5), np.arange(5))
    pattern = BlockPattern(i.reshape(-1), j.reshape(-1), 5)
    assert pattern.work == 27 * sum(k * (k + 1) for k in range(5))


def test_singular_matrix() -> None:
    """A diagonal block without inverse is reported."""
    pattern = BlockPattern(np.array([0]), np.array([1]), 2)
    lu = BlockLU(pattern)
    lu.blocks[:] = 1.0
    assert not lu.factor()
