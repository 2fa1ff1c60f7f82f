"""One verb for every kind of problem.

A kind of problem is registered with its default solver and the solvers that take it as it is. A solver of a more
general kind is accepted where a special one is given: the conversions of :mod:`signorini.problems.convert` are applied
here and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import LEAST_TOLERANCE, checked, checked_number, checked_tolerance
from signorini.errors import InputError
from signorini.problems.convert import conversion_path, converted, simplified
from signorini.problems.lcp import LCP
from signorini.problems.mlcp import MixedLCP
from signorini.problems.problem import Problem, accepted
from signorini.solvers.active_set import polished
from signorini.solvers.solution import SUCCESS, Control, Solution, Status


class Solver(Protocol):
    """A method: its fields are its settings, it holds no data of any problem."""

    def solve(self, problem: Any, control: Control, /) -> Solution:
        """Return a solution, or the best point with a status that says what failed."""


@dataclass(frozen=True, slots=True)
class _Kind:
    default: Solver
    solvers: tuple[Solver, ...]


_PLAIN = Control()  # made once: to check its fields takes longer than to solve for a contact or two
_SHARPENED = 3  # times that a simpler problem is solved more sharply, since its scale is another one
_kinds: dict[type, _Kind] = {}
_taken: dict[type, tuple[type, ...]] = {}  # kinds by solver, found when first asked for


def register(kind: type, *, default: Solver, solvers: Sequence[Solver]) -> None:
    """Make problems of type `kind` solvable.

    All solvers named here take such problems as they are, without conversion.

    Parameters
    ----------
    kind : type
        Class of the problem.
    default : Solver
        Used where the caller names none ("auto").
    solvers : sequence of Solver
        One instance, with default settings, of every other solver.
    """
    _kinds[kind] = _Kind(default, tuple(solvers))
    _taken.clear()


def kinds_of(solver: Solver) -> tuple[type, ...]:
    """Return the kinds of problems that `solver` takes as they are; empty if it was never registered."""
    method = type(solver)
    if method not in _taken:
        _taken[method] = tuple(
            kind for kind, known in _kinds.items() if method in {type(s) for s in (known.default, *known.solvers)}
        )
    return _taken[method]


def default_solver(problem: Problem) -> Solver:
    """Return the solver used where none is named."""
    if type(problem) not in _kinds:
        known = ", ".join(sorted(kind.__name__ for kind in _kinds))
        raise InputError(f"solve: problem is a {type(problem).__name__}, must be one of {known}")
    return _kinds[type(problem)].default


def applicable(problem: Problem) -> list[Solver]:
    """Return one instance of every solver that can be tried on `problem`: the default, its own, then by conversion."""
    default = default_solver(problem)
    found = [default, *_kinds[type(problem)].solvers]
    for kind, known in _kinds.items():
        if kind is not type(problem) and conversion_path(type(problem), (kind,)) is not None:
            found.extend(known.solvers)
    unique: dict[type, Solver] = {}
    for solver in found:
        unique.setdefault(type(solver), solver)
    return list(unique.values())


def solve(
    problem: Problem,
    solver: Solver | None = None,
    *,
    tolerance: float | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    start: ArrayLike | None = None,
    callback: Callable[[int, float], object] | None = None,
) -> Solution:
    """Solve a problem of any kind.

    Parameters
    ----------
    problem : LCP, MixedLCP, MCP or any other registered kind
    solver : Solver, optional
        None: the default for this kind, which chooses and combines methods by itself.
    tolerance : float, optional
        The problem's own residual at which a point counts as solved, 1e-14 to 1e-2; 1e-10 if not given.
    time_limit : float, optional
        Seconds.
    max_iterations : int, optional
        Overrides the solver's own limit.
    start : (n,) array, optional
        A guess.
    callback : callable, optional
        Called with (iterations, residual) as the method goes on.

    Returns
    -------
    Solution
        ``success`` is true exactly if the residual, recomputed by the problem, meets the tolerance and the problem
        finds nothing that the residual does not see (``credible``).

    Examples
    --------
    >>> solve(LCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])).z
    array([1.33333333, 2.33333333])
    """
    control = _PLAIN
    if not (tolerance is None and time_limit is None and max_iterations is None and start is None and callback is None):
        control = _control(problem, tolerance, time_limit, max_iterations, start, callback)
    return run(default_solver(problem) if solver is None else solver, problem, control)


def _control(
    problem: Problem,
    tolerance: float | None,
    time_limit: float | None,
    max_iterations: int | None,
    start: ArrayLike | None,
    callback: Callable[[int, float], object] | None,
) -> Control:
    """Return what the caller of :func:`solve` asks for, checked."""
    return Control(
        tolerance=_PLAIN.tolerance if tolerance is None else checked_tolerance(tolerance, "solve: tolerance"),
        time_limit=None if time_limit is None else checked_number(time_limit, "solve: time_limit", least=0.0),
        max_iterations=(
            None if max_iterations is None else int(checked_number(max_iterations, "solve: max_iterations", least=1.0))
        ),
        start=None if start is None else checked(start, (problem.size,), "solve: start"),
        callback=callback,
    )


def run(solver: Solver, problem: Problem, control: Control) -> Solution:
    """Hand `problem` to `solver`, converted if need be, and judge the answer by `problem` itself."""
    with np.errstate(all="ignore"):  # data may span the range of numbers: what comes of it is judged, not warned about
        return _run(solver, problem, control)


def _run(solver: Solver, problem: Problem, control: Control) -> Solution:
    kinds = kinds_of(solver)
    simpler = simplified(problem) if kinds else None
    if (type(problem) in kinds and simpler is None) or not kinds:
        return solver.solve(problem, control)
    chain = conversion_path(type(problem), kinds)
    if chain is None:
        names = ", ".join(kind.__name__ for kind in kinds)
        raise InputError(f"solve: {type(solver).__name__} takes {names}, problem is a {type(problem).__name__}")
    began = time.perf_counter()
    other = converted(problem, chain, first=simpler)
    start = None if control.start is None else other.forth(control.start)
    solution = solver.solve(other.problem, replace(control, start=start))
    z = other.back(solution.z)
    residual = problem.residual(z)
    for _ in range(_SHARPENED if simpler is not None else 0):
        if not (solution.success and control.tolerance < residual < 1.0):
            break  # else scales differ: what solves the other problem well enough is not yet good enough here
        sharper = max(LEAST_TOLERANCE, 0.3 * solution.residual * control.tolerance / residual)
        before = solution.iterations
        solution = solver.solve(other.problem, replace(control, start=solution.z, tolerance=sharper))
        solution = replace(solution, iterations=before + solution.iterations)
        z = other.back(solution.z)
        residual = problem.residual(z)
    if isinstance(problem, LCP | MixedLCP) and residual > 1e-3 * control.tolerance:
        z, residual = polished(problem, z, residual)
    status = _judged(solution.status, accepted(problem, z, residual, control.tolerance))
    info = {**solution.info, "solved_as": type(other.problem).__name__}
    if "solutions" in info:
        info["solutions"] = [other.back(point) for point in info["solutions"]]
    return replace(solution, z=z, status=status, residual=residual, seconds=time.perf_counter() - began, info=info)


def _judged(status: Status, solved: bool) -> Status:
    """Return the status that the original problem allows."""
    if solved:
        return status if status is Status.SEVERAL_SOLUTIONS else Status.SOLVED
    return Status.STALLED if status in SUCCESS else status
