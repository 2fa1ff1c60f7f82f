"""Joints, springs and constraints that make no sense are refused with the thing, its value and what is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.scene import compile_scene

HINGE: dict[str, Any] = {"anchor": (0, 0, 0), "axis": (0, 0, 1)}
BAD_JOINTS: list[tuple[str, dict[str, Any], str]] = [
    ("hinge", HINGE, r"joint 'j': kind 'hinge' is unknown.*there are fixed, revolute"),
    ("revolut", HINGE, r"kind 'revolut' is unknown.*revolute"),
    ("revolute", {"axis": (0, 0, 1)}, r"joint 'j': anchor is missing, must be given for a revolute joint"),
    ("revolute", {"anchor": (0, 0)}, r"joint 'j': anchor has shape \(2,\), must be \(3\)"),
    ("revolute", {"anchor": "here", "axis": (0, 0, 1)}, r"joint 'j': anchor is 'here', must be"),
    ("revolute", {"anchor": (0, 0, np.nan), "axis": (0, 0, 1)}, r"joint 'j': anchor is .*nan.*, must be finite"),
    ("revolute", {"anchor": (0, 0, 0)}, r"joint 'j': axis is missing, must be given for a revolute joint"),
    ("revolute", {"anchor": (0, 0, 0), "axis": (0, 0, 0)}, r"joint 'j': axis is .*, must not be zero"),
    ("revolute", {"anchor": (0, 0, 0), "axis": "up"}, r"joint 'j': axis is 'up', must be"),
    ("revolute", {"anchor": (0, 0, 0), "axis": (0, np.inf, 0)}, r"joint 'j': axis .*must be finite"),
    (
        "revolute",
        {"anchor": (0, 0, 0), "axis": [(0, 0, 1), (1, 0, 0)]},
        r"axis has 2 vectors, must be 1 for a revolute",
    ),
    ("universal", {"anchor": (0, 0, 0)}, r"axis is missing, must be two axes for a universal joint"),
    ("universal", HINGE, r"joint 'j': axis has 1 vectors, must be 2 for a universal joint"),
    ("universal", {"anchor": (0, 0, 0), "axis": [(0, 0, 1), (0, 1, 1)]}, r"must be two axes at a right angle"),
    ("distance", {"anchor": (0, 0, 0)}, r"joint 'j': anchor is \(0, 0, 0\), must be two points for a distance joint"),
    ("distance", {"anchor": [(0, 0, 0), (0, 0)]}, r"joint 'j': anchor is .*, must be two points"),
    ("distance", {"anchor": [(1, 0, 0), (1, 0, 0)]}, r"joint 'j': anchor has two equal points .*, must be apart"),
    ("gear", {"axis": [(0, 0, 1), (0, 0, 1)]}, r"joint 'j': ratio is None, must be given for a gear"),
    ("gear", {"axis": [(0, 0, 1), (0, 0, 1)], "ratio": 0.0}, r"joint 'j': ratio is 0, must be the turns of b"),
    ("revolute", {**HINGE, "ratio": 2.0}, r"joint 'j': ratio is 2.0, must be given for a gear and for nothing else"),
    ("revolute", {**HINGE, "friction": -1.0}, r"joint 'j': friction is -1.0, must be >= 0"),
    ("revolute", {**HINGE, "friction": ("load", 0.1)}, r"friction is \('load', 0.1\), must be a limit or \('load',"),
    ("revolute", {**HINGE, "friction": ("weight", 0.1, 0.2)}, r"must be a limit or \('load', coefficient, radius\)"),
    ("revolute", {**HINGE, "friction": ("load", -0.1, 0.2)}, r"joint 'j': friction coefficient is -0.1, must be >= 0"),
    ("revolute", {**HINGE, "friction": ("load", 0.1, 0.0)}, r"joint 'j': friction radius is 0.0, must be > 0"),
    (
        "spherical",
        {"anchor": (0, 0, 0), "friction": 1.0},
        r"friction is 1.0, must be 0 unless the joint is revolute or",
    ),
    (
        "spherical",
        {"anchor": (0, 0, 0), "limits": (0, 1)},
        r"limits is given, but a spherical joint has no single coord",
    ),
    ("spherical", {"anchor": (0, 0, 0), "motion": abs}, r"motion is given, but a spherical joint has no single"),
    ("revolute", {**HINGE, "motion": 3.0}, r"joint 'j': motion is 3.0, must be a function of time"),
    ("revolute", {**HINGE, "effort_limit": 3.0}, r"joint 'j': effort_limit is 3.0 without motion, must limit a motion"),
    ("revolute", {**HINGE, "motion": abs, "effort_limit": 0.0}, r"joint 'j': effort_limit is 0.0, must be > 0"),
    (
        "revolute",
        {**HINGE, "limits": (1.0, 0.0)},
        r"joint 'j': limits is \(1.0, 0.0\), must be a pair .* least < largest",
    ),
    ("revolute", {**HINGE, "limits": 1.0}, r"joint 'j': limits is 1.0, must be a pair \(least, largest\)"),
    ("revolute", {**HINGE, "limits": ("a", 1.0)}, r"joint 'j': limits is \('a', 1.0\), must be a pair"),
    ("revolute", {**HINGE, "limits": (np.nan, 1.0)}, r"joint 'j': limits is .*must be a pair"),
    ("revolute", {**HINGE, "spring": -1.0}, r"joint 'j': spring is -1.0, must be >= 0"),
    ("revolute", {**HINGE, "spring": (1.0, 2.0, 3.0)}, r"joint 'j': spring has shape \(3,\), must be \(2\)"),
    ("revolute", {**HINGE, "damping": -0.1}, r"joint 'j': damping is -0.1, must be >= 0"),
]


def two_balls(*, planar: bool = False) -> sg.Scene:
    scene = sg.Scene(planar=planar)
    shape: Any = sg.Disc(0.1) if planar else sg.Sphere(0.1)
    for k in range(2):
        scene.add_body(shape, position=(float(k), 0) if planar else (float(k), 0, 0), name="ab"[k])
    scene.add_fixed(shape, name="wall")
    return scene


@pytest.mark.parametrize(("kind", "words", "message"), BAD_JOINTS, ids=lambda x: str(x)[:40])
def test_a_bad_joint_is_refused(kind: str, words: dict[str, Any], message: str) -> None:
    scene = two_balls()
    with pytest.raises(sg.InputError, match=message):
        scene.add_joint(kind, "a", "b", **words, name="j")
    assert not scene.joints


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("a", "c"), r"no body is called 'c'; there are 'wall', 'a', 'b'"),
        (("a", "a"), r"joint 'j': joins 'a' to itself, must be two different bodies"),
        (("a", None), r"joint 'j': body_b is None, must be a body; the world comes first"),
        ((None, "wall"), r"joint 'j': joins None and 'wall', at least one must be a body that can move"),
    ],
)
def test_bad_pairs_of_bodies_are_refused(pair: Any, message: str) -> None:
    with pytest.raises(sg.InputError, match=message):
        two_balls().add_joint("revolute", *pair, **HINGE, name="j")


def test_joint_names_are_unique() -> None:
    scene = two_balls()
    scene.add_joint("revolute", None, "a", **HINGE, name="j")
    with pytest.raises(sg.InputError, match=r"joint name 'j' is already taken, must be unique"):
        scene.add_spring("a", "b", anchor=[(0, 0, 0), (1, 0, 0)], stiffness=1.0, name="j")
    with pytest.raises(sg.InputError, match=r"name is '', must be a string that is not empty"):
        scene.add_joint("revolute", None, "b", **HINGE, name="")


@pytest.mark.parametrize(
    ("kind", "anchor"), [("fixed", (0, 0, 0)), ("spherical", (0, 0, 0)), ("distance", [(0, 0, 0), (1, 0, 0)])]
)
def test_an_axis_is_refused_by_kinds_that_have_none(kind: str, anchor: Any) -> None:
    message = rf"joint 'j': axis is \[\[0\.0, 0\.0, 1\.0\]\], must not be given for a {kind} joint, which has none"
    with pytest.raises(sg.InputError, match=message):
        two_balls().add_joint(kind, "a", "b", anchor=anchor, axis=(0, 0, 1), name="j")


@pytest.mark.parametrize("kind", ["cylindrical", "spherical", "universal", "planar"])
def test_spatial_kinds_are_refused_in_the_plane(kind: str) -> None:
    with pytest.raises(sg.InputError, match=rf"kind is '{kind}', must be one of fixed, .* in a planar scene"):
        two_balls(planar=True).add_joint(kind, "a", "b", anchor=(0, 0), axis=(1, 0))


@pytest.mark.parametrize(
    ("kind", "axis", "message"),
    [
        ("revolute", (1, 0), r"must be normal to the plane"),
        ("prismatic", (0, 0, 1), r"must lie in the plane"),
        ("prismatic", None, r"axis is missing, must be given for a prismatic joint"),
    ],
)
def test_bad_axes_are_refused_in_the_plane(kind: str, axis: Any, message: str) -> None:
    with pytest.raises(sg.InputError, match=message):
        two_balls(planar=True).add_joint(kind, "a", "b", anchor=(0, 0), axis=axis)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"stiffness": -1.0}, r"spring 's': stiffness is -1.0, must be >= 0"),
        ({"stiffness": 1.0, "damping": -2.0}, r"spring 's': damping is -2.0, must be >= 0"),
        ({"stiffness": 1.0, "length": -2.0}, r"spring 's': length is -2.0, must be >= 0"),
        ({"stiffness": 1.0, "anchor": (0, 0, 0)}, r"spring 's': anchor is \(0, 0, 0\), must be two points"),
    ],
)
def test_a_bad_spring_is_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(sg.InputError, match=message):
        two_balls().add_spring("a", "b", **{"anchor": [(0, 0, 0), (1, 0, 0)], **words}, name="s")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"psi": 3.0}, r"constraint 1: psi is 3.0, must be a function of \(q, t\)"),
        ({"kind": "equal"}, r"constraint 1: kind is 'equal', must be 'equality' or 'inequality'"),
        ({"bodies": ["wall"]}, r"constraint 1: bodies are \['wall'\], at least one must be a body that can move"),
        ({"bodies": ["c"]}, r"no body is called 'c'"),
        ({"psi": lambda q, t: "x"}, r"constraint 1: psi\(q, 0\) is .*, must be an array of numbers"),
        ({"psi": lambda q, t: np.nan}, r"constraint 1: psi\(q, 0\) is .*, must be finite"),
        ({"psi": lambda q, t: np.eye(2)}, r"constraint 1: psi\(q, 0\) has shape \(2, 2\), must be \(any\)"),
        ({"jacobian": lambda q, t: np.zeros((1, 6))}, r"jacobian\(q, 0\) has shape \(1, 6\), must be \(1, 7\)"),
    ],
)
def test_a_bad_constraint_is_refused(words: dict[str, Any], message: str) -> None:
    scene = two_balls()
    whole = {"psi": lambda q, t: q[0], "bodies": ["a"], **words}
    with pytest.raises(sg.InputError, match=message):
        scene.add_constraint(whole.pop("psi"), whole.pop("bodies"), **whole)


def test_joint_friction_needs_an_even_polygon() -> None:
    scene = two_balls()
    scene.add_joint("revolute", None, "a", **HINGE, friction=1.0)
    with pytest.raises(sg.InputError, match=r"StewartTrinkle: directions is 5, must be even for friction in joints"):
        sg.Simulator(scene, h=0.01, formulation=sg.StewartTrinkle(directions=5))


@pytest.mark.parametrize("carrier", ["arm", "turntable", None])
def test_a_gear_needs_axles_that_stand_still(carrier: str | None) -> None:
    """On an arm that moves the two moments of its row would take angular momentum from nowhere."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 1), name="arm")
    scene.add_fixed(sg.Sphere(0.1), name="turntable", motion=lambda t: (0.0, 0.0, 2.0 + t))
    for k, base in enumerate((None, carrier)):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(k, 0, 0), name=f"wheel{k}")
        scene.add_joint("revolute", base, f"wheel{k}", anchor=(k, 0, 0), axis=(0, 0, 1))
    scene.add_joint("gear", "wheel0", "wheel1", axis=[(0, 0, 1), (0, 0, 1)], ratio=-2.0, name="mesh")
    if carrier is None:
        compile_scene(scene)
        return
    with pytest.raises(sg.InputError, match=r"joint 'mesh': body 'wheel1' of the gear is not on an axle that stands"):
        compile_scene(scene)
