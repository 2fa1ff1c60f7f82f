"""Some random collisions of ``benchmarks/random_collisions.py``, of classes that once went wrong."""

from __future__ import annotations

import pytest
from benchmarks.random_collisions import faults, run


@pytest.mark.parametrize(
    ("seed", "gravity", "h"),
    [
        (22, 9.81, 0.02),  # tumbling bodies gave back the fall of their step: 4 to 5 % in one bounce
        (11, 9.81, 0.02),
        (7, 0.0, 4e-3),  # a linkage on the floor, which moves in one direction only: impulses of 1e12
        (67, 0.0, 4e-3),
    ],
)
def test_law_no_random_collision_gains_energy(seed: int, gravity: float, h: float) -> None:
    """Law: from poses and velocities alone, T + U(q - h v/2) never rises; and the run says that all is well."""
    row = run(seed, h=h, gravity=gravity, limit=1000)
    assert [fault for fault in faults(row) if fault != "slow"] == []
    assert row["verdict"] == "trusted"
    assert float(row["impulse"]) < 10.0  # of the largest momentum
