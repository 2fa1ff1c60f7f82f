"""Shapes by functions: closest points against known values, against other kinds, and in overlap."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.geometry import detect
from signorini.geometry.implicit_pairs import shape_set
from signorini.model import Contacts
from signorini.scene import PlacedShape, Shape, compile_scene
from tests.unit.geometry.reference import random_quaternion

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def quadric(*axes: float, derivatives: bool = False) -> sg.Implicit:
    """Return an ellipsoid by its function."""
    a = np.array(axes)
    if not derivatives:
        return sg.Implicit(lambda x: ((x / a) ** 2).sum() - 1.0, bounds=(-1.1 * a, 1.1 * a))
    return sg.Implicit(
        lambda x: ((x / a) ** 2).sum() - 1.0,
        gradient=lambda x: 2.0 * x / a**2,
        hessian=lambda x: np.diag(2.0 / a**2),
        bounds=(-1.1 * a, 1.1 * a),
    )


def contacts(a: Shape | PlacedShape, b: Shape | PlacedShape, pose: Array, reach: float = 10.0) -> Contacts:
    """Detect the contacts of a fixed shape at the origin and a body at a pose."""
    scene = sg.Scene()
    scene.add_fixed(a)
    scene.add_body(b, mass=1.0, inertia=(1, 1, 1), mass_centre=(0, 0, 0), position=pose[:3], orientation=pose[3:])
    model = compile_scene(scene)
    return detect(model, model.initial_state, np.full(2, 0.5 * reach))


def about(angle: float, axis: tuple[float, float, float]) -> Array:
    """Return the quaternion of a turn [degrees]."""
    half = 0.5 * np.deg2rad(angle)
    return np.append(np.cos(half), np.sin(half) * np.array(axis) / np.linalg.norm(axis))


LENS = sg.Intersection(sg.Sphere(1.0).at((0.6, 0, 0)), sg.Sphere(1.0).at((-0.6, 0, 0)))
SECOND = np.array([2.0, 1.0, 0.5, *about(40.0, (1, 1, 0))])
KNOWN = {
    "ellipsoids": (quadric(1.0, 0.5, 0.3), quadric(0.8, 0.4, 0.6), SECOND, 0.88066976988393),
    "derivatives given": (quadric(1.0, 0.5, 0.3, derivatives=True), quadric(0.8, 0.4, 0.6), SECOND, 0.88066976988393),
    "superellipsoid": (
        sg.Implicit(lambda x: x[0] ** 4 + (x[1] / 0.5) ** 4 + (x[2] / 0.5) ** 4 - 1.0, bounds=1.1),
        quadric(0.8, 0.4, 0.6),
        SECOND,
        0.69085750807631,
    ),
    "lens and ball": (LENS, sg.Sphere(0.5), np.array([0, 0, 2.0, *UPRIGHT]), 0.7),
    "corner and ball": (
        sg.Intersection(sg.Box((2.0, 1.0, 0.5))),
        sg.Sphere(0.3),
        np.array([1.5, 1.0, 0.75, *UPRIGHT]),
        0.56602540378,
    ),
    "overlapping balls": (quadric(1, 1, 1), quadric(1, 1, 1), np.array([1.9, 0, 0, *UPRIGHT]), -0.1),
    "touching balls": (quadric(1, 1, 1), quadric(1, 1, 1), np.array([2.0, 0, 0, *UPRIGHT]), 0.0),
    "coincident balls": (quadric(1, 1, 1), sg.Sphere(0.5), np.array([0.0, 0, 0, *UPRIGHT]), -1.5),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_distances(name: str) -> None:
    """Component checks of S3 spec 9.4, printed with 11 to 14 digits."""
    a, b, pose, distance = KNOWN[name]
    found = contacts(a, b, pose)
    assert found.contact_count == 1
    assert found.gap[0] == pytest.approx(distance, abs=6e-12 if name == "corner and ball" else 2e-13)
    step = found.point_b - found.point_a - found.gap[:, None] * found.normal
    assert np.abs(step).max() < 1e-12
    if name == "ellipsoids":  # printed from the second to the first body
        np.testing.assert_allclose(found.normal[0], [0.61401619, 0.65435372, 0.44136756], rtol=0.0, atol=5e-9)
    if name == "touching balls":
        np.testing.assert_allclose(found.normal[0], [1.0, 0.0, 0.0], rtol=0.0, atol=1e-12)


SOLID = {
    "sphere": sg.Sphere(0.4),
    "capsule": sg.Capsule(0.2, 0.8),
    "box": sg.Box((0.8, 0.6, 0.7)),
    "cylinder": sg.Cylinder(0.3, 0.8),
    "cone": sg.Cone(0.4, 0.9),
    "ellipsoid": sg.Ellipsoid((0.5, 0.3, 0.2)),
    "superellipsoid": sg.Superellipsoid((0.5, 0.3, 0.2), 4.0),
}


@pytest.mark.parametrize("kind", SOLID)
def test_every_shape_meets_one_by_functions(kind: str) -> None:
    """Common normal, points on both surfaces and within both supporting planes: S3 spec 4.1 proves such a gap right."""
    r = np.random.default_rng(5)
    a, b = quadric(0.6, 0.4, 0.3), SOLID[kind]
    for distance in (1.5, 0.75, 0.6):
        u = r.normal(size=3)
        pose = np.array([*(distance * u / np.linalg.norm(u)), *random_quaternion(r)])
        found = contacts(a, b, pose)
        assert found.contact_count == 1
        A, B = a.inequalities(), b.at(pose[:3], pose[3:])
        set_b = sg.Intersection(B).inequalities()
        assert abs(A.values(found.point_a[0]).max()) < 1e-9
        assert abs(set_b.values(found.point_b[0]).max()) < 1e-9
        np.testing.assert_allclose(
            found.point_b[0] - found.point_a[0], found.gap[0] * found.normal[0], rtol=0.0, atol=1e-11
        )
        for solid, n, top in ((A, found.normal[0], found.point_a[0]), (set_b, -found.normal[0], found.point_b[0])):
            cloud = top + r.uniform(-1.2, 1.2, (4000, 3))
            inside = cloud[(solid.values(cloud) <= 0.0).all(axis=1)]
            assert len(inside) > 5
            assert ((inside - top) @ n).max() < 1e-9


def test_deep_overlap_takes_the_shortest_way_out() -> None:
    """A plate inside a ball leaves through the nearest side of the ball, across its thickness."""
    plate = sg.Intersection(sg.Box((1.0, 1.0, 0.1)))
    found = contacts(quadric(2.0, 2.0, 2.0), plate, np.array([0.0, 0.0, 0.5, *UPRIGHT]))
    # Along z it must rise until its lower face touches the pole: 2 - 0.5 + 0.05.
    assert found.gap[0] == pytest.approx(-1.55, abs=1e-9)
    np.testing.assert_allclose(np.abs(found.normal[0]), [0.0, 0.0, 1.0], rtol=0.0, atol=1e-6)


def test_needles_leave_sideways() -> None:
    """Two needles in line, (1, 0.2, 0.2), 0.9 apart, leave across their axis though their centres lie along it.

    The difference of both is the ellipsoid (2, 0.4, 0.4). Its surface is nearest at x = 0.9/(1 - 0.04) along the axis.
    """
    x = 0.9 / 0.96
    depth = np.sqrt((x - 0.9) ** 2 + 0.16 * (1.0 - 0.25 * x**2))
    found = contacts(quadric(1.0, 0.2, 0.2), quadric(1.0, 0.2, 0.2), np.array([0.9, 0.0, 0.0, *UPRIGHT]))
    assert found.gap[0] == pytest.approx(-depth, abs=1e-10)


def test_flat_face_rests_on_its_rim() -> None:
    """A ball cut by two planes stands on eight points of the circle in which they cut it."""
    drum = sg.Intersection(sg.Sphere(0.5), sg.HalfSpace((0, 0, 1), 0.3), sg.HalfSpace((0, 0, -1), 0.3))
    found = contacts(sg.HalfSpace(), drum, np.array([1.0, 2.0, 0.301, *UPRIGHT]))
    assert found.contact_count == 8
    np.testing.assert_allclose(found.gap, 0.001, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(np.hypot(*(found.point_b[:, :2] - [1.0, 2.0]).T), 0.4, rtol=0.0, atol=1e-7)
    np.testing.assert_array_equal(found.normal, np.tile([0.0, 0.0, 1.0], (8, 1)))


def test_half_space_meets_the_lowest_point() -> None:
    """Ellipsoid over a plane: gap = height - sqrt(n^T R A^2 R^T n), whichever body the plane belongs to."""
    e = about(50.0, (1, 2, 0))
    found = contacts(sg.HalfSpace((0, 0, 1), 0.1), quadric(0.5, 0.3, 0.2), np.array([0.3, -0.2, 0.6, *e]))
    model_normal = np.array(sg.HalfSpace().normal)
    w, u = e[0], -e[1:]
    local = model_normal + 2.0 * np.cross(u, np.cross(u, model_normal) + w * model_normal)
    assert found.gap[0] == pytest.approx(0.5 - np.linalg.norm(np.array([0.5, 0.3, 0.2]) * local), abs=1e-13)


def test_reach_decides_what_is_a_contact() -> None:
    """Pairs further apart than both reaches make none."""
    pose = np.array([2.5, 0.0, 0.0, *UPRIGHT])
    assert contacts(quadric(1, 1, 1), sg.Sphere(1.0), pose, 0.49).contact_count == 0
    assert contacts(quadric(1, 1, 1), sg.Sphere(1.0), pose, 0.51).contact_count == 1


def test_sets_tell_their_derivatives() -> None:
    """Gradients and Hessians of all kinds are those of the values, by central differences."""
    scene = sg.Scene()
    for k, shape in enumerate([*SOLID.values(), LENS, quadric(0.5, 0.3, 0.2)]):
        scene.add_body(shape, mass=1.0, inertia=(1, 1, 1), mass_centre=(0, 0, 0), position=(10.0 * k, 0, 0))
    model = compile_scene(scene)
    r = np.random.default_rng(3)
    for s in range(model.shapes.kind.size):
        solid = shape_set(model.shapes, model.hulls, model.implicit, s)
        w = r.uniform(0.5, 1.0, solid.count)
        for x, k in itertools.product(r.uniform(0.1, 0.6, (3, 3)), range(3)):
            d = 1e-5 * np.eye(3)[k]
            slope = (solid.values(x + d) - solid.values(x - d)) / 2e-5
            np.testing.assert_allclose(solid.gradients(x)[:, k], slope, rtol=0.0, atol=1e-8)
            bend = (w @ solid.gradients(x + d) - w @ solid.gradients(x - d)) / 2e-5
            np.testing.assert_allclose(solid.hessian(x, w)[k], bend, rtol=0.0, atol=1e-6)
