"""One step at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import checked, checked_number, checked_tolerance
from signorini.dynamics import joint_rows, prescribed_pose
from signorini.errors import InputError
from signorini.formulations import Engine, Formulation, Memory, MoreauJean, StepResult
from signorini.model import Force, Model, RowTable, State
from signorini.scene import Scene, compile_scene
from signorini.simulation.certificate import StepCertificate, certify, from_check
from signorini.simulation.contact_table import ContactLog, ContactTable, rows
from signorini.simulation.warming import warm_up
from signorini.solvers import Status
from signorini.solvers.solution import SUCCESS

if TYPE_CHECKING:
    from signorini.analysis import Validity  # loaded only by those who ask for the test

DEFAULT_TOLERANCE = 1e-6
MOST_THREADS = 64


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a simulator needs to continue bit for bit; the memory of a stepper is never changed in place."""

    state: State
    memory: Memory
    step_count: int


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did, checked."""

    certificate: StepCertificate
    contacts: ContactTable
    result: StepResult

    @property
    def residual(self) -> float:
        """Residual of the contact law posed, recomputed."""
        return self.certificate.residual

    @property
    def status(self) -> Status:
        """How the solver ended."""
        return self.certificate.status

    @property
    def iterations(self) -> int:
        """Iterations of the solver."""
        return self.certificate.iterations


class Simulator:
    """A scene that is advanced step by step.

    Parameters
    ----------
    scene : Scene
    h : float
        Step size [s].
    formulation : Formulation, optional
        Default :class:`~signorini.MoreauJean`.
    tolerance : float, optional
        Residual to which each step's problem is solved, 1e-14 to 1e-2; default 1e-6.
    validity : bool or float, optional
        Test at each step whether the contact forces of the rigid model are unique and stable (S4); a number is the
        damping ``c^2/k`` of the contacts [kg].
    threads : int, optional
        Threads that share the work of a step, where it is compiled and has many contacts; default 1. The results do not
        depend on it, to the last bit.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        h: float,
        formulation: Formulation | None = None,
        tolerance: float | None = None,
        validity: bool | float | None = None,
        threads: int = 1,
    ) -> None:
        self.model: Model = compile_scene(scene)
        self.h = checked_number(h, "h", above=0.0)
        self.formulation = MoreauJean() if formulation is None else formulation
        self.tolerance = DEFAULT_TOLERANCE if tolerance is None else checked_tolerance(tolerance, "tolerance")
        self.validity = validity
        if not (validity is None or isinstance(validity, bool)):
            self.validity = checked_number(validity, "validity", least=0.0)
        state = self.model.initial_state.copy()
        walls = slice(self.model.fixed_count)
        state.q[walls], state.v[walls] = prescribed_pose(self.model, state.t)
        memory = self.formulation.init(self.model, state)
        self.threads = _checked_threads(threads)
        self.engine = self._made_engine()
        self.step_count = 0
        self._continue_from(state, memory)

    def _made_engine(self) -> Engine | None:
        """Return the compiled step, None if the formulation has none for this model."""
        make = getattr(self.formulation, "engine", None)
        engine: Engine | None = make(self.model, self.h, self.tolerance) if make is not None else None
        if engine is not None:
            warm_up(engine)
            if self.threads > 1:
                engine.hire(self.threads)
        return engine

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles hold; an engine knows its arrays by addresses, so each makes its own."""
        return {**vars(self), "engine": None, "snapshot": self.snapshot()}

    def __setstate__(self, settings: dict[str, Any]) -> None:
        snapshot = settings.pop("snapshot")
        vars(self).update(settings)
        self.engine = self._made_engine()
        self.restore(snapshot)

    def _continue_from(self, state: State, memory: Memory) -> None:
        """Set state and memory, and find the contacts ahead."""
        if self.engine is not None:
            self.engine.restore(state, memory)
            return
        self._state, self._memory = state, memory
        self._contacts = self.formulation.detect(self.model, state, self.h)

    @property
    def state(self) -> State:
        """The present state; never changed in place."""
        return self._state if self.engine is None else self.engine.state

    @property
    def memory(self) -> Memory:
        """What the stepper remembers besides the state; never changed in place."""
        return self._memory if self.engine is None else self.engine.memory

    def step(self, controls: Mapping[str, ArrayLike] | None = None) -> StepReport:
        """Advance by one step and check it.

        `controls` are additional loads for this step alone: by body name force and torque, world axes, (6,) [N, N m];
        by joint name the effort along its coordinate, a number [N, N m].
        """
        result, certificate = self.advance(controls)
        log = ContactLog.of([rows(result)], [np.array([result.contacts.contact_count])])
        return StepReport(certificate, log.table(0, self.model.names), result)

    def advance(self, controls: Mapping[str, ArrayLike] | None = None) -> tuple[StepResult, StepCertificate]:
        """Advance by one step; :meth:`step` without the table for reading."""
        model = self._with_controls(controls) if controls else self.model
        if self.engine is not None:
            if controls:
                self.engine.load(model)
            self.engine.timed_run(1)
            self.step_count += 1
            result = self.engine.result(model)
            if not self.validity:
                return result, from_check(self.engine.check, self.engine.seconds)
            before = self.engine.before
            return result, from_check(self.engine.check, self.engine.seconds, self._tested(model, before, result))
        contacts, before = self._contacts, self._state
        if controls:
            contacts = self.formulation.detect(model, before, self.h)
        result = self.formulation.step(model, before, contacts, self._memory, self.h, tolerance=self.tolerance)
        self._state, self._memory = result.state, result.memory
        self.step_count += 1
        self._contacts = self.formulation.detect(self.model, self._state, self.h)
        return result, certify(
            model, before, result, self._contacts, self.tolerance, self._tested(model, before, result)
        )

    def run(self, steps: int) -> int:
        """Advance by many steps without a report, in compiled code where the formulation has it.

        Return how many of them were not solved to the tolerance.
        """
        failed = 0
        if self.engine is None:
            for _ in range(steps):
                _, certificate = self.advance()
                failed += certificate.status not in SUCCESS
            return failed
        done = 0
        while done < steps:
            done += self.engine.run(steps - done)
            failed += not self.engine.solved
        self.step_count += steps
        return failed

    def _tested(self, model: Model, before: State, result: StepResult) -> Validity | None:
        """Ask whether the rigid model is valid in this step, if the user wants to know."""
        if self.validity is None or self.validity is False:
            return None
        from signorini.analysis import check_step

        damping = None if self.validity is True else float(self.validity)
        return check_step(model, before, result.contacts, result.impulse, result.velocity, damping=damping)

    def snapshot(self) -> Snapshot:
        """Return state and memory; a simulator restored to it continues bit for bit."""
        return Snapshot(self.state.copy(), self.memory, self.step_count)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back (or forward) to a snapshot of the same scene."""
        if snapshot.state.q.shape != self.state.q.shape:
            raise InputError(
                f"snapshot has {snapshot.state.q.shape[0]} bodies, must be of this scene with {self.model.body_count}"
            )
        self.step_count = snapshot.step_count
        self._continue_from(snapshot.state.copy(), snapshot.memory)

    def _effort(self, name: str, effort: float) -> list[Force]:
        """Return the loads of an effort along the coordinate of a joint."""
        joints = self.model.joints
        row = int(joints.coordinate_of[joints.names.index(name)])
        if row < 0:
            raise InputError(
                f"controls: joint {name!r} has no single coordinate, must be revolute, prismatic or distance"
            )
        table = RowTable(*(column[row : row + 1] for column in joints.coordinates))
        rows = joint_rows(joints.arrays, table, self.state.q, self.memory.coordinate)
        pairs = zip(rows.body, effort * rows.J, strict=True)
        return [Force(int(b), J[:3], J[3:], None) for b, J in pairs if b >= self.model.fixed_count]

    def _with_controls(self, controls: Mapping[str, ArrayLike]) -> Model:
        forces = []
        for name, value in controls.items():
            if name in self.model.joints.names:
                forces += self._effort(name, checked_number(value, f"controls of joint {name!r}"))
                continue
            wrench = checked(value, (6,), f"controls of {name!r}")
            b = self.model.index(name)
            if b < self.model.fixed_count:
                raise InputError(f"controls: {name!r} is a fixed body, must be a body that can move")
            forces.append(Force(b, wrench[:3], wrench[3:], None))
        return replace(self.model, forces=(*self.model.forces, *forces))


def _checked_threads(threads: int) -> int:
    """Return a number of threads if it is one."""
    if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or not 1 <= threads <= MOST_THREADS:
        raise InputError(f"threads is {threads!r}, must be a whole number from 1 to {MOST_THREADS}")
    return int(threads)


def is_finite(state: State) -> bool:
    """Tell whether a state holds numbers only."""
    return bool(np.isfinite(state.q).all() and np.isfinite(state.v).all())
