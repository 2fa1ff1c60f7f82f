"""Automatic Jacobians against slopes known by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from signorini._arrays import Array
from signorini.problems.derivatives import AutomaticJacobian


def jacobian_of(F: Callable[[Array], object], x: Array) -> Array:
    J = AutomaticJacobian(F)(x)
    assert isinstance(J, np.ndarray)
    return J


def smooth(x: Array) -> Array:
    return np.array([np.sin(x[0]) * x[1], x[0] ** 3 - np.exp(x[1])])


def slopes(x: Array) -> Array:
    return np.array([[np.cos(x[0]) * x[1], np.sin(x[0])], [3 * x[0] ** 2, -np.exp(x[1])]])


def test_complex_steps_are_exact_to_rounding() -> None:
    x = np.array([0.7, -1.3])
    jacobian = AutomaticJacobian(smooth)
    J = jacobian(x)
    assert J is not None
    np.testing.assert_allclose(J, slopes(x), rtol=1e-14)
    assert jacobian.complex_steps


def test_functions_that_drop_the_imaginary_part_are_found_out() -> None:
    """Complex steps would give the slope 0 here, without any error."""
    jacobian = AutomaticJacobian(lambda x: np.real(x) ** 2 + 0.0)
    J = jacobian(np.array([3.0]))
    assert J is not None
    assert J[0, 0] == pytest.approx(6.0, rel=1e-8)
    assert not jacobian.complex_steps


def test_absolute_values_are_found_out() -> None:
    """|x|^2 x of a complex number is not analytic; the slope of |x| x is 2 |x|."""
    x = np.array([-2.0, 3.0])
    np.testing.assert_allclose(jacobian_of(lambda x: np.abs(x) * x, x), np.diag([4.0, 6.0]), rtol=1e-8)


def test_functions_of_real_numbers_only_are_differenced() -> None:
    J = jacobian_of(lambda x: np.array([float(x[0]) ** 3]), np.array([2.0]))
    assert J[0, 0] == pytest.approx(12.0, rel=1e-8)


def test_one_sided_at_the_edge_of_the_domain() -> None:
    """F is defined for x >= 1 only."""

    def square(x: Array) -> Array:
        if isinstance(x[0], complex) or x[0] < 1.0:
            raise ArithmeticError
        return np.array([x[0] ** 2])

    assert jacobian_of(square, np.array([1.0]))[0, 0] == pytest.approx(2.0, rel=1e-6)


def test_many_unknowns_give_a_sparse_jacobian() -> None:
    """F_i = x_i^3 - x_(i+1): slopes 3 x_i^2 on and -1 above the diagonal, found with a handful of evaluations."""
    calls = 0

    def chain(x: Array) -> Array:
        nonlocal calls
        calls += 1
        return np.asarray(x**3 - np.append(x[1:], 0.0))

    n = 400
    x = np.linspace(-1.0, 2.0, n)
    jacobian = AutomaticJacobian(chain)
    J = jacobian(x)
    assert isinstance(J, sparse.csr_array)
    expected: Array = np.diag(3 * x**2) - np.eye(n, k=1)
    assert np.abs(J.toarray() - expected).max() < 1e-8
    calls = 0
    jacobian(x)
    assert calls < 10


def test_many_unknowns_that_all_depend_on_each_other() -> None:
    n = 320
    x = np.linspace(0.1, 1.0, n)
    J = jacobian_of(lambda x: x * x.sum(), x)
    assert isinstance(J, np.ndarray)
    np.testing.assert_allclose(J, np.eye(n) * x.sum() + x[:, None], rtol=1e-12)


def test_nowhere_defined_gives_none() -> None:
    assert AutomaticJacobian(lambda x: x * np.nan)(np.array([1.0])) is None


def test_complex_steps_are_kept_where_unknowns_are_small_or_values_are_rounded() -> None:
    """Differences of the usual length see nothing of the first function, and rounding only of the second."""
    small = AutomaticJacobian(lambda x: -np.exp(-((1e5 * x) ** 2)))
    x = np.array([2e-5])
    assert small(x)[0, 0] == pytest.approx(2e10 * x[0] * np.exp(-4.0), rel=1e-12)
    rounded = AutomaticJacobian(lambda x: 600.0 * (np.tanh(1e-4 * x) - 1.0))
    x = np.array([1.5e5])
    assert rounded(x)[0, 0] == pytest.approx(0.06 / np.cosh(15.0) ** 2, rel=1e-9)


def test_differences_that_are_too_long_disprove_nothing() -> None:
    """At a root of order 3 of an unknown in small units no difference fits the slope, which is zero."""
    assert abs(AutomaticJacobian(lambda x: (x / 1e-7 - 3.0) ** 3)(np.array([3e-7]))[0, 0]) < 1e-30
