"""Excerpts of problems that are solved by themselves: who belongs to them, and that their velocities are the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from signorini._jit import kernel
from signorini.problems import FrictionProblem
from signorini.solvers.nsgs import Sweeper
from signorini.solvers.nsgs_excerpt import copy_contacts, mark_rows, pick_contacts
from signorini.solvers.nsgs_kernels import Swept, local_data, spread

N = 15  # contacts
WRONG = 7  # the contact whose impulse is wrong


class Chain(NamedTuple):
    """Bodies of three directions in a row, a contact between each two neighbours, and impulses that solve it."""

    start: Any
    index: Any
    gather: Any
    problem: FrictionProblem
    p: Any


@pytest.fixture(scope="module")
def chain() -> Chain:
    rng = np.random.default_rng(5)
    gather = rng.normal(size=(2 * N, 3, 3))
    start, index = np.arange(0, 2 * N + 1, 2), np.repeat(np.arange(N + 1), 2)[1:-1].copy()
    G = np.zeros((3 * N, 3 * (N + 1)))
    for k, row in enumerate(index):
        G[3 * (k // 2) : 3 * (k // 2) + 3, 3 * row : 3 * row + 3] = gather[k]
    b = rng.normal(size=(N, 3))
    b[:, 0] = -1.0 - abs(b[:, 0])  # all contacts close
    problem = FrictionProblem(G @ G.T, b.ravel(), np.full(N, 0.5))
    p = np.zeros((N, 3))
    _, residual = Sweeper(problem).run(p, 1e-13, 20000, 20000, 0.1, 5)
    assert residual < 1e-12
    assert p[WRONG, 0] > 0.0
    return Chain(start, index, gather, problem, p)


def swept(start: Any, index: Any, gather: Any, **more: Any) -> Swept:
    """Return a problem with a symmetric W."""
    return Swept(start, index, gather, start, index, gather, **more)


def whole_of(chain: Chain) -> Swept:
    """Return the problem of a chain."""
    posed, local = chain.problem, np.zeros((N, 15))
    local_data(posed.blocks, posed.rho, local)
    more = {"load": posed.load, "mu": posed.mu, "rho": posed.rho, "local": local, "compliance": np.zeros((N, 3))}
    return swept(chain.start, chain.index, chain.gather, **more)


@kernel
def marked(whole: Swept, p: Any, y: Any, errs: float, layers: int, row_of: Any) -> float:
    spread(whole.gather_start, whole.gather_index, whole.gather, p, y)
    return mark_rows(whole, p, y, errs, layers, row_of)


@kernel
def pick(start: Any, index: Any, row_of: Any, picked: Any) -> tuple[int, int, int]:
    return pick_contacts(start, index, row_of, picked)


@kernel
def copy(picked: Any, row_of: Any, whole: Swept, p: Any, y: Any, excerpt: Swept, own_p: Any, own_y: Any) -> float:
    return copy_contacts(picked, row_of, whole, p, y, excerpt, own_p, own_y)


def excerpt_around(chain: Chain, p: Any, layers: int, capacity: int = N) -> tuple[Any, Any, tuple[int, int, int]]:
    """Return the contacts picked, the numbers of the rows of y, and the size of the excerpt."""
    y, row_of, picked = np.zeros((N + 1, 3)), np.zeros(N + 1, dtype=np.int64), np.zeros(capacity, dtype=np.int64)
    square = marked(whole_of(chain), p, y, 1e-6, layers, row_of)
    assert square == pytest.approx((p**2).sum())
    size = pick(chain.start, chain.index, row_of, picked)
    return picked[: max(size[0], 0)], row_of, size


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_contacts_that_err_and_their_neighbours_are_picked(chain: Chain, layers: int) -> None:
    """A wrong impulse shifts the velocities of its two bodies, so that the contacts beside it err as well."""
    p = chain.p.copy()
    p[WRONG, 0] *= 1.5
    picked, row_of, size = excerpt_around(chain, p, layers)
    # Those three mark four bodies; a layer adds one on each side; each marked body picks its two contacts.
    expected = np.arange(WRONG - 1 - layers, WRONG + 2 + layers)
    np.testing.assert_array_equal(picked, expected)
    assert size == (expected.size, 2 * expected.size, expected.size + 1)
    assert sorted(row_of[row_of >= 0]) == list(range(expected.size + 1))


def test_nothing_is_picked_where_nothing_errs_or_there_is_no_room(chain: Chain) -> None:
    assert excerpt_around(chain, chain.p, 2)[2] == (0, 0, 0)
    p = chain.p.copy()
    p[WRONG, 0] *= 1.5
    assert excerpt_around(chain, p, 2, capacity=4)[2][0] == -1


def test_part_is_the_whole_with_other_impulses_held(chain: Chain) -> None:
    """Velocities at new impulses of the excerpt are those of the whole, by the matrix, at the same impulses."""
    p = chain.p.copy()
    p[WRONG, 0] *= 1.5
    picked, row_of, (n, blocks, rows) = excerpt_around(chain, p, 1)
    posed, whole, y = chain.problem, whole_of(chain), np.zeros((N + 1, 3))
    marked(whole, p, y, 1e-6, 1, row_of.copy())
    start, index = np.zeros(n + 1, dtype=np.int64), np.zeros(blocks, dtype=np.int64)
    gather, load, mu, rho = np.zeros((blocks, 3, 3)), np.zeros((n, 3)), np.zeros(n), np.zeros(n)
    local, rigid, own_p, own_y = np.zeros((n, 15)), np.ones((n, 3)), np.zeros((n, 3)), np.zeros((rows, 3))
    excerpt = swept(start, index, gather, load=load, mu=mu, rho=rho, local=local, compliance=rigid)
    scale = copy(picked, row_of, whole, p, y, excerpt, own_p, own_y)
    np.testing.assert_array_equal(own_p, p[picked])
    np.testing.assert_array_equal(local, whole.local[picked])
    np.testing.assert_array_equal(rigid, 0.0)
    assert scale == pytest.approx(max((own_p**2).sum(), (rho[:, None] ** 2 * load**2).sum()))
    new = np.random.default_rng(1).normal(size=(n, 3))
    p[picked] = new
    u = (posed.W @ p.ravel() + posed.b).reshape(N, 3)[picked]
    G = np.zeros((3 * n, 3 * rows))
    for c in range(n):
        for g in range(start[c], start[c + 1]):
            G[3 * c : 3 * c + 3, 3 * index[g] : 3 * index[g] + 3] += gather[g]
    np.testing.assert_allclose((G @ (G.T @ new.ravel())).reshape(n, 3) + load, u, rtol=0, atol=1e-12)
