"""Joints and springs in scene files: what is written is read again, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.scene import compile_scene, scene_from_dict, scene_from_text, scene_to_dict, scene_to_text
from signorini.scene.joint import Joint

TEXT = """
gravity: [0, 0, -9.81]
bodies:
- {name: arm, shape: {box: {size: [1, 0.1, 0.1]}}, mass: 1.0, position: [0.5, 0, 0]}
- {name: ball, shape: {sphere: {radius: 0.1}}, mass: 2.0, position: [1.5, 0, 0]}
joints:
- {name: hinge, kind: revolute, body_b: arm, anchor: [0, 0, 0], axis: [0, 2, 0], friction: [load, 0.1, 0.02]}
- {kind: spherical, body_a: arm, body_b: ball, anchor: [1, 0, 0]}
springs:
- {name: rope, body_b: ball, anchor: [[0, 0, 2], [1.5, 0, 0]], stiffness: 30, length: 1.0}
"""


def numbers(joint: Joint) -> dict[str, Any]:
    """Everything of a joint, numbers as their bits."""
    every = {key: getattr(joint, key) for key in Joint.__dataclass_fields__}
    return {key: x if isinstance(x, str | None) else np.asarray(x, dtype=float).tobytes() for key, x in every.items()}


def random_joints(seed: int) -> sg.Scene:
    """Put joints of every kind and word into a scene, springs between them."""
    r = np.random.default_rng(seed)
    scene = sg.Scene()
    for k in range(12):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=r.uniform(-1, 1, 3), name=f"b{k}")
    axis = r.standard_normal((6, 3))
    anchor = r.uniform(-1, 1, (12, 3))
    across = np.cross(axis[0], r.standard_normal(3))
    scene.add_joint("revolute", None, "b0", anchor=anchor[0], axis=axis[0], friction=r.random(), limits=(-np.inf, 1.7))
    scene.add_spring("b0", "b1", anchor=anchor[:2], stiffness=r.random(), length=3.0 * r.random(), damping=r.random())
    scene.add_joint("prismatic", "b0", "b1", anchor=anchor[1], axis=axis[1], spring=(r.random(), r.random()))
    scene.add_joint("cylindrical", "b1", "b2", anchor=anchor[2], axis=axis[2])
    scene.add_joint("universal", "b2", "b3", anchor=anchor[3], axis=[axis[0], across])
    scene.add_spring(None, "b4", anchor=anchor[2:4], stiffness=r.random())
    scene.add_joint("planar", "b3", "b4", anchor=anchor[4], axis=axis[3])
    scene.add_joint("distance", "b4", "b5", anchor=anchor[4:6], spring=r.random(), damping=r.random())
    for wheel in ("b5", "b6"):
        scene.add_joint("cylindrical", None, wheel, anchor=anchor[9], axis=axis[4])
    scene.add_joint("gear", "b5", "b6", axis=axis[4:6], ratio=r.uniform(-2, 2))
    scene.add_joint("fixed", "b6", "b7", anchor=anchor[6])
    scene.add_joint("fixed", "b8", "b9", anchor=anchor[6])
    scene.add_joint("spherical", "b7", "b8", anchor=anchor[7])
    scene.add_joint("revolute", "b9", "b10", anchor=anchor[8], axis=axis[5], friction=("load", r.random(), r.random()))
    return scene


def planar_joints(seed: int) -> sg.Scene:
    r = np.random.default_rng(seed)
    scene = sg.Scene(planar=True)
    for k in range(5):
        scene.add_body(sg.Disc(0.1), mass=1.0, position=r.uniform(-1, 1, 2), name=f"b{k}")
    anchor = r.uniform(-1, 1, (6, 2))
    scene.add_joint("revolute", None, "b0", anchor=anchor[0], limits=(-1.0, r.random()))
    scene.add_joint("revolute", "b0", "b1", anchor=anchor[1], axis=(0, 0, -1), damping=r.random())
    scene.add_joint("prismatic", "b1", "b2", anchor=anchor[2], axis=r.standard_normal(2), friction=0.2)
    scene.add_spring("b2", "b3", anchor=anchor[:2], stiffness=2.0, length=0.1 * r.random())
    scene.add_joint("distance", "b2", "b3", anchor=anchor[2:4])
    scene.add_joint("revolute", None, "b4", anchor=anchor[5])
    scene.add_joint("gear", "b0", "b4", ratio=3.0)
    scene.add_joint("fixed", "b3", "b4", anchor=anchor[4])
    return scene


def test_a_file_makes_the_same_joints_as_the_calls(tmp_path: Path) -> None:
    (tmp_path / "scene.yaml").write_text(TEXT, encoding="utf-8")
    loaded = sg.Scene.load(tmp_path / "scene.yaml")
    scene = sg.Scene()
    scene.add_body(sg.Box((1, 0.1, 0.1)), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_body(sg.Sphere(0.1), mass=2.0, position=(1.5, 0, 0), name="ball")
    place: dict[str, Any] = {"anchor": (0, 0, 0), "axis": (0, 2, 0)}
    scene.add_joint("revolute", None, "arm", **place, friction=("load", 0.1, 0.02), name="hinge")
    scene.add_joint("spherical", "arm", "ball", anchor=(1, 0, 0))
    scene.add_spring(None, "ball", anchor=[(0, 0, 2), (1.5, 0, 0)], stiffness=30, length=1.0, name="rope")
    assert list(loaded.joints) == ["hinge", "joint2", "rope"]
    assert list(map(numbers, loaded.joints.values())) == list(map(numbers, scene.joints.values()))


@pytest.mark.parametrize("make", [random_joints, planar_joints])
@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_is_read_bit_for_bit(make: Any, seed: int, tmp_path: Path) -> None:
    scene = make(seed)
    scene.save(tmp_path / "scene.yaml")
    text = scene_to_text(scene)
    assert text is not None
    for again in (sg.Scene.load(tmp_path / "scene.yaml"), scene_from_text(text)):
        assert {name: numbers(joint) for name, joint in again.joints.items()} == {
            name: numbers(joint) for name, joint in scene.joints.items()
        }
        # Springs may stand elsewhere in the dictionary; the arrays do not depend on it.
        one, other = compile_scene(scene).joints, compile_scene(again).joints
        assert one.names == other.names
        np.testing.assert_array_equal(one.rows.joint, other.rows.joint)
        np.testing.assert_array_equal(one.arrays.frame_b, other.arrays.frame_b)


def test_lengths_of_springs_are_found_whatever_the_rounding() -> None:
    """A scene keeps the stretch ``length - distance``; the length written gives it back, bit for bit."""
    r = np.random.default_rng(3)
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), position=(0, 0, 0), name="b")
    for _ in range(200):
        points = r.uniform(-1, 1, (2, 3))
        scene.add_spring(None, "b", anchor=points, stiffness=1.0, length=10.0 ** r.uniform(-3, 2))
    again = scene_from_dict(scene_to_dict(scene))
    stretches = [[joint.rest for joint in one.joints.values()] for one in (scene, again)]
    assert stretches[0] == stretches[1]


def test_only_the_words_that_are_needed_are_written() -> None:
    scene = planar_joints(1)
    data = scene_to_dict(scene)
    assert "axis" not in data["joints"][0]
    assert set(data["joints"][-1]) == {"name", "kind", "body_a", "body_b", "anchor"}
    assert set(data["springs"][0]) == {"name", "body_a", "body_b", "anchor", "stiffness", "length"}


def test_functions_cannot_be_saved() -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), position=(0, 0, 0), name="b")
    scene.add_joint("revolute", None, "b", anchor=(0, 0, 0), axis=(0, 0, 1), motion=lambda t: t, name="motor")
    with pytest.raises(
        sg.InputError, match=r"joint 'motor': motion is a Python function, cannot be saved in a scene f"
    ):
        scene_to_dict(scene)
    assert scene_to_text(scene) is None
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), position=(0, 0, 0), name="b")
    scene.add_constraint(lambda q, t: q[0], ["b"], name="plane")
    with pytest.raises(sg.InputError, match=r"constraint 'plane': psi is a Python function, cannot be saved"):
        scene_to_dict(scene)


HINGE: dict[str, Any] = {"name": "j", "kind": "revolute", "body_b": "b", "anchor": [0, 0, 0], "axis": [0, 0, 1]}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "revolute", "body_b": "b", "axes": [0, 0, 1]}, r"joints\[0\]: unknown key 'axes'.*'axis'"),
        ({"kind": "revolute", "anchor": [0, 0, 0]}, r"joints\[0\]: body_b is missing, must be given"),
        ({"kind": 3, "body_b": "b"}, r"joints\[0\]: kind is 3, must be a name"),
        ({**HINGE, "body_b": "c"}, r"joints\[0\] 'j': no body is called 'c'"),
        ({**HINGE, "friction": -1.0}, r"joints\[0\] 'j': friction is -1.0, must be >= 0"),
        ({**HINGE, "friction": ["lod"]}, r"joints\[0\] 'j': friction is \['lod'\], must be numbers"),
        ({**HINGE, "motion": "t"}, r"joints\[0\] 'j': unknown key 'motion'"),
    ],
)
def test_a_bad_entry_is_refused_with_its_place(entry: dict[str, Any], message: str) -> None:
    ball = {"name": "b", "shape": {"sphere": {"radius": 0.1}}, "position": [0, 0, 0]}
    with pytest.raises(sg.FileError, match=message):
        scene_from_dict({"bodies": [ball], "joints": [entry]})
