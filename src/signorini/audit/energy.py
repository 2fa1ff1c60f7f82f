r"""Energies from places and velocities, against those of the record and what it says of gains and losses.

The velocities of a step are those by which bodies went from one place to the next, so they belong to its middle. What
rises and falls is judged there: the energy of places and velocities at the end of a step, and
:math:`(\theta - \tfrac12) h\, F \cdot v` more, F being all that works on the motion: weight, loads, drives, friction
and what acts along joints; and what springs stored there. Else a body would seem to lose this while it falls, and to
get it back from whatever makes it rise; and what is lifted and stopped, the other way round.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini._grades import at_play, given_for_good, losses, rises
from signorini.audit.findings import Worst
from signorini.audit.joint_laws import JointLaws
from signorini.audit.law import Law
from signorini.audit.record import Record
from signorini.audit.steps import Steps
from signorini.dynamics import elastic_energy, joint_rows
from signorini.dynamics.energy import motion_energies
from signorini.model import Model

GAINS = ("load_work", "drive_work", "correction_work", "joint_work")
LOSSES = ("friction", "impact", "damping", "integration")


class Pushes:
    """What contacts give to bodies in every step [J]."""

    def __init__(self, steps: int, joints: int) -> None:
        self.rest = np.zeros(steps)
        """To bodies at rest, half of ``p . W p`` without joints, (n,)."""
        self.given = np.zeros(steps)
        """To bodies that have felt all loads, ``p . (u + b)/2`` with ``u = W p + b``, beyond what lifts them out of
        overlaps, (n,)."""
        self.rebound = np.zeros(steps)
        """Work of contacts that rebound, (n,)."""
        self.swing = np.zeros(steps)
        """Impulses of loads beside weight, drives, friction, and what acts along joints, times the changes of their
        speeds, half of which their work in the middle of a step is less than at its end, (n,)."""
        self.share = np.ones((steps, joints))
        """Of the midpoint rule in springs: which part of half a step before its end they count, (n, n_j)."""

    def note(self, steps: Steps, law: Law, laws: JointLaws | None) -> None:
        """Note some steps, with the laws of their contacts and of their joints."""
        here, p, u = slice(steps.first, steps.last), steps.p, law.u
        energy = 0.5 * np.einsum("bi,bij,bj->b", steps.push, steps.free.M_inv, steps.push)
        self.rest[here] = np.bincount(steps.step, energy, minlength=steps.count)
        lifted = p[:, 0] * np.clip(u[:, 0], 0.0, np.maximum(0.0, -law.gap) / steps.drift)
        work = np.sum(p * u, axis=1) + np.sum(steps.couple * law.turning, axis=1)
        self.given[here] = np.bincount(steps.contact_step, work - lifted, minlength=steps.count)
        self.given[here] -= self.rest[here]
        apart = np.where(law.e > 0.0, np.maximum(0.0, p[:, 0] * u[:, 0]), 0.0)
        self.rebound[here] = np.bincount(steps.contact_step, apart, minlength=steps.count)
        change = np.where(steps.moving[:, None], steps.v_new - steps.v_start, 0.0)
        loads = steps.free.p_ext - steps.h * steps.model.arrays.weight[steps.body]
        self.swing[here] = np.bincount(steps.step, np.sum(loads * change, axis=1), minlength=steps.count)
        slip = np.sum((p * steps.relative(change))[:, 1:], axis=1)
        self.swing[here] += np.bincount(steps.contact_step, slip, minlength=steps.count)
        if laws is not None:
            self.swing[here] += laws.swing(change)
            self.share[here, laws.joint] = laws.share


class Energies:
    """Kinetic, potential and elastic energy at every state of a record [J]."""

    def __init__(self, record: Record, model: Model) -> None:
        arrays, joints, n = model.arrays, model.joints, record.time.size
        self.record = record
        self.kinetic, self.potential, self.elastic = np.zeros(n), np.zeros(n), np.zeros(n)
        self.stretch, self.pace = np.zeros((n, joints.count)), np.zeros((n, joints.count))
        """Stretches of springs and their rates, (n+1, n_j)."""
        for k in range(n):
            q, v = np.ascontiguousarray(record.q[k]), np.ascontiguousarray(record.v[k])
            self.kinetic[k], self.potential[k] = motion_energies(model, q, v, record.modal_rate[k], record.modal[k])
            if joints.count:
                near = np.zeros(joints.count) if record.joints is None else record.joints.coordinate[k]
                rows = joint_rows(joints.arrays, joints.coordinates, q, near)
                self.stretch[k, joints.coordinates.joint] = rows.psi
                self.pace[k, joints.coordinates.joint] = rows.velocity(v)
                self.elastic[k] = elastic_energy(joints, self.stretch[k])
        self.stretch -= joints.rest
        self.stiffness = joints.stiffness
        theta, length = record.scheme.theta, np.concatenate([record.h[:1], record.h])
        falls = np.einsum("bk,lbk->l", arrays.weight[model.fixed_count :, :3], record.v[:, model.fixed_count :, :3])
        self.falls = (theta - 0.5) * length * falls
        extent = np.abs(record.q[:, model.fixed_count :, :3]).max(initial=0.0) + model.arrays.bound.max(initial=0.0)
        # The weight of the scene times its extent keeps the scale from vanishing in scenes at rest.
        self.least = float(arrays.mass.sum() * np.linalg.norm(arrays.gravity) * extent)

    def scale(self, *more: Array) -> Array:
        """Return the energies at play at every state, (n+1,) [J]."""
        sizes = [np.abs(x) for x in (self.kinetic, self.potential, self.elastic, *more)]
        largest: Array = np.maximum(np.max(sizes, axis=0), self.least)
        return largest

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

    def _changes(self, pushes: Pushes) -> Array:
        """Return by how much the energy in the middle of steps has changed beyond the work of what acts there."""
        return np.asarray(np.diff(self.kinetic + self.potential) + self._swing(pushes))

    def _swing(self, pushes: Pushes) -> Array:
        """Return by how much more the energy in the middle of steps has changed than that at their ends."""
        theta, more = self.record.scheme.theta, np.diff(self.falls)
        if self.stretch.size:
            s, u, ago = self.stretch, self.pace, (theta - 0.5) * self.record.h[:, None] * pushes.share
            stored = (s[1:] - ago * u[1:]) ** 2 - s[1:] ** 2 - (s[:-1] - ago * u[:-1]) ** 2 + s[:-1] ** 2
            more += 0.5 * stored @ self.stiffness
        return np.asarray(more + (theta - 0.5) * pushes.swing)

    def unexplained(self, pushes: Pushes, joined: bool) -> Worst | None:
        """Return by how much the energy has risen that loads, drives and corrections did not give.

        It is measured from the least that was ever left, of the energies at play. What joints and scheme gave, or a
        collision with them, is judged by itself: :meth:`pulled`, :meth:`gained`.
        """
        gained, stored = self._terms(GAINS), self._terms(("elastic",))
        if gained is None or stored is None:
            return None
        steps = self._changes(pushes) + stored - gained
        made, lost, given = self._made(pushes), self._terms(("friction", "impact", "damping")), self._given(pushes)
        if joined and made is not None and lost is not None and given is not None:
            rebounded = np.minimum(made - lost, pushes.rebound)
            steps = made - lost - np.maximum(0.0, np.maximum(given, rebounded))
        own = np.concatenate([[0.0], np.cumsum(steps)])
        rise = own - np.minimum.accumulate(own)
        return _nobody(rise[1:], np.maximum.accumulate(self.scale(own - own[0]))[1:])

    def _made(self, pushes: Pushes) -> Array | None:
        """Return what joints and scheme gave in every step [J], None if that is not recorded."""
        words = ("load_work", "drive_work", "correction_work"), ("friction", "impact", "damping"), ("elastic",)
        gained, lost, stored = (self._terms(word) for word in words)
        if gained is None or lost is None or stored is None:
            return None
        return np.asarray(self._changes(pushes) + stored - gained + lost)

    def moving(self, pushes: Pushes) -> Array:
        """Return the energy of the motion in every step, (n,) [J].

        What contacts give to bodies at rest is less where joints hold these; the record tells how much.
        """
        told, rest = self.record.column("certificate", "energy_moving"), pushes.rest
        if told is not None and told.size == rest.size:
            rest = np.where(told < rest, told, rest)
        return np.maximum(np.maximum(self.kinetic[1:], self.kinetic[:-1]), rest)

    def gained(self, pushes: Pushes, joined: bool) -> Worst | None:
        """Return the energy that contacts gave in every step though they should only take, of that of the motion.

        Joints give to contacts, or take, what these seem to take or give: with them, what the motion has gained in a
        step, up to the work of contacts that rebound.
        """
        lost, made = self._terms(("friction", "impact")), self._made(pushes)
        if lost is None or made is None:
            return None
        given = np.minimum(made - lost, pushes.rebound) if joined else pushes.given
        softened = self.record.column("certificate", "compliance")
        if softened is not None:
            given = np.where(softened > 0.0, 0.0, given)
        return _nobody(np.maximum(given, 0.0), self.moving(pushes))

    def pulled(self, pushes: Pushes) -> Worst | None:
        """Return how far the sum of what joints and scheme gave for good has risen, of the energy of the motion."""
        given = self._given(pushes)
        whole = at_play(self.moving(pushes), self.scale()[1:])
        return None if given is None else _nobody(rises(given), np.full(given.size, whole))

    def taken(self, pushes: Pushes) -> Worst | None:
        """Return how far that sum has fallen of late, of energies at play, those of impulses too, as recorded."""
        given, told = self._given(pushes), self.record.column("certificate", "energy_scale")
        if given is None or told is None or told.size != given.size:
            return None
        own = max(self.scale().max(), self.moving(pushes).max(initial=0.0))
        return _nobody(losses(given), np.full(given.size, min(told.max(initial=0.0), own)))

    def _given(self, pushes: Pushes) -> Array | None:
        """Return what joints and scheme gave for good in every step [J], None if that is not recorded."""
        made, impact = self._made(pushes), self._terms(("impact",))
        if made is None or impact is None:
            return None
        return given_for_good(made, impact, self._swing(pushes), pushes.rebound)

    def corrected(self) -> Worst | None:
        """Return the energy given to part overlaps since the start, of the energies at play."""
        correction = self._terms(("correction_work",))
        if correction is None:
            return None
        return _nobody(np.cumsum(np.abs(correction)), np.full(correction.size, self.scale().max()))


def _nobody(part: Array, whole: Array) -> Worst:
    value = np.divide(part, whole, out=np.where(part == 0.0, 0.0, np.inf), where=whole > 0.0)
    return Worst(np.where(np.isnan(value), np.inf, value), np.full(value.size, -1))
