"""What of a run is recorded: every k-th state, chosen bodies, no contacts.

Certificate and balance of energy are kept of every step, whatever is left out: they are what a run is judged by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from signorini._arrays import BoolArray, IntArray, checked_flag
from signorini.errors import InputError, suggestion
from signorini.model import Model

_WORDS: Final = ("every", "bodies", "contacts")
_BY_STATE: Final = ("time", "q", "v", "modal", "modal_rate", "kinetic", "potential")


class Recording(NamedTuple):
    """What is recorded."""

    every: int = 1
    """States whose number of steps is a multiple of this, and of contacts and joints the steps that end there."""
    bodies: tuple[str, ...] | None = None
    """Besides the fixed ones; None: all."""
    contacts: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether every state of every body is recorded."""
        return self.every == 1 and self.bodies is None

    def rows(self, names: Sequence[str], fixed_count: int) -> IntArray:
        """Return which of the bodies are recorded, in their order."""
        chosen = names if self.bodies is None else self.bodies
        return np.array([b for b, name in enumerate(names) if b < fixed_count or name in chosen], dtype=np.int64)

    def settings(self) -> dict[str, Any]:
        """Return what a file tells."""
        part = {} if self.is_whole else {"every": self.every, "bodies": None if self.bodies is None else [*self.bodies]}
        return {"record": "all" if self.contacts else "motion", **part}

    @staticmethod
    def of(settings: Mapping[str, Any]) -> Recording:
        """Return what a file tells."""
        bodies = settings.get("bodies")
        contacts = settings.get("record") != "motion"
        return Recording(int(settings.get("every", 1)), None if bodies is None else tuple(bodies), contacts)


def checked_recording(record: object, model: Model) -> Recording:
    """Return what the user asks for: None or ``"all"``, ``"motion"``, or a mapping of `_WORDS`."""
    if record in (None, "all", "motion"):
        return Recording(contacts=record != "motion")
    if not isinstance(record, Mapping):
        raise InputError(f"record is {record!r}, must be 'all', 'motion' or words of {', '.join(_WORDS)}")
    for word in record:
        if word not in _WORDS:
            raise InputError(f"record: {word!r} is unknown{suggestion(word, _WORDS)}")
    every, bodies = record.get("every", 1), record.get("bodies")
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise InputError(f"record: every is {every!r}, must be a whole number >= 1")
    if bodies is not None:
        if isinstance(bodies, str) or not isinstance(bodies, Sequence):
            raise InputError(f"record: bodies is {bodies!r}, must be a list of names")
        for name in bodies:
            model.index(name)
    contacts = checked_flag(record.get("contacts", True), "record: contacts")
    return Recording(int(every), None if bodies is None else tuple(bodies), contacts)


def thinned(
    columns: dict[str, Any], recording: Recording, bodies: IntArray, fixed_count: int, first: int
) -> dict[str, Any]:
    """Return the columns of some steps without what is not recorded.

    Their first state is that after `first` steps, and contacts and layers are counted from the first row.
    """
    states = first + np.arange(columns["time"].size)
    kept = states % recording.every == 0
    steps = kept[kept.size - columns["joints"]["effort"].shape[0] :]  # the start of a run is a state without a step
    thin = {**columns, **{name: columns[name][kept] for name in _BY_STATE}}
    thin |= {"q": thin["q"][:, bodies], "v": thin["v"][:, bodies]}
    joints = columns["joints"]
    thin["joints"] = {name: x[kept] if name in ("coordinate", "speed") else x[steps] for name, x in joints.items()}
    contacts = columns["contacts"]
    if len(contacts["start"]) == steps.size:
        moving = bodies[fixed_count:]
        mine = np.isin(contacts["body_a"], moving) | np.isin(contacts["body_b"], moving)
        thin["contacts"] = _chosen(contacts, steps, mine)
    if "layers" in columns:
        layers = columns["layers"]
        thin["layers"] = _chosen(layers, kept, np.ones(len(layers["couple"]), dtype=bool))
    return thin


def _chosen(table: Mapping[str, Any], kept: BoolArray, wanted: BoolArray) -> dict[str, Any]:
    """Return the wanted rows of the kept steps of a flat table, whose ``start`` leaves out its first entry, a zero."""
    counts = np.diff(table["start"], prepend=0)
    rows = np.repeat(kept, counts) & wanted
    owner = np.repeat(np.arange(counts.size), counts)[rows]
    left: IntArray = np.bincount(owner, minlength=counts.size)[kept]
    return {name: np.cumsum(left) if name == "start" else x[rows] for name, x in table.items() if x is not None} | {
        name: None for name, x in table.items() if x is None
    }
