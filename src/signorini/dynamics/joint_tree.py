r"""Bodies joined in trees: the system of S1 eq. (40) solved in linear time.

.. math::
    M v - B^T \lambda = f, \qquad -B v - E \lambda = x_2

with the rows B of the joints and a diagonal E, zero for rigid rows, the compliance of springs and dampers otherwise.
From the leaves to the root each body is eliminated together with the joint that leads on from it,

.. math::
    S = B_c A^{-1} B_c^T + E, \qquad A_{parent} \leftarrow A_{parent} + B_p^T S^{-1} B_p,

A the inertia of the body with all that hangs from it, :math:`B_c, B_p` the joint's columns of the body and of its
parent. Only positive definite matrices of at most :data:`MOST_ROWS` rows are factored; nothing is subtracted.

References
----------
.. [B] Baraff (1996), Linear-time dynamics using Lagrange multipliers: the order of elimination.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel

MOST_ROWS = 8
"""Rows of one joint: six at most, one of a drive, one of a spring."""


@inner_kernel
def _cholesky(A: Array, n: int) -> None:
    """Overwrite the lower triangle of the first n rows by its Cholesky factor, the diagonal by its inverse."""
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = 1.0 / math.sqrt(s) if i == j else s * A[j, j]


@inner_kernel
def forward(L: Array, x: Array, n: int) -> None:
    """Overwrite x by ``L^-1 x``."""
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= L[i, k] * x[k]
        x[i] = s * L[i, i]


@inner_kernel
def _backward(L: Array, x: Array, n: int) -> None:
    """Overwrite x by ``L^-T x``."""
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i + 1, n):
            s -= L[k, i] * x[k]
        x[i] = s * L[i, i]


@kernel
def factor(
    tree_body: IntArray,
    parent: IntArray,
    row_start: IntArray,
    row_stop: IntArray,
    row_body: IntArray,
    J: Array,
    compliance: Array,
    M: Array,
    A: Array,
    C: Array,
    S: Array,
    X: Array,
) -> None:
    """Fill the factors of every body in the trees.

    They are the Cholesky factors L of A in `A` (n_b, 6, 6) and of S in `S` (n_t, 8, 8), diagonals inverted, the rows
    ``C = B_c L^-T`` (n_t, 8, 6) and ``X = L_S^-1 B_p`` (n_t, 8, 6). `A` may hold anything before. Terms of row r stand
    at 2 r and 2 r + 1 of `row_body` and `J`.
    """
    for k in range(tree_body.size):
        b = tree_body[k]
        for i in range(6):
            for j in range(i + 1):
                A[b, i, j] = M[b, i, j]
    for k in range(tree_body.size):
        b, p, first = tree_body[k], parent[k], row_start[k]
        n = row_stop[k] - first
        _cholesky(A[b], 6)
        for i in range(n):
            t = 2 * (first + i)
            child = t + 1 if row_body[t + 1] == b else t
            for l in range(6):
                C[k, i, l] = J[child, l]
            forward(A[b], C[k, i], 6)
            for j in range(i + 1):
                s = 0.0
                for l in range(6):
                    s += C[k, i, l] * C[k, j, l]
                S[k, i, j] = s
            S[k, i, i] += compliance[first + i]
        _cholesky(S[k], n)
        if p < 0:
            continue
        for i in range(n):  # so that B_p^T S^-1 B_p = X^T X
            t = 2 * (first + i)
            other = t if row_body[t + 1] == b else t + 1
            for l in range(6):
                s = J[other, l]
                for j in range(i):
                    s -= S[k, i, j] * X[k, j, l]
                X[k, i, l] = s * S[k, i, i]
        for l in range(6):
            for m in range(l + 1):
                s = 0.0
                for i in range(n):
                    s += X[k, i, l] * X[k, i, m]
                A[p, l, m] += s


@inner_kernel
def solve_tree(
    first: int,
    last: int,
    tree_body: IntArray,
    parent: IntArray,
    row_start: IntArray,
    row_stop: IntArray,
    A: Array,
    C: Array,
    S: Array,
    X: Array,
    v: Array,
    impulse: Array,
) -> None:
    """Solve one tree: `v` (n_b, 6) holds f and becomes v, `impulse` (n_r,) holds x_2 and becomes lambda.

    On the way to the root `v` holds ``g = L^-1 f`` and `impulse` ``w = L_S^-1 (x_2 + C g)``; back from it
    ``lambda = -L_S^-T (w + X v_p)`` and ``v = L^-T (g + C^T lambda)``.
    """
    for k in range(first, last):
        b, p, r_0 = tree_body[k], parent[k], row_start[k]
        n = row_stop[k] - r_0
        forward(A[b], v[b], 6)
        for i in range(n):
            s = impulse[r_0 + i]
            for l in range(6):
                s += C[k, i, l] * v[b, l]
            for j in range(i):
                s -= S[k, i, j] * impulse[r_0 + j]
            impulse[r_0 + i] = s * S[k, i, i]
        if p >= 0:
            for i in range(n):
                for l in range(6):
                    v[p, l] -= X[k, i, l] * impulse[r_0 + i]
    for k in range(last - 1, first - 1, -1):
        b, p, r_0 = tree_body[k], parent[k], row_start[k]
        n = row_stop[k] - r_0
        for i in range(n):
            s = impulse[r_0 + i]
            if p >= 0:
                for l in range(6):
                    s += X[k, i, l] * v[p, l]
            impulse[r_0 + i] = -s
        _backward(S[k], impulse[r_0 : r_0 + n], n)
        for i in range(n):
            for l in range(6):
                v[b, l] += C[k, i, l] * impulse[r_0 + i]
        _backward(A[b], v[b], 6)


@kernel
def solve_trees(
    tree_start: IntArray,
    tree_body: IntArray,
    parent: IntArray,
    row_start: IntArray,
    row_stop: IntArray,
    A: Array,
    C: Array,
    S: Array,
    X: Array,
    v: Array,
    impulse: Array,
) -> None:
    """Solve all trees: `v` (n_b, 6) holds f and becomes v, `impulse` (n_r,) holds x_2 and becomes lambda."""
    for tree in range(tree_start.size - 1):
        first, last = tree_start[tree], tree_start[tree + 1]
        solve_tree(first, last, tree_body, parent, row_start, row_stop, A, C, S, X, v, impulse)


@kernel
def respond(
    tree_start: IntArray,
    tree_body: IntArray,
    parent: IntArray,
    row_start: IntArray,
    row_stop: IntArray,
    A: Array,
    C: Array,
    S: Array,
    X: Array,
    of_body: IntArray,
    M_inv: Array,
    start: IntArray,
    body: IntArray,
    H: Array,
    W: Array,
) -> None:
    """Fill `W` = H A11 H^T (m, m) for scalar rows H given by terms; A11 maps forces to velocities of the trees.

    Bodies outside the trees answer with `M_inv`.
    """
    n_b, row_count = of_body.size, 0
    for k in range(row_stop.size):
        row_count = max(row_count, row_stop[k])
    v, impulse = np.zeros((n_b, 6)), np.zeros(row_count)
    for c in range(start.size - 1):
        for k in range(start[c], start[c + 1]):
            b = body[k]
            if b < 0:
                continue
            if of_body[b] < 0:
                for l in range(6):
                    s = 0.0
                    for m in range(6):
                        s += M_inv[b, l, m] * H[k, m]
                    v[b, l] += s
            else:
                for l in range(6):
                    v[b, l] += H[k, l]
        for k in range(start[c], start[c + 1]):
            tree = of_body[body[k]] if body[k] >= 0 else -1
            done = tree < 0
            for other in range(start[c], k):
                done = done or (body[other] >= 0 and of_body[body[other]] == tree)
            if not done:
                first, last = tree_start[tree], tree_start[tree + 1]
                solve_tree(first, last, tree_body, parent, row_start, row_stop, A, C, S, X, v, impulse)
        for r in range(start.size - 1):
            s = 0.0
            for k in range(start[r], start[r + 1]):
                if body[k] >= 0:
                    for l in range(6):
                        s += H[k, l] * v[body[k], l]
            W[r, c] = s
        for k in range(start[c], start[c + 1]):
            b = body[k]
            if b < 0:
                continue
            for l in range(6):
                v[b, l] = 0.0
            if of_body[b] >= 0:
                for t in range(tree_start[of_body[b]], tree_start[of_body[b] + 1]):
                    for l in range(6):
                        v[tree_body[t], l] = 0.0
                    for i in range(row_start[t], row_stop[t]):
                        impulse[i] = 0.0
