"""The compiled step, joints: of the impulses of rows that depend on each other the smallest are taken.

An impulse of dependent loop rows and the answer of the trees together move nothing. Combinations of such idle impulses
that exert no force at all are left out, as in :mod:`signorini.dynamics.joints`.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.dynamics.constants import DEPENDENT, FORCELESS
from signorini.engine.arrays import COUNTS, FIXED, JOINTS
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.loops import eigenvectors
from signorini.engine.joints.trees import solve_mechanism


@inner_kernel
def _dot(a: Array, b: Array) -> float:
    s = 0.0
    for r in range(a.shape[0]):
        s += a[r] * b[r]
    return s


@inner_kernel
def _push_rows(t: IntArray, j: IntArray, k: int, impulse: Array) -> None:
    """Set ``LOOP_PUSH`` to the forces of impulses of all rows on the bodies of mechanism `k`."""
    terms, body, J, push, fixed = (
        wholes(j, ja.ROW_TERMS),
        wholes(j, ja.ROW_BODY),
        real_rows(j, ja.JACOBIAN),
        real_rows(j, ja.LOOP_PUSH),
        wholes(t, COUNTS)[FIXED],
    )
    start, tree_body = wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_BODY)
    for at in range(start[k], start[k + 1]):
        for l in range(6):
            push[tree_body[at], l] = 0.0
    for r in range(impulse.shape[0]):
        for term in range(terms[r], terms[r + 1]):
            if body[term] >= fixed and impulse[r] != 0.0:
                for l in range(6):
                    push[body[term], l] += J[term, l] * impulse[r]


@inner_kernel
def _idle(t: IntArray, j: IntArray, k: int, m: int, out: Array) -> None:
    """Write the impulses of all rows that go with dependent combination `m` of the loop rows of mechanism `k`."""
    loops, row, scale, V = (
        whole_rows(j, ja.LOOPS),
        wholes(j, ja.LOOP_ROW),
        reals(j, ja.LOOP_SCALE),
        real_blocks(j, ja.EIGEN)[1],
    )
    first, more = loops[k, ja.LOOP_FIRST], reals(j, ja.LOOP_REACTION)
    start, tree_first, tree_stop = wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_FIRST), wholes(j, ja.TREE_STOP)
    for r in range(out.shape[0]):
        out[r] = 0.0
    for i in range(first, loops[k, ja.LOOP_STOP]):
        out[row[i]] = scale[i] * V[i - first, m]
    _push_rows(t, j, k, out)
    for at in range(start[k], start[k + 1]):
        for r in range(tree_first[at], tree_stop[at]):
            more[r] = 0.0
    solve_mechanism(j, k, real_rows(j, ja.LOOP_PUSH), more)
    for at in range(start[k], start[k + 1]):
        for r in range(tree_first[at], tree_stop[at]):
            out[r] = more[r]


@inner_kernel
def _list_idle(t: IntArray, j: IntArray, k: int) -> int:
    """Write orthonormal impulses of mechanism `k` that move nothing; return how many."""
    loops, A, spare = whole_rows(j, ja.LOOPS), real_blocks(j, ja.EIGEN)[0], real_rows(j, ja.SPARE)
    first, count = loops[k, ja.LOOP_FIRST], 0
    for m in range(loops[k, ja.LOOP_STOP] - first):
        if A[m, m] > DEPENDENT:
            continue
        x = spare[first + count]
        _idle(t, j, k, m, x)
        for _ in range(2):  # once more for what rounding left
            for i in range(count):
                s = _dot(spare[first + i], x)
                for r in range(x.shape[0]):
                    x[r] -= s * spare[first + i, r]
        size = math.sqrt(_dot(x, x))
        if size > 0.0:
            for r in range(x.shape[0]):
                x[r] /= size
            count += 1
    return count


@inner_kernel
def find_spare(t: IntArray, k: int) -> None:
    """Find the impulses of mechanism `k` that can be left out without a trace; S of its loops is diagonalised."""
    j = whole_rows(t, JOINTS)
    loops, spare, push = whole_rows(j, ja.LOOPS), real_rows(j, ja.SPARE), real_rows(j, ja.LOOP_PUSH)
    force, small, mixed = real_rows(j, ja.SPARE_FORCE), real_blocks(j, ja.SPARE_GRAM), real_rows(j, ja.SPARE_MIXED)
    start, tree_body = wholes(j, ja.MECHANISM_START), wholes(j, ja.TREE_BODY)
    first, count, G, V = loops[k, ja.LOOP_FIRST], _list_idle(t, j, k), small[0], small[1]
    for i in range(count):
        _push_rows(t, j, k, spare[first + i])
        for at in range(start[k], start[k + 1]):
            for l in range(6):
                force[i, 6 * (at - start[k]) + l] = push[tree_body[at], l]
        for m in range(i + 1):
            s = 0.0
            for l in range(6 * (start[k + 1] - start[k])):
                s += force[i, l] * force[m, l]
            G[i, m] = s
            G[m, i] = s
    eigenvectors(G, V, count)
    kept = 0
    for m in range(count):
        if G[m, m] > FORCELESS**2:
            continue
        for r in range(spare.shape[1]):
            s = 0.0
            for i in range(count):
                s += V[i, m] * spare[first + i, r]
            mixed[kept, r] = s
        kept += 1
    for m in range(kept):
        for r in range(spare.shape[1]):
            spare[first + m, r] = mixed[m, r]
    loops[k, ja.LOOP_SPARE] = kept
