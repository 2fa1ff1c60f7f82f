"""Every shape against every shape: distances proven by closed forms, and no pose that breaks detection."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.distance_judge import (
    COMBINATIONS,
    SMOOTH,
    coal_distance,
    coal_placed,
    coal_request,
    detected,
    judge,
    outside,
    random_pairs,
    separation,
)
from benchmarks.fuzz_geometry import Fuzz, random_poses

pytestmark = pytest.mark.compiled_only
EXACT_IN_COAL = {"half_space", "sphere", "capsule", "box", "hull"}
_PAIRS, _JUDGED = 30, 1


@pytest.mark.parametrize(("first", "second"), COMBINATIONS, ids=str)
def test_distances_are_proven(first: str, second: str) -> None:
    """The gap between supporting planes bounds the signed distance from below, that of two points from above.

    Both are the gap: to 1e-9 for smooth shapes, 1e-7 for those with edges. In touch the normal is that of a convex
    program over the shapes' inequalities.
    """
    smooth = {first, second} <= set(SMOOTH)
    tolerance = 1e-9 if smooth else 1e-7
    pairs, poses = random_pairs(first, second, _PAIRS, np.random.default_rng([len(first), len(second)]))
    judged = 0
    for (a, b), q, contacts in zip(pairs, poses, detected(pairs, poses), strict=True):
        assert contacts.contact_count > 0
        c = int(contacts.gap.argmin())
        gap, n = contacts.gap[c], contacts.normal[c]
        assert separation(a, q[0], b, q[1], n) == pytest.approx(gap, rel=0.0, abs=tolerance)
        step = contacts.point_b[c] - contacts.point_a[c]
        assert np.abs(step - gap * n).max() < tolerance
        assert outside(a, q[0], contacts.point_a[c]) < tolerance
        assert outside(b, q[1], contacts.point_b[c]) < tolerance
        # The apex of a cone has no smooth inequality: convex programs stop there at 1e-7.
        if abs(gap) < 1e-3 and judged < _JUDGED and "cone" not in (first, second):
            judged += 1
            found = judge(a, q[0], b, q[1])
            assert separation(a, q[0], b, q[1], found.normal) <= gap + tolerance  # no shorter way out
            if smooth:
                assert found.gap == pytest.approx(gap, rel=0.0, abs=tolerance)
                np.testing.assert_allclose(n, found.normal, rtol=0.0, atol=1e-9)
    assert judged == _JUDGED or "cone" in (first, second)


@pytest.mark.parametrize(("first", "second"), [c for c in COMBINATIONS if set(c) <= EXACT_IN_COAL], ids=str)
def test_distances_agree_with_coal(first: str, second: str) -> None:
    """Where `coal` is exact (spheres, capsules, boxes, hulls): distance and depth to 1e-7."""
    pytest.importorskip("coal")
    request = coal_request()
    pairs, poses = random_pairs(first, second, _PAIRS, np.random.default_rng([len(first), len(second), 1]))
    off = 0
    for (a, b), q, contacts in zip(pairs, poses, detected(pairs, poses), strict=True):
        distance, normal = coal_distance(coal_placed(a, q[0]), coal_placed(b, q[1]), request)
        if abs(distance - contacts.gap.min()) > 1e-7:
            # A few per cent of coal's own answers are not reached along its own normal.
            off += 1
            assert abs(separation(a, q[0], b, q[1], normal / np.linalg.norm(normal)) - distance) > 1e-7
    assert off <= 0.1 * _PAIRS


def test_no_pose_breaks_detection() -> None:
    """A sample of 2000 random and degenerate poses; ``benchmarks/fuzz_geometry.py`` looks at a million."""
    fuzz, r = Fuzz(), np.random.default_rng(1)
    for _ in range(2000 // fuzz.count + 1):
        assert fuzz.look(random_poses(fuzz.count, r)) == []
