"""The compiled step, rebounds: what gaps ask for, and how much of a rebound an island may have, see ``passive_law``."""

from __future__ import annotations

import math

from signorini._arrays import IntArray
from signorini._jit import inner_kernel, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    BEFORE,
    BLOCK,
    CHECK,
    COMPLIANCE,
    CORRECTED,
    COUNTS,
    COUPLE_AXES,
    COUPLE_LOAD,
    COUPLE_P,
    DRIFT,
    FIRST_BODY,
    FIRST_CONTACT,
    FIXED,
    GAP,
    GRAVITY_X,
    HAS_JOINTS,
    ISLAND,
    ISLANDS,
    LIFT,
    LOAD,
    MAY_CLOSE,
    MET,
    MU,
    N_BODIES,
    N_CONTACTS,
    NORMAL,
    NUMBERS,
    ORDER,
    PULL,
    Q_START,
    REBOUND,
    REBOUND_SHARES,
    REBOUNDS,
    REFERENCE,
    RESCUED,
    RESIDUAL,
    RHO,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    SHIFT,
    SIZE,
    SOLVING,
    START,
    SUCCESS,
    TEMPERED,
    TOLERANCE,
    VEERED,
    B,
    H,
    P,
    Q,
    U,
)
from signorini.math.cones import natural_norms
from signorini.math.rotation import dot, tangent_frame
from signorini.posing.constants import BAND
from signorini.posing.gap_law import normal_shifts
from signorini.posing.passive_law import ASKED_SHARE, ROUND, SETTLED, UNSOLVED, is_seen, next_share, relative_gain


@inner_kernel
def ask_of_gaps(t: IntArray, first: int, last: int, lift: float, share: float) -> bool:
    """Write what gaps ask of the normal velocities of some contacts; tell whether one of them rebounds."""
    numbers = reals(t, NUMBERS)
    return normal_shifts(
        reals(t, GAP)[first:last],
        reals(t, VEERED)[first:last],
        reals(t, SIZE)[first:last],
        real_rows(t, B)[first:last],
        real_rows(t, BEFORE)[first:last],
        reals(t, REBOUND)[first:last],
        real_rows(t, REFERENCE)[first:last],
        numbers[PULL],
        lift,
        numbers[DRIFT],
        share,
        reals(t, SHIFT)[first:last],
        reals(t, CORRECTED)[first:last],
        reals(t, MAY_CLOSE)[first:last],
    )


@inner_kernel
def ask_of_islands(t: IntArray, joined_lift: float) -> None:
    """Write what gaps ask of all contacts; overlaps of islands with joints recede, those of others are displaced.

    With the passive law each island rebounds by its own share, the whole if the step is posed for the first time.
    """
    counts, numbers, island, shares = (
        wholes(t, COUNTS),
        reals(t, NUMBERS),
        whole_rows(t, ISLAND),
        real_rows(t, REBOUND_SHARES),
    )
    counts[REBOUNDS] = 0
    for i in range(counts[ISLANDS]):
        first = island[i, FIRST_CONTACT]
        if counts[TEMPERED] == 0:
            shares[i, ASKED_SHARE] = 1.0
            shares[i, ROUND] = 0.0
        lift = joined_lift if island[i, HAS_JOINTS] == 1 else numbers[LIFT]
        if ask_of_gaps(t, first, first + island[i, N_CONTACTS], lift, shares[i, ASKED_SHARE]):
            counts[REBOUNDS] = 1
        else:
            shares[i, ROUND] = SETTLED


@inner_kernel
def _pushed(t: IntArray, i: int) -> float:
    """Return the energy of what the impulses of island `i` alone would do [J]: half of ``p . W p``."""
    island, solving, counts = whole_rows(t, ISLAND), reals(t, SOLVING), wholes(t, COUNTS)
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    order, start, block = wholes(t, ORDER), wholes(t, START), wholes(t, BLOCK)
    at = 6 * island[i, FIRST_BODY] + 3 * first
    square = 0.0
    for m in range(at, at + 6 * island[i, N_BODIES]):
        square += solving[m] ** 2
    for k in range(first, last):
        if order[k] >= counts[SEEN]:  # the last row of y of a law moves nothing
            m = at + 3 * block[start[k + 1] - 1]
            square -= solving[m] ** 2 + solving[m + 1] ** 2 + solving[m + 2] ** 2
    return 0.5 * square


@inner_kernel
def _free_work(t: IntArray, k: int, l: int) -> float:
    """Return what component `l` of the impulse of row `k` does along the motion without impulses [J].

    Of a law of a joint it is, with the other sign, what it does along the motion that all impulses make.
    """
    p, b, axes = real_rows(t, P), real_rows(t, B), wholes(t, COUPLE_AXES)
    if wholes(t, ORDER)[k] >= wholes(t, COUNTS)[SEEN]:
        row = 0 if reals(t, MU)[k] == 0.0 else 1  # the one that moves something: of limits, and of friction and motors
        made = real_rows(t, U)[k, row] - real_rows(t, LOAD)[k, row] - real_rows(t, COMPLIANCE)[k, row] * p[k, row]
        return -p[k, row] * made if l == row else 0.0
    if axes.shape[0] == 0:
        return p[k, l] * b[k, l] if l < 3 else 0.0
    if l >= axes.shape[0]:
        return 0.0
    work: float = real_rows(t, COUPLE_P)[k, l] * real_rows(t, COUPLE_LOAD)[k, l]
    return work - p[k, 0] * reals(t, SHIFT)[k] if l == 0 else work


@inner_kernel
def _fall(t: IntArray, k: int) -> float:
    """Return half the work of contact `k` along what its bodies fell towards each other [J]: nothing if both fall."""
    c, numbers, value, p = wholes(t, ORDER)[k], reals(t, NUMBERS), real_rows(t, SEEN_VALUE), real_rows(t, P)
    if whole_rows(t, SEEN_INDEX)[c, A_BODY] >= wholes(t, COUNTS)[FIXED]:
        return 0.0
    g = (numbers[GRAVITY_X], numbers[GRAVITY_X + 1], numbers[GRAVITY_X + 2])
    n = (value[c, NORMAL], value[c, NORMAL + 1], value[c, NORMAL + 2])
    tangent, other = tangent_frame(n)
    work: float = 0.5 * numbers[H] * (p[k, 0] * dot(n, g) + p[k, 1] * dot(tangent, g) + p[k, 2] * dot(other, g))
    return work


@inner_kernel
def _is_seen(t: IntArray, i: int) -> bool:
    """Tell whether the impulses of island `i` solve it by the measure of the load, too; couples have their own."""
    if wholes(t, COUPLE_AXES).shape[0] > 0:
        return True
    island = whole_rows(t, ISLAND)
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    error, size, load = natural_norms(
        real_rows(t, P)[first:last],
        real_rows(t, U)[first:last],
        real_rows(t, LOAD)[first:last],
        reals(t, MU)[first:last],
        reals(t, RHO)[first:last],
    )
    return is_seen(error, size, load, reals(t, NUMBERS)[TOLERANCE])


@inner_kernel
def _excess(t: IntArray, i: int) -> tuple[float, float]:
    """Return by how much the rebound of island `i` is too large, and the leverage of its impulses.

    What it gains, or lets bodies close, relative.
    """
    counts, island, order, drift = wholes(t, COUNTS), whole_rows(t, ISLAND), wholes(t, ORDER), reals(t, NUMBERS)[DRIFT]
    p, u, b, load = real_rows(t, P), real_rows(t, U), real_rows(t, B), real_rows(t, LOAD)
    compliance, lifted, space, size = real_rows(t, COMPLIANCE), reals(t, CORRECTED), reals(t, MAY_CLOSE), reals(t, SIZE)
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    pushed = _pushed(t, i)
    taken, handled, apart, fall, close, fastest = 0.0, pushed, 0.0, 0.0, -math.inf, 0.0
    for k in range(first, last):
        for l in range(6):
            work = _free_work(t, k, l)
            taken += work
            handled += abs(work)
        if order[k] < counts[SEEN]:
            apart += p[k, 0] * lifted[k]
            fall += _fall(t, k) if island[i, HAS_JOINTS] == 0 else 0.0
            speed = u[k, 0] - compliance[k, 0] * p[k, 0] - (load[k, 0] - b[k, 0])
            fastest = max(fastest, abs(speed), abs(b[k, 0]))
            close = max(close, -speed - space[k] - BAND * size[k] / drift)
    tolerance = reals(t, NUMBERS)[TOLERANCE]
    excess, leverage = relative_gain(pushed + taken - apart - min(fall, 0.0), pushed + abs(taken), handled, tolerance)
    return (max(excess, close / fastest) if fastest > 0.0 else excess, leverage)


@inner_kernel
def temper_rebounds(t: IntArray) -> bool:
    """Tell whether the rebounds of all islands may stay; if not the step is to be posed again with shares of them."""
    counts, shares, stay = wholes(t, COUNTS), real_rows(t, REBOUND_SHARES), True
    check, tolerance, island = reals(t, CHECK), reals(t, NUMBERS)[TOLERANCE], whole_rows(t, ISLAND)
    resisting = 0
    for i in range(counts[ISLANDS]):
        resisting += 0 if island[i, MET] == 1 else 1
    for i in range(counts[ISLANDS]):
        if shares[i, ROUND] == SETTLED:
            continue
        excess, leverage = _excess(t, i)
        # Where each island is solved and the step is not credible, any of them may be to blame.
        resists = check[SUCCESS] != 1.0 and (island[i, MET] != 1 or resisting == 0)
        if shares[i, ASKED_SHARE] > 0.0 and (resists or not _is_seen(t, i)):
            excess = UNSOLVED
        if next_share(shares[i], excess, leverage * check[RESIDUAL], tolerance):
            shares[i, ROUND] = SETTLED
        else:
            stay = False
    counts[TEMPERED] = 0 if stay else 1
    if stay:
        return True
    counts[RESCUED] = 0
    q, q_start = real_rows(t, Q), real_rows(t, Q_START)
    if reals(t, NUMBERS)[DRIFT] == reals(t, NUMBERS)[H]:  # overlapping bodies were parted where the step begins
        for b in range(q.shape[0]):
            for l in range(7):
                q[b, l] = q_start[b, l]
    return False
