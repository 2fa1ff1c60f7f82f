"""Torsional, rolling and ellipsoidal friction in motion, against closed forms."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import signorini as sg
from signorini.audit import Grade, audit_file

G, R = 9.81, 0.1


def ball_on(normal: tuple[float, float, float], **contact: Any) -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(normal=normal), name="floor")
    scene.set_contact(friction=0.5, **contact)
    return scene


def test_a_spinning_ball_is_stopped_by_torsional_friction() -> None:
    scene = ball_on((0, 0, 1), torsional=0.01)
    scene.add_body(sg.Sphere(radius=R), mass=1.0, position=(0, 0, R), angular_velocity=(0, 0, 10), name="ball")
    run = sg.simulate(scene, duration=0.6, h=0.01)
    decay = 0.01 * G / (0.4 * R**2)  # torque e m g over the inertia
    expected = np.maximum(10.0 - decay * run.time, 0.0)
    expected[np.searchsorted(-expected, 0.0)] = 0.0
    np.testing.assert_allclose(run.angular_velocity("ball")[:, 2], expected, atol=1e-9)
    assert run.certificate.energy_error.max() <= 1e-12


@pytest.mark.parametrize("slope", [0.09, 0.11])
def test_a_ball_rolls_down_only_if_the_slope_beats_rolling_friction(slope: float) -> None:
    angle, e = np.arctan(slope), 0.1 * R  # rolls iff tan(angle) > e/R = 0.1
    n = (np.sin(angle), 0.0, np.cos(angle))
    scene = ball_on(n, rolling=e)
    scene.add_body(sg.Sphere(radius=R), mass=1.0, position=R * np.array(n), name="ball")
    run = sg.simulate(scene, duration=0.5, h=0.01)
    acceleration = max(0.0, G * (np.sin(angle) - e / R * np.cos(angle)) / 1.4)
    speed = np.linalg.norm(run.linear_velocity("ball"), axis=1)
    np.testing.assert_allclose(speed, acceleration * run.time, atol=1e-10)


def test_rolling_friction_in_the_plane() -> None:
    angle, e = 0.11, 0.1 * R
    scene = sg.Scene(planar=True, gravity=(G * np.sin(angle), -G * np.cos(angle)))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(radius=R), mass=1.0, position=(0, R), name="disc")
    scene.set_contact(friction=0.5, rolling=e)
    run = sg.simulate(scene, duration=0.5, h=0.01)
    acceleration = G * (np.sin(angle) - e / R * np.cos(angle)) / 1.5
    np.testing.assert_allclose(run.linear_velocity("disc")[:, 0], acceleration * run.time, atol=1e-10)


def test_ellipsoidal_friction_turns_the_direction_of_sliding() -> None:
    """A slider too inert to turn obeys v' = -mu g E^2 v / |E v|, E = diag(e_t, e_o)."""
    e_t, e_o, mu = 1.0, 0.5, 0.3
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    inert = (1e9, 1e9, 1e9)
    scene.add_body(sg.Sphere(radius=R), mass=1.0, inertia=inert, position=(0, 0, R), velocity=(2, 2, 0), name="slider")
    scene.set_contact(friction=mu, ellipsoid=(e_t, e_o, 0.05))
    run = sg.simulate(scene, duration=0.4, h=2e-3)

    def rate(_: float, v: np.ndarray) -> np.ndarray:
        E2 = np.array([e_t, e_o]) ** 2
        slowed: np.ndarray = -mu * G * E2 * v / np.sqrt(np.sum(E2 * v**2))
        return slowed

    exact = solve_ivp(rate, (0.0, 0.4), [2.0, 2.0], rtol=1e-10, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(run.linear_velocity("slider")[-1, :2], exact, rtol=2e-3)
    assert exact[1] > 1.3 * exact[0]


def test_couples_survive_scene_files(tmp_path: Path) -> None:
    scene = ball_on((0, 0, 1))
    scene.add_body(sg.Sphere(radius=R), mass=1.0, position=(0, 0, R), name="ball")
    scene.set_contact(friction=0.3, rolling=0.01, ellipsoid=(1.0, 0.5, 0.02), between=("ball", "floor"))
    scene.save(tmp_path / "scene.yaml")
    assert sg.Scene.load(tmp_path / "scene.yaml").pair_contact == scene.pair_contact


def test_what_does_not_go_together_is_refused() -> None:
    scene = ball_on((0, 0, 1))
    with pytest.raises(sg.InputError, match=r"torsional is 0\.1, must be 0 with an ellipsoid"):
        scene.set_contact(friction=0.3, torsional=0.1, ellipsoid=(1.0, 0.5, 0.02))
    with pytest.raises(sg.InputError, match="three positive half axes"):
        scene.set_contact(friction=0.3, ellipsoid=(1.0, 0.0, 0.02))
    scene.add_body(sg.Sphere(radius=R), mass=1.0, position=(0, 0, R), name="ball")
    scene.set_contact(friction=0.3, rolling=0.1)
    with pytest.raises(sg.InputError, match=r"rolling is 0\.1, must be 0 for StewartTrinkle"):
        sg.simulate(scene, duration=0.1, h=0.01, formulation=sg.StewartTrinkle())


def test_torsional_friction_and_ellipsoids_in_one_scene() -> None:
    """Balls that never meet move as each does by itself, though one is stopped by a couple and one by an ellipsoid."""

    def balls(*which: int) -> sg.Scene:
        scene = ball_on((0, 0, 1))
        laws: tuple[dict[str, Any], ...] = ({"torsional": 0.01}, {"ellipsoid": (1.0, 0.5, 0.01)})
        for k in which:
            spin, place = (0, 0, 3), (3 * R * k, 0, R)
            scene.add_body(
                sg.Sphere(R), mass=1.0, position=place, velocity=(1, 0.5, 0), angular_velocity=spin, name=f"{k}"
            )
            scene.set_contact(friction=0.4, **laws[k], between=("floor", f"{k}"))
        return scene

    both, one, other = (sg.simulate(balls(*which), duration=0.1, h=0.002) for which in ((0, 1), (0,), (1,)))
    assert not both.certificate.failed().any()
    for k, alone in enumerate((one, other)):
        np.testing.assert_array_equal(both.position(f"{k}"), alone.position(f"{k}"))
        np.testing.assert_array_equal(both.angular_velocity(f"{k}"), alone.angular_velocity(f"{k}"))


@pytest.mark.parametrize("solver", [sg.FrictionAuto(), sg.ExtendedFriction()])
def test_torsional_friction_and_ellipsoids_in_one_island(solver: Any) -> None:
    """Balls that press on each other, one stopped by a couple, one by an ellipsoid, move alike by any solver."""

    def balls() -> sg.Scene:
        scene = ball_on((0, 0, 1))
        laws: tuple[dict[str, Any], ...] = ({"torsional": 0.01}, {"ellipsoid": (1.0, 0.5, 0.01)})
        for k in range(2):
            velocity, spin = (0.5 - k, 0.2, 0), (0, 0, 3 - 5 * k)
            scene.add_body(
                sg.Sphere(R),
                mass=1.0,
                position=(2 * R * k, 0, R),
                velocity=velocity,
                angular_velocity=spin,
                name=f"{k}",
            )
            scene.set_contact(friction=0.4, **laws[k], between=("floor", f"{k}"))
        return scene

    fast, slow = (
        sg.Simulator(balls(), h=0.002, formulation=sg.MoreauJean(solver=one), tolerance=1e-12) for one in (None, solver)
    )
    for _ in range(10):
        slow.restore(fast.snapshot())
        reports = fast.step(), slow.step()
        assert all(report.certificate.status == sg.Status.SOLVED for report in reports)
        assert all(report.result.posed.residual() <= 1e-11 for report in reports)
        np.testing.assert_allclose(slow.state.v, fast.state.v, atol=1e-9)
        assert reports[1].result.couple is not None
        assert np.count_nonzero(reports[1].result.couple[:, 0]) == 2


@pytest.mark.compiled_only
@pytest.mark.parametrize("couple", [{"torsional": 0.01, "rolling": 0.01}, {"rolling": 1e-3}])
def test_what_couples_take_pays_for_what_forces_give(couple: dict[str, Any], tmp_path: Path) -> None:
    """A capsule that rebounds and turns: its energy falls in every step, so no contact is said to give any."""
    r = np.random.default_rng(4)
    q = r.normal(size=4)
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        sg.Capsule(0.02, 0.2),
        mass=0.5,
        position=(0, 0, 0.3),
        orientation=q / np.linalg.norm(q),
        velocity=(*r.uniform(-4, 4, 2), -3.0),
        angular_velocity=r.uniform(-20, 20, 3),
        name="capsule",
    )
    scene.set_contact(friction=0.5, restitution=0.9, **couple)
    run = sg.simulate(scene, duration=0.12, h=0.001)
    kinetic = np.ravel(run.kinetic)
    assert max(run.contacts(k).normal_impulse.max(initial=0.0) for k in range(run.step_count)) > 0.1  # it hits
    assert np.diff(kinetic).max() <= 1e-12 * kinetic[0]
    assert run.certificate.energy_gain.max() <= 1e-12
    run.save(tmp_path / "run.h5")
    told = {finding.what: finding.grade for finding in audit_file(tmp_path / "run.h5").findings}
    assert told["energy gained in a step"] == Grade.TRUSTED
