"""How springs push by how stiff they are beside the step, and that only what can move counts for that."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.dynamics import inverse_inertia, joint_coordinates, joint_rows
from signorini.dynamics.constants import STIFF
from signorini.dynamics.joint_springs import midpoint_shares
from signorini.dynamics.joints import spring_steepness
from signorini.scene.compile import compile_scene


def step(z: float) -> np.ndarray:
    """Return the matrix of a step of an oscillator: (h u, s) of unit mass, by the law of the module."""
    q = float(midpoint_shares(np.array(z)))
    a, b = (1.0 + 0.25 * q * z) / (1.0 + (1.0 - 0.75 * q) * z), z / (1.0 + (1.0 - 0.75 * q) * z)
    return np.array([[a, -b], [a, 1.0 - b]])


def test_a_radian_a_step_is_the_bound() -> None:
    assert STIFF == 1.0
    np.testing.assert_array_equal(
        midpoint_shares(np.array([[0.0, 0.5, 1.0], [2.0, 4.0, 1e6]])), [[1, 1, 1], [0.5, 0.25, 1e-6]]
    )


@pytest.mark.parametrize("z", [1e-4, 0.3, 1.0, 1.1, 2.0, 5.0, 30.0, 1e3, 1e6])
def test_areas_are_kept_and_then_lost(z: float) -> None:
    """And no step makes an oscillation larger."""
    A = step(z)
    assert np.linalg.det(A) == pytest.approx(1.0 if z <= 1.0 else 5.0 / (4.0 * z + 1.0), rel=1e-9)
    assert np.abs(np.linalg.eigvals(A)).max() <= 1.0 + 1e-12


@pytest.mark.parametrize("z", [0.3, 1.0, 1.01, 1.5, 3.0, 10.0, 900.0])
def test_energy_before_the_end_of_steps_never_rises(z: float) -> None:
    """By the formula of the module; it stays the same up to the bound."""
    q, A = float(midpoint_shares(np.array(z))), step(z)
    for angle in np.linspace(0.0, np.pi, 50):
        u, s = np.cos(angle), np.sin(angle)
        v, r = A @ (u, s)
        fall = 0.5 * u**2 + 0.5 * z * (s - 0.5 * q * u) ** 2 - 0.5 * v**2 - 0.5 * z * (r - 0.5 * q * v) ** 2
        told = 0.5 * (1.0 - q) * ((z + 0.5) * v**2 - 1.5 * v * u + u**2)
        assert fall == pytest.approx(told, rel=1e-9, abs=1e-12 * z)
        assert told >= 0.0


@pytest.mark.parametrize(("stiffness", "told"), [(1e-6, 1.0 / 1.6e-4), (100.0, 1.0 / (1.0 + 1.6e-4))])
def test_joints_are_asked_where_free_bodies_would_move_too_easily(stiffness: float, told: float) -> None:
    """A small ball at the end of an arm of a metre, of 1 kg, with a spring in its hinge: h = 0.1 s."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.02), mass=1.0, position=(1, 0, 0), name="ball")
    scene.add_joint("revolute", None, "ball", anchor=(0, 0, 0), axis=(0, 1, 0), spring=stiffness)
    model = compile_scene(scene)
    state = model.initial_state
    near = joint_coordinates(model.joints, state.q, np.zeros(1))
    rows, M_inv = (
        joint_rows(model.joints.arrays, model.joints.rows, state.q, near),
        inverse_inertia(model.arrays, state.q),
    )
    z = spring_steepness(model, state, near, rows, M_inv, 0.1)
    np.testing.assert_allclose(z, [0.01 * stiffness * told], rtol=1e-11)  # the ball alone: 6000 times as much
