"""Steps of a collapsing pile of spheres, the hardest friction problems that an engine meets by itself.

A cubic array of spheres falls into an open box and collapses; the problems of steps spread over fall, collapse and rest
are taken out and solved again, cold and from the impulses of the step before::

    python benchmarks/bench_collapse.py [--sides 5 10] [--snapshots 30] [--out benchmarks/results/collapse.csv]

The simulation itself goes on with capped sweeps, so that neither its path nor its cost depends on what is measured.
Each problem is solved as posed (rigid) and with a normal compliance of 0.1 W_nn, by the default call with a time limit.
Prints, by pile, law and start, the fraction solved to the tolerance and CPU times per contact; BLAS on one thread.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from signorini import FrictionProblem, HalfSpace, MoreauJean, Scene, Simulator, Sphere
from signorini._arrays import Array
from signorini.solvers import NSGS, Control, Solution, solve

RADIUS = 0.05
SPACING = 2.2 * RADIUS
STEP = 0.005
COMPLIANCE = 0.1  # of W_nn


@dataclass(slots=True)
class Recorder:
    """A solver that keeps the problems of chosen steps and sweeps on."""

    wanted: frozenset[int]
    step: int = 0
    kept: list[tuple[int, FrictionProblem, Array]] = field(default_factory=list)

    def solve(self, problem: FrictionProblem, control: Control) -> Solution:
        """Sweep 400 times at most; keep the problem and the guess if this step is wanted."""
        start = np.zeros(problem.size) if control.start is None else control.start.copy()
        if self.step in self.wanted:
            self.kept.append((self.step, problem, start))
        self.step += 1
        return NSGS(max_iterations=400).solve(problem, control)


def pile(side: int) -> Scene:
    """`side` cubed spheres a tenth of their size apart, jiggled, above the floor of an open box."""
    rng = np.random.default_rng(0)
    scene = Scene()
    length = side * SPACING
    walls = {"left": (1, 0), "right": (-1, 0), "front": (0, 1), "back": (0, -1)}
    scene.add_fixed(HalfSpace(), name="floor")
    for name, (x, y) in walls.items():
        scene.add_fixed(HalfSpace(normal=(x, y, 0), offset=0.0 if x + y > 0 else -length), name=name)
    for place in np.ndindex(side, side, side):
        position = (np.array(place[::-1]) + 0.5) * SPACING + rng.uniform(-0.08, 0.08, 3) * RADIUS
        scene.add_body(Sphere(radius=RADIUS), density=1000.0, position=position)
    scene.set_contact(friction=0.5)
    return scene


def snapshots(side: int, steps: int, count: int) -> list[tuple[int, FrictionProblem, Array]]:
    """Return (step, problem, guess) for `count` steps spread over the simulation of a pile."""
    recorder = Recorder(frozenset(np.linspace(0.1 * steps, steps - 1, count).astype(int).tolist()))
    simulator = Simulator(pile(side), h=STEP, formulation=MoreauJean(solver=recorder), tolerance=1e-6)
    for _ in range(steps):
        simulator.advance()
    return recorder.kept


def compliant(problem: FrictionProblem) -> FrictionProblem:
    """Return the same problem with a soft normal direction."""
    return FrictionProblem(
        problem.W, problem.b, problem.mu, dim=problem.dim, compliance=COMPLIANCE * problem.blocks[:, 0, 0]
    )


def measured(problem: FrictionProblem, start: Array | None, tolerance: float, limit: float) -> tuple[float, Solution]:
    """Return CPU seconds and the answer of the default call."""
    began = time.process_time()
    solution = solve(problem, tolerance=tolerance, start=start, time_limit=limit)
    return time.process_time() - began, solution


def measure(side: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one row per snapshot, law and start."""
    rows = []
    taken = snapshots(side, options.steps, options.snapshots)
    solve(taken[0][1])  # compile or load the kernels
    for step, rigid, guess in taken:
        for law, problem in (("rigid", rigid), ("compliant", compliant(rigid))):
            for kind, start in (("cold", None), ("warm", guess)):
                seconds, solution = measured(problem, start, options.tolerance, options.limit)
                rows.append(
                    {
                        "spheres": side**3,
                        "step": step,
                        "contacts": problem.contact_count,
                        "law": law,
                        "start": kind,
                        "ms": round(1e3 * seconds, 3),
                        "residual": f"{solution.residual:.1e}",
                        "solved": solution.success,
                        "iterations": solution.iterations,
                        "path": "; ".join(solution.info.get("path", [])),
                    }
                )
                print(*rows[-1].values(), sep=", ", flush=True)
    return rows


def report(rows: list[dict[str, Any]]) -> None:
    """Print the fraction solved and the time per contact of every class."""
    for key in dict.fromkeys((row["spheres"], row["law"], row["start"]) for row in rows):
        group = [row for row in rows if (row["spheres"], row["law"], row["start"]) == key]
        cost = [1e3 * row["ms"] / max(row["contacts"], 1) for row in group]
        print(
            f"{key[0]:5d} spheres, {key[1]:9s} {key[2]}: solved {sum(row['solved'] for row in group)} of {len(group)}, "
            f"worst residual {max(float(row['residual']) for row in group):.0e}, "
            f"us per contact: median {np.median(cost):.1f}, mean {np.mean(cost):.1f}, most {max(cost):.1f}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="+", default=[5, 10], help="spheres along an edge")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--snapshots", type=int, default=30)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per solve, by the clock")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    rows = [row for side in options.sides for row in measure(side, options)]
    report(rows)
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
