"""Reading problem files: what a file holds is found from its content, not from its name."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from signorini.errors import FileError, InputError
from signorini.io import MOST_LETTERS, clipped, short
from signorini.problems.lcp import LCP
from signorini.problems.mlcp import MixedLCP
from signorini.problems.npz import read_npz
from signorini.problems.problem import Problem

_ZIP = b"PK\x03\x04"
_npz_readers: dict[str, Callable[[dict[str, Any]], Problem]] = {"lcp": LCP.from_fields, "mlcp": MixedLCP.from_fields}
_format_readers: dict[bytes, Callable[[Path], Problem]] = {}


def register_npz_kind(kind: str, read: Callable[[dict[str, Any]], Problem]) -> None:
    """Make ``.npz`` files whose field ``kind`` is `kind` readable; `read` takes all fields."""
    _npz_readers[kind] = read


def register_format(first_bytes: bytes, read: Callable[[Path], Problem]) -> None:
    """Make files that begin with `first_bytes` readable; `read` takes the path."""
    _format_readers[first_bytes] = read


def load_problem(path: str | PathLike[str]) -> Problem:
    """Read a problem from a file of any known format.

    ``.npz`` files hold a field ``kind``; without it ``M, q`` are an LCP, ``n_free, M, q`` a mixed LCP and ``G, g, mus``
    a friction problem whose contacts have the normal component last.

    Raises
    ------
    FileError
        If the file cannot be read or its content is unknown or incomplete.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise FileError(f"{path}: cannot read: {error.strerror or error}") from error
    try:
        if start.startswith(_ZIP):
            return _problem_from_fields(read_npz(path))
        for first_bytes, read in _format_readers.items():
            if start.startswith(first_bytes):
                return read(path)
    except FileError:
        raise
    except InputError as error:
        raise FileError(f"{path}: {clipped(str(error), MOST_LETTERS - min(len(str(path)), 100))}") from error
    raise FileError(f"{path}: begins with {start[:8]!r}, must be an .npz or FCLIB file")


def _problem_from_fields(fields: dict[str, Any]) -> Problem:
    """Choose the reader by ``kind``, or by the fields where the file does not say."""
    if "kind" in fields:
        kind = str(fields["kind"])
    elif "n_free" in fields:
        kind = "mlcp"
    elif "q" in fields and ("M" in fields or "M_data" in fields):
        kind = "lcp"
    elif "G" in fields and "g" in fields:
        kind = "normal last"
    else:
        raise InputError(
            f"problem file: fields are {short(sorted(fields))}, need 'kind', 'M' and 'q', or 'G', 'g' and 'mus'"
        )
    if kind not in _npz_readers:
        raise InputError(f"problem file: kind is {short(kind)}, must be one of {sorted(_npz_readers)}")
    return _npz_readers[kind](fields)
