"""The subproblems P1 and P2 of one friction problem, prepared once and solved again and again."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import polygon_directions
from signorini.problems.matrices import compressed_rows
from signorini.problems.relaxations import (
    first_relaxation,
    is_spatial_and_exact,
    polygon_coordinates,
    polygon_shares,
    root,
    second_relaxation,
)
from signorini.solvers.anitescu_hart_finish import Finish
from signorini.solvers.progress import Progress
from signorini.solvers.qp_proximal import narrow_order
from signorini.solvers.qp_session import QPPoint, QPSession, QPSolver
from signorini.solvers.solution import Status

_ACCEPTED = 1e-7  # residual up to which a subproblem that misses the accuracy asked is used all the same
Point = tuple[Array, Array, Array]
"""Impulses p, contact velocities u (dim n_c,), mass-scaled velocity change y (N,)."""


class Relaxations:
    """P1 and P2 for changing Gamma and lambda, each warm-started by its last solution.

    Raises
    ------
    InputError
        If W is not symmetric positive semidefinite.
    """

    def __init__(self, problem: FrictionProblem, solver: QPSolver, progress: Progress[Any] | None = None) -> None:
        self.problem = problem
        self.progress = progress
        self.solver = solver
        self.A = root(problem)
        self.P1 = first_relaxation(problem, A=self.A)
        self.first_session: QPSession = solver.open(self.P1.qp)
        self.second_session: QPSession | None = None
        self.P2: Any = None
        self.first_z: Array | None = None
        self.second_z: Array | None = None
        self.exact = is_spatial_and_exact(problem)
        self.n_d = 1 if self.exact else polygon_directions(problem).shape[0]
        self.solved = 0
        self.worst = 0.0
        """Largest residual of a subproblem so far."""
        self.failed = QPPoint(np.zeros(0), Status.UNDECIDED, np.inf, 0)
        self._finish: Finish | None = None

    @property
    def factorisations(self) -> int:
        """Factorisations so far, as far as the back end counts them."""
        sessions = (self.first_session, self.second_session, self._finish)
        return sum(int(getattr(session, "factorisations", 0)) for session in sessions)

    def guess(self, p: Array) -> None:
        """Start the next P1 and P2 from impulses `p`."""
        y = self.A.T @ p
        if self.exact:
            w = self.problem.spatial(p)
            with np.errstate(divide="ignore", invalid="ignore"):
                w[:, 1:] = np.where(self.problem.mu[:, None] > 0.0, w[:, 1:] / self.problem.mu[:, None], 0.0)
            shares = w.reshape(-1)
        else:
            shares = polygon_shares(self.problem, p)
            self.second_z = np.concatenate([y, polygon_coordinates(self.problem, p)])
        self.first_z = np.concatenate([y, shares])

    def first(self, Gamma: Array, accuracy: float) -> Point | None:
        """Solve P1(Gamma); None if that failed, see `failed`."""
        shift = np.zeros((self.problem.contact_count, 3)) if self.exact else None
        if shift is not None:
            shift[:, 0] = Gamma
            c = self.P1.qp.c - shift.reshape(-1)
        else:
            c = self.P1.qp.c - np.repeat(Gamma, self.n_d)
        point = self._solved(self.first_session, c, self.first_z, accuracy)
        if point is None:
            return None
        self.first_z = point.z
        return self._point(self.P1.impulse(point.z))

    def second(self, slip: Array, u: Array, Gamma: Array, row_slack: float | None, accuracy: float) -> Point | None:
        """Solve P2(slip) after P1(Gamma) gave the velocities `u`; None if that failed."""
        problem, n_c = self.problem, self.problem.contact_count
        if self.second_session is None:
            self.P2 = second_relaxation(problem, 0.0, A=self.A)
            self.second_session = self.solver.open(self.P2.qp)
        c = self.P2.qp.c.copy()
        c[n_c:] -= np.repeat(slip, self.n_d)
        if row_slack is not None:
            # The rows of P1 have the slack u_n + mu d_i . u_T + Gamma, the least of which is:
            slack = u[:: problem.dim] - problem.mu * slip + Gamma
            c[n_c:][np.repeat(slack > row_slack, self.n_d)] = -np.inf
        point = self._solved(self.second_session, c, self.second_z, accuracy)
        if point is None:
            return None
        self.second_z = point.z
        return self._point(self.P2.impulse(point.z))

    def finish(self, p: Array, tolerance: float) -> tuple[Array, float]:
        """Try Newton's method from `p`; return the better impulses and their residual."""
        if self._finish is None:
            by_contact = np.arange(0, self.problem.size + 1, self.problem.dim)
            order, width = narrow_order(self.P1.qp.P, self.A, by_contact)
            start, column, value = compressed_rows(self.A)
            rows = (start, np.argsort(order)[column], value)
            self._finish = Finish(self.problem, rows, self.A.shape[1], width)
        better, residual = self._finish.improve(self.problem.spatial(p), tolerance)
        return self.problem.flat(better), residual

    def _solved(self, session: QPSession, c: Array, start: Array | None, accuracy: float) -> QPPoint | None:
        point = session.solve(c, start, accuracy, self.progress)
        self.solved += 1
        late = self.progress is not None and self.progress.out_of_time()
        if point.residual > max(_ACCEPTED, accuracy) and start is not None and not late:
            point = session.solve(c, None, accuracy, self.progress)  # a bad guess must not decide
        self.worst = max(self.worst, point.residual)
        if point.status is Status.NO_SOLUTION or not point.residual <= max(_ACCEPTED, accuracy):
            self.failed = point
            return None
        return point

    def _point(self, p: Array) -> Point:
        y: Array = self.A.T @ p
        u: Array = self.A @ y + self.problem.b
        return p, u, y
