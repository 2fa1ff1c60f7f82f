"""The compiled step, signs: what is seen of an island before it is swept over, and of its impulses afterwards."""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    A_BODY,
    B_BODY,
    BEFORE,
    BLOCK,
    COUNTS,
    FILL,
    FIRST_CONTACT,
    GATHER,
    ISLAND,
    MU,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    ORDER,
    SEEN,
    SEEN_INDEX,
    SHIFT,
    START,
    TOLERANCE,
    B,
    P,
)
from signorini.engine.excerpt import island_views
from signorini.math.cones import ROUNDING, allowed_error, natural_square
from signorini.posing.constants import FACE, SMALL_ISLAND, STIRRED_SPEED
from signorini.solvers.island_constants import EDGE, RESTING
from signorini.solvers.nsgs_kernels import set_velocities


@inner_kernel
def is_cold(reference: Array, first: int, last: int) -> bool:
    """Tell whether nothing is known of the impulses of an island."""
    most = 0.0
    for k in range(first, last):
        most = max(most, reference[k, 0])
    return most == 0.0


@inner_kernel
def speeds(t: IntArray, first: int, last: int) -> tuple[float, float]:
    """Return how fast contacts moved before the step, at most and by their mean square, where their load gives 1."""
    before, b, order, seen = real_rows(t, BEFORE), real_rows(t, B), wholes(t, ORDER), wholes(t, COUNTS)[SEEN]
    fastest, free, square = 0.0, 0.0, 0.0
    for k in range(first, last):
        if order[k] >= seen:  # a law of a joint: motors at their limits slide where all rests
            continue
        for i in range(3):
            fastest, free = max(fastest, abs(before[k, i])), max(free, abs(b[k, i]))
            square += before[k, i] ** 2
    pace = math.sqrt(square / (last - first))
    return (fastest / free, pace / free) if free > 0.0 else (1.0, 1.0)


@inner_kernel
def stirs(t: IntArray, i: int) -> bool:
    """Tell whether contacts that were at rest and touch would move with the impulses of the sweeps, which solve it.

    Only those can that bear nothing or are at the edge of their cones.
    """
    problem, course = island_views(t, i)
    load, p, y = problem.load, course.p, course.y
    start, block, gather = wholes(t, START), wholes(t, BLOCK), real_blocks(t, GATHER)
    first, free, fastest = whole_rows(t, ISLAND)[i, FIRST_CONTACT], 0.0, 0.0
    mu, shift, b, before = reals(t, MU), reals(t, SHIFT), real_rows(t, B), real_rows(t, BEFORE)
    for c in range(p.shape[0]):
        k = first + c
        free = max(free, abs(b[k, 0]), abs(b[k, 1]), abs(b[k, 2]))
    for c in range(p.shape[0]):
        k = first + c
        inside = p[c, 1] ** 2 + p[c, 2] ** 2 < (EDGE * mu[k] * p[c, 0]) ** 2
        moved = max(abs(before[k, 0]), abs(before[k, 1]), abs(before[k, 2])) > RESTING * free
        if inside or moved or shift[k] > STIRRED_SPEED * free or mu[k] == 0.0:
            continue
        for l in range(3):
            u = load[c, l]
            for g in range(start[k], start[k + 1]):
                m = block[g]
                u += gather[g, l, 0] * y[m, 0] + gather[g, l, 1] * y[m, 1] + gather[g, l, 2] * y[m, 2]
            fastest = max(fastest, abs(u))
    return fastest > STIRRED_SPEED * free


@inner_kernel
def moves_on(t: IntArray, i: int) -> bool:
    """Tell whether a small island slides on, no contact that bears load having closed, with impulses that may be open.

    They are where one pair of bodies has more such contacts than three, or the island more than twice its bodies.
    """
    island, order, seen, index = (
        whole_rows(t, ISLAND),
        wholes(t, ORDER),
        wholes(t, COUNTS)[SEEN],
        whole_rows(t, SEEN_INDEX),
    )
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    if island[i, N_BODIES] > SMALL_ISLAND or last - first < FACE:
        return False
    p, b, before, free, closes = real_rows(t, P), real_rows(t, B), real_rows(t, BEFORE), 0.0, 0.0
    bearing, together, most, pair = 0, 0, 0, (-1, -1)
    for k in range(first, last):
        free = max(free, abs(b[k, 0]), abs(b[k, 1]), abs(b[k, 2]))
        if p[k, 0] > 0.0 and order[k] < seen:
            bearing += 1
            closes = max(closes, abs(before[k, 0]))
            now = (index[order[k], A_BODY], index[order[k], B_BODY])
            together = together + 1 if now[0] == pair[0] and now[1] == pair[1] else 1
            most, pair = max(most, together), now
    return closes <= STIRRED_SPEED * free and (most >= FACE or bearing > 2 * island[i, N_BODIES])


@inner_kernel
def is_known(softness: Array, first: int, last: int) -> bool:
    """Tell whether the robust solver knew all contacts of an island in the last step.

    What solves it as it is then has the least impulses already: those of the last step had.
    """
    known = True
    for k in range(first, last):
        known = known and softness[k, FILL] > 0.0
    return known


@inner_kernel
def rounds(t: IntArray, i: int, great: float) -> bool:
    """Tell whether impulses are `great` times what the load asks of the lightest contact: there rounding matters."""
    problem, course = island_views(t, i)
    rho, load, p = problem.rho, problem.load, course.best_p
    greatest, fastest, lightest = 0.0, 0.0, math.inf
    for k in range(p.shape[0]):
        lightest = min(lightest, rho[k])
        for l in range(3):
            greatest, fastest = max(greatest, abs(p[k, l])), max(fastest, abs(load[k, l]))
    return greatest > great * lightest * fastest


@inner_kernel
def is_credible(t: IntArray, i: int, residual: float) -> bool:
    """Tell whether the step will believe the impulses of island `i`, in P, by the velocity of every contact.

    A residual is relative to all impulses: beside those of heavy bodies it may leave light ones any velocity.
    """
    problem, course = island_views(t, i)
    load, mu, rho, compliance = problem.load, problem.mu, problem.rho, problem.compliance
    y, u, p = course.y, course.p, course.best_p
    tolerance, whole, own, fastest, lightest, greatest = reals(t, NUMBERS)[TOLERANCE], 0.0, 0.0, 0.0, math.inf, 0.0
    for c in range(mu.shape[0]):
        size = p[c, 0] ** 2 + p[c, 1] ** 2 + p[c, 2] ** 2
        whole, lightest, greatest = whole + size, min(lightest, rho[c]), max(greatest, math.sqrt(size) / rho[c])
        for k in range(3):
            own, fastest = own + (rho[c] * load[c, k]) ** 2, max(fastest, abs(load[c, k]))
    lost = ROUNDING * greatest / fastest if fastest > 0.0 else 0.0
    allowed = allowed_error(tolerance, lost) * fastest
    if residual * math.sqrt(max(whole, own)) <= allowed * lightest:
        return True
    set_velocities(problem, p, y, u)
    credible = True
    for c in range(mu.shape[0]):
        for k in range(3):
            u[c, k] += compliance[c, k] * p[c, k]
        square = natural_square(p[c, 0], p[c, 1], p[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], rho[c])
        credible = credible and square <= (allowed * rho[c]) ** 2 and -u[c, 0] <= allowed
    return credible
