"""The verdict: each finding from a certificate that is good but for one column."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._grades import losses
from tests.scenes import rough_sphere

STEPS = 4


@cache
def honest() -> sg.Trajectory:
    return sg.simulate(rough_sphere(), duration=0.01 * STEPS, h=0.01)


def altered(**columns: Any) -> sg.Trajectory:
    """The honest run with the third step's numbers changed."""
    certificate = honest().certificate
    changed = {}
    for name, value in columns.items():
        column = np.array(getattr(certificate, name))
        column[2] = value
        changed[name] = column
    return replace(honest(), certificate=replace(certificate, **changed))


def overlapping(share: float) -> sg.Trajectory:
    return altered(overlap=share * 0.5, overlap_extent=0.5, overlap_a=0, overlap_b=1)


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.0, "trusted"), (0.9e-3, "trusted"), (1.1e-3, "trusted with remarks"), (1.9e-2, "trusted with remarks"),
     (2.1e-2, "not trusted"), (3.0, "not trusted")],
)  # fmt: skip
def test_overlap_counts_relative_to_the_thinner_body(share: float, verdict: str) -> None:
    run = overlapping(share)
    assert run.verdict == run.certificate.verdict == verdict
    assert run.certificate.rows()[2].verdict == verdict
    assert run.report().splitlines()[-1].startswith(verdict.capitalize() + ": ")
    if verdict != "trusted":
        (remark,) = run.remarks()
        assert remark.startswith(f"bodies overlap in 1 step, worst at t = 0.03 s: {0.5 * share:.2e} m")
        assert "'floor' and 'ball'; try a smaller h" in remark


@pytest.mark.parametrize(
    ("columns", "verdict", "words"),
    [
        ({"status": sg.Status.STALLED}, "not trusted", "law not solved in 1 step"),
        ({"energy_error": 1e-9}, "not trusted", "energy unexplained in 1 step"),
        ({"energy_error": np.nan}, "not trusted", "energy unexplained in 1 step"),
        ({"residual": np.nan}, "not trusted", "numbers not finite in 1 step"),
        ({"joint_drift": np.inf}, "not trusted", "numbers not finite in 1 step"),
        ({"min_gap": np.nan}, "not trusted", "numbers not finite in 1 step"),
        ({"compliance": 1e-3}, "trusted with remarks", "contacts compliant in 1 step"),
        ({"compliance": 1e-3, "deflection": 0.1, "extent": 1.0, "yielded": 1}, "not trusted", "gave way too far"),
        ({"energy_gain": 1.0, "energy_scale": 10.0}, "trusted with remarks", "collisions gained energy in 1 step"),
        ({"correction_work": 2.0, "energy_scale": 10.0}, "trusted with remarks", "energy from parting overlaps"),
        ({"joint_work": 0.1, "energy_moving": 9.0, "energy_scale": 99.0}, "trusted with remarks", "pulling joints"),
        ({"joint_work": 0.1, "energy_moving": 11.0, "energy_scale": 99.0}, "trusted", ""),
        ({"joint_work": 0.1, "energy_moving": 0.0, "energy_scale": 1.1e4}, "trusted with remarks", "pulling joints"),
        ({"joint_work": 1e-9, "energy_moving": 0.0, "energy_scale": 11.0}, "trusted", ""),  # rounding
        ({"joint_work": -0.4, "energy_scale": 10.0}, "trusted", ""),
        ({"joint_work": -0.6, "energy_scale": 10.0}, "trusted with remarks", "energy lost in joints in 1 step"),
        ({"joint_work": -4.9, "energy_scale": 10.0}, "trusted with remarks", "energy lost in joints in 1 step"),
        ({"joint_work": -5.1, "energy_scale": 10.0}, "not trusted", "energy lost in joints in 1 step"),
        ({"stable": 0}, "trusted with remarks", "rigid contact forces not stable in 1 step"),
        ({"unfollowed": 1}, "not trusted", "bodies go through each other in 1 step"),
        ({"turned_energy": 0.9e-4}, "trusted", ""),
        ({"turned_energy": 1.9e-2}, "trusted with remarks", "bodies turned otherwise than they fly in 1 step"),
        ({"turned_energy": 2.1e-2}, "not trusted", "bodies turned otherwise than they fly in 1 step"),
        ({"indeterminate": 3}, "trusted", ""),
        ({"redundant_rows": 3}, "trusted", ""),
    ],
)  # fmt: skip
def test_each_finding_lowers_the_grade_and_is_told_in_a_line(columns: dict[str, Any], verdict: str, words: str) -> None:
    run = altered(**columns)
    assert run.verdict == verdict
    assert any(words in remark for remark in run.remarks()) == bool(words)
    assert run.report().splitlines()[-1].startswith(verdict.capitalize() + ": ")


@pytest.mark.parametrize(
    ("columns", "words", "options"),
    [
        ({"energy_gain": 1.0}, "the default law of restitution", {"restitution_law": "newton"}),
        ({"joint_work": 1.0}, "MoreauJean(projection=True)", {}),
        ({"unique": 0}, "MoreauJean(stiffness=...)", {}),
    ],
)
def test_only_what_differs_from_the_run_is_advised(
    columns: dict[str, Any], words: str, options: dict[str, Any]
) -> None:
    run, has = altered(**columns), {"projection": True, "stiffness": 1e5, "restitution_law": "passive"}
    for scheme, advised in ((None, True), ({"moreau_jean": options}, True), ({"moreau_jean": has}, False)):
        (remark,) = replace(run, settings={"scheme": scheme}).remarks()
        assert (words in remark) == advised
        assert "; try" not in remark or not remark.endswith(("try ", "or "))


def test_the_gravest_finding_comes_first() -> None:
    run = altered(compliance=1e-3, energy_error=1.0)
    assert [remark.split(" in ")[0] for remark in run.remarks()] == ["energy unexplained", "contacts compliant"]


def test_bodies_that_begin_in_each_other_are_found_in_the_first_step() -> None:
    scene = rough_sphere()
    scene.add_body(sg.Sphere(1.0), mass=1.0, position=(0.3, 0, 1.0), name="intruder")
    for formulation in (sg.MoreauJean(), sg.MoreauJean(solver=sg.NSGS()), sg.StewartTrinkle()):
        run = sg.simulate(scene, duration=0.01, h=0.01, formulation=formulation, on_failure="keep")
        assert run.verdict == "not trusted"
        assert run.certificate.overlap[0] == pytest.approx(1.7, abs=1e-6)  # two radii less the distance
        assert "bodies overlap from the start on" in run.report()


def test_a_state_that_is_not_finite_is_never_solved() -> None:
    for formulation in (sg.MoreauJean(), sg.MoreauJean(solver=sg.NSGS())):
        simulator = sg.Simulator(rough_sphere(), h=0.01, formulation=formulation)
        snapshot = simulator.snapshot()
        snapshot.state.v[1, 3] = np.nan
        simulator.restore(snapshot)
        with pytest.raises(sg.SolverFailure, match="'ball' leaves the range of numbers"):
            simulator.step()


def test_files_of_earlier_versions_say_that_overlaps_were_not_recorded() -> None:
    columns = honest().certificate.to_dict()
    for name in ("overlap", "overlap_extent", "overlap_a", "overlap_b", "energy_scale", "energy_gain"):
        del columns[name]
    old = sg.Certificate.from_dict(columns)
    assert old.verdict == "trusted with remarks"
    assert "overlap not recorded" in replace(honest(), certificate=old).report()


@pytest.mark.parametrize(
    ("apart", "moving", "told"),
    [
        ((1e-3, 2e-3, 4e-3, 8e-3), (1, 1, 1, 1), True),
        ((1e-3, 2e-3, 3e-3, 4.9e-3), (1, 1, 1, 1), False),  # small
        ((1e-3, 4e-3, 5e-3, 6e-3), (1, 1, 1, 1), False),  # slowly
        ((1e-3, 2e-3, 1e-3, 8e-3), (1, 1, 1, 1), False),  # to and fro
        ((1e-3, 2e-3, 4e-3, 8e-3), (1, 2, 4, 8), False),  # as the motion does
        ((1e-3, 2e-3, 4e-3, 8e-3), (8, 4, 2, 1), True),
    ],
)
def test_joints_that_drift_ever_farther_are_told(apart: Any, moving: Any, told: bool) -> None:
    columns = {"joint_apart": np.array(apart), "energy_moving": np.array(moving, dtype=float)}
    run = replace(honest(), certificate=replace(honest().certificate, **columns))
    assert any("joints drift apart in 4 steps" in remark for remark in run.remarks()) == told
    assert run.verdict == ("trusted with remarks" if told else "trusted")


@pytest.mark.parametrize(("per_step", "most"), [(6e-4, 0.5), (4e-5, 5e-2)])
def test_losses_count_in_a_thousand_steps_however_long_the_run(per_step: float, most: float) -> None:
    """What a motor puts in again for an hour is not lost from a motion; half of it in 800 steps is."""
    steady = losses(np.full(20_000, -per_step))
    assert 500 * per_step <= steady[600:].min() <= steady.max() == pytest.approx(1000 * per_step)
    assert (steady.max() > most) == (per_step == 6e-4)
    sudden = np.zeros(20_000)
    sudden[7_000:7_800] = -per_step
    assert losses(sudden).max() >= 500 * per_step
