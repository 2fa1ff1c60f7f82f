"""``signorini demo`` and ``signorini run``: simulate, certify, write."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from signorini._arrays import checked_number
from signorini._grades import Grade
from signorini.cli.output import DEFAULT, Output, announce_first_run, say, to_json
from signorini.errors import FileError, InputError, SolverFailure
from signorini.formulations import Formulation
from signorini.io import remove_tree
from signorini.scene import Scene, compile_scene, scene_to_text
from signorini.simulation import Certificate, Interrupted, Trajectory, formulation_from_dict, simulate
from signorini.simulation.simulate import go_on, is_finished

TRAJECTORY = "trajectory.h5"
CHECKPOINT = "checkpoint.h5"
"""The run until it ends; no file of an earlier run is touched before."""
_MOST_BY_STEP = 10_000  # steps that are written as text too
_MOST_OF_NAME = 100  # letters of a body's name in the name of its figure
_BODY_FIGURES = 2  # bodies with a figure of their own


PAGE = "motion.html"


def demo(out: Path | None, *, as_json: bool) -> int:
    """Simulate the built-in scene."""
    with ExitStack() as stack:
        path = stack.enter_context(resources.as_file(resources.files("signorini.cli") / "demo.yaml"))
        return run(path, out if out is not None else DEFAULT / "demo", as_json=as_json)


def run(
    path: Path,
    out: Path | None,
    *,
    h: float | None = None,
    duration: float | None = None,
    formulation: str | None = None,
    tolerance: float | None = None,
    record: Mapping[str, Any] | str | None = None,
    continued: bool = False,
    outside: bool = False,
    as_json: bool,
) -> int:
    """Simulate the scene in the file `path`; options that are None come from the file."""
    scene = Scene.load(path, outside=outside)
    output = Output(out if out is not None else DEFAULT / path.stem)
    begin = time.perf_counter()
    with _told_what_is_left(output):
        try:
            if continued:
                _refuse_options(h=h, duration=duration, formulation=formulation, tolerance=tolerance, record=record)
                trajectory = _continue(scene, path, output)
            else:
                trajectory = _simulate(scene, path, output, h, duration, formulation, tolerance, record)
        except (Interrupted, SolverFailure) as stop:
            _keep(stop, output, time.perf_counter() - begin, as_json=as_json)
            raise
    if output.path(CHECKPOINT).exists():
        output.path(CHECKPOINT).replace(output.path(TRAJECTORY))
    output.add(TRAJECTORY)
    _write_certificate(trajectory, output)
    _write_figures(trajectory, output)
    _tell(trajectory, output, time.perf_counter() - begin, as_json=as_json)
    return 1 if trajectory.verdict == Grade.NOT_TRUSTED else 0


def _simulate(
    scene: Scene,
    path: Path,
    output: Output,
    h: float | None,
    duration: float | None,
    formulation: str | None,
    tolerance: float | None,
    record: Any,
) -> Trajectory:
    options = scene.simulate
    numbers: dict[str, Any] = {
        "h": options.get("h") if h is None else h,
        "duration": options.get("duration") if duration is None else duration,
    }
    for word, value in numbers.items():
        if value is None:
            raise InputError(f"{path}: simulate: {word} is missing, give it there or with --{word}")
    chosen: Formulation | None = None
    if formulation is not None:
        chosen = formulation_from_dict(formulation.replace("-", "_"), "--formulation")
    elif "formulation" in options:
        chosen = formulation_from_dict(options["formulation"], str(path))
    _check_early(scene, **numbers)
    if output.path(CHECKPOINT).exists():
        say(f"{output.path(CHECKPOINT)}: a run that was stopped will be replaced; --resume would continue it")
    announce_first_run()
    return simulate(
        scene,
        **numbers,
        formulation=chosen,
        tolerance=options.get("tolerance") if tolerance is None else tolerance,
        record=options.get("record") if record is None else record,
        checkpoint=output.path(CHECKPOINT),
    )


def _continue(scene: Scene, path: Path, output: Output) -> Trajectory:
    found = next((output.path(name) for name in (CHECKPOINT, TRAJECTORY) if output.path(name).exists()), None)
    if found is None:
        raise InputError(f"{output.path(TRAJECTORY)}: there is nothing to resume; run without --resume first")
    past = Trajectory.load(found)
    if past.settings.get("scene") != scene_to_text(scene):
        raise InputError(f"{found}: belongs to another scene than {path}")
    if is_finished(past, found):
        say(f"{found}: is a finished run of {past.step_count} steps, nothing is left to compute")
        return past
    announce_first_run()
    return go_on(past, output.path(CHECKPOINT))


def _check_early(scene: Scene, h: float, duration: float) -> None:
    """Complain now of what the simulation would complain of after its kernels are compiled."""
    checked_number(h, "h", above=0.0)
    checked_number(duration, "duration", least=0.0)
    compile_scene(scene)


def _refuse_options(**options: object) -> None:
    for word, value in options.items():
        if value is not None:
            raise InputError(f"--{word} is {value!r}, must not be given with --resume: the run goes on as it began")


def _keep(stop: Interrupted | SolverFailure, output: Output, seconds: float, *, as_json: bool) -> None:
    """Put on disk what was computed before a run stopped, and say where it is."""
    trajectory = stop.trajectory
    if not isinstance(trajectory, Trajectory):
        return
    trajectory.save(output.path(TRAJECTORY))
    remove_tree(output.path(CHECKPOINT))
    output.add(TRAJECTORY)
    _write_certificate(trajectory, output)
    where = f"{trajectory.step_count} steps are in {output.directory}"
    if isinstance(stop, SolverFailure):
        save = getattr(stop.problem, "save", None)
        if save is not None:
            save(output.path("failed_problem.npz"))
            output.add("failed_problem.npz")
        stop.args = (f"{stop}; {where}",)
    else:
        stop.args = (f"{stop}; {where}, continue with --resume",)
    if as_json:
        print(to_json(_summary(trajectory, output, seconds)))


@contextmanager
def _told_what_is_left(output: Output) -> Iterator[None]:
    """Say, where the run cannot be written, what is on disk nevertheless."""
    try:
        yield
    except FileError as error:
        if "cannot write" in str(error) and output.path(CHECKPOINT).exists():
            error.args = (f"{error}; earlier steps are in {output.path(CHECKPOINT)}, continue with --resume",)
        raise


def _write_certificate(trajectory: Trajectory, output: Output) -> None:
    output.write_text("certificate.txt", trajectory.report() + "\n")
    document = {
        "steps": trajectory.step_count,
        "tolerance": trajectory.settings.get("tolerance"),
        "verdict": trajectory.verdict,
        "remarks": trajectory.remarks(),
        **_worst(trajectory.certificate),
        "by_step": trajectory.certificate.to_dict() if trajectory.step_count <= _MOST_BY_STEP else TRAJECTORY,
    }
    output.write_text("certificate.json", to_json(document) + "\n")


def _write_figures(trajectory: Trajectory, output: Output) -> None:
    output.write_figure("run.png", trajectory.plot())
    for name in trajectory.recorded[trajectory.fixed_count :][:_BODY_FIGURES]:
        safe = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:_MOST_OF_NAME]
        output.write_figure(f"body_{safe}.png", trajectory.plot(name))
    output.write_figure("picture.png", trajectory.picture())
    if find_spec("viser") is None:
        say("no page that plays the motion: it needs the extra 'view', pip install 'signorini[view]'")
    elif trajectory.step_count:
        trajectory.animate(output.path(PAGE))
        output.add(PAGE)


def _tell(trajectory: Trajectory, output: Output, seconds: float, *, as_json: bool) -> None:
    if as_json:
        print(to_json(_summary(trajectory, output, seconds)))
        return
    moving = trajectory.end()[0].v[trajectory.fixed_count :]
    fastest = float(np.linalg.norm(moving[:, :3], axis=1).max(initial=0.0))
    print(trajectory.report())
    print(f"{trajectory.step_count} steps in {seconds:.1f} s; at the end the fastest body moves at {fastest:.1e} m/s")
    print("written:")
    for file in output.files:
        print(f"  {file}")


def _summary(trajectory: Trajectory, output: Output, seconds: float) -> dict[str, object]:
    return {
        "steps": trajectory.step_count,
        "seconds": seconds,
        "verdict": trajectory.verdict,
        "remarks": trajectory.remarks(),
        "certificate": _worst(trajectory.certificate),
        "files": output.files,
    }


def _worst(certificate: Certificate) -> dict[str, float | int]:
    return {
        "worst_residual": float(certificate.residual.max(initial=0.0)),
        "min_gap": float(certificate.min_gap.min(initial=np.inf)),
        "energy_error": float(certificate.energy_error.max(initial=0.0)),
        "failed_steps": int(certificate.failed().sum()),
    }
