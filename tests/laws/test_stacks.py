"""Stacks: what stands keeps standing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import signorini as sg
from signorini.audit import audit_file
from signorini.engine import arrays as ea
from signorini.solvers.island_table import FIRST
from tests.scenes import GRAVITY, stack


def drift(trajectory: sg.Trajectory, count: int) -> float:
    """Return how far any box ever was from its place."""
    return max(
        float(np.linalg.norm(trajectory.position(f"box{k}") - [0, 0, 0.5 + k], axis=1).max()) for k in range(count)
    )


def test_ten_boxes_stand() -> None:
    """Law: a stack of ten boxes at rest stays at rest; drift below 1e-6 m in 5 s."""
    trajectory = sg.simulate(stack(10), duration=5.0, h=0.005, tolerance=1e-10)
    assert drift(trajectory, 10) < 1e-6
    assert trajectory.certificate.residual.max() <= 1e-9


def test_ten_boxes_do_not_creep() -> None:
    """Law: at the default tolerance of 1e-6 as well errors do not add up: below 0.1 micrometre in 10 s.

    The tolerance alone allows 1e-6 of what the weight of the stack does in a step, 10 g h: 5 micrometres in 10 s.
    """
    simulator = sg.Simulator(stack(10), h=0.005)
    began = simulator.state.q.copy()
    for _ in range(10):
        assert simulator.run(200) == 0
        assert np.abs(simulator.state.q - began)[:, :3].max() < 1e-7


@pytest.mark.parametrize("count", [2, 5])
def test_heavy_on_light_stands(count: int) -> None:
    """Law: 1000 kg on boxes of 1 kg stands too, and the floor carries the whole weight."""
    h = 0.005
    trajectory = sg.simulate(stack(count, top_mass=1000.0), duration=2.0, h=h, tolerance=1e-10)
    assert drift(trajectory, count) < 1e-6
    assert trajectory.certificate.residual.max() <= 1e-9
    table = trajectory.contacts(-1)
    floor = sum(p for p, (a, _) in zip(table.normal_impulse, table.bodies, strict=True) if a == "floor")
    # A residual of 1e-10 of the impulses leaves 1e-8 m/s at the contacts of the light boxes, 1e-5 N s of the heavy one.
    assert floor == pytest.approx((1000.0 + count - 1) * GRAVITY * h, rel=1e-5)


@pytest.mark.parametrize("ratio", [1e3, 1e6])
@pytest.mark.parametrize("growing", [True, False])
def test_ten_boxes_stand_under_great_weight(ratio: float, *, growing: bool) -> None:
    """Law: masses that grow from box to box, or one great mass on top, do not shift ten boxes by 0.1 mm in 5 s.

    A residual of 1e-8 alone does not tell: relative to a million kilograms, it is a hundredth of the lowest box.
    """
    masses = np.geomspace(1.0, ratio, 10) if growing else [1.0] * 9 + [ratio]
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, mass in enumerate(masses):
        scene.add_body(sg.Box((1, 1, 1)), mass=float(mass), position=(0, 0, 0.5 + k), name=f"box{k}")
    scene.set_contact(friction=0.5)
    trajectory = sg.simulate(scene, duration=5.0, h=0.005, tolerance=1e-8)
    assert trajectory.certificate.residual.max() <= 1e-8
    assert drift(trajectory, 10) < 1e-5


@pytest.mark.parametrize(
    ("shape", "masses", "h"),
    [
        ("box", (1.0, 1.0, 1e6), 0.01),
        ("box", (1.0, 1.0, 1e10), 0.01),
        ("box", (1.0, 1e12), 0.005),
        ("cylinder", (1.0, 1.0, 1e6), 0.01),
        ("cylinder", (1e-6, 1.0), 0.001),
    ],
)
def test_nothing_but_exactness_holds_light_bodies(shape: str, masses: tuple[float, ...], h: float) -> None:
    """Law: without friction flat faces leave no force along them, however heavy the uppermost body is.

    A turn of a light body by 1e-9 under a million times its weight would push it aside with a thousandth of this.
    """
    solid = sg.Box((1, 1, 1)) if shape == "box" else sg.Cylinder(radius=0.5, length=1.0)
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, mass in enumerate(masses):
        scene.add_body(solid, mass=mass, position=(0, 0, 0.5 + k), name=f"box{k}")
    scene.set_contact(friction=0.0)
    trajectory = sg.simulate(scene, duration=5.0, h=h)
    assert drift(trajectory, len(masses)) < 1e-5
    assert trajectory.verdict == "trusted"


def column(
    shape: str, masses: tuple[float, ...], drop: float, friction: float, *, aside: tuple[float, float] = (0.0, 0.0)
) -> sg.Scene:
    """Return bodies of a metre on each other, the uppermost `drop` above its place, and perhaps aside of it."""
    solid = sg.Box((1, 1, 1)) if shape == "box" else sg.Cylinder(radius=0.5, length=1.0)
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, mass in enumerate(masses):
        top = k == len(masses) - 1
        x, y = aside if top else (0.0, 0.0)
        scene.add_body(solid, mass=mass, position=(x, y, 0.5 + k + (drop if top else 0.0)), name=f"box{k}")
    scene.set_contact(friction=friction)
    return scene


def sideways(trajectory: sg.Trajectory, count: int) -> float:
    """Return how far any box ever was beside its place."""
    places = [trajectory.position(f"box{k}")[:, :2] for k in range(count)]
    return max(float(np.abs(place - place[0]).max()) for place in places)


@pytest.mark.parametrize(
    ("shape", "masses", "drop", "friction"),
    [
        ("box", (1.0, 1e6), 0.5, 0.0),
        ("box", (1.0, 1e8), 0.01, 0.0),
        ("box", (1.0, 1.0, 1e10), 0.5, 0.0),
        ("box", (1.0, 1e5, 1.0, 1e5), 0.5, 0.0),
        ("cylinder", (1.0, 1e3), 0.01, 0.5),
        ("cylinder", (1.0, 1e6), 0.5, 0.0),
        ("cylinder", (1.0, 1e10), 0.5, 0.0),
    ],
)
def test_what_heavy_bodies_fall_on_stays(shape: str, masses: tuple[float, ...], drop: float, friction: float) -> None:
    """Law: flat on flat, a fall has no part along the faces: light bodies go nowhere, and all come to rest."""
    trajectory = sg.simulate(column(shape, masses, drop, friction), duration=1.5, h=0.01)
    assert trajectory.verdict == "trusted"
    assert sideways(trajectory, len(masses)) < 1e-5
    heights = [trajectory.position(f"box{k}")[-1, 2] for k in range(len(masses))]
    assert heights == pytest.approx([0.5 + k for k in range(len(masses))], abs=1e-5)


def test_heavy_bodies_may_fall_off_centre() -> None:
    """Law: the same where the light body bears the fall on one side, and few of its contacts bear much."""
    scene = column("cylinder", (1.0, 1e5), 0.3, 0.0, aside=(0.11, 0.07))
    trajectory = sg.simulate(scene, duration=1.0, h=0.01)
    assert trajectory.verdict == "trusted"
    assert sideways(trajectory, 2) < 1e-5


@pytest.mark.parametrize("shape", ["box", "cylinder"])
@pytest.mark.parametrize("mass", [1e2, 1e4])
def test_heavy_bodies_are_lifted_from_light_ones(shape: str, mass: float) -> None:
    """Law: an overlap of 10 micrometres is taken back by lifting what is above, however heavy, and all stands."""
    trajectory = sg.simulate(column(shape, (1.0, mass), -1e-5, 0.5), duration=2.0, h=0.01)
    assert trajectory.certificate.overlap[-1] < 5e-7
    assert drift(trajectory, 2) < 2e-5
    assert trajectory.verdict == "trusted"


@pytest.mark.parametrize("shape", ["box", "cylinder"])
@pytest.mark.parametrize("drop", [0.0, 0.01, 0.5])
@pytest.mark.filterwarnings("ignore::signorini.errors.SceneWarning")
def test_what_rounding_moves_is_told(shape: str, drop: float) -> None:
    """Law: where double precision does not tell where a light body goes, the run is not trusted, and names the body."""
    trajectory = sg.simulate(column(shape, (1.0, 1e13), drop, 0.0), duration=1.5, h=0.01, on_failure="keep")
    if sideways(trajectory, 2) > 1e-3:
        assert trajectory.verdict == "not trusted"
        assert any("errors of contacts push a body aside" in line and "'box0'" in line for line in trajectory.remarks())


def test_a_wall_beside_the_heavy_body_hides_nothing() -> None:
    """Law: what contacts of the heavy body are used to says nothing of those of light ones below it."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for side in (-1.0, 1.0):
        scene.add_fixed(sg.HalfSpace(normal=(-side, 0, 0)), position=(0.5 * side, 0, 0))
    for k, mass in enumerate((1.0, 1.0, 1e6)):
        scene.add_body(sg.Box((1, 1, 1)), mass=mass, position=(0, 0, 0.5 + k), name=f"box{k}")
    scene.set_contact(friction=0.0)
    assert drift(sg.simulate(scene, duration=5.0, h=0.01), 3) < 1e-5


def test_momentum_is_kept_under_great_weight(tmp_path: Path) -> None:
    """Law: velocities that rounding hides are no other motion: the audit finds Newton's equations kept."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, mass in enumerate((1.0, 1e12)):
        scene.add_body(sg.Box((1, 1, 1)), mass=mass, position=(0, 0, 0.5 + k), name=f"box{k}")
    scene.set_contact(friction=0.5)
    trajectory = sg.simulate(scene, duration=0.5, h=0.01)
    assert drift(trajectory, 2) < 1e-9
    trajectory.save(tmp_path / "stack.h5")
    audit = audit_file(tmp_path / "stack.h5")
    assert audit.verdict == "trusted"
    assert audit.of("momentum").worst < 1e-12


def test_ten_boxes_stand_with_the_polygon() -> None:
    """The polygonal cone holds the stack as well (fewer steps: its LCP has 400 variables)."""
    trajectory = sg.simulate(stack(10), duration=0.1, h=0.005, formulation=sg.StewartTrinkle(directions=4))
    assert drift(trajectory, 10) < 1e-6
    assert trajectory.certificate.residual.max() <= 1e-9


def test_only_an_island_that_resists_goes_to_the_robust_solver() -> None:
    """Law: a hard island costs the others nothing. A ball that rolls is solved by sweeps, a stack at rest is not."""
    scene = stack(10)
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(10, 0, 0.5), velocity=(1, 0, 0), name="ball")
    simulator = sg.Simulator(scene, h=0.005)
    assert simulator.engine is not None
    assert simulator.step().residual <= 1e-6
    islands = simulator.engine.arena[ea.ISLAND][: simulator.engine.arena[ea.COUNTS][ea.ISLANDS]]
    assert sorted(islands[:, ea.N_CONTACTS]) == [1, 40]
    known = simulator.engine.arena[ea.ROBUST][FIRST, 1] - 1  # contacts of the island that the robust solver saw last
    assert known == 40


def test_what_rounding_forbids_is_not_tried_for_long() -> None:
    """A box of 1e12 kg falls on one of 1 kg: no step takes the thousands of iterations that the robust methods may."""
    scene = sg.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k, mass in enumerate((1.0, 1e12)):
        box = sg.Box((0.2, 0.2, 0.2))
        scene.add_body(box, mass=mass, position=(0, 0, 0.1 + 0.2 * k), velocity=(0, 0, -0.1 * k), name=f"box{k}")
    scene.set_contact(friction=0.5, restitution=0.3)
    trajectory = sg.simulate(scene, duration=0.05, h=5e-3, on_failure="keep")
    assert 100 < trajectory.certificate.iterations.max() < 2000
