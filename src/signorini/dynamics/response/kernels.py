r"""Response of bodies and assemblies, S5 eqs. (5)-(12) in symmetric form.

.. math::
    A = Z F + b, \qquad Z = T \Gamma^{-1} T^T, \quad b = \hat A - T \Gamma^{-1} \beta

for the rows of a body: six of each handle, one of each contact direction. Joints :math:`D^T (A_b - A_a) = d` of parts
that stand beside each other, with E = D in the rows of b and -D in those of a, give

.. math::
    \mu = Q (y - G^T F), \quad Q Q^T = (E^T Z E)^{+}, \quad G = Z E Q, \quad y = Q^T (d - E^T b),
    \qquad Z \leftarrow Z - G G^T, \quad b \leftarrow b + G y

in the rows that stay open. Matrices stand row by row in flat arrays.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel

_RANK = 1e-13  # what is left of a row that depends on others is rounding, some hundreds of it
_MOST_SWEEPS = 60  # of rotations; a handful suffices, convergence is quadratic


@inner_kernel
def _factored(A: Array, own: Array, n: int) -> bool:
    """Overwrite the lower triangle by its Cholesky factor, the diagonal by its inverse; False if rank may be missing.

    `own` (n,) are diagonals from which A was eliminated: by them it is judged what is rounding. A small pivot magnifies
    the rounding of those after it.
    """
    least = 1.0
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            if i == j:
                if not s * least > _RANK * own[i]:
                    return False
                least = min(least, s / own[i])
                A[i, i] = 1.0 / math.sqrt(s)
            else:
                A[i, j] = s * A[j, j]
    return True


@inner_kernel
def _inverse_root(L: Array, Q: Array, n: int) -> None:
    """Fill Q with ``L^-T`` of a factor by :func:`_factored`: ``Q Q^T = (L L^T)^-1``."""
    for c in range(n):
        for i in range(n):
            Q[c, i] = 0.0
        Q[c, c] = L[c, c]
        for i in range(c + 1, n):
            s = 0.0
            for k in range(c, i):
                s -= L[i, k] * Q[c, k]
            Q[c, i] = s * L[i, i]


@inner_kernel
def _pseudo_root(X: Array, own: Array, Q: Array, V: Array, scale: Array, n: int) -> int:
    """Fill Q with a root of the pseudo-inverse of X, scaled by the diagonals `own`; return the rank that is missing.

    Eigenvalues by Jacobi's rotations: small ones are as exact as large ones, and equal ones do no harm.
    """
    for i in range(n):
        scale[i] = 1.0 / math.sqrt(own[i]) if own[i] > 0.0 else 0.0
    for i in range(n):
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
            Q[i, j] = X[max(i, j), min(i, j)] * scale[i] * scale[j]
    for _ in range(_MOST_SWEEPS):
        off = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                off += Q[p, q] * Q[p, q]
                if abs(Q[p, q]) < 1e-300:
                    continue
                theta = 0.5 * (Q[q, q] - Q[p, p]) / Q[p, q]
                t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + math.hypot(theta, 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    x, y = Q[k, p], Q[k, q]
                    Q[k, p], Q[k, q] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = Q[p, k], Q[q, k]
                    Q[p, k], Q[q, k] = c * x - s * y, s * x + c * y
                for k in range(n):
                    x, y = V[k, p], V[k, q]
                    V[k, p], V[k, q] = c * x - s * y, s * x + c * y
        if off < 1e-30:
            break
    missing = 0
    for j in range(n):
        eigenvalue = Q[j, j]
        if eigenvalue > n * _RANK:
            scale[n + j] = 1.0 / math.sqrt(eigenvalue)
        else:
            scale[n + j] = 0.0
            missing += 1
    for i in range(n):
        for j in range(n):
            Q[i, j] = scale[i] * V[i, j] * scale[n + j]
    return missing


@kernel
def respond_bodies(
    T: Array,
    T_start: IntArray,
    Gamma: Array,
    Gamma_start: IntArray,
    beta: Array,
    size: IntArray,
    size_start: IntArray,
    rows: IntArray,
    row_start: IntArray,
    square_start: IntArray,
    L: Array,
    own: Array,
    work: Array,
    Z: Array,
    b: Array,
) -> bool:
    """Fill Z and b of all bodies; `b` holds A^ before. Inertias become the inverses of their factors, in `L`.

    Return False where an inertia is not positive definite.
    """
    for body in range(size.size):
        n, m, g, t = size[body], rows[body], Gamma_start[body], T_start[body]
        A = L[body]
        for i in range(n):
            for j in range(i + 1):
                A[i, j] = Gamma[g + i * n + j]
            own[i] = A[i, i]
        if not _factored(A, own, n):
            return False
        first = size_start[body]
        for i in range(n):  # beta becomes L^-1 beta
            s = beta[first + i]
            for k in range(i):
                s -= A[i, k] * beta[first + k]
            beta[first + i] = s * A[i, i]
        z, r = square_start[body], row_start[body]
        for row in range(m):  # work becomes T L^-T
            for i in range(n):
                s = T[t + row * n + i]
                for k in range(i):
                    s -= A[i, k] * work[row, k]
                work[row, i] = s * A[i, i]
            s = 0.0
            for i in range(n):
                s += work[row, i] * beta[first + i]
            b[r + row] -= s
            for other in range(row + 1):
                s = 0.0
                for i in range(n):
                    s += work[row, i] * work[other, i]
                Z[z + row * m + other] = s
                Z[z + other * m + row] = s
    return True


@inner_kernel
def _mobility(
    body: IntArray, handle: IntArray, rows: IntArray, square_start: IntArray, Z: Array, D: Array, g: int, k: int
) -> float:
    """Return how easily both bodies of joint g, all others taken away, move along direction k that it holds."""
    total = 0.0
    for side in range(2):
        c = body[g, side]
        if c >= 0:
            m, at = rows[c], handle[g, side]
            for i in range(6):
                for j in range(6):
                    total += D[g, i, k] * Z[square_start[c] + (at + i) * m + at + j] * D[g, j, k]
    return total


@kernel
def assemble(
    body_count: int,
    rows: IntArray,
    row_start: IntArray,
    square_start: IntArray,
    kid: IntArray,
    kid_start: IntArray,
    joint: IntArray,
    joint_start: IntArray,
    end: IntArray,
    keep: IntArray,
    body: IntArray,
    handle: IntArray,
    D: Array,
    held: IntArray,
    d: Array,
    applied: Array,
    Z: Array,
    b: Array,
    root: Array,
    G: Array,
    y: Array,
    G_start: IntArray,
    Q_start: IntArray,
    y_start: IntArray,
    Y: Array,
    X: Array,
    V: Array,
    own: Array,
    scale: Array,
    known: Array,
) -> int:
    """Fill Z and b of all nodes above bodies, and what :func:`release` needs; return the number of redundant rows.

    Parameters
    ----------
    D, held : (n_j, 6, 6), (n_j,)
        Directions that each joint holds, in the first columns, and their number.
    d : (n_j, 6)
        What their accelerations of b against a are to be.
    applied : (n_j, 6)
        Wrench of springs, dampers and motors on b; its opposite acts on a.
    root, G, y
        Q, G and y of every node.
    Y, X, V, own, scale, known
        Memory to work in.
    """
    redundant = 0
    for node in range(body_count, rows.size):
        first, last, m = joint_start[node], joint_start[node + 1], rows[node]
        n = 0
        for e in range(first, last):
            n += held[joint[e]]
        total = 0
        for k in range(kid_start[node], kid_start[node + 1]):
            c = kid[k]
            for i in range(rows[c]):
                known[total + i] = b[row_start[c] + i]
            total += rows[c]
        for i in range(total):
            for j in range(n):
                Y[i, j] = 0.0
        # Y = Z E, and what applied wrenches do
        column = 0
        for e in range(first, last):
            g = joint[e]
            for side in range(2):
                at, sign = end[2 * e + side], -1.0 if side == 0 else 1.0
                if at < 0:
                    continue
                low = 0
                for k in range(kid_start[node], kid_start[node + 1]):
                    c = kid[k]
                    high = low + rows[c]
                    if low <= at < high:
                        z, width = square_start[c] + at - low, rows[c]
                        for i in range(width):
                            row = z + i * width
                            for j in range(held[g]):
                                s = 0.0
                                for l in range(6):
                                    s += Z[row + l] * D[g, l, j]
                                Y[low + i, column + j] += sign * s
                            s = 0.0
                            for l in range(6):
                                s += Z[row + l] * applied[g, l]
                            known[low + i] += sign * s
                    low = high
            column += held[g]
        # X = E^T Y and the right side d - E^T b
        at_y = y_start[node]
        column = 0
        for e in range(first, last):
            g = joint[e]
            for j in range(held[g]):
                own[column + j] = _mobility(body, handle, rows, square_start, Z, D, g, j)
                for other in range(n):
                    X[column + j, other] = 0.0
                y[at_y + column + j] = d[g, j]
                for side in range(2):
                    at, sign = end[2 * e + side], -1.0 if side == 0 else 1.0
                    if at >= 0:
                        for l in range(6):
                            weight = sign * D[g, l, j]
                            y[at_y + column + j] -= weight * known[at + l]
                            for other in range(n):
                                X[column + j, other] += weight * Y[at + l, other]
            column += held[g]
        for i in range(n):
            for j in range(i):
                X[j, i] = X[i, j]  # kept for the case that rank is missing
            scale[2 * n + i] = X[i, i]
        Q = V[0]
        if n > 0:
            if _factored(X, own, n):
                _inverse_root(X, Q, n)
            else:
                for i in range(n):
                    X[i, i] = scale[2 * n + i]
                    for j in range(i):
                        X[i, j] = X[j, i]
                redundant += _pseudo_root(X, own, Q, V[1], scale, n)
        at_Q = Q_start[node]
        for i in range(n):
            for j in range(n):
                root[at_Q + i * n + j] = Q[i, j]
        for j in range(n):
            s = 0.0
            for i in range(n):
                s += Q[i, j] * y[at_y + i]
            scale[j] = s
        for j in range(n):
            y[at_y + j] = scale[j]
        # the rows that stay
        at_G, r, z = G_start[node], row_start[node], square_start[node]
        for i in range(m):
            old = keep[r + i]
            s = known[old]
            for j in range(n):
                x = 0.0
                for k in range(n):
                    x += Y[old, k] * Q[k, j]
                G[at_G + i * n + j] = x
                s += x * y[at_y + j]
            b[r + i] = s
        for i in range(m):
            for j in range(i + 1):
                s = 0.0
                for k in range(n):
                    s -= G[at_G + i * n + k] * G[at_G + j * n + k]
                Z[z + i * m + j] = s
        low = 0
        for k in range(kid_start[node], kid_start[node + 1]):
            c = kid[k]
            width = rows[c]
            for i in range(m):
                u = keep[r + i] - low
                if 0 <= u < width:
                    for j in range(i + 1):
                        v = keep[r + j] - low
                        if 0 <= v < width:
                            Z[z + i * m + j] += Z[square_start[c] + u * width + v]
            low += width
        for i in range(m):
            for j in range(i):
                Z[z + j * m + i] = Z[z + i * m + j]
    return redundant


@kernel
def release(
    body_count: int,
    rows: IntArray,
    row_start: IntArray,
    kid: IntArray,
    kid_start: IntArray,
    joint: IntArray,
    joint_start: IntArray,
    end: IntArray,
    keep: IntArray,
    D: Array,
    held: IntArray,
    applied: Array,
    root: Array,
    G: Array,
    y: Array,
    G_start: IntArray,
    Q_start: IntArray,
    y_start: IntArray,
    T: Array,
    T_start: IntArray,
    beta: Array,
    size: IntArray,
    size_start: IntArray,
    L: Array,
    known: float,
    F: Array,
    wrench: Array,
    x: Array,
    mu: Array,
    stacked: Array,
) -> None:
    """Fill forces of all rows, wrenches of joints on b (n_j, 6) and the accelerations x of bodies, from the roots down.

    `F` holds the forces of the contact rows at the roots. `known` is 1 for accelerations under all loads, 0 for what
    the forces at the roots do alone.
    """
    for node in range(rows.size - 1, body_count - 1, -1):
        first, last, m, r = joint_start[node], joint_start[node + 1], rows[node], row_start[node]
        n = y_start[node + 1] - y_start[node]
        total = 0
        for k in range(kid_start[node], kid_start[node + 1]):
            total += rows[kid[k]]
        for i in range(total):
            stacked[i] = 0.0
        for i in range(m):
            stacked[keep[r + i]] = F[r + i]
        at_y, at_G, at_Q = y_start[node], G_start[node], Q_start[node]
        for j in range(n):
            s = known * y[at_y + j]
            for i in range(m):
                s -= G[at_G + i * n + j] * F[r + i]
            mu[n + j] = s
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += root[at_Q + i * n + j] * mu[n + j]
            mu[i] = s
        column = 0
        for e in range(first, last):
            g = joint[e]
            for l in range(6):
                s = known * applied[g, l]
                for j in range(held[g]):
                    s += D[g, l, j] * mu[column + j]
                wrench[g, l] = s
                if end[2 * e] >= 0:
                    stacked[end[2 * e] + l] -= s
                if end[2 * e + 1] >= 0:
                    stacked[end[2 * e + 1] + l] += s
            column += held[g]
        total = 0
        for k in range(kid_start[node], kid_start[node + 1]):
            c = kid[k]
            for i in range(rows[c]):
                F[row_start[c] + i] = stacked[total + i]
            total += rows[c]
    for body in range(body_count):
        n, first, t, r, A = size[body], size_start[body], T_start[body], row_start[body], L[body]
        for i in range(n):
            s = 0.0
            for row in range(rows[body]):
                s += T[t + row * n + i] * F[r + row]
            x[first + i] = s
        for i in range(n):
            s = x[first + i]
            for k in range(i):
                s -= A[i, k] * x[first + k]
            x[first + i] = s * A[i, i]
        for i in range(n):
            x[first + i] -= known * beta[first + i]
        for i in range(n - 1, -1, -1):
            s = x[first + i]
            for k in range(i + 1, n):
                s -= A[k, i] * x[first + k]
            x[first + i] = s * A[i, i]
