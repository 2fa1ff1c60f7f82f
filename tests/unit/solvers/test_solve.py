"""The one verb: dispatch, conversions, options, checks at the door."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from signorini.errors import InputError
from signorini.problems import LCP, MCP, MixedLCP
from signorini.solvers import (
    Control,
    JosephyNewton,
    Lemke,
    Solution,
    Status,
    applicable,
    solve,
)

SMALL = LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
MIXED = MixedLCP([[4.0]], [[2.0]], [[-1.0]], [[2.0]], [-8.0], [1.0])


def test_default_call() -> None:
    solution = solve(SMALL)
    assert solution.success
    assert str(solution.status) == "solved"
    assert "Lemke" in solution.solver
    np.testing.assert_allclose(solution.z, [4 / 3, 7 / 3])


@pytest.mark.parametrize("problem", [SMALL, MIXED, MCP(lambda x: x - 1.0, x0=[0.0])], ids=["LCP", "MixedLCP", "MCP"])
def test_every_applicable_solver_solves_a_simple_problem(problem: LCP | MixedLCP | MCP) -> None:
    solvers = applicable(problem)
    assert len(solvers) >= 3
    assert len({type(s) for s in solvers}) == len(solvers)
    expected = solve(problem).z
    for solver in solvers:
        solution = solve(problem, solver)
        assert solution.success, solver
        np.testing.assert_allclose(solution.z, expected, atol=1e-9)


def test_a_general_solver_takes_a_special_problem() -> None:
    solution = solve(SMALL, JosephyNewton())
    assert solution.info["solved_as"] == "MCP"
    assert solution.residual == SMALL.residual(solution.z)


def test_a_special_solver_refuses_a_general_problem() -> None:
    with pytest.raises(InputError, match="solve: Lemke takes LCP, problem is a MCP"):
        solve(MCP(lambda x: x, x0=[1.0]), Lemke())


def test_unknown_problems_are_refused() -> None:
    with pytest.raises(InputError, match=r"solve: problem is a str, must be one of .*LCP"):
        solve("problem")  # type: ignore[arg-type]


def test_a_solver_of_the_user_is_called_as_it_is() -> None:
    @dataclass(frozen=True)
    class Oracle:
        answer: float

        def solve(self, problem: LCP, control: Control) -> Solution:
            z = np.full(problem.size, self.answer)
            return Solution(z, Status.STALLED, problem.residual(z), 7)

    solution = solve(LCP([[1.0]], [-3.0]), Oracle(3.0))
    assert solution.iterations == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0.0}, "solve: tolerance is 0, must be from 1e-14 to 0.01"),
        ({"tolerance": "tight"}, "solve: tolerance is 'tight', must be a number"),
        ({"time_limit": -1.0}, "solve: time_limit is -1.0, must be >= 0"),
        ({"max_iterations": 0}, "solve: max_iterations is 0.0, must be >= 1"),
        ({"start": [1.0]}, r"solve: start has shape \(1,\), must be \(2"),
    ],
)
def test_options_are_checked_at_the_door(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(SMALL, **options)  # type: ignore[arg-type]


def test_start_reaches_the_solver_through_a_conversion() -> None:
    """A warm start of the mixed problem spares Lemke all pivots of the eliminated one."""
    z = solve(MIXED).z
    assert solve(MIXED, Lemke(), start=z).iterations == 0
    assert solve(MIXED, Lemke()).iterations > 0


def test_all_solutions_are_taken_back_through_a_conversion() -> None:
    """0 = u + v - 1, 0 <= v ⊥ u >= 0 (so w = 1 - v): v = 0, u = 1 and v = 1, u = 0."""
    from signorini.solvers import Enumerate

    problem = MixedLCP([[1.0]], [[1.0]], [[1.0]], [[0.0]], [-1.0], [0.0])
    solution = solve(problem, Enumerate())
    assert solution.status is Status.SEVERAL_SOLUTIONS
    assert {tuple(np.round(z, 12)) for z in solution.info["solutions"]} == {(1.0, 0.0), (0.0, 1.0)}


def test_history_and_seconds() -> None:
    solution = solve(SMALL)
    assert 0.0 < solution.history[-1][0] <= solution.seconds
    assert solution.history[-1][1] == solution.residual
