"""Cost of a step of a hanging chain against the number of its links, and what becomes of its joints and energy.

::

    python benchmarks/bench_chain.py [--links 100 200 400 700 1000] [--steps 20] [--out bench_chain.csv]

Times are CPU time of one step, the smallest of the steps measured, BLAS on one thread; the slope is that of the
straight line through the logarithms, 1 where the cost grows in proportion. Links hang from each other by spherical
joints and lie along x at first.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import signorini as sg

LENGTH, H = 0.1, 1e-3


def chain(n: int) -> sg.Scene:
    scene = sg.Scene()
    half = np.sqrt(0.5)
    for k in range(n):
        scene.add_body(
            sg.Capsule(0.01, 0.8 * LENGTH),
            mass=0.1,
            position=((k + 0.5) * LENGTH, 0, 0),
            orientation=(half, 0, half, 0),
            name=f"link{k}",
        )
        anchor = (k * LENGTH, 0, 0)
        scene.add_joint("spherical", None if k == 0 else f"link{k - 1}", f"link{k}", anchor=anchor)
    return scene


def seconds_per_step(n: int, steps: int, *, projection: bool) -> float:
    simulator = sg.Simulator(chain(n), h=H, formulation=sg.MoreauJean(projection=projection))
    simulator.advance()
    best = np.inf
    for _ in range(steps):
        began = time.process_time()
        simulator.advance()
        best = min(best, time.process_time() - began)
    return best


def slope(n: list[int], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--links", type=int, nargs="+", default=[100, 200, 400, 700, 1000])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    for projection in (False, True):
        seconds = [seconds_per_step(n, arguments.steps, projection=projection) for n in arguments.links]
        for n, time_of_step in zip(arguments.links, seconds, strict=True):
            print(f"projection {projection!s:<6} {n:5d} links {1e3 * time_of_step:9.3f} ms per step")
            rows.append({"projection": projection, "links": n, "ms_per_step": 1e3 * time_of_step})
        print(f"log-log slope {slope(arguments.links, seconds):.3f}")
    if arguments.out:
        with arguments.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
