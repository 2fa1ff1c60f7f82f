"""The natural map of a :class:`~signorini.MixedNCP` and its derivatives, on arrays."""

from __future__ import annotations

import math
from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, inner_kernel


class Rows(NamedTuple):
    """How unknowns are restricted, and the sizes in which they count."""

    unit: Array
    """Of the unknowns, (n,)."""
    row_unit: Array
    """Of the rows of F, (n,)."""
    pairs: IntArray
    """Unknowns that are complementary to their rows, (n_p,)."""
    start: IntArray
    """Ball k has the members ``member[start[k]:start[k + 1]]``, (n_k + 1,)."""
    member: IntArray
    radius: IntArray
    """The unknowns to which the radii are proportional, (n_k,)."""
    factor: Array
    """(n_k,)"""


@inner_kernel
def _ball(rows: Rows, k: int, z: Array, F: Array) -> tuple[float, float]:
    """Return the radius of a ball and the distance from its centre of what is projected onto it, in units."""
    size, first = 0.0, rows.member[rows.start[k]]
    for e in range(rows.start[k], rows.start[k + 1]):
        i = rows.member[e]
        pushed = z[i] / rows.unit[i] - F[i] / rows.row_unit[i]
        size += pushed * pushed
    return max(rows.factor[k] * z[rows.radius[k]], 0.0) / rows.unit[first], math.sqrt(size)


@bare_kernel
def natural_map(rows: Rows, z: Array, F: Array, Phi: Array) -> float:
    """Fill the natural map (n,) in its units; return its largest entry."""
    for i in range(F.shape[0]):
        Phi[i] = F[i] / rows.row_unit[i]
    for e in range(rows.pairs.shape[0]):
        i = rows.pairs[e]
        Phi[i] = min(z[i] / rows.unit[i], Phi[i])
    for k in range(rows.factor.shape[0]):
        r, size = _ball(rows, k, z, F)
        if size > r:
            for e in range(rows.start[k], rows.start[k + 1]):
                i = rows.member[e]
                x = z[i] / rows.unit[i]
                Phi[i] = x - (r / size) * (x - Phi[i])
    largest = 0.0
    for i in range(F.shape[0]):
        largest = max(largest, abs(Phi[i]))
    return largest


@bare_kernel
def natural_slopes(rows: Rows, z: Array, F: Array, J: Array) -> None:
    """Turn the Jacobian of F (n, n) into an element of that of the natural map, by unknowns in their units."""
    n = F.shape[0]
    for i in range(n):
        for j in range(n):
            J[i, j] *= rows.unit[j] / rows.row_unit[i]
    for e in range(rows.pairs.shape[0]):
        i = rows.pairs[e]
        if z[i] / rows.unit[i] < F[i] / rows.row_unit[i]:
            for j in range(n):
                J[i, j] = 0.0
            J[i, i] = 1.0
    for k in range(rows.factor.shape[0]):
        r, size = _ball(rows, k, z, F)
        if not size > r:
            continue
        # x - r y/|y| with y = x - F: of the change of y what lies across y counts, in the ratio r/|y|
        shrink, middle = r / size, rows.radius[k]
        first, end = rows.start[k], rows.start[k + 1]
        grows = rows.factor[k] * rows.unit[middle] / rows.unit[rows.member[first]] if z[middle] > 0.0 else 0.0
        for j in range(n):
            along = 0.0
            for e in range(first, end):
                i = rows.member[e]
                along += (z[i] / rows.unit[i] - F[i] / rows.row_unit[i]) / size * J[i, j]
            for e in range(first, end):
                i = rows.member[e]
                y = (z[i] / rows.unit[i] - F[i] / rows.row_unit[i]) / size
                J[i, j] = shrink * (J[i, j] - y * along)
        for e in range(first, end):
            i = rows.member[e]
            y = (z[i] / rows.unit[i] - F[i] / rows.row_unit[i]) / size
            J[i, middle] -= grows * y
            J[i, i] += 1.0 - shrink
            for f in range(first, end):
                j = rows.member[f]
                J[i, j] += shrink * y * (z[j] / rows.unit[j] - F[j] / rows.row_unit[j]) / size
