"""Random collisions with friction: does one of them gain energy, fail, take long, or is something wrong said of it?

Run as ``python -m benchmarks.random_collisions [--count 480] [--seed 0] [--h 0.004] [--gravity 0]``. Every seed is a
scene of bodies of all shapes that collide, e = 0.5 to 1 and mu = 0.3 to 3: single ones against floors, walls and edges,
two and more free ones, on a driven table, pendulums and linkages that strike something, bars wedged between walls.

Energy is judged from poses and velocities alone: kinetic, and potential where bodies are and where they were half a
step before. The latter, :math:`T + U(q - h v/2)`, is what the scheme keeps in free flight; at the poses themselves the
energy falls by m g h v in a flight up and down and rises by as much where the flight turns round. The work of driven
tables is taken from the record, and so is what lifting overlaps and pulling joints together gave, told apart.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.distance_judge import matrix_of
from benchmarks.random_scenes import random_shape

import signorini as sg
from signorini._arrays import Array

Rng = np.random.Generator
RESULT = Path(__file__).parent / "results" / "random_collisions.csv"
DURATION = 0.3
LIMIT = 60  # seconds of processor time for a scene
GAIN = 1e-6  # of the kinetic energy: what counts as a gain
SLOW = 0.2  # seconds for a step
FAMILIES = ("floor", "corner", "edge", "pair", "group", "table", "pendulum", "linkage", "wedge", "hinged wedge")


# --- scenes ----------------------------------------------------------------------------


def _throw(r: Rng, scene: sg.Scene, name: str, position: Any, velocity: Any, size: float = 0.25) -> None:
    """Add a body of random shape, mass, orientation and spin."""
    turn = r.normal(size=4)
    scene.add_body(
        random_shape(r, size),
        mass=10.0 ** r.uniform(-0.7, 0.7),
        position=position,
        orientation=turn / np.linalg.norm(turn),
        velocity=velocity,
        angular_velocity=r.uniform(-10, 10, 3),
        name=name,
    )


def _bar(r: Rng, scene: sg.Scene, name: str, begin: Array, end: Array, velocity: Any, spin: Any) -> None:
    """Add a bar from one point to the other."""
    along = (end - begin) / np.linalg.norm(end - begin)
    turn = np.array([1.0 + along[2], -along[1], along[0], 0.0])  # of z to the bar
    if np.linalg.norm(turn) < 1e-6:
        turn = np.array([0.0, 1.0, 0.0, 0.0])
    scene.add_body(
        sg.Capsule(radius=0.04, length=float(np.linalg.norm(end - begin)) - 0.1),
        mass=10.0 ** r.uniform(-0.5, 0.5),
        position=0.5 * (begin + end),
        orientation=turn / np.linalg.norm(turn),
        velocity=velocity,
        angular_velocity=spin,
        name=name,
    )


def _floor(r: Rng, scene: sg.Scene) -> None:
    _throw(r, scene, "body", (0, 0, 0.45), (*r.uniform(-4, 4, 2), -r.uniform(2, 5)))


def _corner(r: Rng, scene: sg.Scene) -> None:
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)), position=(-0.45, 0, 0), name="wall")
    _throw(r, scene, "body", (0, 0, 0.45), (-r.uniform(2, 4), r.uniform(-1, 1), -r.uniform(2, 4)))
    _throw(r, scene, "other", (0.6, 0, 0.8), (-r.uniform(2, 4), 0, -r.uniform(2, 4)))


def _edge(r: Rng, scene: sg.Scene) -> None:
    turn = r.normal(size=4)
    scene.add_fixed(sg.Box((0.6, 2.0, 0.6)), position=(0, 0, 0.3), orientation=turn / np.linalg.norm(turn), name="rock")
    _throw(r, scene, "body", (r.uniform(-0.2, 0.2), 0, 1.6), (*r.uniform(-1, 1, 2), -r.uniform(4, 8)))


def _pair(r: Rng, scene: sg.Scene) -> None:
    _throw(r, scene, "body", (-0.3, 0, 2.0), (r.uniform(1, 4), r.uniform(-1, 1), r.uniform(-1, 1)))
    _throw(r, scene, "other", (0.3, r.uniform(-0.05, 0.05), 2.0), (-r.uniform(1, 4), 0, 0))


def _group(r: Rng, scene: sg.Scene) -> None:
    n = int(r.integers(3, 11))
    for k in range(n):
        place = np.array([0.45 * (k % 2), 0.45 * (k // 2 % 2), 0.4 + 0.45 * (k // 4)])
        middle = np.array([0.2, 0.2, 0.3])
        velocity = 6.0 * (middle - place) + r.uniform(-1, 1, 3)
        _throw(r, scene, f"body{k}", place + r.uniform(-0.02, 0.02, 3), velocity)


def _table(r: Rng, scene: sg.Scene) -> None:
    speed = r.uniform(0.5, 3.0)
    scene.add_fixed(sg.Box((2, 2, 0.2)), motion=lambda t: (0.0, 0.0, 0.3 + speed * t), name="table")
    _throw(r, scene, "body", (0, 0, 0.9), (*r.uniform(-3, 3, 2), -r.uniform(1, 5)))


def _pendulum(r: Rng, scene: sg.Scene) -> None:
    """Hang one to three bars that swing towards the floor, and throw something at them."""
    n, length, angle, spin = int(r.integers(1, 4)), r.uniform(0.4, 0.8), r.uniform(-1.5, -0.3), r.uniform(2, 8)
    along = np.array([np.cos(angle), 0.0, np.sin(angle)])
    top = np.array([0.0, 0.0, 0.15 - n * length * along[2]])
    kind = str(r.choice(["revolute", "spherical"]))
    for k in range(n):
        begin, end = top + length * k * along, top + length * (k + 1) * along
        velocity = np.cross((0, spin, 0), 0.5 * (begin + end) - top)
        _bar(r, scene, f"bar{k}", begin, end, velocity, (0, spin, 0))
        axis: dict[str, Any] = {"axis": (0, 1, 0)} if kind == "revolute" else {}
        scene.add_joint(kind, f"bar{k - 1}" if k else None, f"bar{k}", anchor=begin, **axis)
    _throw(r, scene, "body", (1.5, 0, 0.5), (-r.uniform(3, 6), 0, 0))


def _linkage(r: Rng, scene: sg.Scene) -> None:
    """Let four bars swing as a parallelogram until the lowest strikes the floor or a ball."""
    length, wide, spin = r.uniform(0.4, 0.7), r.uniform(0.4, 0.8), r.uniform(3, 8)
    angle = r.uniform(0.3, 1.2)
    drop = np.array([np.sin(angle), 0.0, -np.cos(angle)]) * length
    top = np.array([0.0, 0.0, length * np.cos(angle * r.uniform(0.2, 0.8)) + 0.04])
    across = np.array([wide, 0.0, 0.0])
    swing = np.cross((0, spin, 0), drop)
    _bar(r, scene, "left", top, top + drop, 0.5 * swing, (0, spin, 0))
    _bar(r, scene, "right", top + across, top + across + drop, 0.5 * swing, (0, spin, 0))
    _bar(r, scene, "low", top + drop, top + across + drop, swing, (0, 0, 0))
    for a, b, anchor in (
        (None, "left", top),
        (None, "right", top + across),
        ("left", "low", top + drop),
        ("right", "low", top + across + drop),
    ):
        scene.add_joint("revolute", a, b, anchor=anchor, axis=(0, 1, 0))
    _throw(r, scene, "body", (0.5 * wide - 0.9, 0, 0.3), (r.uniform(2, 5), 0, 0), 0.2)


def _walls(scene: sg.Scene, width: float) -> None:
    for side in (-1.0, 1.0):
        where = (0.5 * side * width, 0, 0)
        scene.add_fixed(sg.HalfSpace(normal=(-side, 0, 0)), position=where, name="left" if side < 0 else "right")


def _wedge(r: Rng, scene: sg.Scene) -> None:
    """Turn a free bar until it is stuck between two walls."""
    width, tilt, spin = 0.8, r.uniform(0.1, 0.6), r.uniform(2, 10)
    _walls(scene, width)
    length = (width - 0.08) / np.cos(tilt) + 0.08
    half = 0.5 * length * np.array([np.cos(tilt + 0.2), 0.0, np.sin(tilt + 0.2)])
    middle = np.array([0.0, 0.0, 2.0])
    _bar(r, scene, "bar", middle - half, middle + half, (0, 0, -r.uniform(0, 3)), (0, spin, 0))
    _throw(r, scene, "body", (r.uniform(-0.1, 0.1), 0, 2.8), (0, 0, -r.uniform(3, 6)), 0.2)


def _hinged_wedge(r: Rng, scene: sg.Scene) -> None:
    """Swing one or two bars on a hinge against walls that they cannot leave but by slipping."""
    width, lean, spin = 0.8, r.uniform(0.0, 0.4), r.uniform(2, 8)
    _walls(scene, width)
    n = int(r.integers(1, 3))
    hinge = np.array([r.uniform(-0.2, 0.2), 0.0, 2.0])
    length = (0.5 * width - 0.04 - hinge[0]) / np.cos(lean) + 0.04
    along = np.array([np.cos(lean + 0.3), 0.0, np.sin(lean + 0.3)])
    for k in range(n):
        begin, end = hinge + length / n * k * along, hinge + length / n * (k + 1) * along
        velocity = np.cross((0, spin, 0), 0.5 * (begin + end) - hinge)
        _bar(r, scene, f"bar{k}", begin, end, velocity, (0, spin, 0))
        scene.add_joint("revolute", f"bar{k - 1}" if k else None, f"bar{k}", anchor=begin, axis=(0, 1, 0))
    _throw(r, scene, "body", (hinge[0], 0.02, 2.6), (r.uniform(-0.5, 0.5), 0, -r.uniform(2, 5)), 0.15)


_MAKE = (_floor, _corner, _edge, _pair, _group, _table, _pendulum, _linkage, _wedge, _hinged_wedge)


def collision(seed: int, gravity: float = 0.0) -> sg.Scene:
    """Return the scene of a seed."""
    r = np.random.default_rng([seed, 1])
    scene, family = sg.Scene(gravity=(0, 0, -gravity)), seed % len(FAMILIES)
    scene.add_fixed(sg.HalfSpace(), name="floor")
    _MAKE[family](r, scene)
    least = 1.0 if "wedge" in FAMILIES[family] else 0.3
    scene.set_contact(friction=float(r.uniform(least, 3.0)), restitution=float(r.uniform(0.5, 1.0)))
    return scene


# --- judge -----------------------------------------------------------------------------


def energies(scene: sg.Scene, trajectory: sg.Trajectory, h: float) -> tuple[Array, Array, Array]:
    """Return kinetic energy, energy, and energy with bodies where they were half a step before, (n+1,) [J]."""
    n = trajectory.time.size
    kinetic, potential, before = np.zeros(n), np.zeros(n), np.zeros(n)
    for name, body in scene.bodies.items():
        v, omega = trajectory.linear_velocity(name), trajectory.angular_velocity(name)
        turned = np.array(
            [w @ matrix_of(np.append(np.zeros(3), e)) for w, e in zip(omega, trajectory.orientation(name), strict=True)]
        )
        kinetic += 0.5 * body.mass * (v * v).sum(axis=1) + 0.5 * np.einsum("li,ij,lj->l", turned, body.inertia, turned)
        x = trajectory.centre(name)
        potential -= body.mass * x @ scene.gravity
        before -= body.mass * (x - 0.5 * h * v) @ scene.gravity
    return kinetic, kinetic + potential, kinetic + before


def _growth(energy: Array, given: Array, kinetic: Array) -> float:
    """Return the largest rise of the energy in a step beyond what was given, relative to the kinetic energy."""
    rise = np.diff(energy) - np.diff(given)
    at_play = np.maximum(np.maximum(kinetic[1:], kinetic[:-1]), 1e-3 * kinetic.max())
    return float((rise / at_play).max(initial=0.0))


def run(seed: int, *, h: float, gravity: float, duration: float = DURATION, limit: int = LIMIT) -> dict[str, Any]:
    """Return the row of a seed."""
    scene = collision(seed, gravity)
    row: dict[str, Any] = {"seed": seed, "family": FAMILIES[seed % len(FAMILIES)], "bodies": len(scene.bodies)}
    ticks = [time.process_time()]

    def tick(*_: object) -> None:
        ticks.append(time.process_time())
        if ticks[-1] - ticks[0] > limit:
            raise TimeoutError

    try:
        trajectory = sg.simulate(scene, duration=duration, h=h, on_failure="keep", progress=False, callback=tick)
    except TimeoutError:
        return {**row, "verdict": "time limit", "seconds": limit}
    except sg.SolverFailure as failure:
        assert isinstance(failure.trajectory, sg.Trajectory)
        trajectory = failure.trajectory
    except Exception as error:  # a crash is a row too
        return {**row, "verdict": "crash", "remarks": f"{type(error).__name__}: {error}"[:120]}
    c, said = trajectory.certificate, trajectory.energy()
    kinetic, energy, before = energies(scene, trajectory, h)
    impulse = np.abs(trajectory.contact_log.impulse)
    momentum = max(scene.bodies[n].mass * np.abs(trajectory.linear_velocity(n)).max() for n in scene.bodies)
    # What lifting and pulling together gave is energy, too, but not of a collision.
    given = said.drives + said.correction + said.joints
    return {
        **row,
        "verdict": trajectory.verdict,
        "steps": trajectory.step_count,
        "failed": int(c.failed().sum()),
        "gain": f"{_growth(before, given, kinetic):.2e}",
        "gain_at_poses": f"{_growth(energy, said.drives, kinetic):.2e}",
        "gain_said": f"{float(c.energy_gain.max(initial=0.0)):.2e}",
        "energy_error": f"{float(c.energy_error.max(initial=0.0)):.2e}",
        "faster": f"{float(kinetic.max() / kinetic[0]):.3f}",
        "impulse": f"{float(impulse.max(initial=0.0)) / momentum:.2e}",
        "overlap": f"{float((c.overlap / c.overlap_extent).max(initial=0.0)):.2e}",
        "compliant": int((c.compliance > 0.0).sum()),
        "slowest": f"{max(np.diff(ticks), default=0.0):.3f}",
        "seconds": f"{ticks[-1] - ticks[0]:.2f}",
        "remarks": " | ".join(remark.split(" in ")[0] for remark in trajectory.remarks()),
    }


COLUMNS = (
    *("seed", "family", "bodies", "verdict", "steps", "failed", "gain", "gain_at_poses", "gain_said", "energy_error"),
    *("faster", "impulse", "overlap", "compliant", "slowest", "seconds", "remarks"),
)


def faults(row: dict[str, Any]) -> list[str]:
    """Return what is wrong with a run."""
    if "gain" not in row:
        return [row["verdict"]]
    found = ["gains energy"] if float(row["gain"]) > GAIN else []
    found += ["fails"] if row["failed"] else []
    found += ["says nothing"] if found and row["verdict"] == "trusted" else []
    return found + (["slow"] if float(row["slowest"]) > SLOW else [])


def rows(count: int, first: int, **words: Any) -> Iterator[dict[str, Any]]:
    """Return the rows of many seeds."""
    for seed in range(first, first + count):
        yield run(seed, **words)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=480)
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--h", type=float, default=4e-3)
    parser.add_argument("--gravity", type=float, default=0.0)
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds for a scene")
    parser.add_argument("--out", type=Path, default=RESULT)
    asked = parser.parse_args()
    found: Counter[tuple[str, str]] = Counter()
    asked.out.parent.mkdir(exist_ok=True)
    with asked.out.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="")
        table.writeheader()
        for row in rows(asked.count, asked.seed, h=asked.h, gravity=asked.gravity, limit=asked.limit):
            table.writerow(row)
            file.flush()
            wrong = faults(row)
            found.update((row["family"], what) for what in wrong or ["right"])
            if wrong:
                print(f"{row['seed']:6} {row['family']:<13}{row['verdict']}: {', '.join(wrong)}", flush=True)
            print(f"\r{row['seed'] - asked.seed + 1} of {asked.count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for (family, what), n in sorted(found.items()):
        print(f"{family:<13}{what:<14}{n:6}")
    return 1 if any(what != "right" for _, what in found) else 0


if __name__ == "__main__":
    sys.exit(main())
