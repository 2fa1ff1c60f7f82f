"""A long random run over classes of linear complementarity problems.

Counts, for every class and solver, how many problems were solved, and how often "solved" was said of a point that an
independent measure in extended precision rejects (which must never happen)::

    python benchmarks/random_lcp.py --count 100000 --every 20 --out random_lcp.csv

The default solver runs on every problem, the others on one in ``--every``.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from signorini.problems import LCP
from signorini.solvers import (
    PGS,
    InteriorPointLCP,
    Lemke,
    LinearAuto,
    PrincipalPivoting,
    SemismoothNewton,
    Solver,
    solve,
)

Array = NDArray[np.float64]
Random = np.random.Generator
TOLERANCE = 1e-10


def positive_definite(r: Random, n: int) -> LCP:
    A, B = r.standard_normal((2, n, n))
    return LCP(A @ A.T / n + 0.1 * np.eye(n) + (B - B.T) / 2, r.standard_normal(n))


def triangular_p(r: Random, n: int) -> LCP:
    """P but not positive definite: triangular with positive diagonal, rows and columns in any order."""
    p = r.permutation(n)
    M = (np.triu(r.standard_normal((n, n)), 1) + np.diag(r.uniform(0.5, 2.0, n)))[np.ix_(p, p)]
    return LCP(M, r.standard_normal(n))


def badly_scaled_p(r: Random, n: int) -> LCP:
    """A positive definite problem in units that differ by up to 1e8."""
    problem = positive_definite(r, n)
    s, t = 10.0 ** r.uniform(-4.0, 4.0, (2, n))
    return LCP(s[:, None] * np.asarray(problem.M) * t, s * problem.q)


def with_solution(M: Array, r: Random, degenerate: float = 0.0) -> LCP:
    """Choose q so that a solution is known, with a share of pairs z = w = 0."""
    n = M.shape[0]
    kind = r.random(n)
    z = np.where(kind < (1.0 - degenerate) / 2.0, r.uniform(0.1, 1.0, n), 0.0)
    w = np.where(kind > (1.0 + degenerate) / 2.0, r.uniform(0.1, 1.0, n), 0.0)
    return LCP(M, w - M @ z)


def semidefinite(r: Random, n: int) -> LCP:
    A, B = r.standard_normal((n, max(n // 2, 1))), r.standard_normal((n, n))
    return with_solution(A @ A.T / n + (B - B.T) / 2, r)


def symmetric_low_rank(r: Random, n: int) -> LCP:
    A = r.standard_normal((n, max(n // 3, 1)))
    return with_solution(A @ A.T / n, r)


def degenerate(r: Random, n: int) -> LCP:
    """Semidefinite, every pair twice (so that solutions are many), half of the pairs with z = w = 0."""
    A = r.standard_normal((max(n // 2, 1), max(n // 4, 1)))
    half = with_solution(A @ A.T / n, r, degenerate=0.5)
    return LCP(np.repeat(np.repeat(np.asarray(half.M), 2, axis=0), 2, axis=1), np.repeat(half.q, 2))


def copositive(r: Random, n: int) -> LCP:
    """Strictly copositive: semidefinite plus nonnegative with positive diagonal."""
    A, N = r.standard_normal((n, max(n // 2, 1))), r.random((n, n)) * (r.random((n, n)) < 0.3)
    return LCP(A @ A.T / n + N + 0.1 * np.eye(n), r.standard_normal(n))


def contact(r: Random, n: int) -> LCP:
    """Stewart-Trinkle time step with a friction pyramid: copositive, solvable by theory, full of ties."""
    contacts = max(n // 6, 1)
    bodies = int(r.integers(1, contacts + 1))
    J_n = r.standard_normal((contacts, 6 * bodies))
    J_t = r.standard_normal((contacts, 2, 6 * bodies))
    inverse_mass = 10.0 ** r.uniform(-1.0, 1.0, 6 * bodies)
    D = np.concatenate([J_t, -J_t], axis=1).reshape(4 * contacts, -1)
    G = np.concatenate([J_n, D])
    E = np.kron(np.eye(contacts), np.ones((4, 1)))
    mu = np.diag(r.uniform(0.0, 1.0, contacts))
    W = G * inverse_mass @ G.T
    M = np.block([[W, np.vstack([np.zeros((contacts, contacts)), E])], [mu, -E.T, np.zeros((contacts, contacts))]])
    v = r.standard_normal(6 * bodies)
    return LCP(M, np.concatenate([G @ v, np.zeros(contacts)]))


def no_theory(r: Random, n: int) -> LCP:
    """Any matrix at all, with a known solution."""
    return with_solution(r.standard_normal((n, n)), r)


CLASSES: dict[str, Callable[[Random, int], LCP]] = {
    "positive definite": positive_definite,
    "triangular P": triangular_p,
    "P, badly scaled": badly_scaled_p,
    "semidefinite": semidefinite,
    "symmetric low rank": symmetric_low_rank,
    "degenerate, repeated": degenerate,
    "strictly copositive": copositive,
    "contact (copositive)": contact,
    "no theory": no_theory,
}
SOLVERS: tuple[Solver, ...] = (
    Lemke(),
    InteriorPointLCP(),
    SemismoothNewton(),
    PrincipalPivoting(max_iterations=1000),
    PGS(max_iterations=2000),
)


def independent_residual(problem: LCP, z: Array) -> float:
    """Return the scale-free natural residual in extended precision, written apart from the library's."""
    M, q, x = (np.asarray(part, dtype=np.longdouble) for part in (problem.M, problem.q, z))
    d = np.where(np.diag(M) > 0, np.diag(M), 1)
    w = (M @ x + q) / d
    error = np.where(x < w, np.abs(x), np.abs(w))
    size = max(np.abs(x).max(), np.abs(q / d).max())
    if np.abs(x).max() > 1e11 * np.abs(q / d).max():
        return 1.0  # small only beside an unknown that ran away
    return float(error.max() / size) if size > 0 else 0.0


def random_run(count: int, every: int, seed: int = 0, progress: int = 0) -> list[dict[str, object]]:
    """Solve `count` random problems, with a line every `progress` of them; return one row per class and solver."""
    tally: Counter[tuple[str, str, str]] = Counter()
    seconds: dict[tuple[str, str], float] = {}
    names = list(CLASSES)
    default = LinearAuto()
    for k in range(count):
        r = np.random.default_rng((seed, k))
        name = names[k % len(names)]
        problem = CLASSES[name](r, int(r.integers(1, 61)))
        solvers: Sequence[Solver] = (default, *SOLVERS) if k // len(names) % every == 0 else (default,)
        for solver in solvers:
            # Without theory the default goes on to branch and bound, which may take seconds for each problem.
            limit = 0.05 if name == "no theory" else None
            solution = solve(problem, solver, tolerance=TOLERANCE, time_limit=limit)
            key = name, type(solver).__name__
            tally[*key, "tried"] += 1
            tally[*key, "solved"] += solution.success
            # rounding of the residual itself, which both measures share, is far below a tenth of the tolerance
            tally[*key, "wrong"] += solution.success and independent_residual(problem, solution.z) > 1.1 * TOLERANCE
            seconds[key] = seconds.get(key, 0.0) + solution.seconds
        if progress and (k + 1) % progress == 0:
            wrong = sum(number for key, number in tally.items() if key[2] == "wrong")
            theory = [n for n in names if n != "no theory"]
            tried, solved = (sum(tally[n, "LinearAuto", word] for n in theory) for word in ("tried", "solved"))
            print(f"{k + 1} problems: {wrong} wrong, default solved {solved} of {tried} with theory", flush=True)
    return [
        {
            "class": name,
            "solver": solver,
            "tried": tally[name, solver, "tried"],
            "solved": tally[name, solver, "solved"],
            "wrong": tally[name, solver, "wrong"],
            "ms": round(1e3 * seconds[name, solver] / tally[name, solver, "tried"], 3),
        }
        for name, solver in seconds
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    rows = random_run(options.count, options.every, options.seed, progress=2000)
    print(f"{'class':22s} {'solver':18s} {'tried':>7s} {'solved':>7s} {'%':>8s} {'wrong':>6s} {'ms':>8s}")
    for row in rows:
        share = 100.0 * int(str(row["solved"])) / int(str(row["tried"]))
        print(
            f"{row['class']!s:22s} {row['solver']!s:18s} {row['tried']!s:>7s} {row['solved']!s:>7s} {share:8.3f} "
            f"{row['wrong']!s:>6s} {row['ms']!s:>8s}"
        )
    print(f"{options.count} problems, {time.perf_counter() - began:.0f} s")
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return int(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
