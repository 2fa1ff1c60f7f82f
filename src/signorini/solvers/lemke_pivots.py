r"""Kernels of Lemke's method: pivots on the inverse of the nontrivial block of the basis.

The enlarged system is ``w = q + G x`` with ``G = [M d]`` and ``x = (z, z0)``. A basis is a set C of basic columns of G
and the set R of rows whose slack is *not* basic, ``|R| = |C| = k``. Only ``K = G[R, C]`` needs an inverse:

    x_C = - K^-1 q_R,    w_i = q_i + G[i, C] x_C  (i not in R).

A pivot changes one row or column of K, so the inverse follows by a rank-one update of k x k numbers where a tableau
would touch n x 2n. Every direction is computed from the original G; in the rows of R it must vanish, which shows the
error of the inverse at no cost and calls for a fresh one when needed.

Here / meaning: ``GT`` transpose of G; ``T`` transpose of K^-1 (row: position in R, column: position in C);
``y, dw`` rates of x_C and w as the entering variable grows. Variables are numbered w: 0..n-1, z: n..2n-1, z0: 2n.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel

RUNNING = 0
DONE = 1
RAY = 2
REFACTOR = 3

# places in the array `state`
COUNT = 0  # k
ENTERING = 1
PIVOTS = 2
FRESH = 3  # pivots since the inverse was computed from scratch

_PIVOT = 1e-10  # rates below this share of the largest one are taken as zero
_DRIFT = 1e-10  # share of the largest rate that may be lost in the rows of R
_VALUE = 1e-13  # rounding error of a basic value, as a share of the largest one: values this close are ties
_TIE = 1e-11  # the same for the lexicographic rows


@kernel
def scaled_data(M: Array, q: Array, cover: Array, GT: Array, q_s: Array, row: Array, column: Array) -> float:
    """Fill ``GT = [R M S, cover]^T`` and ``q_s = R q / max|R q|`` with R, S powers of two that bring entries near 1.

    Returns ``max|R q|``.

    The diagonal is brought near 1 symmetrically; rows and columns without positive diagonal follow by their largest
    entry. Complementarity does not notice: R only changes the covering vector, S the units of z.
    """
    n = q.size
    for i in range(n):
        row[i] = 1.0
        column[i] = 1.0
        if M[i, i] > 0.0:
            row[i] = 2.0 ** np.floor(0.5 - 0.5 * np.log2(M[i, i]))
            column[i] = row[i]
    for i in range(n):
        if M[i, i] <= 0.0:
            largest = 0.0
            for j in range(n):
                largest = max(largest, abs(M[i, j]) * column[j])
            if largest > 0.0:
                row[i] = 2.0 ** np.floor(0.5 - np.log2(largest))
    for j in range(n):
        if M[j, j] <= 0.0:
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(M[i, j]) * row[i])
            if largest > 0.0:
                column[j] = 2.0 ** np.floor(0.5 - np.log2(largest))
    scale = 0.0
    for i in range(n):
        scale = max(scale, abs(q[i]) * row[i])
        for j in range(n):
            GT[j, i] = M[i, j] * row[i] * column[j]
        GT[n, i] = cover[i]
    for i in range(n):
        q_s[i] = q[i] * row[i] / scale if scale > 0.0 else 0.0
    return scale


@kernel
def first_pivot(
    GT: Array, q: Array, T: Array, rows: IntArray, cols: IntArray, where: IntArray, x: Array, w: Array, state: IntArray
) -> None:
    """Bring z0 in for the row with the smallest ``q_i / d_i``; the last such row is the lexicographic choice."""
    n = q.size
    for i in range(2 * n + 1):
        where[i] = -1
    r = 0
    for i in range(n):
        if q[i] / GT[n, i] <= q[r] / GT[n, r]:
            r = i
    z0 = -q[r] / GT[n, r]
    for i in range(n):
        w[i] = q[i] + GT[n, i] * z0
    w[r] = 0.0
    x[n] = z0
    rows[0] = r
    cols[0] = n
    where[r] = 0
    where[2 * n] = 0
    T[0, 0] = 1.0 / GT[n, r]
    state[COUNT] = 1
    state[ENTERING] = n + r
    state[PIVOTS] = 1
    state[FRESH] = 1


@kernel
def pivots(
    GT: Array,
    q: Array,
    T: Array,
    rows: IntArray,
    cols: IntArray,
    where: IntArray,
    x: Array,
    w: Array,
    y: Array,
    dw: Array,
    state: IntArray,
    limit: int,
    refactor_after: int,
) -> int:
    """Pivot until the end, a ray, `limit` pivots in all, or the inverse needs to be computed afresh; return which.

    ``where[i]`` is the position of row i in R and ``where[n + j]`` that of column j in C, -1 outside.
    """
    n = q.size
    candidates = np.empty(n + 1, dtype=np.int64)
    h = np.empty(n + 1)
    while state[PIVOTS] < limit:
        if state[FRESH] >= refactor_after:
            return REFACTOR
        k = state[COUNT]
        entering = state[ENTERING]
        lost, largest = _direction(GT, T, rows, cols, where, y, dw, k, entering)
        if lost > _DRIFT * largest and state[FRESH] > 0:
            return REFACTOR
        leaving = _leaving(GT, T, rows, cols, where, x, w, y, dw, candidates, k, _PIVOT * largest)
        if leaving < 0:
            return RAY
        rate = dw[leaving] if leaving < n else y[where[leaving]]
        value = w[leaving] if leaving < n else x[leaving - n]
        t = max(value, 0.0) / -rate
        for c in range(k):
            x[cols[c]] = max(x[cols[c]] + t * y[c], 0.0)
        for i in range(n):
            w[i] = max(w[i] + t * dw[i], 0.0) if where[i] < 0 else 0.0
        _exchange(GT, T, rows, cols, where, y, dw, h, k, entering, leaving)
        if entering < n:
            w[entering] = t
        else:
            x[entering - n] = t
        if leaving < n:
            w[leaving] = 0.0
        else:
            x[leaving - n] = 0.0
        state[COUNT] = k + (1 if entering >= n else 0) - (1 if leaving >= n else 0)
        state[PIVOTS] += 1
        state[FRESH] += 1
        if leaving == 2 * n:
            return DONE
        state[ENTERING] = leaving + n if leaving < n else leaving - n
    return RUNNING


@kernel
def _direction(
    GT: Array, T: Array, rows: IntArray, cols: IntArray, where: IntArray, y: Array, dw: Array, k: int, entering: int
) -> tuple[float, float]:
    """Fill `y` and `dw`; return the error in the rows of R and the largest rate."""
    n = dw.size
    for c in range(k):
        y[c] = 0.0
    if entering >= n:
        e = entering - n
        for r in range(k):
            g = GT[e, rows[r]]
            if g != 0.0:
                for c in range(k):
                    y[c] -= g * T[r, c]
        for i in range(n):
            dw[i] = GT[e, i]
    else:
        p = where[entering]
        for c in range(k):
            y[c] = T[p, c]
        for i in range(n):
            dw[i] = 0.0
    for c in range(k):
        rate = y[c]
        if rate != 0.0:
            j = cols[c]
            for i in range(n):
                dw[i] += rate * GT[j, i]
    if entering < n:
        dw[entering] -= 1.0  # the entering slack grows at rate 1; what is left in R is error
    lost = 0.0
    largest = 1.0
    for c in range(k):
        largest = max(largest, abs(y[c]))
    for i in range(n):
        if where[i] >= 0:
            lost = max(lost, abs(dw[i]))
        else:
            largest = max(largest, abs(dw[i]))
    return lost, largest


@kernel
def _leaving(
    GT: Array,
    T: Array,
    rows: IntArray,
    cols: IntArray,
    where: IntArray,
    x: Array,
    w: Array,
    y: Array,
    dw: Array,
    candidates: IntArray,
    k: int,
    threshold: float,
) -> int:
    """Return the variable that blocks first, ties broken lexicographically; -1 if none does.

    Ties are the rule in contact problems (opposite friction directions), and only the lexicographic rule keeps Lemke's
    method from cycling there.
    """
    n = dw.size
    size = 1.0
    for c in range(k):
        size = max(size, x[cols[c]])
    for i in range(n):
        size = max(size, w[i])
    slip = _VALUE * size
    bound = np.inf
    for c in range(k):
        if y[c] < -threshold:
            bound = min(bound, (x[cols[c]] + slip) / -y[c])
    for i in range(n):
        if dw[i] < -threshold and where[i] < 0:
            bound = min(bound, (w[i] + slip) / -dw[i])
    count = n - n  # a literal 0 would be a type of its own and make Numba compile the callee twice
    for c in range(k):
        if y[c] < -threshold and x[cols[c]] <= bound * -y[c]:
            if cols[c] == n:
                return 2 * n  # let z0 leave as soon as it may: that is a solution
            candidates[count] = n + cols[c]
            count += 1
    for i in range(n):
        if dw[i] < -threshold and where[i] < 0 and w[i] <= bound * -dw[i]:
            candidates[count] = i
            count += 1
    if count == 0:
        return -1
    for j in range(n):
        if count == 1:
            break
        count = _fewer(GT, T, cols, where, y, dw, candidates, count, k, j)
    return int(candidates[0])


@inner_kernel
def _fewer(
    GT: Array,
    T: Array,
    cols: IntArray,
    where: IntArray,
    y: Array,
    dw: Array,
    candidates: IntArray,
    count: int,
    k: int,
    j: int,
) -> int:
    """Keep the candidates whose row of the basis inverse, relative to their rate, is smallest in column `j`.

    Return how many are left.
    """
    p = where[j]
    if p < 0:  # w_j is basic: its own row holds the only entry
        kept = 0
        for s in range(count):
            if candidates[s] != j:
                candidates[kept] = candidates[s]
                kept += 1
        return kept
    smallest = np.inf
    for s in range(count):
        smallest = min(smallest, _entry(GT, T, cols, where, y, dw, candidates[s], k, p))
    allowed = smallest + _TIE * (1.0 + abs(smallest))
    kept = 0
    for s in range(count):
        variable = candidates[s]
        if _entry(GT, T, cols, where, y, dw, variable, k, p) <= allowed:
            candidates[kept] = variable
            kept += 1
    return kept


@kernel
def _entry(
    GT: Array, T: Array, cols: IntArray, where: IntArray, y: Array, dw: Array, variable: int, k: int, p: int
) -> float:
    """Entry of the basis inverse at a basic variable and the row at position `p` of R, divided by the rate."""
    n = dw.size
    if variable >= n:
        c = where[variable]
        return float(T[p, c] / y[c])
    total = 0.0
    for c in range(k):
        total += GT[cols[c], variable] * T[p, c]
    return float(total / dw[variable])


@inner_kernel
def _exchange(
    GT: Array,
    T: Array,
    rows: IntArray,
    cols: IntArray,
    where: IntArray,
    y: Array,
    dw: Array,
    h: Array,
    k: int,
    entering: int,
    leaving: int,
) -> None:
    """Update T, R and C: a column of K enters or leaves with a slack, or a row or a column is replaced."""
    n = dw.size
    if leaving < n:
        for c in range(k):
            h[c] = GT[cols[c], leaving]
    if entering >= n and leaving < n:  # K grows by a column and a row
        s = dw[leaving]
        for r in range(k):
            v = _dot(T, r, h, k) / s
            for c in range(k):
                T[r, c] -= v * y[c]
            T[r, k] = -v
        for c in range(k):
            T[k, c] = y[c] / s
        T[k, k] = 1.0 / s
        rows[k] = leaving
        cols[k] = entering - n
        where[leaving] = k
        where[entering] = k
    elif entering >= n:  # a column is replaced
        p = where[leaving]
        for r in range(k):
            v = T[r, p] / y[p]
            for c in range(k):
                T[r, c] -= v * y[c]
            T[r, p] = -v
        cols[p] = entering - n
        where[leaving] = -1
        where[entering] = p
    elif leaving < n:  # a row is replaced
        p = where[entering]
        s = dw[leaving]
        for r in range(k):
            if r != p:
                v = _dot(T, r, h, k) / s
                for c in range(k):
                    T[r, c] -= v * y[c]
        for c in range(k):
            T[p, c] = y[c] / s
        rows[p] = leaving
        where[entering] = -1
        where[leaving] = p
    else:  # K loses a column and a row; the last ones take their places
        p = where[entering]
        e = where[leaving]
        for r in range(k):
            if r != p:
                v = T[r, e] / y[e]
                for c in range(k):
                    T[r, c] -= v * y[c]
        last = k - 1
        for c in range(k):
            T[p, c] = T[last, c]
        for r in range(last):
            T[r, e] = T[r, last]
        rows[p] = rows[last]
        cols[e] = cols[last]
        where[rows[p]] = p
        where[n + cols[e]] = e
        where[entering] = -1
        where[leaving] = -1


@kernel
def _dot(T: Array, r: int, h: Array, k: int) -> float:
    """Product of row `r` of T with `h`; four sums at a time, so that the processor need not wait for each addition."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    s3 = 0.0
    c = 0
    while c + 4 <= k:
        s0 += T[r, c] * h[c]
        s1 += T[r, c + 1] * h[c + 1]
        s2 += T[r, c + 2] * h[c + 2]
        s3 += T[r, c + 3] * h[c + 3]
        c += 4
    while c < k:
        s0 += T[r, c] * h[c]
        c += 1
    return (s0 + s1) + (s2 + s3)
