"""A long random run over classes of friction problems.

Counts, for every class and solver, how many problems were solved to 1e-8, and how often "solved" was said of impulses
that an independent measure in extended precision rejects (which must never happen)::

    python benchmarks/random_friction.py --small 10000 --large 1000 --out results/random_friction.csv

Small problems have up to 20 contacts, large ones 21 to 200. The default solver runs on every problem, the others on one
small problem in ``--every``. All classes but the last have a solution by construction or by theory; of the last class
the problems have none, and "solved" would be wrong.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

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
TIME_LIMIT = 10.0  # seconds for each problem
RUNAWAY = 1e-4  # errors above this part of the load's own size, hidden by huge impulses, are counted as doubtful


def coefficients(r: Random, n_c: int) -> Array:
    """Friction from 0 to 2, one contact in six without, sometimes the same everywhere."""
    mu = r.uniform(0.0, 2.0, n_c) * (r.random(n_c) > 1.0 / 6.0)
    return mu if r.random() < 0.7 else np.full(n_c, mu[0])


def bodies(r: Random, n_c: int, ratio: float = 10.0, share: float = 0.6) -> tuple[Delassus, Array]:
    """Contacts at random places of rigid bodies, each with the ground or another body; and their velocities."""
    n_b = max(1, round(share * n_c * r.uniform(0.3, 1.0)))
    mass = ratio ** r.uniform(-0.5, 0.5, n_b + 1)
    M_inv = np.zeros((n_b + 1, 6, 6))
    for k in range(1, n_b + 1):
        M_inv[k, range(6), range(6)] = 1.0 / np.concatenate([np.full(3, mass[k]), mass[k] * r.uniform(0.1, 0.4, 3)])
    body_b = 1 + r.integers(0, n_b, n_c)
    body_a = np.array([int(r.integers(0, b)) for b in body_b])  # 0 is the ground
    J_a, J_b = np.zeros((2, n_c, 3, 6))
    for c in range(n_c):
        frame = np.linalg.qr(r.standard_normal((3, 3)))[0].T
        for J, sign in ((J_a, -1.0), (J_b, 1.0)):
            arm = r.uniform(-1.0, 1.0, 3)
            J[c] = sign * np.hstack([frame, np.cross(arm, frame)])
    v = r.standard_normal((n_b + 1, 6))
    v[0] = 0.0
    return Delassus(body_a, body_b, J_a, J_b, M_inv), v


def moving(W: Delassus, v: Array) -> Array:
    """Contact velocities of the bodies' motion."""
    u = np.einsum("cij,cj->ci", W.J_a, v[W.body_a]) + np.einsum("cij,cj->ci", W.J_b, v[W.body_b])
    return np.asarray(u.reshape(-1))


def rigid_bodies(r: Random, n_c: int) -> FrictionProblem:
    W, v = bodies(r, n_c)
    return FrictionProblem(W, moving(W, v), coefficients(r, n_c))


def heavy_and_light(r: Random, n_c: int) -> FrictionProblem:
    W, v = bodies(r, n_c, ratio=1e6)
    return FrictionProblem(W, moving(W, v), coefficients(r, n_c))


def few_bodies(r: Random, n_c: int) -> FrictionProblem:
    """Hyperstatic: far more contacts than degrees of freedom."""
    W, v = bodies(r, n_c, share=0.1)
    return FrictionProblem(W, moving(W, v), coefficients(r, n_c))


def duplicates(r: Random, n_c: int) -> FrictionProblem:
    """Every contact twice or more."""
    W, v = bodies(r, max(1, n_c // 2))
    copy = np.concatenate([np.arange(W.contact_count), r.integers(0, W.contact_count, n_c - W.contact_count)])
    twice = Delassus(W.body_a[copy], W.body_b[copy], W.J_a[copy], W.J_b[copy], W.M_inv)
    return FrictionProblem(twice, moving(twice, v), coefficients(r, W.contact_count)[copy])


def masked(r: Random, n_c: int) -> FrictionProblem:
    """Planar motion posed in space: zero rows along the second tangent; some contacts cannot move at all."""
    A = r.standard_normal((n_c, 3, max(2, 2 * n_c // 2)))
    A[:, 2] = 0.0
    A[r.random(n_c) < 0.15] = 0.0
    A = A.reshape(3 * n_c, -1)
    return FrictionProblem(A @ A.T, A @ r.standard_normal(A.shape[1]), coefficients(r, n_c))


def planar(r: Random, n_c: int) -> FrictionProblem:
    A = r.standard_normal((2 * n_c, int(r.integers(1, 2 * n_c + 1)))) * 10.0 ** r.uniform(-1.0, 1.0)
    return FrictionProblem(A @ A.T, A @ r.standard_normal(A.shape[1]), coefficients(r, n_c), dim=2)


def planar_heavy(r: Random, n_c: int) -> FrictionProblem:
    k = int(r.integers(1, 2 * n_c + 1))
    A = r.standard_normal((2 * n_c, k)) * 1e6 ** r.uniform(-0.5, 0.5, k)
    return FrictionProblem(A @ A.T, A @ r.standard_normal(k), coefficients(r, n_c), dim=2)


def low_rank(r: Random, n_c: int) -> FrictionProblem:
    A = r.standard_normal((3 * n_c, int(r.integers(1, n_c + 1))))
    return FrictionProblem(A @ A.T, A @ r.standard_normal(A.shape[1]), coefficients(r, n_c))


def unsymmetric(r: Random, n_c: int) -> FrictionProblem:
    """With a gyroscopic part: (M + h G)^-1 between the Jacobians."""
    k = int(r.integers(3, 3 * n_c + 1))
    A, X = r.standard_normal((3 * n_c, k)), r.standard_normal((k, k)) * 0.3 / np.sqrt(k)
    N = np.linalg.inv(np.eye(k) + X - X.T)
    return FrictionProblem(A @ N @ A.T, A @ r.standard_normal(k), coefficients(r, n_c))


def with_solution(W: Any, mu: Array, r: Random, degenerate: float = 0.0) -> FrictionProblem:
    """Choose b so that a solution is known: contacts open, sticking or slipping, a share on the border of two modes.

    The velocities are no motion of any bodies: where W is singular, b lies outside its range.
    """
    n_c = mu.size
    p, u = np.zeros((2, n_c, 3))
    mode = r.integers(0, 3, n_c)
    border = r.random(n_c) < degenerate
    angle = r.uniform(0.0, 2.0 * np.pi, n_c)
    d = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for c in range(n_c):
        if mode[c] == 0:
            if not border[c]:
                u[c] = np.concatenate([[r.uniform(0.1, 1.0)], r.standard_normal(2)])
            continue
        p[c, 0] = r.uniform(0.1, 1.0)
        share = 1.0 if mode[c] == 2 or border[c] else r.uniform(0.0, 1.0)
        p[c, 1:] = -share * mu[c] * p[c, 0] * d[c]
        if mode[c] == 2 and not border[c]:
            u[c, 1:] = r.uniform(0.1, 1.0) * d[c]
    full = W.dense() if isinstance(W, Delassus) else W
    return FrictionProblem(W, (u - (full @ p.reshape(-1)).reshape(n_c, 3)).reshape(-1), mu)


def inconsistent(r: Random, n_c: int) -> FrictionProblem:
    W, _ = bodies(r, n_c, share=0.15)
    return with_solution(W, coefficients(r, n_c), r)


def degenerate(r: Random, n_c: int) -> FrictionProblem:
    W, _ = bodies(r, n_c)
    return with_solution(W, coefficients(r, n_c), r, degenerate=0.5)


def polygon(r: Random, n_c: int) -> FrictionProblem:
    W, v = bodies(r, n_c)
    options: dict[str, Any] = {"cone": "polygon", "directions": int(r.integers(3, 11)), "rotation": r.uniform(0.0, 1.0)}
    return FrictionProblem(W, moving(W, v), coefficients(r, n_c), **options)


def polygon_low_rank(r: Random, n_c: int) -> FrictionProblem:
    A = r.standard_normal((3 * n_c, int(r.integers(1, n_c + 1))))
    options: dict[str, Any] = {"cone": "polygon", "directions": int(r.integers(3, 11))}
    return FrictionProblem(A @ A.T, A @ r.standard_normal(A.shape[1]), coefficients(r, n_c), **options)


def squeezed(r: Random, n_c: int) -> FrictionProblem:
    """A body between two contacts that approach each other and cannot give way, among others: no solution."""
    problem = rigid_bodies(r, n_c)
    n = 3 * n_c
    W = np.zeros((n + 6, n + 6))
    W[:n, :n] = problem.dense()
    n_0 = np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0])
    W[n:, n:] = np.outer(n_0, n_0)
    W[n:, n:][[1, 2, 4, 5], [1, 2, 4, 5]] = 1.0
    b = np.concatenate([problem.b, [-r.uniform(0.1, 1.0), *r.standard_normal(2), -r.uniform(0.1, 1.0), 0.3, 0.1]])
    return FrictionProblem(W, b, np.concatenate([problem.mu, [0.5, 0.5]]))


CLASSES: dict[str, Callable[[Random, int], FrictionProblem]] = {
    "rigid bodies": rigid_bodies,
    "mass ratio 1e6": heavy_and_light,
    "hyperstatic": few_bodies,
    "hyperstatic, inconsistent": inconsistent,
    "duplicate contacts": duplicates,
    "degenerate modes": degenerate,
    "zero rows": masked,
    "rank deficient": low_rank,
    "unsymmetric": unsymmetric,
    "planar": planar,
    "planar, mass ratio 1e6": planar_heavy,
    "polygon": polygon,
    "polygon, rank deficient": polygon_low_rank,
    "without solution": squeezed,
}
SOLVERS: tuple[Solver, ...] = (NSGS(), ProjectedGradient(), FrictionInteriorPoint(), ProximalNewton())


def project(z: Any, mu: float, directions: int, rotation: float) -> Any:
    """Return the nearest point of one contact's cone, (dim,)."""
    if directions:
        angle = rotation + 2.0 * np.pi * np.arange(directions) / directions
        edges = np.stack([np.ones(directions), mu * np.cos(angle), mu * np.sin(angle)])
        return edges @ nnls(edges, z.astype(np.float64))[0]
    size = np.sqrt((z[1:] ** 2).sum())
    if z[0] >= 0 and size <= mu * z[0]:
        return z
    n = (z[0] + mu * size) / (1 + mu * mu)
    if n <= 0:
        return np.zeros_like(z)
    return np.concatenate([[n], z[1:] * (mu * n / size if size > 0 else 0)])


def independent_errors(problem: FrictionProblem, p: Array) -> tuple[float, float]:
    """Return the natural map's norm over that of p or the load, and over that of the load alone.

    Written from the law, apart from the library's kernels, in extended precision.
    """
    dim, n_c = problem.dim, problem.contact_count
    W, b, x = (np.asarray(part, dtype=np.longdouble) for part in (problem.dense(), problem.b, p))
    u = (W @ x + b).reshape(n_c, dim)
    x, b = x.reshape(n_c, dim), b.reshape(n_c, dim)
    W_nn = np.diag(W)[::dim]
    rho = np.where(W_nn > 1e-15 * W_nn.max(), 1 / np.where(W_nn > 0, W_nn, 1), 1)
    directions = problem.directions if problem.cone == "polygon" and dim == 3 else 0
    error = np.longdouble(0)
    for c in range(n_c):
        slip = np.sqrt((u[c, 1:] ** 2).sum())
        if directions:
            angle = problem.rotation + 2.0 * np.pi * np.arange(directions) / directions
            slip = max(0.0, (-(np.cos(angle) * u[c, 1] + np.sin(angle) * u[c, 2])).max())
        u_hat = u[c].copy()
        u_hat[0] += problem.mu[c] * slip
        projected = project(x[c] - rho[c] * u_hat, problem.mu[c], directions, problem.rotation)
        error += ((x[c] - projected) ** 2).sum()
    size, load = np.sqrt((x**2).sum()), np.sqrt(((rho[:, None] * b) ** 2).sum())
    error = np.sqrt(error)
    if not np.isfinite(error):
        return np.inf, np.inf
    return float(error / (max(size, load) or 1)), float(error / (load or 1))


def random_run(
    small: int,
    large: int,
    every: int,
    seed: int = 0,
    progress: int = 0,
    failures: Path | None = None,
    out: Path | None = None,
) -> list[dict[str, object]]:
    """Solve random problems; return one row per class, size and solver.

    Every `progress` problems say how it goes, and write the rows so far to `out`.
    """
    tally: Counter[tuple[str, str, str, str]] = Counter()
    seconds: dict[tuple[str, str, str], float] = {}
    names = list(CLASSES)
    default = FrictionAuto()
    for k in range(small + large):
        r = np.random.default_rng((seed, k))
        name = names[k % len(names)]
        size = "to 20" if k < small else "21 to 200"
        problem = CLASSES[name](r, int(r.integers(1, 21)) if k < small else int(r.integers(21, 201)))
        both = k < small and k // len(names) % every == 0
        for solver in (default, *SOLVERS) if both else (default,):
            solution = solve(problem, solver, tolerance=TOLERANCE, time_limit=TIME_LIMIT)
            key = name, size, type(solver).__name__
            error, against_load = independent_errors(problem, solution.z) if solution.success else (0.0, 0.0)
            tally[*key, "tried"] += 1
            tally[*key, "solved"] += solution.success
            # the two measures differ by rounding of the velocities, far below a tenth of the tolerance
            wrong = solution.success and (error > 1.1 * TOLERANCE or name == "without solution")
            tally[*key, "wrong"] += wrong
            tally[*key, "doubtful"] += solution.success and against_load > RUNAWAY
            seconds[key] = seconds.get(key, 0.0) + solution.seconds
            missed = not solution.success and name != "without solution"
            if failures is not None and solver is default and (wrong or missed):
                problem.save(failures / f"{'wrong' if wrong else 'missed'}-{name.replace(' ', '_')}-{seed}-{k}.npz")
        if progress and (k + 1) % progress == 0:
            known = [key for key in tally if key[2] == "FrictionAuto" and key[0] != "without solution"]
            tried, solved = (sum(tally[key] for key in known if key[3] == word) for word in ("tried", "solved"))
            errors = sum(number for key, number in tally.items() if key[3] == "wrong")
            print(f"{k + 1} problems: {errors} wrong, default solved {solved} of {tried}", flush=True)
            if out is not None:
                write_rows(out, _rows(tally, seconds))
    return _rows(tally, seconds)


def _rows(
    tally: Counter[tuple[str, str, str, str]], seconds: dict[tuple[str, str, str], float]
) -> list[dict[str, object]]:
    """Return one row per class, size and solver."""
    return [
        {
            "class": key[0],
            "contacts": key[1],
            "solver": key[2],
            **{word: tally[*key, word] for word in ("tried", "solved", "wrong", "doubtful")},
            "ms": round(1e3 * seconds[key] / tally[*key, "tried"], 3),
        }
        for key in seconds
    ]


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    """Write the table as CSV."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--small", type=int, default=1400)
    parser.add_argument("--large", type=int, default=140)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--failures", type=Path, help="directory for the problems that were missed")
    options = parser.parse_args(arguments)
    if options.failures:
        options.failures.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    rows = random_run(
        options.small,
        options.large,
        options.every,
        options.seed,
        progress=100,
        failures=options.failures,
        out=options.out,
    )
    heading = f"{'class':27s} {'contacts':10s} {'solver':22s} {'tried':>6s} {'solved':>7s} {'%':>8s}"
    print(f"{heading} {'wrong':>6s} {'doubtful':>9s} {'ms':>9s}")
    for row in sorted(
        rows, key=lambda row: (str(row["solver"]), str(row["contacts"]), list(CLASSES).index(str(row["class"])))
    ):
        share = 100.0 * int(str(row["solved"])) / int(str(row["tried"]))
        print(
            f"{row['class']!s:27s} {row['contacts']!s:10s} {row['solver']!s:22s} {row['tried']!s:>6s} "
            f"{row['solved']!s:>7s} {share:8.3f} {row['wrong']!s:>6s} {row['doubtful']!s:>9s} {row['ms']!s:>9s}"
        )
    print(f"{options.small} + {options.large} problems, {time.perf_counter() - began:.0f} s")
    if options.out:
        write_rows(options.out, rows)
    return int(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
