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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem, Verdict
from signorini.solvers.budget import affordable
from signorini.solvers.nsgs_acceleration import gauss_seidel_alone
from signorini.solvers.solution import Control, Solution, Status

CHUNK = 256  # sweeps between two looks at the clock
LAYERED = "the compliance has cores or matrices, which solve(problem, solver) takes"


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
        limit = control.max_iterations or affordable(self.max_iterations, product_cost(problem))
        patience = limit + 1 if self.patience is None else self.patience
        history: list[tuple[float, float]] = []

        def over(sweeps: int, residual: float) -> bool:
            history.append((time.perf_counter() - began, residual))
            if control.callback is not None:
                control.callback(sweeps, residual)
            return control.time_limit is not None and history[-1][0] > control.time_limit

        watched = control.time_limit is not None or control.callback is not None
        sweeper = Sweeper(problem)
        goal = 0.9 * control.tolerance
        sweeps, _ = sweeper.watched_run(
            p, goal, limit, patience, self.progress, self.acceleration, over, CHUNK if watched else limit
        )
        status = Status.STALLED
        if sweeps >= limit:
            status = Status.ITERATION_LIMIT
        elif control.time_limit is not None and history[-1][0] > control.time_limit:
            status = Status.TIME_LIMIT
        return judged(problem, p, control, status, sweeps, "NSGS", began, history)


class Sweeper:
    """Sweeps over one problem; the state in which they ended is kept."""

    def __init__(self, problem: FrictionProblem) -> None:
        self.problem = problem
        self.state = np.empty(3 * (problem.connections.y_count + problem.contact_count))

    @property
    def last(self) -> Array:
        """The impulses (n_c, 3) with which the sweeps ended, not the best: these may have to get worse first."""
        return self.state[3 * self.problem.connections.y_count :].reshape(-1, 3)

    def run(
        self, p: Array, tolerance: float, max_sweeps: int, patience: int, progress: float, acceleration: int
    ) -> tuple[int, float]:
        """Sweep from `p` (n_c, 3), put the best impulses met there; return the sweeps and their residual."""
        problem = self.problem
        return gauss_seidel_alone(
            *problem.connections[:6],
            problem.load,
            problem.mu,
            problem.rho,
            problem.blocks,
            self.state,
            p,
            acceleration,
            tolerance,
            max_sweeps,
            patience,
            progress,
        )

    def watched_run(
        self,
        p: Array,
        tolerance: float,
        max_sweeps: int,
        patience: int,
        progress: float,
        acceleration: int,
        over: Callable[[int, float], bool],
        chunk: int,
    ) -> tuple[int, float]:
        """Do as :meth:`run`, and ask after every `chunk` sweeps whether it is over, told sweeps and best residual."""
        sweeps, best = self.run(p, tolerance, min(chunk, max_sweeps), patience, progress, acceleration)
        done = sweeps
        while not over(sweeps, best) and chunk <= done and sweeps < max_sweeps and best > tolerance and best < math.inf:
            point = self.last.copy()
            left = min(chunk, max_sweeps - sweeps)
            done, reached = self.run(point, tolerance, left, patience, progress, acceleration)
            sweeps += done
            if reached < best:
                best, p[:] = reached, point
        return sweeps, best


def product_cost(problem: FrictionProblem) -> float:
    """Return the multiplications of a product with W, or of a sweep but for the contacts' own laws."""
    connections = problem.connections
    return 9.0 * float(connections.gather_start[-1] + connections.scatter_start[-1])


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
    verdict: Verdict | None = None,
) -> Solution:
    """Let the problem judge the impulses `p` (n_c, 3), unless it has: solved if it accepts them at the tolerance."""
    verdict = verdict or problem.verdict(p, control.tolerance)
    if not math.isfinite(verdict.residual):
        p = np.zeros(p.shape)
        verdict = problem.verdict(p, control.tolerance)
    if otherwise is Status.SOLVED:
        otherwise = Status.STALLED
    status = Status.SOLVED if verdict.solved else otherwise
    seconds = time.perf_counter() - began
    z = problem.flat(p)
    return Solution(z, status, verdict.residual, iterations, seconds, solver, tuple(history), info or {})


def not_applicable(problem: FrictionProblem, solver: str, began: float) -> Solution:
    """Return the answer of a solver to a problem whose law it does not know."""
    z = np.zeros(problem.size)
    info = {} if problem.layers is None else {"finding": LAYERED}
    return Solution(z, Status.NOT_APPLICABLE, problem.residual(z), 0, time.perf_counter() - began, solver, info=info)
