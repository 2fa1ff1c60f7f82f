"""The theta scheme: exact parabolas, energy of smooth motion to the second order, impacts that do not rebound."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from tests.joint_scenes import everything, slider, wheel
from tests.scenes import GRAVITY, box_on_slope, tumble

HALF = sg.MoreauJean(theta=0.5)
ROUNDING = 1e-12  # relative to the energies at play, over sums of some hundred terms


def change(trajectory: sg.Trajectory) -> float:
    """Return the largest change of kinetic, potential and elastic energy [J]."""
    energy = trajectory.energy()
    total = energy.kinetic + energy.potential + energy.elastic
    return float(np.abs(total - total[0]).max())


@pytest.mark.parametrize("theta", [0.4999, 1.0001, float("nan")])
def test_theta_is_between_a_half_and_one(theta: float) -> None:
    with pytest.raises(sg.InputError, match="theta is"):
        sg.MoreauJean(theta=theta)


def test_law_free_flight_is_a_parabola() -> None:
    """Law: x = x_0 + v_0 t + g t^2/2 at every step, whatever h; a constant force is followed exactly too."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_body(sg.Sphere(0.1), mass=2.0, position=(0, 0, 0), velocity=(1, 0, 9), name="stone")
    scene.add_force("stone", force=(0.0, 3.0, 0.0))
    trajectory = sg.simulate(scene, duration=2.0, h=0.1, formulation=HALF)
    t = trajectory.time
    expected = np.stack([t, 0.75 * t**2, 9.0 * t - 0.5 * GRAVITY * t**2], axis=1)
    np.testing.assert_allclose(trajectory.position("stone"), expected, atol=1e-12)
    assert trajectory.certificate.energy_error.max() <= ROUNDING
    assert trajectory.energy().loads[-1] == pytest.approx(3.0 * 0.75 * 4.0)  # force times way


def heavy_top(h: float) -> float:
    """Return how much a fast top on its tip changes its energy while it precesses and nods."""
    tilt = 0.4
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_body(
        sg.Sphere(0.05),
        mass=1.0,
        inertia=(0.003, 0.003, 0.005),
        position=0.1 * axis,
        orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
        angular_velocity=60.0 * axis,
        name="top",
    )
    scene.add_joint("spherical", None, "top", anchor=(0, 0, 0), name="tip")
    return change(sg.simulate(scene, duration=0.2, h=h, formulation=HALF))


def test_law_a_heavy_top_keeps_its_energy_to_the_second_order() -> None:
    coarse, fine = heavy_top(2e-3), heavy_top(1e-3)
    assert coarse < 2e-5 * 0.5 * 0.005 * 60.0**2  # of 9 J of spin
    assert coarse / fine > 3.5


def swing(h: float, theta: float) -> float:
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(1, 0, 0), name="bob")
    scene.add_joint("revolute", None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    trajectory = sg.simulate(scene, duration=1.0, h=h, formulation=sg.MoreauJean(theta=theta))
    assert trajectory.certificate.energy_error.max() <= ROUNDING
    assert trajectory.certificate.joint_drift.max() < 0.5 * (h * np.sqrt(2.0 * GRAVITY)) ** 2  # (h omega)^2/2 of 1 m
    return change(trajectory)


def test_law_a_pendulum_keeps_its_energy() -> None:
    """Law: at theta = 1/2 to the second order at least, at theta = 1 to the first."""
    half, half_fine, one, one_fine = (swing(h, theta) for theta in (0.5, 1.0) for h in (0.01, 0.005))
    assert half < 0.01 * one
    assert half / half_fine > 3.5
    assert 1.7 < one / one_fine < 2.3


def test_law_a_linear_spring_keeps_its_energy_exactly() -> None:
    """Law: the mean of the stretches at both ends does the work k (s^2 - s+^2)/2; at h = T/3 as well."""
    for h in (0.01, 0.4):
        trajectory = sg.simulate(slider(spring=(50.0, 0.1)), duration=2.0, h=h, formulation=HALF)
        assert change(trajectory) < 1e-12
        assert trajectory.energy().elastic[0] == pytest.approx(0.25)


@pytest.mark.parametrize("theta", [0.5, 0.7])
def test_law_the_energy_balance_closes_for_every_theta(theta: float) -> None:
    formulation = sg.MoreauJean(theta=theta)
    for scene, duration in ((everything(), 0.1), (tumble(2, 4), 0.6)):
        trajectory = sg.simulate(scene, duration=duration, h=0.005, formulation=formulation, on_failure="raise")
        assert trajectory.certificate.energy_error.max() <= ROUNDING
        assert trajectory.energy().friction[-1] > 0.0


@pytest.mark.parametrize("theta", [0.5, 0.75])
@pytest.mark.parametrize("gravity", [0.0, GRAVITY])
def test_law_a_plastic_impact_does_not_rebound(theta: float, gravity: float) -> None:
    """Law: e = 0: a ball that has drifted into the floor is not thrown back; at rest it overlaps by < 1e-6 of its size.

    Out of an overlap it is lifted no faster than half of what gravity gives in a step.
    """
    scene = sg.Scene(gravity=(0, 0, -gravity))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1037), velocity=(0, 0, -2.0), name="ball")
    h = 1e-3
    trajectory = sg.simulate(scene, duration=0.5, h=h, formulation=sg.MoreauJean(theta=theta), tolerance=1e-10)
    v, z = trajectory.linear_velocity("ball")[:, 2], trajectory.position("ball")[:, 2] - 0.1
    assert z.min() >= -(1.0 - theta) * h * 2.1
    assert v.max() <= 0.5 * gravity * h + 1e-12
    if gravity:
        assert abs(z[-1]) < 1e-6 * 0.1
        assert abs(v[-1]) < 1e-9


@pytest.mark.parametrize("law", ["passive", "newton", "poisson"])
def test_law_an_elastic_ball_bounces_for_ever(law: str) -> None:
    """Law: e = 1 at theta = 1/2: E is the same after many bounces, to rounding."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.15), name="ball")
    scene.set_contact(friction=0.0, restitution=1.0)
    formulation = sg.MoreauJean(theta=0.5, restitution_law=law)
    trajectory = sg.simulate(scene, duration=2.0, h=2e-3, formulation=formulation, tolerance=1e-10)
    bounces = np.count_nonzero(np.diff(np.sign(trajectory.linear_velocity("ball")[:, 2])) > 0)
    assert bounces >= 8
    assert change(trajectory) < 1e-12
    assert trajectory.certificate.energy_error.max() <= ROUNDING


def test_law_a_sliding_box_stops_where_it_should() -> None:
    """Law: v^2/(2 mu g); friction is constant while the box slides, so only the last step has an error, < mu g h^2."""
    mu, speed, h = 0.4, 1.5, 2e-3
    velocity = speed * np.array([np.cos(0.3), np.sin(0.3), 0.0])
    trajectory = sg.simulate(
        box_on_slope(0.0, mu, velocity=velocity), duration=0.5, h=h, formulation=HALF, tolerance=1e-10
    )
    travel = trajectory.position("box")[-1] - trajectory.position("box")[0]
    assert np.linalg.norm(travel[:2]) == pytest.approx(speed**2 / (2 * mu * GRAVITY), abs=mu * GRAVITY * h**2)
    assert np.abs(trajectory.linear_velocity("box")[-1]).max() < 1e-9


@pytest.mark.parametrize("theta", [0.5, 0.75])
def test_a_limit_stops_without_rebound(theta: float) -> None:
    h = 0.02
    trajectory = sg.simulate(
        wheel(1.0, limits=(-0.15, 0.25)), duration=0.5, h=h, formulation=sg.MoreauJean(theta=theta)
    )
    joint = trajectory.joint("hinge")
    assert joint.coordinate[13] == pytest.approx(0.25, abs=1e-9)  # the gap closes at the end of a step, no sooner
    assert joint.coordinate[-1] == pytest.approx(0.25, abs=(1.0 - theta) * h)
    assert abs(joint.speed[-1]) < 1e-9


def test_a_driven_joint_is_where_it_should_be() -> None:
    scene = slider(1.2, motion=lambda t: 0.3 * np.sin(4.0 * t))
    trajectory = sg.simulate(scene, duration=0.5, h=0.01, formulation=HALF)
    joint, t = trajectory.joint("guide"), trajectory.time
    np.testing.assert_allclose(joint.coordinate, 0.3 * np.sin(4.0 * t), atol=1e-12)
    np.testing.assert_allclose(joint.speed, 1.2 * np.cos(4.0 * t), atol=2e-3)  # second order
