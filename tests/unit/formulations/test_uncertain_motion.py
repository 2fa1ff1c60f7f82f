"""What errors of contacts leave open of where a body goes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini._grades import UNSURE_REMARK, UNSURE_WRONG
from signorini.formulations.uncertain_motion import uncertain_motion

GRAVITY, H = 10.0, 0.01


def open_part(
    gap: Array, miss: Array, mu: float = 0.0, friction: float = 0.0, fall: float = 0.0, spin: float = 0.0
) -> tuple[float, int]:
    """Return what is open of a body of 2 kg that four corners of a square of a metre press with 100 N s each.

    The body below may move upwards or spin about y, about the middle of the square.
    """
    value, index = np.zeros((4, 10)), np.zeros((4, 3), dtype=np.int64)
    value[:, :2] = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]
    value[:, 8], value[:, 9], index[:, 1] = 1.0, gap, 1
    impulse = np.tile([100.0, friction, 0.0], (4, 1))
    mass, thin, v = np.array([0.0, 2.0]), np.array([np.inf, 1.0]), np.zeros((2, 6))
    v[1, 0], v[0, 2], v[0, 4] = 0.3, fall, spin
    more = 1, np.zeros((2, 7)), v, mass, thin, GRAVITY, H, np.zeros(2), np.zeros(2)
    return uncertain_motion(value, index, impulse, miss, np.full(4, mu), *more)


def test_a_tilt_pushes_aside() -> None:
    """Formula: 400 N s along a normal open by an angle d / sqrt(2) m, over 2 kg (g h + 0.3 m/s + 1e-6 m / h)."""
    d, own = 1e-6, 2.0 * (GRAVITY * H + 0.3 + 1e-6 / H)
    expected = 400.0 * d / np.sqrt(2.0) / own
    overlap, error = np.array([0.0, 0.0, -d, 0.0]), np.array([0.0, d / H, 0.0, 0.0])
    for part, body in (open_part(overlap, np.zeros(4)), open_part(np.zeros(4), error)):
        assert part == pytest.approx(expected)
        assert body == 1


@pytest.mark.parametrize(("fall", "spin", "closing"), [(7.0, 0.0, 7.0), (0.0, 14.0, 7.0), (-7.0, 0.0, 0.0)])
def test_what_is_hit_is_measured_by_what_hits_it(fall: float, spin: float, closing: float) -> None:
    """The speed at which contacts close is added; half a metre from its axis a spin of 14 rad/s moves by 7 m/s."""
    gap, d = np.array([0.0, 0.0, -1e-6, 0.0]), 1e-6
    own = 2.0 * (GRAVITY * H + 0.3 + closing + 1e-6 / H)
    assert open_part(gap, np.zeros(4), fall=fall, spin=spin)[0] == pytest.approx(400.0 * d / np.sqrt(2.0) / own)


def test_what_is_the_same_everywhere_leaves_no_angle() -> None:
    """An overlap, or an error of the law, that all contacts share turns no normal; a gap that closes is no error."""
    assert open_part(np.full(4, -1e-3), np.full(4, 1e-3)) == (0.0, -1)
    assert open_part(np.array([0.0, 1e-3, 0.0, 0.0]), np.zeros(4)) == (0.0, -1)


def test_friction_that_holds_takes_the_push() -> None:
    """Inside the cone friction changes by what is missing; at its edge it cannot."""
    gap = np.array([0.0, 0.0, -1e-6, 0.0])
    assert open_part(gap, np.zeros(4), 0.5, 49.0) == (0.0, -1)
    assert open_part(gap, np.zeros(4), 0.5, 50.0)[1] == 1


@pytest.mark.parametrize(
    ("part", "verdict"),
    [
        (0.9 * UNSURE_REMARK, "trusted"),
        (1.1 * UNSURE_REMARK, "trusted with remarks"),
        (1.1 * UNSURE_WRONG, "not trusted"),
    ],
)
def test_bounds(part: float, verdict: str) -> None:
    """A tenth of its velocity is worth a remark; of a body of which all is open nothing is known."""
    assert (UNSURE_REMARK, UNSURE_WRONG) == (0.1, 1.0)
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace())
    scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5))
    scene.set_contact(friction=0.0)
    certificate = sg.simulate(scene, duration=0.02, h=H).certificate
    assert certificate.verdict == "trusted"
    assert replace(certificate, unsure=np.array([0.0, part])).verdict == verdict
