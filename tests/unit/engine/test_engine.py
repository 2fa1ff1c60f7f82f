"""The compiled step: the same motion whoever solves it, by islands, log and all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.engine import arrays as ea
from signorini.engine.contacts import find_islands
from signorini.formulations import Engine
from tests.scenes import stack


def tumbling() -> sg.Scene:
    """Return three bodies that fall apart from each other, one of them spinning, on a rough floor."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((0.4, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.3), angular_velocity=(3, 1, 2), name="box")
    scene.add_body(sg.Sphere(0.2), mass=1.0, position=(2, 0, 0.2), velocity=(1, 0, 0), name="ball")
    scene.add_body(sg.Capsule(0.1, 0.4), mass=1.0, position=(4, 0, 0.5), velocity=(0, 1, -1), name="capsule")
    scene.set_contact(friction=0.4)
    return scene


def test_a_named_solver_gives_the_same_motion() -> None:
    """It is asked between the stages; both solve to 1e-12, from the same states.

    Where Coulomb's law leaves the velocities open, each solves the problem of the other.
    """
    own = sg.Simulator(tumbling(), h=0.005, tolerance=1e-12)
    named = sg.Simulator(tumbling(), h=0.005, tolerance=1e-12, formulation=sg.MoreauJean(solver=sg.FrictionAuto()))
    compared = 0
    for _ in range(60):
        named.restore(own.snapshot())
        one, other = own.step(), named.step()
        if np.abs(own.state.q - named.state.q).max() > 1e-9:
            assert one.result.problem.residual(other.result.solution.z) <= 1e-11
            assert other.result.problem.residual(one.result.solution.z) <= 1e-11
        else:
            compared += 1
    assert compared > 30


def test_a_single_step_of_the_formulation_is_that_of_a_run() -> None:
    """Law: :meth:`MoreauJean.step` and the simulator take one and the same step."""
    simulator = sg.Simulator(tumbling(), h=0.005)
    simulator.run(30)
    model, then = simulator.model, simulator.snapshot()
    simulator.run(1)
    formulation = sg.MoreauJean()
    contacts = formulation.detect(model, then.state, 0.005)
    result = formulation.step(model, then.state, contacts, then.memory, 0.005, tolerance=simulator.tolerance)
    np.testing.assert_array_equal(result.state.v, simulator.state.v)
    np.testing.assert_array_equal(result.state.q, simulator.state.q)


def test_steps_of_the_formulation_share_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made anew for another model, step size or tolerance, and for another formulation."""
    made, formulation, model = [], sg.MoreauJean(), sg.Simulator(tumbling(), h=0.005).model

    def counted(*arguments: Any) -> Engine:
        made.append(arguments)
        return Engine(*arguments)

    monkeypatch.setattr("signorini.formulations.moreau_jean.Engine", counted)
    state, memory = formulation.init(model, model.initial_state)
    for h, who in (
        (0.005, formulation),
        (0.005, formulation),
        (0.004, formulation),
        (0.004, sg.MoreauJean(compliance=0)),
    ):
        contacts = who.detect(model, state, h)
        result = who.step(model, state, contacts, memory, h, tolerance=1e-10)
        assert result.state.t == h
    assert len(made) == 3


@pytest.mark.parametrize("scene", [tumbling, lambda: stack(4)], ids=["tumbling", "stack"])
def test_residual_of_the_compiled_step_is_that_of_the_problem(scene: object) -> None:
    """The problem is posed again by other code, from the state before the step; its residual is that reported."""
    simulator = sg.Simulator(scene(), h=0.005, tolerance=1e-9)  # type: ignore[operator]
    for _ in range(40):
        report = simulator.step()
        again = report.result.problem.residual(report.result.solution.z)
        assert again == pytest.approx(report.residual, rel=1e-3, abs=1e-13)
        assert report.certificate.energy_error < 1e-13


def test_many_steps_at_once_are_the_same_as_one_by_one() -> None:
    one, many = (sg.Simulator(tumbling(), h=0.005) for _ in range(2))
    for _ in range(50):
        one.run(1)
    many.run(50)
    np.testing.assert_array_equal(one.state.q, many.state.q)
    np.testing.assert_array_equal(one.memory.impulse, many.memory.impulse)
    assert one.step_count == many.step_count == 50


def test_steps_are_logged_as_they_are_reported() -> None:
    """A trajectory from the log of compiled runs holds what single steps report."""
    trajectory = sg.simulate(tumbling(), duration=0.2, h=0.005)
    simulator = sg.Simulator(tumbling(), h=0.005)
    for l in range(40):
        report = simulator.step()
        np.testing.assert_array_equal(trajectory.q[l + 1], simulator.state.q)
        assert trajectory.certificate.residual[l] == report.residual
        assert trajectory.certificate.min_gap[l] == report.certificate.min_gap
        table = trajectory.contacts(l)
        np.testing.assert_array_equal(table.normal_impulse, report.contacts.normal_impulse)
        assert table.mode == report.contacts.mode


def test_controls_last_one_step() -> None:
    simulator = sg.Simulator(tumbling(), h=0.01)
    simulator.step(controls={"capsule": (0, 0, 100.0, 0, 0, 0)})
    v = simulator.state.v[-1, 2]
    assert v == pytest.approx(-1.0 + 0.01 * (100.0 - 9.81), abs=1e-12)
    simulator.step()
    assert simulator.state.v[-1, 2] == pytest.approx(v - 0.01 * 9.81, abs=1e-12)


@pytest.mark.kernels
def test_islands_of_a_chain_and_a_pair() -> None:
    """Bodies 1-2-3 hang together, 4-5 as well, 6 lies on the fixed body 0 alone."""
    pairs = [(0, 6), (1, 2), (2, 3), (4, 5), (0, 1), (0, 4)]
    index = np.array([(a, b, c, 0) for c, (a, b) in enumerate(pairs)])
    place, island = np.ones((7, 4), dtype=np.int64), np.zeros((7, ea.ISLAND_COLUMNS), dtype=np.int64)
    order, position = np.zeros(6, dtype=np.int64), np.zeros(6, dtype=np.int64)
    count, active = find_islands(6, index, 1, place, island, order, position)
    assert (count, active) == (3, 6)
    groups = [set(order[first : first + contacts]) for contacts, _, first, _ in island[:count, :4]]
    assert groups == [{0}, {1, 2, 4}, {3, 5}]
    assert island[:count, 1].tolist() == [1, 3, 2]
    np.testing.assert_array_equal(position[order], np.arange(6))
    place[:, ea.AWAKE] = (0, 0, 0, 0, 0, 1, 0)  # only body 5 is awake
    count, active = find_islands(6, index, 1, place, island, order, position)
    assert (count, active) == (1, 2)
    groups = [set(order[first : first + contacts]) for contacts, _, first, _ in island[:3, :4]]
    assert groups == [{3, 5}, {0}, {1, 2, 4}]


def test_loads_that_are_functions_are_asked_in_every_step() -> None:
    """Without contacts the velocity is the sum of the impulses, each taken at the start of its step."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=2.0, position=(0, 0, 5), name="ball")
    scene.add_force("ball", force=lambda t, state: (np.sin(3.0 * t), t, 0.0))
    simulator = sg.Simulator(scene, h=0.01)
    simulator.run(30)
    t = 0.01 * np.arange(30)
    expected = 0.01 / 2.0 * np.array([np.sin(3.0 * t).sum(), t.sum(), 0.0])
    np.testing.assert_allclose(simulator.state.v[0, :3], expected, rtol=1e-12)


def test_bodies_that_meet_in_flight_keep_momentum_and_angular_momentum() -> None:
    """The impulse acts on both at one point, also across a gap that is not closed yet."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0), angular_velocity=(0, 20, 5), name="a")
    scene.add_body(sg.Sphere(0.3), mass=0.3, position=(0.4, 0.2, 0.9), velocity=(0, 1.0, -9.0), name="b")
    scene.set_contact(friction=0.7, restitution=0.5)
    trajectory = sg.simulate(scene, duration=0.1, h=0.01)
    assert np.abs(np.diff(trajectory.v[:, 0, :3], axis=0)).max() > 1.0  # they do meet
    momentum, spin = [], []
    for q, v in zip(trajectory.q, trajectory.v, strict=True):
        m = np.array([1.0, 0.3])
        I = 0.4 * m * np.array([0.5, 0.3]) ** 2
        momentum.append(m @ v[:, :3])
        spin.append((np.cross(q[:, :3], m[:, None] * v[:, :3]) + I[:, None] * v[:, 3:]).sum(axis=0))
    np.testing.assert_allclose(momentum, momentum[:1] * 11, atol=1e-13)
    np.testing.assert_allclose(spin, spin[:1] * 11, atol=1e-13)


def test_an_overlap_is_taken_back_without_speed() -> None:
    """A ball 1 cm deep in the floor, without gravity, comes out and stays at rest; nothing is thrown."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(1.0), mass=1.0, position=(0, 0, 0.99), name="ball")
    trajectory = sg.simulate(scene, duration=1.0, h=0.01)
    assert np.abs(trajectory.v).max() == 0.0
    assert -1e-6 <= trajectory.certificate.min_gap[-1] <= 0.0
    assert np.all(np.diff(trajectory.certificate.min_gap) >= 0.0)


def test_lifting_out_of_an_overlap_is_the_correction_work() -> None:
    """With gravity the work of lifting is m g times the way, and nothing else raises the energy."""
    scene = sg.Scene(gravity=(0, 0, -10.0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(1.0), mass=2.0, position=(0, 0, 0.99), name="ball")
    trajectory = sg.simulate(scene, duration=0.5, h=0.01)
    lifted = trajectory.position("ball")[-1, 2] - 0.99
    assert lifted == pytest.approx(0.01, abs=1e-6)
    assert trajectory.certificate.correction_work.sum() == pytest.approx(2.0 * 10.0 * lifted, rel=1e-9)
    assert trajectory.certificate.energy_error.max() < 1e-15


def test_arrays_grow_with_the_contacts() -> None:
    """Thirty balls fall on the floor at once: more contacts than there is room for at first."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for i in range(30):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0.3 * i, 0, 0.2), name=f"ball{i}")
    simulator = sg.Simulator(scene, h=0.01)
    assert simulator.run(40) == 0
    assert simulator.engine is not None
    assert simulator.engine.contact_count == 30
    np.testing.assert_allclose(simulator.state.q[1:, 2], 0.1, atol=1e-7)
    assert simulator.engine.check[ea.RESIDUAL] <= 1e-6


@pytest.mark.parametrize("law", ["passive", "poisson"])
def test_a_step_that_makes_room_for_more_contacts_is_still_known(law: str) -> None:
    """Boxes land beside one that rests: what a step says of itself holds also where its look ahead finds many more."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(7):
        scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(3 * k, 0, 0.5 if k == 0 else 0.55))
    scene.set_contact(friction=0.5)
    simulator = sg.Simulator(scene, h=0.005, formulation=sg.MoreauJean(restitution_law=law))
    engine, capacities = simulator.engine, set()
    assert engine is not None
    for _ in range(30):
        report = simulator.step()
        capacities.add(engine.arena[ea.P].shape[0])
        assert report.result.posed.residual() <= 1e-6
    assert len(capacities) > 1, "room was made"


def test_problems_that_are_not_finite_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a motion that has exploded at speeds that are numbers yet: no mistake of the user's."""
    simulator = sg.Simulator(stack(2), h=0.005)
    simulator.step()
    engine = simulator.engine
    assert engine is not None
    monkeypatch.setattr(engine, "_law", lambda rows: (np.zeros((rows.size, 3)), np.full((rows.size, 3), np.nan)))
    monkeypatch.setattr(engine, "run", lambda _: engine._rescue())
    with pytest.raises(sg.SolverFailure, match="leave the range of numbers"):
        simulator.run(1)


def test_least_impulses_that_hold_are_not_sought_again() -> None:
    """A box slides over ice: four equal impulses, found once; after that the robust solver is owed nothing."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace())
    scene.add_body(sg.Box((1.0, 1.0, 1.0)), mass=1.0, position=(0, 0, 0.5), velocity=(1, 0, 0))
    scene.set_contact(friction=0.0)
    simulator = sg.Simulator(scene, h=0.01)
    simulator.run(20)
    memory = simulator.memory
    np.testing.assert_allclose(memory.impulse[:, 0], 9.81 * 0.01 / 4.0, rtol=1e-9)
    assert memory.softness[:, ea.FILL].min() > 0.0  # it was asked
    assert memory.softness[:, ea.DEBT].max() == 0.0
