"""Rays enter curved solids where geometry says."""

from __future__ import annotations

import numpy as np
import pytest

from signorini.visual.solids import Solid, Surface
from signorini.visual.surfaces import enter_surface

UP = np.eye(3)
LYING = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # local z along world x


def surface(form: str, *size: float, axes: np.ndarray = UP) -> Surface:
    return Surface(form, np.array([*size, 0.0, 0.0])[:4], np.zeros(3), axes)


SLANT = np.hypot(1.0, 2.0)


@pytest.mark.parametrize(
    ("solid", "origin", "direction", "distance", "normal"),
    [
        (surface("cylinder", 0.5, 1.0), [5, 0, 0.3], [-1, 0, 0], 4.5, [1, 0, 0]),
        (surface("cylinder", 0.5, 1.0), [5, 0.3, 0.3], [-1, 0, 0], 4.6, [0.8, 0.6, 0]),
        (surface("cylinder", 0.5, 1.0), [0.2, 0.1, 5], [0, 0, -1], 4.0, [0, 0, 1]),
        (surface("cylinder", 0.5, 1.0), [0.2, 0.1, -5], [0, 0, 1], 4.0, [0, 0, -1]),
        (surface("cylinder", 0.5, 1.0, axes=LYING), [5, 0.2, 0.1], [-1, 0, 0], 4.0, [1, 0, 0]),
        # The radius of the cone (1, 2) is 1 at z = -0.5, 0 at z = 1.5 and 0.75 at 0.
        (surface("cone", 1.0, 2.0), [5, 0, 0], [-1, 0, 0], 4.25, [2 / SLANT, 0, 1 / SLANT]),
        (surface("cone", 1.0, 2.0), [0.3, 0, -5], [0, 0, 1], 4.5, [0, 0, -1]),
        (surface("cone", 1.0, 2.0), [0.5, 0, 5], [0, 0, -1], 4.5, [2 / SLANT, 0, 1 / SLANT]),
        (surface("superellipsoid", 0.5, 0.3, 0.2, 2.0), [5, 0, 0], [-1, 0, 0], 4.5, [1, 0, 0]),
        (surface("superellipsoid", 2.0, 1.0, 1.0, 2.0), [1.2, 5, 0], [0, -1, 0], 4.2, [0.3, 0.8, 0]),
        (
            surface("superellipsoid", 1.0, 1.0, 1.0, 4.0),
            [5, 0.5, 0],
            [-1, 0, 0],
            5 - 0.9375**0.25,
            [0.9375**0.75, 0.125, 0],
        ),
    ],
)
def test_rays_enter(
    solid: Surface, origin: list[float], direction: list[float], distance: float, normal: list[float]
) -> None:
    """Distance and normal from the definitions."""
    t, n = enter_surface(solid, np.array([origin], dtype=np.float32), np.array([direction], dtype=np.float32))
    assert float(t[0]) == pytest.approx(distance, rel=1e-6)
    np.testing.assert_allclose(n[0], np.array(normal) / np.linalg.norm(normal), rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("form", ["cylinder", "cone", "superellipsoid"])
def test_rays_miss(form: str) -> None:
    """Past the solid, and away from it."""
    solid = surface(form, 0.5, 1.0, 0.5, 3.0)
    for origin, direction in (([5, 2.1, 0], [-1, 0, 0]), ([5, 0, 0], [1, 0, 0]), ([0, 0.8, 5], [0.6, 0, -0.8])):
        t, _ = enter_surface(solid, np.array([origin], dtype=np.float32), np.array([direction], dtype=np.float32))
        assert np.isinf(t[0])


def test_surface_moves_with_its_body() -> None:
    """A cylinder on a body that lies on its side at x = 3: its end looks along the world's y."""
    upright = surface("cylinder", 0.5, 1.0)
    half = np.sqrt(0.5)
    placed = Solid(0, upright.corners(), np.zeros((0, 4)), 0.0, upright).placed(
        np.array([3.0, 0.0, 0.0, half, -half, 0.0, 0.0])
    )
    assert placed.surface is not None
    np.testing.assert_allclose(placed.vertices.min(axis=0), [2.5, -1.0, -0.5], atol=1e-12)
    np.testing.assert_allclose(placed.vertices.max(axis=0), [3.5, 1.0, 0.5], atol=1e-12)
    for moved, place in ((placed, 0.0), (placed.moved(np.array([0.0, 2.0, 0.0])), 2.0)):
        assert moved.surface is not None
        t, n = enter_surface(
            moved.surface, np.array([[3.2, 5.0, 0.1]], dtype=np.float32), np.array([[0, -1, 0]], dtype=np.float32)
        )
        assert float(t[0]) == pytest.approx(4.0 - place, rel=1e-6)
        np.testing.assert_allclose(n[0], [0.0, 1.0, 0.0], atol=1e-6)
