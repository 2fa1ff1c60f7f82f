"""Projected Gauss-Seidel and over-relaxation for the linear complementarity problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.problems.lcp import LCP
from signorini.problems.matrices import Rows, compressed_rows
from signorini.solvers.active_set import polished
from signorini.solvers.budget import affordable
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class PGS:
    """Sweeps ``z_i = max(0, z_i - omega (M z + q)_i / M_ii)``, one unknown after the other.

    Converges for symmetric positive definite M if ``0 < omega < 2``, and for strictly diagonally dominant M if
    ``omega <= 1``. Cheap and approximate: the active set that it finds is finished by one direct solve. Needs a
    positive diagonal (rows of zeros are passed over), else the status is "not applicable".

    References
    ----------
    .. [CPS] Cottle, Pang & Stone, *The Linear Complementarity Problem*, section 5.2.
    """

    omega: float = 1.0
    """Relaxation; 1 is Gauss-Seidel, up to 2 over-relaxation."""
    max_iterations: int = 20000
    """Sweeps."""
    check_every: int = 50
    """Sweeps between looks at the residual."""

    def solve(self, problem: LCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "PGS")
        z = np.zeros(problem.size) if control.start is None else np.maximum(control.start, 0.0)
        rows = compressed_rows(problem.M)
        if not has_sweepable_diagonal(rows):
            return progress.finish(z, 0, Status.NOT_APPLICABLE)
        limit = control.max_iterations or affordable(self.max_iterations, 2.0 * rows[2].size)
        unbounded = np.full(problem.size, np.inf)
        done = 0
        residual = progress.offer(z, 0)
        status = Status.ITERATION_LIMIT
        polish_below = 1e-2
        while done < limit and not progress.accepts(z, residual):
            count = min(self.check_every, limit - done)
            sweeps(*rows, problem.q, np.zeros(problem.size), unbounded, z, self.omega, count)
            done += count
            residual = progress.offer(z, done)
            if not np.isfinite(residual):
                status = Status.STALLED
                break
            if control.tolerance < residual < polish_below:
                polish_below = 0.1 * residual  # a direct solve is dear: only when the sweeps have gained a digit
                point, better = polished(problem, z, residual)
                if progress.accepts(point, better):
                    progress.offer(point, done, better)
                    break
            if progress.out_of_time():
                status = Status.TIME_LIMIT
                break
        return progress.finish(z, done, status)


def has_sweepable_diagonal(rows: Rows) -> bool:
    """Tell whether every row has a positive diagonal or is empty."""
    indptr, indices, data = rows
    row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    filled = np.zeros(indptr.size - 1, dtype=bool)
    filled[row[data != 0.0]] = True
    positive = np.zeros(indptr.size - 1, dtype=bool)
    positive[row[(row == indices) & (data > 0.0)]] = True
    return bool((positive | ~filled).all())


@kernel
def sweeps(
    indptr: IntArray,
    indices: IntArray,
    data: Array,
    q: Array,
    lower: Array,
    upper: Array,
    z: Array,
    omega: float,
    count: int,
) -> None:
    """Do `count` projected sweeps on ``lower <= z <= upper ⊥ M z + q``, in place; rows without diagonal are left."""
    for _ in range(count):
        for i in range(q.size):
            slack = q[i]
            diagonal = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                slack += data[p] * z[indices[p]]
                if indices[p] == i:
                    diagonal = data[p]
            if diagonal > 0.0:
                z[i] = min(max(z[i] - omega * slack / diagonal, lower[i]), upper[i])
