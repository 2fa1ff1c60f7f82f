"""Semismooth Newton on equations, pairs and balls of unknown radius: blocks by formula, singular models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import signorini as sg
from signorini._arrays import Array
from signorini.problems import MixedNCP
from signorini.problems.natural_jacobian import natural_jacobian
from signorini.solvers.linear_systems import regular_factors
from signorini.solvers.natural_newton import NaturalNewton

M, G, MU, H = 2.0, 9.81, 0.4, 0.01


def block(push: float, gap: float = 0.0, speed: float = 0.0) -> MixedNCP:
    """A block of mass M over a floor, unknowns (v_x, v_y, v_z, p_n, p_t, p_o), pushed sideways by a force."""

    def rows(z: Array) -> Array:
        v, p = z[:3], z[3:]
        return np.concatenate(
            [
                M * (v - [speed, 0.0, 0.0]) - [p[1], p[2], p[0]] - H * np.array([push, 0.0, -M * G]),
                [gap + H * v[2], v[0], v[1]],
            ]
        )

    return MixedNCP(rows, pairs=[3], balls=[((4, 5), 3, MU)], x0=np.zeros(6))


@pytest.mark.parametrize("sparsely", [False, True])
def test_a_block_flies_sticks_and_slips(sparsely: bool) -> None:
    """Free fall; at rest below the limit of friction; beyond it ``v = h (F/m - mu g)``."""

    def solved(problem: MixedNCP) -> Array:
        if sparsely:
            J = problem.J
            problem = MixedNCP(
                problem.F,
                lambda z: sparse.csr_array(J(z)),
                pairs=problem.pairs,
                balls=problem.balls,
                x0=problem.x0,
            )
        solution = sg.solve(problem)
        assert solution.success
        assert solution.solver == "NaturalNewton"
        return solution.z

    np.testing.assert_allclose(solved(block(1.0, gap=1.0)), [H * 1.0 / M, 0, -H * G, 0, 0, 0], atol=1e-14)
    held = 0.9 * MU * M * G
    np.testing.assert_allclose(solved(block(held)), [0, 0, 0, H * M * G, -H * held, 0], atol=1e-12)
    push = 3.0 * MU * M * G
    slid = [H * (push / M - MU * G), 0, 0, H * M * G, -H * MU * M * G, 0]
    np.testing.assert_allclose(solved(block(push)), slid, atol=1e-12)


@pytest.mark.parametrize("z", [np.array([0.1, 0.2, -0.3, 0.5, 0.4, -0.1]), np.array([2.0, -1.0, 0.3, 0.5, 0.1, 0.1])])
def test_the_linear_model_is_the_derivative_of_the_map(z: Array) -> None:
    """Central differences of the natural map, in units, off its kinks."""
    plain = block(1.0, speed=1.0)
    problem = MixedNCP(
        plain.F,
        pairs=plain.pairs,
        balls=plain.balls,
        unit=[1, 1, 1, 2, 3, 3],
        row_unit=[1, 2, 1, 5, 4, 4],
        x0=plain.x0,
    )
    J = problem.jacobian(z)
    assert J is not None
    H = natural_jacobian(problem, z, problem.F(z), J)
    for i in range(6):
        e = np.zeros(6)
        e[i] = 1e-6 * problem.unit[i]
        ahead, back = (problem.natural(x, problem.F(x)) for x in (z + e, z - e))
        np.testing.assert_allclose(H[:, i], (ahead - back) / 2e-6, atol=1e-8)
    rows = natural_jacobian(problem, z, problem.F(z), sparse.csr_array(J))
    np.testing.assert_allclose(rows.toarray(), H, atol=1e-14)


def test_a_singular_model_is_answered_by_the_shortest_step() -> None:
    """``(x + y)^2 = 4`` twice: from 0.5 and 0.5 both move alike, to 1 and 1; said as degenerate."""
    problem = MixedNCP(lambda z: np.full(2, (z[0] + z[1]) ** 2 - 4.0), x0=[0.5, 0.5])
    solution = sg.solve(problem)
    assert solution.success
    np.testing.assert_allclose(solution.z, [1.0, 1.0], atol=1e-12)
    assert solution.info["degenerate"] > 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_singular_matrices_are_told_by_their_pivots(kind: Callable[[Array], Any]) -> None:
    """Whatever the units of rows and columns, and though consistent right-hand sides have moderate answers."""
    r = np.random.default_rng(8)
    for _ in range(50):
        n = int(r.integers(2, 9))
        units, of_rows = 10.0 ** r.uniform(-6, 6, n), 10.0 ** r.uniform(-6, 6, n)
        regular = r.normal(size=(n, n)) + 3.0 * np.eye(n)
        lost = regular.copy()
        lost[:, -1] = lost[:, :-1] @ r.normal(size=n - 1)
        x = r.normal(size=n) / units
        A = of_rows[:, None] * regular * units
        solve = regular_factors(kind(A))
        assert solve is not None
        np.testing.assert_allclose(solve(A @ x), x, rtol=0, atol=1e-9 * np.abs(x).max() * np.linalg.cond(regular))
        assert regular_factors(kind(of_rows[:, None] * lost * units)) is None


def test_a_long_way_is_searched() -> None:
    """Newton's method on arctan diverges from 3 unless its steps are halved."""
    solution = sg.solve(MixedNCP(np.arctan, x0=[3.0]))
    assert solution.success
    assert abs(solution.z[0]) < 1e-10


def test_without_solution_it_stops_and_says_so() -> None:
    solution = sg.solve(MixedNCP(lambda z: 1.0 + z**2, x0=[0.5]), solver=NaturalNewton(max_iterations=20))
    assert not solution.success
    assert solution.residual >= 1.0
    assert not sg.solve(MixedNCP(lambda z: z * np.nan, x0=[1.0])).success


@pytest.mark.parametrize("pairs", [[], [0]])
@pytest.mark.parametrize(
    "F",
    [lambda z: 1.0 - np.tanh(z), lambda z: 1e-3 * np.exp(-z), lambda z: 1e-4 / (1.0 + z) ** 2],
    ids=["tanh", "exp", "power"],
)
def test_functions_that_only_decay_to_zero_are_not_solved(F: Callable[[Array], Array], pairs: list[int]) -> None:
    """None of them vanishes anywhere, and their residuals become as small as one likes; -F does not rise either."""
    problem = MixedNCP(lambda z: -F(z), pairs=pairs, x0=[1.0])
    solution = sg.solve(problem, max_iterations=200)
    assert solution.residual <= 1e-8, "the residual alone would be fooled"
    assert not solution.success


@pytest.mark.parametrize("order", [1, 2, 3])
def test_roots_of_any_order_are_solved(order: int) -> None:
    solution = sg.solve(MixedNCP(lambda z: (z - 2.0) ** order, x0=[3.0]), max_iterations=200)
    assert solution.success
    assert abs(solution.z[0] - 2.0) <= 0.01
