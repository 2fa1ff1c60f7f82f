"""Classical complementarity problems from every listed start, by the default call."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from signorini.problems import LCP, MCP
from signorini.solvers import JosephyNewton, Lemke, Solution, Status, solve
from tests import complementarity_problems as classics

TOLERANCE = 1e-10


def checked_mcp(problem: MCP, solution: Solution) -> None:
    """Solved, and so by the definition written out here."""
    assert solution.status is Status.SOLVED
    lower, upper = problem.bounds
    x = solution.z
    F = np.asarray(problem.F(x))
    assert np.abs(x - np.maximum(lower, np.minimum(upper, x - F))).max() <= TOLERANCE


@pytest.mark.parametrize("name", classics.LINEAR)
def test_linear_problem_with_one_solution(name: str) -> None:
    problem, expected = classics.LINEAR[name]
    solution = solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.residual <= TOLERANCE
    np.testing.assert_allclose(solution.z, np.asarray(expected), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n", [10, 100, 1000])
@pytest.mark.parametrize(("below", "above"), [(1.0, -2.0), (-1.0, -1.0)])
def test_tridiagonal_problems(n: int, below: float, above: float) -> None:
    """All unknowns positive: z = M^-1 1."""
    problem = classics.tridiagonal(n, below, above)
    solution = solve(problem)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(problem.slack(solution.z), np.zeros(n), atol=1e-12)
    assert solution.z.min() > 0.0
    if n == 10:
        first = 0.40812473 if above == -2.0 else 0.36602452
        assert solution.z[0] == pytest.approx(first, abs=5e-9)


def test_line_of_solutions() -> None:
    solution = solve(classics.LINE_OF_SOLUTIONS)
    assert solution.success
    assert solution.z.min() >= 0.0
    assert solution.z.sum() == pytest.approx(1.0, abs=1e-14)


def test_ray_of_solutions() -> None:
    solution = solve(classics.RAY_OF_SOLUTIONS)
    assert solution.success
    assert solution.z[1] - solution.z[0] == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 0.5])
def test_vanished_solution_is_reported_with_a_certificate(epsilon: float) -> None:
    """Y >= 0, M^T y <= 0, q^T y < 0 excludes every z >= 0 with M z + q >= 0 (Farkas)."""
    problem = classics.isolated(epsilon)
    solution = solve(problem)
    assert solution.status is Status.NO_SOLUTION
    assert not solution.success
    y = solution.info["certificate"]
    assert y.min() >= 0.0
    assert (np.asarray(problem.M).T @ y).max() <= 0.0
    assert problem.q @ y < 0.0


@pytest.mark.parametrize("n", [6, 12])
def test_lemke_is_quick_where_least_index_pivoting_is_exponential(n: int) -> None:
    solution = solve(LCP(classics.murty(n), -np.ones(n)), Lemke())
    assert solution.success
    assert solution.iterations <= 2 * n


@pytest.mark.parametrize("start", classics.KOJIMA_SHINDO_STARTS)
def test_kojima_shindo(start: Sequence[float]) -> None:
    problem = classics.kojima_shindo(start)
    solution = solve(problem)
    checked_mcp(problem, solution)
    # the first solution is degenerate: an error of the residual enters with its square root at worst
    assert min(np.abs(solution.z - x).max() for x in classics.KOJIMA_SHINDO_SOLUTIONS) < 1e-5


def test_billups() -> None:
    problem = classics.billups()
    solution = solve(problem)
    checked_mcp(problem, solution)
    assert solution.z[0] == pytest.approx(2.004987562112089, abs=1e-9)


@pytest.mark.parametrize("start", [1.0, 10.0])
def test_mathiesen(start: float) -> None:
    problem = classics.mathiesen(start)
    solution = solve(problem)
    checked_mcp(problem, solution)
    assert -1e-10 <= solution.z[0] <= 3.0 + 1e-10
    np.testing.assert_allclose(solution.z[1:], 0.0, atol=1e-9)


@pytest.mark.parametrize("start", classics.NASH_COURNOT_STARTS)
def test_nash_cournot(start: Sequence[float]) -> None:
    problem = classics.nash_cournot(start)
    solution = solve(problem)
    checked_mcp(problem, solution)
    np.testing.assert_allclose(solution.z, classics.NASH_COURNOT_SOLUTION, atol=1e-9)


@pytest.mark.parametrize("start", classics.TRAFFIC_STARTS)
def test_traffic(start: tuple[float, float, float]) -> None:
    problem = classics.traffic(*start)
    solution = solve(problem)
    checked_mcp(problem, solution)
    np.testing.assert_allclose(solution.z[:5], classics.TRAFFIC_X, atol=1e-9)
    np.testing.assert_allclose(solution.z[5:10], np.array([0.1, 0.2, 0.3, 0.4, 0.5]) - classics.TRAFFIC_X, atol=1e-9)
    np.testing.assert_allclose(solution.z[10:], classics.TRAFFIC_Y, atol=1e-8)


@pytest.mark.parametrize(
    ("N", "energy", "total", "at_lower", "at_upper"),
    [
        (10, 4.283046288084, 29.794574713, 18, 29),
        (50, 5.830852318415, 624.553084957, 137, 294),
        (100, 5.890189266354, 2448.295563893, 469, 915),
    ],
)
def test_obstacle(N: int, energy: float, total: float, at_lower: int, at_upper: int) -> None:
    problem, A, load = classics.obstacle(N)
    solution = solve(problem)
    checked_mcp(problem, solution)
    v = solution.z
    assert 0.5 * v @ (A @ v) - load @ v == pytest.approx(energy, rel=1e-12)
    assert v.sum() == pytest.approx(total, rel=1e-11)
    lower, upper = problem.bounds
    assert int((v <= lower).sum()) == at_lower
    assert int((v >= upper).sum()) == at_upper


@pytest.mark.parametrize(
    "problem",
    [classics.traffic(0, 0, 0), classics.nash_cournot(classics.NASH_COURNOT_STARTS[1])],
    ids=["traffic", "nash"],
)
def test_josephy_newton_alone_is_quadratic(problem: MCP) -> None:
    """Near the solution the number of right digits doubles: residuals r_k+1 <= C r_k^2."""
    solution = solve(problem, JosephyNewton())
    checked_mcp(problem, solution)
    residuals = [r for _, r in solution.history if r < 1e-1]
    assert any(after <= 100.0 * before**2 for before, after in pairwise(residuals) if before > 1e-7)
