"""What is called solved is solved: points that residuals alone would pass, and problems without solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.verdict_families import tail_along_a_parabola

from signorini._arrays import Array
from signorini.problems import LCP, MCP, ConvexQP, FrictionProblem, MixedLCP
from signorini.solvers import Clarabel, JosephyNewton, SemismoothNewton, Status, solve
from signorini.solvers.qp_clarabel import is_installed


@pytest.mark.parametrize(
    "F",
    [
        lambda x: -1e6 / (1.0 + x),
        lambda x: -1e3 / (1.0 + x) ** 2,
        lambda x: -1e3 * np.exp(-x),
        lambda x: np.tanh(x) - 1.0,
        lambda x: np.arctan(x) - 0.5 * np.pi,
        lambda x: x - np.sqrt(x * x + 1.0),
        lambda x: -1.0 / np.log(2.0 + x),
    ],
)
@pytest.mark.parametrize("start", [1.0, 300.0])
def test_functions_that_decay_have_no_solution(F: Callable[[Array], Array], start: float) -> None:
    """They come as near to zero as one likes, or to zero by rounding, and have no root."""
    solution = solve(MCP(F, x0=[start]), SemismoothNewton())
    assert not solution.success


def test_one_that_decays_is_seen_beside_others_of_any_size() -> None:
    """The unknowns are x_1 = 1e5 and one that would have to go to infinity; also mixed, so that J is full."""
    for mix in (np.eye(2), np.array([[1.0, 0.5], [-2.0, 1.0]])):

        def F(x: Array, mix: Array = mix) -> Array:  # noqa: N802
            return np.asarray(mix @ np.array([x[0] - 1e5, -5.0 * np.exp(-x[1])]))

        problem = MCP(F, lower=-np.inf, x0=[1.0, 1.0])
        assert not solve(problem, SemismoothNewton()).success
        assert not problem.credible(np.array([1e5, 40.0]), 1e-10)


@pytest.mark.parametrize(
    ("F", "x", "start"),
    [
        (lambda x: -np.exp(-1e5 * x), 3e-4, 0.0),  # Newton steps of 1e-5
        (lambda x: -np.exp(-1e5 * x), 0.01, 0.0),  # rounded to zero
        (lambda x: -np.exp(-((1e5 * x) ** 2)), 6.1e-5, 1e-6),
        (lambda x: 5e6 * x - np.sqrt((5e6 * x) ** 2 + 5e5), 7.7e6, 0.0),
    ],
)
def test_functions_that_decay_are_seen_in_any_units(F: Callable[[Array], Array], x: float, start: float) -> None:
    problem, point = MCP(F, x0=[start]), np.array([x])
    assert problem.residual(point) <= 1e-10
    assert not problem.credible(point, 1e-10)


@pytest.mark.parametrize("bent", [np.arctan, lambda t: np.log(1.0 + t * t)])
def test_functions_that_decay_along_a_curve(bent: Callable[[Any], Any]) -> None:
    """The second unknown follows the one that runs away."""
    problem = MCP(lambda x: np.array([np.tanh(x[0]) - 1.0, x[1] - bent(x[0])]), lower=-np.inf, x0=[0.0, 0.0])
    point = np.array([300.0, bent(300.0)])
    assert problem.residual(point) <= 1e-10
    assert not problem.credible(point, 1e-10)


def test_a_tail_across_unknowns_that_are_small_by_chance() -> None:
    """F decays along (1, 1)/sqrt(2), by which the first unknown, beside the second, would hardly have moved."""
    problem = MCP(
        lambda x: np.array([-np.exp(-x[0] - x[1]), x[0] - x[1] + 800.0]), lower=-np.inf, x0=np.array([1.0, 1.0])
    )
    point = np.array([0.1, 800.1])
    assert problem.residual(point) <= 1e-10
    assert not problem.credible(point, 1e-10)


def test_rounding_beyond_a_tail_is_no_way_back() -> None:
    """A tail in every row, so that what lies beyond is rounding: its Newton steps point anywhere."""
    B = np.array([[-0.8, -2.05, 1.45], [1.37, -0.36, -0.33], [-2.69, 1.83, 0.42]])
    C = np.linalg.qr(np.array([[-0.06, 0.67, 0.74], [-0.9, 0.28, -0.33], [-0.43, -0.69, 0.59]]))[0]
    target = np.array([0.0, 154.5, -71.8])

    def F(x: Array) -> Array:  # noqa: N802
        u = C @ x
        G = u - target
        G[0] = -0.005 * np.exp(-((2.5 * u[0]) ** 2))
        return np.asarray(B @ G)

    for u in np.linspace(1.6, 2.2, 61):
        problem = MCP(F, lower=-np.inf, x0=np.zeros(3))
        assert not problem.credible(np.linalg.solve(C, np.array([u, 154.5, -71.8])), 1e-10)


@pytest.mark.parametrize("unit", [1e-15, 1e-12, 1e-9, 1e-6, 1.0, 1e6])
def test_unknowns_that_run_away_in_any_units(unit: float) -> None:
    """``x y = u`` and ``y = 0`` have no solution, ``1/(1 + (x/u)^4)`` no root; both come near."""
    product = MCP(lambda x: np.array([x[0] * x[1] / unit - 1.0, x[1]]), lower=-np.inf, x0=[unit, 1.0])
    bump = MCP(lambda x: 1.0 / (1.0 + (x / unit) ** 4), lower=-np.inf, x0=[unit])
    far = [1e3 * unit], [1e6 * unit], [1e90]  # the last beyond the range of numbers
    for problem, point in ((product, [unit / 2.0**-36, 2.0**-36]), *((bump, x) for x in far)):
        assert problem.residual(np.array(point)) <= 1e-10
        assert not problem.credible(np.array(point), 1e-10)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_what_misses_zero_by_less_than_the_tolerance_has_no_root(unit: float) -> None:
    """Rounding is far less than what is missing."""
    for F in (lambda x: 0.0 * x - 1e-11, lambda x: (x / unit - 1.0) ** 2 + 1e-12):
        problem, point = MCP(F, lower=-np.inf, x0=[3.0 * unit]), np.array([unit])
        assert problem.residual(point) <= 1e-10
        assert not problem.credible(point, 1e-10)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_roots_of_any_order_are_credible_in_any_units(unit: float) -> None:
    """Near the root, and on it; alone, and beside another unknown in every row."""
    for m in (1, 2, 3, 4):

        def power(x: Any, m: int = m) -> Any:
            return (x / unit - 3.0) ** m

        def both(x: Any, m: int = m) -> Any:
            return np.array([x[0] - 1.0 + power(x[1], m), x[0] - 1.0 - power(x[1], m)])

        alone = MCP(power, lower=-np.inf, x0=[4.0 * unit])
        mixed = MCP(both, lower=-np.inf, x0=[0.0, 4.0 * unit])
        for near in (3.0, 3.0 + 1e-11 ** (1.0 / m) * 2e-4):
            assert alone.credible(np.array([near * unit]), 1e-10)
            assert mixed.credible(np.array([1.0, near * unit]), 1e-10)


def test_numbers_beyond_the_range_stop_no_solver() -> None:
    """For negative sums of the unknowns F and its slopes overflow, and linear models of it cannot be posed."""
    problem = MCP(lambda x: np.array([-np.exp(-x[0] - x[1]), x[0] - x[1]]), lower=[0.0, -np.inf], x0=[1.0, 1.0])
    assert not solve(problem, JosephyNewton(), start=[0.0, -300.0]).success


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e7])
def test_roots_in_any_units_are_found(unit: float) -> None:
    for F in (lambda x: np.expm1(x / unit - 3.0), lambda x: np.tanh(x / unit - 3.0), lambda x: (x / unit - 3.0) ** 3):
        problem = MCP(F, lower=-np.inf, x0=[2.0 * unit])
        assert solve(problem).success


@pytest.mark.parametrize(
    ("F", "x"),
    [
        (lambda x: (x - 1.0) ** 2, 1.0),
        (lambda x: (x - 1.0) ** 2, 1.0 + 1e-6),
        (lambda x: (x - 1.0) ** 3, 1.0 + 1e-4),
        (lambda x: x - 1e11, 1e11),
        (lambda x: 1e-6 * (x - 1e11), 1e11),
        (lambda x: 0.0 * x, 3.0),
    ],
)
def test_roots_where_slopes_vanish_or_unknowns_are_large_are_credible(F: Callable[[Array], Array], x: float) -> None:
    problem, point = MCP(F, lower=-np.inf, x0=[2.0]), np.array([x])
    assert problem.residual(point) <= 1e-10
    assert problem.credible(point, 1e-10)


@pytest.mark.parametrize(
    ("F", "x0"),
    [
        (lambda x: -np.maximum(0.0, 1.0 - x), [0.0]),  # a plateau
        (lambda x: np.abs(x - 1.0), [2.0]),  # a kink
        (lambda x: np.full(2, x @ x - 1.0), [2.0, 1.0]),  # a circle
    ],
)
def test_solutions_that_no_newton_step_tells_are_solved_or_stalled(
    F: Callable[[Array], Array], x0: list[float]
) -> None:
    """They look like tails that were rounded away: whatever they are called, the residual is small."""
    solution = solve(MCP(F, lower=-np.inf, x0=x0))
    assert solution.status in (Status.SOLVED, Status.STALLED)
    assert solution.residual <= 1e-10


def test_roots_of_functions_that_round_more_than_their_slopes_say() -> None:
    """Beside a constant that is added and taken away F moves in leaps."""
    for F in (lambda x: (1e3 + np.exp(x)) - 1e3 - np.e, lambda x: (x * x + 1e4) - 1e4 - 0.3):
        assert solve(MCP(F, lower=-np.inf, x0=[0.5])).success


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_redundant_rows_are_credible(unit: float) -> None:
    """Beside a nonlinear row two that say the same of the difference of two unknowns."""

    def F(x: Array) -> Array:  # noqa: N802
        difference = (x[1] - x[2]) / unit - 3.0
        return np.array([np.expm1(x[0]) + difference, difference, -2.0 * difference])

    problem = MCP(F, lower=-np.inf, x0=[1.0, 0.0, 0.0])
    assert solve(problem).success
    assert problem.credible(np.array([0.0, 5.0 * unit, 2.0 * unit]), 1e-10)


def test_a_tail_along_a_curve_with_mixed_rows_is_not_solved() -> None:
    """In turned coordinates three unknowns follow powers of one, along which the rest decays in every row."""
    posed = tail_along_a_parabola(np.random.default_rng((20, 2, 592)))
    solution = solve(MCP(posed.F, lower=posed.lower, upper=posed.upper, x0=posed.x0), tolerance=1e-10)
    assert solution.status is Status.STALLED
    assert solution.residual <= 1e-10


def test_the_natural_map_does_not_round_f_away() -> None:
    """``x - (x - F)`` is 0 for F = -1e-6 beside x = 1e11."""
    problem = MCP(lambda x: np.full(1, -1e-6), x0=[1.0])
    assert problem.residual(np.array([1e11])) == 1e-6


def test_a_row_that_is_small_beside_others_counts() -> None:
    """At z = (1e12, 0) the second row is wrong by all of its 1."""
    problem = LCP(np.eye(2), [-1e12, -1.0])
    wrong, right = np.array([1e12, 0.0]), np.array([1e12, 1.0])
    assert problem.residual(wrong) <= 1e-11
    assert not problem.credible(wrong, 1e-10)
    assert problem.credible(right, 1e-10)
    mixed = MixedLCP([[1.0]], [[0.0]], [[0.0]], [[1.0]], [-1e12], [-1.0])
    assert mixed.residual(wrong) <= 1e-11
    assert not mixed.credible(wrong, 1e-10)
    assert mixed.credible(right, 1e-10)


def test_unknowns_that_vanish_but_for_rounding_do_no_harm() -> None:
    problem = LCP([[2.0, 0.0, 0.0], [0.0, 1.0, -1.0], [0.0, 1.0, 3.0]], [-4.0, 0.0, 0.0])
    assert problem.credible(np.array([2.0, 1e-17, 0.0]), 1e-10)


def test_a_solution_beyond_the_range_of_numbers_is_not_denied() -> None:
    """The solution is 1e320: no proof that there is none."""
    solution = solve(LCP([[1e-320]], [-1.0]))
    assert solution.status not in (Status.SOLVED, Status.NO_SOLUTION)


def test_conditions_of_a_qp_count_one_by_one() -> None:
    """P = diag(1e12, 1): the second unknown may be anything as far as the largest force sees."""
    problem = ConvexQP(np.diag([1e12, 1.0]), np.array([-1e12, -1.0]), C=np.eye(2), c=np.zeros(2))
    wrong, right = np.array([1.0, 6.6, 0.0, 0.0]), np.array([1.0, 1.0, 0.0, 0.0])
    assert problem.residual(wrong) <= 1e-10
    assert not problem.credible(wrong, 1e-10)
    assert problem.credible(right, 1e-10)


def test_runaway_multipliers_of_a_cone_programme_are_refused() -> None:
    """``x_0 <= -1`` and ``x_0 >= |x_1|`` contradict each other; w = t (1, 1, 0) balances forces for any t."""
    C = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    problem = ConvexQP(np.eye(2), np.zeros(2), C=C, c=[1.0, 0.0, 0.0], cones=(2,))
    z = np.array([-0.5, 0.0, 1e12, 1e12 - 0.5, 0.0])
    assert problem.residual(z) <= 1e-10
    assert not problem.credible(z, 1e-10)
    assert solve(problem).status is Status.NO_SOLUTION


@pytest.mark.skipif(not is_installed(), reason="needs clarabel")
def test_a_proof_that_proves_nothing_is_not_believed() -> None:
    """Clarabel calls the nearest point of x + y >= 2e9 infeasible."""
    solution = solve(ConvexQP(np.eye(2), np.zeros(2), C=[[1.0, 1.0]], c=[2e9]), Clarabel())
    assert solution.status is not Status.NO_SOLUTION
    np.testing.assert_allclose(solution.z[:2], 1e9, rtol=1e-8)


def pressed(impulse: float) -> tuple[FrictionProblem, Array]:
    """Two contacts that press a body from both sides, and its impulses: any great one keeps it at rest."""
    W = np.array([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0], [-1.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0]])
    problem = FrictionProblem(W, np.array([0.0, 1.0, 0.0, -1.0]), np.full(2, 0.5), dim=2)
    return problem, np.array([impulse, -0.5, impulse, 0.5])


def test_velocities_err_by_at_most_a_thousand_tolerances_of_the_load() -> None:
    """The tangential impulse is short by a part e: the velocity errs by e of the load, beside impulses of 1e6."""
    problem, p = pressed(1e6)
    for part, tolerance, solved in ((1e-5, 1e-10, False), (1e-8, 1e-10, True), (1e-5, 1e-7, True), (1e-3, 1e-7, False)):
        short = p.copy()
        short[1::2] *= 1.0 - part
        assert problem.residual(short) <= tolerance
        assert problem.credible(short, tolerance) is solved


def test_what_rounding_forbids_is_not_asked_of_velocities() -> None:
    """Beside impulses of 1e9 velocities are known to 2e-7, which is more than 1000 tolerances."""
    problem, p = pressed(1e9)
    p[1::2] *= 1.0 - 5e-7
    assert problem.credible(p, 1e-10)
    p[1::2] *= 1.0 - 5e-5
    assert not problem.credible(p, 1e-10)


@pytest.mark.parametrize(
    "problem",
    [
        LCP(np.zeros((0, 0)), []),
        LCP([[1e300, 1e300], [1e300, -1e300]], [-1e300, -1e-300]),
        MCP(lambda x: np.exp(x * x) - 1e308, x0=[20.0]),
        MCP(lambda x: np.full(1, np.nan), x0=[20.0]),
        MCP(lambda x: x, x0=np.zeros(0)),
        FrictionProblem(np.zeros((0, 0)), np.zeros(0), np.zeros(0)),
        FrictionProblem(np.diag([1e200, 1e-200, 1e200]), np.array([-1e100, 1e-100, 0.0]), np.full(1, 0.5)),
    ],
)
def test_nothing_is_printed_and_nothing_raised(problem: Any, capfd: pytest.CaptureFixture[str]) -> None:
    """LAPACK writes to the standard output by itself where it is shown empty matrices."""
    solve(problem)
    assert capfd.readouterr() == ("", "")
