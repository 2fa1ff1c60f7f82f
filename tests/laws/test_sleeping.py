"""Bodies at rest sleep until something happens to them, and wake as they fell asleep."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg

H = 0.005


def two_stacks(**motion: object) -> sg.Scene:
    """Return two stacks of two boxes on plates, far from each other; the left plate may move."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    for side, x in (("left", 0.0), ("right", 5.0)):
        where = motion if motion and x == 0.0 else {"position": (x, 0, -0.5)}
        scene.add_fixed(sg.Box((2, 2, 1)), name=f"{side} plate", **where)
        for k in range(2):
            scene.add_body(
                sg.Box((0.5, 0.5, 0.5)),
                mass=1.0,
                position=(x, 0, 0.25 + 0.5 * k),
                orientation=(np.cos(0.7 + k), 0.0, 0.0, np.sin(0.7 + k)),
                name=f"{side} {k}",
            )
    scene.set_contact(friction=0.5)
    return scene


def simulator(scene: sg.Scene, *, sleeping: bool = True) -> sg.Simulator:
    return sg.Simulator(scene, h=H, formulation=sg.MoreauJean(sleeping=sleeping))


def slept(scene: sg.Scene, steps: int = 200) -> sg.Simulator:
    """Return a simulator after so many steps, with all four boxes asleep."""
    simulation = simulator(scene)
    assert simulation.run(steps - 1) == 0
    assert simulation.step().certificate.asleep == 4
    return simulation


def test_bodies_that_sleep_do_not_move_by_a_bit_and_energy_is_accounted_for() -> None:
    trajectory = sg.simulate(two_stacks(), duration=1.5, h=H, formulation=sg.MoreauJean(sleeping=True))
    asleep = trajectory.certificate.asleep
    assert asleep[:99].max() == 0
    assert asleep[-100:].min() == 4
    assert (trajectory.q[-100:] == trajectory.q[-1]).all()
    assert (trajectory.v[-100:] == 0.0).all()
    assert trajectory.certificate.energy_error.max() < 1e-13
    assert {str(mode) for mode in trajectory.contacts(-1).mode} == {"stick"}
    weight = trajectory.contacts(-1).normal_impulse.sum() / (9.81 * H)
    assert weight == pytest.approx(2 * (2.0 + 1.0), rel=1e-5)  # each plate bears two boxes, each lower box one


def test_waking_is_going_on_bit_for_bit() -> None:
    """A kick wakes one stack; from there on it moves as if it had never slept, the other stack sleeps on."""
    sleeper, plain = slept(two_stacks()), simulator(two_stacks(), sleeping=False)
    sleeper.run(50)
    plain.restore(sleeper.snapshot())
    kick = {"left 1": (40.0, 0, 0, 0, 0, 0)}
    assert sleeper.step(controls=kick).certificate.asleep == 2
    plain.step(controls=kick)
    for _ in range(30):
        sleeper.run(1)
        plain.run(1)
        for name in ("left 0", "left 1"):
            b = sleeper.model.index(name)
            np.testing.assert_array_equal(sleeper.state.q[b], plain.state.q[b])
    assert sleeper.state.q[b, 0] > 1e-4


def test_a_snapshot_of_sleepers_goes_on_bit_for_bit() -> None:
    first = slept(two_stacks())
    second = simulator(two_stacks())
    second.restore(first.snapshot())
    assert second.step().certificate.asleep == first.step().certificate.asleep == 4
    np.testing.assert_array_equal(first.state.q, second.state.q)
    np.testing.assert_array_equal(first.memory.impulse, second.memory.impulse)


def test_a_body_that_comes_near_wakes_what_it_will_touch() -> None:
    scene = two_stacks()
    scene.add_body(sg.Sphere(0.1), mass=0.5, position=(5.0, 0, 6.2), name="ball")  # a fall of one second
    simulation = simulator(scene)
    counts = [simulation.step().certificate.asleep for _ in range(220)]
    fall = np.sqrt(2 * (6.2 - 1.1) / 9.81) / H
    woken = next(l for l in range(150, 220) if counts[l] == 2)
    assert counts[150] == 4
    assert fall - 2 <= woken <= fall + 1
    assert simulation.state.v[simulation.model.index("left 0")].any() == 0


def test_a_load_that_changes_wakes() -> None:
    scene = two_stacks()
    scene.add_force("right 1", force=lambda t, state: (0.0, 0.0, 0.0) if t < 1.1975 else (20.0, 0.0, 0.0))
    simulation = slept(scene, 230)
    woken = [simulation.step().certificate.asleep for _ in range(20)]
    assert woken == [4] * 10 + [2] * 10
    assert simulation.state.v[simulation.model.index("right 1"), 0] > 0.1


def test_a_plate_that_moves_wakes_what_lies_on_it() -> None:
    """At a tenth of gravity the boxes go with the plate."""
    scene = two_stacks(motion=lambda t: (0.5 * max(0.0, t - 1.2) ** 2, 0.0, -0.5))
    simulation = slept(scene, 230)
    counts = [simulation.step().certificate.asleep for _ in range(30)]
    assert counts[:10] == [4] * 10
    assert counts[-1] == 2
    lower, upper = (simulation.model.index(f"left {k}") for k in range(2))
    assert simulation.state.v[lower, 0] == pytest.approx(20 * H, rel=0.05)
    assert simulation.state.v[upper, 0] == pytest.approx(20 * H, rel=0.05)


def test_sleep_is_refused_where_it_is_not_built() -> None:
    with pytest.raises(sg.InputError, match="sleeping is True, must be False"):
        sg.Simulator(two_stacks(), h=H, formulation=sg.MoreauJean(sleeping=True, theta=0.5))


def test_an_orientation_that_is_not_quite_of_unit_length_stays_as_it_is() -> None:
    simulation = slept(two_stacks())
    sleeping = simulation.snapshot()
    b = simulation.model.index("left 0")
    sleeping.state.q[b, 3:] *= 1.0 + 1e-15
    simulation.restore(sleeping)
    assert simulation.step().certificate.asleep == 4
    np.testing.assert_array_equal(simulation.state.q, sleeping.state.q)
