"""``signorini solve``: a problem file, by the default solver or by all that apply."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from signorini.cli.output import DEFAULT, Output, announce_first_run, to_json
from signorini.errors import InputError
from signorini.problems import Problem, load_problem
from signorini.solvers import Control, Solution, Solver, Status, applicable, solve

_COLUMNS = "{:<22}{:<18}{:>11}{:>11}{:>11}{:>12}"
_PATIENCE = 60.0  # seconds that each solver gets where all are compared
_FIGURE = "residuals.png"


def solve_file(path: Path, out: Path | None = None, *, compare: bool, as_json: bool) -> int:
    """Solve the problem in the file `path`; succeeds if some solver does.

    A comparison draws residual against time into the directory `out` (None: a directory named after the problem, or no
    picture where JSON is asked for).
    """
    problem = load_problem(path)
    output = Output(out if out is not None else DEFAULT / path.stem) if compare and (out or not as_json) else None
    announce_first_run()
    if not compare:
        solution = _timed(problem, None)
        rows = [_row(path, problem, solution, solution.solver)]
        solutions, others = {solution.solver: solution}, list[str]()
    else:
        solutions, others = _compare(problem)
        rows = [_row(path, problem, solution, name) for name, solution in solutions.items()]
    if as_json:
        print(to_json(rows if compare else rows[0]))
    else:
        _print_rows(path, problem, rows, others)
    if output is not None:
        _draw(output, path, solutions)
        print(f"written: {output.path(_FIGURE)}", file=sys.stderr if as_json else sys.stdout)
    return 0 if any(solution.success for solution in solutions.values()) else 1


def _compare(problem: Problem) -> tuple[dict[str, Solution], list[str]]:
    """Return the solutions by the names of their solvers, and the solvers that do not apply."""
    solutions: dict[str, Solution] = {}
    others = []
    for solver in applicable(problem):
        name = type(solver).__name__
        try:
            solution = _timed(problem, solver, _PATIENCE)
        except InputError:  # it takes another kind of problem, into which this one cannot be converted
            others.append(name)
            continue
        if solution.status is Status.NOT_APPLICABLE:
            others.append(name)
        else:
            solutions[name] = solution
    return solutions, others


def _timed(problem: Problem, solver: Solver | None, limit: float | None = None) -> Solution:
    """Solve after one iteration for nothing, so that compiling and loading kernels are not counted."""
    solve(problem, solver, max_iterations=1, time_limit=limit)
    return solve(problem, solver, time_limit=limit)


def _row(path: Path, problem: Problem, solution: Solution, solver: str) -> dict[str, Any]:
    rel = getattr(problem, "rel", None)
    return {
        "problem": str(path),
        "contacts": getattr(problem, "contact_count", None),
        "solver": solver,
        "status": str(solution.status),
        "residual": solution.residual,
        "rel": None if rel is None else rel(solution.z),
        "seconds": solution.seconds,
        "iterations": solution.iterations,
    }


def _draw(output: Output, path: Path, solutions: dict[str, Solution]) -> None:
    """Draw residual against time of all runs."""
    from signorini.visual.convergence import Convergence, plot_convergence

    runs = []
    for name, solution in solutions.items():
        points = np.array([*solution.history, (solution.seconds, solution.residual)])
        runs.append(Convergence(name, points[:, 0], points[:, 1], solution.success))
    output.write_figure(_FIGURE, plot_convergence(runs, path.stem, Control().tolerance))


def _print_rows(path: Path, problem: Problem, rows: list[dict[str, Any]], others: list[str]) -> None:
    contacts = getattr(problem, "contact_count", None)
    size = f"{problem.size} unknowns" + (f", {contacts} contacts" if contacts is not None else "")
    print(f"{path}: {type(problem).__name__}, {size}")
    print("  " + _COLUMNS.format("solver", "status", "residual", "rel", "seconds", "iterations"))
    for row in rows:
        rel = "-" if row["rel"] is None else f"{row['rel']:.1e}"
        cells = (
            row["solver"],
            row["status"],
            f"{row['residual']:.1e}",
            rel,
            f"{row['seconds']:.2g}",
            row["iterations"],
        )
        print("  " + _COLUMNS.format(*cells))
    if others:
        print(f"  not applicable: {', '.join(others)}")
