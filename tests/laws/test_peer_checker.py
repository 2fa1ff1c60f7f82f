"""The judge of the peer benchmark knows steps that obey Coulomb's law from steps that do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.peers.checker import Checker
from benchmarks.peers.engine import Impulses
from benchmarks.peers.ours import build
from benchmarks.peers.scenes import Motion, PeerScene, free_box, incline_stick

import signorini as sg

EXACT = 1e-7  # the impulses are sought by a convex programme, to 1e-10 of its own residual


def moving(scene: PeerScene, velocity: tuple[float, float, float], *, raised: float = 0.0) -> Motion:
    """A box on the floor, or `raised` above it, that moves without turning."""
    x, y, z = scene.bodies[0].position
    return Motion(
        np.array([[x, y, z + raised]]), np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([[*velocity, 0.0, 0.0, 0.0]])
    )


def judged(
    scene: PeerScene,
    before: tuple[float, float, float],
    after: tuple[float, float, float],
    *,
    raised: float = 0.0,
    told: Impulses | None = None,
) -> float:
    return Checker(scene).residual(moving(scene, before, raised=raised), moving(scene, after, raised=raised), told)


SCENE = free_box()
FALL = 9.81 * SCENE.h  # speed that gravity gives in a step


def test_rest_obeys_the_law() -> None:
    """W p + b = 0 with p the weight."""
    assert judged(SCENE, (0, 0, 0), (0, 0, 0)) <= EXACT


def test_slip_that_loses_mu_g_h_obeys_the_law() -> None:
    """v+ = v - mu g h along the slip, in any direction of the floor."""
    for angle in (0.0, 0.3, 2.0):
        along = np.array([np.cos(angle), np.sin(angle), 0.0])
        before, after = 2.0 * along, (2.0 - SCENE.mu * FALL) * along
        assert judged(SCENE, tuple(before), tuple(after)) <= EXACT


def test_slip_that_stops_obeys_the_law() -> None:
    """A slip slower than mu g h ends within the step."""
    assert judged(SCENE, (0.9 * SCENE.mu * FALL, 0, 0), (0, 0, 0)) <= EXACT


@pytest.mark.parametrize(
    "after",
    [
        pytest.param((2.0, 0.0, 0.0), id="no friction"),
        pytest.param((2.0 - 0.5 * SCENE.mu * FALL, 0.0, 0.0), id="half of the friction"),
        pytest.param((2.0 - 1.5 * SCENE.mu * FALL, 0.0, 0.0), id="friction beyond the cone"),
        pytest.param((2.0, SCENE.mu * FALL, 0.0), id="friction across the slip"),
        pytest.param((2.0 + SCENE.mu * FALL, 0.0, 0.0), id="friction along the slip"),
        pytest.param((2.0 - SCENE.mu * FALL, 0.0, -FALL), id="falls through the floor"),
        pytest.param((2.0 - SCENE.mu * FALL, 0.0, 0.5 * FALL), id="lifts off under pressure"),
    ],
)
def test_wrong_slip_is_seen(after: tuple[float, float, float]) -> None:
    """An error of the order of mu g h in the velocity is a residual of the order of mu."""
    assert judged(SCENE, (2.0, 0, 0), after) >= 0.1 * SCENE.mu


def test_glue_is_seen() -> None:
    """No impulse of the cone can stop a body that flies off."""
    assert judged(SCENE, (0, 0, 1.0), (0, 0, 0)) >= 0.5
    assert judged(SCENE, (0, 0, 1.0), (0, 0, 1.0 - FALL)) <= EXACT


def test_sinking_is_seen() -> None:
    """A floor that does not hold a body that touches or overlaps it."""
    for deep in (0.0, 1e-5):
        assert judged(SCENE, (0, 0, 0), (0, 0, -FALL), raised=-deep) >= 0.5


def test_creep_counts_in_proportion() -> None:
    """A box that must stick but creeps at the speed c: friction inside the cone, slip not zero."""
    scene = incline_stick()
    fall = 9.81 * scene.h
    slow, fast = (judged(scene, (c * fall, 0, 0), (c * fall, 0, 0)) for c in (1e-4, 2e-4))
    assert judged(scene, (0, 0, 0), (0, 0, 0)) <= EXACT
    assert slow >= 1e-5
    assert fast == pytest.approx(2.0 * slow, rel=0.05)


def test_overlap_may_end_in_one_step_but_not_faster() -> None:
    """Whatever an engine does to part bodies: up to -gap/h it is no violation."""
    deep = 1e-5
    for part in (0.0, 0.2, 1.0):
        assert judged(SCENE, (0, 0, 0), (0, 0, part * deep / SCENE.h), raised=-deep) <= EXACT
    assert judged(SCENE, (0, 0, 0), (0, 0, 3.0 * deep / SCENE.h), raised=-deep) >= 0.1


def test_a_gap_may_be_closed_or_kept() -> None:
    """A body just above the floor may land within the step, or fall on towards it."""
    gap = 0.5 * FALL * SCENE.h
    assert judged(SCENE, (0, 0, 0), (0, 0, -gap / SCENE.h), raised=gap) <= EXACT
    assert judged(SCENE, (0, 0, 0), (0, 0, -FALL), raised=gap) <= EXACT


def test_told_impulses_never_make_it_worse() -> None:
    """The smaller residual counts: of the impulses told and of those sought."""
    corners = np.array([[x, y, 0.0] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    share = np.tile([0.0, 0.0, SCENE.bodies[0].mass * FALL / 4], (4, 1))
    none, body = np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.int64)
    for factor in (1.0, 7.0, -1.0):
        assert judged(SCENE, (0, 0, 0), (0, 0, 0), told=Impulses(none, body, corners, factor * share)) <= EXACT
    assert judged(SCENE, (0, 0, 0), (0, 0, 0), told=Impulses(none, body, corners, share)) <= 1e-14


def test_impulses_told_in_either_order() -> None:
    """An impulse on the first body is the opposite impulse on the second."""
    rows = Impulses.of([(5, 2, (0, 0, 0), (1.0, 2.0, 3.0)), (2, 5, (0, 0, 0), (1.0, 2.0, 3.0))])
    assert rows.first.tolist() == [2, 2]
    assert rows.second.tolist() == [5, 5]
    assert rows.impulse.tolist() == [[-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]]


def test_depth_and_energy() -> None:
    """Four corners overlap by the same depth; energy is m (v^2/2 + g z)."""
    checker, deep = Checker(SCENE), 1e-3
    sunk = moving(SCENE, (3.0, 0.0, 0.0), raised=-deep)
    depth = checker.depth(sunk)
    assert depth.touching == 4
    assert depth.largest == pytest.approx(deep, rel=1e-9)
    assert depth.median == pytest.approx(deep, rel=1e-9)
    assert checker.energy(sunk) == pytest.approx(4.5 + 9.81 * (0.5 - deep), rel=1e-12)
    assert checker.depth(moving(SCENE, (0, 0, 0), raised=0.1)).touching == 0


def test_two_bodies_push_each_other_alike() -> None:
    """A box on a box: the law holds between moving bodies as on the floor."""
    below = SCENE.bodies[0]
    scene = replace(SCENE, bodies=(below, replace(below, position=(0.0, 0.0, 1.5))))
    x, q = np.array([body.position for body in scene.bodies]), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    lost = scene.mu * FALL

    def step(below: float, above: float) -> float:
        before = Motion(x, q, np.array([[0.0] * 6, [2.0] + [0.0] * 5]))
        after = Motion(x, q, np.array([[below] + [0.0] * 5, [above] + [0.0] * 5]))
        return Checker(scene).residual(before, after)

    assert step(0.0, 2.0 - lost) <= EXACT  # the floor holds the lower box, the upper one slips
    assert step(lost, 2.0 - lost) >= 0.05  # the floor's friction is missing


def test_a_body_that_flies_is_judged_by_its_flight() -> None:
    """A box with three different moments leaves another, turning: nothing touches it, but a contact is near."""
    below = SCENE.bodies[0]
    bar = replace(
        below, position=(0.0, 0.0, 1.505), inertia=(0.1, 0.3, 0.35), velocity=(0.0, 0.0, 6.0), spin=(5.0, 3.0, 2.0)
    )
    scene = replace(SCENE, bodies=(below, bar))
    simulator = sg.Simulator(build(scene), h=scene.h)
    first = simulator.model.fixed_count

    def motion() -> Motion:
        q, v = simulator.state.q[first:], simulator.state.v[first:]
        return Motion(q[:, :3].copy(), q[:, 3:].copy(), v.copy())

    before = motion()
    simulator.run(1)
    checker = Checker(scene)
    assert checker.residual(before, motion(), gyroscopic="conserving") <= EXACT
    assert checker.residual(before, motion(), gyroscopic="implicit") > 1e2 * EXACT
