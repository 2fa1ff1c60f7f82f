"""Mechanisms on which nothing else acts close their joints where the step ends.

The same as :mod:`signorini.engine.joints.close`, which explains it, for the law by Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.dynamics import advance
from signorini.dynamics.constants import MOST_TURN
from signorini.dynamics.flight import FLIGHT_COLUMNS, fly_bodies
from signorini.dynamics.joint_faults import all_sizes
from signorini.dynamics.joint_rows import Rows
from signorini.dynamics.joints import bilateral_rows, pushing, rigid_rows
from signorini.engine.joints.close import CLOSES, CLOSES_NEXT, FAILS, GOES_ON, closing
from signorini.model import Contacts, Model, State
from signorini.posing.constants import MOST_CLOSINGS
from signorini.posing.joint_space import JointSpace, LawKind
from signorini.posing.midpoint import Midpoint

Push = tuple[Rows, Array, Array]
"""Rows, their impulses, and the poses at which they act."""


class Closed(NamedTuple):
    """Joints whose rows also ask for what they would leave open."""

    space: JointSpace
    v: Array
    """(n_b, 6)"""
    impulse: Array
    """(n_r,)"""
    bodies: BoolArray
    """Those of mechanisms that close, (n_b,)."""
    rows: BoolArray
    """(n_r,)"""
    open: bool
    """Whether some mechanism does not close."""


class Pressing(NamedTuple):
    """What else was posed, with its answers."""

    contacts: Contacts
    presses: BoolArray
    """Whether contacts do, (n_c,)."""
    laws: Array
    """Impulses of the laws of joints, (n_l,)."""
    left: Callable[[Array], Array]
    """How much further contacts may close at velocities (n_b, 6), (n_c,) [m/s]."""


def closed(model: Model, at: Midpoint, posed: Pressing, space: JointSpace, v: Array, impulse: Array) -> Closed:
    """Return joints that close where the step ends, where nothing else acts.

    `v` (n_b, 6) and `impulse` (n_r,) are those of the linear rows. Mechanisms on which something presses keep them.
    """
    system, fixed, contacts, laws = space.system, model.fixed_count, posed.contacts, space.laws
    part, of_row = _mechanisms(model, system.rows)
    acts = np.zeros(model.body_count, dtype=bool)
    pushes = np.repeat((laws.kind != LawKind.LIMIT) | (posed.laws != 0.0), np.diff(laws.rows.start))
    on = (contacts.body_a[posed.presses], contacts.body_b[posed.presses], laws.rows.body[pushes])
    for body in on:
        acts[part[body[body >= fixed]]] = True
    turns = at.drift * np.linalg.norm(at.state.v[:, 3:], axis=1)
    acts[part[fixed:][turns[fixed:] > MOST_TURN]] = True
    closes, is_open = np.zeros(acts.size, dtype=bool), False
    linear, apart, asked = (v, impulse), np.full(acts.size, np.inf), np.zeros(impulse.size)
    for repetition in range(MOST_CLOSINGS + 1):
        if acts[of_row].all():
            break
        flown = np.zeros((model.body_count, FLIGHT_COLUMNS))
        fly_bodies(at.ways, model.arrays.inertia, at.state.q, v, at.drift, flown)
        end = advance(model, at.state, v, at.drift, exact_rotation=True, flown=flown)
        rows, share = rigid_rows(model, end, space.coordinate), np.zeros(acts.size)
        np.maximum.at(share, of_row, np.abs(rows.psi) / all_sizes(model, rows))
        state = np.array([closing(*one, repetition) for one in zip(share.tolist(), apart.tolist(), strict=True)])
        left, corrected = ~acts & (state == FAILS), ~acts & ((state == GOES_ON) | (state == CLOSES_NEXT))
        v = np.where(left[part][:, None], linear[0], v)
        impulse, asked = np.where(left[of_row], linear[1], impulse), np.where(left[of_row], 0.0, asked)
        is_open |= bool(left[of_row].any())
        closes |= ~acts & ((state == CLOSES) | (state == CLOSES_NEXT))
        acts, apart = acts | (state != GOES_ON), share
        more = np.where(corrected[of_row], rows.psi / at.drift, 0.0)
        push, pull = replace(system, x2=more).solve(np.zeros_like(v))
        v, impulse, asked = v + push, impulse + pull, asked + more
    further = np.zeros(acts.size, dtype=bool)
    still = v.copy()
    still[:fixed] = 0.0
    beyond = (laws.kind == LawKind.LIMIT) & (
        laws.rows.velocity(still) + laws.rows.rate + laws.rows.psi / at.drift < 0.0
    )
    over, terms = posed.left(still) < 0.0, np.repeat(beyond, np.diff(laws.rows.start))
    for body in (contacts.body_a[over], contacts.body_b[over], laws.rows.body[terms]):
        further[part[body[body >= fixed]]] = True
    further &= closes
    v = np.where(further[part][:, None], linear[0], v)
    impulse, asked = np.where(further[of_row], linear[1], impulse), np.where(further[of_row], 0.0, asked)
    closes &= ~further
    system = replace(system, x2=system.x2 + asked)
    return Closed(replace(space, system=system), v, impulse, closes[part], closes[of_row], is_open)


def obeyed(model: Model, state: State, coordinate: Array, h: float, found: Closed) -> tuple[State, Push, float]:
    """Return the state in which the velocities of mechanisms that have closed obey their joints, and what did it.

    Rows along which something is driven keep the speeds that took them there. Returned at last is their work [J].
    """
    system, still = pushing(model, state, coordinate), state.v.copy()
    still[: model.fixed_count] = 0.0
    driven = bilateral_rows(model, state, coordinate, h, secant=True).rate != 0.0
    driven[: model.joints.joint_row_count] |= model.joints.drive == 1
    system.x2[:] = np.where(driven & (system.compliance == 0.0), -system.rows.velocity(still), 0.0)
    v, turn = system.solve(state.v)
    v, turn = np.where(found.bodies[:, None], v, state.v), np.where(found.rows, turn, 0.0)
    return replace(state, v=v), (system.rows, turn, state.q), -float(turn @ system.x2)


def _mechanisms(model: Model, rows: Rows) -> tuple[IntArray, IntArray]:
    """Return the mechanism of each body, and of each row, by the least of its bodies, as kernels have them."""
    part, fixed = np.arange(model.body_count), model.fixed_count
    spans = [rows.body[a:b] for a, b in zip(rows.start[:-1], rows.start[1:], strict=True)]
    spans = [span[span >= fixed] for span in spans]
    sided = [np.array([b for b in one.bodies if b >= fixed]) for one in model.joints.inequalities]
    for span in spans + sided:
        if span.size:
            part[np.isin(part, part[span])] = part[span].min()
    return part, np.array([part[span[0]] if span.size else 0 for span in spans], dtype=np.int64)
