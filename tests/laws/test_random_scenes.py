"""Some random scenes of ``benchmarks/random_scenes.py``, and the judge of their overlaps against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.random_scenes import run
from benchmarks.scene_judge import Solid, overlap

import signorini as sg
from signorini._arrays import Array


def pose(x: float, y: float = 0.0, z: float = 0.0) -> Array:
    return np.array([x, y, z, 1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("a", "b", "place", "depth"),
    [
        (sg.Sphere(0.5), sg.Sphere(0.3), (0.7, 0, 0), 0.1),
        (sg.Sphere(0.5), sg.Sphere(0.3), (0.9, 0, 0), 0.0),
        (sg.Box((1, 1, 1)), sg.Box((1, 1, 1)), (0.3, 0.95, 0.2), 0.05),
        (sg.Box((1, 1, 1)), sg.Sphere(0.5), (0.6, 0.6, 0), 0.5 - 0.1 * np.sqrt(2)),  # at an edge
        (sg.Capsule(0.2, 1.0), sg.Capsule(0.2, 1.0), (0.39, 0, 0.5), 0.01),
        (sg.Cylinder(0.5, 1.0), sg.Box((1, 1, 1)), (0, 0, 0.98), 0.02),
        (sg.Ellipsoid((0.5, 0.3, 0.2)), sg.Sphere(0.1), (0, 0, 0.28), 0.02),
        (sg.Superellipsoid((0.5, 0.3, 0.2), 4.0), sg.Sphere(0.1), (0.59, 0, 0), 0.01),
        (sg.HalfSpace(), sg.Cone(0.4, 0.8), (0, 0, 0.15), 0.05),
    ],
)
def test_the_judge_knows_overlaps(a: sg.Sphere, b: sg.Sphere, place: tuple[float, ...], depth: float) -> None:
    assert overlap(Solid(a), pose(0), Solid(b), pose(*place)) == pytest.approx(depth, abs=1e-7)


SEEDS = [*range(11), *range(12, 21)]  # 11 is driven into the floor, which takes seconds for each step


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_scene_is_judged_alike(seed: int) -> None:
    """Every second one is harmless."""
    row = run(seed, harmless=seed % 2 == 0, most=6, duration=0.1, limit=60)
    assert row["verdict"] != "time limit"
    assert not row["disagreement"], row
