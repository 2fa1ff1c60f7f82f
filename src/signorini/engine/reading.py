"""What compiled steps find and log, by name: the one place where numbers of columns become words for others."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.engine import arrays as ea
from signorini.engine.joints import arrays as ja
from signorini.posing.stepper import CHECKS
from signorini.solvers import Status
from signorini.solvers.solution import SUCCESS

_COLUMN = {
    "residual": ea.RESIDUAL,
    "min_gap": ea.MIN_GAP,
    "cone_violation": ea.CONE_VIOLATION,
    "dissipation_angle": ea.DISSIPATION_ANGLE,
    "joint_drift": ea.JOINT_DRIFT,
    "joint_conflict": ea.JOINT_CONFLICT,
    "redundant_rows": ea.REDUNDANT_ROWS,
    "energy_error": ea.ENERGY_ERROR,
    "correction_work": ea.CORRECTION,
    "compliance": ea.COMPLIANT,
    "deflection": ea.DEFLECTION,
    "extent": ea.BESIDE,
    "yielded": ea.YIELDED,
    "indeterminate": ea.SPARE_ROWS,
    "asleep": ea.ASLEEP,
    "status": ea.SUCCESS,
    "iterations": ea.EFFORT,
    "overlap": ea.OVERLAP,
    "overlap_extent": ea.OVERLAP_EXTENT,
    "overlap_a": ea.OVERLAP_A,
    "overlap_b": ea.OVERLAP_B,
    "energy_scale": ea.ENERGY_AT_PLAY,
    "energy_gain": ea.GAINED,
    "unfollowed": ea.UNFOLLOWED,
    "posed_again": ea.POSED_AGAIN,
    "drift_joint": ea.DRIFT_JOINT,
    "conflict_joint": ea.CONFLICT_JOINT,
    "drift_row": ea.DRIFT_ROW,
    "conflict_row": ea.CONFLICT_ROW,
    "joint_fault": ea.JOINT_FAULT,
    "joint_apart": ea.JOINT_APART,
    "joint_work": ea.JOINT_PULL,
    "energy_moving": ea.ENERGY_MOVING,
    "moved_onto": ea.MOVED_ONTO,
    "lost_momentum": ea.LOST_MOMENTUM,
    "turned_energy": ea.TURNED_ENERGY,
    "unsure": ea.UNSURE,
    "unsure_body": ea.UNSURE_BODY,
    "hit_turn": ea.HIT_TURN,
    "hit_body": ea.HIT_BODY,
}
_FOUND = np.array([_COLUMN[word] for word in CHECKS], dtype=np.int64)
_STATUS = CHECKS.index("status")


def compiled_status(check: Array) -> IntArray:
    """Return the status of compiled steps that said this of themselves, (..., CHECK_COUNT)."""
    solved, ended = check[..., ea.SUCCESS] == 1.0, check[..., ea.ENDED].astype(np.int64)
    good = np.isin(ended, SUCCESS)  # what the solver says: it counts as far as the step agrees
    status = np.where(good == solved, ended, np.where(solved, int(Status.SOLVED), int(Status.STALLED)))
    return np.where(check[..., ea.JOINT_FAULT] > 0.0, int(Status.NO_SOLUTION), status)  # joints that cannot all hold


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
        "coordinate": rows[:, :, ja.COORDINATE_OF],
        "speed": rows[:, :, ja.SPEED],
        "effort": rows[:, :, ja.EFFORT_OF],
        "reaction": rows[:, :, ja.REACTION_OF : ja.ENDING_OF],
        "ending": rows[:, :, ja.ENDING_OF :],
    }
