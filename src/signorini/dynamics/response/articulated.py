r"""Poses of limbs from joint coordinates, and accelerations of rigid trees in linear time, as articulated bodies.

The articulated inertia of a limb is what resists at its joint while everything outboard hangs from it. With the force
F on b at the origin of B and the accelerations A there,

.. math::
    F = I A + p, \qquad A = A' + P \dot u, \quad A' = S^T A_{in} + \zeta, \qquad P^T F = \tau

give, from the leaves inwards, :math:`I' = I - U D^{-1} U^T` with :math:`U = I P`, :math:`D = P^T U`, and
:math:`p' = p + I' \zeta + U D^{-1} (\tau - P^T p)`, which add to those of the inboard limb. All in world axes.

References
----------
.. [F] Featherstone (2008), *Rigid Body Dynamics Algorithms*, section 7.3; here with the bias :math:`\zeta` that S5,
   eq. (7), gives its joints.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.math.rotation import matrix

KINDS = ("free", "fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")
_FREE, _SPHERICAL, _UNIVERSAL, _PLANAR = (KINDS.index(kind) for kind in ("free", "spherical", "universal", "planar"))


class LimbArrays(NamedTuple):
    """What kernels know of limbs; bodies and points by their rows in the model."""

    kind: IntArray
    """Number in `KINDS`, (n,)."""
    row: IntArray
    """(n,)"""
    inboard: IntArray
    """Row, -1 for the world, (n,)."""
    q: IntArray
    """First coordinate, (n,)."""
    u: IntArray
    """First speed, (n,)."""
    slides: IntArray
    """Number of coordinates that displace B, the first ones, (n,)."""
    turns: IntArray
    """1 where the next one turns it about its last axis, else 0, (n,)."""
    anchor: Array
    """(n, 2, 3) [m]"""
    frame: Array
    """(n, 2, 3, 3)"""
    rest: Array
    """(n, 3, 3)"""


@inner_kernel
def _times(A: Array, B: Array, out: Array) -> None:
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@inner_kernel
def _spun(A: Array, angle: float, out: Array) -> None:
    """Fill `out` with A turned about its own last column."""
    c, s = math.cos(angle), math.sin(angle)
    for i in range(3):
        x, y = A[i, 0], A[i, 1]
        out[i, 0], out[i, 1], out[i, 2] = c * x + s * y, c * y - s * x, A[i, 2]


@inner_kernel
def _cross_at(a: Array, b: Array, k: int) -> float:
    i, j = (k + 1) % 3, (k + 2) % 3
    return float(a[i] * b[j] - a[j] * b[i])


@inner_kernel
def _add_cross(a: Array, b: Array, scale: float, out: Array) -> None:
    """Add the product of two vectors, times `scale`."""
    out[0] += scale * (a[1] * b[2] - a[2] * b[1])
    out[1] += scale * (a[2] * b[0] - a[0] * b[2])
    out[2] += scale * (a[0] * b[1] - a[1] * b[0])


@inner_kernel
def _turn(q: Array, first: int, e: Array, R: Array) -> None:
    """Fill quaternion and rotation from four coordinates."""
    for i in range(4):
        e[i] = q[first + i]
    turned = matrix((e[0], e[1], e[2], e[3]))
    for i in range(3):
        for j in range(3):
            R[i, j] = turned[3 * i + j]


@kernel
def nearest_quaternion(R: Array, e: Array) -> None:
    """Overwrite a quaternion (4,) by that of a rotation, on the same side; by its largest component for accuracy."""
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    f, g, h = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    t = (
        1.0 + R[0, 0] + R[1, 1] + R[2, 2],
        1.0 + R[0, 0] - R[1, 1] - R[2, 2],
        1.0 - R[0, 0] + R[1, 1] - R[2, 2],
        1.0 - R[0, 0] - R[1, 1] + R[2, 2],
    )
    most = max(t[0], t[1], t[2], t[3])
    if t[0] == most:
        own = (t[0], a, b, c)
    elif t[1] == most:
        own = (a, t[1], f, g)
    elif t[2] == most:
        own = (b, f, t[2], h)
    else:
        own = (c, g, h, t[3])
    size = math.sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2] + own[3] * own[3])
    if own[0] * e[0] + own[1] * e[1] + own[2] * e[2] + own[3] * e[3] < 0.0:
        size = -size
    for i in range(4):
        e[i] = own[i] / size


@kernel
def place_limbs(
    first: int,
    last: int,
    kind: IntArray,
    row: IntArray,
    inboard: IntArray,
    q_start: IntArray,
    u_start: IntArray,
    slides: IntArray,
    turns: IntArray,
    anchor: Array,
    frame: Array,
    rest: Array,
    q: Array,
    u: Array,
    x: Array,
    e: Array,
    R: Array,
    v: Array,
    w: Array,
    place: Array,
    P: Array,
    turning: Array,
    work: Array,
) -> None:
    """Fill in the rows of limbs first to last - 1, origins of B, P (n, 6, 3) and A_t (n, 6), after what is inboard.

    A_t of spherical joints has no angular part, since that is free. `e` (n_b, 4) are quaternions near those before.
    `work` (4, 3, 3) is memory.
    """
    A, B, still, r, turned, slid = work[0], work[1], work[2], work[3, 0], work[3, 1], work[3, 2]
    for k in range(first, last):
        kd, b, a, iq, iu = kind[k], row[k], inboard[k], q_start[k], u_start[k]
        for i in range(6):
            turning[k, i] = 0.0
            for j in range(3):
                P[k, i, j] = 0.0
        if kd == _FREE:
            _turn(q, iq + 3, e[b], R[b])
            for i in range(3):
                place[k, i] = q[iq + i]
                w[b, i], v[b, i] = u[iu + 3 + i], u[iu + i]
        else:
            for i in range(3):
                if a < 0:
                    place[k, i] = anchor[k, 0, i]
                else:
                    place[k, i] = x[a, i]
                    for j in range(3):
                        place[k, i] += R[a, i, j] * anchor[k, 0, j]
            if a < 0:
                for i in range(3):
                    for j in range(3):
                        A[i, j] = frame[k, 0, i, j]
            else:
                _times(R[a], frame[k, 0], A)
            # P, how far B slides, and how A turned by the joint, in B
            speeds = slides[k]
            for j in range(speeds):
                axis = j if kd == _PLANAR else 2
                for i in range(3):
                    P[k, 3 + i, j] = A[i, axis]
                    place[k, i] += q[iq + j] * A[i, axis]
            if turns[k] == 1:
                for i in range(3):
                    P[k, i, speeds] = A[i, 2]
                _spun(A, q[iq + speeds], B)
                speeds += 1
            elif kd == _UNIVERSAL:
                speeds = 2
                _spun(A, q[iq], still)
                _times(still, rest[k], B)
                for i in range(3):
                    P[k, i, 0], P[k, i, 1] = A[i, 2], B[i, 2]
                _spun(B, q[iq + 1], still)
                for i in range(3):
                    for j in range(3):
                        B[i, j] = still[i, j]
            elif kd == _SPHERICAL:
                speeds = 0
                for i in range(3):
                    P[k, i, i] = 1.0
            else:
                for i in range(3):
                    for j in range(3):
                        B[i, j] = A[i, j]
            if kd == _SPHERICAL:
                _turn(q, iq, e[b], R[b])
            else:  # frame is a rotation: its inverse is its transpose
                for i in range(3):
                    for j in range(3):
                        R[b, i, j] = (
                            B[i, 0] * frame[k, 1, j, 0] + B[i, 1] * frame[k, 1, j, 1] + B[i, 2] * frame[k, 1, j, 2]
                        )
                nearest_quaternion(R[b], e[b])
            # spin and velocity of the origin of B, and A_t
            for i in range(3):
                turned[i] = slid[i] = 0.0
                for j in range(speeds):
                    turned[i] += P[k, i, j] * u[iu + j]
                    slid[i] += P[k, 3 + i, j] * u[iu + j]
                v[b, i] = slid[i]
                w[b, i] = turned[i]
            if a >= 0:
                for i in range(3):
                    r[i] = place[k, i] - x[a, i]
                    v[b, i] += v[a, i]
                    w[b, i] += w[a, i]
                _add_cross(w[a], r, 1.0, v[b])
                _add_cross(w[a], turned, 1.0, turning[k, :3])
                _add_cross(w[a], slid, 2.0, turning[k, 3:])
            if kd == _UNIVERSAL:
                _add_cross(P[k, :3, 0], P[k, :3, 1], u[iu] * u[iu + 1], turning[k, :3])
            if kd == _SPHERICAL:
                for i in range(3):
                    w[b, i] = u[iu + i]
        for i in range(3):
            r[i] = R[b, i, 0] * anchor[k, 1, 0] + R[b, i, 1] * anchor[k, 1, 1] + R[b, i, 2] * anchor[k, 1, 2]
            x[b, i] = place[k, i] - r[i]
        _add_cross(w[b], r, -1.0, v[b])


@kernel
def fill_leaves(
    row: IntArray,
    handle_start: IntArray,
    hinge: IntArray,
    side: IntArray,
    x: Array,
    R: Array,
    w: Array,
    mass: Array,
    inertia: Array,
    place: Array,
    across: Array,
    Gamma: Array,
    beta: Array,
    T: Array,
    fast: Array,
    work: Array,
) -> None:
    """Fill what divide and conquer asks of rigid limbs, about their mass centres.

    That is Gamma (n, 6, 6) and the gyroscopic beta (n, 6), and of their handles, limb by limb, T (m, 6, 6) and
    the acceleration A^ by the spin (m, 6). `row` is -1 for limbs that deform; `work` (2, 3, 3) is memory.
    """
    B, J = work[0], work[1]
    for k in range(row.size):
        b = row[k]
        if b < 0:
            continue
        _times(R[b], inertia[b], B)
        for i in range(3):
            for j in range(3):
                J[i, j] = B[i, 0] * R[b, j, 0] + B[i, 1] * R[b, j, 1] + B[i, 2] * R[b, j, 2]
        for i in range(6):
            beta[k, i] = 0.0
            for j in range(6):
                Gamma[k, i, j] = J[i, j] if i < 3 and j < 3 else mass[b] if i == j else 0.0
        for i in range(3):
            B[0, i] = J[i, 0] * w[b, 0] + J[i, 1] * w[b, 1] + J[i, 2] * w[b, 2]
        for i in range(3):
            beta[k, i] = _cross_at(w[b], B[0], i)
        r = B[1]
        for h in range(handle_start[k], handle_start[k + 1]):
            for i in range(3):
                point = across[hinge[h], i] if side[h] == 0 else place[hinge[h], i]
                r[i] = point - x[b, i]
            for i in range(6):
                for j in range(6):
                    T[h, i, j] = 1.0 if i == j else 0.0
            T[h, 3, 1], T[h, 3, 2], T[h, 4, 0] = r[2], -r[1], -r[2]
            T[h, 4, 2], T[h, 5, 0], T[h, 5, 1] = r[0], r[1], -r[0]
            wr = w[b, 0] * r[0] + w[b, 1] * r[1] + w[b, 2] * r[2]
            ww = w[b, 0] * w[b, 0] + w[b, 1] * w[b, 1] + w[b, 2] * w[b, 2]
            for i in range(3):
                fast[h, i], fast[h, 3 + i] = 0.0, w[b, i] * wr - r[i] * ww


@kernel
def fill_directions(P: Array, columns: IntArray, held: IntArray, along: IntArray, D: Array, Q: Array) -> None:
    """Fill the first columns of D (n, 6, 6) with orthonormal directions that hinges hold.

    Those are P itself where `along` says so, all six where so many are `held`, else the complement of P: the axes that
    P sees least, made orthogonal. `Q` (6, 6) is memory.
    """
    for k in range(columns.size):
        for i in range(6):
            for j in range(6):
                D[k, i, j] = 1.0 if i == j and held[k] == 6 else 0.0
        if along[k] == 1:
            for i in range(6):
                for j in range(held[k]):
                    D[k, i, j] = P[k, i, j]
            continue
        if held[k] == 6:
            continue
        for c in range(columns[k] + held[k]):
            if c < columns[k]:
                for i in range(6):
                    Q[i, c] = P[k, i, c]
            else:
                least, axis = 2.0, 0
                for i in range(6):
                    seen = 0.0
                    for j in range(c):
                        seen += Q[i, j] * Q[i, j]
                    if seen < least - 1e-9:
                        least, axis = seen, i
                for i in range(6):
                    Q[i, c] = 1.0 if i == axis else 0.0
            for _ in range(2):  # the second time takes away what rounding leaves of the first
                for j in range(c):
                    share = 0.0
                    for i in range(6):
                        share += Q[i, j] * Q[i, c]
                    for i in range(6):
                        Q[i, c] -= share * Q[i, j]
            size = 0.0
            for i in range(6):
                size += Q[i, c] * Q[i, c]
            size = math.sqrt(size)
            for i in range(6):
                Q[i, c] /= size
                if c >= columns[k]:
                    D[k, i, c - columns[k]] = Q[i, c]


@inner_kernel
def _shifted(I: Array, r: Array, out: Array) -> None:
    """Add ``S(r) I S(r)^T`` (6, 6) to `out`; I is overwritten."""
    for _ in range(2):  # from the left, and by symmetry of the whole from the right
        for j in range(6):
            x, y, z = I[3, j], I[4, j], I[5, j]
            I[0, j] += r[1] * z - r[2] * y
            I[1, j] += r[2] * x - r[0] * z
            I[2, j] += r[0] * y - r[1] * x
        for i in range(6):
            for j in range(i):
                I[i, j], I[j, i] = I[j, i], I[i, j]
    for i in range(6):
        for j in range(6):
            out[i, j] += I[i, j]


@kernel
def articulate(
    parent: IntArray,
    kind: IntArray,
    row: IntArray,
    inboard: IntArray,
    u_start: IntArray,
    free: IntArray,
    mass: Array,
    inertia: Array,
    x: Array,
    R: Array,
    v: Array,
    w: Array,
    place: Array,
    P: Array,
    turning: Array,
    force: Array,
    tau: Array,
    I: Array,
    p: Array,
    U: Array,
    L: Array,
    zeta: Array,
    out: Array,
    wrench: Array,
    rate: Array,
    work: Array,
) -> bool:
    """Fill accelerations of mass centres (n, 6), angular first, and wrenches of joints on b (n, 6); False if singular.

    Rates of speeds go to `rate` (n_u,), which holds those of prescribed coordinates before.

    Parameters
    ----------
    parent : limb inboard, -1 for none
    free : columns of P that the joint leaves free; 6 for a body that floats
    turning : (n, 6)
        A_t, that of prescribed accelerations with it.
    force : (n_b, 6)
        Loads at mass centres, force first.
    tau : (n, 3)
        Forces along P.
    I, p, U, L, zeta : (n, 6, 6), (n, 6), (n, 6, 6), (n, 6, 6), (n, 6)
        Memory; `work` (5, 6, 6) too.
    """
    n = parent.size
    J, T, c, s, g = work[0], work[1], work[2, 0], work[2, 1], work[2, 2]
    for k in range(n):
        b, m = row[k], mass[row[k]]
        for i in range(3):
            for j in range(3):
                T[i, j] = R[b, i, 0] * inertia[b, 0, j] + R[b, i, 1] * inertia[b, 1, j] + R[b, i, 2] * inertia[b, 2, j]
        for i in range(3):
            for j in range(3):
                J[i, j] = T[i, 0] * R[b, j, 0] + T[i, 1] * R[b, j, 1] + T[i, 2] * R[b, j, 2]
            c[i] = x[b, i] - place[k, i]
        cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2]
        for i in range(3):
            g[i] = J[i, 0] * w[b, 0] + J[i, 1] * w[b, 1] + J[i, 2] * w[b, 2]
            for j in range(3):
                I[k, i, j] = J[i, j] - m * c[i] * c[j] + (m * cc if i == j else 0.0)
                I[k, 3 + i, 3 + j] = m if i == j else 0.0
                I[k, i, 3 + j] = 0.0
        I[k, 0, 4], I[k, 0, 5], I[k, 1, 3] = -m * c[2], m * c[1], m * c[2]
        I[k, 1, 5], I[k, 2, 3], I[k, 2, 4] = -m * c[0], -m * c[1], m * c[0]
        for i in range(3):
            for j in range(3):
                I[k, 3 + i, j] = I[k, j, 3 + i]
        # p: what the spin asks for, less the loads, about the origin of B
        wc = w[b, 0] * c[0] + w[b, 1] * c[1] + w[b, 2] * c[2]
        ww = w[b, 0] * w[b, 0] + w[b, 1] * w[b, 1] + w[b, 2] * w[b, 2]
        for i in range(3):
            s[i] = m * (w[b, i] * wc - c[i] * ww) - force[b, i]
            p[k, 3 + i] = s[i]
        for i in range(3):
            p[k, i] = _cross_at(w[b], g, i) + _cross_at(c, s, i) - force[b, 3 + i]
            zeta[k, i], zeta[k, 3 + i] = turning[k, i], turning[k, 3 + i]
        a = inboard[k]
        if parent[k] >= 0:  # of the point of a's limb at the origin of B, against the origin of its own B
            for i in range(3):
                s[i] = place[k, i] - place[parent[k], i]
            ws = w[a, 0] * s[0] + w[a, 1] * s[1] + w[a, 2] * s[2]
            ww = w[a, 0] * w[a, 0] + w[a, 1] * w[a, 1] + w[a, 2] * w[a, 2]
            for i in range(3):
                zeta[k, 3 + i] += w[a, i] * ws - s[i] * ww
    own = work[3, 0]
    for k in range(n - 1, -1, -1):
        f = free[k]
        if f == 6:
            for i in range(6):
                for j in range(6):
                    U[k, i, j] = I[k, i, j]
        else:
            for i in range(6):
                for j in range(f):
                    total = 0.0
                    for l in range(6):
                        total += I[k, i, l] * P[k, l, j]
                    U[k, i, j] = total
        for i in range(f):  # the factor of D, inverses on its diagonal
            for j in range(i + 1):
                total = 0.0
                if f == 6:
                    total = U[k, i, j]
                else:
                    for l in range(6):
                        total += P[k, l, i] * U[k, l, j]
                size = total
                for l in range(j):
                    total -= L[k, i, l] * L[k, j, l]
                if i == j:
                    if not total > 1e-14 * size:
                        return False
                    L[k, i, i] = 1.0 / math.sqrt(total)
                else:
                    L[k, i, j] = total * L[k, j, j]
        if parent[k] < 0:
            continue
        for j in range(f):  # U becomes U L^-T, and tau what is left of it
            for i in range(6):
                total = U[k, i, j]
                for l in range(j):
                    total -= U[k, i, l] * L[k, j, l]
                U[k, i, j] = total * L[k, j, j]
            total = tau[k, j]
            for l in range(6):
                total -= P[k, l, j] * p[k, l]
            for l in range(j):
                total -= L[k, j, l] * own[l]
            own[j] = total * L[k, j, j]
        I_k = work[4]
        for i in range(6):
            for j in range(i + 1):
                total = I[k, i, j]
                for l in range(f):
                    total -= U[k, i, l] * U[k, j, l]
                I_k[i, j] = I_k[j, i] = total
        q = work[3, 1]
        for i in range(6):
            total = p[k, i]
            for l in range(6):
                total += I_k[i, l] * zeta[k, l]
            for l in range(f):
                total += U[k, i, l] * own[l]
            q[i] = total
        up = parent[k]
        for i in range(3):
            s[i] = place[k, i] - place[up, i]
        for i in range(3):
            p[up, i] += q[i] + _cross_at(s, q[3:], i)
            p[up, 3 + i] += q[3 + i]
        _shifted(I_k, s, I[up])
    A = work[3, 2]
    for k in range(n):
        f, up, b = free[k], parent[k], row[k]
        for i in range(6):
            A[i] = zeta[k, i]
        if up >= 0:
            for i in range(3):
                s[i] = place[k, i] - place[up, i]
                A[i] += wrench[up, i]
                A[3 + i] += wrench[up, 3 + i]
            _add_cross(wrench[up, :3], s, 1.0, A[3:])
        # wrench holds accelerations at the origins of B until all are known
        q = work[3, 3]
        for i in range(6):
            q[i] = p[k, i]
            for l in range(6):
                q[i] += I[k, i, l] * A[l]
        for j in range(f):
            total = -q[j] if f == 6 else tau[k, j]
            if f < 6:
                for l in range(6):
                    total -= P[k, l, j] * q[l]
            for l in range(j):
                total -= L[k, j, l] * own[l]
            own[j] = total * L[k, j, j]
        for j in range(f - 1, -1, -1):
            total = own[j]
            for l in range(j + 1, f):
                total -= L[k, l, j] * own[l]
            own[j] = total * L[k, j, j]
        for j in range(f):
            if f == 6:
                A[j] += own[j]
            else:
                rate[u_start[k] + j] = own[j]
                for i in range(6):
                    A[i] += P[k, i, j] * own[j]
        if f == 6:
            for i in range(3):
                rate[u_start[k] + i], rate[u_start[k] + 3 + i] = A[3 + i], A[i]
        elif kind[k] == _SPHERICAL:
            for i in range(3):
                rate[u_start[k] + i] = A[i]
        wc = 0.0
        ww = 0.0
        for i in range(3):
            c[i] = x[b, i] - place[k, i]
            wc += w[b, i] * c[i]
            ww += w[b, i] * w[b, i]
        for i in range(6):
            wrench[k, i] = A[i]
        for i in range(3):
            out[k, i] = A[i]
            out[k, 3 + i] = A[3 + i] + _cross_at(A, c, i) + w[b, i] * wc - c[i] * ww
    for k in range(n):
        for i in range(6):
            A[i] = wrench[k, i]
        for i in range(6):
            total = p[k, i]
            for l in range(6):
                total += I[k, i, l] * A[l]
            wrench[k, i] = total
    return True
