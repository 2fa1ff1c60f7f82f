"""Problems as ``.npz`` files: named arrays and one word for the kind."""

from __future__ import annotations

import io
import math
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from signorini.errors import FileError
from signorini.io import check_claim, clipped, short


def write_npz(path: str | PathLike[str], kind: str, fields: dict[str, Any]) -> None:
    """Write `fields` and ``kind`` to `path` exactly as named, without appending an ending."""
    try:
        with Path(path).open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, kind=np.array(kind), **fields)
    except OSError as error:
        raise FileError(f"{path}: cannot write: {error.strerror or error}") from error


def read_npz(path: str | PathLike[str]) -> dict[str, Any]:
    """Return all fields of an ``.npz`` file; never runs code stored in it.

    Raises
    ------
    FileError
        If the file is damaged, or a field is neither numbers nor text.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {info.filename.removesuffix(".npy"): _field(archive, info) for info in archive.infolist()}
    except FileError as error:
        raise FileError(f"{path}: {error}") from error
    except Exception as error:  # whatever the readers of zip, deflate and npy raise on damaged bytes
        raise FileError(f"{path}: cannot read as .npz: {clipped(str(error), 100)}") from error


def _field(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """Return one array, after its header is checked against the bytes that there are."""
    what = f"field {short(info.filename)}"
    check_claim(info.file_size, info.compress_size, what)
    file = io.BytesIO(archive.read(info))
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = header(file)
    if kind.kind not in "biufcU":
        raise FileError(f"{what} has the type {short(str(kind))}, must be numbers or text")
    left = info.file_size - file.tell()
    if math.prod(shape) * kind.itemsize != left:
        raise FileError(f"{what} has the shape {short(shape)} in {left} bytes: it is damaged")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)
