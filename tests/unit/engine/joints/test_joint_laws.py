"""Limits, motors, springs, friction and constraints of joints against closed forms, with both formulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from tests.joint_scenes import GRAVITY, pendulum, slider, wheel

BOTH = pytest.mark.parametrize("formulation", [sg.MoreauJean(), sg.StewartTrinkle()], ids=lambda f: type(f).__name__)
ROUNDING = 1e-12


def run(scene: sg.Scene, duration: float, h: float, formulation: Any = None) -> sg.Trajectory:
    trajectory = sg.simulate(scene, duration=duration, h=h, formulation=formulation, progress=False)
    assert trajectory.certificate.energy_error.max() <= ROUNDING
    return trajectory


# --- limits ----------------------------------------------------------------------


@BOTH
def test_a_limit_stops_without_rebound_on_both_sides(formulation: Any) -> None:
    for speed, stop in ((1.0, 0.25), (-1.0, -0.15)):
        trajectory = run(wheel(speed, limits=(-0.15, 0.25)), 0.4, 0.02, formulation)
        joint = trajectory.joint("hinge")
        assert joint.coordinate[-1] == pytest.approx(stop, abs=1e-10)
        assert joint.speed[-1] == pytest.approx(0.0, abs=1e-10)
        assert joint.effort.sum() == pytest.approx(-0.4 * speed, rel=1e-9)  # all of the angular momentum
        assert trajectory.energy().impact[-1] == pytest.approx(0.2, rel=1e-9)


@BOTH
def test_a_limit_carries_the_load_and_lets_go(formulation: Any) -> None:
    """A rod rests on its stop with the torque ``m g l``."""
    trajectory = run(pendulum(limits=(-1.0, 0.0)), 0.1, 0.01, formulation)
    joint = trajectory.joint("hinge")
    assert np.abs(joint.coordinate).max() < ROUNDING
    np.testing.assert_allclose(joint.effort, -0.01 * 0.5 * GRAVITY, rtol=1e-9)


def test_a_limit_that_is_far_does_nothing() -> None:
    free, limited = (run(pendulum(limits=limits), 0.2, 0.01) for limits in (None, (-3.0, 3.0)))
    np.testing.assert_array_equal(free.q, limited.q)


# --- drives and motors -------------------------------------------------------------


def test_a_driven_joint_follows_its_motion() -> None:
    """With the secant rate it is where it should be at every step, exactly."""
    trajectory = run(slider(0.0, motion=lambda t: 0.3 * np.sin(4.0 * t)), 0.5, 0.01)
    joint = trajectory.joint("guide")
    np.testing.assert_allclose(joint.coordinate, 0.3 * np.sin(4.0 * trajectory.time), atol=ROUNDING)
    np.testing.assert_allclose(joint.effort, 2.0 * np.diff(joint.speed), atol=ROUNDING)


@BOTH
def test_a_motor_of_limited_effort_saturates_then_tracks(formulation: Any) -> None:
    """Asked for 1 rad/s at once: ``omega = tau t / I`` until then, the angle made good, then no effort."""
    tau, inertia = 2.0, 0.4
    trajectory = run(wheel(0.0, motion=lambda t: t, effort_limit=tau), 2.0, 0.01, formulation)
    joint = trajectory.joint("hinge")
    rising = trajectory.time < 0.2
    np.testing.assert_allclose(joint.speed[rising], tau / inertia * trajectory.time[rising], rtol=1e-9)
    assert np.abs(joint.effort).max() <= 0.01 * tau * (1.0 + 1e-9)
    # A quaternion that is advanced along its derivative and normalised turns by 2 atan(h omega / 2) in a step.
    one = 1.0 if isinstance(formulation, sg.MoreauJean) else 200.0 * np.tan(0.005)
    assert joint.speed[-1] == pytest.approx(one, abs=1e-9)
    assert joint.coordinate[-1] == pytest.approx(trajectory.time[-1], abs=1e-2)
    assert np.abs(joint.effort[-10:]).max() < 1e-9


@BOTH
def test_a_motor_that_is_too_weak_only_pushes(formulation: Any) -> None:
    """A rod is held at its angle with less than its weight asks for: it falls with the difference."""
    trajectory = run(pendulum(motion=lambda t: 0.0, effort_limit=2.0), 0.01, 0.01, formulation)
    expected = (0.5 * GRAVITY - 2.0) * 0.01 / (1.0 / 12.0 + 0.25)
    assert trajectory.joint("hinge").speed[1] == pytest.approx(expected, rel=1e-9)


# --- springs and dampers -----------------------------------------------------------


def test_a_spring_swings_as_its_method_does() -> None:
    """Velocities belong to middles of steps: ``-A cos(w (t + h/2)) / cos(w h/2)``, ``tan(w h/2) = h sqrt(k/m)/2``."""
    for h in (0.004, 0.05):
        trajectory = run(slider(spring=(50.0, 0.1)), 0.7, h)
        x, half = trajectory.joint("guide").coordinate - 0.1, np.arctan(0.5 * h * 5.0)
        expected = -0.1 * np.cos(2.0 * half / h * (trajectory.time + 0.5 * h)) / np.cos(half)
        np.testing.assert_allclose(x, expected, atol=1e-13)
        # By half a step at the start, by the second order in what it swings.
        assert np.abs(x + 0.1 * np.cos(5.0 * (trajectory.time + 0.5 * h))).max() < 0.1 * (5.0 * h) ** 2


def test_a_damper_brakes_exponentially() -> None:
    """Implicit: ``omega+ = omega / (1 + h c / I)``."""
    h, c = 0.02, 0.8
    joint = run(wheel(damping=c), 0.2, h).joint("hinge")
    np.testing.assert_allclose(joint.speed, (1.0 + h * c / 0.4) ** -np.arange(11.0), rtol=1e-11)


def test_a_very_stiff_spring_is_stable() -> None:
    trajectory = run(slider(3.0, spring=1e12), 0.1, 0.01)
    assert np.abs(trajectory.joint("guide").coordinate).max() < 1e-9


def test_a_spring_between_points_pulls_along_its_line() -> None:
    """First step of two masses: ``p = -h k (s + h u/4)`` along the line, equal and opposite."""
    scene = sg.Scene(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 2.0)):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(x, 0, 0), name=name)
    scene.add_spring("a", "b", anchor=[(0, 0, 0), (2, 0, 0)], stiffness=8.0, length=1.5, name="spring")
    h = 0.1
    trajectory = run(scene, h, h)
    p = h * 8.0 * 0.5 / (1.0 + 2.0 * h * h * 8.0 / 4.0)
    assert trajectory.linear_velocity("a")[1] == pytest.approx([p, 0, 0], rel=1e-12)
    assert trajectory.linear_velocity("b")[1] == pytest.approx([-p, 0, 0], rel=1e-12)
    assert trajectory.energy().elastic[0] == pytest.approx(0.5 * 8.0 * 0.25, rel=1e-12)
    assert trajectory.joint("spring").effort[0] == pytest.approx(-p, rel=1e-12)


# --- friction ----------------------------------------------------------------------


@BOTH
def test_constant_friction_of_a_guide(formulation: Any) -> None:
    trajectory = run(slider(1.0, friction=4.0), 0.8, 0.05, formulation)
    expected = np.maximum(0.0, 1.0 - 2.0 * trajectory.time)
    np.testing.assert_allclose(trajectory.joint("guide").speed, expected, atol=1e-10)
    assert trajectory.energy().friction[-1] == pytest.approx(1.0 - 0.05, rel=0.06)  # all of 1/2 m v^2, to first order


@BOTH
def test_a_journal_bearing_under_its_weight(formulation: Any) -> None:
    """The torque is ``coefficient * radius * m g``: the wheel stops evenly."""
    coefficient, radius = 0.3, 0.05
    scene = wheel(2.0, gravity=GRAVITY, friction=("load", coefficient, radius))
    trajectory = run(scene, 0.5, 0.02, formulation)
    torque = coefficient * radius * 2.0 * GRAVITY
    expected = np.maximum(0.0, 2.0 - torque / 0.4 * trajectory.time)
    np.testing.assert_allclose(trajectory.joint("hinge").speed, expected, rtol=1e-9)


@BOTH
@pytest.mark.parametrize("arm", [0.0, 0.3])
def test_a_guide_rubs_with_force_and_moment(formulation: Any, arm: float) -> None:
    """``F = coefficient (|N| + |moment| / radius)``; a load off the guide's line tilts the block in it."""
    coefficient, radius, mass = 0.2, 0.5, 2.0
    scene = slider(3.0, mass=mass, friction=("load", coefficient, radius))
    scene.add_force("block", force=(0, 0, -10.0), at=(0, arm, 0))
    trajectory = run(scene, 0.2, 0.02, formulation)
    friction = coefficient * (10.0 + 10.0 * arm / radius)
    np.testing.assert_allclose(trajectory.joint("guide").speed, 3.0 - friction / mass * trajectory.time, rtol=1e-9)


@BOTH
def test_friction_of_a_moving_hinge_is_relative(formulation: Any) -> None:
    """Between two free wheels friction only exchanges angular momentum, until both turn alike."""
    scene = wheel(1.0)
    scene.add_body(
        sg.Sphere(0.1), mass=1.0, inertia=(0.2, 0.2, 0.2), mass_centre=(0, 0, 0), position=(0, 1, 0), name="other"
    )
    scene.add_joint("revolute", "wheel", "other", anchor=(0, 1, 0), axis=(0, 1, 0), friction=0.5, name="clutch")
    trajectory = run(scene, 0.5, 0.02, formulation)
    assert trajectory.joint("clutch").speed[-1] == pytest.approx(0.0, abs=1e-10)
    assert trajectory.angular_velocity("other")[-1, 1] == pytest.approx(0.4 / 0.6, rel=1e-9)
    assert trajectory.joint("clutch").effort[0] == pytest.approx(0.02 * 0.5, rel=1e-9)


# --- gears ---------------------------------------------------------------------------


def test_a_gear_couples_inertias_by_the_square_of_its_ratio() -> None:
    ratio, torque = -2.0, 0.6
    scene = wheel(0.0)
    scene.add_body(
        sg.Sphere(0.1), mass=1.0, inertia=(0.1, 0.1, 0.1), mass_centre=(0, 0, 0), position=(1, 0, 0), name="other"
    )
    scene.add_joint("revolute", None, "other", anchor=(1, 0, 0), axis=(0, 1, 0), name="hinge 2")
    scene.add_joint("gear", "wheel", "other", axis=[(0, 1, 0), (0, 1, 0)], ratio=ratio, name="gear")
    scene.add_force("wheel", torque=(0, torque, 0))
    trajectory = run(scene, 0.2, 0.02)
    omega = torque * trajectory.time / (0.4 + ratio**2 * 0.1)
    np.testing.assert_allclose(trajectory.joint("hinge").speed, omega, atol=ROUNDING)
    np.testing.assert_allclose(trajectory.joint("hinge 2").speed, ratio * omega, atol=ROUNDING)


# --- constraints of the user -----------------------------------------------------------


def on_a_sphere(q: Array, t: float) -> float:
    """Keep a particle one metre from the origin."""
    return float(q[:3] @ q[:3] - 1.0)


def its_gradient(q: Array, t: float) -> list[list[float]]:
    return [[2 * q[0], 2 * q[1], 2 * q[2], 0, 0, 0, 0]]


def particle(**words: Any) -> sg.Scene:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(1, 0, 0), velocity=(0, 1, 0), name="particle")
    scene.add_constraint(on_a_sphere, ["particle"], **words)
    return scene


def test_derivatives_given_and_found_agree() -> None:
    given, found = (run(particle(**words), 0.3, 0.01) for words in ({"jacobian": its_gradient}, {}))
    np.testing.assert_allclose(given.q, found.q, atol=1e-9)
    radius = np.linalg.norm(given.position("particle"), axis=1)
    assert np.abs(radius - 1.0).max() < 2e-3
    assert given.certificate.joint_drift.max() == pytest.approx(np.abs(radius**2 - 1.0).max(), rel=1e-6)


@pytest.mark.parametrize("wrong", [lambda q, t: 2 * np.array(its_gradient(q, t)), lambda q, t: np.zeros((1, 7))])
def test_a_wrong_derivative_is_refused(wrong: Any) -> None:
    with pytest.raises(sg.InputError, match=r"constraint 1: jacobian differs from the difference of psi by"):
        particle(jacobian=wrong)


def its_turn(q: Array, t: float) -> list[list[float]]:
    """Derivatives of ``2 atan2(z, w)`` with respect to the pose."""
    size = q[3] ** 2 + q[6] ** 2
    return [[0, 0, 0, -2.0 * q[6] / size, 0, 0, 2.0 * q[3] / size]]


@pytest.mark.parametrize("jacobian", [None, its_turn])
def test_a_constraint_of_orientations_and_time(jacobian: Any) -> None:
    """Turning about z as told: ``psi = angle - 0.5 t``, the quaternion's derivative given or found."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Box((0.2, 0.3, 0.4)), mass=1.0, position=(0, 0, 0), name="box")
    scene.add_constraint(lambda q, t: 2.0 * np.arctan2(q[6], q[3]) - 0.5 * t, ["box"], jacobian=jacobian)
    trajectory = run(scene, 0.2, 0.01)
    np.testing.assert_allclose(trajectory.angular_velocity("box")[1:, 2], 0.5, rtol=1e-8)


@BOTH
def test_an_inequality_holds_like_a_floor(formulation: Any) -> None:
    """``z >= 0.1 t``: a body falls onto a floor that rises, and is carried by ``m g h`` in every step."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=2.0, position=(0, 0, 0.05), name="ball")
    scene.add_constraint(lambda q, t: q[2] - 0.1 * t, ["ball"], kind="inequality")
    trajectory = run(scene, 0.3, 0.01, formulation)
    gap = trajectory.position("ball")[:, 2] - 0.1 * trajectory.time
    assert gap.min() > -1e-9
    assert gap[-1] == pytest.approx(0.0, abs=1e-9)
    assert trajectory.linear_velocity("ball")[-1, 2] == pytest.approx(0.1, rel=1e-8)


def test_a_constraint_in_the_plane_takes_three_numbers() -> None:
    """A planar body whose angle follows its place, ``theta = 2 x``: rolling without a floor."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_body(sg.Disc(0.5), mass=1.0, position=(0, 0), velocity=(1, 0), angular_velocity=2.0, name="disc")
    scene.add_constraint(lambda q, t: q[2] - 2.0 * q[0], ["disc"])
    scene.add_force("disc", force=(3.0, 0))
    trajectory = run(scene, 0.1, 0.01)
    inertia = 0.5 * 0.25
    expected = 1.0 + 3.0 * trajectory.time / (1.0 + 4.0 * inertia)
    np.testing.assert_allclose(trajectory.linear_velocity("disc")[:, 0], expected, rtol=1e-9)
