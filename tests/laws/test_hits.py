"""What one step leaves of a hit without rebound is taken by the next, also where the surface is gone by then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from tests.by_python.step import ByPython

FORMULATIONS: tuple[Any, ...] = (sg.MoreauJean(), ByPython(), sg.MoreauJean(theta=0.75), ByPython(theta=0.75))
EVERY = pytest.mark.parametrize("formulation", FORMULATIONS, ids=["fast", "python", "fast, theta", "python, theta"])
SHAPES: dict[str, tuple[sg.Shape, float]] = {
    "ball": (sg.Sphere(0.05), 0.05),
    "small ball": (sg.Sphere(0.01), 0.01),
    "box": (sg.Box((0.1, 0.1, 0.1)), 0.05),
    "standing capsule": (sg.Capsule(0.02, 0.06), 0.05),
    "plate": (sg.Box((0.3, 0.1, 0.02)), 0.01),
}


def beside_an_edge(name: str, h: float, *, gravity: float = 0.0, past: float) -> sg.Scene:
    """A body that comes down on a table in the middle of the first step, and is `past` the edge where that ends.

    Its centre is above the table when it is hit.
    """
    down, along = 5.0, 8.0
    shape, height = SHAPES[name]
    scene = sg.Scene(gravity=(0, 0, -gravity))
    scene.add_fixed(sg.Box((4, 4, 0.3)), position=(-2, 0, -0.15), name="table")
    place = (past - along * h, 0, height + 0.5 * down * h)
    scene.add_body(shape, mass=1.0, position=place, velocity=(along, 0, -down), name="body")
    return scene


@EVERY
@pytest.mark.parametrize("h", [0.01, 0.04])
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_a_hit_beside_an_edge_is_completed(name: str, h: float, formulation: Any) -> None:
    """Above the table it was stopped; the edge, beyond which its centre is in the second step, does not turn it."""
    if formulation.theta < 1.0 and name in {"box", "plate"}:
        pytest.skip("overlaps where the step acts, and is lifted at the edge")
    for past in (0.1, 0.3, 0.45):
        scene = beside_an_edge(name, h, past=past * 8.0 * h)
        trajectory = sg.simulate(scene, duration=4 * h, h=h, formulation=formulation)
        assert trajectory.verdict == "trusted"
        np.testing.assert_allclose(trajectory.linear_velocity("body")[3:], [[8.0, 0, 0]] * 2, atol=1e-5)
        np.testing.assert_allclose(trajectory.angular_velocity("body")[3:], 0.0, atol=1e-4)


@EVERY
def test_it_falls_on_from_there(formulation: Any) -> None:
    """What stops is the approach; the weight acts in that step as in those that follow."""
    h = 0.01
    scene = beside_an_edge("small ball", h, gravity=9.81, past=0.4 * 8.0 * h)
    trajectory = sg.simulate(scene, duration=5 * h, h=h, formulation=formulation)
    fall = np.diff(trajectory.linear_velocity("body")[2:, 2])
    np.testing.assert_allclose(fall, -9.81 * h, rtol=1e-9)
    assert -2.0 * 9.81 * h < trajectory.linear_velocity("body")[2, 2] <= 0.0


@EVERY
def test_a_gate_that_opens(formulation: Any) -> None:
    """The ball is stopped by a plate that is drawn away from under it in the same step."""
    h, down, drawn = 0.01, 4.0, 20.0
    scene = sg.Scene(gravity=(0, 0, 0))
    far = 0.6 * h * drawn  # the edge passes the ball when a step's tenth has gone by since the hit
    scene.add_fixed(sg.Box((4, 4, 0.2)), motion=lambda t: (far - 2.0 - drawn * t, 0, -0.1), name="gate")
    ball = (0, 0, 0.02 + 0.5 * h * down)
    scene.add_body(sg.Sphere(0.02), mass=1.0, position=ball, velocity=(0, 0, -down), name="ball")
    scene.set_contact(friction=0.0)
    trajectory = sg.simulate(scene, duration=4 * h, h=h, formulation=formulation)
    np.testing.assert_allclose(trajectory.linear_velocity("ball")[2:], 0.0, atol=1e-12)


def test_a_hit_is_remembered_by_snapshots() -> None:
    h = 0.01
    scene = beside_an_edge("ball", h, past=0.3 * 8.0 * h)
    whole, part = sg.Simulator(scene, h=h), sg.Simulator(scene, h=h)
    whole.run(4)
    part.run(1)
    other = sg.Simulator(scene, h=h)
    other.restore(part.snapshot())
    other.run(3)
    np.testing.assert_array_equal(other.state.q, whole.state.q)
    np.testing.assert_array_equal(other.state.v, whole.state.v)
    assert abs(whole.state.v[-1, 2]) < 1e-9


@pytest.mark.parametrize("speed", [0.5, 1.5, 2.5])
def test_what_slides_over_a_dome_is_not_thrown(speed: float) -> None:
    """A ball without friction on a dome of radius 1 keeps its energy, on the dome and in the air."""
    h, r, g = 0.002, 0.05, 9.81
    scene = sg.Scene(gravity=(0, 0, -g))
    scene.add_fixed(sg.Sphere(1.0 - r), position=(0, 0, -1.0 + r), name="dome")
    scene.add_body(sg.Sphere(r), mass=1.0, position=(0, 0, r), velocity=(speed, 0, 0), name="ball")
    scene.set_contact(friction=0.0)
    trajectory = sg.simulate(scene, duration=0.3, h=h)
    x, v = trajectory.position("ball"), trajectory.linear_velocity("ball")
    energy = 0.5 * np.sum(v**2, axis=1) + g * x[:, 2]
    # Velocities belong to the middle of steps.
    np.testing.assert_allclose(energy, energy[0], atol=2.0 * g * h * (speed + 0.3 * g))
