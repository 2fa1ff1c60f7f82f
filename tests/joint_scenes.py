"""Scenes with joints that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np

import signorini as sg

GRAVITY = 9.81


def wheel(
    spin: float = 1.0, *, inertia: float = 0.4, mass: float = 2.0, gravity: float = 0.0, **words: Any
) -> sg.Scene:
    """Let a wheel turn at `spin` on a hinge about y through its mass centre, called "hinge"."""
    scene = sg.Scene(gravity=(0, 0, -gravity))
    scene.add_body(
        sg.Sphere(0.1),
        mass=mass,
        inertia=(inertia, inertia, inertia),
        mass_centre=(0, 0, 0),
        position=(0, 0, 0),
        angular_velocity=(0, spin, 0),
        name="wheel",
    )
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 1, 0), **words, name="hinge")
    return scene


def slider(speed: float = 0.0, *, mass: float = 2.0, gravity: float = 0.0, **words: Any) -> sg.Scene:
    """Let a block slide along x at `speed` in a guide called "guide"."""
    scene = sg.Scene(gravity=(0, 0, -gravity))
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=mass, position=(0, 0, 0), velocity=(speed, 0, 0), name="block")
    scene.add_joint("prismatic", None, "block", anchor=(0, 0, 0), axis=(1, 0, 0), **words, name="guide")
    return scene


def pendulum(angle: float = 0.0, **words: Any) -> sg.Scene:
    """Hang a rod of 1 kg and 1 m by its end, turned by `angle` from the horizontal towards the ground, at rest."""
    scene = sg.Scene()
    half = 0.5 * angle
    scene.add_body(
        sg.Capsule(0.02, 0.96),
        mass=1.0,
        inertia=(1 / 12, 1 / 12, 1e-3),
        mass_centre=(0, 0, 0),
        position=(0.5 * np.cos(angle), 0, -0.5 * np.sin(angle)),
        orientation=turn_y(0.5 * np.pi + 2.0 * half),
        name="rod",
    )
    scene.add_joint("revolute", None, "rod", anchor=(0, 0, 0), axis=(0, 1, 0), **words, name="hinge")
    return scene


def turn_y(angle: float) -> tuple[float, float, float, float]:
    """Quaternion of a turn about y."""
    return (float(np.cos(angle / 2)), 0.0, float(np.sin(angle / 2)), 0.0)


def link(scene: sg.Scene, a: Any, b: Any, name: str, *, line_mass: float = 1.0, **more: Any) -> None:
    """Add a thin planar rod from point a to point b, with `line_mass` [kg/m], its frame at its middle along x."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    length = float(np.linalg.norm(b - a))
    mass = line_mass * length
    scene.add_body(
        sg.Segment((-0.5 * length, 0), (0.5 * length, 0), 0.01),
        mass=mass,
        inertia=mass * length**2 / 12,
        mass_centre=(0, 0),
        position=0.5 * (a + b),
        orientation=float(np.arctan2(*(b - a)[::-1])),
        name=name,
        **more,
    )


def chain(n: int, *, length: float = 0.1) -> sg.Scene:
    """Hang n rods from each other by spherical joints, at first along x, the first from the world."""
    scene = sg.Scene()
    for k in range(n):
        scene.add_body(
            sg.Capsule(0.01, 0.8 * length),
            mass=0.1,
            position=((k + 0.5) * length, 0, 0),
            orientation=turn_y(np.pi / 2),
            name=f"link{k}",
        )
        anchor = (k * length, 0, 0)
        scene.add_joint("spherical", None if k == 0 else f"link{k - 1}", f"link{k}", anchor=anchor, name=f"joint{k}")
    return scene


def everything() -> sg.Scene:
    """Put every kind of joint and law into one scene, with contacts, a loop and a redundant hinge."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_fixed(sg.Sphere(0.05), motion=lambda t: (0.1 * np.sin(3 * t), 0.0, 2.0), name="hand")
    box = sg.Box((0.3, 0.1, 0.1))
    for k in range(8):
        place = (0.4 * k - 1.4, 0, 1.5)
        scene.add_body(box, mass=1 + 0.2 * k, position=place, angular_velocity=(0.3, k % 3 - 1, 0.2), name=f"b{k}")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0.5, 0.12), velocity=(1, 0, 0), name="ball")
    scene.add_joint("revolute", None, "b0", anchor=(-1.6, 0, 1.5), axis=(0, 1, 0), friction=0.3, limits=(-0.5, 0.8))
    scene.add_joint("universal", "b0", "b1", anchor=(-1.2, 0, 1.5), axis=[(0, 1, 0), (0, 0, 1)])
    scene.add_joint("prismatic", "b1", "b2", anchor=(-0.8, 0, 1.5), axis=(1, 0, 0), spring=(200.0, 0.05), damping=2.0)
    scene.add_joint("revolute", "b2", "b3", anchor=(-0.4, 0, 1.5), axis=(0, 1, 0), friction=("load", 0.2, 0.02))
    scene.add_joint("spherical", "b4", "b3", anchor=(0, 0, 1.5))
    scene.add_joint("distance", "hand", "b4", anchor=[(0, 0, 2), (0.2, 0, 1.5)])
    scene.add_joint("revolute", "b4", "b5", anchor=(0.4, 0, 1.5), axis=(0, 1, 0), motion=lambda t: 0.4 * np.sin(5 * t))
    scene.add_joint("revolute", "b5", "b6", anchor=(0.8, 0, 1.5), axis=(0, 1, 0), motion=lambda t: t, effort_limit=0.6)
    scene.add_joint("cylindrical", "b6", "b7", anchor=(1.2, 0, 1.5), axis=(1, 0, 0))
    scene.add_joint("planar", None, "b7", anchor=(1.4, 0, 1.5), axis=(0, 1, 0))
    scene.add_joint("planar", None, "b7", anchor=(1.4, 0, 1.4), axis=(0, 1, 0))
    scene.add_spring("b0", "b7", anchor=[(-1.4, 0, 1.5), (1.4, 0, 1.5)], stiffness=20.0, damping=0.4, length=2.5)
    scene.add_constraint(lambda q, t: q[7] - q[0] - 0.8 - 0.02 * np.sin(t), ["b0", "b2"])
    scene.add_constraint(lambda q, t: q[2] - 0.2 - 0.05 * t, ["ball"], kind="inequality")
    scene.set_contact(friction=0.4)
    return scene
