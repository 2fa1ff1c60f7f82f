"""A pile of spheres falls, collapses and comes to rest in our own engine: what every step reached, fifth by fifth.

::

    python -m benchmarks.bench_collapse_run [--side 10] [--steps 900] [--compliance auto] [--out FILE]

With compliance 0 every step is posed rigid, and those that resist go to the robust methods: small piles only. Printed
and written for each fifth of the run: the share of steps whose residual, for the law posed, is at most 1e-6 and 1e-4,
the largest residual, the mean CPU time, the share of compliant steps, the median and the maximum over the steps of the
deepest overlap, and the largest rise of the energy in a step that neither loads nor corrections explain.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from benchmarks.bench_collapse import RADIUS, STEP, pile

import signorini as sg
from signorini._arrays import Array
from signorini.engine import arrays as ea

FIFTHS = ("fall", "collapse", "after", "settling", "rest")


def energy(simulator: sg.Simulator) -> float:
    """Return kinetic and potential energy [J]."""
    state, arrays = simulator.state, simulator.model.arrays
    moving = slice(simulator.model.fixed_count, None)
    x, v, w = state.q[moving, :3], state.v[moving, :3], state.v[moving, 3:]
    spin = np.einsum("bi,bij,bj->b", w, arrays.inertia[moving], w)  # spheres: the same in all axes
    speed = arrays.mass[moving] * np.sum(v * v, axis=1)
    return float(0.5 * np.sum(speed + spin) - np.sum(arrays.mass[moving, None] * x * arrays.gravity))


def steps_of(side: int, steps: int, compliance: str | float) -> Array:
    """Return for each step seconds, residual, compliance, deepest overlap / r and unexplained rise of energy [J]."""
    formulation = sg.MoreauJean(compliance=compliance)
    simulator = sg.Simulator(pile(side), h=STEP, formulation=formulation, tolerance=1e-6)
    engine = simulator.engine
    assert engine is not None
    rows = np.zeros((steps, 5))
    before, shown = energy(simulator), time.perf_counter()
    for k in range(steps):
        began = time.process_time()
        simulator.run(1)
        seconds = time.process_time() - began
        after, check = energy(simulator), engine.check
        overlap = max(0.0, -check[ea.MIN_GAP]) / RADIUS
        rise = after - before - max(check[ea.CORRECTION], 0.0)
        rows[k] = seconds, check[ea.RESIDUAL], check[ea.COMPLIANT], overlap, rise
        before = after
        if time.perf_counter() - shown > 10.0:
            shown = time.perf_counter()
            print(f"step {k + 1} of {steps}, worst residual {rows[: k + 1, 1].max():.1e}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--side", type=int, default=10, help="spheres along an edge (10)")
    parser.add_argument("--steps", type=int, default=900)
    parser.add_argument("--compliance", choices=("auto", "0"), default="auto")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    compliance: str | float = 0.0 if options.compliance == "0" else "auto"
    rows = steps_of(options.side, options.steps, compliance)
    table = []
    for name, part in zip(FIFTHS, np.array_split(rows, len(FIFTHS)), strict=True):
        table.append(
            {
                "spheres": options.side**3,
                "compliance": options.compliance,
                "part": name,
                "to 1e-6": np.mean(part[:, 1] <= 1e-6),
                "to 1e-4": np.mean(part[:, 1] <= 1e-4),
                "residual": part[:, 1].max(),
                "ms": 1e3 * part[:, 0].mean(),
                "compliant": np.mean(part[:, 2] > 0.0),
                "overlap/r median": np.median(part[:, 3]),
                "overlap/r max": part[:, 3].max(),
                "energy rise J": part[:, 4].max(),
            }
        )
        print("  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in table[-1].items()))
    out = options.out or Path(f"benchmarks/results/collapse_run_{options.side**3}_{options.compliance}.csv")
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in table)


if __name__ == "__main__":
    main()
