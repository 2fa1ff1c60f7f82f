"""What steps need is compiled before several workers begin, each kernel once: they would all compile it at once.

The file is also the program that does it: two processes share the kernels.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from pathlib import Path

from signorini.engine import arrays as ea
from signorini.engine.stages import needed_stages, robust_stages, stage_address
from signorini.engine.warming import missing_stages
from signorini.geometry.tables import Family


def _missing() -> list[tuple[int, Family]]:
    """Return what there is no machine code of: detection for every family of shapes, and what all families share."""
    stages = [k for k in dict.fromkeys((*needed_stages(True), *needed_stages(False))) if k != ea.FIND]
    others = [(k, Family.SIMPLE) for k in missing_stages((*stages, *robust_stages()), Family.SIMPLE)]
    return [(k, family) for family in reversed(Family) for k in missing_stages((ea.FIND,), family)] + others


def compile_ahead() -> None:
    """Compile on two cores what is missing."""
    if _missing():
        with tempfile.TemporaryDirectory() as claims:
            run = [sys.executable, "-m", "tests.compile_ahead", claims]
            processes = [subprocess.Popen(run, cwd=Path(__file__).parents[1]) for _ in range(2)]
            for process in processes:
                process.wait()


def _compile_share(claims: Path) -> None:
    """Compile what the other process has not claimed, by making a file of its name."""
    gc.disable()
    for k, family in _missing():
        try:
            (claims / f"{k}-{family}").touch(exist_ok=False)
        except FileExistsError:
            continue
        stage_address(k, family)


if __name__ == "__main__":
    _compile_share(Path(sys.argv[1]))
