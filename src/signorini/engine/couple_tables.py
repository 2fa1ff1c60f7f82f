"""Couples and ellipsoids of friction in the compiled step: its arrays, and how problems posed by Python order them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini.engine import arrays as ea
from signorini.engine.robust import solve_robustly
from signorini.model import Model
from signorini.posing.constants import WINDOW
from signorini.posing.friction_law import FrictionLaw
from signorini.problems import FrictionProblem
from signorini.solvers import Solution

# Which kernel takes the place of which, and where the one whose place is taken goes.
_INSTEAD = (
    (ea.SOLVE, ea.SOLVE_COUPLES, None),
    (ea.VELOCITIES, ea.COUPLE_VELOCITIES, None),
    (ea.LAW, ea.CHECK_COUPLES, None),
    (ea.HAND_OVER, ea.HAND_OVER_COUPLES, ea.ORDINARY_HAND_OVER),
)


class CoupleTables:
    """Contacts with couples in the arrays of a step."""

    def __init__(self, arena: Arena, model: Model) -> None:
        self._arena = arena
        self._joined = model.joints.any
        self._dim = 2 if model.planar else 3
        self._axes = _components(model)
        R = len(self._axes)
        arena.put(ea.COUPLE_AXES, np.array(self._axes, dtype=np.int64))
        arena.put(ea.COUPLE_DATA, _by_material(model))
        rolling = self._dim + (3 in self._axes)
        groups = [[1, self._dim, rolling, R], [1, rolling, rolling, R]]
        arena.put(ea.COUPLE_GROUPS, np.array(groups, dtype=np.int64))
        arena.put(ea.COUPLE_WORK, np.zeros((4, 6, R)))
        self._by_contact = (
            *(ea.COUPLE_SCALE, ea.COUPLE_UNIT, ea.COUPLE_LIMIT, ea.COUPLE_BLOCK, ea.COUPLE_LOAD),
            *(ea.COUPLE_P, ea.COUPLE_U, ea.COUPLE_OLD),
        )
        columns: dict[int, tuple[int, ...]] = {ea.COUPLE_LIMIT: (6,), ea.COUPLE_BLOCK: (R, R), ea.COUPLE_OLD: (3,)}
        for k in self._by_contact:
            arena.put(k, np.zeros((0, *columns.get(k, (R,)))))
        arena.put(ea.COUPLE_KIND, np.zeros(0, dtype=np.int64))
        arena.put(ea.COUPLE_GATHER, np.zeros((0, R, 3)))

    def reserve(self, capacity: int, blocks: int, bodies: int) -> None:
        """Make room for so many contacts and laws, blocks and bodies; what is known of the last step is kept."""
        arena, size = self._arena, 6 * bodies + 6 * capacity
        for k in self._by_contact:
            arena.grow(k, capacity)
        arena.grow(ea.COUPLE_KIND, capacity)
        arena.grow(ea.COUPLE_GATHER, blocks)
        arena.put(ea.SOLVING, np.zeros(size))
        arena.put(ea.SCRATCH, np.zeros((WINDOW + 1) * size + WINDOW * 6 * bodies))

    def connect(self, address: Callable[[int], int]) -> None:
        """Put the kernels for couples in the place of the ordinary ones; `address` compiles a kernel."""
        pose = ea.POSE_JOINED if self._joined else ea.POSE
        for k, kernel, ordinary in ((pose, ea.POSE_COUPLES, ea.ORDINARY_POSE), *_INSTEAD):
            if ordinary is not None:
                self._arena.connect(ordinary, int(self._arena.table[k, 0]))
            self._arena.connect(k, address(kernel))
        if self._joined:
            self._arena.connect(ea.TURN_JOINED, address(ea.TURN_JOINED))

    def impulses(self, law: FrictionLaw, rows: IntArray) -> Array:
        """Return what contacts of the step, by features, did, as a problem with this law has it, (n_c, rows)."""
        whole = np.hstack([self._arena[ea.IMPULSE][rows], self._arena[ea.COUPLE_OLD][rows]])
        return self._shared(law, whole[:, self._components_of(law)])

    def rescue(
        self,
        problem: FrictionProblem,
        law: FrictionLaw,
        place: IntArray,
        tolerance: float,
    ) -> Solution:
        """Have a problem solved by the robust methods, from where the sweeps ended; return what it became.

        `place` are the rows of the contacts and laws of joints of the problem.
        """
        solution = solve_robustly(problem, tolerance, self.guess(law, place).reshape(-1))
        self.put(law, place, solution.z)
        return solution

    def guess(self, law: FrictionLaw, place: IntArray) -> Array:
        """Return the impulses of the rows `place` of the step, as a problem with this law has them, (n, rows)."""
        whole = self._unit(place) * self._arena[ea.COUPLE_P][place]
        return self._shared(law, whole[:, self._columns(law)])

    def put(self, law: FrictionLaw, place: IntArray, z: Array) -> None:
        """Put in what solves a problem with this law, whose rows these are."""
        unit, parts = self._unit(place), self._shared(law, z.reshape(place.size, -1))
        whole = np.zeros(unit.shape)
        for k, column in enumerate(self._columns(law)):
            whole[:, column] += parts[:, k]
        self._arena[ea.COUPLE_P][place] = np.where(unit > 0.0, whole / np.where(unit > 0.0, unit, 1.0), 0.0)

    def _unit(self, place: IntArray) -> Array:
        unit: Array = self._arena[ea.COUPLE_SCALE][place] * self._arena[ea.COUPLE_UNIT][place]
        return unit

    def _shared(self, law: FrictionLaw, parts: Array) -> Array:
        """Return components (n, rows) without what two kinds of couples about the normal do not share."""
        out: Array = np.ascontiguousarray(parts)
        if law.idle.shape[1] == 2:
            out[: law.idle.shape[0], self._dim : self._dim + 2][law.idle] = 0.0
        return out

    def _columns(self, law: FrictionLaw) -> list[int]:
        return [self._axes.index(axis) for axis in self._components_of(law)]

    def _components_of(self, law: FrictionLaw) -> list[int]:
        """Return which of the six components a problem with this law has."""
        return [*range(self._dim), *(3 + axis for axis in law.couples)]


def _components(model: Model) -> list[int]:
    """Return which of (n, t, o, tau, rho_t, rho_o) some pair of bodies may have."""
    materials = model.materials
    axes = [0, 1] if model.planar else [0, 1, 2]
    if np.any(materials.torsional > 0.0) or np.any(materials.ellipsoid > 0.0):
        axes += [3]
    if np.any(materials.rolling > 0.0):
        axes += [5] if model.planar else [4, 5]
    return axes


def _by_material(model: Model) -> Array:
    """Return half axes of the components after the normal, limits of the last two groups, and which are ellipsoids."""
    materials = model.materials
    data = np.zeros((materials.friction.size, 8))
    data[:, :2] = 1.0
    data[:, 2] = materials.torsional
    data[:, 5] = materials.torsional > 0.0
    data[:, 3 if not model.planar else 4 : 5] = materials.rolling[:, None]
    data[:, 6] = materials.rolling > 0.0
    bent = np.any(materials.ellipsoid > 0.0, axis=1)
    data[bent, :3] = materials.ellipsoid[bent]
    data[bent, 5] = 0.0  # their couple is in the first group
    data[:, 7] = bent
    return data
