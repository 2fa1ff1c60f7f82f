"""Collisions by Poisson's law in the compiled step: the arrays of a phase, and its problems as Python poses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini.engine import arrays as ea
from signorini.engine.robust import solve_robustly
from signorini.model import Model
from signorini.posing.constants import WINDOW
from signorini.posing.friction_law import friction_law
from signorini.posing.midpoint import Midpoint
from signorini.posing.poisson import (
    Expansion,
    collide,
    compression_problem,
    expansion_of,
)
from signorini.posing.time_stepping import ContactSpace
from signorini.problems import FrictionProblem
from signorini.solvers import Solution, Status

_BLOCKS = 9  # of a contact that is there twice: four, and four with one for its normal
_BY_PYTHON = -1.0  # in place of the sweeps of a phase
# Arrays by contact that a phase has for itself.
_OWN = (
    ea.B,
    ea.LOAD,
    ea.GAP,
    ea.SIZE,
    ea.WIDTH,
    ea.SHIFT,
    ea.MU,
    ea.RHO,
    ea.DIAGONAL,
    ea.LOCAL,
    ea.COMPLIANCE,
    ea.REFERENCE,
    ea.SOFTNESS,
    ea.P,
    ea.U,
    ea.SLIP,
    ea.ORDER,
    ea.POSITION,
    ea.MODE,
)


@dataclass(frozen=True, slots=True)
class PhaseSolutions:
    """Both phases of a step, posed again, with what solves them."""

    first: FrictionProblem
    compression: Solution
    second: FrictionProblem
    z: Array
    """Of the second."""


def _words(model: Model, space: ContactSpace) -> dict[str, Any]:
    """Return what describes friction beyond Coulomb's in the problem of a step."""
    return friction_law(model, space.contacts).words(space.mu.size)


class PoissonTables:
    """The second table, where the phases of a collision are posed; `arena` is that of the step."""

    def __init__(self, arena: Arena) -> None:
        self._step = arena
        self.arena = Arena(int(ea.ARRAY_COUNT), kernels=int(ea.ROW_COUNT - ea.ARRAY_COUNT))
        self._counts = np.zeros_like(arena[ea.COUNTS])

    def connect(self, address: Callable[[int], int]) -> None:
        """Let phases be solved and checked by the ordinary kernels, whose places others take; `address` compiles."""
        for k in (ea.SOLVE, ea.VELOCITIES, ea.LAW, ea.SWEEP):
            self.arena.connect(k, int(self._step.table[k, 0]))
        self._step.connect(ea.SOLVE, address(ea.COLLIDE))
        self._step.connect(ea.LAW, address(ea.CHECK_COLLISION))

    def reserve(self, capacity: int, bodies: int) -> None:
        """Make room for the phases of so many contacts; all other arrays are those of the step.

        What is known of the last collision is kept.
        """
        first = self.arena[ea.P] is None
        for k in range(int(ea.ARRAY_COUNT)):
            if self._step[k] is not None and k != ea.PHASE and (first or k not in (*_OWN, ea.CHECK, ea.ISLAND)):
                self.arena.put(k, self._step[k])
        contacts, bodies = 2 * capacity, bodies + (capacity + bodies + 1) // 2
        for k in _OWN:
            if first:
                like = self._step[k]
                self.arena.put(k, np.zeros((contacts, *like.shape[1:]), dtype=like.dtype))
            else:
                self.arena.grow(k, contacts)
        self.arena.put(ea.BEFORE, self.arena[ea.U])  # a phase sets out from what the last one left
        size = 6 * bodies + 3 * contacts
        self.arena.put(ea.COUNTS, self._counts)
        if first:
            self.arena.put(ea.CHECK, np.zeros_like(self._step[ea.CHECK]))
            self.arena.put(ea.ISLAND, np.zeros_like(self._step[ea.ISLAND]))
        self.arena.put(ea.START, np.zeros(contacts + 1, dtype=np.int64))
        self.arena.put(ea.BLOCK, np.zeros(_BLOCKS * capacity, dtype=np.int64))
        self.arena.put(ea.GATHER, np.zeros((_BLOCKS * capacity, 3, 3)))
        self.arena.put(ea.SOLVING, np.zeros(size))
        self.arena.put(ea.SCRATCH, np.zeros((WINDOW + 1) * size + WINDOW * 6 * bodies))
        self._step.put(ea.PHASE, self.arena.table)
        self._step.grow(ea.COMPRESSION, capacity)

    def rescue(
        self,
        model: Model,
        there: Midpoint,
        space: ContactSpace,
        place: IntArray,
        tolerance: float,
        answer: Callable[[FrictionProblem, Array], Solution] | None,
    ) -> tuple[Solution, Array]:
        """Have both phases solved by `answer`, or the robust methods; return what became of both, and all impulses.

        `place` are rows of the step.
        """
        words, shift = _words(model, space), self._step[ea.SHIFT][place[: space.contacts.contact_count]]

        def rescued(problem: FrictionProblem, start: Array) -> Solution:
            return solve_robustly(problem, tolerance, start)

        outcome = collide(model, there, space, shift, words, answer or rescued)
        whole = outcome.solution
        self._step[ea.NUMBERS][ea.SLID] = outcome.friction
        self.arena[ea.CHECK][[ea.RESIDUAL, ea.SUCCESS, ea.EFFORT]] = whole.residual, whole.success, _BY_PYTHON
        self._rescued = outcome.phases[0][1].z, whole.z
        return whole, outcome.impulse

    def solutions(
        self, model: Model, there: Midpoint, space: ContactSpace, place: IntArray, tolerance: float
    ) -> PhaseSolutions:
        """Pose both phases of the last step again."""
        words, shift = _words(model, space), self._step[ea.SHIFT][place[: space.contacts.contact_count]]
        dim, by_python = space.b.shape[1], self.arena[ea.CHECK][ea.EFFORT] == _BY_PYTHON
        p = np.ascontiguousarray(self._step[ea.COMPRESSION][place, :dim])
        if by_python:
            p = self._rescued[0].reshape(-1, dim)
        first = compression_problem(model, there, space, shift, words)
        phase = expansion_of(model, space, shift, words, first, p)
        z = self._rescued[1] if by_python else self._impulses(phase, place, dim)
        residual = first.residual(p.reshape(-1))
        status = Status.SOLVED if residual <= tolerance else Status.STALLED
        compression = Solution(z=p.reshape(-1), status=status, residual=residual, iterations=0, solver="sweeps")
        return PhaseSolutions(first, compression, phase.problem, z)

    def _impulses(self, phase: Expansion, place: IntArray, dim: int) -> Array:
        """Return what solves the second phase, in the order of the problem posed by Python."""
        row = self.arena[ea.POSITION][place]
        rows = np.concatenate([row, row[phase.again] + 1])
        z: Array = np.ascontiguousarray(self.arena[ea.P][rows, :dim]).reshape(-1)
        return z
