"""The loop: settings, failures, records, bad input."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.analysis import Answer
from signorini.problems import FrictionProblem
from signorini.simulation.certificate import NOT_TESTED
from signorini.solvers import Control
from tests.scenes import box_on_slope, rough_sphere, stack


@dataclass(frozen=True)
class Liar:
    """A solver that returns nothing useful and calls it solved."""

    def solve(self, problem: FrictionProblem, control: Control) -> sg.Solution:
        return sg.Solution(np.zeros(problem.size), sg.Status.SOLVED, 0.0, 1)


def test_a_lying_solver_is_found_out() -> None:
    """The certificate recomputes the residual; what a solver says of itself counts for nothing."""
    with pytest.raises(sg.SolverFailure, match=r"step 0 at t = 0 s: 1 contacts not solved") as caught:
        sg.simulate(rough_sphere(), duration=0.1, h=0.01, formulation=sg.MoreauJean(solver=Liar()))
    failure = caught.value
    assert failure.step == 0
    assert isinstance(failure.problem, FrictionProblem)
    assert isinstance(failure.trajectory, sg.Trajectory)
    assert failure.trajectory.certificate.residual[0] > 0.01


def test_failures_may_be_kept_or_warned_about() -> None:
    lying = sg.MoreauJean(solver=Liar())
    trajectory = sg.simulate(rough_sphere(), duration=0.03, h=0.01, formulation=lying, on_failure="keep")
    assert trajectory.certificate.residual.min() > 0.01
    assert trajectory.report().splitlines()[-1].startswith("Not trusted: law not solved in 3 steps (residual ")
    with pytest.warns(RuntimeWarning, match="not solved"):
        sg.simulate(rough_sphere(), duration=0.01, h=0.01, formulation=lying, on_failure="warn")


def test_an_honest_run_is_trusted() -> None:
    report = sg.simulate(rough_sphere(), duration=0.1, h=0.01).report()
    assert report.splitlines()[-1].startswith("Trusted")


@pytest.mark.parametrize(("duration", "h", "steps"), [(0.6, 0.12, 5), (0.1, 0.03, 4), (0.0, 0.1, 0), (0.3, 0.1, 3)])
def test_duration_is_rounded_up_to_whole_steps(duration: float, h: float, steps: int) -> None:
    trajectory = sg.simulate(rough_sphere(), duration=duration, h=h)
    assert trajectory.step_count == steps
    np.testing.assert_allclose(trajectory.time, h * np.arange(steps + 1), atol=1e-14)


def test_recording_motion_only_leaves_out_the_contacts() -> None:
    trajectory = sg.simulate(rough_sphere(), duration=0.1, h=0.01, record="motion")
    assert trajectory.contact_log.gap.size == 0
    with pytest.raises(sg.InputError, match="step is 0"):
        trajectory.contacts(0)


def test_table_of_contacts_tells_stick_slip_and_separation() -> None:
    """S1 spec 7.1: the sphere slips in the first steps, rolls in the fifth; thrown up it separates."""
    trajectory = sg.simulate(rough_sphere(), duration=0.6, h=0.12)
    first, last = trajectory.contacts(0), trajectory.contacts(-1)
    assert [str(mode) for mode in first.mode] == ["slip"]
    assert first.bodies == (("floor", "ball"),)
    np.testing.assert_allclose(first.friction_impulse, [[-0.23544, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(first.slip, [[1.17596, 0.0, 0.0]], atol=1e-12)
    assert [str(mode) for mode in last.mode] == ["stick"]
    assert "slip" in str(first)

    thrown = sg.Scene()
    thrown.add_fixed(sg.HalfSpace(), name="floor")
    thrown.add_body(sg.Sphere(1.0), mass=1.0, position=(0, 0, 1), velocity=(0, 0, 2), name="ball")
    assert [str(m) for m in sg.simulate(thrown, duration=0.01, h=0.01).contacts(0).mode] == ["separating"]


def test_force_on_a_resting_body_is_its_weight() -> None:
    """The stack's boxes press with their weight: the plot's force curve of each box sums to m g."""
    trajectory = sg.simulate(stack(3), duration=0.05, h=0.005, tolerance=1e-10)
    for k in range(3):
        np.testing.assert_allclose(trajectory._contact_force(f"box{k}")[-1], [0, 0, 9.81], atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"h": 0.0}, "h is 0.0, must be > 0"),
        ({"h": -0.1}, "h is -0.1, must be > 0"),
        ({"h": float("nan")}, "h is nan, must be finite"),
        ({"h": "fast"}, "h is 'fast', must be a number"),
        ({"duration": -1.0}, "duration is -1.0, must be >= 0"),
        ({"tolerance": 0.0}, "tolerance is 0, must be from 1e-14 to 0.01"),
        ({"on_failure": "shrug"}, "on_failure is 'shrug', must be 'raise', 'warn' or 'keep'"),
        ({"record": "some"}, "record is 'some', must be 'all', 'motion' or words of every, bodies, contacts"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(sg.InputError) as caught:
        sg.simulate(rough_sphere(), **{"duration": 0.1, "h": 0.01, **settings})  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: sg.StewartTrinkle(directions=2),
            "StewartTrinkle: directions is 2, must be an integer >= 3 and <= 1000",
        ),
        (lambda: sg.StewartTrinkle(rotation=np.inf), "StewartTrinkle: rotation is inf, must be finite"),
        (
            lambda: sg.MoreauJean(gyroscopic="none"),
            "MoreauJean: gyroscopic is 'none', must be 'conserving', 'implicit' or 'explicit'",
        ),
    ],
)
def test_bad_formulations_are_named(make: object, message: str) -> None:
    with pytest.raises(sg.InputError) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value) == message


def test_contact_data_that_a_formulation_does_not_model_are_refused() -> None:
    """Nothing the user asked for is silently ignored."""
    scene = rough_sphere()
    scene.set_contact(friction=0.2, restitution=0.5)
    with pytest.raises(sg.InputError, match=r"restitution is 0.5, must be 0 for StewartTrinkle"):
        sg.simulate(scene, duration=0.1, h=0.01, formulation=sg.StewartTrinkle())
    scene.set_contact(friction=0.2, rolling=0.01)
    with pytest.raises(sg.InputError, match=r"rolling is 0.01, must be 0 for StewartTrinkle"):
        sg.simulate(scene, duration=0.1, h=0.01, formulation=sg.StewartTrinkle())


def test_scenes_with_functions_can_be_resumed_if_given_again(tmp_path: Path) -> None:
    """No file can hold a function: resume asks for the scene."""

    def scene() -> sg.Scene:
        made = rough_sphere()
        made.add_force("ball", force=lambda t, state: (0.0, t, 0.0))
        return made

    def stop(t: float, state: sg.State) -> None:
        if t > 0.05:
            raise KeyboardInterrupt

    path = tmp_path / "run.h5"
    with pytest.raises(KeyboardInterrupt):
        sg.simulate(scene(), duration=0.1, h=0.01, checkpoint=path, callback=stop)
    with pytest.raises(sg.InputError, match="must be given again"):
        sg.resume(path)
    whole = sg.simulate(scene(), duration=0.1, h=0.01)
    np.testing.assert_array_equal(sg.resume(path, scene=scene()).q, whole.q)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda simulator: pickle.loads(pickle.dumps(simulator))])
@pytest.mark.parametrize("formulation", [sg.MoreauJean(), sg.StewartTrinkle()])
def test_copies_go_on_alike_and_apart(copied: Any, formulation: Any) -> None:
    one = sg.Simulator(rough_sphere(), h=0.01, formulation=formulation)
    one.run(3)
    other = copied(one)
    other.run(5)
    assert one.step_count == 3
    one.run(5)
    np.testing.assert_array_equal(one.state.q, other.state.q)
    np.testing.assert_array_equal(one.state.v, other.state.v)


def test_snapshot_of_another_scene_is_refused() -> None:
    one, other = sg.Simulator(stack(2), h=0.01), sg.Simulator(rough_sphere(), h=0.01)
    with pytest.raises(sg.InputError, match="snapshot has 2 bodies, must be of this scene with 3"):
        one.restore(other.snapshot())


def test_validity_of_the_rigid_model_is_part_of_the_certificate_if_asked_for() -> None:
    """A box sliding on a floor with moderate friction has unique and stable contact forces (S4)."""
    scene = box_on_slope(0.0, 0.3, velocity=np.array([1.0, 0.0, 0.0]))
    tested = sg.simulate(scene, duration=0.05, h=0.01, validity=True)
    np.testing.assert_array_equal(tested.certificate.unique, Answer.YES)
    np.testing.assert_array_equal(tested.certificate.stable, Answer.YES)
    np.testing.assert_array_equal(tested.certificate.critical_damping, 0.0)
    assert "note: rigid model: unique and stable contact forces were asked for in 5 steps" in tested.report()
    assert tested.verdict == "trusted"
    wedged = replace(tested.certificate, unique=np.full(5, Answer.NO))
    assert wedged.verdict == "trusted with remarks"
    assert "remark: rigid contact forces not unique in 5 steps" in replace(tested, certificate=wedged).report()

    undamped = sg.simulate(scene, duration=0.05, h=0.01, validity=0.0)  # a damping to ask with, not a "no"
    np.testing.assert_array_equal(undamped.certificate.unique, Answer.YES)

    untested = sg.simulate(scene, duration=0.05, h=0.01)
    np.testing.assert_array_equal(untested.certificate.unique, NOT_TESTED)
    assert np.isnan(untested.certificate.critical_damping).all()
    with pytest.raises(sg.InputError, match=r"validity is -1\.0, must be >= 0"):
        sg.simulate(scene, duration=0.05, h=0.01, validity=-1.0)


def test_a_duration_of_too_many_steps_is_refused() -> None:
    with pytest.raises(
        sg.InputError, match=r"duration is 1e\+30 s in steps of h = 0.01 s, must be at most 1e\+09 steps"
    ):
        sg.simulate(rough_sphere(), duration=1e30, h=0.01)
