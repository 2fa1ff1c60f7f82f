"""Gap and normal of every pair of shapes against their definitions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.model import Contacts
from signorini.scene.shapes import Box, Capsule, ConvexHull, Disc, Polygon, Segment, Shape, Sphere
from tests.unit.geometry.reference import (
    contacts_of,
    off_surface,
    random_quaternion,
    separation_along,
    signed_distance,
    solid,
)

# Distances that differ by 1e-12 of the bodies' size (here up to 5) count as equal in the choice of faces and edges.
EXACT = 1e-11
# A point that much beside a face with cosine 0.01 to the normal, the steepest in use, is off it by a hundred times.
ON_SURFACE = 1e-10

Rng = np.random.Generator
Maker = Callable[[Rng], Shape]


def _random_polygon(r: Rng) -> Polygon:
    angles = np.sort(r.uniform(0.0, 2.0 * np.pi, r.integers(3, 9)) + 1e-3)
    return Polygon(tuple((float(np.cos(a)), 0.7 * float(np.sin(a))) for a in angles))


SPATIAL: dict[str, Maker] = {
    "sphere": lambda r: Sphere(r.uniform(0.2, 1.0)),
    "capsule": lambda r: Capsule(r.uniform(0.2, 0.6), r.uniform(0.2, 2.0)),
    "box": lambda r: Box(tuple(r.uniform(0.3, 1.5, 3))),
    "hull": lambda r: ConvexHull(tuple(map(tuple, 0.6 * r.normal(size=(r.integers(4, 20), 3))))),
}
PLANAR: dict[str, Maker] = {
    "disc": lambda r: Disc(r.uniform(0.2, 1.0)),
    "polygon": _random_polygon,
    "segment": lambda r: Segment(tuple(r.normal(size=2)), tuple(r.normal(size=2)), r.uniform(0.0, 0.3)),
}


def _scaled(shape: Shape, s: float) -> Shape:
    """Return the shape enlarged by `s`."""
    ((_, values),) = shape.to_dict().items()
    return type(shape)(**{name: np.multiply(value, s) for name, value in values.items()})


def _check(shapes: list[Shape], poses: Array, contacts: Contacts, size: float, dimension: int) -> None:
    """Gap is the signed distance; it is reached along the normal; no contact point lies outside its body."""
    a, b = solid(shapes[0], poses[0]), solid(shapes[1], poses[1])
    distance = signed_distance(a, b, dimension)
    c = int(contacts.gap.argmin())
    assert contacts.gap[c] == pytest.approx(distance, rel=0.0, abs=EXACT * size)
    np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, rtol=0.0, atol=1e-15 * 8)
    assert separation_along(contacts.normal[c], a, b) == pytest.approx(distance, rel=0.0, abs=EXACT * size)
    step = contacts.point_b - contacts.point_a - contacts.gap[:, None] * contacts.normal
    assert np.abs(step).max() < EXACT * size
    for p, q in zip(contacts.point_a, contacts.point_b, strict=True):
        assert off_surface(p, a, dimension) < ON_SURFACE * size
        assert off_surface(q, b, dimension) < ON_SURFACE * size


@pytest.mark.parametrize("second", SPATIAL)
@pytest.mark.parametrize("first", SPATIAL)
def test_gap_is_the_signed_distance(first: str, second: str) -> None:
    """Distance apart, least translation when overlapping, for sizes from a millimetre to a kilometre."""
    r = np.random.default_rng([len(first), len(second)])
    overlapping = 0
    for _ in range(60):
        size = 10.0 ** r.uniform(-3.0, 3.0)
        shapes = [_scaled(SPATIAL[first](r), size), _scaled(SPATIAL[second](r), size)]
        poses = np.array([[*r.normal(size=3), *random_quaternion(r)] for _ in range(2)])
        poses[1, :3] = poses[0, :3] + r.uniform(0.0, 1.3) * r.normal(size=3)
        if r.random() < 0.3:  # parallel edges and faces
            poses[1, 3:] = poses[0, 3:]
        poses[:, :3] *= size
        contacts = contacts_of(shapes, poses, 10.0 * size)
        overlapping += int(contacts.gap.min() < 0.0)
        _check(shapes, poses, contacts, size, 3)
    assert 10 < overlapping < 55


@pytest.mark.parametrize("second", PLANAR)
@pytest.mark.parametrize("first", PLANAR)
def test_planar_gap_is_the_signed_distance(first: str, second: str) -> None:
    """The same in the plane, where normals have no third component at all."""
    r = np.random.default_rng([len(first), len(second), 2])
    for _ in range(60):
        size = 10.0 ** r.uniform(-3.0, 3.0)
        shapes = [_scaled(PLANAR[first](r), size), _scaled(PLANAR[second](r), size)]
        poses = np.zeros((2, 7))
        poses[:, :2] = size * r.uniform(0.0, 1.5) * r.normal(size=(2, 2))
        half = r.uniform(-np.pi, np.pi, 2) if r.random() < 0.7 else np.full(2, r.uniform(-np.pi, np.pi))
        poses[:, 3], poses[:, 6] = np.cos(half), np.sin(half)
        contacts = contacts_of(shapes, poses, 10.0 * size)
        if first == second == "segment" and contacts.gap.min() < 0.0:
            continue  # segments that cross span an area, not the volume that the reference measures
        _check(shapes, poses, contacts, size, 2)
        assert (contacts.normal[:, 2] == 0.0).all()
        assert (contacts.point_a[:, 2] == 0.0).all()
        assert contacts.contact_count <= 2


@pytest.mark.parametrize("second", SPATIAL)
@pytest.mark.parametrize("first", ["box", "hull"])
def test_gap_keeps_its_digits_in_touch(first: str, second: str) -> None:
    """Bodies brought within +-1e-3 ... 1e-12 of touching have that gap, and a normal along which it is reached."""
    r = np.random.default_rng([len(first), len(second), 3])
    for k in range(40):
        shapes = [SPATIAL[first](r), SPATIAL[second](r)]
        poses = np.array([[*r.normal(size=3), *random_quaternion(r)] for _ in range(2)])
        poses[1, :3] = poses[0, :3] + 3.0 * r.normal(size=3)
        apart = contacts_of(shapes, poses, 100.0)
        c = int(apart.gap.argmin())
        if apart.gap[c] < 1e-3:
            continue
        gap = (-1.0) ** k * 10.0 ** r.uniform(-12.0, -3.0)
        poses[1, :3] += (gap - apart.gap[c]) * apart.normal[c]
        contacts = contacts_of(shapes, poses, 0.1)
        # Pushed in, a corner may find a shorter way out.
        assert gap - EXACT <= contacts.gap.min() <= max(gap, 0.0) + EXACT
        _check(shapes, poses, contacts, 1.0, 3)


def test_coincident_spheres_part_along_x() -> None:
    """No direction is better than another: the choice is fixed, in the plane too."""
    poses = np.zeros((2, 7))
    poses[:, 3] = 1.0
    for shapes in ([Sphere(1.0), Sphere(0.5)], [Disc(1.0), Disc(0.5)]):
        contacts = contacts_of(shapes, poses, 0.0)
        np.testing.assert_array_equal(contacts.normal, [[1.0, 0.0, 0.0]])
        np.testing.assert_array_equal(contacts.gap, [-1.5])


@pytest.mark.parametrize("shape", [Capsule(0.3, 1.0), Box((1.0, 1.0, 1.0)), Box((0.4, 1.0, 2.0))])
@pytest.mark.parametrize("other", [Sphere(0.5), Capsule(0.3, 1.0), Capsule(0.2, 3.0), Box((1.0, 1.0, 1.0))])
def test_coincident_bodies_give_numbers(shape: Shape, other: Shape) -> None:
    """The deepest overlap of all: same centre, same axes. The depth is still the least translation."""
    poses = np.zeros((2, 7))
    poses[:, 3] = 1.0
    contacts = contacts_of([shape, other], poses, 0.0)
    assert contacts.contact_count > 0
    assert all(np.isfinite(values).all() for values in contacts)
    # All these bodies are symmetric about the origin: they part first along an axis of one of them.
    widths = [np.ptp(one.polytope().vertices, axis=0) / 2.0 + one.rounding for one in (shape, other)]  # type: ignore[union-attr]
    assert contacts.gap.min() == pytest.approx(-(widths[0] + widths[1]).min(), abs=1e-14)
