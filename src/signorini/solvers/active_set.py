"""The last step of every method: solve the linear system that remains once it is known which unknowns are positive."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.problems.lcp import LCP
from signorini.problems.matrices import Matrix, principal_block, stacked
from signorini.problems.mlcp import MixedLCP
from signorini.solvers.linear_systems import solve_linear


def point_on_active_set(problem: LCP | MixedLCP, positive: BoolArray) -> Array | None:
    """Return z with zero slack where `positive`, 0 elsewhere; negative entries of complementary unknowns are cut off.

    `positive` covers the complementary unknowns; free unknowns of a mixed problem are always solved for. None if the
    system is singular and has no answer.
    """
    K, k = whole(problem)
    free = problem.size - positive.size
    index = np.concatenate([np.arange(free), free + np.flatnonzero(positive)])
    z = np.zeros(problem.size)
    solved = solve_linear(principal_block(K, index), -k[index])
    if solved is None:
        return None
    z[index] = solved
    z[free:] = np.maximum(z[free:], 0.0)
    return z


def polished(problem: LCP | MixedLCP, z: Array, residual: float) -> tuple[Array, float]:
    """Return the better of `z` and the point on its active set, with its residual."""
    if residual <= 1e-14:  # rounding level already
        return z, residual
    best = z, residual
    v, w, d = complementary(problem, z)
    guesses = [v > 0.0]
    if residual < 1e-2:  # near a solution the larger of unknown and slack tells which one is positive
        larger = v > w / d
        if not np.array_equal(larger, guesses[0]):
            guesses.append(larger)
    for positive in guesses:
        point = point_on_active_set(problem, positive)
        if point is not None:
            r = problem.residual(point)
            if r < best[1]:
                best = point, r
    return best


def whole(problem: LCP | MixedLCP) -> tuple[Matrix, Array]:
    """Return one matrix and one constant term, free unknowns first."""
    if isinstance(problem, LCP):
        return problem.M, problem.q
    return stacked([[problem.A, problem.C], [problem.D, problem.B]]), np.concatenate([problem.a, problem.b])


def complementary(problem: LCP | MixedLCP, z: Array) -> tuple[Array, Array, Array]:
    """Return the complementary unknowns, their slacks and the units that make them comparable."""
    if isinstance(problem, LCP):
        return z, problem.slack(z), problem.d
    n = problem.free
    return z[n:], problem.slack(z)[n:], problem.row_scale[n:]
