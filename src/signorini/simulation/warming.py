"""Compile on two cores: a first run spends its time in the compiler, which uses only one."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from signorini._jit import is_cold
from signorini.formulations import Engine
from signorini.formulations.step_stages import NEEDED, stage_address
from signorini.geometry.tables import Family

_warmed: set[Family] = set()  # in this process
_HELPER = """
import sys
from signorini.simulation.warming import compile_share
compile_share(sys.argv[1], int(sys.argv[2]))
"""


def warm_up(engine: Engine) -> None:
    """Compile what a compiled run needs, if this machine never did, half of it in a second process.

    Without that process, wherever none can be made, all is compiled here when it is first called.
    """
    if not is_cold() or engine.family is None or engine.family in _warmed:
        return
    _warmed.add(engine.family)
    with tempfile.TemporaryDirectory(prefix="signorini-") as claims:
        try:
            helper = subprocess.Popen(
                [sys.executable, "-c", _HELPER, claims, str(int(engine.family))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return
        with helper:
            compile_share(claims, int(engine.family))


def compile_share(claims: str, family: int) -> None:
    """Compile the stages for scenes of a family one after another, except those that the other process has claimed.

    A stage is claimed by making a file of its number in the folder `claims`.
    """
    for k in NEEDED:
        try:
            Path(claims, str(k)).touch(exist_ok=False)
        except FileExistsError:
            continue
        stage_address(k, Family(family))
