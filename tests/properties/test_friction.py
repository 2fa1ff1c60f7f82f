"""What holds for every friction problem of a class, searched by Hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import friction_as_lcp, friction_from_lcp
from signorini.solvers import NSGS, Control, FrictionAuto, FrictionInteriorPoint, Lemke, ProximalNewton
from tests.friction_problems import random_problem

seeds = st.integers(0, 10**6)
counts = st.integers(1, 8)
dims = st.sampled_from([2, 3])
classes = st.fixed_dictionaries(
    {
        "dim": dims,
        "rank": st.sampled_from([None, 2, 5]),
        "asymmetry": st.sampled_from([0.0, 0.1]),
        "frictionless": st.sampled_from([0.0, 0.5]),
        "zero_rows": st.sampled_from([0.0, 0.3]),
        "mass_ratio": st.sampled_from([1.0, 1e3]),
    }
)


def independent_residual(problem: FrictionProblem, p: Any) -> float:
    """The residual written with arrays from its definition, apart from the library's kernels."""
    W, dim, mu = problem.dense(), problem.dim, problem.mu
    u = (W @ p + problem.b).reshape(-1, dim)
    W_nn = np.diag(W)[::dim]
    rho = np.where(W_nn > 0.0, 1.0 / np.where(W_nn > 0.0, W_nn, 1.0), 1.0)[:, None]
    u_hat = u.copy()
    u_hat[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
    z = p.reshape(-1, dim) - rho * u_hat
    size = np.linalg.norm(z[:, 1:], axis=1)
    n = (z[:, 0] + mu * size) / (1.0 + mu**2)
    slipping = np.column_stack([n, z[:, 1:] * (mu * n / np.where(size > 0.0, size, 1.0))[:, None]])
    projected = np.where((size <= mu * z[:, 0])[:, None], z, slipping)
    projected[mu * size <= -z[:, 0]] = 0.0
    scale = max(np.linalg.norm(p), np.linalg.norm(rho * problem.b.reshape(-1, dim)))
    return float(np.linalg.norm(p.reshape(-1, dim) - projected) / (scale or 1.0))


def type_name(solver: object) -> str:
    """Name a case by the solver's class."""
    return type(solver).__name__


@given(seeds, counts, classes)
def test_default_solves_and_the_residual_is_true(seed: int, contacts: int, options: dict[str, Any]) -> None:
    """W = A N A^T with b = A v has a solution; the default finds it, by the definition of the law itself."""
    problem = random_problem(seed, contacts, **options)
    solution = FrictionAuto().solve(problem)
    assert solution.success
    assert independent_residual(problem, solution.z) <= 1.1e-10  # the two residuals differ by rounding


@pytest.mark.parametrize("solver", [NSGS(), FrictionInteriorPoint(), ProximalNewton()], ids=type_name)
@settings(max_examples=40)
@given(seed=seeds, contacts=counts, options=classes)
def test_success_is_never_claimed_wrongly(solver: Any, seed: int, contacts: int, options: dict[str, Any]) -> None:
    """A method may fail; what it calls solved is solved."""
    problem = random_problem(seed, contacts, **options)
    solution = solver.solve(problem, Control(tolerance=1e-9))
    if solution.success:
        assert independent_residual(problem, solution.z) <= 1.1e-9
    else:
        assert independent_residual(problem, solution.z) > 0.9e-9


@given(seeds, dims, st.sampled_from([0.0, 0.1]), st.sampled_from([None, 2]))
def test_one_contact_is_solved_exactly(seed: int, dim: int, asymmetry: float, rank: int | None) -> None:
    """The local solution is exact: a single contact, singular or not, is solved by the first sweep."""
    problem = random_problem(seed, 1, dim=dim, asymmetry=asymmetry, rank=rank)
    solution = NSGS(acceleration=0).solve(problem, Control(tolerance=1e-12, max_iterations=1))
    assert solution.success


@settings(max_examples=40)
@given(seeds, counts, dims)
def test_solvers_agree_on_velocities(seed: int, contacts: int, dim: int) -> None:
    """With little friction (mu < 0.05) the law is strongly monotone and the solution unique: all methods find it."""
    problem = random_problem(seed, contacts, dim=dim)
    W = problem.dense() / np.trace(problem.dense()) + 0.3 * np.eye(problem.size)
    problem = FrictionProblem(W, problem.b, 0.05 * problem.mu, dim=dim)
    velocities = [
        problem.velocity(solver.solve(problem, Control(tolerance=1e-11)).z)
        for solver in (NSGS(), FrictionInteriorPoint(), ProximalNewton(), FrictionAuto())
    ]
    for u in velocities[1:]:
        np.testing.assert_allclose(u, velocities[0], atol=1e-9 * np.abs(problem.b).max())


@settings(max_examples=40)
@given(seeds, counts, st.randoms(use_true_random=False))
def test_order_of_contacts_is_immaterial(seed: int, contacts: int, random: Any) -> None:
    """Renumbering the contacts of a problem with a unique solution renumbers the solution."""
    problem = random_problem(seed, contacts)
    W = problem.dense() / np.trace(problem.dense()) + 0.3 * np.eye(problem.size)
    mu = 0.05 * problem.mu
    order = list(range(contacts))
    random.shuffle(order)
    rows = (3 * np.array(order)[:, None] + np.arange(3)).reshape(-1)
    p = FrictionAuto().solve(FrictionProblem(W, problem.b, mu), Control(tolerance=1e-11)).z
    shuffled = FrictionProblem(W[np.ix_(rows, rows)], problem.b[rows], mu[order])
    again = FrictionAuto().solve(shuffled, Control(tolerance=1e-11)).z
    np.testing.assert_allclose(again, p[rows], atol=1e-8 * max(1.0, np.abs(p).max()))


@settings(max_examples=40)
@given(seeds, st.integers(1, 5), dims, st.integers(3, 9), st.floats(0.0, 1.0), st.sampled_from([None, 3]))
def test_polygon_by_lemke(
    seed: int, contacts: int, dim: int, directions: int, rotation: float, rank: int | None
) -> None:
    """The LCP's solution, taken back, solves the polygonal problem to rounding."""
    given_ = random_problem(seed, contacts, dim=dim, rank=rank)
    problem = FrictionProblem(
        given_.W, given_.b, given_.mu, dim=dim, cone="polygon", directions=directions, rotation=rotation
    )
    solution = Lemke().solve(friction_as_lcp(problem), Control(tolerance=1e-12))
    assert solution.success
    p = friction_from_lcp(problem, solution.z)
    assert problem.residual(p) <= 1e-11
    if dim == 2:  # the planar polygon is the exact cone
        assert independent_residual(problem, p) <= 1e-11


@settings(max_examples=30)
@given(seeds, st.integers(1, 5))
def test_many_directions_approach_the_cone(seed: int, contacts: int) -> None:
    """The residual of the exact law at the polygon's solution falls like 1/n_d: below 2 pi/n_d of its scale."""
    given_ = random_problem(seed, contacts)
    polygon = FrictionProblem(given_.W, given_.b, given_.mu, cone="polygon", directions=32)
    solution = FrictionAuto().solve(polygon)
    assert solution.success
    assert given_.residual(solution.z) <= 2.0 * np.pi / 32
