r"""The Newton step of an MCP at a point, and what rounding alone would make of it.

Unknowns that the linear model puts on a bound go there; the rows of the others are to vanish. Rows and columns are
scaled until their largest entries are about 1, so that units of unknowns and of functions do not matter. Where the
Jacobian is singular the shortest step is taken, as a continuum of solutions asks for.

Lengths are counted unknown by unknown in steps that the rounding of F makes: the only unit that is in the problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import linalg, sparse, sparse_linalg
from signorini.problems.matrices import Matrix, dense, is_sparse, positive_diagonal, principal_block

if TYPE_CHECKING:
    from signorini.problems.mcp import MCP

EPSILON = float(np.finfo(float).eps)
_REGULAR = 1e-13  # reciprocal condition of the scaled Jacobian above which it is simply solved
_LARGE = 1000  # rows beyond which a singular Jacobian is not solved
_TINY = 1e-270  # as good as zero; of smaller numbers complex steps have no slopes
_SIGNS = np.sign(np.random.default_rng(0).standard_normal((6, 64)))  # that errors of rows may have


@dataclass(frozen=True, slots=True)
class Inverse:
    """A matrix, solved."""

    solve: Callable[[Array], Array]
    """Takes right sides (m,) or (m, k)."""
    lost: Array
    """Combinations of the rows that the matrix does not see, (m, k)."""
    null: Array
    """Directions that it does not see, (m, k)."""


@dataclass(frozen=True, slots=True)
class Model:
    """F near a point, linear."""

    x: Array
    rows: IntArray
    """Rows that are to vanish."""
    goal: Array
    """Bounds on which the other unknowns are put, (n,)."""
    J: Matrix
    inverse: Inverse
    """Of the block of `rows`."""
    noise: Array
    """What rounding may make of F, (n,)."""
    unit: Array
    """Step that this makes, (n,)."""
    steps: Array
    """Steps that it might make, one in a row, the longest first."""

    def step(self, y: Array, F: Array) -> Array:
        """Return the Newton step from `y`, where F is `F`, by the slopes of this model."""
        d = self.goal - y
        d[self.rows] = 0.0
        d[self.rows] = self.inverse.solve(-(F + self.J @ d)[self.rows])
        return d

    def length(self, d: Array) -> float:
        """Return how many roundings a step is long."""
        return float((np.abs(d) / self.unit).max())

    def size(self, d: Array, F: Array) -> float:
        """Return how many roundings a step is long, or those equations are off for which there is no step."""
        lost = self.inverse.lost
        if lost.shape[1] == 0:
            return self.length(d)
        off = np.abs(lost.T @ F[self.rows]) / (np.abs(lost.T) @ self.noise[self.rows])
        return max(self.length(d), float(off.max()))

    def null_directions(self) -> Array:
        """Return directions along which slopes say nothing, (k, n)."""
        p = np.zeros((self.inverse.null.shape[1], self.x.size))
        p[:, self.rows] = self.inverse.null.T
        return p


def model_at(problem: MCP, x: Array, F: Array) -> Model | None:
    """Return the model at `x`; None where there are no slopes, or a large singular Jacobian."""
    J = slopes(problem, x)
    if J is None:
        return None
    lower, upper = problem.bounds
    with np.errstate(over="ignore"):
        target = x - F / positive_diagonal(J)
    on_lower, on_upper = target <= lower, target >= upper
    rows = np.flatnonzero(~(on_lower | on_upper))
    inverse = inverted(principal_block(J, rows))
    if inverse is None:
        return None
    noise = np.maximum(rounding(problem, x, F, J), _TINY)
    steps = np.zeros((len(_SIGNS), x.size))
    steps[:, rows] = inverse.solve(np.resize(_SIGNS, (len(_SIGNS), rows.size)).T * noise[rows, None]).T
    unit = EPSILON * np.abs(x) + _TINY + np.abs(steps).max(axis=0)
    steps = steps[np.argsort(-(np.abs(steps) / unit).sum(axis=1))]
    return Model(x, rows, np.where(on_lower, lower, np.where(on_upper, upper, x)), J, inverse, noise, unit, steps)


def slopes(problem: MCP, x: Array) -> Matrix | None:
    """Return J(x), or J a little inside the bounds where slopes are infinite on them."""
    J = problem.jacobian(x)
    for shift in (1e-8, 1e-5):
        if J is None:
            margin = np.minimum(shift * (1.0 + np.abs(x)), 0.25 * (problem.upper - problem.lower))
            J = problem.jacobian(np.clip(x, problem.lower + margin, problem.upper - margin))
    return J


def rounding(problem: MCP, x: Array, F: Array, J: Matrix) -> Array:
    """Return how far rounding may have moved F: parts of its terms, or by how much neighbouring numbers differ."""
    sizes: Any = abs(J)
    noise = EPSILON * (np.abs(F) + 4.0 * (sizes @ np.abs(x)))
    signs = np.resize(_SIGNS[0], x.size)
    for k in (-1024.0, -1.0, 1.0, 1024.0):  # far enough that F, beside a greater number, changes at all
        there = np.clip(x * (1.0 + k * EPSILON * signs), *problem.bounds)
        value = problem.value(there)
        if value is not None:
            noise = np.maximum(noise, np.abs(value - F - J @ (there - x)))
    return np.asarray(noise)


def inverted(K: Any) -> Inverse | None:
    """Return how to solve with K; None if it is not finite, or singular and large."""
    m = K.shape[0]
    nothing = np.zeros((m, 0))
    if m == 0:
        return Inverse(lambda b: b, nothing, nothing)
    r, c = _scales(K)
    solve = _sparse_factors(K, r, c) if is_sparse(K) else None
    if solve is not None:
        return Inverse(lambda b: _times(c, solve(_times(r, b))), nothing, nothing)
    if is_sparse(K) and m > _LARGE:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        K = r[:, None] * dense(K) * c
    if not np.isfinite(K).all():
        return None
    factors, places, trouble = linalg.lapack.dgetrf(K)
    if trouble == 0 and linalg.lapack.dgecon(factors, np.abs(K).sum(axis=0).max())[0] > _REGULAR:
        return Inverse(lambda b: _times(c, linalg.lapack.dgetrs(factors, places, _times(r, b))[0]), nothing, nothing)
    if m > _LARGE:
        return None
    U, s, Vt = np.linalg.svd(K)
    kept = s > _REGULAR * s[0]
    kept[-1] = False  # whatever norm found the matrix singular
    pseudo = (Vt[kept].T / s[kept]) @ U[:, kept].T
    return Inverse(lambda b: _times(c, pseudo @ _times(r, b)), r[:, None] * U[:, ~kept], c[:, None] * Vt[~kept].T)


def _sparse_factors(K: Any, r: Array, c: Array) -> Callable[[Array], Array] | None:
    """Return how to solve with a sparse matrix, rows and columns scaled; None if it is singular."""
    try:
        factors = sparse_linalg.splu(sparse.csc_array(sparse.diags_array(r) @ K @ sparse.diags_array(c)))
    except RuntimeError:  # exactly singular
        return None
    some = factors.solve(np.resize(_SIGNS[0], r.size))  # as long as the inverse is large
    return factors.solve if np.abs(some).max() * _REGULAR < 1.0 else None


def _scales(K: Any) -> tuple[Array, Array]:
    """Return factors of rows and columns that make their largest entries about 1."""
    r, c = np.ones(K.shape[0]), np.ones(K.shape[0])
    sizes: Any = abs(K)
    for last in (False, False, True):
        scaled: Any = sparse.diags_array(r) @ sizes @ sparse.diags_array(c) if is_sparse(K) else r[:, None] * sizes * c
        for factors, axis in ((c, 0), (r, 1)):
            largest: Any = scaled.max(axis=axis)
            largest = largest if isinstance(largest, np.ndarray) else largest.toarray().reshape(-1)
            largest = np.where(largest > 0.0, largest, 1.0)
            factors /= largest if last and axis == 1 else np.sqrt(largest)
    return r, c


def _times(scale: Array, b: Array) -> Array:
    return scale * b if b.ndim == 1 else scale[:, None] * b
