"""Time stepping walks through configurations in which the instantaneous model has no solution, or several."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.model import State
from signorini.reproduce.s1_instantaneous import coefficients, rod_scene

MU, H, STEPS = 1.5, 1e-4, 1500


def angle(state: State) -> float:
    return 2.0 * float(np.arctan2(state.q[1, 6], state.q[1, 3]))


def tip_speed(state: State) -> float:
    return float(state.v[1, 0] + state.v[1, 5] * np.sin(angle(state)))


@pytest.mark.parametrize("formulation", [sg.StewartTrinkle(), sg.MoreauJean()], ids=["StewartTrinkle", "MoreauJean"])
def test_the_rod_goes_through_painleves_region(formulation: sg.StewartTrinkle | sg.MoreauJean) -> None:
    """A < 0 between the angles with 1 + 3 (cos^2 - mu sin cos) = 0, 0.884 and 1.275 for mu = 1.5.

    The rod slides fast and turns up into that region. There the instantaneous model loses its unique solution, as the
    sign of A says; every step is solved all the same, never gains energy, never leaves the half space, and the tip is
    stopped by an impulse that needs no collision.
    """
    simulator = sg.Simulator(rod_scene(MU, -6.0, 2.0, theta=0.8), h=H, formulation=formulation)
    lost, energies, gaps = [], [], []
    for k in range(STEPS):
        state = simulator.state
        if k % 20 == 0 and tip_speed(state) < -1.0 and state.v[1, 5] > 0.0:
            # Gaps left by the first-order scheme are below 1e-3 of the rod's length.
            found = sg.accelerations(simulator.model, state, touch=1e-3)
            if found.before.size and found.before[0] == 0:
                A, _ = coefficients(MU, -1.0, 0.0, theta=angle(state))
                assert (found.status is sg.Status.SOLVED) == (A > 0.0)
                lost.append(found.status is not sg.Status.SOLVED)
        result, certificate = simulator.advance()
        assert certificate.status is sg.Status.SOLVED
        v = result.state.v[1]
        energies.append(0.5 * (v[0] ** 2 + v[1] ** 2 + v[5] ** 2 / 3.0) + 9.81 * result.state.q[1, 1])
        gaps.append(certificate.min_gap)
    assert not lost[0]
    assert lost[-1]  # it was inside before the tip stopped
    correction = 1e-6  # energy that closing of gaps may put in [J]
    assert np.diff(energies).max() < correction
    assert min(gaps) > -1e-4


@pytest.mark.parametrize("h", [1e-3, 1e-4, 1e-5])
def test_impact_without_collision(h: float) -> None:
    """Nothing collides, and no force solves the model: the first step stops the tip, W p = (1, g h)."""
    scene = rod_scene(MU, -1.0, 0.0)
    assert sg.accelerations(scene).status is sg.Status.NO_SOLUTION
    simulator = sg.Simulator(scene, h=h, formulation=sg.StewartTrinkle())
    table = simulator.step().contacts
    p_t, p_n = np.linalg.solve([[3.4, -1.2], [-1.2, 1.6]], [1.0, 9.81 * h])
    assert table.normal_impulse[0] == pytest.approx(p_n, abs=1e-9)
    assert table.friction_impulse[0, 0] == pytest.approx(p_t, abs=1e-9)
    assert abs(tip_speed(simulator.state)) < 1e-3
    assert sg.accelerations(simulator.model, simulator.state, touch=1e-3).status is sg.Status.SOLVED
