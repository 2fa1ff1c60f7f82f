"""Sweeps: what they measure is what the problem says of the same impulses, and they stop when they are told to."""

from __future__ import annotations

import numpy as np
import pytest

from signorini.problems import FrictionProblem
from signorini.solvers.nsgs import Sweeper


def problem(n_c: int, compliance: float) -> FrictionProblem:
    """Return a random problem with W = G G^T."""
    rng = np.random.default_rng(n_c)
    G = rng.normal(size=(3 * n_c, 2 * n_c + 3))
    return FrictionProblem(G @ G.T, rng.normal(size=3 * n_c), np.full(n_c, 0.5), compliance=compliance)


@pytest.mark.parametrize("compliance", [0.0, 0.1])
@pytest.mark.parametrize("n_c", [1, 4])
def test_residual_is_that_of_the_problem(n_c: int, compliance: float) -> None:
    """Before any sweep, for impulses in and out of their cones; and after some, when y was carried along."""
    posed = problem(n_c, compliance)
    p = np.random.default_rng(1).normal(size=(n_c, 3))
    given = posed.residual_by_contacts(p)
    sweeps, residual = Sweeper(posed).run(p, 0.0, 0, 100, 0.1, 5)
    assert sweeps == 0
    assert residual == pytest.approx(given, rel=1e-12)
    sweeps, residual = Sweeper(posed).run(p, 0.0, 6, 100, 0.1, 5)
    assert sweeps == 6
    assert residual == pytest.approx(posed.residual_by_contacts(p), rel=1e-9)
    assert residual < given


def test_sweeps_end_soon_after_the_tolerance_is_met() -> None:
    """Changes tell when to look: half as many sweeps do not meet it, by the problem's own measure."""
    posed = problem(4, 0.1)
    p = np.zeros((4, 3))
    sweeps, residual = Sweeper(posed).run(p, 1e-9, 1000, 1000, 0.1, 5)
    assert residual <= 1e-9
    assert posed.residual_by_contacts(p) <= 1.001e-9
    p = np.zeros((4, 3))
    Sweeper(posed).run(p, 0.0, sweeps // 2, 1000, 0.1, 5)
    assert posed.residual_by_contacts(p) > 1e-9


@pytest.mark.parametrize("angle", np.linspace(0.05, 1.5, 40)[[0, 6, 10, 17, 21, 25, 30]])
def test_a_contact_that_moves_in_one_direction_slips_while_its_gap_closes(angle: float) -> None:
    """W = d d^T: it comes to s x = -sigma, friction against its slip: p_n (s + mu c) = x - x_0.

    Its tangents see nothing but rounding once the normal holds, and the inverse of that is no impulse.
    """
    d, x_0, gap, mu = 0.7 * np.array([np.sin(angle), np.cos(angle), 0.0]), -0.7, 1e-3, 1.7
    posed = FrictionProblem(np.outer(d, d), x_0 * d + np.array([gap, 0.0, 0.0]), np.array([mu]))
    p = np.zeros((1, 3))
    Sweeper(posed).run(p, 1e-12, 10, 10, 0.1, 1)
    p_n = (-gap / d[0] - x_0) / (d[0] + mu * d[1])
    np.testing.assert_allclose(p[0], [p_n, mu * p_n, 0.0], rtol=1e-9)
