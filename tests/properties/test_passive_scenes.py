"""Laws that hold in every passive scene, searched by Hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import signorini as sg
from tests.scenes import BOTH, tumble

ROUNDING = 1e-12  # relative to the energies at play, over sums of some hundred terms


@pytest.mark.parametrize("formulation", BOTH, ids=lambda f: type(f).__name__)
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 5))
def test_energy_is_accounted_for_and_never_grows_unseen(formulation: sg.MoreauJean, seed: int, count: int) -> None:
    """Law: the energy identity of S1 spec 5.3 closes to rounding, and E+ - E <= correction work in every step."""
    trajectory = sg.simulate(
        tumble(seed, count), duration=0.6, h=0.005, formulation=formulation, tolerance=1e-9, on_failure="raise"
    )
    certificate, energy = trajectory.certificate, trajectory.energy()
    assert certificate.energy_error.max() <= ROUNDING
    scale = np.abs(energy.total).max()
    growth = np.diff(energy.total) - certificate.correction_work
    assert growth.max() <= 1e-9 * scale  # the tolerance of the solver, times the energies it multiplies
    assert np.diff(energy.friction).min() >= -1e-9 * scale
    assert certificate.cone_violation.max() <= 1e-9


@pytest.mark.parametrize("formulation", BOTH, ids=lambda f: type(f).__name__)
@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), angle=st.floats(-3.0, 3.0), shift=st.floats(-5.0, 5.0))
def test_motion_does_not_depend_on_where_and_how_it_is_looked_at(
    formulation: sg.MoreauJean, seed: int, angle: float, shift: float
) -> None:
    """Law: a scene turned about the vertical and shifted moves alike (the polygon: if turned by its symmetry)."""
    if isinstance(formulation, sg.StewartTrinkle):
        angle = np.pi / 4 * round(angle)
    turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    here = tumble(seed, 2)
    there = sg.Scene(gravity=here.gravity)
    there.add_fixed(sg.HalfSpace(), name="floor")
    for body in here.bodies.values():
        w, x, y, z = body.orientation
        a, d = turn[0], turn[3]
        there.add_body(
            body.shapes,
            mass=body.mass,
            inertia=body.inertia,
            mass_centre=body.mass_centre,
            position=R @ body.position + [shift, -shift, 0],
            orientation=(a * w - d * z, a * x - d * y, a * y + d * x, a * z + d * w),
            velocity=R @ body.velocity,
            angular_velocity=R @ body.angular_velocity,
            name=body.name,
        )
    there.set_contact(friction=here.contact.friction)
    # short: tumbling amplifies rounding exponentially
    a_run, b_run = (sg.simulate(s, duration=0.25, h=0.005, formulation=formulation) for s in (here, there))
    for name in here.bodies:
        expected = a_run.centre(name) @ R.T + [shift, -shift, 0]
        np.testing.assert_allclose(b_run.centre(name), expected, atol=1e-7)
