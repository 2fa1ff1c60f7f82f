"""Jacobians of functions that come without one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from signorini._arrays import Array

_COMPLEX_STEP = 1e-30
_DIFFERENCE = float(np.finfo(float).eps) ** (1.0 / 3.0)
"""Relative step of central differences: balances rounding against the third derivative."""


class AutomaticJacobian:
    """The Jacobian of F by complex steps, or by central differences where F is not analytic code.

    Complex steps are exact to rounding but silently wrong if F uses ``abs``, ``max`` or comparisons, or drops the
    imaginary part; so every complex Jacobian is compared with one difference in a fixed direction, and given up at the
    first disagreement.
    """

    def __init__(self, F: Callable[[Any], Any]) -> None:
        self.F = F
        self.complex_steps = True

    def __call__(self, x: Array) -> Array | None:
        """Return J(x), None where F is not defined."""
        if self.complex_steps:
            J = self._by_complex_steps(x)
            if J is not None and self._agrees(x, J):
                return J
            self.complex_steps = False
        return self._by_differences(x)

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

    def _agrees(self, x: Array, J: Array) -> bool:
        """Compare ``J s`` with a difference along a direction s in which every unknown moves by its own size."""
        s = np.where(np.arange(x.size) % 2 == 0, 1.0, -0.7) * np.maximum(np.abs(x), 1.0)
        slope = self._difference(x, s)
        if slope is None:
            return True
        size = np.abs(J) @ np.abs(s)
        return bool((np.abs(slope - J @ s) <= 1e-4 * size + 1e-4 * np.abs(slope) + 1e-9).all())

    def _by_differences(self, x: Array) -> Array | None:
        J = np.empty((x.size, x.size))
        for j in range(x.size):
            s = np.zeros(x.size)
            s[j] = max(abs(x[j]), 1.0)
            column = self._difference(x, s)
            if column is None:
                return None
            J[:, j] = column / s[j]
        return J

    def _difference(self, x: Array, s: Array) -> Array | None:
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
        try:
            F = np.asarray(self.F(x), dtype=np.float64)
        except (TypeError, ValueError, ArithmeticError):
            return None
        return F if np.isfinite(F).all() else None
