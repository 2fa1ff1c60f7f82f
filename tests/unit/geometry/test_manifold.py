"""Contacts of bodies that touch along faces and edges: how many, where, and that they stay the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull as QhullHull

from signorini.model import Contacts
from signorini.scene.shapes import Box, Capsule, ConvexHull, HalfSpace, Polygon, Segment, Shape
from tests.unit.geometry.reference import contacts_of, random_quaternion

ROUNDING = 1e-15
NO_TURN = (1.0, 0.0, 0.0, 0.0)


def pose(x: float, y: float, z: float, e: tuple[float, ...] = NO_TURN) -> list[float]:
    """Return a row of q."""
    return [x, y, z, *e]


def about(axis: int, angle: float) -> tuple[float, ...]:
    """Return the quaternion of a turn about a coordinate axis."""
    e = np.zeros(4)
    e[0], e[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
    return tuple(e)


def points(contacts: Contacts) -> set[tuple[float, ...]]:
    """Return the points on b, rounded for comparison."""
    return {tuple(row) for row in (np.round(contacts.point_b, 9) + 0.0).tolist()}


def test_resting_box_has_its_four_corners() -> None:
    """A box flat on a plane: gaps to rounding, normals exact, on either side of touch."""
    for gap in (0.0, 1e-9, -1e-9, 1e-3):
        contacts = contacts_of(
            [HalfSpace(), Box((1.0, 2.0, 3.0))], np.array([pose(0, 0, 0), pose(1, 1, 1.5 + gap)]), 0.1
        )
        assert contacts.contact_count == 4
        np.testing.assert_allclose(contacts.gap, gap, rtol=0.0, atol=ROUNDING)
        np.testing.assert_array_equal(contacts.normal, np.tile([0.0, 0.0, 1.0], (4, 1)))
        assert points(contacts) == {(x, y, round(gap, 9)) for x in (0.5, 1.5) for y in (0.0, 2.0)}


@pytest.mark.parametrize("gap", [0.0, 1e-12, -1e-12, 1e-7, -1e-7, 1e-3, -1e-3])
def test_stacked_boxes_have_four_contacts(gap: float) -> None:
    """Equal boxes exactly above each other, within reach: all four corners with the same gap."""
    contacts = contacts_of([Box((1.0, 1.0, 1.0))] * 2, np.array([pose(0, 0, 0), pose(0, 0, 1 + gap)]), 0.01)
    assert contacts.contact_count == 4
    np.testing.assert_allclose(contacts.gap, gap, rtol=0.0, atol=ROUNDING)
    np.testing.assert_array_equal(contacts.normal, np.tile([0.0, 0.0, 1.0], (4, 1)))
    assert points(contacts) == {(x, y, round(0.5 + gap, 9)) for x in (-0.5, 0.5) for y in (-0.5, 0.5)}


def test_names_outlast_creep_and_tilt() -> None:
    """Contacts of equal stacked boxes keep their names while the upper one moves by rounding and by micrometres."""
    r = np.random.default_rng(1)
    names = None
    for size in np.repeat([0.0, 1e-16, 1e-13, 1e-10, 1e-7], 20):
        e = np.array([1.0, *(size * r.normal(size=3))])
        upper = [*(np.array([0.0, 0.0, 1.0]) + size * r.normal(size=3)), *(e / np.linalg.norm(e))]
        contacts = contacts_of([Box((1.0, 1.0, 1.0))] * 2, np.array([pose(0, 0, 0), upper]), 0.01)
        assert contacts.contact_count == 4
        names = contacts.feature if names is None else names
        np.testing.assert_array_equal(contacts.feature, names)


def test_turned_boxes_touch_in_an_octagon() -> None:
    """Squares of edge 1, one turned by 45 degrees: the eight crossings of their sides."""
    contacts = contacts_of(
        [Box((1.0, 1.0, 1.0))] * 2, np.array([pose(0, 0, 0), pose(0, 0, 1.001, about(2, np.pi / 4))]), 0.01
    )
    assert contacts.contact_count == 8
    np.testing.assert_allclose(contacts.gap, 0.001, rtol=0.0, atol=ROUNDING)
    c = np.sqrt(0.5) - 0.5
    expected = {(sx * x, sy * y) for x, y in [(0.5, c), (c, 0.5)] for sx in (-1, 1) for sy in (-1, 1)}
    assert {p[:2] for p in points(contacts)} == {tuple(np.round(p, 9)) for p in expected}


def test_crossed_beams_touch_in_a_square() -> None:
    """Two beams at right angles, also when tilted a little so that two edges are closest: four corners, not one."""
    for tilt in (0.0, 1e-9, 1e-6, 1e-4):
        upper = np.array(pose(0, 0, 1.0, about(2, np.pi / 2)))
        upper[3:] += tilt * np.array([0.0, 0.3, 0.4, 0.0])
        upper[3:] /= np.linalg.norm(upper[3:])
        contacts = contacts_of([Box((5.0, 1.0, 1.0))] * 2, np.array([pose(0, 0, 0), upper]), 0.01)
        assert contacts.contact_count == 4
        # Turned by two tilts about a point one length away.
        assert np.abs(np.abs(contacts.point_b[:, :2]) - 0.5).max() < 1e-9 + 2.0 * tilt


def test_edges_across_touch_in_a_point() -> None:
    """Two boxes standing on their edges, crossed: one contact where the edges meet."""
    half = np.sqrt(0.5)
    lower, upper = pose(0, 0, 0, about(0, np.pi / 4)), pose(0, 0, 2 * half + 0.01, about(1, np.pi / 4))
    for shift in ((0.0, 0.0, 0.0), (0.1, 0.2, 0.0)):
        poses = np.array([lower, upper])
        poses[1, :3] += shift
        contacts = contacts_of([Box((1.0, 1.0, 1.0))] * 2, poses, 0.01)
        assert contacts.contact_count == 1
        np.testing.assert_allclose(contacts.normal, [[0.0, 0.0, 1.0]], rtol=0.0, atol=ROUNDING)
        np.testing.assert_allclose(contacts.point_a, [[shift[0], 0.0, half]], rtol=0.0, atol=4 * ROUNDING)


def test_capsule_lies_on_a_box_with_both_ends() -> None:
    """Along a face the part of the axis above it, across an edge one point."""
    e = about(1, np.pi / 2)
    inside = contacts_of([Box((2.0, 2.0, 1.0)), Capsule(0.1, 1.0)], np.array([pose(0, 0, 0), pose(0, 0, 0.6, e)]), 0.01)
    assert points(inside) == {(-0.5, 0.0, 0.5), (0.5, 0.0, 0.5)}
    over = contacts_of([Box((2.0, 2.0, 1.0)), Capsule(0.1, 1.0)], np.array([pose(0, 0, 0), pose(1, 0, 0.6, e)]), 0.01)
    assert points(over) == {(0.5, 0.0, 0.5), (1.0, 0.0, 0.5)}
    for contacts in (inside, over):
        np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=ROUNDING)


def test_capsule_lies_along_an_edge_with_both_ends() -> None:
    """Above the edge of a box on edge, where the face beside it ends: two points, whatever rounding says."""
    for yaw in np.linspace(0.0, 3.0, 20):
        roll = np.array(about(0, np.pi / 4))
        box = [*(0.0, 0.0, 0.0), np.cos(yaw / 2) * roll[0], np.cos(yaw / 2) * roll[1], np.sin(yaw / 2) * roll[1]]
        box.append(np.sin(yaw / 2) * roll[0])
        lying = np.array(about(1, np.pi / 2))
        e = [
            np.cos(yaw / 2) * lying[0],
            -np.sin(yaw / 2) * lying[2],
            np.cos(yaw / 2) * lying[2],
            np.sin(yaw / 2) * lying[0],
        ]
        capsule = [0.0, 0.0, np.sqrt(0.5) + 0.1, *e]
        contacts = contacts_of([Box((2.0, 1.0, 1.0)), Capsule(0.1, 1.0)], np.array([box, capsule]), 0.01)
        assert contacts.contact_count == 2
        np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=4 * ROUNDING)
        np.testing.assert_allclose(np.linalg.norm(contacts.point_a[:, :2], axis=1), 0.5, rtol=0.0, atol=4 * ROUNDING)


def test_small_face_on_a_large_one() -> None:
    """The corners of the smaller face are the contacts, whichever body is first; each has a name of its own."""
    small, large = Box((1.0, 1.0, 1.0)), Box((5.0, 4.0, 1.0))
    for shapes in ([large, small], [small, large]):
        contacts = contacts_of(shapes, np.array([pose(0, 0, 0), pose(0.1, 0.2, 1.0, about(2, 0.3))]), 0.01)
        assert contacts.contact_count == 4
        assert len(set(contacts.feature.tolist())) == 4
        centre = [0.1, 0.2] if shapes[1] is small else [0.0, 0.0]
        np.testing.assert_allclose(np.linalg.norm(contacts.point_a[:, :2] - centre, axis=1), np.sqrt(0.5), rtol=1e-15)


@pytest.mark.parametrize("offset", [1e-3, 1e-10, 1e-15, 0.0])
def test_crossing_capsules_part_across_their_axes(offset: float) -> None:
    """However close the axes come, the normal is across both; their order decides where they cross exactly."""
    lower, upper = pose(0, 0, 0, about(0, 0.3)), pose(offset, 0.1, 0.1, about(0, 1.5))
    contacts = contacts_of([Capsule(0.1, 1.0), Capsule(0.2, 1.0)], np.array([lower, upper]), 0.01)
    assert contacts.contact_count == 1
    np.testing.assert_allclose(np.abs(contacts.normal), [[1.0, 0.0, 0.0]], rtol=0.0, atol=ROUNDING)
    assert contacts.gap[0] == pytest.approx(offset - 0.3, abs=ROUNDING)


def test_parallel_capsules_touch_with_both_ends() -> None:
    """Side by side the ends of the common length; tip to tip and across one point."""
    capsules = [Capsule(0.1, 1.0), Capsule(0.2, 1.0)]
    for shift, expected in ((0.0, [-0.5, 0.5]), (0.4, [-0.1, 0.5]), (1.0, [0.5])):
        contacts = contacts_of(capsules, np.array([pose(0, 0, 0), pose(0.3, 0, shift)]), 0.01)
        np.testing.assert_allclose(sorted(set(np.round(contacts.point_a[:, 2], 9))), expected, atol=1e-9)
        np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=ROUNDING)
    across = contacts_of(capsules, np.array([pose(0, 0, 0), pose(0.3, 0.2, 0.1, about(0, np.pi / 2))]), 0.01)
    assert across.contact_count == 1
    np.testing.assert_allclose(across.point_a, [[0.1, 0.0, 0.1]], rtol=0.0, atol=ROUNDING)


def test_planar_sides_touch_with_two_points() -> None:
    """Squares side by side, a segment on a square, a corner on a side."""
    square = Polygon(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)))
    shifted = contacts_of([square, square], np.array([pose(0, 0, 0), pose(0.25, 1.0, 0)]), 0.01)
    assert points(shifted) == {(0.25, 1.0, 0.0), (1.0, 1.0, 0.0)}
    rod = contacts_of([square, Segment((-1.0, 0.0), (0.5, 0.0), 0.1)], np.array([pose(0, 0, 0), pose(0, 1.1, 0)]), 0.01)
    assert points(rod) == {(0.0, 1.0, 0.0), (0.5, 1.0, 0.0)}
    corner = contacts_of([square, square], np.array([pose(0, 0, 0), pose(0.5, 1.0, 0, about(2, np.pi / 4))]), 0.01)
    assert points(corner) == {(0.5, 1.0, 0.0)}
    for contacts in (shifted, rod, corner):
        np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=4 * ROUNDING)
        np.testing.assert_array_equal(contacts.normal[:, 2], 0.0)


def prism(sides: int, radius: float = 1.0) -> ConvexHull:
    """Return an upright prism over a regular polygon, one high."""
    angles = 2.0 * np.pi * np.arange(sides) / sides
    ring = [(radius * float(np.cos(a)), radius * float(np.sin(a))) for a in angles]
    return ConvexHull(tuple((x, y, z) for z in (-0.5, 0.5) for x, y in ring))


@pytest.mark.parametrize("ground", [HalfSpace(offset=0.5), Box((10.0, 10.0, 1.0))])
def test_many_corners_are_reduced_to_the_support_polygon(ground: Shape) -> None:
    """Of a face with 40 corners at most nine remain; they span almost its area, and the choice turns with the body."""
    areas, names = [], []
    for angle in (0.0, 0.3, 1.0):
        contacts = contacts_of([ground, prism(40)], np.array([pose(0, 0, 0), pose(0, 0, 1.0, about(2, angle))]), 0.01)
        assert 8 <= contacts.contact_count <= 9
        areas.append(QhullHull(contacts.point_b[:, :2]).volume)
        names.append(contacts.feature.tolist())
    # A regular octagon fills 2 sqrt(2) / pi = 0.9 of its circle.
    assert min(areas) > 0.89 * np.pi
    if isinstance(ground, HalfSpace):
        assert names[0] == names[1] == names[2]


def test_reduction_keeps_the_deepest_point() -> None:
    """A prism tilted about a direction between the eight kept ones."""
    for tilt in (1e-6, 1e-3):
        for angle in np.linspace(0.0, 2.0 * np.pi, 7):
            e = (np.cos(tilt / 2), np.sin(tilt / 2) * np.cos(angle), np.sin(tilt / 2) * np.sin(angle), 0.0)
            contacts = contacts_of([HalfSpace(), prism(40)], np.array([pose(0, 0, 0), pose(0, 0, 0.5, e)]), 0.1)
            lowest = -np.sin(tilt) * max(
                np.cos(angle) * np.sin(a) - np.sin(angle) * np.cos(a) for a in -2.0 * np.pi * np.arange(40) / 40
            )
            assert contacts.gap.min() == pytest.approx(0.5 - 0.5 * np.cos(tilt) + lowest, abs=1e-12)


def test_gaps_follow_the_motion() -> None:
    """A corner's gap changes by the corner's own displacement along the normal, whatever the pose."""
    r = np.random.default_rng(5)
    for _ in range(20):
        e, h = random_quaternion(r), 1e-6
        n = np.array([0.0, 0.0, 1.0])
        lower = pose(0, 0, 0)
        x = np.array([0.0, 0.0, 1.0])
        spin = r.normal(size=3)
        small = np.array([1.0, *(0.5 * h * spin)])
        before = contacts_of([HalfSpace(), Box((1.0, 1.2, 1.4))], np.array([lower, [*x, *e]]), 1.0)
        turn = np.array(
            [
                small[0] * e[0] - small[1:] @ e[1:],
                *(small[0] * e[1:] + e[0] * small[1:] + np.cross(small[1:], e[1:])),
            ]
        )
        after = contacts_of(
            [HalfSpace(), Box((1.0, 1.2, 1.4))], np.array([lower, [*x, *(turn / np.linalg.norm(turn))]]), 1.0
        )
        np.testing.assert_array_equal(before.feature, after.feature)
        speed = np.cross(spin, before.point_b - x) @ n
        np.testing.assert_allclose((after.gap - before.gap) / h, speed, rtol=0.0, atol=1e-4)
