"""Disassembly and pointed cones against wedges, piles and joints that can be judged by hand."""

from __future__ import annotations

import numpy as np
import pytest

from signorini._arrays import Array
from signorini.analysis.regularity import (
    contact_rows,
    disassembly,
    largest_pointed_friction,
    least_standing_friction,
    pointed_cone,
)
from signorini.errors import InputError
from signorini.problems import Delassus, FrictionProblem
from signorini.reproduce.s2_convergence import pile4
from signorini.reproduce.s2_pile import standing_friction
from tests.friction_problems import box_stack


def disc_row(normal: Array) -> Array:
    """Contact of a disc of radius 1/2 whose surface has the outward direction -normal there, (2, 6)."""
    n = np.asarray(normal)
    t = np.array([n[1], -n[0]])
    J = np.zeros((2, 6))
    for k, d in enumerate((n, t)):
        J[k, :2] = d
        J[k, 5] = -0.5 * (n[0] * d[1] - n[1] * d[0])
    return J


def wedge(angle: float, mu: float = 0.3) -> FrictionProblem:
    """A disc between two walls, each leaning outwards by `angle`: it can leave upwards."""
    J = np.array([disc_row(np.array([s * np.cos(angle), np.sin(angle)])) for s in (1.0, -1.0)])
    M_inv = np.zeros((2, 6, 6))
    M_inv[1] = np.diag([1.0, 1.0, 0.0, 0.0, 0.0, 8.0])
    W = Delassus(np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64), np.zeros_like(J), J, M_inv)
    return FrictionProblem(W, np.zeros(4), np.full(2, mu), dim=2, cone="polygon")


@pytest.mark.parametrize("degrees", [5.0, 20.0, 40.0])
def test_a_wedge_is_pointed_up_to_the_tangent_of_its_angle(degrees: float) -> None:
    angle = np.radians(degrees)
    assert largest_pointed_friction(wedge(angle)) == pytest.approx(np.tan(angle), abs=1e-6)
    assert disassembly(wedge(angle)).margin == pytest.approx(np.sin(angle), abs=1e-9)


def test_a_wedged_disc_is_reported_with_its_self_stress() -> None:
    problem = wedge(np.radians(10.0))
    outcome = pointed_cone(problem)
    assert not outcome.holds
    assert "wedged" in str(outcome)
    p = outcome.self_stress
    assert p is not None
    assert p[0] > 0.0 and p[2] > 0.0
    assert (np.abs(p[1::2]) <= 0.3 * p[::2] + 1e-12).all()
    assert np.abs(contact_rows(problem).T @ p).max() < 1e-12  # it balances without any load
    assert outcome.imbalance < 1e-12
    assert disassembly(problem).holds  # frictionless it comes out


def test_parallel_walls_hold_without_friction() -> None:
    problem = wedge(0.0)
    outcome = disassembly(problem)
    assert not outcome.holds
    assert outcome.self_stress is not None
    np.testing.assert_allclose(outcome.self_stress, np.array([1.0, 0.0, 1.0, 0.0]), atol=1e-12)
    assert largest_pointed_friction(problem) == 0.0


def test_the_motion_opens_every_contact() -> None:
    problem = wedge(np.radians(30.0))
    outcome = pointed_cone(problem)
    assert outcome.holds
    u = contact_rows(problem) @ outcome.motion
    assert (u[::2] - 0.3 * np.abs(u[1::2])).min() > 0.0
    assert np.abs(outcome.motion).max() <= 1.0


def test_a_pile_is_regular_and_pointed_at_every_mu() -> None:
    """Specification, section 5: pile4, seed 3, t* = 0.267."""
    problem = pile4(3, 0.05).problem
    assert disassembly(problem).margin == pytest.approx(0.267, abs=5e-4)
    assert largest_pointed_friction(problem) == np.inf


def test_bodies_in_space_with_the_round_cone() -> None:
    assert pointed_cone(box_stack(2)).holds
    assert disassembly(box_stack(2)).holds


def test_bilateral_constraints_can_wedge() -> None:
    """A disc on a wall that may not move away from it: nu = n, so the joint alone balances the contact."""
    problem = wedge(np.radians(30.0))
    rows = contact_rows(problem).toarray()
    free = np.array([[1.0], [0.0], [0.0]])  # no motion along x: upwards is still possible
    assert disassembly(problem, free).holds
    held = rows[[0]].T
    outcome = disassembly(problem, held)
    assert not outcome.holds
    assert outcome.self_stress is not None and outcome.joint_stress is not None
    left = rows.T @ outcome.self_stress + held @ outcome.joint_stress
    assert np.abs(left).max() < 1e-9
    assert outcome.self_stress.max() == 1.0


def test_redundant_bilateral_constraints_are_reported() -> None:
    nu = np.array([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])
    outcome = disassembly(wedge(np.radians(30.0)), nu)
    assert not outcome.holds
    assert "redundant" in str(outcome)
    assert outcome.joint_stress is not None
    assert np.abs(nu @ outcome.joint_stress).max() < 1e-12
    assert np.abs(outcome.joint_stress).max() == pytest.approx(1.0)


def test_two_rows_stand_at_the_tangent_of_fifteen_degrees() -> None:
    assert standing_friction(2) == pytest.approx(np.tan(np.radians(15.0)), abs=1e-7)


def test_a_wedge_withstands_a_pull_once_it_is_no_longer_pointed() -> None:
    """Self-stress makes friction as large as needed from mu = tan(angle) on; pushed down it stands without friction."""
    rows = contact_rows(wedge(np.radians(30.0)))
    up = np.array([0.0, 1.0, 0.0])
    assert least_standing_friction(rows, up) == pytest.approx(np.tan(np.radians(30.0)), abs=1e-7)
    assert least_standing_friction(rows, -up) == 0.0


def test_a_floor_cannot_pull() -> None:
    rows = contact_rows(wedge(0.5 * np.pi))  # both walls lie flat
    assert least_standing_friction(rows, np.array([0.0, 1.0, 0.0])) == np.inf


def test_bilateral_columns_must_fit() -> None:
    with pytest.raises(InputError, match="bilateral constraints"):
        disassembly(wedge(0.1), np.ones((2, 1)))
