"""A formulation from outside, with memory, coordinates, energy and law of its own, goes wherever ours go."""

from __future__ import annotations

import copy
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import signorini as sg
from signorini.audit import Grade, audit_tree
from signorini.formulations import AnyMemory, Formulation, Posed, Stepper
from signorini.simulation import FORMULATIONS
from signorini.simulation.by_functions import ByFunctions
from tests.ringing_ball import Hits, RingingBall, Unilateral

H, STEPS = 0.02, 35
ROOT = Path(__file__).resolve().parents[3]
KILLED = """
import os, signal, sys
import signorini as sg
from tests.unit.simulation import test_open_rooms as here
loop = sys.modules["signorini.simulation.simulate"]
loop._CHECKPOINT_EVERY = loop._CHECKPOINT_SHARE = 0.0
def stop(t, state):
    if t > 0.37:
        os.kill(os.getpid(), signal.SIGKILL)
here.run(checkpoint=sys.argv[1], callback=stop)
"""


def scene() -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=0.0)
    scene.add_body(sg.Sphere(0.5), mass=2.0, position=(0, 0, 0.7), velocity=(0.3, 0, 0), name="ball")
    return scene


def run(**options: Any) -> sg.Trajectory:
    return sg.simulate(scene(), duration=STEPS * H, h=H, formulation=RingingBall(), **options)


def same(one: sg.Trajectory, other: sg.Trajectory) -> None:
    """Compare all but the time that steps took, and the name of the formulation."""
    a, b = one.tree(), other.tree()
    for tree in (a, b):
        del tree["certificate"]["solve_time"]
        tree["settings"] = {key: x for key, x in tree["settings"].items() if key not in ("formulation", "scheme")}
    np.testing.assert_equal(a, b)


def kinds(formulation: RingingBall, memory: Hits, law: Unilateral, stepper: ByFunctions) -> tuple[Any, ...]:
    """Let the type checker see that what is outside fits."""
    fits: tuple[Formulation, AnyMemory, Posed, Stepper] = (formulation, memory, law, stepper)
    return fits


def test_a_run_is_recorded_certified_and_accounted_for(tmp_path: Path) -> None:
    """The first hit gives the mode a rate of phi p: energy goes from the ball to its mode, and none is lost unsaid."""
    trajectory = run()
    assert trajectory.verdict == "trusted", trajectory.report()
    assert trajectory.modal.shape == trajectory.modal_rate.shape == (STEPS + 1, 1)
    energy = trajectory.energy()
    assert np.abs(energy.error).max() < 1e-12 * energy.total[0]
    hit = int(np.flatnonzero(np.diff(trajectory.contact_log.start) & (trajectory.balance["impact"] > 0.0))[0])
    p = trajectory.contacts(hit).normal_impulse[0]
    mode = 0.5 * trajectory.modal_rate[hit + 1, 0] ** 2 + energy.elastic[hit + 1]
    assert mode == pytest.approx(0.5 * (0.1 * p) ** 2, rel=1e-12)
    ball = 0.5 * 2.0 * np.sum(trajectory.v[hit + 1, 1] ** 2)
    assert energy.kinetic[hit + 1] == pytest.approx(ball + 0.5 * trajectory.modal_rate[hit + 1, 0] ** 2, rel=1e-12)
    assert trajectory.memory["kind"] == "hits"
    assert trajectory.memory["count"] >= 2
    trajectory.plot()
    trajectory.plot("ball")
    plt.close("all")
    trajectory.save(tmp_path / "run.h5")
    loaded = sg.Trajectory.load(tmp_path / "run.h5")
    same(loaded, trajectory)
    assert loaded.report() == trajectory.report()


def test_the_audit_counts_the_energy_of_modes_and_names_what_it_does_not_check() -> None:
    """What the ball loses to its mode is no error of the run; a mode that is quicker than told is found."""
    tree = run().tree()
    audit = audit_tree(tree, scene=scene())
    assert [one.what for one in audit.findings if one.grade is not Grade.TRUSTED] == []
    assert "modal coordinates, except in energies: how they move is not recorded" in audit.unchecked
    assert audit.verdict is Grade.REMARKS
    tree["modal_rate"] = 1.01 * tree["modal_rate"]
    assert audit_tree(tree, scene=scene()).of("energies as told").grade is Grade.NOT_TRUSTED


def test_a_killed_run_goes_on_bit_for_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """... given its formulation again, or by name once it has one."""
    path, whole = tmp_path / "run.h5", run()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    past = sg.Trajectory.load(path)
    assert 0 < past.memory["count"] < whole.memory["count"]  # a memory that was forgotten would be seen
    with pytest.raises(sg.InputError, match="formulation must be given again"):
        sg.resume(path)
    with pytest.raises(sg.InputError, match="memory is of the kind 'hits', must be 'impulses' for this formulation"):
        sg.resume(path, formulation=sg.StewartTrinkle())
    same(sg.resume(path, formulation=RingingBall()), whole)
    same(sg.Trajectory.load(path), whole)

    monkeypatch.setitem(FORMULATIONS, "ringing_ball", RingingBall)
    named = run()
    assert named.settings["formulation"] == {"ringing_ball": {"shape": 0.1, "frequency": 40.0, "share": 1.0}}
    half = replace(past, settings={**past.settings, "formulation": {"ringing_ball": {"frequency": 40.0}}})
    half.save(tmp_path / "named.h5")
    same(sg.resume(tmp_path / "named.h5"), whole)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda simulator: pickle.loads(pickle.dumps(simulator))])
def test_snapshots_and_copies_go_on_alike(copied: Any) -> None:
    one = sg.Simulator(scene(), h=H, formulation=RingingBall())
    one.run(15)
    snapshot, other = one.snapshot(), copied(one)
    assert snapshot.memory.count > 0
    report = one.step(controls={"ball": (0, 0, 1.0, 0, 0, 0)})
    assert report.status == sg.Status.SOLVED
    assert report.result.problem.size == 1
    one.run(10)
    other.step()
    other.run(10)
    assert one.step_count == other.step_count == 26
    one.restore(snapshot)
    one.run(11)
    for name in ("q", "v", "modal", "modal_rate"):
        np.testing.assert_array_equal(getattr(one.state, name), getattr(other.state, name))
    assert one.memory.to_arrays() == other.memory.to_arrays()
    with pytest.raises(sg.InputError, match="snapshot has arrays of"):
        sg.Simulator(scene(), h=H, formulation=sg.StewartTrinkle()).restore(snapshot)
    bodies = replace(snapshot, state=replace(snapshot.state, modal=np.zeros(0), modal_rate=np.zeros(0)))
    with pytest.raises(sg.InputError, match="memory of type Hits, must be Memory for this formulation"):
        sg.Simulator(scene(), h=H, formulation=sg.StewartTrinkle()).restore(bodies)


def test_a_law_that_is_not_met_is_found_out() -> None:
    """The law judges itself: half of the impulse that it asks for is not a solution, whatever the stepper says."""
    with pytest.raises(sg.SolverFailure, match=r"the floor not solved: stalled, residual 5\.00e-01") as caught:
        sg.simulate(scene(), duration=1.0, h=H, formulation=RingingBall(share=0.5))
    assert isinstance(caught.value.problem, sg.LCP)


def test_coordinates_that_are_no_numbers_are_said() -> None:
    with np.errstate(all="ignore"), pytest.raises(sg.SolverFailure, match="further coordinates leave the range"):
        sg.simulate(scene(), duration=0.01, h=H, formulation=RingingBall(frequency=float("inf")))


def test_the_rigid_model_may_be_tested_of_any_formulation() -> None:
    tested = run(validity=True)
    assert (tested.certificate.unique >= 0).all()
    np.testing.assert_array_equal(tested.modal, run().modal)
