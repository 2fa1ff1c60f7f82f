"""A compiled scene: arrays for the kernels, names for the people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from signorini._arrays import Array, IntArray
from signorini.model.convex_sets import ConvexSet
from signorini.model.flexible import Deformable
from signorini.model.joints import Joints
from signorini.model.layers import Layer
from signorini.model.shapes import Hulls, ShapeArrays
from signorini.model.state import State


class ModelArrays(NamedTuple):
    """Inertia and freedom of every body; fixed bodies come first."""

    mass: Array
    """(n_b,) [kg]; 0 for fixed bodies. Rows of a flexible body have equal shares: `Model.flexible` says more."""
    inertia: Array
    """Inertia about the mass centre in body axes, (n_b, 3, 3) [kg m^2]; 0 for fixed bodies."""
    free: Array
    """1 where a body may move along or about a world axis, else 0, (n_b, 6); planar bodies: (1, 1, 0, 0, 0, 1)."""
    gravity: Array
    """(3,) [m/s^2]"""
    weight: Array
    """Force and moment of gravity on every body, (n_b, 6) [N, N m]."""
    bound: Array
    """Radius about the mass centre that contains all bounded shapes of a body, (n_b,) [m]."""


class Materials(NamedTuple):
    """Contact data by pair; row 0 is the default."""

    friction: Array
    """Coulomb coefficient, (n_m,)."""
    restitution: Array
    """Newton's coefficient, (n_m,)."""
    torsional: Array
    """Torsional friction radius, (n_m,) [m]."""
    rolling: Array
    """Rolling friction radius, (n_m,) [m]."""
    ellipsoid: Array
    """Half axes e_t, e_o and e_r [m] of ellipsoidal friction, zero where friction is round, (n_m, 3)."""
    pair: IntArray
    """Sorted keys ``a * n_b + b`` (a < b) of the pairs with data of their own, (n_p,)."""
    pair_material: IntArray
    """Row for each key, -1 for a pair that never touches, (n_p,)."""


Motion = Callable[[float], Any]
"""Prescribed pose of a fixed body: t -> position, or (position, orientation)."""


@dataclass(frozen=True, slots=True)
class Force:
    """A load on one body: constants or functions of (t, state), world axes."""

    body: int
    force: Array | Callable[[float, State], Any] | None
    """[N]"""
    torque: Array | Callable[[float, State], Any] | None
    """[N m]"""
    at: Array | None
    """Point of attack in the frame of the mass centre, (3,) [m]; None for the mass centre itself."""


@dataclass(frozen=True, slots=True)
class Model:
    """All that does not change while a simulation runs."""

    names: tuple[str, ...]
    """Names of the bodies: the fixed ones first, then in order of creation."""
    fixed_count: int
    planar: bool
    arrays: ModelArrays
    shapes: ShapeArrays
    hulls: Hulls
    materials: Materials
    motions: tuple[Callable[[float], Array] | None, ...]
    """For each fixed body its pose as a function of time, (7,), or None if it rests."""
    forces: tuple[Force, ...]
    joints: Joints
    mass_centre: Array
    """Mass centre in the body frame that the user placed, (n_b, 3) [m]."""
    initial_state: State
    implicit: tuple[ConvexSet | None, ...] = ()
    """For each shape its inequalities if it has no other description, else None; empty if there are no such shapes."""
    layers: tuple[Layer | None, ...] = ()
    """For each body its compliant layer, None where it is rigid; empty if all are."""
    flexible: tuple[Deformable, ...] = ()
    """Flexible bodies; the rows of their frames and named points follow those of rigid bodies."""

    @property
    def body_count(self) -> int:
        """Number of bodies, fixed ones included."""
        return len(self.names)

    def index(self, name: str) -> int:
        """Return the row of the body called `name`."""
        from signorini.errors import InputError

        try:
            return self.names.index(name)
        except ValueError:
            raise InputError(f"no body is called {name!r}; there are {', '.join(map(repr, self.names))}") from None
