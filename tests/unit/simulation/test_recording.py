"""What a run leaves behind, however it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.io import write_tree
from signorini.simulation import recorder as recording
from signorini.simulation.contact_table import ContactLog
from signorini.simulation.recorder import Recorder

STEPS, H = 40, 0.01
loop = sys.modules["signorini.simulation.simulate"]


class Killed(Exception):
    """Stands for an end after which nothing more is written."""


def scene() -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.6), velocity=(1, 0, 0), name="box")
    scene.add_body(sg.Sphere(0.2), mass=0.1, position=(0, 0, 2.0), name="ball")
    scene.add_joint("prismatic", "box", "ball", anchor=(0, 0, 1.1), axis=(0, 0, 1), spring=(50.0, 0.0), name="spring")
    scene.set_contact(friction=0.5)
    return scene


def run(**options: Any) -> sg.Trajectory:
    return sg.simulate(scene(), duration=STEPS * H, h=H, **options)


def same(one: sg.Trajectory, other: sg.Trajectory) -> None:
    """Compare all but the time that steps took."""
    a, b = one.tree(), other.tree()
    for tree in (a, b):
        del tree["certificate"]["solve_time"]
    np.testing.assert_equal(a, b)


def after(steps: int, error: BaseException) -> Callable[[float, sg.State], None]:
    def stop(t: float, _: sg.State) -> None:
        if t > (steps - 0.5) * H:
            raise error

    return stop


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a checkpoint after every step."""
    monkeypatch.setattr(loop, "_CHECKPOINT_EVERY", 0.0)
    monkeypatch.setattr(loop, "_CHECKPOINT_SHARE", 0.0)


@pytest.mark.usefixtures("often")
def test_a_killed_run_loses_what_came_after_its_checkpoint_and_goes_on_bit_for_bit(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    with pytest.raises(Killed):
        run(checkpoint=path, callback=after(20, Killed()))
    assert len(list(tmp_path.iterdir())) == 19  # each step is written once: the first whole, the others as parts
    assert sg.Trajectory.load(path).step_count == 19
    same(sg.resume(path), run())
    same(sg.Trajectory.load(path), run())
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("often")
def test_an_interrupted_run_is_on_disk_to_its_last_step(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    with pytest.raises(sg.simulation.Interrupted) as stop:
        run(checkpoint=path, callback=after(7, KeyboardInterrupt()))
    assert stop.value.trajectory.step_count == 7
    same(sg.Trajectory.load(path), stop.value.trajectory)
    same(sg.resume(path), run())


def test_a_record_that_is_interrupted_while_it_is_put_together_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever array is being joined, all can be read afterwards."""
    monkeypatch.setattr(recording, "_MOST_CHUNKS", 3)
    recorders: list[Recorder] = []

    def made(*arguments: Any, **options: Any) -> Recorder:
        recorders.append(Recorder(*arguments, **options))
        return recorders[-1]

    monkeypatch.setattr(loop, "Recorder", made)
    whole = run(callback=lambda *_: None)
    interrupted = 0
    for calls in range(0, 90, 5):
        with pytest.raises(Killed):
            run(callback=after(20, Killed()))
        recorder, left = recorders[-1], calls

        def concatenate(parts: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return np.concatenate(parts)

        with monkeypatch.context() as patch:
            patch.setattr(recording, "np", SimpleNamespace(**vars(np) | {"concatenate": concatenate}))
            try:
                recorder.trajectory()
            except KeyboardInterrupt:
                interrupted += 1
        trajectory = recorder.trajectory()
        assert trajectory.step_count == trajectory.certificate.residual.size == 20
        assert trajectory.contact_log.start[-1] == trajectory.contact_log.gap.size
        for key, column in trajectory.columns()["balance"].items():
            assert np.array_equal(column, whole.balance[key][:20])
    assert interrupted > 10


@pytest.mark.compiled_only
def test_a_record_takes_no_more_memory_than_its_numbers() -> None:
    """Certificates of compiled steps are arrays: before the record is read, a step takes 2 kB at most, not objects."""
    import tracemalloc

    still = sg.Scene()
    still.add_fixed(sg.HalfSpace(), name="floor")
    still.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5), name="box")
    still.set_contact(friction=0.5)
    sg.simulate(still, duration=0.01, h=1e-3)
    tracemalloc.start()
    trajectory = sg.simulate(still, duration=5.0, h=1e-3)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    columns = trajectory.columns()
    groups = [columns[key] for key in ("contacts", "joints", "balance", "certificate")]
    arrays = [x for group in groups for x in group.values()] + [columns[key] for key in ("time", "q", "v")]
    assert held < 1.1 * sum(x.nbytes for x in arrays) + 1e6


def test_the_failed_step_is_part_of_what_a_failure_holds() -> None:
    """A ball between floor and ceiling that are too close: the one step tells how it failed."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_fixed(sg.HalfSpace((0, 0, -1), -1.9), name="ceiling")
    scene.add_body(sg.Sphere(1.0), mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0), name="ball")
    scene.set_contact(friction=0.2)
    with pytest.warns(sg.SceneWarning), pytest.raises(sg.SolverFailure) as failure:
        sg.simulate(scene, duration=0.6, h=0.12, formulation=sg.StewartTrinkle())
    trajectory = failure.value.trajectory
    assert isinstance(trajectory, sg.Trajectory)
    assert trajectory.step_count == failure.value.step + 1
    assert trajectory.certificate.failed()[-1]


def test_long_runs_say_where_they_are_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loop, "_TELL_EVERY", 0.0)
    run(callback=lambda *_: None)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == STEPS - 1  # the first step may have waited for the compiler
    assert lines[-1] == f"signorini: step {STEPS} of {STEPS}, 0 s left"
    run(progress=False)
    assert capsys.readouterr().err == ""


def test_columns_of_different_lengths_are_no_run(tmp_path: Path) -> None:
    path, tree = tmp_path / "run.h5", run().tree()
    write_tree(path, tree | {"q": tree["q"][:3]})
    with pytest.raises(sg.InputError, match=r"'q' has 3 rows, must have 41"):
        sg.Trajectory.load(path)
    write_tree(path, tree | {"settings": {"h": H}})
    with pytest.raises(sg.InputError, match=r"run\.h5: settings lack 'duration'"):
        sg.resume(path)


def test_a_contact_is_listed_once() -> None:
    """Steps that are posed again have contacts of one name at several places: what carries is shown, else the nearest.

    Rows: name 7 twice, the farther carries; name 8 three times, none does; name 9 twice, both do; name 10 once.
    """
    feature, p_n = np.array([7, 7, 8, 8, 8, 9, 9, 10]), np.array([0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.0])
    gap, n = np.array([-0.1, 0.2, 0.3, 0.1, 0.2, 0.0, 0.0, 0.5]), 8
    rows: dict[str, Any] = {
        "body_a": np.zeros(n, dtype=np.int64),
        "body_b": np.ones(n, dtype=np.int64),
        "point_a": np.zeros((n, 3)),
        "point": np.zeros((n, 3)),
        "normal": np.tile([0.0, 0.0, 1.0], (n, 1)),
        "gap": gap,
        "impulse": np.stack([p_n, 0.0 * p_n, 0.0 * p_n], axis=1),
        "velocity": np.zeros((n, 3)),
        "mode": np.zeros(n, dtype=np.int64),
        "feature": feature,
    }
    log = ContactLog.of([rows], [np.array([n])])
    assert log.table(0, ("floor", "box")).gap.tolist() == [0.2, 0.1, 0.0, 0.0, 0.5]
    older = ContactLog.from_dict({key: column for key, column in log.to_dict().items() if key != "feature"})
    assert older.table(0, ("floor", "box")).gap.tolist() == gap.tolist()


def test_runs_go_on_from_files_that_do_not_tell_all(tmp_path: Path) -> None:
    """Names and couples of contacts are younger than the format."""
    balls = scene()
    balls.set_contact(friction=0.3, torsional=0.01)
    whole = sg.simulate(balls, duration=STEPS * H, h=H)
    half = sg.simulate(balls, duration=0.5 * STEPS * H, h=H).tree()
    for word in ("feature", "couple"):
        del half["contacts"][word]
    half["settings"]["duration"] = STEPS * H
    write_tree(tmp_path / "old.h5", half)
    run = sg.resume(tmp_path / "old.h5")
    assert (run.contact_log.feature, run.contact_log.couple) == (None, None)
    np.testing.assert_array_equal(run.q, whole.q)
    np.testing.assert_array_equal(run.contact_log.impulse, whole.contact_log.impulse)
    assert whole.contact_log.couple is not None
