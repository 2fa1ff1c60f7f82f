"""Time per sweep and memory per contact of the matrix-free path, up to 1e5 contacts.

Spheres on a jiggled cubic lattice, pressed together by random velocities; each touches its six neighbours or a wall::

    python benchmarks/bench_friction_scaling.py [--out benchmarks/results/friction_scaling.csv]

W is never formed. For every size: CPU time of one sweep (the smallest of several runs of NSGS with a fixed number of
sweeps), memory of the operator and of a solution in bytes per contact, and what 200 accelerated sweeps reach; then
one factorisation of the Newton matrix in the space of the bodies, up to the size given by ``--newton``.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import sys
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.problems import Delassus, FrictionProblem
from signorini.solvers import NSGS, Control
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_newton import newton_system

RADIUS, MASS, MU = 0.5, 1.0, 0.5


def lattice(side: int) -> FrictionProblem:
    """`side` cubed spheres; about three contacts each."""
    rng = np.random.default_rng(0)
    places = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    centre = places + rng.uniform(-0.1, 0.1, places.shape)
    number = np.arange(side**3).reshape(side, side, side) + 1  # body 0 is the box
    a, b, n = [], [], []
    for axis in range(3):
        first = np.take(number, np.arange(side - 1), axis=axis).reshape(-1)
        second = np.take(number, np.arange(1, side), axis=axis).reshape(-1)
        d = centre[second - 1] - centre[first - 1]
        a.append(first)
        b.append(second)
        n.append(d / np.linalg.norm(d, axis=1)[:, None])
    floor = number[:, :, 0].reshape(-1)
    a.append(np.zeros(floor.size, dtype=np.int64))
    b.append(floor)
    n.append(np.tile([0.0, 0.0, 1.0], (floor.size, 1)))
    body_a, body_b, normal = np.concatenate(a), np.concatenate(b), np.concatenate(n)
    order = np.lexsort((body_b, body_a))  # as an engine sorts them
    body_a, body_b, normal = body_a[order], body_b[order], normal[order]
    frame = frames(normal)
    arm = np.cross(RADIUS * normal[:, None, :], frame)
    J_a = np.concatenate([-frame, -arm], axis=2)
    J_b = np.concatenate([frame, -arm], axis=2)
    inverse = np.diag([1.0 / MASS] * 3 + [1.0 / (0.4 * MASS * RADIUS**2)] * 3)
    M_inv = np.tile(inverse, (side**3 + 1, 1, 1))
    M_inv[0] = 0.0
    v = rng.normal(size=(side**3 + 1, 6)) * 0.1
    v[:, 2] -= 1.0
    v[0] = 0.0
    load = np.einsum("cij,cj->ci", J_a, v[body_a]) + np.einsum("cij,cj->ci", J_b, v[body_b])
    W = Delassus(body_a, body_b, J_a, J_b, M_inv)
    return FrictionProblem(W, load.reshape(-1), np.full(body_a.size, MU))


def frames(normal: Array) -> Array:
    """Return rows (normal, tangent, tangent) for every contact, (n_c, 3, 3)."""
    helper = np.where((np.abs(normal[:, 0]) < 0.6)[:, None], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    t = np.cross(normal, helper)
    t /= np.linalg.norm(t, axis=1)[:, None]
    return np.stack([normal, t, np.cross(normal, t)], axis=1)


def side_for(contacts: int) -> int:
    """Return the edge of a lattice with about so many contacts."""
    return max(2, round(float(np.cbrt(contacts / 3.0))))


def measure(contacts: int, newton: int) -> dict[str, Any]:
    """Return one row of the table."""
    tracemalloc.start()
    began = time.process_time()
    problem = lattice(side_for(contacts))
    posed = time.process_time() - began
    operator = tracemalloc.get_traced_memory()[0]
    n_c = problem.contact_count
    control = Control(tolerance=1e-14)
    tracemalloc.reset_peak()
    NSGS(max_iterations=8).solve(problem, control)
    solving = tracemalloc.get_traced_memory()[1] - operator
    tracemalloc.stop()
    seconds = {}
    for sweeps in (8, 40):
        seconds[sweeps] = np.inf
        for _ in range(3):
            began = time.process_time()
            NSGS(max_iterations=sweeps, acceleration=0).solve(problem, control)
            seconds[sweeps] = min(seconds[sweeps], time.process_time() - began)
    began = time.process_time()
    accelerated = NSGS(max_iterations=200).solve(problem, control)
    row = {
        "bodies": side_for(contacts) ** 3,
        "contacts": n_c,
        "pose ms": round(1e3 * posed, 2),
        "sweep ms": round(1e3 * (seconds[40] - seconds[8]) / 32, 4),
        "sweep ns per contact": round(1e9 * (seconds[40] - seconds[8]) / 32 / n_c, 1),
        "operator bytes per contact": round(operator / n_c),
        "solver bytes per contact": round(solving / n_c),
        "200 accelerated sweeps ms": round(1e3 * (time.process_time() - began), 1),
        "residual then": f"{accelerated.residual:.1e}",
        "factorisation ms": None,
    }
    if n_c <= newton:
        scaled = EquilibratedProblem(problem)
        system = newton_system(scaled)
        began = time.process_time()
        system.factor(np.tile(np.eye(3), (scaled.n_c, 1, 1)))
        row["factorisation ms"] = round(1e3 * (time.process_time() - began), 2)
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contacts", type=int, nargs="+", default=[100, 1000, 3000, 10_000, 30_000, 100_000])
    parser.add_argument("--newton", type=int, default=10_000, help="most contacts for which a matrix is factorised")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    measure(50, 50)  # compile or load the kernels
    rows = []
    for contacts in options.contacts:
        rows.append(measure(contacts, options.newton))
        print("  ".join(f"{key}: {value}" for key, value in rows[-1].items()), flush=True)
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
