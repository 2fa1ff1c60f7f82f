"""Proximal semismooth Newton for exact Coulomb friction, with a polish to rounding.

Outer steps add ``alpha (r - r_k)`` to the velocity, which makes singular and mildly non-monotone problems regular;
inner steps are Newton steps on the Alart-Curnier function. They are not damped: the first step into other modes often
raises the function a thousandfold and the next ones bring it down, where a line search would creep. After an easy
inner solve alpha shrinks; after a failed one it grows and the step is taken back. An alpha that failed is remembered:
only after some successes is it tried again, else half of all steps would be spent on failing. The polish is Newton's
method in the modes (open, stick, slip) that the point shows, with an alpha that only serves to choose among many
solutions.

References
----------
.. [1] Alart & Curnier, *A mixed formulation for frictional contact problems*, 1991.
.. [2] Rockafellar, *Monotone operators and the proximal point algorithm*, 1976.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.solvers.alart_curnier import alart_curnier, newton_blocks
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_newton import NewtonSystem
from signorini.solvers.newton_run import Run, solve_equilibrated
from signorini.solvers.solution import Control, Solution, Status

_INNER_STEPS = 10
_INNER_FALL = 1e-2  # an inner problem counts as solved when |F| fell by this factor
_LEAST, _MOST = 1e-9, 1.0  # bounds of alpha
ABOVE_FAILED, FORGET = 2.0, 0.7  # alpha stays above twice the one that failed, less by this factor at every success
_POLISH = (1e-9, 1e-7, 1e-5, 1e-3)  # alphas of the polish, tried in turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ProximalNewton:
    """Adaptive proximal Newton for the exact cone; good as a finish and where the interior point stalls."""

    alpha: float = 1e-2
    """First weight of the proximal term, relative to W_nn."""
    max_iterations: int = 400
    """Factorisations allowed."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        asked = control or Control()

        def method(scaled: EquilibratedProblem, system: NewtonSystem, r: Array, limit: int, deadline: float) -> Run:
            return proximal_newton(scaled, system, r, asked.tolerance, limit, self.alpha, deadline, asked.callback)

        return solve_equilibrated(problem, asked, "ProximalNewton", self.max_iterations, method)


def proximal_newton(
    scaled: EquilibratedProblem,
    system: NewtonSystem,
    r: Array,
    tolerance: float,
    max_factorisations: int,
    alpha: float,
    deadline: float = math.inf,
    tell: Callable[[int, float], object] | None = None,
) -> Run:
    """Run outer steps from `r` until the problem's residual meets `tolerance`."""
    mu = scaled.mu
    n_c = mu.shape[0]
    F, g, S = np.zeros((n_c, 3)), np.zeros((n_c, 3)), np.zeros((n_c, 3, 3))
    best, best_r = scaled.residual(r), r
    times = [(time.perf_counter(), best)]
    count = 0
    least = _LEAST
    status = Status.ITERATION_LIMIT
    if n_c == 0:
        return Run(r, best, 0, Status.STALLED, times)
    while best > tolerance and count < max_factorisations:
        if times[-1][0] > deadline:
            status = Status.TIME_LIMIT
            break
        centre = r
        u = scaled.velocity(r)
        first = size = alart_curnier(u, r, mu, F)
        if not size > 0.0:  # nothing that a step could better, whatever the residual says; or not a number
            status = Status.STALLED
            break
        inner = 0
        while inner < _INNER_STEPS and size > _INNER_FALL * first:
            newton_blocks(u, r, mu, F, alpha, S, g)
            inner += 1
            count += 1
            if not system.factor(S):
                break
            r = r + system.solve(g)[0]
            u = scaled.velocity(r) + alpha * (r - centre)
            size = alart_curnier(u, r, mu, F)
        residual = scaled.residual(r)
        times.append((time.perf_counter(), residual))
        if residual < best:
            best, best_r = residual, r
        if tell is not None:
            tell(count, best)
        if size <= _INNER_FALL * first:
            if inner <= 6:
                alpha = max((0.1 if inner <= 3 else 0.3) * alpha, least)
            least = max(FORGET * least, _LEAST)
        else:
            least = min(ABOVE_FAILED * alpha, _MOST)
            alpha = min(4.0 * alpha, _MOST)
            if not size < 0.5 * first:
                r = centre
    return Run(best_r, best, count, Status.SOLVED if best <= tolerance else status, times)


def polish(
    scaled: EquilibratedProblem, system: NewtonSystem, r: Array, target: float, max_factorisations: int = 8
) -> Run:
    """Take undamped Newton steps from `r` as long as they bring the residual down."""
    mu = scaled.mu
    n_c = mu.shape[0]
    F, g, S = np.zeros((n_c, 3)), np.zeros((n_c, 3)), np.zeros((n_c, 3, 3))
    best = scaled.residual(r)
    times = [(time.perf_counter(), best)]
    count = 0
    weights = list(_POLISH)
    while best > target and count < max_factorisations and weights:
        u = scaled.velocity(r)
        alart_curnier(u, r, mu, F)
        newton_blocks(u, r, mu, F, weights[0], S, g)
        count += 1
        trial = r + system.solve(g)[0] if system.factor(S) else r
        residual = scaled.residual(trial)
        if not residual < 0.5 * best:
            weights.pop(0)
        if residual < best:
            r, best = trial, residual
        times.append((time.perf_counter(), best))
    return Run(r, best, count, Status.SOLVED if best <= target else Status.STALLED, times)
