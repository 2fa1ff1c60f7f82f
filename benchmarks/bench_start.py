"""How long one waits: from ``python -c`` to the first finished step, and the demo, with and without compiled kernels.

::

    python benchmarks/bench_start.py [--repeat 5] [--out benchmarks/results/start.csv]

Every figure is that of a process of its own. Cold runs get an empty ``NUMBA_CACHE_DIR``; warm ones the folder that a
cold run has just filled, and the smallest of the repeats counts. CPU seconds include those of helper processes.
Python's byte code is there in both, as after ``pip``: a demo that is not timed writes it.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

SCENE = """
import signorini as sg
scene = sg.Scene()
scene.add_fixed(sg.HalfSpace())
scene.add_body(sg.{shape}, mass=1.0, position=(0, 0, {height}), velocity=(2, 0, 0))
scene.set_contact(friction=0.2)
"""
STEP = "sg.Simulator(scene, h=0.01).step()"
JOBS = {
    "python alone": ["-c", "pass"],
    "import signorini": ["-c", "import signorini"],
    "first step, sphere": ["-c", SCENE.format(shape="Sphere(1.0)", height=1.0) + STEP],
    "first step, box": ["-c", SCENE.format(shape="Box((1, 1, 1))", height=0.5) + STEP],
    "ten lines (simulate)": [
        "-c",
        SCENE.format(shape="Sphere(1.0)", height=1.0) + "sg.simulate(scene, duration=0.6, h=0.12).report()",
    ],
    "demo": ["-c", "from signorini.cli import main; main(['demo'])"],
}


def waited(job: list[str], kernels: str, folder: str) -> tuple[float, float]:
    """Return wall and CPU seconds of one process."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": kernels, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run([sys.executable, *job], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    rows = []
    for name, job in [("", JOBS["demo"]), *JOBS.items()]:
        with tempfile.TemporaryDirectory() as kernels, tempfile.TemporaryDirectory() as folder:
            cold = waited(job, kernels, folder)
            if not name:
                continue
            warm = [waited(job, kernels, folder) for _ in range(options.repeat)]
        least = [min(column) for column in zip(*warm, strict=True)]
        rows.append([name, *(f"{x:.2f}" for x in (*cold, *least))])
        print(
            f"{name:22s} cold {cold[0]:6.2f} s (CPU {cold[1]:6.2f}), warm {least[0]:5.2f} s (CPU {least[1]:5.2f})",
            flush=True,
        )
        if options.out:
            write(options.out, rows)
    return 0


def write(path: Path, rows: list[list[str]]) -> None:
    """Write what is known so far; a killed run loses nothing."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["what", "cold_wall_s", "cold_cpu_s", "warm_wall_s", "warm_cpu_s"])
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
