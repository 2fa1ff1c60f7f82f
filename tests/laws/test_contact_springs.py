"""Contacts with a stiffness: implicit springs along the normal, friction rigid."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg

G, K, H = 9.81, 2e4, 1e-3


def on_floor(*, tilt: float = 0.0, mu: float = 0.5, height: float = 0.5, restitution: float = 0.0) -> sg.Scene:
    """Return a unit cube of 2 kg on a floor that is tilted about y."""
    scene = sg.Scene(gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((1, 1, 1)), mass=2.0, position=(0, 0, height), name="cube")
    scene.set_contact(friction=mu, restitution=restitution)
    return scene


def test_a_cube_sinks_by_its_weight_over_the_stiffness_and_says_so() -> None:
    trajectory = sg.simulate(on_floor(), duration=1.0, h=H, formulation=sg.MoreauJean(stiffness=K))
    depth = 2.0 * G / (4.0 * K)  # four corners
    assert 0.5 - trajectory.position("cube")[-1, 2] == pytest.approx(depth, rel=1e-3)
    certificate = trajectory.certificate
    assert certificate.deflection[-1] == pytest.approx(depth, rel=1e-3)
    assert certificate.compliance[-1] == pytest.approx(1.0 / (K * H * H), rel=1e-12)
    assert not certificate.failed().any()


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_energy_goes_to_and_fro_between_height_and_springs(theta: float) -> None:
    """A cube dropped from 5 cm: what it has and what the springs store add up to what it had, less what is lost."""
    scene = on_floor(height=0.55)
    trajectory = sg.simulate(scene, duration=0.15, h=1e-4, formulation=sg.MoreauJean(stiffness=K, theta=theta))
    assert trajectory.certificate.energy_error.max() < 1e-12
    assert trajectory.certificate.correction_work.max() == 0.0
    energy = trajectory.energy()
    lowest = trajectory.position("cube")[:, 2].argmin()
    depth = 0.5 - trajectory.position("cube")[lowest, 2]
    assert energy.elastic[lowest] == pytest.approx(4 * 0.5 * K * depth**2, rel=1e-2)
    # Energy at the lowest point: 2 K x^2 = m g (0.05 + x).
    expected = (2.0 * G + np.sqrt((2.0 * G) ** 2 + 8.0 * K * 2.0 * G * 0.05)) / (4.0 * K)
    assert depth == pytest.approx(expected, rel=0.02)


def test_springs_do_not_creep_on_a_slope() -> None:
    trajectory = sg.simulate(
        on_floor(tilt=np.radians(20.0)), duration=2.0, h=2 * H, tolerance=1e-10, formulation=sg.MoreauJean(stiffness=K)
    )
    assert np.abs(trajectory.v[-1, -1, 0]) < 1e-12


def test_a_bouncing_body_rises_to_where_it_came_from_as_h_goes_to_zero() -> None:
    """Springs rebound by themselves; what the implicit scheme takes is of first order in h."""
    lost = []
    for h in (4e-4, 2e-4):
        scene = on_floor(height=0.6)
        trajectory = sg.simulate(scene, duration=0.35, h=h, formulation=sg.MoreauJean(stiffness=K))
        top = trajectory.position("cube")[int(0.2 / h) :, 2].max()
        lost.append(0.6 - top)
    assert lost[0] < 0.05
    assert lost[1] == pytest.approx(0.5 * lost[0], rel=0.25)


def test_a_stiffness_must_be_positive_and_goes_without_restitution() -> None:
    with pytest.raises(sg.InputError, match="stiffness"):
        sg.MoreauJean(stiffness=0.0)
    with pytest.raises(sg.InputError, match=r"restitution is 0\.5, must be 0"):
        sg.Simulator(on_floor(restitution=0.5), h=H, formulation=sg.MoreauJean(stiffness=K))
