"""``signorini check``: what it says of contacts, joints and wedging."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import signorini as sg
from signorini.cli import main


def saved(scene: sg.Scene, folder: Path) -> str:
    path = folder / "scene.yaml"
    scene.save(path)
    return str(path)


def disc(*rails: tuple[float, float]) -> sg.Scene:
    """Slide a disc over the floor, perhaps on rails."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(1.0), mass=1.0, position=(0, 1), velocity=(1, 0), name="disc")
    for k, axis in enumerate(rails):
        scene.add_joint("prismatic", None, "disc", anchor=(0, 1), axis=axis, name=f"rail{k}")
    scene.set_contact(friction=0.3)
    return scene


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_sliding_disc_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(disc(), tmp_path)
    assert main(["check", path, "--json"]) == 0
    found = document(capsys)
    assert (found["outcome"], found["unique"], found["stable"]) == ("valid", "yes", "yes")
    assert found["joints"] is None
    assert set(found["wedging"].values()) == {True}
    assert main(["check", path]) == 0
    text = capsys.readouterr().out
    assert "contact 0: floor / disc" in text
    assert "joints" not in text


def test_rails_wedge_and_are_redundant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two rails along the floor: four rows of rank two, and the disc cannot be lifted off."""
    path = saved(disc((1.0, 0.0), (1.0, 0.0)), tmp_path)
    assert main(["check", path, "--json"]) == 0
    found = document(capsys)
    assert found["joints"] == {"rows": 4, "rank": 2, "redundant": ["rail0", "rail1"]}
    assert set(found["wedging"].values()) == {False}
    assert main(["check", path]) == 0
    text = capsys.readouterr().out
    assert "joints: 4 rows, rank 2: forces of rail0, rail1 can balance" in text
    assert "bodies can be taken apart: not regular" in text


def test_a_later_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mu g = 2.943 m/s^2 acts on 1 m/s of slip: after 0.2 s the disc rolls, t_roll = v/(3 mu g) = 0.113 s."""
    path = saved(disc(), tmp_path)
    assert main(["check", path, "--at", "0.2", "--json"]) == 0
    found = document(capsys)
    assert found["time"] == pytest.approx(0.2)
    assert found["outcome"] == "no objection"
    assert "sticks" in found["notes"][0]
    assert main(["check", path, "--at", "-1"]) == 2
    assert "--at is -1" in capsys.readouterr().err
