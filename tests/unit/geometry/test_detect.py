"""Laws of detection that hold for all shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.geometry.detect import detect_arrays
from signorini.model import Contacts
from signorini.scene.shapes import Box, Capsule, ConvexHull, HalfSpace, Shape, Sphere, encode
from tests.unit.geometry.reference import ANY_PAIR, contacts_of, random_quaternion, turned

HULL = ConvexHull(tuple(map(tuple, 0.5 * np.random.default_rng(7).normal(size=(12, 3)))))
SHAPES: list[Shape] = [Sphere(0.4), Capsule(0.2, 0.8), Box((0.8, 0.6, 0.7)), HULL, HalfSpace((1.0, 2.0, 3.0), 0.1)]
PAIRS = [pair for pair in itertools.product(SHAPES, SHAPES) if not all(isinstance(s, HalfSpace) for s in pair)]


def poses_of(r: np.random.Generator, count: int, spread: float = 0.5) -> Array:
    """Return random poses."""
    return np.array([[*(spread * r.normal(size=3)), *random_quaternion(r)] for _ in range(count)])


def ordered(contacts: Contacts) -> tuple[Array, Array, Array, Array]:
    """Return gaps, normals and points in an order that does not depend on names."""
    order = np.lexsort(np.round(contacts.point_a, 6).T)
    return contacts.gap[order], contacts.normal[order], contacts.point_a[order], contacts.point_b[order]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(s.word() for s in pair))
def test_exchanged_bodies_exchange_points(pair: tuple[Shape, Shape]) -> None:
    """detect(b, a) is detect(a, b) with points exchanged and normals reversed."""
    r = np.random.default_rng(11)
    for _ in range(20):
        poses = poses_of(r, 2)
        gap, normal, point_a, point_b = ordered(contacts_of(pair, poses, 0.05))
        back = contacts_of(pair[::-1], poses[::-1].copy(), 0.05)
        swapped = back._replace(point_a=back.point_b, point_b=back.point_a, normal=-back.normal)
        for here, there in zip((gap, normal, point_a, point_b), ordered(swapped), strict=True):
            np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(s.word() for s in pair))
def test_common_motion_carries_contacts_along(pair: tuple[Shape, Shape]) -> None:
    """A rigid motion of both bodies moves points and normals with them and leaves gaps and names alone."""
    r = np.random.default_rng(12)
    for _ in range(20):
        poses = poses_of(r, 2)
        e, x = random_quaternion(r), r.normal(size=3)
        moved = np.empty_like(poses)
        moved[:, :3] = turned(e, poses[:, :3]) + x
        for old, new in zip(poses, moved, strict=True):
            w, u = old[3], old[4:]
            new[3] = e[0] * w - e[1:] @ u
            new[4:] = e[0] * u + w * e[1:] + np.cross(e[1:], u)
        before, after = contacts_of(pair, poses, 0.05), contacts_of(pair, moved, 0.05)
        np.testing.assert_array_equal(before.feature, after.feature)
        np.testing.assert_allclose(before.gap, after.gap, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(turned(e, before.normal), after.normal, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(turned(e, before.point_a) + x, after.point_a, rtol=0.0, atol=1e-11)


def test_half_space_against_every_shape() -> None:
    """The deepest point of a body is that of its support function against the normal."""
    r = np.random.default_rng(13)
    n = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    for shape in SHAPES[:4]:
        polytope = shape.polytope()
        assert polytope is not None
        for _ in range(20):
            poses = poses_of(r, 2)
            poses[0] = [0, 0, 0, 1, 0, 0, 0]
            contacts = contacts_of([SHAPES[4], shape], poses, 5.0)
            depth = ((turned(poses[1, 3:], polytope.vertices) + poses[1, :3]) @ n).min() - shape.rounding - 0.1
            assert contacts.gap.min() == pytest.approx(depth, abs=1e-14)
            np.testing.assert_allclose(contacts.normal, np.tile(n, (contacts.contact_count, 1)), rtol=0.0, atol=1e-15)


def heap(count: int = 150) -> tuple[list[Shape], Array]:
    """Return many bodies close together on a floor."""
    r = np.random.default_rng(14)
    shapes: list[Shape] = [HalfSpace(), *(SHAPES[k % 4] for k in range(count))]
    poses = poses_of(r, count + 1, 1.5)
    poses[0] = [0, 0, 0, 1, 0, 0, 0]
    poses[1:, 2] = np.abs(poses[1:, 2])
    return shapes, poses


def test_rows_are_sorted_unique_and_repeat_bit_for_bit() -> None:
    """Rows ascend in (body a, body b, name), a before b, names are unique, and a second run gives the same bits."""
    shapes, poses = heap()
    first, second = contacts_of(shapes, poses, 0.01, fixed=1), contacts_of(shapes, poses, 0.01, fixed=1)
    assert first.contact_count > 500
    assert (first.body_a < first.body_b).all()
    rows = list(zip(first.body_a, first.body_b, first.feature, strict=True))
    assert rows == sorted(rows)
    assert len(set(first.feature.tolist())) == len(rows)
    for one, other in zip(first, second, strict=True):
        assert one.tobytes() == other.tobytes()
        assert one.flags.c_contiguous


def test_every_pair_within_reach_is_there() -> None:
    """In a heap a pair has the same contacts as when it is alone."""
    shapes, poses = heap(70)
    all_of_them = contacts_of(shapes, poses, 0.01, fixed=1)
    count = 0
    for a, b in itertools.combinations(range(len(shapes)), 2):
        alone = contacts_of([shapes[a], shapes[b]], poses[[a, b]], 0.01)
        mine = (all_of_them.body_a == a) & (all_of_them.body_b == b)
        np.testing.assert_array_equal(all_of_them.gap[mine], alone.gap)
        count += alone.contact_count
    assert count == all_of_them.contact_count


def test_reach_decides() -> None:
    """Contacts appear up to the sum of both reaches, that limit included."""
    poses = np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, 2.5, 1, 0, 0, 0]], dtype=np.float64)
    for first, second, expected in ((0.25, 0.25, 1), (0.5, 0.0, 1), (0.0, 0.5, 1), (0.25, 0.2499, 0)):
        assert contacts_of([Sphere(1.0), Sphere(1.0)], poses, np.array([first, second])).contact_count == expected


def test_excluded_fixed_and_special_pairs() -> None:
    """Fixed bodies do not touch each other, excluded pairs never, other pairs have their own material."""
    poses = np.zeros((4, 7))
    poses[:, 3] = 1.0
    pair = np.array([0 * 4 + 2, 1 * 4 + 3])
    materials = ANY_PAIR._replace(pair=pair, pair_material=np.array([-1, 5]))
    contacts = contacts_of([Sphere(1.0)] * 4, poses, 0.0, fixed=2, materials=materials)
    rows = list(zip(contacts.body_a, contacts.body_b, contacts.material, strict=True))
    assert rows == [(0, 3, 0), (1, 2, 0), (1, 3, 5), (2, 3, 0)]


def test_shapes_of_one_body_do_not_touch() -> None:
    """A body of two overlapping balls meets the floor with both, and itself not at all."""
    placed = [(0, HalfSpace().at()), (1, Sphere(1.0).at((0.5, 0, 0))), (1, Sphere(1.0).at((-0.5, 0, 0)))]
    shapes, hulls = encode(placed, np.zeros((2, 3)))
    q = np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, 1.0, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]])
    contacts = detect_arrays(shapes, hulls, ANY_PAIR, 1, q, np.full(2, 0.01))
    assert contacts.contact_count == 2
    np.testing.assert_allclose(contacts.point_b, [[0, 0.5, 0], [0, -0.5, 0]], rtol=0.0, atol=1e-15)


def test_nothing_gives_an_empty_table() -> None:
    """No shapes, no pairs, no contacts: arrays of length zero with the right shapes."""
    shapes, hulls = encode([], np.zeros((1, 3)))
    q = np.array([[0, 0, 0, 1.0, 0, 0, 0]])
    for contacts in (
        detect_arrays(shapes, hulls, ANY_PAIR, 0, q, np.zeros(1)),
        contacts_of(
            [Box((1.0, 1.0, 1.0)), Sphere(1.0)], np.array([[*x, 1, 0, 0, 0] for x in ((0, 0, 0), (1, 1, 1.5))]), 0.1
        ),
    ):
        assert contacts.contact_count == 0
        assert contacts.normal.shape == contacts.point_a.shape == contacts.point_b.shape == (0, 3)
