"""Spheres on every part of cylinders and cones, by distances that can be read off."""

from __future__ import annotations

import numpy as np
import pytest

from signorini.geometry.rows import FEATURE_BITS
from signorini.scene.shapes import Cone, Cylinder, Shape, Sphere
from tests.unit.geometry.reference import contacts_of, random_quaternion, turned

R = 0.25
CYLINDER = Cylinder(0.5, 2.0)
CONE = Cone(3.0, 4.0)
"""The normal of its side is (0.8, 0.6); base at z = -1, apex at z = 3."""

# Shape, centre of the sphere (r, z), distance of the centre from the surface, normal (r, z) there, name of the part.
PARTS = [
    (CYLINDER, (0.8, 0.3), 0.3, (1.0, 0.0), 3),
    (CYLINDER, (0.4, 0.3), -0.1, (1.0, 0.0), 3),
    (CYLINDER, (0.2, 1.3), 0.3, (0.0, 1.0), 0),
    (CYLINDER, (0.2, -0.9), -0.1, (0.0, -1.0), 0),
    (CYLINDER, (0.8, 1.4), 0.5, (0.6, 0.8), 1),
    (CYLINDER, (0.9, -1.3), 0.5, (0.8, -0.6), 2),
    (CONE, (1.9, 1.3), 0.5, (0.8, 0.6), 3),
    (CONE, (1.34, 0.88), -0.2, (0.8, 0.6), 3),
    (CONE, (1.0, -1.25), 0.25, (0.0, -1.0), 0),
    (CONE, (0.5, -0.9), -0.1, (0.0, -1.0), 0),
    (CONE, (3.3, -1.4), 0.5, (0.6, -0.8), 2),
    (CONE, (3.48, -0.86), 0.5, (0.96, 0.28), 2),
    (CONE, (0.3, 3.4), 0.5, (0.6, 0.8), 1),
    (CONE, (0.0, 3.5), 0.5, (0.0, 1.0), 1),
]


@pytest.mark.parametrize(("shape", "centre", "distance", "normal", "name"), PARTS)
@pytest.mark.parametrize("sphere_last", [True, False])
def test_sphere_on_a_part(
    shape: Shape,
    centre: tuple[float, float],
    distance: float,
    normal: tuple[float, float],
    name: int,
    sphere_last: bool,
) -> None:
    """Gap, normal, points and name, in any pose."""
    r = np.random.default_rng(int(100 * centre[0]))
    for angle in r.uniform(0.0, 2.0 * np.pi, 3):
        out, e = np.array([np.cos(angle), np.sin(angle), 0.0]), random_quaternion(r)
        up, place = np.array([0.0, 0.0, 1.0]), r.normal(size=3)
        x, n = turned(e, np.array([centre[0] * out + centre[1] * up, normal[0] * out + normal[1] * up]))
        q = np.array([[*place, *e], [*(place + x), *random_quaternion(r)]])
        shapes = [shape, Sphere(R)]
        contacts = contacts_of(shapes, q, 10.0) if sphere_last else contacts_of(shapes[::-1], q[::-1].copy(), 10.0)
        assert contacts.contact_count == 1
        on_shape, on_sphere = contacts.point_a[0], contacts.point_b[0]
        sign, names = 1.0, (name, 1)
        if not sphere_last:
            on_shape, on_sphere, sign, names = on_sphere, on_shape, -1.0, (1, name)
        assert contacts.gap[0] == pytest.approx(distance - R, abs=1e-14)
        np.testing.assert_allclose(sign * contacts.normal[0], n, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(on_shape, place + x - distance * n, rtol=0.0, atol=1e-14)
        np.testing.assert_allclose(on_sphere, place + x - R * n, rtol=0.0, atol=1e-14)
        feature = int(contacts.feature[0])
        low = (1 << FEATURE_BITS) - 1
        assert ((feature >> FEATURE_BITS) & low, feature & low) == names


@pytest.mark.parametrize(("shape", "z", "distance"), [(CYLINDER, 0.1, -0.5), (CONE, 1.0, -1.2), (CONE, 3.0, 0.0)])
def test_sphere_on_the_axis(shape: Shape, z: float, distance: float) -> None:
    """All directions across the axis are as good; at the apex itself the normal is one of the side."""
    contacts = contacts_of([shape, Sphere(R)], np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, z, 1, 0, 0, 0]]), 1.0)
    assert contacts.gap[0] == pytest.approx(distance - R, abs=1e-14)
    n = contacts.normal[0]
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-14)
    assert n[2] == pytest.approx(0.0 if shape is CYLINDER else 0.6, abs=1e-14)
    np.testing.assert_allclose(contacts.point_b[0] - contacts.point_a[0], contacts.gap[0] * n, rtol=0.0, atol=1e-14)
