"""Collects the steps of a run and turns them into a Trajectory."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import elastic_energy, joint_coordinates, joint_rows, kinetic_energy, potential_energy
from signorini.formulations import Balance, JointReport, Memory, StepResult
from signorini.model import Model, State
from signorini.simulation.certificate import Certificate, StepCertificate
from signorini.simulation.contact_table import ContactLog, rows
from signorini.simulation.joint_log import JointLog
from signorini.simulation.trajectory import Trajectory


class Recorder:
    """The growing record of one run."""

    def __init__(self, model: Model, state: State, settings: dict[str, Any], *, keep_contacts: bool) -> None:
        self._model = model
        self._settings = settings
        self._keep_contacts = keep_contacts
        self._states = [state]
        self._contacts: list[dict[str, Any]] = []
        self._balances: list[Balance] = []
        self._certificates: list[StepCertificate] = []
        self._memory = Memory.none()
        self._joints: list[JointReport] = []
        self._joint_log = _first_joints(model, state)
        self._elastic = elastic_energy(model.joints, self._joint_log.coordinate[0])

    @staticmethod
    def continuing(model: Model, trajectory: Trajectory, *, keep_contacts: bool) -> Recorder:
        """Return a recorder that already holds `trajectory`."""
        recorder = Recorder(model, model.initial_state, trajectory.settings, keep_contacts=keep_contacts)
        recorder._states = [
            State(float(t), q, v) for t, q, v in zip(trajectory.time, trajectory.q, trajectory.v, strict=True)
        ]
        recorder._contacts = trajectory.contact_log.split()
        columns = (trajectory.balance[key].tolist() for key in Balance._fields)
        recorder._balances = [Balance(*row) for row in zip(*columns, strict=True)]
        recorder._certificates = trajectory.certificate.rows()
        recorder._memory = trajectory.memory
        recorder._joint_log = trajectory.joint_log
        recorder._elastic = trajectory.elastic
        return recorder

    @property
    def step_count(self) -> int:
        """Steps recorded so far."""
        return len(self._certificates)

    def add(self, result: StepResult, certificate: StepCertificate) -> None:
        """Record one step."""
        self._states.append(result.state)
        self._balances.append(result.balance)
        self._certificates.append(certificate)
        self._memory = result.memory
        if result.joints is not None:
            self._joints.append(result.joints)
        if self._keep_contacts:
            self._contacts.append(rows(result))

    def trajectory(self) -> Trajectory:
        """Return the record so far."""
        model = self._model
        t, q, v = (np.array(column) for column in zip(*self._states, strict=True))
        balance: Array = np.array(self._balances, dtype=float).reshape(-1, len(Balance._fields))
        return Trajectory(
            names=model.names,
            fixed_count=model.fixed_count,
            planar=model.planar,
            mass_centre=model.mass_centre,
            time=t,
            q=q,
            v=v,
            contact_log=ContactLog.of(self._contacts),
            joint_log=self._joint_log.extended(self._joints),
            elastic=self._elastic,
            kinetic=np.array([kinetic_energy(model.arrays, s.q, s.v).sum() for s in self._states]),
            potential=np.array([potential_energy(model, s.q).sum() for s in self._states]),
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
