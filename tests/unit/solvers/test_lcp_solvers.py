"""The other solvers of the LCP, each on problems solved by hand and at the edge of what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from signorini.problems import LCP, MixedLCP
from signorini.solvers import (
    PGS,
    Control,
    Enumerate,
    InteriorPointLCP,
    Lemke,
    LinearAuto,
    MixedInteger,
    PrincipalPivoting,
    SemismoothNewton,
    Solver,
    Status,
    run,
    solve,
)
from signorini.solvers.certificate import infeasibility_certificate, proves_no_solution
from tests import complementarity_problems as classics

ALL: tuple[Solver, ...] = (
    LinearAuto(),
    Lemke(),
    PGS(),
    PGS(omega=1.4),
    PrincipalPivoting(),
    InteriorPointLCP(),
    SemismoothNewton(),
    Enumerate(),
    MixedInteger(),
)


def laplacian(n: int) -> LCP:
    """A string pressed against an obstacle: symmetric positive definite, tridiagonal; both kinds of pairs occur."""
    M = classics.bands(n, -1.0, 2.0, -1.0)
    x = np.arange(1, n + 1) / (n + 1)
    return LCP(M, np.where(np.abs(x - 0.5) < 0.3, -0.01, 0.02))


@pytest.mark.parametrize("solver", ALL, ids=lambda s: f"{type(s).__name__}{getattr(s, 'omega', '')}")
@pytest.mark.parametrize("dense", [False, True])
def test_symmetric_positive_definite_problem(solver: Solver, dense: bool) -> None:
    """Every solver promises this class. Equations are checked one by one."""
    problem = laplacian(10)
    if dense:
        problem = LCP(sparse.csr_array(problem.M).toarray(), problem.q)
    solution = run(solver, problem, Control())
    assert solution.status is Status.SOLVED
    z = solution.z
    w = problem.slack(z)
    assert z.min() >= 0.0
    assert w.min() >= -1e-12
    assert np.abs(z * w).max() <= 1e-12
    assert z.max() > 1e-3
    assert w.max() > 1e-3


@pytest.mark.parametrize("solver", ALL, ids=lambda s: f"{type(s).__name__}{getattr(s, 'omega', '')}")
def test_two_by_two_by_hand(solver: Solver) -> None:
    """2 z1 + z2 = 5, z1 + 2 z2 = 6."""
    solution = run(solver, LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]), Control())
    np.testing.assert_allclose(solution.z, [4 / 3, 7 / 3], rtol=1e-12)


@pytest.mark.parametrize("solver", ALL, ids=lambda s: f"{type(s).__name__}{getattr(s, 'omega', '')}")
def test_status_never_claims_more_than_the_residual(solver: Solver) -> None:
    """Whatever the method believes: what is called solved meets the tolerance, and the residual is the problem's."""
    r = np.random.default_rng(0)
    A = r.standard_normal((8, 8))
    problem = LCP(A @ A.T + 0.1 * np.eye(8), -np.pi * r.random(8))
    M = np.array(problem.M)
    M[0, 1:] *= 1e9  # residuals of rounding are now above the tolerance for most methods
    problem = LCP(M, problem.q)
    solution = run(solver, problem, Control(tolerance=1e-14, time_limit=2.0))
    assert not solution.success or solution.residual <= 1e-14
    assert solution.residual == problem.residual(solution.z)


@pytest.mark.parametrize("solver", ALL, ids=lambda s: f"{type(s).__name__}{getattr(s, 'omega', '')}")
def test_empty_problem(solver: Solver) -> None:
    solution = run(solver, LCP(np.zeros((0, 0)), []), Control())
    assert solution.status is Status.SOLVED
    assert solution.z.size == 0


def test_gauss_seidel_cycles_on_the_cyclic_matrix_and_says_so() -> None:
    """The sweeps from 0 never settle there; principal pivoting does (P-matrix)."""
    problem, expected = classics.LINEAR["cyclic P"]
    assert PGS(max_iterations=500).solve(problem, Control()).status is Status.ITERATION_LIMIT
    assert PrincipalPivoting().solve(problem, Control()).z == pytest.approx(expected, rel=1e-14)


def test_gauss_seidel_needs_a_diagonal() -> None:
    assert PGS().solve(LCP([[0.0, 1.0], [-1.0, 0.0]], [-1.0, 1.0]), Control()).status is Status.NOT_APPLICABLE


def test_gauss_seidel_passes_over_empty_rows() -> None:
    solution = PGS().solve(LCP([[2.0, 0.0], [0.0, 0.0]], [-4.0, 0.0]), Control())
    np.testing.assert_allclose(solution.z, [2.0, 0.0])


def test_over_relaxation_is_faster_on_a_long_string() -> None:
    problem = laplacian(40)
    plain, over = (PGS(omega=omega, check_every=1).solve(problem, Control(tolerance=1e-4)) for omega in (1.0, 1.8))
    assert over.success
    assert over.iterations < plain.iterations


@pytest.mark.parametrize("n", [6, 10])
@pytest.mark.parametrize("patience", [0, 10])
def test_principal_pivoting_ends_on_every_p_matrix(n: int, patience: int) -> None:
    """Murty's matrix: with the least-index rule alone up to 2^n - 1 exchanges."""
    solution = PrincipalPivoting(patience=patience).solve(LCP(classics.murty(n), -np.ones(n)), Control())
    assert solution.status is Status.SOLVED
    assert solution.iterations < 2**n
    np.testing.assert_allclose(solution.z, np.eye(n)[-1], atol=1e-12)


def test_interior_point_takes_mixed_problems_as_they_are() -> None:
    """0 = 4 u + 2 v - 8, 0 <= v ⊥ -u + 2 v + 1 >= 0: u = 1.8, v = 0.4."""
    problem = MixedLCP([[4.0]], [[2.0]], [[-1.0]], [[2.0]], [-8.0], [1.0])
    solution = InteriorPointLCP().solve(problem, Control())
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.z, [1.8, 0.4], rtol=1e-12)


def test_interior_point_iterations_hardly_grow_with_size() -> None:
    """A hundred times more unknowns, of which half are active: pivoting would need a hundred times more steps."""
    counts = [InteriorPointLCP().solve(laplacian(n), Control()).iterations for n in (20, 2000)]
    assert counts[1] <= 10 * counts[0]


def test_enumeration_finds_all_solutions() -> None:
    """M = -I, q = (1, 1): each z_i is 0 or 1 independently."""
    solution = Enumerate().solve(LCP(-np.eye(2), [1.0, 1.0]), Control())
    assert solution.status is Status.SEVERAL_SOLUTIONS
    assert {tuple(np.round(z, 12)) for z in solution.info["solutions"]} == {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert not solution.info["continuum"]


def test_enumeration_knows_a_continuum() -> None:
    solution = Enumerate().solve(classics.LINE_OF_SOLUTIONS, Control())
    assert solution.status is Status.SEVERAL_SOLUTIONS
    assert solution.info["continuum"]
    for z in solution.info["solutions"]:
        assert z.sum() == pytest.approx(1.0, abs=1e-12)


def test_enumeration_proves_that_there_is_none() -> None:
    """Feasible (z = (2, 1) has w = (1.5, 1) > 0) but unsolvable: every one of the four cones is empty."""
    problem = LCP([[1.0, -1.0], [3.0, -4.0]], [0.5, -1.0])
    assert problem.slack(np.array([2.0, 1.0])).min() > 0.0
    solution = Enumerate().solve(problem, Control())
    assert solution.status is Status.NO_SOLUTION
    assert infeasibility_certificate(problem) is None


def test_enumeration_refuses_large_problems() -> None:
    assert Enumerate(max_size=3).solve(LCP(np.eye(4), -np.ones(4)), Control()).status is Status.NOT_APPLICABLE


def test_branch_and_bound_solves_what_pivoting_cannot() -> None:
    """A bimatrix game in the form on which Lemke's method always ends on a ray."""
    r = np.random.default_rng(3)
    A, B = r.random((2, 6, 6)) + 0.1
    problem = LCP(np.block([[np.zeros((6, 6)), A], [B.T, np.zeros((6, 6))]]), -np.ones(12))
    assert Lemke().solve(problem, Control()).status is Status.RAY
    solution = MixedInteger().solve(problem, Control())
    assert solution.status is Status.SOLVED
    x, y = solution.z[:6], solution.z[6:]
    assert (A @ y).min() >= 1.0 - 1e-12
    assert (B.T @ x).min() >= 1.0 - 1e-12
    assert np.abs(x * (A @ y - 1.0)).max() <= 1e-12


def test_certificates() -> None:
    problem = classics.isolated(0.1)
    y = np.array([0.0, 1.0, 1.0])  # M^T y = (0, 0, 0), q^T y = -0.1
    assert proves_no_solution(problem, y)
    assert not proves_no_solution(problem, -y)
    assert not proves_no_solution(problem, np.zeros(3))
    assert not proves_no_solution(classics.isolated(0.0), y)
    found = infeasibility_certificate(problem)
    assert found is not None
    assert proves_no_solution(problem, found)
    assert infeasibility_certificate(LCP([[1.0]], [-1.0])) is None


@pytest.mark.compiled_only  # plain NumPy scalars warn of the overflow that compiled ones pass over
def test_sweeps_that_diverge_are_a_status_not_a_warning() -> None:
    """Rows far from dominated by their diagonal: the unknowns grow without end."""
    problem = LCP([[1.0, -50.0], [-50.0, 1.0]], [-1.0, -1.0])
    solution = PGS().solve(problem, Control())
    assert not solution.success


def test_a_point_that_ran_away_is_not_a_solution() -> None:
    """At z = (1, t, 1) the second row is wrong by 1, yet the residual falls like 1 / t."""
    problem = LCP([[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [0.0, 0.0, -1.0])
    z = np.array([1.0, 1e12, 1.0])
    assert problem.residual(z) <= 1e-11
    assert not problem.credible(z, 1e-10)
    assert solve(problem).status is Status.NO_SOLUTION


def test_large_true_solutions_are_credible() -> None:
    """With z_1 - z_2 = 1 and 1e-6 z_2 = 1 the solution is a million times q, and right to rounding."""
    problem = LCP([[1.0, -1.0], [-1.0, 1.0 + 1e-6]], [-1.0, 0.0])
    solution = solve(problem)
    assert solution.success
    np.testing.assert_allclose(solution.z, [1e6 + 1.0, 1e6], rtol=1e-9)
