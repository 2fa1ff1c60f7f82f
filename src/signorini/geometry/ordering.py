"""Order the pairs of shapes: by the first, then by the second."""

from __future__ import annotations

from signorini._arrays import IntArray
from signorini._jit import inner_kernel
from signorini.geometry.tables import CAPACITY, FOUND, PAIRS


@inner_kernel
def _distribute(cells: IntArray, source: int, target: int, counts: int, n: int, shift: int) -> None:
    """Copy the pairs from `source` to `target` in the order of one of their numbers, stable for equal ones."""
    number = 0xFFFFFFFF
    for k in range(n + 1):
        cells[counts + k] = 0
    for c in range(source, source + cells[PAIRS]):
        cells[counts + 1 + ((cells[c] >> shift) & number)] += 1
    for k in range(n):
        cells[counts + k + 1] += cells[counts + k]
    for c in range(source, source + cells[PAIRS]):
        k = counts + ((cells[c] >> shift) & number)
        cells[target + cells[k]] = cells[c]
        cells[k] += 1


@inner_kernel
def sort_pairs(cells: IntArray, counts: int, n: int) -> None:
    """Sort the pairs ``(i << 32) + j`` of `n` shapes; ``cells[counts:]`` has room for n + 1 numbers."""
    first, count = cells[FOUND], cells[PAIRS]
    c = first + 1
    while c < first + count and cells[c - 1] <= cells[c]:
        c += 1
    if c >= first + count:
        return
    spare = first + cells[CAPACITY]
    by_second = n - n  # no literal, for which Numba would compile anew
    _distribute(cells, first, spare, counts, n, by_second)
    _distribute(cells, spare, first, counts, n, by_second + 32)
