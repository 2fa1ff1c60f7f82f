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
from signorini.dynamics.bodies import CONSERVING, EXPLICIT, IMPLICIT, NONE
from signorini.dynamics.flight import fly_bodies, stop_flights, turn_evenly
from signorini.dynamics.motion import move_bodies
from signorini.math.rotation import matrix, turn_exact
from signorini.scene.compile import compile_scene

ROUNDING = 1e-13  # of one step; inertias here are conditioned to 1e3 at most
INERTIA = np.diag([1.0, 2.0, 3.0])


class Flown(NamedTuple):
    """Orientation and angular velocity at the end, and what the kernels say of the step."""

    e: Array
    omega: Array
    v_spun: Array
    v_free: Array
    flight: Array


def fly(I: Array, e: Array, omega: Array, h: float, torque: Array | None = None, *, early: float = 0.0) -> Flown:
    """Let one body fly, with the impulse of `torque` after `early` seconds; the step acts where it begins."""
    q, v, p = np.zeros((1, 7)), np.zeros((1, 6)), np.zeros((1, 6))
    q[0, 3:], v[0, 3:] = e, omega
    if torque is not None:
        p[0, 3:] = h * torque
    R = rotation(e)
    v_spun, v_free, flight = v.copy(), v.copy(), np.zeros((1, 4))
    v_free[0, 3:] += R @ np.linalg.solve(I, R.T @ p[0, 3:])
    fly_bodies(np.array([CONSERVING]), I[None], q, q, v, p, early, h - early, v_spun, v_free, flight)
    q_end, v_end, flown = q.copy(), v_free.copy(), np.ones((1, 4))
    stop_flights(v_free, v_end, flight, h, flown)
    np.testing.assert_array_equal(flight, flown)
    move_bodies(q_end, v_end, h, True, flown, 0)
    return Flown(q_end[0, 3:], v_end[0, 3:], v_spun[0, 3:], v_free[0, 3:], flight[0])


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
    np.testing.assert_allclose(rotation(end.flight) @ rotation(e), rotation(end.e), rtol=0, atol=ROUNDING)


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
    """L+ = L + h tau, wherever in the step it acts; `v_spun` is what is left of `v_free` without M^-1 h tau."""
    h = 0.1
    end = fly(INERTIA, e, omega, h, torque, early=part * h)
    change = momentum(INERTIA, end.e, end.omega) - momentum(INERTIA, e, omega)
    np.testing.assert_allclose(change, h * torque, rtol=0, atol=ROUNDING)
    R = rotation(e)
    np.testing.assert_allclose(
        end.v_free - end.v_spun, R @ np.linalg.solve(INERTIA, R.T @ (h * torque)), rtol=0, atol=ROUNDING
    )


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
    np.testing.assert_array_equal(end.v_free, omega)
    np.testing.assert_array_equal(end.v_spun, omega)


def ended(change: Array, h: float = 0.1) -> tuple[Array, Array, Array]:
    """Return pose and velocity at the end of a flight whose velocity impulses changed, and that velocity."""
    q, v = np.array([[0, 0, 0, 1.0, 0, 0, 0]]), np.array([[1.0, 1, 1, 1, 2, 3]])
    v_free, flight, flown = v.copy(), np.zeros((1, 4)), np.ones((1, 4))
    fly_bodies(np.array([CONSERVING]), INERTIA[None], q, q, v, np.zeros((1, 6)), 0.0, h, v.copy(), v_free, flight)
    assert flight.any()
    v_end = v_free + change
    kept = v_end.copy()
    stop_flights(v_free, v_end, flight, h, flown)
    move_bodies(q, v_end, h, True, flown, 0)
    return q[0], v_end[0], kept[0]


@pytest.mark.parametrize("k", [3, 4, 5])
def test_what_is_turned_by_an_impulse_does_not_fly(k: int) -> None:
    """A change of spin that is more than a thousandth of what flight does ends it: bodies turn about their new spin."""
    change = np.zeros(6)
    change[k] = 0.01
    q, v, kept = ended(change)
    np.testing.assert_array_equal(v, kept)
    np.testing.assert_array_equal(q[3:], turn_exact((1.0, 0.0, 0.0, 0.0), kept[3:], 0.1))


def test_flight_ends_continuously() -> None:
    """Law: what just touches moves as what just does not; a push without a moment ends no flight."""
    q, v, _ = ended(np.zeros(6))
    far = ended(np.array([0, 0, 0, 0.01, 0, 0]))[0]
    assert np.abs(far - q).max() > 1e-3  # by which a switch would jump
    for size in (1e-15, 1e-12, 1e-9):
        near = ended(np.array([0, 0, 0, size, -size, size]))
        np.testing.assert_allclose(near[0], q, rtol=0, atol=100.0 * size)
        np.testing.assert_allclose(near[1], v, rtol=0, atol=1000.0 * size)
    pushed = ended(np.array([1.0, 2, 3, 0, 0, 0]))[0]
    np.testing.assert_array_equal(pushed[3:], q[3:])


@pytest.mark.parametrize("h", [1e-3, 0.1, 0.5])
def test_an_even_turn_ends_where_the_flight_does(h: float) -> None:
    """By definition: exp(h omega) of the spin returned is the turn of the flight."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        e, omega = rng.standard_normal(4), 2.0 * rng.standard_normal(3)
        e /= np.linalg.norm(e)
        end = fly(INERTIA, e, omega, h)
        path = np.zeros((1, 6))
        path[0, 3:] = omega
        if h * np.linalg.norm(omega) > 3.0:
            continue
        turn_evenly(end.flight[None], h, path)
        there = np.array(turn_exact(e, path[0, 3:], h))
        assert abs(there @ end.e) == pytest.approx(1.0, abs=1e-14)


def test_which_bodies_fly() -> None:
    """Those that nothing holds; spheres and cubes have no gyroscopic moment, and joints keep the implicit term."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace())
    scene.add_body(sg.Box((1, 2, 3)), position=(0, 0, 9), name="box")
    scene.add_body(sg.Box((1, 1, 1)), position=(5, 0, 9), name="cube")
    scene.add_body(sg.Box((1, 2, 3)), position=(9, 0, 9), name="joined")
    scene.add_joint("spherical", None, "joined", anchor=(9, 0, 10))
    model = compile_scene(scene)
    expected = {
        "conserving": [NONE, CONSERVING, IMPLICIT, IMPLICIT],
        "implicit": [NONE, IMPLICIT, IMPLICIT, IMPLICIT],
        "explicit": [NONE, EXPLICIT, EXPLICIT, EXPLICIT],
    }
    for word, ways in expected.items():
        np.testing.assert_array_equal(gyroscopic_ways(model, word), ways)
