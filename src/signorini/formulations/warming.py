"""Compile on two cores: a first run spends its time in the compiler, which uses only one."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from pathlib import Path

from signorini._jit import announce_compilation, is_compiled
from signorini.formulations.step_stages import needed_stages, robust_stages, stage_address, stage_kernel
from signorini.geometry.tables import Family

_HELPER = """
import sys
from signorini.formulations.warming import compile_share
compile_share(sys.argv[1], int(sys.argv[2]), *(word in sys.argv[3:] for word in ("joined", "resting")))
"""


def warm_up(family: Family, *, joined: bool, rests: bool) -> None:
    """Compile what a compiled run needs and this machine does not have yet, half of it in a second process.

    Without that process, wherever none can be made, all is compiled here when it is first called.
    """
    missing = missing_stages(family, joined, rests)
    if missing:
        announce_compilation()
    if len(missing) < 2:  # nothing to share
        return
    with tempfile.TemporaryDirectory(prefix="signorini-") as claims:
        try:
            helper = subprocess.Popen(
                [sys.executable, "-c", _HELPER, claims, str(int(family))] + ["joined"] * joined + ["resting"] * rests,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return
        with helper:
            compile_share(claims, int(family), joined, rests)


def missing_stages(family: Family, joined: bool = False, rests: bool = False) -> list[int]:
    """Return the stages of which there is no machine code, for scenes with joints and resting bodies, or without."""
    stages = (*needed_stages(joined), *(robust_stages() if rests else ()))
    return [k for k in stages if not is_compiled(stage_kernel(k, family))]


def compile_share(claims: str, family: int, joined: bool = False, rests: bool = False) -> None:
    """Compile the stages for scenes of a family one after another, except those that the other process has claimed.

    A stage is claimed by making a file of its number in the folder `claims`.
    """
    collecting = gc.isenabled()
    gc.disable()  # what the compiler leaves behind is not worth a tenth of its time
    try:
        for k in missing_stages(Family(family), joined, rests):
            try:
                Path(claims, str(k)).touch(exist_ok=False)
            except FileExistsError:
                continue
            stage_address(k, Family(family))
    finally:
        if collecting:
            gc.enable()
