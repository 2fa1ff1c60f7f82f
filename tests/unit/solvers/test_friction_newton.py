"""The Newton systems of friction problems against the equation that they solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.problems.delassus import Delassus
from signorini.problems.friction import FrictionProblem
from signorini.solvers import friction_newton
from signorini.solvers.alart_curnier import alart_curnier, newton_blocks
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_ip_kernels import centring, longest_step, scale_contacts
from signorini.solvers.friction_newton import DenseFactors, NewtonSystem, SparseFactors, newton_system
from signorini.solvers.newton_spaces import (
    Space,
    basis_space,
    body_space,
    contact_space,
    equilibrated_matrix,
)
from tests.friction_problems import box_stack, friction, random_problem


def scaled_matrix(scaled: EquilibratedProblem) -> Array:
    """W with compliance in equilibrated units, from its definition."""
    d = np.repeat(scaled.d, 3)
    W: Array = scaled.problem.dense() * d[:, None] * d
    return W


def stack_of_boxes(compliance: float) -> EquilibratedProblem:
    """Return 24 contacts on 6 boxes: 72 rows, rank 36."""
    stack = box_stack(6, kick=0.2)
    return EquilibratedProblem(FrictionProblem(stack.W, stack.b, stack.mu, compliance=compliance))


def sparse_matrix(scaled: EquilibratedProblem) -> Any:
    """W without compliance in equilibrated units, from the connections of the bodies."""
    W = scaled.problem.W
    assert isinstance(W, Delassus)
    return equilibrated_matrix(scaled, W.connections())


def bodies(scaled: EquilibratedProblem) -> Space:
    assert isinstance(scaled.problem.W, Delassus)
    return body_space(scaled, scaled.problem.W)


def basis(scaled: EquilibratedProblem) -> Space:
    space = basis_space(sparse_matrix(scaled).toarray())
    assert space is not None
    return space


spaces: dict[str, tuple[int, Callable[[EquilibratedProblem], Space]]] = {
    "bodies": (12, bodies),
    "basis": (12, basis),
    "contacts": (24, lambda scaled: contact_space(scaled, sparse_matrix(scaled))),
}


def assert_solves(scaled: EquilibratedProblem, system: NewtonSystem, S: Array) -> None:
    """Check ``dr = g - S (W dr + e)`` and ``du = W dr + e`` with W from its definition."""
    rng = np.random.default_rng(1)
    g, e = rng.normal(size=(2, scaled.n_c, 3))
    assert system.factor(S)
    dr, du = system.solve(g, e)
    u = (scaled_matrix(scaled) @ dr.reshape(-1)).reshape(-1, 3) + e
    np.testing.assert_allclose(du, u, atol=1e-10)
    np.testing.assert_allclose(dr, g - np.einsum("cij,cj->ci", S, u), atol=1e-10)


@pytest.mark.parametrize("name", sorted(spaces))
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("compliance", [0.0, 0.3])
def test_every_system_solves_the_equation(
    name: str, dense: bool, compliance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random positive definite, unsymmetric blocks S in every space, by either factorisation."""
    monkeypatch.setattr(friction_newton, "_DENSE_BELOW", 100 if dense else 0)
    monkeypatch.setattr(friction_newton, "_DENSE_SPEED", 5e9 if dense else 1.0)
    scaled = stack_of_boxes(compliance)
    n, make = spaces[name]
    space = make(scaled)
    assert space.n == n
    alpha = compliance * scaled.d**2
    system = NewtonSystem(scaled, space, alpha)
    assert type(system.factors) is (DenseFactors if dense else SparseFactors)
    S = np.eye(3) + 0.3 * np.random.default_rng(0).normal(size=(scaled.n_c, 3, 3))
    assert_solves(scaled, system, S)


def test_unstable_factors_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks S that are far from monotone spoil elimination without exchange of rows; the solution is right anyway."""
    monkeypatch.setattr(friction_newton, "_DENSE_BELOW", 0)
    monkeypatch.setattr(friction_newton, "_DENSE_SPEED", 1.0)
    scaled = stack_of_boxes(0.0)
    system = NewtonSystem(scaled, contact_space(scaled, sparse_matrix(scaled)), np.zeros(scaled.n_c))
    assert isinstance(system.factors, SparseFactors)
    W_cc = scaled_matrix(scaled).reshape(24, 3, 24, 3)[0, :, 0]
    S = np.tile(np.eye(3), (24, 1, 1))
    S[:] = -np.linalg.inv(W_cc) * (1.0 + 1e-15)  # the first pivot I + W_cc S_c vanishes up to rounding
    assert_solves(scaled, system, S)
    assert system.factors.pivoted is not None


def test_choice_of_the_space() -> None:
    """Stacked boxes as bodies, the same W given as a large matrix as a basis, a small one as contacts."""
    stack = box_stack(20)
    assert newton_system(EquilibratedProblem(stack)).space.n == 40
    assert isinstance(stack.W, Delassus)
    matrix = FrictionProblem(stack.W.dense(), stack.b, stack.mu)
    contacts = NewtonSystem(
        EquilibratedProblem(matrix),
        contact_space(
            EquilibratedProblem(matrix), equilibrated_matrix(EquilibratedProblem(matrix), matrix.connections)
        ),
        np.zeros(80),
    )
    assert newton_system(EquilibratedProblem(matrix)).work <= contacts.work
    small = random_problem(0, 5, rank=4)
    assert newton_system(EquilibratedProblem(small)).space.n == 5


def test_basis_of_an_unsymmetric_matrix() -> None:
    """W = A N A^T with unsymmetric N: the basis reproduces the solution of the full system."""
    scaled = EquilibratedProblem(random_problem(3, 30, rank=20, asymmetry=0.2))
    space = basis_space(scaled_matrix(scaled))
    assert space is not None
    assert space.base is not None
    assert space.n == 7
    assert_solves(scaled, NewtonSystem(scaled, space, np.zeros(30)), np.tile(np.eye(3), (30, 1, 1)))
    full = EquilibratedProblem(random_problem(3, 30, asymmetry=0.2))
    assert basis_space(scaled_matrix(full)) is None


def test_contacts_that_cannot_answer_are_left_out() -> None:
    """A contact between immovable bodies has no place in the system; the others see the same W."""
    stack = box_stack(6, kick=0.2)
    W = stack.W
    assert isinstance(W, Delassus)
    twice = Delassus(
        np.concatenate([W.body_a, [0]]),
        np.concatenate([W.body_b, [0]]),
        np.concatenate([W.J_a, W.J_a[:1]]),
        np.concatenate([W.J_b, -W.J_a[:1]]),
        W.M_inv,
    )
    scaled = EquilibratedProblem(FrictionProblem(twice, np.append(stack.b, np.zeros(3)), np.append(stack.mu, 0.5)))
    assert scaled.n_c == 24
    alone = EquilibratedProblem(stack)
    for space in (bodies(scaled), contact_space(scaled, sparse_matrix(scaled))):
        system = NewtonSystem(scaled, space, np.zeros(24))
        S = np.tile(np.eye(3), (24, 1, 1))
        g = np.random.default_rng(0).normal(size=(24, 3))
        assert system.factor(S)
        dr, _ = system.solve(g)
        np.testing.assert_allclose(dr, g - (scaled_matrix(alone) @ dr.reshape(-1)).reshape(-1, 3), atol=1e-10)


def test_scaling_to_and_fro() -> None:
    """Impulses and velocities come back; the contact that cannot answer is left out; W_nn = 1."""
    problem = friction(np.diag([2.0, 1.0, 1.0, 0.0, 0.0, 0.0]), [-3.0, 1.0, 0.0, 1.0, 0.0, 0.0], [0.5, 0.5])
    scaled = EquilibratedProblem(problem)
    assert scaled.n_c == 1
    p = np.array([[1.5, -0.5, 0.0], [0.0, 0.0, 0.0]])
    r = scaled.scaled(p)
    np.testing.assert_allclose(scaled.impulses(r), p, atol=1e-15)
    np.testing.assert_allclose(scaled.velocity(r) * scaled.s / scaled.d[:, None], [[0.0, 0.5, 0.0]], atol=1e-15)
    np.testing.assert_allclose(scaled.product(np.array([[1.0, 0.0, 0.0]]))[0, 0], 1.0, atol=1e-15)


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
def test_derivatives_of_alart_curnier(mu: float) -> None:
    """With A = dF/du, B = dF/dr by differences: (B + alpha A) S = A and (B + alpha A) g = -F, in all modes."""
    rng = np.random.default_rng(2)
    friction_ = np.array([mu])
    step = 1e-6
    for _ in range(200):
        u, r = rng.normal(size=(2, 1, 3))
        alpha = 10.0 ** rng.uniform(-2, 0)
        F, g, S = np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 3, 3))
        alart_curnier(u, r, friction_, F)
        newton_blocks(u, r, friction_, F, alpha, S, g)
        A, B = np.zeros((2, 3, 3))
        for j in range(3):
            h = np.zeros((1, 3))
            h[0, j] = step
            plus, minus = np.zeros((2, 1, 3))
            alart_curnier(u + h, r, friction_, plus)
            alart_curnier(u - h, r, friction_, minus)
            A[:, j] = (plus - minus)[0] / (2 * step)
            alart_curnier(u, r + h, friction_, plus)
            alart_curnier(u, r - h, friction_, minus)
            B[:, j] = (plus - minus)[0] / (2 * step)
        K = B + alpha * A
        np.testing.assert_allclose(K @ S[0], A, atol=1e-6)
        np.testing.assert_allclose(K @ g[0], -F[0], atol=1e-6)


def test_frictionless_contact_is_not_held_sideways() -> None:
    """With mu = 0 and nothing tangential at all (t = 0, as if sticking) the tangent rows still ask for r_T = 0 only."""
    u, r = np.array([[0.1, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])
    F, g, S = np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 3, 3))
    alart_curnier(u, r, np.zeros(1), F)
    newton_blocks(u, r, np.zeros(1), F, 0.5, S, g)
    np.testing.assert_array_equal(S[0], np.diag([2.0, 0.0, 0.0]))
    np.testing.assert_allclose(g[0], [-0.2, 0.0, 0.0], atol=1e-16)


def test_scaling_point_and_newton_block() -> None:
    """S = D Q dz/du: Q maps z to x (Nesterov-Todd), dz/du by differences; centring on the path asks for nothing."""
    rng = np.random.default_rng(5)
    mu = np.array([0.4])
    for _ in range(50):
        x = np.abs(rng.normal(size=(1, 3))) * [[2.0, 0.3, 0.3]] + [[1.0, 0.0, 0.0]]
        u = rng.normal(size=(1, 3))
        u[0, 0] = abs(u[0, 0]) + 0.1
        z, scaling, S, g = np.zeros((1, 3)), np.zeros((1, 4)), np.zeros((1, 3, 3)), np.zeros((1, 3))
        total = scale_contacts(x, u, mu, z, scaling, S)
        assert total == pytest.approx(float(np.vdot(x, z)), rel=1e-14)
        eta, w = scaling[0, 0], scaling[0, 1:]
        Q = eta**2 * (2.0 * np.outer(w, w) - np.diag([1.0, -1.0, -1.0]))
        np.testing.assert_allclose(Q @ z[0], x[0], atol=1e-12)
        slip = np.hypot(u[0, 1], u[0, 2])
        J = np.array([[1 / 0.4, u[0, 1] / slip, u[0, 2] / slip], [0, 1, 0], [0, 0, 1]])
        np.testing.assert_allclose(S[0], np.diag([1 / 0.4, 1, 1]) @ Q @ J, atol=1e-11)
        # the point of the path that belongs to z: x = sigma z^-1 = sigma (z_0, -z_T)/det z
        det = z[0, 0] ** 2 - z[0, 1] ** 2 - z[0, 2] ** 2
        on_path = 0.7 * z * [[1.0, -1.0, -1.0]] / det
        scale_contacts(on_path, u, mu, z, scaling, S)
        centring(on_path, u, z, mu, scaling, 0.7, g, g, False, g)
        np.testing.assert_allclose(g, 0.0, atol=1e-11)


def test_longest_step_ends_on_the_boundary() -> None:
    """X + a dx meets the cone |x_T| = x_0 or u_n + a du_n = 0 at the step returned, not before."""
    rng = np.random.default_rng(6)
    mu = np.array([0.4])
    for _ in range(200):
        x = np.array([[2.0, 0.5, -0.5]])
        dx, du = rng.normal(size=(2, 1, 3))
        u = np.array([[1.0, 0.0, 0.0]])
        a = longest_step(x, dx, u, du, mu)
        end = x + min(a, 1000.0) * dx
        margin = min(end[0, 0] - np.hypot(end[0, 1], end[0, 2]), u[0, 0] + a * du[0, 0])
        if a < 1000.0:
            assert margin == pytest.approx(0.0, abs=1e-9 * (1.0 + a))
        half = x + 0.5 * a * dx
        assert half[0, 0] > np.hypot(half[0, 1], half[0, 2])


def test_one_contact_of_two_free_bodies() -> None:
    """Its four blocks are read one after the other, as those of a matrix are."""
    J = np.zeros((2, 1, 3, 6))
    J[0, 0, :, :3], J[1, 0, :, :3] = -np.eye(3), np.eye(3)
    M_inv = np.stack([np.eye(6), 2.0 * np.eye(6)])
    W = Delassus(np.array([0]), np.array([1]), J[0], J[1], M_inv)
    scaled = EquilibratedProblem(FrictionProblem(W, np.array([-1.0, 0.2, 0.0]), np.array([0.3])))
    np.testing.assert_allclose(equilibrated_matrix(scaled, W.connections()).toarray(), np.eye(3), atol=1e-15)
