"""Accelerations and contact forces of scenes against Newton's laws written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.analysis import Accelerations, Answer, ForceMode
from signorini.reproduce.s1_instantaneous import rod_scene, sphere_on_incline
from signorini.scene import compile_scene
from tests.scenes import GRAVITY, box_on_slope, rough_sphere


def disc_on_floor(velocity: tuple[float, float] = (0.0, 0.0), spin: float = 0.0, friction: float = 0.5) -> sg.Scene:
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(1.0), mass=2.0, position=(0, 1), velocity=velocity, angular_velocity=spin, name="disc")
    scene.set_contact(friction=friction)
    return scene


def test_a_sliding_sphere() -> None:
    """S1, section 7.1: vdot_x = -mu g, omegadot_y = 5/2 mu g."""
    found = sg.accelerations(rough_sphere())
    assert found.status is sg.Status.SOLVED
    assert found.linear_acceleration("ball") == pytest.approx([-0.2 * GRAVITY, 0, 0], abs=1e-12)
    assert found.angular_acceleration("ball") == pytest.approx([0, 0.5 * GRAVITY, 0], abs=1e-12)
    assert found.only.force[0] == pytest.approx([GRAVITY, -0.2 * GRAVITY, 0], abs=1e-12)
    assert found.only.mode == (ForceMode.SLIP,)
    assert np.isnan(found.only.slip_rate[0])


def test_a_rolling_ball_needs_no_friction() -> None:
    scene = disc_on_floor((3.0, 0.0), -3.0)
    found = sg.accelerations(scene)
    assert found.only.mode == (ForceMode.STICK,)
    assert found.only.force[0] == pytest.approx([2.0 * GRAVITY, 0, 0], abs=1e-9)
    assert found.linear_acceleration("disc") == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_given_state_and_a_given_tolerance_of_rest() -> None:
    """The disc moves at 0.001 m/s: it slides, unless that speed counts as rest."""
    model = compile_scene(disc_on_floor())
    state = model.initial_state.copy()
    state.v[1, 0] = 1e-3
    assert sg.accelerations(model, state).only.mode == (ForceMode.SLIP,)
    assert sg.accelerations(model, state, still=2e-3).only.mode == (ForceMode.STICK,)


def test_a_ball_on_an_accelerated_floor() -> None:
    """The floor is pulled at 7 m/s^2: rolling means a = 2/7 of that, with friction 2 m 7 / 7 = 2 m."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), motion=lambda t: (3.5 * t * t, 0, 0), name="floor")
    scene.add_body(sg.Sphere(1.0), mass=1.0, position=(0, 0, 1), name="ball")
    scene.set_contact(friction=0.5)
    found = sg.accelerations(scene)
    assert found.linear_acceleration("ball") == pytest.approx([2.0, 0, 0], abs=1e-6)
    assert found.angular_acceleration("ball") == pytest.approx([0, -5.0, 0], abs=1e-6)
    assert found.linear_acceleration("floor") == pytest.approx([7.0, 0, 0], abs=1e-6)


@pytest.mark.parametrize(("speed", "mode"), [(3.0, ForceMode.SLIP), (6.0, ForceMode.SEPARATING)])
def test_a_ball_over_a_dome(speed: float, mode: ForceMode) -> None:
    """It presses with m (g - v^2/(R + r)) without friction and flies off beyond v^2 = g (R + r)."""
    scene = sg.Scene()
    scene.add_fixed(sg.Sphere(2.0), name="dome")
    scene.add_body(sg.Sphere(0.5), mass=3.0, position=(0, 0, 2.5), velocity=(speed, 0, 0), name="ball")
    found = sg.accelerations(scene)
    force = max(0.0, 3.0 * (GRAVITY - speed**2 / 2.5))
    assert found.only.mode == (mode,)
    assert found.only.force[0] == pytest.approx([force, 0, 0], abs=1e-6)
    assert found.linear_acceleration("ball")[2] == pytest.approx(force / 3.0 - GRAVITY, abs=1e-6)


def test_a_box_at_rest_says_that_load_sharing_is_open() -> None:
    found = sg.accelerations(box_on_slope(0.0, 0.5))
    assert found.status is sg.Status.SOLVED
    assert found.linear_acceleration("box") == pytest.approx([0, 0, 0], abs=1e-9)
    assert found.only.world_force.sum(axis=0) == pytest.approx([0, 0, 2.0 * GRAVITY], abs=1e-9)
    assert not found.only.forces_unique
    assert "not determined" in str(found)


@pytest.mark.parametrize(("mu", "acceleration"), [(0.5, 0.0), (0.2, GRAVITY * (np.sin(0.3) - 0.2 * np.cos(0.3)))])
def test_a_box_on_a_slope_stays_or_begins_to_slide(mu: float, acceleration: float) -> None:
    """Tan 0.3 = 0.309: four corners, exact cone, forces not unique but the motion is."""
    found = sg.accelerations(box_on_slope(0.3, mu))
    a = found.linear_acceleration("box")
    assert a == pytest.approx(acceleration * np.array([np.cos(0.3), 0, -np.sin(0.3)]), abs=1e-8)
    assert ForceMode.SLIP not in found.only.mode if acceleration == 0.0 else ForceMode.STICK not in found.only.mode


def test_slip_rate_is_not_given_where_no_friction_force_can_act() -> None:
    """With mu c_n = 0 the equations of lambda hold whatever it is."""
    scene = sphere_on_incline(0.3, 0.5)
    scene.add_force("sphere", force=(0, 0, 3 * GRAVITY))
    found = sg.accelerations(scene)
    assert found.only.mode == (ForceMode.SEPARATING,)
    assert np.isnan(found.only.slip_rate[0])


def test_a_contact_about_to_collide_is_refused() -> None:
    found = sg.accelerations(disc_on_floor((0.0, -1.0)))
    assert found.status is sg.Status.NOT_APPLICABLE
    assert found.solutions == ()
    assert "impact" in str(found)


def test_a_leaving_contact_has_no_force() -> None:
    found = sg.accelerations(disc_on_floor((0.0, 1.0)))
    assert found.only.mode == (ForceMode.SEPARATING,)
    assert found.linear_acceleration("disc") == pytest.approx([0, -GRAVITY, 0], abs=1e-12)


def test_groups_multiply() -> None:
    """A rod with two solutions beside a disc: two; a second such rod: four; one without any: none."""

    def together(*rods: tuple[float, float]) -> Accelerations:
        scene = disc_on_floor()
        for k, (mu, turn) in enumerate(rods):
            rod = rod_scene(mu, -1.0, turn).bodies["rod"]
            scene.add_body(
                sg.Segment((-1.0, 0.0), (1.0, 0.0)),
                mass=1.0,
                inertia=1.0 / 3.0,
                mass_centre=(0.0, 0.0),
                position=rod.position[:2] + np.array([10.0 * (k + 1), 0.0]),
                orientation=float(np.arctan(2.0)),
                velocity=rod.velocity[:2],
                angular_velocity=turn,
                name=f"rod{k}",
            )
            scene.set_contact(friction=mu, between=("floor", f"rod{k}"))
        return sg.accelerations(scene)

    assert together((1.5, 4.0)).solution_count == 2
    four = together((1.5, 4.0), (1.5, 4.0))
    assert four.status is sg.Status.SEVERAL_SOLUTIONS
    assert len(four.solutions) == 4
    heights = {tuple(np.round(s.acceleration[2:, 1], 3)) for s in four.solutions}
    assert heights == {(a, b) for a in (-9.81, 12.694) for b in (-9.81, 12.694)}
    none = together((1.5, 4.0), (1.5, 0.0))
    assert none.status is sg.Status.NO_SOLUTION
    assert none.solutions == ()


def test_load_sharing_decides_the_motion_of_a_spinning_box() -> None:
    """Four corners slide in different directions: three balances for four normal forces, and friction turns with them.

    The family between the two extreme ways to share the load is said to exist; each listed one is a solution.
    """
    scene = box_on_slope(0.0, 0.3, velocity=np.array([1.0, 0.0, 0.0]))
    scene.bodies["box"].angular_velocity[2] = 2.0
    found = sg.accelerations(scene)
    assert found.status is sg.Status.SEVERAL_SOLUTIONS
    assert any("infinitely many" in note for note in found.notes)
    spins = [one.angular_acceleration("box")[2] for one in found.solutions]
    assert max(spins) - min(spins) > 1e-2
    for one in found.solutions:
        assert one.world_force.sum(axis=0) == pytest.approx(
            2.0 * (one.linear_acceleration("box") + np.array([0, 0, GRAVITY])), abs=1e-9
        )
    assert not any("infinitely many" in note for note in sg.accelerations(rod_scene(1.5, -1.0, 4.0)).notes)


def test_several_solutions_must_be_chosen_from() -> None:
    found = sg.accelerations(rod_scene(1.5, -1.0, 4.0))
    with pytest.raises(sg.InputError, match="several solutions"):
        found.linear_acceleration("rod")
    assert found.unique is Answer.NO
    assert "2 solutions" in str(found)
    assert "Painleve" in str(sg.accelerations(rod_scene(1.5, -1.0, 0.0)))


def test_spatial_scenes_with_many_contacts_are_solved_without_proof_of_uniqueness() -> None:
    found = sg.accelerations(box_on_slope(0.1, 0.9))
    assert found.status is sg.Status.SOLVED
    assert found.unique is Answer.UNDECIDED
    assert found.residual < 1e-10


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cone": "square"}, "cone is 'square'"),
        ({"directions": 2}, "directions is 2"),
        ({"rotation": np.nan}, "rotation is nan"),
        ({"tolerance": 0.0}, "tolerance is 0"),
        ({"still": -1.0}, "still is -1"),
        ({"touch": -1.0}, "touch is -1"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], words: str) -> None:
    with pytest.raises(sg.InputError, match=words):
        sg.accelerations(disc_on_floor(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("law", [{"torsional": 0.01}, {"rolling": 0.01}, {"ellipsoid": (1.0, 0.5, 0.1)}])
def test_laws_that_the_model_does_not_know_are_refused(law: dict[str, Any]) -> None:
    scene = rough_sphere()
    scene.set_contact(friction=0.2, **law)
    with pytest.raises(sg.InputError, match=next(iter(law))):
        sg.accelerations(scene)


def test_an_unknown_body_is_named() -> None:
    with pytest.raises(sg.InputError, match="no body is called 'ball'"):
        sg.accelerations(disc_on_floor()).linear_acceleration("ball")


def test_unknown_names_of_the_package_are_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'acceleration'"):
        sg.acceleration  # noqa: B018


def test_the_world_force_is_the_frame_force_turned() -> None:
    """On a slope of 0.3 rad the sphere's force balances gravity less what it accelerates."""
    found = sg.accelerations(sphere_on_incline(0.3, 0.05))
    weight: Array = np.array([0, 0, -GRAVITY])
    assert found.only.world_force[0] == pytest.approx(found.linear_acceleration("sphere") - weight, abs=1e-12)
