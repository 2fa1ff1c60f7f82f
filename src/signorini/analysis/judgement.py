r"""The three steps of the validity test (S4, section V) on one group of contacts.

1. D of all sliding contacts: one solution for every load?
2. The LCP for the actual load (or the impulses of a time step): which contacts press?
3. D of those that press: are their forces stable?

Beyond the paper, and said so in the result: contacts that stick are held as bilateral rows, and dependent normals (a
box on four corners) are judged by what is still unique, the motion, and on the penetrations that bodies can make.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.analysis.answer import Answer
from signorini.analysis.contact_stability import BoundaryLayer, Stability, boundary_layer
from signorini.analysis.matrix_classes import adequate
from signorini.analysis.p_matrix import SIZE_LIMIT, PMatrix, p_matrix
from signorini.analysis.sliding import SlidingMatrix
from signorini.problems import LCP
from signorini.solvers import Enumerate, Solution, Status, solve

ENUMERATE_LIMIT = 12
"""Up to so many contacts all solutions of the LCP are listed."""

_PRESSES = 1e-9  # of the largest force: what is below does not press


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the three steps found for contacts that share bodies."""

    matrix: SlidingMatrix
    unique: Answer
    """Whether every load has exactly one motion (and one set of forces, if `sharing_open` is False)."""
    p: PMatrix
    sharing_open: bool
    """The normals depend on each other, so a rigid model does not say how these contacts share their load."""
    solutions: tuple[Array, ...]
    """Normal forces for the actual load, one array (m,) [N] per solution found; empty if not asked for."""
    solution_status: Status | None
    """Of the LCP: solved, no solution, several solutions ...; None if the impulses of a step were given instead."""
    layers: tuple[tuple[IntArray, BoundaryLayer], ...]
    """For each solution the rows of the contacts that press and the stability of their forces."""

    @property
    def stable(self) -> Answer:
        """Whether the forces of every solution are stable."""
        found = [_STABLE[layer.stability] for _, layer in self.layers]
        for worst in (Answer.NO, Answer.BORDERLINE, Answer.UNDECIDED):
            if worst in found:
                return worst
        return Answer.YES if found else Answer.UNDECIDED

    @property
    def critical_damping(self) -> float:
        """Largest over the solutions [kg]."""
        return max((layer.critical_damping for _, layer in self.layers), default=0.0)


_STABLE = {
    Stability.STABLE: Answer.YES,
    Stability.MARGINAL: Answer.BORDERLINE,
    Stability.DAMPING_NEEDED: Answer.UNDECIDED,
    Stability.OSCILLATORY: Answer.NO,
    Stability.UNSTABLE: Answer.NO,
}


def judge_load(matrix: SlidingMatrix, y: Array, *, damping: float | None, limit: int = SIZE_LIMIT) -> Judgement:
    """Judge a group under the load that gives the normal accelerations `y` (m,) without contact forces [m/s^2]."""
    unique, p, sharing_open = uniqueness(matrix, limit)
    solution, listed = _all_solutions(LCP(matrix.D, y), p)
    if sharing_open and len(listed) > 1 and unique is not Answer.NO:
        # Corners of one polyhedron of forces that open no gap differently: inside it all of its contacts press.
        listed = [np.mean(listed, axis=0)]
    layers = tuple(_layer(matrix, force > _PRESSES * force.max(initial=0.0), damping) for force in listed)
    status = solution.status if len(listed) != 1 else Status.SOLVED
    return Judgement(matrix, unique, p, sharing_open, tuple(listed), status, layers)


def judge_step(matrix: SlidingMatrix, *, damping: float | None, limit: int = SIZE_LIMIT) -> Judgement:
    """Judge a group whose contacts all press, as in a time step that was computed."""
    unique, p, sharing_open = uniqueness(matrix, limit)
    presses = np.ones(matrix.contacts.size, dtype=bool)
    return Judgement(matrix, unique, p, sharing_open, (), None, (_layer(matrix, presses, damping),))


def uniqueness(matrix: SlidingMatrix, limit: int = SIZE_LIMIT) -> tuple[Answer, PMatrix, bool]:
    """Tell whether every load has one motion, what the P-test said, and whether load sharing stays open."""
    p = p_matrix(matrix.D, limit=limit)
    m = matrix.contacts.size
    if p.answer is not Answer.BORDERLINE or matrix.rank == m:
        return p.answer, p, False
    kind = adequate(matrix.D)
    if kind is not Answer.YES:
        return kind, p, True
    # Accelerations of the gaps are unique and exist for every load; forces that differ must not move the bodies.
    same_motion = matrix.push_rank == matrix.rank and _can_open(matrix.D)
    return Answer.YES if same_motion else Answer.UNDECIDED, p, True


def _can_open(D: Array) -> bool:
    """Tell whether some forces push all contacts apart at once, so that no load is without a solution."""
    if np.all(D.sum(axis=1) > 0.0):
        return True
    return bool(solve(LCP(D, -np.ones(D.shape[0]))).success)


def _all_solutions(problem: LCP, p: PMatrix) -> tuple[Solution, list[Array]]:
    """Return the solver's word and all solutions found; a P-matrix has only one, so any solver will do."""
    if problem.size <= ENUMERATE_LIMIT and (not p or problem.size <= 4):
        solution = solve(problem, Enumerate())
        return solution, list(solution.info.get("solutions", []))
    solution = solve(problem)
    return solution, [solution.z] if solution.success else []


def _layer(matrix: SlidingMatrix, presses: BoolArray, damping: float | None) -> tuple[IntArray, BoundaryLayer]:
    rows = np.flatnonzero(presses)
    D = matrix.on_independent_normals(rows) if rows.size else np.zeros((0, 0))
    return rows, boundary_layer(D, damping=damping)
