"""Constants that are nobody's option: a table of them, read from the files in which they stand.

A file of constants has one line ``NAME: Final = value`` for each, and under it what it is: ``Law`` if another value
asks for another motion, ``Effort`` if only for other work, by which results change within what the tolerance leaves
open; then its unit, the reason for it, and after ``Found:`` how its value was found.
"""

from __future__ import annotations

import ast
import inspect
import re
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple

_ENTRY = re.compile(r"(Law|Effort) \[(.+?)\]\. (.+) Found: (.+)")


class Constant(NamedTuple):
    """One constant, and what is known of it."""

    name: str
    value: float
    is_law: bool
    """Whether another value asks for another motion."""
    unit: str
    reason: str
    found: str
    """How the value was found."""


def read(module: ModuleType) -> tuple[Constant, ...]:
    """Return the constants of a file of them, in their order; the rest of the file is passed over."""
    body, found = ast.parse(inspect.getsource(module)).body, []
    for line, text in pairwise(body):
        match line, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                entry = _ENTRY.fullmatch(" ".join(words.split()))
                if entry is None:
                    raise ValueError(f"{module.__name__}.{name}: not described as 'Law [unit]. Reason. Found: ...'")
                kind, unit, reason, how = entry.groups()
                found.append(Constant(name, getattr(module, name), kind == "Law", unit, reason, how))
    return tuple(found)
