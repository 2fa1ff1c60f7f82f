"""Quaternions and frames against their definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from signorini._arrays import Array
from signorini.math.rotation import matrix, multiply, rotate, tangent_frame, turn_euler, turn_exact, unrotate

vectors = st.tuples(*[st.floats(-5.0, 5.0)] * 3).map(np.array)
quaternions = st.tuples(*[st.floats(-1.0, 1.0)] * 4).map(np.array).filter(lambda e: np.linalg.norm(e) > 0.1)
ROUNDOFF = 1e-13


def scipy_rotation(e: Array) -> Rotation:
    return Rotation.from_quat(np.roll(e, -1))  # SciPy has the scalar last


@given(quaternions, vectors)
def test_rotate_matrix_and_unrotate_agree_with_scipy(e: Array, x: Array) -> None:
    e = e / np.linalg.norm(e)
    R = scipy_rotation(e).as_matrix()
    np.testing.assert_allclose(rotate(e, x), R @ x, atol=1e-12)
    np.testing.assert_allclose(unrotate(e, x), R.T @ x, atol=1e-12)
    np.testing.assert_allclose(np.array(matrix(e)).reshape(3, 3), R, atol=ROUNDOFF)


@given(quaternions, quaternions)
def test_product_is_composition(a: Array, b: Array) -> None:
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    R = (scipy_rotation(a) * scipy_rotation(b)).as_matrix()
    np.testing.assert_allclose(np.array(matrix(multiply(a, b))).reshape(3, 3), R, atol=ROUNDOFF)


@given(quaternions, vectors, st.floats(1e-9, 2.0))
def test_exact_turn_is_the_exponential_in_world_axes(e: Array, omega: Array, h: float) -> None:
    """R+ = exp(h [omega]x) R."""
    e = e / np.linalg.norm(e)
    expected = (Rotation.from_rotvec(h * omega) * scipy_rotation(e)).as_matrix()
    np.testing.assert_allclose(np.array(matrix(turn_exact(e, omega, h))).reshape(3, 3), expected, atol=1e-12)


@given(quaternions, vectors, st.floats(1e-6, 1.0))
def test_euler_turn_is_the_renormalised_kinematic_map(e: Array, omega: Array, h: float) -> None:
    """E + h G(e) omega, G as in S1 spec section 2."""
    e = e / np.linalg.norm(e)
    w, x, y, z = e
    G = 0.5 * np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]])
    expected = e + h * G @ omega
    np.testing.assert_allclose(turn_euler(e, omega, h), expected / np.linalg.norm(expected), atol=ROUNDOFF)


@given(vectors.filter(lambda n: np.linalg.norm(n) > 0.1))
def test_tangent_frame_is_right_handed_and_as_promised(n: Array) -> None:
    """T is world x (y where |n_x| > 0.9) projected on the tangent plane; o = n x t."""
    n = n / np.linalg.norm(n)
    t, o = map(np.array, tangent_frame(n))
    axis = np.array([0.0, 1.0, 0.0]) if abs(n[0]) > 0.9 else np.array([1.0, 0.0, 0.0])
    projected = axis - (axis @ n) * n
    np.testing.assert_allclose(t, projected / np.linalg.norm(projected), atol=ROUNDOFF)
    np.testing.assert_allclose(o, np.cross(n, t), atol=ROUNDOFF)
