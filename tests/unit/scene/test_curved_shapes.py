"""Cylinder, cone, ellipsoid and superellipsoid: mass properties against integrals, checks at the door, scene files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import signorini as sg
from signorini.errors import InputError
from signorini.model import ShapeKind
from signorini.scene.shapes import SHAPES, Cone, Cylinder, Ellipsoid, Shape, Superellipsoid, encode
from tests.unit.geometry.curved_reference import CURVED, MAKERS, support_value

ALL: list[Shape] = [
    Cylinder(0.4, 1.5),
    Cone(0.4, 1.5),
    Ellipsoid((0.4, 0.6, 1.5)),
    Superellipsoid((0.4, 0.6, 1.5), 2.0),
    Superellipsoid((0.4, 0.6, 1.5), 3.5),
    Superellipsoid((0.4, 0.6, 1.5), 40.0),
]


def section(shape: Shape, z: float) -> tuple[float, float, float]:
    """Return area and the integrals of x^2 and y^2 over the section at height z."""
    match shape:
        case Cylinder(r, _):
            return np.pi * r**2, np.pi * r**4 / 4, np.pi * r**4 / 4
        case Cone(r, h):
            s = r * (0.75 - z / h)
            return np.pi * s**2, np.pi * s**4 / 4, np.pi * s**4 / 4
        case Ellipsoid(axes) | Superellipsoid(axes):
            p = shape.exponent if isinstance(shape, Superellipsoid) else 2.0
            a, b, c = axes
            s = (1.0 - min(abs(z / c), 1.0) ** p) ** (1.0 / p)

            # strips of the unit section: y up to (1 - x^p)^(1/p)
            def strips(power: int) -> float:
                return 4.0 * quad(lambda x: x**power * (1.0 - x**p) ** (1.0 / p), 0.0, 1.0, epsabs=1e-13, limit=200)[0]

            area, square = strips(0), strips(2)
            return a * b * area * s**2, a**3 * b * square * s**4, a * b**3 * square * s**4
    raise AssertionError


@pytest.mark.parametrize("shape", ALL, ids=str)
def test_mass_properties_by_quadrature(shape: Shape) -> None:
    """Mass, mass centre at the origin and inertia from sections across z."""
    ends = (-0.75, 0.75) if isinstance(shape, Cylinder) else (-1.5, 1.5)
    if isinstance(shape, Cone):
        ends = (-0.375, 1.125)
    unit = section(shape, 0.0)

    def integral(power: int, which: int) -> float:
        # Sections of one body are alike: they scale from that at the origin.
        def value(z: float) -> float:
            match shape:
                case Superellipsoid(_, p):
                    s = (1.0 - min(abs(z / 1.5), 1.0) ** p) ** (1.0 / p)
                    return float(z**power * unit[which] * s ** (2 if which == 0 else 4))
            return float(z**power * section(shape, z)[which])

        return float(quad(value, *ends, epsabs=1e-13, epsrel=1e-12, limit=400)[0])

    mass, xx, yy, zz = integral(0, 0), integral(0, 1), integral(0, 2), integral(2, 0)
    assert integral(1, 0) == pytest.approx(0.0, abs=1e-12)
    found = shape.mass_properties(3.0)
    assert found.mass == pytest.approx(3.0 * mass, rel=1e-8)
    np.testing.assert_array_equal(found.centre, np.zeros(3))
    np.testing.assert_allclose(found.inertia, 3.0 * np.diag([yy + zz, xx + zz, xx + yy]), rtol=1e-8, atol=0.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cylinder(0.0, 1.0), "cylinder: radius is 0.0, must be > 0"),
        (lambda: Cylinder(1.0, -1.0), "cylinder: length is -1.0, must be > 0"),
        (lambda: Cone(np.nan, 1.0), "cone: radius is nan, must be finite"),
        (lambda: Cone(1.0, 0.0), "cone: height is 0.0, must be > 0"),
        (lambda: Ellipsoid((1.0, 1.0)), "ellipsoid: semi_axes has shape"),
        (lambda: Ellipsoid((1.0, 0.0, 1.0)), "ellipsoid: semi_axes is (1.0, 0.0, 1.0), must be three lengths > 0"),
        (lambda: Superellipsoid((1.0, 1.0, 1.0), 1.9), "superellipsoid: exponent is 1.9, must be >= 2"),
        (lambda: Superellipsoid((1.0, 1.0, 1.0), np.inf), "superellipsoid: exponent is inf, must be finite"),
        (lambda: Cylinder(1.0, 1.0).mass_properties(0.0), "density is 0.0, must be > 0"),
    ],
)
def test_bad_sizes_are_refused(make: Callable[[], Any], message: str) -> None:
    """The error names the shape, the value and what is needed."""
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("shape", ALL, ids=str)
def test_scene_files(shape: Shape, tmp_path: Path) -> None:
    """A saved scene loads with the same shape in the same place."""
    scene = sg.Scene()
    scene.add_body(shape.at((0.1, 0.2, 0.3), (0.6, 0.8, 0.0, 0.0)), density=2.0, position=(0, 0, 1), name="body")
    scene.save(tmp_path / "scene.yaml")
    again = sg.Scene.load(tmp_path / "scene.yaml")
    assert again.bodies["body"].shapes == scene.bodies["body"].shapes
    assert again.bodies["body"].mass == scene.bodies["body"].mass
    ((word, fields),) = shape.to_dict().items()
    assert SHAPES[word](**fields) == shape


def test_planar_scenes_refuse_solids() -> None:
    """A solid has no place in the plane."""
    with pytest.raises(InputError):
        sg.Scene(planar=True).add_body(Cylinder(1.0, 1.0), mass=1.0, inertia=1.0, position=(0, 0))


@pytest.mark.parametrize("kind", CURVED)
def test_bounds_and_parameters(kind: str) -> None:
    """The bound holds the support point of every direction, tightly if the shape sits at the mass centre."""
    r = np.random.default_rng(9)
    n = r.normal(size=(4000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    for _ in range(5):
        shape, x = MAKERS[kind](r), r.normal(size=3)
        shapes, hulls = encode([(0, shape.at()), (1, shape.at(x))], np.zeros((2, 3)))
        assert shapes.kind.tolist() == [ShapeKind[kind.upper()]] * 2
        assert hulls.vertex.size == 0
        # The largest support value over directions is the largest distance from the point it is seen from.
        widest = support_value(shape, n).max()
        assert widest <= shapes.bound[0] <= 1.01 * widest
        assert (support_value(shape, n) + n @ x).max() <= shapes.bound[1] <= shapes.bound[0] + np.linalg.norm(x) + 1e-12
