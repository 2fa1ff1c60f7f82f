"""Why joints cannot hold, in words: which of them, which of their rows, by how much, and what to try."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import inverse_inertia, joint_system
from signorini.dynamics.constants import TORN
from signorini.dynamics.joint_faults import BLOCKED, CONTRADICTED, Fight, fighting, row_words
from signorini.formulations import StepResult
from signorini.model import Model, State
from signorini.simulation.certificate import StepCertificate

_SWINGS = 3.0  # times faster than a row gives way: bodies near a limit position
_TURNS = 0.5  # [rad] in a step: joints are posed by their directions at its start


def joint_failure(
    model: Model, certificate: StepCertificate, result: StepResult, before: State, coordinate: Array, h: float
) -> str:
    """Return what a step with a joint fault, that began at `before` with joints at `coordinate`, says of its joints."""
    if certificate.joint_fault == BLOCKED:
        return (
            f"{_named(model, certificate.conflict_row)} drives a body against a contact or a limit that no impulse "
            "can move; give the motion an effort_limit, or end it earlier"
        )
    torn = certificate.joint_fault != CONTRADICTED
    fight = _fight(model, certificate.drift_row if torn else certificate.conflict_row, before, coordinate, h)
    with_ = ", ".join(_named(model, int(row)) for row in fight.rows[1:])
    others = f", against {with_}" if with_ else ""
    if not torn:
        return (
            f"joints contradict each other by {certificate.joint_conflict:.2e} m/s or rad/s: "
            f"{_named(model, certificate.conflict_row)}{others}; leave one of them out, or let their motions agree"
        )
    how = f"are torn apart by {certificate.joint_drift:.2e} m or rad, more than {TORN:g} of the bodies joined"
    if certificate.joint_apart <= TORN:
        how = f"cannot close, pulled beyond a limit position: {certificate.joint_drift:.2e} m or rad are left"
    words = f"joints {how}: {_named(model, certificate.drift_row)}{others}"
    turn = h * np.linalg.norm(result.state.v[model.fixed_count :, 3:], axis=1)
    if fight.swing > _SWINGS:
        words += f"; near a limit position: bodies must move {fight.swing:.0f} times as fast as the row"
    elif turn.max(initial=0.0) > _TURNS:
        b = model.fixed_count + int(np.argmax(turn))
        words += f"; {model.names[b]!r} turns by {turn.max():.2g} rad in the step"
    return words + "; try a smaller h, or check that lengths, limits and motions leave a way"


def _fight(model: Model, row: int, state: State, coordinate: Array, h: float) -> Fight:
    """Return who resists a row where the last step began."""
    if row >= model.joints.row_count:
        return Fight(np.array([row]), 0.0)
    M_inv = inverse_inertia(model.arrays, state.q)
    return fighting(joint_system(model, state, coordinate, M_inv, h, secant=True), row)


def _named(model: Model, row: int) -> str:
    joint, what = row_words(model, row)
    return f"{joint!r} ({what})"
