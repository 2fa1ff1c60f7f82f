"""The compiled step, threads: several at once sweep over a large island, pose contacts and solve small islands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini._jit import (
    address_of,
    announce_compilation,
    inner_kernel,
    is_compiled,
    real_blocks,
    real_rows,
    reals,
    succeeds,
    whole_rows,
    wholes,
)
from signorini._team import Team, share
from signorini.engine import arrays as ea
from signorini.engine.arrays import (
    A_BODY,
    ACTIVE,
    BEGIN_ISLAND,
    BLOCK,
    COMPLIANCE,
    COUNTS,
    CUT,
    CUT_ROW,
    DIAGONAL,
    DISPLACE_GROUP,
    DISPLACING,
    FIRST_BODY,
    FIRST_CONTACT,
    FIXED,
    GATHER,
    GROUP_START,
    IN_LANE,
    INDEX,
    ISLAND,
    ISLANDS,
    JOB,
    LANE_COUNTS,
    LANE_SMALL,
    LANES,
    LOAD,
    LOCAL,
    MET,
    MU,
    N_BODIES,
    N_CONTACTS,
    ORDER,
    POSE_PIECE,
    REFERENCE,
    RHO,
    ROWS,
    SCRATCH,
    SHARED,
    SIZE,
    SLABS,
    SLIP,
    SMALL,
    SOLVE_ALONE,
    SOLVE_LANE,
    SOLVING,
    START,
    SUMS,
    SWEEPS,
    TEAM,
    P,
)
from signorini.engine.contacts import connect_bodies, pose_contact, write_diagonal
from signorini.engine.project import Displacement, displace_some
from signorini.engine.solve import solve_step
from signorini.posing.constants import LANE_CONTACTS, LOOK_AGAIN, MOST_LANES, TEAM_CONTACTS
from signorini.solvers import nsgs_shared as shared
from signorini.solvers.nsgs_kernels import CONTACTS_AT_ONCE
from signorini.solvers.nsgs_shared import piece_length

_JOB_CUT, _JOB_SLABS, _JOB_N_Y, _JOB_WINDOW = shared.CUT, shared.SLABS, shared.N_Y, shared.WINDOW
_JOB_STATE, _JOB_Y, _JOB_P, _JOB_START = shared.STATE, shared.Y, shared.P, shared.START
# Rows of DISPLACING; the last holds island, first group, bits for more sweeps and for a crowd, direction.
_DISPLACING: Any = np.arange(9)
_ROWS, _W, _NEEDED, _HELD, _PULL, _MOVED, _STIRRED, _START, _HOW = _DISPLACING
_COMMON = np.array(
    [
        (shared.TEAM, TEAM),
        (shared.SUMS, SUMS),
        (shared.NUMBERS, SHARED),
        (shared.SCRATCH, SCRATCH),
        (shared.SMALL, SMALL),
        (shared.BLOCK, BLOCK),
        (shared.GATHER, GATHER),
    ]
)
_BY_CONTACT = np.array(
    [
        (shared.LOAD, LOAD, 3),
        (shared.MU, MU, 1),
        (shared.RHO, RHO, 1),
        (shared.LOCAL, LOCAL, 15),
        (shared.COMPLIANCE, COMPLIANCE, 3),
        (shared.SLIP, SLIP, 1),
    ]
)


@inner_kernel
def _open(job: IntArray, row: int, address: int, n: int, m: int) -> None:
    job[row, 0], job[row, 1], job[row, 2] = address, n, m


@inner_kernel
def share_island(t: IntArray, i: int) -> None:
    """Set the job of sweeping over island `i`."""
    job, island, cut = whole_rows(t, JOB), whole_rows(t, ISLAND), whole_rows(t, CUT)
    first, n_c = island[i, FIRST_CONTACT], island[i, N_CONTACTS]
    n_y, row = 6 * island[i, N_BODIES], island[i, CUT_ROW] - 1
    for k in range(_COMMON.shape[0]):
        for l in range(4):
            job[_COMMON[k, 0], l] = t[_COMMON[k, 1], l]
    for k in range(_BY_CONTACT.shape[0]):
        columns = _BY_CONTACT[k, 2]
        _open(job, _BY_CONTACT[k, 0], t[_BY_CONTACT[k, 1], 0] + 8 * columns * first, n_c, columns)
    state = t[SOLVING, 0] + 8 * (6 * island[i, FIRST_BODY] + 3 * first)
    _open(job, _JOB_STATE, state, n_y + 3 * n_c, 0)
    _open(job, _JOB_Y, state, n_y // 3, 3)
    _open(job, _JOB_P, state + 8 * n_y, n_c, 3)
    _open(job, _JOB_START, t[START, 0] + 8 * first, n_c + 1, 0)
    _open(job, _JOB_CUT, t[CUT, 0] + 8 * (cut.shape[1] * row + GROUP_START), cut.shape[1] - GROUP_START, 0)
    numbers = wholes(t, SHARED)
    numbers[_JOB_SLABS] = cut[row, SLABS]
    numbers[_JOB_N_Y] = n_y


@inner_kernel
def _pose_piece(t: IntArray, k: int) -> None:
    order, start, n_c = wholes(t, ORDER), wholes(t, START), wholes(t, COUNTS)[ACTIVE]
    length, diagonal, gather = piece_length(n_c, CONTACTS_AT_ONCE), real_blocks(t, DIAGONAL), real_blocks(t, GATHER)
    for c in range(k * length, min((k + 1) * length, n_c)):
        bodies, arms, frame = pose_contact(t, c, order[c])
        last = connect_bodies(t, c, bodies, arms, frame, start[c])
        write_diagonal(gather, start[c], last, diagonal[c])


@inner_kernel
def _pose_together(t: IntArray) -> None:
    """Pose all contacts."""
    counts, index, order, start = wholes(t, COUNTS), whole_rows(t, INDEX), wholes(t, ORDER), wholes(t, START)
    n_c = counts[ACTIVE]
    start[0] = 0
    for k in range(n_c):
        start[k + 1] = start[k] + (2 if index[order[k], A_BODY] < counts[FIXED] else 4)
    length = piece_length(n_c, CONTACTS_AT_ONCE)
    share(whole_rows(t, TEAM), t[POSE_PIECE, 0], t, (n_c + length - 1) // length)


@inner_kernel
def _share_displacing(
    t: IntArray, i: int, rows: Array, W: Array, needed: Array, held: Array, pull: Array, moved: Array, stirred: Array
) -> None:
    """Set the job of parting the bodies of island `i`."""
    displacing, first, n_c = whole_rows(t, DISPLACING), whole_rows(t, ISLAND)[i, FIRST_CONTACT], needed.shape[0]
    _open(displacing, _ROWS, rows.ctypes.data, rows.shape[0], 0)
    _open(displacing, _W, W.ctypes.data, n_c, 0)
    _open(displacing, _NEEDED, needed.ctypes.data, n_c, 0)
    _open(displacing, _HELD, held.ctypes.data, n_c, 0)
    _open(displacing, _PULL, pull.ctypes.data, n_c, 0)
    _open(displacing, _MOVED, moved.ctypes.data, moved.shape[0], 0)
    _open(displacing, _STIRRED, stirred.ctypes.data, stirred.shape[0], 0)
    _open(displacing, _START, t[START, 0] + 8 * first, n_c + 1, 0)


@inner_kernel
def _displace_group(t: IntArray, k: int) -> None:
    """Sweep over group `k` of a kind for the displacement of an island."""
    displacing, how, cut = whole_rows(t, DISPLACING), whole_rows(t, DISPLACING)[_HOW], whole_rows(t, CUT)
    row, g = whole_rows(t, ISLAND)[how[0], CUT_ROW] - 1, 2 + how[1] + k
    begin = whole_rows(t, ISLAND)[how[0], FIRST_CONTACT]
    d = Displacement(
        start=wholes(displacing, _START),
        block=wholes(t, BLOCK),
        rows=reals(displacing, _ROWS),
        W=reals(displacing, _W),
        needed=reals(displacing, _NEEDED),
        held=reals(displacing, _HELD),
        pull=reals(displacing, _PULL),
        moved=reals(displacing, _MOVED),
        stirred=reals(displacing, _STIRRED),
        size=reals(t, SIZE)[begin : begin + whole_rows(t, ISLAND)[how[0], N_CONTACTS]],
    )
    first, more, crowded = cut[row, g - 1] if g > 2 else 0, how[2] & 1 == 1, how[2] & 2 == 2
    real_rows(t, SUMS)[k, 0] = displace_some(d, more, crowded, first, cut[row, g], how[3] == 1)


@inner_kernel
def _displace_together(t: IntArray, i: int, more: bool, crowded: bool, backward: bool) -> float:
    """Sweep over an island for its displacement, kind after kind of groups; return the largest change."""
    how, sums, most = whole_rows(t, DISPLACING)[_HOW], real_rows(t, SUMS), 0.0
    n = whole_rows(t, CUT)[whole_rows(t, ISLAND)[i, CUT_ROW] - 1, SLABS]
    ends = (n - n, n, n + n // 2, 2 * n - 1, 2 * n)
    for kind in range(4):
        first, last = (ends[3 - kind], ends[4 - kind]) if backward else (ends[kind], ends[kind + 1])
        how[0], how[1], how[2], how[3] = i, first, int(more) + 2 * int(crowded), int(backward)
        share(whole_rows(t, TEAM), t[DISPLACE_GROUP, 0], t, last - first)
        for k in range(last - first):
            most = max(most, sums[k, 0])
    return most


@inner_kernel
def _open_lane(t: IntArray, k: int, first: int, last: int) -> None:
    """Give lane `k` the islands from `first` to `last`, with memory of their own.

    A lane is a table like `t`; what the sweeps over these islands need of SCRATCH begins where that of those before
    ends.
    """
    lanes, counts, island = whole_rows(t, LANES), wholes(t, COUNTS), whole_rows(t, ISLAND)
    rows, lane_counts, small = t.shape[0], whole_rows(t, LANE_COUNTS), real_blocks(t, SMALL)
    for r in range(rows):
        for l in range(4):
            lanes[k * rows + r, l] = t[r, l]
    window, contacts, bodies = small.shape[1] - 1, island[first, FIRST_CONTACT], island[first, FIRST_BODY]
    lanes[k * rows + COUNTS, 0] = t[LANE_COUNTS, 0] + 8 * k * lane_counts.shape[1]
    lanes[k * rows + SMALL, 0] = t[LANE_SMALL, 0] + 8 * k * small.size
    lanes[k * rows + SCRATCH, 0] += 8 * ((window + 1) * (6 * bodies + 3 * contacts) + window * 6 * bodies)
    for l in range(counts.shape[0]):
        lane_counts[k, l] = counts[l]
    lane_counts[k, ROWS] = 0
    lane_counts[k, BEGIN_ISLAND] = first
    lane_counts[k, ISLANDS] = last
    lane_counts[k, IN_LANE] = 1


@inner_kernel
def _solve_lane(t: IntArray, k: int) -> None:
    """Solve the islands of a lane."""
    rows = t.shape[0]
    lane = whole_rows(t, LANES)[k * rows : (k + 1) * rows]
    succeeds(t[SOLVE_ALONE, 0], (lane,))


@inner_kernel
def _solve_lanes(t: IntArray, n: int) -> None:
    """Solve the islands of all lanes."""
    counts, lane_counts = wholes(t, COUNTS), whole_rows(t, LANE_COUNTS)
    share(whole_rows(t, TEAM), t[SOLVE_LANE, 0], t, n)
    for k in range(n):
        counts[SWEEPS] = max(counts[SWEEPS], lane_counts[k, SWEEPS])


@inner_kernel
def _solve_rest(t: IntArray, islands: int) -> bool:
    """Solve what the lanes left, one after another, from the guess; False if an island resists."""
    counts, island, p, reference = wholes(t, COUNTS), whole_rows(t, ISLAND), real_rows(t, P), real_rows(t, REFERENCE)
    solved, sweeps = True, counts[SWEEPS]
    for i in range(islands):
        if island[i, MET] == -1:
            for c in range(island[i, FIRST_CONTACT], island[i, FIRST_CONTACT] + island[i, N_CONTACTS]):
                for k in range(3):
                    p[c, k] = reference[c, k]
            counts[BEGIN_ISLAND], counts[ISLANDS] = i, i + 1
            succeeds(t[SOLVE_ALONE, 0], (t,))
            counts[SWEEPS] = max(sweeps, counts[SWEEPS])
            sweeps = counts[SWEEPS]
        solved = solved and island[i, MET] == 1
    return solved


@inner_kernel
def _solve_together(t: IntArray) -> bool:
    """Solve all islands as :func:`.solve.solve_step`: small ones side by side, large ones together.

    False if some island resists.
    """
    counts, island, most = wholes(t, COUNTS), whole_rows(t, ISLAND), whole_rows(t, LANE_COUNTS).shape[0]
    islands, rows = counts[ISLANDS], counts[ROWS]
    if islands < 2:
        return succeeds(t[SOLVE_ALONE, 0], (t,))
    # No islands at all: this sets the scene.
    counts[ISLANDS] = 0
    succeeds(t[SOLVE_ALONE, 0], (t,))
    counts[ROWS] = 0
    each = max(LANE_CONTACTS, (counts[ACTIVE] + most - 1) // most)
    sweeps, lanes, i = islands - islands, islands - islands, islands - islands
    while i < islands:
        first, contacts = i, 0
        while i < islands and contacts < each and island[i, CUT_ROW] == 0:
            contacts += island[i, N_CONTACTS]
            i += 1
        if i > first:
            _open_lane(t, lanes, first, i)
            lanes += 1
        if lanes == most or (lanes > 0 and (i == islands or island[i, CUT_ROW] > 0)):
            _solve_lanes(t, lanes)
            lanes = 0
        if i < islands and island[i, CUT_ROW] > 0:
            sweeps = max(sweeps, counts[SWEEPS])
            counts[BEGIN_ISLAND], counts[ISLANDS] = i, i + 1
            succeeds(t[SOLVE_ALONE, 0], (t,))
            counts[SWEEPS] = max(sweeps, counts[SWEEPS])
            i += 1
    solved = _solve_rest(t, islands)
    counts[BEGIN_ISLAND], counts[ISLANDS], counts[ROWS] = 0, islands, rows
    return solved


def hire_team(arena: Arena, threads: int, window: int) -> Team:
    """Return so many threads; put what they share into the arena."""
    if not is_compiled(_solve_lane):
        announce_compilation()
    team = Team(threads)
    arena.put(ea.TEAM, team.table)
    arena.put(ea.SUMS, shared.new_sums())
    arena.put(ea.SHARED, np.zeros(8, dtype=np.int64))[int(_JOB_WINDOW)] = window
    shared.connect_job(arena.put(ea.JOB, np.zeros((int(shared.JOB_ROWS), 4), dtype=np.int64)))
    arena.put(ea.DISPLACING, np.zeros((9, 4), dtype=np.int64))
    arena.put(ea.LANES, np.zeros((MOST_LANES * arena.table.shape[0], 4), dtype=np.int64))
    arena.put(ea.LANE_COUNTS, np.zeros((MOST_LANES, int(ea.COUNT_COUNT)), dtype=np.int64))
    arena.put(ea.LANE_SMALL, np.zeros((MOST_LANES, 2 * (window + 1), window + 1)))
    stages: tuple[tuple[Any, Callable[..., Any], tuple[Any, ...]], ...] = (
        (ea.SHARE_ISLAND, share_island, (1,)),
        (ea.POSE_TOGETHER, _pose_together, ()),
        (ea.POSE_PIECE, _pose_piece, (1,)),
        (ea.SHARE_DISPLACING, _share_displacing, (1, *(np.zeros(1),) * 7)),
        (ea.DISPLACE_TOGETHER, _displace_together, (1, True, True, True)),
        (ea.DISPLACE_GROUP, _displace_group, (1,)),
        (ea.SOLVE_ALONE, solve_step, ()),
        (ea.SOLVE, _solve_together, ()),
        (ea.SOLVE_LANE, _solve_lane, (1,)),
    )
    for row, function, arguments in stages:
        arena.connect(row, address_of(function, arena.table, *arguments))
    return team


def run_together(run: Callable[[IntArray, int], int], team: Team, counts: IntArray) -> Callable[[IntArray, int], int]:
    """Return what runs steps as `run` does, with a team where contacts are many.

    It keeps the team; the team does not know of it.
    """

    def go(t: IntArray, steps: int) -> int:
        done = 0
        while True:
            some = min(steps - done, LOOK_AGAIN)
            if counts[ea.CONTACTS] < TEAM_CONTACTS:
                more = run(t, some)
            else:
                with team:
                    more = run(t, some)
            done += more
            if more < some or done == steps:
                return done

    return go
