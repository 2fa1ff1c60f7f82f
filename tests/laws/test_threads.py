"""Results do not depend on the number of threads, to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from signorini import _team
from signorini.engine import arrays as ea
from signorini.simulation.simulator import Snapshot
from tests.laws.test_repeatability import assert_same

H, STEPS = 0.004, 50
R = 0.05


def pile() -> sg.Scene:
    """Return 20 x 6 x 5 spheres, some of other sizes, that touch each other, shaken, under a long rod."""
    rng = np.random.default_rng(7)
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, (normal, offset) in enumerate(
        [((1, 0, 0), 0.0), ((-1, 0, 0), -41 * R), ((0, 1, 0), 0.0), ((0, -1, 0), -12.5 * R)]
    ):
        scene.add_fixed(sg.HalfSpace(normal=normal, offset=offset), name=f"wall{k}")
    for cell in np.ndindex(20, 6, 5):
        radius = R * (1.0 if rng.random() < 0.7 else 0.9)
        x = (np.array(cell) + 0.5) * 2.0 * R
        scene.add_body(sg.Sphere(radius), density=1000.0, position=x, velocity=0.3 * rng.standard_normal(3))
    along = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    rod = sg.Capsule(radius=R, length=30 * R)
    scene.add_body(rod, density=500.0, position=(20 * R, 6 * R, 11 * R), orientation=along, name="rod")
    scene.set_contact(friction=0.4)
    return scene


def pyramids() -> sg.Scene:
    """Return many pyramids of five spheres, and one island large enough to be shared, shaken."""
    rng = np.random.default_rng(3)
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for cell in np.ndindex(10, 6):
        for corner in ((-1, -1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, 1), (0, 0, 1 + np.sqrt(2))):
            x = (np.array([10 * cell[0], 10 * cell[1] + 100, 0]) + corner) * R
            scene.add_body(sg.Sphere(R), density=1000.0, position=x, velocity=0.05 * rng.standard_normal(3))
    for cell in np.ndindex(24, 7, 3):
        x = (np.array(cell) + 0.5) * 2.0 * R
        scene.add_body(sg.Sphere(R), density=1000.0, position=x, velocity=0.1 * rng.standard_normal(3))
    scene.set_contact(friction=0.3)
    return scene


def run(scene: sg.Scene, threads: int, *, steps: int = STEPS) -> sg.Simulator:
    simulator = sg.Simulator(scene, h=H, threads=threads)
    simulator.run(steps)
    return simulator


def assert_same_state(one: sg.Simulator, other: sg.Simulator) -> None:
    np.testing.assert_array_equal(one.state.q, other.state.q)
    np.testing.assert_array_equal(one.state.v, other.state.v)
    np.testing.assert_array_equal(one.memory.impulse, other.memory.impulse)


def groups(simulator: sg.Simulator) -> list[tuple[int, list[set[int]]]]:
    """Return for each large island the number of slabs, and the bodies of each group of contacts."""
    engine = simulator.engine
    assert engine is not None
    island, cut, order, index = (engine.arena[k] for k in (ea.ISLAND, ea.CUT, ea.ORDER, ea.SEEN_INDEX))
    found = []
    for row in island[: engine._counts[ea.ISLANDS]]:
        if row[ea.CUT_ROW] > 0:
            slabs, *ends = cut[row[ea.CUT_ROW] - 1, 1:].tolist()
            first, last = row[ea.FIRST_CONTACT], row[ea.FIRST_CONTACT] + row[ea.N_CONTACTS]
            assert len(set(order[first:last])) == last - first, "contacts of the last step, not yet renumbered"
            parts = np.split(order[first:last], ends[: 2 * slabs - 1])
            moving = [index[part, :2][index[part, :2] >= simulator.model.fixed_count] for part in parts]
            found.append((slabs, [set(bodies.tolist()) for bodies in moving]))
    return found


@pytest.fixture(scope="module")
def alone() -> sg.Simulator:
    return run(pile(), 1)


@pytest.mark.parametrize("threads", [2, 3])
def test_pile(alone: sg.Simulator, threads: int) -> None:
    assert_same_state(run(pile(), threads), alone)


def test_islands() -> None:
    one = run(pyramids(), 1)
    engine = one.engine
    assert engine is not None and engine._counts[ea.ISLANDS] > 30
    assert groups(one), "one of them is shared"
    for threads in (2, 3):
        assert_same_state(run(pyramids(), threads), one)


def test_groups_of_a_kind_have_no_body_in_common() -> None:
    """So that the order in which they are swept over does not matter."""
    found = groups(run(pile(), 1, steps=20))
    assert found[0][0] == 4, "the pile is large enough to be shared"
    for slabs, bodies in found:
        even = slabs + slabs // 2
        for kind in (bodies[:slabs], bodies[slabs:even], bodies[even : 2 * slabs - 1]):
            assert len(set().union(*kind)) == sum(map(len, kind))
        assert all(bodies[:even]), "no group is empty"
        assert bodies[-1], "the rod reaches across slabs"


@pytest.mark.parametrize("rank", [1, 2])
def test_tasks_in_another_order(alone: sg.Simulator, rank: int) -> None:
    """One thread that begins amid the tasks of each job, as others would, changes no bit."""
    simulator = sg.Simulator(pile(), h=H, threads=3)
    assert simulator.engine is not None
    table = simulator.engine.arena[ea.TEAM]
    table[_team._THREADS, 1] = rank
    simulator.run(STEPS)
    assert_same_state(simulator, alone)


def test_restored_under_other_threads(alone: sg.Simulator) -> None:
    """A snapshot taken with two threads continues with one, and with three."""
    half = run(pile(), 2, steps=STEPS // 2)
    snapshot: Snapshot = half.snapshot()
    for threads in (1, 3):
        other = sg.Simulator(pile(), h=H, threads=threads)
        other.restore(snapshot)
        other.run(STEPS - STEPS // 2)
        assert_same_state(other, alone)


def test_trajectories() -> None:
    """Certificates, contacts and motion of a recorded run agree as well."""
    runs = [sg.simulate(pile(), duration=10 * H, h=H, threads=threads) for threads in (1, 2)]
    assert_same(*runs)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, 1000])
def test_nonsense_is_refused(threads: int) -> None:
    with pytest.raises(sg.InputError, match=r"threads is .*, must be a whole number from 1 to 64"):
        sg.Simulator(pile(), h=H, threads=threads)


def test_threads_end_with_the_simulator() -> None:
    before = set(threading.enumerate())
    simulator = run(pile(), 3, steps=1)
    hired = set(threading.enumerate()) - before
    assert len(hired) == 2
    del simulator
    for thread in hired:
        thread.join(timeout=5.0)
        assert not thread.is_alive()


_SCRIPT = """
import os, sys
import signorini as sg
from tests.laws.test_threads import H, pile
simulator = sg.Simulator(pile(), h=H, threads=2)
simulator.run(2)
child = os.fork() if hasattr(os, "fork") else 0
simulator.run(2)
print(float(simulator.state.q.sum()).hex(), flush=True)
if child:
    os.waitpid(child, 0)
"""


def test_interpreter_ends_and_forks() -> None:
    """With threads alive a process comes to its end, and so does a fork of it, that has one thread."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _SCRIPT],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert len(set(done.stdout.split())) == 1, done.stdout
