"""Bad input on the command line: exit code 2, one line on standard error that names the thing, nothing on output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from signorini.cli import main
from signorini.io import write_tree

Scene = dict[str, Any]


def scene() -> Scene:
    return {
        "gravity": [0, 0, -9.81],
        "contact": {"friction": 0.2},
        "fixed": [{"name": "floor", "shape": {"half_space": {}}}],
        "bodies": [{"name": "ball", "shape": {"sphere": {"radius": 1.0}}, "mass": 1.0, "position": [0, 0, 1]}],
        "simulate": {"duration": 0.1, "h": 0.05},
    }


def body(**words: Any) -> Scene:
    data = scene()
    data["bodies"][0].update(words)
    return data


def top(**words: Any) -> Scene:
    return scene() | words


BAD: dict[str, tuple[Scene, tuple[str, ...]]] = {
    "negative mass": (body(mass=-1.0), ("ball", "mass", "-1.0")),
    "zero mass": (body(mass=0.0), ("ball", "mass", "0.0")),
    "inertia not positive definite": (body(inertia=[1.0, 1.0, -1.0]), ("ball", "inertia", "-1.0")),
    "not a number": (body(position=[0, 0, float("nan")]), ("ball", "position", "nan")),
    "negative friction": (top(contact={"friction": -0.1}), ("friction", "-0.1")),
    "zero quaternion": (body(orientation=[0, 0, 0, 0]), ("ball", "orientation", "quaternion")),
    "unknown shape": (body(shape={"spher": {"radius": 1.0}}), ("spher", "sphere")),
    "unknown key": (body(masss=1.0), ("masss", "mass")),
    "unknown key at the top": (top(bodys=[]), ("bodys", "bodies")),
    "duplicate name": (top(bodies=[scene()["bodies"][0]] * 2), ("ball",)),
    "no body": (top(bodies=[]), ("body",)),
    "zero h": (top(simulate={"duration": 0.1, "h": 0.0}), ("h", "0.0")),
    "negative h": (top(simulate={"duration": 0.1, "h": -0.01}), ("h", "-0.01")),
    "h missing": (top(simulate={"duration": 0.1}), ("h", "--h")),
    "unknown formulation": (
        top(simulate={"duration": 0.1, "h": 0.05, "formulation": "stewart_trinkel"}),
        ("stewart_trinkel", "stewart_trinkle"),
    ),
}


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    assert "Traceback" not in captured.err
    return captured.err


@pytest.mark.parametrize("case", BAD)
def test_bad_scene(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, words = BAD[case]
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(data).replace("&id001", "").replace("*id001", str(scene()["bodies"][0])))
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    message = one_line(capsys)
    for word in words:
        assert word in message


@pytest.mark.parametrize("value", ["0", "-0.01", "nan"])
def test_bad_h_on_the_command_line(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text(yaml.safe_dump(scene()))
    assert main(["run", str(path), f"--h={value}", "--out", str(tmp_path / "out")]) == 2
    assert "h is" in one_line(capsys)


def test_missing_scene_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "nowhere.yaml")]) == 2
    assert "nowhere.yaml" in one_line(capsys)


def test_text_that_is_no_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scene.yaml").write_text("bodies: [unclosed")
    assert main(["run", str(tmp_path / "scene.yaml")]) == 2
    assert "scene.yaml" in one_line(capsys)


def test_truncated_result_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run whose trajectory was cut short on disk cannot be resumed, and says which file it is."""
    path, out = tmp_path / "scene.yaml", tmp_path / "out"
    path.write_text(yaml.safe_dump(scene()))
    assert main(["run", str(path), "--out", str(out)]) == 0
    capsys.readouterr()
    whole = (out / "trajectory.h5").read_bytes()
    (out / "trajectory.h5").write_bytes(whole[: len(whole) // 2])
    assert main(["run", str(path), "--out", str(out), "--resume"]) == 2
    assert "trajectory.h5" in one_line(capsys)


@pytest.mark.parametrize("command", ["demo", "run", "reproduce"])
def test_unwritable_directory(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found out before anything is computed."""
    import signorini.cli.simulating
    from signorini.reproduce import s1_sliding_sphere

    def compute(*_: object, **__: object) -> None:
        raise AssertionError("computed before the directory was checked")

    monkeypatch.setattr(signorini.cli.simulating, "simulate", compute)
    monkeypatch.setattr(s1_sliding_sphere, "simulate", compute)
    (tmp_path / "file").write_text("")
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene()))
    middle = {"demo": [], "run": [str(tmp_path / "scene.yaml")], "reproduce": ["drop"]}[command]
    assert main([command, *middle, "--out", str(tmp_path / "file" / "out")]) == 2
    assert "file" in one_line(capsys)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a directory in which nobody can make files")
def test_existing_directory_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import signorini.cli.simulating

    monkeypatch.setattr(signorini.cli.simulating, "simulate", lambda *_, **__: pytest.fail("computed"))
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene()))
    assert main(["run", str(tmp_path / "scene.yaml"), "--out", "/proc"]) == 2
    assert "/proc" in one_line(capsys)


@pytest.mark.parametrize(
    ("typed", "suggested"), [("rnu", "run"), ("demos", "demo"), ("xyzzy", "must be one of"), ("reproduc", "reproduce")]
)
def test_unknown_command(typed: str, suggested: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([typed]) == 2
    assert suggested in one_line(capsys)


def test_unknown_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--fast"]) == 2
    assert "--fast" in one_line(capsys)


def test_unknown_example_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "spere"]) == 2
    message = one_line(capsys)
    for word in ("spere", "sphere", "polygon", "drop"):
        assert word in message


def test_unknown_problem_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "problem.npz").write_bytes(b"nothing")
    assert main(["solve", str(tmp_path / "problem.npz")]) == 2
    assert "problem.npz" in one_line(capsys)


def test_resume_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene()))
    assert main(["run", str(tmp_path / "scene.yaml"), "--out", str(tmp_path / "out"), "--resume"]) == 2
    assert "nothing to resume" in one_line(capsys)


def test_resume_takes_no_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scene.yaml").write_text(yaml.safe_dump(scene()))
    assert main(["run", str(tmp_path / "scene.yaml"), "--out", str(tmp_path / "out"), "--resume", "--h", "0.1"]) == 2
    assert "--h" in one_line(capsys)


@pytest.mark.parametrize("content", [None, b"no HDF5", "a file of something else"])
def test_no_result_to_audit(content: bytes | str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.h5"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        write_tree(path, {"format": content})
    assert main(["audit", str(path)]) == 2
    assert "run.h5" in one_line(capsys)
