"""Convex QPs by the interior-point package clarabel (extra ``qp``), checked and polished."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, checked_flag, checked_tolerance
from signorini._scipy import sparse
from signorini.problems.qp import ConvexQP
from signorini.solvers.progress import Progress
from signorini.solvers.qp_proximal import ProximalSession
from signorini.solvers.qp_session import QPPoint
from signorini.solvers.solution import Control, Solution, Status

_POLISH = 20  # steps of the multipliers


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarabel:
    """Interior points; ignores guesses.

    Its own status is not believed: with too small a tolerance it has been seen to stop early at a point with a
    complementarity error of 2e-3, and to call feasible problems infeasible. The point is therefore judged by the
    problem, and polished on its active set; a proof of infeasibility is checked.
    """

    accuracy: float = 1e-10
    """Gap and feasibility asked of clarabel; smaller is less reliable, not more accurate."""
    polish: bool = True
    """Finish with proximal steps from the point found."""
    max_iterations: int = 100

    def __post_init__(self) -> None:
        checked_flag(self.polish, "Clarabel: polish")
        checked_tolerance(self.accuracy, "Clarabel: accuracy")

    def solve(self, problem: ConvexQP, control: Control) -> Solution:
        """Solve `problem`; status ``not applicable`` if clarabel is not installed."""
        progress = Progress(problem, control, "Clarabel")
        if not is_installed():
            return progress.finish(None, 0, Status.NOT_APPLICABLE, reason="pip install signorini[qp]")
        point = self.open(problem).solve(problem.c, None, control.tolerance, progress)
        info: dict[str, Any] = {} if point.certificate is None else {"certificate": point.certificate}
        return progress.finish(point.z, point.iterations, point.status, **info)

    def open(self, problem: ConvexQP) -> ClarabelSession:
        """Prepare for a sequence of problems that differ in `c` alone."""
        return ClarabelSession(problem, self)


class ClarabelSession:
    """One QP with a changing right-hand side."""

    def __init__(self, problem: ConvexQP, settings: Clarabel) -> None:
        self.problem = problem
        self.settings = settings
        self.prover = ProximalSession(problem, _POLISH)
        self.polisher = self.prover if settings.polish else None

    def solve(self, c: Array, start: Array | None, tolerance: float, progress: Progress[Any] | None = None) -> QPPoint:
        """Solve with the right-hand side `c`; the guess is not used."""
        import clarabel

        problem = self.problem
        n, m_e, m = problem.variables, problem.equalities, c.size
        there = np.flatnonzero(np.concatenate([np.ones(m_e, dtype=bool), np.isfinite(c)]))
        plain = int((there >= m_e).sum()) - sum(problem.cones)
        cones: list[Any] = []
        if m_e:
            cones.append(clarabel.ZeroConeT(m_e))
        if plain:
            cones.append(clarabel.NonnegativeConeT(plain))
        cones.extend(clarabel.SecondOrderConeT(size) for size in problem.cones)
        rows = sparse.csc_matrix(-sparse.csr_array(problem.rows)[there])
        right = -np.concatenate([problem.a, c])[there]
        options = clarabel.DefaultSettings()
        options.verbose = False
        options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = self.settings.accuracy
        options.max_iter = self.settings.max_iterations
        left = None if progress is None else progress.time_left()
        if left is not None:
            options.time_limit = left
        upper = sparse.csc_matrix(sparse.triu(sparse.csc_matrix(problem.P)))
        found = clarabel.DefaultSolver(upper, problem.q, rows, right, cones, options).solve()
        z = np.zeros(n + m_e + m)
        z[:n] = found.x
        z[n + there] = found.z
        if "PrimalInfeasible" in str(found.status):
            certificate = self.prover.infeasible(z[n:], np.concatenate([problem.a, c]))
            if certificate is not None:
                return QPPoint(np.zeros_like(z), Status.NO_SOLUTION, np.inf, found.iterations, certificate)
            z[:] = 0.0  # a ray, not a point; and no proof
        if self.polisher is not None and np.isfinite(z).all():
            better = self.polisher.solve(c, z, tolerance, progress)
            return QPPoint(better.z, better.status, better.residual, found.iterations, better.certificate)
        residual = problem.residual_with(z, c)
        return QPPoint(z, Status.SOLVED if residual <= tolerance else Status.STALLED, residual, found.iterations)


def is_installed() -> bool:
    """Tell whether clarabel can be imported."""
    from importlib.util import find_spec

    return find_spec("clarabel") is not None
