"""A pile of spheres that collapses: solved in every step, by as little compliance as it takes."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg

RADIUS = 0.05


def pile(k: int, *, boxes: bool = False) -> sg.Scene:
    """Return k^3 spheres, or boxes turned at random, on a loose grid above the floor of a box."""
    rng, reach = np.random.default_rng(0), np.sqrt(3.0) * RADIUS if boxes else RADIUS
    scene, width = sg.Scene(gravity=(0, 0, -9.81)), k * 2.2 * reach
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for name, normal, offset in (
        ("w", (1, 0, 0), 0.0),
        ("e", (-1, 0, 0), -width),
        ("s", (0, 1, 0), 0.0),
        ("n", (0, -1, 0), -width),
    ):
        scene.add_fixed(sg.HalfSpace(normal=normal, offset=offset), name=name)
    grid = np.stack(np.meshgrid(*[np.arange(k)] * 3, indexing="ij"), -1).reshape(-1, 3)
    at = (grid + 0.5) * 2.2 * reach + rng.uniform(-0.08 * reach, 0.08 * reach, grid.shape)
    turns = rng.normal(size=(len(at), 4))
    for i, x in enumerate(at):
        if boxes:
            turn = turns[i] / np.linalg.norm(turns[i])
            scene.add_body(sg.Box([2.0 * RADIUS] * 3), density=1000.0, position=x, orientation=turn, name=f"box{i}")
        else:
            scene.add_body(sg.Sphere(RADIUS), density=1000.0, position=x, name=f"ball{i}")
    scene.set_contact(friction=0.5)
    return scene


@pytest.fixture(scope="module")
def collapse() -> sg.Trajectory:
    return sg.simulate(pile(6), duration=2.0, h=0.005, record="motion")


def test_every_step_is_solved(collapse: sg.Trajectory) -> None:
    assert collapse.certificate.residual.max() <= 1e-6
    assert not collapse.certificate.failed().any()
    assert collapse.certificate.energy_error.max() < 1e-12


def test_compliance_is_used_and_said(collapse: sg.Trajectory) -> None:
    """The pile of 216 is too large for the rigid law in its collapse; the certificate names the steps."""
    soft = collapse.certificate.compliance > 0.0
    assert soft.any()
    assert not soft[:10].any(), "nothing touches anything yet"
    assert (collapse.certificate.deflection[soft] >= 0.0).all()
    assert (collapse.certificate.deflection[~soft] == 0.0).all()


def test_overlaps_stay_small(collapse: sg.Trajectory) -> None:
    assert np.median(-collapse.certificate.min_gap) < 0.01 * RADIUS
    assert collapse.certificate.min_gap.min() > -0.1 * RADIUS


def test_energy_comes_from_nowhere_but_the_corrections(collapse: sg.Trajectory) -> None:
    """Kinetic and potential energy rise by no more than correction work and what the compliance gives back."""
    energy = collapse.energy()
    total = energy.kinetic + energy.potential
    rise = np.diff(total) - collapse.certificate.correction_work
    assert rise.max() < 1e-4 * total[0]


def test_no_step_waits_for_the_dense_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Law: 125 spheres that resist are softened; dense methods would take a second for a step."""

    def never(*_: object) -> None:
        raise AssertionError("dense methods were asked")

    monkeypatch.setattr("signorini.engine.engine.solve_robustly", never)
    run = sg.simulate(pile(5), duration=1.0, h=0.005, record="motion")
    assert (run.certificate.compliance[:40] == 0.0).all(), "few contacts yet: all is rigid"
    assert (run.certificate.compliance > 0.0).any()


def test_runs_repeat_and_continue_bit_for_bit() -> None:
    """Also while the pile is compliant: how soft it is belongs to the snapshot."""
    simulator = sg.Simulator(pile(6), h=0.005)
    simulator.run(120)
    snapshot = simulator.snapshot()
    assert (snapshot.memory.softness[:, 0] > 0.0).any()
    simulator.run(15)
    first = simulator.state
    simulator.restore(snapshot)
    simulator.run(15)
    np.testing.assert_array_equal(simulator.state.q, first.q)
    np.testing.assert_array_equal(simulator.state.v, first.v)


@pytest.mark.compiled_only
def test_boxes_come_to_rest() -> None:
    """Law: softness ends. Layers that sweeps could solve were so soft that boxes slid over each other for ever."""
    run = sg.simulate(pile(7, boxes=True), duration=3.0, h=0.005, record="motion")
    last = slice(-20, None)
    assert (run.certificate.compliance[last] == 0.0).all()
    assert np.abs(run.v[-1]).max() < 1e-3
    assert run.certificate.min_gap.min() > -0.02 * (2.0 * RADIUS), "a fiftieth of the width"
