"""Rigid trees as articulated bodies against divide and conquer, joint by joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.dynamics import load_impulse
from signorini.dynamics.response.mechanism import Mechanism
from signorini.scene import compile_scene

KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")


def tree(r: np.random.Generator, n: int, *, hung: bool, driven: bool, plain: bool = False) -> sg.Scene:
    """Return bodies that hang from random ones of those before by random joints, some driven or sprung."""
    scene = sg.Scene(gravity=(0.3, 0.1, -9.81))
    for k in range(n):
        e = r.normal(size=4)
        scene.add_body(
            sg.Box((0.3, 0.2, 0.1)),
            mass=float(r.uniform(0.5, 3.0)),
            inertia=(0.4, 0.6, 0.7),
            mass_centre=0.1 * r.normal(size=3),
            position=r.normal(size=3),
            orientation=e / np.linalg.norm(e),
            name=f"b{k}",
        )
    for k in range(0 if hung else 1, n):
        kind = str(r.choice(KINDS))
        words: dict[str, Any] = {}
        if kind not in ("fixed", "spherical"):
            axis = r.normal(size=3)
            words["axis"] = [axis, np.cross(axis, r.normal(size=3))] if kind == "universal" else axis
        if kind in ("revolute", "prismatic") and not plain:
            if driven and r.random() < 0.4:
                words["motion"] = lambda t: 0.5 * np.sin(3.0 * t)
            elif r.random() < 0.5:
                words |= {"spring": (20.0, 0.2), "damping": 1.5}
        other = None if k == 0 else f"b{r.integers(0, k)}"
        pair = (other, f"b{k}") if other is None or r.random() < 0.5 else (f"b{k}", other)
        scene.add_joint(kind, *pair, anchor=r.normal(size=3), name=f"j{k}", **words)
    return scene


@pytest.mark.parametrize("seed", range(40))
def test_random_trees(seed: int) -> None:
    """Accelerations and wrenches to 1e-10, at random coordinates and speeds, under loads, springs and drives."""
    r = np.random.default_rng(seed)
    model = compile_scene(tree(r, int(r.integers(1, 12)), hung=r.random() < 0.7, driven=r.random() < 0.5))
    mechanism = Mechanism(model)
    q = mechanism.moved(mechanism.configuration(model.initial_state), r.normal(size=mechanism.speed_count))
    u = r.normal(size=mechanism.speed_count)
    at = mechanism.posture(q, u, model.initial_state)
    coordinate, speed = mechanism.measured(at, q, u, np.zeros(model.joints.count))
    soft, drive = mechanism.soft_forces(coordinate, speed), r.normal(size=mechanism.speed_count)
    force = load_impulse(model, mechanism.state(at, 0.0), 1.0) + r.normal(size=(model.body_count, 6))
    none: list[Any] = [[] for _ in mechanism.limbs]
    assert mechanism.is_rigid_tree
    want = mechanism.assembled(at, force, none, drive, soft[0] + soft[1]).solve()
    found = mechanism.accelerated(at, force, drive, soft[0] + soft[1])
    for a, b in ((found.acceleration, want.acceleration), (found.wrench, want.wrench)):
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-10 * max(1.0, float(np.abs(b).max(initial=0.0))))
    rate = mechanism.rates(at, want)
    assert found.rate is not None
    np.testing.assert_allclose(found.rate, rate, rtol=0.0, atol=1e-10 * max(1.0, float(np.abs(rate).max(initial=0.0))))


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_in_maximal_coordinates(seed: int) -> None:
    """Against `accelerations`, which eliminates joints there; its biases are differences, good to 1e-6."""
    r = np.random.default_rng(100 + seed)
    model = compile_scene(tree(r, int(r.integers(2, 7)), hung=r.random() < 0.7, driven=False, plain=True))
    mechanism = Mechanism(model)
    q = mechanism.configuration(model.initial_state)
    at = mechanism.posture(q, r.normal(size=mechanism.speed_count), model.initial_state)
    state = mechanism.state(at, 0.0)
    none = np.zeros(model.joints.count)
    force, drive = load_impulse(model, state, 1.0), np.zeros(mechanism.speed_count)
    found = mechanism.accelerated(at, force, drive, none).acceleration
    rows = [limb.body for limb in mechanism.limbs]
    want = sg.accelerations(model, state).solutions[0].acceleration[rows][:, [3, 4, 5, 0, 1, 2]].reshape(-1)
    np.testing.assert_allclose(found, want, rtol=0.0, atol=1e-6 * max(1.0, float(np.abs(want).max())))


def test_what_is_not_a_rigid_tree_goes_through_the_assembly() -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), position=(0, 0, 0), name="ball")
    scene.add_joint("spherical", None, "ball", anchor=(0, 0, 1), name="hook")
    assert Mechanism(compile_scene(scene)).is_rigid_tree
    scene.add_joint("distance", None, "ball", anchor=[(1, 0, 0), (0, 0, 0)], name="rod")
    assert not Mechanism(compile_scene(scene)).is_rigid_tree
