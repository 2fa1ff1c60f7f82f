"""Which limits count in a step: none that a bound of the energy puts out of reach."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.dynamics import inverse_inertia, joint_rows
from signorini.dynamics.constants import LIMIT_MARGIN, NEAR_LIMIT
from signorini.dynamics.limits import impetus, limit_margin
from signorini.posing.joint_space import LawKind, joint_space
from signorini.scene import compile_scene

pytestmark = pytest.mark.kernels

H = 1e-3


def pair(gap: float, speed: float = 0.0, **words: Any) -> sg.Scene:
    """Return two balls of 4 g on a guide, the second of which has this way to its limit."""
    scene = sg.Scene(gravity=(0, 0, 0))
    for k in range(2):
        scene.add_body(
            sg.Sphere(0.005), mass=0.004, position=(0.02 * k, 0, 0), velocity=(speed * k, 0, 0), name=f"b{k}"
        )
    limits = (-1.0, gap)
    scene.add_joint("prismatic", "b0", "b1", anchor=(0.01, 0, 0), axis=(1, 0, 0), limits=limits, name="guide", **words)
    return scene


def limits_of(scene: sg.Scene, v: Any = None) -> int:
    """Return how many limits count in a step from the start of a scene."""
    model = compile_scene(scene)
    state = model.initial_state
    v = state.v if v is None else v
    M_inv = inverse_inertia(model.arrays, state.q)
    space = joint_space(model, state, v, M_inv, np.zeros(1), H, secant=True)
    return int(np.sum(space.laws.kind == LawKind.LIMIT))


@pytest.mark.parametrize(
    ("gap", "speed", "count"),
    [
        (1e-3, 0.0, 0),  # a millimetre off at rest
        (0.0, 0.0, 1),
        (-1e-6, 0.0, 1),
        (1e-3, 1.0, 1),  # at 1 m/s it gets there
        (1e-3, -1.0, 1),  # what a collision may turn round
        (8e-3, 1.0, 0),  # not in one step
    ],
)
def test_a_limit_counts_that_can_be_reached(gap: float, speed: float, count: int) -> None:
    assert limits_of(pair(gap, speed)) == count


def test_a_strong_motor_may_reach_a_limit() -> None:
    for effort, count in ((0.1, 0), (100.0, 1)):  # 0.025 m/s, or 25 m/s, in a step of a millisecond on half of 4 g
        assert limits_of(pair(1e-3, motion=lambda t: 1.0, effort_limit=effort)) == count


def test_what_moves_as_it_is_told_has_no_bound() -> None:
    scene = pair(1e-3)
    assert limits_of(scene) == 0
    scene.add_fixed(sg.Sphere(0.01), motion=lambda t: (5.0 + t, 0.0, 0.0), name="bat")
    assert limits_of(scene) == 1


def test_no_coordinate_is_faster_than_its_reach() -> None:
    """By the inequality of Cauchy and Schwarz; equality where all energy goes along the coordinate."""
    model, r = compile_scene(pair(1.0)), np.random.default_rng(1)
    state = model.initial_state
    M_inv = inverse_inertia(model.arrays, state.q)
    rows = joint_rows(model.joints.arrays, model.joints.coordinates, state.q, np.zeros(1))
    agility = np.sqrt(rows.mobility(M_inv))
    for _ in range(20):
        v = r.standard_normal(state.v.shape)
        bound = agility * impetus(model, replace(state, t=0.0, v=v), v, agility, H)
        assert abs(rows.velocity(v)[0]) <= bound[0]
    v = np.einsum("bij,bj->bi", M_inv, rows.force(np.ones(1), model.body_count))
    bound = agility * impetus(model, replace(state, t=0.0, v=v), v, agility, H)
    assert rows.velocity(v)[0] == pytest.approx(bound[0], rel=1e-12)


def test_margins_do_not_grow_beyond_a_hundredth() -> None:
    margin = limit_margin(np.array([0.0, 0.5]), np.ones(2), np.inf, H)
    np.testing.assert_allclose(margin, [LIMIT_MARGIN, LIMIT_MARGIN + NEAR_LIMIT * H * 0.5])
