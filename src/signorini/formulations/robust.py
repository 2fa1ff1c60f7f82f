"""What the compiled step asks of the robust methods, where its sweeps did not solve a problem."""

from __future__ import annotations

from signorini._arrays import LEAST_TOLERANCE, Array
from signorini.problems import FrictionProblem
from signorini.solvers import FrictionAuto, Solution, solve

_AFTER_SWEEPS = FrictionAuto(sweeps=0)
SHARE = 0.9  # of the tolerance: the step checks itself with sums that are added up in another order


def solve_robustly(
    problem: FrictionProblem, tolerance: float, start: Array, *, swept: bool = True, limit: int | None = None
) -> Solution:
    """Return what the robust methods make of a problem; `swept` if `start` is where sweeps like theirs have ended.

    `limit` is that of their iterations.
    """
    goal = max(SHARE * tolerance, LEAST_TOLERANCE)
    return solve(problem, _AFTER_SWEEPS if swept else None, tolerance=goal, start=start, max_iterations=limit)
