"""Time per step of the pile of 136 discs by the algorithms of S2, each run checked against the specification.

    python benchmarks/bench_pile136.py [--steps 20] [--out pile136.csv]

Times are those of the solver alone (wall clock), smallest of the runs step by step; BLAS on one thread. The reference
computation of the specification needed 0.85 s per step for algorithm 1 (44 to 60 QPs) and 0.040 s for algorithm 3.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import argparse
import csv
import sys
from typing import Any

import numpy as np

from signorini.formulations import StewartTrinkle
from signorini.reproduce.s2_pile import ROWS, STEP, centres, pile
from signorini.simulation import Trajectory, simulate
from signorini.solvers import AnitescuHart, Clarabel, FrictionAuto
from signorini.solvers.qp_clarabel import is_installed

MU = 0.1


def run(solver: Any, steps: int, tolerance: float) -> Trajectory:
    return simulate(
        pile(ROWS, MU),
        duration=steps * STEP,
        h=STEP,
        formulation=StewartTrinkle(solver=solver),
        tolerance=tolerance,
        on_failure="keep",
        progress=False,
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--out", default=None, help="CSV file; standard output if not given")
    options = arguments.parse_args()
    solvers: dict[str, tuple[Any, float]] = {
        "algorithm 1, Newton": (AnitescuHart(), 1e-9),
        "algorithm 1, Anderson": (AnitescuHart(acceleration="anderson"), 1e-7),
        "algorithm 1, plain": (AnitescuHart(acceleration="none"), 1e-7),
        "algorithm 3": (AnitescuHart(algorithm=3), 1e-9),
        "portfolio of the library": (FrictionAuto(), 1e-9),
    }
    if is_installed():
        solvers["algorithm 1, plain, clarabel"] = (AnitescuHart(acceleration="none", qp=Clarabel()), 1e-7)
        solvers["algorithm 3, clarabel"] = (AnitescuHart(algorithm=3, qp=Clarabel()), 1e-9)
    rows = []
    for name, (solver, tolerance) in solvers.items():
        repeats = 1 if "plain" in name else options.repeat
        runs = [run(solver, options.steps, tolerance) for _ in range(repeats)]
        seconds = np.min([r.certificate.solve_time for r in runs], axis=0)
        last = runs[-1]
        rows.append(
            {
                "solver": name,
                "first": f"{seconds[0]:.4f}",
                "median": f"{np.median(seconds):.4f}",
                "mean": f"{seconds.mean():.4f}",
                "iterations": int(last.certificate.iterations.sum()),
                "worst_residual": f"{last.certificate.residual.max():.1e}",
                "height": f"{centres(last)[-1, :, 1].mean():.7f}",
            }
        )
    with open(options.out, "w", newline="") if options.out else sys.stdout as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
