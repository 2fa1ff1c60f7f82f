"""``signorini reproduce``: the papers' examples, expected against obtained."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from signorini.cli.output import DEFAULT, Output, announce_first_run, to_json
from signorini.reproduce import EXAMPLES, Example, Reproduction, choose

_MOST_LINES = 12  # of passed checks shown for one example; failed ones are always shown


def reproduce(names: Sequence[str], out: Path | None, *, only_list: bool, as_json: bool) -> int:
    """Run the examples, print expected against obtained, write the figures."""
    if only_list:
        _print_list(as_json=as_json)
        return 0
    chosen = choose(names)
    outputs = [Output((out if out is not None else DEFAULT) / example.name) for example in chosen]
    announce_first_run()
    documents = []
    for example, output in zip(chosen, outputs, strict=True):
        _say(f"{example.name}: {example.title} ...")
        begin = time.perf_counter()
        outcome = example.run()
        seconds = time.perf_counter() - begin
        for name, figure in outcome.figures.items():
            output.write_figure(f"{name}.png", figure)
        document = _document(example, outcome, seconds, output.files)
        output.write_text("reproduction.json", to_json(document) + "\n")
        documents.append(document)
        if not as_json:
            _print_outcome(example, outcome, seconds, output)
    if as_json:
        print(to_json(documents))
    return 0 if all(document["passed"] for document in documents) else 1


def _document(example: Example, outcome: Reproduction, seconds: float, figures: list[str]) -> dict[str, Any]:
    return {
        "name": example.name,
        "seed": example.seed,
        "passed": outcome.passed,
        "seconds": seconds,
        "checks": [check.to_dict() for check in outcome.checks],
        "data": outcome.data,
        "figures": list(figures),
    }


def _print_list(*, as_json: bool) -> None:
    if as_json:
        print(to_json([{"name": e.name, "seed": e.seed, "title": e.title} for e in EXAMPLES]))
        return
    for example in EXAMPLES:
        print(f"{example.name:<12}{example.seed}  {example.title}")


def _print_outcome(example: Example, outcome: Reproduction, seconds: float, output: Output) -> None:
    failed = [check for check in outcome.checks if not check.passed]
    passed = [check for check in outcome.checks if check.passed]
    shown = failed + passed[:_MOST_LINES]
    print(f"{example.name} ({example.seed}): {example.title}")
    print(f"  {'check':<58}{'expected':>18}{'obtained':>22}{'tolerance':>11}")
    for check in shown:
        mark = " " if check.passed else "  MISSED"
        print(f"  {check.what:<58}{check.expected:>18.10g}{check.obtained:>22.14g}{check.tolerance:>11.1e}{mark}")
    if len(shown) < len(outcome.checks):
        print(f"  ... and {len(outcome.checks) - len(shown)} more that passed, see {output.path('reproduction.json')}")
    verdict = "all as printed" if not failed else f"{len(failed)} MISSED"
    print(f"  {len(outcome.checks)} checks, {verdict}, {seconds:.1f} s")
    for file in output.files:
        print(f"  {file}")


def _say(message: str) -> None:
    """Tell at a terminal what is going on."""
    if sys.stderr.isatty():
        print(message, file=sys.stderr, flush=True)
