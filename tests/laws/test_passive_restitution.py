"""The passive law of restitution: no collision gains energy, no rebound goes through what is behind, Newton's else."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import signorini as sg
from signorini._arrays import Array
from tests.by_python.step import ByPython
from tests.laws.test_restitution_laws import ROUNDING, Rod, collide
from tests.scenes import GRAVITY

SHAPES = ("sphere", "box", "capsule", "ellipsoid", "hull")
FAMILIES = ("single", "corner", "stack", "pendulum", "driven")


def shape(r: np.random.Generator, kind: str) -> Any:
    if kind == "sphere":
        return sg.Sphere(r.uniform(0.08, 0.15))
    if kind == "box":
        return sg.Box(r.uniform(0.1, 0.3, 3))
    if kind == "capsule":
        return sg.Capsule(radius=r.uniform(0.05, 0.1), length=r.uniform(0.1, 0.4))
    if kind == "ellipsoid":
        return sg.Ellipsoid(r.uniform(0.06, 0.2, 3))
    return sg.ConvexHull(0.1 * r.normal(size=(12, 3)))


def throw(r: np.random.Generator, scene: sg.Scene, name: str, kind: str, position: Any, velocity: Any) -> None:
    """Add a body of random size, mass, orientation and spin."""
    turn = r.normal(size=4)
    scene.add_body(
        shape(r, kind),
        mass=10.0 ** r.uniform(-0.7, 0.7),
        position=position,
        orientation=turn / np.linalg.norm(turn),
        velocity=velocity,
        angular_velocity=r.uniform(-10, 10, 3),
        name=name,
    )


def hang(r: np.random.Generator, scene: sg.Scene) -> None:
    """Add a pendulum of one to three bars that swings towards the floor."""
    n, half, angle, spin = int(r.integers(1, 4)), r.uniform(0.2, 0.4), r.uniform(-1.5, -0.3), r.uniform(2, 8)
    along = np.array([np.cos(angle), 0.0, np.sin(angle)])
    turn = np.array([1.0 + along[2], -along[1], along[0], 0.0])  # of z to the bars
    top = np.array([0.0, 0.0, 0.15 - 2.0 * n * half * along[2]])
    for k in range(n):
        anchor = top + 2.0 * half * k * along
        centre = anchor + half * along
        scene.add_body(
            sg.Capsule(radius=0.04, length=2.0 * half - 0.1),
            mass=10.0 ** r.uniform(-0.5, 0.5),
            position=centre,
            orientation=turn / np.linalg.norm(turn),
            velocity=np.cross((0, spin, 0), centre - top),
            angular_velocity=(0, spin, 0),
            name=f"bar{k}",
        )
        scene.add_joint("revolute", f"bar{k - 1}" if k else None, f"bar{k}", anchor=anchor, axis=(0, 1, 0))


def collision(seed: int, gravity: float = 0.0) -> sg.Scene:
    """Return bodies that collide with each other and with walls: e = 0.5 to 1, mu = 0.3 to 3."""
    r = np.random.default_rng(seed)
    scene, family, kind = sg.Scene(gravity=(0, 0, -gravity)), FAMILIES[seed % 5], SHAPES[(seed // 5) % 5]
    scene.add_fixed(sg.HalfSpace(), name="floor")
    if family == "single":
        throw(r, scene, "body", kind, (0, 0, 0.45), (*r.uniform(-4, 4, 2), -r.uniform(2, 5)))
    elif family == "corner":
        scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)), position=(-0.45, 0, 0), name="wall")
        throw(r, scene, "body", kind, (0, 0, 0.45), (-r.uniform(2, 4), r.uniform(-1, 1), -r.uniform(2, 4)))
        throw(r, scene, "other", SHAPES[r.integers(5)], (0.6, 0, 0.8), (-r.uniform(2, 4), 0, -r.uniform(2, 4)))
    elif family == "stack":
        a, n = r.uniform(0.1, 0.2), int(r.integers(2, 5))
        for k in range(n):
            box = sg.Box((2 * a, 2 * a, 2 * a))
            scene.add_body(box, mass=10.0 ** r.uniform(-0.5, 0.5), position=(0, 0, a + 2 * a * k), name=f"box{k}")
        where = (-0.8, r.uniform(-0.05, 0.05), a + 2 * a * r.uniform(0, n - 1))
        throw(r, scene, "body", kind, where, (r.uniform(4, 8), r.uniform(-1, 1), r.uniform(-1, 1)))
    elif family == "pendulum":
        hang(r, scene)
        throw(r, scene, "body", kind, (1.5, 0, 0.5), (-r.uniform(3, 6), 0, 0))
    else:
        speed = r.uniform(0.5, 3.0)
        scene.add_fixed(sg.Box((2, 2, 0.2)), motion=lambda t: (0.0, 0.0, 0.3 + speed * t), name="table")
        throw(r, scene, "body", kind, (0, 0, 0.9), (*r.uniform(-3, 3, 2), -r.uniform(1, 5)))
    scene.set_contact(friction=float(r.uniform(0.3, 3.0)), restitution=float(r.uniform(0.5, 1.0)))
    return scene


def gains(seed: int, law: str, h: float = 4e-3, gravity: float = 0.0, **options: Any) -> Array:
    """Return how much kinetic energy each step gains beyond the work of drives and corrections, relative."""
    formulation = sg.MoreauJean(restitution_law=law, **options)
    # Not all of these problems have a solution: mu is large. The energy law holds for what is found, solved or not.
    trajectory = sg.simulate(collision(seed, gravity), duration=0.3, h=h, formulation=formulation, on_failure="keep")
    assert trajectory.certificate.energy_error.max() <= 1e-11
    energy = trajectory.energy()
    growth = np.diff(energy.total - energy.drives - energy.correction - energy.joints)
    relative: Array = growth / np.maximum(energy.kinetic[1:], energy.kinetic[:-1])
    return relative


@pytest.mark.parametrize("seed", range(25))
def test_law_no_collision_with_friction_gains_energy(seed: int) -> None:
    """Law: T+ <= T + work of drives, step by step, for all shapes, several contacts at once, joints."""
    assert gains(seed, "passive").max() <= 1e-9


def test_newton_gains_energy_in_some_of_these_collisions() -> None:
    assert sum(gains(seed, "newton").max() > 1e-3 for seed in (1, 3, 6, 13, 16)) >= 2


# --- the largest rebound that keeps the energy -----------------------------------------


@pytest.mark.parametrize("formulation", [sg.MoreauJean, ByPython])
def test_law_kanes_rod_keeps_its_energy(formulation: Any) -> None:
    """The end of a rod sticks: p = W^-1 ((1 + s e) |u_n|, -u_t), and s is the root of p . (u+ + u-)."""
    e, W = 0.9, Rod(0.0).W
    rod = Rod(-0.5 * (1.0 + e) * W[0, 1] / W[0, 0], restitution=e)

    def impulse(s: float) -> Array:
        p: Array = np.linalg.solve(rod.W, [1.0 + s * e, -rod.before[1]])
        return p

    def gain(s: float) -> float:
        return 0.5 * float(impulse(s) @ (np.array([s * e, 0.0]) + rod.before))

    assert gain(1.0) > 0.04
    s = brentq(gain, 0.0, 1.0)
    assert abs(impulse(s)[1]) < rod.mu * impulse(s)[0]
    trajectory = rod.simulate("passive", formulation)
    kinetic = trajectory.energy().kinetic
    assert -1e-9 <= (kinetic[-1] - kinetic[0]) / kinetic[0] <= 0.0
    expected = rod.v + rod.M_inv @ rod.J.T @ impulse(s)
    np.testing.assert_allclose(rod.velocity(trajectory), expected, atol=1e-5)  # the gap and h omega


def test_law_islands_that_gain_nothing_rebound_as_by_newton() -> None:
    """A ball beside a rod that strikes in the same step: the rod rebounds less, the ball as ever."""
    rod, e = Rod(-0.5 * 1.9 * Rod(0.0).W[0, 1] / Rod(0.0).W[0, 0]), 0.9
    scene = rod.scene()
    scene.add_body(sg.Disc(0.1), mass=1.0, position=(2.0, 0.1 + 5e-7), velocity=(0, -1.0), name="ball")
    trajectory = collide(scene, "passive", duration=1e-6, h=1e-6)
    assert trajectory.linear_velocity("ball")[-1, 1] == pytest.approx(e, rel=1e-12)
    kinetic = trajectory.energy().kinetic
    assert kinetic[-1] <= kinetic[0]


def test_law_where_newtons_law_keeps_the_energy_it_is_the_same() -> None:
    """Balls and boxes of e = 0.7 that tumble onto a floor with little friction: bit for bit."""
    r = np.random.default_rng(3)
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(6):
        body = sg.Sphere(0.1) if k % 2 else sg.Box((0.2, 0.25, 0.3))
        scene.add_body(body, mass=1.0 + k, position=(0.6 * k, 0, 0.5), angular_velocity=r.normal(size=3), name=f"b{k}")
    scene.set_contact(friction=0.1, restitution=0.7)
    newton, passive = (collide(scene, law, duration=0.6, h=2e-3) for law in ("newton", "passive"))
    assert np.abs(newton.linear_velocity("b1")[:, 2]).max() > 1.0
    for k in range(6):
        np.testing.assert_array_equal(newton.position(f"b{k}"), passive.position(f"b{k}"))


# --- room ------------------------------------------------------------------------------


def between_walls(left: float, right: float, v: float, e: float, body: Any, mu: float = 0.0) -> sg.Scene:
    """Return a body of half width 0.1 that flies to the right between two walls, so far from them."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(normal=(1, 0, 0)), position=(-0.1 - left, 0, 0), name="left")
    scene.add_fixed(sg.HalfSpace(normal=(-1, 0, 0)), position=(0.1 + right, 0, 0), name="right")
    scene.add_body(body, mass=1.0, position=(0, 0, 0), velocity=(v, 0, 0), name="body")
    scene.set_contact(friction=mu, restitution=e)
    return scene


@pytest.mark.parametrize("v", [0.7, 6.0, 30.0, 300.0])
@pytest.mark.parametrize(("left", "right"), [(0.05, 0.05), (0.002, 0.05), (0.05, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize(("e", "theta"), [(0.5, 1.0), (1.0, 1.0), (0.8, 0.75)])
def test_law_a_ball_between_walls_stays_there(v: float, left: float, right: float, e: float, theta: float) -> None:
    """Law: however fast it is and however little room it has; where it has room it rebounds."""
    h = 0.01
    scene = between_walls(left, right, v, e, sg.Sphere(0.1))
    formulation = sg.MoreauJean(theta=theta)
    trajectory = sg.simulate(scene, duration=0.5, h=h, formulation=formulation, tolerance=1e-10)
    x, u = trajectory.position("body")[:, 0], trajectory.linear_velocity("body")[:, 0]
    drift = (1.0 - theta) * h * v  # which bodies with theta < 1 make at their old velocities, see MoreauJean
    assert x.max() <= right + drift + 1e-6
    assert x.min() >= -left - drift - 1e-6
    assert np.all(np.abs(u[1:]) <= np.abs(u[:-1]) * (1.0 + 1e-9))
    if v * h < right and left > 0.0:
        np.testing.assert_allclose(u.min(), -e * v, rtol=1e-9)
    elif left > 0.0:
        assert u.min() < 0.0


@pytest.mark.parametrize("h", [0.002, 0.02])
@pytest.mark.parametrize("body", [sg.Box((0.2, 0.3, 0.25)), sg.Ellipsoid((0.1, 0.15, 0.12))], ids=["box", "ellipsoid"])
def test_law_a_body_between_rough_walls_stays_there(h: float, body: Any) -> None:
    trajectory = sg.simulate(between_walls(0.03, 0.01, 25.0, 0.9, body, mu=0.6), duration=0.3, h=h)
    assert trajectory.certificate.min_gap.min() > -1e-5
    kinetic = trajectory.energy().kinetic
    assert np.diff(kinetic).max() <= 1e-9 * kinetic[0]


def test_law_a_ball_thrown_back_does_not_go_through_the_ball_behind() -> None:
    """Law: three balls in a row between walls, the middle one fast: none passes another."""
    scene = between_walls(0.5, 0.5, 0.0, 0.9, sg.Sphere(0.1))
    for name, x, v in (("fast", 0.25, 40.0), ("slow", -0.26, 1.0)):
        scene.add_body(sg.Sphere(0.1), mass=0.5, position=(x, 0, 0), velocity=(v, 0, 0), name=name)
    trajectory = sg.simulate(scene, duration=0.5, h=0.01)
    places = [trajectory.position(name)[:, 0] for name in ("slow", "body", "fast")]
    assert min(float(np.min(b - a)) for a, b in pairwise(places)) >= 0.2 - 1e-6
    assert places[0].min() >= -0.5 - 1e-6
    assert places[2].max() <= 0.5 + 1e-6
    kinetic = trajectory.energy().kinetic
    assert np.diff(kinetic).max() <= ROUNDING * kinetic[0]
