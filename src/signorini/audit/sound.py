"""Whether numbers are numbers, times go on and quaternions are turns; and whether bodies are in each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.audit.findings import TOUCH, Worst
from signorini.audit.record import ContactRows, Record
from signorini.geometry import detect
from signorini.model import Model, State
from signorini.model.thickness import thinnest_extents

_MAY_BE_ENDLESS = {("certificate", column) for column in ("min_gap", "critical_damping", "extent", "overlap_extent")}
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


def overlaps(record: Record, model: Model, closing: Array) -> tuple[Worst, Worst]:
    """Return the deepest overlap of every state, and how wrong recorded gaps are; pairs as ``a n_b + b``.

    Both are parts of the thinner body of the pair. Springs at contacts overlap by what their impulse says; only what is
    more counts. Of pairs in touch when a step begins the least gap is compared with that of the record, unless the step
    was posed again; what turns may be posed where it meets, and what passes by may be given room to do so: no more
    than it can come closer by in the step, `closing` (rows,) [m].
    """
    thin = thinnest_extents(model.shapes, model.hulls, model.body_count)
    n = record.time.size
    deep, wrong = Worst(np.zeros(n), np.full(n, -1)), Worst(np.zeros(n), np.full(n, -1))
    again = record.column("certificate", "posed_again")
    at_start = np.ones(n, dtype=bool) if again is None else np.append(again == 0, True)
    near, given = 0.5 * TOUCH * np.where(np.isfinite(thin), thin, 0.0), spring_depths(record)
    for k in range(n):
        if not np.isfinite(record.q[k]).all():
            deep.value[k] = np.inf
            continue
        found = detect(model, State(t=float(record.time[k]), q=np.ascontiguousarray(record.q[k]), v=record.v[k]), near)
        if not found.gap.size:
            continue
        pair = found.body_a * model.body_count + found.body_b
        width = np.minimum(thin[found.body_a], thin[found.body_b])
        width = np.where(np.isfinite(width), width, 1.0)
        depth = (-found.gap - given[k]) / width
        c = int(np.argmax(depth))
        if depth[c] > 0.0:
            deep.value[k], deep.who[k] = depth[c], pair[c]
        if k < n - 1 and record.contacts is not None and record.scheme.theta == 1.0 and at_start[k]:
            touch = found.gap <= 0.5 * TOUCH * width
            off, who = _wrong_gap(
                record.contacts, closing, k, model.body_count, pair[touch], found.gap[touch], width[touch]
            )
            wrong.value[k], wrong.who[k] = off, who
    return deep, Worst(wrong.value[:-1], wrong.who[:-1])


def _wrong_gap(
    contacts: ContactRows, closing: Array, step: int, n_b: int, pair: IntArray, gap: Array, width: Array
) -> tuple[float, int]:
    """Return by how much the least gap of a pair in a step of the record differs from that found, and the pair."""
    rows = slice(contacts.start[step], contacts.start[step + 1])
    known, told = contacts.body_a[rows] * n_b + contacts.body_b[rows], contacts.gap[rows]
    worst, who = 0.0, -1
    if not known.size:
        return worst, who
    pairs, place = np.unique(np.concatenate([pair, known]), return_inverse=True)
    least, allowed = np.full((2, pairs.size), np.inf), np.zeros(pairs.size)
    np.minimum.at(least[0], place[: pair.size], gap)
    np.minimum.at(least[1], place[pair.size :], told)
    np.maximum.at(allowed, place[pair.size :], closing[rows])
    wide = np.zeros(pairs.size)
    wide[place[: pair.size]] = width
    both = np.isfinite(least).all(axis=0)
    if both.any():
        more = (least[1] - least[0])[both]
        off = np.maximum(-more, more - allowed[both]) / wide[both]
        worst, who = max(0.0, float(off.max())), int(pairs[both][np.argmax(off)])
    return worst, who


def spring_depths(record: Record) -> Array:
    """Return how deep springs at contacts are pressed in at every state, at most [m]; 0 where contacts are rigid."""
    stiffness, table, depth = record.scheme.stiffness, record.contacts, np.zeros(record.time.size)
    if stiffness is not None and table is not None:
        step = np.repeat(np.arange(record.step_count), np.diff(table.start))
        np.maximum.at(depth, step + 1, table.impulse[:, 0] / (record.h[step] * stiffness))
    return depth
