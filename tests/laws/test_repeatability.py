"""Same inputs, same bits; a restored snapshot and a resumed run continue as if nothing had happened."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from tests.scenes import BOTH, tumble

H, STEPS = 0.004, 120


def assert_same(a: sg.Trajectory, b: sg.Trajectory) -> None:
    """Every bit of motion, contacts and certificate agrees (times of day aside)."""
    np.testing.assert_array_equal(a.time, b.time)
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.v, b.v)
    for key, column in a.contact_log.to_dict().items():
        np.testing.assert_array_equal(column, b.contact_log.to_dict()[key])
    for key, column in a.certificate.to_dict().items():
        if key != "solve_time":
            np.testing.assert_array_equal(column, b.certificate.to_dict()[key])


@pytest.mark.parametrize("formulation", BOTH, ids=lambda f: type(f).__name__)
def test_two_runs_are_identical(formulation: sg.MoreauJean) -> None:
    runs = [sg.simulate(tumble(3), duration=STEPS * H, h=H, formulation=formulation) for _ in range(2)]
    assert_same(*runs)


@pytest.mark.parametrize("formulation", BOTH, ids=lambda f: type(f).__name__)
def test_snapshot_restored_twice_continues_bit_for_bit(formulation: sg.MoreauJean) -> None:
    sim = sg.Simulator(tumble(4), h=H, formulation=formulation)
    for _ in range(STEPS // 2):
        sim.step()
    snapshot = sim.snapshot()

    def finish() -> sg.State:
        for _ in range(STEPS // 2):
            sim.step()
        return sim.state

    first = finish()
    for _ in range(2):
        sim.restore(snapshot)
        again = finish()
        assert again.t == first.t
        np.testing.assert_array_equal(again.q, first.q)
        np.testing.assert_array_equal(again.v, first.v)


def test_snapshot_restored_in_another_simulator_continues_bit_for_bit() -> None:
    """State and memory together contain everything."""
    one, other = (sg.Simulator(tumble(4), h=H) for _ in range(2))
    for _ in range(STEPS // 2):
        one.step()
    other.restore(one.snapshot())
    for _ in range(20):
        one.step()
        other.step()
    np.testing.assert_array_equal(one.state.q, other.state.q)


def test_resumed_run_is_identical(tmp_path: Path) -> None:
    """A run stopped in the middle and resumed from its checkpoint gives the trajectory of the whole run."""
    whole = sg.simulate(tumble(5), duration=STEPS * H, h=H)

    def stop_half_way(t: float, state: sg.State) -> None:
        if t > 0.5 * STEPS * H:
            raise KeyboardInterrupt

    path = tmp_path / "run.h5"
    with pytest.raises(KeyboardInterrupt):
        sg.simulate(tumble(5), duration=STEPS * H, h=H, checkpoint=path, callback=stop_half_way)
    assert sg.Trajectory.load(path).step_count < STEPS
    assert_same(sg.resume(path), whole)


def test_saved_trajectory_is_identical(tmp_path: Path) -> None:
    trajectory = sg.simulate(tumble(6), duration=0.2, h=H)
    trajectory.save(tmp_path / "run.h5")
    loaded = sg.Trajectory.load(tmp_path / "run.h5")
    assert_same(loaded, trajectory)
    assert loaded.settings == trajectory.settings
    assert loaded.report() == trajectory.report()


def thrown(seed: int, *, joined: bool = False) -> sg.Scene:
    """Return one to three bodies that turn fast, thrown at a floor and a step, so that steps are posed again."""
    rng, scene = np.random.default_rng(seed), sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    if seed % 2:
        scene.add_fixed(sg.Box((1, 1, 1)), position=(0, 0, 0.5), name="step")
    shapes = (
        sg.Box((0.3, 0.2, 0.1)),
        sg.Cylinder(0.1, 0.3),
        sg.Superellipsoid((0.15, 0.1, 0.05), 8),
        sg.Capsule(0.05, 0.3),
    )
    places = []
    for i in range(1 + seed % 3):
        turned = rng.normal(size=4)
        turned /= np.linalg.norm(turned)
        shape = shapes[rng.integers(4)]
        places.append(np.array([rng.uniform(-0.6, 0.6), 0.5 * i, 1.3]))
        scene.add_body(
            shape,
            position=places[-1],
            orientation=turned,
            velocity=rng.normal(size=3) * 3,
            angular_velocity=rng.normal(size=3) * 30,
            name=f"body {i}",
        )
    if joined and len(places) > 1:
        scene.add_joint("spherical", "body 0", "body 1", anchor=0.5 * (places[0] + places[1]))
    scene.set_contact(friction=0.3)
    return scene


@pytest.mark.parametrize("joined", [False, True], ids=["alone", "joined"])
@pytest.mark.parametrize("seed", [8, 10, 11, 26, 38, 77, 86, 104, 121, 190, 297])
def test_how_many_steps_a_call_takes_does_not_matter(seed: int, *, joined: bool) -> None:
    """Nor whether there was room for the contacts of a step: one that begins again comes to the same."""
    scene = thrown(seed, joined=joined)
    one, many = sg.Simulator(scene, h=0.01), sg.Simulator(scene, h=0.01)
    many.run(60)
    other = sg.Simulator(scene, h=0.01)
    other.restore(many.snapshot())
    for sim in (many, other):
        sim.run(60)
    for _ in range(120):
        one.run(1)
    for sim in (many, other):
        np.testing.assert_array_equal(sim.state.q, one.state.q)
        np.testing.assert_array_equal(sim.state.v, one.state.v)
