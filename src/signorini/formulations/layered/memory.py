"""What a geometrically implicit step remembers: the deflections of layers, with their tangents, and last impulses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.posing.constants import RELAXED


@dataclass(frozen=True, slots=True)
class Kept:
    """The layers of one contact."""

    deflection: Array
    """Of the layers of the first and of the second body, each in its own frame (n, t, o), (2, 3) [m]."""
    tangent: Array
    """The tangents t of these frames, in world axes, (2, 3)."""
    impulse: Array
    """Of the last step: p_n, p_t, p_o and the couple p_r, in the frame of the contact, (4,) [N s, N m s]."""

    @property
    def pressed(self) -> bool:
        """Whether the contact carried a force in the last step."""
        return bool(self.impulse[0] > 0.0)

    @property
    def relaxed(self) -> bool:
        """Whether there is nothing to remember."""
        return not self.pressed and bool(np.all(np.abs(self.deflection) < RELAXED))


@dataclass(frozen=True, slots=True)
class LayerMemory:
    """Layers by the names of their contacts; those that nothing presses relax, and are forgotten when they have."""

    feature: IntArray
    """Names of contacts, sorted, (m,)."""
    body: IntArray
    """Their bodies, (m, 2)."""
    deflection: Array
    """See :class:`Kept`, (m, 2, 3)."""
    tangent: Array
    """(m, 2, 3)"""
    impulse: Array
    """(m, 4)"""
    coordinate: Array = field(default_factory=lambda: np.zeros(0))
    """Joint coordinates, angles counted over full turns, (n_j,) [m, rad]."""
    stored: float = 0.0
    """Energy in the layers [J]."""
    kind: ClassVar[str] = "layers"

    @staticmethod
    def of(rows: dict[int, tuple[tuple[int, int], Kept]], coordinate: Array, stored: float) -> LayerMemory:
        """Remember what is kept of contacts, by their names."""
        names = sorted(name for name, (_, kept) in rows.items() if not kept.relaxed)
        m = len(names)
        return LayerMemory(
            feature=np.array(names, dtype=np.int64),
            body=np.array([rows[name][0] for name in names], dtype=np.int64).reshape(m, 2),
            deflection=np.array([rows[name][1].deflection for name in names]).reshape(m, 2, 3),
            tangent=np.array([rows[name][1].tangent for name in names]).reshape(m, 2, 3),
            impulse=np.array([rows[name][1].impulse for name in names]).reshape(m, 4),
            coordinate=coordinate,
            stored=stored,
        )

    def rows(self) -> dict[int, tuple[tuple[int, int], Kept]]:
        """Return what is kept of contacts, with their bodies, by their names."""
        return {
            int(name): ((int(a), int(b)), Kept(self.deflection[k], self.tangent[k], self.impulse[k]))
            for k, (name, (a, b)) in enumerate(zip(self.feature, self.body, strict=True))
        }

    def layer_rows(self) -> dict[str, Any]:
        """Return the layers as a LayerLog has them, before anything acts."""
        m = self.feature.size
        return {
            "body": self.body,
            "deflection": self.deflection,
            "spring": np.zeros((m, 2, 3)),
            "core": np.zeros((m, 2)),
            "couple": np.zeros(m),
        }

    def to_arrays(self) -> dict[str, Any]:
        """Return all fields by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> LayerMemory:
        """Return the memory of these fields."""
        return cls(**arrays)
