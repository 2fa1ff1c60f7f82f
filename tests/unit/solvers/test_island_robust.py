"""The robust solver of one island: mechanics of known answer, other solvers, and steps that were hard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini._jit import kernel, real_rows, reals, wholes
from signorini.problems.delassus import Delassus
from signorini.solvers.island_interior import interior_point
from signorini.solvers.island_robust import newton_nearby, prepare, solve_robustly
from signorini.solvers.island_table import (
    BEST,
    ENTRY,
    INTERIOR_STEPS,
    NEWTON_STEPS,
    WORK,
    WORK_COUNT,
    D,
    R,
)
from tests.friction_problems import box_stack, friction
from tests.unit.solvers.test_island_lu import AMPLE, CAPACITY, Given, Table, equilibrated

HARD = Path(__file__).parents[2] / "collections" / "data" / "hard_steps"
WEIGHT = 9.81 * 0.005  # velocity that gravity gives in a step of box_stack [m/s]
TIGHT = 1e-12  # residual asked for where answers are known
BUDGET = 600


@kernel
def _enter(w: Any, arguments: Any, scale: Any, p: Any) -> bool:
    if prepare(w, *arguments) <= 0:
        return False
    entry, d, work = real_rows(w, ENTRY), reals(w, D), wholes(w, WORK)
    for c in range(p.shape[0]):
        for i in range(3):
            entry[c, i] = p[c, i] / (d[c] * scale[0])
    for k in range(WORK_COUNT):
        work[k] = 0
    return True


def enter(table: Table, given: Given, p: Array) -> float:
    """Open an island with impulses p; return the scale of its velocities."""
    scale = np.zeros(1)
    assert _enter(table.w, (*given, AMPLE, scale), scale, p)
    return float(scale[0])


@kernel
def run(w: Any, tolerance: float, budget: int) -> float:
    return solve_robustly(w, tolerance, budget)


@kernel
def run_nearby(w: Any, tolerance: float) -> float:
    return newton_nearby(w, tolerance)


@kernel
def run_path(w: Any, best: float, tolerance: float, limit: int) -> float:
    return interior_point(w, 1e-2, best, tolerance, limit, 0.1)


def island_of(problem: sg.FrictionProblem, compliance: float = 0.0) -> Given:
    """Return a problem of bodies as an island: ``J L`` with ``L L^T = M^-1``, two blocks for each body that moves."""
    W = problem.W
    assert isinstance(W, Delassus)
    moves = np.abs(W.M_inv).sum(axis=(1, 2)) > 0.0
    node = np.cumsum(moves) - 1
    start, block, blocks = [0], [], []
    for bodies in zip(W.body_a, W.body_b, W.J_a, W.J_b, strict=True):
        for x, J in zip(bodies[:2], bodies[2:], strict=True):
            if moves[x]:
                G = J @ np.linalg.cholesky(W.M_inv[x])
                block += [2 * node[x], 2 * node[x] + 1]
                blocks += [G[:, :3], G[:, 3:]]
        start.append(len(block))
    n_c = problem.contact_count
    soft = np.full((n_c, 3), compliance)
    rho = 1.0 / (1.0 / problem.rho + compliance)
    load = problem.b.reshape(n_c, 3).copy()
    return Given(np.array(start), np.array(block), np.array(blocks), load, problem.mu, rho, soft, int(moves.sum()))


class Answer:
    """What the solver finds from some impulses."""

    def __init__(
        self, given: Given, start: Array | None = None, *, tolerance: float = TIGHT, budget: int = BUDGET
    ) -> None:
        n_c = given.mu.size
        self.table = Table(max(CAPACITY, 4000 * n_c))
        s = enter(self.table, given, np.zeros((n_c, 3)) if start is None else start)
        self.residual = run(self.table.w, tolerance, budget)
        self.p = self.table.reals(BEST) * (self.table.reals(D)[:, None] * s)
        self.steps = int(self.table.wholes(WORK)[[NEWTON_STEPS, INTERIOR_STEPS]].sum())
        assert self.table.guard_stands()


def solved(problem: sg.FrictionProblem, start: Array | None = None) -> tuple[Array, Array]:
    """Return impulses and velocities, (n_c, 3), which the problem itself accepts."""
    answer = Answer(island_of(problem), start)
    assert answer.residual <= TIGHT
    assert problem.residual(answer.p.reshape(-1)) <= 2.0 * TIGHT  # other sums, other rounding
    return answer.p, problem.velocity(answer.p.reshape(-1)).reshape(-1, 3)


# --- mechanics ---------------------------------------------------------------

# Of velocities: ten times the residual, in units of what gravity gives; impulses of unit masses are of that size too.
ROUNDING = 10.0 * TIGHT


def test_box_on_the_floor() -> None:
    """Four corners carry the weight, nothing moves, and the moments of the corners cancel."""
    p, u = solved(box_stack(1))
    np.testing.assert_allclose(u, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(p.sum(axis=0), [WEIGHT, 0.0, 0.0], atol=ROUNDING)
    x, y = np.array([[-0.5, -0.5, 0.5, 0.5], [-0.5, 0.5, -0.5, 0.5]])
    assert abs(p[:, 0] @ x) < ROUNDING
    assert abs(p[:, 0] @ y) < ROUNDING


def test_block_sticks_to_a_slope() -> None:
    """Below the angle of friction: the slope carries ``m g cos``, holds by ``m g sin``."""
    angle = 0.3
    p, u = solved(box_stack(1, tilt=angle, mu=0.5))
    np.testing.assert_allclose(u, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(p.sum(axis=0), [WEIGHT * np.cos(angle), -WEIGHT * np.sin(angle), 0.0], atol=ROUNDING)


@pytest.mark.parametrize("mu", [0.0, 0.2, 0.5])
def test_block_slides_down_a_slope(mu: float) -> None:
    """Above it: ``u = h g (sin - mu cos)`` at all corners, and no friction is another case of it."""
    angle = 0.6
    p, u = solved(box_stack(1, tilt=angle, mu=mu))
    speed = WEIGHT * (np.sin(angle) - mu * np.cos(angle))
    np.testing.assert_allclose(u, np.tile([0.0, speed, 0.0], (4, 1)), atol=ROUNDING)
    np.testing.assert_allclose(p.sum(axis=0), WEIGHT * np.cos(angle) * np.array([1.0, -mu, 0.0]), atol=ROUNDING)


@pytest.mark.parametrize("ratio", [1.0, 1e3])
def test_stack_of_two(ratio: float) -> None:
    """Each face carries what lies above it, also where that is a thousand times heavier than the box between."""
    p, u = solved(box_stack(2, ratio=ratio))
    np.testing.assert_allclose(u, 0.0, atol=ROUNDING * ratio)
    np.testing.assert_allclose(p[:4].sum(axis=0), [(1.0 + ratio) * WEIGHT, 0, 0], atol=ROUNDING * ratio)
    np.testing.assert_allclose(p[4:].sum(axis=0), [ratio * WEIGHT, 0, 0], atol=ROUNDING * ratio)


def test_contact_opens() -> None:
    """A box without friction that turns about y: two corners are stopped, the others go up.

    With the arm x = 1/2 and I = m/6, two corners that close at u meet the mass ``1/(1/m + x^2/I) = m/2.5``.
    """
    problem = box_stack(1, mu=0.0)
    spin = 3.0
    closing = problem.b.reshape(4, 3)[:, 0] - spin * np.array([-0.5, -0.5, 0.5, 0.5])
    b = np.column_stack([closing, np.zeros((4, 2))])
    p, u = solved(friction(problem.W, b.reshape(-1), np.zeros(4)))
    P = (WEIGHT + 0.5 * spin) / 2.5
    np.testing.assert_array_equal(p[:2], 0.0)
    assert p[2:, 0].sum() == pytest.approx(P, rel=1e-11)
    # 1 - x^2 m/I = -1/2 of the impulse arrives at the other end.
    np.testing.assert_allclose(u[:, 0], [0.5 * spin - WEIGHT - 0.5 * P] * 2 + [0.0] * 2, atol=ROUNDING * spin)


def test_box_that_leaves_is_let_go() -> None:
    """All contacts open: no impulses at all, from wherever one starts."""
    problem = box_stack(1)
    b = np.tile([0.1, 0.05, 0.0], 4)
    p, _ = solved(friction(problem.W, b, problem.mu), np.ones((4, 3)))
    np.testing.assert_allclose(p, 0.0, atol=1e-13)


@pytest.mark.parametrize("compliance", [0.01, 1.0])
def test_compliance(compliance: float) -> None:
    """Four springs in parallel: ``P (1/m + alpha/4) = g h``, in equal parts; the same as alpha on the diagonal of W."""
    problem = box_stack(1)
    answer = Answer(island_of(problem, compliance))
    P = WEIGHT / (1.0 + compliance / 4.0)
    np.testing.assert_allclose(answer.p, np.tile([P / 4.0, 0.0, 0.0], (4, 1)), atol=1e-10 * P)
    soft = friction(problem.dense() + compliance * np.eye(12), problem.b, problem.mu)
    assert answer.residual <= TIGHT
    assert soft.residual(answer.p.reshape(-1)) <= 2.0 * TIGHT


# --- other solvers -----------------------------------------------------------


def loose_problem(seed: int, contacts: int) -> tuple[Given, sg.FrictionProblem]:
    """Return a problem of so many free nodes, and so little friction, that its solution is unique."""
    rng = np.random.default_rng(seed)
    nodes = contacts  # 6 freedoms for 3 rows
    touches = [rng.choice(nodes, 2, replace=False) for _ in range(contacts)]
    block = np.array([2 * x + k for touched in touches for x in touched for k in (0, 1)])
    mu = np.where(rng.random(contacts) < 0.2, 0.0, rng.uniform(0.0, 0.3, contacts))
    b = rng.normal(size=(contacts, 3)) - np.array([1.0, 0.0, 0.0])
    blocks, start, soft = rng.normal(size=(block.size, 3, 3)), np.arange(0, block.size + 1, 4), np.zeros((contacts, 3))
    given = Given(start, block, blocks, b, mu, np.ones(contacts), soft, nodes)
    G = equilibrated(given._replace(mu=np.ones(contacts)))  # all rows, as they are
    problem = friction(G @ G.T, b.reshape(-1), mu)
    return given._replace(rho=problem.rho), problem


@pytest.mark.parametrize("seed", range(6))
def test_unique_solution_is_that_of_the_default_call(seed: int) -> None:
    given, problem = loose_problem(seed, 4 + 3 * seed)
    answer = Answer(given)
    assert answer.residual <= TIGHT
    assert problem.residual(answer.p.reshape(-1)) <= 2.0 * TIGHT
    expected = sg.solve(problem)
    assert expected.success
    np.testing.assert_allclose(answer.p.reshape(-1), expected.z, rtol=0, atol=1e-7 * np.abs(expected.z).max())


STACKS = {
    "rests": box_stack(3),
    "sticks": box_stack(3, tilt=0.3),
    "slides": box_stack(2, tilt=0.6),
    "heavy": box_stack(3, ratio=100.0),
    "alternates": box_stack(4, ratio=10.0, heavy="odd"),
    "kicked": box_stack(3, kick=0.1, seed=1, mu=0.0),
    "kicked hard": box_stack(4, kick=1.0, seed=2, mu=0.0),
}


@pytest.mark.parametrize("name", STACKS)
def test_velocity_does_not_depend_on_the_start(name: str) -> None:
    """Impulses of a stack are not unique, its velocity is: from anywhere, and by the default call.

    Not so where faces slide and turn on each other: then friction depends on how the pressure is shared.
    """
    problem = STACKS[name]
    expected = sg.solve(problem)
    assert expected.success
    scale = np.abs(problem.b).max()
    u = problem.velocity(expected.z).reshape(-1, 3)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        start = rng.normal(size=u.shape) * scale * 10.0**seed * 0.01
        start[problem.mu == 0.0, 1:] = 0.0  # as sweeps leave them: there are no rows to correct these by
        np.testing.assert_allclose(solved(problem, start)[1], u, rtol=0, atol=1e-7 * scale * problem.rho.max())


def test_answer_is_the_best_point_and_its_residual() -> None:
    """However many steps: what is returned is the residual of what is returned, and never worse than the start."""
    problem = box_stack(4, kick=1.0, seed=3, ratio=100.0)
    given, start = island_of(problem), np.full((16, 3), 0.1)
    worst = problem.residual(start.reshape(-1))
    for budget in (0, 1, 2, 5, 20, BUDGET):
        answer = Answer(given, start, budget=budget)
        assert answer.residual == pytest.approx(problem.residual(answer.p.reshape(-1)), rel=1e-3, abs=1e-15)
        assert answer.residual <= worst * (1.0 + 1e-12)
        assert (answer.steps == 0) == (budget == 0)
        worst = answer.residual
    assert worst <= TIGHT


def test_runs_repeat_bit_for_bit() -> None:
    """In a new table and in one that was used, with the same count of factorisations."""
    given = island_of(box_stack(4, kick=1.0, seed=3, ratio=100.0))
    first, second = Answer(given), Answer(given)
    assert first.p.tobytes() == second.p.tobytes()
    s = enter(first.table, given, np.zeros((16, 3)))
    run(first.table.w, TIGHT, BUDGET)
    again = first.table.reals(BEST) * (first.table.reals(D)[:, None] * s)
    assert again.tobytes() == second.p.tobytes()
    assert first.table.wholes(WORK)[:2].sum() == second.steps


def test_start_that_is_no_number_ends_at_once() -> None:
    answer = Answer(island_of(box_stack(1)), np.full((4, 3), np.nan))
    assert answer.residual == np.inf
    assert answer.steps == 0


def test_a_few_steps_from_nearby() -> None:
    """A thousandth from a solution Newton's steps end it; far away they give up early, and are not worse."""
    problem = box_stack(3, kick=0.1, seed=1)
    given = island_of(problem)
    p = Answer(given).p
    rng = np.random.default_rng(0)
    for start, near in (
        (p + 1e-3 * np.abs(p).max() * rng.normal(size=p.shape), True),
        (100.0 * np.ones_like(p), False),
    ):
        table = Table()
        s = enter(table, given, start)
        residual = run_nearby(table.w, 1e-9)
        found = table.reals(BEST) * (table.reals(D)[:, None] * s)
        assert residual == pytest.approx(problem.residual(found.reshape(-1)), rel=1e-3, abs=1e-15)
        assert residual <= problem.residual(start.reshape(-1)) * (1.0 + 1e-12)
        assert table.wholes(WORK)[NEWTON_STEPS] <= 8
        assert residual <= 1e-9 or not near


def test_path_tells_where_it_ended() -> None:
    """Newton goes on from there where the path found nothing better: a point inside all cones, other than the start."""
    problem = box_stack(3)
    table, given = Table(), island_of(problem)
    p = np.zeros((problem.contact_count, 3))
    enter(table, given, p)
    table.reals(R)[:] = np.nan
    assert run_path(table.w, 1e-12, 1e-13, 3) == 1e-12  # three steps better nothing
    r = table.reals(R)
    assert np.all(r[:, 0] > 0.0)
    assert np.all(np.hypot(r[:, 1], r[:, 2]) < problem.mu * r[:, 0])


# --- recorded problems -------------------------------------------------------


@pytest.mark.compiled_only
@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("name", ["bin27", "tower12_fall", "jenga10_fall"])
def test_recorded_step(name: str, *, warm: bool) -> None:
    """From where the sweeps gave up, and from nothing, to the tolerance of the engine. Origin: README of the data."""
    with np.load(HARD / f"{name}.npz") as z:
        W = Delassus(z["body_a"], z["body_b"], z["J_a"], z["J_b"], z["M_inv"])
        problem, swept = sg.FrictionProblem(W, z["b"].reshape(-1), z["mu"]), z["swept"]
    assert problem.residual(swept.reshape(-1)) > 1e-6
    answer = Answer(island_of(problem), swept if warm else None, tolerance=1e-6)
    assert answer.residual <= 1e-6
    assert problem.residual(answer.p.reshape(-1)) <= 1e-6
