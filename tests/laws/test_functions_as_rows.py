"""Constraints by functions in the compiled step: the same law as the functions of Python, from the same states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import signorini as sg
from tests.oracle import compare

Add = Callable[[sg.Scene], Any]
LENGTH = float(np.linalg.norm([0.25, 0.02, 0.1]))


def rod(scene: sg.Scene) -> None:
    """Hold two balls at their distance."""
    scene.add_constraint(lambda q, t: np.linalg.norm(q[7:10] - q[:3]) - LENGTH, ["ball 1", "ball 2"])


def scales(scene: sg.Scene) -> None:
    """Hold three balls by two equations, one of which moves in time."""

    def psi(q: Any, t: float) -> list[float]:
        return [q[0] + q[7] - 2.0 * q[14] + 1.25, q[2] + 0.1 * t - q[9] + 0.1]

    scene.add_constraint(psi, ["ball 0", "ball 1", "ball 3"])


def rope(scene: sg.Scene) -> None:
    """Let three balls be no farther from each other, all together, than a rope is long, which breathes."""

    def psi(q: Any, t: float) -> float:
        a, b, c = q[:3], q[7:10], q[14:17]
        way = np.linalg.norm(b - a) + np.linalg.norm(c - b)
        return float(0.53 + 0.02 * np.sin(20.0 * t) - way)

    scene.add_constraint(psi, ["ball 0", "ball 1", "ball 2"], kind="inequality")


def ramp(scene: sg.Scene) -> None:
    """Keep a ball that nothing else holds above a curved ramp and behind a wall."""

    def psi(q: Any, t: float) -> list[float]:
        return [q[2] - 0.18 - 0.3 * q[0] * q[1] + 0.05 * t, q[1] - 0.058]

    scene.add_constraint(psi, ["ball 3"], kind="inequality")


def hinge(scene: sg.Scene) -> None:
    """Join two balls, between limits."""
    words: dict[str, Any] = {"axis": (0, 1, 0), "limits": (-0.05, 0.1)}
    scene.add_joint("revolute", "ball 0", "ball 1", anchor=(0.125, 0, 0.15), **words)


def balls(*things: Add, restitution: float = 0.0) -> sg.Scene:
    """Four balls that fall on a floor, turning."""
    scene = sg.Scene(gravity=(0.3, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(4):
        scene.add_body(
            sg.Sphere(0.1),
            mass=1.0 + k,
            position=(0.25 * k, 0.02 * k, 0.1005 + 0.1 * (k % 2)),
            velocity=(0, 0.5, -0.3),
            angular_velocity=(0, 2, 0),
            name=f"ball {k}",
        )
    for add in things:
        add(scene)
    scene.set_contact(friction=0.3, restitution=restitution)
    return scene


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"theta": 0.5},
        {"projection": True},
        {"restitution_law": "poisson"},
        {"restitution_law": "newton", "gyroscopic": "implicit"},
        {"solver": sg.FrictionAuto()},
    ],
    ids=lambda options: "-".join(map(str, options)) or "default",
)
@pytest.mark.parametrize(
    "things",
    [(rod,), (scales,), (rope,), (ramp,), (hinge, rod), (hinge, scales, ramp)],
    ids=lambda things: "-".join(add.__name__ for add in things),
)
def test_every_step_is_that_of_the_functions(things: tuple[Add, ...], options: dict[str, Any]) -> None:
    scene = balls(*things, restitution=0.5 if "restitution_law" in options else 0.0)
    compared = compare(scene, options, 10)
    assert compared.steps >= 8
    assert compared.pressed > 0
    assert compared.worst <= 1e-9


def test_reports_and_energies_are_those_of_the_functions() -> None:
    compared = compare(balls(hinge, rod, ramp), {}, 10, accounts=True)
    assert compared.steps >= 8
    assert compared.worst <= 1e-8


def test_what_a_function_raises_is_raised_by_the_step() -> None:
    """At the step, and not lost in compiled code; a run from before goes on."""

    def psi(q: Any, t: float) -> float:
        if 0.0155 < t < 0.5:
            raise KeyError("mine")
        return float(q[2] - 1.0)

    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 1), name="ball")
    scene.add_constraint(psi, ["ball"])
    simulator = sg.Simulator(scene, h=0.001)
    assert simulator.run(8) == 0
    before = simulator.snapshot()
    with pytest.raises(KeyError, match="mine"):
        simulator.run(10)
    simulator.restore(before)
    simulator.step()
    assert simulator.state.q[0, 2] == pytest.approx(1.0, abs=1e-12)


def test_a_ball_beside_overlaps_that_no_constraint_concerns() -> None:
    """Overlapping bodies that no function holds are displaced, as ever: they gain no velocity."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 1), name="held")
    scene.add_constraint(lambda q, t: q[2] - 1.0, ["held"])
    for k in range(2):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0.199 * k, 0, 3), name=f"free {k}")
    simulator = sg.Simulator(scene, h=0.002)
    simulator.step()
    assert not simulator.state.v.any()
    assert simulator.state.q[2, 0] - simulator.state.q[1, 0] > 0.199


def test_a_dead_centre_is_held() -> None:
    """Two bodies on a hinge, held as far apart as it lets them be: reactions grow, rows are met, nothing tears."""
    scene = sg.Scene(gravity=(0.3, 0, -9.81))
    for k in range(2):
        words: dict[str, Any] = {"velocity": (0.2, 0.1, 0.5 * k), "angular_velocity": (0.3, 1.0 - 2.0 * k, 0.2)}
        scene.add_body(sg.Sphere(0.1), mass=1.0 + k, position=(0.25 * k, 0, 1), name=f"ball {k}", **words)
    scene.add_joint("revolute", "ball 0", "ball 1", anchor=(0.125, 0, 1), axis=(0, 1, 0))
    scene.add_constraint(lambda q, t: np.linalg.norm(q[7:10] - q[:3]) - 0.25, ["ball 0", "ball 1"])
    run = sg.simulate(scene, duration=0.2, h=0.002)
    q = run.q[-1]
    assert np.linalg.norm(q[1, :3] - q[0, :3]) == pytest.approx(0.25, abs=1e-4)
    fall = 1.0 - 0.5 * 9.81 * 0.2**2 + 0.2 * 2.0 / 3.0 * 0.5  # of the common centre
    assert (q[0, 2] + 2.0 * q[1, 2]) / 3.0 == pytest.approx(fall, abs=9.81 * 0.2 * 0.002)
    assert run.certificate.verdict != "not trusted"
    assert np.isfinite(q).all()
