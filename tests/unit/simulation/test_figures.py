"""Figures of pairs, joints and phases show the numbers of the run with the units of what they are of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.errors import InputError


@pytest.fixture(scope="module")
def run() -> sg.Trajectory:
    """A door falls about its hinge, a drawer slides on its rail, a plate on a ball joint; a box slides on the floor."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for name, y in (("door", 2.0), ("drawer", 4.0), ("plate", 6.0)):
        scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, y, 3), name=name)
    scene.add_joint("revolute", None, "door", anchor=(-1, 2, 3), axis=(0, 1, 0), name="hinge")
    scene.add_joint("prismatic", None, "drawer", anchor=(0, 4, 3), axis=(1, 0, -1), name="rail")
    scene.add_joint("spherical", None, "plate", anchor=(0, 6, 3), name="ball")
    scene.add_body(sg.Box((0.2, 0.2, 0.02)), mass=2.0, position=(0, 0, 0.01), velocity=(1, 0, 0), name="box")
    scene.set_contact(friction=0.5)
    return sg.simulate(scene, duration=0.3, h=0.01)


def test_a_pair_has_its_forces_and_bars(run: sg.Trajectory) -> None:
    figure = run.plot_contact("floor", "box")
    forces, speeds, modes = figure.axes
    stairs: Any = forces.patches
    normal, friction = (patch.get_data().values for patch in stairs)
    assert normal == pytest.approx(run.contact("floor", "box").normal_force)
    assert friction[:15] == pytest.approx(0.5 * normal[:15])
    assert speeds.get_ylabel() == "[m/s]"
    assert [label.get_text() for label in modes.get_yticklabels()] == ["separating", "slip", "stick"]
    stick, slip, apart = (bars.get_paths() for bars in modes.collections)
    assert (len(stick), len(slip), len(apart)) == (1, 1, 0)
    ends, begins = (np.asarray(bar[0].vertices)[:, 0] for bar in (slip, stick))
    # Friction takes 0.5 g h of the speed in each step; it sticks in the one that contains 1/(0.5 g) = 0.204 s.
    assert ends.max() == begins.min() == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("joint", "titles", "units"),
    [
        ("hinge", ["angle", "speed", "torque along it"], ["[rad]", "[rad/s]", "[N m]"]),
        ("rail", ["displacement", "speed", "effort along it"], ["[m]", "[m/s]", "[N]"]),
        ("ball", ["moment on the second body"], ["[N m]"]),
    ],
)
def test_joints_have_the_units_of_their_kind(
    run: sg.Trajectory, joint: str, titles: list[str], units: list[str]
) -> None:
    axes = run.plot(joint).axes
    assert [panel.get_title(loc="left") for panel in axes] == [*titles, "force on the second body"]
    assert [panel.get_ylabel() for panel in axes] == [*units, "[N]"]


def test_a_ball_joint_carries_the_weight(run: sg.Trajectory) -> None:
    z: Any = run.plot("ball").axes[1].patches[2]
    assert z.get_data().values == pytest.approx(np.full(30, 9.81), rel=1e-6)


def test_phases_are_speeds_against_places(run: sg.Trajectory) -> None:
    (axes,) = run.plot_phase("hinge").axes
    line = axes.lines[0]
    assert np.array_equal(line.get_xdata(), run.joint("hinge").coordinate)
    assert np.array_equal(line.get_ydata(), run.joint("hinge").speed)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("angle [rad]", "speed [rad/s]")
    assert [panel.get_title(loc="left") for panel in run.plot_phase("box").axes] == ["x", "y", "z"]
    with pytest.raises(InputError, match="'ball' has no single coordinate"):
        run.plot_phase("ball")
