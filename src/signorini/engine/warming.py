"""Compile on two cores: a first run spends its time in the compiler, which uses only one.

What every step needs is shared by this process and a second one, which then goes on by itself with what bodies need
once they rest. Runs wait for that only when they get there.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from pathlib import Path

from signorini._jit import announce_compilation, is_compiled
from signorini.engine.stages import needed_stages, robust_stages, stage_address, stage_kernel
from signorini.geometry.tables import Family

_HELPER = """
import sys
from signorini.engine.warming import compile_rest, compile_share
compile_share(sys.argv[1], int(sys.argv[2]), "joined" in sys.argv)
print("done", flush=True)
if "resting" in sys.argv:
    compile_rest(int(sys.argv[2]))
"""

_at_work: list[subprocess.Popen[bytes]] = []


def warm_up(family: Family, *, joined: bool, rests: bool) -> None:
    """Compile what a compiled run needs and this machine does not have yet, half of it in a second process.

    Without that process, wherever none can be made, all is compiled here when it is first called.
    """
    rests = rests and not _is_compiling_rest()
    needed, later = missing_stages(needed_stages(joined), family), missing_stages(robust_stages(), family)
    missing = len(needed) + (len(later) if rests else 0)
    if missing > 0:
        announce_compilation()
    if missing < 2:  # nothing to share
        return
    with tempfile.TemporaryDirectory(prefix="signorini-") as claims:
        try:
            helper = subprocess.Popen(
                [sys.executable, "-c", _HELPER, claims, str(int(family))] + ["joined"] * joined + ["resting"] * rests,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return
        _at_work.append(helper)
        compile_share(claims, int(family), joined)
        if needed and helper.stdout is not None:
            helper.stdout.readline()


def _is_compiling_rest() -> bool:
    """Tell whether a second process is compiling what islands need that rest, the same for all scenes."""
    return any("resting" in helper.args and helper.poll() is None for helper in _at_work)  # type: ignore[operator]


def finish_warming() -> None:
    """Wait until the second process has compiled all that it was asked for."""
    while _at_work:
        with _at_work.pop():
            pass


def missing_stages(stages: tuple[int, ...], family: Family) -> list[int]:
    """Return those stages of which there is no machine code."""
    return [k for k in stages if not is_compiled(stage_kernel(k, family))]


def compile_share(claims: str, family: int, joined: bool = False) -> None:
    """Compile what steps need, one stage after another, except those that the other process has claimed.

    A stage is claimed by making a file of its number in the folder `claims`.
    """
    collecting = gc.isenabled()
    gc.disable()  # what the compiler leaves behind is not worth a tenth of its time
    try:
        for k in missing_stages(needed_stages(joined), Family(family)):
            try:
                Path(claims, str(k)).touch(exist_ok=False)
            except FileExistsError:
                continue
            stage_address(k, Family(family))
    finally:
        if collecting:
            gc.enable()


def compile_rest(family: int) -> None:
    """Compile what islands need that rest."""
    for k in missing_stages(robust_stages(), Family(family)):
        stage_address(k, Family(family))
