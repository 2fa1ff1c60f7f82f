"""``import signorini`` brings in no heavy package and compiles nothing."""

from __future__ import annotations

import subprocess
import sys

_SCRIPT = """
import sys
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
