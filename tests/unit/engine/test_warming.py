"""The first run compiles on two cores, says so, and does so once."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import signorini as sg
from signorini._jit import announce_compilation
from signorini.engine import arrays as ea
from signorini.engine import warming
from signorini.engine.stages import needed_stages, robust_stages, stage_kernel
from signorini.geometry.tables import Family
from tests.scenes import stack


@pytest.fixture(autouse=True)
def _nothing_said_yet() -> None:
    announce_compilation.cache_clear()


def _refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("started a process")


def test_where_kernels_exist_nothing_is_compiled_ahead_or_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warming, "is_compiled", lambda _: True)
    monkeypatch.setattr(subprocess, "Popen", _refuse)
    sg.Simulator(stack(2), h=0.01)
    assert capsys.readouterr().err == ""


def test_half_is_compiled_in_a_second_process_and_the_user_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warming, "is_compiled", lambda _: False)
    codes: list[int | None] = []
    popen = subprocess.Popen

    class Watched(popen):  # type: ignore[misc, valid-type]
        def wait(self, timeout: float | None = None) -> int:
            code: int = super().wait(timeout)
            codes.append(code)
            return code

    monkeypatch.setattr(subprocess, "Popen", Watched)
    sg.Simulator(stack(2), h=0.01)
    warming.finish_warming()
    assert codes == [0]
    assert capsys.readouterr().err.count("compiling") == 1


def test_one_kernel_alone_is_compiled_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    find = stage_kernel(ea.FIND, Family.POLYTOPES)
    monkeypatch.setattr(warming, "is_compiled", lambda kernel: kernel is not find)
    monkeypatch.setattr(subprocess, "Popen", _refuse)
    sg.Simulator(stack(2), h=0.01)
    assert capsys.readouterr().err.count("compiling") == 1


def test_without_a_second_process_all_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no process can be made")

    monkeypatch.setattr(warming, "is_compiled", lambda _: False)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert sg.Simulator(stack(2), h=0.01).run(1) == 0


def test_a_stage_that_is_claimed_is_left_to_the_other_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiled: list[int] = []
    monkeypatch.setattr(warming, "is_compiled", lambda _: False)
    monkeypatch.setattr(warming, "stage_address", lambda k, _: compiled.append(k))
    (tmp_path / str(ea.POSE)).touch()
    for _ in range(2):
        warming.compile_share(str(tmp_path), Family.SIMPLE)
    assert sorted(compiled) == sorted(set(needed_stages(joined=False)) - {ea.POSE})


class _Process:
    """A second process that has done its share at once."""

    def __init__(self, words: list[str], **_: Any) -> None:
        self.args, self.stdout, self.waited_for = words, io.BytesIO(b"done\n"), False

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.waited_for = True

    def poll(self) -> None:
        """It has not ended."""


def test_steps_begin_while_the_second_process_compiles_what_rest_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[_Process] = []

    def popen(words: list[str], **more: Any) -> _Process:
        made.append(_Process(words, **more))
        return made[-1]

    monkeypatch.setattr(warming, "is_compiled", lambda _: False)
    monkeypatch.setattr(subprocess, "Popen", popen)
    sg.Simulator(stack(2), h=0.01)
    (helper,) = made
    assert "resting" in helper.args
    assert not helper.waited_for
    sg.Simulator(stack(3), h=0.01)
    assert ["resting" in other.args for other in made] == [True, False]  # which is compiled once
    warming.finish_warming()
    assert all(other.waited_for for other in made)


def test_what_rest_needs_is_all_that_the_robust_solver_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[int] = []
    monkeypatch.setattr(warming, "is_compiled", lambda _: False)
    monkeypatch.setattr(warming, "stage_address", lambda k, _: compiled.append(k))
    warming.compile_rest(int(Family.SIMPLE))
    assert compiled == list(robust_stages())


@pytest.mark.compiled_only
def test_importing_the_library_compiles_nothing_so_that_the_first_run_is_still_announced(tmp_path: Path) -> None:
    script = (
        "import signorini; from signorini._jit import is_cold;"
        "from signorini.engine.stages import needed_stages;"
        "from signorini.engine.warming import missing_stages;"
        "from signorini.geometry.tables import Family;"
        "print(is_cold(), len(missing_stages(needed_stages(False), Family.SIMPLE)) > 1)"
    )
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["True", "True"]
