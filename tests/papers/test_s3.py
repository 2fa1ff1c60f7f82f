"""S3: numbers of Chakraborty, Berard, Akella and Trinkle (2007), as its specification completes them."""

from __future__ import annotations

import pytest

import signorini as sg


@pytest.mark.parametrize(("h", "energy", "depth"), [(0.02, 12.5512, 8.1e-4), (0.01, 12.5628, 2.0e-4)])
def test_explicit_ellipse(h: float, energy: float, depth: float) -> None:
    """Spec 9.3: geometry at the start of the step penetrates at second order and keeps energy better than implicit."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)))
    scene.add_body(sg.Ellipse((1.0, 0.8)), mass=1, position=(0, 0.8), velocity=(2.4, 0), angular_velocity=-3)
    scene.set_contact(friction=0.8)
    trajectory = sg.simulate(scene, duration=5, h=h, formulation=sg.StewartTrinkle(gyroscopic="explicit"))
    assert trajectory.energy().total[0] == pytest.approx(12.5730, abs=5e-5)
    assert trajectory.energy().total[-1] == pytest.approx(energy, abs=5e-5)
    assert -trajectory.certificate.min_gap.min() == pytest.approx(depth, rel=0.03)
