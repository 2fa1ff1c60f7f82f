"""A record of part of a run holds what the whole one holds there, and is judged as the whole one is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.audit import audit_file
from signorini.errors import FileError, InputError
from tests.unit.simulation.test_recording import STEPS, H, Killed, after, loop, run, same, scene

K = 4
PART: dict[str, Any] = {"every": K, "bodies": ["ball"], "contacts": True}


@pytest.fixture(scope="module")
def whole() -> sg.Trajectory:
    return run()


@pytest.fixture(scope="module")
def part() -> sg.Trajectory:
    return run(record=PART)


def test_every_kth_state_is_that_of_the_whole_run(whole: sg.Trajectory, part: sg.Trajectory) -> None:
    assert part.recorded == ("floor", "ball")
    assert np.array_equal(part.time, whole.time[::K])
    for read in (sg.Trajectory.position, sg.Trajectory.angular_velocity, sg.Trajectory.orientation):
        assert np.array_equal(read(part, "ball"), read(whole, "ball")[::K])
    assert np.array_equal(part.joint("spring").coordinate, whole.joint("spring").coordinate[::K])
    assert np.array_equal(part.joint("spring").effort, whole.joint("spring").effort[K - 1 :: K])
    with pytest.raises(InputError, match="'box' was not recorded"):
        part.position("box")


def test_certificate_and_energies_know_of_every_step(whole: sg.Trajectory, part: sg.Trajectory) -> None:
    assert part.step_count == whole.step_count == STEPS
    assert np.array_equal(part.certificate.residual, whole.certificate.residual)
    assert part.verdict == whole.verdict
    assert part.remarks() == whole.remarks()
    for name in ("kinetic", "elastic", "friction", "impact", "error"):
        assert np.array_equal(getattr(part.energy(), name), getattr(whole.energy(), name)[::K]), name
    assert len(part.plot().axes) == 6


def test_contacts_of_recorded_steps_are_those_of_the_whole_run() -> None:
    """Of pairs with a chosen body; `contact` reads them as forces of single steps."""
    whole, part = run(), run(record={"every": K, "bodies": ["box"]})
    assert part.contact_log.start.size == part.time.size
    for k in range(part.time.size - 1):
        ours, theirs = part.contacts(k), whole.contacts(K * (k + 1) - 1)
        assert ours.bodies == theirs.bodies
        assert np.array_equal(ours.normal_impulse, theirs.normal_impulse)
    force, all_forces = part.contact("floor", "box").force, whole.contact("floor", "box").force
    assert all_forces.any()
    assert force == pytest.approx(all_forces[K - 1 :: K], rel=1e-12)


def test_a_body_that_was_not_chosen_leaves_no_contacts() -> None:
    part = run(record={"bodies": ["ball"]})
    assert part.contact_log.gap.size == 0  # only the box touches the floor
    assert part.contact_log.start.size == STEPS + 1


def test_no_contacts_and_every_kth_step() -> None:
    part = run(record={"every": K, "contacts": False})
    with pytest.raises(InputError, match="without contacts"):
        part.contact("floor", "box")
    assert part.settings["record"] == "motion"


def test_a_part_comes_back_from_its_file(part: sg.Trajectory, tmp_path: Path) -> None:
    part.save(tmp_path / "part.h5")
    same(sg.Trajectory.load(tmp_path / "part.h5"), part)


def test_a_killed_run_of_which_part_is_recorded_goes_on_bit_for_bit(
    part: sg.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "_CHECKPOINT_EVERY", 0.0)
    monkeypatch.setattr(loop, "_CHECKPOINT_SHARE", 0.0)
    path = tmp_path / "run.h5"
    for stop in (10, 23):  # between recorded states, and after a resumption
        with pytest.raises(Killed):
            if stop == 10:
                run(record=PART, checkpoint=path, callback=after(stop, Killed()))
            else:
                sg.resume(path, callback=after(stop, Killed()))
    same(sg.resume(path), part)
    same(sg.Trajectory.load(path), part)


def test_a_part_takes_no_more_memory_than_it_holds(part: sg.Trajectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are put together, and thinned, however few there are at once."""
    monkeypatch.setattr("signorini.simulation.recorder._MOST_LOOSE_NUMBERS", 1)
    same(run(record=PART), part)


def test_the_audit_refuses_a_part(part: sg.Trajectory, tmp_path: Path) -> None:
    part.save(tmp_path / "part.h5")
    with pytest.raises(FileError, match="only part of the run was recorded"):
        audit_file(tmp_path / "part.h5")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("nothing", "must be 'all', 'motion' or words of"),
        ({"evry": 3}, "did you mean 'every'"),
        ({"every": 0}, "whole number >= 1"),
        ({"every": 1.5}, "whole number >= 1"),
        ({"bodies": "ball"}, "must be a list of names"),
        ({"bodies": ["bell"]}, "no body is called 'bell'"),
    ],
)
def test_what_cannot_be_recorded_is_refused(record: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        sg.simulate(scene(), duration=H, h=H, record=record)
