"""What the compiled step asks of the robust methods, where its sweeps did not solve a problem."""

from __future__ import annotations

from signorini._arrays import LEAST_TOLERANCE, Array
from signorini.problems import FrictionProblem
from signorini.solvers import FrictionAuto, Solution, solve
from signorini.solvers.island_constants import MARGIN

_AFTER_SWEEPS = FrictionAuto(sweeps=0)


def solve_robustly(
    problem: FrictionProblem, tolerance: float, start: Array, *, swept: bool = True, limit: int | None = None
) -> Solution:
    """Return what the robust methods make of a problem; `swept` if `start` is where sweeps like theirs have ended.

    `limit` is that of their iterations.
    """
    goal = max(MARGIN * tolerance, LEAST_TOLERANCE)
    return solve(problem, _AFTER_SWEEPS if swept else None, tolerance=goal, start=start, max_iterations=limit)
