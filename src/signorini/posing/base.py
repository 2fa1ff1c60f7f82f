"""What all time steppers share: the protocol, the memory of a run and the outcome of a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics import Stores
from signorini.model import Contacts, Model, State
from signorini.posing.posed import Posed
from signorini.solvers import Solution

IMPULSES = "impulses"  # the kind of memory of files of format 1, which do not say it


class AnyMemory(Stores, Protocol):
    """All that a stepper remembers besides the state, of a type of its own; never changed in place.

    Snapshots hold it as it is, files as arrays under the name of its kind. A file names a kind and never makes one: it
    is read by the formulation that the run goes on with.
    """

    @property
    def kind(self) -> str:
        """The name of this type of memory in files."""

    def to_arrays(self) -> dict[str, Any]:
        """Return arrays, numbers and strings by name, that tell all of it."""
        ...

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Self:
        """Return the memory that :meth:`to_arrays` told of, to the last bit."""
        ...


class Memory(NamedTuple):
    """The last impulses by feature, and how joints stand: what velocity-impulse steppers remember."""

    feature: IntArray
    """Names of contacts and, negative, of joint laws; sorted, (m,)."""
    impulse: Array
    """In the contact frames (n, t, o), then couples about them, (m, 6) [N s, N m s]."""
    coordinate: Array
    """Joint coordinates, angles counted over full turns, (n_j,) [m, rad]."""
    softness: Array = np.zeros((0, 15))
    """How compliant the islands of the contacts were posed, see :mod:`~signorini.engine.solve`, (m, 8) or empty."""
    stored: float = 0.0
    """Energy in the compliances or springs of the contacts [J]."""
    rest: Array = np.zeros((0, 7))
    """For how many steps each body has been still, and its load in the last of them, (n_b, 7) or empty."""
    hits: Array = np.zeros((0, 9))
    """Hits that the last step left unfinished: both arms and the normal, see :mod:`~signorini.engine.hits`, (k, 9)."""
    hit_index: IntArray = np.zeros((0, 4), dtype=np.int64)
    """Bodies, name and material of these, (k, 4)."""

    @property
    def kind(self) -> str:
        """The name of this type of memory in files."""
        return IMPULSES

    def to_arrays(self) -> dict[str, Any]:
        """Return all fields by name."""
        return self._asdict()

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Memory:
        """Return the memory of these fields; files of earlier versions lack some."""
        return cls(**arrays)

    @staticmethod
    def none(joint_count: int = 0) -> Memory:
        """Return the memory of a run that has not begun."""
        return Memory(np.zeros(0, dtype=np.int64), np.zeros((0, 6)), np.zeros(joint_count))

    @staticmethod
    def of(feature: IntArray, impulse: Array, coordinate: Array) -> Memory:
        """Remember the impulses of these features."""
        order = np.argsort(feature, kind="stable")
        return Memory(feature[order], impulse[order], coordinate)

    def recall(self, feature: IntArray) -> Array:
        """Return the remembered impulse of every feature, zero for new ones, (n, 6)."""
        impulse = np.zeros((feature.size, 6))
        if self.feature.size:
            row = np.minimum(np.searchsorted(self.feature, feature), self.feature.size - 1)
            known = self.feature[row] == feature
            impulse[known] = self.impulse[row[known]]
        return impulse


class Balance(NamedTuple):
    """Where the energy of one step went [J]; S1 spec 5.3, extended by drives, restitution and the gyroscopic term.

    Identity: ``change of (kinetic + potential + elastic) = load_work + drive_work + correction_work + joint_work -
    friction - impact - damping - integration``, to rounding, whatever the solver returned.
    """

    load_work: float
    """Work of the user's forces over the displacement of the step."""
    drive_work: float
    """Work of the prescribed motions through contacts and joints, and of motors."""
    correction_work: float
    """``sum p_n`` times the speed at which overlaps are to part: the only way in which energy may enter a passive
    scene, collisions with restitution and friction apart."""
    joint_work: float
    """Work of pulling drifted joints together, of either sign; of the second order in h."""
    friction: float
    """Dissipated by sliding, in contacts and joints."""
    impact: float
    """Dissipated by collisions: velocity jumps of bodies in contact and gaps that close."""
    damping: float
    """Dissipated by dampers."""
    integration: float
    """Dissipated by the scheme itself: implicit springs, gyroscopic term, the flight of bodies without contact, and
    for theta < 1 the loads' work at the new velocities less that over the displacement."""
    elastic: float
    """Stored in springs."""


@dataclass(frozen=True, slots=True)
class FreeMotion:
    """A step before its contacts and joints."""

    M_inv: Array
    """(n_b, 6, 6)"""
    v_spun: Array
    """Velocity after the gyroscopic term, without what the loads give, (n_b, 6)."""
    v_free: Array
    """Velocity after gyroscopic term and loads, in the axes where the step acts, (n_b, 6)."""
    p_ext: Array
    """Impulse of all loads, (n_b, 6)."""


@dataclass(frozen=True, slots=True)
class JointReport:
    """What the joints did in one step."""

    coordinate: Array
    """At the end of the step, (n_j,) [m, rad]."""
    speed: Array
    """At the end of the step, (n_j,) [m/s, rad/s]."""
    effort: Array
    """Impulse along the coordinate: friction, motor, drive, limit and spring together, (n_j,) [N s, N m s]."""
    reaction: Array
    """Impulse and moment of impulse on body b at its anchor, world axes, all rows together, (n_j, 6) [N s, N m s]."""
    drift: float
    """Largest residual of a rigid row or a limit at the end of the step [m, rad]."""
    redundant: int
    """Number of rows that depend on others."""
    unmet: float
    """Largest violation of a velocity row: not zero where joints contradict each other [m/s, rad/s]."""
    apart: float = 0.0
    """The same beside the size of its joint, where that is largest."""
    drift_row: int = -1
    """The row that is farthest from holding beside the size of its joint, -1 if all hold; numbers as in
    :func:`~signorini.dynamics.joint_faults.row_words`."""
    conflict_row: int = -1
    """The row that contradicts others the most, -1 if none does."""
    moved_onto: bool = False
    """Whether bodies were moved onto their joints at the end of the step."""
    swing: float = 0.0
    """Impulses of loads, springs, drives, motors and all friction times the changes of their speeds in the step, times
    theta - 1/2 [J]."""
    ending: Array | None = None
    """The part of the reaction that acts where the step ends and makes velocities obey the joints, (n_j, 6)."""
    fault: int = 0
    """Whether the joints hold, see :mod:`~signorini.dynamics.joint_faults`."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """Outcome of one step."""

    state: State
    memory: Any
    """Of the formulation's own type, see :class:`AnyMemory`."""
    contacts: Contacts
    """Where the step acts: at its start, or ahead of it if theta < 1."""
    impulse: Array
    """On the second body of each contact, in its frame (n, t, o), (n_c, 3) [N s]."""
    velocity: Array
    """Relative velocity (normal speed, slip) at the end of the step in the same frame, (n_c, 3) [m/s]."""
    pose: Callable[[], Posed]
    """Returns what was posed, with its answer; contacts that sleep are not in it."""
    mode: IntArray
    """What each contact did, (n_c,): see :mod:`~signorini.posing.contact_checks`."""
    solution: Solution
    balance: Balance
    joints: JointReport | None = None
    posed_again: int = 0
    """How often the step was posed again because bodies went through others, or ended too close to them."""
    couple: Array | None = None
    """Couples on the second body of each contact about its frame (n, t, o), (n_c, 3) [N m s]; None in scenes without
    torsional, rolling and ellipsoidal friction."""
    lost_momentum: float = 0.0
    """Angular momentum that two moving bodies lose by their contacts, of what is at play."""
    turned_energy: float = 0.0
    """Energy that bodies gained or lost since they turned evenly, and not as they fly [J]."""
    gaps: Callable[[Contacts], Array] | None = None
    """Returns what counts as gaps of contacts detected where the step ends, (n_c,) [m]; None: their own."""
    layers: dict[str, Any] | None = None
    """Compliant layers at the end of the step, by name as a LayerLog has them; None in scenes without."""
    layered: dict[str, Array] | None = None
    """Of each contact the `deflection` of its layers in its frame (n_c, 3) [m] and the `core_impulse` (n_c,) [N s]."""
    unfollowed: int = 0
    """Number of pairs of bodies that go through each other on the ways of the step."""

    @property
    def posed(self) -> Posed:
        """What was posed, with its answer; compiled steps pose it again for whoever asks."""
        return self.pose()

    @property
    def problem(self) -> Any:
        """The problem that was solved, the last one of several."""
        return self.posed.problem


class Formulation(Protocol):
    """A way to turn mechanics into a problem, and a solution back into mechanics."""

    def init(self, model: Model, state: State) -> tuple[State, Any]:
        """Check that the model is one this formulation can take; return where a run begins.

        That is `state` with the further coordinates of this formulation, if it has some, and its memory, of a type of
        its own: see :class:`AnyMemory`.
        """
        ...

    def detect(self, model: Model, state: State, h: float) -> Contacts:
        """Return the candidate contacts of a step of `h` seconds from `state`."""
        ...

    def step(
        self, model: Model, state: State, contacts: Contacts, memory: Any, h: float, *, tolerance: float
    ) -> StepResult:
        """Advance by `h` seconds; never raises on numerical failure, read ``solution.status``."""
        ...
