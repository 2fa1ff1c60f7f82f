"""Collisions by all laws of restitution: heights, cradles, energy, and what they cannot do.

What only the passive law does is in :mod:`tests.laws.test_passive_restitution`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from tests.scenes import GRAVITY

LAWS = pytest.mark.parametrize("law", ["passive", "newton", "poisson"])
ROUNDING = 1e-12


def collide(
    scene: sg.Scene, law: str, *, duration: float, h: float = 1e-3, stepper: type[sg.MoreauJean] = sg.MoreauJean
) -> sg.Trajectory:
    """Simulate, and check what every collision must keep to."""
    formulation = stepper(restitution_law=law)
    trajectory = sg.simulate(
        scene, duration=duration, h=h, formulation=formulation, tolerance=1e-10, on_failure="raise"
    )
    certificate = trajectory.certificate
    assert certificate.energy_error.max() <= ROUNDING
    assert certificate.residual.max() <= 1e-10
    assert certificate.cone_violation.max() <= 1e-9
    return trajectory


def test_the_law_has_a_name() -> None:
    with pytest.raises(sg.InputError, match="restitution_law is 'stronge'"):
        sg.MoreauJean(restitution_law="stronge")


# --- heights -----------------------------------------------------------------------


def height_error(law: str, e: float, h: float) -> float:
    """Return the largest error of the first bounce, over balls that meet the floor at different times of a step."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    drops = 0.1 + 0.01 * np.sqrt(2.0) * np.arange(8)
    for k, drop in enumerate(drops):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(k, 0, 0.1 + drop), name=f"ball{k}")
    scene.set_contact(friction=0.3, restitution=e)
    trajectory = collide(scene, law, duration=0.2 + 0.2 * e + 0.05, h=h)
    worst = 0.0
    for k, drop in enumerate(drops):
        z = trajectory.position(f"ball{k}")[:, 2] - 0.1
        worst = max(worst, abs(z[int(np.argmin(z[: int(0.22 / h)])) :].max() - e**2 * drop))
    return worst


@LAWS
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_law_bounce_heights_are_of_the_first_order(law: str, e: float) -> None:
    """Law: dropped from H, a ball rises to e^2 H; the error is at most a few v h and goes with h."""
    coarse, fine = height_error(law, e, 4e-3), height_error(law, e, 5e-4)
    assert coarse < 1.5 * np.sqrt(2.0 * GRAVITY * 0.2) * 4e-3
    # At e = 1 the way up is the way down, step by step.
    assert coarse < ROUNDING if e == 1.0 else 0.8 < np.log2(coarse / fine) / 3.0 < 1.3


@LAWS
def test_law_what_rests_does_not_hop(law: str) -> None:
    """Law: restitution moves nothing that rests, though a ball bounces next to it and on it in the same steps."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((1.0, 1.0, 0.4)), mass=5.0, position=(0, 0, 0.2), name="box")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(2, 0, 0.2), name="ball")
    scene.set_contact(friction=0.5, restitution=0.9)
    trajectory = collide(scene, law, duration=0.5, h=2e-3)
    assert np.abs(trajectory.linear_velocity("ball")[:, 2]).max() > 1.0
    assert np.abs(trajectory.linear_velocity("box")).max() < 1e-9


# --- Newton's cradle ---------------------------------------------------------------


def cradle(law: str, e: float, gap: float) -> Array:
    """Let a ball hit four others in a row at 1 m/s; return the speeds of all afterwards."""
    r = 0.05
    scene = sg.Scene(gravity=(0, 0, 0))
    for k in range(5):
        x = (2 * r + gap) * k - (5e-4 if k == 0 else 0.0)
        scene.add_body(sg.Sphere(r), mass=1.0, position=(x, 0, 0), velocity=(float(k == 0), 0, 0), name=f"ball{k}")
    scene.set_contact(friction=0.0, restitution=e)
    trajectory = collide(scene, law, duration=0.02)
    return np.array([trajectory.linear_velocity(f"ball{k}")[-1, 0] for k in range(5)])


@LAWS
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_law_a_cradle_of_balls_that_touch(law: str, e: float) -> None:
    """All laws: the first rebounds, the others leave together.

    Newton: u = -e of the first pair, 0 of pairs at rest, and momentum 1. Poisson: compressed to the common speed 1/5;
    the expansion gives the same changes of velocity once more, e times.
    """
    np.testing.assert_allclose(cradle(law, e, 0.0), [1.0 - 0.8 * (1.0 + e), *[0.2 * (1.0 + e)] * 4], atol=1e-9)


@LAWS
def test_law_a_cradle_with_gaps_hands_the_motion_on(law: str) -> None:
    """Collisions one after the other, gaps wider than the way of a step: only the last ball moves."""
    np.testing.assert_allclose(cradle(law, 1.0, 2e-3), [0, 0, 0, 0, 1], atol=1e-9)


@LAWS
def test_law_a_support_that_gives_back(law: str) -> None:
    """A lump (e = 0) falls onto a ball that rests on an elastic floor (e = 1): here the laws differ.

    Newton: the floor was at rest and stays so. Poisson: it takes m V and gives back m V to 2 m.
    """
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), name="lower")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.3005), velocity=(0, 0, -1.0), name="upper")
    # A contact without restitution at all never starts a collision.
    scene.set_contact(friction=0.0, restitution=1e-12)
    scene.set_contact(friction=0.0, restitution=1.0, between=("floor", "lower"))
    trajectory = collide(scene, law, duration=0.01)
    speeds = [trajectory.linear_velocity(name)[-1, 2] for name in ("lower", "upper")]
    np.testing.assert_allclose(speeds, 0.5 if law == "poisson" else 0.0, atol=1e-9)


# --- energy --------------------------------------------------------------------------


@LAWS
def test_law_a_parting_contact_that_is_hit_gains_nothing(law: str) -> None:
    """Law: T never grows. Ball 1 hits 2 (e = 1) while 2 and 3 touch and part at 0.5 m/s.

    With u_23 >= 0 at the end Newton's law would gain p_23 times half of the speed at which they parted. It lets them be
    driven into each other at 0.5 m/s. The passive law does not: 1 closes its gap first, and rebounds from 2 and 3 then.
    """
    r = 0.05
    scene = sg.Scene(gravity=(0, 0, 0))
    for k, (x, v) in enumerate(((-5e-4, 4.0), (2 * r, 0.0), (4 * r, 0.5))):
        scene.add_body(sg.Sphere(r), mass=1.0, position=(x, 0, 0), velocity=(v, 0, 0), name=f"ball{k}")
    scene.set_contact(friction=0.0, restitution=1.0)
    kinetic = collide(scene, law, duration=0.02, h=2.5e-4).energy().kinetic
    assert np.diff(kinetic).max() <= ROUNDING * kinetic[0]
    assert kinetic[-1] > 0.5 * kinetic[0]
    if law == "passive":  # at first 1 goes on at 2 m/s from 2 and 3, which move together, and momentum is 4.5
        assert kinetic[-1] == pytest.approx(0.5 * (2.0 * (2.5 / 3.0) ** 2 + (8.5 / 3.0) ** 2), rel=1e-3)


def crowd(seed: int) -> sg.Scene:
    """Send bodies of random shape, mass and spin towards each other, every pair with an e of its own."""
    r = np.random.default_rng(seed)
    scene = sg.Scene(gravity=(0, 0, 0))
    names = [f"body{k}" for k in range(6)]
    for k, name in enumerate(names):  # from all sides
        direction = (1.0 - 2.0 * (k % 2)) * np.eye(3)[k // 2] + r.uniform(-0.1, 0.1, 3)
        shape = sg.Sphere(0.1) if r.uniform() < 0.5 else sg.Box(r.uniform(0.1, 0.25, 3))
        scene.add_body(
            shape,
            mass=10.0 ** r.uniform(-1, 1),
            position=0.45 * direction,
            velocity=-r.uniform(2, 4) * direction,
            angular_velocity=r.uniform(-5, 5, 3),
            name=name,
        )
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            scene.set_contact(friction=0.0, restitution=float(r.uniform(0, 1)), between=(a, b))
    return scene


@LAWS
@pytest.mark.parametrize("seed", range(4))
def test_law_collisions_without_friction_never_gain_energy(law: str, seed: int) -> None:
    """Law: T+ - T <= work of lifting bodies out of overlaps, step by step, with different coefficients in one group."""
    trajectory = collide(crowd(seed), law, duration=0.25, h=2e-3)
    kinetic = trajectory.energy().kinetic
    growth = np.diff(kinetic) - trajectory.certificate.correction_work
    assert growth.max() <= 1e-9 * kinetic[0]  # the tolerance of the solver
    assert kinetic[-1] < 0.99 * kinetic[0]  # they did collide


# --- friction ------------------------------------------------------------------------


class Rod:
    """A planar rod of 1 kg and 1 m that strikes the ground at 1 m/s with one end, held at an angle from it."""

    def __init__(self, slip: float, *, angle: float = 1.0, friction: float = 3.0, restitution: float = 0.9) -> None:
        self.mu, self.e, self.angle = friction, restitution, angle
        r = -0.5 * np.array([np.cos(angle), np.sin(angle)])  # from the mass centre to the end that strikes
        J = np.array([[0.0, 1.0, r[0]], [1.0, 0.0, -r[1]]])  # (v, omega) -> normal and tangential velocity
        self.M_inv = np.diag([1.0, 1.0, 12.0])
        self.J, self.W = J, J @ self.M_inv @ J.T
        self.before = np.array([-1.0, slip])
        self.v = np.array([slip, -1.0, 0.0])

    def impulse(self, u: Array, least: float) -> Array:
        """Solve ``0 <= p_n - least, u_n >= 0, complementary, Coulomb`` for one contact in the plane, case by case."""
        W, mu = self.W, self.mu
        p = np.array([least, 0.0])
        for p_n_given in (True, False):  # lifts off, or stays
            stick = np.array([least, -(u[1] + W[1, 0] * least) / W[1, 1]]) if p_n_given else np.linalg.solve(W, -u)
            slides = []
            for s in (1.0, -1.0):  # sign of the slip
                p_n = least if p_n_given else -u[0] / (W[0, 0] - s * mu * W[0, 1])
                slides.append((s, np.array([p_n, -s * mu * p_n])))
            for s, p in ((0.0, stick), *slides):
                w = u + W @ p
                normal = w[0] >= -1e-12 if p_n_given else p[0] >= least
                if normal and (abs(p[1]) <= mu * p[0] + 1e-12 if s == 0.0 else s * w[1] > 0.0):
                    return p
        raise AssertionError("no case fits")

    def scene(self) -> sg.Scene:
        scene = sg.Scene(planar=True, gravity=(0, 0))
        scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
        end = 0.5 * np.array([np.cos(self.angle), np.sin(self.angle)])
        rod = sg.Segment(-end, end)
        position = (0.0, end[1] + 5e-7)
        scene.add_body(
            rod, mass=1.0, inertia=1.0 / 12.0, mass_centre=(0, 0), position=position, velocity=self.v[:2], name="rod"
        )
        scene.set_contact(friction=self.mu, restitution=self.e)
        return scene

    def simulate(self, law: str, stepper: type[sg.MoreauJean] = sg.MoreauJean) -> sg.Trajectory:
        return collide(self.scene(), law, duration=1e-6, h=1e-6, stepper=stepper)

    def velocity(self, trajectory: sg.Trajectory) -> Array:
        return np.append(trajectory.linear_velocity("rod")[-1], trajectory.angular_velocity("rod")[-1])


@pytest.mark.parametrize("slip", [-2.0, -0.3, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("friction", [0.2, 1.0])
def test_law_poisson_with_friction_is_two_problems_of_coulomb(slip: float, friction: float) -> None:
    """Compression with e = 0, then at least e p_n more, each within Coulomb's cone: solved case by case by hand."""
    rod = Rod(slip, friction=friction, restitution=0.6)
    p_C = rod.impulse(rod.before, 0.0)
    p_E = rod.impulse(rod.before + rod.W @ p_C, 0.6 * p_C[0])
    expected = rod.v + rod.M_inv @ rod.J.T @ (p_C + p_E)
    np.testing.assert_allclose(rod.velocity(rod.simulate("poisson")), expected, atol=1e-5)  # turned by h omega


@pytest.mark.parametrize("slip", np.linspace(-1.5, 1.5, 7))
@pytest.mark.parametrize("angle", [0.4, 1.0, 2.0])
def test_law_poisson_never_gains_energy_with_friction(slip: float, angle: float) -> None:
    """Law: T+ - T <= -(1 - e^2) |p_C|_W^2 / 2 for one coefficient."""
    rod = Rod(slip, angle=angle, friction=1.5)
    kinetic = rod.simulate("poisson").energy().kinetic
    p_C = rod.impulse(rod.before, 0.0)
    assert kinetic[-1] - kinetic[0] <= -0.5 * (1.0 - rod.e**2) * float(p_C @ rod.W @ p_C) + 1e-5


def test_newton_may_gain_energy_with_friction_and_poisson_does_not() -> None:
    """Kane's paradox: the end of a rod slips slowly as it strikes a rough floor; friction turns it round.

    Newton's law: u_n = -e u_n^-, and the end sticks: p = -W^-1 ((1 + e) u_n^-, u_t^-), T+ - T = p . (u+ + u-)/2. The
    certificate closes the balance and shows the gain as negative dissipation of the impact. Poisson's law loses.
    """
    e = 0.9
    W = Rod(0.0).W
    rod = Rod(-0.5 * (1.0 + e) * W[0, 1] / W[0, 0], restitution=e)
    p = np.linalg.solve(rod.W, [1.0 + e, -rod.before[1]])
    assert abs(p[1]) < rod.mu * p[0]
    gain = 0.5 * float(p @ (np.array([e, 0.0]) + rod.before))
    assert gain > 0.04  # of about 0.6 J
    energy = rod.simulate("newton").energy()
    assert energy.kinetic[-1] - energy.kinetic[0] == pytest.approx(gain, rel=1e-4)
    assert energy.impact[-1] + energy.friction[-1] == pytest.approx(-gain, rel=1e-4)
    energy = rod.simulate("poisson").energy()
    assert energy.kinetic[-1] < energy.kinetic[0]
    assert energy.friction[-1] >= -ROUNDING


@LAWS
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"friction": 0.0, "torsional": 0.01}, {"spin": 0.01}),
        ({"friction": 0.0, "rolling": 0.01}, {"roll": 0.01}),
        ({"friction": 0.2, "torsional": 0.01, "rolling": 0.02}, {"slide": 0.2, "spin": 0.01}),
        ({"friction": 0.2, "ellipsoid": (0.8, 0.5, 0.02)}, {"slide": 0.16}),
    ],
    ids=["torsional", "rolling", "both", "ellipsoid"],
)
def test_law_couples_of_a_bouncing_ball(law: str, words: dict[str, Any], expected: dict[str, float]) -> None:
    """Law: a ball that slides, spins or rolls throughout an impact at V loses its part of (1 + e) m V."""
    m, r, V, e = 1.0, 0.1, 1.0, 0.5
    inertia = 0.4 * m * r**2
    spin = {"spin": (0, 0, 50.0), "roll": (0, 50.0, 0)}.get(next(iter(expected)), (0.0, 0.0, 0.0))
    if {"slide", "spin"} <= set(expected):
        spin = (0, 0, 50.0)
    slide = 5.0 if "slide" in expected else 0.0
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        sg.Sphere(r), mass=m, position=(0, 0, r + 5e-7), velocity=(slide, 0, -V), angular_velocity=spin, name="ball"
    )
    scene.set_contact(restitution=e, **words)
    trajectory = collide(scene, law, duration=1e-6, h=1e-6)
    v, omega = trajectory.linear_velocity("ball")[-1], trajectory.angular_velocity("ball")[-1]
    p_n = (1.0 + e) * m * V
    assert v[2] == pytest.approx(e * V)
    assert v[0] == pytest.approx(slide - expected.get("slide", 0.0) * p_n / m)
    assert omega[2] == pytest.approx(spin[2] - expected.get("spin", 0.0) * p_n / inertia)
    if "roll" in expected:
        assert omega[1] == pytest.approx(spin[1] - expected["roll"] * p_n / inertia)


@LAWS
def test_law_a_disc_bounces_in_the_plane(law: str) -> None:
    """Law: a spinning disc that grips the floor: u_t = 0 at the end, p_t = -m u_t^-/3."""
    m, r, V, e, omega = 2.0, 0.1, 1.0, 0.5, 6.0
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(r), mass=m, position=(0, r + 5e-7), velocity=(0, -V), angular_velocity=omega, name="disc")
    scene.set_contact(friction=0.5, restitution=e)
    trajectory = collide(scene, law, duration=1e-6, h=1e-6)
    np.testing.assert_allclose(trajectory.linear_velocity("disc")[-1], [-omega * r / 3.0, e * V], atol=1e-9)
    assert trajectory.angular_velocity("disc")[-1] == pytest.approx(omega / 3.0)


# --- joints and the certificate --------------------------------------------------------


def test_poisson_refuses_friction_by_load() -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="wheel")
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 1, 0), friction=("load", 0.1, 0.02))
    with pytest.raises(sg.InputError, match="friction by load"):
        sg.Simulator(scene, h=1e-3, formulation=sg.MoreauJean(restitution_law="poisson"))


@LAWS
def test_law_a_hammer_on_a_hinge_rebounds(law: str) -> None:
    """Law: the head of a hammer on a hinge strikes an anvil at u and leaves it at e u."""
    e = 0.6
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="anvil")
    scene.add_body(
        sg.Sphere(0.1), mass=2.0, position=(1, 0, 0.1005), velocity=(0, 0, -1), angular_velocity=(0, 1, 0), name="head"
    )
    scene.add_joint("revolute", None, "head", anchor=(0, 0, 0.1005), axis=(0, 1, 0), friction=0.4, name="hinge")
    scene.set_contact(friction=0.0, restitution=e)
    h = 1e-3
    trajectory = collide(scene, law, duration=2 * h, h=h)
    brake = 0.4 * h / (2.0 + 0.4 * 2.0 * 0.1**2)  # friction of the hinge in a step
    assert trajectory.linear_velocity("head")[-1, 2] == pytest.approx(e, abs=3.0 * brake)


class FailsFirst:
    """Solves every problem but the first of a step: the compression."""

    def __init__(self) -> None:
        self.calls = 0

    def solve(self, problem: sg.FrictionProblem, control: Any) -> sg.Solution:
        self.calls += 1
        solution = sg.solve(problem, tolerance=control.tolerance)
        if self.calls > 1:
            return solution
        z = 0.9 * solution.z
        return sg.Solution(z=z, status=sg.Status.SOLVED, residual=0.0, iterations=1)


def test_the_certificate_is_of_the_worse_phase() -> None:
    """A solver that lies about the compression is found out though the expansion is solved."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1005), velocity=(1, 0, -1), name="ball")
    scene.set_contact(friction=0.3, restitution=0.5)
    solver = FailsFirst()
    formulation = sg.MoreauJean(solver=solver, restitution_law="poisson")
    sim = sg.Simulator(scene, h=1e-3, formulation=formulation, tolerance=1e-10)
    report = sim.step()
    assert solver.calls == 2
    assert report.residual > 0.01
    assert report.status is sg.Status.STALLED
