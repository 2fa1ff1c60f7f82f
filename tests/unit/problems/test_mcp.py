"""The MCP: residual by hand, places where F is not defined, checks at the door."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.problems import MCP


def test_residual_by_hand() -> None:
    """F = (2, -3, 1), x = (0.5, 1, 4) in [0, inf], [0, 2], free: |0.5 - 0|, |1 - 2|, |1|."""
    problem = MCP(lambda x: np.array([2.0, -3.0, 1.0]), lower=[0, 0, -np.inf], upper=[np.inf, 2, np.inf], x0=[0, 0, 0])
    assert problem.residual(np.array([0.5, 1.0, 4.0])) == 1.0
    assert problem.residual(np.array([0.25, 2.0, 4.0])) == 1.0
    assert problem.residual(np.array([3.0, 2.0, 4.0])) == 2.0


def test_default_bounds_are_those_of_the_ncp() -> None:
    lower, upper = MCP(lambda x: x, x0=[1.0, 2.0]).bounds
    np.testing.assert_array_equal(lower, [0.0, 0.0])
    np.testing.assert_array_equal(upper, [np.inf, np.inf])


def test_start_is_cut_to_the_bounds() -> None:
    np.testing.assert_array_equal(MCP(lambda x: x, upper=[5.0, 5.0], x0=[-1.0, 9.0]).start, [0.0, 5.0])


@pytest.mark.parametrize(
    "F",
    [
        np.log,
        lambda x: [math.log(float(x[0]))],
        lambda x: np.array([1.0 / float(x[0]) ** 0.5]),
        lambda x: np.array([float(x[0]) ** 0.5]),
    ],
)
def test_where_f_is_not_defined_the_value_is_none(F: object) -> None:
    problem = MCP(F, lower=-np.inf, x0=[1.0])  # type: ignore[arg-type]
    assert problem.value(np.array([-1.0])) is None
    assert problem.residual(np.array([-1.0])) == np.inf
    assert problem.value(np.array([4.0])) is not None


def test_an_error_of_the_user_is_not_swallowed() -> None:
    def broken(x: Array) -> Array:
        raise KeyError("spring")

    with pytest.raises(KeyError, match="spring"):
        MCP(broken, x0=[1.0]).value(np.array([1.0]))


def test_wrong_shapes_of_f_and_j_are_named() -> None:
    with pytest.raises(InputError, match=r"MCP: F returns shape \(3,\), must be \(2,\)"):
        MCP(lambda x: np.zeros(3), x0=[1.0, 1.0]).value(np.ones(2))
    with pytest.raises(InputError, match=r"MCP: J returns shape \(1, 2\), must be \(2, 2\)"):
        MCP(lambda x: x, lambda x: np.ones((1, 2)), x0=[1.0, 1.0]).jacobian(np.ones(2))


def test_sparse_jacobians_stay_sparse() -> None:
    assert sparse.issparse(MCP(lambda x: x, lambda x: sparse.eye_array(2), x0=[1.0, 1.0]).jacobian(np.ones(2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x0": None}, "MCP: x0 is None, must be a start"),
        ({"x0": [1.0, np.nan]}, "MCP: x0 is .* must be finite"),
        ({"x0": [1.0], "lower": [0.0, 1.0]}, "MCP: lower has shape"),
        ({"x0": [1.0, 1.0], "lower": 2.0, "upper": [3.0, 1.0]}, r"MCP: lower\[1\] is 2.0, must be <= upper\[1\] = 1.0"),
        ({"x0": [1.0], "lower": np.nan}, "MCP: lower must not be NaN"),
        ({"x0": [1.0], "J": 3}, "MCP: J is 3, must be a function"),
    ],
)
def test_wrong_data_are_refused_at_the_door(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MCP(lambda x: x, **arguments)  # type: ignore[arg-type]


def test_functions_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only problems made of data can be saved"):
        MCP(lambda x: x, x0=[1.0]).save(tmp_path / "x.npz")


@pytest.mark.parametrize(("F", "at"), [(lambda x: np.exp(x / 100.0), -3000.0), (lambda x: 1.0 + x * x, 0.01)])
def test_values_at_the_end_of_the_range_of_numbers_prove_no_solution(F: Callable[[Array], Array], at: float) -> None:
    """None of these is ever zero; at 1e-300 of them differences and products of values are."""
    problem, x = MCP(lambda x: 1e-300 * F(x), lower=-np.inf, upper=np.inf, x0=[0.5]), np.array([at])
    assert problem.residual(x) < 1e-8
    assert not problem.credible(x, 1e-8)


@pytest.mark.parametrize("scale", [1e-270, 1e-290, 1e-320])
@pytest.mark.parametrize("start", [0.5, 100.0])
def test_tails_that_are_rounded_to_zero_prove_no_solution(scale: float, start: float) -> None:
    """``c exp(-x)`` is never zero, though numbers of 64 bits say so where it is below 5e-324."""
    problem = MCP(lambda x: scale * np.exp(-x), lower=-np.inf, upper=np.inf, x0=[start])
    x = np.array([1337.0])
    assert problem.residual(x) == 0.0
    assert not problem.credible(x, 1e-8)


def test_an_unknown_that_nothing_asks_for_is_solved_anywhere() -> None:
    """What is exactly zero wherever one looks is a continuum of solutions, not a tail."""
    problem = MCP(lambda x: np.array([x[0] - 1.0, 0.0 * x[1]]), lower=-np.inf, upper=np.inf, x0=[0.5, 0.5])
    assert problem.credible(np.array([1.0, 20.0]), 1e-8)
