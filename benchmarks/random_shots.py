"""Random shots: what is hit is hit, what is not touched does not move, and what flies keeps its momentum.

Run as ``python -m benchmarks.random_shots [--count 1000] [--seed 0]``. Every seed is a body shot at a thin plate, a
post or a bar, fixed or free, without gravity, turning by up to three radians a step. A shot is *wrong* if

- on the recorded motion, looked at a hundred times a step or more often, bodies overlap by more than a hundredth of the
  thinner one, or the certificate says that some went through others;
- the paths without contact overlap by that much and there was no impulse, or are apart and there was one;
- a body without an impulse in a step changes its velocity by a bit or its angular momentum by more than rounding.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import signorini as sg
from signorini._arrays import Array
from signorini.dynamics.constants import TURN_AT_ONCE
from signorini.dynamics.flight import write_legs
from signorini.geometry import detect
from signorini.math.rotation import rotate, rotated, turn_exact, unrotate
from signorini.model import Model, State
from signorini.model.thickness import thinnest_extents
from signorini.scene import compile_scene

RESULT = Path(__file__).parent / "results" / "random_shots.csv"
STEPS = 6
DEEP = 0.01  # of the thinner body
ROUNDING = 1e-10  # of the angular momentum
EPSILON = float(np.finfo(float).eps)


class Motion(Protocol):
    """Poses (n, n_b, 7) and velocities (n, n_b, 6) of all instants."""

    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...


@dataclass(frozen=True)
class Undisturbed:
    """A motion without contacts."""

    q: Array
    v: Array


def _unit(rng: np.random.Generator, n: int) -> Array:
    x = rng.standard_normal(n)
    return np.asarray(x / np.linalg.norm(x))


def shot(seed: int) -> tuple[sg.Scene, float]:
    """Return a body shot at a plate, a post or a bar, fixed or free, turning by up to 3 rad a step; and that step."""
    rng = np.random.default_rng(seed)
    h, thin = float(rng.choice([0.01, 0.002])), float(10 ** rng.uniform(-3, -1.3))
    scene = sg.Scene(gravity=(0, 0, 0))
    target = (sg.Box((thin, 2, 2)), sg.Box((thin, thin, 2)), sg.Cylinder(thin, 2.0), sg.Box((thin, 2 * thin, 1)))
    shape, turned = target[rng.integers(4)], _unit(rng, 4)
    if rng.random() < 0.4:
        scene.add_body(
            shape, mass=float(10 ** rng.uniform(-1, 1)), position=(0, 0, 0), orientation=turned, name="target"
        )
    else:
        scene.add_fixed(shape, orientation=turned, name="target")
    r = float(10 ** rng.uniform(-2, -0.7))
    shots: tuple[Any, ...] = (
        sg.Sphere(r),
        sg.Box(tuple(r * rng.uniform(0.2, 2, 3))),
        sg.Capsule(0.3 * r, 2 * r),
        sg.ConvexHull(r * rng.standard_normal((10, 3))),
        sg.Cylinder(0.4 * r, 2 * r),
    )
    way = _unit(rng, 3)
    scene.add_body(
        shots[rng.integers(5)],
        mass=float(10 ** rng.uniform(-1, 1)),
        position=rng.uniform(-0.05, 0.05, 3) - rng.uniform(0.5, 3.0) * way,
        orientation=_unit(rng, 4),
        velocity=10 ** rng.uniform(1, 3) * way,
        angular_velocity=rng.uniform(0, 3) / h * _unit(rng, 3),
        name="shot",
    )
    scene.set_contact(friction=float(rng.choice([0.0, 0.3, 0.8])), restitution=float(rng.choice([0.0, 0.5])))
    return scene, h


def _legs(model: Model, b: int, q_0: Array, q_1: Array, v: Array, h: float) -> Array:
    """Return the legs of the turn of body `b` in a step, (n, 7): it begins with the momentum of the end.

    It is one even turn if that leads to where the body ends, else its flight.
    """
    I, e = model.arrays.inertia[b], q_0[b, 3:]
    L = _momenta(I[None], q_1[b : b + 1], v[b : b + 1])[0]
    omega = np.array(rotate(tuple(e), tuple(np.linalg.solve(I, np.array(unrotate(tuple(e), tuple(L)))))))
    legs = np.zeros((max(1, int(np.ceil(h * np.linalg.norm(omega) / TURN_AT_ONCE))), 7))
    legs[0, :4], legs[0, 4:] = e, omega
    even = np.array(turn_exact(tuple(e), tuple(omega), h))
    if abs(even @ q_1[b, 3:]) > 1.0 - 1e-12:
        return legs[:1]
    if omega.any():
        write_legs(I, tuple(e), tuple(omega), h, legs)
    return legs


def deepest(scene: sg.Scene, motion: Motion, h: float) -> float:
    """Return the deepest overlap on the way of every step, in parts of the thinnest body.

    Mass centres go evenly from where a step begins to where it ends, and bodies turn as they fly, or evenly. Looks are
    a hundredth of the step apart, or less where bodies are so close that they could touch and part again in between,
    down to a 30th of the thinnest body.
    """
    model, worst = compile_scene(scene), 0.0
    thin, fixed = thinnest_extents(model.shapes, model.hulls, model.body_count).min(), model.fixed_count
    for q_0, q_1, v in zip(motion.q[:-1], motion.q[1:], motion.v[1:], strict=True):
        if np.array_equal(q_0, q_1):
            continue
        path = (q_1 - q_0)[:, :3] / h
        flights = {b: _legs(model, b, q_0, q_1, v, h) for b in range(fixed, len(q_0))}
        speed = float(np.linalg.norm(path[-1] - path[0]))
        speed += sum(model.arrays.bound[b] * np.linalg.norm(x[:, 4:], axis=1).max() for b, x in flights.items())
        s = 0.0
        while s < h:
            q = q_0.copy()
            q[:, :3] += s * path
            for b, legs in flights.items():
                i = min(len(legs) - 1, int(s / h * len(legs)))
                q[b, 3:] = turn_exact(tuple(legs[i, :4]), tuple(legs[i, 4:]), s - i * h / len(legs))
            reach = 0.01 * h * speed
            gap = float(detect(model, State(t=0.0, q=q, v=v), np.full(len(q), 0.5 * reach)).gap.min(initial=reach))
            worst = max(worst, -gap)
            s += min(0.01 * h, max(gap, thin / 30.0) / speed)
        worst = max(worst, -float(detect(model, State(t=0.0, q=q_1, v=v), np.zeros(len(q_1))).gap.min(initial=0.0)))
    return worst / float(thin)


def undisturbed(scene: sg.Scene, h: float) -> Undisturbed:
    """Return the motion without contacts: the target, which is at rest, stays, and the shot flies alone."""
    alone = sg.Scene(gravity=(0, 0, 0))
    body = scene.bodies["shot"]
    alone.add_body(
        body.shapes[0].shape,
        mass=body.mass,
        position=body.position,
        orientation=body.orientation,
        velocity=body.velocity,
        angular_velocity=body.angular_velocity,
        name="shot",
    )
    flight, start = sg.simulate(alone, duration=STEPS * h, h=h), compile_scene(scene).initial_state
    q, v = (np.repeat(x[None], STEPS + 1, axis=0) for x in (start.q, start.v))
    q[:, -1], v[:, -1] = flight.q[:, -1], flight.v[:, -1]
    return Undisturbed(q, v)


def _momenta(inertia: Array, q: Array, v: Array) -> Array:
    """Return angular momenta in world axes, (n_b, 3)."""
    back = q[:, 3:] * [1.0, -1.0, -1.0, -1.0]
    return rotated(q[:, 3:], np.einsum("bij,bj->bi", inertia, rotated(back, v[:, 3:])))


def momentum_lost(scene: sg.Scene, run: sg.Trajectory, h: float) -> tuple[float, float]:
    """Return the largest change of angular momentum, in parts of it, of a body in a step without impulse on it.

    Infinite if its velocity changes by a bit. Then the same beyond what rounding of spins makes of it: of a thin post
    that turns about its axis, in each part of its flight, the ratio of its moments times more than of a ball.
    """
    model, worst, beyond = compile_scene(scene), 0.0, 0.0
    largest = np.linalg.norm(model.arrays.inertia, axis=(1, 2))
    for k in range(len(run.q) - 1):
        contacts = run.contacts(k)
        pushed = {name for pair in np.flatnonzero(contacts.normal_impulse) for name in contacts.bodies[pair]}
        free = np.array([name not in pushed for name in run.names]) & (np.arange(model.body_count) >= model.fixed_count)
        before, after = (_momenta(model.arrays.inertia, run.q[i], run.v[i]) for i in (k, k + 1))
        size, spin = np.linalg.norm(before, axis=1)[free], np.linalg.norm(run.v[k, free, 3:], axis=1)
        size = np.where(size > 0.0, size, 1.0)
        lost = np.linalg.norm(after - before, axis=1)[free] / size
        legs = np.ceil(h * spin / TURN_AT_ONCE)
        worst = max(worst, float(lost.max(initial=0.0)))
        grain = 4.0 * EPSILON * legs * largest[free] * spin / size
        beyond = max(beyond, float((lost - grain).max(initial=0.0)))
        if not np.array_equal(run.v[k, free, :3], run.v[k + 1, free, :3]):
            return np.inf, np.inf
    return worst, beyond


def begins_inside(scene: sg.Scene) -> bool:
    """Tell whether the shot overlaps the target from the start: no shot at all."""
    model = compile_scene(scene)
    return bool(detect(model, model.initial_state, np.zeros(model.body_count)).gap.min(initial=0.0) < 0.0)


@dataclass(frozen=True)
class Judged:
    """What came of a shot."""

    hit: bool
    overlap: float
    free_overlap: float
    """On the paths without contacts."""
    lost: float
    verdict: str
    wrong: str


def judge(seed: int) -> Judged:
    """Run the shot of a seed and judge it."""
    scene, h = shot(seed)
    run = sg.simulate(scene, duration=STEPS * h, h=h)
    hit = any(run.contacts(k).normal_impulse.any() for k in range(STEPS))
    overlap, free_overlap = deepest(scene, run, h), deepest(scene, undisturbed(scene, h), h)
    (lost, beyond), wrong = momentum_lost(scene, run, h), []
    if begins_inside(scene):
        return Judged(hit, overlap, free_overlap, lost, run.verdict, "")
    if overlap > DEEP:
        wrong.append("overlap")
    if run.certificate.unfollowed.any():
        wrong.append("unfollowed")
    if (free_overlap > DEEP and not hit) or (free_overlap == 0.0 and hit):
        wrong.append("missed" if not hit else "felt")
    if beyond > ROUNDING:
        wrong.append("momentum")
    return Judged(hit, overlap, free_overlap, lost, run.verdict, " ".join(wrong))


def main() -> None:
    """Judge all shots; print what is wrong, and a summary."""
    parser = argparse.ArgumentParser(description="Random shots at thin targets, and whether they hit")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", sg.SceneWarning)  # which say that steps are long
    found: Counter[str] = Counter()
    with RESULT.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["seed", "hit", "overlap", "free_overlap", "momentum_lost", "verdict", "seconds", "wrong"])
        for seed in range(options.seed, options.seed + options.count):
            start = time.process_time()
            r = judge(seed)
            seconds = time.process_time() - start
            numbers = (f"{x:.3g}" for x in (r.overlap, r.free_overlap, r.lost))
            table.writerow([seed, int(r.hit), *numbers, r.verdict, f"{seconds:.2f}", r.wrong])
            file.flush()
            found.update(["hit"] * r.hit + r.wrong.split())
            if r.wrong:
                print(f"{seed}: {r.wrong}", flush=True)
    print(f"{options.count} shots: " + ", ".join(f"{n} {word}" for word, n in sorted(found.items())))


if __name__ == "__main__":
    main()
