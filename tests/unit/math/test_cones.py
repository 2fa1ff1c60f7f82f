"""The cones of friction: projections by their optimality conditions, support functions by their definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signorini._arrays import Array
from signorini.math.cones import polygon_support, project_cone, project_polygon

pytestmark = pytest.mark.kernels

coordinates = st.floats(-10.0, 10.0)
coefficients = st.sampled_from([0.0, 0.05, 0.5, 1.0, 3.0])
rounding = 1e-13  # of numbers up to 10 after a handful of operations, with room for three products


def generators(mu: float, n_d: int, phi: float) -> Array:
    """Edges (1, mu d_j) of the polygonal cone, (n_d, 3)."""
    angle = phi + 2.0 * np.pi * np.arange(n_d) / n_d
    return np.stack([np.ones(n_d), mu * np.cos(angle), mu * np.sin(angle)], axis=1)


@given(coordinates, coordinates, coordinates, coefficients)
def test_projection_on_the_exact_cone(z0: float, z1: float, z2: float, mu: float) -> None:
    """Moreau: p = P_K(z) iff p in K, z - p in the polar cone, p . (z - p) = 0."""
    p = np.array(project_cone(z0, z1, z2, mu))
    rest = np.array([z0, z1, z2]) - p
    assert np.hypot(p[1], p[2]) <= mu * p[0] + 100 * rounding
    assert rest[0] + mu * np.hypot(rest[1], rest[2]) <= 100 * rounding
    assert abs(p @ rest) <= 1000 * rounding


@given(coordinates, coordinates, coordinates, coefficients, st.integers(3, 9), st.floats(-4.0, 4.0))
def test_projection_on_the_polygonal_cone(z0: float, z1: float, z2: float, mu: float, n_d: int, phi: float) -> None:
    """The same conditions; the polar of a cone is that of its edges, and p lies in K iff it is inside all facets."""
    p = np.array(project_polygon(z0, z1, z2, mu, n_d, phi))
    rest = np.array([z0, z1, z2]) - p
    middles = phi + (2.0 * np.arange(n_d) + 1.0) * np.pi / n_d
    outward = np.cos(middles) * p[1] + np.sin(middles) * p[2]
    assert np.all(outward <= mu * math.cos(math.pi / n_d) * p[0] + 100 * rounding)
    assert np.all(generators(mu, n_d, phi) @ rest <= 1000 * rounding)
    assert abs(p @ rest) <= 1000 * rounding


@pytest.mark.parametrize(
    ("z", "expected"),
    [
        ((2.0, 0.6, -0.8), (2.0, 0.6, -0.8)),  # on the boundary of mu = 0.5: stays
        ((-1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
        ((0.0, 1.0, 0.0), (0.4, 0.2, 0.0)),  # foot of the perpendicular on the ray (2, 1)/sqrt 5
    ],
)
def test_known_projections(z: tuple[float, float, float], expected: tuple[float, float, float]) -> None:
    """Points whose projection is seen by eye, mu = 0.5; the square with a vertex along t agrees there."""
    np.testing.assert_allclose(project_cone(*z, 0.5), expected, atol=1e-15)
    if z[2] == 0.0:
        np.testing.assert_allclose(project_polygon(*z, 0.5, 4, 0.0), expected, atol=1e-15)


@given(coordinates, coordinates, st.integers(3, 9), st.floats(-4.0, 4.0))
def test_support_of_the_polygon(u1: float, u2: float, n_d: int, phi: float) -> None:
    """It is max_j (-d_j . u_T), between |u_T| cos(pi/n_d) and |u_T|."""
    sigma = polygon_support(u1, u2, n_d, phi)
    d = generators(1.0, n_d, phi)[:, 1:]
    assert sigma == pytest.approx(max(0.0, float((-d @ [u1, u2]).max())), abs=1e-14)
    speed = math.hypot(u1, u2)
    assert speed * math.cos(math.pi / n_d) - 1e-13 <= sigma <= speed + 1e-13
