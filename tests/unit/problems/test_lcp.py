"""The LCP: checks at the door and the residual by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from signorini.errors import InputError
from signorini.problems import LCP, load_problem
from signorini.solvers import solve


def test_residual_by_hand() -> None:
    """M = diag(2, 4), q = (-2, 8), z = (0.5, 1): w = (-1, 12), w/d = (-0.5, 3); max(0.5, 1) / max(1, 2) = 0.5."""
    problem = LCP([[2.0, 0.0], [0.0, 4.0]], [-2.0, 8.0])
    assert problem.residual(np.array([0.5, 1.0])) == pytest.approx(0.5, abs=1e-15)


def test_residual_takes_one_where_the_diagonal_is_not_positive() -> None:
    """M = [[0, 1], [-1, -3]], q = (1, -1), z = (0, 0): w = (1, -1), both in their own units; 1 / 1."""
    assert LCP([[0.0, 1.0], [-1.0, -3.0]], [1.0, -1.0]).residual(np.zeros(2)) == 1.0


def test_residual_is_zero_when_everything_vanishes() -> None:
    assert LCP([[1.0]], [0.0]).residual(np.zeros(1)) == 0.0
    assert LCP(np.zeros((0, 0)), []).residual(np.zeros(0)) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_residual_of_a_point_that_is_not_finite_is_infinite(bad: float) -> None:
    assert LCP([[1.0]], [1.0]).residual(np.array([bad])) == np.inf


def test_residual_does_not_depend_on_units() -> None:
    """Measuring unknowns in other units (z -> z/s, M -> M s, by congruence) leaves equal scales their residual."""
    M, q, z = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([-1.0, -2.0]), np.array([0.3, 0.1])
    assert LCP(1e-6 * M, 1e-6 * q).residual(z) == pytest.approx(LCP(M, q).residual(z), rel=1e-12)
    assert LCP(M, 1e5 * q).residual(1e5 * z) == pytest.approx(LCP(M, q).residual(z), rel=1e-12)


def test_sparse_and_dense_measure_alike() -> None:
    M = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.5, 0.0, 3.0]])
    q, z = np.array([-1.0, 2.0, -3.0]), np.array([0.1, 0.2, 0.3])
    assert LCP(sparse.csc_array(M), q).residual(z) == pytest.approx(LCP(M, q).residual(z), abs=1e-16)


def test_the_problem_keeps_its_own_copy() -> None:
    M = np.eye(2)
    problem = LCP(M, [1.0, 1.0])
    M[0, 0] = 5.0
    assert np.asarray(problem.M)[0, 0] == 1.0


@pytest.mark.parametrize(
    ("M", "q", "message"),
    [
        (np.eye(3), [1.0, 2.0], r"LCP: M has shape \(3, 3\), must be \(2, 2\)"),
        (np.eye(2), [[1.0], [2.0]], "LCP: q has shape"),
        (np.array([[np.nan]]), [1.0], "LCP: M is .* must be finite"),
        (sparse.csr_array(np.array([[np.inf]])), [1.0], "LCP: M must be finite"),
        (sparse.eye_array(3), [1.0], r"LCP: M has shape \(3, 3\), must be \(1, 1\)"),
        ("matrix", [1.0], "LCP: M is 'matrix', must be an array of numbers"),
    ],
)
def test_wrong_data_are_refused_at_the_door(M: object, q: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LCP(M, q)  # type: ignore[arg-type]


@pytest.mark.parametrize("matrix", [np.array([[2.0, 1.0], [0.0, 2.0]]), sparse.csr_array([[2.0, 1.0], [0.0, 2.0]])])
def test_saved_and_loaded_problem_is_the_same(matrix: object, tmp_path: Path) -> None:
    problem = LCP(matrix, [-1.0, 3.0])  # type: ignore[arg-type]
    problem.save(tmp_path / "problem.dat")
    again = load_problem(tmp_path / "problem.dat")
    assert isinstance(again, LCP)
    assert sparse.issparse(again.M) == sparse.issparse(matrix)
    np.testing.assert_array_equal(sparse.csr_array(again.M).toarray(), [[2.0, 1.0], [0.0, 2.0]])
    np.testing.assert_array_equal(again.q, problem.q)


def test_unknowns_that_are_zero_excuse_no_row() -> None:
    """The second row cannot hold with the first unknown alone; that of the last column, in odd units, is zero."""
    M = np.array([[1e-8, 0.0, 0.0], [-1e-8, 1.0, 1e9], [0.0, 0.0, 1e9]])
    problem = LCP(M, np.array([-1e-2, -1e-3, 1.0]))
    z = np.array([1e6, 0.0, 0.0])
    assert problem.residual(z) < 1e-6
    assert not problem.credible(z, 1e-10)


def test_unknowns_taken_for_zero_excuse_no_row() -> None:
    """The first unknown is 1e-9 and not 1; taken for zero it leaves its row wrong by all of its terms."""
    problem = LCP([[1.0, 0.0], [0.0, 1e-12]], [-1e-9, -1.0])
    assert problem.residual(np.array([1.0, 1e12])) < 1e-10
    assert not problem.credible(np.array([1.0, 1e12]), 1e-10)
    assert problem.credible(np.array([1e-9, 1e12]), 1e-10)


def test_what_stands_for_zero_is_zero() -> None:
    """Of a problem with a ray of solutions, of which interior points leave dust in the last unknown."""
    problem = LCP([[0.0, 0.0, -2.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [0.0, -2.0, 2.0])
    np.testing.assert_array_equal(problem.without_dust(np.array([18.7, 1e-12, 1e-12])), [18.7, 0.0, 0.0])
    z = solve(problem, tolerance=1e-10).z
    assert np.all(z * problem.slack(z) == 0.0)
    assert np.all(problem.slack(z) >= 0.0)
