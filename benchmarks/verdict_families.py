"""Families of problems at which verdicts fail: in odd units, nearly singular, or without solution by a short proof.

The campaign that uses them is ``random_verdicts.py``. A maker takes a random generator (and a size) and returns the
data of a linear problem, or F, bounds and start of a nonlinear one with its only solution, None where there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Random = np.random.Generator


# --- linear ------------------------------------------------------------------------


def nonpositive(r: Random, n: int) -> tuple[Array, Array]:
    """No entry of M is positive and one of q is negative: that slack is negative for every z >= 0."""
    M = -np.maximum(r.standard_normal((n, n)), 0.0) * 10.0 ** r.uniform(-6.0, 6.0, (n, 1))
    q = r.standard_normal(n)
    q[r.integers(n)] = -r.uniform(0.1, 1.0)
    return M, q


def feasible_only(r: Random, n: int) -> tuple[Array, Array]:
    """A pair ``w_1 = a z_2 - b, w_2 = c > 0`` among others: z_2 > 0 is needed and excluded, though w > 0 may be."""
    n = max(n, 2)
    A = r.standard_normal((n, n))
    M, q = A @ A.T / n + 0.1 * np.eye(n), r.standard_normal(n)
    i, j = r.permutation(n)[:2]
    M[[i, j]] = 0.0
    M[i, j] = r.uniform(0.1, 2.0)
    q[i], q[j] = -r.uniform(0.1, 2.0), r.uniform(0.1, 2.0)
    return M, q


def linear_programme(r: Random, n: int) -> tuple[Array, Array]:
    """Optimality of a linear programme ``A x >= b, x >= 0`` whose first rows contradict each other: M is skew."""
    m, k = max(2, n // 2), max(1, n // 2)
    A, b = r.standard_normal((m, k)), r.standard_normal(m)
    times = r.uniform(0.5, 2.0)
    A[1], b[1] = -times * A[0], -times * b[0] + r.uniform(0.1, 1.0) * (1.0 + abs(b[0]))
    M = np.block([[np.zeros((k, k)), -A.T], [A, np.zeros((m, m))]])
    return M, np.concatenate([r.standard_normal(k), -b])


def nearly_singular(r: Random, n: int) -> tuple[Array, Array]:
    """Semidefinite of half the rank and a trace of the identity; q is of a known solution, some pairs 0 and 0."""
    A = r.standard_normal((n, max(1, n // 2)))
    M = A @ A.T + 10.0 ** r.uniform(-16.0, -6.0) * np.eye(n)
    z, w = np.maximum(r.standard_normal((2, n)), 0.0)
    w[z > 0.0] = 0.0
    return M, w - M @ z


def huge_units(r: Random, n: int) -> tuple[Array, Array]:
    """A definite problem in units that differ by up to 1e80."""
    A, B = r.standard_normal((2, n, n))
    M, q = A @ A.T / n + 0.1 * np.eye(n) + (B - B.T) / 2, r.standard_normal(n)
    s, t = 10.0 ** r.uniform(-20.0, 20.0, (2, n))
    return s[:, None] * M * t, s * q


LINEAR: dict[str, tuple[Callable[[Random, int], tuple[Array, Array]], bool, int]] = {
    "LCP, nonpositive": (nonpositive, False, 30),
    "LCP, feasible without solution": (feasible_only, False, 8),
    "LCP, contradictory programme": (linear_programme, False, 30),
    "LCP, nearly singular": (nearly_singular, True, 30),
    "LCP, units to 1e80": (huge_units, True, 20),
}
"""Makers, whether solutions may exist, and the largest size."""


# --- nonlinear -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Nonlinear:
    """A mixed complementarity problem and what is known of it."""

    F: Callable[[Any], Any]
    x0: Array
    lower: Any = -np.inf
    upper: Any = np.inf
    known: Array | None = None
    """The only solution; None if there is none."""
    reach: float = 0.0
    """How far from it the residual still meets the tolerance."""


def tails(a: float, c: float, p: float) -> list[Callable[[Any], Any]]:
    """Return functions that are negative from 0 on and come near to zero at infinity, x in units of 1/a."""
    return [
        lambda x: -c / (1.0 + a * x),
        lambda x: -c / (1.0 + a * x) ** p,
        lambda x: -c * np.exp(-a * x),
        lambda x: -c / (1.0 + (a * x) ** 2),
        lambda x: -c * (1.0 + a * x) * np.exp(-a * x),
        lambda x: c * (np.tanh(a * x) - 1.0),
        lambda x: -c * np.exp(-((a * x) ** 2)),
        lambda x: a * x - np.sqrt((a * x) ** 2 + c),
        lambda x: c * a * x / (1.0 + a * x) - c,
    ]


def _tail(r: Random, units: float) -> tuple[Callable[[Any], Any], float]:
    a = 10.0 ** r.uniform(-units, units)
    some = tails(a, 10.0 ** r.uniform(-3.0, 6.0), r.uniform(0.5, 3.0))
    return some[int(r.integers(len(some)))], a


def tail_in_odd_units(r: Random) -> Nonlinear:
    f, a = _tail(r, 8.0)
    return Nonlinear(f, np.array([r.uniform(0.0, 3.0) * 10.0 ** r.uniform(-2.0, 2.0) / a]), lower=0.0)


def tail_across(r: Random) -> Nonlinear:
    """A tail along a direction across the unknowns, all free; its values are in every row."""
    n, (f, _) = int(r.integers(2, 6)), _tail(r, 1.0)
    U, V, C = (np.linalg.qr(r.standard_normal((n, n)))[0] for _ in range(3))
    B = U @ np.diag(10.0 ** r.uniform(-1.0, 1.0, n)) @ V
    target = r.standard_normal(n) * 10.0 ** r.uniform(-1.0, 3.0)

    def value(x: Any) -> Any:
        u = C @ x
        G = u - target
        G[0] = f(0.5 * (u[0] + np.sqrt(u[0] * u[0] + 1.0)))  # a positive number whatever u is
        return B @ G

    return Nonlinear(value, r.standard_normal(n))


def tail_that_bends(r: Random) -> Nonlinear:
    """The other unknowns follow the one that runs away along a curve."""
    n, (f, _) = int(r.integers(2, 6)), _tail(r, 1.0)
    k, kind = int(r.integers(n)), int(r.integers(3))
    A, b, target = np.eye(n) + 0.2 * r.standard_normal((n, n)), r.uniform(-1.0, 1.0, n), r.standard_normal(n)

    def value(x: Any) -> Any:
        y = x - target
        y[k] = 0.0
        bent = (np.tanh, lambda t: 1.0 / (1.0 + t * t), lambda t: np.log(1.0 + t * t))[kind](x[k])
        F = A @ y + b * bent
        F[k] = f(x[k])
        return F

    lower = np.full(n, -np.inf)
    lower[k] = 0.0
    return Nonlinear(value, r.uniform(0.0, 3.0, n), lower=lower)


def gap(r: Random) -> Nonlinear:
    """An equation ``-g - (c y)^m = 0``, m even, among others: missed by g, up to 30 times the tolerance or more."""
    n = int(r.integers(1, 5))
    k, m, g = int(r.integers(n)), 2 * int(r.integers(1, 4)), 10.0 ** r.uniform(-8.5, -2.0)
    s, c = r.standard_normal(n) * 10.0 ** r.uniform(-2.0, 2.0), 10.0 ** r.uniform(-3.0, 3.0)
    B = np.linalg.qr(r.standard_normal((n, n)))[0]

    def value(x: Any) -> Any:
        y = x - s
        y[k] = -n * g - (y[k] * c) ** m
        return B @ y

    return Nonlinear(value, s + r.standard_normal(n))


def apart(r: Random) -> Nonlinear:
    """Two circles that do not meet."""
    d, c = 2.0 * (1.0 + 10.0 ** r.uniform(-6.0, 1.0)), 10.0 ** r.uniform(-3.0, 3.0)

    def value(x: Any) -> Any:
        return np.array([(x[0] / c) ** 2 + (x[1] / c) ** 2 - 1.0, (x[0] / c - d) ** 2 + (x[1] / c) ** 2 - 1.0])

    return Nonlinear(value, r.standard_normal(2) * c)


def power_root(r: Random) -> Nonlinear:
    """A root of order 1, 3 or 5 of a free unknown."""
    s, c, m = r.standard_normal() * 10.0 ** r.uniform(-3.0, 6.0), 10.0 ** r.uniform(-3.0, 3.0), int(r.choice([1, 3, 5]))
    unit = max(abs(s), 1.0)
    start = np.array([3.0 * unit * r.standard_normal()])
    return Nonlinear(
        lambda x: c * ((x - s) / unit) ** m, start, known=np.array([s]), reach=unit * (1.1e-10 / c) ** (1.0 / m)
    )


def flat_to_a_bound(r: Random) -> Nonlinear:
    """A tail that ends at an upper bound, the only solution, where it is still far above the tolerance."""
    f, a = _tail(r, 3.0)
    end = r.uniform(0.1, 5.0) / a
    while abs(float(f(end))) < 1e-6:
        end *= 0.5
    return Nonlinear(f, np.array([end * r.random()]), lower=0.0, upper=end, known=np.array([end]))


def product(r: Random) -> Nonlinear:
    """``x y = u`` and ``y = 0``: y comes as near to zero as one likes while x grows."""
    u, v = 10.0 ** r.uniform(-15.0, 6.0, 2)

    def value(x: Any) -> Any:
        return np.array([x[0] * x[1] / (u * v) - 1.0, x[1] / v])

    return Nonlinear(value, np.array([u, v]) * r.uniform(0.3, 3.0, 2) * 10.0 ** r.uniform(0.0, 6.0, 2))


def bump(r: Random) -> Nonlinear:
    """``c / (1 + (x/u)^m)`` decays to both sides."""
    u, c, m = 10.0 ** r.uniform(-15.0, 6.0), 10.0 ** r.uniform(-6.0, 6.0), 2 * int(r.integers(1, 4))
    start = np.array([r.standard_normal() * u * 10.0 ** r.uniform(0.0, 9.0)])
    return Nonlinear(lambda x: c / (1.0 + (x / u) ** m), start)


def tail_along_a_parabola(r: Random) -> Nonlinear:
    """In turned coordinates one unknown runs away and the others follow powers of it; rows are mixed."""
    n, (f, _) = int(r.integers(2, 5)), _tail(r, 1.0)
    B, C = np.eye(n) + 0.3 * r.standard_normal((n, n)), np.linalg.qr(r.standard_normal((n, n)))[0]
    a, m = r.uniform(-1.0, 1.0, n), int(r.integers(2, 4))

    def value(x: Any) -> Any:
        u = C @ x
        G = u - a * u[0] ** m / (1.0 + u[0] * u[0]) ** (0.5 * m - 0.75)
        G[0] = f(0.5 * (u[0] + np.sqrt(u[0] * u[0] + 1.0)))
        return B @ G

    return Nonlinear(value, r.standard_normal(n))


def asymptotes(r: Random) -> Nonlinear:
    """``x y = 1`` and ``y = -exp(-x)``, x >= 0, in odd units: the curves meet at infinity."""
    u, v, c = 10.0 ** r.uniform(-9.0, 9.0, 3)

    def value(x: Any) -> Any:
        return np.array([(x[0] / u) * (x[1] / v) - 1.0, c * (x[1] / v + np.exp(-x[0] / u))])

    return Nonlinear(value, np.array([u, v]) * r.uniform(0.3, 3.0, 2), lower=np.array([0.0, -np.inf]))


def twice_exponential(r: Random) -> Nonlinear:
    u, c = 10.0 ** r.uniform(-9.0, 9.0), 10.0 ** r.uniform(-3.0, 6.0)
    return Nonlinear(lambda x: -c * np.exp(-np.exp(x / u)), np.array([r.uniform(0.0, 2.0) * u]), lower=0.0)


def gap_in_odd_units(r: Random) -> Nonlinear:
    """``c (y^2 + g)``, y in units of its own, g from a millionth on."""
    u, s, c = (
        10.0 ** r.uniform(-9.0, 9.0),
        r.standard_normal() * 10.0 ** r.uniform(0.0, 2.0),
        10.0 ** r.uniform(-3.0, 6.0),
    )
    g = 10.0 ** r.uniform(-6.0, 0.0)
    return Nonlinear(lambda x: c * ((x / u - s) ** 2 + g), np.array([(s + r.standard_normal()) * u]))


def large_root(r: Random) -> Nonlinear:
    """A root at up to 1e12, of a function that bends there."""
    s, c = r.choice([-1.0, 1.0]) * 10.0 ** r.uniform(4.0, 12.0), 10.0 ** r.uniform(-3.0, 3.0)
    return Nonlinear(
        lambda x: c * ((x / s) ** 3 + x / s - 2.0), np.array([s * r.uniform(0.2, 3.0)]), known=np.array([s])
    )


def degenerate_root(r: Random) -> Nonlinear:
    """``F = A (x - s)``, A definite, s >= 0 with zeros: there x and F vanish both; units of up to 1e6."""
    n = int(r.integers(1, 6))
    B, u = r.standard_normal((n, n)), 10.0 ** r.uniform(-3.0, 3.0, n)
    A, s = (B @ B.T / n + 0.5 * np.eye(n)) / u, np.maximum(r.standard_normal(n), 0.0) * u
    return Nonlinear(lambda x: A @ (x - s), u * r.random(n), lower=0.0, known=s, reach=1e-6 * float(u.max()))


def in_a_box(r: Random) -> Nonlinear:
    """Bounds on both sides of every unknown in units of its own; the root is inside or beyond one of them."""
    n = int(r.integers(1, 5))
    u, root, c = 10.0 ** r.uniform(-6.0, 6.0, n), r.uniform(-2.0, 2.0, n), 10.0 ** r.uniform(-2.0, 2.0, n)
    known = np.clip(root, -1.0, 1.0) * u
    return Nonlinear(
        lambda x: c * np.arctan(x / u - root), r.uniform(-1.0, 1.0, n) * u, lower=-u, upper=u, known=known, reach=1e-7
    )


def double_root(r: Random) -> Nonlinear:
    """A root of order 2 among others, rows mixed, in odd units."""
    u, v = 10.0 ** r.uniform(-6.0, 6.0, 2)
    B = np.eye(2) + 0.3 * r.uniform(-1.0, 1.0, (2, 2))

    def value(x: Any) -> Any:
        return B @ np.array([x[0] / u - 1.0, (x[1] / v - 2.0) ** 2])

    return Nonlinear(value, np.array([0.5 * u, 3.0 * v]), known=np.array([u, 2.0 * v]), reach=1e-4 * v)


NONE: dict[str, Callable[[Random], Nonlinear]] = {
    "MCP, tail in odd units": tail_in_odd_units,
    "MCP, tail across unknowns": tail_across,
    "MCP, tail that bends": tail_that_bends,
    "MCP, gap": gap,
    "MCP, circles apart": apart,
    "MCP, product": product,
    "MCP, bump": bump,
    "MCP, tail along a parabola": tail_along_a_parabola,
    "MCP, asymptotes": asymptotes,
    "MCP, exponential of an exponential": twice_exponential,
    "MCP, gap in odd units": gap_in_odd_units,
}
ONE: dict[str, Callable[[Random], Nonlinear]] = {
    "MCP, root of a power": power_root,
    "MCP, flat to a bound": flat_to_a_bound,
    "MCP, root at large x": large_root,
    "MCP, degenerate root": degenerate_root,
    "MCP, in a box": in_a_box,
    "MCP, double root": double_root,
}
