"""Where steps of the law by Python end: bodies that have left their joints are moved onto them.

The same as :mod:`signorini.engine.joints.settle`, written for reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import advance, joint_coordinates
from signorini.dynamics.constants import (
    APART,
    ASKED,
    FEW_MOVES,
    MOST_MOVES,
    MOST_PUSH,
    MOST_TURN,
    ON_JOINTS,
    SOME_PUSH,
    TORN,
)
from signorini.dynamics.joint_faults import DRIFTED, HELD, all_sizes, worst
from signorini.dynamics.joints import JointSystem, bilateral_rows, pushing, rigid_rows
from signorini.math.rotation import rotated
from signorini.model import Model, State
from signorini.posing.base import JointReport
from signorini.posing.joint_report import Settled, coordinates_near, settled
from signorini.posing.joint_space import JointSpace
from tests.by_python.closing import Closed, Push, obeyed


class Kept(NamedTuple):
    """A state moved onto its joints, and the impulses that did it."""

    state: State
    pushes: list[Push]


def kept(model: Model, before: State, state: State, system: JointSystem, coordinate: Array, h: float) -> Kept | None:
    """Return the state at the end of a step of `h` seconds moved onto its joints, None where it cannot be.

    Bodies are pushed along the rows of `system`, those of the step, and their velocities are those at which they have
    moved, then made to obey the joints where they are: the method RATTLE. A body that circles a hinge keeps its speed.
    Where rows turn too much in the step for that, as near limit positions, bodies are pushed along the rows where they
    are. Turned by more than :data:`MOST_PUSH` on the way, as happens to bodies that turn by about a radian in a step,
    they would not end where they were going.
    """
    found = _moved(model, state, [(system, before.q)] * MOST_MOVES, coordinate, h)
    if found is None:
        found = _moved(model, state, [None] * FEW_MOVES, coordinate, h)
    if found is None:
        return None
    state, pushes = found
    ending = pushing(model, state, coordinate)
    rate = bilateral_rows(model, state, coordinate, h, secant=True).rate
    ending.x2[:] = np.where(ending.compliance > 0.0, 0.0, rate)
    v, turn = ending.solve(state.v)
    return Kept(replace(state, v=v), [*pushes, (ending.rows, turn, state.q)])


def _moved(
    model: Model, state: State, ways: Sequence[tuple[JointSystem, Array] | None], coordinate: Array, h: float
) -> Kept | None:
    """Push bodies onto their joints along rows that are given with their poses, or where they are then."""
    first, v_0, pushes = np.inf, state.v, []
    for way in ways:
        rows = rigid_rows(model, state, coordinate)
        drift, _ = worst(all_sizes(model, rows), rows.psi)
        first = min(first, drift)
        if drift <= ON_JOINTS or not drift <= APART * first:
            break
        try:
            system, there = (pushing(model, state, coordinate), state.q) if way is None else way
        except np.linalg.LinAlgError:  # numbers overflow: this way leads nowhere
            return None
        shift, impulse = replace(system, x2=rows.psi).solve(np.zeros_like(state.v))
        pushes.append((system.rows, impulse / h, there))
        v = state.v + shift / h
        q = advance(model, replace(state, t=state.t - h, v=v), shift / h, h, exact_rotation=True).q
        state = replace(state, q=q, v=v)
    pushed, before, after = (
        h * np.linalg.norm(v[model.fixed_count :, 3:], axis=1) for v in (state.v - v_0, v_0, state.v)
    )
    far = (pushed > MOST_PUSH) | ((pushed > SOME_PUSH) & (np.maximum(before, after) > MOST_TURN))
    return Kept(state, pushes) if drift <= TORN and not far.any() else None


def apart_at_start(model: Model, before: State, near: Array) -> float:
    """Return how far apart rigid rows were where a step began, beside their sizes."""
    rows = rigid_rows(model, before, joint_coordinates(model.joints, before.q, near))
    rows.psi[np.flatnonzero(model.joints.drive)] = 0.0
    return worst(all_sizes(model, rows), rows.psi)[0]


def cannot_close(model: Model, state: State, coordinate: Array, asked: float) -> bool:
    """Tell whether no way along the rows where bodies are leads onto the joints, to what is `asked`."""
    for _ in range(FEW_MOVES):
        rows = rigid_rows(model, state, coordinate)
        if worst(all_sizes(model, rows), rows.psi)[0] <= asked:
            return False
        try:
            shift, _ = pushing(model, state, coordinate).solve(np.zeros_like(state.v))
        except np.linalg.LinAlgError:  # numbers overflow
            return True
        q = advance(model, replace(state, t=state.t - 1.0), shift, 1.0, exact_rotation=True).q
        state = replace(state, q=q)
    return True


class Ended(NamedTuple):
    """Where a step ends, and how it came there."""

    end: Settled
    pushes: tuple[Push, ...] = ()
    """By which bodies were moved onto their joints."""
    ending: Push | None = None
    """By which velocities were made to obey the joints."""
    driven: float = 0.0
    """Work of drives meanwhile [J]."""
    cannot: bool = False
    """Whether joints that did not close cannot."""

    def added_to(self, model: Model, report: JointReport) -> JointReport:
        """Return what joints did with what moved bodies onto them."""
        joints, n = model.joints, model.joints.joint_row_count
        along = (joints.drive == 1) | (joints.spring == 1)
        effort, reaction, more = report.effort.copy(), report.reaction.copy(), report.ending
        for rows, p, q in (*self.pushes, *(() if self.ending is None else (self.ending,))):
            more = np.zeros_like(reaction)
            np.add.at(more, joints.rows.joint, rows.J[1 : 2 * n : 2] * p[:n, None])
            more[:, 3:] -= np.cross(rotated(q[joints.arrays.body_b, 3:], joints.arrays.anchor_b), more[:, :3])
            reaction += more
            np.add.at(effort, joints.rows.joint[along], p[:n][along])
        return replace(
            report,
            effort=effort,
            reaction=reaction,
            ending=report.ending if self.ending is None else more,
            moved_onto=bool(self.pushes),
            fault=DRIFTED if self.cannot and report.fault == HELD else report.fault,
        )


def ended(
    model: Model,
    before: State,
    state: State,
    space: JointSpace | None,
    h: float,
    *,
    projection: bool,
    closed: Closed | None,
) -> Ended:
    """Return the end of a step, moved onto its joints if asked for, or if they have drifted far."""
    if space is None or projection:
        return Ended(settled(model, before, state, space, h, projection=projection))
    joints, near = model.joints, coordinates_near(model, state, space, h)
    rows = rigid_rows(model, state, near)
    is_torn = worst(all_sizes(model, rows), rows.psi)[0] > TORN
    if is_torn:
        found = kept(model, before, state, space.system, near, h)
        if found is not None:
            end = Settled(found.state, joint_coordinates(joints, found.state.q, near))
            return Ended(end, tuple(found.pushes))
    coordinate = joint_coordinates(joints, state.q, near)
    is_open = closed is not None and closed.open
    asked = max(ASKED, apart_at_start(model, before, near)) if space.system.redundant else ASKED
    cannot = is_open and not is_torn and cannot_close(model, state, near, asked)
    if closed is None or not closed.rows.any():
        return Ended(Settled(state, coordinate), cannot=cannot)
    state, ending, driven = obeyed(model, state, near, h, closed)
    return Ended(Settled(state, coordinate), ending=ending, driven=driven, cannot=cannot)
