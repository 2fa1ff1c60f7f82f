"""Collects the steps of a run and turns them into a Trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.dynamics import elastic_energy, joint_coordinates, joint_rows, kinetic_energy, potential_energy
from signorini.formulations import Balance, Log, Memory, StepResult
from signorini.model import Model, State
from signorini.simulation.certificate import Certificate, StepCertificate, from_check
from signorini.simulation.contact_table import ContactLog, logged_rows, rows
from signorini.simulation.joint_log import JointLog, report_rows
from signorini.simulation.trajectory import Trajectory


class Recorder:
    """The growing record of one run."""

    def __init__(self, model: Model, state: State, settings: dict[str, Any], *, keep_contacts: bool) -> None:
        self._model = model
        self._settings = settings
        self._keep_contacts = keep_contacts
        self._time = [np.array([state.t])]
        self._q = [state.q[None].copy()]
        self._v = [state.v[None].copy()]
        self._contacts: list[dict[str, Any]] = []
        self._counts: list[IntArray] = []
        self._balances: list[Array] = []
        self._certificates: list[StepCertificate] = []
        self._memory = Memory.none()
        self._joints: list[Array] = []
        self._joint_log = _first_joints(model, state)
        self._elastic = elastic_energy(model.joints, self._joint_log.coordinate[0])

    @staticmethod
    def continuing(model: Model, trajectory: Trajectory, *, keep_contacts: bool) -> Recorder:
        """Return a recorder that already holds `trajectory`."""
        recorder = Recorder(model, model.initial_state, trajectory.settings, keep_contacts=keep_contacts)
        recorder._time, recorder._q, recorder._v = [trajectory.time], [trajectory.q], [trajectory.v]
        part, counts = trajectory.contact_log.part()
        recorder._contacts, recorder._counts = [part], [counts]
        recorder._balances = [np.stack([trajectory.balance[key] for key in Balance._fields], axis=1)]
        recorder._certificates = trajectory.certificate.rows()
        recorder._memory = trajectory.memory
        recorder._joint_log = trajectory.joint_log
        recorder._elastic = trajectory.elastic
        return recorder

    @property
    def step_count(self) -> int:
        """Steps recorded so far."""
        return len(self._certificates)

    @property
    def keeps_contacts(self) -> bool:
        """Whether the contacts of all steps are kept."""
        return self._keep_contacts

    @property
    def last(self) -> StepCertificate:
        """The certificate of the last step."""
        return self._certificates[-1]

    def latest(self) -> tuple[list[StepCertificate], Array, Array, Array]:
        """Return certificates, times, poses and velocities of the steps added last."""
        time, q, v = self._time[-1], self._q[-1], self._v[-1]
        return self._certificates[len(self._certificates) - time.size :], time, q, v

    def warn(self, messages: Iterable[str]) -> None:
        """Keep what was said to be suspicious, each once."""
        self._settings["warnings"] = list(dict.fromkeys([*self._settings.get("warnings", ()), *messages]))

    def add(self, result: StepResult, certificate: StepCertificate) -> None:
        """Record one step."""
        state = result.state
        self._keep(np.array([state.t]), state.q[None], state.v[None], np.array([result.balance]))
        self._certificates.append(certificate)
        self._memory = result.memory
        if result.joints is not None:
            self._joints.append(report_rows(result.joints))
        if self._keep_contacts:
            self._contacts.append(rows(result))
            self._counts.append(np.array([result.contacts.contact_count]))

    def add_log(self, log: Log, h: float, seconds: float, memory: Memory) -> None:
        """Record the steps of a log, each of which took so many seconds."""
        # Added up one by one, as the state does.
        time = np.cumsum(np.concatenate([self._time[-1][-1:], np.full(log.check.shape[0], h)]))[1:]
        self._keep(time, log.q, log.v, log.balance)
        self._certificates.extend(from_check(row, seconds) for row in log.check)
        self._memory = memory
        self._joints.append(log.joints)
        if self._keep_contacts:
            self._contacts.append(logged_rows(log))
            self._counts.append(np.diff(log.start))

    def _keep(self, time: Array, q: Array, v: Array, balance: Array) -> None:
        self._time.append(time)
        self._q.append(q)
        self._v.append(v)
        self._balances.append(balance)

    def trajectory(self) -> Trajectory:
        """Return the record so far."""
        model = self._model
        t, q, v = (np.concatenate(parts) for parts in (self._time, self._q, self._v))
        balance: Array = np.concatenate([np.zeros((0, len(Balance._fields))), *self._balances])
        return Trajectory(
            names=model.names,
            fixed_count=model.fixed_count,
            planar=model.planar,
            mass_centre=model.mass_centre,
            time=t,
            q=q,
            v=v,
            contact_log=ContactLog.of(self._contacts, self._counts),
            joint_log=self._joint_log.extended(self._joints),
            elastic=self._elastic,
            kinetic=np.array([kinetic_energy(model.arrays, q[l], v[l]).sum() for l in range(t.size)]),
            potential=np.array([potential_energy(model, q[l]).sum() for l in range(t.size)]),
            balance={key: balance[:, k].copy() for k, key in enumerate(Balance._fields)},
            certificate=Certificate.of(self._certificates),
            memory=self._memory,
            settings=self._settings,
        )


def _first_joints(model: Model, state: State) -> JointLog:
    """Return the joints of the state at which a run begins."""
    joints = model.joints
    coordinate, speed = joint_coordinates(joints, state.q, np.zeros(joints.count)), np.zeros(joints.count)
    rows = joint_rows(joints.arrays, joints.coordinates, state.q, coordinate)
    speed[joints.coordinates.joint] = rows.velocity(state.v)
    return JointLog.begin(joints.names, coordinate, speed)
