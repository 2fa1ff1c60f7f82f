r"""The compiled step, solution: accelerated sweeps over one island after another, and compliance where they must.

A large pile that collapses makes rigid problems that no method solves both reliably and quickly. An island that resists
is posed with an elastic layer for the step: with p_ref the impulses of the last step, or where the rigid sweeps ended,

.. math::
    \hat u = u + A (p - p_{ref}) + \sigma n, \qquad A = \mathrm{diag}(a_n, a_T, a_T), \quad a \sim \alpha W,

in the law instead of :math:`u + \sigma n`. Cone and De Saxce's term stay exact. Impulses that do not change find no
compliance at all, so that nothing at rest sinks or creeps, whatever alpha is, and alpha may change from step to step
without a jump of force. An open gap :math:`G = \Psi/h` that a loaded layer bridges asks for
:math:`\max(G/5 - e, G - 2 e)`, :math:`e = a_n p_{ref,n}`, in place of :math:`G - e`: a contact that opens by a
millionth must not lose its force at once.

How soft an island is, is remembered with its contacts: alpha, the steps to wait before it is tried as rigid again, the
next such wait, and the alpha at which it begins. All is counted in sweeps and steps, so that runs repeat bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.formulations.step_arrays import (
    BLOCK,
    COMPLIANCE,
    COUNTS,
    DIAGONAL,
    GAP,
    GATHER,
    ISLAND,
    ISLANDS,
    LIMIT,
    LOAD,
    LOCAL,
    MU,
    NUMBERS,
    REFERENCE,
    RHO,
    SCRATCH,
    SEEN,
    SHIFT,
    SLIP,
    SMALL,
    SOFT,
    SOFTEN,
    SOFTNESS,
    SOLVING,
    START,
    SWEEPS,
    TOLERANCE,
    B,
    H,
    P,
    U,
)
from signorini.problems.couplings import apply_couplings, fill_inverse_normal_diagonal
from signorini.solvers.nsgs_acceleration import gauss_seidel
from signorini.solvers.nsgs_kernels import local_data

WINDOW = 5
SWEEP_LIMIT = 2000
_FEW, _MANY = 150, 300  # contacts up to which robust methods come before compliance, and to which they do ...
_UNEQUAL = 30.0  # ... if the compliances W_nn of the bodies differ by so much: heavy on light would sink in
_MARGIN = 0.9  # of the tolerance: the residual of all islands together is measured again
_AFTER = 2  # sweeps after a guess was found good enough: taken as it is in every step, its error would add up to creep
_ROUNDING = 1e-14  # a residual that no sweep betters
_PATIENCE, _PROGRESS = 200, 0.1
_FORESIGHT = 16  # sweeps by which the fall of the residual is judged where sweeps are few
# Sweeps allowed to large islands: rigid, rigid again, compliant, at the largest alpha.
_RIGID, _AGAIN, _COMPLIANT, _LAST = 100, 64, 160, 1000
_FIRST, _LEAST, _MOST = 0.05, 1e-3, 0.4  # of alpha
_LONGEST_WAIT = 16.0

# What an island is tried as.
_AS_RIGID, _AS_SOFT, _AFTERWARDS = 0, 1, 2


@inner_kernel
def _pose_island(t: IntArray, first: int, last: int, alpha: float) -> None:
    """Set load, compliance and all that follows from the diagonal for the contacts of an island."""
    h = reals(t, NUMBERS)[H]
    b, load, gap, shift = real_rows(t, B), real_rows(t, LOAD), reals(t, GAP), reals(t, SHIFT)
    diagonal, compliance, reference = real_blocks(t, DIAGONAL), real_rows(t, COMPLIANCE), real_rows(t, REFERENCE)
    for k in range(first, last):
        for i in range(3):
            diagonal[k, i, i] -= compliance[k, i]
        tangential = alpha * 0.5 * (diagonal[k, 1, 1] + diagonal[k, 2, 2])
        compliance[k, 0] = alpha * diagonal[k, 0, 0]
        compliance[k, 1] = tangential
        compliance[k, 2] = tangential
        for i in range(3):
            diagonal[k, i, i] += compliance[k, i]
            load[k, i] = b[k, i] - compliance[k, i] * reference[k, i]
        e = compliance[k, 0] * reference[k, 0]
        load[k, 0] += shift[k]
        if e > 0.0 and gap[k] > 0.0 and shift[k] == gap[k] / h:
            load[k, 0] += max(-0.8 * shift[k], -e)
    fill_inverse_normal_diagonal(diagonal[first:last], reals(t, RHO)[first:last])
    local_data(diagonal[first:last], reals(t, RHO)[first:last], real_rows(t, LOCAL)[first:last])


@bare_kernel
def _most(softness: Array, first: int, last: int, column: int) -> float:
    """Return the largest entry of a column over an island."""
    most = 0.0
    for k in range(first, last):
        most = max(most, softness[k, column])
    return most


@inner_kernel
def _may_be_soft(t: IntArray, first: int, last: int) -> bool:
    """Tell whether an island that resists is made compliant at once, before robust methods are asked."""
    counts, diagonal = wholes(t, COUNTS), real_blocks(t, DIAGONAL)
    if counts[SOFT] == 0 or (last - first <= _FEW and counts[SOFTEN] == 0):
        return False
    if last - first > _MANY or counts[SOFTEN] == 1:
        return True
    least, most = diagonal[first, 0, 0], diagonal[first, 0, 0]
    for k in range(first, last):
        least = min(least, diagonal[k, 0, 0])
        most = max(most, diagonal[k, 0, 0])
    return bool(most <= _UNEQUAL * least)


@inner_kernel
def solve_step(t: IntArray) -> bool:
    """Solve all islands to the tolerance, from the guess in P; False if some island resists.

    One call for all sweeps, and no function between: the compiler goes through the sweeps anew for each caller.
    """
    counts, tolerance = wholes(t, COUNTS), reals(t, NUMBERS)[TOLERANCE]
    island, start, block, gather = whole_rows(t, ISLAND), wholes(t, START), wholes(t, BLOCK), real_blocks(t, GATHER)
    load, mu, rho, local = real_rows(t, LOAD), reals(t, MU), reals(t, RHO), real_rows(t, LOCAL)
    best, compliance, u, slip = real_rows(t, P), real_rows(t, COMPLIANCE), real_rows(t, U), reals(t, SLIP)
    solving, scratch, small = reals(t, SOLVING), reals(t, SCRATCH), real_blocks(t, SMALL)
    softness, reference = real_rows(t, SOFTNESS), real_rows(t, REFERENCE)
    for c in range(counts[SEEN]):
        for k in range(3):
            compliance[c, k] = 0.0
    counts[SWEEPS] = 0
    solved = True
    i, fresh = 0, True
    alpha, wait, back, entry, tried, total, large, entering = 0.0, 0.0, 0.0, 0.0, _AS_RIGID, 0, False, False
    # Numbers that are not constants to the compiler: it would compile all for each.
    goal, limit, progress = 0.0, counts[LIMIT], _PROGRESS
    window: Any = np.int64(WINDOW)
    patience: Any = np.int64(_PATIENCE)
    while i < counts[ISLANDS]:
        first, last = island[i, 2], island[i, 2] + island[i, 0]
        m, n = 6 * island[i, 1], 3 * island[i, 0]
        if fresh:
            alpha, wait = _most(softness, first, last, 0), _most(softness, first, last, 1)
            back, entry = max(1.0, _most(softness, first, last, 2)), _most(softness, first, last, 3)
            large = _may_be_soft(t, first, last)
            entering = False
            tried = _AS_RIGID if alpha == 0.0 or (alpha <= _LEAST and wait <= 0.0) or not large else _AS_SOFT
            total = 0
            fresh = False
        if tried != _AFTERWARDS:
            _pose_island(t, first, last, alpha if tried == _AS_SOFT else 0.0)
            goal, window = _MARGIN * tolerance, np.int64(WINDOW)
            limit, patience, progress = counts[LIMIT], np.int64(_PATIENCE), _PROGRESS
            if large:
                limit = np.int64(_COMPLIANT if alpha < _MOST else _LAST)
                if tried == _AS_RIGID:
                    limit = np.int64(_RIGID if alpha == 0.0 else _AGAIN)
                if limit != _LAST:
                    patience, progress = np.int64(_FORESIGHT), 0.0
        at = 6 * island[i, 3] + 3 * first
        state = solving[at : at + m + n]
        y, p = state[:m].reshape((m // 3, 3)), state[m:].reshape((n // 3, 3))
        for c in range(last - first):
            for k in range(3):
                p[c, k] = best[first + c, k]
        span = start[first : last + 1]
        sweeps, residual = gauss_seidel(
            span,
            block,
            gather,
            span,
            block,
            gather,
            load[first:last],
            mu[first:last],
            rho[first:last],
            local[first:last],
            state,
            y,
            p,
            best[first:last],
            compliance[first:last],
            u[first:last],
            slip[first:last],
            scratch,
            small,
            window,
            goal,
            limit,
            patience,
            progress,
        )
        total += sweeps
        if tried == _AS_RIGID and residual <= tolerance:
            if alpha == 0.0:
                back = max(1.0, 0.5 * back)
            alpha = 0.0
            if residual > _ROUNDING:
                tried = _AFTERWARDS
                goal, limit, window, patience = 0.0, np.int64(_AFTER), np.int64(1), np.int64(_AFTER)
                continue
        elif tried == _AS_RIGID and large:
            for c in range(first, last):  # nearer to the impulses of this step than those of the last
                for k in range(3):
                    reference[c, k] = best[c, k]
            if alpha == 0.0:
                alpha = entry if entry > 0.0 else _FIRST
                entering = True
            wait = back
            back = min(2.0 * back, _LONGEST_WAIT)
            tried = _AS_SOFT
            continue
        elif tried == _AS_SOFT and residual > tolerance and alpha < _MOST:
            alpha = min(2.5 * alpha, _MOST)
            continue
        elif tried == _AS_SOFT:
            if entering:
                entry = max(0.5 * alpha if sweeps <= 40 else alpha, 4.0 * _LEAST)
            if sweeps <= 40:
                alpha = max(_LEAST, (0.75 if sweeps <= 24 else 0.9) * alpha)
            elif sweeps > 96:
                alpha = min(1.5 * alpha, _MOST)
            if alpha == _LEAST:
                wait -= 1.0
        if tried != _AFTERWARDS:
            solved = solved and residual <= tolerance
        for c in range(first, last):
            softness[c, 0] = alpha
            softness[c, 1] = wait
            softness[c, 2] = back
            softness[c, 3] = entry
        counts[SWEEPS] = max(counts[SWEEPS], total)
        i += 1
        fresh = True
    return solved


@inner_kernel
def contact_velocities(t: IntArray) -> None:
    """Find y and ``u = W p + b`` (b with the shift, W with the compliance) afresh from the impulses in P."""
    counts, island, start = wholes(t, COUNTS), whole_rows(t, ISLAND), wholes(t, START)
    block, gather, solving = wholes(t, BLOCK), real_blocks(t, GATHER), reals(t, SOLVING)
    p, load, u, compliance = real_rows(t, P), real_rows(t, LOAD), real_rows(t, U), real_rows(t, COMPLIANCE)
    for i in range(counts[ISLANDS]):
        first, last = island[i, 2], island[i, 2] + island[i, 0]
        at = 6 * island[i, 3] + 3 * first
        y = solving[at : at + 6 * island[i, 1]].reshape((2 * island[i, 1], 3))
        span = start[first : last + 1]
        apply_couplings(span, block, gather, span, block, gather, p[first:last], load[first:last], y, u[first:last])
    for c in range(counts[SEEN]):
        for k in range(3):
            u[c, k] += compliance[c, k] * p[c, k]
