r"""Scalar rows of joints: residuals psi and their rates :math:`\dot\psi = J_a v_a + J_b v_b + \psi_t`.

The rows are those of :class:`~signorini.model.RowKind`. Jacobians are exact also where a joint has drifted apart, so
that the feedback of S1 eq. (28) pulls it together at the right rate; only that of the angle takes the axes of a and b
for parallel. A row along an axis of body a acts on both bodies at the point of b, so that angular momentum is
conserved.

References
----------
.. [S1] Trinkle (2003), eqs. (1)-(7), (28): ``J = W_n^T``, ``psi`` and ``psi_t``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.math.rotation import cross, dot, matrix, multiply, rotate
from signorini.model import JointArrays, RowKind, RowTable

_SLIDE, _ALIGN, _DISTANCE, _ANGLE = map(int, (RowKind.SLIDE, RowKind.ALIGN, RowKind.DISTANCE, RowKind.ANGLE))


class Rows(NamedTuple):
    """Scalar rows, each a sum over a few bodies; those of joints have two, a and b."""

    start: IntArray
    """Where the terms of a row begin, (n_r + 1,)."""
    body: IntArray
    """Body of each term, -1 for the world, (n_terms,)."""
    J: Array
    """(n_terms, 6)"""
    psi: Array
    """Residual, (n_r,) [m, rad]."""
    rate: Array
    """``psi_t``: rate of psi while all bodies that can move stand still, (n_r,)."""

    @property
    def row_count(self) -> int:
        """Number of rows."""
        return int(self.psi.size)

    def velocity(self, v: Array) -> Array:
        """Return ``J v`` row by row, for velocities of all bodies (n_b, 6)."""
        out = np.zeros(self.row_count)
        if out.size:
            _velocity(self.start, self.body, self.J, v, out)
        return out

    def force(self, impulse: Array, body_count: int) -> Array:
        """Return ``J^T p`` by bodies, (n_b, 6)."""
        out = np.zeros((body_count, 6))
        _force(self.start, self.body, self.J, impulse, out)
        return out

    def mobility(self, M_inv: Array) -> Array:
        """Return the diagonal of ``J M^-1 J^T``, bodies without joints, (n_r,)."""
        out = np.zeros(self.row_count)
        _mobility(self.start, self.body, self.J, M_inv, out)
        return out

    def dense(self, body_count: int) -> Array:
        """Return J as a matrix (n_r, 6 n_b)."""
        out = np.zeros((self.row_count, body_count, 6))
        for r in range(self.row_count):
            for k in range(self.start[r], self.start[r + 1]):
                if self.body[k] >= 0:
                    out[r, self.body[k]] += self.J[k]
        return out.reshape(self.row_count, 6 * body_count)


def joint_rows(arrays: JointArrays, table: RowTable, q: Array, near: Array) -> Rows:
    """Evaluate rows at the poses `q`; angles are taken on the turn next to those in `near`, (n_j,).

    Prescribed motions are left to the caller: the rates are zero.
    """
    n = table.joint.size
    body, J, psi = np.empty(2 * n, dtype=np.int64), np.zeros((2 * n, 6)), np.zeros(n)
    if n:  # scenes without joints need not compile the kernel
        fill_rows(*arrays, *table, q, near, body, J, psi)
    return Rows(2 * np.arange(n + 1, dtype=np.int64), body, J, psi, np.zeros(n))


def stacked(parts: list[Rows]) -> Rows:
    """Put rows below each other."""
    terms = np.cumsum([0, *(part.body.size for part in parts)])
    start = [part.start[:-1] + shift for part, shift in zip(parts, terms[:-1], strict=True)]
    return Rows(
        np.concatenate([*start, terms[-1:]]).astype(np.int64),
        np.concatenate([part.body for part in parts]),
        np.concatenate([part.J for part in parts]),
        np.concatenate([part.psi for part in parts]),
        np.concatenate([part.rate for part in parts]),
    )


@inner_kernel
def _column(R: tuple[float, ...], k: int) -> tuple[float, float, float]:
    """Return column k of a rotation matrix given row by row."""
    return (R[k], R[3 + k], R[6 + k])


@kernel
def fill_rows(
    body_a: IntArray,
    body_b: IntArray,
    anchor_a: Array,
    anchor_b: Array,
    frame_a: Array,
    frame_b: Array,
    parameter: Array,
    planar: IntArray,
    joint: IntArray,
    kind: IntArray,
    row_i: IntArray,
    row_j: IntArray,
    q: Array,
    near: Array,
    body: IntArray,
    J: Array,
    psi: Array,
) -> None:
    """Fill `body`, `J` (two terms for each row, zero at first) and `psi`."""
    none, still = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    a, b, last, r_a, r_b, d, U, C = -1, -1, -1, none, none, none, matrix(still), matrix(still)
    for r in range(joint.size):
        g = joint[r]
        if g != last:  # rows of one joint stand together
            last, a, b = g, body_a[g], body_b[g]
            x_a, e_a = none, still
            if a >= 0:
                x_a, e_a = (q[a, 0], q[a, 1], q[a, 2]), (q[a, 3], q[a, 4], q[a, 5], q[a, 6])
            x_b, e_b = (q[b, 0], q[b, 1], q[b, 2]), (q[b, 3], q[b, 4], q[b, 5], q[b, 6])
            r_a = rotate(e_a, (anchor_a[g, 0], anchor_a[g, 1], anchor_a[g, 2]))
            r_b = rotate(e_b, (anchor_b[g, 0], anchor_b[g, 1], anchor_b[g, 2]))
            d = (
                x_b[0] - x_a[0] + r_b[0] - r_a[0],
                x_b[1] - x_a[1] + r_b[1] - r_a[1],
                x_b[2] - x_a[2] + r_b[2] - r_a[2],
            )
            U = matrix(multiply(e_a, (frame_a[g, 0], frame_a[g, 1], frame_a[g, 2], frame_a[g, 3])))
            C = matrix(multiply(e_b, (frame_b[g, 0], frame_b[g, 1], frame_b[g, 2], frame_b[g, 3])))
        u, c = _column(U, row_i[r]), _column(C, row_j[r])
        axis_a, axis_b = u, u  # of the moments
        s_a = 1.0
        forces = False
        if kind[r] == _SLIDE:
            forces = True
            psi[r] = dot(u, d)
            # d/dt (u . d): the part of omega_a x u moves the point of attack on a to the point of b
            axis_a = cross((r_a[0] + d[0], r_a[1] + d[1], r_a[2] + d[2]), u)
            axis_b = cross(r_b, u)
        elif kind[r] == _DISTANCE:
            forces = True
            length = math.sqrt(dot(d, d))
            psi[r] = length - parameter[g]
            if length > 0.0:
                u = (d[0] / length, d[1] / length, d[2] / length)
            axis_a, axis_b = cross(r_a, u), cross(r_b, u)
        elif kind[r] == _ALIGN:
            psi[r] = dot(u, c)
            axis_a = cross(c, u)
            axis_b = axis_a
        elif kind[r] == _ANGLE:
            c_0 = _column(C, 0)
            angle = math.atan2(dot(c_0, _column(U, 1)), dot(c_0, _column(U, 0)))
            psi[r] = angle + 2.0 * math.pi * math.floor((near[g] - angle) / (2.0 * math.pi) + 0.5)
        else:  # gear
            axis_b = c
            s_a = parameter[g]
        body[2 * r] = a
        body[2 * r + 1] = b
        for k in range(3):
            if forces:
                J[2 * r, k] = -u[k]
                J[2 * r + 1, k] = u[k]
            J[2 * r, 3 + k] = -s_a * axis_a[k]
            J[2 * r + 1, 3 + k] = axis_b[k]
        for k in range(2, 5 if planar[g] == 1 else 2):
            J[2 * r, k] = 0.0
            J[2 * r + 1, k] = 0.0


@kernel
def _velocity(start: IntArray, body: IntArray, J: Array, v: Array, out: Array) -> None:
    for r in range(out.size):
        s = 0.0
        for k in range(start[r], start[r + 1]):
            if body[k] >= 0:
                for l in range(6):
                    s += J[k, l] * v[body[k], l]
        out[r] = s


@kernel
def _force(start: IntArray, body: IntArray, J: Array, impulse: Array, out: Array) -> None:
    for r in range(impulse.size):
        for k in range(start[r], start[r + 1]):
            if body[k] >= 0:
                for l in range(6):
                    out[body[k], l] += J[k, l] * impulse[r]


@kernel
def _mobility(start: IntArray, body: IntArray, J: Array, M_inv: Array, out: Array) -> None:
    for r in range(out.size):
        s = 0.0
        for k in range(start[r], start[r + 1]):
            if body[k] >= 0:
                for l in range(6):
                    for m in range(6):
                        s += J[k, l] * M_inv[body[k], l, m] * J[k, m]
        out[r] = s
