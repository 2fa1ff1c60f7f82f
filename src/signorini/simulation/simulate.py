"""The loop: from a scene to a trajectory."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

from signorini._arrays import checked_number
from signorini._jit import announce_compilation, is_cold
from signorini.errors import FileError, InputError, SolverFailure
from signorini.formulations import Formulation
from signorini.io import GrowingTree
from signorini.model import State
from signorini.scene import Scene, scene_from_text, scene_to_text
from signorini.simulation.choose import (
    formulation_from_dict,
    formulation_to_dict,
    memory_from_dict,
    scheme_to_dict,
)
from signorini.simulation.joint_words import joint_failure
from signorini.simulation.recorder import Recorder
from signorini.simulation.recording import checked_recording
from signorini.simulation.simulator import Simulator, Snapshot
from signorini.simulation.trajectory import Trajectory
from signorini.simulation.watcher import Watcher
from signorini.solvers.solution import SUCCESS

OnFailure = Literal["raise", "warn", "keep"]

_PROGRESS_DELAY = 2.0  # seconds of work that nobody needs to be told about
_MOST_STEPS = 1e9  # beyond which times of a run cannot be meant
_AT_ONCE = 0.2  # seconds of compiled steps between two looks at the clock
_MOST_AT_ONCE = 1000  # steps, for the memory of the log
_FIRST_CHECKPOINT = 0.5  # seconds until the first write; each time until the next is as long as the run so far ...
_CHECKPOINT_EVERY = 10.0  # ... up to these seconds, unless told otherwise ...
_CHECKPOINT_SHARE = 0.05  # ... or this part of the time so far, so that a run of many hours has some hundred parts
_LARGE = 1e9  # bytes of a record of which people want to know beforehand
_TELL_EVERY = 30.0  # seconds between two lines where there is no terminal


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; ``trajectory`` holds what was computed."""

    def __init__(self, trajectory: Trajectory, how: str = "interrupted") -> None:
        super().__init__(how)
        self.trajectory = trajectory


def simulate(
    scene: Scene,
    *,
    duration: float,
    h: float,
    formulation: Formulation | None = None,
    tolerance: float | None = None,
    validity: bool | float | None = None,
    threads: int = 1,
    record: Literal["all", "motion"] | Mapping[str, Any] | None = None,
    on_failure: OnFailure = "raise",
    progress: bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float | None = None,
    callback: Callable[[float, State], object] | None = None,
    view: bool = False,
) -> Trajectory:
    """Simulate `scene` for `duration` seconds in steps of `h` seconds.

    Parameters
    ----------
    scene : Scene
    duration : float
        [s]; rounded up to a whole number of steps.
    h : float
        [s]
    formulation : Formulation, optional
        How a step is posed; default :class:`~signorini.MoreauJean`.
    tolerance : float, optional
        Scale-free residual to which each step must be solved; default 1e-6.
    validity : bool or float, optional
        Test at each step whether the contact forces of the rigid model are unique and stable (S4), a number being the
        damping ``c^2/k`` of the contacts [kg]; the answers are columns of the certificate.
    threads : int, optional
        Threads that share the work of a step, where it is compiled and has many contacts; default 1. The results do not
        depend on it, to the last bit.
    record : {"all", "motion"} or mapping, optional
        ``"motion"`` leaves out the contacts, to save memory; default ``"all"``. A mapping says more, as
        ``{"every": 10, "bodies": ["arm"], "contacts": False}``: states after every tenth step only, of these bodies and
        of fixed ones, no contacts; what is not named is recorded. Contacts and impulses of joints are then those of the
        steps that end at recorded states. Certificate and energy balance are kept of every step in any case.
    on_failure : {"raise", "warn", "keep"}
        What to do when a step is not solved: raise :class:`~signorini.SolverFailure` (it carries the problem and the
        trajectory, the failed step included), warn and go on, or go on; the certificate tells in every case.
    progress : bool, optional
        Show a progress bar; default for runs over two seconds at a terminal. Elsewhere long runs say a line on
        standard error every half a minute, unless this is False.
    checkpoint : path, optional
        File to which the run is written from time to time: within a second, then ever less often; until the run
        ends, what is new lies beside it in files ``path.0001`` and so on. :func:`resume` continues a killed run from
        it, and :meth:`Trajectory.load` reads it.
    checkpoint_every : float, optional
        Most seconds between two such writes, or a twentieth of the time so far if that is more; default 10.
    callback : callable, optional
        Called as ``callback(t, state)`` after each step; the state is read-only.
    view : bool
        Show the run in the browser while it is computed, and play it when it is done (needs the extra ``view``).
    """
    duration = checked_number(duration, "duration", least=0.0)
    simulator = Simulator(scene, h=h, formulation=formulation, tolerance=tolerance, validity=validity, threads=threads)
    recording = checked_recording(record, simulator.model)
    settings = {
        "h": simulator.h,
        "duration": duration,
        "tolerance": simulator.tolerance,
        **recording.settings(),
        "validity": simulator.validity,
        "on_failure": on_failure,
        "formulation": formulation_to_dict(simulator.formulation),
        "scheme": scheme_to_dict(simulator.formulation),
        "scene": scene_to_text(scene),
    }
    begins = simulator.snapshot()
    recorder = Recorder(simulator.model, begins.state, begins.memory, settings, recording)
    every = None if checkpoint_every is None else checked_number(checkpoint_every, "checkpoint_every", above=0.0)
    watcher = Watcher(simulator.model, begins.state) if view else None
    return _run(simulator, recorder, duration, on_failure, progress, checkpoint, callback, every, watcher)


def resume(
    checkpoint: str | os.PathLike[str],
    *,
    scene: Scene | None = None,
    formulation: Formulation | None = None,
    threads: int = 1,
    progress: bool | None = None,
    callback: Callable[[float, State], object] | None = None,
) -> Trajectory:
    """Continue a run from its checkpoint to its end, bit for bit as if it had never stopped.

    `scene` and `formulation` need be given only if they contain Python functions, or solvers of your own, that no file
    can hold.
    """
    return go_on(Trajectory.load(checkpoint), checkpoint, scene, formulation, threads, progress, callback)


def go_on(
    past: Trajectory,
    checkpoint: str | os.PathLike[str],
    scene: Scene | None = None,
    formulation: Formulation | None = None,
    threads: int = 1,
    progress: bool | None = None,
    callback: Callable[[float, State], object] | None = None,
) -> Trajectory:
    """Continue a run that was read already; see :func:`resume`."""
    settings = _settings(past, checkpoint)
    if scene is None:
        if settings.get("scene") is None:
            raise InputError(
                f"{checkpoint}: the scene contains functions, it must be given again: resume(..., scene=...)"
            )
        scene = scene_from_text(settings["scene"], str(checkpoint))
    if formulation is None:
        if settings.get("formulation") is None:
            raise InputError(f"{checkpoint}: the formulation must be given again: resume(..., formulation=...)")
        formulation = formulation_from_dict(settings["formulation"], str(checkpoint))
    simulator = Simulator(
        scene,
        h=settings["h"],
        formulation=formulation,
        tolerance=settings["tolerance"],
        validity=settings["validity"],
        threads=threads,
    )
    if simulator.model.names != past.names:
        raise InputError(f"{checkpoint}: was written for bodies {past.names}, the scene has {simulator.model.names}")
    memory = memory_from_dict(simulator.memory, past.memory, str(checkpoint))
    simulator.restore(Snapshot(past.end()[0], memory, past.step_count))
    recorder = Recorder.continuing(simulator.model, past, memory)
    return _run(simulator, recorder, settings["duration"], settings["on_failure"], progress, checkpoint, callback)


def is_finished(past: Trajectory, where: str | os.PathLike[str]) -> bool:
    """Tell whether the run in the file `where` has reached its end."""
    settings = _settings(past, where)
    return past.step_count >= _step_count(settings["duration"], settings["h"])


def _settings(past: Trajectory, where: str | os.PathLike[str]) -> dict[str, Any]:
    missing = [
        key for key in ("h", "duration", "tolerance", "record", "validity", "on_failure") if key not in past.settings
    ]
    if missing:
        raise FileError(f"{where}: settings lack {', '.join(map(repr, missing))}, must be those of a run")
    return past.settings


def _run(
    simulator: Simulator,
    recorder: Recorder,
    duration: float,
    on_failure: OnFailure,
    progress: bool | None,
    checkpoint: str | os.PathLike[str] | None,
    callback: Callable[[float, State], object] | None,
    every: float | None = None,
    watcher: Watcher | None = None,
) -> Trajectory:
    """Step until `duration`, recording."""
    if on_failure not in ("raise", "warn", "keep"):
        raise InputError(f"on_failure is {on_failure!r}, must be 'raise', 'warn' or 'keep'")
    recorder.warn(map(str, simulator.warnings))
    keeper = _Keeper(checkpoint, recorder, every)
    steps = _step_count(duration, simulator.h)
    if steps > _MOST_STEPS:
        raise InputError(
            f"duration is {duration} s in steps of h = {simulator.h} s, must be at most {_MOST_STEPS:.0e} steps"
        )
    _tell_size(recorder.number_count(steps - recorder.step_count), steps - recorder.step_count)
    bar = _Bar(recorder.step_count, steps, progress)
    try:
        while recorder.step_count < steps:
            most = 1 if callback is not None or simulator.is_tested else bar.chunk
            simulator.record(recorder, min(most, steps - recorder.step_count))
            bar.show(recorder.step_count)
            simulator.watch(*recorder.latest())
            recorder.warn(map(str, simulator.warnings))
            _judge(simulator, recorder, on_failure)
            if callback is not None:
                state = simulator.state
                callback(state.t, state)
            if watcher is not None and watcher.is_due():
                watcher.show(simulator.state, recorder.last_contacts(), simulator.h)
            keeper.tick()
        trajectory = recorder.trajectory()
        simulator.look_back(trajectory.time, trajectory.q, trajectory.v)
        recorder.warn(map(str, simulator.warnings))
        if checkpoint is not None:
            trajectory.save(checkpoint)
        if watcher is not None:
            watcher.play(trajectory)
    except SolverFailure as failure:
        failure.trajectory = failure.trajectory or recorder.trajectory()
        raise
    except KeyboardInterrupt as stop:
        keeper.write()
        raise Interrupted(recorder.trajectory(), str(stop) or "interrupted") from None
    finally:
        bar.close()
    return trajectory


def _tell_size(numbers: int, steps: int) -> None:
    """Say beforehand that a record will be large; what contacts add is not known yet."""
    if 8 * numbers > _LARGE:
        print(
            f"signorini: the record of {steps} steps will take {8 * numbers / 1e9:.1f} GB of memory and disk without "
            "its contacts; record={'every': ..., 'bodies': [...]} takes less",
            file=sys.stderr,
            flush=True,
        )


def _step_count(duration: float, h: float) -> int:
    """Return how many steps reach `duration`; a last step shorter than a millionth of h is rounding."""
    return max(0, int(-(-(duration / h - 1e-6) // 1)))


def _judge(simulator: Simulator, recorder: Recorder, on_failure: OnFailure) -> None:
    """Raise or warn about a last step that was not solved; a state that is not finite always raises."""
    certificate, lost = recorder.last, simulator.lost()
    if (certificate.status in SUCCESS or on_failure == "keep") and not lost:
        return
    result, l, t = simulator.stepper.result(simulator.model), recorder.step_count - 1, simulator.stepper.before.t
    message = f"step {l} at t = {t:.6g} s: "
    if lost:
        message += lost
    elif certificate.joint_fault:
        why = joint_failure(simulator.model, certificate, result, *recorder.before_last(), simulator.h)
        message += f"{certificate.status}: {why}"
        message += f"; {result.solution.info['finding']}" if "finding" in result.solution.info else ""
        message += "".join(f"; {one}" for one in simulator.warnings if one.kind == "pressed")
    else:
        message += f"{result.posed.what} not solved: {certificate.status}, "
        message += f"residual {certificate.residual:.2e}, must be <= {simulator.tolerance:.1e}"
        if certificate.residual <= simulator.tolerance:
            message += ", and so must velocity errors beside the load, which such impulses hide"
        message += f", {result.solution.info['finding']}" if "finding" in result.solution.info else ""
        message += "".join(f"; {one}" for one in simulator.warnings if one.kind == "pressed")
    if not lost and on_failure == "warn":
        warnings.warn(message, RuntimeWarning, stacklevel=4)
        return
    raise SolverFailure(message, step=l, time=t, problem=result.problem, trajectory=recorder.trajectory())


class _Bar:
    """The progress bar, a word about compilation on the first run of all, and how many steps to take at once."""

    def __init__(self, done: int, total: int, progress: bool | None) -> None:
        self._began = self._last = self._told = time.monotonic()
        self._done, self._total = done, total
        self._first: int | None = None
        self._tells = progress is None and not sys.stderr.isatty()
        self.chunk = 1
        self._bar: Any = None
        if progress is False or self._tells:
            return
        from tqdm import tqdm

        if is_cold():
            announce_compilation()
        delay = 0.0 if progress else _PROGRESS_DELAY
        self._bar = tqdm(initial=done, total=total, unit="step", delay=delay, leave=bool(progress))

    def show(self, done: int) -> None:
        """Tell how many steps are done."""
        now = time.monotonic()
        rate = (done - self._done) / max(now - self._last, 1e-6)
        self.chunk = max(1, min(_MOST_AT_ONCE, 2 * self.chunk, int(_AT_ONCE * rate)))
        if self._bar is not None:
            self._bar.update(done - self._done)
        self._last, self._done = now, done
        if self._first is None:  # the first steps may have waited for the compiler
            self._began, self._first = now, done
        elif self._tells and now >= self._told + _TELL_EVERY:
            self._told = now
            left = (now - self._began) * (self._total - done) / max(done - self._first, 1)
            print(f"signorini: step {done} of {self._total}, {_words(left)} left", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Finish the line."""
        if self._bar is not None:
            self._bar.close()


def _words(seconds: float) -> str:
    """Return a time as people say it."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


class _Keeper:
    """Writes the run to its checkpoint now and then, each step once."""

    def __init__(self, path: str | os.PathLike[str] | None, recorder: Recorder, every: float | None) -> None:
        self._file = None if path is None else GrowingTree(path)
        self._recorder, self._every = recorder, _CHECKPOINT_EVERY if every is None else every
        self._began = time.monotonic()
        self._next = self._began + min(_FIRST_CHECKPOINT, self._every)

    def tick(self) -> None:
        """Write if it is time to."""
        if self._file is not None and time.monotonic() >= self._next:
            self.write()

    def write(self) -> None:
        """Write now what is not on disk."""
        if self._file is None:
            return
        recorder = self._recorder
        new = recorder.unsaved()
        if new is None:
            self._file.write(recorder.trajectory().tree())
        elif new:
            self._file.add(new, recorder.standing())
        recorder.mark_saved()
        now = time.monotonic()
        past = now - self._began
        self._next = now + max(min(self._every, past), _CHECKPOINT_SHARE * past)
