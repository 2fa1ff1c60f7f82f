r"""A kind of problem: contacts that also hold, up to an impulse.

.. math:: -a \le p \;\perp\; W p + b \ge 0 .

It is an LCP in p + a, which opens all solvers of those.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

import signorini as sg
from signorini._arrays import Array, checked
from signorini.problems import Converted, register_conversion, register_npz_kind
from signorini.problems.npz import write_npz


@dataclass(frozen=True)
class Adhesion:
    """The law above; W (n, n) [1/kg], b (n,) [m/s], a (n,) [N s]."""

    W: Array
    b: Array
    a: Array

    def __post_init__(self) -> None:
        n = np.size(self.b)
        for name, shape in (("W", (n, n)), ("b", (n,)), ("a", (n,))):
            object.__setattr__(self, name, checked(getattr(self, name), shape, f"adhesion: {name}"))

    @property
    def size(self) -> int:
        return int(self.b.size)

    def residual(self, z: Array) -> float:
        """Return the natural map as impulses, over the largest of impulses and loads."""
        mobility = self.W.diagonal()
        off = np.minimum(z + self.a, (self.W @ z + self.b) / mobility)
        size = max(np.abs(z).max(initial=0.0), np.abs(self.b / mobility).max(initial=0.0))
        return float(np.abs(off).max(initial=0.0) / size) if size > 0.0 else float(np.abs(off).max(initial=0.0))

    def save(self, path: str | PathLike[str]) -> None:
        write_npz(path, "adhesion", {"W": self.W, "b": self.b, "a": self.a})

    @staticmethod
    def from_fields(fields: dict[str, Any]) -> Adhesion:
        return Adhesion(fields["W"], fields["b"], fields["a"])


def adhesion_to_lcp(problem: Adhesion) -> Converted:
    lcp = sg.LCP(problem.W, problem.b - problem.W @ problem.a)
    return Converted(lcp, lambda z: z - problem.a, lambda p: p + problem.a)


register_conversion(Adhesion, sg.LCP, adhesion_to_lcp)
register_npz_kind("adhesion", Adhesion.from_fields)
