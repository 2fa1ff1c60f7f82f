"""QP back ends on problems whose solution is known by hand, and against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini.problems import ConvexQP
from signorini.solvers import Clarabel, Lemke, ProximalQP, Status, solve
from signorini.solvers.qp_clarabel import is_installed

needs_clarabel = pytest.mark.skipif(not is_installed(), reason="clarabel (extra qp) is not installed")
BACK_ENDS = [ProximalQP(), pytest.param(Clarabel(), marks=needs_clarabel)]


def random_qp(seed: int, *, kind: str) -> ConvexQP:
    """A feasible problem (x = 1 is inside) with repeated rows, so that multipliers are not unique."""
    r = np.random.default_rng(seed)
    n = 8
    A = r.normal(size=(n, 5 if kind == "singular" else n))
    rows = r.normal(size=(12, n))
    rows = np.concatenate([rows, rows[:6]])
    slack = np.where(np.arange(18) % 3 == 0, 2.0 + np.abs(r.normal(size=18)), 0.1 * r.normal(size=18))
    c = rows @ np.ones(n) - (slack if kind == "cones" else np.abs(slack))
    E = r.normal(size=(1, n))
    equal: dict[str, Any] = {"A": E, "a": E @ np.ones(n)} if kind == "equality" else {}
    box = np.concatenate([np.eye(n), -np.eye(n)])
    return ConvexQP(
        A @ A.T,
        4.0 * r.normal(size=n),
        C=np.concatenate([box, rows]),
        c=np.concatenate([np.full(2 * n, -5.0), c]),
        cones=(3,) * 6 if kind == "cones" else (),
        **equal,
    )


@pytest.mark.parametrize("solver", BACK_ENDS)
def test_nearest_point_of_a_half_plane(solver: Any) -> None:
    found = solve(ConvexQP(np.eye(2), np.zeros(2), C=[[1.0, 1.0]], c=[2.0]), solver, tolerance=1e-12)
    assert found.success
    np.testing.assert_allclose(found.z, [1.0, 1.0, 1.0], atol=1e-11)


@pytest.mark.parametrize("solver", BACK_ENDS)
def test_nearest_point_of_a_second_order_cone(solver: Any) -> None:
    """The nearest point of x_0 >= |x_T| to (-1, 4, 3) is (5 - 1)/2 (1, 4/5, 3/5)."""
    qp = ConvexQP(np.eye(3), np.array([1.0, -4.0, -3.0]), C=np.eye(3), c=np.zeros(3), cones=(3,))
    found = solve(qp, solver, tolerance=1e-10)
    assert found.success
    np.testing.assert_allclose(found.z[:3], [2.0, 1.6, 1.2], atol=1e-9)


@pytest.mark.parametrize("kind", ["regular", "equality", "singular", "cones"])
@pytest.mark.parametrize("solver", BACK_ENDS)
def test_degenerate_problems_are_solved_to_the_polish(solver: Any, kind: str) -> None:
    for seed in range(5):
        problem = random_qp(seed, kind=kind)
        found = solve(problem, solver, tolerance=1e-10)
        assert found.success, (seed, found.status, found.residual)
        assert problem.residual(found.z) <= 1e-10


@pytest.mark.parametrize("kind", ["regular", "equality"])
def test_minimiser_is_that_of_lemke(kind: str) -> None:
    """P is definite, so x is unique; the mixed LCP goes another way."""
    for seed in range(3):
        problem = random_qp(seed, kind=kind)
        n = problem.variables
        own, other = solve(problem, tolerance=1e-11), solve(problem, Lemke(), tolerance=1e-9)
        assert other.success
        np.testing.assert_allclose(own.z[:n], other.z[:n], atol=1e-7)


@pytest.mark.parametrize("solver", BACK_ENDS)
def test_contradictory_rows_are_proved_so(solver: Any) -> None:
    """X >= 1 and -x >= 1: the certificate w has C^T w = 0, w >= 0, c^T w > 0."""
    C, c = np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])
    found = solve(ConvexQP(np.eye(1), np.array([0.3]), C=C, c=c), solver)
    assert found.status is Status.NO_SOLUTION
    w = found.info["certificate"]
    assert w.min() >= 0.0
    assert np.abs(C.T @ w).max() < 1e-6 * w.max()
    assert c @ w > 0.5 * w.max()


def test_changed_right_hand_sides_reuse_the_session_and_the_guess() -> None:
    problem = random_qp(0, kind="regular")
    session = ProximalQP().open(problem)
    first = session.solve(problem.c, None, 1e-11)
    cold = session.factorisations
    nearby = problem.c + 1e-6
    again = session.solve(nearby, first.z, 1e-11)
    assert again.status is Status.SOLVED
    assert problem.residual_with(again.z, nearby) <= 1e-11
    assert session.factorisations - cold < 0.5 * cold
    fresh = solve(ConvexQP(problem.P, problem.q, C=problem.C, c=nearby), tolerance=1e-11)
    np.testing.assert_allclose(again.z[:8], fresh.z[:8], atol=1e-9)


def test_rows_that_are_not_there_do_not_act() -> None:
    problem = ConvexQP(np.eye(1), np.zeros(1), C=[[1.0], [1.0]], c=[-np.inf, 2.0])
    np.testing.assert_allclose(solve(problem).z, [2.0, 0.0, 2.0], atol=1e-9)


@needs_clarabel
def test_an_unpolished_interior_point_is_not_called_solved() -> None:
    """Its own status says solved; the problem's residual decides."""
    found = solve(random_qp(1, kind="regular"), Clarabel(accuracy=1e-4, polish=False), tolerance=1e-10)
    assert found.residual > 1e-10
    assert not found.success


@needs_clarabel
@pytest.mark.parametrize("kind", ["regular", "equality", "singular", "cones"])
def test_the_interior_point_is_right_before_its_polish(kind: str) -> None:
    found = solve(random_qp(2, kind=kind), Clarabel(polish=False), tolerance=1e-5)
    assert found.success


@pytest.mark.parametrize("units", [(1.0, 1.0), (2.0**40, 2.0**-40), (2.0**-40, 2.0**40)])
def test_odd_units_change_nothing(units: tuple[float, float]) -> None:
    """Least of x^2/2 - 2 y under x + y <= 3, y <= 2.5, x >= 1 is at (1, 2) with multipliers 2, 0, 3 in any units."""
    D, R = np.array([1.0, units[0]]), np.array([units[1], 1.0, 1.0 / units[0]])
    P, q = np.diag([1.0, 0.0]), np.array([0.0, -2.0])
    C, c = np.array([[-1.0, -1.0], [0.0, -1.0], [1.0, 0.0]]), np.array([-3.0, -2.5, 1.0])
    found = solve(ConvexQP(D[:, None] * P * D, D * q, C=R[:, None] * C * D, c=R * c), tolerance=1e-10)
    assert found.success
    own = found.z * np.concatenate([D, R])
    assert own == pytest.approx([1.0, 2.0, 2.0, 0.0, 3.0], abs=1e-8)


@needs_clarabel
@pytest.mark.parametrize("kind", ["regular", "equality", "singular"])
def test_multipliers_of_rows_that_are_not_active_are_zero(kind: str) -> None:
    """An interior point leaves something of them."""
    problem = random_qp(2, kind=kind)
    found = solve(problem, Clarabel(polish=False), tolerance=1e-5)
    x, w = found.z[: problem.variables], found.z[problem.variables + problem.equalities :]
    idle = problem.C @ x - problem.c > 1e-2
    assert idle.any()
    assert (w[idle] == 0.0).all()
