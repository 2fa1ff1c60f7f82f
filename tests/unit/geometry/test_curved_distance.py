"""Gap, normal and points of curved shapes against every shape, from their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.model import Contacts
from signorini.scene.shapes import Cone, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere, Superellipsoid
from tests.unit.geometry.curved_reference import (
    CURVED,
    MAKERS,
    PAIRS,
    depth_by_search,
    distance_by_optimisation,
    off_surface,
    separation_along,
    support_value,
)
from tests.unit.geometry.reference import contacts_of, random_quaternion, turned

# Accepted touches are right to 1e-12 of the sum of both radii, here up to 3.
EXACT = 1e-11


def turn(angle: float, axis: tuple[float, float, float]) -> Array:
    """Return the quaternion of a turn about an axis."""
    u = np.array(axis) / np.linalg.norm(axis)
    return np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * u)])


def random_pair(first: str, second: str, r: np.random.Generator, spread: float) -> tuple[list[Shape], Array]:
    """Return two shapes with random poses about as far apart as `spread`."""
    poses = np.array([[*r.normal(size=3), *random_quaternion(r)] for _ in range(2)])
    d = r.normal(size=3)
    poses[1, :3] = poses[0, :3] + spread * d / np.linalg.norm(d)
    return [MAKERS[first](r), MAKERS[second](r)], poses


def check(shapes: list[Shape], poses: Array, contacts: Contacts) -> float:
    """The gap is reached between supporting planes across the normal, by points on both surfaces. Return it.

    Apart, this proves that no two points are closer.
    """
    assert all(np.isfinite(values).all() for values in contacts)
    c = int(contacts.gap.argmin())
    np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, rtol=0.0, atol=1e-14)
    reached = separation_along(contacts.normal[c : c + 1], shapes, poses)[0]
    assert reached == pytest.approx(contacts.gap[c], rel=0.0, abs=EXACT)
    step = contacts.point_b - contacts.point_a - contacts.gap[:, None] * contacts.normal
    assert np.abs(step).max() < EXACT
    for p, q in zip(contacts.point_a, contacts.point_b, strict=True):
        assert off_surface(shapes[0], poses[0], p) < EXACT
        assert off_surface(shapes[1], poses[1], q) < EXACT
    return float(contacts.gap[c])


def test_component_checks_of_s3() -> None:
    """S3 spec 9.4: two ellipsoids, a superellipsoid of exponent 4, overlapping and touching unit balls.

    The normal of S3 points from its body 2 to its body 1, ours the other way.
    """
    second = Ellipsoid((0.8, 0.4, 0.6))
    poses = np.array([[0, 0, 0, 1, 0, 0, 0], [2, 1, 0.5, *turn(np.deg2rad(40.0), (1, 1, 0))]])
    contacts = contacts_of([Ellipsoid((1.0, 0.5, 0.3)), second], poses, 2.0)
    assert contacts.gap[0] == pytest.approx(0.88066976988393, rel=0.0, abs=1e-13)
    np.testing.assert_allclose(-contacts.normal[0], [-0.61401619, -0.65435372, -0.44136756], rtol=0.0, atol=5e-9)
    contacts = contacts_of([Superellipsoid((1.0, 0.5, 0.5), 4.0), second], poses, 2.0)
    # The specification promises 1e-11; the supporting planes prove our last digits.
    assert contacts.gap[0] == pytest.approx(0.69085750807631, rel=0.0, abs=1e-12)
    check([Superellipsoid((1.0, 0.5, 0.5), 4.0), second], poses, contacts)
    for apart in (1.9, 2.0):
        poses = np.array([[0, 0, 0, 1, 0, 0, 0], [apart, 0, 0, 1, 0, 0, 0]])
        contacts = contacts_of([Ellipsoid((1.0, 1.0, 1.0)), Ellipsoid((1.0, 1.0, 1.0))], poses, 0.1)
        assert contacts.gap[0] == pytest.approx(apart - 2.0, rel=0.0, abs=1e-14)
        np.testing.assert_allclose(contacts.normal[0], [1.0, 0.0, 0.0], rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_apart(pair: tuple[str, str]) -> None:
    """The gap is the least distance, proved by supporting planes."""
    r = np.random.default_rng([1, *map(len, pair)])
    for _ in range(3):
        shapes, poses = random_pair(*pair, r, 3.5)
        assert check(shapes, poses, contacts_of(shapes, poses, 10.0)) > 0.0


SMOOTH = [
    ("ellipsoid", "ellipsoid"),
    ("ellipsoid", "superellipsoid"),
    ("superellipsoid", "superellipsoid"),
    ("superellipsoid", "hull"),
    ("cylinder", "ellipsoid"),
    ("cylinder", "box"),
    ("ellipsoid", "sphere"),
]


@pytest.mark.parametrize("pair", SMOOTH, ids="-".join)
def test_least_distance_by_optimisation(pair: tuple[str, str]) -> None:
    """The gap is the least distance of two points that obey the inequalities of one body each."""
    r = np.random.default_rng([2, *map(len, pair)])
    shapes, poses = random_pair(*pair, r, 3.5)
    contacts = contacts_of(shapes, poses, 10.0)
    assert contacts.gap.min() == pytest.approx(distance_by_optimisation(shapes, poses), rel=0.0, abs=1e-8)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_in_touch(pair: tuple[str, str]) -> None:
    """Bodies moved along their normal to within +-1e-3 ... 1e-12 of touching have that gap and the same normal."""
    r = np.random.default_rng([3, *map(len, pair)])
    for gap in (1e-3, 1e-9, -1e-12, -1e-5):
        shapes, poses = random_pair(*pair, r, 3.5)
        before = contacts_of(shapes, poses, 10.0)
        c = int(before.gap.argmin())
        poses[1, :3] += (gap - before.gap[c]) * before.normal[c]
        after = contacts_of(shapes, poses, 0.1)
        # Pushed in, a corner may find a shorter way out.
        assert gap - EXACT <= check(shapes, poses, after) <= max(gap, 0.0) + EXACT
        if gap > 0.0:
            # The direction between two corners knows no more than their coordinates.
            wrong = 1e-9 + 4e-15 / gap
            np.testing.assert_allclose(after.normal[after.gap.argmin()], before.normal[c], rtol=0.0, atol=wrong)


@pytest.mark.compiled_only
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_overlapping(pair: tuple[str, str]) -> None:
    """The depth is the least translation that parts the bodies, found by looking in all directions."""
    r = np.random.default_rng([4, *map(len, pair)])
    for _ in range(2):
        shapes, poses = random_pair(*pair, r, r.uniform(0.02, 0.2))
        gap = check(shapes, poses, contacts_of(shapes, poses, 0.0))
        # The search may miss the best direction but never finds one better than the best.
        assert depth_by_search(shapes, poses, r) - 1e-9 <= gap < 0.0


@pytest.mark.parametrize("first", CURVED)
@pytest.mark.parametrize("second", CURVED)
def test_coincident_bodies(first: str, second: str) -> None:
    """Same centre, same axes: numbers, and the least translation along an axis of symmetry at most."""
    r = np.random.default_rng(5)
    shapes = [MAKERS[first](r), MAKERS[second](r)]
    poses = np.zeros((2, 7))
    poses[:, 3] = 1.0
    gap = check(shapes, poses, contacts_of(shapes, poses, 0.0))
    assert gap >= separation_along(np.vstack([np.eye(3), -np.eye(3)]), shapes, poses).max() - EXACT


def test_concentric_ellipsoids_part_along_the_axis_of_least_width() -> None:
    """With common axes h_A + h_B is a concave function of the squared components of n: least on an axis, a_i + b_i."""
    poses = np.zeros((2, 7))
    poses[:, 3] = 1.0
    contacts = contacts_of([Ellipsoid((1.0, 0.4, 0.6)), Ellipsoid((0.3, 0.5, 0.2))], poses, 0.0)
    assert contacts.gap.min() == pytest.approx(-0.8, rel=0.0, abs=1e-12)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_exchanged_bodies_and_common_motion(pair: tuple[str, str]) -> None:
    """detect(b, a) is detect(a, b) reversed; a rigid motion of both carries contacts along and keeps their names."""
    r = np.random.default_rng([6, *map(len, pair)])
    shapes, poses = random_pair(*pair, r, 1.2)
    contacts = contacts_of(shapes, poses, 0.5)
    back = contacts_of(shapes[::-1], poses[::-1].copy(), 0.5)
    assert back.contact_count == contacts.contact_count
    order, other = np.lexsort(contacts.point_a.round(6).T), np.lexsort(back.point_b.round(6).T)
    np.testing.assert_allclose(back.gap[other], contacts.gap[order], rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(-back.normal[other], contacts.normal[order], rtol=0.0, atol=1e-9)
    e, x = random_quaternion(r), r.normal(size=3)
    moved = np.empty_like(poses)
    moved[:, :3] = turned(e, poses[:, :3]) + x
    for old, new in zip(poses, moved, strict=True):
        new[3] = e[0] * old[3] - e[1:] @ old[4:]
        new[4:] = e[0] * old[4:] + old[3] * e[1:] + np.cross(e[1:], old[4:])
    after = contacts_of(shapes, moved, 0.5)
    np.testing.assert_array_equal(after.feature, contacts.feature)
    np.testing.assert_allclose(after.gap, contacts.gap, rtol=0.0, atol=EXACT)
    np.testing.assert_allclose(after.normal, turned(e, contacts.normal), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("kind", CURVED)
def test_lowest_point_above_a_half_space(kind: str) -> None:
    """The least gap is that of the support function against the normal, from either side of the pair."""
    r = np.random.default_rng(7)
    n = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    for _ in range(10):
        shape, e, x = MAKERS[kind](r), random_quaternion(r), r.normal(size=3)
        poses = np.array([[0, 0, 0, 1, 0, 0, 0], [*x, *e]])
        contacts = contacts_of([HalfSpace((1, 2, 3), 0.1), shape], poses, 5.0)
        lowest = n @ x - 0.1 - support_value(shape, -turned(e * [1, -1, -1, -1], n[None]))[0]
        assert contacts.gap.min() == pytest.approx(lowest, rel=0.0, abs=1e-14)
        np.testing.assert_allclose(contacts.normal, np.tile(n, (contacts.contact_count, 1)), rtol=0.0, atol=1e-15)
        for q in contacts.point_b:
            assert off_surface(shape, poses[1], q) < 1e-14
        back = contacts_of([shape, HalfSpace((1, 2, 3), 0.1)], poses[::-1].copy(), 5.0)
        np.testing.assert_array_equal(back.normal, -contacts.normal)
        np.testing.assert_array_equal(back.gap, contacts.gap)


@pytest.mark.parametrize("shape", [Cylinder(0.5, 1.0), Cone(0.5, 1.0), Ellipsoid((0.2, 0.3, 0.4))])
def test_reach_decides(shape: Shape) -> None:
    """Contacts appear up to the sum of both reaches."""
    ball = Sphere(1.0)
    poses = np.array([[0, 0, 0, 1, 0, 0, 0], [0.1, 0.2, 3.0, 1, 0, 0, 0]])
    for other in (HalfSpace(offset=1.0), ball):
        gap = contacts_of([other, shape], poses, 10.0).gap.min()
        assert contacts_of([other, shape], poses, np.array([0.25 * gap, 0.76 * gap])).contact_count > 0
        assert contacts_of([other, shape], poses, np.array([0.25 * gap, 0.74 * gap])).contact_count == 0
