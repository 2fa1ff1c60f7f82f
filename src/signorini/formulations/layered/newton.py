"""Semismooth Newton on the natural map of a step, compiled; see :class:`~signorini.NaturalNewton`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, inner_kernel
from signorini.formulations.layered.kernels import CONTACTS, SIZE, Posed, assemble, place
from signorini.geometry.moving_kernels import TOUCH_COLUMNS
from signorini.math.dense_lu import LOST_IN_ROUNDING, factor_dense, solve_dense
from signorini.posing.constants import ROUNDED
from signorini.problems.natural_kernels import Rows, natural_map, natural_slopes

_HALVINGS = 10
_MOST = 60
LOST = np.inf
"""Residual of a start from which nothing was found: surfaces face nowhere, or a system is singular."""


class Newton(NamedTuple):
    """Memory of the solver, for so many unknowns at most."""

    unit: Array
    row_unit: Array
    z: Array
    """The solution, (n,)."""
    tried: Array
    step: Array
    F: Array
    Phi: Array
    J: Array
    """(n * n,)"""
    order: IntArray
    touch: Array
    """Where surfaces faced each other at the point from which a step is tried, (n_c, 12)."""
    pairs: IntArray
    """How unknowns are restricted, see :class:`signorini.problems.natural_kernels.Rows`."""
    start: IntArray
    member: IntArray
    radius: IntArray
    factor: Array


def newton_memory(unknowns: int, contacts: int) -> Newton:
    """Return memory."""
    n = max(unknowns, 1)
    order, pairs, radius = (np.zeros(k, dtype=np.int64) for k in (n, contacts, contacts))
    start, member = np.zeros(contacts + 1, dtype=np.int64), np.zeros(3 * contacts, dtype=np.int64)
    z, tried, step, F, Phi = (np.zeros(n) for _ in range(5))
    touch = np.zeros((contacts, TOUCH_COLUMNS))
    return Newton(
        *(np.ones(n), np.ones(n), z, tried, step, F, Phi, np.zeros(n * n), order, touch),
        *(pairs, start, member, radius, np.zeros(contacts)),
    )


@inner_kernel
def _restrict(P: Posed, w: Newton) -> int:
    """Fill how the unknowns of a step are restricted: pairs, and a ball for each contact with friction.

    Return the number of balls.
    """
    T, members, balls = P.contacts, 0, 0
    for c in range(P.counts[CONTACTS]):
        w.pairs[c] = T.row[c, 0]
        if T.row[c, 1] < 0:
            continue
        w.start[balls] = members
        w.radius[balls], w.factor[balls] = T.row[c, 0], T.contact[c, 0]
        for k in range(1, 4):
            if T.row[c, k] >= 0:
                w.member[members] = T.row[c, k]
                members += 1
        balls += 1
    w.start[balls] = members
    return balls


@inner_kernel
def _evaluate(P: Posed, rows: Rows, z: Array, F: Array, Phi: Array, J: Array) -> float:
    """Fill rows, Jacobian and natural map at `z`; return the largest entry, infinity where they are not defined."""
    place(P, z)
    if assemble(P, F, J) >= 0:
        return LOST
    size = natural_map(rows, z, F, Phi)
    for i in range(F.shape[0]):
        if not abs(F[i]) < 1e300:
            return LOST
    return size


@inner_kernel
def _square(x: Array) -> float:
    size = 0.0
    for i in range(x.shape[0]):
        size += x[i] * x[i]
    return size


@inner_kernel
def _newton_step(
    rows: Rows, z: Array, F: Array, Phi: Array, J: Array, order: IntArray, most: Array, step: Array
) -> bool:
    """Fill the step of the linear model; False where it is singular, as :func:`.regular_factors` tells."""
    n = z.shape[0]
    natural_slopes(rows, z, F, J)
    most[:] = 0.0
    for i in range(n):
        size = 0.0
        for j in range(n):
            size = max(size, abs(J[i, j]))
        if not 0.0 < size < math.inf:
            return False
        step[i] = -Phi[i] / size
        for j in range(n):
            J[i, j] /= size
            most[j] = max(most[j], abs(J[i, j]))
    if not factor_dense(J, order):
        return False
    for j in range(n):
        if abs(J[j, j]) <= LOST_IN_ROUNDING * most[j]:
            return False
    solve_dense(J, order, step.reshape((n, 1)))
    for i in range(n):
        step[i] *= rows.unit[i]
    return True


@inner_kernel
def _go(z: Array, there: Array) -> None:
    for i in range(z.shape[0]):
        z[i] = there[i]


@inner_kernel
def _keep_touches(P: Posed, w: Newton, back: bool) -> None:
    """Keep where surfaces face each other, or go back to what was kept."""
    for c in range(P.counts[CONTACTS]):
        for k in range(w.touch.shape[1]):
            if back:
                P.contacts.touch[c, k] = w.touch[c, k]
            else:
                w.touch[c, k] = P.contacts.touch[c, k]


@bare_kernel
def solve_posed(P: Posed, w: Newton, tolerance: float) -> tuple[float, int]:
    """Solve from ``w.z`` in place; return the residual, infinity if this is not for kernels, and the iterations.

    What the step evaluates is left at the solution.
    """
    n, n_c, iterations = P.counts[SIZE], P.counts[CONTACTS], 0
    balls = _restrict(P, w)
    rows = Rows(w.unit[:n], w.row_unit[:n], w.pairs[:n_c], w.start, w.member, w.radius[:balls], w.factor[:balls])
    z, tried, step, F, Phi, order = w.z[:n], w.tried[:n], w.step[:n], w.F[:n], w.Phi[:n], w.order[:n]
    J = w.J[: n * n].reshape((n, n))
    residual = _evaluate(P, rows, z, F, Phi, J)
    while True:
        if residual == LOST:
            return LOST, iterations
        solved = residual <= tolerance
        if residual <= ROUNDED or (not solved and iterations >= _MOST):
            return residual, iterations
        size = _square(Phi)
        if not _newton_step(rows, z, F, Phi, J, order, tried, step):
            return LOST, iterations
        iterations += 1
        _keep_touches(P, w, False)
        if solved:  # one step more, if it makes nothing worse
            for i in range(n):
                tried[i] = z[i] + step[i]
            after = _evaluate(P, rows, tried, F, Phi, J)
            if after <= residual:
                _go(z, tried)
                return after, iterations
            _keep_touches(P, w, True)
            return _evaluate(P, rows, z, F, Phi, J), iterations
        t, first, farthest = 1.0, LOST, 0.0
        for _ in range(_HALVINGS + 1):
            for i in range(n):
                tried[i] = z[i] + t * step[i]
            first = _evaluate(P, rows, tried, F, Phi, J)
            if first != LOST and _square(Phi) < (1.0 - 1e-4 * t) * size:
                break
            if first != LOST and farthest == 0.0:
                farthest = t
            first = LOST
            _keep_touches(P, w, True)
            t *= 0.5
        if first == LOST:
            if farthest == 0.0:
                return LOST, iterations
            for i in range(n):
                tried[i] = z[i] + farthest * step[i]
            first = _evaluate(P, rows, tried, F, Phi, J)
        _go(z, tried)
        residual = first
