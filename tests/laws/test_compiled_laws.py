"""Laws of contact in the compiled step, against the same laws step by step in Python.

The step of :meth:`MoreauJean.step` is assembled, solved and accounted for by other code than the compiled one, so each
judges the other: from the same state both must come to the same state, the same certificate and the same balance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import IntArray
from signorini._jit import address_of, inner_kernel
from signorini.engine import arrays as ea
from signorini.engine import couple_tables as couples
from signorini.engine import poisson_tables as collisions
from signorini.formulations import Phases
from tests.by_python import TOLERANCE, another_solution, balances_agree, certificates_agree, overlaps
from tests.by_python.step import ByPython
from tests.scenes import GRAVITY, box_on_slope

SPEED = 1e-9  # [m/s] what the tolerance leaves open of velocities of some metres per second


def heap(seed: int = 1, *, restitution: float = 0.0, shaken: bool = False, **friction: Any) -> sg.Scene:
    """Return boxes and balls above a floor, thrown and spinning; the floor may shake."""
    rng = np.random.default_rng(seed)
    scene = sg.Scene(gravity=(0.3, 0, -GRAVITY))
    if shaken:
        scene.add_fixed(
            sg.Box((4, 4, 0.4)), motion=lambda t: (0.05 * np.sin(20 * t), 0, 0.01 * np.sin(30 * t) - 0.2), name="floor"
        )
    else:
        scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(5):
        scene.add_body(
            sg.Sphere(0.1) if k % 2 else sg.Box((0.2, 0.25, 0.3)),
            mass=1.0 + k,
            position=(*(0.12 * rng.standard_normal(2)), 0.17 + 0.28 * k),
            velocity=rng.standard_normal(3),
            angular_velocity=5.0 * rng.standard_normal(3),
            name=f"body {k}",
        )
    scene.add_force("body 0", force=lambda t, state: (np.sin(10.0 * t), 0.0, 0.0), at=(0.0, 0.05, 0.0))
    scene.set_contact(friction=0.4, restitution=restitution, **friction)
    return scene


def planar_heap() -> sg.Scene:
    """Return polygons and discs in the plane."""
    rng = np.random.default_rng(4)
    scene = sg.Scene(planar=True, gravity=(0.3, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    for k in range(4):
        shape = sg.Disc(radius=0.1) if k % 2 else sg.Polygon([(-0.1, -0.1), (0.15, -0.1), (0.1, 0.1), (-0.1, 0.12)])
        scene.add_body(
            shape, mass=1.0, position=(0.1 * rng.standard_normal(), 0.15 + 0.25 * k), velocity=(0.5, -1.0), name=f"b{k}"
        )
    scene.set_contact(friction=0.5)
    return scene


def agree(scene: sg.Scene, steps: int, h: float = 2e-3, **options: Any) -> list[sg.StepReport]:
    """Take steps by both ways, each from where the compiled one has come to; return the reports of the latter."""
    fast = sg.Simulator(scene, h=h, formulation=sg.MoreauJean(**options), tolerance=TOLERANCE)
    slow = sg.Simulator(scene, h=h, formulation=ByPython(**options), tolerance=TOLERANCE)
    assert fast.engine is not None and slow.engine is None
    reports, compared, parts = [], 0, options.get("theta", 1.0) == 1.0 and "stiffness" not in options
    for _ in range(steps):
        slow.restore(fast.snapshot())
        by_kernel, by_python = fast.step(), slow.step()
        reports.append(by_kernel)
        if parts and overlaps(by_kernel):
            continue
        if fast.engine.arena[ea.COUNTS][ea.MENDED] > 1:  # each time it is posed again multiplies what the last left
            continue
        if np.abs(fast.state.v - slow.state.v).max() > SPEED and another_solution(by_kernel.result, by_python.result):
            continue
        compared += 1
        np.testing.assert_allclose(fast.state.q, slow.state.q, atol=h * SPEED)
        np.testing.assert_allclose(fast.state.v, slow.state.v, atol=SPEED)
        assert fast.state.t == pytest.approx(slow.state.t, rel=1e-14)
        balances_agree(by_kernel, by_python)
        certificates_agree(by_kernel, by_python)
        assert by_kernel.result.problem.residual(by_kernel.result.solution.z) <= TOLERANCE
    assert compared > 0.5 * steps
    return reports


SCENES = pytest.mark.parametrize(
    "scene", [heap(), heap(2, shaken=True), planar_heap()], ids=["heap", "shaken", "planar"]
)


@SCENES
@pytest.mark.parametrize("theta", [1.0, 0.6])
def test_springs(scene: sg.Scene, theta: float) -> None:
    reports = agree(scene, 100, stiffness=2e4, theta=theta)
    assert max(report.certificate.deflection for report in reports) > 1e-3
    assert max(abs(report.result.balance.elastic) for report in reports) > 1e-3


@SCENES
@pytest.mark.parametrize("theta", [0.5, 0.75])
def test_theta(scene: sg.Scene, theta: float) -> None:
    reports = agree(scene, 100, theta=theta)
    assert min(report.certificate.min_gap for report in reports) < -1e-5  # bodies do drift into each other
    assert sum(report.result.balance.friction for report in reports) > 0.1


def test_theta_with_restitution_and_the_gyroscopic_term_of_the_papers() -> None:
    reports = agree(heap(3, restitution=0.5), 80, theta=0.6, gyroscopic="explicit")
    assert max(report.result.velocity[:, 0].max(initial=0.0) for report in reports) > 0.3


def test_a_fast_spin_takes_the_gyroscopic_term_in_parts() -> None:
    """Law: at theta = 1/2 a tumbling body keeps its kinetic energy, also where it turns by radians in a step."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(
        sg.Sphere(0.1), mass=1.0, inertia=(1.0, 2.0, 2.9), position=(0, 0, 0), angular_velocity=(0.1, 90, 1), name="b"
    )
    agree(scene, 10, h=0.02, theta=0.5)


def test_controls_act_where_the_step_does() -> None:
    """Loads for one step alone, with theta < 1 too; the step after it is without them."""
    push = {"body 1": (3.0, 0.0, 20.0, 0.0, 0.1, 0.0)}
    simulators = [
        sg.Simulator(heap(), h=2e-3, formulation=stepper(theta=0.5), tolerance=TOLERANCE)
        for stepper in (sg.MoreauJean, ByPython)
    ]
    for simulator in simulators:
        simulator.run(20)
        simulator.step(push)
        simulator.step()
    fast, slow = (simulator.state for simulator in simulators)
    np.testing.assert_allclose(fast.v, slow.v, atol=1e-8)
    assert simulators[0].engine is not None


def test_a_log_that_is_short_of_room_grows_where_the_step_acts() -> None:
    """A hundred balls meet the floor within one step: many contacts where the step acts, few before."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(105):
        high = k >= 5
        scene.add_body(
            sg.Sphere(0.1), mass=1.0, position=(k, 0, 0.57 if high else 0.1), velocity=(0, 0, -10.0 * high), name=f"{k}"
        )
    simulator = sg.Simulator(scene, h=0.02, formulation=sg.MoreauJean(theta=0.5))
    engine = simulator.engine
    assert engine is not None
    engine.log(3, keep_contacts=True)
    assert engine.run(3) == 3
    log = engine.read_log()
    assert log.contacts is not None
    np.testing.assert_array_equal(log.counts, [5, 105, 105])
    np.testing.assert_array_equal(log.contacts["normal"][:, 2], 1.0)  # also those logged before


def test_a_box_with_springs_sleeps_and_keeps_their_energy() -> None:
    scene = box_on_slope(0.0, 0.5)
    simulator = sg.Simulator(scene, h=5e-3, formulation=sg.MoreauJean(stiffness=1e5, sleeping=True))
    simulator.run(400)
    stored = simulator.memory.stored
    report = simulator.step()
    assert report.certificate.asleep == 1
    assert stored > 0.0
    assert simulator.memory.stored == stored
    assert report.result.balance.elastic == 0.0


# --- Poisson's law -----------------------------------------------------------------


def balls(*, friction: float = 0.3, restitution: float = 0.6, planar: bool = False, **more: Any) -> sg.Scene:
    """Return spinning balls that fall onto each other; they never overlap, so nothing has to part them."""
    scene = sg.Scene(planar=planar)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1) if planar else (0, 0, 1)), name="floor")
    for k in range(4):
        place, spin = ((0.03 * k, 0.02 * k * k, 0.12 + 0.21 * k), (3.0, 1.0, 2.0))
        scene.add_body(
            sg.Disc(radius=0.1) if planar else sg.Sphere(0.1),
            mass=1.0 + k,
            position=place[::2] if planar else place,
            velocity=(1, -1) if planar else (1, 0, -1),
            angular_velocity=3.0 if planar else spin,
            name=f"ball {k}",
        )
    scene.set_contact(friction=friction, restitution=restitution, **more)
    return scene


def bars(**more: Any) -> sg.Scene:
    """Return bars that fall onto a rough floor with one end first, each at another angle and slip.

    Friction turns the slip of some of them round, and then Newton's law gains energy.
    """
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(6):
        angle = 0.4 + 0.15 * k
        scene.add_body(
            sg.Capsule(radius=0.03, length=0.6),
            mass=1.0,
            position=(0, 0.5 * k, 0.04 + 0.3 * np.sin(angle)),
            orientation=(np.cos(0.5 * angle - 0.25 * np.pi), 0, -np.sin(0.5 * angle - 0.25 * np.pi), 0),
            velocity=(0.3 * k - 1.0, 0, -2.0),
            name=f"bar {k}",
        )
    scene.set_contact(friction=2.0, restitution=0.95, **more)
    return scene


def pendulum() -> sg.Scene:
    """Return a double pendulum, with friction in a hinge and a limit to the other, that swings against a floor."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(2):
        place = (0.25 + 0.5 * k, 0, 0.25)
        scene.add_body(sg.Box((0.4, 0.1, 0.1)), mass=1.0 + k, position=place, velocity=(0, 0, -3 - 6 * k), name=f"b{k}")
    scene.add_joint("revolute", None, "b0", anchor=(0, 0, 0.25), axis=(0, 1, 0), friction=0.1)
    scene.add_joint("revolute", "b0", "b1", anchor=(0.5, 0, 0.25), axis=(0, 1, 0), limits=(-1.0, 1.0))
    scene.set_contact(friction=1.5, restitution=0.95)
    return scene


def two_phases(reports: list[sg.StepReport]) -> list[sg.StepReport]:
    """Return the steps that were collisions, after a look at the problem of their first phase."""
    collisions = [report for report in reports if isinstance(report.result.posed, Phases)]
    for report in collisions:
        posed = report.result.posed
        assert isinstance(posed, Phases)
        compression, _ = posed.phases
        assert compression.residual() <= TOLERANCE
    return collisions


@pytest.mark.parametrize(
    ("scene", "theta"),
    [
        (balls(), 1.0),
        (balls(friction=0.0), 1.0),
        (balls(planar=True), 1.0),
        (heap(restitution=0.5), 0.6),
        (heap(2, restitution=0.5, shaken=True), 0.75),
    ],
    ids=["balls", "smooth balls", "discs", "heap", "shaken heap"],
)
def test_poisson(scene: sg.Scene, theta: float) -> None:
    reports = agree(scene, 100, theta=theta, restitution_law="poisson")
    assert 5 < len(two_phases(reports)) < 100


@pytest.mark.parametrize(
    ("scene", "options"),
    [
        (bars(), {}),
        (bars(torsional=0.002, rolling=0.0005), {}),
        (bars(), {"theta": 0.6}),
        (pendulum(), {}),
    ],
    ids=["bars", "couples", "theta", "joints"],
)
def test_rebounds_that_would_gain_energy(scene: sg.Scene, options: dict[str, Any]) -> None:
    """Both ways find the same part of a rebound, island by island."""
    agree(scene, 60, **options)
    steps = sg.Simulator(scene, h=2e-3, formulation=sg.MoreauJean(**options), tolerance=TOLERANCE)
    newton = sg.Simulator(scene, h=2e-3, formulation=sg.MoreauJean(restitution_law="newton", **options))
    steps.run(60)
    newton.run(60)
    assert np.abs(steps.state.v - newton.state.v).max() > 1e-3  # some rebounds were smaller


@inner_kernel
def give_up(t: IntArray, i: int, what: int, goal: float, credit: float) -> float:
    """Take the place of the compiled robust solver."""
    return math.inf


@inner_kernel
def give_up_couples(t: IntArray, i: int, near: bool, goal: float) -> float:
    """Take the place of the compiled robust solver with couples."""
    return math.inf


def never(*words: Any, **options: Any) -> Any:
    raise AssertionError("Python's robust methods were asked")


@pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "by Python"])
def test_poisson_by_the_robust_methods(monkeypatch: pytest.MonkeyPatch, *, by_python: bool) -> None:
    """No sweep is allowed for: both phases go to the robust methods, and the balance is still that of the step."""
    scene = balls()
    fast = sg.Simulator(scene, h=2e-3, formulation=sg.MoreauJean(restitution_law="poisson"), tolerance=TOLERANCE)
    slow = sg.Simulator(scene, h=2e-3, formulation=ByPython(restitution_law="poisson"), tolerance=TOLERANCE)
    assert fast.engine is not None
    fast.engine.arena[ea.COUNTS][ea.LIMIT] = 0
    reports = []
    if by_python:
        address = address_of(give_up, np.zeros((1, 1), dtype=np.int64), 1, 1, 1.0, 1.0)
        fast.engine.arena.connect(ea.RESCUE, address)
    else:
        monkeypatch.setattr(collisions, "solve_robustly", never)
    for _ in range(60):
        slow.restore(fast.snapshot())
        reports.append(fast.step())
        balances_agree(reports[-1], slow.step())
        np.testing.assert_allclose(fast.state.v, slow.state.v, atol=SPEED)
    assert len(two_phases(reports)) > 5
    for report in two_phases(reports):
        assert report.result.problem.residual(report.result.solution.z) <= TOLERANCE


def test_more_contacts_than_there_was_room_for_collide() -> None:
    """Law: e = 1: forty balls that meet the floor in one step rise as fast as they fell."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(40):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(k, 0, 0.101), velocity=(0.5, 0, -1), name=f"ball {k}")
    scene.set_contact(friction=0.3, restitution=1.0)
    simulator = sg.Simulator(scene, h=2e-3, formulation=sg.MoreauJean(restitution_law="poisson"), tolerance=TOLERANCE)
    assert simulator.run(1) == 0
    assert simulator.engine is not None
    np.testing.assert_allclose(simulator.state.v[1:, 2], 1.0, atol=1e-12)
    # Compression and expansion press with m v each, and friction with mu times that is enough to make the balls roll.
    np.testing.assert_allclose(simulator.state.v[1:, 0], 0.5 * 5.0 / 7.0, atol=1e-12)


# --- couples and ellipsoids --------------------------------------------------------

ELLIPSOID: dict[str, Any] = {"ellipsoid": (1.0, 0.5, 0.02)}
BENT: dict[str, Any] = {**ELLIPSOID, "rolling": 0.01}


def of_two_kinds() -> sg.Scene:
    """Return balls of which one rolls with friction and one is rough in one direction, on a floor that turns."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(
        sg.Box((4, 4, 0.4)), motion=lambda t: ((0, 0, -0.2), (np.cos(2 * t), 0, 0, np.sin(2 * t))), name="floor"
    )
    for k, name in enumerate(("plain", "rolls", "bent")):
        scene.add_body(sg.Sphere(0.1), mass=1.0 + k, position=(0.21 * k, 0.1, 0.105), velocity=(1, 2, 0), name=name)
    scene.set_contact(friction=0.5)
    scene.set_contact(friction=0.3, rolling=0.01, between=("rolls", "floor"))
    scene.set_contact(friction=0.3, **BENT, between=("bent", "floor"))
    return scene


@pytest.mark.parametrize(
    ("scene", "options"),
    [
        (balls(torsional=0.01), {}),
        (balls(rolling=0.01), {"gyroscopic": "explicit"}),
        (balls(torsional=0.01, rolling=0.02), {}),
        (balls(restitution=0.0, **BENT), {"stiffness": 1e4}),
        (balls(planar=True, rolling=0.02), {}),
        (of_two_kinds(), {}),
        (balls(torsional=0.01, rolling=0.02), {"theta": 0.6}),
        (heap(2, shaken=True, **ELLIPSOID), {"theta": 0.75}),
    ],
    ids=["torsional", "rolling", "both", "bent springs", "planar", "kinds", "theta", "shaken"],
)
def test_couples(scene: sg.Scene, options: dict[str, Any]) -> None:
    reports = agree(scene, 100, **options)
    assert sum(report.result.balance.friction for report in reports) > 0.01
    assert max(np.abs(report.result.memory.impulse[:, 3:]).max(initial=0.0) for report in reports) > 1e-4


@pytest.mark.parametrize("by_python", [False, True], ids=["compiled", "by Python"])
def test_couples_by_the_robust_methods(monkeypatch: pytest.MonkeyPatch, *, by_python: bool) -> None:
    scene = balls(torsional=0.01, rolling=0.02)
    fast = sg.Simulator(scene, h=2e-3, tolerance=TOLERANCE)
    slow = sg.Simulator(scene, h=2e-3, formulation=ByPython(), tolerance=TOLERANCE)
    assert fast.engine is not None
    fast.engine.arena[ea.COUNTS][ea.LIMIT] = 0
    if by_python:
        address = address_of(give_up_couples, np.zeros((1, 1), dtype=np.int64), 1, True, 1.0)
        fast.engine.arena.connect(ea.RESCUE_COUPLES, address)
    else:
        monkeypatch.setattr(couples, "solve_robustly", never)
    for _ in range(60):
        slow.restore(fast.snapshot())
        quick, thorough = fast.step(), slow.step()
        if overlaps(quick):
            continue
        balances_agree(quick, thorough)
        certificates_agree(quick, thorough)
        np.testing.assert_allclose(fast.state.v, slow.state.v, atol=SPEED)


@pytest.mark.parametrize("planar", [True, False], ids=["discs", "spheres"])
def test_piles_with_couples_need_no_python(monkeypatch: pytest.MonkeyPatch, *, planar: bool) -> None:
    """Law: what sweeps do not solve of a pile that falls is solved in compiled code, by the problem's own residual."""
    rng, scene = np.random.default_rng(1), sg.Scene(planar=planar)
    for k, axis in enumerate(np.eye(2 if planar else 3)):
        scene.add_fixed(sg.HalfSpace(normal=axis), name=f"wall {k}")
        if k < (1 if planar else 2):
            scene.add_fixed(sg.HalfSpace(normal=-axis), position=(0.62 if planar else 0.4) * axis, name=f"far {k}")
    for k in range(40):
        cell = np.array([k % 6, k // 6]) if planar else np.array([k % 4, k // 4 % 4, k // 16])
        place, radius = 0.05 + 0.1 * cell + rng.uniform(0.0, 0.01, cell.size), rng.uniform(0.04, 0.045)
        scene.add_body(sg.Disc(radius=radius) if planar else sg.Sphere(radius), mass=1.0, position=place, name=f"{k}")
    scene.set_contact(friction=0.5, rolling=2e-3, torsional=0.0 if planar else 2e-3)
    monkeypatch.setattr(couples, "solve_robustly", never)
    simulator = sg.Simulator(scene, h=5e-3)
    for _ in range(60):
        result = simulator.step().result
        assert result.problem.residual(result.solution.z) <= 1e-6
    assert np.abs(simulator.memory.impulse[:, 3:]).max() > 1e-5


def test_a_run_with_couples_goes_on_bit_for_bit() -> None:
    """Law: the memory of a snapshot is complete, couples included."""
    simulator = sg.Simulator(balls(torsional=0.01, rolling=0.02), h=2e-3)
    simulator.run(60)
    snapshot = simulator.snapshot()
    simulator.run(20)
    expected = simulator.state
    simulator.restore(snapshot)
    simulator.run(20)
    np.testing.assert_array_equal(simulator.state.v, expected.v)
    np.testing.assert_array_equal(simulator.state.q, expected.q)
