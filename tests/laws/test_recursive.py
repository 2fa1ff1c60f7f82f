"""Mechanisms in joint coordinates: conserved quantities of every kind of joint, joints that hold, and contacts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.errors import InputError

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("fixed", {}),
    ("revolute", {"axis": (1, 2, 0.5)}),
    ("prismatic", {"axis": (1, -1, 0.5)}),
    ("cylindrical", {"axis": (0.3, 1, 0.5)}),
    ("spherical", {}),
    ("universal", {"axis": [(1, 1, 0), (-1, 1, 0.5)]}),
    ("planar", {"axis": (0.2, 0.5, 1)}),
]


def pair(kind: str, words: dict[str, Any], r: np.random.Generator, *, hung: bool, swap: bool = False) -> sg.Scene:
    """Return three bodies joined in a row by joints of one kind, thrown without gravity, or hung under it."""
    scene = sg.Scene(gravity=(0, 0, -9.81) if hung else (0, 0, 0))
    places = np.array([(0, 0, 0), (0.7, 0.2, 0.1), (1.2, -0.3, 0.5)], dtype=float)
    for k, place in enumerate(places):
        e = r.normal(size=4)
        scene.add_body(
            sg.Box((0.3, 0.2, 0.1)),
            mass=1.0 + k,
            inertia=(0.4, 0.6, 0.7),
            mass_centre=(0.05, 0.02, -0.03),
            position=place,
            orientation=e / np.linalg.norm(e),
            name=f"b{k}",
        )
    if words.get("axis") and kind == "universal":  # at a right angle
        words = {"axis": [words["axis"][0], np.cross(words["axis"][0], words["axis"][1])]}
    joints = [("b0", "b1", (0.4, 0.1, 0.2)), ("b1", "b2", (1.0, 0.1, 0.3))]
    for a, b, anchor in joints:
        scene.add_joint(kind, *((b, a) if swap else (a, b)), anchor=anchor, **words)
    if hung:
        scene.add_joint(kind, None, "b0", anchor=(-0.3, 0.1, 0.0), **words)
    return scene


def started(scene: sg.Scene, formulation: Any, h: float, seed: int) -> sg.Simulator:
    """Return a simulator whose mechanism moves at random speeds that its joints allow."""
    sim = sg.Simulator(scene, h=h, formulation=formulation)
    r = np.random.default_rng(seed)
    snapshot = sim.snapshot()
    memory = snapshot.memory
    from dataclasses import replace

    from signorini.dynamics.response.mechanism import Mechanism
    from signorini.scene import compile_scene

    mechanism = Mechanism(compile_scene(scene))
    u = r.normal(size=memory.speed.size)
    state = mechanism.state(mechanism.posture(memory.configuration, u, snapshot.state), 0.0)
    sim.restore(replace(snapshot, state=state, memory=replace(memory, speed=u)))
    return sim


def momenta(scene: sg.Scene, sim: sg.Simulator) -> tuple[Array, float]:
    """Return linear and angular momentum (6,), and the energy."""
    from signorini.dynamics import inertia_blocks, motion_energies
    from signorini.scene import compile_scene

    model, state = compile_scene(scene), sim.state
    M = inertia_blocks(model.arrays, state.q)
    p = np.einsum("bij,bj->bi", M, state.v)
    total = np.concatenate([p[:, :3].sum(axis=0), (p[:, 3:] + np.cross(state.q[:, :3], p[:, :3])).sum(axis=0)])
    kinetic, potential = motion_energies(model, state.q, state.v, state.modal_rate)
    return total, float(kinetic + potential)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("kind", "words"), KINDS, ids=[kind for kind, _ in KINDS])
def test_a_floating_mechanism_keeps_momentum_and_energy(kind: str, words: dict[str, Any], swap: bool) -> None:
    """To the fourth order of the integrator: 16 times less with half the step."""
    errors = []
    for steps in (10, 20):
        scene = pair(kind, words, np.random.default_rng(1), hung=False, swap=swap)
        sim = started(scene, sg.Recursive(integrator=sg.RK4()), 0.2 / steps, 4)
        first, energy = momenta(scene, sim)
        for _ in range(steps):
            assert sim.step().status is sg.Status.SOLVED
        last, end = momenta(scene, sim)
        errors.append(max(float(np.abs(last - first).max()), abs(end - energy)))
    assert errors[1] < 1e-5
    assert errors[1] < errors[0] / 10.0 or errors[0] < 1e-12


@pytest.mark.parametrize(("kind", "words"), KINDS[1:], ids=[kind for kind, _ in KINDS[1:]])
def test_a_hung_mechanism_keeps_its_energy_and_its_joints(kind: str, words: dict[str, Any]) -> None:
    scene = pair(kind, words, np.random.default_rng(2), hung=True)
    sim = started(scene, sg.Recursive(integrator=sg.RK4()), 0.01, 5)
    _, energy = momenta(scene, sim)
    for _ in range(20):
        report = sim.step()
        assert report.certificate.joint_drift < 1e-13
    assert momenta(scene, sim)[1] == pytest.approx(energy, abs=1e-5)


def chain(n: int) -> sg.Scene:
    scene = sg.Scene()
    for k in range(n):
        scene.add_body(
            sg.Capsule(0.02, 0.2), position=(0.1 + 0.2 * k, 0, 0), orientation=(0.5**0.5, 0, 0.5**0.5, 0), name=f"l{k}"
        )
        anchor = (0.2 * k, 0, 0)
        scene.add_joint("revolute", f"l{k - 1}" if k else None, f"l{k}", anchor=anchor, axis=(0, 1, 0), name=f"j{k}")
    return scene


def test_chains_do_not_drift() -> None:
    trajectory = sg.simulate(chain(12), duration=0.3, h=0.01, formulation=sg.Recursive())
    assert trajectory.certificate.joint_drift.max() < 1e-12
    assert trajectory.certificate.energy_error.max() < 1e-12


@pytest.mark.compiled_only
def test_a_hanging_chain_of_a_hundred_links_does_not_drift() -> None:
    """10 s of a chain that is let go aslant: every joint to 1e-12 all the time."""
    scene = sg.Scene()
    for k in range(100):
        x = 0.1 * np.array([np.sin(0.1), 0.0, -np.cos(0.1)])
        scene.add_body(
            sg.Capsule(0.01, 0.08),
            mass=0.1,
            position=(k + 0.5) * x,
            orientation=(np.cos(0.05), 0, -np.sin(0.05), 0),
            name=f"l{k}",
        )
        scene.add_joint("spherical", f"l{k - 1}" if k else None, f"l{k}", anchor=k * x)
    run = sg.simulate(scene, duration=10.0, h=5e-3, formulation=sg.Recursive(), record="motion", progress=False)
    assert np.ptp(run.position("l99")[:, 0]) > 1.0
    assert run.certificate.joint_drift.max() < 1e-12
    assert run.certificate.energy_error.max() < 1e-10


def test_first_order_against_maximal_coordinates() -> None:
    """Both schemes go to the same motion; their difference halves with the step."""
    apart = []
    for h in (0.01, 0.005):
        runs = [
            sg.simulate(chain(3), duration=0.4, h=h, formulation=formulation)
            for formulation in (sg.Recursive(), sg.MoreauJean())
        ]
        apart.append(float(np.abs(runs[0].position("l2")[-1] - runs[1].position("l2")[-1]).max()))
    assert apart[0] < 0.05
    assert apart[0] / apart[1] == pytest.approx(2.0, abs=0.5)


def struck() -> sg.Scene:
    """Return a rod on a spherical joint that falls on a ball, which lies on the floor."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        sg.Capsule(0.05, 1.0), mass=1.0, position=(0.5, 0, 0.6), orientation=(0.5**0.5, 0, 0.5**0.5, 0), name="rod"
    )
    scene.add_body(sg.Sphere(0.2), mass=0.5, position=(0.8, 0.02, 0.2), name="ball")
    scene.add_joint("spherical", None, "rod", anchor=(0, 0, 0.6), name="hinge")
    scene.set_contact(friction=0.3)
    return scene


@pytest.mark.parametrize("words", [{}, {"cone": "polygon", "directions": 16}, {"integrator": sg.RK4()}])
def test_a_link_presses_a_ball(words: dict[str, Any]) -> None:
    """Contacts between a link, a floating body and the floor: every law held, energy accounted for, never gained."""
    trajectory = sg.simulate(struck(), duration=0.5, h=5e-3, formulation=sg.Recursive(**words))
    assert trajectory.certificate.verdict != "not trusted"
    assert trajectory.certificate.energy_error.max() < 1e-10
    pressed = {
        pair
        for step in range(trajectory.certificate.residual.size)
        for pair, normal in zip(trajectory.contacts(step).bodies, trajectory.contacts(step).normal_impulse, strict=True)
        if normal > 0.0
    }
    assert {("rod", "ball"), ("floor", "ball")} <= {tuple(pair) for pair in pressed}
    assert trajectory.certificate.overlap.max() < 2e-3


def test_runs_continue_bit_for_bit(tmp_path: Path) -> None:
    words: dict[str, Any] = {"duration": 0.3, "h": 5e-3, "formulation": sg.Recursive(directions=8)}
    whole = sg.simulate(struck(), **words)
    sim = sg.Simulator(struck(), h=5e-3, formulation=sg.Recursive(directions=8))
    sim.run(30)
    kept = sim.snapshot()
    sim.run(30)
    end = sim.state.q.copy()
    sim.restore(kept)
    sim.run(30)
    np.testing.assert_array_equal(sim.state.q, end)
    np.testing.assert_array_equal(whole.position("rod")[-1], sg.simulate(struck(), **words).position("rod")[-1])
    whole.save(tmp_path / "run.h5")
    again = sg.Trajectory.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(again.position("ball"), whole.position("ball"))


def constrained() -> sg.Scene:
    scene = chain(2)
    scene.add_constraint(lambda q, t: q[2], ["l1"], name="level")
    return scene


def carried() -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.Sphere(0.1), motion=lambda t: ((t, 0, 0), (1, 0, 0, 0)), name="cart")
    scene.add_body(sg.Sphere(0.1), position=(0, 0, -1), velocity=(1, 0, 0), name="bob")
    scene.add_joint("spherical", "cart", "bob", anchor=(0, 0, 0), name="hook")
    return scene


def spun(**words: Any) -> sg.Scene:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), position=(0, 0, 0), name="wheel", **words.pop("body", {}))
    scene.add_joint("revolute", None, "wheel", anchor=(0, 0, 0), axis=(0, 0, 1), name="axle", **words)
    return scene


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        (constrained(), "constraint 'level': must be a joint for Recursive, which knows no other constraints"),
        (carried(), "joint 'hook': hangs from 'cart', which moves, must not for Recursive"),
        (spun(motion=lambda t: 0.1 + t * t), "joint 'axle': motion begins with the coordinate 0.1, must begin with 0"),
        (spun(motion=lambda t: t), "joint 'axle': motion begins with the speed 1, must begin with 0"),
        (spun(body={"velocity": (1, 0, 0)}), "joint 'axle': velocities of its bodies contradict it by 1 m/s"),
    ],
)
def test_what_is_not_known_is_refused(scene: sg.Scene, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sg.Simulator(scene, h=0.01, formulation=sg.Recursive())


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(("kind", "words"), KINDS, ids=[kind for kind, _ in KINDS])
def test_accelerations_are_those_of_maximal_coordinates(kind: str, words: dict[str, Any], swap: bool) -> None:
    """`accelerations` eliminates joints in maximal coordinates; its biases are differences, good to 1e-6."""
    from signorini.dynamics import load_impulse
    from signorini.dynamics.response.mechanism import Mechanism
    from signorini.scene import compile_scene

    model = compile_scene(pair(kind, words, np.random.default_rng(6), hung=True, swap=swap))
    mechanism = Mechanism(model)
    q = mechanism.configuration(model.initial_state)
    u = np.random.default_rng(8).normal(size=mechanism.speed_count)
    at = mechanism.posture(q, u, model.initial_state)
    state = mechanism.state(at, 0.0)
    none: list[Any] = [[] for _ in mechanism.limbs]
    force, still = load_impulse(model, state, 1.0), np.zeros(model.joints.count)
    solved = mechanism.assembled(at, force, none, np.zeros(mechanism.speed_count), still).solve()
    want = sg.accelerations(model, state).solutions[0].acceleration
    for k, limb in enumerate(mechanism.limbs):
        own = mechanism.of_limb(solved.acceleration, k)
        other = want[limb.body, [3, 4, 5, 0, 1, 2]]
        np.testing.assert_allclose(own, other, rtol=0.0, atol=1e-6 * max(1.0, float(np.abs(other).max())))


# --- motions, springs and dampers of joints -----------------------------------


def arm(*, swap: bool = False, gravity: float = 9.81, **words: Any) -> sg.Scene:
    """Return a bar of 2 kg, 0.5 kg m^2 about its centre, that is 0.8 m away from a hinge about y."""
    scene = sg.Scene(gravity=(0, 0, -gravity))
    scene.add_fixed(sg.Sphere(0.01), position=(0, 0, 0), name="base")
    scene.add_body(sg.Box((1.6, 0.1, 0.1)), mass=2.0, inertia=(0.1, 0.5, 0.5), position=(0.8, 0, 0), name="bar")
    ends = ("bar", "base") if swap else ("base", "bar")
    scene.add_joint("revolute", *ends, anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge", **words)
    return scene


INERTIA = 0.5 + 2.0 * 0.8**2


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("swap", [True, False])
def test_torque_of_a_prescribed_motion(swap: bool, known: bool) -> None:
    """Its torque is I a - m g l cos(angle), the angle counted downwards; the bar is where it is told to be."""
    sign = -1.0 if swap else 1.0
    motions = (
        lambda t: sign * (1.0 - np.cos(3.0 * t)),
        lambda t: sign * 3.0 * np.sin(3.0 * t),
        lambda t: sign * 9.0 * np.cos(3.0 * t),
    )
    scene = arm(swap=swap, motion=motions if known else motions[0])
    run = sg.simulate(scene, duration=0.5, h=1e-3, formulation=sg.Recursive(integrator=sg.RK4()))
    t = run.time
    np.testing.assert_allclose(run.joint("hinge").coordinate, [motions[0](one) for one in t], atol=1e-14)
    np.testing.assert_allclose(run.joint("hinge").speed, [motions[1](one) for one in t], atol=1e-8)
    middle = 0.5 * (t[:-1] + t[1:])
    torque = INERTIA * 9.0 * np.cos(3.0 * middle) - 2.0 * 9.81 * 0.8 * np.cos(1.0 - np.cos(3.0 * middle))
    # The mean over a step differs from the middle by h^2 / 24 of the second derivative, some 200 N m/s^2.
    np.testing.assert_allclose(run.joint("hinge").effort / 1e-3, sign * torque, atol=2e-5)
    np.testing.assert_allclose(run.joint("hinge").reaction[:, 4] / 1e-3, sign * torque, atol=2e-5)
    energy = run.energy()
    work = 0.5 * INERTIA * run.joint("hinge").speed[-1] ** 2 - 2.0 * 9.81 * 0.8 * np.sin(abs(motions[0](t[-1])))
    assert energy.drives[-1] == pytest.approx(work, abs=1e-9)
    assert abs(energy.integration[-1]) < 1e-9
    assert run.certificate.energy_error.max() < 1e-12


def test_a_prescribed_motion_with_the_scheme_of_the_first_order() -> None:
    """Coordinates are exact at the ends of steps; the work of the drive is within the first order."""
    work = []
    for h in (2e-3, 1e-3):
        run = sg.simulate(arm(motion=lambda t: 1.0 - np.cos(3.0 * t)), duration=0.5, h=h, formulation=sg.Recursive())
        np.testing.assert_allclose(run.joint("hinge").coordinate, 1.0 - np.cos(3.0 * run.time), atol=1e-13)
        assert run.certificate.energy_error.max() < 1e-12
        work.append(float(run.energy().drives[-1]))
    exact = 0.5 * INERTIA * (3.0 * np.sin(1.5)) ** 2 - 2.0 * 9.81 * 0.8 * np.sin(1.0 - np.cos(1.5))
    assert abs(work[1] - exact) < 0.05
    assert (work[0] - exact) / (work[1] - exact) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("swap", [True, False])
def test_a_spring_and_a_damper_in_a_joint(swap: bool) -> None:
    """A damped oscillator about its relaxed angle: x = e^(-z t) (cos w t + z/w sin w t)."""
    k, c, rest = 40.0, 1.5, 0.3
    scene = arm(swap=swap, gravity=0.0, spring=(k, rest), damping=c)
    run = sg.simulate(scene, duration=1.0, h=2e-3, formulation=sg.Recursive(integrator=sg.RK4()))
    z = 0.5 * c / INERTIA
    w, t = np.sqrt(k / INERTIA - z * z), run.time
    exact = rest - rest * np.exp(-z * t) * (np.cos(w * t) + z / w * np.sin(w * t))
    np.testing.assert_allclose(run.joint("hinge").coordinate, exact, atol=1e-9)
    energy = run.energy()
    assert energy.elastic[0] == pytest.approx(0.5 * k * rest**2)
    assert energy.total[0] - energy.total[-1] == pytest.approx(energy.damping[-1], abs=1e-9)
    assert run.certificate.energy_error.max() < 1e-12
    first = sg.simulate(scene, duration=1.0, h=2e-3, formulation=sg.Recursive())
    np.testing.assert_allclose(first.joint("hinge").coordinate, exact, atol=1e-2)
    assert first.certificate.energy_error.max() < 1e-12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"cone": "round"}, "Recursive: cone is 'round', must be 'exact' or 'polygon'"),
        ({"directions": 2}, "Recursive: directions is 2, must be an integer >= 3"),
        ({"integrator": "rk4"}, r"Recursive: integrator is 'rk4', must be SemiImplicitEuler\(\) or RK4\(\)"),
    ],
)
def test_options_are_checked(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sg.Recursive(**words)


def test_restitution_is_refused() -> None:
    scene = struck()
    scene.set_contact(friction=0.3, restitution=0.5)
    with pytest.raises(InputError, match=r"restitution is 0\.5, must be 0 for Recursive"):
        sg.Simulator(scene, h=0.01, formulation=sg.Recursive())
