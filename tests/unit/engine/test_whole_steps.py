"""Steps of whole scenes by closed forms: also what Numba alone makes of all their kernels."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from tests.joint_scenes import wheel
from tests.scenes import GRAVITY, box_on_slope

pytestmark = pytest.mark.kernels


def test_a_box_slides_to_rest() -> None:
    """Law: v = v_0 - mu g t until it rests, and then it stays; it never leaves the plane."""
    h, mu, steps = 0.01, 0.5, 40
    simulator = sg.Simulator(box_on_slope(0.0, mu, velocity=np.array([1.0, 0.0, 0.0])), h=h)
    speed, height = [], []
    for _ in range(steps):
        simulator.step()
        speed.append(float(simulator.state.v[-1, 0]))
        height.append(float(simulator.state.q[-1, 2]))
    expected = np.maximum(0.0, 1.0 - mu * GRAVITY * h * np.arange(1, steps + 1))
    np.testing.assert_allclose(speed, expected, atol=1e-9)  # of 1 m/s: sums of forty steps solved to 1e-8 of their load
    np.testing.assert_allclose(height, 0.2, atol=1e-9)


def test_a_wheel_on_a_hinge_turns_on_until_friction_stops_it() -> None:
    """Law: I omega = I omega_0 - f t; its centre stays where the hinge holds it against gravity."""
    h, inertia, friction, steps = 0.01, 0.4, 0.8, 60
    simulator = sg.Simulator(wheel(1.0, inertia=inertia, gravity=GRAVITY, friction=friction), h=h)
    spin = []
    for _ in range(steps):
        simulator.step()
        spin.append(float(simulator.state.v[-1, 4]))
    expected = np.maximum(0.0, 1.0 - friction / inertia * h * np.arange(1, steps + 1))
    np.testing.assert_allclose(spin, expected, atol=1e-9)
    np.testing.assert_allclose(simulator.state.q[-1, :3], 0.0, atol=1e-12)
