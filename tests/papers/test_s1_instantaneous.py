"""S1 (Trinkle 2003), section 2.2: the instantaneous model, by the same functions as ``signorini reproduce``.

The expected numbers stand in :mod:`signorini.reproduce`, copied from the specification; some are written out here once
more, so that a slip in the module's own table would show.
"""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.reproduce import EXAMPLES, Reproduction, s1_instantaneous
from signorini.reproduce.s1_instantaneous import one_step, rod_scene
from signorini.scene import Scene


@pytest.fixture(scope="module")
def incline() -> Reproduction:
    return s1_instantaneous.incline()


@pytest.fixture(scope="module")
def painleve() -> Reproduction:
    return s1_instantaneous.painleve()


def test_incline_7_5(incline: Reproduction) -> None:
    assert [check for check in incline.checks if not check.passed] == []
    assert len(incline.checks) == 3 * 2 * 5 + 4
    panels = incline.figures["incline"].axes
    assert [len(axes.lines) for axes in panels] == [3, 3]


def test_painleve_7_6(painleve: Reproduction) -> None:
    assert [check for check in painleve.checks if not check.passed] == []
    assert len(painleve.checks) == 4 * 7 + (1 + 0 + 2 + 1) + 2
    counts = painleve.data["counts"]
    assert [counts[0][0], counts[0][-1], counts[-1][0], counts[-1][-1]] == [1, 0, 1, 2]
    assert "painleve" in painleve.figures


def test_numbers_of_7_6_written_out() -> None:
    none, two = (sg.accelerations(rod_scene(1.5, -1.0, turn)) for turn in (0.0, 4.0))
    assert str(none.status) == "no solution"
    assert str(two.status) == "several solutions"
    assert max(one.force[0, 0] for one in two.solutions) == pytest.approx(22.504175, abs=5e-7)
    step = one_step(1.5, -1.0, 0.0).contacts
    assert step.normal_impulse[0] == pytest.approx(0.3083385, abs=5e-8)
    assert step.friction_impulse[0, 0] == pytest.approx(0.402943, abs=5e-7)


def test_the_examples_can_miss(monkeypatch: pytest.MonkeyPatch) -> None:
    """With other friction, or another rod, the numbers are not met."""
    sphere, rod = s1_instantaneous.sphere_on_incline, s1_instantaneous.rod_scene

    def slippery(phi: float, mu: float) -> Scene:
        return sphere(phi, 0.9 * mu)

    def steeper(mu: float, slip: float, turn: float) -> Scene:
        return rod(mu, slip, turn, theta=1.0)

    monkeypatch.setattr(s1_instantaneous, "sphere_on_incline", slippery)
    monkeypatch.setattr(s1_instantaneous, "rod_scene", steeper)
    monkeypatch.setattr(s1_instantaneous, "solution_map", lambda: ([0.1], [0.1], np.array([[1]])))
    # Friction, acceleration and lambda of the two that slip, by both cones, and both that should just stick.
    assert sum(not check.passed for check in s1_instantaneous.incline().checks) == 3 * 2 * 2 + 2
    assert sum(not check.passed for check in s1_instantaneous.painleve().checks) > 10


def test_both_examples_are_registered() -> None:
    assert {"incline", "painleve"} <= {example.name for example in EXAMPLES if example.seed == "S1"}
