"""A bin of bodies that fall and come to rest, in our own engine and in MuJoCo in the same process.

::

    python -m benchmarks.bench_bin [--bodies 9 27 54] [--shapes all] [--seeds 8] [--skip-mujoco] [--out FILE]

Boxes of half edge 0.1 m, turned at random, and spheres of that radius alternate on a jiggled grid in which nothing
overlaps, about twice as high as wide, above the floor of an open box; friction 0.4. With ``--shapes all`` boxes,
spheres, capsules, cylinders and ellipsoids follow each other, all turned at random, on a wider grid.
Each seed is run in every engine, one after the other, before the next: in ours with its default settings, and in MuJoCo
(``pip install mujoco``) with elliptic cones and the same step, by its default solver, Newton, and by CG. What is soft
in MuJoCo stays as it is by default.

Printed and written for each size, for the fall (steps 20 to 200) and for the rest (last 100 of 600): mean, median and
worst CPU time of a step over all seeds, worst by median, the ratio of our mean to MuJoCo's, the share of our steps that
were softened, and our largest residual.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.ours import build
from benchmarks.peers.scenes import Body, PeerScene, box, capsule, container, cylinder, ellipsoid, sphere

import signorini as sg
from signorini._arrays import Array
from signorini.engine import arrays as ea

SIZES = (9, 27, 54, 125, 343)
STEPS = 600
WARM_STEPS = 300
PHASES = {"fall": slice(20, 200), "rest": slice(STEPS - 100, STEPS)}
MUJOCO = ("Newton", "CG")
RADIUS = 0.1
DENSITY = 1000.0
FRICTION = 0.4
H = 0.005
# Next to a box, which reaches sqrt(3) RADIUS from its middle, is always a sphere; the next boxes are sqrt(2) as far.
JITTER = 0.008
SPACING = (1.0 + np.sqrt(3.0)) * RADIUS + 2.5 * JITTER
MARGIN = np.sqrt(3.0) * RADIUS + 1.5 * JITTER
# No shape of the wider grid reaches farther from its middle than a box.
WIDE_SPACING = 2.0 * np.sqrt(3.0) * RADIUS + 2.5 * JITTER
SHAPES = ("mixed", "all")


def _body_of(kind: int, position: Array, turn: Array) -> Body:
    """Return a body of the `kind`-th of five shapes."""
    w, x, y, z = (float(value) for value in turn)
    turned = {"quaternion": (w, x, y, z)}
    if kind == 0:
        return box(RADIUS, DENSITY * (2.0 * RADIUS) ** 3, position, **turned)
    if kind == 1:
        return sphere(RADIUS, DENSITY * 4.0 / 3.0 * np.pi * RADIUS**3, position)
    if kind == 2:
        return capsule(0.6 * RADIUS, 0.9 * RADIUS, DENSITY, position, **turned)
    if kind == 3:
        return cylinder(0.8 * RADIUS, RADIUS, DENSITY, position, **turned)
    return ellipsoid((1.4 * RADIUS, RADIUS, 0.7 * RADIUS), DENSITY, position, **turned)


def bin_of(count: int, seed: int, shapes: str = "mixed") -> PeerScene:
    """Return a bin with `count` bodies above its floor."""
    spacing = SPACING if shapes == "mixed" else WIDE_SPACING
    rng = np.random.default_rng(seed)
    side = max(1, round((count / 2.0) ** (1 / 3)))
    bodies = []
    for k in range(count):
        layer, place = divmod(k, side * side)
        cell = np.array([place % side, place // side, layer])
        position = MARGIN + spacing * cell + rng.uniform(-JITTER, JITTER, 3)
        turn = rng.normal(size=4)
        turn /= np.linalg.norm(turn)
        bodies.append(_body_of(int(cell.sum()) % 2 if shapes == "mixed" else k % 5, position, turn))
    walls = container(2.0 * MARGIN + (side - 1) * spacing)
    return PeerScene(f"bin_{count}", tuple(bodies), FRICTION, H, STEPS, RADIUS, walls, at_rest=False, tolerance=1e-6)


def warm_up(shapes: str = "mixed") -> None:
    """Let a bin fall unmeasured: kernels are compiled or loaded when they are first needed."""
    sg.Simulator(build(bin_of(27, 99, shapes)), h=H).run(WARM_STEPS)


def our_steps(scene: PeerScene) -> Array:
    """Return for each step CPU seconds, compliance and residual, (steps, 3)."""
    simulator = sg.Simulator(build(scene), h=scene.h)
    engine = simulator.engine
    assert engine is not None
    rows = np.zeros((scene.steps, 3))
    shown = time.perf_counter()
    for k in range(scene.steps):
        began = time.process_time()
        simulator.run(1)
        seconds = time.process_time() - began
        rows[k] = seconds, engine.check[ea.COMPLIANT], engine.check[ea.RESIDUAL]
        if time.perf_counter() - shown > 10.0:
            shown = time.perf_counter()
            print(f"    step {k + 1} of {scene.steps}, worst residual {rows[: k + 1, 2].max():.1e}", flush=True)
    return rows


def mujoco_steps(scene: PeerScene, solver: str) -> Array:
    """Return the CPU seconds of each step, (steps,)."""
    from benchmarks.peers import mujoco_engine

    engine = mujoco_engine.make(scene, cone="elliptic", solver=solver)
    return np.array([engine.step(1) for _ in range(scene.steps)])


def of_phase(steps: Array, phase: slice) -> tuple[float, float, float]:
    """Return mean over the seeds of the mean step, median and worst step, of (seeds, steps) [ms]."""
    part = 1e3 * steps[:, phase]
    return float(part.mean(axis=1).mean()), float(np.median(part)), float(part.max())


def measure(count: int, shapes: str, seeds: int, solvers: tuple[str, ...]) -> list[dict[str, Any]]:
    """Run a size with all seeds and return a row for each phase."""
    ours: list[Array] = []
    theirs: dict[str, list[Array]] = {solver: [] for solver in solvers}
    for seed in range(seeds):
        scene = bin_of(count, seed, shapes)
        ours.append(our_steps(scene))
        said = [f"ours {1e3 * ours[-1][:, 0].mean():.3g} ms"]
        for solver in solvers:
            theirs[solver].append(mujoco_steps(scene, solver))
            said.append(f"MuJoCo {solver} {1e3 * theirs[solver][-1].mean():.3g} ms")
        print(f"    {count} bodies, seed {seed}: " + ", ".join(said), flush=True)
    table, rows = [], np.array(ours)
    for name, phase in PHASES.items():
        mean, median, worst = of_phase(rows[:, :, 0], phase)
        row: dict[str, Any] = {"bodies": count, "shapes": shapes, "phase": name, "seeds": seeds}
        row |= {"ms": mean, "median ms": median}
        row |= {"worst ms": worst, "worst/median": worst / median}
        for solver in solvers:
            other, middle, longest = of_phase(np.array(theirs[solver]), phase)
            row |= {f"{solver} ms": other, f"{solver} median ms": middle, f"{solver} worst ms": longest}
            row[f"ours/{solver}"] = mean / other
        row["softened"] = float(np.mean(rows[:, phase, 1] > 0.0))
        row["residual"] = float(rows[:, phase, 2].max())
        table.append(row)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bodies", type=int, nargs="+", default=SIZES)
    parser.add_argument("--shapes", choices=SHAPES, default="mixed", help="boxes and spheres, or five shapes")
    parser.add_argument("--seeds", type=int, default=8, help="run the seeds 0 to this less one (8)")
    parser.add_argument("--skip-mujoco", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/bin.csv"))
    options = parser.parse_args()
    solvers: tuple[str, ...] = MUJOCO
    if options.skip_mujoco or find_spec("mujoco") is None:
        solvers = ()
        print("without MuJoCo")
    warm_up(options.shapes)
    table: list[dict[str, Any]] = []
    for count in options.bodies:
        for row in measure(count, options.shapes, options.seeds, solvers):
            table.append({key: f"{x:.4g}" if isinstance(x, float) else x for key, x in row.items()})
            print("  ".join(f"{key} {x}" for key, x in table[-1].items()), flush=True)
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table[0]))
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    main()
