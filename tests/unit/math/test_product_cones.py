"""Cones with couples: the projection by its optimality conditions, the natural map by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signorini._arrays import Array, IntArray
from signorini.math.cones import natural_norms, project_cone
from signorini.math.product_cones import product_norms, project_product

coordinates = st.floats(-10.0, 10.0)
limits_ = st.sampled_from([0.0, 0.05, 0.5, 1.0, 3.0])
rounding = 1e-11  # of products of numbers up to 10 after a handful of operations
STARTS = np.array([1, 3, 4, 6])


def project(z: list[float], limits: list[float], starts: IntArray = STARTS) -> Array:
    """Project one point."""
    point = np.array([z])
    project_product(point, 0, np.array([limits]), starts)
    return np.asarray(point[0])


@given(st.lists(coordinates, min_size=6, max_size=6), st.lists(limits_, min_size=3, max_size=3))
def test_projection(z: list[float], limits: list[float]) -> None:
    """Moreau: x = P_K(z) iff x in K, z - x in the polar cone (n + sum m_k |z_k| <= 0), x . (z - x) = 0."""
    x = project(z, limits)
    rest = np.array(z) - x
    sizes = [np.linalg.norm(part) for part in np.split(x[1:], [2, 3])]
    against = [np.linalg.norm(part) for part in np.split(rest[1:], [2, 3])]
    assert all(size <= m * x[0] + rounding for size, m in zip(sizes, limits, strict=True))
    assert rest[0] + np.dot(limits, against) <= rounding
    assert abs(x @ rest) <= 10 * rounding


@given(coordinates, coordinates, coordinates, limits_)
def test_one_group_is_the_friction_cone(z0: float, z1: float, z2: float, mu: float) -> None:
    """With the tangential group alone K is Coulomb's cone."""
    np.testing.assert_allclose(
        project([z0, z1, z2], [mu], np.array([1, 3])), project_cone(z0, z1, z2, mu), atol=rounding
    )


def test_projection_by_hand() -> None:
    """Limits 1, 1, 1 and z = (0, 3 in the tangent, 3, 0): n solves n = 2 (3 - n), n = 2; equal ratios count twice."""
    np.testing.assert_allclose(project([0.0, 3.0, 0.0, 3.0, 0.0, 0.0], [1.0, 1.0, 1.0]), [2, 2, 0, 2, 0, 0], atol=1e-15)


def test_natural_map_without_couples_is_the_ordinary_one() -> None:
    """Couples that are zero and unloaded change no norm."""
    rng = np.random.default_rng(3)
    x, u, b = (np.zeros((5, 6)) for _ in range(3))
    for part in (x, u, b):
        part[:, :3] = rng.normal(size=(5, 3))
    mu, rho = rng.uniform(0.0, 1.0, 5), rng.uniform(0.5, 2.0, 5)
    limits = np.column_stack([mu, np.ones(5), np.ones(5)])
    x3, u3, b3 = (np.ascontiguousarray(part[:, :3]) for part in (x, u, b))
    plain = natural_norms(x3, u3, b3, mu, rho)
    assert product_norms(x, u, b, limits, STARTS, rho) == pytest.approx(plain, rel=1e-13)
