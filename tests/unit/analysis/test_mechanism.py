"""Joints at one instant, and contact forces of mechanisms, against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.analysis import Answer, Outcome, check_state, sliding_matrices
from signorini.analysis.wedging import redundancy, wedging
from signorini.geometry import detect
from signorini.model import Model
from signorini.scene import compile_scene
from tests.scenes import GRAVITY

ARM, INERTIA = 0.5, 0.35  # of the pendulum: mass centre from its axis [m], inertia about the axis [kg m^2]


def pendulum(*, angle: float = 0.0, speed: float = 0.0, **joint: Any) -> sg.Scene:
    """Hang the pendulum of S1, section 7.3, about world y, `angle` below the horizontal."""
    scene = sg.Scene()
    x = ARM * np.array([np.cos(angle), 0.0, -np.sin(angle)])
    omega = np.array([0.0, speed, 0.0])
    scene.add_body(
        sg.Sphere(0.1),
        mass=1.0,
        inertia=(0.09, 0.10, 0.02),
        position=x,
        orientation=(float(np.cos(angle / 2)), 0.0, float(np.sin(angle / 2)), 0.0),
        velocity=np.cross(omega, x),
        angular_velocity=omega,
        name="bob",
    )
    scene.add_joint("revolute", None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge", **joint)
    return scene


# --- accelerations -----------------------------------------------------------


def test_a_pendulum_in_motion() -> None:
    """I alpha = m g l cos(angle), and the mass centre is also pulled inwards by l omega^2."""
    angle, speed = 0.4, 3.0
    found = sg.accelerations(pendulum(angle=angle, speed=speed))
    alpha = GRAVITY * ARM * np.cos(angle) / INERTIA
    outwards, along = np.array([np.cos(angle), 0, -np.sin(angle)]), np.array([-np.sin(angle), 0, -np.cos(angle)])
    assert found.angular_acceleration("bob") == pytest.approx([0, alpha, 0], abs=1e-9)
    a = ARM * (alpha * along - speed**2 * outwards)
    assert found.linear_acceleration("bob") == pytest.approx(a, abs=1e-9)
    reaction = found.only.joint_force["hinge"]
    assert np.linalg.norm(reaction) == pytest.approx(np.linalg.norm(a + np.array([0, 0, GRAVITY])), abs=1e-9)


@pytest.mark.parametrize(
    ("limit", "speed", "torque"),
    [(6.0, 0.0, -GRAVITY * ARM), (3.0, 0.0, -3.0), (3.0, 1.0, -3.0), (3.0, -1.0, 3.0), (6.0, -1.0, 6.0)],
)
def test_dry_friction_holds_or_opposes(limit: float, speed: float, torque: float) -> None:
    """S1, section 7.3: m g l = 4.905 is held by a limit of 6 and not by one of 3; a moving joint feels all of it."""
    found = sg.accelerations(pendulum(speed=speed, friction=limit))
    assert found.status is sg.Status.SOLVED
    assert found.unique is Answer.YES
    assert found.only.joint_friction["hinge"] == pytest.approx(torque, abs=1e-9)
    assert found.angular_acceleration("bob")[1] == pytest.approx((GRAVITY * ARM + torque) / INERTIA, abs=1e-9)


def test_a_driven_hinge() -> None:
    """Angle 0.3 sin 4t + t^2 prescribed: alpha = 2 at t = 0, the last row's force is the drive's torque."""
    found = sg.accelerations(pendulum(speed=1.2, motion=lambda t: 0.3 * np.sin(4 * t) + t * t))
    assert found.angular_acceleration("bob")[1] == pytest.approx(2.0, abs=1e-8)
    assert found.only.joint_force["hinge"][-1] == pytest.approx(2.0 * INERTIA - GRAVITY * ARM, abs=1e-8)


@pytest.mark.parametrize(("effort", "alpha"), [(20.0, -10.0), (6.0, (GRAVITY * ARM - 6.0) / INERTIA)])
def test_a_motor_follows_as_far_as_its_effort_goes(effort: float, alpha: float) -> None:
    found = sg.accelerations(pendulum(motion=lambda t: -5.0 * t * t, effort_limit=effort))
    assert found.angular_acceleration("bob")[1] == pytest.approx(alpha, abs=1e-8)


@pytest.mark.parametrize(("limits", "alpha"), [((-1.0, 0.0), 0.0), ((0.0, 1.0), GRAVITY * ARM / INERTIA)])
def test_a_stop_holds_one_side_only(limits: tuple[float, float], alpha: float) -> None:
    found = sg.accelerations(pendulum(limits=limits))
    assert found.angular_acceleration("bob")[1] == pytest.approx(alpha, abs=1e-9)


def test_a_stop_that_is_hit_comes_first() -> None:
    assert sg.accelerations(pendulum(speed=1.0, limits=(-1.0, 0.0))).status is sg.Status.NOT_APPLICABLE


def test_spring_and_damper() -> None:
    """Torque 10 (0.2 - angle) - 2 omega at angle 0, omega 1."""
    found = sg.accelerations(pendulum(speed=1.0, spring=(10.0, 0.2), damping=2.0))
    assert found.angular_acceleration("bob")[1] == pytest.approx((GRAVITY * ARM + 2.0 - 2.0) / INERTIA, abs=1e-9)


def test_a_bead_on_a_turning_wire_feels_twice_the_mixed_derivative() -> None:
    """With psi = -x sin wt + y cos wt: the wire pushes with 2 m w r', the 2 being that of 2 psi_qt G v."""
    w, r, speed = 2.0, 1.5, 0.7
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_body(sg.Disc(0.1), mass=2.0, position=(r, 0), velocity=(speed, w * r), name="bead")
    scene.add_constraint(lambda q, t: -q[0] * np.sin(w * t) + q[1] * np.cos(w * t), ["bead"])
    found = sg.accelerations(scene)
    assert found.linear_acceleration("bead") == pytest.approx([0, 2 * w * speed, 0], abs=1e-7)


def test_two_hinges_on_one_axis() -> None:
    """Ten rows of rank five: the motion of one hinge, forces not determined, both hinges named."""
    one, two = pendulum(angle=0.3, speed=2.0), pendulum(angle=0.3, speed=2.0)
    two.add_joint("revolute", None, "bob", anchor=(0, 0.3, 0), axis=(0, 1, 0), name="second")
    single, double = sg.accelerations(one), sg.accelerations(two)
    assert double.only.acceleration == pytest.approx(single.only.acceleration, abs=1e-9)
    assert single.only.forces_unique
    assert not double.only.forces_unique
    model = compile_scene(two)
    found = redundancy(model, model.initial_state)
    assert (found.rows, found.rank, set(found.joints)) == (10, 5, {"hinge", "second"})
    assert "rank 5" in str(found)
    model = compile_scene(one)
    assert redundancy(model, model.initial_state).rank == 5


def test_masses_far_apart_do_not_make_rows_dependent() -> None:
    """A pendulum of 1e5 kg with a grain of 1e-8 kg welded to it moves as if alone, and all rows count."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1e5, inertia=(1e4, 1e4, 1e4), position=(ARM, 0, 0), name="bob")
    scene.add_body(sg.Sphere(1e-4), mass=1e-8, position=(1.0, 0, 0), name="grain")
    scene.add_joint("revolute", None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    scene.add_joint("fixed", "bob", "grain", anchor=(1.0, 0, 0), name="weld")
    found = sg.accelerations(scene)
    alpha = 1e5 * GRAVITY * ARM / (1e4 + 1e5 * ARM**2)
    for name, arm_ in (("bob", ARM), ("grain", 1.0)):
        assert found.angular_acceleration(name) == pytest.approx([0, alpha, 0], abs=1e-6)
        assert found.linear_acceleration(name) == pytest.approx([0, 0, -alpha * arm_], abs=1e-6)
    assert found.only.forces_unique


def test_joints_that_contradict_each_other_are_told() -> None:
    scene = sg.Scene(planar=True)
    scene.add_body(sg.Disc(0.1), mass=1.0, position=(0, 0), name="disc")
    for k, motion in enumerate((lambda t: t * t, lambda t: 2.0 * t * t)):
        scene.add_joint("prismatic", None, "disc", anchor=(0, 0), axis=(1, 0), motion=motion, name=f"drive{k}")
    found = sg.accelerations(scene)
    assert any("contradict" in note for note in found.notes)


def test_velocities_that_break_a_joint_are_told() -> None:
    scene = pendulum()
    scene.bodies["bob"].velocity[2] = -1.0
    assert any("'hinge' is not kept" in note for note in sg.accelerations(scene).notes)


def test_friction_that_follows_the_load_is_refused() -> None:
    with pytest.raises(sg.InputError, match="'hinge': friction follows the load"):
        sg.accelerations(pendulum(friction=("load", 0.3, 0.02)))


# --- contact forces of mechanisms (S4 with joints) -----------------------------


def driven_block(friction: float) -> sg.Scene:
    """Pull a block of 2 kg over the floor by a cart that moves as 2t + 3t^2; the block slides freely up and down."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(0.1), mass=3.0, position=(0, 1), velocity=(2, 0), name="cart")
    foot = sg.Polygon([(0.0, -0.2), (0.2, 0.1), (-0.2, 0.1)])
    scene.add_body(foot, mass=2.0, inertia=0.1, mass_centre=(0, 0), position=(0, 0.2), velocity=(2, 0), name="block")
    scene.add_joint(
        "prismatic", None, "cart", anchor=(0, 1), axis=(1, 0), motion=lambda t: 2 * t + 3 * t * t, name="drive"
    )
    scene.add_joint("prismatic", "cart", "block", anchor=(0, 0.2), axis=(0, 1), name="guide")
    scene.set_contact(friction=friction)
    return scene


@pytest.mark.parametrize("mu", [0.0, 0.5, 20.0])
def test_a_block_on_a_driven_slide_cannot_jam(mu: float) -> None:
    """The guide takes the friction, so D = 1/m whatever mu; the drive pulls with 5 kg x 6 m/s^2 + mu m g."""
    scene = driven_block(mu)
    model = compile_scene(scene)
    (matrix,) = sliding_matrices(model)
    assert matrix.D.item() == pytest.approx(0.5, abs=1e-12)
    found = check_state(model)
    assert found.outcome is Outcome.VALID
    assert found.judgements[0].solutions[0] == pytest.approx([2.0 * GRAVITY], abs=1e-6)
    force = sg.accelerations(scene).only.joint_force["drive"][-1]
    assert force == pytest.approx(30.0 + mu * 2.0 * GRAVITY, rel=1e-6)


# Two links of a planar arm, base at the origin: lengths, masses, inertias about their mass centres, angles from x.
LENGTH, MASS, CENTRAL, ANGLES = (1.0, 0.8), (2.0, 1.5), (0.2, 0.1), (0.6, -1.3)


def arm(friction: float) -> tuple[Model, Array, Array, Array]:
    """Return the arm with its tip on the floor, its mass matrix, and the tip's Jacobians along x and y.

    The tip slides along x at 1 m/s. Coordinates are the absolute angles of the links.
    """
    l1, l2 = LENGTH
    c, s = np.cos(ANGLES), np.sin(ANGLES)
    elbow = l1 * np.array([c[0], s[0]])
    tip = elbow + l2 * np.array([c[1], s[1]])
    J_x, J_y = np.array([-l1 * s[0], -l2 * s[1]]), np.array([l1 * c[0], l2 * c[1]])
    turn = np.linalg.solve([J_x, J_y], [1.0, 0.0])
    coupling = MASS[1] * l1 * 0.5 * l2 * np.cos(ANGLES[0] - ANGLES[1])
    M = np.array(
        [
            [CENTRAL[0] + MASS[0] * (0.5 * l1) ** 2 + MASS[1] * l1**2, coupling],
            [coupling, CENTRAL[1] + MASS[1] * (0.5 * l2) ** 2],
        ]
    )
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1), offset=float(tip[1])), name="floor")
    velocity = np.zeros(2)
    start = np.zeros(2)
    for k in range(2):
        half = 0.5 * LENGTH[k] * np.array([c[k], s[k]])
        push = turn[k] * np.array([-half[1], half[0]])
        scene.add_body(
            sg.Segment((-0.5 * LENGTH[k], 0.0), (0.5 * LENGTH[k], 0.0)),
            mass=MASS[k],
            inertia=CENTRAL[k],
            mass_centre=(0, 0),
            position=start + half,
            orientation=ANGLES[k],
            velocity=velocity + push,
            angular_velocity=float(turn[k]),
            name=f"link{k}",
        )
        start, velocity = start + 2.0 * half, velocity + 2.0 * push
    scene.add_joint("revolute", None, "link0", anchor=(0, 0), name="shoulder")
    scene.add_joint("revolute", "link0", "link1", anchor=elbow, name="elbow")
    scene.set_contact(friction=friction)
    return compile_scene(scene), M, J_x, J_y


@pytest.mark.parametrize("mu", [0.0, 0.4, 2.0])
def test_the_matrix_of_a_two_link_arm(mu: float) -> None:
    """D = J_y M^-1 (J_y - mu sgn(slip) J_x)^T in joint coordinates; the tip slides along +x."""
    model, M, J_x, J_y = arm(mu)
    (matrix,) = sliding_matrices(model)
    expected = J_y @ np.linalg.solve(M, J_y - mu * J_x)
    assert matrix.D[0, 0] == pytest.approx(expected, rel=1e-12)
    assert list(matrix.bodies) == [1, 2]


def test_the_tip_force_of_a_two_link_arm() -> None:
    """Lagrange: M qdd + h = Q + J_push^T c with h from the rates, and the tip keeps its height."""
    mu = 0.4
    model, M, J_x, J_y = arm(mu)
    l1, l2 = LENGTH
    rates = model.initial_state.v[1:, 5]
    sine = MASS[1] * l1 * 0.5 * l2 * np.sin(ANGLES[0] - ANGLES[1])
    h = sine * np.array([rates[1] ** 2, -(rates[0] ** 2)])
    weight = -GRAVITY * np.cos(ANGLES) * np.array([(0.5 * MASS[0] + MASS[1]) * l1, 0.5 * MASS[1] * l2])
    bias = -float(np.sin(ANGLES) * LENGTH @ rates**2)
    y = J_y @ np.linalg.solve(M, weight - h) + bias
    c_n = -y / (J_y @ np.linalg.solve(M, J_y - mu * J_x))
    assert c_n > 0.0
    assert check_state(model).judgements[0].solutions[0] == pytest.approx([c_n], rel=1e-7)
    found = sg.accelerations(model)
    assert found.only.force[0, :2] == pytest.approx([c_n, -mu * c_n], rel=1e-7)
    qdd = np.linalg.solve(M, weight - h + (J_y - mu * J_x) * c_n)
    assert found.only.acceleration[1:, 5] == pytest.approx(qdd, rel=1e-7)


def halved_rod(mu: float, turn: float, kind: str, **joint: Any) -> sg.Scene:
    """Return Painleve's rod of S1, section 7.6, its tip sliding left, made of two halves joined in the middle."""
    theta = float(np.arctan(2.0))
    along = np.array([np.cos(theta), np.sin(theta)])
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="ground")
    for k in range(2):
        x = (0.5 + k) * along
        scene.add_body(
            sg.Segment((-0.5, 0.0), (0.5, 0.0)),
            mass=0.5,
            inertia=0.5 / 12.0,
            mass_centre=(0, 0),
            position=x,
            orientation=theta,
            velocity=(-1.0 - turn * x[1], turn * x[0]),
            angular_velocity=turn,
            name=f"half{k}",
        )
    scene.add_joint(kind, "half0", "half1", anchor=along, name="middle", **joint)
    scene.set_contact(friction=mu)
    return scene


@pytest.mark.parametrize(("kind", "joint"), [("fixed", {}), ("revolute", {"friction": 1e3})])
@pytest.mark.parametrize(
    ("mu", "turn", "A", "forces"), [(1.2, 0.0, 0.16, [61.3125]), (1.5, 4.0, -0.2, [0.0, 22.504175])]
)
def test_a_rod_of_two_halves(
    kind: str, joint: dict[str, float], mu: float, turn: float, A: float, forces: list[float]
) -> None:
    """Welded, or stuck by friction, the halves have the numbers of the whole rod (S1, section 7.6)."""
    scene = halved_rod(mu, turn, kind, **joint)
    model = compile_scene(scene)
    (matrix,) = sliding_matrices(model)
    assert matrix.D.item() == pytest.approx(A, abs=1e-12)
    # The hinge may also give way, under a contact force so large that it takes the whole limit.
    stuck = [one for one in sg.accelerations(scene).solutions if abs(one.joint_friction.get("middle", 0.0)) < 999.0]
    assert sorted(one.force[0, 0] for one in stuck) == pytest.approx(forces, abs=1e-5)
    validity = check_state(model)
    assert sorted(one[0] for one in validity.judgements[0].solutions) == pytest.approx(forces, abs=1e-5)
    assert any("held fast" in note for note in validity.notes) == (kind == "revolute")


def test_a_hinge_with_friction_may_also_give_way() -> None:
    """Lagrange for (x, y) of the tip and both angles: with the hinge slipping D < 0, so a second, huge force exists."""
    c, s, limit, mu = 1.0 / np.sqrt(5.0), 2.0 / np.sqrt(5.0), 1e3, 1.2
    first = np.array([[1.0, 0.0, -0.5 * s, 0.0], [0.0, 1.0, 0.5 * c, 0.0]])
    second = np.array([[1.0, 0.0, -s, -0.5 * s], [0.0, 1.0, c, 0.5 * c]])
    M = 0.5 * (first.T @ first + second.T @ second) + np.diag([0.0, 0.0, 0.5 / 12.0, 0.5 / 12.0])
    push = np.array([mu, 1.0, 0.0, 0.0])
    load = (first + second).T @ [0.0, -0.5 * GRAVITY] + limit * np.array([0.0, 0.0, -1.0, 1.0])
    c_n = -np.linalg.solve(M, load)[1] / np.linalg.solve(M, push)[1]
    found = sg.accelerations(halved_rod(mu, 0.0, "revolute", friction=limit))
    assert found.status is sg.Status.SEVERAL_SOLUTIONS
    assert max(one.force[0, 0] for one in found.solutions) == pytest.approx(c_n, rel=1e-9)


def test_a_simulation_of_a_mechanism_tests_itself() -> None:
    """The welded rod of mu = 1.5 is flagged in a run as the whole one is; with mu = 0.3 it is not."""
    for mu, unique in ((0.3, True), (1.5, False)):
        scene = halved_rod(mu, 0.0, "fixed")
        run = sg.simulate(scene, duration=1e-5, h=1e-5, formulation=sg.StewartTrinkle(), validity=True, progress=False)
        assert (run.certificate.unique[0] == Answer.YES) == unique


# --- wedging -----------------------------------------------------------------


def disc_on_a_rail(joint: str | None) -> Model:
    """Put a disc on the floor, perhaps on a rail along it or upwards."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(1.0), mass=1.0, position=(0, 1), name="disc")
    if joint is not None:
        scene.add_joint("prismatic", None, "disc", anchor=(0, 1), axis=(1, 0) if joint == "along" else (0, 1))
    scene.set_contact(friction=0.3)
    return compile_scene(scene)


@pytest.mark.parametrize(("rail", "apart"), [(None, True), ("up", True), ("along", False)])
def test_a_rail_decides_whether_bodies_come_apart(rail: str | None, apart: bool) -> None:
    """A disc on the floor can be lifted, unless a rail along the floor holds it: then contact and rail wedge."""
    model = disc_on_a_rail(rail)
    contacts = detect(model, model.initial_state, np.full(model.body_count, 1e-3))
    found = wedging(model, model.initial_state, contacts)
    assert contacts.contact_count == 1
    assert [test.holds for test in found.values()] == [apart, apart]
    if not apart:
        test = found["bodies can be taken apart"]
        assert test.joint_stress is not None
        assert test.imbalance < 1e-9


def test_redundant_joints_do_not_hide_wedging() -> None:
    """Two rails that point up are redundant; the disc can be lifted along them all the same."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(1.0), mass=1.0, position=(0, 1), name="disc")
    for _ in range(2):
        scene.add_joint("prismatic", None, "disc", anchor=(0, 1), axis=(0, 1))
    model = compile_scene(scene)
    contacts = detect(model, model.initial_state, np.full(model.body_count, 1e-3))
    assert all(test.holds for test in wedging(model, model.initial_state, contacts).values())
    assert redundancy(model, model.initial_state).rank == 2
