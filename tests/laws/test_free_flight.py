"""What flies keeps its momentum: angular momentum and rotational energy of bodies that nothing touches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.math.rotation import rotate, unrotate
from tests.laws.test_compiled_laws import agree
from tests.scenes import GRAVITY

H = 2.0 * np.pi / 100.0  # a hundred steps a turn at 1 rad/s
ATTITUDE = np.array([0.3, -0.5, 0.7, np.sqrt(1.0 - 0.83)])
# Ten roundings of 1e-16 in a step, of either sign: 1e-13 after 1e4 steps. Were they of one sign it would be 1e-11.
ROUNDING = 1e-12


def tumbling(inertia: tuple[float, float, float], spin: Array) -> sg.Scene:
    """Return a body that falls and spins, `spin` in body axes."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_body(
        sg.Sphere(0.1),
        mass=1.0,
        inertia=inertia,
        position=(0, 0, 0),
        velocity=(1, 0, 9),
        orientation=ATTITUDE,
        angular_velocity=rotate(ATTITUDE, spin),
        name="racket",
    )
    return scene


def momentum_and_energy(sim: sg.Simulator) -> tuple[Array, float]:
    I, e, omega = sim.model.arrays.inertia[-1], sim.state.q[-1, 3:], sim.state.v[-1, 3:]
    x = np.array(unrotate(e, omega))
    return np.array(rotate(e, I @ x)), float(0.5 * x @ I @ x)


def changes(sim: sg.Simulator, turns: int) -> Iterator[tuple[float, float]]:
    """Fly for so many turns; yield by how much momentum and energy have changed after each, relative to both."""
    L_0, T_0 = momentum_and_energy(sim)
    for _ in range(turns):
        sim.run(100)
        L, T = momentum_and_energy(sim)
        yield float(np.linalg.norm(L - L_0) / np.linalg.norm(L_0)), T / T_0 - 1.0


SPINS = pytest.mark.parametrize(
    "spin", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1e-6, 1, 1e-6), (0.5, 0.6, 0.62)], ids=["1", "2", "3", "near 2", "all"]
)


@SPINS
@pytest.mark.parametrize("inertia", [(1.0, 2.0, 3.0), (1.0, 1.01, 2.0)], ids=["1 2 3", "1 1.01 2"])
def test_law_angular_momentum_and_energy_are_kept(
    inertia: tuple[float, float, float], spin: tuple[float, float, float]
) -> None:
    """Law: without moments L is constant, in size and direction, and so is T; a hundred turns in 1e4 steps."""
    sim = sg.Simulator(tumbling(inertia, np.array(spin, dtype=float)), h=H)
    for L, T in changes(sim, 100):
        assert L <= ROUNDING and abs(T) <= ROUNDING


@pytest.mark.parametrize(
    "formulation",
    [sg.MoreauJean(theta=0.5), sg.MoreauJean(theta=0.8), sg.StewartTrinkle()],
    ids=["theta 0.5", "theta 0.8", "StewartTrinkle"],
)
def test_law_all_schemes_keep_them(formulation: sg.MoreauJean) -> None:
    sim = sg.Simulator(tumbling((1.0, 2.0, 3.0), np.array([0.1, 1.0, 0.0])), h=H, formulation=formulation)
    for L, T in changes(sim, 5):
        assert L <= ROUNDING and abs(T) <= ROUNDING


def test_law_the_implicit_term_never_raises_the_energy_and_loses_momentum() -> None:
    """What the default is better than: a quarter of L in fifty turns about the middle axis."""
    formulation = sg.MoreauJean(gyroscopic="implicit")
    sim = sg.Simulator(tumbling((1.0, 2.0, 3.0), np.array([1e-3, 1.0, 1e-3])), h=H, formulation=formulation)
    lost = list(changes(sim, 50))
    assert np.all(np.diff([T for _, T in lost]) <= 1e-14)
    assert lost[-1][0] > 0.25


def test_law_a_moment_changes_the_angular_momentum_by_its_impulse() -> None:
    """Law: L = L_0 + t tau for a constant moment, to rounding, whatever h; and the energy balance closes."""
    tau = np.array([0.3, -0.1, 0.2])
    for theta in (1.0, 0.5):
        scene = tumbling((1.0, 2.0, 3.0), np.array([0.3, 1.0, 0.2]))
        scene.add_force("racket", torque=tau)
        sim = sg.Simulator(scene, h=H, formulation=sg.MoreauJean(theta=theta))
        L_0, _ = momentum_and_energy(sim)
        for _ in range(300):
            assert sim.step().certificate.energy_error <= 1e-14
        np.testing.assert_allclose(momentum_and_energy(sim)[0], L_0 + sim.state.t * tau, rtol=0, atol=1e-12)


def test_law_a_moment_from_rest_turns_as_the_scheme_does() -> None:
    """Law of the scheme: about a principal axis omega = n h tau/I and the angle is h times the sum of all omega."""
    scene, n, h = tumbling((1.0, 2.0, 3.0), np.zeros(3)), 50, 0.02
    scene.add_force("racket", torque=rotate(ATTITUDE, (0.0, 0.0, 6.0)))
    sim = sg.Simulator(scene, h=h)
    sim.run(n)
    angle = 2.0 * h * h * n * (n + 1) / 2
    turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
    np.testing.assert_allclose(rotate(sim.state.q[0, 3:], (1.0, 0.0, 0.0)), rotate(ATTITUDE, rotate(turn, (1.0, 0, 0))))
    np.testing.assert_allclose(sim.state.v[0, 3:], rotate(ATTITUDE, (0.0, 0.0, 2.0 * n * h)), atol=1e-13)


def test_law_bounces_take_nothing_from_flight() -> None:
    """Law: between bounces L and T of a box are constant, however near the floor it is; every step's balance closes."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((0.3, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.6), angular_velocity=(3, 8, 2), name="box")
    scene.set_contact(friction=0.0, restitution=1.0)
    sim = sg.Simulator(scene, h=1e-3)
    hits = 0
    for _ in range(2000):
        L, T = momentum_and_energy(sim)
        report = sim.step()
        assert report.certificate.energy_error <= 1e-13
        L_after, T_after = momentum_and_energy(sim)
        if report.contacts.normal_impulse.any():
            hits += 1
            continue
        np.testing.assert_allclose(L_after, L, rtol=0, atol=1e-14 * float(np.linalg.norm(L)))
        assert T_after == pytest.approx(T, rel=1e-13)
    assert hits > 3


def jellett(h: float, gyroscopic: str) -> float:
    """Return the relative change of Jellett's constant of a tippe top that slips for a second.

    About the centre of a ball with the mass centre off it, whatever the friction at its lowest point: the moment about
    the mass centre is r x p, so L . r changes by L . dr/dt, and this is zero for a body of revolution.
    """
    radius, off, tilt, I = 0.02, 0.004, 0.1, (2.1e-6, 2.1e-6, 2.0e-6)
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        sg.Sphere(radius),
        mass=0.015,
        inertia=I,
        mass_centre=(0, 0, -off),
        position=(0, 0, radius),
        orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
        angular_velocity=150.0 * axis,
        name="top",
    )
    scene.set_contact(friction=0.3)
    sim = sg.Simulator(scene, h=h, formulation=sg.MoreauJean(gyroscopic=gyroscopic))
    constants = []
    for _ in range(100):
        L, _ = momentum_and_energy(sim)
        r = off * np.array(rotate(sim.state.q[1, 3:], (0.0, 0.0, 1.0))) - [0.0, 0.0, radius]
        constants.append(float(L @ r))
        sim.run(round(0.01 / h))
    return float(np.abs(np.array(constants) / constants[0] - 1.0).max())


def test_law_a_tippe_top_keeps_jelletts_constant() -> None:
    """Law: to the first order in h, and better than with the implicit term."""
    coarse, fine = jellett(5e-4, "conserving"), jellett(2.5e-4, "conserving")
    assert fine < 0.6 * coarse
    assert coarse < jellett(5e-4, "implicit")


@pytest.mark.parametrize("theta", [1.0, 0.6])
def test_flight_in_the_compiled_step(theta: float) -> None:
    """Compiled and by Python alike: fast spins in parts, a moment, and a force that is a function."""
    scene = tumbling((1.0, 2.0, 3.0), np.array([0.1, 90.0, 1.0]))
    scene.add_force("racket", torque=(5.0, 1.0, -2.0))
    scene.add_force("racket", force=lambda t, state: (np.sin(t), 0.0, 0.0), at=(0.0, 0.1, 0.0))
    agree(scene, 20, h=0.02, theta=theta)
