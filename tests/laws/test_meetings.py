"""Contacts that happen: what is not touched does not move, and nothing passes through anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.distance_judge import SOLIDS, support
from benchmarks.random_shots import STEPS, judge, shot

import signorini as sg
from signorini.math.rotation import matrix
from signorini.scene import compile_scene
from tests.by_python.step import ByPython
from tests.scenes import GRAVITY

HULL = sg.ConvexHull([(0.5, 0, 0), (-0.5, 0, 0), (0, 0.5, 0), (0, -0.5, 0), (0, 0, 0.5), (0, 0, -0.5)])
TARGETS: dict[str, Any] = {
    "sphere": sg.Sphere(0.5),
    "box": sg.Box((1.0, 1.0, 1.0)),
    "hull": HULL,
    "capsule": sg.Capsule(0.5, 1.0),
    "cylinder": sg.Cylinder(0.5, 1.0),
}


def passing(target: Any, speed: float, spare: float, **bullet: Any) -> sg.Scene:
    """Return a body whose top is at most 0.5 above the middle of its side, and a bullet that flies over it."""
    scene = sg.Scene(gravity=(0, 0, 0))
    reach = 0.5 if not isinstance(target, sg.Capsule) else 1.0
    scene.add_body(target, mass=10.0, position=(0, 0, 0), name="target")
    start = (-1.0 - 0.37 * speed * 0.002, 0.0, reach + spare + 0.03)
    scene.add_body(sg.Sphere(0.03), mass=1.0, position=start, velocity=(speed, 0, 0), name="bullet", **bullet)
    return scene


@pytest.mark.parametrize("h", [0.01, 0.002])
@pytest.mark.parametrize("speed", [20.0, 300.0, 1000.0])
@pytest.mark.parametrize("name", TARGETS)
def test_what_is_not_touched_does_not_move(name: str, speed: float, h: float) -> None:
    """Law: no impulse without touch; not the last bit of any velocity changes."""
    for spare in (1e-3, 0.1, 1.0):
        scene = passing(TARGETS[name], speed, spare)
        trajectory = sg.simulate(scene, duration=max(4 * h, h * round(3.0 / speed / h)), h=h)
        np.testing.assert_array_equal(trajectory.v[:, 0], 0.0)
        np.testing.assert_array_equal(
            trajectory.v[:, 1], np.broadcast_to([speed, 0, 0, 0, 0, 0], (len(trajectory.v), 6))
        )


def test_steps_in_python_do_not_feel_it_either() -> None:
    trajectory = sg.simulate(passing(TARGETS["box"], 300.0, 0.1), duration=0.03, h=0.01, formulation=ByPython())
    np.testing.assert_array_equal(trajectory.v[:, 0], 0.0)


@pytest.mark.parametrize("spin", [100.0, 250.0])
@pytest.mark.parametrize("spare", [1e-3, 0.05])
def test_a_rotor_above_a_floor_turns_on(spin: float, spare: float) -> None:
    """Law: its reach, half a diagonal, ends above the floor, so its momentum stays what it is."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace())
    half = 0.5 * float(np.hypot(1.0, 0.1))
    scene.add_body(
        sg.Box((1.0, 0.1, 0.1)), mass=1.0, position=(0, 0, half + spare), angular_velocity=(0, spin, 0), name="rotor"
    )
    trajectory = sg.simulate(scene, duration=1.0, h=0.01)
    np.testing.assert_allclose(trajectory.v[-1, 1], [0, 0, 0, 0, spin, 0], rtol=0, atol=1e-11 * spin)


def test_a_pile_beside_the_path_rests() -> None:
    """Law: what rests is not stirred by what passes; it moves by no more than the tolerance allows."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace())
    for k in range(4):
        scene.add_body(sg.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.05 + 0.1 * k), name=f"box {k}")
    scene.set_contact(friction=0.5)
    scene.add_body(sg.Sphere(0.02), mass=0.1, position=(-2.7, 0.13, 0.25), velocity=(400.0, 0, 0), name="bullet")
    trajectory = sg.simulate(scene, duration=0.1, h=0.002)
    assert np.abs(trajectory.v[:, 1:5]).max() <= 1e-6 * GRAVITY * 0.002
    np.testing.assert_array_equal(trajectory.v[:, 5, :2], np.broadcast_to([400.0, 0.0], (len(trajectory.v), 2)))


@pytest.mark.parametrize("where", [2.0, 2.25, 2.5, 2.75])
def test_a_hinged_blade_meets_a_post(where: float) -> None:
    """A blade on a hinge that turns by a radian a step stops at a post that stands in its way, wherever that is."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Cylinder(0.02, 1.0), position=(0.6 * np.cos(where), 0.6 * np.sin(where), 0.0), name="post")
    blade = scene.add_body(
        sg.Box((1.0, 0.02, 0.1)), mass=1.0, position=(0.5, 0, 0), velocity=(0, 50.0, 0), angular_velocity=(0, 0, 100.0)
    )
    scene.add_joint("revolute", None, blade, anchor=(0, 0, 0), axis=(0, 0, 1))
    trajectory = sg.simulate(scene, duration=0.1, h=0.01)
    w, _, _, z = trajectory.orientation(blade.name).T
    angle = np.unwrap(2.0 * np.arctan2(z, w))
    assert angle.max() < where + 0.05
    # The hinge drifts while the blade turns so far in a step; taken back, that moves the blade away from the post.
    assert np.abs(trajectory.angular_velocity(blade.name)[-1]).max() < 5.0


# --- what passes slowly --------------------------------------------------------


def passing_slowly(seed: int) -> sg.Scene:
    """Return a body that passes another of its size by less than half of it in a step of 0.01 s, and rebounds.

    The supports of both along a normal to the way are apart by a thousandth to a tenth, wherever they are on it.
    """
    rng, kinds = np.random.default_rng(seed), [kind for kind in SOLIDS if kind != "half_space"]
    scene, shapes = sg.Scene(gravity=(0, 0, 0)), [SOLIDS[kinds[rng.integers(len(kinds))]](rng) for _ in range(2)]
    turned, v = rng.standard_normal((2, 4)), rng.standard_normal(3)
    turned /= np.linalg.norm(turned, axis=1)[:, None]
    n = np.cross(v, rng.standard_normal(3))
    n /= np.linalg.norm(n)
    v *= rng.uniform(1.0, 20.0) / np.linalg.norm(v)
    poses = np.hstack([np.zeros((2, 3)), turned])
    clear = support(shapes[0], poses[0], n) + support(shapes[1], poses[1], -n)
    place = (clear + 10 ** rng.uniform(-3, -1)) * n - rng.uniform(1.0, 4.0) * 0.01 * v
    if rng.random() < 0.5:
        scene.add_fixed(shapes[0], orientation=turned[0], name="other")
    else:
        scene.add_body(shapes[0], mass=2.0, position=(0, 0, 0), orientation=turned[0], name="other")
    scene.add_body(shapes[1], mass=1.0, position=place, orientation=turned[1], velocity=v, name="body")
    scene.set_contact(friction=float(rng.choice([0.0, 0.5])), restitution=float(rng.choice([0.0, 0.3, 0.8, 1.0])))
    return scene


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_what_passes_slowly_feels_nothing(first: int) -> None:
    """Law: no impulse without touch, whatever the restitution; not the last bit of any velocity changes."""
    for seed in range(first, first + 20):
        trajectory = sg.simulate(passing_slowly(seed), duration=0.08, h=0.01)
        assert trajectory.verdict == "trusted"
        np.testing.assert_array_equal(trajectory.v, np.broadcast_to(trajectory.v[0], trajectory.v.shape))


# --- shots -------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_nothing_is_shot_through(first: int) -> None:
    """Law: on the way of a step no bodies overlap by a hundredth of the thinner one, and the certificate says so.

    What meets on the ways without contact feels it, what does not does not, and bodies that feel nothing keep their
    angular momentum. Of ten shots some hit.
    """
    judged = [judge(seed) for seed in range(first, first + 10)]
    assert not any(shot.wrong for shot in judged)
    assert any(shot.hit for shot in judged)


TUMBLING = [149, 153, 928, 1077, 1143, 1168]  # that meet in flight, where they would go another way once touched
SINKING = [723, 1163, 20168]  # turning bodies of which a corner dips into the target and out again
REBOUNDING = [1834, 1929]  # that rebound at one end, and meet with another that parted before


EVENLY = [619, 772, 995]  # that do not meet any more once they turn evenly


def energy_of_even_turns(scene: sg.Scene, run: sg.Trajectory, step: int) -> float:
    """Return what the shot gained in a step if it kept its momentum L, turning from R to S [J].

    That is L.(J(S)^-1 - J(R)^-1) L / 2.
    """
    inertia, b = compile_scene(scene).arrays.inertia, run.names.index("shot")
    R, S = (np.array(matrix(tuple(run.q[k, b, 3:]))).reshape(3, 3) for k in (step, step + 1))
    spin = run.v[step + 1, b, 3:]
    L = S @ inertia[b] @ S.T @ spin
    return float(0.5 * (L @ spin - L @ np.linalg.solve(R @ inertia[b] @ R.T, L)))


@pytest.mark.parametrize("formulation", [sg.MoreauJean(), ByPython()])
def test_the_energy_of_even_turns_is_told(formulation: sg.MoreauJean) -> None:
    """It is accounted for, and told as a part of the energy of the motion."""
    turned = 0
    for seed in EVENLY:
        scene, h = shot(seed)
        run = sg.simulate(scene, duration=STEPS * h, h=h, formulation=formulation)
        assert run.certificate.energy_error.max() < 1e-10
        for step in np.flatnonzero(run.certificate.turned_energy):
            expected = abs(energy_of_even_turns(scene, run, int(step))) / run.certificate.energy_moving[step]
            assert run.certificate.turned_energy[step] == pytest.approx(expected, rel=1e-6)
            turned += 1
    assert turned > 0


STOPPED = [7, 119]  # that tumble so far that no contact where they meet keeps them out


@pytest.mark.parametrize("seed", TUMBLING + SINKING + REBOUNDING + STOPPED)
def test_nothing_is_shot_through_that_once_was(seed: int) -> None:
    assert not judge(seed).wrong


@pytest.mark.parametrize("seed", [153, 160, 199])
def test_what_feels_nothing_keeps_its_angular_momentum(seed: int) -> None:
    """Law: a flight does not end because something may be met; these once turned L by 0.35, 0.35 and 0.66 of it."""
    assert judge(seed).lost < 1e-12


# --- shadows -----------------------------------------------------------------


SWEEPS: dict[str, Any] = {
    "tanh": lambda t: (np.tanh((t - 0.105) / 0.003), 0.0, 0.0),
    "cosine": lambda t: (-np.cos(2.0 * np.pi * 30.0 * min(t, 0.5 / 30.0)), 0.0, 0.0),
    "jump": lambda t: (-1.0 if t < 0.05 else 1.0, 0.0, 0.0),
}


@pytest.mark.parametrize("formulation", [sg.MoreauJean(), ByPython()], ids=["compiled", "python"])
@pytest.mark.parametrize("name", SWEEPS)
def test_what_a_prescribed_body_sweeps_over_is_swept_along(name: str, formulation: sg.MoreauJean) -> None:
    """The plate is at rest where the step begins in which it passes the ball, or nearly so."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Box((0.05, 1, 1)), motion=SWEEPS[name], name="plate")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="ball")
    with pytest.warns(sg.SceneWarning):
        run = sg.simulate(scene, duration=0.15, h=0.01, formulation=formulation)
    plate, ball = run.position("plate")[-1, 0], run.position("ball")[-1, 0]
    assert ball - plate > 0.12


@pytest.mark.parametrize("seed", range(10))
def test_a_target_in_the_shadow_of_a_shield_is_not_struck(seed: int) -> None:
    """Law: what a shield turns away does not reach what stands behind it, however the two faces are turned."""
    rng = np.random.default_rng(seed)
    h, speed, tilt, turned = 0.01, rng.uniform(200.0, 600.0), rng.uniform(0.3, 1.2), rng.uniform(0.0, 3.0)
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Box((0.02, 2.0, 2.0)), orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0), name="shield")
    scene.add_body(
        sg.Box((0.1, 0.3, 0.3)),
        mass=1.0,
        position=(rng.uniform(1.2, 1.6), 0, 0),
        orientation=(np.cos(turned / 2), 0, np.sin(turned / 2), 0),
        name="target",
    )
    start = (-max(1.0, 0.5 * speed * h), 0, 0)
    scene.add_body(sg.Sphere(0.03), mass=1.0, position=start, velocity=(speed, 0, 0), name="bullet")
    scene.set_contact(friction=float(rng.choice([0.0, 0.3, 0.8])), restitution=float(rng.choice([0.0, 0.5])))
    trajectory = sg.simulate(scene, duration=3 * h, h=h)
    assert np.ptp(trajectory.v[:, 2, 0]) > 1.0
    np.testing.assert_array_equal(trajectory.v[:, 1], 0.0)


# --- tiles -------------------------------------------------------------------


def tiled(what: str, seed: int, restitution: float, *, free: bool) -> tuple[sg.Scene, float]:
    """Return something that slides or rolls over flush tiles, which lie on a floor or are fixed; and how fast it is."""
    rng = np.random.default_rng(seed)
    scene, size, thick, speed = sg.Scene(), rng.uniform(0.2, 0.6), 0.1, rng.uniform(1.0, 6.0)
    if free:
        scene.add_fixed(sg.HalfSpace(), position=(0, 0, -thick), name="ground")
    for k in range(int(4.0 / size)):
        tile, place = sg.Box((size, 2.0, thick)), (k * size, 0, -thick / 2)
        if free:
            scene.add_body(tile, mass=20.0, position=place, name=f"tile {k}")
        else:
            scene.add_fixed(tile, position=place, name=f"tile {k}")
    yaw, d = rng.uniform(-0.5, 0.5), rng.uniform(0.05, 0.25, 3)
    if what == "box":
        scene.add_body(
            sg.Box(tuple(d)),
            mass=1.0,
            position=(0, 0, d[2] / 2),
            orientation=(np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)),
            velocity=(speed, 0, 0),
            name="what",
        )
    else:
        r = d[0]
        scene.add_body(
            sg.Sphere(r) if what == "ball" else sg.Cylinder(r, 0.3),
            mass=1.0,
            position=(0, 0, r),
            orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0),
            velocity=(speed, 0, 0),
            angular_velocity=(0, speed / r, 0),
            name="what",
        )
    scene.set_contact(friction=0.0 if what == "box" else 0.5, restitution=restitution)
    return scene, float(speed)


@pytest.mark.parametrize("free", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("h", [0.01, 0.002])
@pytest.mark.parametrize("what", ["box", "ball", "cylinder"])
def test_seams_of_flush_tiles_are_not_felt(what: str, h: float, *, free: bool) -> None:
    """Law: without friction, or rolling, nothing slows down on a plane, be it of one piece or of tiles.

    Tiles count as flush, and bodies as in touch, to a ten thousandth of their widths: such a slope may be felt.
    """
    for seed in range(4):
        scene, speed = tiled(what, seed, [0.0, 0.6][seed % 2], free=free)
        trajectory = sg.simulate(scene, duration=h * round(min(0.5, 3.0 / speed) / h), h=h)
        v = trajectory.v[:, -1]
        assert trajectory.q[-1, -1, 0] > 0.6  # over a seam at least
        assert abs(v[-1, 0] / speed - 1.0) <= 1e-3
        assert np.abs(v[:, 2]).max() <= 5e-3 * speed
