"""The broad phase against trying every pair."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.geometry.detect_kernels import contact_rows
from signorini.geometry.tables import family_of, scratch_for, tables_of
from signorini.model import ShapeArrays
from signorini.scene.shapes import Box, Capsule, HalfSpace, PlacedShape, Shape, Sphere, encode
from tests.unit.geometry.reference import ANY_PAIR, random_quaternion, turned


def find(placed: list[tuple[int, PlacedShape]], q: Array, reach: Array, fixed: int) -> tuple[ShapeArrays, list[int]]:
    """Return the shapes and the keys found."""
    shapes, hulls = encode(placed, np.zeros((len(q), 3)))
    tables = tables_of(shapes, hulls, ANY_PAIR, fixed)
    _, scratch = contact_rows(tables, family_of(tables), q, reach, scratch_for(tables, 1))
    i, j = scratch.pairs()
    return shapes, (i * len(placed) + j).tolist()


def by_trying_all(placed: list[tuple[int, PlacedShape]], q: Array, reach: Array, fixed: int) -> set[int]:
    """Return the keys of all pairs whose boxes, from the vertices in the world, overlap when grown by reach."""
    boxes = []
    for body, one in placed:
        polytope = one.shape.polytope()
        assert polytope is not None
        corners = turned(np.array(one.quaternion), polytope.vertices) + one.position
        world = turned(q[body, 3:], corners) + q[body, :3]
        grow = one.shape.rounding + reach[body]
        boxes.append((world.min(axis=0) - grow, world.max(axis=0) + grow))
    keys = set()
    for (i, (a, _)), (j, (b, _)) in itertools.combinations(enumerate(placed), 2):
        overlap = (boxes[i][0] <= boxes[j][1]).all() and (boxes[j][0] <= boxes[i][1]).all()
        if overlap and a != b and (a >= fixed or b >= fixed):
            keys.add(i * len(placed) + j)
    return keys


def crowd(r: np.random.Generator, count: int, spread: float, decades: float) -> list[Shape]:
    """Return shapes whose sizes differ by powers of ten."""
    shapes: list[Shape] = []
    for k in range(count):
        s = spread * 10.0 ** -r.uniform(0.0, decades)
        kinds: tuple[Shape, ...] = (Sphere(s), Box((s, 2 * s, 0.5 * s)), Capsule(0.5 * s, s))
        shapes.append(kinds[k % 3])
    return shapes


@pytest.mark.parametrize(
    ("count", "decades", "parts"),
    [
        (10, 1.0, 1),
        (64, 0.3, 1),
        (65, 0.3, 2),
        (400, 0.3, 1),
        pytest.param(400, 3.0, 2, marks=pytest.mark.compiled_only),
        (400, 6.0, 1),
    ],
)
def test_no_pair_is_missed_or_found_twice(count: int, decades: float, parts: int) -> None:
    """Few and many bodies of one or several shapes, of like and of very different sizes."""
    r = np.random.default_rng([count, int(decades), parts])
    for spread in (1e-3, 1.0, 1e3):
        shapes = crowd(r, count, 0.6 * spread if count < 20 else 0.3 * spread, decades)
        q = np.array([[*(spread * r.uniform(-1.0, 1.0, 3)), *random_quaternion(r)] for _ in range(count)])
        placed = [
            (b, shape.at(tuple(0.2 * spread * r.normal(size=3)), random_quaternion(r)))
            for b, shape in enumerate(shapes)
            for _ in range(parts)
        ]
        reach = 1e-3 * spread * r.uniform(size=count)
        _, found = find(placed, q, reach, 3)
        assert found == sorted(set(found))
        assert set(found) == by_trying_all(placed, q, reach, 3)
        assert len(found) > 0


def test_one_body_among_thousands_finds_its_neighbours() -> None:
    """A row of touching spheres on a long plank: each meets the next, and the plank, with no reach at all."""
    n = 3000
    placed = [(0, Box((2.0 * n, 10.0, 1.0)).at())] + [(b, Sphere(0.5).at()) for b in range(1, n + 1)]
    q = np.zeros((n + 1, 7))
    q[:, 3] = 1.0
    q[1:, 0], q[1:, 2] = np.arange(n), 1.0
    _, found = find(placed, q, np.zeros(n + 1), 1)
    expected = set(range(1, n + 1)) | {b * (n + 1) + b + 1 for b in range(1, n)}
    assert set(found) == expected
    assert len(found) == len(expected)


def test_half_space_finds_what_is_near() -> None:
    """Bodies whose bounding ball, grown by both reaches, meets the half-space, whichever came first."""
    heights = [0.0, 0.99, 1.0, 1.15, 1.25, 2.0, -5.0]
    for last in (False, True):
        shapes: list[Shape] = [Sphere(1.0)] * len(heights)
        shapes.insert(len(heights) if last else 0, HalfSpace((0.0, 0.0, 2.0), 3.0))
        q = np.zeros((len(shapes), 7))
        q[:, 3] = 1.0
        q[:-1, 2] = [3.0 + z for z in heights] if last else [0.0, *(3.0 + z for z in heights[:-1])]
        if not last:
            q[-1, 2] = 3.0 + heights[-1]
        if last:
            q[-1, 2] = 0.0
        n = len(shapes)
        placed = [(b, shape.at()) for b, shape in enumerate(shapes)]
        arrays, found = find(placed, q, np.full(n, 0.1), 0)
        plane = int(np.flatnonzero(arrays.hull < 0)[0])
        partners = {k // n + k % n - plane for k in found if plane in (k // n, k % n)}
        bodies = [b for b in range(n) if b != plane]
        assert partners == {b for b, z in zip(bodies, heights, strict=True) if z <= 1.2}


def test_lost_bodies_touch_nothing() -> None:
    """Poses that have left the numbers, or the range of cells, give no pairs with others and no error."""
    q = np.zeros((70, 7))
    q[:, 3] = 1.0
    q[:, 0] = 10.0 * np.arange(70)
    q[0], q[1, 0], q[2, 0], q[3, 0] = np.nan, np.inf, 1e300, -1e300
    placed = [(b, Sphere(1.0).at()) for b in range(70)]
    with np.errstate(all="ignore"):  # uncompiled kernels warn
        _, found = find(placed, q, np.zeros(70), 0)
    assert found == []
