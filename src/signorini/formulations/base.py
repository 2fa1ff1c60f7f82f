"""What all time steppers share: the protocol, the memory of a run and the outcome of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.model import Contacts, Model, State
from signorini.problems import FrictionProblem
from signorini.solvers import Solution


class Memory(NamedTuple):
    """All that a stepper remembers besides the state: the impulses of the last step, by contact feature."""

    feature: IntArray
    """Sorted, (m,)."""
    impulse: Array
    """In the contact frames (n, t, o), (m, 3) [N s]."""

    @staticmethod
    def none() -> Memory:
        """Return the memory of a run that has not begun."""
        return Memory(np.zeros(0, dtype=np.int64), np.zeros((0, 3)))

    @staticmethod
    def of(contacts: Contacts, impulse: Array) -> Memory:
        """Remember the impulses of these contacts."""
        order = np.argsort(contacts.feature, kind="stable")
        return Memory(contacts.feature[order], impulse[order])

    def recall(self, contacts: Contacts) -> Array:
        """Return the remembered impulse of every contact, zero for new ones, (n_c, 3)."""
        impulse = np.zeros((contacts.contact_count, 3))
        if self.feature.size:
            row = np.minimum(np.searchsorted(self.feature, contacts.feature), self.feature.size - 1)
            known = self.feature[row] == contacts.feature
            impulse[known] = self.impulse[row[known]]
        return impulse


class Balance(NamedTuple):
    """Where the energy of one step went [J]; S1 spec 5.3, extended by drives, restitution and the gyroscopic term.

    Identity: ``change of (kinetic + potential) = load_work + drive_work + correction_work - friction - impact -
    integration``, to rounding, whatever the solver returned.
    """

    load_work: float
    """Work of the user's forces."""
    drive_work: float
    """Work of the prescribed motions through the contacts."""
    correction_work: float
    """``sum p_n max(0, -gap)/h``: the only way in which energy may enter a passive scene."""
    friction: float
    """Dissipated by sliding."""
    impact: float
    """Dissipated by collisions: velocity jumps of bodies in contact and gaps that close."""
    integration: float
    """Dissipated by the scheme itself: the implicit gyroscopic term and the free flight of bodies without contact."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """Outcome of one step."""

    state: State
    memory: Memory
    contacts: Contacts
    """At the start of the step."""
    impulse: Array
    """On the second body of each contact, in its frame (n, t, o), (n_c, 3) [N s]."""
    velocity: Array
    """Relative velocity (normal speed, slip) at the end of the step in the same frame, (n_c, 3) [m/s]."""
    problem: FrictionProblem
    solution: Solution
    balance: Balance


class Formulation(Protocol):
    """A way to turn mechanics into a problem, and a solution back into mechanics."""

    def init(self, model: Model, state: State) -> Memory:
        """Check that the model is one this formulation can take; return an empty memory."""
        ...

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        """Return the candidate contacts of a step of `h` seconds from `state`."""
        ...

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: Memory, h: float, *, tolerance: float
    ) -> StepResult:
        """Advance by `h` seconds; never raises on numerical failure, read ``solution.status``."""
        ...
