"""What is said of a scene at the door and of a run, and what is not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.cli import main
from signorini.model.thickness import thinnest_extents
from signorini.scene import compile_scene, scene_from_text, scene_to_text
from tests.joint_scenes import chain, pendulum, slider, wheel
from tests.scenes import box_on_slope, rough_sphere, stack, tumble

H = 0.01


def floor(*, friction: float | None = 0.5, **words: Any) -> sg.Scene:
    """Return a scene with a floor."""
    scene = sg.Scene(**words)
    scene.add_fixed(sg.HalfSpace(), name="floor")
    if friction is not None:
        scene.set_contact(friction=friction)
    return scene


def ball(scene: sg.Scene | None = None, **words: Any) -> sg.Scene:
    """Return a scene with a ball of 0.1 m, by default at rest on a floor."""
    scene = floor() if scene is None else scene
    scene.add_body(sg.Sphere(0.1), **{"mass": 1.0, "position": (0, 0, 0.1), "name": "ball", **words})
    return scene


def block(scene: sg.Scene, height: float = 0.1, **words: Any) -> sg.Scene:
    """Add a cube of 0.2 m with its centre at `height`."""
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, height), name="block", **words)
    return scene


def ram(height: float = 0.1, **words: Any) -> sg.Scene:
    """Return a block that a joint drives along z."""
    scene = block(floor(), height)
    joint = {"motion": lambda t: -0.3 * t, "name": "ram", **words}
    scene.add_joint("prismatic", None, "block", anchor=(0, 0, height), axis=(0, 0, 1), **joint)
    return scene


def plate(scene: sg.Scene, low: float, speed: float, name: str = "plate") -> sg.Scene:
    """Add a plate 0.1 m thick that moves up at `speed`, its lower face at `low` at first."""
    scene.add_fixed(sg.Box((0.3, 0.3, 0.1)), motion=lambda t: (0, 0, low + 0.05 + speed * t), name=name)
    return scene


def spring(stiffness: float = 1.0, damping: float = 0.0) -> sg.Scene:
    scene = ball()
    scene.add_spring(None, "ball", anchor=[(0, 0, 1), (0, 0, 0.1)], stiffness=stiffness, damping=damping, name="rope")
    return scene


def turning(**words: Any) -> sg.Scene:
    """Return a bar on a hinge."""
    scene = sg.Scene(gravity=(0, 0, 0))
    start = {key: words.pop(key) for key in ("velocity", "angular_velocity") if key in words}
    scene.add_body(sg.Box((1.0, 0.1, 0.1)), mass=1.0, position=(0.5, 0, 0), name="bar", **start)
    scene.add_joint("revolute", None, "bar", anchor=(0, 0, 0), axis=(0, 0, 1), name="hinge", **words)
    return scene


def flap() -> sg.Scene:
    """Return a thin bar that lies on the floor and that a hinge turns into it, fast in rad/s and slowly in m/s."""
    scene = floor()
    scene.add_body(sg.Box((0.0004, 0.0004, 0.0002)), mass=1.0, position=(0.0002, 0, 0.0001), name="bar")
    scene.add_joint(
        "revolute", None, "bar", anchor=(0, 0, 0.0001), axis=(0, 1, 0), motion=lambda t: 5.0 * t, name="hinge"
    )
    return scene


def constrained(psi: Callable[[Any, float], Any], kind: str) -> sg.Scene:
    scene = ball()
    scene.add_constraint(psi, ["ball"], kind=kind, name="rail")
    return scene


def light_and_heavy(mass: float) -> sg.Scene:
    scene = ball(mass=1e-3)
    scene.add_body(sg.Sphere(0.1), mass=mass, position=(1, 0, 0.1), name="rock")
    return scene


SUSPICIOUS: dict[str, tuple[sg.Scene, str, tuple[str, ...]]] = {
    "overlap": (ball(position=(0, 0, 0.07)), "overlap", ("'floor' and 'ball'", "0.03 m", "exclude")),
    "small overlap": (ball(position=(0, 0, 0.1 - 1e-5)), "overlap", ("'floor' and 'ball'", "1e-05 m")),
    "joint limit": (turning(limits=(0.5, 1.0)), "joint limit", ("'hinge'", "0 rad", "(0.5, 1) rad")),
    "motion start": (turning(motion=lambda t: 0.2 + t), "motion start", ("'hinge'", "0.2 rad", "0 rad")),
    "velocity": (turning(velocity=(0, 0, 2.0)), "joint velocity", ("'hinge'", "'bar'", "2 m/s")),
    "spin": (turning(angular_velocity=(0, 3.0, 0)), "joint velocity", ("'hinge'", "3 rad/s")),
    "equality": (constrained(lambda q, t: q[0] - 0.2, "equality"), "constraint", ("'rail'", "-0.2", "must be 0")),
    "inequality": (constrained(lambda q, t: q[2] - 0.3, "inequality"), "constraint", ("'rail'", "-0.2", ">= 0")),
    "no contact data": (
        ball(floor(friction=None)),
        "no contact data",
        ("friction 0 and restitution 0", "'floor' and 'ball'", "set_contact"),
    ),
    "fast": (ball(velocity=(30.0, 0, 0)), "fast body", ("'ball'", "0.3 m", "0.2 m thin", "h = 0.01 s", "h = 0.0007 s")),
    "fast turn": (ball(angular_velocity=(0, 0, 300.0)), "fast turn", ("'ball'", "3 rad", "h = 0.0003 s")),
    "fast wall": (plate(ball(), 5.0, -20.0), "fast body", ("'plate'", "0.2 m", "0.1 m thin")),
    "fast drive": (turning(motion=lambda t: 200 * t), "fast drive", ("'hinge'", "2 rad", "h = 0.0005 s")),
    "mass": (ball(mass=1e10), "far mass", ("'ball'", "1e+10 kg")),
    "position": (ball(position=(1e10, 0, 0.1)), "far position", ("'ball'", "1e+10 m")),
    "speed": (ball(velocity=(1e10, 0, 0)), "far speed", ("'ball'", "1e+10 m/s")),
    "gravity": (ball(floor(gravity=(0, 0, -1e10))), "far gravity", ("1e+10 m/s^2",)),
    "friction": (ball(floor(friction=1e10)), "far friction", ("friction is 1e+06 or more",)),
    "stiffness": (spring(stiffness=1e12), "far stiffness", ("'rope'", "1e+12 N/m")),
    "damping": (spring(damping=1e12), "far damping", ("'rope'", "1e+12 N s/m")),
    "mass ratio": (light_and_heavy(2e6), "mass ratio", ("'rock'", "2e+06 kg", "'ball'", "0.001 kg", "2.0e+09")),
    "plate on a block": (
        plate(block(floor()), 0.2001, -0.5),
        "pressed",
        ("body 'plate'", "'floor' and 'block'", "'plate' and 'block'", "t = 0 s", "m then", "effort_limit"),
    ),
    "ram": (ram(), "pressed", ("joint 'ram'", "'floor' and 'block'", "0.003 m", "effort_limit")),
    "ram on its stop": (ram(5.0, limits=(-0.001, 1.0)), "pressed", ("joint 'ram'", "its limit", "0.002 m")),
    "flap": (flap(), "pressed", ("joint 'hinge'", "'floor' and 'bar'", "effort_limit")),
    "plate into the floor": (
        plate(ball(position=(9, 0, 0.1)), 0.001, -0.5),
        "driven into",
        ("'plate'", "'floor'", "0.004 m at t = 0.01 s", "effort_limit"),
    ),
}


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_a_suspicious_scene_is_told(name: str) -> None:
    """One line names the thing, its value with unit, and what to try, in the name of the user's code."""
    scene, kind, words = SUSPICIOUS[name]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        simulator = sg.Simulator(scene, h=H)
    told = [one for one in simulator.warnings if one.kind == kind]
    assert len(told) == 1
    assert [str(one.message) for one in heard if issubclass(one.category, sg.SceneWarning)] == [
        str(one) for one in simulator.warnings
    ]
    assert all(one.filename == __file__ for one in heard)
    assert "\n" not in told[0].message
    for word in words:
        assert word in told[0].message, told[0].message


def test_large_bodies_are_told() -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(5e9), mass=1.0, position=(0, 0, 0), name="moon")
    with pytest.warns(sg.SceneWarning, match=r"body 'moon': size is 1e\+10 m, beyond 1e\+09"):
        sg.Simulator(scene, h=H)


def conveyor() -> sg.Scene:
    scene = block(sg.Scene())
    scene.add_fixed(sg.Box((10, 1, 0.2)), motion=lambda t: (t, 0, -0.1), name="belt")
    scene.add_fixed(sg.HalfSpace(offset=-0.15), name="ground")  # into which the belt reaches from the start
    scene.set_contact(friction=0.4)
    return scene


def lift() -> sg.Scene:
    """Return a block that a plate lifts, between two walls that go along."""
    scene = plate(block(sg.Scene()), -0.1, 0.5)
    wall = sg.Box((0.1, 0.3, 0.3))
    scene.add_fixed(wall, motion=lambda t: (-0.15, 0, 0.15 + 0.5 * t), name="left wall")
    scene.add_fixed(wall, motion=lambda t: (0.15, 0, 0.15 + 0.5 * t), name="right wall")
    scene.set_contact(friction=0.4)
    return scene


def mechanism() -> sg.Scene:
    """Return three links of one chain, of which the first and the last could touch; nothing is said of contacts."""
    scene = chain(3)
    scene.contact_given = False
    scene.fixed.clear()
    return scene


HARMLESS: dict[str, Callable[[], sg.Scene]] = {
    "slope": lambda: box_on_slope(0.3, 0.5),
    "stack": lambda: stack(4),
    "sphere": rough_sphere,
    "tumble": lambda: tumble(1),
    "pendulum": pendulum,
    "slider": slider,
    "wheel": wheel,
    "chain": lambda: chain(4),
    "overlaps by rounding": lambda: ball(position=(0, 0, 0.1 - 1e-8)),
    "frictionless by choice": lambda: ball(floor(friction=0.0)),
    "mechanism": mechanism,
    "alone and fast": lambda: ball(sg.Scene(), velocity=(80.0, 0, 0)),
    "conveyor": conveyor,
    "lift": lift,
    "motor of limited effort": lambda: ram(motion=lambda t: -0.5, effort_limit=20.0),
    "drive with a jerk": lambda: turning(motion=lambda t: 2.0 * t),
    "hinge that turns": lambda: turning(velocity=(0, 1.0005, 0), angular_velocity=(0, 0, 2.0)),
    "stop at the start": lambda: turning(limits=(0.0, 1.0)),
    "stiff as steel": lambda: spring(stiffness=1e9),
}


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.filterwarnings("error")
def test_harmless_scenes_hear_nothing(name: str) -> None:
    assert sg.Simulator(HARMLESS[name](), h=H).warnings == []


def test_of_many_the_worst_is_named() -> None:
    scene = floor()
    for k in range(3):
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(k, 0, 0.1 - 0.01 * k), name=f"ball {k}")
    with pytest.warns(sg.SceneWarning, match=r"'floor' and 'ball 2' overlap by 0\.02 m at the start \(and 1 more\)"):
        assert len(sg.Simulator(scene, h=H).warnings) == 1


def test_a_run_says_it_once_and_keeps_it(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        trajectory = sg.simulate(ball(floor(friction=None)), duration=0.05, h=H)
    assert len(heard) == 1
    assert heard[0].filename == __file__
    assert trajectory.settings["warnings"] == [str(heard[0].message)]
    trajectory.save(tmp_path / "run.h5")
    assert sg.Trajectory.load(tmp_path / "run.h5").settings["warnings"] == trajectory.settings["warnings"]


@pytest.mark.parametrize("friction", [None, 0.5])
def test_checkpoints_from_before_there_were_warnings_go_on(tmp_path: Path, friction: float | None) -> None:
    path = tmp_path / "run.h5"
    run = sg.simulate(ball(floor(friction=friction)), duration=0.05, h=H)
    old = {key: value for key, value in run.settings.items() if key != "warnings"}
    run.settings.clear()
    run.settings.update(old, duration=0.1)
    run.save(path)
    resumed = sg.resume(path)
    assert resumed.step_count == 10
    assert len(resumed.settings["warnings"]) == (friction is None)


def test_the_command_line_warns_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scene.yaml"
    scene = ball(floor(friction=None), position=(0, 0, 0.09))
    scene.simulate = {"duration": 0.02, "h": H}
    scene.save(path)
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 1  # not trusted: they overlap by 0.05
    said = capsys.readouterr().err.splitlines()
    lines = [line for line in said if "compiling" not in line and "extra 'view'" not in line]
    assert len(lines) == 2
    assert lines[0].startswith("warning: bodies 'floor' and 'ball' overlap by 0.01 m")
    assert lines[1].startswith("warning: no contact data are given")


def test_files_keep_that_contacts_are_meant_to_be_frictionless() -> None:
    given, silent = ball(floor(friction=0.0)), ball(floor(friction=None))
    for scene, known in ((given, True), (silent, False)):
        text = scene_to_text(scene)
        assert text is not None
        assert scene_from_text(text, "text").contact_given is known


def test_a_segment_that_lies_askew_is_as_wide_as_it_is_long() -> None:
    scene = sg.Scene(planar=True)
    scene.add_body(sg.Segment((-0.6, -0.8), (0.6, 0.8)), mass=1.0, inertia=1.0, mass_centre=(0, 0), position=(0, 0))
    model = compile_scene(scene)
    assert thinnest_extents(model.shapes, model.hulls, 1)[0] == pytest.approx(2.0)


# --- while it runs -------------------------------------------------------------------


def presses_later(low: float = 0.205) -> sg.Scene:
    """Return a plate that comes down on a block on the floor, fast enough to touch it in the second step."""
    return plate(block(floor()), low, -0.4)


@pytest.mark.compiled_only
def test_what_a_drive_presses_is_said_when_it_happens() -> None:
    with pytest.warns(sg.SceneWarning, match="motion of body 'plate' presses") as heard:
        trajectory = sg.simulate(presses_later(), duration=0.06, h=H, on_failure="keep")
    assert len(heard) == 1
    text = str(heard[0].message)
    assert "'floor' and 'block'" in text
    assert "'plate' and 'block'" in text
    assert re.search(r"t = 0\.0[2-6] s", text)
    assert trajectory.settings["warnings"] == [text]


@pytest.mark.compiled_only
def test_a_step_that_fails_under_a_drive_says_so() -> None:
    with (
        pytest.warns(sg.SceneWarning),
        pytest.raises(sg.SolverFailure, match="the motion of joint 'ram' presses 'floor' and 'block' together at t = "),
    ):
        sg.simulate(ram(0.105), duration=0.1, h=H)


@pytest.mark.compiled_only
@pytest.mark.parametrize("way", ["step", "run"])
def test_simulators_say_it_too(way: str) -> None:
    simulator = sg.Simulator(presses_later(), h=H)
    assert simulator.warnings == []
    with pytest.warns(sg.SceneWarning, match="'plate' presses"):
        for _ in range(6):
            simulator.step() if way == "step" else simulator.run(1)
    assert [one.kind for one in simulator.warnings] == ["pressed"]


def test_overlap_of_other_causes_is_not_laid_on_drives() -> None:
    scene = ball(plate(floor(), 5.0, 0.1), position=(0, 0, 0.05))
    with pytest.warns(sg.SceneWarning, match="overlap"):
        trajectory = sg.simulate(scene, duration=0.05, h=H)
    assert len(trajectory.settings["warnings"]) == 1


def test_a_prescribed_body_that_goes_into_a_fixed_one_later_is_told() -> None:
    scene = plate(ball(position=(9, 0, 0.1)), 0.1, -1.0)
    with pytest.warns(sg.SceneWarning, match=r"motion of body 'plate' drives it into fixed body 'floor', by 0\.01 m"):
        sg.simulate(scene, duration=0.15, h=H)
    scene.exclude("plate", "floor")
    assert sg.simulate(scene, duration=0.15, h=H).settings["warnings"] == []


def thrown() -> sg.Scene:
    """Return a ball on the floor for which even the first step cannot be computed."""
    scene = ball(mass=1e-4)
    scene.add_force("ball", force=(1e306, 0, 0))
    return scene


def flying() -> sg.Scene:
    """Return a ball in flight whose speed is no number after the second step."""
    scene = ball(sg.Scene(), mass=1e-4)
    scene.add_force("ball", force=(1e306, 0, 0))
    return scene


def feedback() -> sg.Scene:
    """Return a ball that is pushed the harder the faster it is."""
    scene = ball(sg.Scene(gravity=(0, 0, 0)), velocity=(1.0, 0, 0))
    scene.add_force("ball", force=lambda t, state: (1e4 * state.v[0, 0], 0, 0))
    return scene


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
@pytest.mark.parametrize("way", ["simulate", "step", "run", "function"])
@pytest.mark.parametrize("scene", [thrown, flying, feedback])
def test_a_state_that_is_lost_names_body_time_and_load(scene: Callable[[], sg.Scene], way: str) -> None:
    what = r"step \d+.*: body 'ball' leaves the range of numbers at t = [\d.]+ s.* under a load"
    what += "" if scene is feedback else r" of 1e\+306 N"
    with pytest.raises(sg.SolverFailure, match=what) as caught:
        if way == "simulate":
            sg.simulate(scene(), duration=2.0, h=H, on_failure="keep")
        simulator = sg.Simulator(scene(), h=H, formulation=sg.StewartTrinkle() if way == "function" else None)
        for _ in range(200):
            simulator.step() if way == "step" else simulator.run(2)
    assert isinstance(caught.value.trajectory, sg.Trajectory) == (way == "simulate")


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
def test_controls_that_throw_a_body_are_the_load_named() -> None:
    simulator = sg.Simulator(ball(mass=1e-4), h=H)
    with pytest.raises(sg.SolverFailure, match=r"'ball' leaves .* under a load of 1e\+306 N"):
        for _ in range(5):
            simulator.step({"ball": [1e306, 0, 0, 0, 0, 0]})


def test_a_body_that_runs_away_is_told_once() -> None:
    """Its speed grows by a factor of 101 in a step: 1e9 m/s is passed in the fifth."""
    match = r"'ball' moves at 1\.05e\+10 m/s and 0 rad/s at t = 0\.05 s.* load of 1\.05e\+14 N"
    with pytest.warns(sg.SceneWarning, match=match):
        trajectory = sg.simulate(feedback(), duration=0.1, h=H)
    assert len(trajectory.settings["warnings"]) == 1


def test_a_force_that_is_no_number_tells_when() -> None:
    scene = ball()
    scene.add_force("ball", force=lambda t, state: (0.0 if t < 0.025 else np.inf, 0, 0))
    with pytest.raises(sg.InputError, match=r"force on 'ball': force at t = 0\.03 s is .*inf.*, must be finite"):
        sg.simulate(scene, duration=0.1, h=H)
