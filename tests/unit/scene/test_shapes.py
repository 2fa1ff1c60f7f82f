"""Shapes: mass properties against integrals, checks at the door, words of scene files, arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.model import ShapeKind
from signorini.scene.mass import MassProperties
from signorini.scene.shapes import (
    SHAPES,
    Box,
    Capsule,
    ConvexHull,
    Disc,
    HalfSpace,
    Polygon,
    Segment,
    Shape,
    Sphere,
    combine,
    encode,
)

CUBE = tuple((x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0))
SOLIDS: list[Shape] = [
    Sphere(0.7),
    Box((1.0, 2.0, 3.0)),
    Capsule(0.4, 1.5),
    ConvexHull(((0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3))),
]
PLATES: list[Shape] = [Disc(0.7), Polygon(((0, 0), (2, 0), (1, 1))), Segment((0, 0), (1, 2), 0.3)]


def random_rotation(r: np.random.Generator) -> tuple[Array, Array]:
    """Return a unit quaternion and its matrix, made from reflections."""
    e = r.normal(size=4)
    e /= np.linalg.norm(e)
    w, u = e[0], e[1:]
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return e, np.eye(3) + 2.0 * w * K + 2.0 * K @ K


def assert_same(a: MassProperties, b: MassProperties, rtol: float = 1e-12) -> None:
    size = np.abs(b.inertia).max()
    assert a.mass == pytest.approx(b.mass, rel=rtol)
    np.testing.assert_allclose(a.centre, b.centre, rtol=0.0, atol=rtol * np.sqrt(size / b.mass))
    np.testing.assert_allclose(a.inertia, b.inertia, rtol=0.0, atol=rtol * size)


def revolved(
    radius_at: Callable[[float], float], low: float, high: float, density: float
) -> tuple[float, float, float]:
    """Integrate discs along z: mass, moment about z, moment about x through the origin."""

    def integral(f: Callable[[float, float], float]) -> float:
        return float(quad(lambda z: f(z, radius_at(z)), low, high, epsabs=1e-13, epsrel=1e-13, limit=400)[0])

    mass = integral(lambda z, r: density * np.pi * r**2)
    about_z = integral(lambda z, r: density * np.pi * r**4 / 2)
    about_x = integral(lambda z, r: density * np.pi * (r**4 / 4 + r**2 * z**2))
    return mass, about_z, about_x


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_round_solids_by_quadrature(scale: float) -> None:
    """Sphere and capsule as stacks of discs."""
    r, l, density = 0.4 * scale, 1.5 * scale, 3.0

    def capsule_radius(z: float) -> float:
        over = max(abs(z) - l / 2, 0.0)
        return float(np.sqrt(max(r**2 - over**2, 0.0)))

    for shape, radius_at, half in (
        (Sphere(r), lambda z: float(np.sqrt(max(r**2 - z**2, 0.0))), r),
        (Capsule(r, l), capsule_radius, l / 2 + r),
    ):
        parts = [
            revolved(radius_at, *ends, density) for ends in ((-half, r - half), (r - half, half - r), (half - r, half))
        ]
        mass, about_z, about_x = np.sum(parts, axis=0)
        if half == r:
            mass, about_z, about_x = revolved(radius_at, -r, r, density)
        expected = MassProperties(mass, np.zeros(3), np.diag([about_x, about_x, about_z]))
        assert_same(shape.mass_properties(density), expected, 1e-10)


def test_box_and_polyhedron_by_their_formulas() -> None:
    """M (b^2 + c^2) / 12 for the box; the unit tetrahedron has inertia m 3/80 and products m/80 about its centre."""
    box = MassProperties(12.0, np.zeros(3), np.diag([4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0]))
    assert_same(Box((1.0, 2.0, 3.0)).mass_properties(2.0), box)
    corners = tuple((x, y, z) for x in (-0.5, 0.5) for y in (-1, 1) for z in (-1.5, 1.5))
    assert_same(ConvexHull(corners).mass_properties(2.0), box)
    tetrahedron = ConvexHull(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))).mass_properties(6.0)
    assert_same(
        tetrahedron,
        MassProperties(1.0, np.full(3, 0.25), (3.0 / 80.0) * 2.0 * np.eye(3) + (np.ones((3, 3)) - np.eye(3)) / 80),
    )


def test_plates_by_their_formulas() -> None:
    """Disc m r^2/2, square m a^2/6; a stadium by quadrature of its strips."""
    assert_same(
        Disc(0.5).mass_properties(4.0), MassProperties(np.pi, np.zeros(3), np.pi / 16 * np.diag([1.0, 1.0, 2.0]))
    )
    square = Polygon(((1, 1), (1, 3), (3, 3), (3, 1))).mass_properties(0.25)
    assert_same(square, MassProperties(1.0, np.array([2.0, 2.0, 0.0]), np.diag([1.0, 1.0, 2.0]) / 3))
    r, l = 0.3, 1.2

    def half(x: float) -> float:
        return float(np.sqrt(max(r**2 - max(abs(x) - l / 2, 0.0) ** 2, 0.0)))

    def strips(f: Callable[[float, float], float]) -> float:
        ends = (-l / 2 - r, -l / 2, l / 2, l / 2 + r)
        return float(sum(quad(lambda x: f(x, half(x)), *e, epsabs=1e-13)[0] for e in itertools.pairwise(ends)))

    moment_x, moment_y = strips(lambda x, y: 2 * y**3 / 3), strips(lambda x, y: 2 * y * x**2)
    expected = MassProperties(
        strips(lambda x, y: 2 * y), np.zeros(3), np.diag([moment_x, moment_y, moment_x + moment_y])
    )
    assert_same(Segment((-l / 2, 0), (l / 2, 0), r).mass_properties(1.0), expected, 1e-9)


@pytest.mark.parametrize("shape", SOLIDS, ids=lambda shape: shape.word())
def test_mass_properties_move_with_the_shape(shape: Shape) -> None:
    """A placed shape has the same mass and principal moments, and its mass centre is carried along."""
    r = np.random.default_rng(3)
    own = shape.mass_properties(2.0)
    e, R = random_rotation(r)
    x = r.normal(size=3)
    moved = shape.at(x, e).mass_properties(2.0)
    assert_same(moved, MassProperties(own.mass, R @ own.centre + x, R @ own.inertia @ R.T))
    moments = np.linalg.eigvalsh(moved.inertia)
    np.testing.assert_allclose(moments, np.linalg.eigvalsh(own.inertia), rtol=1e-12)
    assert moments[0] > 0.0
    assert moments[2] <= moments[0] + moments[1]


@pytest.mark.parametrize("shape", PLATES, ids=lambda shape: shape.word())
def test_plates_obey_the_perpendicular_axes(shape: Shape) -> None:
    """I_z = I_x + I_y for anything flat, and the matrix is positive definite."""
    plate = shape.at((0.3, -0.2), 0.7).mass_properties(1.5)
    assert plate.inertia[2, 2] == pytest.approx(plate.inertia[0, 0] + plate.inertia[1, 1], rel=1e-13)
    assert np.linalg.eigvalsh(plate.inertia)[0] > 0.0
    assert plate.centre[2] == 0.0


def test_compound_equals_the_whole() -> None:
    """A box cut into two boxes, a tetrahedron cut by a plane, a square cut along its diagonal."""
    halves = [Box((1.0, 2.0, 1.0)).at((0, 0, -1.0)), Box((1.0, 2.0, 2.0)).at((0, 0, 0.5))]
    assert_same(combine(halves, 5.0), Box((1.0, 2.0, 3.0)).mass_properties(5.0))
    cut = [
        ConvexHull(((0, 0, 0), (1, 0, 0), (0, 0, 1), (0.3, 0.7, 0))).at(),
        ConvexHull(((0, 0, 0), (0, 1, 0), (0, 0, 1), (0.3, 0.7, 0))).at(),
    ]
    assert_same(combine(cut, 2.0), ConvexHull(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))).mass_properties(2.0))
    triangles = [Polygon(((0, 0), (1, 0), (1, 1))).at(), Polygon(((0, 0), (1, 1), (0, 1))).at()]
    assert_same(combine(triangles, 2.0), Polygon(((0, 0), (1, 0), (1, 1), (0, 1))).mass_properties(2.0))


def test_hull_topology() -> None:
    """Flat facets are joined, inner points dropped; loops run counter-clockwise, edges along n_f x n_g; Euler holds."""
    r = np.random.default_rng(0)
    _, R = random_rotation(r)
    cube = np.array(CUBE)
    proud = (1.0 + 1e-11) * 0.5 * (cube[:4] + cube[4:])  # of the edges, by less than what counts as flat
    extra = np.vstack([cube, np.zeros((1, 3)), proud, [[1.0, 0.2, 0.3]]])
    ball = r.normal(size=(60, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    ring = [(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 12, endpoint=False)]
    prism = np.array([(x, y, z) for x, y in ring for z in (0.0, 1.0)])
    for points, counts in (
        (extra @ R.T, (8, 12, 6)),
        (1e3 * prism @ R.T + 1e3, (24, 36, 14)),
        (1e-3 * ball, (60, 174, 116)),
    ):
        polytope = ConvexHull(tuple(map(tuple, points))).polytope()
        assert (len(polytope.vertices), len(polytope.edges), len(polytope.faces)) == counts
        size = np.ptp(points, axis=0).max()
        heights = polytope.vertices @ polytope.normals.T - polytope.offsets
        assert heights.max() < 1e-12 * size
        for f, (loop, n) in enumerate(zip(polytope.faces, polytope.normals, strict=True)):
            x = polytope.vertices[list(loop)]
            turn = np.cross(np.roll(x, -1, axis=0) - x, np.roll(x, -2, axis=0) - np.roll(x, -1, axis=0))
            assert (turn @ n > 0.0).all()
            assert np.abs(heights[list(loop), f]).max() < 1e-12 * size
        for v, w, f, g in polytope.edges:
            along = np.cross(polytope.normals[f], polytope.normals[g])
            assert along @ (polytope.vertices[w] - polytope.vertices[v]) > 0.0
            assert {v, w} <= set(polytope.faces[f]) & set(polytope.faces[g])


@pytest.mark.parametrize("points", [((0, 0), (2, 0), (2, 1), (0, 1)), ((0, 1), (2, 1), (2, 0), (0, 0))])
def test_polygon_turns_counter_clockwise(points: tuple[tuple[float, float], ...]) -> None:
    """Either sense of rotation is accepted; corners on straight sides are dropped."""
    x = np.array(Polygon((*points[:2], (2.0, 0.5), *points[2:])).points)
    assert len(x) == 4
    y = np.roll(x, -1, axis=0)
    assert (x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0]).sum() == pytest.approx(4.0)


STAR = tuple((float(np.cos(0.8 * np.pi * k)), float(np.sin(0.8 * np.pi * k))) for k in range(5))
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: Sphere(0.0), "sphere: radius is 0.0, must be > 0"),
    (lambda: Sphere(float("nan")), "sphere: radius is nan, must be finite"),
    (lambda: Disc(-1.0), "disc: radius is -1.0, must be > 0"),
    (lambda: Sphere("big"), "sphere: radius is 'big', must be a number"),  # type: ignore[arg-type]
    (lambda: Capsule(1.0, 0.0), "capsule: length is 0.0, must be > 0"),
    (lambda: Box((1.0, -1.0, 1.0)), "box: size is (1.0, -1.0, 1.0), must be three lengths > 0"),
    (lambda: Box((1.0, 1.0)), "box: size has shape (2,), must be (3)"),
    (lambda: HalfSpace((0.0, 0.0, 0.0)), "half_space: normal is (0.0, 0.0, 0.0), must point out of the solid"),
    (lambda: HalfSpace().mass_properties(1.0), "half_space has no finite mass"),
    (lambda: Segment((0, 0), (1, 0)).mass_properties(1.0), "segment of radius 0 has no area"),
    (lambda: Segment((1, 0), (1, 0)), "segment: a and b are both (1, 0), must differ"),
    (lambda: ConvexHull(((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0))), "convex_hull: the points span no volume"),
    (lambda: ConvexHull(((0, 0, 0), (1, 0, 0), (0, 1, 0))), "convex_hull: the points span no volume"),
    (lambda: Polygon(((0, 0), (2, 0), (0.1, 0.1), (0, 2))), "polygon: points: not convex"),
    (lambda: Polygon(STAR), "polygon: points: not convex"),
    (lambda: Polygon(((0, 0), (1, 1), (2, 2))), "polygon: points: the points lie on one line"),
    (lambda: Polygon(((0, 0), (1, 1))), "polygon: points: 2 points, need at least three"),
    (lambda: Sphere(1.0).at((0, 0, 0), (1, 1, 0, 0)), "must be a unit quaternion"),
    (lambda: Disc(1.0).at((0, 0, 1)), "disc: placed at (0, 0, 1), None, must stay in the plane z = 0"),
    (lambda: Sphere(1.0).mass_properties(0.0), "density is 0.0, must be > 0"),
    (lambda: combine([HalfSpace().at()], 1.0, "body 'wall'"), "body 'wall': half_space has no finite mass"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_shapes_are_refused(make: Callable[[], Any], message: str) -> None:
    """The error names the thing, its value and what is needed."""
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [*SOLIDS, *PLATES, HalfSpace((0, 3, 4), -1.0)], ids=lambda shape: shape.word())
def test_words_of_scene_files(shape: Shape) -> None:
    """``SHAPES[word](**fields)`` makes the same shape again."""
    ((word, fields),) = shape.to_dict().items()
    assert SHAPES[word](**fields) == shape


def test_which_scenes_a_shape_fits() -> None:
    """Solids are spatial, plates planar, half-spaces both if their normal lies in the plane."""
    assert all(shape.spatial and not shape.planar for shape in SOLIDS)
    assert all(shape.planar and not shape.spatial for shape in PLATES)
    assert HalfSpace().spatial
    assert not HalfSpace().planar
    assert HalfSpace((0, 1)).planar
    assert HalfSpace((0, 1)).spatial
    assert HalfSpace((3, 4)).normal == (0.6, 0.8, 0.0)


def test_encode_sorts_shares_and_bounds() -> None:
    """Shapes come sorted by body, equal shapes share a hull, bounds hold every point, seen from the mass centre."""
    box = Box((1.0, 2.0, 3.0))
    half = np.sqrt(0.5)
    placed = [
        (2, box.at((1, 0, 0), (half, 0, 0, half))),
        (0, HalfSpace((0, 0, 2), 0.5).at()),
        (1, Capsule(0.5, 2.0).at()),
        (2, Sphere(0.25).at((0, 1, 0))),
        (1, box.at()),
    ]
    centre = np.array([[0, 0, 0], [0, 0, 0], [1.0, 1.0, 0.0]])
    shapes, hulls = encode(placed, centre)
    assert shapes.body.tolist() == [0, 1, 1, 2, 2]
    assert shapes.kind.tolist() == [
        ShapeKind.HALF_SPACE,
        ShapeKind.CAPSULE,
        ShapeKind.HULL,
        ShapeKind.HULL,
        ShapeKind.SPHERE,
    ]
    assert shapes.hull[0] == -1
    assert shapes.hull[2] == shapes.hull[3]
    np.testing.assert_array_equal(shapes.size[0], [0.5, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(shapes.size[1], [0.5, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(shapes.position[3:], [[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]])
    # The turned box reaches from -1 to 1 in x, from -1.5 to -0.5 in y and from -1.5 to 1.5 in z of its mass centre.
    np.testing.assert_allclose(
        shapes.bound, [np.inf, 1.5, np.sqrt(3.5), np.sqrt(1.0 + 2.25 + 2.25), 1.25], rtol=1e-15, atol=0.0
    )
    counts = [np.diff(start).tolist() for start in (hulls.vertex_start, hulls.face_start, hulls.edge_start)]
    assert counts == [[2, 8, 1], [0, 6, 0], [1, 12, 1]]
    assert all(array.flags.c_contiguous for array in (*shapes, *hulls))
