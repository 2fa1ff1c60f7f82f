"""All solutions of a tiny linear complementarity problem, by looking into every complementary cone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.problems.lcp import LCP
from signorini.problems.matrices import dense
from signorini.solvers.budget import affordable
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class Enumerate:
    """Solves each of the 2^n linear systems that choose z_i = 0 or w_i = 0 for every pair.

    ``info["solutions"]`` lists all solutions that are corners; ``info["continuum"]`` tells whether a singular cone
    holds a solution, so that more solutions may lie between or beyond the listed ones. None at all is a proof, up to
    rounding, that the problem has no solution; with a near miss (residual below 1e-6), or with numbers that overflow,
    the status is "undecided".
    """

    max_size: int = 16
    """Largest number of pairs; beyond it the status is "not applicable"."""
    max_iterations: int = 2**24
    """Cones looked into."""

    def solve(self, problem: LCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "Enumerate")
        n = problem.size
        if n > self.max_size:
            return progress.finish(None, 0, Status.NOT_APPLICABLE)
        M, cones = dense(problem.M), 2**n
        limit = min(cones, control.max_iterations or affordable(self.max_iterations, n**3 / 3.0))
        points: list[Array] = []
        continuum, overflow = False, False
        done = 0
        chunk = 4096
        while done < limit and not progress.out_of_time():
            count = min(chunk, limit - done)
            z, kind = np.zeros((count, n)), np.zeros(count, dtype=np.int64)
            _cones(M, problem.q, problem.d, done, z, kind)
            overflow = overflow or bool((kind == _OVERFLOW).any())
            for i in np.flatnonzero((kind != _EMPTY) & (kind != _OVERFLOW)):
                if progress.out_of_time():
                    return self._cut_short(progress, points, continuum, done + int(i))
                singular = kind[i] == _SINGULAR
                point = _in_singular_cone(M, problem.q, done + int(i)) if singular else z[i]
                if progress.accepts(point, problem.residual(point)):
                    known = any(np.abs(point - other).max() <= 1e-8 * (1.0 + np.abs(other).max()) for other in points)
                    continuum = continuum or singular
                    if not known:
                        points.append(point)
                        progress.offer(point, done + int(i))
                elif not points:
                    progress.offer(point, done + int(i))
            done += count
        info: dict[str, Any] = {"solutions": points, "continuum": continuum}
        if done < cones:
            return self._cut_short(progress, points, continuum, done)
        if not points:
            if overflow or progress.best_residual < 1e-6:
                return progress.finish(None, done, Status.UNDECIDED, **info)
            proof = "every complementary cone is empty"
            return progress.finish(None, done, Status.NO_SOLUTION, certificate=proof, **info)
        several = len(points) > 1 or continuum
        return progress.finish(points[0], done, Status.SEVERAL_SOLUTIONS if several else Status.SOLVED, **info)

    def _cut_short(self, progress: Progress[LCP], points: list[Array], continuum: bool, done: int) -> Solution:
        """Return what was found before a limit was reached."""
        status = Status.TIME_LIMIT if progress.out_of_time() else Status.ITERATION_LIMIT
        point = points[0] if points else None
        return progress.finish(point, done, status, solutions=points, continuum=continuum)


def _in_singular_cone(M: Array, q: Array, cone: int) -> Array:
    """Return z of the point of a singular cone nearest to -q: nonnegative least squares need no regular matrix."""
    from scipy import optimize

    n = q.size
    chosen = np.array([cone >> i & 1 for i in range(n)], dtype=bool)
    columns = np.where(chosen, -M, np.eye(n))
    z = np.zeros(n)
    try:
        x, _ = optimize.nnls(columns, q, maxiter=30 * n)
        z[chosen] = x[chosen]
    except RuntimeError:
        return z
    return z


_EMPTY, _CANDIDATE, _SINGULAR, _OVERFLOW = 0, 1, 2, 3
_NEGATIVE = 1e-9  # a unknown this far below zero, relative to the largest one, leaves the cone


@kernel
def _cones(M: Array, q: Array, d: Array, first: int, z: Array, kind: IntArray) -> None:
    """Fill `z` for the cones ``first, first + 1, ...`` and tell their kind; a singular one is to be looked at again."""
    count, n = z.shape
    K = np.empty((n, n + 1))
    index = np.empty(n, dtype=np.int64)
    for s in range(count):
        cone = first + s
        k = 0
        for i in range(n):
            if cone >> i & 1:
                index[k] = i
                k += 1
        for a in range(k):
            for b in range(k):
                K[a, b] = M[index[a], index[b]]
            K[a, n] = -q[index[a]]
        if not _eliminated(K, k):
            kind[s] = _SINGULAR
            continue
        size = 0.0
        for i in range(n):
            size = max(size, abs(q[i]) / d[i])
        for a in range(k):
            size = max(size, abs(K[a, n]))
        if not size < 1e300:  # the solution, if there is one, is beyond the range of numbers
            kind[s] = _OVERFLOW
            continue
        good = True
        for a in range(k):
            if K[a, n] < -_NEGATIVE * size:
                good = False
            z[s, index[a]] = max(K[a, n], 0.0)
        for i in range(n):
            slack = q[i]
            for a in range(k):
                slack += M[i, index[a]] * K[a, n]
            if slack < -_NEGATIVE * size * d[i]:
                good = False
        kind[s] = _CANDIDATE if good else _EMPTY


@inner_kernel
def _eliminated(K: Array, k: int) -> bool:
    """Solve in place with row pivots, the answer in the last column; False if singular."""
    last = K.shape[1] - 1
    largest = 0.0
    for a in range(k):
        for b in range(k):
            largest = max(largest, abs(K[a, b]))
    for p in range(k):
        row = p
        for a in range(p + 1, k):
            if abs(K[a, p]) > abs(K[row, p]):
                row = a
        if abs(K[row, p]) <= 1e-13 * largest:
            return False
        if row != p:
            for b in range(p, k):
                swap = K[p, b]
                K[p, b] = K[row, b]
                K[row, b] = swap
            swap = K[p, last]
            K[p, last] = K[row, last]
            K[row, last] = swap
        for a in range(k):
            if a != p:
                f = K[a, p] / K[p, p]
                for b in range(p, k):
                    K[a, b] -= f * K[p, b]
                K[a, last] -= f * K[p, last]
    for a in range(k):
        K[a, last] /= K[a, a]
    return True
