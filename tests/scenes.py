"""Scenes that several tests share."""

from __future__ import annotations

import numpy as np

import signorini as sg
from signorini._arrays import Array

GRAVITY = 9.81
BOTH = [sg.MoreauJean(), sg.StewartTrinkle()]


def about_y(angle: float) -> tuple[float, float, float, float]:
    """Quaternion of a turn about y."""
    return (float(np.cos(angle / 2)), 0.0, float(np.sin(angle / 2)), 0.0)


def box_on_slope(angle: float, friction: float, *, velocity: Array | None = None) -> sg.Scene:
    """Rest a flat box on a plane that falls towards +x by `angle` [rad]."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), orientation=about_y(angle), name="slope")
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_body(
        sg.Box((1.0, 0.8, 0.4)),
        mass=2.0,
        position=0.2 * normal,
        orientation=about_y(angle),
        velocity=velocity,
        name="box",
    )
    scene.set_contact(friction=friction)
    return scene


def stack(count: int, *, friction: float = 0.5, top_mass: float = 1.0) -> sg.Scene:
    """Stack unit cubes of 1 kg, the uppermost of `top_mass`, exactly on each other."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(count):
        mass = top_mass if k == count - 1 else 1.0
        scene.add_body(sg.Box((1.0, 1.0, 1.0)), mass=mass, position=(0, 0, 0.5 + k), name=f"box{k}")
    scene.set_contact(friction=friction)
    return scene


def rough_sphere(speed: float = 2.0, friction: float = 0.2, direction: float = 0.0) -> sg.Scene:
    """Release the unit sphere of S1, section 7.1, on its plane, sliding at `direction` from x [rad]."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    velocity = (speed * np.cos(direction), speed * np.sin(direction), 0.0)
    scene.add_body(sg.Sphere(1.0), mass=1.0, position=(0, 0, 1), velocity=velocity, name="ball")
    scene.set_contact(friction=friction)
    return scene


def tumble(seed: int, count: int = 5) -> sg.Scene:
    """Drop some bodies of random shape, pose and velocity onto a floor, close to each other."""
    r = np.random.default_rng(seed)
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(count):
        shapes = (
            sg.Sphere(0.2),
            sg.Box(r.uniform(0.2, 0.5, 3)),
            sg.Capsule(0.12, 0.3),
            sg.ConvexHull(0.25 * r.standard_normal((9, 3))),
        )
        e = r.standard_normal(4)
        scene.add_body(
            shapes[int(r.integers(4))],
            density=500.0,
            position=(*r.uniform(-0.4, 0.4, 2), 0.6 + 0.75 * k),
            orientation=e / np.linalg.norm(e),
            velocity=r.uniform(-1, 1, 3),
            angular_velocity=r.uniform(-5, 5, 3),
        )
    scene.set_contact(friction=float(r.uniform(0.0, 0.9)))
    return scene


def corners_in_a_bin(count: int, friction: float, seed: int) -> sg.Scene:
    """Drop L-shaped bodies of two boxes each, of random size, pose and velocity, into a bin, four to a layer."""
    r = np.random.default_rng(seed)
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        size = (0.1 if x else 1.2, 0.1 if y else 1.2, 8.0)
        scene.add_fixed(sg.Box(size), position=(0.55 * x, 0.55 * y, 4.0))
    for k in range(count):
        e, a, t = r.standard_normal(4), r.uniform(0.2, 0.3), r.uniform(0.04, 0.08)
        d = 0.25 * (a - t)
        scene.add_body(
            [sg.Box((a, t, t)).at((-d, 0, -d)), sg.Box((t, t, a)).at((d, 0, d))],
            mass=1.0,
            position=(-0.25 + 0.5 * (k % 4 // 2), -0.25 + 0.5 * (k % 2), 0.3 + 0.42 * (k // 4)),
            orientation=e / np.linalg.norm(e),
            angular_velocity=r.uniform(-3, 3, 3),
            velocity=r.uniform(-1, 1, 3),
        )
    scene.set_contact(friction=friction)
    return scene
