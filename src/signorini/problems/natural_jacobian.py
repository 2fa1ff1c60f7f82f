r"""An element of the generalised Jacobian of the natural map of a :class:`~signorini.MixedNCP`, and its Newton step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import sparse
from signorini.problems.matrices import Matrix
from signorini.problems.mcp_newton import inverted
from signorini.problems.natural_kernels import natural_slopes

if TYPE_CHECKING:
    from signorini.problems.mixed_ncp import Ball, MixedNCP


def distance(problem: MixedNCP, z: Array, F: Array) -> float:
    """Return how long the Newton step from `z` is beside its unknowns, ``unit + |z|``; infinity if there is none.

    The shortest step, where the Jacobian is singular.
    """
    J = problem.jacobian(z)
    if z.size == 0 or J is None:
        return 0.0 if z.size == 0 else np.inf
    inverse = inverted(natural_jacobian(problem, z, F, J))
    if inverse is None:
        return np.inf
    step = problem.unit * inverse.solve(-problem.natural(z, F))
    return float((np.abs(step) / (problem.unit + np.abs(z))).max())


def natural_jacobian(problem: MixedNCP, z: Array, F: Array, J: Matrix) -> Any:
    """Return an element of the generalised Jacobian of the natural map in units, (n, n), dense or sparse as `J`."""
    if isinstance(J, np.ndarray):
        H = np.array(J)
        natural_slopes(problem.rows, z, F, H)
        return H
    x, y = z / problem.unit, F / problem.row_unit
    at_zero = problem.pairs[x[problem.pairs] < y[problem.pairs]]
    slips = [slip for ball in problem.balls if (slip := _slip(problem, ball, z, x, y)) is not None]
    return _sparse_jacobian(problem, at_zero, slips, J)


def _sparse_jacobian(problem: MixedNCP, at_zero: IntArray, slips: list[Slip], J: Matrix) -> Any:
    n, by_row = problem.size, np.ones(problem.size)
    by_row[at_zero] = 0.0
    own: list[tuple[int, int, float]] = [(int(i), int(i), 1.0) for i in at_zero]
    mixed: list[tuple[int, int, float]] = []
    for rows, radius, across, growth in slips:
        by_row[rows] = 0.0
        for k, i in enumerate(rows):
            mixed.extend((i, j, across[k, m]) for m, j in enumerate(rows))
            own.extend((i, j, float(i == j) - across[k, m]) for m, j in enumerate(rows))
            own.append((i, radius, -growth[k]))
    D_F = sparse.diags_array(by_row) + _entries(mixed, n)
    wide: Any = sparse.diags_array(1.0 / problem.row_unit) @ J @ sparse.diags_array(problem.unit)
    return sparse.csc_array(_entries(own, n) + D_F @ wide)


Slip = tuple[list[int], int, Array, Array]
"""Members of a ball that is left, its radius' unknown, derivative of the projection (m, m) and by the radius (m,)."""


def _slip(problem: MixedNCP, ball: Ball, z: Array, x: Array, y: Array) -> Slip | None:
    """Return how the projection onto a ball changes, None where it projects nothing."""
    rows = list(ball.rows)
    unit, pushed = problem.unit[rows[0]], x[rows] - y[rows]
    size, r = float(np.sqrt(pushed @ pushed)), max(ball.factor * z[ball.radius], 0.0) / unit
    if size <= r:
        return None
    along = pushed / size
    across = (r / size) * (np.eye(len(rows)) - np.outer(along, along))
    grows = ball.factor * problem.unit[ball.radius] / unit if z[ball.radius] > 0.0 else 0.0
    return rows, ball.radius, across, grows * along


def _entries(entries: list[tuple[int, int, float]], n: int) -> Any:
    row, column, value = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csr_array((np.array(value, dtype=float), (row, column)), shape=(n, n))
