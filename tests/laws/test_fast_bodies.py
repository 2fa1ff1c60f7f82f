"""Fast bodies: what the reach of a step sees, where it does not suffice, and the swept test."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.geometry.advancement import time_of_impact
from signorini.scene import compile_scene


def wall_and(shape: sg.Sphere | sg.Box, **motion: object) -> sg.Scene:
    """Return a wall, 1 mm thick, in the plane x = 0 and a body at x = -0.5."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Box((0.001, 4.0, 4.0)), name="wall")
    scene.add_body(shape, mass=0.01, position=(-0.5, 0, 0), name="bullet", **motion)  # type: ignore[arg-type]
    return scene


@pytest.mark.parametrize("speed", [10.0, 100.0, 1000.0])
def test_bullet_stops_at_a_thin_wall(speed: float) -> None:
    """At 1000 m/s a ball of 5 mm covers 10 m a step, ten thousand times the wall; it still ends on its near side."""
    scene = wall_and(sg.Sphere(0.005), velocity=(speed, 0.0, 0.0))
    trajectory = sg.simulate(scene, duration=0.05, h=0.01)
    x = trajectory.position("bullet")[-1, 0]
    expected = min(-0.5 + 0.05 * speed, -0.0005 - 0.005)
    assert x == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("speed", [10.0, 1000.0])
def test_swept_ball_meets_the_wall_in_time(speed: float) -> None:
    """Time of impact = distance / speed; the wall's normal, the gap within the tolerance."""
    model = compile_scene(wall_and(sg.Sphere(0.005), velocity=(speed, 0.3 * speed, 0.0)))
    impact = time_of_impact(model, model.initial_state, 0.06)
    assert impact.time == pytest.approx((0.5 - 0.0005 - 0.005) / speed, rel=1e-6)
    np.testing.assert_allclose(impact.contacts.normal, [[-1.0, 0.0, 0.0]], rtol=0.0, atol=1e-12)
    assert 0.0 < impact.contacts.gap[0] < 1e-6 * 0.005
    assert time_of_impact(model, model.initial_state, 0.4 / speed).time == np.inf


def spinning_rod() -> sg.Scene:
    """Return a rod 1 m long that turns about z at 100 rad/s, and a post beside it, in reach of its end only."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Sphere(0.01), position=(0.0, 0.45, 0.0), name="post")
    scene.add_body(sg.Box((1.0, 0.02, 0.02)), mass=1.0, position=(0, 0, 0), angular_velocity=(0, 0, 100.0), name="rod")
    return scene


def test_fast_rotation_meets_the_post() -> None:
    """A rod that turns by 2 rad a step meets the post, of which its gap at the start knows nothing.

    The side of the rod, 0.01 off its middle line, meets the ball of 0.01 at 0.45 when the middle line is
    asin(0.02/0.45) short of the post. The step ends there or before: the rod has not passed.
    """
    model = compile_scene(spinning_rod())
    impact = time_of_impact(model, model.initial_state, 0.02)
    angle = 0.5 * np.pi - np.arcsin(0.02 / 0.45)
    assert impact.time == pytest.approx(angle / 100.0, rel=1e-6)
    assert {model.names[b] for b in (impact.contacts.body_a[0], impact.contacts.body_b[0])} == {"post", "rod"}
    trajectory = sg.simulate(spinning_rod(), duration=0.02, h=0.02)
    assert 0.0 < trajectory.angular_velocity("rod")[-1, 2] < 90.0
    assert trajectory.certificate.min_gap[-1] > -0.01 * 0.02
    w, _, _, z = trajectory.orientation("rod")[-1]
    assert 1.0 < 2.0 * np.arctan2(z, w) < 0.5 * np.pi + 0.1


def test_bodies_that_part_are_no_impact() -> None:
    """A ball that leaves the wall it touches is free; one that presses on is an impact at once."""
    for sign, time in ((-1.0, np.inf), (1.0, 0.0)):
        scene = sg.Scene(gravity=(0, 0, 0))
        scene.add_fixed(sg.Box((0.001, 4.0, 4.0)))
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(-0.1005, 0, 0), velocity=(sign, 0, 0))
        model = compile_scene(scene)
        assert time_of_impact(model, model.initial_state, 1.0).time == time
