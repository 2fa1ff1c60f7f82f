r"""How far a point of an MCP is from a solution, as far as the first derivatives tell.

A residual says how well the equations are met, not whether there is a solution near: :math:`F = -c/(1 + x)` and
:math:`F = -c\,e^{-x}` come as near to zero as one likes and have none. The Newton step of the rows that are to vanish,
with every other unknown put on its bound, tells them apart: it is ``1 + x`` and 1 there, and shrinks with the residual
near a solution. Each unknown is measured in the unit ``1 + |x_i|``, so the size of one hides nothing of another.

Directions in which the Jacobian is numerically singular have no Newton step; the shortest one is taken, as a continuum
of solutions asks for. Along those, and along steps that the rounding of F alone would make, F is probed: a function
that changes, over a good part of the size of x, by amounts that are far below any tolerance, but are not rounding, is
the tail of one that decays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import linalg, sparse, sparse_linalg
from signorini.problems.matrices import Matrix, dense
from signorini.problems.mcp_tails import Singular, Step, decays, turns_back

if TYPE_CHECKING:
    from signorini.problems.mcp import MCP

NEAR = 1e-3
"""Newton step, in units of ``1 + |x_i|``, up to which a point may be called a solution."""
_REGULAR = 1e-13  # reciprocal condition of the scaled Jacobian above which it is simply solved
_LARGE = 1000  # unknowns beyond which singular systems are solved by rank-revealing QR and not probed
_PROBED = 8  # singular directions that are looked along
_ELSEWHERE = (0.5, 0.1, 0.01, 0.0)  # parts of x where F shows how large it is
_EPSILON = float(np.finfo(float).eps)


def distance(problem: MCP, x: Array, F: Array) -> float:
    """Return the largest entry of the Newton step from `x` in units of ``1 + |x_i|``; infinity where F is a tail."""
    lower, upper = problem.bounds
    above, below = x - lower, x - upper
    to_bound = np.where(above >= F, np.where(below <= F, 0.0, -below), -above)
    rows = np.flatnonzero((above >= F) & (below <= F))
    unit = 1.0 + np.abs(x)
    largest = float((np.abs(to_bound) / unit).max(initial=0.0))
    if rows.size == 0:
        return largest
    J = _slopes(problem, x)
    if J is None:
        return largest if not F[rows].any() else np.inf
    right: Array = -(F + J @ to_bound)[rows]
    if not isinstance(J, np.ndarray):
        step = _sparse_step(J[rows][:, rows], right, unit[rows])
    else:
        step = _dense_step(problem, x, F, np.ascontiguousarray(J[np.ix_(rows, rows)]), right, rows)
    return np.inf if step is None else max(largest, float(np.abs(step).max()))


def _slopes(problem: MCP, x: Array) -> Matrix | None:
    """Return J(x), or J a little inside the bounds where slopes are infinite on them."""
    J = problem.jacobian(x)
    for shift in (1e-8, 1e-5):
        if J is None:
            room = np.minimum(shift * (1.0 + np.abs(x)), 0.25 * (problem.upper - problem.lower))
            J = problem.jacobian(np.clip(x, problem.lower + room, problem.upper - room))
    return J


def _dense_step(problem: MCP, x: Array, F: Array, J: Array, right: Array, rows: IntArray) -> Array | None:
    """Return the scaled step of the rows; None if F is the tail of a function that decays."""
    unit = 1.0 + np.abs(x[rows])
    K = J * unit
    size = np.abs(K).max(axis=1)
    scale = np.where(size > 0.0, size, 1.0)
    with np.errstate(over="ignore"):
        K, r = K / scale[:, None], right / scale
    if not (np.isfinite(K).all() and np.isfinite(r).all()):
        return None
    factors, places, trouble = linalg.lapack.dgetrf(K)
    regular = trouble == 0 and linalg.lapack.dgecon(factors, np.abs(K).sum(axis=0).max())[0] > _REGULAR
    if regular:
        step = linalg.lapack.dgetrs(factors, places, r)[0]
    elif rows.size > _LARGE:
        return np.asarray(linalg.lstsq(K, r, cond=_REGULAR, lapack_driver="gelsy")[0])
    else:
        U, s, Vt = np.linalg.svd(K)
        kept = s > _REGULAR * s[0]
        step = Vt[kept].T @ ((U[:, kept].T @ r) / s[kept])
    if not np.abs(step).max() <= NEAR:
        return np.asarray(step)
    noise = _noise(problem, x, F, size, rows)
    if regular:
        signs = np.column_stack([np.ones(rows.size), 1.0 - 2.0 * (np.arange(rows.size) % 2)])
        lost = linalg.lapack.dgetrs(factors, places, signs * (noise / scale)[:, None])[0].T
        farthest = max((step, *lost), key=lambda d: float(np.abs(d).max()))
        if np.abs(farthest).max() <= NEAR or rows.size > _LARGE:
            old: Step = lambda y, value: linalg.lapack.dgetrs(factors, places, -value / scale)[0]  # noqa: E731
            turns = turns_back(problem, x, rows, farthest, noise, (old, _newton(problem, rows, unit)))
            return np.asarray(step) if turns else None
        U, s, Vt = np.linalg.svd(K)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        loss = np.abs(U.T) @ (noise / scale) / s
    kept = (s > _REGULAR * s[0]) & (loss <= NEAR)
    kept[-1] = False  # whatever norm found the matrix singular
    part = Singular(rows, scale, U[:, ~kept], Vt[~kept].T)
    tail = any(decays(problem, x, F, noise, part, v) for v in part.V.T[:_PROBED])
    return None if tail else np.asarray(step)


def _newton(problem: MCP, rows: IntArray, unit: Array) -> Step:
    """Return the Newton step with slopes taken where it begins."""

    def step(y: Array, F: Array) -> Array | None:
        J = problem.jacobian(y)
        if J is None:
            return None
        try:
            d = np.linalg.solve(dense(J)[np.ix_(rows, rows)] * unit, -F)
        except np.linalg.LinAlgError:  # exactly singular
            return None
        return np.asarray(d, dtype=np.float64) if np.isfinite(d).all() else None

    return step


def _noise(problem: MCP, x: Array, F: Array, size: Array, rows: IntArray) -> Array:
    """Return how far rounding may have moved the rows of F, `size` being that of their terms.

    Values are rounded to parts of their terms and of what they are elsewhere, and differ between neighbouring numbers.
    """
    noise = _EPSILON * (np.abs(F[rows]) + 4.0 * rows.size * size)
    for other in (problem.start, *(part * x for part in _ELSEWHERE)):
        there = problem.value(np.clip(other, *problem.bounds))
        if there is not None:
            noise = np.maximum(noise, _EPSILON * np.abs(there[rows]))
    for k in (-2.0, -1.0, 1.0, 2.0):
        there = problem.value(np.clip(x * (1.0 + k * _EPSILON), *problem.bounds))
        if there is not None:
            noise = np.maximum(noise, np.abs(there - F)[rows] - 4.0 * _EPSILON * size)
    return np.asarray(noise)


def _sparse_step(J: Any, right: Array, unit: Array) -> Array | None:
    """Return the scaled step of many rows; None if none is found."""
    K: Any = sparse.csr_array(J @ sparse.diags_array(unit))
    size = np.asarray(abs(K).max(axis=1).toarray(), dtype=np.float64).ravel()
    scale = np.where(size > 0.0, size, 1.0)
    K = sparse.csc_array(sparse.diags_array(1.0 / scale) @ K)
    try:
        step = sparse_linalg.splu(K).solve(right / scale)
        if np.isfinite(step).all():
            return np.asarray(step)
    except RuntimeError:  # exactly singular
        pass
    return np.asarray(sparse_linalg.lsmr(K, right / scale, atol=1e-12, btol=1e-12, maxiter=1000)[0])
