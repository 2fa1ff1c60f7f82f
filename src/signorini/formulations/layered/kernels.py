"""The mixed NCP of :mod:`.step` on arrays: rows, Jacobian, units."""

from __future__ import annotations

import math
from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import bare_kernel, inner_kernel
from signorini.formulations.layered.answer import (
    A_GAP,
    AXES,
    BEFORE,
    COLUMNS,
    D_FORCE,
    D_GAP,
    D_SLIP,
    D_TORQUE,
    FORCE,
    MU,
    SLIP,
    TORQUE,
    Poses,
    Sheet,
    answer_rows,
    depths,
)
from signorini.formulations.layered.answer import T as TANGENTS
from signorini.geometry.moving_kernels import LOST, NORMAL, POINT_B, UNKNOWN, Desk, facing_rows, flat_rows
from signorini.math.rotation import matrix, turn_euler, turn_exact
from signorini.model.layer_kernels import NONE, respond
from signorini.posing.constants import LENGTH_GRAIN

FIXED, PLANAR, ACTIVE, LEVEL_SET, IMPLICIT_SPIN, CONTACTS, VELOCITIES, SIZE = range(8)
"""Entries of ``counts``: number of fixed bodies; whether the scene is planar, tangential deflections active, surfaces
level sets, the gyroscopic term implicit; number of contacts, of velocities, and of unknowns without joints."""


class Bodies(NamedTuple):
    """The bodies of a step."""

    q: Array
    """At its start, (n_b, 7)."""
    v: Array
    """(n_b, 6)"""
    M: Array
    """Inertia in world axes, (n_b, 6, 6)."""
    push: Array
    """Impulses of loads, and of the gyroscopic term where it is explicit, (n_b, 6)."""
    walls: Array
    """Poses of fixed bodies at its end, (n_b, 7)."""
    drive: Array
    """Velocities that carry them there, (n_b, 6)."""
    free: Array
    """1 for directions in which bodies can move, (n_b, 6)."""
    mass: Array
    """(n_b,)"""
    least: Array
    """Least moment of inertia, (n_b,)."""
    size: Array
    """(n_b,) [m]"""
    law: Array
    """Layers, see :mod:`signorini.model.layer_kernels`, (n_b, 29)."""
    dof: IntArray
    """Unknowns, -1 for none, (n_b, 6)."""


class Touching(NamedTuple):
    """The contacts of a step; arrays may have more rows."""

    body: IntArray
    """(n_c, 2)"""
    row: IntArray
    """Unknowns, -1 for none, (n_c, 4)."""
    column: IntArray
    """The same for all columns of derivatives: velocities of a and of b, impulses, (n_c, 16)."""
    contact: Array
    """See :mod:`.answer`, (n_c, 17)."""
    pair: Array
    """See :mod:`signorini.geometry.moving_kernels`, (n_c, 42)."""
    touch: Array
    """Where to begin, then where surfaces face each other, (n_c, 12)."""
    slopes: Array
    """(n_c, 10, 14)"""
    known: IntArray
    """1 if these need not be found, (n_c,)."""
    p: Array
    """(n_c, 4)"""
    answer: Array
    """(n_c, 60)"""
    D: Array
    """(n_c, 13, 16)"""
    chart: IntArray
    """Axis of the chart in which the point of a contact is an unknown, -1 where it is eliminated, (n_c,)."""
    bent: IntArray
    """Its unknowns, -1 for none, (n_c, 2)."""
    at: Array
    """(n_c, 2)"""
    bend: Array
    """See :func:`signorini.geometry.moving_kernels.flat_rows`, (n_c, 18)."""
    entry: Array
    """Entries of the Jacobian that one such point adds, (34,)."""
    place: IntArray
    """Their rows and columns, (34, 2)."""


class Posed(NamedTuple):
    """The problem of a step."""

    bodies: Bodies
    contacts: Touching
    poses: Poses
    counts: IntArray
    number: Array
    """Length of the step [s], length in which it counts [m]."""
    desk: Desk
    sheet: Sheet


@inner_kernel
def ball_scale(contact: Array, c: int, k: int) -> float:
    """Return the unit of component `k` of an impulse in which friction is a ball; a couple that cannot act has one."""
    if k == 0:
        return 1.0
    e = contact[c, AXES + k - 1]
    return e if k < 3 or e > 0.0 else 1.0


@bare_kernel
def lay_out(P: Posed) -> None:
    """Number the unknowns: velocities, then the impulses of contact by contact."""
    n = 0
    for b in range(P.counts[FIXED], P.bodies.q.shape[0]):
        for k in range(6):
            P.bodies.dof[b, k] = -1
            if P.bodies.free[b, k] != 0.0:
                P.bodies.dof[b, k] = n
                n += 1
    P.counts[VELOCITIES] = n
    T = P.contacts
    for c in range(P.counts[CONTACTS]):
        rows = 1
        if T.contact[c, MU] > 0.0:
            rows = 2 if P.counts[PLANAR] == 1 else (4 if T.contact[c, AXES + 2] > 0.0 else 3)
        for k in range(4):
            T.row[c, k] = -1
            if k < rows:
                T.row[c, k] = n
                n += 1
        for k in range(6):
            T.column[c, k], T.column[c, 6 + k] = P.bodies.dof[T.body[c, 0], k], P.bodies.dof[T.body[c, 1], k]
        for k in range(4):
            T.column[c, 12 + k] = T.row[c, k]
        for e in range(2):
            T.bent[c, e] = -1
            if T.chart[c] >= 0:
                T.bent[c, e] = n
                n += 1
    P.counts[SIZE] = n


@inner_kernel
def _mobility(P: Posed, c: int) -> float:
    """Return about how much an impulse along the normal changes the normal velocity [1/kg]."""
    T, B, gives = P.contacts, P.bodies, 0.0
    n0, n1, n2 = T.touch[c, NORMAL], T.touch[c, NORMAL + 1], T.touch[c, NORMAL + 2]
    for k in range(2):
        b = T.body[c, k]
        if b < P.counts[FIXED]:
            continue
        r0 = T.touch[c, POINT_B] - B.q[b, 0]
        r1 = T.touch[c, POINT_B + 1] - B.q[b, 1]
        r2 = T.touch[c, POINT_B + 2] - B.q[b, 2]
        x = (r1 * n2 - r2 * n1) * B.free[b, 3]
        y = (r2 * n0 - r0 * n2) * B.free[b, 4]
        z = (r0 * n1 - r1 * n0) * B.free[b, 5]
        gives += 1.0 / B.mass[b]
        a00, a01, a02 = B.M[b, 3, 3], B.M[b, 3, 4], B.M[b, 3, 5]
        a11, a12, a22 = B.M[b, 4, 4], B.M[b, 4, 5], B.M[b, 5, 5]
        c00, c01, c02 = a11 * a22 - a12 * a12, a02 * a12 - a01 * a22, a01 * a12 - a02 * a11
        c11, c12, c22 = a00 * a22 - a02 * a02, a01 * a02 - a00 * a12, a00 * a11 - a01 * a01
        det = a00 * c00 + a01 * c01 + a02 * c02
        gives += (
            x * (c00 * x + c01 * y + c02 * z) + y * (c01 * x + c11 * y + c12 * z) + z * (c02 * x + c12 * y + c22 * z)
        ) / det
    return gives


@bare_kernel
def choose_units(P: Posed, gravity: float, unit: Array, row_unit: Array) -> None:
    """Choose sizes of unknowns and rows: lengths by ways and bodies, impulses by what moves contacts so far."""
    B, T, h, fixed = P.bodies, P.contacts, P.number[0], P.counts[FIXED]
    fastest, largest = 0.0, 0.0
    for b in range(fixed, B.q.shape[0]):
        speed = math.sqrt(B.v[b, 0] ** 2 + B.v[b, 1] ** 2 + B.v[b, 2] ** 2)
        speed += B.size[b] * math.sqrt(B.v[b, 3] ** 2 + B.v[b, 4] ** 2 + B.v[b, 5] ** 2)
        fastest, largest = max(fastest, speed), max(largest, B.size[b])
    length = h * (fastest + h * gravity) + LENGTH_GRAIN * largest
    P.number[1] = length
    for b in range(fixed, B.q.shape[0]):
        for k in range(6):
            i = B.dof[b, k]
            if i >= 0:
                unit[i] = length / h / (1.0 if k < 3 else B.size[b])
                row_unit[i] = unit[i] * (B.mass[b] if k < 3 else B.least[b])
    w = P.sheet
    for c in range(P.counts[CONTACTS]):
        gives, normal, along = _mobility(P, c), 0.0, 0.0
        for k in range(2):
            b = T.body[c, k]
            if B.law[b, 0] != NONE:
                for i in range(3):
                    w.p[i], w.before[k, i] = 0.0, T.contact[c, BEFORE + 3 * k + i]
                respond(B.law[b], w.p, w.before[k], h, w.deflection[k], w.slope[k])
                normal += w.slope[k, 0, 0]
                along += w.slope[k, 1, 1]
        impulse = length / (h * gives + normal)
        for k in range(4):
            i = T.row[c, k]
            if i >= 0:
                unit[i] = impulse
                row_unit[i] = length
                if k > 0:
                    row_unit[i] = impulse * (gives + (along / h if P.counts[ACTIVE] == 1 else 0.0))
        if T.chart[c] >= 0:
            for e in range(2):
                i = T.bent[c, e]
                unit[i] = length / B.size[T.body[c, 1 if T.pair[c, 1] == 1.0 else 0]]
                row_unit[i] = unit[i] * T.pair[c, 18 + T.chart[c]]


@bare_kernel
def place(P: Posed, z: Array) -> None:
    """Move bodies as the unknowns say, and read the impulses."""
    B, T, poses, h = P.bodies, P.contacts, P.poses, P.number[0]
    for b in range(B.q.shape[0]):
        moves = b >= P.counts[FIXED]
        poses.moves[b] = h if moves else 0.0
        for k in range(6):
            i = B.dof[b, k]
            poses.v[b, k] = z[i] if i >= 0 else B.drive[b, k]
        for k in range(3):
            poses.q[b, k] = B.q[b, k] + h * poses.v[b, k] if moves else B.walls[b, k]
            for i in range(3):
                poses.turns[b, k, i] = 0.0
        e, omega = (B.q[b, 3], B.q[b, 4], B.q[b, 5], B.q[b, 6]), (poses.v[b, 3], poses.v[b, 4], poses.v[b, 5])
        R = matrix(e)
        if not moves:
            e = (B.walls[b, 3], B.walls[b, 4], B.walls[b, 5], B.walls[b, 6])
        elif P.counts[PLANAR] == 1:
            e = turn_exact(e, omega, h)
            for k in range(3):
                poses.turns[b, k, k] = h
        else:
            e = turn_euler(e, omega, h)
            x, y, w = 0.5 * h * omega[0], 0.5 * h * omega[1], 0.5 * h * omega[2]
            f = h / (1.0 + x * x + y * y + w * w)
            S = poses.turns[b]
            S[0, 0], S[0, 1], S[0, 2] = f, -f * w, f * y
            S[1, 0], S[1, 1], S[1, 2] = f * w, f, -f * x
            S[2, 0], S[2, 1], S[2, 2] = -f * y, f * x, f
        for k in range(4):
            poses.q[b, 3 + k] = e[k]
        A = matrix(e)
        for i in range(3):
            for j in range(3):
                poses.turn[b, i, j] = A[3 * i] * R[3 * j] + A[3 * i + 1] * R[3 * j + 1] + A[3 * i + 2] * R[3 * j + 2]
    for c in range(P.counts[CONTACTS]):
        for k in range(4):
            i = T.row[c, k]
            T.p[c, k] = z[i] * ball_scale(T.contact, c, k) if i >= 0 else 0.0
        if T.chart[c] >= 0:
            T.at[c, 0], T.at[c, 1] = z[T.bent[c, 0]], z[T.bent[c, 1]]


@inner_kernel
def _momentum(P: Posed, b: int, F: Array, J: Array) -> None:
    """Add the rows of a body: ``M (v' - v) - push``, and the implicit gyroscopic term."""
    B, v, h = P.bodies, P.poses.v, P.number[0]
    spins = P.counts[IMPLICIT_SPIN] == 1 and P.counts[PLANAR] == 0
    dense = J.shape[0] > 0
    M = B.M[b]
    x, y, w = v[b, 3], v[b, 4], v[b, 5]
    L0 = M[3, 3] * x + M[3, 4] * y + M[3, 5] * w
    L1 = M[4, 3] * x + M[4, 4] * y + M[4, 5] * w
    L2 = M[5, 3] * x + M[5, 4] * y + M[5, 5] * w
    g = (y * L2 - w * L1, w * L0 - x * L2, x * L1 - y * L0)
    for k in range(6):
        i = B.dof[b, k]
        if i < 0:
            continue
        F[i] = -B.push[b, k]
        for l in range(6):
            F[i] += M[k, l] * (v[b, l] - B.v[b, l])
            j = B.dof[b, l]
            if dense and j >= 0:
                J[i, j] = M[k, l]
        if spins and k >= 3:
            F[i] += h * g[k - 3]
            if dense:
                _add_spin(M, B.dof[b], k - 3, (x, y, w), (L0, L1, L2), h, J)


@inner_kernel
def _add_spin(
    M: Array, dof: IntArray, k: int, o: tuple[float, float, float], L: tuple[float, float, float], h: float, J: Array
) -> None:
    """Add row `k` of ``h ([omega]x I - [I omega]x)``."""
    a, c = (k + 1) % 3, (k + 2) % 3
    i = dof[3 + k]
    for l in range(3):
        j = dof[3 + l]
        if j >= 0:
            J[i, j] += h * (o[a] * M[3 + c, 3 + l] - o[c] * M[3 + a, 3 + l])
    if dof[3 + a] >= 0:
        J[i, dof[3 + a]] += h * L[c]
    if dof[3 + c] >= 0:
        J[i, dof[3 + c]] -= h * L[a]


@inner_kernel
def _contact(P: Posed, c: int, F: Array, J: Array) -> None:
    """Add the impulses of a contact to the rows of its bodies, and its own rows."""
    T, B = P.contacts, P.bodies
    x, D = T.answer[c], T.D[c]
    dense = J.shape[0] > 0
    for side in range(2):
        b, sign = T.body[c, side], 1.0 if side == 0 else -1.0
        for k in range(6):
            i = B.dof[b, k]
            if i < 0:
                continue
            # the impulse acts on b, against it on a; moments have their signs
            F[i] += sign * x[FORCE + k] if k < 3 else -x[TORQUE + 3 * side + k - 3]
            if dense:
                row, f = (D_FORCE + k, sign) if k < 3 else (D_TORQUE + 3 * side + k - 3, -1.0)
                _add_row(T, c, i, row, f, D, J)
    for k in range(4):
        i = T.row[c, k]
        if i >= 0:
            f = ball_scale(T.contact, c, k)
            F[i] = f * (x[A_GAP] if k == 0 else x[SLIP + k - 1])
            if dense:
                _add_row(T, c, i, D_GAP if k == 0 else D_SLIP + k - 1, f, D, J)
    if T.chart[c] >= 0:
        F[T.bent[c, 0]], F[T.bent[c, 1]] = T.bend[c, 0], T.bend[c, 1]
        if dense:
            for k in range(bent_entries(P, c)):
                J[T.place[k, 0], T.place[k, 1]] += T.entry[k]


@inner_kernel
def _noted(T: Touching, k: int, row: int, column: int, value: float) -> int:
    """Note an entry as the k-th, if it is one; return how many there are then."""
    if row < 0 or column < 0:
        return k
    T.place[k, 0], T.place[k, 1], T.entry[k] = row, column, value
    return k + 1


@bare_kernel
def bent_entries(P: Posed, c: int) -> int:
    """Note what the Jacobian has more where the point of contact `c` is an unknown; return how many entries."""
    T, B, v = P.contacts, P.bodies, P.poses.v
    x, bend, first = T.answer[c], T.bend[c], T.pair[c, 1] == 1.0
    f0, f1, f2 = x[FORCE], x[FORCE + 1], x[FORCE + 2]
    m0, m1, m2 = T.touch[c, NORMAL], T.touch[c, NORMAL + 1], T.touch[c, NORMAL + 2]
    if not first:
        m0, m1, m2 = -m0, -m1, -m2
    count = 0
    for e in range(2):
        i, d = T.bent[c, e], 12 + 3 * e
        # both points move, the one on the plane without what leaves it; impulses act in the middle
        up = m0 * bend[d] + m1 * bend[d + 1] + m2 * bend[d + 2]
        y0, y1, y2 = bend[d] - 0.5 * up * m0, bend[d + 1] - 0.5 * up * m1, bend[d + 2] - 0.5 * up * m2
        turned = (y1 * f2 - y2 * f1, y2 * f0 - y0 * f2, y0 * f1 - y1 * f0)
        u0, u1, u2 = 0.0, 0.0, 0.0
        for side in range(2):
            b, sign = T.body[c, side], -1.0 if side == 0 else 1.0
            u0 += sign * (v[b, 4] * y2 - v[b, 5] * y1)
            u1 += sign * (v[b, 5] * y0 - v[b, 3] * y2)
            u2 += sign * (v[b, 3] * y1 - v[b, 4] * y0)
            # a turn of the plane is one of the body the other way
            against = 1.0 if (side == 1) == first else -1.0
            for j in range(3):
                count = _noted(T, count, B.dof[b, 3 + j], i, -sign * turned[j])
                by = 0.0
                for k in range(3):
                    by += bend[6 + 3 * e + k] * P.poses.turns[b, k, j]
                count = _noted(T, count, i, B.dof[b, 3 + j], against * by)
        count = _noted(T, count, T.row[c, 0], i, up)
        for k in range(1, 3):
            o = TANGENTS + 3 * (k - 1)
            along = x[o] * u0 + x[o + 1] * u1 + x[o + 2] * u2
            count = _noted(T, count, T.row[c, k], i, ball_scale(T.contact, c, k) * along)
        for k in range(2):
            count = _noted(T, count, i, T.bent[c, k], bend[2 + 2 * e + k])
    return count


@inner_kernel
def _add_row(T: Touching, c: int, i: int, row: int, f: float, D: Array, J: Array) -> None:
    """Add `f` times a row of derivatives to row `i`."""
    for k in range(COLUMNS):
        j = T.column[c, k]
        if j >= 0:
            J[i, j] += f * D[row, k] * (1.0 if k < 12 else ball_scale(T.contact, c, k - 12))


@bare_kernel
def assemble(P: Posed, F: Array, J: Array) -> int:
    """Fill rows and Jacobian where :func:`place` put the bodies; return the first contact that was lost, or -1.

    Contacts that are `known`, and those of a kind that kernels do not know, need their touch and slopes filled in. A
    Jacobian without rows is left out.
    """
    B, T, h = P.bodies, P.contacts, P.number[0]
    active, level_set = P.counts[ACTIVE] == 1, P.counts[LEVEL_SET] == 1
    F[:] = 0.0
    J[:] = 0.0
    for c in range(P.counts[CONTACTS]):
        a, b = T.body[c, 0], T.body[c, 1]
        deep_a, deep_b = 0.0, 0.0
        if level_set:
            deep_a, deep_b = depths(T.contact[c], B.law[a], B.law[b], T.p[c], h, P.sheet)
        if T.chart[c] >= 0:
            if (
                flat_rows(
                    T.pair[c],
                    P.poses.q[a],
                    P.poses.q[b],
                    deep_a,
                    deep_b,
                    T.chart[c],
                    T.at[c],
                    T.touch[c],
                    T.slopes[c],
                    T.bend[c],
                    P.desk,
                )
                == LOST
            ):
                return c
        elif T.known[c] == 0:
            found = LOST
            if T.pair[c, 0] != UNKNOWN:
                found = facing_rows(
                    T.pair[c], P.poses.q[a], P.poses.q[b], deep_a, deep_b, T.touch[c], T.slopes[c], P.desk
                )
            if found == LOST:
                return c
        answer_rows(
            T.contact[c],
            B.law[a],
            B.law[b],
            a,
            b,
            P.poses,
            T.p[c],
            h,
            T.touch[c],
            T.slopes[c],
            active,
            level_set,
            P.sheet,
            T.answer[c],
            T.D[c],
        )
    for b in range(P.counts[FIXED], B.q.shape[0]):
        _momentum(P, b, F, J)
    for c in range(P.counts[CONTACTS]):
        _contact(P, c, F, J)
    return -1
