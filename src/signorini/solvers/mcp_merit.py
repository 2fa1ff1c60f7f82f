r"""Reformulations of the mixed complementarity problem as equations.

Fischer-Burmeister: :math:`\varphi(a, b) = a + b - \sqrt{a^2 + b^2}` vanishes exactly if ``0 <= a ⊥ b >= 0``. With
bounds l, u each unknown gives one equation,

    free  F = 0,   lower only  phi(x - l, F),   upper only  -phi(u - x, -F),   both  phi(x - l, -phi(u - x, -F)),

and :math:`\theta = \tfrac12 \|\Phi\|^2` is continuously differentiable, which line searches need. The natural map
:math:`x - \mathrm{clip}(x - F/d, l, u)` tells the active sets.

References
----------
.. [B] Billups, *Algorithms for Complementarity Problems and Generalized Equations* (1995), chapter 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini._scipy import sparse
from signorini.problems.matrices import Matrix, is_sparse, positive_diagonal


def _phi(a: Array, b: Array) -> Array:
    """Return phi without cancellation where both are positive."""
    r = np.hypot(a, b)
    total = a + b
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(total > 0.0, 2.0 * a * b / (total + r), total - r))


def _phi_slopes(a: Array, b: Array) -> tuple[Array, Array]:
    """Return an element of the generalised gradient of phi; at the kink the one along (1, 1)."""
    r = np.hypot(a, b)
    kink = r == 0.0
    r = np.where(kink, 1.0, r)
    at_kink = 1.0 - np.sqrt(0.5)
    return np.where(kink, at_kink, 1.0 - a / r), np.where(kink, at_kink, 1.0 - b / r)


def fischer(x: Array, F: Array, lower: Array, upper: Array) -> Array:
    """Return Phi(x)."""
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    value = F.copy()
    value[has_upper] = -_phi(upper[has_upper] - x[has_upper], -F[has_upper])
    value[has_lower] = _phi(x[has_lower] - lower[has_lower], value[has_lower])
    return value


def fischer_slopes(x: Array, F: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return (D_a, D_b) such that ``diag(D_a) + diag(D_b) J`` is a generalised Jacobian of Phi."""
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    D_a, D_b, value = np.zeros(x.size), np.ones(x.size), F.copy()
    a, b = _phi_slopes(upper[has_upper] - x[has_upper], -F[has_upper])
    value[has_upper] = -_phi(upper[has_upper] - x[has_upper], -F[has_upper])
    D_a[has_upper], D_b[has_upper] = a, b
    a, b = _phi_slopes(x[has_lower] - lower[has_lower], value[has_lower])
    D_a[has_lower] = a + b * D_a[has_lower]
    D_b[has_lower] *= b
    return D_a, D_b


def fischer_jacobian(D_a: Array, D_b: Array, J: Matrix) -> Matrix:
    """Return ``diag(D_a) + diag(D_b) J``."""
    if is_sparse(J):
        parts: Any = sparse.diags_array(D_b) @ J + sparse.diags_array(D_a)
        return sparse.csr_array(parts)
    H = np.asarray(D_b[:, None] * J)
    H[np.diag_indices_from(H)] += D_a
    return H


def active_sets(x: Array, F: Array, J: Matrix, lower: Array, upper: Array) -> tuple[BoolArray, BoolArray]:
    """Return which unknowns the natural map puts at the lower and at the upper bound.

    F_i is measured in units of its diagonal slope, so that the answer does not depend on how rows are scaled.
    """
    with np.errstate(over="ignore"):
        target = x - F / positive_diagonal(J)
    return np.asarray(target <= lower), np.asarray((target >= upper) & (target > lower))
