"""Runs written down by hand: a block on a floor, whose impulses are known from Newton's law."""

from __future__ import annotations

from typing import Any

import numpy as np

import signorini as sg
from signorini._arrays import Array
from signorini.audit.writing import in_frames
from signorini.scene import scene_to_text

G, H, MASS, MU = 10.0, 0.01, 2.0, 0.3
SIZE = (0.4, 0.2, 0.1)


def block_scene(*, restitution: float = 0.0) -> sg.Scene:
    """A block on a floor."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box(SIZE), mass=MASS, position=(0, 0, SIZE[2] / 2), name="block")
    scene.set_contact(friction=MU, restitution=restitution)
    return scene


def sliding_block(speed: float, steps: int = 4, *, friction: float = MU) -> dict[str, Any]:
    """The file of a block that slides along x and loses `friction` g h of its speed in every step.

    It does not tip: where the pressure acts, ``friction`` times its height before its centre, follows from the moments.
    """
    height = SIZE[2] / 2
    time = H * np.arange(steps + 1)
    v = np.zeros((steps + 1, 2, 6))
    v[:, 1, 0] = speed - friction * G * H * np.arange(steps + 1)
    q = np.zeros((steps + 1, 2, 7))
    q[:, :, 3] = 1.0
    q[:, 1, 2] = height
    q[1:, 1, 0] = np.cumsum(H * v[1:, 1, 0])
    rows = [_corner(q[l, 1, :3], x, y, friction) for l in range(steps) for x in (-1, 1) for y in (-1, 1)]
    point, impulse = (np.array(column) for column in zip(*rows, strict=True))
    n = len(rows)
    normal = np.tile([0.0, 0.0, 1.0], (n, 1))
    contacts = {
        "start": 4 * np.arange(steps + 1),
        "body_a": np.zeros(n, dtype=np.int64),
        "body_b": np.ones(n, dtype=np.int64),
        "point": point,
        "normal": normal,
        "gap": np.zeros(n),
        "impulse": in_frames(normal, impulse),
    }
    settings = {"h": H, "tolerance": 1e-6, "scene": scene_to_text(block_scene())}
    return {"names": ["floor", "block"], "time": time, "q": q, "v": v, "contacts": contacts, "settings": settings}


def _corner(centre: Array, x: int, y: int, friction: float) -> tuple[Array, Array]:
    """Return place and impulse of one corner: a quarter of the weight, more in front by the moment of friction."""
    half = np.array(SIZE) / 2
    weight = MASS * G * H
    # sum p_n x = friction weight height, from equal and opposite changes in front and behind
    change = friction * weight * half[2] / (4.0 * half[0])
    p_n = weight / 4.0 + x * change
    return centre + half * (x, y, -1), np.array([-friction * p_n, 0.0, p_n])
