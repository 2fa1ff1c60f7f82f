"""The flexible manipulator of S5, 5.2, as a scene under `Recursive`: shorter runs of the reproduction."""

from __future__ import annotations

import numpy as np
import pytest

from signorini.reproduce import s5_manipulator as s5
from signorini.reproduce.registry import choose


def test_it_is_among_the_examples() -> None:
    assert [example.seed for example in choose(["manipulator"])] == ["S5"]


@pytest.mark.compiled_only
def test_natural_frequencies_of_the_locked_scene() -> None:
    """Spec 8.2, to half a unit of the last digit."""
    digits = 0.5 * np.array([1e-3, 1e-2, 1e-1, 1.0])
    assert (np.abs(s5.frequencies() - [20.648, 106.09, 5195.9, 11233.0]) <= digits).all()


@pytest.mark.compiled_only
def test_table_of_the_motion_without_the_plane() -> None:
    """The first row of table 8.2 by RK4 at 1e-4: bending to 1e-6, the tip to (1 + 1 + 1.5 L2 / L1) 1e-6."""
    free = s5.run(s5.manipulator(axial=True), 0.1, rk4=True)
    assert s5.bending_error(free) < 1e-6
    np.testing.assert_allclose(free.position("link 2.end")[-1], (1.07198265, -0.421299614), rtol=0.0, atol=3.9e-6)
    assert free.certificate.joint_drift.max() < 1e-14
    energy = free.energy()
    assert np.abs(energy.error).max() < 1e-14 * np.abs(energy.total).max()
    assert energy.drives[-1] == pytest.approx(energy.total[-1] - energy.total[0], abs=1e-6)


@pytest.mark.compiled_only
def test_the_tip_runs_into_the_plane() -> None:
    """Bending alone, h = 1e-4: the impact of spec 8.2 within a step, and the tip at 0.4 s to 2e-3."""
    bent = s5.run(s5.manipulator(axial=False, wall=True), 0.4)
    push = s5.pushes(bent)
    hit = int(np.argmax(push > 0.0))
    assert bent.time[hit] - s5.H < s5.IMPACT < bent.time[hit + 1] + s5.H
    assert s5.tip_error(bent, s5.HIT[:1]) < 2e-3
    # One impact in this time, of 11.8967549 N s at 3.603 m/s; the scheme is a step late or early.
    assert push.sum() == pytest.approx(11.8967549, rel=0.02)
    energy = bent.energy()
    assert np.abs(energy.error).max() < 1e-12 * np.abs(energy.total).max()
    assert energy.impact[-1] == pytest.approx(0.5 * 11.8967549 * 3.60316438, rel=0.03)
