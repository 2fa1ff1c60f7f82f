"""Compliances by matrices that end at a rigid core: law, door, files, and every solver of friction problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from signorini.errors import InputError
from signorini.problems import Delassus, FrictionProblem, load_problem
from signorini.problems.friction_cores import layers_as_contacts
from signorini.solvers import NSGS, Control, FrictionAuto, Lemke, Solver, Status, applicable, solve
from signorini.solvers.solve import kinds_of
from tests.friction_problems import box_stack, friction


def spd(rng: np.random.Generator, *shape: int) -> np.ndarray:
    A = rng.normal(size=shape)
    return np.asarray(A @ np.swapaxes(A, -1, -2))


def test_the_normal_row_saturates() -> None:
    """``u_n = W p_n + b + c min(p_n, p_c)`` of a diagonal compliance; tangents go on to give."""
    problem = friction(np.eye(3), [-1.0, 0.0, 0.0], [0.5], compliance=[[2.0, 3.0, 4.0]], saturation=0.25)
    for p_n, given in ((0.1, 0.2), (0.25, 0.5), (3.0, 0.5)):
        u = problem.velocity([p_n, 0.5, -1.0])
        np.testing.assert_allclose(u, [p_n - 1.0 + given, 0.5 + 1.5, -1.0 - 4.0], rtol=1e-15)
    assert problem.weights([0.1, 0.0, 0.0])[0] == pytest.approx(1.0 / 3.0)
    assert problem.weights([0.3, 0.0, 0.0])[0] == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_cores_are_complementary(seed: int) -> None:
    """``0 <= p_r``, ``A_nn p_c - e_n . A (p - p_r e_n) >= 0``, one of them 0, also where normal and tangent couple."""
    rng = np.random.default_rng(seed)
    A, limit = spd(rng, 4, 2, 3, 3), rng.uniform(0.0, 2.0, size=(4, 2))
    problem = friction(np.zeros((12, 12)), np.zeros(12), np.full(4, 0.5), compliance=A, saturation=limit)
    layers = problem.layers
    assert layers is not None
    p = rng.normal(size=(4, 3))
    p_r = layers.cores(p)
    left = np.einsum("cmij,cmj->cmi", A, p[:, None] - p_r[:, :, None] * [1.0, 0.0, 0.0])
    room = A[:, :, 0, 0] * limit - left[:, :, 0]
    assert p_r.min() >= 0.0
    assert p_r.max() > 0.0
    assert room.min() > -1e-12
    np.testing.assert_allclose(p_r * room, 0.0, atol=1e-12)
    np.testing.assert_allclose(problem.velocity(p.reshape(-1)), left.sum(axis=1).reshape(-1), atol=1e-12)


def test_layers_in_series_add_up() -> None:
    """Springs of 1/c each: K = K1 K2/(K1 + K2) until one core closes, then the other alone."""
    A = np.zeros((1, 2, 2, 2))
    A[0, :, 0, 0] = 1.0, 3.0
    problem = friction(np.zeros((2, 2)), np.zeros(2), [0.0], dim=2, compliance=A, saturation=[[0.5, np.inf]])
    for p_n, u_n in ((0.25, 1.0), (0.5, 2.0), (1.0, 3.5)):
        assert problem.velocity([p_n, 0.0])[0] == pytest.approx(u_n)


@pytest.mark.parametrize("p_c", [0.1, 0.4, np.inf])
def test_a_block_on_a_layer_by_hand(p_c: float) -> None:
    """W = 1, c = 1, b_n = -1: p_n = 1/2 on the layer alone; beyond p_c the core takes it, p_n = 1 - p_c."""
    problem = friction(np.eye(3), [-1.0, 5.0, 0.0], [0.5], compliance=[np.diag([1.0, 2.0, 2.0])], saturation=p_c)
    solution = solve(problem, tolerance=1e-13)
    p_n = 0.5 if p_c > 0.5 else 1.0 - p_c
    np.testing.assert_allclose(solution.z, [p_n, -0.5 * p_n, 0.0], atol=1e-9)
    assert problem.residual([p_n, -0.5 * p_n, 0.0]) < 1e-15
    assert problem.residual([p_n + 0.1, -0.5 * p_n, 0.0]) > 0.01


CASES: dict[str, dict[str, Any]] = {
    "cone": {},
    "ellipsoid": {"ellipsoid": (1.0, 0.5)},
    "couple": {"ellipsoid": (1.0, 0.5, 0.1)},
}


def layered(case: str, *, sparse: bool = False, **more: Any) -> FrictionProblem:
    """Boxes on four corners each, all of them with layers, some of which are compressed to their cores."""
    rng = np.random.default_rng(3)
    stack = box_stack(40 if sparse else 2, kick=0.3, seed=2, h=0.02)
    W: Any = stack.dense()
    if sparse:
        assert isinstance(stack.W, Delassus)
        W = stack.W.sparse()
    b, n_c, rows = stack.b, stack.contact_count, 4 if case == "couple" else 3
    if case == "couple":
        b = np.insert(b.reshape(n_c, 3), 3, 0.2, axis=1).reshape(-1)
        whole = np.zeros((n_c, 4, n_c, 4))
        whole[:, :3, :, :3] = stack.dense().reshape(n_c, 3, n_c, 3)
        whole[np.arange(n_c), 3, np.arange(n_c), 3] = 5.0
        W = whole.reshape(rows * n_c, rows * n_c)
    words = {"compliance": 0.3 * spd(rng, n_c, 2, 3, 3), "saturation": rng.uniform(0.0, 0.1, size=(n_c, 2))}
    return friction(W, b, stack.mu, **words, **CASES[case], **more)


@pytest.mark.parametrize("case", CASES)
def test_every_solver_treats_layers(case: str) -> None:
    """By way of contacts for the cores; what is found solves the problem itself, and is one point."""
    problem = layered(case)
    default = solve(problem, tolerance=1e-9)
    assert default.success
    assert problem.layers is not None
    closed = problem.layers.cores(default.z.reshape(problem.contact_count, -1)[:, :3]) > 0.0
    assert 0 < closed.sum() < closed.size
    done = 0
    for solver in (one for one in applicable(problem) if FrictionProblem in kinds_of(one)):
        solution = solve(problem, solver, tolerance=1e-9)
        assert solution.residual == problem.residual(solution.z)
        if solution.success:
            done += 1
            np.testing.assert_allclose(solution.z, default.z, atol=1e-6)
    assert done >= (3 if case == "couple" else 5) - 1


def test_polygons_become_lcps() -> None:
    solution = solve(layered("cone", cone="polygon"), Lemke())
    assert solution.success
    assert solution.residual < 1e-10


def test_large_problems_stay_sparse() -> None:
    problem = layered("cone", sparse=True)
    simple = layers_as_contacts(problem)
    assert simple is not None
    assert not isinstance(simple.problem.W, np.ndarray)
    solution = solve(problem)
    assert solution.success
    np.testing.assert_allclose(simple.back(simple.forth(solution.z)), solution.z)
    assert simple.problem.residual(simple.forth(solution.z)) < 1e-8


@pytest.mark.parametrize("solver", [FrictionAuto(), NSGS()])
def test_who_is_called_directly_names_who_takes_layers(solver: Solver) -> None:
    solution = solver.solve(layered("cone"), Control())
    assert solution.status is Status.NOT_APPLICABLE
    assert solution.info["finding"] == "the compliance has cores or matrices, which solve(problem, solver) takes"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"compliance": [np.eye(3, k=1)]}, "compliance of contact 0 must be symmetric"),
        ({"compliance": [-np.eye(3)]}, "compliance of contact 0 must be positive semidefinite"),
        ({"compliance": [np.eye(2)]}, "compliance has shape"),
        ({"compliance": [np.eye(3)], "saturation": -1.0}, "saturation is -1.0, must be >= 0"),
        ({"compliance": [np.eye(3)], "saturation": [1.0, 2.0]}, r"saturation has shape \(2,\)"),
        ({"compliance": 1.0, "saturation": float("nan")}, "saturation is nan"),
    ],
)
def test_the_door(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        friction(np.eye(3), np.zeros(3), [0.5], **words)
    assert "\n" not in str(caught.value)


def test_files(tmp_path: Path) -> None:
    problem = layered("couple")
    problem.save(tmp_path / "layers.npz")
    again = load_problem(tmp_path / "layers.npz")
    assert isinstance(again, FrictionProblem)
    p = np.random.default_rng(1).normal(size=problem.size)
    np.testing.assert_array_equal(again.compliance, problem.compliance)
    np.testing.assert_array_equal(again.saturation, problem.saturation)
    assert again.residual(p) == pytest.approx(problem.residual(p), rel=1e-12)
