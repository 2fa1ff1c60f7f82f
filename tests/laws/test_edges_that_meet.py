"""Plates that lean on each other edge to edge: all normals between their faces would do, symmetry asks for one."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.math.rotation import multiply

THICK, WIDE, LONG, LEAN = 0.003, 0.6, 0.9, math.radians(25.0)

SHAPES = {
    "box": sg.Box((THICK, WIDE, LONG)),
    "hull": sg.ConvexHull([(x * THICK / 2, y * WIDE / 2, z * LONG / 2) for x, y, z in product((-1, 1), repeat=3)]),
}


def needed_friction() -> float:
    """Return the friction at the floor by hand: one plate turns about its foot, its weight against a level push."""
    c, s = math.cos(LEAN), math.sin(LEAN)
    foot, tip = (
        (-LONG / 2 * s + THICK / 2 * c, -LONG / 2 * c - THICK / 2 * s),
        (LONG / 2 * s + THICK / 2 * c, LONG / 2 * c - THICK / 2 * s),
    )
    return -foot[0] / (tip[1] - foot[1])


def frame(shape: Any, friction: float, yaw: float = 0.0, order: int = 1) -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=friction)
    c, s = math.cos(LEAN), math.sin(LEAN)
    tip, low = LONG / 2 * s + THICK / 2 * c, LONG / 2 * c + THICK / 2 * s
    turn = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
    for side in (-order, order):
        lean = (math.cos(LEAN / 2), 0.0, -side * math.sin(LEAN / 2), 0.0)
        place = (side * tip * math.cos(yaw), side * tip * math.sin(yaw), low)
        name = "left" if side < 0 else "right"
        scene.add_body(shape, mass=1.0, position=place, orientation=multiply(turn, lean), name=name)
    return scene


@pytest.mark.parametrize(("yaw", "order"), [(0.0, 1), (0.7, 1), (0.7, -1)])
@pytest.mark.parametrize("shape", SHAPES)
def test_plates_stand_with_the_friction_that_they_need(shape: str, yaw: float, order: int) -> None:
    trajectory = sg.simulate(frame(SHAPES[shape], 1.02 * needed_friction(), yaw, order), duration=0.5, h=0.01)
    assert trajectory.verdict == "trusted"
    for name in ("left", "right"):
        moved = np.abs(trajectory.position(name) - trajectory.position(name)[0]).max()
        assert moved < 1e-9


@pytest.mark.parametrize("shape", SHAPES)
def test_plates_begin_to_slip_evenly_with_less(shape: str) -> None:
    trajectory = sg.simulate(frame(SHAPES[shape], 0.96 * needed_friction()), duration=0.15, h=0.005)
    left, right = trajectory.position("left"), trajectory.position("right")
    fallen = left[0, 2] - left[-1, 2]
    assert fallen > 5e-4
    np.testing.assert_allclose(left[:, 0], -right[:, 0], rtol=0, atol=1e-3 * fallen)
    np.testing.assert_allclose(left[:, 2], right[:, 2], rtol=0, atol=1e-3 * fallen)


def test_rods_in_the_plane_stand_as_plates_do() -> None:
    c, s = math.cos(LEAN), math.sin(LEAN)
    tip, low = LONG / 2 * s + THICK / 2 * c, LONG / 2 * c + THICK / 2 * s
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace((0.0, 1.0), 0.0), name="floor")
    scene.set_contact(friction=1.02 * needed_friction())
    rod = sg.Polygon([(x * THICK / 2, y * LONG / 2) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    for side, name in ((-1, "left"), (1, "right")):
        scene.add_body(rod, mass=1.0, position=(side * tip, low), orientation=side * LEAN, name=name)
    trajectory = sg.simulate(scene, duration=0.5, h=0.01)
    assert trajectory.verdict == "trusted"
    assert np.abs(trajectory.position("left") - trajectory.position("left")[0]).max() < 1e-9


def test_bricks_in_rows_touch_in_the_plane_of_their_faces() -> None:
    """A box that slides from one tile to the next meets no slanted normal where their edges meet."""
    scene = sg.Scene(gravity=(0.0, 0.0, -9.81))
    for k in range(3):
        scene.add_fixed(sg.Box((1.0, 1.0, 0.2)), position=(k, 0.0, -0.1), name=f"tile {k}")
    scene.add_body(sg.Box((0.5, 0.5, 0.1)), mass=1.0, position=(0.25, 0.0, 0.05), velocity=(1.0, 0.0, 0.0), name="box")
    scene.set_contact(friction=0.0)
    trajectory = sg.simulate(scene, duration=1.2, h=0.01)
    np.testing.assert_allclose(trajectory.position("box")[:, 2], 0.05, rtol=0, atol=1e-9)
    assert trajectory.position("box")[-1, 0] == pytest.approx(1.45, abs=1e-9)
