"""The robust solver of one island with couples: derivatives, matrices, and problems that it solves by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini._jit import kernel, measured, perform
from signorini.problems.delassus import Delassus
from signorini.solvers.extended_equilibrated import EquilibratedExtension
from signorini.solvers.extended_kernels import friction_derivatives, friction_function
from signorini.solvers.island_couples import prepare_couples
from signorini.solvers.island_kernels import connect_couples
from signorini.solvers.island_lu import factor, substitute
from signorini.solvers.island_robust import solve_robustly
from signorini.solvers.island_table import (
    BEST,
    BLOCKS,
    ENTRY,
    FUNCTION,
    INTERIOR,
    PLACE,
    RESIDUAL,
    WORK,
    G,
    copy,
    velocity,
)
from tests.unit.solvers.test_island_lu import AMPLE, Table

LAWS: dict[str, dict[str, Any]] = {
    "planar": {"dim": 2, "rolling": 0.03},
    "torsional": {"torsional": 0.02},
    "rolling": {"rolling": 0.03},
    "both": {"torsional": 0.02, "rolling": 0.03},
    "ellipsoid": {"ellipsoid": (1.0, 0.5, 0.02)},
}
BODIES, CONTACTS, RADIUS = 12, 30, 0.1


def pile(law: str, seed: int) -> sg.FrictionProblem:
    """Return contacts of spheres, or discs, with each other and the ground, at random; some have no couples."""
    rng, words = np.random.default_rng(seed), dict(LAWS[law])
    planar = words.get("dim") == 2
    rows = 3 if planar else 3 + ("rolling" not in words or "torsional" in words) + 2 * ("rolling" in words)
    body = np.array([[c % BODIES, 1 + (c * 5 + c // BODIES) % (BODIES - 1)] for c in range(CONTACTS)])
    body[:, 0] = np.where(body[:, 0] == body[:, 1], 0, body[:, 0])
    J = np.zeros((2, CONTACTS, rows, 6))
    for c in range(CONTACTS):
        n = rng.normal(size=3) * [1.0, 1.0, 0.0 if planar else 1.0]
        n /= np.linalg.norm(n)
        o = np.array([0.0, 0.0, 1.0]) if planar else np.cross(n, rng.normal(size=3))
        o /= np.linalg.norm(o)
        t = np.cross(o, n)
        turns = [o] if planar else ([n] if rows != 5 else []) + ([t, o] if rows > 4 else [])
        for side, sign in ((0, -1.0), (1, 1.0)):
            forces = [n, t] if planar else [n, t, o]
            arm = -sign * RADIUS * n
            J[side, c] = sign * np.array(
                [[*d, *np.cross(arm, d)] for d in forces] + [[0.0, 0.0, 0.0, *d] for d in turns]
            )
    mass = rng.uniform(0.5, 2.0, BODIES)
    M_inv = np.zeros((BODIES, 6, 6))
    for b in range(1, BODIES):
        M_inv[b] = np.diag([1.0 / mass[b]] * 3 + [2.5 / (mass[b] * RADIUS**2)] * 3)
    motion = rng.normal(size=(BODIES, 6)) * ([1, 1, 0, 0, 0, 9] if planar else [1, 1, 1, 9, 9, 9])
    motion[0] = 0.0
    b = np.einsum("cij,cj->ci", J[0], motion[body[:, 0]]) + np.einsum("cij,cj->ci", J[1], motion[body[:, 1]])
    for word in ("rolling", "torsional"):
        if word in words:
            words[word] = np.where(np.arange(CONTACTS) % 5 == 0, 0.0, words[word])
    W = Delassus(body[:, 0].copy(), body[:, 1].copy(), J[0], J[1], M_inv)
    mu = np.where(np.arange(CONTACTS) % 7 == 0, 0.0, 0.4)
    return sg.FrictionProblem(W, b.reshape(-1), mu, **words)


class Island:
    """A problem in the table of an island."""

    def __init__(self, problem: sg.FrictionProblem) -> None:
        self.problem, self.table = problem, Table(400_000)
        self.given = EquilibratedExtension(problem)
        extension, W, d = problem.extension, problem.W, self.given.d
        assert extension is not None
        assert isinstance(W, Delassus)
        assert self.given.kept.size == problem.contact_count
        self.unit = extension.scale * d
        start, block, blocks = [0], [], []
        for c in range(problem.contact_count):
            for x, J in ((W.body_a[c], W.J_a[c]), (W.body_b[c], W.J_b[c])):
                if x > 0:
                    rows = self.unit[c][:, None] * (J @ np.sqrt(W.M_inv[x]))
                    block += [2 * (x - 1), 2 * (x - 1) + 1]
                    blocks += [rows[:, :3], rows[:, 3:]]
            start.append(len(block))
        limit = np.zeros((problem.contact_count, 6))
        limit[:, : self.given.limits.shape[1]] = self.given.limits
        limit[:, 3 : 3 + extension.limits.shape[1]] = extension.limits
        starts = extension.starts.tolist()
        groups = np.array([starts + starts[-1:] * (4 - len(starts))])
        load = np.ascontiguousarray(self.given.b * self.given.s)
        kind, scale = np.zeros(problem.contact_count, dtype=np.int64), np.zeros(1)
        connect_couples(self.table.w)
        given = (np.array(start), np.array(block), np.array(blocks), load, limit, d, kind, groups, problem.rho, 0.0)
        assert opened(self.table.w, (*given, BODIES - 1, AMPLE, scale)) > 0
        self.scale = float(scale[0])
        self.table.reals(ENTRY)[:] = 0.0
        self.table.reals(BEST)[:] = 0.0
        self.table.wholes(WORK)[:] = 0

    def impulses(self) -> Array:
        """Return what was found, as the problem has it."""
        p: Array = (self.table.reals(BEST) * self.scale * self.unit).reshape(-1)
        return p


@kernel
def opened(w: Any, arguments: Any) -> int:
    return prepare_couples(w, *arguments)


@kernel
def run(w: Any, tolerance: float, budget: int) -> float:
    return solve_robustly(w, tolerance, budget)


@kernel
def follow(w: Any, tolerance: float) -> float:
    return measured(w[INTERIOR, 0], (w, 0.0, np.inf, tolerance, 50, 0.1))


@kernel
def set_step(w: Any, u: Any, r: Any, F: Any, alpha: float, S: Any, g: Any) -> float:
    size = measured(w[FUNCTION, 0], (w, u, r, F))
    perform(w[BLOCKS, 0], (w, u, r, F, alpha, S, g))
    return size


@kernel
def solved(w: Any, S: Any, y: Any) -> bool:
    if not factor(w, S, 0.7):
        return False
    substitute(w, y)
    return True


@kernel
def judged(w: Any, r: Any, u: Any, y: Any) -> float:
    velocity(w, r, y, u)
    copy(r, r)
    return measured(w[RESIDUAL, 0], (w, r, u))


@pytest.mark.parametrize("law", LAWS)
def test_solution_of_the_problem(law: str) -> None:
    """From nothing, to a tight tolerance, by the problem's own residual; the methods of Python solve it as well."""
    problem = pile(law, 1)
    island = Island(problem)
    assert run(island.table.w, 1e-11, 600) <= 1e-11
    p = island.impulses()
    assert problem.residual(p) <= 2e-11
    by_python = sg.solve(problem, tolerance=1e-11)
    assert by_python.success
    assert island.table.guard_stands()
    # spheres touch in general positions: the velocities are determined
    np.testing.assert_allclose(problem.velocity(p), problem.velocity(by_python.z), atol=1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_interior_point_alone(law: str) -> None:
    """From the middle of the cones, without Newton's method before: its path leads to a solution."""
    problem = pile(law, 2)
    island = Island(problem)
    assert follow(island.table.w, 1e-7) <= 1e-7
    assert problem.residual(island.impulses()) <= 2e-7


@pytest.mark.parametrize("law", ["planar", "both", "ellipsoid"])
def test_derivatives_and_residual(law: str) -> None:
    """S and g are those of the derivatives by groups, whatever contacts do; the residual is the problem's."""
    problem, rng = pile(law, 3), np.random.default_rng(0)
    island = Island(problem)
    given, alpha = island.given, 0.01
    r, u = rng.normal(size=(2, CONTACTS, problem.rows))
    F, S, g = np.zeros_like(r), np.zeros((*r.shape, problem.rows)), np.zeros_like(r)
    A, B, expected = np.zeros_like(S), np.zeros_like(S), np.zeros_like(r)
    size = set_step(island.table.w, u, r, F, alpha, S, g)
    assert size == pytest.approx(friction_function(u, r, given.limits, given.starts, expected), rel=1e-13)
    np.testing.assert_allclose(F, expected, atol=1e-14)
    friction_derivatives(u, r, given.limits, given.starts, A, B)
    C = np.linalg.inv(B + alpha * A)
    np.testing.assert_allclose(S, C @ A, atol=1e-10)
    np.testing.assert_allclose(g, -np.einsum("cij,cj->ci", C, F), atol=1e-10)
    y, velocities = np.zeros((BODIES - 1, 6)), np.zeros_like(r)
    residual = judged(island.table.w, r, velocities, y)
    assert residual == pytest.approx(problem.residual((r * island.scale * island.unit).reshape(-1)), rel=1e-10)


@pytest.mark.parametrize("law", ["planar", "rolling", "both"])
def test_matrix(law: str) -> None:
    """Solutions with ``0.7 I + G^T S G``, S unsymmetric, against dense algebra."""
    island, rng = Island(pile(law, 4)), np.random.default_rng(1)
    rows, n = island.problem.rows, BODIES - 1
    X = rng.normal(size=(CONTACTS, rows, rows))
    S = X @ X.transpose(0, 2, 1) + 2.0 * (X - X.transpose(0, 2, 1))
    S[::4, 1] = 0.0
    dense = np.zeros((CONTACTS, rows, BODIES, 6))
    W, unit = island.problem.W, island.unit[:, :, None]
    assert isinstance(W, Delassus)
    for body, J in ((W.body_a, W.J_a), (W.body_b, W.J_b)):
        for c in range(CONTACTS):
            dense[c, :, body[c]] += unit[c] * (J[c] @ np.sqrt(W.M_inv[body[c]]))
    G_ = dense[:, :, 1:].reshape(CONTACTS, rows, 6 * n)
    A = 0.7 * np.eye(6 * n) + np.einsum("cia,cij,cjb->ab", G_, S, G_)
    y = rng.normal(size=(n, 6))
    x, place = np.zeros_like(y), island.table.wholes(PLACE)
    x[place] = y
    assert solved(island.table.w, S, x)
    expected = np.linalg.solve(A, y.reshape(-1)).reshape(n, 6)
    np.testing.assert_allclose(x[place], expected, atol=1e-9 * np.abs(expected).max())
    assert island.table.reals(G).shape[1] == rows
