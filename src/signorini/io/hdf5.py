"""Trees of arrays as HDF5 files, back exactly as they were.

=====================================  ==============================================================
value                                  in the file
=====================================  ==============================================================
dict with string keys                  group; the order of the keys is kept
array of bool, int, float or complex   dataset of the same type and shape, empty ones too
bool, int, float, complex              scalar dataset with the attribute ``python``
str, list of str                       dataset of variable-length UTF-8 text
None                                   null dataset
named dimension without labels         empty dataset with the words of netCDF, no entry of the tree
=====================================  ==============================================================

A tree may grow: what is added to the file ``run.h5`` lies beside it in ``run.h5.0001``, ``run.h5.0002`` and so on, each
a complete file, so that adding costs what is new and can never harm what is there.

Every file ends with a seal, which tells damage before the HDF5 library sees it, and every array has checksums of its
blocks of rows, so that of a damaged file the rows are known that are still good (:func:`read_damaged_tree`).

In a group's name ``/`` and ``%`` are written ``%2F`` and ``%25``, because HDF5 separates groups by ``/``.
"""

from __future__ import annotations

import os
import secrets
import sys
import traceback
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from signorini.errors import FileError, InputError
from signorini.io.limits import MOST_ENTRIES, MOST_NESTING, check_claim, clipped, short
from signorini.io.replace import reason, replacing
from signorini.io.seal import is_intact, put_seal

_NUMBERS: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}
_NAME, _ADDITION_OF, _SEALED = "growing tree", "part of", "sealed"  # labels of files
_CHECKSUMS = "crc32"  # of blocks of rows, an attribute of arrays
_ONLY_DIMENSION, _NO_LABELS = "This is a netCDF dimension but not a netCDF variable.", ">f4"  # words of netCDF
_MOST_BLOCKS, _LEAST_ROWS = 1024, 16  # of an array; rows of a block
_INT_RANGE = (-(2**63), 2**64 - 1)


class Axes(NamedTuple):
    """What the axes of an array mean, for those who read a file by names."""

    names: tuple[str, ...]
    """Of the dimensions; one that is the name of a column of the same group or of the top is labelled by it."""
    units: str = ""
    words: str = ""


def write_tree(path: str | os.PathLike[str], tree: Mapping[str, Any], axes: Mapping[str, Axes] | None = None) -> None:
    """Write nested dicts of arrays, numbers, strings, lists of strings and None.

    The file appears under its name only when it is complete. NumPy scalars come back as Python numbers, tuples of
    strings as lists.

    With `axes`, by names as ``group/name``, arrays have named dimensions as in netCDF files, and others can read them.

    Raises
    ------
    FileError
        If the file cannot be written.
    InputError
        If the tree holds something that the file cannot give back exactly.
    """
    _write_file(path, tree, {}, axes or {})
    _remove_additions(path)


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
        _remove_additions(self._path)

    def add(self, columns: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Append arrays to those of the same names, and put `values` in the place of others."""
        addition = _addition_path(self._path, self._count + 1)
        _write_file(addition, {"columns": columns, "values": values}, {_ADDITION_OF: self._name})
        self._count += 1


def _write_file(
    path: str | os.PathLike[str],
    tree: Mapping[str, Any],
    labels: Mapping[str, str],
    axes: Mapping[str, Axes] = MappingProxyType({}),
) -> None:
    import h5py

    with _closing_quietly():
        try:
            with replacing(path) as addition:
                with h5py.File(addition, "w", track_order=True) as file:
                    file.attrs.update({**labels, _SEALED: True})
                    _write_group(file, tree, "")
                    _attach_axes(file, axes)
                put_seal(addition)
        except (OSError, RuntimeError, FileError) as error:
            for one in (error, error.__cause__):
                traceback.clear_frames(one.__traceback__ if one is not None else None)  # what is open closes here
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path}: cannot write: {reason(error)}") from error


def _attach_axes(file: Any, axes: Mapping[str, Axes]) -> None:
    """Give the arrays of a file that are there dimensions as netCDF has them."""
    for path, (names, units, words) in axes.items():
        if path not in file or file[path].shape is None or file[path].ndim != len(names):
            continue
        dataset = file[path]
        for key, text in (("units", units), ("long_name", words)):
            if text:
                dataset.attrs[key] = text
        group = dataset.parent
        for k, name in enumerate(names):
            scale = next((place[name] for place in (group, file) if name in place), None)
            if scale is None:
                scale = group.create_dataset(name, shape=(dataset.shape[k],), dtype=_NO_LABELS)
                scale.make_scale(f"{_ONLY_DIMENSION}{dataset.shape[k]:10d}")
            elif not scale.is_scale:
                scale.make_scale(name)
            if scale.name != dataset.name:
                dataset.dims[k].attach_scale(scale)


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


def read_tree(path: str | os.PathLike[str], only: Collection[str] | None = None) -> dict[str, Any]:
    """Read what :func:`write_tree` or :class:`GrowingTree` wrote; other HDF5 files as far as they hold such values.

    Of the entries at the top those called `only` are read, default all.

    Raises
    ------
    FileError
        If the file is missing, truncated, damaged or not HDF5, or goes beyond :mod:`signorini.io.limits`.
    """
    tree, labels = _read_file(path, only=only)
    if _NAME not in labels:
        return tree
    parts = [tree]
    for addition in _additions(path):
        added, its_labels = _read_file(addition)
        if its_labels.get(_ADDITION_OF) != labels[_NAME]:
            break
        parts.append(_columns_of(added, addition))
        tree |= added["values"]
    return _joined(parts, path)


def read_damaged_tree(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, int]]:
    """Read as much as can be read of a damaged file.

    Return the tree, and by the names of damaged arrays (``group/name``) how many of their rows are good. Of files that
    were added to the tree those before the first damaged one count.

    Raises
    ------
    FileError
        If nothing can be read, or the file is of a version without checksums and cannot be judged.
    """
    damage: dict[str, int] = {}
    tree, labels = _read_file(path, damage=damage)
    if _SEALED not in labels:
        raise FileError(f"{path}: has no checksums, what is good in it cannot be told")
    if _NAME not in labels or damage:
        return tree, damage
    parts = [tree]
    for addition in _additions(path):
        try:
            added, its_labels = _read_file(addition)
        except FileError:
            break
        if its_labels.get(_ADDITION_OF) != labels[_NAME]:
            break
        parts.append(_columns_of(added, addition))
        tree |= added["values"]
    return _joined(parts, path), damage


def _additions(path: str | os.PathLike[str]) -> Iterator[Path]:
    number = 1
    while (addition := _addition_path(path, number)).exists():
        yield addition
        number += 1


def _columns_of(added: Mapping[str, Any], addition: Path) -> dict[str, Any]:
    """Return the columns in an addition, which must also hold values."""
    columns = added.get("columns")
    if not isinstance(columns, dict) or not isinstance(added.get("values"), dict):
        raise FileError(f"{addition}: holds {short(list(added))}, must hold columns and values")
    return columns


def _addition_path(path: str | os.PathLike[str], number: int) -> Path:
    return Path(f"{os.fspath(path)}.{number:04d}")


def _remove_additions(path: str | os.PathLike[str]) -> None:
    """Remove what was added to the tree that this file held before."""
    for addition in _additions(path):
        if not _is_addition(addition):
            break
        addition.unlink()


def remove_tree(path: str | os.PathLike[str]) -> None:
    """Remove a file with all that was added to it, if there is one."""
    Path(path).unlink(missing_ok=True)
    _remove_additions(path)


def _is_addition(path: Path) -> bool:
    try:
        return _ADDITION_OF in _read_file(path, only_labels=True)[1]
    except FileError:
        return False


def _joined(trees: Sequence[Mapping[str, Any]], path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the first tree with the arrays of the others appended."""
    first, *others = trees
    if not others:
        return dict(first)
    whole = dict(first)
    for key, value in others[0].items():
        values: list[Any] = [whole.get(key), *(tree.get(key) for tree in others)]
        try:
            whole[key] = _joined(values, path) if isinstance(value, dict) else np.concatenate(values)
        except (TypeError, ValueError, AttributeError) as error:
            raise FileError(f"{path}: parts of {short(key)} do not fit together: {clipped(str(error), 80)}") from error
    return whole


def _read_file(
    path: str | os.PathLike[str],
    *,
    only_labels: bool = False,
    only: Collection[str] | None = None,
    damage: dict[str, int] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tree of one file and its labels; where `damage` is given, put into it what is damaged."""
    import h5py

    try:
        with Path(path).open("rb") as raw:
            raw.read(1)
        if not h5py.is_hdf5(os.fspath(path)):
            raise FileError(f"{path}: is not an HDF5 file")
        intact = is_intact(Path(path))
        if intact is False and damage is None:
            raise FileError(f"{path}: is damaged, its bytes are not those that were written (their checksum differs)")
        with h5py.File(path, "r", track_order=True) as file:
            labels = {name: file.attrs[name] for name in (_NAME, _ADDITION_OF, _SEALED) if name in file.attrs}
            if intact is None and _SEALED in labels and damage is None:
                raise FileError(f"{path}: is damaged, or was changed by another program: its checksum is missing")
            return {} if only_labels else _Reading(file, path, damage).tree(only), labels
    except FileError:
        raise
    except Exception as error:  # whatever h5py raises on what the HDF5 library finds in a damaged file
        text = clipped(reason(error), 150)
        if "truncated" in text:
            raise FileError(f"{path}: is truncated, must be a complete HDF5 file") from error
        raise FileError(f"{path}: cannot read: {text}") from error


class _Reading:
    """The passage of one file into a tree, each entry checked before it is read."""

    def __init__(self, file: Any, path: str | os.PathLike[str], damage: dict[str, int] | None) -> None:
        self._file, self._path, self._damage = file, path, damage
        self._seen: set[int] = set()  # groups, by where they are in the file
        self._count = 0
        self._size = Path(path).stat().st_size

    def tree(self, only: Collection[str] | None) -> dict[str, Any]:
        """Return all, or some of the entries at the top."""
        return self._group(self._file, "", 0, only)

    def _group(self, group: Any, where: str, depth: int, only: Collection[str] | None = None) -> dict[str, Any]:
        import h5py

        if depth > MOST_NESTING:
            raise FileError(f"{self._path}: groups are nested more than {MOST_NESTING} deep")
        at = h5py.h5o.get_info(group.id).addr
        if at in self._seen:
            raise FileError(f"{self._path}: group {short(where)} contains itself or stands at two places")
        self._seen.add(at)
        tree: dict[str, Any] = {}
        for name in group:
            if only is not None and name not in only:
                continue
            self._count += 1
            if self._count > MOST_ENTRIES:
                raise FileError(f"{self._path}: has more than {MOST_ENTRIES} entries")
            what = f"{where}/{name}".lstrip("/")
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise FileError(f"{self._path}: {short(what)} is a link to elsewhere, must be data")
            item = group.get(name)
            if isinstance(item, h5py.Dataset) and _is_only_dimension(item):
                continue
            if isinstance(item, h5py.Group):
                tree[unquote(name)] = self._group(item, what, depth + 1)
            elif isinstance(item, h5py.Dataset):
                tree[unquote(name)] = self._value(item, what)
            else:
                raise FileError(f"{self._path}: {short(what)} is a {type(item).__name__}, must be an array or a group")
        return tree

    def _value(self, dataset: Any, what: str) -> Any:
        if self._damage is None:
            return _read_value(dataset, f"{self._path}: {short(what)}", self._size)
        try:
            value = _read_value(dataset, what, self._size)
        except Exception:  # as above
            self._damage[what] = 0
            return None
        if isinstance(value, np.ndarray) and _CHECKSUMS in dataset.attrs:
            good = _good_rows(value, np.asarray(dataset.attrs[_CHECKSUMS]))
            if good < (len(value) if value.ndim else 1):
                self._damage[what] = good
        return value


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
        dataset = group.create_dataset(name, data=value)
        dataset.attrs[_CHECKSUMS] = _checksums(value)
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


def _read_value(dataset: Any, what: str, file_size: int) -> Any:
    """Return the value of a dataset, of which nothing is known but that it is one."""
    import h5py

    if dataset.shape is None:
        return None
    is_text = h5py.check_string_dtype(dataset.dtype) is not None
    if not is_text and dataset.dtype.kind not in "biufc":
        raise FileError(f"{what} has the type {short(str(dataset.dtype))}, must be numbers or text")
    check_claim(dataset.size * max(dataset.dtype.itemsize, 1), min(dataset.id.get_storage_size(), file_size), what)
    if is_text:
        text = dataset.asstr()[()]
        return text if dataset.shape == () else text.tolist()
    if "python" in dataset.attrs:
        kind = dataset.attrs["python"]
        if kind not in _NUMBERS or dataset.shape != ():
            raise FileError(f"{what} is a number of kind {short(kind)} and shape {dataset.shape}: it is damaged")
        return _NUMBERS[kind](dataset[()])
    # Reading into an array of our own keeps 0-dimensional arrays arrays.
    out = np.empty(dataset.shape, dtype=dataset.dtype)
    if out.size:
        dataset.read_direct(out)
    return out


def _is_only_dimension(dataset: Any) -> bool:
    """Tell whether a dataset stands for a dimension without labels: it holds nothing."""
    name = dataset.attrs.get("NAME") if dataset.is_scale else None
    return isinstance(name, bytes | np.bytes_) and name.startswith(_ONLY_DIMENSION.encode())


def _block_rows(rows: int) -> int:
    """Return how many rows a block has."""
    return max(_LEAST_ROWS, -(-rows // _MOST_BLOCKS))


def _checksums(array: Any) -> Any:
    """Return the checksums of the blocks of rows of an array."""
    rows = np.ascontiguousarray(array if array.ndim else array.reshape(1))
    step = _block_rows(len(rows))
    return np.array([zlib.crc32(rows[i : i + step].tobytes()) for i in range(0, len(rows), step)], dtype=np.uint32)


def _good_rows(array: Any, checksums: Any) -> int:
    """Return how many rows come before the first block that is damaged."""
    found = _checksums(array)
    if found.shape != checksums.shape:
        return 0
    wrong = np.flatnonzero(found != checksums)
    rows = len(array) if array.ndim else 1
    return rows if wrong.size == 0 else int(wrong[0]) * _block_rows(rows)


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
