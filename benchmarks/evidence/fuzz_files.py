"""Damaged and mean files through the doors of the library.

Run as ``python -m benchmarks.evidence.fuzz_files [KIND ...] [--count 20000] [--seed 0]``. Each mutant of
``mutants.py`` is read by the function that users call and, if taken, used. Either it is refused, by an
:class:`~signorini.InputError` of one line, at most 300 characters, in 5 s and 1 GB, or it is taken; of a checkpoint
that is taken the run must end with the bits of an undamaged one, and what is repaired must be its beginning. Workers
are processes, so that crashes are counted too.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.evidence.mutants import KINDS, Originals, mutant

import signorini as sg
from signorini.audit import audit_file
from signorini.simulation.choose import formulation_from_dict

RESULT = Path(__file__).parents[1] / "results" / "fuzz_files.csv"
FINE = ("taken", "refused", "not solved")
LONGEST, SLOWEST, MOST = 300, 5.0, 1 << 30  # letters, seconds and bytes of a refusal
PATIENCE = 60.0  # seconds of CPU time for a mutant that is taken
_STEPS = 3


class Slow(BaseException):
    """A mutant takes too long."""


def _scene(path: Path) -> None:
    scene = sg.Scene.load(path)
    options = scene.simulate
    word = options.get("formulation")
    formulation = None if word is None else formulation_from_dict(word, str(path))
    simulator = sg.Simulator(
        scene, h=options.get("h", 0.01), formulation=formulation, tolerance=options.get("tolerance")
    )
    for _ in range(_STEPS):
        simulator.step()


def _trajectory(path: Path) -> None:
    trajectory = sg.Trajectory.load(path)
    trajectory.report()
    trajectory.energy()
    for step in range(trajectory.contact_log.start.size - 1):
        trajectory.contacts(step)
    for name in trajectory.names[:3]:
        trajectory.position(name)
    audit_file(path)


def _checkpoint(path: Path) -> tuple[Any, ...]:
    end = sg.resume(path, progress=False)
    return end.names, end.q.tobytes(), end.v.tobytes(), end.contact_log.impulse.tobytes()


def _repaired(path: Path) -> tuple[Any, ...]:
    past = sg.Trajectory.load(path, repair=True)
    past.report()
    return past.names, past.q.tobytes(), past.v.tobytes(), past.contact_log.impulse.tobytes()


def is_true(kind: str, found: Any, truths: set[Any]) -> bool:
    """Tell whether a run that is taken is that of the original, if it was repaired its beginning."""
    if kind == "repair":
        begins = (zip(found[1:], truth[1:], strict=True) for truth in truths if found[0] == truth[0])
        return any(all(b.startswith(a) for a, b in pairs) for pairs in begins)
    return kind != "checkpoint" or found in truths


def _problem(path: Path) -> None:
    problem = sg.load_problem(path)
    sg.solve(problem, max_iterations=20, time_limit=2.0)


def _mesh(path: Path) -> None:
    scene = sg.Scene()
    scene.add_body(sg.Mesh(path), density=1.0, position=(0, 0, 0))
    sg.Simulator(scene, h=0.01)


DOORS: dict[str, Callable[[Path], Any]] = {
    "scene": _scene,
    "trajectory": _trajectory,
    "older": _trajectory,
    "checkpoint": _checkpoint,
    "repair": _repaired,
    "npz": _problem,
    "fclib": _problem,
    "mesh": _mesh,
}


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise :class:`Slow` after so many seconds of CPU time."""

    def stop(*_: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def judge(kind: str, path: Path, truths: set[Any]) -> tuple[str, str]:
    """Return what became of a mutant, one of :data:`FINE` or what is wrong, and details."""
    began = time.process_time()
    outcome, detail = "taken", ""
    try:
        with limited(PATIENCE), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = DOORS[kind](path)
        if not is_true(kind, found, truths):
            outcome, detail = "silent change", ""
    except sg.SolverFailure as error:
        outcome, detail = "not solved", str(error)
    except sg.InputError as error:
        outcome, detail = _refusal(str(error), path), str(error)
    except Slow:
        return "hang", "".join(traceback.format_exc()[-1500:])
    except BaseException as error:
        return "traceback", f"{type(error).__name__}: {str(error)[:150]} | {_where(error)}"
    if outcome == "refused" and time.process_time() - began > SLOWEST:
        outcome = "slow refusal"
    return outcome, detail


def _refusal(message: str, path: Path) -> str:
    message = message.replace(str(path.parent), "")
    return "long refusal" if len(message) > LONGEST or "\n" in message else "refused"


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "signorini" in frame.filename and "benchmarks" not in frame.filename]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed((own or frames)[-3:]))


def _work(kind: str, seeds: range, originals: Originals, truths: set[Any], pipe: Any) -> None:
    """Judge mutants in a process of their own, with at most a gigabyte more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST + (MOST >> 1)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name:
        for seed in seeds:
            folder = Path(name) / str(seed)
            folder.mkdir()
            path = mutant(kind, seed, originals, folder)
            pipe.send((seed, *judge(kind, path, truths)))
            for left in folder.iterdir():
                left.unlink()
            folder.rmdir()
    pipe.send(None)


def fuzz(kind: str, seeds: range, originals: Originals) -> Iterator[tuple[int, str, str]]:
    """Yield seed, outcome and details of every mutant."""
    door = DOORS[kind]
    truths = {door(path) for path in originals.runs} if kind in ("checkpoint", "repair") else set()
    context = multiprocessing.get_context("fork")
    first = seeds.start
    while first < seeds.stop:
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(kind, range(first, seeds.stop), originals, truths, there))
        worker.start()
        there.close()
        while True:
            try:
                told = here.recv() if here.poll(3.0 * PATIENCE) else "hang"
            except EOFError:
                told = "crash"
            if told is None:
                first = seeds.stop
                break
            if isinstance(told, str):
                worker.kill()
                worker.join()
                yield first, told, f"exit code {worker.exitcode}"
                first += 1
                break
            yield told
            first = told[0] + 1
        worker.join()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"add the table to {RESULT.name}")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        originals = Originals(Path(name) / "originals")
        for path in originals.scenes:  # compiles what the mutants need
            _scene(path)
        for kind in arguments.kinds:
            began, counts = time.monotonic(), Counter[str]()
            for seed, outcome, detail in fuzz(kind, range(arguments.seed, arguments.seed + arguments.count), originals):
                counts[outcome] += 1
                if outcome not in FINE:
                    wrong += 1
                    print(f"{kind} {seed}: {outcome}: {detail[:400]}", flush=True)
            print(f"{kind}: {dict(counts)} in {time.monotonic() - began:.0f} s", flush=True)
            if arguments.write:
                _write(kind, arguments.seed, arguments.count, counts)
    return int(wrong > 0)


def _write(kind: str, seed: int, count: int, counts: Counter[str]) -> None:
    is_new = not RESULT.exists()
    with RESULT.open("a", newline="") as file:
        table = csv.writer(file)
        if is_new:
            table.writerow(["kind", "first seed", "mutants", *FINE, "wrong"])
        wrong = sum(n for outcome, n in counts.items() if outcome not in FINE)
        table.writerow([kind, seed, count, *(counts[word] for word in FINE), wrong])


if __name__ == "__main__":
    sys.exit(main())
