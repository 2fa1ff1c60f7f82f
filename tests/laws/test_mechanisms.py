"""Mechanisms with known motion: pendulum, four-bars, slider-crank, Bricard's linkage, Andrews' squeezer, chain.

The schemes are of first order, so each motion is checked by the fall of its error when h is halved.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares
from scipy.special import ellipj, ellipk

import signorini as sg
from signorini._arrays import Array
from tests.by_python.step import ByPython
from tests.joint_scenes import GRAVITY, chain, link, pendulum

FIRST_ORDER = (1.6, 2.5)


def run(scene: sg.Scene, duration: float, h: float, **options: Any) -> sg.Trajectory:
    formulation = sg.MoreauJean(**options)
    trajectory = sg.simulate(scene, duration=duration, h=h, formulation=formulation, progress=False)
    assert trajectory.certificate.energy_error.max() < 1e-11
    return trajectory


def halved(errors: list[float]) -> bool:
    return FIRST_ORDER[0] < errors[0] / errors[1] < FIRST_ORDER[1]


# --- the simple pendulum --------------------------------------------------------------


def test_pendulum_against_elliptic_functions() -> None:
    """From the horizontal: ``sin(theta/2) = k sn(K - w t)``, theta from the vertical, ``k = sin(pi/4)``."""
    omega_0 = np.sqrt(0.5 * GRAVITY / (1.0 / 3.0))
    t = 1.0
    sn = ellipj(ellipk(0.5) - omega_0 * t, 0.5)[0]
    exact = 0.5 * np.pi - 2.0 * np.arcsin(np.sqrt(0.5) * sn)
    errors = [float(abs(run(pendulum(), t, h).joint("hinge").coordinate[-1] - exact)) for h in (0.01, 0.005)]
    assert errors[0] < 0.1
    assert halved(errors)


# --- N four-bars in a row ---------------------------------------------------------------


def four_bars(n: int, speed: float = 1.0) -> sg.Scene:
    """N squares of rods (1 m, 1 kg) side by side, standing up, their tops moving at `speed` to the right."""
    scene = sg.Scene(planar=True)
    for k in range(n + 1):
        link(scene, (k, 0), (k, 1), f"v{k}", velocity=(0.5 * speed, 0), angular_velocity=-speed)
        scene.add_joint("revolute", None, f"v{k}", anchor=(k, 0), name=f"base{k}")
    for k in range(n):
        link(scene, (k, 1), (k + 1, 1), f"h{k}", velocity=(speed, 0))
        scene.add_joint("revolute", f"v{k}", f"h{k}", anchor=(k, 1))
        scene.add_joint("revolute", f"h{k}", f"v{k + 1}", anchor=(k + 1, 1))
    for k in range(n):  # rods in one line lie on each other
        for a, b in ((f"v{k}", f"v{k + 1}"), (f"h{k}", f"h{k + 1}"), (f"h{k}", f"v{k + 2}"), (f"v{k}", f"h{k + 1}")):
            if a in scene.bodies and b in scene.bodies:
                scene.exclude(a, b)
    return scene


def four_bar_angle(n: int, times: Array) -> Array:
    """All vertical rods turn alike: ``((n+1)/3 + n) theta'' = ((n+1)/2 + n) g sin theta``."""
    factor = ((n + 1) / 2 + n) * GRAVITY / ((n + 1) / 3 + n)
    found = solve_ivp(
        lambda _, x: (x[1], factor * np.sin(x[0])), (0, times[-1]), (0, 1), rtol=1e-10, atol=1e-10, t_eval=times
    )
    return np.asarray(found.y[0])


@pytest.mark.parametrize("n", [1, 4, 40])
def test_four_bars_move_as_one_pendulum(n: int) -> None:
    errors = []
    for h in (0.02, 0.01):
        trajectory = run(four_bars(n), 0.6, h)
        angle = -trajectory.joint(f"base{n}").coordinate
        errors.append(float(np.abs(angle - four_bar_angle(n, trajectory.time)).max()))
        assert trajectory.certificate.joint_drift.max() < 5.0 * h**2
    assert errors[0] < 0.05
    assert errors[0] / errors[1] > FIRST_ORDER[0]


def test_a_turning_four_bar_keeps_its_energy() -> None:
    """Some turns, twice in each of them through the position where all rods lie in one line."""
    changes, errors = [], []
    for h in (0.01, 0.005):
        trajectory = run(four_bars(1), 5.0, h)
        energy = trajectory.energy().total
        changes.append(float(np.abs(energy - energy[0]).max()))
        errors.append(float(abs(-trajectory.joint("base0").coordinate[-1] - four_bar_angle(1, trajectory.time)[-1])))
        assert trajectory.certificate.joint_drift.max() < 20.0 * h**2
    assert changes[0] < 0.05 * 4.0 * GRAVITY  # of the energy that goes to and fro
    assert changes[0] / changes[1] > FIRST_ORDER[0]
    assert errors[0] < 0.02 * 5.0 * np.pi
    assert errors[0] / errors[1] > FIRST_ORDER[0]


def test_forty_four_bars_for_ten_seconds_keep_their_loops_closed() -> None:
    trajectory = run(four_bars(40), 10.0, 0.02)
    assert not trajectory.certificate.failed().any()
    assert trajectory.certificate.joint_drift.max() < 0.02
    energy = trajectory.energy().total
    assert energy.max() - energy[0] < 0.02 * 122.0 * GRAVITY


# --- a slider-crank ---------------------------------------------------------------------


def test_slider_crank_follows_its_closed_form() -> None:
    """``x = r cos a + sqrt(l^2 - r^2 sin^2 a)`` with a driven crank; on the joints at every step by projection."""
    r, l, speed = 0.2, 0.7, 6.0
    scene = sg.Scene(planar=True)
    link(scene, (0, 0), (r, 0), "crank")
    link(scene, (r, 0), (r + l, 0), "rod")
    scene.add_body(sg.Disc(0.05), mass=0.5, position=(r + l, 0), name="slider")
    scene.add_joint("revolute", None, "crank", anchor=(0, 0), motion=lambda t: speed * t, name="drive")
    scene.add_joint("revolute", "crank", "rod", anchor=(r, 0))
    scene.add_joint("revolute", "rod", "slider", anchor=(r + l, 0))
    scene.add_joint("prismatic", None, "slider", anchor=(r + l, 0), axis=(1, 0), name="guide")
    scene.exclude("crank", "slider")
    trajectory = run(scene, 2.0, 0.01, projection=True)
    angle = speed * trajectory.time
    exact = r * np.cos(angle) + np.sqrt(l**2 - (r * np.sin(angle)) ** 2) - (r + l)
    np.testing.assert_allclose(trajectory.joint("guide").coordinate, exact, atol=1e-10)
    assert trajectory.certificate.redundant_rows.max() == 0


# --- Bricard's linkage --------------------------------------------------------------------

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], dtype=float)


def bricard() -> sg.Scene:
    """Five rods (1 m, 1 kg) along the edges of a cube, six hinges at right angles to both rods, gravity along -y."""
    scene = sg.Scene(gravity=(0, -GRAVITY, 0))
    for k in range(5):
        along = CORNERS[k + 1] - CORNERS[k]
        scene.add_body(
            sg.Sphere(0.01),
            mass=1.0,
            inertia=1e-9 * np.eye(3) + (np.eye(3) - np.outer(along, along)) / 12.0,
            mass_centre=(0, 0, 0),
            position=0.5 * (CORNERS[k] + CORNERS[k + 1]),
            name=f"rod{k}",
        )
    for k in range(6):
        a, b = (None if k == 0 else f"rod{k - 1}"), f"rod{k}"
        pair = (a, b) if k < 5 else (None, "rod4")
        scene.add_joint("revolute", *pair, anchor=CORNERS[k], axis=AXES[k], name=f"hinge{k}")
    return scene


def rotation(axis: Array, angle: float) -> Array:
    K = np.cross(np.eye(3), axis)
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K)


def bricard_rods(angles: Array) -> tuple[Array, Array, Array]:
    """Forward kinematics: centres (5, 3) and directions (5, 3) of the rods, and how far the loop is open."""
    R, x, centres, along = np.eye(3), CORNERS[0].copy(), [], []
    for k in range(5):
        R = R @ rotation(AXES[k], angles[k])
        edge = R @ (CORNERS[k + 1] - CORNERS[k])
        centres.append(x + 0.5 * edge)
        along.append(edge)
        x = x + edge
    return np.array(centres), np.array(along), np.concatenate([x - CORNERS[5], (R @ AXES[5] - AXES[5])[1:]])


def bricard_angle(t: float) -> float:
    """Angle of the first hinge from ``m(a) a'' + m'(a) a'^2/2 + V'(a) = 0``, its one degree of freedom."""
    grid = np.linspace(-0.1, 0.9, 51)
    zero = int(np.argmin(np.abs(grid)))
    angles = np.zeros((grid.size, 5))
    for span in (range(zero + 1, grid.size), range(zero - 1, -1, -1)):
        for k in span:
            near = angles[k - span.step, 1:]

            def opening(rest: Array, first: float = grid[k]) -> Array:
                return bricard_rods(np.array([first, *rest]))[2]

            found = least_squares(opening, near, xtol=1e-14, ftol=1e-14, gtol=1e-14)
            assert np.abs(found.fun).max() < 1e-8  # mobile: the loop closes for every angle
            angles[k] = [grid[k], *found.x]
    rods = [bricard_rods(row) for row in angles]
    centre, along = (CubicSpline(grid, [rod[k] for rod in rods]) for k in (0, 1))
    V = CubicSpline(grid, GRAVITY * centre(grid)[:, :, 1].sum(axis=1))
    mass = CubicSpline(grid, (centre(grid, 1) ** 2).sum(axis=(1, 2)) + (along(grid, 1) ** 2).sum(axis=(1, 2)) / 12.0)

    def rate(_: float, x: Array) -> tuple[float, float]:
        a, speed = x
        return speed, float(-(V(a, 1) + 0.5 * mass(a, 1) * speed**2) / mass(a))

    return float(solve_ivp(rate, (0, t), (0, 0), rtol=1e-8, atol=1e-9).y[0, -1])


def test_bricard_is_overconstrained_and_moves() -> None:
    """Thirty equations for thirty coordinates, one of them redundant: one motion is left, and it is the right one."""
    duration = 0.8
    exact = bricard_angle(duration)
    errors = []
    for h in (0.02, 0.01):
        trajectory = run(bricard(), duration, h)
        assert trajectory.certificate.redundant_rows.min() == trajectory.certificate.redundant_rows.max() == 1
        errors.append(float(abs(trajectory.joint("hinge0").coordinate[-1] - exact)))
    assert 0.3 < exact < 0.9
    assert errors[0] < 0.1 * exact
    assert halved(errors)


# --- Andrews' squeezer ----------------------------------------------------------------------

START = {
    "beta": -0.0617138900142764, "theta": 0.0, "gamma": 0.45527981916307, "phi": 0.222668390165886,
    "delta": 0.487364979543843, "omega": -0.222668390165886, "epsilon": 1.23054744454982,
}  # fmt: skip
AFTER_30_MS = {
    "beta": 15.81077119629904, "theta": -15.75637105984298, "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948, "delta": 0.5244099658805304, "omega": 0.5347301163226948, "epsilon": 1.048080741042263,
}  # fmt: skip


def squeezer() -> sg.Scene:
    """Seven bodies, ten hinges, a spring and a motor torque (Hairer & Wanner II, section VI.9; Schiehlen 1990)."""

    def ray(angle: float) -> Array:
        return np.array([np.cos(angle), np.sin(angle)])

    def side(angle: float) -> Array:
        return np.array([np.sin(angle), -np.cos(angle)])

    beta, theta, gamma, phi, delta, omega, epsilon = START.values()
    A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
    crank = 0.007 * ray(beta)
    P = crank - 0.028 * ray(beta + theta)
    lower, upper = A + 0.04 * ray(delta), A + 0.04 * side(epsilon)
    bodies = {  # mass, inertia, mass centre
        "K1": (0.04325, 2.194e-6, 0.00092 * ray(beta)),
        "K2": (0.00365, 4.410e-7, crank - 0.0115 * ray(beta + theta)),
        "K3": (0.02373, 5.255e-6, B + 0.01874 * ray(gamma) + 0.01043 * side(gamma)),
        "K4": (0.00706, 5.667e-7, lower + (0.02 - 0.01421) * side(phi + delta)),
        "K5": (0.07050, 1.169e-5, A + 0.02308 * ray(delta) + 0.00916 * side(delta)),
        "K6": (0.00706, 5.667e-7, upper + (0.02 - 0.01421) * ray(omega + epsilon)),
        "K7": (0.05498, 1.912e-5, A + 0.01228 * ray(epsilon) + 0.00449 * side(epsilon)),
    }
    scene = sg.Scene(planar=True, gravity=(0, 0))
    for name, (mass, inertia, centre) in bodies.items():
        scene.add_body(sg.Disc(1e-3), mass=mass, inertia=inertia, mass_centre=(0, 0), position=centre, name=name)
    for a in bodies:
        for b in bodies:
            if a < b:
                scene.exclude(a, b)
    hinges: list[tuple[str, str | None, str, Any]] = [
        ("beta", None, "K1", (0, 0)), ("theta", "K1", "K2", crank), ("gamma", None, "K3", B),
        ("delta", None, "K5", A), ("phi", "K5", "K4", lower), ("epsilon", None, "K7", A), ("omega", "K7", "K6", upper),
        ("P3", "K2", "K3", P), ("P4", "K2", "K4", P), ("P6", "K2", "K6", P),
    ]  # fmt: skip
    for name, body_a, body_b, anchor in hinges:
        scene.add_joint("revolute", body_a, body_b, anchor=anchor, name=name)
    D = B + 0.02 * ray(gamma) + 0.018 * side(gamma)
    scene.add_spring(None, "K3", anchor=[C, D], stiffness=4530.0, length=0.07785)
    scene.add_force("K1", torque=0.033)
    return scene


def test_andrews_squeezer_against_the_published_solution() -> None:
    """Angles at 30 ms (IVP test set, 14 digits): first order, and their extrapolation to h = 0."""
    ends = []
    for h in (4e-5, 2e-5):
        trajectory = run(squeezer(), 0.03, h)
        assert trajectory.time[-1] == pytest.approx(0.03)
        ends.append({name: trajectory.joint(name).coordinate[-1] + START[name] for name in AFTER_30_MS})
    for name in ("beta", "theta"):
        errors = [float(abs(end[name] - AFTER_30_MS[name])) for end in ends]
        assert errors[0] < 0.05 * abs(AFTER_30_MS[name])
        assert halved(errors)
    for name, exact in AFTER_30_MS.items():
        assert 2.0 * ends[1][name] - ends[0][name] == pytest.approx(exact, abs=0.02)


# --- a chain -------------------------------------------------------------------------------


def test_chain_stays_together() -> None:
    assert run(chain(5), 0.3, 0.004).certificate.joint_drift.max() < 1e-9
    assert run(chain(5), 1.0, 1e-3, projection=True).certificate.joint_drift.max() < 1e-6


def test_energy_of_a_chain_is_kept_to_first_order() -> None:
    changes = []
    for h in (0.004, 0.002):
        energy = run(chain(10), 0.3, h, projection=True).energy()
        changes.append(float(abs(energy.total[-1] - energy.total[0])))
    assert changes[0] < 0.05 * float(energy.kinetic[-1])
    assert halved(changes)


@pytest.mark.parametrize("formulation", [sg.MoreauJean(), ByPython(solver=sg.NSGS())], ids=["fast", "python"])
@pytest.mark.parametrize("load", [10.0, 1e4])
def test_a_loaded_scissor_lift_stays_in_its_plane_and_where_it_is(formulation: Any, load: float) -> None:
    """Across the plane a loaded linkage is unstable: rows that act there by rounding fold it in half a second."""
    long, angle = 2.0, 0.5
    x, y = long * np.cos(angle), long * np.sin(angle)
    scene = sg.Scene(planar=True)
    bodies = {"u": (1.0, (x / 2, y / 2)), "v": (1.0, (x / 2, y / 2)), "platform": (load, (x / 2, y + 0.05))}
    bodies |= {"foot": (0.1, (x, 0)), "head": (0.1, (x, y))}
    for name, (mass, place) in bodies.items():
        scene.add_body(sg.Disc(0.05), mass=mass, inertia=0.3 * mass, position=place, name=name)
    scene.add_joint("revolute", None, "u", anchor=(0, 0))
    scene.add_joint("revolute", "u", "v", anchor=(x / 2, y / 2))
    scene.add_joint("revolute", "foot", "v", anchor=(x, 0))
    scene.add_joint("prismatic", None, "foot", anchor=(x, 0), axis=(1, 0), motion=lambda t: 0.0)
    scene.add_joint("revolute", "v", "platform", anchor=(0, y))
    scene.add_joint("revolute", "u", "head", anchor=(x, y))
    scene.add_joint("prismatic", "platform", "head", anchor=(x, y), axis=(1, 0))
    for one, other in combinations(bodies, 2):
        scene.exclude(one, other)
    trajectory = sg.simulate(scene, duration=1.0, h=0.01, formulation=formulation, progress=False)
    assert not trajectory.v[:, :, 2:5].any()
    assert np.abs(trajectory.q - trajectory.q[0]).max() < 1e-12
    assert trajectory.verdict == "trusted"
