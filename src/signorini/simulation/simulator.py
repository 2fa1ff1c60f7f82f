"""One step at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number, checked_tolerance
from signorini.dynamics import joint_rows, prescribed_pose
from signorini.errors import InputError, SolverFailure
from signorini.formulations import Engine, Formulation, Memory, MoreauJean, StepResult
from signorini.formulations import step_arrays as at
from signorini.geometry import detect
from signorini.model import Contacts, Force, Model, RowTable, State
from signorini.scene import Scene, compile_scene
from signorini.simulation.certificate import StepCertificate, certify, from_check
from signorini.simulation.contact_table import ContactLog, ContactTable, rows
from signorini.simulation.door import FAR, Suspicion
from signorini.simulation.explosion import diverging, is_finite, lost
from signorini.simulation.warming import warm_up
from signorini.simulation.watch import Watch
from signorini.solvers import Status
from signorini.solvers.solution import SUCCESS

if TYPE_CHECKING:
    from signorini.analysis import Validity  # loaded only by those who ask for the test

DEFAULT_TOLERANCE = 1e-6
MOST_THREADS = 64

_EXPLAINED = (InputError, ArithmeticError, np.linalg.LinAlgError)


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


class Explained:
    """Where steps are computed: what they raise is explained. A generator would cost as much as a box on a floor."""

    __slots__ = ("simulator",)

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and isinstance(error, _EXPLAINED):
            self.simulator.explain(error)


class Simulator:
    """A scene that is advanced step by step.

    What is suspicious about the scene is said at once, and kept in `warnings`. A scene that is edited later is refused
    at the next step: make a new simulator.

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
        scene.seal()
        self._scene_now, self._scene_then = scene.revision, scene.revision.count
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
        self._loaded = self.model
        self._watch = Watch(self.model, self.h)
        self._watch.at_the_door(state, memory.coordinate, self._contacts_at(state), contact_given=scene.contact_given)

    @property
    def warnings(self) -> list[Suspicion]:
        """What is suspicious about the scene and the run, each said once as a :class:`~signorini.SceneWarning`."""
        return list(self._watch.suspicions)

    def _contacts_at(self, state: State) -> Contacts:
        """Return the contacts at the present state: those ahead, unless the formulation looks from further on."""
        if getattr(self.formulation, "theta", 1.0) < 1.0:
            return detect(self.model, state, np.zeros(self.model.body_count))
        return self._contacts if self.engine is None else self.engine.ahead()

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
        self._before, self._state, self._memory = state, state, memory
        self._contacts = self.formulation.detect(self.model, state, self.h)

    @property
    def state(self) -> State:
        """The present state, read-only; to go on from another, write into a :meth:`snapshot` and :meth:`restore` it."""
        return (self._state if self.engine is None else self.engine.state).read_only()

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
        self._look_at_step(certificate)
        log = ContactLog.of([rows(result)], [np.array([result.contacts.contact_count])])
        return StepReport(certificate, log.table(0, self.model.names), result)

    def advance(self, controls: Mapping[str, ArrayLike] | None = None) -> tuple[StepResult, StepCertificate]:
        """Advance by one step; :meth:`step` without the table for reading."""
        self.check_scene()
        self._loaded = model = self._with_controls(controls) if controls else self.model
        if self.engine is not None:
            with Explained(self):
                if controls:
                    self.engine.load(model)
                self.engine.timed_run(1)
            self.step_count += 1
            result = self.engine.result(model)
            if not self.validity:
                return result, from_check(self.engine.check, self.engine.seconds)
            before = self.engine.before
            return result, from_check(self.engine.check, self.engine.seconds, self._tested(model, before, result))
        with Explained(self):
            return self._advance_by_functions(model, look_again=bool(controls))

    def _advance_by_functions(self, model: Model, *, look_again: bool) -> tuple[StepResult, StepCertificate]:
        """Advance by one step of a formulation that is not compiled."""
        contacts, before = self._contacts, self._state
        if look_again:
            contacts = self.formulation.detect(model, before, self.h)
        result = self.formulation.step(model, before, contacts, self._memory, self.h, tolerance=self.tolerance)
        self._before, self._state, self._memory = before, result.state, result.memory
        self.step_count += 1
        self._contacts = self.formulation.detect(self.model, self._state, self.h)
        certificate = certify(
            model, before, result, self._contacts, self.tolerance, self._tested(model, before, result)
        )
        return replace(result, state=result.state.read_only()), certificate

    def run(self, steps: int) -> int:
        """Advance by many steps without a report, in compiled code where the formulation has it.

        Return how many of them were not solved to the tolerance.
        """
        self.check_scene()
        failed, self._loaded = 0, self.model
        if self.engine is None:
            for _ in range(steps):
                _, certificate = self.advance()
                failed += certificate.status not in SUCCESS
                self._look_at_step(certificate)
            return failed
        engine, done, before = self.engine, 0, self.step_count
        while done < steps:
            with Explained(self):
                done += engine.run(steps - done)
            self.step_count = before + done
            failed += not engine.solved
            self._look_at_step(from_check(engine.check, 0.0) if self._watch.drives else None)
        return failed

    def watch(self, certificates: Iterable[StepCertificate], time: Array, q: Array, v: Array) -> None:
        """Say, once, what runs away and what drives press together in the last steps.

        They ended at `time` (n,) with the poses `q` (n, n_b, 7) and velocities `v` (n, n_b, 6).
        """
        self._watch.ask_speeds(time, q, v)
        if not self._watch.drives:
            return
        for certificate, t in zip(certificates, time, strict=True):
            if self._watch.is_alarmed(certificate):
                ahead = self._contacts if self.engine is None else self.engine.ahead()
                self._watch.ask_drives(self.snapshot().state, self.memory.coordinate, ahead, certificate, float(t))

    def _look_at_step(self, certificate: StepCertificate | None) -> None:
        """Look at the last step, with its certificate if there are drives, and raise if its state is not finite."""
        v = self._state.v if self.engine is None else self.engine.arena[at.V]
        if not self._watch.drives and np.vdot(v, v) <= FAR * FAR:  # false also where it is not a number
            return
        state = self.state
        t = state.t
        self.watch([] if certificate is None else [certificate], np.array([t]), state.q[None], state.v[None])
        message, l = self.lost(), self.step_count - 1
        if message:
            raise SolverFailure(f"step {l}: {message}", step=l, time=t - self.h, problem=None)

    def explain(self, error: BaseException) -> None:
        """Raise `SolverFailure` that says of which body a step could not be computed, if that is why it raised."""
        t, l = self.state.t, self.step_count
        message = diverging(self._loaded, self.state.copy(), self.h)
        if message or not isinstance(error, InputError):
            message = message or "its equations leave the range of numbers: look at masses, sizes and speeds"
            raise SolverFailure(f"step {l} at t = {t:.6g} s: {message}", step=l, time=t, problem=None) from error

    def look_back(self, time: Array, q: Array, v: Array) -> None:
        """Say what was suspicious in a run as recorded: prescribed bodies that went into fixed ones."""
        self._watch.look_back(time, q, v)

    def lost(self) -> str:
        """Say what became of a state that is not finite; nothing if it is."""
        if is_finite(self.state):
            return ""
        before = self._before if self.engine is None else self.engine.before
        return lost(self._loaded, before, self.state, self.h)

    def check_scene(self) -> None:
        """Raise `InputError` if the scene was edited since it was compiled: the simulator would not know."""
        if self._scene_now.count != self._scene_then:
            raise InputError(
                "scene: was edited after the Simulator was made, which goes on without the edit; make a new one, "
                "Simulator(scene, h=...), or say loads of a single step by step(controls=...)"
            )

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
        if snapshot.state.shapes != self.state.shapes:
            raise InputError(f"snapshot has arrays of {snapshot.state.shapes}, must be {self.state.shapes}")
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
        rows = joint_rows(joints.arrays, table, self.state.q.copy(), self.memory.coordinate)
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
