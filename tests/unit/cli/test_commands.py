"""What the commands print and write."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import signorini as sg
from signorini.cli import main, simulating
from signorini.reproduce import Check, Example, Reproduction, registry

SCENE = """
gravity: [0, 0, -9.81]
contact: {friction: 0.2}
fixed:  [{name: floor, shape: {half_space: {}}}]
bodies: [{name: ball, shape: {sphere: {radius: 1.0}}, mass: 1.0, position: [0, 0, 1], velocity: [2, 0, 0]}]
simulate: {duration: 0.6, h: 0.12, formulation: {stewart_trinkle: {directions: 4}}}
"""


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    path = tmp_path / "ball.yaml"
    path.write_text(SCENE)
    return path


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the one JSON document on standard output; anything else there breaks it."""
    return json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


# --- run ---------------------------------------------------------------------


def test_run_json_and_files(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["run", str(scene_file), "--out", str(out), "--json"]) == 0
    result = document(capsys)
    assert set(result) == {"steps", "seconds", "verdict", "remarks", "certificate", "files"}
    assert result["steps"] == 5
    assert result["seconds"] > 0.0
    assert set(result["certificate"]) == {"worst_residual", "min_gap", "energy_error", "failed_steps"}
    assert result["certificate"]["worst_residual"] <= 1e-10
    assert result["certificate"]["failed_steps"] == 0
    names = {"trajectory.h5", "run.png", "body_ball.png", "picture.png", "certificate.txt", "certificate.json"}
    page = {"motion.html"} if find_spec("viser") else set()  # of the extra 'view'
    assert {Path(file).name for file in result["files"]} == names | page
    assert all(Path(file).stat().st_size > 0 for file in result["files"])
    trajectory = sg.Trajectory.load(out / "trajectory.h5")
    assert trajectory.linear_velocity("ball")[-1, 0] == pytest.approx(10.0 / 7.0, abs=1e-12)  # S1, table 7.1
    assert len(json.loads((out / "certificate.json").read_text())["by_step"]["residual"]) == 5
    assert "Trusted" in (out / "certificate.txt").read_text()


def test_options_win_over_the_file(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    options = ["--h", "0.1", "--duration", "0.3", "--formulation", "moreau-jean", "--tolerance", "1e-9"]
    assert main(["run", str(scene_file), "--out", str(out), *options]) == 0
    settings = sg.Trajectory.load(out / "trajectory.h5").settings
    assert (settings["h"], settings["duration"], settings["tolerance"]) == (0.1, 0.3, 1e-9)
    assert list(settings["formulation"]) == ["moreau_jean"]
    printed = capsys.readouterr().out
    assert "certificate of 3 steps" in printed
    assert "picture.png" in printed


def test_default_directory(scene_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(scene_file)]) == 0
    assert (tmp_path / "signorini-out" / "ball" / "trajectory.h5").exists()


def test_planar_scene_and_names_unfit_for_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A gap that is nowhere becomes null in JSON, and a body's name cannot leave the directory."""
    body = {"name": "../disc", "shape": {"disc": {"radius": 1.0}}, "position": [0, 9]}
    data = {"planar": True, "bodies": [body], "simulate": {"duration": 0.02, "h": 0.01}}
    (tmp_path / "disc.yaml").write_text(yaml.safe_dump(data))
    assert main(["run", str(tmp_path / "disc.yaml"), "--out", str(tmp_path / "out"), "--json"]) == 0
    result = document(capsys)
    assert result["certificate"]["min_gap"] is None
    assert all(Path(file).parent == tmp_path / "out" for file in result["files"])


# --- stopped runs ------------------------------------------------------------


def test_interrupted_run_is_kept_and_resumed(
    scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after two steps and resumed, the run is the same, bit for bit, as one that was never stopped."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main(["run", str(scene_file), "--out", str(whole)]) == 0

    def stop(t: float, _: sg.State) -> None:
        if t > 0.2:
            raise KeyboardInterrupt

    simulate = sg.simulate
    with monkeypatch.context() as patch:
        patch.setattr(simulating, "simulate", lambda *a, **k: simulate(*a, **k, callback=stop))
        capsys.readouterr()
        assert main(["run", str(scene_file), "--out", str(parts)]) == 130
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "--resume" in captured.err
    assert sg.Trajectory.load(parts / "trajectory.h5").step_count == 2
    assert (parts / "certificate.txt").exists()

    assert main(["run", str(scene_file), "--out", str(parts), "--resume"]) == 0
    one, other = (sg.Trajectory.load(path / "trajectory.h5") for path in (whole, parts))
    assert np.array_equal(one.q, other.q)
    assert np.array_equal(one.v, other.v)


def test_resume_of_another_scene(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["run", str(scene_file), "--out", str(out)]) == 0
    scene_file.write_text(SCENE.replace("mass: 1.0", "mass: 2.0"))
    capsys.readouterr()
    assert main(["run", str(scene_file), "--out", str(out), "--resume"]) == 2
    assert "another scene" in capsys.readouterr().err


def test_failed_run_is_kept(scene_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ball squeezed between floor and ceiling has no solution: exit code 1, problem and steps so far are on disk."""
    out = tmp_path / "out"
    ceiling = "{name: ceiling, shape: {half_space: {normal: [0, 0, -1], offset: -1.9}}}]"
    scene_file.write_text(SCENE.replace("{}}}]", "{}}}, " + ceiling))
    code = main(["run", str(scene_file), "--out", str(out), "--json"])
    captured = capsys.readouterr()
    assert code == 1
    warned, complaint = captured.err.splitlines()
    assert warned.startswith("warning: bodies 'ceiling' and 'ball' overlap by 0.1 m")
    assert complaint.startswith("signorini: step 0 at t = 0 s")
    result = json.loads(captured.out)
    assert {Path(file).name for file in result["files"]} >= {"trajectory.h5", "failed_problem.npz"}
    assert sg.load_problem(out / "failed_problem.npz").size == 6


# --- reproduce ---------------------------------------------------------------


def test_reproduce_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "sphere", "drop", "--json", "--out", str(tmp_path)]) == 0
    results = document(capsys)
    assert [(result["name"], result["seed"], result["passed"]) for result in results] == [
        ("sphere", "S1", True),
        ("drop", "S1", True),
    ]
    for result in results:
        assert set(result) == {"name", "seed", "passed", "seconds", "checks", "data", "figures"}
        for check in result["checks"]:
            assert set(check) == {"what", "expected", "obtained", "tolerance", "passed"}
    assert [Path(file).name for file in results[0]["figures"]] == ["figure_8.png", "figure_9.png"]
    assert all(Path(file).stat().st_size > 10_000 for file in results[0]["figures"])


def test_reproduce_says_when_a_check_misses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = [Check("one", 1.0, 1.0, 0.0), Check("pi", 3.14, 3.15, 0.005)]
    wrong = Example("wrong", "S1", "a miss", lambda: Reproduction(checks))
    monkeypatch.setattr(registry, "EXAMPLES", (wrong,))
    assert main(["reproduce", "wrong", "--out", str(tmp_path)]) == 1
    assert "MISSED" in capsys.readouterr().out
    assert main(["reproduce", "all", "--json", "--out", str(tmp_path)]) == 1
    assert [check["passed"] for check in document(capsys)[0]["checks"]] == [True, False]


def test_reproduce_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()][:3] == ["sphere", "polygon", "drop"]


# --- solve -------------------------------------------------------------------


@pytest.fixture
def lcp_file(tmp_path: Path) -> Path:
    """Return the file of an LCP with the solution (4/3, 7/3)."""
    path = tmp_path / "lcp.npz"
    np.savez(path, M=np.array([[2.0, 1.0], [1.0, 2.0]]), q=np.array([-5.0, -6.0]))
    return path


def test_solve_lcp(lcp_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(lcp_file), "--json"]) == 0
    result = document(capsys)
    assert set(result) == {"problem", "contacts", "solver", "status", "residual", "rel", "seconds", "iterations"}
    assert result["status"] == "solved"
    assert result["residual"] <= 1e-10
    assert result["contacts"] is None


def test_solve_compares_all(lcp_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(lcp_file), "--all", "--json"]) == 0
    rows = document(capsys)
    assert "Lemke" in {row["solver"] for row in rows}
    assert len(rows) == len({row["solver"] for row in rows}) > 1
    assert main(["solve", str(lcp_file), "--all", "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "Lemke" in shown
    assert str(tmp_path / "out" / "residuals.png") in shown
    assert (tmp_path / "out" / "residuals.png").read_bytes().startswith(b"\x89PNG")


def test_solve_compares_what_applies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An exact cone is no LCP: the solvers of LCPs are named as not applicable, and JSON stays one document."""
    sg.FrictionProblem(np.eye(3), np.array([-1.0, 2.0, 0.0]), np.array([0.5])).save(tmp_path / "block.npz")
    assert main(["solve", str(tmp_path / "block.npz"), "--all", "--json", "--out", str(tmp_path / "out")]) == 0
    rows = document(capsys)
    assert {"FrictionAuto", "NSGS", "ProjectedGradient"} <= {row["solver"] for row in rows}
    assert {row["status"] for row in rows} == {"solved"}
    assert (tmp_path / "out" / "residuals.png").exists()
    assert main(["solve", str(tmp_path / "block.npz"), "--all", "--out", str(tmp_path / "out")]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "not applicable" in line]
    assert "Lemke" in line
    assert "ExtendedFriction" in line
    assert "NSGS" not in line


def test_solve_friction_problem_reports_rel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sg.FrictionProblem(np.eye(3), np.array([-1.0, 2.0, 0.0]), np.array([0.5])).save(tmp_path / "block.npz")
    assert main(["solve", str(tmp_path / "block.npz"), "--json"]) == 0
    result = document(capsys)
    assert result["contacts"] == 1
    assert result["rel"] <= 1e-8


def test_solve_without_solution(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """0 <= z _|_ -1 >= 0 has none: exit code 1 and a status that says so."""
    np.savez(tmp_path / "none.npz", M=np.array([[0.0]]), q=np.array([-1.0]))
    assert main(["solve", str(tmp_path / "none.npz"), "--json"]) == 1
    assert document(capsys)["status"] != "solved"


# --- the program itself ------------------------------------------------------


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["run", "--help"], []):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert "usage: signorini" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("signorini ")


def test_installed_program(scene_file: Path, tmp_path: Path) -> None:
    """The program itself, in a process of its own: standard output is JSON and nothing else."""
    code = "import sys; from signorini.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "run", str(scene_file), "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 5
