"""Scratch memory of the narrow phase: tables carved out of one piece."""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import counting_kernel


@counting_kernel
def carved(memory: Array, start: int, rows: int, columns: int) -> Array:
    """Return the table (rows, columns) that begins at entry `start` of a piece of memory (n,)."""
    return memory[start : start + rows * columns].reshape((rows, columns))


@counting_kernel
def carved_integers(memory: IntArray, start: int, rows: int, columns: int) -> IntArray:
    """Do the same for integers."""
    return memory[start : start + rows * columns].reshape((rows, columns))
