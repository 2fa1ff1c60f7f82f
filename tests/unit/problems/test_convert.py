"""Conversions: what solves the new problem, taken back, solves the old one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from signorini._arrays import Array
from signorini.problems import LCP, MixedLCP, lcp_to_mcp, mixed_to_lcp, mixed_to_mcp
from signorini.problems.convert import box_to_mixed


def blocks(seed: int, n: int, m: int) -> tuple[Array, Array, Array, Array]:
    K = np.random.default_rng(seed).standard_normal((n + m, n + m))
    return K[:n, :n], K[:n, n:], K[n:, :n], K[n:, n:]


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_elimination_of_free_unknowns_keeps_slacks(store: type) -> None:
    """Any v, with u from the equations, has the same complementary slack in both problems."""
    A, C, D, B = blocks(0, 4, 3)
    a, b, v = np.array([1.0, -2.0, 0.5, 3.0]), np.array([1.0, 2.0, -1.0]), np.array([0.3, 0.0, 1.2])
    problem = MixedLCP(store(A), store(C), store(D), store(B), a, b)
    other = mixed_to_lcp(problem)
    z = other.back(v)
    np.testing.assert_allclose(problem.slack(z)[:4], 0.0, atol=1e-13)
    np.testing.assert_allclose(problem.slack(z)[4:], other.problem.slack(v), atol=1e-13)
    np.testing.assert_array_equal(other.forth(z), v)


def singular_saddle() -> tuple[MixedLCP, Array]:
    """A = diag(1, 0), solution chosen: u = (2, -3), v = (1, 0), w = (0, 4)."""
    A = np.diag([1.0, 0.0])
    C = np.array([[1.0, 2.0], [-3.0, 1.0]])
    D, B = -C.T, np.zeros((2, 2))
    z, w = np.array([2.0, -3.0, 1.0, 0.0]), np.array([0.0, 4.0])
    K = np.block([[A, C], [D, B]])
    k = np.concatenate([[0.0, 0.0], w]) - K @ z
    return MixedLCP(A, C, D, B, k[:2], k[2:]), z


def test_singular_free_block_is_split() -> None:
    """The unknown that cannot be eliminated appears twice, with either sign, and the way back and forth is exact."""
    problem, z = singular_saddle()
    other = mixed_to_lcp(problem)
    assert other.problem.size == 2 + 2 * 1
    there = other.forth(z)
    assert there.min() >= 0.0
    assert other.problem.residual(there) <= 1e-14
    np.testing.assert_allclose(other.back(there), z, atol=1e-13)


def test_singular_free_block_keeps_a_saddle_monotone() -> None:
    """A symmetric semidefinite A with D = -C^T must give a positive semidefinite M."""
    M = np.asarray(mixed_to_lcp(singular_saddle()[0]).problem.M)
    assert np.linalg.eigvalsh(M + M.T).min() >= -1e-12


def test_mcp_residual_bounds_that_of_the_lcp() -> None:
    problem = LCP([[2e-6, 1e-6], [1e-6, 4e-6]], [-3e-3, 1e-3])
    other = lcp_to_mcp(problem)
    for x in (np.array([0.3, 0.1]), np.array([1.0, 0.0]), np.array([0.0, 0.0])):
        assert problem.residual(other.back(x)) <= other.problem.residual(x) * (1 + 1e-12)
    z = np.array([3e-3 / 2e-6, 0.0])  # w = (0, 1e-3 + 1.5e-3)
    assert problem.residual(z) <= 1e-15
    assert other.problem.residual(other.forth(z)) <= 1e-15


def test_mixed_problem_as_mcp_has_free_unknowns() -> None:
    problem = MixedLCP([[4.0]], [[2.0]], [[-1.0]], [[2.0]], [-8.0], [1.0])
    other = mixed_to_mcp(problem)
    np.testing.assert_array_equal(other.problem.bounds[0], [-np.inf, 0.0])
    assert other.problem.residual(other.forth(np.array([1.8, 0.4]))) <= 1e-15


def test_bounds_of_every_kind_become_one_mixed_problem() -> None:
    """K = I, k = (-5, 5, -5, 5, 3): solution by hand (2, -1, 5, -5, -3) for [0,2], [-1,1], >=0, <=9, free."""
    lower = np.array([0.0, -1.0, 0.0, -np.inf, -np.inf])
    upper = np.array([2.0, 1.0, np.inf, 9.0, np.inf])
    k, x = np.array([-5.0, 5.0, -5.0, 5.0, 3.0]), np.array([2.0, -1.0, 5.0, -5.0, -3.0])
    other = box_to_mixed(np.eye(5), k, lower, upper)
    z = other.forth(x)
    assert other.problem.residual(z) <= 1e-15
    np.testing.assert_allclose(other.back(z), x, atol=1e-15)
    assert other.problem.residual(other.forth(np.array([1.0, -1.0, 5.0, -5.0, -3.0]))) > 1e-2
