"""Convex quadratic programmes in odd units for ``random_verdicts``: with and without solution, and known to be so.

Data are small integers, rows and unknowns of which are then measured in units of 2^-40 to 2^40: the arithmetic of that
is exact, so what has a solution in integers has one in these units, and what has none has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from signorini.problems import ConvexQP

Array = NDArray[np.float64]
Random = np.random.Generator
Judge = Callable[[Array], bool]
LONG = np.longdouble
UNITS = 40  # powers of two


class Programme(NamedTuple):
    """Least of ``x.Px/2 + q.x`` under ``Ax = a``, ``Cx >= c``."""

    P: Array
    q: Array
    A: Array
    a: Array
    C: Array
    c: Array


def _whole(r: Random, *shape: int, most: int = 4) -> Array:
    return r.integers(-most, most + 1, shape).astype(np.float64)


def _curved(r: Random, n: int, rank: int) -> Array:
    G = _whole(r, rank, n, most=3)
    return np.asarray(G.T @ G)


def _sizes(r: Random) -> tuple[int, int, int]:
    n = int(r.integers(1, 7))
    return n, int(r.integers(0, min(n, 3))), int(r.integers(0, 2 * n + 2))


def solvable(r: Random, *, rank: int | None = None, idle: float = 0.3) -> Programme:
    """Choose the solution first: active rows with multipliers, some of them zero, and rows that are not active."""
    n, m_e, m = _sizes(r)
    P = _curved(r, n, n if rank is None else min(rank, n)) + (np.eye(n) if rank is None else 0.0)
    x, A, C = _whole(r, n), _whole(r, m_e, n), _whole(r, m, n)
    y, active = _whole(r, m_e), r.random(m) < 0.5
    w = np.where(active & (r.random(m) >= idle), r.integers(1, 5, m), 0).astype(np.float64)
    c = C @ x - np.where(active, 0, r.integers(1, 5, m))
    return Programme(P, A.T @ y + C.T @ w - P @ x, A, A @ x, C, c)


def strictly_convex(r: Random) -> Programme:
    """Has one solution."""
    return solvable(r)


def semidefinite(r: Random) -> Programme:
    """May have many."""
    return solvable(r, rank=int(r.integers(0, 4)))


def linear(r: Random) -> Programme:
    """Has no curvature at all."""
    return solvable(r, rank=0)


def degenerate(r: Random) -> Programme:
    """Has rows twice, and sums of others."""
    one = solvable(r, rank=int(r.integers(0, 6)), idle=0.6)
    if one.c.size < 1:
        return one
    k, l = r.integers(one.c.size, size=2)
    C, c = (
        np.vstack([one.C, 2.0 * one.C[k], one.C[k] + one.C[l]]),
        np.append(one.c, [2.0 * one.c[k], one.c[k] + one.c[l]]),
    )
    return one._replace(C=C, c=c)


def closed(r: Random) -> Programme:
    """Ask more of a sum of rows than the rows allow: ``y >= 0, C.T y = 0, c.y > 0``."""
    one = solvable(r, rank=int(r.integers(0, 6)))
    n = one.q.size
    C = _whole(r, int(r.integers(1, n + 2)), n)
    y = r.integers(1, 4, C.shape[0])
    x = _whole(r, n)
    c = C @ x - r.integers(0, 3, C.shape[0])
    more = float(2.0 ** -r.integers(0, 10))
    return one._replace(C=np.vstack([one.C, C, -(y @ C)[None]]), c=np.concatenate([one.c, c, [more - float(y @ c)]]))


def contradicting(r: Random) -> Programme:
    """Ask two things of one sum of equations."""
    one = solvable(r, rank=int(r.integers(0, 6)))
    n = one.q.size
    A = _whole(r, int(r.integers(1, 4)), n)
    y, x = r.integers(1, 4, A.shape[0]), _whole(r, n)
    a = A @ x
    return one._replace(
        A=np.vstack([A, (y @ A)[None]]), a=np.append(a, float(y @ a) + float(2.0 ** -r.integers(0, 10)))
    )


def endless(r: Random) -> Programme:
    """Fall for ever along a way without curvature that no row closes."""
    n, m_e, m = _sizes(r)
    n += 1
    d = _whole(r, n)
    d[int(r.integers(n))] = 1.0
    G, A, C = (_across(r, rows, d) for rows in (int(r.integers(0, n)), m_e, m))
    C = C + r.integers(0, 2, m)[:, None] * _along(d)[None]
    x, y, w = _whole(r, n), _whole(r, m_e), r.integers(0, 3, m)
    q = A.T @ y + C.T @ w - _along(d) * float(1 + w @ (C @ d))
    return Programme(G.T @ G, q, A, A @ x, C, C @ x - r.integers(0, 3, m))


def _across(r: Random, rows: int, d: Array) -> Array:
    """Return rows of integers at a right angle to `d`."""
    G = _whole(r, rows, d.size, most=2)
    return np.asarray(float(d @ d) * G - np.outer(G @ d, d))


def _along(d: Array) -> Array:
    """Return a unit row with ``row.d > 0``."""
    row = np.zeros_like(d)
    k = int(np.argmax(np.abs(d)))
    row[k] = np.sign(d[k])
    return row


def title(make: Callable[[Random], Programme]) -> str:
    """Return the name of a family."""
    return f"qp: {make.__name__.replace('_', ' ')}"


SOLVABLE = (strictly_convex, semidefinite, linear, degenerate)
NONE = (closed, contradicting, endless)
SURE = {title(make) for make in SOLVABLE}
"""Families that have a solution: to prove that they have none is wrong as well."""


def in_units(one: Programme, r: Random) -> tuple[Programme, Array]:
    """Measure rows and unknowns in odd units; return these as well, for (x, y, w)."""
    most = int(r.choice([0, 10, UNITS]))

    def units(count: int) -> Array:
        return np.asarray(2.0 ** r.integers(-most, most + 1, count))

    D, R, S = units(one.q.size), units(one.a.size), units(one.c.size)
    odd = Programme(
        D[:, None] * one.P * D, D * one.q, R[:, None] * one.A * D, R * one.a, S[:, None] * one.C * D, S * one.c
    )
    return odd, np.concatenate([D, R, S])


def conditions_hold(one: Programme, units: Array) -> Judge:
    """Judge (x, y, w) by every condition of the integers `one`: off by no more than 1e-7 of the sizes of its terms.

    Beside that, unknowns are known to 1e-9 of the largest, ten times the tolerance; multipliers below count as zero.
    """
    P, q, A, a, C, c = (part.astype(LONG) for part in one)

    def judge(z: Array) -> bool:
        own = z.astype(LONG) * units
        if not np.isfinite(own).all() or (own[q.size + a.size :] < 0).any():
            return False
        rounding = LONG(1e-9) * np.abs(own).max(initial=0)
        x, y, w = np.split(own, [q.size, q.size + a.size])
        w = np.where(w > rounding, w, 0)

        def sizes(*parts: tuple[Any, Any]) -> Any:
            return sum(np.abs(M) @ (LONG(1e-7) * np.abs(v) + rounding) for M, v in parts)

        pulls = sizes((P, x), (A.T, y), (C.T, w)) + LONG(1e-7) * np.abs(q)
        even, terms = sizes((A, x)) + LONG(1e-7) * np.abs(a), sizes((C, x)) + LONG(1e-7) * np.abs(c)
        slack = C @ x - c
        return bool(
            (np.abs(P @ x + q - A.T @ y - C.T @ w) <= pulls).all()
            and (np.abs(A @ x - a) <= even).all()
            and (slack >= -terms).all()
            and (slack <= terms)[w > 0].all()
        )

    return judge


def programmes(count: int, seed: int) -> Iterator[tuple[str, ConvexQP, Judge]]:
    """Make so many, a third of them without solution."""
    for k in range(count):
        r = np.random.default_rng([seed, k, 5])
        families: tuple[Any, ...] = NONE if k % 3 == 2 else SOLVABLE
        make = families[int(r.integers(len(families)))]
        whole = make(r)
        odd, units = in_units(whole, r)
        judge = conditions_hold(whole, units) if k % 3 != 2 else (lambda _: False)
        yield title(make), ConvexQP(*odd), judge
