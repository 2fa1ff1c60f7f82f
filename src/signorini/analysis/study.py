"""Parameter studies: a pure function of parameters, evaluated on a grid in chunks that know nothing of each other.

Because a chunk's result depends on its parameters alone, `run` may be the built-in ``map``, the ``map`` of a pool of
processes, or that of a scheduler on many machines; the result is the same, bit for bit. For those the function must be
picklable: defined at the top of a module, or a ``functools.partial`` of one that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, checked
from signorini.errors import InputError

Columns = Mapping[str, Any]
"""Arrays by name, one row per point."""
Evaluate = Callable[[dict[str, Array]], Columns]
"""From the parameters of a chunk, (n,) each, to its results, (n, ...) each."""
Run = Callable[[Evaluate, Iterable[dict[str, Array]]], Iterable[Columns]]
"""Anything that acts like ``map``: results in the order of the chunks."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One parameter and the values it takes."""

    name: str
    values: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", checked(self.values, (None,), f"axis {self.name!r}: values"))
        if self.values.size == 0:
            raise InputError(f"axis {self.name!r}: values are empty, must be at least one")

    @staticmethod
    def midpoints(name: str, low: float, high: float, count: int) -> Axis:
        """Return the midpoints of `count` equal cells, so that shares of points are shares of area."""
        if count < 1 or not low < high:
            raise InputError(f"axis {name!r}: {count} cells from {low} to {high}, must be at least one in rising order")
        return Axis(name, np.array(low + (np.arange(count) + 0.5) * ((high - low) / count), dtype=np.float64))


def study(evaluate: Evaluate, axes: Sequence[Axis], *, run: Run = map, chunk: int = 8192) -> dict[str, Any]:
    """Evaluate a function on the grid of all combinations of the axes' values.

    Parameters
    ----------
    evaluate : callable
        Takes the parameters of some points and returns columns of results; must be a pure function.
    axes : sequence of Axis
        The last one varies fastest.
    run : callable
        Like ``map``.
    chunk : int
        Points per call.

    Returns
    -------
    dict
        Each column as an array of the shape of the grid.
    """
    names = [axis.name for axis in axes]
    if len(set(names)) != len(names) or not names:
        raise InputError(f"axes are {names}, must be different parameters, at least one")
    if chunk < 1:
        raise InputError(f"chunk is {chunk}, must be >= 1")
    shape = tuple(axis.values.size for axis in axes)
    parts = list(run(evaluate, _chunks(axes, shape, chunk)))
    return {
        key: (joined := np.concatenate([np.asarray(part[key]) for part in parts])).reshape(shape + joined.shape[1:])
        for key in parts[0]
    }


def _chunks(axes: Sequence[Axis], shape: tuple[int, ...], chunk: int) -> Iterator[dict[str, Array]]:
    """Yield the parameters of consecutive points; the whole grid is never held."""
    total = int(np.prod(shape))
    for first in range(0, total, chunk):
        index = np.unravel_index(np.arange(first, min(first + chunk, total)), shape)
        yield {axis.name: axis.values[i] for axis, i in zip(axes, index, strict=True)}
