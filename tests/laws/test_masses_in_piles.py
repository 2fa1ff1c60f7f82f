"""Piles of bodies whose masses differ by four orders: what a step may cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.engine import engine
from signorini.engine.robust import solve_robustly
from tests.scenes import GRAVITY


def pile(count: int, seed: int, friction: float, width: float) -> sg.Scene:
    """Return boxes, balls, capsules and cylinders of 1 to 10^4 kg above a bin of half the `width`."""
    rng = np.random.default_rng(seed)
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace())
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        scene.add_fixed(sg.HalfSpace(normal=(x, y, 0)), position=(-x * width, -y * width, 0))
    for k in range(count):
        turn = rng.normal(size=4)
        solids = (
            lambda: sg.Box(rng.uniform(0.1, 0.17, 3)),
            lambda: sg.Sphere(rng.uniform(0.06, 0.11)),
            lambda: sg.Capsule(radius=0.06, length=0.12),
            lambda: sg.Cylinder(radius=0.08, length=0.15),
        )
        solid = solids[k % 4]()
        place = (0.33 * (k % 9 // 3 - 1), 0.33 * (k % 3 - 1), 0.3 * (1 + k // 9))
        mass = float(10.0 ** rng.uniform(0.0, 4.0))
        scene.add_body(solid, mass=mass, position=place, orientation=turn / np.linalg.norm(turn))
    scene.set_contact(friction=friction)
    return scene


@pytest.mark.compiled_only
def test_light_bodies_are_left_to_no_slow_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cost: what light bodies still miss beside heavy ones is found by the compiled solver, and no step takes
    thousands of iterations: those of Python's methods, which islands in motion are asked after it, are few.
    """
    asked: list[int] = []

    def counted(*args: Any, **options: Any) -> sg.Solution:
        solution = solve_robustly(*args, **options)
        asked.append(solution.iterations)
        return solution

    monkeypatch.setattr(engine, "solve_robustly", counted)
    for seed, friction, width, h in ((101, 1.0, 0.6, 0.01), (117, 1.0, 0.42, 0.005)):
        simulator = sg.Simulator(pile(54, seed, friction, width), h=h)
        simulator.run(220)
    assert len(asked) < 30
    assert max(asked, default=0) < 300
