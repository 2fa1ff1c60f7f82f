"""What stands, by statics."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import signorini as sg
from tests.joint_scenes import turn_y
from tests.truths import G, Told, Truth, about_x, about_y, on_floor, planar_floor, stands


def stack(count: int, *, top: float = 1.0, size: float = 1.0, friction: float = 0.5) -> Told:
    """Cubes on each other, each of 1 kg per cubic metre, the uppermost `top` times as heavy."""
    scene = on_floor(friction)
    for k in range(count):
        mass = size**3 * (top if k == count - 1 else 1.0)
        scene.add_body(sg.Box((size, size, size)), mass=mass, position=(0, 0, (0.5 + k) * size))
    return scene, stands(size)


def solid(shape: Any, height: float, orientation: Any = None, *, friction: float = 0.4) -> Told:
    """One solid that rests on the floor, its origin at `height`."""
    scene = on_floor(friction)
    scene.add_body(shape, mass=2.0, position=(0, 0, height), orientation=orientation)
    return scene, stands()


def slope(degrees: float, friction: float) -> Told:
    """A box on a slope below the friction angle: tan < mu, and the weight passes through its base."""
    angle = np.radians(degrees)
    assert np.tan(angle) < friction
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), orientation=about_y(angle))
    up = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_body(sg.Box((1.0, 1.0, 0.4)), mass=2.0, position=0.2 * up, orientation=about_y(angle))
    scene.set_contact(friction=friction)
    return scene, stands()


def table() -> Told:
    """Four legs, one too many: how they share the load is not determined, that they stand is."""
    scene = on_floor()
    legs = [sg.Box((0.1, 0.1, 0.7)).at((x, y, 0.35)) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    scene.add_body([*legs, sg.Box((1.2, 0.8, 0.05)).at((0, 0, 0.725))], mass=20.0, position=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=3.0, position=(0.2, 0.1, 0.85))
    return scene, stands()


def groove() -> Told:
    """A ball without friction in a groove of two planes at 45 degrees."""
    scene = sg.Scene(gravity=(0, 0, -G))
    s = np.sqrt(0.5)
    for x in (-s, s):
        scene.add_fixed(sg.HalfSpace(normal=(x, 0, s)))
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.5 / s))
    return scene, stands()


def pyramid() -> Told:
    """A box astride two others."""
    scene = on_floor()
    for x in (-0.55, 0.55):
        scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(x, 0, 0.5))
    scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 1.5))
    return scene, stands()


def held_to_a_wall() -> Told:
    """A box pressed to a wall hangs there: mu F = 30 N exceeds its weight of 19.6 N."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)))
    scene.add_body(sg.Box((0.4, 0.4, 0.4)), mass=2.0, position=(0.2, 0, 0), name="box")
    scene.add_force("box", force=(-60.0, 0, 0))
    scene.set_contact(friction=0.5)
    return scene, stands()


def ladder(degrees: float = 25.0, friction: float = 0.5) -> Told:
    """A ladder of the angle a from the vertical, at a smooth wall, on a floor with mu > tan(a)/2."""
    a = np.radians(degrees)
    assert 0.5 * np.tan(a) < friction
    scene = planar_floor(0.0)
    scene.add_fixed(sg.HalfSpace(normal=(-1, 0)), name="wall")
    r, length = 0.02, 2.0
    middle = np.array([-0.5 * length * np.sin(a) - r, 0.5 * length * np.cos(a) + r])
    scene.add_body(
        sg.Segment((0, -0.5 * length), (0, 0.5 * length), r),
        mass=5.0,
        inertia=5.0 * length**2 / 12,
        mass_centre=(0, 0),
        position=middle,
        orientation=-a,
        name="ladder",
    )
    scene.set_contact(friction=friction, between=("floor", "ladder"))
    return scene, stands()


def bricks() -> Told:
    """A planar wall of bricks, each astride two."""
    scene = planar_floor()
    brick = sg.Polygon([(-0.5, -0.15), (0.5, -0.15), (0.5, 0.15), (-0.5, 0.15)])
    for row in range(3):
        for k in range(3 - row):
            scene.add_body(brick, mass=3.0, position=(1.02 * k + 0.51 * row, 0.15 + 0.3 * row))
    return scene, stands()


def drawer() -> Told:
    """A drawer pushed beside its middle jams for good: the offset exceeds length / (2 mu), however hard it is pushed.

    Two guides press on opposite corners with N = F e / L each; friction 2 mu N = 2 mu e F / L exceeds F.
    """
    length, width, offset, mu = 0.4, 1.0, 0.45, 0.6
    assert offset > length / (2 * mu)
    scene = sg.Scene(planar=True, gravity=(0, 0))
    for side in (-1, 1):
        scene.add_fixed(sg.HalfSpace(normal=(0, -side), offset=-0.5 * width))
    x, y = 0.5 * length, 0.5 * width
    scene.add_body(sg.Polygon([(-x, -y), (x, -y), (x, y), (-x, y)]), mass=2.0, position=(0, 0), name="drawer")
    scene.add_force("drawer", force=(500.0, 0), at=(-x, offset))
    scene.set_contact(friction=mu)
    return scene, stands()


def hung_by_too_many() -> Told:
    """A plate welded to the world at three places hangs there: joint forces are not unique, the rest is."""
    scene = sg.Scene()
    scene.add_body(sg.Box((1, 0.5, 0.1)), mass=4.0, position=(0, 0, 0), name="plate")
    for x in (-0.4, 0.0, 0.4):
        scene.add_joint("fixed", None, "plate", anchor=(x, 0, 0.05))
    return scene, stands()


def plumb() -> Told:
    """A chain of ten rods hangs straight down."""
    scene = sg.Scene()
    for k in range(10):
        scene.add_body(sg.Capsule(0.01, 0.08), mass=0.1, position=(0, 0, -0.1 * (k + 0.5)), name=f"link{k}")
        above = None if k == 0 else f"link{k - 1}"
        scene.add_joint("spherical", above, f"link{k}", anchor=(0, 0, -0.1 * k))
    return scene, stands()


def brake() -> Told:
    """A slider with dry friction of 5 N, pulled by 4.9 N."""
    scene = sg.Scene()
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=2.0, position=(0, 0, 0), name="block")
    scene.add_joint("prismatic", None, "block", anchor=(0, 0, 0), axis=(1, 0, 0), friction=5.0)
    scene.add_force("block", force=(4.9, 0, 0))
    return scene, stands()


def clamped() -> Told:
    """A press of 50 N holds a ball of 1 kg by friction, 2 mu N = 40 N, above nothing."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)))
    scene.add_body(sg.Box((0.2, 1, 1)), mass=1.0, position=(0.5, 0, 0), name="press")
    scene.add_body(sg.Box((0.4, 0.4, 0.4)), mass=1.0, position=(0.2, 0, 0), name="block")
    scene.add_joint("prismatic", None, "press", anchor=(0.5, 0, 0), axis=(1, 0, 0))
    scene.add_force("press", force=(-50.0, 0, 0))
    scene.set_contact(friction=0.4)
    return scene, stands()


def cards() -> Told:
    """Two rods lean on each other at the angle a from the vertical, with mu > tan(a)/2."""
    a, r, length = np.radians(20.0), 0.01, 1.0
    assert 0.5 * np.tan(a) < 0.5
    scene = planar_floor()
    for side in (-1, 1):
        middle = (side * (0.5 * length * np.sin(a) + r), 0.5 * length * np.cos(a) + r)
        rod = sg.Segment((0, -0.5 * length), (0, 0.5 * length), r)
        scene.add_body(rod, mass=1.0, position=middle, orientation=side * a)
    return scene, stands()


_OCTAHEDRON = sg.ConvexHull(np.vstack([np.eye(3), -np.eye(3)]))
_TILT = 0.5 * np.arccos(1 / np.sqrt(3))  # half the angle between (1, 1, 1) and the vertical
_ON_A_FACE = (np.cos(_TILT), np.sqrt(0.5) * np.sin(_TILT), -np.sqrt(0.5) * np.sin(_TILT), 0.0)

STANDING: dict[str, Truth] = {
    "a cube": Truth(partial(stack, 1)),
    "five cubes": Truth(partial(stack, 5)),
    "five cubes, polygonal cone": Truth(partial(stack, 5), formulation=sg.StewartTrinkle()),
    "five cubes, theta one half": Truth(partial(stack, 5), formulation=sg.MoreauJean(theta=0.5)),
    "cubes without friction": Truth(partial(stack, 3, friction=0.0)),
    "cubes with friction 1e12": Truth(partial(stack, 3, friction=1e12)),
    "cubes of a millimetre": Truth(partial(stack, 3, size=1e-3), h=1e-3),
    "cubes of thirty metres": Truth(partial(stack, 3, size=30.0)),
    "a tonne on cubes": Truth(partial(stack, 5, top=1e3)),
    "a mass of 1e-12 on one of 1": Truth(partial(stack, 2, top=1e-12)),
    "slope of 20 degrees": Truth(partial(slope, 20.0, 0.5)),
    "slope just below the friction angle": Truth(partial(slope, np.degrees(np.arctan(0.5)) - 0.01, 0.5)),
    "a ball": Truth(partial(solid, sg.Sphere(0.5), 0.5)),
    "a lying capsule": Truth(partial(solid, sg.Capsule(0.2, 0.6), 0.2, turn_y(np.pi / 2))),
    "a standing cylinder": Truth(partial(solid, sg.Cylinder(0.3, 0.8), 0.4)),
    "a lying cylinder": Truth(partial(solid, sg.Cylinder(0.3, 0.8), 0.3, about_x(np.pi / 2))),
    "a cone on its base": Truth(partial(solid, sg.Cone(0.4, 0.8), 0.2)),
    "a flat ellipsoid": Truth(partial(solid, sg.Ellipsoid((0.5, 0.4, 0.2)), 0.2)),
    "a superellipsoid": Truth(partial(solid, sg.Superellipsoid((0.5, 0.4, 0.3), 4.0), 0.3)),
    "an octahedron on a face": Truth(partial(solid, _OCTAHEDRON, 1 / np.sqrt(3), _ON_A_FACE)),
    "a table": Truth(table),
    "a ball in a groove": Truth(groove),
    "a pyramid": Truth(pyramid),
    "a box held to a wall": Truth(held_to_a_wall),
    "a ladder": Truth(ladder),
    "a wall of bricks": Truth(bricks),
    "a plate with three welds": Truth(hung_by_too_many),
    "a hanging chain": Truth(plumb),
    "a slider with its brake on": Truth(brake),
    "a clamped block": Truth(clamped),
    "two cards": Truth(cards),
}
