"""Layers in scenes: words, files, bad input (S3 spec, section 12), and who refuses them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.analysis import check_state
from signorini.scene import compile_scene


def scene(**words: Any) -> sg.Scene:
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(sg.Ellipsoid((0.3, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.5), name="egg")
    if words:
        made.set_layer("egg", **words)
    return made


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"stiffness": [1.0, 1.0, -1.0]}, r"stiffness has eigenvalues .*, must be positive definite"),
        ({"stiffness": 0.0}, "must be positive definite"),
        ({"stiffness": np.diag([1.0, 2.0, 3.0]) + np.eye(3, k=1)}, "must be symmetric"),
        ({"stiffness": [1.0, 2.0]}, r"stiffness has shape \(2,\), must be \(3\)"),
        ({"stiffness": 1.0, "damping": -1.0}, "damping has eigenvalues .*, must be positive semidefinite"),
        ({"stiffness": 1.0, "max_deflection": -0.1}, "max_deflection is -0.1, must be >= 0"),
        ({"stiffness": 1.0, "max_deflection": float("nan")}, "max_deflection is nan, must be finite"),
        ({"damping": 1.0}, "must have either stiffness or law"),
        ({"stiffness": 1.0, "law": sg.HuntCrossley(1.0)}, "must have either stiffness or law"),
        ({"law": 3.0}, "law is 3.0, must be a HuntCrossley"),
    ],
)
def test_bad_input_is_named_in_one_line(words: dict[str, Any], message: str) -> None:
    with pytest.raises(sg.InputError, match=f"layer of 'egg': .*{message}|layer of 'egg': {message}") as caught:
        scene(**words)
    assert "\n" not in str(caught.value)


def test_a_layer_must_be_thinner_than_its_body() -> None:
    with pytest.raises(sg.InputError, match=r"layer of 'egg': max_deflection is 0\.1, must be < 0\.1 m, the inradius"):
        compile_scene(scene(stiffness=1.0, max_deflection=0.1))
    assert compile_scene(scene(stiffness=1.0, max_deflection=0.0999)).layers[1] is not None


def test_without_thickness_a_body_is_rigid() -> None:
    assert compile_scene(scene(stiffness=0.0, max_deflection=0.0)).layers == ()


@pytest.mark.parametrize(
    "words",
    [
        {"stiffness": 3600.0},
        {"stiffness": [3.6e4, 8e3, 7e3], "damping": [1.0 / 3.0, 0.1, 0.1], "max_deflection": 0.005},
        {"stiffness": [[5.0, 1.0, 0.0], [1.0, 4.0, 0.1], [0.0, 0.1, 3.0]], "damping": 0.7},
        {"law": sg.HuntCrossley(1e6, 1.5, 0.3), "max_deflection": 0.01},
    ],
)
def test_layers_are_saved_and_loaded_bit_for_bit(words: dict[str, Any], tmp_path: Path) -> None:
    made = scene(**words)
    made.set_layer("floor", stiffness=1e5)
    made.save(tmp_path / "scene.yaml")
    before, after = (compile_scene(one).layers for one in (made, sg.Scene.load(tmp_path / "scene.yaml")))
    for one, other in zip(before, after, strict=True):
        assert one is not None
        assert other is not None
        assert type(one) is type(other)
        for field in fields(one):  # type: ignore[arg-type]
            np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


def test_words_in_files_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "scene.yaml"
    text = "fixed: [{name: floor, shape: {half_space: {}}, layer: %s}]"
    for layer, message in (
        ("{stiffnes: 1.0}", "layer: unknown key 'stiffnes'.*'stiffness'"),
        ("{stiffness: [1, 2, -3]}", "'floor': stiffness has eigenvalues"),
        ("{law: {hunt_crossly: {}}}", "law: unknown key 'hunt_crossly'"),
        ("{law: {hunt_crossley: {}}}", "hunt_crossley: stiffness is missing"),
        ("soft", "layer is 'soft', must be a mapping"),
    ):
        path.write_text(text % layer)
        with pytest.raises(sg.FileError, match=message):
            sg.Scene.load(path)


def test_who_knows_rigid_surfaces_alone_says_so() -> None:
    made = scene(stiffness=1e4)
    for formulation in (sg.MoreauJean(), sg.StewartTrinkle()):
        with pytest.raises(sg.InputError, match=r"'egg': has a compliant layer, .* QuasiRigid"):
            sg.Simulator(made, h=0.01, formulation=formulation)
    with pytest.raises(sg.InputError, match=r"'egg': has a compliant layer, .* instantaneous model; QuasiRigid"):
        sg.accelerations(made)
    with pytest.raises(sg.InputError, match=r"'egg': has a compliant layer, .* QuasiRigid"):
        check_state(compile_scene(made))


def test_an_ellipse_is_a_plate() -> None:
    """Area pi a b, moment m (a^2 + b^2)/4; polygons would meet it nowhere."""
    made = sg.Scene(planar=True)
    body = made.add_body(sg.Ellipse((1.0, 0.8)), density=2.0, position=(0, 0))
    assert body.mass == pytest.approx(2.0 * np.pi * 0.8, rel=1e-15)
    assert body.inertia[2, 2] == pytest.approx(body.mass * 1.64 / 4.0, rel=1e-14)
    compile_scene(made)
    made.add_body(sg.Polygon([(0, 0), (1, 0), (0, 1)]), position=(3, 0))
    with pytest.raises(sg.InputError, match="has an ellipse and a polygon"):
        compile_scene(made)
    for axes in ((1.0, 0.0), (1.0, 2.0, 3.0)):
        with pytest.raises(sg.InputError, match="ellipse: semi_axes"):
            sg.Ellipse(axes)
