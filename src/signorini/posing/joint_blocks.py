"""Contacts and the scalar laws of joints in the blocks of one friction problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import sparse
from signorini.dynamics import JointSystem, Rows, stacked
from signorini.dynamics.joint_faults import row_at
from signorini.model import Contacts, Model
from signorini.posing.constants import DENSE_ROWS, HELD_SPEED
from signorini.posing.joint_space import JointSpace, LawKind, RowLaws
from signorini.problems import FrictionProblem


def contact_rows(contacts: Contacts, J_a: Array, J_b: Array) -> Rows:
    """Return the rows of contacts, dim for each, as scalar rows."""
    n_c, dim = J_a.shape[:2]
    n = n_c * dim
    body = np.repeat(np.stack([contacts.body_a, contacts.body_b], axis=1), dim, axis=0).reshape(-1)
    J = np.stack([J_a.reshape(n, 6), J_b.reshape(n, 6)], axis=1).reshape(-1, 6)
    return Rows(2 * np.arange(n + 1, dtype=np.int64), body, np.ascontiguousarray(J), np.zeros(n), np.zeros(n))


def joined_map(space: JointSpace, contacts: Rows, dim: int, rotation: float, h: float) -> tuple[Any, Array, Array]:
    """Return W, b (n, dim) and mu (n_l,) of contacts and laws together, blocks of `dim` rows.

    `contacts` are the scalar rows of the contacts; blocks of laws follow them. Friction and motors lie along the first
    direction of the friction polygon, at the angle `rotation` from the tangent t. `b` has no gaps in it except those
    of the laws.
    """
    every = stacked([contacts, space.laws.rows])
    dense = every.row_count <= DENSE_ROWS
    full = space.system.mobility(every) if dense else _sparse_mobility(space.system, every)
    speed = _rounded(every.velocity(_moving(space)) + every.rate, np.asarray(full.diagonal())) + every.psi / h
    return law_blocks(space.laws, full, speed, dim, rotation)


def law_blocks(laws: RowLaws, full: Any, speed: Array, dim: int, rotation: float) -> tuple[Any, Array, Array]:
    """Return W, b (n, dim) and mu (n_l,) in blocks, from the mobility of the scalar rows and their speeds.

    The rows of contacts come first, `dim` for each, then one for each law, whose speeds have their gaps in them.
    """
    before = speed.size - laws.count
    n_c = before // dim
    row, source, weight = _places(laws, before, dim, rotation)
    size = dim * (n_c + laws.count)
    W: Any
    if isinstance(full, np.ndarray):
        W = np.zeros((size, size))
        W[np.ix_(row, row)] = full[np.ix_(source, source)] * np.outer(weight, weight)
    else:
        into = sparse.csr_array((weight, (row, source)), shape=(size, speed.size))
        W = into @ full @ into.T
    a = np.asarray(full.diagonal())[before:]
    a = np.where(a > 0.0, a, 1.0)
    i, j, idle = _idle(laws, a, before, dim, rotation)
    if isinstance(full, np.ndarray):
        W[i, j] += idle
    else:
        W = W + sparse.csr_array((idle, (i, j)), shape=W.shape)
    flat = np.zeros(size)
    flat[row] = speed[source] * weight
    b = flat.reshape(-1, dim)
    limit = laws.kind == LawKind.LIMIT
    b[n_c:, 0] = np.where(limit, b[n_c:, 0], -a * laws.bound)  # 0 <= p_n, a (p_n - bound) >= 0
    return W, b, np.where(limit, 0.0, 1.0)


def blocked(problem: FrictionProblem, tolerance: float) -> IntArray:
    """Return the blocks that close although no impulse can move their normals: the problem has no solution."""
    normal = problem.load[:, 0]
    closing = normal < -tolerance * np.abs(problem.load).max(initial=0.0)
    return np.flatnonzero(closing & (problem.blocks[:, 0, 0] == 0.0))


def blocked_row(model: Model, laws: RowLaws, contacts: Contacts, block: int) -> int:
    """Return the row of a joint that a block stands against, see :func:`~signorini.dynamics.joint_faults.row_words`."""
    n_c = contacts.contact_count
    if block < n_c:
        return row_at(model, (int(contacts.body_a[block]), int(contacts.body_b[block])))
    joints = model.joints
    g = int(laws.joint[block - n_c])
    if g < 0:
        return joints.row_count + 2 * joints.coordinates.joint.size
    side = int((-1 - laws.feature[block - n_c]) % 4)
    return joints.row_count + 2 * int(joints.coordinate_of[g]) + side


def block_rows(space: JointSpace | None, contacts: Rows, dim: int, rotation: float, body_count: int) -> Array:
    """Return the rows of contacts and laws in blocks of `dim`, as a matrix (n dim, 6 n_b)."""
    if space is None:
        return contacts.dense(body_count)
    every = stacked([contacts, space.laws.rows]).dense(body_count)
    row, source, weight = _places(space.laws, contacts.row_count, dim, rotation)
    blocks = np.zeros((contacts.row_count + dim * space.laws.count, every.shape[1]))
    blocks[row] = every[source] * weight[:, None]
    return blocks


def idle_matrix(space: JointSpace | None, diagonal: Array, before: int, dim: int, rotation: float) -> Array:
    """Return the part of W, of given diagonal, that belongs to no motion of bodies (n dim, n dim)."""
    W = np.zeros((diagonal.size, diagonal.size))
    if space is not None:
        # The first entry of every block is the mobility of its law.
        a = diagonal[before + dim * np.arange(space.laws.count)]
        i, j, idle = _idle(space.laws, a, before, dim, rotation)
        W[i, j] += idle
    return W


def law_impulses(laws: RowLaws, p: Array, rotation: float) -> Array:
    """Return the scalar impulses of the laws from their blocks, (n_l, dim) -> (n_l,)."""
    along = p[:, 1] if p.shape[1] == 2 else np.cos(rotation) * p[:, 1] + np.sin(rotation) * p[:, 2]
    return np.where(laws.kind == LawKind.LIMIT, p[:, 0], along)


def _places(laws: RowLaws, before: int, dim: int, rotation: float) -> tuple[IntArray, IntArray, Array]:
    """Return for every entry its row in the blocks, its scalar row and its weight; `before` rows are contacts'."""
    one = np.arange(before)
    k = np.arange(laws.count)
    limit = laws.kind == LawKind.LIMIT
    first = before + dim * k
    row, source, weight = [one, first + ~limit], [one, before + k], [np.ones(before), np.ones(laws.count)]
    if dim >= 3 and rotation != 0.0:
        weight[1] = np.where(limit, 1.0, np.cos(rotation))
        row.append(first[~limit] + 2)
        source.append(before + k[~limit])
        weight.append(np.full(int((~limit).sum()), np.sin(rotation)))
    return np.concatenate(row), np.concatenate(source), np.concatenate(weight)


def _idle(laws: RowLaws, a: Array, before: int, dim: int, rotation: float) -> tuple[IntArray, IntArray, Array]:
    """Return rows, columns and values of the directions of a law's block along which nothing happens.

    They get the mobility `a` (n_l,) of the law itself, coupled to nothing: the normal of friction, whose impulse is
    known, and all tangents but the one along the row. So every block is regular, and idle impulses are zero.
    """
    first = before + dim * np.arange(laws.count)
    limit = laws.kind == LawKind.LIMIT
    rows, columns, values = [first[~limit]], [first[~limit]], [a[~limit]]
    for k in range(1, dim):
        rows.append(first[limit] + k)
        columns.append(first[limit] + k)
        values.append(a[limit])
    for k in range(3, dim):
        rows.append(first[~limit] + k)
        columns.append(first[~limit] + k)
        values.append(a[~limit])
    if dim >= 3:
        across = (-np.sin(rotation), np.cos(rotation))
        for k in range(2):
            for l in range(2):
                rows.append(first[~limit] + 1 + k)
                columns.append(first[~limit] + 1 + l)
                values.append(a[~limit] * across[k] * across[l])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def _rounded(speed: Array, mobility: Array) -> Array:
    """Return the speeds of rows, zero where joints let nothing move and only rounding is left."""
    return np.where((mobility == 0.0) & (np.abs(speed) <= HELD_SPEED * np.abs(speed).max(initial=0.0)), 0.0, speed)


def _moving(space: JointSpace) -> Array:
    """Return the velocities with prescribed bodies at rest: their motion is part of the rates."""
    v = space.velocity.copy()
    v[: space.system.model.fixed_count] = 0.0
    return v


def _sparse_mobility(system: JointSystem, rows: Rows) -> Any:
    """Return ``H A11 H^T`` as a sparse matrix: dense only among rows on joined bodies."""
    n_b = system.model.body_count
    of_body = system.model.joints.tree.of_body
    owner = np.repeat(np.arange(rows.row_count), np.diff(rows.start))
    joined = (rows.body >= 0) & (of_body[rows.body] >= 0)
    alone = (rows.body >= 0) & ~joined

    def columns(chosen: Any) -> Any:
        index = 6 * rows.body[chosen][:, None] + np.arange(6)
        at = np.repeat(owner[chosen], 6)
        return sparse.csr_array((rows.J[chosen].reshape(-1), (at, index.reshape(-1))), shape=(rows.row_count, 6 * n_b))

    H = columns(alone)
    blocks = sparse.bsr_array((system.M_inv, np.arange(n_b), np.arange(n_b + 1)), shape=(6 * n_b, 6 * n_b))
    W = H @ blocks @ H.T
    touching = np.unique(owner[joined])
    if touching.size == 0:
        return W
    count = np.array([np.count_nonzero(joined[rows.start[r] : rows.start[r + 1]]) for r in touching])
    kept = np.concatenate([np.arange(rows.start[r], rows.start[r + 1]) for r in touching])
    kept = kept[joined[kept]]
    part = Rows(
        np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
        rows.body[kept],
        np.ascontiguousarray(rows.J[kept]),
        np.zeros(touching.size),
        np.zeros(touching.size),
    )
    block = system.mobility(part)
    i, j = np.repeat(touching, touching.size), np.tile(touching, touching.size)
    return sparse.csr_array(W + sparse.csr_array((block.reshape(-1), (i, j)), shape=W.shape))
