"""Solutions of the instantaneous model: one, none, several, or an honest word on why that is not known.

Where every friction direction is known (sliding contacts, the plane, a polygonal cone) the model is an LCP, and all of
its solutions are listed if it is small: none listed is a proof that there is none. The exact cone in space is a
nonlinear problem; it is solved from every solution of its polygonal relative, and a failure proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from signorini._arrays import LEAST_TOLERANCE, Array
from signorini.analysis.answer import Answer
from signorini.analysis.instantaneous import Instantaneous
from signorini.analysis.p_matrix import SIZE_LIMIT, p_matrix
from signorini.problems import LCP, FrictionProblem
from signorini.solvers import Enumerate, Solution, Status, solve

_ENUMERATED = 16  # pairs of an LCP up to which all of its solutions are listed
_SYMMETRIC = 1e-12


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of the solutions of one group."""

    status: Status
    forces: tuple[Array, ...]
    """One vector x per motion that solves the problem, in its own units."""
    unique: Answer
    """Whether the first motion is the only one."""
    residual: float
    """Largest of the solutions listed, or the best reached where there is none."""
    continuum: bool = False
    """Infinitely many motions lie between those listed: how contacts share the load decides the motion."""


def find_solutions(problem: Instantaneous, *, polygon: Array, exact: bool, tolerance: float) -> Found:
    """Solve CP1 of one group.

    Parameters
    ----------
    problem : Instantaneous
    polygon : (n_d, tangents) array
        Directions of the polygonal cone; in the plane the two that there are.
    exact : bool
        Pose the exact cone; the polygon only gives starts.
    tolerance : float
        Residual that counts as solved.
    """
    if problem.size == 0:
        return Found(Status.SOLVED, (np.zeros(0),), Answer.YES, 0.0)
    lcp = problem.lcp(polygon)
    solution, listed = _of_lcp(lcp, tolerance)
    generators = problem.generators(polygon)
    forces = [generators @ z[: generators.shape[1]] for z in listed]
    if problem.tangents == 1 or not problem.rolling.size:
        return _judged(problem, solution, forces, tolerance)
    if not exact:
        return _judged(problem, solution, forces, tolerance, posed=max(map(lcp.residual, listed), default=None))
    start = generators @ solution.z[: generators.shape[1]]
    return _of_exact_cone(problem, _motions(problem, forces) or [start], tolerance)


def _of_lcp(lcp: LCP, tolerance: float) -> tuple[Solution, list[Array]]:
    """Return the solver's word and all solutions of a small LCP, or one of a larger one."""
    if lcp.size <= _ENUMERATED:
        solution = solve(lcp, Enumerate(), tolerance=tolerance)
        return solution, list(solution.info["solutions"])
    solution = solve(lcp, tolerance=tolerance)
    return solution, [solution.z] if solution.success else []


def _judged(
    problem: Instantaneous, solution: Solution, forces: list[Array], tolerance: float, *, posed: float | None = None
) -> Found:
    """Say what the solutions of an LCP mean: forces that move the bodies alike are one solution."""
    motions = _motions(problem, forces)
    if not motions:
        proven = solution.status is Status.NO_SOLUTION
        status = solution.status if proven or solution.status is Status.TIME_LIMIT else Status.UNDECIDED
        return Found(status, (), Answer.UNDECIDED, solution.residual)
    residual = max(problem.residual(x) for x in motions) if posed is None else posed
    if residual > tolerance:
        return Found(Status.STALLED, (), Answer.UNDECIDED, residual)
    if len(motions) > 1:
        between = posed is None and _between(problem, motions, tolerance)
        return Found(Status.SEVERAL_SOLUTIONS, tuple(motions), Answer.NO, residual, between)
    unique = _uniqueness(problem, "solutions" in solution.info, exact=posed is None)
    return Found(Status.SOLVED, tuple(motions), unique, residual)


def _uniqueness(problem: Instantaneous, enumerated: bool, exact: bool) -> Answer:
    """Tell whether a single motion found is the only one."""
    if enumerated or (exact and problem.unique_by_small_friction()):
        return Answer.YES
    if problem.rolling.size or problem.limit.size or problem.size > SIZE_LIMIT:
        return Answer.UNDECIDED
    return Answer.YES if p_matrix(problem.W) else Answer.UNDECIDED


def _motions(problem: Instantaneous, forces: list[Array]) -> list[Array]:
    """Return one vector of forces per motion: the mean of all that give it, which solves the problem as they do."""
    kinds: list[list[Array]] = []
    for x in forces:
        for alike in kinds:
            if problem.same_motion(alike[0], x):
                alike.append(x)
                break
        else:
            kinds.append([x])
    return [np.mean(alike, axis=0) for alike in kinds]


def _between(problem: Instantaneous, motions: list[Array], tolerance: float) -> bool:
    """Tell whether the middle of two solutions solves the problem too."""
    return any(problem.residual(0.5 * (x + y)) <= tolerance for x, y in combinations(motions, 2))


def _of_exact_cone(problem: Instantaneous, starts: list[Array], tolerance: float) -> Found:
    """Solve the nonlinear problem from each of the starts."""
    solved: list[Array] = []
    best = float("inf")
    for start in starts:
        for attempt in (_pressed, _whole, _friction):
            x = attempt(problem, start, tolerance)
            residual = float("inf") if x is None else problem.residual(x)
            best = min(best, residual)
            if x is not None and residual <= tolerance:
                solved.append(x)
                break
    motions = _motions(problem, solved)
    if not motions:
        return Found(Status.STALLED, (), Answer.UNDECIDED, best)
    residual = max(problem.residual(x) for x in motions)
    if len(motions) > 1:
        between = _between(problem, motions, tolerance)
        return Found(Status.SEVERAL_SOLUTIONS, tuple(motions), Answer.NO, residual, between)
    return Found(Status.SOLVED, tuple(motions), _uniqueness(problem, False, exact=True), residual)


def _pressed(problem: Instantaneous, start: Array, tolerance: float) -> Array | None:
    """Solve for the contacts that press at the start: where mu c_n = 0 the equations (22) are singular."""
    part, rows = problem.restricted(problem.pressing(start))
    x = np.zeros(problem.size)
    inner = _whole(part, start[rows], tolerance)
    if inner is None:
        return None
    x[rows] = inner
    return x


def _whole(problem: Instantaneous, start: Array, tolerance: float) -> Array | None:
    """Solve the nonlinear problem as it stands."""
    if problem.size == 0:
        return np.zeros(0)
    return solve(problem.mcp(start), tolerance=max(1e-2 * tolerance, LEAST_TOLERANCE), max_iterations=100).z[
        : problem.size
    ]


def _friction(problem: Instantaneous, start: Array, tolerance: float) -> Array | None:
    """Solve by the methods of time stepping, whose problem it is where all contacts roll and W is symmetric.

    They find forces also where contacts share a load in more ways than one.
    """
    m = problem.contact_count
    symmetric = np.abs(problem.W - problem.W.T).max() <= _SYMMETRIC * np.abs(problem.W).max()
    if problem.limit.size or problem.rolling.size < m or not symmetric:
        return None
    order = np.column_stack([np.arange(m), m + np.arange(2 * m).reshape(m, 2)]).reshape(-1)
    posed = FrictionProblem(problem.W[np.ix_(order, order)], problem.b[order], problem.friction)
    x = np.zeros(problem.size)
    x[order] = solve(posed, tolerance=max(1e-2 * tolerance, LEAST_TOLERANCE), start=start[order]).z
    return x
