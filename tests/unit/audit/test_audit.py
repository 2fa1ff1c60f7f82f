"""The audit of runs written down by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import signorini as sg
from signorini._grades import DRIFT_REMARK, DRIFT_WRONG, OVERLAP_REMARK, OVERLAP_WRONG, worst_of
from signorini.audit import Audit, Finding, Grade, audit_file, audit_tree, write_record
from signorini.audit.findings import FACTOR, ROUNDING, Worst, judged
from signorini.audit.law import gap_bounds, shifted
from signorini.scene import scene_to_text
from tests.unit.audit.records import MASS, MU, G, H, block_scene, sliding_block


def wrong(audit: Audit) -> set[str]:
    """Return what is not trusted."""
    return {one.what for one in audit.findings if one.grade is Grade.NOT_TRUSTED}


def test_a_block_that_slides_by_coulombs_law_is_right() -> None:
    """It loses mu g h of its speed in a step; energies are not in the file, and that is said."""
    audit = audit_tree(sliding_block(1.0))
    assert wrong(audit) == set()
    assert audit.unchecked == ("energies: the file does not tell where they went",)
    assert audit.verdict is Grade.REMARKS
    assert audit.of("momentum").worst < 1e-14
    assert audit.of("contact law").worst < 1e-14


def test_a_block_at_rest_is_right() -> None:
    assert wrong(audit_tree(sliding_block(0.0, friction=0.0))) == set()


def change(path: str, index: Any, by: float) -> Callable[[dict[str, Any]], None]:
    """Return a change of one number of a file."""

    def do(tree: dict[str, Any]) -> None:
        group, _, word = path.rpartition("/")
        column = tree[group][word] if group else tree[word]
        column[index] += by

    return do


def remove(path: str) -> Callable[[dict[str, Any]], None]:
    def do(tree: dict[str, Any]) -> None:
        group, _, word = path.rpartition("/")
        (tree[group] if group else tree).pop(word)

    return do


CHANGES = {
    "impulse": (change("contacts/impulse", (5, 0), 1e-8), {"momentum"}, "'block'"),
    "friction": (change("contacts/impulse", (5, 1), 1e-8), {"momentum"}, "'block'"),
    "point": (change("contacts/point", (5, 1), 1e-6), {"momentum"}, "'block'"),
    "normal": (change("contacts/normal", (5, 1), 1e-6), {"momentum"}, "'block'"),
    "velocity": (change("v", (2, 1, 1), 1e-7), {"momentum", "places follow velocities"}, "'block'"),
    "spin": (change("v", (2, 1, 5), 1e-6), {"momentum", "places follow velocities"}, "'block'"),
    "position": (change("q", (2, 1, 0), 1e-7), {"places follow velocities"}, "'block'"),
    "orientation": (change("q", (2, 1, 3), 1e-7), {"length of quaternions"}, "'block'"),
    "floor": (change("q", (2, 0, 2), 1e-6), {"places of fixed bodies"}, "'floor'"),
    "not a number": (change("contacts/gap", 6, np.nan), {"numbers not finite"}, "contacts/gap"),
    "endless": (change("v", (1, 1, 0), np.inf), {"numbers not finite"}, "v"),
    "time": (change("time", 3, 1e-6), {"length of steps"}, ""),
    "time that goes back": (change("time", 3, -0.05), {"length of steps"}, ""),
}


@pytest.mark.parametrize("what", CHANGES)
def test_one_number_altered_is_found_and_named(what: str) -> None:
    """Each change is a millionth or less of the numbers beside it."""
    do, expected, who = CHANGES[what]
    tree = sliding_block(1.0)
    do(tree)
    audit = audit_tree(tree)
    assert audit.verdict is Grade.NOT_TRUSTED
    assert expected <= wrong(audit)
    assert audit.of(sorted(expected)[-1] if "momentum" not in expected else "momentum").who == who


def test_the_step_is_named() -> None:
    tree = sliding_block(1.0)
    tree["contacts"]["impulse"][5, 0] += 1e-3  # of the second step
    assert audit_tree(tree).of("momentum").time == pytest.approx(2 * H)


def test_two_contacts_swapped_are_found() -> None:
    """Impulses of a corner in front and one behind: forces balance, moments do not."""
    tree = sliding_block(1.0)
    p = tree["contacts"]["impulse"]
    p[[4, 6]] = p[[6, 4]]
    assert "momentum" in wrong(audit_tree(tree))


@pytest.mark.parametrize("friction", [0.9 * MU, 1.1 * MU])
def test_another_coefficient_is_found(friction: float) -> None:
    """Momentum balances, but a block that slides must lose mu g h."""
    audit = audit_tree(sliding_block(1.0, friction=friction))
    assert wrong(audit) == {"contact law"} | ({"friction cone"} if friction > MU else set())
    assert audit.of("contact law").who == "'floor' / 'block'"


def test_friction_of_the_record_comes_first() -> None:
    tree = sliding_block(1.0, friction=0.2)
    tree["contacts"]["mu"] = np.full(16, 0.2)
    assert wrong(audit_tree(tree)) == set()


def test_impulses_between_bodies_that_must_not_touch_are_found() -> None:
    scene = block_scene()
    scene.exclude("floor", "block")
    audit = audit_tree(sliding_block(1.0), scene=scene)
    assert "friction cone" in wrong(audit)
    assert audit.of("friction cone").who == "'floor' / 'block'"


def test_glue_is_found() -> None:
    """A block that should part at 1 m/s is held: momentum balances with a pull, which no cone contains."""
    tree = sliding_block(0.0, steps=1, friction=0.0)
    tree["v"][0, 1, 2] = 1.0
    tree["contacts"]["impulse"][:, 0] -= MASS * 1.0 / 4
    assert wrong(audit_tree(tree)) == {"friction cone", "contact law"}


def test_pressure_while_parting_is_found() -> None:
    """Complementarity: a block that leaves the floor at 1 m/s was thrown up by it."""
    tree = sliding_block(0.0, steps=1, friction=0.0)
    tree["v"][1, 1, 2] = 1.0
    tree["q"][1, 1, 2] += H
    tree["contacts"]["impulse"][:, 0] += MASS * 1.0 / 4
    assert wrong(audit_tree(tree)) == {"contact law"}
    tree["v"][0, 1, 2] = -2.0  # with restitution 0.5 it does just that
    tree["contacts"]["impulse"][:, 0] += MASS * 2.0 / 4
    assert wrong(audit_tree(tree)) == {"contact law"}
    assert wrong(audit_tree(tree, scene=block_scene(restitution=0.5))) == set()


def test_a_body_that_falls_through_is_found() -> None:
    """Without impulses momentum balances and the cone is kept, but gaps must not close further."""
    tree = sliding_block(0.0, steps=3, friction=0.0)
    fall = G * H * np.arange(4)
    tree["v"][:, 1, 2] = -fall
    tree["q"][:, 1, 2] -= H * np.cumsum(fall)
    tree["contacts"]["impulse"][:] = 0.0
    tree["contacts"]["point"][:, 2] = np.repeat(tree["q"][:3, 1, 2] - 0.05, 4)
    tree["contacts"]["gap"][:] = tree["contacts"]["point"][:, 2]
    audit = audit_tree(tree)
    assert wrong(audit) == {"contact law", "overlap"}
    assert audit.of("overlap").worst == pytest.approx(6 * G * H * H / 0.1)
    assert audit.of("overlap").who == "'floor' / 'block'"


@pytest.mark.parametrize(
    ("depth", "grade"),
    [
        (0.9 * OVERLAP_REMARK, Grade.TRUSTED),
        (1.1 * OVERLAP_REMARK, Grade.REMARKS),
        (1.1 * OVERLAP_WRONG, Grade.NOT_TRUSTED),
    ],
)
def test_overlaps_are_judged_by_the_thinner_body(depth: float, grade: Grade) -> None:
    """The block is 0.1 m thin: 0.1 mm are trusted, 2 mm worth a remark."""
    tree = sliding_block(0.0, friction=0.0)
    tree["q"][:, 1, 2] -= 0.1 * depth
    tree["contacts"]["point"][:, 2] -= 0.1 * depth
    tree["contacts"]["gap"][:] = -0.1 * depth
    audit = audit_tree(tree)
    assert audit.of("overlap").worst == pytest.approx(depth, rel=1e-6)
    assert audit.of("overlap").grade is grade
    assert wrong(audit) <= {"overlap"}


@pytest.mark.parametrize(("overlap", "excused"), [(1e-5, True), (1e-12, False)])
def test_displacements_need_an_overlap(overlap: float, excused: bool) -> None:
    """5 micrometres beside an overlap of 10 part it; contacts that are open by rounding more or less excuse nothing."""
    tree = sliding_block(1.0)
    tree["contacts"]["gap"][:] = np.tile([-overlap, 1e-5, 1e-5, 1e-5], 4)
    tree["q"][2:, 1, 2] += 5e-6
    tree["contacts"]["point"][8:, 2] += 5e-6
    audit = audit_tree(tree)
    assert wrong(audit) == (set() if excused else {"places follow velocities"})
    assert audit.of("overlaps parted by").worst == pytest.approx(min(5e-6, overlap) / 0.1)


def test_gaps_are_those_of_the_bodies() -> None:
    """A file that says that the block is half a millimetre above the floor, or in it, where it touches."""
    for gap in (5e-4, -5e-4):
        tree = sliding_block(1.0)
        tree["contacts"]["gap"][4:8] = gap
        audit = audit_tree(tree)
        assert "gaps of contacts" in wrong(audit)
        assert audit.of("gaps of contacts").worst == pytest.approx(5e-3, rel=1e-6)
        assert audit.of("gaps of contacts").time == pytest.approx(2 * H)


def test_what_is_missing_is_named() -> None:
    tree = sliding_block(1.0)
    tree.pop("contacts")
    audit = audit_tree(tree)
    assert "momentum, places and contact law: contacts are not recorded" in audit.unchecked
    assert audit.verdict is Grade.REMARKS
    tree["settings"]["scene"] = None
    audit = audit_tree(tree)
    assert "the scene is not in the file" in audit.unchecked[0]
    assert audit.verdict is Grade.REMARKS
    assert wrong(audit_tree(tree, scene=block_scene())) == set()


def test_a_run_without_steps_has_only_a_state() -> None:
    tree = sliding_block(1.0)
    tree.update(time=tree["time"][:1], q=tree["q"][:1], v=tree["v"][:1])
    audit = audit_tree(tree)
    assert wrong(audit) == set()
    assert audit.step_count == 0
    assert audit.of("overlap").checked == 1


def test_an_unknown_formulation_is_named() -> None:
    """How bodies turn is not known then; forces still balance."""
    tree = sliding_block(1.0)
    tree["settings"]["formulation"] = None
    assert any("formulation is not recorded" in what for what in audit_tree(tree).unchecked)
    tree["contacts"]["impulse"][5, 0] += 1e-6
    assert wrong(audit_tree(tree)) == {"momentum"}


def test_a_file_is_written_with_impulses_in_world_axes(tmp_path: Path) -> None:
    tree, path = sliding_block(1.0), tmp_path / "other.h5"
    columns = tree["contacts"]
    world = np.zeros((16, 3))
    world[:, 2] = columns["impulse"][:, 0]
    world[:, 0] = -MU * columns["impulse"][:, 0]
    write_record(
        path, block_scene(), time=tree["time"], q=tree["q"], v=tree["v"], contacts={**columns, "impulse": world}
    )
    assert wrong(audit_file(path)) == set()
    assert audit_file(path).of("momentum").worst < 1e-14


@pytest.mark.parametrize(
    ("do", "message"),
    [
        (remove("q"), "'q' missing"),
        (remove("contacts/gap"), "contacts: 'gap' missing"),
        (lambda tree: tree.update(v=tree["v"][:-1]), "v has the shape"),
        (lambda tree: tree.update(names=["floor", "brick"]), "the scene has"),
        (lambda tree: tree["contacts"].update(body_b=np.full(16, 2)), "numbers from 0 to 1"),
        (lambda tree: tree["contacts"].update(mu=np.zeros(3)), "mu has the shape"),
        (lambda tree: tree["contacts"].update(normal=np.zeros((15, 3))), "one row for each of the 16"),
    ],
)
def test_what_is_no_record_is_refused(do: Callable[[dict[str, Any]], None], message: str) -> None:
    tree = sliding_block(1.0)
    do(tree)
    with pytest.raises(sg.FileError, match=message):
        audit_tree(tree, "run.h5")


def test_text_and_dict_say_the_same() -> None:
    tree = sliding_block(1.0)
    tree["contacts"]["impulse"][5, 0] += 1e-3
    audit = audit_tree(tree, "run.h5")
    document, text = audit.to_dict(), audit.text()
    assert document["verdict"] == "not trusted"
    assert text.splitlines()[0] == "audit of run.h5: 4 steps, 2 bodies"
    assert text.splitlines()[-1].startswith("Not trusted: momentum ")
    assert "of 'block', in 1 of 4, worst at t = 0.02 s" in text
    assert {one["what"]: one["grade"] for one in document["findings"]}["momentum"] == "not trusted"
    assert document["unchecked"] == list(audit.unchecked)
    assert all(f"Not checked: {what}." in text for what in audit.unchecked)


# --- the pieces ----------------------------------------------------------------


def test_grades() -> None:
    time = np.array([1.0, 2.0, 3.0])
    found = Worst(np.array([0.5, np.inf, 0.0]), np.array([0, 1, -1]))

    def grade(bound: float, limit: float | None = None) -> Finding:
        return judged("x", found, time, "ab".__getitem__, bound=bound, limit=limit)

    assert (grade(1.0).grade, grade(1.0).who, grade(1.0).time, grade(1.0).steps) == (Grade.NOT_TRUSTED, "b", 2.0, 1)
    assert grade(0.4, np.inf).grade is Grade.REMARKS
    assert grade(0.4).steps == 2
    assert worst_of([]) is Grade.TRUSTED
    assert worst_of([Grade.REMARKS, Grade.NOT_TRUSTED, Grade.TRUSTED]) is Grade.NOT_TRUSTED


def test_what_is_no_number_is_the_worst() -> None:
    found = Worst.of(np.array([1.0, np.nan, 2.0, 3.0]), np.array([0, 0, 2, 2]), np.array([7, 8, 9, 6]), 3)
    assert found.value.tolist() == [np.inf, 0.0, 3.0]
    assert found.who.tolist() == [8, -1, 6]


def test_shift_is_chosen_in_favour_of_the_step() -> None:
    """Open by 1 mm: may close at up to 1 m/s in a millisecond; overlapping by as much: may part so fast."""
    least, most = gap_bounds(np.array([1e-3, 1e-3, -1e-3, -1e-3, 0.0]), 1e-3)
    normal = np.array([-0.4, -1.5, 0.4, 1.5, 0.2])
    np.testing.assert_allclose(shifted(normal, least, most), [0.0, -0.5, 0.0, 0.5, 0.2], atol=1e-15)


def test_bounds_are_those_of_the_manual() -> None:
    """What the page on audits says."""
    assert (OVERLAP_REMARK, OVERLAP_WRONG, DRIFT_REMARK, DRIFT_WRONG, ROUNDING, FACTOR) == (
        1e-3,
        2e-2,
        1e-2,
        5e-2,
        1e-9,
        10.0,
    )


def thin_scene(size: tuple[float, float, float]) -> sg.Scene:
    """Return a body of 2 kg, without weight, above a floor."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box(size), mass=2.0, position=(0, 0, 5), name="body")
    return scene


def one_step(scene: sg.Scene, gap: float, push: float) -> dict[str, Any]:
    """Return a step at rest, with two contacts that push against each other, at one point each."""
    q, n = np.zeros((2, 2, 7)), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    q[:, :, 3], q[:, 1, 2] = 1.0, 5.0
    contacts = {
        "start": np.array([0, 2]),
        "body_a": np.array([0, 0]),
        "body_b": np.array([1, 1]),
        "point": np.tile([0.2, 0.0, 5.0], (2, 1)),
        "normal": n,
        "gap": np.full(2, gap),
        "impulse": np.tile([push, 0.0, 0.0], (2, 1)),
    }
    settings = {"h": H, "scene": scene_to_text(scene)}
    named = {"names": ["floor", "body"], "time": np.array([0.0, H]), "contacts": contacts, "settings": settings}
    return {**named, "q": q, "v": np.zeros((2, 2, 6))}


@pytest.mark.parametrize(
    ("size", "spin", "push"),
    [((0.4, 0.2, 0.1), 10.0, 1e5), ((0.6, 0.05, 0.02), 1.0, 1e2), ((0.6, 0.05, 0.02), 1.0, 1e5)],
)
def test_an_even_turn_is_told_from_a_flight_however_hard_a_body_is_pressed(
    size: tuple[float, float, float], spin: float, push: float
) -> None:
    """``R = exp(h w)`` and ``L`` is kept: beside great impulses the moment tells no way, and the place does."""
    tree, a = one_step(thin_scene(size), 0.0, push), np.array(size)
    inertia = 2.0 / 12.0 * (np.sum(a**2) - a**2)
    w = spin * np.array([0.1, 0.2, 0.3])
    turn = Rotation.from_rotvec(H * w)
    tree["v"][0, 1, 3:] = w
    tree["v"][1, 1, 3:] = turn.apply(turn.inv().apply(inertia * w) / inertia)
    tree["q"][1, 1, 3:] = np.roll(turn.as_quat(), 1)
    audit = audit_tree(tree)
    assert audit.of("momentum").worst < 1e-14
    assert audit.of("places follow velocities").worst < 1e-14


@pytest.mark.parametrize(("axis", "found"), [(0, False), (2, True)], ids=["about its length", "across"])
def test_needles_roll_where_they_are_parted(axis: int, found: bool) -> None:
    """Rolled by 1e-4 rad a needle of 1 cm and 1 m goes by a micrometre, its overlap; turned across by 50 times that."""
    tree = one_step(thin_scene((1.0, 0.01, 0.01)), -1e-6, 0.0)
    tree["q"][1, 1, 3], tree["q"][1, 1, 4 + axis] = np.cos(0.5e-4), np.sin(0.5e-4)
    assert (audit_tree(tree).of("places follow velocities").worst > 1e-9) is found
