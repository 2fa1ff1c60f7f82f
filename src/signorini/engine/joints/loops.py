r"""The compiled step, joints: rows that close loops, seen through the trees.

With the answer :math:`A_t = F F^T` of the trees of a mechanism, the loop rows C and their compliance E,

.. math::
    A_{11} = A_t - A_t C^T S^+ C A_t = F T T^T F^T, \qquad S = C A_t C^T + E .

T takes out of every row :math:`J F` its part along the space of the rigid rows :math:`C F`, then for each spring c
among the loop rows, :math:`k = T^T F^T c`, multiplies it by :math:`(1 + k k^T/E)^{-1/2}`. What is dependent is told by
the eigenvalues of S, as in :mod:`signorini.dynamics.joints`.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.constants import DEPENDENT
from signorini.engine.arrays import COUNTS, FIND_SPARE, FIXED
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.rows import climb
from signorini.engine.joints.trees import solve_mechanism
from signorini.posing.constants import JACOBI_SWEEPS, JACOBI_ZERO


@inner_kernel
def eigenvectors(A: Array, V: Array, n: int) -> None:
    """Diagonalise the symmetric `A` in place by Jacobi's rotations; columns of `V` are its eigenvectors."""
    for i in range(n):
        for k in range(n):
            V[i, k] = 1.0 if i == k else 0.0
    for _ in range(JACOBI_SWEEPS):
        turned = False
        for p in range(n):
            for q in range(p + 1, n):
                if abs(A[p, q]) <= JACOBI_ZERO * (abs(A[p, p]) + abs(A[q, q])):
                    continue
                turned = True
                theta = 0.5 * (A[q, q] - A[p, p]) / A[p, q]
                t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(1.0 + theta * theta))
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                for k in range(n):
                    x, y = A[k, p], A[k, q]
                    A[k, p] = c * x - s * y
                    A[k, q] = s * x + c * y
                for k in range(n):
                    x, y = A[p, k], A[q, k]
                    A[p, k] = c * x - s * y
                    A[q, k] = s * x + c * y
                    x, y = V[k, p], V[k, q]
                    V[k, p] = c * x - s * y
                    V[k, q] = s * x + c * y
                A[p, q] = 0.0
                A[q, p] = 0.0
        if not turned:
            break


@inner_kernel
def _scaled_schur(j: IntArray, first: int, last: int, springs: int) -> None:
    """Write S of the loop rows from `first` to `last`, scaled; of the rigid ones alone if `springs` is 0."""
    K, scale, soft = real_rows(j, ja.LOOP_SPREAD), reals(j, ja.LOOP_SCALE), reals(j, ja.SOFT_ROW)
    A, row = real_blocks(j, ja.EIGEN)[0], wholes(j, ja.LOOP_ROW)
    for i in range(first, last):
        for k in range(first, i + 1):
            s = soft[row[i]] if i == k else 0.0
            for l in range(K.shape[1]):
                s += K[i, l] * K[k, l]
            if springs == 0 and (soft[row[i]] > 0.0 or soft[row[k]] > 0.0):
                s = 0.0
            A[i - first, k - first] = scale[i] * s * scale[k]
            A[k - first, i - first] = A[i - first, k - first]


@inner_kernel
def _spread_loops(t: IntArray, j: IntArray, first: int, last: int) -> None:
    """Write ``C F`` of the loop rows and by how much they are scaled."""
    K, scale, soft = real_rows(j, ja.LOOP_SPREAD), reals(j, ja.LOOP_SCALE), reals(j, ja.SOFT_ROW)
    row, terms, body, J, fixed = (
        wholes(j, ja.LOOP_ROW),
        wholes(j, ja.ROW_TERMS),
        wholes(j, ja.ROW_BODY),
        real_rows(j, ja.JACOBIAN),
        wholes(t, COUNTS)[FIXED],
    )
    force, spread, mobility = real_rows(j, ja.FORCE), real_rows(j, ja.SPREAD), reals(j, ja.MOBILITY)
    for i in range(first, last):
        for term in range(terms[row[i]], terms[row[i] + 1]):
            if body[term] >= fixed:
                for l in range(6):
                    force[0, l] = J[term, l]
                climb(t, j, body[term], ja.EVERY_BODY, ja.EVERY_BODY + 1)
        size = mobility[0] + soft[row[i]]
        scale[i] = 1.0 / math.sqrt(size) if size > 0.0 else 1.0
        mobility[0] = 0.0
        for l in range(K.shape[1]):
            K[i, l] = spread[0, l]
            spread[0, l] = 0.0


@inner_kernel
def _take_out(j: IntArray, first: int, count: int, x: Array) -> None:
    """Take out of a row `x` over the degrees of freedom of a mechanism what its loops do not let move."""
    out, share = real_rows(j, ja.TAKEN), reals(j, ja.TAKEN_SHARE)
    for m in range(first, first + count):
        s = 0.0
        for l in range(x.shape[0]):
            s += out[m, l] * x[l]
        s *= share[m]
        for l in range(x.shape[0]):
            x[l] -= s * out[m, l]


@inner_kernel
def _make_taken(j: IntArray, k: int, first: int, last: int) -> None:
    """Write the directions that are taken out of rows on mechanism `k`; S of the rigid rows is diagonalised."""
    A, V = real_blocks(j, ja.EIGEN)[0], real_blocks(j, ja.EIGEN)[1]
    K, scale, out, share = (
        real_rows(j, ja.LOOP_SPREAD),
        reals(j, ja.LOOP_SCALE),
        real_rows(j, ja.TAKEN),
        reals(j, ja.TAKEN_SHARE),
    )
    row, soft, n = wholes(j, ja.LOOP_ROW), reals(j, ja.SOFT_ROW), last - first
    count = 0
    for m in range(n):
        if A[m, m] <= DEPENDENT:
            continue
        for l in range(K.shape[1]):
            s = 0.0
            for i in range(n):
                s += V[i, m] * scale[first + i] * K[first + i, l]
            out[first + count, l] = s / math.sqrt(A[m, m])
        share[first + count] = 1.0
        count += 1
    for i in range(first, last):
        E = soft[row[i]]
        if E == 0.0:
            continue
        x, size = out[first + count], 0.0
        for l in range(K.shape[1]):
            x[l] = K[i, l]
        _take_out(j, first, count, x)
        for l in range(K.shape[1]):
            size += x[l] * x[l]
        if size == 0.0:
            continue
        root = math.sqrt(1.0 + size / E)
        share[first + count] = size / E / (root * (1.0 + root))
        for l in range(K.shape[1]):
            x[l] /= math.sqrt(size)
        count += 1
    whole_rows(j, ja.LOOPS)[k, ja.LOOP_TAKEN] = count


@inner_kernel
def factor_loops(t: IntArray, j: IntArray) -> None:
    """Prepare the loops of all mechanisms; trees are factored."""
    loops, soft, row = whole_rows(j, ja.LOOPS), reals(j, ja.SOFT_ROW), wholes(j, ja.LOOP_ROW)
    A, V, inverse = real_blocks(j, ja.EIGEN)[0], real_blocks(j, ja.EIGEN)[1], real_rows(j, ja.LOOP_INVERSE)
    scale, redundant = reals(j, ja.LOOP_SCALE), 0
    for k in range(loops.shape[0]):
        first, last = loops[k, ja.LOOP_FIRST], loops[k, ja.LOOP_STOP]
        n = last - first
        if n == 0:
            continue
        _spread_loops(t, j, first, last)
        passes = 1
        for i in range(first, last):
            passes = 2 if soft[row[i]] > 0.0 else passes
        for springs in range(passes):
            _scaled_schur(j, first, last, springs)
            eigenvectors(A, V, n)
            if springs == 0:
                _make_taken(j, k, first, last)
        dependent = 0
        for i in range(n):
            dependent += 1 if A[i, i] <= DEPENDENT else 0
            for l in range(n):
                s = 0.0
                for m in range(n):
                    if A[m, m] > DEPENDENT:
                        s += V[i, m] * V[l, m] / A[m, m]
                inverse[first + i, l] = scale[first + i] * s * scale[first + l]
        redundant += dependent
        loops[k, ja.LOOP_SPARE] = 0
        if dependent > 0 and t[FIND_SPARE, 0] != 0:
            perform(t[FIND_SPARE, 0], (t, k))
    wholes(j, ja.TALLY)[ja.REDUNDANT] = redundant


@inner_kernel
def take_out_rows(j: IntArray, k: int) -> None:
    """Take out of the rows in ``SPREAD``, on mechanism `k`, what its loops do not let move."""
    loops, spread = whole_rows(j, ja.LOOPS), real_rows(j, ja.SPREAD)
    for i in range(3):
        _take_out(j, loops[k, ja.LOOP_FIRST], loops[k, ja.LOOP_TAKEN], spread[i])


@inner_kernel
def close_loops(t: IntArray, j: IntArray, k: int, v: Array, x_2: Array, weight: float, impulse: Array) -> None:
    """Make `v` (n_b, 6) and `impulse` (n_r,), the answer of the trees of mechanism `k`, obey its loops too.

    The loop rows ask for ``C v + weight x_2 = 0``.
    """
    loops, start, tree_body = whole_rows(j, ja.LOOPS), wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_BODY)
    first, last, fixed = loops[k, ja.LOOP_FIRST], loops[k, ja.LOOP_STOP], wholes(t, COUNTS)[FIXED]
    if first == last:
        return
    row, body, J = wholes(j, ja.LOOP_ROW), wholes(j, ja.ROW_BODY), real_rows(j, ja.JACOBIAN)
    terms = wholes(j, ja.ROW_TERMS)
    inverse, excess = real_rows(j, ja.LOOP_INVERSE), reals(j, ja.LOOP_EXCESS)
    push, more = real_rows(j, ja.LOOP_PUSH), reals(j, ja.LOOP_REACTION)
    tree_first, tree_stop = wholes(j, ja.TREE_FIRST), wholes(j, ja.TREE_STOP)
    for i in range(first, last):
        s = weight * x_2[row[i]]
        for term in range(terms[row[i]], terms[row[i] + 1]):
            if body[term] >= fixed:
                for l in range(6):
                    s += J[term, l] * v[body[term], l]
        excess[i] = s
    for at in range(start[k], start[k + 1]):
        for l in range(6):
            push[tree_body[at], l] = 0.0
        for r in range(tree_first[at], tree_stop[at]):
            more[r] = 0.0
    for i in range(first, last):
        mu = 0.0
        for l in range(last - first):
            mu -= inverse[i, l] * excess[first + l]
        impulse[row[i]] = mu
        for term in range(terms[row[i]], terms[row[i] + 1]):
            if body[term] >= fixed:
                for l in range(6):
                    push[body[term], l] += J[term, l] * mu
    solve_mechanism(j, k, push, more)
    for at in range(start[k], start[k + 1]):
        for l in range(6):
            v[tree_body[at], l] += push[tree_body[at], l]
        for r in range(tree_first[at], tree_stop[at]):
            impulse[r] += more[r]
    spare = real_rows(j, ja.SPARE)
    for m in range(first, first + loops[k, ja.LOOP_SPARE]):
        s = 0.0
        for r in range(impulse.shape[0]):
            s += spare[m, r] * impulse[r]
        for r in range(impulse.shape[0]):
            impulse[r] -= s * spare[m, r]
