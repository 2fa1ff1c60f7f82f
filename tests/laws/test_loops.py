"""Closed loops, limits, friction and motors under `Recursive`: joints hold, laws are met, energy is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.errors import InputError

QUIET: dict[str, Any] = {"progress": False}


def bar(scene: sg.Scene, name: str, a: Any, b: Any, **words: Any) -> None:
    """Add a thin bar between two points of the plane of motion, x and z."""
    a, b = np.array([a[0], 0.0, a[1]]), np.array([b[0], 0.0, b[1]])
    d = b - a
    angle = 0.5 * np.arctan2(-d[2], d[0])  # about y, from x
    length = float(np.linalg.norm(d))
    scene.add_body(
        sg.Box((length, 0.02, 0.02)),
        mass=length,
        position=0.5 * (a + b),
        orientation=(np.cos(angle), 0, np.sin(angle), 0),
        name=name,
        **words,
    )


FOUR = ((0.0, 0.0), (0.25, 0.1), (0.7, 0.35), (0.7, 0.0))
"""Corners of a four-bar, the first and the last on the ground."""


def four_bar(*, last: str = "revolute", **crank: Any) -> sg.Scene:
    """Return a four-bar linkage about axes along y in space: revolute joints alone are three rows too many."""
    scene = sg.Scene()
    for k, name in enumerate(("crank", "coupler", "rocker")):
        bar(scene, name, FOUR[k], FOUR[k + 1])
    ends = ((None, "crank"), ("crank", "coupler"), ("coupler", "rocker"), ("rocker", None))
    for k, (a, b) in enumerate(ends):
        kind = last if k == 3 else "revolute"
        words: dict[str, Any] = {} if kind == "spherical" else {"axis": (0, 1, 0)}
        words |= crank if k == 0 else {}
        first, second = (a, b) if b is not None else (None, a)
        scene.add_joint(kind, first, second, anchor=(FOUR[k][0], 0, FOUR[k][1]), name=f"j{k}", **words)
    return scene


@pytest.mark.parametrize("last", ["revolute", "spherical"])
@pytest.mark.parametrize("integrator", [sg.SemiImplicitEuler(), sg.RK4()])
def test_a_four_bar_stays_closed(integrator: Any, last: str) -> None:
    """To 1e-10 at every joint. Of 20 rows on 18 speeds with one motion left three are redundant, of 18 one."""
    formulation = sg.Recursive(integrator=integrator)
    sim = sg.Simulator(four_bar(last=last), h=5e-3, formulation=formulation)
    joints = sim.step().result.joints
    assert joints is not None
    assert joints.redundant == (3 if last == "revolute" else 1)
    run = sg.simulate(four_bar(last=last), duration=0.2, h=5e-3, formulation=formulation, **QUIET)
    assert np.ptp(run.joint("j0").coordinate) > 0.2
    assert run.certificate.joint_drift.max() < 1e-10
    assert run.certificate.joint_conflict.max() < 1e-10
    energy = run.energy()
    assert np.abs(energy.error).max() < 1e-12
    assert run.verdict != "not trusted"


def test_a_four_bar_keeps_its_energy_to_the_fourth_order() -> None:
    """Closing loops after each step does not cost the order of the integrator."""
    errors = []
    for h in (0.02, 0.01):
        run = sg.simulate(four_bar(), duration=0.2, h=h, formulation=sg.Recursive(integrator=sg.RK4()), **QUIET)
        errors.append(float(np.abs(run.energy().total - run.energy().total[0]).max()))
    assert errors[1] < errors[0] / 10.0
    assert errors[1] < 1e-5


@pytest.mark.compiled_only
def test_a_four_bar_moves_as_in_maximal_coordinates() -> None:
    """Both schemes are of the first order and go to the same motion; with one spherical joint, in space, as well."""
    for last in ("revolute", "spherical"):
        apart = []
        for h in (4e-3, 2e-3):
            ends = [
                sg.simulate(four_bar(last=last), duration=0.2, h=h, formulation=one, **QUIET).position("coupler")[-1]
                for one in (sg.Recursive(), sg.MoreauJean())
            ]
            apart.append(float(np.abs(ends[0] - ends[1]).max()))
        assert apart[0] < 0.02
        assert apart[0] / apart[1] == pytest.approx(2.0, abs=0.3)


def test_a_driven_four_bar() -> None:
    """The crank is where it is told to be, and the drive's work is what the linkage gains."""
    motions = (lambda t: 0.5 * t**2, lambda t: t, lambda t: 1.0)
    run = sg.simulate(
        four_bar(motion=motions), duration=0.2, h=0.01, formulation=sg.Recursive(integrator=sg.RK4()), **QUIET
    )
    np.testing.assert_allclose(run.joint("j0").coordinate, 0.5 * run.time**2, rtol=0.0, atol=1e-12)
    energy = run.energy()
    assert run.certificate.joint_drift.max() < 1e-10
    assert energy.drives[-1] == pytest.approx(energy.total[-1] - energy.total[0], abs=1e-7)
    assert np.abs(energy.error).max() < 1e-12


def test_a_loop_that_does_not_close_at_first_is_an_error() -> None:
    """Two joints of one body that are driven apart cannot both hold."""
    scene = four_bar(motion=lambda t: 0.5 * t**2)
    scene.add_joint("revolute", None, "coupler", anchor=(0.4, 0, 0.2), axis=(0, 1, 0), name="nail")
    with pytest.raises(sg.SolverFailure, match=r"contradict|torn|cannot close"):
        sg.simulate(scene, duration=0.2, h=0.01, formulation=sg.Recursive(), **QUIET)


def lifted(motion: Any = None, **words: Any) -> sg.Scene:
    """Return a bar on a hinge, held by a rod between two points, whose length may be prescribed."""
    scene = sg.Scene()
    bar(scene, "arm", (0.0, 0.0), (1.0, 0.0), **words)
    scene.add_joint("revolute", None, "arm", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    scene.add_joint("distance", None, "arm", anchor=[(0.0, 0, 1.0), (1.0, 0, 0)], motion=motion, name="rod")
    return scene


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"velocity": (0, 0, -0.5), "angular_velocity": (0, 1, 0)},
            r"^joint 'rod': velocities of its bodies contradict it by 0\.707 m/s or rad/s, must fit at the start$",
        ),
        ({"motion": lambda t: 0.1 + t**2}, "^joint 'rod': motion begins with the coordinate 0.1, must begin with 0, "),
        ({"motion": lambda t: 0.2 * t}, "^joint 'rod': motion begins with the speed 0.2, must begin with 0, "),
    ],
)
def test_what_contradicts_a_loop_at_first_is_an_error(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sg.Simulator(lifted(**words), h=0.01, formulation=sg.Recursive())


def test_a_rod_holds_an_arm() -> None:
    """At rest it pulls by sqrt(2) / 2 of the weight, which hangs at half the arm."""
    run = sg.simulate(lifted(), duration=0.05, h=0.01, formulation=sg.Recursive(), **QUIET)
    np.testing.assert_allclose(run.position("arm")[-1], (0.5, 0, 0), rtol=0.0, atol=1e-13)
    pull = np.linalg.norm(run.joint("rod").reaction[-1, :3]) / 0.01
    assert pull == pytest.approx(9.81 / 2.0 * np.sqrt(2.0), rel=1e-12)


def test_a_rod_of_prescribed_length_lifts_an_arm() -> None:
    """Law of cosines: length^2 = 2 - 2 cos of the angle to the vertical; its work is the energy gained."""
    motions = (lambda t: -0.2 * (1.0 - np.cos(4 * t)), lambda t: -0.8 * np.sin(4 * t), lambda t: -3.2 * np.cos(4 * t))
    run = sg.simulate(lifted(motions), duration=0.3, h=0.01, formulation=sg.Recursive(integrator=sg.RK4()), **QUIET)
    length = np.sqrt(2.0) + np.array([motions[0](t) for t in run.time])
    rise = 0.5 * np.pi - np.arccos(1.0 - 0.5 * length**2)
    np.testing.assert_allclose(-run.joint("hinge").coordinate, rise, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(run.joint("rod").coordinate, length - np.sqrt(2.0), rtol=0.0, atol=1e-11)
    energy = run.energy()
    assert energy.drives[-1] == pytest.approx(energy.total[-1] - energy.total[0], abs=1e-6)
    assert np.abs(energy.error).max() < 1e-12


def test_a_pendulum_on_a_rod_keeps_length_and_energy() -> None:
    """A body that is held by a distance joint alone, in space: to the fourth order."""
    errors = []
    for h in (0.02, 0.01):
        scene = sg.Scene()
        scene.add_body(
            sg.Box((0.3, 0.2, 0.1)),
            mass=2.0,
            inertia=(0.1, 0.2, 0.3),
            position=(1, 0, 0),
            velocity=(0, 1, 0),
            name="bob",
        )
        scene.add_joint("distance", None, "bob", anchor=[(0, 0, 0), (0.9, 0, 0.1)], name="rod")
        run = sg.simulate(
            scene, duration=0.3, h=h, formulation=sg.Recursive(integrator=sg.RK4()), on_failure="warn", **QUIET
        )
        assert run.certificate.joint_drift.max() < 1e-12
        errors.append(float(np.abs(run.energy().total - run.energy().total[0]).max()))
        assert np.abs(run.energy().error).max() < 1e-12
    assert errors[1] < errors[0] / 10.0


def test_gears_share_inertia() -> None:
    """A torque T on the first of two wheels turns it by T / (I_1 + r^2 I_2), the second r times as fast."""
    scene = sg.Scene()
    for name, x in (("first", 0.0), ("second", 1.0)):
        scene.add_body(sg.Sphere(0.1), mass=1.0, inertia=(0.3, 0.3, 0.5), position=(x, 0, 0), name=name)
        scene.add_joint("revolute", None, name, anchor=(x, 0, 0), axis=(0, 0, 1), name=f"axle {name}")
    scene.add_joint("gear", "first", "second", axis=[(0, 0, 1), (0, 0, 1)], ratio=-3.0, name="teeth")
    scene.add_force("first", torque=(0, 0, 2.0))
    run = sg.simulate(scene, duration=0.2, h=0.01, formulation=sg.Recursive(), **QUIET)
    speed = 2.0 / (0.5 + 9.0 * 0.5) * 0.2
    assert run.joint("axle first").speed[-1] == pytest.approx(speed, rel=1e-12)
    np.testing.assert_allclose(
        run.joint("axle second").coordinate, -3.0 * run.joint("axle first").coordinate, rtol=0.0, atol=1e-13
    )
    assert np.abs(run.energy().error).max() < 1e-13


def test_a_spring_between_points_is_an_oscillator() -> None:
    """A stiffness of 50 N/m at a mass of 2 kg that slides: x = cos(w t)."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=2.0, position=(1.5, 0, 0), name="ball")
    scene.add_joint("prismatic", None, "ball", anchor=(1.5, 0, 0), axis=(1, 0, 0), name="rail")
    scene.add_spring(None, "ball", anchor=[(0, 0, 0), (1.5, 0, 0)], stiffness=50.0, length=1.0)
    run = sg.simulate(scene, duration=1.0, h=0.01, formulation=sg.Recursive(integrator=sg.RK4()), **QUIET)
    np.testing.assert_allclose(run.position("ball")[:, 0], 1.0 + 0.5 * np.cos(5.0 * run.time), rtol=0.0, atol=1e-6)
    assert np.abs(run.energy().error).max() < 1e-12


# --- limits, friction and motors ------------------------------------------------


def wheel(**words: Any) -> sg.Scene:
    """Return a wheel of 0.5 kg m^2 that turns at 2 rad/s."""
    scene = sg.Scene()
    scene.add_body(
        sg.Sphere(0.1),
        mass=1.0,
        inertia=(0.3, 0.3, 0.5),
        position=(0, 0, 0),
        angular_velocity=(0, 0, 2.0),
        name="wheel",
    )
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 0, 1), name="axle", **words)
    return scene


@pytest.mark.parametrize("integrator", [sg.SemiImplicitEuler(), sg.RK4()])
def test_a_limit_stops_a_wheel(integrator: Any) -> None:
    """It stops within a step of the limit, all of 1/2 I w^2 is the impact's, and it stays."""
    run = sg.simulate(
        wheel(limits=(-1.0, 0.513)), duration=0.5, h=0.01, formulation=sg.Recursive(integrator=integrator), **QUIET
    )
    angle = run.joint("axle").coordinate
    assert angle[-1] == pytest.approx(0.513, abs=1e-12)
    assert angle.max() < 0.513 + 1e-12
    assert run.energy().impact[-1] == pytest.approx(1.0, rel=1e-9)
    assert np.abs(run.energy().error).max() < 1e-13
    assert run.joint("axle").effort.sum() == pytest.approx(-1.0, rel=1e-9)


def test_dry_friction_stops_a_wheel_and_holds_it() -> None:
    """The speed is 2 - (c / I) t, down to zero at t = 0.5 s, without creep; all energy is friction's."""
    run = sg.simulate(wheel(friction=2.0), duration=0.8, h=0.01, formulation=sg.Recursive(), **QUIET)
    speed = run.joint("axle").speed
    np.testing.assert_allclose(speed, np.maximum(0.0, 2.0 - 4.0 * run.time), rtol=0.0, atol=1e-9)
    assert np.ptp(run.joint("axle").coordinate[-20:]) < 1e-10
    assert run.energy().friction[-1] + run.energy().integration[-1] == pytest.approx(1.0, rel=1e-9)
    # At the speeds where steps end; the rest, h c w / 2, is the scheme's.
    assert run.energy().friction[-1] == pytest.approx(1.0 - 0.5 * 0.01 * 2.0 * 2.0, rel=1e-9)
    assert np.abs(run.energy().error).max() < 1e-13


@pytest.mark.parametrize(("friction", "left"), [(8.0, 0.0), (3.0, 4.905 - 3.0)])
def test_friction_holds_an_arm_or_slows_its_fall(friction: float, left: float) -> None:
    """A bar of 1 kg and 1 m, level at first, weighs 4.905 N m on its hinge: what friction leaves, over I = 1/3."""
    scene = sg.Scene()
    bar(scene, "arm", (0.0, 0.0), (1.0, 0.0), inertia=(0.01, 1 / 12, 1 / 12))
    scene.add_joint("revolute", None, "arm", anchor=(0, 0, 0), axis=(0, 1, 0), friction=friction, name="hinge")
    run = sg.simulate(scene, duration=0.05, h=5e-3, formulation=sg.Recursive(), **QUIET)
    assert run.joint("hinge").speed[-1] == pytest.approx(3.0 * left * 0.05, rel=2e-3, abs=1e-12)
    assert run.joint("hinge").effort[0] == pytest.approx(-5e-3 * min(friction, 4.905), rel=1e-9)


def test_a_limit_bears_an_arm() -> None:
    """At rest on its limit, which bears the weight."""
    scene = sg.Scene()
    bar(scene, "arm", (0.0, 0.0), (1.0, 0.0))
    scene.add_joint("revolute", None, "arm", anchor=(0, 0, 0), axis=(0, 1, 0), limits=(-1.0, 0.0), name="hinge")
    run = sg.simulate(scene, duration=0.05, h=5e-3, formulation=sg.Recursive(), **QUIET)
    np.testing.assert_allclose(run.joint("hinge").coordinate, 0.0, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(run.joint("hinge").effort, -5e-3 * 4.905, rtol=1e-9)


def test_friction_by_load_follows_the_weight() -> None:
    """A block of 2 kg on a level rail is slowed by mu g, whatever its mass."""
    scene = sg.Scene()
    scene.add_body(sg.Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0), velocity=(1.0, 0, 0), name="block")
    scene.add_joint(
        "prismatic", None, "block", anchor=(0, 0, 0), axis=(1, 0, 0), friction=("load", 0.25, 0.1), name="rail"
    )
    run = sg.simulate(scene, duration=0.6, h=0.01, formulation=sg.Recursive(), **QUIET)
    np.testing.assert_allclose(
        run.joint("rail").speed, np.maximum(0.0, 1.0 - 0.25 * 9.81 * run.time), rtol=0.0, atol=1e-9
    )


def test_a_motor_of_limited_effort_is_late_and_catches_up() -> None:
    """Torque 1 N m on 0.5 kg m^2 from rest: t^2 until it has caught up with 0.4 t; then it is where it is to be."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, inertia=(0.3, 0.3, 0.5), position=(0, 0, 0), name="wheel")
    scene.add_joint(
        "revolute",
        None,
        "wheel",
        anchor=(0, 0, 0),
        axis=(0, 0, 1),
        motion=lambda t: 0.4 * t,
        effort_limit=1.0,
        name="axle",
    )
    run = sg.simulate(scene, duration=1.5, h=0.01, formulation=sg.Recursive(), **QUIET)
    early = run.time < 0.2 - 1e-9
    np.testing.assert_allclose(run.joint("axle").coordinate[early], run.time[early] ** 2, rtol=0.0, atol=0.01)
    assert run.joint("axle").coordinate[-1] == pytest.approx(0.4 * 1.5, abs=1e-6)
    assert np.abs(run.joint("axle").effort).max() <= 0.01 * (1.0 + 1e-9)
    assert np.abs(run.energy().error).max() < 1e-13


def test_laws_of_joints_and_contacts_are_one_problem() -> None:
    """A leg with friction in its knee lands on a rough floor: laws met, energy accounted for."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Capsule(0.03, 0.3), mass=0.5, position=(0, 0, 0.25), orientation=(0.99, 0, 0.14, 0), name="shin")
    scene.add_body(sg.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0.05, 0, 0.5), name="trunk")
    scene.add_joint(
        "revolute",
        "shin",
        "trunk",
        anchor=(0.05, 0, 0.42),
        axis=(0, 1, 0),
        friction=1.0,
        limits=(-0.3, 0.3),
        name="knee",
    )
    scene.set_contact(friction=0.6)
    run = sg.simulate(scene, duration=0.3, h=5e-3, formulation=sg.Recursive(), **QUIET)
    assert run.verdict != "not trusted"
    assert np.abs(run.energy().error).max() < 1e-11
    assert run.energy().friction[-1] > 0.0
    assert run.joint("knee").coordinate.max() < 0.3 + 1e-6
    polygon = sg.simulate(scene, duration=0.1, h=5e-3, formulation=sg.Recursive(cone="polygon"), **QUIET)
    assert polygon.verdict != "not trusted"


def test_a_flexible_link_between_two_loops() -> None:
    """A beam that is part of two four-bars at once: joints and energy hold to the order of the integrator."""
    errors = []
    for h in (4e-3, 2e-3):
        scene = sg.Scene(planar=True)
        shapes: dict[str, Any] = {"bending": [[0, 0, 1.5, -0.5], [0, 0, 0, 1]]}
        scene.add_flexible(
            sg.Beam(1.0, 2e7, 2e-8, 4e-4, 1000.0, shapes=shapes), position=(0, 1), points={"middle": 0.5}, name="beam"
        )
        for k, x in enumerate((0.0, 0.5, 1.0)):
            scene.add_body(sg.Disc(0.05), mass=0.3, inertia=0.03, position=(x - 0.2, 0.5), name=f"leg{k}")
            scene.add_joint("revolute", None, f"leg{k}", anchor=(x - 0.4, 0.0), name=f"foot{k}")
            scene.add_joint("revolute", f"leg{k}", "beam", anchor=(x, 1.0), name=f"knee{k}")
        run = sg.simulate(scene, duration=0.1, h=h, formulation=sg.Recursive(integrator=sg.RK4()), **QUIET)
        energy = run.energy()
        errors.append(float(np.abs(energy.total - energy.total[0]).max()))
        assert run.certificate.joint_drift.max() < 1e-10
        assert np.abs(energy.error).max() < 1e-11
        assert np.ptp(energy.elastic) > 0.0
        assert np.ptp(run.joint("foot0").coordinate) > 0.01
    assert errors[1] < errors[0] / 8.0
