"""What gaps ask of normal velocities, flights taken into account."""

from __future__ import annotations

import numpy as np
import pytest

from signorini.posing.gap_law import normal_shifts

pytestmark = pytest.mark.kernels

H = 0.01


def asked(gap: float, veered: float, before: float, e: float = 0.0, free: float = -1.0) -> tuple[float, float]:
    """Return sigma of one contact, and the part of it that lifts."""
    shift, lift, may_close, rows = np.zeros(1), np.zeros(1), np.zeros(1), np.zeros((1, 3))
    rows[0, 0] = before
    load, last = np.array([[free, 0.0, 0.0]]), np.zeros((1, 3))
    psi, d, size, restitution = (np.array([x]) for x in (gap, veered, 1.0, e))
    normal_shifts(psi, d, size, load, rows, restitution, last, 9.81, 0.0, H, 1.0, shift, lift, may_close)
    return float(shift[0]), float(lift[0])


@pytest.mark.parametrize(
    ("gap", "veered", "before", "sigma"),
    [
        (1e-3, 0.0, -1.0, 0.1),  # the gap alone
        (1e-3, 0.03, -1.0, 0.13),  # the flight opens it
        (1e-3, -0.03, 5.0, 0.07),  # the flight closes a part of it
        (1e-3, -0.3, 5.0, 0.0),  # and all, but the bodies were parting
        (1e-3, -0.3, -0.05, -0.05),  # they came at 0.05 m/s and part no faster
        (1e-3, -0.3, -1.0, -0.2),  # as fast as the flight needs
        (0.0, -0.03, 0.0, 0.0),  # what came at rest is not thrown
        (0.0, 0.03, 0.0, 0.03),
    ],
)
def test_flights_are_made_room_for(gap: float, veered: float, before: float, sigma: float) -> None:
    """max(sigma + d, min(sigma, 0, u-)) by hand; none of it counts as lifting out of an overlap."""
    found, lift = asked(gap, veered, before)
    assert found == pytest.approx(sigma, abs=1e-15)
    assert lift == 0.0


def test_rebounds_do_not_know_flights() -> None:
    """Newton's law: sigma = e u-, whatever the flight does after the impulse."""
    assert asked(0.0, -0.03, -2.0, e=0.5) == (-1.0, 0.0)
    assert asked(0.0, 0.03, -2.0, e=0.5) == (-1.0, 0.0)
