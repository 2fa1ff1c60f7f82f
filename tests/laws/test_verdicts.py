"""A verdict that never lies: scenes and problems with a known truth, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.cli import main
from tests.truths import NOT_TRUSTED, REMARKS, TRUSTED, Truth, on_floor
from tests.truths.joined import JOINED
from tests.truths.moving import MOVING
from tests.truths.once_wrong import ONCE_WRONG
from tests.truths.problems import RODS, RUNNING_AWAY, SEVERAL, SOLVABLE, UNSOLVABLE
from tests.truths.standing import STANDING
from tests.truths.wrong import WRONG

TABLES = (STANDING, MOVING, JOINED, WRONG, ONCE_WRONG)
SCENES = {name: truth for table in TABLES for name, truth in table.items()}


def test_no_truth_is_lost() -> None:
    """Names of tables do not hide each other."""
    assert len(SCENES) == sum(len(table) for table in TABLES) >= 60


@pytest.mark.parametrize("truth", SCENES.values(), ids=SCENES)
def test_a_scene_with_a_known_truth(truth: Truth) -> None:
    trajectory, check = truth.run()
    check(trajectory)
    assert trajectory.verdict == truth.verdict, trajectory.report()
    assert (trajectory.remarks() == []) == (truth.verdict == TRUSTED)
    assert truth.because in " ".join(trajectory.remarks())


@pytest.mark.parametrize(("make", "solutions"), SOLVABLE.values(), ids=SOLVABLE)
def test_a_problem_with_a_solution(make: Any, solutions: list[list[float]]) -> None:
    solution = sg.solve(make())
    assert solution.success
    assert any(np.allclose(solution.z, z, rtol=1e-7, atol=1e-9) for z in solutions)


@pytest.mark.parametrize("make", UNSOLVABLE.values(), ids=UNSOLVABLE)
def test_a_problem_without_solution(make: Any) -> None:
    assert not sg.solve(make()).success


@pytest.mark.parametrize("make", RUNNING_AWAY.values(), ids=RUNNING_AWAY)
def test_a_problem_whose_residual_vanishes_at_infinity_only(make: Any) -> None:
    assert not sg.solve(make()).success


@pytest.mark.parametrize("tolerance", [1e300, 1.0, 0.02, 1e-15, 0.0, -1.0, float("nan")])
def test_a_tolerance_that_means_nothing_is_refused(tolerance: float) -> None:
    scene = on_floor()
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.5))
    with pytest.raises(sg.InputError, match="tolerance"):
        sg.simulate(scene, duration=0.1, h=0.01, tolerance=tolerance)


@pytest.mark.parametrize(("make", "is_solution"), SEVERAL.values(), ids=SEVERAL)
def test_a_problem_with_several_solutions(make: Any, is_solution: Any) -> None:
    solution = sg.solve(make())
    assert solution.success
    assert is_solution(solution.z)


@pytest.mark.parametrize(("scene", "status"), RODS.values(), ids=RODS)
def test_a_rod_with_one_no_or_several_forces(scene: Any, status: sg.Status) -> None:
    assert sg.accelerations(scene()).status is status


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("word", ["position", "velocity", "angular_velocity", "mass", "orientation"])
def test_a_beginning_that_is_not_finite_is_refused(word: str, number: float) -> None:
    given: dict[str, Any] = {"position": (0, 0, 1), word: number if word == "mass" else (0, number, 0)}
    if word == "orientation":
        given[word] = (1, number, 0, 0)
    with pytest.raises(sg.InputError, match=f"{word} is .*{number}"):
        on_floor().add_body(sg.Sphere(0.5), **given)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_load_that_is_not_finite_is_refused(number: float) -> None:
    scene = on_floor()
    scene.add_body(sg.Sphere(0.3), mass=1.0, position=(0, 0, 0.3), name="ball")
    scene.add_force("ball", force=lambda t, state: (number if t > 0.1 else 0.0, 0, 0))
    with pytest.raises(sg.InputError, match="force on 'ball'"):
        sg.simulate(scene, duration=0.3, h=0.01)


def sunk(depth: float) -> sg.Scene:
    """Let a ball begin in the floor by some depth."""
    scene = on_floor()
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.5 - depth), name="ball")
    return scene


@pytest.mark.parametrize(("depth", "verdict"), [(0.0, TRUSTED), (0.01, REMARKS), (0.3, NOT_TRUSTED)])
def test_certificate_report_and_file_give_the_same_verdict(depth: float, verdict: str, tmp_path: Path) -> None:
    trajectory = sg.simulate(sunk(depth), duration=0.1, h=0.01, on_failure="keep")
    assert trajectory.certificate.verdict == trajectory.verdict == verdict
    assert trajectory.report().splitlines()[-1].startswith(f"{verdict.capitalize()}:")
    trajectory.save(tmp_path / "run.h5")
    assert sg.Trajectory.load(tmp_path / "run.h5").verdict == verdict


@pytest.mark.parametrize(("depth", "verdict", "code"), [(0.01, REMARKS, 0), (0.3, NOT_TRUSTED, 1)])
def test_json_and_exit_code_give_the_same_verdict(
    depth: float, verdict: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sunk(depth).save(tmp_path / "scene.yaml")
    words = ["run", str(tmp_path / "scene.yaml"), "--h", "0.01", "--duration", "0.1", "--out", str(tmp_path), "--json"]
    assert main(words) == code
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == verdict
    assert told["remarks"]
