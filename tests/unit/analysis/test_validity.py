"""The validity test on states: forces, verdicts, and what it says where the theory ends."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.analysis import Answer, ContactMode, Outcome, Rod, check_state, check_step
from signorini.errors import InputError
from signorini.reproduce.s4 import rod_scene
from signorini.scene import compile_scene
from signorini.solvers import Status

GRAVITY = 9.81


def box(velocity: tuple[float, float, float] = (1.0, 0.0, 0.0), spin: float = 0.0) -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        sg.Box((1, 0.8, 0.4)),
        mass=2.0,
        position=(0, 0, 0.2),
        velocity=velocity,
        angular_velocity=(0, 0, spin),
        name="box",
    )
    scene.set_contact(friction=0.3)
    return scene


def test_a_box_sliding_on_a_floor_is_valid() -> None:
    """Four corners with three independent normals; the forces carry the weight and friction tips the box forward."""
    found = check_state(compile_scene(box()))
    assert found.outcome is Outcome.VALID
    assert found.unique is Answer.YES
    assert found.stable is Answer.YES
    assert found.critical_damping == 0.0
    (judgement,) = found.judgements
    (force,) = judgement.solutions
    assert force.sum() == pytest.approx(2.0 * GRAVITY, rel=1e-9)
    # Moment about the mass centre: friction 0.3 N at the arm 0.2 m against the front pair's surplus at 0.5 m.
    front = found.point[judgement.matrix.contacts, 0] > 0.0
    assert (force[front].sum() - force[~front].sum()) * 0.5 == pytest.approx(0.3 * 2.0 * GRAVITY * 0.2, rel=1e-9)
    assert "valid" in str(found)


def test_a_box_at_rest_raises_no_alarm() -> None:
    """Sticking contacts are outside the theory: undecided, explained, no objection."""
    found = check_state(compile_scene(box((0.0, 0.0, 0.0))))
    assert found.outcome is Outcome.NO_OBJECTION
    assert found.unique is Answer.UNDECIDED
    assert found.stable is Answer.UNDECIDED
    assert (found.mode == ContactMode.STICKING).all()
    assert "all 4 contacts stick" in str(found)
    assert "NOT" not in str(found)


def test_without_friction_nothing_sticks() -> None:
    """A box at rest on ice: symmetric D, valid, and no word about sticking."""
    scene = box((0.0, 0.0, 0.0))
    scene.set_contact(friction=0.0)
    found = check_state(compile_scene(scene))
    assert found.outcome is Outcome.VALID
    assert (found.mode == ContactMode.SLIDING).all()
    assert pytest.approx(found.judgements[0].matrix.W, abs=0.0) == found.judgements[0].matrix.D


def test_eight_dependent_contacts_share_their_load() -> None:
    """Two boxes joined by sliding on each other and on the floor: all eight contacts press, stable."""
    scene = box()
    scene.add_body(sg.Box((0.5, 0.4, 0.2)), mass=1.0, position=(0, 0, 0.5), velocity=(2.0, 0, 0), name="top")
    found = check_state(compile_scene(scene))
    (judgement,) = found.judgements
    assert judgement.matrix.contacts.size == 8
    assert judgement.matrix.rank == 6
    assert found.outcome is Outcome.VALID
    (force,) = judgement.solutions
    lower = [name == ("floor", "box") for name in found.names]
    assert force[lower].sum() == pytest.approx(3.0 * GRAVITY, rel=1e-8)
    assert (force > 0.1).all()


def test_a_spinning_box_leaves_the_sharing_of_its_load_open() -> None:
    """Slip directions differ, so the friction moment depends on how dependent normals share the load."""
    found = check_state(compile_scene(box(spin=1.0)))
    assert found.outcome is Outcome.NO_OBJECTION
    assert found.unique is Answer.UNDECIDED
    assert found.stable is Answer.YES
    assert "share the load" in str(found)


def test_sticking_beside_sliding_is_held_and_said() -> None:
    scene = box((0.0, 0.0, 0.0))
    scene.add_body(sg.Sphere(0.1), mass=0.5, position=(0, 0, 0.5), velocity=(0.5, 0, 0), name="ball")
    found = check_state(compile_scene(scene))
    assert found.outcome is Outcome.NO_OBJECTION
    assert found.stable is Answer.YES
    assert "held fast" in str(found)
    (judgement,) = found.judgements
    assert judgement.solutions[0] == pytest.approx([0.5 * GRAVITY], rel=1e-6)


@pytest.mark.parametrize(("friction", "slips"), [(0.05, True), (0.9, False)])
def test_a_contact_that_cannot_go_on_sticking_is_named(friction: float, slips: bool) -> None:
    """A rider drags the top of a roller at rest: rolling needs a third of the dragging force at the floor.

    With the force 0.9 N at the top the floor would need the ratio 0.9 M / (3 (M + m)) = 0.294.
    """
    scene = sg.Scene(planar=True, gravity=(0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_body(sg.Disc(1.0), mass=0.1, position=(0, 1.0), name="roller")
    scene.add_body(sg.Disc(1.0), mass=5.0, position=(0, 3.0), velocity=(1e-2, 0), name="rider")
    scene.set_contact(friction=0.9)
    scene.set_contact(friction=friction, between=("roller", "floor"))
    found = check_state(compile_scene(scene))
    assert found.mode.tolist() == [ContactMode.STICKING, ContactMode.SLIDING]
    assert any("would slip or open" in note for note in found.notes) == slips


def test_curved_surfaces_take_part_in_the_load() -> None:
    """A ball sliding over a fixed ball presses with m (g - v^2 / (R + r))."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.Sphere(2.0), name="hill")
    scene.add_body(sg.Sphere(1.0), mass=1.5, position=(0, 0, 3.0), velocity=(3.0, 0, 0), name="ball")
    scene.set_contact(friction=0.4)
    (judgement,) = check_state(compile_scene(scene)).judgements
    assert judgement.solutions[0] == pytest.approx([1.5 * (GRAVITY - 9.0 / 3.0)], rel=1e-6)


def test_a_ball_too_fast_for_its_hill_presses_nothing() -> None:
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.Sphere(2.0), name="hill")
    scene.add_body(sg.Sphere(1.0), mass=1.5, position=(0, 0, 3.0), velocity=(6.0, 0, 0), name="ball")
    scene.set_contact(friction=0.4)
    found = check_state(compile_scene(scene))
    assert found.judgements[0].solutions[0] == pytest.approx([0.0])
    assert found.outcome is Outcome.VALID


def test_a_driven_floor_presses_harder() -> None:
    """A floor accelerating upwards at 3 m/s^2 adds to the weight."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), motion=lambda t: (0.0, 0.0, 1.5 * t * t), name="lift")
    scene.add_body(sg.Sphere(1.0), mass=1.0, position=(0, 0, 1.0), velocity=(1.0, 0, 0), name="ball")
    scene.set_contact(friction=0.2)
    (judgement,) = check_state(compile_scene(scene)).judgements
    assert judgement.solutions[0] == pytest.approx([GRAVITY + 3.0], rel=1e-6)


def test_no_contact_is_valid() -> None:
    scene = box()
    scene.bodies["box"].position[2] += 1.0
    found = check_state(compile_scene(scene))
    assert found.outcome is Outcome.VALID
    assert found.unique is Answer.YES
    assert "no contact" in str(found)


def test_contacts_that_leave_or_hit_are_told_apart() -> None:
    for speed, mode in ((0.5, ContactMode.LEAVING), (-0.5, ContactMode.CLOSING)):
        found = check_state(compile_scene(box((1.0, 0.0, speed))))
        assert (found.mode == mode).all()
        assert not found.judgements
    assert "impact" in str(found)


@pytest.mark.parametrize(
    ("damping", "outcome", "stable"),
    [
        (None, Outcome.CAUTION, Answer.UNDECIDED),
        (1.0, Outcome.VALID, Answer.YES),
        (0.02, Outcome.NOT_VALID, Answer.NO),
        (0.0, Outcome.NOT_VALID, Answer.NO),
    ],
)
def test_damping_decides_for_the_rod(damping: float | None, outcome: Outcome, stable: Answer) -> None:
    """Mu = (1, 1): P-matrix, critical c^2/k = 0.2284834 (S4 spec, section 5)."""
    found = check_state(compile_scene(rod_scene(Rod(), (1.0, 1.0), 0.2)), damping=damping)
    assert found.unique is Answer.YES
    assert found.stable is stable
    assert found.outcome is outcome
    assert found.critical_damping == pytest.approx(0.2284834, abs=5e-8)
    assert found.judgements[0].solutions[0] == pytest.approx([1.0, 1.0], abs=1e-6)


def test_the_verdict_names_contacts_eigenvalues_and_cures() -> None:
    """Complex from mu = 0.4151197 of equal friction: that is the friction to go down to."""
    text = str(check_state(compile_scene(rod_scene(Rod(), (1.0, 1.0), 0.2))))
    for words in ("floor / rod", "wall / rod", "1.722 +- 1.387i", "0.228483 kg", "friction at most 0.4151, 0.4151"):
        assert words in text


def test_several_solutions_are_listed() -> None:
    """Mu = (1, 3.9): a22 < 0, det > 0; the load of forces (1, 1) has more than one solution, all unstable or none."""
    found = check_state(compile_scene(rod_scene(Rod(), (1.0, 3.9), 0.2)))
    (judgement,) = found.judgements
    assert judgement.solution_status is Status.SEVERAL_SOLUTIONS
    assert len(judgement.solutions) == 3
    assert found.outcome is Outcome.NOT_VALID
    assert found.unique is Answer.NO
    assert "3 solutions" in str(found)


def test_stable_at_this_load_but_not_unique_for_all_is_a_caution() -> None:
    """Mu = (2.5, 1), turning back: eigenvalues 0.636637 and 3.466961, a11 < 0."""
    found = check_state(compile_scene(rod_scene(Rod(), (2.5, 1.0), -0.2)))
    assert found.unique is Answer.NO
    assert found.stable is Answer.YES
    assert found.outcome is Outcome.CAUTION
    assert "digs in" in str(found)


def test_no_solution_is_said() -> None:
    """Painleve: a steep rod pushed along a rough floor, d11 < 0 and pressed down, has no contact force at all."""
    scene = sg.Scene(planar=True, gravity=(0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    angle = 1.0
    scene.add_body(
        sg.Segment((-1, 0), (1, 0)),
        mass=1.0,
        inertia=1 / 3,
        mass_centre=(0, 0),
        position=(0, np.sin(angle)),
        orientation=angle,
        velocity=(-1.0, 0),
        name="rod",
    )
    scene.set_contact(friction=2.5)
    found = check_state(compile_scene(scene))
    d = 1.0 + 3.0 * np.cos(angle) * (np.cos(angle) - 2.5 * np.sin(angle))
    assert d < 0.0
    assert pytest.approx(np.array([[d]])) == found.judgements[0].matrix.D
    assert found.judgements[0].solution_status is Status.NO_SOLUTION
    assert found.outcome is Outcome.NOT_VALID
    assert "no forces satisfy" in str(found)


def test_a_step_is_judged_like_its_state() -> None:
    """The contacts that press in a small step, with their slip, give the D of the state."""
    scene = rod_scene(Rod(), (1.0, 1.0), 0.2)
    simulator = sg.Simulator(scene, h=1e-5)
    start = simulator.state
    result, _ = simulator.advance()
    found = check_step(simulator.model, start, result.contacts, result.impulse, result.velocity, damping=0.02)
    expected = check_state(simulator.model, start, damping=0.02)
    assert pytest.approx(expected.judgements[0].matrix.D, abs=1e-9) == found.judgements[0].matrix.D
    assert found.stable is expected.stable is Answer.NO
    assert found.unique is expected.unique is Answer.YES


@pytest.mark.parametrize("arguments", [{"damping": -1.0}, {"damping": float("nan")}, {"touch": -1.0}])
def test_bad_input_is_refused(arguments: dict[str, float]) -> None:
    """Also where no contact would ever need the number."""
    scene = box()
    scene.bodies["box"].position[2] += 1.0
    with pytest.raises(InputError, match=next(iter(arguments))):
        check_state(compile_scene(scene), **arguments)  # type: ignore[arg-type]
