"""Random runs, and whether their audit says of them what they say of themselves.

Run as ``python -m benchmarks.random_audits [--count 200] [--seed 0] [--kind pile] [--out FILE]``. Every seed is a short
run of one of the families below; it is audited from its file. A *difference* is another grade. Told is also what the
audit takes beside the run, CPU time by CPU time.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.random_scenes import random_shape

import signorini as sg
from signorini.audit import Grade, audit_file

Rng = np.random.Generator
Drawn = tuple[sg.Scene, dict[str, Any]]
STEPS = 200


def _turned(r: Rng) -> Any:
    e = r.standard_normal(4)
    return e / np.linalg.norm(e)


def _floor(r: Rng, **more: Any) -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=float(r.choice([0.1, 0.4, 0.8])), **more)
    return scene


def _compound(r: Rng) -> Any:
    """Return two bars that make an L."""
    a, b = r.uniform(0.15, 0.3, 2)
    return [sg.Box((a, 0.08, 0.08)), sg.Box((0.08, 0.08, b)).at((0.5 * a, 0.0, 0.5 * b))]


def _drop(scene: sg.Scene, r: Rng, count: int, shape: Callable[[int], Any], speed: float = 1.0) -> None:
    for k in range(count):
        cell = np.array([k % 2, k // 2 % 2, k // 4])
        place = 0.45 * cell + np.array([0.0, 0.0, 0.35]) + r.uniform(-0.04, 0.04, 3)
        scene.add_body(
            shape(k),
            density=float(r.uniform(300.0, 3000.0)),
            position=place,
            orientation=_turned(r),
            velocity=(*r.uniform(-speed, speed, 2), -r.uniform(0.0, 2.0)),
            angular_velocity=r.uniform(-4, 4, 3),
            name=f"body{k}",
        )


def pile(r: Rng) -> Drawn:
    """Drop 5 to 20 bodies of all shapes."""
    scene = _floor(r)
    _drop(scene, r, int(r.integers(5, 21)), lambda _: random_shape(r, 0.3))
    return scene, {}


def compounds(r: Rng) -> Drawn:
    """Drop L-shapes among others."""
    scene = _floor(r)
    _drop(scene, r, int(r.integers(5, 13)), lambda k: _compound(r) if k % 2 else random_shape(r, 0.3))
    return scene, {}


def rebounds(r: Rng) -> Drawn:
    """Drop bodies that bounce."""
    scene = _floor(r, restitution=float(r.uniform(0.1, 1.0)))
    _drop(scene, r, int(r.integers(2, 11)), lambda _: random_shape(r, 0.3))
    return scene, {}


def rolling(r: Rng) -> Drawn:
    """Drop bodies with couples at their contacts."""
    scene = _floor(r, rolling=float(r.uniform(0.001, 0.02)), torsional=float(r.choice([0.0, 0.01])))
    _drop(scene, r, int(r.integers(2, 9)), lambda _: random_shape(r, 0.3))
    return scene, {}


def midpoint(r: Rng) -> Drawn:
    """Drop bodies, by steps that act in their middle."""
    scene = _floor(r)
    _drop(scene, r, int(r.integers(2, 9)), lambda _: random_shape(r, 0.3))
    return scene, {"formulation": sg.MoreauJean(theta=0.5)}


def bullets(r: Rng) -> Drawn:
    """Shoot at boxes, up to some hundred sizes a step."""
    scene = _floor(r, restitution=float(r.choice([0.0, 0.5])))
    for k in range(int(r.integers(1, 5))):
        scene.add_body(
            sg.Box((0.3, 0.3, 0.3)), mass=float(r.uniform(0.5, 5)), position=(0.5 * k, 0, 0.15), name=f"box{k}"
        )
    size = float(10 ** r.uniform(-2.5, -1.0))
    speed = float(10 ** r.uniform(1.5, 3.3))
    target = np.array([0.0, 0.0, 0.15]) + r.uniform(-0.1, 0.1, 3)
    way = np.array([r.uniform(-0.5, 1.0), r.uniform(-1, 1), r.uniform(-0.5, 0.0)])
    way /= np.linalg.norm(way)
    scene.add_body(
        random_shape(r, size),
        mass=float(10 ** r.uniform(-2, 0)),
        position=target - r.uniform(0.4, 3.0) * way * [1, 1, 0] + [0, 0, 0.1],
        orientation=_turned(r),
        velocity=speed * way * [1, 1, 0],
        angular_velocity=r.uniform(-200, 200, 3),
        name="bullet",
    )
    return scene, {"steps": 60}


def joints(r: Rng) -> Drawn:
    """Set up arms whose joints have friction, limits, motors and springs."""
    scene = _floor(r)
    for k in range(int(r.integers(1, 4))):
        last: str | None = None
        x = 2.0 * k
        kind = int(r.integers(6))
        for l in range(int(r.integers(1, 4))):
            name = f"link{k}.{l}"
            place = (x + 0.2 + 0.4 * l, 0.0, 1.0)
            scene.add_body(sg.Box((0.4, 0.1, 0.1)), mass=float(r.uniform(0.5, 2.0)), position=place, name=name)
            choices: list[dict[str, Any]] = [
                {"friction": float(r.uniform(0.1, 3.0))},
                {"limits": (-float(r.uniform(0.05, 0.5)), float(r.uniform(0.05, 0.5)))},
                {"motion": _swing(r), "effort_limit": float(r.uniform(1.0, 30.0))},
                {"spring": float(r.uniform(5.0, 50.0)), "damping": float(r.uniform(0.0, 0.5))},
                {"friction": ("load", 0.2, 0.05), "limits": (-0.3, 0.3)},
                {"motion": _swing(r)},
            ]
            words = choices[kind]
            prismatic = l == 0 and r.random() < 0.3
            if prismatic:
                words = {key: value for key, value in words.items() if key != "friction"}
                words |= {"friction": 2.0} if kind in (0, 4) else {}
            scene.add_joint(
                "prismatic" if prismatic else "revolute",
                last,
                name,
                anchor=(x + 0.4 * l, 0, 1.0),
                axis=(0, 1, 0) if not prismatic else (0, 0, 1),
                **words,
            )
            last = name
    return scene, {}


def _swing(r: Rng) -> Callable[[float], float]:
    size, rate = float(r.uniform(0.05, 0.5)), float(r.uniform(1.0, 6.0))
    return lambda t: size * float(np.sin(rate * t))


def ragdoll(r: Rng) -> Drawn:
    """Throw bodies with joints of all kinds to the floor."""
    scene = _floor(r, restitution=float(r.choice([0.0, 0.5, 1.0])))
    scene.add_body(sg.Box((0.2, 0.1, 0.4)), mass=3.0, position=(0, 0, 1.0), velocity=r.uniform(-1, 1, 3), name="trunk")
    for k, (x, z) in enumerate([(-0.2, 1.15), (0.2, 1.15), (-0.1, 0.65), (0.1, 0.65)]):
        name = f"limb{k}"
        scene.add_body(sg.Capsule(0.04, 0.2), mass=0.6, position=(x, 0, z), name=name)
        anchor = (0.75 * x, 0, 1.15) if z > 1 else (x, 0, 0.8)
        if r.random() < 0.5:
            scene.add_joint("spherical", "trunk", name, anchor=anchor)
        else:
            limits = None if r.random() < 0.3 else (-0.6, 0.6)
            scene.add_joint("revolute", "trunk", name, anchor=anchor, axis=(0, 1, 0), limits=limits, friction=0.2)
    return scene, {}


def table(r: Rng) -> Drawn:
    """Put bodies on a table that is shaken."""
    size, rate = float(r.uniform(0.005, 0.05)), float(r.uniform(2.0, 15.0))
    along = r.uniform(-1, 1, 3)
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.Box((3, 3, 0.2)), motion=lambda t: size * np.sin(rate * t) * along + [0, 0, -0.1], name="table")
    scene.set_contact(friction=float(r.uniform(0.1, 0.8)), restitution=float(r.choice([0.0, 0.0, 0.5])))
    _drop(scene, r, int(r.integers(1, 7)), lambda _: random_shape(r, 0.3))
    return scene, {}


def mechanism(r: Rng) -> Drawn:
    """Drop a mechanism of bodies from millimetres to metres in size, with joints of all kinds, to the floor."""
    size, mass = 10 ** r.uniform(-2.5, 0.7), 10 ** r.uniform(-2.0, 2.5)
    unit, scene = float(np.sqrt(size / 9.81)), _floor(r, restitution=float(r.choice([0.0, 0.3, 0.8])))
    places: list[Any] = []
    for k in range(int(r.integers(2, 8))):
        last = 0 if k == 0 else int(r.integers(max(0, k - 2), k))
        way = r.standard_normal(3)
        place = np.array([0, 0, 3.5 * size]) if k == 0 else places[last] + 0.8 * size * way / np.linalg.norm(way)
        place[2] = max(place[2], 0.5 * size)
        places.append(place)
        a, m = r.uniform(0.15, 0.4, 3) * size, mass * 10 ** r.uniform(-1.0, 0.3)
        shapes = (sg.Sphere(a[0]), sg.Box(2 * a), sg.Capsule(a[0], a[1]), sg.Ellipsoid(a), sg.Cylinder(a[0], a[1]))
        scene.add_body(shapes[int(r.integers(5))], mass=m, position=place, name=f"part{k}")
        for l in range(k):
            scene.exclude(f"part{k}", f"part{l}")
        if k > 0:
            kind, words = _joint(r, m, size, unit)
            scene.add_joint(kind, f"part{last}", f"part{k}", anchor=(places[last] + place) / 2, **words)
    h = float(f"{unit * 10 ** r.uniform(-2.5, -1.5):.2g}")
    return scene, {"h": h, "steps": min(1500, round(8 * unit / h))}


def _joint(r: Rng, mass: float, size: float, unit: float) -> tuple[str, dict[str, Any]]:
    """Return kind and words of a joint of bodies of a `size`; `unit` is the time in which they fall by it."""
    kind = str(r.choice(["revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed"]))
    along, other = r.standard_normal(3), r.standard_normal(3)
    words: dict[str, Any] = {} if kind in ("spherical", "fixed") else {"axis": along}
    if kind == "universal":
        words["axis"] = (along, np.cross(along, other))
    if kind in ("revolute", "prismatic"):
        length, force = (1.0, mass * 9.81 * size) if kind == "revolute" else (size, mass * 9.81)
        if r.random() < 0.5:
            words["limits"] = (-0.4 * length, 0.5 * length)
        chance = r.random()
        if chance < 0.3:
            words["friction"] = 0.3 * force
        elif chance < 0.5:
            words |= {"spring": 2.0 * force / length, "damping": 0.2 * force * unit / length}
    return kind, words


KINDS = (pile, compounds, bullets, joints, rebounds, rolling, midpoint, table, ragdoll, pile, bullets, joints)


def draw(seed: int, kind: str | None = None) -> tuple[str, Drawn]:
    """Return the scene of a seed, the words by which it is run, and the name of its family."""
    one = KINDS[seed % len(KINDS)] if kind is None else {f.__name__: f for f in (*KINDS, mechanism)}[kind]
    return one.__name__, one(np.random.default_rng([seed, 19]))


def run(seed: int, kind: str | None = None) -> dict[str, Any]:
    """Run a scene, audit it and return what both say."""
    name, (scene, words) = draw(seed, kind)
    h = float(np.random.default_rng([seed, 20]).choice([2e-3, 5e-3, 1e-2]))
    words = dict(words)
    h, steps = words.pop("h", h), words.pop("steps", STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        trajectory = sg.simulate(scene, duration=steps * h, h=h, on_failure="keep", **words)
        ran = time.process_time() - begin
        with TemporaryDirectory() as folder:
            path = Path(folder) / "run.h5"
            trajectory.save(path)
            begin = time.process_time()
            audit = audit_file(path, scene=scene)
            audited = time.process_time() - begin
    worst = [
        f"{one.what} {one.worst:.1e} {one.who} t={one.time:.4g}"
        for one in audit.findings
        if one.grade is not Grade.TRUSTED
    ]
    return {
        "seed": seed,
        "kind": name,
        "h": h,
        "bodies": len(scene.bodies),
        "run": trajectory.verdict,
        "audit": str(audit.verdict),
        "said": " | ".join(trajectory.remarks()),
        "found": " | ".join(worst + [f"unchecked {what}" for what in audit.unchecked]),
        "seconds": round(ran, 3),
        "audited": round(audited, 3),
    }


def main() -> int:
    """Run the campaign; return 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind")
    parser.add_argument("--out", type=Path, help="CSV file")
    arguments = parser.parse_args()
    rows = []
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        row = run(seed, arguments.kind)
        rows.append(row)
        if row["run"] != row["audit"]:
            print(row, flush=True)
    differ = sum(row["run"] != row["audit"] for row in rows)
    ratio = [row["audited"] / row["seconds"] for row in rows]
    print(f"{len(rows)} runs, {differ} differ; audit / run CPU: median {np.median(ratio):.2f}, most {max(ratio):.2f}")
    if arguments.out:
        with arguments.out.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return int(differ > 0)


if __name__ == "__main__":
    raise SystemExit(main())
