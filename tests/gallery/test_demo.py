"""The demonstration: about twenty mixed bodies go down a rough slope and come to rest, every step certified."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from signorini.cli import main


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo") / "out"
    assert main(["demo", "--out", str(out)]) == 0
    return out


def test_every_step_is_certified(demo: Path) -> None:
    certificate = json.loads((demo / "certificate.json").read_text())
    assert certificate["worst_residual"] <= 1e-6  # the default tolerance
    assert certificate["failed_steps"] == 0
    assert certificate["steps"] == len(certificate["by_step"]["residual"]) > 300


def test_bodies_go_down_and_come_to_rest(demo: Path) -> None:
    trajectory = sg.Trajectory.load(demo / "trajectory.h5")
    moving = slice(trajectory.fixed_count, None)
    speed = np.linalg.norm(trajectory.v[:, moving, :3], axis=2)
    assert 18 <= speed.shape[1] <= 25
    assert speed.max() > 2.0
    rolls = np.array([name.startswith("ball") for name in trajectory.names[moving]])  # and nothing stops them
    assert speed[-1, ~rolls].max() < 1e-3
    assert speed[-1].max() < 0.2
    drop = trajectory.q[0, moving, 2] - trajectory.q[-1, moving, 2]
    assert drop.min() > 0.0, "every body ends lower than it began"


def test_files_are_written(demo: Path) -> None:
    written = {path.name for path in demo.iterdir()}
    assert {"trajectory.h5", "run.png", "picture.png", "certificate.txt", "certificate.json"} <= written
    assert any(name.startswith("body_") for name in written)
    assert "Trusted" in (demo / "certificate.txt").read_text()
