"""Joints that cannot hold, or only just: what is impossible fails at the step where it becomes so, by name.

The truth of every case is known from its geometry: until when the joints can hold, and which of them then fight.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import signorini as sg
from signorini.dynamics.constants import ASKED, TORN
from signorini.dynamics.joint_faults import row_words
from tests.by_python.step import ByPython
from tests.joint_scenes import chain, link, slider, turn_y, wheel

H = 0.01
BOTH = pytest.mark.parametrize(
    "formulation",
    [sg.MoreauJean(), sg.MoreauJean(solver=sg.NSGS()), ByPython(solver=sg.NSGS())],
    ids=["fast", "named", "python"],
)


def simulate(scene: sg.Scene, duration: float, formulation: Any, *, h: float = H, **words: Any) -> sg.Trajectory:
    return sg.simulate(scene, duration=duration, h=h, formulation=formulation, progress=False, **words)


def fails(
    scene: sg.Scene, formulation: Any, when: float, names: tuple[str, ...], *, h: float = H, late: int = 1
) -> sg.SolverFailure:
    """Check that a run fails in the step that contains `when`, or at most so many later, and names these joints."""
    with pytest.raises(sg.SolverFailure) as caught:
        simulate(scene, when + 1.0, formulation, h=h)
    failure, message = caught.value, str(caught.value)
    certificate: Any = failure.trajectory.certificate  # type: ignore[attr-defined]
    assert certificate.status[-1] == sg.Status.NO_SOLUTION
    assert not np.any(certificate.failed()[:-1])
    assert when - h <= failure.time <= when + late * h
    for name in names:
        assert repr(name) in message
    assert "try" in message or "leave" in message or "give" in message
    worst = certificate.conflict_joint[-1] if certificate.joint_fault[-1] > 1 else certificate.drift_joint[-1]
    model = sg.Simulator(scene, h=h, formulation=formulation).model
    assert repr(model.joints.names[worst]) in message
    return failure


# --- mechanisms pulled beyond their reach --------------------------------------------------


def ropes(*, planar: bool, speed: float = 1.0) -> sg.Scene:
    """A load on two rods of length sqrt(1.25) m, whose upper ends start 1 m apart and part at twice `speed`."""

    def point(x: float, z: float) -> tuple[float, ...]:
        return (x, z) if planar else (x, 0.0, z)

    scene = sg.Scene(planar=planar)
    ball: Any = sg.Disc if planar else sg.Sphere
    for name, side in (("left", -1.0), ("right", 1.0)):

        def motion(t: float, side: float = side) -> Any:
            return point(side * (0.5 + speed * t), 1.0)

        scene.add_fixed(ball(0.05), motion=motion, name=name)
    scene.add_body(ball(0.1), mass=1.0, position=point(0, 0), name="load")
    for name, side in (("left", -0.5), ("right", 0.5)):
        scene.add_joint("distance", name, "load", anchor=[point(side, 1), point(0, 0)], name=f"{name} rope")
    return scene


@BOTH
@pytest.mark.parametrize("planar", [True, False])
def test_two_ropes_past_their_reach(formulation: Any, planar: bool) -> None:
    """Straight when half the distance of the ends is the length of a rope."""
    when = np.sqrt(1.25) - 0.5
    failure = fails(ropes(planar=planar), formulation, when, ("left rope", "right rope"))
    assert "distance" in str(failure)
    drift: Any = failure.trajectory.certificate.joint_drift  # type: ignore[attr-defined]
    assert drift[:-1].max() < TORN  # it did not fly apart before


def pulled(motion: Callable[[float], float]) -> sg.Scene:
    """Two rods from the origin over an elbow at (0.5, 0.2) to a hand at (1 + motion, 0): together 1.077 m."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_fixed(sg.Disc(0.05), motion=lambda t: (1.0 + motion(t), 0.0), name="hand")
    link(scene, (0, 0), (0.5, 0.2), "a")
    link(scene, (0.5, 0.2), (1, 0), "b")
    scene.add_joint("revolute", None, "a", anchor=(0, 0), name="shoulder")
    scene.add_joint("revolute", "a", "b", anchor=(0.5, 0.2), name="elbow")
    scene.add_joint("revolute", "hand", "b", anchor=(1, 0), name="wrist")
    return scene


@BOTH
def test_a_closed_chain_that_is_pulled_until_it_contradicts_itself(formulation: Any) -> None:
    when = 2.0 * np.hypot(0.5, 0.2) - 1.0
    fails(pulled(lambda t: t), formulation, when, ("shoulder", "elbow", "wrist"))


@BOTH
def test_a_closed_chain_that_becomes_straight_and_goes_on(formulation: Any) -> None:
    """Straight at one moment alone, at rest then: singular but possible; the elbow goes on to the other side."""
    reach, t_0, h = 2.0 * np.hypot(0.5, 0.2) - 1.0, 0.5, 0.002
    scene = pulled(lambda t: reach * (1.0 - (1.0 - t / t_0) ** 2))
    trajectory = simulate(scene, 1.0, formulation, h=h)
    assert trajectory.certificate.joint_drift.max() < TORN * 0.25
    assert not trajectory.certificate.joint_fault.any()


def four_bar(speed: float) -> sg.Scene:
    """Crank 0.6, coupler 0.5, rocker 0.4 on a base of 1 m; the crank starts at 0.3 rad and is driven at `speed`."""
    A, D, start = np.zeros(2), np.array([1.0, 0.0]), 0.3
    B = 0.6 * np.array([np.cos(start), np.sin(start)])
    d = float(np.linalg.norm(D - B))
    angle = np.arctan2(*(D - B)[::-1]) + np.arccos((0.5**2 + d**2 - 0.4**2) / (2 * 0.5 * d))
    C = B + 0.5 * np.array([np.cos(angle), np.sin(angle)])
    scene = sg.Scene(planar=True)
    for name, a, b in (("crank", A, B), ("coupler", B, C), ("rocker", C, D)):
        link(scene, a, b, name)
    scene.add_joint("revolute", None, "crank", anchor=A, motion=lambda t: speed * t, name="drive")
    scene.add_joint("revolute", "crank", "coupler", anchor=B, name="knee")
    scene.add_joint("revolute", "coupler", "rocker", anchor=C, name="ankle")
    scene.add_joint("revolute", None, "rocker", anchor=D, name="base")
    scene.exclude("crank", "rocker")
    return scene


@BOTH
@pytest.mark.parametrize("speed", [1.0, -1.0, 2.5])
def test_a_four_bar_driven_beyond_its_limit_position(formulation: Any, speed: float) -> None:
    """Coupler and rocker in one line: ``0.6^2 + 1 - 1.2 cos a = 0.9^2``."""
    limit = np.arccos((0.36 + 1.0 - 0.81) / 1.2)
    when = (limit - 0.3) / speed if speed > 0.0 else (limit + 0.3) / -speed
    failure = fails(four_bar(speed), formulation, when, ("drive",))
    assert "limit position" in str(failure) or abs(speed) > 1.0  # a step may begin far from it


def four_bar_in_space() -> sg.Scene:
    """Crank 0.3, coupler 0.4, rocker 0.25 on a base of 0.5 m, on hinges in space: three rows too many.

    The crank stands upright and is driven by 1 rad/s away from the rocker.
    """
    B, D = np.array([0.0, 0.3]), np.array([0.5, 0.0])
    d = float(np.linalg.norm(D - B))
    angle = np.arctan2(*(D - B)[::-1]) + np.arccos((0.4**2 + d**2 - 0.25**2) / (2 * 0.4 * d))
    C = B + 0.4 * np.array([np.cos(angle), np.sin(angle)])
    scene = sg.Scene(gravity=(0, 0, 0))
    for name, a, b in (("crank", np.zeros(2), B), ("coupler", B, C), ("rocker", C, D)):
        (x, z), (dx, dz) = 0.5 * (a + b), b - a
        shape = sg.Capsule(0.01, float(np.hypot(dx, dz)))
        scene.add_body(shape, mass=0.5, position=(x, 0, z), orientation=turn_y(float(np.arctan2(dx, dz))), name=name)
    scene.add_joint("revolute", None, "crank", anchor=(0, 0, 0), axis=(0, -1, 0), motion=lambda t: t, name="drive")
    for one, other, point, name in (("crank", "coupler", B, "knee"), ("coupler", "rocker", C, "ankle")):
        scene.add_joint("revolute", one, other, anchor=(point[0], 0, point[1]), axis=(0, 1, 0), name=name)
    scene.add_joint("revolute", None, "rocker", anchor=(0.5, 0, 0), axis=(0, 1, 0), name="base")
    return scene


@pytest.mark.parametrize("h", [0.01, 0.002])
@pytest.mark.parametrize("formulation", [sg.MoreauJean(), ByPython(solver=sg.NSGS())], ids=["fast", "python"])
def test_a_loop_with_rows_too_many_is_told_in_time(formulation: Any, h: float) -> None:
    """Coupler and rocker in one line: ``0.3^2 + 0.5^2 - 0.3 cos a = 0.65^2``."""
    failure = fails(four_bar_in_space(), formulation, float(np.arccos(-0.275)) - 0.5 * np.pi, ("drive",), h=h)
    assert "limit position" in str(failure)


def slider_crank(*, crank: Callable[[float], float] | None, guide: Callable[[float], float] | None) -> sg.Scene:
    """Crank 0.2, rod 0.7, in line at first unless the slider is driven: then the crank stands up."""
    up = guide is not None
    pin = np.array([0.0, 0.2]) if up else np.array([0.2, 0.0])
    end = np.array([np.sqrt(0.7**2 - 0.2**2), 0.0]) if up else np.array([0.9, 0.0])
    scene = sg.Scene(planar=True, gravity=(0, 0))
    link(scene, (0, 0), pin, "crank")
    link(scene, pin, end, "rod")
    scene.add_body(sg.Disc(0.05), mass=0.5, position=end, name="slider")
    scene.add_joint("revolute", None, "crank", anchor=(0, 0), motion=crank, name="shaft")
    scene.add_joint("revolute", "crank", "rod", anchor=pin, name="crank pin")
    scene.add_joint("revolute", "rod", "slider", anchor=end, name="gudgeon")
    scene.add_joint("prismatic", None, "slider", anchor=end, axis=(1, 0), motion=guide, name="guide")
    scene.exclude("crank", "slider")
    return scene


@BOTH
def test_a_slider_crank_turns_through_its_dead_centres(formulation: Any) -> None:
    """Driven by the crank it may: ``x = r cos a + sqrt(l^2 - r^2 sin^2 a)``."""
    trajectory = simulate(slider_crank(crank=lambda t: 6.0 * t, guide=None), 1.2, formulation)
    a = 6.0 * trajectory.time
    exact = 0.2 * np.cos(a) + np.sqrt(0.49 - (0.2 * np.sin(a)) ** 2) - 0.9
    np.testing.assert_allclose(trajectory.joint("guide").coordinate, exact, atol=0.002)
    assert not trajectory.certificate.joint_fault.any()


@BOTH
def test_a_slider_pushed_beyond_the_dead_centre(formulation: Any) -> None:
    """Driven by the slider it cannot: crank and rod are in line at 0.9 m."""
    when = (0.9 - np.sqrt(0.45)) / 0.5
    fails(slider_crank(crank=None, guide=lambda t: 0.5 * t), formulation, when, ("guide",))


# --- contradictions -------------------------------------------------------------------------


def welded(speed: float, *, planar: bool) -> sg.Scene:
    """A bar welded to the world at one end and at the other to a hand that goes away along it."""
    scene = sg.Scene(planar=planar, gravity=(0, 0) if planar else (0, 0, 0))
    zero: Any = () if planar else (0.0,)
    ball: Any = sg.Disc if planar else sg.Sphere
    scene.add_fixed(ball(0.02), motion=lambda t: (1.0 + speed * t, 0.0, *zero), name="hand")
    bar: Any = sg.Segment((-0.5, 0), (0.5, 0), 0.05) if planar else sg.Box((1.0, 0.1, 0.1))
    scene.add_body(bar, mass=1.0, position=(0.5, 0, *zero), name="bar")
    scene.add_joint("fixed", None, "bar", anchor=(0, 0, *zero), name="near end")
    scene.add_joint("fixed", "hand", "bar", anchor=(1, 0, *zero), name="far end")
    return scene


@BOTH
@pytest.mark.parametrize("planar", [True, False])
def test_a_bar_welded_to_points_that_part(formulation: Any, planar: bool) -> None:
    """What is asked in the first step cannot be: it fails there, or when the gap is what joints may drift."""
    failure = fails(welded(1.0, planar=planar), formulation, 0.0, ("near end", "far end"))
    assert "contradict" in str(failure)
    assert "shift" in str(failure)


@BOTH
def test_a_bar_welded_to_points_that_part_slowly(formulation: Any) -> None:
    """In steps of a ten-thousandth of its half length, it holds until the gap is what a step may leave open."""
    speed = 0.005
    fails(welded(speed, planar=False), formulation, 0.5 * ASKED / speed, ("far end",), late=2)


@BOTH
def test_drives_of_one_hinge_that_disagree(formulation: Any) -> None:
    scene = wheel(0.0, motion=lambda t: t)
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 1, 0), motion=lambda t: -t, name="other")
    failure = fails(scene, formulation, 0.0, ("hinge", "other"))
    assert "motion" in str(failure)


@BOTH
@pytest.mark.parametrize("speed", [1.0, 0.01])
def test_a_ring_of_gears_that_cannot_turn(formulation: Any, speed: float) -> None:
    """Ratios 2 and 3 make 6, and the third gear says 5: driven however slowly, it contradicts itself at once."""
    scene = wheel(0.0, motion=lambda t: speed * t)
    for k, name in enumerate(("second", "third")):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(k + 1.0, 0, 0), name=name)
        scene.add_joint("revolute", None, name, anchor=(k + 1.0, 0, 0), axis=(0, 1, 0), name=f"{name} hinge")
    axes = [(0, 1, 0), (0, 1, 0)]
    scene.add_joint("gear", "wheel", "second", axis=axes, ratio=2.0, name="gear a")
    scene.add_joint("gear", "second", "third", axis=axes, ratio=3.0, name="gear b")
    scene.add_joint("gear", "wheel", "third", axis=axes, ratio=5.0, name="gear c")
    failure = fails(scene, formulation, 0.0, ())
    assert sum(f"'gear {k}'" in str(failure) for k in "abc") >= 2


@BOTH
def test_redundant_joints_that_agree(formulation: Any) -> None:
    """Three hinges on one axis, all but the first spare: as the wheel on one hinge."""
    scene = wheel(5.0)
    for k in (1, 2):
        scene.add_joint("revolute", None, "wheel", anchor=(0, 0.1 * k, 0), axis=(0, 1, 0), name=f"spare {k}")
    trajectory = simulate(scene, 1.0, formulation)
    certificate = trajectory.certificate
    assert certificate.redundant_rows.min() == 10
    assert not certificate.joint_fault.any()
    assert np.all(certificate.conflict_joint == -1)
    assert trajectory.joint("hinge").speed[-1] == pytest.approx(5.0, rel=1e-12)


@BOTH
def test_a_parallelogram_with_a_spare_rod(formulation: Any) -> None:
    """Three cranks of one length carry a bar: redundant all along, and possible."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    link(scene, (0, 0.3), (1, 0.3), "bar", velocity=(0.6, 0))
    for k in range(3):
        link(scene, (0.5 * k, 0), (0.5 * k, 0.3), f"crank{k}", velocity=(0.3, 0), angular_velocity=-2.0)
        scene.add_joint("revolute", None, f"crank{k}", anchor=(0.5 * k, 0), name=f"base{k}")
        scene.add_joint("revolute", f"crank{k}", "bar", anchor=(0.5 * k, 0.3), name=f"top{k}")
    for a, b in ((0, 1), (0, 2), (1, 2)):
        scene.exclude(f"crank{a}", f"crank{b}")
    trajectory = simulate(scene, 0.6, formulation)
    assert trajectory.certificate.redundant_rows.max() == 1
    assert not trajectory.certificate.joint_fault.any()
    np.testing.assert_allclose(trajectory.joint("base0").coordinate, trajectory.joint("base2").coordinate, atol=1e-3)


def bennett(friction: float) -> sg.Scene:
    """Four bars in space whose hinges are neither parallel nor meet: movable though counted as locked."""
    a, b, alpha, first = 0.3, 0.2, np.radians(50.0), 1.1
    beta = np.arcsin(b * np.sin(alpha) / a)
    second = 2.0 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(first / 2))
    frame, points, axes = np.eye(4), [], []
    for turn, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)):
        points.append(frame[:3, 3])
        axes.append(frame[:3, 2])
        (c, s), (ct, st) = ((np.cos(x), np.sin(x)) for x in (turn, twist))
        frame = frame @ [
            [c, -s * ct, s * st, length * c],
            [s, c * ct, -c * st, length * s],
            [0, st, ct, 0],
            [0, 0, 0, 1],
        ]
    assert np.abs(frame - np.eye(4)).max() < 1e-12
    scene = sg.Scene()
    for k, mass in ((1, 1.0), (2, 2.0), (3, 0.5)):
        middle = (points[k] + points[(k + 1) % 4]) / 2
        scene.add_body(sg.Sphere(0.05), mass=mass, inertia=(0.005, 0.006, 0.007), position=middle, name=f"bar{k}")
    scene.exclude("bar1", "bar3")
    for k, (one, other) in enumerate(((None, "bar3"), (None, "bar1"), ("bar1", "bar2"), ("bar2", "bar3"))):
        rubs = friction if k == 0 else 0.0
        scene.add_joint("revolute", one, other, anchor=points[k], axis=axes[k], friction=rubs, name=f"hinge{k}")
    return scene


@BOTH
@pytest.mark.parametrize("friction", [0.0, 0.02], ids=["closing", "linear rows"])
def test_a_linkage_with_rows_too_many_moves_and_is_trusted(formulation: Any, friction: float) -> None:
    """The product of the tangents of half of two neighbouring angles stays as it is, and nothing contradicts."""
    trajectory = simulate(bennett(friction), 0.5, formulation, h=0.001)
    one, other = (trajectory.joint(f"hinge{k}").coordinate for k in (1, 2))
    assert np.ptp(one) > 0.5
    start = 2.0 * np.arctan(_bennett_ratio() / np.tan(0.55))
    product = np.tan((start + one) / 2) * np.tan((other - 1.1) / 2)
    np.testing.assert_allclose(product, product[0], rtol=1e-8 if friction == 0.0 else 1e-3)
    assert trajectory.certificate.redundant_rows.min() >= 1
    assert trajectory.certificate.joint_conflict.max() < 1e-9
    assert trajectory.verdict == "trusted"


def _bennett_ratio() -> float:
    alpha = np.radians(50.0)
    beta = np.arcsin(2.0 / 3.0 * np.sin(alpha))
    return float(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2))


# --- limits, walls and motors -----------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(("speed", "side"), [(2.0, "upper limit"), (-2.0, "lower limit")])
def test_a_motion_beyond_the_limits_of_its_own_joint(formulation: Any, speed: float, side: str) -> None:
    scene = slider(motion=lambda t: speed * t, limits=(-0.11, 0.11))
    failure = fails(scene, formulation, 0.11 / 2.0, ("guide",), late=1)
    assert side in str(failure)


@BOTH
def test_a_block_between_its_limits(formulation: Any) -> None:
    """It stops at the limit, and that is no fault."""
    trajectory = simulate(slider(2.0, limits=(-0.11, 0.11)), 0.3, formulation)
    assert not trajectory.certificate.joint_fault.any()
    assert trajectory.joint("guide").coordinate.max() == pytest.approx(0.11, abs=1e-9)


def ram(**words: Any) -> sg.Scene:
    """A box in a guide that is to go at 1.9 m/s; a wall is 0.8 m ahead."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Box((0.2, 1, 1)), position=(1.0, 0, 0), name="wall")
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=2.0, position=(0, 0, 0), name="ram")
    words = {"anchor": (0, 0, 0), "axis": (1, 0, 0), "motion": lambda t: 1.9 * t, **words}
    scene.add_joint("prismatic", None, "ram", **words, name="guide")
    return scene


@BOTH
def test_a_motion_against_a_wall(formulation: Any) -> None:
    failure = fails(ram(), formulation, 0.8 / 1.9, ("guide",), late=1)
    assert "motion" in str(failure)


@BOTH
def test_a_motor_of_limited_effort_against_a_wall(formulation: Any) -> None:
    """It stands and pushes with all that it has."""
    trajectory = simulate(ram(effort_limit=30.0), 0.8, formulation)
    assert not trajectory.certificate.joint_fault.any()
    joint = trajectory.joint("guide")
    assert joint.coordinate[-1] == pytest.approx(0.8, abs=1e-6)
    assert joint.effort[-1] == pytest.approx(30.0 * H, rel=1e-9)


# --- fast rotation ---------------------------------------------------------------------------


def blade(turn: float, **words: Any) -> sg.Scene:
    """A blade of 1 m, hinged at its end, that turns by `turn` in every step."""
    w = turn / H
    scene = sg.Scene(gravity=(0, 0, 0))
    motion: dict[str, Any] = {"velocity": (0, 0.5 * w, 0), "angular_velocity": (0, 0, w)}
    scene.add_body(sg.Box((1, 0.1, 0.02)), mass=1.0, position=(0.5, 0, 0), **motion, name="blade")
    scene.add_joint("revolute", None, "blade", anchor=(0, 0, 0), axis=(0, 0, 1), **words, name="hinge")
    return scene


@BOTH
@pytest.mark.parametrize("turn", [0.5, 0.8])
def test_a_blade_that_turns_fast_keeps_its_hinge_and_its_speed(formulation: Any, turn: float) -> None:
    """RATTLE keeps the angular momentum L about the hinge, and the blade turns by a in a step where the chord of the
    mass centre and the turn give it: ``I a + m r^2 sin a = L h``. The reaction is ``m r w^2 h``.
    """
    trajectory = simulate(blade(turn), 50 * H, formulation)
    assert trajectory.certificate.joint_drift.max() < 1e-10
    joint = trajectory.joint("hinge")
    np.testing.assert_allclose(joint.speed, turn / H, rtol=1e-9)
    own, arm = (1.0 + 0.1**2) / 12.0, 0.25
    a = brentq(lambda a: own * a + arm * np.sin(a) - (own + arm) * turn, 0.0, 1.2)
    assert joint.coordinate[-1] == pytest.approx(50 * a, rel=1e-6)
    assert a == pytest.approx(turn, rel=0.11)
    force = np.linalg.norm(joint.reaction[1:, :3], axis=1)
    np.testing.assert_allclose(force, 0.5 * turn**2 / H, rtol=0.2 * turn**2)
    np.testing.assert_allclose(trajectory.kinetic, trajectory.kinetic[0], rtol=1e-9)


@BOTH
def test_a_blade_that_passes_by_a_post_keeps_its_speed(formulation: Any) -> None:
    """A contact is posed above the hinge, and never presses."""
    scene = blade(0.6)
    scene.add_fixed(sg.Sphere(0.1), position=(0, 0, 0.67), name="post")
    trajectory = simulate(scene, 30 * H, formulation)
    assert any(trajectory.contacts(k).gap.size for k in range(30))
    np.testing.assert_allclose(trajectory.joint("hinge").speed, 0.6 / H, rtol=1e-9)
    np.testing.assert_allclose(trajectory.kinetic, trajectory.kinetic[0], rtol=1e-9)


@BOTH
@pytest.mark.parametrize("turn", [1.0, 1.5, 2.0, 3.0])
def test_a_blade_that_turns_too_fast_for_its_steps_says_so(formulation: Any, turn: float) -> None:
    """Its hinge cannot be kept; it goes on, so that it meets what is in its way, but never as if all were well."""
    trajectory = simulate(blade(turn), 3 * H, formulation)
    assert trajectory.verdict == "not trusted"
    (remark,) = [line for line in trajectory.remarks() if line.startswith("joints apart")]
    assert "joint 'hinge'; try a smaller h" in remark


@BOTH
def test_a_chain_that_whips_stays_together(formulation: Any) -> None:
    """Links that turn by up to a third of a radian in a step; energy is not made."""
    scene = chain(6)
    scene.bodies["link0"].angular_velocity[:] = (0.0, 20.0, 0.0)
    trajectory = simulate(scene, 0.4, formulation, h=0.005)
    assert trajectory.certificate.joint_drift.max() < TORN * 0.05
    assert not trajectory.certificate.failed().any()
    assert np.abs(trajectory.angular_velocity("link5")).max() * 0.005 > 0.1


def test_usual_steps_are_left_alone() -> None:
    """Below the bound nothing is moved: a hinge that rubs drifts by the second order, and that is taken back."""
    certificate = simulate(blade(0.1, friction=1e-6), 50 * H, sg.MoreauJean()).certificate
    assert 1e-4 < certificate.joint_drift.max() < TORN * 0.5
    assert not certificate.moved_onto.any()
    assert np.all(certificate.drift_joint[1:] >= 0)


# --- records -----------------------------------------------------------------------------------


def test_both_paths_judge_alike() -> None:
    """The same steps fail for the same reason, by the same rows."""
    fast, slow = (
        simulate(four_bar(1.0), 0.85, formulation, on_failure="keep").certificate
        for formulation in (sg.MoreauJean(), ByPython(solver=sg.NSGS()))
    )
    np.testing.assert_array_equal(fast.status, slow.status)
    np.testing.assert_array_equal(fast.joint_fault, slow.joint_fault)
    bad = np.flatnonzero(fast.failed())[0]
    assert fast.drift_row[bad] == slow.drift_row[bad]
    model = sg.Simulator(four_bar(1.0), h=H).model
    assert row_words(model, int(fast.drift_row[bad]))[0] == model.joints.names[fast.drift_joint[bad]]


def test_files_of_older_runs_have_no_faults(tmp_path: Any) -> None:
    """Certificates written before these columns existed are read with none found."""
    certificate = simulate(chain(2), 0.05, sg.MoreauJean()).certificate
    old = {key: x for key, x in certificate.to_dict().items() if not key.endswith(("_joint", "_row", "_fault"))}
    read = sg.Certificate.from_dict(old)
    assert read.joint_fault.tolist() == [0] * 5
    assert read.drift_joint.tolist() == read.conflict_joint.tolist() == [-1] * 5
    path = tmp_path / "run.h5"
    trajectory = simulate(four_bar(1.0), 0.82, sg.MoreauJean(), on_failure="keep")
    trajectory.save(path)
    again = sg.Trajectory.load(path).certificate
    for key in ("drift_joint", "conflict_joint", "drift_row", "conflict_row", "joint_fault"):
        np.testing.assert_array_equal(getattr(again, key), getattr(trajectory.certificate, key))
