"""Writing problems as ``.npz`` files: named arrays and one word for the kind."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from signorini.errors import FileError


def write_npz(path: str | PathLike[str], kind: str, fields: dict[str, Any]) -> None:
    """Write `fields` and ``kind`` to `path` exactly as named, without appending an ending."""
    try:
        with Path(path).open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, kind=np.array(kind), **fields)
    except OSError as error:
        raise FileError(f"{path}: cannot write: {error.strerror or error}") from error


def read_npz(path: str | PathLike[str]) -> dict[str, Any]:
    """Return all fields of an ``.npz`` file; never runs code stored in it."""
    try:
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except (OSError, ValueError, EOFError) as error:
        raise FileError(f"{path}: cannot read as .npz: {error}") from error
