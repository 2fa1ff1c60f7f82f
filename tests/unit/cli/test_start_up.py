"""``import signorini`` brings in no heavy package and compiles nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from signorini.cli import output

_SCRIPT = """
import sys

import pytest

from signorini.cli import output
import numba
from numba.core.event import register, RecordingListener
compiled = RecordingListener()
register("numba:compile", compiled)
before = set(sys.modules)  # Numba itself imports yaml where it is installed
import signorini
import signorini.cli
heavy = {"matplotlib", "h5py", "yaml", "scipy.optimize", "tqdm"}
print(sorted(heavy & (set(sys.modules) - before)), len(compiled.buffer))
"""


def test_import_is_light() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] 0"


def test_first_run_is_announced_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "is_cold", lambda: True)
    output.announce_compilation()
    captured = capsys.readouterr()
    assert "compiling" in captured.err
    assert captured.out == ""
