"""One kind of problem as another, with the way back for the solution.

A conversion is exact: a solution of the new problem, taken back, solves the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini._scipy import linalg, sparse, sparse_linalg
from signorini.problems.lcp import LCP
from signorini.problems.matrices import Matrix, dense, stacked
from signorini.problems.mcp import MCP
from signorini.problems.mlcp import MixedLCP
from signorini.problems.problem import Problem

_WELL_CONDITIONED = 1e-13
"""Reciprocal condition of the equilibrated free block above which it is simply eliminated."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A problem made from another one."""

    problem: Any
    back: Callable[[Array], Array]
    """Takes a solution of the new problem to one of the old."""
    forth: Callable[[Array], Array]
    """Takes a guess for the old problem to one for the new."""


_conversions: dict[type, list[tuple[type, Callable[[Any], Converted]]]] = {}


def register_conversion(source: type, target: type, convert: Callable[[Any], Converted]) -> None:
    """Let solvers of `target` take problems of kind `source`; earlier registrations are preferred."""
    _conversions.setdefault(source, []).append((target, convert))


_simplifications: dict[type, list[Callable[[Any], Converted | None]]] = {}


def register_simplification(kind: type, simplify: Callable[[Any], Converted | None]) -> None:
    """Let every solver get the simpler problem of the same kind that `simplify` makes of some (None for others).

    Earlier registrations are applied first.
    """
    _simplifications.setdefault(kind, []).append(simplify)


def simplified(problem: Problem) -> Converted | None:
    """Return a simpler problem of the same kind with the same solutions, None if there is none."""
    result: Converted | None = None
    for simplify in _simplifications.get(type(problem), ()):
        step = simplify(problem if result is None else result.problem)
        if step is not None:
            result = step if result is None else _composed(result, step)
    return result


def conversion_path(source: type, targets: tuple[type, ...]) -> list[Callable[[Any], Converted]] | None:
    """Return the shortest chain of conversions from `source` to one of `targets`, None if there is none."""
    chains: list[tuple[type, list[Callable[[Any], Converted]]]] = [(source, [])]
    seen = {source}
    while chains:
        kind, chain = chains.pop(0)
        if kind in targets:
            return chain
        for target, convert in _conversions.get(kind, []):
            if target not in seen:
                seen.add(target)
                chains.append((target, [*chain, convert]))
    return None


def converted(problem: Problem, chain: list[Callable[[Any], Converted]], first: Converted | None = None) -> Converted:
    """Apply a chain of conversions, after the conversion `first` of `problem` if that is given."""
    result = Converted(problem, _same, _same) if first is None else first
    for convert in chain:
        result = _composed(result, convert(result.problem))
    return result


def _composed(first: Converted, second: Converted) -> Converted:
    """Return what two conversions make of a problem, one after the other."""
    return Converted(second.problem, _after(first.back, second.back), _after(second.forth, first.forth))


def _same(z: Array) -> Array:
    return z


def _after(second: Callable[[Array], Array], first: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda z: second(first(z))


def mixed_to_lcp(problem: MixedLCP) -> Converted:
    """Eliminate the free unknowns.

    A regular free block A gives ``M = B - D A^-1 C``, ``q = b - D A^-1 a``. Of a singular one the regular part is
    eliminated; the few unknowns that are left are split into positive and negative parts and their equations into two
    inequalities, which keeps a positive semidefinite problem so.
    """
    n = problem.free
    if n == 0:
        return Converted(LCP(problem.B, problem.b), _same, _same)
    elimination = _regular_elimination(problem)
    if elimination is None:
        return _singular_free_block(problem)
    AC, Aa = elimination
    M = dense(problem.B) - problem.D @ AC
    q = problem.b - problem.D @ Aa
    return Converted(LCP(M, q), lambda v: np.concatenate([-(AC @ v) - Aa, v]), lambda z: z[n:])


def _regular_elimination(problem: MixedLCP) -> tuple[Array, Array] | None:
    """Return ``A^-1 C`` and ``A^-1 a``; None if A is singular or nearly so."""
    C = dense(problem.C)
    if not isinstance(problem.A, np.ndarray):
        try:
            lu = sparse_linalg.splu(sparse.csc_array(problem.A))
        except RuntimeError:
            return None
        pivots = np.abs(lu.U.diagonal())
        if pivots.min() <= _WELL_CONDITIONED * pivots.max():
            return None
        return lu.solve(C), lu.solve(problem.a)
    scaled, row, column = _equilibrated(problem.A)
    right = row[:, None] * np.column_stack([C, problem.a])
    if not (np.isfinite(scaled).all() and np.isfinite(right).all()):
        return None
    factors, _, X, trouble = linalg.lapack.dgesv(scaled, right)
    if trouble != 0:
        return None
    condition, _ = linalg.lapack.dgecon(factors, np.abs(scaled).sum(axis=0).max())
    if not condition > _WELL_CONDITIONED:
        return None
    X = np.ascontiguousarray(X * column[:, None])
    return X[:, :-1], X[:, -1]


def _equilibrated(A: Array) -> tuple[Array, Array, Array]:
    """Return ``row * A * column`` with powers of two that bring the largest entry of rows and columns near 1."""
    row = _powers(np.abs(A).max(axis=1))
    column = _powers((row[:, None] * np.abs(A)).max(axis=0))
    return row[:, None] * A * column, row, column


def _powers(largest: Array) -> Array:
    exponent = np.clip(np.round(-np.log2(np.where(largest > 0.0, largest, 1.0))), -1000.0, 1000.0)
    return np.where(largest > 0.0, 2.0**exponent, 1.0)


def _singular_free_block(problem: MixedLCP) -> Converted:
    """Convert a problem whose free block is singular.

    With ``A P = Q R`` of rank r, u = X (C v + a) + N s: the particular part by the first r columns, N the right null
    space. Left null vectors L leave the equations ``0 = L^T (C v + a)`` for s. Equations may be combined and change
    sign freely: L is chosen so that ``C^T L`` comes nearest to ``-D N``, which makes the small problem a saddle point,
    on which Lemke's method is sure, wherever the given one hides one.
    """
    A, C, D, B = (dense(part) for part in (problem.A, problem.C, problem.D, problem.B))
    scaled, row, column = _equilibrated(A)
    Q, R, P = linalg.qr(scaled, pivoting=True)
    size = np.abs(np.diag(R))
    rank = int((size > size.size * 1e-14 * size.max(initial=0.0)).sum()) if size.size else 0
    n, m, rest = A.shape[0], B.shape[0], A.shape[0] - rank
    # X = - column P [R11^-1 Q1^T row; 0],  N = column P [-R11^-1 R12; I]
    X = np.zeros((n, n))
    N = np.zeros((n, rest))
    X[P[:rank]] = -linalg.solve_triangular(R[:rank, :rank], Q[:, :rank].T) * row
    N[P[:rank]] = -linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:])
    N[P[rank:]] = np.eye(rest)
    X *= column[:, None]
    N *= column[:, None]
    left, _ = np.linalg.qr(row[:, None] * Q[:, rank:])
    mix = np.linalg.lstsq(C.T @ left, -(D @ N), rcond=None)[0]
    L = left @ mix if rest and np.linalg.cond(mix) < 1e6 else left
    M = np.zeros((m + 2 * rest, m + 2 * rest))
    M[:m, :m] = B + D @ (X @ C)
    M[:m, m : m + rest] = D @ N
    M[:m, m + rest :] = -M[:m, m : m + rest]
    M[m : m + rest, :m] = L.T @ C
    M[m + rest :, :m] = -M[m : m + rest, :m]
    q = np.concatenate([problem.b + D @ (X @ problem.a), L.T @ problem.a, -(L.T @ problem.a)])

    def back(z: Array) -> Array:
        v, s = z[:m], z[m : m + rest] - z[m + rest :]
        return np.concatenate([X @ (C @ v + problem.a) + N @ s, v])

    def forth(z: Array) -> Array:
        u, v = z[:n], z[n:]
        s = np.linalg.lstsq(N, u - X @ (C @ v + problem.a), rcond=None)[0]
        return np.concatenate([v, np.maximum(s, 0.0), np.maximum(-s, 0.0)])

    return Converted(LCP(M, q), back, forth)


def lcp_to_mcp(problem: LCP) -> Converted:
    """Pose an LCP as an MCP with lower bounds 0 and a constant Jacobian, in units that bound the residual.

    With ``z = s x``, ``s = max|q/d|`` and F = w / (d s) the residual of the MCP is at least that of the LCP.
    """
    return _linear_mcp(problem.M, problem.q, problem.d, np.zeros(problem.size))


def mixed_to_mcp(problem: MixedLCP) -> Converted:
    """Pose a mixed LCP as an MCP: u free, v >= 0; units as in :func:`lcp_to_mcp`."""
    K = stacked([[problem.A, problem.C], [problem.D, problem.B]])
    lower = np.concatenate([np.full(problem.free, -np.inf), np.zeros(problem.b.size)])
    return _linear_mcp(K, np.concatenate([problem.a, problem.b]), problem.row_scale, lower)


def _linear_mcp(K: Matrix, k: Array, d: Array, lower: Array) -> Converted:
    unit = float(np.abs(k / d).max(initial=0.0)) or 1.0
    J: Any = K / d[:, None] if isinstance(K, np.ndarray) else sparse.csr_array(sparse.diags_array(1.0 / d) @ K)
    constant = k / (d * unit)
    mcp = MCP(lambda x: J @ x + constant, lambda _: J, lower=lower, upper=np.inf, x0=np.zeros(k.size))
    return Converted(mcp, lambda x: np.maximum(x, lower) * unit, lambda z: z / unit)


def box_to_mixed(K: Matrix, k: Array, lower: Array, upper: Array) -> Converted:
    """Pose the linear problem ``lower <= x <= upper ⊥ K x + k`` as a mixed LCP.

    Unknowns with one bound are measured from it (with the sign changed for an upper one). One with both gets a
    multiplier for its upper bound: ``0 <= x - l ⊥ F + p >= 0``, ``0 <= p ⊥ u - x >= 0``.
    """
    matrix = dense(K)
    has_lower, has_upper = np.isfinite(lower), np.isfinite(upper)
    free = np.flatnonzero(~has_lower & ~has_upper)
    bounded = np.flatnonzero(has_lower | has_upper)
    both = np.flatnonzero(has_lower & has_upper)
    sign = np.where(has_lower[bounded], 1.0, -1.0)
    origin = np.zeros(k.size)
    origin[bounded] = np.where(has_lower, lower, upper)[bounded]
    constant = k + matrix @ origin
    n, m = bounded.size, both.size
    place = np.searchsorted(bounded, both)
    B = np.zeros((n + m, n + m))
    B[:n, :n] = sign[:, None] * matrix[np.ix_(bounded, bounded)] * sign
    B[place, n + np.arange(m)] = 1.0
    B[n + np.arange(m), place] = -1.0
    b = np.concatenate([sign * constant[bounded], (upper - lower)[both]])
    C = np.hstack([matrix[np.ix_(free, bounded)] * sign, np.zeros((free.size, m))])
    D = np.vstack([sign[:, None] * matrix[np.ix_(bounded, free)], np.zeros((m, free.size))])
    problem = MixedLCP(matrix[np.ix_(free, free)], C, D, B, constant[free], b)

    def back(z: Array) -> Array:
        x = np.empty(k.size)
        x[free] = z[: free.size]
        x[bounded] = origin[bounded] + sign * z[free.size : free.size + n]
        return x

    def forth(x: Array) -> Array:
        slack: Array = matrix @ x + k
        v = np.maximum(sign * (x - origin)[bounded], 0.0)
        return np.concatenate([x[free], v, np.maximum(-slack[both], 0.0)])

    return Converted(problem, back, forth)


register_conversion(MixedLCP, LCP, mixed_to_lcp)
register_conversion(LCP, MCP, lcp_to_mcp)
register_conversion(MixedLCP, MCP, mixed_to_mcp)
