r"""Is the rigid model valid here? The test of S4, section V, on a state of a scene or on a step of a simulation.

``check_state`` finds the touching contacts of a state and solves for their forces itself; ``check_step`` takes
contacts, impulses and velocities of a time step that was already computed, and is meant to be called at every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, IntArray, checked_number
from signorini._words import Word
from signorini.analysis.acceleration import free_acceleration, velocity_rate
from signorini.analysis.answer import Answer
from signorini.analysis.contact_stability import Stability
from signorini.analysis.judgement import Judgement, judge_load, judge_step
from signorini.analysis.mechanism import Mechanism
from signorini.analysis.p_matrix import SIZE_LIMIT
from signorini.analysis.sliding import SlidingMatrix
from signorini.analysis.touching import (
    ContactMode,
    Touching,
    body_sizes,
    closed_reach,
    joints_of,
    matrices,
    pressing,
    touching,
    with_prescribed,
)
from signorini.model import Contacts, Model, State, refuse_flexible, refuse_layers
from signorini.solvers import Status


class Outcome(Word):
    """The verdict in one word."""

    VALID = 0
    NO_OBJECTION = 1
    """Nothing speaks against the rigid model, but part of the question is outside the theory or too large."""
    CAUTION = 2
    """Valid under a condition: this load, enough damping, or a border that rounding cannot resolve."""
    NOT_VALID = 3


@dataclass(frozen=True, slots=True)
class Validity:
    """Whether the contact forces of a rigid model exist, are unique and are stable, and why."""

    time: float
    """[s]"""
    names: tuple[tuple[str, str], ...]
    """Bodies of each contact looked at."""
    point: Array
    """On the second body, (n_c, 3) [m]."""
    mode: IntArray
    """:class:`ContactMode` of each contact, (n_c,)."""
    friction: Array
    """(n_c,)"""
    judgements: tuple[Judgement, ...]
    """One per group of contacts that share bodies and of which at least one slides."""
    notes: tuple[str, ...]
    """What could not be decided, and why."""
    damping: float | None
    """The ``c^2/k`` given [kg]."""

    @property
    def unique(self) -> Answer:
        """Whether every load has one solution: the worst answer of all groups; undecided if no contact slides."""
        return self._worst([judgement.unique for judgement in self.judgements])

    @property
    def stable(self) -> Answer:
        """Whether the forces of the pressing contacts are stable; undecided if no contact slides."""
        return self._worst([judgement.stable for judgement in self.judgements])

    @property
    def critical_damping(self) -> float:
        """Smallest ``c^2/k`` at which all forces are stable [kg]; 0: any, inf: none."""
        return max((judgement.critical_damping for judgement in self.judgements), default=0.0)

    @property
    def outcome(self) -> Outcome:
        """The verdict in one word."""
        if any(_refutes(judgement) for judgement in self.judgements):
            return Outcome.NOT_VALID
        doubtful = (Answer.NO, Answer.BORDERLINE)
        if any(
            judgement.unique in doubtful
            or judgement.stable is Answer.BORDERLINE
            or any(layer.stability is Stability.DAMPING_NEEDED for _, layer in judgement.layers)
            for judgement in self.judgements
        ):
            return Outcome.CAUTION
        open_questions = self.notes or Answer.UNDECIDED in (self.unique, self.stable)
        return Outcome.NO_OBJECTION if open_questions and self.mode.size else Outcome.VALID

    def _worst(self, answers: list[Answer]) -> Answer:
        for worst in (Answer.NO, Answer.BORDERLINE, Answer.UNDECIDED):
            if worst in answers:
                return worst
        # Without any contact everything is unique and stable; contacts that do not slide are outside the theory.
        return Answer.YES if answers or not self.mode.size else Answer.UNDECIDED

    def __str__(self) -> str:
        from signorini.analysis.verdict import verdict

        return verdict(self)


def _refutes(judgement: Judgement) -> bool:
    """Tell whether the rigid model has no solution here, several, or an unstable one."""
    none_or_several = judgement.solution_status in (Status.NO_SOLUTION, Status.SEVERAL_SOLUTIONS)
    return none_or_several or judgement.stable is Answer.NO


def check_state(
    model: Model,
    state: State | None = None,
    *,
    damping: float | None = None,
    touch: float | None = None,
    limit: int = SIZE_LIMIT,
) -> Validity:
    """Test existence, uniqueness and stability of the contact forces at a state.

    Parameters
    ----------
    model : Model
    state : State, optional
        Default the initial state.
    damping : float, optional
        ``c^2/k`` of the contacts [kg], the same for all. Without it forces that need damping to be stable are reported
        with the smallest damping that they need.
    touch : float, optional
        Gap up to which a contact counts as closed [m]; default 1e-4 of the size of the bodies.
    limit : int
        Coupled sliding contacts up to which uniqueness is decided exactly.
    """
    refuse_layers(model, "tests of the rigid model")
    refuse_flexible(model, "tests of the rigid model")
    state = with_prescribed(model, model.initial_state if state is None else state)
    damping = _checked_damping(damping)
    reach = closed_reach(model, touch)
    found = touching(model, state, reach)
    size = float(body_sizes(model).max(initial=0.0))
    rate, known = velocity_rate(model, state, found.contacts, dim=found.dim, size=size, reach=reach)
    acceleration = free_acceleration(model, state)
    joints = joints_of(model, state, biased=True)

    too_large: list[int] = []
    judgements, notes = [], []
    for matrix in matrices(model, found, joints, too_large):
        if not known[np.concatenate([matrix.contacts, matrix.held_contacts])].all():
            notes.append("the curvature of a contact is not known here, so the actual load was not looked at")
            judgements.append(judge_step(matrix, damping=damping, limit=limit))
            continue
        free = acceleration[matrix.bodies].reshape(-1)
        judgement = judge_load(matrix, _free_normal_acceleration(matrix, free, rate), damping=damping, limit=limit)
        judgements.append(judgement)
        notes += _stick_notes(matrix, judgement, free, rate, found.friction)
    return _validity(model, state.t, found, judgements, _notes(found, joints, too_large) + notes, damping)


def check_step(
    model: Model,
    state: State,
    contacts: Contacts,
    impulse: Array,
    velocity: Array,
    *,
    damping: float | None = None,
    limit: int = SIZE_LIMIT,
) -> Validity:
    """Test a computed time step: its contacts that press and slide, at the configuration where it was posed.

    Parameters
    ----------
    model : Model
    state : State
        At the start of the step.
    contacts : Contacts
        As the step saw them.
    impulse, velocity : (n_c, 3) array
        Of each contact in its frame (n, t, o): on the second body [N s], at the end of the step [m/s].
    damping, limit
        As for :func:`check_state`.
    """
    refuse_layers(model, "tests of the rigid model")
    refuse_flexible(model, "tests of the rigid model")
    damping = _checked_damping(damping)
    found = pressing(model, state, contacts, impulse, velocity)
    too_large: list[int] = []
    joints = joints_of(model, state)
    judgements = [
        judge_step(matrix, damping=damping, limit=limit) for matrix in matrices(model, found, joints, too_large)
    ]
    return _validity(model, state.t, found, judgements, _notes(found, joints, too_large), damping)


def _checked_damping(damping: float | None) -> float | None:
    return None if damping is None else checked_number(damping, "damping c^2/k", least=0.0)


def _free_normal_acceleration(matrix: SlidingMatrix, free: Array, rate: Array) -> Array:
    """Return y of a group: loads with the held rows kept, and the rates of the normals, (m,) [m/s^2].

    `free` (n_v,) are the accelerations of the group's bodies without any contact.
    """
    if matrix.inverse.held.size or matrix.joint_load.any():
        force = matrix.inverse.force(free) + matrix.joint_load
        free = matrix.inverse.apply(force, held_acceleration=_held_acceleration(matrix, rate))
    y: Array = matrix.normal @ free + rate[matrix.contacts, 0]
    return y


def _held_acceleration(matrix: SlidingMatrix, rate: Array) -> Array:
    """Return the accelerations that keep joints and sticking contacts as they are, (r,)."""
    return -np.concatenate([matrix.joint_bias, rate[matrix.held_contacts].reshape(-1)])


def _notes(found: Touching, joints: Mechanism, too_large: list[int]) -> list[str]:
    """Say what the theory, or the size of the scene, leaves open."""
    notes = [f"{size} coupled contacts are too many to test" for size in too_large]
    fast = joints.dry.row_count + joints.stops.row_count
    if fast:
        notes.append(f"{_count(fast, 'joint')} stuck by friction or at a stop, held fast in this test")
    notes += [f"joint {name!r} has friction that follows its load, which is left out" for name in joints.load_dependent]
    sliding, sticking = found.count(ContactMode.SLIDING), found.count(ContactMode.STICKING)
    closing = found.count(ContactMode.CLOSING)
    if sticking and sliding:
        notes.append(
            f"{sticking} of {sliding + sticking} contacts stick: the theory is about sliding contacts, so these were "
            "held fast as joints would be (an extension of the paper); whether they go on sticking is not decided here"
        )
    elif sticking:
        notes.append(
            f"{'the only contact sticks' if sticking == 1 else f'all {sticking} contacts stick'}: the theory is about "
            "sliding contacts; as long as contacts stick their forces are stable, because their matrix is symmetric"
        )
    if closing:
        notes.append(f"{_count(closing, 'contact')} about to collide: an impact comes first, which is not tested here")
    return notes


def _stick_notes(matrix: SlidingMatrix, judgement: Judgement, free: Array, rate: Array, friction: Array) -> list[str]:
    """Say so if a contact held fast could not stick under the forces found."""
    if not matrix.held_contacts.size or len(judgement.solutions) != 1 or matrix.inverse.dependent:
        return []  # where held rows depend on each other nothing can be said of a single one
    force = matrix.inverse.force(free) + matrix.joint_load + matrix.push.T @ judgement.solutions[0]
    reaction = matrix.inverse.reaction(force, _held_acceleration(matrix, rate))[matrix.joint_bias.size :]
    reaction = reaction.reshape(matrix.held_contacts.size, -1)
    mu = friction[matrix.held_contacts]
    breaks = (reaction[:, 0] < 0.0) | (np.linalg.norm(reaction[:, 1:], axis=1) > mu * reaction[:, 0])
    if not breaks.any():
        return []
    count = _count(int(breaks.sum()), "sticking contact")
    return [f"{count} would slip or open under these forces, so the answer holds only until then"]


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _validity(
    model: Model, time: float, found: Touching, judgements: list[Judgement], notes: list[str], damping: float | None
) -> Validity:
    contacts = found.contacts
    return Validity(
        time=time,
        names=tuple((model.names[a], model.names[b]) for a, b in zip(contacts.body_a, contacts.body_b, strict=True)),
        point=contacts.point_b,
        mode=found.mode,
        friction=found.friction,
        judgements=tuple(judgements),
        notes=tuple(notes),
        damping=damping,
    )
