"""S4 (Dupont & Yamajako 1997): maps, counterexamples and chatter of the rod; a simulation that loses stability.

The expected numbers stand in :mod:`signorini.reproduce.s4`, copied from the specification; some are written out again
here so that a slip in the module's own tables would show.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import signorini as sg
from signorini.analysis import Answer, Outcome, Rod, Spectrum, boundary_layer, check_step
from signorini.reproduce import Check, Reproduction, choose, s4
from signorini.simulation import Simulator


@pytest.fixture(scope="module")
def rod_map() -> Reproduction:
    return s4.rod_map()


def missed(outcome: Reproduction) -> list[Check]:
    return [check for check in outcome.checks if not check.passed]


def test_maps_meet_every_number(rod_map: Reproduction) -> None:
    """Golden points, their scenes, borders, areas, diagonal limits and numbers of solutions."""
    assert missed(rod_map) == []
    whats = " ".join(check.what for check in rod_map.checks)
    for part in (
        "critical c^2/k at",
        "code of the minors at",
        "area: P-matrix",
        "largest stable mu",
        "of the scene at",
    ):
        assert part in whats
    assert sum("class at" in check.what for check in rod_map.checks) == 11
    assert sum(check.what.startswith("area: ") for check in rod_map.checks) == 15


def test_counterexamples_meet_every_number() -> None:
    assert missed(s4.counterexamples()) == []


def test_chatter_appears_where_the_map_says_so() -> None:
    outcome = s4.rod_chatter()
    assert missed(outcome) == []
    assert outcome.data["mu = 1, c^2/k = 0.02"]["lost"]


def test_numbers_written_out_again() -> None:
    """Section 5 of the specification: critical damping at four points, one area, two limits."""
    rod = Rod()
    for u_1, u_2, critical in ((0.8, 0.8, 0.1502166), (2, 2, 0.5903977), (0.5, 3, 4.8373156), (-3.5, -3, 0.0478995)):
        assert boundary_layer(rod.matrix(u_1, u_2)).critical_damping == pytest.approx(critical, abs=5.1e-8)
    assert s4.rod_stability_map(400).share(Spectrum.REAL_POSITIVE) == pytest.approx(0.46632, abs=1e-3)
    for mu, damping in ((0.545442, 0.05), (3.017390, 1.0)):
        assert boundary_layer(rod.matrix(mu, mu)).critical_damping == pytest.approx(damping, abs=1e-6)


def test_checks_can_miss() -> None:
    """Another rod misses the paper's numbers: the checks are about this one."""
    assert any(not check.passed for check in s4._golden_checks(replace(Rod(), theta=np.pi / 2.31)))


def test_examples_are_known_by_name_and_print_as_json(rod_map: Reproduction) -> None:
    assert [example.seed for example in choose(["rod-map", "counterexamples", "rod-chatter"])] == ["S4"] * 3
    assert json.loads(json.dumps([check.to_dict() for check in rod_map.checks], allow_nan=False))
    assert json.dumps(rod_map.data, allow_nan=False)


def test_figures_name_the_regions_of_the_paper(rod_map: Reproduction) -> None:
    """Figure 2: stable, a > 0 twice, a < 0 twice, curves c^2/k = 0; figure 3: P-matrix and signs of three minors."""
    words = {name: [text.get_text() for text in figure.axes[0].texts] for name, figure in rod_map.figures.items()}
    assert sum("stable\n" in text and "un" not in text for text in words["figure_2"]) == 1
    assert sum("a > 0, b ≠ 0" in text for text in words["figure_2"]) == 2
    assert sum("a < 0" in text for text in words["figure_2"]) == 2
    for text in ("P-matrix", "a₁₁ < 0", "a₂₂ < 0", "det D < 0"):
        assert text in words["figure_3"]


def test_a_simulation_flags_the_step_at_which_stability_is_lost() -> None:
    """The rod turns at 0.5 rad/s from theta = 1.1, friction 1, c^2/k = 0.1: unstable where the map's border is crossed.

    Friction and contact forces are steady, so the time is (theta* - 1.1) / 0.5 up to the error of the time stepping.
    """
    damping, turn, h = 0.1, 0.5, 2e-3
    rod = Rod(theta=1.1)
    lost_at = brentq(
        lambda theta: boundary_layer(replace(rod, theta=theta).matrix(1.0, 1.0)).critical_damping - damping, 1.1, 1.4
    )
    simulator = Simulator(s4.rod_scene(rod, (1.0, 1.0), turn), h=h, tolerance=1e-10)
    angle, stable = [], []
    while simulator.state.t < 0.4:
        before = simulator.state
        result, certificate = simulator.advance()
        assert certificate.residual < 1e-9
        found = check_step(simulator.model, before, result.contacts, result.impulse, result.velocity, damping=damping)
        angle.append(2.0 * np.arctan2(before.q[-1, 6], before.q[-1, 3]))
        stable.append(found.stable)
        assert found.unique is Answer.YES
    first = stable.index(Answer.NO)
    assert 0 < first < len(stable) - 1
    assert set(stable[:first]) == {Answer.YES}
    assert set(stable[first:]) == {Answer.NO}
    assert angle[first - 1] <= lost_at < angle[first]
    assert first * h == pytest.approx((lost_at - 1.1) / turn, abs=2 * h)


def test_a_simulated_box_stays_valid_until_it_stops() -> None:
    """Sliding: valid. At rest: no objection. Never an alarm."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((1, 0.8, 0.4)), mass=2.0, position=(0, 0, 0.2), velocity=(1, 0, 0), name="box")
    scene.set_contact(friction=0.5)
    simulator = Simulator(scene, h=0.01)
    outcomes = []
    for _ in range(40):
        before = simulator.state
        result, _ = simulator.advance()
        outcomes.append(check_step(simulator.model, before, result.contacts, result.impulse, result.velocity).outcome)
    stop = int(np.ceil(1.0 / (0.5 * 9.81) / 0.01))
    assert set(outcomes[: stop - 1]) == {Outcome.VALID}
    assert set(outcomes[stop:]) == {Outcome.NO_OBJECTION}
