"""Principal pivoting for the linear complementarity problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, BoolArray
from signorini.problems.lcp import LCP
from signorini.problems.matrices import principal_block
from signorini.solvers.budget import affordable
from signorini.solvers.linear_systems import solve_linear
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class PrincipalPivoting:
    """Exchanges the wrong half of the pairs at each step, block by block, by Murty's least index where that stalls.

    At a complementary basis every pair has one basic unknown, z_i or w_i. Those that came out negative change sides:
    all at once while their number falls, then only the last one, which is finite for every P-matrix (with up to 2^n
    steps in constructed cases). For other matrices nothing is promised; a singular block ends the method.

    References
    ----------
    .. [CPS] Cottle, Pang & Stone, *The Linear Complementarity Problem*, section 4.2.
    .. [KR] Kostreva (1978), block pivot methods for solving the complementarity problem.
    """

    max_iterations: int = 10000
    """Bases visited."""
    patience: int = 10
    """Block exchanges allowed without fewer wrong pairs before the least-index rule takes over."""

    def solve(self, problem: LCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "PrincipalPivoting")
        positive = problem.q < 0.0 if control.start is None else control.start > 0.0
        limit = control.max_iterations or affordable(self.max_iterations, problem.size**3 / 3.0)
        fewest, patience = problem.size + 1, self.patience
        for iteration in range(limit + 1):
            z, w, size = _basic_point(problem, positive)
            if z is None:
                return progress.finish(None, iteration, Status.STALLED)
            wrong = np.flatnonzero(np.where(positive, z, w / problem.d) < -1e-12 * size)
            point = np.maximum(z, 0.0)
            if wrong.size == 0 or iteration % 20 == 0:
                residual = progress.offer(point, iteration)
                if wrong.size == 0 or progress.accepts(point, residual):
                    return progress.finish(point, iteration)
            if progress.out_of_time():
                return progress.finish(point, iteration, Status.TIME_LIMIT)
            if wrong.size < fewest:
                fewest, patience = wrong.size, self.patience
            else:
                patience -= 1
            exchanged = wrong if patience >= 0 else wrong[-1:]
            positive[exchanged] = ~positive[exchanged]
        return progress.finish(point, limit, Status.ITERATION_LIMIT)


def _basic_point(problem: LCP, positive: BoolArray) -> tuple[Array | None, Array, float]:
    """Return z and w of the basis, not yet nonnegative, and the size against which a sign is judged."""
    index = np.flatnonzero(positive)
    z = np.zeros(problem.size)
    solved = solve_linear(principal_block(problem.M, index), -problem.q[index])
    if solved is None:
        return None, z, 0.0
    z[index] = solved
    w = problem.slack(z)
    w[index] = 0.0
    size = max(float(np.abs(z).max(initial=0.0)), float(np.abs(problem.q / problem.d).max(initial=0.0)))
    return z, w, size
