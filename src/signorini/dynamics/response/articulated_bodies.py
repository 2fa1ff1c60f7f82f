"""Rigid trees as their kernels see them, with the memory that these need."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics.response.articulated import KINDS, LimbArrays, articulate
from signorini.dynamics.response.limbs import SLIDES, TURNS, Limb


class Articulated:
    """Memory of :func:`~signorini.dynamics.response.articulated.articulate` for trees of rigid bodies."""

    def __init__(self, parent: IntArray, free: IntArray) -> None:
        n = parent.size
        self.parent, self.free = parent, free
        I, U, L = (np.zeros((n, 6, 6)) for _ in range(3))
        self.memory = I, np.zeros((n, 6)), U, L, np.zeros((n, 6))
        """I, p, U, L and zeta."""
        self.work = np.zeros((5, 6, 6))

    def solve(
        self,
        limbs: LimbArrays,
        mass: Array,
        inertia: Array,
        poses: tuple[Any, ...],
        x: Array,
        wrench: Array,
        rate: Array,
    ) -> bool:
        """Fill accelerations and wrenches (n, 6) of the arguments ``x`` to ``tau``; False if one is singular."""
        tables = (self.parent, limbs.kind, limbs.row, limbs.inboard, limbs.u, self.free)
        arguments: tuple[Any, ...] = (*tables, mass, inertia, *poses, *self.memory, x, wrench, rate, self.work)
        return articulate(*arguments)


def limb_arrays(limbs: list[Limb]) -> LimbArrays:
    """Return limbs as kernels know them."""
    n = len(limbs)
    numbers = [
        (
            KINDS.index(limb.kind),
            limb.row,
            limb.inboard,
            limb.q.start,
            limb.u.start,
            len(SLIDES.get(limb.kind, ())),
            int(limb.kind in TURNS),
        )
        for limb in limbs
    ]
    kind, row, inboard, q, u, slides, turns = (
        np.ascontiguousarray(one) for one in np.array(numbers, dtype=np.int64).reshape(n, 7).T
    )
    return LimbArrays(
        kind,
        row,
        inboard,
        q,
        u,
        slides,
        turns,
        anchor=np.array([limb.anchor for limb in limbs]).reshape(n, 2, 3),
        frame=np.array([limb.frame for limb in limbs]).reshape(n, 2, 3, 3),
        rest=np.array([limb.rest for limb in limbs]).reshape(n, 3, 3),
    )
