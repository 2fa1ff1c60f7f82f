"""Proofs that a linear complementarity problem has no solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini._scipy import sparse
from signorini.problems.lcp import LCP
from signorini.problems.matrices import is_sparse

_REACH = 1e8
"""A certificate must exclude every z up to this many times the size of q/d: rounding forbids more."""

_PATIENCE = 60.0  # seconds of linear programming, whose operations cannot be counted from outside


def proves_no_solution(problem: LCP, y: Array) -> bool:
    r"""Tell whether `y` shows that no z >= 0 has ``M z + q >= 0`` (Farkas).

    ``y >= 0``, ``M^T y <= 0`` and ``q^T y < 0`` give ``0 <= y^T (M z + q) < 0`` for any such z.
    """
    if y.size == 0 or y.min() < 0.0 or y.max() == 0.0:
        return False
    against = float(-(problem.q @ y))
    rounding = 4.0 * np.finfo(float).eps * float(np.abs(problem.q) @ y)
    transposed: Any = problem.M.T
    excess = float(np.maximum(transposed @ y, 0.0).max())
    size = float(np.abs(problem.q / problem.d).max())
    return bool(against > rounding) and bool(excess * _REACH * size * problem.size < against)


def infeasibility_certificate(problem: LCP, seconds: float = _PATIENCE) -> Array | None:
    """Search a certificate for :func:`proves_no_solution` by linear programming; None if none was found in time."""
    from scipy import optimize

    n = problem.size
    if n == 0:
        return None
    scale = 1.0 / problem.d  # y = scale * x keeps the rows of equal size
    if not (np.isfinite(problem.q * scale).all() and np.isfinite(scale).all()):
        return None  # beyond the range of numbers
    columns: Any = problem.M.T @ sparse.diags_array(scale) if is_sparse(problem.M) else problem.M.T * scale
    found: Any = optimize.linprog(
        problem.q * scale,
        A_ub=columns,
        b_ub=np.zeros(n),
        bounds=(0.0, 1.0),
        method="highs",
        options={"time_limit": seconds},
    )
    if found.x is None:
        return None
    y = np.maximum(np.asarray(found.x, dtype=np.float64), 0.0)
    y[y < 1e-9 * y.max(initial=0.0)] = 0.0
    y *= scale
    return y if proves_no_solution(problem, y) else None
