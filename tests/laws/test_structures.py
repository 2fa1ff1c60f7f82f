"""Structures of blocks: what can stand stands, what cannot falls, and forces are those of least norm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from benchmarks.structures import STRUCTURES, Structure, grip

import signorini as sg
from signorini._arrays import Array
from signorini.simulation.contact_table import ContactTable
from tests.scenes import GRAVITY

TOLERANCE = 1e-6  # the default
STANDING = [
    "cards_4_5ms",
    "arch_115_5ms",
    "wall_10",
    "jenga_18_taken_0",
    "jenga_18_taken_1",
    "pyramid_10",
    "cubes_2x2x10",
    "tower_24_yaw1",
    "tower_24_yaw10",
    "overhang_95",
    "lintels_3x2",
    "dolmen",
    "table",
    "table_of_parts",
    "ladder",
]
TOLD = ("bodies overlap", "collisions lost angular momentum")
FALLING = ["cards_3_slippery", "arch_100_5ms", "overhang_105", "ladder_slippery"]
H = 0.005


def displacement(structure: Structure, trajectory: sg.Trajectory) -> Array:
    """Return the largest distance of any body from where it was, over time [m]."""
    since = round(structure.since / structure.h)
    q = trajectory.q[since:, :, :3]
    if structure.of:
        row = trajectory.names.index(structure.of)
        q = q[:, row : row + 1] - q[:, [trajectory.names.index(structure.against)]]
    return np.asarray(np.linalg.norm(q - q[0], axis=2).max(axis=1))


def assert_solved_rigidly(trajectory: sg.Trajectory, *, tumbles: bool = False) -> None:
    """Every step solves the rigid law to the tolerance, and the report says so.

    Of thin cards that tumble, moving by more than they are thick in a step, it may say that they overlap.
    """
    assert trajectory.certificate.residual.max() <= TOLERANCE
    assert not trajectory.certificate.failed().any()
    np.testing.assert_array_equal(trajectory.certificate.compliance, 0.0)
    remarks = trajectory.remarks()
    if not tumbles:
        assert trajectory.verdict == "trusted"
        assert not remarks
    assert all(remark.startswith(TOLD) for remark in remarks)
    np.testing.assert_array_equal(trajectory.certificate.unfollowed, 0)


@pytest.mark.parametrize("name", STANDING)
def test_what_can_stand_stands(name: str) -> None:
    """Law (Heyman's safe theorem): where admissible forces balance the weight, nothing moves, from the first step on.

    A tolerance of 1e-6 alone would allow 1e-6 g h t^2/h = 2e-5 m in half a second.
    """
    structure = STRUCTURES[name]
    assert structure.stands
    trajectory = sg.simulate(structure.builder(), duration=0.5, h=structure.h)
    assert displacement(structure, trajectory).max() < 1e-7
    assert_solved_rigidly(trajectory)


@pytest.mark.parametrize("name", FALLING)
def test_what_cannot_stand_falls(name: str) -> None:
    """The arch of 0.100 is thinner than 0.1061 of limit analysis, cards and ladder slip, the blocks lean too far."""
    structure = STRUCTURES[name]
    assert not structure.stands
    trajectory = sg.simulate(structure.builder(), duration=0.7, h=structure.h)
    moved = displacement(structure, trajectory)
    assert moved[-1] > structure.limit
    assert_solved_rigidly(trajectory, tumbles=True)


@pytest.mark.parametrize(("name", "duration"), [("grip_2_5ms", 0.8), ("grip_4_5ms", 0.8), ("grip_2_slippery", 1.5)])
def test_grip(name: str, duration: float) -> None:
    """Two or four fingers that press with 10 N hold 0.5 kg by friction 0.5, 2 x 10 N x 0.5 > 4.9 N; by 0.2 they do not.

    The palm rises from 0.3 s on; what is held moves with it.
    """
    structure = STRUCTURES[name]
    trajectory = sg.simulate(structure.builder(), duration=duration, h=structure.h)
    moved = displacement(structure, trajectory)
    assert moved.max() < 1e-7 if structure.stands else moved[-1] > structure.limit
    assert trajectory.position("palm")[-1, 2] - trajectory.position("palm")[0, 2] > 0.05
    assert_solved_rigidly(trajectory)


@pytest.mark.parametrize("rising", [1.0, 20.0])
def test_a_grip_at_long_steps_is_trusted(rising: float) -> None:
    """What is lifted, fast or slowly, takes energy from the drive; joints give next to nothing of it.

    At h = 10 ms the work of weight alone, at velocities of ends of steps, swings by h m g v/2 = 14 mJ, a quarter
    of the energy of the motion.
    """
    trajectory = sg.simulate(grip(2, rising=rising), duration=rising + 0.5, h=0.01)
    assert trajectory.verdict == "trusted", trajectory.report()


# --- forces ------------------------------------------------------------------


class Forces(NamedTuple):
    """The contacts of a step: whose, where, along which normals, and impulses on the second body, in world axes."""

    bodies: list[str]
    point: Array
    normal: Array
    impulse: Array


def forces(table: ContactTable) -> Forces:
    impulse = table.normal_impulse[:, None] * table.normal + table.friction_impulse
    return Forces([f"{a} {b}" for a, b in table.bodies], table.point, table.normal, impulse)


def assert_same_forces(found: Forces, expected: Forces) -> None:
    """Compare contact by contact, wherever in the tables they are; to 1e-6 of the greatest."""
    assert len(found.bodies) == len(expected.bodies) > 0
    names, left = np.array(found.bodies), np.zeros(len(found.bodies))
    scale = np.abs(expected.impulse).max()
    assert scale > 0.0
    for name, x, impulse in zip(expected.bodies, expected.point, expected.impulse, strict=True):
        far = np.linalg.norm(found.point - x, axis=1) + np.where(names == name, left, np.inf)
        c = int(np.argmin(far))
        assert far[c] < 1e-6
        left[c] = np.inf
        np.testing.assert_allclose(found.impulse[c], impulse, rtol=0, atol=1e-6 * scale)


def uneven(side: float) -> sg.Scene:
    """Lay a plank on three pillars, a box and two more, one on the other, on the plank; `side` -1 is mirrored in x."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, (x, width) in enumerate([(-0.9, 0.2), (-0.1, 0.1), (0.7, 0.3)]):
        scene.add_body(sg.Box((width, 0.3, 0.5)), mass=5.0, position=(side * x, 0.0, 0.25), name=f"pillar{k}")
    scene.add_body(sg.Box((2.0, 0.3, 0.05)), mass=8.0, position=(0.0, 0.0, 0.525), name="plank")
    for name, x, y, z, yaw, mass in [
        ("box", -0.5, 0.05, 0.6, 0.0, 3.0),
        ("low", 0.3, 0.0, 0.6, 0.2, 2.0),
        ("high", 0.33, 0.01, 0.7, -0.1, 7.0),
    ]:
        turn = (float(np.cos(0.5 * yaw)), 0.0, 0.0, side * float(np.sin(0.5 * yaw)))
        scene.add_body(sg.Box((0.12, 0.1, 0.1)), mass=mass, position=(side * x, y, z), orientation=turn, name=name)
    scene.set_contact(friction=0.5)
    return scene


def test_mirrored_scene_has_mirrored_forces() -> None:
    """Law: reflection in x carries forces with it, though three pillars under a plank leave them open."""
    mirror = np.array([-1.0, 1.0, 1.0])
    one, other = (sg.simulate(uneven(side), duration=0.1, h=H) for side in (1.0, -1.0))
    for step in (0, -1):
        found = forces(other.contacts(step))
        mirrored = Forces(found.bodies, mirror * found.point, mirror * found.normal, mirror * found.impulse)
        assert_same_forces(mirrored, forces(one.contacts(step)))


@pytest.mark.parametrize(
    "name", ["arch_115_5ms", "wall_10", "jenga_18_taken_0", "pyramid_10", "tower_24_yaw10", "lintels_3x2", "table"]
)
def test_forces_at_rest_do_not_wander(name: str) -> None:
    """Law: of many admissible forces always the same: after one second those after a tenth."""
    structure = STRUCTURES[name]
    trajectory = sg.simulate(structure.builder(), duration=1.0, h=structure.h)
    early = round(0.1 / structure.h) - 1
    assert_same_forces(forces(trajectory.contacts(-1)), forces(trajectory.contacts(early)))


@pytest.mark.parametrize("name", ["cards_4_5ms", "cubes_2x2x10"])
def test_same_contacts_have_the_same_forces(name: str) -> None:
    """Law: least impulses have no history. Where edge lies on edge, rounding decides between two normals in each step.

    Forces differ then; but whenever all normals are again what they were, so are the forces.
    """
    structure = STRUCTURES[name]
    trajectory = sg.simulate(structure.builder(), duration=1.0, h=structure.h)
    met: dict[bytes, Forces] = {}
    again = 0
    for step in range(trajectory.step_count):
        now = forces(trajectory.contacts(step))
        key = (np.round(now.normal, 6) + 0.0).tobytes()  # + 0.0: no negative zeros
        if key in met:
            again += 1
            scale = np.abs(now.impulse).max()
            np.testing.assert_allclose(now.impulse, met[key].impulse, rtol=0, atol=1e-6 * scale)
        met.setdefault(key, now)
    assert again > 20


def symmetric_table(*, joined: bool) -> sg.Scene:
    """Return a table of 20 kg without load, legs at (+-0.5, +-0.3)."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    board, leg = sg.Box((1.2, 0.8, 0.04)), sg.Box((0.06, 0.06, 0.7))
    feet = [(x, y) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    if joined:
        legs = [leg.at(position=(x, y, -0.37)) for x, y in feet]
        scene.add_body([board.at(position=(0.0, 0.0, 0.0)), *legs], mass=20.0, position=(0, 0, 0.72), name="table")
    else:
        for k, (x, y) in enumerate(feet):
            scene.add_body(leg, mass=1.5, position=(x, y, 0.35), name=f"leg{k}")
        scene.add_body(board, mass=14.0, position=(0, 0, 0.72), name="board")
    scene.set_contact(friction=0.4)
    return scene


@pytest.mark.parametrize("joined", [True, False])
def test_four_legs_carry_equal_forces(*, joined: bool) -> None:
    """Law: statics leaves one force of a table with four legs open; by symmetry each carries a quarter of 20 kg."""
    trajectory = sg.simulate(symmetric_table(joined=joined), duration=0.5, h=H)
    for step in (0, -1):
        carried: dict[tuple[bool, bool], float] = {}
        now = forces(trajectory.contacts(step))
        for names, point, impulse in zip(now.bodies, now.point, now.impulse, strict=True):
            if "floor" in names:
                leg = bool(point[0] > 0.0), bool(point[1] > 0.0)
                carried[leg] = carried.get(leg, 0.0) + abs(float(impulse[2]))
        np.testing.assert_allclose(list(carried.values()), [5.0 * GRAVITY * H] * 4, rtol=1e-6)


@pytest.mark.parametrize("fixed", [True, False], ids=["fixed walls", "free walls"])
def test_a_box_that_fits_exactly_between_walls_is_held(*, fixed: bool) -> None:
    """Law: a solution that holds contacts at rest is taken before one that slips, though to fall is a solution, too."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for side in (-1, 1):
        place = (0.4 * side, 0, 0.5)
        if fixed:
            scene.add_fixed(sg.Box((0.5, 0.5, 1.0)), position=place, name=f"wall {side}")
        else:
            scene.add_body(sg.Box((0.5, 0.5, 1.0)), mass=100.0, position=place, name=f"wall {side}")
    scene.add_body(sg.Box((0.3, 0.3, 0.3)), mass=1.0, position=(0, 0, 0.6), name="box")
    scene.set_contact(friction=0.6)
    trajectory = sg.simulate(scene, duration=0.5, h=0.01)
    assert_solved_rigidly(trajectory)
    assert np.abs(trajectory.position("box") - (0, 0, 0.6)).max() < 1e-9


def test_a_box_in_free_fall_beside_a_wall_is_not_held() -> None:
    """One wall alone can press on nothing: g t^2/2."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.Box((0.5, 0.5, 4.0)), position=(0.4, 0, 0), name="wall")
    scene.add_body(sg.Box((0.3, 0.3, 0.3)), mass=1.0, position=(0, 0, 0.6), name="box")
    scene.set_contact(friction=0.6)
    h, steps = 0.01, 30
    z = sg.simulate(scene, duration=steps * h, h=h).position("box")[-1, 2]
    assert z == pytest.approx(0.6 - 0.5 * GRAVITY * h * h * steps * (steps + 1), rel=1e-9)  # of the scheme


@pytest.mark.parametrize("how", ["motor", "force"])
def test_jaws_at_the_limit_of_their_motors_press_evenly(how: str) -> None:
    """Law: eight corners carry F/4 each, whether motors at their limit press or forces of the same size."""
    effort, mass = 50.0, 1.0
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.set_contact(friction=0.8)
    for side in (-1, 1):
        name = f"jaw {side}"
        scene.add_body(sg.Box((0.02, 0.05, 0.1)), mass=0.3, position=(0.03 * side, 0, 0), name=name)
        drive: dict[str, Any] = {"motion": lambda t: 0.05, "effort_limit": effort} if how == "motor" else {}
        scene.add_joint("prismatic", None, name, anchor=(0.03 * side, 0, 0), axis=(-side, 0, 0), **drive)
        if how == "force":
            scene.add_force(name, force=(-side * effort, 0, 0))
    scene.add_body(sg.Box((0.04, 0.04, 0.06)), mass=mass, position=(0, 0, 0.01), name="object")
    trajectory = sg.simulate(scene, duration=1.0, h=0.01)
    assert_solved_rigidly(trajectory)
    assert np.abs(trajectory.position("object") - (0, 0, 0.01)).max() < 1e-9
    normal = trajectory.contacts(-1).normal_impulse / 0.01
    np.testing.assert_allclose(normal[normal > 1e-6], effort / 4, rtol=1e-6)
