r"""Convex relaxations and fixed points: one contact, solution sets that are not convex (S2).

The slides print no numbers except those of one example, which is wrong as printed; expected values are those of
section 6 of the specification, where they are derived or were computed independently.

References
----------
.. [S2] Anitescu & Hart, slides "Nonconvex solution set", "Fixed point iterations and related algorithms".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.formulations import StewartTrinkle
from signorini.problems import FrictionProblem
from signorini.problems.friction_lcp import friction_as_lcp
from signorini.problems.relaxations import first_relaxation
from signorini.reproduce import s2_convergence, s2_pile
from signorini.reproduce.reproduction import Check, Example, Reproduction, printed
from signorini.reproduce.s1_sliding_sphere import H, sliding_sphere
from signorini.simulation import Simulator
from signorini.solvers import AnitescuHart, Lemke, ProximalQP, Solution, solve
from signorini.solvers.anitescu_hart import linear_factor

# --- one planar contact ------------------------------------------------------

_STOP = 1e-10  # |v_k - v_(k-1)|_M of the table
_FLOOR = 1e-4  # increments from which factors are measured: far above the accuracy of the subproblems
_LIMIT = 150
_ONE_MORE = 1.0  # iterations: the increment that ends a run is near the accuracy of its subproblems, and falls slowly
_DIGIT = 6e-8  # velocities are given to seven decimals, shorter ones are exact
_CLAIM = 1e-8  # residual at which a run of the table counts as converged

# Table 6.1: Delassus entries a, b, c; free velocity (n, t); mu; error factor; iterations (None: not in 150); exact v_t.
_CONTACTS: tuple[tuple[float, float, float, float, float, float, str, int | None, str], ...] = (
    (1.0, 0.0, 3.5, -1.0, 2.0, 0.2, "0.1228070", 13, "1.3"),
    (1.0, 0.0, 3.5, -1.0, 20.0, 1.0, "0.7777778", 96, "16.5"),
    (1.6, 1.2, 3.4, -1.0, 9.0, 1.0, "0.8461538", 134, "3.5"),
    (1.6, 1.2, 3.4, -1.0, 90.0, 1.3, "0.9905348", None, "9.5"),
    (1.6, -1.2, 3.4, -1.0, 9.0, 1.0, "0.6216216", 51, "7.3571429"),
    (26.0, 25.0, 26.0, -1.0, 1.0, 0.55, "-0.9245876", None, "1.8734694"),
    (26.0, 25.0, 26.0, -1.0, 1.0, 0.7, "-1.2727273", None, "1.8"),
    (26.0, 25.0, 26.0, -1.0, 1.0, 0.9, "-0.6990291", 67, "1.4571429"),
)
_RELAXED = {0.55: 9, 0.7: 14}  # iterations with relaxation 0.5 where the plain iteration does not converge


def contact(a: float, b: float, c: float, n: float, t: float, mu: float) -> FrictionProblem:
    """Return the problem of one planar contact."""
    return FrictionProblem(np.array([[a, b], [b, c]]), np.array([n, t]), np.array([mu]), dim=2, cone="polygon")


def error_factor(a: float, b: float, c: float, mu: float) -> float:
    """Return the factor by which the error of Gamma changes in one step of algorithm 1 while the contact slides."""
    return (mu**2 * c - mu * b) / (a - 2.0 * mu * b + mu**2 * c)


def plain(algorithm: Any = 1, relaxation: float = 1.0) -> AnitescuHart:
    """Return the iteration as printed, stopped by the velocity."""
    return AnitescuHart(
        algorithm=algorithm,
        relaxation=relaxation,
        acceleration="none",
        velocity_tolerance=_STOP,
        max_iterations=_LIMIT,
        row_slack=None,
    )


def single_contact() -> Reproduction:
    """Reproduce tables 6.1 and 6.2."""
    checks: list[Check] = []
    rows = []
    for a, b, c, n, t, mu, factor, iterations, v_t in _CONTACTS:
        problem = contact(a, b, c, n, t, mu)
        at = f", W = ({a:g}, {b:g}, {c:g}), mu = {mu:g}"
        checks.append(printed("error factor" + at, factor, error_factor(a, b, c, mu)))
        found = solve(problem, plain(), tolerance=_CLAIM)
        quick = solve(problem, AnitescuHart(), tolerance=1e-12)
        checks.append(Check("exact v_t" + at, float(v_t), problem.velocity(quick.z)[1], _DIGIT))
        if iterations is None:
            checks.append(Check("converged" + at, 0.0, float(found.success), 0.0))
        else:
            measured = linear_factor(found.info["increments"], _FLOOR)
            checks += [
                Check("iterations" + at, iterations, found.iterations, _ONE_MORE),
                Check("measured factor" + at, abs(float(factor)), measured, 1e-5),
                Check("v_t of algorithm 1" + at, float(v_t), problem.velocity(found.z)[1], _DIGIT),
            ]
        if mu in _RELAXED and iterations is None:
            damped = solve(problem, plain(relaxation=0.5), tolerance=_CLAIM)
            checks += [
                Check("iterations, relaxation 0.5" + at, _RELAXED[mu], damped.iterations, 0.0),
                Check("v_t, relaxation 0.5" + at, float(v_t), problem.velocity(damped.z)[1], _DIGIT),
            ]
        rows.append(_row(problem, found, quick) | {"a": a, "b": b, "c": c, "mu": mu, "factor": float(factor)})
    checks += _slow_and_cycling()
    sphere_checks, sphere = _sphere()
    return Reproduction(checks + sphere_checks, {"contacts": rows, "sphere": sphere})


def _row(problem: FrictionProblem, found: Solution, quick: Solution) -> dict[str, Any]:
    return {
        "status": str(found.status),
        "iterations": found.iterations,
        "residual": found.residual,
        "v_t": float(problem.velocity(found.z)[1]),
        "finding": found.info.get("finding", ""),
        "accelerated_iterations": quick.iterations,
        "accelerated_residual": quick.residual,
    }


def _slow_and_cycling() -> list[Check]:
    """Check the two lines of the table where the plain iteration fails."""
    slow = contact(*_CONTACTS[3][:6])
    cycling = contact(*_CONTACTS[6][:6])
    checks = [printed("v_t after 150 slow steps", "7.2187", slow.velocity(solve(slow, plain(), tolerance=_CLAIM).z)[1])]
    for algorithm in (1, 2):
        found = solve(cycling, plain(algorithm), tolerance=_CLAIM)
        named = found.info.get("finding", "").startswith("two-cycle")
        checks.append(Check(f"two-cycle named, algorithm {algorithm}", 1.0, float(named), 0.0))
        if algorithm == 2:
            speeds = [cycling.b[1] + float((_root(cycling) @ y)[1]) for y in found.info["cycle"]]
            nearest = min(speeds, key=lambda v: abs(v - 1.594406))
            checks.append(printed("v_t in the cycle of algorithm 2", "1.594406", nearest))
    return checks


def _root(problem: FrictionProblem) -> Any:
    from signorini.problems.relaxations import root

    return root(problem)


# --- the sphere of S1, first step --------------------------------------------

# 6.2: (v_x, v_z, omega_y) after P1(0), algorithms 1 and 2 (with iterations), algorithm 3.
_SPHERE: tuple[tuple[str, AnitescuHart, tuple[str, str, str], int | None], ...] = (
    ("P1(0)", AnitescuHart(acceleration="none", max_iterations=1), ("1.7232982", "0.2063088", "0.6917544"), None),
    ("algorithm 1", plain(1), ("1.76456", "0.0000000", "0.5886"), 13),
    ("algorithm 2", plain(2), ("1.76456", "0.0000000", "0.5886"), 12),
    ("algorithm 3", AnitescuHart(algorithm=3), ("1.7232982", "0.0000000", "0.6917544"), None),
)


def _sphere() -> tuple[list[Check], dict[str, Any]]:
    checks: list[Check] = []
    data: dict[str, Any] = {}
    for name, solver, velocity, iterations in _SPHERE:
        formulation = StewartTrinkle(solver=solver, directions=4)
        simulator = Simulator(sliding_sphere(), h=H, formulation=formulation, tolerance=_CLAIM)
        report = simulator.step()
        v = simulator.state.v[-1]
        obtained = {"v_x": float(v[0]), "v_z": float(v[2]), "omega_y": float(v[4])}
        for (key, value), digits in zip(obtained.items(), velocity, strict=True):
            checks.append(Check(f"sphere, {name}: {key}", float(digits), value, _DIGIT))
        if iterations is not None:
            factor = linear_factor(report.result.solution.info["increments"], _FLOOR)
            checks += [
                Check(f"sphere, {name}: iterations", iterations, report.iterations, 0.0),
                Check(f"sphere, {name}: factor", 0.1228070, factor, 1e-5),
            ]
        if name == "algorithm 3":
            p = report.result.impulse[0]
            checks += [
                printed("sphere, algorithm 3: friction impulse", ".2767", float(np.hypot(p[1], p[2]))),
                printed("sphere, algorithm 3: mu c_n", ".2354", 0.2 * float(p[0])),
                Check("sphere, algorithm 3: reported as solved", 0.0, float(report.result.solution.success), 0.0),
            ]
        data[name] = obtained | {"status": str(report.status), "residual": report.residual}
    return checks, data


# --- solution sets that are not convex ---------------------------------------

_MASS, _STEP, _GRAVITY, _MU = 2.0, 0.05, 9.81, 0.4
_PRESSED = _MASS * _STEP * _GRAVITY  # 0.981 N s


def resting_body(x: tuple[float, ...], *, rotates: bool) -> FrictionProblem:
    """Return the step of a planar body at rest on contacts at abscissae `x`, mass centre 0.3 above them."""
    M = np.diag([_MASS, _MASS, 0.5])
    J = np.array([row for s in x for row in ([0.0, 1.0, s], [1.0, 0.0, 0.3])])
    if not rotates:
        M, J = M[:2, :2], J[:, :2]
    f = np.zeros(M.shape[0])
    f[1] = -_PRESSED
    return FrictionProblem.from_global(M, J.T, f, np.zeros(2 * len(x)), _MU, dim=2, cone="polygon")


def lcp_residual(problem: FrictionProblem, z: Array) -> float:
    """Return ``max |min(z, w)|`` of the LCP at ``z = (c_n, beta, lambda)``."""
    return float(np.abs(np.minimum(z, friction_as_lcp(problem).slack(z))).max())


def nonconvex() -> Reproduction:
    """Reproduce 6.3: the printed example is none, two corrected ones are."""
    q = _PRESSED
    b = _MU * q / 3.0
    half = q / 2.0
    f = _MU * half
    two = resting_body((-1.0, 1.0), rotates=True)
    sliding = resting_body((-1.0, 1.0), rotates=False)
    three = resting_body((-1.0, 0.0, 1.0), rotates=True)
    zero = [0.0] * 4
    first, second = np.array([half, half, *zero, 1.0, 1.0]), np.array([half, half, 0.0, f, f, 0.0, 0.0, 0.0])
    repaired = np.array([half, half, *zero, 0.0, 0.0])
    za, zb = np.array([q, 0.0, *zero, 0.0, 1.0]), np.array([half, half, 0.0, f, f, 0.0, 0.0, 0.0])
    zc = np.array([half, 0.0, half, *zero, 0.0, 0.0, 0.0, 1.0, 0.0])
    zd = np.array([q / 3.0, q / 3.0, q / 3.0, b / 2.0, 0.0, 0.0, b, b / 2.0, 0.0, 0.0, 0.0, 0.0])
    rounding = 1e-15
    checks = [
        printed("printed solution 1, residual", "0.1962", lcp_residual(two, first)),
        Check("printed solution 1 with lambda = 0, residual", 0.0, lcp_residual(two, repaired), rounding),
        Check("printed solution 2, residual", 0.0, lcp_residual(two, second), rounding),
        Check("its average with the repaired one, residual", 0.0, lcp_residual(two, (repaired + second) / 2), rounding),
        Check("body that translates, first solution, residual", 0.0, lcp_residual(sliding, za), rounding),
        Check("body that translates, second solution, residual", 0.0, lcp_residual(sliding, zb), rounding),
        printed("body that translates, average, residual", "0.0981", lcp_residual(sliding, (za + zb) / 2)),
        Check("three contacts in line, first solution, residual", 0.0, lcp_residual(three, zc), rounding),
        Check("three contacts in line, second solution, residual", 0.0, lcp_residual(three, zd), rounding),
        printed("three contacts in line, average, residual", "0.0654", lcp_residual(three, (zc + zd) / 2)),
    ]
    data: dict[str, Any] = {}
    solvers = {f"algorithm {k}": AnitescuHart(algorithm=k, qp_tolerance=1e-14) for k in (1, 2, 3)} | {"Lemke": Lemke()}
    for name, problem in (("two contacts", two), ("translating", sliding), ("three contacts", three)):
        for label, solver in solvers.items():
            found = solve(problem, solver, tolerance=1e-12)
            speed = float(np.abs(problem.velocity(found.z)).max())
            checks.append(Check(f"{name}, {label}: largest contact velocity", 0.0, speed, 1e-12))
            data[f"{name}, {label}"] = {"status": str(found.status), "residual": found.residual, "speed": speed}
    relaxed = solve(first_relaxation(three).qp, ProximalQP(), tolerance=1e-12)
    data["P1(0) of three contacts, residual"] = relaxed.residual
    return Reproduction(checks, data)


EXAMPLES = (
    Example("single-contact", "S2", "one contact: where the fixed point converges, crawls and cycles", single_contact),
    Example("nonconvex", "S2", "solution sets that are not convex: the printed example corrected", nonconvex),
    *s2_convergence.EXAMPLES,
    *s2_pile.EXAMPLES,
)
