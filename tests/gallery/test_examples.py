"""Every script of the gallery runs, shows what it says, and its runs are certified."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import signorini as sg

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
CERTIFIED = 1e-6  # the default tolerance


def test_the_gallery_is_found() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run the script, whose last lines assert what it shows; every step of every run meets the default tolerance."""
    made: list[sg.Trajectory] = []

    def collecting(*arguments: Any, **options: Any) -> sg.Trajectory:
        made.append(simulate(*arguments, **options))
        return made[-1]

    simulate = sg.simulate
    monkeypatch.setattr(sg, "simulate", collecting)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert made
    for trajectory in made:
        assert trajectory.certificate.residual.max() <= CERTIFIED
        assert not trajectory.certificate.failed().any()
        assert trajectory.settings["warnings"] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short_and_ends_with_its_fact(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").rstrip().splitlines()
    assert len(lines) < 60
    assert lines[-1].startswith("assert ")
