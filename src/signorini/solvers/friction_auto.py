"""The default for friction problems: cheap sweeps first, Newton-like methods where sweeps do not get on.

1. Accelerated Gauss-Seidel sweeps as long as the residual falls tenfold in 200 of them.
2. If they came near: a few steps of proximal Newton.
3. An interior point, near the solution cut short by Newton's method in the modes that it found.
4. Rounds, each with twice the operations of the last, which every member gets alike: sweeps and projected gradient go
   on where they ended; proximal Newton takes up where the interior point stalled, later the best point, or where the
   others are if it has not bettered that; interior points start at other sizes. So a problem that a member solves
   alone is solved here for a small multiple of what it needs alone.

Whatever happens, the best point by the problem's own residual is returned, and called solved only if that residual
meets the tolerance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import LEAST_TOLERANCE, Array
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import friction_as_lcp, friction_from_lcp
from signorini.problems.problem import accepted
from signorini.solvers.budget import affordable
from signorini.solvers.friction_certificate import contradiction, immovable
from signorini.solvers.nsgs import CHUNK, Sweeper, judged, not_applicable, product_cost, starting_point
from signorini.solvers.solution import Control, Solution, Status

if TYPE_CHECKING:
    from signorini.solvers.friction_auto_newton import NewtonMembers

_AFTER = 2  # sweeps after a guess was found to be good enough
_PATIENCE = 200
_PROGRESS = 0.1
_NEWTON_CONTACTS = 10_000  # beyond, a factorisation costs more than thousands of sweeps
_ROUND = 60  # Newton steps, or operations of as many, of each member in the first round
_STEP, _VISIT = 5e5, 1e2  # operations of a Newton step and of a visit to a contact besides those with matrices
_RUNAWAY = 1e-5  # tolerance at which impulses that ran away are not even credible
_REL = 100.0  # a one-off answer whose `rel` exceeds so many tolerances is polished as well


Member = Callable[[int], tuple[Array, float]]
"""Does so many iterations; returns the best point of them, or the last, and its residual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrictionAuto:
    """Portfolio for friction problems of any size and difficulty; polygonal cones go to the solvers of LCPs.

    Where a proof is found that contacts cannot all keep apart the status is "no solution", ``info["certificate"]``
    holds the weights that prove it and ``info["contradictory"]`` the contacts.
    """

    acceleration: int = 5
    """Window of the accelerated sweeps."""
    max_iterations: int = 4000
    """Factorisations allowed in all, fewer if dear (`budget.OPERATIONS`). The first sweeps are not counted, those of
    later rounds by their operations."""
    sweeps: int = 2000
    """Sweeps allowed at first; 0 if the start is where sweeps have ended."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        began = time.perf_counter()
        control = control or Control()
        if problem.layers is not None:
            return not_applicable(problem, "FrictionAuto", began)
        if problem.contact_count and problem.blocks[:, 0, 0].min() <= 0.0:
            weights = immovable(problem)
            if weights is not None:
                return _impossible(problem, np.zeros_like(problem.load), control, weights, 0, began)
        if problem.extension is not None:
            return _solve_extended(problem, control, self)
        if problem.polygon:
            return _solve_polygon(problem, control, began)
        p = starting_point(problem, control)
        sweeper = Sweeper(problem)
        history: list[tuple[float, float]] = []
        sweeps, residual = 0, math.inf

        def over(done: int, reached: float) -> bool:
            history.append((time.perf_counter() - began, reached))
            if control.callback is not None:
                control.callback(done, reached)
            return control.time_limit is not None and history[-1][0] > control.time_limit

        if self.sweeps > 0:
            chunk = self.sweeps if control.time_limit is None else CHUNK
            goal = 0.9 * control.tolerance
            sweeps, residual = sweeper.watched_run(
                p, goal, self.sweeps, _PATIENCE, _PROGRESS, self.acceleration, over, chunk
            )
            if 0.0 < residual <= control.tolerance and control.start is not None:
                # A guess just good enough would be taken again in every step, and its error would add up to creep.
                sweeps += sweeper.run(p, 0.0, _AFTER, _AFTER, 0.0, 1)[0]
        verdict = problem.verdict(p, control.tolerance)
        sharp = control.start is not None or verdict.rel <= _REL * control.tolerance
        if self.sweeps > 0 and verdict.solved and sharp:
            return judged(problem, p, control, Status.STALLED, sweeps, "FrictionAuto", began, history, verdict=verdict)
        residual = verdict.residual
        search = Search(problem, control, self, sweeper, p, residual, began, history)
        search.path.append(f"sweeps {sweeps}")
        with np.errstate(all="ignore"):
            status = search.run()
        if search.contradiction is not None:
            count = sweeps + search.factorisations
            return _impossible(problem, search.p, control, search.contradiction, count, began, search.history)
        return judged(
            problem,
            search.p,
            control,
            status,
            sweeps + search.factorisations,
            "FrictionAuto",
            began,
            search.history,
            {"path": search.path},
        )


class Search:
    """The best point so far and the stages that try to better it."""

    def __init__(
        self,
        problem: FrictionProblem,
        control: Control,
        settings: FrictionAuto,
        sweeper: Sweeper,
        p: Array,
        residual: float,
        began: float,
        history: list[tuple[float, float]],
    ) -> None:
        self.problem = problem
        self.control = control
        self.tolerance = control.tolerance
        self.limit = settings.max_iterations if control.max_iterations is None else control.max_iterations
        self.limited = control.max_iterations is not None
        self.met = False
        trusted = self.trusted(p, residual)
        self.p = p if trusted else np.zeros_like(p)
        self.residual = residual if trusted else math.inf
        self.sweeper, self.window = sweeper, settings.acceleration
        self.swept = self.p
        if settings.sweeps == 0:
            sweeper.last[:] = p
        self.began = began
        self.deadline = math.inf if control.time_limit is None else began + control.time_limit
        self.history = history
        self.factorisations = 0
        self.path: list[str] = []
        self.contradiction: Array | None = None

    def run(self) -> Status:
        """Try one stage after the other until the tolerance is met; return the status if it is not."""
        if self.problem.contact_count > _NEWTON_CONTACTS:
            self.rounds(None)
        else:
            # Imported where needed: most calls end with sweeps and never compile these kernels.
            from signorini.solvers.friction_auto_newton import NewtonMembers

            newton = NewtonMembers(self)
            if not newton.first() and not self.over():
                self.contradiction = contradiction(self.problem)
                if self.contradiction is not None:
                    return Status.NO_SOLUTION
                self.rounds(newton)
            if self.met:
                newton.polish()
        if self.met:
            return Status.SOLVED
        if time.perf_counter() > self.deadline:
            return Status.TIME_LIMIT
        return Status.ITERATION_LIMIT if self.factorisations >= self.limit else Status.STALLED

    def rounds(self, newton: NewtonMembers | None) -> None:
        """Let all members take turns, with budgets that grow."""
        from signorini.solvers.projected_gradient import Descent

        sweep = product_cost(self.problem) + _VISIT * self.problem.contact_count
        step = sweep if newton is None else newton.work + _STEP
        if not self.limited:
            self.limit = affordable(self.limit, step)
        descent = Descent(self.problem, self.swept)

        def sweeps(count: int) -> tuple[Array, float]:
            self.swept = self.sweeper.last.copy()
            goal = 0.9 * self.tolerance
            residual = self.sweeper.run(self.swept, goal, count, count + 1, _PROGRESS, self.window)[1]
            return self.swept, residual

        def gradient(count: int) -> tuple[Array, float]:
            residual = descent.run(count)
            return descent.p.copy(), residual

        budget = _ROUND
        while not self.met and not self.over():
            ends = [
                self.first_order(name, member, int(budget * step / sweep) + 1, sweep / step)
                for name, member in (("sweeps", sweeps), ("gradient", gradient))
            ]
            if newton is not None and not self.met and not self.over():
                newton.turn(budget, min(ends, key=lambda end: end[1])[0])
            budget *= 2

    def first_order(self, name: str, member: Member, count: int, cost: float) -> tuple[Array, float]:
        """Let a member do `count` iterations, each worth `cost` factorisations; return its best point and residual."""
        best, residual, done = self.p, math.inf, 0
        while done < count and not self.met and residual > self.tolerance and time.perf_counter() <= self.deadline:
            p, reached = member(min(CHUNK, count - done))
            done += CHUNK
            if reached < residual:
                best, residual = p, reached
        if done > 0:
            self.offer(name, best, residual, 1 + round(min(done, count) * cost))
        return best, residual

    def offer(self, name: str, p: Array, residual: float, factorisations: int) -> bool:
        """Keep `p` if it is better; tell whether the tolerance is met."""
        self.factorisations += factorisations
        self.path.append(f"{name} {factorisations}: {residual:.0e}")
        met = self.met
        if self.trusted(p, residual) and (residual < self.residual or (self.met and not met)):
            self.p, self.residual = p, residual
        self.history.append((time.perf_counter() - self.began, self.residual))
        if self.control.callback is not None:
            self.control.callback(self.factorisations, self.residual)
        return self.met

    def trusted(self, p: Array, residual: float) -> bool:
        """Tell whether `p` may be kept: not if its residual is small only beside impulses that ran away.

        If the problem does not accept a point that meets the tolerance, the goal of all further stages is put further,
        so that small impulses come right beside great ones.
        """
        if not residual <= self.control.tolerance:
            return True
        z = self.problem.flat(p)
        if accepted(self.problem, z, residual, self.control.tolerance):
            self.met = True
            return True
        self.tolerance = max(1e-2 * self.tolerance, LEAST_TOLERANCE)
        return self.problem.credible(z, _RUNAWAY)

    def excess(self) -> float:
        """Return by which factor `rel` of a one-off answer is greater than it should be."""
        if self.control.start is not None:
            return 0.0
        return self.problem.rel(self.problem.flat(self.p)) / (_REL * self.control.tolerance)

    def over(self) -> bool:
        """Tell whether time or factorisations are used up."""
        return self.factorisations >= self.limit or time.perf_counter() > self.deadline


def _impossible(
    problem: FrictionProblem,
    p: Array,
    control: Control,
    weights: Array,
    iterations: int,
    began: float,
    history: Sequence[tuple[float, float]] = (),
) -> Solution:
    """Return the answer to a problem without solution, with the weights that prove it."""
    info = {"certificate": weights, "contradictory": np.flatnonzero(weights)}
    status = Status.NO_SOLUTION
    return judged(problem, p, control, status, iterations, "FrictionAuto", began, list(history), info)


def _solve_extended(problem: FrictionProblem, control: Control, solver: FrictionAuto) -> Solution:
    """Solve a problem with couples by the methods made for them, with an ellipsoid alone in scaled components."""
    from signorini.solvers.extended_friction import ExtendedFriction
    from signorini.solvers.solve import run

    return run(solver if problem.rows == problem.dim else ExtendedFriction(swept=solver.sweeps == 0), problem, control)


def _solve_polygon(problem: FrictionProblem, control: Control, began: float) -> Solution:
    """Solve the LCP of a polygonal cone."""
    from signorini.solvers.linear_auto import LinearAuto

    inner = Control(
        tolerance=max(1e-2 * control.tolerance, LEAST_TOLERANCE),
        time_limit=control.time_limit,
        max_iterations=control.max_iterations,
    )
    solution = LinearAuto().solve(friction_as_lcp(problem), inner)
    p = problem.spatial(friction_from_lcp(problem, solution.z))
    status = Status.STALLED if solution.success else solution.status
    history = [(time.perf_counter() - began, solution.residual)]
    info = {**solution.info, "solved_as": "LCP"}
    if status is Status.NO_SOLUTION:
        weights = contradiction(problem)
        if weights is not None:
            info |= {"certificate": weights, "contradictory": np.flatnonzero(weights)}
    return judged(problem, p, control, status, solution.iterations, "FrictionAuto", began, history, info)
