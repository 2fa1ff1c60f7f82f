"""Runs of the command line that are stopped: what was computed is on disk, one line says so, exit code 128 + n."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.cli import main, simulating
from signorini.errors import FileError

SCENE = """
contact: {friction: 0.2}
fixed:  [{name: floor, shape: {half_space: {}}}]
bodies: [{name: ball, shape: {sphere: {radius: 1.0}}, mass: 1.0, position: [0, 0, 1], velocity: [2, 0, 0]}]
simulate: {duration: 0.5, h: 0.05}
"""
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}
loop = sys.modules["signorini.simulation.simulate"]


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    path = tmp_path / "ball.yaml"
    path.write_text(SCENE)
    return path


@pytest.fixture(autouse=True)
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes longer than all the rest."""
    monkeypatch.setattr(simulating, "_write_figures", lambda *_: None)


def signalled(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let runs send their process a signal after the fourth step."""

    def send(t: float, _: sg.State) -> None:
        if t > 0.18:
            os.kill(os.getpid(), number)

    simulate = sg.simulate
    monkeypatch.setattr(simulating, "simulate", lambda *a, **k: simulate(*a, **k, callback=send))


def same_motion(one: Path, other: Path) -> bool:
    a, b = (sg.Trajectory.load(path / "trajectory.h5") for path in (one, other))
    return np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v)


@pytest.mark.parametrize("number", WORDS)
def test_signals_end_a_run_in_order(
    number: signal.Signals,
    scene_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """... and what other handlers there are come back."""
    handled: list[int] = []
    before = signal.signal(number, lambda n, _: handled.append(n))
    try:
        with monkeypatch.context() as patch:
            signalled(patch, number)
            assert main(["run", str(scene_file), "--out", str(tmp_path / "out")]) == 128 + number
        os.kill(os.getpid(), number)
    finally:
        signal.signal(number, before)
    assert handled == [number]
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"signorini: {WORDS[number]}; 4 steps are in {tmp_path / 'out'}, continue with --resume"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "trajectory.h5",
        "certificate.txt",
        "certificate.json",
    }
    assert main(["run", str(scene_file), "--out", str(tmp_path / "out"), "--resume"]) == 0
    assert main(["run", str(scene_file), "--out", str(tmp_path / "whole")]) == 0
    assert same_motion(tmp_path / "out", tmp_path / "whole")


def test_further_signals_wait_until_all_is_written(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = sg.Trajectory.save

    def save_under_fire(trajectory: sg.Trajectory, path: Path) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        save(trajectory, path)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(sg.Trajectory, "save", save_under_fire)
    signalled(monkeypatch, signal.SIGTERM)
    assert main(["run", str(scene_file), "--out", str(tmp_path / "out")]) == 143
    assert sg.Trajectory.load(tmp_path / "out" / "trajectory.h5").step_count == 4
    assert (tmp_path / "out" / "certificate.json").exists()


def test_what_the_caller_ignores_stays_ignored(
    scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``nohup signorini run ...``"""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        signalled(monkeypatch, signal.SIGHUP)
        assert main(["run", str(scene_file), "--out", str(tmp_path / "out")]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_killed_run_keeps_its_checkpoint_and_the_result_that_was_there(scene_file: Path, tmp_path: Path) -> None:
    """SIGKILL, after which no line of the program runs: the old result is untouched, and the new run goes on."""
    out, whole = tmp_path / "out", tmp_path / "whole"
    assert main(["run", str(scene_file), "--out", str(out)]) == 0
    finished = (out / "trajectory.h5").read_bytes()
    code = """
import os, sys
import signorini as sg
from signorini.cli import main, simulating
loop = sys.modules["signorini.simulation.simulate"]
loop._CHECKPOINT_EVERY = loop._CHECKPOINT_SHARE = 0.0
simulate = sg.simulate
def kill(t, _):
    if t > 0.28:
        os.kill(os.getpid(), 9)
simulating.simulate = lambda *a, **k: simulate(*a, **k, callback=kill)
main()
"""
    scene_file.write_text(SCENE.replace("[2, 0, 0]", "[3, 0, 0]"))
    done = subprocess.run(
        [sys.executable, "-c", code, "run", str(scene_file), "--out", str(out)], check=False, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (out / "trajectory.h5").read_bytes() == finished
    assert sg.Trajectory.load(out / "checkpoint.h5").step_count == 5
    assert main(["run", str(scene_file), "--out", str(out), "--resume"]) == 0
    assert main(["run", str(scene_file), "--out", str(whole)]) == 0
    assert same_motion(out, whole)
    assert {path.name for path in out.iterdir()} == {path.name for path in whole.iterdir()}


def test_a_full_disk_is_named_and_leaves_the_checkpoint(
    scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise FileError("run.h5: cannot write: No space left on device")

    monkeypatch.setattr(loop, "_CHECKPOINT_EVERY", 0.0)
    monkeypatch.setattr(loop, "_CHECKPOINT_SHARE", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(loop.GrowingTree, "add", full)
        assert main(["run", str(scene_file), "--out", str(tmp_path / "out")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "No space left on device" in line
    assert "checkpoint.h5, continue with --resume" in line
    assert main(["run", str(scene_file), "--out", str(tmp_path / "out"), "--resume"]) == 0


def test_a_finished_run_is_not_computed_again(
    scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["run", str(scene_file), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    capsys.readouterr()
    monkeypatch.setattr(simulating, "go_on", lambda *_: pytest.fail("computed"))
    assert main([*arguments, "--resume"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "trajectory.h5: is a finished run of 10 steps" in line


def test_record_leaves_out_the_contacts(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(scene_file), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--record", "motion"]) == 0
    assert sg.Trajectory.load(tmp_path / "out" / "trajectory.h5").contact_log.gap.size == 0
    scene_file.write_text(SCENE.replace("h: 0.05", "h: 0.05, record: motion"))
    assert main(arguments) == 0
    assert sg.Trajectory.load(tmp_path / "out" / "trajectory.h5").contact_log.gap.size == 0
    assert main([*arguments, "--record", "all"]) == 0
    assert sg.Trajectory.load(tmp_path / "out" / "trajectory.h5").contact_log.gap.size == 10
    capsys.readouterr()
    assert main([*arguments, "--record", "nothing"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "record is 'nothing', must be 'all' or 'motion'" in line


def test_part_of_a_run_is_recorded(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(scene_file), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--every", "3", "--bodies", "ball", "--record", "motion"]) == 0
    trajectory = sg.Trajectory.load(tmp_path / "out" / "trajectory.h5")
    assert trajectory.time.size == trajectory.step_count // 3 + 1
    assert trajectory.contact_log.gap.size == 0
    capsys.readouterr()
    assert main([*arguments, "--bodies", "bell"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no body is called 'bell'" in line


STARTED = """
import signal, sys
sys.meta_path.insert(0, type("Late", (), {"find_spec": staticmethod(
    lambda name, *_: signal.raise_signal(signal.SIGINT) if name == "signorini.formulations" else None)}))
from signorini_command import main
sys.exit(main())
"""


def test_an_interrupt_while_the_package_loads_is_one_line() -> None:
    """Nothing is computed yet, and nobody wants to see which module was being read."""
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)" + STARTED  # as at a terminal
    done = subprocess.run([sys.executable, "-c", listening], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "signorini: interrupted\n")


def test_an_interrupt_that_the_caller_ignores_stays_ignored() -> None:
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + STARTED
    arguments = [sys.executable, "-c", ignoring, "--version"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
