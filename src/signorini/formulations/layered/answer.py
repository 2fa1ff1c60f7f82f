"""What a contact asks and exerts at the end of a step, with derivatives: see :mod:`.contact`, on rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini._jit import bare_kernel, inner_kernel
from signorini.geometry.moving_kernels import GAP, NORMAL, POINT_A, POINT_B
from signorini.model.layer_kernels import NONE, respond

COLUMNS = 16
"""Of derivatives: velocities of a and of b (6 each), impulses (4)."""
A_GAP, POINT, T, O, SLIP, VELOCITY, FORCE, TORQUE, DEFLECTION, CORE, SLOPE, TURNED, OWN = (
    *(0, 1, 4, 7, 10, 13, 17, 20, 26, 32, 34, 52, 54),
)
"""Columns of an answer, the fields of :class:`.contact.Answer`; torques, deflections, cores, slopes and own
tangents are those of a, then those of b."""
ANSWER_COLUMNS = 60
D_GAP, D_SLIP, D_FORCE, D_TORQUE = 0, 1, 4, 7
"""Rows of its derivatives; two torques."""
ANSWER_ROWS = 13
MU, AXES, GAP_BEFORE, BEFORE, TANGENT = 0, 1, 4, 5, 11
"""Columns of a contact as a step begins: friction, half axes (3), gap between the deflected surfaces, deflections of
both layers (2, 3) and their tangents (2, 3)."""
CONTACT_COLUMNS = 17


class Sheet(NamedTuple):
    """Scratch memory of one contact."""

    normal: Array
    """Derivatives of the normal, (3, 16)."""
    point: Array
    """Of both points, then of the common one, (3, 3, 16)."""
    t: Array
    """Tangents of the frames of both layers, (2, 3)."""
    o: Array
    """(2, 3)"""
    d_t: Array
    """(2, 3, 16)"""
    d_o: Array
    """(2, 3, 16)"""
    deflection: Array
    """Of both layers, (2, 3)."""
    d_deflection: Array
    """(2, 3, 16)"""
    slope: Array
    """(2, 3, 3)"""
    before: Array
    """(2, 3)"""
    p: Array
    """Impulses in a frame, (3,)."""
    column: Array
    """Any derivatives, (6, 3, 16)."""


def sheet() -> Sheet:
    """Return scratch memory."""
    return Sheet(
        np.zeros((3, 16)),
        np.zeros((3, 3, 16)),
        np.zeros((2, 3)),
        np.zeros((2, 3)),
        np.zeros((2, 3, 16)),
        np.zeros((2, 3, 16)),
        np.zeros((2, 3)),
        np.zeros((2, 3, 16)),
        np.zeros((2, 3, 3)),
        np.zeros((2, 3)),
        np.zeros(3),
        np.zeros((6, 3, 16)),
    )


class Poses(NamedTuple):
    """Bodies at the end of a step, with the derivatives of their poses by their velocities."""

    q: Array
    """(n_b, 7)"""
    v: Array
    """(n_b, 6)"""
    turn: Array
    """Rotations since the start of the step, (n_b, 3, 3)."""
    moves: Array
    """Derivatives of positions: h, 0 for fixed bodies, (n_b,) [s]."""
    turns: Array
    """Derivatives of rotations by spins, (n_b, 3, 3) [s]."""


@bare_kernel
def depths(contact: Array, law_a: Array, law_b: Array, p: Array, h: float, w: Sheet) -> tuple[float, float]:
    """Return the normal deflections of both layers where they do not depend on the frame; slopes are left in `w`."""
    a = b = 0.0
    for i in range(3):
        w.before[0, i], w.before[1, i], w.p[i] = contact[BEFORE + i], contact[BEFORE + 3 + i], p[i]
    if law_a[0] != NONE:
        respond(law_a, w.p, w.before[0], h, w.deflection[0], w.slope[0])
        a = w.deflection[0, 0]
    if law_b[0] != NONE:
        respond(law_b, w.p, w.before[1], h, w.deflection[1], w.slope[1])
        b = w.deflection[1, 0]
    return a, b


@inner_kernel
def _by_velocities(
    slopes: Array,
    row: int,
    poses: Poses,
    a: int,
    b: int,
    deep_a: bool,
    deep_b: bool,
    first: int,
    w: Sheet,
    out: Array,
    to: int,
) -> None:
    """Turn a derivative by twists and depths into one by velocities and impulses."""
    for k in range(first // 6, 2):
        body = a if k == 0 else b
        for j in range(3):
            out[to, 6 * k + j] = slopes[row, 6 * k + j] * poses.moves[body]
            x = 0.0
            for i in range(3):
                x += slopes[row, 6 * k + 3 + i] * poses.turns[body, i, j]
            out[to, 6 * k + 3 + j] = x
    for j in range(3):
        x = 0.0
        if deep_a:
            x += slopes[row, 12] * w.slope[0, 0, j]
        if deep_b:
            x += slopes[row, 13] * w.slope[1, 0, j]
        out[to, 12 + j] = x
    out[to, 15] = 0.0


@inner_kernel
def _frame(contact: Array, side: int, k: int, poses: Poses, body: int, n: Array, first: int, w: Sheet) -> None:
    """Carry the tangent of a layer and project it onto the new tangent plane; t is its direction, o = n x t."""
    o = TANGENT + 3 * max(side, 0)
    s, d_s = w.p, w.column[0]
    d_s[:] = 0.0
    for i in range(3):
        s[i] = contact[o + i]
    if side >= 0:
        x, y, z = s[0], s[1], s[2]
        for i in range(3):
            s[i] = poses.turn[body, i, 0] * x + poses.turn[body, i, 1] * y + poses.turn[body, i, 2] * z
        for j in range(3):
            f0, f1, f2 = poses.turns[body, 0, j], poses.turns[body, 1, j], poses.turns[body, 2, j]
            column = 6 * side + 3 + j
            d_s[0, column] = -(s[1] * f2 - s[2] * f1)
            d_s[1, column] = -(s[2] * f0 - s[0] * f2)
            d_s[2, column] = -(s[0] * f1 - s[1] * f0)
    along = n[0] * s[0] + n[1] * s[1] + n[2] * s[2]
    t, out = w.t[k], w.o[k]
    size = 0.0
    for i in range(3):
        t[i] = s[i] - along * n[i]
        size += t[i] * t[i]
    size = math.sqrt(size)
    for i in range(3):
        t[i] /= size
    out[0], out[1], out[2] = n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]
    d_n, d_t, d_o = w.normal, w.d_t[k], w.d_o[k]
    for j in range(first, COLUMNS):
        turned = 0.0
        for i in range(3):
            turned += s[i] * d_n[i, j] + n[i] * d_s[i, j]
        across = 0.0
        for i in range(3):
            d_t[i, j] = d_s[i, j] - along * d_n[i, j] - n[i] * turned
            across += t[i] * d_t[i, j]
        for i in range(3):
            d_t[i, j] = (d_t[i, j] - t[i] * across) / size
        x, y, z = d_t[0, j], d_t[1, j], d_t[2, j]
        u, v, r = d_n[0, j], d_n[1, j], d_n[2, j]
        d_o[0, j] = n[1] * z - n[2] * y - (t[1] * r - t[2] * v)
        d_o[1, j] = n[2] * x - n[0] * z - (t[2] * u - t[0] * r)
        d_o[2, j] = n[0] * y - n[1] * x - (t[0] * v - t[1] * u)


@inner_kernel
def _respond_in_frame(
    law: Array,
    k: int,
    own: bool,
    main: int,
    p: Array,
    h: float,
    active: bool,
    first: int,
    w: Sheet,
    out: Array,
    D: Array,
) -> None:
    """Let a layer respond; add the velocity of its surface to the slip if it is `active`.

    Where the layer has a frame of its `own`, its tangent is the contact's turned about n.
    """
    cosine, sine = 1.0, 0.0
    d_angle = w.column[1, 0]
    if own:
        cosine = sine = 0.0
        for i in range(3):
            cosine += w.t[main, i] * w.t[k, i]
            sine += w.o[main, i] * w.t[k, i]
        for j in range(first, COLUMNS):
            d_angle[j] = 0.0
            for i in range(3):
                d_angle[j] += w.o[k, i] * w.d_t[k, i, j] - w.o[main, i] * w.d_t[main, i, j]
        out[TURNED], out[TURNED + 1] = cosine, sine
    w.p[0], w.p[1], w.p[2] = p[0], cosine * p[1] + sine * p[2], cosine * p[2] - sine * p[1]
    core = respond(law, w.p, w.before[k], h, w.deflection[k], w.slope[k])
    S, d = w.slope[k], w.d_deflection[k]
    d[:] = 0.0
    for i in range(3):
        d[i, 12] = S[i, 0]
        d[i, 13] = S[i, 1] * cosine - S[i, 2] * sine
        d[i, 14] = S[i, 1] * sine + S[i, 2] * cosine
        if own:
            turned = S[i, 1] * w.p[2] - S[i, 2] * w.p[1]
            for j in range(first, COLUMNS):
                d[i, j] += turned * d_angle[j]
    out[CORE + k] = core
    for i in range(3):
        out[DEFLECTION + 3 * k + i] = w.deflection[k, i]
        x, y = d[i, 12], d[i, 13]
        z = d[i, 14]
        if own:  # without what turns the frame
            x, y, z = S[i, 0], S[i, 1] * cosine - S[i, 2] * sine, S[i, 1] * sine + S[i, 2] * cosine
        w.column[2, i, 0], w.column[2, i, 1], w.column[2, i, 2] = x, y, z
    for j in range(3):
        x, y, z = w.column[2, 0, j], w.column[2, 1, j], w.column[2, 2, j]
        out[SLOPE + 9 * k + j] = x
        out[SLOPE + 9 * k + 3 + j] = cosine * y - sine * z
        out[SLOPE + 9 * k + 6 + j] = sine * y + cosine * z
    if not active:
        return
    g1, g2 = (w.deflection[k, 1] - w.before[k, 1]) / h, (w.deflection[k, 2] - w.before[k, 2]) / h
    r1, r2 = cosine * g1 - sine * g2, sine * g1 + cosine * g2
    out[SLIP] += r1
    out[SLIP + 1] += r2
    for j in range(first, COLUMNS):
        D[D_SLIP, j] += (cosine * d[1, j] - sine * d[2, j]) / h
        D[D_SLIP + 1, j] += (sine * d[1, j] + cosine * d[2, j]) / h
        if own:
            D[D_SLIP, j] -= r2 * d_angle[j]
            D[D_SLIP + 1, j] += r1 * d_angle[j]


@bare_kernel
def answer_rows(
    contact: Array,
    law_a: Array,
    law_b: Array,
    a: int,
    b: int,
    poses: Poses,
    p: Array,
    h: float,
    touch: Array,
    slopes: Array,
    active: bool,
    level_set: bool,
    w: Sheet,
    out: Array,
    D: Array,
) -> None:
    """Fill an answer (60,) and its derivatives (13, 16); surfaces face each other as `touch` and `slopes` say.

    Derivatives by velocities of a body a that is fixed stay as they are: nobody asks for them.
    """
    first = 0 if poses.moves[a] > 0.0 else 6
    soft_a, soft_b = law_a[0] != NONE, law_b[0] != NONE
    deep_a, deep_b = level_set and soft_a, level_set and soft_b
    n = w.column[5, 0]
    for i in range(3):
        n[i] = touch[NORMAL + i]
        w.before[0, i], w.before[1, i] = contact[BEFORE + i], contact[BEFORE + 3 + i]
        _by_velocities(slopes, 1 + i, poses, a, b, deep_a, deep_b, first, w, w.normal, i)
        _by_velocities(slopes, 4 + i, poses, a, b, deep_a, deep_b, first, w, w.point[0], i)
        _by_velocities(slopes, 7 + i, poses, a, b, deep_a, deep_b, first, w, w.point[1], i)
    _by_velocities(slopes, 0, poses, a, b, deep_a, deep_b, first, w, D, D_GAP)
    carrier = 0 if soft_a else (1 if soft_b else -1)
    main = max(carrier, 0)
    both = soft_a and soft_b
    _frame(contact, carrier, 0, poses, a if main == 0 else b, n, first, w)
    if both:
        _frame(contact, 1, 1, poses, b, n, first, w)
    for i in range(CORE + 2, ANSWER_COLUMNS):
        out[i] = 0.0
    out[TURNED] = 1.0
    for k in range(2):
        out[CORE + k] = 0.0
        for i in range(3):
            out[OWN + 3 * k + i] = w.t[k if both else 0, i]
            out[DEFLECTION + 3 * k + i] = 0.0
    out[SLIP], out[SLIP + 1] = 0.0, 0.0
    for j in range(first, COLUMNS):
        D[D_SLIP, j], D[D_SLIP + 1, j] = 0.0, 0.0
    # a frame that only one layer carries stands in row 0
    w.d_deflection[:] = 0.0
    if soft_a:
        _respond_in_frame(law_a, 0, False, 0, p, h, active, first, w, out, D)
    if soft_b:
        _respond_in_frame(law_b, 1, both, 0, p, h, active, first, w, out, D)
    t, o, d_t, d_o, d_n = w.t[0], w.o[0], w.d_t[0], w.d_o[0], w.normal
    d_c = w.point[2]
    out[A_GAP] = touch[GAP]
    deflected = 0.0 if level_set else out[DEFLECTION + 3] - out[DEFLECTION]
    for i in range(3):
        out[POINT + i] = 0.5 * (touch[POINT_A + i] + touch[POINT_B + i]) + 0.5 * deflected * n[i]
        for j in range(first, COLUMNS):
            d_c[i, j] = 0.5 * (w.point[0, i, j] + w.point[1, i, j])
    if not level_set:
        out[A_GAP] += out[DEFLECTION] + out[DEFLECTION + 3]
        for j in range(first, COLUMNS):
            D[D_GAP, j] += w.d_deflection[0, 0, j] + w.d_deflection[1, 0, j]
            change = w.d_deflection[1, 0, j] - w.d_deflection[0, 0, j]
            for i in range(3):
                d_c[i, j] += 0.5 * (deflected * d_n[i, j] + n[i] * change)
    force, d_force = w.column[5, 1], w.column[3]
    for i in range(3):
        force[i] = p[0] * n[i] + p[1] * t[i] + p[2] * o[i]
        out[T + i], out[O + i], out[FORCE + i] = t[i], o[i], force[i]
        for j in range(first, COLUMNS):
            d_force[i, j] = p[0] * d_n[i, j] + p[1] * d_t[i, j] + p[2] * d_o[i, j]
        d_force[i, 12] += n[i]
        d_force[i, 13] += t[i]
        d_force[i, 14] += o[i]
        for j in range(first, COLUMNS):
            D[D_FORCE + i, j] = d_force[i, j]
    u, d_u = w.column[5, 2], w.column[4]
    u[0], u[1], u[2] = 0.0, 0.0, 0.0
    d_u[:] = 0.0
    f0, f1, f2 = force[0], force[1], force[2]
    for k in range(2):
        body, sign = (a, -1.0) if k == 0 else (b, 1.0)
        v = poses.v[body]
        r0 = out[POINT] - poses.q[body, 0]
        r1 = out[POINT + 1] - poses.q[body, 1]
        r2 = out[POINT + 2] - poses.q[body, 2]
        at = TORQUE + 3 * k
        out[at] = sign * (r1 * f2 - r2 * f1 + p[3] * n[0])
        out[at + 1] = sign * (r2 * f0 - r0 * f2 + p[3] * n[1])
        out[at + 2] = sign * (r0 * f1 - r1 * f0 + p[3] * n[2])
        u[0] += sign * (v[0] + v[4] * r2 - v[5] * r1)
        u[1] += sign * (v[1] + v[5] * r0 - v[3] * r2)
        u[2] += sign * (v[2] + v[3] * r1 - v[4] * r0)
        row = D_TORQUE + 3 * k
        for j in range(first, COLUMNS):
            x, y, z = d_c[0, j], d_c[1, j], d_c[2, j]
            if j == 6 * k:
                x -= poses.moves[body]
            elif j == 6 * k + 1:
                y -= poses.moves[body]
            elif j == 6 * k + 2:
                z -= poses.moves[body]
            g0, g1, g2 = d_force[0, j], d_force[1, j], d_force[2, j]
            D[row, j] = sign * (r1 * g2 - r2 * g1 + y * f2 - z * f1 + p[3] * d_n[0, j])
            D[row + 1, j] = sign * (r2 * g0 - r0 * g2 + z * f0 - x * f2 + p[3] * d_n[1, j])
            D[row + 2, j] = sign * (r0 * g1 - r1 * g0 + x * f1 - y * f0 + p[3] * d_n[2, j])
            d_u[0, j] += sign * (v[4] * z - v[5] * y)
            d_u[1, j] += sign * (v[5] * x - v[3] * z)
            d_u[2, j] += sign * (v[3] * y - v[4] * x)
        for i in range(3):
            D[row + i, 15] += sign * n[i]
        if poses.moves[body] > 0.0:
            o_ = 6 * k
            for i in range(3):
                d_u[i, o_ + i] += sign
            d_u[0, o_ + 4] += sign * r2
            d_u[0, o_ + 5] -= sign * r1
            d_u[1, o_ + 5] += sign * r0
            d_u[1, o_ + 3] -= sign * r2
            d_u[2, o_ + 3] += sign * r1
            d_u[2, o_ + 4] -= sign * r0
    out[VELOCITY] = n[0] * u[0] + n[1] * u[1] + n[2] * u[2]
    out[VELOCITY + 1] = t[0] * u[0] + t[1] * u[1] + t[2] * u[2]
    out[VELOCITY + 2] = o[0] * u[0] + o[1] * u[1] + o[2] * u[2]
    s0, s1, s2 = (
        poses.v[b, 3] - poses.v[a, 3],
        poses.v[b, 4] - poses.v[a, 4],
        poses.v[b, 5] - poses.v[a, 5],
    )
    out[VELOCITY + 3] = n[0] * s0 + n[1] * s1 + n[2] * s2
    out[SLIP] += out[VELOCITY + 1]
    out[SLIP + 1] += out[VELOCITY + 2]
    out[SLIP + 2] = out[VELOCITY + 3]
    for j in range(first, COLUMNS):
        x = y = 0.0
        for i in range(3):
            x += u[i] * d_t[i, j] + t[i] * d_u[i, j]
            y += u[i] * d_o[i, j] + o[i] * d_u[i, j]
        D[D_SLIP, j] += x
        D[D_SLIP + 1, j] += y
        D[D_SLIP + 2, j] = s0 * d_n[0, j] + s1 * d_n[1, j] + s2 * d_n[2, j]
    for i in range(3):
        if poses.moves[a] > 0.0:
            D[D_SLIP + 2, 3 + i] -= n[i]
        if poses.moves[b] > 0.0:
            D[D_SLIP + 2, 9 + i] += n[i]
