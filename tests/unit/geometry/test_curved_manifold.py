"""Cylinders and cones on their caps, rims and sides: where they touch, and that contacts keep their names."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.geometry.detect_kernels import contact_rows
from signorini.geometry.tables import LOWER, family_of, scratch_for, tables_of
from signorini.model import Contacts
from signorini.scene.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Shape,
    Superellipsoid,
    encode,
)
from tests.unit.geometry.curved_reference import CURVED, MAKERS, support_value
from tests.unit.geometry.reference import ANY_PAIR, contacts_of, random_quaternion, turned

R, L = 0.3, 1.0
BLOCK = ConvexHull(tuple((x, y, z) for x in (-2.0, 2.0) for y in (-2.0, 2.0) for z in (-1.0, 0.0)))
FLOORS = [HalfSpace(), BLOCK]
QUARTER = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])


def turn(angle: float, axis: tuple[float, float, float]) -> Array:
    """Return the quaternion of a turn about a unit axis."""
    return np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * np.array(axis))])


def on_floor(floor: Shape, shape: Shape, height: float, e: Array, reach: float = 1e-3) -> Contacts:
    """Return the contacts of a shape above the origin of a floor whose surface is z = 0."""
    return contacts_of([floor, shape], np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, height, *e]]), reach, fixed=1)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("shape", [Cylinder(R, L), Cone(R, 2.0 * L)])
@pytest.mark.parametrize("gap", [-1e-6, 0.0, 1e-6])
def test_standing(floor: Shape, shape: Shape, gap: float) -> None:
    """On its base: points round the rim, more than half a rim apart from no direction, all with the same gap."""
    contacts = on_floor(floor, shape, 0.5 * L + gap, turn(0.3, (0, 0, 1)))
    assert contacts.contact_count >= 4
    np.testing.assert_allclose(contacts.gap, gap, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(contacts.normal, np.tile([0.0, 0.0, 1.0], (contacts.contact_count, 1)), atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(contacts.point_b[:, :2], axis=1), R, rtol=1e-14)
    angle = np.sort(np.arctan2(contacts.point_b[:, 1], contacts.point_b[:, 0]))
    assert np.diff(np.append(angle, angle[0] + 2.0 * np.pi)).max() < 0.35 * np.pi


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("shape", [Cylinder(R, L), Cone(R, 2.0 * L)])
@pytest.mark.parametrize("tilt", [1e-8, 1e-5, 1e-3, 0.1, 0.29, 0.31, 0.6])
def test_lowest_point_of_a_tilted_rim(floor: Shape, shape: Shape, tilt: float) -> None:
    """Tilted by any angle about any axis, the lowest point of the rim is a contact, exactly: -R sin - L/2 cos."""
    for direction in (0.0, 0.3, 0.5, 2.0):
        e = turn(tilt, (np.cos(direction), np.sin(direction), 0.0))
        lowest = -R * np.sin(tilt) - 0.5 * L * np.cos(tilt)
        contacts = on_floor(floor, shape, -lowest, e, 1e-2)
        # Lower by less than 1e-10 of the radius than the points at fixed places, it is none of its own.
        assert contacts.gap.min() == pytest.approx(0.0, abs=1e-14 if tilt > 1e-8 else 1e-10 * R)
        c = int(contacts.gap.argmin())
        if tilt == 1e-8:
            continue
        # The rim is lowest on the side to which the axis of the turn points after a quarter turn to the right.
        down = np.array([np.sin(direction), -np.cos(direction)])
        place = (R * np.cos(tilt) - 0.5 * L * np.sin(tilt)) * down
        # The flatter the rim, the fewer digits its lowest point has.
        np.testing.assert_allclose(contacts.point_b[c, :2], place, rtol=0.0, atol=1e-15 / tilt + 1e-14)


@pytest.mark.parametrize("floor", FLOORS)
def test_names_while_standing_and_tipping(floor: Shape) -> None:
    """Rounding and micrometres change no name and move no point by more than the body moves."""
    r = np.random.default_rng(1)
    first = on_floor(floor, Cylinder(R, L), 0.5 * L, np.array([1.0, 0, 0, 0]))
    for size in (1e-16, 1e-13, 1e-11) * 4:
        e = np.array([1.0, *(size * r.normal(size=3))])
        after = on_floor(floor, Cylinder(R, L), 0.5 * L + size, e)
        np.testing.assert_array_equal(after.feature, first.feature)
        np.testing.assert_allclose(after.point_b, first.point_b, rtol=0.0, atol=10.0 * size + 1e-15)
    names = None
    for tilt in np.linspace(0.4, 0.8, 30):  # on the rim: one contact, one name
        lowest = R * np.sin(tilt) + 0.5 * L * np.cos(tilt)
        contacts = on_floor(floor, Cylinder(R, L), lowest, turn(float(tilt), (1, 0, 0)))
        names = contacts.feature.tolist() if names is None else names
        assert contacts.feature.tolist() == names
        assert contacts.contact_count == 1


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("shape", [Cylinder(R, L), Cone(R, L)])
def test_rolling_on_the_side(floor: Shape, shape: Shape) -> None:
    """On its side: both ends of the straight line, with the same two names all the way round."""
    half = np.arctan2(R, L) if isinstance(shape, Cone) else 0.0
    height = 0.75 * L * np.sin(half) if isinstance(shape, Cone) else R
    ends = [[0.0, -0.75 * L * np.cos(half), 0.0], [0.0, np.hypot(R, L) - 0.75 * L * np.cos(half), 0.0]]
    if isinstance(shape, Cylinder):
        ends = [[0.0, -0.5 * L, 0.0], [0.0, 0.5 * L, 0.0]]
    down = turn(0.5 * np.pi + half, (1, 0, 0))
    names = None
    for angle in np.linspace(0.0, 2.0 * np.pi, 25):
        c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
        e = np.array([down[0] * c, down[1] * c, -down[1] * s, down[0] * s])  # first about the body's own axis
        contacts = on_floor(floor, shape, height, e)
        names = contacts.feature.tolist() if names is None else names
        assert contacts.feature.tolist() == names
        np.testing.assert_allclose(contacts.point_b, ends, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("shape", [Ellipsoid((0.3, 0.5, 0.7)), Superellipsoid((0.3, 0.5, 0.7), 4.0)])
def test_smooth_bodies_keep_one_name(floor: Shape, shape: Shape) -> None:
    """A tumbling smooth body has one contact of one name, whose point moves as the support function says."""
    name = None
    for angle in np.linspace(0.0, 2.0, 15):
        e = turn(float(angle), (0.6, 0.0, 0.8))
        n = turned(e * [1, -1, -1, -1], np.array([[0.0, 0.0, -1.0]]))
        height = float(support_value(shape, n)[0])
        contacts = on_floor(floor, shape, height, e)
        name = contacts.feature.tolist() if name is None else name
        assert contacts.feature.tolist() == name
        assert contacts.gap[0] == pytest.approx(0.0, abs=1e-14)
        # The gradient of the support function is the support point; differences of step 1e-5 know ten digits of it.
        steps = 1e-5 * np.eye(3)
        point = (support_value(shape, n + steps) - support_value(shape, n - steps)) / 2e-5
        expected = turned(e, point) + np.array([0.0, 0.0, height])
        np.testing.assert_allclose(contacts.point_b[0], expected, rtol=0.0, atol=2e-4 if angle == 0.0 else 2e-8)


@pytest.mark.parametrize("other", [Cylinder(0.2, 0.8), Capsule(0.2, 0.8)])
def test_side_by_side(other: Shape) -> None:
    """Parallel sides touch at both ends of the common length; turned a little, at the crossing too."""
    poses = np.array([[0, 0, 0, 1, 0, 0, 0], [0.5, 0, 0.4, 1, 0, 0, 0]])
    contacts = contacts_of([Cylinder(R, L), other], poses, 1e-3)
    order = np.argsort(contacts.point_b[:, 2])
    np.testing.assert_allclose(contacts.point_b[order], [[R, 0, 0], [R, 0, 0.5]], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=1e-15)
    poses[1, 3:] = turn(0.01, (1, 0, 0))
    contacts = contacts_of([Cylinder(R, L), other], poses, 1e-2)
    assert contacts.contact_count == 3
    assert contacts.gap.min() == pytest.approx(0.0, abs=1e-15)
    for p, q, gap in zip(contacts.point_a, contacts.point_b, contacts.gap, strict=True):
        assert np.hypot(p[0], p[1]) == pytest.approx(R, abs=1e-14)
        np.testing.assert_allclose(q - p, [gap, 0.0, 0.0], rtol=0.0, atol=1e-15)


def test_stack_of_cylinders() -> None:
    """A cylinder on another, off centre: points of both rims, within both caps."""
    poses = np.array([[0, 0, 0, 1, 0, 0, 0], [0.1, 0, L, *turn(0.2, (0, 0, 1))]])
    contacts = contacts_of([Cylinder(R, L), Cylinder(R, L)], poses, 1e-3)
    assert contacts.contact_count >= 4
    np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=1e-15)
    assert (np.linalg.norm(contacts.point_b[:, :2], axis=1) <= R + 1e-14).all()
    assert (np.linalg.norm(contacts.point_b[:, :2] - [0.1, 0.0], axis=1) <= R + 1e-14).all()
    assert np.ptp(contacts.point_b[:, 0]) > 0.8 * (2.0 * R - 0.1)
    assert np.ptp(contacts.point_b[:, 1]) > 1.6 * R


def test_over_the_edge() -> None:
    """A cylinder lying across the edge of a box touches up to that edge; one standing there stays within the box."""
    box = Box((1.0, 1.0, 1.0))
    poses = np.array([[0, 0, -0.5, 1, 0, 0, 0], [0, 0.4, R, *QUARTER]])
    contacts = contacts_of([box, Cylinder(R, L)], poses, 1e-3)
    order = np.argsort(contacts.point_b[:, 1])
    np.testing.assert_allclose(contacts.point_b[order], [[0, -0.1, 0], [0, 0.5, 0]], rtol=0.0, atol=1e-15)
    poses[1] = [0.45, 0, 0.5 * L, 1, 0, 0, 0]
    contacts = contacts_of([box, Cylinder(R, L)], poses, 1e-3)
    assert contacts.contact_count >= 4
    assert contacts.point_b[:, 0].max() == pytest.approx(0.5, abs=1e-14)
    assert contacts.point_b[:, 0].min() == pytest.approx(0.15, abs=1e-14)


@pytest.mark.parametrize("kind", CURVED)
def test_boxes_of_the_broad_phase(kind: str) -> None:
    """The box in the world reaches as far as the support function along each axis."""
    r = np.random.default_rng(8)
    for _ in range(5):
        shape, e, x = MAKERS[kind](r), random_quaternion(r), r.normal(size=3)
        shapes, hulls = encode([(0, shape.at())], np.zeros((1, 3)))
        tables = tables_of(shapes, hulls, ANY_PAIR, 0)
        q, reach = np.array([[*x, *e]]), np.array([0.1])
        _, scratch = contact_rows(tables, family_of(tables), q, reach, scratch_for(tables, 1))
        box = scratch.world[:, LOWER:]
        axes = turned(e * [1, -1, -1, -1], np.eye(3))
        np.testing.assert_allclose(box[0, 3:], x + support_value(shape, axes) + 0.1, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(box[0, :3], x - support_value(shape, -axes) - 0.1, rtol=0.0, atol=1e-12)
