"""The point of a triangle nearest to the origin, also where corners coincide."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._jit import kernel
from signorini.geometry.convex_distance import on_triangle
from signorini.geometry.vectors import Vector


@kernel
def weights(p: Vector, q: Vector, r: Vector) -> Vector:
    return on_triangle(p, q, r)


@pytest.mark.parametrize("same", [(0, 1), (0, 2), (1, 2), (0, 0)], ids=["p = q", "p = r", "q = r", "none"])
def test_weights_are_those_of_the_nearest_point(same: tuple[int, int]) -> None:
    """Against the points of a fine grid on the triangle; a triangle of two points is a segment."""
    rng = np.random.default_rng(3)
    s, t = np.meshgrid(np.linspace(0.0, 1.0, 101), np.linspace(0.0, 1.0, 101))
    grid = np.stack([1.0 - s, s * (1.0 - t), s * t], axis=-1).reshape(-1, 3)
    for _ in range(50):
        corners = rng.normal(size=(3, 3)) + 0.5 * rng.normal(size=3)
        corners[same[1]] = corners[same[0]]
        p, q, r = ((float(x), float(y), float(z)) for x, y, z in corners)
        w = np.array(weights(p, q, r))
        assert w.min() >= 0.0
        assert w.sum() == pytest.approx(1.0, abs=1e-12)
        least = np.linalg.norm(grid @ corners, axis=1).min()
        assert least - 0.05 <= np.linalg.norm(w @ corners) <= least + 1e-12
