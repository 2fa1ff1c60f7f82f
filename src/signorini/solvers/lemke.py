"""Lemke's method for the linear complementarity problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.problems.lcp import LCP
from signorini.problems.matrices import dense
from signorini.solvers import lemke_pivots as basis
from signorini.solvers.active_set import point_on_active_set, polished
from signorini.solvers.budget import affordable
from signorini.solvers.certificate import proves_no_solution
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class Lemke:
    r"""Complementary pivoting with the lexicographic rule.

    The problem is enlarged by one artificial unknown, ``w = M z + q + d z_0``, and pivoted along almost complementary
    bases until `z_0` leaves. A solution is found whenever M is copositive-plus and the problem feasible, for every P
    and strictly copositive matrix [CPS]_. Where the path ends on a ray, it is tried again with other covering vectors
    `d` and a slightly perturbed `q`; the finished point is recomputed from the original data by a fresh factorisation.

    On failure ``info["ray"]`` holds the direction z of the last ray, and ``info["certificate"]`` a vector y with
    ``y >= 0``, ``M^T y <= 0``, ``q^T y < 0`` if the ray gives one: then nothing solves the problem.

    References
    ----------
    .. [CPS] Cottle, Pang & Stone, *The Linear Complementarity Problem*, section 4.4 and theorem 4.4.1.

    Examples
    --------
    >>> Lemke().solve(LCP([[2.0]], [-4.0]), Control()).z
    array([2.])
    """

    max_iterations: int | None = None
    """Pivots allowed in one attempt; None: ``50 n + 100``. All attempts together keep to `budget.OPERATIONS`."""
    attempts: int = 6
    """Covering vectors tried before giving up; from the third on, every other one with a perturbed `q`."""
    refactor_after: int = 80
    """Pivots after which the inverse of the basis is computed afresh."""
    seed: int = 0
    """Of the random covering vectors."""

    def solve(self, problem: LCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "Lemke")
        n = problem.size
        z = np.zeros(n)
        if n == 0 or problem.q.min() >= 0.0:
            return progress.finish(z, 0)
        if control.start is not None:
            warm = point_on_active_set(problem, control.start > 0.0)
            if warm is not None and progress.accepts(warm, progress.offer(warm, 0)):
                return progress.finish(None, 0)
        limit = control.max_iterations or self.max_iterations or 50 * n + 100
        most = self.attempts * limit  # of all attempts together
        if control.max_iterations is None:
            most = affordable(most, (n + 1.0) ** 2)
        work = _Work(dense(problem.M), problem.q)
        total = 0
        status = Status.STALLED
        info: dict[str, Any] = {}
        for attempt in range(self.attempts):
            cover, perturbation = _covering(attempt, n, self.seed)
            outcome = work.run(cover, perturbation, min(limit, most - total), self.refactor_after, progress)
            total += work.pivots
            if outcome == basis.DONE:
                z = work.point()
                z, residual = polished(problem, z, problem.residual(z))
                if progress.accepts(z, progress.offer(z, total, residual)):
                    return progress.finish(z, total, attempts=attempt + 1)
            elif outcome == basis.RAY and attempt % 2 == 0:
                info["ray"] = work.ray()
                if proves_no_solution(problem, info["ray"]):
                    return progress.finish(
                        work.point(), total, Status.NO_SOLUTION, certificate=info["ray"], attempts=attempt + 1, **info
                    )
                status = Status.RAY
            elif outcome == basis.RUNNING and status is Status.STALLED:
                status = Status.ITERATION_LIMIT
            if progress.out_of_time():
                status = Status.TIME_LIMIT
                break
            if total >= most:
                status = Status.ITERATION_LIMIT
                break
        return progress.finish(work.point(), total, status, attempts=attempt + 1, **info)


def _covering(attempt: int, n: int, seed: int) -> tuple[Array, Array | None]:
    """Return the covering vector of an attempt (in scaled rows) and the relative perturbation of q, if any."""
    if attempt == 0 and seed == 0:
        return np.ones(n), None
    random = np.random.default_rng((seed, attempt))
    if attempt == 1:
        return np.arange(n, 0.0, -1.0) / n + 0.1, random.uniform(0.0, 1e-7, n)
    cover = 2.0 ** random.uniform(-2.0, 2.0, n)
    return cover, random.uniform(0.0, 1e-7, n) if attempt % 2 else None


class _Work:
    """The arrays of one run; kept between attempts."""

    def __init__(self, M: Array, q: Array) -> None:
        n = q.size
        self.M, self.q = M, q
        self.GT = np.empty((n + 1, n))
        self.q_s, self.row, self.column = np.empty(n), np.empty(n), np.empty(n)
        self.T = np.empty((n + 1, n + 1))
        self.rows: IntArray = np.empty(n + 1, dtype=np.int64)
        self.cols: IntArray = np.empty(n + 1, dtype=np.int64)
        self.where: IntArray = np.empty(2 * n + 1, dtype=np.int64)
        self.x, self.w = np.zeros(n + 1), np.zeros(n)
        self.y, self.dw = np.empty(n + 1), np.empty(n)
        self.state: IntArray = np.zeros(4, dtype=np.int64)
        self.unit = 1.0

    @property
    def pivots(self) -> int:
        return int(self.state[basis.PIVOTS])

    def run(
        self, cover: Array, perturbation: Array | None, limit: int, refactor_after: int, progress: Progress[LCP]
    ) -> int:
        """Follow one path; return how it ended."""
        self.x.fill(0.0)
        self.unit = basis.scaled_data(self.M, self.q, cover, self.GT, self.q_s, self.row, self.column)
        if perturbation is not None:
            self.q_s += perturbation
        arrays = (self.GT, self.q_s, self.T, self.rows, self.cols, self.where, self.x, self.w)
        basis.first_pivot(*arrays, self.state)
        while True:
            outcome = basis.pivots(*arrays, self.y, self.dw, self.state, limit, refactor_after)
            if outcome != basis.REFACTOR:
                return outcome
            if not self._refactor() or progress.out_of_time():
                return basis.RUNNING
            progress.tell(self.pivots)

    def _refactor(self) -> bool:
        """Compute the inverse and the basic values from the original data; False if the basis is singular."""
        k = self.state[basis.COUNT]
        R, C = self.rows[:k], self.cols[:k]
        try:
            inverse = np.linalg.inv(self.GT[np.ix_(C, R)])
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(inverse).all():
            return False
        self.T[:k, :k] = inverse
        x = -(self.q_s[R] @ inverse)
        self.x.fill(0.0)
        self.x[C] = np.maximum(x, 0.0)
        self.w[:] = np.maximum(self.q_s + x @ self.GT[C], 0.0)
        self.w[R] = 0.0
        self.state[basis.FRESH] = 0
        return True

    def point(self) -> Array:
        """Return z of the present basis in the problem's units."""
        return self.x[:-1] * self.column * self.unit

    def ray(self) -> Array:
        """Return the direction of z along which the path left for infinity, largest entry 1."""
        n = self.q.size
        k, entering = self.state[basis.COUNT], self.state[basis.ENTERING]
        direction = np.zeros(n + 1)
        direction[self.cols[:k]] = self.y[:k]
        if entering >= n:
            direction[entering - n] = 1.0
        z = np.maximum(direction[:n], 0.0) * self.column
        largest = float(z.max(initial=0.0))
        return z / largest if largest > 0.0 else z
