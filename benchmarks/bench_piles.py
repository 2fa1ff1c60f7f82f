"""Piles of many kinds fall, collapse and come to rest in our own engine with its default settings.

::

    python -m benchmarks.bench_piles [--only KIND ...] [--sizes N ...] [--seeds 8] [--steps N] [--out FILE]

Everything stands in a container of a floor and four walls, turned at random and jiggled, and nothing overlaps at first:

- ``spheres``, ``boxes`` and ``hulls``: the bodies of :mod:`benchmarks.peers.scenes` on a grid, friction 0.5;
- ``sizes``: spheres and boxes by turns whose radii (half edges) are spread from 1 to 4, scattered, friction 0.5;
- ``friction``: the boxes and spheres of :mod:`benchmarks.bench_bin`, each pair with a friction of its own, 0.1 to 0.9.

Printed and written for each kind, size and seed, for the collapse (from the first contact to a third of the run) and
for the rest (last sixth): the share of rigid steps; median and maximum over the steps of the deepest overlap, and the
largest deflection that compliance allowed, in units of the smallest radius (of a hull: of the sphere that its size is
taken from); the largest residual for the law posed; how many steps did not reach their tolerance; mean and median CPU
time of a step; the mean number of contacts posed and of those that press; and the median over the steps of the fastest
body's speed, which tells whether the pile did come to rest. A step's own work is timed, not the reading of it.

The table is written after every run. Rows of kinds and sizes that are not run again stay in it.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.bench_bin import bin_of
from benchmarks.peers.ours import build
from benchmarks.peers.scenes import (
    DENSITY,
    RADIUS,
    Body,
    PeerScene,
    box,
    box_pile,
    container,
    hull_pile,
    settled,
    sphere,
    sphere_pile,
)

import signorini as sg
from signorini._arrays import Array
from signorini.engine import arrays as ea

H = 0.005
STEPS = 1200
LARGE = 8000  # bodies from which on a pile is run for longer and with fewer seeds
LARGE_STEPS = 1600
LARGE_SEEDS = 2
WARM_BODIES, WARM_STEPS, WARM_SEED = 64, 200, 99
SPACING, JITTER = 2.2, 0.08  # of the grid, in units of the largest reach
SMALLEST = 0.5 * RADIUS  # of mixed sizes
SPREAD = 4.0  # largest to smallest of these
FILLED = 0.25  # share of the space that the spheres about scattered bodies take
FRICTION = (0.1, 0.9)  # of mixed friction


# --- piles -------------------------------------------------------------------


def reach(body: Body) -> float:
    """Return the radius of the sphere about the mass centre that holds a body of one part [m]."""
    (part,) = body.parts
    if part.kind == "hull":
        return float(np.linalg.norm(part.corners, axis=1).max())
    return float(np.linalg.norm(part.size))


def placed(pile: PeerScene, positions: Array, width: float, rng: np.random.Generator) -> PeerScene:
    """Return `pile` with its bodies at these places, turned at random, in a container of this width."""
    turns = rng.normal(size=(len(pile.bodies), 4))
    return replace(settled(pile, pile.name, positions, turns, STEPS), planes=container(width))


def on_grid(make: Callable[[int], PeerScene], height: int, count: int, seed: int) -> PeerScene:
    """Return the bodies of a pile on a jiggled grid, about `height` times as high as wide."""
    rng, pile = np.random.default_rng(seed), make(count)
    side = max(1, int(np.ceil((count / height) ** (1 / 3) - 1e-9)))
    layer, place = np.divmod(np.arange(count), side * side)
    cells = np.stack([place % side, place // side, layer], axis=1) + 0.5
    unit = max(reach(body) for body in pile.bodies)
    positions = unit * (SPACING * cells + rng.uniform(-JITTER, JITTER, cells.shape))
    return placed(pile, positions, side * SPACING * unit, rng)


def scattered(count: int, seed: int) -> PeerScene:
    """Return spheres and boxes of many sizes, at random places where there was room, the largest first."""
    rng = np.random.default_rng(seed)
    bodies: list[Body] = []
    for k, r in enumerate(SMALLEST * np.geomspace(SPREAD, 1.0, count)):
        shape, volume = (box, 8.0) if k % 2 else (sphere, 4.0 / 3.0 * np.pi)
        bodies.append(shape(r, DENSITY * volume * r**3, (0.0, 0.0, 0.0)))
    reaches = np.array([reach(body) for body in bodies])
    width = max(3.0 * reaches[0], float(np.cbrt(4.0 / 3.0 * np.pi * np.sum(reaches**3) / (2.0 * FILLED))))
    extent, positions = np.array([width, width, 2.0 * width]), np.zeros((count, 3))
    for k, r in enumerate(reaches):
        while True:
            place = rng.uniform(r, extent - r)
            if np.all(np.linalg.norm(positions[:k] - place, axis=1) > 1.01 * (reaches[:k] + r)):
                break
        positions[k] = place
    pile = PeerScene(f"sizes_{count}", tuple(bodies), 0.5, H, STEPS, SMALLEST, at_rest=False)
    return placed(pile, positions, width, rng)


def by_pair(scene: sg.Scene, seed: int) -> sg.Scene:
    """Give each pair of bodies, and each body at each wall, a friction of its own."""
    rng = np.random.default_rng(seed)
    for a, b in combinations([*scene.bodies, *scene.fixed], 2):
        if a in scene.bodies:
            scene.set_contact(friction=float(rng.uniform(*FRICTION)), between=(a, b))
    return scene


class Kind(NamedTuple):
    """Piles of a kind: the scene of a size and seed, and the sizes that are run."""

    make: Callable[[int, int], PeerScene]
    sizes: tuple[int, ...]


KINDS = {
    "spheres": Kind(partial(on_grid, sphere_pile, 1), (125, 1000, 8000)),
    "boxes": Kind(partial(on_grid, box_pile, 2), (512,)),
    "hulls": Kind(partial(on_grid, hull_pile, 2), (500,)),
    "sizes": Kind(scattered, (500,)),
    "friction": Kind(bin_of, (500,)),
}


# --- runs --------------------------------------------------------------------


class Steps(NamedTuple):
    """What the steps of a run reached, arrays over the steps."""

    seconds: Array
    compliance: Array
    overlap: Array
    deflection: Array
    residual: Array
    solved: Array
    contacts: Array
    pressed: Array
    speed: Array


def steps_of(kind: str, count: int, seed: int, steps: int) -> Steps:
    """Run a pile; overlap and deflection in units of its smallest radius."""
    scene = KINDS[kind].make(count, seed)
    own = build(scene)
    simulator = sg.Simulator(by_pair(own, seed) if kind == "friction" else own, h=H)
    engine = simulator.engine
    assert engine is not None
    run = Steps(*np.zeros((len(Steps._fields), steps)))
    shown = time.perf_counter()
    for k in range(steps):
        began = time.process_time()
        simulator.run(1)
        run.seconds[k] = time.process_time() - began
        check, contacts = engine.check, int(engine.arena[ea.COUNTS][ea.SEEN])
        run.compliance[k], run.residual[k], run.solved[k] = check[[ea.COMPLIANT, ea.RESIDUAL, ea.SUCCESS]]
        run.overlap[k] = max(0.0, -check[ea.MIN_GAP]) / scene.size
        run.deflection[k] = check[ea.DEFLECTION] / scene.size
        run.contacts[k] = contacts
        run.pressed[k] = np.count_nonzero(engine.arena[ea.IMPULSE][:contacts, 0] > 0.0)
        run.speed[k] = np.linalg.norm(simulator.state.v[:, :3], axis=1).max()
        if time.perf_counter() - shown > 10.0:
            shown = time.perf_counter()
            print(f"    step {k + 1} of {steps}, worst residual {run.residual[: k + 1].max():.1e}", flush=True)
    return run


def rows_of(run: Steps) -> list[dict[str, Any]]:
    """Return what each phase reached; one in which nothing touches is left out."""
    steps, rows = run.seconds.size, []
    touched = np.flatnonzero(run.pressed)
    first = int(touched[0]) if touched.size else steps
    for name, phase in (("collapse", slice(first, steps // 3)), ("rest", slice(max(first, steps - steps // 6), steps))):
        part = Steps(*(column[phase] for column in run))
        if part.seconds.size == 0:
            continue
        rows.append(
            {
                "phase": name,
                "steps": part.seconds.size,
                "rigid": float(np.mean(part.compliance == 0.0)),
                "overlap/r median": float(np.median(part.overlap)),
                "overlap/r max": float(part.overlap.max()),
                "deflection/r": float(part.deflection.max()),
                "residual": float(part.residual.max()),
                "unsolved": int(np.count_nonzero(part.solved != 1.0)),
                "ms": 1e3 * float(part.seconds.mean()),
                "median ms": 1e3 * float(np.median(part.seconds)),
                "contacts": float(part.contacts.mean()),
                "pressed": float(part.pressed.mean()),
                "speed": float(np.median(part.speed)),
            }
        )
    return rows


# --- tables ------------------------------------------------------------------


def kept(path: Path) -> list[dict[str, Any]]:
    """Return the rows of an earlier table."""
    if not path.is_file():
        return []
    with path.open(newline="") as file:
        return [row | {"n": int(row["n"])} for row in csv.DictReader(file)]


def write(path: Path, table: list[dict[str, Any]]) -> None:
    """Write the table beside the old one, then in its place: whenever the run is killed, one of them is whole."""
    new = path.with_name(path.name + ".new")
    with new.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[-1]))
        writer.writeheader()
        writer.writerows({k: f"{x:.4g}" if isinstance(x, float) else x for k, x in row.items()} for row in table)
    new.replace(path)


def summary(table: list[dict[str, Any]]) -> str:
    """Return the table over the seeds of each kind, size and phase, as reStructuredText."""
    figures = ["rigid", "(least)", "overlap/r", "(most)", "deflection/r", "residual", "unsolved", "ms", "median ms"]
    lines = [["kind", "n", "phase", "seeds", *figures, "contacts", "pressed", "speed"]]
    for key in dict.fromkeys((row["kind"], row["n"], row["phase"]) for row in table):
        group = [row for row in table if (row["kind"], row["n"], row["phase"]) == key]
        x = {name: np.array([row[name] for row in group]) for name in group[0] if name not in ("kind", "phase")}
        lines.append(
            [
                *map(str, key),
                str(len(group)),
                f"{x['rigid'].mean():.1%}",
                f"({x['rigid'].min():.1%})",
                f"{np.median(x['overlap/r median']):.1e}",
                f"({x['overlap/r max'].max():.1e})",
                f"{x['deflection/r'].max():.1e}",
                f"{x['residual'].max():.1e}",
                str(x["unsolved"].sum()),
                f"{x['ms'].mean():.3g}",
                f"{np.median(x['median ms']):.3g}",
                f"{x['contacts'].mean():.0f}",
                f"{x['pressed'].mean():.0f}",
                f"{np.median(x['speed']):.1e}",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    bar = "  ".join("=" * width for width in widths)
    text = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([bar, text[0], bar, *text[1:], bar])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=tuple(KINDS), default=tuple(KINDS), metavar="KIND")
    parser.add_argument("--sizes", type=int, nargs="+", help="numbers of bodies, for every kind instead of its own")
    parser.add_argument(
        "--seeds", type=int, default=8, help=f"0 to this less one (8); from {LARGE} bodies on 2 at most"
    )
    parser.add_argument("--steps", type=int, help=f"of a run ({STEPS}, from {LARGE} bodies on {LARGE_STEPS})")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/piles.csv"))
    options = parser.parse_args()
    table: list[dict[str, Any]] = []
    for kind in options.only:
        steps_of(kind, WARM_BODIES, WARM_SEED, WARM_STEPS)  # kernels are compiled or loaded when first needed
        for count in options.sizes or KINDS[kind].sizes:
            others = [row for row in kept(options.out) if (row["kind"], row["n"]) != (kind, count)]
            large, rows = count >= LARGE, []
            for seed in range(min(options.seeds, LARGE_SEEDS) if large else options.seeds):
                began = time.perf_counter()
                run = steps_of(kind, count, seed, options.steps or (LARGE_STEPS if large else STEPS))
                for row in rows_of(run):
                    rows.append({"kind": kind, "n": count, "seed": seed} | row)
                    print(
                        "  ".join(f"{k} {x:.3g}" if isinstance(x, float) else f"{k} {x}" for k, x in rows[-1].items())
                    )
                print(f"    {kind} {count}, seed {seed}: {time.perf_counter() - began:.0f} s by the clock", flush=True)
                if rows:
                    write(options.out, others + rows)
            table += rows
            print(summary(rows) if rows else "nothing touched: too few steps", flush=True)
    if table:
        print(f"\n{summary(table)}")


if __name__ == "__main__":
    main()
