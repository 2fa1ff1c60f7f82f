"""Damped Newton iterations for the mixed complementarity problem, whatever makes the direction.

The iteration is the same for all methods: take the target that a linear model proposes; trust a few full steps without
looking (watchdog); where that leads nowhere go back to the best point and search along the segment for a decrease of
the merit function; where that fails too take the next, safer direction, in the end the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.matrices import Matrix, principal_block
from signorini.problems.mcp import MCP
from signorini.solvers.linear_systems import solve_linear
from signorini.solvers.mcp_merit import active_sets, fischer, fischer_jacobian, fischer_slopes
from signorini.solvers.progress import Progress
from signorini.solvers.solution import Control, Solution, Status

_ENOUGH = 1e-4  # share of the promised decrease that a step must keep (Armijo)
_SHORTEST = 1e-9  # steps shorter than this have failed
_PATIENCE = 25  # iterations without a better point, or with points that only seem to be solutions, before giving up


@dataclass(frozen=True, slots=True)
class Point:
    """An iterate with everything evaluated there."""

    x: Array
    F: Array
    J: Matrix
    Phi: Array
    theta: float
    """Merit ``|Phi|^2 / 2``."""


Direction = Callable[[MCP, Point], "Array | None"]
"""Proposes where the solution might be, from the linear model at a point; None if it cannot."""


def evaluate(problem: MCP, x: Array) -> tuple[Array, Array, float] | None:
    """Return F, Phi and the merit, None where F is not defined."""
    F = problem.value(x)
    if F is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        Phi = fischer(x, F, *problem.bounds)
        theta = 0.5 * float(Phi @ Phi)
    return (F, Phi, theta) if np.isfinite(theta) else None


def point_at(problem: MCP, x: Array) -> Point | None:
    """Return the iterate at `x`, None where F is not defined.

    Slopes may be infinite on a bound (roots): then they are taken a little inside.
    """
    values = evaluate(problem, x)
    if values is None:
        return None
    for shift in (0.0, 1e-8, 1e-5):
        J = problem.jacobian(x if shift == 0.0 else inside(problem, x, shift))
        if J is not None:
            return Point(x, values[0], J, values[1], values[2])
    return None


def active_set_target(problem: MCP, point: Point) -> Array | None:
    """Put the unknowns of the active sets on their bounds and solve the linear model for the others."""
    lower, upper = problem.bounds
    at_lower, at_upper = active_sets(point.x, point.F, point.J, lower, upper)
    index = np.flatnonzero(~(at_lower | at_upper))
    target = point.x.copy()
    target[at_lower], target[at_upper] = lower[at_lower], upper[at_upper]
    right: Array = point.F + point.J @ (target - point.x)
    step = solve_linear(principal_block(point.J, index), -right[index])
    if step is None:
        return None
    target[index] += step
    return target


def inside(problem: MCP, x: Array, shift: float) -> Array:
    """Return `x` moved by `shift` (relative to its size) away from near bounds, at most half way to the other one."""
    lower, upper = problem.bounds
    margin = np.minimum(shift * (1.0 + np.abs(x)), 0.25 * (upper - lower))
    return np.asarray(np.clip(x, lower + margin, upper - margin))


def solve_along(
    problem: MCP, control: Control, who: str, directions: Sequence[Direction], *, max_iterations: int, watchdog: int
) -> Solution:
    """Return what :func:`iterate` makes of `problem` from the guess, or where the problem says; `who` is the solver."""
    progress = Progress(problem, control, who)
    x = problem.start if control.start is None else np.clip(control.start, *problem.bounds)
    limit = control.max_iterations or max_iterations
    status, iterations = iterate(problem, x, directions, progress, limit=limit, watchdog=watchdog)
    return progress.finish(None, iterations, status)


def iterate(
    problem: MCP,
    x: Array,
    directions: Sequence[Direction],
    progress: Progress[MCP],
    *,
    limit: int,
    watchdog: int,
) -> tuple[Status, int]:
    """Iterate from `x` until solved, stuck or out of time; points go to `progress`.

    Returns
    -------
    status, iterations
    """
    point = point_at(problem, x)
    if point is None:
        return Status.STALLED, 0
    best, trust, unchecked = point, watchdog, 0
    recent = [point.theta]
    merits: list[float] = []
    iterations, seeming = 0, 0
    while True:
        x = np.clip(point.x, *problem.bounds)
        residual = progress.offer(x, iterations)
        if progress.accepts(x, residual):
            _finish(problem, point, residual, progress)
            return Status.SOLVED, iterations
        if progress.out_of_time():
            return Status.TIME_LIMIT, iterations
        if iterations >= limit:
            return Status.ITERATION_LIMIT, iterations
        seeming += residual <= progress.control.tolerance  # small, but not near a solution: it may lie at infinity
        if seeming > _PATIENCE:
            return Status.STALLED, iterations
        merits.append(best.theta)
        if len(merits) > _PATIENCE and merits[-1] > 0.99 * merits[-1 - _PATIENCE]:
            return Status.STALLED, iterations
        iterations += 1
        if point.theta < 0.9 * best.theta:
            best, unchecked = point, 0
        elif unchecked > trust:  # the watchdog barks: back to the best point, and less trust from now on
            point, unchecked, trust = best, 0, trust // 2
            recent = [best.theta]
        after = _step(problem, point, directions, max(recent), full=unchecked <= trust and trust > 0)
        if after is None and point is not best:
            point, trust, unchecked, recent = best, 0, 0, [best.theta]
            continue
        if after is None:
            return Status.STALLED, iterations
        unchecked += 1
        point = after
        recent = [*recent[-4:], point.theta]


def _finish(problem: MCP, point: Point, residual: float, progress: Progress[MCP]) -> None:
    """Take one more step: Newton being quadratic it reaches rounding, and it puts active unknowns exactly on bounds."""
    lower, upper = problem.bounds
    at_lower, at_upper = active_sets(point.x, point.F, point.J, lower, upper)
    on_bounds = (point.x == lower)[at_lower].all() and (point.x == upper)[at_upper].all()
    if on_bounds and residual <= 1e-3 * progress.control.tolerance:
        return
    target = active_set_target(problem, point)
    if target is not None:
        target = np.clip(target, lower, upper)
        after = problem.residual(target)
        if after <= max(residual, 1e-3 * progress.control.tolerance):
            progress.prefer(target, after)


def _step(problem: MCP, point: Point, directions: Sequence[Direction], reference: float, *, full: bool) -> Point | None:
    """Return the next iterate, None if no direction leads anywhere."""
    slope_at_x = _merit_gradient(problem, point)
    for direction in directions:
        target = direction(problem, point)
        if target is None:
            continue
        if full and direction is directions[0]:
            after = point_at(problem, target)
            if after is not None and after.theta <= 1e6 * (reference + 1e-300):
                return after
        d = target - point.x
        after = _searched(problem, point, d, reference, min(float(slope_at_x @ d), 0.0))
        if after is not None:
            return after
    d = -slope_at_x
    size = float(np.linalg.norm(d))
    if size == 0.0:
        return None
    d *= min(1.0, (1.0 + float(np.linalg.norm(point.x))) / size)
    return _searched(problem, point, d, point.theta, float(slope_at_x @ d))


def _merit_gradient(problem: MCP, point: Point) -> Array:
    """Return ``H^T Phi``."""
    D_a, D_b = fischer_slopes(point.x, point.F, *problem.bounds)
    transposed: Any = fischer_jacobian(D_a, D_b, point.J).T
    return np.asarray(transposed @ point.Phi)


def _searched(problem: MCP, point: Point, d: Array, reference: float, slope: float) -> Point | None:
    """Halve the step until the merit falls enough below `reference`; places where F is undefined count as failures."""
    t = 1.0
    while t > _SHORTEST:
        x = point.x + t * d
        values = evaluate(problem, x)
        if values is not None:
            enough = max(-_ENOUGH * t * slope, 1e-3 * _ENOUGH * t * point.theta)
            if values[2] <= reference - enough:
                after = point_at(problem, x)
                if after is not None:
                    return after
        t *= 0.5
    return None
