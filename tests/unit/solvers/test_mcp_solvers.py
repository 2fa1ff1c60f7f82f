"""Solvers of the MCP: bounds of every kind, undefined places, safeguards, limits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.problems import MCP
from signorini.solvers import Control, JosephyNewton, MCPAuto, SemismoothNewton, Solver, Status
from signorini.solvers.mcp_merit import fischer, fischer_jacobian, fischer_slopes
from tests.complementarity_problems import bands

ALL: tuple[Solver, ...] = (MCPAuto(), JosephyNewton(), SemismoothNewton())
LOWER = np.array([0.0, -1.0, 0.0, -np.inf, -np.inf])
UPPER = np.array([2.0, 1.0, np.inf, 9.0, np.inf])


@pytest.mark.parametrize("solver", ALL, ids=lambda s: type(s).__name__)
def test_bounds_of_every_kind(solver: Solver) -> None:
    """F = x^3 + x + k by components: at upper, at lower, inside above 0, inside below 9, free."""
    k = np.array([-50.0, 50.0, -10.0, 10.0, 30.0])
    problem = MCP(lambda x: x**3 + x + k, lower=LOWER, upper=UPPER, x0=np.zeros(5))
    solution = solver.solve(problem, Control())
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [2.0, -1.0, 2.0, -2.0, -3.0], atol=1e-10)  # 2^3 + 2 = 10, 3^3 + 3 = 30


@pytest.mark.parametrize("solver", ALL, ids=lambda s: type(s).__name__)
def test_undefined_places_are_survived(solver: Solver) -> None:
    """F = log(x) + 2: the first Newton step from 3 leads to 3 - 3 (log 3 + 2) < 0; solved by e^-2."""
    problem = MCP(lambda x: np.log(x) + 2.0, lower=-np.inf, x0=[3.0])
    solution = solver.solve(problem, Control())
    assert solution.status is Status.SOLVED
    assert solution.z[0] == pytest.approx(np.exp(-2.0), abs=1e-10)


def test_a_start_where_f_is_undefined_is_moved_inside() -> None:
    """F = 1 - 1/x on x >= 0, from x = 0."""
    solution = MCPAuto().solve(MCP(lambda x: 1.0 - 1.0 / x, x0=[0.0]), Control())
    assert solution.z[0] == pytest.approx(1.0, abs=1e-10)


@pytest.mark.parametrize("solver", ALL, ids=lambda s: type(s).__name__)
def test_f_defined_nowhere_is_a_status_not_an_error(solver: Solver) -> None:
    solution = solver.solve(MCP(lambda x: x * np.nan, x0=[1.0, 2.0]), Control())
    assert not solution.success
    assert solution.residual == np.inf


@pytest.mark.parametrize("solver", ALL, ids=lambda s: type(s).__name__)
def test_no_solution_is_not_called_solved(solver: Solver) -> None:
    """F = -1 - x^2 < 0 for all x >= 0: nothing solves the NCP."""
    solution = solver.solve(MCP(lambda x: -1.0 - x**2, x0=[0.5]), Control(time_limit=3.0))
    assert not solution.success
    assert solution.residual >= 1.0


@pytest.mark.parametrize("solver", [JosephyNewton(), SemismoothNewton()], ids=lambda s: type(s).__name__)
def test_convergence_is_quadratic(solver: Solver) -> None:
    """Residuals r_(k+1) <= C r_k^2 at a regular solution, here x = 2 and x = 0 (F = 3 there)."""
    problem = MCP(lambda x: np.array([x[0] ** 3 - 8.0, x[1] + x[0] + 1.0]), x0=[3.0, 1.0])
    solution = solver.solve(problem, Control())
    np.testing.assert_allclose(solution.z, [2.0, 0.0], atol=1e-12)
    residuals = [r for _, r in solution.history]
    pairs = [(a, b) for a, b in pairwise(residuals) if 1e-6 < a < 1.0]
    assert pairs
    assert all(b <= a**2 for a, b in pairs)


@pytest.mark.parametrize("solver", ALL, ids=lambda s: type(s).__name__)
def test_sparse_jacobians(solver: Solver) -> None:
    """A string pulled against an upper bound: flat in the middle."""
    M: Any = bands(30, -1.0, 2.0, -1.0)
    problem = MCP(lambda x: M @ x - 0.01, lambda _: M, upper=0.05, x0=np.zeros(30))
    solution = solver.solve(problem, Control())
    assert solution.status is Status.SOLVED
    np.testing.assert_array_equal(solution.z[10:20], np.full(10, 0.05))
    assert (M @ solution.z - 0.01)[10:20].max() < 0.0


def test_sweeps_spare_newton_steps() -> None:
    """Gauss-Seidel sweeps move the edge of an active set by many places, an active-set step by one."""
    n = 400
    M: Any = bands(n, -1.0, 2.0, -1.0)
    x = np.linspace(-1.0, 1.0, n)
    problem = MCP(lambda v: M @ v, lambda _: M, lower=0.3 - x**2, x0=np.full(n, 1.0))
    with_sweeps = SemismoothNewton().solve(problem, Control())
    without = SemismoothNewton(sweep_count=0, watchdog=50).solve(problem, Control())
    assert with_sweeps.success
    assert without.success
    np.testing.assert_allclose(with_sweeps.z, without.z, atol=1e-9)
    assert with_sweeps.iterations < without.iterations


def test_a_wrong_jacobian_is_named_after_a_failure() -> None:
    """F = x^3 + x - 10 with the sign of J wrong: Newton runs away from the solution."""
    wrong = MCP(lambda x: x**3 + x - 10.0, lambda x: -np.diag(3 * x**2 + 1), lower=-np.inf, x0=[5.0])
    solution = MCPAuto(restarts=2).solve(wrong, Control(time_limit=5.0))
    assert not solution.success
    assert solution.info["jacobian_error"] == pytest.approx(1.0, abs=1e-3)  # |a - (-a)| / (|a| + |a|)
    right = MCP(wrong.F, lambda x: np.diag(3 * x**2 + 1), x0=[5.0])
    assert right.jacobian_error(np.array([5.0])) < 1e-6


def test_limits_are_kept() -> None:
    problem = MCP(lambda x: np.exp(x) - 1e6, lower=-np.inf, x0=[0.0])
    assert JosephyNewton().solve(problem, Control(max_iterations=2)).status is Status.ITERATION_LIMIT
    assert SemismoothNewton().solve(problem, Control(time_limit=0.0)).status is Status.TIME_LIMIT
    assert MCPAuto().solve(problem, Control(time_limit=0.0)).status is Status.TIME_LIMIT


def test_callback_and_history_tell_the_same() -> None:
    told: list[tuple[int, float]] = []
    problem = MCP(lambda x: x**3 + x - 10.0, x0=[0.0])
    solution = JosephyNewton().solve(problem, Control(callback=lambda k, r: told.append((k, r))))
    assert [r for _, r in told] == [r for _, r in solution.history][: len(told)]
    assert [k for k, _ in told] == sorted(k for k, _ in told)
    times = [t for t, _ in solution.history]
    assert times == sorted(times)


def test_fischer_function_vanishes_exactly_at_solutions() -> None:
    """Columns: solution at lower, upper, inside; then three points that are none."""
    x = np.array([0.0, 2.0, 1.0, 0.0, 2.0, 1.0])
    F = np.array([3.0, -3.0, 0.0, -3.0, 3.0, 0.5])
    value = fischer(x, F, np.zeros(6), np.full(6, 2.0))
    np.testing.assert_allclose(value[:3], 0.0, atol=1e-15)
    assert np.abs(value[3:]).min() > 0.1


def test_fischer_jacobian_is_the_slope() -> None:
    """Against central differences at a point away from the kinks, for bounds of every kind."""
    r = np.random.default_rng(0)
    K, k, x = r.standard_normal((5, 5)), r.standard_normal(5), np.array([0.7, 0.3, 1.1, 2.0, -0.4])

    def value(x: Array) -> Array:
        return fischer(x, K @ x + k, LOWER, UPPER)

    H = fischer_jacobian(*fischer_slopes(x, K @ x + k, LOWER, UPPER), K)
    h = 1e-6
    differences = np.column_stack([(value(x + h * e) - value(x - h * e)) / (2 * h) for e in np.eye(5)])
    np.testing.assert_allclose(np.asarray(H), differences, atol=1e-8)
