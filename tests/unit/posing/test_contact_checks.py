"""Sticking, slipping and parting are told apart as well as the tolerance allows."""

import numpy as np
import pytest

import signorini as sg
from signorini.posing.contact_checks import SEPARATING, SLIP, STICK, check_contacts
from signorini.problems import FrictionProblem

MU, TOLERANCE = 0.5, 1e-6


def checked(
    p: tuple[float, float, float], u: tuple[float, float, float], ellipsoid: tuple[float, float] | None = None
) -> tuple[int, float, float]:
    """Return mode, excess and angle of one contact of unit mass beside one that bears a load of 10."""
    impulse, velocity = np.array([p, (10.0, 0.0, 0.0)]), np.array([u, (0.0, 0.0, 0.0)])
    problem = FrictionProblem(
        np.eye(6), np.array([-1.0, 0.0, 0.0, -10.0, 0.0, 0.0]), np.full(2, MU), ellipsoid=ellipsoid
    )
    mode, excess, angle = check_contacts(problem, impulse.reshape(-1), impulse, velocity, TOLERANCE)
    assert mode[1] == STICK
    return int(mode[0]), excess, angle


@pytest.mark.kernels
def test_a_slip_within_the_tolerance_is_sticking_if_friction_is_within_its_cone() -> None:
    mode, excess, angle = checked((1.0, 0.1, 0.0), (0.0, 1e-7, 0.0))
    assert mode == STICK
    assert excess == angle == 0.0


@pytest.mark.kernels
def test_friction_along_a_real_slip_is_not_forgiven() -> None:
    mode, _, angle = checked((1.0, 0.5, 0.0), (0.0, 1e-3, 0.0))
    assert mode == SLIP
    assert angle == pytest.approx(np.pi)


@pytest.mark.kernels
def test_a_slow_slip_is_slipping_if_friction_opposes_it_with_all_its_strength() -> None:
    mode, excess, angle = checked((1.0, -0.3, -0.4), (0.0, 3e-7, 4e-7))
    assert mode == SLIP
    assert excess == 0.0
    assert angle == pytest.approx(0.0, abs=1e-12)


@pytest.mark.kernels
def test_a_contact_without_impulse_parts_and_excess_is_of_the_largest_impulse() -> None:
    mode, excess, angle = checked((0.0, 0.1, 0.0), (0.0, 1.0, 0.0))
    assert mode == SEPARATING
    assert angle == 0.0
    assert excess == pytest.approx(0.01)


@pytest.mark.kernels
def test_of_an_ellipsoid_friction_opposes_the_slip_in_scaled_components() -> None:
    """For the half axes (1, 1/2) friction at the slip (1, 2) is -mu (1, 1/2)/sqrt 2: scaled, both are along (1, 1)."""
    p_T = -MU * np.array([1.0, 0.5]) / np.sqrt(2.0)
    mode, excess, angle = checked((1.0, *p_T), (0.0, 1.0, 2.0), ellipsoid=(1.0, 0.5))
    assert mode == SLIP
    assert excess == pytest.approx(0.0, abs=1e-15)
    assert angle == pytest.approx(0.0, abs=1e-12)
    assert checked((1.0, *p_T), (0.0, 1.0, 2.0))[2] > 0.5  # of a disc it would not


@pytest.mark.parametrize("formulation", [sg.MoreauJean(), sg.MoreauJean(theta=0.75), sg.StewartTrinkle()])
def test_boxes_at_rest_stick_at_the_default_tolerance(formulation: sg.MoreauJean | sg.StewartTrinkle) -> None:
    scene = sg.Scene(gravity=(0.0, 0.0, -9.81))
    scene.add_fixed(sg.HalfSpace(normal=(0.3, 0.0, 1.0)), name="slope")
    scene.set_contact(friction=0.6)
    up = np.array([0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    half = 0.5 * np.arctan2(0.3, 1.0)
    turned = (np.cos(half), 0.0, np.sin(half), 0.0)
    for k in range(3):
        scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=tuple((0.5 + k) * up), orientation=turned, name=f"box{k}")
    trajectory = sg.simulate(scene, duration=0.1, h=0.005, formulation=formulation)
    assert not trajectory.certificate.failed().any()
    assert trajectory.certificate.dissipation_angle.max() < 1e-3
    modes = {mode for step in range(5, trajectory.step_count) for mode in trajectory.contacts(step).mode}
    assert {str(mode) for mode in modes} <= {"stick", "separating"}
