"""Joints of a run, step by step."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from signorini._arrays import Array
from signorini.errors import InputError


@dataclass(frozen=True, slots=True)
class JointRecord:
    """One joint over time."""

    coordinate: Array
    """Angle, displacement or change of distance at every recorded time, (n+1,) [rad, m]; 0 for joints without one."""
    speed: Array
    """(n+1,) [rad/s, m/s]"""
    effort: Array
    """Impulse along the coordinate in every step: friction, motor, drive, limit and spring, (n,) [N m s, N s]."""
    reaction: Array
    """Impulse and moment of impulse on body b at the anchor in every step, world axes, (n, 6) [N s, N m s]."""


@dataclass(frozen=True, slots=True)
class JointLog:
    """All joints over time."""

    names: tuple[str, ...]
    coordinate: Array
    """(n+1, n_j)"""
    speed: Array
    """(n+1, n_j)"""
    effort: Array
    """(n, n_j)"""
    reaction: Array
    """(n, n_j, 6)"""
    ending: Array | None = None
    """The part of the reactions that acts where steps end, (n, n_j, 6); None: the file does not tell."""

    def of(self, name: str) -> JointRecord:
        """Return one joint."""
        if name not in self.names:
            known = ", ".join(map(repr, self.names)) or "none"
            raise InputError(f"no joint is called {name!r}; there are {known}")
        g = self.names.index(name)
        return JointRecord(self.coordinate[:, g], self.speed[:, g], self.effort[:, g], self.reaction[:, g])

    def to_dict(self) -> dict[str, Any]:
        """Return the arrays by name, for files."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"names": list(self.names)}
