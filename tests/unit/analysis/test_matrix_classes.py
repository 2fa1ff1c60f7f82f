"""Classes of matrices against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from signorini._arrays import Array
from signorini.analysis import Answer, matrix_classes
from signorini.analysis.matrix_classes import adequate, copositive, positive_definite, sufficient
from signorini.problems import LCP
from signorini.solvers import Enumerate, solve


def column_sufficient(M: Array) -> bool:
    """By definition: no x with ``x_i (M x)_i <= 0`` for all i and ``< 0`` for some, one linear programme per signs."""
    m = M.shape[0]
    for code in range(2**m):
        s = np.array([1.0 if code >> i & 1 else -1.0 for i in range(m)])
        for i in range(m):
            # x = s |x|, |x_i| = 1, s (M x) <= 0, (M x)_i as negative as it gets
            A = s[:, None] * M * s
            equal = np.zeros((1, m))
            equal[0, i] = 1.0
            found = linprog(A[i], A_ub=A, b_ub=np.zeros(m), A_eq=equal, b_eq=[1.0], bounds=[(0, 1e3)] * m)
            if found.status == 0 and float(found.fun or 0.0) < -1e-7:
                return False
    return True


def small_matrices() -> list[Array]:
    """Matrices with small whole numbers, so that zeros and equal minors occur."""
    r = np.random.default_rng(7)
    made = []
    for k in range(60):
        m = 2 + k % 2
        A = r.integers(-2, 3, (m, m)).astype(float)
        np.fill_diagonal(A, r.integers(0, 3, m))
        made.append(A)
    for _ in range(10):
        B = r.integers(-1, 2, (3, 2)).astype(float)
        S = r.integers(-1, 2, (3, 3)).astype(float)
        made.append(B @ B.T + S - S.T)  # positive semidefinite, not symmetric
    return made


def test_sufficient_is_row_and_column_sufficient() -> None:
    """Both M and its transpose meet the definition."""
    answers = []
    for M in small_matrices():
        expected = column_sufficient(M) and column_sufficient(M.T)
        assert sufficient(M) is (Answer.YES if expected else Answer.NO), M
        answers.append(expected)
    assert 10 < sum(answers) < len(answers) - 10


def test_copositive_matrices_have_no_negative_form_on_the_orthant() -> None:
    """X . M x >= 0 for x >= 0: a yes is not refuted by samples, a no is proved by one."""
    r = np.random.default_rng(1)
    points = np.abs(r.standard_normal((20000, 4))) * (r.random((20000, 4)) < 0.7)
    answers = []
    for _ in range(80):
        M = r.uniform(-1.0, 1.0, (4, 4)) + np.diag(r.uniform(0.0, 1.2, 4))
        lowest = float(np.einsum("pi,ij,pj->p", points, M, points).min())
        if -1e-3 < lowest < 0.0:
            continue  # too near the border for samples
        answers.append(copositive(M))
        assert answers[-1] is (Answer.NO if lowest < 0.0 else Answer.YES)
    assert answers.count(Answer.NO) > 10
    assert answers.count(Answer.YES) > 10


def test_copositive_but_not_semidefinite() -> None:
    """Horn's matrix is copositive without being a sum of a semidefinite and a nonnegative one."""
    horn = np.array([[1.0, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1]])
    assert copositive(horn) is Answer.YES
    assert copositive(horn - 0.01 * np.eye(5)) is Answer.NO
    assert positive_definite(horn) is Answer.NO


@pytest.mark.parametrize(
    ("D", "answer"),
    [
        ([[2.0, 3.0], [-3.0, 2.0]], Answer.YES),
        ([[1.0, 3.0], [3.0, 1.0]], Answer.NO),
        ([[1, 1], [1, 1]], Answer.BORDERLINE),
    ],
)
def test_positive_definite_looks_at_the_symmetric_part(D: list[list[float]], answer: Answer) -> None:
    assert positive_definite(D) is answer


def test_adequate_matrices_have_one_slack_for_every_load() -> None:
    """Ingleton: w = M z + q is the same for all solutions, also where M is singular."""
    r = np.random.default_rng(3)
    seen = 0
    for _ in range(20):
        B = r.standard_normal((4, 3))
        M = B @ B.T  # dependent normals, symmetric
        assert adequate(M) is Answer.YES
        for _ in range(5):
            q = M @ r.standard_normal(4)
            found = solve(LCP(M, q), Enumerate()).info["solutions"]
            slacks = [M @ z + q for z in found]
            assert slacks
            assert np.abs(np.array(slacks) - slacks[0]).max() < 1e-8
            seen += len(found) > 1
    assert seen > 5


@pytest.mark.parametrize(
    "M",
    [
        [[1.0, 1, 0], [1, 1, 0], [0.5, 0, 1]],  # minor of rows 0, 1 vanishes, their columns differ
        [[1.0, 1, 0.5], [1, 1, 0], [0, 0, 1]],  # their rows differ
        [[1.0, 2], [2, 1]],  # negative determinant
    ],
)
def test_zero_minors_without_dependence_are_not_adequate(M: list[list[float]]) -> None:
    assert adequate(M) is Answer.NO


def test_an_inadequate_matrix_has_loads_with_two_slacks() -> None:
    """The first example above: two solutions whose slacks differ, so the class matters."""
    M = np.array([[1.0, 1, 0], [1, 1, 0], [0.5, 0, 1]])
    q = np.array([-1.0, -1.0, -0.25])
    slacks = [M @ z + q for z in solve(LCP(M, q), Enumerate()).info["solutions"]]
    assert np.ptp(np.array(slacks), axis=0).max() > 0.1


def test_all_classes_at_once() -> None:
    """A P-matrix is adequate and sufficient, definite or not."""
    found = matrix_classes([[1.0, 0.0, 3.0], [3.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
    assert found.p.answer is Answer.YES
    assert found.adequate is Answer.YES
    assert found.sufficient is Answer.YES
    assert found.positive_definite is Answer.NO
    assert found.copositive is Answer.YES  # no negative entry


def test_large_matrices_are_left_undecided_rather_than_wrong() -> None:
    r = np.random.default_rng(0)
    M = r.standard_normal((30, 30)) + np.diag(np.full(30, 3.0))
    assert sufficient(M) is Answer.UNDECIDED
    assert adequate(M) is Answer.UNDECIDED
    assert copositive(M) is Answer.UNDECIDED
