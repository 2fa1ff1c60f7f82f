"""Lemke's method: pivots by hand, ties, rays, refactorisation, warm start."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.problems import LCP
from signorini.solvers import Control, Lemke, Status, lemke_pivots
from signorini.solvers.lemke import _Work
from signorini.solvers.progress import Progress


def monotone(seed: int, n: int) -> tuple[LCP, np.ndarray]:
    """Positive definite, unsymmetric, solution known."""
    r = np.random.default_rng(seed)
    A, B = r.standard_normal((2, n, n))
    M = A @ A.T / n + np.eye(n) + (B - B.T) / 2
    z = np.where(r.random(n) < 0.5, r.uniform(0.1, 1.0, n), 0.0)
    w = np.where(z == 0.0, r.uniform(0.1, 1.0, n), 0.0)
    return LCP(M, w - M @ z), z


def long_path(seed: int, n: int = 40) -> tuple[LCP, np.ndarray]:
    """Monotone of low rank with a large skew part: pivots go back and forth; solution known."""
    r = np.random.default_rng(seed)
    B = r.standard_normal((n, n))
    A = r.standard_normal((n, 8))
    M = A @ A.T + (B - B.T) / 2
    z = np.where(r.random(n) < 0.5, r.uniform(0.1, 1.0, n), 0.0)
    w = np.where(z == 0.0, r.uniform(0.1, 1.0, n), 0.0)
    return LCP(M, w - M @ z), z


def test_nothing_to_do_where_q_is_not_negative() -> None:
    solution = Lemke().solve(LCP([[-1.0, 3.0], [0.0, 0.0]], [0.0, 2.0]), Control())
    assert solution.status is Status.SOLVED
    assert solution.iterations == 0
    np.testing.assert_array_equal(solution.z, [0.0, 0.0])


def test_two_pivots_by_hand() -> None:
    """M = [[1, -1], [-1, 1]], q = (1, -1): z0 enters for w2, z2 enters and z0 leaves at z2 = 1; two pivots."""
    solution = Lemke().solve(LCP([[1.0, -1.0], [-1.0, 1.0]], [1.0, -1.0]), Control())
    assert solution.iterations == 2
    np.testing.assert_allclose(solution.z, [0.0, 1.0], atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 5, 30, 120])
def test_known_solutions(n: int) -> None:
    problem, z = monotone(n, n)
    solution = Lemke().solve(problem, Control())
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, z, atol=1e-12)


def test_all_kinds_of_exchange_lead_to_the_solution() -> None:
    """A path longer than the number of pairs exchanges columns, rows and both; a wrong update could not end well."""
    problem, z = long_path(5)
    solution = Lemke(attempts=1, refactor_after=10**9).solve(problem, Control())
    assert solution.status is Status.SOLVED
    assert solution.iterations > problem.size
    np.testing.assert_allclose(solution.z, z, atol=1e-10)


def test_updated_inverses_need_no_repair() -> None:
    """Every direction is checked against the data; on good problems no update of the inverse is ever thrown away."""
    for seed in (5, 6, 7):
        problem, _ = long_path(seed)
        work = _Work(np.asarray(problem.M), problem.q)
        outcome = work.run(np.ones(problem.size), None, 10**6, 10**6, Progress(problem, Control(), "test"))
        assert outcome == lemke_pivots.DONE
        assert work.state[lemke_pivots.FRESH] == work.state[lemke_pivots.PIVOTS] > 20


def test_fresh_inverses_do_not_change_the_path() -> None:
    problem, z = monotone(3, 60)
    often, never = Lemke(refactor_after=2), Lemke(refactor_after=10**9)
    solutions = [solver.solve(problem, Control()) for solver in (often, never)]
    assert solutions[0].iterations == solutions[1].iterations
    for solution in solutions:
        np.testing.assert_allclose(solution.z, z, atol=1e-12)


def test_badly_scaled_data_keep_their_digits() -> None:
    """Rows and columns in units that differ by 1e10 each."""
    problem, z = monotone(8, 25)
    r = np.random.default_rng(1)
    s, t = 10.0 ** r.uniform(-5.0, 5.0, (2, 25))
    solution = Lemke().solve(LCP(s[:, None] * np.asarray(problem.M) * t, s * problem.q), Control(tolerance=1e-14))
    np.testing.assert_allclose(solution.z * t, z, atol=1e-9)


def test_ties_do_not_make_it_cycle() -> None:
    """Eight equal friction directions and coefficients: ratio tests tie at every pivot (Stewart-Trinkle, one body)."""
    contacts, directions = 4, 8
    phi = np.arange(directions) * 2 * np.pi / directions
    D = np.kron(np.ones(contacts), np.array([np.cos(phi), np.sin(phi)])[:, None, :].reshape(2, -1))
    W_n, W_f = np.ones((1, contacts)), D
    E = np.kron(np.eye(contacts), np.ones((directions, 1)))
    none = np.zeros((contacts, contacts))
    M = np.block(
        [
            [W_n.T @ W_n, np.zeros((contacts, contacts * directions)), none],
            [np.zeros((contacts * directions, contacts)), W_f.T @ W_f, E],
            [0.5 * np.eye(contacts), -E.T, none],
        ]
    )
    v = np.array([1.0, 0.0])
    q = np.concatenate([np.full(contacts, -1.0), W_f.T @ v, np.zeros(contacts)])
    solution = Lemke(attempts=1).solve(LCP(M, q), Control())
    assert solution.status is Status.SOLVED
    p_n, beta = solution.z[:contacts], solution.z[contacts : contacts * (directions + 1)]
    assert p_n.sum() == pytest.approx(1.0, abs=1e-12)  # the body stops falling
    np.testing.assert_allclose(W_f @ beta, [-0.5, 0.0], atol=1e-12)  # friction mu p_n against the slip


def test_ray_is_returned_with_its_direction() -> None:
    """W = -z + q with q < 0 has no solution; the ray z = 1 proves it: M^T z < 0 and q^T z < 0."""
    solution = Lemke().solve(LCP([[-1.0]], [-1.0]), Control())
    assert solution.status is Status.NO_SOLUTION
    np.testing.assert_array_equal(solution.info["ray"], [1.0])
    np.testing.assert_array_equal(solution.info["certificate"], [1.0])


def test_ray_without_proof_is_only_a_ray() -> None:
    """M = [[0, 2], [1, 0]], q = (-2, -1) is solved by (1, 1), but no covering vector leads there (bimatrix form)."""
    problem = LCP([[0.0, 2.0], [1.0, 0.0]], [-2.0, -1.0])
    assert problem.residual(np.array([1.0, 1.0])) == 0.0
    solution = Lemke().solve(problem, Control())
    assert solution.status is Status.RAY
    assert not solution.success
    assert solution.info["ray"].max() == 1.0
    assert "certificate" not in solution.info


def test_warm_start_skips_the_pivots() -> None:
    problem, z = monotone(4, 20)
    assert Lemke().solve(problem, Control(start=z * 1.01)).iterations == 0
    wrong = Lemke().solve(problem, Control(start=np.ones(20)))
    np.testing.assert_allclose(wrong.z, z, atol=1e-12)


def test_limits_are_kept() -> None:
    problem, _ = monotone(4, 60)
    assert Lemke(attempts=1).solve(problem, Control(max_iterations=3)).status is Status.ITERATION_LIMIT
    assert Lemke(refactor_after=1).solve(problem, Control(time_limit=0.0)).status is Status.TIME_LIMIT


def test_an_unreachable_tolerance_is_not_claimed() -> None:
    """The problem says that no point is better than 1e-3: then nothing is solved, whatever the method believes."""

    class Stern(LCP):
        def residual(self, z: Array) -> float:
            return max(1e-3, super().residual(z))

    problem, _ = monotone(4, 30)
    assert Lemke().solve(problem, Control()).success
    assert not Lemke().solve(Stern(problem.M, problem.q), Control()).success


@pytest.mark.parametrize(
    ("artificial_row", "rates", "expected"),
    [
        (0, (0.0, -1.0, -2.0), 1),  # column 0 of the basis inverse: -1/1 for w_1, -1/2 for w_2
        (0, (0.0, -2.0, -1.0), 2),
        (2, (-1.0, -2.0, 0.0), 1),  # column 0: 1/1 for w_0, 0 for w_1
        (1, (-1.0, 0.0, -1.0), 2),  # column 0: 1 for w_0, 0 for w_2
    ],
)
def test_ties_are_broken_lexicographically(artificial_row: int, rates: tuple[float, ...], expected: int) -> None:
    """Two slacks vanish at once; z0 is basic in one row, so the basis inverse has rows e_i - e_r for the others.

    Divided by minus the rates, the lexicographically smallest row leaves: what an infinitesimal q + (eps, eps^2, ...)
    would decide.
    """
    n = 3
    GT, T = np.zeros((n + 1, n)), np.ones((n + 1, n + 1))
    GT[n] = 1.0
    rows, cols = np.zeros(n + 1, dtype=np.int64), np.full(n + 1, n)
    rows[0] = artificial_row
    where = np.full(2 * n + 1, -1)
    where[artificial_row] = where[2 * n] = 0
    x, w, y = np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(n), np.zeros(n + 1)
    candidates = np.zeros(n + 1, dtype=np.int64)
    leaving = lemke_pivots._leaving(GT, T, rows, cols, where, x, w, y, np.array(rates), candidates, 1, 1e-10)
    assert leaving == expected
