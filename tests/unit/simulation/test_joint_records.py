"""Joints in trajectories: reading, files, plots, report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from tests.joint_scenes import pendulum, slider, wheel


def run(scene: sg.Scene) -> sg.Trajectory:
    return sg.simulate(scene, duration=0.04, h=0.01, progress=False)


def test_a_joint_is_read_by_its_name() -> None:
    trajectory = run(wheel(2.0, friction=0.4))
    joint = trajectory.joint("hinge")
    np.testing.assert_allclose(joint.speed, 2.0 - trajectory.time, atol=1e-12)
    np.testing.assert_allclose(np.diff(joint.coordinate), 0.01 * joint.speed[1:], atol=1e-12)
    np.testing.assert_allclose(joint.effort, -0.4 * 0.01, atol=1e-12)
    assert joint.reaction.shape == (4, 6)
    with pytest.raises(sg.InputError, match=r"no joint is called 'axle'; there are 'hinge'"):
        trajectory.joint("axle")


def test_joints_come_back_from_a_file(tmp_path: Path) -> None:
    trajectory = run(pendulum(friction=1.0))
    trajectory.save(tmp_path / "run.h5")
    again = sg.Trajectory.load(tmp_path / "run.h5")
    for key in ("coordinate", "speed", "effort", "reaction"):
        np.testing.assert_array_equal(getattr(again.joint("hinge"), key), getattr(trajectory.joint("hinge"), key))
    np.testing.assert_array_equal(again.certificate.joint_drift, trajectory.certificate.joint_drift)
    np.testing.assert_array_equal(again.certificate.redundant_rows, trajectory.certificate.redundant_rows)


def test_a_run_without_joints_has_none() -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), position=(0, 0, 1), name="ball")
    trajectory = run(scene)
    with pytest.raises(sg.InputError, match=r"no joint is called 'hinge'; there are none"):
        trajectory.joint("hinge")
    assert "redundant" not in trajectory.report()


def test_the_plot_of_a_joint_shows_coordinate_speed_and_force() -> None:
    trajectory = run(slider(1.0, friction=4.0))
    figure = trajectory.plot("guide")
    coordinate, speed, effort, _ = figure.axes
    np.testing.assert_array_equal(coordinate.lines[0].get_ydata(), trajectory.joint("guide").coordinate)
    np.testing.assert_array_equal(speed.lines[0].get_ydata(), trajectory.joint("guide").speed)
    np.testing.assert_allclose(effort.patches[0].get_data().values, -4.0, rtol=1e-9)
    assert len(trajectory.plot("block").axes) == 4  # a body still is drawn as a body


def test_a_name_that_is_neither_body_nor_joint_is_refused() -> None:
    with pytest.raises(sg.InputError, match=r"no body is called 'wheels'.*'wheel'.*joints.*'hinge'"):
        run(wheel()).plot("wheels")


def test_the_report_tells_of_redundant_joints() -> None:
    scene = wheel()
    assert "redundant" not in run(scene).report()
    scene.add_joint("revolute", None, "wheel", anchor=(0, 1, 0), axis=(0, 1, 0))
    trajectory = run(scene)
    assert trajectory.certificate.redundant_rows.tolist() == [5, 5, 5, 5]
    assert "note: redundant joints: 5 joint equations follow from others (in 4 steps)" in trajectory.report()
    assert "Trusted" in trajectory.report()
