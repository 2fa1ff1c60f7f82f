"""Time of a step with several threads against that with one.

::

    python -m benchmarks.bench_threads [--scenes 1000 8000 islands] [--threads 1 2] [--rounds 10] [--undisturbed]

Scenes are settled piles of so many spheres (see :mod:`benchmarks.peers.piles`), and many small piles side by side. All
runs begin at the same snapshot and take the same steps, in alternating order; that their results agree to the last bit
is checked. Wall times are those of a core that was free if there was one: minima count. On a machine busy with other
work ``--undisturbed`` (Linux, as root) asks for real-time priority and a core for each thread during the measurement,
for some seconds.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.ours import build
from benchmarks.peers.piles import settled_pile

import signorini as sg
from signorini.engine import arrays as ea

R, H = 0.05, 0.005
WARM = 60  # steps before the snapshot: impulses of the settled piles are not kept


def islands(side: int = 24) -> sg.Scene:
    """Return side^2 pyramids of five spheres, shaken."""
    rng = np.random.default_rng(0)
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for cell in np.ndindex(side, side):
        for corner in ((-1, -1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, 1), (0, 0, 1 + np.sqrt(2))):
            x = (np.array([10 * cell[0], 10 * cell[1], 0]) + corner) * R
            scene.add_body(sg.Sphere(R), density=1000.0, position=x, velocity=0.05 * rng.standard_normal(3))
    scene.set_contact(friction=0.5)
    return scene


def scene_of(name: str) -> sg.Scene:
    """Return a scene by its name."""
    return islands() if name == "islands" else build(settled_pile("settled", int(name), 1))


def set_undisturbed(on: bool) -> None:
    """Give every thread of this process a core and real-time priority, or take them back."""
    cores, main = range(os.cpu_count() or 1), threading.get_native_id()
    others = sorted(int(task) for task in os.listdir("/proc/self/task") if int(task) != main)
    for task in (main, *others):
        policy = os.SCHED_FIFO if on else os.SCHED_OTHER
        os.sched_setscheduler(task, policy, os.sched_param(1 if on else 0))
    # Threads of one team follow each other in number.
    for k, task in enumerate(others):
        os.sched_setaffinity(task, {cores[(k + 1) % len(cores)]} if on else cores)
    os.sched_setaffinity(main, {cores[0]} if on else cores)


def measured(name: str, counts: list[int], rounds: int, steps: int, undisturbed: bool) -> list[dict[str, Any]]:
    """Return the figures of a scene for each number of threads."""
    scene = scene_of(name)
    simulators = {n: sg.Simulator(scene, h=H, threads=n) for n in counts}
    first = simulators[counts[0]]
    first.run(5 if name == "islands" else WARM)
    snapshot = first.snapshot()
    wall: dict[int, list[float]] = {n: [] for n in counts}
    cpu: dict[int, list[float]] = {n: [] for n in counts}
    sweeps: list[float] = []
    for k in range(rounds + 1):
        for n in counts if k % 2 else reversed(counts):
            simulator = simulators[n]
            simulator.restore(snapshot)
            if undisturbed:
                set_undisturbed(True)
            began, began_cpu = time.perf_counter(), time.process_time()
            simulator.run(steps)
            wall[n].append((time.perf_counter() - began) / steps)
            cpu[n].append((time.process_time() - began_cpu) / steps)
            if undisturbed:
                set_undisturbed(False)
            assert simulator.engine is not None
            sweeps.append(float(simulator.engine.check[ea.EFFORT]))
        for n in counts:
            assert np.array_equal(simulators[n].state.q, first.state.q), f"{n} threads give another result"
    best = {n: min(wall[n][1:]) for n in counts}
    engine = first.engine
    assert engine is not None
    return [
        {
            "scene": name,
            "bodies": first.model.body_count,
            "contacts": engine.contact_count,
            "islands": int(engine.arena[ea.COUNTS][ea.ISLANDS]),
            "threads": n,
            "wall ms min": 1e3 * best[n],
            "wall ms median": 1e3 * float(np.median(wall[n][1:])),
            "cpu ms min": 1e3 * min(cpu[n][1:]),
            "gain of minima": best[counts[0]] / best[n],
            "gain, median of rounds": float(np.median(np.array(wall[counts[0]][1:]) / np.array(wall[n][1:]))),
            "sweeps of the last step": sweeps[-1],
            "load": os.getloadavg()[0],
            "undisturbed": int(undisturbed),
        }
        for n in counts
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scenes", nargs="+", default=["1000", "8000", "islands"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.15, help="of simulated time in a round")
    parser.add_argument("--undisturbed", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/threads.csv"))
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in arguments.scenes:
        steps = max(1, round(arguments.seconds / H / (8 if name == "8000" else 1)))
        rows += measured(name, arguments.threads, arguments.rounds, steps, arguments.undisturbed)
        for row in rows[-len(arguments.threads) :]:
            print(
                "  ".join(f"{key} {value:.4g}" if key != "scene" else value for key, value in row.items()), flush=True
            )
        with arguments.out.open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows({k: v if k == "scene" else f"{v:.4g}" for k, v in row.items()} for row in rows)


if __name__ == "__main__":
    main()
