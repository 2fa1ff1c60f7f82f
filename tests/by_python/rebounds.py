"""Rebounds of the law by Python: Newton's law, and the passive law, see :mod:`signorini.posing.passive_law`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.math.rotation import tangent_frame
from signorini.model import Model
from signorini.posing.constants import BAND
from signorini.posing.gap_law import contact_sizes, normal_shifts, pull_and_lift
from signorini.posing.joint_space import LawKind
from signorini.posing.midpoint import Midpoint
from signorini.posing.passive_law import (
    ASKED_SHARE,
    ROUND,
    SETTLED,
    SHARE_COLUMNS,
    UNSOLVED,
    is_seen,
    next_share,
    relative_gain,
)
from signorini.posing.time_stepping import ContactSpace, Outcome


@dataclass(frozen=True, slots=True)
class Asked:
    """What gaps and rebounds ask of the normal velocities, arrays by contact (n_c,) [m/s]."""

    shift: Array
    """What the law adds to them."""
    lift: Array
    """How fast overlapping bodies are to share."""
    may_close: Array
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
    at: Midpoint,
    space: ContactSpace,
    veered: Array,
    e: Array,
    last: Array,
    *,
    rows: IntArray | slice = slice(None),
    share: float = 1.0,
) -> Asked:
    """Ask of the contacts `rows` what gaps and this share of their rebounds do.

    `veered` are the normal velocities that flights add in the mean of the step, `e` the coefficients of restitution of
    all contacts, `last` their impulses in the last step.
    """
    contacts = space.contacts
    gravity, v = pull_and_lift(float(np.linalg.norm(model.arrays.gravity)), at.h, at.theta)
    e, size = np.ascontiguousarray(e[rows]), contact_sizes(model, contacts)[rows]
    shift, lift, may_close = np.zeros(e.size), np.zeros(e.size), np.zeros(e.size)
    rebounds = normal_shifts(
        contacts.gap[rows],
        veered[rows],
        size,
        np.ascontiguousarray(space.b[: contacts.contact_count][rows]),
        np.ascontiguousarray(space.before[rows]),
        e,
        np.ascontiguousarray(last[rows]),
        gravity,
        v,
        at.drift,
        share,
        shift,
        lift,
        may_close,
    )
    return Asked(shift, lift, may_close, rebounds)


class Island(NamedTuple):
    """What hangs together."""

    contacts: IntArray
    laws: IntArray
    """Of joints."""
    joined: bool
    """Whether some body has a joint."""


def islands_of(model: Model, space: ContactSpace) -> list[Island]:
    """Return contacts and laws of joints that hang together, as lists of their numbers."""
    root = list(range(model.body_count))

    def find(b: int) -> int:
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        return b

    contacts, fixed, joints = space.contacts, model.fixed_count, model.joints
    groups: list[Any] = [*zip(contacts.body_a, contacts.body_b, strict=True)]
    joining: list[Any] = [*zip(joints.arrays.body_a, joints.arrays.body_b, strict=True)]
    joining += [constraint.bodies for constraint in (*joints.equalities, *joints.inequalities)]
    for group in groups + joining:
        moving = [int(b) for b in group if b >= fixed]
        for a, b in pairwise(moving):
            root[find(a)] = find(b)
    of_contact = np.array([find(int(b)) for b in np.maximum(contacts.body_a, contacts.body_b)], dtype=np.int64)
    of_law = np.zeros(0, dtype=np.int64)
    if space.joints is not None:
        rows = space.joints.laws.rows
        ends = [max(rows.body[i:j]) for i, j in zip(rows.start[:-1], rows.start[1:], strict=True)]
        of_law = np.array([find(int(b)) for b in ends], dtype=np.int64)
    joined = {find(int(b)) for group in joining for b in group if b >= fixed}
    roots = np.unique(of_contact)
    return [Island(np.flatnonzero(of_contact == r), np.flatnonzero(of_law == r), int(r) in joined) for r in roots]


def rebound_passively(
    model: Model,
    at: Midpoint,
    space: ContactSpace,
    veered: Array,
    e: Array,
    last: Array,
    answer: Callable[[Array, bool], Outcome],
    tolerance: float,
) -> tuple[Outcome, Array]:
    """Solve a step with as much of its rebounds as energy and may_close permit; return lifting speeds (n_c,), too.

    `answer` solves the step with what is added to the normal velocities, in a hurry if there are other ways.
    """
    islands = islands_of(model, space)
    shares = np.zeros((len(islands), int(SHARE_COLUMNS)))
    shares[:, ASKED_SHARE] = 1.0
    n_c = space.contacts.contact_count
    whole = Asked(np.zeros(n_c), np.zeros(n_c), np.zeros(n_c), True)
    while True:
        for row, island in zip(shares, islands, strict=True):
            rows = island.contacts
            own = asked_of(model, at, space, veered, e, last, rows=rows, share=float(row[ASKED_SHARE]))
            whole.shift[rows], whole.lift[rows], whole.may_close[rows] = own.shift, own.lift, own.may_close
            if not own.rebounds:
                row[ROUND] = SETTLED
        outcome = answer(whole.shift, bool(np.any((shares[:, ROUND] != SETTLED) & (shares[:, ASKED_SHARE] > 0.0))))
        settled, residual = True, outcome.solution.residual
        size, load = outcome.problem.scale(outcome.solution.z), outcome.problem.scale(0.0 * outcome.solution.z)
        seen = outcome.solution.success and is_seen(residual * size, size, load, tolerance)
        for row, island in zip(shares, islands, strict=True):
            if row[ROUND] == SETTLED:
                continue
            excess, leverage = _excess(model, at, space, outcome.impulse, whole, island, tolerance)
            if row[ASKED_SHARE] > 0.0 and not seen:
                excess = UNSOLVED
            if next_share(row, excess, leverage * residual, tolerance):
                row[ROUND] = SETTLED
            else:
                settled = False
        if settled:
            return outcome, whole.lift


def _excess(
    model: Model,
    at: Midpoint,
    space: ContactSpace,
    p: Array,
    asked: Asked,
    island: Island,
    tolerance: float,
) -> tuple[float, float]:
    """Return by how much the rebound of an island is too large, and the leverage of its impulses."""
    rows, laws, joined = island
    n_c, pushed_u = space.contacts.contact_count, (space.W @ p.reshape(-1)).reshape(p.shape)
    u = pushed_u[rows] + space.b[rows]
    pushed, work = 0.5 * float(np.sum(p[rows] * pushed_u[rows])), p[rows] * space.b[rows]
    taken, handled = float(np.sum(work)), float(np.sum(np.abs(work))) + pushed
    if space.joints is not None:  # of each law one direction moves something
        along = np.where(space.joints.laws.kind[laws] == LawKind.LIMIT, 0, 1)
        made = (p * pushed_u)[n_c + laws, along]
        taken, handled = taken - 0.5 * float(np.sum(made)), handled + 0.5 * float(np.sum(np.abs(made)))
    apart = float(np.sum(p[rows, 0] * asked.lift[rows]))
    if not joined:
        apart += min(0.0, 0.5 * at.h * float(_from_fixed(model, space, p, rows) @ model.arrays.gravity))
    excess, leverage = relative_gain(pushed + taken - apart, pushed + abs(taken), handled, tolerance)
    fastest = float(max(np.abs(u[:, 0]).max(initial=0.0), np.abs(space.b[rows, 0]).max(initial=0.0)))
    touch = BAND * contact_sizes(model, space.contacts)[rows] / at.drift
    close = float(np.max(-u[:, 0] - asked.may_close[rows] - touch, initial=-np.inf))
    return (max(excess, close / fastest) if fastest > 0.0 else excess, leverage)


def _from_fixed(model: Model, space: ContactSpace, p: Array, rows: IntArray) -> Array:
    """Return what the impulses of the contacts `rows` with fixed bodies are together, (3,) [N s]."""
    whole, contacts = np.zeros(3), space.contacts
    for c in rows[contacts.body_a[rows] < model.fixed_count]:
        n = contacts.normal[c]
        frame = np.array([n, *tangent_frame(tuple(n))])
        whole += p[c, : 2 if model.planar else 3] @ frame[: 2 if model.planar else 3]
    return whole
