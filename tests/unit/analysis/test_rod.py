"""The rod between two walls: closed forms of the paper against the general expression, and the soft rod."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signorini._arrays import Array
from signorini.analysis import Rod, balancing_load, boundary_layer, compliant_rod
from signorini.errors import InputError

angles = st.floats(-3.0, 3.0)
frictions = st.floats(-5.0, 5.0)


def printed_matrix(rod: Rod, u_1: float, u_2: float) -> Array:
    """S4, eq. (41) as printed."""
    m, lJ = rod.mass, rod.half_length**2 / rod.inertia
    th, al = rod.theta, rod.alpha
    cos, sin = np.cos, np.sin
    return np.array(
        [
            [
                1 / m + lJ * (cos(th) ** 2 + u_1 * sin(th) * cos(th)),
                -(cos(al) + u_2 * sin(al)) / m + lJ * cos(th) * (cos(th - al) - u_2 * sin(th - al)),
            ],
            [
                -(cos(al) + u_1 * sin(al)) / m + lJ * cos(th - al) * (cos(th) + u_1 * sin(th)),
                1 / m + lJ * cos(th - al) * (cos(th - al) - u_2 * sin(th - al)),
            ],
        ]
    )


@given(angles, angles, st.floats(1.0, 10.0), st.floats(0.1, 10.0), st.floats(0.1, 3.0), frictions, frictions)
def test_matrix_is_that_of_the_paper(
    alpha: float, theta: float, slenderness: float, mass: float, half_length: float, u_1: float, u_2: float
) -> None:
    """D = Phi_q M^-1 (Phi_q + PhiHat_q)^T equals eq. (41)."""
    rod = Rod(alpha, theta, slenderness, mass, half_length)
    expected = printed_matrix(rod, u_1, u_2)
    assert rod.matrix(u_1, u_2) == pytest.approx(expected, rel=1e-12, abs=1e-12 * np.abs(expected).max())


@given(angles, angles, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_normals_are_the_derivative_of_the_gaps(alpha: float, theta: float, x: float, y: float) -> None:
    """Phi_q = dPhi/dq (S4, eqs. 37 and 38)."""
    rod = Rod(alpha, theta)
    q, h = np.array([x, y, theta]), 1e-6
    difference = np.array([(rod.gaps(q + h * e) - rod.gaps(q - h * e)) / (2 * h) for e in np.eye(3)]).T
    assert rod.normals() == pytest.approx(difference, abs=1e-8)


def test_sliding_keeps_both_contacts() -> None:
    rod = Rod()
    assert rod.normals() @ rod.sliding_velocity(0.7) == pytest.approx(0.0, abs=1e-14)


def test_balancing_load_gives_unit_forces_without_normal_acceleration() -> None:
    """Newton's law with forces (1, 1): d2/dt2 of the gaps vanishes along the motion."""
    rod, friction = Rod(), np.array([0.7, 0.4])
    v = rod.sliding_velocity(-1.3)
    tangents = rod.tangents()
    push = rod.normals() - (friction * np.sign(tangents @ v))[:, None] * tangents
    acceleration = rod.inverse_inertia() * (balancing_load(rod, friction, v) + push.sum(axis=0))
    q, h = np.array([0.3, 0.2, rod.theta]), 1e-4

    def gap(t: float) -> Array:
        return rod.gaps(q + v * t + 0.5 * acceleration * t * t)

    assert (gap(h) - 2 * gap(0.0) + gap(-h)) / h**2 == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("friction", "damping"), [(1.0, 0.01), (2.0, 0.2)])
def test_soft_rod_grows_as_the_theory_says(friction: float, damping: float) -> None:
    """The disturbance grows at the largest real part of the roots of eq. (34)."""
    rod = Rod()
    expected = boundary_layer(rod.matrix(friction, friction), damping=damping).growth
    run = compliant_rod(rod, (friction, friction), damping, duration=20.0)
    assert run.growth == pytest.approx(expected, rel=0.03)


def test_softness_does_not_matter_in_stretched_time() -> None:
    """Equations in t/sqrt(eps) lose eps in the limit: the forces differ by O(sqrt(eps)) only (theorem 4.1)."""
    runs = [compliant_rod(Rod(), (0.3, 0.3), 0.1, eps=eps, duration=10.0) for eps in (1e-4, 1e-5, 1e-6)]
    first, second = (float(np.abs(a.force - b.force).max()) for a, b in pairwise(runs))
    assert first / second == pytest.approx(np.sqrt(10.0), rel=0.2)


@pytest.mark.parametrize("field", ["mass", "half_length", "slenderness"])
def test_bad_rods_are_refused(field: str) -> None:
    with pytest.raises(InputError, match=field):
        Rod(**{field: 0.0})


def test_a_rod_at_rest_is_refused() -> None:
    with pytest.raises(InputError, match="turn"):
        compliant_rod(Rod(), (1.0, 1.0), 0.1, turn=0.0)
