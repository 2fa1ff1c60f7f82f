"""Shapes by functions and intersections: what is refused, mass properties, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg


def ball(x: Any) -> Any:
    """Return the function of the unit ball."""
    return x @ x - 1.0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"f": ball}, "bounds are missing"),
    ({"f": ball, "bounds": 0.9}, "reaches out of its bounds"),
    ({"f": ball, "bounds": ((0, 0, 0), (1, 0, 1))}, "must span a box"),
    ({"f": 3.0, "bounds": 2.0}, "must be a function"),
    ({"f": lambda x: 1.0 - x @ x, "bounds": 2.0}, "is not convex"),
    ({"f": lambda x: x @ x + 1.0, "bounds": 2.0}, "nowhere below 1"),
    ({"f": lambda x: np.log(x[0]), "bounds": 2.0}, "implicit: f"),
    ({"f": ball, "gradient": lambda x: x, "bounds": 2.0}, "gradient at .* differs"),
    (
        {"f": ball, "gradient": lambda x: 2.0 * x, "hessian": lambda x: np.eye(3), "bounds": 2.0},
        "hessian at .* differs",
    ),
    ({"f": ball, "gradient": lambda x: x[:2], "bounds": 2.0}, r"shape \(2,\), must be \(3\)"),
]


@pytest.mark.filterwarnings("ignore:invalid value encountered in log")
@pytest.mark.parametrize(("words", "complaint"), BAD)
def test_bad_functions_are_refused(words: dict[str, Any], complaint: str) -> None:
    """The door names what is wrong."""
    with pytest.raises(sg.InputError, match=complaint):
        sg.Implicit(**words)


@pytest.mark.parametrize(
    ("shapes", "complaint"),
    [
        ([], "has no shapes"),
        ([sg.HalfSpace()], "is unbounded"),
        ([sg.Sphere(1.0), sg.Sphere(1.0).at((3, 0, 0))], "no volume in common"),
        ([sg.Sphere(1.0), sg.HalfSpace(offset=-1.0)], "no volume in common"),
        ([sg.Disc(1.0)], "must be spatial"),
        (["ball"], "is not a shape"),
    ],
)
def test_bad_intersections_are_refused(shapes: list[Any], complaint: str) -> None:
    """Unbounded, empty and planar ones."""
    with pytest.raises(sg.InputError, match=complaint):
        sg.Intersection(*shapes)


def test_mass_of_a_function_is_that_of_its_solid() -> None:
    """An ellipsoid off the origin: quadrature against the formula."""
    a, c = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, -0.1])
    own = sg.Implicit(lambda x: (((x - c) / a) ** 2).sum() - 1.0, bounds=(c - 1.2 * a, c + 1.2 * a)).mass_properties(
        700
    )
    exact = sg.Ellipsoid(a).mass_properties(700)
    assert own.mass == pytest.approx(exact.mass, rel=1e-9)
    np.testing.assert_allclose(own.centre, c, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(own.inertia, exact.inertia, rtol=0.0, atol=1e-9 * exact.inertia.max())


def test_mass_of_a_half_ball() -> None:
    """Half a ball: 2/3 pi r^3, its centre 3/8 r from the cut, 83/320 m r^2 across; edges cost digits."""
    half = sg.Intersection(sg.Sphere(1.0), sg.HalfSpace((0, 0, -1), 0.0)).mass_properties(1.0)
    assert half.mass == pytest.approx(2.0 / 3.0 * np.pi, rel=1e-5)
    np.testing.assert_allclose(half.centre, [0.0, 0.0, 0.375], rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(
        np.diag(half.inertia) / half.mass, [83.0 / 320.0, 83.0 / 320.0, 0.4], rtol=2e-5, atol=0.0
    )


def test_functions_cannot_be_saved(tmp_path: Path) -> None:
    """A scene file holds data only; a trajectory of such a scene can still be kept."""
    scene = sg.Scene()
    scene.add_body(sg.Implicit(ball, bounds=1.5), position=(0, 0, 0))
    with pytest.raises(sg.InputError, match="defined by Python functions, cannot be saved"):
        scene.save(tmp_path / "ball.yaml")
