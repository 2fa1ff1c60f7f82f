"""Collects the steps of a run and turns them into a Trajectory.

Steps come in chunks, which are put together to blocks of whole columns now and then. A user may interrupt a run at any
line of this module: what is recorded changes by single assignments, so that it is whole then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics import joint_coordinates, joint_rows, motion_energies, stored_energy
from signorini.formulations import CHECKS, AnyMemory, Balance, Steps
from signorini.formulations.layered.memory import LayerMemory
from signorini.model import Model, State
from signorini.posing.friction_law import has_couples
from signorini.simulation.certificate import COLUMNS, Certificate, StepCertificate, checked_rows
from signorini.simulation.choose import memory_to_dict
from signorini.simulation.contact_table import ContactLog, ContactRows
from signorini.simulation.deformed import flexible_to_dict
from signorini.simulation.layer_log import layer_columns
from signorini.simulation.recording import Recording, thinned
from signorini.simulation.seen import looks_of
from signorini.simulation.trajectory import Trajectory

_MOST_CHUNKS = 1000  # many small arrays take more memory than one large ...
_MOST_LOOSE = 20_000  # ... and steps that are put together are held twice meanwhile

_MOST_LOOSE_NUMBERS = 8_000_000  # of states of which part is left out

_NUMBERS_OF_STEP, _NUMBERS_OF_BODY, _NUMBERS_OF_JOINT = 60, 13, 15  # that a record holds

_NOTHING = {"couple": np.zeros((0, 3)), "deflection": np.zeros((0, 3)), "core_impulse": np.zeros(0)}

Block = dict[tuple[str, ...], Any]
"""Columns of some steps by group and name."""


class _Chunk(NamedTuple):
    """Some steps as they come."""

    steps: Steps
    certificate: Array
    """See :meth:`Certificate.from_rows`."""


class _Held(NamedTuple):
    """All that is recorded."""

    blocks: list[Block]
    chunks: list[_Chunk]
    """That came after the blocks."""
    memory: Any
    """Of the stepper at the end of the blocks."""
    joined: Block
    """Columns of all blocks, which the blocks no longer hold."""
    end: tuple[State, Array]
    """Whole state and joint coordinates at the end of the blocks, which may leave them out."""
    end_count: int
    """Steps in the blocks."""


class Recorder:
    """The growing record of one run."""

    def __init__(
        self, model: Model, state: State, memory: AnyMemory, settings: dict[str, Any], recording: Recording
    ) -> None:
        self._told = _told_of(model)
        self._begin(model, stored_energy(model, memory), settings, recording)
        block = _first_block(model, state, memory, recording, self._bodies)
        self._hold(block, memory, 0, (state, block["joints", "coordinate"][-1]))

    @staticmethod
    def continuing(model: Model, trajectory: Trajectory, memory: AnyMemory) -> Recorder:
        """Return a recorder that already holds `trajectory`, at whose end the stepper remembered `memory`."""
        recorder = Recorder.__new__(Recorder)
        recorder._told = tuple(trajectory.contact_log.to_dict())  # less in files of earlier versions
        recorder._begin(model, trajectory.elastic, trajectory.settings, Recording.of(trajectory.settings))
        recorder._hold(_flat(trajectory.columns()), memory, trajectory.step_count, trajectory.end())
        return recorder

    def _begin(self, model: Model, elastic: float, settings: dict[str, Any], recording: Recording) -> None:
        self._model, self._elastic, self._settings, self._recording = model, elastic, settings, recording
        self._bodies = recording.rows(model.names, model.fixed_count)
        self._looks = looks_of(model)
        # What is left out is left out when steps are put together, so that they must not lie loose for long.
        few = max(1, _MOST_LOOSE_NUMBERS // (_NUMBERS_OF_BODY * model.body_count))
        self._most_loose = _MOST_LOOSE if recording.is_whole else min(few, _MOST_LOOSE)

    def _hold(self, block: Block, memory: AnyMemory, step_count: int, end: tuple[State, Array]) -> None:
        self._held = _Held([block], [], memory, {}, end, step_count)
        self._saved: int | None = None
        self._settled = step_count
        self.step_count = step_count
        """Steps recorded so far."""

    @property
    def keeps_contacts(self) -> bool:
        """Whether the contacts of all steps are kept."""
        return self._recording.contacts

    def number_count(self, steps: int) -> int:
        """Return how many numbers the record of so many steps will hold besides contacts."""
        of_state = _NUMBERS_OF_BODY * self._bodies.size + _NUMBERS_OF_JOINT * self._model.joints.count
        return steps * _NUMBERS_OF_STEP + steps // self._recording.every * of_state

    @property
    def last(self) -> StepCertificate:
        """The certificate of the step added last."""
        return StepCertificate.from_row(self._held.chunks[-1].certificate[-1])

    def latest(self) -> tuple[Iterator[StepCertificate], Array, Array, Array]:
        """Return certificates, times, poses and velocities of the steps added last."""
        steps, certificate = self._held.chunks[-1]
        return map(StepCertificate.from_row, certificate), steps.time, steps.q, steps.v

    def last_contacts(self) -> ContactRows | None:
        """Return the contacts of the step added last; None if they are not recorded."""
        steps = self._held.chunks[-1].steps
        if steps.contacts is None:
            return None
        return ContactLog.of([steps.contacts], [steps.counts]).rows(np.array([steps.counts.size - 1]))

    def before_last(self) -> tuple[State, Array]:
        """Return the state and the joint coordinates at which the step added last began."""
        chunks = self._held.chunks
        if sum(chunk.steps.time.size for chunk in chunks[-2:]) < 2:
            return self._held.end
        steps, k = (chunks[-1].steps, -2) if chunks[-1].steps.time.size > 1 else (chunks[-2].steps, -1)
        return _state_of(steps, k)

    def warn(self, messages: Iterable[str]) -> None:
        """Keep what was said to be suspicious, each once."""
        self._settings["warnings"] = list(dict.fromkeys([*self._settings.get("warnings", ()), *messages]))

    def add(self, steps: Steps, tested: dict[str, Any] | None = None) -> None:
        """Record some steps, with what a test of the rigid model found in them."""
        certificate = checked_rows(self._model, steps.checks, steps.seconds)
        for key, value in (tested or {}).items():
            certificate[:, COLUMNS.index(key)] = value
        self._keep(_Chunk(steps, certificate))

    def _keep(self, chunk: _Chunk) -> None:
        if len(self._held.chunks) >= _MOST_CHUNKS or self.step_count >= self._settled + self._most_loose:
            self._settle()
            self._settled = self.step_count
        self._held.chunks.append(chunk)
        self.step_count += chunk.steps.time.size

    def _settle(self) -> None:
        """Put the chunks together to a block."""
        blocks, chunks, *_ = self._held
        if chunks:
            held = [block[("contacts", "start")] for block in blocks]
            before = next((int(start[-1]) for start in reversed(held) if start.size), 0)
            rows = [block["layers", "start"] for block in blocks if ("layers", "start") in block]
            layers_before = int(rows[-1][-1]) if rows else 0
            block = _block(
                self._model,
                chunks,
                before,
                layers_before,
                told=self._told,
                recording=self._recording,
                bodies=self._bodies,
                first=self._held.end_count + 1,
            )
            last = chunks[-1].steps
            self._held = _Held([*blocks, block], [], last.memory, {}, _state_of(last, -1), self.step_count)

    def unsaved(self) -> dict[str, Any] | None:
        """Return the columns of the steps since :meth:`mark_saved`, None if all steps are to be written."""
        self._settle()
        if self._saved is None:
            return None
        new = self._held.blocks[self._saved :]
        return _nested({key: np.concatenate([block[key] for block in new]) for key in new[0]}) if new else {}

    def mark_saved(self) -> None:
        """Remember that all steps so far are on disk."""
        self._saved = len(self._held.blocks)

    def standing(self) -> dict[str, Any]:
        """Return what a file holds besides columns and changes with the steps."""
        return {"memory": memory_to_dict(self._held.memory), "settings": self._settings, "last": self._last()}

    def _last(self) -> dict[str, Any]:
        """Return the state at which the run ended, if the columns do not hold it."""
        if self._recording.is_whole:
            return {}
        state, coordinate = self._held.end
        return {**{name: getattr(state, name) for name in ("t", "q", "v", "modal", "modal_rate")}, "joints": coordinate}

    def trajectory(self) -> Trajectory:
        """Return the record so far."""
        self._settle()
        blocks, _, memory, joined, end, end_count = self._held
        if len(blocks) > 1:
            self._saved = None
            # Column by column, so that memory never holds the record twice.
            for key in blocks[0]:
                if key not in joined:
                    joined[key] = np.concatenate([block[key] for block in blocks])
                for block in blocks:
                    block[key] = None
            self._held = _Held([joined], [], memory, {}, end, end_count)
        model = self._model
        return Trajectory.of(
            _nested(self._held.blocks[0]),
            names=model.names,
            joints=model.joints.names,
            fixed_count=model.fixed_count,
            planar=model.planar,
            mass_centre=model.mass_centre,
            elastic=self._elastic,
            memory=memory_to_dict(memory),
            settings=self._settings,
            flexible=flexible_to_dict(model),
            looks=self._looks,
            last=self._last(),
        )


def _told_of(model: Model) -> tuple[str, ...]:
    """Return the columns that tell all of the contacts of a scene."""
    left_out = set() if has_couples(model) else {"couple"}
    if not model.layers:
        left_out |= {"deflection", "core_impulse"}
    return tuple(field.name for field in fields(ContactLog) if field.name not in left_out)


def _block(
    model: Model,
    chunks: list[_Chunk],
    contacts_before: int,
    layers_before: int,
    *,
    told: tuple[str, ...],
    recording: Recording,
    bodies: IntArray,
    first: int,
) -> Block:
    """Return the columns of chunks after so many contacts and layers of earlier steps; `told` are those of contacts.

    The first state is that after `first` steps.
    """
    every = [chunk.steps for chunk in chunks]
    states = {
        key: np.concatenate([getattr(steps, key) for steps in every])
        for key in ("time", "q", "v", "modal", "modal_rate")
    }
    kinetic, potential = motion_energies(model, states["q"], states["v"], states["modal_rate"], states["modal"])
    balance = np.concatenate([steps.balance for steps in every])
    contacts = ContactLog.of(
        [steps.contacts for steps in every if steps.contacts is not None], [steps.counts for steps in every]
    )
    rows = contacts.to_dict() | {"start": contacts.start[1:]}
    columns: dict[str, Any] = {
        **states,
        "contacts": {key: rows.get(key, _NOTHING.get(key)) for key in told},
        **({"layers": layer_columns(one for steps in every for one in steps.layers)} if model.layers else {}),
        "joints": {key: np.concatenate([steps.joints[key] for steps in every]) for key in every[0].joints},
        "kinetic": kinetic,
        "potential": potential,
        "balance": {key: balance[:, k].copy() for k, key in enumerate(Balance._fields)},
        "certificate": Certificate.from_rows(np.concatenate([chunk.certificate for chunk in chunks])).to_dict(),
    }
    if not recording.is_whole:
        columns = thinned(columns, recording, bodies, model.fixed_count, first)
    columns["contacts"]["start"] = contacts_before + columns["contacts"]["start"]
    if model.layers:
        columns["layers"]["start"] = layers_before + columns["layers"]["start"]
    return _flat(columns)


def _state_of(steps: Steps, k: int) -> tuple[State, Array]:
    """Return the state after one of some steps, and the joint coordinates there."""
    values = {key: getattr(steps, key)[k] for key in ("q", "v", "modal", "modal_rate")}
    return State(t=float(steps.time[k]), **values), steps.joints["coordinate"][k]


def _first_block(model: Model, state: State, memory: AnyMemory, recording: Recording, bodies: IntArray) -> Block:
    """Return the columns of a run that has not begun: one state, no steps."""
    steps = Steps(
        time=np.array([state.t]),
        q=state.q[None],
        v=state.v[None],
        modal=state.modal[None],
        modal_rate=state.modal_rate[None],
        balance=np.zeros((0, len(Balance._fields))),
        checks=np.zeros((0, len(CHECKS))),
        seconds=0.0,
        joints=_first_joints(model, state),
        contacts=None,
        counts=np.zeros(0, dtype=np.int64),
        memory=memory,
        layers=(memory.layer_rows(),) if isinstance(memory, LayerMemory) else (),
    )
    chunk = _Chunk(steps, checked_rows(model, steps.checks, 0.0))
    block = _block(model, [chunk], 0, 0, told=_told_of(model), recording=recording, bodies=bodies, first=0)
    block["contacts", "start"] = np.zeros(1, dtype=np.int64)
    if model.layers:
        block["layers", "start"] = np.append(0, block["layers", "start"])
    return block


def _first_joints(model: Model, state: State) -> dict[str, Array]:
    """Return coordinates and speeds of the joints at the state at which a run begins, and no impulses."""
    joints = model.joints
    coordinate, speed = joint_coordinates(joints, state.q, np.zeros(joints.count)), np.zeros(joints.count)
    rows = joint_rows(joints.arrays, joints.coordinates, state.q, coordinate)
    speed[joints.coordinates.joint] = rows.velocity(state.v)
    none = np.zeros((0, joints.count, 6))
    return {
        "coordinate": coordinate[None],
        "speed": speed[None],
        "effort": none[:, :, 0],
        "reaction": none,
        "ending": none,
    }


def _flat(columns: dict[str, Any]) -> Block:
    """Return columns in groups by group and name."""
    flat: Block = {}
    for name, value in columns.items():
        if isinstance(value, dict):
            flat |= {(name, key): column for key, column in value.items()}
        else:
            flat[(name,)] = value
    return flat


def _nested(block: Block) -> dict[str, Any]:
    """Return columns in groups, the inverse of :func:`_flat`."""
    columns: dict[str, Any] = {}
    for (*group, name), column in block.items():
        (columns.setdefault(group[0], {}) if group else columns)[name] = column
    return columns
