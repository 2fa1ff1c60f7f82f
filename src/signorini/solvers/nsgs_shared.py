"""Kernels of the nonsmooth Gauss-Seidel method: sweeps that threads share.

The contacts come in groups, as :mod:`signorini.engine.cut` makes them: n slabs, n/2 even and n/2 - 1 odd
borders, and the rest. Groups of one kind have nothing in common, so that threads may go through them at once, and what
one thread does alone, contact after contact in the order in which they lie, gives the same bits.

`job` is a table of addresses: first the kernels that :func:`~signorini.solvers.nsgs_acceleration.gauss_seidel` calls,
then the tasks that these share, then the arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from signorini._arrays import IntArray
from signorini._jit import address_of, inner_kernel, real_blocks, real_rows, reals, whole_rows, wholes
from signorini._team import share
from signorini.solvers.nsgs_acceleration import (
    COMBINE,
    DOUBLE_SWEEP,
    JOB_KERNELS,
    NOTE,
    RESIDUAL,
    combine,
    note_round,
    product,
)
from signorini.solvers.nsgs_kernels import (
    CONTACTS_AT_ONCE,
    MOST_PIECES,
    NUMBERS_AT_ONCE,
    Swept,
    residual_sums,
    sweep,
)

(
    # tasks
    _SWEEP_GROUP,
    _COPY,
    _RESIDUAL_PIECE,
    _NOTE_PIECE,
    _COMBINE_PIECE,
    # arrays that are the same for all islands
    TEAM,
    SUMS,  # (MOST_PIECES, 8)
    NUMBERS,  # (8,): see below
    SCRATCH,
    SMALL,
    BLOCK,  # index of gather and scatter
    GATHER,  # and scatter
    # arrays of the island, as `gauss_seidel` takes them
    START,
    LOAD,
    MU,
    RHO,
    LOCAL,
    COMPLIANCE,
    STATE,
    Y,
    P,
    SLIP,
    CUT,  # (n,): where the groups end, counted in contacts of the island
    JOB_ROWS,
) = JOB_KERNELS + np.arange(24, dtype=np.int64)

# NUMBERS
_GROUP, _FROM, _TO, N_Y, WINDOW, _SLOT, _FILLED, SLABS = np.arange(8, dtype=np.int64)


@inner_kernel
def _swept(job: IntArray) -> Swept:
    """Return the problem that is swept over."""
    start, block, gather = wholes(job, START), wholes(job, BLOCK), real_blocks(job, GATHER)
    return Swept(
        gather_start=start,
        gather_index=block,
        gather=gather,
        scatter_start=start,
        scatter_index=block,
        scatter=gather,
        load=real_rows(job, LOAD),
        mu=reals(job, MU),
        rho=reals(job, RHO),
        local=real_rows(job, LOCAL),
        compliance=real_rows(job, COMPLIANCE),
    )


@inner_kernel
def _sweep_group(job: IntArray, k: int) -> None:
    """Sweep over group `k` of a kind, forward, backward or both."""
    numbers, ends, p, slip, y = (
        wholes(job, NUMBERS),
        wholes(job, CUT),
        real_rows(job, P),
        reals(job, SLIP),
        real_rows(job, Y),
    )
    g = numbers[_GROUP] + k
    for backward in range(numbers[_FROM], numbers[_TO]):
        sweep(_swept(job), p, slip, y, ends[g - 1] if g > 0 else 0, ends[g], backward == 1)


@inner_kernel
def _piece(job: IntArray, k: int) -> tuple[int, int, int, int]:
    """Return first and last of the k-th numbers of y and of p, that belong together about as slabs do."""
    n, n_y = reals(job, STATE).shape[0], wholes(job, NUMBERS)[N_Y]
    length, pieces = piece_length(n_y, NUMBERS_AT_ONCE), _pieces(n_y, NUMBERS_AT_ONCE)
    return k * length, min((k + 1) * length, n_y), n_y + k * (n - n_y) // pieces, n_y + (k + 1) * (n - n_y) // pieces


@inner_kernel
def piece_length(n: int, least: int) -> int:
    """Return the length of the pieces in which long sums of `n` numbers are added up, as one thread does it."""
    return max(least, (n + MOST_PIECES - 1) // MOST_PIECES)


@inner_kernel
def _pieces(n: int, least: int) -> int:
    length = piece_length(n, least)
    return (n + length - 1) // length


@inner_kernel
def _share_pieces(job: IntArray, task: int) -> int:
    """Share a task over all pieces of the state; return their number."""
    n = _pieces(wholes(job, NUMBERS)[N_Y], NUMBERS_AT_ONCE)
    share(whole_rows(job, TEAM), job[task, 0], job, n)
    return n


@inner_kernel
def _copy(job: IntArray, k: int) -> None:
    """Remember where a double sweep began."""
    state, scratch = reals(job, STATE), reals(job, SCRATCH)
    first, last, p_first, p_last = _piece(job, k)
    for i in range(first, last):
        scratch[i] = state[i]
    for i in range(p_first, p_last):
        scratch[i] = state[i]


@inner_kernel
def _share_groups(job: IntArray, first: int, last: int, begin: int, end: int) -> None:
    """Share the groups of one kind; `begin` and `end` are 0 and 1 forward, 1 and 2 backward, 0 and 2 for both."""
    numbers = wholes(job, NUMBERS)
    numbers[_GROUP] = first
    numbers[_FROM] = begin
    numbers[_TO] = end
    share(whole_rows(job, TEAM), job[_SWEEP_GROUP, 0], job, last - first)


@inner_kernel
def double_sweep(job: IntArray) -> None:
    """Copy the state to the head of the scratch memory, sweep to and fro."""
    n, ends = wholes(job, NUMBERS)[SLABS], wholes(job, CUT)
    _share_pieces(job, _COPY)
    even, odd, rest = n, n + n // 2, 2 * n - 1
    zero, one, two = n - n, n // n, (n + n) // n
    _share_groups(job, zero, even, zero, one)
    _share_groups(job, even, odd, zero, one)
    if ends[rest] > ends[rest - 1]:
        _share_groups(job, odd, rest, zero, one)
        _share_groups(job, rest, rest + 1, zero, two)
        _share_groups(job, odd, rest, one, two)
    else:
        _share_groups(job, odd, rest, zero, two)
    _share_groups(job, even, odd, one, two)
    _share_groups(job, zero, even, one, two)


@inner_kernel
def _residual_piece(job: IntArray, k: int) -> None:
    sums, n_c = real_rows(job, SUMS), reals(job, MU).shape[0]
    length = piece_length(n_c, CONTACTS_AT_ONCE)
    sums[k, 0], sums[k, 1], sums[k, 2] = residual_sums(
        _swept(job), real_rows(job, P), real_rows(job, Y), k * length, min((k + 1) * length, n_c)
    )


@inner_kernel
def shared_residual(job: IntArray) -> float:
    """Return the natural map as :func:`~signorini.solvers.nsgs_kernels.natural_residual` does."""
    n, sums = _pieces(reals(job, MU).shape[0], CONTACTS_AT_ONCE), real_rows(job, SUMS)
    share(whole_rows(job, TEAM), job[_RESIDUAL_PIECE, 0], job, n)
    error, size, scale = 0.0, 0.0, 0.0
    for k in range(n):
        error, size, scale = error + sums[k, 0], size + sums[k, 1], scale + sums[k, 2]
    scale = max(size, scale)
    return math.sqrt(error / scale) if scale > 0.0 else math.sqrt(error)


@inner_kernel
def _note_piece(job: IntArray, k: int) -> None:
    numbers, state, scratch, sums = wholes(job, NUMBERS), reals(job, STATE), reals(job, SCRATCH), real_rows(job, SUMS)
    n_y, window, slot = numbers[N_Y], numbers[WINDOW], numbers[_SLOT]
    first, last, p_first, p_last = _piece(job, k)
    note_round(state, n_y, window, scratch, slot, first, last)
    note_round(state, n_y, window, scratch, slot, p_first, p_last)
    changes = scratch[(window + 1) * state.shape[0] :]
    for j in range(numbers[_FILLED]):
        sums[k, j] = product(changes[slot * n_y :], changes[j * n_y :], first, last)


@inner_kernel
def shared_note(job: IntArray, slot: int, filled: int) -> None:
    """Write the double sweep to a slot of the window, its products with those there to a row of the Gram matrix."""
    numbers, sums, gram = wholes(job, NUMBERS), real_rows(job, SUMS), real_blocks(job, SMALL)[0]
    numbers[_SLOT] = slot
    numbers[_FILLED] = filled
    n = _share_pieces(job, _NOTE_PIECE)
    for j in range(filled):
        gram[slot, j] = 0.0
        for k in range(n):
            gram[slot, j] += sums[k, j]


@inner_kernel
def _combine_piece(job: IntArray, k: int) -> None:
    numbers, state, scratch = wholes(job, NUMBERS), reals(job, STATE), reals(job, SCRATCH)
    first, last, p_first, p_last = _piece(job, k)
    weights = real_blocks(job, SMALL)[1, numbers[WINDOW]]
    combine(state, scratch, weights, numbers[_FILLED], first, last)
    combine(state, scratch, weights, numbers[_FILLED], p_first, p_last)


@inner_kernel
def shared_combination(job: IntArray, filled: int) -> None:
    """Set the state to the weighted sum of the states in the window."""
    wholes(job, NUMBERS)[_FILLED] = filled
    _share_pieces(job, _COMBINE_PIECE)


_TABLE: Any = np.zeros((1, 4), dtype=np.int64)
_KERNELS: dict[Any, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    DOUBLE_SWEEP: (double_sweep, (_TABLE,)),
    RESIDUAL: (shared_residual, (_TABLE,)),
    NOTE: (shared_note, (_TABLE, 1, 1)),
    COMBINE: (shared_combination, (_TABLE, 1)),
    _SWEEP_GROUP: (_sweep_group, (_TABLE, 1)),
    _COPY: (_copy, (_TABLE, 1)),
    _RESIDUAL_PIECE: (_residual_piece, (_TABLE, 1)),
    _NOTE_PIECE: (_note_piece, (_TABLE, 1)),
    _COMBINE_PIECE: (_combine_piece, (_TABLE, 1)),
}


def connect_job(job: IntArray) -> None:
    """Write the addresses of the kernels into the table of a job."""
    for row, (function, arguments) in _KERNELS.items():
        job[row, 0] = address_of(function, *arguments)


def new_sums() -> Any:
    """Return memory for the sums of pieces."""
    return np.zeros((MOST_PIECES, 8))
