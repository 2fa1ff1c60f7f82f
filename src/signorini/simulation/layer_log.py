"""The layers of all steps as files keep them, and of one pair of bodies as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.errors import InputError


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """The layer of one body against another, in the frame (n, t, o) that the layer carries."""

    deflection: Array
    """At every recorded time, (n+1, 3) [m]."""
    spring: Array
    """Impulse of its springs and dampers in every step, (n, 3) [N s]."""
    core: Array
    """Impulse of its rigid core in every step, (n,) [N s]."""
    couple: Array
    """Couple of friction about the normal in every step, (n,) [N m s]."""


@dataclass(frozen=True, slots=True)
class LayerLog:
    """Layers that are deflected or pressed, in flat arrays; the state after l steps owns ``start[l]:start[l + 1]``."""

    start: IntArray
    """(n + 2,)"""
    body: IntArray
    """(rows, 2)"""
    deflection: Array
    """Of the layers of both bodies, (rows, 2, 3) [m]."""
    spring: Array
    """Impulses of the step that ended so, (rows, 2, 3) [N s]."""
    core: Array
    """(rows, 2) [N s]"""
    couple: Array
    """(rows,) [N m s]"""

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays by name, for files."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def of(self, first: int, second: int, *, side: int, names: tuple[str, str]) -> LayerRecord:
        """Return the layer of the first body (side 0) or the second (side 1) of a pair; `names` are for errors."""
        mine = np.flatnonzero((self.body[:, 0] == first) & (self.body[:, 1] == second))
        step = np.searchsorted(self.start, mine, side="right") - 1
        if np.unique(step).size < step.size:
            raise InputError(f"layer of {names[0]!r} against {names[1]!r}: touches at several places, must at one")
        n = self.start.size - 1
        deflection, spring, core, couple = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n), np.zeros(n)
        deflection[step], spring[step] = self.deflection[mine, side], self.spring[mine, side]
        core[step], couple[step] = self.core[mine, side], self.couple[mine]
        return LayerRecord(deflection, spring[1:], core[1:], couple[1:])


_SHAPES: dict[str, tuple[int, ...]] = {"body": (2,), "deflection": (2, 3), "spring": (2, 3), "core": (2,), "couple": ()}


def layer_columns(parts: Iterable[dict[str, Any] | None]) -> dict[str, Any]:
    """Join the rows of states; their ``start`` leaves out its first entry."""
    states = list(parts)
    rows = [part for part in states if part is not None]
    counts = [0 if part is None else len(part["couple"]) for part in states]
    kinds = {"body": np.int64}
    columns = {
        key: np.concatenate([np.zeros((0, *shape), dtype=kinds.get(key, float)), *(part[key] for part in rows)])
        for key, shape in _SHAPES.items()
    }
    return columns | {"start": np.cumsum(np.array(counts, dtype=np.int64))}
