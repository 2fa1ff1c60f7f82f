"""How far a compliance that was posed may give way: by the width of the bodies, seen in certificate and report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.bench_bin import bin_of
from benchmarks.peers.ours import build

import signorini as sg
from signorini.engine import arrays as ea
from signorini.model.thickness import thinnest_extents
from signorini.posing.constants import YIELD_AT_MOST, YIELD_AT_REST
from signorini.simulation.certificate import StepCertificate
from tests.scenes import stack

SHAPES: list[tuple[Any, float]] = [
    (sg.Box((0.3, 0.02, 0.5)), 0.02),
    (sg.Sphere(0.4), 0.8),
    (sg.Capsule(0.1, 2.0), 0.2),
    (sg.Cylinder(0.5, 0.1), 0.1),
    (sg.Cylinder(0.05, 1.0), 0.1),
    (sg.Cone(0.5, 0.3), 0.3),
    (sg.Ellipsoid((0.3, 0.1, 0.2)), 0.2),
    (sg.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), 3**-0.5),  # the height of the corner over the face
]


@pytest.mark.parametrize(("shape", "width"), SHAPES, ids=[type(shape).__name__ for shape, _ in SHAPES])
def test_least_width_of_a_shape(shape: Any, width: float) -> None:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(shape, mass=1.0, position=(0, 0, 3), name="body")
    model = sg.Simulator(scene, h=0.01).model
    thin = thinnest_extents(model.shapes, model.hulls, model.body_count)
    assert thin[0] == np.inf
    assert thin[1] == pytest.approx(width, rel=1e-12)


def test_a_body_is_as_thin_as_its_thinnest_shape() -> None:
    scene = sg.Scene()
    parts: Any = [sg.Box((1, 1, 1)), sg.Sphere(0.1).at(position=(0, 0, 1))]
    scene.add_body(parts, mass=1.0, position=(0, 0, 3), name="body")
    model = sg.Simulator(scene, h=0.01).model
    assert thinnest_extents(model.shapes, model.hulls, model.body_count) == pytest.approx([0.2])


def softened(step: sg.StepReport, deflection: float, extent: float, yielded: int) -> sg.Trajectory:
    """A run of one step whose certificate says that contacts gave way."""
    run = sg.simulate(stack(2), duration=0.01, h=0.01)
    row = replace(step.certificate, compliance=1.0, deflection=deflection, extent=extent, yielded=yielded)
    return replace(run, certificate=sg.Certificate.of([row]))


def test_the_report_shows_deflection_beside_width_and_does_not_trust_too_much_of_it() -> None:
    step = sg.Simulator(stack(2), h=0.01).step()
    fine = softened(step, 1e-6, 0.5, 0).report()
    assert "in 1 steps; gave way by 1.00e-06 m at most, bodies 5.00e-01 m thin" in fine
    assert "\nTrusted with remarks: contacts compliant in 1 step" in fine
    far = softened(step, 2e-2, 0.5, 1).report()
    assert "Not trusted: contacts made compliant gave way too far in 1 step" in far
    assert "2.0e-02 m, bodies 5.0e-01 m thin" in far


def test_rigid_steps_say_so() -> None:
    assert "(rigid)" in sg.simulate(stack(2), duration=0.05, h=0.01).report()


def soft_heap(width: float) -> list[StepCertificate]:
    """A heap that falls without the robust solver and with few sweeps, its bodies taken to be as thin as that."""
    simulator = sg.Simulator(build(bin_of(54, 0)), h=0.005)
    assert simulator.engine is not None
    arena = simulator.engine.arena
    arena[ea.COUNTS][[ea.HAS_ROBUST, ea.LIMIT]] = 0, 8
    arena[ea.THIN][arena[ea.THIN] < 1.0] = width
    rows = [simulator.step().certificate for _ in range(120)]
    return [row for row in rows if row.compliance > 0.0]


@pytest.mark.compiled_only
def test_what_gives_way_in_a_collapse_stays_within_its_bounds() -> None:
    """Law: a falling heap is made soft by less than a fiftieth of the width of its bodies."""
    rows = soft_heap(0.2)
    assert len(rows) > 20
    for row in rows:
        assert row.yielded == 0
        assert row.deflection <= YIELD_AT_MOST * 0.2


@pytest.mark.compiled_only
def test_thin_bodies_are_posed_stiffer_and_what_still_gives_way_is_told() -> None:
    """Law: a step says that it gave way too far exactly where it did; others are posed stiffer in time."""
    rows = soft_heap(5e-3)
    for row in rows:
        assert row.extent in (0.0, pytest.approx(5e-3))
        assert (row.yielded == 1) == (row.deflection > YIELD_AT_MOST * row.extent > 0.0)
    assert 0 < sum(row.yielded for row in rows) < 2 * len(rows) / 3
    assert YIELD_AT_REST < YIELD_AT_MOST


def test_indeterminate_forces_are_counted() -> None:
    """Four corners that stick are twelve rows on six freedoms; a ball that rests has none to spare."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5), name="box")
    scene.set_contact(friction=0.5)
    run = sg.simulate(scene, duration=0.03, h=0.01)
    np.testing.assert_array_equal(run.certificate.indeterminate, 6)
    assert "at least 6 components of contact forces are not determined by the motion (in 3 steps)" in run.report()
    ball = sg.Scene()
    ball.add_fixed(sg.HalfSpace(), name="floor")
    ball.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.5), name="ball")
    ball.set_contact(friction=0.5)
    run = sg.simulate(ball, duration=0.03, h=0.01)
    np.testing.assert_array_equal(run.certificate.indeterminate, 0)
    assert "not determined" not in run.report()


def test_a_run_without_compliance_takes_none_from_the_memory_of_another() -> None:
    """Snapshots may come from runs with other options."""
    soft, rigid = (sg.Simulator(stack(3), h=0.01, formulation=sg.MoreauJean(compliance=how)) for how in ("auto", 0))
    soft.run(3)
    snapshot = soft.snapshot()
    softness = snapshot.memory.softness.copy()
    softness[:, [ea.ALPHA, ea.ENTRY_ALPHA]] = 0.01
    softness[:, [ea.WAIT, ea.FILL]] = 5.0, 100.0
    snapshot.state.v[1:, 0] = 1.0, 2.0, 3.0  # what rests is tried as rigid however soft it was
    snapshot = replace(snapshot, memory=snapshot.memory._replace(softness=softness))
    soft.restore(snapshot)
    rigid.restore(snapshot)
    assert soft.step().certificate.compliance > 0.0
    assert rigid.step().certificate.compliance == 0.0
