"""Flexible bodies: the integrals of S5 spec 2.2, their energy and their handles."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.dynamics.response.flexible import elastic_force, equations, handles, weight
from signorini.model import Section, Shapes, beam_points, make_beam

AXIAL, BENDING = [0.0, 0.0, 1.0], [0.0, 0.0, 1.5, -0.5]
SPATIAL = Shapes([AXIAL], [BENDING, [0.0, 0.0, 0.0, 1.0]], [BENDING])
BEAM = Section(0.7, 2e9, (3e-8, 5e-8), 4e-4, 2000.0)
GRAVITY = np.array([0.3, -9.81, 1.1])


def turned(r: np.random.Generator) -> Array:
    R: Array = np.linalg.qr(r.normal(size=(3, 3)))[0]
    return R if np.linalg.det(R) > 0.0 else -R


def tilde(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


# --- one body ----------------------------------------------------------------


def test_sums_over_points_are_the_shape_integrals() -> None:
    """Without foreshortening Gamma and beta are those of the invariant form of spec 2.2, N1 to N5 by finer sums."""
    r = np.random.default_rng(3)
    body = make_beam(BEAM, SPATIAL, masses=[(0.7, 0.4)], turning=np.zeros((3, 3)), foreshortening=False)
    nu = body.mode_count
    q, qd, w, R = 0.1 * r.normal(size=nu), r.normal(size=nu), r.normal(size=3), turned(r)
    xi, share = np.polynomial.legendre.leggauss(30)
    x = np.append(0.35 * (1.0 + xi), 0.7)
    dm = np.append(0.35 * BEAM.density * BEAM.A * share, 0.4)
    s, N1, m = x / 0.7, np.zeros((3, nu)), float(dm.sum())
    phi = np.zeros((x.size, 3, nu))
    phi[:, 0, 0], phi[:, 1, 1], phi[:, 1, 2] = s**2, 1.5 * s**2 - 0.5 * s**3, s**3
    phi[:, 2, 3] = phi[:, 1, 1]
    N2, N3 = np.zeros((3, nu)), np.zeros((nu, nu, 3))
    N4, N5, mff = np.zeros((nu, 3, 3)), np.zeros((nu, nu, 3, 3)), np.zeros((nu, nu))
    J, mc = np.zeros((3, 3)), np.zeros(3)
    for k, mass in enumerate(dm):
        r0, one = np.array([x[k], 0.0, 0.0]), phi[k]
        J, mc = J - mass * tilde(r0) @ tilde(r0), mc + mass * r0
        N1, N2, mff = N1 + mass * one, N2 + mass * tilde(r0) @ one, mff + mass * one.T @ one
        for i in range(nu):
            N4[i] -= mass * tilde(r0) @ tilde(one[:, i])
            for j in range(nu):
                N3[i, j] += mass * np.cross(one[:, i], one[:, j])
                N5[i, j] -= mass * tilde(one[:, i]) @ tilde(one[:, j])
    own, g = R.T @ w, R.T @ GRAVITY
    mc = mc + N1 @ q
    J = J + np.einsum("iab,i->ab", N4 + N4.transpose(0, 2, 1), q) + np.einsum("ijab,i,j->ab", N5, q, q)
    Gamma = np.zeros((6 + nu, 6 + nu))
    Gamma[:3, :3], Gamma[:3, 3:6], Gamma[3:6, :3], Gamma[3:6, 3:6] = J, tilde(mc), -tilde(mc), m * np.eye(3)
    Gamma[:3, 6:], Gamma[3:6, 6:] = N2 + np.einsum("jia,j->ai", N3, q), N1
    Gamma[6:, :6], Gamma[6:, 6:] = Gamma[:6, 6:].T, mff
    fast = np.einsum("jab,j->ab", N4, qd) + np.einsum("ijab,i,j->ab", N5, q, qd)
    angular = np.cross(own, J @ own) + 2.0 * fast @ own - np.cross(mc, g)
    linear = np.cross(own, np.cross(own, mc)) + 2.0 * np.cross(own, N1 @ qd) - m * g
    modal = [
        -own @ (N4[i] + np.einsum("jab,j->ab", N5[:, i], q)) @ own + 2.0 * own @ (qd @ N3[:, i]) - N1[:, i] @ g
        for i in range(nu)
    ]
    spin = np.eye(6 + nu)
    spin[:3, :3] = spin[3:6, 3:6] = R
    got, beta = equations(body, R, w, q, qd)
    beta = beta - weight(body, R, q, GRAVITY)
    np.testing.assert_allclose(got, spin @ Gamma @ spin.T, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(beta, spin @ np.concatenate([angular, linear, modal]), rtol=0.0, atol=1e-12)


def test_foreshortening_is_variational() -> None:
    """In free flight kinetic and elastic energy stay: x^T (Gamma x' + half the rate of Gamma) is minus q^T K qd."""
    r = np.random.default_rng(4)
    # Soft, so that terms of higher order vanish in differences.
    body = make_beam(BEAM._replace(E=2e4), SPATIAL, masses=[(0.7, 0.4)])
    nu = body.mode_count
    q, x, R = 0.05 * r.normal(size=nu), r.normal(size=6 + nu), turned(r)
    Gamma, beta = equations(body, R, x[:3], q, x[6:])
    rate = np.linalg.solve(Gamma, elastic_force(body, q, x[6:]) - beta)

    def kinetic(t: float) -> float:
        axis, angle = x[:3] / np.linalg.norm(x[:3]), t * float(np.linalg.norm(x[:3]))
        S = tilde(axis)
        turn = np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S
        now = x + t * rate
        return float(0.5 * now @ equations(body, turn @ R, now[:3], q + t * x[6:], now[6:])[0] @ now)

    power = -float(q @ body.stiffness @ x[6:])
    assert (kinetic(1e-5) - kinetic(-1e-5)) / 2e-5 == pytest.approx(power, rel=1e-7)


def test_a_body_without_modes_is_rigid() -> None:
    """Gamma and beta of a rod about its end: m l^2 / 3, and the pull of its spin m l w^2 / 2."""
    rod = make_beam(Section(2.0, 1.0, (0.0, 0.0), 0.01, 150.0), Shapes(), turning=np.diag([0.02, 0.0, 0.0]))
    Gamma, beta = equations(rod, np.eye(3), np.array([0.0, 0.0, 5.0]), np.zeros(0), np.zeros(0))
    np.testing.assert_allclose(np.diag(Gamma), [0.02, 4.0, 4.0, 3.0, 3.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(beta, [0.0, 0.0, 0.0, -75.0, 0.0, 0.0], atol=1e-13)


def test_handles_move_as_their_jacobian_says() -> None:
    """T is the derivative of place and turn of a point, and T' x that of its velocity at constant x, by differences."""
    r = np.random.default_rng(5)
    points = beam_points(BEAM, SPATIAL, np.array([0.7]))
    q, x, R = 0.05 * r.normal(size=4), r.normal(size=10), turned(r)

    def place(t: float) -> Array:
        axis, angle = x[:3] / np.linalg.norm(x[:3]), t * float(np.linalg.norm(x[:3]))
        S = tilde(axis)
        turn = (np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * S @ S) @ R
        now = q + t * x[6:]
        own = points.place[0] + points.Phi[0] @ now + 0.5 * np.einsum("aij,i,j->a", points.Chi[0], now, now)
        return np.asarray(t * x[3:6] + turn @ own)

    T, fast = handles(points, R, x[:3], q, x[6:])
    h = 1e-4
    np.testing.assert_allclose((T[0] @ x)[3:], (place(h) - place(-h)) / (2.0 * h), atol=1e-7)
    np.testing.assert_allclose(fast[0, 3:], (place(h) - 2.0 * place(0.0) + place(-h)) / h**2, atol=1e-6)
    np.testing.assert_allclose((T[0] @ x)[:3], x[:3] + R @ points.Psi[0] @ x[6:], atol=1e-15)


def test_slopes_turn_the_axis_of_a_beam() -> None:
    """``Psi q x e_x`` is the slope of the deflection along the beam, in both planes of bending."""
    q, e = np.array([0.0, 0.01, -0.02, 0.03]), 1e-5
    near, at, far = (beam_points(BEAM, SPATIAL, np.array([x])) for x in (0.4 - e, 0.4, 0.4 + e))
    slope = (far.Phi[0] - near.Phi[0]) @ q / (2.0 * e)
    assert np.abs(slope[1:]).min() > 1e-3
    np.testing.assert_allclose(np.cross(at.Psi[0] @ q, [1.0, 0.0, 0.0]), [0.0, slope[1], slope[2]], atol=1e-9)
