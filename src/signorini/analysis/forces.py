"""What the instantaneous model answers: accelerations, forces, and what every contact is about to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from signorini._arrays import Array, IntArray
from signorini._words import Word
from signorini.analysis.answer import Answer
from signorini.errors import InputError
from signorini.solvers import Status


class ForceMode(Word):
    """What a closed contact is about to do."""

    SEPARATING = 0
    """It opens, without force."""
    STICK = 1
    """It presses and does not slip."""
    SLIP = 2
    """It presses and slips, or begins to."""
    UNLOADED = 3
    """It stays closed without force."""


@dataclass(frozen=True, slots=True)
class Forces:
    """One solution of the instantaneous model; contact vectors in the contact frames (n, t, o), on the second body."""

    names: tuple[str, ...]
    """Of the bodies."""
    acceleration: Array
    """Linear, then angular, world axes, (n_b, 6) [m/s^2, rad/s^2]."""
    force: Array
    """(n_c, 3) [N]"""
    world_force: Array
    """The same in world axes, (n_c, 3) [N]."""
    contact_acceleration: Array
    """Of the second body's surface against the first's, (n_c, 3) [m/s^2]."""
    slip_rate: Array
    """The paper's lambda of contacts that did not slip: the size of their tangential acceleration, (n_c,) [m/s^2]; nan
    where it means nothing (no friction force possible, or slipping already)."""
    mode: tuple[ForceMode, ...]
    joint_force: Mapping[str, Array]
    """Forces and torques of every joint's rows [N, N m]."""
    joint_friction: Mapping[str, float]
    """Of joints with dry friction, or of motors with limited effort [N, N m]."""
    forces_unique: bool
    """False where contacts or joints can share the load in other ways with the same motion; these are one of them."""

    def linear_acceleration(self, name: str) -> Array:
        """Return the acceleration of a body's mass centre, (3,) [m/s^2]."""
        return self.acceleration[self._row(name), :3].copy()

    def angular_acceleration(self, name: str) -> Array:
        """Return the angular acceleration of a body in world axes, (3,) [rad/s^2]."""
        return self.acceleration[self._row(name), 3:].copy()

    def _row(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"no body is called {name!r}; there are {', '.join(map(repr, self.names))}")
        return self.names.index(name)


@dataclass(frozen=True, slots=True)
class Accelerations:
    """The instantaneous model of a scene at one state, solved or shown to be unsolvable."""

    status: Status
    """``solved``, ``no solution`` (proven), ``several solutions``, ``undecided``, ``stalled``, or ``not applicable``
    (a collision comes first)."""
    time: float
    """[s]"""
    bodies: tuple[tuple[str, str], ...]
    """Of each closed contact."""
    point: Array
    """On the second body, (n_c, 3) [m]."""
    normal: Array
    """From the first to the second body, (n_c, 3)."""
    before: IntArray
    """What each contact does at this instant, :class:`~signorini.analysis.ContactMode`, (n_c,)."""
    friction: Array
    """(n_c,)"""
    solutions: tuple[Forces, ...]
    """All solutions, where that could be decided; empty if there is none or none was found."""
    solution_count: int
    """Number of different motions; larger than ``len(solutions)`` if there are too many to list."""
    unique: Answer
    """Whether the motion listed is the only one; undecided for larger systems and for exact cones in space."""
    residual: float
    """Largest over the groups of bodies, recomputed from the law posed, free of scale."""
    notes: tuple[str, ...]

    @property
    def only(self) -> Forces:
        """The solution, if there is exactly one."""
        if len(self.solutions) != 1:
            raise InputError(
                f"accelerations: the status is '{self.status}' with {self.solution_count} solutions, must be one to be "
                "read without saying which; see `solutions`"
            )
        return self.solutions[0]

    def linear_acceleration(self, name: str) -> Array:
        """Return the acceleration of a body's mass centre in the only solution, (3,) [m/s^2]."""
        return self.only.linear_acceleration(name)

    def angular_acceleration(self, name: str) -> Array:
        """Return the angular acceleration of a body in the only solution, (3,) [rad/s^2]."""
        return self.only.angular_acceleration(name)

    def __str__(self) -> str:
        return self.report()

    def report(self) -> str:
        """Return the answer in words."""
        from signorini.analysis.accelerations_report import report

        return report(self)
