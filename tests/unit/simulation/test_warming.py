"""The first run compiles on two cores."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

import signorini as sg
from signorini.simulation import warming
from tests.scenes import stack


def test_nothing_is_compiled_ahead_where_kernels_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("started a process")

    monkeypatch.setattr(warming, "is_cold", lambda: False)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    sg.Simulator(stack(2), h=0.01)


def test_half_is_compiled_in_a_second_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "is_cold", lambda: True)
    monkeypatch.setattr(warming, "_warmed", set())
    codes: list[int | None] = []
    popen = subprocess.Popen

    class Watched(popen):  # type: ignore[misc, valid-type]
        def wait(self, timeout: float | None = None) -> int:
            code: int = super().wait(timeout)
            codes.append(code)
            return code

    monkeypatch.setattr(subprocess, "Popen", Watched)
    for _ in range(2):
        sg.Simulator(stack(2), h=0.01)
    assert codes == [0]  # once is enough


def test_without_a_second_process_all_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no process can be made")

    monkeypatch.setattr(warming, "is_cold", lambda: True)
    monkeypatch.setattr(warming, "_warmed", set())
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert sg.Simulator(stack(2), h=0.01).run(1) == 0
