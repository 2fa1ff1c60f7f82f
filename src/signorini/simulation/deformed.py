"""Modes of flexible bodies in the record of a run: what their coordinates mean, and lines for pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, checked_number
from signorini.errors import FileError, InputError
from signorini.io import short
from signorini.math.rotation import matrix
from signorini.model import Model, Section, Shapes, beam_points

_WORDS = ("length", "axis", "coefficient", "foreshortening"), ("place", "Phi", "Chi")


@dataclass(frozen=True, slots=True)
class ModalRecord:
    """The modes of a flexible body over time."""

    coordinate: Array
    """(n+1, nu)"""
    rate: Array
    """(n+1, nu)"""


def flexible_to_dict(model: Model) -> dict[str, Any]:
    """Return what a file tells of the flexible bodies of a model, by their numbers."""
    out: dict[str, Any] = {}
    for k, one in enumerate(model.flexible):
        entry: dict[str, Any] = {"name": one.name, "first": one.first, "count": one.body.mode_count}
        if one.line is not None:
            entry |= dict(zip(_WORDS[0], one.line, strict=True))
        else:
            points = one.body.points
            entry |= {"place": points.place, "Phi": points.Phi, "Chi": points.Chi}
        out[str(k)] = entry
    return out


def check_flexible(flexible: Any, modes: int, where: str) -> None:
    """Raise `FileError` unless a file tells of flexible bodies as :func:`flexible_to_dict` does."""
    if not isinstance(flexible, dict):
        raise FileError(f"{where}: flexible is {short(flexible)}, must be a group")
    for key, entry in flexible.items():
        place = f"{where}: flexible: {key}"
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise FileError(f"{place} is {short(entry)}, must be a group with a name")
        first, count = entry.get("first"), entry.get("count")
        if type(first) is not int or type(count) is not int or not 0 <= first <= first + count <= modes:
            raise FileError(f"{place}: modes {short(first)} and {short(count)} after it, must lie within {modes}")
        if not any(all(word in entry for word in words) for words in _WORDS):
            raise FileError(f"{place}: has no shapes, must have {', '.join(_WORDS[0])}, or {', '.join(_WORDS[1])}")


def entry_of(flexible: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what is told of a flexible body."""
    for entry in flexible.values():
        if entry["name"] == name:
            return dict(entry)
    names = ", ".join(repr(entry["name"]) for entry in flexible.values())
    raise InputError(f"no flexible body is called {name!r}; there are {names or 'none'}")


def line(entry: Mapping[str, Any], pose: Array, q: Array, count: int) -> Array:
    """Return places in the world (m, 3) of a beam at equal distances, of other bodies at their nodes [m]."""
    if "length" in entry:
        if checked_number(count, "deformed: points", least=2.0) != int(count):
            raise InputError(f"deformed: points is {count!r}, must be an integer >= 2")
        section = Section(float(entry["length"]), 0.0, (0.0, 0.0), 0.0, 0.0)
        modes = list(zip(entry["axis"], entry["coefficient"], strict=True))  # along x, then y, then z
        shapes = Shapes(*([one.tolist() for at, one in modes if at == axis] for axis in range(3)))
        x = np.linspace(0.0, section.length, int(count))
        points = beam_points(section, shapes, x, foreshortening=bool(entry["foreshortening"]))
        place, Phi, Chi = points.place, points.Phi, points.Chi
    else:
        place, Phi, Chi = entry["place"], entry["Phi"], entry["Chi"]
    r = place + Phi @ q + 0.5 * (Chi @ q) @ q
    out: Array = pose[:3] + r @ np.array(matrix(tuple(pose[3:]))).reshape(3, 3).T
    return out
