"""Jacobians of functions that come without one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import sparse

_COMPLEX_STEP = 1e-30
_DIFFERENCE = float(np.finfo(float).eps) ** (1.0 / 3.0)
"""Relative step of central differences: balances rounding against the third derivative."""
_REACHES = (1.0, 1e-3, 1e-6, 1e-9, 1e3)  # of differences that judge complex steps, the usual one first


_MANY = 300
"""Unknowns from which on a sparse pattern is looked for."""
Pattern = tuple[IntArray, IntArray, IntArray]
"""Rows and columns of the entries, and for every column the group in which it is moved."""


def find_pattern(value: Callable[[Array], Array | None], x: Array) -> Pattern | None:
    """Return on which unknowns each component of F depends, None if on so many that nothing is gained."""
    n = x.size
    rows: list[IntArray] = []
    for j in range(n):
        probe = x.copy()
        probe[j] = np.nan
        with np.errstate(all="ignore"):
            F = value(probe)
        if F is None:
            return None
        rows.append(np.flatnonzero(np.isnan(F)))
        if sum(map(len, rows)) > 0.1 * n * n:
            return None
    columns = np.repeat(np.arange(n), [len(part) for part in rows])
    group = np.zeros(n, dtype=np.int64)
    taken: list[set[int]] = [set() for _ in range(n)]  # for every row the groups already in it
    for j in range(n):
        forbidden = set().union(*(taken[i] for i in rows[j])) if len(rows[j]) else set()
        g = next(k for k in range(n) if k not in forbidden)
        group[j] = g
        for i in rows[j]:
            taken[i].add(g)
    if group.max() > n // 4:
        return None
    return np.concatenate(rows), columns, group


class AutomaticJacobian:
    """The Jacobian of F by complex steps, or by central differences where F is not analytic code.

    Of many unknowns (`_MANY`) each row usually depends on few: which ones is found by setting one unknown after the
    other to NaN and looking where it comes out. Columns that share no row are then moved together, and the Jacobian is
    sparse.

    Complex steps are exact to rounding but silently wrong if F uses ``abs``, ``max`` or comparisons, or drops the
    imaginary part; so every complex Jacobian is compared with one difference in a fixed direction, and given up at the
    first disagreement.
    """

    def __init__(self, F: Callable[[Any], Any]) -> None:
        self.F = F
        self.complex_steps = True
        self.pattern: Pattern | None = None
        self.may_be_sparse = True

    def __call__(self, x: Array) -> Any:
        """Return J(x), dense or sparse, None where F is not defined."""
        if x.size >= _MANY and self.may_be_sparse:
            J = self._sparse(x)
            if J is not None:
                return J
            self.may_be_sparse = False
        if self.complex_steps:
            J = self._by_complex_steps(x)
            if J is not None and self._agrees(x, J):
                return J
            self.complex_steps = False
        return self._by_differences(x)

    def _sparse(self, x: Array) -> Any:
        """Return J(x) as compressed rows, None if F is not sparse or the pattern proves wrong."""
        if self.pattern is None:
            self.pattern = find_pattern(self._raw, x)
        if self.pattern is None:
            return None
        rows, columns, group = self.pattern
        slopes = []
        for g in range(int(group.max()) + 1):
            slope = self.difference(x, np.where(group == g, np.maximum(np.abs(x), 1.0), 0.0))
            if slope is None:
                return None
            slopes.append(slope)
        values = np.asarray(slopes)[group[columns], rows] / np.maximum(np.abs(x), 1.0)[columns]
        J = sparse.csr_array((values, (rows, columns)), shape=(x.size, x.size))
        return J if self._agrees(x, J) else None

    def _by_complex_steps(self, x: Array) -> Array | None:
        J = np.empty((x.size, x.size))
        point = x.astype(np.complex128)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                for j in range(x.size):
                    point[j] += 1j * _COMPLEX_STEP
                    J[:, j] = np.imag(np.asarray(self.F(point.copy()), dtype=np.complex128)) / _COMPLEX_STEP
                    point[j] = x[j]
        except (TypeError, ValueError, ArithmeticError, np.exceptions.ComplexWarning):
            return None
        return J if np.isfinite(J).all() else None

    def _agrees(self, x: Array, J: Any) -> bool:
        """Tell whether J fits a difference: short where unknowns are of small size, long where values are rounded.

        Where none fits, J is wrong if most differ from it by much more than they change when they are made shorter:
        those that change, or vanish, are rounding or too long.
        """
        if any(self.error_of(J, x, reach) <= 1e-4 for reach in _REACHES):
            return True
        return 2 * sum(self._disproves(J, x, reach) for reach in _REACHES) < len(_REACHES)

    def _disproves(self, J: Any, x: Array, reach: float) -> bool:
        s = _direction(x, reach)
        slope, shorter = self.difference(x, s), self.difference(x, 0.5 * s)
        if slope is None or shorter is None:
            return False
        return bool(((np.abs(slope - J @ s) > 10.0 * np.abs(slope - 2.0 * shorter)) & (slope != 0.0)).any())

    def error_of(self, J: Any, x: Array, reach: float = 1.0) -> float:
        """Return how far ``J s`` is from a difference along s, relative to its terms; 0 where F is not defined.

        In the fixed direction s every unknown moves by `reach` times its own size.
        """
        s = _direction(x, reach)
        slope = self.difference(x, s)
        if slope is None:
            return 0.0
        size: Array = abs(J) @ np.abs(s) + np.abs(slope) + 1e-5 * min(reach, 1.0)
        return float((np.abs(slope - J @ s) / size).max(initial=0.0))

    def _by_differences(self, x: Array) -> Array | None:
        J = np.empty((x.size, x.size))
        for j in range(x.size):
            s = np.zeros(x.size)
            s[j] = max(abs(x[j]), 1.0)
            column = self.difference(x, s)
            if column is None:
                return None
            J[:, j] = column / s[j]
        return J

    def difference(self, x: Array, s: Array) -> Array | None:
        """Return dF/dt along x + t s: central, one sided at the edge of the domain."""
        h = _DIFFERENCE
        ahead, behind = self._value(x + h * s), self._value(x - h * s)
        if ahead is not None and behind is not None:
            return np.asarray((ahead - behind) / (2.0 * h))
        h *= h**0.5  # one sided differences want a smaller step
        here = self._value(x)
        ahead, behind = self._value(x + h * s), self._value(x - h * s)
        if here is None:
            return None
        if ahead is not None:
            return np.asarray((ahead - here) / h)
        return None if behind is None else np.asarray((here - behind) / h)

    def _value(self, x: Array) -> Array | None:
        F = self._raw(x)
        return F if F is not None and np.isfinite(F).all() else None

    def _raw(self, x: Array) -> Array | None:
        try:
            return np.asarray(self.F(x), dtype=np.float64)
        except (TypeError, ValueError, ArithmeticError):
            return None


def _direction(x: Array, reach: float) -> Array:
    return np.asarray(reach * np.where(np.arange(x.size) % 2 == 0, 1.0, -0.7) * np.maximum(np.abs(x), 1.0))
