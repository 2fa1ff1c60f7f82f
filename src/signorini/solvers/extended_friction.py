"""Friction with torsional and rolling couples, and ellipsoidal friction with a couple.

Accelerated sweeps over exactly solved contacts, and a proximal semismooth Newton method where they do not get on; by
turns, until the tolerance is met.

References
----------
.. [1] Alart & Curnier, *A mixed formulation for frictional contact problems*, 1991; here with several groups of
   components under one normal impulse.
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
from signorini.solvers.budget import affordable
from signorini.solvers.extended_equilibrated import EquilibratedExtension
from signorini.solvers.friction_certificate import contradiction
from signorini.solvers.nsgs import judged, not_applicable
from signorini.solvers.proximal_newton import ABOVE_FAILED, FORGET
from signorini.solvers.solution import Control, Solution, Status

_WINDOW = 5  # double sweeps that the acceleration combines
_CHUNK = 10  # double sweeps between two looks at the residual
_PATIENCE = 10  # chunks without a tenfold fall of the residual after which Newton's method is tried
_INNER_STEPS = 10
_INNER_FALL = 1e-2  # an inner problem counts as solved when |F| fell by this factor
_LEAST, _MOST = 1e-9, 1.0  # bounds of the proximal weight
_NEAR = 1e-4  # residual from which the modes are likely to be right, so that Newton's method alone may end it
_POLISH = (1e-9, 1e-7, 1e-5, 1e-3)  # proximal weights of that end, tried in turn
_RUNAWAY = 1e9  # impulses beyond this many times the load, in equilibrated units, lead nowhere


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedFriction:
    """Sweeps and proximal Newton for contacts with couples; direct linear algebra, for up to some hundred contacts."""

    max_iterations: int = 2000
    """Factorisations allowed; sweeps are not counted against it."""
    rounds: int = 6
    """How often sweeps and Newton's method take turns."""
    swept: bool = False
    """Whether the start is where sweeps have ended: then Newton's method has the first turn."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        began = time.perf_counter()
        control = control or Control()
        if problem.extension is None or problem.rows == problem.dim or problem.layers is not None:
            return not_applicable(problem, "ExtendedFriction", began)
        search = _Search(problem, control, self, began)
        with np.errstate(all="ignore"):
            status = search.run()
        info: dict[str, Any] = {}
        if search.contradiction is not None:
            info = {"certificate": search.contradiction, "contradictory": np.flatnonzero(search.contradiction)}
        count, history = search.iterations, search.history
        return judged(problem, search.best_x, control, status, count, "ExtendedFriction", began, history, info)


class _Search:
    """The best point so far, and the methods that take turns to better it."""

    def __init__(self, problem: FrictionProblem, control: Control, settings: ExtendedFriction, began: float) -> None:
        self.scaled = EquilibratedExtension(problem)
        self.problem, self.control, self.settings, self.began = problem, control, settings, began
        self.deadline = math.inf if control.time_limit is None else began + control.time_limit
        each = 0.0 if self.scaled.sparse else problem.size**3 / 3.0
        self.limit = control.max_iterations or affordable(settings.max_iterations, each)
        self.iterations = 0
        self.history: list[tuple[float, float]] = []
        self.best, self.best_x = math.inf, np.zeros((problem.contact_count, problem.rows))
        self.solved = False
        self.contradiction: Array | None = None

    def run(self) -> Status:
        """Let the methods take turns; return the status if none succeeds."""
        start = np.zeros(self.scaled.b.shape)
        if self.control.start is not None and np.isfinite(self.control.start).all():
            start = self.scaled.scaled(self.problem.spatial(self.control.start))
        self.offer(start)
        r = start
        for turn in range(self.settings.rounds):
            if turn > 0 or not self.settings.swept:
                r = self.sweeps(r, 60 * 2**turn)
            if self.over():
                break
            self.newton(r, 10.0 ** -(3 - turn % 3), 60 + 60 * turn)
            if self.over():
                break
            if turn == 0:
                self.contradiction = contradiction(self.problem)
                if self.contradiction is not None:
                    return Status.NO_SOLUTION
            if turn % 2:  # another way: from nothing, through all modes
                self.newton(np.zeros(r.shape), 1.0, 100)
            if self.over():
                break
            if self.best < _NEAR:
                self.polish()
            if self.over():
                break
            r = self.scaled.scaled(self.best_x) if turn % 2 == 0 else r
        if time.perf_counter() > self.deadline:
            return Status.TIME_LIMIT
        return Status.ITERATION_LIMIT if self.iterations >= self.limit else Status.STALLED

    def over(self) -> bool:
        """Tell whether the problem is solved, or time or iterations are used up."""
        return self.solved or self.iterations >= self.limit or time.perf_counter() > self.deadline

    def offer(self, r: Array) -> float:
        """Record a point and return its residual."""
        x = self.scaled.impulses(r)
        residual = self.problem.residual_by_contacts(x)
        if np.abs(r).max(initial=0.0) < _RUNAWAY and (residual < self.best or not self.history):
            self.best, self.best_x = residual, x
            tolerance = self.control.tolerance
            self.solved = residual <= tolerance and accepted(self.problem, self.problem.flat(x), residual, tolerance)
        self.history.append((time.perf_counter() - self.began, residual))
        if self.control.callback is not None:
            self.control.callback(self.iterations, residual)
        return residual

    def sweeps(self, r: Array, chunks: int) -> Array:
        """Sweep from `r` as long as the residual falls; return the last point."""
        goal, since = math.inf, 0
        for _ in range(chunks):
            r = self.scaled.sweep(r, _CHUNK, _WINDOW)
            residual = self.offer(r)
            since = 0 if residual < 0.1 * goal else since + 1
            goal = residual if since == 0 else goal
            if since > _PATIENCE or not math.isfinite(residual) or self.over():
                break
        return r

    def newton(self, r: Array, alpha: float, steps: int) -> None:
        """Take proximal Newton steps from `r`.

        Outer steps add ``alpha (r - centre)`` to the velocity; alpha shrinks after an easy inner solution and grows
        after a failed one, which is taken back; what failed is remembered as in
        :mod:`~signorini.solvers.proximal_newton`.
        """
        scaled = self.scaled
        end, least = min(self.iterations + steps, self.limit), _LEAST
        while self.iterations < end and not self.over():
            centre = r
            u = scaled.velocity(r)
            F, size = scaled.function(u, r)
            if not size > 0.0:  # nothing that a step could better, whatever the residual says; or not a number
                return
            first, inner = size, 0
            while inner < _INNER_STEPS and size > _INNER_FALL * first:
                step = scaled.newton_step(u, r, F, alpha)
                inner += 1
                self.iterations += 1
                if step is None:
                    break
                r = r + step
                u = scaled.velocity(r) + alpha * (r - centre)
                F, size = scaled.function(u, r)
            self.offer(r)
            if size <= _INNER_FALL * first:
                if inner <= 6:
                    alpha = max((0.1 if inner <= 3 else 0.3) * alpha, least)
                least = max(FORGET * least, _LEAST)
                continue
            least = min(ABOVE_FAILED * alpha, _MOST)
            alpha = min(4.0 * alpha, _MOST)
            if not size < 0.5 * first:
                r = centre

    def polish(self) -> None:
        """Take Newton steps from the best point as long as they bring the residual down."""
        weights = list(_POLISH)
        while weights and not self.over():
            r, before = self.scaled.scaled(self.best_x), self.best
            u = self.scaled.velocity(r)
            step = self.scaled.newton_step(u, r, self.scaled.function(u, r)[0], weights[0])
            self.iterations += 1
            if step is None or not self.offer(r + step) < 0.5 * before:
                weights.pop(0)
