"""The Delassus operator against the product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.problems.connections import connect_matrix, connect_sparse, contact_velocity
from signorini.problems.delassus import Delassus
from tests.friction_problems import friction

rounding = 1e-12  # sums of some twenty products of numbers near 1


def example(dim: int = 3) -> tuple[Delassus, Array, Array]:
    """Five bodies (one immovable, one with unsymmetric inverse inertia), nine contacts; also J and M^-1 in full."""
    rng = np.random.default_rng(3)
    n_b, n_c = 5, 9
    root = rng.normal(size=(n_b, 6, 6))
    M_inv = root @ root.transpose(0, 2, 1)
    M_inv[0] = 0.0
    M_inv[1] += root[1] - root[1].T
    M_inv[2, 3:5] = 0.0  # a planar mask: no turning about two axes
    M_inv[2, :, 3:5] = 0.0
    body_a = rng.integers(0, 2, n_c)
    body_b = rng.integers(2, n_b, n_c)
    J_a, J_b = rng.normal(size=(2, n_c, dim, 6))
    J = np.zeros((n_c, dim, n_b, 6))
    for c in range(n_c):
        J[c, :, body_a[c]] = J_a[c]
        J[c, :, body_b[c]] = J_b[c]
    full = np.zeros((n_b, 6, n_b, 6))
    full[np.arange(n_b), :, np.arange(n_b)] = M_inv
    operator = Delassus(body_a, body_b, J_a, J_b, M_inv)
    return operator, J.reshape(dim * n_c, 6 * n_b), full.reshape(6 * n_b, 6 * n_b)


@pytest.mark.parametrize("dim", [2, 3])
def test_operator_is_the_product_of_its_parts(dim: int) -> None:
    """W = J M^-1 J^T in every form: matrix, product, diagonal blocks, velocities, connections."""
    operator, J, M_inv = example(dim)
    W = J @ M_inv @ J.T
    p: Array = np.random.default_rng(0).normal(size=(W.shape[0],))
    np.testing.assert_allclose(operator.dense(), W, atol=rounding)
    np.testing.assert_allclose(operator @ p, W @ p, atol=10 * rounding)
    np.testing.assert_allclose(operator.velocity(p).reshape(-1), M_inv @ J.T @ p, atol=10 * rounding)
    for c, block in enumerate(operator.diagonal_blocks()):
        at = slice(dim * c, dim * (c + 1))
        np.testing.assert_allclose(block, W[at, at], atol=rounding)
    problem = friction(operator, np.zeros(W.shape[0]), 0.3, dim=dim)
    u = contact_velocity(problem.connections, problem.spatial(p), problem.load)
    np.testing.assert_allclose(u[:, :dim].reshape(-1), W @ p, atol=10 * rounding)


def test_bad_bodies_and_shapes_are_named() -> None:
    """Indices outside the bodies and shapes that disagree are refused at the door."""
    operator, _, _ = example()
    with pytest.raises(InputError, match=r"go from 0 to 7, must be in 0\.\.4"):
        Delassus(operator.body_a, operator.body_b + 3, operator.J_a, operator.J_b, operator.M_inv)
    with pytest.raises(InputError, match="J_b has shape"):
        Delassus(operator.body_a, operator.body_b, operator.J_a, operator.J_b[:-1], operator.M_inv)
    halves: Any = operator.body_a + 0.5
    with pytest.raises(InputError, match="body_a has type float64, must be integers"):
        Delassus(halves, operator.body_b, operator.J_a, operator.J_b, operator.M_inv)


@pytest.mark.parametrize("dim", [2, 3])
def test_sparse_form(dim: int) -> None:
    W, J, M_inv = example(dim)
    np.testing.assert_allclose(W.sparse().toarray(), J @ M_inv @ J.T, atol=rounding)


@pytest.mark.parametrize("dim", [2, 3])
def test_dense_and_sparse_matrices_have_the_same_couplings(dim: int) -> None:
    rng = np.random.default_rng(5)
    blocks = rng.normal(size=(4, dim, 4, dim)) * (rng.random((4, 1, 4, 1)) < 0.5)
    W = blocks.reshape(4 * dim, 4 * dim)
    of_dense, of_sparse = connect_matrix(W, 4, dim), connect_sparse(sparse.csr_array(W), 4, dim)
    for one, other in zip(of_dense, of_sparse, strict=True):
        np.testing.assert_array_equal(one, other)
    p = np.zeros((4, 3))
    p[:, :dim] = rng.normal(size=(4, dim))
    u = contact_velocity(of_dense, p, np.zeros((4, 3)))
    np.testing.assert_allclose(u[:, :dim].reshape(-1), W @ p[:, :dim].reshape(-1), atol=rounding)
