"""The scale-free natural residual of the linear complementarity problems, and a guard against its blind spot."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._jit import kernel


@kernel
def natural_residual(z: Array, w: Array, constant: Array, d: Array, free: int) -> float:
    r"""Return how far `z` with slack `w` is from complementarity, relative to the size of the problem.

    .. math:: \max\bigl(\max_{i < free} |w_i/d_i|,\; \max_{i \ge free} |\min(z_i, w_i/d_i)|\bigr)
              \,/\, \max(\|z\|_\infty, \|constant/d\|_\infty)

    0 if both norms vanish, infinity if anything is not finite.
    """
    error = 0.0
    size = 0.0
    finite = True
    for i in range(z.size):
        part = w[i] / d[i]
        if i >= free:
            part = min(z[i], part)
        error = max(error, abs(part))
        size = max(size, abs(z[i]), abs(constant[i] / d[i]))
        finite = finite and abs(z[i]) < 1e300 and abs(w[i]) < 1e300  # false for NaN as well
    if not finite:
        return float("inf")
    return error / size if size > 0.0 else 0.0


def credible(z: Array, w: Array, terms: Array, constant: Array, d: Array, free: int, tolerance: float) -> bool:
    """Tell whether a point of small residual deserves to be called a solution.

    The residual is measured against the largest unknown, so a point that ran away to infinity passes with errors that
    are as large as the data. Here every row must be right in units of the constant term; where unknowns are so large
    that rounding forbids this, right to rounding of its own `terms` (sum of the absolute values of what adds up to
    `w`). Unknowns beyond 1e10 times the constant term leave nothing of it to check: refused.
    """
    part = w / d
    error = np.abs(np.concatenate([part[:free], np.minimum(z[free:], part[free:])]))
    size = float(np.abs(constant / d).max(initial=0.0))
    if size > 0.0 and not np.abs(z).max(initial=0.0) <= 1e10 * size:
        return False
    rounding = max(1e-13, 1e-3 * tolerance) * terms / d
    return bool((error <= np.maximum(tolerance * size, rounding)).all())
