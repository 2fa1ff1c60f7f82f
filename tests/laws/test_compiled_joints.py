"""Joints in the compiled step: the judge is the step by Python functions, which shares no solver and no map with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.engine import arrays as ea
from tests.by_python import TOLERANCE, another_solution
from tests.by_python.step import ByPython
from tests.joint_scenes import GRAVITY, chain, everything, link, pendulum, slider, wheel

CLOSE = 1e-8  # velocities [m/s]: what the tolerance leaves open where impulses are a thousand times what gravity gives
EXACT = 1e-12  # sums in another order


# Scenes in which contacts and laws leave no choice between reactions.
UNIQUE = ("chain", "driven", "limit", "slipping", "motor", "kinds", "planar", "gear", "linkage")


def floor() -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=0.6)
    return scene


def robot(*, height: float = 0.0, **words: Any) -> sg.Scene:
    """A trunk on four legs of three links each, hinges with `words`, feet at `height` above the floor."""
    scene = floor()
    scene.add_body(sg.Box((0.6, 0.4, 0.1)), mass=4.0, position=(0, 0, 0.51 + height), name="trunk")
    for k, (x, y) in enumerate(((0.25, 0.2), (0.25, -0.2), (-0.25, 0.2), (-0.25, -0.2))):
        side = y + 0.06 * np.sign(y)
        hip, thigh, shin = (f"{part}{k}" for part in ("hip", "thigh", "shin"))
        scene.add_body(sg.Box((0.08, 0.08, 0.08)), mass=0.3, position=(x, side, 0.49 + height), name=hip)
        scene.add_body(sg.Box((0.05, 0.05, 0.2)), mass=0.4, position=(x, side, 0.35 + height), name=thigh)
        scene.add_body(sg.Capsule(0.03, 0.2), mass=0.3, position=(x, side, 0.13 + height), name=shin)
        scene.add_joint("revolute", "trunk", hip, anchor=(x, y, 0.49 + height), axis=(1, 0, 0), **words)
        scene.add_joint("revolute", hip, thigh, anchor=(x, side, 0.45 + height), axis=(0, 1, 0), **words)
        scene.add_joint("revolute", thigh, shin, anchor=(x, side, 0.25 + height), axis=(0, 1, 0), **words)
    return scene


def loaded_robot() -> sg.Scene:
    """With springs in its hinges and a ball on its back."""
    scene = robot(height=0.002, spring=30.0, damping=0.5, limits=(-0.3, 0.3))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0.03, 0.02, 0.67), name="ball")
    return scene


def cart(*, depth: float = 0.0) -> sg.Scene:
    """Two balls that slide over the floor, `depth` in it, joined by a guide with a spring, a damper and stops."""
    scene = floor()
    scene.add_body(sg.Sphere(0.2), mass=2.0, position=(0, 0, 0.2 - depth), velocity=(2, 0.3, 0), name="a")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0.6, 0, 0.1 - depth), name="b")
    stops: dict[str, Any] = {"limits": (-0.05, 0.2), "spring": (50.0, 0.1), "damping": 1.0}
    scene.add_joint("prismatic", "a", "b", anchor=(0.3, 0, 0.1), axis=(1, 0, 0), **stops)
    return scene


def hand() -> sg.Scene:
    """A prescribed body that swings two rods, which hit the floor and the stop of the hinge between them."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_fixed(
        sg.Sphere(0.1), motion=lambda t: ((0.2 * np.sin(5 * t), 0, 0.3), (np.cos(t), 0, 0, np.sin(t))), name="hand"
    )
    for k, name in enumerate("ab"):
        scene.add_body(sg.Box((0.5, 0.1, 0.1)), mass=1.0, position=(0.3 + 0.6 * k, 0, 0.3), name=name)
    scene.add_joint("universal", "hand", "a", anchor=(0, 0, 0.3), axis=[(0, 0, 1), (0, 1, 0)])
    scene.add_joint("revolute", "a", "b", anchor=(0.6, 0, 0.3), axis=(0, 1, 0), friction=0.3, limits=(-0.5, 0.2))
    return scene


def flat() -> sg.Scene:
    """A planar mechanism that falls on a line."""
    scene = sg.Scene(planar=True, gravity=(0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace((0, 1)), name="floor")
    scene.set_contact(friction=0.4)
    scene.add_body(sg.Disc(0.15), mass=1.0, position=(0, 0.2), name="a")
    scene.add_body(sg.Segment((-0.15, 0), (0.15, 0), 0.03), mass=1.0, position=(0.4, 0.2), velocity=(1, 0), name="b")
    scene.add_body(sg.Disc(0.1), mass=0.4, position=(0.8, 0.2), name="c")
    scene.add_joint("revolute", "a", "b", anchor=(0.2, 0.2), limits=(-0.3, 0.3), friction=0.05)
    scene.add_joint("prismatic", "b", "c", anchor=(0.7, 0.2), axis=(1, 0), spring=30.0, damping=0.2)
    return scene


def kinds() -> sg.Scene:
    """A tree of the kinds of joints that the other scenes do not have, and a spring as its only tie to the world."""
    scene = sg.Scene()
    for k, place in enumerate(((0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0), (1, -1, 0), (3, 0, 0))):
        spin = (0.3 * k, 1.0 - k, 0.5)
        scene.add_body(sg.Sphere(0.1), mass=1.0 + k, position=place, angular_velocity=spin, name=f"b{k}")
    scene.add_spring(None, "b0", anchor=[(0, 0, 1), (0, 0, 0.05)], stiffness=300.0, damping=2.0)
    scene.add_joint("fixed", "b0", "b1", anchor=(0.5, 0, 0))
    scene.add_joint("cylindrical", "b2", "b1", anchor=(1.5, 0, 0), axis=(1, 0, 0))
    scene.add_joint("planar", "b1", "b3", anchor=(1, 0.5, 0), axis=(0, 1, 0))
    scene.add_joint("distance", "b1", "b4", anchor=[(1, -0.1, 0), (1, -0.9, 0)], motion=lambda t: 0.1 * np.sin(9 * t))
    scene.add_joint("spherical", "b5", "b2", anchor=(2.5, 0, 0))
    return scene


def geared() -> sg.Scene:
    """Two wheels, each a tree of its own, held together by a gear; one of them rubs."""
    scene = wheel(3.0)
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(1, 0, 0), name="other")
    scene.add_joint("revolute", None, "other", anchor=(1, 0, 0), axis=(0, 1, 0), friction=0.05)
    scene.add_joint("gear", "wheel", "other", axis=[(0, 1, 0), (0, 1, 0)], ratio=2.0)
    return scene


def linkage() -> sg.Scene:
    """A planar four-bar linkage on which a disc falls, with a stop, friction, and a spring in the hinge left out."""
    scene = sg.Scene(planar=True, gravity=(0, -GRAVITY))
    scene.set_contact(friction=0.4)
    corners = ((0, 0), (0, 0.4), (0.7, 0.5), (0.8, 0))
    for k in range(3):
        link(scene, corners[k], corners[k + 1], f"link{k}")
    scene.add_joint("revolute", None, "link0", anchor=corners[0], friction=0.02)
    scene.add_joint("revolute", "link0", "link1", anchor=corners[1])
    scene.add_joint("revolute", "link1", "link2", anchor=corners[2], limits=(-0.2, 0.4))
    scene.add_joint("revolute", None, "link2", anchor=corners[3], spring=2.0, damping=0.05)
    scene.add_body(sg.Disc(0.08), mass=0.5, position=(0.3, 0.54), name="disc")
    return scene


def springs() -> sg.Scene:
    """Two pairs of balls that springs alone hold together, twice, falling on the floor."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(offset=-0.11), name="floor")
    scene.set_contact(friction=0.3)
    for k in range(4):
        scene.add_body(sg.Sphere(0.1), mass=1.0 + k, position=(k, 0, 0.02 * k), velocity=(0, 0.2 * k, 0), name=f"b{k}")
    scene.add_joint("spherical", "b0", "b1", anchor=(0.5, 0, 0))
    scene.add_joint("spherical", "b2", "b3", anchor=(2.5, 0, 0))
    scene.add_spring("b1", "b2", anchor=[(1.1, 0, 0), (1.9, 0, 0)], stiffness=100.0, damping=0.5)
    scene.add_spring("b0", "b3", anchor=[(0, 0, 0.1), (3, 0, 0.1)], stiffness=50.0)
    return scene


def closed_with_floor() -> sg.Scene:
    """A loop of a hinge, a universal and a ball joint and a rod, with two springs, that comes down on a floor."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(offset=-0.05), name="floor")
    scene.set_contact(friction=0.5)
    for k in range(3):
        scene.add_body(sg.Box((0.3, 0.06, 0.06)), mass=1.0 + 0.3 * k, position=(0.2 + 0.4 * k, 0, 0), name=f"b{k}")
    scene.add_joint("revolute", None, "b0", anchor=(0, 0, 0), axis=(0, 1, 0))
    scene.add_joint("universal", "b0", "b1", anchor=(0.4, 0, 0), axis=[(0, 1, 0), (0, 0, 1)])
    scene.add_joint("spherical", "b1", "b2", anchor=(0.8, 0, 0))
    scene.add_joint("distance", None, "b2", anchor=[(1.6, 0, 0.3), (1.2, 0, 0)])
    scene.add_spring("b0", "b2", anchor=[(0.2, 0, 0.03), (1, 0, 0.03)], stiffness=80.0, damping=1.0)
    scene.add_spring(None, "b1", anchor=[(0.6, 0, 0.8), (0.6, 0, 0.03)], stiffness=60.0, damping=1.0)
    return scene


def redundant() -> sg.Scene:
    """A wheel on two hinges of one axis."""
    scene = wheel()
    scene.add_joint("revolute", None, "wheel", anchor=(0, 1, 0), axis=(0, 1, 0))
    return scene


SCENES: dict[str, tuple[Callable[[], sg.Scene], float, int]] = {
    "chain": (lambda: chain(10), 1e-3, 40),
    "robot": (loaded_robot, 2e-3, 40),
    "stiff robot": (lambda: robot(height=0.002, friction=2.0), 2e-3, 40),
    "cart": (cart, 2e-3, 120),
    "cart in the floor": (lambda: cart(depth=1e-3), 2e-3, 20),
    "hand": (hand, 5e-3, 60),
    "planar": (flat, 2e-3, 100),
    "kinds": (kinds, 2e-3, 60),
    "gear": (geared, 2e-3, 20),
    "linkage": (linkage, 2e-3, 100),
    "springs": (springs, 2e-3, 40),
    "spatial loop": (closed_with_floor, 2e-3, 100),
    "limit": (lambda: pendulum(limits=(-0.3, 0.05)), 2e-3, 80),
    "held by friction": (lambda: pendulum(friction=6.0), 2e-3, 20),
    "slipping": (lambda: pendulum(friction=1.0), 2e-3, 40),
    "driven": (lambda: pendulum(motion=lambda t: np.sin(3 * t)), 2e-3, 40),
    "motor": (lambda: pendulum(motion=lambda t: 0.3 * t, effort_limit=6.0), 2e-3, 120),
    "rubbing": (lambda: pendulum(friction=("load", 0.2, 0.05)), 2e-3, 40),
    "rubbing at a limit": (lambda: pendulum(friction=("load", 0.3, 0.1), limits=(-0.3, 0.05)), 2e-3, 80),
    "rubbing guide": (lambda: slider(1.0, gravity=GRAVITY, friction=("load", 0.1, 0.3)), 2e-3, 40),
    "rubbing robot": (lambda: robot(height=0.002, friction=("load", 0.4, 0.1)), 2e-3, 20),
    "guide": (lambda: slider(1.0, gravity=GRAVITY, limits=(-0.1, 0.05), friction=2.0), 2e-3, 60),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_is_that_of_the_functions(name: str) -> None:
    """States, reports, energies and names of what is remembered, from the same state at each step."""
    scene, h, steps = SCENES[name]
    fast = sg.Simulator(scene(), h=h, tolerance=TOLERANCE)
    slow = sg.Simulator(scene(), h=h, tolerance=TOLERANCE, formulation=ByPython())
    assert fast.engine is not None and slow.engine is None
    for k in range(steps):
        slow.restore(fast.snapshot())
        (a, certificate), (b, other) = fast.advance(), slow.advance()
        assert a.joints is not None and b.joints is not None
        if np.abs(a.state.v - b.state.v).max() > CLOSE and another_solution(a, b):
            continue
        np.testing.assert_allclose(a.state.v, b.state.v, atol=CLOSE)
        np.testing.assert_allclose(a.state.q, b.state.q, atol=h * CLOSE)
        np.testing.assert_allclose(a.joints.coordinate, b.joints.coordinate, atol=10 * h * CLOSE)
        np.testing.assert_allclose(a.joints.speed, b.joints.speed, atol=10 * CLOSE)
        np.testing.assert_allclose(a.balance, b.balance, atol=CLOSE)
        np.testing.assert_array_equal(a.memory.feature, b.memory.feature)
        assert certificate.status == sg.Status.SOLVED
        assert certificate.energy_error <= EXACT and other.energy_error <= EXACT
        assert abs(certificate.joint_drift - other.joint_drift) <= h * CLOSE
        assert max(certificate.joint_conflict, other.joint_conflict) <= EXACT * max(1.0, np.abs(a.state.v).max() / h)
        if k % 10 == 0:  # the problem posed by functions is the one that was solved
            assert a.problem.residual(a.solution.z) <= 2 * TOLERANCE
        if name in UNIQUE:
            np.testing.assert_allclose(a.joints.effort, b.joints.effort, atol=CLOSE)
            np.testing.assert_allclose(a.joints.reaction, b.joints.reaction, atol=CLOSE)


@pytest.mark.parametrize("name", ["chain", "robot", "cart", "hand", "planar", "kinds", "linkage"])
def test_projection_is_that_of_the_functions(name: str) -> None:
    """Bodies are moved onto their joints where a step ends, and the energy that takes is the joints'."""
    scene, h, steps = SCENES[name]
    fast, slow = (
        sg.Simulator(scene(), h=h, tolerance=TOLERANCE, formulation=stepper(projection=True))
        for stepper in (sg.MoreauJean, ByPython)
    )
    assert fast.engine is not None and slow.engine is None
    for _ in range(steps):
        slow.restore(fast.snapshot())
        (a, certificate), (b, other) = fast.advance(), slow.advance()
        if np.abs(a.state.v - b.state.v).max() > CLOSE and another_solution(a, b):
            continue
        np.testing.assert_allclose(a.state.v, b.state.v, atol=CLOSE)
        np.testing.assert_allclose(a.state.q, b.state.q, atol=h * CLOSE)
        np.testing.assert_allclose(a.balance, b.balance, atol=CLOSE)
        assert certificate.energy_error <= EXACT
        assert abs(certificate.joint_drift - other.joint_drift) <= h * CLOSE
        assert certificate.joint_work == pytest.approx(other.joint_work, abs=CLOSE)


def test_records_of_compiled_runs_are_those_of_the_functions() -> None:
    """What `simulate` keeps: coordinates, speeds, efforts, reactions, certificate and balance."""
    runs = [
        sg.simulate(hand(), duration=0.2, h=5e-3, tolerance=TOLERANCE, formulation=formulation)
        for formulation in (sg.MoreauJean(), ByPython())
    ]
    fast, slow = runs
    for word in ("coordinate", "speed", "effort", "reaction"):
        a, b = (getattr(run.joint_log, word) for run in runs)
        assert a.shape == b.shape and np.abs(b).max() > 0.0
        np.testing.assert_allclose(a, b, atol=1e-7)
    np.testing.assert_allclose(fast.certificate.joint_drift, slow.certificate.joint_drift, atol=1e-9)
    np.testing.assert_allclose(fast.energy().friction, slow.energy().friction, atol=1e-8)
    assert fast.certificate.joint_drift.max() > 0.0
    scale = slow.certificate.energy_scale.max()
    for word in ("joint_work", "energy_moving", "energy_gain"):
        a, b = (getattr(run.certificate, word) for run in runs)
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9 * scale, err_msg=word)
    assert np.abs(fast.energy().error).max() <= 1e-10


def test_a_snapshot_continues_bit_for_bit() -> None:
    """Limits, friction, contacts and turns are all in the memory."""
    scene, h, _ = SCENES["hand"]
    simulator = sg.Simulator(scene(), h=h)
    simulator.run(45)
    saved = simulator.snapshot()
    assert (saved.memory.feature < 0).any() and (saved.memory.feature >= 0).any()
    states = []
    for _ in range(2):
        simulator.restore(saved)
        simulator.run(20)
        states.append(simulator.state)
    other = sg.Simulator(scene(), h=h)
    other.run(65)
    for state in states:
        assert np.array_equal(state.q, other.state.q) and np.array_equal(state.v, other.state.v)


def test_a_pendulum_falls_at_the_speed_that_its_height_gives() -> None:
    """A rod that has fallen from the horizontal turns at the root of 3 g / l, with an error below h."""
    errors = []
    for h in (2e-3, 1e-3):
        simulator = sg.Simulator(pendulum(), h=h)
        while simulator.memory.coordinate[0] < 0.5 * np.pi:
            simulator.run(1)
        errors.append(abs(simulator.state.v[0, 4] - np.sqrt(3.0 * GRAVITY)))
        assert errors[-1] <= h
    assert errors[1] <= 0.6 * errors[0]


@pytest.mark.parametrize("spin", [40.0, -400.0])
def test_turns_are_counted_also_where_a_step_makes_more_than_half_of_one(spin: float) -> None:
    simulators = [sg.Simulator(wheel(spin), h=0.01) for _ in range(2)]
    simulators[0].run(30)
    assert simulators[0].engine is not None
    assert simulators[0].memory.coordinate[0] == pytest.approx(0.3 * spin, abs=1e-9)
    simulators[1].restore(simulators[0].snapshot())
    simulators[1].run(10)
    assert simulators[1].memory.coordinate[0] == pytest.approx(0.4 * spin, abs=1e-9)


def test_robust_methods_solve_what_the_sweeps_do_not() -> None:
    """A step for which no sweep is allowed is posed by functions, laws of joints after the contacts."""
    scene, h, _ = SCENES["hand"]
    runs = [sg.Simulator(scene(), h=h, tolerance=TOLERANCE) for _ in range(2)]
    for simulator in runs:
        simulator.run(45)
    assert runs[1].engine is not None
    runs[1].engine.arena[ea.COUNTS][ea.LIMIT] = 0
    results = [simulator.advance() for simulator in runs]
    assert results[1][1].status == sg.Status.SOLVED
    np.testing.assert_allclose(results[0][0].state.v, results[1][0].state.v, atol=CLOSE)


def test_more_contacts_than_there_was_room_for() -> None:
    """A long chain lies down on the floor: every link is joined to all before it."""
    scene = chain(40, length=0.05)
    scene.add_fixed(sg.HalfSpace((0.05, 0.1, 1.0), -0.012), name="floor")
    simulator = sg.Simulator(scene, h=2e-3)
    assert simulator.run(60) == 0
    result, certificate = simulator.advance()
    assert result.contacts.contact_count > 20
    assert certificate.status == sg.Status.SOLVED
    assert result.problem.residual(result.solution.z) <= 2e-6
    assert certificate.energy_error <= EXACT


def test_loads_by_joint_name_reach_the_compiled_step() -> None:
    """A free wheel turns at T h / I after one step."""
    simulator = sg.Simulator(wheel(0.0, inertia=0.4), h=0.01)
    simulator.step({"hinge": 2.0})
    assert simulator.engine is not None
    assert simulator.state.v[0, 4] == pytest.approx(0.05, rel=1e-12)


@pytest.mark.parametrize(
    ("scene", "formulation"),
    [
        (lambda: chain(3), sg.MoreauJean()),
        (lambda: chain(3), sg.MoreauJean(projection=True)),
        (lambda: chain(3), sg.MoreauJean(theta=0.5)),
        (everything, sg.MoreauJean()),
        (lambda: wheel(friction=("load", 0.1, 0.1)), sg.MoreauJean()),
        (geared, sg.MoreauJean()),
        (redundant, sg.MoreauJean()),
    ],
)
def test_every_joint_is_taken_by_the_compiled_step(scene: Callable[[], sg.Scene], formulation: sg.MoreauJean) -> None:
    simulator = sg.Simulator(scene(), h=1e-3, formulation=formulation)
    assert simulator.engine is not None
    assert simulator.run(2) == 0


def parallelogram(speed: float = -2.0, start: float = 0.04) -> sg.Scene:
    """Cranks of 0.3 m, driven at `speed` from the angle `start`, carry a bar of 0.5 m."""
    scene = sg.Scene(planar=True, gravity=(0, -9.81))
    A, D = np.zeros(2), np.array([0.5, 0.0])
    way = 0.3 * np.array([np.cos(start), np.sin(start)])
    turning = 0.3 * speed * np.array([-np.sin(start), np.cos(start)])
    for name, a, b, spin, velocity in (
        ("crank", A, A + way, speed, 0.5 * turning),
        ("rocker", D, D + way, speed, 0.5 * turning),
        ("bar", A + way, D + way, 0.0, turning),
    ):
        link(scene, a, b, name, velocity=velocity, angular_velocity=spin)
    scene.add_joint("revolute", None, "crank", anchor=A, motion=lambda t: speed * t)
    scene.add_joint("revolute", None, "rocker", anchor=D)
    scene.add_joint("revolute", "crank", "bar", anchor=A + way)
    scene.add_joint("revolute", "rocker", "bar", anchor=D + way)
    for pair in (("crank", "rocker"), ("crank", "bar"), ("rocker", "bar")):
        scene.exclude(*pair)
    return scene


def test_a_loop_that_becomes_dependent_in_mid_run() -> None:
    """Flat, a parallelogram has a row too many: told in that step, with the least impulses, and it goes on."""
    fast, slow = (
        sg.Simulator(parallelogram(), h=2e-3, formulation=formulation, tolerance=TOLERANCE)
        for formulation in (sg.MoreauJean(), ByPython())
    )
    told = []
    for _ in range(20):
        slow.restore(fast.snapshot())
        one, other = fast.step(), slow.step()
        assert one.certificate.status == other.certificate.status == sg.Status.SOLVED
        assert one.result.joints is not None
        assert other.result.joints is not None
        told.append((one.result.joints.redundant, other.result.joints.redundant))
        np.testing.assert_allclose(fast.state.v, slow.state.v, atol=1e-9)
        np.testing.assert_allclose(one.result.joints.reaction, other.result.joints.reaction, atol=1e-8)
    assert told == [(1, 1) if k == 10 else (0, 0) for k in range(20)]


def test_fewer_contacts_may_need_more_room() -> None:
    """A chain that leaves the floor has one contact of many blocks, boxes that land then have many of few.

    Arrays by contact and arrays by block grow for different reasons, and none may become smaller.
    """
    count, radius = 80, 0.05
    scene = floor()
    for k in range(count):
        z = radius * (2 * (count - k) - 1)
        ball = sg.Sphere(radius if k == count - 1 else 0.01)
        scene.add_body(ball, mass=0.1, position=(0, 0, z), velocity=(0, 0, 6.0), name=f"link{k}")
        if k > 0:
            scene.add_joint("spherical", f"link{k - 1}", f"link{k}", anchor=(0, 0, z + radius))
    for k in range(3):
        scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(5 + k, 0, 0.25), name=f"box{k}")
    simulator = sg.Simulator(scene, h=0.01)
    engine = simulator.engine
    assert engine is not None
    for _ in range(30):
        assert simulator.run(1) == 0
        assert engine.arena[ea.START].shape[0] == engine.arena[ea.P].shape[0] + 1
    landed = simulator.state.q[-3:, 2]
    np.testing.assert_allclose(landed, 0.1, atol=1e-5)
