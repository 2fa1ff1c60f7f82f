"""Arrays that a kernel reaches by one table of addresses; see the end of :mod:`signorini._jit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import IntArray


class Arena:
    """Numbered arrays, float64 or int64, and the table of their addresses and shapes, then of addresses of kernels."""

    def __init__(self, count: int, *, kernels: int = 0) -> None:
        self.table: IntArray = np.zeros((count + kernels, 4), dtype=np.int64)
        self._arrays: list[Any] = [None] * count  # keeps the memory alive

    def put(self, k: int, array: Any) -> Any:
        """Set array number `k`; return it."""
        assert array.flags.c_contiguous and array.flags.writeable and array.dtype in (np.float64, np.int64)
        self._arrays[k] = array
        self.table[k] = 0
        self.table[k, 0] = array.ctypes.data
        self.table[k, 1 : 1 + array.ndim] = array.shape
        return array

    def connect(self, k: int, address: int) -> None:
        """Set the address of a kernel; the rows of kernels follow those of arrays."""
        assert k >= len(self._arrays)
        self.table[k, 0] = address

    def __getitem__(self, k: int) -> Any:
        return self._arrays[k]

    @property
    def nbytes(self) -> int:
        """Memory of all arrays; what two of them share is counted once."""
        owners = {id(array if array.base is None else array.base): array for array in self._arrays}
        return sum((array if array.base is None else array.base).nbytes for array in owners.values())

    def check(self) -> None:
        """Make sure that every array is there: kernels would read anywhere."""
        missing = [k for k, array in enumerate(self._arrays) if array is None]
        assert not missing, missing

    def grow(self, k: int, rows: int) -> None:
        """Make room for at least `rows` rows; those there are are kept."""
        old = self._arrays[k]
        if old.shape[0] < rows:
            new = np.zeros((rows, *old.shape[1:]), dtype=old.dtype)
            new[: old.shape[0]] = old
            self.put(k, new)
