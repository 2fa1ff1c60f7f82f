"""What rests stays, what slides stops where it should: figures at the tolerances that the engine promises."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from tests.scenes import GRAVITY, box_on_slope, stack


def test_law_no_creep_on_a_slope() -> None:
    """Law: below the friction angle nothing moves: less than 1e-12 m/s over 2 s at a tolerance of 1e-10."""
    duration = 2.0
    trajectory = sg.simulate(box_on_slope(np.radians(20.0), 0.5), duration=duration, h=2e-3, tolerance=1e-10)
    x = trajectory.position("box")
    half = x.shape[0] // 2  # the first steps may settle a gap of rounding
    assert np.linalg.norm(x[-1] - x[half]) / (0.5 * duration) < 1e-12
    assert np.abs(trajectory.linear_velocity("box")[half:]).max() < 1e-12
    assert trajectory.certificate.residual.max() <= 1e-10


def test_law_a_box_launched_at_30_degrees_stops_in_time() -> None:
    """Law: v^2/(2 mu g) along the launch: within 0.5 % at h = 2 ms, direction within 0.1 degree."""
    mu, speed, direction, h = 0.3, 2.0, np.radians(30.0), 2e-3
    velocity = speed * np.array([np.cos(direction), np.sin(direction), 0.0])
    trajectory = sg.simulate(box_on_slope(0.0, mu, velocity=velocity), duration=0.8, h=h, tolerance=1e-10)
    travel = trajectory.position("box")[-1] - trajectory.position("box")[0]
    assert np.linalg.norm(travel) == pytest.approx(speed**2 / (2 * mu * GRAVITY), rel=5e-3)
    assert np.degrees(np.arctan2(travel[1], travel[0])) == pytest.approx(30.0, abs=0.1)
    assert np.abs(trajectory.linear_velocity("box")[-1]).max() < 1e-12


@pytest.mark.parametrize("ratio", [1e3, 1e6])
def test_law_heavy_on_light_stands(ratio: float) -> None:
    """Law: nine boxes of 1 kg carry one of 1 t, or of 1000 t: drift below 1e-4 m at residuals of 1e-8."""
    trajectory = sg.simulate(stack(10, top_mass=ratio), duration=1.0, h=5e-3, tolerance=1e-8, on_failure="raise")
    for k in range(10):
        assert np.linalg.norm(trajectory.position(f"box{k}") - [0, 0, 0.5 + k], axis=1).max() < 1e-4
    assert trajectory.certificate.residual.max() <= 1e-8
    assert trajectory.certificate.energy_error.max() <= 1e-12
