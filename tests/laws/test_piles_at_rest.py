"""A pile that has come to rest is rigid again, at the tolerance, and its bodies touch to a millionth of their size."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.peers.ours import Ours
from benchmarks.peers.piles import settled_pile

import signorini as sg
from signorini.engine import arrays as ea
from tests.laws.test_collapse import RADIUS, pile

SETTLED = 100  # last steps of the run


@pytest.fixture(scope="module")
def run() -> sg.Trajectory:
    return sg.simulate(pile(6), duration=4.5, h=0.005, record="motion")


def test_every_step_is_solved(run: sg.Trajectory) -> None:
    assert run.certificate.residual.max() <= 1e-6


def test_deepest_overlap_is_below_a_millionth(run: sg.Trajectory) -> None:
    """In most steps: some spheres still roll, and what they meet overlaps by a little more for a few steps."""
    assert np.median(run.certificate.min_gap[-SETTLED:]) > -1e-6 * RADIUS


def test_the_pile_is_rigid_again(run: sg.Trajectory) -> None:
    """In most steps, for the same reason."""
    assert (run.certificate.compliance[-SETTLED:] == 0.0).mean() > 0.5


def test_a_pile_set_down_at_rest_stays(run: sg.Trajectory) -> None:
    """Law: at rest in its places, the impulses that hold it unknown, a pile hardly moves: 0.001 r in 80 steps."""
    simulator = sg.Simulator(pile(6), h=0.005)
    start, count = simulator.snapshot(), 6**3
    began = np.array([run.position(f"ball{k}")[-1] for k in range(count)])
    start.state.q[-count:, :3] = began
    simulator.restore(start)
    simulator.run(80)
    way = np.linalg.norm(simulator.state.q[-count:, :3] - began, axis=1)
    assert np.median(way) < 1e-3 * RADIUS


def test_a_soft_pile_at_rest_is_soon_tried_as_rigid() -> None:
    """Law: however soft a pile is, it does not wait to be rigid again until its layer is stiff."""
    ours = Ours(settled_pile("boxes", 512, 1), "run")
    ours.step(20)
    engine = ours.simulator.engine
    assert engine is not None
    softness = engine.arena[ea.OLD_SOFTNESS]
    softness[:, [ea.ALPHA, ea.WAIT, ea.BACK]] = 0.3, 2.0, 4.0
    soft = []
    for _ in range(5):
        ours.step(1)
        soft.append(engine.check[ea.COMPLIANT] > 0.0)
    assert soft == [True, True, False, False, False]


def test_sweeps_are_made_where_they_are_needed() -> None:
    """Law: in a pile at rest a few boxes that settle yet cost sweeps over their neighbours, not over the pile.

    The effort counts sweeps over all contacts; two are made in any case, and eight to nine would be needed.
    """
    ours = Ours(settled_pile("boxes", 512, 1), "run")
    ours.step(300)
    engine, effort, compliance, gap = ours.simulator.engine, [], [], []
    assert engine is not None
    for _ in range(60):
        ours.step(1)
        effort.append(engine.check[ea.EFFORT])
        compliance.append(engine.check[ea.COMPLIANT])
        gap.append(engine.check[ea.MIN_GAP])
        assert engine.check[ea.RESIDUAL] <= 1e-6
    assert np.mean(effort) < 5.0
    assert max(compliance) == 0.0
    assert min(gap) > -2e-6 * RADIUS
