"""Piles whose contacts resist rolling and twisting, beside the same piles without: time of a step, and by whom.

::

    python -m benchmarks.bench_rolling [--steps 400] [--seeds 2] [--out FILE]

300 discs of 40 to 50 mm fall into a planar bin, friction 0.5, rolling length none, 2 mm and 0.2 mm; 60 spheres of that
size fall into a bin in space, friction 0.5, without couples and with torsional and rolling ones of 2 and 0.2 mm.
Printed and written for each: mean and worst CPU time of a step, the ratio of the mean to that without couples, the
share of steps that Python's robust methods were asked for, the steps that were not solved, the largest residual of the
others, and the mean kinetic energy of the last tenth of the run [J].
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

import signorini as sg
from signorini._arrays import Array
from signorini.engine import arrays as ea

H, FRICTION, DENSITY = 0.005, 0.5, 1000.0
LENGTHS = (0.0, 0.002, 0.0002)
SMALLEST, LARGEST = 0.04, 0.05
GAP = 0.004


def discs(count: int, rolling: float, seed: int) -> sg.Scene:
    """Return a planar bin twenty discs wide, with discs on a jiggled grid above its floor."""
    rng, pitch, wide = np.random.default_rng(seed), 2.0 * LARGEST + 2.0 * GAP, 20
    scene = sg.Scene(planar=True)
    for name, normal, point in (
        ("floor", (0, 1), (0, 0)),
        ("left", (1, 0), (0, 0)),
        ("right", (-1, 0), (wide * pitch, 0)),
    ):
        scene.add_fixed(sg.HalfSpace(normal=normal), position=point, name=name)
    for k in range(count):
        row, column = divmod(k, wide)
        radius = rng.uniform(SMALLEST, LARGEST)
        place = pitch * (np.array([column, row]) + 0.5) + rng.uniform(-GAP, GAP, 2)
        scene.add_body(sg.Disc(radius=radius), mass=DENSITY * np.pi * radius**2, position=place, name=f"disc {k}")
    scene.set_contact(friction=FRICTION, rolling=rolling)
    return scene


def spheres(count: int, length: float, seed: int) -> sg.Scene:
    """Return a bin four spheres wide, with spheres on a jiggled grid above its floor."""
    rng, pitch, wide = np.random.default_rng(seed), 2.0 * LARGEST + 2.0 * GAP, 4
    scene = sg.Scene()
    for name, normal, point in (
        ("floor", (0, 0, 1), (0, 0, 0)),
        ("left", (1, 0, 0), (0, 0, 0)),
        ("right", (-1, 0, 0), (wide * pitch, 0, 0)),
        ("front", (0, 1, 0), (0, 0, 0)),
        ("back", (0, -1, 0), (0, wide * pitch, 0)),
    ):
        scene.add_fixed(sg.HalfSpace(normal=normal), position=point, name=name)
    for k in range(count):
        layer, place = divmod(k, wide * wide)
        row, column = divmod(place, wide)
        radius = rng.uniform(SMALLEST, LARGEST)
        position = pitch * (np.array([column, row, layer]) + 0.5) + rng.uniform(-GAP, GAP, 3)
        mass = DENSITY * 4.0 / 3.0 * np.pi * radius**3
        scene.add_body(sg.Sphere(radius), mass=mass, position=position, name=f"sphere {k}")
    scene.set_contact(friction=FRICTION, torsional=length, rolling=length)
    return scene


SCENES = {"discs": (discs, 300), "spheres": (spheres, 60)}


def steps_of(scene: sg.Scene, steps: int) -> Array:
    """Return for each step CPU seconds, whether Python was asked, whether it was solved, residual, energy [J]."""
    simulator = sg.Simulator(scene, h=H)
    engine, arrays = simulator.engine, simulator.model.arrays
    assert engine is not None
    rows, asked = np.zeros((steps, 5)), [0]
    give, note = engine._go_on_after, asked.append
    engine._go_on_after = lambda iterations: (note(iterations), give(iterations))[1]  # type: ignore[method-assign]
    for k in range(steps):
        began = time.process_time()
        simulator.run(1)
        seconds = time.process_time() - began
        check, v = engine.check, simulator.state.v
        energy = 0.5 * float(np.sum(arrays.mass[:, None] * np.where(arrays.free[:, :3] > 0.0, v[:, :3], 0.0) ** 2))
        rows[k] = seconds, len(asked) > 1, check[ea.SUCCESS], check[ea.RESIDUAL], energy
        del asked[1:]
    return rows


def row_of(name: str, length: float, rows: Array, plain: float) -> dict[str, Any]:
    """Return what is printed of the steps of all seeds, `plain` being the mean without couples [s]."""
    solved = rows[..., 2] == 1.0
    mean = float(rows[..., 0].mean())
    return {
        "scene": name,
        "length_mm": 1e3 * length,
        "mean_ms": round(1e3 * mean, 3),
        "worst_ms": round(1e3 * float(rows[..., 0].max()), 2),
        "ratio": round(mean / (plain or mean), 2),
        "by_python": round(float(rows[..., 1].mean()), 4),
        "unsolved": int(np.sum(~solved)),
        "residual": f"{rows[..., 3][solved].max():.1e}",
        "energy": f"{rows[:, -rows.shape[1] // 10 :, 4].mean():.1e}",
    }


def main() -> None:
    """Run all scenes, seed by seed, each with all lengths in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="*", choices=sorted(SCENES), default=list(SCENES))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    table: list[dict[str, Any]] = []
    for name in arguments.scenes:
        build, count = SCENES[name]
        for length in LENGTHS:  # unmeasured: kernels are compiled or loaded when they are first needed
            steps_of(build(count, length, 99), arguments.steps // 4)
        runs = [
            [steps_of(build(count, length, seed), arguments.steps) for length in LENGTHS]
            for seed in range(arguments.seeds)
        ]
        plain = 0.0
        for k, length in enumerate(LENGTHS):
            rows = np.array([run[k] for run in runs])
            plain = plain or float(rows[..., 0].mean())
            table.append(row_of(name, length, rows, plain))
            print(table[-1], flush=True)
    if arguments.out:
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()
