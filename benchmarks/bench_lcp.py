"""Dense Lemke beside Siconos' on the same problems, one call here, one call there, in one run.

Siconos runs under the system's Python (Debian: ``apt-get install python3-siconos``)::

    python benchmarks/bench_lcp.py [--peer /usr/bin/python3] [--out bench_lcp.csv]

Each takes its turn with ``2000 / n`` calls; times are CPU time of one call without building the problem, the smallest
of all turns; BLAS on one thread.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PEER = """
import sys, time
import numpy as np
import siconos.numerics as sn
for line in sys.stdin:
    data = np.load(line.strip())
    M, q = data["M"], data["q"]
    n = q.size
    options = sn.SolverOptions(sn.SICONOS_LCP_LEMKE)
    options.iparam[0] = 50 * n
    seconds = 1e9
    for _ in range(max(1, 2000 // n)):
        z, w = np.zeros(n), np.zeros(n)
        problem = sn.LCP(M, q)
        began = time.process_time()
        status = sn.lcp_lexicolemke(problem, z, w, options)
        seconds = min(seconds, time.process_time() - began)
    w = M @ z + q
    d = np.where(np.diag(M) > 0, np.diag(M), 1.0)
    size = max(np.abs(z).max(), np.abs(q / d).max())
    print(seconds, np.abs(np.minimum(z, w / d)).max() / size, flush=True)
"""


def symmetric(r: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Symmetric positive definite, moderately conditioned."""
    A = r.standard_normal((n, n))
    return A @ A.T / n + 1e-3 * np.eye(n), r.standard_normal(n)


def wall_with_friction(r: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Stewart-Trinkle step of columns of unit masses, eight high, friction pyramid of four sides."""
    contacts = n // 6
    G, D = np.zeros((3 * contacts, contacts)), np.zeros((3 * contacts, 4 * contacts))
    sides = ((1, 0), (-1, 0), (0, 1), (0, -1))
    for c in range(contacts):
        for sign, body in ((1, c), (-1, c - 1 if c % 8 else -1)):
            if body >= 0:
                G[3 * body + 2, c] += sign
                for k, (x, y) in enumerate(sides):
                    D[3 * body, 4 * c + k] += sign * x
                    D[3 * body + 1, 4 * c + k] += sign * y
    E, none = np.kron(np.eye(contacts), np.ones((4, 1))), np.zeros((contacts, contacts))
    M = np.block([[G.T @ G, G.T @ D, none], [D.T @ G, D.T @ D, E], [0.5 * np.eye(contacts), -E.T, none]])
    v = np.tile([0.02, 0.01, -0.05], contacts) * (1.0 + 0.3 * r.standard_normal(3 * contacts))
    return M, np.concatenate([G.T @ v, D.T @ v, np.zeros(contacts)])


FAMILIES = {"symmetric": symmetric, "wall with friction": wall_with_friction}


def ours(M: Array, q: Array) -> tuple[float, float]:
    """Return CPU seconds and residual of our Lemke."""
    from signorini.problems import LCP
    from signorini.solvers import Control, Lemke

    problem = LCP(M, q)
    best = np.inf
    for _ in range(max(1, 2000 // q.size)):
        began = time.process_time()
        solution = Lemke().solve(problem, Control())
        best = min(best, time.process_time() - began)
    return best, solution.residual


def compare(peer: str, sizes: Sequence[int], repeats: int) -> list[dict[str, Any]]:
    """Return one row per family and size."""
    rows = []
    ours(np.eye(2), -np.ones(2))  # compile or load the kernels
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([peer, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
    ):
        assert other.stdin is not None
        assert other.stdout is not None
        for name, make in FAMILIES.items():
            for n in sizes:
                times: list[tuple[float, float]] = []
                worst = [0.0, 0.0]
                for seed in range(3):
                    M, q = make(np.random.default_rng(seed), n)
                    path = Path(folder) / f"{n}_{seed}.npz"
                    np.savez(path, M=M, q=q)
                    best = [np.inf, np.inf]
                    for _ in range(repeats):
                        seconds, residual = ours(M, q)
                        print(path, file=other.stdin, flush=True)
                        theirs, their_residual = map(float, other.stdout.readline().split())
                        best = [min(best[0], seconds), min(best[1], theirs)]
                    worst = [max(worst[0], residual), max(worst[1], their_residual)]
                    times.append((best[0], best[1]))
                mine, peers = np.mean(times, axis=0)
                rows.append(
                    {
                        "family": name,
                        "n": M.shape[0],
                        "signorini ms": round(1e3 * mine, 4),
                        "siconos ms": round(1e3 * peers, 4),
                        "ratio": round(peers / mine, 2),
                        "signorini residual": f"{worst[0]:.1e}",
                        "siconos residual": f"{worst[1]:.1e}",
                    }
                )
                print("  ".join(f"{key}: {value}" for key, value in rows[-1].items()), flush=True)
        other.stdin.close()
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peer", default="/usr/bin/python3", help="a Python that has siconos")
    parser.add_argument("--sizes", type=int, nargs="+", default=[12, 24, 50, 100, 200, 500])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    rows = compare(options.peer, options.sizes, options.repeats)
    if options.out:
        with options.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
