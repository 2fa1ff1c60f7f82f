"""Laws of compliant layers: what they give way, by formula and by differences; the core; energies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.model import HuntCrossley, Layer, make_layer

H = 1e-3
COUPLED = [[5e3, 4e2, -1e2], [4e2, 3e3, 2e2], [-1e2, 2e2, 2e3]]
DAMPED = [[9.0, 1.0, 0.0], [1.0, 4.0, 0.5], [0.0, 0.5, 3.0]]
BEFORE = np.array([2e-3, -1e-3, 5e-4])


def layer(**words: Any) -> Layer:
    return make_layer(
        "layer", **{"planar": False, "stiffness": None, "damping": 0.0, "max_deflection": np.inf, "law": None, **words}
    )


def test_a_coupled_layer_obeys_kelvin_and_voigt() -> None:
    """``p = h K d + C (d - d_before)``; S3 spec, section 5."""
    p = np.array([0.02, -0.01, 0.015])
    d, _, core = layer(stiffness=COUPLED, damping=DAMPED).respond(p, BEFORE, H)
    assert core == 0.0
    np.testing.assert_allclose(H * np.array(COUPLED) @ d + np.array(DAMPED) @ (d - BEFORE), p, rtol=1e-13)


def test_the_core_takes_what_the_springs_cannot() -> None:
    """Compressed to the core the springs carry ``h K d + C (d - d_before)`` with d_n = d_no, the core the rest."""
    made, p = layer(stiffness=COUPLED, damping=DAMPED, max_deflection=2.5e-3), np.array([0.2, -0.01, 0.015])
    d, _, core = made.respond(p, BEFORE, H)
    assert d[0] == 2.5e-3
    assert core > 0.0
    carried = H * np.array(COUPLED) @ d + np.array(DAMPED) @ (d - BEFORE)
    np.testing.assert_allclose(carried, p - [core, 0.0, 0.0], rtol=1e-12)


def test_closed_form_of_a_diagonal_layer() -> None:
    """``dn = (p + C dn_before)/(h K + C)``; relaxing freely ``dn_before C/(C + h K)``, without damper at once."""
    d, _, _ = layer(stiffness=4000.0, damping=6.0).respond(np.array([0.5, 0.0, 0.0]), BEFORE, H)
    assert d[0] == pytest.approx((0.5 + 6.0 * 2e-3) / (H * 4000.0 + 6.0), rel=1e-14)
    free, _, _ = layer(stiffness=4000.0, damping=6.0).respond(np.zeros(3), BEFORE, H)
    np.testing.assert_allclose(free, BEFORE * 6.0 / (6.0 + 4.0), rtol=1e-14)
    assert not layer(stiffness=4000.0).respond(np.zeros(3), BEFORE, H).deflection.any()


@pytest.mark.parametrize(
    "made",
    [
        layer(stiffness=COUPLED, damping=DAMPED),
        layer(stiffness=COUPLED, damping=DAMPED, max_deflection=2.1e-3),
        layer(law=HuntCrossley(2e5, 1.5, 3e4)),
        layer(law=HuntCrossley(2e5, 1.5, 3e4), max_deflection=2.1e-3),
    ],
)
def test_slopes_are_derivatives(made: Layer) -> None:
    p = np.array([0.03, -0.01, 0.02])
    slope = made.respond(p, BEFORE, H).slope
    for i in range(3):
        e = np.zeros(3)
        e[i] = 1e-7
        ahead, back = (made.respond(x, BEFORE, H).deflection for x in (p + e, p - e))
        np.testing.assert_allclose(slope[:, i], (ahead - back) / 2e-7, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("made", [layer(stiffness=COUPLED), layer(law=HuntCrossley(2e5, 1.5, 3e4))])
def test_forces_are_derivatives_of_the_energy(made: Layer) -> None:
    for i in range(3):
        e = np.zeros(3)
        e[i] = 1e-8
        rate = (made.energy(BEFORE + e) - made.energy(BEFORE - e)) / 2e-8
        assert made.force(BEFORE)[i] == pytest.approx(rate, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("before", [0.0, 1e-4, 3e-3])
@pytest.mark.parametrize("p", [0.0, 1e-8, 0.02, 3.0])
def test_hunt_and_crossley_by_their_formula(p: float, before: float) -> None:
    """``p = d^e (h k + c (d - d_before))``; where nothing presses the layer opens at the speed k/c."""
    law = HuntCrossley(2e5, 1.5, 3e4)
    d = float(law.respond(np.array([p, 0.0, 0.0]), np.array([before, 0.0, 0.0]), H).deflection[0])
    assert d**1.5 * (H * 2e5 + 3e4 * (d - before)) == pytest.approx(p, rel=1e-12, abs=1e-18)
    if p == 0.0:
        assert d == pytest.approx(max(0.0, before - H * 2e5 / 3e4), abs=1e-18)


def test_a_planar_layer_has_two_directions() -> None:
    """Whatever its third direction is: nothing pushes along it."""
    p: Array = np.array([0.02, -0.01, 0.0])
    made = layer(planar=True, stiffness=[[5e3, 4e2], [4e2, 3e3]], damping=[3.0, 2.0])
    d = made.respond(p, np.zeros(3), H).deflection
    A = H * np.array([[5e3, 4e2], [4e2, 3e3]]) + np.diag([3.0, 2.0])
    np.testing.assert_allclose(d, [*np.linalg.solve(A, p[:2]), 0.0], rtol=1e-13)
