r"""The parts of a velocity-impulse step that the formulations share.

.. math::
    M (v^{+} - v) = p_{ext} + J^T p, \qquad u = J v^{+} + \dot g,

with all matrices frozen where the step acts (:mod:`signorini.posing.midpoint`); :math:`\dot g` is the velocity of
prescribed bodies seen from the contact. Eliminating :math:`v^{+}` gives the contact-space map ``u = W p + b`` on which
every contact law is posed.

==============  ===============================  ==============================================
here            S1                               meaning
==============  ===============================  ==============================================
``v_free``      :math:`r` (47)                   velocity without contact impulses, (n_b, 6)
``J_a, J_b``    :math:`{}^uW_n^T, {}^uW_f^T`     contact wrenches by body, (n_c, dim, 6)
``b``           first rows of :math:`f`          ``J v_free`` with drives, (n_c, dim) [m/s]
``p``           :math:`p_n, D\beta`              impulses in the contact frames, (n_c, dim) [N s]
==============  ===============================  ==============================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, BoolArray, checked_choice, padded
from signorini.dynamics import (
    advance,
    contact_wrenches,
    drive_velocity,
    joint_coordinates,
    relative_velocity,
)
from signorini.dynamics.flight import FLIGHT_COLUMNS, fly_bodies, turn_rates
from signorini.dynamics.joint_faults import BLOCKED
from signorini.errors import InputError
from signorini.geometry import detect
from signorini.model import Contacts, Model, State, refuse_flexible, refuse_layers
from signorini.posing.balance import energy_balance, pressed, with_joints
from signorini.posing.base import FreeMotion, Memory, StepResult
from signorini.posing.constants import GRAIN, REACH_FACTOR, REACH_FRACTION, SPEED_ROUNDING
from signorini.posing.contact_checks import check_contacts
from signorini.posing.friction_law import friction_law, has_couples
from signorini.posing.joint_blocks import blocked, blocked_row, contact_rows, joined_map, law_impulses
from signorini.posing.joint_report import Settled, joint_report, settled
from signorini.posing.joint_space import JointSpace, LawKind, driven_velocity, joint_space
from signorini.posing.lost_momentum import lost_momentum
from signorini.posing.midpoint import Midpoint, free_motion, midpoint
from signorini.posing.posed import Phases, Posed, PosedFriction
from signorini.problems import Delassus, FrictionProblem
from signorini.solvers import Solution, Status
from signorini.solvers.friction_certificate import contradiction

_MOST_REPETITIONS = 60  # of friction by load; each multiplies the error by about coefficient times radius over arm
_AGREED = 1e-14  # relative change of a friction limit that is rounding


def begin(model: Model, state: State) -> Memory:
    """Return the memory of a run that begins at `state`."""
    refuse_layers(model, "this formulation")
    refuse_flexible(model, "this formulation")
    count = model.joints.count
    memory = Memory.none(count)
    return memory._replace(coordinate=joint_coordinates(model.joints, state.q, np.zeros(count))) if count else memory


def candidates(
    model: Model, state: State, h: float, gyroscopic: str, *, joined_fly: bool = True, facets: bool = True
) -> Contacts:
    """Return the candidate contacts of a step of `h` seconds from `state`; `facets` as in :func:`detect`."""
    at = midpoint(model, state, Memory.none(), h, gyroscopic, joined_fly=joined_fly)
    return reachable_contacts(model, at, free_motion(model, at).v_free, facets=facets)


def reachable_contacts(model: Model, at: Midpoint, v_free: Array, *, facets: bool = True) -> Contacts:
    """Return all contacts that may close within a step that acts as `at` says."""
    state, h, bound = at.state, at.h, model.arrays.bound
    speed = _speed(model, at, v_free)
    if any(motion is not None for motion in model.joints.motions):  # bodies that a joint drives from rest
        speed = np.maximum(speed, _speed(model, at, driven_velocity(model, state, v_free, h)))
    if model.flexible:  # any of their points may go where the others push it
        speed[model.fixed_count :] = speed.max(initial=0.0) + h * np.linalg.norm(model.arrays.gravity)
    reach = REACH_FACTOR * h * speed + REACH_FRACTION * bound
    # The way of fixed bodies is known exactly, however they begin it, and they are often huge.
    fixed, mean = slice(model.fixed_count), _speed(model, at, drive_velocity(model, state, at.drift, secant=True))
    reach[fixed] = h * np.maximum(speed, mean)[fixed]
    return detect(model, state, reach, facets=facets)


def _speed(model: Model, at: Midpoint, v: Array) -> Array:
    """Return the speed of the fastest surface point of every body, (n_b,)."""
    rate = np.zeros(model.body_count)
    turn_rates(at.ways, model.arrays.inertia, at.state.q, v, at.drift, rate)
    speed: Array = np.linalg.norm(v[:, :3], axis=1) + model.arrays.bound * rate
    return speed


def free_velocity(model: Model, at: Midpoint, free: FreeMotion) -> Array:
    """Return the velocities at the end of the step without contacts and laws of joints, (n_b, 6)."""
    if not model.joints.any:
        return free.v_free
    return joint_space(
        model, at.state, free.v_free, free.M_inv, at.coordinate, at.drift, secant=True, span=at.h
    ).velocity


def joined_free_motion(model: Model, at: Midpoint, gyroscopic: str) -> FreeMotion:
    """Return the free motion of a step; the implicit gyroscopic term knows of joints where theta < 1."""
    free = free_motion(model, at)
    if at.theta == 1.0 or gyroscopic != "implicit" or not model.joints.any:
        return free
    return free_motion(model, at, ahead=free_velocity(model, at, free))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The impulses of a step, and the problems that they solve."""

    problem: FrictionProblem
    solution: Solution
    impulse: Array
    """Of contacts and joint laws, all phases together, (n, dim) [N s]."""
    friction: float | None = None
    """Dissipated in the contacts by sliding, phase by phase [J]; None: by the impulse at the final velocity."""
    phases: tuple[tuple[FrictionProblem, Solution], ...] = ()
    """Problems solved before the last one."""

    @property
    def posed(self) -> Posed:
        """What was posed, with its answers."""
        last = PosedFriction(self.problem, self.solution.z)
        before = (PosedFriction(problem, answer.z) for problem, answer in self.phases)
        return Phases((*before, last)) if self.phases else last


@dataclass(frozen=True, slots=True)
class ContactSpace:
    """The :class:`~signorini.dynamics.ContactMap` of bodies in maximal coordinates, joints eliminated.

    Blocks of contacts come first, then those of joint limits, friction and motors.
    """

    contacts: Contacts
    free: FreeMotion
    """The step without contacts and joints."""
    W: Any
    """Delassus operator, or a matrix where joints are eliminated in it."""
    b: Array
    """Relative velocity without contact impulses, (n, dim) [m/s]; joint laws with their gaps."""
    drive: Array
    """The part of `b` that prescribed motions contribute to contacts, (n_c, dim) [m/s]."""
    before: Array
    """Relative velocity of the contacts at the start of the step, (n_c, dim) [m/s]."""
    mu: Array
    """(n,)"""
    push: Delassus
    """Of the contacts alone: what their impulses do to bodies without joints."""
    joints: JointSpace | None
    rotation: float
    """Angle of the first friction direction [rad]."""
    common_point: bool
    """Both bodies feel an impulse at one point."""

    def velocity(self, p: Array) -> Array:
        """Return ``u = W p + b`` of the contacts, (n_c, dim)."""
        u: Array = (self.W @ p.reshape(-1)).reshape(self.b.shape) + self.b
        return u[: self.contacts.contact_count]

    def shifted(self, shift: Array) -> Array:
        """Return b with `shift` (n_c,) added to the normal velocities of the contacts, (n, dim)."""
        b = self.b.copy()
        b[: shift.size, 0] += shift
        return b

    def split(self, p: Array) -> tuple[Array, Array]:
        """Return the impulses of contacts (n_c, dim), and of joint laws, one number each."""
        if self.joints is None:
            return p, np.zeros(0)
        n_c = self.contacts.contact_count
        return p[:n_c], law_impulses(self.joints.laws, p[n_c:], self.rotation)

    def body_velocity(self, p: Array) -> Array:
        """Return the new velocities of the bodies, (n_b, 6)."""
        return self.motion(p)[0]

    def motion(self, p: Array) -> tuple[Array, Array]:
        """Return the new velocities of the bodies, (n_b, 6), and the impulses of the bilateral rows of joints."""
        p_c, p_l = self.split(p)
        v: Array = self.free.v_free + self.push.velocity(p_c.reshape(-1))
        if self.joints is None:
            return v, np.zeros(0)
        force = self.joints.laws.rows.force(p_l, v.shape[0])
        return self.joints.system.solve(v + np.einsum("bij,bj->bi", self.free.M_inv, force))


def contact_space(
    model: Model,
    at: Midpoint,
    free: FreeMotion,
    contacts: Contacts,
    *,
    secant: bool,
    common_point: bool,
    rotation: float = 0.0,
    couples: tuple[int, ...] = (),
    idle: BoolArray | None = None,
) -> ContactSpace:
    """Map contact impulses to relative velocities.

    With ``common_point`` both bodies feel the impulse at the same point (halfway across the gap, or on the moving body
    if the other is fixed), so that angular momentum is conserved exactly; otherwise each on its own surface, as in the
    papers. Joints are eliminated in the map. `couples` are the axes of the contact frame about which couples act,
    the first of them about the normal, where it is not `idle`.
    """
    state = at.state
    point_a, point_b = contacts.point_a, contacts.point_b
    if common_point:
        share = np.where(contacts.body_a < model.fixed_count, 1.0, 0.5)[:, None]
        across = contacts.gap[:, None] * contacts.normal
        point_a, point_b = point_a + share * across, point_b - (1.0 - share) * across
    dim = 2 if model.planar else 3
    J_a, J_b = contact_wrenches(contacts, state.q, dim=dim, point_a=point_a, point_b=point_b, couples=couples)
    for k, some in enumerate(() if idle is None else idle.T):
        J_a[some, dim + k] = J_b[some, dim + k] = 0.0
    drive = relative_velocity(J_a, J_b, contacts, drive_velocity(model, state, at.drift, secant=secant))
    moving = state.v.copy()
    moving[: model.fixed_count] = 0.0
    v_free = free.v_free.copy()
    v_free[: model.fixed_count] = 0.0
    push = Delassus(contacts.body_a, contacts.body_b, J_a, J_b, free.M_inv)
    b = relative_velocity(J_a, J_b, contacts, v_free) + drive
    speed = _sizes(v_free + drive_velocity(model, state, at.drift, secant=secant), contacts, J_a[:, :dim], J_b[:, :dim])
    b[:, :dim][np.abs(b[:, :dim]) <= SPEED_ROUNDING * speed] = 0.0
    space = ContactSpace(
        contacts=contacts,
        free=free,
        W=push,
        b=b,
        drive=drive,
        before=relative_velocity(J_a, J_b, contacts, moving) + drive,
        mu=model.materials.friction[contacts.material],
        push=push,
        joints=None,
        rotation=rotation,
        common_point=common_point,
    )
    if not model.joints.any:
        return space
    joints = joint_space(model, state, free.v_free, free.M_inv, at.coordinate, at.drift, secant=secant, span=at.h)
    if at.theta < 1.0:  # what a body has drifted beyond a limit stays: made good it would throw the body back
        psi = joints.laws.rows.psi
        psi[(joints.laws.kind == LawKind.LIMIT) & (psi < 0.0)] = 0.0
    W, b, mu = joined_map(joints, contact_rows(contacts, J_a, J_b), J_a.shape[1], rotation, at.drift)
    b[: contacts.contact_count] += drive
    extent = np.abs(contacts.point_b).max(axis=1, initial=0.0) + model.arrays.bound[contacts.body_b]
    lost = GRAIN * extent[:, None] / at.drift
    for u in (b[: contacts.contact_count, :dim], space.before[:, :dim]):
        u[np.abs(u) <= lost] = 0.0
    return replace(space, W=W, b=b, mu=np.concatenate([space.mu, mu]), joints=joints)


def _sizes(v: Array, contacts: Contacts, J_a: Array, J_b: Array) -> Array:
    """Return the size of the numbers that the relative velocities of contacts are differences of, (n_c, 1) [m/s]."""
    size: Array = np.zeros((contacts.contact_count, 1))
    for J, body in ((J_a, contacts.body_a), (J_b, contacts.body_b)):
        size[:, 0] += np.linalg.norm(v[body, :3], axis=1) + np.linalg.norm(np.einsum("cij,cj->ci", J, v[body]), axis=1)
    return size


def pose_and_solve(
    space: ContactSpace,
    b: Array,
    pose: Callable[[Array], FrictionProblem],
    answer: Callable[[FrictionProblem, Array], Solution],
    start: Array,
    tolerance: float,
) -> Outcome:
    """Pose the friction problem of a step with the velocities `b` (n, dim), and have it answered from `start` (n dim,).

    Limits of joint friction that follow a reaction are taken from the reaction of the solution until both agree; the
    problem returned is posed with the limits that its own solution asks for.
    """
    b = b.copy()
    problem = pose(b.reshape(-1))
    if space.joints is not None and blocked(problem, tolerance).size:  # solvers would try for long
        z = np.zeros(b.size)
        none = Solution(z=z, status=Status.NO_SOLUTION, residual=problem.residual(z), iterations=0)
        return Outcome(problem, none, z.reshape(b.shape))
    solution = answer(problem, start)
    if space.joints is None or not space.joints.laws.by_load.any():
        return Outcome(problem, solution, solution.z.reshape(b.shape))
    by_load = space.joints.laws.by_load
    row = space.contacts.contact_count + np.flatnonzero(by_load)
    a = np.asarray(space.W.diagonal())[b.shape[1] * row]
    for _ in range(_MOST_REPETITIONS):
        _, impulse = space.motion(solution.z.reshape(b.shape))
        limit = -a * space.joints.load_bound(impulse)[by_load]
        change = np.abs(limit - b[row, 0]).max() / max(np.abs(limit).max(), np.abs(b[row, 0]).max(), 1e-300)
        b[row, 0] = limit
        problem = pose(b.reshape(-1))
        if change <= _AGREED or (change <= tolerance and problem.residual(solution.z) <= 0.1 * tolerance):
            break
        solution = answer(problem, solution.z)
    return Outcome(problem, solution, solution.z.reshape(b.shape))


class Motion(NamedTuple):
    """What the impulses of a step came to."""

    v: Array
    """New velocities of the bodies, (n_b, 6)."""
    reaction: Array
    """Impulses of the bilateral rows of joints, (n_r,)."""
    moved: State
    """Where these velocities lead."""
    end: Settled
    """Where the step ends."""
    u: Array
    """Relative velocities of the contacts, (n_c, dim)."""
    turned: float = 0.0
    """Energy gained by bodies that kept their momentum, but turned evenly and not as they would fly [J]."""


def finish(
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
    """Carry the impulses of a step to velocities and configuration, with rotations linear in the step as in S1.

    `lift` is the speed at which the law asks overlapping bodies to part, (n_c,) [m/s].
    """
    v, reaction = space.motion(outcome.impulse)
    flown = np.zeros((model.body_count, FLIGHT_COLUMNS))
    fly_bodies(at.ways, model.arrays.inertia, at.state.q, v, at.drift, flown)
    moved = advance(model, at.state, v, at.drift, exact_rotation=False, flown=flown)
    end = settled(model, at.state, moved, space.joints, at.drift, projection=projection)
    motion = Motion(v, reaction, moved, end, space.velocity(outcome.impulse))
    return reported(model, at, free, space, outcome, lift, tolerance, motion, drives=False)


def reported(
    model: Model,
    at: Midpoint,
    free: FreeMotion,
    space: ContactSpace,
    outcome: Outcome,
    lift: Array,
    tolerance: float,
    motion: Motion,
    *,
    drives: bool,
) -> StepResult:
    """Account for a step; `drives` tells whether it is to keep prescribed motions of joints to its end."""
    p, p_laws = space.split(outcome.impulse)
    v, reaction, moved, end, u, turned = motion
    after, coordinate = end.state, end.coordinate
    dim = 2 if model.planar else 3
    hit = pressed(model, space.contacts, p, space.joints, p_laws)
    balance = energy_balance(model, at, free, hit, space.drive, u, p, v, lift, outcome.friction, turned)
    joints = None
    if space.joints is not None:
        balance = with_joints(balance, model, at, moved, end, space.joints, p_laws, reaction, v)
        joints = joint_report(
            space.joints,
            at,
            end,
            v,
            reaction,
            p_laws,
            free.p_ext - at.h * model.arrays.weight,
            float(np.sum(p[:, 1:] * (u - space.before)[:, 1:])),
            drives=drives,
        )
        against = blocked(outcome.problem, tolerance)
        if against.size:
            row = blocked_row(model, space.joints.laws, space.contacts, int(against[0]))
            joints = replace(joints, conflict_row=row, fault=BLOCKED)
    feature = np.concatenate([space.contacts.feature, _law_features(space)])
    impulse, velocity = padded(p[:, :dim], 3), padded(u[:, :dim], 3)
    return StepResult(
        state=after,
        memory=Memory.of(feature, padded(outcome.impulse, 6), coordinate),
        contacts=space.contacts,
        impulse=impulse,
        velocity=velocity,
        mode=check_contacts(outcome.problem, outcome.solution.z, impulse, velocity, tolerance)[0],
        pose=lambda: outcome.posed,
        solution=explained(model, space, outcome.problem, outcome.solution),
        balance=balance,
        joints=joints,
        couple=_couples(model, space.contacts, p, dim) if has_couples(model) else None,
        lost_momentum=_lost_momentum(model, at, space, impulse),
        turned_energy=abs(turned),
    )


def _lost_momentum(model: Model, at: Midpoint, space: ContactSpace, impulse: Array) -> float:
    """Return the angular momentum that two moving bodies lose by their contacts, of what is at play."""
    contacts, arrays = space.contacts, model.arrays
    value = np.column_stack([contacts.point_a, contacts.point_b, contacts.normal, contacts.gap])
    bodies = np.column_stack([contacts.body_a, contacts.body_b])
    return float(
        lost_momentum(
            value,
            bodies,
            np.ascontiguousarray(impulse),
            space.common_point,
            model.fixed_count,
            at.state.q,
            at.state.v,
            arrays.mass,
            arrays.inertia,
            arrays.bound,
        )
    )


def _couples(model: Model, contacts: Contacts, p: Array, dim: int) -> Array:
    """Return the couples among the components `p` (n_c, rows) of impulses, about (n, t, o), (n_c, 3)."""
    couple = np.zeros((contacts.contact_count, 3))
    for k, axis in enumerate(friction_law(model, contacts).couples):
        couple[:, axis] += p[:, dim + k]
    return couple


def explained(model: Model, space: ContactSpace, problem: FrictionProblem, solution: Solution) -> Solution:
    """Name what cannot hold, if that is why the problem was not solved, as ``info["finding"]``."""
    if solution.success:
        return solution
    weights = contradiction(problem)
    if weights is None:
        return solution
    names = dict.fromkeys(_law_name(model, space, int(row)) for row in np.flatnonzero(weights))
    verb = "cannot hold" if len(names) == 1 else "cannot all hold"
    info = {**solution.info, "finding": f"{', '.join(names)} {verb}"}
    return replace(solution, status=Status.NO_SOLUTION, info=info)


def _law_name(model: Model, space: ContactSpace, row: int) -> str:
    """Return what a user calls the contact, limit or constraint of a row of the problem."""
    n_c, joints = space.contacts.contact_count, model.joints
    if row < n_c or space.joints is None:
        pair = (int(space.contacts.body_a[row]), int(space.contacts.body_b[row]))
        return "contact of " + " and ".join(repr(model.names[b]) for b in pair)
    laws = space.joints.laws
    joint = int(laws.joint[row - n_c])
    if joint >= 0:
        return f"limit of joint {joints.names[joint]!r}"
    component = -1 - int(laws.feature[row - n_c]) - 4 * joints.count
    ends = np.cumsum([one.size for one in joints.inequalities])
    return joints.inequalities[int(np.searchsorted(ends, component, side="right"))].name


def _law_features(space: ContactSpace) -> Any:
    return np.zeros(0, dtype=np.int64) if space.joints is None else space.joints.laws.feature


def warm_start(memory: Memory, space: ContactSpace) -> Array:
    """Return the impulses of the last step as a guess for this one, block by block."""
    feature = np.concatenate([space.contacts.feature, _law_features(space)])
    return memory.recall(feature)[:, : space.b.shape[1]].reshape(-1)


def check_gyroscopic(value: str, who: str) -> None:
    """Raise `InputError` unless `value` is one of the ways to treat the gyroscopic term."""
    checked_choice(value, f"{who}: gyroscopic", "conserving", "implicit", "explicit")


def refuse(model: Model, who: str) -> None:
    """Raise `InputError` for contact data beyond Coulomb friction without rebound, which is all that `who` models."""
    for word in ("torsional", "rolling", "restitution", "ellipsoid"):
        values = getattr(model.materials, word)
        if np.any(values > 0.0):
            raise InputError(f"contact: {word} is {values.max():g}, must be 0 for {who}")
