"""Compliant layers of a record: whether they gave way by their law, and stored what the balance says.

Of every pair of bodies that touches at one place the record tells deflections and impulses of both layers, in the
frames that these carry: from the deflection before a step, its impulses and the law of the scene follow the deflection
and the impulse of the core after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini.audit.findings import Worst
from signorini.audit.record import ContactRows, Record
from signorini.errors import FileError
from signorini.model import Model

_SHAPES: dict[str, tuple[int, ...]] = {"body": (2,), "deflection": (2, 3), "spring": (2, 3), "core": (2,)}


class LayerRows:
    """Layers of all states; the state after l steps owns the rows ``start[l]:start[l + 1]``."""

    def __init__(self, record: Record, model: Model, columns: dict[str, Any]) -> None:
        self.record, self.model = record, model
        missing = [word for word in ("start", *_SHAPES) if word not in columns]
        if missing:
            raise FileError(f"{record.source}: layers: {', '.join(map(repr, missing))} missing")
        self.start = np.asarray(columns["start"], dtype=np.int64)
        self.body = np.asarray(columns["body"], dtype=np.int64)
        self.deflection, self.spring, self.core = (
            np.asarray(columns[word], dtype=np.float64) for word in ("deflection", "spring", "core")
        )
        rows = self.body.shape[0]
        whole = self.start.size == record.time.size + 1 and self.start[0] == 0 and self.start[-1] == rows
        if not whole or any(getattr(self, word).shape != (rows, *shape) for word, shape in _SHAPES.items()):
            raise FileError(f"{record.source}: layers: columns must have one row for each layer of each state")
        self.state = np.repeat(np.arange(record.time.size), np.diff(self.start))

    def before(self) -> IntArray:
        """Return the row of the state before each, -1 for what was relaxed, (rows,).

        Of bodies that touch at several places it is -2: which is which is not recorded.
        """
        before, last = np.full(self.state.size, -1), dict[tuple[int, int], list[int]]()
        for l in range(self.start.size - 1):
            here: dict[tuple[int, int], list[int]] = {}
            for k in range(self.start[l], self.start[l + 1]):
                here.setdefault((int(self.body[k, 0]), int(self.body[k, 1])), []).append(k)
            for pair, rows in here.items():
                old = last.get(pair, [])
                if len(rows) > 1 or len(old) > 1:
                    before[rows] = -2
                elif old:
                    before[rows[0]] = old[0]
            last = here
        return before

    def unlawful(self, which: BoolArray, before: IntArray) -> Worst:
        """Return by which part deflections and cores differ from those that follow from law and impulses, (n+1,).

        Looked at are the rows in `which`.
        """
        value, zero = np.zeros(self.state.size), np.zeros(3)
        for k in np.flatnonzero(which):
            h = float(self.record.h[self.state[k] - 1])
            for side, layer in enumerate(self.model.layers[b] for b in self.body[k]):
                if layer is not None:
                    p, d = self.spring[k, side].copy(), self.deflection[k, side]
                    p[0] += self.core[k, side]
                    old = zero if before[k] < 0 else self.deflection[before[k], side]
                    found = layer.respond(p, old, h)
                    off = _share(np.linalg.norm(found.deflection - d), np.linalg.norm(d) + np.linalg.norm(old))
                    value[k] = max(value[k], off, _share(abs(found.core - self.core[k, side]), np.linalg.norm(p)))
        return Worst.of(value, self.state, np.arange(self.state.size), self.record.time.size)

    def misstated(self, contacts: ContactRows) -> Worst:
        """Return by which part normal impulses of layers differ from those of the contacts of their bodies, (n+1,)."""
        n, n_b = self.record.time.size, self.model.body_count
        step = np.repeat(np.arange(1, n), np.diff(contacts.start))
        pressed: dict[tuple[int, int], float] = {}
        touching = np.stack([step, contacts.body_a * n_b + contacts.body_b], axis=1).tolist()
        for (l, pair), p in zip(touching, contacts.impulse[:, 0].tolist(), strict=True):
            pressed[l, pair] = pressed.get((l, pair), 0.0) + p
        own: dict[tuple[int, int, int], float] = {}
        for k in np.flatnonzero(self.state > 0):
            a, b = self.pair(int(k))
            for side in (0, 1):
                if self.model.layers[(a, b)[side]] is not None:
                    at = int(self.state[k]), a * n_b + b, side
                    own[at] = own.get(at, 0.0) + float(self.spring[k, side, 0] + self.core[k, side])
        value = np.zeros(n)
        for (l, pair, _), p in own.items():
            value[l] = max(value[l], _share(abs(p - pressed.get((l, pair), 0.0)), abs(p)))
        return Worst(value, np.full(n, -1))

    def stored(self, *, active: bool) -> Array:
        """Return the energy in all layers at every state, (n+1,) [J]."""
        energy = np.zeros(self.record.time.size)
        for k, l in enumerate(self.state):
            for side in (0, 1):
                layer = self.model.layers[self.body[k, side]]
                if layer is not None:
                    d = self.deflection[k, side]
                    energy[l] += layer.energy(d) if active else layer.normal_energy(d)
        return energy

    def pair(self, k: int) -> tuple[int, int]:
        """Return the bodies of a row."""
        return int(self.body[k, 0]), int(self.body[k, 1])


def _share(part: Any, whole: Any) -> float:
    """Return ``part / whole``, 0 for nothing."""
    return 0.0 if part == 0.0 else float(part / whole) if whole > 0.0 else float("inf")
