"""Tolerances that may be asked for, and limits that end every call."""

from __future__ import annotations

import time

import numpy as np
import pytest

import signorini as sg
from signorini.errors import InputError
from signorini.problems import LCP, FrictionProblem
from signorini.solvers import PGS, AnitescuHart, Control, Enumerate, Lemke, PrincipalPivoting, Status, budget, solve
from signorini.solvers.budget import affordable


@pytest.mark.parametrize("tolerance", [0.0, -1e-6, 1e-15, 0.02, 1.0, 1e300])
def test_tolerances_out_of_range_are_refused_everywhere(tolerance: float) -> None:
    message = f"tolerance is {tolerance:g}, must be from 1e-14 to 0.01".replace("+", r"\+")
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=[0.0, 0.0, 2.0])
    with pytest.raises(InputError, match=message):
        solve(LCP([[1.0]], [-1.0]), tolerance=tolerance)
    with pytest.raises(InputError, match=message):
        Control(tolerance=tolerance)
    with pytest.raises(InputError, match=message):
        sg.simulate(scene, duration=0.1, h=0.1, tolerance=tolerance)
    for formulation in (sg.MoreauJean(), sg.StewartTrinkle()):
        with pytest.raises(InputError, match=message):
            formulation.step(None, None, None, None, 0.1, tolerance=tolerance)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        AnitescuHart(qp_tolerance=tolerance)


def test_a_tolerance_that_is_no_number_is_named() -> None:
    with pytest.raises(InputError, match="tolerance is nan, must be finite"):
        Control(tolerance=float("nan"))


@pytest.mark.parametrize("tolerance", [1e-14, 1e-2])
def test_the_ends_of_the_range_may_be_asked_for(tolerance: float) -> None:
    assert solve(LCP([[1.0]], [-1.0]), tolerance=tolerance).success
    for cone in ("exact", "polygon"):
        problem = FrictionProblem(np.eye(3), np.array([-1.0, 2.0, 0.0]), np.full(1, 0.5), cone=cone)
        assert solve(problem, tolerance=tolerance).success


def test_iterations_are_what_operations_allow() -> None:
    assert affordable(100, 1.0) == 100
    assert affordable(100, budget.OPERATIONS / 7.0) == 7
    assert affordable(100, 1e300) == 1


@pytest.mark.parametrize("solver", [Lemke(), PrincipalPivoting(), PGS(), Enumerate()])
def test_solvers_keep_to_their_operations(solver: sg.Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a budget for next to nothing they end at once, with a status that says so."""
    monkeypatch.setattr(budget, "OPERATIONS", 1.0)
    r = np.random.default_rng(1)
    A = r.standard_normal((12, 12))
    solution = solver.solve(LCP(A @ A.T + 1e-3 * np.eye(12), r.standard_normal(12)), Control())
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations <= 1


def test_subproblems_of_a_fixed_point_know_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands after the limit from the first look on: not even the first QP may go on for long."""
    r = np.random.default_rng(0)
    A = r.standard_normal((24, 24)) * 10.0 ** r.uniform(-3.0, 3.0, 24)
    problem = FrictionProblem(A @ A.T, r.standard_normal(24), np.full(8, 0.5), cone="polygon")
    free = AnitescuHart(acceleration="none").solve(problem, Control(max_iterations=1))
    clock = iter(range(10**9))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    late = AnitescuHart(acceleration="none").solve(problem, Control(time_limit=1.0))
    assert late.status is Status.TIME_LIMIT
    assert late.iterations <= 1
    assert late.info["factorisations"] < free.info["factorisations"]
