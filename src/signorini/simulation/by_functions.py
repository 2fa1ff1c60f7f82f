"""Steps by the functions of a formulation, each checked as it is done, unless nobody looks at each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.formulations import CHECKS, Formulation, JointReport, StepResult, Steps
from signorini.model import Contacts, Model, State
from signorini.simulation.certificate import StepCertificate, certify
from signorini.simulation.contact_table import rows
from signorini.solvers.solution import SUCCESS


class ByFunctions:
    """The :class:`~signorini.formulations.Stepper` of a formulation that brings none of its own."""

    _last: tuple[StepResult, StepCertificate] | None = None
    """Of the last step; None if it is still to be looked at."""

    def __init__(self, formulation: Formulation, model: Model, h: float, tolerance: float) -> None:
        self._formulation, self._model, self._h, self._tolerance = formulation, model, h, tolerance
        self._keep_contacts = False
        self.seconds = 0.0
        swift = getattr(formulation, "swift", None)
        self._swift = None if swift is None else swift(model, h)
        """Takes steps many at a time where nobody looks at each of them, if the formulation has such a thing."""

    def prepare(self, threads: int) -> None:
        """Functions of Python are ready, and take their steps alone."""

    def restore(self, state: State, memory: Any) -> None:
        self.before = self.state = state
        self.memory = memory
        self.load(self._model)

    def load(self, model: Model) -> None:
        self._loaded = model
        self._ahead = self._formulation.detect(model, self.state, self._h)

    def run(self, steps: int) -> int:
        """Advance by many steps where that is possible, else by one."""
        if self._swift is not None and self._loaded is self._model and steps > 0:
            done, before, now = self._swift.run(self.state, self.memory, self._ahead, steps)
            if done:
                self._began = before
                self.before, (self.state, self.memory, ahead) = before[0], now
                self._ahead = self._formulation.detect(self._model, self.state, self._h) if ahead is None else ahead
                self._last = None
                return int(done)
        return self.timed_run(steps)

    def timed_run(self, steps: int) -> int:
        """Advance by one step, that it may be looked at; solvers take the time themselves."""
        if steps < 1:
            return 0
        model, before = self._loaded, self.state
        result = self._formulation.step(model, before, self._ahead, self.memory, self._h, tolerance=self._tolerance)
        self.before, self.state, self.memory = before, result.state, result.memory
        self.load(self._model)
        certificate = certify(model, before, result, self._ahead, self._tolerance)
        self._last, self.seconds = (result, certificate), certificate.solve_time
        return 1

    def _looked_at(self) -> tuple[StepResult, StepCertificate]:
        """Return the last step in full; one of many is taken again for that."""
        if self._last is None:
            state, memory, ahead = self._began
            result = self._formulation.step(self._model, state, ahead, memory, self._h, tolerance=self._tolerance)
            self._last = result, certify(self._model, state, result, self._ahead, self._tolerance)
        return self._last

    def log(self, rows: int, *, keep_contacts: bool) -> None:
        self._keep_contacts = keep_contacts

    def read_log(self) -> Steps:
        (result, _), state = self._looked_at(), self.state
        kept = np.array([result.contacts.contact_count] if self._keep_contacts else [], dtype=np.int64)
        return Steps(
            time=np.array([state.t]),
            q=state.q[None],
            v=state.v[None],
            modal=state.modal[None],
            modal_rate=state.modal_rate[None],
            balance=np.array([result.balance]),
            checks=self.checks[None],
            seconds=self.seconds,
            joints=_joint_columns(result.joints, self._model.joints.count),
            contacts=rows(result) if self._keep_contacts else None,
            counts=kept,
            memory=self.memory,
            layers=() if result.layers is None else (result.layers,),
        )

    @property
    def velocity(self) -> Array:
        return self.state.v

    @property
    def checks(self) -> Array:
        certificate = self._looked_at()[1]
        return np.array([getattr(certificate, word) for word in CHECKS], dtype=float)

    @property
    def solved(self) -> bool:
        return self._last is None or self._last[1].status in SUCCESS  # a step that fails is not one of many

    def ahead(self) -> Contacts:
        return self._ahead

    def result(self, model: Model) -> StepResult:
        result = self._looked_at()[0]
        return replace(result, state=result.state.read_only())


def _joint_columns(report: JointReport | None, joint_count: int) -> dict[str, Array]:
    """Return what the joints did in one step, by name; zeros if the formulation does not tell."""
    none = np.zeros((joint_count, 6))
    if report is None:
        numbers, vectors = none[None, :, 0], none[None]
        return {"coordinate": numbers, "speed": numbers, "effort": numbers, "reaction": vectors, "ending": vectors}
    return {
        "coordinate": report.coordinate[None],
        "speed": report.speed[None],
        "effort": report.effort[None],
        "reaction": report.reaction[None],
        "ending": none[None] if report.ending is None else report.ending[None],
    }
