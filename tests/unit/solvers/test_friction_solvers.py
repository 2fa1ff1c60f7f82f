"""Solvers of the exact friction law on contacts whose answer is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from signorini.problems import Delassus, FrictionProblem
from signorini.solvers import (
    NSGS,
    AnitescuHart,
    Control,
    FrictionAuto,
    FrictionInteriorPoint,
    ProximalNewton,
    Status,
    solve,
)
from signorini.solvers.nsgs import judged
from signorini.solvers.solve import Solver
from tests.friction_problems import box_stack, friction, random_problem

solvers = pytest.mark.parametrize(
    "solver",
    [NSGS(), NSGS(acceleration=0), FrictionInteriorPoint(), ProximalNewton(), FrictionAuto()],
    ids=lambda s: type(s).__name__,
)
control = Control(tolerance=1e-12)
close = 1e-9  # the law is Lipschitz: a residual of 1e-12 leaves the impulses of one well-posed contact this near


@solvers
def test_stick(solver: Solver) -> None:
    """Rest is in reach: p = -b of a unit mass while |b_T| <= mu |b_n|."""
    solution = solver.solve(friction(np.eye(3), [-2.0, 0.3, -0.4], [0.3]), control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [2.0, -0.3, 0.4], atol=close)


@solvers
def test_slip(solver: Solver) -> None:
    """Friction mu p_n against the slip, (0.6, -0.8) here."""
    solution = solver.solve(friction(np.eye(3), [-2.0, 3.0, -4.0], [0.3]), control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [2.0, -0.36, 0.48], atol=close)


@solvers
def test_separation(solver: Solver) -> None:
    """A contact that opens by itself carries nothing."""
    solution = solver.solve(friction(np.eye(3), [2.0, 3.0, -4.0], [0.3]), control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, np.zeros(3), atol=close)


@solvers
def test_slip_that_loads_the_normal(solver: Solver) -> None:
    """W_nt couples: sliding in +t, p_t = -mu p_n, and u_n = (1 - 0.5 mu) p_n + b_n = 0.

    W = [[1, 0.5], [0.5, 1]] in the plane of n and t, mu = 0.4, b = (-1.6, 3): p_n = 2, u_t = 1 - 0.8 + 3 > 0.
    """
    W = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for dim in (2, 3):
        solution = solver.solve(
            friction(W[:dim, :dim].copy(), np.array([-1.6, 3.0, 0.0])[:dim], [0.4], dim=dim), control
        )
        assert solution.status is Status.SOLVED
        np.testing.assert_allclose(solution.z, [2.0, -0.8, 0.0][:dim], atol=close)


@solvers
def test_unsymmetric_contact(solver: Solver) -> None:
    """Only W_nt couples, not W_tn: p_n = 2 as before, u_t = -0.8 + 3 > 0."""
    W = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    solution = solver.solve(friction(W, [-1.6, 3.0, 0.0], [0.4]), control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [2.0, -0.8, 0.0], atol=close)


@solvers
@pytest.mark.parametrize("dim", [2, 3])
def test_no_friction(solver: Solver, dim: int) -> None:
    """Without friction u_n = 0 by the normal impulse alone, whatever the coupling; next to it a rough contact."""
    W = np.kron(np.eye(2), np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]])[:dim, :dim])
    b = np.concatenate([np.array([-4.0, 1.0, 5.0])[:dim], np.array([-2.0, -0.5, -0.1])[:dim]])
    solution = solver.solve(friction(W, b, [0.0, 1.0], dim=dim), control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [2.0, *[0.0] * (dim - 1), 1.0, *[0.0] * (dim - 1)], atol=close)


@solvers
def test_zero_rows(solver: Solver) -> None:
    """A contact between immovable bodies carries nothing; a planar mask leaves one tangent without answer.

    Second contact: no motion along o, none asked: slip along t as if planar.
    """
    W = np.zeros((6, 6))
    W[3, 3] = W[4, 4] = 1.0
    problem = friction(W, [1.0, 0.0, 0.0, -2.0, 3.0, 0.0], [0.5, 0.5])
    for guess in (None, np.ones(6)):
        solution = solver.solve(problem, Control(tolerance=1e-12, start=guess))
        assert solution.status is Status.SOLVED
        np.testing.assert_allclose(solution.z, [0.0, 0.0, 0.0, 2.0, -1.0, 0.0], atol=close)


@solvers
def test_tangent_that_cannot_answer(solver: Solver) -> None:
    """Slip along o at a given speed 3 that no impulse changes, none along t: friction against the slip only."""
    W = np.diag([1.0, 1.0, 0.0])
    solution = solver.solve(friction(W, [-2.0, 0.0, 3.0], [0.5]), control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [2.0, 0.0, -1.0], atol=close)


@solvers
def test_compliance(solver: Solver) -> None:
    """u_n + alpha p_n = 0: p_n = -b_n/(W_nn + alpha); friction follows it."""
    problem = friction(np.eye(3), [-2.0, 3.0, -4.0], [0.3], compliance=1.0)
    solution = solver.solve(problem, control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [1.0, -0.18, 0.24], atol=close)


@solvers
def test_box_on_a_slope(solver: Solver) -> None:
    """A box on four corners slides down with g h (sin a - mu cos a); below the friction angle it stays.

    The impulses are not unique (hyperstatic), the velocity is.
    """
    h, g = 0.005, 9.81
    for angle, mu in ((0.5, 0.3), (0.2, 0.3)):
        problem = box_stack(1, mu=mu, tilt=angle, h=h)
        solution = solver.solve(problem, control)
        assert solution.status is Status.SOLVED
        v = problem.W.velocity(solution.z)[1] + g * h * np.array([math.sin(angle), 0, -math.cos(angle), 0, 0, 0])  # type: ignore[union-attr]
        slide = max(0.0, g * h * (math.sin(angle) - mu * math.cos(angle)))
        np.testing.assert_allclose(v, [slide, 0, 0, 0, 0, 0], atol=1e-11)


@solvers
def test_no_contacts(solver: Solver) -> None:
    """Nothing to solve is solved."""
    solution = solver.solve(friction(np.zeros((0, 0)), [], []), control)
    assert solution.status is Status.SOLVED
    assert solution.z.shape == (0,)


@solvers
def test_infeasible_is_not_called_solved(solver: Solver) -> None:
    """Two immovable bodies that close at speed 1 have no answer: never "solved", never an exception."""
    solution = solver.solve(friction(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5]), control)
    assert not solution.success
    assert solution.residual > 0.1


def test_a_claim_is_not_believed() -> None:
    """What a method calls solved is judged by the problem."""
    problem = friction(np.eye(3), [-2.0, 3.0, -4.0], [0.3])
    for claimed in (Status.SOLVED, Status.STALLED):
        wrong = judged(problem, np.ones((1, 3)), control, claimed, 1, "a method", 0.0, [])
        assert wrong.status is Status.STALLED
        right = judged(problem, np.array([[2.0, -0.36, 0.48]]), control, claimed, 1, "a method", 0.0, [])
        assert right.status is Status.SOLVED


@solvers
def test_guess_that_is_the_answer(solver: Solver) -> None:
    """A warm start at the solution costs next to nothing and stays there."""
    problem = friction(np.eye(3), [-2.0, 3.0, -4.0], [0.3])
    exact = np.array([2.0, -0.36, 0.48])
    solution = solver.solve(problem, Control(tolerance=1e-12, start=exact))
    np.testing.assert_allclose(solution.z, exact, atol=close)
    if not isinstance(solver, FrictionInteriorPoint):
        assert solution.iterations <= 2


@solvers
def test_bad_guess_is_harmless(solver: Solver) -> None:
    """A guess with infinities is set aside."""
    problem = friction(np.eye(3), [-2.0, 3.0, -4.0], [0.3])
    solution = solver.solve(problem, Control(tolerance=1e-12, start=np.array([np.inf, np.nan, 0.0])))
    np.testing.assert_allclose(solution.z, [2.0, -0.36, 0.48], atol=close)


@pytest.mark.parametrize("solver", [NSGS(), FrictionInteriorPoint(), ProximalNewton()], ids=lambda s: type(s).__name__)
def test_polygon_is_refused(solver: Solver) -> None:
    """A solver of the exact cone says so, rather than solve another problem."""
    problem = friction(np.eye(3), [-2.0, 3.0, -4.0], [0.3], cone="polygon")
    assert solver.solve(problem, control).status is Status.NOT_APPLICABLE


@pytest.mark.parametrize(
    "solver",
    [NSGS(), FrictionInteriorPoint(), ProximalNewton(), AnitescuHart(), FrictionAuto()],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.parametrize("matrix", [True, False])
def test_compliance_is_part_of_the_law(solver: Solver, matrix: bool) -> None:
    """What is solved with compliance solves the rigid law of W with the compliance added to its normal diagonal."""
    stack = box_stack(2, kick=0.2)
    assert isinstance(stack.W, Delassus)
    W = stack.W.dense()
    alpha = 0.1 * W.diagonal()[::3]
    soft = FrictionProblem(W if matrix else stack.W, stack.b, stack.mu, compliance=alpha)
    solution = solver.solve(soft, Control(tolerance=1e-9))
    assert solution.success
    W = W + np.diag(np.column_stack([alpha, 0.0 * alpha, 0.0 * alpha]).reshape(-1))
    assert FrictionProblem(W, stack.b, stack.mu).residual(solution.z) <= 1.1e-9  # summed in another order
    assert stack.residual(solution.z) > 1e-3


@pytest.mark.compiled_only
@pytest.mark.parametrize(("count", "seed"), [(4, 1), (8, 2)])
def test_auto_needs_its_interior_point(count: int, seed: int) -> None:
    """Light and heavy boxes (1 : 1e6) in turn, set moving: sweeps and proximal Newton alone stay above 1e-9."""
    problem = box_stack(count, ratio=1e6, heavy="alternate", kick=0.05, seed=seed)
    solution = FrictionAuto().solve(problem)
    assert solution.success
    assert problem.residual(solution.z) <= 1e-10


@pytest.mark.compiled_only
def test_auto_sharpens_small_impulses() -> None:
    """A heavy box on light ones: |p| is all heavy body, yet the velocities of the light ones are right to 1e-6."""
    problem = box_stack(10, ratio=1e6, kick=0.01, seed=1)
    solution = FrictionAuto().solve(problem)
    assert solution.success
    assert problem.rel(solution.z) <= 1e-6


def test_polygon_by_auto() -> None:
    """A square rotated by 45 degrees: friction on the bisector is mu p_n cos 45 (S1 spec 7.2)."""
    problem = friction(np.eye(3), [-2.0, 3.0, 0.0], [0.3], cone="polygon", directions=4, rotation=math.pi / 4)
    solution = FrictionAuto().solve(problem, control)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [2.0, -0.6 * math.cos(math.pi / 4), 0.0], atol=close)


@pytest.mark.parametrize(
    "solver", [FrictionInteriorPoint(), ProximalNewton(), NSGS(), FrictionAuto()], ids=lambda s: type(s).__name__
)
def test_limits_are_kept(solver: Solver) -> None:
    """One iteration is not enough for a stack: the status says so and the residual is that of the point returned."""
    problem = box_stack(6, ratio=1000.0, kick=0.3, heavy="alternate")
    solution = solver.solve(problem, Control(tolerance=1e-13, max_iterations=1))
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.residual == problem.residual(solution.z)
    late = solver.solve(problem, Control(tolerance=1e-13, time_limit=0.0))
    assert late.status is Status.TIME_LIMIT


@solvers
def test_progress_is_told(solver: Solver) -> None:
    """The callback hears of iterations and falling residuals; history ends at the residual returned."""
    heard: list[tuple[int, float]] = []
    problem = random_problem(4, 6)
    solution = solver.solve(problem, Control(callback=lambda count, residual: heard.append((count, residual))))
    assert solution.success
    assert heard
    assert min(residual for _, residual in heard) <= 1e-10
    assert solution.history[-1][1] <= 1e-10


@pytest.mark.parametrize("ratio", [1.0, 1e3])
@pytest.mark.parametrize("heavy", ["top", "alternate"])
@pytest.mark.parametrize("kick", [0.0, 0.01, 1.0])
def test_ten_boxes(ratio: float, heavy: str, kick: float) -> None:
    """Ten boxes on one another, heavy on light: hyperstatic, 40 contacts on 60 degrees of freedom."""
    problem = box_stack(10, ratio=ratio, heavy=heavy, kick=kick)
    solution = FrictionAuto().solve(problem)
    assert solution.success
    assert problem.residual(solution.z) <= 1e-10
    if kick == 0.0:  # at rest: all weights are carried, nothing moves
        v = problem.W.velocity(solution.z)[1:]  # type: ignore[union-attr]
        np.testing.assert_allclose(v, [[0, 0, 9.81 * 0.005, 0, 0, 0]] * 10, atol=1e-8)


@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize("solver", [None, NSGS(), FrictionInteriorPoint(), ProximalNewton()])
def test_a_body_squeezed_between_two_walls_is_never_called_solved(solver: Solver | None, mu: float) -> None:
    """S1 spec 8: both walls penetrated by the same body has no solution; impulses that run away are none."""
    J = np.array(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]
    )
    problem = FrictionProblem(J @ J.T, np.array([-1.0, 0.0, 0.0, -1.0, 0.0, 0.0]), np.full(2, mu))
    assert not solve(problem, solver, tolerance=1e-10).success
