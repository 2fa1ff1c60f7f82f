"""What files may hold at most: generous, and told in the error of whatever goes beyond.

Readers ask here before they allocate anything or hand anything to a library in C.
"""

from __future__ import annotations

from typing import Any

from signorini.errors import FileError

MOST_LETTERS = 300
"""Of a refusal."""
MOST_NAME = 200
"""Letters of a name of a body, joint or file."""
MOST_NESTING = 64
"""Lists and mappings inside each other, and groups of HDF5."""
MOST_ENTRIES = 100_000
"""Groups and arrays of an HDF5 file, fields of an ``.npz`` file."""
MOST_TEXT = 256 << 20
"""Bytes of a scene file."""
MOST_SHRUNK = 1100
"""By which compression makes numbers smaller: deflate reaches 1032."""
_SMALL = 1 << 16  # bytes that nobody needs to account for


def clipped(message: str, most: int = MOST_LETTERS) -> str:
    """Return a message as one line of at most so many letters; what is too much goes from its middle."""
    line = " ".join(str(message).split())
    if len(line) <= most:
        return line
    head = most * 3 // 5
    return f"{line[:head]} ... {line[len(line) - (most - head - 5) :]}"


def short(value: Any, most: int = 60) -> str:
    """Return a value for a message of one line."""
    if isinstance(value, list | tuple | dict) and len(value) > most:
        return f"a {type(value).__name__} of {len(value)} entries"
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        return f"a {type(value).__name__} that is nested too deep"
    return text if len(text) <= most else text[: most - 3] + "..."


def check_claim(claimed: int, stored: int, what: str) -> None:
    """Raise `FileError` if a file claims so many bytes for something that takes so few in it."""
    if claimed > MOST_SHRUNK * stored + _SMALL:
        raise FileError(f"{what} claims {claimed} bytes, of which the file holds {stored}: it is damaged")
