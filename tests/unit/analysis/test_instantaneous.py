"""The instantaneous problem of a few contacts against solutions found by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from signorini._arrays import Array
from signorini.analysis.answer import Answer
from signorini.analysis.instantaneous import Instantaneous
from signorini.analysis.instantaneous_solutions import find_solutions
from signorini.solvers import Status

PLANE = np.array([[1.0], [-1.0]])
SQUARE = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])


def posed(
    W: ArrayLike, b: ArrayLike, *, friction: float | None = None, tangents: int = 2, limit: tuple[float, ...] = ()
) -> Instantaneous:
    """Pose one contact that rolls with `friction`, or slides if that is None, and joints with dry friction."""
    A = np.array(W, dtype=float)
    rolling = np.zeros(0 if friction is None else 1, dtype=np.int64)
    return Instantaneous.scaled(
        A,
        np.array(b, dtype=float),
        A.T @ A,  # any measure of motion that vanishes where forces balance
        np.abs(np.diag(A)),
        rolling=rolling,
        friction=np.array([] if friction is None else [friction]),
        limit=np.array(limit),
        tangents=tangents,
    )


def forces(problem: Instantaneous, polygon: Array, *, exact: bool = True) -> tuple[Status, list[Array], Answer]:
    found = find_solutions(problem, polygon=polygon, exact=exact, tolerance=1e-10)
    assert found.residual <= 1e-10 or not found.forces
    return found.status, [problem.force_unit * x for x in found.forces], found.unique


SPHERE = np.diag([1.0, 3.5, 3.5])


@pytest.mark.parametrize(("exact", "directions"), [(True, SQUARE), (False, SQUARE)])
def test_a_sphere_that_is_pushed_sticks_or_slips(exact: bool, directions: Array) -> None:
    """a_T = 3.5 c_T + 1.4: sticks with c_T = -0.4 if mu c_n = 2 mu allows it, else slips with c_T = -2 mu."""
    for mu, c_t, a_t in ((0.3, -0.4, 0.0), (0.1, -0.2, 0.7)):
        problem = posed(SPHERE, [-2.0, 1.4, 0.0], friction=mu)
        status, (x,), unique = forces(problem, directions, exact=exact)
        assert status is Status.SOLVED
        assert unique is Answer.YES
        assert x == pytest.approx([2.0, c_t, 0.0], abs=1e-12)
        assert (SPHERE @ x + [-2.0, 1.4, 0.0])[1] == pytest.approx(a_t, abs=1e-12)


def test_the_disc_and_the_square_differ_between_directions() -> None:
    """Slip at 45 degrees: the disc opposes it with mu c_n, the square only with mu c_n cos 45."""
    b = np.array([-1.0, 2.0, 2.0])
    _, (round_,), _ = forces(posed(SPHERE, b, friction=0.2), SQUARE)
    _, (square,), _ = forces(posed(SPHERE, b, friction=0.2), SQUARE, exact=False)
    assert round_[1:] == pytest.approx([-0.2 * np.sqrt(0.5)] * 2, abs=1e-12)
    assert square[1:] == pytest.approx([-0.1, -0.1], abs=1e-12)


def test_a_contact_that_opens_has_no_force() -> None:
    for exact in (True, False):
        status, (x,), _ = forces(posed(SPHERE, [0.5, 1.4, 0.0], friction=0.3), SQUARE, exact=exact)
        assert status is Status.SOLVED
        assert x == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


def test_painleve_at_one_sliding_contact() -> None:
    """``0 <= c ⊥ A c + y >= 0``: A < 0 has no solution for y < 0 and the two c = 0, -y/A for y > 0."""
    assert forces(posed([[-0.2]], [-9.81], tangents=1), PLANE)[0] is Status.NO_SOLUTION
    status, found, unique = forces(posed([[-0.2]], [4.0], tangents=1), PLANE)
    assert status is Status.SEVERAL_SOLUTIONS
    assert unique is Answer.NO
    assert sorted(float(x[0]) for x in found) == pytest.approx([0.0, 20.0])


def test_a_rolling_contact_may_have_two_solutions_in_the_plane() -> None:
    """W = [[1, -2], [-2, 5]], b = (1, -3): opening (a_n = 1), or sticking with c = -W^-1 b = (1, 1) if mu >= 1.

    At mu = 2 a third one slips back: a_T >= 0, c_T = -2 c_n does not press (5 c_n + 1 > 0), and a_T <= 0,
    c_T = 2 c_n gives -3 c_n + 1 = 0, a_T = 8/3 - 3 < 0: c = (1/3, 2/3).
    """
    W, b = np.array([[1.0, -2.0], [-2.0, 5.0]]), np.array([1.0, -3.0])
    status, found, _ = forces(posed(W, b, friction=2.0, tangents=1), PLANE)
    assert status is Status.SEVERAL_SOLUTIONS
    expected = [[0.0, 0.0], [1.0 / 3.0, 2.0 / 3.0], [1.0, 1.0]]
    assert np.array(sorted(found, key=tuple)) == pytest.approx(np.array(expected), abs=1e-12)
    status, found, unique = forces(posed(W, b, friction=0.4, tangents=1), PLANE)
    assert status is Status.SOLVED
    assert unique is Answer.YES
    assert found[0] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_dry_friction_of_a_joint() -> None:
    """With a = 2 c + 3: at rest with c = -1.5 if the limit allows it, else c = -limit."""
    for limit, force in ((2.0, -1.5), (1.0, -1.0)):
        status, (x,), unique = forces(posed([[2.0]], [3.0], limit=(limit,), tangents=1), PLANE)
        assert status is Status.SOLVED
        assert unique is Answer.YES
        assert x == pytest.approx([force], abs=1e-12)


def test_a_joint_beside_a_contact_in_space() -> None:
    """The exact cone with a joint's bounded unknown beside it; both uncoupled, so both known."""
    W = np.diag([1.0, 3.5, 3.5, 2.0])
    _, (x,), _ = forces(posed(W, [-2.0, 1.4, 0.0, 3.0], friction=0.1, limit=(1.0,)), SQUARE)
    assert x == pytest.approx([2.0, -0.2, 0.0, -1.0], abs=1e-12)


def test_the_jacobian_of_the_exact_cone() -> None:
    r = np.random.default_rng(3)
    A = r.standard_normal((4, 4))
    problem = posed(A @ A.T + np.eye(4), r.standard_normal(4), friction=0.7, limit=(1.0,))
    assert problem.mcp(np.zeros(4)).jacobian_error(r.uniform(0.1, 1.0, 5)) < 1e-6


def test_the_residual_sees_each_part_of_the_law() -> None:
    """Zero at the solution; wrong normal force, friction beyond the disc, friction along the slip: all seen."""
    problem = posed(SPHERE, [-2.0, 1.4, 0.0], friction=0.1)
    unit = problem.force_unit
    assert problem.residual(np.array([2.0, -0.2, 0.0]) / unit) < 1e-15
    for wrong in ([1.9, -0.19, 0.0], [2.0, -0.3, 0.0], [2.0, 0.2, 0.0], [2.0, 0.0, 0.0], [-1.0, 0.0, 0.0]):
        assert problem.residual(np.array(wrong) / unit) > 1e-3
    assert problem.residual(np.array([np.nan, 0.0, 0.0])) == np.inf


def test_the_answer_does_not_depend_on_units() -> None:
    """In grams and millimetres forces are 1e6 times and accelerations 1e3 times as large."""
    b = np.array([-1.0, 2.0, 0.7])
    W = np.array([[1.0, 0.2, 0.1], [0.2, 3.0, 0.0], [0.1, 0.0, 4.0]])
    _, (x,), _ = forces(posed(W, b, friction=0.2), SQUARE)
    _, (y,), _ = forces(posed(1e-3 * W, 1e3 * b, friction=0.2), SQUARE)
    assert y == pytest.approx(1e6 * x, rel=1e-12)


def test_small_friction_proves_uniqueness_of_the_sphere() -> None:
    """The bound mu sqrt((W^-1)_nn lambda_max(W_TT)) < 1 is mu < 1/sqrt(3.5) = 0.5345 for the sphere."""
    for mu, proven in ((0.534, True), (0.535, False)):
        assert posed(SPHERE, [-1.0, 0.0, 0.0], friction=mu).unique_by_small_friction() is proven
    lopsided = SPHERE + np.array([[0.0, 0.1, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert not posed(lopsided, [-1.0, 0.0, 0.0], friction=0.1).unique_by_small_friction()


def test_forces_that_balance_are_not_determined() -> None:
    """Two contacts on one line share their load in any way: W has rank one, the motion is one solution."""
    W = np.ones((2, 2))
    problem = posed(W, [-3.0, -3.0], tangents=1)
    found = find_solutions(problem, polygon=PLANE, exact=True, tolerance=1e-10)
    assert found.status is Status.SOLVED
    assert (problem.force_unit * found.forces[0]).sum() == pytest.approx(3.0)
    assert not problem.forces_determined(found.forces[0])
    regular = posed(np.array([[1.0, 0.5], [0.5, 1.0]]), [-3.0, -3.0], tangents=1)
    (x,) = find_solutions(regular, polygon=PLANE, exact=True, tolerance=1e-10).forces
    assert regular.forces_determined(x)
