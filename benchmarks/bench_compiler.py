"""What each trick of the compiler saves of the cold start: CPU seconds to compile what steps of boxes need, without it.

::

    python -m benchmarks.bench_compiler [--stages POSE SOLVE ...] [--repeat 1] [--out benchmarks/results/compiler.csv]

Every figure is that of a process of its own with an empty ``NUMBA_CACHE_DIR``, which compiles one stage after another
without helpers; the smallest of the repeats counts. ``--stages`` names some of them instead of all.
A trick that saves less than a tenth is to go.
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
KEEP_METHOD = """
import signorini._compiler as c
enter, leave = c._Instead.__enter__, c._Instead.__exit__
c._Instead.__enter__ = lambda self: None if self._name == {0!r} else enter(self)
c._Instead.__exit__ = lambda self, *e: None if self._name == {0!r} else leave(self, *e)
"""
ALL_PASSES = """
import signorini._compiler as c
own = c._instead_of
c._instead_of = lambda made, state: made if own(made, state) is None else own(made, state)
"""
WITHOUT = {
    ALL: "",
    "types that are remembered": KEEP_METHOD.format("resolve_function_type"),
    "lowering that knows arrays": KEEP_METHOD.format("get_function"),
    "leaving out passes for closures and array expressions": ALL_PASSES,
    "leaving out counts of references": WITHOUT_OPTION.format("_nrt"),
    "parts without entry and machine code": WITHOUT_OPTION.format("no_cpython_wrapper"),
    "everything (plain njit)": "",
}
"""Programs that take one trick away before anything is compiled."""
COMPILE = """
import sys, time
import signorini
from signorini.engine import arrays as ea
from signorini.engine.stages import needed_stages, stage_address
from signorini.geometry.tables import Family
stages = [int(getattr(at, name)) for name in sys.argv[1:]] or list(needed_stages(False))
began = time.process_time()
for stage in stages:
    stage_address(stage, Family.POLYTOPES)
print(time.process_time() - began)
"""


def seconds(trick: str, stages: Sequence[str]) -> float:
    """Return CPU seconds of compilation without a trick."""
    with tempfile.TemporaryDirectory() as empty:
        plain = "1" if trick.startswith("everything") else "0"
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT[trick] + COMPILE, *stages],
            env={**os.environ, "NUMBA_CACHE_DIR": empty, "SIGNORINI_PLAIN_NJIT": plain},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", nargs="*", default=[])
    parser.add_argument("--tricks", nargs="*", default=list(WITHOUT), choices=list(WITHOUT))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    rows: list[tuple[str, str, str]] = []
    whole = 0.0
    for trick in dict.fromkeys((ALL, *given.tricks)):
        cost = min(seconds(trick, given.stages) for _ in range(given.repeat))
        whole = whole or cost
        rows.append((trick, f"{cost:.1f}", f"{1.0 - whole / cost:.0%}"))
        print(f"without {trick:<54}{cost:8.1f} s  saves {rows[-1][2]}" if trick != ALL else f"{ALL:<62}{cost:8.1f} s")
        sys.stdout.flush()
    if given.out:
        with given.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("without", "cpu seconds", "saved of that"), *rows])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
