r"""Proofs that a friction problem has no solution.

Every solution has impulses p in the cone K and normal velocities that are not negative. Weights :math:`y \ge 0` of the
contacts with :math:`-W_n^T y` in the dual cone (:math:`W_n`: the normal rows of W) and :math:`y \cdot b_n < 0` forbid
both: :math:`y \cdot u_n = y \cdot b_n + p \cdot W_n^T y < 0` for every such p. So says a single inequality that nothing
moves, or two limits between which there is no room.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem

_ROUNDING = 1e-12  # of the terms of W_n^T y, and of y . b_n
_MOST = 400  # contacts up to which weights are searched


def immovable(problem: FrictionProblem) -> Array | None:
    """Return the weights of contacts that approach and that no impulse moves; None if there are none."""
    approach = problem.load[:, 0] < 0.0
    suspects = np.flatnonzero(approach & (problem.blocks[:, 0, 0] <= 0.0))
    if not suspects.size:
        return None
    W = problem.dense()[:: problem.rows]
    weights = np.zeros(problem.contact_count)
    weights[suspects[~W[suspects].any(axis=1)]] = 1.0
    return weights if weights.any() else None


def contradiction(problem: FrictionProblem) -> Array | None:
    """Search weights of contacts that cannot all keep apart, (n_c,), largest 1; None if none were found."""
    n_c = problem.contact_count
    b = problem.b[:: problem.rows]
    if n_c == 0 or n_c > _MOST or not (b < 0.0).any():
        return None
    from scipy import optimize

    W = problem.dense()[:: problem.rows]
    size = np.abs(W).max(axis=1)
    unit = 1.0 / np.where(size > 0.0, size, 1.0)
    against = np.abs(b * unit).max()
    # the least of |W_n^T y|^2 + |y . b_n + 1|^2 vanishes exactly if there are such weights
    columns = np.vstack([W.T * unit, b * unit / against])
    try:
        x, _ = optimize.nnls(columns, np.concatenate([np.zeros(W.shape[1]), [-1.0]]), maxiter=30 * n_c)
    except RuntimeError:
        return None
    x[x < 1e-9 * x.max(initial=0.0)] = 0.0
    y = x * unit
    return y / y.max() if proves_contradiction(problem, y) else None


def proves_contradiction(problem: FrictionProblem, y: Array) -> bool:
    """Tell whether the weights `y` show that the problem has no solution."""
    if not y.any() or y.min() < 0.0:
        return False
    W, b = problem.dense()[:: problem.rows], problem.b[:: problem.rows]
    against, terms = float(-(b @ y)), np.abs(W).T @ y
    pull = W.T @ y
    return bool(against > 1e-6 * float(np.abs(b) @ y) and (np.abs(pull) <= _ROUNDING * terms).all())
