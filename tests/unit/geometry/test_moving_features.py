"""Features that move with their bodies: derivatives against differences, gaps by hand."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_features import FeaturePair
from signorini.geometry.moving_touch import Facing, rotation_of
from signorini.math.rotation import turn_exact

UP = np.array([0.0, 0.6, 0.8])
CENTRES = (np.array([0.1, 0.2, -0.1]), np.array([0.0, -0.1, 0.2]))
ACROSS = (np.array([0.6, 0.8, 0.0]), np.array([0.0, 0.6, 0.8]))


def pose(x: tuple[float, float, float], turn: tuple[float, float, float]) -> Array:
    return np.array([*x, *turn_exact((1.0, 0.0, 0.0, 0.0), turn, 1.0)])


def moved(q: Array, twist: Array) -> Array:
    return np.array([*(q[:3] + twist[:3]), *turn_exact(tuple(q[3:]), tuple(twist[3:]), 1.0)])


def at(pair: FeaturePair, q_a: Array, q_b: Array, depth: tuple[float, float]) -> Facing:
    none = np.zeros(3)
    found = pair.facing(q_a, q_b, depth, Touch(0.0, none, none, none, np.ones(1), np.ones(1)))
    assert found is not None
    return found


@pytest.mark.parametrize("depth", [(0.0, 0.0), (0.02, 0.01)])
@pytest.mark.parametrize(
    "pair",
    [
        FeaturePair(CENTRES, (0.0, 0.05), (UP, 0)),
        FeaturePair(CENTRES, (0.03, 0.0), (UP, 1)),
        FeaturePair(CENTRES, (0.02, 0.01), None, ACROSS),
    ],
)
def test_derivatives(pair: FeaturePair, depth: tuple[float, float]) -> None:
    q_a, q_b = pose((0.1, -0.2, 0.0), (0.2, -0.1, 0.1)), pose((0.3, 0.9, 1.0), (0.7, 0.2, -0.5))
    found, step = at(pair, q_a, q_b, depth), 1e-6
    assert found.gap == pytest.approx(float(found.normal @ (found.point_b - found.point_a)), abs=1e-14)
    np.testing.assert_allclose(np.cross(found.point_b - found.point_a, found.normal), 0.0, atol=1e-14)
    for i in range(14):
        sides = []
        for sign in (1.0, -1.0):
            e = np.zeros(14)
            e[i] = sign * step
            sides.append(at(pair, moved(q_a, e[:6]), moved(q_b, e[6:12]), (depth[0] + e[12], depth[1] + e[13])))
        for name in ("gap", "normal", "point_a", "point_b"):
            rate = (getattr(sides[0], name) - getattr(sides[1], name)) / (2.0 * step)
            np.testing.assert_allclose(getattr(found, f"d_{name}")[..., i], rate, atol=1e-8, err_msg=f"{name} by {i}")


def test_a_point_above_a_face_by_hand() -> None:
    """The face of a through its point looks along UP: the gap is the height of b's ball above it, less its radius."""
    q_a, q_b = pose((0.1, -0.2, 0.0), (0.2, -0.1, 0.1)), pose((0.3, 0.9, 1.0), (0.7, 0.2, -0.5))
    x_a, x_b = (q[:3] + rotation_of(q) @ x for q, x in zip((q_a, q_b), CENTRES, strict=True))
    height = (rotation_of(q_a) @ UP) @ (x_b - x_a)
    assert at(FeaturePair(CENTRES, (0.0, 0.05), (UP, 0)), q_a, q_b, (0.0, 0.0)).gap == pytest.approx(height - 0.05)
