"""What a run in joint coordinates remembers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from signorini._arrays import Array, IntArray
from signorini.dynamics.response.mechanism import Mechanism
from signorini.posing.base import Memory


@dataclass(frozen=True, slots=True)
class JointMemory:
    """Joint coordinates and speeds, and the last impulses by feature."""

    configuration: Array
    """Coordinates of all joints and floating bodies, see :mod:`signorini.dynamics.response.mechanism`, (n_q,)."""
    speed: Array
    """(n_u,)"""
    feature: IntArray
    """Names of contacts and, negative, of joint laws; sorted, (m,)."""
    impulse: Array
    """(m, 6) [N s]"""
    coordinate: Array
    """Of joints that have one of their own, (n_j,) [m, rad]."""
    stored: float = 0.0
    """Energy of modes [J]."""
    mechanism: Mechanism | None = field(default=None, compare=False, repr=False)
    """The trees of the model; made anew where a memory comes from a file."""
    kind: ClassVar[str] = "joint coordinates"

    def to_arrays(self) -> dict[str, Any]:
        """Return all fields by name but the trees."""
        names = ("configuration", "speed", "feature", "impulse", "coordinate", "stored")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> JointMemory:
        """Return the memory of these fields."""
        return cls(**arrays)

    def recall(self, feature: IntArray) -> Array:
        """Return the remembered impulse of every feature, zero for new ones, (n, 6)."""
        return Memory(self.feature, self.impulse, self.coordinate).recall(feature)
