"""Couples and ellipsoidal friction against closed forms of mechanics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.problems import FrictionProblem
from signorini.solvers import solve

G = 9.81


def contact_rows(R: float, *, torsional: bool, rolling: bool) -> Array:
    """Rows (n, t, o[, tau][, rho_t, rho_o]) of a ball of radius R on the plane z = 0, for (v, omega)."""
    n, t, o = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    arm = -R * n
    rows = [np.concatenate([d, np.cross(arm, d)]) for d in (n, t, o)]
    couples = ([n] if torsional else []) + ([t, o] if rolling else [])
    return np.array(rows + [np.concatenate([np.zeros(3), d]) for d in couples])


def step(J: Array, M: Array, v: Array, force: Array, h: float, mu: float, **law: Any) -> Array:
    """Return the velocity after one implicit step of a body with a single persistent contact."""
    free = v + h * force / M
    problem = FrictionProblem(J @ np.diag(1.0 / M) @ J.T, J @ free, np.array([mu]), **law)
    solution = solve(problem, tolerance=1e-12)
    assert solution.success
    return np.asarray(free + (J.T @ solution.z) / M)


def test_spinning_ball_is_stopped_by_torsional_friction() -> None:
    """I w' = - torsional m g: the spin falls linearly and the ball stops at t = I w_0 / (torsional m g), for good."""
    m, R, e, w_0, h = 2.0, 0.1, 0.004, 3.0, 1e-3
    inertia = 0.4 * m * R * R
    M = np.array([m, m, m, inertia, inertia, inertia])
    J = contact_rows(R, torsional=True, rolling=False)
    stop = inertia * w_0 / (e * m * G)
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, w_0])
    for k in range(1, int(1.2 * stop / h)):
        v = step(J, M, v, np.array([0.0, 0.0, -m * G, 0.0, 0.0, 0.0]), h, 0.5, torsional=e)
        assert v[5] == pytest.approx(max(0.0, w_0 - e * m * G * k * h / inertia), abs=1e-9)
        np.testing.assert_allclose(v[:5], 0.0, atol=1e-10)


@pytest.mark.parametrize("ratio", [0.5, 0.99, 1.01, 1.5, 3.0])
@pytest.mark.parametrize("both", [False, True])
def test_ball_on_an_incline_rolls_if_it_is_steep_enough(ratio: float, both: bool) -> None:
    """A ball rolls iff tan(alpha) > rolling/R, with a = (g sin(alpha) - rolling g cos(alpha)/R) / (1 + I/(m R^2)).

    The friction coefficient is large enough that it does not slide; a torsional couple changes nothing.
    """
    m, R, rolling, h = 1.5, 0.2, 0.03, 1e-2
    alpha = np.arctan(ratio * rolling / R)
    inertia = 0.4 * m * R * R
    M = np.array([m, m, m, inertia, inertia, inertia])
    J = contact_rows(R, torsional=both, rolling=True)
    gravity = m * G * np.array([np.sin(alpha), 0.0, -np.cos(alpha), 0.0, 0.0, 0.0])
    law: dict[str, Any] = {"rolling": rolling, **({"torsional": 0.01} if both else {})}
    v = np.zeros(6)
    for k in range(1, 11):
        v = step(J, M, v, gravity, h, 1.0, **law)
        a = max(0.0, (G * np.sin(alpha) - rolling * G * np.cos(alpha) / R) / (1.0 + inertia / (m * R * R)))
        assert v[0] == pytest.approx(a * k * h, abs=1e-10)
        assert v[4] == pytest.approx(v[0] / R, abs=1e-9)  # rolls without slip


def test_planar_disc_on_an_incline() -> None:
    """The same in the plane: disc of inertia m R^2/2, one couple about z."""
    m, R, rolling, h = 1.0, 0.5, 0.1, 1e-2
    M = np.array([m, m, 0.5 * m * R * R])
    J = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, R], [0.0, 0.0, 1.0]])
    for ratio in (0.9, 2.0):
        alpha = np.arctan(ratio * rolling / R)
        v = step(
            J, M, np.zeros(3), m * G * np.array([np.sin(alpha), -np.cos(alpha), 0.0]), h, 2.0, dim=2, rolling=rolling
        )
        a = max(0.0, G * np.sin(alpha) - rolling * G * np.cos(alpha) / R) / 1.5
        assert v[0] == pytest.approx(a * h, abs=1e-12)
        assert v[2] == pytest.approx(-v[0] / R, abs=1e-11)


def test_rolling_ball_comes_to_rest() -> None:
    """On the level a rolling ball slows down by rolling g/R / (1 + 2/5): it stops at v_0^2 / (2 a)."""
    m, R, rolling, h, v_0 = 1.0, 0.1, 0.002, 1e-3, 0.3
    inertia = 0.4 * m * R * R
    M = np.array([m, m, m, inertia, inertia, inertia])
    J = contact_rows(R, torsional=False, rolling=True)
    a = rolling * G / R / 1.4
    v, x = np.array([v_0, 0.0, 0.0, 0.0, v_0 / R, 0.0]), 0.0
    while v[0] > 1e-9:
        v = step(J, M, v, np.array([0.0, 0.0, -m * G, 0.0, 0.0, 0.0]), h, 0.5, rolling=rolling)
        x += h * v[0]
        assert x < v_0**2 / (2.0 * a)
    assert x == pytest.approx(v_0**2 / (2.0 * a), abs=v_0 * h)  # the implicit step is first order in h


@pytest.mark.parametrize("e", [(1.0, 0.4), (1.0, 0.4, 0.05)])
def test_anisotropic_sliding(e: tuple[float, ...]) -> None:
    """S3, section 3: sliding friction is p_k = - mu p_n e_k^2 s_k / |E s| with the slip s after the step."""
    m, inertia, h, mu = 1.0, 0.1, 1e-3, 0.3
    M = np.array([m, m, m, inertia])[: 1 + len(e)]
    J = np.eye(M.size)  # (n, t, o[, turn about n])
    v = np.array([0.0, 1.0, 1.0, 2.0])[: M.size]
    weight = np.zeros(M.size)
    weight[0] = -m * G
    E = np.array(e)
    for _ in range(100):
        after = step(J, M, v, weight, h, mu, ellipsoid=e)
        s = after[1:]
        impulse = M[1:] * (s - v[1:])
        np.testing.assert_allclose(impulse, -mu * m * G * h * E**2 * s / np.linalg.norm(E * s), atol=1e-12)
        v = after
    assert v[1] < v[2]  # braked more along the longer half axis


def test_ellipsoid_stops_spin_and_slip_together() -> None:
    """With I = m e_r^2, e_t = e_o = 1 the scaled motion is isotropic: (v_t, v_o, e_r w) keeps its direction."""
    m, e_r, mu, h = 1.0, 0.05, 0.4, 1e-3
    M = np.array([m, m, m, m * e_r**2])
    x_0 = np.array([0.3, -0.2, 0.4])
    v = np.array([0.0, x_0[0], x_0[1], x_0[2] / e_r])
    for k in range(1, 200):
        v = step(np.eye(4), M, v, -m * G * np.eye(4)[0], h, mu, ellipsoid=(1.0, 1.0, e_r))
        size = np.linalg.norm(x_0)
        expected = x_0 / size * max(0.0, size - mu * G * k * h)
        np.testing.assert_allclose([v[1], v[2], e_r * v[3]], expected, atol=1e-10)
