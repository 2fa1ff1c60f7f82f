"""The compiled step, excerpts: contacts of a large island where sweeps are still needed, as a problem of their own.

See :mod:`signorini.solvers.nsgs_excerpt`. The excerpt lies in SCRATCH, which sweeps over the whole island do not need
at that time: numbers in front, indices in the end (EXCERPT): how many contacts, blocks and rows it has, the new number
of each row of y, the contacts picked, then where their blocks begin and the rows of these.
"""

from __future__ import annotations

import math

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.engine.arrays import (
    BLOCK,
    COMPLIANCE,
    EXCERPT,
    FIRST_BODY,
    FIRST_CONTACT,
    GATHER,
    GOAL,
    ISLAND,
    LOAD,
    LOCAL,
    MU,
    N_BODIES,
    N_CONTACTS,
    NUMBERS,
    RESTS,
    RHO,
    SCRATCH,
    SLIP,
    SMALL,
    SOLVING,
    START,
    TOLERANCE,
    P,
)
from signorini.posing.constants import ERRS, EXCERPT_SHARE, LAYERS, LEFT, LEFT_AT_REST, OF_ALL
from signorini.solvers.nsgs_excerpt import copy_contacts, mark_rows, pick_contacts
from signorini.solvers.nsgs_kernels import Course, Swept

_HEAD = 3  # indices in front: contacts, blocks and rows of the excerpt
_NUMBERS = 27  # of a contact, besides its blocks and the state of the sweeps


@inner_kernel
def island_views(t: IntArray, i: int) -> tuple[Swept, Course]:
    """Return the problem of an island, as it is swept over."""
    island, start, solving = whole_rows(t, ISLAND), wholes(t, START), reals(t, SOLVING)
    first, last = island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]
    m, n, at = 6 * island[i, N_BODIES], 3 * island[i, N_CONTACTS], 6 * island[i, FIRST_BODY] + 3 * first
    span, block, gather = start[first : last + 1], wholes(t, BLOCK), real_blocks(t, GATHER)
    state = solving[at : at + m + n]
    problem = Swept(
        gather_start=span,
        gather_index=block,
        gather=gather,
        scatter_start=span,
        scatter_index=block,
        scatter=gather,
        load=real_rows(t, LOAD)[first:last],
        mu=reals(t, MU)[first:last],
        rho=reals(t, RHO)[first:last],
        local=real_rows(t, LOCAL)[first:last],
        compliance=real_rows(t, COMPLIANCE)[first:last],
    )
    course = Course(
        state=state,
        y=state[:m].reshape((m // 3, 3)),
        p=state[m:].reshape((n // 3, 3)),
        best_p=real_rows(t, P)[first:last],
        slip=reals(t, SLIP)[first:last],
        scratch=reals(t, SCRATCH),
    )
    return (problem, course)


@inner_kernel
def excerpt_views(t: IntArray, i: int) -> tuple[Swept, Course]:
    """Return the problem of the excerpt of an island, as it is swept over."""
    numbers, memory = wholes(t, EXCERPT), reals(t, SCRATCH)
    n, blocks, rows = numbers[0], numbers[1], numbers[2]
    at = _HEAD + 2 * whole_rows(t, ISLAND)[i, N_BODIES] + n
    start, block = numbers[at : at + n + 1], numbers[at + n + 1 : at + n + 1 + blocks]
    m, to = 3 * rows, 9 * blocks
    gather = memory[:to].reshape((blocks, 3, 3))
    local = memory[to : to + 15 * n].reshape((n, 15))
    to += 15 * n
    load = memory[to : to + 3 * n].reshape((n, 3))
    to += 3 * n
    best = memory[to : to + 3 * n].reshape((n, 3))
    to += 3 * n
    compliance = memory[to : to + 3 * n].reshape((n, 3))
    to += 3 * n
    mu, rho, slip = memory[to : to + n], memory[to + n : to + 2 * n], memory[to + 2 * n : to + 3 * n]
    to += 3 * n
    state = memory[to : to + m + 3 * n]
    y, p = state[:m].reshape((rows, 3)), state[m:].reshape((n, 3))
    problem = Swept(start, block, gather, start, block, gather, load, mu, rho, local, compliance)
    return (problem, Course(state, y, p, best, slip, memory[to + m + 3 * n :]))


@inner_kernel
def take_excerpt(t: IntArray, i: int, residual: float) -> bool:
    """Write the contacts of an island that err, with their neighbours, as a problem of their own, and its tolerance.

    False if they are too many. The island has just been swept over, and the residual was this.
    """
    whole, course = island_views(t, i)
    p, y = course.p, course.y
    numbers, n_y, tolerance = wholes(t, EXCERPT), y.shape[0], reals(t, NUMBERS)[TOLERANCE]
    rests = whole_rows(t, ISLAND)[i, RESTS] == 1
    row_of, most = numbers[_HEAD : _HEAD + n_y], (numbers.shape[0] - _HEAD - n_y - 1) // 6
    errs = max(ERRS * (LEFT_AT_REST if rests else 1.0) * tolerance, OF_ALL * residual)
    square = mark_rows(whole, p, y, errs, LAYERS, row_of)
    picked = numbers[_HEAD + n_y : _HEAD + n_y + min(most, int(EXCERPT_SHARE * p.shape[0]))]
    n, blocks, rows = pick_contacts(whole.gather_start, whole.gather_index, row_of, picked)
    window = real_blocks(t, SMALL).shape[1] - 1
    needed = 9 * blocks + _NUMBERS * n + (window + 2) * (3 * rows + 3 * n) + window * 3 * rows
    if n <= 0 or blocks > 4 * most or needed > course.scratch.shape[0] - numbers.shape[0]:
        return False
    numbers[0], numbers[1], numbers[2] = n, blocks, rows
    excerpt, own = excerpt_views(t, i)
    scale = copy_contacts(picked[:n], row_of, whole, p, y, excerpt, own.best_p, own.y)
    left = LEFT_AT_REST if rests else LEFT
    reals(t, NUMBERS)[GOAL] = left * tolerance * (math.sqrt(square / scale) if scale > 0.0 else 1.0)
    return True


@inner_kernel
def give_back(t: IntArray, i: int, p: Array) -> None:
    """Write the impulses of the excerpt of an island to where they belong."""
    island, numbers, best = whole_rows(t, ISLAND), wholes(t, EXCERPT), real_rows(t, P)
    for c in range(p.shape[0]):
        for k in range(3):
            best[island[i, FIRST_CONTACT] + numbers[_HEAD + 2 * island[i, N_BODIES] + c], k] = p[c, k]
