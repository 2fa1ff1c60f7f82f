"""Interior point for exact Coulomb friction, De Saxcé's term inside Newton.

The velocity u is a variable of its own: ``u = W r + b`` stays linear, so its residual falls with every step exactly,
and the convex term ``|u_T|`` only pushes the dual point further into the cone. Predictor and corrector as in Mehrotra's
method; the centring never goes below 0.1, because away from the central path slip and friction are badly aligned.

References
----------
.. [1] De Saxcé & Feng, *The bipotential method*, 1998: the law as one complementarity over the cone.
.. [2] Nesterov & Todd, *Self-scaled barriers*, 1997; Mehrotra, 1992.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_ip_kernels import centring, gap_after, longest_step, scale_contacts
from signorini.solvers.friction_newton import NewtonSystem
from signorini.solvers.newton_run import Run, solve_equilibrated
from signorini.solvers.proximal_newton import polish
from signorini.solvers.solution import Control, Solution, Status

_LEAST_CENTRING = 0.1
_DAMPING = 0.95  # part of the way to the boundary; 0.99 ends off the central path
_SHORT = 0.1  # a corrected step shorter than this is replaced by one of pure centring
_PROGRESS = 0.7  # the best residual must fall by this factor within the patience
_FINISH_BELOW = 1e-5
_NEARLY = 100.0  # tolerances: where the method ends so near, Newton's method in the modes found ends the matter
_WARM = 1e-2  # how far a guess is pushed into the cones, in equilibrated units


@dataclass(frozen=True, slots=True, kw_only=True)
class FrictionInteriorPoint:
    """Interior point with Nesterov-Todd scaling for the exact cone.

    Takes 10 to 25 factorisations on most problems from a cold start, hyperstatic and heavy-on-light ones included; may
    stall on collapsing piles, where the law is not monotone.
    """

    max_iterations: int = 60
    """Factorisations allowed."""
    patience: int = 8
    """Iterations without a fall of the best residual by 30 % after which the method gives up."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        asked = control or Control()

        def method(scaled: EquilibratedProblem, system: NewtonSystem, r: Array, limit: int, deadline: float) -> Run:
            start = None if asked.start is None else r
            run = interior_point(
                scaled, system, asked.tolerance, limit, self.patience, deadline, start, tell=asked.callback
            )
            if not asked.tolerance < run.residual <= _NEARLY * asked.tolerance:
                return run
            end = polish(scaled, system, run.r, asked.tolerance)  # matrices were singular up to rounding
            count, times = run.factorisations + end.factorisations, run.times + end.times
            status = Status.SOLVED if end.status == Status.SOLVED else run.status
            return Run(end.r, end.residual, count, status, times)

        return solve_equilibrated(problem, asked, "FrictionInteriorPoint", self.max_iterations, method)


def interior_point(
    scaled: EquilibratedProblem,
    system: NewtonSystem,
    tolerance: float,
    max_factorisations: int,
    patience: int,
    deadline: float = math.inf,
    start: Array | None = None,
    size: float = 1.0,
    finish: Callable[[Array], Run] | None = None,
    tell: Callable[[int, float], object] | None = None,
) -> Run:
    """Follow the central path; the start is a guess `start`, or ``x = size e``.

    Once the residual is small, and again after each fall by ten, `finish` may try to end the matter from there. What it
    finds counts only if it meets the tolerance: a point just off the central path is a better start for other methods
    than one with some modes right and others settled wrongly.
    """
    mu = scaled.mu
    n_c = mu.shape[0]
    D = np.ones((n_c, 3))
    D[:, 0] = np.where(mu > 0.0, 1.0 / np.where(mu > 0.0, mu, 1.0), 1.0)
    D[mu == 0.0, 1:] = 0.0
    x, u = _start(scaled, D, size) if start is None else _warm_start(scaled, D, start)
    path = _CentralPath(system, D, mu)
    best, best_r, since = math.inf, np.zeros((n_c, 3)), 0
    tried = _FINISH_BELOW
    times: list[tuple[float, float]] = []
    status = Status.ITERATION_LIMIT
    count = 0
    while True:
        r = D * x
        e = scaled.velocity(r) - u
        residual = scaled.residual(r)
        times.append((time.perf_counter(), residual))
        since = 0 if residual < _PROGRESS * best else since + 1
        if residual < best:
            best, best_r = residual, r
        if tell is not None:
            tell(count, best)
        if best <= tolerance:
            status = Status.SOLVED
            break
        if finish is not None and best < tried:
            tried = 0.1 * best
            end = finish(best_r)
            count += end.factorisations
            if end.residual <= tolerance:
                best, best_r, status = end.residual, end.r, Status.SOLVED
                times.append((time.perf_counter(), best))
                break
        if since >= patience or n_c == 0 or not math.isfinite(residual):
            status = Status.STALLED
            break
        if times[-1][0] > deadline:
            status = Status.TIME_LIMIT
            break
        if count >= max_factorisations:
            break
        count += 1
        if not path.factor(x, u):
            status = Status.STALLED
            break
        x, u = path.step(x, u, e)
    return Run(best_r, best, count, status, times)


class _CentralPath:
    """Newton steps along the central path, predicted and corrected."""

    def __init__(self, system: NewtonSystem, D: Array, mu: Array) -> None:
        self._system, self._D, self._mu = system, D, mu
        n_c = mu.shape[0]
        self._z, self._g, self._none = np.zeros((n_c, 3)), np.zeros((n_c, 3)), np.zeros((n_c, 3))
        self._scaling, self._S = np.zeros((n_c, 4)), np.zeros((n_c, 3, 3))
        self._sigma = 0.0

    def factor(self, x: Array, u: Array) -> bool:
        """Scale the contacts at (x, u) and factor the system there; False if that fails."""
        self._sigma = scale_contacts(x, u, self._mu, self._z, self._scaling, self._S) / self._mu.shape[0]
        return self._system.factor(self._S)

    def step(self, x: Array, u: Array, e: Array) -> tuple[Array, Array]:
        """Return the next x and u, where the system is factored at these; ``e = W r + b - u``."""
        mu, sigma, none = self._mu, self._sigma, self._none
        dx, du = self._direction(x, u, e, 0.0, none, none, False)
        a = min(1.0, longest_step(x, dx, u, du, mu))
        left = min(1.0, max(0.0, gap_after(x, dx, u, du, mu, a) / mu.shape[0] / sigma))
        dx, du = self._direction(x, u, e, max(left**3, _LEAST_CENTRING) * sigma, dx, du, True)
        a = min(1.0, _DAMPING * longest_step(x, dx, u, du, mu))
        if not a >= _SHORT:
            dx, du = self._direction(x, u, e, sigma, none, none, False)
            a = min(1.0, _DAMPING * longest_step(x, dx, u, du, mu))
        return x + a * dx, u + a * du

    def _direction(
        self, x: Array, u: Array, e: Array, target: float, dx: Array, du: Array, corrected: bool
    ) -> tuple[Array, Array]:
        """Return (dx, du) of ``dr = g - S du``, ``du = W dr + e``; g aims at `target`, corrected by the last ones."""
        centring(x, u, self._z, self._mu, self._scaling, target, dx, du, corrected, self._g)
        dr, du = self._system.solve(self._g, e)
        return dr / np.where(self._D > 0.0, self._D, 1.0), du


def _start(scaled: EquilibratedProblem, D: Array, size: float) -> tuple[Array, Array]:
    """Return x = size e and u = (mu, 0, 0), so that z = e."""
    x = np.zeros_like(D)
    x[:, 0] = size
    u = np.zeros_like(D)
    u[:, 0] = np.where(scaled.mu > 0.0, scaled.mu, 1.0)
    return x, u


def _warm_start(scaled: EquilibratedProblem, D: Array, r: Array) -> tuple[Array, Array]:
    """Return a guess pushed into the cones."""
    mu = scaled.mu
    x = np.where(D > 0.0, r / np.where(D > 0.0, D, 1.0), 0.0)
    x[:, 0] = np.maximum(x[:, 0], np.hypot(x[:, 1], x[:, 2])) + _WARM
    u = scaled.velocity(r)
    u[:, 0] = np.maximum(u[:, 0], 0.0) + np.where(mu > 0.0, mu, 1.0) * _WARM
    return x, u
