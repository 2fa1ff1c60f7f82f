"""Kernels of the nonsmooth Gauss-Seidel method: sweeps to and fro under Anderson acceleration, with safeguards."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel, measured, perform
from signorini.solvers.nsgs_kernels import (
    MOST_PIECES,
    NUMBERS_AT_ONCE,
    Course,
    Swept,
    local_data,
    natural_residual,
    spread,
    sweep,
)

_FRESH = 64  # sweeps after which y, that drifts by rounding, is found anew from p
_ROUNDING = 1e-14  # a residual that no sweep betters
# A guess that meets the tolerance: its residual falls to this part of itself; already this low, of the tolerance, it is
# swept to and fro once and taken as it is.
_FALL, _LOW = 0.1, 1e-3
_ONWARD = 8  # sweeps between two looks at the residual where nothing tells that it is met

# Rows of `job` with the addresses of kernels by which threads share the work.
DOUBLE_SWEEP, RESIDUAL, NOTE, COMBINE, JOB_KERNELS = np.arange(5, dtype=np.int64)


class Effort(NamedTuple):
    """How hard a problem is swept over."""

    window: int
    """Double sweeps that are combined; 1 for none."""
    tolerance: float
    """Residual that is enough."""
    first_look: int
    """Sweeps after which the residual is first looked at."""
    after: int
    """Sweeps by which a guess that meets the tolerance is bettered, at most."""
    max_sweeps: int
    patience: int
    """Sweeps by which progress is judged."""
    progress: float
    """The part to which the residual must fall within them; 0: so fast that `max_sweeps` would do."""


# What the acceleration remembers from round to round: double sweeps in the window, the newest of them, whether the
# state is an extrapolation, least and last change, rounds without a lesser one, plain rounds to come.
Pace = tuple[int, int, bool, float, float, int, int]


@inner_kernel
def combination_weights(gram: Array, m: int, factor: Array, weights: Array) -> bool:
    """Find the weights, of sum 1, of the smallest combination of `m` vectors with this Gram matrix; False if none.

    `factor` is scratch memory of the size of `gram`.
    """
    trace = 0.0
    for i in range(m):
        trace += gram[i, i]
    for i in range(m):
        for j in range(i + 1):
            s = gram[i, j] + (1e-12 * trace if i == j else 0.0)
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i == j:
                if not s > 0.0:
                    return False
                factor[i, i] = math.sqrt(s)
            else:
                factor[i, j] = s / factor[j, j]
    for i in range(m):
        s = 1.0
        for k in range(i):
            s -= factor[i, k] * weights[k]
        weights[i] = s / factor[i, i]
    total = 0.0
    for i in range(m - 1, -1, -1):
        s = weights[i]
        for k in range(i + 1, m):
            s -= factor[k, i] * weights[k]
        weights[i] = s / factor[i, i]
        total += weights[i]
    if not abs(total) > 0.0:
        return False
    for i in range(m):
        weights[i] /= total
    return True


@inner_kernel
def product(a: Array, b: Array, first: int, last: int) -> float:
    """Return the sum of products of some numbers."""
    s = 0.0
    for i in range(first, last):
        s += a[i] * b[i]
    return s


@inner_kernel
def note_round(state: Array, n_y: int, window: int, scratch: Array, slot: int, first: int, last: int) -> None:
    """Write some numbers of the state, and of the change of y since the head of `scratch`, to a slot of the window."""
    n = state.shape[0]
    to_state, to_change = (slot + 1) * n, (window + 1) * n + slot * n_y
    for i in range(first, last):
        scratch[to_state + i] = state[i]
    for i in range(first, min(last, n_y)):
        scratch[to_change + i] = state[i] - scratch[i]


@inner_kernel
def combine(state: Array, scratch: Array, weights: Array, filled: int, first: int, last: int) -> None:
    """Set some numbers of the state to the weighted sum of the states in the window."""
    n = state.shape[0]
    for i in range(first, last):
        s = 0.0
        for k in range(filled):
            s += weights[k] * scratch[(k + 1) * n + i]
        state[i] = s


@inner_kernel
def accelerated(state: Array, n_y: int, window: int, scratch: Array, small: Array, pace: Pace, job: IntArray) -> Pace:
    """Extrapolate from the double sweeps in the window, the last of which led from the head of `scratch` to `state`."""
    filled, last, extrapolated, least_change, last_change, rounds_without, plain = pace
    n, alone = state.shape[0], job.shape[0] == 0
    gram, weights, states, changes = small[0], small[1, window], scratch[n:], scratch[(window + 1) * n :]
    # Noted at once; wherever it turns out not to be wanted, the window is cleared.
    slot, count = last + 1 if filled > 0 and last + 1 < window else 0, min(filled + 1, window)
    if alone:
        note_round(state, n_y, window, scratch, slot, n - n, n)
        length = max(NUMBERS_AT_ONCE, (n_y + MOST_PIECES - 1) // MOST_PIECES)
        for k in range(count):
            gram[slot, k] = 0.0
            for first in range(0, n_y, length):
                gram[slot, k] += product(changes[slot * n_y :], changes[k * n_y :], first, min(first + length, n_y))
    else:
        perform(job[NOTE, 0], (job, slot, count))
    change = gram[slot, slot]
    if extrapolated and change > 4.0 * last_change:
        for i in range(n):
            state[i] = states[last * n + i]
        return (0, last, False, least_change, last_change, rounds_without, 1)
    rounds_without += 1
    if change < 0.99 * least_change:
        least_change = change
        rounds_without = 0
    if rounds_without > 3 * window:
        plain = window
        rounds_without = 0
        filled = 0
    if plain > 0:
        return (filled, last, False, change, change, rounds_without, plain - 1)
    last, filled = slot, count
    for k in range(filled):
        gram[k, last] = gram[last, k]
    extrapolated = filled >= 2 and combination_weights(gram, filled, small[1], weights)
    if extrapolated and alone:
        combine(state, scratch, weights, filled, n - n, n)
    elif extrapolated:
        perform(job[COMBINE, 0], (job, filled))
    return (filled, last, extrapolated, least_change, change, rounds_without, plain)


@inner_kernel
def _hopeless(best: float, tolerance: float, sweeps: int, limit: int, before: float, since: int) -> bool:
    """Tell whether the fall of the residual from `before`, `since` sweeps ago, carried on, is too slow."""
    if not best < before:
        return True
    rate = math.log(best / before) / since
    return sweeps + math.log(tolerance / best) / rate > limit


@inner_kernel
def _sweep_twice(problem: Swept, course: Course, job: IntArray) -> None:
    """Sweep to and fro, the head of the scratch memory keeps where that began."""
    if job.shape[0] > 0:
        perform(job[DOUBLE_SWEEP, 0], (job,))
        return
    n_c = problem.mu.shape[0]
    for i in range(course.state.shape[0]):
        course.scratch[i] = course.state[i]
    for backward in range(2):
        sweep(problem, course.p, course.slip, course.y, n_c - n_c, n_c, backward == 1)


@inner_kernel
def gauss_seidel(problem: Swept, course: Course, small: Array, effort: Effort, job: IntArray) -> tuple[int, float]:
    """Sweep to and fro with Anderson acceleration from p until the residual is met; return sweeps and residual.

    `small` (2, at least window + 1, ...) is work space. The residual is looked at first when `effort` says so, then
    where the changes made by the sweeps promise that it is met, or after 8 more. A guess that meets the tolerance is
    bettered: taken as it is, its error would be made in every step and add up to creep.

    The extrapolation combines the last `window` double sweeps so that the combined change is least in the metric
    ``dp . W dp`` (twice the kinetic energy). Three safeguards keep it from sitting where plain sweeps converge:
    an extrapolated point whose next change is more than twice as large is undone; no smaller change in 3 `window`
    rounds, or no 10 % fall of the residual in 64 sweeps, clears the window and lets plain sweeps work for a while.
    Gives up where progress is too slow. `job` is for threads that share the work, see
    :mod:`~signorini.solvers.nsgs_shared`; without rows there is one thread.
    """
    n_c, p, best_p = problem.mu.shape[0], course.p, course.best_p
    window, tolerance, look, after, max_sweeps, patience, progress = effort
    begin, n_y = n_c - n_c, course.state.shape[0] - 3 * n_c
    for c in range(n_c):
        course.slip[c] = 0.0
    best, wanted, low, sweeps, promise = math.inf, math.inf, False, begin, math.inf
    rest, mark, mark_at, goal, goal_at = 20, math.inf, begin, math.inf, begin
    pace = (begin, begin, begin > 0, math.inf, math.inf, begin, begin)  # a constant would be a type of its own
    spread(problem.scatter_start, problem.scatter_index, problem.scatter, p, course.y)
    while True:
        if sweeps >= look:
            if sweeps % _FRESH == 0:
                spread(problem.scatter_start, problem.scatter_index, problem.scatter, p, course.y)
            shared = job.shape[0] > 0
            residual = measured(job[RESIDUAL, 0], (job,)) if shared else natural_residual(problem, p, course.y)
            if residual < best or low:
                best = residual
                for c in range(n_c):
                    for i in range(3):
                        best_p[c, i] = p[c, i]
            # A guess that is good enough is bettered.
            if sweeps == 0 and after > 0 and residual > _ROUNDING:
                low, wanted = residual <= _LOW * tolerance, _FALL * residual
                if low:
                    tolerance, max_sweeps, window = 0.0, 2, 1
            if wanted < best <= tolerance:
                tolerance, max_sweeps, wanted = wanted, sweeps + after, math.inf
            if best <= tolerance or sweeps >= max_sweeps or not residual < math.inf:
                break
            # Progress, or none that will do.
            if goal == math.inf or (progress > 0.0 and best < progress * goal):
                goal, goal_at = best, sweeps
            elif sweeps - goal_at >= patience:
                if progress > 0.0 or _hopeless(best, tolerance, sweeps, max_sweeps, goal, sweeps - goal_at):
                    break
                goal, goal_at = best, sweeps
            # Stuck: plain sweeps for a while.
            if residual < 0.9 * mark:
                mark, mark_at = residual, sweeps
            elif sweeps - mark_at > 64:
                pace = (0, pace[1], False, pace[3], pace[4], pace[5], rest)
                mark, mark_at = residual, sweeps + 2 * rest
                rest = min(2 * rest, 160)
            look = min(sweeps + _ONWARD - sweeps % _ONWARD, max(max_sweeps, sweeps + 2))
            # Changes shrink with the residual: when by as much as it has yet to fall, it is worth a look.
            promise = pace[4] * (tolerance / residual) ** 2
        _sweep_twice(problem, course, job)
        sweeps += 2
        if window > 1:
            pace = accelerated(course.state, n_y, window, course.scratch, small, pace, job)
            if pace[4] <= promise:
                look = sweeps
    return (sweeps, best)


@kernel
def gauss_seidel_alone(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
    load: Array,
    mu: Array,
    rho: Array,
    blocks: Array,
    state: Array,
    best_p: Array,
    window: int,
    tolerance: float,
    max_sweeps: int,
    patience: int,
    progress: float,
) -> tuple[int, float]:
    """Do as :func:`gauss_seidel` in one thread from `best_p`, with work space of its own; compliance is in W.

    For calls from Python, which cost more for each array than a sweep over a few contacts, and more yet in tuples.
    """
    n_c = mu.shape[0]
    n_y, slots, none = state.shape[0] - 3 * n_c, max(window, 1) + 1, n_c - n_c
    y, p = state[:n_y].reshape((n_y // 3, 3)), state[n_y:].reshape((n_c, 3))
    for c in range(n_c):
        for i in range(3):
            p[c, i] = best_p[c, i]
    local = np.empty((n_c, 15))
    local_data(blocks, rho, local)
    problem = Swept(
        gather_start=gather_start,
        gather_index=gather_index,
        gather=gather,
        scatter_start=scatter_start,
        scatter_index=scatter_index,
        scatter=scatter,
        load=load,
        mu=mu,
        rho=rho,
        local=local,
        compliance=np.zeros((n_c, 3)),
    )
    return gauss_seidel(
        problem,
        Course(state, y, p, best_p, np.empty(n_c), np.empty((2 * slots - 1) * state.shape[0])),
        np.empty((2, slots, slots)),
        Effort(window, tolerance, none, none, max_sweeps, patience, progress),
        np.zeros((0, 4), dtype=np.int64),
    )


@inner_kernel
def sweep_by_address(
    problem: Swept, course: Course, small: Array, effort: Effort, job: IntArray, counts: IntArray, made: int
) -> float:
    """Do as :func:`gauss_seidel`; return the residual, and the sweeps in ``counts[made]``.

    For callers that know its address: written into them, the sweeps would be compiled once more.
    """
    counts[made], residual = gauss_seidel(problem, course, small, effort, job)
    return residual
