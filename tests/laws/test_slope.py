"""Coulomb's law on a slope: what must stick sticks, what must slide slides as it should."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from tests.scenes import BOTH, GRAVITY, box_on_slope

SLOPE = np.radians(20.0)


@pytest.mark.parametrize("formulation", BOTH, ids=lambda f: type(f).__name__)
def test_law_no_creep_below_the_friction_angle(formulation: sg.MoreauJean) -> None:
    """Law: tan(20 deg) = 0.364 < mu = 0.5, so the box does not move: less than 1e-9 m in 10 s."""
    trajectory = sg.simulate(box_on_slope(SLOPE, 0.5), duration=10.0, h=0.005, formulation=formulation, tolerance=1e-10)
    x = trajectory.position("box")
    assert np.linalg.norm(x - x[0], axis=1).max() < 1e-9
    assert trajectory.certificate.residual.max() <= 1e-9


@pytest.mark.parametrize("formulation", BOTH, ids=lambda f: type(f).__name__)
def test_law_acceleration_above_the_friction_angle(formulation: sg.MoreauJean) -> None:
    """Law: a = g (sin a - mu cos a) down the slope, to 0.1 %; the slip is along a direction of the polygon too."""
    mu, duration = 0.3, 0.5
    trajectory = sg.simulate(box_on_slope(SLOPE, mu), duration=duration, h=0.001, formulation=formulation)
    downhill = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
    acceleration = trajectory.linear_velocity("box")[-1] @ downhill / duration
    assert acceleration == pytest.approx(GRAVITY * (np.sin(SLOPE) - mu * np.cos(SLOPE)), rel=1e-3)


def test_law_friction_opposes_slip_in_any_direction() -> None:
    """Law: on the level a sliding box stops after v^2/(2 mu g), in a straight line, whatever the direction."""
    mu, speed, direction, h = 0.4, 1.5, 0.3, 1e-3
    velocity = speed * np.array([np.cos(direction), np.sin(direction), 0.0])
    trajectory = sg.simulate(box_on_slope(0.0, mu, velocity=velocity), duration=0.5, h=h)
    travel = trajectory.position("box")[-1] - trajectory.position("box")[0]
    distance = speed**2 / (2 * mu * GRAVITY)
    # The scheme moves with the velocity at the end of each step: short by v h / 2.
    assert np.linalg.norm(travel) == pytest.approx(distance - 0.5 * speed * h, rel=1e-4)
    assert np.arctan2(travel[1], travel[0]) == pytest.approx(direction, abs=1e-6)
    assert np.abs(trajectory.linear_velocity("box")[-1]).max() < 1e-12


def test_law_polygon_loses_friction_between_its_directions() -> None:
    """Law (S1 spec 7.2): slip on the bisector of two of n_d directions meets mu cos(pi/n_d) only."""
    mu, n_d, h, steps = 0.4, 8, 1e-3, 50
    velocity = 1.5 * np.array([np.cos(np.pi / n_d), np.sin(np.pi / n_d), 0.0])
    scene = box_on_slope(0.0, mu, velocity=velocity)
    trajectory = sg.simulate(scene, duration=steps * h, h=h, formulation=sg.StewartTrinkle(directions=n_d))
    lost = np.linalg.norm(velocity) - np.linalg.norm(trajectory.linear_velocity("box")[-1])
    assert lost / (steps * h) == pytest.approx(mu * np.cos(np.pi / n_d) * GRAVITY, rel=1e-9)
