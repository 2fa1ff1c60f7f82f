"""What errors of contacts leave open of where a body goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini._grades import HIT_TURN_REMARK, UNSURE_REMARK, UNSURE_WRONG
from signorini.engine.uncertain_motion import uncertain_motion

GRAVITY, H = 10.0, 0.01


def found(
    gap: Array, miss: Array, mu: float = 0.0, friction: float = 0.0, fall: float = 0.0, spin: float = 0.0
) -> tuple[float, int, float, int]:
    """Return what is told of a body of 2 kg that four corners of a square of a metre press with 100 N s each.

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


def open_part(*args: Any, **options: Any) -> tuple[float, int]:
    """Return what is open of its velocity, see `found`, and of which body."""
    return found(*args, **options)[:2]


@pytest.mark.kernels
def test_a_tilt_pushes_aside() -> None:
    """Formula: 400 N s along a normal open by an angle d / sqrt(2) m, over 2 kg (g h + 0.3 m/s + 1e-6 m / h)."""
    d, own = 1e-6, 2.0 * (GRAVITY * H + 0.3 + 1e-6 / H)
    expected = 400.0 * d / np.sqrt(2.0) / own
    overlap, error = np.array([0.0, 0.0, -d, 0.0]), np.array([0.0, d / H, 0.0, 0.0])
    for part, body in (open_part(overlap, np.zeros(4)), open_part(np.zeros(4), error)):
        assert part == pytest.approx(expected)
        assert body == 1


@pytest.mark.kernels
@pytest.mark.parametrize(("fall", "spin", "closing"), [(7.0, 0.0, 7.0), (0.0, 14.0, 7.0), (-7.0, 0.0, 0.0)])
def test_what_is_hit_is_measured_by_what_hits_it(fall: float, spin: float, closing: float) -> None:
    """The speed at which contacts close is added; half a metre from its axis a spin of 14 rad/s moves by 7 m/s."""
    gap, d = np.array([0.0, 0.0, -1e-6, 0.0]), 1e-6
    own = 2.0 * (GRAVITY * H + 0.3 + closing + 1e-6 / H)
    assert open_part(gap, np.zeros(4), fall=fall, spin=spin)[0] == pytest.approx(400.0 * d / np.sqrt(2.0) / own)


@pytest.mark.kernels
def test_what_is_the_same_everywhere_leaves_no_angle() -> None:
    """An overlap, or an error of the law, that all contacts share turns no normal; a gap that closes is no error."""
    assert open_part(np.full(4, -1e-3), np.full(4, 1e-3)) == (0.0, -1)
    assert open_part(np.array([0.0, 1e-3, 0.0, 0.0]), np.zeros(4)) == (0.0, -1)


@pytest.mark.kernels
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


@pytest.mark.kernels
@pytest.mark.parametrize(("spin", "fall"), [(200.0, 0.0), (-200.0, 30.0)])
def test_the_turn_of_a_hit(spin: float, fall: float) -> None:
    """Points half a metre beside the axis close at 200 rad/s; their arms are 1 / sqrt(2) m long. Falls do not turn."""
    turn, body = found(np.zeros(4), np.zeros(4), spin=spin, fall=fall)[2:]
    assert turn == pytest.approx(200.0 * H / np.sqrt(2.0))
    assert body == 0
    assert found(np.zeros(4), np.zeros(4), fall=30.0)[2:] == (0.0, -1)


def rotor(h: float, turn: float, reach: float = 0.42) -> sg.Certificate:
    """Return the certificate of a prescribed bar that turns by so much a step and meets a plate after one radian."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.set_contact(friction=0.2)
    w, a = turn / h, 1.0

    def about(angle: float) -> tuple[float, float, float, float]:
        return (np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))

    scene.add_fixed(sg.Box((1.0, 0.02, 0.05)), motion=lambda t: ((0, 0, 0), about(w * t)), name="rotor")
    at = (reach * np.cos(a), reach * np.sin(a), 0.0)
    scene.add_body(sg.Box((0.1, 5e-4, 0.1)), mass=0.01, position=at, orientation=about(a), name="plate")
    return sg.simulate(scene, duration=np.ceil(1.5 / turn) * h, h=h).certificate


def test_a_rotor_that_hits_at_more_than_a_radian_a_step_is_told() -> None:
    """Its turn in a step, to the sine of the angle between its arm and the way it pushes; a wheel only rolls."""
    assert HIT_TURN_REMARK == 1.0
    fast, slow = rotor(0.01, 2.5), rotor(0.01, 0.3)
    assert fast.hit_turn.max() == pytest.approx(2.5, rel=0.05)
    assert fast.hit_body[np.argmax(fast.hit_turn)] == 0
    assert fast.verdict != "trusted"
    assert slow.hit_turn.max() == pytest.approx(0.3, rel=0.05)
    assert slow.verdict == "trusted"


def test_what_rolls_hits_nothing_by_turning() -> None:
    """A wheel of ten centimetres that rolls at two radians a step presses through its axis."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace())
    upright = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
    wheel = sg.Cylinder(0.1, 0.05)
    scene.add_body(
        wheel, mass=1.0, position=(0, 0, 0.1), orientation=upright, velocity=(20, 0, 0), angular_velocity=(0, 200, 0)
    )
    scene.set_contact(friction=0.5)
    certificate = sg.simulate(scene, duration=0.1, h=0.01).certificate
    assert certificate.hit_turn.max() < 1e-3
