"""A run under way: what takes steps, compiled or not, and what it leaves behind for the record."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from signorini._arrays import Array, IntArray
from signorini.model import Contacts, Model, State
from signorini.posing.base import StepResult

CHECKS = (
    *("residual", "min_gap", "cone_violation", "dissipation_angle"),
    *("joint_drift", "joint_conflict", "redundant_rows", "energy_error", "correction_work"),
    *("compliance", "deflection", "extent", "yielded", "indeterminate", "asleep", "status", "iterations"),
    *("overlap", "overlap_extent", "overlap_a", "overlap_b", "energy_scale", "energy_gain"),
    *("unfollowed", "posed_again", "drift_joint", "conflict_joint", "drift_row", "conflict_row", "joint_fault"),
    *("joint_apart", "joint_work", "energy_moving", "moved_onto", "lost_momentum", "turned_energy"),
    *("unsure", "unsure_body", "hit_turn", "hit_body"),
)
"""What is checked of a step, one number each: columns of the :class:`~signorini.simulation.Certificate`."""


class Steps(NamedTuple):
    """What a run of several steps leaves behind, one row for each step."""

    time: Array
    """At the ends of the steps, (n,) [s]."""
    q: Array
    """(n, n_b, 7)"""
    v: Array
    """(n, n_b, 6)"""
    modal: Array
    """(n, n_m)"""
    modal_rate: Array
    """(n, n_m)"""
    balance: Array
    """Fields of :class:`~signorini.formulations.Balance`, (n, any) [J]."""
    checks: Array
    """(n, len(CHECKS))"""
    seconds: float
    """That each step took."""
    joints: dict[str, Array]
    """Coordinate, speed and effort, (n, n_j), reaction and its ending, (n, n_j, 6), by name."""
    contacts: dict[str, Any] | None
    """Contacts of all steps, one after another, by name as a ContactLog has them; None if they were not kept."""
    counts: IntArray
    """Number of contacts of each step, (n,); empty if they were not kept."""
    memory: Any
    """What the stepper remembers after the last of them."""
    layers: tuple[dict[str, Any] | None, ...] = ()
    """Compliant layers after each step, by name as a LayerLog has them; empty if there are none."""


class Stepper(Protocol):
    """A scene that is advanced step by step, whose present state and memory it holds."""

    seconds: float
    """That the last steps took, each on average."""

    def prepare(self, threads: int) -> None:
        """Get ready to run: compile what is missing, let so many threads share the work where that is possible."""

    def restore(self, state: State, memory: Any) -> None:
        """Continue from `state`."""

    def load(self, model: Model) -> None:
        """Look ahead anew with the loads of `model`, for the coming step alone."""

    def run(self, steps: int) -> int:
        """Advance by so many steps, or by fewer: a step that fails is the last; return how many were done."""

    def timed_run(self, steps: int) -> int:
        """Do and return as :meth:`run`, and keep the time that each step took in `seconds`."""

    def log(self, rows: int, *, keep_contacts: bool) -> None:
        """Keep what the coming run leaves behind, of so many steps at most."""

    def read_log(self) -> Steps:
        """Return what the steps of a run left behind, before which :meth:`log` asked for it."""

    @property
    def state(self) -> State:
        """The present state, not to be written into."""

    @property
    def velocity(self) -> Array:
        """The present velocities, not a copy, (n_b, 6)."""

    @property
    def before(self) -> State:
        """The state before the last step."""

    @property
    def memory(self) -> Any:
        """What is remembered besides the state, see :class:`~signorini.formulations.AnyMemory`."""

    @property
    def checks(self) -> Array:
        """What was checked of the last step, (len(CHECKS),)."""

    @property
    def solved(self) -> bool:
        """Whether the last step met its tolerance."""

    def ahead(self) -> Contacts:
        """Return the contacts of the coming step."""

    def result(self, model: Model) -> StepResult:
        """Return the last step in full; `model` is that of the step, with its loads."""
