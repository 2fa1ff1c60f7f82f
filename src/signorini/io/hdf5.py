"""Trees of arrays as HDF5 files, back exactly as they were.

=====================================  ==============================================================
value                                  in the file
=====================================  ==============================================================
dict with string keys                  group; the order of the keys is kept
array of bool, int, float or complex   dataset of the same type and shape, empty ones too
bool, int, float, complex              scalar dataset with the attribute ``python``
str, list of str                       dataset of variable-length UTF-8 text
None                                   null dataset
=====================================  ==============================================================

A tree may grow: what is added to the file ``run.h5`` lies beside it in ``run.h5.0001``, ``run.h5.0002`` and so on, each
a complete file, so that adding costs what is new and can never harm what is there.

In a group's name ``/`` and ``%`` are written ``%2F`` and ``%25``, because HDF5 separates groups by ``/``.
"""

from __future__ import annotations

import os
import secrets
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from signorini.errors import FileError, InputError
from signorini.io.replace import reason, replacing

_NUMBERS: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}
_NAME, _PART_OF = "growing tree", "part of"  # labels of files
_INT_RANGE = (-(2**63), 2**64 - 1)


def write_tree(path: str | os.PathLike[str], tree: Mapping[str, Any]) -> None:
    """Write nested dicts of arrays, numbers, strings, lists of strings and None.

    The file appears under its name only when it is complete. NumPy scalars come back as Python numbers, tuples of
    strings as lists.

    Raises
    ------
    FileError
        If the file cannot be written.
    InputError
        If the tree holds something that the file cannot give back exactly.
    """
    _write_file(path, tree, {})
    _remove_parts(path)


class GrowingTree:
    """A tree in a file to which columns are added."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._name, self._count = "", 0

    def write(self, tree: Mapping[str, Any]) -> None:
        """Write all of it, as :func:`write_tree` does."""
        name = secrets.token_hex(8)  # parts of another tree, left behind by a process that was killed, have another
        _write_file(self._path, tree, {_NAME: name})
        self._name, self._count = name, 0
        _remove_parts(self._path)

    def add(self, columns: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Append arrays to those of the same names, and put `values` in the place of others."""
        part = _part_path(self._path, self._count + 1)
        _write_file(part, {"columns": columns, "values": values}, {_PART_OF: self._name})
        self._count += 1


def _write_file(path: str | os.PathLike[str], tree: Mapping[str, Any], labels: Mapping[str, str]) -> None:
    import h5py

    with _closing_quietly():
        try:
            with replacing(path) as part, h5py.File(part, "w", track_order=True) as file:
                file.attrs.update(labels)
                _write_group(file, tree, "")
        except (OSError, RuntimeError, FileError) as error:
            for one in (error, error.__cause__):
                traceback.clear_frames(one.__traceback__ if one is not None else None)  # what is open closes here
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path}: cannot write: {reason(error)}") from error


@contextmanager
def _closing_quietly() -> Iterator[None]:
    """Keep h5py from telling of each thing in a file that it cannot close on a full disk; one error says it."""
    hook = sys.unraisablehook

    def tell(message: Any) -> None:
        if not isinstance(message.exc_value, RuntimeError):
            hook(message)

    sys.unraisablehook = tell
    try:
        yield
    finally:
        sys.unraisablehook = hook


def read_tree(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what :func:`write_tree` or :class:`GrowingTree` wrote; other HDF5 files as far as they hold such values.

    Raises
    ------
    FileError
        If the file is missing, truncated, damaged or not HDF5.
    """
    tree, labels = _read_file(path)
    if _NAME not in labels:
        return tree
    parts = [tree]
    while (part := _part_path(path, len(parts))).exists():
        added, part_labels = _read_file(part)
        if part_labels.get(_PART_OF) != labels[_NAME]:
            break
        parts.append(added["columns"])
        tree |= added["values"]
    return _joined(parts)


def _part_path(path: str | os.PathLike[str], number: int) -> Path:
    return Path(f"{os.fspath(path)}.{number:04d}")


def _remove_parts(path: str | os.PathLike[str]) -> None:
    """Remove what was added to the tree that this file held before."""
    number = 1
    while (part := _part_path(path, number)).exists() and _is_part(part):
        part.unlink()
        number += 1


def remove_tree(path: str | os.PathLike[str]) -> None:
    """Remove a file with all that was added to it, if there is one."""
    Path(path).unlink(missing_ok=True)
    _remove_parts(path)


def _is_part(path: Path) -> bool:
    try:
        return _PART_OF in _read_file(path, only_labels=True)[1]
    except FileError:
        return False


def _joined(trees: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first tree with the arrays of the others appended."""
    first, *others = trees
    if not others:
        return dict(first)
    whole = dict(first)
    for key, value in others[0].items():
        values = [tree[key] for tree in others]
        whole[key] = (
            _joined([whole[key], *values]) if isinstance(value, dict) else np.concatenate([whole[key], *values])
        )
    return whole


def _read_file(path: str | os.PathLike[str], *, only_labels: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tree of one file and its labels."""
    import h5py

    try:
        with Path(path).open("rb") as raw:
            raw.read(1)
        if not h5py.is_hdf5(os.fspath(path)):
            raise FileError(f"{path}: is not an HDF5 file")
        with h5py.File(path, "r", track_order=True) as file:
            return {} if only_labels else _read_group(file), dict(file.attrs)
    except FileError:
        raise
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        text = reason(error)
        if "truncated" in text:
            raise FileError(f"{path}: is truncated, must be a complete HDF5 file") from error
        raise FileError(f"{path}: cannot read: {text}") from error


def _write_group(group: Any, tree: Mapping[str, Any], where: str) -> None:
    for key, value in tree.items():
        if not isinstance(key, str) or not key:
            raise InputError(f"key {key!r} in {where or '/'}: must be a string that is not empty")
        name = _escaped(_checked_text(key, f"key {key!r}"))
        if isinstance(value, Mapping):
            _write_group(group.create_group(name, track_order=True), value, f"{where}/{key}")
        else:
            _write_value(group, name, value, f"{where}/{key}")


def _write_value(group: Any, name: str, value: Any, what: str) -> None:
    import h5py

    if value is None:
        group.create_dataset(name, data=h5py.Empty("f8"))
    elif isinstance(value, str):
        group.create_dataset(name, data=_value_text(value, what), dtype=h5py.string_dtype())
    elif isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        texts = np.array([_value_text(item, what) for item in value], dtype=object)
        group.create_dataset(name, data=texts, dtype=h5py.string_dtype())
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        group.create_dataset(name, data=value)
    elif isinstance(value, bool | int | float | complex | np.bool_ | np.number):
        _write_number(group, name, value, what)
    else:
        kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"of type {type(value).__name__}"
        raise InputError(f"{what} is {kind}, must be a dict, a numeric array, a number, text, a list of texts or None")


def _write_number(group: Any, name: str, value: Any, what: str) -> None:
    number = value.item() if isinstance(value, np.generic) else value
    kind = next(word for word, python in _NUMBERS.items() if isinstance(number, python))
    if kind == "int" and not _INT_RANGE[0] <= number <= _INT_RANGE[1]:
        raise InputError(f"{what} is {number}, must fit 64 bits")
    dataset = group.create_dataset(name, data=np.asarray(number))
    dataset.attrs["python"] = kind


def _read_group(group: Any) -> dict[str, Any]:
    import h5py

    return {
        unquote(name): _read_group(item) if isinstance(item, h5py.Group) else _read_value(item)
        for name, item in group.items()
    }


def _read_value(dataset: Any) -> Any:
    import h5py

    if dataset.shape is None:
        return None
    if h5py.check_string_dtype(dataset.dtype) is not None:
        text = dataset.asstr()[()]
        return text if dataset.shape == () else text.tolist()
    if "python" in dataset.attrs:
        return _NUMBERS[dataset.attrs["python"]](dataset[()])
    # Reading into an array of our own keeps 0-dimensional arrays arrays.
    out = np.empty(dataset.shape, dtype=dataset.dtype)
    if out.size:
        dataset.read_direct(out)
    return out


def _escaped(key: str) -> str:
    """Return `key` as a name that HDF5 takes; :func:`urllib.parse.unquote` undoes it."""
    if key == ".":
        return "%2E"
    return key.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")


def _value_text(text: str, what: str) -> str:
    # HDF5 ends a variable-length text at its first NUL: refuse rather than cut.
    if "\0" in text:
        raise InputError(f"{what} is {text!r}, must not contain a NUL character")
    return _checked_text(text, what)


def _checked_text(text: str, what: str) -> str:
    """Return `text` if it is Unicode; a file name that is not UTF-8 may not be."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} is {text!r}, must be text that UTF-8 can write") from error
    return text
