"""Truths about which the verdict is not right yet, to be merged with those of test_verdicts.py."""

from __future__ import annotations

from typing import Any

import pytest

import signorini as sg
from tests.truths import Truth, on_floor
from tests.truths.pending import PENDING
from tests.truths.problems import RUNNING_AWAY


@pytest.mark.parametrize("truth", PENDING.values(), ids=PENDING)
def test_a_scene_with_a_known_truth(truth: Truth) -> None:
    trajectory, check = truth.run()
    check(trajectory)
    assert trajectory.verdict == truth.verdict, trajectory.report()


@pytest.mark.parametrize("make", RUNNING_AWAY.values(), ids=RUNNING_AWAY)
def test_a_problem_whose_residual_vanishes_at_infinity_only(make: Any) -> None:
    assert not sg.solve(make()).success


@pytest.mark.parametrize("tolerance", [1e300, 1.0, 0.02, 1e-15, 0.0, -1.0, float("nan")])
def test_a_tolerance_that_means_nothing_is_refused(tolerance: float) -> None:
    scene = on_floor()
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.5))
    with pytest.raises(sg.InputError, match="tolerance"):
        sg.simulate(scene, duration=0.1, h=0.01, tolerance=tolerance)
