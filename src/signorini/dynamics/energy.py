r"""Kinetic, potential and stored energy of a scene: the one place where they are asked for.

.. math::
    T = \tfrac12 \sum_b v_b^T M_b v_b + \tfrac12 |\dot a|^2, \qquad
    V = -\sum_b m_b\, g \cdot x_b, \qquad
    U = \tfrac12 \sum_j k_j (s_j - s_{0j})^2 + U_m,

with flexible bodies point by point, further coordinates a of unit mass (:class:`~signorini.State`), springs of joints
at the coordinates that the memory of the stepper counts, and :math:`U_m`, what the stepper has stored elsewhere: in
contacts, in modes.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from signorini._arrays import Array
from signorini.dynamics.bodies import kinetic_energy
from signorini.dynamics.joints import elastic_energy
from signorini.dynamics.loads import potential_energy
from signorini.model import Model, State


class Stores(Protocol):
    """A memory, as far as energy is concerned."""

    @property
    def coordinate(self) -> Array:
        """Joint coordinates, angles counted over full turns, (n_j,) [m, rad]."""

    @property
    def stored(self) -> float:
        """Energy stored elsewhere than in springs of joints [J]."""


class Energies(NamedTuple):
    """The energies of one state [J]."""

    kinetic: float
    potential: float
    stored: float


def energies(model: Model, state: State, memory: Stores) -> Energies:
    """Return the energies of a state whose stepper remembers `memory`."""
    kinetic, potential = motion_energies(model, state.q, state.v, state.modal_rate, state.modal)
    return Energies(float(kinetic), float(potential), stored_energy(model, memory))


def motion_energies(
    model: Model, q: Array, v: Array, modal_rate: Array, modal: Array | None = None
) -> tuple[Array, Array]:
    """Return the kinetic and the potential energy of one state or many, (...) [J].

    `q` (..., n_b, 7), `v` (..., n_b, 6), `modal_rate` and `modal` (..., n_m) are as in a State; `modal` is needed where
    bodies are flexible.
    """
    kinetic, potential = kinetic_energy(model.arrays, q, v), potential_energy(model, q)
    if not model.flexible:
        return kinetic.sum(axis=-1) + 0.5 * np.sum(modal_rate**2, axis=-1), potential.sum(axis=-1)
    from signorini.dynamics.response.flexible import motion_of  # only those who bend wait for its kernels

    assert modal is not None, "modal coordinates are needed where bodies are flexible"
    first, owned = model.flexible[0].row, model.flexible[-1].modes.stop
    T = kinetic[..., :first].sum(axis=-1) + 0.5 * np.sum(modal_rate[..., owned:] ** 2, axis=-1)
    V = potential[..., :first].sum(axis=-1)
    for one in model.flexible:
        more = motion_of(one, q, v, modal, modal_rate, model.arrays.gravity)
        T, V = T + more[0], V + more[1]
    return T, V


def stored_energy(model: Model, memory: Stores) -> float:
    """Return the energy of all springs, of joints and others [J]."""
    return elastic_energy(model.joints, memory.coordinate) + memory.stored
