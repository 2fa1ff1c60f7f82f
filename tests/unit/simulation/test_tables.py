"""Results for other programs: tables, a labelled dataset, a file that others open, and what two bodies do."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from signorini.errors import InputError

MU, G, V = 0.5, 9.81, 1.0
H = 0.01


def slide() -> sg.Trajectory:
    """A cube slides on a floor by its momentum until friction stops it, at V/(mu g) = 0.204 s."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((0.2, 0.2, 0.02)), mass=2.0, position=(0, 0, 0.01), velocity=(V, 0, 0), name="box")
    scene.set_contact(friction=MU)
    return sg.simulate(scene, duration=0.4, h=H)


@pytest.fixture(scope="module")
def run() -> sg.Trajectory:
    return slide()


def test_a_sliding_box_feels_coulombs_law(run: sg.Trajectory) -> None:
    """While it slides: normal force m g, friction mu m g against the slip."""
    record = run.contact("floor", "box")
    assert record.normal_force == pytest.approx(np.full(40, 2.0 * G), rel=1e-6)
    assert record.friction_force[:19, 0] == pytest.approx(np.full(19, -MU * 2.0 * G), rel=1e-6)
    assert record.force == pytest.approx(record.friction_force + np.array([0, 0, 2.0 * G]), rel=1e-6, abs=1e-6)
    assert record.slip[:19, 0] == pytest.approx(V - MU * G * H * np.arange(1, 20), rel=1e-6)


def test_the_pair_slips_until_friction_has_taken_its_momentum(run: sg.Trajectory) -> None:
    """v(t) = V - mu g t vanishes within the step that contains V/(mu g)."""
    stop = H * np.ceil(V / (MU * G) / H)
    slip, stick = run.contact("floor", "box").intervals("slip"), run.contact("floor", "box").intervals("stick")
    assert slip.shape == stick.shape == (1, 2)
    assert slip[0, 0] == 0.0
    assert stop - 1.01 * H <= slip[0, 1] == stick[0, 0] <= stop + 1e-9
    assert stick[0, 1] == pytest.approx(0.4)
    assert run.contact("floor", "box").intervals("separating").shape == (0, 2)


def test_the_other_way_round_forces_change_their_sign(run: sg.Trajectory) -> None:
    one, other = run.contact("floor", "box"), run.contact("box", "floor")
    assert np.array_equal(one.force, -other.force)
    assert np.array_equal(one.slip, -other.slip)
    assert np.array_equal(one.normal_force, other.normal_force)


def test_what_is_asked_wrongly_is_said(run: sg.Trajectory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'slip'"):
        run.contact("floor", "box").intervals("slipp")
    with pytest.raises(InputError, match="must be two"):
        run.contact("box", "box")
    with pytest.raises(InputError, match="did you mean 'motion'"):
        run.to_csv(tmp_path / "x.csv", "motions")


def test_csv_has_every_digit(run: sg.Trajectory, tmp_path: Path) -> None:
    run.to_csv(tmp_path / "motion.csv")
    with (tmp_path / "motion.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for word, column in (("x", run.position("box")[:, 0]), ("vx", run.linear_velocity("box")[:, 0])):
        assert np.array_equal([float(row[f"box.{word}"]) for row in rows], column)
    assert np.array_equal([float(row["box.qw"]) for row in rows], run.orientation("box")[:, 0])


def test_csv_of_contacts_adds_up(run: sg.Trajectory, tmp_path: Path) -> None:
    """The impulses of each step carry the weight: their sum is m g h."""
    run.to_csv(tmp_path / "contacts.csv", "contacts")
    with (tmp_path / "contacts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(row["body_a"], row["body_b"]) for row in rows} == {("floor", "box")}
    assert {row["mode"] for row in rows if row["step"] == "3"} == {"slip"}
    total = np.zeros(40)
    for row in rows:
        total[int(row["step"])] += float(row["impulse.z"])
    assert total == pytest.approx(np.full(40, 2.0 * G * H), rel=1e-6)


@pytest.mark.parametrize("what", ["motion", "joints", "energy", "certificate", "contacts"])
def test_every_table_has_columns_of_one_length(run: sg.Trajectory, what: str, tmp_path: Path) -> None:
    run.to_csv(tmp_path / "table.csv", what)
    with (tmp_path / "table.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len({len(row) for row in rows}) == 1
    assert "time" in rows[0]
    assert len(rows) > 40


def test_pandas_and_xarray_say_the_same(run: sg.Trajectory) -> None:
    pytest.importorskip("pandas", reason="pandas is not among the extras of the tests")
    pytest.importorskip("xarray", reason="xarray is not among the extras of the tests")
    frame, dataset = run.to_pandas(), run.to_xarray()
    assert np.array_equal(frame["box.x"], run.position("box")[:, 0])
    assert np.array_equal(dataset.position.sel(body="box", axis="x"), run.position("box")[:, 0])
    assert np.array_equal(dataset.energy_kinetic, run.energy().kinetic)
    assert dataset.position.attrs["units"] == "m"
    assert dataset.sizes["contact"] == len(run.to_pandas("contacts"))


def test_positions_in_the_dataset_are_those_of_the_body_frames() -> None:
    """Not of mass centres, where these differ: here by 0.3 m along the body's x, which turns."""
    pytest.importorskip("xarray", reason="xarray is not among the extras of the tests")
    scene = sg.Scene(gravity=(0, 0, 0))
    shape = sg.Sphere(0.1).at((0.3, 0, 0))
    scene.add_body(shape, mass=1.0, position=(0, 0, 0), angular_velocity=(0, 0, 1.0), name="body")
    dataset = sg.simulate(scene, duration=0.1, h=0.05).to_xarray()
    apart = (dataset.centre - dataset.position).sel(body="body")
    angle = np.array([0.0, 0.05, 0.1])
    assert apart.sel(axis="x").values == pytest.approx(0.3 * np.cos(angle), abs=1e-9)
    assert apart.sel(axis="y").values == pytest.approx(0.3 * np.sin(angle), abs=1e-9)


_STRANGER = """
import sys
sys.modules["signorini"] = None  # as on a machine without it: whoever imports it fails
import warnings
warnings.simplefilter("error")
import xarray
dataset = xarray.open_dataset(sys.argv[1], engine="h5netcdf")
print(dict(dataset.sizes), float(dataset.q.sel(names="box")[-1, 0]), dataset.kinetic.attrs["units"])
contacts = xarray.open_dataset(sys.argv[1], engine="h5netcdf", group="contacts")
print(contacts.sizes["contact"], float(contacts.impulse[:, 0].sum()))
"""


def test_others_open_the_file_by_names(run: sg.Trajectory, tmp_path: Path) -> None:
    """By xarray, in a process that cannot import this library, with dimensions, labels and units."""
    for package in ("xarray", "h5netcdf"):
        pytest.importorskip(package, reason=f"{package} is not among the extras of the tests")
    run.save(tmp_path / "run.h5")
    command = [sys.executable, "-c", _STRANGER, str(tmp_path / "run.h5")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    root, contacts = found.stdout.splitlines()
    assert "'time': 41" in root
    assert "'names': 2" in root
    assert root.endswith(f"{run.centre('box')[-1, 0]} J")
    assert contacts.startswith(f"{run.contact_log.gap.size} ")


def test_named_dimensions_add_nothing_to_the_tree(run: sg.Trajectory, tmp_path: Path) -> None:
    run.save(tmp_path / "run.h5")
    again = sg.Trajectory.load(tmp_path / "run.h5")
    np.testing.assert_equal(again.tree(), run.tree())
