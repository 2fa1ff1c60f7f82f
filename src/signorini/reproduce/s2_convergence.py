"""Linear convergence of the fixed-point iterations on random problems (S2).

References
----------
.. [S2] Anitescu & Hart, slides "Convergence results" and "Algorithm 3"; families, seeds and numbers are section 6.4 of
   the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.formulations import StewartTrinkle
from signorini.problems import FrictionProblem
from signorini.problems.relaxations import slip_speed
from signorini.reproduce.reproduction import Check, Example, Reproduction, printed
from signorini.reproduce.s2_pile import STEP, pile
from signorini.simulation import Simulator
from signorini.solvers import AnitescuHart, Lemke, solve
from signorini.solvers.anitescu_hart import linear_factor

_SEEDS = range(10)
_STOP_1, _FLOOR_1 = 1e-8, 1e-7  # stop and smallest counted increment of algorithm 1
_STOP_2, _FLOOR_2 = 1e-5, 1e-4  # of algorithm 2: P2 is degenerate at the solution
_WITHIN = 0.1  # of the table's medians

# Table 6.4: family, mu, median factors of algorithms 1 and 2 (None: not measurable), median iterations of algorithm 1,
# median of the largest error of algorithm 3.
_TABLE: tuple[tuple[str, float, float, float | None, float, str], ...] = (
    ("gauss", 0.01, 0.0042, None, 5, ".006"),
    ("gauss", 0.05, 0.0240, None, 7, ".029"),
    ("gauss", 0.1, 0.0432, 0.053, 8, ".050"),
    ("gauss", 0.2, 0.0914, 0.146, 10, ".095"),
    ("gauss", 0.5, 0.3390, 0.285, 20.5, ".199"),
    ("gauss", 1.0, 0.5545, 0.517, 27.5, ".421"),
    ("pile4", 0.01, 0.0097, None, 6, ".035"),
    ("pile4", 0.05, 0.0777, 0.140, 9, ".159"),
    ("pile4", 0.1, 0.2124, 0.258, 13, ".359"),
    ("pile4", 0.2, 0.3542, 0.514, 18, ".745"),
    ("pile4", 0.3, 0.4087, 0.481, 23, ".846"),
    ("pile4", 0.5, 0.5538, 0.664, 37, "1.13"),
    ("pile4", 1.0, 0.7370, 0.759, 67.5, "1.44"),
)
_RATIO = 1.68  # |v - v3| over |mu lambda|, largest of all


class Posed(NamedTuple):
    """A friction problem and the way from impulses to the change of velocity."""

    problem: FrictionProblem
    change: Callable[[Array], Array]


def gauss(seed: int, mu: float) -> Posed:
    """Return a random problem of 12 velocities and 6 contacts with four friction directions."""
    r = np.random.default_rng(seed)
    N, p = 12, 6
    A = r.standard_normal((N, N))
    M = A @ A.T / N + np.eye(N)
    e = r.standard_normal(N)
    e /= np.linalg.norm(e)
    n = r.standard_normal((N, p))
    n /= np.linalg.norm(n, axis=0)
    n += e[:, None]
    n /= np.linalg.norm(n, axis=0)
    H = np.zeros((N, 3 * p))
    for j in range(p):
        t, o = r.standard_normal((2, N))
        t /= np.linalg.norm(t)
        o -= (t @ o) * t
        o /= np.linalg.norm(o)
        H[:, 3 * j : 3 * j + 3] = np.column_stack([n[:, j], t, o])
    v = -2.0 * e + r.standard_normal(N)
    problem = FrictionProblem.from_global(M, H, M @ v, np.zeros(3 * p), mu, cone="polygon", directions=4)
    return Posed(problem, lambda impulse: np.asarray(np.linalg.solve(M, H @ impulse), dtype=np.float64))


def pile4(seed: int, mu: float) -> Posed:
    """Return the first step of a pile of ten discs with random velocities."""
    simulator = Simulator(pile(4, mu), h=STEP, formulation=StewartTrinkle(solver=AnitescuHart(max_iterations=1)))
    snapshot = simulator.snapshot()
    v = np.random.default_rng(seed).standard_normal(30).reshape(10, 3)
    snapshot.state.v[-10:, :2] = v[:, :2]
    snapshot.state.v[-10:, 5] = v[:, 2] / 0.5
    simulator.restore(snapshot)
    problem = simulator.step().result.problem
    W: Any = problem.W
    return Posed(problem, lambda impulse: np.asarray(W.velocity(impulse)[:, [0, 1, 5]].ravel()))


_FAMILIES: dict[str, Callable[[int, float], Posed]] = {"gauss": gauss, "pile4": pile4}


def algorithm_1() -> AnitescuHart:
    """Return algorithm 1 as printed, with the stop of the table."""
    return AnitescuHart(acceleration="none", velocity_tolerance=_STOP_1)


def algorithm_2() -> AnitescuHart:
    """Return algorithm 2 as printed, with the stop of the table and all friction rows."""
    return AnitescuHart(algorithm=2, acceleration="none", velocity_tolerance=_STOP_2, row_slack=None)


def measure(family: str, mu: float) -> dict[str, Any]:
    """Return factors, iterations and errors over the seeds of one line of the table."""
    line: dict[str, list[float]] = {key: [] for key in ("factor_1", "factor_2", "it_1", "it_2", "error_3", "ratio_3")}
    failed = [0, 0]
    for seed in _SEEDS:
        problem, change = _FAMILIES[family](seed, mu)
        one = solve(problem, algorithm_1(), tolerance=1e-6)
        two = solve(problem, algorithm_2(), tolerance=1e-3)
        three = solve(problem, AnitescuHart(algorithm=3, row_slack=None), tolerance=1e-6)
        # Fewer than three increments above the floor is faster than can be measured: sorted below all others.
        line["factor_1"].append(np.nan_to_num(linear_factor(one.info["increments"], _FLOOR_1)))
        line["factor_2"].append(np.nan_to_num(linear_factor(two.info["increments"], _FLOOR_2)))
        line["it_1"].append(one.iterations)
        line["it_2"].append(two.iterations)
        exact = one if one.success else solve(problem, AnitescuHart(), tolerance=1e-6)
        error = float(np.abs(change(exact.z - three.z)).max())
        push = float(np.linalg.norm(problem.mu * slip_speed(problem, problem.velocity(exact.z))))
        line["error_3"].append(error)
        line["ratio_3"].append(error / push if push > 1e-9 else 0.0)
        failed[0] += not one.success
        failed[1] += not two.success
    medians = {f"median_{key}": float(np.median(values)) for key, values in line.items()}
    largest = {f"max_{key}": float(np.max(line[key])) for key in ("factor_1", "factor_2", "ratio_3")}
    return {"family": family, "mu": mu, "not_converged": failed} | medians | largest


def convergence() -> Reproduction:
    """Reproduce table 6.4."""
    checks: list[Check] = []
    rows = []
    for family, mu, factor_1, factor_2, iterations, error_3 in _TABLE:
        row = measure(family, mu)
        rows.append(row)
        at = f", {family}, mu = {mu:g}"
        checks.append(Check("median factor, algorithm 1" + at, factor_1, row["median_factor_1"], _WITHIN * factor_1))
        if factor_2 is not None:
            checks.append(
                Check("median factor, algorithm 2" + at, factor_2, row["median_factor_2"], _WITHIN * factor_2)
            )
        if family == "gauss":
            checks.append(Check("median iterations, algorithm 1" + at, iterations, row["median_it_1"], 0.0))
            checks.append(Check("not converged" + at, 0.0, float(sum(row["not_converged"])), 0.0))
        checks.append(printed("median error of algorithm 3" + at, error_3, row["median_error_3"]))
        checks.append(Check("|v - v3| over |mu lambda|, at most" + at, 0.0, row["max_ratio_3"], _RATIO))
    checks += _against_lemke()
    return Reproduction(checks, {"table": rows}, {"factors": _figure(rows)})


def _against_lemke() -> list[Check]:
    """Compare velocities where they are unique, and show a problem where they are not."""
    checks = []
    for seed in range(5):
        problem, change = gauss(seed, 0.2)
        one, lemke = solve(problem, AnitescuHart()), solve(problem, Lemke())
        difference = float(np.abs(change(one.z - lemke.z)).max())
        checks.append(Check(f"algorithm 1 against Lemke, gauss seed {seed}, mu = 0.2", 0.0, difference, 1e-9))
    problem, change = pile4(3, 0.05)
    plain, lemke = solve(problem, algorithm_1(), tolerance=1e-9), solve(problem, Lemke())
    difference = float(np.abs(change(plain.z - lemke.z)).max())
    checks += [
        Check("two velocity solutions, pile4 seed 3, mu = 0.05: difference", 0.0128, difference, 0.5e-4),
        Check("two velocity solutions: residual of algorithm 1", 0.0, plain.residual, 1e-9),
        Check("two velocity solutions: residual of Lemke", 0.0, lemke.residual, 1e-9),
    ]
    return checks


def _figure(rows: list[dict[str, Any]]) -> Any:
    from signorini.visual.piles import plot_factors

    families = {
        name: [(row["mu"], row["median_factor_1"], row["median_factor_2"]) for row in rows if row["family"] == name]
        for name in _FAMILIES
    }
    return plot_factors(families, "S2: factor of linear convergence, median of ten problems")


EXAMPLES = (Example("convergence", "S2", "linear convergence on random problems, its factor over mu", convergence),)
