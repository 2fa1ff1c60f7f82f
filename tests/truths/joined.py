"""What joints, drives and springs do, by formulas."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import signorini as sg
from signorini._arrays import Array
from tests import joint_scenes
from tests.joint_scenes import chain, link, turn_y
from tests.truths import Check, G, Told, Truth, accelerates, stands


def _ends(trajectory: sg.Trajectory, name: str, length: float) -> tuple[Array, Array]:
    """Return both ends of a planar rod over time."""
    x, angle = trajectory.centre(name), trajectory.orientation(name)
    along = 0.5 * length * np.column_stack([np.cos(angle), np.sin(angle)])
    return x - along, x + along


def _follows(name: str, motion: Any, within: float) -> Check:
    """Check that a joint's coordinate is what a function of time says."""

    def check(trajectory: sg.Trajectory) -> None:
        assert np.abs(trajectory.joint(name).coordinate - motion(trajectory.time)).max() < within

    return check


def pendulum() -> Told:
    """A rod of 1 m falls from the horizontal about its end: omega^2 = 3 g sin(a) / l."""

    def check(trajectory: sg.Trajectory) -> None:
        joint = trajectory.joint("hinge")
        expected = np.sqrt(3 * G * np.sin(joint.coordinate[-1]))
        assert abs(joint.speed[-1] / expected - 1) < 0.01

    return joint_scenes.pendulum(), check


def two_hinges() -> Told:
    """A door with two hinges, one of which is redundant, falls as with one: alpha = 3/2 g / l at first."""
    scene = sg.Scene()
    scene.add_body(sg.Box((1.0, 2.0, 0.04)), mass=10.0, inertia=(4, 10 / 12, 4), position=(0.5, 0, 0), name="door")
    for y in (-0.8, 0.8):
        scene.add_joint("revolute", None, "door", anchor=(0, y, 0), axis=(0, 1, 0), name=f"hinge{y}")

    def check(trajectory: sg.Trajectory) -> None:
        speed = trajectory.joint("hinge0.8").speed[-1]
        assert abs(speed / (1.5 * G * trajectory.time[-1]) - 1) < 0.02

    return scene, check


def swinging_chain(count: int) -> Told:
    """A chain let go falls, keeps its links together and gains no energy."""

    def check(trajectory: sg.Trajectory) -> None:
        energy = trajectory.kinetic + trajectory.potential
        assert np.all(energy - energy[0] < 1e-2 * np.ptp(trajectory.potential))  # pulling joints together costs some
        ends = [(trajectory.centre(f"link{k}"), trajectory.orientation(f"link{k}")) for k in range(count)]
        axis = [
            np.column_stack([2 * (e[:, 1] * e[:, 3] + e[:, 0] * e[:, 2]), 2 * (e[:, 2] * e[:, 3] - e[:, 0] * e[:, 1]),
                             1 - 2 * (e[:, 1] ** 2 + e[:, 2] ** 2)]) for _, e in ends
        ]  # fmt: skip
        for k in range(count - 1):
            apart = (ends[k][0] + 0.05 * axis[k]) - (ends[k + 1][0] - 0.05 * axis[k + 1])
            assert np.linalg.norm(apart, axis=1).max() < 1e-3 * 0.1
        assert trajectory.centre(f"link{count - 1}")[-1, 2] < -0.1

    return chain(count), check


def slider(**words: Any) -> sg.Scene:
    """Return a block of 2 kg in a guide along x."""
    return joint_scenes.slider(**words)


def slider_stops() -> Told:
    """A slider of 2 kg at 1 m/s with 5 N of dry friction stops after m v^2 / (2 F) = 0.2 m."""

    def check(trajectory: sg.Trajectory) -> None:
        joint = trajectory.joint("guide")
        h = float(np.diff(trajectory.time)[0])
        assert abs(joint.speed[-1]) < 1e-9
        assert abs(joint.coordinate[-1] - 0.2) < 0.51 * h

    return slider(speed=1.0, friction=5.0), check


def driven_slider() -> Told:
    """A slider follows its drive."""

    def motion(t: Any) -> Any:
        return 0.2 * np.sin(4 * t)

    return slider(speed=0.8, motion=motion), _follows("guide", motion, 1e-9)


def weak_drive() -> Told:
    """A drive of at most 5 N lifts 2 kg in vain: they fall at g - F/m."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=2.0, position=(0, 0, 0), name="block")
    scene.add_joint(
        "prismatic", None, "block", anchor=(0, 0, 0), axis=(0, 0, 1), motion=lambda t: 0.0 * t, effort_limit=5.0
    )
    return scene, accelerates("block", (0, 0, -G + 2.5))


def spring() -> Told:
    """A mass on a spring swings as cos(sqrt(k/m) t)."""
    scene = slider(mass=2.0, spring=(200.0, 0.1))
    # relaxed at 0.1 m: it begins 0.1 m away
    return scene, _follows("guide", lambda t: 0.1 * (1 - np.cos(10.0 * t)), 1e-3)


def stop() -> Told:
    """A slider at 1 m/s meets its stop at 0.1 m and stays there."""

    def check(trajectory: sg.Trajectory) -> None:
        x = trajectory.joint("guide").coordinate
        assert x.max() < 0.1 + 1e-6
        assert abs(x[-1] - 0.1) < 1e-6

    return slider(speed=1.0, limits=(-0.1, 0.1)), check


def gears() -> Told:
    """A torque of 1 N m on the first of two geared wheels: alpha = tau / (I_1 + r^2 I_2)."""
    scene = sg.Scene(gravity=(0, 0, 0))
    for k, inertia in enumerate((0.4, 0.1)):
        moments = (inertia, inertia, inertia)
        scene.add_body(sg.Sphere(0.1), mass=1.0, inertia=moments, position=(k, 0, 0), name=f"wheel{k}")
        scene.add_joint("revolute", None, f"wheel{k}", anchor=(k, 0, 0), axis=(0, 0, 1), name=f"hinge{k}")
    scene.add_joint("gear", "wheel0", "wheel1", axis=[(0, 0, 1), (0, 0, 1)], ratio=-3.0)
    scene.add_force("wheel0", torque=(0, 0, 1.0))

    def check(trajectory: sg.Trajectory) -> None:
        first, second = (trajectory.joint(f"hinge{k}").speed[-1] for k in range(2))
        assert abs(first / (trajectory.time[-1] / (0.4 + 9 * 0.1)) - 1) < 1e-8
        assert abs(second + 3 * first) < 1e-8

    return scene, check


def four_bar(speed: float = 6.0) -> Told:
    """A crank-rocker by Grashof (1 + 3.5 < 3 + 2.5) turns round and round, and its loop stays closed."""
    crank, coupler, rocker, base = 1.0, 3.0, 2.5, 3.5
    a = 1.0
    pin = np.array([np.cos(a), np.sin(a)]) * crank
    to_base = np.array([base, 0.0]) - pin
    d = float(np.linalg.norm(to_base))
    turn = np.arccos((coupler**2 + d**2 - rocker**2) / (2 * coupler * d)) + np.arctan2(to_base[1], to_base[0])
    joint = pin + coupler * np.array([np.cos(turn), np.sin(turn)])
    scene = sg.Scene(planar=True)
    link(scene, (0, 0), pin, "crank")
    link(scene, pin, joint, "coupler")
    link(scene, joint, (base, 0), "rocker")
    scene.add_joint("revolute", None, "crank", anchor=(0, 0), motion=lambda t: speed * t, name="drive")
    scene.add_joint("revolute", "crank", "coupler", anchor=pin)
    scene.add_joint("revolute", "coupler", "rocker", anchor=joint)
    scene.add_joint("revolute", None, "rocker", anchor=(base, 0))
    for k in ("crank", "coupler"):
        scene.exclude(k, "rocker")

    def check(trajectory: sg.Trajectory) -> None:
        tip = _ends(trajectory, "crank", crank)[1]
        angle = a + speed * trajectory.time
        assert np.abs(tip - np.column_stack([np.cos(angle), np.sin(angle)])).max() < 1e-3
        for one, other in (("crank", "coupler"), ("coupler", "rocker")):
            lengths = {"crank": crank, "coupler": coupler, "rocker": rocker}
            gap = _ends(trajectory, one, lengths[one])[1] - _ends(trajectory, other, lengths[other])[0]
            assert np.abs(gap).max() < 1e-3

    return scene, check


def top(spin: float = 200.0) -> Told:
    """A fast top on a pin precesses at m g l / (I spin)."""
    mass, arm, inertia = 1.0, 0.1, 4e-3
    scene = sg.Scene()
    scene.add_body(
        sg.Sphere(0.05),
        mass=mass,
        inertia=(2e-3, 2e-3, inertia),
        mass_centre=(0, 0, 0),
        position=(arm, 0, 0),
        orientation=turn_y(np.pi / 2),
        velocity=(0, arm * mass * G * arm / (inertia * spin), 0),
        angular_velocity=(spin, 0, mass * G * arm / (inertia * spin)),
        name="top",
    )
    scene.add_joint("spherical", None, "top", anchor=(0, 0, 0))

    def check(trajectory: sg.Trajectory) -> None:
        x = trajectory.centre("top")
        turned = np.unwrap(np.arctan2(x[:, 1], x[:, 0]))[-1]
        assert abs(turned / (mass * G * arm / (inertia * spin) * trajectory.time[-1]) - 1) < 0.02
        assert np.abs(x[:, 2]).max() < 0.03 * arm  # the scheme damps

    return scene, check


def ropes(reach: float) -> Told:
    """A ball hung by two ropes of equal length from posts that stand still: it hangs."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, -reach), name="ball")
    for x in (-1.0, 1.0):
        scene.add_joint("distance", None, "ball", anchor=[(x, 0, 0), (0, 0, -reach)])
    return scene, stands(1.0)


def pressed_limited() -> Told:
    """A driven press of at most 100 N cannot crush a rigid box against a wall: it stands."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)))
    scene.add_body(sg.Box((0.4, 0.4, 0.4)), mass=1.0, position=(0.2, 0, 0), name="box")
    scene.add_body(sg.Box((0.2, 1, 1)), mass=5.0, position=(0.5, 0, 0), name="press")
    words: dict[str, Any] = {"motion": lambda t: -1.0 * t, "effort_limit": 100.0}
    scene.add_joint("prismatic", None, "press", anchor=(0.5, 0, 0), axis=(1, 0, 0), **words)
    scene.set_contact(friction=0.3)
    return scene, stands()


def belayed() -> Told:
    """A pendulum swings past the vertical into a wall of felt 0.1 m behind it and falls back from there."""
    scene = joint_scenes.pendulum(np.radians(60.0))
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0), offset=-0.1), name="wall")
    reach = np.arcsin((0.1 - 0.02) / 0.98)  # the rod has a round end of 0.02 m

    def check(trajectory: sg.Trajectory) -> None:
        beyond = trajectory.joint("hinge").coordinate - np.radians(30.0)
        assert abs(beyond.max() - reach) < 1e-3 * 0.02
        assert abs(trajectory.joint("hinge").speed[np.argmax(beyond) + 1]) < 0.01 * G

    return scene, check


def lifted() -> Told:
    """An equation drives the height of a body: z = t^2 exactly, and nothing else."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_body(sg.Sphere(0.1), mass=2.0, position=(0, 0, 0), velocity=(0.5, 0, 0), name="ball")
    scene.add_constraint(lambda q, t: q[2] - t * t, ["ball"])

    def check(trajectory: sg.Trajectory) -> None:
        x, t = trajectory.centre("ball"), trajectory.time
        assert np.abs(x[:, 0] - 0.5 * t).max() < 1e-9
        assert np.abs(x[:, 2] - t**2).max() < 2 * np.diff(t)[0] * t[-1]

    return scene, check


def fenced() -> Told:
    """An inequality z >= 0 holds a falling body as a floor would."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_body(sg.Sphere(0.1), mass=2.0, position=(0, 0, 0.05), name="ball")
    scene.add_constraint(lambda q, t: q[2], ["ball"], kind="inequality")

    def check(trajectory: sg.Trajectory) -> None:
        z = trajectory.centre("ball")[:, 2]
        assert z.min() > -1e-6
        assert abs(z[-1]) < 1e-6

    return scene, check


def coupled(kind: str) -> Told:
    """Two boxes joined in one of several ways fall freely together: joints do no work on a common fall."""
    scene = sg.Scene(gravity=(0, 0, -G))
    for k in range(2):
        scene.add_body(sg.Box((0.3, 0.2, 0.1)), mass=1.0 + k, position=(0.4 * k, 0, 0), name=f"box{k}")
    words: dict[str, Any] = {"anchor": (0.2, 0, 0)}
    if kind in ("revolute", "prismatic", "cylindrical", "planar"):
        words["axis"] = (1, 0, 0)
    if kind == "universal":
        words["axis"] = [(0, 1, 0), (0, 0, 1)]
    scene.add_joint(kind, "box0", "box1", **words)
    return scene, accelerates("box1", (0, 0, -G), within=1e-9)


_EXACT = sg.MoreauJean(theta=0.5)

JOINED: dict[str, Truth] = {
    "a pendulum": Truth(pendulum, h=1e-3),
    "a pendulum, theta one half": Truth(pendulum, formulation=_EXACT),
    "a pendulum, polygonal cone": Truth(pendulum, h=2e-3, formulation=sg.StewartTrinkle()),
    "a pendulum, projected": Truth(pendulum, h=2e-3, formulation=sg.MoreauJean(projection=True)),
    "a door with two hinges": Truth(two_hinges, duration=0.1, h=1e-3),
    "a chain of five falls": Truth(partial(swinging_chain, 5), h=1e-3, duration=0.2),
    "a chain of twelve falls": Truth(partial(swinging_chain, 12), h=1e-3, duration=0.2),
    "a driven slider": Truth(driven_slider),
    "a drive that is too weak": Truth(weak_drive),
    "a spring": Truth(spring, duration=0.6, h=5e-3, formulation=_EXACT),
    "a slider meets its stop": Truth(stop),
    "gears": Truth(gears),
    "a four-bar goes round": Truth(four_bar, duration=1.2, h=2e-3),
    "a top precesses": Truth(top, duration=0.3, h=2.5e-4),
    "a ball on two ropes": Truth(partial(ropes, 0.5)),
    "a pendulum meets a wall": Truth(belayed, duration=0.5, h=2e-3),
    "a body lifted by an equation": Truth(lifted),
    "a body held by an inequality": Truth(fenced),
    **{
        f"{kind} joint in free fall": Truth(partial(coupled, kind))
        for kind in ("fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")
    },
}
