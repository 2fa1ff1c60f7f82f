"""By the recipes of docs/extending.rst a shape, a joint, a solver, a problem and a formulation come from outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from signorini.audit import Grade
from tests.extending.adhesion import Adhesion
from tests.extending.adhesive import Adhesive
from tests.extending.lens import Lens
from tests.extending.screw import add_screw
from tests.extending.sweeps import Sweeps
from tests.extending.wedge import Wedge

G, H = 9.81, 0.01


def over_floor(friction: float = 0.5) -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=friction)
    return scene


def test_shape_has_the_mass_of_two_caps() -> None:
    """A cap of height d cut off a ball of radius R has the volume pi d^2 (3 R - d)/3."""
    radius, centre = 1.0, 0.8
    d = radius - centre
    found = Lens(radius, centre).mass_properties(density=3.0)
    # Surfaces with an edge are integrated to about 1e-5.
    assert found.mass == pytest.approx(3.0 * 2.0 * np.pi * d**2 * (3.0 * radius - d) / 3.0, rel=1e-5)


def test_shape_rests_on_its_pole_and_carries_another() -> None:
    """A lens rests R - c above the floor, and a ball upon it r above its other pole."""
    scene = over_floor()
    scene.add_body(Lens(radius=1.0, centre=0.8), mass=2.0, position=(0, 0, 0.2), name="lens")
    scene.add_body(sg.Sphere(0.1), mass=0.5, position=(0, 0, 0.5), name="ball")
    trajectory = sg.simulate(scene, duration=0.2, h=H)
    assert trajectory.position("lens")[-1] == pytest.approx([0.0, 0.0, 0.2], abs=1e-6)
    assert trajectory.position("ball")[-1] == pytest.approx([0.0, 0.0, 0.5], abs=1e-6)
    assert trajectory.verdict is not Grade.NOT_TRUSTED


@pytest.mark.parametrize(("friction", "slides"), [(0.6, False), (0.4, True)])
def test_shape_by_corners_is_a_slope(friction: float, slides: bool) -> None:
    """On a ramp of slope 1/2 a box rests if friction is more than that, else it slides at g (sin - mu cos)."""
    scene = over_floor(friction)
    ramp, slope = Wedge(length=2.0, width=1.0, height=1.0), np.arctan(0.5)
    assert ramp.mass_properties(1.0).centre == pytest.approx([4.0 / 3.0, 0.0, 1.0 / 3.0])
    scene.add_fixed(ramp, name="ramp")
    up, along = np.array([-np.sin(slope), 0.0, np.cos(slope)]), np.array([np.cos(slope), 0.0, np.sin(slope)])
    turn = (np.cos(slope / 2.0), 0.0, -np.sin(slope / 2.0), 0.0)
    scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=1.2 * along + 0.1 * up, orientation=turn, name="box")
    simulator = sg.Simulator(scene, h=H)
    assert simulator.engine is not None, "steps are not compiled"
    speed = sg.simulate(scene, duration=0.2, h=H).linear_velocity("box")[-1] @ along
    expected = -0.2 * G * (np.sin(slope) - friction * np.cos(slope)) if slides else 0.0
    assert speed == pytest.approx(expected, abs=1e-6)


def test_joint_falls_as_its_pitch_lets_it() -> None:
    """A nut falls at g/(1 + kappa^2 J/m); steps of h reach n (n + 1)/2 a h^2 after n of them."""
    m, J, pitch, n = 2.0, 0.05, 0.5, 50
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_body(sg.Sphere(0.1), mass=m, inertia=np.diag([J, J, J]), position=(0, 0, 0), name="nut")
    add_screw(scene, "nut", pitch=pitch, name="screw")
    trajectory = sg.simulate(scene, duration=n * H, h=H)
    kappa = 2.0 * np.pi / pitch
    a = G / (1.0 + kappa**2 * J / m)
    z = trajectory.position("nut")[-1, 2]
    # Turn and way are linear in each other, so that nothing but the repetitions that close joints is left.
    assert z == pytest.approx(-0.5 * n * (n + 1) * a * H**2, rel=1e-7)
    turns = np.unwrap(2.0 * np.arctan2(*trajectory.orientation("nut")[:, [3, 0]].T), period=2.0 * np.pi)
    assert turns[-1] == pytest.approx(kappa * z, abs=1e-9)
    assert abs(turns[-1]) > np.pi


def test_solver_solves_steps() -> None:
    """A ball that slides ends up rolling at 5/7 of its speed, by whatever solver."""
    scene = over_floor(friction=0.2)
    scene.add_body(sg.Sphere(1.0), mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0), name="ball")
    formulation = sg.MoreauJean(solver=Sweeps())
    assert sg.Simulator(scene, h=H, formulation=formulation).step().result.solution.solver == "Sweeps"
    trajectory = sg.simulate(scene, duration=0.6, h=H, formulation=formulation, tolerance=1e-9)
    assert trajectory.linear_velocity("ball")[-1, 0] == pytest.approx(10.0 / 7.0, abs=1e-7)
    assert not trajectory.certificate.failed().any()


@pytest.mark.parametrize("solver", [sg.Lemke(), sg.PGS(), sg.Enumerate(), sg.SemismoothNewton()])
def test_problem_is_taken_by_solvers_of_other_kinds(solver: object) -> None:
    """Pulled apart by 1 m/s a contact of 2/kg holds with -1/2 Ns, one that holds 1/4 Ns gives way."""
    problem = Adhesion(2.0 * np.eye(2), np.array([1.0, 1.0]), np.array([1.0, 0.25]))
    found = sg.solve(problem, solver)  # type: ignore[arg-type]
    assert found.success
    assert found.z == pytest.approx([-0.5, -0.25], abs=1e-9)


def test_problem_goes_to_a_file_and_back(tmp_path: Path) -> None:
    problem = Adhesion(2.0 * np.eye(2), np.array([1.0, 1.0]), np.array([1.0, 0.25]))
    problem.save(tmp_path / "problem.npz")
    again = sg.load_problem(tmp_path / "problem.npz")
    assert isinstance(again, Adhesion)
    assert np.array_equal(again.W, problem.W)
    assert np.array_equal(again.a, problem.a)


def under_ceiling() -> sg.Scene:
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(normal=(0, 0, -1)), name="ceiling")
    scene.set_contact(friction=0.0)
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, -0.5), name="ball")
    return scene


@pytest.mark.parametrize(("pull", "first"), [(12.0, 0.0), (8.0, 8.0 - G), (0.0, -G)])
def test_formulation_holds_what_it_can(pull: float, first: float) -> None:
    """The ceiling holds 1 kg by 12 N, not by 8 N: then the first step falls at (8 - g), all others at g."""
    n = 20
    trajectory = sg.simulate(under_ceiling(), duration=n * H, h=H, formulation=Adhesive(pull=pull))
    speed = H * np.cumsum([first, *([-G if first else 0.0] * (n - 1))])
    assert trajectory.linear_velocity("ball")[1:, 2] == pytest.approx(speed, abs=1e-12)
    assert trajectory.position("ball")[-1, 2] == pytest.approx(-0.5 + H * speed.sum(), abs=1e-12)
    assert not trajectory.certificate.failed().any()
    assert np.abs(trajectory.certificate.energy_error).max() < 1e-12


def test_formulation_lets_balls_land() -> None:
    """What comes faster than it is held stops at the floor, at its radius to what a step leaves open."""
    scene = over_floor(friction=0.0)
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.7), name="ball")
    trajectory = sg.simulate(scene, duration=0.5, h=H, formulation=Adhesive(pull=1.0))
    assert trajectory.position("ball")[-1, 2] == pytest.approx(0.5, abs=1e-9)
    assert np.abs(trajectory.certificate.energy_error).max() < 1e-9


def test_formulation_refuses_what_it_cannot_take() -> None:
    scene = under_ceiling()
    scene.add_body(sg.Box((1, 2, 3)), mass=1.0, position=(0, 0, -3), name="box")
    with pytest.raises(sg.InputError, match="no ball"):
        sg.simulate(scene, duration=0.1, h=H, formulation=Adhesive(pull=1.0))


def test_page_names_what_is_made_here() -> None:
    """Each file of this folder is the example of a recipe."""
    here = Path(__file__).resolve().parent
    page = (here.parents[1] / "docs" / "extending.rst").read_text(encoding="utf-8")
    made = {path.name for path in here.glob("*.py")} - {"__init__.py", Path(__file__).name}
    assert {name for name in made if f"``tests/extending/{name}``" not in page} == set()
