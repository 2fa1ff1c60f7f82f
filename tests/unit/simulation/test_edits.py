"""A simulator goes on as its scene was: edits are refused, and its state is for reading."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.geometry import detect
from signorini.scene.contact import ContactData
from tests.joint_scenes import pendulum
from tests.scenes import rough_sphere, stack

H = 0.01


EDITS: dict[str, Callable[[sg.Scene], Any]] = {
    "body": lambda scene: scene.add_body(sg.Sphere(0.1), mass=1.0, position=(5, 0, 5)),
    "fixed body": lambda scene: scene.add_fixed(sg.Sphere(0.1), position=(5, 0, 5)),
    "joint": lambda scene: scene.add_joint("fixed", None, next(iter(scene.bodies)), anchor=(0, 0, 0)),
    "spring": lambda scene: scene.add_spring(
        None, next(iter(scene.bodies)), anchor=[(0, 0, 0), (0, 0, 1)], stiffness=1.0
    ),
    "constraint": lambda scene: scene.add_constraint(lambda q, t: q[0], [next(iter(scene.bodies))]),
    "force": lambda scene: scene.add_force(next(iter(scene.bodies)), force=(1, 0, 0)),
    "contact": lambda scene: scene.set_contact(friction=0.9),
    "contact of a pair": lambda scene: scene.set_contact(friction=0.9, between=names_of(scene)[:2]),  # type: ignore[arg-type]
    "exclusion": lambda scene: scene.exclude(*tuple(scene.bodies)[:2]),
    "gravity": lambda scene: setattr(scene, "gravity", np.zeros(3)),
    "law": lambda scene: setattr(scene, "contact", ContactData(friction=0.9)),
    "another body": lambda scene: scene.bodies.update(
        {name: replace(body, mass=2.0) for name, body in scene.bodies.items()}
    ),
    "no joint": lambda scene: scene.joints.clear(),
    "no body": lambda scene: scene.bodies.popitem(),
    "forces at once": lambda scene: scene.forces.extend([]),
    "pairs at once": lambda scene: scene.excluded.update([]),
}


def names_of(scene: sg.Scene) -> list[str]:
    return list(scene.bodies)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("go", ["step", "run", "advance"])
def test_an_edited_scene_is_refused(edit: str, go: str) -> None:
    scene = stack(2)
    scene.add_joint("spherical", None, names_of(scene)[0], anchor=(0, 0, 0.1), name="pivot")
    simulator = sg.Simulator(scene, h=H)
    simulator.run(1)
    EDITS[edit](scene)
    with pytest.raises(sg.InputError, match=r"scene: was edited after the Simulator was made.*new one.*controls"):
        simulator.run(1) if go == "run" else getattr(simulator, go)()
    assert simulator.step_count == 1


def test_an_edited_scene_may_be_simulated_anew() -> None:
    scene = rough_sphere()
    before = sg.simulate(scene, duration=0.1, h=H)
    scene.set_contact(friction=0.0)
    after = sg.simulate(scene, duration=0.1, h=H)
    name = names_of(scene)[0]
    assert before.linear_velocity(name)[-1, 0] < 1.9
    assert after.linear_velocity(name)[-1, 0] == pytest.approx(2.0, abs=1e-12)


def test_an_edit_by_a_callback_is_refused() -> None:
    scene = rough_sphere()
    with pytest.raises(sg.InputError, match="was edited"):
        sg.simulate(scene, duration=0.1, h=H, callback=lambda t, state: scene.set_contact(friction=0.0))


def test_what_the_command_line_reads_is_no_edit() -> None:
    scene = rough_sphere()
    simulator = sg.Simulator(scene, h=H)
    scene.simulate = {"h": 0.1}
    assert simulator.run(1) == 0


def test_numbers_of_bodies_cannot_be_changed_in_place() -> None:
    """Before there is a simulator they can; then it would not know."""
    scene = pendulum()
    body, joint = next(iter(scene.bodies.values())), next(iter(scene.joints.values()))
    body.velocity[:] = 0.0
    sg.Simulator(scene, h=H)
    for array in (body.position, body.velocity, body.inertia, joint.anchor, scene.gravity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(FrozenInstanceError):
        body.mass = 2.0  # type: ignore[misc]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda scene: pickle.loads(pickle.dumps(scene))])
def test_copies_of_scenes_are_scenes_of_their_own(copied: Callable[[sg.Scene], sg.Scene]) -> None:
    scene = stack(2)
    scene.exclude(*names_of(scene)[:2])
    scene.add_force(names_of(scene)[0], force=(1, 0, 0))
    simulator, other = sg.Simulator(scene, h=H), copied(scene)
    mine = sg.Simulator(other, h=H)
    other.forces.clear()
    assert simulator.run(1) == 0
    with pytest.raises(sg.InputError, match="was edited"):
        mine.run(1)
    assert len(scene.forces) == 1
    assert other.excluded == scene.excluded


def test_copies_of_simulators_know_their_scene() -> None:
    scene = rough_sphere()
    simulator = copy.copy(sg.Simulator(scene, h=H))
    assert simulator.run(1) == 0
    scene.set_contact(friction=0.0)
    with pytest.raises(sg.InputError, match="was edited"):
        simulator.run(1)


# --- the state -------------------------------------------------------------------------


def write(state: sg.State) -> None:
    state.v[-1] = 1.0


FORMULATIONS = pytest.mark.parametrize("formulation", [sg.MoreauJean(), sg.StewartTrinkle()], ids=["compiled", "not"])


@FORMULATIONS
def test_the_state_is_for_reading(formulation: Any) -> None:
    simulator = sg.Simulator(rough_sphere(), h=H, formulation=formulation)
    for state in (simulator.state, simulator.step().result.state if simulator.engine is None else simulator.state):
        for array in (state.q, state.v):
            with pytest.raises(ValueError, match="read-only"):
                array[-1] = 0.0
    copied = simulator.state.copy()
    write(copied)
    assert simulator.state.v[-1, 1] == 0.0


@FORMULATIONS
def test_callbacks_cannot_write_into_the_state(formulation: Any) -> None:
    with pytest.raises(ValueError, match="read-only"):
        sg.simulate(rough_sphere(), duration=0.1, h=H, formulation=formulation, callback=lambda t, state: write(state))


@FORMULATIONS
def test_forces_cannot_write_into_the_state(formulation: Any) -> None:
    scene = rough_sphere()

    def push(t: float, state: sg.State) -> tuple[float, float, float]:
        write(state)
        return (0.0, 0.0, 0.0)

    scene.add_force(names_of(scene)[0], force=push)
    with pytest.raises(ValueError, match="read-only"):
        sg.simulate(scene, duration=0.1, h=H, formulation=formulation)


@FORMULATIONS
def test_snapshots_may_be_written_into_and_restored(formulation: Any) -> None:
    simulator = sg.Simulator(rough_sphere(), h=H, formulation=formulation)
    snapshot = simulator.snapshot()
    snapshot.state.v[-1, :3] = (0.0, 3.0, 0.0)
    simulator.restore(snapshot)
    np.testing.assert_array_equal(simulator.state.v[-1, :3], (0.0, 3.0, 0.0))


def test_a_state_that_is_for_reading_can_be_looked_at() -> None:
    simulator = sg.Simulator(rough_sphere(), h=H)
    simulator.run(3)
    found = detect(simulator.model, simulator.state, np.ones(2))
    assert found.contact_count == 1
    assert sg.accelerations(simulator.model, simulator.state).status is sg.Status.SOLVED
