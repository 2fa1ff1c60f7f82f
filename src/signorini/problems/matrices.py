"""Matrices of problems: dense arrays or compressed sparse rows, checked at the door and stored in ``.npz`` files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, IntArray, checked
from signorini._scipy import sparse
from signorini.errors import InputError

Matrix: TypeAlias = "Array | sparse.csr_array[np.float64]"
MatrixLike: TypeAlias = "ArrayLike | sparse.sparray | sparse.spmatrix"
"""What a user may give."""
Rows: TypeAlias = tuple[IntArray, IntArray, Array]
"""Compressed rows as kernels take them: where rows begin, columns, values."""


def checked_matrix(value: MatrixLike, shape: tuple[int | None, int | None], what: str) -> Matrix:
    """Return `value` as a float64 array, or as sorted compressed rows if it is a SciPy sparse matrix.

    Raises
    ------
    InputError
        If `value` is not a finite matrix of the given shape (None stands for any length).
    """
    if not sparse.issparse(value):
        return checked(cast(ArrayLike, value), shape, what)
    given: Any = value
    if any(n not in (None, m) for n, m in zip(shape, given.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise InputError(f"{what} has shape {given.shape}, must be ({wanted})")
    try:
        if hasattr(given, "check_format"):
            given.check_format(full_check=True)  # SciPy's own conversions believe every index
        matrix: Any = sparse.csr_array(given, dtype=np.float64, copy=True)
    except (ValueError, TypeError) as error:
        raise InputError(f"{what} is no sparse matrix of numbers: {error}") from error
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        raise InputError(f"{what} must be finite")
    return cast(Matrix, matrix)


def is_sparse(matrix: Matrix) -> bool:
    """Tell sparse storage from dense."""
    return not isinstance(matrix, np.ndarray)


def dense(matrix: Matrix) -> Array:
    """Return `matrix` as a C-contiguous array; a dense one is returned itself."""
    return matrix if isinstance(matrix, np.ndarray) else np.ascontiguousarray(matrix.toarray())


def compressed_rows(matrix: Matrix) -> Rows:
    """Return the arrays of compressed rows, a dense matrix without its zeros."""
    rows: Any = sparse.csr_array(matrix)
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64), np.ascontiguousarray(rows.data)


def stacked(blocks: Sequence[Sequence[Matrix]]) -> Matrix:
    """Return one matrix of blocks, sparse if any block is."""
    rows: Any = [list(row) for row in blocks]
    if any(is_sparse(part) for row in rows for part in row):
        return cast(Matrix, sparse.csr_array(sparse.block_array(rows)))
    return np.block(rows)


def principal_block(matrix: Matrix, index: IntArray) -> Matrix:
    """Return the rows and columns `index` of a square matrix."""
    if isinstance(matrix, np.ndarray):
        return np.ascontiguousarray(matrix[np.ix_(index, index)])
    return cast(Matrix, sparse.csr_array(matrix[index][:, index]))


def plus_diagonal(matrix: Matrix, diagonal: Array) -> Matrix:
    """Return ``matrix + diag(diagonal)``."""
    if isinstance(matrix, np.ndarray):
        total = matrix.copy()
        total[np.diag_indices_from(total)] += diagonal
        return total
    return cast(Matrix, sparse.csr_array(matrix + sparse.diags_array(diagonal)))


_LARGEST = 1e100  # products of entries must stay within the range of numbers


def refuse_huge(parts: dict[str, Any], who: str) -> None:
    """Raise `InputError` if an entry is so great that products of entries might overflow."""
    for what, part in parts.items():
        values = part if isinstance(part, np.ndarray) else part.data
        largest = float(np.abs(values).max(initial=0.0))
        if largest > _LARGEST:
            raise InputError(f"{who}: {what} has an entry of size {largest:g}, must be <= {_LARGEST:g}")


_MOST_EMPTY = 1000  # rows or columns of a sparse matrix for each entry: most rows of problems have some
_ROUNDING = 1e-16  # of the largest entry of a row


def positive_diagonal(matrix: Matrix) -> Array:
    """Return the diagonal where it is positive, else 1: the units in which slacks are compared with unknowns.

    A diagonal entry that is nothing but the rounding of its row counts as zero: divided by it, a slack of rounding
    would become so large that no error of any other row could be seen beside it.
    """
    d = np.array(matrix.diagonal(), dtype=np.float64)
    sizes: Any = abs(matrix)
    largest = sizes.max(axis=1).toarray().reshape(-1) if is_sparse(matrix) else sizes.max(axis=1, initial=0.0)
    d[d <= _ROUNDING * largest] = 1.0
    return d


def matrix_fields(name: str, matrix: Matrix) -> dict[str, Any]:
    """Return `matrix` as fields of an ``.npz`` file: `name`, or `name` with ``_data, _indices, _indptr, _shape``."""
    if isinstance(matrix, np.ndarray):
        return {name: matrix}
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
        f"{name}_shape": np.array(matrix.shape),
    }


def matrix_from_fields(name: str, fields: dict[str, Any]) -> Any:
    """Read what :func:`matrix_fields` wrote; a dense one is not yet checked."""
    if name in fields:
        return fields[name]
    parts = [f"{name}_{part}" for part in ("data", "indices", "indptr", "shape")]
    missing = [part for part in parts if part not in fields]
    if missing:
        raise InputError(f"problem file: fields {name!r} and {missing[0]!r} are both missing, one is needed")
    data, indices, indptr, shape = (np.asarray(fields[part]) for part in parts)
    if shape.shape != (2,) or shape.dtype.kind not in "iu":
        raise InputError(f"problem file: {parts[3]} is {shape.tolist()!r}, must be two whole numbers")
    return sparse_matrix("csr", (data, indices, indptr), (int(shape[0]), int(shape[1])), f"problem file: {name}")


def sparse_matrix(form: str, parts: tuple[Any, Any, Any], shape: tuple[int, int], what: str) -> Any:
    """Return a sparse matrix of a file, every index of it checked.

    `form` is ``"csr"`` or ``"csc"`` for values, indices and where rows or columns begin, ``"coo"`` for values, rows
    and columns.
    """
    values, *indices = map(np.asarray, parts)
    if values.dtype.kind not in "biuf" or any(index.dtype.kind not in "iu" for index in indices):
        raise InputError(f"{what}: has entries of types {[str(np.asarray(p).dtype) for p in parts]}, must be numbers")
    if any(part.ndim != 1 for part in (values, *indices)):
        raise InputError(f"{what}: has arrays of shapes {[np.shape(p) for p in parts]}, must be three columns")
    if min(shape) < 0 or max(shape) > max(_MOST_EMPTY * (values.size + 1), indices[1].size):
        raise InputError(f"{what}: has {values.size} entries and the shape {shape}, which cannot be meant")
    first, second = (index.astype(np.int64) for index in indices)
    if first.size != values.size or not _are_rows(first, shape[form != "csc"] if form != "coo" else shape[0]):
        raise InputError(f"{what}: has indices that do not fit {values.size} entries and the shape {shape}")
    if form == "coo":
        if second.size != values.size or not _are_rows(second, shape[1]):
            raise InputError(f"{what}: has indices that do not fit {values.size} entries and the shape {shape}")
        return sparse.coo_array((values, (first, second)), shape=shape).tocsr()
    lines = shape[form == "csc"]
    if second.size != lines + 1 or second[0] != 0 or second[-1] != values.size or (np.diff(second) < 0).any():
        raise InputError(f"{what}: tells wrongly where its {lines} {'rows' if form == 'csr' else 'columns'} begin")
    kind: Any = sparse.csr_array if form == "csr" else sparse.csc_array
    return kind((values, first, second), shape=shape)


def _are_rows(index: IntArray, count: int) -> bool:
    """Tell whether all indices are from 0 to `count` - 1."""
    return index.size == 0 or bool(index.min() >= 0 and index.max() < count)
