"""Our friction solvers beside the best of Siconos on the friction files of a folder, in one run.

Siconos runs under the system's Python (Debian: ``apt-get install python3-siconos python3-scipy``)::

    python benchmarks/bench_friction.py [FOLDER] [--out benchmarks/results/friction]

Everybody has to reach ``rel`` <= 1e-8 (natural map with rho = 1 over |b|), computed here from the impulses of either
side. Our default call runs as it is; the others are asked for 1e-8 by their own measure and, where that was not enough,
again for 1e-10 and 1e-12, and the last run counts. Times are CPU times of the call without reading or condensing the
problem, on one BLAS thread, the smallest of several runs if they are short. Siconos' solvers keep their default
options and get W by blocks, small problems also as a dense matrix, whichever is faster.

Writes every run to ``OUT.csv`` and draws the performance profile to ``OUT.png``: the share of all problems solved
within a factor of the best time.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import json
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from signorini._arrays import Array
from signorini.problems import FrictionProblem, load_problem
from signorini.problems.matrices import matrix_fields
from signorini.solvers import Control, FrictionAuto, applicable, solve
from signorini.solvers.solve import kinds_of

HERE = Path(__file__).parent
DEMANDED = 1e-8
TOLERANCES = (1e-8, 1e-10, 1e-12)
DENSE_BELOW = 600  # unknowns up to which Siconos gets the dense matrix as well
SPATIAL = ("NSGS", "NSN_AC", "NSN_FB", "ADMM", "PROX", "VI_EG")
PLANAR = ("NSGS", "LEMKE", "CPG")
SHORT = 1e-3  # seconds; problems solved faster than this say more about calling conventions than about solvers

Row = dict[str, Any]
Attempt = Callable[[float], tuple[float, int, Array] | None]
"""Takes a tolerance, returns CPU seconds, iterations and impulses; None if the solver crashed or took too long."""


class Siconos:
    """The server ``siconos_friction.py``, started again after a crash or a timeout."""

    def __init__(self, python: str, folder: Path, limit: float, repeat: int) -> None:
        self.python = python
        self.folder = folder
        self.limit = limit
        self.repeat = repeat
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, path: Path, solver: str, storage: str, tolerance: float) -> tuple[float, int, Array] | None:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [self.python, str(HERE / "siconos_friction.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        out = self.folder / "r.npy"
        job = {"path": str(path), "solver": solver, "storage": storage, "tolerance": tolerance}
        print(json.dumps({**job, "repeat": self.repeat, "out": str(out)}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline() if self._ready() else ""
        if not line:
            self.close()
            return None
        answer = json.loads(line)
        return answer["seconds"], answer["iterations"], np.load(out)

    def _ready(self) -> bool:
        """Wait for an answer as long as the server has not used up its CPU time."""
        assert self.process is not None
        assert self.process.stdout is not None
        allowed = self._cpu_seconds() + self.limit
        while not select.select([self.process.stdout], [], [], 0.5)[0]:
            if self._cpu_seconds() > allowed:
                return False
        return True

    def _cpu_seconds(self) -> float:
        """Return the CPU time that the server has used, as Linux counts it."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the server."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def friction_files(folder: Path) -> list[Path]:
    """Return the friction problems below `folder`, by number of contacts."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".npz", ".hdf5") and "lcp" not in path.name:
            try:
                problem = load_problem(path)
            except (ValueError, OSError):
                continue  # another kind of data
            if isinstance(problem, FrictionProblem):
                found.append((problem.contact_count, path))
    return [path for _, path in sorted(found)]


def local_file(problem: FrictionProblem, folder: Path) -> Path:
    """Write `problem` in local form for Siconos."""
    path = folder / "problem.npz"
    W = matrix_fields("W", sparse.csr_array(problem.dense()))
    np.savez(path, dim=problem.dim, mu=problem.mu, q=problem.b, **W)
    return path


def tightened(problem: FrictionProblem, attempt: Attempt) -> Row:
    """Ask for tighter tolerances until `rel` is what is demanded."""
    row: Row = {"ms": None, "iterations": None, "rel": None, "residual": None, "solved": False}
    for tolerance in TOLERANCES:
        answer = attempt(tolerance)
        if answer is None:
            break
        seconds, iterations, p = answer
        rel = problem.rel(p) if np.isfinite(p).all() else np.inf
        row = {
            "ms": 1e3 * seconds,
            "iterations": iterations,
            "rel": rel,
            "residual": problem.residual(p),
            "solved": bool(rel <= 1.05 * DEMANDED),
        }
        if row["solved"]:
            break
    return row


def ours(problem: FrictionProblem, solver: Any, repeat: int, limit: float) -> Row:
    """Measure one of our solvers; None is the default call, without options."""

    def attempt(tolerance: float) -> tuple[float, int, Array]:
        least = np.inf
        for _ in range(repeat):
            began = time.process_time()
            solution = (
                solve(problem)
                if solver is None
                else solver.solve(problem, Control(tolerance=tolerance, time_limit=limit))
            )
            seconds = time.process_time() - began
            least = min(least, seconds)
            if seconds > 0.3:
                break
        return least, solution.iterations, solution.z

    return tightened(problem, attempt)


def theirs(problem: FrictionProblem, siconos: Siconos, path: Path, solver: str) -> Row:
    """Measure one solver of Siconos, with the better storage of W."""
    storages = ("blocks", "dense") if problem.size < DENSE_BELOW else ("blocks",)
    rows = [
        tightened(problem, lambda tolerance, kind=storage: siconos(path, solver, kind, tolerance))  # type: ignore[misc]
        for storage in storages
    ]
    return min(rows, key=lambda row: (not row["solved"], row["ms"] if row["solved"] else 0.0))


def measure(path: Path, siconos: Siconos | None, options: argparse.Namespace) -> list[Row]:
    """Return one row per solver for the problem in the file `path`."""
    problem = load_problem(path)
    assert isinstance(problem, FrictionProblem)
    rows = []

    def add(library: str, solver: str, row: Row) -> None:
        head = {"problem": path.stem, "dim": problem.dim, "contacts": problem.contact_count}
        rows.append({**head, "library": library, "solver": solver, **row})

    solve(problem)  # compile or load the kernels
    add("signorini", "default", ours(problem, None, options.repeat, options.limit))
    for solver in applicable(problem):
        if FrictionProblem in kinds_of(solver) and not isinstance(solver, FrictionAuto):
            add("signorini", type(solver).__name__, ours(problem, solver, options.repeat, options.limit))
    if siconos is not None:
        local = local_file(problem, siconos.folder)
        for name in SPATIAL if problem.dim == 3 else PLANAR:
            add("siconos", name, theirs(problem, siconos, local, name))
    return rows


def best(rows: Sequence[Row], library: str, solver: str | None = None) -> float:
    """Return the shortest time [ms] of a library on one problem, infinite if it was not solved."""
    times = [r["ms"] for r in rows if r["library"] == library and r["solved"] and solver in (None, r["solver"])]
    return min(times, default=np.inf)


def report(by_problem: dict[str, list[Row]]) -> None:
    """Print the default call beside the best of Siconos, and the mean ratio."""
    ratios = {}
    for name, rows in by_problem.items():
        mine, peer = best(rows, "signorini", "default"), best(rows, "siconos")
        if min(mine, peer) > 1e3 * SHORT and np.isfinite([mine, peer]).all():
            ratios[name] = mine / peer
    solved = [sum(np.isfinite(best(rows, side)) for rows in by_problem.values()) for side in ("signorini", "siconos")]
    default = sum(np.isfinite(best(rows, "signorini", "default")) for rows in by_problem.values())
    print(f"solved of {len(by_problem)}: default call {default}, best of ours {solved[0]}, best of Siconos {solved[1]}")
    if ratios:
        slowest = max(ratios, key=lambda name: ratios[name])
        mean = np.exp(np.mean(np.log(list(ratios.values()))))
        print(
            f"time of the default call over Siconos' best, both above 1 ms ({len(ratios)} problems): "
            f"geometric mean {mean:.3f}, worst {ratios[slowest]:.2f} ({slowest})"
        )


def draw(by_problem: dict[str, list[Row]], path: Path) -> None:
    """Draw the performance profile."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    solvers = list(dict.fromkeys((r["library"], r["solver"]) for rows in by_problem.values() for r in rows))
    least = {name: min((r["ms"] for r in rows if r["solved"]), default=np.inf) for name, rows in by_problem.items()}
    figure, axes = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    curves = [(pair, [best(rows, *pair) / least[name] for name, rows in by_problem.items()]) for pair in solvers]
    peers = [best(rows, "siconos") / least[name] for name, rows in by_problem.items()]
    for (library, solver), factors in [*curves, (("siconos", "best of all"), peers)]:
        reached = np.sort([f for f in factors if np.isfinite(f)])
        strong = solver in ("default", "best of all")
        axes.step(
            np.concatenate([[1.0], reached, [1e5]]),
            np.concatenate([[0.0], np.arange(1, reached.size + 1), [reached.size]]) / len(by_problem),
            where="post",
            label=f"{library} {solver}",
            linestyle="-" if library == "signorini" else "--",
            linewidth=2.5 if strong else 1.0,
            color={"default": "C0", "best of all": "black"}.get(solver),
        )
    axes.set(xscale="log", xlim=(1.0, 1e4), ylim=(0.0, 1.02), xlabel="time / best time", ylabel="share solved")
    axes.legend(fontsize=8, ncols=2, loc="lower right")
    axes.set_title(f"{len(by_problem)} friction problems to rel {DEMANDED:.0e}")
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE.parent / "tests" / "collections")
    parser.add_argument("--peer", default="/usr/bin/python3", help="a Python that has siconos; empty for none")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds per solver and tolerance (CPU for Siconos)")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path, help="path without suffix for CSV and figure")
    options = parser.parse_args(arguments)
    by_problem: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as folder:
        siconos = Siconos(options.peer, Path(folder), options.limit, options.repeat) if options.peer else None
        for path in friction_files(options.folder):
            rows = by_problem[path.stem] = measure(path, siconos, options)
            mine, peer = best(rows, "signorini", "default"), best(rows, "siconos")
            line = f"{path.stem[:44]:44s} {rows[0]['contacts']:5d} ours {mine:9.3f} ms  Siconos {peer:9.3f} ms"
            print(line, flush=True)
        if siconos is not None:
            siconos.close()
    report(by_problem)
    if options.out:
        rows = [row for rows in by_problem.values() for row in rows]
        with options.out.with_suffix(".csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
        draw(by_problem, options.out.with_suffix(".png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
