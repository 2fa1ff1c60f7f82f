"""The map of contacts and joint laws at the root: the same as what its impulses do to every body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.dynamics import load_impulse, relative_velocity
from signorini.dynamics.response.mechanism import Mechanism
from signorini.formulations.jointed.memory import JointMemory
from signorini.formulations.jointed.space import Space, Start, make_space
from signorini.scene import compile_scene


def made(**knee: Any) -> tuple[Any, Mechanism, Start, Any, Space]:
    """Return the map of a bent leg with a loose ball that stand on a floor and on each other."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.1), mass=0.5, position=(0, 0, 0.1), name="foot")
    scene.add_body(sg.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0.3, 0, 0.5), name="trunk")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0.2, 0, 0.1), name="ball")
    scene.add_joint("revolute", "foot", "trunk", anchor=(0.1, 0, 0.3), axis=(0, 1, 0), **knee)
    scene.set_contact(friction=0.5)
    model = compile_scene(scene)
    mechanism, state = Mechanism(model), model.initial_state
    q = mechanism.configuration(state)
    u = 0.1 * np.arange(mechanism.speed_count)
    at = mechanism.posture(q, u, state)
    state = mechanism.state(at, 0.0)
    coordinate, speed = mechanism.measured(at, q, u, np.zeros(1))
    start = Start(state, at, coordinate, speed, load_impulse(model, state, 1.0))
    contacts = sg.Recursive().detect(model, state, 0.01)
    space = make_space(model, mechanism, start, contacts, np.zeros(u.size), np.zeros(1), 0.01, ahead=0.0)
    return model, mechanism, start, contacts, space


def test_velocities_are_those_of_the_bodies() -> None:
    _, mechanism, start, contacts, space = made(friction=2.0, limits=(-0.01, 0.01))
    assert contacts.contact_count == 3
    assert space.laws.count == 3
    np.testing.assert_allclose(space.W, space.W.T, rtol=0.0, atol=1e-14)
    assert np.linalg.eigvalsh(space.W)[0] > -1e-13 * np.abs(space.W).max()
    p = np.random.default_rng(1).normal(size=space.b.shape)
    p[space.contact_count :, 2] = 0.0  # laws act along the first tangent alone
    jumps, hinge = [], next(limb for limb in mechanism.limbs if limb.joint == 0)
    for one in (p, np.zeros_like(p)):
        v = np.zeros_like(start.state.v)
        for k, limb in enumerate(mechanism.limbs):
            x = space.h * mechanism.of_limb(space.solve(one).acceleration, k)
            v[limb.body, :3], v[limb.body, 3:] = x[3:6], x[:3]
        speed = mechanism.rates(start.at, space.solve(one))
        jumps.append((relative_velocity(*space.J, contacts, v), space.h * speed[hinge.u][0]))
    np.testing.assert_allclose(
        space.velocity(p) - space.velocity(0.0 * p), jumps[0][0] - jumps[1][0], rtol=0.0, atol=1e-13
    )
    laws = space.law_speed(p) - space.law_speed(0.0 * p)
    np.testing.assert_allclose(np.abs(laws), abs(jumps[0][1] - jumps[1][1]), rtol=0.0, atol=1e-12)


def test_friction_by_load_takes_its_limit_from_the_reaction() -> None:
    model, _, _, _, space = made(friction=("load", 0.25, 0.1))
    reaction = np.array([[3.0, 0.0, 4.0, 7.0, 7.0, 7.0]])
    bounded = space.bounded(model, reaction)
    assert bounded.laws.bound[0] == pytest.approx(0.01 * 0.25 * 0.1 * 5.0, rel=1e-14)
    a = space.W[3 * space.contact_count, 3 * space.contact_count]
    assert bounded.b[space.contact_count, 0] == pytest.approx(-a * bounded.laws.bound[0], rel=1e-14)


def test_memory_comes_back_from_arrays() -> None:
    memory = JointMemory(
        np.arange(3.0), np.arange(2.0), np.array([-1, 4]), np.ones((2, 6)), np.array([0.5]), stored=0.25
    )
    again = JointMemory.from_arrays(memory.to_arrays())
    for name, value in memory.to_arrays().items():
        np.testing.assert_array_equal(getattr(again, name), value)
    np.testing.assert_array_equal(again.recall(np.array([4, 7])), [[1.0] * 6, [0.0] * 6])
