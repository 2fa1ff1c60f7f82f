"""Random bodies with compliant layers: is every step solved, does one gain energy, is a core penetrated?

Run as ``python -m benchmarks.random_layers [drops | crowd | box] [--count 1000] [--seed 0]``. Drops are written to
``results/random_layers.csv`` one by one, those that stand there already are not run again, and every tenth is told.

* ``drops``: single ellipsoids and superellipsoids of random axes, spin, friction, stiffness and damping on a floor with
  a layer, h = 1e-3 and 2e-4, with the implicit gyroscopic term. Energies are judged from poses, velocities and
  deflections alone.
* ``crowd``: ten ellipsoids and superellipsoids of mixed compliance between four walls, 2 s.
* ``box``: 100 spheres with damped layers dropped into a box.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np

import signorini as sg
from signorini._arrays import Array
from signorini._jit import counting_kernel, kernel
from signorini.dynamics.bodies import world_inertia
from signorini.formulations.layered import swift
from signorini.formulations.layered.kernels import FIXED, Posed
from signorini.formulations.layered.newton import Newton
from signorini.formulations.layered.run import STORED, Track, run_steps

RESULT = Path(__file__).parent / "results" / "random_layers.csv"
COLUMNS = ("seed", "h", "steps not solved", "largest rise", "us")
RISE = 1e-5
"""Of the energy at the start: what a step may gain at most (S3 spec, section 10)."""


def drop(seed: int) -> sg.Scene:
    """Return a body above a floor with a layer."""
    r, scene = np.random.default_rng(seed), sg.Scene()
    axes, e = 10.0 ** r.uniform(-2.3, -0.5, 3), r.normal(size=4)
    axes = np.maximum(axes, 0.02 * axes.max())
    shape = sg.Ellipsoid(axes) if seed % 2 else sg.Superellipsoid(axes, exponent=r.uniform(2.0, 5.0))
    k = 10.0 ** r.uniform(3.0, 5.0, 3)
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        shape,
        mass=1.0,
        position=(0, 0, axes.max() + r.uniform(0.0, 0.2)),
        orientation=e / np.linalg.norm(e),
        velocity=r.normal(size=3) * (1, 1, 0.3),
        angular_velocity=r.normal(size=3) * 10.0,
        name="body",
    )
    scene.set_contact(friction=r.uniform(0.0, 1.0), ellipsoid=(1, 1, r.uniform(0.1, 1.0) * axes.min()))
    scene.set_layer(
        "floor", stiffness=k, damping=r.uniform(0.0, 2.0) * np.sqrt(k), max_deflection=r.uniform(0.1, 0.5) * axes.min()
    )
    return scene


@kernel
def many_steps(P: Posed, w: Newton, R: Track, steps: int, energies: Array) -> int:
    """Take steps one by one; write the energy before the first and after each."""
    energies[0] = energy(P, R)
    for done in range(steps):
        if run_steps(P, w, R, 1) == 0:
            return done
        energies[done + 1] = energy(P, R)
    return steps


@counting_kernel
def energy(P: Posed, R: Track) -> float:
    """Return all energy: of motion, height and layers [J]."""
    B, scene, I = P.bodies, R.scene, P.sheet.slope[0]
    total = R.number[STORED]
    for b in range(P.counts[FIXED], B.q.shape[0]):
        world_inertia(scene.inertia[b], B.free[b], B.q[b], I)
        for i in range(3):
            total += 0.5 * B.mass[b] * B.v[b, i] ** 2 - scene.weight[b, i] * B.q[b, i]
            for j in range(3):
                total += 0.5 * B.v[b, 3 + i] * I[i, j] * B.v[b, 3 + j]
    return float(total)


class Recorded:
    """Stands in for what takes many steps, and keeps the energy after each."""

    def __init__(self) -> None:
        self.energies: list[Array] = []

    def __call__(self, P: Posed, w: Newton, R: Track, steps: int) -> int:
        """Take so many steps, or fewer; those that Python takes in between are seen as the next begin."""
        energies = np.zeros(steps + 1)
        done = many_steps(P, w, R, steps, energies)
        self.energies.append(energies[: done + 1])
        return int(done)


def judged_drop(seed: int, h: float, duration: float) -> tuple[int, float, float]:
    """Return steps not solved, the largest rise of the energy in a step beside that at the start, and us per step."""
    sim, recorded, began = sg.Simulator(drop(seed), h=h, formulation=sg.QuasiRigid()), Recorded(), time.perf_counter()
    steps = round(duration / h)
    with patch.object(swift, "run_steps", recorded):
        failed = sim.run(steps)
        sim.run(1)
    seconds, energies = time.perf_counter() - began, np.concatenate(recorded.energies)
    return failed, float(np.diff(energies).max()) / energies[0], 1e6 * seconds / (steps + 1)


def crowd(seed: int, count: int = 10) -> sg.Scene:
    """Return bodies above a floor between four walls, every other one with a layer."""
    r, scene = np.random.default_rng(seed), sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for name, normal in (("left", (1, 0, 0)), ("right", (-1, 0, 0)), ("front", (0, 1, 0)), ("back", (0, -1, 0))):
        scene.add_fixed(sg.HalfSpace(normal=normal), position=-0.3 * np.array(normal), name=name)
    for k in range(count):
        axes, e = r.uniform(0.05, 0.12, 3), r.normal(size=4)
        shape = sg.Ellipsoid(axes) if k % 2 else sg.Superellipsoid(axes, exponent=r.uniform(2.0, 4.0))
        scene.add_body(
            shape,
            density=1000.0,
            position=(*r.uniform(-0.15, 0.15, 2), 0.15 + 0.26 * k),
            orientation=e / np.linalg.norm(e),
            angular_velocity=r.normal(size=3),
            name=f"body {k}",
        )
        if k % 3:
            stiffness = 10.0 ** r.uniform(3.5, 5.0) * np.array([1.0, 0.5, 0.5])
            scene.set_layer(
                f"body {k}", stiffness=stiffness, damping=np.sqrt(stiffness), max_deflection=0.1 * axes.min()
            )
    scene.set_contact(friction=0.4)
    return scene


def box(seed: int, count: int = 100) -> sg.Scene:
    """Return spheres with damped layers above a box."""
    r, scene, radius = np.random.default_rng(seed), sg.Scene(), 0.05
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for name, normal in (("left", (1, 0, 0)), ("right", (-1, 0, 0)), ("front", (0, 1, 0)), ("back", (0, -1, 0))):
        scene.add_fixed(sg.HalfSpace(normal=normal), position=-0.25 * np.array(normal), name=name)
    for k in range(count):
        layer, place = divmod(k, 9)
        x, y = 0.14 * (place % 3 - 1), 0.14 * (place // 3 - 1)
        scene.add_body(
            sg.Sphere(radius),
            density=1000.0,
            position=(x + r.uniform(-0.01, 0.01), y + r.uniform(-0.01, 0.01), 0.1 + 0.12 * layer),
            name=f"ball {k}",
        )
        scene.set_layer(f"ball {k}", stiffness=2e4, damping=20.0, max_deflection=0.1 * radius)
    scene.set_contact(friction=0.4)
    return scene


def followed(scene: sg.Scene, h: float, duration: float) -> None:
    """Run a scene and print what its certificate says."""
    began = time.perf_counter()
    trajectory = sg.simulate(scene, duration=duration, h=h, formulation=sg.QuasiRigid(), on_failure="keep")
    certificate, seconds = trajectory.certificate, time.perf_counter() - began
    print(
        f"{len(certificate.residual)} steps, {seconds:.0f} s; not solved {certificate.failed().sum()}, "
        f"largest residual {certificate.residual.max():.1e}, smallest gap {certificate.min_gap.min():.1e} m, "
        f"most iterations {certificate.iterations.max()}"
    )


def drops(count: int, seed: int, duration: float, result: Path) -> None:
    """Drop bodies that were not yet dropped, and print what failed or gained, and a summary."""
    if not result.exists():
        result.write_text(",".join(COLUMNS) + "\n")
    with result.open(newline="") as file:
        known = {(int(row["seed"]), float(row["h"])) for row in csv.DictReader(file)}
    with result.open("a", newline="", buffering=1) as file:
        table = csv.writer(file, lineterminator="\n")
        for k in range(seed, seed + count):
            for h in (1e-3, 2e-4):
                if (k, h) not in known:
                    failed, rise, micros = judged_drop(k, h, duration)
                    table.writerow([k, f"{h:g}", failed, f"{rise:.3g}", f"{micros:.0f}"])
                    if failed or rise > RISE:
                        print(f"seed {k}, h = {h:g}: {failed} steps not solved, largest rise {rise:.1e}", flush=True)
            if k % 10 == 9:
                print(f"{k - seed + 1} of {count}", flush=True)
    with result.open(newline="") as file:
        rows = list(csv.DictReader(file))
    failures, worst = sum(int(row[COLUMNS[2]]) for row in rows), max(float(row[COLUMNS[3]]) for row in rows)
    middle = np.median([float(row["us"]) for row in rows])
    print(f"{len(rows)} runs: {failures} steps not solved, largest rise {worst:.1e}, median {middle:.0f} us")


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("drops", "crowd", "box"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--duration", type=float, default=0.6)
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--h", type=float, default=1e-3)
    given = parser.parse_args()
    if given.what == "drops":
        drops(given.count, given.seed, given.duration, given.result)
    else:
        followed((crowd if given.what == "crowd" else box)(given.seed), given.h, given.duration)


if __name__ == "__main__":
    main()
