"""Nonsmooth Gauss-Seidel: one exact contact solution after another, accelerated.

References
----------
.. [1] Moreau, *Unilateral contact and dry friction in finite freedom dynamics*, 1988; Jean, *The non-smooth contact
   dynamics method*, 1999: the sweep.
.. [2] Anderson, *Iterative procedures for nonlinear integral equations*, 1965: the acceleration.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.problems.problem import accepted
from signorini.solvers.nsgs_acceleration import gauss_seidel
from signorini.solvers.nsgs_kernels import local_data
from signorini.solvers.solution import Control, Solution, Status

_CHUNK = 256  # sweeps between two looks at the clock
_ALONE = np.zeros((0, 4), dtype=np.int64)  # no threads share the work


@dataclass(frozen=True, slots=True, kw_only=True)
class NSGS:
    """Symmetric sweeps with Anderson acceleration for the exact cone.

    Matrix-free on a Delassus operator; fast when warm-started or well conditioned, slow on hyperstatic problems
    with large mass ratios.
    """

    acceleration: int = 5
    """Double sweeps that the acceleration combines; 0 for plain sweeps."""
    max_iterations: int = 5000
    """Sweeps allowed."""
    patience: int | None = None
    """Stop when this many sweeps did not bring the residual down to `progress` times itself; None: never."""
    progress: float = 0.1
    """See `patience`."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        began = time.perf_counter()
        control = control or Control()
        if not problem.plain:
            return not_applicable(problem, "NSGS", began)
        p = starting_point(problem, control)
        limit = self.max_iterations if control.max_iterations is None else control.max_iterations
        patience = limit + 1 if self.patience is None else self.patience
        sweeper = Sweeper(problem)
        watched = control.time_limit is not None or control.callback is not None
        history: list[tuple[float, float]] = []
        sweeps = 0
        status = Status.ITERATION_LIMIT
        best, last = math.inf, p
        while True:
            budget = min(_CHUNK, limit - sweeps) if watched else limit
            last = last.copy()
            done, reached = sweeper.run(
                last, 0.9 * control.tolerance, budget, patience, self.progress, self.acceleration
            )
            sweeps += done
            if reached < best:
                best, p = reached, last
            last = sweeper.p  # not the best: the residual may have to rise before it falls
            elapsed = time.perf_counter() - began
            history.append((elapsed, reached))
            if control.callback is not None:
                control.callback(sweeps, reached)
            if reached <= control.tolerance or sweeps >= limit:
                break
            if done < budget or not reached < math.inf:
                status = Status.STALLED
                break
            if control.time_limit is not None and elapsed > control.time_limit:
                status = Status.TIME_LIMIT
                break
        return judged(problem, p, control, status, sweeps, "NSGS", began, history)


class Sweeper:
    """The work space of sweeps over one problem."""

    def __init__(self, problem: FrictionProblem) -> None:
        self.problem = problem
        n_c = problem.contact_count
        self.local = np.empty((n_c, 15))
        local_data(problem.blocks, problem.rho, self.local)
        y_size = 3 * problem.couplings.y_count
        self.state = np.empty(y_size + 3 * n_c)
        self.rigid = np.zeros((n_c, 3))  # compliance is in the couplings
        self.slip = np.empty(n_c)
        self.scratch, self.small = np.empty(0), np.empty((0, 0, 0))
        self.y = self.state[:y_size].reshape(-1, 3)
        self.p = self.state[y_size:].reshape(-1, 3)

    def run(
        self, p: Array, tolerance: float, max_sweeps: int, patience: int, progress: float, acceleration: int
    ) -> tuple[int, float]:
        """Sweep from `p` (n_c, 3), put the best impulses met there; return the sweeps and their residual."""
        problem = self.problem
        window = max(acceleration, 1)
        if self.small.shape[1] < window + 1:
            self.scratch = np.empty((2 * window + 1) * self.state.size)
            self.small = np.empty((2, window + 1, window + 1))
        self.p[:] = p
        return gauss_seidel(
            *problem.couplings[:6],
            problem.load,
            problem.mu,
            problem.rho,
            self.local,
            self.state,
            self.y,
            self.p,
            p,
            self.rigid,
            self.slip,
            self.scratch,
            self.small,
            acceleration,
            tolerance,
            0,
            0,
            max_sweeps,
            patience,
            progress,
            _ALONE,
        )


def starting_point(problem: FrictionProblem, control: Control) -> Array:
    """Return the guess of the caller by contacts (n_c, 3), zero if there is none or it is not finite."""
    if control.start is not None:
        p = problem.spatial(control.start)
        if np.isfinite(np.vdot(p, p)):
            return p
    return np.zeros((problem.contact_count, 3))


def judged(
    problem: FrictionProblem,
    p: Array,
    control: Control,
    otherwise: Status,
    iterations: int,
    solver: str,
    began: float,
    history: list[tuple[float, float]],
    info: dict[str, Any] | None = None,
) -> Solution:
    """Let the problem judge the impulses `p` (n_c, 3): solved if it accepts them at the tolerance."""
    residual = problem.residual_by_contacts(p)
    if not math.isfinite(residual):
        p = np.zeros(p.shape)
        residual = problem.residual_by_contacts(p)
    if otherwise is Status.SOLVED:
        otherwise = Status.STALLED
    z = problem.flat(p)
    status = Status.SOLVED if accepted(problem, z, residual, control.tolerance) else otherwise
    seconds = time.perf_counter() - began
    return Solution(z, status, residual, iterations, seconds, solver, tuple(history), info or {})


def not_applicable(problem: FrictionProblem, solver: str, began: float) -> Solution:
    """Return the answer of a solver of the exact cone to a polygonal one."""
    z = np.zeros(problem.size)
    return Solution(z, Status.NOT_APPLICABLE, problem.residual(z), 0, time.perf_counter() - began, solver)
