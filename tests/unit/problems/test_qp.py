"""Convex QPs as data: the door, the residual, files, the way to a mixed LCP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from signorini.errors import InputError
from signorini.problems import ConvexQP, load_problem
from signorini.problems.qp import project, qp_to_mixed


def half_plane(scale: float = 1.0) -> ConvexQP:
    """The point of x + y >= 2 nearest to the origin: (1, 1) with multiplier 1 (times the stiffness)."""
    return ConvexQP(scale * np.eye(2), np.zeros(2), C=np.array([[1.0, 1.0]]), c=np.array([2.0]))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_residual_is_zero_at_the_solution_and_free_of_units(scale: float) -> None:
    problem = half_plane(scale)
    assert problem.residual([1.0, 1.0, scale]) == 0.0
    assert problem.residual([1.1, 1.0, scale]) == pytest.approx(half_plane().residual([1.1, 1.0, 1.0]), rel=1e-12)
    assert problem.residual([1.1, 1.0, scale]) > 0.01


@pytest.mark.parametrize(
    "z",
    [
        (0.9, 0.9, 0.9),  # balanced, but outside
        (1.0, 1.0, 0.5),  # feasible, not balanced
        (1.5, 1.5, 1.5),  # balanced and feasible, but pressed without touching
        (-1.0, -1.0, -1.0),  # balanced, pulled
        (np.nan, 1.0, 1.0),
    ],
)
def test_residual_sees_every_kind_of_error(z: tuple[float, float, float]) -> None:
    assert half_plane().residual(z) > 0.05


def test_projection_on_a_second_order_cone_is_its_own_residual() -> None:
    """S - P(s) is minus an element of the (self-dual) cone, orthogonal to P(s): Moreau's decomposition."""
    s = np.random.default_rng(0).normal(size=3000)
    block = np.arange(0, 3001, 3)
    w = project(s, block, 0).reshape(-1, 3)
    rest = w - s.reshape(-1, 3)
    for part in (w, rest):
        assert (np.linalg.norm(part[:, 1:], axis=1) <= part[:, 0] + 1e-14).all()
    assert np.abs((w * rest).sum(axis=1)).max() < 1e-13


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"P": np.array([[1.0, 0.0], [0.0, -1.0]])}, "-1"),
        ({"P": np.array([[1.0, 2.0], [2.0, 1.0]])}, "eigenvalue -1"),
        ({"P": np.array([[1.0, 1.0], [0.0, 1.0]])}, "unsymmetric by 1"),
        ({"q": np.array([0.0, np.nan])}, "q"),
        ({"C": np.ones((1, 3))}, "C has shape"),
        ({"c": None}, "C and c"),
        ({"c": np.array([np.inf])}, "c has shape"),
        ({"cones": (2,)}, r"cones is \(2,\)"),
    ],
)
def test_bad_data_is_named(change: dict[str, Any], words: str) -> None:
    data: dict[str, Any] = {"P": np.eye(2), "q": np.zeros(2), "C": np.ones((1, 2)), "c": np.zeros(1)} | change
    with pytest.raises(InputError, match=words):
        ConvexQP(**data)


def test_file_round_trip(tmp_path: Path) -> None:
    C = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]))
    problem = ConvexQP(
        np.eye(2), np.array([1.0, 2.0]), A=[[1.0, -1.0]], a=[0.5], C=C, c=[-np.inf, 0.1, 0.2], cones=(2,)
    )
    problem.save(tmp_path / "qp.npz")
    again = load_problem(tmp_path / "qp.npz")
    z = np.random.default_rng(1).normal(size=problem.size)
    assert isinstance(again, ConvexQP)
    assert again.residual(z) == problem.residual(z)
    assert again.cones == (2,)


def test_mixed_lcp_has_the_same_solution() -> None:
    problem = ConvexQP(np.eye(2), np.zeros(2), A=[[1.0, -1.0]], a=[0.5], C=np.ones((2, 2)), c=[2.0, -np.inf])
    z = np.array([1.25, 0.75, 0.25, 1.0, 0.0])  # y = 0.25, w = 1; the row that is not there carries nothing
    assert problem.residual(z) < 1e-15
    mixed = qp_to_mixed(problem)
    assert mixed.problem.residual(mixed.forth(z)) < 1e-15
    np.testing.assert_array_equal(mixed.back(mixed.forth(z)), z)
