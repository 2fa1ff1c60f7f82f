r"""Energies from places and velocities, against those of the record and what it says of gains and losses.

The velocities of a step are those by which bodies went from one place to the next, so they belong to its middle. What
rises and falls is judged there: the energy of places and velocities at the end of a step, and
:math:`(\theta - \tfrac12) h\, m g \cdot v` more. Else a body would seem to lose this while it falls, and to get it back
from whatever makes it rise.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.audit.findings import Worst
from signorini.audit.record import Record
from signorini.dynamics import elastic_energy, joint_coordinates, kinetic_energy, potential_energy
from signorini.model import Model

GAINS = ("load_work", "drive_work", "correction_work", "joint_work")
LOSSES = ("friction", "impact", "damping", "integration")


class Energies:
    """Kinetic, potential and elastic energy at every state of a record [J]."""

    def __init__(self, record: Record, model: Model) -> None:
        arrays, joints, n = model.arrays, model.joints, record.time.size
        self.record = record
        self.kinetic, self.potential, self.elastic = np.zeros(n), np.zeros(n), np.zeros(n)
        for k in range(n):
            q, v = np.ascontiguousarray(record.q[k]), np.ascontiguousarray(record.v[k])
            self.kinetic[k] = kinetic_energy(arrays, q, v).sum()
            self.potential[k] = potential_energy(model, q).sum()
            if joints.count:
                near = np.zeros(joints.count) if record.joints is None else record.joints.coordinate[k]
                self.elastic[k] = elastic_energy(joints, joint_coordinates(joints, q, near))
        theta, length = record.scheme.theta, np.concatenate([record.h[:1], record.h])
        falls = np.einsum("bk,lbk->l", arrays.weight[model.fixed_count :, :3], record.v[:, model.fixed_count :, :3])
        self.middle = self.kinetic + self.potential + (theta - 0.5) * length * falls
        """Kinetic and potential energy in the middle of the step that ends at a state, (n+1,) [J]."""
        extent = np.abs(record.q[:, model.fixed_count :, :3]).max(initial=0.0) + model.arrays.bound.max(initial=0.0)
        # The weight of the scene times its extent keeps the scale from vanishing in scenes at rest.
        self.least = float(arrays.mass.sum() * np.linalg.norm(arrays.gravity) * extent)

    def scale(self, *more: Array) -> Array:
        """Return the energies at play at every state, (n+1,) [J]."""
        sizes = [np.abs(x) for x in (self.kinetic, self.potential, self.elastic, *more)]
        at_play: Array = np.maximum(np.max(sizes, axis=0), self.least)
        return at_play

    def misstated(self) -> Worst | None:
        """Return by which part the energies that the record tells differ from those of its motion."""
        told = [(self.record.column("", word), getattr(self, word)) for word in ("kinetic", "potential")]
        pairs = [(x, y) for x, y in told if x is not None and x.size == y.size]
        if not pairs:
            return None
        off = np.max([np.abs(x - y) for x, y in pairs], axis=0)
        return _nobody(off, self.scale(*(x for x, _ in pairs)))

    def _terms(self, words: tuple[str, ...]) -> Array | None:
        """Return the sum of terms of the balance in every step [J], None if some are not recorded."""
        columns = [self.record.column("balance", word) for word in words]
        known = [column for column in columns if column is not None and column.size == self.record.step_count]
        return np.sum(known, axis=0, dtype=np.float64) if len(known) == len(columns) else None

    def unbalanced(self) -> Worst | None:
        """Return how far the balance of every step is from closing, of the energies at play."""
        gained, lost, stored = self._terms(GAINS), self._terms(LOSSES), self._terms(("elastic",))
        if gained is None or lost is None or stored is None:
            return None
        change = np.diff(self.kinetic + self.potential)
        scale = self.scale()
        return _nobody(
            np.abs(change + stored - (gained - lost)),
            np.maximum(np.maximum(scale[1:], scale[:-1]), np.maximum(np.abs(gained), np.abs(lost))),
        )

    def unexplained(self) -> Worst | None:
        """Return by how much the energy has risen that loads, drives and corrections did not give.

        It is measured from the least that was ever left, of the energies at play.
        """
        gained, stored = self._terms(GAINS), self._terms(("elastic",))
        if gained is None or stored is None:
            return None
        own = np.concatenate([[0.0], np.cumsum(np.diff(self.middle) + stored - gained)])
        rise = own - np.minimum.accumulate(own)
        return _nobody(rise[1:], np.maximum.accumulate(self.scale(own - own[0]))[1:])


def _nobody(part: Array, whole: Array) -> Worst:
    value = np.divide(part, whole, out=np.where(part == 0.0, 0.0, np.inf), where=whole > 0.0)
    return Worst(np.where(np.isnan(value), np.inf, value), np.full(value.size, -1))
