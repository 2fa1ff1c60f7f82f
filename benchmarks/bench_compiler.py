"""What each trick of the compiler saves: CPU seconds until what steps of boxes need is ready, without it.

::

    python -m benchmarks.bench_compiler [--stages POSE SOLVE ...] [--repeat 1] [--out benchmarks/results/compiler.csv]

A cold start is that of a process of its own with an empty ``NUMBA_CACHE_DIR``, which compiles one stage after another
without helpers; a second start reads what the first one wrote. The smallest of the repeats counts. ``--stages`` names
some of the stages instead of all. A trick that saves less than a tenth is to go.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ALL = "all tricks"
WITHOUT_OPTION = """
import numba
njit = numba.njit
numba.njit = lambda *function, **options: njit(*function, **{{k: v for k, v in options.items() if k != {0!r}}})
"""
NUMBAS_INFERENCE = """
import signorini._compiler as c
del c._INSTEAD_OF[c.NopythonTypeInference]
"""
NUMBAS_READING = """
import signorini._kernel_cache as k
del k._Disk.load_overload
"""
COLD = {
    ALL: "",
    "types that are remembered": NUMBAS_INFERENCE,
    "leaving out counts of references": WITHOUT_OPTION.format("_nrt"),
    "inner kernels without entry and machine code": WITHOUT_OPTION.format("no_cpython_wrapper"),
    "everything (plain njit)": "",
}
"""Programs that take one trick away before anything is compiled."""
SECOND = {
    ALL: "",
    "reading before Numba learns what it can compile": NUMBAS_READING,
    "machine code on disk": "",
}
"""The same, before anything is read."""
COMPILE = """
import sys, time
import signorini
from signorini.engine import arrays as ea
from signorini.engine.stages import needed_stages, stage_address
from signorini.geometry.tables import Family
stages = [int(getattr(ea, name)) for name in sys.argv[1:]] or list(needed_stages(False))
began = time.process_time()
for stage in stages:
    stage_address(stage, Family.POLYTOPES)
print(time.process_time() - began)
"""


def seconds(program: str, stages: Sequence[str], folder: str, *, plain: bool = False) -> float:
    """Return the CPU seconds that a process takes which keeps its machine code in this folder."""
    done = subprocess.run(
        [sys.executable, "-c", program + COMPILE, *stages],
        env={**os.environ, "NUMBA_CACHE_DIR": folder, "SIGNORINI_PLAIN_NJIT": "1" if plain else "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def cold_start(trick: str, stages: Sequence[str]) -> float:
    """Return CPU seconds of compilation without a trick."""
    with tempfile.TemporaryDirectory() as empty:
        return seconds(COLD[trick], stages, empty, plain=trick.startswith("everything"))


def second_start(trick: str, stages: Sequence[str]) -> float:
    """Return CPU seconds of reading without a trick, after the first process has compiled."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty:
        seconds("", stages, folder)
        return seconds(SECOND[trick], stages, empty if trick == "machine code on disk" else folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", nargs="*", default=[])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    rows: list[tuple[str, str, str, str]] = []
    for name, start, tricks in (("cold", cold_start, COLD), ("second", second_start, SECOND)):
        whole = 0.0
        for trick in tricks:
            cost = min(start(trick, given.stages) for _ in range(given.repeat))
            whole = whole or cost
            rows.append((name, trick, f"{cost:.2f}", f"{1.0 - whole / cost:.0%}"))
            without = trick if trick == ALL else f"without {trick}"
            print(f"{name:<8}{without:<58}{cost:8.2f} s  {'' if trick == ALL else f'saves {rows[-1][3]}'}", flush=True)
    if given.out:
        with given.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("start", "without", "cpu seconds", "saved of that"), *rows])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
