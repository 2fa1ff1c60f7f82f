"""Whether numbers are numbers, times go on and quaternions are turns; and whether bodies are in each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.audit.findings import Worst
from signorini.audit.record import Record
from signorini.geometry import detect
from signorini.model import Model, State
from signorini.model.thickness import thinnest_extents

_MAY_BE_ENDLESS = {("certificate", "min_gap"), ("certificate", "critical_damping"), ("certificate", "extent")}
_NOT_OF_THE_RUN = {"settings", "memory"}


def not_finite(record: Record) -> tuple[Worst, list[str]]:
    """Return how many numbers of every state are not finite, and the names of the columns that they stand in."""
    n = record.step_count
    count, who, names = np.zeros(n + 1), np.full(n + 1, -1), list[str]()
    for name, array in _arrays(record.tree):
        bad = ~np.isfinite(array)
        if not bad.any():
            continue
        names.append(name)
        rows = np.flatnonzero(bad.reshape(bad.shape[0], -1).any(axis=1))
        np.add.at(count, _states(record, name, array.shape[0], rows), 1.0)
        who[_states(record, name, array.shape[0], rows)] = len(names) - 1
    return Worst(count, who), names


def _arrays(tree: dict[str, Any]) -> list[tuple[str, Array]]:
    """Return the columns of numbers that a run is made of, by names like ``contacts/gap``."""
    found = []
    for key, value in tree.items():
        if key in _NOT_OF_THE_RUN:
            continue
        items = value.items() if isinstance(value, dict) else [("", value)]
        for word, array in items:
            if (key, word) in _MAY_BE_ENDLESS or not isinstance(array, np.ndarray) or array.dtype.kind != "f":
                continue
            if array.ndim:
                found.append((f"{key}/{word}" if word else key, array))
    return found


def _states(record: Record, name: str, rows: int, bad: IntArray) -> IntArray:
    """Return the states to which rows of a column belong; those of tables without steps count for the first."""
    n = record.step_count
    if name.startswith("contacts/") and record.contacts is not None and rows == record.contacts.gap.size:
        return np.searchsorted(record.contacts.start, bad, side="right")
    if rows == n + 1:
        return bad
    return bad + 1 if rows == n else np.zeros_like(bad)


def uneven_times(record: Record) -> Worst:
    """Return by which part steps differ from the step size of the settings; times that do not go on are infinite."""
    told = (record.tree.get("settings") or {}).get("h")
    step = np.diff(record.time)
    h = step if told is None else np.full(step.size, float(told))
    off = np.where(step > 0.0, np.abs(record.h - h) / np.where(h > 0.0, h, 1.0), np.inf)
    return Worst(np.where(np.isnan(off), np.inf, off), np.full(off.size, -1))


def long_quaternions(record: Record) -> Worst:
    """Return by how much orientations are no unit quaternions, at every state; by bodies."""
    off = np.abs(np.linalg.norm(record.q[:, :, 3:], axis=2) - 1.0)
    off = np.where(np.isnan(off), np.inf, off)
    return Worst(off.max(axis=1, initial=0.0), off.argmax(axis=1) if off.shape[1] else np.full(off.shape[0], -1))


def overlaps(record: Record, model: Model) -> Worst:
    """Return the deepest overlap of every state, of the thinner body of the pair; pairs as ``a n_b + b``.

    Springs at contacts overlap by what their impulse says; only what is more counts.
    """
    thin = thinnest_extents(model.shapes, model.hulls, model.body_count)
    value, who = np.zeros(record.time.size), np.full(record.time.size, -1)
    none, given = np.zeros(model.body_count), spring_depths(record)
    for k in range(record.time.size):
        if not np.isfinite(record.q[k]).all():
            value[k] = np.inf
            continue
        found = detect(model, State(float(record.time[k]), np.ascontiguousarray(record.q[k]), record.v[k]), none)
        if not found.gap.size:
            continue
        width = np.minimum(thin[found.body_a], thin[found.body_b])
        depth = (-found.gap - given[k]) / np.where(np.isfinite(width), width, 1.0)
        c = int(np.argmax(depth))
        if depth[c] > 0.0:
            value[k], who[k] = depth[c], found.body_a[c] * model.body_count + found.body_b[c]
    return Worst(value, who)


def spring_depths(record: Record) -> Array:
    """Return how deep springs at contacts are pressed in at every state, at most [m]; 0 where contacts are rigid."""
    stiffness, table, depth = record.scheme.stiffness, record.contacts, np.zeros(record.time.size)
    if stiffness is not None and table is not None:
        step = np.repeat(np.arange(record.step_count), np.diff(table.start))
        np.maximum.at(depth, step + 1, table.impulse[:, 0] / (record.h[step] * stiffness))
    return depth
