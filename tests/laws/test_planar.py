"""Planar scenes: the same laws in two dimensions, and the same numbers as in space."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from tests.scenes import BOTH, GRAVITY


def rolling_disc() -> sg.Scene:
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(0.5), mass=2.0, position=(0, 0.5), velocity=(3, 0), name="disc")
    scene.set_contact(friction=0.3)
    return scene


@pytest.mark.parametrize("formulation", BOTH, ids=lambda f: type(f).__name__)
def test_law_disc_rolls_at_two_thirds(formulation: sg.MoreauJean) -> None:
    """Law: angular momentum about the contact is kept: v = v_0 / (1 + I/(m r^2)) = 2/3 v_0 for a disc."""
    trajectory = sg.simulate(rolling_disc(), duration=0.6, h=0.01, formulation=formulation)
    assert trajectory.position("disc").shape == (61, 2)
    assert trajectory.orientation("disc").shape == (61,)
    np.testing.assert_allclose(trajectory.linear_velocity("disc")[-1], [2.0, 0.0], atol=1e-10)
    assert trajectory.angular_velocity("disc")[-1] == pytest.approx(-4.0)


def test_law_both_cones_are_the_same_in_the_plane() -> None:
    """In the plane the polygon is the cone: a tumbling polygon moves alike under both formulations."""

    def fall(formulation: sg.MoreauJean | sg.StewartTrinkle) -> sg.Trajectory:
        scene = sg.Scene(planar=True)
        scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
        scene.add_body(
            sg.Polygon([(-0.3, -0.2), (0.4, -0.2), (0.1, 0.4)]),
            mass=1.0,
            position=(0, 0.6),
            orientation=0.3,
            velocity=(1, -1),
            angular_velocity=2.0,
            name="wedge",
        )
        scene.set_contact(friction=0.4)
        return sg.simulate(scene, duration=1.5, h=0.0025, formulation=formulation)

    exact, polygon = fall(sg.MoreauJean()), fall(sg.StewartTrinkle())
    # the two schemes turn by exp(h omega) and by 2 atan(h omega/2): positions agree to second order in h
    np.testing.assert_allclose(exact.position("wedge")[:80], polygon.position("wedge")[:80], atol=1e-4)
    assert np.abs(exact.linear_velocity("wedge")[-1]).max() < 1e-9  # it has come to rest on a side
    assert np.abs(polygon.linear_velocity("wedge")[-1]).max() < 1e-9


def test_law_three_dimensional_form_of_planar_results() -> None:
    trajectory = sg.simulate(rolling_disc(), duration=0.1, h=0.01)
    np.testing.assert_array_equal(trajectory.position("disc", spatial=True)[:, 2], 0.0)
    np.testing.assert_array_equal(trajectory.angular_velocity("disc", spatial=True)[:, :2], 0.0)
    np.testing.assert_array_equal(trajectory.q[:, :, 4:6], 0.0)


def test_law_planar_box_on_a_slope_sticks_and_slides() -> None:
    """Law: sticks for mu > tan a, else accelerates by g (sin a - mu cos a)."""
    angle = np.radians(20.0)
    for mu, expected in ((0.5, 0.0), (0.3, GRAVITY * (np.sin(angle) - 0.3 * np.cos(angle)))):
        scene = sg.Scene(planar=True)
        normal = np.array([np.sin(angle), np.cos(angle)])
        scene.add_fixed(sg.HalfSpace(normal=normal), name="slope")
        square = sg.Polygon([(-0.5, -0.2), (0.5, -0.2), (0.5, 0.2), (-0.5, 0.2)])
        scene.add_body(square, mass=1.0, position=0.2 * normal, orientation=-angle, name="box")
        scene.set_contact(friction=mu)
        v = sg.simulate(scene, duration=0.5, h=0.002).linear_velocity("box")[-1]
        assert np.linalg.norm(v) == pytest.approx(expected * 0.5, rel=1e-6, abs=1e-11)
