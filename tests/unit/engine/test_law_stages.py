"""The stages of single laws in the compiled step, small enough to run uncompiled and with bounds checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from tests.by_python import TOLERANCE, balances_agree, certificates_agree
from tests.by_python.step import ByPython


@pytest.mark.parametrize(
    ("options", "contact"),
    [
        ({"stiffness": 1e4}, {}),
        ({"theta": 0.6}, {}),
        ({"restitution_law": "poisson"}, {"restitution": 0.5}),
        ({"restitution_law": "newton"}, {"restitution": 0.5}),
        ({}, {"restitution": 0.5}),
        ({}, {"torsional": 0.01, "rolling": 0.02}),
        ({}, {"ellipsoid": (1.0, 0.5, 0.02)}),
    ],
    ids=["stiffness", "theta", "poisson", "newton", "passive", "couples", "ellipsoid"],
)
def test_two_balls_that_fall_on_each_other_and_the_floor(options: dict[str, Any], contact: dict[str, Any]) -> None:
    """Law: compiled or not, the same step, certificate and balance; balls that wobble, slide and are pushed."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(2):
        scene.add_body(
            sg.Sphere(0.1),
            mass=1.0 + k,
            inertia=(0.004, 0.005, 0.007),
            mass_centre=(0, 0, 0),
            position=(0.01 * k, 0, 0.101 + 0.203 * k),
            velocity=(1, 0, -1 - k),
            angular_velocity=(1, 20, 30),
            name=f"ball {k}",
        )
    scene.add_force("ball 0", force=(3.0, 1.0, 0.0), at=(0.0, 0.0, 0.05))
    scene.set_contact(friction=0.1, **contact)
    fast, slow = (
        sg.Simulator(scene, h=2e-3, formulation=stepper(**options), tolerance=TOLERANCE)
        for stepper in (sg.MoreauJean, ByPython)
    )
    assert fast.engine is not None
    for _ in range(5):
        first, second = fast.step(), slow.step()
        np.testing.assert_allclose(fast.state.v, slow.state.v, atol=1e-9)
        balances_agree(first, second)
        certificates_agree(first, second)
        assert len(first.contacts) == len(second.contacts) > 0
