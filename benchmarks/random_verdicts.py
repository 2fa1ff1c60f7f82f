"""Is "solved" always true, and does every call end? A campaign over problems with and without solution.

Every answer that is called solved is judged by arithmetic of its own, in extended precision and not by the library's
residual; families without solution are made so that a proof is known. Counted are wrong "solved", and calls that took
longer than their budget allows::

    python -m benchmarks.random_verdicts --lcp 100000 --mcp 10000 --friction 10000 --qp 10000 --out verdicts.csv

Exits with 1 if there is a single one of either.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.verdict_families import LINEAR as MORE_LINEAR
from benchmarks.verdict_families import NONE, ONE, Nonlinear
from benchmarks.verdict_programmes import SURE, programmes
from numpy.typing import NDArray

from signorini.problems import LCP, MCP, FrictionProblem
from signorini.problems.problem import Problem
from signorini.solvers import Status, solve

Array = NDArray[np.float64]
Random = np.random.Generator
Judge = Callable[[Array], bool]
"""Tells whether a point that is called solved is a solution."""
TOLERANCE = 1e-10
LIMIT = 5.0  # seconds that a call may take
GRACE = 3.0  # seconds of processor time beyond, for a method that looks at the clock seldom
LONG = np.longdouble


def never(z: Array) -> bool:
    """Judge what has no solution."""
    return False


# --- linear complementarity ----------------------------------------------------


def rows_are_right(M: Array, q: Array) -> Judge:
    """Judge z by every row: off by no more than 1e-7 of its terms, unknowns without effect taken for zero."""
    A, k = M.astype(LONG), q.astype(LONG)

    def judge(z: Array) -> bool:
        x = z.astype(LONG)
        if not np.isfinite(x).all() or (x < 0).any():
            return False
        rounding = LONG(1e-13) * x.max(initial=0) * np.abs(A).sum(axis=1)
        terms = np.abs(A) @ x + np.abs(k)
        share = np.where(terms > 0, 1 / np.where(terms > 0, terms + rounding, 1), 0)
        w = A @ x + k
        kept = (np.abs(A) * share[:, None]).max(axis=0) * x >= np.maximum(np.abs(w) - rounding, 0) * share
        x = np.where(kept, x, 0)
        w = A @ x + k
        allowed = LONG(1e-7) * terms + rounding
        return bool((w >= -allowed).all() and (np.abs(w) <= allowed)[x > 0].all())

    return judge


def definite(r: Random, n: int) -> tuple[Array, Array]:
    A, B = r.standard_normal((2, n, n))
    return A @ A.T / n + 0.1 * np.eye(n) + (B - B.T) / 2, r.standard_normal(n)


def badly_scaled(r: Random, n: int) -> tuple[Array, Array]:
    M, q = definite(r, n)
    s, t = 10.0 ** r.uniform(-6.0, 6.0, (2, n))
    return s[:, None] * M * t, s * q


def semidefinite(r: Random, n: int) -> tuple[Array, Array]:
    A, B = r.standard_normal((n, max(1, n // 2))), r.standard_normal((n, n))
    M = A @ A.T + (B - B.T) / 2
    z, w = np.maximum(r.standard_normal((2, n)), 0.0)
    w[z > 0.0] = 0.0
    return M, w - M @ z


def any_matrix(r: Random, n: int) -> tuple[Array, Array]:
    return r.standard_normal((n, n)), r.standard_normal(n)


def degenerate(r: Random, n: int) -> tuple[Array, Array]:
    A = r.integers(-1, 2, (n, max(1, n // 2))).astype(float)
    p = r.integers(0, n, n)
    M = (A @ A.T)[np.ix_(p, p)]
    z = np.maximum(r.integers(-1, 2, n), 0).astype(float)
    return M, np.where(z > 0.0, 0.0, r.integers(0, 2, n)) - M @ z


def farkas(r: Random, n: int) -> tuple[Array, Array]:
    """Return a matrix with ``M^T y <= 0`` and ``q^T y < 0`` for a known y >= 0: no z makes all slacks positive."""
    M, q = r.standard_normal((2, n, n))[0], r.standard_normal(n)
    y = np.where(r.random(n) < 0.5, r.uniform(0.1, 1.0, n), 0.0)
    y[r.integers(n)] = 1.0
    M -= np.outer(y, np.maximum(M.T @ y, 0.0) + r.uniform(0.0, 1.0, n) * (r.random(n) < 0.5) + 1e-6) / (y @ y)
    q -= y * (max(float(q @ y), 0.0) + r.uniform(0.01, 1.0)) / (y @ y)
    s, t = 10.0 ** (r.uniform(-3.0, 3.0, (2, n)) * (r.random() < 0.5))
    return s[:, None] * M * t, s * q


def pressed(r: Random, n: int) -> tuple[Array, Array]:
    """Return blocks ``[[1, -1], [-1, 1]]`` pressed together: semidefinite, and unknowns run away."""
    k = max(1, n // 2)
    stiff = 10.0 ** r.uniform(-6.0, 6.0, k)
    M = np.asarray(np.kron(np.diag(stiff), [[1.0, -1.0], [-1.0, 1.0]]), dtype=np.float64)
    q = np.kron(stiff * 10.0 ** r.uniform(-6.0, 6.0, k), [-1.0, -1.0]) * r.uniform(0.5, 1.0, 2 * k)
    return M, q


def has_exact_solution(M: Array, q: Array) -> bool | None:
    """Tell by rational arithmetic in every complementary cone; None if a singular one leaves it open."""
    n, unsure = q.size, False
    for choice in product((False, True), repeat=n):
        index = [i for i in range(n) if choice[i]]
        K = [[Fraction(int(M[i, j])) for j in index] + [-Fraction(int(q[i]))] for i in index]
        z = _gauss(K)
        if z is None:
            unsure = True
            continue
        w = [sum((Fraction(int(M[i, j])) * x for j, x in zip(index, z, strict=True)), Fraction(int(q[i]))) for i in
             range(n)]  # fmt: skip
        if min(z, default=Fraction(0)) >= 0 and min(w) >= 0:
            return True
    return None if unsure else False


def _gauss(K: list[list[Fraction]]) -> list[Fraction] | None:
    n = len(K)
    for p in range(n):
        row = next((i for i in range(p, n) if K[i][p] != 0), None)
        if row is None:
            return None
        K[p], K[row] = K[row], K[p]
        K[p] = [x / K[p][p] for x in K[p]]
        for i in range(n):
            if i != p:
                K[i] = [x - K[i][p] * y for x, y in zip(K[i], K[p], strict=True)]
    return [K[i][n] for i in range(n)]


def integers(r: Random) -> tuple[LCP, Judge]:
    """Return a tiny problem of whole numbers; whether it has a solution is known exactly."""
    n = int(r.integers(1, 5))
    M, q = r.integers(-2, 3, (n, n)).astype(float), r.integers(-2, 3, n).astype(float)
    judge = rows_are_right(M, q)
    return LCP(M, q), never if has_exact_solution(M, q) is False else judge


Maker = Callable[[Random, int], tuple[Array, Array]]
LINEAR: dict[str, tuple[Maker, bool, int]] = {
    "LCP, definite": (definite, True, 40),
    "LCP, badly scaled": (badly_scaled, True, 20),
    "LCP, semidefinite": (semidefinite, True, 30),
    "LCP, degenerate": (degenerate, True, 20),
    "LCP, any matrix": (any_matrix, True, 6),
    "LCP, infeasible": (farkas, False, 12),
    "LCP, pressed together": (pressed, False, 12),
}
"""Makers, whether solutions may exist, and the largest size."""


def linear_problems(count: int, seed: int) -> Iterator[tuple[str, Problem, Judge]]:
    makers = LINEAR | MORE_LINEAR
    names = list(makers)
    for k in range(count):
        r = np.random.default_rng((seed, 1, k))
        which = k % (len(names) + 1)
        if which == len(names):
            problem, judge = integers(r)
            yield "LCP, whole numbers", problem, judge
            continue
        make, possible, largest = makers[names[which]]
        M, q = make(r, int(r.integers(1, largest + 1)))
        yield names[which], LCP(M, q), rows_are_right(M, q) if possible else never


# --- nonlinear complementarity ---------------------------------------------------


def near(x: Array, known: Array) -> bool:
    """Tell whether `x` is the known solution."""
    return bool((np.abs(x - known) <= 1e-3 * (1.0 + np.abs(known))).all())


def decaying(r: Random) -> Callable[[Any], Any]:
    """Return a function of one number that is negative everywhere from 0 on and comes near to zero at infinity."""
    c, a, p = 10.0 ** r.uniform(-3.0, 6.0), 10.0 ** r.uniform(-1.0, 1.0), r.uniform(0.5, 3.0)
    return [
        lambda x: -c / (1.0 + a * x),
        lambda x: -c / (1.0 + a * x) ** p,
        lambda x: -c * np.exp(-a * x),
        lambda x: -c / (1.0 + x * x),
        lambda x: -c * (1.0 + x) * np.exp(-a * x),
        lambda x: a * (np.tanh(x) - 1.0),
        lambda x: a * (np.arctan(x) - 0.5 * np.pi) - 1e-12,
        lambda x: x - np.sqrt(x * x + c),
    ][int(r.integers(8))]


def no_solution(r: Random) -> tuple[MCP, Judge]:
    """Return a problem of 1 to 4 unknowns, one of which would have to go to infinity, or no sign of F fits."""
    n, f = int(r.integers(1, 5)), decaying(r)
    kind, k, target = int(r.integers(3)), int(r.integers(n)), 10.0 ** r.uniform(-2.0, 4.0, n)
    A = np.eye(n) + 0.3 * np.triu(r.uniform(-1.0, 1.0, (n, n)), 1)
    A[:, k] = np.eye(n)[:, k]  # nothing depends on the unknown that runs away

    def value(x: Any) -> Any:
        F = A @ (x - target)
        F[k] = f(x[k]) if kind < 2 else -1e-3 - (x[k] - target[k]) ** 2
        return F

    upper, start = np.full(n, np.inf), r.uniform(0.0, 3.0, n) * (100.0 if kind == 1 else 1.0)
    lower = np.full(n, -np.inf)
    lower[k] = 0.0
    return MCP(value, lower=lower, upper=upper, x0=start), never


def monotone(r: Random) -> tuple[MCP, Judge]:
    """Return ``F = A (x - s) + t (x^3 - s^3) + w`` with A definite: one solution s, between or on bounds."""
    n = int(r.integers(1, 9))
    B, C = r.standard_normal((2, n, n))
    A, t = B @ B.T / n + 0.2 * np.eye(n) + (C - C.T) / 2, r.uniform(0.0, 1.0) * (r.random() < 0.7)
    size = 10.0 ** r.uniform(-2.0, 3.0)
    lower, upper = -size * r.uniform(0.0, 1.0, n), size * r.uniform(0.0, 1.0, n)
    s = r.uniform(lower, upper)
    place = r.integers(0, 5, n)
    s = np.where(place == 0, lower, np.where(place == 1, upper, s))
    w = np.where(place == 0, 1.0, np.where(place == 1, -1.0, 0.0)) * r.uniform(0.0, 1.0, n)
    lower, upper = np.where(place == 2, -np.inf, lower), np.where(place == 3, np.inf, upper)

    def value(x: Any) -> Any:
        return A @ (x - s) + t * (x * x * x - s * s * s) / size**2 + w

    return MCP(value, lower=lower, upper=upper, x0=r.standard_normal(n)), lambda x: near(x, s)


def singular_root(r: Random) -> tuple[MCP, Judge]:
    """Return a root of order 2 or 3 at which the Jacobian is singular."""
    s, m, c = 10.0 ** r.uniform(-1.0, 2.0), int(r.integers(2, 4)), 10.0 ** r.uniform(-1.0, 1.0)
    B = np.eye(2) + 0.3 * r.uniform(-1.0, 1.0, (2, 2))

    def value(x: Any) -> Any:
        return B @ np.array([x[0] - 1.0, c * (x[1] / s - 1.0) ** m])

    known = np.array([1.0, s])
    # a root of order m is found to the m-th root of the tolerance
    reach = 2.0 * s * (1e-10 / c) ** (1.0 / m) + 1e-3 * (1.0 + s)
    return MCP(value, lower=-np.inf, x0=[0.0, 1.5 * s]), lambda x: bool(np.abs(x - known).max() <= reach)


def continuum(r: Random) -> tuple[MCP, Judge]:
    """Return equations of half the rank: every solution is as good."""
    n = int(r.integers(2, 7))
    B, C = r.standard_normal((n, max(1, n // 2))), r.standard_normal((max(1, n // 2), n))
    A, s = B @ C, r.standard_normal(n)

    def judge(x: Array) -> bool:
        off = A.astype(LONG) @ (x.astype(LONG) - s)
        return bool((np.abs(off) <= 1e-9).all())

    return MCP(lambda x: A @ (x - s), lower=-np.inf, x0=r.standard_normal(n)), judge


def far_away(r: Random) -> tuple[MCP, Judge]:
    """Return a solution of size up to 1e8."""
    s = 10.0 ** r.uniform(2.0, 8.0)
    return MCP(lambda x: (x - s) / s, x0=[1.0]), lambda x: near(x, np.array([s]))


def posed(problem: Nonlinear) -> tuple[MCP, Judge]:
    """Return the problem and its judge."""
    known, reach = problem.known, problem.reach
    mcp = MCP(problem.F, lower=problem.lower, upper=problem.upper, x0=problem.x0)
    if known is None:
        return mcp, never
    return mcp, lambda x: bool((np.abs(x - known) <= np.maximum(1e-3 * np.abs(known), reach)).all())


def nonlinear_problems(count: int, seed: int) -> Iterator[tuple[str, Problem, Judge]]:
    makers = {
        "MCP, monotone": monotone,
        "MCP, singular root": singular_root,
        "MCP, continuum": continuum,
        "MCP, far away": far_away,
    }
    names = list(makers)
    none, one = list(NONE), list(ONE)
    for k in range(count):
        r = np.random.default_rng((seed, 2, k))
        if k % 32 == 0:
            yield "MCP, no solution", *no_solution(r)
        elif k % 32 == 16:
            name = none[k // 32 % len(none)]
            yield name, *posed(NONE[name](r))
        elif k % 32 == 4:
            name = one[k // 32 % len(one)]
            yield name, *posed(ONE[name](r))
        else:
            name = names[k % len(names)]
            yield name, *makers[name](r)


# --- friction ----------------------------------------------------------------------


def velocities_are_right(problem: FrictionProblem) -> Judge:
    r"""Judge impulses contact by contact: ``u = W p + b`` and the law, errors as velocities beside the load.

    At most 1000 tolerances of the largest velocity of the load, or where impulses are too great for that some roundings
    of the velocities that they make, and never more than a thousandth of the load.
    """
    W, b, mu = problem.dense().astype(LONG), problem.b.astype(LONG), problem.mu.astype(LONG)
    dim = problem.dim
    diagonal = np.diag(W)[::dim]
    mobility = np.where(diagonal > 0, diagonal, 1)
    fastest = np.abs(b).max(initial=0)

    def judge(z: Array) -> bool:
        p = z.astype(LONG)
        if not np.isfinite(p).all():
            return False
        u = (W @ p + b).reshape(-1, dim)
        p = p.reshape(-1, dim)
        slip = np.linalg.norm(u[:, 1:].astype(float), axis=1).astype(LONG)
        shifted = p - u / mobility[:, None]
        shifted[:, 0] -= mu * slip / mobility
        error = np.array([_distance(x, s, m) for x, s, m in zip(p, shifted, mu, strict=True)]) * mobility
        roundings = 2.2e-16 * (np.linalg.norm(p.astype(float), axis=1) * mobility.astype(float)).max(initial=0.0)
        allowed = max(1.01e3 * TOLERANCE * float(fastest), min(1.01e-3 * float(fastest), 64.0 * roundings))
        return bool((error.astype(float) <= allowed).all())

    return judge


def _distance(p: Any, s: Any, mu: Any) -> Any:
    """Return how far p is from the projection of s on the cone, in extended precision."""
    t = np.sqrt((s[1:] * s[1:]).sum())
    if t <= mu * s[0] and s[0] >= 0:
        near_ = s
    elif mu * t <= -s[0]:
        near_ = np.zeros_like(s)
    else:
        n = (s[0] + mu * t) / (1 + mu * mu)
        near_ = np.concatenate([[n], mu * n * s[1:] / t])
    return np.sqrt(((p - near_) ** 2).sum())


def contacts_of_bodies(r: Random, n_c: int, dim: int, ratio: float) -> tuple[Array, Array]:
    """Return W and b of contacts between bodies whose masses differ by up to `ratio`, and the ground."""
    freedoms = 3 if dim == 2 else 6
    n_b = max(1, round(n_c * r.uniform(0.3, 0.8)))
    mass = ratio ** r.uniform(-0.5, 0.5, n_b)
    G = np.zeros((dim * n_c, freedoms * n_b))
    for c in range(n_c):
        frame = np.linalg.qr(r.standard_normal((dim, dim)))[0]
        first = int(r.integers(n_b))
        for k, sign in ((first, 1.0), (int(r.integers(-1, n_b)), -1.0)):
            if k < 0 or (k == first and sign < 0.0):
                continue
            arm = r.uniform(-1.0, 1.0, dim)
            turn = np.cross(arm, frame) if dim == 3 else (arm[0] * frame[:, 1] - arm[1] * frame[:, 0])[:, None]
            G[dim * c : dim * c + dim, freedoms * k : freedoms * (k + 1)] += sign * np.hstack([frame, turn])
    M_inv = np.repeat(1.0 / mass, freedoms)
    return G @ (M_inv[:, None] * G.T), G @ r.standard_normal(freedoms * n_b)


def friction_problems(count: int, seed: int) -> Iterator[tuple[str, Problem, Judge]]:
    for k in range(count):
        r = np.random.default_rng((seed, 3, k))
        dim, n_c = 2 + k % 2, int(r.integers(1, 9))
        where = "plane" if dim == 2 else "space"
        if k % 20 >= 18:  # a body squeezed between two walls that come nearer
            problem = squeezed(r, dim, 10.0 ** r.uniform(-4.5, 4.5))
            yield f"friction, squeezed, {where}", problem, never
            continue
        ratio = 10.0 ** r.uniform(0.0, 9.0)
        W, b = contacts_of_bodies(r, n_c, dim, ratio)
        mass, speed = 10.0 ** r.uniform(-3.0, 5.0), 10.0 ** r.uniform(-3.0, 4.0)
        mu = r.uniform(0.0, 1.5, n_c) * (r.random(n_c) > 0.15)
        problem = FrictionProblem(W / mass, speed * b, mu, dim=dim)
        name = f"friction, masses to 1e{3 * int(np.log10(ratio) // 3) + 3}, {where}"
        yield name, problem, velocities_are_right(problem)


def squeezed(r: Random, dim: int, scale: float) -> FrictionProblem:
    n = np.zeros(2 * dim)
    n[0], n[dim] = 1.0, -1.0
    W = np.outer(n, n)
    for i in range(1, dim):
        W[i, i] = W[dim + i, dim + i] = 1.0
        W[i, dim + i] = W[dim + i, i] = -1.0 if r.random() < 0.5 else 0.0
    b = r.uniform(-1.0, 1.0, 2 * dim)
    b[0], b[dim] = -r.uniform(0.1, 1.0, 2)
    return FrictionProblem(W * scale, b, r.uniform(0.0, 1.0, 2), dim=dim)


# --- the campaign ------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """What happened to one family."""

    tried: int = 0
    solved: int = 0
    proved: int = 0
    """Ended with "no solution"."""
    wrong: int = 0
    """Called solved, and are not; or proved to have no solution, which they have."""
    late: int = 0
    """Took longer than the budget."""
    seconds: float = 0.0
    slowest: float = 0.0


def campaign(lcp: int, mcp: int, friction: int, seed: int = 0, every: int = 0, qp: int = 0) -> dict[str, Tally]:
    """Solve so many problems of each kind; return what happened by family, and say so every `every` problems."""
    tallies: dict[str, Tally] = {}
    problems: Iterator[tuple[str, Problem, Judge]] = chain(
        linear_problems(lcp, seed),
        nonlinear_problems(mcp, seed),
        friction_problems(friction, seed),
        programmes(qp, seed),
    )
    for done, (name, problem, judge) in enumerate(problems, 1):
        tally = tallies.setdefault(name, Tally())
        began, cpu = time.perf_counter(), time.process_time()
        solution = solve(problem, tolerance=TOLERANCE, time_limit=LIMIT)
        spent, cpu = time.perf_counter() - began, time.process_time() - cpu
        tally.tried += 1
        tally.solved += solution.success
        tally.proved += solution.status is Status.NO_SOLUTION
        tally.seconds += spent
        tally.slowest = max(tally.slowest, spent)
        tally.late += cpu > LIMIT + GRACE
        if (solution.success and not judge(solution.z)) or (name in SURE and solution.status is Status.NO_SOLUTION):
            tally.wrong += 1
            print(f"wrong: {name}, problem {done} of seed {seed}: {solution.status}", flush=True)
        if every and done % every == 0:
            wrong, late = sum(t.wrong for t in tallies.values()), sum(t.late for t in tallies.values())
            print(f"{done} problems: {wrong} wrong, {late} late", flush=True)
    return tallies


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lcp", type=int, default=1000)
    parser.add_argument("--mcp", type=int, default=300)
    parser.add_argument("--friction", type=int, default=300)
    parser.add_argument("--qp", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1000, help="problems between two lines of progress")
    parser.add_argument("--out", type=Path, help="CSV file")
    options = parser.parse_args(arguments)
    tallies = campaign(options.lcp, options.mcp, options.friction, options.seed, options.every, options.qp)
    columns = ("family", "tried", "solved", "proved", "wrong", "late", "mean ms", "slowest s")
    rows = [
        (name, t.tried, t.solved, t.proved, t.wrong, t.late, round(1e3 * t.seconds / t.tried, 2), round(t.slowest, 2))
        for name, t in sorted(tallies.items())
    ]
    for row in (columns, *rows):
        print(f"{row[0]!s:38s}" + "".join(f"{cell!s:>11s}" for cell in row[1:]))
    if options.out is not None:
        with options.out.open("w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
    return int(any(t.wrong or t.late for t in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
