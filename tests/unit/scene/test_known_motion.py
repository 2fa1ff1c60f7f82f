"""Prescribed motions of joints that bring their derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.dynamics import motion_rate
from signorini.errors import InputError
from signorini.scene import compile_scene


def wheel(motion: Any) -> sg.Scene:
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_body(sg.Disc(0.5), mass=1.0, position=(0, 0), name="wheel")
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0), motion=motion, name="axle")
    return scene


def sine(t: float) -> float:
    return math.sin(2.0 * t)


def slope(t: float) -> float:
    return 2.0 * math.cos(2.0 * t)


def curve(t: float) -> float:
    return -4.0 * math.sin(2.0 * t)


def test_derivatives_are_used_where_they_are_given() -> None:
    asked: list[float] = []

    def rate(t: float) -> float:
        asked.append(t)
        return slope(t)

    motion = compile_scene(wheel((sine, rate, curve))).joints.motions[0]
    assert motion is not None
    asked.clear()
    assert motion_rate(motion, 0.3, 0.1, secant=False) == slope(0.3)
    assert asked == [0.3]


def test_the_same_run_with_and_without_derivatives() -> None:
    runs = [sg.simulate(wheel(motion), duration=0.2, h=0.01) for motion in (sine, (sine, slope, curve))]
    first, second = (run.joint("axle").coordinate for run in runs)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(second, np.sin(2.0 * runs[1].time), atol=1e-12)


def ramp(t: float) -> float:
    return max(t, 0.0)


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        ((sine, slope), r"joint 'axle': motion is .*, must be a function of time or \(f, rate, acceleration\)"),
        ((sine, slope, 3.0), r"must be a function of time or \(f, rate, acceleration\)"),
        (7, "must be a function of time"),
        ((sine, curve, curve), r"joint 'axle': rate is -0.00012 at 0 s, must be 2 there"),
        ((sine, slope, slope), r"joint 'axle': acceleration is 2 at 0 s"),
        ((lambda t: t**3, lambda t: -3.0 * t**2, lambda t: 6.0 * t), r"rate is .* at 0.01 s"),
    ],
)
def test_motions_that_cannot_be(motion: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wheel(motion)


def test_a_motion_may_bend_at_the_start() -> None:
    wheel((ramp, lambda t: 1.0 if t > 0.0 else 0.0, lambda t: 0.0))
