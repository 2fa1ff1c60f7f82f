"""The compiled step, parts: the contacts of a large island where sweeps are still needed, as a problem of their own.

See :mod:`signorini.solvers.nsgs_parts`. The part lies in SCRATCH, which sweeps over the whole island do not need at
that time: numbers in front, indices in the end (PART): the new number of each row of y, the contacts picked, then where
their blocks begin and the rows of these.
"""

from __future__ import annotations

import math
from typing import Any

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini.formulations.step_arrays import (
    BLOCK,
    COMPLIANCE,
    GATHER,
    ISLAND,
    LOAD,
    LOCAL,
    MU,
    PART,
    RHO,
    SCRATCH,
    SLIP,
    SMALL,
    SOLVING,
    START,
    P,
)
from signorini.solvers.nsgs_parts import copy_contacts, mark_rows, pick_contacts

# The part: contacts that err by more than so many tolerances and times the residual, if all erred like them; layers of
# neighbours; the largest part of the island; what may be left of its error, in tolerances.
_ERRS, _OF_ALL, _LAYERS, _SHARE, _LEFT = 3.0, 2.0, 2, 0.3, 0.3


@inner_kernel
def island_views(t: IntArray, i: int) -> Any:
    """Return the arrays of an island as :func:`gauss_seidel` takes them."""
    island, start, solving = whole_rows(t, ISLAND), wholes(t, START), reals(t, SOLVING)
    first, last = island[i, 2], island[i, 2] + island[i, 0]
    m, n, at = 6 * island[i, 1], 3 * island[i, 0], 6 * island[i, 3] + 3 * first
    state = solving[at : at + m + n]
    return (
        start[first : last + 1],
        wholes(t, BLOCK),
        real_blocks(t, GATHER),
        real_rows(t, LOAD)[first:last],
        reals(t, MU)[first:last],
        reals(t, RHO)[first:last],
        real_rows(t, LOCAL)[first:last],
        state,
        state[:m].reshape((m // 3, 3)),
        state[m:].reshape((n // 3, 3)),
        real_rows(t, P)[first:last],
        real_rows(t, COMPLIANCE)[first:last],
        reals(t, SLIP)[first:last],
        reals(t, SCRATCH),
    )


@inner_kernel
def part_views(t: IntArray, i: int, size: tuple[int, int, int]) -> Any:
    """Return the arrays of the part of an island, of so many contacts, blocks and rows, as for the island itself."""
    numbers, memory = wholes(t, PART), reals(t, SCRATCH)
    n, blocks, rows = size
    at = 2 * whole_rows(t, ISLAND)[i, 1] + n
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
    return (start, block, gather, load, mu, rho, local, state, y, p, best, compliance, slip, memory[to + m + 3 * n :])


@inner_kernel
def take_part(t: IntArray, i: int, residual: float, tolerance: float) -> Any:
    """Write the contacts of an island that err, with their neighbours, as a problem of their own.

    Returns its numbers of contacts, blocks and rows, none if they are too many, and its tolerance.
    """
    start, block, gather, load, mu, rho, local, _, y, p, _, compliance, _, scratch = island_views(t, i)
    numbers, n_y, none = wholes(t, PART), y.shape[0], start[0] - start[0]
    window, row_of, most = real_blocks(t, SMALL).shape[1] - 1, numbers[:n_y], (numbers.shape[0] - n_y - 1) // 6
    errs = max(_ERRS * tolerance, _OF_ALL * residual)
    whole = mark_rows(start, block, gather, load, mu, rho, compliance, p, y, errs, _LAYERS, row_of)
    picked = numbers[n_y : n_y + min(most, int(_SHARE * mu.shape[0]))]
    n, blocks, rows = pick_contacts(start, block, row_of, picked)
    needed = 9 * blocks + 30 * n + (window + 2) * (3 * rows + 3 * n) + window * 3 * rows
    if n <= 0 or blocks > 4 * most or needed > scratch.shape[0] - numbers.shape[0]:
        return ((none, none, none), 0.0)
    to, index, part_gather, part_load, part_mu, part_rho, part_local, _, part_y, _, part_p, stiff, _, _ = part_views(
        t, i, (n, blocks, rows)
    )
    scale = copy_contacts(
        picked[:n],
        row_of,
        start,
        block,
        gather,
        load,
        mu,
        rho,
        local,
        compliance,
        p,
        y,
        to,
        index,
        part_gather,
        part_load,
        part_mu,
        part_rho,
        part_local,
        stiff,
        part_p,
        part_y,
    )
    return ((n, blocks, rows), _LEFT * tolerance * (math.sqrt(whole / scale) if scale > 0.0 else 1.0))


@inner_kernel
def give_back(t: IntArray, i: int, p: Array) -> None:
    """Write the impulses of the part of an island to where they belong."""
    island, numbers, best = whole_rows(t, ISLAND), wholes(t, PART), real_rows(t, P)
    for c in range(p.shape[0]):
        for k in range(3):
            best[island[i, 2] + numbers[2 * island[i, 1] + c], k] = p[c, k]
