"""Laws of scenes with joints: energy, momentum, rest, repeatability, drift."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from tests.by_python.step import ByPython
from tests.joint_scenes import GRAVITY, chain, everything, link, pendulum, wheel

BOTH = pytest.mark.parametrize("formulation", [sg.MoreauJean(), sg.StewartTrinkle()], ids=lambda f: type(f).__name__)
IDENTITY = 1e-12


def run(scene: sg.Scene, duration: float, h: float, formulation: Any = None, **words: Any) -> sg.Trajectory:
    return sg.simulate(scene, duration=duration, h=h, formulation=formulation, progress=False, **words)


# --- energy and momentum -----------------------------------------------------------


@pytest.mark.parametrize(
    "formulation",
    [sg.MoreauJean(), sg.MoreauJean(projection=True), sg.StewartTrinkle(), sg.StewartTrinkle(projection=True)],
    ids=str,
)
def test_energy_is_accounted_for_with_every_kind_of_joint(formulation: Any) -> None:
    """The identity of S1, section 5.3, with drives, motors, limits, springs, friction, constraints and contacts."""
    trajectory = run(everything(), 0.3, 0.005, formulation)
    assert trajectory.certificate.energy_error.max() <= IDENTITY
    assert np.abs(trajectory.energy().error).max() <= 1e-10
    assert trajectory.certificate.redundant_rows.max() >= 1
    assert trajectory.energy().friction[-1] > 0.0
    assert trajectory.energy().damping[-1] > 0.0


def angular_momentum(trajectory: sg.Trajectory, masses: dict[str, tuple[float, Array]]) -> tuple[Array, Array]:
    """Return momentum and angular momentum about the origin over time."""
    p, L = np.zeros(3), np.zeros(3)
    for name, (mass, inertia) in masses.items():
        v, omega, e = (
            trajectory.linear_velocity(name),
            trajectory.angular_velocity(name),
            trajectory.orientation(name),
        )
        spin = np.array([turn(q, inertia * turn(q * [1, -1, -1, -1], w)) for q, w in zip(e, omega, strict=True)])
        p = p + mass * v
        L = L + mass * np.cross(trajectory.centre(name), v) + spin
    return p, L


def turn(e: Array, x: Array) -> Array:
    """Rotate x by the quaternion e."""
    r = 2.0 * np.cross(e[1:], x)
    return np.asarray(x + e[0] * r + np.cross(e[1:], r))


def test_a_floating_linkage_keeps_momentum_and_angular_momentum() -> None:
    """Joints, their friction, springs and dampers are inner forces, and act on both bodies along one line.

    The bodies are balls: of other bodies the inertia turns between two steps.
    """
    scene = sg.Scene(gravity=(0, 0, 0))
    r = np.random.default_rng(2)
    places = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.5)], dtype=float)
    inertia = np.full(3, 0.05)
    for k, place in enumerate(places):
        scene.add_body(
            sg.Sphere(0.1), mass=1.0 + k, inertia=inertia, mass_centre=(0, 0, 0), position=place,
            velocity=r.uniform(-1, 1, 3), angular_velocity=r.uniform(-2, 2, 3), name=f"b{k}",
        )  # fmt: skip
    middle = [0.5 * (places[k] + places[(k + 1) % 4]) for k in range(4)]
    scene.add_joint("revolute", "b0", "b1", anchor=middle[0], axis=(0, 0, 1), friction=0.2)
    scene.add_joint("prismatic", "b1", "b2", anchor=middle[1], axis=(0, 1, 0), spring=20.0, damping=0.3)
    scene.add_joint("universal", "b2", "b3", anchor=middle[2], axis=[(0, 0, 1), (1, 0, 0)])
    scene.add_joint("distance", "b3", "b0", anchor=[places[3], places[0]])
    p, L = angular_momentum(run(scene, 0.5, 0.01), {f"b{k}": (1.0 + k, inertia) for k in range(4)})
    assert np.abs(p - p[0]).max() < 1e-12
    assert np.abs(L - L[0]).max() < 1e-12


# --- rest ------------------------------------------------------------------------------


@BOTH
def test_a_pendulum_held_by_joint_friction_does_not_creep(formulation: Any) -> None:
    """``limit > m g l``: nothing moves in 100 s."""
    trajectory = run(pendulum(friction=6.0), 100.0, 0.25, formulation)
    assert trajectory.step_count == 400
    assert np.abs(trajectory.joint("hinge").coordinate).max() < 1e-12


@BOTH
def test_friction_by_load_holds_without_creep(formulation: Any) -> None:
    """The bearing holds where ``coefficient * radius * m g > m g l``, here with a pin wider than the arm is long."""
    scene = pendulum(friction=("load", 0.6, 0.9))
    trajectory = run(scene, 20.0, 0.25, formulation)
    assert np.abs(trajectory.joint("hinge").coordinate).max() < 1e-12


def test_a_held_joint_tells_its_reaction() -> None:
    """Force ``m g`` and torque ``m g l`` on the rod at the hinge."""
    h = 0.01
    joint = run(pendulum(friction=6.0), 0.05, h).joint("hinge")
    torque = 0.5 * GRAVITY  # gravity turns from z to x, about +y; friction against it
    np.testing.assert_allclose(joint.reaction, np.tile([0, 0, GRAVITY * h, 0, -torque * h, 0], (5, 1)), atol=1e-12)


def test_a_reaction_at_the_anchor_has_no_moment_about_free_axes() -> None:
    """A spherical joint transmits no moment, however fast the body turns."""
    scene = chain(3)
    scene.bodies["link0"].angular_velocity[:] = (0.0, 20.0, 0.0)
    trajectory = run(scene, 0.1, 0.005)
    for k in range(3):
        reaction = trajectory.joint(f"joint{k}").reaction
        assert np.abs(reaction[:, :3]).max() > 1e-4
        # The rows act where the joint has drifted to.
        assert np.abs(reaction[:, 3:]).max() <= 2.0 * trajectory.certificate.joint_drift.max() * np.abs(reaction).max()


# --- contacts of joined bodies -----------------------------------------------------------


def crossing_discs(*, law: bool) -> sg.Trajectory:
    """Two overlapping discs on a hinge between their centres, folded together by a torque."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    for k, name in enumerate("ab"):
        scene.add_body(sg.Disc(0.3), mass=1.0, position=(0.8 * k, 0), name=name)
    scene.add_joint("revolute", "a", "b", anchor=(0.4, 0.5), name="hinge")
    scene.add_force("b", torque=-1.0)
    scene.add_force("a", torque=1.0)
    if law:
        scene.set_contact(friction=0.0, between=("a", "b"))
    return run(scene, 1.0, 0.01)


def test_joined_bodies_do_not_collide_unless_they_have_a_law() -> None:
    apart = {law: crossing_discs(law=law) for law in (False, True)}
    distance = {law: np.linalg.norm(one.position("a") - one.position("b"), axis=1).min() for law, one in apart.items()}
    assert distance[False] < 0.5
    assert distance[True] == pytest.approx(0.6, abs=1e-3)


# --- repeatability -----------------------------------------------------------------------


def same(a: sg.Trajectory, b: sg.Trajectory) -> None:
    np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(a.v, b.v)
    for key in ("coordinate", "speed", "effort", "reaction"):
        np.testing.assert_array_equal(getattr(a.joint_log, key), getattr(b.joint_log, key))


@BOTH
def test_snapshots_with_joints_continue_bit_for_bit(formulation: Any) -> None:
    one, other = (sg.Simulator(everything(), h=0.005, formulation=formulation) for _ in range(2))
    for _ in range(20):
        one.step()
    other.restore(one.snapshot())
    for _ in range(20):
        a, b = one.step().result, other.step().result
        assert a.joints is not None
        assert b.joints is not None
        np.testing.assert_array_equal(a.state.q, b.state.q)
        np.testing.assert_array_equal(a.joints.coordinate, b.joints.coordinate)


def turning_linkage() -> sg.Scene:
    """A four-bar whose crank turns round, with a spring and friction: data only."""
    scene = sg.Scene(planar=True)
    corners = [(0, 0), (0, 0.2), (0.7, 0.6), (0.6, 0)]
    for k in range(3):
        link(scene, corners[k], corners[k + 1], f"link{k}")
    scene.add_joint("revolute", None, "link0", anchor=corners[0], name="crank")
    scene.add_joint("revolute", "link0", "link1", anchor=corners[1], friction=0.001)
    scene.add_joint("revolute", "link1", "link2", anchor=corners[2], friction=("load", 0.01, 0.01))
    scene.add_joint("revolute", None, "link2", anchor=corners[3], limits=(-4.0, 4.0))
    scene.add_spring("link0", "link2", anchor=[(0, 0.1), (0.6, 0.3)], stiffness=2.0, damping=0.01)
    scene.add_force("link0", torque=2.0)
    return scene


def test_a_run_resumed_from_its_checkpoint_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """Also after the crank has turned more than once, which poses alone do not tell."""
    whole = run(turning_linkage(), 1.2, 0.01)

    def stop_half_way(t: float, state: sg.State) -> None:
        if t > 0.8:
            raise KeyboardInterrupt

    path = tmp_path / "run.h5"
    with pytest.raises(KeyboardInterrupt):
        run(turning_linkage(), 1.2, 0.01, checkpoint=path, callback=stop_half_way)
    past = sg.Trajectory.load(path)
    assert 70 < past.step_count < 90
    assert past.joint("crank").coordinate[-1] > 2.0 * np.pi
    same(sg.resume(path), whole)


# --- drift -------------------------------------------------------------------------------


def test_joints_close_where_nothing_else_acts() -> None:
    """Where the hinge rubs the linear rows are kept, whose drift, of the second order, is fed back."""
    assert run(chain(4), 0.5, 0.005).certificate.joint_drift.max() < 1e-9
    assert run(chain(4), 0.5, 0.005, sg.MoreauJean(projection=True)).certificate.joint_drift.max() < 1e-12
    drift = [run(pendulum(0.2, friction=1e-6), 0.5, h).certificate.joint_drift.max() for h in (0.005, 0.0025)]
    assert 3.0 < drift[0] / drift[1] < 5.0


def test_projection_with_springs_across_a_loop() -> None:
    """A spring that closes a loop next to rigid rows that do so must not spoil the projection."""
    trajectory = run(turning_linkage(), 0.3, 0.01, sg.MoreauJean(projection=True))
    assert trajectory.certificate.joint_drift.max() < 1e-12


def test_turns_are_counted() -> None:
    """Three turns and a half, in steps of less than half a turn."""
    trajectory = run(wheel(7.0 * np.pi), 1.0, 0.1)
    assert trajectory.joint("hinge").coordinate[-1] == pytest.approx(7.0 * np.pi, rel=1e-9)


def test_contradicting_joints_stop_the_run() -> None:
    """Two drives of one hinge that ask for different motions."""
    scene = wheel(0.0, motion=lambda t: t)
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 1, 0), motion=lambda t: -t)
    with pytest.raises(sg.SolverFailure, match=r"joints contradict each other by"):
        run(scene, 1.0, 0.01)


def test_projection_costs_no_energy() -> None:
    """A body that circles a hinge without gravity keeps its speed, turn after turn."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_body(sg.Disc(radius=0.1), mass=1.0, position=(1, 0), velocity=(0, 1), angular_velocity=1.0, name="body")
    scene.add_joint("revolute", None, "body", anchor=(0, 0), name="hinge")
    run_ = sg.simulate(scene, duration=20.0, h=0.1, formulation=sg.MoreauJean(projection=True), progress=False)
    kinetic = run_.energy().kinetic
    np.testing.assert_allclose(kinetic[1:], kinetic[1], rtol=1e-10)
    assert run_.joint("hinge").coordinate[-1] == pytest.approx(20.0, rel=2e-3)  # radians, at one radian a second


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_a_pendulum_gains_nothing_that_is_worth_a_remark(theta: float) -> None:
    """Velocities are those of the middle of a step: the energy at its end swings by ``m g v h / 2``, and no more."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_body(sg.Sphere(0.06), mass=1.0, position=(0.1, 0, 0), name="bob")
    scene.add_joint("revolute", None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0))
    run = sg.simulate(scene, formulation=sg.MoreauJean(theta=theta), duration=0.3, h=2e-3, progress=False)
    assert run.verdict == "trusted", run.remarks()
    made = np.cumsum(run.certificate.joint_work)
    assert np.ptp(made) < 2e-3 * run.certificate.energy_moving.max()


ALONG: dict[str, dict[str, Any]] = {
    "friction": {"friction": 4.0},
    "spring": {"spring": 100.0, "damping": 1.0},
    "drive": {"motion": lambda t: 0.2 * np.sin(3.0 * t) ** 2},
    "motor": {"motion": lambda t: 0.2 * np.sin(3.0 * t) ** 2, "effort_limit": 50.0},
    "load": {},
    "table": {},
}


@pytest.mark.parametrize("what", ALONG)
@pytest.mark.parametrize("compiled", [True, False])
def test_what_acts_along_a_joint_does_not_seem_to_come_from_it(what: str, compiled: bool) -> None:
    """A block in an upright guide: at ends of steps the work of each force swings by ``F v h / 2``, here to 5 %."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    table = scene.add_fixed(sg.Box((1, 1, 0.1)), motion=lambda t: (0, 0, 0.2 * np.sin(3.0 * t) ** 2), name="table")
    scene.add_body(sg.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 1.0), name="block")
    words = ALONG[what]
    if what == "table":
        scene.add_joint("fixed", table, "block", anchor=(0, 0, 0.5))
    else:
        scene.add_joint("prismatic", None, "block", anchor=(0, 0, 1.0), axis=(0, 0, 1), **words)
    if what == "load":
        scene.add_force("block", force=lambda t, _: (0, 0, 9.81 + 3.0 * np.cos(4.0 * t)))
    way = sg.MoreauJean() if compiled else ByPython()
    run = sg.simulate(scene, formulation=way, duration=0.4 if what == "friction" else 1.0, h=0.01, progress=False)
    made = np.concatenate([[0.0], np.cumsum(run.certificate.joint_work)])
    assert np.max(made - np.minimum.accumulate(made)) < 1e-2 * run.kinetic.max()
    assert run.verdict == "trusted", run.remarks()


@pytest.mark.parametrize(("side", "links"), [(-1.0, 1), (0.3, 1), (0.3, 2)])
def test_a_collision_gains_with_its_joints_what_the_motion_does(side: float, links: int) -> None:
    """Arms strike an oblique wall by Newton's law; drifted joints give or take what contacts seem to take or give."""
    scene = sg.Scene(gravity=(0, 0, 0))
    out, along = np.array([np.cos(0.3), np.sin(0.3), 0.0]), np.array([-np.sin(0.3), np.cos(0.3), 0.0])
    normal = (side * out - along) / np.hypot(1.0, side)
    scene.add_fixed(sg.HalfSpace(normal=normal, offset=normal @ out - 0.1), name="wall")
    scene.set_contact(friction=0.0, restitution=1.0)
    last = None
    for k in range(links):
        x, name = 1.0 + k, f"ball{k}"
        ball: dict[str, Any] = {"velocity": (0, 5 * x, 0), "angular_velocity": (0, 0, 5)}
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(x, 0, 0), name=name, **ball)
        scene.add_joint("spherical", last, name, anchor=(1.5 * k, 0, 0))
        last = name
    newton = sg.MoreauJean(restitution_law="newton")
    run = sg.simulate(scene, formulation=newton, duration=0.12, h=1e-2, on_failure="keep", progress=False)
    rise, gain = np.diff(run.kinetic) / run.kinetic[:-1], run.certificate.energy_gain
    assert np.all(gain <= np.maximum(0.0, rise) + 1e-12)  # its scale is never less
    assert gain.max() < 1e-4
    assert links > 1 or run.certificate.joint_work.max() < 1e-2 * run.kinetic.max()
