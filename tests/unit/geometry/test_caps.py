"""Nearly flat caps of superellipsoids are facets: where their corners are, at what gaps, and what they are called."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.geometry.constants import FACET_DEPTH
from signorini.model import Contacts
from signorini.posing.constants import HALF_BAND
from signorini.scene.shapes import Box, Ellipsoid, HalfSpace, Shape, Superellipsoid
from tests.unit.geometry.reference import contacts_of

A = (0.3, 0.2, 0.1)
EXACT = 1e-11  # [m]: what is asked of closest points, as in test_curved_distance
FLOORS: list[tuple[Shape, float]] = [(HalfSpace(), 0.0), (Box((4.0, 4.0, 1.0)), -0.5)]


def about_y(angle: float) -> Array:
    return np.array([np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0])


def on_floor(floor: tuple[Shape, float], shape: Shape, height: float, e: Array) -> Contacts:
    """Return the contacts of a shape above a floor whose surface is z = 0."""
    poses = np.array([[0, 0, floor[1], 1, 0, 0, 0], [0, 0, height, *e]])
    return contacts_of([floor[0], shape], poses, 1e-3, fixed=1, facets=True)


def half_width(p: float, a: float) -> float:
    """Return where the surface ``|x/a|^p + |z/c|^p = 1`` is `FACET_DEPTH` of its height c below its top."""
    return float(a * (1.0 - (1.0 - FACET_DEPTH) ** p) ** (1.0 / p))


def lowest(p: float, angle: float) -> tuple[Array, float]:
    """Return where the body turned by `angle` about y has its lowest point, in its axes, and how far below its centre.

    There its gradient is along the normal, ``|x_i/a_i|^(p-1)/a_i ~ n_i``.
    """
    n = np.array([np.sin(angle), 0.0, -np.cos(angle)])  # down, in the axes of the body
    u = np.abs(np.array(A) * n) ** (1.0 / (p - 1.0))
    x = np.array(A) * np.sign(n) * u / float((u**p).sum()) ** (1.0 / p)
    return x, float(n @ x)


@pytest.mark.parametrize("floor", FLOORS, ids=["half-space", "box"])
@pytest.mark.parametrize("p", [4.0, 6.0, 8.0, 10.0, 20.0])
@pytest.mark.parametrize("tilt", [0.0, 1e-16, -1e-12])
def test_corners_of_a_cap_stay_where_they_are(floor: tuple[Shape, float], p: float, tilt: float) -> None:
    """By rounding the lowest point goes to a tilt^(1/(p-1)), a tenth of it and more; corners do not move by it."""
    contacts = on_floor(floor, Superellipsoid(A, p), A[2], about_y(tilt))
    expected = [[s * half_width(p, A[0]), t * half_width(p, A[1])] for t in (-1.0, 1.0) for s in (-1.0, 1.0)]
    order = np.lexsort((contacts.point_b[:, 0], contacts.point_b[:, 1]))
    # 1 - (1 - 1e-7)^p knows nine digits of the p-th power.
    np.testing.assert_allclose(contacts.point_b[order, :2], expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=1e-12)


def test_depths_of_two_caps_are_less_than_what_counts_as_touch() -> None:
    """The corners of a facet are at both depths, of either direction."""
    assert 2.0 * FACET_DEPTH < HALF_BAND


@pytest.mark.parametrize("floor", FLOORS, ids=["half-space", "box"])
@pytest.mark.parametrize("shape", [Ellipsoid(A), Superellipsoid(A, 2.0), Superellipsoid(A, 3.0)])
def test_curved_bodies_touch_at_one_point(floor: tuple[Shape, float], shape: Shape) -> None:
    assert on_floor(floor, shape, A[2], about_y(0.0)).contact_count == 1


@pytest.mark.parametrize("floor", FLOORS, ids=["half-space", "box"])
@pytest.mark.parametrize(("angle", "across"), [(1e-5, True), (3e-5, True), (3e-3, False)])
def test_corners_across_are_mirror_images_at_their_gaps(floor: tuple[Shape, float], angle: float, across: bool) -> None:
    """The gap at the image of x is ``2 sin(angle) x``; up to a ten thousandth of the body it is a contact."""
    p = 8.0
    x, height = lowest(p, angle)
    assert abs(x[0]) > half_width(p, A[0])
    contacts = on_floor(floor, Superellipsoid(A, p), height, about_y(angle))
    gap = 2.0 * np.sin(angle) * x[0]
    assert (gap <= 1e-4 * A[2]) == across
    expected = [0.0, 0.0, gap, gap] if across else [0.0, 0.0]
    np.testing.assert_allclose(np.sort(contacts.gap), expected, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("floor", FLOORS, ids=["half-space", "box"])
def test_rolling_on_a_line_keeps_names(floor: tuple[Shape, float]) -> None:
    """All the way over an edge of the body there are two contacts of two names, and their gaps are that of the body."""
    names = None
    for angle in np.linspace(0.1, 1.45, 28):
        _, height = lowest(8.0, angle)
        contacts = on_floor(floor, Superellipsoid(A, 8.0), height, about_y(angle))
        names = contacts.feature.tolist() if names is None else names
        assert len(names) == 2
        assert contacts.feature.tolist() == names
        np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=EXACT)


def test_a_cap_beyond_the_edge_of_a_box_touches_within_it() -> None:
    """Of a facet over the edge of a table, the part above the table is in touch, to the edge."""
    w = half_width(8.0, A[0])
    poses = np.array([[0.0, 0, -0.5, 1, 0, 0, 0], [0.4 * w, 0, A[2], 1, 0, 0, 0]])
    contacts = contacts_of([Box((w, 4.0, 1.0)), Superellipsoid(A, 8.0)], poses, 1e-3, fixed=1, facets=True)
    assert contacts.point_b[:, 0].max() == pytest.approx(0.5 * w, rel=1e-9)
    assert contacts.point_b[:, 0].min() == pytest.approx(-0.5 * w, rel=1e-9)
    np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=1e-12)


def test_cap_on_cap() -> None:
    """Two facets have the corners of the smaller one in common."""
    poses = np.array([[0.0, 0, 0, 1, 0, 0, 0], [0, 0, 2 * A[2], 1, 0, 0, 0]])
    contacts = contacts_of([Superellipsoid(A, 4.0), Superellipsoid(A, 8.0)], poses, 1e-3, facets=True)
    np.testing.assert_allclose(np.abs(contacts.point_b[:, 0]), half_width(4.0, A[0]), rtol=1e-8)
    np.testing.assert_allclose(np.abs(contacts.point_b[:, 1]), half_width(4.0, A[1]), rtol=1e-8)
    np.testing.assert_allclose(contacts.gap, 0.0, rtol=0.0, atol=1e-12)
    assert contacts.contact_count == 4
