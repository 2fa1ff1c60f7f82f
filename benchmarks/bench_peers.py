"""Other people's engines beside ours on the same scenes, speed and accuracy in one run.

Engines are optional (mujoco, pybullet, drake, dartpy, pin by pip; siconos under the system's Python); those that are
missing are named and left out::

    python -m benchmarks.bench_peers [--scenes free_box stack ...] [--engines signorini mujoco-cg ...]
                                     [--rounds 10] [--budget 60] [--out benchmarks/results/peers]

Same masses, sizes, friction, gravity and step for everybody. A run of a scene is cut into rounds; in each round every
engine takes its turn, in alternating order, so that a machine that becomes busy is busy for all. Times are CPU times of
the process, per step, one call from Python for each step (``signorini-run``: one call for many). After every round one
more step is judged, from positions and velocities alone and alike for all, by :mod:`benchmarks.peers.checker`. An
engine that has used up its budget of CPU seconds in a scene is stopped there; the steps that it took are in the table.

Results are written after each scene to ``OUT.csv``, where rows of other scenes and engines are kept, and drawn to
``OUT.png``. ``--draw`` only draws the figure from the table.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers import scenes
from benchmarks.peers.checker import Checker, Depth
from benchmarks.peers.engine import KINDS, Engine, Kind, NotPossible
from benchmarks.peers.figure import draw
from benchmarks.peers.piles import settled_pile
from benchmarks.peers.scenes import Motion, PeerScene

SCENES: dict[str, Callable[[], PeerScene]] = {
    "free_box": scenes.free_box,
    "slide_roll": scenes.slide_roll,
    "incline_stick": scenes.incline_stick,
    "incline_slide": scenes.incline_slide,
    "painleve_0.5": partial(scenes.painleve, 0.5, -1.692),
    "painleve_1.6": partial(scenes.painleve, 1.6, 0.0),
    "stack": partial(scenes.stack, 1.0),
    "stack_1e3": partial(scenes.stack, 1e3),
    "stack_1e6": partial(scenes.stack, 1e6),
    "chain_10": partial(scenes.chain, 10),
    "settled_125": partial(settled_pile, "settled", 125, 400),
    "settled_1000": partial(settled_pile, "settled", 1000, 200),
    "settled_8000": partial(settled_pile, "settled", 8000, 60),
    "boxes_512": partial(settled_pile, "boxes", 512, 200),
    "hulls_500": partial(settled_pile, "hulls", 500, 200),
    "collapse_125": partial(scenes.sphere_pile, 125),
    "collapse_1000": partial(scenes.sphere_pile, 1000),
}
OURS = "signorini"
Row = dict[str, Any]


@dataclass
class Sample:
    """One judged step."""

    motion: Motion
    residual: float
    depth: Depth
    energy: float


@dataclass
class Run:
    """A scene in an engine, on its way."""

    kind: Kind
    engine: Engine
    budget: float
    first: Motion
    seconds: float = 0.0
    taken: int = 0
    stopped: str = ""
    blocks: list[float] = field(default_factory=list)
    """CPU seconds per step, by rounds"""
    samples: list[Sample] = field(default_factory=list)

    def advance(self, count: int, *, chunk: int | None = None) -> float:
        """Take steps as long as the budget lasts and return CPU seconds per step."""
        began, done = self.seconds, 0
        while done < count and not self.stopped:
            now = min(chunk or count, count - done)
            try:
                self.seconds += self.engine.step(now)
            except Exception as error:
                self.stopped = f"{error!r:.80}".replace("\n", " ")
                break
            done += now
            if self.seconds > self.budget:
                self.stopped = "budget"
        self.taken += done
        return (self.seconds - began) / max(done, 1)

    def judge(self, checker: Checker, *, law: bool) -> None:
        """Take a step and judge it; without the law only where bodies are."""
        before = self.engine.state()
        self.advance(1)
        motion = self.engine.state()
        if not motion.finite:
            self.stopped = "not finite"
            return
        residual = np.nan
        if law:
            residual = checker.residual(before, motion, self.engine.impulses(), gyroscopic=self.kind.gyroscopic)
        self.samples.append(Sample(motion, residual, checker.depth(motion), checker.energy(motion)))


def begin(scene: PeerScene, kinds: Sequence[Kind], budget: float) -> list[Run]:
    """Build the scene in every engine that can, and let it find its rest; one that fails must not end the others."""
    runs = []
    for kind in kinds:
        try:
            engine = kind.make(scene)
        except NotPossible as reason:
            print(f"  {kind.name}: left out, {reason}", flush=True)
            continue
        except Exception as error:
            print(f"  {kind.name}: failed, {error!r:.200}", flush=True)
            continue
        run = Run(kind, engine, budget, engine.state())
        run.advance(scene.warm, chunk=5)
        run.taken, run.seconds = 0, 0.0
        run.first = engine.state()
        if run.stopped == "budget":
            run.stopped = ""  # too slow to find its rest; measured from where it came to
        runs.append(run)
    return runs


def measure(scene: PeerScene, kinds: Sequence[Kind], options: argparse.Namespace) -> list[Row]:
    """Return one row per engine."""
    checker = Checker(scene)
    runs = begin(scene, kinds, options.budget)
    ends = np.linspace(0, scene.steps, options.rounds + 1).astype(int)
    judged = set(np.linspace(0, options.rounds - 1, options.checks).astype(int).tolist())
    for turn in range(options.rounds):
        for run in runs if turn % 2 == 0 else runs[::-1]:
            if run.stopped:
                continue
            run.blocks.append(run.advance(int(ends[turn + 1] - ends[turn]) - 1))
            run.judge(checker, law=not scene.chain and (turn in judged or bool(run.stopped)))
        print(f"  round {turn + 1} of {options.rounds}", flush=True)
    rows = [row_of(scene, run, checker) for run in runs if run.samples]
    for run in runs:
        run.engine.close()
    return rows


def row_of(scene: PeerScene, run: Run, checker: Checker) -> Row:
    """Return what is known of an engine in a scene."""
    first, last = run.first, run.samples[-1].motion
    seconds = run.taken * scene.h
    laws = [sample.residual for sample in run.samples if not np.isnan(sample.residual)]
    # A sphere that rolls freely does not creep, hence medians over the bodies.
    speed = [float(np.median(np.linalg.norm(s.motion.velocity[:, :3], axis=1))) for s in run.samples]
    drift = float(np.median(np.linalg.norm(last.position - first.position, axis=1))) / seconds
    energy = [checker.energy(first), *(sample.energy for sample in run.samples)]
    gain = max(e - min(energy[: k + 1]) for k, e in enumerate(energy))
    weight = float(np.linalg.norm(scene.gravity)) * sum(body.mass for body in scene.bodies)
    told: dict[str, float] = getattr(run.engine, "told", dict)()
    return {
        "scene": scene.name,
        "engine": run.kind.name,
        "contacts": run.engine.contact_count(),
        "us_min": 1e6 * min(run.blocks),
        "us_median": 1e6 * float(np.median(run.blocks)),
        "us_mean": 1e6 * float(np.mean(run.blocks)),
        "residual_median": float(np.median(laws)) if laws else "",
        "residual_max": max(laws) if laws else "",
        "depth_max": max(sample.depth.largest for sample in run.samples),
        "depth_median": float(np.median([sample.depth.median for sample in run.samples])),
        "depth_relative": max(sample.depth.largest for sample in run.samples) / scene.size,
        "creep": float(np.mean(speed)) if scene.at_rest else "",
        "drift": drift if scene.at_rest else "",
        "energy_gain": gain / (weight * scene.size),
        "error": scene.judge(Motion(*_start(scene)), last, seconds) if scene.judge else "",
        "error_of": scene.judged,
        "steps": run.taken,
        "ended": run.stopped,
        **{word: told.get(word, "") for word in ("own_residual", "unsolved", "compliance")},
        "version": run.kind.version(),
    }


def _start(scene: PeerScene) -> tuple[Any, Any, Any]:
    return (
        np.array([body.position for body in scene.bodies]),
        np.array([body.quaternion for body in scene.bodies]),
        np.array([[*body.velocity, *body.spin] for body in scene.bodies]),
    )


def table(rows: list[Row]) -> None:
    """Print what matters of one scene, times as multiples of ours."""
    ours = next((row["us_median"] for row in rows if row["engine"] == OURS), np.nan)
    print(
        f"{rows[0]['scene']:15s} {'us/step':>10s} {'min':>10s} {'ratio':>8s} {'residual':>9s} {'depth/size':>10s} creep"
    )
    for row in sorted(rows, key=lambda row: float(row["us_median"])):
        cells = [row["residual_max"], row["depth_relative"], row["creep"]]
        shown = " ".join(f"{cell:9.1e}" if cell != "" else f"{'':9s}" for cell in cells)
        error = f" error {row['error']:.1e}" if row["error"] != "" else ""
        print(
            f"{row['engine']:15s} {row['us_median']:10.1f} {row['us_min']:10.1f} {row['us_median'] / ours:8.2f} {shown}"
            f"{error} {row['ended']}",
            flush=True,
        )


def write(path: Path, new: list[Row]) -> list[Row]:
    """Write rows, keeping those of other scenes and engines; a killed run never leaves half a file."""
    known = {(row["scene"], row["engine"]): row for row in read(path)} | {(r["scene"], r["engine"]): r for r in new}
    order = {name: i for i, name in enumerate([*SCENES, *KINDS])}
    rows = sorted(known.values(), key=lambda row: (order.get(row["scene"], 99), order.get(row["engine"], 99)))
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(new[0]), restval="", extrasaction="ignore")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{x:.4g}" if isinstance(x, float) else x for k, x in row.items()})
    part.replace(path)
    return rows


def read(path: Path) -> list[Row]:
    """Return the rows of a table, none if there is none."""
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def present(names: Sequence[str]) -> list[Kind]:
    """Return the engines that can be imported, and say which cannot."""
    found = []
    for name in names:
        try:
            print(f"{name}: {KINDS[name].version()}, {KINDS[name].model}", flush=True)
            found.append(KINDS[name])
        except ImportError as error:
            print(f"{name}: left out, {error}", flush=True)
    return found


def source() -> str:
    """Return the commit that is measured."""
    here = Path(__file__).parent
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=here, check=False
    )
    return done.stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=list(SCENES), metavar="SCENE")
    parser.add_argument("--engines", nargs="+", default=list(KINDS), choices=list(KINDS), metavar="ENGINE")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--checks", type=int, default=5, help="rounds after which the law is checked")
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds for an engine in a scene")
    parser.add_argument("--tolerance", type=float, help="residual asked of us, instead of the scene's own")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "peers")
    parser.add_argument("--draw", action="store_true", help="only draw the figure")
    options = parser.parse_args(arguments)
    path = options.out.with_suffix(".csv")
    if not options.draw:
        stamp = {"run": time.strftime("%Y-%m-%d %H:%M"), "commit": source()}
        kinds = present(options.engines)
        for name in options.scenes:
            scene = SCENES[name]()
            if options.tolerance:
                scene = replace(scene, tolerance=options.tolerance)
            print(f"{name}: {len(scene.bodies)} bodies", flush=True)
            rows = measure(replace(scene, name=name), kinds, options)
            if rows:
                table(rows)
                write(path, [{**row, **stamp} for row in rows])
    draw(read(path), options.out.with_suffix(".png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
