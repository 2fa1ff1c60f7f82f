"""Relaxations P1, P2 and the fixed-point algorithms against each other, Lemke and the laws they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.problems import FrictionProblem, first_relaxation, second_relaxation
from signorini.problems.relaxations import natural_residual, root, slip_speed
from signorini.reproduce.s2 import contact
from signorini.reproduce.s2_convergence import gauss
from signorini.solvers import AnitescuHart, Clarabel, FrictionAuto, Lemke, ProximalQP, Status, solve
from signorini.solvers.anitescu_hart import linear_factor
from signorini.solvers.anitescu_hart_finish import newton_blocks
from signorini.solvers.qp_clarabel import is_installed
from tests.friction_problems import box_stack, friction

CYCLING = (26.0, 25.0, 26.0, -1.0, 1.0, 0.7)


def exact(problem: FrictionProblem) -> FrictionProblem:
    """The same contacts with the round cone."""
    return FrictionProblem(problem.W, problem.b, problem.mu, dim=3)


# --- the relaxations ---------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_three_forms_of_the_first_relaxation_have_one_velocity(seed: int) -> None:
    problem = gauss(seed, 0.3).problem
    Gamma = np.random.default_rng(seed).uniform(0.0, 0.2, problem.contact_count)
    velocities = []
    for form in ("reduced", "lifted", "dual"):
        relaxation = first_relaxation(problem, Gamma, form)
        found = solve(relaxation.qp, ProximalQP(), tolerance=1e-12)
        assert found.residual < 1e-11
        velocities.append(problem.velocity(relaxation.impulse(found.z)))
    np.testing.assert_allclose(velocities[1], velocities[0], atol=1e-10)
    np.testing.assert_allclose(velocities[2], velocities[0], atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_two_forms_of_the_first_relaxation_over_the_round_cone(seed: int) -> None:
    problem = exact(gauss(seed, 0.3).problem)
    both = [first_relaxation(problem, 0.1, form) for form in ("reduced", "dual")]
    u = [problem.velocity(r.impulse(solve(r.qp, tolerance=1e-11).z)) for r in both]
    np.testing.assert_allclose(u[0], u[1], atol=1e-8)


def test_first_relaxation_meets_its_complementarity() -> None:
    """0 <= c_n _|_ u_n - mu lambda + Gamma >= 0 and friction within the cone, lambda = Lambda(u) where it presses."""
    problem = gauss(1, 0.4).problem
    relaxation = first_relaxation(problem, 0.05)
    p = relaxation.impulse(solve(relaxation.qp, tolerance=1e-12).z)
    u = problem.velocity(p)
    rho = u[::3] - problem.mu * slip_speed(problem, u) + 0.05
    assert rho.min() > -1e-10
    assert np.abs(np.minimum(p[::3], rho)).max() < 1e-10
    assert (np.abs(p.reshape(-1, 3)[:, 1:]).sum(axis=1) <= problem.mu * p[::3] + 1e-12).all()  # four directions


@pytest.mark.parametrize("seed", range(3))
def test_second_relaxation_of_the_true_slip_has_the_true_velocity(seed: int) -> None:
    problem = gauss(seed, 0.2).problem
    u = problem.velocity(solve(problem, Lemke()).z)
    relaxation = second_relaxation(problem, slip_speed(problem, u))
    p = relaxation.impulse(solve(relaxation.qp, tolerance=1e-12).z)
    np.testing.assert_allclose(problem.velocity(p), u, atol=1e-9)


def test_second_relaxation_dissipates() -> None:
    """P . u = -lambda . E^T beta: the work of all impulses is minus slip bound times friction, never positive."""
    problem = gauss(2, 0.2).problem
    bound = np.full(problem.contact_count, 0.3)
    relaxation = second_relaxation(problem, bound)
    z = solve(relaxation.qp, tolerance=1e-12).z
    p = relaxation.impulse(z)
    beta = z[relaxation.qp.variables + problem.contact_count :].reshape(problem.contact_count, 4)
    assert p @ problem.velocity(p) == pytest.approx(-bound @ beta.sum(axis=1), abs=1e-10)
    assert p @ problem.velocity(p) < -1e-3


def test_root_of_bodies_and_of_their_matrix_agree() -> None:
    problem = box_stack(2, kick=0.3, seed=1)
    A = root(problem)
    np.testing.assert_allclose((A @ A.T).toarray(), problem.dense(), atol=1e-12)


# --- the algorithms ----------------------------------------------------------


@pytest.mark.parametrize("acceleration", ["newton", "anderson", "none"])
@pytest.mark.parametrize("mu", [0.1, 0.5])
def test_algorithm_1_finds_the_velocity_of_lemke(acceleration: Any, mu: float) -> None:
    for seed in range(3):
        problem, change = gauss(seed, mu)
        found = solve(problem, AnitescuHart(acceleration=acceleration), tolerance=1e-9)
        assert found.success
        assert natural_residual(problem, found.z) < 1e-7
        np.testing.assert_allclose(change(found.z), change(solve(problem, Lemke()).z), atol=1e-7)


def test_algorithm_2_finds_it_too() -> None:
    problem, change = gauss(0, 0.2)
    found = solve(problem, AnitescuHart(algorithm=2), tolerance=1e-6)
    assert found.success
    np.testing.assert_allclose(change(found.z), change(solve(problem, Lemke()).z), atol=1e-4)


def test_algorithm_3_keeps_its_promises_and_is_not_called_a_solution() -> None:
    for seed in range(5):
        problem = gauss(seed, 0.5).problem
        found = solve(problem, AnitescuHart(algorithm=3, row_slack=None), tolerance=1e-8)
        u = problem.velocity(found.z)
        assert u[::3].min() > -1e-9  # nothing penetrates
        assert found.z @ u < 1e-9  # it dissipates
        assert found.residual > 1e-3
        assert not found.success
        assert found.status is Status.ITERATION_LIMIT
        assert (found.iterations, found.info["qps"]) == (1, 2)


def test_algorithm_3_is_exact_and_says_so_where_nothing_slips() -> None:
    problem = friction(np.eye(3), [-1.0, 0.1, 0.0], [0.5], cone="polygon", directions=4)
    found = solve(problem, AnitescuHart(algorithm=3), tolerance=1e-9)
    assert found.success
    assert np.abs(problem.velocity(found.z)).max() < 1e-9


@pytest.mark.parametrize("algorithm", [1, 2])
def test_two_cycle_is_named_and_relaxation_cures_it(algorithm: Any) -> None:
    problem = contact(*CYCLING)
    found = solve(problem, AnitescuHart(algorithm=algorithm, acceleration="none", row_slack=None))
    assert found.status is Status.STALLED
    assert found.info["finding"].startswith("two-cycle")
    one, other = found.info["cycle"]
    assert np.linalg.norm(one - other) > 0.1
    damped = solve(problem, AnitescuHart(acceleration="none", relaxation=0.5), tolerance=1e-9)
    assert damped.success
    assert problem.velocity(damped.z)[1] == pytest.approx(1.8, abs=1e-8)


def test_slow_convergence_is_not_mistaken_for_a_cycle() -> None:
    found = solve(contact(26.0, 25.0, 26.0, -1.0, 1.0, 0.55), AnitescuHart(acceleration="none"))
    assert found.status is Status.ITERATION_LIMIT
    assert "finding" not in found.info
    assert found.info["factor"] == pytest.approx(0.9245876, abs=1e-3)


def test_stationary_velocity_is_not_evidence() -> None:
    """Stopped by a coarse velocity tolerance, the run must still be judged by the residual."""
    found = solve(contact(1.6, 1.2, 3.4, -1.0, 90.0, 1.3), AnitescuHart(acceleration="none", velocity_tolerance=0.1))
    assert found.info["increments"][-1] <= 0.1
    assert not found.success


def test_round_cones_by_algorithm_1() -> None:
    problem = box_stack(3, kick=0.3, seed=2)
    found = solve(problem, AnitescuHart(), tolerance=1e-9)
    assert found.success
    other = solve(problem, FrictionAuto(), tolerance=1e-11)
    np.testing.assert_allclose(problem.velocity(found.z), problem.velocity(other.z), atol=1e-6)


def test_spatial_polygons_by_newton() -> None:
    """Bodies in space with a polygon turned against the frame: every mode of the response is met."""
    given = box_stack(3, kick=0.5, seed=4)
    problem = FrictionProblem(given.W, given.b, given.mu, cone="polygon", directions=6, rotation=0.2)
    found = solve(problem, AnitescuHart(), tolerance=1e-10)
    assert found.success
    assert found.iterations < 15


@pytest.mark.skipif(not is_installed(), reason="clarabel (extra qp) is not installed")
def test_back_ends_agree() -> None:
    problem, change = gauss(4, 0.3)
    one, other = (
        solve(problem, AnitescuHart(acceleration="none", qp=qp), tolerance=1e-9) for qp in (ProximalQP(), Clarabel())
    )
    assert one.iterations == other.iterations
    np.testing.assert_allclose(change(one.z), change(other.z), atol=1e-8)


def test_a_guess_changes_the_time_and_not_the_answer_of_algorithm_3() -> None:
    problem, change = gauss(3, 0.4)
    cold = solve(problem, AnitescuHart(algorithm=3))
    rough = np.abs(np.random.default_rng(0).normal(size=problem.size))
    for start in (rough, cold.z):
        warm = solve(problem, AnitescuHart(algorithm=3), start=start)
        np.testing.assert_allclose(change(warm.z), change(cold.z), atol=1e-8)
    assert warm.info["factorisations"] < cold.info["factorisations"]


def test_a_guess_saves_factorisations_in_the_first_relaxation() -> None:
    problem = gauss(3, 0.4).problem
    only = AnitescuHart(acceleration="none", max_iterations=1)
    cold = solve(problem, only)
    warm = solve(problem, only, start=cold.z)
    assert warm.info["factorisations"] < 0.5 * cold.info["factorisations"]


def test_friction_rows_of_contacts_that_open_are_left_out() -> None:
    """Decided by the slack of the velocity of P1; with all rows some contact that opens would be held by friction."""
    held: dict[float | None, float] = {1e-5: 0.0, None: 0.0}
    for seed in range(10):
        problem = gauss(seed, 0.5).problem
        first = first_relaxation(problem)
        u = problem.velocity(first.impulse(solve(first.qp, tolerance=1e-12).z))
        opens = u[::3] - problem.mu * slip_speed(problem, u) > 1e-5
        for row_slack in (1e-5, None):
            p = solve(problem, AnitescuHart(algorithm=3, row_slack=row_slack)).z.reshape(-1, 3)
            held[row_slack] = max(held[row_slack], float(np.abs(p[opens, 1:]).max(initial=0.0)))
    assert held[1e-5] == 0.0
    assert held[None] > 1e-3


@pytest.mark.parametrize("sides", [0, 5])
def test_newton_blocks_solve_the_linearised_law(sides: int) -> None:
    """S = C rho D and g = -C (p - R), C = (I - D + eps D)^-1, with R and D = R' found by geometry and differences."""
    r = np.random.default_rng(sides)
    n_c, eps, tiny = 400, 0.3, 1e-6
    p, u = r.normal(size=(n_c, 3)) + np.array([1.0, 0.0, 0.0]), r.normal(size=(n_c, 3))
    mu, rho = r.uniform(0.2, 1.0, n_c), r.uniform(0.5, 2.0, n_c)
    response, slope = _response(p - rho[:, None] * u, mu, sides, tiny)
    S, g = np.empty((n_c, 3, 3)), np.empty((n_c, 3))
    newton_blocks(p, u, mu, rho, sides, 0.3, eps, S, g)
    C = np.linalg.inv(np.eye(3) - slope + eps * slope)
    kinks = np.abs(slope).max(axis=(1, 2)) > 1.5  # a difference across a kink says nothing
    assert kinks.mean() < 0.01
    np.testing.assert_allclose(S[~kinks], (rho[:, None, None] * C @ slope)[~kinks], atol=1e-3)
    np.testing.assert_allclose(g[~kinks], -np.einsum("cij,cj->ci", C, p - response)[~kinks], atol=1e-3)


def _response(t: Array, mu: Array, sides: int, tiny: float) -> tuple[Array, Array]:
    """The law R by minimisation over the vertices or the disc, and its central differences."""

    def project(t: Array) -> Array:
        n = np.maximum(t[:, 0], 0.0)
        out = np.zeros_like(t)
        out[:, 0] = n
        for c in range(t.shape[0]):
            out[c, 1:] = _nearest(t[c, 1:], mu[c] * n[c], sides)
        return out

    slope = np.empty((t.shape[0], 3, 3))
    for j in range(3):
        step = np.zeros(3)
        step[j] = tiny
        slope[:, :, j] = (project(t + step) - project(t - step)) / (2.0 * tiny)
    return project(t), slope


def _nearest(t: Array, radius: float, sides: int) -> Array:
    """Nearest point of a disc, or of a polygon by trying the inside, every edge and every vertex."""
    if radius == 0.0:
        return np.zeros(2)
    if sides == 0:
        length = float(np.linalg.norm(t))
        return t if length <= radius else radius / length * t
    angle = 0.3 + 2.0 * np.pi * np.arange(sides + 1) / sides
    corner = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    edge = np.diff(corner, axis=0)
    outside = edge[:, 1] * (t[0] - corner[:-1, 0]) - edge[:, 0] * (t[1] - corner[:-1, 1])
    if outside.max() <= 0.0:
        return t
    along = np.clip(((t - corner[:-1]) * edge).sum(axis=1) / np.maximum((edge**2).sum(axis=1), 1e-300), 0.0, 1.0)
    points = corner[:-1] + along[:, None] * edge
    nearest: Array = points[np.argmin(((points - t) ** 2).sum(axis=1))]
    return nearest


def test_the_solution_of_a_neighbouring_problem_saves_factorisations() -> None:
    problem = box_stack(4, kick=0.3, seed=5)
    first = solve(problem, AnitescuHart(), tolerance=1e-9)
    near = FrictionProblem(problem.W, problem.b * 1.001, problem.mu)
    warm = solve(near, AnitescuHart(), tolerance=1e-9, start=first.z)
    assert warm.success
    assert warm.info["factorisations"] < 0.5 * first.info["factorisations"]


# --- limits and bad input ----------------------------------------------------


def test_without_contacts_there_is_nothing_to_do() -> None:
    found = solve(FrictionProblem(np.zeros((0, 0)), np.zeros(0), np.zeros(0), dim=2), AnitescuHart())
    assert found.success
    assert found.z.size == 0


def test_without_friction_the_first_relaxation_is_the_solution() -> None:
    problem = gauss(0, 0.0).problem
    found = solve(problem, AnitescuHart(acceleration="none"))
    assert found.success
    assert found.iterations == 1
    assert np.abs(found.z.reshape(-1, 3)[:, 1:]).max() == 0.0


def test_closing_gaps_between_two_walls_are_proved_infeasible() -> None:
    """A body 1 m/s too thick for its slot: both normal speeds would have to be positive."""
    W = np.array([[1.0, 0, -1.0, 0], [0, 1.0, 0, 1.0], [-1.0, 0, 1.0, 0], [0, 1.0, 0, 1.0]])
    problem = friction(W, [-1.0, 0.0, -1.0, 0.0], [0.3, 0.3], dim=2, cone="polygon")
    found = solve(problem, AnitescuHart())
    assert not found.success
    assert "infeasible" in found.info["finding"]
    w = found.info["certificate"]
    rows = first_relaxation(problem).qp
    assert w.min() >= 0.0
    assert np.abs(rows.C.T @ w).max() < 1e-6
    assert rows.c @ w > 0.1


def test_unsymmetric_problems_have_no_relaxation() -> None:
    problem = friction(np.array([[1.0, 0.5], [0.0, 1.0]]), [-1.0, 1.0], [0.3], dim=2)
    assert solve(problem, AnitescuHart()).status is Status.NOT_APPLICABLE
    with pytest.raises(InputError, match="not symmetric"):
        first_relaxation(problem)


def test_algorithm_2_does_not_pretend_to_take_round_cones() -> None:
    found = solve(box_stack(1, kick=0.1), AnitescuHart(algorithm=2))
    assert found.status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": 4}, "algorithm is 4"),
        ({"relaxation": 0.0}, "relaxation is 0.0"),
        ({"relaxation": 1.5}, "relaxation is 1.5"),
        ({"acceleration": "magic"}, "acceleration is 'magic'"),
    ],
)
def test_bad_settings_are_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        AnitescuHart(**options)


def test_negative_slip_is_refused() -> None:
    with pytest.raises(InputError, match=r"slip of contact 0 is -0\.1"):
        second_relaxation(contact(*CYCLING), [-0.1])


def test_factor_rule() -> None:
    assert np.isnan(linear_factor([1.0, 0.1], 1e-9))
    assert linear_factor([1.0, 0.5, 0.25, 1e-12], 1e-9) == pytest.approx(0.5)
    assert linear_factor([9.0, 9.0, 9.0, 1.0, 0.5, 0.25, 0.125, 0.0625], 1e-9) == pytest.approx(0.5)
