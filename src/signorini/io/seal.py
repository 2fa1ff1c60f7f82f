"""Seals: the last bytes of a file, by which it is known whether the others are as they were written."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

_MARK = b"\nsignorini seal "
_DIGITS = 32
_LENGTH = len(_MARK) + _DIGITS + 1


def put_seal(path: Path) -> None:
    """Seal a complete file."""
    with path.open("r+b") as file:
        size = file.seek(0, 2)
        file.seek(0)
        digest = _digest(file, size)
        file.seek(size)
        file.write(_MARK + digest + b"\n")


def is_intact(path: Path) -> bool | None:
    """Tell whether a file is as it was sealed; None if it has no seal."""
    with path.open("rb") as file:
        size = file.seek(0, 2) - _LENGTH
        if size < 0:
            return None
        file.seek(size)
        seal = file.read(_LENGTH)
        if not seal.startswith(_MARK):
            return None
        file.seek(0)
        return seal == _MARK + _digest(file, size) + b"\n"


def _digest(file: Any, size: int) -> bytes:
    """Hash the first `size` bytes."""
    whole = hashlib.blake2b(digest_size=_DIGITS // 2)
    while size > 0:
        block = file.read(min(size, 1 << 20))
        if not block:
            break
        whole.update(block)
        size -= len(block)
    return whole.hexdigest().encode()
