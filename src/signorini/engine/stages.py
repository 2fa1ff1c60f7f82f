"""The compiled step, its kernels: which one belongs to which row of the table where a run finds its address."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from signorini._jit import address_of
from signorini.engine import arrays as ea
from signorini.engine.await_solver import await_solver
from signorini.engine.bodies import free_step, move_step
from signorini.engine.checks import account, check_law, hand_over, smallest_gap
from signorini.engine.contacts import pose_step
from signorini.engine.couple_rescue import rescue_couples
from signorini.engine.couple_solve import solve_couples
from signorini.engine.couples import check_couples, couple_velocities, hand_over_couples, pose_couples
from signorini.engine.cut import cut_islands
from signorini.engine.excerpt import take_excerpt
from signorini.engine.joints.blocks import has_capacity
from signorini.engine.joints.checks import press_joined
from signorini.engine.joints.couples import turn_joined
from signorini.engine.joints.join import answer, join
from signorini.engine.joints.laws import pose_joined_step
from signorini.engine.joints.settle import settle
from signorini.engine.joints.spare import find_spare
from signorini.engine.joints.theta import aim_joints, drift_joints
from signorini.engine.meet import check_ways, meet_step
from signorini.engine.mend import look, mend
from signorini.engine.poisson import check_collision, collide_step
from signorini.engine.rebounds import temper_rebounds
from signorini.engine.rescue import rescue
from signorini.engine.run import run, write_log
from signorini.engine.sleep import note_rest
from signorini.engine.solve import contact_velocities, solve_step
from signorini.engine.theta import run_ahead
from signorini.geometry.detect_kernels import KERNELS as DETECT_KERNELS
from signorini.geometry.tables import Family
from signorini.solvers.island_kernels import KERNELS, island_address
from signorini.solvers.island_table import KEEP_MODES
from signorini.solvers.nsgs_acceleration import Effort, sweep_by_address
from signorini.solvers.nsgs_kernels import Course, Swept

_STAGES: dict[int, Callable[..., Any]] = {
    ea.POSE: pose_step,
    ea.SOLVE: solve_step,
    ea.AWAIT: await_solver,
    ea.VELOCITIES: contact_velocities,
    ea.LAW: check_law,
    ea.HAND_OVER: hand_over,
    ea.MOVE: move_step,
    ea.ACCOUNT: account,
    ea.NOTE_REST: note_rest,
    ea.FREE_MOTION: free_step,
    ea.SMALLEST_GAP: smallest_gap,
    ea.WRITE_LOG: write_log,
    ea.RUN: run,
    ea.POSE_JOINED: pose_joined_step,
    ea.JOIN: join,
    ea.ANSWER_JOINTS: answer,
    ea.PRESS_JOINED: press_joined,
    ea.HAS_CAPACITY: has_capacity,
    ea.SETTLE_JOINTS: settle,
    ea.FIND_SPARE: find_spare,
    ea.RUN_AHEAD: run_ahead,
    ea.DRIFT_JOINTS: drift_joints,
    ea.AIM_JOINTS: aim_joints,
    ea.COLLIDE: collide_step,
    ea.CHECK_COLLISION: check_collision,
    ea.POSE_COUPLES: pose_couples,
    ea.SOLVE_COUPLES: solve_couples,
    ea.COUPLE_VELOCITIES: couple_velocities,
    ea.CHECK_COUPLES: check_couples,
    ea.HAND_OVER_COUPLES: hand_over_couples,
    ea.TURN_JOINED: turn_joined,
    ea.CUT_ISLANDS: cut_islands,
    ea.TAKE_EXCERPT: take_excerpt,
    ea.MEET: meet_step,
    ea.CHECK_WAYS: check_ways,
    ea.LOOK: look,
    ea.MEND: mend,
    ea.TEMPER: temper_rebounds,
    ea.RESCUE: rescue,
    ea.RESCUE_COUPLES: rescue_couples,
    ea.SWEEP: sweep_by_address,
}

# Stages that runs need, what takes longest to compile first; then those of scenes with joints, and of those without.
_LONGEST_FIRST = (
    ea.FIND,
    ea.JOIN,
    ea.SETTLE_JOINTS,
    ea.SWEEP,
    ea.SOLVE,
    ea.POSE,
    ea.POSE_JOINED,
    ea.ACCOUNT,
    ea.ANSWER_JOINTS,
    ea.FREE_MOTION,
    ea.LAW,
    ea.MOVE,
    ea.VELOCITIES,
    ea.RUN,
    ea.HAND_OVER,
    ea.PRESS_JOINED,
    ea.HAS_CAPACITY,
    ea.SMALLEST_GAP,
)
_WITH_JOINTS = (ea.JOIN, ea.SETTLE_JOINTS, ea.POSE_JOINED, ea.ANSWER_JOINTS, ea.PRESS_JOINED, ea.HAS_CAPACITY)
_WITHOUT = (ea.POSE,)

_REALS, _REAL_ROWS = np.zeros(1), np.zeros((1, 1))
_WHOLES, _WHOLE_ROWS = np.zeros(1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
_TO_DETECT = (
    _REAL_ROWS,  # shape
    _WHOLE_ROWS,  # label
    _REAL_ROWS,  # solid
    _WHOLE_ROWS,  # link
    _WHOLE_ROWS,  # pair
    _REAL_ROWS,  # q
    _REALS,  # reach
    _REAL_ROWS,  # world
    _WHOLES,  # cells
    _REAL_ROWS,  # work
    _WHOLE_ROWS,  # mark
    _REAL_ROWS,  # value
    _WHOLE_ROWS,  # index
)

_BLOCKS = np.zeros((1, 1, 1))
_FOR_SWEEPS = (
    Swept(
        gather_start=_WHOLES,
        gather_index=_WHOLES,
        gather=_BLOCKS,
        scatter_start=_WHOLES,
        scatter_index=_WHOLES,
        scatter=_BLOCKS,
        load=_REAL_ROWS,
        mu=_REALS,
        rho=_REALS,
        local=_REAL_ROWS,
        compliance=_REAL_ROWS,
    ),
    Course(state=_REALS, y=_REAL_ROWS, p=_REAL_ROWS, best_p=_REAL_ROWS, slip=_REALS, scratch=_REALS),
    _BLOCKS,  # small
    Effort(window=1, tolerance=1.0, first_look=1, after=1, max_sweeps=1, patience=1, progress=1.0),
    _WHOLE_ROWS,  # job
    _WHOLES,  # counts
    1,  # made
)


def needed_stages(joined: bool) -> tuple[int, ...]:
    """Return the rows that a run needs, with joints or without."""
    return tuple(k for k in _LONGEST_FIRST if k not in (_WITHOUT if joined else _WITH_JOINTS))


def robust_stages() -> tuple[int, ...]:
    """Return the kernels for islands that rest; negative numbers are rows of the table of an island."""
    return (ea.RESCUE, *(-row for row in KERNELS if row <= KEEP_MODES))


def stage_kernel(k: int, family: Family) -> Callable[..., Any]:
    """Return the kernel that belongs to row `k`, for scenes of a family of shapes."""
    if k < 0:
        return KERNELS[-k][0]
    return DETECT_KERNELS[family] if k == ea.FIND else _STAGES[k]


@cache  # Numba takes a tenth of a millisecond to find what it has compiled
def stage_address(k: int, family: Family) -> int:
    """Return its address; compile it if need be."""
    if k < 0:
        return island_address(-k)
    arguments: tuple[Any, ...] = (_WHOLE_ROWS,)
    if k == ea.FIND:
        arguments = _TO_DETECT
    elif k in (ea.RUN, ea.RUN_AHEAD, ea.TURN_JOINED, ea.FIND_SPARE):
        arguments = (_WHOLE_ROWS, 1)
    elif k == ea.TAKE_EXCERPT:
        arguments = (_WHOLE_ROWS, 1, 1.0)
    elif k == ea.SWEEP:
        arguments = _FOR_SWEEPS
    elif k == ea.RESCUE:
        arguments = (_WHOLE_ROWS, 1, 1, 1.0, 1.0)
    elif k == ea.RESCUE_COUPLES:
        arguments = (_WHOLE_ROWS, 1, True, 1.0)
    return address_of(stage_kernel(k, family), *arguments)
