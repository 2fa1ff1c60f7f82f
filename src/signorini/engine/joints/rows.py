r"""The compiled step, joints: contacts and laws that act on bodies joined in trees.

The answer of a tree to forces is ``A11 = U^T diag(R R^T) U``: U passes forces on from body to body towards the root,
and at each of them

.. math::
    R R^T = A^{-1} - A^{-1} B^T (B A^{-1} B^T + E)^{-1} B A^{-1},

with the inertia A of the body and all that hangs from it, the rows B of the joint that leads on from it, and their
compliance E. With :math:`A = L L^T` and an orthonormal basis Z of what the rigid rows leave free in
:math:`L^{-1} B^T`, a spring c among them,

.. math::
    R = L^{-T} Z (1 + Z^T c c^T Z / E)^{-1/2},

nothing being subtracted. R has one column for each degree of freedom, so that a tree is one body of that many, mass
scaled: a contact on body b is joined to the degrees of freedom on the way from b to the root by ``R^T U J^T``, and the
sweeps need not know of joints.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.joint_tree import forward
from signorini.engine.arrays import FACTOR, FREE
from signorini.engine.joints.arrays import (
    ABOVE,
    CHOLESKY,
    FIRST_FREEDOM,
    FORCE,
    FREEDOM,
    FREEDOMS,
    JOINT_ROWS,
    MOBILITY,
    PASSED,
    READY,
    ROLE,
    ROOTS,
    SCALED,
    SCHUR,
    SMALL,
    SOFT_ROW,
    SPREAD,
    SPRING,
    TREE_BODY,
    TREE_FIRST,
    TREE_OF,
    TREE_PLACE,
    TREE_STOP,
)


@inner_kernel
def _reflect(v: Array, x: Array) -> None:
    """Reflect x by ``1 - v v^T``."""
    s = 0.0
    for l in range(6):
        s += v[l] * x[l]
    for l in range(6):
        x[l] -= s * v[l]


@inner_kernel
def _exclude(reflections: Array, rank: int) -> None:
    """Make of the vector in row `rank` the reflection that takes it into the span of the first axes."""
    x = reflections[rank]
    for i in range(rank):
        _reflect(reflections[i], x)
    size = 0.0
    for l in range(rank, 6):
        size += x[l] * x[l]
    size = math.sqrt(size)
    for l in range(rank):
        x[l] = 0.0
    x[rank] += math.copysign(size, x[rank])
    scale = 1.0 / math.sqrt(size * abs(x[rank]))  # so that v . v = 2
    for l in range(rank, 6):
        x[l] *= scale


@inner_kernel
def _make_root(t: IntArray, j: IntArray, at: int) -> None:
    """Write ``R^T L`` and what passes scaled forces on for body `at` of the trees."""
    free, role, soft, small = real_rows(t, FREE), wholes(j, ROLE), reals(j, SOFT_ROW), real_rows(j, SMALL)
    b, first, stop = wholes(j, TREE_BODY)[at], wholes(j, TREE_FIRST)[at], wholes(j, TREE_STOP)[at]
    C, S, R, Z = (
        real_blocks(j, JOINT_ROWS)[at],
        real_blocks(j, SCHUR)[at],
        real_blocks(j, ROOTS)[at],
        real_blocks(j, SCALED)[at],
    )
    rank, spring = 0, -1
    for l in range(6):
        if free[b, l] == 0.0:
            for m in range(6):
                small[rank, m] = 1.0 if m == l else 0.0
            _exclude(small, rank)
            rank += 1
    for i in range(stop - first):
        if role[first + i] == SPRING:
            spring = i
            continue
        for l in range(6):
            small[rank, l] = C[i, l]
        _exclude(small, rank)
        rank += 1
    for m in range(6 - rank):
        for l in range(6):
            R[m, l] = 1.0 if l == rank + m else 0.0
        for i in range(rank - 1, -1, -1):
            _reflect(small[i], R[m])
    if spring >= 0:
        _soften(R, 6 - rank, C[spring], small[7], 1.0 / soft[first + spring])
    for i in range(stop - first):
        for l in range(6):
            s = C[i, l]
            for k in range(i):
                s -= S[i, k] * Z[k, l]
            Z[i, l] = s * S[i, i]
    wholes(j, READY)[at] = 1


@inner_kernel
def _soften(Z: Array, count: int, c: Array, sum_: Array, stiffness: float) -> None:
    """Multiply the basis Z (its vectors in rows) by ``(1 + stiffness Z^T c c^T Z)^-1/2``."""
    size = 0.0
    for l in range(6):
        sum_[l] = 0.0
    for m in range(count):
        s = 0.0
        for l in range(6):
            s += Z[m, l] * c[l]
        size += s * s
        for l in range(6):
            sum_[l] += s * Z[m, l]
    root = math.sqrt(1.0 + stiffness * size)
    share = stiffness / (root * (1.0 + root))
    for m in range(count):
        s = 0.0
        for l in range(6):
            s += Z[m, l] * c[l]
        for l in range(6):
            Z[m, l] -= share * s * sum_[l]


@inner_kernel
def mobility_alone(L: Array, force: Array) -> float:
    """Return how easily a force (6,) would move a body alone, of which L (12,) is the row of ``FACTOR``."""
    s = 0.0
    for k in range(3):
        s += (force[k] * L[k]) ** 2
        m = force[3] * L[3 + k] + force[4] * L[6 + k] + force[5] * L[9 + k]
        s += m * m
    return s


@inner_kernel
def climb(t: IntArray, j: IntArray, b: int, first: int, last: int) -> None:
    """Add to ``SPREAD`` what the forces in rows `first` to `last` of ``FORCE`` on body `b` do to its tree.

    The forces are lost on the way; how easily they would move the body alone is added to ``MOBILITY``.
    """
    force, spread, mobility, L = real_rows(j, FORCE), real_rows(j, SPREAD), reals(j, MOBILITY), real_rows(t, FACTOR)
    for i in range(first, last):
        mobility[i] += mobility_alone(L[b], force[i])
    ready, above, freedom = wholes(j, READY), wholes(j, ABOVE), whole_rows(j, FREEDOM)
    tree_first, tree_stop, w = wholes(j, TREE_FIRST), wholes(j, TREE_STOP), real_rows(j, SMALL)[0]
    roots, scaled, passed = real_blocks(j, ROOTS), real_blocks(j, SCALED), real_blocks(j, PASSED)
    cholesky, tree_body = real_blocks(j, CHOLESKY), wholes(j, TREE_BODY)
    at = whole_rows(j, TREE_OF)[b, TREE_PLACE]
    while at >= 0:
        if ready[at] == 0:
            _make_root(t, j, at)
        to, n, A = freedom[at, FIRST_FREEDOM], tree_stop[at] - tree_first[at], cholesky[tree_body[at]]
        for i in range(first, last):
            forward(A, force[i], 6)
        for i in range(first, last):
            for m in range(freedom[at, FREEDOMS]):
                s = 0.0
                for l in range(6):
                    s += roots[at, m, l] * force[i, l]
                spread[i, to + m] += s
        up = above[at]
        if up >= 0:
            for i in range(first, last):
                for l in range(6):
                    w[l] = 0.0
                for r in range(n):
                    s = 0.0
                    for l in range(6):
                        s += scaled[at, r, l] * force[i, l]
                    for l in range(6):
                        w[l] -= passed[at, r, l] * s
                for l in range(6):
                    force[i, l] = w[l]
        at = up
