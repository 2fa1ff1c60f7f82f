"""Runs with layers that are killed, saved, read and loaded by other versions."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import signorini as sg
from signorini.io import write_tree
from tests.unit.simulation.test_open_rooms import same

H, STEPS = 1e-3, 60
ROOT = Path(__file__).resolve().parents[3]
KILLED = """
import os, signal, sys
import signorini as sg
from signorini.io import write_tree
from tests.unit.simulation import test_layered_runs as here
loop = sys.modules["signorini.simulation.simulate"]
loop._CHECKPOINT_EVERY = loop._CHECKPOINT_SHARE = 0.0
def stop(t, state):
    if t > float(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
here.run(checkpoint=sys.argv[1], callback=stop)
"""


def scene(thickness: float) -> sg.Scene:
    """An egg that hits a soft floor askew, and flies off while the layer relaxes slowly."""
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(
        sg.Ellipsoid((0.2, 0.15, 0.1)),
        mass=1.0,
        position=(0, 0, 0.14),
        orientation=(np.cos(0.2), 0, np.sin(0.2), 0),
        velocity=(0.3, 0, -2),
        angular_velocity=(1, 2, 3),
        name="egg",
    )
    made.set_contact(friction=0.4, ellipsoid=(1.0, 0.7, 0.02))
    made.set_layer("floor", stiffness=(8e3, 5e3, 4e3), damping=(60.0, 50.0, 40.0), max_deflection=thickness)
    return made


def run(thickness: float = 0.015, **options: Any) -> sg.Trajectory:
    return sg.simulate(
        scene(thickness), duration=STEPS * H, h=H, formulation=sg.QuasiRigid(), tolerance=1e-10, **options
    )


def test_a_killed_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """Once while the layer is pressed, once in free flight while it relaxes."""
    whole = run()
    layer = whole.layer("floor", "egg")
    pressed = layer.spring[:, 0] > 0.0
    relaxing = ~pressed & (layer.deflection[1:, 0] > 1e-4)
    assert pressed.any()
    assert relaxing.any()
    for name, when in (("pressed", pressed), ("relaxing", relaxing)):
        path, step = tmp_path / f"{name}.h5", int(np.flatnonzero(when)[1])
        words = [sys.executable, "-c", KILLED, str(path), str((step + 0.5) * H)]
        killed = subprocess.run(words, cwd=ROOT, check=False)
        assert killed.returncode == -signal.SIGKILL
        past = sg.Trajectory.load(path)
        assert past.time.size < whole.time.size
        assert np.asarray(past.memory["deflection"]).max() > 1e-4
        assert (np.asarray(past.memory["impulse"]).max() > 0.0) == (name == "pressed")
        same(sg.resume(path), whole)
        same(sg.Trajectory.load(path), whole)


def test_files_keep_what_layers_did(tmp_path: Path) -> None:
    """Deflection, impulses of springs and core, couples; of a step's contacts and of the pair."""
    whole = run(0.008)  # which is compressed to its core
    whole.save(tmp_path / "run.h5")
    again = sg.Trajectory.load(tmp_path / "run.h5")
    one, other = (x.layer("floor", "egg") for x in (whole, again))
    for word in ("deflection", "spring", "core", "couple"):
        np.testing.assert_array_equal(getattr(one, word), getattr(other, word))
        assert np.abs(getattr(one, word)).max() > 0.0
    assert one.deflection.shape == (STEPS + 1, 3)
    assert one.spring.shape == (STEPS, 3)
    assert one.core.shape == one.couple.shape == (STEPS,)
    hardest = int(np.argmax(one.core))
    table = again.contacts(hardest)
    assert table.core_impulse[0] == one.core[hardest]
    assert table.deflection[0, 0] == one.deflection[hardest + 1, 0] == 0.008
    np.testing.assert_allclose(table.couple[0], one.couple[hardest] * table.normal[0], atol=1e-15)
    assert table.normal_impulse[0] == one.core[hardest] + one.spring[hardest, 0]


def test_files_without_these_columns_still_load(tmp_path: Path) -> None:
    """As those of versions that knew no layers: contacts have no deflection, the certificate no word of layers."""
    whole = run()
    tree = whole.tree()
    for group, words in (("contacts", ("deflection", "core_impulse", "couple")), ("certificate", ("layered",))):
        for word in words:
            del tree[group][word]
    del tree["layers"]
    write_tree(tmp_path / "old.h5", tree)
    old = sg.Trajectory.load(tmp_path / "old.h5")
    np.testing.assert_array_equal(old.q, whole.q)
    assert not old.certificate.layered.any()
    assert not old.contacts(10).deflection.any()


def test_layers_of_recorded_states_are_those_of_the_whole_run() -> None:
    whole, part = run().layer("floor", "egg"), run(record={"every": 3}).layer("floor", "egg")
    assert whole.deflection.any()
    assert np.array_equal(part.deflection, whole.deflection[::3])
    assert np.array_equal(part.spring, whole.spring[2::3])
