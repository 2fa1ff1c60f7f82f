"""S1 (Trinkle 2003): the printed numbers of its examples, by the same functions as ``signorini reproduce``.

The expected numbers stand in :mod:`signorini.reproduce`, copied from the specification; here each example must meet all
of them, and the checks must be able to miss.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from signorini.reproduce import EXAMPLES, Check, Reproduction, printed, s1_joints, s1_sliding_sphere
from signorini.reproduce.s1_sliding_sphere import polygon_load, polygon_speed


@pytest.fixture(scope="module")
def sphere() -> Reproduction:
    return s1_sliding_sphere.sphere()


def missed(outcome: Reproduction) -> list[Check]:
    return [check for check in outcome.checks if not check.passed]


def test_sphere_table_7_1_and_convergence(sphere: Reproduction) -> None:
    assert missed(sphere) == []
    assert len(sphere.checks) == 1 + 5 * 11 + 3 + 5 * 5


def test_sphere_steps_have_the_agreed_form(sphere: Reproduction) -> None:
    steps = sphere.data["steps"]
    assert [set(row) for row in steps] == [{"t", "vx", "omega_y", "beta", "sigma", "x"}] * 5
    # Table 7.1 once more, written out here so that a slip in the module's own table would show.
    assert steps[0]["vx"] == pytest.approx(1.76456, abs=1e-12)
    assert steps[1]["omega_y"] == pytest.approx(1.1772, abs=1e-12)
    assert steps[2]["beta"] == pytest.approx(0.1005486, abs=5e-8)
    assert steps[4]["x"] == pytest.approx(0.9095273, abs=5e-8)


def test_sphere_figures_are_drawn(sphere: Reproduction) -> None:
    assert set(sphere.figures) == {"figure_8", "figure_9"}
    velocities, forces = sphere.figures["figure_8"].axes, sphere.figures["figure_9"].axes
    assert [len(axes.lines) for axes in velocities] == [6, 6]  # three components, computed and exact
    assert len(forces[0].lines) == 2  # exact; the computed forces are stairs
    assert len(forces[0].patches) == 2


def test_polygon_table_7_2() -> None:
    assert missed(s1_sliding_sphere.polygon()) == []


def test_drop_7_4() -> None:
    assert missed(s1_sliding_sphere.drop()) == []


def test_joints_7_3() -> None:
    outcome = s1_joints.joints()
    assert missed(outcome) == []
    assert len(outcome.checks) == 2 + 4 * 3 + 3 + 1 + 8 * 2 + 3 + 7 + 2
    assert [len(axes.lines) for axes in outcome.figures["joints"].axes] == [2, 2, 2]


def test_the_wrong_joints_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another arm of the pendulum, and another friction of the wheel expected, their checks miss."""
    monkeypatch.setattr(s1_joints, "ARM", 0.501)
    monkeypatch.setattr(s1_joints, "_BRAKED", tuple(1.01 * omega for omega in s1_joints._BRAKED))
    monkeypatch.setattr(s1_joints, "_PENDULUM", s1_joints._PENDULUM[:1])
    assert len(missed(s1_joints.joints())) >= 3 + 6


def test_a_check_of_the_sphere_can_fail(sphere: Reproduction) -> None:
    """A number that is off by two of the allowed differences is missed, and with it the example."""
    for k, check in enumerate(sphere.checks):
        wrong = replace(check, expected=check.expected + 2.0 * check.tolerance + 1e-300)
        if check.tolerance > 0.0:
            assert not wrong.passed, check.what
            assert not Reproduction([*sphere.checks[:k], wrong]).passed
    assert not replace(sphere.checks[1], obtained=float("nan")).passed


def test_the_wrong_physics_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another friction coefficient in the scene, most of the checks miss."""
    scene = s1_sliding_sphere.sliding_sphere

    def slippery(*, height: float = 0.0) -> object:
        made = scene(height=height)
        made.set_contact(friction=0.19)
        return made

    monkeypatch.setattr(s1_sliding_sphere, "sliding_sphere", slippery)
    assert len(missed(s1_sliding_sphere.sphere())) > 30
    assert missed(s1_sliding_sphere.drop())


def test_an_example_without_checks_shows_nothing() -> None:
    assert not Reproduction([]).passed


def test_printed_digits_give_the_tolerance() -> None:
    """Half a unit of the last digit, whether it is a zero or not."""
    assert printed("x", "1.50", 1.5049).passed
    assert not printed("x", "1.50", 1.5051).passed
    assert printed("x", "1.5", 1.549).passed


def test_examples_have_names_of_the_interface() -> None:
    assert [example.name for example in EXAMPLES if example.seed == "S1"][:3] == ["sphere", "polygon", "drop"]


@pytest.mark.parametrize("n_d", [3, 4, 8])
def test_polygon_measures_against_their_definition(n_d: int) -> None:
    """``e . beta`` of a point made from known coordinates of two neighbours; sigma = max_j -d_j . u."""
    phi = 0.3
    angle = phi + 2.0 * np.pi * np.arange(n_d) / n_d
    d = np.column_stack([np.cos(angle), np.sin(angle)])
    p = 0.7 * d[1] + 0.2 * d[2]
    assert polygon_load(p, n_d, phi) == pytest.approx(0.9, rel=1e-14)
    assert polygon_speed(-2.0 * d[1], n_d, phi) == pytest.approx(2.0, rel=1e-14)
    assert polygon_speed(np.zeros(2), n_d, phi) == 0.0
