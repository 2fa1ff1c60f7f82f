"""Pictures of scenes and runs show what is there."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.errors import FileError, InputError
from signorini.io import read_tree, write_tree
from signorini.scene import compile_scene
from signorini.scene.solids import solids
from signorini.simulation.seen import seen_poses, seen_solids
from signorini.visual.solids import solids_from_dict, solids_to_dict
from tests.laws.test_flexible import SOFT, thrown

H = 0.01


def scene(*, force: bool = False) -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.3), mass=1.0, position=(-1, 0, 0.5), velocity=(4, 0, 0), name="ball")
    scene.add_body(
        [sg.Box((0.1, 0.2, 0.3)), sg.Cone(0.1, 0.2).at((0, 0, 0.3))], mass=1.0, position=(0, 2, 1), name="tip"
    )
    if force:
        scene.add_force("tip", force=lambda t, _: (0.0, 0.0, 0.0))
    return scene


def picture(figure: object) -> Array:
    """Return the still of a figure."""
    (axes,) = [panel for panel in figure.axes if panel.images]  # type: ignore[attr-defined]
    return np.asarray(axes.images[0].get_array())


def across(image: Array, colour: tuple[float, float, float]) -> float:
    """Return where, from 0 to 1, the pixels of a colour lie from left to right."""
    shade = image / np.maximum(image.max(axis=2, keepdims=True), 1e-9)
    near = np.abs(shade - np.array(colour) / max(colour)).max(axis=2) < 0.08
    assert near.sum() > 20
    return float(np.argwhere(near)[:, 1].mean() / image.shape[1])


ORANGE = (0.851, 0.545, 0.227)  # the first body


def test_a_scene_is_drawn_before_anything_is_simulated() -> None:
    """From -y the ball at x = -1 is left of the tip at x = 0."""
    image = picture(scene().picture(view=(0, -1, 0.2), width=160))
    assert image.shape == (100, 160, 3)
    assert across(image, ORANGE) < 0.4


def test_a_run_is_drawn_at_the_time_asked_for() -> None:
    run = sg.simulate(scene(), duration=0.5, h=H)
    left = across(picture(run.picture(0.0, view=(0, -1, 0.2), width=160)), ORANGE)
    right = across(picture(run.picture(0.5, view=(0, -1, 0.2), width=160)), ORANGE)
    assert left < 0.4
    assert right > 0.6
    assert run.picture(0.254).axes[0].texts[0].get_text() == "t = 0.25 s"
    assert len([panel for panel in run.picture(width=40).axes if panel.images]) == 4
    with pytest.raises(InputError, match=r"t is 0.6 s, must be from 0 to 0.5 s"):
        run.picture(0.6)


def test_solids_come_back_from_arrays() -> None:
    found = solids(compile_scene(scene()))
    for one, other in zip(found, solids_from_dict(solids_to_dict(found)), strict=True):
        np.testing.assert_equal(tuple(other), tuple(one))


def test_what_bodies_look_like_is_in_the_file_whatever_the_scene_holds(tmp_path: Path) -> None:
    """A scene with functions cannot be written down; its pictures can be drawn nevertheless."""
    run = sg.simulate(scene(force=True), duration=H, h=H)
    assert run.settings["scene"] is None
    run.save(tmp_path / "run.h5")
    again = sg.Trajectory.load(tmp_path / "run.h5")
    assert len(seen_solids(again)) == 4
    assert picture(again.picture(0.0, width=40)).shape == (25, 40, 3)


def test_files_of_earlier_versions_are_drawn_from_their_scenes(tmp_path: Path) -> None:
    run = sg.simulate(scene(), duration=H, h=H)
    tree = run.tree()
    del tree["looks"]
    write_tree(tmp_path / "run.h5", tree)
    for one, other in zip(seen_solids(sg.Trajectory.load(tmp_path / "run.h5")), seen_solids(run), strict=True):
        np.testing.assert_equal(tuple(other), tuple(one))
    tree["settings"] = {**tree["settings"], "scene": None}
    write_tree(tmp_path / "run.h5", tree)
    with pytest.raises(InputError, match="does not tell what its bodies look like"):
        sg.Trajectory.load(tmp_path / "run.h5").picture(0.0)


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        ("solids", "body", np.array([0, 1, 2, 3])),
        ("solids", "form", np.array([0, 0, 0, 4])),
        ("solids", "vertex_count", np.array([0, 1, 8, 9])),
        ("solids", "size", np.zeros((4, 3))),
        ("joints", "anchor", np.zeros((1, 3))),
    ],
)
def test_damaged_looks_are_refused(group: str, name: str, value: Array, tmp_path: Path) -> None:
    run = sg.simulate(scene(), duration=H, h=H)
    run.save(tmp_path / "run.h5")
    tree = read_tree(tmp_path / "run.h5")
    tree["looks"][group][name] = value
    write_tree(tmp_path / "run.h5", tree)
    with pytest.raises(FileError, match="looks: "):
        sg.Trajectory.load(tmp_path / "run.h5")


def test_bodies_that_were_not_recorded_are_not_drawn() -> None:
    run = sg.simulate(scene(), duration=H, h=H, record={"bodies": ["tip"]})
    assert [solid.body for solid in seen_solids(run)] == [0, 1, 1]
    assert seen_poses(run, np.array([0])).shape == (1, 2, 7)


@pytest.mark.compiled_only
def test_a_flexible_body_is_drawn_along_its_line() -> None:
    """A chain of capsules: each begins at a point of the deformed line and ends at the next."""
    run = sg.simulate(thrown("end"), duration=0.04, h=0.004, formulation=sg.Recursive())
    bodies = len(run.names)
    chain = [solid for solid in seen_solids(run) if solid.body >= bodies]
    (poses,) = seen_poses(run, np.array([10]))
    ends = np.array([solid.placed(poses[solid.body]).vertices for solid in chain])
    line = run.deformed("rod", 10, len(chain) + 1)
    assert np.linalg.norm(line[5] - 0.5 * (line[0] + line[-1])) > 1e-4, "the line should be bent"
    assert ends[:, 0] == pytest.approx(line[:-1], abs=1e-12)
    assert ends[:, 1] == pytest.approx(line[1:], abs=1e-3 * SOFT["length"])  # pieces are as long as they were first
    assert {solid.tinted for solid in chain} == {run.names.index("rod")}


def test_a_notebook_shows_a_card() -> None:
    run = sg.simulate(scene(), duration=0.05, h=H)
    card = run._repr_html_()
    png = base64.b64decode(card.split("base64,")[1].split('"')[0])
    assert png.startswith(b"\x89PNG")
    assert "<b>Trusted</b>" in card
    assert "2 bodies, 5 steps" in card
    assert "http" not in card
