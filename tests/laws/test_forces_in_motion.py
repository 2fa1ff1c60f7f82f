"""Forces of bodies that slide on: Coulomb's law leaves them open, those of least norm are taken, whatever the start."""

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.engine import arrays as ea

G, H, MU = 9.81, 0.005, 0.3
SAME = 1e-6  # of the weight's impulse: what different starts may differ by


def floor() -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=MU)
    return scene


def sliding_box(**motion: Any) -> sg.Scene:
    scene = floor()
    scene.add_body(sg.Box(size=(0.4, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.1), name="box", **motion)
    return scene


def table() -> sg.Scene:
    scene = floor()
    feet = [sg.Sphere(radius=0.05).at((x, y, -0.3)) for x in (-0.5, 0.5) for y in (-0.4, 0.4)]
    scene.add_body(
        [sg.Box(size=(1.2, 1.0, 0.05)), *feet],
        mass=10.0,
        mass_centre=(0, 0, 0),
        inertia=np.diag([1.0, 1.5, 2.0]),
        position=(0, 0, 0.35),
        velocity=(2, 0, 0),
        angular_velocity=(0, 0, 1),
        name="table",
    )
    return scene


def loaded_plank() -> sg.Scene:
    """Three boxes ride on a plank that slides: contacts that hold upon contacts that slip."""
    scene = floor()
    scene.add_body(sg.Box(size=(1.5, 0.4, 0.1)), mass=3.0, position=(0, 0, 0.05), velocity=(1.5, 0, 0), name="plank")
    for k, name in enumerate("abc"):
        x = 0.5 * (k - 1)
        box = sg.Box(size=(0.2, 0.2, 0.2))
        scene.add_body(box, mass=1.0 + k, position=(x, 0, 0.2), velocity=(1.5, 0, 0), name=name)
        scene.set_contact(friction=0.9, between=("plank", name))
    return scene


SCENES = {
    "box": lambda: sliding_box(velocity=(1, 0, 0)),
    "turning box": lambda: sliding_box(velocity=(0.6, 0.8, 0), angular_velocity=(0, 0, 2)),
    "table": table,
    "plank": loaded_plank,
}


def impulses_from(scene: sg.Scene, start: str, steps: int = 6) -> Array:
    """Return the impulses of the last of some steps, whose guess was replaced before it."""
    simulator = sg.Simulator(scene, h=H)
    engine = simulator.engine
    assert engine is not None
    simulator.run(steps - 1)
    guess = engine.arena[ea.IMPULSE][: int(engine.arena[ea.COUNTS][ea.OLD])]
    if start == "nothing":
        guess *= 1e-9  # not zero, which would tell the gap law that the box did not touch
    elif start == "uneven":
        guess *= np.linspace(0.2, 1.8, len(guess))[:, None]
    elif start == "diagonal":  # four corners: what twists the box is held by nothing and does nothing
        guess[:, 0] += 0.1 * guess[:, 0].mean() * np.resize([1.0, -1.0, -1.0, 1.0], len(guess))
    simulator.run(1)
    assert engine.check[ea.SUCCESS] == 1.0
    impulses: Array = engine.arena[ea.IMPULSE][: int(engine.arena[ea.COUNTS][ea.SEEN])].copy()
    return impulses


@pytest.mark.parametrize("start", ["nothing", "uneven", "diagonal"])
@pytest.mark.parametrize("name", ["box", "turning box", "table", "plank"])
def test_impulses_in_motion_do_not_depend_on_the_guess(name: str, start: str) -> None:
    scene = SCENES[name]()
    usual, other = impulses_from(scene, "usual"), impulses_from(scene, start)
    assert np.count_nonzero(usual[:, 0]) >= 4
    np.testing.assert_allclose(other, usual, rtol=0.0, atol=SAME * usual[:, 0].sum())


def test_a_sliding_box_presses_evenly_left_and_right_and_more_in_front() -> None:
    """Friction mu m g at the floor turns the box forward: N = m g (1 +- mu z/x) / 4 at corners x from its middle."""
    p = impulses_from(sliding_box(velocity=(1, 0, 0)), "usual")
    weight = 2.0 * G * H
    tilt = MU * 0.1 / 0.2
    np.testing.assert_allclose(np.sort(p[:, 0]), weight / 4 * (1 + tilt * np.array([-1, -1, 1, 1])), rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(p[:, 1:], axis=1), MU * p[:, 0], rtol=1e-9)


@pytest.mark.parametrize("mass", [1.03, 1.2, 2.0])
@pytest.mark.parametrize("h", [0.01, 0.001])
def test_what_slips_from_a_symmetric_clamp_slides_straight_down(mass: float, h: float) -> None:
    """Fingers that guides hold leave open where they press; the limit of equal stiffness is even pressure.

    Then friction is 2 mu F, and the box falls with m g - 2 mu F, without turning.
    """
    scene = sg.Scene()
    scene.add_body(sg.Box((0.1, 0.1, 0.1)), mass=mass, position=(0, 0, 1), name="box")
    for side in (-1, 1):
        finger = f"finger {side}"
        scene.add_body(sg.Box((0.02, 0.05, 0.05)), mass=0.2, position=(0.06 * side, 0, 1), name=finger)
        scene.add_joint("prismatic", None, finger, anchor=(0.06 * side, 0, 1), axis=(1, 0, 0))
        scene.add_force(finger, force=(-10.0 * side, 0, 0))
    scene.set_contact(friction=0.5)
    run = sg.simulate(scene, duration=0.1, h=h)
    assert run.linear_velocity("box")[-1] == pytest.approx([0, 0, -(mass * 9.81 - 10.0) / mass * 0.1], abs=1e-8)
    assert np.abs(run.angular_velocity("box")).max() < 1e-7
    log = run.contact_log
    assert log.impulse[: log.start[1], 0] / h == pytest.approx(np.full(8, 2.5), rel=1e-6)


@pytest.mark.parametrize("mu", [0.02, 0.1, 0.2])
@pytest.mark.parametrize("planar", [True, False])
def test_least_forces_in_a_groove(mu: float, planar: bool) -> None:
    """Walls at 45 degrees: ``N + T = m g / sqrt 2`` on each, and ``N^2 + T^2`` is least where ``T = mu N``."""
    r = np.sqrt(0.5)
    scene = sg.Scene(planar=planar, gravity=(0, -G) if planar else (0, 0, -G))
    for name, side in (("left", r), ("right", -r)):
        scene.add_fixed(sg.HalfSpace(normal=(side, r) if planar else (side, 0, r)), name=name)
    if planar:
        scene.add_body(sg.Disc(0.1), mass=1.0, position=(0, 0.1 / r), name="ball")
    else:
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1 / r), name="ball")
    scene.set_contact(friction=mu)
    contacts = sg.simulate(scene, duration=0.1, h=H).contacts(-1)
    np.testing.assert_allclose(contacts.normal_impulse, H * G * r / (1.0 + mu), rtol=SAME)
    np.testing.assert_allclose(
        np.linalg.norm(contacts.friction_impulse, axis=1), mu * contacts.normal_impulse, rtol=SAME
    )
