"""Bodies that turn and slide: overlaps at the ends of steps, of which gaps posed at the start know nothing."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.posing.constants import TOO_CLOSE
from tests.scenes import corners_in_a_bin, tumble

REMARKED = 1e-3  # of the thinner body


def deepest(run: sg.Trajectory) -> float:
    return float(np.max(run.certificate.overlap / run.certificate.overlap_extent))


@pytest.mark.parametrize("seed", [0, 8, 9])
@pytest.mark.parametrize("h", [0.01, 0.005])
def test_tumbling_bodies_are_plainly_trusted(seed: int, h: float) -> None:
    """With gaps posed at the start alone overlaps reach 0.03 to 0.06 at h = 0.01."""
    run = sg.simulate(tumble(seed), duration=1.2, h=h)
    assert deepest(run) < REMARKED
    assert run.verdict == "trusted"


@pytest.mark.parametrize(("seed", "end"), [(72, 0.62), (87, 0.35)])
def test_a_cylinder_that_falls_on_its_rim_is_plainly_trusted(seed: int, end: float) -> None:
    """The lowest point of a rim is another at every end: with one contact for it overlaps reach 0.003 and 0.008."""
    r = np.random.default_rng(seed)
    scene, e = sg.Scene(), r.standard_normal(4)
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        sg.Cylinder(r.uniform(0.05, 0.3), r.uniform(0.05, 0.6)),
        density=500.0,
        position=(0, 0, r.uniform(0.5, 1.0)),
        orientation=e / np.linalg.norm(e),
        velocity=r.uniform(-2, 2, 3),
        angular_velocity=r.uniform(-10, 10, 3),
        name="cylinder",
    )
    scene.set_contact(friction=float(r.uniform(0, 0.9)))
    run = sg.simulate(scene, duration=end, h=0.01)
    assert deepest(run) < REMARKED
    assert run.verdict == "trusted"


def test_a_dumbbell_rolls_down_a_slope() -> None:
    """Its spin veers by its own moment: where the law does not know that, balls end 0.002 too deep."""
    scene, angle = sg.Scene(), np.pi / 12
    scene.add_fixed(sg.HalfSpace(), orientation=(np.cos(angle), 0.0, np.sin(angle), 0.0), name="slope")
    scene.add_body(
        [sg.Sphere(0.13).at((0, 0, 0.2)), sg.Sphere(0.1).at((0, 0, -0.2)), sg.Capsule(0.05, 0.36)],
        density=600.0,
        position=(0.5, 0.0, 0.5),
        orientation=(0.068, -0.7871, 0.3936, 0.4701),
        angular_velocity=(0.95, -0.2, 0.55),
        name="dumbbell",
    )
    scene.set_contact(friction=0.5)
    run = sg.simulate(scene, duration=1.6, h=0.01)
    assert 0.01 * np.linalg.norm(run.angular_velocity("dumbbell"), axis=1).max() > 0.15  # rad a step
    assert deepest(run) < REMARKED
    assert run.certificate.posed_again.max() < 4
    assert run.verdict == "trusted"


def test_an_ellipsoid_tumbles_down_a_slope() -> None:
    """A twentieth of its thickness with gaps posed at the start alone."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), orientation=(np.cos(0.15), 0.0, np.sin(0.15), 0.0), name="slope")
    scene.add_body(
        sg.Ellipsoid((0.3, 0.12, 0.05)),
        density=800.0,
        position=(0, 0, 0.6),
        velocity=(1.0, 0, 0),
        angular_velocity=(2.0, 9.0, 3.0),
        name="pebble",
    )
    scene.set_contact(friction=0.4)
    run = sg.simulate(scene, duration=1.5, h=0.007)
    assert deepest(run) < REMARKED


def test_steps_of_a_named_solver_end_as_well() -> None:
    run = sg.simulate(tumble(0), duration=1.0, h=0.01, formulation=sg.MoreauJean(solver=sg.FrictionAuto()))
    assert deepest(run) < REMARKED


def test_springs_may_give_way() -> None:
    """The overlap of a contact with a stiffness is what the user asks for: k x = m g."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(1.0, 0, 0), name="ball")
    run = sg.simulate(scene, duration=3.0, h=0.005, formulation=sg.MoreauJean(stiffness=500.0))
    assert -run.certificate.min_gap[-200:].mean() == pytest.approx(9.81 / 500.0, rel=0.05)  # it swings about that
    assert deepest(run) < TOO_CLOSE


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("count", "friction", "h", "seed", "steps"), [(40, 0.6, 0.005, 2, 200), (30, 0.3, 0.01, 3, 90)]
)
def test_piles_of_compounds_go_through_nothing(count: int, friction: float, h: float, seed: int, steps: int) -> None:
    """Edges slide over edges there. Ways were followed from before overlaps were parted, so that parting was no use.

    After 60 rounds four steps of each run had pairs "through", at overlaps of 0.003 to 0.007.
    """
    run = sg.simulate(corners_in_a_bin(count, friction, seed), duration=steps * h, h=h)
    np.testing.assert_array_equal(run.certificate.unfollowed, 0)
    assert run.certificate.energy_error.max() < 1e-10
    assert run.verdict != "not trusted"


@pytest.mark.parametrize("ratio", [2, 8, 32])
def test_what_lies_upon_small_bodies_is_lifted(ratio: int) -> None:
    """Most of an overlap is taken back in a step, however heavy what must be lifted for it is.

    By displacements of least kinetic energy a tower upon balls that were pressed into the floor stayed there for
    hundreds of steps: light bodies give way, and sweeps do not end.
    """
    scene, size, overlap = sg.Scene(), 0.1 / ratio, 2e-3
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        scene.add_body(sg.Sphere(0.5 * size), density=1000.0, position=(0.04 * x, 0.04 * y, (0.5 - overlap) * size))
    for k in range(3):
        scene.add_body(sg.Box((0.1, 0.1, 0.1)), density=1000.0, position=(0, 0, (1 - overlap) * size + 0.05 + 0.1 * k))
    scene.set_contact(friction=0.5)
    run = sg.simulate(scene, duration=0.08, h=0.004)
    share = run.certificate.overlap / run.certificate.overlap_extent
    assert share[0] == pytest.approx(overlap, rel=1e-3)
    np.testing.assert_array_less(share[1:4], 0.5 * share[:3])
    assert share[-1] < 1e-6


def test_what_floats_is_parted_about_its_mass_centre() -> None:
    """Two balls that overlap, of 1 and 8 kg: displacements are as 8 to 1."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="light")
    scene.add_body(sg.Sphere(0.2), mass=8.0, position=(0.3 - 1e-4, 0, 0), name="heavy")
    run = sg.simulate(scene, duration=0.1, h=0.01)
    x = run.q[:, :, 0]
    assert x[-1, 1] - x[-1, 0] == pytest.approx(0.3, abs=1e-6)
    np.testing.assert_allclose(x @ [1.0, 8.0], x[0] @ [1.0, 8.0], rtol=0, atol=1e-14)
