"""The linear complementarity problem as a mixed integer linear program: the last resort where no theory helps."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini._scipy import sparse
from signorini.problems.lcp import LCP
from signorini.problems.matrices import dense
from signorini.solvers.active_set import point_on_active_set, polished
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status


@dataclass(frozen=True, slots=True)
class MixedInteger:
    r"""Searches among the 2^n complementary choices by branch and bound.

    With ``z = y / alpha`` and b_i telling which of z_i and w_i may be positive, the LCP has a solution exactly if

    .. math:: \max \alpha, \quad 0 \le y \le b, \quad 0 \le M y + \alpha q \le 1 - b, \quad b \in \{0, 1\}^n

    has a positive optimum. Any matrix will do, but the time may grow like 2^n. A vanishing optimum shows that no
    solution exists up to a size, reported as ``info["none_below"]`` in units of q; rounding forbids to conclude more,
    so the status is then "undecided".

    References
    ----------
    .. [PR] Pardalos & Rosen (1988), global optimization approach to the linear complementarity problem.
    """

    max_size: int = 200
    """Largest number of pairs; beyond it the status is "not applicable"."""
    seconds: float = 10.0
    """Time allowed, where the caller's limit is not stricter."""

    def solve(self, problem: LCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control, "MixedInteger")
        n = problem.size
        if n > self.max_size:
            return progress.finish(None, 0, Status.NOT_APPLICABLE)
        if n == 0:
            return progress.finish(np.zeros(0), 0)
        seconds = self.seconds if control.time_limit is None else min(self.seconds, control.time_limit)
        unit = 1.0 / np.sqrt(problem.d)
        M, q = unit[:, None] * dense(problem.M) * unit, unit * problem.q
        size = float(np.abs(q).max()) or 1.0
        found = _branch_and_bound(M, q / size, seconds)
        if found.x is None:
            return progress.finish(None, 0, Status.TIME_LIMIT if found.status == 1 else Status.STALLED)
        y, alpha, chosen = found.x[:n], float(found.x[n]), found.x[n + 1 :] > 0.5
        nodes = int(found.mip_node_count or 0)
        if alpha > 0.0:
            z = np.maximum(y, 0.0) / alpha * unit * size
            z[~chosen] = 0.0
            z, residual = polished(problem, z, problem.residual(z))
            progress.offer(z, nodes, residual)
            point = point_on_active_set(problem, chosen)
            if point is not None:
                progress.offer(point, nodes)
        if found.status == 1:  # HiGHS: a limit was reached
            return progress.finish(None, nodes, Status.TIME_LIMIT)
        info: dict[str, Any] = {"none_below": 1.0 / max(alpha, 1e-7)} if alpha < 1e-3 else {}
        return progress.finish(None, nodes, Status.UNDECIDED, **info)


def _branch_and_bound(M: Array, q: Array, seconds: float) -> Any:
    """Solve the program in (y, alpha, b)."""
    from scipy import optimize

    n = q.size
    eye = np.eye(n)
    rows = np.block([[eye, np.zeros((n, 1)), -eye], [M, q[:, None], np.zeros((n, n))], [M, q[:, None], eye]])
    lower = np.concatenate([np.full(n, -np.inf), np.zeros(n), np.full(n, -np.inf)])
    upper = np.concatenate([np.zeros(n), np.full(n, np.inf), np.ones(n)])
    objective = np.zeros(2 * n + 1)
    objective[n] = -1.0
    with _silence():
        return optimize.milp(
            objective,
            integrality=np.concatenate([np.zeros(n + 1), np.ones(n)]),
            bounds=optimize.Bounds(np.zeros(2 * n + 1), np.ones(2 * n + 1)),
            constraints=optimize.LinearConstraint(sparse.csr_array(rows), lower, upper),
            options={"time_limit": seconds, "mip_rel_gap": 0.9},
        )


_SILENT = threading.Lock()


@contextmanager
def _silence() -> Iterator[None]:
    """Keep HiGHS from printing: it writes a line or two of its own to the standard output whatever it is told."""
    if os.name != "posix":
        yield
        return
    flush = ctypes.CDLL(None).fflush
    with _SILENT:
        sys.stdout.flush()
        flush(None)
        kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 1)
            yield
        finally:
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)
            os.close(nowhere)
