"""Free flight of single bodies: what is kept, how accurate it is, and when there is none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import signorini as sg
from signorini._arrays import Array
from signorini.dynamics import gyroscopic_ways
from signorini.dynamics.bodies import CONSERVING, EVEN, EXPLICIT, IMPLICIT, NONE
from signorini.dynamics.flight import (
    FLIGHT_COLUMNS,
    fly_back,
    fly_bodies,
    spin_bodies,
    turn_evenly,
    turn_rates,
    veer_bodies,
    write_legs,
)
from signorini.dynamics.motion import move_bodies
from signorini.math.rotation import matrix, multiply, turn_exact
from signorini.scene.compile import compile_scene

pytestmark = pytest.mark.kernels

ROUNDING = 1e-13  # of one step; inertias here are conditioned to 1e3 at most
INERTIA = np.diag([1.0, 2.0, 3.0])


class Flown(NamedTuple):
    """Orientation and angular velocity at the end, and the flight."""

    e: Array
    omega: Array
    flight: Array


def flight(I: Array, e: Array, omega: Array, h: float) -> Flown:
    """Let one body fly."""
    q, v, flown = np.zeros((1, 7)), np.zeros((1, 6)), np.ones((1, FLIGHT_COLUMNS))
    q[0, 3:], v[0, 3:] = e, omega
    fly_bodies(np.array([CONSERVING]), I[None], q, v, h, flown)
    move_bodies(q, v, h, True, flown, 0)
    spin_bodies(flown, v)
    return Flown(q[0, 3:], v[0, 3:], flown[0])


def fly(I: Array, e: Array, omega: Array, h: float, torque: Array | None = None, *, early: float = 0.0) -> Flown:
    """Let one body fly, with the impulse of `torque` after `early` seconds."""
    if early > 0.0:
        e, omega, _ = flight(I, e, omega, early)
    if torque is not None:
        R = rotation(e)
        omega = omega + R @ np.linalg.solve(I, R.T @ (h * torque))
    return flight(I, e, omega, h - early)


def rotation(e: Array) -> Array:
    return np.array(matrix(e)).reshape(3, 3)


def momentum(I: Array, e: Array, omega: Array) -> Array:
    R = rotation(e)
    L: Array = R @ I @ R.T @ omega
    return L


def assert_kept(I: Array, e: Array, omega: Array, end: Flown) -> None:
    before, after = momentum(I, e, omega), momentum(I, end.e, end.omega)
    # omega itself is a rounded number: L feels this by as much as inertias differ
    scale = float(np.linalg.norm(I, 2) * np.linalg.norm(omega))
    np.testing.assert_allclose(after, before, rtol=0, atol=ROUNDING * scale)
    assert end.omega @ after == pytest.approx(omega @ before, rel=ROUNDING)
    assert np.linalg.norm(end.e) == pytest.approx(1.0, abs=1e-15)


units = st.tuples(*[st.floats(-1.0, 1.0)] * 4).map(np.array).filter(lambda e: np.linalg.norm(e) > 0.1)
quaternions = units.map(lambda e: e / np.linalg.norm(e))
axes = st.tuples(*[st.floats(-1.0, 1.0)] * 3).map(np.array).filter(lambda x: np.linalg.norm(x) > 1e-3)
moments = st.tuples(*[st.floats(-3.0, 0.0)] * 3).map(lambda x: 10.0 ** np.array(x))  # second moments of mass


def solid(second: Array, e: Array) -> Array:
    """Return the inertia of a body with these second moments along the axes of `e`."""
    R = rotation(e)
    I: Array = R @ np.diag(second.sum() - second) @ R.T
    return 0.5 * (I + I.T)


@given(moments, quaternions, quaternions, axes, st.floats(-6.0, 0.5))
def test_momentum_and_energy_are_kept(second: Array, principal: Array, e: Array, axis: Array, turn: float) -> None:
    """R I R^T omega and omega . R I R^T omega, thin rods and plates included, at up to three radians in a step."""
    omega = 10.0 ** (turn + 1.0) * axis / np.linalg.norm(axis)
    I = solid(second, principal)
    end = fly(I, e, omega, 0.1)
    assert end.flight.any()
    assert_kept(I, e, omega, end)


@pytest.mark.parametrize("turn", [100.0, 499.0, 501.0, 1e5])
def test_a_spin_without_meaning_keeps_both_too(turn: float) -> None:
    """In a thousand parts up to 500 radians in a step; beyond that the body turns about L."""
    e, omega = np.array([0.5, 0.5, -0.5, 0.5]), turn * np.array([0.6, 0.8, 1e-3])
    end = fly(INERTIA, e, omega, 1.0)
    before, after = momentum(INERTIA, e, omega), momentum(INERTIA, end.e, end.omega)
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-11 * np.abs(before).max())
    assert end.omega @ after == pytest.approx(omega @ before, rel=1e-11)
    assert not np.allclose(end.e, e)
    rate = float(omega @ before / (before @ before))  # 2 T/|L|^2
    about = np.allclose(rotation(end.e), rotation(np.array(turn_exact(e, rate * before, 1.0))), rtol=0, atol=1e-9)
    assert about == (turn > 500.0)


def test_the_mean_spin_turns_the_body() -> None:
    """R+ = R Q in body axes: Q turns about y = (x + w)/2, by the angle 2 atan(tan(h r/2) |y|/r), r = 2 T/|L|."""
    e, omega, h = np.array([0.8, 0.0, 0.6, 0.0]), np.array([1.0, -2.0, 1.5]), 0.1
    end = fly(INERTIA, e, omega, h)
    x, w = rotation(e).T @ omega, rotation(end.e).T @ end.omega
    y = 0.5 * (x + w)
    r, fast = x @ INERTIA @ x / np.linalg.norm(INERTIA @ x), np.linalg.norm(y)
    angle = 2.0 * np.arctan(np.tan(0.5 * h * r) * fast / r)
    n = np.array([[0, -y[2], y[1]], [y[2], 0, -y[0]], [-y[1], y[0], 0]]) / fast
    turn = np.eye(3) + np.sin(angle) * n + (1.0 - np.cos(angle)) * n @ n
    np.testing.assert_allclose(rotation(end.e), rotation(e) @ turn, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(rotation(end.flight[:4]) @ rotation(e), rotation(end.e), rtol=0, atol=ROUNDING)


@given(quaternions, axes, st.floats(1e-3, 0.28))
def test_flight_is_symmetric_in_time(e: Array, omega: Array, turn: float) -> None:
    """Backwards from the end it comes to the start; |w| <= sqrt(3) |x| here, so that both ways are of one part."""
    h = turn / float(np.linalg.norm(omega))
    there = fly(INERTIA, e, omega, h)
    back = fly(INERTIA, there.e, -there.omega, h)
    np.testing.assert_allclose(rotation(back.e), rotation(e), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(-back.omega, omega, rtol=0, atol=ROUNDING)


def exact(e: Array, omega: Array, t: float, torque: Array | None = None) -> Array:
    """Return quaternion and angular velocity after `t` seconds, by an integrator that knows nothing of the map."""
    constant = np.zeros(3) if torque is None else torque

    def rate(_: float, state: Array) -> Array:
        q, x = state[:4], state[4:]  # spin in body axes
        w, u = q[0], q[1:]
        turned = np.concatenate([[-0.5 * u @ x], 0.5 * (w * x + np.cross(u, x))])
        push = rotation(q / np.linalg.norm(q)).T @ constant
        return np.concatenate([turned, np.linalg.solve(INERTIA, push - np.cross(x, INERTIA @ x))])

    start = np.concatenate([e, rotation(e).T @ omega])
    end = solve_ivp(rate, (0.0, t), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return np.concatenate([end[:4], rotation(end[:4] / np.linalg.norm(end[:4])) @ end[4:]])


def flown(e: Array, omega: Array, t: float, n: int, torque: Array | None = None, *, theta: float = 1.0) -> Array:
    h = t / n
    for _ in range(n):
        end = fly(INERTIA, e, omega, h, torque, early=(1.0 - theta) * h)
        e, omega = end.e, end.omega
    return np.concatenate([e, omega])


START = np.array([0.5, -0.5, 0.5, 0.5])
SPIN = np.array([0.3, 2.0, 0.4])


def test_flight_is_of_the_second_order() -> None:
    truth = exact(START, SPIN, 3.0)
    coarse, fine = (np.abs(flown(START, SPIN, 3.0, n) - truth).max() for n in (100, 200))
    assert coarse < 1e-2
    assert 3.8 < coarse / fine < 4.2


def test_with_loads_it_is_of_the_first_order_and_at_theta_one_half_of_the_second() -> None:
    torque = np.array([0.5, -0.2, 1.0])
    truth = exact(START, SPIN, 2.0, torque)
    for theta, order in ((1.0, 2.0), (0.5, 4.0)):
        coarse, fine = (np.abs(flown(START, SPIN, 2.0, n, torque, theta=theta) - truth).max() for n in (200, 400))
        assert 0.9 * order < coarse / fine < 1.1 * order


@given(quaternions, axes, axes, st.floats(0.0, 1.0))
def test_loads_change_the_momentum_by_their_impulse(e: Array, omega: Array, torque: Array, part: float) -> None:
    """L+ = L + h tau, wherever in the step it acts."""
    h = 0.1
    end = fly(INERTIA, e, omega, h, torque, early=part * h)
    change = momentum(INERTIA, end.e, end.omega) - momentum(INERTIA, e, omega)
    np.testing.assert_allclose(change, h * torque, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_steady_spin_turns_by_omega_h(axis: int) -> None:
    """At three radians in a step, too: by the exponential, not by the Cayley map."""
    omega = 3.0 * np.eye(3)[axis]
    end = fly(INERTIA, np.array([1.0, 0, 0, 0]), omega, 1.0)
    np.testing.assert_allclose(end.e, [np.cos(1.5), *(np.sin(1.5) * np.eye(3)[axis])], rtol=0, atol=1e-15)
    np.testing.assert_allclose(end.omega, omega, rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-17])
def test_rest_is_left_alone(size: float) -> None:
    """A turn below rounding is no flight: not a bit changes."""
    omega = size * np.array([1.0, -1.0, 0.5]) / 1.5
    end = fly(INERTIA, START, omega, 1.0)
    assert not end.flight.any()
    np.testing.assert_array_equal(end.omega, omega)


@pytest.mark.parametrize("h", [1e-3, 0.1, 0.5])
def test_even_turns_end_where_the_flight_does(h: float) -> None:
    """By definition: exp(h omega) of the spin returned is the turn of a short flight, and the parts are that of any."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        e, omega, legs = rng.standard_normal(4), 2.0 * rng.standard_normal(3), np.zeros((1000, 7))
        e /= np.linalg.norm(e)
        end = flight(INERTIA, e, omega, h)
        n = write_legs(INERTIA, e, omega, h, legs)
        assert n == np.ceil(h * np.linalg.norm(omega) / 0.5)
        there = np.array(turn_exact(legs[n - 1, :4], legs[n - 1, 4:], h / n))
        assert abs(there @ end.e) == pytest.approx(1.0, abs=1e-14)
        if n == 1:
            there = np.array(turn_exact(e, even_spin(INERTIA, e, omega, h), h))
            assert abs(there @ end.e) == pytest.approx(1.0, abs=1e-14)


@given(quaternions, axes, st.floats(-3.0, -0.4))
def test_what_a_flight_veers_is_its_mean_spin_less_the_first(e: Array, axis: Array, turn: float) -> None:
    """By definition: turning evenly about omega + veer leads to where the flight does."""
    omega, veer = 10.0**turn * axis / np.linalg.norm(axis), np.ones((1, 3))
    end, q, v = flight(INERTIA, e, omega, 1.0), np.zeros((1, 7)), np.zeros((1, 6))
    q[0, 3:], v[0, 3:] = e, omega
    veer_bodies(np.array([CONSERVING]), INERTIA[None], q, v, 1.0, veer)
    there = np.array(turn_exact(tuple(e), tuple(omega + veer[0]), 1.0))
    assert abs(there @ end.e) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize(
    ("I", "omega"), [(np.eye(3), (0.1, 0.2, 0.1)), (INERTIA, (0.4, 0.4, 0.4)), (INERTIA, (1e-14, 1e-14, 0.0))]
)
def test_what_turns_evenly_or_far_does_not_veer(I: Array, omega: tuple[float, float, float]) -> None:
    """Zero to the bit for balls and what hardly turns, so that nothing at rest is asked to move; and for parts."""
    q, v, veer = np.zeros((1, 7)), np.zeros((1, 6)), np.ones((1, 3))
    q[0, 3:], v[0, 3:] = START, omega
    veer_bodies(np.array([CONSERVING]), I[None], q, v, 1.0, veer)
    np.testing.assert_array_equal(veer, np.zeros((1, 3)))


def even_spin(I: Array, e: Array, omega: Array, h: float) -> Array:
    """Return the spin of the path of one body."""
    q, path = np.zeros((1, 7)), np.zeros((1, 6))
    q[0, 3:], path[0, 3:] = e, omega
    turn_evenly(np.array([CONSERVING]), I[None], q, flight(I, e, omega, h).flight[None], h, path)
    return path[0, 3:]


@given(moments, quaternions, axes, st.floats(-2.0, 0.4))
def test_no_body_turns_faster_than_it_is_said_to(second: Array, e: Array, axis: Array, turn: float) -> None:
    """Law of the reach: no part is faster than `turn_rates` says, or by a quarter where the turn is small."""
    I, omega = solid(second, START), 10.0**turn * axis / np.linalg.norm(axis)
    q, v, rate, legs = np.zeros((1, 7)), np.zeros((1, 6)), np.zeros(1), np.zeros((10, 7))
    q[0, 3:], v[0, 3:] = e, omega
    turn_rates(np.array([CONSERVING]), I[None], q, v, 1.0, rate)
    n = write_legs(I, e, omega, 1.0, legs)
    fastest = max(np.linalg.norm(legs[:n, 4:], axis=1))
    assert fastest <= (1.0 if 10.0**turn > 0.2 else 1.25) * rate[0] * (1.0 + 1e-9)
    assert np.linalg.norm(even_spin(I, e, omega, 1.0)) >= fastest * (1.0 - 1e-9)


def test_which_bodies_fly() -> None:
    """All but spheres and cubes, which have no gyroscopic moment, and, in the papers' scheme, joined bodies."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace())
    scene.add_body(sg.Box((1, 2, 3)), position=(0, 0, 9), name="box")
    scene.add_body(sg.Box((1, 1, 1)), position=(5, 0, 9), name="cube")
    scene.add_body(sg.Box((1, 2, 3)), position=(9, 0, 9), name="joined")
    scene.add_joint("spherical", None, "joined", anchor=(9, 0, 10))
    model = compile_scene(scene)
    expected = {
        "conserving": [NONE, CONSERVING, IMPLICIT, CONSERVING],
        "implicit": [NONE, IMPLICIT, IMPLICIT, IMPLICIT],
        "explicit": [NONE, EXPLICIT, EXPLICIT, EXPLICIT],
    }
    for word, ways in expected.items():
        np.testing.assert_array_equal(gyroscopic_ways(model, word), ways)
    papers = gyroscopic_ways(model, "conserving", joined_fly=False)
    np.testing.assert_array_equal(papers, [NONE, CONSERVING, IMPLICIT, IMPLICIT])


@pytest.mark.parametrize("turn", [0.01, 0.4, 3.1, 40.3])
@pytest.mark.parametrize("way", [CONSERVING, EVEN])
def test_flights_are_found_from_their_ends(turn: float, way: int) -> None:
    """The map is symmetric in time, so from where a flight ends it leads back to where it began."""
    r = np.random.default_rng(4)
    for _ in range(20):
        I, q, v = np.diag([1.0, 2.0, 2.5]), np.zeros((1, 7)), np.zeros((1, 6))
        q[0, 3:], v[0, 3:] = r.standard_normal(4), r.standard_normal(3)
        q[0, 3:] /= np.linalg.norm(q[0, 3:])
        v[0, 3:] *= turn / np.linalg.norm(v[0, 3:])
        flown, found = np.zeros((1, 7)), np.zeros((1, 7))
        fly_bodies(np.array([way]), I[None], q, v, 1.0, flown)
        end, fast = q.copy(), v.copy()
        end[0, 3:] = multiply(tuple(flown[0, :4]), tuple(q[0, 3:]))
        fast[0, 3:] = flown[0, 4:]
        fly_back(np.array([way]), I[None], end, fast, v, 1.0, found)
        sign = np.sign(found[0, :4] @ flown[0, :4])
        assert np.abs(sign * found[0, :4] - flown[0, :4]).max() < 1e-13 * max(1.0, turn)
