"""One step at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number, checked_tolerance
from signorini.dynamics import joint_rows, prescribed_pose
from signorini.errors import InputError, SolverFailure
from signorini.formulations import Engine, Formulation, MoreauJean, Stepper, StepResult
from signorini.model import Force, Model, RowTable, State
from signorini.scene import Scene, compile_scene
from signorini.simulation.by_functions import ByFunctions
from signorini.simulation.certificate import StepCertificate, from_checks, tested
from signorini.simulation.contact_table import ContactLog, ContactTable, rows
from signorini.simulation.door import FAR, Suspicion
from signorini.simulation.explosion import diverging, is_finite, lost
from signorini.simulation.watch import Watch
from signorini.solvers import Status

if TYPE_CHECKING:
    from signorini.simulation.recorder import Recorder
    from signorini.simulation.watcher import Watcher

DEFAULT_TOLERANCE = 1e-6
MOST_THREADS = 64

_EXPLAINED = (InputError, ArithmeticError, np.linalg.LinAlgError)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a simulator needs to continue bit for bit; the memory of a stepper is never changed in place."""

    state: State
    memory: Any
    """Of the formulation's own type, see :class:`~signorini.formulations.AnyMemory`."""
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


class _Alone:
    """Where one thread works on a simulator: another that comes meanwhile is refused, for arrays are shared."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise InputError(
                "Simulator: is used by two threads at once, must be by one at a time; make one for each thread"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@contextmanager
def within_range() -> Iterator[None]:
    """Say in one line that a scene cannot be computed with, where its numbers are too great or too small."""
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise InputError(
            "scene: its equations leave the range of numbers, must have masses, sizes and speeds that can be meant"
        ) from error


class Simulator:
    """A scene that is advanced step by step.

    One thread at a time may use a simulator, a second one is refused; several simulators in several threads are fine.

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
    view : bool
        Show the states of :meth:`step` in the browser, with the forces at contacts (needs the extra ``view``).
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
        view: bool = False,
    ) -> None:
        self._alone = _Alone()
        with within_range():
            self._begin(scene, h, formulation, tolerance, validity, threads)
        self.viewer: Watcher | None = None
        """What shows the states in the browser, if it was asked for."""
        if view:
            from signorini.simulation.watcher import Watcher

            self.viewer = Watcher(self.model, self.state)

    def _begin(
        self,
        scene: Scene,
        h: float,
        formulation: Formulation | None,
        tolerance: float | None,
        validity: bool | float | None,
        threads: int,
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
        state, memory = self.formulation.init(self.model, state)
        self._kind = type(memory)
        self.threads = _checked_threads(threads)
        self.stepper = self._made_stepper()
        self.step_count = 0
        self.stepper.restore(state, memory)
        self._loaded = self.model
        self._watch = Watch(self.model, self.h)
        self._watch.at_the_door(state, memory.coordinate, self.stepper.ahead(), contact_given=scene.contact_given)

    @property
    def warnings(self) -> list[Suspicion]:
        """What is suspicious about the scene and the run, each said once as a :class:`~signorini.SceneWarning`."""
        return list(self._watch.suspicions)

    def _made_stepper(self) -> Stepper:
        """Return the formulation's own stepper, if it has one for this model, or its functions as one."""
        model, h, tolerance = self.model, self.h, self.tolerance
        own = getattr(self.formulation, "engine", None)
        made: Stepper | None = own(model, h, tolerance) if own is not None else None
        stepper = ByFunctions(self.formulation, model, h, tolerance) if made is None else made
        stepper.prepare(self.threads)
        return stepper

    @property
    def engine(self) -> Engine | None:
        """The compiled step, for whoever looks into its arrays; None if there is none."""
        return self.stepper if isinstance(self.stepper, Engine) else None

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles hold; an engine knows its arrays by addresses, so each makes its own."""
        return {**vars(self), "_alone": None, "viewer": None, "stepper": None, "snapshot": self.snapshot()}

    def __setstate__(self, settings: dict[str, Any]) -> None:
        snapshot = settings.pop("snapshot")
        vars(self).update(settings)
        self._alone = _Alone()
        self.stepper = self._made_stepper()
        self._continue_from(snapshot)

    @property
    def state(self) -> State:
        """The present state, read-only; to go on from another, write into a :meth:`snapshot` and :meth:`restore` it."""
        return self.stepper.state.read_only()

    @property
    def memory(self) -> Any:
        """What the stepper remembers besides the state, of the formulation's own type; never changed in place."""
        return self.stepper.memory

    def step(self, controls: Mapping[str, ArrayLike] | None = None) -> StepReport:
        """Advance by one step and check it.

        `controls` are additional loads for this step alone: by body name force and torque, world axes, (6,) [N, N m];
        by joint name the effort along its coordinate, a number [N, N m].
        """
        with self._alone:
            result, certificate = self._advance(controls)
            self._look_at_step(certificate)
        log = ContactLog.of([rows(result)], [np.array([result.contacts.contact_count])])
        if self.viewer is not None and self.viewer.is_due():
            self.viewer.show(self.state, log.rows(), self.h)
        return StepReport(certificate, log.table(0, self.model.names), result)

    def advance(self, controls: Mapping[str, ArrayLike] | None = None) -> tuple[StepResult, StepCertificate]:
        """Advance by one step; :meth:`step` without the table for reading."""
        with self._alone:
            return self._advance(controls)

    def _advance(self, controls: Mapping[str, ArrayLike] | None) -> tuple[StepResult, StepCertificate]:
        self.check_scene()
        self._loaded = model = self._with_controls(controls) if controls else self.model
        stepper = self.stepper
        try:
            if controls:
                stepper.load(model)
            stepper.timed_run(1)
        except _EXPLAINED as error:
            self.explain(error)
            raise
        self.step_count += 1
        result, certificate = stepper.result(model), from_checks(model, stepper.checks, stepper.seconds)
        if self.is_tested:
            certificate = replace(certificate, **self._tested(model, stepper.before, result))
        return result, certificate

    def run(self, steps: int) -> int:
        """Advance by many steps without a report, in compiled code where the formulation has it.

        Return how many of them were not solved to the tolerance.
        """
        with self._alone:
            return self._run(steps)

    def _run(self, steps: int) -> int:
        self.check_scene()
        self._loaded = self.model
        stepper, failed, done, before = self.stepper, 0, 0, self.step_count
        while done < steps:
            try:
                done += stepper.run(steps - done)
            except _EXPLAINED as error:
                self.explain(error)
                raise
            self.step_count = before + done
            failed += not stepper.solved
            self._look_at_step(from_checks(self.model, stepper.checks, 0.0) if self._watch.drives else None)
        return failed

    def record(self, recorder: Recorder, steps: int) -> None:
        """Advance by so many steps, or fewer, and have what they leave behind recorded."""
        with self._alone:
            self._record(recorder, steps)

    def _record(self, recorder: Recorder, steps: int) -> None:
        self.check_scene()
        self._loaded = self.model
        stepper = self.stepper
        stepper.log(steps, keep_contacts=recorder.keeps_contacts)
        try:
            done = stepper.timed_run(steps)
        except _EXPLAINED as error:
            self.explain(error)
            raise
        self.step_count += done
        found = self._tested(self.model, stepper.before, stepper.result(self.model)) if self.is_tested else None
        recorder.add(stepper.read_log(), found)

    def watch(self, certificates: Iterable[StepCertificate], time: Array, q: Array, v: Array) -> None:
        """Say, once, what runs away and what drives press together in the last steps.

        They ended at `time` (n,) with the poses `q` (n, n_b, 7) and velocities `v` (n, n_b, 6).
        """
        self._watch.ask_speeds(time, q, v)
        if not self._watch.drives:
            return
        for certificate, t in zip(certificates, time, strict=True):
            if self._watch.is_alarmed(certificate):
                ahead = self.stepper.ahead()
                self._watch.ask_drives(self.snapshot().state, self.memory.coordinate, ahead, certificate, float(t))

    def _look_at_step(self, certificate: StepCertificate | None) -> None:
        """Look at the last step, with its certificate if there are drives, and raise if its state is not finite."""
        v = self.stepper.velocity
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
        return lost(self._loaded, self.stepper.before, self.state, self.h)

    def check_scene(self) -> None:
        """Raise `InputError` if the scene was edited since it was compiled: the simulator would not know."""
        if self._scene_now.count != self._scene_then:
            raise InputError(
                "scene: was edited after the Simulator was made, which goes on without the edit; make a new one, "
                "Simulator(scene, h=...), or say loads of a single step by step(controls=...)"
            )

    @property
    def is_tested(self) -> bool:
        """Whether each step is asked if the rigid model is valid; a damping of 0 is one to ask with."""
        return self.validity is not None and self.validity is not False

    def _tested(self, model: Model, before: State, result: StepResult) -> dict[str, Any]:
        """Ask whether the rigid model is valid in this step, for the certificate."""
        from signorini.analysis import check_step  # loaded only by those who ask for the test

        damping = None if self.validity is True else self.validity
        return tested(check_step(model, before, result.contacts, result.impulse, result.velocity, damping=damping))

    def snapshot(self) -> Snapshot:
        """Return state and memory; a simulator restored to it continues bit for bit."""
        with self._alone:
            return Snapshot(self.state.copy(), self.memory, self.step_count)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back (or forward) to a snapshot of the same scene."""
        if snapshot.state.q.shape != self.state.q.shape:
            raise InputError(
                f"snapshot has {snapshot.state.q.shape[0]} bodies, must be of this scene with {self.model.body_count}"
            )
        if snapshot.state.shapes != self.state.shapes:
            raise InputError(f"snapshot has arrays of {snapshot.state.shapes}, must be {self.state.shapes}")
        if type(snapshot.memory) is not self._kind:
            names = type(snapshot.memory).__name__, self._kind.__name__
            raise InputError("snapshot has a memory of type {}, must be {} for this formulation".format(*names))
        with self._alone:
            self._continue_from(snapshot)

    def _continue_from(self, snapshot: Snapshot) -> None:
        self.step_count = snapshot.step_count
        self.stepper.restore(snapshot.state.copy(), snapshot.memory)

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
