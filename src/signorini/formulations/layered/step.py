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

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._scipy import sparse
from signorini.dynamics import drive_velocity, inertia_blocks, load_impulse, prescribed_pose
from signorini.dynamics.joint_rows import Rows
from signorini.formulations.layered.answer import (
    ANSWER_COLUMNS,
    ANSWER_ROWS,
    AXES,
    COLUMNS,
    CONTACT_COLUMNS,
    D_FORCE,
    D_TORQUE,
    Poses,
    depths,
    sheet,
)
from signorini.formulations.layered.contact import (
    Answer,
    ImplicitContact,
    Placement,
    answer_of,
    contact_row,
    facing_rows_of,
    law_row,
)
from signorini.formulations.layered.joints import implicit_rows
from signorini.formulations.layered.kernels import (
    ACTIVE,
    CONTACTS,
    FIXED,
    IMPLICIT_SPIN,
    LEVEL_SET,
    PLANAR,
    SIZE,
    Bodies,
    Posed,
    Touching,
    assemble,
    bent_entries,
    choose_units,
    lay_out,
    place,
)
from signorini.formulations.layered.newton import newton_memory, solve_posed
from signorini.geometry.implicit_touch import Touch
from signorini.geometry.moving_kernels import (
    BEND_COLUMNS,
    EXPONENT,
    PAIR_COLUMNS,
    PLANE,
    TOUCH_COLUMNS,
    TWISTS,
    WEIGHT_A,
    begin_flat,
    desk,
)
from signorini.geometry.moving_touch import facing_from, touch_row
from signorini.model import Model, State
from signorini.posing.constants import MOST_DENSE
from signorini.problems import MixedNCP
from signorini.solvers import Solution, Status

_DEGENERATE = 2  # of contacts that are known: their points are not unique


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
        self,
        model: Model,
        state: State,
        contacts: list[ImplicitContact],
        coordinate: Array,
        h: float,
        options: Options,
        bent: BoolArray | None = None,
    ) -> None:
        self.model, self.state, self.contacts, self.h, self.options = model, state, contacts, h, options
        self._coordinate = coordinate
        self.M = inertia_blocks(model.arrays, state.q)
        self.p_ext = load_impulse(model, state, h)
        self.spin = np.zeros_like(state.v)
        """Impulse of the gyroscopic term where it is explicit, (n_b, 6)."""
        if not model.planar and not options.implicit_spin:
            moving = slice(model.fixed_count, None)
            omega = state.v[moving, 3:]
            self.spin[moving, 3:] = -h * np.cross(omega, np.einsum("bij,bj->bi", self.M[moving, 3:, 3:], omega))
        self.posed = self._posed()
        self.flat = self._flat()
        """Contacts of surfaces that have points without curvature: there the points may be unknowns, as those that are
        `bent` (n_c,)."""
        if bent is not None:
            self._bend(bent)
        lay_out(self.posed)
        self._joint_row = int(self.posed.counts[SIZE])
        self.size = self._joint_row + model.joints.joint_row_count
        self.row: IntArray = self.posed.contacts.row
        self._units()
        self._near = self.posed.contacts.touch.copy()
        self._touches: dict[int, Touch] = {}
        self._last: tuple[bytes, Array, Any, Rows] | None = None

    # --- unknowns ------------------------------------------------------------

    def _posed(self) -> Posed:
        model, state, options, contacts = self.model, self.state, self.options, self.contacts
        walls = state.q.copy()
        walls[: model.fixed_count] = prescribed_pose(model, state.t + self.h)[0]
        bodies = fixed_tables(model)._replace(
            q=state.q.copy(),
            v=state.v.copy(),
            M=self.M,
            push=self.p_ext + self.spin,
            walls=walls,
            drive=drive_velocity(model, state, self.h, secant=True),
            law=law_table(model, self.h),
        )
        n_c = len(contacts)
        touching = empty_contacts(n_c)
        for c, contact in enumerate(contacts):
            touching.body[c] = contact.a, contact.b
            touching.contact[c] = contact_row(contact)
            pair = contact.pair.row
            if pair is not None and contact.near.weight_a.size:
                touching.pair[c], touching.touch[c] = pair, touch_row(contact.near)
            else:
                touching.touch[c, :WEIGHT_A] = np.concatenate([[contact.near.gap], *contact.near[1:4]])
        posed = new_posed(bodies, touching, self.h)
        posed.counts[[FIXED, PLANAR, ACTIVE, LEVEL_SET, IMPLICIT_SPIN, CONTACTS]] = (
            model.fixed_count,
            model.planar,
            options.active,
            options.level_set,
            options.implicit_spin,
            n_c,
        )
        return posed

    def _flat(self) -> BoolArray:
        pair = self.posed.contacts.pair
        return np.asarray((pair[:, 0] == PLANE) & (pair[:, EXPONENT] > 2.0) & (not self.model.planar))

    def _bend(self, bent: BoolArray) -> None:
        """Make points of contacts unknowns; they begin where surfaces are nearest as the step begins."""
        T, q = self.posed.contacts, self.posed.bodies.q
        for c in np.flatnonzero(bent & self.flat):
            a, b = T.body[c]
            T.chart[c] = begin_flat(T.pair[c], q[a], q[b], T.at[c], self.posed.desk)
        self._first = T.at.copy()

    def _units(self) -> None:
        model = self.model
        self.unit, self.row_unit = np.ones(self.size), np.ones(self.size)
        choose_units(self.posed, float(np.linalg.norm(model.arrays.gravity)), self.unit, self.row_unit)
        length, lightest = float(self.posed.number[1]), float(model.arrays.mass[model.fixed_count :].min())
        self.unit[self._joint_row :], self.row_unit[self._joint_row :] = lightest * length / self.h, length

    def pack(self, v: Array, p: Array, r: Array) -> Array:
        """Return the unknowns of velocities (n_b, 6), impulses (n_c, 4) and those of joints."""
        z, dof = np.zeros(self.size), self.posed.bodies.dof
        known = dof >= 0
        z[dof[known]] = v[known]
        here = self.row >= 0
        z[self.row[here]] = (p / self._scales())[here]
        T = self.posed.contacts
        bent = T.chart >= 0
        if bent.any():
            z[T.bent[bent]] = self._first[bent]
        z[self._joint_row :] = r
        return z

    def _scales(self) -> Array:
        """Return the units of impulses in which friction is a ball; a couple that cannot act has one, (n_c, 4)."""
        scale = np.ones((len(self.contacts), 4))
        scale[:, 1:] = self.posed.contacts.contact[:, AXES : AXES + 3]
        scale[:, 3][scale[:, 3] == 0.0] = 1.0
        return scale

    # --- evaluation ----------------------------------------------------------

    def at(self, z: Array) -> Outcome | None:
        """Evaluate everything at `z`; None where surfaces face nowhere."""
        found = self._evaluated(z)
        if found is None:
            return None
        F, J, rows = found
        place(self.posed, z)  # the last evaluation may be kept from before
        poses, T = self.posed.poses, self.posed.contacts
        placements = [
            Placement(poses.q[b].copy(), poses.v[b].copy(), poses.turn[b].copy(), float(poses.moves[b]), poses.turns[b])
            for b in range(self.model.body_count)
        ]
        answers = [
            answer_of(facing_from(T.touch[c], T.slopes[c], degenerate=bool(T.known[c] == _DEGENERATE)), x, D)
            for c, (x, D) in enumerate(zip(T.answer, T.D, strict=True))
        ]
        return Outcome(poses.v.copy(), T.p.copy(), z[self._joint_row :], placements, answers, rows, F, J)

    def _evaluated(self, z: Array) -> tuple[Array, Any, Rows] | None:
        """Return F, J and the rows of joints at `z`; the last evaluation is kept."""
        key = z.tobytes()
        if self._last is not None and self._last[0] == key:
            return self._last[1:]
        P, T, n = self.posed, self.posed.contacts, self._joint_row
        T.touch[:], T.known[:] = self._near, 0
        place(P, z)
        F, J = np.zeros(self.size), np.zeros((n, n) if self.size <= MOST_DENSE else (0, 0))
        while (c := assemble(P, F, J)) >= 0:
            if T.known[c] or not self._faced(c):
                self._last = None
                return None
        self._near = T.touch.copy()
        whole: Any = J if J.size else None
        if self.size > MOST_DENSE:
            whole = self._sparse()
        elif self.size > n:
            whole = np.zeros((self.size, self.size))
            whole[:n, :n] = J
        rows = self._joint_rows()
        if rows.row_count:
            whole = self._joined(z[n:], rows, F, whole)
        self._last = key, F, whole if whole is not None else np.zeros((n, n)), rows
        return self._last[1:]

    def _faced(self, c: int) -> bool:
        """Let Python find where the surfaces of a contact face each other that kernels do not know, or lost."""
        P, T, contact = self.posed, self.posed.contacts, self.contacts[c]
        if T.chart[c] >= 0:  # outside of its chart
            return False
        a, b = contact.a, contact.b
        deep = (0.0, 0.0)
        if self.options.level_set:
            deep = depths(T.contact[c], P.bodies.law[a], P.bodies.law[b], T.p[c], self.h, P.sheet)
        near, q = self._touches.get(c, contact.near), P.poses.q
        facing = contact.pair.facing(q[a].copy(), q[b].copy(), deep, near)
        if facing is None:
            return False
        self._touches[c] = facing.touch
        T.touch[c], T.slopes[c] = facing_rows_of(facing)
        T.touch[c, WEIGHT_A:] = self._near[c, WEIGHT_A:]
        T.known[c] = _DEGENERATE if facing.degenerate else 1
        return True

    def _joint_rows(self) -> Rows:
        poses = self.posed.poses
        return implicit_rows(self.model, poses.q.copy(), poses.v, self._coordinate, self.state.t + self.h, self.h)

    def _joined(self, r: Array, rows: Rows, F: Array, J: Any) -> Any:
        """Add the rows of joints, and their impulses to those of the bodies."""
        poses, dof, parts = self.posed.poses, self.posed.bodies.dof, []
        for i in range(rows.row_count):
            at = self._joint_row + i
            F[at] = rows.psi[i]
            for term in range(int(rows.start[i]), int(rows.start[i + 1])):
                b = int(rows.body[term])
                if b < self.model.fixed_count:
                    continue
                here, pull = dof[b] >= 0, rows.J[term]
                moved = np.concatenate([poses.moves[b] * pull[:3], pull[3:] @ poses.turns[b]])
                F[dof[b][here]] -= (float(r[i]) * pull)[here]
                for k in np.flatnonzero(here):
                    parts += [(int(dof[b, k]), at, -pull[k]), (at, int(dof[b, k]), moved[k])]
        row, column, value = (np.array(x) for x in zip(*parts, strict=True)) if parts else (np.zeros(0, dtype=int),) * 3
        if isinstance(J, np.ndarray):
            np.add.at(J, (row, column), value)
            return J
        return J + sparse.csr_array((value, (row, column)), shape=J.shape)

    def _sparse(self) -> Any:
        """Return the Jacobian as a sum of blocks of bodies and of contacts."""
        P, T = self.posed, self.posed.contacts
        force, scale = T.D[:, D_FORCE:D_TORQUE], self._scales()
        block = np.concatenate(
            [force, -T.D[:, D_TORQUE : D_TORQUE + 3], -force, -T.D[:, D_TORQUE + 3 :], T.D[:, :D_FORCE]], axis=1
        )
        block[:, 12:] *= scale[:, :, None]
        block[:, :, 12:] *= scale[:, None, :]
        own = self.M.copy()
        if self.options.implicit_spin and not self.model.planar:
            omega, I = P.poses.v[:, 3:], self.M[:, 3:, 3:]
            own[:, 3:, 3:] += self.h * (_skews(omega) @ I - _skews(np.einsum("bij,bj->bi", I, omega)))
        parts = []
        for at, values in ((T.column, block), (P.bodies.dof, own)):
            row, column = np.broadcast_arrays(at[:, :, None], at[:, None, :])
            here = (row >= 0) & (column >= 0)
            parts.append((row[here], column[here], values[here]))
        for c in np.flatnonzero(T.chart >= 0):
            k = bent_entries(P, int(c))
            parts.append((T.place[:k, 0].copy(), T.place[:k, 1].copy(), T.entry[:k].copy()))
        row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        return sparse.csr_array((value, (row, column)), shape=(self.size, self.size))

    def solve(self, start: Array, tolerance: float) -> Solution | None:
        """Solve by the compiled method from `start`; None if it is not for this step, or finds nothing."""
        P, n_c, n = self.posed, len(self.contacts), self.size
        if self.model.joints.joint_row_count or n > MOST_DENSE:
            return None
        began, memory = time.perf_counter(), newton_memory(n, n_c)
        memory.unit[:n], memory.row_unit[:n], memory.z[:n] = self.unit, self.row_unit, start
        P.contacts.touch[:], P.contacts.known[:] = self._near, 0
        residual, iterations = solve_posed(P, memory, tolerance)
        if not np.isfinite(residual):
            return None
        z = memory.z[:n].copy()
        self._near, self._last = P.contacts.touch.copy(), None
        seconds = time.perf_counter() - began
        status = Status.SOLVED if residual <= tolerance else Status.ITERATION_LIMIT
        return Solution(z, status, residual, iterations, seconds=seconds, solver="NaturalNewton")

    def problem(self, start: Array) -> MixedNCP:
        """Return the mixed NCP."""

        def values(z: Array) -> Array:
            found = self._evaluated(z)
            return np.full(self.size, np.nan) if found is None else found[0]

        def slopes(z: Array) -> Any:
            found = self._evaluated(z)
            return None if found is None else found[1]

        balls = [
            (tuple(int(i) for i in row[1:] if i >= 0), int(row[0]), contact.mu)
            for row, contact in zip(self.row, self.contacts, strict=True)
            if row[1] >= 0
        ]
        return MixedNCP(
            values, slopes, pairs=self.row[:, 0], balls=balls, unit=self.unit, row_unit=self.row_unit, x0=start
        )


def _skews(x: Array) -> Array:
    """Return the matrices of ``x cross``, (n, 3, 3)."""
    return np.asarray(np.einsum("ijk,bj->bik", _LEVI_CIVITA, x))


_LEVI_CIVITA = np.cross(np.eye(3)[:, None], np.eye(3)[None]).transpose(2, 0, 1)


def fixed_tables(model: Model) -> Bodies:
    """Return what does not change of the bodies of a scene; the rest is empty."""
    arrays, n_b = model.arrays, model.body_count
    free = arrays.free.copy()
    free[: model.fixed_count] = 0.0
    inertia = arrays.inertia
    least = inertia[:, 2, 2].copy() if model.planar else np.linalg.eigvalsh(inertia)[:, 0]
    size = np.where(np.isfinite(arrays.bound) & (arrays.bound > 0.0), arrays.bound, 1.0)
    six, none = np.zeros((n_b, 6)), np.zeros((0, 0))
    dof = np.full((n_b, 6), -1, dtype=np.int64)
    return Bodies(
        np.zeros((n_b, 7)),
        six,
        np.zeros((n_b, 6, 6)),
        six.copy(),
        np.zeros((n_b, 7)),
        six.copy(),
        free,
        arrays.mass.copy(),
        np.ascontiguousarray(least),
        size,
        none,
        dof,
    )


def law_table(model: Model, h: float) -> Array:
    """Return the layers of all bodies as rows for steps of `h` seconds, (n_b, 29)."""
    layers = model.layers or (None,) * model.body_count
    return np.array([law_row(layer, h) for layer in layers])


def empty_contacts(n: int) -> Touching:
    """Return arrays for so many contacts."""
    two, four, known = np.zeros((n, 2), dtype=np.int64), np.zeros((n, 4), dtype=np.int64), np.zeros(n, dtype=np.int64)
    return Touching(
        two,
        four,
        np.full((n, COLUMNS), -1, dtype=np.int64),
        np.zeros((n, CONTACT_COLUMNS)),
        np.zeros((n, PAIR_COLUMNS)),
        np.zeros((n, TOUCH_COLUMNS)),
        np.zeros((n, 10, TWISTS)),
        known,
        np.zeros((n, 4)),
        np.zeros((n, ANSWER_COLUMNS)),
        np.zeros((n, ANSWER_ROWS, COLUMNS)),
        np.full(n, -1, dtype=np.int64),
        np.full((n, 2), -1, dtype=np.int64),
        np.zeros((n, 2)),
        np.zeros((n, BEND_COLUMNS)),
        np.zeros(34),
        np.zeros((34, 2), dtype=np.int64),
    )


def new_posed(bodies: Bodies, contacts: Touching, h: float) -> Posed:
    """Return the arrays of a step of `h` seconds."""
    n_b = bodies.q.shape[0]
    three = np.zeros((n_b, 3, 3))
    poses = Poses(np.zeros((n_b, 7)), np.zeros((n_b, 6)), three, np.zeros(n_b), three.copy())
    return Posed(bodies, contacts, poses, np.zeros(8, dtype=np.int64), np.array([h, 0.0]), desk(), sheet())
