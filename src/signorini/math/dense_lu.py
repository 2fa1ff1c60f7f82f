"""Dense systems of a few unknowns: factors with row exchanges, in place."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel

LOST_IN_ROUNDING = 1e-12
"""A pivot of this share of its column is taken for zero: elimination leaves some 1e-16 times its growth there."""


@inner_kernel
def factor_dense(A: Array, order: IntArray) -> bool:
    """Put the factors of `A` (n, n) in its place and the exchanges of rows in `order` (n,); False if it is singular."""
    n = A.shape[0]
    for k in range(n):
        best, size = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > size:
                best, size = i, abs(A[i, k])
        if not size > 0.0:
            return False
        order[k] = best
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                f = A[i, k] / A[k, k]
                A[i, k] = f
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
    return True


@inner_kernel
def solve_dense(A: Array, order: IntArray, B: Array) -> None:
    """Solve with the factors of :func:`factor_dense`, all columns of `B` (n, m) in place."""
    n, m = B.shape
    for k in range(n):
        p = order[k]
        if p != k:
            for j in range(m):
                B[k, j], B[p, j] = B[p, j], B[k, j]
    for k in range(n):
        for i in range(k + 1, n):
            f = A[i, k]
            if f != 0.0:
                for j in range(m):
                    B[i, j] -= f * B[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(m):
            B[k, j] /= A[k, k]
        for i in range(k):
            f = A[i, k]
            if f != 0.0:
                for j in range(m):
                    B[i, j] -= f * B[k, j]
