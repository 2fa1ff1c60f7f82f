"""The compiled step against that by functions of Python, in random scenes; more by ``benchmarks/random_oracle.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from tests.joint_scenes import link, wheel
from tests.oracle import GRAVITY, compare, random_scene

AGREED = 1e-9  # of the fastest velocity, both being solved to 1e-12


@pytest.mark.filterwarnings("ignore::signorini.SceneWarning")
@pytest.mark.parametrize("seed", range(14))
def test_every_step_is_that_of_the_functions(seed: int) -> None:
    """Law: from the same state both ways of computing a step come to the same velocities."""
    compared = compare(*random_scene(np.random.default_rng(seed)), steps=20)
    assert compared.steps >= 5
    assert compared.worst <= AGREED


def row(*, ellipsoid: bool = False, restitution: float = 0.0, planar: bool = False, **more: Any) -> sg.Scene:
    """Three balls in a row that hinges with a limit, friction and a spring join fall onto a floor, turning."""
    scene = sg.Scene(planar=planar, gravity=(0.5, -GRAVITY) if planar else (0.5, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)) if planar else sg.HalfSpace(), name="floor")
    laws: tuple[dict[str, Any], ...] = ({"limits": (-0.02, 0.02), "friction": 0.1}, {"spring": 20.0, "damping": 0.1})
    for k in range(3):
        place, speed = (0.25 * k, 0.1002), (1.0, -0.5 - 0.2 * k)
        if planar:
            shape: Any = sg.Disc(0.1)
            scene.add_body(shape, mass=1.0 + k, position=place, velocity=speed, angular_velocity=3.0, name=f"b{k}")
        else:
            at, v = (place[0], 0.0, place[1]), (speed[0], 0.3, speed[1])
            spin = (0.5, 2.0, 1.0)
            scene.add_body(sg.Sphere(0.1), mass=1.0 + k, position=at, velocity=v, angular_velocity=spin, name=f"b{k}")
        if k > 0:
            anchor = (0.25 * k - 0.125, 0.1002) if planar else (0.25 * k - 0.125, 0.0, 0.1002)
            axis: dict[str, Any] = {} if planar else {"axis": (0, 1, 0)}
            scene.add_joint("revolute", f"b{k - 1}", f"b{k}", anchor=anchor, **axis, **laws[k - 1])
    beyond: dict[str, Any] = {"ellipsoid": (1.0, 0.5, 0.02)} if ellipsoid else {}
    scene.set_contact(friction=0.3, restitution=restitution, **beyond, **more)
    return scene


def hinged_twice() -> sg.Scene:
    """A wheel on three hinges of one axis, off its centre."""
    scene = wheel(5.0, gravity=GRAVITY)
    for k in (1, 2):
        scene.add_joint("revolute", None, "wheel", anchor=(0, 0.1 * k, 0), axis=(0, 1, 0))
    return scene


def parallelogram() -> sg.Scene:
    """A bar on three cranks of one length, one of them spare."""
    scene = sg.Scene(planar=True, gravity=(0, -GRAVITY))
    link(scene, (0, 0.3), (1, 0.3), "bar", velocity=(0.6, 0))
    for k in range(3):
        link(scene, (0.5 * k, 0), (0.5 * k, 0.3), f"crank{k}", velocity=(0.3, 0), angular_velocity=-2.0)
        scene.add_joint("revolute", None, f"crank{k}", anchor=(0.5 * k, 0), friction=0.01 * k)
        scene.add_joint("revolute", f"crank{k}", "bar", anchor=(0.5 * k, 0.3))
    for a, b in ((0, 1), (0, 2), (1, 2)):
        scene.exclude(f"crank{a}", f"crank{b}")
    return scene


def egg() -> sg.Scene:
    """A solid by a function, which falls."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    shape = sg.Implicit(lambda x: float(x @ x) / 0.01 + 10.0 * x[2] ** 2 - 1.0, bounds=0.2)
    spin, v = (0, 2, 3), (0.5, 0, -0.6)
    scene.add_body(shape, mass=1.0, position=(0, 0, 0.105), velocity=v, angular_velocity=spin, name="egg")
    scene.set_contact(friction=0.3, restitution=0.3)
    return scene


COUPLES: dict[str, Any] = {"torsional": 0.01, "rolling": 0.005}
CASES: dict[str, tuple[sg.Scene, dict[str, Any]]] = {
    "joints, theta": (row(restitution=0.5), {"theta": 0.5}),
    "joints, theta, implicit": (row(), {"theta": 0.75, "gyroscopic": "implicit"}),
    "joints, theta, projection": (row(), {"theta": 0.75, "projection": True}),
    "joints, theta, planar": (row(planar=True), {"theta": 0.6}),
    "joints, stiffness": (row(), {"stiffness": 3e4}),
    "joints, theta, stiffness": (row(), {"stiffness": 3e4, "theta": 0.6}),
    "joints, couples": (row(restitution=0.5, **COUPLES), {}),
    "joints, couples, theta": (row(**COUPLES), {"theta": 0.5}),
    "joints, couples, stiffness": (row(**COUPLES), {"stiffness": 3e4}),
    "joints, couples, planar": (row(planar=True, rolling=0.005), {}),
    "joints, ellipsoids": (row(ellipsoid=True, restitution=0.5), {}),
    "joints, Poisson": (row(restitution=0.5), {"restitution_law": "poisson"}),
    "joints, Poisson, couples": (row(restitution=0.5, **COUPLES), {"restitution_law": "poisson"}),
    "dependent rows": (hinged_twice(), {}),
    "dependent rows, theta": (parallelogram(), {"theta": 0.5}),
    "dependent rows that close": (parallelogram(), {}),
    "function, theta": (egg(), {"theta": 0.5}),
}


@pytest.mark.filterwarnings("ignore::signorini.SceneWarning")
@pytest.mark.parametrize("case", CASES)
def test_what_is_rare_is_that_of_the_functions_too(case: str) -> None:
    """Law: so do they by rare laws, and balances and reports of joints are the same."""
    scene, options = CASES[case]
    compared = compare(scene, options, steps=15, accounts=True)
    assert compared.steps >= 14
    assert compared.worst <= AGREED
