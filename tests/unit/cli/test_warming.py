"""The first run compiles on two cores, and says so."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from signorini.cli import output, warming


def test_warm_up_does_nothing_where_kernels_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("started a process")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    warming.warm_up()


def test_warm_up_compiles_solvers_in_a_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "is_cold", lambda: True)
    codes: list[int | None] = []
    popen = subprocess.Popen

    class Watched(popen):  # type: ignore[misc, valid-type]
        def wait(self, timeout: float | None = None) -> int:
            code: int = super().wait(timeout)
            codes.append(code)
            return code

    monkeypatch.setattr(subprocess, "Popen", Watched)
    warming.warm_up()
    assert codes[-1] == 0


def test_first_run_is_announced_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "is_cold", lambda: True)
    output.announce_compilation()
    captured = capsys.readouterr()
    assert "compiling" in captured.err
    assert captured.out == ""
