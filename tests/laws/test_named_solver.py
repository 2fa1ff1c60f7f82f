"""A solver that the user names: it solves every island of the step, and the law of the step is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.problems import FrictionProblem
from signorini.solvers import Control
from tests.joint_scenes import GRAVITY
from tests.laws.test_compiled_joints import cart, linkage, loaded_robot
from tests.laws.test_compiled_laws import balls, heap, planar_heap
from tests.laws.test_oracle import row

TOLERANCE = 1e-12
AGREED = 1e-8  # of the fastest velocity


def sunk() -> sg.Scene:
    """Return balls that overlap each other and the floor by up to a tenth of their radius, some of them moving."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, place in enumerate(((0, 0, 0.095), (0.19, 0, 0.099), (0.1, 0.17, 0.09), (0.1, 0.06, 0.24))):
        scene.add_body(sg.Sphere(0.1), mass=1.0 + k, position=place, velocity=(0.3 * k, -0.2, 0), name=f"ball {k}")
    scene.set_contact(friction=0.4)
    return scene


def many_frictions() -> sg.Scene:
    """Return balls of which one has torsional and rolling friction, another an ellipsoid with a couple."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(3):
        scene.add_body(
            sg.Sphere(0.1),
            mass=1.0,
            position=(0, 0.5 * k, 0.1),
            velocity=(1, 0, 0),
            angular_velocity=(1, 2, 5),
            name=f"ball {k}",
        )
    scene.add_body(sg.Box((0.1, 0.1, 0.1)), position=(2, 2, 1), name="box")  # joints make one problem of all islands
    scene.add_joint("prismatic", None, "box", anchor=(2, 2, 1), axis=(0, 0, 1))
    scene.set_contact(friction=0.4)
    scene.set_contact(friction=0.9, torsional=0.01, rolling=0.003, between=("floor", "ball 0"))
    scene.set_contact(friction=0.5, ellipsoid=(1.0, 0.5, 0.01), between=("floor", "ball 1"))
    return scene


SCENES: dict[str, tuple[Callable[[], sg.Scene], dict[str, Any]]] = {
    "overlaps": (sunk, {}),
    "many frictions": (many_frictions, {}),
    "heap": (lambda: heap(1), {}),
    "planar": (planar_heap, {}),
    "restitution": (lambda: heap(3, restitution=0.5), {}),
    "newton": (lambda: heap(3, restitution=0.5), {"restitution_law": "newton"}),
    "poisson": (lambda: balls(restitution=0.5), {"restitution_law": "poisson"}),
    "theta": (lambda: heap(2, shaken=True), {"theta": 0.5}),
    "springs": (lambda: heap(1), {"stiffness": 2e4}),
    "joints": (lambda: cart(depth=0.01), {}),
    "loop": (linkage, {}),
    "robot": (loaded_robot, {}),
    "torsional": (lambda: balls(torsional=0.01, rolling=0.02), {}),
    "rolling": (lambda: balls(rolling=0.02), {"theta": 0.5}),
    "joints, theta": (lambda: row(restitution=0.5), {"theta": 0.5}),
    "joints, springs": (row, {"stiffness": 3e4}),
    "joints, poisson": (lambda: row(restitution=0.5), {"restitution_law": "poisson"}),
    "joints, rolling": (lambda: row(rolling=0.005), {}),
}


@pytest.mark.filterwarnings("ignore::signorini.SceneWarning")
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("solver", [sg.NSGS(), sg.FrictionAuto()], ids=["NSGS", "auto"])
def test_the_law_does_not_depend_on_the_solver(solver: Any, name: str) -> None:
    """Law: from the same state a step ends with the same velocities, whoever solves it.

    Scenes in which Coulomb's law determines the velocities. Sweeps alone do not know couples, and of boxes they leave
    some steps unsolved at this tolerance: these say so, and are left out.
    """
    make, options = SCENES[name]
    if isinstance(solver, sg.NSGS) and name in ("torsional", "rolling", "joints, rolling", "many frictions"):
        solver = sg.ExtendedFriction()
    own, named = (
        sg.Simulator(make(), h=2e-3, tolerance=TOLERANCE, formulation=sg.MoreauJean(solver=one, **options))
        for one in (None, solver)
    )
    compared = pressed = 0
    for _ in range(100):
        named.restore(own.snapshot())
        first, second = own.step(), named.step()
        assert first.certificate.status == sg.Status.SOLVED
        if second.certificate.status != sg.Status.SOLVED:
            assert isinstance(solver, sg.NSGS)
            continue
        compared += 1
        np.testing.assert_allclose(named.state.v, own.state.v, rtol=0.0, atol=AGREED * np.abs(own.state.v).max())
        np.testing.assert_allclose(named.state.q, own.state.q, rtol=0.0, atol=AGREED)
        assert second.certificate.correction_work == pytest.approx(first.certificate.correction_work, abs=1e-9)
        pressed += bool(second.result.impulse[:, 0].any())
    assert compared >= 90
    assert pressed >= 8


@dataclass
class Witness:
    """A solver by a user, which remembers what it was asked and says how it ended."""

    status: sg.Status = sg.Status.SOLVED
    asked: list[FrictionProblem] = field(default_factory=list)

    def solve(self, problem: FrictionProblem, control: Control) -> sg.Solution:
        self.asked.append(problem)
        z = sg.solve(problem, tolerance=control.tolerance, start=control.start).z
        if self.status not in (sg.Status.SOLVED, sg.Status.SEVERAL_SOLUTIONS):
            z = 0.0 * z
        return sg.Solution(z, self.status, 0.0, 7, seconds=0.25, solver="witness", info={"known": 1})


def apart() -> sg.Scene:
    """Return a stack of two boxes and a ball far from it."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(2):
        scene.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1 + 0.2 * k), name=f"box {k}")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(3, 0, 0.1), name="ball")
    scene.set_contact(friction=0.5)
    return scene


def test_every_island_is_a_problem_of_its_own() -> None:
    witness = Witness()
    simulator = sg.Simulator(apart(), h=0.01, formulation=sg.MoreauJean(solver=witness))
    report = simulator.step()
    assert [problem.contact_count for problem in witness.asked] == [8, 1]
    assert report.result.problem.contact_count == 9
    assert report.result.problem.residual(report.result.solution.z) <= 1e-6
    solution = report.result.solution
    assert (solution.solver, solution.iterations, solution.seconds) == ("witness", 7, 0.5)
    assert solution.info == {"known": 1}
    assert report.certificate.iterations == 7
    assert report.certificate.solve_time == 0.5


@pytest.mark.parametrize("status", [sg.Status.TIME_LIMIT, sg.Status.RAY, sg.Status.SEVERAL_SOLUTIONS], ids=str)
def test_how_the_solver_ended_is_told(status: sg.Status) -> None:
    formulation = sg.MoreauJean(solver=Witness(status))
    report = sg.Simulator(apart(), h=0.01, formulation=formulation).step()
    assert report.certificate.status == report.result.solution.status == status
    assert report.certificate.compliance == 0.0
    run = sg.simulate(apart(), duration=0.02, h=0.01, formulation=formulation, on_failure="keep")
    assert run.certificate.status.tolist() == [status, status]


@pytest.mark.parametrize("law", ["passive", "poisson"])
def test_what_a_solver_says_of_itself_counts_for_nothing(law: str) -> None:
    """Law: the problem is the judge, in collisions of two phases, too."""

    class Liar:
        def solve(self, problem: FrictionProblem, control: Control) -> sg.Solution:
            return sg.Solution(np.zeros(problem.size), sg.Status.SOLVED, 0.0, 1)

    scene = balls(restitution=0.5)
    run = sg.Simulator(scene, h=2e-3, formulation=sg.MoreauJean(solver=Liar(), restitution_law=law))
    reports = [run.step() for _ in range(20)]
    hit = [report for report in reports if report.certificate.residual > 0.1]
    assert hit
    assert {report.certificate.status for report in hit} == {sg.Status.STALLED}


def test_bodies_sleep_whoever_solves() -> None:
    formulation = sg.MoreauJean(solver=sg.NSGS(), sleeping=True)
    run = sg.simulate(apart(), duration=1.5, h=0.01, formulation=formulation)
    assert run.certificate.asleep[-1] == 3
    assert not run.certificate.failed().any()


def test_without_contacts_nobody_is_asked() -> None:
    scene, witness = sg.Scene(), Witness()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 1), name="ball")
    report = sg.Simulator(scene, h=0.01, formulation=sg.MoreauJean(solver=witness)).step()
    assert not witness.asked
    assert report.result.solution.success
    assert report.result.solution.solver == "Witness"
