"""The members of the default solver for friction problems take turns; none is left out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.problems import FrictionProblem
from signorini.solvers import NSGS, ExtendedFriction, FrictionAuto, Status, friction_auto, friction_certificate, solve
from signorini.solvers.extended_equilibrated import EquilibratedExtension
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_newton import newton_system
from signorini.solvers.nsgs import Sweeper
from signorini.solvers.projected_gradient import Descent
from signorini.solvers.proximal_newton import proximal_newton
from tests.friction_problems import box_stack, random_problem


def disc_pile(width: int, height: int, seed: int, mu: float = 0.5, **options: object) -> FrictionProblem:
    """Equal discs of unit mass in a hexagonal pile on the ground that a random motion presses together, as a matrix.

    With ``rolling`` given, every contact has a couple.
    """
    rng = np.random.default_rng(seed)
    i, j = np.meshgrid(np.arange(width), np.arange(height))
    centre = np.stack([2.0 * i + j % 2, 1.0 + np.sqrt(3.0) * j], axis=2).reshape(-1, 2)
    rows: list[Array] = []
    n_b = centre.shape[0]
    pairs = [(a, b) for b in range(n_b) for a in range(b) if np.hypot(*(centre[b] - centre[a])) < 2.01]
    for a, b in pairs + [(-1, b) for b in range(width)]:
        normal = np.array([0.0, 1.0]) if a < 0 else 0.5 * (centre[b] - centre[a])
        tangent = np.array([-normal[1], normal[0]])
        J = np.zeros((3, n_b, 3))
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body >= 0:
                J[0, body, :2], J[1, body, :2] = sign * normal, sign * tangent
                J[1, body, 2] = -1.0  # both arms turn the point of contact the same way
                J[2, body, 2] = sign
        rows.append(J.reshape(3, -1)[: 3 if "rolling" in options else 2])
    J = np.concatenate(rows) / np.tile([1.0, 1.0, np.sqrt(0.5)], n_b)  # mass 1, inertia 1/2
    v = rng.normal(size=(n_b, 3)) * 0.1 - [0.0, 0.05, 0.0]
    n_c = J.shape[0] // rows[0].shape[0]
    return FrictionProblem(J @ J.T, J @ v.reshape(-1), np.full(n_c, mu), dim=2, **options)  # type: ignore[arg-type]


@pytest.mark.compiled_only
def test_sweeps_and_gradient_go_on_where_no_newton_method_may_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heavy box on light ones: the first sweeps give up, long ones succeed."""
    problem = box_stack(4, ratio=100.0)
    monkeypatch.setattr(friction_auto, "_NEWTON_CONTACTS", 0)
    solution = solve(problem, tolerance=1e-8)
    assert solution.success
    members = {entry.split()[0] for entry in solution.info["path"]}
    assert members == {"sweeps", "gradient"}


@pytest.mark.compiled_only
def squeezed(strength: float = 1.0) -> FrictionProblem:
    """A body between two walls that come nearer: both normal velocities cannot be positive."""
    n = np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    W = np.outer(n, n) + np.diag([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    return FrictionProblem(strength * W, np.array([-1.0, 0.1, 0.0, -1.0, 0.0, 0.2]), np.full(2, 0.5))


@pytest.mark.parametrize("strength", [1e-6, 1.0, 1e6])
def test_contacts_that_cannot_all_keep_apart_are_named(strength: float) -> None:
    solution = solve(squeezed(strength))
    assert solution.status is Status.NO_SOLUTION
    np.testing.assert_array_equal(solution.info["contradictory"], [0, 1])
    assert friction_certificate.proves_contradiction(squeezed(strength), solution.info["certificate"])
    assert not friction_certificate.proves_contradiction(squeezed(strength), np.array([1.0, 0.5]))


@pytest.mark.parametrize("options", [{}, {"cone": "polygon"}, {"torsional": 0.1}, {"dim": 2}])
def test_a_contact_that_nothing_moves_has_no_solution(options: dict[str, Any]) -> None:
    n = 4 if "torsional" in options else options.get("dim", 3)
    W, b = np.diag(np.repeat([1.0, 0.0], n)), np.tile(np.eye(n)[0], 2)
    b[n] = -1.0
    solution = solve(FrictionProblem(W, b, np.full(2, 0.5), **options))
    assert solution.status is Status.NO_SOLUTION
    np.testing.assert_array_equal(solution.info["contradictory"], [1])
    b[n] = 1.0
    assert solve(FrictionProblem(W, b, np.full(2, 0.5), **options)).success


@pytest.mark.compiled_only
def test_every_member_has_its_turn_before_the_budget_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body squeezed between two walls: nobody succeeds, everybody has tried, with budgets that grow."""
    monkeypatch.setattr(friction_auto, "contradiction", lambda _: None)  # else they are spared the trouble
    solution = solve(squeezed(), FrictionAuto(max_iterations=1500))
    assert solution.status is Status.ITERATION_LIMIT
    path = solution.info["path"]
    for member in ("sweeps", "gradient", "interior point", "proximal Newton"):
        costs = [int(entry.partition(":")[0].split()[-1]) for entry in path[1:] if entry.startswith(member)]
        assert len(costs) >= 2, member
        if member == "sweeps":
            assert all(b >= 1.9 * a for a, b in itertools.pairwise(costs))


@pytest.mark.compiled_only
def test_watched_sweeps_go_on_where_they_ended() -> None:
    """Looked at every 256 sweeps or not, they succeed: taken up at the best point they would stay there."""
    problem = box_stack(8, ratio=100.0)
    for callback in (None, lambda *_: None):
        assert solve(problem, NSGS(max_iterations=20_000), tolerance=1e-8, callback=callback).success


def test_the_last_point_of_sweeps_is_kept() -> None:
    """Two runs of 20 plain sweeps are one of 40."""
    problem = random_problem(3, 6)
    once, first = np.zeros((6, 3)), np.zeros((6, 3))
    whole, halves = Sweeper(problem), Sweeper(problem)
    whole.run(once, 0.0, 40, 1000, 0.1, 0)
    halves.run(first, 0.0, 20, 1000, 0.1, 0)
    halves.run(halves.last.copy(), 0.0, 20, 1000, 0.1, 0)
    np.testing.assert_allclose(halves.last, whole.last, rtol=1e-12)


def test_gradient_goes_on_where_it_ended() -> None:
    """Two runs of 10 steps are one of 20."""
    problem = random_problem(3, 6)
    whole, halves = Descent(problem, np.zeros((6, 3))), Descent(problem, np.zeros((6, 3)))
    residual = whole.run(20)
    halves.run(10)
    assert halves.run(10) == residual
    np.testing.assert_array_equal(halves.p, whole.p)


@pytest.mark.compiled_only
def test_weights_that_failed_are_remembered() -> None:
    """Close-packed discs with much friction, where sweeps creep: without memory half of the steps would be failures."""
    problem = disc_pile(10, 8, 0, mu=0.9)
    start = solve(problem, NSGS(max_iterations=500), tolerance=1e-8)
    assert not start.success
    scaled = EquilibratedProblem(problem)
    run = proximal_newton(scaled, newton_system(scaled), scaled.scaled(problem.spatial(start.z)), 1e-8, 700, 1e-2)
    assert run.residual <= 1e-8
    assert solve(problem, tolerance=1e-8).success


def test_newton_step_by_blocks_of_three() -> None:
    """Along the step the function, whose derivative at r it is, falls as fast as it is great."""
    problem = disc_pile(8, 6, 1, rolling=0.1)
    scaled = EquilibratedExtension(problem)
    assert scaled.sparse
    r = np.random.default_rng(0).normal(size=scaled.b.shape)
    r[:, 0] = abs(r[:, 0])
    alpha, h = 1e-2, 1e-7
    u = scaled.velocity(r)
    F, size = scaled.function(u, r)
    step = scaled.newton_step(u, r, F, alpha)
    assert step is not None
    e = h * step
    moved = scaled.function(scaled.velocity(r + e) + alpha * e, r + e)[0]
    assert np.linalg.norm((moved - F) / h + F) <= 1e-6 * size


def test_swept_start_goes_to_newton_first() -> None:
    problem = disc_pile(4, 3, 2, rolling=0.1)
    assert solve(problem, ExtendedFriction(), tolerance=1e-4).iterations == 0  # sweeps do it
    solution = solve(problem, ExtendedFriction(swept=True), tolerance=1e-4)
    assert solution.success
    assert solution.iterations > 0
