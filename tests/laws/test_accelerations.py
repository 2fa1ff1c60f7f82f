"""The instantaneous model against the time steppers, which share neither its problems nor its solvers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import signorini as sg
from tests.scenes import box_on_slope, stack

H = 1e-5  # springs differ by the first order in h, and joints feed rounding back as 1e-16/h^2


def arm_on_floor(elbow_friction: float, friction: float) -> sg.Scene:
    """Rest the tip of an arm of two links on a rough floor; the elbow has friction, the shoulder a spring."""
    scene = sg.Scene(planar=True)
    tip = np.array([np.cos(0.6) + 0.8 * np.cos(-1.3), np.sin(0.6) + 0.8 * np.sin(-1.3)])
    scene.add_fixed(sg.HalfSpace(normal=(0, 1), offset=float(tip[1])), name="floor")
    elbow = np.array([np.cos(0.6), np.sin(0.6)])
    for name, length, angle, middle in (("upper", 1.0, 0.6, 0.5 * elbow), ("lower", 0.8, -1.3, 0.5 * (elbow + tip))):
        scene.add_body(
            sg.Segment((-0.5 * length, 0.0), (0.5 * length, 0.0)),
            mass=1.0 + length,
            inertia=0.1,
            mass_centre=(0, 0),
            position=middle,
            orientation=angle,
            name=name,
        )
    scene.add_joint("revolute", None, "upper", anchor=(0, 0), spring=(3.0, 0.1), damping=0.1, name="shoulder")
    scene.add_joint("revolute", "upper", "lower", anchor=elbow, friction=elbow_friction, name="elbow")
    scene.set_contact(friction=friction)
    return scene


def loop() -> sg.Scene:
    """Let a rhombus of four links in space fall: a closed loop whose rows depend on each other."""
    scene = sg.Scene()
    corners = np.array([[0.0, 0, 0], [1.0, 0, -0.5], [2.0, 0, 0], [1.0, 0, 0.5]])
    for k in range(4):
        a, b = corners[k], corners[(k + 1) % 4]
        turn = float(np.arctan2(-(b - a)[2], (b - a)[0]))
        pose = {"position": 0.5 * (a + b), "orientation": (float(np.cos(turn / 2)), 0.0, float(np.sin(turn / 2)), 0.0)}
        scene.add_body(sg.Box((1.1, 0.1, 0.1)), mass=1.0 + 0.3 * k, name=f"link{k}", **pose)
    scene.add_joint("revolute", None, "link0", anchor=corners[0], axis=(0, 1, 0))
    for k in range(4):
        scene.add_joint("revolute", f"link{k}", f"link{(k + 1) % 4}", anchor=corners[(k + 1) % 4], axis=(0, 1, 0))
    return scene


SCENES: list[Callable[[], sg.Scene]] = [
    lambda: box_on_slope(0.3, 0.2),
    lambda: box_on_slope(0.3, 0.5),
    lambda: stack(3, top_mass=20.0),
    lambda: arm_on_floor(0.7, 0.3),
    lambda: arm_on_floor(0.1, 0.05),
    loop,
]


@pytest.mark.parametrize("make", SCENES, ids=["slips", "sticks", "stack", "stuck arm", "sliding arm", "loop"])
def test_a_small_step_from_rest_gives_h_times_the_acceleration(make: Callable[[], sg.Scene]) -> None:
    """From rest bias terms vanish, and (v+ - v)/h tends to the solution of CP1."""
    for formulation, cone in ((sg.MoreauJean(), "exact"), (sg.StewartTrinkle(directions=8), "polygon")):
        found = sg.accelerations(make(), cone=cone)
        assert found.status is sg.Status.SOLVED
        simulator = sg.Simulator(make(), h=H, formulation=formulation, tolerance=1e-12)
        simulator.advance()
        assert simulator.state.v / H == pytest.approx(found.only.acceleration, abs=1e-4)


def test_a_long_chain_is_solved_and_a_very_long_one_is_refused() -> None:
    """A straight chain at rest, free at its start: every link falls with g; beyond 100 bodies nothing is claimed."""

    def chain(count: int) -> sg.Scene:
        scene = sg.Scene(planar=True)
        for k in range(count):
            scene.add_body(sg.Disc(0.1), mass=1.0, position=(float(k), 0.0), name=f"link{k}")
        for k in range(count - 1):
            scene.add_joint("revolute", f"link{k}", f"link{k + 1}", anchor=(k + 0.5, 0.0))
        return scene

    found = sg.accelerations(chain(30))
    assert found.only.acceleration[:, 1] == pytest.approx(np.full(30, -9.81), abs=1e-9)
    long = sg.accelerations(chain(101))
    assert long.status is sg.Status.UNDECIDED
    assert any("too many" in note for note in long.notes)
