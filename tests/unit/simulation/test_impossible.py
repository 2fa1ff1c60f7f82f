"""Inequalities that cannot hold end in "no solution" and are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import signorini as sg


@pytest.mark.parametrize("formulation", [sg.MoreauJean(), sg.StewartTrinkle()])
@pytest.mark.parametrize(
    "psi",
    [
        lambda q, t: -1.0,  # nothing moves it
        lambda q, t: np.array([q[2] - 3.0, 1.0 - q[2]]),  # above 3 and below 1
        lambda q, t: -1.0 - q[0] ** 2,  # has no slope where the body is
    ],
)
def test_inequalities_that_cannot_hold_are_named(formulation: sg.Formulation, psi: Callable[[Any, float], Any]) -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=[0.0, 0.0, 2.0], name="ball")
    scene.add_constraint(psi, ["ball"], kind="inequality", name="mine")
    with pytest.raises(sg.SolverFailure, match=r"no solution.*constraint 'mine' cannot hold"):
        sg.simulate(scene, duration=0.1, h=0.1, formulation=formulation)
