"""Two versions of the library on the same scenes, in turns: what a change costs.

::

    git worktree add ../before COMMIT
    python -m benchmarks.bench_versions ../before/src [--scenes free_box chain_100 ...] [--rounds 7]

Each version has a process of its own, which builds the scene once and takes steps when it is told to; rounds alternate,
so that a machine that becomes busy is busy for both. Times are CPU time of a step by ``Simulator.run``, median over the
rounds (``benchmarks/results/versions.csv``). ``start`` is the first step of a box in a new process, by the clock: cold
with an empty cache of kernels, warm with what the cold one left; Python's byte code is there in both, as after ``pip``.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
STEPS = {"free_box": 4000, "stack": 400, "settled_1000": 15, "boxes_512": 15, "collapse_1000": 12}
MECHANISM_STEPS = {"chain_10": 400, "chain_100": 100, "robot": 400}
FIRST_STEP = """
import signorini as sg
scene = sg.Scene()
scene.add_fixed(sg.HalfSpace())
scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5))
scene.set_contact(friction=0.5)
sg.Simulator(scene, h=0.01).run(1)
"""


def scene_of(name: str) -> Any:
    """Return the scene in the words of the peers, or the name of a mechanism of :mod:`bench_chain`."""
    from benchmarks.bench_peers import SCENES

    return name if name in MECHANISM_STEPS else replace(SCENES[name](), judge=None)


def simulator_of(scene: Any) -> Any:
    import signorini as sg

    if isinstance(scene, str):
        from benchmarks import bench_chain

        made = bench_chain.robot() if scene == "robot" else bench_chain.chain(int(scene.split("_")[1]))
        return sg.Simulator(made, h=bench_chain.H)
    from benchmarks.peers.ours import build

    return sg.Simulator(build(scene), h=scene.h, tolerance=scene.tolerance)


def work(orders: IO[str]) -> None:
    """Take as many steps as each line says, and tell the CPU time of one."""
    with open(orders.readline().strip(), "rb") as file:
        scene = pickle.load(file)  # written by the process that started this one
    simulator_of(scene).run(1)  # compiles or loads the kernels
    simulator = simulator_of(scene)
    simulator.run(getattr(scene, "warm", 0) or 1)
    print("ready", flush=True)
    for line in orders:
        count, began = int(line), time.process_time()
        simulator.run(count)
        print((time.process_time() - began) / count, flush=True)


class Version:
    """A process that takes steps by the sources at `source`; scenes are built by the benchmarks beside them."""

    def __init__(self, source: Path, scene: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker"],
            env=os.environ | {"PYTHONPATH": f"{source.resolve()}{os.pathsep}{source.resolve().parent}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ask(str(scene))

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        while answer := self.process.stdout.readline():
            if answer.startswith("ready") or answer[0].isdigit():
                return answer
        raise RuntimeError("a version ended before its time")

    def time(self, count: str) -> float:
        return float(self.ask(count))

    def close(self) -> None:
        self.process.communicate()


def in_turns(askers: list[Callable[[], float]], rounds: int) -> list[float]:
    """Return the median of what each says, asked in alternating order."""
    said: list[list[float]] = [[] for _ in askers]
    for turn in range(rounds):
        for k in range(len(askers)) if turn % 2 == 0 else reversed(range(len(askers))):
            said[k].append(askers[k]())
    return [median(values) for values in said]


def compare(name: str, sources: list[Path], rounds: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene"
        path.write_bytes(pickle.dumps(scene_of(name)))
        versions = [Version(source, path) for source in sources]
        count = str((STEPS | MECHANISM_STEPS)[name])
        medians = in_turns([partial(version.time, count) for version in versions], rounds)
        for version in versions:
            version.close()
    return medians


def first_step(source: Path, code: str, cache: str | None = None) -> float:
    """Return the seconds by the clock until a new process has taken a step; byte code is kept in the folder `code`."""
    with tempfile.TemporaryDirectory() as fresh:
        environment = os.environ | {"PYTHONPATH": str(source.resolve()), "NUMBA_CACHE_DIR": cache or fresh}
        environment |= {"PYTHONPYCACHEPREFIX": code, "PYTHONDONTWRITEBYTECODE": ""}
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", FIRST_STEP], check=True, env=environment)
        return time.perf_counter() - began


def starts(sources: list[Path], rounds: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as kept:
        caches = [str(Path(kept) / str(k)) for k in range(len(sources))]
        for source, cache in zip(sources, caches, strict=True):
            first_step(source, kept, cache)
        cold = in_turns([partial(first_step, source, kept) for source in sources], rounds)
        warm = in_turns([partial(first_step, s, kept, c) for s, c in zip(sources, caches, strict=True)], rounds)
    return {"start, cold": cold, "start, warm": warm}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, nargs="?", help="sources of the version before, a folder src")
    parser.add_argument("--scenes", nargs="*", default=[*STEPS, *MECHANISM_STEPS, "start"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/results/versions.csv")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(sys.stdin)
        return
    if options.before is None or not (options.before / "signorini").is_dir():
        parser.error(f"before: {options.before} holds no signorini; name the folder src of the version before")
    sources = [options.before, ROOT / "src"]
    rows: list[list[str]] = []
    for name in options.scenes:
        found = starts(sources, 3) if name == "start" else {name: compare(name, sources, options.rounds)}
        for what, (before, after) in found.items():
            rows.append([what, f"{before:.4g}", f"{after:.4g}", f"{after / before:.3f}"])
            print(*rows[-1], sep="  ", flush=True)
    with options.out.open("w", newline="") as file:
        csv.writer(file).writerows([["scene", "before s", "after s", "after/before"], *rows])


if __name__ == "__main__":
    main()
