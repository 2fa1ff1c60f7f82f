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
