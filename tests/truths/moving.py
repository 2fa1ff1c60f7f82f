"""What slides, rolls, falls and rebounds, by formulas."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import signorini as sg
from tests.truths import (
    G,
    Told,
    Truth,
    about_x,
    about_y,
    accelerates,
    moved,
    on_floor,
    planar_floor,
    stands,
)


def _slope(degrees: float, friction: float, shape: Any, height: float, turn: Any = (1.0, 0, 0, 0)) -> sg.Scene:
    """A solid of 2 kg that touches a slope falling towards x; `turn` is its orientation on level ground."""
    angle = np.radians(degrees)
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(normal=(np.sin(angle), 0, np.cos(angle))))
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    c, s = np.cos(angle / 2), np.sin(angle / 2)
    w, x, y, z = turn
    tilted = (c * w - s * y, c * x + s * z, c * y + s * w, c * z - s * x)
    scene.add_body(shape, mass=2.0, position=height * up, orientation=tilted, name="body")
    scene.set_contact(friction=friction)
    return scene


def _down(degrees: float) -> Any:
    return np.array([np.cos(np.radians(degrees)), 0.0, -np.sin(np.radians(degrees))])


def slides(degrees: float, friction: float, shape: Any, height: float, turn: Any = (1.0, 0, 0, 0)) -> Told:
    """Above the friction angle a body that does not tip accelerates by g (sin - mu cos)."""
    a = np.radians(degrees)
    assert np.tan(a) > friction
    down = G * (np.sin(a) - friction * np.cos(a)) * _down(degrees)
    return _slope(degrees, friction, shape, height, turn), accelerates("body", down)


def rolls(degrees: float, shape: Any, radius: float, k: float, turn: Any = (1.0, 0, 0, 0)) -> Told:
    """A round body with the inertia k m r^2 rolls at g sin / (1 + k): 5/7 for a ball, 2/3 for a cylinder."""
    a = np.radians(degrees)
    friction = 1.5 * np.tan(a) * k / (1 + k)  # half more than rolling needs
    return _slope(degrees, friction, shape, radius, turn), accelerates("body", G * np.sin(a) / (1 + k) * _down(degrees))


def slips(degrees: float = 40.0, friction: float = 0.1) -> Told:
    """A ball on a slope with tan > 3.5 mu slides as a box does, and spins up at 5/2 mu g cos / r."""
    a = np.radians(degrees)
    assert np.tan(a) > 3.5 * friction
    scene = _slope(degrees, friction, sg.Sphere(0.2), 0.2)
    straight = accelerates("body", G * (np.sin(a) - friction * np.cos(a)) * _down(degrees))

    def check(trajectory: sg.Trajectory) -> None:
        straight(trajectory)
        spin = 2.5 * friction * G * np.cos(a) / 0.2 * trajectory.time[-1]
        assert abs(trajectory.angular_velocity("body")[-1, 1] / spin - 1.0) < 1e-6

    return scene, check


def stops(shape: Any, height: float, speed: float, friction: float) -> Told:
    """A body launched on the level stops after v^2/(2 mu g)."""
    scene = on_floor(friction)
    scene.add_body(shape, mass=1.0, position=(0, 0, height), velocity=(speed, 0, 0), name="body")

    def check(trajectory: sg.Trajectory) -> None:
        assert np.abs(trajectory.linear_velocity("body")[-1]).max() < 1e-8
        way = speed**2 / (2 * friction * G)
        assert abs(moved(trajectory, "body")[0] - way) < 0.5 * speed * np.diff(trajectory.time)[0] * 1.01

    return scene, check


def begins_to_roll(radius: float = 0.5, speed: float = 1.0) -> Told:
    """A ball thrown along the floor ends up rolling at 5/7 of its speed."""
    scene = on_floor(0.3)
    scene.add_body(sg.Sphere(radius), density=1000.0, position=(0, 0, radius), velocity=(speed, 0, 0), name="ball")

    def check(trajectory: sg.Trajectory) -> None:
        v = 5 / 7 * speed
        assert abs(trajectory.linear_velocity("ball")[-1, 0] / v - 1) < 1e-8
        assert abs(trajectory.angular_velocity("ball")[-1, 1] * radius / v - 1) < 1e-8

    return scene, check


def bounces(restitution: float, h: float, speed: float = 3.0) -> Told:
    """A ball that falls at some speed rebounds at e times that, to what gravity does in two steps."""
    scene = on_floor(0.0, restitution=restitution)
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.2), velocity=(0, 0, -speed), name="ball")

    def check(trajectory: sg.Trajectory) -> None:
        v = trajectory.linear_velocity("ball")[:, 2]
        first = 1 + int(np.argmax(np.diff(v) > 2 * G * h))  # it is stopped
        assert abs(v[first:].max() - restitution * np.sqrt(speed**2 + 2 * G * 0.1)) < 3 * G * h

    return scene, check


def meet(masses: tuple[float, float], restitution: float) -> Told:
    """Two balls on a line: momentum is kept, the speed of parting is e times that of closing."""
    scene = sg.Scene(gravity=(0, 0, 0))
    for name, mass, x, v in (("a", masses[0], -0.5, 2.0), ("b", masses[1], 0.5, -1.0)):
        scene.add_body(sg.Sphere(0.2), mass=mass, position=(x, 0, 0), velocity=(v, 0, 0), name=name)
    scene.set_contact(friction=0.3, restitution=restitution)

    def check(trajectory: sg.Trajectory) -> None:
        a, b = (trajectory.linear_velocity(name)[-1, 0] for name in "ab")
        common = (2.0 * masses[0] - masses[1]) / sum(masses)
        assert abs(b - a - 3.0 * restitution) < 1e-8
        assert abs((masses[0] * a + masses[1] * b) / sum(masses) - common) < 1e-9

    return scene, check


def spins_freely() -> Told:
    """A box that nothing touches keeps its angular momentum and its energy, also about its middle axis."""
    inertia = np.array([1.0, 2.0, 3.0])
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(
        sg.Box((0.5, 0.4, 0.3)),
        mass=1.0,
        inertia=inertia,
        position=(0, 0, 0),
        angular_velocity=(0.1, 6.0, 0.1),
        name="b",
    )

    def check(trajectory: sg.Trajectory) -> None:
        energies, momenta = [], []
        for q, v in zip(trajectory.q[:, -1], trajectory.v[:, -1], strict=True):
            w, x, y, z = q[3:]
            K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            R = np.eye(3) + 2 * w * K + 2 * K @ K
            omega = R.T @ v[3:]
            energies.append(0.5 * inertia @ omega**2)
            momenta.append(R @ (inertia * omega))
        assert np.ptp(energies) < 1e-9 * energies[0]
        assert np.abs(np.array(momenta) - momenta[0]).max() < 1e-9 * 12.0

    return scene, check


def flies() -> Told:
    """A stone follows a parabola: its velocity exactly, its place to the first order in h."""
    scene = sg.Scene()
    scene.add_body(sg.Ellipsoid((0.1, 0.2, 0.3)), mass=1.0, position=(0, 0, 0), velocity=(30, 0, 40), name="stone")
    return scene, accelerates("stone", (0, 0, -G), within=1e-10)


def belt() -> Told:
    """A box set on a belt of 1 m/s gains mu g until it moves with the belt."""
    scene = sg.Scene()
    scene.add_fixed(sg.Box((20, 2, 0.2)), motion=lambda t: (t, 0, -0.1), name="belt")
    scene.add_body(sg.Box((0.4, 0.4, 0.4)), mass=3.0, position=(0, 0, 0.2), name="box")
    scene.set_contact(friction=0.5)

    def check(trajectory: sg.Trajectory) -> None:
        v, t = trajectory.linear_velocity("box")[:, 0], trajectory.time
        assert np.abs(v - np.minimum(1.0, 0.5 * G * t)).max() < 1e-6

    return scene, check


def turntable(omega: float) -> Told:
    """A small box at r = 1 m on a turntable stays as long as omega^2 r < mu g, else it is left behind."""
    scene = sg.Scene()
    turn = lambda t: ((0, 0, -0.1), (np.cos(omega * t / 2), 0, 0, np.sin(omega * t / 2)))  # noqa: E731
    scene.add_fixed(sg.Cylinder(2.0, 0.2), motion=turn, name="table")
    scene.add_body(
        sg.Box((0.1, 0.1, 0.05)),
        mass=1.0,
        position=(1, 0, 0.025),
        velocity=(0, omega, 0),
        angular_velocity=(0, 0, omega),
        name="box",
    )
    scene.set_contact(friction=0.5)

    def check(trajectory: sg.Trajectory) -> None:
        r = np.linalg.norm(trajectory.position("box")[:, :2], axis=1)
        h = float(np.diff(trajectory.time)[0])
        if omega**2 < 0.5 * G:
            assert np.abs(r - 1.0).max() < omega**2 * h * trajectory.time[-1]  # chords are longer than arcs
        else:
            assert r[-1] > 1.02

    return scene, check


def pivots(torsional: float = 0.02) -> Told:
    """A ball spinning on the spot loses g mu_t / (2/5 r^2) of its spin in a second: the couple is mu_t m g."""
    scene = on_floor(0.5, torsional=torsional)
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), angular_velocity=(0, 0, 30.0), name="ball")

    def check(trajectory: sg.Trajectory) -> None:
        lost = torsional * G / (0.4 * 0.1**2) * trajectory.time[-1]
        assert lost < 30.0
        assert abs(30.0 - trajectory.angular_velocity("ball")[-1, 2] - lost) < 1e-6 * 30.0

    return scene, check


def rolls_to_rest(rolling: float = 0.01) -> Told:
    """A rolling ball with rolling friction slows at 5/7 g mu_r / r."""
    scene = on_floor(0.5, rolling=rolling)
    scene.add_body(
        sg.Sphere(0.2), mass=1.0, position=(0, 0, 0.2), velocity=(1, 0, 0), angular_velocity=(0, 5.0, 0), name="body"
    )
    return scene, accelerates("body", (-5 / 7 * G * rolling / 0.2, 0, 0))


def disc_rolls(degrees: float = 10.0) -> Told:
    """A planar disc rolls at 2/3 g sin."""
    a = np.radians(degrees)
    scene = sg.Scene(planar=True)
    up = np.array([np.sin(a), np.cos(a)])
    scene.add_fixed(sg.HalfSpace(normal=up))
    scene.add_body(sg.Disc(0.3), mass=1.0, position=0.3 * up, name="body")
    scene.set_contact(friction=0.4)
    return scene, accelerates("body", 2 / 3 * G * np.sin(a) * np.array([np.cos(a), -np.sin(a)]))


def bullet() -> Told:
    """A ball of 1 cm at 300 m/s is stopped by a wall of 2 mm and never behind it."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Box((0.002, 2, 2)), name="wall")
    scene.add_body(sg.Sphere(0.01), mass=0.1, position=(-1, 0, 0), velocity=(300, 0, 0), name="ball")

    def check(trajectory: sg.Trajectory) -> None:
        x = trajectory.position("ball")[:, 0]
        assert x.max() < -0.001 - 0.01 + 1e-6
        assert abs(trajectory.linear_velocity("ball")[-1, 0]) < 1e-6

    return scene, check


def pushed(force: float) -> Told:
    """A tall box pushed at its top tips over from m g w / (2 h) on, if friction holds its foot."""
    width, height, mass = 0.2, 1.0, 2.0
    least = mass * G * width / (2 * height)
    scene = on_floor(0.9)
    scene.add_body(sg.Box((width, 0.4, height)), mass=mass, position=(0, 0, height / 2), name="box")
    scene.add_force("box", force=(force, 0, 0), at=(0, 0, height / 2))
    if force < least:
        return scene, stands()

    def check(trajectory: sg.Trajectory) -> None:
        # about the foot: I = m (w^2 + h^2) / 3
        alpha = (force * height - mass * G * width / 2) / (mass * (width**2 + height**2) / 3)
        assert abs(trajectory.angular_velocity("box")[10, 1] / (alpha * trajectory.time[10]) - 1) < 0.01

    return scene, check


def slips_down_a_wall() -> Told:
    """A box pressed to a wall by too little: it falls at g - mu F / m."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)))
    scene.add_body(sg.Box((0.4, 0.4, 0.4)), mass=2.0, position=(0.2, 0, 0), name="box")
    scene.add_force("box", force=(-20.0, 0, 0))
    scene.set_contact(friction=0.5)
    return scene, accelerates("box", (0, 0, -G + 5.0))


def ladder_slips() -> Told:
    """A ladder on smooth ground at a smooth wall falls: alpha = 3/2 g sin(a) / l at first."""
    a, r, length = np.radians(40.0), 0.02, 2.0
    scene = planar_floor(0.0)
    scene.add_fixed(sg.HalfSpace(normal=(-1, 0)), name="wall")
    scene.add_body(
        sg.Segment((0, -0.5 * length), (0, 0.5 * length), r),
        mass=5.0,
        inertia=5.0 * length**2 / 12,
        mass_centre=(0, 0),
        position=(-0.5 * length * np.sin(a) - r, 0.5 * length * np.cos(a) + r),
        orientation=-a,
        name="ladder",
    )

    def check(trajectory: sg.Trajectory) -> None:
        t = trajectory.time[10]
        alpha = 1.5 * G * np.sin(a) / length
        assert abs(abs(trajectory.angular_velocity("ladder")[10]) / (alpha * t) - 1) < 0.02

    return scene, check


def dominoes(count: int = 5) -> Told:
    """Planar dominoes fall one after another, each onto the next."""
    scene = planar_floor(0.4)
    tile = sg.Polygon([(-0.02, -0.3), (0.02, -0.3), (0.02, 0.3), (-0.02, 0.3)])
    for k in range(count):
        spin = -3.0 if k == 0 else 0.0
        scene.add_body(tile, mass=1.0, position=(0.16 * k, 0.3), angular_velocity=spin, name=f"tile{k}")

    def check(trajectory: sg.Trajectory) -> None:
        tilt = np.array([trajectory.orientation(f"tile{k}") for k in range(count)])
        began = [int(np.argmax(row < -0.02)) for row in tilt]
        assert tilt[:, -1].max() < -0.3
        assert np.all(np.diff(began) > 0)

    return scene, check


def drawer_slides() -> Told:
    """A drawer with some play, pushed near its middle: guides take 2 mu e / L of the push, the rest accelerates it."""
    length, play, offset, mu, force = 0.4, 1e-4, 0.1, 0.6, 5.0
    scene = sg.Scene(planar=True, gravity=(0, 0))
    for side in (-1, 1):
        scene.add_fixed(sg.HalfSpace(normal=(0, -side), offset=-0.5))
    x, y = 0.5 * length, 0.5 - play
    scene.add_body(sg.Polygon([(-x, -y), (x, -y), (x, y), (-x, y)]), mass=2.0, position=(0, 0), name="drawer")
    scene.add_force("drawer", force=(force, 0), at=(-x, offset))
    scene.set_contact(friction=mu)

    def check(trajectory: sg.Trajectory) -> None:
        # Both guides press with N on opposite corners and rub with mu N; about the middle that leaves F e = N L.
        v, t = trajectory.linear_velocity("drawer")[:, 0], trajectory.time
        half = t.size // 2  # by then it leans on both
        a = (v[-1] - v[half]) / (t[-1] - t[half])
        assert abs(a / (force * (1 - 2 * mu * offset / length) / 2.0) - 1) < 0.01

    return scene, check


_CYLINDER = (sg.Cylinder(0.3, 0.5), 0.3, 0.5, about_x(np.pi / 2))

MOVING: dict[str, Truth] = {
    "a box slides at 30 degrees": Truth(partial(slides, 30.0, 0.3, sg.Box((1, 1, 0.4)), 0.2)),
    "a box just above the friction angle": Truth(
        partial(slides, np.degrees(np.arctan(0.5)) + 0.01, 0.5, sg.Box((1, 1, 0.4)), 0.2)
    ),
    "a box on ice": Truth(partial(slides, 30.0, 0.0, sg.Box((1, 1, 0.4)), 0.2)),
    "a box slides, polygonal cone": Truth(
        partial(slides, 30.0, 0.3, sg.Box((1, 1, 0.4)), 0.2), formulation=sg.StewartTrinkle()
    ),
    "a box slides, theta one half": Truth(
        partial(slides, 30.0, 0.3, sg.Box((1, 1, 0.4)), 0.2), formulation=sg.MoreauJean(theta=0.5)
    ),
    "a cylinder slides on its base": Truth(partial(slides, 30.0, 0.3, sg.Cylinder(0.5, 0.4), 0.2)),
    "a cone slides on its base": Truth(partial(slides, 30.0, 0.3, sg.Cone(0.5, 0.4), 0.1)),
    "a capsule slides along its axis": Truth(partial(slides, 30.0, 0.3, sg.Capsule(0.1, 0.8), 0.1, about_y(np.pi / 2))),
    "a box of a millimetre slides": Truth(
        partial(slides, 30.0, 0.3, sg.Box((1e-3, 1e-3, 4e-4)), 2e-4), duration=0.02, h=1e-3
    ),
    "a box of thirty metres slides": Truth(partial(slides, 30.0, 0.3, sg.Box((30, 30, 12)), 6.0)),
    "a ball rolls": Truth(partial(rolls, 20.0, sg.Sphere(0.2), 0.2, 0.4)),
    "a round ellipsoid rolls": Truth(partial(rolls, 20.0, sg.Ellipsoid((0.2, 0.2, 0.2)), 0.2, 0.4)),
    "a cylinder rolls": Truth(partial(rolls, 20.0, *(_CYLINDER[:3]), _CYLINDER[3])),
    "a disc rolls": Truth(disc_rolls),
    "a ball slips": Truth(slips),
    "a ball begins to roll": Truth(begins_to_roll, duration=0.3),
    "a ball of thirty metres begins to roll": Truth(partial(begins_to_roll, 30.0, 1.0), duration=0.3),
    "a ball of a millimetre begins to roll": Truth(partial(begins_to_roll, 1e-3, 0.1), duration=0.05, h=1e-3),
    "a box stops": Truth(partial(stops, sg.Box((0.4, 0.4, 0.2)), 0.1, 1.0, 0.5), duration=0.4),
    "a cylinder stops": Truth(partial(stops, sg.Cylinder(0.4, 0.2), 0.1, 1.0, 0.5), duration=0.4),
    "a ball bounces by half": Truth(partial(bounces, 0.5, 2e-3), h=2e-3),
    "a ball falls dead": Truth(partial(bounces, 0.0, 2e-3), h=2e-3),
    "equal balls swap": Truth(partial(meet, (1.0, 1.0), 1.0)),
    "balls of 1 and 1e12 meet": Truth(partial(meet, (1e12, 1.0), 1.0)),
    "a free box spins": Truth(spins_freely, duration=1.0),
    "a stone flies": Truth(flies),
    "a box on a belt": Truth(belt),
    "a box rides on a turntable": Truth(partial(turntable, 1.5), h=2e-3),
    "a box leaves a turntable": Truth(partial(turntable, 4.0), h=2e-3),
    "a ball pivots": Truth(pivots),
    "a ball rolls to rest": Truth(rolls_to_rest),
    "a bullet meets a thin wall": Truth(bullet, duration=0.02, h=1e-3),
    "a tall box pushed a little": Truth(partial(pushed, 1.9)),
    "a tall box tips": Truth(partial(pushed, 3.0), duration=0.1, h=2e-3),
    "a box slips down a wall": Truth(slips_down_a_wall),
    "a ladder slips": Truth(ladder_slips, duration=0.1, h=2e-3),
    "dominoes": Truth(dominoes, duration=1.0, h=2e-3),
    "a drawer slides": Truth(drawer_slides, duration=0.2),
}
