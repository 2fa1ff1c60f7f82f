"""Detection as one kernel call: its memory, its families, and that these agree."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array, IntArray
from signorini.geometry.detect_kernels import KERNELS, contact_rows
from signorini.geometry.tables import BOX, PAIRS, Family, Tables, family_of, scratch_for, tables_of
from signorini.scene.shapes import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    HalfSpace,
    PlacedShape,
    Polygon,
    Shape,
    Sphere,
    encode,
)
from tests.unit.geometry.reference import ANY_PAIR, random_quaternion

CUBE = ConvexHull(tuple((x, y, z) for z in (-0.5, 0.5) for y in (-0.5, 0.5) for x in (-0.5, 0.5)))


def tables(shapes: list[Shape], fixed: int = 0) -> Tables:
    """Return the tables of bodies of one shape each."""
    placed: list[tuple[int, PlacedShape]] = [(b, shape.at()) for b, shape in enumerate(shapes)]
    return tables_of(*encode(placed, np.zeros((len(shapes), 3))), ANY_PAIR, fixed)


def poses(count: int, spread: float) -> Array:
    """Return random poses."""
    r = np.random.default_rng(count)
    return np.array([[*(spread * r.normal(size=3)), *random_quaternion(r)] for _ in range(count)])


def rows(scene: Tables, family: Family, q: Array, capacity: int) -> tuple[Array, IntArray]:
    """Return the contacts of a scene by the kernel of a family."""
    count, scratch = contact_rows(scene, family, q, np.full(len(q), 0.05), scratch_for(scene, capacity))
    return scratch.value[:count], scratch.number[:count]


@pytest.mark.parametrize("count", [40, 150])
def test_families_agree_on_what_they_have_in_common(count: int) -> None:
    """Spheres and capsules on a half-space: the three kernels give the same bits."""
    shapes: list[Shape] = [HalfSpace(), *(Sphere(0.4) if k % 2 else Capsule(0.2, 0.7) for k in range(count))]
    scene, q = tables(shapes, 1), poses(count + 1, 1.0)
    assert family_of(scene) == Family.SIMPLE
    value, number = rows(scene, Family.SIMPLE, q, 10_000)
    assert len(value) > count
    for family in (Family.POLYTOPES, Family.CURVED):
        other, others = rows(scene, family, q, 10_000)
        np.testing.assert_array_equal(value, other)
        np.testing.assert_array_equal(number, others)


def test_memory_that_is_too_small_grows() -> None:
    """A kernel without room for pairs or contacts says how much it needs, and the result is that of ample memory."""
    shapes: list[Shape] = [Box((1.0, 1.0, 1.0))] * 30
    scene, q = tables(shapes), poses(30, 0.3)
    small = scratch_for(scene, 1)
    world, cells, work, mark, value, number = small
    found = KERNELS[Family.POLYTOPES](*scene, q, np.full(30, 0.05), world, cells, work, mark, value, number)
    assert found < 0
    ample = scratch_for(scene, 10_000)
    count, ample = contact_rows(scene, Family.POLYTOPES, q, np.full(30, 0.05), ample)
    assert -found == ample.cells[PAIRS] > len(value)  # the boxes of nearly all overlap
    grown, others = rows(scene, Family.POLYTOPES, q, 1)
    np.testing.assert_array_equal(grown, ample.value[:count])
    np.testing.assert_array_equal(others, ample.number[:count])


@pytest.mark.parametrize(
    ("shapes", "fixed", "family"),
    [
        ([HalfSpace(), Sphere(1.0), Capsule(1.0, 1.0)], 1, Family.SIMPLE),
        ([HalfSpace(), Box((1.0, 1.0, 1.0))], 1, Family.SIMPLE),
        ([HalfSpace(), CUBE, CUBE], 3, Family.SIMPLE),
        ([HalfSpace(), CUBE, Sphere(1.0)], 2, Family.POLYTOPES),
        ([HalfSpace(), CUBE, Sphere(1.0)], 1, Family.POLYTOPES),
        ([Polygon([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])] * 2, 0, Family.POLYTOPES),
        ([HalfSpace(), Cylinder(1.0, 1.0)], 1, Family.CURVED),
    ],
)
def test_family(shapes: list[Shape], fixed: int, family: Family) -> None:
    """A scene belongs to the family of the hardest pair that it can have."""
    assert family_of(tables(shapes, fixed)) == family


def test_box_and_hull_of_its_corners_are_the_same_solid() -> None:
    """Closed forms for boxes against the search over features: the same gaps, normals and points."""
    r = np.random.default_rng(3)
    assert tables([Box((1.0, 1.0, 1.0)), CUBE]).label[:, BOX].tolist() == [1, 0]
    for other in (Box((0.7, 0.9, 1.1)), Sphere(0.4)):
        for _ in range(100):
            q = np.array([[0, 0, 0, *random_quaternion(r)], [*(0.6 * r.normal(size=3)), *random_quaternion(r)]])
            order = []
            for cube in (Box((1.0, 1.0, 1.0)), CUBE):
                value, _ = rows(tables([cube, other]), Family.POLYTOPES, q, 10)
                order.append(value[np.lexsort(np.round(value[:, :3], 6).T)])
            np.testing.assert_allclose(order[0], order[1], rtol=0.0, atol=1e-12)
