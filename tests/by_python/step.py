"""The law of :class:`signorini.MoreauJean` by functions of Python, for reading and as judge of the compiled step.

It differs in one thing: overlaps recede by velocities also among bodies without joints at theta = 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

import signorini as sg
from signorini._arrays import Array, BoolArray, checked_tolerance
from signorini.dynamics import advance, drive_velocity, kinetic_energy, relative_velocity
from signorini.dynamics.bodies import EVEN
from signorini.dynamics.flight import FLIGHT_COLUMNS, fly_bodies, veer_bodies
from signorini.formulations import Engine
from signorini.model import Contacts, Model, State
from signorini.posing.base import FreeMotion, Memory, StepResult
from signorini.posing.constants import HURRY
from signorini.posing.friction_law import friction_law
from signorini.posing.midpoint import Midpoint, midpoint
from signorini.posing.poisson import collide
from signorini.posing.time_stepping import (
    ContactSpace,
    Motion,
    Outcome,
    contact_space,
    free_velocity,
    joined_free_motion,
    pose_and_solve,
    reachable_contacts,
    reported,
    warm_start,
)
from signorini.problems import Delassus, FrictionProblem
from signorini.solvers import Solution, solve
from tests.by_python.closing import Closed, Pressing, closed
from tests.by_python.rebounds import asked_of, rebound_passively
from tests.by_python.settling import ended
from tests.by_python.ways import ways_of


class ByPython(sg.MoreauJean):
    """The same laws, step by step in Python."""

    __slots__ = ()

    def engine(self, model: Model, h: float, tolerance: float) -> Engine | None:  # type: ignore[override]
        return None

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: Memory, h: float, *, tolerance: float
    ) -> StepResult:
        checked_tolerance(tolerance, "MoreauJean: tolerance")
        at = midpoint(model, state, memory, h, self.gyroscopic, self.theta)
        free = joined_free_motion(model, at, self.gyroscopic)
        start = contacts
        if self.theta < 1.0:  # the step acts elsewhere than at its start
            contacts = reachable_contacts(model, at, free.v_free)
        ways, known = ways_of(model), self.restitution_law != "poisson"
        v_free = free_velocity(model, at, free)
        veer = _veers(model, at, v_free) if known else np.zeros((model.body_count, 3))
        if ways is None:
            anything = np.ones(contacts.contact_count, dtype=bool)
            return self._step(model, at, free, contacts, anything, veer, memory, tolerance)[0]
        drive = drive_velocity(model, at.state, at.drift, secant=True)
        mends = self.stiffness is None  # springs give way
        ways.begin(at.state.q, at.state.v, v_free, at.ways, drive, at.drift, mends=mends, veers=known)
        contacts = ways.foreseen(contacts, start, memory)
        while True:
            result, v, stopped = self._step(model, at, free, contacts, ways.rebounds(contacts), veer, memory, tolerance)
            missed = ways.missed(v, contacts)
            if missed is None:
                result = replace(result, unfollowed=ways.unfollowed, posed_again=ways.posed_again)
                if self.stiffness is not None:
                    return result
                hits = ways.unfinished(contacts, stopped, result.velocity[:, 0])
                return replace(result, memory=result.memory._replace(**hits))
            contacts, at, veer = missed, replace(at, ways=ways.ways), ways.veer

    def _step(
        self,
        model: Model,
        at: Midpoint,
        free: FreeMotion,
        contacts: Contacts,
        may_rebound: BoolArray,
        veer: Array,
        memory: Memory,
        tolerance: float,
    ) -> tuple[StepResult, Array, Array]:
        """Do a step with these contacts.

        Return the velocities that follow from their impulses, too, (n_b, 6), and what each stopped by itself, (n_c,).
        """
        h = at.h
        law = friction_law(model, contacts)

        space = contact_space(
            model, at, free, contacts, secant=True, common_point=True, couples=law.couples, idle=law.idle
        )
        turning = np.hstack([np.zeros_like(veer), veer])
        veered = np.ascontiguousarray(relative_velocity(space.push.J_a, space.push.J_b, contacts, turning)[:, 0])
        last = memory.recall(contacts.feature)
        e = model.materials.restitution[contacts.material] * may_rebound
        asked = asked_of(model, at, space, veered, e, last)
        shift, lift = asked.shift, asked.lift
        words = law.words(space.mu.size)
        n_c = contacts.contact_count
        if self.stiffness is not None:
            shift, lift = contacts.gap / at.drift, np.zeros(n_c)
            words["compliance"] = np.zeros(space.mu.size)
            words["compliance"][:n_c] = 1.0 / (at.drift * h * self.stiffness)

        def pose(b: Array) -> FrictionProblem:
            return FrictionProblem(space.W, b, space.mu, dim=2 if model.planar else 3, **words)

        def answer(problem: FrictionProblem, start: Array, limit: int | None = None) -> Solution:
            return solve(problem, self.solver, tolerance=tolerance, start=start, max_iterations=limit)

        def outcome_of(shift: Array, hurried: bool = False) -> Outcome:
            limit = HURRY if hurried and self.solver is None else None
            b, start = space.shifted(shift), warm_start(memory, space)
            return pose_and_solve(space, b, pose, partial(answer, limit=limit), start, tolerance)

        if not asked.rebounds or self.restitution_law == "newton":
            outcome = outcome_of(shift)
        elif self.restitution_law == "poisson":
            at_rest, rebounding = asked_of(model, at, space, veered, 0.0 * e, last), asked.rebounding
            shift, lift = np.where(rebounding, 0.0, at_rest.shift), np.where(rebounding, 0.0, at_rest.lift)
            outcome = collide(model, at, space, shift, words, answer)
        else:
            outcome, lift = rebound_passively(model, at, space, veered, e, last, outcome_of, tolerance)
        v = space.body_velocity(outcome.impulse)
        result = _finish(model, at, free, space, outcome, lift, tolerance, projection=self.projection)
        stopped = result.impulse[:, 0] * _compliance(space)[:n_c]
        if self.stiffness is None:
            return result, v, stopped
        stored = float(np.sum(result.impulse[:, 0] ** 2)) / (2.0 * h * h * self.stiffness)
        return _with_springs(result, stored, stored - memory.stored), v, stopped


def _compliance(space: ContactSpace) -> Array:
    """Return how fast a unit impulse along its normal makes each contact part, (n_c,) [1/kg]."""
    W = space.W
    if not isinstance(W, Delassus):
        return np.asarray(W.diagonal()[:: space.b.shape[1]])
    compliance: Array = np.zeros(W.J_a.shape[0])
    for J, body in ((W.J_a, W.body_a), (W.J_b, W.body_b)):
        compliance += np.einsum("ci,cij,cj->c", J[:, 0], W.M_inv[body], J[:, 0])
    return compliance


def _with_springs(result: StepResult, stored: float, gained: float) -> StepResult:
    """Return a step with the energy stored in its contacts, and what they gained, told from what was lost [J]."""
    balance = result.balance
    balance = balance._replace(impact=balance.impact - gained, elastic=balance.elastic + gained)
    return replace(result, balance=balance, memory=result.memory._replace(stored=stored))


def _finish(
    model: Model,
    at: Midpoint,
    free: FreeMotion,
    space: ContactSpace,
    outcome: Outcome,
    lift: Array,
    tolerance: float,
    *,
    projection: bool,
) -> StepResult:
    """Carry the impulses of a step to velocities and configuration.

    `lift` is the speed at which the law asks overlapping bodies to part, (n_c,) [m/s].
    """
    p, p_laws = space.split(outcome.impulse)
    v, reaction = space.motion(outcome.impulse)
    found: Closed | None = None
    if space.joints is not None and not projection and at.theta == 1.0:
        found = closed(model, at, _pressing(space, outcome, p, p_laws), space.joints, v, reaction)
        space, v, reaction = replace(space, joints=found.space), found.v, found.impulse
    flown = np.zeros((model.body_count, FLIGHT_COLUMNS))
    fly_bodies(at.ways, model.arrays.inertia, at.state.q, v, at.drift, flown)
    moved = advance(model, at.state, v, at.drift, exact_rotation=True, flown=flown)
    end = ended(model, at.state, moved, space.joints, at.drift, projection=projection, closed=found)
    u = space.velocity(outcome.impulse)
    if found is not None and found.bodies.any():  # where nothing presses
        beside, still = found.bodies[space.contacts.body_a] | found.bodies[space.contacts.body_b], v.copy()
        still[: model.fixed_count] = 0.0
        own = relative_velocity(space.push.J_a, space.push.J_b, space.contacts, still) + space.drive
        u = np.where(beside[:, None], own, u)
    motion = Motion(v, reaction, moved, end.end, u, _turned_energy(model, at, v, moved))
    result = reported(model, at, free, space, outcome, lift, tolerance, motion, drives=True)
    if result.joints is None:
        return result
    drive_work, joint_work = result.balance.drive_work + end.driven, result.balance.joint_work - end.driven
    return replace(
        result,
        balance=result.balance._replace(drive_work=drive_work, joint_work=joint_work),
        joints=end.added_to(model, result.joints),
    )


def _pressing(space: ContactSpace, outcome: Outcome, p: Array, p_laws: Array) -> Pressing:
    """Return which contacts press; all that are posed in a collision of two phases."""
    contacts, n_c, push = space.contacts, space.contacts.contact_count, space.push
    presses = np.any(p != 0.0, axis=1) | bool(outcome.phases)
    shift = outcome.problem.b.reshape(-1, space.b.shape[1])[:n_c, 0] - space.b[:n_c, 0]

    def left(v: Array) -> Array:
        return (relative_velocity(push.J_a, push.J_b, contacts, v) + space.drive)[:, 0] + shift

    return Pressing(contacts, presses, p_laws, left)


def _turned_energy(model: Model, at: Midpoint, v: Array, moved: State) -> float:
    """Return the energy gained by bodies that kept their momentum, but turned evenly and not as they would fly [J]."""
    even = at.ways == EVEN
    if not even.any():
        return 0.0
    gained = kinetic_energy(model.arrays, moved.q, moved.v) - kinetic_energy(model.arrays, at.state.q, v)
    return float(np.sum(gained[even]))


def _veers(model: Model, at: Midpoint, v: Array) -> Array:
    """Return by how much the mean spins of flights at velocities `v` differ from their first ones, (n_b, 3)."""
    veer = np.zeros((model.body_count, 3))
    veer_bodies(at.ways, model.arrays.inertia, at.state.q, v, at.drift, veer)
    return veer
