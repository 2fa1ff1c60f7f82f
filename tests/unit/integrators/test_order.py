"""Integrators on systems with known motions: a swinging mass, and a top in free flight whose turns do not commute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.integrators import RK4, SemiImplicitEuler
from signorini.math.rotation import matrix, turn_exact

SCHEMES = [(SemiImplicitEuler(), 1), (RK4(), 4)]


def added(q: Array, d: Array) -> Array:
    return q + d


def turned(q: Array, d: Array) -> Array:
    return np.array(turn_exact(tuple(q), tuple(d), 1.0))


def run(scheme: Any, accelerated: Any, moved: Any, q: Array, u: Array, steps: int, span: float) -> tuple[Array, Array]:
    for k in range(steps):
        q, u = scheme.advance(accelerated, moved, k * span / steps, q, u, span / steps)
    return q, u


@pytest.mark.parametrize(("scheme", "order"), SCHEMES)
def test_order_on_a_driven_oscillator(scheme: Any, order: int) -> None:
    """The solution of x'' = -x + 2 cos t from rest at 0 moves as t sin t."""

    def error(steps: int) -> float:
        q, u = run(scheme, lambda t, q, u: -q + 2.0 * np.cos(t), added, np.zeros(1), np.zeros(1), steps, 2.0)
        exact = [2.0 * np.sin(2.0), np.sin(2.0) + 2.0 * np.cos(2.0)]
        return float(np.abs(np.array([q[0], u[0]]) - exact).max())

    assert np.log2(error(40) / error(80)) == pytest.approx(order, abs=0.15)


INERTIA = np.diag([1.0, 2.0, 3.0])


def spun(t: float, q: Array, u: Array) -> Array:
    """Return the rate of the world spin of a body that nothing touches."""
    R = np.array(matrix(tuple(q))).reshape(3, 3)
    I = R @ INERTIA @ R.T
    return np.linalg.solve(I, -np.cross(u, I @ u))


@pytest.mark.parametrize(("scheme", "order"), SCHEMES)
def test_order_where_moves_do_not_commute(scheme: Any, order: int) -> None:
    """The angular momentum of a free body stays; its error falls by the order of the scheme."""
    u = np.array([1.0, 2.0, 0.5])

    def error(steps: int) -> float:
        q, end = run(scheme, spun, turned, np.array([1.0, 0.0, 0.0, 0.0]), u, steps, 3.0)
        R = np.array(matrix(tuple(q))).reshape(3, 3)
        return float(np.abs(R @ INERTIA @ R.T @ end - INERTIA @ u).max())

    assert np.log2(error(100) / error(200)) == pytest.approx(order, abs=0.2)


def test_runge_kutta_is_the_classical_method_where_configurations_are_vectors() -> None:
    def f(x: Array) -> Array:
        return np.array([x[1], -np.sin(x[0]) - 0.1 * x[1]])

    x, h = np.array([1.0, 0.3]), 0.1
    k_1 = f(x)
    k_2 = f(x + 0.5 * h * k_1)
    k_3 = f(x + 0.5 * h * k_2)
    k_4 = f(x + h * k_3)
    classical = x + h / 6.0 * (k_1 + 2.0 * k_2 + 2.0 * k_3 + k_4)
    q, u = RK4().advance(lambda t, q, u: -np.sin(q) - 0.1 * u, added, 0.0, x[:1], x[1:], h)
    np.testing.assert_allclose([q[0], u[0]], classical, rtol=1e-15)


@pytest.mark.parametrize("scheme", [scheme for scheme, _ in SCHEMES])
def test_arguments_are_not_written_into(scheme: Any) -> None:
    q, u = np.ones(2), np.ones(2)
    scheme.advance(lambda t, q, u: -q, added, 0.0, q, u, 0.1)
    assert (q == 1.0).all() and (u == 1.0).all()
