"""Truths about which the verdict was once wrong."""

from __future__ import annotations

from functools import partial

import signorini as sg
from tests.truths import NOT_TRUSTED, REMARKS, Truth
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
    "an inequality that never holds": Truth(
        partial(impossible, "inequality", -1.0), NOT_TRUSTED, duration=0.01, h=0.01
    ),
}
