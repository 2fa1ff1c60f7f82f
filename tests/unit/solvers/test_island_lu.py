"""The table of an island and its LU factors against dense linear algebra."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.solvers.island_kernels import connect_island
from signorini.solvers.island_lu import _assemble, factor, order_nodes, substitute
from signorini.solvers.island_robust import claim_vectors, prepare
from signorini.solvers.island_table import COLUMN, ISLAND_ROWS, KNOWN, PLACE, POOL, START, B, open_island

pytestmark = pytest.mark.kernels

GUARD = 64  # numbers behind the pool that nobody may write
CAPACITY = 400_000
AMPLE = 10**9  # operations: no limit


class Given(NamedTuple):
    """What :func:`open_island` takes: contact c has 3x3 blocks from start[c] on, two rows of y for each node."""

    start: IntArray
    block: IntArray
    blocks: Array
    load: Array
    mu: Array
    rho: Array
    compliance: Array
    nodes: int


class Table:
    """A table with its pool. Nothing in the pool is a number at first, and behind it are others that must stay."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.memory = np.full(capacity + GUARD, np.nan)
        self.memory[capacity:] = np.arange(GUARD)
        self.capacity = capacity
        self.w = np.zeros((ISLAND_ROWS, 4), dtype=np.int64)
        self.w[POOL, :2] = self.memory.ctypes.data, capacity
        connect_island(self.w, resisting=True)

    def _part(self, row: int) -> Array:
        shape = [n for n in self.w[row, 1:].tolist() if n]
        begin = int(self.w[row, 0] - self.w[POOL, 0]) // 8
        return self.memory[begin : begin + int(np.prod(shape))].reshape(shape)

    def reals(self, row: int) -> Array:
        """Return an array of the table; changes are seen by the kernels."""
        return self._part(row)

    def wholes(self, row: int) -> IntArray:
        """Return an array of integers."""
        return self._part(row).view(np.int64)

    def guard_stands(self) -> bool:
        return bool((self.memory[self.capacity :] == np.arange(GUARD)).all())


@kernel
def opened(w: Any, given: Any) -> float:
    return open_island(w, *given)


@kernel
def ordered(w: Any, most: int) -> int:
    return order_nodes(w, most)


@kernel
def has_vectors(w: Any) -> bool:
    return claim_vectors(w)


@kernel
def prepared(w: Any, arguments: Any) -> int:
    return prepare(w, *arguments)


@kernel
def set_matrix(w: Any, S: Any, weight: float) -> None:
    _assemble(w, S, weight)


@kernel
def solved(w: Any, S: Any, weight: float, y: Any) -> bool:
    if not factor(w, S, weight):
        return False
    substitute(w, y)
    return True


# --- problems ----------------------------------------------------------------


def given_by(touches: list[list[int]], nodes: int, seed: int = 0) -> Given:
    """Return random numbers for contacts that touch these nodes; about a fifth of them are without friction."""
    rng, n_c = np.random.default_rng(seed), len(touches)
    start = np.cumsum([0] + [2 * len(touched) for touched in touches])
    block = np.array([2 * x + k for touched in touches for x in touched for k in (0, 1)], dtype=np.int64)
    mu = np.where(rng.random(n_c) < 0.2, 0.0, rng.uniform(0.1, 1.0, n_c))
    blocks, load = rng.normal(size=(block.size, 3, 3)), rng.normal(size=(n_c, 3))
    return Given(start, block, blocks, load, mu, rng.uniform(0.1, 10.0, n_c), np.zeros((n_c, 3)), nodes)


def random_touches(nodes: int, contacts: int, seed: int) -> list[list[int]]:
    """Return which nodes contacts touch: one, two or more; one contact comes back to a node after another.

    A fifth of the nodes is touched by nobody.
    """
    rng = np.random.default_rng(seed)
    used = rng.permutation(nodes)[: max(1, (4 * nodes) // 5)]
    touches = []
    for _ in range(contacts):
        count = min(int(rng.choice([1, 2, 2, 2, 3, 4])), used.size)
        touches.append([int(x) for x in rng.choice(used, count, replace=False)])
    if used.size > 1:
        touches.append([int(used[0]), int(used[1]), int(used[0])])
    return touches


def equilibrated(given: Given) -> Array:
    """Return the equilibrated G, (3 n_c, 6 n), in the numbers of nodes as given."""
    G = np.zeros((given.mu.size, 3, 2 * given.nodes, 3))
    for c, (first, last) in enumerate(pairwise(given.start)):
        for k in range(first, last):
            G[c, :, given.block[k]] += np.sqrt(given.rho[c]) * given.blocks[k]
    G[given.mu == 0.0, 1:] = 0.0
    return G.reshape(3 * given.mu.size, 6 * given.nodes)


def monotone(n_c: int, seed: int, skew: float) -> Array:
    """Return random S, (n_c, 3, 3), positive definite with an unsymmetric part; some contacts have none."""
    rng = np.random.default_rng(seed)
    A, X = rng.normal(size=(2, n_c, 3, 3))
    S: Array = A @ A.transpose(0, 2, 1) + 0.1 * np.eye(3) + skew * (X - X.transpose(0, 2, 1))
    S[::7] = 0.0
    return S


def dense_matrix(given: Given, S: Array, weight: float) -> Array:
    """Return ``weight I + G^T S G``."""
    G = equilibrated(given)
    SG = np.einsum("cij,cjk->cik", S, G.reshape(-1, 3, G.shape[1])).reshape(G.shape)
    return np.asarray(weight * np.eye(G.shape[1]) + G.T @ SG)


def stored_matrix(table: Table, nodes: int) -> Array:
    """Return the assembled matrix in the numbers of nodes as given, zero where nothing is stored."""
    start, column, place, b = table.wholes(START), table.wholes(COLUMN), table.wholes(PLACE), table.reals(B)
    A = np.zeros((nodes, nodes, 6, 6))
    for k in range(nodes):
        A[k, k] = b[k, :, :6]
        for t in range(start[k], start[k + 1]):
            A[k, column[t]], A[column[t], k] = b[nodes + 2 * t, :, :6], b[nodes + 2 * t + 1, :, :6]
    return A[np.ix_(place, place)].transpose(0, 2, 1, 3).reshape(6 * nodes, 6 * nodes)


def open_table(given: Given) -> tuple[Table, int]:
    """Return a table with an ordered island, and the operations of a factorisation."""
    table = Table()
    assert opened(table.w, tuple(given)) > 0.0
    return table, ordered(table.w, AMPLE)


def in_order(table: Table, y: Array) -> Array:
    """Return y, (n, 6), as the factors number the nodes."""
    out = np.zeros_like(y)
    out[table.wholes(PLACE)] = y
    return out


# --- numbers -----------------------------------------------------------------

SIZES = [(1, 1), (1, 4), (2, 3), (3, 2), (7, 9), (20, 12), (20, 40), (40, 60), (40, 25)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("skew", [0.0, 2.0])
@pytest.mark.parametrize(("nodes", "contacts"), SIZES)
def test_matrix_and_solution(nodes: int, contacts: int, skew: float, seed: int) -> None:
    """``weight I + G^T S G`` block by block, and its solutions, to rounding."""
    given = given_by(random_touches(nodes, contacts, seed), nodes, seed)
    table, operations = open_table(given)
    assert operations >= nodes
    S, weight = monotone(given.mu.size, seed, skew), 0.7
    set_matrix(table.w, S, weight)
    A = dense_matrix(given, S, weight)
    np.testing.assert_allclose(stored_matrix(table, nodes), A, rtol=0, atol=1e-13 * np.abs(A).max())
    y = np.random.default_rng(seed).normal(size=(nodes, 6))
    x = in_order(table, y)
    assert solved(table.w, S, weight, x)
    expected = np.linalg.solve(A, y.reshape(-1)).reshape(nodes, 6)
    # Without exchange of rows, errors grow somewhat; the condition of these matrices is up to 1e4.
    np.testing.assert_allclose(x[table.wholes(PLACE)], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    assert table.guard_stands()


@pytest.mark.parametrize("seed", range(3))
def test_products_of_blocks(seed: int) -> None:
    """With S = I and no weight, ``G^T G``, in which who do not touch have no block."""
    given = given_by(random_touches(12, 15, seed), 12, seed)
    table, _ = open_table(given)
    set_matrix(table.w, np.tile(np.eye(3), (given.mu.size, 1, 1)), 0.0)
    G = equilibrated(given)
    np.testing.assert_allclose(stored_matrix(table, 12), G.T @ G, rtol=0, atol=1e-13 * np.abs(G.T @ G).max())


def test_order_is_a_permutation_of_all_nodes() -> None:
    given = given_by(random_touches(40, 30, 3), 40)
    table, _ = open_table(given)
    assert sorted(table.wholes(PLACE)) == list(range(40))


@pytest.mark.parametrize("nodes", [50, 130])
def test_chain_has_no_fill(nodes: int) -> None:
    """A chain, numbered at random, is eliminated from its ends: with m = 1, m (m + 1) updates; 130 take three words."""
    order = np.random.default_rng(2).permutation(nodes)
    touches = [[int(a), int(b)] for a, b in pairwise(order)]
    table, operations = open_table(given_by(touches, nodes))
    assert operations == 2 * (nodes - 1) + nodes
    assert table.w[COLUMN, 1] == nodes - 1
    S = monotone(nodes - 1, 0, 0.0)
    set_matrix(table.w, S, 1.0)
    A = dense_matrix(given_by(touches, nodes), S, 1.0)
    np.testing.assert_allclose(stored_matrix(table, nodes), A, rtol=0, atol=1e-13 * np.abs(A).max())


def test_star_is_eliminated_from_outside() -> None:
    """Eliminated first, the middle would join all others, and 20 nodes take 2660 updates."""
    table, operations = open_table(given_by([[0, k] for k in range(1, 20)], 20))
    assert operations == 2 * 19 + 20
    # The middle and the last of the others meet each other alone: whichever comes first.
    assert table.wholes(PLACE)[0] >= 18


def test_full_pattern_counts_its_operations() -> None:
    """Where all nodes meet, step k updates (n - 1 - k)(n - k) blocks; n inverses are added."""
    _, operations = open_table(given_by([list(range(6))], 6))
    assert operations == sum(m * (m + 1) for m in range(6)) + 6


def test_scale_and_load() -> None:
    """The scale of velocities is the greatest ``d |b|``; without friction the tangential load does not count."""
    given = given_by([[0], [0, 1]], 2)._replace(
        load=np.array([[-1.0, 0.0, 2.0], [0.5, -90.0, 0.0]]), mu=np.array([0.3, 0.0]), rho=np.array([4.0, 9.0])
    )
    assert opened(Table().w, tuple(given)) == pytest.approx(2.0 * 2.0)
    still = given._replace(load=np.zeros((2, 3)))
    assert opened(Table().w, tuple(still)) == 1.0


# --- memory of the pattern ---------------------------------------------------


def solution_bits(table: Table, given: Given) -> bytes:
    y = in_order(table, np.random.default_rng(0).normal(size=(given.nodes, 6)))
    assert solved(table.w, monotone(given.mu.size, 5, 1.0), 1.0, y)
    return y.tobytes()


def test_same_pairs_find_their_order_again() -> None:
    """Other numbers, the same pairs: the order is known before it is asked for; bits are those of a new table."""
    touches = random_touches(20, 30, 0)
    table, operations = open_table(given_by(touches, 20, seed=1))
    place = table.wholes(PLACE).copy()
    other = given_by(touches, 20, seed=2)
    assert opened(table.w, tuple(other)) > 0.0
    assert table.w[KNOWN, 0] == operations
    assert ordered(table.w, AMPLE) == operations
    np.testing.assert_array_equal(table.wholes(PLACE), place)
    new, _ = open_table(other)
    assert solution_bits(table, other) == solution_bits(new, other)
    assert table.w[POOL, 2] == new.w[POOL, 2]


def test_other_pairs_do_not() -> None:
    """As many contacts, blocks and nodes, one of the pairs exchanged."""
    table, _ = open_table(given_by([[0, 1], [1, 2], [2, 3]], 4))
    other = given_by([[0, 1], [0, 2], [2, 3]], 4)
    assert opened(table.w, tuple(other)) > 0.0
    assert table.w[KNOWN, 0] == 0
    assert ordered(table.w, AMPLE) > 0
    assert solution_bits(table, other) == solution_bits(open_table(other)[0], other)


@pytest.mark.parametrize(
    ("touches", "nodes"),
    [
        ([[0, 1], [1, 2]], 4),  # a contact less
        ([[0, 1], [1, 2], [2, 3]], 5),  # a node more
        ([[0, 1], [1, 2, 3], [2]], 4),  # a block moved from one contact to another
        ([[0, 1], [1, 2, 0], [2, 3]], 4),  # a block more
    ],
)
def test_other_counts_do_not(touches: list[list[int]], nodes: int) -> None:
    table, _ = open_table(given_by([[0, 1], [1, 2], [2, 3]], 4))
    other = given_by(touches, nodes)
    opened(table.w, tuple(other))
    assert table.w[KNOWN, 0] == 0
    assert ordered(table.w, AMPLE) > 0
    assert solution_bits(table, other) == solution_bits(open_table(other)[0], other)


def test_islands_in_turn_do_not_disturb_each_other() -> None:
    first, second = given_by(random_touches(15, 20, 0), 15), given_by(random_touches(9, 30, 1), 9)
    table, _ = open_table(first)
    expected = solution_bits(table, first)
    for given in (second, first, first, second, first):
        opened(table.w, tuple(given))
        assert ordered(table.w, AMPLE) > 0
        bits = solution_bits(table, given)
        assert given is second or bits == expected


# --- what does not work ------------------------------------------------------


def test_too_small_a_pool_is_told_and_not_exceeded() -> None:
    """From no room at all to one number less than it takes; with that number, all is done."""
    given = given_by(random_touches(10, 12, 0), 10)
    whole = Table()
    opened(whole.w, tuple(given))
    ordered(whole.w, AMPLE)
    assert has_vectors(whole.w)
    needed = int(whole.w[POOL, 2])
    told = set()
    for capacity in (*range(0, needed, 97), needed - 1):
        table = Table(capacity)
        if opened(table.w, tuple(given)) == 0.0:
            told.add("opened")
        elif ordered(table.w, AMPLE) == -1:
            told.add("ordered")
        else:
            assert not has_vectors(table.w)
            told.add("vectors")
        assert table.guard_stands()
        assert prepared(table.w, (*given, AMPLE, np.zeros(1))) == -1
    assert told == {"opened", "ordered", "vectors"}
    table = Table(needed)
    assert opened(table.w, tuple(given)) > 0.0
    assert ordered(table.w, AMPLE) > 0
    assert has_vectors(table.w)
    assert solution_bits(table, given) == solution_bits(whole, given)
    assert table.guard_stands()


def test_every_size_of_a_small_pool() -> None:
    """One contact of two nodes, room for the order but not for all that follows: each number of the pool matters."""
    given = given_by([[0, 1], [1, 2]], 3)
    whole = Table()
    opened(whole.w, tuple(given))
    begin = int(whole.w[POOL, 2])
    ordered(whole.w, AMPLE)
    for capacity in range(begin, int(whole.w[POOL, 2])):
        table = Table(capacity)
        assert opened(table.w, tuple(given)) > 0.0
        assert ordered(table.w, AMPLE) == -1
        assert table.guard_stands()


def test_pool_that_grew_serves() -> None:
    """After a failure nothing is believed to be known."""
    given = given_by(random_touches(10, 12, 0), 10)
    table = Table()
    for capacity in (1500, CAPACITY):
        table.w[POOL, 1] = capacity
        opened(table.w, tuple(given))
        answer = ordered(table.w, AMPLE)
        assert (answer > 0) == (capacity == CAPACITY)
    assert solution_bits(table, given) == solution_bits(open_table(given)[0], given)


def test_dear_island_is_refused() -> None:
    """More operations than allowed: 0, whether the order is known or not."""
    given = given_by(random_touches(30, 60, 0), 30)
    table, operations = open_table(given)
    for most, expected in ((operations, operations), (operations - 31, 0), (1, 0)):
        for known in (table, Table()):
            assert opened(known.w, tuple(given)) > 0.0
            assert ordered(known.w, most) == expected
            assert prepared(known.w, (*given, most, np.zeros(1))) == expected


def test_singular_matrix() -> None:
    """No weight, and a node that nobody touches, or contacts that do not resist its rotation."""
    S = np.eye(3).reshape(1, 3, 3)
    table, _ = open_table(given_by([[0, 1]], 3))
    assert not solved(table.w, S, 0.0, np.ones((3, 6)))
    ball = given_by([[0]], 1)
    table, _ = open_table(ball._replace(blocks=np.array([np.eye(3), np.zeros((3, 3))])))
    assert not solved(table.w, S, 0.0, np.ones((1, 6)))
    assert solved(table.w, S, 1.0, np.ones((1, 6)))


def test_what_is_no_number_is_singular() -> None:
    table, _ = open_table(given_by([[0, 1]], 2))
    assert not solved(table.w, np.full((1, 3, 3), np.nan), 1.0, np.ones((2, 6)))
