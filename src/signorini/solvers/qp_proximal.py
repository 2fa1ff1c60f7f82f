r"""Convex QPs by the proximal method of multipliers with a semismooth Newton method inside.

Around multipliers ``w_k`` and a point ``x_k`` it minimises

.. math:: \tfrac12 x^T P x + q^T x + \tfrac{\delta}{2} |x - x_k|^2
          + \tfrac{1}{2\sigma} \bigl| P_K(w_k - \sigma (C x - c)) \bigr|^2,

a once differentiable, piecewise quadratic convex function; Newton's method with a line search ends after finitely many
steps for plain inequalities. Then ``w_{k+1} = P_K(w_k - \sigma (C x - c))``. Neither strict complementarity nor linear
independence is needed: redundant rows and contacts cost nothing, multipliers that are not unique stay bounded. A good
guess of w makes it an active-set method that changes many rows at once. Near the solution the active set stands still:
the one factorisation then serves all remaining steps, which polish the point to rounding.

The Newton matrix ``P + sigma C_J^T C_J`` is kept as a band after a reordering of the unknowns.

References
----------
.. [1] Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm*, 1976.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import linalg, sparse
from signorini.problems.matrices import compressed_rows
from signorini.problems.qp import ConvexQP, in_own_units
from signorini.solvers.budget import affordable
from signorini.solvers.progress import Progress
from signorini.solvers.qp_kernels import (
    add_rows,
    multiply_columns,
    multiply_rows,
    project_blocks,
    projection_slope,
    slope_along,
)
from signorini.solvers.qp_session import QPPoint
from signorini.solvers.solution import Control, Solution, Status

_COLD, _WARM, _STIFF, _STIFFEST = 1e3, 1e4, 1e5, 1e7
"""Penalty over the natural unit of a row: first without and with a guess, at the end, and at the end where progress is
slow. Measured on piles of discs: a stiffer start needs several times the Newton steps, a softer end several times the
multiplier steps."""
_SLOW, _PATIENCE = 0.5, 6  # of the error left after a step of the multipliers, and how many such steps to bear
_POLISHED, _CRAWLING = 1e-9, 0.9
"""Below this error the rounding magnified by the penalty is what remains: a soft penalty polishes, step by step."""
_PROXIMAL = 1e-7  # of the mean diagonal of P, where P is singular
_NEWTON_STEPS = 80
_MOST = 20_000  # factorisations of one problem, for all right-hand sides
_ROUNDING = 4e-16  # of the largest force: what the gradient can reach
_SHARPEST = 1e-15  # residual that is asked for where rows differ much
_RAY = 1e-7  # of a step of multipliers that grow for ever, relative


@dataclass(frozen=True, slots=True, kw_only=True)
class ProximalQP:
    """Proximal multipliers and semismooth Newton steps; needs no extra package, takes warm starts."""

    max_iterations: int = 200
    """Steps of the multipliers."""

    def solve(self, problem: ConvexQP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "ProximalQP")
        session, goal = self.open(problem), control.tolerance
        point = session.solve(problem.c, control.start, goal, progress)
        while point.residual <= goal and not progress.accepts(point.z, point.residual) and goal > _SHARPEST:
            goal = max(1e-2 * goal, _SHARPEST)  # small rows come right beside great ones
            point = session.solve(problem.c, point.z, goal, progress)
        if not progress.accepts(point.z, point.residual) and not progress.out_of_time():
            point = self._in_own_units(problem, point, progress)
        info: dict[str, Any] = {} if point.certificate is None else {"certificate": point.certificate}
        return progress.finish(point.z, point.iterations, point.status, **info)

    def _in_own_units(self, problem: ConvexQP, plain: QPPoint, progress: Progress[ConvexQP]) -> QPPoint:
        """Return the end of another attempt, in units in which rows and unknowns are of one size.

        Where it fails as well, it is the one that tells why: a proof in odd units may rest on what is small in them.
        """
        own, units = in_own_units(problem)
        session, goal, steps, start = self.open(own), progress.control.tolerance, plain.iterations, None
        while True:
            point = session.solve(own.c, start, goal, progress)
            steps, start, z = steps + point.iterations, point.z, units * point.z
            residual = problem.residual(z)
            if progress.accepts(z, residual) or point.status is not Status.SOLVED or goal <= _SHARPEST:
                break
            goal = max(1e-2 * goal, _SHARPEST)
        proof = None if point.certificate is None else units[problem.variables :] * point.certificate
        return QPPoint(z, point.status, residual, steps, proof)

    def open(self, problem: ConvexQP) -> ProximalSession:
        """Prepare for a sequence of problems that differ in `c` alone."""
        return ProximalSession(problem, self.max_iterations)


class ProximalSession:
    """One QP with a changing right-hand side; keeps ordering, matrices and the last factorisation."""

    def __init__(self, problem: ConvexQP, max_iterations: int) -> None:
        self.problem = problem
        self.max_iterations = max_iterations
        n = problem.variables
        P, rows = sparse.csr_array(problem.P), sparse.csr_array(problem.rows)
        self.order, self.width = narrow_order(P, rows, problem.block)
        place = np.argsort(self.order)
        self.P = compressed_rows(P[self.order][:, self.order])
        start, column, value = compressed_rows(rows)
        self.C = (start, place[column], value)
        self.q = problem.q[self.order]
        diagonal = problem.P.diagonal()
        self.unit = float(diagonal.mean()) if n and diagonal.mean() > 0.0 else 1.0
        self.delta = 0.0
        self.base = np.zeros((n, self.width + 1))
        every = np.arange(n + 1)
        column = self.P[1]
        row = np.repeat(every[:-1], np.diff(self.P[0]))
        low = row >= column
        self.base[column[low], row[low] - column[low]] = self.P[2][low]
        if n and (diagonal.min() <= 0.0 or linalg.lapack.dpbtrf(self.base.copy().T, lower=1)[1] != 0):
            self.delta = _PROXIMAL * self.unit
            self.base[:, 0] += self.delta
        sizes = np.diff(problem.block)
        self.V = np.zeros((sizes.size, *(2 * [int(sizes.max(initial=1))])))
        self.key: tuple[float, bytes] | None = None
        self.factor: Any = None
        self.factorisations = 0
        self.limit = affordable(_MOST, n * (self.width + 1.0) ** 2)  # factorisations in all

    def solve(self, c: Array, start: Array | None, tolerance: float, progress: Progress[Any] | None = None) -> QPPoint:
        """Solve with the right-hand side `c`; `start` is a guess of ``z = (x, y, w)``."""
        problem, n = self.problem, self.problem.variables
        right = np.concatenate([problem.a, c])
        x = np.zeros(n) if start is None else start[:n][self.order]
        w = np.zeros(right.size)
        if start is not None:
            project_blocks(np.ascontiguousarray(start[n:]), problem.block, problem.equalities, w)
        stiffness = _COLD if start is None else _WARM
        steps, before, best, patience = 0, np.inf, np.inf, _PATIENCE
        status, certificate = Status.ITERATION_LIMIT, None
        best_x, best_w, polishing = x, w, False
        for _ in range(self.max_iterations):
            centre, old = x, w
            x, s, taken, left = self._minimise(x, w, right, stiffness / problem.d, progress)
            steps += taken
            w = np.empty_like(old)
            project_blocks(s, problem.block, problem.equalities, w)
            error = self._error(x, w, right, left + self.delta * _largest(x - centre))
            slow = error > (_CRAWLING * best if polishing else _SLOW * before)
            before = error
            if error < best:
                best, best_x, best_w = error, x, w
            if best <= 0.1 * tolerance:
                break
            if progress is not None and progress.out_of_time():
                status = Status.TIME_LIMIT
                break
            if self.factorisations >= self.limit:
                break
            patience = patience - 1 if slow and (polishing or stiffness >= _STIFFEST) else _PATIENCE
            if patience == 0:
                certificate = self.infeasible(w - old, right)
                status = Status.STALLED if certificate is None else Status.NO_SOLUTION
                break
            if slow and error <= _POLISHED and not polishing:
                polishing, stiffness = True, _COLD
            elif not polishing:
                if taken == 0:  # forces balance: multipliers wander among those of one velocity, until one vanishes
                    w = self._stride(old, w)
                if stiffness < _STIFF or slow:
                    stiffness = min(_STIFFEST, 10.0 * stiffness)
        z = np.concatenate([best_x[np.argsort(self.order)], best_w])
        residual = problem.residual_with(z, c)
        return QPPoint(z, Status.SOLVED if residual <= tolerance else status, residual, steps, certificate)

    def _stride(self, old: Array, new: Array) -> Array:
        """Return the multipliers as far along ``new - old`` as plain inequalities allow."""
        if self.problem.cones:
            return new
        change = new - old
        falling = np.flatnonzero(change[self.problem.equalities :] < 0.0) + self.problem.equalities
        if falling.size == 0:
            return new
        length = max(1.0, float((old[falling] / -change[falling]).min()))
        far = old + length * change
        far[self.problem.equalities :] = np.maximum(far[self.problem.equalities :], 0.0)
        return far

    def _minimise(
        self, x: Array, w: Array, right: Array, sigma: Array, progress: Progress[Any] | None
    ) -> tuple[Array, Array, int, float]:
        """Return the minimiser, ``w - sigma (C x - c)`` there, the Newton steps taken and the gradient left."""
        problem, C, m_e = self.problem, self.C, self.problem.equalities
        centre = x
        magnified = sigma * np.sqrt(problem.d * self.unit)
        at_right = _largest(magnified * np.where(np.isfinite(right), right, 0.0))
        Cx, new, pull = np.empty_like(w), np.empty_like(w), np.empty_like(x)
        moved, trial = np.empty_like(w), np.empty_like(w)
        Px, Pd, Cd = np.empty_like(x), np.empty_like(x), np.empty_like(w)
        before, reused = np.inf, False
        for step in range(_NEWTON_STEPS):
            multiply_rows(*C, x, Cx)
            multiply_rows(*self.P, x, Px)
            s = w - sigma * (Cx - right)
            project_blocks(s, problem.block, m_e, new)
            multiply_columns(*C, new, pull)
            gradient = Px + self.q + self.delta * (x - centre) - pull
            # Rounding of C x is magnified by sigma.
            size = max(_largest(pull), _largest(self.q), _largest(Px), _largest(magnified * Cx), at_right)
            error = _largest(gradient)
            # On one active set a Newton step is exact: what is left after it is rounding.
            if error <= _ROUNDING * size or (reused and error > 0.5 * before):
                return x, s, step, error
            if self.factorisations >= self.limit or (progress is not None and progress.out_of_time()):
                return x, s, step, error
            before, count = error, self.factorisations
            d = self._direction(s, sigma, gradient)
            if d is None:
                return x, s, step, error
            reused = count == self.factorisations
            multiply_rows(*C, d, Cd)
            multiply_rows(*self.P, d, Pd)
            flat = float(d @ (Px + self.q + self.delta * (x - centre)))
            curve = float(d @ Pd + self.delta * (d @ d))
            ds = -sigma * Cd

            def slope(t: float, s: Array = s, ds: Array = ds, flat: float = flat, curve: float = curve) -> float:
                return flat + t * curve - slope_along(s, ds, t, problem.block, m_e, moved, trial, Cd)

            t = _line_search(slope, float(d @ gradient))
            if t * _largest(d) <= 1e-16 * _largest(x):
                return x, s, step, error
            x = x + t * d
        multiply_rows(*C, x, Cx)
        return x, w - sigma * (Cx - right), _NEWTON_STEPS, before

    def _direction(self, s: Array, sigma: Array, gradient: Array) -> Array | None:
        """Return the Newton direction; the factorisation is kept while the active set stands still."""
        block = self.problem.block
        key = None
        if not self.problem.cones:
            key = (float(sigma[0] * self.problem.d[0]) if sigma.size else 0.0, (s > 0.0).tobytes())
        if key is None or key != self.key:
            projection_slope(s, block, self.problem.equalities, self.V)
            band = self.base.copy()
            add_rows(*self.C, block, self.V, sigma, band)
            if not np.isfinite(band).all():
                self.key = None
                return None
            self.factor, trouble = linalg.lapack.dpbtrf(band.T, lower=1, overwrite_ab=1)
            self.factorisations += 1
            self.key = key
            if trouble != 0:
                self.key = None
                return None
        d, _ = linalg.lapack.dpbtrs(self.factor, -gradient, lower=1)
        return np.ascontiguousarray(d)

    def _error(self, x: Array, w: Array, right: Array, drift: float) -> float:
        """Return the error as in `ConvexQP.residual`, with stationarity off by `drift`."""
        problem = self.problem
        slack = np.empty_like(w)
        multiply_rows(*self.C, x, slack)
        slack -= right
        natural = np.empty_like(w)
        project_blocks(w - slack / problem.d, problem.block, problem.equalities, natural)
        norm = np.sqrt(problem.d * self.unit)
        bounds = np.where(np.isfinite(right), right, 0.0) / problem.d
        scale = max(_largest(w * norm), _largest(bounds * norm), _largest(self.q))
        error = max(drift, _largest((w - natural) * norm))
        return error / scale if scale > 0.0 else error

    def infeasible(self, change: Array, right: Array) -> Array | None:
        """Return multipliers along `change` that prove the constraints empty: ``C^T w = 0``, w in K, ``c^T w > 0``."""
        size = _largest(change)
        if size == 0.0:
            return None
        ray = np.empty_like(change)
        project_blocks(change / size, self.problem.block, self.problem.equalities, ray)
        pull, terms = np.empty(self.problem.variables), np.empty(self.problem.variables)
        multiply_columns(*self.C, ray, pull)
        multiply_columns(*self.C[:2], np.abs(self.C[2]), np.abs(ray), terms)
        there = ray != 0.0
        against = float(ray[there] @ right[there])
        strength = float(np.abs(ray[there]) @ np.abs(right[there]))
        if (np.abs(pull) <= _RAY * terms).all() and against > _RAY * strength:
            return ray
        return None


def _line_search(slope: Any, at_start: float) -> float:
    """Return a step at which the slope has almost vanished; it increases with t, and a full Newton step is tried."""
    low, high = 0.0, 1.0
    at_low, at_high = at_start, slope(1.0)
    if at_high <= 0.1 * abs(at_start):
        return 1.0
    t = 1.0
    for _ in range(30):
        t = low - at_low * (high - low) / (at_high - at_low)
        now = slope(t)
        if abs(now) <= 0.01 * abs(at_start):
            break
        if now > 0.0:
            high, at_high = t, now
            at_low *= 0.5
        else:
            low, at_low = t, now
            at_high *= 0.5
    return t


def narrow_order(P: Any, rows: Any, block: IntArray) -> tuple[IntArray, int]:
    """Return an order of the unknowns that makes ``P + C^T V C`` a narrow band, V by blocks, and its half width."""
    from scipy.sparse import csgraph

    n = P.shape[0]
    if n == 0:
        return np.arange(0), 0
    start, column, _ = compressed_rows(rows)
    begins = np.asarray(start[block], dtype=np.int64)
    touched = sparse.csr_array((np.ones(column.size), column, begins), shape=(block.size - 1, n))
    pattern = sparse.csr_array(abs(sparse.csr_array(P)) + touched.T @ touched)
    order = np.asarray(csgraph.reverse_cuthill_mckee(sparse.csr_matrix(pattern), symmetric_mode=True), dtype=np.int64)
    place = np.argsort(order)
    i, j = sparse.coo_array(pattern).coords
    return order, int(np.abs(place[i] - place[j]).max(initial=0))


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
