"""Truths about which the verdict was once wrong."""

from __future__ import annotations

from functools import partial

import signorini as sg
from tests.truths import NOT_TRUSTED, REMARKS, Told, Truth
from tests.truths.joined import pressed_limited, slider_stops
from tests.truths.moving import bounces, meet
from tests.truths.standing import drawer, slope
from tests.truths.wrong import (
    beyond_its_limit,
    impossible,
    ropes_too_short,
    shrinking_triangle,
    strikes_slanting,
)


def jack_against_tie() -> Told:
    """A drive lifts a box that a rigid tie holds: neither can be as it should from the first step on."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0), name="box")
    scene.add_joint("prismatic", None, "box", anchor=(0, 0, 0), axis=(0, 0, 1), motion=lambda t: 0.01 * t, name="jack")
    scene.add_joint("distance", None, "box", anchor=((0, 0, -1), (0, 0, -0.1)), name="tie")

    def check(trajectory: sg.Trajectory) -> None:
        assert trajectory.time[-1] > 0.1  # by then the jack is to have stretched the tie by more than a millimetre

    return scene, check


def rough_edge(friction: float, restitution: float) -> Told:
    """A ball strikes floor and wall at once: with friction above 1 Newton's rebounds have no solution there."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_fixed(sg.HalfSpace(normal=(-1, 0, 0), offset=-1), name="wall")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0.895, 0, 0.105), velocity=(2, 0.3, -2), name="ball")
    scene.set_contact(friction=friction, restitution=restitution)

    def check(trajectory: sg.Trajectory) -> None:
        x = trajectory.position("ball")
        assert x[:, 0].max() < 0.9 + 1e-4
        assert x[:, 2].min() > 0.1 - 1e-4
        energy = trajectory.energy()
        assert energy.total.max() < energy.total[0] + 1e-9

    return scene, check


ONCE_WRONG: dict[str, Truth] = {
    "ropes too short": Truth(ropes_too_short, NOT_TRUSTED),
    "ropes too short, slowly": Truth(partial(ropes_too_short, 0.5), NOT_TRUSTED),
    "a four-bar beyond its limit": Truth(beyond_its_limit, NOT_TRUSTED, duration=0.3, h=2e-3),
    "a triangle stretched too far": Truth(shrinking_triangle, NOT_TRUSTED),
    "a rod loses energy by the default law": Truth(partial(strikes_slanting, gains=False), duration=1e-6, h=1e-6),
    "a rod gains energy far above the origin": Truth(
        partial(strikes_slanting, gains=True, height=1e4),
        REMARKS,
        duration=1e-6,
        h=1e-6,
        formulation=sg.MoreauJean(restitution_law="newton"),
    ),
    "a ball bounces without loss": Truth(partial(bounces, 1.0, 2e-3), h=2e-3),
    "balls stay together": Truth(partial(meet, (1.0, 3.0), 0.0)),
    "a jammed drawer": Truth(drawer),
    "a slider stops": Truth(slider_stops, duration=0.5),
    "a press of limited force": Truth(pressed_limited),
    "slope of 44 degrees with friction 1e8": Truth(partial(slope, 44.0, 1e8)),
    "slope of 44 degrees with friction 1e12": Truth(partial(slope, 44.0, 1e12)),
    "slope of 44 degrees with friction 1e12, polygonal cone": Truth(
        partial(slope, 44.0, 1e12), formulation=sg.StewartTrinkle()
    ),
    "a jack against a tie": Truth(jack_against_tie, NOT_TRUSTED, duration=0.2, h=0.005),
    "a rough edge": Truth(partial(rough_edge, 1.2, 0.5), duration=0.1, h=0.01),
    "a rough edge without loss": Truth(partial(rough_edge, 3.0, 1.0), duration=0.1, h=0.01),
    "an inequality that never holds": Truth(
        partial(impossible, "inequality", -1.0), NOT_TRUSTED, duration=0.01, h=0.01
    ),
}
