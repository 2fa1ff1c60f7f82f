"""The compiled step, joints: rows evaluated, trees factored and solved, all arrays found in the table `j` of joints."""

from __future__ import annotations

from typing import TypeAlias

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, perform, real_blocks, real_rows, reals, wholes
from signorini.dynamics.bodies import world_inertia
from signorini.dynamics.joint_rows import fill_rows
from signorini.dynamics.joint_tree import factor, solve_tree
from signorini.engine.arrays import BY_FUNCTIONS, FREE, INERTIA, MASS, Q
from signorini.engine.joints import arrays as ja

Rows: TypeAlias = tuple[IntArray, IntArray, Array]
"""Where the terms of each row begin, their bodies, and what they multiply: found once, read in every row."""


@inner_kernel
def held_rows(j: IntArray) -> Rows:
    """Return the bilateral rows as the step has them."""
    return wholes(j, ja.ROW_TERMS), wholes(j, ja.ROW_BODY), real_rows(j, ja.JACOBIAN)


@inner_kernel
def gauge_rows(j: IntArray) -> Rows:
    """Return those of coordinates and inequalities."""
    return wholes(j, ja.GAUGE_TERMS), wholes(j, ja.GAUGE_BODY), real_rows(j, ja.GAUGE_JACOBIAN)


@inner_kernel
def row_speed(rows: Rows, r: int, v: Array, least: int) -> float:
    """Return ``J v`` of row `r` over the bodies numbered from `least` on."""
    terms, body, J = rows
    s = 0.0
    for term in range(terms[r], terms[r + 1]):
        if body[term] >= least:
            for l in range(6):
                s += J[term, l] * v[body[term], l]
    return s


@inner_kernel
def evaluate_rows(t: IntArray, j: IntArray, rows: int, body: IntArray, J: Array, psi: Array, asked: int) -> None:
    """Fill `body`, `J` and `psi` of the rows in the columns from `rows` on, ``ROW_JOINT`` or ``GAUGE_JOINT``.

    Angles are taken on the turn next to those in ``COORDINATE``. Rows by users' functions follow, for which Python is
    `asked`, with their rates where these are those of the step.
    """
    fill_rows(
        wholes(j, ja.BODY_A),
        wholes(j, ja.BODY_B),
        real_rows(j, ja.ANCHOR_A),
        real_rows(j, ja.ANCHOR_B),
        real_rows(j, ja.FRAME_A),
        real_rows(j, ja.FRAME_B),
        reals(j, ja.PARAMETER),
        wholes(j, ja.PLANAR),
        wholes(j, rows),
        wholes(j, rows + 1),
        wholes(j, rows + 2),
        wholes(j, rows + 3),
        real_rows(t, Q),
        reals(j, ja.COORDINATE),
        body,
        J,
        psi,
    )
    if t[BY_FUNCTIONS, 0] != 0:
        perform(t[BY_FUNCTIONS, 0], (asked,))


@inner_kernel
def factor_trees(t: IntArray, j: IntArray) -> None:
    """Factor the trees."""
    M, mass, inertia, free = real_blocks(j, ja.INERTIAS), reals(t, MASS), real_blocks(t, INERTIA), real_rows(t, FREE)
    q, tree_body, small, ready = real_rows(t, Q), wholes(j, ja.TREE_BODY), real_rows(j, ja.SMALL), wholes(j, ja.READY)
    for at in range(tree_body.shape[0]):
        b = tree_body[at]
        world_inertia(inertia[b], free[b], q[b], small)
        for i in range(3):
            M[b, i, i] = mass[b]
            for k in range(3):
                M[b, 3 + i, 3 + k] = small[i, k]
        ready[at] = 0
    factor(
        tree_body,
        wholes(j, ja.TREE_PARENT),
        wholes(j, ja.TREE_FIRST),
        wholes(j, ja.TREE_STOP),
        wholes(j, ja.ROW_BODY),
        real_rows(j, ja.JACOBIAN),
        reals(j, ja.SOFT_ROW),
        M,
        real_blocks(j, ja.CHOLESKY),
        real_blocks(j, ja.JOINT_ROWS),
        real_blocks(j, ja.SCHUR),
        real_blocks(j, ja.PASSED),
    )


@inner_kernel
def solve_mechanism(j: IntArray, k: int, v: Array, impulse: Array) -> None:
    """Solve the trees of mechanism `k`, its loops left open; in place, as :func:`.solve_tree` does."""
    start = wholes(j, ja.MECHANISM_START)
    solve_tree(
        start[k],
        start[k + 1],
        wholes(j, ja.TREE_BODY),
        wholes(j, ja.TREE_PARENT),
        wholes(j, ja.TREE_FIRST),
        wholes(j, ja.TREE_STOP),
        real_blocks(j, ja.CHOLESKY),
        real_blocks(j, ja.JOINT_ROWS),
        real_blocks(j, ja.SCHUR),
        real_blocks(j, ja.PASSED),
        v,
        impulse,
    )
