"""Closest points that move with their bodies: derivatives against differences, the envelope identity, level sets."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_touch import Facing, PlanePair, SurfacePair
from signorini.math.rotation import matrix, turn_exact
from signorini.model.convex_sets import Common, ConvexSet, Planes, Rounded, Superquadric, placed

EGG = Superquadric(np.array([0.5, 0.3, 0.2]), 2.0)
BEAN = Superquadric(np.array([0.3, 0.4, 0.25]), 3.5)
BALL = Rounded(np.zeros(3), np.zeros(3), 0.3)
STICK = Rounded(np.array([0.0, 0.0, -0.4]), np.array([0.0, 0.0, 0.8]), 0.2)
FLOOR = Planes(np.array([[0.0, 0.6, 0.8]]), np.array([0.1]), np.array([0.0, -0.6, -0.8]))
CORNER = Planes(np.eye(3), np.full(3, 0.25), -np.ones(3))
LENS = Common(tuple(Rounded(np.array([x, 0.0, 0.0]), np.zeros(3), 1.0) for x in (0.6, -0.6)), np.zeros(3))


def pose(x: tuple[float, float, float], turn: tuple[float, float, float]) -> Array:
    return np.array([*x, *turn_exact((1.0, 0.0, 0.0, 0.0), turn, 1.0)])


def moved(q: Array, twist: Array) -> Array:
    return np.array([*(q[:3] + twist[:3]), *turn_exact(tuple(q[3:]), tuple(twist[3:]), 1.0)])


def at(pair: SurfacePair, q_a: Array, q_b: Array, depth: tuple[float, float], near: Facing | None = None) -> Facing:
    none = np.zeros(0)
    start = near.touch if near is not None else Touch(0.0, np.zeros(3), np.zeros(3), np.zeros(3), none, none)
    found = pair.facing(q_a, q_b, depth, start)
    assert found is not None
    return found


@pytest.mark.parametrize("depth", [(0.0, 0.0), (0.02, 0.01)])
@pytest.mark.parametrize(
    ("A", "B"), [(EGG, BEAN), (FLOOR, EGG), (BALL, BEAN), (STICK, EGG), (CORNER, EGG), (LENS, EGG)]
)
def test_derivatives(A: ConvexSet, B: ConvexSet, depth: tuple[float, float]) -> None:
    """Central differences; of the gap by twists also ``d gap = n . (motion of b - motion of a)``."""
    if depth != (0.0, 0.0) and (A is CORNER or A is LENS):
        depth = (0.0, depth[1])
    pair = SurfacePair(placed(A, (0.02, 0.01, -0.03), (1, 0, 0, 0)), placed(B, (0.0, 0.05, 0.02), (1, 0, 0, 0)), 0.3)
    q_a, q_b = pose((0.1, -0.2, 0.0), (0.2, -0.1, 0.1)), pose((0.3, 0.9, 1.0), (0.7, 0.2, -0.5))
    found = at(pair, q_a, q_b, depth)
    for i in range(14):
        step, sides = 1e-6, []
        for sign in (1.0, -1.0):
            e = np.zeros(14)
            e[i] = sign * step
            there = (depth[0] + e[12], depth[1] + e[13])
            sides.append(at(pair, moved(q_a, e[:6]), moved(q_b, e[6:12]), there, found))
        for name in ("gap", "normal", "point_a", "point_b"):
            rate = (getattr(sides[0], name) - getattr(sides[1], name)) / (2.0 * step)
            np.testing.assert_allclose(getattr(found, f"d_{name}")[..., i], rate, atol=2e-8, err_msg=f"{name} by {i}")
    n = found.normal
    if depth == (0.0, 0.0):
        for X, x, column, sign in ((q_a[:3], found.point_a, 0, -1.0), (q_b[:3], found.point_b, 6, 1.0)):
            np.testing.assert_allclose(found.d_gap[column : column + 3], sign * n, atol=1e-12)
            np.testing.assert_allclose(found.d_gap[column + 3 : column + 6], sign * np.cross(x - X, n), atol=1e-12)


@pytest.mark.parametrize(("level", "dn"), [(0.1, 0.0133873798), (0.01, 0.00131824967)])
def test_algebraic_against_euclidean_deflection(level: float, dn: float) -> None:
    """S3 spec 9.4: the point where g = -dbar on the ellipsoid (0.5, 0.3, 0.2) with normal (1, 2, 3)/sqrt 14.

    A plane that touches the deflected surface there: its gap vanishes.
    """
    axes, n = np.array([0.5, 0.3, 0.2]), np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    a = np.sqrt(1.0 - level) * axes**2 * n / np.sqrt(n @ (axes**2 * n))
    if level == 0.1:
        np.testing.assert_allclose(a, [0.240810487, 0.173383551, 0.115589034], atol=5e-10)
    plane = Planes(-n[None], np.array([-float(n @ a)]), 2.0 * n)
    pair = SurfacePair(placed(EGG, (0, 0, 0), (1, 0, 0, 0)), placed(plane, (0, 0, 0), (1, 0, 0, 0)), 0.2)
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    found = at(pair, q, q, (dn, 0.0))
    assert abs(found.gap) < 1e-10
    np.testing.assert_allclose(found.point_a, a, atol=1e-9)
    if level == 0.1:  # the surface itself reaches further out than along the normal there
        assert at(pair, q, q, (0.0, 0.0)).gap == pytest.approx(-0.0135077, abs=5e-8)


@pytest.mark.parametrize("plane_first", [True, False])
@pytest.mark.parametrize("depth", [0.0, 0.02])
@pytest.mark.parametrize("shape", [EGG, BEAN])
def test_a_plane_by_its_formula(shape: Superquadric, plane_first: bool, depth: float) -> None:
    """The support function gives what the equations give, derivatives too."""
    n, R = np.array([0.0, 0.6, 0.8]), np.array(matrix(turn_exact((1.0, 0.0, 0.0, 0.0), (0.3, 0.1, 0.2), 1.0)))
    egg = placed(shape, (0.02, 0.01, -0.03), turn_exact((1.0, 0.0, 0.0, 0.0), (0.3, 0.1, 0.2), 1.0))
    floor = placed(FLOOR, (0.0, 0.0, 0.0), (1, 0, 0, 0))
    q = [pose((0.1, -0.2, 0.0), (0.2, -0.1, 0.1)), pose((0.3, 0.9, 1.0), (0.7, 0.2, -0.5))]
    centre = np.array([0.02, 0.01, -0.03])
    quick = PlanePair(plane_first, n, 0.1, centre, R.reshape(3, 3), shape.axes, shape.exponent)
    slow = SurfacePair(*((floor, egg) if plane_first else (egg, floor)), 0.2)
    depths = (depth, 0.0) if plane_first else (0.0, depth)
    there = q if plane_first else q[::-1]
    want = at(slow, there[0], there[1], depths)
    got = quick.facing(there[0], there[1], depths, want.touch)
    assert got is not None
    for name in ("gap", "normal", "point_a", "point_b", "d_gap", "d_normal", "d_point_a", "d_point_b"):
        mine, theirs = getattr(got, name), getattr(want, name)
        if name.startswith("d_"):
            other = 13 if plane_first else 12  # the deflection of the round body is not known to the formula
            theirs = theirs.copy()
            theirs[..., other] = 0.0
        np.testing.assert_allclose(mine, theirs, atol=1e-11, err_msg=name)


def test_a_flat_spot_on_a_plane() -> None:
    """A superellipsoid that stands flat has an exact gap and finite derivatives, those of its gap exact."""
    pair = PlanePair(True, np.array([0.0, 0.0, 1.0]), 0.0, np.zeros(3), np.eye(3), np.array([0.3, 0.4, 0.25]), 4.0)
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    there = q + np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.0])
    found = pair.facing(q, there, (0.0, 0.0), pair.start(q, there, np.array([0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3)))
    assert found is not None
    assert found.gap == pytest.approx(0.05, abs=1e-16)
    np.testing.assert_allclose(found.point_b, [0.1, 0.2, 0.05], atol=1e-15)
    assert all(np.isfinite(part).all() for part in (found.d_normal, found.d_point_a, found.d_point_b))
    np.testing.assert_allclose(found.d_gap[6:12], [0, 0, 1, 0, 0, 0], atol=1e-15)
