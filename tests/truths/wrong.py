"""What has no solution, begins wrong, or is asked for more than rigid bodies can do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import signorini as sg
from tests.joint_scenes import link
from tests.truths import NOT_TRUSTED, REMARKS, G, Told, Truth, falls_freely, on_floor


def _going(x: float, speed: float) -> Callable[[float], tuple[float, float, float]]:
    """Return the motion along the x-axis from `x` on."""
    return lambda t: (x + speed * t, 0.0, 0.0)


def ropes_too_short(speed: float = 1.0) -> Told:
    """Two ropes of 1.118 m on posts that part at 2 m/s reach 2.236 m, and no further."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.05), mass=1.0, position=(0, 0, -0.5), name="ball")
    for k, x in enumerate((-1.0, 1.0)):
        scene.add_fixed(sg.Sphere(0.05), motion=_going(x, np.sign(x) * speed), name=f"post{k}")
        scene.add_joint("distance", f"post{k}", "ball", anchor=[(x, 0, 0), (0, 0, -0.5)], name=f"rope{k}")

    def check(trajectory: sg.Trajectory) -> None:
        apart = np.linalg.norm(trajectory.centre("post1") - trajectory.centre("post0"), axis=1)
        assert apart[-1] > 2 * np.hypot(1.0, 0.5)  # longer than both ropes

    return scene, check


def torn_apart(kind: str) -> Told:
    """A body joined to two hands that part."""
    scene = sg.Scene()
    scene.add_body(sg.Box((0.4, 0.2, 0.2)), mass=1.0, position=(0, 0, 0), name="box")
    for k, x in enumerate((-0.2, 0.2)):
        scene.add_fixed(sg.Sphere(0.05), motion=_going(x, x), name=f"hand{k}")
        axis: dict[str, Any] = {} if kind in ("fixed", "spherical") else {"axis": (0, 1, 0)}
        scene.add_joint(kind, f"hand{k}", "box", anchor=(x, 0, 0), **axis)

    def check(trajectory: sg.Trajectory) -> None:
        hands = trajectory.centre("hand1") - trajectory.centre("hand0")
        assert np.linalg.norm(hands[-1]) > 1.05 * 0.4  # the box is 0.4 m between its joints

    return scene, check


def two_masters() -> Told:
    """Two drives turn the same wheel at different speeds."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="wheel")
    for speed in (1.0, 2.0):
        words: dict[str, Any] = {"anchor": (0, 0, 0), "axis": (0, 1, 0), "motion": partial(np.multiply, speed)}
        scene.add_joint("revolute", None, "wheel", **words, name=f"drive{speed}")

    def check(trajectory: sg.Trajectory) -> None:
        spin = trajectory.angular_velocity("wheel")[-1, 1]
        assert max(abs(spin - 1.0), abs(spin - 2.0)) >= 0.5 - 1e-12  # it cannot obey both

    return scene, check


def beyond_its_limit(length: float = 1.5) -> Told:
    """A crank longer than coupler and rocker allow: they stretch out straight before it is round."""
    crank, base = 2.0, 2.0
    pin = np.array([crank * np.cos(1.0), crank * np.sin(1.0)])
    middle = 0.5 * (pin + np.array([base, 0.0]))
    d = float(np.linalg.norm(pin - [base, 0.0]))
    across = np.array([pin[1], base - pin[0]]) / d
    joint = middle + np.sqrt(length**2 - d**2 / 4) * across
    scene = sg.Scene(planar=True)
    link(scene, (0, 0), pin, "crank")
    link(scene, pin, joint, "coupler")
    link(scene, joint, (base, 0), "rocker")
    scene.add_joint("revolute", None, "crank", anchor=(0, 0), motion=lambda t: 4.0 * t, name="drive")
    scene.add_joint("revolute", "crank", "coupler", anchor=pin)
    scene.add_joint("revolute", "coupler", "rocker", anchor=joint)
    scene.add_joint("revolute", None, "rocker", anchor=(base, 0))
    for k in ("crank", "coupler"):
        scene.exclude(k, "rocker")

    def check(trajectory: sg.Trajectory) -> None:
        angle = 1.0 + 4.0 * trajectory.time[-1]
        asked = np.hypot(crank * np.cos(angle) - base, crank * np.sin(angle))
        assert asked > 2 * length

    return scene, check


def crushed(speed: float = 1.0) -> Told:
    """A rigid box between a wall and a press that follows its motion whatever it takes."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace())
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)))
    scene.add_fixed(sg.Box((0.2, 1, 1)), motion=lambda t: (0.5 - speed * t, 0, 0.5), name="press")
    scene.add_body(sg.Box((0.4, 0.4, 0.4)), mass=1.0, position=(0.2, 0, 0.2), name="box")
    scene.set_contact(friction=0.3)

    def check(trajectory: sg.Trajectory) -> None:
        room = trajectory.centre("press")[-1, 0] - 0.1
        assert room < 0.4 - 0.02 * 0.2  # a fiftieth of the press is gone

    return scene, check


def crushed_by_a_joint() -> Told:
    """The same with a press that is a body with a driven joint."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)))
    scene.add_body(sg.Box((0.4, 0.4, 0.4)), mass=1.0, position=(0.2, 0, 0), name="box")
    scene.add_body(sg.Box((0.2, 1, 1)), mass=5.0, position=(0.5, 0, 0), name="press")
    scene.add_joint("prismatic", None, "press", anchor=(0.5, 0, 0), axis=(1, 0, 0), motion=lambda t: -t, name="drive")

    def check(trajectory: sg.Trajectory) -> None:
        assert trajectory.time[-1] > 0.02  # the drive asks for 0.02 m of room less than the box needs

    return scene, check


def inside_each_other(depth: float) -> Told:
    """Two unit cubes of which one begins inside the other."""
    scene = on_floor()
    for k in range(2):
        scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5 + k * (1 - depth)), name=f"box{k}")

    def check(trajectory: sg.Trajectory) -> None:
        x = [trajectory.centre(f"box{k}")[0, 2] for k in range(2)]
        assert abs(1.0 - (x[1] - x[0]) - depth) < 1e-12

    return scene, check


def sunk_plate(depth: float) -> Told:
    """A thin plate that begins a little inside a large box: it is the plate that counts."""
    scene = on_floor()
    scene.add_body(sg.Box((1, 1, 1)), mass=100.0, position=(0, 0, 0.5), name="box")
    scene.add_body(sg.Box((0.5, 0.5, 0.02)), mass=1.0, position=(0, 0, 1.01 - depth), name="plate")

    def check(trajectory: sg.Trajectory) -> None:
        assert abs(trajectory.centre("plate")[0, 2] - 0.01 - 1.0 + depth) < 1e-12

    return scene, check


def overlap_at_start(depth: float) -> Told:
    """A ball of 1 m begins inside the floor by some depth, and comes out of it without a hop."""
    scene = on_floor(0.4)
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.5 - depth), name="ball")

    def check(trajectory: sg.Trajectory) -> None:
        z = trajectory.position("ball")[:, 2]
        assert z[0] < z[-1] < 0.5 + 1e-9

    return scene, check


def below_the_floor() -> Told:
    """A ball that begins wholly below ground."""
    scene = on_floor()
    scene.add_body(sg.Sphere(0.3), mass=1.0, position=(0, 0, -0.4), name="ball")

    def check(trajectory: sg.Trajectory) -> None:
        assert trajectory.centre("ball")[0, 2] + 0.3 < 0.0

    return scene, check


def loaded() -> Told:
    """A ball under a load that is finite, while the energy it brings is not."""
    scene = on_floor()
    scene.add_body(sg.Sphere(0.3), mass=1.0, position=(0, 0, 0.3), name="ball")
    scene.add_force("ball", force=lambda t, state: (1e300 if t > 0.1 else 0.0, 0, 0))

    def check(trajectory: sg.Trajectory) -> None:
        assert np.abs(trajectory.linear_velocity("ball")).max() > 1e200  # of which the square overflows

    return scene, check


def impossible(kind: str, value: float) -> Told:
    """A demand that no motion can meet: psi is what it is."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="ball")
    scene.add_constraint(lambda q, t: value + 0.0 * q[0], ["ball"], kind=kind)

    def check(trajectory: sg.Trajectory) -> None:
        assert falls_freely(trajectory, "ball")  # there is nothing else it could do

    return scene, check


def shrinking_triangle() -> Told:
    """Three rods in a triangle: two keep their length, the third distance is asked to exceed their sum."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    for k, place in enumerate([(0.0, 0.0), (1.0, 0.0), (0.5, 0.8)]):
        scene.add_body(sg.Disc(0.05), mass=1.0, position=place, name=f"p{k}")
    places = [(0.0, 0.0), (1.0, 0.0), (0.5, 0.8)]
    for a, b in ((0, 2), (1, 2)):
        scene.add_joint("distance", f"p{a}", f"p{b}", anchor=[places[a], places[b]])
    scene.add_joint("distance", "p0", "p1", anchor=[places[0], places[1]], motion=lambda t: 6.0 * t, name="jack")

    def check(trajectory: sg.Trajectory) -> None:
        assert 1.0 + 6.0 * trajectory.time[-1] > 2 * np.hypot(0.5, 0.8)

    return scene, check


def strikes_slanting(*, gains: bool, height: float = 0.0) -> Told:
    """Kane's paradox: the end of a rod slips slowly as it strikes rough ground, and friction turns it round.

    By Newton's law u_n = -e u_n^- and the end sticks: ``W p = ((1 + e) |u_n^-|, -u_t^-)``, and T grows by
    ``p . (u+ + u-)/2 > 0``, W the inverse mass that the end feels. A law that never gains must not.
    At what `height` the ground lies makes no difference.
    """
    e, angle = 0.9, 1.0
    r = -0.5 * np.array([np.cos(angle), np.sin(angle)])  # from the mass centre to the end that strikes
    J = np.array([[0.0, 1.0, r[0]], [1.0, 0.0, -r[1]]])
    W = J @ np.diag([1.0, 1.0, 12.0]) @ J.T
    u = np.array([-1.0, -0.5 * (1.0 + e) * W[0, 1] / W[0, 0]])
    p = np.linalg.solve(W, [1.0 + e, -u[1]])
    gain = 0.5 * float(p @ (np.array([e, 0.0]) + u))
    assert gain > 0.04
    scene = sg.Scene(planar=True, gravity=(0, -G))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1), offset=height))
    scene.add_body(
        sg.Segment(r, -r),
        mass=1.0,
        inertia=1 / 12,
        mass_centre=(0, 0),
        position=(0, height + 5e-7 - r[1]),
        velocity=(u[1], -1.0),
    )
    scene.set_contact(friction=3.0, restitution=e)

    def check(trajectory: sg.Trajectory) -> None:
        growth = trajectory.kinetic[-1] - trajectory.kinetic[0]
        assert abs(growth / gain - 1) < 1e-3 if gains else growth < 1e-3 * gain  # gravity does 2e-4 of it

    return scene, check


_SHORT: dict[str, Any] = {"duration": 0.03, "h": 0.03}  # as long as it takes to see it
_STRIKE: dict[str, Any] = {"duration": 1e-6, "h": 1e-6}

WRONG: dict[str, Truth] = {
    **{
        f"torn apart at {kind} joints": Truth(partial(torn_apart, kind), NOT_TRUSTED)
        for kind in ("fixed", "revolute", "spherical")
    },
    "two masters": Truth(two_masters, NOT_TRUSTED),
    "a box crushed by a press": Truth(crushed, NOT_TRUSTED, **_SHORT),
    "a box crushed by a driven joint": Truth(crushed_by_a_joint, NOT_TRUSTED, **_SHORT),
    "0.7 m inside each other": Truth(partial(inside_each_other, 0.7), NOT_TRUSTED, because="overlap"),
    "0.0205 m inside each other": Truth(partial(inside_each_other, 2.05e-2), NOT_TRUSTED, because="overlap"),
    "0.0195 m inside each other": Truth(partial(inside_each_other, 1.95e-2), REMARKS, because="overlap"),
    "1.05 mm inside each other": Truth(partial(inside_each_other, 1.05e-3), REMARKS, because="overlap"),
    "0.95 mm inside each other": Truth(partial(inside_each_other, 0.95e-3)),
    "a plate of 2 cm, 0.2 mm deep in a large box": Truth(partial(sunk_plate, 2e-4), REMARKS, because="overlap"),
    "a plate of 2 cm, 10 micrometres deep in a large box": Truth(partial(sunk_plate, 1e-5)),
    "a ball begins one part in 2000 deep": Truth(partial(overlap_at_start, 5e-4)),
    "a ball begins one part in 100 deep": Truth(partial(overlap_at_start, 1e-2), REMARKS, because="overlap"),
    "below the floor": Truth(below_the_floor, NOT_TRUSTED, because="overlap"),
    "an equation that never holds": Truth(partial(impossible, "equality", 1.0), NOT_TRUSTED),
    "a load of 1e300": Truth(loaded, NOT_TRUSTED),
    "a rod gains energy by Newton's law": Truth(
        partial(strikes_slanting, gains=True),
        REMARKS,
        formulation=sg.MoreauJean(restitution_law="newton"),
        because="gained energy",
        **_STRIKE,
    ),
    "a rod loses energy by Poisson's law": Truth(
        partial(strikes_slanting, gains=False), formulation=sg.MoreauJean(restitution_law="poisson"), **_STRIKE
    ),
}
