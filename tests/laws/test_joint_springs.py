"""Springs of joints keep energy and period, damp as they are told to, and say so where steps are too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._grades import TAKEN_WRONG, losses
from signorini.audit import Grade, audit_tree
from signorini.simulation.choose import scheme_to_dict
from tests.by_python.step import ByPython
from tests.joint_scenes import link, slider, wheel

BOTH = pytest.mark.parametrize("formulation", [sg.MoreauJean(), ByPython(solver=sg.NSGS())], ids=["fast", "python"])
SCHEME = scheme_to_dict(sg.MoreauJean())  # that of both, though only one is known by name
OMEGA = 10.0
A = 0.1
"""Amplitude [m, rad]."""


def run(scene: sg.Scene, formulation: Any, *, steps: float, periods: float, omega: float = OMEGA) -> sg.Trajectory:
    """Simulate so many periods at so many steps each."""
    h = 2.0 * np.pi / omega / steps
    return sg.simulate(scene, duration=round(periods * steps) * h, h=h, formulation=formulation, progress=False)


def slide() -> sg.Scene:
    return slider(mass=2.0, spring=(2.0 * OMEGA**2, A))


def hinge() -> sg.Scene:
    return wheel(0.0, inertia=0.4, spring=(0.4 * OMEGA**2, A))


def point(*, planar: bool = False) -> sg.Scene:
    """A ball on a spring from the world."""
    scene = sg.Scene(gravity=(0, 0) if planar else (0, 0, 0), planar=planar)
    start, end, shape = ((0, 0), (1, 0), sg.Disc(0.1)) if planar else ((0, 0, 0), (1, 0, 0), sg.Sphere(0.1))
    scene.add_body(shape, mass=2.0, position=end, name="ball")
    scene.add_spring(None, "ball", anchor=[start, end], stiffness=2.0 * OMEGA**2, length=1.0 - A, name="spring")
    return scene


def flat() -> sg.Scene:
    return point(planar=True)


def pair() -> sg.Scene:
    """Two balls of 1 and 3 kg, that a spring holds together; their reduced mass is 0.75 kg."""
    scene = sg.Scene(gravity=(0, 0, 0))
    for k, mass in enumerate((1.0, 3.0)):
        scene.add_body(sg.Sphere(0.1), mass=mass, position=(k, 0, 0), velocity=(0, 0.1, 0), name=f"b{k}")
    points = [(0, 0, 0), (1, 0, 0)]
    scene.add_spring("b0", "b1", anchor=points, stiffness=0.75 * OMEGA**2, length=1.0 - A, name="spring")
    return scene


def lever() -> sg.Scene:
    """A ball of 2 cm at the end of an arm of a metre: alone it would turn six thousand times as easily."""
    scene = sg.Scene(gravity=(0, 0, 0))
    inertia = 0.4 * 1.0 * 0.02**2
    scene.add_body(sg.Sphere(0.02), mass=1.0, position=(1, 0, 0), name="ball")
    spring = ((1.0 + inertia) * OMEGA**2, A)
    scene.add_joint("revolute", None, "ball", anchor=(0, 0, 0), axis=(0, 1, 0), spring=spring, name="hinge")
    return scene


def parallelogram() -> sg.Scene:
    """Two cranks and a coupler: a loop, which a spring in the hinge that closes it turns."""
    scene = sg.Scene(gravity=(0, 0), planar=True)
    corners = [(0.0, 0.0), (0.0, 0.5), (1.0, 0.5), (1.0, 0.0)]
    for k in range(3):
        link(scene, corners[k], corners[k + 1], f"link{k}")
    scene.add_joint("revolute", None, "link0", anchor=corners[0], name="base0")
    scene.add_joint("revolute", "link0", "link1", anchor=corners[1])
    scene.add_joint("revolute", "link1", "link2", anchor=corners[2])
    inertia = 2.0 * 0.5 * 0.5**2 / 3.0 + 1.0 * 0.5**2
    scene.add_joint("revolute", None, "link2", anchor=corners[3], spring=(inertia * OMEGA**2, A), name="base1")
    return scene


SCENES: dict[str, tuple[Callable[[], sg.Scene], str]] = {
    "slide": (slide, "guide"),
    "hinge": (hinge, "hinge"),
    "distance": (point, "spring"),
    "planar": (flat, "spring"),
    "pair": (pair, "spring"),
    "lever": (lever, "hinge"),
    "loop": (parallelogram, "base1"),
}
EVERY = pytest.mark.parametrize(("make", "joint"), SCENES.values(), ids=SCENES)


def stretch(trajectory: sg.Trajectory, joint: str) -> Any:
    """Return the coordinate from where the spring is relaxed; lengths are told from the first one on."""
    return trajectory.joint(joint).coordinate + (A if joint == "spring" else -A)


def wave(time: Any, x: Any, omega: float) -> tuple[float, float]:
    """Return the amplitude of the wave of this frequency nearest to x, and the largest distance from it."""
    columns = np.stack([np.cos(omega * time), np.sin(omega * time)], axis=1)
    part = np.linalg.lstsq(columns, x, rcond=None)[0]
    return float(np.linalg.norm(part)), float(np.abs(columns @ part - x).max())


def agrees(trajectory: sg.Trajectory, scene: sg.Scene) -> None:
    """Check that energies add up, and that the audit says of all that it can what the run does."""
    assert np.abs(trajectory.certificate.energy_error).max() < 1e-13
    tree = trajectory.tree()
    tree["settings"] = {**tree["settings"], "scheme": SCHEME}
    audit = audit_tree(tree, scene=scene)
    lost = losses(trajectory.certificate.joint_work).max() / trajectory.certificate.energy_scale.max()
    wrong = {one.what for one in audit.findings if one.grade is Grade.NOT_TRUSTED}
    assert wrong == ({"energy lost in joints"} if lost > TAKEN_WRONG else set())
    assert audit.verdict == trajectory.verdict
    assert audit.unchecked == ()
    assert audit.of("laws of joints").worst < 1e-9
    assert audit.of("energy lost in joints").worst == pytest.approx(lost, rel=1e-6, abs=1e-9)


# --- oscillations ------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("steps", [20, 60])
def test_law_amplitudes_stay_for_a_hundred_periods(make: Callable[[], sg.Scene], joint: str, steps: int) -> None:
    """And energies in the middle of steps with them, so that nothing is told."""
    trajectory = run(make(), sg.MoreauJean(), steps=steps, periods=100)
    x, n = stretch(trajectory, joint), 4 * steps
    omega = 2.0 * np.arctan(np.pi / steps) * steps / (2.0 * np.pi) * OMEGA  # of the method: tan(omega' h/2) = omega h/2
    first, last = (wave(trajectory.time[part], x[part], omega)[0] for part in (slice(n), slice(-n, None)))
    assert first == pytest.approx(A, rel=0.02)
    assert last == pytest.approx(first, rel=0.01)
    certificate = trajectory.certificate
    assert np.abs(np.cumsum(certificate.joint_work)).max() < 0.01 * certificate.energy_scale.max()
    assert trajectory.remarks() == []


@EVERY
def test_law_both_steps_are_the_same_and_pass_their_audit(make: Callable[[], sg.Scene], joint: str) -> None:
    """To rounding, whether springs are soft beside the step or so stiff that their joints decide."""
    for steps in (40, 5):
        fast, slow = (run(make(), one, steps=steps, periods=3) for one in (sg.MoreauJean(), ByPython(solver=sg.NSGS())))
        np.testing.assert_allclose(stretch(fast, joint), stretch(slow, joint), rtol=0, atol=1e-12)
        scale = fast.certificate.energy_scale.max()
        np.testing.assert_allclose(fast.certificate.joint_work, slow.certificate.joint_work, rtol=0, atol=1e-12 * scale)
        agrees(fast, make())


@pytest.mark.parametrize(
    "formulation",
    [sg.MoreauJean(), ByPython(solver=sg.NSGS()), sg.StewartTrinkle()],
    ids=["fast", "python", "StewartTrinkle"],
)
@pytest.mark.parametrize(("make", "joint"), [SCENES["slide"], SCENES["distance"], SCENES["pair"]])
def test_law_the_frequency_is_that_of_the_method(make: Callable[[], sg.Scene], joint: str, formulation: Any) -> None:
    """Waves of tan(omega' h/2) = omega h/2, to rounding: the period is too long by (omega h)^2/12."""
    for steps in (10, 40):
        trajectory = run(make(), formulation, steps=steps, periods=10)
        h = 2.0 * np.pi / OMEGA / steps
        omega = 2.0 / h * np.arctan(0.5 * OMEGA * h)
        assert wave(trajectory.time, stretch(trajectory, joint), omega)[1] < 1e-10 * A
        agrees(trajectory, make())
        assert OMEGA / omega - 1.0 == pytest.approx((OMEGA * h) ** 2 / 12.0, rel=0.1)


@BOTH
def test_law_a_damper_damps_as_it_says(formulation: Any) -> None:
    """Half the error at half the step, beside the exact decay."""
    damping = 0.1 * OMEGA  # of the amplitude, a second
    errors = []
    for steps in (100, 200):
        scene = slider(mass=2.0, spring=(2.0 * OMEGA**2, A), damping=2.0 * 2.0 * damping)
        trajectory = run(scene, formulation, steps=steps, periods=3)
        omega, t = np.sqrt(OMEGA**2 - damping**2), trajectory.time
        exact = -A * np.exp(-damping * t) * (np.cos(omega * t) + damping / omega * np.sin(omega * t))
        errors.append(np.abs(stretch(trajectory, "guide") - exact).max())
        agrees(trajectory, scene)
    assert errors[0] < 0.05 * A
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1)


@BOTH
def test_law_a_swinging_wall_gives_what_its_motion_says(formulation: Any) -> None:
    """A ball on a spring from a wall that goes to and fro: energy comes from the wall alone, to the second order."""
    drift = []
    for h in (5e-3, 2.5e-3):
        scene = sg.Scene(gravity=(0, 0, 0))
        wall = scene.add_fixed(sg.Sphere(0.05), motion=lambda t: (0.05 * np.sin(7.0 * t), 0, 0), name="wall")
        scene.add_body(sg.Sphere(0.1), mass=2.0, position=(1, 0, 0), name="ball")
        scene.add_spring(wall, "ball", anchor=[(0, 0, 0), (1, 0, 0)], stiffness=200.0, damping=0.5)
        trajectory = sg.simulate(scene, duration=4.0, h=h, formulation=formulation, progress=False)
        certificate = trajectory.certificate
        drift.append(np.abs(np.cumsum(certificate.joint_work)).max() / certificate.energy_scale.max())
        agrees(trajectory, scene)
    assert drift[0] < 1e-2
    assert drift[1] < 0.3 * drift[0]


# --- steps too long ----------------------------------------------------------------


@BOTH
@EVERY
def test_law_what_is_too_stiff_comes_to_rest_and_says_so(
    make: Callable[[], sg.Scene], joint: str, formulation: Any
) -> None:
    """At thirty radians a step nothing rings or gains, and that energy is lost is told."""
    trajectory = run(make(), formulation, steps=2.0 * np.pi / 30.0, periods=100)
    x = np.abs(stretch(trajectory, joint))
    assert np.all(x[1:] < 0.02 * A)
    assert np.all(x[5:] < 1e-4 * A)
    certificate = trajectory.certificate
    assert np.sum(certificate.joint_work) == pytest.approx(-certificate.energy_scale.max(), rel=0.05)
    assert [line for line in trajectory.remarks() if line.startswith("energy lost in joints")]
    agrees(trajectory, make())


@pytest.mark.parametrize(("turn", "told"), [(0.9, False), (1.5, True)])
def test_law_a_radian_a_step_is_where_springs_begin_to_lose(turn: float, told: bool) -> None:
    trajectory = run(slide(), sg.MoreauJean(), steps=2.0 * np.pi / turn, periods=20)
    assert any(line.startswith("energy lost in joints") for line in trajectory.remarks()) is told


@BOTH
def test_law_every_mixture_of_springs_is_stable(formulation: Any) -> None:
    """Springs of all stiffnesses side by side and one after another: in the middle of steps energy never rises."""
    rng, h = np.random.default_rng(3), 0.01
    scene = sg.Scene(gravity=(0, 0, 0))
    masses = 10.0 ** rng.uniform(-1, 1, 5)
    for k, mass in enumerate(masses):
        scene.add_body(sg.Sphere(0.01), mass=mass, position=(k, 0, 0), velocity=(rng.normal(), 0, 0), name=f"b{k}")
        scene.add_joint("prismatic", None, f"b{k}", anchor=(k, 0, 0), axis=(1, 0, 0), spring=10.0 ** rng.uniform(1, 7))
    for a, b in [(0, 1), (0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 4)]:
        points, k = [(a, 0, 0), (b, 0, 0)], 10.0 ** rng.uniform(1, 7)
        scene.add_spring(f"b{a}", f"b{b}", anchor=points, stiffness=k, length=abs(b - a) + 0.1 * rng.normal())
    trajectory = sg.simulate(scene, duration=200 * h, h=h, formulation=formulation, progress=False)
    made = np.cumsum(trajectory.certificate.joint_work) / trajectory.certificate.energy_scale.max()
    assert made.max() < 1e-3
    assert made[-1] < -0.5
    agrees(trajectory, scene)


# --- contacts ----------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("length", [0.2, 0.8])
def test_law_what_rests_under_a_spring_stays(formulation: Any, length: float) -> None:
    """A box on a slope that friction holds, under a spring that pulls or pushes."""
    tilt, h = 0.2, 0.01
    scene = sg.Scene(gravity=(9.81 * np.sin(tilt), 0, -9.81 * np.cos(tilt)))
    scene.add_fixed(sg.HalfSpace(), name="slope")
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), name="box")
    scene.set_contact(friction=0.8)
    scene.add_spring(None, "box", anchor=[(0, 0, 0.6), (0, 0, 0.1)], stiffness=10.0, length=length)
    trajectory = sg.simulate(scene, duration=100 * h, h=h, formulation=formulation, progress=False)
    most = 1e-12 if formulation.solver is None else 1e-8  # the tolerance of the solver that was asked for
    assert np.abs(trajectory.q[:, -1, :3] - (0, 0, 0.1)).max() < most
    agrees(trajectory, scene)
