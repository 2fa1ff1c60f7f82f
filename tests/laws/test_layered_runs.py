"""Geometrically implicit steps: many at a time they are the same as one by one, and random bodies keep the laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.random_layers import RISE, crowd, drop, judged_drop

import signorini as sg
from signorini.dynamics import kinetic_energy


def collision() -> sg.Scene:
    """Two free bodies with layers of their own, one coupled, meet askew."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(
        sg.Ellipsoid((0.1, 0.06, 0.04)),
        mass=1.0,
        position=(-0.205, 0.02, 0.01),
        velocity=(1.5, 0, 0),
        angular_velocity=(0, 0, 3),
        name="first",
    )
    scene.add_body(
        sg.Superellipsoid((0.12, 0.08, 0.05), exponent=3.0),
        mass=2.0,
        position=(0, 0, 0),
        orientation=(0.97, 0, 0.17, 0.17),
        angular_velocity=(1, 0, 0),
        name="second",
    )
    K = np.array([[2e4, 1e3, 0.0], [1e3, 8e3, 0.0], [0.0, 0.0, 8e3]])
    scene.set_layer("first", stiffness=K, damping=(20, 10, 10), max_deflection=0.004)
    scene.set_layer("second", stiffness=(3e4, 1e4, 1e4), damping=(5, 5, 5), max_deflection=0.02)
    scene.set_contact(friction=0.3, ellipsoid=(1, 0.8, 0.02))
    return scene


def rolling() -> sg.Scene:
    """A disc with a Hertzian layer and an ellipse without one, in the plane."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(0.1), mass=1, position=(0, 0.1), velocity=(1, -0.2), name="disc")
    scene.add_body(sg.Ellipse((0.1, 0.07)), mass=1, position=(0.5, 0.0705), angular_velocity=-3, name="ellipse")
    scene.set_layer("disc", law=sg.HuntCrossley(1e6, 1.5, 1e4), max_deflection=0.01)
    scene.set_contact(friction=0.5)
    return scene


@pytest.mark.parametrize("gyroscopic", ["implicit", "explicit"])
@pytest.mark.parametrize("make", [collision, rolling, lambda: drop(1), lambda: drop(4), lambda: crowd(0, 3)])
def test_many_steps_at_a_time_are_the_same_steps(make: Callable[[], sg.Scene], gyroscopic: str) -> None:
    """Simulator.run against Simulator.step: states and deflections to rounding, and all are solved."""
    words: dict[str, Any] = {"h": 5e-4, "formulation": sg.QuasiRigid(gyroscopic=gyroscopic), "tolerance": 1e-8}
    swift, single = sg.Simulator(make(), **words), sg.Simulator(make(), **words)
    for _ in range(3):
        assert swift.run(60) == 0
        for _ in range(60):
            report = single.step()
            assert report.status == sg.Status.SOLVED
    for name in ("t", "q", "v"):
        np.testing.assert_allclose(getattr(swift.state, name), getattr(single.state, name), atol=1e-8)
    np.testing.assert_array_equal(swift.memory.feature, single.memory.feature)
    np.testing.assert_allclose(swift.memory.deflection, single.memory.deflection, atol=1e-10)
    assert swift.memory.stored == pytest.approx(single.memory.stored, rel=1e-6, abs=1e-12)


def test_a_snapshot_among_many_steps_continues_bit_for_bit() -> None:
    """Taken in flight after a collision, while layers relax."""
    words: dict[str, Any] = {"h": 1e-4, "formulation": sg.QuasiRigid()}
    whole, halves = sg.Simulator(collision(), **words), sg.Simulator(collision(), **words)
    whole.run(400)
    halves.run(150)
    snapshot = halves.snapshot()
    halves.run(30)
    halves.restore(snapshot)
    halves.run(250)
    for name in ("q", "v"):
        assert getattr(whole.state, name).tobytes() == getattr(halves.state, name).tobytes()
    assert whole.memory.deflection.tobytes() == halves.memory.deflection.tobytes()


def test_a_step_of_many_is_reported_in_full() -> None:
    """After a run the last step can still be looked at."""
    sim = sg.Simulator(drop(1), h=1e-3, formulation=sg.QuasiRigid())
    sim.run(150)
    result = sim.stepper.result(sim.model)
    np.testing.assert_allclose(result.state.v, sim.state.v, atol=1e-10)
    assert sim.stepper.solved


@pytest.mark.compiled_only
def test_what_a_step_gains_is_the_turning_of_its_normal() -> None:
    """Of a step of `judged_drop` that gains the most: p (u_n - dD/h), of second order in h, D between the bodies.

    Impulses act along the normal of the end of a step, while the distance changed along all those between.
    """
    formulation, h = sg.QuasiRigid(), 1e-3
    sim = sg.Simulator(drop(136), h=h, formulation=formulation)
    sim.run(289)
    model, state, memory = sim.model, sim.state, sim.memory
    turned = []
    for parts in (1, 2, 4):
        ahead = formulation.detect(model, state, h / parts)
        after = formulation.step(model, state, ahead, memory, h / parts, tolerance=1e-10)
        distance = after.contacts.gap[0] - after.memory.deflection[0, :, 0].sum()
        closing = (distance - ahead.gap[0]) * parts / h
        turned.append(after.impulse[0, 0] * (after.velocity[0, 0] - closing))
        gained = _energy(model, after.state, after.memory) - _energy(model, state, memory)
        assert 0.0 < gained < turned[-1]
    assert np.diff(np.log2(turned)) == pytest.approx(-2.0, abs=0.1)


def _energy(model: Any, state: sg.State, memory: Any) -> float:
    free = slice(model.fixed_count, None)
    moving = kinetic_energy(model.arrays, state.q, state.v)[free].sum()
    return float(moving + memory.stored - (model.arrays.weight[free, :3] * state.q[free, :3]).sum())


@pytest.mark.compiled_only
@pytest.mark.parametrize("seed", range(0, 40, 4))
@pytest.mark.parametrize("h", [1e-3, 2e-4])
def test_random_drops(seed: int, h: float) -> None:
    """S3 spec, section 10: no unresolved step, energy up by at most 1e-5 of that at the start."""
    failed, rise, _ = judged_drop(seed, h, 0.4)
    assert failed == 0
    assert rise <= RISE


@pytest.mark.compiled_only
@pytest.mark.parametrize(("seed", "h"), [(547, 1e-3), (547, 2e-4), (623, 1e-3)])
def test_slender_bodies_slide_at_the_core(seed: int, h: float) -> None:
    """Newton's method goes round from all starts in which friction begins at nothing, in whole steps and in parts."""
    assert judged_drop(seed, h, 0.4)[0] == 0
