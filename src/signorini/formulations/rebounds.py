"""Rebounds in steps that Python takes: Newton's law, and the passive law, see :mod:`.passive_law`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.formulations.gap_law import BAND, contact_sizes, normal_shifts, pull_and_lift
from signorini.formulations.joint_space import LawKind
from signorini.formulations.passive_law import PART, PART_COLUMNS, ROUND, SETTLED, UNSOLVED, next_part
from signorini.formulations.stage import Stage
from signorini.formulations.time_stepping import ContactSpace, Outcome
from signorini.model import Model


@dataclass(frozen=True, slots=True)
class Asked:
    """What gaps and rebounds ask of the normal velocities, arrays by contact (n_c,) [m/s]."""

    shift: Array
    """What the law adds to them."""
    lift: Array
    """How fast overlapping bodies are to part."""
    room: Array
    """How fast gaps may close of contacts that were parting faster, inf of others."""
    rebounds: bool
    """Whether some contact rebounds."""

    @property
    def rebounding(self) -> BoolArray:
        """Which contacts rebound, if some do, (n_c,)."""
        which: BoolArray = (self.shift < 0.0) & (self.lift == 0.0)
        return which


def asked_of(
    model: Model,
    at: Stage,
    space: ContactSpace,
    e: Array,
    last: Array,
    *,
    rows: IntArray | slice = slice(None),
    part: float = 1.0,
) -> Asked:
    """Ask of the contacts `rows` what gaps and this part of their rebounds do.

    `e` are the coefficients of restitution of all contacts, `last` their impulses in the last step.
    """
    contacts = space.contacts
    gravity, v = pull_and_lift(float(np.linalg.norm(model.arrays.gravity)), at.h, at.theta)
    e, size = np.ascontiguousarray(e[rows]), contact_sizes(model, contacts)[rows]
    shift, lift, room = np.zeros(e.size), np.zeros(e.size), np.zeros(e.size)
    rebounds = normal_shifts(
        contacts.gap[rows],
        size,
        np.ascontiguousarray(space.b[: contacts.contact_count][rows]),
        np.ascontiguousarray(space.before[rows]),
        e,
        np.ascontiguousarray(last[rows]),
        gravity,
        v,
        at.drift,
        part,
        shift,
        lift,
        room,
    )
    return Asked(shift, lift, room, rebounds)


def islands_of(model: Model, space: ContactSpace) -> list[tuple[IntArray, IntArray]]:
    """Return contacts and laws of joints that hang together, as lists of their numbers."""
    root = list(range(model.body_count))

    def find(b: int) -> int:
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        return b

    contacts, fixed, joints = space.contacts, model.fixed_count, model.joints
    groups: list[Any] = [*zip(contacts.body_a, contacts.body_b, strict=True)]
    groups += zip(joints.arrays.body_a, joints.arrays.body_b, strict=True)
    groups += [constraint.bodies for constraint in (*joints.equalities, *joints.inequalities)]
    for group in groups:
        moving = [int(b) for b in group if b >= fixed]
        for a, b in pairwise(moving):
            root[find(a)] = find(b)
    of_contact = np.array([find(int(b)) for b in np.maximum(contacts.body_a, contacts.body_b)], dtype=np.int64)
    of_law = np.zeros(0, dtype=np.int64)
    if space.joints is not None:
        rows = space.joints.laws.rows
        ends = [max(rows.body[i:j]) for i, j in zip(rows.start[:-1], rows.start[1:], strict=True)]
        of_law = np.array([find(int(b)) for b in ends], dtype=np.int64)
    return [(np.flatnonzero(of_contact == r), np.flatnonzero(of_law == r)) for r in np.unique(of_contact)]


def rebound_passively(
    model: Model,
    at: Stage,
    space: ContactSpace,
    e: Array,
    last: Array,
    answer: Callable[[Array], Outcome],
    tolerance: float,
) -> tuple[Outcome, Array]:
    """Solve a step with as much of its rebounds as energy and room permit; return lifting speeds (n_c,), too.

    `answer` solves the step with what is added to the normal velocities.
    """
    islands = islands_of(model, space)
    parts = np.zeros((len(islands), int(PART_COLUMNS)))
    parts[:, PART] = 1.0
    n_c = space.contacts.contact_count
    whole = Asked(np.zeros(n_c), np.zeros(n_c), np.zeros(n_c), True)
    while True:
        for row, (rows, _) in zip(parts, islands, strict=True):
            own = asked_of(model, at, space, e, last, rows=rows, part=float(row[PART]))
            whole.shift[rows], whole.lift[rows], whole.room[rows] = own.shift, own.lift, own.room
            if not own.rebounds:
                row[ROUND] = SETTLED
        outcome = answer(whole.shift)
        settled, residual = True, outcome.solution.residual
        for row, island in zip(parts, islands, strict=True):
            if row[ROUND] == SETTLED:
                continue
            excess = _excess(model, at, space, outcome.impulse, whole, island)
            if not outcome.solution.success and row[PART] > 0.0:
                excess = UNSOLVED
            if next_part(row, excess, residual, tolerance):
                row[ROUND] = SETTLED
            else:
                settled = False
        if settled:
            return outcome, whole.lift


def _excess(
    model: Model,
    at: Stage,
    space: ContactSpace,
    p: Array,
    asked: Asked,
    island: tuple[IntArray, IntArray],
) -> float:
    """Return by how much the rebound of an island is too large."""
    rows, laws = island
    n_c, pushed_u = space.contacts.contact_count, (space.W @ p.reshape(-1)).reshape(p.shape)
    u = pushed_u[rows] + space.b[rows]
    pushed, work = 0.5 * float(np.sum(p[rows] * pushed_u[rows])), p[rows] * space.b[rows]
    gain, moved = float(np.sum(work)) + pushed, float(np.sum(np.abs(work))) + pushed
    if space.joints is not None:  # of each law one direction moves something
        along = np.where(space.joints.laws.kind[laws] == LawKind.LIMIT, 0, 1)
        made = (p * pushed_u)[n_c + laws, along]
        gain, moved = gain - 0.5 * float(np.sum(made)), moved + 0.5 * float(np.sum(np.abs(made)))
    gain -= float(np.sum(p[rows, 0] * asked.lift[rows]))
    excess = gain / moved if moved > 0.0 else 0.0
    fastest = float(max(np.abs(u[:, 0]).max(initial=0.0), np.abs(space.b[rows, 0]).max(initial=0.0)))
    touch = BAND * contact_sizes(model, space.contacts)[rows] / at.drift
    close = float(np.max(-u[:, 0] - asked.room[rows] - touch, initial=-np.inf))
    return max(excess, close / fastest) if fastest > 0.0 else excess
