"""What holds for every friction problem with couples, and for hard classes of ordinary ones, searched by Hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.solvers import Control, ExtendedFriction, FrictionAuto, ProjectedGradient, solve
from tests.friction_problems import box_stack, random_problem
from tests.properties.test_friction import independent_residual

seeds = st.integers(0, 10**6)
counts = st.integers(1, 6)
kinds = st.sampled_from(["torsional", "rolling", "both", "ellipsoid", "planar"])


def extended_problem(seed: int, contacts: int, kind: str, rank: float = 1.0, asymmetry: float = 0.0) -> FrictionProblem:
    """Random W = A N A^T, solvable because b = A v is the velocity of some motion."""
    rng = np.random.default_rng(seed)
    length = rng.uniform(0.01, 0.5, contacts)
    rows, options = {
        "torsional": (4, {"torsional": length * (rng.random(contacts) < 0.8)}),
        "rolling": (5, {"rolling": length}),
        "both": (6, {"torsional": 0.1, "rolling": length}),
        "ellipsoid": (4, {"ellipsoid": rng.uniform(0.2, 2.0, (contacts, 3))}),
        "planar": (3, {"rolling": length, "dim": 2}),
    }[kind]
    n = rows * contacts
    k = max(1, int(rank * n))
    A, X = rng.normal(size=(n, k)), rng.normal(size=(k, k))
    N = np.eye(k) + asymmetry * (X - X.T) / np.sqrt(k)
    more: dict[str, Any] = dict(options)  # type: ignore[call-overload]
    return FrictionProblem(A @ N @ A.T, A @ rng.normal(size=k), rng.uniform(0.0, 1.5, contacts), **more)


def independent_law(problem: FrictionProblem, p: Array) -> float:
    """The largest violation of the law, group by group in its classical form, relative to impulses and velocities.

    Signorini: p_n >= 0, u_n >= 0, p_n u_n = 0. Every group: |x| <= m p_n, x . s = - m p_n |s| (maximal dissipation).
    """
    n_c = problem.contact_count
    u = (problem.dense() @ p + problem.b).reshape(n_c, -1)
    x = p.reshape(n_c, -1)
    W_nn = np.diag(problem.dense())[:: problem.rows]
    worst = 0.0
    scale = max(np.abs(x[:, 0]).max(), np.abs(problem.b.reshape(n_c, -1)[:, 0] / W_nn).max())
    for c in range(n_c):
        groups = []  # (impulse, slip, limit) in components where the limit is a ball
        e = np.ones(problem.dim - 1)
        if problem.ellipsoid is not None:
            e = np.asarray(problem.ellipsoid).reshape(n_c, -1)[c]
        end = 1 + e.size
        groups.append((x[c, 1:end] / e, u[c, 1:end] * e, problem.mu[c]))
        for length, rows in ((problem.torsional, 1), (problem.rolling, problem.dim - 1)):
            if length is not None:
                l = np.broadcast_to(np.asarray(length), (n_c,))[c]
                groups.append((x[c, end : end + rows], u[c, end : end + rows], l))
                end += rows
        p_n, v_n = x[c, 0], u[c, 0] / W_nn[c]
        worst = max(worst, -p_n, -v_n, min(abs(p_n), abs(v_n)))
        for impulse, slip, limit in groups:
            unit = limit if limit > 0.0 else 1.0
            size, speed = np.linalg.norm(impulse), np.linalg.norm(slip)
            worst = max(worst, (size - limit * p_n) / unit)
            # the power lost to a wrong direction or size, as an impulse times a velocity in units of the normal ones
            power = (impulse @ slip + limit * p_n * speed) / W_nn[c]
            worst = max(worst, power / scale)
    return float(worst / scale)


@settings(max_examples=150)
@given(seeds, counts, kinds, st.sampled_from([1.0, 0.6, 0.3]), st.sampled_from([0.0, 0.2]))
def test_default_solves_the_law(seed: int, contacts: int, kind: str, rank: float, asymmetry: float) -> None:
    """The default finds a solution, by the classical statement of the law."""
    problem = extended_problem(seed, contacts, kind, rank, asymmetry)
    solution = solve(problem)
    assert solution.success
    assert independent_law(problem, solution.z) <= 1e-7  # the slack of a product can be the root of that of the map


@settings(max_examples=40)
@given(seeds, counts, kinds)
def test_success_is_never_claimed_wrongly(seed: int, contacts: int, kind: str) -> None:
    """Stopped early or not: the status says what the residual says."""
    problem = extended_problem(seed, contacts, kind)
    for limit in (1, 3, None):
        solution = ExtendedFriction().solve(problem, Control(max_iterations=limit, tolerance=1e-9))
        assert solution.success == (problem.residual(solution.z) <= 1e-9)
        assert solution.residual == pytest.approx(problem.residual(solution.z), rel=1e-6)  # rounding by the units


@settings(max_examples=40)
@given(seeds, counts)
def test_couples_without_load_change_nothing(seed: int, contacts: int) -> None:
    """A couple that nothing drives and that drives nothing leaves the solution of the ordinary problem.

    Little friction, W well conditioned: the solution is unique.
    """
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * contacts, 3 * contacts))
    W = A @ A.T / np.trace(A @ A.T) + 0.3 * np.eye(3 * contacts)
    b, mu = rng.normal(size=3 * contacts), rng.uniform(0.0, 0.05, contacts)
    wide = np.zeros((contacts, 4, contacts, 4))
    wide[:, :3, :, :3] = W.reshape(contacts, 3, contacts, 3)
    wide[range(contacts), 3, range(contacts), 3] = 1.0
    load = np.zeros((contacts, 4))
    load[:, :3] = b.reshape(contacts, 3)
    extended = FrictionProblem(wide.reshape(4 * contacts, -1), load.reshape(-1), mu, torsional=0.1)
    p = solve(extended, tolerance=1e-12).z.reshape(contacts, 4)
    plain = solve(FrictionProblem(W, b, mu), tolerance=1e-12).z.reshape(contacts, 3)
    np.testing.assert_allclose(p[:, :3], plain, atol=1e-9)
    np.testing.assert_allclose(p[:, 3], 0.0, atol=1e-9)


def inconsistent_problem(seed: int, contacts: int, degenerate: float) -> tuple[FrictionProblem, Array]:
    """Hyperstatic W and velocities that are no motion of the bodies, outside its range; with a known solution."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.0, 2.0, contacts)
    W = random_problem(seed, contacts, rank=max(1, contacts)).dense()
    p, u = np.zeros((2, contacts, 3))
    for c in range(contacts):
        mode, border = rng.integers(0, 3), rng.random() < degenerate
        d = rng.normal(size=2)
        d /= np.linalg.norm(d)
        if mode == 0:
            u[c, 0] = 0.0 if border else rng.uniform(0.1, 1.0)
            continue
        p[c, 0] = rng.uniform(0.1, 1.0)
        p[c, 1:] = -mu[c] * p[c, 0] * d * (1.0 if mode == 2 or border else rng.random())
        u[c, 1:] = d * (rng.uniform(0.1, 1.0) if mode == 2 and not border else 0.0)
    return FrictionProblem(W, u.reshape(-1) - W @ p.reshape(-1), mu), p.reshape(-1)


@pytest.mark.parametrize("degenerate", [0.0, 0.5])
def test_inconsistent_load(degenerate: float) -> None:
    """The law is not monotone here (mu up to 2) and a method may miss the solution: seldom, and never unsaid."""
    solved = 0
    for seed in range(100):
        problem, known = inconsistent_problem(seed, 1 + seed % 10, degenerate)
        assert independent_residual(problem, known) <= 1e-13  # of rounding in b
        solution = solve(problem, tolerance=1e-8)
        assert not solution.success or independent_residual(problem, solution.z) <= 1.1e-8
        solved += solution.success
    assert solved >= 95


@pytest.mark.parametrize("heavy", ["top", "alternating"])
@pytest.mark.parametrize("kick", [0.0, 0.3])
@pytest.mark.parametrize("mu", [0.0, 0.5, 2.0])
def test_a_million_times_heavier(heavy: str, kick: float, mu: float) -> None:
    """Boxes of mass 1e6 on boxes of mass 1, standing or thrown, without friction and with much."""
    problem = box_stack(4, ratio=1e6, heavy=heavy, kick=kick, mu=mu)
    solution = solve(problem, tolerance=1e-8)
    assert solution.success
    assert independent_residual(problem, solution.z) <= 1.1e-8


@settings(max_examples=40)
@given(seeds, counts, st.sampled_from([2, 3]), st.sampled_from([0.0, 0.3]))
def test_projected_gradient_finds_the_unique_solution(seed: int, contacts: int, dim: int, zero_rows: float) -> None:
    """With little friction and W well conditioned; contacts that cannot move get no impulse."""
    given_ = random_problem(seed, contacts, dim=dim, zero_rows=zero_rows)
    W = given_.dense()
    moves = np.diag(W) > 0.0
    W = W / (np.trace(W) or 1.0) + 0.3 * np.diag(moves.astype(float))
    problem = FrictionProblem(W, np.where(moves, given_.b, 0.0), 0.05 * given_.mu, dim=dim)
    gradient = ProjectedGradient().solve(problem, Control(tolerance=1e-11))
    assert gradient.success
    auto = FrictionAuto().solve(problem, Control(tolerance=1e-11))
    np.testing.assert_allclose(problem.velocity(gradient.z), problem.velocity(auto.z), atol=1e-9)
    np.testing.assert_array_equal(gradient.z[~moves], 0.0)
