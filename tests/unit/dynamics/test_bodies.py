"""Inertia in world axes, the gyroscopic term and kinetic energy of single bodies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signorini._arrays import Array
from signorini.dynamics import free_velocity, inverse_inertia, kinetic_energy
from signorini.math.rotation import matrix
from signorini.model import ModelArrays

pytestmark = pytest.mark.kernels

INERTIA = np.array([[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]])
ROUNDOFF = 1e-13


def one_body(free: tuple[float, ...] = (1.0,) * 6) -> ModelArrays:
    return arrays(1.5, INERTIA, free)


def arrays(mass: float, inertia: Array, free: tuple[float, ...]) -> ModelArrays:
    return ModelArrays(
        np.array([mass]), inertia[None].copy(), np.array([free]), np.zeros(3), np.zeros((1, 6)), np.ones(1)
    )


def pose(e: Array) -> Array:
    return np.concatenate([[0.3, -0.2, 0.1], e / np.linalg.norm(e)])[None]


def rotation(q: Array) -> Array:
    return np.array(matrix(q[0, 3:])).reshape(3, 3)


quaternions = st.tuples(*[st.floats(-1.0, 1.0)] * 4).map(np.array).filter(lambda e: np.linalg.norm(e) > 0.1)
spins = st.tuples(*[st.floats(-20.0, 20.0).map(lambda x: round(x, 3))] * 3).map(np.array)


@given(quaternions)
def test_inverse_inertia_is_the_inverse_of_the_turned_inertia(e: Array) -> None:
    """M = diag(m, R I R^T)."""
    q = pose(e)
    R = rotation(q)
    M = np.block([[1.5 * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), R @ INERTIA @ R.T]])
    np.testing.assert_allclose(inverse_inertia(one_body(), q)[0] @ M, np.eye(6), atol=ROUNDOFF)


def test_inverse_inertia_of_a_planar_body_knows_only_its_free_directions() -> None:
    """A body that may turn about z only has the rotational inertia I_zz, whatever its products of inertia."""
    M_inv = inverse_inertia(one_body((1.0, 1.0, 0.0, 0.0, 0.0, 1.0)), pose(np.array([1.0, 0.0, 0.0, 0.0])))[0]
    np.testing.assert_allclose(M_inv, np.diag([1 / 1.5, 1 / 1.5, 0.0, 0.0, 0.0, 1 / 4.0]), atol=ROUNDOFF)


def test_inverse_inertia_of_a_fixed_body_is_zero() -> None:
    fixed = arrays(0.0, np.zeros((3, 3)), (0.0,) * 6)
    assert not inverse_inertia(fixed, pose(np.array([1.0, 0.0, 0.0, 0.0]))).any()


@given(quaternions, spins, st.floats(1e-4, 0.5))
def test_implicit_gyroscopic_term_solves_its_equation(e: Array, omega: Array, turn: float) -> None:
    """I (w - omega) + h w x I w = 0, for turns h |omega| of up to half a radian."""
    h = turn / (1e-3 + float(np.linalg.norm(omega)))
    q, v = pose(e), np.concatenate([np.zeros(3), omega])[None]
    w = free_velocity(one_body(), q, v, h, implicit=True)[0, 3:]
    I = rotation(q) @ INERTIA @ rotation(q).T
    scale = 1e-3 + np.abs(I @ omega).max()
    np.testing.assert_allclose(I @ (w - omega) + h * np.cross(w, I @ w), 0.0, atol=1e-12 * scale)


@given(quaternions, spins, st.floats(1e-4, 1.0))
def test_implicit_gyroscopic_term_never_raises_energy(e: Array, omega: Array, h: float) -> None:
    """T(w) - T(omega) = -1/2 |w - omega|_I^2 summed over the parts of the step: never positive, at any speed."""
    q, v = pose(e), np.concatenate([np.zeros(3), omega])[None]
    w = free_velocity(one_body(), q, v, h, implicit=True)
    before, after = kinetic_energy(one_body(), q, v)[0], kinetic_energy(one_body(), q, w)[0]
    assert after <= before * (1.0 + 1e-13)


@given(spins)
def test_both_gyroscopic_terms_agree_to_first_order(omega: Array) -> None:
    """Both advance I omega' = -omega x I omega; they differ by O(h^2)."""
    q, v = pose(np.array([0.8, 0.1, -0.5, 0.3])), np.concatenate([np.zeros(3), omega])[None]
    I = rotation(q) @ INERTIA @ rotation(q).T
    h = 1e-6
    expected = omega - h * np.linalg.solve(I, np.cross(omega, I @ omega))
    for implicit in (True, False):
        w = free_velocity(one_body(), q, v, h, implicit=implicit)[0, 3:]
        np.testing.assert_allclose(w, expected, atol=1e-11 * (1.0 + np.abs(omega).max()) ** 3)


@given(quaternions, spins, spins)
def test_kinetic_energy(e: Array, u: Array, omega: Array) -> None:
    """T = (m |v|^2 + omega . R I R^T omega) / 2."""
    q, v = pose(e), np.concatenate([u, omega])[None]
    R = rotation(q)
    expected = 0.5 * (1.5 * u @ u + omega @ R @ INERTIA @ R.T @ omega)
    assert kinetic_energy(one_body(), q, v)[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
