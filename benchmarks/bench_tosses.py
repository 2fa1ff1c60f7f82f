"""Measured tosses of a cube onto a table against simulated ones: rigid contact, springs, and a table with a layer.

Recordings and rules of comparison: Acosta, Yang & Posa, *Validating Robotics Simulators on Real-World Impacts*, 2022.
A toss starts from three samples before the cube can first touch, with velocities refitted from its free flight, and is
compared at every sample: mean distance of the centres in per cent of the width, mean angle in degrees.

Nothing is fitted. Friction is that of the tilt test. The layer has the stiffness of the springs, is critically damped
for the mass of the cube, ``C = 2 sqrt(K m)``, and as thick as recorded vertices go below the table, 4 mm.

    python -m benchmarks.bench_tosses tosses_even.npz [--count 8] [--ways rigid springs layer] [--csv FILE]

Python steps of the layered table take some ten milliseconds each: of all 275 tosses some hours.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import signorini as sg

HALF, MASS, INERTIA, FRICTION = 0.0524, 0.37, 8.1e-4, 0.18
DT, PARTS = 1.0 / 148.0, 10
STIFFNESS, THICKNESS = 1e4, 4e-3
DAMPING = 2.0 * np.sqrt(STIFFNESS * MASS)
WAYS: dict[str, Callable[[], Any]] = {
    "rigid": sg.MoreauJean,
    "springs": lambda: sg.MoreauJean(stiffness=STIFFNESS),
    "layer": sg.QuasiRigid,
}


def turned(q: Any) -> Rotation:
    """Return the rotations of quaternions (..., 4), scalar first."""
    return Rotation.from_quat(np.roll(q, -1, axis=-1))


def start(toss: Any) -> tuple[int, Any, Any]:
    """Return the sample from which a toss (samples, 13) is simulated, and velocity and spin there, world axes."""
    low = np.flatnonzero(toss[:, 2] <= HALF * np.sqrt(3.0))
    first = max(0, int(low[0]) - 3)
    if first < 4:
        return first, toss[first, 7:10], turned(toss[first, 3:7]).apply(toss[first, 10:13])
    spin = (turned(toss[first, 3:7]) * turned(toss[0, 3:7]).inv()).as_rotvec() / (first * DT)
    v = toss[:first, 7:10].mean(axis=0)
    t = DT * np.arange(first)
    # z = z_0 + v_0 t - g t^2/2 by least squares, v at the last of these samples
    fit = np.polyfit(t, toss[:first, 2] + 0.5 * 9.81 * t**2, 1)
    v[2] = fit[0] - 9.81 * t[-1]
    return first, v, spin


def scene(toss: Any, way: str) -> tuple[int, sg.Scene]:
    """Return the sample at which a toss starts, and the cube there above its table."""
    first, v, spin = start(toss)
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="table")
    e = toss[first, 3:7]
    made.add_body(
        sg.Box((2 * HALF,) * 3),
        mass=MASS,
        inertia=(INERTIA,) * 3,
        mass_centre=(0, 0, 0),
        position=toss[first, :3],
        orientation=e / np.linalg.norm(e),
        velocity=v,
        angular_velocity=spin,
        name="cube",
    )
    made.set_contact(friction=FRICTION)
    if way == "layer":
        made.set_layer("table", stiffness=STIFFNESS, damping=DAMPING, max_deflection=THICKNESS)
    return first, made


def errors(toss: Any, way: str) -> tuple[float, float, int]:
    """Return the mean errors of a simulated toss [% of the width, degrees], and how many steps were not solved."""
    first, made = scene(toss, way)
    simulator = sg.Simulator(made, h=DT / PARTS, formulation=WAYS[way]())
    away, angle, failed = [], [], 0
    for k in range(first, len(toss)):
        if k > first:
            failed += simulator.run(PARTS)
        q = simulator.state.q[1]
        away.append(float(np.linalg.norm(q[:3] - toss[k, :3])) / (2 * HALF))
        angle.append((turned(q[3:]).inv() * turned(toss[k, 3:7])).magnitude())
    return 100.0 * float(np.mean(away)), float(np.degrees(np.mean(angle))), failed


def main() -> None:
    """Compare tosses, spread evenly over those of a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    with np.load(options.data) as data:
        names = sorted(data.files)
        chosen = [names[int(i)] for i in np.linspace(0, len(names) - 1, min(options.count, len(names)))]
        tosses = {name: np.asarray(data[name], dtype=np.float64) for name in chosen}
    lines = []
    for way in options.ways:
        began, found = time.process_time(), []
        for name, toss in tosses.items():
            found.append(errors(toss, way))
            lines.append((name, way, *found[-1]))
            print(f"  {name} {way:8s} {found[-1][0]:7.2f} % {found[-1][1]:7.2f} deg", flush=True)
        away, angle, failed = np.array(found).T
        spent = time.process_time() - began
        print(
            f"{way:8s} {away.mean():6.1f} +- {away.std():.1f} %  {angle.mean():6.1f} +- {angle.std():.1f} deg  "
            f"{int(failed.sum())} steps not solved  {spent:.0f} s"
        )
    if options.csv:
        with options.csv.open("w", newline="") as file:
            csv.writer(file).writerows([("toss", "way", "percent", "degrees", "unsolved"), *lines])


if __name__ == "__main__":
    main()
