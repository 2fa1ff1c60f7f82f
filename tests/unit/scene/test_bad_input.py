"""Every mistake is one line that names the thing, its value and what is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg

NAN = float("nan")


def message_of(action: Any) -> str:
    with pytest.raises(sg.InputError) as caught:
        action()
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- in Python ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"mass": -1.0}, "body 'ball': mass is -1.0, must be > 0"),
        ({"mass": 0.0}, "body 'ball': mass is 0.0, must be > 0"),
        ({"mass": NAN}, "body 'ball': mass is nan, must be finite"),
        ({"mass": "heavy"}, "body 'ball': mass is 'heavy', must be a number"),
        ({"mass": 1.0, "density": 1.0}, "body 'ball': give either mass or density, not both"),
        ({"density": 0.0}, "body 'ball': density is 0.0, must be > 0"),
        (
            {"inertia": (1.0, 1.0, -1.0)},
            "body 'ball': inertia has principal moments [-1.0, 1.0, 1.0], must be positive definite",
        ),
        (
            {"inertia": [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
            "body 'ball': inertia has principal moments [-1.0, 1.0, 3.0], must be positive definite",
        ),
        (
            {"inertia": [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
            "body 'ball': inertia is [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], must be symmetric",
        ),
        ({"inertia": (1.0, 1.0, 3.0)}, "none may exceed the sum of the others"),
        ({"inertia": (1.0, NAN, 1.0)}, "body 'ball': inertia is (1.0, nan, 1.0), must be finite"),
        ({"position": (0.0, NAN, 0.0)}, "body 'ball': position is (0.0, nan, 0.0), must be finite"),
        ({"position": (0.0, 1.0)}, "body 'ball': position has shape (2,), must be (3)"),
        ({"velocity": (0.0, 0.0, np.inf)}, "body 'ball': velocity is (0.0, 0.0, inf), must be finite"),
        ({"angular_velocity": (NAN, 0.0, 0.0)}, "body 'ball': angular_velocity is (nan, 0.0, 0.0), must be finite"),
        (
            {"orientation": (0.0, 0.0, 0.0, 0.0)},
            "body 'ball': orientation is [0.0, 0.0, 0.0, 0.0] with norm 0, must be a unit quaternion (w, x, y, z)",
        ),
        ({"orientation": (2.0, 0.0, 0.0, 0.0)}, "with norm 2, must be a unit quaternion (w, x, y, z)"),
        ({"name": ""}, "name is '', must be a string that is not empty"),
        ({"name": "floor"}, "name 'floor' is already taken, must be unique"),
    ],
)
def test_body(words: dict[str, Any], message: str) -> None:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    arguments: dict[str, Any] = {"position": (0, 0, 1), "name": "ball", **words}
    assert message in message_of(lambda: scene.add_body(sg.Sphere(1.0), **arguments))
    assert not scene.bodies


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"friction": -0.1}, "contact: friction is -0.1, must be >= 0"),
        ({"friction": NAN}, "contact: friction is nan, must be finite"),
        ({"friction": 0.1, "restitution": 1.5}, "contact: restitution is 1.5, must be <= 1"),
        ({"friction": 0.1, "rolling": -1.0}, "contact: rolling is -1.0, must be >= 0"),
        ({"friction": 0.1, "between": ("ball", "flor")}, "no body is called 'flor'; there are 'floor', 'ball'"),
        ({"friction": 0.1, "between": ("ball", "ball")}, "between is ('ball', 'ball'), must be two different bodies"),
        (
            {"friction": -1.0, "between": ("floor", "ball")},
            "contact between ('ball', 'floor'): friction is -1.0, must be >= 0",
        ),
    ],
)
def test_contact(words: dict[str, Any], message: str) -> None:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(1.0), position=(0, 0, 1), name="ball")
    assert message_of(lambda: scene.set_contact(**words)) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sg.Sphere(-1.0), "sphere: radius is -1.0, must be > 0"),
        (lambda: sg.Sphere(NAN), "sphere: radius is nan, must be finite"),
        (lambda: sg.Box((1.0, 0.0, 1.0)), "box: size is (1.0, 0.0, 1.0), must be three lengths > 0"),
        (lambda: sg.HalfSpace(normal=(0, 0, 0)), "half_space: normal is (0, 0, 0), must point out of the solid"),
        (lambda: sg.Scene(gravity=(0, 0, NAN)), "scene: gravity is (0, 0, nan), must be finite"),
        (lambda: sg.Scene(gravity=(0, -9.81)), "scene: gravity has shape (2,), must be (3)"),
        (
            lambda: sg.Scene(planar=True, gravity=(0, 0, -9.81)),
            "scene: gravity (planar scene) has shape (3,), must be (2)",
        ),
    ],
)
def test_shapes_and_scene(make: Any, message: str) -> None:
    assert message_of(make) == message


# --- in a scene file -----------------------------------------------------------------

BALL = "name: ball, shape: {sphere: {radius: 1}}, position: [0, 0, 1]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", " is empty, must be a mapping with gravity, planar,"),
        ("[1, 2]", " is [1, 2], must be a mapping with gravity, planar,"),
        ("gravty: [0, 0, 1]", ": unknown key 'gravty', did you mean 'gravity'?"),
        ("muscles: []", ": unknown key 'muscles', must be one of gravity, planar, contact,"),
        ("planar: 1", ": planar is 1, must be true or false"),
        ("gravity: [0, 0]", ": gravity has shape (2,), must be (3)"),
        ("gravity: [0, 0, .nan]", ": gravity is [0, 0, nan], must be finite"),
        ("gravity: [0, 0, down]", ": gravity is [0, 0, 'down'], must be numbers"),
        ("gravity:", ": gravity is empty, must be numbers"),
        ("bodies: {a: 1}", ": bodies is {'a': 1}, must be a list"),
        ("bodies: [ball]", ": bodies[0] is 'ball', must be a mapping with shape, shapes, mass,"),
        (
            f"bodies: [{{{BALL}}}, {{shape: {{sphere: {{radius: 1}}}}, positon: [0, 0, 1], name: two}}]",
            ": bodies[1] 'two': unknown key 'positon', did you mean 'position'?",
        ),
        ("bodies: [{shape: {sphere: {radius: 1}}}]", ": bodies[0]: position is missing, must be given"),
        ("bodies: [{position: [0, 0, 1]}]", ": bodies[0]: must have either shape or shapes"),
        (f"bodies: [{{{BALL}, shapes: []}}]", ": bodies[0] 'ball': must have either shape or shapes"),
        ("bodies: [{shapes: [], position: [0, 0, 1]}]", ": has no shape, must have at least one"),
        (
            "bodies: [{name: a, shape: {spere: {radius: 1}}, position: [0, 0, 1]}]",
            ": bodies[0] 'a': shape: unknown shape 'spere', did you mean 'sphere'?",
        ),
        (
            "bodies: [{name: a, shapes: [{sphere: {radius: 1}}, {sphere: {radios: 1}}], position: [0, 0, 1]}]",
            ": bodies[0] 'a': shapes[1]: sphere: unknown key 'radios', did you mean 'radius'?",
        ),
        (
            "bodies: [{name: a, shape: {sphere: {}}, position: [0, 0, 1]}]",
            ": bodies[0] 'a': shape: sphere: radius is missing, must be given",
        ),
        (
            "bodies: [{name: a, shape: {sphere: {radius: -1}}, position: [0, 0, 1]}]",
            ": bodies[0] 'a': shape: sphere: radius is -1.0, must be > 0",
        ),
        (
            "bodies: [{name: a, shape: sphere, position: [0, 0, 1]}]",
            " is 'sphere', must be like {sphere: {radius: 1.0}}",
        ),
        (
            "fixed: [{shape: {sphere: {radius: 1}, box: {size: [1, 1, 1]}}}]",
            ": fixed[0]: shape has 2 kinds of shape, must have one; list several under shapes",
        ),
        ("fixed: [{name: a, shape: {half_space: {}}, motion: f}]", ": fixed[0] 'a': unknown key 'motion'"),
        (f"bodies: [{{{BALL}, mass: -1}}]", ": bodies[0] 'ball': mass is -1.0, must be > 0"),
        (f"bodies: [{{{BALL}, mass: 0}}]", ": bodies[0] 'ball': mass is 0.0, must be > 0"),
        (f"bodies: [{{{BALL}, mass: .nan}}]", ": bodies[0] 'ball': mass is nan, must be finite"),
        (f"bodies: [{{{BALL}, mass: true}}]", ": bodies[0] 'ball': mass is True, must be numbers"),
        (f"bodies: [{{{BALL}, mass: '1'}}]", ": bodies[0] 'ball': mass is '1', must be numbers"),
        (f"bodies: [{{{BALL}, mass: 1{'0' * 400}}}]", ": bodies[0] 'ball': mass is 1000"),
        (f"bodies: [{{{BALL}, inertia: [1, 1, -1]}}]", ": bodies[0] 'ball': inertia has principal moments [-1.0,"),
        (
            f"bodies: [{{{BALL}, velocity: [.nan, 0, 0]}}]",
            ": bodies[0] 'ball': velocity is [nan, 0, 0], must be finite",
        ),
        (
            f"bodies: [{{{BALL}, orientation: [0, 0, 0, 0]}}]",
            ": bodies[0] 'ball': orientation is [0.0, 0.0, 0.0, 0.0] with",
        ),
        (f"bodies: [{{{BALL}}}, {{{BALL}}}]", ": bodies[1] 'ball': name 'ball' is already taken, must be unique"),
        ("fixed: [{name: 3, shape: {half_space: {}}}]", ": fixed[0]: name is 3, must be a name"),
        ("contact: {friction: -0.5}", ": contact: friction is -0.5, must be >= 0"),
        ("contact: {restitution: 0.5}", ": contact: friction is missing, must be given"),
        ("contact: {frictoin: 0.5}", ": contact: unknown key 'frictoin', did you mean 'friction'?"),
        ("pairs: [{friction: 0.1}]", ": pairs[0]: between is missing, must be given"),
        (f"bodies: [{{{BALL}}}]\npairs: [{{friction: 0.1, between: [ball, b]}}]", ": pairs[0]: no body is called 'b'"),
        ("pairs: [{friction: 0.1, between: 3}]", ": pairs[0]: between is 3, must be a pair of names"),
        ("exclude: [[a, [b]]]", ": exclude[0]: pair is ['b'], must be a name"),
        ("exclude: [a]", ": exclude[0]: pair is 'a', must be a pair of names"),
        ("forces: [{body: a, force: [0, 0, 1]}]", ": forces[0]: no body is called 'a'; there are none yet"),
        (f"bodies: [{{{BALL}}}]\nforces: [{{body: ball}}]", ": forces[0]: force on 'ball': give force or torque"),
        ("simulate: {dt: 0.1}", ": simulate: unknown key 'dt', must be one of duration, h, formulation, tolerance"),
        ("simulate: {durations: 1}", ": simulate: unknown key 'durations', did you mean 'duration'?"),
        ("gravity: [0, 0, 1]\ngravity: [0, 0, 2]", ": line 2: key 'gravity' is given twice"),
    ],
)
def test_scene_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    found = message_of(lambda: sg.Scene.load(path))
    assert found.startswith(str(path))
    assert message in found
    assert len(found) < len(str(path)) + 200


def test_missing_scene_file(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    assert message_of(lambda: sg.Scene.load(path)) == f"{path}: cannot read: No such file or directory"


def test_scene_file_in_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """Root may write anywhere, but not below a regular file."""
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "scene.yaml"
    assert message_of(lambda: sg.Scene().save(path)) == f"{path}: cannot write: Not a directory"


def test_truncated_result_file(tmp_path: Path) -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(1.0), position=(0, 0, 1), name="ball")
    path = tmp_path / "ball.h5"
    sg.simulate(scene, duration=0.1, h=0.05).save(path)
    path.write_bytes(path.read_bytes()[:-100])
    assert message_of(lambda: sg.Trajectory.load(path)) == f"{path}: is truncated, must be a complete HDF5 file"


def test_result_file_that_holds_something_else(tmp_path: Path) -> None:
    from signorini.io import write_tree

    path = tmp_path / "other.h5"
    write_tree(path, {"x": np.zeros(3)})
    assert message_of(lambda: sg.Trajectory.load(path)).startswith(f"{path}: format is None, must be ")


@pytest.mark.parametrize("between", [3, "ab", ("floor",), (["floor"], "ball")])
def test_pairs_that_are_none(between: object) -> None:
    """Whatever is given as a pair, the complaint is one of ours."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(1.0), position=(0, 0, 1), name="ball")
    with pytest.raises(sg.InputError):
        scene.set_contact(friction=0.1, between=between)  # type: ignore[arg-type]


def test_numbers_too_large_for_a_float() -> None:
    with pytest.raises(sg.InputError, match="must be an array of numbers"):
        sg.Scene(gravity=(0, 0, 10**400))
