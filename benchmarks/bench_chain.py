"""Cost of a step of mechanisms: hanging chains of growing length, and a robot that stands on the floor.

::

    python benchmarks/bench_chain.py [--links 10 100 ...] [--steps 400] [--out benchmarks/results/chain.csv]

Three ways to take a step, and MuJoCo's two beside them where it is installed: one call for each step that returns
contacts, joints and certificate; one bare call for each step; many steps in one call. Times are CPU time of a step,
the smallest of several rounds taken in turn, on one thread. Links of a chain hang from each other by spherical joints
and lie along x at first; the robot has a trunk and four legs of three links each, hinges with friction and stops, and
rests on its feet. MuJoCo reads no chain of 1000. With ``--projection`` chains stay on their joints, which is done step
by step in Python.

``--forward`` measures accelerations alone, at a state in motion: rigid trees as articulated bodies, poses included, and
by divide and conquer, with Pinocchio's ``aba`` beside them where it is installed, and MuJoCo's whole step.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import signorini as sg
from signorini._jit import kernel
from signorini.dynamics import load_impulse
from signorini.dynamics.response.articulated import articulate, place_limbs
from signorini.dynamics.response.mechanism import Mechanism
from signorini.scene import compile_scene

LENGTH, H, ROUNDS = 0.1, 1e-3, 5
FRICTION, STOP = 0.5, 0.6  # of the robot's hinges [N m, rad]
FEET = ((0.25, 0.2), (0.25, -0.2), (-0.25, 0.2), (-0.25, -0.2))


def chain(n: int) -> sg.Scene:
    scene = sg.Scene()
    half = np.sqrt(0.5)
    for k in range(n):
        scene.add_body(
            sg.Capsule(0.01, 0.8 * LENGTH),
            mass=0.1,
            position=((k + 0.5) * LENGTH, 0, 0),
            orientation=(half, 0, half, 0),
            name=f"link{k}",
        )
        anchor = (k * LENGTH, 0, 0)
        scene.add_joint("spherical", None if k == 0 else f"link{k - 1}", f"link{k}", anchor=anchor)
    return scene


def robot() -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=0.6)
    scene.add_body(sg.Box((0.6, 0.4, 0.1)), mass=4.0, position=(0, 0, 0.51), name="trunk")
    words: dict[str, Any] = {"friction": FRICTION, "limits": (-STOP, STOP)}
    for k, (x, y) in enumerate(FEET):
        side = y + 0.06 * np.sign(y)
        hip, thigh, shin = (f"{part}{k}" for part in ("hip", "thigh", "shin"))
        scene.add_body(sg.Box((0.08, 0.08, 0.08)), mass=0.3, position=(x, side, 0.49), name=hip)
        scene.add_body(sg.Box((0.05, 0.05, 0.2)), mass=0.4, position=(x, side, 0.35), name=thigh)
        scene.add_body(sg.Capsule(0.03, 0.2), mass=0.3, position=(x, side, 0.13), name=shin)
        scene.add_joint("revolute", "trunk", hip, anchor=(x, y, 0.49), axis=(1, 0, 0), **words)
        scene.add_joint("revolute", hip, thigh, anchor=(x, side, 0.45), axis=(0, 1, 0), **words)
        scene.add_joint("revolute", thigh, shin, anchor=(x, side, 0.25), axis=(0, 1, 0), **words)
    return scene


def mujoco_chain(n: int) -> str:
    half = np.sqrt(0.5)
    links = ""
    for k in range(n):
        at = f"{LENGTH if k else 0.0} 0 0"
        links += f'<body pos="{at}"><joint type="ball"/><geom type="capsule" size="0.01 {0.4 * LENGTH}" mass="0.1" '
        links += f'pos="{0.5 * LENGTH} 0 0" quat="{half} 0 {half} 0"/>'
    return _mujoco(links + "</body>" * n)


def mujoco_robot() -> str:
    hinge = f'<joint type="hinge" axis="{{}}" frictionloss="{FRICTION}" range="{-STOP} {STOP}" limited="true"/>'
    legs = ""
    for x, y in FEET:
        out = 0.06 * np.sign(y)
        legs += (
            f'<body pos="{x} {y} -0.02">{hinge.format("1 0 0")}<geom type="box" size="0.04 0.04 0.04" mass="0.3" '
            f'pos="0 {out} 0"/><body pos="0 {out} -0.04">{hinge.format("0 1 0")}<geom type="box" mass="0.4" '
            f'size="0.025 0.025 0.1" pos="0 0 -0.1"/><body pos="0 0 -0.2">{hinge.format("0 1 0")}'
            '<geom type="capsule" size="0.03 0.1" mass="0.3" pos="0 0 -0.12"/></body></body></body>'
        )
    trunk = '<body pos="0 0 0.51"><freejoint/><geom type="box" size="0.3 0.2 0.05" mass="4"/>'
    return _mujoco(f'<geom type="plane" size="5 5 1"/>{trunk}{legs}</body>')


def _mujoco(world: str) -> str:
    return (
        f'<mujoco><option timestep="{H}" cone="elliptic"/><default><geom friction="0.6 0 0"/></default>'
        f"<worldbody>{world}</worldbody></mujoco>"
    )


Taker = Callable[[int], None]


def forward(n: int) -> dict[str, Taker]:
    """Return the ways to find the accelerations of a chain in motion."""
    model = compile_scene(chain(n))
    mechanism, start = Mechanism(model), model.initial_state
    q, u = mechanism.configuration(start), np.random.default_rng(1).normal(size=mechanism.speed_count)
    force, soft = load_impulse(model, start, 1.0), np.zeros(model.joints.count)
    drive = np.zeros(mechanism.speed_count)
    rows: list[list[tuple[int, Any, Any]]] = [[] for _ in mechanism.limbs]

    def articulated(count: int) -> None:
        for _ in range(count):
            mechanism.accelerated(mechanism.posture(q, u, start), force, drive, soft)

    def assembled(count: int) -> None:
        for _ in range(count):
            mechanism.assembled(mechanism.posture(q, u, start), force, rows, drive, soft).solve()

    at, bodies, arrays = mechanism.posture(q, u, start), mechanism.bodies, model.arrays
    assert bodies is not None
    table, poses = mechanism.tables, (at.x, at.e, at.R, at.v, at.w, at.place, at.P.padded, at.turning)
    chosen = (bodies.parent, table.kind, table.row, table.inboard, table.u, bodies.free, arrays.mass, arrays.inertia)
    found = (np.zeros((n, 6)), np.zeros((n, 6)), np.zeros(u.size))
    arguments: tuple[Any, ...] = (
        (*table, q, u, *poses, np.zeros((4, 3, 3))),
        (*chosen, at.x, at.R, *poses[3:], force, np.zeros((n, 3)), *bodies.memory, *found, bodies.work),
    )

    def compiled(count: int) -> None:
        _repeated(count, n, *arguments)

    takers = {"articulated": articulated, "articulated-run": compiled, "divide and conquer": assembled}
    return takers | pinocchio(n, u)


@kernel
def _repeated(count: int, n: int, placed: Any, moved: Any) -> None:
    """Find poses and accelerations many times in one call, as MuJoCo takes its steps."""
    for _ in range(count):
        place_limbs(0, n, *placed)
        articulate(*moved)


def pinocchio(n: int, u: Any) -> dict[str, Taker]:
    """Return Pinocchio's way, none if it is not there."""
    try:
        import pinocchio as pin
    except ImportError:
        return {}
    model, joint = pin.Model(), 0
    body = pin.Inertia.FromCapsule(0.1, 0.01, 0.8 * LENGTH)
    across = pin.SE3(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), np.array([0.5 * LENGTH, 0, 0]))
    for k in range(n):
        at = pin.SE3(np.eye(3), np.array([LENGTH if k else 0.0, 0, 0]))
        joint = model.addJoint(joint, pin.JointModelSpherical(), at, f"joint{k}")
        model.appendBodyToJoint(joint, body, across)
    try:
        data, q, tau = model.createData(), pin.neutral(model), np.zeros(3 * n)
    except MemoryError:
        print(f"pinocchio: no memory for a chain of {n}")
        return {}

    def aba(count: int) -> None:
        for _ in range(count):
            pin.aba(model, data, q, u, tau)

    return {"pinocchio aba": aba}


def ours(scene: sg.Scene, *, projection: bool) -> dict[str, Taker]:
    """Return the ways in which our engine takes steps."""
    simulators = [sg.Simulator(scene, h=H, formulation=sg.MoreauJean(projection=projection)) for _ in range(3)]

    def reported(count: int) -> None:
        for _ in range(count):
            simulators[0].advance()

    def one_by_one(count: int) -> None:
        for _ in range(count):
            simulators[1].run(1)

    def at_once(count: int) -> None:
        simulators[2].run(count)

    return {"signorini, reported": reported, "signorini": one_by_one, "signorini-run": at_once}


def mujoco(xml: str) -> dict[str, Taker]:
    """Return the ways in which MuJoCo takes steps, none if it is not there."""
    try:
        import mujoco as mj
    except ImportError:
        return {}
    try:
        model: Any = mj.MjModel.from_xml_string(xml)
    except ValueError as error:
        print(f"mujoco: {error}")
        return {}
    data: list[Any] = [mj.MjData(model) for _ in range(2)]

    def one_by_one(count: int) -> None:
        for _ in range(count):
            mj.mj_step(model, data[0])

    def at_once(count: int) -> None:
        mj.mj_step(model, data[1], count)

    return {"mujoco": one_by_one, "mujoco-run": at_once}


def measure(takers: dict[str, Taker], steps: int) -> dict[str, float]:
    """Return the CPU seconds of a step, by name."""
    best = dict.fromkeys(takers, np.inf)
    for take in takers.values():
        take(steps)
    for _ in range(ROUNDS):
        for name, take in takers.items():
            began = time.process_time()
            take(steps)
            best[name] = min(best[name], (time.process_time() - began) / steps)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--links", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--projection", action="store_true")
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    scenes = [(f"chain of {n}", chain(n), mujoco_chain(n)) for n in arguments.links]
    if not arguments.projection and not arguments.forward:
        scenes.append(("robot of 12 links", robot(), mujoco_robot()))
    for name, scene, xml in scenes:
        steps = max(2, arguments.steps // (1 + len(scene.bodies) // 10))
        own = forward(len(scene.bodies)) if arguments.forward else ours(scene, projection=arguments.projection)
        takers = own | mujoco(xml)
        for engine, seconds in measure(takers, steps).items():
            print(f"{name:<18} {engine:<20} {1e6 * seconds:9.1f} us per step")
            rows.append({"scene": name, "engine": engine, "us_per_step": round(1e6 * seconds, 2)})
    if arguments.out:
        with arguments.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
