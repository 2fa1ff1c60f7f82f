"""What compiled steps find and log, by name: the one place where numbers of columns become words for others."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.engine import arrays as at
from signorini.engine.joints import arrays as ja
from signorini.posing.stepper import CHECKS
from signorini.solvers import Status
from signorini.solvers.solution import SUCCESS

_COLUMN = {
    "residual": at.RESIDUAL,
    "min_gap": at.MIN_GAP,
    "cone_violation": at.CONE_VIOLATION,
    "dissipation_angle": at.DISSIPATION_ANGLE,
    "joint_drift": at.JOINT_DRIFT,
    "joint_conflict": at.JOINT_CONFLICT,
    "redundant_rows": at.REDUNDANT_ROWS,
    "energy_error": at.ENERGY_ERROR,
    "correction_work": at.CORRECTION,
    "compliance": at.COMPLIANT,
    "deflection": at.DEFLECTION,
    "extent": at.BESIDE,
    "yielded": at.YIELDED,
    "indeterminate": at.SPARE_ROWS,
    "asleep": at.ASLEEP,
    "status": at.SUCCESS,
    "iterations": at.EFFORT,
    "overlap": at.OVERLAP,
    "overlap_extent": at.OVERLAP_EXTENT,
    "overlap_a": at.OVERLAP_A,
    "overlap_b": at.OVERLAP_B,
    "energy_scale": at.ENERGY_AT_PLAY,
    "energy_gain": at.GAINED,
    "unfollowed": at.UNFOLLOWED,
    "posed_again": at.POSED_AGAIN,
    "drift_joint": at.DRIFT_JOINT,
    "conflict_joint": at.CONFLICT_JOINT,
    "drift_row": at.DRIFT_ROW,
    "conflict_row": at.CONFLICT_ROW,
    "joint_fault": at.JOINT_FAULT,
    "joint_apart": at.JOINT_APART,
    "joint_work": at.JOINT_PULL,
    "energy_moving": at.ENERGY_MOVING,
    "moved_onto": at.MOVED_ONTO,
    "lost_momentum": at.LOST_MOMENTUM,
    "turned_energy": at.TURNED_ENERGY,
    "unsure": at.UNSURE,
    "unsure_body": at.UNSURE_BODY,
    "hit_turn": at.HIT_TURN,
    "hit_body": at.HIT_BODY,
}
_FOUND = np.array([_COLUMN[word] for word in CHECKS], dtype=np.int64)
_STATUS = CHECKS.index("status")


def compiled_status(check: Array) -> IntArray:
    """Return the status of compiled steps that said this of themselves, (..., CHECK_COUNT)."""
    solved, ended = check[..., at.SUCCESS] == 1.0, check[..., at.ENDED].astype(np.int64)
    good = np.isin(ended, SUCCESS)  # what the solver says: it counts as far as the step agrees
    status = np.where(good == solved, ended, np.where(solved, int(Status.SOLVED), int(Status.STALLED)))
    return np.where(check[..., at.JOINT_FAULT] > 0.0, int(Status.NO_SOLUTION), status)  # joints that cannot all hold


def found(check: Array) -> Array:
    """Return what compiled steps found when they checked themselves, (..., len(CHECKS))."""
    checks: Array = check[..., _FOUND]
    checks[..., _STATUS] = compiled_status(check)
    return checks


def logged_contacts(value: Array, index: IntArray) -> dict[str, Any]:
    """Return the contacts of a log by name."""
    return ({"couple": value[:, 16:19].copy()} if value.shape[1] > 16 else {}) | {
        "body_a": index[:, 0].copy(),
        "body_b": index[:, 1].copy(),
        "point_a": value[:, 0:3].copy(),
        "point": value[:, 3:6].copy(),
        "normal": value[:, 6:9].copy(),
        "gap": value[:, 9].copy(),
        "impulse": value[:, 10:13].copy(),
        "velocity": value[:, 13:16].copy(),
        "mode": index[:, 3].copy(),
        "feature": index[:, 2].copy(),
    }


def logged_joints(rows: Array) -> dict[str, Array]:
    """Return the joints of a log, (n, n_j, REPORT_COLUMNS), by name."""
    return {
        "coordinate": rows[:, :, ja.AT],
        "speed": rows[:, :, ja.SPEED],
        "effort": rows[:, :, ja.EFFORT_OF],
        "reaction": rows[:, :, ja.REACTION_OF : ja.ENDING_OF],
        "ending": rows[:, :, ja.ENDING_OF :],
    }
