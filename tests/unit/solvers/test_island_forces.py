"""One force among many: least impulses by closed forms and by a conic programme; contacts that go on as before."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import block_diag

import signorini as sg
from signorini._arrays import Array
from signorini._jit import kernel
from signorini.problems.delassus import Delassus
from signorini.solvers.island_forces import HOLDS, OPENS, SLIPS, keep_modes, share_forces, steady_forces
from signorini.solvers.island_table import BEST, ENTRY, MODE, SHARING_STEPS, WORK, D
from tests.friction_problems import box_stack, corner_jacobian, friction
from tests.unit.solvers.test_island_lu import Given, Table, equilibrated
from tests.unit.solvers.test_island_robust import BUDGET, WEIGHT, enter, island_of, run

TOLERANCE = 1e-8  # residual at which impulses with which contacts go on are accepted


@kernel
def share(w: Any, best: float, tolerance: float) -> float:
    return share_forces(w, best, tolerance)


@kernel
def steady(w: Any, tolerance: float) -> float:
    return steady_forces(w, tolerance)


@kernel
def keep(w: Any, before: Any, gap_speed: Any, bears: Any, beyond: Any, s: float, tolerance: float) -> float:
    return keep_modes(w, before, gap_speed, bears, beyond, s, tolerance)


def legs(places: list[tuple[float, float]], *, middle: tuple[float, float] = (0.0, 0.0), mu: float = 0.5) -> Any:
    """Pose a step of a table of unit mass and inertia on legs at some places, its centre of mass one above `middle`."""
    n = len(places)
    arms = [np.array([x - middle[0], y - middle[1], -1.0]) for x, y in places]
    J = np.array([corner_jacobian(arm, 1.0) for arm in arms])
    M_inv = np.array([np.zeros((6, 6)), np.eye(6)])
    W = Delassus(np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64), np.zeros((n, 3, 6)), J, M_inv)
    b = np.einsum("cij,j->ci", J, [0.0, 0.0, -WEIGHT, 0.0, 0.0, 0.0])
    return friction(W, b.reshape(-1), np.full(n, mu))


class Kept:
    """Impulses with which contacts of a problem go on as before, from what is remembered of the last step."""

    def __init__(
        self,
        problem: sg.FrictionProblem,
        *,
        before: Array | None = None,
        bears: Array | None = None,
        beyond: Array | None = None,
    ) -> None:
        n_c = problem.contact_count
        nothing = np.zeros((n_c, 3))
        self.beyond = nothing.copy() if beyond is None else beyond.copy()
        self.table = Table()
        s = enter(self.table, island_of(problem), nothing)
        before = nothing if before is None else before
        bears = nothing if bears is None else bears
        self.residual = keep(self.table.w, before, nothing, bears, self.beyond, s, TOLERANCE)
        self.p = self.table.reals(BEST) * (self.table.reals(D)[:, None] * s)
        self.mode = self.table.wholes(MODE)
        self.steps = int(self.table.wholes(WORK)[SHARING_STEPS])
        assert self.table.guard_stands()


def shared(given: Given, start: Array, *, known: bool = False) -> tuple[Array, Table]:
    """Return the least impulses for the velocity of a solution, which is found from `start`, or `known` to be that."""
    table = Table()
    s = enter(table, given, start)
    if known:
        table.reals(BEST)[:] = table.reals(ENTRY)
    best = 1e-14 if known else run(table.w, 1e-13, BUDGET)
    assert best <= 1e-13
    assert share(table.w, best, TOLERANCE) <= TOLERANCE
    assert table.guard_stands()
    return table.reals(BEST) * (table.reals(D)[:, None] * s), table


# --- closed forms ------------------------------------------------------------

SQUARE = [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)]
EQUAL = np.tile([0.25 * WEIGHT, 0.0, 0.0], (4, 1))


@pytest.mark.parametrize("seed", range(4))
def test_four_legs_carry_equal_parts(seed: int) -> None:
    """Of a symmetric table, each leg carries a quarter, whatever solver began where, or what legs bore before."""
    problem = legs(SQUARE)
    rng = np.random.default_rng(seed)
    start = WEIGHT * rng.uniform(-1.0, 2.0, (4, 3))
    np.testing.assert_allclose(shared(island_of(problem), start)[0], EQUAL, rtol=0, atol=1e-12)
    bears = WEIGHT * rng.uniform(0.1, 1.0, (4, 3))
    for beyond in (None, 0.1 * bears * rng.normal(size=(4, 3))):
        kept = Kept(problem, bears=bears, beyond=beyond)
        assert kept.residual <= TOLERANCE
        np.testing.assert_allclose(kept.p, EQUAL, rtol=0, atol=1e-12)


def test_three_legs_are_determined_by_moments() -> None:
    """Legs at (0, 0), (1, 0), (0, 1) below a mass at (x, y) bear 1 - x - y, x and y of the weight, without friction."""
    x, y = 0.3, 0.2
    expected = WEIGHT * np.array([1.0 - x - y, x, y])
    problem = legs([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], middle=(x, y))
    for p in (Kept(problem).p, shared(island_of(problem), np.zeros((3, 3)))[0]):
        np.testing.assert_allclose(p[:, 0], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(p[:, 1:], 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("middle", [0.0, 0.2, 0.8])
def test_four_legs_in_a_line(middle: float) -> None:
    """``W_i p_i = a + b x_i`` where that is not negative, with W_i = 1 + x_i^2, the weight and its moment as they are.

    For 0.8 the leg at -1 would have to pull: it bears nothing, and the others are as without it.
    """
    places = np.array([-1.0, -0.4, 0.5, 1.0])
    bears = places > -1.0 if middle == 0.8 else np.ones(4, dtype=bool)
    x = places[bears] - middle
    W = 1.0 + x**2
    a, b = np.linalg.solve([[(1 / W).sum(), (x / W).sum()], [(x / W).sum(), (x * x / W).sum()]], [WEIGHT, 0.0])
    expected = np.zeros(4)
    expected[bears] = (a + b * x) / W
    assert (expected >= 0.0).all()
    problem = legs([(place, 0.0) for place in places], middle=(middle, 0.0))
    for p in (Kept(problem).p, shared(island_of(problem), np.zeros((4, 3)))[0]):
        # Impulses that keep contacts at rest come from springs of stiffness 1e7, which magnify rounding as much.
        np.testing.assert_allclose(p[:, 0], expected, rtol=0, atol=1e-7 * WEIGHT)
        np.testing.assert_allclose(p[:, 1:], 0.0, rtol=0, atol=1e-7 * WEIGHT)


@pytest.mark.parametrize("twist", [-0.1, 0.0, 0.05, 0.1])
def test_a_table_that_slides_bears_more_in_front_and_alike_on_both_sides(twist: float) -> None:
    """Friction mu m g, one below the mass centre, is borne by legs 0.5 before and behind: (1 +- 2 mu)/4 of the weight.

    To any solution may be added what twists the table: its sum and moments are zero, and friction goes with it.
    """
    mu, speed = 0.2, 3.0
    problem = legs(SQUARE, mu=mu)
    J = np.array([corner_jacobian(np.array([x, y, -1.0]), 1.0) for x, y in SQUARE])
    b = problem.b.reshape(-1, 3) + np.einsum("cij,j->ci", J, [speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    problem = friction(problem.W, b.reshape(-1), np.full(4, mu))
    forward = b[0] / np.linalg.norm(b[0, 1:]) * np.array([0.0, 1.0, 1.0])
    ray = np.array([1.0, 0.0, 0.0]) - mu * forward
    front = np.sign([x for x, _ in SQUARE])
    expected = 0.25 * WEIGHT * (1.0 + 2.0 * mu * front)[:, None] * ray
    start = expected + WEIGHT * twist * np.array([1.0, -1.0, -1.0, 1.0])[:, None] * ray
    table = Table()
    s = enter(table, island_of(problem), start)
    assert steady(table.w, TOLERANCE) <= TOLERANCE
    assert table.guard_stands()
    p = table.reals(BEST) * (table.reals(D)[:, None] * s)
    np.testing.assert_allclose(p, expected, rtol=0, atol=1e-7 * WEIGHT)


# --- against a conic programme ----------------------------------------------


def random_solution(seed: int, contacts: int, nodes: int) -> tuple[Given, Array, Array, Array]:
    """Return a problem with a solution that is not the only one, G as it was given, the impulses and the velocities.

    Most contacts hold, somewhere in their cone; each fifth slips, each seventh is open. b follows from p and u.
    """
    rng = np.random.default_rng(seed)
    block = np.array([2 * x + k for _ in range(contacts) for x in rng.choice(nodes, 2, replace=False) for k in (0, 1)])
    blocks = rng.normal(size=(block.size, 3, 3))
    mu = rng.uniform(0.2, 1.0, contacts)
    angle = rng.uniform(0.0, 2.0 * np.pi, contacts)
    e = np.column_stack([np.cos(angle), np.sin(angle)])
    p_n = rng.uniform(0.1, 2.0, contacts)
    part = np.sqrt(rng.random(contacts))  # anywhere in the disc of friction, so that cones bind
    u = np.zeros((contacts, 3))
    slips, opens = np.arange(contacts) % 5 == 1, np.arange(contacts) % 7 == 2
    part[slips] = 1.0
    u[slips, 1:] = -rng.uniform(0.5, 2.0, (contacts, 1))[slips] * e[slips]
    p = np.column_stack([p_n, (mu * part * p_n)[:, None] * e])
    p[opens], u[opens] = 0.0, (1.0, 0.3, -0.2)
    start, soft = np.arange(0, block.size + 1, 4), np.zeros((contacts, 3))
    given = Given(start, block, blocks, p, mu, np.ones(contacts), soft, nodes)
    G = equilibrated(given)
    b = u - (G @ (G.T @ p.reshape(-1))).reshape(-1, 3)
    return given._replace(load=b, rho=1.0 / np.einsum("ci,ci->c", G[::3], G[::3])), G, p, u


def least_by_programme(given: Given, G: Array, p: Array, u: Array) -> tuple[Array, float]:
    """Minimise ``sum W_nn |p|^2`` subject to ``G^T p = y``, cones, and rays of those that slip, by Clarabel.

    Unknowns are z with p = B z: all components where a contact holds, one along the ray where it slips. Returns also
    the gap of duality reached: cones that touch the equation in a point cost digits.
    """
    columns: list[Array] = []
    bounds: list[Array] = []
    cones: list[Any] = [clarabel.ZeroConeT(G.shape[1])]
    for c in range(p.shape[0]):
        unit = np.zeros((3, *p.shape))
        unit[:, c] = np.eye(3)
        if u[c, 0] > 0.0:
            continue
        if (u[c] == 0.0).all():
            columns += list(unit)
            bounds.append(np.diag([given.mu[c], 1.0, 1.0]))
            cones.append(clarabel.SecondOrderConeT(3))
        else:
            against = -u[c, 1:] / np.linalg.norm(u[c, 1:])
            columns.append(unit[0] + given.mu[c] * (against[0] * unit[1] + against[1] * unit[2]))
            bounds.append(np.ones((1, 1)))
            cones.append(clarabel.NonnegativeConeT(1))
    B = np.array(columns).reshape(len(columns), -1).T
    inside = block_diag(*bounds)
    P = sparse.csc_matrix(np.triu(2.0 * B.T @ (np.repeat(1.0 / given.rho, 3)[:, None] * B)))
    A = sparse.csc_matrix(np.vstack([G.T @ B, -inside]))
    right = np.concatenate([G.T @ p.reshape(-1), np.zeros(inside.shape[0])])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    answer = clarabel.DefaultSolver(P, np.zeros(B.shape[1]), A, right, cones, settings).solve()
    gap = abs(answer.obj_val - answer.obj_val_dual)
    assert gap <= 1e-8 * answer.obj_val
    return np.asarray(B @ np.array(answer.x)).reshape(-1, 3), gap


@pytest.mark.parametrize("seed", range(8))
def test_least_norm(seed: int) -> None:
    """With one and a half to two times as many unknown impulses as equations, so that there is a choice."""
    contacts, nodes = (10, 2) if seed % 2 else (30, 8)
    given, G, p, u = random_solution(seed, contacts, nodes)
    problem = friction(G @ G.T, given.load.reshape(-1), given.mu)
    assert problem.residual(p.reshape(-1)) < 1e-14
    found, _ = shared(given, p, known=True)
    expected, gap = least_by_programme(given, G, p, u)
    weight = 1.0 / given.rho[:, None]
    assert (weight * (found - expected) ** 2).sum() <= gap  # as far as the programme came: f(x) - f* >= |x - x*|^2
    assert (weight * found**2).sum() <= (weight * expected**2).sum() * (1.0 + 1e-12)
    assert problem.residual(found.reshape(-1)) <= TOLERANCE
    np.testing.assert_allclose(G.T @ found.reshape(-1), G.T @ p.reshape(-1), rtol=0, atol=1e-9 * np.abs(p).max())
    assert (weight * found**2).sum() < 0.99 * (weight * p**2).sum()


@pytest.mark.parametrize("seed", range(4))
def test_contacts_that_slip_keep_their_ray(seed: int) -> None:
    """``p_T = -mu p_n u_T/|u_T|``; those that open bear nothing; modes are told."""
    given, _, p, u = random_solution(seed, 30, 8)
    found, table = shared(given, p, known=True)
    speed = np.linalg.norm(u[:, 1:], axis=1)
    opens, slips = u[:, 0] > 0.0, (u[:, 0] == 0.0) & (speed > 0.0)
    np.testing.assert_array_equal(table.wholes(MODE), np.where(opens, OPENS, np.where(slips, SLIPS, HOLDS)))
    np.testing.assert_array_equal(found[opens], 0.0)
    friction_force = -(given.mu * found[:, 0] / np.maximum(speed, 1e-300))[slips, None] * u[slips, 1:]
    np.testing.assert_allclose(found[slips, 1:], friction_force, rtol=0, atol=1e-12 * np.abs(p).max())
    assert np.abs(found[slips]).max() > 0.0


# --- contacts go on as before ------------------------------------------------


def test_block_holds_on_a_slope_or_does_not() -> None:
    """At rest before: below the angle of friction it stays so; above there are no impulses for that."""
    angle = 0.4  # tan 0.4 = 0.42
    kept = Kept(box_stack(1, tilt=angle, mu=0.45))
    assert kept.residual <= TOLERANCE
    expected = WEIGHT * np.array([np.cos(angle), -np.sin(angle), 0.0])
    np.testing.assert_allclose(kept.p.sum(axis=0), expected, rtol=0, atol=1e-9 * WEIGHT)
    assert Kept(box_stack(1, tilt=angle, mu=0.40)).residual == np.inf
    assert Kept(box_stack(3, tilt=angle, mu=0.40)).residual == np.inf


def test_block_goes_on_sliding() -> None:
    """It slid before: friction is along the ray against it, ``mu`` times what each corner bears."""
    angle, mu = 0.6, 0.5
    before = np.tile([0.0, 1.0, 0.0], (4, 1))
    problem = box_stack(1, tilt=angle, mu=mu)
    b = problem.b.reshape(4, 3) + before
    kept = Kept(friction(problem.W, b.reshape(-1), problem.mu), before=before)
    assert kept.residual <= TOLERANCE
    assert (kept.mode == SLIPS).all()
    total = WEIGHT * np.cos(angle) * np.array([1.0, -mu, 0.0])
    np.testing.assert_allclose(kept.p.sum(axis=0), total, rtol=0, atol=1e-9)
    np.testing.assert_allclose(kept.p[:, 1], -mu * kept.p[:, 0], rtol=0, atol=1e-12)


def test_nothing_holds_what_must_tip() -> None:
    """The mass beyond the legs: none of them can pull."""
    assert Kept(legs(SQUARE, middle=(0.45, 0.0))).residual <= TOLERANCE
    assert Kept(legs(SQUARE, middle=(0.55, 0.0))).residual == np.inf


def test_what_closes_fast_does_not_go_on() -> None:
    """An impact is no rest."""
    problem = legs(SQUARE)
    before = np.tile([-1.0, 0.0, 0.0], (4, 1))
    b = problem.b.reshape(4, 3) + before
    assert Kept(friction(problem.W, b.reshape(-1), problem.mu), before=before).residual == np.inf


@pytest.mark.parametrize("bore", [0.0, WEIGHT])
def test_what_leaves_is_let_go(bore: float) -> None:
    """It went up before, whatever it bore then, and goes on to: no impulses."""
    problem = legs(SQUARE)
    before, bears = np.tile([1.0, 0.0, 0.0], (4, 1)), np.tile([bore, 0.0, 0.0], (4, 1))
    b = problem.b.reshape(4, 3) + before
    kept = Kept(friction(problem.W, b.reshape(-1), problem.mu), before=before, bears=bears)
    assert kept.residual <= TOLERANCE
    assert (kept.mode == OPENS).all()
    np.testing.assert_array_equal(kept.p, 0.0)


def test_what_comes_back_does_not_go_on() -> None:
    """It went up before and falls now: nothing is missing in the sum of impulses, but contacts would close."""
    assert Kept(legs(SQUARE), before=np.tile([1.0, 0.0, 0.0], (4, 1))).residual == np.inf


def wedged(seed: int, contacts: int = 30, nodes: int = 6) -> tuple[sg.FrictionProblem, Array]:
    """Return bodies held by impulses near the edges of their cones, at rest, and these impulses."""
    rng = np.random.default_rng(seed)
    bodies = np.array([rng.choice(nodes + 1, 2, replace=False) for _ in range(contacts)])
    J = rng.normal(size=(2, contacts, 3, 6))
    M_inv = np.array([np.zeros((6, 6))] + [np.eye(6)] * nodes)
    W = Delassus(bodies[:, 0], bodies[:, 1], J[0], J[1], M_inv)
    mu, angle = rng.uniform(0.2, 0.6, contacts), rng.uniform(0.0, 2.0 * np.pi, contacts)
    p_n = rng.uniform(0.1, 2.0, contacts)
    p = p_n[:, None] * np.column_stack([np.ones(contacts), 0.9 * mu * np.cos(angle), 0.9 * mu * np.sin(angle)])
    free = friction(W, np.zeros(3 * contacts), mu)
    return friction(W, -free.velocity(p.reshape(-1)), mu), p


@pytest.mark.parametrize("seed", range(4))
def test_memory_of_the_last_step_saves_factorisations(seed: int) -> None:
    """The same step once more, from what is remembered of it: as good an answer, with less work."""
    problem, p = wedged(seed)
    first = Kept(problem, bears=p)
    assert first.residual <= TOLERANCE
    assert problem.residual(first.p.reshape(-1)) <= 2.0 * TOLERANCE
    assert np.abs(first.beyond).max() > 0.0, "glued impulses leave the cones"
    again = Kept(problem, bears=first.p, beyond=first.beyond)
    np.testing.assert_allclose(again.p, first.p, rtol=0, atol=1e-8 * np.abs(p).max())
    assert again.steps < first.steps


def test_nothing_is_beyond_where_all_holds() -> None:
    """Inside all cones springs and impulses are the same; what was remembered is forgotten."""
    kept = Kept(legs(SQUARE), beyond=np.ones((4, 3)))
    np.testing.assert_array_equal(kept.beyond, 0.0)
