"""Random scenes, and whether what is said of them is true.

Run as ``python -m benchmarks.random_scenes [--count 2000] [--seed 0] [--harmless]``. Every seed is a scene of 1 to 60
bodies of all shapes, with joints, drives and restitution, and, unless it is harmless by construction, one or two kinds
of bad luck. It is run by the default formulation; then a judge that shares no code with it (``scene_judge``) looks at
the motion. A *disagreement* is a run that is trusted although the judge calls something in it wrong, or a harmless one
that is not trusted: plainly with up to nine bodies, at least with remarks that are true beyond.
"""

from __future__ import annotations

import argparse
import csv
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from benchmarks.scene_judge import Judgement, judge

import signorini as sg
from signorini.scene import Shape

Rng = np.random.Generator
RESULT = Path(__file__).parent / "results" / "random_scenes.csv"
H, DURATION = 2e-3, 0.3
MOST = 60
LIMIT = 20  # seconds of CPU time for a scene
FEW = 9  # bodies up to which a harmless scene is plainly trusted
KINDS = ("pile", "stack", "chain", "mechanism")
LUCK = ("overlap", "mass", "size", "speed", "friction", "tight")

# What the judge calls wrong: bounds of the verdict, and for momentum that of rounding. Anchors are measured beside
# another length than the verdict's, so twice as much passes without a remark.
OVERLAP_TRUSTED, OVERLAP_REMARKED = 1e-3, 2e-2
ANCHORS_TRUSTED, ANCHORS_REMARKED = 2e-2, 5e-2
GAIN, MOMENTUM = 1e-2, 1e-9
_SLACK = 1.01  # of the judge's own search


@dataclass(frozen=True)
class Drawn:
    """A random scene."""

    scene: sg.Scene
    kind: str
    luck: tuple[str, ...]


def random_shape(r: Rng, size: float) -> Shape:
    """Return a convex solid, about `size` wide."""
    a = size * r.uniform(0.5, 1.0, 3)
    pick: list[Callable[[], Shape]] = [
        lambda: sg.Sphere(0.5 * a[0]),
        lambda: sg.Box(a),
        lambda: sg.Capsule(0.3 * a[0], 0.5 * a[1]),
        lambda: sg.Cylinder(0.4 * a[0], a[1]),
        lambda: sg.Cone(0.5 * a[0], a[1]),
        lambda: sg.Ellipsoid(0.5 * a),
        lambda: sg.Superellipsoid(0.5 * a, float(r.uniform(2.0, 5.0))),
        lambda: sg.ConvexHull(0.5 * size * _on_sphere(r, int(r.integers(8, 16))) * r.uniform(0.7, 1.0, 3)),
    ]
    return pick[int(r.integers(len(pick)))]()


def _on_sphere(r: Rng, count: int) -> Any:
    points = r.standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def draw(seed: int, *, harmless: bool, most: int = MOST) -> Drawn:
    """Return the scene of a seed."""
    r = np.random.default_rng([seed, int(harmless)])
    luck: tuple[str, ...] = ()
    if not harmless:
        luck = tuple(sorted(str(word) for word in r.choice(LUCK, int(r.integers(1, 3)), replace=False)))
    kind = str(r.choice(KINDS))
    count = int(np.exp(r.uniform(0.0, np.log(most + 0.99))))
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    friction = 10.0 ** r.uniform(2, 12) if "friction" in luck else float(r.choice([0.0, r.uniform(0.1, 1.0)]))
    scene.set_contact(friction=friction, restitution=float(r.choice([0.0, 0.0, r.uniform(0.1, 1.0)])))
    {"pile": _pile, "stack": _stack, "chain": _chain, "mechanism": _mechanism}[kind](scene, r, count, luck)
    if "tight" in luck:
        _tighten(scene, r)
    return Drawn(scene, kind, luck)


def _weight(r: Rng, luck: tuple[str, ...]) -> float:
    """Return a density [kg/m^3]."""
    return float(500.0 * 10.0 ** r.uniform(-6, 6)) if "mass" in luck else float(r.uniform(300.0, 3000.0))


def _pile(scene: sg.Scene, r: Rng, count: int, luck: tuple[str, ...]) -> None:
    """Drop bodies of all shapes from a grid in which none touch."""
    edge = max(1, int(np.ceil(count ** (1 / 3))))
    size, pitch = 0.3, 0.55
    speed = 10.0 ** r.uniform(1, 3) if "speed" in luck else 1.0
    for k in range(count):
        cell = np.array([k % edge, k // edge % edge, k // edge**2])
        small = 10.0 ** r.uniform(-3, 0) if "size" in luck else 1.0
        place = pitch * cell + np.array([0.0, 0.0, 0.35]) + r.uniform(-0.05, 0.05, 3)
        if "overlap" in luck:
            place *= r.uniform(0.3, 0.9)
        e = r.standard_normal(4)
        scene.add_body(
            random_shape(r, small * size),
            density=_weight(r, luck),
            position=place,
            orientation=e / np.linalg.norm(e),
            velocity=speed * r.uniform(-1, 1, 3),
            angular_velocity=r.uniform(-4, 4, 3),
            name=f"body{k}",
        )


def _stack(scene: sg.Scene, r: Rng, count: int, luck: tuple[str, ...]) -> None:
    """Put boxes and cylinders on each other, in columns of at most five, and throw a ball at the last."""
    z = 0.0
    for k in range(count):
        z = 0.0 if k % 5 == 0 else z
        width, height = r.uniform(0.3, 0.5), r.uniform(0.1, 0.3)
        if "size" in luck:
            width, height = (10.0 ** r.uniform(-2, 0) * x for x in (width, height))
        shape = sg.Box((width, width, height)) if r.random() < 0.6 else sg.Cylinder(0.5 * width, height)
        sunk = r.uniform(0.0, 0.5) * height if "overlap" in luck else 0.0
        place = (1.5 * (k // 5), 0.02 * r.uniform(-1, 1) * width, z + 0.5 * height - sunk)
        scene.add_body(shape, density=_weight(r, luck), position=place, name=f"body{k}")
        z += height - sunk
    if r.random() < 0.5 or "speed" in luck:
        speed = 10.0 ** r.uniform(1, 3) if "speed" in luck else r.uniform(0.5, 2.0)
        where = (1.5 * ((count - 1) // 5), -0.6, 0.2)
        scene.add_body(sg.Sphere(0.1), density=_weight(r, luck), position=where, velocity=(0, speed, 0), name="ball")


def _chain(scene: sg.Scene, r: Rng, count: int, luck: tuple[str, ...]) -> None:
    """Hang a chain of links from the world, with pins and balls, above the floor."""
    length, last = 0.2, None
    speed = 10.0 ** r.uniform(1, 2) if "speed" in luck else 0.0
    for k in range(count):
        x = length * k
        size = 0.16 * (10.0 ** r.uniform(-2, 0) if "size" in luck else 1.0)
        shape = sg.Box((size, 0.3 * size, 0.3 * size)) if r.random() < 0.5 else sg.Sphere(0.4 * size)
        place = np.array([x + 0.5 * length, 0.0, 1.0])
        velocity = speed * r.uniform(-1, 1, 3) * (k == count - 1)
        name = f"body{k}"
        scene.add_body(shape, density=_weight(r, luck), position=place, velocity=velocity, name=name)
        anchor = (x, 0.0, 1.0)
        if r.random() < 0.5:
            axis = (0.0, 1.0, 0.0) if r.random() < 0.5 else (0.0, 0.0, 1.0)
            scene.add_joint("revolute", last, name, anchor=anchor, axis=axis, friction=float(r.choice([0.0, 0.05])))
        else:
            scene.add_joint("spherical", last, name, anchor=anchor)
        last = name


def _mechanism(scene: sg.Scene, r: Rng, count: int, luck: tuple[str, ...]) -> None:
    """Set up small mechanisms side by side: driven sliders and wheels, pendulums, springs, doors, ropes."""
    fast = 10.0 ** r.uniform(1, 3) if "speed" in luck else 1.0
    for k in range(count):
        x = 1.0 * k
        small = 10.0 ** r.uniform(-2, 0) if "size" in luck else 1.0
        name = f"body{k}"
        place = (x, 0.0, 0.05 if "overlap" in luck else 0.6)
        body = random_shape(r, 0.2 * small)
        scene.add_body(body, density=_weight(r, luck), position=place, name=name)
        rate = fast * r.uniform(0.5, 3.0)
        words: dict[str, Any]
        match int(r.integers(7)):
            case 0:
                words = {"axis": (0, 1, 0), "motion": lambda t, w=rate: 0.3 * np.sin(w * t)}
                scene.add_joint("revolute", None, name, anchor=(x, 0, 0.6), **words)
            case 1:
                words = {"axis": (0, 1, 0), "motion": lambda t, w=rate: 0.1 * np.sin(w * t), "effort_limit": 50.0}
                scene.add_joint("prismatic", None, name, anchor=place, **words)
            case 2:
                scene.add_joint("spherical", None, name, anchor=(x + 0.2, 0, 0.8))
            case 3:
                scene.add_spring(None, name, anchor=[(x, 0, 1.0), place], stiffness=200.0, damping=1.0)
            case 4:
                for y in (-0.1, 0.1):
                    scene.add_joint("revolute", None, name, anchor=(x + 0.2, y, 0.6), axis=(0, 1, 0))
            case 5:
                scene.add_joint("distance", None, name, anchor=[(x + 0.3, 0, 0.9), place])
            case _:
                scene.add_joint(
                    "prismatic", None, name, anchor=place, axis=(0, 1, 0), friction=2.0, limits=(-0.05, 0.05)
                )


def _tighten(scene: sg.Scene, r: Rng) -> None:
    """Tie some body to a hand that moves, by a joint more than it may bear."""
    name = str(r.choice(list(scene.bodies)))
    place = np.array(scene.bodies[name].position)
    speed = r.uniform(0.1, 2.0)
    for k, side in enumerate((-1.0, 1.0)):
        hand = place + np.array([0.4 * side, 0.0, 0.4])
        away = np.array([side * speed, 0.0, 0.0])
        motion = lambda t, x=hand, v=away: x + t * v  # noqa: E731
        scene.add_fixed(sg.Sphere(0.01), motion=motion, name=f"hand{k}")
        kind = str(r.choice(["spherical", "distance", "fixed"]))
        anchor = [hand, place] if kind == "distance" else place
        scene.add_joint(kind, f"hand{k}", name, anchor=anchor)


def disagreements(drawn: Drawn, trajectory: sg.Trajectory, found: Judgement) -> list[str]:
    """Return what is wrong with the verdict."""
    verdict, wrong = trajectory.verdict, []
    if verdict != "not trusted":
        bound, apart = OVERLAP_TRUSTED, ANCHORS_TRUSTED
        if verdict != "trusted":
            bound, apart = OVERLAP_REMARKED, ANCHORS_REMARKED
        wrong += [] if found.finite else ["trusted though not finite"]
        wrong += ["trusted though bodies overlap"] if found.overlap > _SLACK * bound else []
        wrong += ["trusted though momentum is unexplained"] if found.momentum > MOMENTUM else []
        wrong += ["trusted though energy is gained"] if verdict == "trusted" and found.energy_gain > GAIN else []
        wrong += ["trusted though joints come apart"] if found.joint_gap > apart else []
    if drawn.luck:
        return wrong
    if verdict == "not trusted":
        wrong.append("harmless but not trusted")
    elif verdict != "trusted" and len(drawn.scene.bodies) <= FEW:
        wrong.append("harmless and small but with remarks")
    overlaps = any(remark.startswith("bodies overlap") for remark in trajectory.remarks())
    if overlaps and found.overlap * _SLACK < OVERLAP_TRUSTED:
        wrong.append("remark on an overlap that is none")
    return wrong


@contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so many seconds of CPU time, as soon as a kernel returns; the compiler goes on."""

    def stop(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            if "numba" in frame.f_code.co_filename or "llvmlite" in frame.f_code.co_filename:
                signal.setitimer(signal.ITIMER_PROF, seconds)
                return
            frame = frame.f_back
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _simulate(scene: sg.Scene, duration: float, limit: float) -> sg.Trajectory:
    """Return the run of a scene, up to the first step that is not solved: what follows changes no verdict."""
    try:
        with _no_longer_than(limit):
            return sg.simulate(scene, duration=duration, h=H, progress=False)
    except sg.SolverFailure as failure:
        assert isinstance(failure.trajectory, sg.Trajectory)
        return failure.trajectory


def run(seed: int, *, harmless: bool, most: int, duration: float = DURATION, limit: int = LIMIT) -> dict[str, Any]:
    """Return the row of a seed."""
    drawn = draw(seed, harmless=harmless, most=most)
    row: dict[str, Any] = {
        "seed": seed,
        "kind": drawn.kind,
        "luck": "+".join(drawn.luck),
        "bodies": len(drawn.scene.bodies),
    }
    try:
        begin = time.process_time()
        try:
            trajectory = _simulate(drawn.scene, duration, limit)
        except TimeoutError:  # perhaps in the compiler, which comes once
            begin = time.process_time()
            trajectory = _simulate(drawn.scene, duration, limit)
    except TimeoutError:
        late = "harmless but takes too long" if harmless else ""
        return {**row, "verdict": "time limit", "seconds": limit, "disagreement": late}
    except Exception as error:  # a crash is a row too
        return {**row, "verdict": "crash", "disagreement": f"{type(error).__name__}: {error}"[:120]}
    spent = time.process_time() - begin
    found = judge(drawn.scene, trajectory, np.random.default_rng(seed))
    worst = float(np.max(trajectory.certificate.overlap / trajectory.certificate.overlap_extent))
    return {
        **row,
        "verdict": trajectory.verdict,
        "overlap_said": f"{worst:.3g}",
        "overlap": f"{found.overlap:.3g}",
        "momentum": f"{found.momentum:.3g}",
        "energy_gain": f"{found.energy_gain:.3g}",
        "joint_gap": f"{found.joint_gap:.3g}",
        "seconds": f"{spent:.2f}",
        "disagreement": "; ".join(disagreements(drawn, trajectory, found)),
        "remarks": " | ".join(remark.split(" in ")[0] for remark in trajectory.remarks()),
    }


COLUMNS = (
    *("seed", "kind", "luck", "bodies", "verdict", "overlap_said", "overlap", "momentum", "energy_gain", "joint_gap"),
    *("seconds", "disagreement", "remarks"),
)


def rows(count: int, first: int, *, harmless: bool | None, most: int, limit: int) -> Iterator[dict[str, Any]]:
    """Return the rows of many seeds; unless all are to be harmless, every second one is."""
    for seed in range(first, first + count):
        yield run(seed, harmless=seed % 2 == 0 if harmless is None else harmless, most=most, limit=limit)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--harmless", action="store_true", help="no bad luck at all; otherwise every second scene")
    parser.add_argument("--most", type=int, default=MOST, help="bodies in a scene")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds of CPU time for a scene")
    parser.add_argument("--out", type=Path, default=RESULT)
    asked = parser.parse_args()
    verdicts: Counter[tuple[str, str]] = Counter()
    wrong = 0
    asked.out.parent.mkdir(exist_ok=True)
    with asked.out.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="")
        table.writeheader()
        which_ones = True if asked.harmless else None
        for row in rows(asked.count, asked.seed, harmless=which_ones, most=asked.most, limit=asked.limit):
            table.writerow(row)
            file.flush()
            verdicts["bad luck" if row["luck"] else "harmless", row["verdict"]] += 1
            if row["disagreement"]:
                wrong += 1
                which = f"{row['seed']:6} {row['kind']:<10}{row['luck']:<18}{row['bodies']:4}"
                print(f"\r{which} {row['verdict']}: {row['disagreement']}", flush=True)
            print(f"\r{sum(verdicts.values())} of {asked.count}, {wrong} disagree", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for (which, verdict), n in sorted(verdicts.items()):
        print(f"{which:<10}{verdict:<22}{n:6}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
