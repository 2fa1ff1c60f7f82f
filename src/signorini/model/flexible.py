"""Bodies that deform by modes in a floating frame, as arrays (S5, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.errors import InputError

if TYPE_CHECKING:
    from signorini.model.model import Model


class Points(NamedTuple):
    """Material points of a body with nu modes."""

    place: Array
    """In the frame, undeformed, (n, 3) [m]."""
    Phi: Array
    """Displacements by the modes, (n, 3, nu)."""
    Psi: Array
    """Small turns by the modes, (n, 3, nu) [rad per unit]."""
    Chi: Array
    """Displacements of the second order, symmetric in the modes, (n, 3, nu, nu)."""


class Flexible(NamedTuple):
    """Points of mass and stiffness of a body; its frame is where modes neither displace nor turn it."""

    mass: Array
    """Of each point, (n,) [kg]."""
    points: Points
    stiffness: Array
    """(nu, nu)"""
    damping: Array
    """(nu, nu)"""
    turning: Array
    """Inertia beyond that of the points about the axes of the frame, such as that of sections, (3, 3) [kg m^2]."""

    @property
    def mode_count(self) -> int:
        """Number of modes."""
        return int(self.stiffness.shape[0])


class Line(NamedTuple):
    """Polynomial shapes of a beam, by which its line is drawn."""

    length: float
    """[m]"""
    axis: IntArray
    """Along which axis each mode displaces, 0 along the beam, (nu,)."""
    coefficient: Array
    """Of powers of x/length, (nu, any)."""
    foreshortening: bool


@dataclass(frozen=True, slots=True)
class Deformable:
    """A flexible body among the rows of a model: its frame has a row of its own, then every named point."""

    name: str
    row: int
    """Of the frame; those of the points follow it."""
    points: Points
    """The named points, (n, ...)."""
    body: Flexible
    first: int
    """Of its modes among ``State.modal``."""
    line: Line | None
    """None where shapes are known at points alone."""

    @property
    def rows(self) -> slice:
        """Rows of the frame and of the points."""
        return slice(self.row, self.row + 1 + self.points.place.shape[0])

    @property
    def modes(self) -> slice:
        """Its part of ``State.modal``."""
        return slice(self.first, self.first + self.body.mode_count)


def frame_rows(model: Model) -> IntArray:
    """Return for every row that of the frame it moves with: its own, but of points that of their body, (n_b,)."""
    rows = np.arange(model.body_count)
    for one in model.flexible:
        rows[one.rows] = one.row
    return rows


def refuse_flexible(model: Model, who: str) -> None:
    """Raise `InputError` if a body deforms: `who` knows rigid ones alone."""
    if model.flexible:
        raise InputError(
            f"body {model.flexible[0].name!r}: is flexible, must be rigid for {who}; Recursive knows flexible bodies"
        )
