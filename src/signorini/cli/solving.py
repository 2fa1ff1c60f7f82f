"""``signorini solve``: a problem file, by the default solver or by all that apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from signorini.cli.output import announce_compilation, to_json
from signorini.problems import Problem, load_problem
from signorini.solvers import Solution, Solver, applicable, solve

_COLUMNS = "{:<22}{:<18}{:>11}{:>11}{:>11}{:>12}"


def solve_file(path: Path, *, compare: bool, as_json: bool) -> int:
    """Solve the problem in the file `path`; succeeds if some solver does."""
    problem = load_problem(path)
    announce_compilation()
    solvers: list[Solver | None] = [*applicable(problem)] if compare else [None]
    solutions = [_timed(problem, solver) for solver in solvers]
    rows = [_row(path, problem, solution, solver) for solution, solver in zip(solutions, solvers, strict=True)]
    if as_json:
        print(to_json(rows if compare else rows[0]))
    else:
        _print_rows(path, problem, rows)
    return 0 if any(solution.success for solution in solutions) else 1


def _timed(problem: Problem, solver: Solver | None) -> Solution:
    """Solve after one iteration for nothing, so that compiling and loading kernels are not counted."""
    solve(problem, solver, max_iterations=1)
    return solve(problem, solver)


def _row(path: Path, problem: Problem, solution: Solution, solver: Solver | None) -> dict[str, Any]:
    rel = getattr(problem, "rel", None)
    return {
        "problem": str(path),
        "contacts": getattr(problem, "contact_count", None),
        "solver": type(solver).__name__ if solver is not None else solution.solver,
        "status": str(solution.status),
        "residual": solution.residual,
        "rel": None if rel is None else rel(solution.z),
        "seconds": solution.seconds,
        "iterations": solution.iterations,
    }


def _print_rows(path: Path, problem: Problem, rows: list[dict[str, Any]]) -> None:
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
