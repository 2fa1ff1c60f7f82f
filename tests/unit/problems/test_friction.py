"""The friction problem: its residual, its forms, its files, its door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy import sparse

from signorini.errors import InputError
from signorini.problems import load_problem
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import friction_as_lcp, friction_from_lcp
from tests.friction_problems import box_stack, friction, random_problem


def test_residual_by_hand() -> None:
    """W = 2 I, b = (-2, 3, 0), mu = 0.5, p = 0: u^ = (-2 + 1.5, 3, 0), rho = 1/2.

    p - rho u^ = (0.25, -1.5, 0) projects on (0.8, -0.4, 0), the foot on the ray (2, -1); |rho b| = sqrt(13)/2.
    """
    problem = friction(2.0 * np.eye(3), [-2.0, 3.0, 0.0], [0.5])
    assert problem.residual(np.zeros(3)) == pytest.approx(np.hypot(0.8, 0.4) / (np.sqrt(13.0) / 2.0), rel=1e-15)


def test_rel_by_hand() -> None:
    """With rho = 1 over |b|, at p = (1, 0, 0): u = (0, 3, 0), p - u^ = (-0.5, -3, 0) projects on (0.8, -0.4, 0)."""
    problem = friction(2.0 * np.eye(3), [-2.0, 3.0, 0.0], [0.5])
    assert problem.rel(np.array([1.0, 0.0, 0.0])) == pytest.approx(np.hypot(0.2, 0.4) / np.sqrt(13.0), rel=1e-14)


def test_residual_of_a_polygon_by_hand() -> None:
    """A square with vertices along +-t, +-o sees slip (3, 4) at speed 4, not 5.

    W = I, mu = 1, b = (-4, 3, 4): p = (1, 0, -1) gives u = (-3, 3, 3). sigma = 3, u^ = (0, 3, 3), p - u^ = (1, -3, -4).
    The nearest edge is the facet's |p_t| + |p_o| <= p_n: outward 7 - 1 = 6 along (-1, -1, -1)/3 gives (3, -1, -2).
    """
    problem = friction(np.eye(3), [-4.0, 3.0, 4.0], [1.0], cone="polygon", directions=4)
    error = np.array([1.0, 0.0, -1.0]) - np.array([3.0, -1.0, -2.0])
    assert problem.residual(np.array([1.0, 0.0, -1.0])) == pytest.approx(
        np.linalg.norm(error) / np.sqrt(41.0), rel=1e-14
    )


def test_residual_is_free_of_units() -> None:
    """Lengths in millimetres or masses in tonnes change nothing: W -> a W, b -> c b, p -> p c/a."""
    problem = random_problem(1, 4)
    p = np.random.default_rng(5).normal(size=problem.size)
    other = friction(1e3 * problem.dense(), 1e-6 * problem.b, problem.mu)
    assert other.residual(1e-9 * p) == pytest.approx(problem.residual(p), rel=1e-12)


def test_nothing_to_solve() -> None:
    """No load, no impulse: residual 0; an impulse that is not a number: infinity."""
    problem = friction(np.eye(3), np.zeros(3), [0.3])
    assert problem.residual(np.zeros(3)) == 0.0
    assert problem.residual(np.full(3, np.nan)) == np.inf
    assert friction(np.zeros((0, 0)), [], []).residual(np.zeros(0)) == 0.0


def test_dense_sparse_and_operator_agree() -> None:
    """The same W as operator, matrix or sparse matrix, with compliance or without."""
    stack = box_stack(3, kick=0.3)
    p = np.random.default_rng(2).normal(size=stack.size)
    for compliance in (0.0, 0.7, np.linspace(0.0, 1.0, stack.contact_count)):
        forms = [
            friction(W, stack.b, stack.mu, compliance=compliance)
            for W in (stack.W, stack.W.dense(), sparse.csr_array(stack.W.dense()))  # type: ignore[union-attr]
        ]
        expected = forms[0].dense() @ p + stack.b
        assert np.allclose(np.diag(forms[1].dense())[::3] - np.diag(stack.dense())[::3], compliance)
        for problem in forms:
            np.testing.assert_allclose(problem.velocity(p), expected, atol=1e-12)
            assert problem.residual(p) == pytest.approx(forms[0].residual(p), rel=1e-12)


def test_condensation_of_the_global_form() -> None:
    """M v = H p + f, u = H^T v + w by direct solution; M unsymmetric."""
    rng = np.random.default_rng(7)
    M = 5.0 * np.eye(8) + rng.normal(size=(8, 8))
    H, f, w, p = rng.normal(size=(8, 6)), rng.normal(size=8), rng.normal(size=6), rng.normal(size=6)
    problem = FrictionProblem.from_global(sparse.csr_array(M), H, f, w, [0.2, 0.4])
    np.testing.assert_allclose(problem.velocity(p), H.T @ np.linalg.solve(M, H @ p + f) + w, atol=1e-13)


def test_file_round_trip(tmp_path: Path) -> None:
    """What was saved is read back, options included."""
    stack = box_stack(2, kick=0.1)
    problem = friction(
        stack.W, stack.b, stack.mu, cone="polygon", directions=6, rotation=0.3, compliance=np.arange(8.0)
    )
    problem.save(tmp_path / "stack.npz")
    again = load_problem(tmp_path / "stack.npz")
    assert isinstance(again, FrictionProblem)
    np.testing.assert_array_equal(again.dense(), problem.dense())
    np.testing.assert_array_equal(again.b, problem.b)
    np.testing.assert_array_equal(again.mu, problem.mu)
    assert (again.cone, again.directions, again.rotation) == ("polygon", 6, 0.3)


@pytest.mark.parametrize("storage", ["triplets", "columns", "rows"])
def test_fclib_file(storage: str, tmp_path: Path) -> None:
    """FCLIB stores matrices as triplets (nz >= 0), compressed columns (-1) or rows (-2)."""
    problem = random_problem(2, 2, asymmetry=0.3)
    W = sparse.csr_array(problem.dense())
    columns, triplets = W.tocsc(), W.tocoo()
    nz, p, i, x = {
        "triplets": (triplets.nnz, triplets.col, triplets.row, triplets.data),
        "columns": (-1, columns.indptr, columns.indices, columns.data),
        "rows": (-2, W.indptr, W.indices, W.data),
    }[storage]
    with h5py.File(tmp_path / "problem.hdf5", "w") as file:
        local = file.create_group("fclib_local")
        local["spacedim"] = [3]
        for name, value in {"m": [6], "n": [6], "nz": [nz], "nzmax": [W.nnz], "p": p, "i": i, "x": x}.items():
            local[f"W/{name}"] = value
        local["vectors/q"] = problem.b
        local["vectors/mu"] = problem.mu
    again = load_problem(tmp_path / "problem.hdf5")
    assert isinstance(again, FrictionProblem)
    np.testing.assert_array_equal(again.dense(), problem.dense())
    np.testing.assert_array_equal(again.b, problem.b)
    np.testing.assert_array_equal(again.mu, problem.mu)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mu": [-0.1]}, "mu of contact 0 is -0.1, must be >= 0"),
        ({"mu": [0.1, 0.2]}, "mu has 2 entries, must have 1"),
        ({"b": [1.0, 2.0]}, "b has 2 entries, must be a multiple of dim = 3"),
        ({"b": [1.0, np.nan, 0.0]}, "b is .* must be finite"),
        ({"W": np.eye(2)}, r"W has shape \(2, 2\), must be \(3, 3\)"),
        ({"W": np.full((3, 3), np.inf)}, r"(?s)W is .* must be finite"),
        ({"dim": 4}, "dim is 4, must be 2 or 3"),
        ({"cone": "round"}, "cone is 'round'"),
        ({"cone": "polygon", "directions": 2}, "directions is 2"),
        ({"compliance": -1.0}, "compliance of contact 0 is -1.0"),
    ],
)
def test_bad_data_are_named(options: dict[str, object], message: str) -> None:
    """A user's mistake is refused with the thing, its value and what is needed."""
    good: dict[str, object] = {"W": np.eye(3), "b": [1.0, 2.0, 3.0], "mu": [0.1]}
    with pytest.raises(InputError, match=message):
        FrictionProblem(**{**good, **options})  # type: ignore[arg-type]


def test_lcp_of_the_sliding_sphere() -> None:
    """S1, eq. (48): sphere of unit mass and radius, mu = 0.2, four directions along +-x, +-y.

    Directions here run round: +x, +y, -x, -y; in the paper +x, -x, +y, -y.
    """
    nu1, nu2, nu3, nu4, nu5 = 2.0, 0.3, -1.1772, 0.1, 0.4
    W = np.diag([1.0, 3.5, 3.5])
    problem = friction(W, [nu3, nu1 - nu5, nu2 + nu4], [0.2], cone="polygon", directions=4)
    lcp = friction_as_lcp(problem)
    order = [0, 1, 3, 2, 4, 5]
    expected: Any = [
        [1, 0, 0, 0, 0, 0],
        [0, 3.5, -3.5, 0, 0, 1],
        [0, -3.5, 3.5, 0, 0, 1],
        [0, 0, 0, 3.5, -3.5, 1],
        [0, 0, 0, -3.5, 3.5, 1],
        [0.2, -1, -1, -1, -1, 0],
    ]
    np.testing.assert_allclose(np.asarray(lcp.M)[np.ix_(order, order)], expected, atol=1e-15)
    slack = [nu3, nu1 - nu5, nu5 - nu1, nu2 + nu4, -nu2 - nu4, 0.0]
    np.testing.assert_allclose(lcp.q[order], slack, atol=1e-15)


def test_way_back_from_the_lcp() -> None:
    """p_T = D beta: one contact, directions along +-t and +-o."""
    problem = friction(np.eye(3), [-1.0, 0.0, 0.0], [1.0], cone="polygon", directions=4)
    np.testing.assert_allclose(
        friction_from_lcp(problem, np.array([5.0, 1.0, 2.0, 3.0, 0.5, 9.0])), [5.0, -2.0, 1.5], atol=1e-15
    )


@pytest.mark.parametrize("words", [{}, {"cone": "polygon", "directions": 8}, {"torsional": [0.1]}])
def test_no_gap_closes_in_a_solution_however_great_friction_is(words: dict[str, Any]) -> None:
    """Without impulses the gap closes at 1 m/s, of which the natural map sees 1/mu."""
    W, b = (np.eye(4), [-1.0, 0.3, 0.2, 0.1]) if "torsional" in words else (np.eye(3), [-1.0, 0.3, 0.2])
    problem = FrictionProblem(W, np.array(b), np.array([1e8]), **words)
    nothing = np.zeros(len(b))
    assert problem.residual(nothing) < 1e-6
    assert not problem.credible(nothing, 1e-6)
    assert problem.credible(-np.array(b), 1e-6)
