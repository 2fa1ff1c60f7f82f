"""Friction problems with couples and ellipsoids: residual, units, files, door; and points that are no solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from signorini.errors import InputError
from signorini.problems import FrictionProblem, load_problem
from signorini.problems.delassus import Delassus
from signorini.problems.friction_lcp import friction_as_lcp
from signorini.solvers import NSGS, AnitescuHart, FrictionInteriorPoint, Lemke, ProjectedGradient, ProximalNewton, solve
from tests.friction_problems import box_stack, friction, random_problem

KINDS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "torsional": (3, 4, {"torsional": [0.1, 0.0]}),
    "rolling": (3, 5, {"rolling": 0.2}),
    "both": (3, 6, {"torsional": 0.1, "rolling": [0.2, 0.3]}),
    "ellipsoid": (3, 3, {"ellipsoid": (1.0, 0.5)}),
    "ellipsoid with couple": (3, 4, {"ellipsoid": [[1.0, 0.5, 0.1], [0.3, 2.0, 0.4]]}),
    "ellipsoid and rolling": (3, 6, {"ellipsoid": (1.0, 0.5, 0.1), "rolling": 0.2}),
    "planar rolling": (2, 3, {"rolling": 0.2}),
}


def posed(kind: str, **more: Any) -> FrictionProblem:
    """Two contacts with a random W of full rank."""
    dim, rows, options = KINDS[kind]
    rng = np.random.default_rng(4)
    A = rng.normal(size=(2 * rows, 2 * rows))
    return friction(A @ A.T, rng.normal(size=2 * rows), [0.5, 0.3], dim=dim, **options, **more)


def test_residual_by_hand() -> None:
    """W = I, b = (-1, 0, 0, 3), torsional 0.5: scaled, tau = 0.5 x and w^ = 0.5 w, so W_tau = 0.25, b_tau = 1.5.

    At p = (1, 0, 0, -0.4), x = (1, 0, 0, -0.8): u^ = (0 + 1.3, 0, 0, 1.3) with 1.5 - 0.25 x 0.8 = 1.3, hence
    z = x - u^ = (-0.3, 0, 0, -2.1), nearest point of |x_tau| <= x_n: n = (-0.3 + 2.1)/2 = 0.9, so the error is
    |(0.1, 0.1)|; the load is |(1, 1.5)|, larger than |x|.
    """
    problem = friction(np.eye(4), [-1.0, 0.0, 0.0, 3.0], [0.3], torsional=0.5)
    error = np.hypot(1.0 - 0.9, -0.8 + 0.9)
    assert problem.residual([1.0, 0.0, 0.0, -0.4]) == pytest.approx(error / np.hypot(1.0, 1.5), rel=1e-13)


def test_solution_of_an_ellipsoid_by_hand() -> None:
    """W = I, b = (-1, 3, 3), e = (1, 0.5), mu = 1: at the end of the slip p_T = - E^2 s / |E s|, s = b_T + p_T."""
    problem = friction(np.eye(3), [-1.0, 3.0, 3.0], [1.0], ellipsoid=(1.0, 0.5))
    p = solve(problem).z
    s = np.array([3.0, 3.0]) + p[1:]
    E = np.array([1.0, 0.5])
    np.testing.assert_allclose(p[1:], -(E**2) * s / np.linalg.norm(E * s), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_velocities_are_in_the_users_units(kind: str) -> None:
    """Velocities are W p + b, whatever the residual scales, dense or sparse; compliance is on the normal row alone."""
    problem = posed(kind, compliance=0.7)
    p = np.random.default_rng(1).normal(size=problem.size)
    W = np.array(problem.W)
    normal = np.arange(0, problem.size, problem.rows)
    W[normal, normal] += 0.7
    np.testing.assert_allclose(problem.dense(), W, atol=1e-14)
    np.testing.assert_allclose(problem.velocity(p), W @ p + problem.b, atol=1e-12)
    options = {name: getattr(problem, name) for name in ("torsional", "rolling", "ellipsoid")}
    thin = friction(
        sparse.csr_array(np.array(problem.W)), problem.b, problem.mu, dim=problem.dim, compliance=0.7, **options
    )
    np.testing.assert_allclose(thin.velocity(p), W @ p + problem.b, atol=1e-12)
    assert thin.residual(p) == pytest.approx(problem.residual(p), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_residual_is_free_of_units(kind: str) -> None:
    """Metres for centimetres: lengths of couples x 100, couples x 100^2, their velocities as they are."""
    problem = posed(kind)
    is_couple = np.zeros((2, problem.rows), dtype=bool)
    is_couple[:, problem.dim :] = True
    # impulses [kg cm/s] and couples [kg cm^2/s]; velocities [cm/s] and [1/s]
    to_p = np.where(is_couple, 1e4, 1e2).reshape(-1)
    to_u = np.where(is_couple, 1.0, 1e2).reshape(-1)
    options: dict[str, Any] = {}
    for name in ("torsional", "rolling"):
        if getattr(problem, name) is not None:
            options[name] = 100.0 * np.asarray(getattr(problem, name))
    if problem.ellipsoid is not None:
        e = np.array(problem.ellipsoid)
        if e.shape[-1] == 3:
            e[..., 2] *= 100.0
        options["ellipsoid"] = e
    other = friction(to_u[:, None] * problem.dense() / to_p, to_u * problem.b, problem.mu, dim=problem.dim, **options)
    p = np.random.default_rng(2).normal(size=problem.size)
    assert other.residual(to_p * p) == pytest.approx(problem.residual(p), rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_file_round_trip(kind: str, tmp_path: Path) -> None:
    problem = posed(kind)
    problem.save(tmp_path / "p.npz")
    again = load_problem(tmp_path / "p.npz")
    assert isinstance(again, FrictionProblem)
    assert again.rows == problem.rows
    for name in ("torsional", "rolling", "ellipsoid", "mu", "b"):
        np.testing.assert_array_equal(getattr(again, name), getattr(problem, name))
    p = np.ones(problem.size)
    assert again.residual(p) == pytest.approx(problem.residual(p), rel=1e-13)  # sums of sparse rows round otherwise


def test_operator_with_a_couple() -> None:
    """A Delassus operator with rows for couples is the matrix J M^-1 J^T."""
    rng = np.random.default_rng(0)
    J, M_inv = rng.normal(size=(2, 4, 6)), np.stack([np.zeros((6, 6)), np.diag(rng.uniform(0.5, 2.0, 6))])
    W = Delassus(np.array([0, 0]), np.array([1, 1]), -J, J, M_inv)
    b = rng.normal(size=8)
    problem = friction(W, b, [0.3, 0.4], torsional=0.1)
    full = J.reshape(8, 6) @ M_inv[1] @ J.reshape(8, 6).T
    p = rng.normal(size=8)
    np.testing.assert_allclose(problem.velocity(p), full @ p + b, atol=1e-13)
    with pytest.raises(InputError, match="contacts have 4 rows, must have 2 or 3"):
        W.connections()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"torsional": -0.1}, "torsional of contact 0 is -0.1, must be >= 0"),
        ({"torsional": [0.1, 0.2]}, r"torsional has shape \(2,\), must be \(1\)"),
        ({"torsional": 0.1, "b": np.ones(5), "W": np.eye(5)}, "b has 5 entries, must be a multiple of 4"),
        ({"torsional": 0.1, "dim": 2}, "torsional is 0.1, must be None in a planar problem"),
        ({"ellipsoid": (1.0, 2.0), "dim": 2}, "ellipsoid is given, must be None in a planar problem"),
        ({"ellipsoid": (1.0, 0.0, 1.0)}, "ellipsoid has the half axis 0.0, must be > 0"),
        ({"ellipsoid": 2.0}, "ellipsoid is 2.0, must be"),
        ({"torsional": 0.1, "cone": "polygon"}, "cone is 'polygon', must be 'exact' with couples"),
    ],
)
def test_bad_data_are_named(options: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"W": np.eye(4), "b": np.ones(4), "mu": [0.1]}
    with pytest.raises(InputError, match=message):
        FrictionProblem(**{**good, **options})


@pytest.mark.parametrize(
    "solver", [NSGS(), FrictionInteriorPoint(), ProximalNewton(), ProjectedGradient(), AnitescuHart()]
)
def test_solvers_of_three_rows_decline_couples(solver: Any) -> None:
    solution = solve(posed("torsional"), solver)
    assert str(solution.status) == "not applicable"
    assert not solution.success


def test_couples_are_no_lcp() -> None:
    with pytest.raises(InputError, match="has couples or an ellipsoid"):
        friction_as_lcp(posed("planar rolling"))
    with pytest.raises(InputError, match="has couples or an ellipsoid"):
        solve(posed("torsional"), Lemke())


@pytest.mark.parametrize("solver", [NSGS(), FrictionInteriorPoint(), ProximalNewton(), ProjectedGradient(), None])
def test_ellipsoid_without_couple_goes_to_every_solver(solver: Any) -> None:
    """By scaling: what each returns solves the problem as posed."""
    problem = posed("ellipsoid")
    guess = solve(problem).z
    for start in (None, guess):
        solution = solve(problem, solver, start=start)
        assert solution.success
        assert problem.residual(solution.z) <= 1e-10


def test_normal_last(tmp_path: Path) -> None:
    """Fields G, g, mus with components (tangent, tangent, normal): the same problem in another order."""
    problem = random_problem(5, 3)
    order = np.arange(9).reshape(3, 3)[:, [1, 2, 0]].reshape(-1)
    W = problem.dense()[np.ix_(order, order)]
    np.savez(tmp_path / "p.npz", G=W, g=problem.b[order][:, None], mus=problem.mu, lam0=np.zeros(9))
    again = load_problem(tmp_path / "p.npz")
    assert isinstance(again, FrictionProblem)
    np.testing.assert_array_equal(again.dense(), problem.dense())
    np.testing.assert_array_equal(again.b, problem.b)
    np.testing.assert_array_equal(again.mu, problem.mu)


@pytest.mark.compiled_only
def test_runaway_impulses_are_no_solution() -> None:
    """A body between two walls that close in at speeds 1 and 0.1, beside a stack of boxes: no solution.

    Impulses of 1e12 on both sides have a residual below 1e-10, because it is measured against them.
    """
    stack = box_stack(10, kick=1.0)
    n = stack.size
    W = np.zeros((n + 6, n + 6))
    W[:n, :n] = stack.dense()
    wall = np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    W[n:, n:] = np.outer(wall, wall)
    b = np.concatenate([stack.b, [-1.0, 0.0, 0.0, -0.1, 0.0, 0.0]])
    problem = friction(W, b, np.append(stack.mu, [0.5, 0.5]))
    p = np.concatenate([solve(stack).z, [1e12 + 0.45, 0.0, 0.0, 1e12 - 0.45, 0.0, 0.0]])
    assert problem.residual(p) < 1e-10
    assert not problem.credible(p, 1e-10)
    assert not solve(problem, tolerance=1e-8).success


def test_large_true_impulses_are_credible() -> None:
    """Two bodies, one a million times heavier: errors are judged contact by contact as velocities."""
    W = np.diag([1.0, 1.0, 1.0, 1e-6, 1e-6, 1e-6])
    problem = friction(W, [-1.0, 0.2, 0.0, -1.0, 0.2, 0.0], [0.5, 0.5])
    p = np.array([1.0, -0.2, 0.0, 1e6, -0.2e6, 0.0])
    assert problem.credible(p, 1e-10)
    assert not problem.credible(np.concatenate([[1.01, -0.2, 0.0], p[3:]]), 1e-10)


def test_impulses_that_drown_the_load_are_no_solution() -> None:
    """A body between two walls that close in: 1e20 on both sides, and rounding leaves nothing of the load."""
    wall = np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    p = 1e20 * np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    for options in ({}, {"cone": "polygon"}):
        problem = friction(np.outer(wall, wall), [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], [0.5, 0.5], **options)
        assert problem.residual(p) == 0.0
        assert not problem.credible(p, 1e-10)
        assert not problem.verdict(problem.spatial(p), 1e-10).solved


def test_without_a_load_nothing_drowns() -> None:
    wall = np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    problem = friction(np.outer(wall, wall), np.zeros(6), [0.5, 0.5])
    assert problem.verdict(np.zeros((2, 3)), 1e-10).solved
    assert problem.credible(np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]), 1e-10)


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_verdict_is_residual_rel_and_credibility(kind: str | None) -> None:
    problem = random_problem(4, 4) if kind is None else posed(kind)
    solution = solve(problem)
    for p in (solution.z, 1.1 * solution.z):
        verdict = problem.verdict(problem.spatial(p), 1e-10)
        np.testing.assert_allclose(verdict.residual, problem.residual(p), rtol=1e-12, atol=1e-16)
        np.testing.assert_allclose(verdict.rel, problem.rel(p), rtol=1e-12, atol=1e-16)
        assert verdict.solved == (p is solution.z)
