"""Classical complementarity problems with starts and solutions from the literature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from signorini._arrays import Array
from signorini.problems import LCP, MCP


def murty(n: int) -> Array:
    """Upper triangular with 1 on and 2 above the diagonal: least-index pivoting needs 2^n - 1 steps."""
    return np.asarray(np.triu(np.full((n, n), 2.0), 1) + np.eye(n))


def bands(n: int, below: float, diagonal: float, above: float) -> sparse.csr_array[np.float64]:
    """Tridiagonal matrix with constant bands."""
    matrix: Any = sparse.diags_array([below, diagonal, above], offsets=[-1, 0, 1], shape=(n, n))
    return sparse.csr_array(matrix, dtype=np.float64)


def tridiagonal(n: int, below: float, above: float) -> LCP:
    """Diagonal 4, constants on either side, q = -1, stored sparse."""
    return LCP(bands(n, below, 4.0, above), -np.ones(n))


def known_solution(seed: int, n: int, rank: int, degenerate: int) -> tuple[LCP, Array]:
    """Rank-deficient monotone LCP and its solution."""
    r = np.random.default_rng(seed)
    A = r.standard_normal((n, rank))
    B = r.standard_normal((n, n))
    M = A @ A.T + (B - B.T) / 2
    z, w = np.zeros(n), np.zeros(n)
    p = r.permutation(n)
    k = (n - degenerate) // 2
    z[p[:k]] = r.random(k) + 0.1
    w[p[k : 2 * k]] = r.random(k) + 0.1
    return LCP(M, w - M @ z), z


def isolated(epsilon: float = 0.0) -> LCP:
    """Solution (1, 0, 0), which disappears for any epsilon > 0: then no z >= 0 has M z + q >= 0."""
    return LCP([[0, -1, -1], [1, 0, 0], [-1, 0, 0]], [0, -1, 1 - epsilon])


LINEAR: dict[str, tuple[LCP, Array | list[float]]] = {
    **{f"murty {n}": (LCP(murty(n), -np.ones(n)), np.eye(n)[-1]) for n in (6, 9, 12)},
    **{f"fathi {n}": (LCP(murty(n) @ murty(n).T, -np.ones(n)), np.eye(n)[-1]) for n in (4, 8, 12)},
    "cyclic P": (LCP([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1]), [1 / 3, 1 / 3, 1 / 3]),
    "CPS 4.4.7": (LCP([[0, -1, 2], [2, 0, -2], [-1, 1, 0]], [-3, 6, -1]), [0, 1, 3]),
    "CPS saddle": (
        LCP([[11, 0, 10, -1], [0, 11, 10, -1], [10, 10, 21, -1], [1, 1, 1, 0]], [50, 50, 10, -6]),
        [2, 2, 2, 92],
    ),
    "isolated": (isolated(), [1, 0, 0]),
    "two by two": (LCP([[2, 1], [1, 2]], [-5, -6]), [4 / 3, 7 / 3]),
    "munson": (LCP([[1, 2, 3], [0, 1, -1], [1, 1, 0]], [-1, 1, 1]), [1, 0, 0]),
    **{f"monotone {a}": known_solution(*a) for a in ((0, 20, 10, 0), (1, 50, 25, 5), (2, 200, 50, 20))},
}
"""Problems with one solution."""

LINE_OF_SOLUTIONS = LCP([[1, 1], [1, 1]], [-1, -1])
"""Solved by every z >= 0 with z_1 + z_2 = 1."""
RAY_OF_SOLUTIONS = LCP([[1, -1], [-1, 1]], [1, -1])
"""Solved by (t, 1 + t), t >= 0."""


def kojima_shindo(start: Sequence[float]) -> MCP:
    def value(x: Array) -> Array:
        a, b, c, d = x
        return np.array(
            [
                3 * a * a + 2 * a * b + 2 * b * b + c + 3 * d - 6,
                2 * a * a + a + b * b + 10 * c + 2 * d - 2,
                3 * a * a + a * b + 2 * b * b + 2 * c + 9 * d - 9,
                a * a + 3 * b * b + 2 * c + 3 * d - 3,
            ]
        )

    return MCP(value, x0=start)


KOJIMA_SHINDO_STARTS = (
    (0.0, 0.0, 0.0, 0.0),
    (1.0, 1.0, 1.0, 1.0),
    (100.0, 100.0, 100.0, 100.0),
    (1.0, 0.0, 1.0, 0.0),
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 1.0, 0.0),
    (0.0, 1.0, 0.0, 1.0),
    (1.25, 0.0, 0.0, 0.5),
)
KOJIMA_SHINDO_SOLUTIONS = ((np.sqrt(6) / 2, 0.0, 0.0, 0.5), (1.0, 0.0, 3.0, 0.0))


def billups() -> MCP:
    """Descent methods get stuck beside the start."""
    return MCP(lambda x: (x - 1.0) ** 2 - 1.01, x0=[0.0])


def mathiesen(start: float) -> MCP:
    """Solved by the segment (t, 0, 0, 0), 0 <= t <= 3."""

    def value(x: Array) -> Array:
        a, b, c, d = x
        return np.array(
            [
                -b + c + d,
                a - (4.5 * c + 2.7 * d) / (b + 1),
                5 - a - (0.5 * c + 0.3 * d) / (c + 1),
                3 - a,
            ]
        )

    return MCP(value, x0=np.full(4, start))


def nash_cournot(start: Sequence[float]) -> MCP:
    """Ten firms; not defined for negative amounts, infinite slopes at zero."""
    c = np.array([5, 3, 8, 5, 1, 3, 7, 4, 6, 3.0])
    beta = np.array([1.2, 1, 0.9, 0.6, 1.5, 1, 0.7, 1.1, 0.95, 0.75])

    def value(q: Array) -> Array:
        total = q.sum()
        price = (5000 / total) ** (1 / 1.2)
        return np.asarray(c + (10 * q) ** (1 / beta) - price + q * price / (1.2 * total))

    return MCP(value, x0=start)


NASH_COURNOT_STARTS = (
    (1.0,) * 10,
    (10.0,) * 10,
    (1, 1.2, 1.4, 1.6, 1.8, 2.1, 2.3, 2.5, 2.7, 2.9),
    (7.0, 4.0, 3.0, 1.0, 18.0, 4.0, 1.0, 6.0, 3.0, 2.0),
)
NASH_COURNOT_SOLUTION = (
    7.4415466971,
    4.0978104473,
    2.5906437474,
    0.9353857681,
    17.9489523420,
    4.0978104473,
    1.3047257577,
    5.5900825436,
    3.2221794538,
    1.6770943168,
)


def traffic(x: float, y: float, z: float) -> MCP:
    """Bertsekas-Gafni assignment; unknowns ordered x, z (>= 0), y (free)."""
    gamma, demand = 0.5, np.array([0.1, 0.2, 0.3, 0.4, 0.5])

    def f(s: Array) -> Array:
        return 1 + s + s * s

    def value(v: Array) -> Array:
        x, z, y = v[:5], v[5:10], v[10:]
        x1, x2, x3, x4 = (np.roll(x, -k) for k in (1, 2, 3, 4))
        z1, z4 = np.roll(z, -1), np.roll(z, -4)
        F_x = f(x) + gamma * f(x3 + x4) + 10 * f(x + x3 + x4) + 2 * gamma * f(x3) + f(x + x4)
        F_x = F_x + 10 * f(x + x1 + x4) + 2 * gamma * f(x4) + f(x + x1) + 10 * f(x + x1 + x2) + 2 * gamma * f(x) + f(x)
        F_z = (
            f(z) + gamma * f(z1) + 10 * f(z + z1) + 2 * gamma * f(z1) + f(z) + 10 * f(z + z4) + 2 * gamma * f(z) + f(z)
        )
        return np.concatenate([F_x - y, F_z - y, x + z - demand])

    lower = np.repeat([0.0, 0.0, -np.inf], 5)
    return MCP(value, lower=lower, x0=np.repeat([x, z, y], 5))


TRAFFIC_STARTS = ((0, 0, 0), (0.5, 0.5, 0.5), (100, 100, 100), (0, 100, 0), (0, 1, 0))
TRAFFIC_X = (0.0, 0.0, 0.0141183098, 0.1441847915, 0.1036573186)
TRAFFIC_Y = (37.6269873887, 38.1310421174, 43.0232764280, 46.7411741453, 46.0803862338)


def obstacle(N: int) -> tuple[MCP, sparse.csr_array[np.float64], Array]:
    """Membrane between two obstacles on an N x N grid, with its stiffness matrix and load."""
    h = 1.0 / (N + 1)
    i = np.arange(1, N + 1)
    s = np.outer(np.sin(9.2 * h * i), np.sin(9.3 * h * i)).ravel()
    lower, upper = s**3, s**2 + 0.2
    line: Any = bands(N, -1.0, 2.0, -1.0)
    A: Any = sparse.csr_array(sparse.kron(line, sparse.eye_array(N)) + sparse.kron(sparse.eye_array(N), line))
    load = np.full(N * N, h * h)
    start = np.maximum(0.0, lower)
    return MCP(lambda v: A @ v - load, lambda _: A, lower=lower, upper=upper, x0=start), A, load
