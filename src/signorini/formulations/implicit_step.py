r"""The mixed NCP of a step that is implicit in its geometry (S3, eqs. 14-15, as the specification corrects them).

.. math::
    M(q^l)(v - v^l) = W(q) p + G_b(q)^T r + p_{ext} + h\,l_{vp}, \qquad \psi(q) = 0, \\
    0 \le p_n \perp d(q, p) \ge 0, \qquad
    E^{-1} p_f \in B(\mu p_n) \text{ opposes } E\,s(q, v, p),

with :math:`q = q(v)` at the end of the step: positions :math:`x^l + h v`, quaternions to first order and normalised, in
the plane the angle :math:`\theta^l + h \omega`. Unknowns are the velocities, the impulses of contacts with friction in
units of its half axes, and those of the rows :math:`\psi` of joints. The Jacobian is exact, but for the change of the
directions of joint rows within the step, of the second order in h beside what stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._scipy import sparse
from signorini.dynamics import drive_velocity, inertia_blocks, load_impulse, prescribed_pose
from signorini.dynamics.joint_rows import Rows
from signorini.formulations.constants import LENGTH_GRAIN
from signorini.formulations.implicit_contact import Answer, ImplicitContact, Placement, answer
from signorini.formulations.implicit_joints import implicit_rows
from signorini.geometry.moving_touch import rotation_of, skew
from signorini.math.rotation import turn_euler, turn_exact
from signorini.model import Model, State
from signorini.problems import MixedNCP

_DENSE = 150  # unknowns up to which the Jacobian is a matrix of all entries
_I = np.eye(3)


@dataclass(frozen=True, slots=True)
class Options:
    """How a step is posed."""

    active: bool
    level_set: bool
    implicit_spin: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that a step evaluates at one vector of unknowns."""

    v: Array
    """(n_b, 6)"""
    p: Array
    """In the frames of the contacts, (n_c, 4)."""
    r: Array
    """Of the joint rows."""
    placements: list[Placement]
    answers: list[Answer]
    rows: Rows
    F: Array
    J: Any


class ImplicitStep:
    """The problem of one step from `state`."""

    def __init__(
        self, model: Model, state: State, contacts: list[ImplicitContact], coordinate: Array, h: float, options: Options
    ) -> None:
        self.model, self.state, self.contacts, self.h, self.options = model, state, contacts, h, options
        self._coordinate = coordinate
        arrays = model.arrays
        self.M = inertia_blocks(arrays, state.q)
        self.p_ext = load_impulse(model, state, h)
        self._rotation = [rotation_of(q) for q in state.q]
        self._walls = prescribed_pose(model, state.t + h)[0]
        self._drive = drive_velocity(model, state, h, secant=True)
        self.spin = np.zeros_like(state.v)
        """Impulse of the gyroscopic term where it is explicit, (n_b, 6)."""
        if not model.planar and not options.implicit_spin:
            for b in range(model.fixed_count, model.body_count):
                omega = state.v[b, 3:]
                self.spin[b, 3:] = -h * skew(omega) @ (self.M[b, 3:, 3:] @ omega)
        self._layout()
        self._units()
        self._last: tuple[bytes, Outcome] | None = None
        self._near = [contact.near for contact in contacts]

    # --- unknowns ------------------------------------------------------------

    def _layout(self) -> None:
        model = self.model
        self.dof = np.full((model.body_count, 6), -1, dtype=np.int64)
        free = model.arrays.free != 0.0
        free[: model.fixed_count] = False
        self.dof[free] = np.arange(int(free.sum()))
        self._velocities = int(free.sum())
        most = 2 if model.planar else 4
        self.row = np.full((len(self.contacts), 4), -1, dtype=np.int64)
        at = self._velocities
        for c, contact in enumerate(self.contacts):
            count = 1 if contact.mu == 0.0 else min(most, 4 if contact.axes[2] > 0.0 else 3)
            self.row[c, :count] = at + np.arange(count)
            at += count
        self._joint_row = at
        self.size = at + model.joints.joint_row_count

    def _units(self) -> None:
        """Choose sizes of unknowns and rows: lengths by ways and bodies, impulses by what moves contacts so far."""
        model, h, arrays = self.model, self.h, self.model.arrays
        moving = slice(model.fixed_count, None)
        size = np.where(np.isfinite(arrays.bound) & (arrays.bound > 0.0), arrays.bound, 1.0)
        v = self.state.v[moving]
        speed = np.linalg.norm(v[:, :3], axis=1) + size[moving] * np.linalg.norm(v[:, 3:], axis=1)
        length = h * (float(speed.max()) + h * float(np.linalg.norm(arrays.gravity)))
        length += LENGTH_GRAIN * float(size[moving].max())
        self.unit, self.row_unit = np.ones(self.size), np.ones(self.size)
        for b in range(model.fixed_count, model.body_count):
            least = float(np.linalg.eigvalsh(self.M[b, 3:, 3:])[0]) if not model.planar else self.M[b, 5, 5]
            for k in range(6):
                i = self.dof[b, k]
                if i >= 0:
                    self.unit[i] = length / h / (1.0 if k < 3 else size[b])
                    self.row_unit[i] = self.unit[i] * (arrays.mass[b] if k < 3 else least)
        for c, contact in enumerate(self.contacts):
            gives = self._mobility(contact)
            soft = np.zeros((3, 3))
            for layer, before in zip(contact.layers, contact.before, strict=True):
                if layer is not None:
                    soft += layer.respond(np.zeros(3), before, h).slope
            impulse = length / (h * gives + soft[0, 0])
            i, *rest = (int(k) for k in self.row[c] if k >= 0)
            self.unit[i], self.row_unit[i] = impulse, length
            self.unit[rest] = impulse
            self.row_unit[rest] = impulse * (gives + (soft[1, 1] / h if self.options.active else 0.0))
        lightest = float(arrays.mass[moving].min())
        self.unit[self._joint_row :], self.row_unit[self._joint_row :] = lightest * length / h, length

    def _mobility(self, contact: ImplicitContact) -> float:
        """Return about how much an impulse along the normal changes the normal velocity, 1/W_nn [1/kg]."""
        n, x, gives = contact.near.normal, contact.near.point_b, 0.0
        for b in (contact.a, contact.b):
            if b >= self.model.fixed_count:
                arm = skew(x - self.state.q[b, :3]) @ n
                arm[self.model.arrays.free[b, 3:] == 0.0] = 0.0
                gives += 1.0 / float(self.model.arrays.mass[b]) + float(arm @ np.linalg.solve(self.M[b, 3:, 3:], arm))
        return gives

    def pack(self, v: Array, p: Array, r: Array) -> Array:
        """Return the unknowns of velocities (n_b, 6), impulses (n_c, 4) and those of joints."""
        z = np.zeros(self.size)
        known = self.dof >= 0
        z[self.dof[known]] = v[known]
        for c, contact in enumerate(self.contacts):
            here = self.row[c] >= 0
            z[self.row[c, here]] = (p[c] / self._scale(contact))[here]
        z[self._joint_row :] = r
        return z

    def _unpack(self, z: Array) -> tuple[Array, Array, Array]:
        v, p = self._drive.copy(), np.zeros((len(self.contacts), 4))
        known = self.dof >= 0
        v[known] = z[self.dof[known]]
        for c, contact in enumerate(self.contacts):
            here = self.row[c] >= 0
            p[c, here] = z[self.row[c, here]]
            p[c] *= self._scale(contact)
        return v, p, z[self._joint_row :]

    @staticmethod
    def _scale(contact: ImplicitContact) -> Array:
        """Return the units of impulses in which friction is a ball; a couple that cannot act has none."""
        e = contact.axes
        return np.array([1.0, e[0], e[1], e[2] if e[2] > 0.0 else 1.0])

    # --- evaluation ----------------------------------------------------------

    def placed(self, b: int, v: Array) -> Placement:
        """Return where body `b` is at the end of the step with the velocity `v` (6,)."""
        h, q = self.h, self.state.q[b]
        if b < self.model.fixed_count:
            there = self._walls[b]
            turn = rotation_of(there) @ self._rotation[b].T
            return Placement(there, v, turn, 0.0, np.zeros((3, 3)))
        omega = (float(v[3]), float(v[4]), float(v[5]))
        if self.model.planar:
            e, turns = turn_exact(tuple(q[3:]), omega, h), h * _I
        else:
            half = 0.5 * h * v[3:]
            e, turns = turn_euler(tuple(q[3:]), omega, h), h / (1.0 + float(half @ half)) * (_I + skew(half))
        there = np.concatenate([q[:3] + h * v[:3], e])
        return Placement(there, v, rotation_of(there) @ self._rotation[b].T, h, turns)

    def at(self, z: Array) -> Outcome | None:
        """Evaluate everything at `z`; None where surfaces face nowhere. The last evaluation is kept."""
        key = z.tobytes()
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        v, p, r = self._unpack(z)
        placements = [self.placed(b, v[b]) for b in range(self.model.body_count)]
        answers: list[Answer] = []
        for c, contact in enumerate(self.contacts):
            found = answer(
                contact,
                placements[contact.a],
                placements[contact.b],
                p[c],
                self.h,
                self._near[c],
                active=self.options.active,
                level_set=self.options.level_set,
            )
            if found is None:
                return None
            answers.append(found)
        rows = self._joint_rows(placements, v)
        outcome = Outcome(v, p, r, placements, answers, rows, *self._assembled(v, p, r, placements, answers, rows))
        self._near = [one.facing.touch for one in answers]
        self._last = key, outcome
        return outcome

    def _joint_rows(self, placements: list[Placement], v: Array) -> Rows:
        q = np.array([body.q for body in placements])
        return implicit_rows(self.model, q, v, self._coordinate, self.state.t + self.h, self.h)

    def _assembled(
        self, v: Array, p: Array, r: Array, placements: list[Placement], answers: list[Answer], rows: Rows
    ) -> tuple[Array, Any]:
        F, blocks = np.zeros(self.size), _Blocks(self.size)
        for b in range(self.model.fixed_count, self.model.body_count):
            self._momentum(b, v[b], F, blocks)
        for c, one in enumerate(answers):
            self._contact(c, one, F, blocks)
        for i in range(rows.row_count):
            self._joint(i, float(r[i]), rows, placements, F, blocks)
        return F, blocks.matrix()

    def _momentum(self, b: int, v: Array, F: Array, blocks: _Blocks) -> None:
        M, index = self.M[b], self.dof[b]
        rest, slope = M @ (v - self.state.v[b]) - self.p_ext[b] - self.spin[b], M
        if self.options.implicit_spin and not self.model.planar:
            I, omega = M[3:, 3:], v[3:]
            rest[3:] += self.h * skew(omega) @ (I @ omega)
            slope = M.copy()
            slope[3:, 3:] += self.h * (skew(omega) @ I - skew(I @ omega))
        here = index >= 0
        F[index[here]] += rest[here]
        blocks.add(index, index, slope)

    def _contact(self, c: int, one: Answer, F: Array, blocks: _Blocks) -> None:
        contact, row = self.contacts[c], self.row[c]
        scale = self._scale(contact)
        columns = np.concatenate([self.dof[contact.a], self.dof[contact.b], row])
        by = np.ones(16)
        by[12:] = scale
        for k, (b, sign) in enumerate(((contact.a, 1.0), (contact.b, -1.0))):
            index = self.dof[b]
            here = index >= 0
            # the impulse acts on b, against it on a; moments have their signs
            F[index[here]] += np.concatenate([sign * one.force, -one.torque[k]])[here]
            blocks.add(index, columns, np.vstack([sign * one.d_force, -one.d_torque[k]]) * by)
        here = row >= 0
        F[row[here]] = (np.concatenate([[one.gap], one.slip]) * scale)[here]
        blocks.add(row, columns, np.vstack([one.d_gap, one.d_slip]) * scale[:, None] * by)

    def _joint(self, i: int, r: float, rows: Rows, placements: list[Placement], F: Array, blocks: _Blocks) -> None:
        at = np.array([self._joint_row + i])
        F[at] = rows.psi[i]
        for term in range(int(rows.start[i]), int(rows.start[i + 1])):
            b = int(rows.body[term])
            if b < self.model.fixed_count:
                continue
            index, J = self.dof[b], rows.J[term]
            here = index >= 0
            F[index[here]] -= (r * J)[here]
            blocks.add(index, at, -J[:, None])
            moved = np.concatenate([placements[b].moves * J[:3], J[3:] @ placements[b].turns])
            blocks.add(at, index, moved[None])

    def problem(self, start: Array) -> MixedNCP:
        """Return the mixed NCP."""

        def values(z: Array) -> Array:
            outcome = self.at(z)
            return np.full(self.size, np.nan) if outcome is None else outcome.F

        def slopes(z: Array) -> Any:
            outcome = self.at(z)
            return None if outcome is None else outcome.J

        balls = [
            (tuple(int(i) for i in row[1:] if i >= 0), int(row[0]), contact.mu)
            for row, contact in zip(self.row, self.contacts, strict=True)
            if row[1] >= 0
        ]
        return MixedNCP(
            values, slopes, pairs=self.row[:, 0], balls=balls, unit=self.unit, row_unit=self.row_unit, x0=start
        )


class _Blocks:
    """A matrix as a sum of blocks: dense if it is small, else sparse. Rows and columns -1 are left out."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._whole = np.zeros((size, size)) if size <= _DENSE else None
        self._parts: list[tuple[IntArray, IntArray, Array]] = []

    def add(self, rows: IntArray, columns: IntArray, block: Array) -> None:
        here, there = rows >= 0, columns >= 0
        part = block[here][:, there]
        if self._whole is not None:
            self._whole[np.ix_(rows[here], columns[there])] += part
        else:
            i, j = np.meshgrid(rows[here], columns[there], indexing="ij")
            self._parts.append((i.ravel(), j.ravel(), part.ravel()))

    def matrix(self) -> Any:
        if self._whole is not None:
            return self._whole
        rows, columns, values = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return sparse.csr_array((values, (rows, columns)), shape=(self._size, self._size))
