"""The compiled step, its kernels: which one belongs to which row of the table where a run finds its address."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from signorini._jit import address_of
from signorini.engine import arrays as at
from signorini.engine.await_solver import await_solver
from signorini.engine.bodies import free_step, move_step
from signorini.engine.checks import account, check_law, hand_over, smallest_gap
from signorini.engine.contacts import pose_step
from signorini.engine.couple_rescue import rescue_couples
from signorini.engine.couple_solve import solve_couples
from signorini.engine.couples import check_couples, couple_velocities, hand_over_couples, pose_couples
from signorini.engine.cut import cut_islands
from signorini.engine.joints.blocks import has_room
from signorini.engine.joints.checks import press_joined
from signorini.engine.joints.couples import turn_joined
from signorini.engine.joints.join import answer, join
from signorini.engine.joints.laws import pose_joined_step
from signorini.engine.joints.settle import settle
from signorini.engine.joints.spare import find_spare
from signorini.engine.joints.theta import aim_joints, drift_joints
from signorini.engine.meet import check_ways, meet_step
from signorini.engine.mend import look, mend
from signorini.engine.parts import take_part
from signorini.engine.poisson import check_collision, collide_step
from signorini.engine.rebounds import temper_rebounds
from signorini.engine.rescue import rescue
from signorini.engine.run import run, write_log
from signorini.engine.sleep import note_rest
from signorini.engine.solve import contact_velocities, solve_step
from signorini.engine.theta import run_ahead
from signorini.geometry.detection import KERNELS as DETECTION
from signorini.geometry.tables import Family
from signorini.solvers.island_kernels import KERNELS, island_address
from signorini.solvers.island_table import KEEP_MODES
from signorini.solvers.nsgs_acceleration import sweep_by_address

_STAGES: dict[int, Callable[..., Any]] = {
    at.POSE: pose_step,
    at.SOLVE: solve_step,
    at.AWAIT: await_solver,
    at.VELOCITIES: contact_velocities,
    at.LAW: check_law,
    at.HAND_OVER: hand_over,
    at.MOVE: move_step,
    at.ACCOUNT: account,
    at.NOTE_REST: note_rest,
    at.FREE_MOTION: free_step,
    at.SMALLEST_GAP: smallest_gap,
    at.WRITE_LOG: write_log,
    at.RUN: run,
    at.POSE_JOINED: pose_joined_step,
    at.JOIN: join,
    at.ANSWER_JOINTS: answer,
    at.PRESS_JOINED: press_joined,
    at.HAS_ROOM: has_room,
    at.SETTLE_JOINTS: settle,
    at.FIND_SPARE: find_spare,
    at.RUN_AHEAD: run_ahead,
    at.DRIFT_JOINTS: drift_joints,
    at.AIM_JOINTS: aim_joints,
    at.COLLIDE: collide_step,
    at.CHECK_COLLISION: check_collision,
    at.POSE_COUPLES: pose_couples,
    at.SOLVE_COUPLES: solve_couples,
    at.COUPLE_VELOCITIES: couple_velocities,
    at.CHECK_COUPLES: check_couples,
    at.HAND_OVER_COUPLES: hand_over_couples,
    at.TURN_JOINED: turn_joined,
    at.CUT_ISLANDS: cut_islands,
    at.TAKE_PART: take_part,
    at.MEET: meet_step,
    at.CHECK_WAYS: check_ways,
    at.LOOK: look,
    at.MEND: mend,
    at.TEMPER: temper_rebounds,
    at.RESCUE: rescue,
    at.RESCUE_COUPLES: rescue_couples,
    at.SWEEP: sweep_by_address,
}

# Stages that runs need, what takes longest to compile first; then those of scenes with joints, and of those without.
_LONGEST_FIRST = (
    at.FIND,
    at.JOIN,
    at.SETTLE_JOINTS,
    at.SWEEP,
    at.SOLVE,
    at.POSE,
    at.POSE_JOINED,
    at.ACCOUNT,
    at.ANSWER_JOINTS,
    at.FREE_MOTION,
    at.LAW,
    at.MOVE,
    at.VELOCITIES,
    at.RUN,
    at.HAND_OVER,
    at.PRESS_JOINED,
    at.HAS_ROOM,
    at.SMALLEST_GAP,
)
_WITH_JOINTS = (at.JOIN, at.SETTLE_JOINTS, at.POSE_JOINED, at.ANSWER_JOINTS, at.PRESS_JOINED, at.HAS_ROOM)
_WITHOUT = (at.POSE,)

_REALS, _REAL_ROWS = np.zeros(1), np.zeros((1, 1))
_WHOLES, _WHOLE_ROWS = np.zeros(1, dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
_FOR_DETECTION = (
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
    _WHOLES,  # start
    _WHOLES,  # index
    _BLOCKS,  # gather
    _REAL_ROWS,  # load
    _REALS,  # mu
    _REALS,  # rho
    _REAL_ROWS,  # local
    _REALS,  # state
    _REAL_ROWS,  # y
    _REAL_ROWS,  # p
    _REAL_ROWS,  # best_p
    _REAL_ROWS,  # compliance
    _REALS,  # slip
    _REALS,  # scratch
    _BLOCKS,  # small
    1,  # window
    1.0,  # tolerance
    1,  # first_look
    1,  # after
    1,  # max_sweeps
    1,  # patience
    1.0,  # progress
    _WHOLE_ROWS,  # job
    _WHOLES,  # counts
    1,  # made
)


def needed_stages(joined: bool) -> tuple[int, ...]:
    """Return the rows that a run needs, with joints or without."""
    return tuple(k for k in _LONGEST_FIRST if k not in (_WITHOUT if joined else _WITH_JOINTS))


def robust_stages() -> tuple[int, ...]:
    """Return the kernels for islands that rest; negative numbers are rows of the table of an island."""
    return (at.RESCUE, *(-row for row in KERNELS if row <= KEEP_MODES))


def stage_kernel(k: int, family: Family) -> Callable[..., Any]:
    """Return the kernel that belongs to row `k`, for scenes of a family of shapes."""
    if k < 0:
        return KERNELS[-k][0]
    return DETECTION[family] if k == at.FIND else _STAGES[k]


@cache  # Numba takes a tenth of a millisecond to find what it has compiled
def stage_address(k: int, family: Family) -> int:
    """Return its address; compile it if need be."""
    if k < 0:
        return island_address(-k)
    arguments: tuple[Any, ...] = (_WHOLE_ROWS,)
    if k == at.FIND:
        arguments = _FOR_DETECTION
    elif k in (at.RUN, at.RUN_AHEAD, at.TURN_JOINED, at.FIND_SPARE):
        arguments = (_WHOLE_ROWS, 1)
    elif k == at.TAKE_PART:
        arguments = (_WHOLE_ROWS, 1, 1.0)
    elif k == at.SWEEP:
        arguments = _FOR_SWEEPS
    elif k == at.RESCUE:
        arguments = (_WHOLE_ROWS, 1, 1, 1.0, 1.0)
    elif k == at.RESCUE_COUPLES:
        arguments = (_WHOLE_ROWS, 1, True, 1.0)
    return address_of(stage_kernel(k, family), *arguments)
