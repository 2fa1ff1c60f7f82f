"""What the Newton-like methods of friction problems have in common: how they are started and what they hand back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.solvers.budget import affordable
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_newton import NewtonSystem, newton_system
from signorini.solvers.nsgs import judged, not_applicable, starting_point
from signorini.solvers.solution import Control, Solution, Status


class Run(NamedTuple):
    """What a Newton-like method did: best impulses in equilibrated units, its residual, and the way there."""

    r: Array
    residual: float
    factorisations: int
    status: Status
    times: list[tuple[float, float]]

    def history(self, began: float) -> list[tuple[float, float]]:
        """Return the residuals with times counted from `began`."""
        return [(at - began, residual) for at, residual in self.times]


Method = Callable[[EquilibratedProblem, NewtonSystem, Array, int, float], Run]
"""Takes problem, linear algebra, starting point, factorisations allowed and the clock at which time is up."""


def solve_equilibrated(
    problem: FrictionProblem, control: Control | None, solver: str, max_iterations: int, method: Method
) -> Solution:
    """Run `method` on `problem` in equilibrated units and judge what it found."""
    began = time.perf_counter()
    control = control or Control()
    if not problem.plain:
        return not_applicable(problem, solver, began)
    scaled = EquilibratedProblem(problem)
    start = scaled.scaled(starting_point(problem, control))
    deadline = math.inf if control.time_limit is None else began + control.time_limit
    with np.errstate(all="ignore"):
        system = newton_system(scaled)
        limit = control.max_iterations or affordable(max_iterations, system.work)
        run = method(scaled, system, start, limit, deadline)
    p = scaled.impulses(run.r)
    return judged(problem, p, control, run.status, run.factorisations, solver, began, run.history(began))
