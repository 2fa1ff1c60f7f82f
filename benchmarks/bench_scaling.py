"""Time and memory per contact of a wide pile at rest, against its size.

::

    python -m benchmarks.bench_scaling [--bins 1 2 4 8] [--steps 40] [--out benchmarks/results/scaling.csv]

The pile is a settled one of 1000 spheres set side by side with itself, ``bins`` by ``bins`` times, without walls in
between; our own engine lets it come to rest again (kept in the folder of :mod:`benchmarks.peers.piles`). So all sizes
have the same depth, and what grows is the machine's part: memory, caches, the search for pairs. Times are CPU times of
one step in a compiled run; bytes are those of all arrays of the engine, Python's scene apart.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.piles import kept, settled_pile

import signorini as sg
from signorini.engine import arrays as ea
from signorini.model import State
from signorini.simulation.simulator import Snapshot

R, DENSITY, H, BIN = 0.05, 1000.0, 0.005, 1000
WIDTH = 22.0 * R  # of the bin in which the pile of 1000 settled
QUIET = 1e-5 * 9.81 * H  # median speed [m/s]
RIGID_STEPS = 20
MOST_STEPS = 1500
REMEMBERED = ("feature", "impulse", "softness")


def scene(position: np.ndarray, bins: int) -> sg.Scene:
    """Return spheres between four walls."""
    out = sg.Scene(gravity=(0, 0, -9.81))
    out.add_fixed(sg.HalfSpace(), name="floor")
    for normal, offset in (((1, 0, 0), 0), ((-1, 0, 0), -bins * WIDTH), ((0, 1, 0), 0), ((0, -1, 0), -bins * WIDTH)):
        out.add_fixed(sg.HalfSpace(normal=normal, offset=offset), name=f"wall{normal}")
    mass = DENSITY * 4.0 / 3.0 * np.pi * R**3
    for k, x in enumerate(position):
        out.add_body(sg.Sphere(R), mass=mass, position=x, name=f"ball{k}")
    out.set_contact(friction=0.5)
    return out


def pile(bins: int) -> sg.Simulator:
    """Return the pile at rest, with the impulses that hold it."""
    path = kept() / f"wide_{bins * bins * BIN}.npz"
    if path.is_file():
        kept_state = np.load(path)
        simulator = sg.Simulator(scene(kept_state["q"][-bins * bins * BIN :, :3], bins), h=H)
        memory = simulator.memory._replace(**{name: kept_state[name] for name in REMEMBERED})
        simulator.restore(Snapshot(State(t=0.0, q=kept_state["q"], v=kept_state["v"]), memory, 0))
        return simulator
    one = np.array([body.position for body in settled_pile("settled", BIN, 1).bodies])
    lowest = one[:, :2].min(axis=0) - R  # the bin's corner, up to a rounding
    shifts = [(WIDTH * i, WIDTH * j, 0.0) for i in range(bins) for j in range(bins)]
    simulator = sg.Simulator(scene(np.concatenate([one - (*lowest, 0.0) + s for s in shifts]), bins), h=H)
    settle(simulator)
    kept().mkdir(parents=True, exist_ok=True)
    state, memory = simulator.state, simulator.memory
    np.savez_compressed(path, q=state.q, v=state.v, **{name: getattr(memory, name) for name in REMEMBERED})
    return simulator


def settle(simulator: sg.Simulator) -> None:
    """Let a pile come to rest: slow, and rigid in all of the last steps."""
    engine, rigid = simulator.engine, 0
    assert engine is not None
    for taken in range(1, MOST_STEPS + 1):
        failed = simulator.run(1)
        rigid = rigid + 1 if engine.check[ea.COMPLIANT] == 0.0 else 0
        if taken % 20:
            continue
        speed = float(np.median(np.linalg.norm(simulator.state.v[:, :3], axis=1)))
        print(f"step {taken}, median speed {speed:.1e} m/s, {failed} failed, rigid for {rigid} steps", flush=True)
        if speed < QUIET and rigid >= RIGID_STEPS:
            break


def measured(simulator: sg.Simulator, steps: int) -> dict[str, Any]:
    """Return the figures of so many steps."""
    engine = simulator.engine
    assert engine is not None
    seconds, sweeps, residual = [], [], []
    for _ in range(steps):
        began = time.process_time()
        simulator.run(1)
        seconds.append(time.process_time() - began)
        sweeps.append(engine.check[ea.EFFORT])
        residual.append(engine.check[ea.RESIDUAL])
    n_c = engine.contact_count
    return {
        "bodies": simulator.model.body_count,
        "contacts": n_c,
        "ms min": 1e3 * min(seconds),
        "ms median": 1e3 * float(np.median(seconds)),
        "us per contact": 1e6 * float(np.median(seconds)) / n_c,
        "sweeps median": float(np.median(sweeps)),
        "residual max": max(residual),
        "compliant": engine.check[ea.COMPLIANT],
        "bytes per contact": engine.arena.nbytes / n_c,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bins", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/scaling.csv"))
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for bins in arguments.bins:
        # Of a small pile more steps: what happens in it varies more from one to the next.
        rows.append(measured(pile(bins), arguments.steps * max(1, max(arguments.bins) // bins)))
        print("  ".join(f"{key} {value:.3g}" for key, value in rows[-1].items()), flush=True)
        with arguments.out.open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows({key: f"{value:.4g}" for key, value in row.items()} for row in rows)
    growth = rows[-1]["us per contact"] / rows[0]["us per contact"]
    print(f"time per contact grows {growth:.2f} times from {rows[0]['bodies']} to {rows[-1]['bodies']} bodies")


if __name__ == "__main__":
    main()
