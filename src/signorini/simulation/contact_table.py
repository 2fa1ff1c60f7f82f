"""The contacts of one step as people read them, and of all steps as files keep them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini._words import Word
from signorini.formulations import StepResult
from signorini.math.rotation import tangent_frame
from signorini.posing.contact_checks import SEPARATING, SLIP, STICK


class Mode(Word):
    """What a contact does during a step."""

    SEPARATING = int(SEPARATING)
    STICK = int(STICK)
    SLIP = int(SLIP)


@dataclass(frozen=True, slots=True)
class ContactTable:
    """One row per contact; impulses act on the second body, slip is second minus first, all in world axes."""

    bodies: tuple[tuple[str, str], ...]
    point: Array
    """On the second body, (n_c, 3) [m]."""
    normal: Array
    """From the first to the second body, (n_c, 3)."""
    gap: Array
    """At the start of the step, (n_c,) [m]."""
    normal_impulse: Array
    """(n_c,) [N s]"""
    friction_impulse: Array
    """(n_c, 3) [N s]"""
    slip: Array
    """Sliding velocity at the end of the step, (n_c, 3) [m/s]."""
    mode: tuple[Mode, ...]
    couple: Array
    """Torsional, rolling and ellipsoidal friction, (n_c, 3) [N m s]."""
    deflection: Array
    """Of compliant layers, both bodies' together: along the normal, then along the tangents t and o of the contact's
    frame, at the end of the step, (n_c, 3) [m]."""
    core_impulse: Array
    """The part of the normal impulse that a rigid core takes, (n_c,) [N s]."""

    def __len__(self) -> int:
        return len(self.bodies)

    def __str__(self) -> str:
        lines = [f"{'bodies':<28}{'gap [m]':>12}{'p_n [N s]':>12}{'|p_T| [N s]':>13}{'slip [m/s]':>12}  mode"]
        for c, (a, b) in enumerate(self.bodies):
            friction, slip = np.linalg.norm(self.friction_impulse[c]), np.linalg.norm(self.slip[c])
            lines.append(
                f"{a + ' / ' + b:<28}{self.gap[c]:12.3e}{self.normal_impulse[c]:12.4e}{friction:13.4e}{slip:12.3e}"
                f"  {self.mode[c]}"
            )
        return "\n".join(lines)


class ContactRows(NamedTuple):
    """Contacts of several steps as arrays, (rows, ...); impulses act on body b, slip is b minus a, in world axes."""

    row: IntArray
    """In the log."""
    step: IntArray
    body_a: IntArray
    body_b: IntArray
    point: Array
    normal: Array
    gap: Array
    normal_impulse: Array
    impulse: Array
    """Normal and friction together [N s]."""
    slip: Array
    mode: IntArray

    def between(self, first: int, last: int) -> ContactRows:
        """Return the rows from `first` to before `last`."""
        columns: Any = (column[first:last] for column in self)
        return ContactRows(*columns)


@dataclass(frozen=True, slots=True)
class ContactLog:
    """Contacts of many steps in flat arrays; step l owns the rows ``start[l]:start[l + 1]``."""

    start: IntArray
    body_a: IntArray
    body_b: IntArray
    point_a: Array
    """On the first body, (rows, 3) [m]."""
    point: Array
    """On the second, where bodies are when the step acts; of bodies that meet later, as their arms are then."""
    normal: Array
    gap: Array
    impulse: Array
    """In the contact frame (n, t, o), (rows, 3) [N s]."""
    velocity: Array
    """At the end of the step, in the contact frame, (rows, 3) [m/s]."""
    mode: IntArray
    couple: Array | None = None
    """About the contact frame (n, t, o), (rows, 3) [N m s]; None where no contact can have one, and in files of earlier
    versions."""
    feature: IntArray | None = None
    """Names of the contacts, (rows,); None in files of earlier versions. Steps that are posed again have several of one
    name: as it was at each of the places where bodies met or ended."""
    deflection: Array | None = None
    """See :class:`ContactTable`, (rows, 3) [m]; None in scenes without layers."""
    core_impulse: Array | None = None
    """(rows,) [N s]; None in scenes without layers."""

    @staticmethod
    def of(parts: list[dict[str, Any]], counts: list[IntArray]) -> ContactLog:
        """Join rows, as :func:`rows` gives them, and the numbers of contacts in their steps."""
        columns = {key: np.concatenate([empty, *(part[key] for part in parts)]) for key, empty in _EMPTY.items()}
        for key in ("couple", "deflection", "core_impulse"):
            if any(key in part for part in parts):
                columns[key] = np.concatenate([part[key] for part in parts])
        zero = np.zeros(1, dtype=np.int64)
        return ContactLog(np.cumsum(np.concatenate([zero, *counts])), **columns)

    @staticmethod
    def from_dict(columns: dict[str, Any]) -> ContactLog:
        """Return the log of a file; older ones tell the points of the first body by the gap alone."""
        if "point_a" not in columns:
            columns = {**columns, "point_a": columns["point"] - columns["gap"][:, None] * columns["normal"]}
        return ContactLog(**columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays by name, for files."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: column for key, column in columns.items() if column is not None}

    def body_impulse(self, body: int, steps: int) -> Array:
        """Return the sum of the contact impulses on a body in each of so many steps, (steps, 3) [N s]."""
        impulse = _in_world(self.normal, self.impulse)
        sign = (self.body_b == body).astype(float) - (self.body_a == body)
        total = np.zeros((steps, 3))
        np.add.at(total, np.repeat(np.arange(self.start.size - 1), np.diff(self.start)), sign[:, None] * impulse)
        return total

    def rows(self, steps: IntArray | None = None) -> ContactRows:
        """Return the contacts of some steps, default all, each once, in world axes.

        Of rows of one name in one step stay those that carry something, or the nearest if none does.
        """
        steps = np.arange(self.start.size - 1) if steps is None else steps
        counts = np.diff(self.start)[steps]
        step = np.repeat(steps, counts)
        kept = np.arange(counts.sum()) + np.repeat(self.start[:-1][steps] - (np.cumsum(counts) - counts), counts)
        if self.feature is not None:
            carries = np.any(self.impulse[kept] != 0.0, axis=1)
            order = np.lexsort((self.gap[kept], ~carries, self.feature[kept], step))
            leads = np.ones(kept.size, dtype=bool)
            leads[1:] = (np.diff(self.feature[kept][order]) != 0) | (np.diff(step[order]) != 0)
            chosen = np.sort(order[leads | carries[order]])
            kept, step = kept[chosen], step[chosen]
        normal, impulse = self.normal[kept], self.impulse[kept]
        return ContactRows(
            row=kept,
            step=step,
            body_a=self.body_a[kept],
            body_b=self.body_b[kept],
            point=self.point[kept],
            normal=normal,
            gap=self.gap[kept],
            normal_impulse=impulse[:, 0].copy(),
            impulse=_in_world(normal, impulse),
            slip=_tangential(normal, self.velocity[kept]),
            mode=self.mode[kept],
        )

    def table(self, step: int, names: tuple[str, ...]) -> ContactTable:
        """Return the contacts of one step for reading, each once."""
        found = self.rows(np.array([step]))
        rows, normal = found.row, found.normal
        return ContactTable(
            bodies=tuple((names[a], names[b]) for a, b in zip(found.body_a, found.body_b, strict=True)),
            point=found.point,
            normal=normal,
            gap=found.gap,
            normal_impulse=found.normal_impulse,
            friction_impulse=_tangential(normal, self.impulse[rows]),
            slip=found.slip,
            mode=tuple(Mode(int(mode)) for mode in found.mode),
            couple=np.zeros_like(normal) if self.couple is None else _in_world(normal, self.couple[rows]),
            deflection=np.zeros_like(normal) if self.deflection is None else self.deflection[rows],
            core_impulse=np.zeros(rows.size) if self.core_impulse is None else self.core_impulse[rows],
        )


def _in_world(normal: Array, local: Array) -> Array:
    """Return vectors in contact frames (n, t, o) in world axes, (rows, 3)."""
    whole: Array = local[:, :1] * normal + _tangential(normal, local)
    return whole


@kernel
def _tangential(normal: Array, local: Array) -> Array:
    """Return the tangential part of vectors in contact frames (n, t, o) in world axes, (rows, 3)."""
    out = np.empty_like(normal)
    for c in range(normal.shape[0]):
        t, o = tangent_frame((normal[c, 0], normal[c, 1], normal[c, 2]))
        for k in range(3):
            out[c, k] = local[c, 1] * t[k] + local[c, 2] * o[k]
    return out


_EMPTY: dict[str, Any] = {
    "body_a": np.zeros(0, dtype=np.int64),
    "body_b": np.zeros(0, dtype=np.int64),
    "point_a": np.zeros((0, 3)),
    "point": np.zeros((0, 3)),
    "normal": np.zeros((0, 3)),
    "gap": np.zeros(0),
    "impulse": np.zeros((0, 3)),
    "velocity": np.zeros((0, 3)),
    "mode": np.zeros(0, dtype=np.int64),
    "feature": np.zeros(0, dtype=np.int64),
}


def rows(result: StepResult) -> dict[str, Any]:
    """Return the contacts of one step as arrays by name."""
    contacts = result.contacts
    return (
        ({} if result.couple is None else {"couple": result.couple})
        | (result.layered or {})
        | {
            "body_a": contacts.body_a,
            "body_b": contacts.body_b,
            "point_a": contacts.point_a,
            "point": contacts.point_b,
            "normal": contacts.normal,
            "gap": contacts.gap,
            "impulse": result.impulse,
            "velocity": result.velocity,
            "mode": result.mode,
            "feature": contacts.feature,
        }
    )
