"""The P-test against its definition: all principal minors, one by one."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signorini._arrays import Array
from signorini.analysis import Answer, p_matrix
from signorini.errors import InputError


def smallest_minor(D: Array) -> float:
    """Smallest principal minor of the matrix scaled to a unit diagonal, by determinants."""
    d = D.diagonal()
    if d.min() <= 0.0:
        return float(d.min())
    A = D / np.sqrt(np.outer(d, d))
    m = D.shape[0]
    return min(
        float(np.linalg.det(np.array([A[np.ix_(rows, rows)] for rows in combinations(range(m), size)])).min())
        for size in range(1, m + 1)
    )


def random_matrix(seed: int) -> Array:
    """Matrix of size 1 to 10, P about as often as not."""
    r = np.random.default_rng(seed)
    m = int(r.integers(1, 11))
    coupling = r.uniform(0.2, 2.2) / np.sqrt(m)
    A = np.eye(m) + coupling * r.standard_normal((m, m))
    scaled: Array = A * np.exp(r.uniform(-3, 3, m))[:, None] * np.exp(r.uniform(-3, 3, m))
    return scaled


def hidden_p_matrix(m: int, seed: int) -> Array:
    """P-matrix that no quick test sees.

    Cycles of three, whose minors are 1 and 28, on the diagonal, anything above them: the minors are products of those.
    A touch of 1e-9 below couples all rows without changing a sign.
    """
    r = np.random.default_rng(seed)
    D = np.eye(m)
    for k in range(0, m - 2, 3):
        D[k : k + 3, k : k + 3] = [[1.0, 0.0, 3.0], [3.0, 1.0, 0.0], [0.0, 3.0, 1.0]]
    block = np.arange(m) // 3
    D[block[:, None] < block] = 0.5 * r.standard_normal(int(np.sum(block[:, None] < block)))
    D[block[:, None] > block] = 1e-9 * r.standard_normal(int(np.sum(block[:, None] > block)))
    return D


def test_agrees_with_all_minors_on_a_thousand_matrices() -> None:
    """P iff every principal minor is positive (S4, definition 3.1)."""
    answers = {Answer.YES: 0, Answer.NO: 0}
    for seed in range(1000):
        D = random_matrix(seed)
        minor = smallest_minor(D)
        assert abs(minor) > 1e-10, "the sample must be decidable"
        found = p_matrix(D)
        assert found.answer is (Answer.YES if minor > 0.0 else Answer.NO), (seed, minor, found)
        answers[found.answer] += 1
    assert min(answers.values()) > 300


def test_names_a_minor_that_is_not_positive() -> None:
    """The rows given with a no have a principal minor <= 0."""
    named = 0
    for seed in range(300):
        D = random_matrix(seed)
        found = p_matrix(D)
        if found.answer is Answer.NO:
            assert np.linalg.det(D[np.ix_(found.subset, found.subset)]) <= 0.0
            named += 1
    assert named > 50


@given(st.integers(0, 10_000))
def test_does_not_depend_on_order_transposition_or_units(seed: int) -> None:
    """P is invariant under permutation, transposition and positive scaling of rows and columns."""
    D = random_matrix(seed)
    r = np.random.default_rng(seed + 1)
    order = r.permutation(D.shape[0])
    scaled = D * np.exp(r.uniform(-5, 5, D.shape[0]))[:, None]
    expected = p_matrix(D).answer
    assert p_matrix(D[np.ix_(order, order)]).answer is expected
    assert p_matrix(D.T).answer is expected
    assert p_matrix(scaled).answer is expected


@pytest.mark.parametrize("off", [0.0, 1e-14, -1e-14])
def test_singular_to_rounding_is_borderline(off: float) -> None:
    """A determinant of rounding size is neither yes nor no."""
    assert p_matrix([[1.0, 1.0], [1.0, 1.0 + off]]).answer is Answer.BORDERLINE


@pytest.mark.parametrize(("off", "answer"), [(1e-9, Answer.YES), (-1e-9, Answer.NO)])
def test_small_but_clear_minors_are_decided(off: float, answer: Answer) -> None:
    assert p_matrix([[1.0, 1.0], [1.0, 1.0 + off]]).answer is answer


@pytest.mark.compiled_only
def test_sixteen_coupled_rows_take_less_than_fifty_milliseconds() -> None:
    """No quick test decides, all 65535 pivots are looked at."""
    D = hidden_p_matrix(16, 3)
    found = p_matrix(D)
    assert found.answer is Answer.YES
    assert found.reason == "all principal minors are positive"
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        p_matrix(D)
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < 0.05


def test_a_negative_minor_among_fourteen_rows_is_found() -> None:
    """Here eigenvalues and symmetric part say nothing; the minor that is named is negative by its determinant."""
    r = np.random.default_rng(14)
    D = np.eye(14) + 0.9 * np.triu(r.standard_normal((14, 14)), 1) + 0.02 * r.standard_normal((14, 14))
    found = p_matrix(D)
    assert found.answer is Answer.NO
    assert found.reason == "a principal minor is negative"
    assert np.linalg.det(D[np.ix_(found.subset, found.subset)]) < -1e-3


def test_more_rows_than_the_limit_are_undecided() -> None:
    found = p_matrix(hidden_p_matrix(24, 1))
    assert found.answer is Answer.UNDECIDED
    assert "limit of 20" in found.reason
    assert p_matrix(hidden_p_matrix(12, 1), limit=11).answer is Answer.UNDECIDED


@pytest.mark.parametrize("m", [12, 60])
def test_quick_tests_decide_large_matrices(m: int) -> None:
    """Positive definite and dominant matrices are P; a dense one with a real negative eigenvalue is not."""
    r = np.random.default_rng(m)
    B = r.standard_normal((m, m))
    skew = B - B.T
    assert p_matrix(B @ B.T + np.eye(m) + 3.0 * skew).answer is Answer.YES
    dominant = r.uniform(-1.0, 1.0, (m, m)) / m
    np.fill_diagonal(dominant, 1.1)
    assert p_matrix(dominant * np.exp(r.uniform(-4, 4, m))).answer is Answer.YES
    assert p_matrix(np.eye(m) - 2.0 * np.ones((m, m)) / m).answer is Answer.NO


def test_contacts_on_separate_bodies_are_tested_apart() -> None:
    """Sixty rows in blocks of three: minors are products of the blocks' minors."""
    block = np.array([[1.0, 0, 3], [3, 1, 0], [0, 3, 1]])
    order = np.random.default_rng(0).permutation(60)
    D = np.kron(np.eye(20), block)[np.ix_(order, order)]
    assert p_matrix(D).answer is Answer.YES
    bad = np.kron(np.eye(20), block)
    bad[3:6, 3:6] = [[1.0, 3, 0], [0, 1, -3], [3, 0, 1]]  # 1 - 27 < 0
    found = p_matrix(bad[np.ix_(order, order)])
    assert found.answer is Answer.NO
    assert sorted(order[list(found.subset)]) == [3, 4, 5]


@pytest.mark.parametrize(
    ("D", "message"),
    [([[1.0, np.nan], [0.0, 1.0]], "finite"), ([[1.0, 2.0]], "square"), ([1.0], "shape"), ("x", "numbers")],
)
def test_bad_input_is_refused(D: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        p_matrix(D)  # type: ignore[arg-type]


def test_the_empty_matrix_is_p() -> None:
    assert p_matrix(np.zeros((0, 0)))
