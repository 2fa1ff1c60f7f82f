"""``import signorini`` brings in no heavy package and compiles nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from signorini._jit import announce_compilation
from signorini.cli import output

_SCRIPT = """
import sys
import numba
from numba.core.event import register, RecordingListener
compiled = RecordingListener()
register("numba:compile", compiled)
before = set(sys.modules)  # Numba itself imports yaml where it is installed
import signorini
import signorini.cli
heavy = {"matplotlib", "h5py", "yaml", "scipy.linalg", "scipy.sparse", "scipy.optimize", "tqdm"}
print(sorted(heavy & (set(sys.modules) - before)), len(compiled.buffer))
"""


def test_import_is_light() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] 0"


@pytest.mark.parametrize("cold", [True, False])
def test_a_first_run_is_announced_once_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cold: bool
) -> None:
    monkeypatch.setattr(output, "is_cold", lambda: cold)
    announce_compilation.cache_clear()
    for _ in range(2):
        output.announce_first_run()
    captured = capsys.readouterr()
    assert captured.err.count("compiling") == cold
    assert captured.out == ""
