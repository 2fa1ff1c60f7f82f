"""A campaign of planar friction problems of 100 to 2000 contacts: the default solver beside each of its members.

Every solver has the same CPU time for a problem, and no other limit. Counted as solved is what the solver calls so
and a residual written apart from the library's kernels, in extended precision, confirms::

    python benchmarks/bench_planar.py --count 500 --out benchmarks/results/planar.csv

Three families, with friction from 0 to 1 and mass ratios up to 1e4: granular flow on a wall, masonry walls, and
hyperstatic stacks with up to six contacts at a joint. Free velocities are those of a motion of the bodies, so that rest
is admissible and a solution exists.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from signorini.problems import Delassus, FrictionProblem
from signorini.solvers import (
    NSGS,
    FrictionAuto,
    FrictionInteriorPoint,
    ProjectedGradient,
    ProximalNewton,
    Solver,
    solve,
)

Array = NDArray[np.float64]
Random = np.random.Generator
TOLERANCE = 1e-8
STEP = 0.005  # seconds of gravity in the free velocity
ALL = 10**9  # iterations: time alone limits a solver
MEMBERS: tuple[Solver, ...] = (
    FrictionAuto(),
    NSGS(),
    ProjectedGradient(),
    FrictionInteriorPoint(),
    ProximalNewton(),
)

Contact = tuple[int, int, Array, Array]
"""First and second body (0 is the ground), point, and normal from the first to the second."""


def posed(r: Random, centre: Array, mass: Array, inertia: Array, contacts: list[Contact], v: Array) -> FrictionProblem:
    """Pose the step of bodies with free velocities v (n, 3); row 0 of `centre`, mass, inertia and v is the ground."""
    n_c, n_b = len(contacts), mass.size
    J = np.zeros((2, n_c, 2, 6))
    body = np.zeros((2, n_c), dtype=np.int64)
    for c, (a, b, point, normal) in enumerate(contacts):
        frame = np.array([normal, [-normal[1], normal[0]]])
        for side, k, sign in ((0, a, -1.0), (1, b, 1.0)):
            arm = point - centre[k]
            body[side, c] = k
            J[side, c, :, :2] = sign * frame
            J[side, c, :, 5] = sign * (arm[0] * frame[:, 1] - arm[1] * frame[:, 0])
    M_inv = np.zeros((n_b, 6, 6))
    M_inv[1:, 0, 0] = M_inv[1:, 1, 1] = 1.0 / mass[1:]
    M_inv[1:, 5, 5] = 1.0 / inertia[1:]
    motion = np.zeros((n_b, 6))
    motion[1:, [0, 1, 5]] = v[1:]
    b = np.einsum("cij,cj->ci", J[0], motion[body[0]]) + np.einsum("cij,cj->ci", J[1], motion[body[1]])
    mu = np.full(n_c, r.uniform(0.0, 1.0)) if r.random() < 0.7 else r.uniform(0.0, 1.0, n_c)
    W = Delassus(body[0], body[1], J[0], J[1], M_inv)
    if r.random() < 0.5:
        return FrictionProblem(W, b.reshape(-1), mu, dim=2)
    # half of them as a sparse matrix, as problems of files are
    rows = np.repeat(np.arange(2 * n_c), 12)
    columns = (6 * body.transpose(1, 0)[:, None, :, None] + np.arange(6)).repeat(2, axis=1).reshape(-1)
    H = sparse.csr_array((J.transpose(1, 2, 0, 3).reshape(-1), (rows, columns)), shape=(2 * n_c, 6 * n_b))
    D = sparse.diags_array(np.einsum("bii->bi", M_inv).reshape(-1))
    matrix = sparse.csr_array(H @ D @ H.T)
    matrix.eliminate_zeros()
    return FrictionProblem(matrix, b.reshape(-1), mu, dim=2)


def masses(r: Random, volume: Array) -> Array:
    """Density 1, or one that differs from body to body by up to 1e4."""
    ratio = 1.0 if r.random() < 0.4 else 10.0 ** r.uniform(0.0, 4.0)
    return np.asarray(volume * ratio ** r.uniform(-0.5, 0.5, volume.size))


def falling(r: Random, centre: Array, tilt: float) -> Array:
    """Free velocities (n, 3): gravity under a tilt, a shear flow, and random velocities of another size."""
    v = np.zeros((centre.shape[0], 3))
    v[:, 0], v[:, 1] = 9.81 * STEP * np.sin(tilt), -9.81 * STEP * np.cos(tilt)
    if r.random() < 0.5:
        v[:, 0] += r.uniform(0.0, 1.0) * centre[:, 1] / centre[:, 1].max()
    v += 10.0 ** r.uniform(-4.0, 0.5) * r.standard_normal(v.shape)
    return v


def granular(r: Random, n_c: int) -> FrictionProblem:
    """Discs of several sizes, nearly close packed on a rough or smooth wall, with or without walls at the sides."""
    width = int(r.integers(4, 12 + int(np.sqrt(n_c))))
    spread = r.uniform(0.0, 0.2)
    gap = r.uniform(0.3, 1.2) * spread if spread > 0.02 else 0.05
    height = max(2, round(n_c / (2.6 * width)))
    i, j = np.meshgrid(np.arange(width), np.arange(height))
    place = np.stack([2.0 * i + j % 2, 1.0 + np.sqrt(3.0) * j], axis=2).reshape(-1, 2)
    place += 0.3 * spread * r.standard_normal(place.shape)
    radius = np.concatenate([[0.0], 1.0 + spread * r.uniform(-1.0, 1.0, place.shape[0])])
    centre = np.vstack([np.zeros((1, 2)), place])
    contacts: list[Contact] = []
    sides = r.random() < 0.5
    for b in range(1, centre.shape[0]):
        for a in range(1, b):
            d = centre[b] - centre[a]
            distance = float(np.hypot(*d))
            if distance < radius[a] + radius[b] + gap:
                contacts.append((a, b, centre[a] + radius[a] * d / distance, d / distance))
        walls = [(centre[b, 1], [0.0, 1.0])]
        if sides:
            walls += [(centre[b, 0] + 1.0, [1.0, 0.0]), (2.0 * width - centre[b, 0], [-1.0, 0.0])]
        for distance, inward in walls:
            if distance < radius[b] + gap:
                normal = np.array(inward)
                contacts.append((0, b, centre[b] - radius[b] * normal, normal))
    mass = masses(r, np.pi * radius**2)
    mass[0] = 1.0
    return posed(
        r, centre, mass, 0.5 * mass * np.maximum(radius, 1.0) ** 2, contacts, falling(r, centre, r.uniform(0.0, 0.7))
    )


def bricks(centre: list[list[float]], half: Array, r: Random) -> tuple[Array, Array, Array]:
    """Return centres, masses and inertias of bricks of half sizes (w, h), the ground first."""
    places = np.vstack([np.zeros((1, 2)), np.array(centre)])
    mass = masses(r, np.full(places.shape[0], 4.0 * half[0] * half[1]))
    return places, mass, mass * (half[0] ** 2 + half[1] ** 2) / 3.0


def wall(r: Random, n_c: int) -> FrictionProblem:
    """Courses of bricks in running bond: two contacts at every overlap, with or without contacts at the head joints."""
    half = np.array([1.0, r.uniform(0.2, 0.8)])
    heads = r.random() < 0.5
    width = int(r.integers(2, 4 + int(np.sqrt(n_c / 4.0))))
    height = max(2, round(n_c / ((6.0 if heads else 4.0) * width)))
    up = np.array([0.0, 1.0])
    centre = [[2.0 * i + j % 2, half[1] * (2 * j + 1)] for j in range(height) for i in range(width)]
    contacts: list[Contact] = []
    for j in range(height):
        for i in range(width):
            b = 1 + j * width + i
            x, bottom = centre[b - 1][0], 2.0 * half[1] * j
            below = [(0, x - 1.0, x + 1.0)]
            if j > 0:
                under = [k for k in range(width) if abs(2.0 * k + (j - 1) % 2 - x) < 1.5]
                ends = [(max(x, centre[(j - 1) * width + k][0]), min(x, centre[(j - 1) * width + k][0])) for k in under]
                below = [(1 + (j - 1) * width + k, e[0] - 1.0, e[1] + 1.0) for k, e in zip(under, ends, strict=True)]
            contacts += [(a, b, np.array([at, bottom]), up) for a, *span in below for at in span]
            if heads and i > 0:
                contacts += [
                    (b - 1, b, np.array([x - 1.0, bottom + s * half[1]]), np.array([1.0, 0.0])) for s in (0.0, 2.0)
                ]
    places, mass, inertia = bricks(centre, half, r)
    return posed(r, places, mass, inertia, contacts, falling(r, places, r.uniform(0.0, 0.6)))


def stacks(r: Random, n_c: int) -> FrictionProblem:
    """Columns of boxes with two to six contacts at a joint, with or without beams across them."""
    joint = int(r.integers(2, 7))
    columns = int(r.integers(1, 6))
    height = max(2, round(n_c / (joint * columns)))
    half = np.array([1.0, r.uniform(0.1, 1.0)])
    every = int(r.integers(2, 6)) if r.random() < 0.5 and columns > 1 else 0
    up = np.array([0.0, 1.0])
    centre: list[list[float]] = []
    contacts: list[Contact] = []
    below = [0] * columns
    for j in range(height):
        beam = every > 0 and j % every == every - 1
        bottom = 2.0 * half[1] * j
        if beam:
            centre.append([1.5 * (columns - 1), bottom + half[1]])
        for i in range(columns):
            if not beam:
                centre.append([3.0 * i, bottom + half[1]])
            b = len(centre)
            places_x = 3.0 * i + np.linspace(-0.9, 0.9, joint)
            contacts += [(below[i], b, np.array([x, bottom]), up) for x in places_x]
            below[i] = b
    places, mass, inertia = bricks(centre, half, r)
    return posed(r, places, mass, inertia, contacts, falling(r, places, r.uniform(0.0, 0.5)))


FAMILIES: dict[str, Callable[[Random, int], FrictionProblem]] = {"granular": granular, "wall": wall, "stacks": stacks}


def generated(k: int, seed: int = 0) -> tuple[str, FrictionProblem]:
    """Return family and problem number `k`."""
    r = np.random.default_rng((seed, k))
    name = list(FAMILIES)[k % len(FAMILIES)]
    while True:  # sizes are aimed at, not met
        problem = FAMILIES[name](r, int(10.0 ** r.uniform(2.0, np.log10(2000.0))))
        if 100 <= problem.contact_count <= 2000:
            return name, problem


def independent_residual(problem: FrictionProblem, p: Array) -> float:
    """Return the natural map's norm over that of p or of the load, from the law alone, in extended precision."""
    wide = np.longdouble
    n_c = problem.contact_count
    W = problem.W
    if isinstance(W, Delassus):
        v = np.zeros((W.M_inv.shape[0], 6), dtype=wide)
        x = p.reshape(n_c, 2).astype(wide)
        for body, J in ((W.body_a, W.J_a), (W.body_b, W.J_b)):
            np.add.at(v, body, np.einsum("cij,ci->cj", J.astype(wide), x))
        v = np.einsum("bij,bj->bi", W.M_inv.astype(wide), v)
        u = sum(np.einsum("cij,cj->ci", J.astype(wide), v[body]) for body, J in ((W.body_a, W.J_a), (W.body_b, W.J_b)))
        squares = [
            np.einsum("cj,cjk,ck->c", J[:, 0], W.M_inv[body], J[:, 0])
            for body, J in ((W.body_a, W.J_a), (W.body_b, W.J_b))
        ]
        W_nn = squares[0] + squares[1]
    else:
        rows: Any = sparse.csr_array(W)
        u = np.zeros(2 * n_c, dtype=wide)
        np.add.at(
            u,
            np.repeat(np.arange(2 * n_c), np.diff(rows.indptr)),
            rows.data.astype(wide) * p.astype(wide)[rows.indices],
        )
        u = u.reshape(n_c, 2)
        W_nn = rows.diagonal()[::2]
    b = problem.b.reshape(n_c, 2).astype(wide)
    u = u + b
    x = p.reshape(n_c, 2).astype(wide)
    rho, mu = 1 / W_nn.astype(wide), problem.mu.astype(wide)
    z_n, z_t = x[:, 0] - rho * (u[:, 0] + mu * abs(u[:, 1])), x[:, 1] - rho * u[:, 1]
    inside = abs(z_t) <= mu * z_n
    n = np.maximum((z_n + mu * abs(z_t)) / (1 + mu * mu), 0)
    nearest = np.stack([np.where(inside, z_n, n), np.where(inside, z_t, np.sign(z_t) * mu * n)], axis=1)
    error = np.sqrt(((x - nearest) ** 2).sum())
    scale = max(np.sqrt((x**2).sum()), np.sqrt(((rho[:, None] * b) ** 2).sum()))
    return float(error / scale) if np.isfinite(error) else np.inf


def measure(k: int, limit: float, members: Sequence[Solver]) -> list[dict[str, Any]]:
    """Return one row per solver for problem `k`."""
    family, problem = generated(k)
    rows = []
    for solver in members:
        began = time.process_time()
        solution = solve(problem, solver, tolerance=TOLERANCE, time_limit=limit, max_iterations=ALL)
        seconds = time.process_time() - began
        residual = independent_residual(problem, solution.z)
        rows.append(
            {
                "problem": k,
                "family": family,
                "contacts": problem.contact_count,
                "solver": type(solver).__name__,
                "solved": int(solution.success and residual <= 1.1 * TOLERANCE),
                "wrong": int(solution.success and residual > 1.1 * TOLERANCE),
                "residual": f"{residual:.2e}",
                "ms": f"{1e3 * seconds:.4g}",
            }
        )
    return rows


def report(rows: list[dict[str, Any]]) -> None:
    """Print successes and mean times by family and solver."""
    families = [*FAMILIES, "all"]
    print(f"{'solver':24s}" + "".join(f"{name:>16s}" for name in families) + f"{'wrong':>7s}{'mean ms':>10s}")
    for solver in dict.fromkeys(row["solver"] for row in rows):
        own = [row for row in rows if row["solver"] == solver]
        line = f"{solver:24s}"
        for family in families:
            part = [row["solved"] for row in own if family in (row["family"], "all")]
            line += f"{sum(part):>9d} of {len(part):3d}"
        print(line + f"{sum(row['wrong'] for row in own):7d}{np.mean([float(row['ms']) for row in own]):10.1f}")
    auto = {row["problem"] for row in rows if row["solver"] == "FrictionAuto" and row["solved"]}
    missed = sorted({(row["problem"], row["solver"]) for row in rows if row["solved"] and row["problem"] not in auto})
    print(f"solved by a member and not by FrictionAuto: {missed}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--limit", type=float, default=1.0, help="CPU seconds for each solver and problem")
    parser.add_argument("--auto", action="store_true", help="the default solver alone")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    members = MEMBERS[:1] if options.auto else MEMBERS
    time.perf_counter = (
        time.process_time
    )  # the clock of the solvers' time limit: other work on the machine costs nothing
    measure(0, options.limit, members)  # compile
    rows: list[dict[str, Any]] = []
    for k in range(options.first, options.first + options.count):
        rows += measure(k, options.limit, members)
        if options.out:
            with options.out.open("w", newline="") as file:
                writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
