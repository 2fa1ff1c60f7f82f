"""The Newton systems of friction problems against the equation that they solve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.solvers.alart_curnier import alart_curnier, newton_blocks
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_ip_kernels import centring, longest_step, scale_contacts
from signorini.solvers.friction_newton import (
    BodySpace,
    ContactSpace,
    LowRankSpace,
    NewtonSystem,
    SparseSpace,
    contact_space,
    newton_system,
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


def as_matrix(scaled: EquilibratedProblem) -> EquilibratedProblem:
    """Return the same problem with W as a matrix."""
    problem = scaled.problem
    return EquilibratedProblem(
        FrictionProblem(problem.W.dense(), problem.b, problem.mu, compliance=problem.compliance)  # type: ignore[union-attr]
    )


def zero_alpha(scaled: EquilibratedProblem) -> Array:
    """Return no compliance for a system whose matrix has it already."""
    return np.zeros(scaled.n_c)


systems: dict[str, tuple[type, Callable[[EquilibratedProblem], NewtonSystem]]] = {
    "bodies": (BodySpace, newton_system),
    "low rank": (LowRankSpace, lambda scaled: contact_space(as_matrix(scaled), zero_alpha(scaled))),
    "contacts": (ContactSpace, lambda scaled: ContactSpace(scaled_matrix(scaled), zero_alpha(scaled))),
    "sparse": (SparseSpace, lambda scaled: SparseSpace(scaled.problem, scaled.d, scaled.kept)),
}


@pytest.mark.parametrize("name", sorted(systems))
@pytest.mark.parametrize("compliance", [0.0, 0.3])
def test_every_system_solves_the_equation(name: str, compliance: float) -> None:
    """Check ``dr = g - S (W dr + e)`` with random positive definite, unsymmetric blocks S."""
    if name == "low rank" and compliance > 0.0:
        pytest.skip("compliance raises the rank")
    scaled = stack_of_boxes(compliance)
    kind, make = systems[name]
    system = make(scaled)
    assert type(system) is kind
    rng = np.random.default_rng(1)
    S = np.eye(3) + 0.3 * rng.normal(size=(scaled.n_c, 3, 3))
    g, e = rng.normal(size=(2, scaled.n_c, 3))
    assert system.factor(S)
    dr = system.solve(g, e)
    u = (scaled_matrix(scaled) @ dr.reshape(-1)).reshape(-1, 3) + e
    np.testing.assert_allclose(dr, g - np.einsum("cij,cj->ci", S, u), atol=1e-10)
    np.testing.assert_allclose(system.defect(g, u, dr), 0.0, atol=1e-10)


def test_low_rank_of_an_unsymmetric_matrix() -> None:
    """W = A N A^T with unsymmetric N: the factors reproduce the solution of the full system."""
    scaled = EquilibratedProblem(random_problem(3, 30, rank=20, asymmetry=0.2))
    system = newton_system(scaled)
    assert isinstance(system, LowRankSpace)
    assert system.N is not None
    S = np.eye(3) + np.zeros((30, 3, 3))
    g = np.random.default_rng(0).normal(size=(30, 3))
    assert system.factor(S)
    dr = system.solve(g, None)
    np.testing.assert_allclose(dr, g - (scaled_matrix(scaled) @ dr.reshape(-1)).reshape(-1, 3), atol=1e-9)


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
