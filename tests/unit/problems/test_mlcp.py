"""The mixed LCP: checks at the door and the residual by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from signorini.errors import InputError
from signorini.problems import LCP, MixedLCP, load_problem


def small() -> MixedLCP:
    """0 = 4 u + 2 v - 8, 0 <= v ⊥ -u + 2 v + 1 >= 0; solved by u = 1.8, v = 0.4."""
    return MixedLCP([[4.0]], [[2.0]], [[-1.0]], [[2.0]], [-8.0], [1.0])


def test_slack_orders_equations_first() -> None:
    """At u = 1, v = 2: 4 + 4 - 8 = 0 and -1 + 4 + 1 = 4."""
    np.testing.assert_array_equal(small().slack(np.array([1.0, 2.0])), [0.0, 4.0])


def test_residual_by_hand() -> None:
    """At u = 1, v = 0: equation -4 over its largest entry 4 is -1; min(0, 0 / 2) = 0; size max(1, 8/4, 1/2) = 2."""
    assert small().residual(np.array([1.0, 0.0])) == pytest.approx(0.5, abs=1e-15)
    assert small().residual(np.array([1.8, 0.4])) <= 1e-16
    assert small().residual(np.array([1.8, np.nan])) == np.inf


def test_without_free_unknowns_it_is_the_residual_of_the_lcp() -> None:
    B, b, z = np.array([[2.0, -1.0], [3.0, 0.0]]), np.array([-1.0, 0.5]), np.array([0.2, 0.7])
    mixed = MixedLCP(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((2, 0)), B, [], b)
    assert mixed.residual(z) == pytest.approx(LCP(B, b).residual(z), abs=1e-16)


def test_wrong_shapes_are_refused_at_the_door() -> None:
    with pytest.raises(InputError, match=r"MixedLCP: D has shape \(1, 2\), must be \(1, 1\)"):
        MixedLCP([[1.0]], [[1.0]], [[1.0, 2.0]], [[1.0]], [1.0], [1.0])


def test_saved_and_loaded_problem_is_the_same(tmp_path: Path) -> None:
    problem = MixedLCP(sparse.eye_array(1), [[2.0]], [[-1.0]], [[2.0]], [-8.0], [1.0])
    problem.save(tmp_path / "mixed.npz")
    again = load_problem(tmp_path / "mixed.npz")
    assert isinstance(again, MixedLCP)
    assert sparse.issparse(again.A)
    z = np.array([0.3, 0.9])
    np.testing.assert_array_equal(again.slack(z), problem.slack(z))


def test_one_matrix_with_n_free_is_split(tmp_path: Path) -> None:
    """The layout of the collections: the first n_free rows are equations."""
    M, q = np.arange(9.0).reshape(3, 3), np.array([1.0, 2.0, 3.0])
    np.savez(tmp_path / "file.npz", n_free=1, m_compl=2, M=M, q=q)
    problem = load_problem(tmp_path / "file.npz")
    assert isinstance(problem, MixedLCP)
    z = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(problem.slack(z), M @ z + q)
    assert problem.free == 1
