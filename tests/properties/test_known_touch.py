"""Closest points that are known because the pair was built around them, on every combination of features.

A point on a feature of one solid and a normal from its normal cone, the same of another solid, turned until the normals
oppose each other: placed at a distance along them, these are the closest points of both solids. Placed to overlap they
remain so if the features leave no direction of the normal free.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from benchmarks.distance_judge import Rng, detected, matrix_of, outside, separation
from scipy.optimize import minimize

import signorini as sg
from signorini._arrays import Array
from signorini.math.rotation import multiply
from signorini.scene import Shape

pytestmark = pytest.mark.compiled_only
_TOLERANCE = 1e-9
_TRIALS = 12


class Place(NamedTuple):
    """A point on a solid in its own frame, a unit vector from the normal cone there, and the feature's dimension."""

    shape: Shape
    point: Array
    normal: Array
    dimension: int


def _near(r: Rng) -> float:
    """Return a part of 1 that often is very small."""
    return float(10.0 ** r.uniform(-9.0, 0.0) * 0.9) if r.random() < 0.5 else float(r.uniform(0.1, 0.9))


def _inside(r: Rng) -> float:
    """Return a part of 1 well between its ends."""
    return float(r.uniform(0.2, 0.8))


def _box(r: Rng, free: int) -> Place:
    """Return a vertex, a point on an edge or on a face, if `free` coordinates are."""
    half = r.uniform(0.2, 0.7, 3)
    sign = r.choice([-1.0, 1.0], 3)
    order = r.permutation(3)
    x, m = sign * half, sign * r.uniform(0.1, 1.0, 3)
    m[order[:free]] = 0.0
    for k in order[:free]:
        x[k] *= 2.0 * _inside(r) - 1.0
    return Place(sg.Box(2.0 * half), x, m / np.linalg.norm(m), free)


def _cylinder(r: Rng, feature: str) -> Place:
    radius, half = r.uniform(0.2, 0.8), r.uniform(0.15, 0.7)
    angle, up = r.uniform(0.0, 2.0 * np.pi), r.choice([-1.0, 1.0])
    out = np.array([np.cos(angle), np.sin(angle), 0.0])
    top = np.array([0.0, 0.0, up])
    shape = sg.Cylinder(radius, 2.0 * half)
    if feature == "wall":
        return Place(shape, radius * out + half * (2.0 * _inside(r) - 1.0) * top, out, 2)
    if feature == "cap":
        return Place(shape, radius * _inside(r) * out + half * top, top, 2)
    turn = 0.5 * np.pi * _near(r)
    m = np.cos(turn) * top + np.sin(turn) * out if r.random() < 0.5 else np.cos(turn) * out + np.sin(turn) * top
    return Place(shape, radius * out + half * top, m, 1)


def _cone(r: Rng, feature: str) -> Place:
    radius, height = r.uniform(0.2, 0.8), r.uniform(0.3, 1.5)
    angle = r.uniform(0.0, 2.0 * np.pi)
    out, up = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([0.0, 0.0, 1.0])
    slant = np.hypot(radius, height)
    m = (height * out + radius * up) / slant
    rim, apex = radius * out - 0.25 * height * up, 0.75 * height * up
    shape = sg.Cone(radius, height)
    if feature == "wall":
        return Place(shape, apex + _inside(r) * (rim - apex), m, 2)
    if feature == "wall near the apex":
        return Place(shape, apex + _near(r) * (rim - apex), m, 0)
    if feature == "base":
        return Place(shape, radius * _inside(r) * out - 0.25 * height * up, -up, 2)
    if feature == "apex":
        part = _near(r)
        n = (1.0 - part) * m + part * up
        return Place(shape, apex, n / np.linalg.norm(n), 0)
    part = _near(r)
    n = (1.0 - part) * m - part * up if r.random() < 0.5 else part * m - (1.0 - part) * up
    return Place(shape, rim, n / np.linalg.norm(n), 1)


def _ellipsoid(r: Rng) -> Place:
    semi_axes = r.uniform(0.3, 0.8, 3)
    m = r.normal(size=3)
    m /= np.linalg.norm(m)
    return Place(sg.Ellipsoid(semi_axes), semi_axes**2 * m / np.linalg.norm(semi_axes * m), m, 2)


def _capsule(r: Rng) -> Place:
    radius, half, angle = r.uniform(0.2, 0.6), r.uniform(0.2, 1.0), r.uniform(0.0, 2.0 * np.pi)
    m = np.array([np.cos(angle), np.sin(angle), 0.0])
    return Place(sg.Capsule(radius, 2.0 * half), radius * m + half * np.array([0.0, 0.0, 2.0 * _inside(r) - 1.0]), m, 2)


def _sphere(r: Rng) -> Place:
    m, radius = r.normal(size=3), r.uniform(0.2, 0.8)
    m /= np.linalg.norm(m)
    return Place(sg.Sphere(radius), radius * m, m, 2)


PLACES: dict[str, Callable[[Rng], Place]] = {
    "vertex": lambda r: _box(r, 0),
    "edge": lambda r: _box(r, 1),
    "face": lambda r: _box(r, 2),
    "rim": lambda r: _cylinder(r, "rim"),
    "wall": lambda r: _cylinder(r, "wall"),
    "cap": lambda r: _cylinder(r, "cap"),
    "apex": lambda r: _cone(r, "apex"),
    "cone rim": lambda r: _cone(r, "rim"),
    "cone wall": lambda r: _cone(r, "wall"),
    "cone wall near the apex": lambda r: _cone(r, "wall near the apex"),
    "base": lambda r: _cone(r, "base"),
    "ellipsoid": _ellipsoid,
    "capsule": _capsule,
    "sphere": _sphere,
}


def _opposite(a: Array, b: Array, r: Rng) -> Array:
    """Return a quaternion that turns the unit vector `b` into ``-a``, with any spin about it."""
    axis = np.cross(b, -a)
    half = 0.5 * np.arctan2(np.linalg.norm(axis), float(b @ -a))
    axis = axis / np.linalg.norm(axis)
    spin = r.uniform(0.0, np.pi)
    w, v = np.cos(half), np.sin(half) * axis
    c, s = np.cos(spin), np.sin(spin) * a
    e = np.array([c * w - s @ v, *(c * v + w * s + np.cross(s, v))])
    return np.asarray(e / np.linalg.norm(e))


def _brought(a: Place, b: Place, gap: float, r: Rng) -> Array:
    """Return poses (2, 7) at which the points of both places lie opposite each other with the given gap."""
    e = r.normal(size=4)
    poses = np.zeros((2, 7))
    poses[0, 3:] = e / np.linalg.norm(e)
    R = matrix_of(poses[0])
    n = R @ a.normal
    poses[1, 3:] = _opposite(n, b.normal, r)
    poses[1, :3] = R @ a.point + gap * n - matrix_of(poses[1]) @ b.point
    return poses


@pytest.mark.parametrize("first", PLACES)
def test_distance_between_known_points(first: str) -> None:
    """Gap, normal and points of solids apart by 1e-12 ... 1 m, and overlapping by 1e-9 ... 1e-4 m."""
    r = np.random.default_rng(len(first))
    pairs, poses, gaps = [], [], []
    for second, place in PLACES.items():
        for trial in range(_TRIALS):
            a, b = PLACES[first](r), place(r)
            gap = float(10.0 ** r.uniform(-12.0, 0.0))
            # A rim whose normal is almost that of its cap has a shorter way out along the cap's.
            if a.dimension + b.dimension >= 2 and "rim" not in first + second and trial % 2:
                gap = -float(10.0 ** r.uniform(-9.0, -4.0))
            pairs.append((a.shape, b.shape))
            poses.append(_brought(a, b, gap, r))
            gaps.append(gap)
    found = detected(pairs, np.array(poses))
    for (a_shape, b_shape), q, gap, contacts in zip(pairs, poses, gaps, found, strict=True):
        assert contacts.contact_count > 0
        c = int(contacts.gap.argmin())
        n, p_a, p_b = contacts.normal[c], contacts.point_a[c], contacts.point_b[c]
        assert contacts.gap[c] == pytest.approx(gap, rel=0.0, abs=_TOLERANCE), (a_shape, b_shape)
        assert np.abs(p_b - p_a - contacts.gap[c] * n).max() < _TOLERANCE
        assert max(outside(a_shape, q[0], p_a), outside(b_shape, q[1], p_b)) < _TOLERANCE
        assert separation(a_shape, q[0], b_shape, q[1], n) == pytest.approx(contacts.gap[c], rel=0.0, abs=_TOLERANCE)


def test_apex_next_to_a_far_vertex() -> None:
    """An apex 24 um off one end of a long edge: not the other end, nor a point beyond the end, is closest to it."""
    box = sg.Box((1.3484955890550128, 0.5110288520383687, 1.2583597129624908))
    cone = sg.Cone(0.3965259062631732, 0.548573561015123)
    q = np.zeros((2, 7))
    q[0, 3:] = 0.3861696380452956, 0.8388643309247141, -0.3195303808085573, -0.21232046697041596
    q[1, :3] = 0.3863237499189236, -0.3533972026175811, -0.8401036466611691
    q[1, 3:] = -0.3553408150510688, -0.44148280389741446, -0.2911675105171399, 0.7707446528137386
    r = np.random.default_rng(4)
    apex = q[1, :3] + matrix_of(q[1]) @ (0.0, 0.0, 0.75 * cone.height)
    corners = 0.5 * np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * box.size @ matrix_of(q[0]).T
    distance = float(np.linalg.norm(corners - apex, axis=1).min())
    poses = np.array([q] + [_turned(q, r) for _ in range(20)])
    for pose, contacts in zip(poses, detected([(box, cone)] * len(poses), poses), strict=True):
        c = int(contacts.gap.argmin())
        assert contacts.gap[c] == pytest.approx(distance, rel=0.0, abs=1e-13)
        assert outside(box, pose[0], contacts.point_a[c]) < _TOLERANCE


def _way_out(a: Shape, b: Shape, q: Array, n: Array) -> float:
    """Return the largest separation that SLSQP finds from a direction on."""

    def length(u: Array) -> float:
        return -separation(a, q[0], b, q[1], u / np.linalg.norm(u))

    return -float(minimize(length, n, method="SLSQP", options={"ftol": 1e-15}).fun)


class Overlap(NamedTuple):
    """A pair with several ways out of almost the same length, and the direction of one of them."""

    first: Shape
    second: Shape
    turn_first: tuple[float, ...]
    position: tuple[float, ...]
    turn_second: tuple[float, ...]
    direction: tuple[float, ...]


OVERLAPS = (
    Overlap(  # a corner of the box is 0.3 um inside, between three edges
        sg.Box((1.301310709242254, 0.683925279229842, 1.1966619949660326)),
        sg.Cylinder(0.5729169321837961, 1.80255248474478),
        (0.0009324545901875196, 0.2943537732686204, 0.7131467994458539, -0.6362205821341351),
        (-0.6114977289202222, 1.621107501348399, -0.9946817383291695),
        (-0.3995020164161194, -0.10776951549312137, 0.32675330348056314, -0.849715334141012),
        (0.0779303877156671, 0.6414028623678918, -0.7632360203873773),
    ),
    Overlap(
        sg.Box((1.4394253783822615, 1.4739887634559963, 0.9708838319367676)),
        sg.Cone(0.778031913649267, 1.8109955314158448),
        (0.31445885743213187, -0.42425703869185644, -0.8058484892443166, -0.2678242044430401),
        (0.3234791487106145, 1.5854215287648201, 1.5801659314450456),
        (-0.13777512307080533, -0.4501137882243309, 0.870408722955449, -0.14423677795982243),
        (0.8522131731236433, 0.4965523217542046, 0.1648286968796395),
    ),
    Overlap(  # an apex is inside a rim
        sg.Cone(0.290098622703874, 1.351402305141577),
        sg.Cone(0.5041569105761889, 1.9882689113182705),
        (0.8763169108557739, -0.0228039096977214, 0.4535908324205793, 0.1606362667478861),
        (0.207365994505801, 0.6802112851096098, -1.6820033665276037),
        (-0.9414380598264389, -0.27821718612656526, 0.05223364412873434, 0.18319722507472494),
        (-0.7845654378221992, -0.18586087196676546, -0.591534284760076),
    ),
    Overlap(
        sg.Cylinder(0.3709490590100655, 0.9424244804331423),
        sg.Cone(0.234519857134334, 0.7931725141089416),
        (0.3720140032459932, 0.8841000068812146, 0.17685047401243675, 0.220673217820158),
        (-0.3885332217564179, 0.4749689312157521, -0.5777913549784808),
        (0.3072738536411992, 0.06492205956307212, 0.04430315497481872, -0.9483697251124443),
        (-0.7388563420919546, 0.611997136168357, -0.28204753335603905),
    ),
    Overlap(  # almost concentric
        sg.Ellipsoid((0.8111438039255361, 0.6539915031087715, 0.8463111108347499)),
        sg.Ellipsoid((0.5442972170920772, 0.3861502930312981, 0.7063082189570158)),
        (0.7078379355860487, -0.40721761616093305, -0.4237019636118309, 0.3919386636515545),
        (9.574400174089883e-07, 1.0071562938494504e-06, 3.142985997055452e-07),
        (0.3694098562086812, 0.628093694812961, -0.3132550719695056, 0.6090204664520433),
        (0.784449, 0.576558, -0.228519),
    ),
)


@pytest.mark.parametrize("overlap", OVERLAPS, ids=lambda o: f"{o.first.word()} {o.second.word()}")
def test_no_shorter_way_out(overlap: Overlap) -> None:
    """The depth is at most what SLSQP finds along and around a known way out, however the pair is turned as a whole."""
    r = np.random.default_rng(3)
    a, b = overlap.first, overlap.second
    q = np.array([(0.0, 0.0, 0.0, *overlap.turn_first), (*overlap.position, *overlap.turn_second)])
    best = _way_out(a, b, q, np.array(overlap.direction))
    poses = np.array([q] + [_turned(q, r) for _ in range(20)])
    for contacts in detected([(a, b)] * len(poses), poses):
        assert contacts.gap.min() > best - _TOLERANCE


def _turned(q: Array, r: Rng) -> Array:
    """Return the poses turned about the origin."""
    e = r.normal(size=4)
    e /= np.linalg.norm(e)
    R = matrix_of(np.append(np.zeros(3), e))
    return np.array([np.append(R @ pose[:3], multiply(e, pose[3:])) for pose in q])
