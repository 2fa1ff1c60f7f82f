"""Projected gradient: closed forms, honesty, history; and the histories of all friction solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini.solvers import (
    NSGS,
    Control,
    ExtendedFriction,
    FrictionAuto,
    FrictionInteriorPoint,
    ProjectedGradient,
    ProximalNewton,
    Status,
)
from tests.friction_problems import box_stack, friction


@pytest.mark.parametrize(
    ("b", "expected"),
    [
        ([1.0, 2.0, 0.0], [0.0, 0.0, 0.0]),  # open
        ([-1.0, 0.3, 0.4], [1.0, -0.3, -0.4]),  # stick
        ([-1.0, 3.0, 4.0], [1.0, -0.36, -0.48]),  # slip, mu = 0.6
    ],
)
def test_one_contact(b: list[float], expected: list[float]) -> None:
    """W = I: the three modes by hand."""
    solution = ProjectedGradient().solve(friction(np.eye(3), b, [0.6]))
    assert solution.success
    np.testing.assert_allclose(solution.z, expected, atol=1e-9)


def test_hyperstatic_stack() -> None:
    problem = box_stack(3, kick=0.1)
    solution = ProjectedGradient().solve(problem, Control(tolerance=1e-8))
    assert solution.success
    assert problem.residual(solution.z) <= 1e-8


def test_limits_are_kept_and_told() -> None:
    problem = box_stack(3, kick=0.1)
    few = ProjectedGradient().solve(problem, Control(max_iterations=3))
    assert (few.status, few.iterations) == (Status.ITERATION_LIMIT, 3)
    assert few.residual == problem.residual(few.z) > 1e-10
    late = ProjectedGradient().solve(problem, Control(time_limit=0.0, tolerance=1e-14))
    assert late.status is Status.TIME_LIMIT
    assert late.iterations == 50
    apart = friction(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5])  # nothing moves it
    assert ProjectedGradient(patience=100).solve(apart, Control()).status is Status.STALLED


def test_a_good_start_needs_no_step() -> None:
    problem = friction(np.eye(3), [-1.0, 3.0, 4.0], [0.6])
    solution = ProjectedGradient().solve(problem, Control(start=np.array([1.0, -0.36, -0.48])))
    assert solution.success
    assert solution.iterations == 0


def test_polygons_are_declined() -> None:
    problem = friction(np.eye(3), [-1.0, 3.0, 4.0], [0.6], cone="polygon")
    assert ProjectedGradient().solve(problem).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    "solver",
    [NSGS(), FrictionInteriorPoint(), ProximalNewton(), ProjectedGradient(), FrictionAuto(), ExtendedFriction()],
)
def test_history(solver: Any) -> None:
    """Residuals at increasing times, the last but for a final polish not below what is reported."""
    W, b = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 2.5]]), np.array([-1.0, 2.0, 0.4])
    problem = friction(W, b, [0.5])
    if isinstance(solver, ExtendedFriction):
        problem = friction(
            np.block([[W, np.zeros((3, 1))], [np.zeros((1, 3)), np.eye(1)]]), [*b, 1.0], [0.5], torsional=0.1
        )
    told: list[tuple[int, float]] = []
    solution = solver.solve(problem, Control(callback=lambda *point: told.append(point)))
    assert solution.success
    seconds, residuals = np.array(solution.history).T
    assert np.all(np.diff(seconds) >= 0.0)
    assert 0.0 <= seconds[0] <= seconds[-1] <= solution.seconds
    assert residuals.min() >= 0.99 * solution.residual
    assert len(told) >= 1
