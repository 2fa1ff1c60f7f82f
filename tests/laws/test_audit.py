"""Runs pass their audit; runs of which one number was altered do not, and the audit names it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import random_audits

import signorini as sg
from signorini.audit import Audit, Grade, audit_file, audit_tree
from signorini.audit.record import record_of
from signorini.cli import main
from signorini.dynamics import gyroscopic_ways
from signorini.io import read_tree, write_tree
from tests.by_python.step import ByPython
from tests.joint_scenes import chain, pendulum, slider, wheel
from tests.laws.test_restitution_laws import Rod
from tests.scenes import box_on_slope, rough_sphere, stack, tumble

H = 2e-3


def floor(**contact: Any) -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(**contact)
    return scene


def bin_with_rebound() -> sg.Scene:
    """Balls and boxes that spin fall into a bin, restitution 0.5."""
    scene, r = floor(friction=0.4, restitution=0.5), np.random.default_rng(5)
    for k, normal in enumerate([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)]):
        scene.add_fixed(sg.HalfSpace(normal=normal, offset=-0.4), name=f"wall{k}")
    for k in range(6):
        shape = sg.Sphere(0.1) if k % 2 else sg.Box((0.2, 0.15, 0.12))
        place, spin = (*r.uniform(-0.25, 0.25, 2), 0.2 + 0.25 * k), r.uniform(-3, 3, 3)
        scene.add_body(shape, density=500, position=place, angular_velocity=spin, name=f"body{k}")
    return scene


def shaken_table() -> sg.Scene:
    """A table moves to and fro as a function says, under a box that slides."""
    scene = sg.Scene()
    scene.add_fixed(sg.Box((2, 2, 0.2)), motion=lambda t: (0.1 * np.sin(8 * t), 0, -0.1), name="table")
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), name="box")
    scene.set_contact(friction=0.4)
    return scene


def pushed_box() -> sg.Scene:
    """A force with an arm pushes a box faster than friction holds it."""
    scene = floor(friction=0.3)
    scene.add_body(sg.Box((0.4, 0.4, 0.2)), mass=2.0, position=(0, 0, 0.1), name="box")
    scene.add_force("box", force=(8.0, 0, 0), at=(0, 0.1, 0.0))
    return scene


def steered_box() -> sg.Scene:
    """A force that is a function of time and velocity pulls a box to and fro."""
    scene = floor(friction=0.2)
    scene.add_body(sg.Box((0.4, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.1), name="box")
    scene.add_force("box", force=lambda t, state: (8.0 * np.cos(9.0 * t) - state.v[1, 0], 0.0, 0.0), at=(0, 0.1, 0))
    return scene


def gears() -> sg.Scene:
    """Two gears, one of which is driven by a torque."""
    scene = sg.Scene()
    for k, x in enumerate((0.0, 0.5)):
        name = f"wheel{k}"
        scene.add_body(sg.Cylinder(0.2, 0.1), mass=1.0 + k, position=(x, 0, 0), name=name)
        scene.add_joint("revolute", None, name, anchor=(x, 0, 0), axis=(0, 0, 1), name=f"hinge{k}")
    scene.exclude("wheel0", "wheel1")
    scene.add_joint("gear", "wheel0", "wheel1", axis=[(0, 0, 1), (0, 0, 1)], ratio=-2.0, name="gear")
    scene.add_force("wheel0", torque=(0, 0, 0.3))
    return scene


def shot() -> sg.Scene:
    """A bullet and a blade meet a post far from where they are when the step begins."""
    scene = floor(friction=0.4, restitution=0.3)
    scene.add_body(sg.Box((0.3, 0.3, 0.6)), mass=2.0, position=(0, 0, 0.3), name="post")
    scene.add_body(sg.Sphere(0.02), mass=0.1, position=(-1, 0.1, 0.5), velocity=(120, 0, 3), name="bullet")
    blade: dict[str, Any] = {"position": (0.9, 0.2, 0.45), "velocity": (-8, 0, 1), "angular_velocity": (0, 0, 40)}
    scene.add_body(sg.Box((1, 0.05, 0.05)), mass=0.5, name="blade", **blade)
    return scene


def in_the_plane() -> sg.Scene:
    """Discs and squares fall in the plane."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    square = sg.Polygon([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)])
    for k in range(4):
        scene.add_body(
            sg.Disc(0.1) if k % 2 else square, mass=1.0, position=(0.05 * k, 0.3 + 0.3 * k), angular_velocity=3.0
        )
    scene.set_contact(friction=0.4, restitution=0.3)
    return scene


def welded_pair() -> sg.Scene:
    """Two boxes in uniform flight, whose weld has nothing to carry but rounding."""
    scene = sg.Scene(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 0.3)):
        scene.add_body(sg.Box((0.3, 0.2, 0.1)), mass=1.0 + x, position=(x, x, 0), velocity=(1, 2, 3), name=name)
    scene.add_joint("fixed", "a", "b", anchor=(0.15, 0, 0))
    return scene


def spinning_bar() -> sg.Scene:
    """A bar with three different moments turns about none of its axes, pushed by a torque."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Box((0.1, 0.3, 0.5)), density=500, position=(0, 0, 0), angular_velocity=(1, 5, 0.1), name="bar")
    scene.add_force("bar", torque=(0.01, 0, 0))
    return scene


RUNS: dict[str, tuple[sg.Scene, dict[str, Any]]] = {
    "stack": (stack(3), {}),
    "bin": (bin_with_rebound(), {"duration": 0.8}),
    "chain": (chain(4), {"h": 1e-3}),
    "table": (shaken_table(), {}),
    "push": (pushed_box(), {}),
    "steered": (steered_box(), {}),
    "steered, theta": (steered_box(), {"formulation": sg.MoreauJean(theta=0.5)}),
    "tumble": (tumble(1), {"duration": 0.8}),
    "tumble, implicit": (tumble(1), {"duration": 0.8, "formulation": sg.MoreauJean(gyroscopic="implicit")}),
    "slope": (box_on_slope(0.3, 0.2), {}),
    "sphere, polygon": (rough_sphere(), {"formulation": sg.StewartTrinkle()}),
    "tumble, polygon": (tumble(2), {"duration": 0.8, "formulation": sg.StewartTrinkle(directions=6, rotation=0.2)}),
    "sphere, theta": (rough_sphere(), {"formulation": sg.MoreauJean(theta=0.5)}),
    "bar, theta": (spinning_bar(), {"formulation": sg.MoreauJean(theta=0.6)}),
    "bar, theta, implicit": (spinning_bar(), {"formulation": sg.MoreauJean(theta=0.6, gyroscopic="implicit")}),
    "bar, explicit": (spinning_bar(), {"formulation": sg.MoreauJean(gyroscopic="explicit")}),
    "springs": (tumble(4), {"duration": 0.8, "formulation": sg.MoreauJean(stiffness=1e5)}),
    "own solver": (stack(2), {"duration": 0.02, "formulation": sg.MoreauJean(solver=sg.NSGS())}),
    "sleep": (stack(2), {"formulation": sg.MoreauJean(sleeping=True)}),
    "shot": (shot(), {"duration": 0.1}),
    "plane": (in_the_plane(), {"duration": 0.8}),
    "pendulum": (pendulum(0.2), {"h": 1e-3}),
    "slider": (slider(1.0, spring=(50.0, 0.0), damping=0.5), {}),
    "gears": (gears(), {}),
    "weld": (welded_pair(), {"duration": 0.1}),
    "joint friction": (wheel(3.0, friction=0.2), {"h": 1e-2, "duration": 8.0}),
    "joint friction, theta": (wheel(3.0, friction=0.2), {"duration": 0.1, "formulation": sg.MoreauJean(theta=0.5)}),
    "joint friction, polygon": (slider(1.0, friction=3.0), {"formulation": sg.StewartTrinkle(rotation=0.2)}),
    "bearing": (wheel(3.0, gravity=9.81, friction=("load", 0.3, 0.02)), {"duration": 0.1}),
    "dry guide": (slider(1.0, gravity=9.81, friction=("load", 0.3, 0.5)), {"duration": 0.6, "h": 1e-2}),
    "stops": (slider(1.0, gravity=9.81, limits=(-0.1, 0.1), friction=2.0, spring=(50.0, 0.2)), {"duration": 0.8}),
    "steered, motor": (
        wheel(friction=0.1, motion=lambda t: float(np.sin(6.0 * t)), effort_limit=2.0, limits=(-0.9, 0.9)),
        {"duration": 1.0},
    ),
    "steered, drive": (pendulum(0.2, motion=lambda t: float(np.sin(6.0 * t))), {"duration": 1.0}),
}


class Runs:
    """Files of runs, each computed once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, Path] = {}

    def path(self, name: str) -> Path:
        if name not in self._paths:
            scene, words = RUNS[name]
            path = self._folder / f"{len(self._paths)}.h5"
            sg.simulate(scene, **{"duration": 0.5, "h": H, **words}).save(path)
            self._paths[name] = path
        return self._paths[name]

    def tree(self, name: str) -> dict[str, Any]:
        return read_tree(self.path(name))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    yield Runs(tmp_path_factory.mktemp("runs"))


def given(name: str) -> sg.Scene | None:
    """Return the scene of a run that its file cannot hold."""
    return RUNS[name][0] if name.startswith(("table", "steered")) else None


def wrong(audit: Audit) -> set[str]:
    return {one.what for one in audit.findings if one.grade is Grade.NOT_TRUSTED}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_passes(runs: Runs, name: str) -> None:
    """Newton's equations to rounding, the law to the tolerance, and nothing is left unchecked."""
    audit = audit_file(runs.path(name), scene=given(name))
    assert wrong(audit) == set()
    assert audit.unchecked == ()
    assert audit.of("momentum").worst < 1e-12
    assert audit.of("places follow velocities").worst < 1e-12
    assert audit.of("contact law").worst < 1e-5


Words = dict[str, Any]


@pytest.mark.parametrize(
    ("name", "words", "other"),
    [
        ("joint friction", {"friction": 0.2}, {"friction": 0.2001}),
        ("joint friction", {"friction": 0.2}, {"friction": 0.1999}),
        ("joint friction, polygon", {"friction": 3.0}, {"friction": 3.03}),
        ("bearing", {"friction": ["load", 0.3, 0.02]}, {"friction": ["load", 0.3, 0.022]}),
        ("dry guide", {"friction": ["load", 0.3, 0.5]}, {"friction": ["load", 0.33, 0.5]}),
        ("stops", {"limits": [-0.1, 0.1]}, {"limits": [-0.1, 0.2]}),
        ("stops", {"limits": [-0.1, 0.1]}, {"limits": None}),
        ("stops", {"spring": [50.0, 0.2]}, {"spring": [50.5, 0.2]}),
        ("slider", {"damping": 0.5}, {"damping": 0.5001}),
        ("pendulum", {}, {"friction": 0.01}),
    ],
)
def test_another_law_of_a_joint_is_found(runs: Runs, name: str, words: Words, other: Words) -> None:
    """The same motion, in a file that says of the joint what was not so; to the tolerance of the momentum at play."""
    tree = runs.tree(name)

    def do(scene: dict[str, Any]) -> None:
        joint = scene["joints"][0]
        assert {key: joint.get(key) for key in words} == words
        scene["joints"][0] = {key: value for key, value in {**joint, **other}.items() if value is not None}

    in_scene(tree, do)
    assert wrong(audit_tree(tree)) - {"energies as told", "energy balance"} == {"laws of joints"}


def test_a_motor_that_is_too_strong_is_found(runs: Runs) -> None:
    weaker = wheel(friction=0.1, motion=lambda t: float(np.sin(6.0 * t)), effort_limit=1.99, limits=(-0.9, 0.9))
    assert wrong(audit_tree(runs.tree("steered, motor"), scene=weaker)) == {"laws of joints"}


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("kind", "seeds"),
    [
        ("bullets", (1012, 1014, 1023, 1038)),  # turn by a radian a step, were displaced, or had to turn evenly
        ("pile", (2012, 117, 120)),  # were posed where they meet by turning, or again about their ends
        ("compounds", (61,)),
        ("joints", (3, 11, 71)),  # contacts beside laws of joints; friction in the middle of steps
        ("ragdoll", (56,)),  # joints leave next to nothing to a row of a contact
        ("ragdoll", (24, 28)),  # collide with joints that have drifted, and gain
        ("mechanism", (26, 65)),  # are a millimetre from a limit, the speed to which hid the errors of contacts
        ("mechanism", (75,)),  # impulses of rebounds count as energy at play
    ],
)
def test_run_and_audit_say_the_same(kind: str, seeds: tuple[int, ...]) -> None:
    """Random runs of which they once did not."""
    for seed in seeds:
        row = random_audits.run(seed, kind)
        assert row["run"] == row["audit"], row


@pytest.mark.compiled_only
def test_what_does_not_rebound_gains_nothing() -> None:
    """Contacts of a mechanism that may rebound part by rounding, in a step in which joints give and an impact takes."""
    row = random_audits.run(186, "mechanism")
    assert row["run"] == row["audit"] == "trusted", row


# --- one number altered --------------------------------------------------------

Change = Callable[[dict[str, Any]], None]


def pressed(tree: dict[str, Any]) -> int:
    """Return the row of the largest impulse."""
    return int(np.argmax(tree["contacts"]["impulse"][:, 0]))


def names_of(tree: dict[str, Any], row: int) -> tuple[str, str]:
    contacts = tree["contacts"]
    return tree["names"][contacts["body_a"][row]], tree["names"][contacts["body_b"][row]]


def scaled_impulse(tree: dict[str, Any]) -> None:
    tree["contacts"]["impulse"][pressed(tree), 0] *= 1.0 + 1e-6


def other_friction(tree: dict[str, Any]) -> None:
    tree["contacts"]["impulse"][pressed(tree), 1] += 1e-6 * tree["contacts"]["impulse"].max()


def other_velocity(tree: dict[str, Any]) -> None:
    tree["v"][20, -1, 1] += 1e-6


def other_spin(tree: dict[str, Any]) -> None:
    tree["v"][20, -1, 5] += 1e-5


def other_position(tree: dict[str, Any]) -> None:
    tree["q"][20, -1, 1] += 1e-7


def other_orientation(tree: dict[str, Any]) -> None:
    e = tree["q"][20, -1, 3:]
    e += 1e-6 * np.array([-e[3], 0.0, 0.0, e[0]])


def moved_point(tree: dict[str, Any]) -> None:
    tree["contacts"]["point"][pressed(tree)] += 1e-5 * np.array([1.0, -1.0, 0.5])


def removed_contact(tree: dict[str, Any]) -> None:
    row, contacts = pressed(tree), tree["contacts"]
    contacts["start"][contacts["start"] > row] -= 1
    for word in contacts:
        if word != "start":
            contacts[word] = np.delete(contacts[word], row, axis=0)


def no_number(tree: dict[str, Any]) -> None:
    tree["contacts"]["impulse"][pressed(tree), 2] = np.nan


def other_kinetic(tree: dict[str, Any]) -> None:
    tree["kinetic"][20] += 1e-6 * max(tree["kinetic"].max(), abs(tree["potential"]).max())


def other_slip(tree: dict[str, Any]) -> None:
    tree["contacts"]["velocity"][pressed(tree), 1] += 1e-6


CHANGES: dict[str, tuple[Change, str]] = {
    "impulse": (scaled_impulse, "momentum"),
    "friction": (other_friction, "momentum"),
    "velocity": (other_velocity, "momentum"),
    "spin": (other_spin, "momentum"),
    "point": (moved_point, "momentum"),
    "contact": (removed_contact, "momentum"),
    "position": (other_position, "places follow velocities"),
    "orientation": (other_orientation, "places follow velocities"),
    "nan": (no_number, "numbers not finite"),
    "energy": (other_kinetic, "energies as told"),
    "slip": (other_slip, "velocities of contacts"),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("name", ["stack", "bin", "table", "push"])
def test_one_number_altered_is_found(runs: Runs, name: str, what: str) -> None:
    """A millionth of a velocity, an impulse or a metre."""
    tree = runs.tree(name)
    do, check = CHANGES[what]
    do(tree)
    audit = audit_tree(tree, scene=given(name))
    assert check in wrong(audit)
    assert audit.verdict is Grade.NOT_TRUSTED
    last, row = tree["names"][-1], pressed(runs.tree(name))
    if what in ("velocity", "spin", "position", "orientation"):
        assert audit.of(check).who == repr(last)
        assert audit.of(check).time in (tree["time"][20], tree["time"][21])
    elif check == "momentum":
        assert audit.of(check).who in map(repr, names_of(runs.tree(name), row))
    elif what == "nan":
        assert audit.of(check).who == "contacts/impulse"
    elif what == "slip":
        assert audit.of(check).who == "{!r} / {!r}".format(*names_of(tree, row))


@pytest.mark.parametrize("name", ["stack", "bin"])
def test_two_contacts_swapped_are_found(runs: Runs, name: str) -> None:
    """The impulses of two contacts of one step, where they are of different size."""
    tree = runs.tree(name)
    contacts = tree["contacts"]
    row = pressed(tree)
    step = int(np.searchsorted(contacts["start"], row, side="right")) - 1
    rows = np.arange(contacts["start"][step], contacts["start"][step + 1])
    p = contacts["impulse"]
    other = int(rows[np.argmin(np.abs(p[rows, 0]))])
    assert p[other, 0] < 0.999 * p[row, 0]
    p[[row, other]] = p[[other, row]]
    assert "momentum" in wrong(audit_tree(tree))


def in_scene(tree: dict[str, Any], do: Callable[[dict[str, Any]], None]) -> None:
    """Alter the scene inside a file."""
    scene = json.loads(tree["settings"]["scene"])
    do(scene)
    tree["settings"]["scene"] = json.dumps(scene)


@pytest.mark.parametrize("factor", [0.99, 1.01])
@pytest.mark.parametrize("name", ["bin", "push", "slope", "sphere, polygon"])
def test_another_coefficient_is_found(runs: Runs, name: str, factor: float) -> None:
    """Bodies that slide by one part in a hundred more or less friction than the scene says."""
    tree = runs.tree(name)

    def do(scene: dict[str, Any]) -> None:
        scene["contact"]["friction"] *= factor

    in_scene(tree, do)
    audit = audit_tree(tree)
    assert "contact law" in wrong(audit)
    assert ("friction cone" in wrong(audit)) == (factor < 1.0)
    assert "momentum" not in wrong(audit)


def test_another_restitution_is_found(runs: Runs) -> None:
    """Bodies rebound faster than they may."""
    tree = runs.tree("bin")
    in_scene(tree, lambda scene: scene["contact"].update(restitution=0.45))
    assert wrong(audit_tree(tree)) == {"contact law"}


def test_another_mass_is_found(runs: Runs) -> None:
    tree = runs.tree("stack")
    in_scene(tree, lambda scene: scene["bodies"][1].update(mass=1.0 + 1e-6))
    audit = audit_tree(tree)
    assert "momentum" in wrong(audit)
    assert audit.of("momentum").who == "'box1'"


def test_another_formulation_is_found(runs: Runs) -> None:
    """A file that says bodies fly where they took the implicit gyroscopic term, and the other way round."""
    for name, word in (("tumble", "implicit"), ("tumble, implicit", "conserving")):
        tree = runs.tree(name)
        tree["settings"]["scheme"]["moreau_jean"]["gyroscopic"] = word
        assert "momentum" in wrong(audit_tree(tree))


@pytest.mark.parametrize(
    ("word", "index"), [("reaction", (30, 2, 2)), ("reaction", (30, 2, 4)), ("ending", (30, 2, 2))]
)
def test_a_reaction_altered_is_found(runs: Runs, word: str, index: tuple[int, ...]) -> None:
    """Bodies fly from their beginning as the reactions say, so places may not follow either."""
    tree = runs.tree("chain")
    tree["joints"][word][index] += 1e-6
    audit = audit_tree(tree)
    assert "momentum" in wrong(audit) <= {"momentum", "places follow velocities"}
    assert audit.of("momentum").who in ("'link1'", "'link2'")


@pytest.mark.parametrize("word", ["coordinate", "speed"])
def test_a_joint_coordinate_altered_is_found(runs: Runs, word: str) -> None:
    tree = runs.tree("pendulum")
    tree["joints"][word][30, 0] += 1e-5
    audit = audit_tree(tree)
    assert "coordinates of joints" in wrong(audit)
    assert audit.of("coordinates of joints").who == "'hinge'"


def test_a_joint_that_came_apart_is_named(runs: Runs) -> None:
    """All of the chain from the third link on is moved at every time, by 6/100 of half a link."""
    tree = runs.tree("chain")
    size = record_of(tree, "chain").model.arrays.bound[0]  # type: ignore[union-attr]
    tree["q"][:, 2:, 1] += 6e-2 * size
    audit = audit_tree(tree)
    assert audit.of("joint drift").who == "'joint2'"
    assert audit.of("joint drift").worst == pytest.approx(6e-2, rel=0.05)
    assert audit.of("joint drift").grade is Grade.NOT_TRUSTED


def test_a_joint_beyond_its_limit_is_named(runs: Runs) -> None:
    """A file whose scene says that the pendulum stops where it does not."""
    tree = runs.tree("pendulum")
    in_scene(tree, lambda scene: scene["joints"][0].update(limits=[-0.1, 0.1]))
    audit = audit_tree(tree)
    assert wrong(audit) == {"joint drift"}
    assert audit.of("joint drift").who == "'hinge'"
    assert audit.of("joint drift").worst == pytest.approx(np.abs(tree["joints"]["coordinate"]).max() - 0.1)


def test_flight_is_judged_without_its_kernel(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were free flight repeated by a wrong equation, the one by which it was made, L would still not be kept."""
    tree = runs.tree("tumble, implicit")
    tree["settings"]["scheme"]["moreau_jean"]["gyroscopic"] = "conserving"
    monkeypatch.setattr(
        "signorini.audit.steps.gyroscopic_ways", lambda model, _, **words: gyroscopic_ways(model, "implicit", **words)
    )
    assert "momentum" in wrong(audit_tree(tree))


def test_a_term_of_the_balance_altered_is_found(runs: Runs) -> None:
    tree = runs.tree("bin")
    tree["balance"]["friction"][100] += 1e-6 * tree["potential"][0]
    assert wrong(audit_tree(tree)) == {"energy balance"}


def test_energy_that_nothing_explains_is_found(runs: Runs) -> None:
    """A run whose balance hides the work of the push in friction: it closes, but energy came from nowhere."""
    tree = runs.tree("push")
    tree["balance"]["friction"] -= tree["balance"]["load_work"]
    tree["balance"]["load_work"][:] = 0.0
    assert wrong(audit_tree(tree)) == {"energy gained unexplained"}


def test_unsolved_steps_are_not_trusted(runs: Runs) -> None:
    """What the run says of itself counts where it is worse."""
    tree = runs.tree("bin")
    tree["certificate"]["residual"][10] = 1e-3
    assert wrong(audit_tree(tree)) == {"residual as told"}


# --- what is not there ---------------------------------------------------------


def test_older_files_tell_points_by_gaps(runs: Runs, tmp_path: Path) -> None:
    """Files without the points of first bodies are read, and audited where bodies do not meet elsewhere."""
    tree = runs.tree("stack")
    was = tree["contacts"].pop("point_a")
    write_tree(tmp_path / "old.h5", tree)
    np.testing.assert_allclose(sg.Trajectory.load(tmp_path / "old.h5").contact_log.point_a, was, atol=1e-12)
    assert audit_file(tmp_path / "old.h5").verdict is Grade.TRUSTED


def test_a_body_that_falls_asleep_is_judged_by_its_load(tmp_path: Path) -> None:
    """A ball that rolls at 1e-6 m/s is put to rest: a push of 1e-6 m, beside the weight of a step, m g h."""
    scene = floor(friction=0.5)
    ball: dict[str, Any] = {"velocity": (1e-6, 0, 0), "angular_velocity": (0, 1e-5, 0)}
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), name="ball", **ball)
    sg.simulate(scene, duration=0.4, h=H, formulation=sg.MoreauJean(sleeping=True)).save(tmp_path / "run.h5")
    audit = audit_file(tmp_path / "run.h5")
    assert wrong(audit) == set()
    asleep = audit.of("balance of bodies asleep")
    assert (asleep.steps, asleep.who) == (0, "'ball'")
    assert 0.1 < asleep.worst / (1e-6 / (9.81 * H)) < 10.0


def test_motion_alone_is_named_as_such(tmp_path: Path) -> None:
    sg.simulate(stack(2), duration=0.02, h=H, record="motion").save(tmp_path / "run.h5")
    audit = audit_file(tmp_path / "run.h5")
    assert audit.unchecked == ("momentum, places and contact law: contacts are not recorded",)
    assert audit.verdict is Grade.REMARKS
    assert audit.of("overlap").checked == 11


@pytest.mark.parametrize(
    ("scene", "words", "named"),
    [
        pytest.param(
            pendulum(0.2),
            {"formulation": sg.MoreauJean(projection=True)},
            "projected onto their joints",
            id="projection",
        ),
        pytest.param(
            pendulum(0.2),
            {"formulation": sg.MoreauJean(theta=0.5, gyroscopic="implicit")},
            "for theta < 1",
            id="joints and theta",
        ),
        pytest.param(
            bin_with_rebound(),
            {"duration": 0.3, "formulation": sg.MoreauJean(restitution_law="poisson")},
            "law of restitution 'poisson'",
            id="poisson",
        ),
    ],
)
def test_what_cannot_be_repeated_is_named(tmp_path: Path, scene: sg.Scene, words: dict[str, Any], named: str) -> None:
    sg.simulate(scene, **{"duration": 0.1, "h": H, **words}).save(tmp_path / "run.h5")
    audit = audit_file(tmp_path / "run.h5")
    assert wrong(audit) == set()
    assert any(named in what for what in audit.unchecked)
    assert audit.verdict is Grade.REMARKS


def rubbing(**friction: Any) -> sg.Scene:
    """A ball that slides, spins and rolls."""
    scene = floor(friction=0.3, **friction)
    thrown: dict[str, Any] = {"velocity": (0.5, 0.1, 0), "angular_velocity": (2, 1, 8)}
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), name="ball", **thrown)
    return scene


@pytest.mark.parametrize("formulation", [sg.MoreauJean(), ByPython()], ids=["compiled", "Python"])
@pytest.mark.parametrize(
    ("friction", "axes"),
    [
        ({"torsional": 0.02}, {0}),
        ({"rolling": 0.01}, {1, 2}),
        ({"torsional": 0.02, "rolling": 0.01}, {0, 1, 2}),
        ({"ellipsoid": (1.0, 0.7, 0.02)}, {0}),
    ],
    ids=["torsion", "rolling", "both", "ellipsoid"],
)
def test_couples_are_audited(friction: dict[str, Any], axes: set[int], formulation: sg.MoreauJean) -> None:
    """Couples are recorded; without them, or with others, moments and cones are not what they should be."""
    run = sg.simulate(rubbing(**friction), duration=0.05, h=H, formulation=formulation)
    tree = run.tree()
    tree["settings"]["scheme"] = {"moreau_jean": {}}  # which the steps of Python do not tell
    assert set(np.flatnonzero(np.any(tree["contacts"]["couple"] != 0.0, axis=0))) == axes
    assert audit_tree(tree).verdict is Grade.TRUSTED
    tree["contacts"]["couple"][3] *= 1.01
    audit = audit_tree(tree)
    assert {"momentum", "friction cone", "contact law"} <= wrong(audit)
    assert audit.of("friction cone").steps == 1
    assert audit.of("friction cone").time == pytest.approx(tree["time"][4])


def test_couples_of_the_plane_are_audited(tmp_path: Path) -> None:
    """A disc that rolls: the couple is about z, and its slowing down by it alone, m g e h = (3/2) m r^2 dw / r."""
    scene = sg.Scene(gravity=(0, -9.81), planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.set_contact(friction=0.8, rolling=0.005)
    scene.add_body(sg.Disc(0.1), mass=1.0, position=(0, 0.1), velocity=(1, 0), angular_velocity=-10.0, name="disc")
    sg.simulate(scene, duration=0.05, h=H).save(tmp_path / "run.h5")
    couple = read_tree(tmp_path / "run.h5")["contacts"]["couple"]
    np.testing.assert_allclose(np.abs(couple), np.broadcast_to([0.0, 0.0, 9.81 * 0.005 * H], couple.shape), rtol=1e-6)
    assert audit_file(tmp_path / "run.h5").verdict is Grade.TRUSTED


def test_files_without_couples_are_read_and_named(tmp_path: Path) -> None:
    """As earlier versions wrote them; a run that goes on from such a file stays without."""
    sg.simulate(rubbing(torsional=0.02), duration=0.05, h=H).save(tmp_path / "run.h5")
    tree = read_tree(tmp_path / "run.h5")
    del tree["contacts"]["couple"]
    write_tree(tmp_path / "old.h5", tree)
    audit = audit_file(tmp_path / "old.h5")
    assert wrong(audit) == set()
    assert len([what for what in audit.unchecked if "couples are not recorded" in what]) == 2
    old = sg.Trajectory.load(tmp_path / "old.h5")
    assert old.contact_log.couple is None
    assert not old.contacts(-1).couple.any()
    new = sg.Trajectory.load(tmp_path / "run.h5")
    assert new.contact_log.couple is not None
    assert new.contacts(3).couple[0, 2] == new.contact_log.couple[3, 0] != 0.0


# --- audit and verdict ---------------------------------------------------------


def bouncing() -> sg.Scene:
    """A ball that keeps its energy; at the ends of steps it swings by m g h v in each rebound."""
    scene = floor(friction=0.0, restitution=1.0)
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.8), name="ball")
    return scene


def swift_links() -> sg.Scene:
    """Joints are apart by more than a hundredth of half a link in some steps."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    for k in range(2):
        scene.add_body(sg.Box((0.25, 0.06, 0.06)), density=1000.0, position=(0.15 + 0.3 * k, 0, 1), name=f"link{k}")
        scene.add_joint("revolute", "link0" if k else None, f"link{k}", anchor=(0.3 * k, 0, 1), axis=(0, 1, 0))
    return scene


def contradiction() -> sg.Scene:
    """A ball that is pinned to the world, and to a hand that moves away."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="ball")
    scene.add_joint("spherical", None, "ball", anchor=(0, 0, 0))
    scene.add_fixed(sg.Sphere(0.01), motion=lambda t: np.array([0.4 + 0.01 * t, 0, 0]), name="hand")
    scene.add_joint("spherical", "hand", "ball", anchor=(0, 0, 0))
    return scene


def hung_weight() -> sg.Scene:
    """A weight on a spring, which gives back what it takes."""
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_body(sg.Sphere(0.05), mass=0.3, position=(0, 0, 0), name="weight")
    scene.add_spring(None, "weight", anchor=[(0, 0, 0.4), (0, 0, 0)], stiffness=200.0, damping=1.0)
    return scene


def row_of_balls() -> sg.Scene:
    """Return three balls that go on together once the first has met the others: they press by rounding."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.set_contact(friction=0.0)
    for x, speed in ((-0.3, 1.0), (0.2, 0.0), (0.4, 0.0)):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(x, 0, 0), velocity=(speed, 0, 0))
    return scene


def tossed_ellipsoid() -> sg.Scene:
    """Return an ellipsoid that rocks and rolls on the floor in steps that are posed again about their ends."""
    rng = np.random.default_rng(18)
    scene, turn = floor(friction=0.5), rng.normal(size=4)
    velocity, spin = rng.normal(size=3), rng.normal(size=3)
    scene.add_body(
        sg.Ellipsoid((0.03, 0.05, 0.02)),
        density=1000.0,
        position=(0, 0, 0.055),
        orientation=turn / np.linalg.norm(turn),
        velocity=0.5 * velocity,
        angular_velocity=5.0 * spin,
    )
    return scene


def swift_boxes() -> sg.Scene:
    """Return two boxes that meet at 30 m/s."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.set_contact(friction=0.3)
    scene.add_body(sg.Box((0.5, 0.5, 0.5)), mass=1.0, position=(0, 0, 0))
    scene.add_body(sg.Box((0.3, 0.3, 0.3)), mass=1.0, position=(1.53, 0.35, 0), velocity=(-30, 0, 0))
    return scene


def hung_by_a_rod() -> sg.Scene:
    """Return a ball that swings at the end of a rod without mass."""
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.05), mass=1.0, position=(0.3, 0, 0), name="ball")
    scene.add_joint("distance", None, "ball", anchor=((0, 0, 0.4), (0.3, 0, 0)))
    return scene


def held_four_bar() -> sg.Scene:
    """Return a loop that a drive holds at rest."""
    corners = np.array([(0.0, 0.0), (0.0, 0.25), (0.8, 0.55), (0.7, 0.0)])
    scene = sg.Scene(planar=True)
    for k in range(3):
        a, b = corners[k], corners[k + 1]
        rod = sg.Segment((-np.linalg.norm(b - a) / 2, 0), (np.linalg.norm(b - a) / 2, 0), radius=0.02)
        turn = float(np.arctan2(*(b - a)[::-1]))
        scene.add_body(rod, mass=1.0, position=(a + b) / 2, orientation=turn, name=f"rod{k}")
    scene.exclude("rod0", "rod2")
    for k, corner in enumerate(corners):
        one, other = (None if k == 0 else f"rod{k - 1}"), (f"rod{k}" if k < 3 else None)
        held: dict[str, Any] = {"motion": lambda t: 0.0} if k == 0 else {}
        one, other = (one, other) if other is not None else (None, one)
        scene.add_joint("revolute", one, other, anchor=corner, **held)
    return scene


def trammel() -> sg.Scene:
    """Return a ladder between two sliders, which falls: at the ends of steps joints seem to take what they give."""
    scene, turn = sg.Scene(), 1.0
    ends = np.array([(np.cos(turn), 0, 0), (0, 0, np.sin(turn))])
    leans = (np.cos(0.5 * turn), 0, np.sin(0.5 * turn), 0)
    scene.add_body(sg.Box((1, 0.05, 0.05)), mass=4.0, position=ends.mean(axis=0), orientation=leans, name="ladder")
    for k, axis in enumerate([(1, 0, 0), (0, 0, 1)]):
        scene.add_body(sg.Box((0.05, 0.05, 0.05)), mass=0.5, position=ends[k], name=f"slider{k}")
        scene.add_joint("prismatic", None, f"slider{k}", anchor=ends[k], axis=axis)
        scene.add_joint("revolute", f"slider{k}", "ladder", anchor=ends[k], axis=(0, 1, 0))
        scene.exclude(f"slider{k}", "ladder")
    return scene


def shaken_pendulum() -> sg.Scene:
    """Return a pendulum that stands on its head on a pivot that is shaken: in long steps joints give it energy."""
    scene, rate = sg.Scene(), 120.0
    scene.add_fixed(sg.Sphere(0.01), motion=lambda t: (0, 0, 0.02 * (1.0 - np.cos(rate * t))), name="pivot")
    place = np.array([0.2 * np.sin(0.5), 0, 0.2 * np.cos(0.5)])
    scene.add_body(sg.Sphere(0.02), mass=0.2, position=place, name="bob")
    scene.add_joint("revolute", "pivot", "bob", anchor=(0, 0, 0), axis=(0, 1, 0))
    return scene


def under_a_ceiling() -> sg.Scene:
    """Return a ball that begins a little inside what is above it: parted, it is lower, and no contact gave anything."""
    scene = sg.Scene()
    scene.add_fixed(sg.Box((1, 1, 0.2)), position=(0, 0, 0.2), name="ceiling")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 1e-4), name="ball")
    scene.set_contact(friction=0.3)
    return scene


@pytest.mark.parametrize(
    ("make", "h", "grade"),
    [
        (under_a_ceiling, 0.01, "trusted"),
        (trammel, 0.02, "trusted"),
        (shaken_pendulum, 0.005, "trusted with remarks"),
        (shaken_pendulum, 0.02, "not trusted"),  # joints take more than half of its energy
        (hung_by_a_rod, 0.002, "trusted"),
        (held_four_bar, 0.002, "trusted"),
        (bouncing, 0.01, "trusted"),
        (bouncing, 0.001, "trusted"),
        (swift_links, 0.01, "trusted"),
        (contradiction, 0.002, "not trusted"),
        (hung_weight, 0.002, "trusted"),
        (row_of_balls, 0.002, "trusted"),
        (tossed_ellipsoid, 0.005, "trusted"),
        (swift_boxes, 0.01, "trusted with remarks"),
    ],
)
def test_audit_and_verdict_agree(make: Callable[[], sg.Scene], h: float, grade: str) -> None:
    scene = make()
    run = sg.simulate(scene, duration=0.5, h=h, on_failure="keep")
    audit = audit_tree(run.tree(), scene=scene)
    assert run.verdict == grade, run.remarks()
    assert str(audit.verdict) == grade, audit.text()


def test_gains_of_collisions_follow_from_the_motion() -> None:
    """A rod that Newton's law lets gain energy, by 0.04 J of 0.6 J, does so whatever the balance says of overlaps."""
    W = Rod(0.0).W
    tree = Rod(-0.95 * W[0, 1] / W[0, 0]).simulate("newton").tree()
    found = audit_tree(tree).of("energy gained in a step")
    assert found.worst > 0.04
    tree["balance"]["correction_work"] += 1e3
    assert audit_tree(tree).of("energy gained in a step") == found


@pytest.mark.parametrize(
    ("speed", "more", "found"),
    [(-1.0, 1e-3, False), (-1.0, 3e-3, True), (-1.0, -1e-3, True), (0.0, 1e-3, True)],
    ids=["room to pass", "too much room", "too early", "at rest"],
)
def test_a_gap_may_be_wider_by_what_closes_in_the_step(speed: float, more: float, found: bool) -> None:
    """A ball of 0.2 m at the floor; in 2 ms at 1 m/s it comes closer by 2 mm. What passes by is posed like that."""
    scene = floor(friction=0.0)
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(0, 0, speed), name="ball")
    tree = sg.simulate(scene, duration=0.01, h=H).tree()
    tree["contacts"]["gap"][0] += more
    assert ("gaps of contacts" in wrong(audit_tree(tree))) is found


@pytest.mark.parametrize(("spin", "grade"), [(0.0, Grade.REMARKS), (5.0, Grade.TRUSTED)])
def test_steps_may_part_what_turning_makes_overlap(spin: float, grade: Grade) -> None:
    """A block of 0.1 m is lifted by half a millimetre; turning by 0.01 rad in a step its corners move by more."""
    scene = floor(friction=0.0)
    scene.add_body(
        sg.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.05), angular_velocity=(0, 0, spin), name="block"
    )
    tree = sg.simulate(scene, duration=0.01, h=H).tree()
    start = tree["contacts"]["start"]
    tree["contacts"]["gap"][start[2] : start[3]] = -5e-4
    tree["q"][3:, 1, 2] += 5e-4
    finding = audit_tree(tree).of("overlaps parted by")
    assert finding.grade is grade
    assert finding.worst == pytest.approx(5e-3 if grade is Grade.REMARKS else 0.0)


def test_bodies_moved_onto_their_joints_are_named() -> None:
    """A link that turns by half a radian in a step, against friction: the file does not tell how it was moved."""
    scene = sg.Scene(gravity=(0, 0, 0))
    swift: dict[str, Any] = {"velocity": (0, 0, -25), "angular_velocity": (0, 250, 0)}
    scene.add_body(sg.Box((0.2, 0.05, 0.05)), mass=1.0, position=(0.1, 0, 0), name="link", **swift)
    scene.add_joint("revolute", None, "link", anchor=(0, 0, 0), axis=(0, 1, 0), friction=1e-6)
    run = sg.simulate(scene, duration=0.02, h=0.002)
    audit = audit_tree(run.tree())
    assert run.verdict == "trusted"
    assert run.certificate.moved_onto.all()
    assert wrong(audit) == set()
    named = "turning and places of joined bodies in 10 steps: they were moved onto their joints"
    assert named in audit.unchecked
    tree = run.tree()
    tree["joints"]["reaction"][3, 0, 0] *= 1.001
    assert wrong(audit_tree(tree)) == {"momentum"}


# --- the command ---------------------------------------------------------------


def test_the_command_tells_by_its_exit_code(runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(runs.path("stack"))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Trusted: every check holds."
    tree = runs.tree("stack")
    scaled_impulse(tree)
    write_tree(tmp_path / "bad.h5", tree)
    assert main(["audit", str(tmp_path / "bad.h5"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "not trusted"


def test_rounding_of_reactions_does_not_tell_how_bodies_turn() -> None:
    """A box that hangs and swings a little flies, and does not turn evenly; else it were not where it goes."""
    scene, spin = sg.Scene(), np.array([0.01, 0.015, 0.01])
    words: dict[str, Any] = {"velocity": np.cross(spin, (0, 0, -0.1)), "angular_velocity": spin}
    scene.add_body(sg.Box((0.2, 0.1, 0.02)), mass=1.0, position=(0, 0, -0.1), name="box", **words)
    scene.add_joint("spherical", None, "box", anchor=(0, 0, 0))
    tree = sg.simulate(scene, duration=2.0, h=0.01, progress=False).tree()
    # The moments of the reactions are 1e-2 N m s, the bound for what is missed of them 1e-9 of that.
    reaction, r = tree["joints"]["reaction"], np.random.default_rng(0)
    tree["joints"]["reaction"] = reaction + 3e-12 * r.uniform(-1, 1, reaction.shape) * [0, 0, 0, 1, 1, 1]
    audit = audit_tree(tree, scene=scene)
    assert audit.verdict is Grade.TRUSTED, audit.text()
